"""``spillstore.server.grant``: what a role needs, and roles that are confined to a project."""

from __future__ import annotations

import re
import secrets
import threading
import time

import postgres
import pytest
from support import NO_FLOORS

pytest.importorskip("psycopg")
import psycopg

from spillstore import Store
from spillstore import server as operator
from spillstore.engine.postgres import archive, control, granting, locking, schema
from spillstore.engine.postgres import sql as _sql
from spillstore.exceptions import (
    InvalidIdError,
    LockedError,
    ReadOnlyError,
    SchemaTooOldError,
    SessionNotFoundError,
    UsageError,
)
from spillstore.settings import MIB

LINES = b"a line of output\n" * 300_000  # 78 chunks: more than a COPY begins with


@pytest.fixture
def role(server, server_url):
    """Makes a role, and gives its name and the URL by which it connects."""
    if not isinstance(server, postgres.Server):
        pytest.skip("roles are made on a server of ours alone")
    made = []

    def make(name="agent", options=""):
        name = f"{name}_{secrets.token_hex(4)}"
        quoted = '"' + name.replace('"', '""') + '"'
        server.execute(f"CREATE ROLE {quoted} LOGIN {options}")
        made.append(quoted)
        user = "".join(f"%{byte:02X}" for byte in name.encode())
        return name, server_url.replace("postgres@", f"{user}@")

    yield make
    for quoted in made:
        server.execute(f"DROP OWNED BY {quoted}", postgres.database_of(server_url))
        server.execute(f"DROP ROLE {quoted}")


def texts():
    """All statements of the engine."""
    constants = (vars(module) for module in (_sql, control, archive, locking))
    return [
        value
        for each in constants
        for name, value in each.items()
        if name.isupper() and isinstance(value, str)
    ]


def test_what_is_granted_is_what_statements_do():
    """No right more, and none less."""
    words = {"INSERT INTO": "INSERT", "COPY": "INSERT", "UPDATE": "UPDATE", "DELETE FROM": "DELETE"}
    needed = {table: set() for table in schema.tables()}
    for text in texts():
        for word, table in re.findall(r"(INSERT INTO|COPY|UPDATE|DELETE FROM) spillstore\.(\w+)", text):
            needed[table].add(words[word])
        if "FOR UPDATE" in text:
            needed[re.findall(r"FROM spillstore\.(\w+)", text)[-1]].add("UPDATE")
    assert {table: set(what.split(", ")) for table, what in granting.WRITES.items()} == needed


def use(store, session_id="chat", project=None):
    """All that an agent does with a session."""
    with store.session(session_id, project) as session:
        artifact = session.put(LINES)
        assert artifact.read_lines(200_000, 200_001) == b"a line of output\n" * 2
        assert artifact.search("output", limit=1).matches
        session.put(b"short\n").delete()
        session.check()
    assert [info.id for info in store.sessions(project)] == [session_id]
    store.collect(older_than=3600.0)
    store.delete(session_id, project)


