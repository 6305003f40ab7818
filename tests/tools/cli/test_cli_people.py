"""What is made for a person at a terminal: colours, widths, questions, progress, completion, suggestions."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from test_cli_terminal import Terminal

from spillstore_tools.cli.support import progress as _progress
from spillstore_tools.cli.support.output import local
from spillstore_tools.describe import utc


def wide(terminal, columns):
    """Make a terminal so wide."""
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


# --- list -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_a_list_is_as_wide_as_the_terminal(at_terminal, put, columns):
    """No row wraps, and its command can be seen, if not all of it."""
    artifact_id = put(
        "x" * 5000, source="some-tool", command="make " + "very " * 20, content_type="text/plain"
    )
    answer = at_terminal("list", COLUMNS=str(columns), NO_COLOR="1")
    lines = answer.text.splitlines()
    assert answer.code == 0
    assert [line for line in lines if len(line) > columns] == []
    assert lines[1].startswith(artifact_id)
    assert "make very" in lines[1]
    assert ("stored" in lines[0]) is (columns == 200)


@pytest.mark.parametrize("columns", [50, 80, 100, 200])
@pytest.mark.parametrize(
    "arguments",
    [("stats",), ("audit",), ("list", "--box"), ("gc", "--dry-run", "--older-than", "0"), ("sessions",)],
)
def test_tables_are_no_wider_than_the_terminal(at_terminal, cli, put, columns, arguments):
    """No row wraps, and no frame falls apart; with room enough nothing is left out."""
    put(
        "x" * 5000,
        source="a-tool-with-a-name",
        command="make " + "very " * 20,
        content_type="application/json",
    )
    cli("search", "x", "--json")
    answer = at_terminal(*arguments, COLUMNS=str(columns), NO_COLOR="1")
    lines = answer.text.splitlines()
    assert answer.code == 0
    drawn = [line for line in lines if not line.startswith(("Total", "Would", "1 session"))]
    assert [line for line in drawn if len(line) > columns] == []
    whole = [line for line in cli(*arguments).text.splitlines() if "│" in line or "  " in line]
    if columns == 200 and arguments[0] != "audit":  # in which there is more by now
        assert [line for line in drawn if "│" in line or "  " in line] == whole
    if "--box" in arguments:
        assert {len(line) for line in drawn} == {len(drawn[0])}


@pytest.mark.long
def test_an_audit_log_that_is_followed_is_no_wider_than_the_terminal(root, put):
    """Though nobody knows what will come."""
    put("x", command="make " + "very " * 20)
    with Terminal(root, "audit", "--follow", "--since", "1h", COLUMNS="60", NO_COLOR="1") as terminal:
        terminal.read(b"create")
        terminal.read(b"\r\n")
        os.kill(terminal.process.pid, signal.SIGTERM)
        lines = terminal.read().decode().splitlines()
        terminal.end()
    assert [line for line in lines if len(line) > 60] == []


def test_states_have_colours(at_terminal, put, store):
    """What is incomplete, interrupted or failed stands out; NO_COLOR says otherwise."""
    with store.session("default") as session:
        session.create().abort("stopped")
    assert b"\x1b[33minterrupted\x1b[0m" in at_terminal("list", COLUMNS="200").out
    assert b"\x1b" not in at_terminal("list", COLUMNS="200", NO_COLOR="1").out


def test_differences_have_colours(at_terminal, put):
    """What is new is green, what is gone red, as in git; a pipe gets none."""
    put("old\n")
    put("fresh\n")
    seen = at_terminal("diff", "@1", "@2").out
    assert b"\x1b[32m+1:fresh\x1b[0m\n" in seen
    assert b"\x1b[31m-1:old\x1b[0m\n" in seen
    assert b"\x1b[1mSize:\x1b[0m 6 bytes" in at_terminal("info").out
    assert b"\x1b" not in at_terminal("diff", "@1", "@2", NO_COLOR="1").out


def test_a_total_is_of_all(cli, put):
    """Not of what is shown alone."""
    for _ in range(5):
        put(b"x" * 100)
    assert cli("list", "--limit", "2").text.endswith("; 2 are shown, all with --limit 5\n")
    total = cli("list", "--limit", "2", "--json").json["total"]
    assert (total["artifacts"], total["size"], total["shown"], total["more"]) == (5, 500, 2, True)


@pytest.fixture
def kolkata(monkeypatch):
    """A clock on the wall that is five hours and a half before UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


