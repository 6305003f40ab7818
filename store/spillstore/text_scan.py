"""What a block of text holds: its line ends, its kinds of bytes, and lines that may hold one of many words.

Large blocks are looked through by a native function (``_native/text.c``), an eighth of the time of Python's own methods.
Where that was not built, these give the same answers; there is no ``LineFilter`` then, which leaves lines out and finds nothing itself.

The functions keep the interpreter's lock: a block of 64 KiB takes microseconds, and who lets go of the lock may wait
milliseconds for it. A ``LineFilter`` takes longer and lets go of it.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LARGE = (
    16 * 1024
)  # bytes from which on the call of a native function pays; below, ctypes is not even imported
_CONTROLS = bytes([*range(9), *range(0x0B, 0x20), 0x7F])
CONTINUING = bytes(range(0x80, 0xC0))  # bytes that go on a character in UTF-8
_VERSION = 4  # of the tables and the functions' arguments, as in ``_native/words.c``
_ROOM = 1024  # lines that one call gives out

Before = Literal["anything", "apart", "letter", "line start"]
After = Literal["anything", "ended", "called", "code", "status"]
_BEFORE: tuple[Before, ...] = ("anything", "apart", "letter", "line start")
_AFTER: tuple[After, ...] = ("anything", "ended", "called", "code", "status")
_CONTROL, _HIGH = 1, 2  # as in ``_native/text.c``
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
_NAME = _LETTERS + _LETTERS.upper() + _DIGITS + b"_"
# Classes of bytes besides the letters; the first ones may stand before a word that stands apart.
_SIGN, _BLANK, _END, _MARK, _OTHER, _PATH = 0, 27, 28, 29, 30, 31
_BESIDE = (_SIGN, _BLANK, _END, _MARK, _OTHER)
_GROUPS = 16  # of words, which are searched together
_LEADING = 4  # bytes of a word that are searched


class Survey(NamedTuple):
    """What kinds of bytes a text has.

    Attributes:
        ends: how many line ends there are.
        chars: bytes that do not continue a character of UTF-8.
        ascii: whether all bytes are ASCII.
        plain: whether no byte is a control character of ASCII, but for tab and LF.
    """

    ends: int
    chars: int
    ascii: bool
    plain: bool


def count(text: bytes, wanted: bytes) -> int:
    r"""How many times a byte stands in a text, or a sequence of bytes without overlap: ``text.count(wanted)``.

    >>> count(b"a\nb\n", b"\n"), count(b"aaaa\n", b"aa")
    (2, 2)
    """
    if len(text) < _LARGE or not wanted or (native := _native()) is None:
        return text.count(wanted)
    if len(wanted) == 1:
        return int(native.count(text, len(text), wanted[0]))
    return int(native.count_sequence(text, len(text), wanted, len(wanted)))


def survey(text: bytes, end: bytes = b"\n") -> Survey:
    r"""What kinds of bytes a text has. Cost: 0.1 ns a byte, 1 without the native function.

    Args:
        text: any bytes.
        end: the byte that ends a line.

    >>> survey(b"na\xc3\xafve\n"), survey(b"10%\r20%")
    (Survey(ends=1, chars=6, ascii=False, plain=True), Survey(ends=0, chars=7, ascii=True, plain=False))
    """
    if len(text) < _LARGE or (native := _native()) is None:
        return Survey(text.count(end), _chars(text), text.isascii(), _is_plain(text))
    counted = native.counters()
    kinds = native.survey(text, len(text), end[0], counted)
    return Survey(counted[0], counted[1], not kinds & _HIGH, not kinds & _CONTROL)


def chars(text: bytes) -> int:
    r"""How many bytes do not continue a character of UTF-8: ``survey(text).chars`` alone.

    >>> chars("na\xefve\n".encode())
    6
    """
    if len(text) < _LARGE or text.isascii() or _native() is None:
        return _chars(text)
    return survey(text).chars


def _chars(text: bytes) -> int:
    return len(text) if text.isascii() else len(text.translate(None, CONTINUING))


def is_plain(text: bytes) -> bool:
    r"""Whether no byte is a control character of ASCII, but for tab and LF: ``survey(text).plain`` alone.

    >>> is_plain(b"a\tb\n"), is_plain(b"\x1b[1mbold")
    (True, False)
    """
    if len(text) < _LARGE or _native() is None:
        return _is_plain(text)
    return survey(text).plain


def _is_plain(text: bytes) -> bool:
    return len(text.translate(None, _CONTROLS)) == len(text)


def is_utf8(text: bytes) -> bool:
    r"""Whether a text is in UTF-8.

    >>> is_utf8("na\xefve".encode()), is_utf8(b"na\xefve")
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def kind(data: bytes | memoryview) -> int | None:
    r"""What a text is: 0 ASCII, 1 other UTF-8, 2 with other cases of k or s (the Kelvin sign, the long s); -1 anything else.

    Control characters but tab and LF, those of Latin-1 too, are anything else. None where the native functions were not built.
    Cost: 0.03 ms a MiB, in which other threads run.

    >>> kind("na\xefve\n".encode()) in {1, None}, kind(b"10%\r") in {-1, None}
    (True, True)
    """
    native = _native()
    if native is None:
        return None
    if isinstance(data, bytes):
        return int(native.kind(data, len(data)))
    return int(native.kind(native.address(native.first.from_buffer(data)), len(data))) if data else 0


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
        self._tables, self._owned = _tables(native, words)

    def lines(self, text: bytes, start: int, end: bytes) -> Iterable[tuple[int, int, int]]:
        """Of each such line where it begins, where the next one begins, and how many lines are before it.

        Args:
            text: whole lines; the last one may lack its end.
            start: where the first line begins that is looked at and counted.
            end: the byte that ends a line.
        """
        size, byte, number = len(text), end[0], 0
        out = self._room()
        while start < size:
            found = self._lines(self._tables, text, size, start, byte, out, _ROOM)
            values = iter(out[: 3 * found])
            last = 0
            for first, start, before in zip(values, values, values, strict=True):  # noqa: PLR1704  # goes on there
                yield first, start, number + before
                last = before + 1
            number += last
            if found < _ROOM:
                return


