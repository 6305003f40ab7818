"""Which kinds of lines a text has, and which lines are of a kind that stands hardly anywhere.

A line's kind is what is left of it without digits, blanks, and words that stand hardly anywhere in the text, so that lines with
other names and numbers are of one kind. Words are the letters between two blanks, brackets, quotes and the like. Lines
are counted in groups: first the words of a group, then its lines. Of a line none of whose words stands often all words make its kind but
paths; lines of such paths alone are of one kind. Memory is bounded: tables that are full take nothing new, of words the rarest are
forgotten, and a text nearly every line of which is of a kind of its own is given up.

Texts are counted by a native function (``_native/kinds.c``). Where that was not built, Python gives the same answers.
"""

from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from spillstore import text_scan
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_VERSION = 2  # of the functions' arguments, as in ``_native/kinds.c``, like all that follow
_GROUP = 1024
_LINE_BYTES = 512
_LINE_WORDS = 32
_WORD_LETTERS = 40
_WORDS = 8192
_KINDS = 4096
_OFTEN = 5
_OTHERS = 3
_SELDOM = 3
_SHORTEST = 3
_RARE = 64
_MANY = 16
_BESIDE = 8
_LARGE = 16 * 1024  # bytes from which on native functions pay; below, ctypes is not even imported

# What bytes are, as bits; all others end a word.
_LETTER, _PLAIN, _DIGIT, _INSIDE, _WIDE, _NARROW, _FOLDER = 1, 2, 4, 8, 16, 32, 64
_MARKS = (
    (
        b"ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ" + bytes(range(0xC0, 0xE0)),
        _LETTER | _PLAIN | _INSIDE | _NARROW,
    ),
    (b"abcdefABCDEF", _LETTER | _INSIDE | _NARROW),
    (bytes(range(0x80, 0xC0)), _LETTER | _PLAIN | _INSIDE),
    (bytes(range(0xE0, 0x100)), _LETTER | _PLAIN | _INSIDE | _WIDE),
    (b"0123456789", _DIGIT | _INSIDE),
    (b"_.:@+~-", _INSIDE),
    (b"/\\", _INSIDE | _FOLDER),
)
_NO_LETTERS = bytes(
    set(range(256)) - {byte for members, marks in _MARKS if marks & _LETTER for byte in members}
)
_BLANKS = bytes([*range(0x21), 0x7F])
_NO_SIGNS = bytes(
    byte for byte in range(256) if not chr(byte).isascii() or chr(byte).isalnum() or byte in _BLANKS
)
# Characters of three bytes and more, or others; then whether any of them is not a part of a hexadecimal number.
_WORD = re.compile(rb"(?:[\xe0-\xff][\x80-\xbf0-9_./\\:@+~-]*)+|[A-Za-z\x80-\xdf0-9_./\\:@+~-]+")
_BEYOND_F = re.compile(rb"[g-zG-Z\x80-\xff]")
_A_DIGIT = re.compile(rb"[0-9]")
_FOLDERS = re.compile(rb"[/\\]")
_RANDOM = 259  # numbers


class Rare(NamedTuple):
    """A line of a kind that has at most three lines so far, or the first one of its kind.

    Of a group of lines in which rare ones are many, only those are given out that stand among frequent ones.

    Attributes:
        start: where it begins in the text.
        end: where the next line begins.
        number: the lines of the text before it.
        kind: the number of its kind.
    """

    start: int
    end: int
    number: int
    kind: int


def number_of(kind: int) -> int:
    """The number of a line's kind, as ``LineKinds`` gives it out: from 0, -1 for none."""
    return kind if kind >= -1 else -2 - kind


