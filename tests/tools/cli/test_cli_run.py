"""``spillstore run``: the command comes first, its output is kept, its exit code is ours."""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from support import is_untouched, wait_until

from spillstore import Store

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]


MARKER = re.compile(r"\[\.\.\. (\d+) lines? omitted: start_line=(\d+), end_line=(\d+) \.\.\.\]\n")


def parted(text, artifact_id):
    """The notice before a preview of a stored output, and what stands between it and the footer."""
    notice, body = re.fullmatch(
        rf"(.*?\"{artifact_id}\".*?\| rg [^\n]*PATTERN[^\n]*\]\n)(.*?)\[exit code [^\n]*\]\n", text, re.DOTALL
    ).groups()
    return notice, body


def last(store, session="default"):
    with store.session(session, read_only=True) as opened:
        artifact = opened.artifacts(limit=1).items[0]
        return artifact.info, artifact.read_bytes(0, artifact.info.size)


def only(store, session="default"):
    with store.session(session, read_only=True) as opened:
        (info,) = opened.infos()
        return info


def test_small_output_is_printed_whole(cli, store):
    """What fits is printed as it is, with the artifact's id behind it, and stored all the same."""
    answer = cli("run", "--", "sh", "-c", "echo out; exit 3")
    info, data = last(store)
    assert (answer.code, answer.err, data) == (3, "", b"out\n")
    assert answer.text == f"out\n[artifact {info.id}; exit code 3]\n"
    assert (info.source, info.command, info.exit_code) == ("run", "sh -c 'echo out; exit 3'", 3)
    assert (info.state, info.newline, info.content_type) == ("sealed", "lf", "text/plain")


def test_both_streams_are_kept_apart(cli, store):
    """Output and errors are shown together, and stored so that each can be read alone."""
    answer = cli("run", "--json", "--", "sh", "-c", "echo out; echo err >&2")
    info = answer.json["artifact"]
    assert sorted(answer.json["preview"].splitlines()[:2]) == ["err", "out"]
    assert info["stdout"] == info["stderr"] == {"size": 4, "lines": 1, "hole": None}
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
    info, data = last(store)
    assert answer.text == f"[artifact {info.id}; exit code 1]\n"
    assert (info.exit_code, data) == (1, b"")


def test_no_newline_at_the_end(cli, store):
    """The notice begins a line of its own, and nothing is added to what is stored."""
    assert cli("run", "--", "printf", "abc").text.startswith("abc\n[artifact ")
    assert last(store)[1] == b"abc"


def test_binary_output(cli, store):
    """Any bytes are stored exactly; a model is told what they are, and how to get them."""
    data = bytes(range(256)) * 400
    answer = cli("run", "--", "cat", stdin=data)
    info, stored = last(store)
    assert stored == data
    assert answer.text.startswith("[Binary: application/octet-stream, 102,400 bytes (100.0 KB)]\n")
    assert answer.text.endswith(f"[all of it: spillstore cat {info.id} > FILE]\n[exit code 0]\n")
    assert not set(answer.text) & {"\x00", "\x1b", "\x07", "\r"}
    assert len(answer.text) <= 8000


def test_small_binary_output_is_shown_in_base64(cli):
    """Where all of it fits, all of it is there."""
    data = bytes(range(256)) * 2
    text = cli("run", "--", "cat", stdin=data).text
    body = text.split("base64 of all 512 bytes:\n")[1].split("[artifact")[0]
    assert base64.b64decode(body) == data


def test_long_output_shows_both_ends_and_what_is_missing(cli, store):
    """Notice, head, one exact marker, tail, footer: what the marker names is what is missing."""
    answer = cli("run", "--", "seq", "1", "100000")
    info = last(store)[0]
    notice, shown = parted(answer.text, info.id)
    assert len(answer.text) <= 8000
    assert notice.startswith("[100000 lines, 575.1 KB; a part is shown. All of it: get_artifact(id=")
    found = list(MARKER.finditer(shown))
    assert len(found) == 1
    count, first, end = map(int, found[0].groups())
    assert count == end - first + 1
    missing = cli("show", info.id, "--lines", f"{first}-{end}").text
    whole = "".join(f"{number}\n" for number in range(1, 100_001))
    assert shown[: found[0].start()] + missing + shown[found[0].end() :] == whole