def line_filter(words: Sequence[Word]) -> LineFilter | None:
    r"""A filter for these words; None where the native functions were not built.

    >>> found = line_filter([Word(b"error", "apart", "ended")])
    >>> list(found.lines(b"one\nan Error: two\nno terrors\n", 0, b"\n")) if found else [(4, 18, 1)]
    [(4, 18, 1)]
    """
    native = _native()
    return None if native is None else LineFilter(native, words)


class _Native(NamedTuple):
    """The native functions, and what makes their tables."""

    count: Any
    count_sequence: Any
    survey: Any
    kind: Any
    lines: Any
    counters: Any
    room: Any
    word: Any
    words: Any
    number: Any
    first: Any
    address: Any


@functools.cache
def _native() -> _Native | None:
    """The native functions; None where they were not built, or are of another version."""
    import ctypes  # noqa: PLC0415  # four milliseconds that only large outputs need

    from spillstore import _native as built  # noqa: PLC0415  # imports ctypes

    pointer, size, byte, text = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint8, ctypes.c_char_p

    class Word(ctypes.Structure):
        _fields_ = [(name, byte) for name in ("before", "after", "length", "pad")] + [
            ("offset", ctypes.c_uint32)
        ]

    class Words(ctypes.Structure):
        _fields_ = [
            *((name, text) for name in ("classes", "fold", "kinds", "groups")),
            *((name, pointer) for name in ("rows", "first", "words")), ("bytes", text),
        ]  # fmt: skip

    loaded = built.functions(
        "spillstore_text_version",
        _VERSION,
        Words,
        Word,
        spillstore_kind=(size, pointer, size),
        spillstore_lines=(size, pointer, text, size, size, byte, pointer, size),
    )
    if loaded is None:
        return None
    keeping: Any = ctypes.PYFUNCTYPE  # the interpreter's lock
    return _Native(
        count=keeping(size, text, size, byte)(("spillstore_count", loaded)),
        count_sequence=keeping(size, text, size, text, size)(("spillstore_count_sequence", loaded)),
        survey=keeping(size, text, size, byte, pointer)(("spillstore_survey", loaded)),
        kind=loaded.spillstore_kind,
        lines=loaded.spillstore_lines,
        counters=size * 2,
        room=size * (3 * _ROOM),
        word=Word,
        words=Words,
        number=ctypes.c_uint32,
        first=ctypes.c_char,
        address=ctypes.addressof,
    )


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


