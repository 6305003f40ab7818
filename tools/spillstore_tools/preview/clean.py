r"""Stored bytes as text that is safe to read.

Cleaning works on lines and never moves one: what ends a line ends it still, and nothing reaches across. In a line

1. bytes that are no UTF-8 become U+FFFD, one each;
2. escape sequences go (CSI, OSC, DCS, SOS, PM, APC, two-character ones; seven-bit and eight-bit introducers). A string
   sequence that is not ended within its line and 64 KiB loses its introducer alone, so that nothing is hidden by it;
3. a CR that does not end the line is an overwrite: the last state that shows anything stays, as at a terminal;
4. a backspace takes the character before it;
5. other control characters go, except for tab.

CRLF is one line ending and becomes LF. The law that cuts rely on: at a line's border, and at any place that
``Positions`` names inside one, ``clean(a) + clean(b) == clean(a + b)``.
"""

from __future__ import annotations

import re
import unicodedata

STRING_LIMIT = 64 * 1024
_CLUSTER = 32
ESCAPES = re.compile(
    rf"""
      (?:\x1b\[|\x9b) [0-?]{{0,256}} [ -/]{{0,16}} [@-~]?                       # CSI, also one that was cut off
    | (?:\x1b\]|\x9d) [^\x07\x1b\x9c\n]{{0,{STRING_LIMIT}}} (?:\x07|\x1b\\|\x9c)  # OSC: titles, links
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f]) [^\x1b\x9c\n]{{0,{STRING_LIMIT}}} (?:\x1b\\|\x9c)  # DCS, SOS, PM, APC
    | \x1b [ -/]{{0,16}} [0-~]?                                                # everything else
    """,
    re.VERBOSE,
)
_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROLS = re.compile(r"[\x00-\x07\x0b-\x1f\x7f-\x9f]")  # all but the backspace, which comes later
_INVALID = re.compile("[\udc80-\udcff]")
_SPECIAL_BYTES = bytes([*range(9), *range(0x0B, 0x20), 0x7F])


def clean(data: bytes, terminator: bytes = b"\n") -> str:
    r"""Lines as a reader sees them. Cost: about 1 ns a byte where there is nothing to do, 25 with escape sequences.

    Args:
        data: whole lines; the last one may lack its ending.
        terminator: what ends a line, LF or CR.

    Returns:
        The text; every line ending is ``\n``.

    Example:
        >>> clean(b" 10%\r\x1b[32m100%\x1b[0m\r\nab\bc"), clean(b"caf\xe9")
        ('100%\nac', 'caf\ufffd')
    """
    if terminator == b"\r":
        data = data.replace(b"\r", b"\n")
    elif b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    text = _decode(data)
    if is_plain(data) if data.isascii() else not _SPECIAL.search(text):
        return text
    if "\x1b" in text or not text.isascii():
        text = ESCAPES.sub("", text)
    if "\r" in text or "\b" in text:
        return "\n".join(map(_overwritten, text.split("\n")))
    return _CONTROLS.sub("", text)


def is_plain(data: bytes) -> bool:
    """Whether ASCII bytes hold no control character but tab and LF."""
    return len(data.translate(None, _SPECIAL_BYTES)) == len(data)


def clean_length(data: bytes, terminator: bytes = b"\n") -> int:
    """``len(clean(data))``, faster where there is nothing to clean."""
    if data.isascii() and is_plain(data):
        return len(data)
    return len(clean(data, terminator))


def one_line(text: str) -> str:
    """Text of others (a command, an error) on one line."""
    return clean(text.replace("\n", " ").encode("utf-8", "replace"))


def split_lines(data: bytes, terminator: bytes = b"\n") -> list[bytes]:
    r"""Lines with their endings; unlike ``bytes.splitlines`` only ``terminator`` ends one.

    Example:
        >>> split_lines(b"a\rb\nc")
        [b'a\rb\n', b'c']
    """
    lines = [line + terminator for line in data.split(terminator)]
    last = lines.pop()[: -len(terminator)]
    return [*lines, last] if last else lines


