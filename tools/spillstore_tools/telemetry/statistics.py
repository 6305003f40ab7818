"""Sums over the audit log: what each tool printed, what was cut and stored of it, what was read of that, and how long it took.

The log is read from the newest event to the oldest, a page at a time. In memory are counters, the durations of reads, and the
ids of one session's artifacts. Events that were rotated away and sessions that were deleted are not counted.
"""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

from spillstore.events.catalogue import READS, SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spillstore import Session
    from spillstore.info import Event

DELETED = "(deleted)"  # stands for the tool of an artifact that was deleted
_PAGE = 1000
_REFUSING = "max_artifact_size"  # the limit at which an output is neither shown nor stored


@dataclasses.dataclass(slots=True)
class ToolStatistics:
    """What one tool has printed.

    Attributes:
        calls: outputs that were shown, whole or in part, or refused.
        truncated: outputs of these that were not shown whole.
        received: bytes of these outputs.
        shown: characters of the texts that were shown of them.
        artifacts: stored artifacts.
        size: bytes of these artifacts.
        stored_size: bytes that they take, compressed.
        reads: reads, searches and the like of them.
        never_read: artifacts that nobody has read.
    """

    calls: int = 0
    truncated: int = 0
    received: int = 0
    shown: int = 0
    artifacts: int = 0
    size: int = 0
    stored_size: int = 0
    reads: int = 0
    never_read: int = 0

    @property
    def truncation_rate(self) -> float | None:
        """The share of its calls that was cut; None without calls."""
        return self.truncated / self.calls if self.calls else None

    @property
    def reduction(self) -> float | None:
        """The share of what it printed that was not shown; None if it printed nothing."""
        return max(0.0, 1 - self.shown / self.received) if self.received else None

    def as_dict(self) -> dict[str, Any]:
        """All sums, for JSON."""
        return {
            **dataclasses.asdict(self),
            "truncation_rate": self.truncation_rate,
            "reduction": self.reduction,
        }


@dataclasses.dataclass(slots=True)
class Retrieval:
    """Reads of one kind.

    Attributes:
        calls: how many there were.
        failed: how many of them had no answer.
        size: bytes that the others returned.
        milliseconds: the durations that are known.
    """

    calls: int = 0
    failed: int = 0
    size: int = 0
    milliseconds: array[float] = dataclasses.field(default_factory=lambda: array("d"))

    def as_dict(self) -> dict[str, Any]:
        """All sums, for JSON, with the median and the 95th percentile of the durations."""
        times = sorted(self.milliseconds)
        return {
            "calls": self.calls,
            "failed": self.failed,
            "size": self.size,
            "p50_ms": percentile(times, 0.5),
            "p95_ms": percentile(times, 0.95),
        }


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of the others does not exceed; None of nothing.

    Example:
        >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5), percentile([], 0.5)
        (2.0, None)
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


