"""Databases: scripts for SQLite and PostgreSQL, and logs of a server with several sessions."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus.case import Place, case

if TYPE_CHECKING:
    from collections.abc import Iterator

_SERVER = ("postgres", "initdb", "pg_ctl", "psql")


def compile_locale(folder: Path, locale: str) -> Path:
    """Make a locale that the machine need not have; the folder is for ``LOCPATH``."""
    definition, _, charmap = locale.partition(".")
    command = ["localedef", "-i", definition, "-f", charmap, str(folder / locale)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not (folder / locale).is_dir():
        raise OSError(f"no locale {locale} could be made")
    return folder


@contextlib.contextmanager
def server(place: Place, locale: str = "C.UTF-8", **settings: str) -> Iterator[dict[str, str]]:
    """A PostgreSQL server on a socket of its own; the variables with which clients find it. Its log is ``log`` there."""
    folder = Path(tempfile.mkdtemp(prefix="spill-corpus-"))
    environment = place.environment() | {
        "LC_ALL": locale,
        "HOME": str(folder),
        "PGHOST": str(folder),
        "PGUSER": "app",
        "PGDATABASE": "postgres",
        "LOG": str(folder / "log"),
    }
    if locale != "C.UTF-8":
        environment["LOCPATH"] = str(compile_locale(folder, locale))
    user: dict[str, int] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        user = {"user": nobody.pw_uid, "group": nobody.pw_gid}
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "fsync": "off",
        "logging_collector": "off",
        "log_line_prefix": "%p %q%u@%d ",
    } | settings

    def run(*command: str) -> None:
        subprocess.run(
            command,
            cwd=folder,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **user,
        )

    data = str(folder / "data")
    try:
        run("initdb", "-D", data, "-U", "app", "-A", "trust", "-E", "UTF8")
        run(
            "pg_ctl",
            "-w",
            "-D",
            data,
            "-l",
            str(folder / "log"),
            "-o",
            " ".join(f"-c {key}='{value}'" for key, value in options.items()),
            "start",
        )
        try:
            yield {
                key: environment[key]
                for key in (
                    "PGHOST",
                    "PGUSER",
                    "PGDATABASE",
                    "LOG",
                    "LC_ALL",
                    *(["LOCPATH"] if "LOCPATH" in environment else []),
                )
            }
        finally:
            run("pg_ctl", "-D", data, "-m", "fast", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def inserts(count: int, table: str, odd: int, wrong: str) -> str:
    """Statements, one of which is wrong."""
    return "".join(
        wrong if n == odd else f"INSERT INTO {table} VALUES ({n}, 'name {n}', {n * 3});\n"
        for n in range(count)
    )


@case("sqlite-script-unique", "script", "sqlite3")
def sqlite_unique(place: Place) -> None:
    place.write(
        {
            "load.sql": ".echo on\nCREATE TABLE stock (id INTEGER PRIMARY KEY, name TEXT, pieces INTEGER CHECK (pieces >= 0));\n"
            + inserts(3000, "stock", 288, "INSERT INTO stock VALUES (17, 'name 288', 4);\n")
        }
    )
    place.shell("sqlite3 :memory: < load.sql")


@case("sqlite-script-missing-column", "script", "sqlite3")
def sqlite_column(place: Place) -> None:
    place.write(
        {
            "report.sql": "CREATE TABLE sale (day TEXT, amount INTEGER);\n"
            + "".join(f"INSERT INTO sale VALUES ('2026-01-{n % 28 + 1:02}', {n});\n" for n in range(5000))
            + "SELECT * FROM sale WHERE amount < 300;\nSELECT day, sum(amuont) FROM sale GROUP BY day;\nSELECT * FROM sale WHERE amount > 400;\n"
        }
    )
    place.shell("sqlite3 -box :memory: < report.sql")


@case("psql-aborted-transaction", "script", *_SERVER)
def psql_aborted(place: Place) -> None:
    place.write(
        {
            "load.sql": "CREATE TABLE seat (id int PRIMARY KEY, name text, price int);\nBEGIN;\n"
            + inserts(3000, "seat", 260, "INSERT INTO seat VALUES (260, 'name 260', 'free');\n")
            + "COMMIT;\n"
        }
    )
    with server(place) as variables:
        place.run("psql", "-X", "-a", "-f", "load.sql", **variables)


@case("psql-constraint-in-flood", "script", *_SERVER)
def psql_constraint(place: Place) -> None:
    place.write(
        {
            "load.sql": "CREATE TABLE depot (id int PRIMARY KEY);\nINSERT INTO depot SELECT generate_series(0, 99);\nCREATE TABLE tram (id int, name text, depot int REFERENCES depot);\n"
            + "".join(
                f"INSERT INTO tram VALUES ({n}, 'tram {n}', {n % 100 if n != 411 else 730});\nNOTIFY moved;\n"
                for n in range(600)
            )
            + "SELECT count(*) FROM tram;\n"
        }
    )
    with server(place) as variables:
        place.run("psql", "-X", "-e", "-f", "load.sql", **variables)


@case("postgres-log-deadlock", "log", *_SERVER)
def deadlock(place: Place) -> None:
    with server(
        place, log_statement="all", log_min_duration_statement="0", deadlock_timeout="100ms"
    ) as variables:
        sessions(place, variables)


def sessions(place: Place, variables: dict[str, str]) -> None:
    """Two sessions that wait for each other between hundreds of statements of two more; then the server's log."""
    place.run(
        "psql",
        "-X",
        "-c",
        "CREATE TABLE berth AS SELECT g AS id, 0 AS ship FROM generate_series(1, 9) g",
        keep=False,
        **variables,
    )
    busy = "".join(f"SELECT count(*) FROM berth WHERE ship = {n};\n" for n in range(120))
    place.write({
        "busy.sql": busy,
        "one.sql": busy[:2000] + "\n;BEGIN;\nUPDATE berth SET ship = 1 WHERE id = 1;\nSELECT pg_sleep(0.5);\nUPDATE berth SET ship = 1 WHERE id = 2;\nCOMMIT;\n" + busy,
        "two.sql": "BEGIN;\nUPDATE berth SET ship = 2 WHERE id = 2;\nSELECT pg_sleep(0.4);\nUPDATE berth SET ship = 2 WHERE id = 1;\nCOMMIT;\n" + busy,
    })  # fmt: skip
    place.shell(
        "psql -X -q -f one.sql > /dev/null 2>&1 & psql -X -q -f two.sql > /dev/null 2>&1 & psql -X -q -f busy.sql > /dev/null 2>&1; wait; psql -X -q -f busy.sql >/dev/null",
        keep=False,
        **variables,
    )
    place.run("cat", variables["LOG"])


