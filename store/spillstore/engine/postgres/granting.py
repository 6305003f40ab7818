"""What a role of the server needs to use a store, as SQL; and how a role is confined to the sessions of one project.

Policies count for all roles but the owner of the tables as soon as they are switched on. So there is one that lets everybody
through (``spillstore_all``), and one for each confined role, which is restrictive: it takes away, and gives nothing.

A session's rows are found by its ``place``. While they are being removed there is none; then ``doomed`` says whose they were.
The row ``store`` is of all sessions: a confined role does not see it, so it measures its own and leaves collection to others.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, Final

from psycopg import sql

from spillstore.engine.errors import NotStoredError, translated
from spillstore.engine.postgres import citus
from spillstore.engine.postgres.address import parse
from spillstore.engine.postgres.operating import connect
from spillstore.engine.postgres.schema import POLICY, check_schema
from spillstore.exceptions import LockedError, ReadOnlyError, UnsupportedError, UsageError
from spillstore.model.ids import check_id

if TYPE_CHECKING:
    from typing import Any

    import psycopg

# What a store does to each table besides reading it, as a test compares with the statements.
WRITES: Final = {
    "session": "INSERT, UPDATE, DELETE",
    "artifact": "INSERT, UPDATE, DELETE",
    "chunk": "INSERT, DELETE",
    "event": "INSERT, DELETE",
    "name": "INSERT, DELETE",
    "place": "INSERT, UPDATE, DELETE",
    "claim": "INSERT, UPDATE, DELETE",
    "doomed": "INSERT, UPDATE, DELETE",
    "kept_session": "INSERT",
    "kept_event": "INSERT, DELETE",
    "store": "UPDATE",
}
_OWN: Final = "project_id = {project}"
_NAMED: Final = "starts_with(name, {project} || chr(10))"
# One look-up for each row; with IN, all places of the project would be read first. ``IS NOT NULL``, because the server takes
# that for true of nearly all rows, as it is of those of one session, and so plans as it does without.
_OF_PLACE: Final = (
    "coalesce((SELECT true FROM spillstore.place WHERE place.session_key = {table}.session_key AND place.project_id = {project}),"
    " (SELECT true FROM spillstore.doomed WHERE doomed.session_key = {table}.session_key AND doomed.project_id = {project}))"
    " IS NOT NULL"
)
_OF_KEPT: Final = (
    "EXISTS (SELECT FROM spillstore.kept_session WHERE kept_session.session_key = kept_event.session_key"
    " AND starts_with(kept_session.name, {project} || chr(10)))"
)
_CONFINED: Final = {
    **dict.fromkeys(("session", "place", "doomed"), _OWN),
    **dict.fromkeys(("artifact", "chunk", "event", "claim"), _OF_PLACE),
    **dict.fromkeys(("name", "kept_session"), _NAMED),
    "kept_event": _OF_KEPT,
    "store": "false",
}
_LONGEST: Final = 63  # bytes of a name, by NAMEDATALEN
# All tables are locked at once, or none: who waits for a second looks for a deadlock, and who writes must not be its victim.
_LOCK_TIMEOUT: Final = "100ms"
_TABLES: Final = ", ".join(f"spillstore.{table}" for table in _CONFINED)
_PATIENCE: Final = 30.0  # seconds, for a moment at which nobody has one of the tables for longer than that
_PAUSE: Final = 0.2  # seconds, on average
_ROLES: Final = (
    "SELECT pg_has_role(relowner, 'USAGE'), rolname IS NOT NULL, rolbypassrls OR pg_has_role(rolname, relowner, 'USAGE')"
    " FROM pg_class LEFT JOIN pg_roles ON rolname = %(role)s WHERE pg_class.oid = 'spillstore.chunk'::regclass"
)


def grant_sql(role: str, project: str | None, *, read_only: bool) -> list[str]:
    """The statements after which a role has exactly the rights that a store needs.

    Args:
        role: its name.
        project: the project whose sessions alone it may use; None for all sessions.
        read_only: whether it only reads; its reads leave no events then.

    Raises:
        UsageError: no role has such a name.
        InvalidIdError: no project has.
    """
    if role.lower() in {"public", "none"} or not role or "\0" in role or len(role.encode()) > _LONGEST:
        raise UsageError(f"rights are given to one role, and {role!r} is the name of none")
    if project is not None:
        check_id("project", project)
    who = _quoted(role)
    found = [
        f"GRANT USAGE ON SCHEMA spillstore TO {who}",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA spillstore FROM {who}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA spillstore TO {who}",
        f"GRANT EXECUTE ON FUNCTION spillstore.parsed(text) TO {who}",
    ]
    if not read_only:
        found += [f"GRANT {what} ON spillstore.{table} TO {who}" for table, what in WRITES.items()]
    found += [f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'", f"LOCK TABLE {_TABLES} IN ACCESS EXCLUSIVE MODE"]
    policy = _quoted(_policy_name(role))
    found += [f"DROP POLICY IF EXISTS {policy} ON spillstore.{table}" for table in _CONFINED]
    if project is not None:
        for table, condition in _CONFINED.items():
            seen = (
                sql.SQL(condition)
                .format(table=sql.Identifier(table), project=sql.Literal(project))
                .as_string()
            )
            found += [
                f"ALTER TABLE spillstore.{table} ENABLE ROW LEVEL SECURITY",
                f"DROP POLICY IF EXISTS {POLICY}all ON spillstore.{table}",
                f"CREATE POLICY {POLICY}all ON spillstore.{table} USING (true)",
                f"CREATE POLICY {policy} ON spillstore.{table} AS RESTRICTIVE TO {who} USING ({seen})",
            ]
    return found


def _quoted(name: str) -> str:
    return sql.Identifier(name).as_string()


def _policy_name(role: str) -> str:
    """The name of the policies that confine a role; the server cuts what is longer than ``_LONGEST`` bytes."""
    name = f"{POLICY}to_{role}"
    if len(name.encode()) <= _LONGEST:
        return name
    return f"{POLICY}to_{hashlib.sha256(role.encode()).hexdigest()[:32]}"


def grant(url: str, role: str, project: str | None, *, read_only: bool) -> None:
    """Run ``grant_sql`` in one transaction.

    Raises:
        UsageError, InvalidSettingError, InvalidIdError: no such URL, role or project; or a role for which policies do not count.
        SchemaTooOldError, SchemaTooNewError, IntegrityError: the tables are not those of this version.
        UnsupportedError: the tables are spread by Citus, which takes no such policies.
        ReadOnlyError: only the owner of the tables may do so.
        LockedError: others keep the tables locked.
        StorageError: it could not be done; nothing was.
    """
    statements = grant_sql(role, project, read_only=read_only)
    address = parse(url)
    doing = f"granting rights on {address.shown}"
    with connect(address, autocommit=True) as raw:
        found = check_schema(raw, address.shown)
        if project is not None and found.citus and raw.execute(citus.SPREAD).fetchone():
            raise UnsupportedError(
                f"{address.shown} is spread by Citus, where no role can be confined to a project: policies of ours look into other "
                "tables; give the project a database of its own"
            )
        with translated(doing):
            _check_roles(raw, role, project, doing)
            deadline = time.monotonic() + _PATIENCE
            while True:
                try:
                    _run(raw, statements, doing)
                except (NotStoredError, LockedError):
                    if time.monotonic() > deadline:
                        raise
                else:
                    return
                time.sleep(_PAUSE * (0.5 + os.urandom(1)[0] / 255))


def _check_roles(raw: psycopg.Connection[Any], role: str, project: str | None, doing: str) -> None:
    """Who may not grant gets a warning of the server at most, so it is asked first."""
    ((may, there, above),) = raw.execute(_ROLES, {"role": role}).fetchall()
    if not may:
        raise ReadOnlyError(f"{doing} failed: it takes the role that owns the tables")
    if not there:
        raise UsageError(f"there is no role {role!r}; make it first: CREATE ROLE {_quoted(role)} LOGIN")
    if project is not None and above:
        raise UsageError(
            f"the role {role!r} owns the tables or stands above all policies, so it cannot be confined to a project; take one "
            "that is no superuser and no member of the owner's role"
        )


def _run(raw: psycopg.Connection[Any], statements: list[str], doing: str) -> None:
    with translated(doing), raw.transaction():
        for statement in statements:
            raw.execute(statement.encode())
