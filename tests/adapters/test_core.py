"""What all adapters share: results of any shape in, what the model is shown out, and the tools that bring the rest."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import datetime as dt
import gc
import json
import logging
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from logs import BIG, BOOM, LINE

from spillstore import Store, aio
from spillstore.exceptions import InvalidSettingError, StorageError
from spillstore_tools.adapters import core
from spillstore_tools.adapters.core import RETRIEVAL, Adapter, Shown
from spillstore_tools.adapters.json_pieces import is_small, json_pieces
from spillstore_tools.config import TruncationConfiguration

pytestmark = pytest.mark.adapters
GONE = "[REDACTED: GITHUB_TOKEN]"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def adapter(session):
    return Adapter(session)


def spec(adapter, name):
    return next(each for each in adapter.specs() if each.name == name)


class Model:
    """What looks like a pydantic model."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def model_dump(self, *, mode):
        assert mode == "json"
        return dict(self.__dict__)

    def model_copy(self, *, update):
        return type(self)(**{**self.__dict__, **update})


@dataclasses.dataclass
class Record:
    name: str
    log: str


# --- shapes ---------------------------------------------------------------------------------------------


def test_a_large_text_is_stored_and_shown_in_part(adapter, session):
    """With the line that matters, and by the id of its call."""
    shown = adapter.shown("run_tests", BIG, call_id="call_1")
    assert shown.changed
    assert BOOM in shown.content
    assert len(shown.content) <= 8000
    assert shown.artifact_ids == (shown.artifact_id,)
    assert session.find("call_1").id == shown.artifact_id
    assert session.artifact(shown.artifact_id).read_text() == BIG


