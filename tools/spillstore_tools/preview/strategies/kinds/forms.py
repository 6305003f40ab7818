"""How the rows of a table are written: cells divided by a sign, one word each, or told by their places in the row."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.strategies.kinds.columns import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore_tools.preview.strategies.kinds.columns import Column

BAR = "│".encode()
_RULER = re.compile(rb"(?:[ |+]*+[-=]{2}[-=+| ]*+|(?>\xe2[\x94\x95][\x80-\xbf])++)\r?\n?$")
_RULED = re.compile(rb"[-=]+")  # of a column
_WORD = re.compile(r"\S+")
_BARS = {b"|": rb"[^|\n]*+", BAR: rb"(?>[^\n\xe2]++|\xe2(?!\x94\x82))*+"}  # and what is no such sign
_BARE = re.compile(rb"[\w.%#/ ()-]+")
_HEADER = re.compile(rb"[^\d\n]*[A-Za-z][^\d\n]*")
_WIDE_GAP = re.compile(rb"\S {2,}\S")
_SIGNS = (b"\t", b",", b";", b"|")  # between cells
_DECIMAL = re.compile(rb"(?>[^,]++|(?<=\d),(?=\d))*+")  # commas stand in numbers alone
_SAMPLE = 100  # rows that say where columns are
_ALIGNED, _BLANK = 0.8, 0.9  # of the rows stand below the names, and are blank between columns
_WIDEST = 2000  # bytes of a header
_BEFORE = 12  # lines that may stand before a table
_ASCII, _CHARACTER = rb"[^\n\x80-\xff]", rb"(?>[^\n\x80-\xbf][\x80-\xbf]*+)"


class Form(Protocol):
    """How rows are written.

    Attributes:
        by: the sign between cells; empty where blanks stand there.
        sure: whether hardly any line of something else can be divided so.
    """

    by: bytes
    sure: bool

    def names(self) -> list[bytes]:
        """What the header calls the columns; empty without one."""

    def readings(self, line: bytes, *, typed: bool = True) -> Iterator[list[bytes]]:
        """What the cells of a row may be, without blanks around them; what is likelier first.

        Args:
            line: the row.
            typed: whether some columns can tell whether a reading is right.
        """

    def row(self, columns: Sequence[Column]) -> bytes:
        """A pattern of rows; of those that fit some may not match, such as rows that are not aligned."""


class Divided:
    """CSV and the like."""

    sure = True

    def __init__(self, by: bytes, header: bytes) -> None:
        self.by = by
        self._header = header

    def names(self) -> list[bytes]:
        """As in ``Form``."""
        return self.cells(self._header) if self._header else []

    def cells(self, line: bytes) -> list[bytes]:
        """The cells of a row."""
        line = line.rstrip(b"\r\n")
        if b'"' in line:
            row = next(csv.reader([line.decode("latin-1")], delimiter=self.by.decode()), [])
            return [cell.strip().encode("latin-1") for cell in row]
        return [cell.strip() for cell in line.split(self.by)]

    def readings(self, line: bytes, *, typed: bool = True) -> Iterator[list[bytes]]:  # noqa: ARG002  # the interface
        """As in ``Form``."""
        yield self.cells(line)

    def row(self, columns: Sequence[Column]) -> bytes:
        """As in ``Form``."""
        sign = re.escape(self.by)
        text = rb'(?:"(?>[^"\n]|"")*+"|[^"\n' + sign + rb"][^\n" + sign + rb"]*|)"
        cells = [
            rb'[ ]*+"?' + column.pattern(b"", self.by) + rb'"?[ ]*+' if column.typed else text
            for column in columns
        ]
        return sign.join(cells) + rb"\r?"

    def __str__(self) -> str:
        return {b",": "CSV", b"\t": "TSV", b";": "CSV with semicolons"}.get(self.by, "a table")


class Barred:
    """Columns with bars between them, and perhaps at either end."""

    sure = True

    def __init__(self, by: bytes, header: bytes) -> None:
        self.by = by
        self._header = header.strip()
        self._before = self._header.startswith(by)
        self._behind = self._header.endswith(by)

    def names(self) -> list[bytes]:
        """As in ``Form``."""
        return next(self.readings(self._header))

    def readings(self, line: bytes, *, typed: bool = True) -> Iterator[list[bytes]]:  # noqa: ARG002  # the interface
        """As in ``Form``."""
        line = line.strip()
        line = line.removeprefix(self.by) if self._before else line
        line = line.removesuffix(self.by) if self._behind else line
        yield [cell.strip() for cell in line.split(self.by)]

    def row(self, columns: Sequence[Column]) -> bytes:
        """As in ``Form``."""
        sign, any_cell = re.escape(self.by), _BARS[self.by]
        cells = [
            rb"[ \t]*+" + column.pattern(b"") + rb"[ \t]*+" if column.typed else any_cell
            for column in columns
        ]
        before, behind = (sign if there else b"" for there in (self._before, self._behind))
        return rb"[ \t]*+" + before + sign.join(cells) + behind + rb"[ \t]*+\r?"

    def __str__(self) -> str:
        return "a table"


class Words:
    """Columns with blanks between them, each cell a word."""

    by = b""
    sure = False

    def __init__(self, names: list[bytes]) -> None:
        self._names = names

    def names(self) -> list[bytes]:
        """As in ``Form``."""
        return self._names

    def readings(self, line: bytes, *, typed: bool = True) -> Iterator[list[bytes]]:  # noqa: ARG002  # the interface
        """As in ``Form``."""
        cells = line.split()
        if len(cells) == len(self._names):
            yield cells

    def row(self, columns: Sequence[Column]) -> bytes:
        """As in ``Form``."""
        cells = [column.pattern(rb"[^ \t\n]++") for column in columns]
        return rb"[ \t]*+" + rb"[ \t]++".join(cells) + rb"[ \t]*+\r?"

    def __str__(self) -> str:
        return "a table"


class Places:
    """Columns that are aligned, whose cells may be empty or of several words.

    Args:
        header: the line with their names.
        borders: how many characters stand before the blank in front of each column but the first.
        plain: whether characters are bytes in nearly all rows.
        sure: whether a ruler says where columns are.
    """

    by = b""

    def __init__(self, header: bytes, borders: list[int], *, plain: bool, sure: bool = False) -> None:
        self.sure = sure
        self._borders = borders
        self._spans = list(pairwise([-1, *borders]))
        self._sign = _ASCII if plain else _CHARACTER
        names = self._cells(header.decode(errors="replace").rstrip())
        self._names = [b" ".join(name.split()) for name in names]

    def names(self) -> list[bytes]:
        """As in ``Form``."""
        return self._names

    def _cells(self, text: str) -> list[bytes]:
        cells = [text[low + 1 : high] for low, high in self._spans]
        return [cell.strip().encode() for cell in (*cells, text[self._borders[-1] + 1 :])]

    def readings(self, line: bytes, *, typed: bool = True) -> Iterator[list[bytes]]:
        """As in ``Form``: by places, and by words where a wide cell has pushed the others aside."""
        text = line.decode(errors="replace").rstrip()
        if all(text[at : at + 1] in ("", " ") for at in self._borders):
            yield self._cells(text)
        words = line.split(None, len(self._borders)) if typed else []
        if len(words) == len(self._names):
            yield [word.strip() for word in words]

    def row(self, columns: Sequence[Column]) -> bytes:
        """As in ``Form``."""
        cells = [
            each.padded(high - low - 1, self._sign)
            for each, (low, high) in zip(columns, self._spans, strict=False)
        ]
        last = columns[-1]
        end = (
            rb"[ ]*+" + last.pattern(rb"[^ \n][^\n]*+")
            if last.kind != "text" or not last.empty
            else rb"[^\n]*+"
        )
        if not last.empty:
            return rb" ".join([*cells, end]) + rb"[ \t]*+\r?"
        return rb" ".join(cells) + rb"(?: " + end + rb")?[ \t]*+\r?"

    def __str__(self) -> str:
        return "a table"


def is_ruler(line: bytes) -> bool:
    """Whether a line is drawn above, below or between rows."""
    return _RULER.match(line) is not None


def forms(lines: list[bytes]) -> Iterator[tuple[Form, bytes, int]]:
    """The forms that a table may have, each with its header, if any, and how many lines stand before its rows.

    Args:
        lines: the first ones of an output, of which the last may go on.
    """
    rulers = [at for at, line in enumerate(lines[:_BEFORE]) if is_ruler(line)]
    for ruler in rulers:
        yield from _ruled(lines, ruler)
    if not rulers:
        yield from _divided(lines)
    for at, line in enumerate(lines[:_BEFORE]):
        told_apart = (at == 0 and line.upper() == line) or _WIDE_GAP.search(line.strip())
        if told_apart and len(line.split()) > 1 and _HEADER.fullmatch(line):
            yield from _aligned(line, lines[at + 1 : -1], at + 1)


def _ruled(lines: list[bytes], ruler: int) -> Iterator[tuple[Form, bytes, int]]:
    """Where a ruler stands below the names, or on either side of them."""
    between, below = (lines[at] if at < len(lines) else b"" for at in (ruler + 1, ruler + 2))
    framed = is_ruler(below) and not is_ruler(between) and bool(between.strip())
    header = between if framed else lines[ruler - 1] if ruler else b""
    top = ruler + 3 if framed else ruler + 1
    if not header.strip() or is_ruler(header):
        return
    first = b"".join(lines[top : top + 1])
    sign = next((by for by in _BARS if by in header and by in first), b"")
    if sign:
        yield Barred(sign, header), header, top
        return
    starts = [found.start() for found in _RULED.finditer(lines[ruler])]
    if len(starts) > 1:
        plain = all(line.isascii() for line in lines)
        yield Places(header, [start - 1 for start in starts[1:]], plain=plain, sure=True), header, top
    elif _WIDE_GAP.search(header.strip()):  # else it is a title
        yield from _aligned(header, lines[top:-1], top)


def _divided(lines: list[bytes]) -> Iterator[tuple[Form, bytes, int]]:
    for by in sorted(_SIGNS, key=lambda by: _strays(lines[:-1], by)):  # of those that divide alike the first
        counts = [line.count(by) for line in lines[:-1] if line]
        most = Counter(counts).most_common(1)
        if most and most[0][0] and most[0][1] >= 0.5 * len(counts):
            form = Divided(by, lines[0])
            below = [cell for line in lines[1:10] for cell in form.cells(line)]
            is_header = all(name and not is_number(name) and _BARE.fullmatch(name) for name in form.names())
            if is_header and any(map(is_number, below)):
                yield form, lines[0], 1
            else:
                yield Divided(by, b""), b"", 0


def _strays(lines: list[bytes], by: bytes) -> int:
    """How little a sign is the one between cells: 0 where the first line has as many as most, 1 where it has not, 2 where all may be in numbers."""
    if by == b"," and any(b";" in line for line in lines) and all(map(_DECIMAL.fullmatch, lines)):
        return 2
    most = Counter(line.count(by) for line in lines if line).most_common(1)
    return int(not most or lines[0].count(by) != most[0][0])


def _aligned(header: bytes, lines: list[bytes], top: int) -> Iterator[tuple[Form, bytes, int]]:
    """Columns below names that blanks stand between."""
    rows = [line for line in lines if line.strip() and not is_ruler(line)][:_SAMPLE]
    if not rows or len(header) > _WIDEST:
        return
    text = header.decode(errors="replace").rstrip()
    below = [row.decode(errors="replace").rstrip() for row in rows]
    names = [found.span() for found in _WORD.finditer(text)]
    if of_words := _names_of_words(text, names, below):
        yield Words(of_words), header, top
    borders = _borders(names, below)
    if borders:
        yield Places(header, borders, plain=all(map(bytes.isascii, rows))), header, top


def _names_of_words(header: str, names: list[tuple[int, int]], rows: list[str]) -> list[bytes]:
    """The names of columns each cell of which is one word; none if some columns have no name above them."""
    spans = [[found.span() for found in _WORD.finditer(row)] for row in rows]
    width = Counter(map(len, spans)).most_common(1)[0][0]
    spans = [each for each in spans if len(each) == width]
    if not 1 < width <= len(names) or len(spans) < _BLANK * len(rows):
        return []
    below = [Counter(_below(name, each) for each in spans) for name in names]
    places = [0]
    for counts in below[1:]:
        counts.pop(-1, None)
        most = max(counts, key=lambda at: (counts[at], -at), default=-1)
        places.append(most if most > places[-1] and counts[most] >= _ALIGNED * len(spans) else places[-1])
    if below[0][0] < _ALIGNED * len(spans) or sorted(set(places)) != list(range(width)):
        return []
    first = [places.index(at) for at in range(width)]
    starts = [names[at][0] for at in first]
    return [header[low:high].strip().encode() for low, high in pairwise([*starts, len(header)])]


def _below(name: tuple[int, int], cells: list[tuple[int, int]]) -> int:
    """Which of the cells stands below a name; -1 if none does."""
    return next((at for at, (low, high) in enumerate(cells) if low < name[1] and name[0] < high), -1)


def _borders(names: list[tuple[int, int]], rows: list[str]) -> list[int]:
    """The last blank place between columns, for each but the first; names without one between them are one name."""
    borders: list[int] = []
    gaps: list[int] = []
    ends = [0, *(end for _, end in names)]
    for low, (high, _) in zip(ends, names, strict=False):
        places = [at for at in range(low, high) if _blank(rows, at) >= _BLANK * len(rows)]
        wide = [at for at in places if at - 1 in places]
        if places:
            borders.append((wide or places)[-1])
            gaps.append(high - low)
    if names[0][0] and borders and borders[0] < names[0][0]:
        filled = sum(bool(row[: borders[0]].strip()) for row in rows)
        if filled < _BLANK * len(rows):  # else numbers of rows stand there, without a name
            del borders[0], gaps[0]
    at = 0
    while at < len(borders):  # where nothing stands below the next word of a name, that is no column
        left, right = borders[at - 1] if at else -1, borders[at + 1] if at + 1 < len(borders) else None
        if gaps[at] == 1 and (_empty(rows, left, borders[at]) or _empty(rows, borders[at], right)):
            del borders[at], gaps[at]
        else:
            at += 1
    return borders


def _blank(rows: list[str], at: int) -> int:
    return sum(row[at : at + 1] in ("", " ") for row in rows)


def _empty(rows: list[str], low: int, high: int | None) -> bool:
    return not any(row[low + 1 : high].strip() for row in rows)
