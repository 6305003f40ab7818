"""Whether content is binary, and of which type.

Tools print text, and text is often a little broken: a NUL between file names, a Latin-1 accent, a character cut in
half by a buffer. So doubt goes to text:

1. Without a control character and valid in UTF-8: text, whatever word it begins with. Tabs, line ends, form feeds,
   backspaces, bells and escapes do not count as control characters; what goes to a terminal is full of them.
2. With the byte order mark of UTF-16 or UTF-32, and text in that encoding behind it: text. Of UTF-16 the mark may be
   missing, as in what programs of Windows write to a pipe, if there are blanks or line ends of two bytes, as in any text.
3. With a beginning that belongs to a known format: that format.
4. Else by numbers: more than one byte in ten a control character, or one in a hundred where three in ten are wrong, is binary,
   and so is what is wrong and has hardly any blank or line end.
   NULs that stand alone between text, as behind names and fields, are not counted.

One NUL anywhere, as grep and git have it, was the alternative for 4; it takes the output of `find -print0` for binary.
The limits: compressed and random bytes have 10 % control characters and 45 % bytes that are invalid in UTF-8, programs
have 20 to 50 % NULs, most of them beside others, Western European text in Latin-1 has 2 to 8 % invalid bytes, text in KOI8-R or
Shift JIS up to all of them, but no control character: the ASCII words in it are worth more than a dump. Of 120,000 files of a Debian system with Python (2026-07) no text in UTF-8,
ASCII or Latin-1 was called binary.

The formats are a table of ours (``magic``). Two libraries of pure Python were tried (2026-11) on the 52 formats that the tests name
and on up to 300 files of each type of a Debian system: filetype 1.2.0 knows neither bytecode nor pickles, message
catalogues, Mach-O or Parquet, and calls a Java archive a ZIP; puremagic 1.30 calls every ZIP a Word document and takes
240 us where ours takes 3.
"""

from __future__ import annotations

import codecs

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.binary.magic import BinaryType, by_magic

HEAD_BYTES = 8192
ENCODED_TEXT = "text/plain; charset="  # the media type of text in another encoding, up to its name
_OCTETS = BinaryType("application/octet-stream", "binary data")
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\a\b\t\n\f\r\x1b"})
# A PDF need not have a byte that is not text. A line end is asked for so that a sentence is not taken for one.
_PDF = re.compile(rb"%PDF-\d\.\d\s*[\r\n]")
_CONTROLS_PER_TEXT = 0.1
_WRONG_PER_TEXT = 0.3
_CONTROLS_PER_WRONG = 0.01  # where more are wrong: text in legacy encodings has none
_NULS_PER_TEXT = 0.25  # that stand alone
_NULS_TOGETHER = 0.05  # of them, as where a field is empty
_UNMARKED = ("utf-16-le", "utf-16-be")
_FEWEST_UNITS = 16  # of two bytes, that say something without a mark
_BLANKS = 64  # among so many units of a text stands a blank or a line end
# Of random 16 bits, 3 % are half a surrogate pair.
_INVALID_PER_WIDE_TEXT = 0.01

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", codecs.utf_32_le_decode),
    (codecs.BOM_UTF32_BE, "utf-32-be", codecs.utf_32_be_decode),
    (codecs.BOM_UTF16_LE, "utf-16-le", codecs.utf_16_le_decode),
    (codecs.BOM_UTF16_BE, "utf-16-be", codecs.utf_16_be_decode),
)


