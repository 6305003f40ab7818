"""All rules over a text: one automaton tells where their literals stand, and a rule is tried there alone.

The automaton is a full table (DFA), so it takes the same time however many literals there are: 2.5 ns a byte of logs and of
sources for 430 of them, hits and all, in one call that is built in 4 ms. Searchers by SIMD are faster as long as there are
few: six times for 32 literals, but they want one pass for every 64, and all passes together took 3.6 to 4.7 ns on the same
texts. RE2 with all literals in one expression took longer than that, and stops at each match. Hyperscan takes 1.2 to 1.5 ns,
but calls back for each hit, with the interpreter's lock each time: beside a thread that ran Python, 4 MB took it 12 s, and
this automaton 0.3.

Literals may overlap and hide nothing from each other; of the rules of one kind each goes on where the one before ended.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction import addresses, assignments, commands, headers, tokens
from spillstore.redaction.look import CONTEXT, Look

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.redaction.look import Rule


# How far before a secret the literals of a kind may stand: those of assignments, addresses, headers (for cookies), commands,
# tokens and keys.
_BACK = (640, 512, headers.LONGEST_COOKIE + 256, 640, 64, CONTEXT)


class _Automaton(NamedTuple):
    """Finds literals, as (number, start, end) in the order of their ends, and knows which rule each belongs to."""

    find: Callable[..., list[tuple[int, int, int]]]
    rules: tuple[
        tuple[Rule, int, frozenset[int]], ...
    ]  # its kind, and bytes behind the literal that it needs not see


def find(text: bytes, *, since: int = 0, final: bool) -> Look:
    """The secrets of a text, by all rules but private keys.

    Args:
        text: lines, the last one may be unfinished.
        since: secrets that begin before this need not be found.
        final: nothing follows that belongs to the last line.
    """
    look = Look(text, final=final)
    search, rules = _automaton()
    done = [max(0, since - back) for back in _BACK]
    size = look.size
    for number, start, end in search(text, overlapping=True):
        rule, kind, dull = rules[number]
        if start >= done[kind] and (end == size or text[end] not in dull):
            look.tried += 1
            after = rule(look, start, end)
            if after > end:
                done[kind] = after
    if not final:
        tokens.unfinished(look)
    return look


def _key(look: Look, start: int, end: int) -> int:
    """``PRIVATE KEY`` stands here; ``scan.py`` sees to it, as a key goes over many lines."""
    look.keys.append(start)
    return end


@functools.cache
def _automaton() -> _Automaton:
    import ahocorasick_rs  # noqa: PLC0415  # what only who redacts needs

    groups = (
        assignments.RULES,
        addresses.RULES,
        headers.RULES,
        commands.RULES,
        tokens.RULES,
        (("PRIVATE KEY", _key), ("Private-Lines:", _key)),
    )
    literals = [literal.encode() for group in groups for literal, _ in group]
    machine = ahocorasick_rs.BytesAhoCorasick(
        literals,
        matchkind=ahocorasick_rs.MatchKind.Standard,
        implementation=ahocorasick_rs.Implementation.DFA,
    )
    rules = tuple(
        (rule, kind, assignments.dull_behind(literal) if rule is assignments.word else frozenset())
        for kind, group in enumerate(groups)
        for literal, rule in group
    )
    return _Automaton(machine.find_matches_as_indexes, rules)
