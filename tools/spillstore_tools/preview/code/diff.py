"""Diffs cut between hunks: the headers of the first and last files stay, and with them as many whole hunks as fit.

Only the unified format, that of ``git diff``, ``git show``, ``git log -p``, ``format-patch``, ``svn diff`` and
``diff -ru``. The counts of a hunk's header say where it ends, so that a removed line ``-- x`` is not taken for a
file's header. Files rank from both ends, two of the first for each of the last. Of each kept file the first hunks
stay and the rest is one gap, which joins that of the files left out behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted
from spillstore_tools.preview.code.omissions import MARKER, TextLines, omission, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.structured.cuts import TextCut

_FIRST, _LAST = 10, 5  # files, where not all headers fit
_HEADERS_SHARE = 0.5  # of the room, that headers of all files may take
_LEAD_SHARE = 0.12  # of the room, for text before a file (a commit's message) and behind the last
_INSIDE_SHARE = 0.12  # of the room left over, from which on a hunk is cut inside
_MOSTLY = 0.8  # of the lines of a diff, at least, are headers and hunks
_FEW = 10  # lines more may be others
_MESSAGE = 200  # lines of a commit's message
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_MERGED = re.compile(r"@@@+ (?:-\d+(?:,\d+)? ){2,}\+\d+(?:,\d+)? @@@+")
_START = re.compile(r"diff --(?:git|cc|combined) |diff (?:-\w+ )+|Index: \S")
_EXTENDED = re.compile(
    r"(?:index [0-9a-f]|(?:old|new|deleted file|new file) mode|copy |rename |(?:dis)?similarity |Binary files |={20}"
    r"|--- |\+\+\+ |mode )"
)
_BINARY = re.compile(r"(?:[A-Za-z][!-~]{5,}|(?:literal|delta) \d+)?$")
_NAMES = re.compile(r"diff --(?:cc|combined) (.+)|Index: (.+)|\+\+\+ (?:b/)?([^\t]+)")
_MARK = re.compile(r"^(?:diff \S+ |--- )(?:a/)?")
_GIT = "diff --git "
_COMMIT = re.compile(r"commit [0-9a-f]{40}|From [0-9a-f]{40} |# HG changeset")


@dataclass(slots=True)
class File:
    """One file's lines: text before it, its header, its hunks; each begins where the one before it ends."""

    lead: int
    header: int
    name: str
    hunks: list[int] = field(default_factory=list)
    end: int = 0
    marker: int = 0  # characters of the longest one that may stand for its hunks
    kept: int = -1  # hunks; -1 where not even the header is

    def upto(self, kept: int) -> int:
        """The line behind the first ``kept`` hunks."""
        return self.hunks[kept] if kept < len(self.hunks) else self.end

    def changes(self, lines: TextLines) -> tuple[int, int]:
        """Lines added and removed."""
        first = [line[:1] for line in lines.raw[self.hunks[0] : self.end]] if self.hunks else []
        return first.count("+"), first.count("-")


def read_diff(lines: TextLines) -> list[File] | None:
    """The files of a unified diff, or None if the text is none, or quotes one."""
    if "\n@@" not in lines.text and not _START.match(lines.text):
        return None
    files = list(_files(lines.raw))
    if not any(file.hunks for file in files):
        return None
    if files[0].header > _FEW and not _COMMIT.match(lines.raw[0]):
        return None
    ours = sum(file.end - file.header for file in files)
    ours += sum(
        min(_MESSAGE, file.header - file.lead) for file in files if _COMMIT.match(lines.raw[file.lead])
    )
    return files if len(lines) - ours <= _FEW + (1 - _MOSTLY) * len(lines) else None


def _files(raw: list[str]) -> Iterator[File]:
    at = lead = 0
    while at < len(raw):
        if not _begins(raw, at):
            at += 1
            continue
        file = File(lead, at, "")
        at = lead = _read(raw, file)
        yield file


def _begins(raw: list[str], at: int) -> bool:
    line = raw[at]
    if line.startswith("--- "):
        return at + 2 < len(raw) and raw[at + 1].startswith("+++ ") and raw[at + 2].startswith("@@ -")
    return line.startswith(("diff -", "Index: ")) and _START.match(line) is not None


