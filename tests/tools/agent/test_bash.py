"""The tool ``bash``: results, time-outs, the background, ends of all kinds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support import NO_FLOORS, alive, outlive, soon

from spillstore import Store, aio
from spillstore.exceptions import ClosedError, InvalidSettingError
from spillstore_tools.agent.bash import BashTool, bash, bash_sync
from spillstore_tools.agent.definitions import STYLES
from spillstore_tools.output.rendering import render
from spillstore_tools.process.runners import LocalRunner
from spillstore_tools.profiles import NAMES
from spillstore_tools.profiles import profile as profile_named

pytestmark = pytest.mark.everywhere


@pytest.fixture(params=["blocking", pytest.param("async", marks=pytest.mark.slow)])
def call(request):
    """``bash`` as a function that waits, in both forms."""
    if request.param == "blocking":
        return bash_sync
    return lambda session, **options: asyncio.run(bash(session, **options))


@pytest.fixture
def session(plain_store):
    with plain_store.session("chat") as session:
        yield session


def backgrounded(call, session, shown, command, **options):
    """A command that goes on behind its time-out, and that time-out in milliseconds: as long as it takes to print this."""
    timeout = 50
    while True:
        result = call(session, command=command, timeout=timeout, **options)
        assert result.state == "running"
        if shown in result.text:
            return result, timeout
        call(session, kill_pid=result.pid)
        timeout *= 4


def whole(session, result, stream="combined"):
    artifact = session.artifact(result.artifact_id)
    return artifact.read_bytes(0, artifact.info.size, stream=stream)


# --- results ----------------------------------------------------------------------------------------------


def test_little_output_is_shown_whole_and_not_stored(session, call):
    """Both streams in order, the exit code, and no artifact."""
    before, began = time.time(), time.monotonic()
    result = call(session, command="echo out; echo err >&2; exit 3")
    assert result.text == "out\nerr\n[exit code 3]\n"
    assert (result.state, result.exit_code, result.signal, result.is_error) == ("ended", 3, None, False)
    assert (result.stdout.size, result.stdout.lines, result.stderr.size, result.stderr.lines) == (4, 1, 4, 1)
    assert result.truncated == {"combined": {"total": 2, "skipped": 0}}
    assert result.artifact_id is None
    assert list(session.artifacts()) == []
    assert result.command == "echo out; echo err >&2; exit 3"
    assert 0 <= result.duration <= time.monotonic() - began
    assert before - 1 <= result.started <= time.time()


def test_much_output_is_stored_from_its_first_byte(session, call):
    """What is not shown can be read, and the counts are right."""
    result = call(session, command="seq 1 30000; seq 1 10 >&2")
    expected = b"".join(b"%d\n" % number for number in range(1, 30001))
    assert whole(session, result, "stdout") == expected
    assert len(result.text) <= 8000
    assert (result.stdout.lines, result.stderr.lines) == (30000, 10)
    assert result.truncated["combined"]["total"] == 30010
    assert result.truncated["combined"]["skipped"] == sum(each.lines for each in result.omissions) > 20000
    info = session.artifact(result.artifact_id).info
    assert (info.source, info.command, info.state, info.exit_code) == ("bash", result.command, "sealed", 0)
    assert result.text == render(session.artifact(result.artifact_id), profile_named("default")).text


def test_as_dict_is_json(session, call):
    """All of a result can be sent, with the place of each view."""
    result = call(session, command="seq 1 20000", tool_call_id="call_1")
    found = json.loads(json.dumps(result.as_dict()))
    assert found["output_files"]["stderr"] == f"artifact://{result.artifact_id}?stream=stderr"
    assert found["stdout"] == {"size": 108894, "lines": 20000}
    assert found["omissions"][0]["stream"] == "combined"
    assert session.artifact(result.artifact_id).info.tool_call_id == "call_1"


@pytest.mark.parametrize("name", NAMES)
def test_every_profile(session, call, name):
    """Each profile shows little output whole and stores what it does not show; the text can be made again."""
    assert "hello" in call(session, command="echo hello", profile=name).text
    result = call(session, command="seq 1 30000", profile=name)
    assert whole(session, result).count(b"\n") == 30000
    assert result.text == render(session.artifact(result.artifact_id), profile_named(name)).text


def test_a_profile_that_does_not_exist(session, call):
    """A wrong profile is the author's mistake, not the model's."""
    with pytest.raises(InvalidSettingError, match="nope"):
        call(session, command="true", profile="nope")


@pytest.mark.parametrize(
    ("command", "code", "shown"),
    [
        ("no-such-command-here", 127, "not found"),
        ("/etc/passwd", 126, "ermission denied"),
        ("kill -SEGV $$", 139, "[exit code 139 (SIGSEGV)]"),
        ("kill -9 $$", 137, "[exit code 137 (SIGKILL)]"),
        ("true", 0, "[exit code 0]\n"),
        ("echo only err >&2", 0, "only err\n[exit code 0]"),
        ("printf 'no newline'", 0, "no newline\n[exit code 0]"),
        ("if", 2, "syntax error"),
        ("cat", 0, "[exit code 0]\n"),
        ("read line || echo none", 0, "none\n"),
        ("tty", 1, "not a tty"),
        ("exit 256", 0, "[exit code 0]"),
        ("printf '\\033[31mred\\033[0m\\n'", 0, "red\n[exit code 0]"),
        ("printf '10%%\\r50%%\\r100%%\\n'", 0, "100%\n[6 characters were drawn over"),
        ("printf '\\0\\1\\2\\377'", 0, "4 bytes"),
    ],
)
def test_ends_and_kinds_of_output(session, call, command, code, shown):
    """Each has its exit code and a text that says what happened."""
    result = call(session, command=command)
    assert (result.exit_code, result.state) == (code, "ended")
    assert shown in result.text
    assert result.is_error is (code in {126, 127})


def test_a_signal_has_its_name(session, call):
    """128 + n, and the name beside it."""
    result = call(session, command="kill -TERM $$")
    assert (result.exit_code, result.signal) == (143, "SIGTERM")


def test_a_folder_that_is_not_there(session, call, tmp_path):
    """What cannot be started is an error that names the reason; ``lace`` calls it 1."""
    for name, code in (("default", 126), ("lace", 1)):
        result = call(session, command="true", cwd=tmp_path / "nowhere", profile=name)
        assert (result.exit_code, result.is_error) == (code, True)
        assert "nowhere" in result.text


def test_a_command_longer_than_an_argument_may_be(session, call):
    """Models write whole files with one command."""
    text = "x" * 100 + "\n"
    result = call(session, command=f"cat <<'END' | wc -c\n{text * 20000}END\nexit 4")
    assert result.text == f"{len(text) * 20000}\n[exit code 4]\n"


def test_the_folder_stays_that_of_the_session_s_first_command(session, call, tmp_path, monkeypatch):
    """``cd`` lasts for one command; another folder is an argument."""
    first = call(session, command="pwd; cd /").text
    monkeypatch.chdir(tmp_path)
    assert call(session, command="pwd").text == first
    assert call(session, command="pwd", cwd="/").text == "/\n[exit code 0]\n"


def test_the_environment(session, call, monkeypatch):
    """Ours, or the one that was asked for; the session's variables are in either."""
    monkeypatch.setenv("COLOUR", "blue")
    monkeypatch.setenv("SPILLSTORE_PROJECT", "another")
    script = "echo $COLOUR; echo $SPILLSTORE_SESSION; echo ${SPILLSTORE_PROJECT-none}; echo $SPILLSTORE_ROOT"
    lines = call(session, command=script).text.splitlines()
    assert lines[:4] == ["blue", "chat", "none", session.address]
    lines = call(session, command=script, env={"PATH": os.environ["PATH"], "COLOUR": "red"}).text.splitlines()
    assert lines[:2] == ["red", "chat"]
    assert call(session, command="echo ${COLOUR-none}", env={}).text.startswith("none\n")


