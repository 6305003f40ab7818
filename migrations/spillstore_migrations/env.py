"""Runs revisions: on the connection that the library hands over, inside its transaction, or on the URL of an ``alembic.ini``.

By hand, a session file is upgraded as the library does it: in one transaction, under the exclusive lock. A file that is not
there is not made, nor a database of others changed. Parts of the library are named in ``alembic.ini``, as ``module:attribute``:
``metadata``, the tables that ``check`` and ``revision --autogenerate`` compare with, and ``guard``, which refuses a file in use.
"""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import context
from alembic.util import CommandError

if TYPE_CHECKING:
    import sqlite3

_APPLICATION_ID = 1399875948  # "Spil": of all session files, for ever


def run_on(connection: sa.Connection, metadata: sa.MetaData | None) -> None:
    """Run the command of Alembic on a connection."""
    context.configure(connection=connection, target_metadata=metadata)
    context.run_migrations()


def run_by_hand(url: str | None) -> None:
    """Open the file that a person names, and run the command in one transaction.

    Raises:
        CommandError: no file is named, or it is not there.
    """
    path = None if url is None else sa.make_url(url).database
    if not path or not Path(path).is_file():
        raise CommandError(
            f"there is no session file {path!r}; name one: alembic -x file=ROOT/PROJECT/SESSION/session.db, or sqlalchemy.url "
            "in alembic.ini"
        )
    if (guard := named("guard")) is not None:
        try:
            guard(Path(path))
        except Exception as error:  # whatever the library says is for a person to read
            raise CommandError(str(error)) from error
    engine = sa.create_engine(f"sqlite:///{path}")

    # pysqlite begins transactions by itself, but not before DDL; so they are begun here.
    @sa.event.listens_for(engine, "connect")
    def _no_implicit_begin(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA trusted_schema = OFF")

    @sa.event.listens_for(engine, "begin")
    def _begin_exclusive(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN EXCLUSIVE")

    try:
        with engine.begin() as connection:
            check_ours(connection, path)
            run_on(connection, named("metadata"))
    finally:
        engine.dispose()


def check_ours(connection: sa.Connection, path: str) -> None:
    """Leave alone what is no session file, nor an empty one.

    Raises:
        CommandError: it belongs to somebody else.
    """
    number = connection.exec_driver_sql("PRAGMA application_id").scalar()
    objects = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar()
    if number != _APPLICATION_ID and objects:
        raise CommandError(
            f"{path} is no session file: its application_id is {number}, not {_APPLICATION_ID}"
        )


def named(key: str) -> Any:
    """What ``alembic.ini`` names under a key; None if it names nothing."""
    name = context.config.get_main_option(key)
    return pkgutil.resolve_name(name) if name else None


if (handed := context.config.attributes.get("connection")) is not None:
    run_on(handed, context.config.attributes.get("target_metadata"))
elif context.is_offline_mode():
    context.configure(url="sqlite://", literal_binds=True)
    context.run_migrations()
else:
    file = context.get_x_argument(as_dictionary=True).get("file")
    run_by_hand(f"sqlite:///{file}" if file else context.config.get_main_option("sqlalchemy.url"))
