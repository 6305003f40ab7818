"""The result of a comparison in words: a summary, the facts of both artifacts, and each change as a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.describe import count, human_size, shortened, utc
from spillstore_tools.preview.text.clean import one_line
from spillstore_tools.preview.text.graphemes import grapheme_boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillstore import ArtifactInfo
    from spillstore.info import Stream
    from spillstore_tools.compare.changed_lines import Change
    from spillstore_tools.compare.differences import Differences, Section


def summary(found: Differences, *, exact: bool) -> str:
    """The result of a finished comparison, in a sentence."""
    folded = "times, numbers and addresses"
    notes = "".join(f"; {note}" for note in found.notes)
    if found.verdict == "identical":
        return "identical, byte for byte"  # what was dropped as well: the digest is over all that came
    kinds = sorted({kind.name for kind in found.kinds if kind is not None})
    if kinds:
        where = "" if found.differ_at is None else f", from byte {found.differ_at} on"
        return f"different{where}; not compared by lines: {', '.join(kinds)}{notes}"
    if found.verdict == "alike":
        rest = "" if exact else f"{folded}, or "
        return f"the same lines in the same order, but for {rest}escape sequences and line ends{notes}"
    if found.verdict == "reordered":
        rest = "" if exact else f", but for {folded}"
        return f"the same lines in another order{rest}{notes}"
    new, gone, both = found.totals()
    how = "" if exact else f"; {folded} folded"
    return f"{count(new, 'new line')}, {gone:,} gone, {both:,} in both{how}{notes}"


def facts(info: ArtifactInfo, stream: Stream, when: Callable[[float], str] = utc) -> str:
    """The facts about one of the two artifacts, in a line; ``when`` formats a time."""
    view = info.view(stream)
    ended = info.state if info.exit_code is None else f"exit code {info.exit_code}"
    duration = "" if info.duration is None else f", {info.duration:.1f} s"
    command = shortened(one_line(info.command or ""))
    words = f"{ended}, {human_size(view.size)}, {count(view.lines, 'line')}{duration}, {when(info.created)}"
    return f"{words}, {command}" if command else words


def section_title(section: Section, sections: Sequence[Section]) -> str:
    """The heading of one of the sections."""
    if section.important:
        return f"{section.sort}: what matters"
    return f"{section.sort}: what else" if sections[0].important else section.sort


def change_row(change: Change, most: int | None, whole_line: str, *, brief: bool = False) -> str:
    """A change as a line: ``+12:text`` or ``-12:text``, and counts where it stands for several.

    Args:
        change: the change.
        most: the most characters of its text that are shown; None for all.
        whole_line: where to find the whole line, if it is cut.
        brief: whether the counts are left out.
    """
    text = change.text if most is None else change.text[: grapheme_boundary(change.text, most)]
    note = "" if change.complete and len(text) == len(change.text) else f"[... {whole_line}]"
    if change.more:
        counts = "" if brief else f"; {change.base:,} in the base, {change.now:,} now"
        note += f"  [and {change.more:,} more like this{counts}]"
    return f"{'+' if change.sort == 'new' else '-'}{change.line}:{text}{note}\n"
