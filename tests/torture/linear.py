"""Whether a history is that of one thing at a time: ``faults`` of a list of operations on sessions and artifacts.

Each operation has a ``begin`` and an ``end`` by one clock of the machine, and seems to have happened at one moment between.
An artifact is made once and deleted once, by itself or with its session; who looked has seen it or not. So each look says
what came before it and what after; with the order of those that did not overlap, that is a graph, and a cycle in it is a
history that no order explains. What is said by two deletions that both may have been first is left out.

An artifact that is written is looked at, too: its bytes grow, up to what was acknowledged at least and begun at most.
"""

from __future__ import annotations

import bisect
import collections
import itertools

FOREVER = float("inf")


def faults(history):
    """What in a history must not be, in words."""
    return [*_Artifacts(history).faults(), *_growth(history)]


class _Artifacts:
    """What was made, deleted and seen."""

    def __init__(self, history):
        self.history = history
        self.found = []
        self.made = {}
        self.deleted = collections.defaultdict(
            list
        )  # of each artifact; None ends those whose outcome is not known
        self.emptied = collections.defaultdict(list)  # of each session
        self.unknown = collections.Counter()  # of each session, what may have been made without an answer
        self.after = [set() for _ in history]  # of each operation those that come later
        for number, each in enumerate(history):
            kind, result = each["op"], each["result"]
            if kind in ("put", "create"):
                if result in ("gone", "failed"):
                    self.unknown[each["session"]] += 1
                elif result in self.made:
                    self.found.append(f"two artifacts have one id: {each}")
                else:
                    self.made[result] = number
            elif kind == "delete" and result != "missing":
                self.deleted[each["id"]].append(number)
            elif kind == "delete session" and result != "missing":
                self.emptied[each["session"]].append(number)

    def faults(self):
        for number, each in enumerate(self.history):
            if each["op"] == "list":
                self._list(number, each)
            elif each["op"] in ("exists", "read"):
                self._look(number, each, each["id"], seen=each["result"] not in (False, "missing"))
            elif each["op"] == "delete" and each["result"] == "missing":
                self._look(number, each, each["id"], seen=False)
        for key, numbers in self.deleted.items():
            if len([number for number in numbers if self.history[number]["result"] == "done"]) > 1:
                self.found.append(f"deleted twice, and each time for the first time: {key}")
        if not self.found:
            self._cycles()
        return self.found

    def _list(self, number, look):
        seen = look["result"]
        if len(set(seen)) != len(seen):
            self.found.append(f"a listing has an artifact twice: {look}")
        strange = [key for key in seen if key not in self.made]
        if len(strange) > self.unknown[look["session"]]:
            self.found.append(f"a listing has artifacts that nobody made: {strange}")
        latest = -FOREVER
        for key in reversed(seen):  # the newest comes first
            if key in self.made:
                made = self.history[self.made[key]]
                if made["end"] < latest:
                    self.found.append(
                        f"a listing is not in the order in which its artifacts were made: {key}"
                    )
                latest = max(latest, made["begin"])
        there = set(seen)
        for key, made in self.made.items():
            if self.history[made]["session"] == look["session"]:
                self._look(number, look, key, seen=key in there)

    def _look(self, number, look, key, *, seen):
        if key not in self.made:
            return
        made = self.history[self.made[key]]
        ends = [*self.deleted[key], *self.emptied[made["session"]]]
        ends = [each for each in ends if self.history[each]["end"] > made["begin"]]
        if seen:
            self.after[self.made[key]].add(number)
            for each in ends:
                end = self.history[each]
                if end["result"] == "done" and (each in self.deleted[key] or end["begin"] > made["end"]):
                    self.after[number].add(each)
                    if end["end"] < look["begin"]:
                        self.found.append(
                            f"what was deleted is there: {key} in {_short(look)}, deleted by {end}"
                        )
            if look["end"] < made["begin"]:
                self.found.append(f"it is there before it was made: {key} in {_short(look)}")
            return
        ends = [each for each in ends if self.history[each]["begin"] < look["end"]]
        if not ends:
            if made["end"] < look["begin"]:
                self.found.append(f"what was made is not there: {key} in {_short(look)}, made by {made}")
            else:
                self.after[number].add(self.made[key])
        elif len(ends) == 1 and made["end"] < look["begin"]:
            self.after[ends[0]].add(number)

    def _cycles(self):
        """Of the graph with the order of time: a line of moments, to which each operation leads, and from which it comes."""
        ends = sorted({each["end"] for each in self.history})
        count = len(self.history)
        following = [list(each) for each in self.after]
        following += [[count + moment + 1] for moment in range(len(ends) - 1)] + [[]]
        for number, each in enumerate(self.history):
            following[number].append(count + bisect.bisect_left(ends, each["end"]))
            before = bisect.bisect_left(ends, each["begin"]) - 1  # the last end before it began
            if before >= 0:
                following[count + before].append(number)
        waiting = [0] * len(following)
        for each in following:
            for later in each:
                waiting[later] += 1
        ready = [number for number, before in enumerate(waiting) if not before]
        left = len(following)
        while ready:
            left -= 1
            for later in following[ready.pop()]:
                waiting[later] -= 1
                if not waiting[later]:
                    ready.append(later)
        if left:
            stuck = [_short(self.history[number]) for number in range(count) if waiting[number]]
            self.found.append(f"no order explains these: {stuck[:6]}")


def _growth(history):
    """What was read of artifacts that were being written."""
    found = []
    written, sealed, reads = (collections.defaultdict(list) for _ in range(3))
    for each in history:
        if each["op"] == "write" and each["result"] == "done":
            written[each["id"]].append(each)
        elif each["op"] == "close" and each["result"] == "done":
            sealed[each["id"]].append(each)
        elif each["op"] == "read" and isinstance(each["result"], list):
            reads[each["id"]].append(each)
    for key, looks in reads.items():
        for look in looks:
            size, state, right = look["result"]
            least = max([each["size"] for each in written[key] if each["end"] < look["begin"]], default=0)
            most = max([each["size"] for each in written[key] if each["begin"] < look["end"]], default=0)
            if not right:
                found.append(f"other bytes than were written: {look}")
            if written[key] and not least <= size <= most:
                found.append(f"{size} bytes, and not {least} to {most}: {look}")
            if any(each["end"] < look["begin"] for each in sealed[key]) and state != "sealed":
                found.append(f"it was sealed, and is {state}: {look}")
            if (
                written[key]
                and state == "sealed"
                and any(look["end"] < each["begin"] for each in sealed[key])
            ):
                found.append(f"it is sealed, and was not: {look}")
            if state not in ("open", "sealed"):
                found.append(f"who writes it lives, and it is {state}: {look}")
        found += _shrinking(looks)
    return found


def _shrinking(looks):
    """Of looks at one artifact those that saw less than an earlier one."""
    looks = sorted(looks, key=lambda each: each["end"])
    ends = [each["end"] for each in looks]
    sizes = list(itertools.accumulate((each["result"][0] for each in looks), max))
    for look in looks:
        earlier = bisect.bisect_left(ends, look["begin"])
        if earlier and look["result"][0] < sizes[earlier - 1]:
            yield f"it became shorter, from {sizes[earlier - 1]}: {look}"


def _short(each):
    return {name: value for name, value in each.items() if name != "result" or not isinstance(value, list)}
