"""What a shell offers when somebody completes an argument or an option."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from spillstore_tools.cli.support.artifacts import LAST
from spillstore_tools.cli.support.location import Location
from spillstore_tools.cli.support.working_folders import project_session
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from collections.abc import Callable

    import click
    from click.shell_completion import CompletionItem

_COMPLETED = 50
_SCANNED = 1000  # artifacts whose tools are offered


def _item(value: str, **attributes: str) -> CompletionItem:
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks for completions

    return CompletionItem(value, **attributes)


def complete_id(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """The ids that begin as typed, the newest first; none where the session cannot be read."""
    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # only a shell asks for completions

    found = [_item(LAST, help="the newest")] if LAST.startswith(typed) else []
    with contextlib.suppress(SpillstoreError), _location(context).open() as session:
        page = session.infos(limit=_COMPLETED)
        found += [
            _item(info.id, help=label(info.command or info.source))
            for info in page
            if info.id.startswith(typed)
        ]
    return found


def _location(context: click.Context) -> Location:
    """The location that the options typed so far name."""
    values = context.params
    named = values.get("session") or project_session()
    return Location(session=named, project=values.get("project"), root=values.get("root"), flags="")


def complete_session(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """The sessions of the project, the one used last first."""
    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # only a shell asks for completions

    where = _location(context)
    with contextlib.suppress(SpillstoreError):
        known = sorted(where.store().sessions(where.project), key=lambda info: -info.used)
        return [
            _item(info.id) for info in known if info.project == where.project and info.id.startswith(typed)
        ]
    return []


def complete_folder(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Folders; the shell completes them itself."""
    return [_item(typed, type="dir")]


def complete_source(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """The tools that have stored the newest artifacts."""
    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # only a shell asks for completions

    with contextlib.suppress(SpillstoreError), _location(context).open() as session:
        sources = dict.fromkeys(info.source for info in session.infos(limit=_SCANNED))
        return [_item(label(source)) for source in sources if source.startswith(typed)]
    return []


def complete_words(
    *words: str,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """The completion of an option that takes one of these words, and perhaps others."""

    def found(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        return [_item(word) for word in words if word.startswith(typed)]

    return found


def complete_command(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """For a word of a command line: programs for the first one, files for the others."""
    if not context.params.get("command_line") and "/" not in typed and typed:
        names: set[str] = set()
        for folder in os.get_exec_path():
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                names |= {entry.name for entry in entries if entry.name.startswith(typed)}
        if names:
            return [_item(name) for name in sorted(names)]
    return [_item(typed, type="file")]
