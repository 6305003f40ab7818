"""The page about DuckDB. `make datasette` runs it; its second part needs DuckDB's extension for SQLite besides."""

from __future__ import annotations

import glob
import subprocess
import sys
from pathlib import Path

import pytest
import test_examples

from spillstore import Store

duckdb = pytest.importorskip(
    "duckdb", reason="DuckDB is not installed; `make datasette` runs the examples of its page"
)
pytest.importorskip("pyarrow", reason="pyarrow is not installed; `make datasette` installs it beside DuckDB")
PAGE = test_examples.ROOT / "docs" / "duckdb.md"
TABLES = ("session", "artifact", "chunk", "event")
AS_ATTACHED = ("v_artifacts", "v_events", "v_calls_per_tool", "v_redactions")
AS_SCANNED = ("v_reads", "v_limits", "v_denied", "v_never_read", "v_spilled_per_tool")


def test_the_examples_print_what_the_page_says(tmp_path, monkeypatch):
    """In order, in one namespace and an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    names = {"__name__": "example"}
    found = test_examples.examples(PAGE)
    for example in found:
        printed = test_examples.run(example, names, f"duckdb.md:{example.line}")
        if example.output is not None:
            assert printed == example.output
    assert len(found) == 4 and names["connection"].close() is None


# In a program of its own, since the extension is a second copy of SQLite.
PROGRAM = """
import sys, duckdb
connection = duckdb.connect()
connection.execute(f"LOAD '{sys.argv[1]}'")
connection.execute(f"ATTACH '{sys.argv[2]}' AS s (TYPE sqlite, READ_ONLY)")
for name in sys.argv[3].split(","):
    for source in (f"s.{name}", f"sqlite_scan('{sys.argv[2]}', '{name}')"):
        try:
            print(name, len(connection.execute(f"SELECT * FROM {source}").fetchall()), end=" ")
        except duckdb.Error:
            print(name, "no", end=" ")
    print()
"""


def extension():
    """The file of the extension, from its package or as DuckDB has downloaded it; None if there is none."""
    pattern = f"v{duckdb.__version__}/**/sqlite_scanner.duckdb_extension"
    places = [
        f"{sys.prefix}/lib/python3*/site-packages/duckdb_extension_sqlite_scanner/extensions",
        str(Path.home() / ".duckdb/extensions"),
    ]
    return next((path for place in places for path in glob.glob(f"{place}/{pattern}", recursive=True)), None)


def test_what_the_extension_reads(tmp_path):
    """Tables and some views where the file is attached, every view by ``sqlite_scan``; as the page's table says."""
    path = extension()
    if path is None:
        pytest.skip(f"there is no extension sqlite_scanner for DuckDB {duckdb.__version__} here")
    with Store(tmp_path, free_disk_floor=0).session("s") as session:
        artifact = session.put("one\ntwo\n", source="make")
        session.put("three\n", source="cat")
        with session.acting("model", "call_1"):
            artifact.read_lines(1, 1)
            session.exists("x")
    names = TABLES + AS_ATTACHED + AS_SCANNED
    file = str(tmp_path / "_" / "s" / "session.db")
    run = [sys.executable, "-c", PROGRAM, path, file, ",".join(names)]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()
    words = {line.split()[0]: line.split()[1::2] for line in printed}
    assert all(attached == scanned for attached, scanned in map(words.get, TABLES + AS_ATTACHED)), words
    assert all(words[name][0] == "no" and words[name][1] != "no" for name in AS_SCANNED), words
    assert words["v_artifacts"] == ["2", "2"] and words["v_never_read"][1] == "1"
    table = PAGE.read_text(encoding="utf-8")
    for row in (AS_ATTACHED, AS_SCANNED):
        assert f"| {', '.join(f'`{name}`' for name in row)} |" in table
