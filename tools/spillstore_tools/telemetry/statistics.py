"""Sums over the audit log: what each tool printed, what was cut and stored of it, what was read of that, and how long it took.

Events and artifacts are read a page at a time, one session after the other. In memory are counters, and of one session the ids of
the artifacts that were read, which are no more than its log has events (``audit_events``). So what it takes does not grow with
the store. Events that were rotated away and sessions that were deleted are not counted.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from spillstore.events.catalogue import READS, SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spillstore import Session
    from spillstore.info import Event

DELETED = "(deleted)"  # stands for the tool of an artifact that was deleted
_PAGE = 1000
_REFUSING = "max_artifact_size"  # the limit at which an output is neither shown nor stored
_STEP: Final = math.log(1.01)  # of durations: those in one class differ by a hundredth


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
        redacted: secrets that were removed from what it printed.
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
    redacted: int = 0

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


class Durations:
    """How often there was which duration, to within one part in a hundred: as many counters, however many there are.

    Example:
        >>> durations = Durations()
        >>> for milliseconds in (1.0, 2.0, 3.0, 4.0):
        ...     durations.add(milliseconds)
        >>> round(durations.percentile(0.5), 1), Durations().percentile(0.5)
        (2.0, None)
    """

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, milliseconds: float) -> None:
        """Count one; less than a nanosecond counts as a nanosecond, more than a year as a year."""
        self._counts[round(math.log(min(max(milliseconds, 1e-6), 3.2e10)) / _STEP)] += 1

    def percentile(self, share: float) -> float | None:
        """The shortest in milliseconds that at least this share of the others does not exceed; None of nothing."""
        left = math.ceil(share * self._counts.total())
        for place in sorted(self._counts):
            left -= self._counts[place]
            if left <= 0:
                return math.exp(place * _STEP)
        return None


@dataclasses.dataclass(slots=True)
class Retrieval:
    """Reads of one kind.

    Attributes:
        calls: how many there were.
        failed: how many of them had no answer.
        size: bytes that the others returned.
        durations: how long they took, as far as that is known.
    """

    calls: int = 0
    failed: int = 0
    size: int = 0
    durations: Durations = dataclasses.field(default_factory=Durations)

    def as_dict(self) -> dict[str, Any]:
        """All sums, for JSON, with the median and the 95th percentile of the durations."""
        return {
            "calls": self.calls,
            "failed": self.failed,
            "size": self.size,
            "p50_ms": self.durations.percentile(0.5),
            "p95_ms": self.durations.percentile(0.95),
        }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What it comes to.

    Attributes:
        kept: artifacts that are stored.
        size: their bytes.
        stored_size: bytes that these take, compressed.
        received: bytes of all outputs that were shown, whole or in part.
        shown: characters of the texts that were shown of them.
        reads: reads, searches and the like that had an answer.
        read_size: bytes that these gave.
        rescued: lines that report an error in previews, far from both ends; see ``output.rescued``.
        rescuing: previews with such lines.
    """

    kept: int
    size: int
    stored_size: int
    received: int
    shown: int
    reads: int
    read_size: int
    rescued: int
    rescuing: int


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
        rescued, rescuing: as of ``Totals``.
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
        self.rescued = self.rescuing = 0
        self.first: float | None = None
        self.last: float | None = None

    def add(self, session: Session) -> None:
        """Add a session. Cost: reading its events and the rows of its artifacts.

        Raises:
            SpillstoreError: it cannot be read.
        """
        self.sessions += 1
        reads: Counter[str] = Counter()
        answered: set[str] = set()
        for event in _events(session):
            self._count(event)
            if event.kind in READS and event.artifact_id is not None:
                reads[event.artifact_id] += 1
                if event.detail.get("outcome", "ok") == "ok":
                    answered.add(event.artifact_id)
        for info in session.infos():
            tool = self._tool(info.source)
            tool.artifacts += 1
            tool.size += info.size
            tool.stored_size += info.stored_size
            tool.reads += reads.pop(info.id, 0)
            tool.never_read += info.id not in answered
        if reads:
            self._tool(DELETED).reads += reads.total()

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
                    self._tool(detail.get("tool", "")).redacted += _number(count)
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
        rescued = _number(detail.get("rescued", 0))
        self.rescued += rescued
        self.rescuing += rescued > 0
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
            retrieval.durations.add(took)

    @property
    def artifacts_per_hour(self) -> float | None:
        """How fast artifacts were created from the first to the last; None of fewer than two."""
        if self.first is None or self.last is None or self.last <= self.first:
            return None
        return (self.created - 1) / (self.last - self.first) * 3600

    def totals(self) -> Totals:
        """The sums over all tools and all kinds of reads."""
        tools, reads = self.tools.values(), self.retrievals
        content = [reads[kind] for kind in READS if kind in reads]
        return Totals(
            kept=sum(each.artifacts for each in tools),
            size=sum(each.size for each in tools),
            stored_size=sum(each.stored_size for each in tools),
            received=sum(each.received for each in tools),
            shown=sum(each.shown for each in tools),
            reads=sum(each.calls - each.failed for each in content),
            read_size=sum(each.size for each in content),
            rescued=self.rescued,
            rescuing=self.rescuing,
        )

    def as_dict(self) -> dict[str, Any]:
        """All sums, for JSON."""
        return {
            "sessions": self.sessions,
            "totals": dataclasses.asdict(self.totals()),
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
