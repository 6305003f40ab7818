"""Sources and commands that are not to be seen in listings."""

from __future__ import annotations

import re

import pytest

HIDDEN = re.compile(r"hidden:[\w-]{11}")


@pytest.mark.files
def test_sources_and_commands_are_hidden(make_store):
    """Neither stands anywhere in the session's files; the same text gives the same digest, another one another."""
    store = make_store(hidden_metadata=True)
    with store.session("test") as session:
        meta = {"source": "very-private-tool", "command": "dump the payroll"}
        first, second = (session.put("x\n", **meta).info for _ in range(2))
        third = session.put("x\n", source="other-tool").info
        bare = session.put("x\n").info
        for text in (first.source, first.command, third.source):
            assert HIDDEN.fullmatch(text)
        assert (first.source, first.command) == (second.source, second.command)
        assert 3 == len({first.source, first.command, third.source})
        assert ("", None, None) == (bare.source, bare.command, third.command)
        list(session.events())
    for path in (store.root / "_" / "test").iterdir():
        assert not [
            word for word in (b"very-private", b"payroll", b"other-tool") if word in path.read_bytes()
        ]


def test_they_can_still_be_asked_for(make_store):
    """By name where the setting is in force, by what is shown anywhere; another session has other digests."""
    store = make_store(hidden_metadata=True)
    with store.session("test") as session:
        shown = session.put("x\n", source="make").info.source
        session.put("x\n", source="git")
        assert [shown] == [info.source for info in session.infos(source="make")]
    with make_store().session("test", read_only=True) as session:
        assert [shown] == [info.source for info in session.infos(source=shown)]
        assert [] == list(session.infos(source="make"))
    with store.session("another") as session:
        assert shown != session.put("x\n", source="make").info.source
