"""``spillstore mcp-proxy`` in front of a server that means harm or is broken: every call is answered, in bounds, without secrets."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import each_of
from test_mcp_proxy import PROXY, RAW, conversation, talk

from spillstore_tools.mcp.proxy.listing import OwnToolNames
from spillstore_tools.mcp.proxy.notes import excerpt
from spillstore_tools.mcp.proxy.previews import META
from spillstore_tools.mcp.proxy.result_fitting import BINARY, OTHERS, TOGETHER
from spillstore_tools.mcp.proxy.results import ResultFitter
from spillstore_tools.mcp.wire.lines import OversizedLine, read_lines
from spillstore_tools.mcp.wire.messages import ToolCall, id_in, tool_call
from spillstore_tools.output.truncation import TruncationProcessor

__all__ = ["talk"]
SECRET = "hunter2hunter"
SAYS = f"password={SECRET}"
MANY = 50_000  # of these are more than one read holds, and far more than is shown
DEEP = "[" * 3000 + "]" * 3000
DEEPER = "[" * 100_000 + "]" * 100_000
LONG_NUMBER = "9" * 6000
TEXT = '"content":[{"type":"text","text":"x"}]'

RESULTS = {
    "deep structured content": f'{{{TEXT},"structuredContent":{{"a":"{SAYS}","b":{DEEP}}}}}',
    "deeper structured content": f'{{{TEXT},"structuredContent":{{"a":"{SAYS}","b":{DEEPER}}}}}',
    "a secret number beside depth": f'{{{TEXT},"structuredContent":{{"password":{10**14 + 7},"a":"{SAYS}","b":{DEEP}}}}}',
    "a long number": f'{{{TEXT},"structuredContent":{{"a":"{SAYS}","b":{LONG_NUMBER}}}}}',
    "needless escapes": f'{{{TEXT},"structuredContent":{{"a":"pass\\u0077ord={SECRET}"}}}}',
    "content that is a text": f'{{"content":"{SAYS}"}}',
    "content that is a large text": f'{{"content":"{(SAYS + " ") * MANY}"}}',
    "content that is an object": f'{{"content":{{"type":"text","text":"{SAYS}"}}}}',
    "a result that is a text": f'"{SAYS}"',
    "a result that is a list": f'["{SAYS}",{DEEP}]',
    "a result of another time": f'{{"toolResult":{{"a":"{SAYS}"}}}}',
    "an unknown block": f'{{"content":[{{"type":"hologram","x":"{SAYS}"}}]}}',
    "a deep unknown block": f'{{"content":[{{"type":"hologram","x":"{SAYS}","y":{DEEP}}}]}}',
    "blocks that are none": f'{{"content":[1,null,"{SAYS}",{{"type":5}},{{"type":"text","text":{{"a":"{SAYS}"}}}}]}}',
    "a link": f'{{"content":[{{"type":"resource_link","uri":"https://me:{SECRET}@host/","name":"n"}}]}}',
    "the address of a resource": f'{{"content":[{{"type":"resource","resource":{{"uri":"https://me:{SECRET}@host/","text":"x"}}}}]}}',
    "annotations": f'{{"content":[{{"type":"text","text":"x","annotations":{{"a":"{SAYS}"}}}}]}}',
    "metadata": f'{{"content":[],"_meta":{{"a":"{SAYS}"}}}}',
    "large metadata": f'{{"content":[],"_meta":{{"a":"{(SAYS + " ") * MANY}"}}}}',
    "large annotations": f'{{"content":[{{"type":"text","text":"x","_meta":{{"a":"{(SAYS + " ") * MANY}"}}}}]}}',
    "a picture that is none": f'{{"content":[{{"type":"image","data":"{SAYS}","mimeType":"image/png"}}]}}',
    "a state of a task": f'{{"task":{{"taskId":"t","status":"working","statusMessage":"{SAYS}"}}}}',
}
ERRORS = {
    "deep data": f'{{"code":1,"message":"{SAYS}","data":{DEEP}}}',
    "deeper data": f'{{"code":1,"message":"{SAYS}","data":{DEEPER}}}',
    "a long code": f'{{"code":{LONG_NUMBER},"message":"{SAYS}"}}',
    "a code that is none": f'{{"code":NaN,"message":"{SAYS}"}}',
    "a text": f'"{SAYS}"',
    "null": "null",
    "half a pair": f'{{"code":1,"message":"\\ud800 {SAYS}"}}',
    "a large message": f'{{"code":1,"message":"{(SAYS + " ") * MANY}","data":"{SAYS}","more":"{SAYS}"}}',
    "large data": f'{{"code":1,"message":"{SAYS}","data":["{(SAYS + " ") * MANY}"]}}',
    "a large member": f'{{"code":1,"message":"{SAYS}","more":"{(SAYS + " ") * MANY}"}}',
}
BOUND = 20_000


@pytest.fixture(scope="module")
def it(tmp_path_factory):
    """A client of one proxy for all answers, which must not harm each other either."""
    environment = {
        **os.environ,
        "SPILLSTORE_ROOT": str(tmp_path_factory.mktemp("root")),
        "SPILLSTORE_FREE_DISK_FLOOR": "0",
    }
    with contextlib.ExitStack() as stack:
        yield conversation(stack, RAW, "--session", "named", env=environment)


def of(identity, member, raw):
    return f'{{"jsonrpc":"2.0","id":{identity},"{member}":{raw}}}'


def read(it):
    """A line, which the standard library may not be able to read; and its id."""
    line = it.read().decode()
    try:
        return line, json.loads(line)["id"]
    except (RecursionError, ValueError):
        return line, json.loads(id_in(line[:BOUND].encode(), None))


@pytest.mark.long
@pytest.mark.parametrize(
    ("member", "raw"),
    [pytest.param("result", raw, id=name) for name, raw in RESULTS.items()]
    + [pytest.param("error", raw, id=f"error: {name}") for name, raw in ERRORS.items()],
)
def test_whatever_a_call_is_answered_it_comes_without_secrets_and_in_bounds(it, member, raw):
    """The answer has the call's id and no secret, is bounded, and what follows is answered."""
    identity = it.call("say", lines=[of("%ID%", member, raw)])
    line, found = read(it)
    assert (found, SECRET in line, len(line) <= BOUND) == (identity, False, True)
    assert it.words("large", bytes=21) == "some words of a line\n"


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "large metadata",
        pytest.param("content that is a large text", marks=pytest.mark.slow),
        pytest.param("large annotations", marks=[pytest.mark.slow, pytest.mark.repeat]),
    ],
)
def test_what_is_left_out_is_stored_without_its_secrets(talk, store, name):
    """The answer names the artifact, which has all of it but the secrets."""
    it = talk(RAW, "--session", "named")
    result = it.answer("say", lines=[of("%ID%", "result", RESULTS[name])])["result"]
    (stored,) = result["_meta"][META]
    assert stored["id"] in result["content"][-1]["text"]
    with store.session("named", read_only=True) as session:
        whole = session.artifact(stored["id"]).read_bytes(0, stored["bytes"] * 2).decode()
    assert (whole.count("password=[REDACTED: PASSWORD]"), whole.count(SECRET)) == (MANY, 0)


