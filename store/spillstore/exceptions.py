"""Every error that Spillstore raises.

No ``sqlite3``, psycopg, SQLAlchemy or ``zstandard`` exception ever leaves the library: a caller needs one ``except``::

    SpillstoreError
    ├── UsageError                    the caller asked for something that cannot be had
    │   ├── InvalidIdError            (ValueError)  a session, project or artifact id that is not allowed
    │   ├── InvalidSettingError       (ValueError)  a setting with a wrong type or value
    │   ├── RangeError                (ValueError)  a range that means nothing
    │   │   └── RangeTooLargeError                  a range whose answer would not fit in ``max_bytes``
    │   ├── PatternError              (ValueError)  a pattern that cannot be searched for
    │   ├── QueryError                (ValueError)  a query that is no JSONPath
    │   │   └── QueryLimitError                     one that takes more time or memory than it may
    │   ├── NotJSONError              (ValueError)  queried content that is no JSON
    │   ├── DroppedRangeError         (LookupError) a range that the ``roll`` policy has dropped
    │   ├── NotFoundError             (LookupError) no such session or artifact here
    │   │   ├── SessionNotFoundError
    │   │   └── ArtifactNotFoundError
    │   ├── ClosedError                             a writer or session that was closed before
    │   ├── ForkError                               an object that a parent process had opened
    │   ├── SessionBusyError                        somebody who is alive holds the session
    │   ├── SessionExistsError                      a copy of a session to where one of its name is
    │   └── TargetExistsError         (FileExistsError) an export that would overwrite a file
    ├── StorageError                  the environment failed; what was committed before is kept
    │   ├── QuotaError                              a limit that the operator set
    │   │   ├── ArtifactTooLargeError               the ``reject`` policy met its limit
    │   │   ├── SessionQuotaError
    │   │   ├── StoreQuotaError
    │   │   └── RateLimitError
    │   ├── DiskFullError
    │   ├── LockedError                             the database stayed locked longer than ``busy_timeout``
    │   ├── ReadOnlyError
    │   ├── SessionDeletedError                     the session was deleted while this object was open
    │   ├── ClaimLostError                          this process was away, and may not go on writing to a server
    │   ├── UnsafeRootError                         a store folder that is a symbolic link, or not a folder
    │   └── UnsupportedError                        this platform or this SQLite cannot hold a store
    └── DamageError                   what is stored cannot be trusted
        ├── IntegrityError                          stored bytes are not what was written
        ├── DigestKeyError                          digests that need a key that was not given, or another one
        ├── NotASessionError                        a file that is no Spillstore session
        ├── SchemaTooNewError                       a file that a newer version wrote
        └── SchemaTooOldError                       what an older version wrote, and must be upgraded first
"""

from __future__ import annotations


class SpillstoreError(Exception):
    """The root of the tree."""


# --- the caller's mistake -------------------------------------------------------------------------------


class UsageError(SpillstoreError):
    """The caller asked for something that cannot be had."""


class InvalidIdError(UsageError, ValueError):
    """A session, project or artifact id that is not allowed."""


class InvalidSettingError(UsageError, ValueError):
    """A setting or argument with a wrong type or value."""


class RangeError(UsageError, ValueError):
    """A range that means nothing, such as one that ends before it starts."""


class RangeTooLargeError(RangeError):
    """The answer would be larger than ``max_bytes``; iterate with ``chunks()`` or ``open()`` instead."""


class PatternError(UsageError, ValueError):
    """No regular expression, or one that cannot be searched for in linear time (look-around, back-references)."""


class QueryError(UsageError, ValueError):
    """No JSONPath query (RFC 9535); the message says where, and what would be one."""


class QueryLimitError(QueryError):
    """A query that takes more time or memory than it may; ask for less of the document.

    Attributes:
        seconds: that it was given; None if it was not the time.
    """

    def __init__(self, message: str, *, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class NotJSONError(UsageError, ValueError):
    """The content is no JSON, so it cannot be queried.

    Attributes:
        byte: where that shows, in bytes of the stream that was read.
        line: the line that byte is in.
    """

    def __init__(self, message: str, *, byte: int, line: int) -> None:
        super().__init__(message)
        self.byte = byte
        self.line = line


class DroppedRangeError(UsageError, LookupError):
    """The range touches a hole: the ``roll`` policy has dropped it.

    Attributes:
        dropped_bytes: ``(start, end)`` of the hole in bytes of the stream that was read, end exclusive.
        dropped_lines: ``(first, last)`` line of which at least a part is gone, both inclusive.
        before: the nearest readable byte range before the hole, as ``(start, end)``.
        after: the nearest readable byte range after the hole, as ``(start, end)``.
    """

    def __init__(
        self,
        message: str,
        *,
        dropped_bytes: tuple[int, int],
        dropped_lines: tuple[int, int],
        before: tuple[int, int],
        after: tuple[int, int],
    ) -> None:
        super().__init__(message)
        self.dropped_bytes = dropped_bytes
        self.dropped_lines = dropped_lines
        self.before = before
        self.after = after


class NotFoundError(UsageError, LookupError):
    """No such session or artifact here."""


class SessionNotFoundError(NotFoundError):
    """The store holds no session of that name."""


class ArtifactNotFoundError(NotFoundError):
    """The session holds no artifact of that id."""


class ClosedError(UsageError):
    """The writer or session was closed before."""


class ForkError(UsageError):
    """The object was opened by a parent process; open it again in this one."""


class SessionBusyError(UsageError):
    """Somebody who is alive holds the session."""


class SessionExistsError(UsageError):
    """The store that a session is copied to holds one of its name."""


class TargetExistsError(UsageError, FileExistsError):
    """The export would overwrite a file."""


# --- the environment's failure --------------------------------------------------------------------------


class StorageError(SpillstoreError):
    """The environment failed; what was committed before is kept and readable."""


class QuotaError(StorageError):
    """A limit that the operator set was met."""


class ArtifactTooLargeError(QuotaError):
    """An artifact under the ``reject`` policy met its limit; what it had stored is discarded."""


class SessionQuotaError(QuotaError):
    """The session holds as much as it may."""


class StoreQuotaError(QuotaError):
    """All sessions of the store together hold as much as they may."""


class RateLimitError(QuotaError):
    """Too many artifacts were created within a minute."""


class DiskFullError(StorageError):
    """The disk is full, or less of it is free than the floor that was set."""


class LockedError(StorageError):
    """The database stayed locked by others for longer than ``busy_timeout``."""


class ReadOnlyError(StorageError):
    """The session was opened for reading, or lies on read-only media."""


class SessionDeletedError(StorageError):
    """The session was deleted while this object was open."""


class ClaimLostError(StorageError):
    """This process was away for so long, or the server lost so much, that it may not go on writing; open the session anew."""


class UnsafeRootError(StorageError):
    """A folder or file of the store is a link, somebody else's, or open to others, so it cannot be trusted."""


class UnsupportedError(StorageError):
    """This platform, file system or SQLite cannot hold a store."""


# --- damage ---------------------------------------------------------------------------------------------


class DamageError(SpillstoreError):
    """What is stored cannot be trusted."""


class IntegrityError(DamageError):
    """Stored bytes are not what was written; nothing was returned."""


class DigestKeyError(DamageError):
    """The session's digests were made with a key that was not given, or with another, or without the one that was given."""


class NotASessionError(DamageError):
    """The file is no Spillstore session."""


class SchemaTooNewError(DamageError):
    """The file was written by a newer version of Spillstore."""


class SchemaTooOldError(DamageError):
    """What is stored was written by an older version, and must be upgraded first; of a file, opening it for writing does so."""