def test_the_calls_of_the_notice_work(cli, store):
    """The commands that the notice names bring what they say."""
    answer = cli("run", "--", "seq", "1", "100000")
    show, cat = re.search(
        r"in a shell: spillstore (.*), spillstore (.*) \| rg PATTERN\]", answer.text
    ).groups()
    identity = last(store)[0].id
    assert cli(*shlex.split(show.replace("ID", identity))).text == "".join(
        f"{number}\n" for number in range(1, 101)
    )
    assert cli(*shlex.split(cat.replace("ID", identity))).out == last(store)[1]


def test_lines_that_matter_are_shown_from_the_middle(cli, store):
    """An error between 50,000 dull lines on either side stands in the preview, with its number."""
    script = "seq 50000; echo 'src/app.py:12: error: no such name'; seq 50000; exit 2"
    answer = cli("run", "--", "sh", "-c", script)
    _, shown = parted(answer.text, last(store)[0].id)
    assert "\n50001: src/app.py:12: error: no such name\n" in shown
    gaps = [tuple(map(int, found.groups())) for found in MARKER.finditer(shown)]
    assert len(gaps) == 2
    assert gaps[0][2] < 50_001 < gaps[1][1]
    assert [count == end - first + 1 for count, first, end in gaps] == [True, True]
    assert len(answer.text) <= 8000


@pytest.mark.long
def test_huge_line_is_clipped_to_the_byte(cli, store):
    """Of one endless line both ends are shown, and the marker names the bytes between them."""
    answer = cli("run", "--", sys.executable, "-c", "print('a' * 400_000 + 'z' * 400_000, end='')")
    assert len(answer.text) <= 8000
    info = last(store)[0]
    _, shown = parted(answer.text, info.id)
    marks = re.search(r"\[\.\.\. (\d+) \w+.*?bytes? (\d+)-(\d+)|start_byte=(\d+), end_byte=(\d+)", shown)
    start, end = [int(number) for number in marks.groups() if number is not None][-2:]
    head = re.match("a+", shown)[0]
    tail = re.search("(z+)\n?$", shown)[1]
    middle = cli("show", info.id, "--bytes", f"{start}-{end}").text
    assert head + middle + tail == "a" * 400_000 + "z" * 400_000


def test_calls_lead_to_the_session_that_was_named(cli):
    """The calls in a notice carry the options that were given."""
    answer = cli("run", "--session", "my job", "--project", "web", "--", "seq", "1", "9999")
    call = re.search(r"in a shell: spillstore (.*), spillstore", answer.text)[1]
    assert call.endswith("--session 'my job' --project web")
    assert "cat ID --session 'my job' --project web | rg" in answer.text
    identity = re.search(r'get_artifact\(id="(\w+)"', answer.text)[1]
    assert cli(*shlex.split(call.replace("ID", identity))).text.startswith("1\n2\n")


def test_json(cli):
    """One object tells all: the artifact, the preview, what it omits, how the command ended."""
    answer = cli("run", "--json", "--source", "make", "--tool-call-id", "c1", "--", "seq", "1", "9999")
    found = answer.json
    assert (answer.code, found["exit_code"], found["signal"], found["storage_error"]) == (0, 0, None, None)
    assert (found["artifact"]["source"], found["artifact"]["tool_call_id"]) == ("make", "c1")
    assert found["artifact"]["lines"] == 9999
    assert found["received"] == found["stdout"] == found["artifact"]["size"] == 48_888
    (omission,) = found["omissions"]
    marker = found["preview"][omission["at"] : omission["at"] + omission["length"]]
    assert f"start_line={omission['first_line']}, end_line={omission['last_line']} " in marker
    assert (omission["stream"], omission["exact_lines"], omission["dropped"]) == ("combined", True, False)
    assert (found["strategy"], found["held_open"], found["configuration_error"]) == ("smart", [], None)


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
    assert is_untouched(root)


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


def test_background_process_does_not_hold_us(cli, store, tmp_path):
    """Something left running with the pipes open costs half a second, and is reported."""
    answer = cli("run", "--", "sh", "-c", f"echo started; sleep 1000 & echo $! > {tmp_path}/left")
    os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)
    assert answer.code == 0
    assert answer.text.startswith("started\n[artifact ")
    assert answer.err.startswith(
        "spillstore: stdout and stderr still held open by another process 0.5 s after"
    )
    assert last(store)[0].state == "sealed"


