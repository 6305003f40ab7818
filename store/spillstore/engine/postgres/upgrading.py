"""Makes the tables of a server's store, or brings them to the newest schema. Only this module imports Alembic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from spillstore.engine.errors import translated
from spillstore.engine.postgres.address import parse
from spillstore.engine.postgres.schema import check_server
from spillstore.exceptions import StorageError

if TYPE_CHECKING:
    from typing import Any

_LOCK: Final = 0x5370696C  # "Spil": of ``pg_advisory_xact_lock``, so that one upgrades at a time


def config(connection: sa.Connection) -> Config:
    """Alembic's configuration, from the installed package alone."""
    out = Config()
    out.set_main_option("script_location", "spillstore_migrations:server")
    out.attributes["connection"] = connection
    return out


def upgrade(url: str, *, revision: str = "head") -> None:
    """Make or upgrade the schema ``spillstore`` of a database, in one transaction; fine if somebody else does the same.

    Args:
        url: as for ``Store``.
        revision: where to go; the newest by default.

    Raises:
        UsageError, InvalidSettingError: no such URL.
        UnsupportedError: the server is too old, or its encoding is not UTF8.
        ReadOnlyError: the role may not make tables there.
        StorageError: it could not be upgraded; the database is as it was.
    """
    address = parse(url)

    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(address.conninfo, prepare_threshold=None)

    engine = sa.create_engine("postgresql+psycopg://", creator=connect, poolclass=sa.NullPool)
    try:
        with translated(f"upgrading {address.shown}"), engine.begin() as connection:
            raw: Any = connection.connection.dbapi_connection
            check_server(raw)
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            connection.exec_driver_sql("CREATE SCHEMA IF NOT EXISTS spillstore")
            command.upgrade(config(connection), revision)
    except sa.exc.DBAPIError as error:
        with translated(f"upgrading {address.shown}"):
            raise error.orig or error from None
    except sa.exc.SQLAlchemyError as error:
        raise StorageError(f"upgrading {address.shown} failed: {error}") from error
    finally:
        engine.dispose()
