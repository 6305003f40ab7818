"""deepagents: its large tool results in our session, read back by its own tools."""

from __future__ import annotations

import asyncio

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("deepagents")
pytestmark = pytest.mark.adapters

from deepagents import create_deep_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402

from spillstore.exceptions import StorageError  # noqa: E402
from spillstore_tools.adapters.deepagents import SpillBackend, large_tool_results  # noqa: E402


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


@tool
def run_tests() -> str:
    """Runs the tests."""
    return BIG


def run(backend, *messages, loop=False, **options):
    """The tool messages that a scripted model gets, by call."""
    model = Script(messages=iter([*messages, AIMessage("done")]))
    agent = create_deep_agent(model=model, tools=[run_tests], backend=backend, **options)
    given = {"messages": [("user", "go")]}
    result = asyncio.run(agent.ainvoke(given)) if loop else agent.invoke(given)
    return {each.tool_call_id: each.content for each in result["messages"] if isinstance(each, ToolMessage)}


def calls(*named):
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": i} for n, a, i in named])


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_large_results_are_stored_and_read_back(session, loop):
    """By the tools that deepagents offers, with true line numbers."""
    path = "/large_tool_results/c1"
    shown = run(
        large_tool_results(session),
        calls(("run_tests", {}, "c1"), ("run_tests", {}, "c4")),
        calls(("read_file", {"file_path": path, "offset": LINE - 2, "limit": 3}, "c2")),
        calls(
            (
                "grep",
                {"pattern": "error: boom", "path": "/large_tool_results", "output_mode": "content"},
                "c3",
            )
        ),
        loop=loop,
    )
    assert path in shown["c1"]
    assert session.find("c1").read_text() == session.find("c4").read_text() == BIG
    assert BOOM.strip() in shown["c2"]
    assert f"lines {LINE - 1}-{LINE + 1} of {2 * LINE - 1}" in shown["c2"]
    assert f"{LINE}: {BOOM.strip()}" in shown["c3"]
    assert {"/large_tool_results/c1", "/large_tool_results/c4"} <= set(shown["c3"].replace(":", "").split())


def test_a_failure_gives_back_the_result():
    """The agent keeps what could not be written."""

    def fails():
        raise StorageError("no room")

    assert BOOM in run(large_tool_results(fails), calls(("run_tests", {}, "c1")))["c1"]


def test_our_middleware_comes_before_its_own(session):
    """Then the model sees the line that matters at once."""
    langchain = pytest.importorskip("spillstore_tools.adapters.langchain")
    middleware = langchain.SpillMiddleware(session)
    shown = run(large_tool_results(session), calls(("run_tests", {}, "c1")), middleware=[middleware])
    assert BOOM in shown["c1"]
    assert len(shown["c1"]) <= 8000


@pytest.fixture
def backend(session):
    return SpillBackend(session)


def test_reads_are_windows_of_lines(backend):
    """Clamped as the protocol says."""
    assert backend.write("/a/log", "one\ntwo\r\nthree\n").path == "/a/log"
    whole = backend.read("/a/log")
    assert whole.file_data == {"content": "one\ntwo\nthree\n", "encoding": "utf-8"}
    assert (whole.total_lines, whole.start_line, whole.end_line, whole.next_offset) == (3, 1, 3, None)
    part = backend.read("/a/log", 1, 1)
    assert (part.file_data["content"], part.start_line, part.end_line, part.next_offset) == ("two\n", 2, 2, 2)
    assert backend.read("/a/log", -5, 1).start_line == 1
    assert backend.read("/a/log", 0, 0).no_lines_requested
    assert "exceeds file length (3 lines)" in backend.read("/a/log", 3).error
    assert "not found" in backend.read("/a").error
    for blank in ("", " \n\n"):
        backend.write("/blank", blank)
        assert backend.read("/blank").file_data["content"] == blank
        assert backend.read("/blank").total_lines is None


