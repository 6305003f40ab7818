"""What psycopg raises, as errors of ours, by its SQLSTATE.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from __future__ import annotations

from typing import Final

import psycopg

from spillstore.engine import errors
from spillstore.exceptions import (
    DiskFullError,
    LockedError,
    ReadOnlyError,
    SchemaTooOldError,
    SpillstoreError,
    StorageError,
)

_AGAIN: Final = {"40001", "40P01"}  # serialisation failure, deadlock
_GONE: Final = {
    "57P01",
    "57P02",
    "57P03",
    "57P05",
    "25P03",
    "25P04",
}  # shut down, crashed, starting, idle or at it for too long
_UNCLEAR: Final = {"XX000"}  # of Citus, where a node was lost while it committed
_UNREACHABLE: Final = "try again when the server is there; what was committed before is kept"


STATEMENT_TIMEOUT: Final = 120  # seconds, of the server: a statement of a transaction that takes longer hangs


class ServerError(StorageError):
    """A server does not do it, and not because its disk is full: where a folder that cannot be written is deleted, this waits."""


class AlreadyThereError(ServerError):
    """A row of that key is there."""


_KINDS: Final[tuple[tuple[set[str], type[SpillstoreError], str], ...]] = (
    ({"53100"}, DiskFullError, "free some space on the server's disk"),
    (
        {"42501", "25006"},
        ReadOnlyError,
        "the role may not write there: `spillstore grant URL` says what it needs; read_only=True needs no such right",
    ),
    (
        {"55P03", "57014", "53300"},
        LockedError,
        "others kept the server busy: try again later, or raise SPILLSTORE_BUSY_TIMEOUT",
    ),
    (_AGAIN, errors.NotStoredError, "others wrote at the same time: try again"),
    (
        {"3F000", "42P01", "42703"},
        SchemaTooOldError,
        "the tables are not those of this version: `spillstore upgrade URL` makes them",
    ),
    ({"23505"}, AlreadyThereError, "somebody else was first"),
)


def is_lost(error: BaseException) -> bool:
    """Whether a connection is of no use any more after this error; what it was doing may be done or not."""
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:
        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
    return error.sqlstate.startswith("08") or error.sqlstate in _GONE


def is_unclear(error: BaseException) -> bool:
    """Whether a COMMIT that failed so may have been done all the same."""
    return is_lost(error) or (isinstance(error, psycopg.Error) and error.sqlstate in _UNCLEAR)


def is_transient(error: BaseException) -> bool:
    """Whether the server has rolled a transaction back that succeeds when it is tried again."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _AGAIN


def message_of(error: psycopg.Error) -> str:
    """The server's words in one line; they hold no password, since none is in what it was sent."""
    return " ".join(str(error.diag.message_primary or error).split())


def of_server(error: Exception, doing: str) -> SpillstoreError | None:
    """Our error for one of psycopg; None for all others."""
    if not isinstance(error, psycopg.Error):
        return None
    said, state = message_of(error), error.sqlstate or ""
    if state == "42501" and "row-level security" in said:
        return ReadOnlyError(
            f"{doing} failed: {said}; the role is confined to the sessions of one project: `spillstore grant URL --role ROLE "
            "--project PROJECT`"
        )
    for states, kind, way_out in _KINDS:
        if state in states:
            return kind(f"{doing} failed: {said}; {way_out}")
    if is_lost(error):
        return ServerError(f"{doing} failed: the connection to the server was lost ({said}); {_UNREACHABLE}")
    return ServerError(f"{doing} failed: {said} ({state or type(error).__name__})")


errors.register(of_server)
