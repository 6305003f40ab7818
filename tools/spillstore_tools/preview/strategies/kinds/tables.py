"""Tables: CSV and the like, and columns that are aligned with blanks. Shape, header, the first and last rows, and odd ones.

The first rows say what each column holds: numbers, one of few words, phrases that differ in their digits, or any text. One pattern made of that goes over the
others, at the speed of the engine of patterns; the cells of a row that it does not match are looked at one by one. A row is odd
for a number that is none, a word that stands in no row before, a cell too many. At most three numbers of a column that have more or
fewer digits than all others are shown, too.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.kinds.columns import OTHERS, column
from spillstore_tools.preview.strategies.kinds.excerpts import WORDS, Picker, excerpts, odd_lines, rows_of
from spillstore_tools.preview.strategies.kinds.failures import are_many, strong
from spillstore_tools.preview.strategies.kinds.forms import forms, is_ruler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.kinds.columns import Column
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick
    from spillstore_tools.preview.strategies.kinds.forms import Form
    from spillstore_tools.preview.strategies.request import Request

_SAMPLE = 100  # rows that say what the columns hold
_HELD = 120  # lines that are looked at for that
_FEWEST = 15  # rows of a table
_ODD = 60  # odd rows that are kept
_UNUSUAL = 3  # numbers of a column that have other sizes than all others
_COLUMNS = 60
_SEVERAL = 3  # columns
_SHORT, _WORDY = 100, 3  # bytes and blanks of a cell
_SHARE = 0.8  # of the cells
_NO_CELLS = -1  # in the place of a column: the line cannot be divided into so many cells


class _Odd(NamedTuple):
    """A row that is unlike the others, and the column that makes it so."""

    pick: Pick
    column: int


class Table:
    """Rows of columns."""

    def __init__(self) -> None:
        self._rows = self._beside = self._top = 0
        self._over_lines = False  # a line has a part of a cell in quotes, whose rest is in others
        self._blamed: Counter[int] = Counter()  # odd rows by column
        self._odd: list[_Odd] = []
        self._unusual: dict[int, list[Pick]] = {}
        self._picker = Picker()
        self._form: Form | None = None
        self._columns: list[Column] = []
        self._header = b""

    def _recognise(self, lines: list[bytes]) -> None:
        for form, header, top in forms(lines):
            names = form.names()
            rows = [line for line in lines[top : top + _SAMPLE] if _is_row(line)]
            rows = rows[:-1]  # which may go on
            read = [next(form.readings(line), []) for line in rows]
            width = len(names) or Counter(map(len, read)).most_common(1)[0][0] if rows else 0
            good = [row for row in read if len(row) == width]
            if not 1 < width <= _COLUMNS or len(good) < max(_FEWEST - 5, (1 - OTHERS) * len(rows)):
                continue
            names = names or [b"%d" % number for number in range(1, width + 1)]
            self._columns = [column(name, [row[at] for row in good]) for at, name in enumerate(names)]
            self._form, self._top, self._header = form, top, header
            last = self._columns[-1]
            if last.kind == "phrases":
                last.relax()  # what stands there is a description, which may say anything
            if not form.by and last.kind == "text" and not any(b" " in row[-1] for row in good):
                last.kind = "word"
            if not header and not _is_data(self._columns, good):
                continue  # prose and logs have commas and tabs, too
            if not form.by and not _is_header(header, lines[top - 1], self._columns):
                continue
            if self._bears_out(rows):
                self._form_of_rows = rows_of(form.row(self._columns))
                return
        self._form = None

    def _bears_out(self, rows: Sequence[bytes]) -> bool:
        """Whether hardly any of the first rows is odd, perhaps once less is expected of some columns."""
        while True:
            blamed = Counter(found for row in rows if (found := self._misfit(row)) is not None)
            if blamed.total() <= 1 + OTHERS * len(rows):
                return self._tells()
            if self._relaxed(blamed, 1 + OTHERS * len(rows)) is None:
                return False

    def _tells(self) -> bool:
        """Whether not every line with blanks would be a row."""
        return bool(self._form and self._form.sure) or self._typed()

    def _typed(self) -> bool:
        return any(each.typed for each in self._columns)

    def _relaxed(self, blamed: Counter[int], most: float) -> int | None:
        """Expect any text of the column that most rows are odd for; its number, or None if nothing is left to expect."""
        worst = max(blamed, key=lambda at: (at != _NO_CELLS, blamed[at], -at))
        if worst == _NO_CELLS or blamed[_NO_CELLS] > most:
            return None
        self._columns[worst].relax()
        return worst if self._tells() else None

    def _misfit(self, line: bytes) -> int | None:
        """The column that makes a row an odd one; None for a row that is none."""
        assert self._form is not None  # the callers asked
        first = None
        for cells in self._form.readings(line, typed=self._typed()):
            if len(cells) != len(self._columns):
                continue
            pairs = enumerate(zip(self._columns, cells, strict=True))
            misfit = next((at for at, (each, cell) in pairs if not each.fits(cell)), None)
            if misfit is None:
                return None
            first = misfit if first is None else first
        return _NO_CELLS if first is None else first

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.first_line == 1 and block.long is None and block.terminator == b"\n":
            lines = block.raw.split(b"\n", _HELD)[:_HELD]
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
        return self._look_at_others(block.raw, start)

    def _look_at_others(self, raw: bytes, start: int) -> bool:
        """Look at rows that the pattern does not match; whether they are few enough."""
        while start < len(raw):
            for at in odd_lines(self._form_of_rows, raw, start, blank=True):
                start = raw.find(b"\n", at) + 1 or len(raw)
                changed = self._look_at(raw[at:start], at)
                if changed is None:
                    return False
                if changed:
                    break
            else:
                return True
            assert self._form is not None  # as above
            self._form_of_rows = rows_of(self._form.row(self._columns))
        return True

    def _look_at(self, line: bytes, at: int) -> bool | None:
        """Count a line if it is an odd row; whether less is expected of a column now, and None where nothing is left to expect."""
        assert self._form is not None  # the caller asked
        if not _is_row(line) or line.removesuffix(b"\n") == self._header:
            self._rows -= 1
            return False
        misfit = self._misfit(line)
        if misfit is None:
            return self._look_at_numbers(line, at)
        if self._form.by not in line:
            self._rows -= 1
            self._beside += 1
        self._over_lines |= self._form.by != b"" and line.count(b'"') % 2 == 1
        self._blamed[misfit] += 1
        if len(self._odd) < _ODD:
            self._odd.append(_Odd(self._picker.pick(at), misfit))
        most = 2 + OTHERS * self._rows
        changed = False
        while self._blamed.total() > most:
            relaxed = self._relaxed(self._blamed, most)
            if relaxed is None:
                return None
            del self._blamed[relaxed]
            self._odd = [each for each in self._odd if each.column != relaxed]
            self._unusual.pop(relaxed, None)
            changed = True
        return changed

    def _look_at_numbers(self, line: bytes, at: int) -> bool:
        """Keep a row for its number of an unusual size; whether a column has too many of them."""
        assert self._form is not None  # as above
        cells = next(self._form.readings(line))
        changed = False
        for number, (each, cell) in enumerate(zip(self._columns, cells, strict=False)):
            if each.is_unusual(cell):
                kept = self._unusual.setdefault(number, [])
                kept.append(self._picker.pick(at))
                if len(kept) > _UNUSUAL:
                    each.digits, changed = None, True
                    kept.clear()
        return changed

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``. What has no header may be a log."""
        if self._form is None or not self._top or not _is_row(line):
            return False
        return self._misfit(line) is None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        if self._form is None or self._rows < _FEWEST or are_many(overview, strong(overview)):
            return None  # a log has columns, too
        row = "line" if self._over_lines else "row"
        words = f"{self._form}: {counted(self._rows, row)} of {counted(len(self._columns), 'column')}"
        if self._top:
            words += ": " + listed([str(column) for column in self._columns], WORDS - 200)
        if odd := self._blamed.total() - self._beside:
            words += f"; {counted(odd, row)} unlike the others"
        unusual = {pick.line.number: pick for picks in self._unusual.values() for pick in picks}
        if unusual:
            words += f"; {counted(len(unusual), row)} with a number of more or fewer digits than in others"
        if self._beside:
            words += f"; {counted(self._beside, 'other line')}"
        if self._over_lines:
            words += "; cells go over several lines"
        picks = [*(each.pick for each in self._odd), *unusual.values()]
        return excerpts(overview, request, words, picks, first=self._top + 6, last=4)


def _is_data(columns: list[Column], rows: list[list[bytes]]) -> bool:
    """Whether rows without a header are no text that has been divided: there are numbers, and other cells are short and of few words."""
    cells = [cell for row in rows for cell in row]
    short = sum(len(cell) <= _SHORT and cell.count(b" ") < _WORDY for cell in cells)
    return any(each.kind == "number" for each in columns) and short >= _SHARE * len(cells)


def _is_header(header: bytes, above: bytes, columns: Sequence[Column]) -> bool:
    """Whether names with blanks between them are no prose: in capitals, above a ruler, or above numbers.

    Args:
        header: the line of the names.
        above: the line above the first row.
        columns: below the names.
    """
    numbers = any(each.kind == "number" for each in columns)
    return header.upper() == header or is_ruler(above) or (len(columns) >= _SEVERAL and numbers)


def _is_row(line: bytes) -> bool:
    return bool(line.strip()) and not is_ruler(line)
