"""Tables: CSV and the like, and columns that are aligned with blanks. Shape, header, the first and last rows, and odd ones.

The first rows say what each column holds: numbers, one of few words, or any text. One pattern made of that goes over the
others, at the speed of the engine of patterns; rows that it does not match are odd: a number that is none, a word that stands in
no row before, a cell too many.
"""

from __future__ import annotations

import csv
import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.kinds.excerpts import WORDS, Picker, excerpts, odd_lines, rows_of
from spillstore_tools.preview.strategies.kinds.failures import are_many, strong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick
    from spillstore_tools.preview.strategies.request import Request

_SAMPLE = 100  # rows that say what the columns hold
_FEWEST = 15  # rows of a table
_ODD = 60  # odd rows that are kept
_OTHERS = 0.04  # of the rows may be odd
_FEW = 6  # different words in a column of few words
_SHARE = 0.02  # of the rows that each of them must have
_COLUMNS = 60
_BAR = "│".encode()
_RULER = re.compile(rb"(?:[ |+]*+[-=]{2}[-=+| ]*+|(?>\xe2[\x94\x95][\x80-\xbf])++)\r?\n?$")
_WORD = re.compile(rb"\S+")
_SHORT, _WORDY = 100, 3  # bytes and blanks of a cell
_BARS = {b"|": rb"[^|\n]*+", _BAR: rb"(?>[^\n\xe2]++|\xe2(?!\x94\x82))*+"}  # and what is no such sign
_BLANK = {b" ", b"\t", b""}
_ALIGNED = 0.8  # of the rows
_RULED = re.compile(rb"[-=]+")  # of a column
_NUMBER = re.compile(rb"[-+$]?\d[\d.,:]*(?:[eE][-+]?\d+)?[%KMGTB]?i?B?")
_NUMBERS = rb"[-+$]?\d[\d.,:]*(?:[eE][-+]?\d+)?[%KMGTB]?i?B?"
_BARE = re.compile(rb"[\w.%#/ ()-]+")


@dataclasses.dataclass(slots=True)
class _Column:
    """What the cells of a column are.

    Attributes:
        name: from the header, if there is one.
        kind: ``number``, ``words``, ``word`` (any, without a blank), or ``text``.
        words: the few that there are.
        empty: whether a cell may be empty.
    """

    name: bytes
    kind: str
    words: list[bytes] = dataclasses.field(default_factory=list)
    empty: bool = False

    def pattern(self, text: bytes) -> bytes:
        """A pattern of a cell; ``text`` is that of any."""
        if self.kind == "word":
            return rb"[^ \t\n]++"
        if self.kind == "text":
            return text
        inside = _NUMBERS if self.kind == "number" else rb"|".join(map(re.escape, self.words))
        return rb'"?(?:' + inside + (rb"|" if self.empty else rb"") + rb')"?'

    def __str__(self) -> str:
        name = self.name.decode(errors="replace") or "?"
        if self.kind == "words":
            return f"{name} ({'|'.join(word.decode(errors='replace') for word in self.words)})"
        return f"{name} (number)" if self.kind == "number" else name


def _column(name: bytes, cells: Sequence[bytes]) -> _Column:
    empty = not all(cells)
    full = [cell for cell in cells if cell]
    if full and sum(_NUMBER.fullmatch(cell) is not None for cell in full) >= (1 - _OTHERS) * len(full):
        return _Column(name, "number", empty=empty)
    words = Counter(full)
    frequent = [word for word, times in words.most_common() if times > max(1, _SHARE * len(full))]
    if 0 < len(frequent) <= _FEW and sum(words[word] for word in frequent) >= (1 - _OTHERS) * len(full):
        return _Column(name, "words", frequent, empty)
    return _Column(name, "text", empty=empty)