@pytest.mark.parametrize(
    "result",
    [
        "little\n",
        b"little",
        {"a": [1, None]},
        [1, "two"],
        None,
        True,
        7,
        2.5,
        Record("a", "b"),
        Model(a=1),
        object(),
        "",
        {},
        [],
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_small_result_is_the_same_object(adapter, session, result):
    """Whatever it is; nothing is stored."""
    shown = adapter.shown("tool", result)
    assert shown == Shown(result)
    assert shown.content is result
    assert not list(session.infos())


@pytest.mark.parametrize(
    "result",
    [{"log": BIG, "exit_code": 1}, [BIG], Record("a", BIG), Model(log=BIG), (1, {"log": BIG})],
    ids=["dict", "list", "dataclass", "model", "tuple"],
)
def test_a_large_value_is_stored_as_json(adapter, session, result):
    """And the text shows the line that matters."""
    shown = adapter.shown("tool", result)
    assert BOOM.strip() in shown.content
    artifact = session.artifact(shown.artifact_id)
    assert artifact.info.content_type == "application/json"
    assert BIG in json.dumps(json.loads(artifact.read()), indent=0).encode().decode("unicode_escape")


def test_bytes_are_shown_as_text(adapter, session):
    """Of whatever buffer they are."""
    for data in (BIG.encode(), bytearray(BIG.encode()), memoryview(BIG.encode())):
        shown = adapter.shown("tool", data)
        assert BOOM in shown.content
        assert session.artifact(shown.artifact_id).read() == BIG.encode()


def blocks(text):
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    return [
        [{"type": "text", "text": text}, image],
        ({"type": "text", "text": text, "annotations": {"a": 1}},),
        {"content": [{"type": "text", "text": text}, image], "isError": False},
        {"toolUseId": "c1", "status": "success", "content": [{"text": text}, {"image": {"format": "png"}}]},
        [Model(type="text", text=text), Model(type="image", data="aGk=")],
        Model(content=[Model(type="text", text=text)], isError=False, structuredContent=None),
        [{"type": "resource", "resource": {"uri": "file:///a", "text": text}}],
    ]


@pytest.mark.parametrize("number", range(len(blocks(""))))
def test_blocks_keep_their_shape(adapter, number):
    """Only the text is another one; images and what stands around stay."""
    result = blocks(BIG)[number]
    before = plain(result)
    shown = adapter.shown("tool", result, call_id="c1")
    assert plain(result) == before
    assert shown.changed
    assert type(shown.content) is type(result)
    text = adapter.shown("tool", BIG, call_id="c2").content
    cut = json.dumps(plain(shown.content)).replace(shown.artifact_id, "ID")
    expected = json.dumps(plain(blocks(text)[number]))
    for artifact in [adapter.session.find("c2").id]:
        expected = expected.replace(artifact, "ID")
    assert cut == expected


def plain(value):
    if isinstance(value, Model):
        return plain(value.__dict__)
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def test_small_blocks_are_the_same_object(adapter):
    """The list, and all that is in it."""
    for result in blocks("little"):
        assert adapter.shown("tool", result).content is result


def test_a_value_in_a_block_becomes_a_text(adapter):
    """Where it is large."""
    result = {"status": "success", "content": [{"json": {"log": BIG}}, {"json": {"a": 1}}]}
    first, second = adapter.shown("tool", result).content["content"]
    assert BOOM.strip() in first["text"]
    assert second is result["content"][1]


def test_a_list_may_be_said_to_be_blocks(adapter):
    """Texts that stand for themselves, and blocks of a kind that nobody knows."""
    result = [BIG, {"type": "new", "x": 1}]
    shown = adapter.shown("tool", result, blocks=True)
    assert BOOM in shown.content[0]
    assert shown.content[1] is result[1]


def test_many_blocks_are_as_bounded_as_one(adapter, session):
    """Those behind the first 32,000 characters are stored and shown as one."""
    result = [{"type": "text", "text": f"block {number}\n" + "ok\n" * 2000 + BOOM} for number in range(100)]
    shown = adapter.shown("tool", result)
    assert sum(len(block["text"]) for block in shown.content) < 60_000
    assert shown.content[0] is result[0]
    assert "blocks of the result, from block" in shown.content[-1]["text"]
    assert BOOM in shown.content[-1]["text"]
    assert "block 99\n" in session.artifact(shown.artifact_id).read_text()


def test_a_structured_value_that_repeats_the_text_is_stored_once(adapter, session):
    """And is replaced by a short one that names the artifact."""
    value = {"log": BIG}
    text = json.dumps(value, indent=2)
    result = {"content": [{"type": "text", "text": text}], "structuredContent": value, "isError": False}
    shown = adapter.shown("tool", result)
    assert shown.content["structuredContent"] == {"spillstore": {"artifact_id": shown.artifact_id}}
    assert len(list(session.infos())) == 1


def test_a_structured_value_that_is_large_alone_has_its_preview(adapter):
    """Since some clients show the model nothing else."""
    result = Model(
        content=[Model(type="text", text="see there")], structuredContent={"log": BIG}, isError=False
    )
    shown = adapter.shown("tool", result)
    stand_in = shown.content.structuredContent["spillstore"]
    assert stand_in["artifact_id"] == shown.artifact_id
    assert BOOM.strip() in stand_in["preview"]
    assert shown.content.content is result.content


def test_results_of_the_protocols_own_package_keep_their_types(adapter):
    """And its models know them again."""
    types = pytest.importorskip("mcp.types")
    image = types.ImageContent(type="image", data="aGk=", mimeType="image/png")
    result = types.CallToolResult(content=[types.TextContent(type="text", text=BIG), image])
    shown = adapter.shown("t", result).content
    assert isinstance(shown, types.CallToolResult)
    assert isinstance(shown.content[0], types.TextContent)
    assert BOOM in shown.content[0].text
    assert shown.content[1] is image
    assert types.CallToolResult.model_validate(shown.model_dump()) == shown
    assert result.content[0].text is BIG


def test_a_pydantic_model_is_stored_as_json(adapter, session):
    """With what JSON has for its types."""
    pydantic = pytest.importorskip("pydantic")

    class Report(pydantic.BaseModel):
        at: dt.datetime
        parts: list[dict[str, str]]

    report = Report(at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC), parts=[{"log": BIG}])
    shown = adapter.shown("t", report)
    assert BOOM.strip() in shown.content
    assert json.loads(session.artifact(shown.artifact_id).read()) == report.model_dump(mode="json")
    small = Report(at=report.at, parts=[])
    assert adapter.shown("t", small).content is small


# --- what passes ----------------------------------------------------------------------------------------


def test_results_that_code_consumes_pass(session):
    """Of tools that are skipped, of those that are not named, and of calls in a block; on other threads they do not."""
    assert not Adapter(session, skip={"fetch"}).shown("fetch", BIG).changed
    assert not Adapter(session, only={"fetch"}).shown("read", BIG).changed
    adapter = Adapter(session, only={"fetch"})
    found = []
    with adapter.off():
        assert not adapter.shown("fetch", BIG).changed
        assert not asyncio.run(adapter.ashown("fetch", BIG)).changed
        thread = threading.Thread(target=lambda: found.append(adapter.shown("fetch", BIG)))
        thread.start()
        thread.join()
    assert found[0].changed
    assert adapter.shown("fetch", BIG).changed


def test_answers_of_our_own_tools_pass(adapter, session):
    """Once they were offered, by their names; and under another name, by their signatures."""
    artifact = session.put(BIG, source="doc")
    answer = spec(adapter, "get_artifact").call({"id": artifact.id, "max_chars": 60_000})
    assert len(answer) > 50_000
    assert adapter.shown("get_artifact", answer).content is answer
    assert Adapter(session).shown("wrapped", answer).content is answer
    assert (
        Adapter(session).shown("get_artifact", BIG).changed
    )  # a tool of somebody else's, since ours were not offered


def test_a_second_identical_call_names_the_first_artifact(adapter, session):
    """And nothing is stored again. Other arguments, or another tool, are another call."""
    first = adapter.shown("fetch", BIG, call_id="c1", arguments={"url": "a"})
    second = adapter.shown("fetch", BIG, call_id="c2", arguments={"url": "a"})
    assert second.artifact_id == first.artifact_id
    assert f"this is all of artifact {first.artifact_id} again" in second.content
    assert len(list(session.infos())) == 1
    assert adapter.shown("fetch", BIG, arguments={"url": "b"}).artifact_id != first.artifact_id
    assert adapter.shown("read", BIG, arguments={"url": "a"}).artifact_id != first.artifact_id
    third = adapter.shown("fetch", BIG, arguments={"url": "b"})
    assert third.artifact_id not in {None, first.artifact_id}


# --- secrets and the log --------------------------------------------------------------------------------


def test_secrets_are_taken_out_of_small_results_too(adapter, session):
    """In the same shape; what holds none stays what it is."""
    assert adapter.shown("t", f"use {SECRET}\n").content == f"use {GONE}\n"
    assert adapter.shown("t", {"a": SECRET}).content == {"a": GONE}
    assert adapter.shown("t", Record("a", SECRET)).content == {"name": "a", "log": GONE}
    assert adapter.shown("t", f"a {SECRET} b".encode()).content == f"a {GONE} b".encode()
    shown = adapter.shown("t", [{"type": "text", "text": SECRET}]).content
    assert shown == [{"type": "text", "text": GONE}]
    large = adapter.shown("t", BIG + SECRET, arguments={"key": SECRET})
    assert SECRET not in large.content + session.artifact(large.artifact_id).read_text()
    assert SECRET not in session.artifact(large.artifact_id).info.command
    assert not Adapter(session, redact=False).shown("t", SECRET).changed


def test_calls_are_in_the_audit_log(adapter, session):
    """What is stored, and what the model reads, with the ids of the calls."""
    shown = adapter.shown("fetch", BIG, call_id="c1")
    spec(adapter, "search_artifact").call({"id": shown.artifact_id, "pattern": "boom"}, call_id="c2")
    events = {event.kind: event for event in session.events()}
    assert events["search"].tool_call_id == "c2"
    assert events["search"].actor == "model"
    assert events["create"].artifact_id == shown.artifact_id


# --- tools ----------------------------------------------------------------------------------------------


def test_the_tools_answer(adapter):
    """By name, with a schema; arguments may be JSON; an error is a text."""
    specs = adapter.specs()
    assert tuple(each.name for each in specs) == RETRIEVAL
    assert all(each.schema["type"] == "object" and each.description for each in specs)
    shown = adapter.shown("run_tests", BIG)
    search, get = spec(adapter, "search_artifact"), spec(adapter, "get_artifact")
    assert str(LINE) in search.call({"id": shown.artifact_id, "pattern": "boom"})
    assert BOOM in get.call(json.dumps({"id": shown.artifact_id, "start_line": LINE, "end_line": LINE}))
    assert BOOM in asyncio.run(get.acall({"id": shown.artifact_id, "start_line": LINE, "end_line": LINE}))
    assert "not found" in get.call({"id": "art_1_2"})
    assert get.answer({"id": "art_1_2"}).is_error


def test_bash_is_a_tool_where_it_is_asked_for(session):
    """Its output is stored in the same session."""
    adapter = Adapter(session, tools=("bash", "get_artifact"))
    bash = spec(adapter, "bash")
    assert bash.call({"command": "echo hi"}) == "hi\n[exit code 0]\n"
    assert asyncio.run(bash.acall({"command": "echo hi"})) == "hi\n[exit code 0]\n"


def test_what_does_not_exist_is_refused_at_once(session):
    """A tool, a profile, and what is no session."""
    for arguments in ({"tools": ("grep",)}, {"profile": "larger"}):
        with pytest.raises(InvalidSettingError):
            Adapter(session, **arguments)
    with pytest.raises(InvalidSettingError, match="needs a session"):
        Adapter(5)


# --- failures -------------------------------------------------------------------------------------------


def test_a_failure_gives_back_the_result(caplog):
    """And a line in the log: where no session can be opened, and where it was closed."""

    def fails():
        raise StorageError("no room")

    adapter = Adapter(fails)
    assert adapter.shown("fetch", BIG).content is BIG
    assert asyncio.run(adapter.ashown("fetch", BIG)).content is BIG
    assert [record.message for record in caplog.records if record.name == "spillstore.adapters"] == [
        "the result of the tool 'fetch' is passed on as it is: StorageError: no room"
    ] * 2
    assert "no room" in spec(adapter, "get_artifact").call({"id": "art_1_2"})


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError, SystemExit])
def test_interruptions_pass(error):
    """They are for the agent."""

    def interrupted():
        raise error

    with pytest.raises(error):
        Adapter(interrupted).shown("fetch", Interrupting(error))


