"""Every system call of a store fails once, or from then on: whatever it is, nothing is lost, and it works again afterwards."""

from __future__ import annotations

import errno
import random

import campaigns
from cases import Case, drawn
from stories import PLAYED
from victims import Fault, Victims

_EIO, _FULL, _MANY, _MEMORY, _DENIED = (
    errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ENOMEM, errno.EACCES,
)  # fmt: skip
# Of each kind of call: what becomes of it, the error, and whether for ever.
MODES = {
    "write": [("fail", _EIO, False), ("fail", _EIO, True), ("fail", _FULL, False), ("fail", _FULL, True),
              ("half", 0, False), ("half", _FULL, True)],
    "sync": [("fail", _EIO, False), ("fail", _EIO, True), ("fail", _FULL, False)],
    "truncate": [("fail", _EIO, False), ("fail", _EIO, True)],
    "create": [("fail", _MANY, False), ("fail", _MANY, True), ("fail", _FULL, False), ("fail", _FULL, True), ("fail", _EIO, False)],
    "open": [("fail", _MANY, False), ("fail", _MANY, True), ("fail", _EIO, False)],
    "unlink": [("fail", _EIO, False), ("fail", _DENIED, True)],
    "rename": [("fail", _EIO, False), ("fail", _FULL, True)],
    "mkdir": [("fail", _FULL, False), ("fail", _EIO, True)],
    "mmap": [("fail", _MEMORY, False), ("fail", _MEMORY, True)],
    "allocate": [("fail", _FULL, False), ("fail", _EIO, True)],
    "list": [("fail", _EIO, False), ("fail", _MANY, True)],
    "attributes": [("fail", _DENIED, False), ("fail", _EIO, True)],
    "stat": [("fail", _EIO, False), ("fail", _EIO, True)],
    "read": [("fail", _EIO, False), ("fail", _EIO, True), ("half", 0, False)],
    "lock": [("fail", _EIO, False)],
}  # fmt: skip
PASSES = 8  # each tries every eighth call: all of them together try every one
_SLOTS = [(story, kind, mode) for kind, modes in MODES.items() for mode in modes for story in PLAYED]
random.Random(0).shuffle(_SLOTS)  # so that a part of them has some of all


class Campaign(campaigns.Base):
    """A round is a story, a kind of call and what becomes of it: of every eighth call of that kind, one after the other."""

    about = "every system call that a store makes fails, once and for ever"
    rounds = len(_SLOTS) * PASSES
    short = tuple(
        (_SLOTS.index((story, kind, MODES[kind][0])), 0.125)
        for story, kind in (("write", "write"), ("tool", "create"), ("delete", "unlink"))
    )

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._victims = Victims(folder)

    def tells(self, number):
        """What its process does."""
        return _SLOTS[number % len(_SLOTS)][0]

    def play(self, number, done, share=1.0):
        """Let calls fail until the story makes no more of that kind."""
        story, kind, (action, error, ever) = _SLOTS[number % len(_SLOTS)]
        scene = drawn(self.dice(number))
        at = 1 + number // len(_SLOTS) % PASSES
        step = round(PASSES / share)
        while True:
            root = self.folder / f"{number}-{at}"
            name = errno.errorcode.get(error, "no error")
            what = f"{story}: {kind} number {at}: {action} {name} {'for ever' if ever else 'once'}, {scene}"
            case = Case(self._victims, root, done, what, scene)
            fault = Fault(str(root), (kind,), at, action, error, ever)
            ended = case.play(story, fault, go_on=True)
            failed = ended.calls.get("hits", 1)
            done.figures["calls that failed" if failed else "without a fault"] += 1
            if not failed and case.errors():
                case.found(f"errors where nothing failed: {case.errors()}", f"{case.said}"[-2000:])
            case.judge(story)
            if not failed:
                return
            at += step

    def close(self):
        """End the program."""
        self._victims.close()
