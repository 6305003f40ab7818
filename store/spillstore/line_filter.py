"""Lines of a text that may hold one of many words: the others are left out, and need not be looked at.

The work is a native function's (``_native/words.c``). Where that was not built there is no filter.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_VERSION = 6  # of the tables and the function's arguments, as in ``_native/words.c``
_ROOM = 1024  # lines that one call gives out

Before = Literal["anything", "apart", "letter", "line start"]
After = Literal["anything", "ended", "called", "code", "status"]
_BEFORE: tuple[Before, ...] = ("anything", "apart", "letter", "line start")
_AFTER: tuple[After, ...] = ("anything", "ended", "called", "code", "status")
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
_NAME = _LETTERS + _LETTERS.upper() + _DIGITS + b"_"
# Classes of bytes besides the letters; the first ones may stand before a word that stands apart.
_SIGN, _BLANK, _END, _MARK, _OTHER, _PATH = 0, 27, 28, 29, 30, 31
_BESIDE = (_SIGN, _BLANK, _END, _MARK, _OTHER)
_GROUPS = 16  # of words, which are searched together
_LEADING = 4  # bytes of a word that are searched
_EVERY = (1 << 32) - 1  # all classes, as bits


class Word(NamedTuple):
    """A word that a line may hold, of either case.

    Attributes:
        text: at least three bytes.
        before: what must stand before it: nothing that belongs to a name or a path but a colour (``apart``), a letter, or
            the line's beginning.
        after: what must stand behind it: nothing that belongs to a name or a path but a dot (``ended``), a colon, a bracket
            or a blank (``called``), the ``code`` of a message such as ``ts2304:``, or the version and the ``status`` of
            an HTTP answer that failed.
    """

    text: bytes
    before: Before = "anything"
    after: After = "anything"


class LineFilter:
    r"""Finds the lines of a text that may hold a word; where it finds none there is none. Made by ``line_filter``.

    Cost: 0.4 ns a byte with wide vectors, 1 to 3 without, in which other threads run.
    """

    def __init__(self, native: _Native, words: Iterable[Word]) -> None:
        self._lines = native.lines
        self._room = native.room
        self._words, self._tables, self._owned = _tables(native, words)

    def lines(self, text: bytes, start: int, end: bytes) -> Iterable[tuple[int, int, int, int, Word]]:
        """Of each such line where it begins, where the next one begins, how many lines are before it, and where which word stands first.

        Args:
            text: whole lines; the last one may lack its end.
            start: where the first line begins that is looked at and counted.
            end: the byte that ends a line.
        """
        size, byte, number = len(text), end[0], 0
        out = self._room()
        while start < size:
            found = self._lines(self._tables, text, size, start, byte, out, _ROOM)
            values = iter(out[: 5 * found])
            last = 0
            for first, start, before, place, word in zip(*[values] * 5, strict=True):  # noqa: PLR1704  # goes on there
                yield first, start, number + before, place, self._words[word]
                last = before + 1
            number += last
            if found < _ROOM:
                return


def line_filter(words: Sequence[Word]) -> LineFilter | None:
    r"""A filter for these words; None where the native functions were not built.

    >>> found = line_filter([Word(b"error", "apart", "ended")])
    >>> [line[:4] for line in found.lines(b"one\nan Error: two\nno terrors\n", 0, b"\n")] if found else [(4, 18, 1, 7)]
    [(4, 18, 1, 7)]
    """
    native = _native()
    return None if native is None else LineFilter(native, words)


class _Native(NamedTuple):
    """The native function, and what makes its tables."""

    lines: Any
    room: Any
    word: Any
    words: Any
    number: Any
    address: Any


@functools.cache
def _native() -> _Native | None:
    """The native function; None where it was not built, or is of another version."""
    import ctypes  # noqa: PLC0415  # four milliseconds that only large outputs need

    from spillstore import _native as built  # noqa: PLC0415  # imports ctypes

    pointer, size, byte, text = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint8, ctypes.c_char_p

    class Word(ctypes.Structure):
        _fields_ = [(name, byte) for name in ("before", "after", "length", "pad")] + [
            (name, ctypes.c_uint32) for name in ("offset", "head", "mask")
        ]

    class Words(ctypes.Structure):
        _fields_ = [
            *((name, text) for name in ("classes", "fold", "kinds", "groups")),
            *((name, pointer) for name in ("rows", "first", "words")), ("bytes", text),
        ]  # fmt: skip

    call = (size, pointer, text, size, size, byte, pointer, size)
    loaded = built.functions("spillstore_words_version", _VERSION, Words, Word, spillstore_lines=call)
    if loaded is None:
        return None
    return _Native(
        loaded.spillstore_lines, size * (5 * _ROOM), Word, Words, ctypes.c_uint32, ctypes.addressof
    )


@functools.cache
def _classes() -> bytes:
    classes = bytearray([_OTHER]) * 256
    for byte in range(128):
        classes[byte] = _SIGN
    for place, letter in enumerate(_LETTERS, 1):
        classes[letter] = classes[letter - 32] = place
    for members, each in (
        (b" \t", _BLANK),
        (b"\r\n", _END),
        (b"()[]<>*", _MARK),
        (_DIGITS + b"_./\\-", _PATH),
    ):
        for byte in members:
            classes[byte] = each
    return bytes(classes)


@functools.cache
def _fold() -> bytes:
    """What stands for each byte in a search that takes small and capital letters of Latin-1 for the same."""
    return bytes(range(256)).decode("latin-1").lower().encode("latin-1")


@functools.cache
def _kinds() -> bytes:
    return bytes(map(_kind_of, range(256)))


def _kind_of(byte: int) -> int:
    name, path, letter = byte in _NAME, byte in b"./\\-", byte in _LETTERS + _LETTERS.upper()
    return name | path << 1 | letter << 2 | (byte in _DIGITS) << 3 | (byte in b" \t\n\v\f\r") << 4


def _tables(native: _Native, words: Iterable[Word]) -> tuple[list[Word], Any, list[object]]:
    """The words in the order of the tables of a search, these, and what must live as long as they."""
    fold, classes, kinds = _fold(), _classes(), _kinds()
    every = {(word.text.translate(fold), word.before, word.after): word for word in words}
    known = sorted(every, key=lambda word: (classes[word[0][0]], classes[word[0][1]]))
    rows = (native.number * 1024)()
    table = (native.word * max(1, len(known)))()
    first = (native.number * 1025)()
    offset = 0
    for place, (text, before, after) in enumerate(known):
        one, two, three = (classes[byte] for byte in text[:3])
        if before == "apart":
            for beside in (*_BESIDE, classes[ord("m")]):  # the last letter of a colour
                rows[beside << 5 | one] |= 1 << two
        else:
            rows[one << 5 | two] |= 1 << three
        head = text[:_LEADING]
        numbers = (int.from_bytes(each, "little") for each in (head, b"\xff" * len(head)))
        table[place] = native.word(_BEFORE.index(before), _AFTER.index(after), len(text), 0, offset, *numbers)
        first[(one << 5 | two) + 1] += 1
        offset += len(text)
    first[:] = list(itertools.accumulate(first))
    literals = b"".join(text for text, _, _ in known)
    groups = _groups(known, classes, fold)
    address = native.address
    tables = native.words(
        classes, fold, kinds, groups, address(rows), address(first), address(table), literals
    )
    named = [every[each] for each in known]
    return named, native.address(tables), [tables, rows, first, table, classes, fold, kinds, groups, literals]


def _groups(words: Iterable[tuple[bytes, Before, After]], classes: bytes, fold: bytes) -> bytes:
    """Which groups of words may have a class before a word, and first to fourth in it: as ``_native/words.c`` reads it.

    A word goes to the group that then fits the fewest texts: words that are alike come together.
    """
    alike = [0] * 256  # classes of the bytes that a search takes for the same, as bits
    for byte in range(256):
        alike[fold[byte]] |= 1 << classes[byte]
    beside = sum(1 << each for each in (*_BESIDE, classes[ord("m")]))
    before = {"anything": _EVERY, "apart": beside, "letter": (1 << _BLANK) - 2, "line start": 1 << _END}
    held = [0] * _GROUPS  # the classes that each has at all places, one behind the other
    fitting = [0] * _GROUPS
    for text, stands, _ in words:
        wanted = before[stands]
        for place in range(_LEADING):
            leading = alike[text[place]] if place < len(text) else _EVERY
            wanted |= leading << 32 * (place + 1)
        both = [group | wanted for group in held]
        sizes = [group.bit_count() ** (_LEADING + 1) for group in both]
        best = min(range(_GROUPS), key=lambda group: sizes[group] - fitting[group])
        held[best], fitting[best] = both[best], sizes[best]
    table = bytearray()
    for place in range(1 + _LEADING):
        for half in range(0, _GROUPS, 8):
            flags = [0] * 32
            for bit in range(8):
                for each in _bits(held[half + bit] >> 32 * place & _EVERY):
                    flags[each] |= 1 << bit
            table += bytes(flags[:16]) * 2 + bytes(flags[16:]) * 2
    return bytes(table)


def _bits(number: int) -> Iterator[int]:
    """Which bits of a number are set."""
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1
