"""The tables of names, values and forms: each row takes out what it says, and leaves what it says."""

from __future__ import annotations

import pytest
from examples import drawn

from spillstore.redaction import Redactor, candidates, counted, finder
from spillstore.redaction.tables import forms, literals, names, next_lines, phrases, values

ROWS = (
    *names.PROMISES,
    *forms.FORMS,
    *phrases.PHRASES,
    *literals.LITERALS,
    *literals.NOT_PASSWORDS,
    *next_lines.NEXT_LINES,
)


@pytest.fixture(params=["automaton", "scanner"])
def search(request, monkeypatch):
    """With the scanner, and without it."""
    if request.param == "automaton":
        searcher = candidates.Automaton(finder.ENTRIES)
        monkeypatch.setattr(finder, "searcher", lambda: searcher)
    elif not isinstance(finder.searcher(), candidates.Scanner):
        pytest.skip("the native scanner was not built")


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_what_a_row_takes_out(search, seed):
    """The examples that go, with an empty line between them, lose their secrets."""
    left = []
    for row in ROWS:
        for example in filter(None, row.goes.split("\n\n")):
            text = drawn(example, seed=seed)
            if not counted(b"a\n" + text + b"\nb\n")[1]:
                left.append(text)
    assert left == []


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_what_a_row_leaves(search, seed):
    """The examples that stay are not changed."""
    gone = []
    for row in ROWS:
        line = b"a\n" + drawn(row.stays, seed=seed) + b"\nb\n"
        if counted(line)[1]:
            gone.append(line)
    assert gone == []


def _fed(parts):
    redactor = Redactor()
    return b"".join([*map(redactor.feed, parts), redactor.finish()])


def test_cuts_change_nothing():
    """Each example is redacted in the same way in one piece, in two of any size, and byte by byte."""
    wrong = []
    for row in ROWS:
        for text in (b"a\n%b\nb\n" % drawn(example) for example in (row.goes, row.stays)):
            cuts = [(text[:at], text[at:]) for at in range(1, len(text))]
            if {_fed(parts) for parts in [*cuts, [bytes([byte]) for byte in text]]} != {_fed([text])}:
                wrong.append(text)
    assert wrong == []


@pytest.mark.parametrize("row", [*values.PLACEHOLDERS, *values.VARIABLES], ids=lambda row: row.stays)
def test_harmless_values(search, row):
    """A value that is none stays behind a password's name, and one like it goes."""
    lines = [f'password = "{value}"\n'.encode() for value in (row.stays, row.goes)]
    assert counted(lines[0]) == (lines[0], {})
    assert not row.goes or counted(lines[1])[1] == {"PASSWORD": 1}
