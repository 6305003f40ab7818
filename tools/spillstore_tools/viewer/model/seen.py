"""What the model saw of an artifact: which lines the preview showed, and which it left out.

The audit log says which preview was shown, and its first 20 gaps; of more gaps, the preview is made again, which gives the same.
"""

from __future__ import annotations

import bisect
import dataclasses
from typing import TYPE_CHECKING, Literal, cast

from spillstore.events.catalogue import RENDERED
from spillstore_tools.output.rendering import flags_to, preview_of
from spillstore_tools.profiles import NAMES, profile
from spillstore_tools.viewer.model.rows import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from spillstore import Artifact, Session
    from spillstore.info import Event, Stream
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.viewer.model.rows import Row

if TYPE_CHECKING:
    Gaps: TypeAlias = Iterable[tuple[Stream, int, int]]

Mark = Literal["shown", "cut", "omitted"]
How = Literal["recorded", "rendered", "estimated", "nothing"]
_EVENTS = 1000  # of one kind, of an artifact
_VIEWS: tuple[Stream, ...] = ("combined", "stdout", "stderr")


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """Lines ``first`` to ``last``, both included, and whether a model was shown them whole, in part or not at all."""

    first: int
    last: int
    mark: Mark


@dataclasses.dataclass(frozen=True, kw_only=True)
class Seen:
    """What was shown of one artifact.

    Attributes:
        how: ``recorded``: the audit log says so; ``rendered``: the preview was made again, and has the gaps that the log
            names; ``estimated``: it has others, since settings have changed; ``nothing``: no preview was recorded.
        profile: of the preview, or None.
        strategy: likewise.
        at: when it was shown, in seconds since 1970, or None.
        actor: for whom, or None.
        tool_call_id: the call that it answered, or None.
        gaps: what is missing, as ``(start, end)`` in bytes of each view that the preview shows.
    """

    how: How
    profile: str | None = None
    strategy: str | None = None
    at: float | None = None
    actor: str | None = None
    tool_call_id: str | None = None
    gaps: dict[Stream, tuple[tuple[int, int], ...]] = dataclasses.field(default_factory=dict)

    def mark(self, row: Row) -> Mark:
        """Whether a row was shown. Cost: a look-up."""
        if self.how == "nothing":
            return "omitted"
        apart = any(stream != "combined" for stream in self.gaps)
        marks = [
            _mark(self.gaps.get(place.stream, ()), place.start, place.end)
            for place in row.places or _of_hole(row)
            if (place.stream != "combined") == apart
        ]
        return marks[0] if len(set(marks)) == 1 else "cut"

    def spans(self, artifact: Artifact, stream: Stream = "combined") -> list[Span]:
        """All lines of a view as ranges, in order, without a line between them. Cost: two chunks for each gap.

        Empty where the preview showed the streams apart and this is both together, or the other way round: ``mark`` knows of
        each row then.
        """
        view = artifact.info.view(stream)
        if not view.lines:
            return []
        if self.how == "nothing":
            return [Span(1, view.lines, "omitted")]
        if any((each == "combined") != (stream == "combined") for each in self.gaps):
            return []
        found: list[Span] = []
        for start, end in self.gaps.get(stream, ()):
            for span in _lines_of(artifact, stream, start, min(end, view.size)):
                _add(found, span)
        _add(found, Span(view.lines + 1, view.lines, "omitted"))
        return found


def what_was_seen(session: Session, artifact: Artifact) -> Seen:
    """What the first preview of an artifact showed. Cost: its events; where it had more than 20 gaps, reading all of it.

    Raises:
        SpillstoreError: it cannot be read.
    """
    events = artifact.events("preview", limit=_EVENTS)
    if not events:
        return Seen(how="nothing")
    event = events[-1]
    how, gaps = _gaps_of(session, artifact, event)
    return Seen(
        how=how,
        profile=event.detail.get("profile"),
        strategy=event.detail.get("strategy"),
        at=event.at,
        actor=event.actor,
        tool_call_id=event.tool_call_id,
        gaps=_merged(gaps),
    )


