"""Listings: paths of files (``find``), matches in files (``grep -rn``), and folders told entry by entry (``ls -lR``).

Names are counted by folder or file, and of the largest ones the first line of each is shown.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.kinds.excerpts import (
    WORDS,
    Picker,
    distinct,
    excerpts,
    odd_lines,
    rows_of,
)

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick
    from spillstore_tools.preview.strategies.request import Request

_FEWEST = 20  # lines of a listing
OTHERS = 0.1  # of all lines may be other ones
_NAMES = 4096  # folders that are counted apart; beyond, a folder counts for the one that it is in
_SAMPLES = 200  # groups of which the first line is kept
_ODD = 40  # other lines that are kept
_SHOWN = 12  # groups of which the first line is shown
_MANY = 48  # groups that are told apart
_WORDS = WORDS - 200
_GROUP = re.compile(rb"(?<!\\)\((?!\?)")


class Groups:
    """How many lines there are of each group, and the first line of some."""

    def __init__(self) -> None:
        self.counts: Counter[bytes] = Counter()
        self.samples: dict[bytes, Pick] = {}
        self._depth = 64  # parts of a path that are told apart

    def add(self, names: list[bytes]) -> list[bytes]:
        """Count names; returns those that are new and whose first line is wanted."""
        new: list[bytes] = []
        found = Counter(names)
        if len(self.samples) < _SAMPLES:
            new = [name for name in found if name not in self.samples][: _SAMPLES - len(self.samples)]
        for name, count in found.items():
            self.counts[self._short(name)] += count
        while len(self.counts) > _NAMES and self._depth > 1:
            self._depth //= 2
            shorter: Counter[bytes] = Counter()
            for name, count in self.counts.items():
                shorter[self._short(name)] += count
            self.counts = shorter
        return new

    def _short(self, name: bytes) -> bytes:
        return b"/".join(name.split(b"/", self._depth)[: self._depth])

    def largest(self) -> list[tuple[bytes, int]]:
        """The folders as deep as there are few of them, the largest first."""
        paths = [name.split(b"/") for name in self.counts]
        deepest = max(map(len, paths), default=1)
        depth = 1
        while depth < deepest:
            below = len({b"/".join(path[: depth + 1]) for path in paths})
            if below > (_MANY if len({b"/".join(path[:depth]) for path in paths}) > 1 else _NAMES):
                break
            depth += 1
        totals: Counter[bytes] = Counter()
        for path, count in zip(paths, self.counts.values(), strict=True):
            totals[b"/".join(path[:depth])] += count
        return sorted(totals.items(), key=lambda each: (-each[1], each[0]))

    def first_of(self, groups: list[tuple[bytes, int]]) -> list[Pick]:
        """The first line of each of the largest groups."""
        found: dict[bytes, Pick] = {}
        for name, pick in self.samples.items():
            for group, _ in groups[:_SHOWN]:
                if name == group or name.startswith(group + b"/"):
                    found.setdefault(group, pick)
        return list(found.values())


class Listing:
    """Lines of which nearly all have one form."""

    FORM: ClassVar[bytes]  # of a line, the group in ``FORM``'s first group
    NOT: ClassVar[bytes] = rb"(?!)"  # a form of lines of something else
    IGNORED: ClassVar[bytes] = rb"(?!)"  # a form of lines that do not count
    BELOW: ClassVar[bytes] = b""  # a form of the lines that belong to one
    GROUP_END: ClassVar[bytes]  # what stands behind a group's name in its lines

    def __init__(self) -> None:
        self._form = re.compile(rb"(?m)^" + self.FORM + rb"[^\n]*\n?")
        rows = self.FORM + rb"[^\n]*" + self.BELOW + rb"|(?:" + self.IGNORED + rb")[^\n]*"
        self._rows = rows_of(_GROUP.sub(rb"(?:", rows))  # groups in what is possessive fail in Python 3.11
        self._picker = Picker()
        self._groups = Groups()
        self._odd: list[Pick] = []
        self._lines = self._others = 0

    def _is_other(self, raw: bytes) -> bool:
        return 2 * len(re.compile(rb"(?m)^(?:" + self.NOT + rb")").findall(raw)) > raw.count(b"\n")

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.long is not None or block.terminator != b"\n":
            return False
        if block.first_line == 1 and self._is_other(block.raw):
            return False
        self._picker.begin(block)
        raw = block.raw
        names = self._form.findall(raw)
        self._lines += len(names)
        whole = b"\n" + raw
        for name in self._groups.add(names):
            at = whole.find(b"\n" + name + self.GROUP_END)
            if at >= 0:
                self._groups.samples[name] = self._picker.pick(at)
        if len(names) < block.lines:
            self._look_at_others(raw, self._goes_on(block))
        return self._others <= 1 + OTHERS * self._lines

    def _goes_on(self, block: Block) -> int:
        """The bytes at the beginning of a block that belong to the last line of the block before."""
        found = re.compile(self.BELOW).match(b"\n" + block.raw) if block.first_line > 1 else None
        return max(0, found.end() - 1) if found else 0

    def _look_at_others(self, raw: bytes, start: int = 0) -> None:
        for at in odd_lines(self._rows, raw, start):
            self._others += 1
            if len(self._odd) < _ODD:
                self._odd.append(self._picker.pick(at))

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``."""
        return self._form.match(line) is not None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        if self._lines < _FEWEST:
            return None
        largest = self._groups.largest()
        names = [f"{name.decode(errors='replace') or '/'} {count:,}" for name, count in largest]
        words = f"{self._title()}: {listed(names, _WORDS)}"
        if self._others:
            words += f"; {counted(self._others, 'other line')}"
        picks = [*distinct(self._odd), *self._samples(largest)]
        return excerpts(overview, request, words, picks)

    def _samples(self, groups: list[tuple[bytes, int]]) -> list[Pick]:
        """Lines that are shown of all."""
        return self._groups.first_of(groups)

    def _title(self) -> str:
        raise NotImplementedError  # each listing has its own