class _Form:
    """How the rows of a table are written."""

    def __init__(self, by: bytes, ruler: bytes = b"") -> None:
        self.by = by  # empty where blanks stand between columns
        starts = [found.start() for found in _RULED.finditer(ruler)]
        self.spans = list(zip(starts, [*starts[1:], None], strict=True)) if len(starts) > 1 else []

    def cells(self, line: bytes, columns: int) -> list[bytes]:
        """The cells of a row."""
        line = line.rstrip()
        if self.spans:
            return [line[low:high].strip() for low, high in self.spans]
        if not self.by:
            return line.split(None, columns - 1) if columns else line.split()
        if self.by in _BARS:
            return [
                cell.strip()
                for cell in line.strip().removeprefix(self.by).removesuffix(self.by).split(self.by)
            ]
        if b'"' in line:
            row = next(csv.reader([line.decode("latin-1")], delimiter=self.by.decode()), [])
            return [cell.encode("latin-1") for cell in row]
        return line.split(self.by)

    def aligned(self, header: bytes, lines: list[bytes]) -> bool:
        """Whether columns that blanks stand between begin or end where their names do, in nearly all lines; true of other forms."""
        if self.by or self.spans:
            return True
        places = [(found.start() - 1, found.end()) for found in _WORD.finditer(header)][1:]
        good = sum(
            all(line[low : low + 1] in _BLANK or line[high : high + 1] in _BLANK for low, high in places)
            for line in lines
        )
        return good >= _ALIGNED * len(lines)

    def within(self, line: bytes) -> bool:
        """Whether no cell of a row reaches into the next column, where a ruler says where they begin."""
        text = line.decode(errors="replace")
        return all(text[low - 1 : low].isspace() or len(text) < low for low, _ in self.spans if low)

    def row(self, columns: list[_Column]) -> bytes:
        """The pattern of a row."""
        if self.spans:  # cells may be empty, so that nothing but the place of a sign tells its column
            return rb"[^\n]+"
        if not self.by:
            cells = [column.pattern(rb"\S++") for column in columns[:-1]]
            last = columns[-1].pattern(rb"[^\n]*")
            return rb"[ \t]*+" + rb"[ \t]++".join([*cells, last]) + rb"[ \t]*+\r?"
        sign = re.escape(self.by)
        if self.by in _BARS:
            any_cell = _BARS[self.by]
            cells = [
                any_cell if column.kind == "text" else rb"[ \t]*+" + column.pattern(b"") + rb"[ \t]*+"
                for column in columns
            ]
            return rb"[ \t]*+(?:" + sign + rb")?" + sign.join(cells) + rb"(?:" + sign + rb")?[ \t]*+\r?"
        text = rb'(?:"(?>[^"\n]|"")*+"|[^"\n' + sign + rb"][^\n" + sign + rb"]*|)"
        return sign.join(column.pattern(text) for column in columns) + rb"\r?"

    def __str__(self) -> str:
        return {b",": "CSV", b"\t": "TSV", b";": "CSV with semicolons"}.get(self.by, "a table")


