"""Where in the bytes of a line each character of its cleaned text stands."""

from __future__ import annotations

from spillstore_tools.preview.text.clean import clean, ended_by_lf
from spillstore_tools.preview.text.control import ERASE_TO_END, ERASER_OF, ESCAPES, INVALID, shows


class ByteOffsets:
    """The cleaned text of one line, and where in its bytes each character of it stands.

    Cost: a Python step for each character if the line needs cleaning, next to nothing otherwise.
    """

    def __init__(self, line: bytes, terminator: bytes = b"\n") -> None:
        line = ended_by_lf(line, terminator)
        self.text = clean(line)
        self._size = len(line)
        self._offsets: list[int | None] | None = None
        self._decoded = line.decode("utf-8", "surrogateescape")
        plain = INVALID.sub("\ufffd", self._decoded)
        if self.text not in {plain, plain[:-2] + "\n" if plain.endswith("\r\n") else plain}:
            self._offsets = _offsets_of(self._decoded)
        self._last = (0, 0)  # a character that was looked up and its byte: the next one is often near

    def divides(self, index: int) -> bool:
        """Whether a cut before character ``index`` leaves both sides as they are; never inside text that was overwritten."""
        return self._offsets is None or not 0 < index < len(self.text) or self._offsets[index] is not None

    def offset(self, index: int) -> int:
        """The byte at which character ``index`` of the text begins; ``len(text)`` is the end of the line.

        Where no cut may stand, the last byte before it at which one may.
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


def _offsets_of(decoded: str) -> list[int | None]:
    """For each character of the cleaned text its index in the decoded line; None where no cut may stand before it.

    A cut may stand where only text before it has been shown so far, and all text behind it is written behind that.
    """
    ended = decoded.endswith("\n")
    end = len(decoded) - (2 if decoded.endswith("\r\n") else ended)
    escapes = {found.start(): found for found in ESCAPES.finditer(decoded, 0, end)}
    written: list[
        tuple[int, int, bool]
    ] = []  # each change: its index, its column, whether the column was free
    cells: list[int] = []  # for each column the change that wrote it
    cursor, erased, index = 0, False, 0
    while index < end:
        found = escapes.get(index)
        eraser = ERASER_OF.get(found[0]) if found else None
        character, here, index = decoded[index], index, found.end() if found else index + 1
        if eraser or (character == "\r" and not found):
            cursor = 0 if eraser != ERASE_TO_END else cursor
            erased = erased or (eraser is not None and cursor == 0)
            if eraser and cursor:
                written.append((here, cursor, False))
                del cells[cursor:]
        elif found:
            continue
        elif character == "\b":
            cursor = max(0, cursor - 1)
        elif shows(character):
            written.append((here, cursor, cursor == len(cells)))
            if erased:
                cells, erased = [], False
            cells[cursor : cursor + 1] = [len(written) - 1]
            cursor += 1
    lowest: list[int] = [len(cells)]  # the first column that changes behind each change, from the last on
    for _, column, _ in reversed(written):
        lowest.append(min(lowest[-1], column))
    lowest.reverse()
    offsets: list[int | None] = [
        written[change][0] if written[change][2] and lowest[change] >= column else None
        for column, change in enumerate(cells)
    ]
    return [*offsets, *([end] if ended else [])]
