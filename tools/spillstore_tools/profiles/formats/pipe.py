"""The profile ``pipe``: each stream on its own, its last lines.

The last 2,000 lines or 50 KB, whichever is less, in whole lines collected from the end; of one line above 50 KB its
tail. Output is stored only above 50 KB a stream; what the line limit alone cuts off is not kept, and the notice says
so. A command's result has the sections ``stdout:``, ``stderr:`` and ``exit code:``; exit codes other than 0 are errors.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

from spillstore_tools.preview.parts import Gap, Note, Shown, text_of
from spillstore_tools.preview.scan.overview import Overview
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.profiles.base import Inline, Profile
from spillstore_tools.profiles.notices import get_artifact_call, redrawn_notice, search_command
from spillstore_tools.profiles.rendered import Section, compose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.text.lines import Line
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
_BACKGROUND_LINES: Mapping[View, int] = {"stdout": 500, "stderr": 100}  # of what is put into the background


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TruncateResult:
    """The result of tail truncation of one stream.

    Attributes:
        parts: the rest, behind a gap if something is left out.
        total_lines: lines of the stream.
        total_bytes: UTF-8 bytes of its cleaned text.
        output_lines: lines shown.
        output_bytes: UTF-8 bytes shown.
        truncated: whether anything is left out.
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
        """The text that is left."""
        return "".join(part.text for part in self.parts if isinstance(part, Shown))


