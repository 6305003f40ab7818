"""Every example of the README and the manual runs, and prints what the page says."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support import replaced

from spillstore_tools.cli import _invoke
from spillstore_tools.preview import strategies

ROOT = Path(__file__).parents[2]
# The page about frameworks is run by ``tests/adapters``, a section at a time, since few have them all; that about DuckDB by ``test_duckdb.py``.
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if "_build" not in page.parts and page.name not in {"frameworks.md", "duckdb.md"}
    ),
]
HOMES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR")  # of agents
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Example:
    """Code or commands, and what they print; None where the page does not say."""

    kind: str
    line: int
    code: str
    output: str | None


def examples(page: Path) -> list[Example]:
    """The examples of a page in order: Python blocks, and each command of a console block."""
    text = page.read_text(encoding="utf-8")
    out: list[Example] = []
    end = -1
    for match in FENCE.finditer(text):
        kind, body = match[1], match[2]
        line = text.count("\n", 0, match.start()) + 2
        follows = out and not text[end : match.start()].strip()
        if kind == "python":
            out.append(Example("python", line, body, None))
        elif kind == "text" and follows and out[-1].kind == "python":
            out[-1].output = body
        elif kind == "console":
            for command in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                first, _, output = command.partition("\n")
                out.append(Example("console", line, first, output))
        end = match.end()
    return out


def needs_shell(command: str) -> bool:
    """Whether it has an operator that only a shell understands, outside of quotes."""
    words = shlex.shlex(
        command, posix=False, punctuation_chars="|&;<>"
    )  # which keeps the quotes of quoted words
    words.whitespace_split = True
    return any(set(word) <= set("|&;<>") for word in words)


def called(arguments: list[str]) -> str:
    """What a command prints that needs no shell, called within this process."""
    with tempfile.TemporaryFile() as file:
        with (
            replaced(file.fileno(), 1, 2),
            open(1, "w", closefd=False) as stdout,
            open(2, "w", closefd=False, buffering=1) as stderr,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(sys, "stdout", stdout)
            patch.setattr(sys, "stderr", stderr)
            _invoke(arguments)
        file.seek(0)
        return file.read().decode()


def run(example: Example, names: dict[str, object], where: str) -> str:
    """What the example prints."""
    if example.kind == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (example.line - 1) + example.code, where, "exec"), names)
        return printed.getvalue()
    if example.code.startswith("spillstore ") and not needs_shell(example.code):
        return called(shlex.split(example.code)[1:])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", example.code],
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if examples(page)],
    ids=lambda page: str(page.relative_to(ROOT)).removeprefix("docs/"),
)
def test_the_examples_of_a_page_print_what_it_says(page, tmp_path, monkeypatch):
    """The blocks of a page run in order, in one namespace and one empty folder; ``...`` stands for anything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPILLSTORE_ROOT", str(tmp_path / "store"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))  # where agents have their configurations
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", *HOMES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv(
        "SPILLSTORE_FREE_DISK_FLOOR", "0"
    )  # what this machine has free is not the example's subject
    # A strategy that a page registers is gone with it.
    monkeypatch.setattr(strategies, "_REGISTRY", dict(strategies._REGISTRY))
    names: dict[str, object] = {"__name__": "example"}
    for example in examples(page):
        where = f"{page.name}:{example.line}"
        printed = run(example, names, where)
        if example.output is not None:
            same = doctest.OutputChecker().check_output(example.output, printed, doctest.ELLIPSIS)
            assert same, f"{where}: {example.code}\nprints\n{printed}\nand the page says\n{example.output}"


def test_the_readme_has_examples_for_python_and_for_the_shell():
    """A newcomer finds one of each."""
    assert {example.kind for example in examples(ROOT / "README.md")} == {"python", "console"}


def test_links_between_pages_lead_somewhere():
    """A relative link names a file of the project."""
    broken = []
    for page in {*ROOT.glob("*.md"), *PAGES, ROOT / "docs" / "frameworks.md"}:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []
