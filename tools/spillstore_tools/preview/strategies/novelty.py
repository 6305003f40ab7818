"""Which lines tell something new: a kind of line that was shown twice tells nothing more.

A kind is what is left of a line without its names and numbers: ``tests/test_a.py::test_b PASSED [ 3%]`` is ``PASSED``, and of
``gcc -c part12.c`` there is one kind for all files. Words stay, so prose is new line for line, and so is a line of a table
with a word that stood in none before it.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.strategies.actionable import STRONG, score

if TYPE_CHECKING:
    from collections.abc import Container

    from spillstore_tools.preview.text.lines import Line

MANY = 16  # lines that tell nothing new, behind which nobody looks further
FEW = 3  # such lines from which on they are left out
_SHOWN = 2  # lines of a kind
_BARE = "·"  # a line that is one name, such as that of a test that failed, or one number
_ALONE = "·."  # the first of such lines, or one among others
_BARE_SHOWN = 12
_STRONG_SHOWN = 24  # lines of a kind that report a failure
_LOOKED_AT = 200  # characters of a line
# Names, numbers, paths, and signs that are drawn; a word with a colon behind it is a word.
_NAMES = re.compile(r"(?<!\S)(?:[^\s\d/_=\\@]*+[\d/_=\\@]\S*+|[^\w\s]*+\w++\.\w\S*+)|[^\w\s]{2,}+")
_A_WORD = re.compile(r"[^\W_]")
_PASSED = re.compile(r"^\s*(?:ok\b|PASS(?:ED)?\b|[✓✔√])|\bPASSED\b|\.\.\. *ok$")


class Novelty:
    """Counts the kinds of lines as they are met.

    Args:
        telling: numbers of lines that are never known, whatever their kind.
        flooding: kinds that are known from the first line on.
        common: numbers of lines that are known from the beginning.
        above: lines that are read beyond one that reports a failure; None for no such limit.
        quiet: lines that are read where none does; likewise.

    Example:
        >>> from spillstore_tools.preview.text.lines import Line
        >>> novelty = Novelty()
        >>> [novelty.known(Line(n, 0, b"gcc -c part%d.c" % n)) for n in (1, 2, 3, 4)]
        [False, False, True, True]
    """

    def __init__(
        self,
        telling: Container[int] = (),
        flooding: Container[str] = (),
        common: Container[int] = (),
        above: int | None = None,
        quiet: int | None = None,
    ) -> None:
        self._telling = telling
        self._flooding = flooding
        self._common = common
        self._above, self._quiet = above, quiet
        self._read = 0
        self._since: int | None = None  # lines since one that reports a failure
        self._seen: Counter[str] = Counter()
        self._before = ""  # the kind of the last line with text

    @property
    def flooding(self) -> set[str]:
        """The kinds of which there were more than told something."""
        return {kind for kind, times in self._seen.items() if times > _shown(kind)}

    def known(self, line: Line) -> bool:
        """Whether lines like this one have been met often enough; counts it."""
        self._read += 1
        text = line.text[:_LOOKED_AT].rstrip("\n")
        kind = kind_of(text)
        if kind == _BARE and self._before not in (_BARE, _ALONE):
            kind = _ALONE
        self._before = kind or self._before
        self._seen[kind] += 1
        enough = kind in self._flooding or line.number in self._common or self._seen[kind] > _shown(kind)
        strong = _is_strong(text) and self._seen[kind] <= _STRONG_SHOWN
        self._since = 0 if strong else None if self._since is None else self._since + 1
        return enough and line.number not in self._telling and (not strong or line.number in self._common)

    @property
    def brief(self) -> bool:
        """Whether few lines are read where none reports a failure."""
        return self._quiet is not None

    @property
    def told_all(self) -> bool:
        """Whether more than ``above`` lines were read since a failure, or more than ``quiet`` where there was none."""
        read, most = (self._read, self._quiet) if self._since is None else (self._since, self._above)
        return most is not None and read > most

    def told(self, lines: list[Line], least: int = 0, *, names: bool = False) -> list[Line]:
        """The lines up to the last one that tells something; a blank one tells nothing.

        Args:
            lines: one behind the other.
            least: lines that tell something for standing where they do, but for those whose kind is one of ``flooding``.
            names: whether lines that are one name do so, too, if they flood: above a line they may be what it is about.
        """
        count = 0
        for at, line in enumerate(lines, 1):
            known = self.known(line)
            if known and at <= least:
                kind = kind_of(line.text[:_LOOKED_AT].rstrip("\n"))
                known = kind in self._flooding and not (names and kind == _BARE)
            if not known and not line.text.isspace():
                count = at
        return lines[:count]


def _shown(kind: str) -> int:
    """How many lines of a kind tell something."""
    return _BARE_SHOWN if kind == _BARE else _SHOWN


@functools.lru_cache(512)
def _is_strong(text: str) -> bool:
    return score(text) >= STRONG


@functools.lru_cache(4096)
def kind_of(text: str) -> str:
    """What lines of a kind share.

    Example:
        >>> kind_of("test_a.py::test_b PASSED [ 3%]"), kind_of("  Compiling part 3 of 12"), kind_of("   ")
        ('passed', 'Compiling part · of ·', '')
    """
    if _PASSED.search(text):
        return "passed"
    if not _A_WORD.search(text):
        return ""
    return " ".join(_NAMES.sub("·", text).split())
