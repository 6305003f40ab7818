"""The profile ``pipe``: each stream on its own, its last lines (S2).

The last 2,000 lines or 50 KB, whichever is less, in whole lines collected from the end; of one line above 50 KB its
tail. Output is stored only above 50 KB a stream; what the line limit alone cuts off is not kept, and the notice says
so. A command's result has the sections ``stdout:``, ``stderr:`` and ``exit code:``; exit codes other than 0 are errors.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

from spillstore_tools.preview.parts import Note, Shown
from spillstore_tools.preview.scan import Place, Scan
from spillstore_tools.preview.strategies import merged
from spillstore_tools.profiles.base import Facts, Rendered, Section, compose, quoted_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.configuration import TruncationConfiguration
    from spillstore_tools.preview.binary import BinaryType
    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan import Overview

MAX_LINES = 2000
MAX_BYTES = 50 * 1024


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TruncateResult:
    """What tail truncation did to one stream.

    Attributes:
        parts: what is left, a gap before it if something is gone.
        total_lines: lines of the stream.
        total_bytes: UTF-8 bytes of its cleaned text.
        output_lines: lines shown.
        output_bytes: UTF-8 bytes shown.
        truncated: whether anything is gone.
        truncated_by: the limit that did it.
        last_line_partial: whether only the end of one over-long line is shown.
    """

    parts: list[Part]
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    truncated: bool
    truncated_by: Literal["lines", "bytes"] | None
    last_line_partial: bool

    @property
    def content(self) -> str:
        """What is left."""
        return "".join(part.text for part in self.parts if isinstance(part, Shown))


def truncate_tail(
    overview: Overview, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> TruncateResult:
    """The last whole lines within both limits; of a single longer line, its tail."""
    shown: list[Shown] = []
    lines = size = chars = 0
    limit: Literal["lines", "bytes"] | None = None
    partial = False
    place = Place(overview.size, overview.lines + 1)
    for line in overview.backward():
        if lines == max_lines:
            limit = "lines"
            break
        width = len(line.text.encode()) if line.complete else max_bytes + 1
        if size + width > max_bytes:
            limit = "bytes"
            if not shown:
                text, start = _tail_of(line, max_bytes)
                shown, lines, size, chars, partial = (
                    [Shown(text, start, line.end)],
                    1,
                    len(text.encode()),
                    len(text),
                    True,
                )
                place = Place(start, line.number, inside=start > line.start)
            break
        shown.insert(0, Shown(line.text, line.start, line.end))
        lines, size, chars = lines + 1, size + width, chars + line.chars
        place = Place(line.start, line.number)
    parts: list[Part] = list(merged(shown))
    truncated = place.byte > 0
    if truncated:
        parts.insert(0, overview.gap(Place(0, 1), place, overview.chars - chars))
    whole = overview.text()
    return TruncateResult(
        parts=parts,
        total_lines=overview.lines,
        total_bytes=overview.size if whole is None else len(whole.encode()),
        output_lines=lines,
        output_bytes=size,
        truncated=truncated,
        truncated_by=(limit or "bytes") if truncated else None,
        last_line_partial=partial,
    )


def _tail_of(line, max_bytes: int) -> tuple[str, int]:  # type: ignore[no-untyped-def]
    room = max_bytes
    text, start = line.suffix(room)
    while len(text.encode()) > max_bytes:
        room = room * max_bytes // len(text.encode()) - 1
        text, start = line.suffix(room)
    return text, start


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pipe:
    """See the module."""

    name: str = "pipe"
    views: tuple[View, ...] = ("stdout", "stderr")
    keep: str = "spilled"
    buffer_bytes: int = 2 * MAX_BYTES
    size_limit: int | None = None
    policy: str | None = None
    stream_limit: int | None = None
    refuse_at: int | None = None
    cleanup_on_exit: bool = False

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # all alike
        return Scan(head_chars=0, tail_chars=2 * MAX_BYTES, terminator=terminator)

    def complete(self, overviews: Mapping[View, Overview], source: str, binary: BinaryType | None) -> bool:  # noqa: ARG002
        return all(truncate_tail(overview).total_bytes <= MAX_BYTES for overview in overviews.values())

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        sections = []
        for view in self.views:
            result = truncate_tail(overviews[view])
            if view == "stderr" and not overviews[view].size:
                continue
            parts = [*result.parts]
            if facts.is_command:
                parts.insert(0, Note(f"{view}:\n" if view == "stdout" else "\nstderr:\n"))
            if parts and not parts[-1].text.endswith("\n"):
                parts.append(Note("\n"))
            if result.truncated:
                parts.append(Note(f"{_notice(view, result, facts)}\n"))
            sections.append(Section(view, parts))
        if facts.is_command and facts.exit_code is not None:
            sections.append(Section("combined", [Note(f"\nexit code: {facts.exit_code}")]))
        failed = facts.is_command and facts.exit_code != 0
        return compose(sections, facts, strategy="tail", is_error=failed)


def _notice(view: View, result: TruncateResult, facts: Facts) -> str:
    shown = f"last {result.output_lines} of {result.total_lines} lines"
    if result.last_line_partial:
        shown = f"last {result.output_bytes} bytes of line {result.total_lines}"
    if facts.problem is not None:
        where = facts.stored.id if facts.stored else "none"
        error = " ".join(facts.problem.split())[:200]
        return f"[{view}: Showing {shown}. Full output file may be incomplete: {where} ({error})]"
    if facts.stored is None:
        return f"[{view}: Showing {shown}. The rest was not kept.]"
    return f"[{view}: Showing {shown}. Full output: {quoted_call(facts, stream=view, start_line=1, end_line=MAX_LINES)}]"


def make(configuration: TruncationConfiguration | None) -> Pipe:  # noqa: ARG001  # the limits are the document's
    """The profile."""
    return Pipe()
