r"""Stored bytes as text that is safe to read.

Cleaning works on lines and never moves one: what ends a line ends it still, and nothing reaches across. In a line

1. bytes that are no UTF-8 become U+FFFD, one each;
2. escape sequences go (CSI, OSC, DCS, SOS, PM, APC, two-character ones; seven-bit and eight-bit introducers). A string
   sequence that is not ended within its line and 65,536 characters, or that a CR or another introducer breaks off,
   loses its introducer alone, so that nothing is hidden by it;
3. a CR that does not end the line goes back to its beginning, a backspace one character back, and what follows is drawn
   over what stands there, as at a terminal: what is longer stays, unless ``CSI K`` or ``CSI 2 K`` erases it. Every
   character takes one place. What is erased and not drawn again stays. ``redrawn`` counts what is seen no more;
4. other control characters go, except for tab.

CRLF is one line ending and becomes LF. Where CR ends lines, LF is one of the other control characters. The law that
cuts rely on: at a line's border, and at any place that ``Positions`` names inside one,
``clean(a) + clean(b) == clean(a + b)``.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

STRING_LIMIT = 64 * 1024
_CLUSTER = 32
# No string holds what begins one, and no repetition gives back what it took: else 64 KiB of introducers take seconds.
# Every alternative begins with one character, which the engine then looks for, six times as fast as for a choice.
_CSI = r"[0-?]{0,256} [ -/]{0,16} [@-~]?"  # also one that was cut off
_OSC = rf"[^\x07\x1b\x90\x98\x9b-\x9f\r\n]{{0,{STRING_LIMIT}}}+ (?:\x07|\x1b\\|\x9c)"  # titles, links
_STRING = rf"[^\x1b\x90\x98\x9b-\x9f\r\n]{{0,{STRING_LIMIT}}}+ (?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
ESCAPES = re.compile(
    rf"""
      \x1b (?: \[ {_CSI} | \] {_OSC} | [PX^_] {_STRING} | [ -/]{{0,16}} [0-~]? )
    | \x9b {_CSI} | \x9d {_OSC} | \x90 {_STRING} | \x98 {_STRING} | \x9e {_STRING} | \x9f {_STRING}
    """,
    re.VERBOSE,
)
_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROLS = re.compile(r"[\x00-\x07\x0b-\x1f\x7f-\x9f]+")  # all but the backspace, which comes later
_CONTROL_BYTES = bytes([*range(8), *range(0x0B, 0x20), 0x7F])  # those of them that are ASCII
_INVALID = re.compile("[\udc80-\udcff]")
_SPECIAL_BYTES = bytes([*range(9), *range(0x0B, 0x20), 0x7F])
_C1 = re.compile(rb"\xc2[\x80-\x9f]")  # U+0080 to U+009F in UTF-8
_LARGE = 64 * 1024
_SPECIAL_STRINGS = (_SPECIAL_BYTES[1:15], _SPECIAL_BYTES[15:])  # a NUL ends the search anyway
_CR_ENDS = bytes.maketrans(b"\r\n", b"\n\x0b")
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of them are a flag
# What erases, as halves of surrogates, which no decoded text holds: from here to the line's end, or all of the line.
_TO_END, _ALL = "\ud800", "\ud801"
_ERASERS = {
    f"{csi}{mode}": mark
    for csi in ("\x1b[", "\x9b")
    for mode, mark in (("K", _TO_END), ("0K", _TO_END), ("2K", _ALL))
}
ERASERS = (_TO_END, _ALL)
_MOVES = ("\r", "\b", "2K")  # without one of them a line is drawn once
_MOVING = tuple(move.encode() for move in _MOVES)
# Underlined or bold, as printers do it: nothing is lost.
_OVERSTRUCK = re.compile(
    r"_\x08(?=[^\x00-\x1f\x7f-\x9f\ud800\ud801])|([^\x00-\x1f\x7f-\x9f\ud800\ud801])\x08(?=\1)"
)


# Characters that show nothing and change what others show, or hide among them: directions, marks, joiners, fillers, tags.
# The two joiners that some scripts and emoji need are left behind a character that is no ASCII.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]|(?<![^\x00-\x7f])[\u200c\u200d]"
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
    text = _decode(data)
    if is_plain(data) if data.isascii() else not _SPECIAL.search(text):
        return text
    if any(move in text for move in _MOVES):
        return "\n".join([_drawn(line)[0] for line in _unescaped(text).split("\n")])
    if "\x1b" in text or not text.isascii():
        text = ESCAPES.sub("", text)
    return _uncontrolled(text)


def redrawn(data: bytes, terminator: bytes = b"\n") -> int:
    r"""How many characters of these lines were drawn over by others, or erased, so that nobody sees them any more.

    Bold and underlined text of printers (``b\bb``, ``_\bb``) loses nothing, nor does what is drawn again as it was.

    Example:
        >>> redrawn(b" 10%\r 20%\r100%\n"), redrawn(b"abc\rabcd\n"), redrawn(b"plain\r\n")
        (8, 0, 0)
    """
    data = ended_by_lf(data, terminator)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if not any(move in data for move in _MOVING):
        return 0
    return sum([_drawn(line)[1] for line in _unescaped(_decode(data)).split("\n")])


def ended_by_lf(data: bytes, terminator: bytes) -> bytes:
    """As many bytes, in which LF ends the lines that ``terminator`` ended; an LF that ended none is a VT."""
    return data.translate(_CR_ENDS) if terminator == b"\r" else data


def is_plain(data: bytes) -> bool:
    """Whether bytes hold no ASCII control character but tab and LF. Cost: 0.2 ms a MiB, in which other threads run."""
    size = len(data)
    if size < _LARGE:
        return len(data.translate(None, _SPECIAL_BYTES)) == size
    until = _first_of()
    return all(until(data, special) == size for special in _SPECIAL_STRINGS)


@functools.cache
def _first_of() -> Callable[[bytes, bytes], int]:
    """C's ``strcspn``: how far it is to a NUL or the first of a few bytes.

    It compares 16 bytes at once with up to 16 others, and ctypes lets go of the interpreter's lock. ``bytes.translate``
    takes four times as long, and a regular expression longer still.
    """
    import ctypes  # noqa: PLC0415  # four milliseconds that only large outputs need

    function = ctypes.CDLL(None).strcspn
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p]  # a bytes object ends with a NUL
    function.restype = ctypes.c_size_t
    return cast("Callable[[bytes, bytes], int]", function)


def is_clean(data: bytes) -> bool:
    """Whether lines that LF ends are their own cleaned text."""
    if not is_plain(data):
        return False
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\xc2" not in data or _C1.search(data) is None


def clean_length(data: bytes, terminator: bytes = b"\n") -> int:
    """``len(clean(data))``, faster where there is nothing to clean."""
    if terminator == b"\n" and data.isascii() and is_plain(data):
        return len(data)
    return len(clean(data, terminator))


def one_line(text: str) -> str:
    """Text of others (a command, an error) on one line."""
    return clean(text.replace("\n", " ").encode("utf-8", "replace"))


def visible(text: str) -> str:
    """Text in which no character is invisible or turns others around: each such is named in its place.

    Example:
        >>> visible("rm -rf x \u202e txt.exe"), visible("a\u200bb")
        ('rm -rf x <U+202E> txt.exe', 'a<U+200B>b')
    """
    return text if text.isascii() else _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def label(text: str) -> str:
    """What others have named or written (a command, a name, an error) on one line, for people to see all there is."""
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
    if _jamo(here) or "\uac00" <= here <= "\ud7a3":
        return _leading(before) or (
            not _leading(here) and _jamo(here) and (_jamo(before) or "\uac00" <= before <= "\ud7a3")
        )
    return here in _REGIONAL and len(text[:index]) - len(text[:index].rstrip(_REGIONAL)) & 1 == 1


def leading_regionals(text: str) -> int:
    """Halves of flags that the text begins with."""
    return len(text) - len(text.lstrip(_REGIONAL))


def whole_cut(text: str, index: int) -> int:
    """The nearest place from ``index`` down that tears nothing; what is longer than 32 may be torn."""
    for place in range(index, max(-1, index - _CLUSTER - 1), -1):
        if not joined(text, place):
            return place
    return index


class Positions:
    """The cleaned text of one line, and where in its bytes each character of it stands.

    Cost: a Python step for each character if the line needs cleaning, next to nothing otherwise.
    """

    def __init__(self, line: bytes, terminator: bytes = b"\n") -> None:
        line = ended_by_lf(line, terminator)
        self.text = clean(line)
        self._size = len(line)
        self._offsets: list[int | None] | None = None
        self._decoded = line.decode("utf-8", "surrogateescape")
        plain = _INVALID.sub("\ufffd", self._decoded)
        if self.text not in {plain, plain[:-2] + "\n" if plain.endswith("\r\n") else plain}:
            self._offsets = _survivors(self._decoded)
        self._last = (0, 0)  # a place that was asked for, and its byte: the next one is often near

    def divides(self, index: int) -> bool:
        """Whether a cut before character ``index`` leaves both sides as they are; not inside what was drawn over."""
        return self._offsets is None or not 0 < index < len(self.text) or self._offsets[index] is not None

    def offset(self, index: int) -> int:
        """The byte at which character ``index`` of the text begins; ``len(text)`` is the end of the line.

        Where no cut may stand it is the last place before that at which one may.
        """
        if index >= len(self.text):
            return self._size
        while index > 0 and not self.divides(index):
            index -= 1
        place = index
        if self._offsets is not None:
            place = (self._offsets[index] or 0) if index or self._offsets[0] is not None else 0
        if len(self._decoded) == self._size:
            return place  # one byte a character
        known, byte = self._last if self._last[0] <= place else (0, 0)
        byte += len(self._decoded[known:place].encode("utf-8", "surrogateescape"))
        self._last = (place, byte)
        return byte


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _INVALID.sub("\ufffd", data.decode("utf-8", "surrogateescape"))


def _uncontrolled(text: str) -> str:
    """Without control characters, but for tab, LF and backspace."""
    if text.isascii():
        return text.encode().translate(None, _CONTROL_BYTES).decode()
    return _CONTROLS.sub("", text)


def unescaped(data: bytes) -> str:
    """A piece of a line for ``Screen.draw``: without escape sequences, but for those that erase, as marks."""
    return _unescaped(_decode(data))


def shows(text: str) -> bool:
    """Whether anything of an unescaped text is drawn."""
    return any(not _SPECIAL.match(character) and character not in ERASERS for character in text)


def _unescaped(text: str) -> str:
    """As ``unescaped``."""
    return (
        ESCAPES.sub(lambda found: _ERASERS.get(found[0], ""), text)
        if "\x1b" in text or not text.isascii()
        else text
    )


def _drawn(line: str) -> tuple[str, int]:
    """A line without escape sequences as it looks in the end, and how many characters of it nobody sees."""
    if "\r" not in line and "\b" not in line and _ALL not in line:
        return _uncontrolled(line.replace(_TO_END, "")), 0
    screen = Screen()
    for state in line.split("\r"):
        screen.draw(state)
    return screen.text, screen.hidden


class Screen:
    r"""What a line shows while it is drawn over.

    Args:
        limit: characters of it that are held; the others are counted.

    Attributes:
        size: characters that it shows.
        hidden: characters that were drawn over by others, or erased.
        moves: how often it went back by a backspace, or erased anything.

    Example:
        >>> screen = Screen()
        >>> screen.draw("loading")
        >>> screen.draw("done")
        >>> screen.text, screen.size, screen.hidden
        ('doneing', 7, 4)
    """

    def __init__(self, limit: int = sys.maxsize) -> None:
        self.size = 0
        self.hidden = 0
        self.moves = 0
        self._limit = limit
        self._cells: list[str] = []
        self._cursor = 0
        self._erased = False  # as soon as anything is drawn, all that stands there is gone

    @property
    def held(self) -> int:
        """How many characters are held."""
        return len(self._cells)

    @property
    def text(self) -> str:
        """Its characters, as many of them as are held."""
        return "".join(self._cells)

    def draw(self, state: str, *, anew: bool = True) -> None:
        """Draw what stands between two CRs, or goes on with that; escape sequences are gone, and erasers marks."""
        if anew:
            self._cursor = 0
        if "\b" in state:
            state = _OVERSTRUCK.sub("", state)
        for number, line in enumerate(state.split(_ALL)):
            if number:
                self._cursor = 0
            for at, piece in enumerate(line.split(_TO_END)):
                if number or at:
                    self._erase()
                self._write(piece)

    def _write(self, piece: str) -> None:
        for at, run in enumerate(_uncontrolled(piece).split("\b") if piece else ()):
            if at:
                self._cursor = max(0, self._cursor - 1)
                self.moves += 1
            if run:
                self._put(run)

    def _erase(self) -> None:
        if self._cursor >= self.size:
            return  # as ``grep --color`` does all the time
        self.moves += 1
        if self._cursor == 0:
            self._erased = True
            return
        self.hidden += self.size - self._cursor
        self.size = self._cursor
        del self._cells[self._cursor :]

    def _put(self, run: str) -> None:
        at, end = self._cursor, self._cursor + len(run)
        under = "".join(self._cells[at:] if self._erased else self._cells[at:end])
        covered = (self.size if self._erased else min(self.size, end)) - at
        if covered > 0 and (covered > len(under) or not run.startswith(under)):
            self.hidden += covered
        if self._erased:
            self._cells.clear()
            self.size, self._erased = 0, False
        if at < self._limit:
            self._cells[at:end] = run[: self._limit - at]
        self.size = max(self.size, end)
        self._cursor = end


def _survivors(decoded: str) -> list[int | None]:
    """Where the characters of the cleaned text were written in a decoded line; None where no cut may stand before one.

    A cut may stand where nothing but what comes before it has been shown, and all behind it is drawn behind that.
    """
    ended = decoded.endswith("\n")
    end = len(decoded) - (2 if decoded.endswith("\r\n") else ended)
    escapes = {found.start(): found for found in ESCAPES.finditer(decoded, 0, end)}
    written: list[
        tuple[int, int, bool]
    ] = []  # each change: where, in which place, whether nothing stands there
    cells: list[int] = []  # of each place the change that wrote it
    cursor, erased, index = 0, False, 0
    while index < end:
        found = escapes.get(index)
        eraser = _ERASERS.get(found[0]) if found else None
        character, here, index = decoded[index], index, found.end() if found else index + 1
        if eraser or (character == "\r" and not found):
            cursor = 0 if eraser != _TO_END else cursor
            erased = erased or (eraser is not None and cursor == 0)
            if eraser and cursor:
                written.append((here, cursor, False))
                del cells[cursor:]
        elif found:
            continue
        elif character == "\b":
            cursor = max(0, cursor - 1)
        elif character == "\t" or not _SPECIAL.match(character):
            written.append((here, cursor, cursor == len(cells)))
            if erased:
                cells, erased = [], False
            cells[cursor : cursor + 1] = [len(written) - 1]
            cursor += 1
    lowest: list[int] = [len(cells)]  # the first place that changes behind each change, from the last on
    for _, place, _ in reversed(written):
        lowest.append(min(lowest[-1], place))
    lowest.reverse()
    places: list[int | None] = [
        written[change][0] if written[change][2] and lowest[change] >= place else None
        for place, change in enumerate(cells)
    ]
    return [*places, *([end] if ended else [])]


def _leading(character: str) -> bool:
    """Whether it is a Hangul consonant that a syllable begins with."""
    return "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c"


def _jamo(character: str) -> bool:
    """Whether it is a part of a Hangul syllable."""
    return _leading(character) or "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"
