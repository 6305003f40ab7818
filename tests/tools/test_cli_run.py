"""``spillstore run``: the command comes first, its output is kept, its exit code is ours."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from spillstore import Store

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]


def last(store, session="default"):
    with store.session(session, read_only=True) as opened:
        artifact = opened.artifacts(limit=1).items[0]
        return artifact.info, artifact.read_bytes(0, artifact.info.size)


def test_small_output_is_printed_whole(cli, store):
    """What fits is printed as it is, with the artifact's id behind it."""
    answer = cli("run", "--", "sh", "-c", "echo out; exit 3")
    info, data = last(store)
    assert (answer.code, answer.err, data) == (3, "", b"out\n")
    assert re.fullmatch(
        rf"out\n\[artifact {info.id}: 4 bytes, 1 line; exit code 3, [0-9.]+ s\]\n", answer.text
    )
    assert (info.source, info.command, info.exit_code) == ("run", "sh -c 'echo out; exit 3'", 3)
    assert (info.state, info.newline, info.content_type) == ("sealed", "lf", "text/plain")


def test_both_streams_are_kept_apart(cli, store):
    """Output and errors are shown together, and stored so that each can be read alone."""
    answer = cli("run", "--json", "--", "sh", "-c", "echo out; echo err >&2")
    info = answer.json["artifact"]
    assert sorted(answer.json["preview"].splitlines()[:2]) == ["err", "out"]
    assert (info["stdout"], info["stderr"]) == ({"size": 4, "lines": 1}, {"size": 4, "lines": 1})
    with store.session("default", read_only=True) as session:
        assert session.artifact(info["id"]).read_bytes(0, 9, stream="stderr") == b"err\n"


def test_only_stderr(cli, store):
    """A command that only complains is not silent."""
    answer = cli("run", "--", "sh", "-c", "echo err >&2")
    assert answer.text.startswith("err\n[artifact ")
    assert last(store)[0].stdout.size == 0


def test_no_output_is_stored_too(cli, store):
    """A command that prints nothing still leaves its record."""
    answer = cli("run", "--", "false")
    assert answer.code == 1
    assert ": 0 bytes, 0 lines; exit code 1" in answer.text
    assert last(store)[0].exit_code == 1


def test_no_newline_at_the_end(cli, store):
    """The notice begins a line of its own, and nothing is added to what is stored."""
    assert cli("run", "--", "printf", "abc").text.startswith("abc\n[artifact ")
    assert last(store)[1] == b"abc"


def test_binary_output(program, store):
    """Any bytes are stored exactly, and shown as harmless text."""
    data = bytes(range(256)) * 20
    answer = program("run", "--", "cat", stdin=data)
    assert last(store)[1] == data
    assert "\ufffd" in answer.text
    assert not set(answer.text) & {"\x00", "\x1b", "\x07", "\r"}


def test_long_output_shows_both_ends_and_what_is_missing(cli, store):
    """The notice names exactly the lines that are missing, and its call brings exactly those."""
    answer = cli("run", "--", "seq", "1", "100000")
    assert len(answer.text) <= 8000
    first, end = map(
        int, re.search(r"\[\.\.\. lines (\d+)-(\d+) of 100,000 lines omitted", answer.text).groups()
    )
    call = re.search(r"show them: spillstore (.*)", answer.text)[1]
    head, tail = (
        answer.text.split("[... lines")[0],
        answer.text.split("PATTERN ...]\n")[1].split("[artifact")[0],
    )
    assert cli(*call.split()).text == "".join(f"{number}\n" for number in range(first, end + 1))
    whole = "".join(f"{number}\n" for number in range(1, 100_001))
    assert head + cli(*call.split()).text + tail == whole
    assert f"spillstore cat {last(store)[0].id} | rg PATTERN" in answer.text


