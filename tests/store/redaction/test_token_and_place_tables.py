"""Every row of the tables of tokens and places: its example loses its secret, and what only looks like one stays."""

from __future__ import annotations

import random

import pytest
from examples import drawn, parts

from spillstore import _native
from spillstore.redaction import Redactor, candidates, counted, finder, look
from spillstore.redaction.tables import places, tokens
from spillstore.redaction.tokens import TOKENS

ROWS = [
    pytest.param(row[0], *row[-2:], id=f"{table.__name__.rpartition('.')[2]}-{name}-{number}")
    for table in (tokens, places)
    for name, rows in vars(table).items()
    if isinstance(rows, tuple) and rows and isinstance(rows[0], tuple)
    for number, row in enumerate(rows)
]
SEARCHERS = {
    "native": finder.searcher,
    "python": lambda: candidates.Automaton(finder.ENTRIES),
}


@pytest.fixture(
    params=[
        pytest.param("native", marks=pytest.mark.skipif(_native.path() is None, reason="it was not built")),
        "python",
    ],
    scope="module",
)
def searcher(request):
    """What finds literals: the native scanner, or the automaton of an installation without it."""
    with pytest.MonkeyPatch.context() as patch:
        found = SEARCHERS[request.param]()
        patch.setattr(finder, "searcher", lambda: found)
        yield found


def test_there_are_rows():
    """The tables were found."""
    assert len(ROWS) > 200


def test_each_literal_has_one_rule():
    """Two rows with one literal would hide one another in the native scanner; what both find is one row, or a longer literal."""
    literals = [entry.literal for entry in finder.ENTRIES]
    assert sorted(set(literals)) == sorted(literals)


def test_a_token_is_made_of_the_letters_of_tokens():
    """A stream knows by these letters whether a token may go on; what stands before it may be others."""
    for token in TOKENS:
        assert token.literal[token.skip :].strip(look.RUN_LETTERS) == b"", token


@pytest.mark.usefixtures("searcher")
@pytest.mark.parametrize(("kind", "goes", "stays"), ROWS)
def test_a_row_does_what_it_says(kind, goes, stays):
    """What is drawn in each line of the one example goes, under the row's kind; the other example is left as it is."""
    assert goes
    assert stays
    for number, line in enumerate(goes.splitlines()):
        seed = f"{kind} {number}"
        result, kinds = counted(drawn(line, seed=seed))
        secrets = parts(line, seed=seed)
        assert secrets, line
        assert [secret for secret in secrets if len(secret) > 1 and secret in result] == [], line
        assert kind in kinds, line
    text = drawn(stays)
    assert counted(text) == (text, {})


def _fed(pieces):
    redactor = Redactor()
    return b"".join([*map(redactor.feed, pieces), redactor.finish()])


@pytest.mark.usefixtures("searcher")
@pytest.mark.parametrize(("kind", "goes", "stays"), ROWS)
def test_a_row_finds_the_same_in_pieces(kind, goes, stays):
    """Its examples, in a line that goes on, come byte by byte and cut in two."""
    text = b"x " + drawn(goes, seed=kind) + b" y\n" + drawn(stays) + b" z\n"
    whole = _fed([text])
    assert _fed(bytes([byte]) for byte in text) == whole
    for place in random.Random(goes).sample(range(1, len(text)), 8):
        assert _fed([text[:place], text[place:]]) == whole, place
