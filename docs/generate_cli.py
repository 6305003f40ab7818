"""Writes the help text of every command into ``cli.md``: ``python docs/generate_cli.py``."""

# ruff: noqa: INP001  # a script beside the pages it writes

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("cli.md")
BEGIN = "<!-- Help texts: written by docs/generate_cli.py, compared by a test. -->\n"


def help_text(*command: str) -> str:
    """What ``spillstore COMMAND --help`` prints at a terminal of 100 columns."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPILLSTORE_")}
    done = subprocess.run(
        [sys.executable, "-m", "spillstore_tools.cli", *command, "--help"],
        env={**environment, "COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def commands() -> list[str]:
    """The names of all commands, in the order in which ``spillstore --help`` lists them."""
    import click  # noqa: PLC0415

    from spillstore_tools.cli import group  # noqa: PLC0415

    return group.list_commands(click.Context(group))


def rendered(page: str) -> str:
    """The page with today's help texts."""
    prose, _, _ = page.partition(BEGIN)
    parts = [f"```text\n{help_text()}\n```\n"]
    parts += [f"### {name}\n\n```text\n{help_text(name)}\n```\n" for name in commands()]
    return prose + BEGIN + "\n" + "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
