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

_NO_SCHEMA: Final = {"3F000", "42P01", "42703"}  # no such schema, table, column
_DENIED: Final = {"42501", "25006"}
_BUSY: Final = {"55P03", "57014", "53300"}
_AGAIN: Final = {"40001", "40P01"}  # serialisation failure, deadlock
_GONE: Final = {"57P01", "57P02", "57P03", "57P05", "25P03"}  # shut down, crashed, starting, idle for too long
_FULL: Final = {"53100"}
_UNCLEAR: Final = {"XX000"}  # of Citus, where a node was lost while it committed
UNREACHABLE: Final = (
    "is the server there? `spillstore upgrade URL` tries the same; what was committed before is kept"
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
    if state in _FULL:
        return DiskFullError(f"{doing} failed: the server's disk is full ({said}); free some space there")
    if state in _DENIED:
        return ReadOnlyError(
            f"{doing} failed: {said}; the role may not write there: `spillstore grant URL` prints what it needs, and "
            "read_only=True opens a session that cannot be written"
        )
    if state in _BUSY:
        return LockedError(
            f"{doing} failed: the server was busy for too long ({said}); try again later, or raise "
            "SPILLSTORE_BUSY_TIMEOUT"
        )
    if state in _AGAIN:
        return errors.NotStoredError(f"{doing} failed: others wrote at the same time ({said}); try again")
    if state in _NO_SCHEMA:
        return SchemaTooOldError(
            f"{doing} failed: the database has no tables of this version ({said}); make them with `spillstore upgrade URL`"
        )
    if is_lost(error):
        return StorageError(f"{doing} failed: the connection to the server was lost ({said}); {UNREACHABLE}")
    return StorageError(f"{doing} failed: {said} ({state or type(error).__name__})")


errors.register(of_server)
