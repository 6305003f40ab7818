"""What is changed in many files, a file a line: ``git diff --stat``, ``--name-status`` and ``git status --short``."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.kinds.listings import Listing

if TYPE_CHECKING:
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick

_LARGEST = 12  # files with the most changes that are shown
_STATUSES = 16  # that are told apart
_SAMPLES = 3  # lines of a status that few files have


class Stat(Listing):
    """How many lines of each file are changed."""

    FORM = rb" ((?:[^|\n ]*/)?)[^|\n]+? +\| +(?:\d|Bin|Unmerged)"
    IGNORED = rb" \d+ files? changed| (?:create|delete) mode | (?:rename|copy|rewrite|mode change) "
    GROUP_END = b""
    _NUMBER = re.compile(rb"(?m)^ [^|\n]+\| +(\d+)")
    _BINARY = re.compile(rb"(?m)^ [^|\n]+\| +(?:Bin|Unmerged)")

    def __init__(self) -> None:
        super().__init__()
        self._most: list[
            tuple[int, int, Pick]
        ] = []  # a heap: how many changes, minus the number of the line, the line
        self._binary: list[Pick] = []

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if not super().block(block):
            return False
        for found in self._NUMBER.finditer(block.raw):
            changes = int(found[1])
            if len(self._most) < _LARGEST:
                heapq.heappush(self._most, self._change(changes, found.start()))
            elif changes > self._most[0][0]:
                heapq.heapreplace(self._most, self._change(changes, found.start()))
        for found in self._BINARY.finditer(block.raw):
            if len(self._binary) == _SAMPLES:
                break
            self._binary.append(self._picker.pick(found.start()))
        return True

    def _change(self, changes: int, start: int) -> tuple[int, int, Pick]:
        pick = self._picker.pick(start)
        return changes, -pick.line.number, pick

    def _samples(self, groups: list[tuple[bytes, int]]) -> list[Pick]:  # noqa: ARG002  # of folders none is needed
        return [*self._binary, *(pick for *_, pick in sorted(self._most, reverse=True))]

    def _title(self) -> str:
        return f"changes of {counted(self._lines, 'file')}"


class Statuses(Listing):
    """The status of each file."""

    FORM = rb"(?:[ACDMRTUXB]\d{0,3}\t|(?! {2})[ MTADRCU?!]{2} )((?:[^\n\t ]*/)?)[^\n]"
    GROUP_END = b""
    _STATUS = re.compile(rb"(?m)^(?:([ACDMRTUXB])\d{0,3}\t|(?! {2})([ MTADRCU?!]{2}) )")

    def __init__(self) -> None:
        super().__init__()
        self._statuses: Counter[bytes] = Counter()
        self._first: dict[bytes, list[Pick]] = {}

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if not super().block(block):
            return False
        for found in self._STATUS.finditer(block.raw):
            status = (found[1] or found[2]).strip()
            if status not in self._first and len(self._first) == _STATUSES:
                continue
            self._statuses[status] += 1
            known = self._first.setdefault(status, [])
            if len(known) < _SAMPLES:
                known.append(self._picker.pick(found.start()))
        return True

    def _samples(self, groups: list[tuple[bytes, int]]) -> list[Pick]:  # noqa: ARG002  # likewise
        """The first lines of each status, those of the rarest first."""
        return [pick for status, _ in reversed(self._statuses.most_common()) for pick in self._first[status]]

    def _title(self) -> str:
        told = [f"{status.decode()} {count:,}" for status, count in self._statuses.most_common()]
        folders = counted(len(self._groups.counts), "folder")
        return f"statuses of {counted(self._lines, 'file')}: {listed(told, 200)}; in {folders}"
