"""Who has read what of an artifact after it was stored, as the audit log has it."""

from __future__ import annotations

import bisect
import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.viewer.model.footprint import ACTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore import Artifact
    from spillstore.info import Event, Stream
    from spillstore_tools.viewer.model.log import Log
    from spillstore_tools.viewer.model.rows import Row

KINDS = ("read", "search", "query", "compare", "export")
_VIEWS = ("combined", "stdout", "stderr")
_MOST = 1000  # of each kind


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One call that read something.

    Attributes:
        kind: ``read``, ``search``, ``query``, ``compare`` or ``export``.
        at: when, in seconds since 1970.
        actor: who: ``model``, ``cli``, ``library``, or a name of its own.
        tool_call_id: the tool call, or None.
        tool: what was called, or None.
        stream: the view that the positions mean.
        lines: the first and the last line that were fetched, or None where only the bytes are known, or nothing is.
        bytes: the first byte and the byte behind the last, or None.
        outcome: ``ok``, or the name of the error.
    """

    kind: str
    at: float
    actor: str | None
    tool_call_id: str | None
    tool: str | None
    stream: Stream
    lines: tuple[int, int] | None
    bytes: tuple[int, int] | None
    outcome: str

    @property
    def shown(self) -> bool:
        """Whether it has a range of the artifact for answer; what a search or a query went through is none."""
        return self.kind == "read" and self.outcome == "ok" and (self.lines or self.bytes) is not None


class Reads:
    """The later reads of one artifact, the newest first; those of viewers are left out. Cost: its events, 1,000 of each kind.

    Args:
        artifact: what was read.
        viewers: whether reads of viewers count, too.

    Attributes:
        items: the reads.
        more: whether there are more than were looked at.
    """

    def __init__(self, artifact: Artifact, *, viewers: bool = False) -> None:
        events: list[Event] = []
        self.more = False
        for kind in KINDS:
            found = artifact.events(kind, limit=_MOST + 1)
            self.more |= len(found) > _MOST
            events += found[:_MOST]
        events.sort(key=lambda event: -event.at)
        self.items = [_read_of(event) for event in events if viewers or event.actor != ACTOR]
        self._spans: dict[tuple[Stream, bool], list[tuple[int, int]]] = {}
        for read in self.items:
            span = read.bytes or read.lines
            if read.shown and span is not None:
                by_lines = read.bytes is None
                low, high = span[0], span[1] + by_lines
                self._spans.setdefault((read.stream, by_lines), []).append((low, high))
        self._spans = {key: _merged(spans) for key, spans in self._spans.items()}

    def fetched(self, row: Row, stream: Stream) -> bool:
        """Whether some of a row of the view ``stream`` was read later. Cost: a look-up or three."""
        if any(
            _touches(self._spans.get((each.stream, False), ()), each.start, each.end) for each in row.places
        ):
            return True
        return row.kind == "line" and _touches(
            self._spans.get((stream, True), ()), row.number, row.number + 1
        )

    def next_line(self, log: Log, line: int, *, forwards: bool) -> int | None:
        """The first line behind ``line`` at which what was read later begins, or the last one before it. Cost: two chunks for each range."""
        begins = {low for low, _ in self._spans.get((log.stream, True), ())}
        for low, _ in self._spans.get((log.stream, False), ()):
            begins.add(log.artifact.locate(byte=low, stream=log.stream, holes="skip").line)
        found = [each for each in begins if (each > line if forwards else each < line)]
        return (min if forwards else max)(found, default=None)

    def of(self, row: Row, stream: Stream) -> list[Read]:
        """The reads that fetched some of a row of the view ``stream``, the newest first. Cost: a look at each read."""
        return [each for each in self.items if each.shown and _holds(each, row, stream)]


def _holds(read: Read, row: Row, stream: Stream) -> bool:
    if read.bytes is not None:
        low, high = read.bytes
        return any(each.stream == read.stream and each.start < high and each.end > low for each in row.places)
    assert read.lines is not None  # it has a range
    return read.stream == stream and row.kind == "line" and read.lines[0] <= row.number <= read.lines[1]


def _read_of(event: Event) -> Read:
    """What an event says; anybody may have written it."""
    detail = event.detail
    stream = detail.get("stream")
    return Read(
        kind=event.kind,
        at=event.at,
        actor=event.actor,
        tool_call_id=event.tool_call_id,
        tool=_text(detail.get("tool")),
        stream=stream if stream in _VIEWS else "combined",
        lines=_span(detail.get("first"), detail.get("last")),
        bytes=_span(detail.get("start"), detail.get("end")),
        outcome=_text(detail.get("outcome")) or "ok",
    )


def _span(first: object, last: object) -> tuple[int, int] | None:
    if type(first) is int and type(last) is int and 0 <= first <= last:
        return first, last
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def _touches(spans: Sequence[tuple[int, int]], low: int, high: int) -> bool:
    at = bisect.bisect_left(spans, high, key=lambda span: span[0]) - 1
    return at >= 0 and spans[at][1] > low
