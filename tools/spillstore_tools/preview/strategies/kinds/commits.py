"""Histories: ``git log``, in full or a commit a line. How many, from when to when, by whom; then what each says it does."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.parts import Note
from spillstore_tools.preview.strategies.kinds.excerpts import excerpts, odd_lines, rows_of

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request

_COMMIT = re.compile(
    rb"(?m)^commit ([0-9a-f]{7,64})[^\n]*\n(?:(?!Author:|Date:)\w+:[^\n]*\n)*Author: *([^<\n]*)[^\n]*\n(?:Date: *([^\n]*)\n)?\n?(?: +([^\n]*))?"
)
_PATCH = re.compile(rb"(?m)^(?:diff --git |@@ -)")
_LINES = rows_of(rb"(?:commit [0-9a-f]|[A-Z]\w+:| )[^\n]*|")
# A commit a line: what stands behind the id is prose, no path, time, level, number or table.
_SUBJECT = rb"(?![ \t*/.\d\[]|[^\n]*(?:\t| {3})|\S*(?:\d:\d\d|=)|(?:\S+ )?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|[A-Z]{3,7} /)[^\n]+"
_ONE_LINE = rows_of(rb"(?:[*|/\\ ]+ )?[0-9a-f]{7,64} " + _SUBJECT + rb"|[*|/\\_ ]+")
_ID = re.compile(rb"(?m)^(?:[*|/\\ ]+ )?([0-9a-f]{7,64}) (?:\([^\n)]*\) )?(\S+ ?)")
_LENGTHS = 3  # of ids in one history: short ones grow with it
_PLAIN = 0.9  # of the ids have letters, and digits; of the subjects words
_RISING = (0.2, 0.8)  # which share of ids is larger than the one before
_ROW = re.compile(rb"\s|commit [0-9a-f]|(?:Author|Commit|Merge|Date)\w*:")
_AUTHORS = 1024  # that are counted
_SUBJECTS = 200  # that are kept
_SHARE = 0.4  # of the room, for subjects
_WORDS = 300  # code points of authors
_FEWEST = 10
_LEAST = 0.95  # of the lines have the form


class Commits:
    """Commits with author, date and message; those with patches are diffs."""

    def __init__(self) -> None:
        self._count = 0
        self._authors: Counter[bytes] = Counter()
        self._dates: list[bytes] = []  # the first and the last
        self._subjects: list[bytes] = []

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.long is not None or _PATCH.search(block.raw):
            return False
        if sum(1 for _ in odd_lines(_LINES, block.raw)) > (1 - _LEAST) * block.lines:
            return False
        for commit, author, date, subject in _COMMIT.findall(block.raw):
            self._count += 1
            if author in self._authors or len(self._authors) < _AUTHORS:
                self._authors[author.strip()] += 1
            if date:
                self._dates[1:] = [date]
            if len(self._subjects) < _SUBJECTS:
                self._subjects.append(commit[:9] + b" " + subject.strip())
        return self._count > 0

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``."""
        return _ROW.match(line) is not None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        if self._count < _FEWEST:
            return None
        names = [f"{name.decode(errors='replace')} {count:,}" for name, count in self._authors.most_common()]
        dates = " back to ".join(date.decode(errors="replace") for date in self._dates)
        words = f"{counted(self._count, 'commit')}, {dates}; by {listed(names, _WORDS)}"
        room, subjects, shown = int(_SHARE * request.limit), "", 0
        for subject in self._subjects:
            line = f"  {subject.decode(errors='replace')[:_WORDS]}\n"
            if len(subjects) + len(line) > room:
                break
            subjects += line
            shown += 1
        if shown < self._count:
            subjects += f"  and {self._count - shown} more\n"
        told = Note(f"[subjects:\n{subjects}]\n")
        small = request.smaller(len(told.text))
        parts = excerpts(overview, small, words, [], first=14, last=8)
        return [parts[0], told, *parts[1:]]


class OneLine:
    """Commits, one a line."""

    def __init__(self) -> None:
        self._all = self._lines = self._count = self._rising = self._lettered = self._numbered = (
            self._said
        ) = 0
        self._lengths: set[int] = set()
        self._last = b""

    def block(self, block: Block) -> bool:
        """As in ``Kind``; ids are told apart from other hexadecimal numbers."""
        if block.long is not None:
            return False
        found = _ID.findall(block.raw)
        ids = [each for each, _ in found]
        self._lines += block.lines - sum(1 for _ in odd_lines(_ONE_LINE, block.raw))
        self._all += block.lines
        self._count += len(ids)
        self._lengths.update(map(len, ids))
        self._rising += sum(low < high for low, high in pairwise([self._last, *ids]))
        self._lettered += sum(not each.isdigit() for each in ids)
        self._numbered += sum(not each.isalpha() for each in ids)
        self._said += sum(word.endswith(b" ") for _, word in found)
        self._last = ids[-1] if ids else self._last
        return (
            len(set(ids)) == len(ids)
            and self._lines >= _LEAST * self._all
            and max(self._lengths, default=0) - min(self._lengths, default=0) < _LENGTHS
        )

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``."""
        return _ID.match(line) is not None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        low, high = (share * self._count for share in _RISING)
        plain = min(self._lettered, self._numbered, self._said)
        if self._count < _FEWEST or plain < _PLAIN * self._count - 1 or not low <= self._rising <= high:
            return None
        words = f"{counted(self._count, 'commit')}, one a line"
        return excerpts(overview, request, words, [], first=40, last=5)
