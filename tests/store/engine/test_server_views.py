"""The views of a server: the same answers as those of a session's file, whatever the details of events hold."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from decimal import Decimal

import pytest
from postgres import database_of
from support import SEED

pytest.importorskip("psycopg")

import psycopg

from spillstore import Store
from spillstore.engine.sqlite import database, file_schema

NAMES = [statement.split()[2] for statement in file_schema.VIEWS]
WHOLE_ROWS = ("session", "artifact", "event")
ODD = [
    None,
    "",
    "no json",
    "{",
    "[1, 2]",
    "7",
    "null",
    '"text"',
    '{"tool": 1e400, "ms": 1e400, "bytes": -1e400, "start": "x"}',
    '{"ms": 1e1000000, "tool": "x"}',
    '{"tool": "nul \\u0000 and half \\ud800 a pair"}',
    '{"counts": [1, 2]}',
    '{"counts": {"a": "b", "c": [1], "d": null}}',
    '{"outcome": {"a": 1}, "truncated": "yes", "received": null, "calls": [2]}',
    "[" * 100_000,
    '{"tool": "' + "x" * 1_000_000 + '"}',
]


def drawn(session, draw):
    """Outputs of several tools, which are read, searched, refused, limited and deleted."""
    made = []
    for number in range(draw.randrange(4, 12)):
        tool = draw.choice(["bash", "make", "cat é"])
        limit = draw.choice([None, 65536])
        data = b"line of output\n" * draw.randrange(12_000)
        made.append(session.put(data, source=tool, limit=limit, policy="roll" if limit else None))
        with session.acting(draw.choice(["model", None]), f"call_{number}"):
            artifact = draw.choice(made)
            draw.choice([lambda a: a.tail(3), lambda a: a.search("output", limit=2), lambda a: a.info])(
                artifact
            )
    session.note("redaction", {"tool": "make", "counts": {"password": 2, "token": draw.randrange(9)}})
    session.note("preview", {"tool": "make", "truncated": True, "received": 10**12, "shown": 100, "ms": 0.25})
    session.note("preview", {"tool": "cat é", "truncated": False, "received": 7, "shown": 7})
    session.note("denied", {"tool": "bash", "id": "x", "why": "foreign"})
    session.count_passed("make", 50, calls=4)
    session.artifact(made[0].id).delete()


def as_file(server, name):
    """The rows of the one session of a database, in a file's tables with its views."""
    file = sqlite3.connect(":memory:")
    file.deserialize(database.empty_image())
    for table in WHOLE_ROWS:
        columns = [row[1] for row in file.execute(f"PRAGMA table_info({table})")][1:]
        rows = server.execute(f"SELECT {', '.join(columns)} FROM spillstore.{table}", name)
        marks = ", ".join("?" for _ in columns)
        file.executemany(f"INSERT INTO {table} (session_key, {', '.join(columns)}) VALUES (1, {marks})", rows)
    return file


def plain(rows):
    """In an order of their own, with sums and fractions as one type of number."""
    found = [tuple(float(v) if isinstance(v, (Decimal, int)) else v for v in row) for row in rows]
    return sorted(found, key=repr)


@pytest.mark.parametrize("seed", range(3))
def test_the_views_answer_as_those_of_a_file(server, server_url, seed):
    """For the same rows: each column of the file's view, behind the names of the project and the session."""
    name = database_of(server_url)
    with Store(server_url).session("chat", "web") as session:
        drawn(session, random.Random(SEED + seed if SEED else seed))
    with closing(as_file(server, name)) as file:
        for view in NAMES:
            asked = file.execute(f"SELECT * FROM {view}")
            columns = [each[0] for each in asked.description]
            with psycopg.connect(server_url) as connection:
                found = connection.execute(f"SELECT * FROM spillstore.{view}")
                assert [each.name for each in found.description] == ["project_id", "session_id", *columns]
                rows = found.fetchall()
            expected = [("web", "chat", *row) for row in asked]
            assert (view, plain(expected)) == (view, plain(rows))
            assert expected or view == "v_never_read"


def test_sessions_do_not_mix(server, server_url):
    """What counts for one session counts for no other, of whatever project; those without one have none."""
    name = database_of(server_url)
    store = Store(server_url)
    for project in ("web", None):
        with store.session("chat", project) as session:
            artifact = session.put(b"x\n" * 1000, source="make")
            session.count_passed("make", 50, calls=4)
            if project:
                artifact.tail(1)
    spilled = server.execute(
        "SELECT project_id, session_id, artifacts FROM spillstore.v_spilled_per_tool", name
    )
    assert {("web", "chat", 1), (None, "chat", 1)} == set(spilled)
    assert {(None, 4), ("web", 4)} == set(
        server.execute("SELECT project_id, calls FROM spillstore.v_calls_per_tool", name)
    )
    assert [(None, "chat")] == server.execute(
        "SELECT project_id, session_id FROM spillstore.v_never_read", name
    )


def test_no_detail_makes_a_view_fail(server, server_url):
    """Nor is the text of a preview shown, which is no event; what JSON names and no text holds is replaced."""
    name = database_of(server_url)
    with Store(server_url).session("chat") as session:
        session.put(b"x\n")
    kinds = ["read", "passed", "preview", "redaction", "limit", "denied", "rendered", "own"]
    with psycopg.connect(server_url) as connection:
        for number, (kind, detail) in enumerate((kind, detail) for kind in kinds for detail in ODD):
            connection.execute(
                "INSERT INTO spillstore.event (session_key, event_key, at_us, kind, detail)"
                " SELECT session_key, %s, %s, %s, %s FROM spillstore.session",
                (1000 + number, draw_time(number), kind, detail),
            )
    for view in NAMES:
        server.execute(f"SELECT * FROM spillstore.{view}", name)
    assert [("nul \ufffd and half \ufffd a pair",)] == server.execute(
        "SELECT tool FROM spillstore.v_denied WHERE tool LIKE 'nul%'", name
    )
    assert [(0,)] == server.execute("SELECT count(*) FROM spillstore.v_events WHERE kind = 'rendered'", name)


def draw_time(number):
    """Times as they are, and as no clock has them."""
    return [1_700_000_000_000_000, 0, -1, 2**63 - 1, -(2**63)][number % 5]


def test_a_view_shows_what_the_role_may_see(server, server_url):
    """With the rights of who asks, not of who made it."""
    assert [(True,)] == server.execute(
        "SELECT bool_and('security_invoker=true' = ANY(reloptions)) FROM pg_class"
        " WHERE relnamespace = 'spillstore'::regnamespace AND relkind = 'v'",
        database_of(server_url),
    )
