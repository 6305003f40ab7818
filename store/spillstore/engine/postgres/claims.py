"""Claims of this process stay alive: a thread beats for those that are open.

A claim is a row with the time of its last beat, by the server's clock. A thread for each store beats three times a ``lease``,
for all sessions that are open for writing in one round trip. While the server cannot be reached it goes on trying; when it is
back and the claims were not taken for dead, nothing was lost.
"""

from __future__ import annotations

import os
import platform
import threading
import weakref
from typing import TYPE_CHECKING, Final

import psycopg

from spillstore.engine.postgres import control
from spillstore.exceptions import SpillstoreError, StorageError

if TYPE_CHECKING:
    from spillstore.engine.postgres.connections import Connections
    from spillstore.engine.postgres.locking import Claim

_BEATS: Final = 3  # a lease


def new_owner() -> str:
    """The name of a claim, in the form that rows of artifacts may have."""
    return f"owner-{os.urandom(8).hex()}.lock"


def about_us() -> str:
    """This process, for people."""
    return f"process {os.getpid()} on {platform.node()[:100]}"


class Heartbeat:
    """Beats for the claims of one store in this process.

    Args:
        connections: to the server.
        lease: seconds without a beat after which a claim is dead.
    """

    def __init__(self, connections: Connections, lease: float) -> None:
        self._connections = connections
        self._lease = lease
        self._begin_anew()
        _all.add(self)

    def _begin_anew(self) -> None:
        self._changed = threading.Condition()  # protects what follows
        self._claims: dict[tuple[int, str], Claim] = {}
        self._thread: threading.Thread | None = None

    def forget(self) -> None:
        """In a forked child: the claims are the parent's."""
        self._begin_anew()

    def add(self, session_key: int, claim: Claim) -> None:
        """Begin to beat for a claim."""
        with self._changed:
            self._claims[session_key, claim.owner] = claim
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="spillstore-claims", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    del self._claims[session_key, claim.owner]
                    raise StorageError(
                        f"nothing can be stored, because no thread can be started ({error})"
                    ) from error
                self._thread = thread

    def remove(self, session_key: int, claim: Claim) -> None:
        """Beat no more."""
        with self._changed:
            self._claims.pop((session_key, claim.owner), None)
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._claims, self._lease / _BEATS)
                if not self._claims:
                    self._thread = None
                    return
                claims = {key: claim for key, claim in self._claims.items() if claim.made and not claim.lost}
            if claims:
                self._beat(claims)

    def _beat(self, claims: dict[tuple[int, str], Claim]) -> None:
        try:
            connection = self._connections.take(self._lease / _BEATS, urgent=True)
        except SpillstoreError:
            return  # the next time; writers say what is wrong
        try:
            cursors = connection.run(
                [(control.CLAIM_BEAT, {"session_key": key, "owner": owner}) for key, owner in claims]
            )
        except psycopg.Error:
            connection.close()
        else:
            for claim, cursor in zip(claims.values(), cursors, strict=True):
                if not cursor.rowcount and claim.made:
                    claim.lost = True
        finally:
            self._connections.give_back(connection)


_all: weakref.WeakSet[Heartbeat] = weakref.WeakSet()


def _forget_after_fork() -> None:
    for each in list(_all):
        each.forget()


os.register_at_fork(after_in_child=_forget_after_fork)
