"""One session on a server, as a process has it open: ``SessionBackend`` of ``engine.base``, which says what the methods do."""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.postgres import archive, control
from spillstore.engine.postgres.asking import Asking
from spillstore.engine.postgres.claims import about_us, new_owner
from spillstore.engine.postgres.deletion import DoomedRows, doom, dooming
from spillstore.engine.postgres.locking import Claim
from spillstore.engine.postgres.replacing import JoinedTransaction
from spillstore.engine.postgres.rows import AnsweredRows, ServerRows
from spillstore.engine.postgres.transactions import ServerTransaction
from spillstore.exceptions import SpillstoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.engine.base import SessionRef
    from spillstore.engine.postgres.claims import Heartbeat
    from spillstore.engine.postgres.connections import Connection, Connections, Statement
    from spillstore.engine.rows import Row, Snapshot, Transaction
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_READER_PATIENCE: Final = 2.0  # seconds that who only reads waits for writers, to record what it has read
_CLOSING_PATIENCE: Final = 1.0  # seconds that who closes a session waits for a server that is away
_CHUNK: Final = 64 * 1024  # raw bytes of a chunk


class ServerSession:
    """One process's hold on one session of a server. Safe from any thread."""

    longest_pause = 1.0
    using: contextlib.AbstractContextManager[None] = contextlib.nullcontext()

    def __init__(
        self,
        connections: Connections,
        heartbeat: Heartbeat,
        ref: SessionRef,
        session_key: int,
        settings: Settings,
        name: str,
        *,
        read_only: bool,
    ) -> None:
        """Take a session that is there; the first transaction claims it.

        Args:
            connections: to the server.
            heartbeat: keeps the claim alive.
            ref: the session's name.
            session_key: the key of its rows.
            settings: what is in force.
            name: for messages.
            read_only: claim and write nothing.
        """
        self.read_only = read_only
        self.path = None
        self.name = name
        self._connections = connections
        self._heartbeat = heartbeat
        self._ref = ref
        self._key = session_key
        self._settings = settings
        self._claim = None if read_only else Claim(new_owner(), about_us(), settings.lease)
        self._disowned = False
        if self._claim is not None:
            heartbeat.add(session_key, self._claim)

    def still_there(self) -> bool:
        """Whether the name still leads to this session, and the claim was not lost."""
        claim = self._claim
        if claim is not None:
            if claim.lost:
                return False
            if claim.is_new:  # its transaction has just seen the session
                claim.is_new = False
                return True
        found = self._ask(None, control.NAME_GET, name=name_of(self._ref))
        return bool(found) and found[0][0] == self._key

    def close(self) -> None:
        """Give up the claim."""
        claim = self._claim
        if claim is None or self._disowned:
            return
        self._heartbeat.remove(self._key, claim)
        if (claim.made or claim.doubt) and not claim.lost:
            claim.lost = True
            server = Asking(self._connections, "giving up the claim", patience=_CLOSING_PATIENCE)
            with contextlib.suppress(SpillstoreError), server:  # it dies by itself
                server.ask(control.CLAIM_DELETE, session_key=self._key, owner=claim.owner)

    def disown(self) -> None:
        """In a forked child: the claim is the parent's."""
        self._disowned = True

    # --- reading --------------------------------------------------------------------------------------------

    def reader(self) -> ServerRows:
        """Rows for reading, each call on its own snapshot."""
        return ServerRows(self._connections, self._key)

    @contextlib.contextmanager
    def snapshot(self, doing: str) -> Iterator[Snapshot]:
        """Rows for reading, all calls on one snapshot."""
        with self.reader() as rows, self.together(rows, doing):
            yield rows

    def borrow(self) -> ServerRows:
        """Rows, on a connection that is taken when something is asked."""
        return self.reader()

    def current(self, rows: Any) -> Any:
        """They are never old."""
        return rows

    @contextlib.contextmanager
    def together(self, rows: Any, doing: str) -> Iterator[None]:
        """One snapshot for several calls on what was borrowed."""
        rows.begin_together(doing)
        try:
            yield
        finally:
            rows.end_snapshot()

    def give_back(self, rows: Any) -> None:
        """Give the connection back."""
        rows.give_back()

    def _ask(self, rows: Any, sql: str, **values: Any) -> list[Row]:
        if rows is not None:
            assert isinstance(rows, AnsweredRows), "they are of this engine"
            return rows.ask_beside(sql, **values)
        with Asking(self._connections, "looking who writes to the session") as server:
            return server.ask(sql, session_key=self._key, **values)

    # --- writing --------------------------------------------------------------------------------------------

    def transaction(self, doing: str, *, patient: bool = True) -> ServerTransaction:
        """Rows to be changed, all or none."""
        return self._transaction(doing, self._settings.busy_timeout if patient else 0.0)

    def _transaction(self, doing: str, patience: float) -> ServerTransaction:
        return ServerTransaction(
            self._connections, self._key, self._claim, self._settings, doing, patience=patience
        )

    def separate_transaction(self, doing: str) -> ServerTransaction:
        """``transaction`` for a session that is open for reading alone."""
        return self._transaction(doing, min(self._settings.busy_timeout, _READER_PATIENCE))

    def check_room(self) -> None:
        """Nobody but the server knows how full its disk is; it says so when it is."""

    def space_for(self, stored: int, artifacts: int) -> int:
        """An upper bound of what chunks add to ``used``: their share, and rows of as many as one commit can have."""
        chunks = self._settings.commit_bytes // _CHUNK + artifacts
        rows = artifacts * (control.ARTIFACT_BYTES + 4 * control.EVENT_BYTES)
        return control.chunk_bytes(stored) + chunks * (control.CHUNK_BYTES + 1) + rows

    def archive_events(self, tx: Transaction, session: SessionRow, now_us: int) -> None:
        """Copy the events to where they stay, in the same transaction."""
        assert isinstance(tx, ServerTransaction), "it is one of this engine"
        archive.append(tx, name_of(self._ref), session, self._settings, now_us)

    def remove(self, uid: str) -> DoomedRows:
        """Take the session's name away; its rows are freed later."""
        doom(self._connections, name_of(self._ref), self._key)
        return self.gone()

    def replaced(
        self, connection: Connection, doing: str, prepare: Callable[[Transaction], None]
    ) -> list[Statement]:
        """Lock it in the transaction of another session that takes its name; returns what is to be done in that at its end."""
        rows = JoinedTransaction(self._connections, connection, self._key, self._claim, self._settings, doing)
        with rows:
            prepare(rows)
        return dooming(name_of(self._ref), self._key)

    def gone(self) -> DoomedRows:
        """It has no name any more."""
        if self._claim is not None:
            self._claim.lost = True
        return DoomedRows(self._connections, self._key)

    # --- upkeep: the server's own ---------------------------------------------------------------------------

    def committed(self, stored: int, batches: int) -> bool:
        """Nothing is due: the server writes its journal into its tables itself."""
        return False

    def maintain(self, wanted: Callable[[], bool]) -> None:
        """Nothing is to be done."""

    def release_space(self) -> None:
        """The server takes the space of removed rows for others (autovacuum)."""

    def give_reserve(self) -> bool:
        """There is none."""
        return False

    def keep_reserve(self) -> None:
        """None is needed."""

    def settle(self) -> None:
        """What was committed is where it stays."""

    def structure_problems(self, rows: Snapshot) -> list[str]:
        """None that a client could find; ``pg_amcheck`` is for the server's operator."""
        return []

    # --- who is alive ---------------------------------------------------------------------------------------

    @property
    def owner(self) -> str:
        """The name of this process's claim; "" if it is open for reading alone."""
        return "" if self._claim is None else self._claim.owner

    def alive(self, owner: str, rows: Snapshot | None = None) -> bool:
        """Whether the process with that claim still lives. A claim that a transaction finds dead is deleted, so that it stays so."""
        if self._claim is not None and owner in self._claim.dead:
            return False  # in the transaction that goes on, or before
        found = self._ask(rows, control.CLAIM_ALIVE, owner=owner, lease=self._settings.lease)
        is_alive = bool(found) and bool(found[0][0])
        if found and not is_alive and isinstance(rows, ServerTransaction):
            rows.write(control.CLAIM_DELETE, owner=owner)
        return is_alive

    def is_left_open(self, artifact_id: str) -> bool:
        """It is: a snapshot has the claims, too."""
        return True

    def others(self, rows: Snapshot | None = None) -> list[str]:
        """The other living owners, as a person would like to read them."""
        found = self._ask(rows, control.CLAIMS_LIVING, lease=self._settings.lease)
        return [about for owner, about in found if owner != self.owner]

    def remove_dead(self) -> None:
        """The transaction that makes a claim has done that."""


def name_of(ref: SessionRef) -> str:
    """The text by which a session is found: its project's id and a line end if it has a project, and its id."""
    return ref.session_id if ref.project is None else f"{ref.project}\n{ref.session_id}"


def new_key() -> int:
    """The key of a new session's rows: drawn at random, so that no later session of the same name meets them."""
    return secrets.randbelow(2**63 - 1) + 1
