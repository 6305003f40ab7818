"""``spillstore-sh``: for little output it is the shell itself, and of much output all is stored."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import STEP, alive, each_of, examples, tries, wait_until

from spillstore import Store

pytestmark = pytest.mark.long

PROGRAM = [sys.executable, "-m", "spillstore_tools.shell"]
BASH = ["bash"]
BOOM = "seq 1 20000; echo 'src/a.c:3: error: boom'; seq 1 20000; exit 3"
PRINTED = (
    b"".join(b"%d\n" % number for number in range(1, 20001))
    + b"src/a.c:3: error: boom\n"
    + b"".join(b"%d\n" % number for number in range(1, 20001))
)
# Prints what a file says: pieces with their streams and pauses.
WRITER = """
import json, os, sys, time
for stream, text, pause in json.load(open(sys.argv[1])):
    time.sleep(pause)
    os.write(stream, text.encode("latin-1"))
"""
AGENTS = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "OPENCODE_SESSION_ID", "GEMINI_SESSION_ID", "AI_AGENT")


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """No agent of the user's, a shell that is known, and a folder without a configuration."""
    for name in AGENTS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("SPILLSTORE_ROOT", str(tmp_path / "store"))
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    monkeypatch.setenv("SPILLSTORE_SESSION", "mine")
    monkeypatch.chdir(tmp_path)


