"""Writes an artifact to a file, atomically."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.engine.errors import translated
from spillstore.exceptions import TargetExistsError
from spillstore.model.records import view_of
from spillstore.read.iteration import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from spillstore.info import Export, Holes, Stream
    from spillstore.read.handle import ArtifactHandle


def export(
    handle: ArtifactHandle,
    target: Path,
    stream: Stream,
    holes: Holes,
    *,
    overwrite: bool,
    on_progress: Callable[[int, int], object] | None,
) -> Export:
    """Write a view to a hidden file beside ``target``, and give that its name.

    Raises:
        TargetExistsError: the file is there and must not be overwritten.
        StorageError: the file cannot be written.
    """
    size = handle.row().view_size(view_of(stream))
    if not overwrite and os.path.lexists(target):
        raise TargetExistsError(f"{target} is there already; choose another name, or allow overwriting")
    hidden = target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}")
    written = 0
    with translated(f"writing {target}"), _errors_name(target):
        descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for block in chunks(handle, 0, size, stream, holes):
                    file.write(block)
                    written += len(block)
                    if on_progress is not None:
                        on_progress(written, size)
                file.flush()
                os.fsync(file.fileno())
            if overwrite:
                hidden.replace(target)
            else:
                try:
                    os.link(hidden, target)  # fails where a rename would overwrite
                except FileExistsError:
                    raise TargetExistsError(f"{target} appeared meanwhile; choose another name") from None
        finally:
            with contextlib.suppress(FileNotFoundError):
                hidden.unlink()
    return infos.Export(size=written, dropped=size - written)


@contextlib.contextmanager
def _errors_name(target: Path) -> Iterator[None]:
    """An error of the hidden file names the target instead."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