class LineKinds:
    r"""Counts the kinds of lines of one text, which comes in pieces.

    Cost: 1.5 ns a byte, in which other threads run; 80 without the native functions. Memory: a megabyte.

    Example:
        >>> kinds = LineKinds()
        >>> text = b"".join(b"read part %d of list\n" % n for n in range(50)) + b"no part of list\n"
        >>> numbers, rare = kinds.add(text)
        >>> numbers[0] == numbers[49] != numbers[50], [line.number for line in rare], kinds.counts()
        (True, [0, 50], [50, 1])
    """

    def __init__(self) -> None:
        self._counter: _NativeCounter | _Counter = _Counter()
        self._early: list[tuple[bytes, bytes, Sequence[int]]] | None = []  # what Python has counted so far
        self.lines = 0

    def add(
        self, text: bytes, end: bytes = b"\n", cuts: Sequence[int] = ()
    ) -> tuple[Sequence[int], list[Rare]]:
        """Count the lines of the next piece.

        Args:
            text: whole lines; the last one may lack its end.
            end: the byte that ends a line.
            cuts: where lines end behind which groups begin anew, as they do in a piece of their own; behind the last of them nothing is
                counted. Leave it out for one piece.

        Returns:
            Each line's kind, and the rare lines, in order. A kind is a number from 0; -1 where there are too many; ``-2 - number`` for lines
            that have words, none of which is frequent (``number_of``). Where the text is given up, lines are missing.
        """
        cuts = cuts or (len(text),)
        if self._early is not None:
            self._early.append((text, end, cuts))
            if sum(len(piece) for piece, _, _ in self._early) >= _LARGE:
                self._go_native(self._early[:-1])
        kinds, rare = self._counter.add(text, end, cuts)
        self.lines += len(kinds)
        return kinds, rare

    def _go_native(self, before: Sequence[tuple[bytes, bytes, Sequence[int]]]) -> None:
        """Count with the native functions from here on, if there are any."""
        self._early = None
        if (native := _native()) is not None:
            self._counter = _NativeCounter(native)
            for piece in before:
                self._counter.add(*piece)

    @property
    def given_up(self) -> bool:
        """Whether nearly every line is of a kind of its own, so that nothing can be said about kinds."""
        return self._counter.given_up

    def counts(self) -> list[int]:
        """How many lines each kind has, by its number."""
        return self._counter.counts()