class Table:
    """Rows of columns."""

    def __init__(self) -> None:
        self._rows = self._others = self._beside = self._top = 0
        self._odd: list[Pick] = []
        self._picker = Picker()
        self._form: _Form | None = None
        self._columns: list[_Column] = []
        self._header = b""

    def _recognise(self, lines: list[bytes]) -> None:
        for form, header, top in _forms(lines):
            names = form.cells(header, 0) if header else []
            rows = [form.cells(line, len(names)) for line in lines[top : top + _SAMPLE] if _is_row(line)]
            rows = rows[:-1]  # which may go on
            width = len(names) or Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
            good = [row for row in rows if len(row) == width]
            if not form.aligned(header, lines[top:-1]):
                continue
            if not 1 < width <= _COLUMNS or len(good) < max(_FEWEST - 5, (1 - _OTHERS) * len(rows)):
                continue
            names = names or [b"%d" % number for number in range(1, width + 1)]
            columns = [_column(name, [row[at] for row in good]) for at, name in enumerate(names)]
            if not form.by and columns[-1].kind == "text" and not any(b" " in row[-1] for row in good):
                columns[-1].kind = "word"
            if not header and not _is_data(columns, good):
                continue  # prose and logs have commas and tabs, too
            self._form, self._top, self._columns, self._header = form, top, columns, header
            self._form_of_rows = rows_of(form.row(columns))
            sample = b"\n".join(lines[top:-1])
            while len(list(odd_lines(self._form_of_rows, sample))) > 1 + _OTHERS * len(rows):
                if not self._relaxed():
                    self._form = None
                    break
            else:
                return

    def _relaxed(self) -> bool:
        """Expect less of a column: any text where there were few words, then where there were numbers; False if nothing is left."""
        typed = {each.kind for each in self._columns} - {"text", "word"}
        if self._form is None or (len(typed) < 2 and not self._form.by):  # noqa: PLR2004  # any line would be a row
            return False
        for kind in ("word", "words", "number"):
            if any(each.kind == kind for each in self._columns):
                self._columns = [
                    dataclasses.replace(each, kind="text") if each.kind == kind else each
                    for each in self._columns
                ]
                self._form_of_rows = rows_of(self._form.row(self._columns))
                return True
        return False

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.first_line == 1 and block.long is None and block.terminator == b"\n":
            lines = block.raw.split(b"\n", _SAMPLE + 8)[: _SAMPLE + 8]
            if len(lines) > _FEWEST:
                self._recognise(lines)
        if block.long is not None or self._form is None:
            return False
        self._picker.begin(block)
        start = 0
        if block.first_line == 1:
            for _ in range(self._top):
                start = block.raw.find(b"\n", start) + 1
            self._rows -= self._top
        self._rows += block.lines
        others, beside = self._others, self._beside
        no_rows = self._look_at_others(block.raw, start)
        while self._others > 2 + _OTHERS * self._rows:
            if not self._relaxed():
                return False
            if block.first_line == 1:
                self._odd.clear()
            self._others, self._beside = others, beside
            no_rows = self._look_at_others(block.raw, start)
        self._rows -= no_rows
        return True

    def _look_at_others(self, raw: bytes, start: int) -> int:
        """Count odd rows and keep some; returns how many lines are no rows."""
        no_rows = 0
        by = self._form.by if self._form else b""
        for at in odd_lines(self._form_of_rows, raw, start, blank=True):
            line = raw[at : raw.find(b"\n", at) + 1 or len(raw)]
            if not _is_row(line) or line.removesuffix(b"\n") == self._header:
                no_rows += 1
                continue
            if by not in line:
                no_rows += 1
                self._beside += 1
            self._others += 1
            if len(self._odd) < _ODD:
                self._odd.append(self._picker.pick(at))
        return no_rows

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``. What has no header may be a log."""
        if self._form is None or not self._top or not self._form.within(line):
            return False
        return self._form_of_rows.fullmatch(line) is not None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        if self._form is None or self._rows < _FEWEST or are_many(overview, strong(overview)):
            return None  # a log has columns, too
        words = f"{self._form}: {counted(self._rows, 'row')} of {counted(len(self._columns), 'column')}"
        if self._top:
            words += ": " + listed([str(column) for column in self._columns], WORDS - 200)
        if odd := self._others - self._beside:
            words += f"; {counted(odd, 'row')} unlike the others"
        if self._beside:
            words += f"; {counted(self._beside, 'other line')}"
        return excerpts(overview, request, words, self._odd, first=self._top + 6, last=4)


def _is_data(columns: list[_Column], rows: list[list[bytes]]) -> bool:
    """Whether rows without a header are no text that has been divided: there are numbers, and other cells are short and of few words."""
    cells = [cell for row in rows for cell in row]
    short = sum(len(cell) <= _SHORT and cell.count(b" ") < _WORDY for cell in cells)
    return any(each.kind == "number" for each in columns) and short >= _ALIGNED * len(cells)


def _is_row(line: bytes) -> bool:
    return bool(line.strip()) and not _RULER.match(line)


def _forms(lines: list[bytes]) -> Iterator[tuple[_Form, bytes, int]]:
    """The forms that a table may have, with its header, if any, and how many lines stand before its rows."""
    ruler = next((at for at, line in enumerate(lines[:8]) if _RULER.match(line)), None)
    if ruler is not None:
        between = lines[ruler + 1] if ruler + 1 < len(lines) else b""
        framed = ruler == 0 and between.strip().startswith((b"|", _BAR))
        header = between if framed else lines[ruler - 1] if ruler else b""
        top = 3 if framed else ruler + 1
        sign = next((by for by in _BARS if by in b"".join(lines[top : top + 1])), b"")
        if header and sign:
            yield _Form(sign), header, top
        elif header:
            yield _Form(b"", lines[ruler]), header, top
        return
    for by in (b"\t", b",", b";", b"|"):
        counts = [line.count(by) for line in lines[:-1] if line]
        most = Counter(counts).most_common(1)
        if most and most[0][0] and most[0][1] >= 0.5 * len(counts):
            names = _Form(by).cells(lines[0], 0)
            below = [each for line in lines[1:10] for each in _Form(by).cells(line, 0)]
            is_header = all(name and not _NUMBER.fullmatch(name) and _BARE.fullmatch(name) for name in names)
            is_header = is_header and any(_NUMBER.fullmatch(cell) for cell in below)
            yield _Form(by), lines[0] if is_header else b"", int(is_header)
    words = lines[0].split()
    if (
        len(words) > 1
        and lines[0].upper() == lines[0]
        and all(re.compile(rb"[^\d]+").fullmatch(word) for word in words)
    ):
        yield _Form(b""), lines[0], 1