# It looks whether a part is committed before it passes the quota.
TOO_MUCH = """
import json, os, subprocess, sys
look = [sys.executable, "-m", "spillstore_tools.cli", "info", "@last", "--json"]
for n in range(200):
    print(n, os.urandom(10_000).hex(), flush=True)
    while n == 20 and not json.loads(subprocess.run(look, capture_output=True).stdout or "{}").get("size"):
        pass
"""


@pytest.mark.long
def test_storage_that_fails_midway(cli, store, tmp_path):
    """When the quota is met the command runs to its end, and the preview says what was kept and why not all."""
    done = tmp_path / "done"
    script = f"{TOO_MUCH}open({str(done)!r}, 'w')\nsys.exit(5)"
    answer = cli("run", "--", sys.executable, "-c", script, env={"SPILLSTORE_SESSION_QUOTA": "1MiB"})
    assert done.exists()
    assert (answer.code, answer.err) == (5, "")
    assert len(answer.text) <= 8000
    assert answer.text.startswith("[NOT STORED COMPLETELY: session 'default' takes")
    assert "SPILLSTORE_SESSION_QUOTA" in answer.text.partition("\n")[0]
    info, data = last(store)
    assert (
        f"; the first {info.size} bytes are kept as artifact {info.id}]\n[200 lines, 3.8 MB; " in answer.text
    )
    assert "\n0 " in answer.text
    assert "\n199 " in answer.text
    assert (info.state, data[:2]) == ("interrupted", b"0 ")


@pytest.mark.long
def test_storage_that_fails_midway_as_json(cli):
    """A program is told the same."""
    answer = cli(
        "run", "--json", "--", sys.executable, "-c", TOO_MUCH, env={"SPILLSTORE_SESSION_QUOTA": "1MiB"}
    )
    assert answer.code == 0
    assert "SPILLSTORE_SESSION_QUOTA" in answer.json["storage_error"]
    assert answer.json["received"] > 200 * 20_001
    assert answer.json["artifact"]["state"] == "interrupted"


@pytest.mark.long
def test_storage_that_fails_at_once(cli):
    """Where nothing was committed, there is no artifact to speak of."""
    command = [sys.executable, "-c", "import os\nfor _ in range(200): print(os.urandom(10_000).hex())"]
    limits = {"SPILLSTORE_SESSION_QUOTA": "100KiB"}
    assert "; nothing of it was kept]\n" in cli("run", "--", *command, env=limits).text
    found = cli("run", "--json", "--", *command, env=limits).json
    assert (found["artifact"], found["received"]) == (None, 200 * 20_001)


@pytest.mark.files
@pytest.mark.parametrize(
    "env",
    [
        {"SPILLSTORE_ROOT": "/dev/null/store"},
        {"SPILLSTORE_FREE_DISK_FLOOR": "9000000GiB"},
        {"SPILLSTORE_HIDDEN_METADATA": "nonsense"},
        {"SPILLSTORE_SESSION": "a\nb"},
    ],
)
def test_store_that_cannot_be_opened(cli, tmp_path, env):
    """Without any store the command still runs, its output is shown, and its exit code is ours."""
    answer = cli("run", "--", "sh", "-c", f"seq 1 9999; touch {tmp_path}/done; exit 6", env=env)
    assert (tmp_path / "done").exists()
    assert answer.code == 6
    assert answer.text.startswith("[NOT STORED COMPLETELY: ")
    assert "; nothing of it was kept]\n[9999 lines, " in answer.text
    assert "cannot be fetched]\n1\n2\n" in answer.text
    assert answer.text.endswith("\n9999\n[exit code 6]\n")
    assert len(answer.text) <= 8000


def test_store_that_cannot_be_opened_and_little_output(cli):
    """What is shown whole is shown whole; that it is not stored is told all the same."""
    answer = cli("run", "--", "echo", "little", env={"SPILLSTORE_ROOT": "/dev/null/store"})
    assert answer.code == 0
    assert answer.text.startswith("[NOT STORED COMPLETELY: /dev/null/store cannot be used: ")
    assert answer.text.endswith("\nlittle\n[exit code 0]\n")


