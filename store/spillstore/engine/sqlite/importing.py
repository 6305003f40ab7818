"""A session's folder that is filled before it is there: ``SessionImport`` of ``engine.base``.

It is filled under a hidden name and renamed when it is complete and synced, as a new session's folder is. Where it replaces a
session, the two folders exchange their names while this process alone can write to the old one; so each name leads to a whole
session at every moment, and what is under the hidden one is what a process that died has left. Whoever fills it
holds a claim in it (``owner_locks``), so a collection tells a copy that takes long from one whose process died. The file has a
rollback journal in memory and is synced once: nobody will read what was not finished. Each batch is one transaction, and
between two of them the connection can be closed for a fork.
"""

from __future__ import annotations

import contextlib
import errno
import os
from functools import partial
from typing import TYPE_CHECKING, Final

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import fork_safety
from spillstore.engine.sqlite.database import DATABASE, connect_alone, mark_wal, new_image, wal_allowed
from spillstore.engine.sqlite.folder_names import ID_FILE, folder_name, needs_id_file
from spillstore.engine.sqlite.free_space import check_free_space
from spillstore.engine.sqlite.leftovers import is_abandoned
from spillstore.engine.sqlite.owner_locks import Owner
from spillstore.engine.sqlite.session_file import SessionFile
from spillstore.engine.sqlite.soft_delete import IMPORT_PREFIX
from spillstore.exceptions import ForkError, SessionDeletedError, SessionExistsError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spillstore.engine.base import SessionBackend, SessionRef
    from spillstore.engine.rows import Row, Transaction
    from spillstore.engine.sqlite.connection import Connection
    from spillstore.engine.sqlite.folders import Folder
    from spillstore.engine.sqlite.soft_delete import Buried
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_DOING: Final = "storing a copy"
_NO_EXCHANGE: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})


class _ExchangedError(Exception):
    """The names were exchanged: nothing that was written to the old session is to be kept."""


@contextlib.contextmanager
def importing(
    project: contextlib.AbstractContextManager[Folder], ref: SessionRef, row: SessionRow, settings: Settings
) -> Iterator[FolderImport]:
    """Fill a session's folder; see ``FolderBackend.importing``.

    Args:
        project: the folder of its project, to be opened.
        ref: the session's name.
        row: its own row.
        settings: what is in force.
    """
    with contextlib.ExitStack() as stack:
        with translated(_DOING):
            within = stack.enter_context(project)
            left = [name for name in within.names() if name.startswith(IMPORT_PREFIX)]
            for name in filter(partial(is_abandoned, within), left):
                within.sync()  # it may have been a session, before its name was exchanged
                within.remove(name)
            new = FolderImport(within, ref, settings)
            stack.callback(new.close)
            new.begin(row)
        yield new


class FolderImport:
    """A session's folder under a hidden name."""

    def __init__(self, project: Folder, ref: SessionRef, settings: Settings) -> None:
        """Make the folder; ``close`` follows in any case."""
        self._project = project
        self._ref = ref
        self._settings = settings
        self._hidden = f"{IMPORT_PREFIX}{os.urandom(8).hex()}"
        self._folder = project.path / self._hidden
        self._pid = os.getpid()
        self._owner: Owner | None = None
        self._connection: Connection | None = None
        self._is_complete = False  # all is in the file, and the file is synced
        project.make(self._hidden)

    def begin(self, row: SessionRow) -> None:
        """Claim the folder, and make the session's file with its own row."""
        self._owner = Owner(self._folder)
        with self._project.folder(self._hidden) as inside:
            if needs_id_file(folder_name(self._ref.session_id)):
                inside.write_new(ID_FILE, self._ref.session_id.encode())
            inside.write_new(DATABASE, new_image(row, wal=False))
        fork_safety.holders.add(self)

    def add_artifacts(self, rows: Sequence[Row]) -> None:
        """Write rows of artifacts."""
        with self._batch() as connection:
            for row in rows:
                connection.insert_artifact(row)

    def add_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Write rows of chunks."""
        with self._batch() as connection:
            connection.insert_chunks(artifact_key, rows)

    def add_events(self, rows: Sequence[Row]) -> None:
        """Write rows of events."""
        with self._batch() as connection:
            connection.insert_events(rows)

    @contextlib.contextmanager
    def _batch(self) -> Iterator[Connection]:
        self._check_process()
        check_free_space(self._folder, self._settings)
        with fork_safety.using, translated(_DOING):
            connection = self._connected()
            connection.execute("BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = connect_alone(self._folder / DATABASE, self._settings)
            self._connection.execute("PRAGMA journal_mode = MEMORY")
            self._connection.execute("PRAGMA synchronous = OFF")
        return self._connection

    def close_connections(self) -> None:
        """Close the file; the next batch opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def commit(self) -> None:
        """Give the folder its name, which fails if something has it."""
        self._check_process()
        with translated(_DOING):
            self._complete()
            name = folder_name(self._ref.session_id)
            try:
                self._project.rename(self._hidden, name)
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise
                raise SessionExistsError(
                    f"session {self._ref.session_id!r} is there already: {self._project.path / name}"
                ) from None
            self._named(name)
            if self._settings.durability == "full":
                self._project.sync()

    def _named(self, name: str) -> None:
        """The folder has its name."""
        self._hidden = ""
        assert self._owner is not None, "it was begun"
        self._owner.moved(self._project.path / name)
        self._release()

    def replace(self, old: SessionBackend, prepare: Callable[[Transaction], None]) -> Buried:
        """Exchange the names of the folder and of the old one's, while nobody can write to that.

        Names are synced whatever the durability: what is replaced was safe.
        """
        assert isinstance(old, SessionFile), "it is one of this engine"
        self._check_process()
        with translated(_DOING):
            self._complete()
            hidden = self._hidden
            with contextlib.suppress(_ExchangedError), old.transaction(_DOING) as rows:
                if not wal_allowed(self._project.path.parent):  # a rollback journal is found by its path
                    raise self._unsupported()
                prepare(rows)
                if not old.still_there():
                    raise SessionDeletedError("the session was removed or exchanged by another program")
                self._exchange()
                raise _ExchangedError
            remains = old.moved(self._project.path / hidden)
            self._project.sync()
        return remains

    def _exchange(self) -> None:
        name = folder_name(self._ref.session_id)
        try:
            with (
                self._project.locked()
            ):  # nobody takes the old one, which is about to be emptied, for a part of one
                self._project.exchange(self._hidden, name)
        except OSError as error:
            if error.errno not in _NO_EXCHANGE:
                raise
            raise self._unsupported() from None
        self._named(name)

    def _unsupported(self) -> UnsupportedError:
        return UnsupportedError(f"two names in {self._project.path} cannot be exchanged in one step")

    def _complete(self) -> None:
        if self._is_complete:
            return
        with fork_safety.using:
            self.close_connections()
        with self._project.folder(self._hidden) as inside:
            descriptor = inside.open(DATABASE, os.O_RDWR)
            try:
                if wal_allowed(self._project.path.parent):
                    mark_wal(descriptor)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            inside.sync()
        self._is_complete = True

    def close(self) -> None:
        """Remove what has not become a session."""
        if self._pid != os.getpid():
            return  # the parent goes on with it
        with fork_safety.using:
            self.close_connections()
        if self._hidden:
            self._project.remove(self._hidden)
            self._release()

    def _release(self) -> None:
        owner, self._owner = self._owner, None
        if owner is not None:
            owner.release()

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise ForkError(
                "this copy was begun by a parent process, which goes on with it; begin another one"
            )
