"""The gram filter of a chunk: which short runs of bytes may be in it, so that a search need not decode it.

A *gram* is a run of bytes in which capital letters of ASCII are small. Words are told by grams of four letters, ids by
grams of five letters and digits that have some of both; a letter is one of ASCII, an underscore or any byte from 0x80 on. Of numbers
nothing is kept, for a chunk has too many of them. Each gram is hashed to 13 bits, and each hash is a bit of the filter. A gram whose bit is
not set does not end in the chunk. It may begin before it: the 63 bytes before the chunk are looked at, too, so a run of up to 64
bytes is found in the chunk in which it ends.

A filter costs a tenth of the processor time of storing its chunk, so only long artifacts have any, from their fifth MiB on.

The column ``grams`` holds, where a chunk has a filter:

    ============  ==================================================================================
    bytes         meaning
    ============  ==================================================================================
    16            the beginning of a digest over what stands before the chunk's own digest in its row, that digest, and all
                  that follows here; so the filter is checked without the chunk's data
    1             kind of the text and of the 63 bytes before it: 0 ASCII, 1 other UTF-8, 2 with the Kelvin sign or the long s, all three without
                  control characters but tab and LF; 3 anything else. A character that goes on behind the chunk is the next one's
    1             n: of the grams with digits only those count whose hash ends in n zeros
    2             m, bytes of the filter for grams without digits, little endian
    m             that filter: hash ``h`` is bit ``h * 8m >> 13``, counted from the lowest bit of the first byte
    the rest      the filter for grams with digits, in the same way
    ============  ==================================================================================

The hash of a gram is the highest 13 bits of its bytes as a number, little endian, times 0x9E3779B97F4A7C15 modulo 2**64.

Which chunks have a filter, and how large its parts are, is up to who makes it. A filter is right if it rules out nothing that is there:
each gram of the chunk and of the 63 bytes before it has its bit, and the kind is none too low. ``verify`` looks whether that is so.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spillstore.format.digests import digest_bytes
from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import CONTINUING
from spillstore.text_scan import kind as kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spillstore.format.digests import Algorithm

FROM: Final = 64  # chunks at the beginning of an artifact get none: 4 MiB are searched in milliseconds, and few outputs have more
BEFORE: Final = 63  # bytes before a chunk whose grams are in its filter
LONGEST: Final = BEFORE + 1  # bytes of a run that is found in the chunk in which it ends
PLAIN: Final = 2  # the highest kind of text without control characters
ANYTHING: Final = 3  # the kind of all other text
FOLDS: Final = 2  # the kind in which letters of ASCII have other cases beyond it
MARK: Final = 5  # bytes of a gram with digits
WORD: Final = 4  # bytes of a gram without
MOST_BYTES: Final = 1024  # no filter has more
_CHECK: Final = 16  # bytes of its digest
_HEADER: Final = 4
_SHARE: Final = 25  # a filter has at most this part of the bytes that its chunk takes
_LEAST: Final = 16  # bytes; a chunk that takes so little that its filter would have less gets none
_BITS: Final = 13
_SPREAD: Final = 0x9E3779B97F4A7C15
_LETTERS: Final = bytes([*b"abcdefghijklmnopqrstuvwxyz_", *range(0x80, 0x100)])
_DIGITS: Final = b"0123456789"
_LEADS: Final = (0xC2, 0xE0, 0xF0)  # the lowest first bytes of characters of two, three and four bytes
_LAST_LEAD: Final = 0xF4
_OF_WORDS: Final = re.compile(rb"[a-z_\x80-\xff]+")
_OF_MARKS: Final = re.compile(rb"[a-z0-9_\x80-\xff]+")
_VERSION: Final = 1  # as in ``_native/grams.c``


def grams_of(texts: Sequence[tuple[bytes, bytes, int]]) -> list[bytes]:
    """The filters of chunks, without their digests; empty where there is none: too small, of no use, or no native library.

    Args:
        texts: of each chunk what stands before it, its raw bytes, and the bytes that it takes compressed.
    """
    rooms = [min(size // _SHARE, MOST_BYTES) - _CHECK for _, _, size in texts]
    wanted = [index for index, room in enumerate(rooms) if room >= _LEAST]
    native = _native() if wanted else None
    out = [b""] * len(texts)
    if native is None:
        return out
    parts = (native.part * len(wanted))()
    made = []
    for part, index in zip(parts, wanted, strict=True):
        before, text, _ = texts[index]
        buffer = native.buffer(rooms[index])
        made.append(buffer)
        part.text, part.size, part.before, part.before_size = text, len(text), before, len(before)
        part.out, part.most = native.address(buffer), rooms[index]
    native.make(parts, len(parts))
    for part, index, buffer in zip(parts, wanted, made, strict=True):
        out[index] = buffer.raw[: part.made]
    return out


def sealed(grams: bytes, row: bytes, algorithm: Algorithm) -> bytes | None:
    """A filter as it is stored; None for an empty one. ``row`` is what its digest binds it to."""
    return _check(grams, row, algorithm) + grams if grams else None


def is_sealed(stored: bytes, row: bytes, algorithm: Algorithm) -> bool:
    """Whether a stored filter is what was made for that row."""
    grams = stored[_CHECK:]
    return (
        _HEADER <= len(grams) <= MOST_BYTES
        and grams[1] <= _BITS
        and int.from_bytes(grams[2:_HEADER], "little") <= len(grams) - _HEADER
        and stored[:_CHECK] == _check(grams, row, algorithm)
    )


def _check(grams: bytes, row: bytes, algorithm: Algorithm) -> bytes:
    return digest_bytes(algorithm, b"".join((b"grams", row, grams)))[:_CHECK]


def kind(stored: bytes) -> int:
    """The kind of the chunk's text, from a stored filter."""
    return stored[_CHECK]


