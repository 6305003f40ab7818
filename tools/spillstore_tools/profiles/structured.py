"""JSON under the profile ``default``: cut by elements, and long texts inside it shown as the texts that they are.

What is left of the JSON is JSON still, our own words aside. A string of many lines (``{"stdout": LOG, "exit_code": 1}``)
is one gap in it; behind the JSON, in words of our own, stands what ``smart`` makes of the string's lines.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.preview.parts import Note, length_of, text_of
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.actionable import STRONG, Hints, score
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.structured.cuts import NotStructured, TextCut, apply_cuts
from spillstore_tools.preview.structured.json_cuts import cut_json
from spillstore_tools.preview.structured.json_paths import member_step, name_at
from spillstore_tools.preview.structured.json_tree import parsed
from spillstore_tools.preview.structured.replace import replaced
from spillstore_tools.profiles.notices import gap_marker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.parts import Gap, Marker, Part
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.structured.json_tree import Value

_LONG = 1000  # characters of a string's source from which on it may be shown as text
_LINES = 5  # and the line ends that it must have
_LEAST = 600  # characters that are worth a text of its own
_MOST = 1_000_000
_ENOUGH = 4000  # code points of JSON without such strings
_ABOUT = 700  # of words about it
_FOUND = 3200  # of what of it matters most
_FEW, _OF_FEW = 2, 1500  # elements at either end of arrays where such is found, and code points
_REPEATED = 3  # strings at one path but for its indices from which on they belong to records
_DEEPEST = 64
_INDEX = re.compile(r"\[\d+\]")


class Structured(NamedTuple):
    """JSON taken apart: its text and value, words about it, a query that finds more than is shown, and the long texts in it.

    Attributes:
        about: what it holds, and what of it matters most, on lines of their own.
        few: whether equal elements tell little beside that.
    """

    text: str
    root: Value
    about: list[str]
    few: bool
    query: str
    strings: list[_Text]


class _Text(NamedTuple):
    """A string of many lines: its path, and where its source stands, quotation marks included."""

    path: str
    start: int
    end: int


def structured(text: str) -> Structured | None:
    """An object or an array of JSON taken apart; None for anything else, JSON Lines among it, which is cut by lines."""
    try:
        root = parsed(text)
        if root.kind not in {"{", "["}:
            return None
        about, few = _found(text, root)
        strings = list(_strings(text, root, "$", 1))
        if few:
            strings = list(_telling(text, strings))
        query = strings[0].path if strings else _query(text, root)
        return Structured(text, root, about, few, query, strings)
    except (NotStructured, RecursionError):
        return None


def cut(overview: Overview, known: Structured, room: int, *, partial: bool) -> list[Part] | None:
    """The parts within a number of code points; None where nothing of it would fit.

    Args:
        overview: of the whole output.
        known: the result of ``structured``.
        room: the code points.
        partial: whether a call may ask for a range, so that gaps name one.
    """
    shown = sorted(
        sorted(known.strings, key=lambda each: each.start - each.end)[: max(0, room // _LEAST - 1)]
    )
    shown.sort(key=lambda each: each.start)
    about = ""
    for line in known.about if room >= _ENOUGH else ():
        about += line if len(about) + len(line) <= room * 3 // 5 else ""
    few = known.few and bool(about)
    room -= len(about)
    if not shown:
        room = min(room, _OF_FEW if few else _ENOUGH)
    while True:
        own = [_pointer(known.text, each) for each in shown]
        skeleton = room - max(_LEAST, room * 3 // 5) if shown else room
        cuts = _cuts(known, own, skeleton, most=_FEW if few else _MOST)
        parts = replaced(overview, known.text, cuts, skeleton)
        if parts is None and shown:
            shown.pop()
            continue
        if parts is None or not shown:
            return parts and [Note(about), *parts]
        return [
            Note(about),
            *parts,
            Note(_texts(known.text, shown, room - length_of(parts), partial=partial)),
        ]


def _found(text: str, root: Value) -> tuple[list[str], bool]:
    """What the JSON holds, and what of it matters most, on lines of their own; whether that are records unlike the others."""
    from spillstore_tools.preview.structured.json_findings import findings  # noqa: PLC0415  # most output is no JSON
    from spillstore_tools.preview.structured.json_shape import shape  # noqa: PLC0415  # likewise

    found = findings(text, root, _FOUND)
    lines = [shape(text, root, _ABOUT), *found.lines]
    return [f"[{line}]\n" for line in lines], found.are_odd


def _strings(text: str, value: Value, path: str, depth: int) -> Iterator[_Text]:
    """The strings of many lines, in the order of the text."""
    if value.end - value.start < _LONG or depth > _DEEPEST:
        return
    if value.kind == '"':
        if text.count("\\n", value.start, value.end) >= _LINES:
            yield _Text(path, value.start, value.end)
        return
    if value.kind in {"{", "["}:
        parts = value.opened(text)
        for index in parts.indices():
            if parts[index][2] - parts[index][1] >= _LONG:
                yield from _strings(
                    text, value.part(text, index), path + _step(text, value, index), depth + 1
                )


def _telling(text: str, strings: list[_Text]) -> Iterator[_Text]:
    """The strings without those that many records have and that hold no telling word, such as the sources that a checker read."""
    alike = Counter(_INDEX.sub("[*]", each.path) for each in strings)
    for each in strings:
        if alike[_INDEX.sub("[*]", each.path)] < _REPEATED or _tells(_value_of(text, each)):
            yield each


def _tells(value: str) -> bool:
    raw = value.encode(errors="replace")
    return any(
        score(raw[start:end].decode(errors="replace")) >= STRONG
        for start, end, _, _, _ in Hints().lines(raw, b"\n")
    )


def _value_of(text: str, string: _Text) -> str:
    return str(json.JSONDecoder(strict=False).raw_decode(text, string.start)[0])


def _query(text: str, value: Value) -> str:
    """A query that finds something of the largest thing in it."""
    path = "$"
    for _ in range(_DEEPEST):
        if value.kind not in {"{", "["} or not (parts := value.opened(text)):
            break
        if value.kind == "[" and len(parts) > 1:
            middle = len(parts) // 2
            return f"{path}[{middle}:{min(len(parts), middle + 10)}]"
        largest = max(parts.indices(), key=lambda index: parts[index][2] - parts[index][1])
        path += _step(text, value, largest)
        value = value.part(text, largest)
    return path


def _step(text: str, value: Value, index: int) -> str:
    """The step of a path from a value to one of its parts."""
    return f"[{index}]" if value.kind == "[" else member_step(name_at(text, value, index))


def _pointer(text: str, string: _Text) -> TextCut:
    """The gap that takes the place of a string's content."""
    lines = text.count("\\n", string.start, string.end)
    marker = f"... {lines} lines of text, shown below ..."
    return TextCut(string.start + 1, string.end - 1, marker, 0)