def would_be_seen(session: Session, artifact: Artifact, name: ProfileName = "default") -> Seen:
    """What a preview of a profile would show. Cost: reading all of it."""
    found = preview_of(artifact, profile(name), flags=flags_to(session))
    gaps = _merged((each.stream, each.start, each.end) for each in found.omissions)
    return Seen(how="estimated", profile=name, strategy=found.strategy, gaps=gaps)


def _gaps_of(session: Session, artifact: Artifact, event: Event) -> tuple[How, Gaps]:
    """The gaps of the preview that an event is about, and how they are known."""
    named = _named_gaps(event)
    if named is not None and event.detail.get("omitted") == len(named):
        return "recorded", named
    name = event.detail.get("profile")
    for kept in artifact.events(RENDERED):
        if kept.detail.get("profile") == name:
            return "recorded", [
                (each["stream"], each["start"], each["end"]) for each in kept.detail["rendered"]["omissions"]
            ]
    known = cast("ProfileName", name if name in NAMES else "default")
    found = preview_of(artifact, profile(known), flags=flags_to(session))
    gaps: list[tuple[Stream, int, int]] = [(each.stream, each.start, each.end) for each in found.omissions]
    same = named is not None and gaps[: len(named)] == named and len(gaps) == event.detail.get("omitted")
    return ("rendered" if same else "estimated"), gaps


def _named_gaps(event: Event) -> list[tuple[Stream, int, int]] | None:
    """The gaps that an event names, the first 20; None if it names none as it should, since anybody may write one."""
    ranges = event.detail.get("ranges")
    try:
        return [(_VIEWS[_VIEWS.index(stream)], int(start), int(end)) for stream, start, end in ranges or ()]
    except (TypeError, ValueError):
        return None


def _merged(gaps: Gaps) -> dict[Stream, tuple[tuple[int, int], ...]]:
    """The gaps of each view in order, those that touch made one."""
    found: dict[Stream, list[tuple[int, int]]] = {}
    for stream, start, end in sorted(gaps):
        spans = found.setdefault(stream, [])
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif start < end:
            spans.append((start, end))
    return {stream: tuple(spans) for stream, spans in found.items()}


def _mark(gaps: Sequence[tuple[int, int]], start: int, end: int) -> Mark:
    at = bisect.bisect_right(gaps, start, key=lambda gap: gap[0]) - 1
    if at >= 0 and gaps[at][1] >= end:
        return "omitted"
    behind = gaps[at + 1][0] if at + 1 < len(gaps) else end
    touched = (at >= 0 and gaps[at][1] > start) or behind < end
    return "cut" if touched else "shown"


def _of_hole(row: Row) -> Iterable[Place]:
    return [Place(stream, row.start, row.end) for stream in _VIEWS]


def _lines_of(artifact: Artifact, stream: Stream, start: int, end: int) -> list[Span]:
    """The lines that a gap touches: those in it, and the two that it cuts."""
    if start >= end:
        return []
    first = artifact.locate(byte=start, stream=stream, holes="skip").line
    last = artifact.locate(byte=end - 1, stream=stream, holes="skip").line
    begins = artifact.locate(line=first, stream=stream, holes="skip").byte >= start
    view = artifact.info.view(stream)
    behind = (
        view.size if last >= view.lines else artifact.locate(line=last + 1, stream=stream, holes="skip").byte
    )
    ends = behind <= end
    if first == last:
        return [Span(first, last, "omitted" if begins and ends else "cut")]
    spans = [] if begins else [Span(first, first, "cut")]
    low, high = first + (not begins), last - (not ends)
    if low <= high:
        spans.append(Span(low, high, "omitted"))
    return spans if ends else [*spans, Span(last, last, "cut")]


def _add(spans: list[Span], span: Span) -> None:
    """Append a range, and what was shown before it; a line that two gaps cut is cut once."""
    known = spans[-1].last if spans else 0
    if span.first > known + 1:
        spans.append(Span(known + 1, span.first - 1, "shown"))
    first = max(span.first, known + 1)
    if first <= span.last:
        spans.append(Span(first, span.last, span.mark))