class Interrupting(dict):
    def __init__(self, error):
        super().__init__(a=1)
        self.error = error

    def get(self, *_):
        raise self.error


def test_a_value_that_json_cannot_hold_passes(adapter, caplog):
    """One that contains itself, and one with an object inside."""
    value = {"log": BIG}
    value["self"] = value
    assert adapter.shown("t", value).content is value
    other = {"log": BIG, "object": object()}
    assert adapter.shown("t", other).content is other
    assert "contains itself" in caplog.text
    assert "object cannot be written as JSON" in caplog.text


def test_a_closed_adapter_passes_results_on(store, caplog):
    """Small ones and large ones."""
    with Adapter(lambda: store.session("closed")) as adapter:
        assert adapter.shown("t", BIG).changed
    assert adapter.shown("t", BIG).content is BIG
    assert "closed" in caplog.text


def test_what_a_profile_refuses_is_an_error(session):
    """As the profile has it; nothing is stored, and nothing has failed."""
    configuration = TruncationConfiguration(max_artifact_size=100_000)
    shown = Adapter(session, profile="acode", configuration=configuration).shown("t", BIG)
    assert (shown.is_error, shown.changed, shown.artifact_id) == (True, True, None)
    assert len(shown.content) < 1000


# --- asyncio and threads --------------------------------------------------------------------------------