class _Counter:
    """Counts in Python."""

    def __init__(self) -> None:
        self._words: dict[bytes, int] = {}
        self._paths: set[bytes] = set()  # of these, those that were paths when they were new
        self._kinds: dict[Hashable, int] = {}
        self._counts: list[int] = []
        self._lines = 0
        self.given_up = False

    def counts(self) -> list[int]:
        """As in ``LineKinds``."""
        return self._counts

    def add(self, text: bytes, end: bytes, cuts: Sequence[int]) -> tuple[list[int], list[Rare]]:
        """As in ``LineKinds``."""
        kinds: list[int] = []
        rare: list[Rare] = []
        at = 0
        for cut in cuts:
            while at < cut and not self.given_up:
                spans: list[tuple[int, int]] = []
                while at < cut and len(spans) < _GROUP:
                    after = text.find(end, at, cut) + 1 or cut
                    spans.append((at, after))
                    at = after
                self._group(text, spans, kinds, rare)
        return kinds, rare

    def _group(self, text: bytes, spans: list[tuple[int, int]], kinds: list[int], rare: list[Rare]) -> None:
        if len(self._words) > _WORDS // 4 * 3:
            self._words = {word: count // 2 for word, count in self._words.items() if count > 1}
            self._paths &= self._words.keys()
        lines = [text[start : min(after, start + _LINE_BYTES)] for start, after in spans]
        words = [self._count_words(line) for line in lines]
        self._lines += len(lines)
        often = max(_OFTEN, math.isqrt(self._lines // 4))
        known, before = len(self._counts), len(kinds)
        kinds += [self._kind(*each, often) for each in zip(lines, words, strict=True)]
        rare += self._rare_of(spans, kinds[before:], before, known)
        if len(self._counts) > max(_KINDS // 2, self._lines // 3):
            self.given_up = True

    def _rare_of(
        self, spans: Sequence[tuple[int, int]], kinds: Sequence[int], before: int, known: int
    ) -> list[Rare]:
        """The rare lines of a group, and the first ones of kinds from ``known`` on; where there are many, only those that stand out."""
        numbers = [number_of(kind) for kind in kinds]
        seldom = [kind >= 0 and self._counts[kind] <= _SELDOM for kind in numbers]
        often = [kind >= 0 and self._counts[kind] >= _OFTEN for kind in numbers]
        few = sum(seldom) * _MANY <= len(kinds) + _RARE
        found: list[Rare] = []
        for place, (start, after) in enumerate(spans):
            kind = numbers[place]
            beside = often[max(0, place - _BESIDE) : place + _BESIDE + 1]
            stands_out = sum(beside) * 3 >= len(beside) * 2
            if (seldom[place] or kind >= known) if few else (seldom[place] and stands_out):
                found.append(Rare(start, after, before + place, kind))
            known = max(known, kind + 1)
        return found[:_RARE]

    def _count_words(self, line: bytes) -> list[bytes | None]:
        """The words of a line, each counted; None for a new one that there is no room for."""
        words: list[bytes | None] = []
        for found in _WORD.findall(line):
            letters = found.translate(None, _NO_LETTERS)
            if not letters or not (
                _BEYOND_F.search(letters) or (len(letters) >= _SHORTEST and not _A_DIGIT.search(found))
            ):
                continue
            word = letters[:_WORD_LETTERS]
            if word in self._words or len(self._words) < _WORDS:
                if word not in self._words and _FOLDERS.search(found):
                    self._paths.add(word)
                self._words[word] = self._words.get(word, 0) + 1
                words.append(word)
            else:
                words.append(None)
            if len(words) == _LINE_WORDS:
                break
        return words

    def _kind(self, line: bytes, words: list[bytes | None], often: int) -> int:
        """The kind of a line, which is counted."""
        if not words:
            return self._count_kind(frozenset(line.translate(None, _NO_SIGNS)))
        frequent = [word for word in words if word is not None and self._words.get(word, 0) >= often]
        plain = [word for word in words if word not in self._paths]
        if not frequent and len(words) > 1 and plain:
            every = tuple(sorted(word or b"" for word in plain))
            kind = self._count_kind(every)
        else:
            kind = self._count_kind((tuple(sorted(frequent)), min(_OTHERS, len(words) - len(frequent))))
        return kind if frequent or kind < 0 else -2 - kind

    def _count_kind(self, key: Hashable) -> int:
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._counts) >= _KINDS:
                return -1
            kind = self._kinds[key] = len(self._counts)
            self._counts.append(0)
        self._counts[kind] += 1
        return kind


class _NativeCounter:
    """Counts with the native functions."""

    def __init__(self, native: _Native) -> None:
        import mmap  # noqa: PLC0415  # pages that are not touched take no memory

        self._native = native
        self._memory = mmap.mmap(-1, native.size)
        self._state = native.address(native.first.from_buffer(self._memory))
        random = (native.number * _RANDOM).from_buffer_copy(os.urandom(8 * _RANDOM))
        native.begin(self._state, random, _marks())

    @property
    def given_up(self) -> bool:
        """As in ``LineKinds``."""
        return bool(self._native.given_up(self._state))

    def counts(self) -> list[int]:
        """As in ``LineKinds``."""
        counts = (self._native.count * _KINDS)()
        found: list[int] = counts[: self._native.counts(self._state, counts)]
        return found

    def add(self, text: bytes, end: bytes, cuts: Sequence[int]) -> tuple[Sequence[int], list[Rare]]:
        """As in ``LineKinds``."""
        native = self._native
        lines = text_scan.count(text, end) + 1
        kinds = (native.kind * lines)()
        rare = (native.rare * (_RARE * (lines // _GROUP + len(cuts))))()
        counted = (native.number * 2)()
        native.add(
            self._state, text, end[0], (native.number * len(cuts))(*cuts), len(cuts), kinds, rare, counted
        )
        found = [Rare(each.start, each.end, each.number, each.kind) for each in rare[: counted[1]]]
        return memoryview(kinds).cast("B").cast("i")[: counted[0]], found


class _Native(NamedTuple):
    """The native functions, and what makes their arguments."""

    begin: Any
    add: Any
    counts: Any
    given_up: Any
    size: int
    number: Any
    kind: Any
    count: Any
    rare: Any
    first: Any
    address: Any


@functools.cache
def _native() -> _Native | None:
    """The native functions; None where they were not built, or are of another version."""
    import ctypes  # noqa: PLC0415  # four milliseconds that only large outputs need

    from spillstore import _native as built  # noqa: PLC0415  # imports ctypes

    pointer, size, byte, text = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint8, ctypes.c_char_p

    class Line(ctypes.Structure):
        _fields_ = [(name, size) for name in ("start", "end", "number", "kind")]

    class Slot(ctypes.Structure):
        _fields_ = [("hash", ctypes.c_uint64), ("count", ctypes.c_uint32), ("path", ctypes.c_uint32)]

    loaded = built.functions(
        "spillstore_kinds_version",
        _VERSION,
        Line,
        Slot,
        spillstore_kinds_size=(size,),
        spillstore_kinds_begin=(None, pointer, pointer, text),
        spillstore_kinds=(None, pointer, text, byte, pointer, size, pointer, pointer, pointer),
        spillstore_kind_counts=(size, pointer, pointer),
        spillstore_kinds_given_up=(size, pointer),
    )
    if loaded is None:
        return None
    return _Native(
        begin=loaded.spillstore_kinds_begin,
        add=loaded.spillstore_kinds,
        counts=loaded.spillstore_kind_counts,
        given_up=loaded.spillstore_kinds_given_up,
        size=loaded.spillstore_kinds_size(),
        number=size,
        kind=ctypes.c_int32,
        count=ctypes.c_uint32,
        rare=Line,
        first=ctypes.c_char,
        address=ctypes.addressof,
    )


def _marks() -> bytes:
    """What each byte is."""
    table = bytearray(256)
    for members, marks in _MARKS:
        for byte in members:
            table[byte] = marks
    return bytes(table)