def test_a_read_of_long_lines_is_bounded(backend):
    """And goes on where it stopped."""
    backend.write("/long", ("x" * 3_000_000 + "\n") * 3 + "y" * 9_000_000)
    first = backend.read("/long")
    assert (len(first.file_data["content"]), first.end_line, first.next_offset) == (3_000_001, 1, 1)
    last = backend.read("/long", 3)
    assert (last.start_line, last.end_line, last.next_offset, last.total_lines) == (4, 4, None, 4)
    assert len(last.file_data["content"]) == 4 * 1024 * 1024


def test_searches_are_literal_and_counted(backend):
    """In the files that a folder and a pattern name."""
    backend.write("/a/one.txt", "x.y\nxzy\n")
    backend.write("/a/b/two.log", "no\nx.y\nx.y\n")
    backend.write("/ab", "x.y")
    found = backend.grep("x.y", "/a")
    assert [(each["path"], each["line"]) for each in found.matches] == [
        ("/a/b/two.log", 2),
        ("/a/b/two.log", 3),
        ("/a/one.txt", 1),
    ]
    assert not found.truncated
    assert len(backend.grep("x.y").matches) == 4
    assert [each["path"] for each in backend.grep("x.y", glob="*.txt").matches] == ["/a/one.txt"]
    assert backend.grep("x.y", "/a", max_count=3) == found
    cut = backend.grep("x.y", "/a", max_count=2)
    assert (len(cut.matches), cut.truncated) == (2, True)
    assert backend.grep("x.y", glob="../*").error


def test_files_are_listed(backend):
    """With their sizes; folders once."""
    backend.write("/a/one.txt", "1")
    backend.write("/a/b/two.log", "22")
    backend.write("/top", "333")
    assert [(each["path"], each["is_dir"]) for each in backend.ls("/").entries] == [
        ("/a/", True),
        ("/top", False),
    ]
    assert [(each["path"], each["size"]) for each in backend.ls("/a").entries] == [
        ("/a/b/", 0),
        ("/a/one.txt", 1),
    ]
    assert [each["path"] for each in backend.glob("*.log").matches] == ["/a/b/two.log"]
    assert [each["path"] for each in backend.glob("/a/*").matches] == ["/a/one.txt"]
    assert backend.glob("..").error


def test_files_are_changed_and_deleted(backend):
    """A folder with all that is in it."""
    backend.write("/a/one", "one two one")
    assert backend.edit("/a/one", "one", "1").error
    assert backend.edit("/a/one", "one", "1", replace_all=True).occurrences == 2
    assert backend.read("/a/one").file_data["content"] == "1 two 1"
    assert backend.edit("/none", "a", "b").error
    backend.write("/a/one", "anew")
    assert backend.read("/a/one").file_data["content"] == "anew"
    assert len(list(backend.session.infos())) == 1
    assert backend.delete("/a").path == "/a"
    assert backend.delete("/a").error
    assert backend.ls("/").entries == []


def test_bytes_go_up_and_down(backend):
    """Text and what is none."""
    data = bytes(range(256))
    up = backend.upload_files([("/text", "é".encode()), ("/image.png", data)])
    assert [each.error for each in up] == [None, None]
    down = backend.download_files(["/text", "/image.png", "/none"])
    assert [each.content for each in down] == ["é".encode(), data, None]
    assert down[2].error == "file_not_found"
    assert backend.read("/image.png").file_data["encoding"] == "base64"
    assert backend.edit("/image.png", "a", "b").error


def test_no_method_raises():
    """A store that fails is the result's error."""

    def fails():
        raise StorageError("no room")

    backend = SpillBackend(fails)
    results = [
        backend.read("/a"),
        backend.write("/a", "x"),
        backend.edit("/a", "x", "y"),
        backend.delete("/a"),
        backend.ls("/"),
        backend.glob("*"),
        backend.grep("x"),
        *backend.upload_files([("/a", b"")]),
        *backend.download_files(["/a"]),
    ]
    assert all("no room" in each.error for each in results)
