"""Which chunks cannot hold what a pattern matches, as their gram filters say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.format import grams
from spillstore.search.byte_patterns import Rest, byte_pattern

if TYPE_CHECKING:
    from spillstore.info import Cleaner
    from spillstore.search.byte_patterns import Sequence

_CASE = 0x20


class GramRules:
    """What is known of the matches of a pattern; ``read.sieve.Rules``.

    Args:
        runs: of each match one of them is a part.
        highest: the highest kind of text that can be told by its bytes.
    """

    def __init__(self, runs: list[grams.Run], highest: int) -> None:
        self._runs = runs
        self._highest = highest

    def tells(self, stored: bytes) -> bool:
        """Whether text of the kind that a filter says is shown as it is stored, and its letters have no cases beyond ASCII."""
        return grams.kind(stored) <= self._highest

    def may_end_in(self, stored: bytes) -> bool:
        """Whether one of the runs may end in a chunk with this filter, which was verified."""
        return any(run.may_end_in(stored) for run in self._runs)

    def may_end_in_text(self, text: bytes) -> bool:
        """Whether one of the runs may end in a text, whatever stands before it."""
        folded = text.lower()
        return any(run.may_end_in_text(folded) for run in self._runs)


def gram_rules(
    pattern: str, *, ignore_case: bool, literal: bool, cleaner: Cleaner | None
) -> GramRules | None:
    """What filters can tell of a pattern's matches; None if nothing: too little is known, or the cleaner may change any text."""
    if cleaner is not None and not getattr(cleaner, "keeps_plain", False):  # it need not have the attribute
        return None
    found = byte_pattern(pattern, ignore_case=ignore_case, literal=literal)
    if found is None:
        return None
    runs = list(map(_run, found.alternatives))
    if not all(run.can_be_missed for run in runs):
        return None
    if found.folds:
        return GramRules(runs, grams.FOLDS - 1)
    return GramRules(runs, grams.PLAIN if cleaner is not None else grams.ANYTHING)


def _run(sequence: Sequence) -> grams.Run:
    """The part of a sequence, all of it in one place, by which a filter can best tell that it is not there."""
    parts: list[list[int | None]] = [[]]
    for each in sequence:
        if isinstance(each, Rest):
            parts.append([])
        else:
            folded = {byte | _CASE if ord("A") <= byte <= ord("Z") else byte for byte in each}
            parts[-1].append(folded.pop() if len(folded) == 1 else None)
    return max(map(grams.Run, parts), key=lambda run: run.size)
