"""Sessions of Spillstore in Datasette.

A session is a SQLite file, so Datasette shows its tables and views as they are. What it lacks stands here: chunks as text, in SQL
(``spillstore.sqlite_functions``); a page of an artifact's lines, at any place, to which every cell that holds an artifact's
id leads (``pages``); and a name for each session, and a whole store of them (``sessions``).

Nothing is written. Files are opened read-only and by SQLite alone, never as immutable while somebody may write them: whoever
opens a session's file by other means, in a process that has it open with SQLite, takes away SQLite's locks when it closes it.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from datasette import hookimpl
from datasette.utils import sqlite as used
from markupsafe import Markup

from datasette_spillstore import pages, sessions
from spillstore import sqlite_functions
from spillstore.model.ids import ARTIFACT_ID

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__: list[str] = []


# Not ``startup``, before which Datasette 1.0 has already opened all databases, under the names that it gave them.
@hookimpl
def prepare_jinja2_environment(datasette: Any) -> Callable[[], Awaitable[None]]:
    """Give the sessions their names, and add those of the stores that the configuration names."""

    async def begin() -> None:
        sessions.check_sqlite(used.sqlite3)
        await sessions.of(datasette).begin()

    return begin


@hookimpl
def asgi_wrapper(datasette: Any) -> Callable[[Any], Any]:
    """Before a request is answered, look for the session that it asks for, or for all where it asks what there is."""

    def wrap(app: Any) -> Any:
        async def answered(scope: dict[str, Any], receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                await sessions.of(datasette).look(scope)
            await app(scope, receive, send)

        return answered

    return wrap


@hookimpl
def prepare_connection(conn: Any) -> None:
    """``spillstore_text`` and ``spillstore_chunk``; in a database that is no session they fail, and cost nothing."""
    if isinstance(conn, sqlite3.Connection):
        sqlite_functions.register(conn)


@hookimpl
def render_cell(value: Any, database: str, datasette: Any) -> Markup | None:
    """An artifact's id leads to its page."""
    if not isinstance(value, str) or not ARTIFACT_ID.fullmatch(value):
        return None
    found = datasette.databases.get(database)
    if not isinstance(found, sessions.SessionDatabase):
        return None
    return Markup('<a href="{}">{}</a>').format(
        pages.artifact_path(datasette, found, value), value
    )  # format escapes


@hookimpl
def register_routes() -> list[tuple[str, Any]]:
    """The page of a session, and that of an artifact."""
    return [
        (r"^/(?P<database>[^/]+)/-/spillstore$", pages.session_page),
        (r"^/(?P<database>[^/]+)/-/spillstore/(?P<artifact>[^/]+)$", pages.artifact_page),
    ]


def _links(datasette: Any, database: str) -> list[dict[str, str]]:
    found = datasette.databases.get(database)
    if not isinstance(found, sessions.SessionDatabase):
        return []
    return [{"href": pages.session_path(datasette, found), "label": "Artifacts and example queries"}]


@hookimpl
def database_actions(datasette: Any, database: str) -> list[dict[str, str]]:
    """In the menu of a session's database: its page."""
    return _links(datasette, database)
