"""What operators of a server are told is true: sizes, roles, backups, and the example in containers."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import postgres
import pytest
import yaml
from benchmarks import server_sizing
from support import ROOT

from spillstore import Store
from spillstore.exceptions import ReadOnlyError
from spillstore_tools.cli import _invoke

PAGE = (ROOT / "docs" / "server_operations.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "server"
LINES = b"".join(b"line %d\n" % number for number in range(100_000))


def blocks(kind):
    """The page's blocks of a language."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_table_of_sizes_is_that_of_the_model():
    """``python -m benchmarks.server_sizing`` prints it."""
    (shown,) = re.findall(r"compared by a test. -->\n\n(.*?)\n<!-- End of sizes", PAGE, re.DOTALL)
    assert server_sizing.table(server_sizing.Load()) == shown


def test_the_model_grows_with_its_load():
    """Twice the sessions take twice the room; larger artifacts take more chunks; nothing else counts sessions."""
    one, two = (
        server_sizing.table(server_sizing.Load(sessions=number)) for number in (50_000_000, 100_000_000)
    )
    assert "| chunks, artifacts, events | 5,000 M, 1,000 M, 5,000 M |" in one
    assert "| chunks, artifacts, events | 10,000 M, 2,000 M, 10,000 M |" in two
    assert "| raw | 300 TB |" in one
    assert "| raw | 600 TB |" in two


@pytest.fixture
def roles(server, server_url):
    """The URL of the database for a member of each role that the page makes, with the rights that the page gives it."""
    if not isinstance(server, postgres.Server):
        pytest.skip("roles are made on a server of ours alone")
    database = postgres.database_of(server_url)
    (makes,) = (block for block in blocks("sql") if "CREATE ROLE" in block)
    (grants,) = (block for block in blocks("sh") if "spillstore grant" in block)
    made = re.findall(r"CREATE ROLE (\w+)", makes)
    urls = {}
    try:
        server.execute(makes, database)
        for line in grants.splitlines():
            arguments = shlex.split(line.replace("$URL", server_url))
            assert _invoke(arguments[1:]) == 0
        for role in made:
            server.execute(f"CREATE ROLE {role}_1 LOGIN IN ROLE {role}")
            urls[role] = server_url.replace("postgres@", f"{role}_1@")
        yield urls
    finally:
        for role in made:
            server.execute(f"DROP OWNED BY {role}", database)
            server.execute(f"DROP ROLE IF EXISTS {role}_1, {role}")


def test_the_roles_may_do_what_the_page_says(server_url, roles):
    """An agent does all that an owner does but upgrade, a reader reads alone, and who is confined to a project works there."""
    agent, reader, web = (Store(roles[f"spillstore_{name}"]) for name in ("agent", "reader", "web"))
    with agent.session("chat", project="web") as session:
        artifact = session.put(LINES, source="bash")
        assert artifact.tail(1) == b"line 99999\n"
        session.put(LINES, source="bash").delete()
    for store in (reader, web):
        with store.session("chat", project="web", read_only=True) as session:
            assert session.artifact(artifact.id).read_lines(7, 7) == b"line 6\n"
            session.check()
    for store in (reader, web):
        with pytest.raises(ReadOnlyError):
            store.session("another")
    with agent.session("chat", project="web") as session:
        assert len(session.events(kind="read").items) == 2  # the agent's own and that of who is confined
    with web.session("another", project="web") as session:
        session.put(LINES, source="bash")
    agent.delete("another", project="web")
    web.delete("chat", project="web")
    assert list(Store(server_url).sessions()) == []


def test_the_views_are_asked_as_on_the_page(server, server_url):
    """For secrets by session."""
    (statement,) = (block for block in blocks("sql") if "v_redactions" in block)
    with Store(server_url).session("chat", "web") as session:
        session.note("redaction", {"tool": "make", "counts": {"token": 2}})
    assert [("web", "chat", "token", 2)] == server.execute(statement, postgres.database_of(server_url))


def test_a_dump_restores_the_store(server, servers, server_url, tmp_path):
    """By the two commands of the page, into another database; every digest is right there."""
    with Store(server_url).session("chat") as session:
        artifact = session.put(LINES, source="bash")
    other = server.new_database(schema=False)
    (commands,) = (block for block in blocks("sh") if "pg_dump" in block)
    done = subprocess.run(
        ["bash", "-ec", commands],
        env={
            "PATH": f"{servers.binaries}:{os.environ['PATH']}",
            "URL": server_url,
            "OTHER_URL": server.url(other),
        },
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    restored = Store(server.url(other))
    assert restored.check() == 1
    with restored.session("chat", read_only=True) as session:
        assert session.artifact(artifact.id).read_bytes(0, len(LINES)) == LINES
    server.drop_database(other)


def test_the_view_of_dead_rows_shows_our_tables(server, server_url):
    """What the page asks of the server is answered there."""
    (statement,) = (block for block in blocks("sql") if "n_dead_tup" in block)
    assert "chunk" in {
        row[0] for row in server.execute(statement.replace("LIMIT 10", ""), postgres.database_of(server_url))
    }


@pytest.mark.slow
def test_the_demonstration_runs():
    """Eight processes write and read one store; all is there in the end, and nothing runs any more."""
    done = subprocess.run(
        [sys.executable, EXAMPLE / "demo.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in (
        r"    session alpha: 2 artifacts, 40,000 lines, .*; every digest is right",
        r"    session team: 4 artifacts, 80,000 lines, .*; every digest is right",
        r"The server is stopped, and its folder is gone\.",
    ):
        assert re.search(rf"^{line}$", done.stdout, re.MULTILINE)
    assert len(re.findall(r"^[AB]/reader: read ", done.stdout, re.MULTILINE)) == 12


def test_the_example_in_containers_names_what_there_is():
    """Its files are there, its image holds what it runs, and its services wait for one another."""
    services = yaml.safe_load((EXAMPLE / "compose.yaml").read_text())["services"]
    image = (EXAMPLE / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (.*) \S+$", image, re.MULTILINE)
    assert all((ROOT / name).exists() for names in copied for name in names.split())
    for service in services.values():
        if "build" in service:
            assert (EXAMPLE / service["build"]["context"]).resolve() == ROOT
            assert (ROOT / service["build"]["dockerfile"]).is_file()
            assert service["environment"]["SPILLSTORE_ROOT"].startswith("postgresql://spillstore@")
        assert set(service.get("depends_on", {})) <= set(services)
    for name in ("writer", "reader"):
        assert (ROOT / services[name]["command"][1]).is_file()
        assert "examples" in " ".join(copied)