def test_artifact_limit_is_told(cli, store):
    """What an artifact's limit has dropped is named, and head and tail are still shown."""
    answer = cli("run", "--", "seq", "1", "200000", env={"SPILLSTORE_ARTIFACT_LIMIT": "512KiB"})
    info = only(store)
    assert (
        f"[bytes {info.hole.start}-{info.hole.end} were dropped: an artifact may keep 512.0 KB; "
        in answer.text
    )
    _, shown = parted(answer.text, info.id)
    assert shown.startswith("1\n2\n")
    assert shown.endswith("\n200000\n")
    assert " (partly dropped) ...]\n" in shown


def test_the_end_that_was_not_kept_is_told(cli):
    """With the policy ``stop`` the beginning is kept, and the notice says how much of the end is not."""
    limits = {"SPILLSTORE_ARTIFACT_LIMIT": "100000", "SPILLSTORE_ARTIFACT_POLICY": "stop"}
    answer = cli("run", "--", "seq", "1", "50000", env=limits)
    assert answer.code == 0
    assert "[the last 188894 bytes were not kept: an artifact may keep 97.7 KB]\n" in answer.text


def test_output_that_was_rejected_is_shown(cli):
    """With the policy ``reject`` nothing is kept; the command ends well and its output is shown."""
    limits = {"SPILLSTORE_ARTIFACT_LIMIT": "100000", "SPILLSTORE_ARTIFACT_POLICY": "reject"}
    answer = cli("run", "--", "seq", "1", "50000", env=limits)
    assert answer.code == 0
    assert answer.text.startswith("[NOT STORED COMPLETELY: ")
    assert "; nothing of it was kept]\n[50000 lines, " in answer.text
    assert answer.text.endswith("\n50000\n[exit code 0]\n")


def test_closed_preview_loses_nothing(start, store):
    """If nobody reads the preview, the artifact is sealed all the same."""
    process = start("run", "--", "sh", "-c", "read line; seq 1 1000", stdin=-1)
    process.stdout.close()
    process.stdin.write(b"\n")
    process.stdin.close()
    process.wait(120)
    assert process.returncode == -signal.SIGPIPE
    assert process.stderr.read() == b""
    assert last(store)[0].state == "sealed"


def test_text_appears_in_the_store_while_the_command_runs(start, store):
    """What was printed can be read before the command has ended."""
    process = start("run", "--", "sh", "-c", "echo early; read line", stdin=-1)

    def appeared():
        if not any(True for _ in store.sessions()):
            return False
        with store.session("default", read_only=True) as session:
            return [artifact.id for artifact in session.artifacts(limit=1) if artifact.info.size]

    wait_until(appeared)
    with store.session("default", read_only=True) as session:
        (artifact,) = session.artifacts(limit=1)
        assert (artifact.tail(1), artifact.info.state) == (b"early\n", "open")
    process.communicate(b"\n", timeout=120)
    assert last(store)[0].state == "sealed"


def wait_for(path):
    wait_until(path.exists)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_to_us_reaches_the_command(start, store, tmp_path, number):
    """Told to end, we end the command instead, seal what came, and exit as it did."""
    process = start(
        "run", "--", "sh", "-c", f"echo begun; touch {tmp_path}/up; exec sleep 20", start_new_session=True
    )
    wait_for(tmp_path / "up")
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    # After SIGINT we die of it, as the command has, so that a shell ends its loop.
    code = -number if number == signal.SIGINT else 128 + number
    assert (process.returncode, err) == (code, b"")
    assert out.startswith(b"begun\n[artifact ")
    info, data = last(store)
    assert (info.state, info.exit_code, data) == ("sealed", 128 + number, b"begun\n")


def test_signal_that_our_caller_ignores(start, tmp_path):
    """A SIGHUP that nohup has switched off stays off."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start("run", "--", "sh", "-c", f"touch {tmp_path}/up; read line; echo survived", stdin=-1)
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(tmp_path / "up")
    process.send_signal(signal.SIGHUP)
    assert process.communicate(b"\n", timeout=120)[0].startswith(b"survived\n")


TERMINAL = """
import os, pathlib, pty, sys, time
up, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
while not pathlib.Path(up).exists():
    time.sleep(0.01)