def _fold(byte: int) -> int:
    """What stands for a byte in a search that takes small and capital letters of Latin-1 for the same."""
    folded = bytes([byte]).decode("latin-1").lower().encode("latin-1")
    return folded[0]


def _kinds(byte: int) -> int:
    name, path, letter = byte in _NAME, byte in b"./\\-", byte in _LETTERS + _LETTERS.upper()
    return name | path << 1 | letter << 2 | (byte in _DIGITS) << 3 | (byte in b" \t\n\v\f\r") << 4


def _tables(native: _Native, words: Iterable[Word]) -> tuple[Any, list[object]]:
    """The tables of a search, and what must live as long as they."""
    fold = bytes(map(_fold, range(256)))
    classes = _classes()
    every = {(word.text.translate(fold), word.before, word.after) for word in words}
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
        table[place] = native.word(_BEFORE.index(before), _AFTER.index(after), len(text), 0, offset)
        first[(one << 5 | two) + 1] += 1
        offset += len(text)
    first[:] = list(itertools.accumulate(first))
    literals = b"".join(text for text, _, _ in known)
    groups = _groups(known, classes, fold)
    kinds = bytes(map(_kinds, range(256)))
    address = native.address
    tables = native.words(
        classes, fold, kinds, groups, address(rows), address(first), address(table), literals
    )
    return native.address(tables), [tables, rows, first, table, classes, fold, kinds, groups, literals]


def _groups(words: Iterable[tuple[bytes, Before, After]], classes: bytes, fold: bytes) -> bytes:
    """Which groups of words may have a class before a word, and first to fourth in it: as ``_native/words.c`` reads it.

    A word goes to the group that then fits the fewest texts: words that are alike come together.
    """
    alike = [0] * 256  # classes of the bytes that a search takes for the same, as bits
    for byte in range(256):
        alike[fold[byte]] |= 1 << classes[byte]
    every = (1 << 32) - 1
    beside = sum(1 << each for each in (*_BESIDE, classes[ord("m")]))
    before = {"anything": every, "apart": beside, "letter": (1 << _BLANK) - 2, "line start": 1 << _END}
    held = [(0,) * (1 + _LEADING)] * _GROUPS
    fitting = [0] * _GROUPS
    for text, stands, _ in words:
        leading = [alike[byte] for byte in text[:_LEADING]]
        wanted = (before[stands], *leading, *[every] * (_LEADING - len(leading)))
        both = [tuple(map(operator.or_, group, wanted)) for group in held]
        sizes = [math.prod(map(int.bit_count, group)) for group in both]
        best = min(range(_GROUPS), key=lambda group: sizes[group] - fitting[group])
        held[best], fitting[best] = both[best], sizes[best]
    table = bytearray()
    for place in range(1 + _LEADING):
        for half in range(0, _GROUPS, 8):
            flags = [
                sum((held[half + bit][place] >> each & 1) << bit for bit in range(8)) for each in range(32)
            ]
            table += bytes(flags[:16]) * 2 + bytes(flags[16:]) * 2
    return bytes(table)
