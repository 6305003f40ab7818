"""Connections to one server: few for each process, kept for the next user, made anew when the server was away.

Nothing is kept on a connection but prepared statements, so that a pooler that hands out a connection for each transaction
(pgbouncer in transaction mode) can stand between: settings are ``SET LOCAL``, names of tables are written out, and locks are
those of rows. Whole numbers are bound as ``int8`` and texts as ``text``: by default psycopg picks a type by value, which
makes many prepared statements of one.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Final, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import BytesBinaryDumper, StrBinaryDumper
from psycopg.waiting import Ready, Wait

from spillstore.engine.postgres.errors import STATEMENT_TIMEOUT, ServerError, is_lost, message_of
from spillstore.engine.postgres.schema import Found, check_schema, check_server
from spillstore.exceptions import ForkError, LockedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg.abc import Buffer, PQGen

    from spillstore.engine.postgres.address import Address
    from spillstore.engine.rows import Row

    Values = dict[str, Any]
    Statement = tuple[str, Values]

# Seconds without a word from the server, besides those that a lock is waited for, after which a connection is taken for lost.
# The server ends what a transaction asks before.
SILENCE = STATEMENT_TIMEOUT + 10.0
# What libpq is told unless the URL says otherwise: a machine that is gone is noticed after half a minute, also by who only reads.
_USUAL: Final[dict[str, Any]] = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # ms
}
_PAUSE: Final = 0.02  # seconds, before a server that is away is tried again; then longer
_LONGEST_PAUSE: Final = 0.5
# What a server says that will take a connection later. It comes without an SQLSTATE (libpq gives none before there is a connection).
_LATER: Final = ("starting up", "shutting down", "recovery", "too many", "remaining connection slots")
# And what will be the same next time.
_NEVER: Final = (
    "authentication failed",
    "does not exist",
    "no pg_hba.conf",
    "no password supplied",
    "translate host",
)


RV = TypeVar("RV")


class _Text(StrBinaryDumper):
    """Texts without NUL, which no text of the server holds; nothing that has one is found by it."""

    def dump(self, obj: str) -> Buffer | None:
        """The text in UTF-8."""
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


_CLASSES: Final = ((int, Int8BinaryDumper), (str, _Text), (bytes, BytesBinaryDumper))


class _Whole(psycopg.Pipeline):
    """Sends nothing before all is there, and that at once.

    psycopg sends each statement by itself: a process that is stopped in between would hold its locks without the server's
    knowing that it is idle.
    """

    def _communicate_gen(self) -> PQGen[None]:
        if self.result_queue and self.result_queue[-1] is None:  # the end
            while self.command_queue:
                self.command_queue.popleft()()
            while self.pgconn.flush():  # as much as the socket takes: psycopg writes what is left with the next command, and there is none
                ready = yield Wait.RW
                if ready & Ready.R:
                    self.pgconn.consume_input()
            yield from super()._communicate_gen()

    def _fetch_gen(self, *, flush: bool) -> PQGen[None]:
        # A message behind the end ends the server's watch over who is idle in a transaction, and nothing begins it again.
        del flush
        yield from super()._fetch_gen(flush=False)


class _Raw(psycopg.Connection[Any]):
    """A connection on which nobody waits for ever: a server that says nothing for too long counts as lost."""

    silence = math.inf  # seconds

    def pipeline(self) -> contextlib._GeneratorContextManager[psycopg.Pipeline]:
        """Statements that are sent at once."""
        if self._pipeline is None:
            self._pipeline = _Whole(self)
        return super().pipeline()

    def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Wait for what is asked, as psycopg does, which looks up ten times a second."""
        return super().wait(_heard(gen, self.silence), *args, **kwargs)


def _heard(waiting: PQGen[RV], silence: float) -> PQGen[RV]:
    """What psycopg waits for; an error when the server has said nothing for so long. Costs nothing while it answers."""
    try:
        wanted = next(waiting)
        heard = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                heard = time.monotonic()
            elif time.monotonic() - heard > silence:
                raise psycopg.OperationalError(f"the server has not answered for {silence:g} seconds")
            wanted = waiting.send(ready)
    except StopIteration as end:
        answer: RV = end.value
        return answer


