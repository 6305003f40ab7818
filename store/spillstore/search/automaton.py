"""Patterns as tables of states, with which a native function counts their matches: a step for each byte.

RE2 finds matches as fast, but each one costs a call from Python, two microseconds. So this is for searches that only count, where
``byte_patterns`` cannot tell the matches. It reads the same part of RE2's syntax, and builds what RE2 builds: a state is the list of
places in the pattern at which a match may be, the one first that RE2 prefers; what comes behind the end of a match in that list is
dropped, and so is the search for later ones. A pattern that matches nothing empty and has few states is counted like that, in text
in which each character that it may match is one byte.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from spillstore import _native
from spillstore.search.byte_patterns import ANY, CLASSES, REPEATED, PatternParser, UnknownError
from spillstore.search.rare_places import Places, rare_places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.search.byte_patterns import Sequence

_VERSION = 2  # of the function and its arguments, as in ``_native/matches.c``
_MOST_PLACES: Final = 500
_MOST_STATES: Final = 500
_MOST_HEAD: Final = 32  # bytes at the beginning of matches that are looked at
_ENDS, _OVER = 1, 2  # as in ``_native/matches.c``
_ASCII: Final = 0x80

# The places at which a match may be, the preferred one first, and whether a match may still begin.
_State: TypeAlias = tuple[tuple[int, ...], bool]
_Node: TypeAlias = "_Bytes | _Row | _Choice | _Repeated"


class _Bytes(NamedTuple):
    """One of these bytes."""

    members: frozenset[int]


class _Row(NamedTuple):
    """Each part behind the other."""

    parts: tuple[_Node, ...]


class _Choice(NamedTuple):
    """One of them, the first that matches."""

    parts: tuple[_Node, ...]


class _Repeated(NamedTuple):
    """A part so many times, ``most`` None for any number; as often as it can be, or as seldom."""

    part: _Node
    least: int
    most: int | None
    is_lazy: bool


class _States(ctypes.Structure):
    _fields_ = [  # as ctypes wants it
        ("next", ctypes.c_void_p),
        ("classes", ctypes.c_char_p),
        ("reach", ctypes.c_int64),
        ("begin", Places),
    ]


class _Counts(ctypes.Structure):
    _fields_ = [("lines", ctypes.c_int64), ("matches", ctypes.c_int64)]  # likewise


class Counter:
    """Counts the matches of one pattern; there is a library.

    Attributes:
        kinds: the kinds of text (``text_scan.kind``) in which it may count.
    """

    def __init__(self, automaton: Automaton) -> None:
        called = library()
        assert called is not None
        self.kinds = automaton.kinds
        self._count = called.spillstore_count_matches
        self._tables = (ctypes.c_uint32 * len(automaton.table))(*automaton.table), automaton.classes
        begin = rare_places(automaton.head)
        reach = -1 if begin is None else max(begin.place)
        self._states = _States(ctypes.addressof(self._tables[0]), automaton.classes, reach, begin or Places())
        self._address = ctypes.addressof(self._states)

    def count(self, text: int | bytes, low: int, high: int) -> tuple[int, int] | None:
        """Lines of ``[low, high)`` that match, and their matches; None if RE2 has to tell."""
        counts = _Counts()
        is_known = self._count(self._address, text, low, high, ctypes.byref(counts))
        return (counts.lines, counts.matches) if is_known else None


class Automaton(NamedTuple):
    """The states of a pattern.

    Attributes:
        table: for each state and class of bytes the next state, as ``_native/matches.c`` reads it.
        classes: of each byte.
        kinds: the kinds of text in which its bytes are characters.
        head: the bytes with which each match begins, one class for each place.
    """

    table: list[int]
    classes: bytes
    kinds: frozenset[int]
    head: Sequence


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library with the function of ``matches.c``; None where there is none of this version."""
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    call = (size, pointer, pointer, size, size, pointer)
    return _native.functions(
        "spillstore_matches_version", _VERSION, _States, _Counts, spillstore_count_matches=call
    )


@functools.lru_cache(maxsize=64)
def counter(pattern: str, *, ignore_case: bool) -> Counter | None:
    """What counts the matches of an expression; None where there is no library, or the pattern is not so simple."""
    if library() is None:
        return None
    found = automaton(pattern, ignore_case=ignore_case)
    return None if found is None else Counter(found)


def automaton(pattern: str, *, ignore_case: bool) -> Automaton | None:
    """The states of an expression; None where it may match nothing, is not read here, or has too many.

    >>> found = automaton("a+b|c", ignore_case=False)
    >>> len(found.table) // (max(found.classes) + 1), automaton("a*", ignore_case=False)
    (3, None)
    """
    try:
        parser = _NodeParser(pattern, ignore_case=ignore_case)
        return _Places(parser.node()).automaton(ignore_case=parser.ignore_case)
    except UnknownError:
        return None


