"""The tables of names, values and forms: each row takes out what it says, and leaves what it says."""

from __future__ import annotations

import re

import pytest
from examples import drawn, parts
from streams import cut, fed, in_bytes
from support import STEP, each_of, places_to_cut

from spillstore.redaction import counted
from spillstore.redaction.tables import forms, literals, names, next_lines, phrases, titles, values

ROWS = (
    *names.PROMISES,
    *forms.FORMS,
    *phrases.PHRASES,
    *literals.LITERALS,
    *literals.NOT_PASSWORDS,
    *next_lines.NEXT_LINES,
    *titles.TABLES,
)
WORDS = re.compile(rb"kittens|kit7ten|meowmeow|cG9zd[\w=]+")  # secrets that are not drawn
pytestmark = pytest.mark.usefixtures("searcher")


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_what_a_row_takes_out(seed):
    """The examples that go, with an empty line between them, lose all that is drawn in them, or the word that is their secret."""
    left = []
    for row in ROWS:
        for example in filter(None, row.goes.split("\n\n")):
            text = drawn(example, seed=seed)
            secrets = parts(example, seed=seed) or WORDS.findall(text)
            result, kinds = counted(b"a\n" + text + b"\nb\n")
            if not kinds or not secrets or any(secret in result for secret in secrets if len(secret) > 1):
                left.append((text, result))
    assert left == []


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_what_a_row_leaves(seed):
    """The examples that stay are not changed."""
    gone = []
    for row in ROWS:
        line = b"a\n" + drawn(row.stays, seed=seed) + b"\nb\n"
        if counted(line)[1]:
            gone.append(line)
    assert gone == []


def test_cuts_change_nothing():
    """Each example is redacted in the same way in one piece, in two, and byte by byte."""
    wrong = []
    for number, row in enumerate(ROWS):
        for text in (b"a\n%b\nb\n" % drawn(example) for example in (row.goes, row.stays)):
            whole = fed([text])
            pieces = [cut(text, [at]) for at in places_to_cut(len(text), number)]
            if number % STEP == 0:
                pieces.append(in_bytes(text))
            if any(fed(each) != whole for each in pieces):
                wrong.append(text)
    assert wrong == []


@each_of("row", [*values.PLACEHOLDERS, *values.VARIABLES])
def test_harmless_values(row):
    """A value that is none stays behind a password's name, and one like it goes."""
    lines = [f'password = "{value}"\n'.encode() for value in (row.stays, row.goes)]
    assert counted(lines[0]) == (lines[0], {})
    assert not row.goes or counted(lines[1])[1] == {"PASSWORD": 1}


@each_of("row", values.NO_KEYS)
def test_values_that_are_no_keys(row):
    """A value that is none stays behind a token's name, and one like it goes; behind a password's name the first goes, too."""
    lines = [
        f'{name} = "{value}"\n'.encode() for name in ("token", "password") for value in (row.stays, row.goes)
    ]
    assert [0, 1, 1, 1] == [sum(counted(line)[1].values()) for line in lines]
