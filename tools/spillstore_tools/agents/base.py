"""What an agent is, as data: its program, its files, what goes into them, and how much of a result it shows by itself."""

from __future__ import annotations

import dataclasses
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillstore_tools.agents.edit import Edit

Scope = Literal["user", "project"]
READING = ("show", "search", "tail", "list", "info", "query", "diff")  # commands that only read


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """Where something is installed, and what the entries name.

    Attributes:
        scope: for the user, or for one project.
        home: the user's folder.
        project: the project's folder.
        environment: variables; agents move their folders by them.
        program: `spillstore`, absolute.
        shell: `spillstore-sh`, absolute.
        root: the store's folder; None where the store has none.
        rewrites: whether commands may be rewritten where that changes what the agent's own rules see.
    """

    scope: Scope
    home: Path
    project: Path
    environment: Mapping[str, str]
    program: str
    shell: str
    root: str | None = None
    rewrites: bool = False

    def folder(self, variable: str | None, for_user: str, for_project: str) -> Path:
        """An agent's folder in this scope.

        Args:
            variable: what moves the user's, or None.
            for_user: below the user's folder.
            for_project: below the project's.
        """
        if self.scope == "project":
            return self.project / for_project
        moved = self.environment.get(variable) if variable else None
        return Path(moved) if moved else self.home / for_user

    def hook(self, agent: str) -> str:
        """The command line of a hook."""
        return f"{shlex.quote(self.program)} hook {agent}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """One file and what goes into it.

    Attributes:
        path: the file; a link is followed.
        language: ``json`` or ``toml``; None for a file of ours.
        edits: entries of an agent's file.
        content: all of a file of ours.
    """

    path: Path
    language: Literal["json", "toml"] | None
    edits: tuple[Edit, ...] = ()
    content: str = ""


def nothing_to_say(place: Place) -> tuple[str, ...]:  # noqa: ARG001  # as the others
    """No notes."""
    return ()


def no_refusal(place: Place) -> str | None:  # noqa: ARG001  # as the others
    """Nothing is in the way."""
    return None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Agent:
    """An agent.

    Attributes:
        name: for our commands.
        title: for people.
        program: its executable.
        tested: the version that the entries were tried with; None where only its documentation was read.
        cut: characters of a result beyond which it cuts by itself; None where that is not known.
        targets: the files and entries for a place.
        notes: what to tell who installs.
        refusal: why nothing can be installed there; None if it can.
    """

    name: str
    title: str
    program: str
    tested: str | None
    cut: int | None
    targets: Callable[[Place], tuple[Target, ...]]
    notes: Callable[[Place], tuple[str, ...]] = nothing_to_say
    refusal: Callable[[Place], str | None] = no_refusal


def first_existing(folder: Path, *names: str) -> Path:
    """The first of these files that is there; else the first."""
    return next((folder / name for name in names if os.path.lexists(folder / name)), folder / names[0])
