"""Rules and their literals, in families: of the rules of one each goes on where the one before has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction import assignments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore.redaction.look import Rule


class Entry(NamedTuple):
    """A literal and the rule that is tried where it stands."""

    literal: bytes
    rule: Rule
    family: int
    not_before: frozenset[int]  # bytes behind the literal with which it is not tried


class Family(NamedTuple):
    """Rules of which each goes on where the one before has ended.

    Attributes:
        rules: their literals, and the rule that is tried where one stands.
        back: how far before a secret its literal may stand.
    """

    rules: Sequence[tuple[str, Rule]]
    back: int


def entries(families: Sequence[Family]) -> tuple[Entry, ...]:
    """All literals of the rules, with the family that each belongs to."""
    return tuple(
        Entry(
            literal.encode(),
            rule,
            number,
            assignments.no_name_before(literal) if rule is assignments.word else frozenset(),
        )
        for number, family in enumerate(families)
        for literal, rule in family.rules
    )