@case("postgres-log-dies", "log", *_SERVER)
def backend_killed(place: Place) -> None:
    with server(place, log_statement="all", log_connections="on", log_disconnections="on") as variables:
        place.write({"busy.sql": "".join(f"SELECT {n} AS tick;\n" for n in range(150))})
        place.shell("for k in 1 2 3; do psql -X -q -f busy.sql > /dev/null; done", keep=False, **variables)
        pid = place.run(
            "psql",
            "-X",
            "-At",
            "-c",
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
            keep=False,
            **variables,
        )
        os.kill(int(pid), 9)
        time.sleep(2)
        place.shell("for k in 1 2 3; do psql -X -q -f busy.sql > /dev/null; done", keep=False, **variables)
        place.run("cat", variables["LOG"])


@case("psql-table-with-odd-row", "data", *_SERVER)
def odd_row(place: Place) -> None:
    with server(place) as variables:
        place.run(
            "psql",
            "-X",
            "-c",
            "SELECT n AS id, 'meter ' || n AS name, CASE WHEN n = 377 THEN 'NaN'::float ELSE 20 + n % 7 END AS reading, date '2026-01-01' + n % 300 AS taken FROM generate_series(1, 6000) n",
            **variables,
        )


@case("sqlite-csv-negative", "data", "sqlite3")
def csv(place: Place) -> None:
    place.run(
        "sqlite3",
        "-csv",
        "-header",
        ":memory:",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9000) SELECT n AS order_id, 'customer-' || (n % 40) AS customer, CASE WHEN n = 519 THEN NULL ELSE 100 + n % 50 END AS cents, CASE WHEN n = 519 THEN 'VOID' ELSE 'EUR' END AS currency FROM c",
    )
