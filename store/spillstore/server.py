"""What who runs a server does: makes the schema of a store, upgrades it, and gives roles their rights.

Agents need none of it: a store makes nothing but rows.
"""

from __future__ import annotations

import os

from spillstore.engine import registry
from spillstore.exceptions import UsageError
from spillstore.info import Upgrade
from spillstore.settings import Settings
from spillstore.store import default_root

__all__ = ["grant", "upgrade", "upgrade_sql"]


def upgrade(root: str | os.PathLike[str] | None = None, *, dry_run: bool = False) -> Upgrade:
    """Make the tables of a store on a server, or bring them to the newest schema, in one transaction.

    Safe to repeat, and while others do the same. Where the database has Citus, tables are spread as the URL says
    (``citus``, ``citus_shards``). Of a folder nothing is changed: session files are upgraded when they are opened for writing.

    Args:
        root: the URL, of a role that may make tables there; None for the default store.
        dry_run: only tell what is to be done.

    Returns:
        The revision that was there, and the one that is. Cost: about 0.2 s.

    Raises:
        UsageError, InvalidSettingError: no such URL.
        UnsupportedError: the server is older than PostgreSQL 15, the database's encoding is not UTF8, psycopg is missing, or
            the Citus that the URL asks for.
        SchemaTooNewError: a newer version made the tables.
        SessionBusyError: something is to be changed, and processes have sessions open; ``lease`` says for how long one that
            is silent counts.
        ReadOnlyError: the role may not make tables there.
        StorageError: the server cannot be reached, or does not do it; the database is as it was.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     upgrade(folder).after is None
        True
    """
    named = default_root() if root is None else root
    if not registry.is_url(os.fspath(named)):
        return Upgrade(store=registry.address_of(named), before=None, after=None, dry_run=dry_run)
    upgrading = registry.server_module("upgrading")
    done: Upgrade = upgrading.upgrade(os.fspath(named), lease=Settings.load(None).lease, dry_run=dry_run)
    return done


def upgrade_sql(root: str | os.PathLike[str] | None = None) -> str:
    """What ``upgrade`` would run on a server, as a script for ``psql``; raises as it does.

    The server is asked what is there, and not changed. Whether processes use it is for who runs the script to see to.
    """
    script: str = registry.server_module("upgrading").upgrade_sql(_url(root))
    return script


def grant(
    root: str | os.PathLike[str] | None = None,
    *,
    role: str,
    project: str | None = None,
    read_only: bool = False,
    apply: bool = False,
) -> str:
    """The SQL after which a role of a server has exactly the rights that a store needs; with ``apply`` it is run, too.

    With a project the role sees and writes the sessions of that project alone, by policies of the server (row-level
    security): its listings show no others, its ``store_quota`` counts no others, and to make one is a ``ReadOnlyError``. Old
    sessions are then collected by who runs ``spillstore gc`` as another role. A role that was granted nothing by us, and has
    rights, is confined to nothing. To give a role other rights, or all sessions, grant anew.

    Args:
        root: the URL, of the role that owns the tables; None for the default store.
        role: who gets the rights; it must be there to run the SQL.
        project: whose sessions; None for all.
        read_only: for who only reads, with ``read_only=True``; its reads leave no events.
        apply: whether to run it, in one transaction.

    Returns:
        The script.

    Raises:
        UsageError: no such URL or role, or one that stands above policies.
        InvalidIdError: no such project.
        SchemaTooOldError, SchemaTooNewError, IntegrityError: the tables are not those of this version.
        UnsupportedError: a project where tables are spread by Citus.
        ReadOnlyError: only the owner of the tables may grant.
        StorageError: the server cannot be reached, or does not do it.

    Example:
        >>> print(grant("postgresql://db.example/spill", role="viewer", read_only=True).splitlines()[1])
        GRANT USAGE ON SCHEMA spillstore TO "viewer";
    """
    url = _url(root)
    granting = registry.server_module("granting")
    script = ";\n".join(["BEGIN", *granting.grant_sql(role, project, read_only=read_only), "COMMIT;\n"])
    if apply:
        granting.grant(url, role, project, read_only=read_only)
    return script


def _url(root: str | os.PathLike[str] | None) -> str:
    named = os.fspath(default_root() if root is None else root)
    if not registry.is_url(named):
        raise UsageError(f"{registry.address_of(named)} is no server: only a database has SQL and roles")
    registry.address_of(named)  # which reads it
    return named