@pytest.mark.long
def test_what_is_no_result_is_told_and_shown(talk):
    """A model reads what happened and what the server said; whether it failed is what the server said."""
    it = talk(RAW)
    for is_error in (False, True):
        raw = json.dumps({"content": "just words", "isError": is_error})
        result = it.answer("say", lines=[of("%ID%", "result", raw)])["result"]
        words = result["content"][0]["text"]
        assert words.startswith(
            "[The result of say is not as the protocol has it, or too much (not a JSON array); as text:]\n"
        )
        assert ("just words" in words, result["isError"]) == (True, is_error)
    it.process.stdin.close()
    assert it.process.wait(120) == 0
    notes = it.process.stderr.read().decode().splitlines()
    assert notes == ["spillstore: the result of 'say' is shown as text: not a JSON array"] * 2


def test_a_result_that_nothing_can_handle_is_left_out(session):
    """Where even a text cannot be made of it, words say so, as an error, and nothing of it passes."""

    class Broken(TruncationProcessor):
        def process(self, *_, **__):
            raise MemoryError

    fitter = ResultFitter(Broken(session), lambda: OwnToolNames(()))
    result = json.loads(fitter.as_text(RESULTS["metadata"].encode(), ToolCall(tool="t"), MemoryError()))
    words = (
        f"[The result of t is not as the protocol has it, or too much (MemoryError); its {len(RESULTS['metadata'])} bytes "
        "are left out and not stored (MemoryError)]\n"
    )
    assert result == {"content": [{"type": "text", "text": words}], "isError": True}


