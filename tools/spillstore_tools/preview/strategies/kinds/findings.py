"""What checkers report, a finding a line: ``FILE:LINE:COLUMN: CODE message``. Counted by rule, errors before the rest."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.kinds.listings import Listing

if TYPE_CHECKING:
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick

_RULES = 256  # that are told apart
_ERRORS = 40  # findings that are errors, of which so many are kept
_SHOWN = 24  # rules of which the first finding is shown
_FINDING = rb"(?m)^[^\s:][^\s:]*:\d+(?::\d+)?:? [^\n]*"
# A rule stands in brackets at the end, or at the beginning; else a level does.
_RULES_OF = (
    re.compile(rb"[\[(](?:\w+/)?([\w@/.-]+)[\])]\s*$"),
    re.compile(rb"^[^\s:]+:\d+(?::\d+)?:? (?:\w+: )?([A-Z]+\d+)\b"),
    re.compile(rb"^[^\s:]+:\d+(?::\d+)?:? (\w+):"),
)
_ERROR = re.compile(rb"(?i)^[^\s:]+:\d+(?::\d+)?:? (?:\W?(?:fatal )?error\b|[EF]\d{4}\b)|\[error/")


class Findings(Listing):
    """Findings in files, hundreds of a few kinds."""

    FORM = rb"([^\s:][^\s:]*):\d+(?::\d+)?:? [^\s\d]"
    NOT = rb"[^\n]*\.\.\."
    IGNORED = rb"(?:\*{3,} |[Ff]ound |All |\W*\d+ |warning: |error: )"
    GROUP_END = b":"
    _LINE = re.compile(_FINDING)

    def __init__(self) -> None:
        super().__init__()
        self._rules: Counter[bytes] = Counter()
        self._first: dict[bytes, Pick] = {}
        self._errors: list[Pick] = []
        self._error_count = 0

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if not super().block(block):
            return False
        for found in self._LINE.finditer(block.raw):
            rule = _rule(found[0])
            if rule in self._rules or len(self._rules) < _RULES:
                self._rules[rule] += 1
                if rule not in self._first:
                    self._first[rule] = self._picker.pick(found.start())
            if _ERROR.search(found[0]):
                self._error_count += 1
                if len(self._errors) < _ERRORS:
                    self._errors.append(self._picker.pick(found.start()))
        return True

    def _samples(self, groups: list[tuple[bytes, int]]) -> list[Pick]:  # noqa: ARG002  # of files none is needed
        """The errors, unless nearly all are, and the first finding of each rule with the number of the others, the rarest first."""
        errors = self._errors if self._error_count <= max(_ERRORS, self._lines // 2) else []
        known = {pick.line.number for pick in errors}
        rules = self._rules.most_common()[::-1][:_SHOWN]
        first = [(self._first[rule], times) for rule, times in rules]
        return errors + [
            pick._replace(note=f"  [and {times - 1:,} more of this rule]\n" if times > 1 else "")
            for pick, times in first
            if pick.line.number not in known
        ]

    def _title(self) -> str:
        told = [f"{rule.decode(errors='replace')} {count:,}" for rule, count in self._rules.most_common()]
        errors = f", {counted(self._error_count, 'error')} among them" if self._error_count else ""
        files = counted(len(self._groups.counts), "file")
        return f"{counted(self._lines, 'finding')}{errors}: {listed(told, 400)}; in {files}"


def _rule(line: bytes) -> bytes:
    """The rule that a finding names; its level, or nothing, where it names none.

    Example:
        >>> _rule(b"a.py:1:5: E501 Line too long"), _rule(b"a.py:1: error: No name  [name-defined]"), _rule(b"a.c:1:5: so")
        (b'E501', b'name-defined', b'other')
    """
    found = (pattern.search(line) for pattern in _RULES_OF)
    return next((match[1] for match in found if match), b"other")