def run(*arguments, program=PROGRAM, stdin=b"", **environment):
    """What a call prints, and how it ends."""
    done = subprocess.run(
        [*program, *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def stored(tmp_path, session="mine"):
    """The metadata and the bytes of each artifact of a session; nothing where there is no store."""
    if not (tmp_path / "store").exists():
        return []
    with Store(tmp_path / "store", free_disk_floor=0).session(session, read_only=True) as opened:
        return [(each.info, each.read_bytes(0, each.info.size)) for each in opened.artifacts(limit=100).items]


# --- little output ---------------------------------------------------------------------------------------


@examples(8)
@given(
    pieces=st.lists(
        st.tuples(st.sampled_from([1, 2]), st.binary(max_size=700), st.sampled_from([0, 0, 0.002, 0.03])),
        max_size=11,
    ),
    code=st.integers(0, 255),
)
def test_little_output_is_the_same(tmp_path_factory, pieces, code):
    """To the byte, each stream for itself, with the same exit code; and nothing is stored."""
    folder = tmp_path_factory.mktemp("drawn")
    (folder / "pieces").write_text(
        json.dumps([(s, data.decode("latin-1"), pause) for s, data, pause in pieces])
    )
    (folder / "writer.py").write_text(WRITER)
    line = f"{sys.executable} -IS writer.py pieces; exit {code}"
    done = subprocess.run(
        [*PROGRAM, "-c", line],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "SPILLSTORE_ROOT": str(folder / "store")},
        check=False,
    )
    expected = [b"".join(data for stream, data, _ in pieces if stream == each) for each in (1, 2)]
    assert (done.returncode, done.stdout, done.stderr) == (code, *expected)
    assert not (folder / "store").exists()


def test_output_comes_when_it_is_printed():
    """Not when the command has ended."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", "echo one; read x; echo two $x"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert running.stdout.readline() == b"one\n"
    assert running.communicate(b"three\n") == (b"two three\n", None)


def test_output_up_to_the_limit_comes_a_second_later():
    """More than what passes at once is not held back until the end."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", "seq 1 1000; read x; echo two $x"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert [running.stdout.readline() for _ in range(1000)][-1] == b"1000\n"
    assert running.communicate(b"three\n") == (b"two three\n", None)


def test_both_streams_to_one_place_keep_their_order(tmp_path):
    """As they do without us: there is one pipe where there is one place."""
    line = "for i in $(seq 200); do echo out $i; echo err $i >&2; done"
    with open(tmp_path / "both", "ab") as both:
        subprocess.run([*PROGRAM, line], stdout=both, stderr=both, check=True)
    assert (tmp_path / "both").read_text() == "".join(f"out {n}\nerr {n}\n" for n in range(1, 201))


@each_of(
    "arguments",
    [
        (["echo $0 $#; exit 7"],),
        (["-c", "echo $0 $#", "name", "one", "two"],),
        (["-lc", "echo login; shopt -q login_shell; echo $?"],),
        (["-e", "-c", "false; echo never"],),
        (["-o", "pipefail", "-c", "false | true"],),
        (["-ec", "echo $-"],),
        (["--norc", "-c", "echo x"],),
        (["-c", "--", "echo dashes"],),
        (["-c"],),
        (["-c", "if"],),
        (["-c", ""],),
        (["script", "one"],),
        (["-s", "one"],),
        ([],),
        (["--nothing"],),
    ],
)
def test_arguments_are_those_of_a_shell(tmp_path, arguments):
    """A line alone is a command line; everything else means what it means to the shell."""
    (tmp_path / "script").write_text("echo script $1")
    given, usual = arguments[0] if isinstance(arguments, tuple) else arguments, None
    usual = ["-c", *given] if len(given) == 1 and not given[0].startswith("-") else given
    expected = run(*usual, program=["/bin/bash"], stdin=b"echo from stdin $1\n")
    assert run(*given, stdin=b"echo from stdin $1\n") == expected


@pytest.mark.parametrize(
    "locale", [{}, {"LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8"}, {"LANG": "C"}, {"LC_ALL": "C"}]
)
def test_the_environment_is_the_same(tmp_path, locale):
    """But for our own variables, the path to ``spillstore``, and what shells count for themselves."""

    def seen(program):
        done = subprocess.run(
            [*program, "-c", "env"],
            capture_output=True,
            text=True,
            check=True,
            env={
                "PATH": os.environ["PATH"],
                "SHELL": "/bin/bash",
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                **locale,
            },
        )
        lines = done.stdout.splitlines()
        return {each for each in lines if not each.startswith(("SPILLSTORE_", "PATH=", "_=", "SHLVL="))}

    assert seen(PROGRAM) == seen(BASH)


@pytest.mark.slow
def test_every_exit_code_is_the_command_s():
    """From 0 to 255; with fewer examples than usual every so-manyth, and those that mean something."""
    codes = sorted({0, 1, 126, 127, 128, 254, 255, *range(0, 256, STEP)})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert codes == list(pool.map(lambda code: run("-c", f"exit {code}")[0], codes))


MORTAL = sorted(
    set(signal.valid_signals())
    - {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT, signal.SIGCHLD}
    - {signal.SIGURG, signal.SIGWINCH}
)


def test_it_dies_by_the_signal_that_the_shell_dies_by():
    """Of each that ends a process, so that who waits for it learns what it would have learned."""

    def deaths(number):
        line = f"echo before; kill -{int(number)} $$"
        return [run("-c", line, program=program)[:2] for program in (PROGRAM, BASH)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = dict(zip(MORTAL, pool.map(deaths, MORTAL), strict=True))
    assert {number: both[0] for number, both in found.items()} == {n: both[1] for n, both in found.items()}
    assert found[signal.SIGKILL][0] == (-signal.SIGKILL, b"before\n")


def test_stdin_is_the_command_s():
    """All of it, also what the command has not read."""
    data = bytes(range(256)) * 20
    assert run("-c", "cat", stdin=data) == (0, data, b"")
    assert run("-c", "read line; wc -c", stdin=b"one\n12345")[1].strip() == b"5"


def test_a_terminal_passes_through():
    """Where output goes to a terminal, the shell takes our place."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [*PROGRAM, "-c", "test -t 1 && echo terminal $PPID; seq 1 5000 | tail -1"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    text = b""
    try:
        while data := os.read(ours, 1024):
            text += data
    except OSError:  # how a terminal ends
        pass
    os.close(ours)
    assert done.wait() == 0
    assert text == b"terminal %d\r\n5000\r\n" % os.getpid()


def test_the_store_is_not_imported_for_little_output():
    """Nor any module that takes longer than the whole of it."""
    program = f"""
import os, sys
sys.path[:0] = {[each for each in sys.path if each]!r}
sys.argv[1:] = ['-c', 'echo hello']
leave = os._exit
os._exit = lambda code: (os.write(2, ' '.join(sys.modules).encode()), leave(code))
from spillstore_tools.shell.command import main
main()
"""
    done = subprocess.run([sys.executable, "-IS", "-c", program], capture_output=True, text=True, check=True)
    modules = set(done.stderr.rpartition("\n")[2].split())
    assert done.stdout == "hello\n"
    assert "spillstore_tools.shell.relay" in modules
    assert set() == modules & {
        "spillstore",
        "typing",
        "re",
        "subprocess",
        "click",
        "spillstore_tools.shell.capture",
    }


# --- much output -----------------------------------------------------------------------------------------


def test_much_output_is_stored_and_the_error_is_shown(tmp_path):
    """All of it, both streams in their order; the text is the profile's, and its calls work inside the next line."""
    code, out, err = run("-c", BOOM)
    ((info, data),) = stored(tmp_path)
    text = out.decode()
    assert (code, err, data, info.exit_code, info.command) == (3, b"", PRINTED, 3, BOOM)
    assert "error: boom" in text
    assert len(text) <= 8000
    assert f'get_artifact(id="{info.id}"' in text
    assert text.endswith("\n[exit code 3]\n")
    read = f"{sys.executable} -m spillstore_tools.cli show {info.id} --lines 20001-20001"
    assert run("-c", read)[:2] == (0, b"src/a.c:3: error: boom\n")


def test_what_was_passed_before_counts(tmp_path):
    """The text that follows what was shown as it came is shorter by as much."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", f"echo begins; read x; {BOOM}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert running.stdout.readline() == b"begins\n"
    rest, _ = running.communicate(b"\n")
    assert running.returncode == 3
    assert rest.startswith(b"[40002 lines")
    assert b"error: boom" in rest
    assert len(rest) <= 8000 - len("begins\n")
    assert stored(tmp_path)[0][1] == b"begins\n" + PRINTED


def test_what_was_held_has_the_time_at_which_it_came(tmp_path):
    """Not that at which it became too much to pass."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", f"echo begins; read x; sleep 0.2; {BOOM}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert running.stdout.readline() == b"begins\n"  # so it was read
    running.communicate(b"\n")
    with Store(tmp_path / "store", free_disk_floor=0).session("mine", read_only=True) as session:
        first, second, *_ = session.artifacts(limit=1).items[0].segments()
    assert first.data == b"begins\n"
    assert second.time - first.time >= 0.2


def test_a_slow_beginning_leaves_room_for_the_error(tmp_path):
    """However much of the limit has passed by then."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", f"seq 1 1790; read x; {BOOM}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert [running.stdout.readline() for _ in range(1790)][-1] == b"1790\n"
    rest, _ = running.communicate(b"\n")
    assert rest.startswith(b"[41791 lines")
    assert b"error: boom" in rest
    assert len(rest) <= 2000


def test_fifty_megabytes_are_stored(tmp_path):
    """In flat memory, every byte."""
    line = "head -c 50000000 /dev/zero | tr '\\0' x | fold -w 99"
    code, out, err = run("-c", f"ulimit -v 4000000; {line}")
    expected = subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout
    ((info, data),) = stored(tmp_path)
    assert (code, err, len(data)) == (0, b"", len(expected))
    assert hashlib.sha256(data).digest() == hashlib.sha256(expected).digest()
    assert len(out) <= 8000
    assert info.state == "sealed"


def test_death_by_a_signal_after_much_output(tmp_path):
    """The text is shown first."""
    code, out, _ = run("-c", "seq 1 20000; kill -TERM $$")
    assert code == -signal.SIGTERM
    assert stored(tmp_path)[0][0].id.encode() in out
    assert out.endswith(b"\n[exit code 143 (SIGTERM)]\n")


@pytest.mark.slow
def test_a_long_command_says_how_to_look_at_it(tmp_path):
    """After ten seconds, once; what it has printed is stored then, and all else is as ever."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", "echo hello; read x; echo done"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    first, hint = running.stdout.readline(), running.stdout.readline()
    ((info, _),) = stored(tmp_path)
    assert first == b"hello\n"
    assert hint == f"[running; artifact {info.id}: spillstore tail {info.id}]\n".encode()
    assert info.state == "open"
    assert running.communicate(b"\n") == (b"done\n", None)
    ((info, data),) = stored(tmp_path)
    assert (running.returncode, info.state, data) == (0, "sealed", b"hello\ndone\n")


def test_what_is_printed_again_is_stored_once(tmp_path):
    """The text names the artifact that has it."""
    run("-c", "seq 1 20000")
    code, out, _ = run("-c", "seq 1 20000; exit 1")
    ((info, _),) = stored(tmp_path)
    assert code == 1
    assert info.id.encode() in out


# --- whatever fails on our side --------------------------------------------------------------------------


@each_of(
    "environment",
    [
        ({"SPILLSTORE_ROOT": "/dev/null/store"},),
        ({"SPILLSTORE_ROOT": "postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=1"},),
        ({"SPILLSTORE_ROOT": "memory:"},),
        ({"SPILLSTORE_FREE_DISK_FLOOR": str(2**60)},),
        ({"SPILLSTORE_SESSION": "no/such\nname"},),
        ({"SPILLSTORE_PROFILE": "nothing"},),
        ({"SPILLSTORE_INLINE_LIMIT": "many"},),
        ({"SPILLSTORE_OTEL": "perhaps"},),
        ({"PYTHONPATH": "broken"},),
    ],
)
def test_the_output_passes_whatever_fails(tmp_path, environment):
    """As it is, with the same exit code, and one line on stderr that says why."""
    (environment,) = environment if isinstance(environment, tuple) else (environment,)
    for module in ("zstandard", "msgspec", "click"):
        (tmp_path / "broken").mkdir(exist_ok=True)
        (tmp_path / "broken" / f"{module}.py").write_text("raise ImportError('it is broken')")
    code, out, err = run("-c", BOOM, **environment)
    assert (code, out) == (3, PRINTED)
    assert err.startswith(b"spillstore-sh: the output is not stored: ")
    assert err.count(b"\n") == 1


def test_the_output_passes_whatever_breaks_while_it_is_read(tmp_path):
    """A module of the standard library that is hidden by another, which shows at the end of the command."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "termios.py").touch()
    assert run("-c", "echo hi; exit 3", PYTHONPATH="broken")[:2] == (3, b"hi\n")
    code, out, err = run("-c", BOOM, PYTHONPATH="broken")
    assert code == 3
    assert out == PRINTED or b"a part is shown" in out
    # Nothing breaks where both pipes end before the shell does.
    assert err == b"" or err.startswith(b"spillstore-sh: the output is not stored")
    assert err.count(b"\n") <= 1


def test_both_readers_go_away_from_a_child_in_the_background(tmp_path):
    """It learns of it as it would without us."""
    line = f"{{ while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; trap '' PIPE; echo a; echo b >&2; sleep 0.3; echo a || touch {tmp_path}/known; }} &"
    running = subprocess.Popen([*PROGRAM, "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running.wait()
    running.stdout.close()
    running.stderr.close()
    (tmp_path / "go").touch()
    wait_until((tmp_path / "known").exists)


def test_a_wrong_shell_is_passed_over():
    """The user's takes its place, or one that every system has."""
    assert run("-c", "echo hi", SPILLSTORE_SHELL="/nothing") == (0, b"hi\n", b"")
    assert run("-c", "echo hi", SHELL="/usr/local/bin/spillstore-sh") == (0, b"hi\n", b"")
    assert run("-c", "echo $0", SPILLSTORE_SHELL="/bin/sh") == (0, b"/bin/sh\n", b"")


# --- processes and signals -------------------------------------------------------------------------------


def test_children_in_the_background_go_on_printing(tmp_path):
    """The call ends with its shell, and what they print later goes where it would go without us."""
    with open(tmp_path / "out", "wb") as out:
        line = f"echo now; {{ while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo later; }} &"
        assert subprocess.run([*PROGRAM, "-c", line], stdout=out, check=False).returncode == 0
    assert (tmp_path / "out").read_bytes() == b"now\n"
    (tmp_path / "go").touch()
    wait_until(lambda: (tmp_path / "out").read_bytes() == b"now\nlater\n")


def test_children_in_the_background_after_much_output(tmp_path):
    """The text comes with the end of the shell, and what they print behind it passes on."""
    with open(tmp_path / "out", "wb") as out:
        line = f"seq 1 20000; {{ while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo later; }} &"
        assert subprocess.run([*PROGRAM, "-c", line], stdout=out, check=False).returncode == 0
    assert b"exit code 0]\n" in (tmp_path / "out").read_bytes()
    (tmp_path / "go").touch()
    wait_until(lambda: (tmp_path / "out").read_bytes().endswith(b"exit code 0]\nlater\n"))


def test_it_is_in_our_process_group():
    """So that who ends a group ends the command."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", "ps -o pgid= -p $$; exec sleep 600"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert int(running.stdout.readline()) == running.pid
    os.killpg(running.pid, signal.SIGKILL)
    assert running.communicate() == (b"", None)
    assert running.returncode == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["process", "group"])
def test_a_signal_comes_once(tmp_path, number, send):
    """To us alone it is passed on; to our group it has come to the command already."""
    # A bash that waits for a program may send itself SIGINT for ever.
    line = f"trap 'echo caught' {number.name[3:]}; echo ready; while [ ! -e {tmp_path}/go ]; do read -t 0.05 || :; done"
    running = subprocess.Popen(
        [*PROGRAM, "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert running.stdout.readline() == b"ready\n"
    send(running.pid, number)
    time.sleep(0.3)  # in which a second one would come
    (tmp_path / "go").touch()
    out, _ = running.communicate()
    assert out == b"caught\n"
    assert running.returncode == 0


def test_a_signal_ends_it_as_it_ends_the_command(tmp_path):
    """With what was printed stored and shown."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", f"seq 1 20000; touch {tmp_path}/there; exec sleep 600"], stdout=subprocess.PIPE
    )
    wait_until((tmp_path / "there").exists)
    running.terminate()
    out, _ = running.communicate()
    assert running.returncode == -signal.SIGTERM
    assert stored(tmp_path)[0][1] == run("-c", "seq 1 20000", program=BASH)[1]
    assert b"a part is shown" in out


