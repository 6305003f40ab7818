"""``spillstore view`` in a real terminal, where tmux is installed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time

import pytest

pytest.importorskip("textual", reason="the extra `view` is not installed")
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
PATIENCE = 60  # seconds after which what must come has not come


class Terminal:
    """A terminal of 100 columns and 20 lines in which a command runs; it ends with the test."""

    def __init__(self, socket, command):
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self._run(
            "new-session", "-d", "-x", "100", "-y", "20", f"{shlex.join(command)}; echo ended; read wait"
        )

    def _run(self, *arguments):
        return subprocess.run([*self._tmux, *arguments], check=True, capture_output=True, text=True).stdout

    def press(self, *keys):
        self._run("send-keys", *keys)

    def wait_for(self, text):
        deadline = time.monotonic() + PATIENCE
        while text not in (screen := self._run("capture-pane", "-p")):
            assert time.monotonic() < deadline, screen
            time.sleep(0.05)
        return screen

    def close(self):
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def open_terminal(*arguments):
        command = [sys.executable, "-m", "spillstore_tools.cli", "view", *arguments]
        opened.append(
            Terminal(
                tmp_path / "tmux", ["env", "-u", "COLUMNS", "-u", "LINES", "TERM=screen-256color", *command]
            )
        )
        return opened[0]

    yield open_terminal
    for each in opened:
        each.close()


@pytest.mark.long
def test_a_log_in_a_terminal(plain_store, terminal):
    """It opens, jumps to the end, finds a line, and leaves the terminal as it was."""
    with plain_store.session("test") as session:
        artifact = session.put(
            "".join(f"line {number}\n" for number in range(1, 100_001)) + "\x1b]0;title\x07needle\n"
        )
    seen = terminal(artifact.id, "--session", "test", "--root", plain_store.address)
    seen.wait_for("line 17")
    seen.press("G")
    assert "needle" in seen.wait_for("line 100,001 (100.0%)")
    seen.press("g")
    seen.wait_for("line 1 (0.0%)")
    seen.press("/", *"needle", "Enter")
    assert "needle" in seen.wait_for("/needle: 1 line")
    seen.press("q")
    seen.wait_for("ended")


@pytest.mark.long
def test_without_a_terminal_it_says_what_to_do():
    """In a pipe it fails with the command that prints."""
    done = subprocess.run(
        [sys.executable, "-m", "spillstore_tools.cli", "view"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == "spillstore: view needs a terminal; `spillstore show` prints to anything\n"


@pytest.mark.long
def test_without_the_extra_it_says_how_to_install_it():
    """A plain error names the extra."""
    code = "import sys; sys.modules['textual'] = None; from spillstore_tools.cli import main; main(['view'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 125
    assert done.stderr == (
        "spillstore: view needs an extra: pip install 'spillstore[view]'; `spillstore show` needs none\n"
    )
