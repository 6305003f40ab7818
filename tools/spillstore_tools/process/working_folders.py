"""The working folder of an artifact's command, kept as an event, so that runs in two folders can be distinguished."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillstore import Artifact, Session

_PLACE = "place"  # the kind of the event


def note_folder(session: Session, artifact_id: str, folder: str | None = None) -> None:
    """Record the folder in which the command of an artifact ran; where metadata are hidden, a digest of it.

    Args:
        session: the session that holds the artifact.
        artifact_id: its id.
        folder: an absolute path; None for the current folder.
    """
    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # a command has been started by now

    with contextlib.suppress(OSError, SpillstoreError):  # it is stored all the same
        folder = os.getcwd() if folder is None else folder  # noqa: PTH109  # no link is followed
        if session.settings.hidden_metadata:
            folder = f"hidden:{session.sign(os.fsencode(folder))}"
        session.note(_PLACE, {"cwd": folder.encode(errors="replace").decode()}, artifact_id=artifact_id)


def folder_of(artifact: Artifact) -> str | None:
    """The folder that was recorded for an artifact, or None."""
    for event in artifact.events(_PLACE, limit=1):
        found = event.detail.get("cwd")
        return found if isinstance(found, str) else None
    return None