class Run:
    """A run of bytes that is looked for in filters.

    Args:
        classes: its bytes, folded: of each place the one byte that stands there, None for several.

    Attributes:
        size: how many grams it has.
        can_be_missed: whether each filter has a look at some of them.
    """

    __slots__ = ("_classes", "_marks", "_words", "can_be_missed", "size")

    def __init__(self, classes: Sequence[int | None]) -> None:
        assert len(classes) <= LONGEST
        self._classes = classes
        self._words = _hashes(classes, WORD, _is_word)
        self._marks = _hashes(classes, MARK, _is_mark)
        self.size = len(self._words) + len(self._marks)
        self.can_be_missed = bool(self.size)

    def may_end_in_text(self, text: bytes) -> bool:
        """Whether the run may end in a text in small letters, whatever stands before that."""
        if None in self._classes:
            return True
        run = bytes(self._classes)  # type: ignore[arg-type]  # no None
        return run in text or any(text.startswith(run[at:]) for at in range(1, len(run)))

    def may_end_in(self, stored: bytes) -> bool:
        """Whether the run may end in a chunk; ``stored`` is its filter, and was verified."""
        return _has(stored, self._words, self._marks)


def _has(stored: bytes, words: Iterable[int], marks: Iterable[int]) -> bool:
    """Whether a filter has the bits of all these hashes, of grams without digits and with."""
    at = _CHECK + _HEADER
    split = at + (stored[_CHECK + 2] | stored[_CHECK + 3] << 8)
    bits = (split - at) << 3
    for each in words if bits else ():
        place = each * bits >> _BITS
        if not stored[at + (place >> 3)] >> (place & 7) & 1:
            return False
    bits = (len(stored) - split) << 3
    few = (1 << stored[_CHECK + 1]) - 1
    for each in marks if bits else ():
        place = each * bits >> _BITS
        if not each & few and not stored[split + (place >> 3)] >> (place & 7) & 1:
            return False
    return True