class Paths(Listing):
    """Paths of files, one a line."""

    FORM = rb"(?=[^\n])((?:[^\n:]*/)?)[^\n:/]*+(?::\d+)?(?=\n|\Z)"
    GROUP_END = b""
    _NAME = re.compile(rb"[^\s:]*/|[^\s:]+\s*$")

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``; a blank before the first folder is none of a name."""
        return self._NAME.match(line) is not None and super().is_row(line)

    def _is_other(self, raw: bytes) -> bool:
        """Whether few lines are in a folder, or many have blanks."""
        lines = raw.count(b"\n")
        inside = len(re.compile(rb"(?m)^[^\n ]*/").findall(raw))
        blanks = len(re.compile(rb"(?m)^[^\n]* ").findall(raw))
        return inside < 0.9 * lines or blanks > 0.1 * lines

    def _title(self) -> str:
        return f"{counted(self._lines, 'path')} in {counted(len(self._groups.counts), 'folder')}"


class Matches(Listing):
    """Matches of a search in files: ``FILE:LINE:TEXT``."""

    FORM = rb"([^\s:]+):\d+[:-]"
    NOT = rb"[^\s:/.]+:|[^\s:]*:\d+:(?:\d+:)? *(?:(?i:error|warning|note|info)\b|[A-Z]{1,4}\d{2,}|[A-Z]\w*(?:Warning|Error):)"
    IGNORED = rb"(?:grep: |rg: |Binary file )[^\n]* match"
    GROUP_END = b":"

    def _title(self) -> str:
        return f"{self._lines:,} matches in {counted(len(self._groups.counts), 'file')}"


class LongListing:
    """Folders, each with its entries told by mode, owner, size and time."""

    _HEADING = b":\ntotal "
    _ENTRY = re.compile(rb"(?m)^([-dlbcps])[rwxsStT-]{9}[^\n]*\n?")
    _ROWS = rows_of(rb"[-dlbcps][rwxsStT-]{9}[^\n]*|total \d[^\n]*|\S[^\n]*:|")
    _KINDS: ClassVar[dict[bytes, str]] = {b"-": "file", b"d": "folder", b"l": "link"}

    def __init__(self) -> None:
        self._folder = b"."
        self._folders: Counter[bytes] = Counter()
        self._kinds: Counter[bytes] = Counter()
        self._picker = Picker()
        self._odd: list[Pick] = []
        self._headings: list[Pick] = []
        self._others = 0

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.long is not None or block.terminator != b"\n":
            return False
        self._picker.begin(block)
        raw, at = block.raw, 0
        while (end := raw.find(self._HEADING, at)) >= 0:
            start = raw.rfind(b"\n", at, end) + 1
            self._count(raw[at:start])
            self._folder, at = raw[start:end], end + 1
            if len(self._headings) < _SAMPLES:
                self._headings.append(self._picker.pick(start))
        self._count(raw[at:])
        for other in odd_lines(self._ROWS, raw):
            self._others += 1
            if len(self._odd) < _ODD:
                self._odd.append(self._picker.pick(other))
        return self._others <= 1 + OTHERS * sum(self._kinds.values())

    def _count(self, raw: bytes) -> None:
        found = self._ENTRY.findall(raw)
        self._kinds.update(found)
        if raw and (len(self._folders) < _NAMES or self._folder in self._folders):
            self._folders[self._folder] += len(found)

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``."""
        return self._ROWS.fullmatch(line) is not None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        entries = sum(self._kinds.values())
        if entries < _FEWEST:
            return None
        told = [counted(self._kinds[key], name) for key, name in self._KINDS.items() if self._kinds[key]]
        words = f"listing of {', '.join(told)}"
        folders = sorted(self._folders.items(), key=lambda each: (-each[1], each[0]))
        if len(folders) > 1:
            names = [f"{name.decode(errors='replace')} {count:,}" for name, count in folders]
            words += f" in {counted(len(folders), 'folder')}: {listed(names, _WORDS)}"
        if self._others:
            words += f"; {counted(self._others, 'other line')}"
        few = self._headings[:: max(1, len(self._headings) // _SHOWN)]
        return excerpts(overview, request, words, [*distinct(self._odd), *few], first=12)
