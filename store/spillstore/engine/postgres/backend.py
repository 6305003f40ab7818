"""A store on a server: ``Backend`` of ``engine.base``, which says what the methods do."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Final

from spillstore import info as infos
from spillstore.engine.base import VanishedError
from spillstore.engine.errors import translated
from spillstore.engine.postgres import archive, control
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.postgres.asking import Asking
from spillstore.engine.postgres.claims import Heartbeat
from spillstore.engine.postgres.connections import shared
from spillstore.engine.postgres.deletion import DoomedRows, doom
from spillstore.engine.postgres.errors import AlreadyThereError
from spillstore.engine.postgres.importing import ServerImport, importing
from spillstore.engine.postgres.session import ServerSession, name_of, new_key
from spillstore.exceptions import SessionBusyError, SpillstoreError, UnsupportedError
from spillstore.model.validation import read_session_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.engine.base import DamagedRows, SessionRef
    from spillstore.engine.postgres.address import Address
    from spillstore.engine.rows import EventFilter
    from spillstore.info import Event, Page, SessionInfo
    from spillstore.model.clock import Clock
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_PAGE: Final = 1000  # sessions that are listed at once
_AT_MOST, _AT_LEAST = 60.0, 1.0  # seconds that a measured size is good for
_FASTEST: Final = 100e6  # bytes a second by which a store may grow


class ServerBackend:
    """The sessions of one database. Safe from any thread.

    Args:
        address: where the server is.
        settings: what is in force.
        key: the store's digest key, or None.
        clock: where to read the time.
    """

    def __init__(self, address: Address, settings: Settings, key: bytes | None, clock: Clock) -> None:
        self._address = address
        self._settings = settings
        self._digest_key = key
        self._clock = clock
        self._connections = shared(address, settings.busy_timeout)
        self._heartbeat = Heartbeat(self._connections, settings.lease)
        self._found: dict[SessionRef, int] = {}  # the keys of sessions that were just looked for
        self._looked: float | None = (
            None  # when the store was looked at for what is too old, as far as is known here
        )
        self._size: tuple[int, float] | None = None  # of the store, and when it was measured

    @property
    def root(self) -> None:
        """No folder."""
        return None

    @property
    def name(self) -> str:
        """The URL, without its secrets."""
        return self._address.shown

    @property
    def address(self) -> str:
        """The URL, without credentials."""
        return self._address.without_credentials

    def place(self, ref: SessionRef) -> str:
        """The store's name and the session's."""
        return f"{self._address.shown}\n{name_of(ref)}"

    # --- one session ----------------------------------------------------------------------------------------

    def _ask(self, doing: str, sql: str, **values: Any) -> list[Any]:
        with Asking(self._connections, doing) as server:
            return server.ask(sql, **values)

    def _key_of(self, ref: SessionRef) -> int | None:
        found = self._ask("looking for the session", control.NAME_GET, name=name_of(ref))
        return found[0][0] if found else None

    def exists(self, ref: SessionRef, *, repair: bool = False) -> bool:
        """Whether it is there."""
        key = self._key_of(ref)
        if key is None:
            self._found.pop(ref, None)
        else:
            self._found[ref] = key
        return key is not None

    def make(self, ref: SessionRef, row: SessionRow) -> None:
        """Make it, in one round trip. Its key is drawn at random."""
        key = new_key()
        values = {
            **dict(zip(_sql.SESSION_COLUMNS, row, strict=True)),
            "session_key": key,
            "name": name_of(ref),
        }
        with (
            contextlib.suppress(AlreadyThereError),
            Asking(self._connections, "making the session") as server,
        ):
            server.run(
                (control.BEGIN, {}),
                (control.NAME_INSERT, values),
                (control.PLACE_INSERT, values),
                (_sql.SESSION_INSERT, values),
                (control.COMMIT, {}),
            )
            self._found[ref] = key

    def importing(self, ref: SessionRef, row: SessionRow) -> contextlib.AbstractContextManager[ServerImport]:
        """Fill a session in one transaction, whose last rows make it visible."""
        return importing(self._connections, self._settings, self._address.shown, name_of(ref), row)

    @contextlib.contextmanager
    def opening(self, ref: SessionRef) -> Iterator[None]:
        """Around all that opening takes: a session that is gone is a ``VanishedError``."""
        try:
            with translated(f"opening {ref.session_id!r}"):
                yield
        except SpillstoreError:
            with contextlib.suppress(SpillstoreError):
                if self._key_of(ref) is None:
                    raise VanishedError from None
            raise

    def open(self, ref: SessionRef, *, read_only: bool) -> ServerSession:
        """Open it; what ``exists`` or ``make`` has just found is believed, since whatever is done next notices the rest."""
        key = self._found.pop(ref, None) or self._key_of(ref)
        if key is None:
            raise VanishedError
        return ServerSession(
            self._connections,
            self._heartbeat,
            ref,
            key,
            self._settings,
            f"{self._address.shown} (session {ref.session_id!r})",
            read_only=read_only,
        )

    def open_alone(self, ref: SessionRef) -> ServerSession | None:
        """Open it for deleting; None if somebody has it open."""
        return None if self._is_held(self._key_there(ref)) else self.open(ref, read_only=False)

    def _key_there(self, ref: SessionRef) -> int:
        """The key of a session's rows.

        Raises:
            VanishedError: there is no session of that name.
        """
        key = self._key_of(ref)
        if key is None:
            raise VanishedError
        return key

    def _is_held(self, key: int) -> bool:
        """Whether somebody alive has a session open."""
        values = {"session_key": key, "lease": self._settings.lease}
        return bool(self._ask("looking who has the session open", control.CLAIMS_LIVING, **values))

    def give_reserve(self) -> bool:
        """There is none."""
        return False

    def keep_reserve(self) -> None:
        """None is needed."""

    def set_aside(self, ref: SessionRef, *, failed: bool) -> DoomedRows | None:
        """No power cut leaves a part of a session."""
        return None

    def finish_deletion(self, ref: SessionRef) -> DoomedRows:
        """Take a session out of sight that is marked as deleted."""
        key = self._key_there(ref)
        found = self._ask("reading the session", _sql.SESSION_GET, session_key=key)
        if not found:
            raise VanishedError
        if read_session_row(found[0], self._digest_key).deleted_us is None:
            raise SessionBusyError(f"session {ref.session_id!r} was just made anew")
        doom(self._connections, name_of(ref), key)
        return DoomedRows(self._connections, key)

    def remove_unwritten(self, ref: SessionRef) -> DoomedRows:
        """Delete a session that nobody has open, where nothing can be recorded."""
        key = self._key_there(ref)
        if self._is_held(key):
            raise SessionBusyError(f"session {ref.session_id!r} is open somewhere")
        doom(self._connections, name_of(ref), key)
        self.forget_size()
        return DoomedRows(self._connections, key)

    def damaged(self, ref: SessionRef) -> contextlib.AbstractContextManager[DamagedRows]:
        """Not here."""
        raise UnsupportedError(
            f"session {ref.session_id!r} cannot be salvaged: what a server holds is repaired by its own tools; `spillstore check` says what is damaged, and a backup brings it back"
        )

    def size_of(self, ref: SessionRef) -> int:
        """Bytes that it takes, by the estimates of ``control``."""
        key = self._key_of(ref)
        if key is None:
            return 0
        found = self._ask("measuring the session", control.PLACE_THERE, session_key=key)
        return found[0][0] if found else 0

    # --- all sessions ---------------------------------------------------------------------------------------

    def sessions(self, project: str | None) -> Iterator[SessionInfo]:
        """All of them, or those of a project, a thousand a round trip. Ages are by the server's clock."""
        after = -1
        while True:
            now = (
                self._clock.time()
            )  # before the question: what was used before this call is not younger than it
            found = self._ask(
                "listing the sessions",
                control.SESSIONS_PAGE,
                after=after,
                project_id=project,
                limit=_PAGE,
                lease=self._settings.lease,
            )
            for _, session_id, project_id, age, size, live in found:
                yield infos.SessionInfo(
                    id=session_id, project=project_id, live=live, used=now - age, disk_size=size
                )
            if len(found) < _PAGE:
                return
            after = found[-1][0]

    def aged(self, info: SessionInfo, now: float, *, dry_run: bool) -> SessionInfo:
        """Its age is that of the server's clock already."""
        return info

    def last_look(self, now: float, interval: float) -> float | None:
        """When the store was looked at before, if it is time to do so again."""
        if self._looked is not None and 0 <= now - self._looked < interval:
            return None
        found = self._ask("looking for old sessions", control.STORE_LOOKED, now=now, interval=interval)
        before, due = (
            found[0] if found else (now, False)
        )  # policies hide the row from who is confined to a project
        self._looked = now if due else before
        return before if due else None

    def size(self, quota: int, measure: Callable[[], int]) -> tuple[int, bool]:
        """About how many bytes the store takes, and whether that was found just now: the server adds them up."""
        if self._size is None or not self._lasts(self._size, quota):
            found = self._ask("measuring the store", control.STORE_MEASURED)
            self._size = (found[0][0], time.monotonic() - found[0][1]) if found else None
        if self._size is not None and self._lasts(self._size, quota):
            return self._size[0], False
        ((size,),) = self._ask("measuring the store", control.STORE_SIZE)
        self.remember_size(size, 0.0)
        return size, True

    @staticmethod
    def _lasts(measured: tuple[int, float], quota: int) -> bool:
        """Whether a size is good still: the store cannot have filled up since."""
        size, at = measured
        return 0 <= time.monotonic() - at < max(min((quota - size) / _FASTEST, _AT_MOST), _AT_LEAST)

    def remember_size(self, size: int, took: float) -> None:
        """Keep a size."""
        self._ask("measuring the store", control.STORE_REMEMBER, size=size)
        self._size = size, time.monotonic()

    def forget_size(self) -> None:
        """Something was deleted, so the next who asks measures again."""
        self._size = None
        self._ask("measuring the store", control.STORE_FORGET)

    def remove_leftovers(self, now: float, *, dry_run: bool) -> tuple[int, int, tuple[str, ...]]:
        """Free what deleted sessions have left, where nobody else has done so."""
        found = self._ask("looking for leftovers", control.DOOMED)
        freed = 0
        for key, size in found:
            freed += size if dry_run else DoomedRows(self._connections, key).free()
        return len(found), freed, ()

    def deleted_events(
        self, ref: SessionRef, wanted: EventFilter, limit: int, cursor: str | None
    ) -> Page[Event]:
        """Events that were kept of deleted sessions of that name."""
        return archive.page(self._connections, name_of(ref), wanted, limit, cursor)