def test_the_loop_goes_on(store):
    """While a large result is stored: here its session opens when the loop says so."""
    may = threading.Event()

    def opens():
        assert may.wait(120)
        return store.session("late")

    async def main():
        async with Adapter(opens) as adapter:
            task = asyncio.create_task(adapter.ashown("t", BIG))
            await asyncio.sleep(0.01)
            may.set()
            return await task

    assert asyncio.run(main()).changed


def test_parallel_calls_do_not_mix(adapter):
    """Each has its own result."""
    texts = [f"call {number}\n{BIG}" for number in range(8)]

    async def main():
        calls = (adapter.ashown("t", text, call_id=f"c{number}") for number, text in enumerate(texts))
        return await asyncio.gather(*calls)

    for number, shown in enumerate(asyncio.run(main())):
        assert f"call {number}\n" in shown.content
        assert adapter.session.find(f"c{number}").read_text() == texts[number]


def test_cancelling_stops_the_waiting_alone(store):
    """What was begun is finished on its thread."""
    begun, may = threading.Event(), threading.Event()

    def opens():
        begun.set()
        assert may.wait(120)
        return store.session("late")

    async def main():
        task = asyncio.create_task(adapter.ashown("t", BIG, call_id="c1"))
        await asyncio.to_thread(begun.wait, 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        may.set()

    with Adapter(opens) as adapter:
        asyncio.run(main())  # whose end waits for its threads
        assert adapter.session.find("c1").read_text() == BIG


def test_small_results_need_no_thread(adapter, monkeypatch):
    """Once there was one result."""
    adapter.shown("t", "first")
    monkeypatch.setattr(asyncio, "to_thread", None)
    for result in ("little\n", {"a": 1}, [1, 2], None):
        assert asyncio.run(adapter.ashown("t", result)).content is result


def test_threads_share_an_adapter(store):
    """One session is opened for all of them."""
    opened = []
    adapter = Adapter(lambda: opened.append(1) or store.session("threads"))
    shown = {}

    def run(number):
        shown[number] = adapter.shown("t", f"{number}\n{BIG}", call_id=str(number))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(adapter.session.find(str(number)).id == each.artifact_id for number, each in shown.items())
    adapter.close()
    assert opened == [1]


def test_a_session_of_aio_is_taken(store):
    """As those of the plain store."""

    async def main():
        async with (
            aio.Store(store.root, free_disk_floor=0).session("aio") as session,
            Adapter(session) as adapter,
        ):
            shown = await adapter.ashown("t", BIG, call_id="c1")
            return shown.artifact_id == (await session.find("c1")).id

    assert asyncio.run(main())


# --- the session's life ---------------------------------------------------------------------------------


def test_a_session_is_opened_with_the_first_large_result_alone(store):
    """And closed with the adapter; one that was given stays open."""
    with Adapter(lambda: store.session("lazy")) as adapter:
        adapter.shown("t", "little\n")
        assert not list(store.sessions())
        adapter.shown("t", BIG)
        opened = adapter.session
    with pytest.raises(Exception, match="was closed"):
        opened.artifact("art_1_2")
    with store.session("given") as session:
        Adapter(session).close()
        session.put("open")


def test_a_name_is_enough(tmp_path, monkeypatch):
    """In the default store; without one it is that of the environment, or new."""
    monkeypatch.setenv("SPILLSTORE_ROOT", str(tmp_path))
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    with Adapter("mine") as adapter:
        assert adapter.shown("t", BIG).changed
    with Adapter() as adapter:
        assert adapter.session.id.startswith("agent-")
    monkeypatch.setenv("SPILLSTORE_SESSION", "named")
    with Adapter() as adapter:
        assert adapter.session.id == "named"
    assert "mine" in {each.id for each in Store(tmp_path).sessions()}


def test_an_adapter_that_nobody_holds_is_closed_by_the_next(store):
    """Not by the garbage collector."""
    adapter = Adapter(lambda: store.session("left"))
    adapter.shown("t", BIG)
    session = adapter.session
    del adapter
    gc.collect()
    session.exists("art_1_2")
    with Adapter(lambda: store.session("next")) as following:
        following.shown("t", BIG)
    with pytest.raises(Exception, match="was closed"):
        session.artifact("art_1_2")


PROGRAM = """
    import os, sys
    from spillstore import Store
    from spillstore_tools.adapters.core import Adapter
    adapter = Adapter(lambda: Store(sys.argv[1], free_disk_floor=0).session("forked"))
    text = "line\\n" * 100_000
    assert adapter.shown("t", "parent " + text, call_id="parent").changed
    child = os.fork()
    assert adapter.shown("t", f"after {child == 0} {text}", call_id=f"after {child == 0}").changed
    if child:
        assert os.waitpid(child, 0)[1] == 0
    # nobody closes it
"""


@pytest.mark.long
def test_a_forked_child_has_a_session_of_its_own(tmp_path):
    """Parent and child go on, and both are closed at their exits."""
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-c",
        textwrap.dedent(PROGRAM),
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    with Store(tmp_path, free_disk_floor=0).session("forked", read_only=True) as session:
        calls = {info.tool_call_id: info.state for info in session.infos()}
    assert calls == dict.fromkeys(("parent", "after True", "after False"), "sealed")
    assert Store(tmp_path, free_disk_floor=0).delete("forked") is None


# --- costs ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_importing_it_imports_no_framework():
    """Nor what only a large result needs."""
    code = "import sys, spillstore_tools.adapters.core; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "spillstore.session",
        "mcp",
        "pydantic",
        "asyncio",
        "sqlalchemy",
        "spillstore_tools.output.truncation",
        "spillstore.redaction",
    }
    assert set() == heavy & set(done.stdout.split())