def test_times_are_those_of_the_wall(kolkata):
    """With their distance from UTC."""
    assert local(1_699_280_567.5) == "2023-11-06 19:52:47 +0530"
    assert local(1_699_280_567.5, fraction=True) == "2023-11-06 19:52:47.500 +0530"


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("info",),
        ("sessions",),
        ("audit",),
        ("diff", "@1", "@1"),
        ("gc", "--dry-run", "--older-than", "0"),
    ],
)
def test_all_commands_show_the_same_times(cli, put, kolkata, arguments):
    """Those of the wall; JSON has seconds since 1970."""
    put("x", command="true")
    answer = cli(*arguments)
    told = answer.text + answer.err
    assert "+0530" in told
    assert "UTC" not in told


@pytest.mark.parametrize("command", ["list", "audit"])
def test_times_that_are_given_are_those_that_are_shown(cli, put, kolkata, command):
    """Without a distance from UTC they are by the clock here; with one they are what they say."""
    artifact_id = put("x")
    now = time.time()
    here, there = local(now - 60)[:19], f"{dt.datetime.fromtimestamp(now - 60, dt.UTC):%Y-%m-%d %H:%M:%S}"

    def found(*options):
        return artifact_id in cli(command, *options).text

    assert found("--since", here)
    assert not found("--until", here)
    assert found("--since", f"{there}Z")
    assert not found("--until", f"{there}Z")
    assert not found("--since", local(now + 60)[:19])
    assert found("--until", local(now + 60))  # as it is shown
    assert not found("--since", utc(now + 60))
    assert found("--since", utc(now - 60))
    assert found("--since", there)  # which was five hours and a half ago here


def test_an_age_from_a_time(cli, put, kolkata):
    """As in the other options."""
    put("x")
    shown = {}
    for moved in (-60, 60):
        when = local(time.time() + moved)[:19]
        shown[moved] = cli("gc", "--dry-run", "--older-than", when).text
    assert "Would remove 0 sessions" in shown[-60]
    assert "Would remove 1 session" in shown[60]


# --- search -----------------------------------------------------------------------------------------------


def test_matches_are_marked(at_terminal, put):
    """At a terminal, every one of a line; elsewhere nothing is."""
    put("one error and an error\n")
    seen = at_terminal("search", "err.r").out
    assert seen == (b"\x1b[32m1:\x1b[0mone \x1b[1;31merror\x1b[0m and an \x1b[1;31merror\x1b[0m\n")


def test_nothing_is_marked_elsewhere(cli, put):
    """A program reads plain text."""
    put("one error\n")
    assert cli("search", "err.r").text == "1:one error\n"


# --- clean ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("typed", "code", "left"), [(b"n\n", 125, 1), (b"y\n", 0, 0)])
def test_clean_asks_at_a_terminal(root, put, store, typed, code, left):
    """And tells what would go."""
    put("x")
    with Terminal(root, "clean") as terminal:
        assert b"Delete session default with 1 artifact (" in terminal.read(b"[y/N]: ")
        terminal.type(typed)
        terminal.read()
        assert terminal.end() == code
    assert len(list(store.sessions())) == left


def test_clean_need_not_ask(at_terminal, put, store):
    """With ``--yes``, and elsewhere."""
    put("x")
    assert b"Removed 1 artifact" in at_terminal("clean", "--yes").out
    assert list(store.sessions()) == []


# --- progress ---------------------------------------------------------------------------------------------