def joined(text: str, index: int) -> bool:
    r"""Whether a cut before ``text[index]`` would tear what is drawn as one: marks, joiners, flags, syllables.

    Example:
        >>> joined("e\u0301", 1), joined("ab", 1)
        (True, False)
    """
    if not 0 < index < len(text):
        return False
    here, before = text[index], text[index - 1]
    if here < "\u0300":
        return before == "\u200d"
    if before == "\u200d" or here in "\u200c\u200d" or "\U0001f3fb" <= here <= "\U0001f3ff":
        return True
    if unicodedata.category(here) in {"Mn", "Mc", "Me"} or "\U000e0020" <= here <= "\U000e007f":
        return True
    if "\u1160" <= here <= "\u11ff":  # Hangul vowels and finals
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return _regional(here) and _regionals_before(text, index) % 2 == 1


def whole_cut(text: str, index: int) -> int:
    """The nearest place from ``index`` down that tears nothing; what is longer than 32 may be torn."""
    for place in range(index, max(0, index - _CLUSTER), -1):
        if not joined(text, place):
            return place
    return index


class Positions:
    """The cleaned text of one line, and where in its bytes each character of it stands.

    Cost: a Python step for each character if the line needs cleaning, next to nothing otherwise.
    """

    def __init__(self, line: bytes, terminator: bytes = b"\n") -> None:
        self.text = clean(line, terminator)
        self._line = line
        self._offsets: list[int] | None = None
        self._decoded = line.decode("utf-8", "surrogateescape")
        if terminator == b"\r":
            self._decoded = self._decoded.replace("\r", "\n")
        if self.text != _INVALID.sub("\ufffd", self._decoded):
            self._offsets = _survivors(self._decoded)

    @property
    def overdrawn(self) -> bool:
        """Whether something before the first character that shows was overwritten, so that no cut may fall there."""
        return bool(self._offsets) and "\r" in self._decoded[: self._offsets[0]]  # type: ignore[index]  # not None: bool

    def offset(self, index: int) -> int:
        """The byte at which character ``index`` of the text begins; ``len(text)`` is the end of the line."""
        if index >= len(self.text):
            return len(self._line)
        place = index if self._offsets is None else self._offsets[index]
        if len(self._decoded) == len(self._line):
            return place  # one byte a character
        return len(self._decoded[:place].encode("utf-8", "surrogateescape"))


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _INVALID.sub("\ufffd", data.decode("utf-8", "surrogateescape"))


def _overwritten(line: str) -> str:
    """A line without escape sequences as it looks in the end."""
    if "\r" not in line and "\b" not in line:
        return _CONTROLS.sub("", line)
    states = (erased(_CONTROLS.sub("", state)) for state in reversed(line.split("\r")))
    return next((state for state in states if state), "")


def unerased(data: bytes) -> str:
    """A piece of a line without escape sequences and control characters, its backspaces left in."""
    text = _decode(data)
    if "\x1b" in text or not text.isascii():
        text = ESCAPES.sub("", text)
    return _CONTROLS.sub("", text)


def erased(text: str) -> str:
    """Text after its backspaces have done their work."""
    if "\b" not in text:
        return text
    kept: list[str] = []
    for character in text:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def _survivors(decoded: str) -> list[int]:
    """Which characters of a decoded line are in its cleaned text; the same rules, one character at a time."""
    ended = decoded.endswith("\n")
    end = len(decoded) - (2 if decoded.endswith("\r\n") else ended)
    shown: list[int] = []
    state: list[int] = []
    escapes = {found.start(): found.end() for found in ESCAPES.finditer(decoded, 0, end)}
    index = 0
    while index < end:
        character = decoded[index]
        if index in escapes:
            index = escapes[index]
            continue
        if character == "\r":
            shown, state = state or shown, []
        elif character == "\b":
            del state[-1:]
        elif character == "\t" or not _SPECIAL.match(character):
            state.append(index)
        index += 1
    return [*(state or shown), *([end] if ended else [])]


def _regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regionals_before(text: str, index: int) -> int:
    count = 0
    while count < _CLUSTER and index - count > 0 and _regional(text[index - count - 1]):
        count += 1
    return count
