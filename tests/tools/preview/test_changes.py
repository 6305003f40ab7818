"""What ``git`` says of many files in a line each, and trees of folders: counted by folder, the odd ones and the largest shown."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from test_kinds import data_of, first_line, parts_of, shown

FOLDERS = ("src", "docs", "lib/core", "lib/net", "tests")
ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def git(folder, *arguments):
    made = subprocess.run(
        ["git", *arguments], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True
    )
    return made.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Six hundred files of which all are changed, some deleted, one by far the most; and a binary one that is new."""
    if shutil.which("git") is None:
        pytest.skip("git is missing")
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    paths = [folder / FOLDERS[number % 5] / f"file_{number}.txt" for number in range(600)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"line {line}\n" for line in range(30)))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    for number, path in enumerate(paths):
        if number % 7 == 3:
            path.unlink()
        else:
            path.write_text("".join(f"new {line}\n" for line in range(900 if number == 314 else 9)))
    (folder / "image.bin").write_bytes(bytes(range(256)) * 9)
    git(folder, "add", "-A")
    return folder


def test_diff_stat(repository):
    """How many files in which folders, the total at the end, and the files with the most changes, however few they are."""
    data = git(repository, "diff", "--cached", "--stat")
    text = shown(data)
    assert text.startswith("[changes of 601 files: ")
    assert "lib/core/ 120" in text.split("\n")[0]
    assert "image.bin" in text
    assert " 601 files changed, " in text
    assert "tests/file_314.txt" in text
    assert len(text) < 3500


@pytest.mark.parametrize("command", ["diff --cached --name-status", "status --short"])
def test_names_and_statuses(repository, command):
    """Files by status and by folder; the first of each status."""
    text = shown(git(repository, *command.split()))
    assert text.startswith("[statuses of 601 files: M 514, D 86, A 1; in 6 folders: ")
    assert "lib/net/ 120" in text.split("\n")[0]
    assert "image.bin" in text


def test_a_conflict_among_statuses():
    """The one file whose status no other has is shown."""
    lines = [f" M src/part{number % 5}/file_{number}.c" for number in range(1000)]
    lines[700] = "UU src/part3/ledger.c"
    assert "\n701: UU src/part3/ledger.c\n" in shown(data_of(lines))


def tree(folders=40, files=40, *, bar="│\u00a0\u00a0 ", entry="├── ", last="└── "):
    """As ``tree`` prints it."""
    lines = ["."]
    for number in range(folders):
        lines.append(f"{entry}part{number}")
        lines += [f"{bar}{entry}file_{each}.c" for each in range(files - 1 + number % 3)]
        lines.append(f"{bar}{last}file_{files}.h")
    return [*lines, f"{last}zone", "", f"{folders + 1} directories, {folders * files} files"]


@pytest.mark.parametrize("form", [{}, {"bar": "|   ", "entry": "|-- ", "last": "`-- "}])
def test_tree(form):
    """Entries at the top are shown with how much is below each, and the words of the last line stand first."""
    text = shown(data_of(tree(**form)))
    entries = sum("part" in line or "file_" in line for line in tree()) + 1
    assert text.startswith(f"[tree of {entries:,} entries, 41 at the top: part2 42, part5 42, ")
    assert "part17\n" in text
    assert text.rstrip("\n").endswith("41 directories, 1600 files")
    assert len(text) < 4000


@pytest.mark.parametrize(
    "lines", [tree(), [f" src/f{n}.c | {n % 90 + 1} {'+' * (n % 40 + 1)}" for n in range(900)]]
)
def test_however_it_came(lines):
    """The same bytes give the same preview; what goes on as something else is text."""
    data = data_of(lines)
    expected = parts_of(data)
    assert expected == parts_of(data, feed=1000) == parts_of(data, feed=65_537)
    more = data * (1 + 1_500_000 // len(data))
    assert parts_of(more, exact=False) == parts_of(more, feed=99_999, exact=False)
    odd = data_of(
        [*lines[:50], *(f"step {n} of many" for n in range(3000)), "FATAL: no disk"] + ["the end"] * 50
    )
    assert "FATAL: no disk" in shown(odd)
    assert not first_line(odd).startswith(("[tree", "[changes"))


@pytest.mark.parametrize(
    "lines",
    [
        [f"  A  {n} is a point of the list" for n in range(300)],
        [f"A  B  C {n} points" for n in range(300)],
        [f" {n} | {n * 3} | {n * 7}" for n in range(500)],
    ],
)
def test_text_is_no_status(lines):
    """Letters and bars at the beginning do not make it one."""
    assert not first_line(data_of(lines)).startswith(("[statuses", "[changes", "[tree"))