@pytest.mark.long
def test_progress_is_drawn_and_taken_away():
    """While work goes on, and only after a while."""
    script = (
        "import sys, threading; sys.stderr.isatty = lambda: True\n"
        "from spillstore_tools.cli.support import progress as p\n"
        "p.AFTER = 0.01\n"
        "drawn = threading.Event()\n"
        "def far():\n    drawn.set()\n    return '3 MB'\n"
        "with p.progress('storing', far): assert drawn.wait(120)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert re.match(rb"\r\x1b\[Kspillstore: storing 3 MB, [0-9.]+ s", done.stderr)
    assert done.stderr.endswith(b"\r\x1b[K")


FAR = """
import sys, threading
from spillstore_tools.cli import _invoke
from spillstore_tools.cli.support import progress as _progress
from spillstore_tools.cli.commands import diff

class Terminal:
    def __init__(self, inner):
        self.inner = inner
    def __getattr__(self, name):
        return getattr(self.inner, name)
    def isatty(self):
        return True
    def write(self, text):
        if " %," in text:
            drawn.set()
        return self.inner.write(text)

drawn = threading.Event()
sys.stderr = Terminal(sys.stderr)
_progress.AFTER = _progress._EVERY = 0.001
diff._SLICE = 0
told = _progress.Progress.__call__
def tell(self, done, total):
    told(self, done, total)
    assert drawn.wait(120), (done, total)
_progress.Progress.__call__ = tell
sys.exit(_invoke(sys.argv[1:]))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "work"),
    [
        (("verify",), "checking session default"),
        (("verify", "@last"), "verifying 2 MiB"),
        (("export", "copy"), "exporting 2 MiB"),
        (("search", "--all", "nothing"), "searching 2 MiB of art_"),
        (("diff", "@1", "@2"), "comparing 4 MiB"),
        (("put", "file"), "storing "),
        (("gc", "--older-than", "0"), "deleting old sessions"),
    ],
)
def test_progress_in_per_cent(root, put, tmp_path, arguments, work):
    """Where it is known how much there is; no more than there is, and something before the end."""
    for letter in (b"a", b"b"):
        put(letter * 63 + b"\n" + b"%d\n" % os.getpid() + (letter * 63 + b"\n") * 32766)
    (tmp_path / "file").write_bytes(b"x" * 3 * 1024 * 1024)
    done = subprocess.run(
        [sys.executable, "-c", FAR, *arguments], capture_output=True, check=False, timeout=300, cwd=tmp_path
    )
    assert done.returncode in {0, 1}, done.stderr
    drawn = re.findall(r"spillstore: ([^\r]*?), (\d+) %, [0-9.]+ s", done.stderr.decode())
    assert drawn
    assert all(what.startswith(work) for what, _ in drawn)
    assert max(int(percent) for _, percent in drawn) <= 100


def test_no_progress_elsewhere(capsys, monkeypatch):
    """A file of stderr holds none of it."""
    monkeypatch.setattr(_progress, "AFTER", 0.0)
    with _progress.progress("storing"):
        pass
    assert capsys.readouterr().err == ""


# --- completion -------------------------------------------------------------------------------------------


def completed(cli, *words):
    """What bash is offered for the last word."""
    env = {
        "_SPILLSTORE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["spillstore", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return cli(env=env).text.split()


def test_programs_complete_behind_run(cli):
    """The first word is a program of the PATH."""
    assert "plain,printf" in completed(cli, "run", "--", "prin")
    assert "plain,printf" in completed(cli, "run", "prin")


def test_files_complete_behind_run(cli):
    """Other words, and paths of programs, are the shell's to complete."""
    assert completed(cli, "run", "--", "make", "-C", "ma") == ["file,ma"]
    assert completed(cli, "run", "--", "./sc") == ["file,./sc"]


def test_values_of_options_complete(cli, store):
    """Profiles, sessions, tools, folders, and what an option takes besides."""
    for name in ("chat-1", "chat-2", "default"):
        with store.session(name) as session:
            session.put("x", source=f"tool-{name}")
            session.put("y", source="make")
    for command in (["run"], ["put"], ["mcp"], ["mcp-proxy"]):
        assert completed(cli, *command, "--profile", "o") == ["plain,opencode", "plain,omni"]
    assert completed(cli, "put", "--strategy", "h") == ["plain,head", "plain,head_tail"]
    assert sorted(completed(cli, "list", "--session", "chat")) == ["plain,chat-1", "plain,chat-2"]
    assert completed(cli, "list", "--session", "chat-2", "--source", "t") == ["plain,tool-chat-2"]
    newest_first = ["plain,make", "plain,tool-default"]
    assert completed(cli, "run", "--source", "") == newest_first
    assert completed(cli, "info", "--root", "/et") == ["dir,/et"]
    assert completed(cli, "list", "--state", "s") == ["plain,sealed"]


def test_sessions_of_a_project_complete(cli, store):
    """Those of other projects are offered where the project is named, for elsewhere they are not found."""
    store.session("chat-1").close()
    store.session("chat-2", "web").close()
    assert completed(cli, "list", "--session", "chat") == ["plain,chat-1"]
    assert completed(cli, "list", "--project", "web", "--session", "chat") == ["plain,chat-2"]


@pytest.mark.parametrize("option", ["--session", "--source"])
def test_values_of_options_without_a_store(cli, option):
    """There are none, and nothing is printed that a shell would show."""
    assert completed(cli, "list", option, "x") == []


def test_ids_complete_where_there_may_be_several(cli, put):
    """Of ``rm`` and ``diff`` as of the commands that take one."""
    artifact_id = put("x")
    for command in ("info", "rm", "diff"):
        assert f"plain,{artifact_id}" in completed(cli, command, "@last", "art_")


# --- suggestions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("runn", "run"),
        ("lst", "list"),
        ("ls", "list"),
        ("grep", "search"),
        ("session", "sessions"),
        ("head", "show"),
    ],
)
def test_commands_that_may_be_meant(cli, name, meant):
    """By their letters, or by what other programs call the same."""
    answer = cli(name)
    assert answer.code == 2
    assert f"No such command '{name}'. Did you mean '{meant}'?" in answer.err