class Connection:
    """One connection, on which statements are run. One thread at a time uses it."""

    def __init__(self, raw: _Raw) -> None:
        self.raw = raw
        self._pid = os.getpid()
        self._answer_waits = False  # of a COMMIT whose answer nobody has read
        # Behind a statement that fails, the server skips the rest of a pipeline, also what psycopg takes for prepared from then on.
        self.was_aborted = False

    @property
    def is_inherited(self) -> bool:
        """Whether a parent process has it, which goes on with it."""
        return self._pid != os.getpid()

    @property
    def usable(self) -> bool:
        """Whether it was not lost, as far as is known."""
        return not self.raw.closed

    @property
    def in_transaction(self) -> bool:
        """Whether an error has left a transaction open, or an answer unread."""
        return not self._answer_waits and self.raw.pgconn.transaction_status != TransactionStatus.IDLE

    def fetch(self, sql: str, values: Values) -> list[Row]:
        """The rows that a statement gives: one round trip."""
        self.settle()
        return _rows(self.raw.execute(sql, values, binary=True))

    def run(self, statements: Iterable[Statement]) -> list[psycopg.Cursor[Any]]:
        """Run statements one after the other in one round trip; each that fails fails those behind it.

        Returns:
            A cursor for each, which has its rows.
        """
        self.settle()
        try:
            with self.raw.pipeline():
                return [self.raw.execute(sql, values, binary=True) for sql, values in statements]
        except BaseException:
            self.was_aborted = True
            raise

    def copy(self, sql: str, rows: Iterable[Sequence[Any]], types: Sequence[str]) -> None:
        """Insert rows with ``COPY ... FROM STDIN (FORMAT BINARY)``: two round trips, however many rows there are."""
        self.settle()
        with self.raw.cursor() as cursor, cursor.copy(sql) as copying:
            copying.set_types(types)
            for row in rows:
                copying.write_row(row)

    def end_reading(self) -> None:
        """End a transaction that has only read, without waiting for the server's answer, which ``settle`` reads."""
        if self.is_inherited:
            return
        pgconn = self.raw.pgconn
        pgconn.send_query(b"COMMIT")
        self._answer_waits = True
        while pgconn.flush():
            self._wait(select.POLLOUT)

    def settle(self) -> None:
        """Read what is left of the server's answers.

        Raises:
            psycopg.OperationalError: the connection was lost.
            ForkError: it is a parent's.
        """
        if self.is_inherited:
            raise ForkError(
                "this was begun by a parent process, which goes on with it; begin it anew in this one"
            )
        if not self._answer_waits:
            return
        self._answer_waits = False
        pgconn = self.raw.pgconn
        while True:
            while pgconn.is_busy():
                self._wait(select.POLLIN)
                pgconn.consume_input()
            answer = pgconn.get_result()
            if answer is None:
                return
            if answer.status == ExecStatus.FATAL_ERROR:
                raise psycopg.OperationalError("the server ended the connection")

    def _wait(self, event: int) -> None:
        """Wait until something can be read or written. Not with ``select.select``, which knows 1,024 files."""
        poll = select.poll()
        poll.register(self.raw.pgconn.socket, event)
        if not poll.poll(None if self.raw.silence == math.inf else self.raw.silence * 1000):
            raise psycopg.OperationalError(f"the server has not answered for {self.raw.silence:g} seconds")

    def roll_back(self) -> None:
        """Undo what was begun; a connection that is lost is closed.

        By psycopg's own method, which forgets what it has prepared: in a pipeline, nothing behind an error was.
        """
        try:
            self.settle()
            self.raw.rollback()
            self.was_aborted = False
        except psycopg.Error:
            self.close()

    def close(self) -> None:
        """Close it, if it is this process's."""
        if self.is_inherited:
            return
        with contextlib.suppress(psycopg.Error):
            self.raw.close()


def _rows(cursor: psycopg.Cursor[Any]) -> list[Row]:
    return cursor.fetchall() if cursor.description else []