def test_when_it_is_killed_its_shell_is(tmp_path):
    """And nothing else: what the shell has started lives on, as it would without us."""
    line = f"sleep 600 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/shell; echo up; wait"
    running = subprocess.Popen([*PROGRAM, "-c", line], stdout=subprocess.PIPE)
    assert running.stdout.readline() == b"up\n"
    shell, child = (int((tmp_path / name).read_text()) for name in ("shell", "child"))
    assert alive(shell)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    wait_until(lambda: len(children.read_text().split()) == 2)
    running.kill()
    running.wait()
    try:
        wait_until(lambda: not alive(shell))
        assert alive(child)
    finally:
        os.kill(child, signal.SIGKILL)
        running.stdout.close()


def test_it_stops_and_goes_on_with_its_command():
    """SIGTSTP and SIGCONT reach the command, and who waits for us sees us stop."""
    running = subprocess.Popen(
        [*PROGRAM, "-c", "echo $$; read x; echo $x"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0,
    )
    shell = int(running.stdout.readline())
    os.kill(running.pid, signal.SIGTSTP)
    _, status = os.waitpid(running.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    wait_until(lambda: state(shell) == "T")
    os.kill(running.pid, signal.SIGCONT)
    wait_until(lambda: state(shell) != "T")
    assert running.communicate(b"on\n") == (b"on\n", None)


def test_the_end_is_noticed_where_children_are_ignored():
    """By who has started us."""
    program = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    assert run("-c", "echo hi; exit 3", program=[sys.executable, "-c", program, *PROGRAM]) == (
        3,
        b"hi\n",
        b"",
    )


def test_our_secrets_are_not_the_command_s():
    """Also where the real shell takes our place."""
    for variables in ({}, {"SPILLSTORE_OFF": "1"}, {"SPILLSTORE_ROOT": "postgresql://me:pass@127.0.0.1/x"}):
        environment = {"SPILLSTORE_MCP_TOKEN": "token-1", "PGPASSWORD": "token-2", **variables}
        code, out, _ = run("-c", "env", **environment)
        assert code == 0
        assert b"token-1" not in out
        assert b"pass@" not in out
        assert (b"token-2" in out) == ("SPILLSTORE_ROOT" not in variables)


def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_a_reader_that_goes_away_ends_the_command():
    """Of much output too, which nobody would read."""
    running = subprocess.Popen([*PROGRAM, "-c", "yes"], stdout=subprocess.PIPE)
    running.stdout.close()
    assert running.wait() in {-signal.SIGPIPE, 128 + signal.SIGPIPE}


# --- agents ----------------------------------------------------------------------------------------------


@each_of(
    "variables, session",
    [
        ({"CLAUDE_CODE_SESSION_ID": "abc-1"}, "claude-abc-1"),
        ({"CODEX_THREAD_ID": "0198/..x"}, "codex-0198-..x"),
        ({"OPENCODE_SESSION_ID": "ses_1"}, "opencode-ses_1"),
        ({"GEMINI_SESSION_ID": "g"}, "gemini-g"),
        ({"CLAUDE_CODE_SESSION_ID": "abc-1", "SPILLSTORE_SESSION": "named"}, "named"),
        ({}, time.strftime("shell-%Y-%m-%d")),
    ],
)
def test_the_session_is_the_agent_s(variables, session):
    """Unless one is named; and commands inside know it."""
    found = run("-c", "echo $SPILLSTORE_SESSION", **{"SPILLSTORE_SESSION": "", **variables})
    assert found == (0, f"{session}\n".encode(), b"")


def test_an_agent_s_own_programs_are_left_alone(tmp_path):
    """Its hooks and servers; and everything where it is switched off."""
    for variables in (
        {"AI_AGENT": "claude-code_2.1.330_harness"},
        {"SPILLSTORE_OFF": "1"},
    ):
        assert run("-c", BOOM, **variables) == (3, PRINTED, b"")
    assert run("-c", BOOM, AI_AGENT="claude-code_2.1.330_agent")[1] != PRINTED
    assert len(stored(tmp_path)) == 1


def test_a_line_inside_is_not_looked_after_again(tmp_path):
    """Its output is data there; and what ``spillstore run`` has shown passes as it is."""
    ours = " ".join(PROGRAM)
    assert run("-c", f'{ours} -c "seq 1 20000" | wc -l')[1].strip() == b"20000"
    assert stored(tmp_path) == [] or not (tmp_path / "store").exists()
    code, out, _ = run("-c", f"{sys.executable} -m spillstore_tools.cli run -- seq 1 20000")
    ((info, _),) = stored(tmp_path)
    assert code == 0
    assert info.source == "run"
    assert info.id.encode() in out
    assert out.endswith(b"\n[exit code 0]\n")


def test_an_agent_inside_has_its_own_session(tmp_path):
    """What that one runs is looked after, in its session."""
    inner = f"CLAUDE_CODE_SESSION_ID=two {' '.join(PROGRAM)} -c 'seq 1 20000'"
    run("-c", inner, CLAUDE_CODE_SESSION_ID="one", SPILLSTORE_SESSION="")
    ((info, _),) = stored(tmp_path, "claude-two")
    assert info.command == "seq 1 20000"


def test_the_command_is_the_model_s_own(tmp_path):
    """Without what Claude Code puts around it."""
    (tmp_path / "snapshot.sh").touch()
    line = f"source {tmp_path}/snapshot.sh && eval 'seq 1 20000' < /dev/null && pwd -P >| {tmp_path}/cwd-1"
    assert run(line)[0] == 0
    assert stored(tmp_path)[0][0].command == "seq 1 20000"
    assert (tmp_path / "cwd-1").read_text().strip() == os.path.realpath(tmp_path)


def test_a_configuration_holds(tmp_path):
    """Its limit, for little output too; what it shows whole passes to the byte."""
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "config.yml").write_text("tools:\n  truncation:\n    inline_limit: 1000\n")
    assert run("-c", "seq 1 200; echo err >&2") == (
        0,
        b"".join(b"%d\n" % number for number in range(1, 201)),
        b"err\n",
    )
    _, out, _ = run("-c", "seq 1 1000")
    assert b"a part is shown" in out
    assert len(out) <= 1000


def test_twenty_at_once(tmp_path):
    """In one session, each with its own artifact; with fewer examples than usual, not as many."""
    codes = range(1, 1 + tries(20))
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda n: run("-c", f"seq {n} 20000; exit {n}"), codes))
    assert [code for code, _, _ in found] == [*codes]
    assert {b""} == {err for _, _, err in found}
    assert sorted(info.exit_code for info, _ in stored(tmp_path)) == [*codes]
