"""Writes the help text of every command into ``cli.md``: ``python docs/generate_cli.py``."""

# ruff: noqa: INP001  # a script beside the pages it writes

from __future__ import annotations

from pathlib import Path

import click

from spillstore_tools.cli import group

PAGE = Path(__file__).with_name("cli.md")
BEGIN = "<!-- Help texts: written by docs/generate_cli.py, compared by a test. -->\n"


def context() -> click.Context:
    """What ``spillstore`` is called with at a terminal of 80 columns or more."""
    return click.Context(group, info_name="spillstore", terminal_width=78, **group.context_settings)


def help_text(name: str | None = None) -> str:
    """What ``spillstore --help`` or ``spillstore NAME --help`` prints."""
    above = context()
    if name is None:
        text = group.get_help(above)
    else:
        command = group.get_command(above, name)
        assert command is not None, name
        text = command.get_help(
            click.Context(command, info_name=name, parent=above, **command.context_settings)
        )
    return "\n".join(line.rstrip() for line in text.splitlines())


def rendered(page: str) -> str:
    """The page with today's help texts."""
    prose, _, _ = page.partition(BEGIN)
    parts = [f"```text\n{help_text()}\n```\n"]
    parts += [f"### {name}\n\n```text\n{help_text(name)}\n```\n" for name in group.list_commands(context())]
    return prose + BEGIN + "\n" + "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