@pytest.mark.long
def test_answers_that_nobody_waits_for_have_no_secrets_either(talk):
    """An answer with an id that no request has goes to the client like one of a call."""
    it = talk(RAW)
    strange = [
        of('"strange"', member, RESULTS["metadata"] if member == "result" else ERRORS["deep data"])
        for member in ("result", "error")
    ]
    it.call("say", lines=strange)
    assert [SECRET in read(it)[0] for _ in strange] == [False, False]


@pytest.mark.long
def test_members_beside_a_result_do_not_pass(talk):
    """An answer of a call has its id and its result or error, and nothing else."""
    it = talk(RAW)
    both = f'{{"jsonrpc":"2.0","id":%ID%,"result":{{"content":[]}},"error":{{"code":1,"message":"{SAYS}"}},"x":"{SAYS}"}}'
    assert it.answer("say", lines=[both]).keys() == {"jsonrpc", "id", "result"}


@pytest.mark.long
def test_a_list_of_tools_that_cannot_be_read_ends_nothing(talk):
    """A code of six thousand digits in place of tools is passed on, and calls are answered."""
    it = talk(RAW)
    server = (
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if 'id' in m and m['method'] == 'tools/list':\n"
        '        print(\'{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"m"}}\' % (json.dumps(m[\'id\']), \'9\' * 6000), flush=True)\n'
        "    elif 'id' in m:\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'content': []}}), flush=True)\n"
    )
    it = talk([sys.executable, "-c", server])
    assert it.answer("anything")["result"] == {"content": []}


# --- secrets at a cut, and in names ------------------------------------------------------------------------

TOKEN = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9" * 2
TAKEN_OUT = "[REDACTED: GITHUB_TOKEN]"
KEYS = ["AKIA" + f"IOSFODNN7EXAMPL{last}" for last in "QRS"]
KEY_TAKEN_OUT = "[REDACTED: AWS_ACCESS_KEY]"


@each_of("before", [940, 951, 965, 3_950, 20_000])
def test_arguments_are_cut_without_their_secrets(before):
    """Wherever the cut goes through one; nothing of it is left."""
    arguments = json.dumps({"body": "x" * before, "token": TOKEN, "more": "yes" * 2000}).encode()
    call = tool_call("t", 1, arguments, TruncationProcessor(None).shortened)
    assert call.arguments is not None
    assert (TOKEN[:6] in call.arguments, len(call.arguments), call.arguments[-3:]) == (False, 1000, "...")


def test_arguments_that_are_long_for_their_secrets_alone():
    """What fits without them is not cut."""
    words = [f"{TOKEN} "] * 30
    call = tool_call("t", 1, json.dumps(words).encode(), TruncationProcessor(None).shortened)
    assert call.arguments == json.dumps([f"{TAKEN_OUT} "] * 30)


@each_of("redact", [True, False])
def test_names_and_ids_of_calls_are_cut_without_their_secrets(redact):
    """Unless nothing is taken out: then they are cut as they are."""
    long = f"{'k' * 163} {TOKEN}"
    call = tool_call(long, long, b"{}", TruncationProcessor(None, redact=redact).shortened)
    expected = f"{'k' * 163} {TAKEN_OUT}" if redact else long[:200]
    assert (call.tool, call.id) == (expected, expected)


