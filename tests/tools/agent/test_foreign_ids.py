"""An id that is unknown, malformed or of another session looks the same wherever it can be given."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from support import NO_FLOORS

from spillstore import Store, aio
from spillstore.exceptions import ArtifactNotFoundError
from spillstore_tools.agent.artifact_info import artifact_info
from spillstore_tools.agent.compare_artifacts import compare_artifacts
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.search_artifact import search_artifact

UNKNOWN = "art_1700000000000_0123456789abcdef"
MALFORMED = (
    "art_1_0/../../x", "../../../etc/passwd", "/etc/passwd", "art_1_0.", "ART_1_0", "nonsense", "art_1_%",
)  # fmt: skip


@pytest.fixture
def foreign(tmp_path):
    """The root, and the id of an artifact of another session in it."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    with store.session("other") as other:
        yield store, other.put(b"secret\n" * 100).id


@pytest.fixture
def session(foreign):
    with foreign[0].session("mine") as session:
        session.put(b"mine\n")
        yield session


LIBRARY = {
    "artifact": lambda session, name: session.artifact(name),
    "aio": lambda session, name: asyncio.run(_awaited(session, name)),
}
TOOLS = {
    "get_artifact": lambda session, name: get_artifact(session, id=name, start_line=1, end_line=5),
    "get_artifact by uri": lambda session, name: get_artifact(session, id=f"artifact://{name}"),
    "get_artifact with a query": lambda session, name: get_artifact(session, id=name, query="$"),
    "artifact_info": lambda session, name: artifact_info(session, id=name),
    "search_artifact": lambda session, name: search_artifact(session, id=name, pattern="secret"),
    "compare_artifacts": lambda session, name: compare_artifacts(session, id=name),
}


async def _awaited(session, name):
    async with aio.Store(session.root, **NO_FLOORS).session("mine", read_only=True) as opened:
        return await opened.artifact(name)


@pytest.mark.parametrize("way", LIBRARY)
def test_the_library_says_the_same_of_all(foreign, session, way):
    """``ArtifactNotFoundError`` with the same words; ``exists`` is false and ``matching`` finds nothing."""
    words = set()
    for name in (UNKNOWN, foreign[1], *MALFORMED):
        with pytest.raises(ArtifactNotFoundError) as caught:
            LIBRARY[way](session, name)
        words.add(str(caught.value).replace(repr(name), "ID"))
        assert session.exists(name) is False
        assert [] == list(session.events(artifact_id=name, kind="create"))
    assert 1 == len(words), words
    assert [] == session.matching(foreign[1])
    assert [] == session.matching(foreign[1][:-1])


@pytest.mark.parametrize("way", TOOLS)
def test_the_tools_say_the_same_of_all(foreign, session, way):
    """A model is told the same of all of them, and nothing of what the other session holds."""
    texts = set()
    for name in (UNKNOWN, foreign[1], *MALFORMED):
        answer = TOOLS[way](session, name)
        assert answer.is_error
        assert "secret" not in answer.text.replace("'secret'", "")
        texts.add(answer.text.replace(f"artifact://{name}", name).replace(name, "ID"))
    assert 1 == len(texts), texts


COMMANDS = (
    ("show", "--lines", "1-2"), ("cat",), ("tail",), ("info",), ("info", "--json"), ("search", "x"), ("query", "$"), ("verify",),
    ("export", "OUT"), ("rm", "--yes"), ("replay",), ("diff",),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_commands_say_the_same_of_all(cli, store, tmp_path, command):
    """Each command that takes an id: the same words and the same exit code for an unknown and for another session's."""
    with store.session("other") as other:
        foreign = other.put(b"secret\n").id
    with store.session("default") as session:
        session.put(b"mine\n")
    answers = set()
    for name in (UNKNOWN, foreign, "art_1_0", "nonsense"):
        arguments = [str(tmp_path / "out") if part == "OUT" else part for part in command[1:]]
        pattern, rest = (arguments[:1], arguments[1:]) if command[0] == "search" else ([], arguments)
        done = cli(command[0], *pattern, name, *rest)
        assert done.code
        assert b"secret" not in done.out
        answers.add((done.code, done.text.replace(name, "ID"), done.err.replace(name, "ID")))
    assert 1 == len(answers), answers
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_the_mcp_server_says_the_same_of_all(root, store):
    """As a tool's argument and as a resource: a client is told the same of all of them."""
    with store.session("other") as other:
        foreign = other.put(b"secret\n").id
    with store.session("default") as session:
        session.put(b"mine\n")
    given = StdioServerParameters(
        command=sys.executable, args=["-m", "spillstore_tools.cli", "mcp"], env=dict(os.environ)
    )

    async def ask():
        texts, errors = set(), set()
        with open(os.devnull, "w") as log:  # noqa: ASYNC230
            async with Client(stdio_client(given, errlog=log)) as client:
                for name in (UNKNOWN, foreign, "art_1_0", "nonsense"):
                    found = await client.call_tool("get_artifact", {"id": name})
                    texts.add((found.is_error, found.content[0].text.replace(name, "ID")))
                    with pytest.raises(MCPError) as caught:
                        await client.read_resource(f"artifact://{name}")
                    errors.add((caught.value.error.code, str(caught.value).replace(name, "ID")))
        return texts, errors

    texts, errors = asyncio.run(ask())
    assert (1, 1) == (len(texts), len(errors)), (texts, errors)
    assert "secret" not in str((texts, errors))


def test_another_sessions_id_takes_as_long_as_an_unknown_one(foreign, session):
    """The time of an answer tells nothing: both are one look-up in this session's file, call for call."""

    def work(name):
        """What is called for an answer, in order, C functions too."""
        seen = []
        sys.setprofile(
            lambda frame, event, what: seen.append(
                (event, frame.f_code.co_name, getattr(what, "__name__", None))
            )
        )
        try:
            assert not session.exists(name)
        finally:
            sys.setprofile(None)
        return seen

    work(UNKNOWN)  # which fills caches
    assert len(work(UNKNOWN)) > 10
    assert work(UNKNOWN) == work(foreign[1])
