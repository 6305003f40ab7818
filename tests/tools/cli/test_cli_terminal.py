"""At a terminal: pagers, and what a shell completes."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

from spillstore_tools.cli.support.pager import paged

TEXT = b"".join(b"%d \x1b[31mred\x1b[0m\n" % number for number in range(1, 3001))


class Terminal:
    """A command of ours at a pseudo-terminal."""

    def __init__(self, root, *arguments, **environment):
        self.master, slave = pty.openpty()
        env = {**os.environ, "SPILLSTORE_ROOT": str(root), "TERM": "xterm", "LESS": "", **environment}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "spillstore_tools.cli", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=env,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = b""

    def read(self, until=None, seconds=120.0):
        """What comes, until it holds ``until`` or all is over."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (until is None or until not in self.seen):
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:  # nobody holds the other end any more
                break
            if not data:
                break
            self.seen += data
        return self.seen.replace(b"\r\n", b"\n")

    def type(self, keys):
        os.write(self.master, keys)

    def end(self):
        code = self.process.wait(120)
        os.close(self.master)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.end()


@pytest.fixture
def pager(tmp_path):
    """A pager that tells what it was given."""

    def make(script):
        path = tmp_path / "pager"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        return str(path)

    return make


@pytest.mark.parametrize(
    ("arguments", "lines"), [(["cat"], 3000), (["show"], 3000), (["show", "--lines", "7-9"], 3)]
)
def test_a_pager_gets_what_is_printed_at_a_terminal(at_terminal, put, pager, arguments, lines):
    """What is shown goes through $PAGER, which can be named for us alone."""
    artifact_id = put(TEXT)
    for name in ("PAGER", "SPILLSTORE_PAGER"):
        environment = {"PAGER": "false", name: pager("echo paged; wc -l")}
        answer = at_terminal(arguments[0], artifact_id, *arguments[1:], **environment)
        assert (0, ["paged", str(lines)]) == (answer.code, answer.text.split())


@pytest.mark.parametrize(
    "environment",
    [{"PAGER": ""}, {"PAGER": "cat"}, {"PAGER": "/no/such/thing"}, {"TERM": "dumb"}, {"PAGER": "'"}],
)
def test_no_pager(at_terminal, put, environment):
    """An empty one, ``cat``, one that is not there and a dumb terminal mean none."""
    artifact_id = put(b"one\ntwo\n")
    answer = at_terminal("show", artifact_id, **{"PAGER": "false", **environment})
    assert (0, b"one\ntwo\n") == (answer.code, answer.out)


def test_a_pager_that_is_not_wanted(at_terminal, put):
    """An option switches it off."""
    artifact_id = put(b"one\ntwo\n")
    assert b"one\ntwo\n" == at_terminal("show", artifact_id, "--no-pager", PAGER="false").out


@pytest.mark.long
def test_who_leaves_the_pager_is_done(store, put, pager):
    """A reader that quits early ends the command, and nothing more is printed."""
    artifact_id = put(TEXT * 30)
    with Terminal(store.root, "cat", artifact_id, PAGER=pager("head -n 1; exec sleep 0.3")) as terminal:
        assert b"1 red\n" == terminal.read()
        assert 0 == terminal.end()


@pytest.mark.long
def test_ctrl_c_is_the_pagers(store, put, pager):
    """Ctrl-C in the pager does not end the command before the pager has."""
    artifact_id = put(TEXT)
    script = "trap 'echo told' INT; cat > /dev/null; echo ready; sleep 9 & wait; wait"
    with Terminal(store.root, "show", artifact_id, PAGER=pager(script)) as terminal:
        terminal.read(b"ready")
        os.killpg(terminal.process.pid, signal.SIGINT)
        assert b"told" in terminal.read(b"told")
        assert terminal.process.poll() is None
        os.killpg(terminal.process.pid, signal.SIGTERM)
        terminal.end()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("less") is None, reason="less is not here")
def test_less_quits_where_it_fits_on_a_screen(store, put):
    """Without a setting it is less, which prints what is short and shows the beginning of what is long."""
    short, long = put(b"one\ntwo\n"), put(TEXT)
    with Terminal(store.root, "show", short, PAGER="less") as terminal:
        assert re.search(rb"one\S*\ntwo", terminal.read())
        assert 0 == terminal.end()
    with Terminal(store.root, "show", long, PAGER="less") as terminal:
        terminal.read(b"\n5 red")
        assert terminal.process.poll() is None
        terminal.type(b"q")
        terminal.read()
        assert 0 == terminal.end()


def test_a_pipe_is_no_terminal(capfd, monkeypatch):
    """Whoever reads a pipe or a file gets what is printed."""
    monkeypatch.setenv("PAGER", "false")
    with paged(off=False):
        sys.stdout.write("plain\n")
    assert "plain\n" == capfd.readouterr().out


# --- completion ---------------------------------------------------------------------------------------------


def completed(command, words, current):
    """What bash would be offered."""
    answer = command(
        env={
            "_SPILLSTORE_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["spillstore", *words, current]),
            "COMP_CWORD": str(1 + len(words)),
        },
    )
    assert (0, "") == (answer.code, answer.err)
    return [line.split(",", 1)[1] for line in answer.text.splitlines()]


def test_commands_options_and_ids_are_completed(cli, program, store, put):
    """A shell is offered the commands, a command's options, and the ids of the session that was named."""
    first, second = put(b"one"), put(b"two")
    with store.session("other") as session:
        third = session.put(b"three").id
    assert ["show"] == completed(cli, [], "sho")
    assert "--stream" in completed(cli, ["show"], "--s")
    assert ["@last", second, first] == completed(cli, ["show"], "")
    assert [second] == completed(cli, ["cat"], second[:-1])
    assert ["@last", third] == completed(cli, ["info", "--session", "other"], "")
    assert ["@last"] == completed(cli, ["info", "--session", "nothing"], "")
    assert ["show"] == completed(program, [], "sho")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(cli, shell):
    """The script asks our program; the shell is that of the user, where none is named."""
    script = cli("completion", shell).text
    assert "_SPILLSTORE_COMPLETE" in script
    assert shell in cli("completion", shell, "--json").json["shell"]


def test_the_users_own_shell(cli, monkeypatch):
    """Without a name it is the shell in $SHELL; one that is not known is an error that names the others."""
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert cli("completion").text == cli("completion", "zsh").text
    monkeypatch.setenv("SHELL", "/bin/csh")
    answer = cli("completion")
    assert (answer.code, "bash, zsh, fish" in answer.err) == (2, True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_bash_takes_the_script(cli, tmp_path):
    """Bash runs the script without a complaint and knows the completion."""
    path = tmp_path / "script"
    path.write_text(cli("completion", "bash").text)
    done = subprocess.run(
        ["bash", "-c", f". {path} && complete -p spillstore"], capture_output=True, text=True, check=True
    )
    assert "spillstore" in done.stdout