os.write(terminal, bytes([3]))
try:
    while data := os.read(terminal, 4096):
        os.write(1, data)
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.long
def test_ctrl_c_in_a_terminal(root, store, tmp_path):
    """In a terminal the command gets Ctrl-C from it, once, and may end in its own way."""
    up = str(tmp_path / "up")
    script = (
        "import os, pathlib, signal, sys, time\n"
        "def handled():\n"
        "    told = pathlib.Path(f'/proc/{os.getppid()}/status').read_text()\n"
        "    fields = dict(line.split(':', 1) for line in told.splitlines())\n"
        "    waits = int(fields['SigPnd'], 16) | int(fields['ShdPnd'], 16)\n"
        "    return fields['State'].split()[0] == 'S' and not waits >> (signal.SIGINT - 1) & 1\n"
        "caught = []\n"
        "signal.signal(signal.SIGINT, lambda *_: caught.append(1))\n"
        f"open({up!r}, 'w').close()\n"
        "while not caught: time.sleep(0.01)\n"
        "while not handled(): time.sleep(0.01)\n"  # by ``run``, which may have sent a second one
        "print('caught', len(caught)); sys.exit(9)"
    )
    run = [*PROGRAM, "run", "--quiet", "--", sys.executable, "-c", script]
    # A process of its own holds the terminal: this one has threads and must not fork.
    done = subprocess.run(
        [sys.executable, "-c", TERMINAL, up, *run], capture_output=True, timeout=300, check=False
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
    texts = [process.communicate(timeout=120)[0] for process in processes]
    assert [b"\n1\n2\n3\n" in text and b"\n20000\n[exit code 0]\n" in text for text in texts] == [True] * 4
    with Store(store.address).session("shared", read_only=True) as session:
        assert [info.lines for info in session.infos()] == [20_000] * 4


PROFILES = {
    "default": r"o\ne\n\[artifact ID; exit code 4\]\n",
    "acode": r"o\ne\n",
    "opencode": r"o\n\ne\n",
    "pipe": r"stdout:\no\n\nstderr:\ne\n\nexit code: 4",
    "omni": r"o\ne\n",
}


@pytest.mark.parametrize("name", list(PROFILES))
def test_small_output_under_each_profile(cli, store, name):
    """Each profile prints its own format, the exit code is the command's, and everything is stored."""
    answer = cli("run", "--profile", name, "--", "sh", "-c", "echo o; echo e >&2; exit 4")
    info, data = last(store)
    assert (answer.code, answer.err) == (4, "")
    both = [data, answer.text]
    if data == b"e\no\n":  # two pipes have no order
        both = [b"o\ne\n", answer.text.replace("e\no\n", "o\ne\n")]
    assert b"o\ne\n" == both[0]
    assert re.fullmatch(PROFILES[name].replace("ID", info.id), both[1])


def test_lace_prints_its_json(cli, store):
    """The result of ``lace`` is one JSON object; our exit code is still the command's."""
    answer = cli("run", "--profile", "lace", "--", "sh", "-c", "seq 1000; echo e >&2; exit 4")
    info = last(store)[0]
    found = answer.json
    assert (answer.code, found["exitCode"], found["command"]) == (4, 4, info.command)
    assert found["stderrPreview"] == "e\n"
    assert found["truncated"] == {
        "stdout": {"skipped": 850, "total": 1000},
        "stderr": {"skipped": 0, "total": 1},
    }
    assert found["outputFiles"]["stderr"] == f"artifact://{info.id}?stream=stderr"
    assert (
        f'get_artifact(id="{info.id}", stream="stdout", start_line=101, end_line=950)'
        in found["stdoutPreview"]
    )


LONG = {
    "default": ("[100000 lines, ", "\n[exit code 0]\n"),
    "acode": ("[Artifact: art_", "end_byte=10240)"),
    "opencode": ("<stdout truncated: 100,000 lines total>\n", "\n100000\n"),
    "pipe": ("stdout:\n98001\n", "\nexit code: 0"),
    "omni": ("[Output truncated: ", "\n100000\n"),
    "lace": ('{"command": "seq 100000"', "}}"),
}


@pytest.mark.parametrize("name", list(LONG))
def test_long_output_under_each_profile(cli, store, name):
    """What is cut names the artifact that has all of it; the variable chooses as the option does."""
    answer = cli("run", "--", "seq", "100000", env={"SPILLSTORE_PROFILE": name})
    begin, end = LONG[name]
    info, data = last(store)
    assert (answer.code, answer.err) == (0, "")
    assert (answer.text.startswith(begin), answer.text.endswith(end)) == (True, True)
    assert info.id in answer.text
    assert data == b"".join(b"%d\n" % number for number in range(1, 100_001))
    assert len(answer.text) < 20_000


def test_profile_that_does_not_exist(cli, root, tmp_path):
    """Nothing runs, and the profiles that there are are named."""
    answer = cli("run", "--profile", "nonsense", "--", "touch", tmp_path / "ran")
    assert (answer.code, answer.out) == (125, b"")
    assert answer.err == (
        "spillstore: no profile 'nonsense'; there are default, acode, opencode, pipe, omni, lace\n"
    )
    assert not (tmp_path / "ran").exists()
    assert is_untouched(root)


def test_output_that_a_profile_refuses(cli, store):
    """The command ran all the same, and its exit code is ours; nothing is kept."""
    answer = cli(
        "run", "--profile", "acode", "--", "sh", "-c", "seq 100000; exit 6",
        env={"SPILLSTORE_MAX_ARTIFACT_SIZE": "100000", "SPILLSTORE_ARTIFACT_THRESHOLD": "50000"},
    )  # fmt: skip
    assert answer.code == 6
    assert re.match(
        r"Output size \([^)]*\) exceeds maximum artifact size \([^)]*\)\. 588895 bytes came", answer.text
    )
    with store.session("default", read_only=True) as session:
        assert list(session.infos()) == []


@pytest.mark.long
def test_configuration_is_heeded(cli, tmp_path, monkeypatch):
    """The file in the working directory says how much is shown, of this tool or of all."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "config.yml").write_text(
        "tools:\n  truncation:\n    inline_limit: 2000\n    overrides:\n      make: {inline_limit: 1000}\n"
    )
    words = "import random; print(*(random.randbytes(9).hex().translate(str.maketrans('0123456789', 'ghijklmnop')) for _ in range(9999)), sep='\\n')"
    assert 1000 < len(cli("run", "--", sys.executable, "-c", words).text) <= 2000
    assert 500 < len(cli("run", "--source", "make", "--", sys.executable, "-c", words).text) <= 1000


def test_configuration_that_makes_no_sense(cli, store, tmp_path, monkeypatch):
    """The command runs already: it ends in its own way, with the defaults, and file and key are told."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "config.yml").write_text("tools:\n  truncation:\n    inline_limit: nope\n")
    answer = cli("run", "--", "sh", "-c", "echo out; exit 4")
    assert (answer.code, last(store)[1]) == (4, b"out\n")
    assert answer.text.startswith("out\n[artifact ")
    assert answer.err == (
        f"spillstore: {tmp_path}/.agent/config.yml, line 3: tools.truncation.inline_limit must be a positive integer "
        "(at most 4611686018427387903); it is 'nope'; the defaults are used\n"
    )
    found = cli("run", "--json", "--", "true").json
    assert "inline_limit" in found["configuration_error"]


def test_a_setting_of_the_store_that_makes_no_sense(cli, store):
    """The output is stored all the same: it would be lost."""
    answer = cli("run", "--", "seq", 3000, env={"SPILLSTORE_ARTIFACT_LIMIT": "nope", "SPILLSTORE_LEASE": "0"})
    assert (answer.code, last(store)[1]) == (0, b"".join(b"%d\n" % number for number in range(1, 3001)))
    assert "SPILLSTORE_ARTIFACT_LIMIT must be a size" in answer.err
    assert answer.err.endswith("not 'nope'; the defaults are used\n")
    assert "NOT STORED" not in answer.text


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["ls | wc -l"], "sh -c 'ls | wc -l'"),
        (["cd", "/tmp"], "sh -c 'cd /tmp'"),
        (["CC=gcc-13", "make", "a b"], "sh -c 'CC=gcc-13 make '\"'\"'a b'\"'\"''"),
    ],
)
def test_what_a_shell_would_run(cli, command, line):
    """A line for a shell is no program; the message has the command that runs it."""
    answer = cli("run", "--", *command)
    assert 127 == answer.code
    told = f"command not found; a shell runs it: spillstore run -- {line}"
    assert answer.err.endswith(f"{told}\n")
    assert cli("run", "--json", "--", *command).json["error"].endswith(told)
    assert "shell" not in cli("run", "--", "no-such-program").err
