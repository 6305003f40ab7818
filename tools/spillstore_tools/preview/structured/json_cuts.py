"""JSON with its middle left out: the first and last elements of arrays, the first members of objects, shorter strings.

Nothing is written anew. What is kept keeps its formatting, number spelling and duplicate keys, so the range behind
every cut is exactly what is missing, and the rest is a slice of the original.

Only what is shown is taken apart. Python's C scanner reads the whole text once, which settles whether it is JSON, and
then each container on the way to what is shown once more, to learn where its elements end: one pass at C speed per
level of nesting, instead of a token at a time in Python. A tokenizing regular expression, one pass whatever the
depth, took twice the time on a megabyte of records three levels deep.

Stricter than ``json.loads``: no NaN, no Infinity. More lenient: a byte order mark is passed over and kept, digits have
no limit, and several values on lines of their own (JSON Lines) count as the items of one array without brackets.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from spillstore.model.json_values import is_whole
from spillstore.settings import MIB
from spillstore_tools.preview.structured.cuts import (
    DEEPEST,
    SHORTEST,
    Detail,
    NotStructured,
    TextCut,
    counted,
    largest,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


_BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
# Parts of containers that are no containers themselves, with the comma behind; of what is known to be JSON.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = rf'({_STRING}|[^][{{}}", \t\n\r]++)'
_BEHIND = r"[ \t\n\r]*+(?:(,)[ \t\n\r]*+)?"
_ELEMENT = re.compile(_SCALAR + _BEHIND)
_MEMBER = re.compile(rf"({_STRING})[ \t\n\r]*+:[ \t\n\r]*+(?:{_SCALAR}{_BEHIND})?")
_COMMA_BEHIND = 2  # the group of the comma in the first of them; one more in the other
_FLAT = rf'[^"\[\]{{}}]++|{_STRING}'
_ONE = rf"[\[{{](?:{_FLAT})*+[\]}}]"
_CONTAINER = re.compile(rf"[\[{{](?:{_FLAT}|{_ONE})*+[\]}}]")  # unless it is nested more deeply
_RUN = re.compile(rf"(?:{_FLAT})*+")  # up to the next bracket
_LARGE = MIB  # characters of a text from which on no values are made of it, which take many times its memory
_ENDS = 2**15  # parts of a container that are known at either end of it, however many it has


def cut_json(
    text: str, limit: int, *, first: int = 5, last: int = 5, max_depth: int = 3, root: Value | None = None
) -> list[TextCut]:
    """The cuts that bring JSON down to a limit and leave it JSON.

    Costs one pass of the C scanner per level of nesting shown; about 30 ms for a megabyte of records. Options are the
    most that is kept of a text above the limit; less is kept, everywhere alike, until it fits.

    Args:
        text: one JSON value, or several on lines of their own.
        limit: characters of the result.
        first: elements kept at the start of every array.
        last: elements kept at its end.
        max_depth: levels of nesting kept, the outermost being 1; deeper containers become a string. Above 64 means 64.
        root: of ``parsed``, where that was asked already.

    Returns:
        Disjoint cuts in ascending order; none if the text fits. A number, a key or blank space that alone is too long
        is not cut, so a text of little else can stay above the limit.

    Raises:
        NotStructured: the text is no JSON, or nested more deeply than Python's scanner goes.

    Example:
        >>> from spillstore_tools.preview.structured.cuts import apply_cuts
        >>> text = str(list(range(1, 101)))
        >>> apply_cuts(text, cut_json(text, 50, first=2, last=2))
        '[1, 2, "... 96 items omitted ...", 99, 100]'
    """
    asked = Detail(len(text), max(0, first), max(0, last), min(max_depth, DEEPEST), len(text))
    try:
        root = root or parsed(text)
        if len(text) <= limit:
            return []
        return largest(text, limit, asked, lambda detail: _Cutter(text, detail).run(root))
    except RecursionError:  # of the scanner: nothing here goes deeper than DEEPEST
        raise NotStructured("nested too deeply") from None


def _refuse(constant: str) -> None:
    raise NotStructured(f"{constant} is no JSON number")


# Numbers stay text: ints of more than 4,300 digits are an error to int(), and nobody looks at their values.
_scanner = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_refuse)
_scan: Callable[[str, int], tuple[object, int]] = _scanner.scan_once  # type: ignore[attr-defined]  # ``raw_decode`` is a call more

_Part: TypeAlias = "tuple[int, int, int]"  # where an element, or a member's key begins; where its value does; where that ends


class _Parts:
    """The parts of a container, in order; of more than ``_ENDS`` at either end only how many they are is kept.

    Attributes:
        known: those that are known.
        missing: how many are not, behind the first ``_ENDS``; but for the first and the last of them.
    """

    __slots__ = ("_borders", "known", "missing")

    def __init__(self, known: list[_Part]) -> None:
        self.known = known
        self.missing = 0
        self._borders: dict[int, _Part] = {}  # the first and the last that are missing, by their numbers

    def __len__(self) -> int:
        return len(self.known) + self.missing

    def __getitem__(self, index: int) -> _Part:
        if not self.missing or index < _ENDS:
            return self.known[index]
        return self._borders[index] if index < _ENDS + self.missing else self.known[index - self.missing]

    def indices(self) -> Iterable[int]:
        """Of those that are known."""
        low = _ENDS if self.missing else len(self.known)
        return itertools.chain(range(low), range(low + self.missing, len(self)))

    def trim(self) -> None:
        """Forget those in the middle."""
        first = self._borders.get(_ENDS, self.known[_ENDS])
        last = self.known[-_ENDS - 1]
        self.missing += len(self.known) - 2 * _ENDS
        del self.known[_ENDS:-_ENDS]
        self._borders = {_ENDS: first, _ENDS + self.missing - 1: last}


@dataclass(slots=True)
class Value:
    """A value's place, and those of its parts once they are known; ``kind`` is its first character, or ``lines``."""

    kind: str
    start: int
    end: int
    parts: _Parts | None = None
    inner: dict[int, Value] = field(default_factory=dict)
    marker_key: str = ""

    def opened(self, text: str) -> _Parts:
        """The places of all parts, or of those at both ends of very many."""
        if self.parts is None:
            if self.kind == "{":
                self.parts, dotted = _members(text, self.start)
                self.marker_key = _unused(dotted)
            else:
                self.parts = _elements(text, self.start)
        return self.parts

    def part(self, text: str, index: int) -> Value:
        """One part's value."""
        if index not in self.inner:
            _, start, end = self.opened(text)[index]
            self.inner[index] = Value(text[start], start, end)
        return self.inner[index]


