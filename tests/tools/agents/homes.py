"""Places to install to, and what is in a folder."""

from __future__ import annotations

import os
from pathlib import Path

from spillstore_tools.agents.base import Place


def make_place(home, folder, **changed):
    """A user's place, with paths of programs that shells have to quote."""
    return Place(**{
        "scope": "user", "home": home, "project": folder / "project", "environment": {},
        "program": "/opt/spill store/bin/spillstore", "shell": "/opt/spill store/bin/spillstore-sh",
        "root": "/var/spill", "rewrites": True, **changed,
    })  # fmt: skip


def tree(folder):
    """All files below a folder, with bytes and modes; and the folders."""
    found = {}
    for at, names, files in os.walk(folder):
        found |= {os.path.join(at, name): None for name in names}
        for name in files:
            path = Path(at, name)
            found[str(path)] = (path.read_bytes(), path.stat().st_mode)
    return found