def test_the_store_is_at_hand_inside(session, call):
    """A command can search what an earlier one printed, as the notice says."""
    result = call(session, command="seq 1 30000")
    env = {**os.environ, "PATH": "/usr/bin:/bin", "SPILLSTORE_FREE_DISK_FLOOR": "0"}
    found = call(session, command=f"spillstore cat {result.artifact_id} | grep -c 7", env=env)
    expected = sum("7" in str(number) for number in range(1, 30001))
    assert found.text == f"{expected}\n[exit code 0]\n"


def test_an_aio_session_will_do(tmp_path):
    """The async form takes either kind of session."""

    async def main():
        async with aio.Store(tmp_path / "root", **NO_FLOORS).session("chat") as session:
            return await bash(session, command="seq 1 20000")

    assert asyncio.run(main()).stdout.lines == 20000


def test_a_closed_session(plain_store, call):
    """A command is not run where its output could not be kept."""
    session = plain_store.session("chat")
    call(session, command="true")
    session.close()
    with pytest.raises(ClosedError):
        call(session, command="true")


# --- what a model sends -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "nothing to do"),
        ({"command": ""}, "nothing to do"),
        ({"command": "  \n"}, "nothing to do"),
        ({"command": "true", "check_pid": 5}, "command and check_pid exclude each other"),
        ({"check_pid": 5, "kill_pid": 5}, "check_pid and kill_pid exclude each other"),
        ({"command": ["ls"]}, "command must be text, not ['ls']"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "true", "timeout": -1}, "timeout must be a whole number from 0, not -1"),
        ({"command": "true", "timeout": "soon"}, "not 'soon'"),
        ({"command": "true", "timeout": True}, "not True"),
        ({"command": "true", "timeout": 1.5}, "not 1.5"),
        ({"check_pid": 0}, "check_pid must be a whole number from 1"),
        ({"check_pid": "12x"}, "'12x'"),
        ({"kill_pid": 999999999}, "no command with pid 999999999; no command of this session"),
        ({"check_pid": os.getpid()}, "no command with pid"),
    ],
)
def test_what_means_nothing_is_told(session, call, arguments, words):
    """No exception, and a right call where one helps; nothing is run."""
    result = call(session, **arguments)
    assert words in result.text
    assert (result.state, result.is_error, result.pid) == ("refused", True, None)
    assert (
        "999999999" in result.text
        or "no command" in result.text
        or "bash(" in result.text
        or "NUL" in result.text
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"timeout": "120000"},
        {"timeout": 5000.0},
        {"timeout": "null", "check_pid": "null", "kill_pid": None},
        {"timeout": "", "check_pid": "None"},
    ],
)
def test_what_is_meant_is_understood(session, call, arguments):
    """Numbers as text, and words for nothing."""
    assert call(session, command="echo fine", **arguments).text == "fine\n[exit code 0]\n"