def fits(stored: bytes, before: bytes | None, text: bytes, size: int) -> bool:
    """Whether a filter rules out nothing that is in its chunk, so that no search misses a line by it.

    Cost: 0.1 ms for 64 KiB and a filter as it would be made today, 20 for another one, which is held against each gram.

    Args:
        stored: the filter; its digest was verified.
        before: the ``BEFORE`` bytes before the chunk, or all that there are; None if they are not known any more.
        text: the chunk's raw bytes.
        size: the bytes that it takes compressed.

    Returns:
        True also where there are no native functions, since nothing is looked at there.
    """
    if _native() is None:
        return True
    if before is not None and grams_of([(before, text, size)]) == [stored[_CHECK:]]:
        return True
    folded = ((before or b"") + text).lower()
    words = _hashes_in(_OF_WORDS, folded, WORD, _is_word)
    marks = _hashes_in(_OF_MARKS, folded, MARK, _is_mark)
    return kind(stored) >= _least_kind(before, text) and _has(stored, words, marks)


def _hashes_in(runs: re.Pattern[bytes], folded: bytes, length: int, wanted: Any) -> list[int]:
    found = {run[at : at + length] for run in runs.findall(folded) for at in range(len(run) - length + 1)}
    return [hash_of(gram) for gram in found if wanted(gram)]


def _least_kind(before: bytes | None, text: bytes) -> int:
    """The lowest kind that the filter of a text may have: that of the characters which end in it, as far as they are known."""
    head = _continued(text)
    whole = text[head : len(text) - _unfinished(text)]
    seam = b"" if not head or before is None else before[len(before) - _unfinished(before) :] + text[:head]
    found = [kind_of(part) for part in (seam, whole)]
    return max(ANYTHING if each == -1 else each or 0 for each in found)


def _continued(text: bytes) -> int:
    """How many bytes at the beginning go on a character, three at most."""
    return next((at for at, byte in enumerate(text[:3]) if byte not in CONTINUING), len(text[:3]))


def _unfinished(text: bytes) -> int:
    """How many bytes at the end are of a character that goes on behind it, as ``_native/grams.c`` counts them."""
    for size, first in enumerate(_LEADS[: len(text)], 1):
        byte = text[-size]
        if byte not in CONTINUING:
            return size if first <= byte <= _LAST_LEAD else 0
    return 0


def hash_of(gram: bytes) -> int:
    """The hash of a gram.

    >>> hash_of(b"erro"), hash_of(b"a3f09")
    (6236, 5108)
    """
    return (int.from_bytes(gram, "little") * _SPREAD & 0xFFFFFFFFFFFFFFFF) >> (64 - _BITS)


def _hashes(classes: Sequence[int | None], length: int, wanted: Any) -> tuple[int, ...]:
    found = []
    for at in range(len(classes) - length + 1):
        window = classes[at : at + length]
        if None not in window and wanted(gram := bytes(window)):  # type: ignore[arg-type]  # no None
            found.append(hash_of(gram))
    return tuple(dict.fromkeys(found))


def _is_word(gram: bytes) -> bool:
    return not gram.translate(None, _LETTERS)


def _is_mark(gram: bytes) -> bool:
    return (
        not gram.translate(None, _LETTERS + _DIGITS)
        and not gram.isdigit()
        and bool(gram.translate(None, _LETTERS))
    )


class _Native(NamedTuple):
    """The native function, and what it is given."""

    make: Any
    part: Any
    address: Any
    buffer: Any


@functools.cache
def _native() -> _Native | None:
    """The native function; None where it was not built, or is of another version."""
    import ctypes  # noqa: PLC0415  # four milliseconds that only large outputs need

    from spillstore import _native as built  # noqa: PLC0415  # imports ctypes

    class Part(ctypes.Structure):
        _fields_ = [  # as ctypes wants it
            ("text", ctypes.c_char_p),
            ("before", ctypes.c_char_p),
            ("out", ctypes.c_void_p),
            ("size", ctypes.c_int64),
            ("before_size", ctypes.c_int64),
            ("most", ctypes.c_int64),
            ("made", ctypes.c_int64),
        ]

    class Tables(ctypes.Structure):
        _fields_ = [("words", ctypes.c_uint8), ("marks", ctypes.c_uint8)]

    call = (None, ctypes.c_void_p, ctypes.c_int64)
    loaded = built.functions("spillstore_grams_version", _VERSION, Part, Tables, spillstore_grams=call)
    if loaded is None:
        return None
    return _Native(loaded.spillstore_grams, Part, ctypes.addressof, ctypes.create_string_buffer)