class Connections:
    """The connections of one process to one server. Safe from any thread.

    Args:
        address: where the server is, and how many connections there may be at once.
        patience: seconds to wait for a connection, or for the server.
    """

    def __init__(self, address: Address, patience: float) -> None:
        self._address = address
        self._patience = patience
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._free = threading.Condition()  # protects what follows
        self._idle: list[Connection] = []
        self._end = weakref.finalize(self, _close_all, self._idle)  # when nobody has the store any more
        self._lent: set[Connection] = set()
        self._making = 0  # connections that will be lent
        self._reached = False  # whether the server was there once
        self.found = Found(copies=True, citus=False)  # of the server, when it was

    def forget(self) -> None:
        """In a forked child: leave the connections to the parent, and have none."""
        self._end.detach()
        _inherited.append(self._idle)
        self._begin_anew()

    def take(self, patience: float | None = None, *, urgent: bool = False) -> Connection:
        """A connection, which ``give_back`` follows. It may have been lost while nobody used it.

        Args:
            patience: seconds to wait for one, and for the server; None for the usual ones.
            urgent: if all are in use for so long, one more is made.

        Raises:
            LockedError: all are in use for longer than the patience.
            StorageError: the server cannot be reached.
        """
        patience = self._patience if patience is None else patience
        with self._free:
            if not self._free.wait_for(self._may_lend, patience) and not urgent:
                raise LockedError(
                    f"all {self._address.connections} connections to {self._address.shown} are in use by this process; "
                    "raise the URL's parameter connections=N"
                )
            if self._idle:
                connection = self._idle.pop()
                self._lent.add(connection)
                return connection
            self._making += 1
        return self._made(patience)

    def _may_lend(self) -> bool:
        return len(self._lent) + self._making < self._address.connections

    def _made(self, patience: float) -> Connection:
        """A new connection; who calls has counted it among those that are made."""
        connection = None
        try:
            connection = self._connect(time.monotonic() + patience)
        finally:
            with self._free:
                self._making -= 1
                if connection is None:
                    self._free.notify()
                else:
                    self._lent.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Return what ``take`` or ``replaced`` gave; a transaction that an error has left open is undone."""
        if connection.is_inherited:
            _inherited.append([connection])
            return
        try:
            if connection.in_transaction:
                connection.roll_back()
        except BaseException:
            connection.close()
            raise
        finally:
            with self._free:
                self._lent.remove(connection)
                is_spare = bool(self._idle)
                is_spare = is_spare or connection.was_aborted
                if connection.usable and not is_spare:
                    self._idle.append(connection)
                self._free.notify()
        if is_spare:
            connection.close()

    def replaced(self, connection: Connection, patience: float | None = None) -> Connection:
        """A new connection in place of one that was lost.

        Args:
            connection: the one that was lost; it is closed.
            patience: seconds to wait for the server; None for the usual ones.

        Raises:
            StorageError: the server cannot be reached.
        """
        connection.close()
        with self._free:
            _close_all(self._idle)  # most likely lost, too
        new = self._connect(time.monotonic() + (self._patience if patience is None else patience))
        with self._free:
            self._lent.remove(connection)
            self._lent.add(new)
        return new

    def _connect(self, deadline: float) -> Connection:
        pause = _PAUSE
        while True:
            try:
                connection = self._connect_once(deadline)
            except psycopg.Error as error:
                said = message_of(error)
                patient = any(word in said for word in _LATER) or (
                    self._reached and not any(word in said for word in _NEVER)
                )
                if not patient or time.monotonic() + pause > deadline:
                    raise ServerError(f"{self._address.shown} cannot be reached: {said}") from None
            else:
                self._reached = True
                return connection
            time.sleep(pause * (0.5 + os.urandom(1)[0] / 255))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _connect_once(self, deadline: float) -> Connection:
        usual = _USUAL | {"connect_timeout": max(2, round(deadline - time.monotonic()))}
        raw = _Raw.connect(
            make_conninfo(**(usual | self._address.parameters)),
            autocommit=True,
            prepare_threshold=5 if self._address.prepare else None,
        )
        raw.silence = SILENCE + self._patience
        try:
            if not self._reached:
                check_server(raw)
                self.found = check_schema(raw, self._address.shown)
            for kind, dumper in _CLASSES:
                raw.adapters.register_dumper(kind, dumper)
        except BaseException:
            raw.close()
            raise
        return Connection(raw)


def _close_all(connections: list[Connection]) -> None:
    while connections:
        connections.pop().close()


def shared(address: Address, patience: float) -> Connections:
    """The connections that all stores of this process at that address use."""
    key = (address.conninfo, address.connections, address.prepare, patience)
    with _guard:
        found = _shared.get(key)
        if found is None:
            found = _shared[key] = Connections(address, patience)
        return found


def lost(error: BaseException, connection: Connection) -> bool:
    """Whether an error means that a connection is gone."""
    return is_lost(error) or (isinstance(error, psycopg.Error) and not connection.usable)


_guard = threading.Lock()  # protects what follows
_shared: weakref.WeakValueDictionary[tuple[str, int, bool, float], Connections] = (
    weakref.WeakValueDictionary()
)
_inherited: list[
    list[Connection]
] = []  # of a parent; never closed here, since the server would take that for the parent's wish


def _forget_after_fork() -> None:
    global _guard  # noqa: PLW0603  # a thread of the parent may hold it
    _guard = threading.Lock()
    for each in list(_shared.values()):
        each.forget()


os.register_at_fork(after_in_child=_forget_after_fork)
