"""Folders: which session belongs to the one we are in, and in which one an artifact's command ran.

The session of a project goes by the folder in which git finds it, so that runs of two projects are not mixed up; outside
of any it is ``default``. Where a command ran is an event of its artifact.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillstore import Artifact, Session

DEFAULT = "default"
_PLACE = "place"  # the kind of the event
_READABLE = 60  # characters of the folder's name


def project_session() -> str:
    """The session for the folder that we are in: that of the git repository around it, or ``default``."""
    try:
        folder = os.getcwd()  # noqa: PTH109  # no link is followed
    except OSError:  # it was removed
        return DEFAULT
    while not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118  # paths as they are named
        parent = os.path.dirname(folder)  # noqa: PTH120  # likewise
        if parent == folder:
            return DEFAULT
        folder = parent
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", os.path.basename(folder))[:_READABLE]  # noqa: PTH119  # likewise
    return f"{name.strip('-.') or 'project'}-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"


def note_place(session: Session, artifact_id: str) -> None:
    """Record in which folder the output of an artifact came to be; where metadata are hidden, only that it is the same."""
    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # a command has been started by now

    with contextlib.suppress(OSError, SpillstoreError):  # it is stored all the same
        folder = os.getcwd()  # noqa: PTH109  # no link is followed
        if session.settings.hidden_metadata:
            folder = f"hidden:{session.sign(os.fsencode(folder))}"
        session.note(_PLACE, {"cwd": folder.encode(errors="replace").decode()}, artifact_id=artifact_id)


def place_of(artifact: Artifact) -> str | None:
    """The folder that was recorded, or None."""
    for event in artifact.events(_PLACE, limit=1):
        found = event.detail.get("cwd")
        return found if isinstance(found, str) else None
    return None