def truncate_tail(
    content: Overview | str | bytes, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> TruncateResult:
    r"""The last whole lines within both limits; of a single longer line, its tail.

    Args:
        content: text or bytes, which are cleaned, or a pass over a stream of any size.
        max_lines: lines at most.
        max_bytes: bytes of UTF-8 at most.

    Example:
        >>> result = truncate_tail("one\ntwo\nthree\n", max_lines=2)
        >>> result.content, result.truncated_by, result.output_lines, result.total_lines
        ('two\nthree\n', 'lines', 2, 3)
        >>> result = truncate_tail("0123456789\n", max_bytes=4)
        >>> result.content, result.truncated_by, result.output_bytes, result.last_line_partial
        ('789\n', 'bytes', 4, True)
    """
    overview = content if isinstance(content, Overview) else _scanned(content, max_bytes)
    shown: list[str] = []  # from the last on
    size = chars = 0
    limit: Literal["lines", "bytes"] | None = None
    place = Position(overview.size, overview.lines + 1)
    for line in overview.backward():
        if len(shown) == max_lines:
            limit = "lines"
            break
        text, start = line.text, line.start
        if not line.complete or size + _width(text) > max_bytes:
            limit = "bytes"
            if shown:
                break
            text, start = _tail_of(line, max_bytes)
        shown.append(text)
        size, chars = size + _width(text), chars + len(text)
        place = Position(start, line.number, inside=start > line.start)
        if limit is not None:
            break
    truncated = place.byte > 0
    parts: list[Part] = [overview.gap(Position(0, 1), place, overview.chars - chars)] if truncated else []
    if shown:
        parts.append(Shown("".join(reversed(shown)), place.byte, overview.size))
    return TruncateResult(
        parts=parts,
        total_lines=overview.lines,
        total_bytes=size if not truncated else _total_bytes(overview),
        output_lines=len(shown),
        output_bytes=size,
        truncated=truncated,
        truncated_by=(limit or "bytes") if truncated else None,
        last_line_partial=place.inside,
    )


def _scanned(content: str | bytes, max_bytes: int) -> Overview:
    scan = Scan(head_chars=0, tail_chars=2 * max_bytes, terminator=b"\n", exact=False)
    scan.feed(content.encode(errors="replace") if isinstance(content, str) else content)
    return scan.finish()


def _width(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _total_bytes(overview: Overview) -> int:
    text = overview.text()
    return overview.size if text is None else _width(text)


def _tail_of(line: Line, max_bytes: int) -> tuple[str, int]:
    """As much of a line's end as so many bytes of UTF-8 hold, whole characters."""
    text, start = line.suffix(max_bytes)
    if _width(text) > max_bytes:
        text, start = line.suffix(len(text.encode()[-max_bytes:].decode(errors="ignore")))
    return text, start


class Pipe(Profile):
    """See the module."""

    name = "pipe"
    summary = "Output truncated to last 2000 lines or 50KB, each stream on its own."
    kept = "Of a stream above 50KB all is kept"
    views = ("stdout", "stderr")
    buffer_bytes = 2 * MAX_BYTES

    def inline(self, source: str) -> Inline:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return Inline(chars=MAX_BYTES, lines=MAX_LINES, size=MAX_BYTES, text_only=False)

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return Scan(head_chars=0, tail_chars=2 * MAX_BYTES, terminator=terminator, exact=False)

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:  # noqa: ARG002  # all alike
        """Whether no stream is large or drawn over; what the line limit alone cuts off need not be stored."""
        return all(
            not overview.redrawn and _total_bytes(overview) <= MAX_BYTES for overview in overviews.values()
        )

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``."""
        sections: list[Section] = []
        for view in self.views:
            result = truncate_tail(overviews[view])
            if facts.is_command or result.total_lines:
                parts = _section(view, result, facts)
                if notice := redrawn_notice(overviews[view], facts, view):
                    parts += [Note(_line_end(parts)), Note(f"{notice}\n")]
                if sections and not facts.is_command:
                    parts.insert(0, Note(_line_end(sections[-1].parts)))
                sections.append(Section(view, parts))
        if facts.is_command and facts.exit_code is not None:
            sections.append(Section("combined", [Note(f"\nexit code: {facts.exit_code}")]))
        if facts.repeat_notice:
            sections.insert(0, Section("combined", [Note(f"{facts.repeat_notice}\n")]))
        failed = facts.is_command and facts.exit_code not in {0, None}
        redrawn = sum(overview.redrawn for overview in overviews.values())
        return compose(sections, facts, strategy="tail", is_error=failed, redrawn=redrawn)

    def progress(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``."""
        assert facts.background is not None  # the caller's part
        seconds = f"{(facts.background.timeout or 0) / 1000:g}s"
        first = f"[Command backgrounded after {seconds} (pid {facts.background.pid})."
        if facts.background.state == "open":
            first = f"[Process {facts.background.pid} exited with code {facts.exit_code}, but left processes behind."
        sections = [Section("combined", [Note(f"{first}\n")])]
        for view in self.views:
            lines = _BACKGROUND_LINES[view]
            result = truncate_tail(overviews[view], max_lines=lines)
            sections.append(Section(view, _titled(f"{view} (last {lines} lines)", result)))
        last = f"\nFull output: {_whereabouts(facts)}\nUse check_pid or kill_pid to manage.]"
        return compose([*sections, Section("combined", [Note(last)])], facts, strategy="tail")

    def news_scan(self, terminator: bytes) -> Scan:
        """As in ``Profile``."""
        return self.scan("combined", terminator, "")

    def news(
        self, new: Overview, origin: Position, overviews: Mapping[View, Overview] | None, facts: Facts
    ) -> Rendered:
        """As in ``Profile``; of a command that has ended, the end of all its output."""
        assert facts.background is not None  # the caller's part
        pid = facts.background.pid
        if overviews is not None:
            sections = [Section("combined", [Note(f"[Process {pid} exited with code {facts.exit_code}.\n")])]
            for view in self.views:
                result = truncate_tail(overviews[view])
                title = f"{view} (last {MAX_LINES} lines)" if view == "stdout" else view
                sections.append(Section(view, _titled(title, result)))
        else:
            state = (
                "exited, but left processes behind" if facts.background.state == "open" else "still running"
            )
            result = truncate_tail(new)
            count = f"{result.output_lines}" + (f" of {result.total_lines}" if result.truncated else "")
            parts = _titled(f"New output since last check ({count} lines)", result)
            moved = [origin.moved(part) if isinstance(part, Gap) else part for part in parts]
            sections = [
                Section("combined", [Note(f"[Process {pid} {state}.\n")]),
                Section("combined", moved),
            ]
        last = Section("combined", [Note(f"\nFull output: {_whereabouts(facts)}]")])
        failed = overviews is not None and facts.exit_code != 0
        return compose([*sections, last], facts, strategy="tail", is_error=failed)


def _titled(title: str, result: TruncateResult) -> list[Part]:
    parts: list[Part] = [Note(f"\n{title}:\n"), *result.parts]
    return [*parts, Note(_line_end(parts))]


def _whereabouts(facts: Facts) -> str:
    if facts.stored is None:
        return f"none ({facts.reason})"
    kept = f" (may be incomplete: {facts.reason})" if facts.problem is not None else ""
    return get_artifact_call(facts, start_line=1, end_line=MAX_LINES) + kept


def _section(view: View, result: TruncateResult, facts: Facts) -> list[Part]:
    parts = [*result.parts]
    if facts.is_command:
        parts.insert(0, Note(f"{view}:\n" if view == "stdout" else f"\n{view}:\n"))
    if result.truncated or facts.is_command:
        parts.append(Note(_line_end(parts)))
    if result.truncated:
        parts.append(Note(f"{_notice(view, result, facts)}\n"))
    return parts


def _line_end(parts: Sequence[Part]) -> str:
    """The line end that the last line of parts lacks, if it does."""
    text = text_of(parts[-2:])
    return "\n" if text and not text.endswith("\n") else ""


def _notice(view: View, result: TruncateResult, facts: Facts) -> str:
    shown = f"last {result.output_lines} of {result.total_lines} lines"
    if result.last_line_partial:
        shown = f"last {result.output_bytes} bytes of line {result.total_lines}"
    if facts.problem is not None:
        where = facts.stored.id if facts.stored else "none"
        return f"[{view}: Showing {shown}. Full output file may be incomplete: {where} ({facts.reason})]"
    if facts.stored is None:
        return f"[{view}: Showing {shown}. The rest was not kept.]"
    call = get_artifact_call(facts, stream=view, start_line=1, end_line=MAX_LINES)
    call = f"{call}; in a shell: {search_command(facts.stored, view)}"
    hole = facts.stored.holes.get(view)
    gone = f" (but bytes {hole[0]}-{hole[1]} of {view} were dropped)" if hole else ""
    return f"[{view}: Showing {shown}. Full output: {call}{gone}]"
