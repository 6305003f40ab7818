"""What a block of text holds: its line ends, its kinds of bytes, text of two bytes a character, colours.

Large blocks are looked through by a native function (``_native/text.c``), an eighth of the time of Python's own methods.
Where that was not built, these give the same answers.

The functions keep the interpreter's lock: a block of 64 KiB takes microseconds, and who lets go of the lock may wait
milliseconds for it.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple

from spillstore.runtime import lazy_patterns as re

_LARGE = (
    16 * 1024
)  # bytes from which on the call of a native function pays; below, ctypes is not even imported
_CONTROLS = bytes([*range(9), *range(0x0B, 0x20), 0x7F])
CONTINUING = bytes(range(0x80, 0xC0))  # bytes that go on a character in UTF-8
_VERSION = 3  # of the functions' arguments, as in ``_native/text.c``
_CONTROL, _HIGH = 1, 2  # likewise
LITTLE, BIG = "utf-16-le", "utf-16-be"
COLOUR = re.compile(rb"\x1b\[[0-9;:?]{0,30}[A-Za-z]")
LONGEST_COLOUR = 33  # bytes
WIDE_NULS = 7  # that a text of two bytes a character is told by, likewise
_WIDE = re.compile(rb"\0(?:[\t-\r\x1b -~\xa0-\xff]\0){%d}" % (WIDE_NULS - 1))
_WIDE_AT_END = re.compile(
    rb"\0(?:[\t-\r\x1b -~\xa0-\xff]\0){0,%d}[\t-\r\x1b -~\xa0-\xff]?\Z" % (WIDE_NULS - 2)
)

_local = threading.local()  # where each thread copies text to


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


def find_wide(text: bytes) -> int:
    r"""Where every second byte begins to be a NUL, with letters, digits, signs or blanks between, as in UTF-16; -1 if nowhere.

    ``WIDE_NULS`` of them, or as many as there are up to the text's end. Cost: next to nothing without NULs; 0.3 to 4 ns a byte.

    >>> find_wide("name: x\n".encode("utf-16-le")), find_wide(b"a\0bc\0"), find_wide(b"find -print0\n")
    (1, 4, -1)
    """
    if b"\0" not in text:
        return -1
    if len(text) >= _LARGE and (native := _native()) is not None:
        return int(native.find_wide(text, len(text)))
    found = _WIDE.search(text) or _WIDE_AT_END.search(text, max(0, len(text) - 2 * WIDE_NULS))
    return -1 if found is None else found.start()


def uncoloured(text: bytes, low: int = 0, high: int | None = None) -> bytes:
    r"""``COLOUR.sub(b"", text[low:high])``: without the escapes for colours and the like.

    Cost: 0.4 ns a byte and 20 ns for each of them, in which other threads run; without the native function 0.9 ns and 300 ns.

    >>> uncoloured(b"\x1b[1;31mred\x1b[0m\x1b[")
    b'red\x1b['
    """
    size = (len(text) if high is None else high) - low
    if size < _LARGE or (native := _native()) is None:
        return COLOUR.sub(b"", text[low : low + size])
    room = getattr(_local, "room", None)
    if room is None or len(room) < size:
        room = _local.room = native.room(size)
    return bytes(native.string(room, native.uncoloured(text, low, low + size, room)))


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


class _Native(NamedTuple):
    """The native functions, and what they are given."""

    count: Any
    count_sequence: Any
    survey: Any
    kind: Any
    find_wide: Any
    uncoloured: Any
    room: Any
    string: Any
    counters: Any
    first: Any
    address: Any


@functools.cache
def _native() -> _Native | None:
    """The native functions; None where they were not built, or are of another version."""
    import ctypes  # noqa: PLC0415  # four milliseconds that only large outputs need

    from spillstore import _native as built  # noqa: PLC0415  # imports ctypes

    pointer, size, byte, text = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint8, ctypes.c_char_p
    call = (size, pointer, size)
    copied = (size, text, size, size, pointer)
    loaded = built.functions(
        "spillstore_text_version", _VERSION, size, byte, spillstore_kind=call, spillstore_uncoloured=copied
    )
    if loaded is None:
        return None
    keeping: Any = ctypes.PYFUNCTYPE  # the interpreter's lock
    return _Native(
        count=keeping(size, text, size, byte)(("spillstore_count", loaded)),
        count_sequence=keeping(size, text, size, text, size)(("spillstore_count_sequence", loaded)),
        survey=keeping(size, text, size, byte, pointer)(("spillstore_survey", loaded)),
        kind=loaded.spillstore_kind,
        find_wide=keeping(size, text, size)(("spillstore_find_wide", loaded)),
        uncoloured=loaded.spillstore_uncoloured,
        room=ctypes.create_string_buffer,
        string=ctypes.string_at,
        counters=size * 2,
        first=ctypes.c_char,
        address=ctypes.addressof,
    )
