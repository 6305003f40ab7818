"""Makes the tables of a server's store, or brings them to the newest schema. Only this module imports Alembic.

All is done in one transaction, so what fails leaves the database as it was. A lock orders those who upgrade at the same time.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Final

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from spillstore.engine.errors import translated
from spillstore.engine.postgres import citus, control
from spillstore.engine.postgres.address import parse
from spillstore.engine.postgres.errors import message_of
from spillstore.engine.postgres.operating import connect
from spillstore.exceptions import (
    ReadOnlyError,
    SchemaTooNewError,
    SessionBusyError,
    StorageError,
    UnsupportedError,
)
from spillstore.info import Upgrade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.engine.postgres.address import Address

_LOCK: Final = "SELECT pg_advisory_xact_lock(1399876972)"  # "Spil": so that one upgrades at a time
_SCHEMA: Final = "CREATE SCHEMA IF NOT EXISTS spillstore"
_NAMED: Final = 5  # processes that a message names


def config(connection: sa.Connection | None, locations: str | None = None) -> Config:
    """Alembic's configuration, from the installed package alone."""
    out = Config()
    out.set_main_option("script_location", "spillstore_migrations:server")
    if locations is not None:
        out.set_main_option("version_locations", locations)
        out.set_main_option("path_separator", "os")
    out.attributes["connection"] = connection
    return out


@contextlib.contextmanager
def _transaction(address: Address) -> Iterator[sa.Connection]:
    """A transaction of SQLAlchemy on one connection; its errors are ours."""
    doing = f"upgrading {address.shown}"
    raw = connect(address)
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: raw, poolclass=sa.NullPool)
    try:
        with translated(doing), engine.begin() as connection:
            connection.exec_driver_sql(_LOCK)
            yield connection
    except sa.exc.DBAPIError as error:
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            raise ReadOnlyError(
                f"{doing} failed: {message_of(error.orig)}; it takes the role that owns the schema spillstore, or one that may "
                "make it: GRANT CREATE ON DATABASE"
            ) from None
        with translated(doing):
            raise error.orig or error from None
    except sa.exc.SQLAlchemyError as error:
        raise StorageError(f"{doing} failed: {error}") from error
    finally:
        engine.dispose()
        raw.close()


def upgrade(url: str, *, lease: float = 30.0, dry_run: bool = False, locations: str | None = None) -> Upgrade:
    """Make or upgrade the schema ``spillstore`` of a database, in one transaction; fine if somebody else does the same.

    Args:
        url: as for ``Store``.
        lease: seconds for which a claim counts as alive, as the setting.
        dry_run: only find out what is to be done.
        locations: folders of revisions, for a test that has one more.

    Raises:
        UsageError, InvalidSettingError: no such URL.
        UnsupportedError: the server is too old, its encoding is not UTF8, or it lacks the Citus that is asked for.
        SchemaTooNewError: a newer version made the schema.
        SessionBusyError: something is to be changed, and living processes have sessions open.
        ReadOnlyError: the role may not make tables there.
        StorageError: it could not be upgraded; the database is as it was.
    """
    address = parse(url)
    with _transaction(address) as connection:
        before, after = _revisions(connection, address, locations)
        if before != after:
            if before is not None:
                _check_unused(connection, address, lease, f"upgraded from {before} to {after}")
            elif not _has_schema(connection) and not dry_run:
                connection.exec_driver_sql(_SCHEMA)
            if not dry_run:
                command.upgrade(config(connection, locations), "head")
        spread = _spread(connection, address, lease, claimed=before is not None, dry_run=dry_run)
    return Upgrade(store=address.shown, before=before, after=after, spread=spread, dry_run=dry_run)