SHARED = {"closing", "commands", "core", "keyed_artifacts", "opened_session"}
FOLDER = Path(core.__file__).parent


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_an_adapter_imports_neither_mcp_nor_another(path):
    """Since frameworks ask for versions of ``mcp`` that exclude each other."""
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    assert not {name for name in imported if name.split(".")[0] in {"mcp", "pydantic"}}
    others = {name.split(".")[2] for name in imported if name.startswith("spillstore_tools.adapters.")}
    own = (
        {"blocks", "json_pieces", "result_fitting", "tool_spec"}
        if path.stem in {"core", "result_fitting"}
        else set()
    )
    assert others <= SHARED | own


@pytest.mark.repeat
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_result_of_200_mb_is_not_copied(tmp_path):
    """Text, bytes and a value alike: what the process takes besides is flat."""
    code = """
        import resource, sys
        from spillstore import Store
        from spillstore_tools.adapters.core import Adapter
        line = "2026-11-20 12:00:00 worker 7 has done its part, and goes on with the next one\\n"
        text = line * (200_000_000 // len(line))
        result = {"text": text, "bytes": text.encode(), "value": {"log": text, "code": 1},
                  "blocks": [{"type": "text", "text": text}]}[sys.argv[2]]
        if sys.argv[2] == "bytes":
            del text
        adapter = Adapter(lambda: Store(sys.argv[1], free_disk_floor=0).session("large"))
        adapter.shown("t", line)
        with open("/proc/self/statm") as file:
            before = int(file.read().split()[1]) * resource.getpagesize()
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak counts from here
        shown = adapter.shown("t", result)
        assert shown.changed
        with open("/proc/self/status") as file:
            peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
        print(peak - before)
    """
    for kind in ("text", "bytes", "value", "blocks"):
        command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / kind), kind]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        print(kind, int(done.stdout) / 1e6)
        assert int(done.stdout) < 120e6, kind