def test_a_command_that_nobody_means(cli):
    """Nothing is guessed."""
    assert "No such command 'qqqq'. `spillstore --help` lists the commands." in cli("qqqq").err


@pytest.mark.parametrize(
    "arguments",
    [["stats", "--since", "1h"], ["search", "--color", "x"], ["--json", "list"]],
    ids=lambda each: each[0],
)
def test_options_that_are_not_meant(cli, arguments):
    """Another word is no suggestion."""
    answer = cli(*arguments)
    assert answer.code == 2
    assert "No such option" in answer.err
    assert "Did you mean" not in answer.err


def test_options_that_are_meant(cli):
    """A slip of the pen is."""
    assert "Did you mean --limit?" in cli("list", "--limt", "3").err.replace("'", "")


def test_options_stand_behind_the_command(cli):
    """Which is said to who puts them before it."""
    assert "Options stand behind the command: spillstore COMMAND --json" in cli("--json", "list").err


# --- notices ----------------------------------------------------------------------------------------------


def test_a_person_is_told_what_a_person_can_call(at_terminal):
    """At a terminal a preview names commands of the shell alone, and they work."""
    seen = at_terminal("run", "--quiet", "--", "seq", "1", "100000").text
    assert "get_artifact(" not in seen
    assert "search_artifact(" not in seen
    assert re.search(r"spillstore show art_\w+ --lines 1-100\n", seen)


def test_a_model_is_told_both(cli):
    """Elsewhere a model may read it, which has tools, a shell, or both."""
    text = cli("run", "--", "seq", "1", "100000").text
    assert "get_artifact(" in text
    assert "in a shell: spillstore show" in text
