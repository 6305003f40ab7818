"""JSON as a tree of places in its text: where each value, element and member stands.

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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from spillstore.model.json_values import is_whole
from spillstore.runtime import lazy_patterns as re
from spillstore.settings import MIB
from spillstore_tools.preview.structured.cuts import NotStructured
from spillstore_tools.preview.structured.json_kinds import KIND_OF, Kinds
from spillstore_tools.preview.text.clean import BOM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SPACE = re.compile(r"[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
# Parts of containers that are no containers themselves, with the comma behind; of what is known to be JSON.
_STRING = r'"[^"\\]*+(?>\\.[^"\\]*+)*+"'
_SCALAR = rf'({_STRING}|[^][{{}}", \t\n\r]++)'
_BEHIND = r"[ \t\n\r]*+(?:(,)[ \t\n\r]*+)?"
_ELEMENT = re.compile(_SCALAR + _BEHIND)
_MEMBER = re.compile(rf"({_STRING})[ \t\n\r]*+:[ \t\n\r]*+(?:{_SCALAR}{_BEHIND})?")
_COMMA_BEHIND = 2  # the group of the comma in the first of them; one more in the other
_FLAT = rf'[^"\[\]{{}}]++|{_STRING}'
_ONE = rf"[\[{{](?>{_FLAT})*+[\]}}]"
_CONTAINER = re.compile(rf"[\[{{](?>{_FLAT}|{_ONE})*+[\]}}]")  # unless it is nested more deeply
_RUN = re.compile(rf"(?>{_FLAT})*+")  # up to the next bracket
_LARGE = MIB  # characters of a text from which on no values are made of it, which take many times its memory
_ENDS = 2**15  # parts of a container that are known at either end of it, however many it has


def _refuse(constant: str) -> None:
    raise NotStructured(f"{constant} is no JSON number")


# Numbers stay text: ints of more than 4,300 digits are an error to int(), and nobody looks at their values.
_scanner = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_refuse)
_scan: Callable[[str, int], tuple[object, int]] = _scanner.scan_once  # type: ignore[attr-defined]  # ``raw_decode`` is a call more

_Part: TypeAlias = "tuple[int, int, int]"  # where an element, or a member's key begins; where its value does; where that ends


class Parts:
    """The parts of a container, in order; of more than ``_ENDS`` at either end only how many they are is kept.

    Attributes:
        known: those that are known.
        missing: how many are not, behind the first ``_ENDS``; but for the first and the last of them.
    """

    __slots__ = ("_borders", "_gone", "known", "missing")

    def __init__(self, known: list[_Part]) -> None:
        self.known = known
        self.missing = 0
        self._gone = Kinds()  # of those that are missing
        self._borders: dict[int, _Part] = {}  # the first and the last that are missing, by their numbers

    def __len__(self) -> int:
        return len(self.known) + self.missing

    def __getitem__(self, index: int) -> _Part:
        if not self.missing or index < _ENDS:
            return self.known[index]
        return self._borders[index] if index < _ENDS + self.missing else self.known[index - self.missing]

    @property
    def ends(self) -> int:
        """How many parts at either end are known, at least, where some are missing."""
        return _ENDS

    def indices(self) -> Iterable[int]:
        """The indices of the parts that are known."""
        low = _ENDS if self.missing else len(self.known)
        return itertools.chain(range(low), range(low + self.missing, len(self)))

    def kinds(self, text: str) -> Kinds:
        """Of which kinds all parts are, those that are missing among them."""
        low = _ENDS if self.missing else len(self.known)
        found = _kinds(text, self.known[:low], 0)
        found.join(self._gone)
        found.join(_kinds(text, self.known[low:], low + self.missing))
        return found

    def trim(self, text: str) -> None:
        """Forget those in the middle, but for their kinds."""
        self._gone.join(_kinds(text, self.known[_ENDS:-_ENDS], _ENDS + self.missing))
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
    parts: Parts | None = None
    inner: dict[int, Value] = field(default_factory=dict)
    marker_key: str = ""

    def opened(self, text: str) -> Parts:
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
    if len(text) > _LARGE and is_whole(text.removeprefix(BOM).encode(errors="replace")):
        start = _skip(_SPACE, text, 1 if text.startswith(BOM) else 0)
        return Value(text[start], start, len(text.rstrip(" \t\n\r")))
    parts: list[_Part] = []
    end = 0
    pos = _skip(_SPACE, text, 1 if text.startswith(BOM) else 0)
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
    return Value("lines", parts[0][1], end, Parts(parts))


def _checked_end(text: str, pos: int) -> int:
    """The end of the value at ``pos``, which nobody has looked at yet."""
    if len(text) <= _LARGE or text[pos] not in "[{":
        return _scan(text, pos)[1]
    end = _end_of(text, pos)
    if not is_whole(text[pos:end].encode(errors="replace")):
        raise NotStructured(f"no JSON at character {pos}")
    return end


def _elements(text: str, start: int) -> Parts:
    """The elements of an array in a text that is JSON."""
    pos = _skip(_SPACE, text, start + 1)
    known: list[_Part] = []
    parts = Parts(known)
    if text[pos] == "]":
        return parts
    end_of, many = _end_of if len(text) > _LARGE else _scan_end, 4 * _ENDS
    while pos >= 0:
        if len(known) >= many:
            parts.trim(text)
        found = _ELEMENT.match(text, pos)
        if found is not None:
            known.append((pos, pos, found.end(1)))
            pos = found.end() if found.lastindex == _COMMA_BEHIND else -1
            continue
        end = end_of(text, pos)
        known.append((pos, pos, end))
        pos = _skip(_COMMA, text, end)
    return parts


def _members(text: str, start: int) -> tuple[Parts, list[str]]:
    """The members of an object in a text that is JSON, and those of their names that begin with a dot."""
    pos = _skip(_SPACE, text, start + 1)
    known: list[_Part] = []
    parts = Parts(known)
    dotted: list[str] = []
    end_of, many = _end_of if len(text) > _LARGE else _scan_end, 4 * _ENDS
    while pos >= 0 and (found := _MEMBER.match(text, pos)) is not None:
        if len(known) >= many:
            parts.trim(text)
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


def _kinds(text: str, parts: list[_Part], index: int) -> Kinds:
    """The kinds of parts that follow each other, the first of which has this index."""
    found = Kinds()
    signs = "".join([text[start] for _, start, _ in parts])
    for sign in sorted(set(signs), key=signs.index):
        found.add(KIND_OF.get(sign, "number"), index + signs.index(sign), signs.count(sign))
    return found


def _scan_end(text: str, pos: int) -> int:
    """Where a container in a text that is JSON ends: by making its values, which is fast."""
    return _scan(text, pos)[1]


def _end_of(text: str, pos: int) -> int:
    """The end of a container, found by counting brackets in flat memory."""
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
