"""What checkers report, counted by rule, errors before the rest.

A finding is a line (``FILE:LINE:COLUMN: CODE message``, ``FILE(LINE,COLUMN): error CODE: message``), perhaps with the source that it
is about below it, or a block (``CODE message``, ``--> FILE:LINE:COLUMN``, and the source).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.kinds.listings import OTHERS, Listing

if TYPE_CHECKING:
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick

_RULES = 256  # that are told apart
_ERRORS = 40  # findings that are errors, of which so many are kept
_NO_RULE = b"other"
_SHOWN = 24  # rules of which the first finding is shown
_QUOTED = 8  # lines of source below a finding
_LINES = 40  # of a finding of several lines, on average
_PLACE = rb"(?::\d+(?::\d+)?:?|\(\d+(?:,\d+)*\) ?:)"  # behind the name of the file
_FILE = rb"(?:[A-Za-z]:(?=[\\/]))?[^\s:\x28]++(?>\x28(?!\d+(?:,\d+)*\) ?:)[^\s:\x28]*+)*"
_FINDING = re.compile(rb"(?m)^" + _FILE + _PLACE + rb" ([^\n]*)")
# A rule stands behind a level, in brackets at the end, or at the beginning; else a level does.
_RULES_OF = (
    re.compile(rb"\A(?:fatal )?(?:error|warning|note|info|message) ([A-Z]+\d+)\b"),
    re.compile(rb"[\[(](?:\w+/)?([\w@/.-]+)[\])]\s*$"),
    re.compile(rb"\A(?:\w+: )?([A-Z]+\d+)\b"),
    re.compile(rb"\A(\w+):"),
)
_ERROR = re.compile(rb"\A(?:(?i:\W?(?:fatal )?error)(?:[:\]]| [A-Z]+\d)|[EF]\d{4}\b)|(?i:\[error/)")


class Findings(Listing):
    """Findings in files, hundreds of a few kinds."""

    FORM = rb"(" + _FILE + rb")" + _PLACE + rb" [^\s\d]"
    NOT = rb"[^\n]*\.\.\."
    IGNORED = rb"(?:\*{3,} |[Ff]ound |All |\W*\d+ |warning: |error: )"
    BELOW = rb"(?>(?:\n[ \t][^\n]*){0,%d})" % _QUOTED
    GROUP_END = b""

    def __init__(self) -> None:
        super().__init__()
        self._rules: Counter[bytes] = Counter()
        self._first: dict[bytes, list[Pick]] = {}
        self._errors: list[Pick] = []
        self._error_count = 0

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if not super().block(block):
            return False
        for found in _FINDING.finditer(block.raw):
            self._count(_rule(found[1]), found.start())
            if _ERROR.search(found[1]):
                self._error_count += 1
                if len(self._errors) < _ERRORS:
                    self._errors.append(self._picker.pick(found.start()))
        return True

    def _count(self, rule: bytes, *lines: int) -> None:
        """Count a finding that begins with these lines of the block."""
        if rule in self._rules or len(self._rules) < _RULES:
            self._rules[rule] += 1
            if rule not in self._first:
                self._first[rule] = [self._picker.pick(at) for at in lines]

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``; what is indented may be source that a finding is about."""
        return super().is_row(line) or (None if line[:1] in (b" ", b"\t") else False)

    def _samples(self, groups: list[tuple[bytes, int]]) -> list[Pick]:  # noqa: ARG002  # of files none is needed
        """The errors, unless nearly all are, and the first finding of each rule with the number of the others, the rarest first."""
        errors = self._errors if self._error_count <= max(_ERRORS, self._lines // 2) else []
        known = {pick.line.number for pick in errors}
        for rule, times in self._rules.most_common()[::-1][:_SHOWN]:
            *above, last = self._first[rule]
            if last.line.number not in known:
                note = f"  [and {times - 1:,} more of this rule]\n" if times > 1 else ""
                errors = [*errors, *above, last._replace(note=note)]
        return errors

    def _title(self) -> str:
        told = [f"{rule.decode(errors='replace')} {count:,}" for rule, count in self._rules.most_common()]
        rules = f": {listed(told, 400)};" if set(self._rules) != {_NO_RULE} else ""
        errors = f", {counted(self._error_count, 'error')} among them" if self._error_count else ""
        files = counted(len(self._groups.counts), "file")
        return f"{counted(self._lines, 'finding')}{errors}{rules} in {files}"


class Reports(Findings):
    """Findings of several lines: what is wrong, where, and the source."""

    FORM = rb" *--> ([^\n]*?):\d+:\d+"
    _TITLE = rb"([A-Z]+\d+(?= )|[a-z]+(?:-[a-z]+)+(?=: ))[^\n]*"
    IGNORED = (
        rb"(?:"
        + _TITLE
        + rb"|[ \t]|\d+ +[-+|]|(?:help|note|info|warning|error): |-{3,}|\.{3}|[Ff]ound |All |\[\*\] )"
    )
    BELOW = b""
    _REPORT = re.compile(rb"(?m)^" + _TITLE + rb"\n" + FORM)
    _LAST = re.compile(_TITLE + rb"\n\Z")
    _QUOTE = re.compile(rb" *(?:\d+ +)?[-+|]|" + FORM)

    def __init__(self) -> None:
        super().__init__()
        self._seen = 0
        self._begun = b""  # the title of a report that goes on in the next block

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.long is not None or block.terminator != b"\n":
            return False
        self._picker.begin(block)
        raw = self._begun + block.raw
        names = []
        for found in self._REPORT.finditer(raw):
            names.append(found[2])
            where = raw.index(b"\n", found.start()) + 1 - len(self._begun)
            begins = found.start() - len(self._begun)
            self._count(found[1], *((begins, where) if begins >= 0 else (where,)))
        self._lines += len(names)
        self._groups.add(names)
        self._look_at_others(block.raw)
        last = raw[raw.rfind(b"\n", 0, -1) + 1 :]
        self._begun = last if self._LAST.match(last) else b""
        self._seen += block.lines
        return self._others <= 1 + OTHERS * self._lines and self._seen <= 1 + _LINES * self._lines

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``; source stands behind its number or a bar."""
        if self._QUOTE.match(line):
            return True
        return None if line[:1] in (b" ", b"\t") else self._rows.fullmatch(line) is not None


def _rule(message: bytes) -> bytes:
    """The rule that a finding names; its level, or nothing, where it names none.

    Example:
        >>> _rule(b"E501 Line too long"), _rule(b"error: No name  [name-defined]"), _rule(b"so")
        (b'E501', b'name-defined', b'other')
    """
    found = (pattern.search(message) for pattern in _RULES_OF)
    return next((match[1] for match in found if match), _NO_RULE)