def _cuts(known: Structured, own: list[TextCut], room: int, *, most: int) -> list[TextCut]:
    """The gaps of the strings that are shown apart, and what else must go."""
    if not own:
        return cut_json(known.text, room, first=most, last=most, max_depth=_DEEPEST, root=known.root)
    small = apply_cuts(known.text, own)
    places: list[
        tuple[int, int, TextCut | None]
    ] = []  # of what of the small text, where it begins in the whole one
    at = behind = 0
    for each in own:
        places.append((at, behind, None))
        at += each.start - behind
        places.append((at, each.start, each))
        at, behind = at + len(each.text), each.end
    places.append((at, behind, None))

    def place(index: int) -> tuple[int, TextCut | None]:
        low, whole, inside = max((each for each in places if each[0] <= index), key=lambda each: each[0])
        return (whole + index - low, inside) if inside is None or index == low else (whole, inside)

    found: list[TextCut] = []
    for each in cut_json(small, room, first=most, last=most, max_depth=_DEEPEST):
        (start, first), (end, last) = place(each.start), place(each.end)
        if (first is not None and each.start < each.end) or (last is not None and end != last.start):
            continue  # the marker of a string stays whole
        found.append(TextCut(start, end, each.text, each.elements))
    kept = [each for each in own if not any(other.start <= each.start < other.end for other in found)]
    return sorted([*found, *kept], key=lambda each: each.start)


def _texts(text: str, strings: list[_Text], room: int, *, partial: bool) -> str:
    """Excerpts of the strings, each in an equal share of the room that those before it leave."""
    shown = ""
    for number, string in enumerate(strings):
        share = (room - len(shown)) // (len(strings) - number)
        shown += _excerpt(text, string, share, partial=partial)
    return shown


def _excerpt(text: str, string: _Text, room: int, *, partial: bool) -> str:
    value = _value_of(text, string)
    chosen = strategy("smart")
    scan = Scan(
        head_chars=room,
        tail_chars=room,
        keep_bytes=chosen.keep_bytes,
        observer=chosen.observer(),
        exact=False,
    )
    scan.feed(value.encode(errors="replace"))
    overview = scan.finish()
    head = f"\n[{string.path}: {overview.lines} lines of text; line numbers are its own]\n"
    space = room - len(head) - 1
    if space < 1:
        return ""
    whole = overview.text() if overview.chars <= space else None
    if whole is None:
        request = Request(
            limit=space,
            marker=_marker_of(string.path, partial=partial),
            clip_marker=_clipped,
            repeat_marker=_repeated,
        )
        whole = text_of(chosen.cut(overview, request) or [])
    return head + whole.rstrip("\n")


def _marker_of(path: str, *, partial: bool) -> Marker:
    """The function that makes the markers of gaps in a string."""
    before = f"path={json.dumps(path, ensure_ascii=False)}, "
    return lambda gap: gap_marker(gap, partial=partial, before=before)


def _clipped(gap: Gap) -> str:
    return f" [... {gap.chars} chars omitted ...] "


def _repeated(gap: Gap) -> str:
    return f"  [the same {gap.lines} more times, lines {gap.first_line}-{gap.last_line}]\n"
