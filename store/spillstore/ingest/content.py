"""Content that is handed over whole: what it may be, looked at before anything is begun for it."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NoReturn

from spillstore.exceptions import StorageError, UsageError
from spillstore.settings import MIB

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    Piece = bytes | bytearray | memoryview | str
    Content = Piece | os.PathLike[str] | Iterable[bytes]

_PIECES = (bytes, bytearray, memoryview, str)


@contextlib.contextmanager
def opened(content: Content) -> Iterator[Iterator[Piece]]:
    """The pieces of what was handed to ``put``. What is read piece by piece has been read once when this returns.

    Raises:
        UsageError: it is no content, or a file that cannot be opened.
        StorageError: while iterating, a file cannot be read to its end.
    """
    if isinstance(content, _PIECES):
        yield iter([content])
    elif isinstance(content, os.PathLike):
        try:
            file = open(content, "rb", buffering=0)  # noqa: PTH123, SIM115  # any path; closed below
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"{os.fspath(content)} cannot be read: {reason}") from None
        with file:
            yield _begun(_blocks(file, os.fspath(content)))
    elif isinstance(content, (Mapping, AbstractSet)) or not isinstance(content, Iterable):
        refuse(content)
    else:
        if isinstance(content, (list, tuple)):
            _check_all(content)
        yield _begun(iter(content))


def check_piece(piece: object) -> None:
    """Refuse what is no piece of a content.

    Raises:
        UsageError: it is neither bytes nor text.
    """
    if not isinstance(piece, _PIECES):
        raise UsageError(f"a piece of the content is of type {type(piece).__name__}, not bytes")


def refuse(content: object) -> NoReturn:
    """Say what content may be.

    Raises:
        UsageError: always.
    """
    raise UsageError(
        f"put takes bytes, text, a path or an iterable of bytes, not {type(content).__name__}; a value can be stored as "
        'put(json.dumps(value), content_type="application/json")'
    )


def _check_all(pieces: Iterable[object]) -> None:
    for piece in pieces:
        # Nobody knows whether texts of a list are lines, or what should stand between them.
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise UsageError(
                f"put takes a list of bytes, and this one holds {type(piece).__name__}; join texts to one, or store the "
                'list as put(json.dumps(value), content_type="application/json")'
            )


def _begun(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Read the first piece, so that unreadable content fails here, and return an iterator over all pieces."""
    first = list(itertools.islice(pieces, 1))
    for piece in first:
        check_piece(piece)
    return itertools.chain(first, pieces)


def _blocks(file: io.FileIO, name: str) -> Iterator[bytes]:
    while True:
        try:
            block = file.read(MIB)
        except OSError as error:
            # Of a folder, this is the first to be told.
            kind = UsageError if isinstance(error, IsADirectoryError) else StorageError
            raise kind(f"{name} cannot be read: {error.strerror or error}") from error
        if not block:
            return
        yield block