# --- values as JSON -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        {"a": "x" * 100_000, 1: [True, None, 2.5], None: 'é\n"\\'},
        list(range(50_000)),
        ["a" * 70_000, {}],
        {"k": {"k": "v" * 40_000}},
    ],
    ids=["mixed", "numbers", "texts", "nested"],
)
def test_values_are_written_as_json_writes_them(value):
    """In pieces that are not much larger than 64 KiB."""
    pieces = list(json_pieces(value))
    assert "".join(pieces) == json.dumps(value, ensure_ascii=False)
    assert max(map(len, pieces)) < 200_000
    assert json.dumps({"a": float("nan")}) == "".join(json_pieces({"a": float("nan")}))
    assert not is_small(value)


def test_a_log_line_is_one_line(caplog, adapter):
    """Whatever the tool is called."""
    with caplog.at_level(logging.WARNING):
        adapter.shown("a\nb", {"x": BIG, "y": object()})
    assert "\n" not in caplog.records[0].message
    assert os.linesep == "\n"


def test_long_arguments_are_cut_without_their_secrets(adapter, session):
    """Redaction comes before the cut, which may stand in the middle of a secret; so of a long id."""
    secret = "ghp_" + "a1B2c3" * 6
    arguments = {"body": "x" * 960, "note": f"a {secret} b", "more": "yes"}
    shown = adapter.shown("fetch", BIG, call_id="k" * 170 + f" {secret}", arguments=arguments)
    info = session.artifact(shown.artifact_id).info
    assert info.command.startswith('{"body": "xxx') and info.command.endswith("...")
    assert secret[:8] not in info.command + info.tool_call_id
    assert len(info.tool_call_id) <= 200