def parsed(text: str) -> Value:
    """The value, or values on lines, that are all of the text.

    Raises:
        NotStructured: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    if len(text) > _LARGE and is_whole(text.removeprefix(_BOM).encode(errors="replace")):
        start = _skip(_SPACE, text, 1 if text.startswith(_BOM) else 0)
        return Value(text[start], start, len(text.rstrip(" \t\n\r")))
    parts: list[_Part] = []
    end = 0
    pos = _skip(_SPACE, text, 1 if text.startswith(_BOM) else 0)
    while pos < len(text) or not parts:
        if parts and text.find("\n", end, pos) < 0:
            raise NotStructured(f"more than one value on a line, at character {pos}")
        try:
            end = _checked_end(text, pos)
        except (StopIteration, IndexError):
            raise NotStructured(f"no JSON: no value at character {pos}") from None
        except json.JSONDecodeError as error:
            raise NotStructured(f"no JSON: {error}") from error
        parts.append((pos, pos, end))
        pos = _skip(_SPACE, text, end)
    if len(parts) == 1:
        return Value(text[parts[0][1]], parts[0][1], end)
    return Value("lines", parts[0][1], end, _Parts(parts))


def _checked_end(text: str, pos: int) -> int:
    """The end of the value at ``pos``, which nobody has looked at yet."""
    if len(text) <= _LARGE or text[pos] not in "[{":
        return _scan(text, pos)[1]
    end = _end_of(text, pos)
    if not is_whole(text[pos:end].encode(errors="replace")):
        raise NotStructured(f"no JSON at character {pos}")
    return end


def _elements(text: str, start: int) -> _Parts:
    """The elements of an array in a text that is JSON."""
    pos = _skip(_SPACE, text, start + 1)
    known: list[_Part] = []
    parts = _Parts(known)
    if text[pos] == "]":
        return parts
    end_of, many = _end_of if len(text) > _LARGE else _scan_end, 4 * _ENDS
    while pos >= 0:
        if len(known) >= many:
            parts.trim()
        found = _ELEMENT.match(text, pos)
        if found is not None:
            known.append((pos, pos, found.end(1)))
            pos = found.end() if found.lastindex == _COMMA_BEHIND else -1
            continue
        end = end_of(text, pos)
        known.append((pos, pos, end))
        pos = _skip(_COMMA, text, end)
    return parts


def _members(text: str, start: int) -> tuple[_Parts, list[str]]:
    """The members of an object in a text that is JSON, and those of their names that begin with a dot."""
    pos = _skip(_SPACE, text, start + 1)
    known: list[_Part] = []
    parts = _Parts(known)
    dotted: list[str] = []
    end_of, many = _end_of if len(text) > _LARGE else _scan_end, 4 * _ENDS
    while pos >= 0 and (found := _MEMBER.match(text, pos)) is not None:
        if len(known) >= many:
            parts.trim()
        key = found[1]
        name = str(_scan(text, pos)[0]) if "\\" in key else key[1:-1]
        if name.startswith("."):
            dotted.append(name)
        value, end = found.span(2)
        if end > 0:
            known.append((pos, value, end))
            pos = found.end() if found.lastindex == _COMMA_BEHIND + 1 else -1
            continue
        value = found.end()
        end = end_of(text, value)
        known.append((pos, value, end))
        pos = _skip(_COMMA, text, end)
    return parts, dotted


def _scan_end(text: str, pos: int) -> int:
    """Where a container in a text that is JSON ends: by making its values, which is fast."""
    return _scan(text, pos)[1]


def _end_of(text: str, pos: int) -> int:
    """The same by its brackets, in flat memory."""
    found = _CONTAINER.match(text, pos)
    if found is not None:
        return found.end()
    depth = 0
    while True:
        depth += 1 if text[pos] in "[{" else -1
        pos += 1
        if not depth:
            return pos
        pos = _skip(_RUN, text, pos)


def _skip(pattern: re.Pattern[str], text: str, pos: int) -> int:
    match = pattern.match(text, pos)
    return match.end() if match else -1


def _unused(keys: list[str]) -> str:
    """Three dots, or more if a member is called that."""
    taken = set(keys)
    key = "..."
    while key in taken:
        key += "."
    return key


class _Cutter:
    """Collects the cuts of one detail, in the order of the text."""

    def __init__(self, text: str, detail: Detail) -> None:
        self._text = text
        self._detail = detail
        self._cuts: list[TextCut] = []

    def run(self, root: Value) -> list[TextCut]:
        if self._detail.depth < 1 and root.kind in ("[", "{", "lines"):
            # Blank space around the value goes too: nothing else could make room for what is left.
            self._replace(root, 1 if self._text.startswith(_BOM) else 0, len(self._text))
        else:
            self._value(root, 1)
        return self._cuts

    def _value(self, value: Value, depth: int) -> None:
        if value.kind == '"':
            cut = shortened(self._text, value.start + 1, value.end - 1, self._detail.strings, _Escapes)
            if cut:
                self._cuts.append(cut)
        elif value.kind in ("[", "{", "lines"):
            if depth > self._detail.depth:
                self._replace(value, value.start, value.end)
            else:
                self._container(value, depth)

    def _replace(self, value: Value, start: int, end: int) -> None:
        number = len(value.opened(self._text))
        self._cut(start, end, f'"... {_names(value, number)} omitted ..."', number)

    def _container(self, value: Value, depth: int) -> None:
        parts = value.opened(self._text)
        low, high = self._omitted(value, len(parts))
        self._inside(value, range(low), depth)
        if low < high and not self._cut(
            parts[low][0], parts[high - 1][2], _marker(value, high - low), high - low
        ):
            self._inside(value, range(low, high), depth)
        self._inside(value, range(high, len(parts)), depth)

    def _omitted(self, value: Value, number: int) -> tuple[int, int]:
        """Which parts are one run too many."""
        low, high = self._detail.omitted(number)
        if value.kind == "{":
            low, high = min(self._detail.members, number), number
        if value.opened(self._text).missing:  # no more is known
            low, high = min(low, _ENDS), high if value.kind == "{" else max(min(high, number), number - _ENDS)
        return low, high

    def _inside(self, value: Value, indices: Iterable[int], depth: int) -> None:
        opened = value.opened(self._text)
        parts = opened if opened.missing else opened.known  # without a call for each
        for index in indices:
            _, start, end = parts[index]
            if end - start > SHORTEST and not self._stays(start, end, depth + 1):
                self._value(value.part(self._text, index), depth + 1)

    def _stays(self, start: int, end: int, depth: int) -> bool:
        """Whether a value is so small that nothing in it can be too much: told from three characters, without taking it apart."""
        text, detail = self._text, self._detail
        if end - start > detail.strings:
            return False
        parts = text.count(",", start, end) + 1  # no container in it has more
        if parts > detail.members or parts > detail.first + detail.last + 1:
            return False
        return depth - 1 + text.count("{", start, end) + text.count("[", start, end) <= detail.depth

    def _cut(self, start: int, end: int, marker: str, elements: int) -> bool:
        if len(marker) >= end - start or not elements:
            return False
        self._cuts.append(TextCut(start, end, marker, elements))
        return True


def _names(value: Value, number: int) -> str:
    return counted(number, "key" if value.kind == "{" else "item")


def _marker(value: Value, number: int) -> str:
    if value.kind == "{":
        return f'"{value.marker_key}": "{_names(value, number)} omitted"'
    return f'"... {_names(value, number)} omitted ..."'


class _Escapes:
    r"""Escape sequences in a string literal: ``\n``, ``\u00e9``."""

    @staticmethod
    def opening(text: str, low: int, pos: int) -> int:
        start = text.rfind("\\", max(low, pos - 5), pos)
        if start < 0:
            return pos
        # In a run of backslashes every second one is escaped by the one before it.
        run = start + 1 - low - len(text[low : start + 1].rstrip("\\"))
        return start if run % 2 else pos

    @staticmethod
    def closing(text: str, pos: int) -> int:
        if text[pos] != "\\":
            return pos + 1
        return pos + (6 if text[pos + 1] == "u" else 2)
