"""Words of our own in previews: markers of gaps, what was not stored, and the calls that show more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.describe import counted, preview_size
from spillstore_tools.preview.parts import Note
from spillstore_tools.profiles.rendered import is_dropped

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Gap, Marker, Part, View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.facts import Facts, Stored


def redrawn_notice(overview: Overview, facts: Facts, view: View = "combined") -> str:
    """How many characters were overwritten or erased, and the call that shows them; empty if there are none."""
    count = overview.redrawn
    if not count:
        return ""
    stream = {} if view == "combined" else {"stream": view}
    what = counted(count, "character")
    of_view = "" if view == "combined" else f" of {view}"
    where = "they cannot be fetched"
    if facts.stored is not None:
        start, end = overview.redrawn_span
        span = {"start_byte": start, "end_byte": end} if facts.partial else {}
        call = get_artifact_call(facts, **stream, **span).removesuffix(")") + ", raw=true)"
        where = f"as it was printed: {call}"
    were = "was" if count == 1 else "were"
    return f"[{what}{of_view} {were} drawn over by carriage returns, backspaces or erasing, and are not shown; {where}]"


def search_command(stored: Stored, view: View = "combined", *, name: str = "", long: bool = False) -> str:
    """A shell command that searches what is stored; ``name`` stands for its id, and of ``long`` lines it shows a part.

    Example:
        >>> from spillstore_tools.profiles.facts import Stored
        >>> search_command(Stored(id="art_1_a", flags=" --session s"), "stderr")
        'spillstore cat art_1_a --stream stderr --session s | rg PATTERN'
    """
    stream = "" if view == "combined" else f" --stream {view}"
    holes = " --skip-holes" if view in stored.holes else ""
    rg = "rg -o '.{0,80}PATTERN.{0,80}'" if long else "rg PATTERN"
    return f"spillstore cat {name or stored.id}{stream}{holes}{stored.flags} | {rg}"


def get_artifact_call(facts: Facts, **arguments: object) -> str:
    """A call of ``get_artifact``, as a model writes it; with an empty id if nothing is stored.

    Example:
        >>> from spillstore_tools.profiles.facts import Facts, Stored
        >>> get_artifact_call(Facts(source="x", stored=Stored(id="art_1_a")), start_line=3, stream="stderr")
        'get_artifact(id="art_1_a", start_line=3, stream="stderr")'
    """
    identity = facts.stored.id if facts.stored else ""
    rest = "".join(
        f', {name}="{value}"' if isinstance(value, str) else f", {name}={value}"
        for name, value in arguments.items()
    )
    return f'get_artifact(id="{identity}"{rest})'


def problem_notice(facts: Facts) -> str:
    """Lines that say what is stored already, what was not kept, and why; empty if all of it is kept."""
    stored, lines = facts.stored, [facts.repeat_notice] if facts.repeat_notice else []
    if facts.problem is not None:
        kept = (
            f"the first {stored.size} bytes are kept as artifact {stored.id}"
            if stored
            else "nothing of it was kept"
        )
        lines.append(f"[NOT STORED COMPLETELY: {facts.reason}; {kept}]")
    if stored is not None and stored.hole is not None:
        lines.append(
            f"[bytes {stored.hole[0]}-{stored.hole[1]} were dropped: an artifact may keep "
            f"{preview_size(stored.limit)}; they cannot be fetched any more]"
        )
    if stored is not None and stored.cut_off:
        lines.append(
            f"[the last {stored.cut_off} bytes were not kept: an artifact may keep {preview_size(stored.limit)}]"
        )
    return "".join(f"{line}\n" for line in lines)


def gap_marker(gap: Gap, *, partial: bool, before: str = "", behind: str = "") -> str:
    r"""The marker of a gap: its size, and the arguments of the call that brings it.

    Args:
        gap: the gap.
        partial: whether a call may ask for a range; else the marker names the range alone.
        before: further arguments of the call.
        behind: words behind the range.

    Example:
        >>> from spillstore_tools.preview.parts import Gap
        >>> gap_marker(Gap(100, 180, 4, 6, 3, 80), partial=True)
        '[... 3 lines omitted: start_line=4, end_line=6 ...]\n'
    """
    if gap.inside:
        what, unit, low, high = f"{gap.end - gap.start} bytes", "byte", gap.start, gap.end
    else:
        what = counted(gap.lines, "line")
        unit, low, high = "line", gap.first_line, gap.last_line
    span = f"{before}start_{unit}={low}, end_{unit}={high}" if partial else f"{unit}s {low}-{high}"
    return f"[... {what} omitted: {span}{behind} ...]\n"


def marker_of(facts: Facts, view: View = "combined") -> Marker:
    """The function that makes the markers of gaps in a view."""
    of_view = "" if view == "combined" else f', stream="{view}"'

    def marker(gap: Gap) -> str:
        gone = facts.stored is not None and is_dropped(facts, view, gap.start, gap.end)
        return gap_marker(gap, partial=facts.partial, behind=of_view + (" (partly dropped)" if gone else ""))

    return marker


def on_own_line(parts: list[Part], words: str) -> Note:
    """Words behind parts, on a line of their own."""
    last = parts[-1].text if parts else ""
    return Note(words if not words or not last or last.endswith("\n") else f"\n{words}")
