"""Lines of a log in a file, as they are stored."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore.audit.actor import acting
from spillstore.exceptions import StorageError, TargetExistsError
from spillstore_tools.viewer.model.footprint import ACTOR

if TYPE_CHECKING:
    from spillstore import Session
    from spillstore_tools.viewer.model.log import Log


def export_all(session: Session, log: Log, path: str | os.PathLike[str]) -> int:
    """Write a whole view to a file that is not there yet, with mode 0600; returns how many bytes. What was dropped is left out.

    Raises:
        TargetExistsError: the file is there.
        StorageError: it cannot be written.
        SpillstoreError: the artifact cannot be read.
    """
    with acting(ACTOR, None):
        return session.artifact(log.artifact.id).export(path, stream=log.stream, holes="skip").size


def export_rows(log: Log, path: str | os.PathLike[str], first: int, last: int) -> int:
    """Write the rows ``first`` to ``last``, by index, likewise: whole lines, however long. A file that fails is removed."""
    target = Path(path)
    low, high = log.rows(first, 1), log.rows(last, 1)
    start, end = (low[0].start, high[0].end) if low and high else (0, 0)
    size = 0
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for block in log.artifact.chunks(start, end, stream=log.stream, holes="skip"):
                    size += file.write(block)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise TargetExistsError(f"{target} is there already; choose another name") from None
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror}") from error
    log.footprint.record("export", {"stream": log.stream, "start": start, "end": end, "bytes": size})
    return size
