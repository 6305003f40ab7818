"""Every row of the tables of tokens and places: its example loses its secret, and what only looks like one stays."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from examples import drawn, parts
from streams import cut, fed, in_bytes
from support import each_of

from spillstore.redaction import counted, finder, look
from spillstore.redaction.tables import places, tokens
from spillstore.redaction.tokens import TOKENS

ROWS = [
    (row[0], *row[-2:])
    for table in (tokens, places)
    for rows in vars(table).values()
    if isinstance(rows, tuple) and rows and isinstance(rows[0], tuple)
    for row in rows
]


def test_there_are_rows():
    """The tables were found."""
    assert len(ROWS) > 200


def test_the_manual_counts_them():
    """It says of how many providers tokens are known, to the nearest ten."""
    providers = {token.kind.rpartition("_")[0] for token in TOKENS}
    manual = (Path(__file__).parents[3] / "docs" / "redaction.md").read_text("utf-8")
    assert f"of about {round(len(providers), -1)} providers" in manual


def test_each_literal_has_one_rule():
    """Two rows with one literal would hide one another in the native scanner; what both find is one row, or a longer literal."""
    literals = [entry.literal for entry in finder.ENTRIES]
    assert sorted(set(literals)) == sorted(literals)


def test_a_token_is_made_of_the_letters_of_tokens():
    """A stream knows by these letters whether a token may go on; what stands before it may be others."""
    for token in TOKENS:
        assert token.literal[token.skip :].strip(look.RUN_LETTERS) == b"", token


@pytest.mark.usefixtures("searcher")
@each_of("kind, goes, stays", ROWS)
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


@pytest.mark.usefixtures("searcher")
@each_of("kind, goes, stays", ROWS)
def test_a_row_finds_the_same_in_pieces(kind, goes, stays):
    """Its examples, in a line that goes on, come byte by byte and cut in two."""
    text = b"x " + drawn(goes, seed=kind) + b" y\n" + drawn(stays) + b" z\n"
    whole = fed([text])
    assert fed(in_bytes(text)) == whole
    for place in random.Random(goes).sample(range(1, len(text)), 8):
        assert fed(cut(text, [place])) == whole, place