def test_huge_line_is_clipped_to_the_byte(cli):
    """Of one endless line both ends are shown, and the call brings the bytes between them."""
    answer = cli("run", "--", sys.executable, "-c", "print('a' * 400_000 + 'z' * 400_000, end='')")
    assert len(answer.text) <= 8000
    assert "parts of line 1 of 1 line omitted" in answer.text
    call = re.search(r"show them: spillstore (.*)", answer.text)[1]
    head, tail = re.match(r"(a+)\n\[(?:.|\n)*\.\.\.\]\n(z+)\n\[artifact", answer.text).groups()
    assert head + cli(*call.split()).text + tail == "a" * 400_000 + "z" * 400_000


def test_calls_lead_to_the_session_that_was_named(cli):
    """The calls in a notice carry the options that were given."""
    answer = cli("run", "--session", "my job", "--project", "web", "--", "seq", "1", "9999")
    call = re.search(r"show them: spillstore (.*)", answer.text)[1]
    assert call.endswith("--session 'my job' --project web")
    assert f"{call.split()[1]} --session 'my job' --project web | rg" in answer.text


def test_json(cli):
    """One object tells all: the artifact, the preview, what it omits, how the command ended."""
    answer = cli("run", "--json", "--source", "make", "--tool-call-id", "c1", "--", "seq", "1", "9999")
    found = answer.json
    assert (answer.code, found["exit_code"], found["signal"], found["storage_error"]) == (0, 0, None, None)
    assert (found["artifact"]["source"], found["artifact"]["tool_call_id"]) == ("make", "c1")
    assert found["artifact"]["lines"] == 9999
    assert found["received"] == found["stdout"] == found["artifact"]["size"] == 48_888
    assert f"--lines {found['omitted']['first_line']}-{found['omitted']['last_line']}" in found["preview"]
    assert found["held_open"] == []


def test_killed_command(cli, store):
    """Death by signal n is exit code 128 + n, and the signal is named."""
    answer = cli("run", "--", "sh", "-c", "echo soon; kill -9 $$")
    assert answer.code == 137
    assert "exit code 137 (SIGKILL)" in answer.text
    assert last(store)[0].exit_code == 137


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [("no-such-command", 127, "command not found"), ("/etc/passwd", 126, "Permission denied")],
)
def test_command_that_cannot_be_started(cli, root, name, code, words):
    """127 and 126 as in a shell; nothing ran, so nothing is stored."""
    answer = cli("run", "--", name)
    assert (answer.code, answer.out) == (code, b"")
    assert answer.err == f"spillstore: cannot run {name!r}: {words}\n"
    found = cli("run", "--json", "--", name).json
    assert (found["exit_code"], found["artifact"]) == (code, None)
    assert not root.exists()


def test_arguments_are_the_command_s(cli):
    """What stands behind the command is not read as options of ours, with or without ``--``."""
    assert cli("run", "echo", "--json", "-h").text.startswith("--json -h\n")
    assert cli("run", "--", "echo", "--", "--help").text.startswith("-- --help\n")


def test_stdin_is_the_command_s(program):
    """What is piped in goes to the command."""
    assert program("run", "--", "wc", "-c", stdin=b"12345").text.split()[0] == "5"


def test_command_finds_its_session(program, tmp_path):
    """Inside, ``spillstore`` without options speaks of the same session."""
    # The command starts before the store is open, so it may be too early the first time.
    inner = (
        f'until "{sys.executable}" -m spillstore_tools.cli info @last --json 2>/dev/null; do sleep 0.05; done'
    )
    outer = program(
        "run",
        "--session",
        "s",
        "--project",
        "p",
        "--root",
        tmp_path / "elsewhere",
        "--json",
        "--",
        "sh",
        "-c",
        inner,
    )
    inside = json.loads(outer.json["preview"].rsplit("[artifact", 1)[0])
    assert inside["id"] == outer.json["artifact"]["id"]
    assert (inside["session"], inside["project"], inside["state"]) == ("s", "p", "open")


