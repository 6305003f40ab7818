"""The demonstration works, end to end, and the README shows what it prints."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys

import pytest
from support import ROOT

from spillstore_tools.cli.demo import noise

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What it prints in a folder of its own, run in the project's."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "spillstore_tools.cli.demo", "32000000", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_error_is_in_the_preview_alone(shown):
    """Of tens of megabytes the preview shows the error, and both ends of as many characters do not."""
    preview, head, tail = re.split(r"^The (?:first|last) 4,000 characters", shown, flags=re.MULTILINE)
    assert "error: no matching function for call" in preview
    assert "and the error is among them" in preview
    assert "error: no matching" not in head + tail.partition("Find all errors")[0]
    assert "they show no error" in tail
    assert " is whole: " in shown


def test_the_last_command_works_as_it_is_printed(shown):
    """A shell in the project's folder, in which no environment is active, prints the lines around the error."""
    command = shown.splitlines()[-1]
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SPILLSTORE_", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env={**env, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 41
    assert "error: no matching function" in done.stdout.splitlines()[20]


def test_it_may_be_run_again(tmp_path):
    """What the time before has stored is gone: there is one artifact."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "spillstore_tools.cli.demo", "400000", "store"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert "--root store " in done.stdout
    listed = subprocess.run(
        [sys.executable, "-m", "spillstore_tools.cli", "list", "--root", "store", "--session", "demo"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert "Total: 1 artifact," in listed.stdout


def test_the_noise_is_the_same_each_time():
    """One error, in the middle, and many lines that only look like one."""
    text = "".join(noise(1_000_000))
    assert text == "".join(noise(1_000_000))
    assert text.count(": error: ") == 1
    assert 0.45 < text.index(": error: ") / len(text) < 0.55
    assert text.count("error") > 1000


def test_the_readme_shows_what_it_prints(shown):
    """To the letter; ``...`` stands for ids, times and places, and for what is left out."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```text\n\$ make demo\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert doctest.OutputChecker().check_output(block, shown, doctest.ELLIPSIS), shown


def test_each_slow_step_is_said_before_it_is_done(tmp_path):
    """Before the environment is made, and before anything is installed into it."""
    done = subprocess.run(
        ["make", "-n", "demo", f"VENV={tmp_path / 'venv'}", f"PYTHON={sys.executable}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    lines = done.stdout.splitlines()
    for step in (" -m venv ", " install "):
        [at] = [number for number, line in enumerate(lines) if step in line and "echo" not in line]
        assert lines[at - 1].startswith("echo "), lines
