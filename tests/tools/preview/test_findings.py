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
    "tsc": (
        "{file}({n},7): warning TS23{rule}: It is not assignable to type (never)",
        "{file}({n},7): error TS2307: No module 'x'",
    ),
    "msbuild": (
        "C:\\{file}({n}): warning CS10{rule}: Not used (or not seen) [C:\\app\\App.csproj]",
        "C:\\{file}({n}): error CS0246: No type [C:\\app\\App.csproj]",
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


def test_a_code_behind_a_level_is_the_rule():
    """What stands in brackets at the end is the project."""
    words = first_line(data_of(findings(*FORMS["msbuild"])))
    assert words.startswith(
        "[600 findings, 1 error among them: CS101 150, CS102 150, CS103 150, CS100 149, CS0246 1; in 31 files"
    )


def quoted(count=400):
    """Findings with the source that they are about."""
    lines = []
    for n in range(count):
        rule = "late" if n == 300 else "unchecked"
        lines += [
            f"part{n % 9}/f{n}.go:{n}:5: Error value is not checked ({rule})",
            f"\tdefer f{n}.Close()",
            "\t^",
        ]
    return [*lines, f"{count} issues:", "* unchecked"]


def test_findings_with_the_source_that_they_are_about():
    """They are counted, and what begins with ``Error`` and no colon is no level."""
    lines = quoted()
    text = shown(data_of(lines))
    assert text.startswith("[400 findings: unchecked 399, late 1; in 400 files: ")
    assert f"\n901: {lines[900]}\n" in text
    data = data_of(quoted(6000))
    assert parts_of(data) == parts_of(data, feed=1000)
    assert "other line" not in first_line(data).replace("1 other line", "")


def test_a_part_of_another_run_behind_findings():
    """What is indented and stands below no finding is no source: the output is text, and the failure in it is shown."""
    tests = [f"  Passed part{n} [{n} ms]" for n in range(600)]
    tests[333:334] = ["  Failed part333 [3 ms]", "  Error: expected 3, got 4"]
    text = shown(data_of([*findings(*FORMS["tsc"])[:100], *tests]))
    assert "findings" not in text.split("\n")[0]
    assert "  Failed part333 [3 ms]" in text


def test_lines_before_the_first_finding():
    """Warnings about the configuration do not hide what it is."""
    ahead = ["warning: `a` and `b` are incompatible. Ignoring `b`.", "warning: The option is old."]
    lines = [*ahead, *findings(*FORMS["ruff"])]
    assert first_line(data_of(lines)).startswith("[600 findings: F841 599, E999 1; in 31 files: ")


def test_a_level_that_is_a_class():
    """Warnings of a program are findings, no matches of a search."""
    lines = [f"src/m{n % 7}.py:{n}: OldWarning: part{n} goes away" for n in range(600)]
    lines[300] = "src/m0.py:7: OtherWarning: it is gone"
    text = shown(data_of(lines))
    assert text.startswith("[600 findings: OldWarning 599, OtherWarning 1; in 7 files: ")
    assert f"\n301: {lines[300]}\n" in text


def reports(count=300):
    """Findings of several lines."""
    lines = []
    for n in range(count):
        lines += [
            "S102 Use of `exec` detected" if n == 200 else f"D10{n // 100} No docstring",
            f"  --> src/part{n % 9}.py:{n + 1}:1",
            "   |",
            f"{n + 1} | raise ValueError('cannot read, error {n}')",
            "   | ^^^^^",
            "help: Write one",
            "",
        ]
    return [*lines, f"Found {count} errors."]


def test_findings_of_several_lines():
    """They are counted by rule and by file, and the first of each rule is shown with its place; source may hold any words."""
    lines = reports()
    text = shown(data_of(lines))
    assert text.startswith(
        "[300 findings: D100 100, D101 100, D102 99, S102 1; in 9 files: src/part0.py 34, "
    )
    assert f"\n1401: {lines[1400]}\n1402: {lines[1401]}\n" in text
    assert f"\n701: {lines[700]}\n702: {lines[701]}\n  [and 99 more of this rule]\n" in text
    lines[1000:1000] = ["FATAL: the disk is gone"]
    assert "\n1001: FATAL: the disk is gone\n" in shown(data_of(lines))


def test_reports_on_the_border_of_blocks():
    """Each is counted once, wherever blocks of the output end."""
    data = data_of(reports(5000))
    assert first_line(data).startswith("[5000 findings: ")
    assert parts_of(data) == parts_of(data, feed=1000) == parts_of(data, feed=65_537)


def test_however_they_came():
    """The same bytes give the same preview; what goes on as something else is text."""
    data = data_of(findings(*FORMS["shellcheck"], count=3000))
    assert parts_of(data) == parts_of(data, feed=1000) == parts_of(data, feed=65_537)
    odd = data_of(
        [*findings(*FORMS["mypy"])[:50], *(f"step {n} of many" for n in range(3000)), "FATAL: no disk"]
    )
    assert "FATAL: no disk" in shown(odd)
    assert not first_line(odd).startswith("[50 findings")