def test_background_process_does_not_hold_us(cli, store):
    """Something left running with the pipes open costs half a second, and is reported."""
    started = time.monotonic()
    answer = cli("run", "--", "sh", "-c", "echo started; sleep 6 &")
    assert time.monotonic() - started < 5
    assert answer.code == 0
    assert "stdout and stderr still held open by another process" in answer.text
    assert last(store)[0].state == "sealed"


def test_storage_that_fails_midway(program, store, tmp_path):
    """When the quota is met the command runs to its end, and the preview says what was kept and why not all."""
    done = tmp_path / "done"
    script = (
        f"import os, sys\nfor n in range(200): print(n, os.urandom(10_000).hex())\nopen({str(done)!r}, 'w')"
    )
    answer = program(
        "run", "--", sys.executable, "-c", f"{script}\nsys.exit(5)", env={"SPILLSTORE_SESSION_QUOTA": "1MiB"}
    )
    assert done.exists()
    assert (answer.code, answer.err) == (5, "")
    assert len(answer.text) <= 8000
    assert "[NOT STORED COMPLETELY: session 'default' takes" in answer.text
    assert "SPILLSTORE_SESSION_QUOTA" in answer.text
    assert "4,000,890 bytes (3.8 MB) received" in answer.text
    assert answer.text.startswith("0 ")
    assert "\n199 " in answer.text
    info, data = last(store)
    assert info.state == "interrupted"
    if info.kept:
        assert f"the first {info.kept:,} bytes" in answer.text
        assert data.startswith(b"0 ")


def test_storage_that_fails_midway_as_json(cli):
    """A program is told the same."""
    command = [sys.executable, "-c", "import os\nfor _ in range(200): print(os.urandom(10_000).hex())"]
    answer = cli("run", "--json", "--", *command, env={"SPILLSTORE_SESSION_QUOTA": "1MiB"})
    assert answer.code == 0
    assert "SPILLSTORE_SESSION_QUOTA" in answer.json["storage_error"]
    assert answer.json["received"] == 200 * 20_001
    assert answer.json["artifact"]["state"] == "interrupted"


@pytest.mark.parametrize(
    "env",
    [
        {"SPILLSTORE_ROOT": "/dev/null/store"},
        {"SPILLSTORE_FREE_DISK_FLOOR": "9000000GiB"},
        {"SPILLSTORE_QUEUE_BYTES": "nonsense"},
        {"SPILLSTORE_SESSION": "a\nb"},
    ],
)
def test_store_that_cannot_be_opened(cli, tmp_path, env):
    """Without any store the command still runs, its output is shown, and its exit code is ours."""
    answer = cli("run", "--", "sh", "-c", f"seq 1 9999; touch {tmp_path}/done; exit 6", env=env)
    assert (tmp_path / "done").exists()
    assert answer.code == 6
    assert answer.text.startswith("1\n2\n")
    assert "\n9999\n[NOT STORED COMPLETELY: " in answer.text
    assert "nothing was kept of it" in answer.text
    assert len(answer.text) <= 8000


def test_artifact_limit_is_told(cli):
    """What an artifact's limit has dropped is named, and head and tail are still shown."""
    answer = cli("run", "--", "seq", "1", "200000", env={"SPILLSTORE_ARTIFACT_LIMIT": "512KiB"})
    assert answer.text.startswith("1\n2\n")
    assert "\n200000\n[lines " in answer.text
    assert "were dropped: an artifact may keep 512 KB]" in answer.text


@pytest.mark.parametrize("policy", ["stop", "reject"])
def test_other_policies_at_the_limit(cli, policy):
    """Whatever the policy does with the output, the command ends well and the preview tells."""
    limits = {"SPILLSTORE_ARTIFACT_LIMIT": "100000", "SPILLSTORE_ARTIFACT_POLICY": policy}
    answer = cli("run", "--", "seq", "1", "50000", env=limits)
    assert answer.code == 0
    expected = (
        "the last 188,894 bytes (184 KB) were not kept" if policy == "stop" else "nothing was kept of it"
    )
    assert expected in answer.text


