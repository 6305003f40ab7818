"""Which databases of a Datasette are sessions, under which names, and which sessions a store has by now."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from datasette.database import Database
from datasette.utils import StartupError, tilde_decode

from spillstore import Store
from spillstore.engine.sqlite.folder_names import NO_PROJECT, folder_name
from spillstore.exceptions import InvalidIdError, SpillstoreError
from spillstore.model.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.session import Session

PLUGIN: Final = "datasette-spillstore"
_ATTRIBUTE: Final = "_spillstore_sessions"
_DATABASE: Final = "session.db"
_TAKEN: Final = ("-", "favicon.ico")  # what Datasette's own paths begin with


def check_sqlite(used: Any) -> None:
    """Refuse another copy of SQLite than Python's: two in one process take each other's locks away.

    Raises:
        StartupError: Datasette uses ``pysqlite3``.
    """
    if used is not sqlite3:
        raise StartupError(
            f"{PLUGIN} reads sessions with Python's sqlite3, and Datasette uses {used.__name__}: two copies of SQLite in one "
            "process take away each other's locks on a file; pip uninstall pysqlite3 pysqlite3-binary"
        )


class Place(NamedTuple):
    """Where a session is.

    Attributes:
        path: its file, absolute.
        session: its id.
        project: its project, or None.
        root: the store that it lies in; None for a file that lies elsewhere.
    """

    path: Path
    session: str
    project: str | None
    root: Path | None

    @property
    def name(self) -> str:
        """What the session is called in Datasette."""
        name = self.session if self.project is None else f"{self.project}/{self.session}"
        return f"session {name}" if name in _TAKEN else name

    def open(self) -> Session:
        """The session, for reading; nothing is recorded, and nothing beside the file made but what SQLite needs.

        Raises:
            SpillstoreError: it is gone, or cannot be read.
        """
        if self.root is None:
            return Store.open_file(self.path)
        return Store(self.root, audit="off").session(self.session, self.project, create=False, read_only=True)

    def inode(self) -> tuple[int, int] | None:
        """What tells the file from a later one of that name; None if there is none."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  # no link is followed


def place_in(root: Path, session: str, project: str | None) -> Place:
    """A session of a store."""
    project_folder = NO_PROJECT if project is None else folder_name(project)
    return Place(root / project_folder / folder_name(session) / _DATABASE, session, project, root)


def identify(path: Path) -> Place | None:
    """The session that a file is; None if it is none. SQLite alone opens it."""
    uri = f"file:{urllib.parse.quote(str(path))}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            row = connection.execute("SELECT session_id, project_id FROM session").fetchone()
        session = check_id("session", row[0])
        project = None if row[1] is None else check_id("project", row[1])
    except (sqlite3.Error, InvalidIdError, TypeError):
        return None
    found = place_in(path.parent.parent.parent, session, project)
    return found if found.path == path else Place(path, session, project, None)


class SessionDatabase(Database):
    """A session's file: read-only whatever is asked for, and mutable, since somebody may write it."""

    place: Place
    inode: tuple[int, int] | None

    def __init__(self, datasette: Any, place: Place, *, is_mutable: bool = True) -> None:
        super().__init__(datasette, path=str(place.path), is_mutable=is_mutable)
        self.place = place
        self.inode = place.inode()

    def connect(self, write: bool = False) -> sqlite3.Connection:  # noqa: FBT001, FBT002  # as Datasette calls it
        """A connection; its path is quoted, since names of folders hold per cent signs."""
        if write:
            raise sqlite3.OperationalError("sessions of Spillstore are read-only in Datasette")
        mode = "mode=ro" if self.is_mutable else "immutable=1"
        connection = sqlite3.connect(
            f"file:{urllib.parse.quote(self.path)}?{mode}", uri=True, check_same_thread=False
        )
        opened = self._all_connections if _KEEPS_COUNT else self._all_file_connections
        opened.append(connection)
        return connection


# Datasette 1.0 tells connections of a database that was removed from those of a later one of that name, and closes them
# when nobody uses them. Before, it kept them for ever, and gave those of the old file to who asked for the new one.
_KEEPS_COUNT: Final = hasattr(Database, "_thread_local_id_counter")


class _Kept(SessionDatabase):
    """A session's file in Datasette 0.65, with connections of its own."""

    def __init__(self, datasette: Any, place: Place, *, is_mutable: bool = True) -> None:
        super().__init__(datasette, place, is_mutable=is_mutable)
        self._of_thread = threading.local()
        self._guard = threading.Lock()  # protects what follows
        self._users = 0
        self._retired = False

    async def execute_fn(self, fn: Callable[[sqlite3.Connection], Any]) -> Any:
        if self.ds.executor is None:
            return await super().execute_fn(fn)
        return await asyncio.get_running_loop().run_in_executor(self.ds.executor, self._run, fn)

    def _run(self, fn: Callable[[sqlite3.Connection], Any]) -> Any:
        with self._guard:
            if self._retired:
                raise sqlite3.OperationalError(f"session {self.place.session} was deleted")
            self._users += 1
        try:
            connection = getattr(self._of_thread, "connection", None)
            if connection is None:
                connection = self._of_thread.connection = self.connect()
                self.ds._prepare_connection(connection, self.name)  # noqa: SLF001  # as Datasette does
            return fn(connection)
        finally:
            with self._guard:
                self._users -= 1
            self._close_unused()

    def close(self) -> None:
        """Close its connections, once nobody uses them."""
        with self._guard:
            self._retired = True
        self._close_unused()

    def _close_unused(self) -> None:
        with self._guard:
            is_unused = self._retired and not self._users
        if is_unused:
            super().close()


