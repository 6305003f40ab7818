"""The events of one session that are not written yet, in memory."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore.model.clock import Clock

MOST = 10_000  # events that wait; of more, the oldest are dropped
# An event that is not written yet: when (us), kind, artifact, actor, tool call, detail.
Entry: TypeAlias = "tuple[int, str, str | None, str, str | None, Mapping[str, object]]"


class Waiting(NamedTuple):
    """Events that were taken out of a buffer to be written.

    Attributes:
        entries: events.
        passed: calls, bytes and shown characters of output that was shown whole, by tool and actor.
        lost: how many events were dropped.
    """

    entries: list[Entry]
    passed: dict[tuple[str, str], tuple[int, ...]]
    lost: int


class EventBuffer:
    """Events that wait to be written. Safe from any thread."""

    def __init__(self, clock: Clock, actor: str) -> None:
        """Begin empty.

        Args:
            clock: where to read the time.
            actor: the actor of the events ``lost``.
        """
        self._clock = clock
        self._actor = actor
        self._entries: deque[Entry] = deque()  # adding needs no lock
        self._guard = threading.Lock()  # protects what follows
        self._passed: dict[tuple[str, str], tuple[int, ...]] = {}
        self._lost = 0
        self._lost_written = 0  # of those lost: the event that says so is written, and was not emitted yet

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._entries or self._passed)

    def add(self, entry: Entry) -> int:
        """Put an event in; returns how many wait now."""
        entries = self._entries
        entries.append(entry)
        count = len(entries)
        if count > MOST:
            with self._guard:
                entries.popleft()
                self._lost += 1
        return count

    def add_passed(self, tool: str, actor: str, calls: int, size: int, shown: int) -> None:
        """Count output that was shown whole."""
        self._count((tool, actor), calls, size, shown)

    def _count(self, key: tuple[str, str], *numbers: int) -> None:
        with self._guard:
            if key in self._passed or len(self._passed) < MOST:
                counts = self._passed.get(key, (0, 0, 0))
                self._passed[key] = tuple(map(sum, zip(counts, numbers, strict=True)))

    def take(self) -> Waiting:
        """Take all that waits."""
        with self._guard:
            entries = [self._entries.popleft() for _ in range(len(self._entries))]
            passed, self._passed = self._passed, {}
            lost, self._lost = self._lost, 0
        return Waiting(entries, passed, lost)

    def rows(self, waiting: Waiting) -> list[Entry]:
        """All that was taken as events: counts, and how many were lost, are events too."""
        entries, passed, lost = waiting
        if not passed and not lost:
            return entries
        now = int(self._clock.time() * 1e6)
        counts: list[Entry] = [
            (
                now,
                "passed",
                None,
                actor,
                None,
                {"tool": tool, "calls": calls, "received": size, "shown": shown},
            )
            for (tool, actor), (calls, size, shown) in passed.items()
        ]
        dropped: list[Entry] = [(now, "lost", None, self._actor, None, {"events": lost})] if lost else []
        return [*dropped, *entries, *counts]

    def put_back(self, waiting: Waiting) -> None:
        """Let what was taken and could not be written wait again."""
        with self._guard:
            self._lost += waiting.lost
            self._entries.extendleft(reversed(waiting.entries))
        for key, counts in waiting.passed.items():
            self._count(key, *counts)

    def written(self, waiting: Waiting) -> None:
        """Note that what was taken is written."""
        if waiting.lost:
            with self._guard:
                self._lost_written += waiting.lost

    def lost_and_written(self) -> int:
        """How many lost events were recorded as lost since the last call."""
        with self._guard:
            lost, self._lost_written = self._lost_written, 0
        return lost

    def clear(self) -> None:
        """Forget all."""
        with self._guard:
            self._entries.clear()
            self._passed.clear()
            self._lost = 0