class Statistics:
    r"""Sums over sessions.

    Attributes:
        tools: what each tool printed, by its name.
        retrievals: what was read, by the kind of the event.
        readers: how many reads each actor made.
        limits: how often each limit was met.
        redactions: how many secrets of each kind were removed.
        denied: how many ids were refused.
        damaged: how many reads met damage.
        evicted: how many artifacts had to make room.
        sessions: how many sessions were added.
        created: how many artifacts were created, as far as events tell.
        first, last: when the first and the last of these were created; seconds since 1970.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
        ...     _ = session.put("one\ntwo\n", source="make").read_lines(1, 1)
        ...     _ = session.put("three\n", source="make")
        ...     statistics = Statistics()
        ...     statistics.add(session)
        >>> made = statistics.tools["make"]
        >>> made.artifacts, made.reads, made.never_read, statistics.retrievals["read"].size
        (2, 1, 1, 4)
    """

    def __init__(self) -> None:
        self.tools: dict[str, ToolStatistics] = {}
        self.retrievals: dict[str, Retrieval] = {}
        self.readers: Counter[str] = Counter()
        self.limits: Counter[str] = Counter()
        self.redactions: Counter[str] = Counter()
        self.denied = self.damaged = self.evicted = self.sessions = self.created = 0
        self.first: float | None = None
        self.last: float | None = None

    def add(self, session: Session) -> None:
        """Add a session. Cost: reading its events and the rows of its artifacts.

        Raises:
            SpillstoreError: it cannot be read.
        """
        self.sessions += 1
        unread: dict[str, str] = {}
        sources: dict[str, str] = {}
        for info in session.infos():
            tool = self._tool(info.source)
            tool.artifacts += 1
            tool.size += info.size
            tool.stored_size += info.stored_size
            unread[info.id] = sources[info.id] = info.source
        for event in _events(session):
            self._count(event)
            if event.kind in READS and event.artifact_id is not None:
                self._tool(sources.get(event.artifact_id, DELETED)).reads += 1
                if event.detail.get("outcome", "ok") == "ok":
                    unread.pop(event.artifact_id, None)
        for source in unread.values():
            self._tool(source).never_read += 1

    def _tool(self, name: object) -> ToolStatistics:
        return self.tools.setdefault(str(name), ToolStatistics())

    def _count(self, event: Event) -> None:
        detail = event.detail
        match event.kind:
            case kind if kind in READS:
                self._count_read(event)
            case kind if kind in SHOWN:
                self._count_shown(event)
            case "create":
                self.created += 1
                self.first = event.at if self.first is None else min(self.first, event.at)
                self.last = event.at if self.last is None else max(self.last, event.at)
            case "limit":
                self._count_limit(detail)
            case "redaction":
                counts = detail.get("counts")
                for name, count in counts.items() if isinstance(counts, dict) else ():
                    self.redactions[name] += _number(count)
            case "denied":
                self.denied += 1
            case "integrity":
                self.damaged += 1
            case "evict":
                self.evicted += 1

    def _count_shown(self, event: Event) -> None:
        detail = event.detail
        tool = self._tool(detail.get("tool", ""))
        tool.received += _number(detail.get("received", 0))
        tool.shown += _number(detail.get("shown", 0))
        if event.kind != "news":  # which is of a call that was counted
            tool.calls += _number(detail.get("calls", 1))
            tool.truncated += _number(detail.get("truncated", 0))

    def _count_limit(self, detail: Mapping[str, Any]) -> None:
        self.limits[str(detail.get("limit"))] += 1
        if detail.get("limit") == _REFUSING:
            tool = self._tool(detail.get("tool", ""))
            tool.calls += 1
            tool.truncated += 1
            tool.received += _number(detail.get("size", 0))

    def _count_read(self, event: Event) -> None:
        retrieval = self.retrievals.setdefault(event.kind, Retrieval())
        retrieval.calls += 1
        retrieval.failed += event.detail.get("outcome", "ok") != "ok"
        retrieval.size += _number(event.detail.get("bytes", 0))
        self.readers[event.actor or ""] += 1
        if isinstance(took := event.detail.get("ms"), (int, float)):
            retrieval.milliseconds.append(took)

    @property
    def artifacts_per_hour(self) -> float | None:
        """How fast artifacts were created from the first to the last; None of fewer than two."""
        if self.first is None or self.last is None or self.last <= self.first:
            return None
        return (self.created - 1) / (self.last - self.first) * 3600

    def as_dict(self) -> dict[str, Any]:
        """All sums, for JSON."""
        return {
            "sessions": self.sessions,
            "tools": {name: tool.as_dict() for name, tool in sorted(self.tools.items())},
            "retrievals": {name: each.as_dict() for name, each in sorted(self.retrievals.items())},
            "readers": dict(self.readers),
            "limits": dict(self.limits),
            "redactions": dict(self.redactions),
            "denied": self.denied,
            "damaged": self.damaged,
            "evicted": self.evicted,
            "created": self.created,
            "artifacts_per_hour": self.artifacts_per_hour,
        }


def _number(value: object) -> int:
    """A number of an event; 0 for anything else, for the file may hold anything."""
    return int(value) if isinstance(value, (int, float)) else 0


def _events(session: Session) -> Iterator[Event]:
    """All events, the newest first."""
    cursor = None
    while True:
        page = session.events(limit=_PAGE, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return
