r"""Stored bytes as text that is safe to read.

Each line is cleaned on its own, and line ends stay where they are. In a line

1. bytes that are no UTF-8 become U+FFFD, one each;
2. escape sequences are removed (``control``);
3. a CR that does not end the line goes back to its beginning, a backspace one character back, and what follows
   overwrites what stands there (``screen``). ``redrawn`` counts the characters that are lost by it;
4. a NUL is shown as U+2400; other control characters are removed, except for tab.

CRLF is one line ending and becomes LF. Where CR ends lines, LF is one of the other control characters. Cuts rely on a
law: at the border of a line, and at any byte that ``ByteOffsets`` gives inside one, ``clean(a) + clean(b) == clean(a + b)``.
"""

from __future__ import annotations

from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import is_plain, is_utf8, kind
from spillstore_tools.preview.text.control import (
    ERASE_LINE,
    ERASER_OF,
    ESCAPES,
    SPECIAL,
    decode,
    without_controls,
    without_escapes,
)
from spillstore_tools.preview.text.screen import on_screen

BOM = "\ufeff"
_LARGE = 16 * 1024  # bytes from which on a native function pays
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
_C1 = re.compile(rb"\xc2[\x80-\x9f]")  # U+0080 to U+009F in UTF-8
_CR_ENDS = bytes.maketrans(b"\r\n", b"\n\x0b")
# Without one of them nothing in a line is overwritten.
_MOVES = ("\r", "\b", *(each for each, mark in ERASER_OF.items() if mark == ERASE_LINE))
_MOVING = tuple(
    (move.encode()[:1], move.encode()) for move in _MOVES
)  # each with its first byte, which is found at once
# Characters that show nothing themselves: directions, marks, joiners, fillers, tags. The two joiners that some scripts
# and emoji need are left where they follow a character that is no ASCII.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]|(?<![^\x00-\x7f])[\u200c\u200d]"
)


# Of these, what may hide something from a model, or show it in another order than it reads. The sequences of tags that make flags stay.
_MASKING = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007f]+|[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\U000e0000-\U000e007f]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]"
)


def clean(data: bytes, terminator: bytes = b"\n") -> str:
    r"""Lines as a reader sees them. Cost: about 1 ns a byte where there is nothing to do, 25 with escape sequences.

    Args:
        data: whole lines; the last one may lack its ending.
        terminator: what ends a line, LF or CR.

    Returns:
        The text; every line ending is ``\n``.

    Example:
        >>> clean(b" 10%\r\x1b[32m100%\x1b[0m\r\nab\bc"), clean(b"caf\xe9"), clean(b"abcdef\rXY")
        ('100%\nac', 'caf\ufffd', 'XYcdef')
    """
    data = ended_by_lf(data, terminator)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    text = decode(data)
    if is_plain(data) if data.isascii() else not SPECIAL.search(text):
        return text
    if any(move in text for move in _MOVES):
        return "\n".join([on_screen(line)[0] for line in without_escapes(text).split("\n")])
    if "\x1b" in text or not text.isascii():
        text = ESCAPES.sub("", text)
    return without_controls(text)


def redrawn(data: bytes, terminator: bytes = b"\n") -> int:
    r"""How many characters of these lines were overwritten by others or erased, so that no text shows them.

    Bold and underlined text of printers (``b\bb``, ``_\bb``) loses nothing, nor does text that is written again as it was.

    Example:
        >>> redrawn(b" 10%\r 20%\r100%\n"), redrawn(b"abc\rabcd\n"), redrawn(b"plain\r\n")
        (8, 0, 0)
    """
    data = ended_by_lf(data, terminator)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if not any(first in data and move in data for first, move in _MOVING):
        return 0
    return sum([on_screen(line)[1] for line in without_escapes(decode(data)).split("\n")])


def ended_by_lf(data: bytes, terminator: bytes) -> bytes:
    """The same number of bytes, in which LF ends the lines that ``terminator`` ended; other LFs become VT."""
    return data.translate(_CR_ENDS) if terminator == b"\r" else data


def is_clean(data: bytes | memoryview) -> bool:
    """Whether cleaning lines that LF ends would change nothing. Cost: 0.05 ms a MiB with the native library."""
    if len(data) >= _LARGE and (found := kind(data)) is not None:
        return found >= 0
    data = bytes(data)
    return is_plain(data) and is_utf8(data) and (b"\xc2" not in data or _C1.search(data) is None)


def clean_length(data: bytes, terminator: bytes = b"\n") -> int:
    """``len(clean(data))``, faster where there is nothing to clean."""
    if terminator == b"\n" and data.isascii() and is_plain(data):
        return len(data)
    return len(clean(data, terminator))


def one_line(text: str) -> str:
    """Text from outside (a command, an error) on one line."""
    return clean(text.replace("\n", " ").encode("utf-8", "replace"))


def escaped(text: str) -> str:
    r"""Text as it is stored, on one line: control characters are written as escapes, but for tabs.

    Example:
        >>> print(escaped("old\rnew \x1b[31mred"))
        old\rnew \x1b[31mred
    """
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def visible(text: str) -> str:
    """Text in which each character that is invisible or changes the direction of others is replaced by its name.

    Example:
        >>> visible("rm -rf x \u202e txt.exe"), visible("a\u200bb")
        ('rm -rf x <U+202E> txt.exe', 'a<U+200B>b')
    """
    return text if text.isascii() else _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def unmasked(text: str) -> str:
    """Text for a model, of the same length: U+FFFD in the place of each character that is unseen or changes the direction of others.

    What is stored and searched has them; joiners in scripts and emoji stay.

    Example:
        >>> unmasked("if access != 'user\u202e \u2066# admin\u2069'")
        "if access != 'user\ufffd \ufffd# admin\ufffd'"
    """
    if text.isascii() or not _MASKING.search(text):
        return text
    return _MASKING.sub(lambda found: found[0] if found[0][0] == "\U0001f3f4" else "\ufffd", text)


def label(text: str) -> str:
    """Text from outside (a command, a name, an error) on one line, with invisible characters named."""
    return visible(one_line(text))


def split_lines(data: bytes, terminator: bytes = b"\n") -> list[bytes]:
    r"""Lines with their endings; unlike ``bytes.splitlines`` only ``terminator`` ends one.

    Example:
        >>> split_lines(b"a\rb\nc")
        [b'a\rb\n', b'c']
    """
    lines = [line + terminator for line in data.split(terminator)]
    last = lines.pop()[: -len(terminator)]
    return [*lines, last] if last else lines
