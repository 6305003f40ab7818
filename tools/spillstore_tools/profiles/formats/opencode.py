"""The profile ``opencode``: each stream on its own, whole lines from both ends of it.

A stream of at most 2,000 lines and 50 KB is shown as it is. Of a longer one the first and the last 500 lines are
shown, trimmed from the inner edge to 50 KB, under a line that counts all of them and one that says where the rest is.
One over-long line is clipped, its byte range named. At most 100 MB of a stream are kept; the lines behind that are
counted and the last ones shown all the same.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.describe import count, counted
from spillstore_tools.preview.parts import Gap, Note, Shown, text_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies.fit import merged
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.profiles.base import Inline, Profile
from spillstore_tools.profiles.notices import get_artifact_call, redrawn_notice, search_command
from spillstore_tools.profiles.rendered import Section, compose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.text.lines import Line
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
HEAD_LINES = TAIL_LINES = 500
_LF = "\n"
STREAM_LIMIT = 100 * 1024 * 1024
_READ_CHARS = 50_000  # of an answer to the call that is named, so that it brings as much as is shown here


@dataclasses.dataclass(frozen=True, kw_only=True)
class Opencode(Profile):
    """See the module. The line counts can be set."""

    name = "opencode"
    summary = (
        "Output above 2,000 lines or 50 KB is truncated to its first and last 500 lines, each "
        "stream on its own."
    )
    views = ("stdout", "stderr")
    buffer_bytes = 2 * MAX_BYTES
    size_limit = 2 * STREAM_LIMIT
    policy = "stop"
    stream_limit = STREAM_LIMIT
    cleanup_on_exit = True

    head_lines: int = HEAD_LINES
    tail_lines: int = TAIL_LINES

    def inline(self, source: str) -> Inline:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return Inline(chars=MAX_BYTES, lines=MAX_LINES, size=MAX_BYTES, text_only=False)

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return Scan(head_chars=2 * MAX_BYTES, tail_chars=MAX_BYTES, terminator=terminator, exact=False)

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return all(not overview.redrawn and _fitting(overview) is not None for overview in overviews.values())

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``."""
        sections: list[Section] = []
        for view in self.views:
            overview = overviews[view]
            if not overview.size:
                continue
            text = _fitting(overview)
            parts = self._cut(overview, view, facts) if text is None else [Shown(text, 0, overview.size)]
            if notice := redrawn_notice(overview, facts, view):
                parts = [*parts, Note(f"{'' if text_of(parts[-1:]).endswith(_LF) else _LF}{notice}{_LF}")]
            if sections:
                last = sections[-1].parts[-1].text
                parts = [Note("\n" if last.endswith("\n") else "\n\n"), *parts]
            sections.append(Section(view, parts))
        if facts.repeat_notice:
            sections.insert(0, Section("combined", [Note(f"{facts.repeat_notice}\n")]))
        redrawn = sum(overview.redrawn for overview in overviews.values())
        return compose(sections, facts, strategy="lines", redrawn=redrawn)

    def _cut(self, overview: Overview, view: View, facts: Facts) -> list[Part]:
        head, tail = _ends(overview, self.head_lines, self.tail_lines)
        kept = overview.lines > 1 or not head
        parts: list[Part] = [Note(self._notice(overview, view, facts))]
        if head:
            parts += [
                Note(f"--- First {counted(len(head), 'line')} ---\n"),
                *(part for line in head for part in line),
            ]
        place = _after(head)
        behind = tail[0][0].start if tail else overview.size  # type: ignore[union-attr]  # lines are no notes
        if behind > place.byte:
            covered = _covered(head) + _covered(tail)
            number = overview.lines - len(tail) + 1
            gap = overview.gap(place, Position(behind, number), overview.chars - covered)
            parts.append(dataclasses.replace(gap, text="\n" if kept and head else ""))
        if tail:
            parts += [
                Note(f"--- Last {counted(len(tail), 'line')} ---\n"),
                *(part for line in tail for part in line),
            ]
        return merged(parts)

    def _notice(self, overview: Overview, view: View, facts: Facts) -> str:
        lines = [f"<{view} truncated: {count(overview.lines, 'line')} total>"]
        if facts.stored is not None and facts.problem is None:
            call = get_artifact_call(facts, stream=view, offset=0, limit=MAX_LINES, max_chars=_READ_CHARS)
            capped = " (truncated at 100MB)" if view in facts.capped else ""
            hole = facts.stored.holes.get(view)
            gone = f" (bytes {hole[0]}-{hole[1]} were dropped)" if hole else ""
            lines += [
                f"Full output saved to: artifact {facts.stored.id}, {view}{capped}{gone}",
                f"Use {call} with other values of offset and limit to read specific sections.",
                f"In a shell: {search_command(facts.stored, view)}",
            ]
            if view in facts.capped:
                size = facts.stored.sizes[view]
                lines.append(
                    f"The stored part ends behind byte {size} of {overview.size}; the lines counted and shown are "
                    "those of all that was printed."
                )
        return "".join(f"{line}\n" for line in [*lines, ""])


