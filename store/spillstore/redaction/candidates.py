"""Where rules may apply: literals of the rules, found by the native scanner or by a Python automaton.

The native scanner (``native_scanner.py``) drops hits behind which no secret can stand; the automaton gives out all of them.
What is found is the same, since a rule that is tried in vain finds nothing.

The automaton is a full table (DFA), so it takes the same time however many literals there are: 2.5 ns a byte of logs and of
sources. Searchers by SIMD are faster as long as there are few: six times for 32 literals, but they want one
pass for every 64. RE2 with all literals in one expression takes longer, and stops at each match. Hyperscan takes 1.2 to 1.5 ns,
but calls back for each hit, with the interpreter's lock each time: beside a thread that ran Python, 4 MB took it 12 s, and
this automaton 0.3.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from spillstore.redaction.tables import shapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore.redaction.families import Entry

    Hit = tuple[int, int, int]

_PART = 16 * 1024  # bytes that the automaton searches at once
_SHORT = 256  # bytes of a short text
_FIRST = 64  # short texts that are searched literal by literal
_END_THEN_START = operator.itemgetter(2, 1)


class _InPython:
    """What a searcher does that needs no scanner."""

    def runs(self, text: bytes, low: int = 0, high: int | None = None) -> Iterator[tuple[int, int]]:
        """Where letters, digits, ``_`` and ``-`` stand in a row that may be a token with a prefix; see ``prefixed.py``."""
        return (match.span() for match in shapes.RUN.finditer(text, low, len(text) if high is None else high))


class Automaton(_InPython):
    """All literals of the rules in a text, whatever stands around them."""

    def __init__(self, of: Sequence[Entry]) -> None:
        import ahocorasick_rs  # noqa: PLC0415  # what only who redacts needs

        self._machine = ahocorasick_rs.BytesAhoCorasick(
            [entry.literal for entry in of],
            matchkind=ahocorasick_rs.MatchKind.Standard,
            implementation=ahocorasick_rs.Implementation.DFA,
        )
        self._longest = max(len(entry.literal) for entry in of)

    def hits(self, text: bytes, whole: int, low: int = 0, high: int | None = None) -> Iterator[Hit]:  # noqa: ARG002  # the scanner needs it
        """Number of the entry, start and end of each, in the order of the ends; a part of the text at a time, so that few are held."""
        size = len(text) if high is None else high
        for place in range(low, size, _PART):
            first = max(low, place - self._longest)
            part = text[first : min(place + _PART, size)]
            found = self._machine.find_matches_as_indexes(part, overlapping=True)
            if first:
                found = [(of, start + first, end + first) for of, start, end in found if end + first > place]
            yield from sorted(found, key=_END_THEN_START)  # the longest first


class FirstTexts(_InPython):
    """All literals of the rules in the first texts of a process, as long as they are short: each is looked for by itself, in 0.3 ms for all.

    Names, commands and settings are such texts. The other searchers take 25 ms to be made, which a process that redacts nothing else can do without.

    Attributes:
        left: how many texts may still be searched in this way.
    """

    def __init__(self, of: Sequence[Entry]) -> None:
        self._literals = [(number, entry.literal) for number, entry in enumerate(of)]
        self.left = _FIRST

    def takes(self, size: int) -> bool:
        """Whether a text of that many bytes is to be searched here; if not, no later one is."""
        here = self.left > 0 and size <= _SHORT
        self.left = self.left - 1 if here else 0
        return here

    def hits(self, text: bytes, whole: int, low: int = 0, high: int | None = None) -> Iterator[Hit]:  # noqa: ARG002  # the scanner needs it
        """As of the ``Automaton``."""
        found: list[Hit] = []
        for number, literal in self._literals:
            at = text.find(literal, low, high)
            while at >= 0:
                found.append((number, at, at + len(literal)))
                at = text.find(literal, at + 1, high)
        return iter(sorted(found, key=_END_THEN_START))
