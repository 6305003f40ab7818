"""Where we are: our programs, the user's folder, the project around the working directory."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Place
from spillstore_tools.agents.edit import ConfigurationError

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Scope


def here(scope: Scope, root: str | None, *, rewrites: bool = False) -> Place:
    """The place for this process.

    Args:
        scope: for the user, or for the project around the working directory.
        root: the store's folder; None where the store has none.
        rewrites: whether commands may be rewritten where an agent's rules then see something else.

    Raises:
        ConfigurationError: one of our programs is not installed.
    """
    return Place(
        scope=scope,
        home=Path.home(),
        project=_project(Path.cwd()),
        environment=os.environ,
        program=program("spillstore"),
        shell=program("spillstore-sh"),
        root=root,
        rewrites=rewrites,
    )


def is_temporary(path: str) -> bool:
    """Whether a program stands in a cache, from which it may go at any time."""
    return any(part in {".cache", "Caches", "archive-v0"} for part in Path(path).parts)


def _project(folder: Path) -> Path:
    """The git repository around a folder; else the folder."""
    return next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), folder)


def program(name: str) -> str:
    """A program of ours, absolute: from the interpreter that runs this; else by PATH."""
    folders = [
        sysconfig.get_path("scripts"),
        str(Path(sys.argv[0]).parent),
        os.environ.get("PATH", os.defpath),
    ]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if found is None:
        raise ConfigurationError(
            f"the program {name} is neither beside this Python nor in PATH; install Spillstore again"
        )
    return os.path.abspath(found)  # noqa: PTH100  # no link is followed: a tool's own links outlive its versions