def _fitting(overview: Overview) -> str | None:
    """The whole text, if it is within the limits."""
    if overview.lines > MAX_LINES or overview.chars > MAX_BYTES:
        return None
    text = overview.text()
    return text if text is not None and len(text.encode()) <= MAX_BYTES else None


def _ends(overview: Overview, head_lines: int, tail_lines: int) -> tuple[list[list[Part]], list[list[Part]]]:
    """Lines of both ends, as parts; none twice, at most 50 KB together, the outer ones first."""
    if overview.lines < head_lines + tail_lines:
        head_lines = -(-overview.lines // 2)
        tail_lines = overview.lines - head_lines
    half = MAX_BYTES // 2 if tail_lines else MAX_BYTES
    head = _some(overview.forward(), head_lines, half)
    used = sum(_bytes(line) for line in head)
    stop = _after(head).byte
    tail = _some((line for line in overview.backward() if line.start >= stop), tail_lines, MAX_BYTES - used)
    used += sum(_bytes(line) for line in tail)
    if len(head) < head_lines:
        limit = MAX_BYTES - used + sum(_bytes(line) for line in head)
        start = tail[-1][0].start if tail else overview.size  # type: ignore[union-attr]  # lines are no notes
        head = _some((line for line in overview.forward() if line.end <= start), head_lines, limit)
    return head, tail[::-1]


def _some(lines: Iterable[Line], most: int, room: int) -> list[list[Part]]:
    found: list[list[Part]] = []
    request = Request(limit=room)
    for line in lines:
        if len(found) == most:
            break
        parts: list[Part] = [Shown(line.text, line.start, line.end)] if line.complete else []
        size = _bytes(parts) if parts else room + 1
        if size > room:
            if found or room < MAX_BYTES // 4:
                break
            parts = _clipped(line, room, request)
            size = _bytes(parts)
        found.append(parts)
        room -= size
    return found


def _clipped(line: Line, room: int, request: Request) -> list[Part]:
    parts = line.clipped(room, request.clip_marker)
    while (size := _bytes(parts)) > room:
        parts = line.clipped(
            len("".join(part.text for part in parts)) * room // size - 1, request.clip_marker
        )
    return parts


def _bytes(parts: Iterable[Part]) -> int:
    return sum(len(part.text.encode()) for part in parts)


def _after(lines: list[list[Part]]) -> Position:
    if not lines:
        return Position(0, 1)
    return Position(lines[-1][-1].end, len(lines) + 1)  # type: ignore[union-attr]  # lines are no notes


def _covered(lines: list[list[Part]]) -> int:
    return sum(
        (part.chars or 0) if isinstance(part, Gap) else len(part.text) for line in lines for part in line
    )