@pytest.mark.long
def test_rules_that_cannot_be_used_end_nothing(talk, tmp_path):
    """The arguments are cut by the built-in rules, and the call is answered."""
    (tmp_path / ".agent").mkdir()
    words = "tools: {truncation: {overrides: {say: {redaction: {patterns: {bad: '(['}}}}}}"
    (tmp_path / ".agent" / "config.yml").write_text(words)
    it = talk(RAW, cwd=tmp_path)
    result = it.answer("say", lines=[of("%ID%", "result", '{"content":[]}')], more="x" * 5000)["result"]
    assert result == {"content": []}


@each_of("size", [120, 121, 10_000, 300_000])
def test_a_line_for_people_is_cut_without_its_secrets(size):
    """Its size is told as it came."""
    line = f"{'x' * 80} {TOKEN} {'tail ' * size}".encode()
    told = excerpt(line)
    assert (TOKEN[:6] in told, told.endswith(f"... ({len(line)} bytes)")) == (False, True)


@each_of("before", [150, 180])
def test_addresses_and_media_types_are_cut_without_their_secrets(plain_store, before):
    """The lines that name blocks, and the media type of what is stored."""
    address = f"mem://{'x' * before}/ {TOKEN}"
    texts = [f"some words of block {number}\n" * 300 for number in range(9)] + ["words of a line\n" * 2000]
    with plain_store.session("s") as session:
        fitter = ResultFitter(TruncationProcessor(session), lambda: OwnToolNames(()))
        resources = [{"uri": address, "mimeType": f"text/{address}", "text": each} for each in texts[::-1]]
        content = [{"type": "resource", "resource": each} for each in resources]
        fitter.fit(json.dumps({"content": content}).encode(), ToolCall(tool="t"))
        stored = [(info.content_type, session.artifact(info.id).read().decode()) for info in session.infos()]
    assert any("--- block 10 of 10: resource mem://" in text for _, text in stored)
    assert [TOKEN[:6] in str(each) for each in stored] == [False] * len(stored)


@each_of("place", ["result", "block", "structuredContent", "resource"])
def test_members_whose_names_are_secrets_stay(session, place):
    """Each has a name of its own, and its value."""
    values = {"other": 1, **{key: {"rows": [key[:4]]} for key in KEYS}}
    result = {
        "result": {"content": [], **values},
        "block": {"content": [{"type": "text", "text": "x", **values}]},
        "structuredContent": {"content": [], "structuredContent": {"inner": [values]}},
        "resource": {"content": [{"type": "resource", "resource": {"uri": "u", "text": "x", **values}}]},
    }[place]
    fitter = ResultFitter(TruncationProcessor(session), lambda: OwnToolNames(()))
    fit = fitter.fit(json.dumps(result).encode(), ToolCall(tool="t"))
    names = [KEY_TAKEN_OUT, f"{KEY_TAKEN_OUT} (2)", f"{KEY_TAKEN_OUT} (3)"]
    expected = json.dumps(result)
    for key, name in zip(KEYS, names, strict=True):
        expected = expected.replace(key, name)
    assert json.loads(fit) == json.loads(expected)


def test_members_of_an_error_whose_names_are_secrets_stay(session):
    """Without the names that they had."""
    fitter = ResultFitter(TruncationProcessor(session), lambda: OwnToolNames(()))
    error = {"code": 1, "message": "m", **dict.fromkeys(KEYS[:2], 5)}
    fit = fitter.fit_error(json.dumps(error).encode(), ToolCall(tool="t"))
    expected = {"code": 1, "message": "m", KEY_TAKEN_OUT: 5, f"{KEY_TAKEN_OUT} (2)": 5}
    assert json.loads(fit) == expected


# --- servers that end early --------------------------------------------------------------------------------