@pytest.mark.parametrize("timeout", [10**15, 10**400, 1e308, "9" * 90])
def test_any_time_out(session, call, timeout):
    """A number that no clock takes is a long time."""
    assert call(session, command="echo fine", timeout=timeout).text == "fine\n[exit code 0]\n"


@pytest.mark.parametrize("sent", ['{"command": "echo \\ud800"}', "[" * 200_000, '{"check_pid": 1e300}'])
def test_json_that_means_nothing(session, sent):
    """Half a character, endless nesting, a number that is no process: a result, never an exception."""
    tool = BashTool(session)
    for result in (tool.call_sync(sent), asyncio.run(tool.call(sent))):
        assert (result.state, result.is_error) == ("refused", True)


# --- the background ---------------------------------------------------------------------------------------


def test_a_time_out_puts_it_into_the_background(session, call, tmp_path):
    """What it printed is shown and stored, it goes on, and each check shows what is new, once."""
    marks = [tmp_path / f"mark{number}" for number in range(3)]
    wait = "; ".join(
        f"while [ ! -e {mark} ]; do sleep 0.01; done; echo part {n}" for n, mark in enumerate(marks)
    )
    result, timeout = backgrounded(call, session, "begin\n", f"echo begin; {wait}; exit 5")
    assert (result.state, result.exit_code, result.duration) == ("running", None, None)
    assert result.text.startswith("begin\n")
    assert f"pid {result.pid} is still running after {timeout / 1000:g} s" in result.text
    assert alive(result.pid)
    seen = []
    for number, mark in enumerate(marks):
        mark.touch()
        assert soon(lambda n=number: f"part {n}\n".encode() in whole(session, result))
        news = call(session, check_pid=result.pid)
        seen.append(news.text)
        assert f"part {number}\n" in news.text
    assert soon(lambda: not alive(result.pid))
    assert soon(lambda: session.artifact(result.artifact_id).info.state == "sealed")
    last = call(session, check_pid=result.pid)
    assert (last.state, last.exit_code, last.artifact_id) == ("ended", 5, result.artifact_id)
    assert "exit code 5" in last.text
    everything = "".join(seen) + last.text
    assert all(everything.count(f"part {number}\n") == 1 for number in range(3))
    assert whole(session, result) == b"begin\npart 0\npart 1\npart 2\n"
    again = call(session, check_pid=result.pid)
    assert "[nothing new]" in again.text
    assert (again.exit_code, again.artifact_id, again.stdout) == (5, result.artifact_id, last.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_time_outs_are_whole_milliseconds(session, call, name):
    """In each form of the schema and in the call: 30 is less than a blink, not half a minute; 0.3 is refused."""
    tool = BashTool(session, profile=name)
    for style in STYLES:
        definition = tool.definition(style)
        function = definition.get("function", definition)
        schema = next(
            function[key] for key in ("parameters", "input_schema", "inputSchema") if key in function
        )
        told = schema["properties"]["timeout"]
        assert ("integer", True, True) == (told["type"], " ms " in told["description"], "120000" in str(told))
    assert "timeout must be a whole number from 0, not 0.3" in call(session, command="true", timeout=0.3).text
    result = call(session, command="echo begun; sleep 100", timeout=30, profile=name)
    assert "running" == result.state
    if name == "pipe":
        assert result.text.startswith(f"[Command backgrounded after 0.03s (pid {result.pid}).\n")
        assert result.text.endswith("\nUse check_pid or kill_pid to manage.]")
    call(session, kill_pid=result.pid, profile=name)


def test_no_waiting_at_all(session, call):
    """``timeout=0`` starts it and comes back."""
    result = call(session, command="sleep 30", timeout=0)
    assert result.state == "running"
    assert result.pid
    call(session, kill_pid=result.pid)


def test_what_runs_is_named_where_a_pid_is_wrong(session, call):
    """An unknown pid is answered with those that there are."""
    result = call(session, command="sleep 30 # my server", timeout=0)
    refused = call(session, check_pid=1)
    assert f"in the background are: {result.pid} (" in refused.text
    assert "my server" in refused.text
    call(session, kill_pid=result.pid)


def test_kill_ends_the_whole_tree(session, call):
    """Children, a child that ignores SIGTERM, and a daemon in a session of its own, that nothing leads to."""
    script = (
        "sleep 100 & echo $!; "
        "bash -c 'trap \"\" TERM; echo $$; while :; do sleep 0.05; done' & "
        "(setsid bash -c 'echo $$; exec sleep 100' </dev/null & ) ; "
        "wait"
    )
    result = call(session, command=script, timeout=0)
    assert soon(lambda: whole(session, result).count(b"\n") == 3)
    pids = [int(line) for line in whole(session, result).split()]
    assert all(map(alive, pids))
    killed = call(session, kill_pid=result.pid)
    assert killed.state == "ended"
    assert killed.exit_code == 143
    assert not any(map(alive, [result.pid, *pids]))


def test_kill_shows_the_rest(session, call):
    """What it prints on its way out is shown and stored."""
    script = "trap 'echo bye; exit 9' TERM; echo hi; while :; do sleep 0.01; done"
    result, _ = backgrounded(call, session, "hi\n", script)
    killed = call(session, kill_pid=str(result.pid))
    assert "bye\n" in killed.text
    assert (killed.exit_code, killed.state) == (9, "ended")
    assert whole(session, result).startswith(b"hi\n")
    assert whole(session, result).endswith(b"bye\n")
    assert "[nothing new]" in call(session, kill_pid=result.pid).text


def test_a_child_that_holds_the_pipes(session, call, tmp_path):
    """The command's result does not wait for it; what it prints later is not lost, and it can be ended."""
    mark = tmp_path / "mark"
    result = call(
        session, command=f"(while [ ! -e {mark} ]; do sleep 0.01; done; echo late; sleep 100) & echo done"
    )
    assert (result.state, result.exit_code) == ("open", 0)
    assert result.text.startswith("done\n[artifact ")
    assert "left processes behind" in result.text
    mark.touch()
    assert soon(lambda: b"late" in whole(session, result))
    news = call(session, check_pid=result.pid)
    assert (news.state, news.exit_code) == ("open", 0)
    assert "late\n" in news.text
    killed = call(session, kill_pid=result.pid)
    assert (killed.state, killed.exit_code) == ("ended", 0)
    assert whole(session, result) == b"done\nlate\n"


def test_a_daemon_that_lets_go_is_left_alone(session, call, tmp_path):
    """A process that has closed our pipes is none of the command's output, and lives on."""
    result = call(session, command="setsid sleep 100 >/dev/null 2>&1 </dev/null & echo $!")
    assert result.state == "ended"
    pid = int(result.text.split()[0])
    try:
        assert alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


STRANGER = "(env -i setsid bash -c 'echo $$; exec sleep 100' &) ; sleep 100"


def test_a_daemon_that_nothing_but_the_pipes_lead_to(plain_store, call):
    """Without group, parent and environment it is known by what it prints to: it ends with a kill, and with the session."""
    session = plain_store.session("chat")
    results = [call(session, command=STRANGER, timeout=0) for _ in range(2)]
    assert soon(lambda: all(whole(session, result).count(b"\n") == 1 for result in results))
    pids = [int(whole(session, result)) for result in results]
    assert all(map(alive, pids))
    killed = call(session, kill_pid=results[0].pid)
    assert (killed.state, killed.is_error) == ("ended", False)
    assert soon(lambda: not alive(pids[0]))
    assert alive(pids[1])
    session.close()
    assert soon(lambda: not alive(pids[1]))


def test_a_descriptor_that_is_closed_meanwhile_hides_no_process(plain_store, monkeypatch):
    """Whoever prints to a command's pipes is found by them, though it closes another descriptor while it is looked at."""
    listdir = os.listdir

    def with_one_that_is_gone(path="."):
        return ["999999"] * str(path).endswith("/fd") + listdir(path)

    with plain_store.session("chat") as session:
        result = bash_sync(session, command=STRANGER, timeout=0)
        assert soon(lambda: whole(session, result).count(b"\n") == 1)
        pid = int(whole(session, result))
        with monkeypatch.context() as patch:
            patch.setattr(os, "listdir", with_one_that_is_gone)
            bash_sync(session, kill_pid=result.pid)
        assert soon(lambda: not alive(pid))


def test_what_is_told_is_what_is_known(session, call):
    """A command that ends just as its time is up has ended, or can be asked for."""
    for number in range(40):
        result = call(session, command=f"echo {number}; sleep 0.0{number % 4}", timeout=10 * (number % 4))
        assert ("is still running" in result.text) is (result.state == "running")
        assert ("exit code 0" in result.text) is (result.state in {"ended", "open"})
        while result.state != "ended":
            result = call(session, check_pid=result.pid)
            assert result.state != "refused"


def test_what_has_ended_holds_no_descriptors(session, call):
    """Commands in the background are remembered, and cost nothing."""
    call(session, command="true")
    before = len(os.listdir("/proc/self/fd"))
    results = [call(session, command="sleep 0.01", timeout=0) for _ in range(40)]
    for result in results:
        if result.state != "ended":  # else it is no command of the background
            assert soon(lambda pid=result.pid: call(session, check_pid=pid).state == "ended")
    # A session may keep some connections for its readers; a descriptor a command would be forty.
    assert soon(lambda: len(os.listdir("/proc/self/fd")) <= before + 20)


def test_small_output_in_the_background_is_kept(session, call, tmp_path):
    """What was told of by an id stays, even if all of it has been shown."""
    mark = tmp_path / "mark"
    script = f"echo a; while [ ! -e {mark} ]; do sleep 0.01; done; echo b"
    result = call(session, command=script, timeout=0)
    assert soon(lambda: whole(session, result) == b"a\n")
    mark.touch()
    assert soon(lambda: session.artifact(result.artifact_id).info.state == "sealed")
    assert whole(session, result) == b"a\nb\n"


def test_much_news_is_bounded_and_exact(session, call, tmp_path):
    """News of any size has at most 8,000 characters; its ranges are those of the artifact."""
    mark = tmp_path / "mark"
    script = f"seq 1 1000; while [ ! -e {mark} ]; do sleep 0.01; done; seq 1001 60000; sleep 100"
    result, _ = backgrounded(call, session, "1000\n", script)
    mark.touch()
    assert soon(lambda: whole(session, result).endswith(b"\n60000\n"))
    news = call(session, check_pid=result.pid)
    assert len(news.text) <= 8000
    assert "59000 lines" in news.text
    assert "from line 1001 on" in news.text
    artifact = session.artifact(result.artifact_id)
    text, at = "", 0
    for each in news.omissions:
        text += news.text[at : each.at] + artifact.read_lines(each.first_line, each.last_line).decode()
        at = each.at + each.length
    text += news.text[at:]
    lines = [line for line in text.splitlines() if not line.startswith("[")]
    assert [line.split(": ")[-1] for line in lines] == [str(number) for number in range(1001, 60001)]
    call(session, kill_pid=result.pid)


def test_pipe_s_formats(session, call, tmp_path):
    """``pipe`` to the letter of its document (S2, Result Format)."""
    mark = tmp_path / "mark"
    script = f"seq 1 600; seq 1 150 >&2; while [ ! -e {mark} ]; do sleep 0.01; done; echo more; sleep 100"
    result, timeout = backgrounded(call, session, "150\n\nFull", script, profile="pipe")
    after = f"{timeout / 1000:g}s"
    assert result.text.startswith(
        f"[Command backgrounded after {after} (pid {result.pid}).\n\nstdout (last 500 lines):\n101\n"
    )
    assert "600\n\nstderr (last 100 lines):\n51\n" in result.text
    where = f'Full output: get_artifact(id="{result.artifact_id}", start_line=1, end_line=2000)'
    assert result.text.endswith(f"150\n\n{where}\nUse check_pid or kill_pid to manage.]")
    mark.touch()
    assert soon(lambda: b"more" in whole(session, result))
    news = call(session, check_pid=result.pid, profile="pipe")
    assert news.text == (
        f"[Process {result.pid} still running.\n\nNew output since last check (1 lines):\nmore\n\n{where}]"
    )
    killed = call(session, kill_pid=result.pid, profile="pipe")
    assert killed.text.startswith(
        f"[Process {result.pid} exited with code 143.\n\nstdout (last 2000 lines):\n1\n2\n"
    )
    assert "more\n\nstderr:\n1\n2\n" in killed.text
    assert killed.text.endswith(f"150\n\n{where}]")


@pytest.mark.parametrize("name", NAMES)
def test_every_profile_in_the_background(session, call, name):
    """Each shows what there is, what is new, and how it ended."""
    result, _ = backgrounded(call, session, "begin", "echo begin; exec sleep 100", profile=name)
    assert str(result.pid) in result.text
    assert str(result.pid) in call(session, check_pid=result.pid).text
    killed = call(session, kill_pid=result.pid)
    assert "143" in killed.text
    assert result.artifact_id in killed.text


# --- ends of ours -----------------------------------------------------------------------------------------


def test_cancelling_ends_the_command_and_keeps_its_output(session):
    """No process is left, and what was printed is stored."""
    seen = threading.Event()

    async def main():
        task = asyncio.create_task(
            bash(session, command="echo $$; sleep 100 & wait", on_output=lambda *_: seen.set())
        )
        await asyncio.to_thread(seen.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    (artifact,) = session.artifacts()
    info = artifact.info
    assert (info.state, info.exit_code) == ("sealed", 143)
    assert not alive(int(artifact.read_bytes(0, 100)))


def test_cancelled_again_and_again(session):
    """Whoever does not wait for the end, and a loop that ends at once, save no command."""
    pids = []

    async def main():
        tool = BashTool(session, on_output=lambda _, data: pids.append(int(data)))
        tasks = [asyncio.create_task(tool.call({"command": "echo $$; sleep 100 & wait"})) for _ in range(12)]
        assert await asyncio.to_thread(soon, lambda: len(pids) == 12)
        late = [asyncio.create_task(tool.call({"command": "echo $$; exec sleep 100"})) for _ in range(6)]
        await asyncio.sleep(0)
        for task in (*tasks, *late):
            task.cancel()
        await asyncio.sleep(0)
        for task in (*tasks, *late):
            task.cancel()

    asyncio.run(main())
    assert soon(lambda: not any(map(alive, pids)))
    assert soon(lambda: all(each.info.state == "sealed" for each in session.artifacts()))


def test_closing_the_session_ends_what_runs(plain_store, call):
    """Commands in the background end with their session, all at once; their output is whole."""
    session = plain_store.session("chat")
    results = [
        call(session, command="trap 'echo bye; exit' TERM; echo hi; while :; do sleep 0.01; done", timeout=0)
        for _ in range(4)
    ]
    assert soon(lambda: all(whole(session, result) == b"hi\n" for result in results))
    session.close()
    assert not any(alive(result.pid) for result in results)
    with plain_store.session("chat") as again:
        for result in results:
            assert whole(again, result).startswith(b"hi\n")
            assert whole(again, result).endswith(b"bye\n")
            assert again.artifact(result.artifact_id).info.state == "sealed"


@pytest.mark.long
def test_what_cannot_be_ended_is_told_and_holds_nobody_up(plain_store, call, caplog, monkeypatch):
    """A process that no signal reaches runs on, is read on, and can be asked for; a session closes without it."""
    monkeypatch.setattr("spillstore_tools.process.output_reader._KILL_GRACE", 0.3)

    class Beyond:
        def __init__(self, started):
            self.inner = started
            self.pid, self.mark, self.stdout, self.stderr = started.pid, "", started.stdout, started.stderr
            self.wait, self.close = started.wait, started.close

        def send_signal(self, number):
            """Nothing comes of it."""

        def signal_all(self, number):
            return 1

    class Runner:
        def start(self, command, *, cwd, env):
            started.append(Beyond(LocalRunner().start(command, cwd=cwd, env=env)))
            return started[-1]

    started = []
    session = plain_store.session("chat")
    result = call(session, command="echo one; sleep 100; echo two", timeout=0, runner=Runner())
    try:
        assert soon(lambda: whole(session, result) == b"one\n")
        killed = call(session, kill_pid=result.pid)
        assert (killed.state, killed.is_error) == ("running", True)
        assert "could not be ended" in killed.text
        session.close()
        assert "could not be ended" in caplog.text
        assert alive(result.pid)
    finally:
        started[0].inner.signal_all(signal.SIGKILL)
    with plain_store.session("chat") as again:
        assert whole(again, result) == b"one\n"
        assert again.artifact(result.artifact_id).info.state == "interrupted"


AGENT = """
import os, sys, time
from spillstore import Store
from spillstore_tools.agent.bash import bash_sync
session = Store(sys.argv[1], free_disk_floor=0).session("agent")
command = "echo begin; (setsid sleep 1000 &) ; env -i setsid sleep 1000 >/dev/null 2>&1 & echo $$; sleep 1000"
result = bash_sync(session, command=command, timeout=0)
while session.artifact(result.artifact_id).info.lines < 2:
    time.sleep(0.01)
print(result.pid, result.artifact_id, flush=True)
{end}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("end", "state"),
    [
        ("", "sealed"),
        ("sys.exit(3)", "sealed"),
        ("raise RuntimeError('oh')", "sealed"),
        ("os.kill(os.getpid(), 9)", "interrupted"),
        ("os.kill(os.getpid(), 15)", "interrupted"),
        ("os._exit(1)", "interrupted"),
    ],
)
def test_the_agent_s_own_end(plain_store, end, state):
    """However an agent ends, its commands end with it, daemons included, and what they printed is there."""
    done = subprocess.run(
        [sys.executable, "-c", AGENT.format(end=end), plain_store.address],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    pid, artifact_id = done.stdout.split()
    outlive(plain_store)
    mine = [path for path in Path("/proc").glob("[0-9]*") if alive(path.name)]

    def sleepers():
        found = []
        for path in mine:
            try:
                if path.joinpath("cmdline").read_bytes() == b"sleep\x001000\0" and alive(path.name):
                    found.append(path.name)
            except OSError:
                continue
        return found

    assert soon(lambda: not alive(int(pid)))
    assert soon(lambda: not sleepers())
    with plain_store.session("agent") as session:
        artifact = session.artifact(artifact_id)
        assert artifact.info.state == state
        assert artifact.read_lines(1, 1) == b"begin\n"


@pytest.mark.long
def test_a_forked_child_leaves_our_commands_alone(session, call):
    """A child of the agent that ends, ends nothing of ours."""
    result = call(session, command="sleep 100", timeout=0)
    child = os.fork()
    if child == 0:
        sys.stdout.flush()
        from spillstore_tools.process import session_jobs

        session_jobs._end_all()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert alive(result.pid)
    call(session, kill_pid=result.pid)


@pytest.mark.long
def test_a_forked_child_runs_commands_of_its_own(session, call):
    """Also where another thread of ours was busy with the tool; it knows nothing of ours, and ends nothing of them."""
    from spillstore_tools.process.session_jobs import jobs_of

    tool = BashTool(session)
    result = tool.call_sync({"command": "sleep 100", "timeout": 0})
    with jobs_of(session)._lock:
        child = os.fork()
    if child == 0:
        found = []
        try:
            found = [
                tool.call_sync({"command": "echo hi"}).text == "hi\n[exit code 0]\n",
                tool.call_sync({"check_pid": result.pid}).state == "refused",
            ]
        finally:
            os._exit(0 if found == [True, True] else 1)
    ended = []
    try:
        assert soon(lambda: ended.append(os.waitpid(child, os.WNOHANG)) or ended[-1][0] == child)
    finally:
        if not ended or ended[-1][0] != child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert ended[-1][1] == 0
    assert alive(result.pid)
    call(session, kill_pid=result.pid)


@pytest.mark.long
def test_a_folder_of_ours_that_was_removed(plain_store, tmp_path):
    """Commands run in it as they do in a shell, or are told why not."""
    script = """
import os, sys
from spillstore import Store
from spillstore_tools.agent.bash import bash_sync
os.mkdir(sys.argv[2]); os.chdir(sys.argv[2]); os.rmdir(sys.argv[2])
with Store(sys.argv[1], free_disk_floor=0).session("chat") as session:
    print(bash_sync(session, command="echo fine").exit_code)
    print(bash_sync(session, command="echo fine", cwd=sys.argv[2]).exit_code)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, plain_store.address, str(tmp_path / "gone")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "0\n126\n", done.stderr


# --- hooks ------------------------------------------------------------------------------------------------


def test_hooks(session, call):
    """Each piece as it comes, the artifact's id, and the end."""
    pieces, spilled, ended = [], [], []
    result = call(
        session,
        command="seq 1 20000; echo err >&2",
        on_output=lambda stream, data: pieces.append((stream, data)),
        on_spill=spilled.append,
        on_end=ended.append,
    )
    assert b"".join(data for stream, data in pieces if stream == "stdout") == whole(session, result, "stdout")
    assert b"".join(data for stream, data in pieces if stream == "stderr") == b"err\n"
    assert spilled == [result.artifact_id]
    assert soon(lambda: ended)
    assert ended == [result]


def test_on_end_comes_for_the_background_too(session, call, tmp_path):
    """The end of a command that nobody waits for any more."""
    ended, mark = [], tmp_path / "mark"
    command = f"while [ ! -e {mark} ]; do sleep 0.01; done; exit 4"
    result = call(session, command=command, timeout=0, on_end=ended.append)
    assert (result.state, ended) == ("running", [])
    mark.touch()
    assert soon(lambda: ended)
    assert (ended[0].exit_code, ended[0].artifact_id) == (4, result.artifact_id)


def test_hooks_that_fail_do_no_harm(session, call, caplog):
    """They are told in the log; the command and its result are as ever."""

    def fail(*_):
        raise ValueError("a hook")

    result = call(session, command="seq 1 20000", on_output=fail, on_spill=fail, on_end=fail)
    assert result.stdout.lines == 20000
    assert whole(session, result).count(b"\n") == 20000
    assert soon(lambda: caplog.text.count("a hook") >= 3)


def test_hooks_that_use_the_tool(session, tmp_path):
    """A hook may ask for, or end, the very command that it is called for, and others."""
    answers = []

    def on_output(_, data):
        if data.endswith(b"go\n"):
            answers.append(tool.call_sync({"check_pid": result.pid}))
            answers.append(tool.call_sync({"command": "echo other"}))
            answers.append(tool.call_sync({"kill_pid": result.pid}))

    tool = BashTool(session, on_output=on_output)
    mark = tmp_path / "mark"
    script = f"while [ ! -e {mark} ]; do sleep 0.01; done; echo go; sleep 100"
    result = tool.call_sync({"command": script, "timeout": 0})
    mark.touch()
    assert soon(lambda: len(answers) == 3)
    assert [answer.state for answer in answers[:2]] == ["running", "ended"]
    assert "go\n" in answers[0].text
    assert soon(lambda: tool.call_sync({"check_pid": result.pid}).state == "ended")
    assert not alive(result.pid)


def test_a_hook_may_close_the_session(plain_store, call):
    """Even on the command's own thread; the command is ended, and who waits has a result."""
    session = plain_store.session("chat")
    result = call(session, command="echo hi; exec sleep 100", on_output=lambda *_: session.close())
    assert (result.state, result.signal) == ("ended", "SIGTERM")
    assert result.stdout.size == 3


def test_hooks_that_end_the_program_or_never_return(session, call):
    """``SystemExit`` in a hook is a hook's failure; a result does not wait for ``on_end``."""

    def leave(*_):
        raise SystemExit(3)

    assert call(session, command="echo a; sleep 0.1; echo b", on_output=leave).text == "a\nb\n[exit code 0]\n"
    release = threading.Event()
    try:
        assert call(session, command="echo a", on_end=lambda _: release.wait(120)).state == "ended"
        assert not release.is_set()
    finally:
        release.set()


# --- many and much ----------------------------------------------------------------------------------------


def test_twenty_at_once(session):
    """Commands of one session do not meet, and none waits for another."""

    async def main():
        commands = (f"seq {number * 10000} {number * 10000 + 9999}; exit {number}" for number in range(20))
        return await asyncio.gather(*(bash(session, command=command) for command in commands))

    for number, result in enumerate(asyncio.run(main())):
        assert result.exit_code == number
        expected = range(number * 10000, number * 10000 + 10000)
        assert whole(session, result) == b"".join(b"%d\n" % each for each in expected)


@pytest.mark.long
def test_endless_output_is_stopped_by_nothing_but_a_kill(plain_store, call):
    """``yes`` goes on under back-pressure, within the artifact's limit; memory and disk stay flat."""
    store = Store(plain_store.address, **NO_FLOORS, artifact_limit=4 * 1024 * 1024)
    with store.session("yes") as session:
        result = call(session, command="yes", timeout=20)
        assert result.state == "running"
        assert len(result.text) <= 8000
        assert soon(lambda: session.artifact(result.artifact_id).info.size > 4 * 1024 * 1024)
        killed = call(session, kill_pid=result.pid)
        assert (killed.state, killed.signal) == ("ended", "SIGTERM")
        assert len(killed.text) <= 8000
        info = session.artifact(result.artifact_id).info
        assert info.kept <= 4 * 1024 * 1024 < info.size == killed.stdout.size


@pytest.mark.long
def test_one_long_line(session, call):
    """A line of 20 MB is a line; both its ends are shown and all of it is stored."""
    result = call(session, command="head -c 20000000 /dev/zero | tr '\\0' x; printf END")
    assert result.stdout.lines == 1
    assert len(result.text) <= 8000
    assert "xEND" in result.text
    assert session.artifact(result.artifact_id).read_bytes(19_999_998, 20_000_003) == b"xxEND"


@pytest.mark.long
def test_a_progress_bar(session, call):
    """A line that is drawn over again and again shows its last state."""
    script = "for n in $(seq 1 30000); do printf '\\rstep %d of 30000' $n; done; echo; echo done"
    result = call(session, command=script)
    assert "step 30000 of 30000" in result.text
    assert "step 15000" not in result.text
    assert "done\n" in result.text
