"""What finds the places of secrets: the native scanner, and what runs where there is none."""

from __future__ import annotations

import pytest
from support import native

from spillstore.redaction import candidates, finder


@pytest.fixture(scope="session")
def scanner():
    """The native scanner, and nothing in its place."""
    found = finder.searcher()
    assert isinstance(found, candidates.Scanner)
    return found


@pytest.fixture(scope="session")
def automaton():
    """What an installation without the native functions uses."""
    return candidates.Automaton(finder.ENTRIES)


@pytest.fixture(params=[pytest.param("scanner", marks=native), "automaton"], scope="module")
def searcher(request):
    """Rules look where the native scanner says, and then where the automaton does."""
    found = request.getfixturevalue(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finder, "searcher", lambda: found)
        yield found