def test_closed_preview_loses_nothing(start, store):
    """If nobody reads the preview, the artifact is sealed all the same."""
    process = start("run", "--", "sh", "-c", "sleep 0.2; seq 1 1000")
    process.stdout.close()
    process.wait(20)
    assert process.returncode == -signal.SIGPIPE
    assert process.stderr.read() == b""
    assert last(store)[0].state == "sealed"


def test_text_appears_in_the_store_while_the_command_runs(start, store):
    """What was printed can be read before the command has ended."""
    process = start("run", "--", "sh", "-c", "echo early; read line", stdin=-1)
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if any(True for _ in store.sessions()):
            with store.session("default", read_only=True) as session:
                page = session.artifacts(limit=1)
                if page.items and page.items[0].info.size:
                    assert page.items[0].tail(1) == b"early\n"
                    assert page.items[0].info.state == "open"
                    break
        time.sleep(0.02)
    else:
        pytest.fail("nothing appeared")
    process.communicate(b"\n", timeout=20)
    assert last(store)[0].state == "sealed"


def wait_for(path):
    deadline = time.monotonic() + 15
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_to_us_reaches_the_command(start, store, tmp_path, number):
    """Told to end, we end the command instead, seal what came, and exit as it did."""
    process = start(
        "run", "--", "sh", "-c", f"echo begun; touch {tmp_path}/up; exec sleep 20", start_new_session=True
    )
    wait_for(tmp_path / "up")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (128 + number, b"")
    assert out.startswith(b"begun\n[artifact ")
    info, data = last(store)
    assert (info.state, info.exit_code, data) == ("sealed", 128 + number, b"begun\n")


def test_signal_that_our_caller_ignores(start, tmp_path):
    """A SIGHUP that nohup has switched off stays off."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start("run", "--", "sh", "-c", f"touch {tmp_path}/up; sleep 0.5; echo survived")
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(tmp_path / "up")
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=20)[0].startswith(b"survived\n")


TERMINAL = """
import os, pathlib, pty, sys, time
up, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
end = time.monotonic() + 15
while not pathlib.Path(up).exists() and time.monotonic() < end:
    time.sleep(0.01)
os.write(terminal, bytes([3]))
try:
    while data := os.read(terminal, 4096):
        os.write(1, data)
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_ctrl_c_in_a_terminal(root, store, tmp_path):
    """In a terminal the command gets Ctrl-C from it, once, and may end in its own way."""
    up = str(tmp_path / "up")
    script = (
        "import signal, sys, time\n"
        "caught = []\n"
        "signal.signal(signal.SIGINT, lambda *_: caught.append(1))\n"
        f"open({up!r}, 'w').close()\n"
        "end = time.monotonic() + 15\n"
        "while not caught and time.monotonic() < end: time.sleep(0.01)\n"
        "time.sleep(0.3)\n"
        "print('caught', len(caught)); sys.exit(9)"
    )
    run = [*PROGRAM, "run", "--", sys.executable, "-c", script]
    # A process of its own holds the terminal: this one has threads and must not fork.
    done = subprocess.run(
        [sys.executable, "-c", TERMINAL, up, *run], capture_output=True, timeout=30, check=False
    )
    assert done.returncode == 9, done
    assert b"caught 1\r\n" in done.stdout
    assert last(store)[1] == b"caught 1\n"


def test_environment_of_the_command_is_otherwise_ours(cli):
    """The command sees our environment and the session's name."""
    answer = cli("run", "--", "sh", "-c", "echo $SPILLSTORE_SESSION $COLOUR", env={"COLOUR": "blue"})
    assert answer.text.startswith("default blue\n")


def test_runs_at_the_same_time(start, store):
    """Many commands may store into one session at once."""
    processes = [start("run", "--session", "shared", "--", "seq", "1", "20000") for _ in range(4)]
    assert [process.communicate(timeout=25)[0][:4] for process in processes] == [b"1\n2\n"] * 4
    with Store(store.root).session("shared", read_only=True) as session:
        assert [info.lines for info in session.infos()] == [20_000] * 4