def test_a_role_needs_no_more(server, server_url, role):
    """It makes, writes, reads, lists, collects and deletes, and cannot change tables or the schema's number."""
    name, url = role()
    with pytest.raises(ReadOnlyError):
        Store(url).session("chat")
    for _ in range(2):
        operator.grant(server_url, role=name, apply=True)
        use(Store(url, **NO_FLOORS, audit_keep=True))
    assert len(Store(url).deleted_events("chat")) > 0
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (
            "UPDATE spillstore.alembic_version SET version_num = '0'",
            "DROP TABLE spillstore.chunk",
            "TRUNCATE spillstore.event",
            "CREATE TABLE spillstore.mine (a int)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        connection.execute("SELECT * FROM spillstore.v_events")


def test_a_role_that_only_reads(server, server_url, role):
    """It reads all sessions without a trace, and can make and change nothing; also one that could before."""
    name, url = role()
    operator.grant(server_url, role=name, apply=True)
    operator.grant(server_url, role=name, read_only=True, apply=True)
    with Store(server_url, **NO_FLOORS).session("chat") as session:
        session.put(b"x\n")
    store = Store(url, **NO_FLOORS)
    with store.session("chat", read_only=True) as session:
        (artifact,) = session.artifacts()
        assert artifact.read_lines(1, 1) == b"x\n"
        session.check()
    assert [info.id for info in store.sessions()] == ["chat"]
    for attempt in (
        lambda: store.session("new"),
        lambda: store.session("chat").put(b"y\n"),
        lambda: store.delete("chat"),
    ):
        with pytest.raises(ReadOnlyError, match=r"permission denied for table .*`spillstore grant URL`"):
            attempt()
    with Store(server_url).session("chat") as session:
        assert not session.events(kind="read")


PROJECTS = ["web", "we", 'o\'brien "x" \\ %s', "weß — \U0001f600", "x" * 200]


@pytest.mark.parametrize("project", PROJECTS)
def test_a_role_of_a_project(server, server_url, role, project):
    """It does everything with the project's sessions, and meets no other, whatever the names hold."""
    name, url = role('ag"ent \\ é')
    everyone = Store(server_url, **NO_FLOORS, audit_keep=True)
    others = [None, "web", "web2", "we", "other"]
    for other in others:
        if other != project:
            with everyone.session("chat", other) as session:
                session.put(b"secret\n")
    with everyone.session("gone", "not this") as session:
        session.put(b"secret\n")
    everyone.delete("gone", "not this")
    for _ in range(2):
        operator.grant(server_url, role=name, project=project, apply=True)
    store = Store(url, **NO_FLOORS, audit_keep=True)
    assert list(store.sessions()) == []
    use(store, project=project)
    assert len(store.deleted_events("chat", project)) > 0
    for table in ("doomed", "chunk WHERE {}", "artifact WHERE {}", "event WHERE {}", "claim WHERE {}"):
        left = table.format("session_key NOT IN (SELECT session_key FROM spillstore.session)")
        assert server.execute(
            f"SELECT count(*) FROM spillstore.{left}", postgres.database_of(server_url)
        ) == [(0,)]
    for other in others:
        if other == project:
            continue
        with pytest.raises(SessionNotFoundError):
            store.session("chat", other, read_only=True)
        with pytest.raises(
            ReadOnlyError, match=r"row-level security policy .* for table \"name\"; the role is confined"
        ):
            store.session("chat", other)
        with pytest.raises(ReadOnlyError, match="confined to the sessions of one project"):
            store.session("new", other)
    with store.session("chat", project) as session:
        session.put(b"mine\n")
    assert len(list(everyone.sessions())) == len({*others, project})
    with psycopg.connect(url, autocommit=True) as connection:
        for table in schema.tables():
            found = connection.execute(f"SELECT count(*) FROM spillstore.{table}").fetchone()[0]
            every = server.execute(
                f"SELECT count(*) FROM spillstore.{table}", postgres.database_of(server_url)
            )[0][0]
            assert found < every or not every, table
        for view in ("v_artifacts", "v_events"):
            assert connection.execute(f"SELECT DISTINCT project_id FROM spillstore.{view}").fetchall() == [
                (project,)
            ]


def test_rows_of_others_cannot_be_written(server, server_url, role):
    """By no statement, even one that knows a session's key."""
    name, url = role()
    operator.grant(server_url, role=name, project="web", apply=True)
    with Store(server_url, **NO_FLOORS).session("chat", "other") as session:
        session.put(b"secret\n")
        ((key,),) = server.execute(
            "SELECT session_key FROM spillstore.place", postgres.database_of(server_url)
        )
        with psycopg.connect(url, autocommit=True) as connection:
            for table, what in granting.WRITES.items():
                for word in what.split(", "):
                    column = next(iter(schema.tables()[table]))
                    if word == "UPDATE":
                        done = connection.execute(f"UPDATE spillstore.{table} SET {column} = {column}")
                        assert done.rowcount == 0, table
                    elif word == "DELETE":
                        assert connection.execute(f"DELETE FROM spillstore.{table}").rowcount == 0, table
            for statement in (
                "INSERT INTO spillstore.claim (session_key, owner, about, beat) VALUES (%s, 'a', 'b', now())",
                "INSERT INTO spillstore.event (session_key, event_key, at_us, kind) VALUES (%s, 9999, 1, 'read')",
                "INSERT INTO spillstore.kept_event (session_key, event_key, at_us, kind) VALUES (%s, 1, 1, 'read')",
                "INSERT INTO spillstore.doomed (session_key, project_id, stored_bytes, doomed_at) VALUES (%s, 'other', 1, now())",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                    connection.execute(statement, (key,))


def test_other_roles_see_all(server, server_url, role):
    """Those that were granted before somebody was confined, also by hand, and those that are granted all again."""
    (confined, url), (before, url_before) = role(), role()
    operator.grant(server_url, role=before, apply=True)
    operator.grant(server_url, role=confined, project="web", apply=True)
    for each in (url_before, server_url):
        use(Store(each, **NO_FLOORS, audit_keep=True))
    with Store(server_url, **NO_FLOORS).session("chat", "other") as session:
        session.put(b"x\n")
    assert list(Store(url).sessions()) == []
    operator.grant(server_url, role=confined, apply=True)
    assert [info.project for info in Store(url).sessions()] == ["other"]
    operator.grant(server_url, role=confined, project="other", read_only=True, apply=True)
    assert [info.project for info in Store(url).sessions()] == ["other"]
    with pytest.raises(ReadOnlyError):
        Store(url).session("new", "other")


def test_who_writes_while_somebody_is_confined_goes_on(server, server_url, role):
    """Policies forbid COPY to all but the owner: what failed for that is stored without."""
    (writer, url), (confined, _) = role(), role()
    operator.grant(server_url, role=writer, apply=True)
    store = Store(url, **NO_FLOORS)
    with store.session("chat") as session, session.create() as output:
        output.write(LINES)
        output.flush()
        assert store._backend._connections.found.copies
        operator.grant(server_url, role=confined, project="web", apply=True)
        output.write(LINES)
        output.close()
        assert not store._backend._connections.found.copies
        assert not list(session.events(kind="interrupt"))
        assert session.artifact(output.id).info.size == 2 * len(LINES)
        session.check()


def test_the_quota_of_a_project(server, server_url, role):
    """Counts the sessions that the role sees; those of others are not measured, and not forgotten."""
    name, url = role()
    operator.grant(server_url, role=name, project="web", apply=True)
    with Store(server_url, **NO_FLOORS).session("chat", "other") as session:
        session.put(bytes(range(256)) * 40_000, redact=False)
    server.execute("UPDATE spillstore.store SET size = 7", postgres.database_of(server_url))
    store = Store(url, **{**NO_FLOORS, "store_quota": MIB, "store_policy": "refuse"})
    with store.session("chat", "web") as session:
        session.put(b"small\n")
    assert server.execute("SELECT size FROM spillstore.store", postgres.database_of(server_url)) == [(7,)]


def test_what_cannot_be_granted(server, server_url, role):
    """Is refused with the reason, and nothing is done."""
    name, url = role()
    owner, _ = role("owner", "SUPERUSER")
    for wrong in ("public", "PUBLIC", "none", "", "a\0b", "x" * 64):
        with pytest.raises(UsageError, match="is the name of none"):
            operator.grant(server_url, role=wrong)
    with pytest.raises(InvalidIdError):
        operator.grant(server_url, role=name, project="a\nb")
    with pytest.raises(
        UsageError, match=r"there is no role 'no \"such'; make it first: CREATE ROLE \"no \"\"such\" LOGIN"
    ):
        operator.grant(server_url, role='no "such', apply=True)
    with pytest.raises(UsageError, match="stands above all policies"):
        operator.grant(server_url, role=owner, project="web", apply=True)
    operator.grant(server_url, role=owner, apply=True)
    operator.grant(server_url, role=name, apply=True)
    with pytest.raises(ReadOnlyError, match="it takes the role that owns the tables"):
        operator.grant(url, role=owner, project=None, apply=True)
    with pytest.raises(UsageError, match="is no server"):
        operator.grant("some/folder", role=name)
    with pytest.raises(UsageError, match="there is no engine for mysql"):
        operator.grant("mysql://x/y", role=name)
    empty = server.new_database(schema=False)
    with pytest.raises(SchemaTooOldError, match="has no tables"):
        operator.grant(server.url(empty), role=name, apply=True)
    server.drop_database(empty)


def test_the_script_may_be_run_by_hand(server, server_url, role):
    """It is what is applied; nothing is asked of the server to print it."""
    name, url = role()
    script = operator.grant("postgresql://none.example/none", role=name, project="web")
    assert script == operator.grant(server_url, role=name, project="web")
    server.execute(script, postgres.database_of(server_url))
    use(Store(url, **NO_FLOORS), project="web")


def test_names_of_policies_are_not_cut():
    """Those of long names of roles differ."""
    names = {granting._policy_name("x" * 60 + end) for end in ("a", "b", "")}
    assert len(names) == 3
    assert all(len(name) <= 63 and name.startswith(schema.POLICY) for name in names)


def test_what_was_refused_often_does_no_harm(server, server_url, role):
    """A connection on which the same statements fail again and again does what is allowed next."""
    name, url = role()
    operator.grant(server_url, role=name, project="web", apply=True)
    store = Store(url, **NO_FLOORS)
    for number in range(12):
        with pytest.raises(ReadOnlyError, match="confined"):
            store.session(f"s{number}", "other")
        with store.session(f"s{number}", "web") as session:
            session.put(b"x\n")


def test_a_session_is_copied_to_a_role_of_a_project(server, server_url, role, tmp_path):
    """Where it is of that project; its chunks are inserted one by one then."""
    name, url = role()
    operator.grant(server_url, role=name, project="web", apply=True)
    folder = Store(tmp_path / "root", **NO_FLOORS)
    for project in ("web", "other"):
        with folder.session("chat", project) as session:
            session.put(LINES)
    store = Store(url, **NO_FLOORS)
    folder.copy_session("chat", "web", to=store)
    assert store.check() == 1
    with pytest.raises(ReadOnlyError, match="confined"):
        folder.copy_session("chat", "other", to=store)


def test_a_grant_disturbs_nobody(server, server_url, role):
    """Who has read one table and asks for another is answered: the grant gives way before the server ends one of the two."""
    name, _ = role()
    grant = threading.Thread(
        target=operator.grant, args=(server_url,), kwargs={"role": name, "project": "web", "apply": True}
    )
    with psycopg.connect(server_url) as connection:
        connection.execute("SELECT * FROM spillstore.event")
        grant.start()
        time.sleep(1.3)  # longer than the server waits before it looks for a deadlock
        connection.execute("SELECT * FROM spillstore.session")
        connection.execute("SELECT * FROM spillstore.chunk")
    grant.join()
    found = server.execute(
        "SELECT count(*) FROM pg_policy WHERE polname <> 'spillstore_all'", postgres.database_of(server_url)
    )
    assert found == [(len(schema.tables()),)]


def test_a_grant_does_not_wait_for_ever(server, server_url, role, monkeypatch):
    """For a table that somebody keeps locked; then nothing was granted."""
    name, url = role()
    monkeypatch.setattr(granting, "_PATIENCE", 0.0)
    with psycopg.connect(server_url) as other:
        other.execute("SELECT * FROM spillstore.event")
        with pytest.raises(
            LockedError, match=r"granting rights on .* failed: canceling statement due to lock timeout"
        ):
            operator.grant(server_url, role=name, apply=True)
    with pytest.raises(ReadOnlyError, match="permission denied for schema"):
        Store(url).session("chat")