def _read(raw: list[str], file: File) -> int:
    """Read the header and the hunks of a file; returns the line behind."""
    at = file.header
    names = []
    while at == file.header or (at < len(raw) and _EXTENDED.match(raw[at])):
        if match := _NAMES.match(raw[at]):
            names += [name for name in match.groups() if name and name != "/dev/null"]
        elif raw[at].startswith(_GIT):
            names += _twice(raw[at][len(_GIT) :])
        at += 1
        if at < len(raw) and raw[at - 1].startswith("Index: ") and raw[at].startswith("diff "):
            at += 1
    file.name = short(names[0] if names else _MARK.sub("", raw[file.header]))
    while at < len(raw):
        end = _hunk(raw, at)
        if end == at:
            break
        file.hunks.append(at)
        at = end
    file.end = at
    return at


def _twice(names: str) -> list[str]:
    """The name that the text holds twice, if it does; it may hold blanks.

    Example:
        >>> _twice("a/my file b/my file"), _twice("a/old b/new")
        (['my file'], [])
    """
    half = len(names) // 2
    old, new = names[:half].strip('"'), names[half + 1 :].strip('"')
    same = old.startswith("a/") and new.startswith("b/") and old[2:] == new[2:]
    return [new[2:]] if same else []


def _hunk(raw: list[str], at: int) -> int:
    """The line behind the hunk at this line; the same line if none begins there."""
    if match := _HUNK.match(raw[at]):
        old, new = (int(number or 1) for number in match.groups())
        for end in range(at + 1, len(raw)):
            first = raw[end][:1]
            old -= first not in {"+", "\\"}
            new -= first not in {"-", "\\"}
            if min(old, new) < 0 or first not in " +-\\":
                return end
        return len(raw)
    prefixes: tuple[str, ...] = ()
    if _MERGED.match(raw[at]):
        prefixes = (" ", "+", "-", "\\")
    elif raw[at] != "GIT binary patch":
        return at
    end = at + 1
    while end < len(raw) and (raw[end].startswith(prefixes) if prefixes else _BINARY.match(raw[end])):
        end += 1
    return end


def cut_diff(lines: TextLines, files: list[File], limit: int) -> list[TextCut] | None:
    """The cuts that bring a diff down to a limit, or None if not even one file's header fits.

    Args:
        lines: the text.
        files: what ``read_diff`` found in it.
        limit: characters of the result.
    """
    cutter = _DiffCutter(lines, files, limit)
    if not cutter.headers():
        return None
    cutter.hunks()
    return cutter.cuts()


def _ranked(number: int) -> list[int]:
    """Indices from both ends, two of the first for each of the last.

    Example:
        >>> _ranked(6)
        [0, 5, 1, 2, 4, 3]
    """
    low, high = 0, number - 1
    order: list[int] = []
    while low <= high:
        if len(order) % 3 == 1:
            order.append(high)
            high -= 1
        else:
            order.append(low)
            low += 1
    return order