class Sessions:
    """The sessions of one Datasette."""

    def __init__(self, datasette: Any) -> None:
        self._datasette = datasette
        self._roots: list[Path] = []
        self._alone = asyncio.Lock()  # who looks at stores, and adds and removes databases

    def _all(self) -> list[SessionDatabase]:
        return [each for each in self._datasette.databases.values() if isinstance(each, SessionDatabase)]

    async def begin(self) -> None:
        """Name the sessions that Datasette was given, and add those of the configured stores.

        Raises:
            StartupError: a store is on a server, or a session of a store was given as immutable.
        """
        given = (self._datasette.plugin_config(PLUGIN) or {}).get("root") or []
        for root in [given] if isinstance(given, str) else given:
            if "://" in root:
                raise StartupError(
                    f"{PLUGIN}: {root.partition('://')[0]}://... is a store on a server; Datasette shows folders, and a server's views "
                    "stand in its schema spillstore"
                )
            self._roots.append(_absolute(root))
        async with self._alone:
            for name, database in list(self._datasette.databases.items()):
                if database.path and not isinstance(database, SessionDatabase):
                    place = await asyncio.to_thread(identify, _absolute(database.path))
                    if place is not None:
                        self._replace(name, database, place)
            try:
                await self._refresh()
            except SpillstoreError as error:
                raise StartupError(f"{PLUGIN}: {error}") from error

    def _replace(self, name: str, database: Database, place: Place) -> None:
        if not database.is_mutable and place.root is not None:
            raise StartupError(
                f"{place.path} is a session of a store, where it may be written at any time; serve it without --immutable, or serve a copy"
            )
        self._remove(name)
        self._add(place, is_mutable=database.is_mutable)

    def _add(self, place: Place, *, is_mutable: bool = True) -> None:
        kind = SessionDatabase if _KEEPS_COUNT else _Kept
        self._datasette.add_database(kind(self._datasette, place, is_mutable=is_mutable), name=place.name)

    def _remove(self, name: str) -> None:
        database = self._datasette.databases[name]
        self._datasette.remove_database(name)
        database.close()

    async def _told(self, before: dict[str, Database]) -> None:
        """Have Datasette 1.0 list what was added in its catalogue, by which it decides who may see it."""
        refresh = getattr(self._datasette, "refresh_schemas", None)
        if self._datasette.databases is not before and _KEEPS_COUNT and refresh is not None:
            await refresh(force=True)

    async def look(self, scope: dict[str, Any]) -> None:
        """Before a request: add what it names, or all that there is where it asks for that; remove what is gone."""
        path = scope["path"].removeprefix(self._datasette.setting("base_url").rstrip("/"))
        first = path.lstrip("/").partition("/")[0]
        if first in ("-", "-.json") or not (self._roots or self._all()):
            return
        if first in ("", ".json"):
            async with self._alone:
                before = self._datasette.databases
                await self._refresh()
                await self._told(before)
            return
        for end in ("", ".json", ".csv", ".db"):
            if first.endswith(end):
                await self._look_for(tilde_decode(first.removesuffix(end)))

    async def _look_for(self, name: str) -> None:
        """Bring one name up to date. Cost: a look at the file, and at a few names where it is not known."""
        async with self._alone:
            before = self._datasette.databases
            known: Database | None = self._datasette.databases.get(name)
            if isinstance(known, SessionDatabase):
                if known.inode == await asyncio.to_thread(known.place.inode):
                    return
                self._remove(name)
            elif known is not None:
                return
            known_paths = {each.place.path for each in self._all()}
            for place in (each for root in self._roots for each in _named(root, name)):
                if place.path not in known_paths and await asyncio.to_thread(place.inode) is not None:
                    self._add(place)
            await self._told(before)

    async def _refresh(self) -> None:
        there = await asyncio.to_thread(self._listed)
        for name, database in list(self._datasette.databases.items()):
            if isinstance(database, SessionDatabase):
                found = database.place.inode()
                if found is None or found != database.inode:
                    self._remove(name)
        known = {each.place.path for each in self._all()}
        for place in there:
            if place.path not in known:
                self._add(place)

    def _listed(self) -> list[Place]:
        """All sessions of the configured stores, those used last first."""
        found = []
        for root in self._roots:
            found += [(each.used, place_in(root, each.id, each.project)) for each in Store(root).sessions()]
        return [place for _, place in sorted(found, key=lambda each: each[0], reverse=True)]


def _named(root: Path, name: str) -> list[Place]:
    """The sessions of a store that could have that name."""
    name = name.removeprefix("session ") if name.removeprefix("session ") in _TAKEN else name
    cuts = [index for index, letter in enumerate(name) if letter == "/"]
    pairs = [(name, None), *((name[cut + 1 :], name[:cut]) for cut in cuts)]
    found = []
    for session, project in pairs:
        with contextlib.suppress(InvalidIdError):
            check_id("session", session)
            if project is not None:
                check_id("project", project)
            found.append(place_in(root, session, project))
    return found


def of(datasette: Any) -> Sessions:
    """The sessions of a Datasette."""
    found: Sessions | None = getattr(datasette, _ATTRIBUTE, None)
    if found is None:
        found = Sessions(datasette)
        setattr(datasette, _ATTRIBUTE, found)
    return found