class _NodeParser(PatternParser):
    """Reads one pattern, and keeps all of it."""

    def node(self) -> _Node:
        self.begin()
        node = self._choice()
        if self._at < len(self._pattern):
            raise UnknownError
        return node

    def _choice(self) -> _Node:
        parts = [self._row()]
        while self._next() == "|":
            self._at += 1
            parts.append(self._row())
        return parts[0] if len(parts) == 1 else _Choice(tuple(parts))

    def _row(self) -> _Node:
        parts: list[_Node] = []
        while self._next() not in {"", "|", ")"}:
            parts.append(self._many())
        return parts[0] if len(parts) == 1 else _Row(tuple(parts))

    def _many(self) -> _Node:
        node = self._one_node()
        found = REPEATED.match(self._pattern, self._at)
        if found is None:
            if self._next() == "{":
                raise UnknownError  # text to RE2
            return node
        self._at = found.end()
        is_lazy = self._next() == "?"
        self._at += is_lazy
        if self._next() in {"*", "+", "?", "{"}:
            raise UnknownError
        least = {"*": 0, "?": 0, "+": 1}.get(found[0])
        if least is None:
            least = int(found[1])
            most = int(found[3]) if found[3] else None if found[2] else least
        else:
            most = 1 if found[0] == "?" else None
        return _Repeated(node, least, most, is_lazy)

    def _one_node(self) -> _Node:
        if self._next() == "(":
            self._at += 1
            return self.in_group(self._choice)
        if self._pattern[self._at : self._at + 2] in {"\\D", "\\W", "\\S"}:
            self._at += 2
            return _Bytes(ANY - CLASSES[self._pattern[self._at - 1].lower()])
        members = self._atom().bytes_
        if members is None:
            raise UnknownError
        return _Bytes(members)


class _Places:
    """The places in a pattern at which a match may be: each waits for one of some bytes, and says where it goes on."""

    _END: Final = 0  # of the pattern

    def __init__(self, node: _Node) -> None:
        # Of a place the bytes and the place behind; of one without bytes those that it stands for, the preferred one first.
        self._bytes: list[frozenset[int] | None] = [None]
        self._next: list[tuple[int, ...]] = [()]
        self._start = self._put(node, self._END)

    def _new(self, members: frozenset[int] | None, following: tuple[int, ...]) -> int:
        if len(self._bytes) == _MOST_PLACES:
            raise UnknownError
        self._bytes.append(members)
        self._next.append(following)
        return len(self._bytes) - 1

    def _put(self, node: _Node, behind: int) -> int:
        """The place where a part begins; ``behind`` is where it goes on."""
        if isinstance(node, _Bytes):
            return self._new(node.members - {10}, (behind,))
        if isinstance(node, _Row):
            for part in reversed(node.parts):
                behind = self._put(part, behind)
            return behind
        if isinstance(node, _Choice):
            return self._new(None, tuple([self._put(part, behind) for part in node.parts]))
        return self._put_repeated(node, behind)

    def _put_repeated(self, node: _Repeated, behind: int) -> int:
        first = behind
        if node.most is None:
            first = self._new(None, ())
            body = self._put(node.part, first)
            if first in self._closure((body,)):
                raise UnknownError  # what repeats nothing is matched in a way of its own
            self._next[first] = (behind, body) if node.is_lazy else (body, behind)
        else:
            for _ in range(node.most - node.least):
                body = self._put(node.part, first)
                first = self._new(None, (behind, body) if node.is_lazy else (body, behind))
        for _ in range(node.least):
            first = self._put(node.part, first)
        return first

    def _closure(self, places: tuple[int, ...]) -> tuple[int, ...]:
        """The places that wait for a byte, and the end, that these stand for, in the order of preference; each once."""
        out: dict[int, None] = {}
        waiting = list(reversed(places))
        seen: set[int] = set()
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            if self._bytes[place] is None and place != self._END:
                waiting.extend(reversed(self._next[place]))
                if not self._next[place]:
                    out[place] = None  # a repetition that is being made
            else:
                out[place] = None
        return tuple(out)

    def automaton(self, *, ignore_case: bool) -> Automaton:
        """All states; the first one is that in which nothing was seen."""
        begin = self._closure((self._start,))
        if self._END in begin:
            raise UnknownError
        sets = {each for each in self._bytes if each is not None}
        ordered = list(sets)
        kinds_of: dict[tuple[bool, ...], int] = {}
        classes = bytes(self._class_of(byte, ordered, kinds_of) for byte in range(256))
        samples = [classes.index(number) for number in range(len(kinds_of))]
        numbers: dict[_State, int] = {(begin, True): 0}
        table: list[int] = []
        states = list(numbers)
        for state in states:  # it grows meanwhile
            for byte in samples:
                reached, ends = self._step(state, byte, begin)
                if reached not in numbers:
                    if len(numbers) == _MOST_STATES:
                        raise UnknownError
                    numbers[reached] = len(numbers)
                    states.append(reached)
                is_over = not reached[0] and not reached[1]
                table.append(numbers[reached] * len(samples) << 2 | ends * _ENDS | is_over * _OVER)
        is_ascii = all(byte < _ASCII for each in sets for byte in each)
        kinds = {0, 1} if is_ascii else {0}
        if is_ascii and not ignore_case:
            kinds.add(2)
        return Automaton(table, classes, frozenset(kinds), self._head(begin))

    def _head(self, places: tuple[int, ...]) -> Sequence:
        """The bytes that a match which begins at some places has first, as far as all matches have so many."""
        found: list[frozenset[int]] = []
        while self._END not in places and len(found) < _MOST_HEAD:
            found.append(frozenset().union(*(self._bytes[place] or () for place in places)))
            places = self._closure(tuple(each for place in places for each in self._next[place]))
        return tuple(found)

    @staticmethod
    def _class_of(byte: int, sets: list[frozenset[int]], known: dict[tuple[bool, ...], int]) -> int:
        return known.setdefault(tuple(byte in each for each in sets), len(known))

    def _step(self, state: _State, byte: int, begin: tuple[int, ...]) -> tuple[_State, bool]:
        """The state behind a byte, and whether a match ends there."""
        places, is_searching = state
        going_on = tuple(self._following(places, byte))
        reached = self._closure(going_on + (begin if is_searching else ()))
        if self._END not in reached:
            return (reached, is_searching), False
        return (reached[: reached.index(self._END)], False), True

    def _following(self, places: tuple[int, ...], byte: int) -> Iterator[int]:
        for place in places:
            members: Any = self._bytes[place]
            if byte in members:
                yield from self._next[place]
