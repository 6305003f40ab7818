"""How a server finds rows: each look-up is one descent of an index, whatever the server knows of the tables.

In a database with one artifact of many chunks and thousands of small ones: before it was analysed and after, with a plan
for the values at hand and with one for any values, as a prepared statement has it after its fifth execution.
"""

from __future__ import annotations

import os
import re

import postgres
import pytest

pytest.importorskip("psycopg")
import psycopg
from psycopg import sql

from spillstore import server as operator
from spillstore.engine.postgres import archive, control
from spillstore.engine.postgres import sql as _sql

SESSIONS, LARGE, CHUNKS = 3000, 7, 20_000  # session 7 has the artifact of so many chunks, and as many events
SMALL_TABLES = {"store", "doomed", "kept_session"}
_ROWS = {
    "session": f"SELECT key, key AS number FROM generate_series(1, {SESSIONS}) AS key",
    "place": f"SELECT key FROM generate_series(1, {SESSIONS}) AS key",
    "name": f"SELECT key FROM generate_series(1, {SESSIONS}) AS key",
    "claim": f"SELECT key FROM generate_series(1, {SESSIONS}) AS key",
    "artifact": f"SELECT key, number FROM generate_series(1, {SESSIONS}) AS key, generate_series(1, 4) AS number"
    f" UNION ALL SELECT {LARGE}, number FROM generate_series(5, 2000) AS number",
    "chunk": f"SELECT key, number, seq FROM generate_series(1, {SESSIONS}) AS key, generate_series(1, 4) AS number,"
    f" generate_series(0, 2) AS seq UNION ALL SELECT {LARGE}, 5, seq FROM generate_series(0, {CHUNKS}) AS seq",
    "event": f"SELECT key, number FROM generate_series(1, {SESSIONS}) AS key, generate_series(1, 8) AS number"
    f" UNION ALL SELECT {LARGE}, number FROM generate_series(9, {CHUNKS}) AS number",
    "kept_event": f"SELECT key, number FROM generate_series(1, {SESSIONS}) AS key, generate_series(1, 8) AS number",
}
# What stands in a column, where it is not the same as in every row.
_VALUES = {
    "session_key": "key",
    "artifact_key": "number",
    "event_key": "number",
    "seq": "seq",
    "name": "'name' || key",
    "owner": "'owner' || key",
    "artifact_id": "'art_' || number",
    "state": "CASE number % 100 WHEN 0 THEN 'open' ELSE 'sealed' END",
    "kind": "CASE number % 3 WHEN 0 THEN 'read' ELSE 'create' END",
    **dict.fromkeys(("created_us", "at_us"), "1700000000000000 + number * 1000"),
    **dict.fromkeys(("time_start", "line_start", "stdout_start", "stdout_line_start"), "seq * 65536"),
    **dict.fromkeys(("stderr_start", "stderr_line_start"), "seq * 100"),
    "shown": "CASE number % 50 WHEN 0 THEN decode(md5(number::text), 'hex') END",
    "content_digest": "decode(md5(number::text), 'hex')",
    "project_id": "'p' || key % 10",
}
_OF_TYPE = {"bigint": "1", "text": "'x'", "bytea": "'\\x78'", "timestamp with time zone": "now()"}


def fill(server, name):
    """Rows of all tables, which the server does not look at by itself."""
    for table, keys in _ROWS.items():
        columns = server.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped"
            f" AND attrelid = 'spillstore.{table}'::regclass ORDER BY attnum",
            name,
        )
        values = [_VALUES.get(column, _OF_TYPE[kind]) for column, kind in columns]
        server.execute(f"ALTER TABLE spillstore.{table} SET (autovacuum_enabled = false)", name)
        server.execute(
            f"INSERT INTO spillstore.{table} SELECT {', '.join(values)} FROM ({keys}) AS drawn", name
        )


@pytest.fixture(scope="module")
def filled(server):
    """Two databases: one of which the server has no statistics, and one that was analysed; that for a confined role, too."""
    if not isinstance(server, postgres.Server):
        pytest.skip("roles are made on a server of ours alone")
    found = {}
    for kind in ("new", "analysed"):
        found[kind] = server.new_database()
        fill(server, found[kind])
    server.execute("ANALYZE", found["analysed"])
    urls = {kind: server.url(name) for kind, name in found.items()}
    role = f"plans_{os.getpid()}"
    server.execute(f"CREATE ROLE {role} LOGIN")
    operator.grant(urls["analysed"], role=role, project="p7", apply=True)
    yield {**urls, "confined": urls["analysed"].replace("postgres@", f"{role}@")}
    for name in found.values():
        server.drop_database(name)
    server.execute(f"DROP ROLE {role}")