def recognise(head: bytes, size: int) -> BinaryType | None:
    r"""The type of binary content; None for text.

    Takes 10 microseconds for 8 KiB of plain text, 50 for anything else.

    Args:
        head: the first bytes; no more than ``HEAD_BYTES`` are looked at. It may end inside a character.
        size: bytes of the whole content.

    Returns:
        The type, `application/octet-stream` if it is unknown, or None if the content is text. Empty content is text.

    Example:
        >>> recognise(b"\x89PNG\r\n\x1a\n", 8)
        BinaryType(media_type='image/png', name='PNG image')
        >>> recognise("naïve".encode(), 6) is recognise("naïve".encode("latin-1"), 5) is None
        True
        >>> recognise(bytes(range(256)), 256).media_type
        'application/octet-stream'
    """
    head = head[:HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if not controls and (head.isascii() or not _invalid(head)):
        return by_magic(head, size) if _PDF.match(head) else None
    if text_encoding(head) not in {None, "utf-8-sig"}:
        return None
    return by_magic(head, size) or (_OCTETS if _is_noise(head, controls) else None)


def is_noise(head: bytes) -> bool:
    """Whether content that begins so is binary whatever its size is: by numbers, no text in any encoding.

    Example:
        >>> is_noise(bytes(range(256))), is_noise(b"text"), is_noise("text".encode("utf-16"))
        (True, False, False)
    """
    head = head[:HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return (controls > 0 or not head.isascii()) and _is_noise(head, controls) and text_encoding(head) is None


def text_encoding(head: bytes) -> str | None:
    r"""The encoding that a byte order mark announces; without one, that of text in UTF-16.

    Args:
        head: the first bytes; it may end inside a character.

    Returns:
        `utf-8-sig`, `utf-16-le`, `utf-16-be`, `utf-32-le` or `utf-32-be`. The last four are codecs that keep the
        mark as the first character. None if what follows a mark is not text in that encoding, and for all other content.

    Example:
        >>> text_encoding("\ufeffyes".encode("utf-16-le"))
        'utf-16-le'
        >>> text_encoding(b"yes") is None
        True
    """
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    for mark, encoding, decode in _MARKS:
        if head.startswith(mark):
            text, consumed = decode(head[:HEAD_BYTES], "ignore", False)
            invalid = consumed - len(text.encode(encoding))
            controls = sum(map(text.count, map(chr, _CONTROLS)))
            if invalid <= consumed * _INVALID_PER_WIDE_TEXT and controls <= len(text) * _CONTROLS_PER_TEXT:
                return encoding
    return _unmarked(head[:HEAD_BYTES])


def wide_encoding(head: bytes) -> str | None:
    """The encoding of text in UTF-16 or UTF-32, by its first bytes, as ``text_encoding`` has it; None of anything else."""
    encoding = text_encoding(head) if b"\0" in head else None
    return None if encoding == "utf-8-sig" else encoding


def _unmarked(head: bytes) -> str | None:
    """The order of bytes in which they are text in UTF-16 without a mark; None in neither."""
    if len(head) < 2 * _FEWEST_UNITS or b"\0" not in head:
        return None
    for encoding in _UNMARKED:
        text = head[: len(head) // 2 * 2].decode(encoding, "replace")
        blanks = sum(map(text.count, " \n\r\t"))
        if blanks * _BLANKS < len(text) or text.count("\ufffd") > len(text) * _INVALID_PER_WIDE_TEXT:
            continue
        unprintable = sum(not each.isprintable() for each in text) - sum(map(text.count, "\n\r\t"))
        if unprintable <= len(text) * _INVALID_PER_WIDE_TEXT:
            return encoding
    return None


def _invalid(head: bytes) -> int:
    """Bytes that are not UTF-8, but for a character that the end of ``head`` cuts."""
    text, consumed = codecs.utf_8_decode(head, "ignore", False)
    return consumed - len(text.encode())


def _is_noise(head: bytes, controls: int) -> bool:
    nuls = head.count(0)
    if nuls <= len(head) * _NULS_PER_TEXT and head.count(b"\0\0") <= nuls * _NULS_TOGETHER:
        controls -= nuls
    # One control character is forgiven in a short text, such as "key\0value".
    if controls > max(1, len(head) * _CONTROLS_PER_TEXT):
        return True
    blanks = sum(map(head.count, (b" ", b"\n", b"\t")))
    legacy = controls <= len(head) * _CONTROLS_PER_WRONG and blanks * _BLANKS >= len(head)
    return not legacy and controls + _invalid(head) > len(head) * _WRONG_PER_TEXT
