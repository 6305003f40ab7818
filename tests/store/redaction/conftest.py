"""What finds the places of secrets: the native scanner, and what runs where there is none."""

from __future__ import annotations

import pytest
from support import native

from spillstore.redaction import candidates, finder, native_scanner


@pytest.fixture(scope="session")
def scanner():
    """The native scanner, and nothing in its place."""
    found = finder.searcher()
    assert isinstance(found, native_scanner.Scanner)
    return found


@pytest.fixture(scope="session")
def automaton():
    """What an installation without the native functions uses."""
    return candidates.Automaton(finder.ENTRIES)


@pytest.fixture(scope="session")
def first_texts():
    """What the first short texts of a process are searched with."""
    return candidates.FirstTexts(finder.ENTRIES)


@pytest.fixture(autouse=True, scope="session")
def _later_texts():
    """Texts are searched as in a process that has redacted output."""
    finder.FIRST.left = 0


@pytest.fixture(params=[pytest.param("scanner", marks=native), "automaton"], scope="module")
def searcher(request):
    """Rules look where the native scanner says, and then where the automaton does."""
    found = request.getfixturevalue(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finder, "searcher", lambda: found)
        yield found