ASKED = {
    "session_key": LARGE,
    "artifact_key": 5,
    "artifact_id": "art_5",
    "content_digest": b"x" * 16,
    "low": "art_5",
    "high": "art_6",
    "after": 9000,
    "last": 9002,
    "first": 9000,
    "limit": 32,
    "line": 9000 * 65536,
    "time": 9000 * 65536,
    "position": 9000 * 65536,
    "since_us": 1_700_000_001_000_000,
    "until_us": 1_700_000_002_000_000,
    "before_us": 1_700_000_002_000_000,
    "before_key": 7,
    "shown": b"x" * 16,
    "owner": "owner7",
    "name": "name7",
    "lease": 30.0,
    "freed": 1,
    "interval": 60.0,
    "now": 1.0,
    "size": 1,
    **dict.fromkeys(("source", "tool_call_id", "kind", "actor", "project_id"), None),
}
# Go over what they are asked for: all artifacts or events of a session, or all sessions.
OF_MANY = {
    "ARTIFACT_DIGESTS", "ARTIFACTS_SUMMARY", "ARTIFACTS_TO_EVICT", "CHUNKS_WITHOUT_ARTIFACT", "SESSIONS_PAGE", "STORE_SIZE",
    "CLAIMS_ALL_LIVING", "DOOMED",
}  # fmt: skip
# May order what an index has found: few rows, or such that the server takes for few before it has looked at the table.
ORDERED = {"CLAIMS_LIVING", "ARTIFACTS_MATCHING"}
PAGES = {
    "ARTIFACTS_PAGE", "ARTIFACTS_AFTER", "EVENTS_WHOLE_AFTER", "EVENTS_PAGE", "EVENTS_AFTER", "EVENTS_DROP_FIRST", "EVENTS_DROP_OLD", "_PAGE",
    "DOOMED_ARTIFACTS", "DOOMED_EVENTS",
}  # fmt: skip
STATEMENTS = {
    name: text
    for module in (_sql, control, archive)
    for name, text in vars(module).items()
    if isinstance(text, str)
    and name.isupper()
    and not name.startswith("__")
    and re.match("SELECT|UPDATE|DELETE|WITH", text)
    and "FROM spillstore" in text + " FROM ".join(re.findall(r"UPDATE (\S+)", text))
}


def plan_of(connection, name, text):
    """The plan as nested dictionaries."""
    names = []
    for each in re.findall(r"%\((\w+)\)s", text):
        if each not in names:
            names.append(each)
    numbered = re.sub(r"%\((\w+)\)s", lambda match: f"${names.index(match[1]) + 1}", text)
    values = sql.SQL(", ").join(sql.Literal(ASKED[each]) for each in names)
    connection.execute(f"PREPARE {name} AS {numbered}".encode())
    execute = sql.SQL("EXPLAIN (FORMAT JSON) EXECUTE {}({})" if names else "EXPLAIN (FORMAT JSON) EXECUTE {}")
    ((found,),) = connection.execute(execute.format(sql.SQL(name), values)).fetchall()
    return found[0]["Plan"]


def nodes(plan):
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)


def problems(name, plan, may_sort):
    """What a plan has that it should not."""
    for node in nodes(plan):
        kind = node["Node Type"]
        limited = any(each["Node Type"] == "Limit" for each in nodes(node))  # so that there are few
        if kind == "Seq Scan" and node["Relation Name"] not in SMALL_TABLES:
            yield f"reads all of {node['Relation Name']}"
        if "Sort" in kind and not limited and name not in may_sort:
            yield "sorts"
        if kind in {"Hash Join", "Merge Join"} and name not in may_sort:
            yield "joins"
        if kind in {"Index Scan", "Index Only Scan", "Bitmap Index Scan"}:
            condition = node.get("Index Cond", "")
            if "session_key" not in condition and "name" not in condition:
                yield f"goes through {node['Index Name']}"


@pytest.mark.long
@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("statistics", ["new", "analysed", "confined"])
def test_look_ups_are_descents_of_an_index(filled, statistics, mode):
    """No table is read through, nothing is sorted, and every index is entered by the session or the name."""
    wrong = {}
    may_sort = ORDERED | (PAGES if statistics == "new" else set())
    with psycopg.connect(filled[statistics], autocommit=True) as connection:
        connection.execute(f"SET plan_cache_mode = {mode}")
        for name in STATEMENTS.keys() - OF_MANY:
            found = list(problems(name, plan_of(connection, name, STATEMENTS[name]), may_sort))
            if found:
                wrong[name] = found
    assert wrong == {}


def test_the_look_ups_are_these():
    """All that read a chunk are among those that never sort."""
    strict = STATEMENTS.keys() - OF_MANY - ORDERED - PAGES
    assert {
        name for name in STATEMENTS if name.startswith(("RANGE", "LINE", "BYTE", "TIME", "CHUNK_"))
    } <= strict
    assert len(strict) > 40