class _DiffCutter:
    """Deals out the room; a file costs the characters that are kept of it, and a marker if that is not all of it."""

    def __init__(self, lines: TextLines, files: list[File], limit: int) -> None:
        self._lines = lines
        self._files = files
        self._limit = limit
        self._lead = int(limit * _LEAD_SHARE)
        self._order = _ranked(len(files))
        self._tail = lines.size(files[-1].end, len(lines))
        if self._tail > self._lead:
            self._tail = self._lead + MARKER
        self._left = limit - self._tail
        self._inside: tuple[int, int] | None = (
            None  # a file, and the line behind what is kept of its next hunk
        )

    def headers(self) -> bool:
        """Keep all headers, or else those of the first and last files."""
        number = len(self._files)
        longest = len(self._lines)
        for file in self._files:
            what = _omitted(len(file.hunks), file, part=True)
            file.marker = len(omission(what, longest, longest))
        costs = [self._cost(file, 0) for file in self._files]
        if sum(costs) <= _HEADERS_SHARE * self._left:
            chosen = set(range(number))
        else:
            self._left -= MARKER
            first, last = _FIRST, _LAST
            while first + last > 1 and self._sum(costs, first, last) > _HEADERS_SHARE * self._left:
                first, last = (first, last - 1) if last * 2 >= first else (first - 1, last)
            chosen = {*range(min(first, number)), *range(max(0, number - last), number)}
        for index in chosen:
            self._files[index].kept = 0
            self._left -= costs[index]
        return self._left >= 0

    @staticmethod
    def _sum(costs: list[int], first: int, last: int) -> int:
        return sum(costs[:first]) + sum(costs[max(first, len(costs) - last) :])

    def _cost(self, file: File, kept: int) -> int:
        if kept < 0:
            return 0
        lead = self._lines.size(file.lead, file.header)
        size = self._lines.size(file.header, file.upto(kept)) + (
            lead if lead <= self._lead else self._lead + MARKER
        )
        return size + (file.marker if kept < len(file.hunks) else 0)

    def hunks(self) -> None:
        """Hunks of the chosen files, fairly at first; then of these and of others in order; then part of one."""
        chosen = [self._files[index] for index in self._order if self._files[index].kept == 0]
        fair = self._left // len(chosen)
        for file in chosen:
            self._add(file, self._left - max(0, self._left - fair))
        for index in self._order:
            file = self._files[index]
            if file.kept < 0 and self._cost(file, len(file.hunks)) > self._left:
                if self._cost(file, 0) > self._left:
                    break
                file.kept = 0
                self._left -= self._cost(file, 0)
                self._add(file, self._left)
                break  # what is left out stays in one gap
            self._add(file, self._left)
        if self._left > _INSIDE_SHARE * self._limit:
            self._part()

    def _add(self, file: File, room: int) -> None:
        """As many more hunks as fit, or all of a file that is not shown yet and fits."""
        now = self._cost(file, file.kept)
        kept = len(file.hunks)
        if self._cost(file, kept) - now > room:
            kept = file.kept
            while kept + 1 < len(file.hunks) and self._cost(file, kept + 1) - now <= room:
                kept += 1
        self._left -= self._cost(file, kept) - now
        file.kept = kept

    def _part(self) -> None:
        """The first lines of the next hunk of the first file that has one; its marker's room is set aside already."""
        for index in self._order:
            file = self._files[index]
            if 0 <= file.kept < len(file.hunks):
                start = file.hunks[file.kept]
                end = self._lines.fitting(start, file.upto(file.kept + 1), self._left)
                if end > start + 1:
                    self._inside = (index, end)
                return

    def cuts(self) -> list[TextCut]:
        """The gaps in order."""
        lines, files = self._lines, self._files
        cuts: list[TextCut] = []
        gap: tuple[int, int] | None = None  # the line and the file it begins in
        for index, file in enumerate(files):
            if file.kept < 0:
                gap = gap or (file.lead, index)
                continue
            if gap:
                cuts.append(self._gap(*gap, file.lead, index))
                gap = None
            cuts += self._shortened(file.lead, file.header)
            if file.kept < len(file.hunks):
                part = self._inside is not None and self._inside[0] == index
                gap = (self._inside[1] if part and self._inside else file.upto(file.kept), index)
        if gap:
            cuts.append(self._gap(*gap, files[-1].end, len(files)))
        return cuts + self._shortened(files[-1].end, len(lines))

    def _shortened(self, first: int, end: int) -> list[TextCut]:
        """Text around a file, whole or its first lines."""
        if self._lines.size(first, end) <= self._lead:
            return []
        kept = self._lines.fitting(first, end, self._lead)
        return [self._lines.cut(kept, end, f"{counted(end - kept, 'line')} omitted", 0)]

    def _gap(self, first: int, opened: int, end: int, closed: int) -> TextCut:
        """The cut from a line of one file up to another file."""
        files = self._files[opened:closed]
        missing = [file for file in files if file.kept < 0]
        hunks = sum(len(file.hunks) - max(0, file.kept) for file in files)
        if not missing:
            part = self._inside is not None and self._inside[0] == opened
            return self._lines.cut(first, end, _omitted(hunks, files[0], part=part), hunks)
        what = f"{counted(len(missing), 'file')} omitted, {counted(hunks, 'hunk')}"
        return self._lines.cut(first, end, what, hunks or len(missing), [file.name for file in missing])


def _omitted(hunks: int, file: File, *, part: bool = False) -> str:
    how = "" if not part else " in part" if hunks == 1 else ", one of them in part"
    return f"{counted(hunks, 'hunk')} of {file.name} omitted{how}"