@each_of(
    "script, count, code",
    [
        ("echo missing >&2; exit 3", 1, 3),
        ("exit 0", 1, 125),
        ("read line; exit 0", 50, 125),
        ("read line; exit 4", 50, 4),
        ("exec 0<&-; exit 5", 50, 5),
    ],
)
def test_all_that_was_sent_to_a_server_that_ends_is_answered(root, script, count, code):
    """Each request gets an error that names the exit code, though the client has closed its end; we end with that code."""
    sent = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}) for number in range(count)]
    done = subprocess.run(
        [*PROXY, "--", "sh", "-c", script],
        input="".join(f"{line}\n" for line in sent),
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    how = f"the server ended with exit code {code % 125} before it answered"
    assert sorted(each["id"] for each in answers) == [*range(count)]
    assert {(each["error"]["code"], each["error"]["message"]) for each in answers} == {(-32000, how)}
    assert done.returncode == code


@each_of("name, code", [("TERM", 143), ("INT", 130), ("HUP", 129)])
def test_a_signal_while_the_server_starts(root, name, code):
    """It ends us as it does later: the server with us, and with an exit code."""
    script = f"kill -{name} $PPID; exec sleep 60 2>&-"
    reading, writing = os.pipe()
    done = subprocess.run([*PROXY, "--", "sh", "-c", script], stdin=reading, capture_output=True, check=False)
    os.close(reading)
    os.close(writing)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


# --- very many blocks -------------------------------------------------------------------------------------

TINY = {
    "text": {"type": "text", "text": "b"},
    "picture": {"type": "image", "data": "QUJD", "mimeType": "image/png"},
    "blob": {"type": "resource", "resource": {"uri": "u:1", "blob": "QUJD"}},
    "resource": {"type": "resource", "resource": {"uri": "u:1", "text": "b"}},
    "link": {"type": "resource_link", "uri": "u", "name": "n"},
    "annotated": {"type": "text", "text": "b", "annotations": {"priority": 1}},
    "null": None,
}


@pytest.mark.parametrize("kind", TINY)
def test_very_many_tiny_blocks_are_bounded(plain_store, kind):
    """However many there are, few are shown, few are handled alone, and all are stored."""
    count = 20_000  # far more than any bound lets through
    handled = []

    class Counting(TruncationProcessor):
        def process(self, *arguments, **more):
            handled.append(arguments[1])
            return super().process(*arguments, **more)

    with plain_store.session("s") as session:
        fitter = ResultFitter(Counting(session), lambda: OwnToolNames(()))
        shown = fitter.fit(json.dumps({"content": [TINY[kind]] * count}).encode(), ToolCall(tool="t"))
        result = json.loads(shown)
        most = BINARY // 2 if kind in {"picture", "blob"} else 3 * (TOGETHER + OTHERS)
        assert len(shown) <= most
        assert len(handled) <= TOGETHER // 30 + 20
        stored = [session.artifact(each["id"]) for each in result["_meta"][META]]
        whole = b"".join(block for each in stored for block in each.chunks())
    said = {
        "text": b"b\n",
        "resource": b"b\n",
        "annotated": b"b\n",
        "link": b"resource_link",
        "null": b"null",
    }
    there = whole.count(said.get(kind, b"QUJD")) + whole.count(b"ABC\n")
    left = sum(each in (TINY[kind], {"type": "text", "text": "b"}) for each in result["content"])
    assert there + left >= count - 16


# --- lines without an end ---------------------------------------------------------------------------------

ENDLESS = """
import json, os, sys
first, last = sys.argv[1:3]
for line in sys.stdin:
    m = json.loads(line)
    if m.get("id") is None: continue
    head, tail = (part.replace("ID", json.dumps(m["id"])).encode() for part in (first, last))
    if m["method"] == "tools/call" and m["params"]["name"] == "long":
        os.write(1, head)
        for _ in range(m["params"]["arguments"]["megabytes"]):
            at = 0
            while at < 1_000_000: at += os.write(1, b"y" * (1_000_000 - at))
        if m["params"]["arguments"].get("ends", True): os.write(1, tail + b"\\n")
    else:
        os.write(1, json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"content": [], "tools": []}}).encode() + b"\\n")
"""
ID_FIRST = ('{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"', '"}]}}')
ID_LAST = ('{"result":{"id":77,"content":[{"type":"text","text":"', '"}]},"jsonrpc":"2.0","id":ID}')


def peak(process):
    """The most memory that it has had, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


@pytest.mark.long
@pytest.mark.parametrize("ends", [ID_FIRST, ID_LAST])
def test_a_line_that_is_too_long_is_answered_in_flat_memory(talk, ends):
    """Its call gets an error that names the limit and the option, stderr tells it, and the next call is answered."""
    it = talk([sys.executable, "-c", ENDLESS, *ends], "--max-message", "1M")
    before = peak(it.process)
    result = it.answer("long", megabytes=300)["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(
        "[the result of long is longer than the 1 MiB that a message may have (--max-message)"
    )
    assert it.answer("other")["result"] == {"content": [], "tools": []}
    assert peak(it.process) - before < 100_000_000
    it.process.stdin.close()
    assert "300000" in it.process.stderr.read().decode()


@pytest.mark.long
def test_a_line_without_an_end_is_answered_while_it_goes_on(talk):
    """Who waits does not wait for its end, if its beginning has the id."""
    it = talk([sys.executable, "-c", ENDLESS, *ID_FIRST], "--max-message", "1M")
    assert it.answer("long", megabytes=3, ends=False)["result"]["isError"] is True


@pytest.mark.long
def test_a_line_below_the_limit_passes(talk, store):
    """A message of tens of megabytes is stored whole, without an option."""
    it = talk([sys.executable, "-c", ENDLESS, *ID_FIRST], "--session", "named")
    (stored,) = it.answer("long", megabytes=40)["result"]["_meta"][META]
    assert stored["bytes"] == 40_000_000


@pytest.mark.parametrize("size", ["1", "much", "-5"])
def test_a_limit_that_is_none_is_refused(root, size):
    """What is no size, or less than the protocol needs, is told before anything starts."""
    from click.testing import CliRunner

    from spillstore_tools.cli.commands.mcp_proxy import command

    answer = CliRunner().invoke(command, ["--max-message", size, "--", "true"])
    assert (answer.exit_code, "--max-message" in answer.output) == (2, True)


@pytest.mark.parametrize("step", [1, 7, 50, 1000])
def test_lines_that_are_too_long_do_not_depend_on_how_they_come(step):
    """The lines before and after are whole, and one that is too long is told as it passes the limit and at its end."""
    data = b"one\n" + b"x" * 300 + b"end\ntwo\nthree"
    pieces = iter([*(data[at : at + step] for at in range(0, len(data), step)), b""])
    found = list(read_lines(lambda: next(pieces), 100))
    whole = [bytes(each) for each in found if not isinstance(each, OversizedLine)]
    told = [each for each in found if isinstance(each, OversizedLine)]
    if step == 1000:  # it ends within what is read at once
        assert whole == [b"one\n", b"x" * 300 + b"end\n", b"two\n", b"three"]
        return
    assert whole == [b"one\n", b"two\n", b"three"]
    assert [each.end is None for each in told] == [True, False]
    assert (told[1].size, told[1].end[-6:]) == (304, b"xxend\n"[-6:])


@pytest.mark.parametrize(
    ("beginning", "end", "expected"),
    [
        (b'{"id": 7, "result": "...', None, b"7"),
        (b'{"jsonrpc":"2.0","id":"a\\"b","result":', None, b'"a\\"b"'),
        (b'{"result":{"id":1},"id":2,"x":"', None, b"2"),
        (b'{"result":{"id":1', b'..."}]},"id":3}\n', b"3"),
        (b'{"result":"', b'...","id":"x","jsonrpc":"2.0"}\r\n', b'"x"'),
        (b'{"result":{"a":"', b'"id":4}}\n', None),
        (b'{"result":"\\"id\\":5,', b'...\\"id\\":6}"}\n', None),
        (b'[{"id":1,', b'"id":1}]\n', None),
        (b"", b"", None),
    ],
)
def test_the_id_of_a_message_of_which_the_ends_are_known(beginning, end, expected):
    """It is found where it is a member of the message itself, and nowhere else."""
    assert id_in(beginning, end) == expected
