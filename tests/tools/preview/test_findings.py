"""What checkers report: counted by rule and by file, the errors whole, of each rule one."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from test_kinds import data_of, first_line, parts_of, shown

FORMS = {
    "ruff": (
        "{file}:{n}:5: F841 Local variable `x{n}` is assigned to but never used",
        "{file}:{n}:1: E999 SyntaxError",
    ),
    "mypy": (
        "{file}:{n}: note: See https://example.org  [note-{rule}]",
        "{file}:{n}: error: No name  [name-defined]",
    ),
    "yamllint": (
        "{file}:{n}:1: [warning] too many blank lines (rule-{rule})",
        "{file}:{n}:1: [error] duplication of key (key-duplicates)",
    ),
    "shellcheck": (
        "{file}:{n}:3: warning: Quote this. [SC{rule}]",
        "{file}:{n}:3: error: Unexpected end. [SC1072]",
    ),
    "eslint": (
        "{file}:{n}:3: Unexpected var. [Warning/no-var-{rule}]",
        "{file}:{n}:3: Bad key. [Error/no-dupe-keys]",
    ),
}


def findings(usual, odd, count=600):
    lines = [usual.format(file=f"src/part{n % 30}.x", n=n + 1, rule=n % 4) for n in range(count)]
    lines[400] = odd.format(file="src/odd.x", n=7)
    return lines


@pytest.mark.parametrize("name", FORMS)
def test_the_error_among_hundreds_of_warnings(name):
    """Rules are counted, and the error is shown."""
    lines = findings(*FORMS[name])
    text = shown(data_of(lines))
    assert text.startswith(("[600 findings, 1 error among them: ", "[600 findings: F841 599, E999 1; "))
    assert f"\n401: {lines[400]}\n" in text
    assert len(text) < 4000


def test_the_first_of_each_rule():
    """Of a rule whose findings begin later the first is shown, with the number of the others."""
    lines = findings(*FORMS["shellcheck"])
    for number in range(200, 240):
        lines[number] = f"src/late.x:{number}:1: warning: Check the exit code. [SC2181]"
    text = shown(data_of(lines))
    assert "warning 5" not in text.split("\n")[0]
    assert f"\n201: {lines[200]}\n  [and 39 more of this rule]\n" in text


@pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff is missing")
def test_as_a_checker_writes_it(tmp_path):
    """What ``ruff`` prints of forty files with three kinds of findings, and one file that is no Python."""
    for number in range(40):
        lines = [f"import os{each}" for each in range(8)] + [
            "def f(x):",
            "    if x == None:",
            "        return l",
            "",
        ]
        (tmp_path / f"part{number}.py").write_text("\n".join(lines))
    (tmp_path / "part17.py").write_text("def f(:\n")
    made = subprocess.run(
        ["ruff", "check", "--isolated", "--no-cache", "--select", "E,F", "--output-format", "concise", "."],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        check=False,
    ).stdout
    text = shown(made)
    assert "findings" in text.split("\n")[0]
    assert "F401 312" in text.split("\n")[0]
    assert "part17.py:1:" in text


def test_however_they_came():
    """The same bytes give the same preview; what goes on as something else is text."""
    data = data_of(findings(*FORMS["shellcheck"], count=3000))
    assert parts_of(data) == parts_of(data, feed=1000) == parts_of(data, feed=65_537)
    odd = data_of(
        [*findings(*FORMS["mypy"])[:50], *(f"step {n} of many" for n in range(3000)), "FATAL: no disk"]
    )
    assert "FATAL: no disk" in shown(odd)
    assert not first_line(odd).startswith("[50 findings")
