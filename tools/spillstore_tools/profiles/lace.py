"""The profile ``lace``: a JSON result with a preview of each stream (S4).

100 lines of the beginning and 50 of the end, at most 10,000 characters of each, and how many lines there were. Always
stored, empty output too. Only exit code 127 with an empty stdout is an error.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Gap, Note, Shown, length_of, omissions_of, text_of
from spillstore_tools.preview.scan import Place, Scan
from spillstore_tools.preview.strategies import Request, assemble, beginning, ending, merged
from spillstore_tools.profiles.base import Facts, Rendered, dropped, quoted_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.configuration import TruncationConfiguration
    from spillstore_tools.preview.binary import BinaryType
    from spillstore_tools.preview.parts import Omission, Part, View
    from spillstore_tools.preview.scan import Overview

HEAD_LINES = 100
TAIL_LINES = 50
MAX_CHARS = 10_000
CUT = "\n[PREVIEW TRUNCATED]"
NOT_FOUND = 127


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lace:
    """See the module."""

    name: str = "lace"
    views: tuple[View, ...] = ("stdout", "stderr")
    keep: str = "all"
    buffer_bytes: int = 0
    size_limit: int | None = None
    policy: str | None = None
    stream_limit: int | None = None
    refuse_at: int | None = None
    cleanup_on_exit: bool = True

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # all alike
        return Scan(head_chars=2 * MAX_CHARS, tail_chars=2 * MAX_CHARS, terminator=terminator)

    def complete(self, overviews: Mapping[View, Overview], source: str, binary: BinaryType | None) -> bool:  # noqa: ARG002
        return False  # always stored

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        cuts = {view: _preview(overviews[view], view, facts) for view in self.views}
        fields = {f"{view}Preview": text_of(parts) for view, parts in cuts.items()}
        omissions: list[Omission] = []
        for view, parts in cuts.items():
            omissions += omissions_of(parts, view)
        identity = facts.stored.id if facts.stored else None
        result = {
            "command": facts.command or "",
            "exitCode": facts.exit_code if facts.exit_code is not None else 0,
            "runtime": facts.runtime or 0,
            **fields,
            "truncated": {
                view: {"skipped": _skipped(cuts[view]), "total": overviews[view].lines} for view in self.views
            },
            "outputFiles": {
                stream: f"artifact://{identity}?stream={stream}" if identity else ""
                for stream in ("stdout", "stderr", "combined")
            },
        }
        if facts.problem is not None:
            result["storageError"] = facts.problem
        return Rendered(
            text=json.dumps(result, ensure_ascii=False),
            omissions=tuple(dropped(omissions, facts)),
            strategy="lines" if omissions else "none",
            is_error=facts.exit_code == NOT_FOUND and not overviews["stdout"].size,
            fields=fields,
        )


def _preview(overview: Overview, view: View, facts: Facts) -> list[Part]:
    parts = _both_ends(overview, view, facts)
    if length_of(parts) <= MAX_CHARS:
        return parts
    return _cut_off(parts, overview)


def _both_ends(overview: Overview, view: View, facts: Facts) -> list[Part]:
    request = Request(limit=MAX_CHARS, line_limit=None)
    most = HEAD_LINES + TAIL_LINES
    if overview.lines <= most:
        head = beginning(overview.forward(), 2 * MAX_CHARS, request, exact=True)
        end = Place(overview.size, overview.lines + 1)
        if head.place.byte == end.byte:
            return merged(head.parts)
        return merged([*head.parts, overview.gap(head.place, end, overview.chars - head.chars)])
    head = beginning(overview.forward(), 2 * MAX_CHARS, request, most=HEAD_LINES, exact=True)
    tail = ending(overview.backward(), MAX_CHARS, request, head.place, overview, most=TAIL_LINES, exact=True)

    def marker(gap: Gap) -> str:
        first, last = gap.first_line, gap.last_line
        where = (
            quoted_call(facts, stream=view, start_line=first, end_line=last)
            if facts.stored
            else "nowhere: not stored"
        )
        return (
            f"\n=== OUTPUT TRUNCATED ===\n[Skipped {gap.lines} lines - see full output in {where}]\n"
            f"=== LAST {TAIL_LINES} LINES ===\n\n"
        )

    return assemble(head, tail, overview, marker)


def _cut_off(parts: list[Part], overview: Overview) -> list[Part]:
    """The first 10,000 characters, the words that say so included."""
    room = MAX_CHARS - len(CUT)
    kept: list[Part] = []
    at, chars, line = 0, 0, 1
    for part in parts:
        if isinstance(part, Shown):
            text, end = _prefix(part, overview, room)
            if end > part.start:
                kept.append(Shown(text, part.start, end))
                room -= len(text)
                chars += len(text)
                at, line = end, line + text.count("\n")
            if end < part.end:
                break
        elif isinstance(part, Gap):
            if len(part.text) > room:
                break
            kept.append(part)
            room -= len(part.text)
            chars += part.chars or 0
            at, line = part.end, part.last_line + (not part.inside)
    inside = bool(kept) and isinstance(kept[-1], Shown) and not kept[-1].text.endswith("\n")
    gap = overview.gap(
        Place(at, line, inside=inside), Place(overview.size, overview.lines + 1), overview.chars - chars
    )
    return [*kept, dataclasses.replace(gap, text=CUT)]


def _prefix(part: Shown, overview: Overview, room: int) -> tuple[str, int]:
    """As much of a piece as fits, cut where nothing is torn."""
    if len(part.text) <= room:
        return part.text, part.end
    text, end = "", part.start
    for line in (*overview.forward(), *reversed(list(overview.backward()))):
        if line.end <= part.start or line.start < end:
            continue
        if line.start >= part.end or not room - len(text):
            break
        piece, place = line.prefix(room - len(text))
        text, end = text + piece, place
        if place < line.end:
            break
    return text, end


def _skipped(parts: list[Part]) -> int:
    return sum(part.lines for part in parts if isinstance(part, Gap))


def make(configuration: TruncationConfiguration | None) -> Lace:  # noqa: ARG001  # the limits are the document's
    """The profile."""
    return Lace()