def upgrade_sql(url: str, *, locations: str | None = None) -> str:
    """What ``upgrade`` would run, as a script for ``psql``; nothing but comments where there is nothing to do. Raises as it does."""
    address = parse(url)
    with _transaction(address) as connection:
        before, after = _revisions(connection, address, locations)
        spreading = _spreading(connection, address)
        if before == after and not spreading:
            return f"-- {address.shown} has the schema {after} already.\n"
        lines = ["BEGIN", _LOCK]
        if before is None and not _has_schema(connection):
            lines.append(_SCHEMA)
    script = ";\n\n".join([*lines, ""])
    if before != after:
        offline = config(None, locations)
        offline.output_buffer = io.StringIO()
        command.upgrade(offline, f"{before or 'base'}:head", sql=True)
        script += offline.output_buffer.getvalue()
    last = [*citus.before_spreading(address.citus_shards), *spreading.values()] if spreading else []
    return script + ";\n\n".join([*last, "COMMIT;\n"])


def _revisions(connection: sa.Connection, address: Address, locations: str | None) -> tuple[str | None, str]:
    """The revision that is there, and the newest."""
    scripts = ScriptDirectory.from_config(config(connection, locations))
    newest = scripts.get_current_head()
    assert newest is not None, "there is a first revision"
    table = connection.exec_driver_sql(
        "SELECT to_regclass('spillstore.alembic_version') IS NOT NULL"
    ).scalar()
    before = (
        connection.exec_driver_sql("SELECT version_num FROM spillstore.alembic_version").scalar()
        if table
        else None
    )
    if before is not None and before not in {each.revision for each in scripts.walk_revisions()}:
        raise SchemaTooNewError(
            f"{address.shown} has the schema {before}, and this version knows {newest}; use a newer Spillstore"
        )
    return before, newest


def _has_schema(connection: sa.Connection) -> bool:
    """Whether somebody has made the schema; who may use it need not be one who may make it."""
    return bool(connection.exec_driver_sql("SELECT to_regnamespace('spillstore') IS NOT NULL").scalar())


def _check_unused(connection: sa.Connection, address: Address, lease: float, what: str) -> None:
    """Refuse while processes have sessions open for writing; none can open one until the transaction ends.

    Raises:
        SessionBusyError: it names some of them.
    """
    connection.exec_driver_sql("LOCK TABLE spillstore.claim IN SHARE ROW EXCLUSIVE MODE")
    found = connection.exec_driver_sql(control.CLAIMS_ALL_LIVING, {"lease": lease}).scalars().all()
    if found:
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise SessionBusyError(
            f"{address.shown} is to be {what}, and is in use by {', '.join(found[:_NAMED])}{more}; end them first (who was "
            f"killed counts as alive for {lease:g} s)"
        )


def _spreading(connection: sa.Connection, address: Address) -> dict[str, str]:
    """The tables that are to be spread by Citus, where that is wanted, and how.

    Raises:
        UnsupportedError: it is asked for, and the database does not have it, or an old one.
    """
    if address.citus == "off":
        return {}
    version = connection.exec_driver_sql(citus.VERSION).scalar()
    if version is None or citus.is_old(version):
        if address.citus == "auto":
            return {}
        oldest = ".".join(map(str, citus.OLDEST))
        has = "has no extension citus" if version is None else f"has citus {version}"
        raise UnsupportedError(
            f"{address.shown} {has}; citus=on needs {oldest} or newer: CREATE EXTENSION citus, where the server has it"
        )
    return citus.spreading(set(connection.exec_driver_sql(citus.SPREAD).scalars()))


def _spread(
    connection: sa.Connection, address: Address, lease: float, *, claimed: bool, dry_run: bool
) -> tuple[str, ...]:
    """Spread what is to be spread; returns the names of the tables."""
    spreading = _spreading(connection, address)
    if spreading and claimed:
        _check_unused(connection, address, lease, "spread by Citus")
    if spreading and not dry_run:
        for statement in [*citus.before_spreading(address.citus_shards), *spreading.values()]:
            connection.exec_driver_sql(statement)
    return tuple(spreading)
