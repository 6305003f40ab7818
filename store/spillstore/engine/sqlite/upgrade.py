"""Brings an older session file to the newest schema. Only this module imports Alembic.

The revisions run in one transaction, so a crash leaves the file as it was. Nobody else may write meanwhile: the
upgrade refuses while an owner lives, and holds the exclusive lock while it runs.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import owner_locks
from spillstore.exceptions import SessionBusyError, StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore.settings import Settings


def config(connection: sa.Connection, locations: str | None = None) -> Config:
    """Alembic's configuration, from the installed package alone."""
    out = Config()
    out.set_main_option("script_location", "spillstore_migrations:")
    if locations is not None:
        out.set_main_option("version_locations", locations)
        out.set_main_option("path_separator", "os")
    out.attributes["connection"] = connection
    return out


def check_unused(path: Path) -> None:
    """Refuse a session file that somebody alive holds.

    Raises:
        SessionBusyError: it names them.
    """
    if others := owner_locks.live_owners(path.parent):
        who = ", ".join(owner_locks.describe(path.parent, name) for name in others)
        raise SessionBusyError(f"{path} must be upgraded and is held by {who}; close it there first")


def upgrade(path: Path, settings: Settings, *, revision: str = "head", locations: str | None = None) -> None:
    """Upgrade a session file in place.

    Args:
        path: the file.
        settings: for ``busy_timeout``.
        revision: where to go; the newest by default.
        locations: folders of revisions, for a test that has one more.

    Raises:
        SessionBusyError: somebody alive holds the session.
        StorageError: it could not be upgraded; the file is as it was.
    """
    check_unused(path)
    engine = sa.create_engine(
        f"sqlite:///{path}",
        connect_args={"timeout": settings.busy_timeout, "autocommit": sqlite3.LEGACY_TRANSACTION_CONTROL}
        if hasattr(sqlite3, "LEGACY_TRANSACTION_CONTROL")
        else {"timeout": settings.busy_timeout},
    )

    # pysqlite begins transactions by itself, but not before DDL; so they are begun here.
    @sa.event.listens_for(engine, "connect")
    def _no_implicit_begin(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA trusted_schema = OFF")

    @sa.event.listens_for(engine, "begin")
    def _begin_exclusive(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN EXCLUSIVE")

    try:
        with translated(f"upgrading {path}"), engine.begin() as connection:
            command.upgrade(config(connection, locations), revision)
    except sa.exc.SQLAlchemyError as error:
        raise StorageError(f"upgrading {path} failed: {error}") from error
    finally:
        engine.dispose()
