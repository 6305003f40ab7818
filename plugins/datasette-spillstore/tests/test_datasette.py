"""Datasette with the plugin, over sessions that others write meanwhile. `make datasette` runs it with each version of Datasette."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import os
import re
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip(
    "datasette",
    reason="Datasette is not installed; `make datasette` runs these tests with two versions of it",
)
pytest.importorskip(
    "datasette_spillstore", reason="datasette-spillstore is not installed; `make datasette` installs it"
)

from datasette.app import Datasette
from datasette.utils import StartupError

from datasette_spillstore import sessions
from datasette_spillstore.examples import EXAMPLES
from datasette_spillstore.lines import MOST_BYTES
from spillstore import Store

# What Datasette prints of a function that fails in SQL is an exception that nobody raised, for pytest.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

HERE = Path(__file__).parents[1]
LINES = [f"line {number}" for number in range(1, 5001)]
TEXT = "".join(f"{line}\n" for line in LINES)
HOSTILE = "<script>alert(1)</script> & \x1b]0;t\x07 \u202egpj.exe 'x\" \x00\n"


@pytest.fixture
def root(tmp_path):
    """A store with two sessions, of which one has a project and names that need quoting."""
    store = Store(tmp_path / "out", free_disk_floor=0, redact=False)
    with store.session("chat-42") as session, session.acting("model", "call_1"):
        made = session.put(TEXT, source="make", command="make test")
        made.read_lines(5, 6)
        with session.create(source="two") as writer:
            writer.write(b"out 1\n", "stdout")
            writer.write(b"err 1\n", "stderr")
            writer.write(b"out 2\n", "stdout")
        session.put(HOSTILE, source="<b>tool", command="echo <i>\x1b[31m")
    with store.session("Weird %41?#", project="Web/UI") as session:
        session.put("other\n", source="x")
    return tmp_path / "out"


def ids(root, name="chat-42", project=None):
    """Ids of a session's artifacts by their tool."""
    with Store(root, audit="off").session(name, project, read_only=True) as session:
        return {each.source: each.id for each in session.infos()}


def run(work, **options):
    """What ``work`` does with a Datasette that was started."""
    root = options.pop("root", None)
    if root is not None:
        given = {"plugins": {"datasette-spillstore": {"root": str(root)}}}
        options["config" if sessions._KEEPS_COUNT else "metadata"] = given

    async def inside():
        datasette = Datasette(options.pop("files", []), **options)
        await datasette.invoke_startup()
        try:
            return await work(datasette)
        finally:
            for database in datasette.databases.values():
                database.close()

    return asyncio.run(inside())


def get(path, **options):
    """The answer to one request."""

    async def work(datasette):
        return await datasette.client.get(path, follow_redirects=True)

    return run(work, **options)


def shown(answer):
    """The lines of a page, by their numbers."""
    assert answer.status_code == 200, answer.text
    found = re.findall(r'<tr id="L(\d+)"><td>\d+</td><td>(.*?)</td></tr>', answer.text, re.DOTALL)
    return {int(number): html.unescape(text) for number, text in found}


def rows(path, **options):
    answer = get(path, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()["rows"]


def sql(database, statement, **values):
    return f"/{database}.json?" + urlencode({"sql": statement, "_shape": "objects", **values})


# --- names ------------------------------------------------------------------------------------------------------------


def names(**options):
    async def work(datasette):
        return sorted(name for name in datasette.databases if not name.startswith("_"))

    return run(work, **options)


def test_sessions_have_names_of_their_own(root):
    """Of files that were given, and of a store that the configuration names; each is there once."""
    files = [str(each) for each in sorted(root.glob("*/*/session.db"))]
    assert names(files=files) == names(root=root) == names(files=files, root=root)
    assert names(root=root) == ["Web/UI/Weird %41?#", "chat-42"]


def test_another_database_stays_as_it_is(tmp_path):
    """Only sessions are given another name."""
    with contextlib.closing(sqlite3.connect(tmp_path / "session.db")) as connection, connection:
        connection.execute("CREATE TABLE session (a)")
    assert names(files=[str(tmp_path / "session.db")]) == ["session"]


@pytest.mark.parametrize("name", ["-", "favicon.ico", "a.json", "_internal", "~", "a/b"])
def test_any_name_of_a_session_can_be_opened(tmp_path, name):
    """Also one that Datasette has for itself."""
    with Store(tmp_path, free_disk_floor=0).session(name) as session:
        session.put("one\n", source="x")

    async def work(datasette):
        (found,) = [
            each for each in datasette.databases.values() if isinstance(each, sessions.SessionDatabase)
        ]
        return await datasette.client.get(f"{datasette.urls.database(found.name)}/-/spillstore")

    assert "Artifacts" in run(work, root=tmp_path).text


def test_new_sessions_are_found_without_a_restart(root):
    """By the list of databases, and by their own address; one that is gone goes, and one made anew is the new one."""
    store = Store(root, free_disk_floor=0)

    async def work(datasette):
        get = datasette.client.get
        with store.session("later", project="p") as session:
            session.put("later\n", source="x")
        assert "p/later" in (await get("/")).text
        with store.session("direct") as session:
            session.put("direct\n", source="first")
        assert "first" in (await get("/direct/-/spillstore")).text
        question = sql("direct", "SELECT source FROM artifact")
        assert (await get(question, follow_redirects=True)).json()["rows"] == [{"source": "first"}]
        await asyncio.to_thread(store.delete, "direct")
        assert (await get("/direct/-/spillstore")).status_code == 404
        with store.session("direct") as session:
            session.put("anew\n", source="second")
        assert (await get(question, follow_redirects=True)).json()["rows"] == [{"source": "second"}]
        await asyncio.to_thread(store.delete, "later", "p")
        assert "p/later" not in (await get("/")).text
        assert (await get("/nothing/-/spillstore")).status_code == 404

    run(work, root=root)


def opened():
    """What this process has open of the session called short, deleted or not."""
    links = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [each for each in links if "/short/" in each or "/.gone-" in each]


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="counts descriptors where the system lists them"
)
def test_a_session_that_is_gone_is_let_go_of(root):
    """No descriptor of its files stays open."""
    store = Store(root, free_disk_floor=0)

    async def work(datasette):
        for _ in range(3):
            with store.session("short") as session:
                session.put("x\n", source="x")
            assert (await datasette.client.get("/short")).status_code == 200
            await asyncio.to_thread(store.delete, "short")
            assert (await datasette.client.get("/short")).status_code == 404
        return opened()

    assert run(work, root=root) == []


def test_a_store_on_a_server_is_refused():
    """With what to do instead."""
    with pytest.raises(StartupError, match="schema spillstore"):
        names(root="postgresql://u:secret@host/db")


# --- sql --------------------------------------------------------------------------------------------------------------

CHUNKS = "FROM chunk JOIN artifact USING (session_key, artifact_key) WHERE source = 'make' ORDER BY seq"


def test_chunks_are_text_in_sql(root):
    """All chunks of an artifact in order are its text."""
    found = rows(sql("chat-42", f"SELECT spillstore_text(artifact_id, seq) AS text {CHUNKS}"), root=root)
    assert "".join(each["text"] for each in found) == TEXT


def test_a_damaged_chunk_is_an_error(root):
    """And so is its page, which says what is wrong; other artifacts are shown."""
    with contextlib.closing(sqlite3.connect(root / "_/chat-42/session.db")) as connection, connection:
        connection.execute("UPDATE chunk SET data = CAST(data || x'00' AS BLOB) WHERE artifact_key = 1")
    name = ids(root)
    answer = get(sql("chat-42", f"SELECT spillstore_text(artifact_id, seq) AS text {CHUNKS}"), root=root)
    assert answer.status_code == 400 and "user-defined function" in answer.text
    answer = get(f"/chat-42/-/spillstore/{name['make']}", root=root)
    assert answer.status_code == 500 and "damaged" in answer.text and "line 1" not in answer.text
    assert shown(get(f"/chat-42/-/spillstore/{name['two']}", root=root))[1] == "out 1"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.question)
def test_every_question_has_an_answer(root, example):
    """Each is in the README to the letter, and on the session's page, and runs."""
    assert example.sql.replace("|", "\\|") in (HERE / "README.md").read_text(encoding="utf-8")
    values = {"word": "line 4999", "artifact_id": ids(root)["make"]}
    found = rows(sql("chat-42", example.sql, **values), root=root)
    if "LIKE" in example.sql:
        assert [each["artifact_id"] for each in found] == [values["artifact_id"]]
    page = get("/chat-42/-/spillstore", root=root)
    assert html.escape(example.question) in page.text


def test_nothing_can_be_written(root):
    """Datasette's own way to write to a database is refused; the file does not change."""

    async def work(datasette):
        database = datasette.databases["chat-42"]
        with pytest.raises(sqlite3.OperationalError, match="read-only"):
            await database.execute_write("DELETE FROM chunk")
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            await database.execute_fn(lambda connection: connection.execute("DELETE FROM chunk"))

    run(work, root=root)


# --- pages ------------------------------------------------------------------------------------------------------------


def test_a_cell_with_an_artifacts_id_leads_to_its_page(root):
    """In tables, views and results; not in what is no id."""
    name = ids(root)["make"]
    link = f'<a href="/chat-42/-/spillstore/{name}">{name}</a>'
    for path in (
        "/chat-42/v_artifacts",
        "/chat-42/artifact",
        f"/chat-42?{urlencode({'sql': 'SELECT artifact_id FROM artifact'})}",
    ):
        assert link in get(path, root=root).text
    statement = "SELECT artifact_id || '<b>' AS a FROM artifact"
    assert (
        "<b>" not in get(f"/chat-42?{urlencode({'sql': statement})}", root=root).text.partition("<tbody>")[2]
    )


@pytest.mark.parametrize("start", [1, 2, 777, 4801, 4950, 5000, 5001, 10**9])
def test_a_page_holds_lines_from_any_place(root, start):
    """200 of them, or as many as are asked for; never other ones."""
    name = ids(root)["make"]
    for count in (200, 7):
        answer = get(f"/chat-42/-/spillstore/{name}?start={start}&lines={count}", root=root)
        expected = dict(enumerate(LINES[start - 1 : start - 1 + count], start))
        assert shown(answer) == expected


def test_pages_one_after_the_other_are_the_artifact(root):
    """The link to the next page leads to the line behind the last."""
    path, found = f"/chat-42/-/spillstore/{ids(root)['make']}?lines=999", {}
    while path:
        answer = get(path, root=root)
        found |= shown(answer)
        link = re.search(r'<a href="([^"]*)">Next</a>', answer.text)
        path = link and html.unescape(link[1])
    assert list(found.values()) == LINES


def test_a_page_of_one_stream(root):
    """Each has its own numbers."""
    path = f"/chat-42/-/spillstore/{ids(root)['two']}"
    assert shown(get(f"{path}?stream=stdout", root=root)) == {1: "out 1", 2: "out 2"}
    assert shown(get(f"{path}?stream=stderr", root=root)) == {1: "err 1"}
    assert list(shown(get(path, root=root)).values()) == ["out 1", "err 1", "out 2"]


def test_a_search_lists_lines_with_links_to_them(root):
    """A page of matches, and more of them behind a cursor."""
    name = ids(root)["make"]
    answer = get(f"/chat-42/-/spillstore/{name}?search=7%24", root=root)
    found = re.findall(r'<tr><td><a href="([^"]*)">(\d+)</a></td><td>(.*?)</td></tr>', answer.text)
    assert [int(line) for _, line, _ in found] == list(range(7, 500, 10))
    assert html.unescape(found[10][0]).endswith("start=102#L107")
    assert shown(get(html.unescape(found[10][0]), root=root))[107] == "line 107"
    more = html.unescape(re.search(r'<a href="([^"]*)">Go on</a>', answer.text)[1])
    assert ">507</a>" in get(more, root=root).text


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("start=0", 400), ("start=x", 400), ("start=" + "9" * 30, 400), ("lines=1001", 400), ("stream=both", 400), ("search=(", 400), ("search=a&cursor=x", 400),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(root, asked, status):
    """With what would."""
    answer = get(f"/chat-42/-/spillstore/{ids(root)['make']}?{asked}", root=root)
    assert answer.status_code == status, answer.text


def test_what_is_not_there_is_not_found(root):
    """Neither an artifact of another session, nor a session."""
    other = ids(root, "Weird %41?#", "Web/UI")["x"]
    for path in (f"/chat-42/-/spillstore/{other}", "/chat-42/-/spillstore/x", "/_memory/-/spillstore"):
        assert get(path, root=root, memory=True).status_code == 404


def test_hostile_bytes_do_nothing(root):
    """Markup, controls and what turns text around, in lines, names, commands, matches, addresses and errors."""
    name = ids(root)["<b>tool"]
    for path in (
        f"/chat-42/-/spillstore/{name}",
        f"/chat-42/-/spillstore/{name}?search=script",
        "/chat-42/-/spillstore",
        f"/chat-42/-/spillstore/{name}?search=%3Cscript%3E%28",
        f"/chat-42/-/spillstore/{name}?stream=%3Cscript%3E%22",
        "/%3Cscript%3E/-/spillstore",
    ):
        answer = get(path, root=root)
        inside = answer.text.partition("<h1>")[2].partition("<footer")[0]
        assert "<h1>" in answer.text and inside
        for bad in ("<script>", "<b>tool", "<i>", "\x1b", "\x07", "\x00", "\u202e", '<script>"'):
            assert bad not in inside, (path, bad)
    assert shown(get(f"/chat-42/-/spillstore/{name}", root=root))[1].startswith(
        "<script>alert(1)</script> & ␛]0;t␇ <U+202E>gpj.exe"
    )


def test_a_page_is_bounded_whatever_the_lines(tmp_path):
    """Of a line that is longer than a page the rest is counted, and the lines behind it are there."""
    long, text = "x" * (3 * MOST_BYTES), "first\n" + "y" * 30_000 + "\n"
    store = Store(tmp_path, free_disk_floor=0)
    with store.session("s") as session:
        name = session.put(text + long + "\nlast\n" + ("z" * 9000 + "\n") * 500, source="x").id
    answer = get(f"/s/-/spillstore/{name}", root=tmp_path)
    assert list(shown(answer)) == [1, 2]
    assert "more characters of this line" in shown(answer)[2]
    answer = get(f"/s/-/spillstore/{name}?start=3", root=tmp_path)
    assert (
        len(answer.text) < 3 * MOST_BYTES and "line 3 has more than" in answer.text and "Next" in answer.text
    )
    assert list(shown(get(f"/s/-/spillstore/{name}?start=4", root=tmp_path)))[:2] == [4, 5]


@pytest.mark.parametrize("stream", ["combined", "stdout"])
def test_what_was_dropped_is_said_in_its_place(tmp_path, stream):
    """Lines before and behind the hole have their numbers, and every page says what it lacks."""
    with Store(tmp_path, free_disk_floor=0).session("s") as session:
        with session.create(source="x", limit=131072, policy="roll") as writer:
            for number in range(1, 60_001):
                writer.write(b"line %d\n" % number)
        artifact = session.artifact(writer.id)
        hole = artifact.info.view(stream).hole
    path = f"/s/-/spillstore/{writer.id}?stream={stream}&lines=1000&start="
    for start in (hole.first_line - 500, hole.first_line, hole.first_line + 5, hole.last_line - 100, hole.last_line, hole.last_line + 1, 59_990):  # fmt: skip
        answer = get(f"{path}{start}", root=tmp_path)
        expected = {
            number: f"line {number}"
            for number in range(start, min(start + 1000, 60_001))
            if not hole.first_line <= number <= hole.last_line
        }
        assert shown(answer) == expected
        assert ("are gone" in answer.text) == (start <= hole.last_line)


def test_who_may_not_see_the_tables_does_not_see_the_pages(root):
    """Permissions of a table hold for the pages that show what is in it."""
    name = ids(root)["make"]
    denied = {"databases": {"chat-42": {"tables": {"chunk": {"allow": {"id": "root"}}}}}}
    options = {"config" if sessions._KEEPS_COUNT else "metadata": denied}
    files = [str(root / "_/chat-42/session.db")]
    assert get(f"/chat-42/-/spillstore/{name}", files=files, **options).status_code == 403
    denied["databases"] = {"chat-42": {"allow": {"id": "root"}}}
    for path in (f"/chat-42/-/spillstore/{name}", "/chat-42/-/spillstore"):
        assert get(path, files=files, **options).status_code == 403


# --- beside writers ---------------------------------------------------------------------------------------------------

WRITER = """
import sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0)
with store.session("chat-42") as session:
    with session.create(source="live") as writer:
        print(writer.id, flush=True)
        for line in sys.stdin:
            writer.write(line)
            writer.flush()
            print("flushed", flush=True)
    print(session.check().artifacts, flush=True)
"""


def test_writers_are_not_disturbed(root):
    """Each page shows what was flushed, while another process writes; nothing it wrote is lost, and the file is sound."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    async def work(datasette):
        name = child.stdout.readline().strip()
        path = f"/chat-42/-/spillstore/{name}"
        for number in range(1, 41):
            child.stdin.write(f"live {number}\n")
            child.stdin.flush()
            assert child.stdout.readline() == "flushed\n"
            found = shown(await datasette.client.get(f"{path}?lines=1000"))
            assert {each: f"live {each}" for each in range(1, number + 1)}.items() <= found.items()
            question = sql("chat-42", "SELECT lines FROM v_artifacts WHERE source = 'live'")
            answer = await datasette.client.get(question, follow_redirects=True)
            assert answer.json()["rows"][0]["lines"] >= number
        child.stdin.close()
        assert child.stdout.readline() == "4\n"

    with child:
        run(work, root=root)
    assert child.returncode == 0
    with Store(root).session("chat-42", read_only=True) as session:
        assert session.check().artifacts == 4


def test_reading_records_nothing(root):
    """Neither pages nor SQL are events of the session."""
    with Store(root, audit="off").session("chat-42", read_only=True) as session:
        before = [event.kind for event in session.events()]
    get(f"/chat-42/-/spillstore/{ids(root)['make']}", root=root)
    get(f"/chat-42/-/spillstore/{ids(root)['make']}?search=a", root=root)
    with Store(root, audit="off").session("chat-42", read_only=True) as session:
        assert [event.kind for event in session.events()] == before


def test_a_session_of_a_store_is_never_immutable(root, tmp_path):
    """``--immutable`` is refused for one, and taken for a copy that lies elsewhere."""
    path = root / "_/chat-42/session.db"
    with pytest.raises(StartupError, match="without --immutable"):
        names(immutables=[str(path)])
    copy = tmp_path / "sent.db"
    copy.write_bytes(path.read_bytes())
    copy.chmod(0o600)
    assert names(immutables=[str(copy)]) == ["chat-42"]
    name = ids(root)["make"]
    assert shown(get(f"/chat-42/-/spillstore/{name}", immutables=[str(copy)]))[1] == "line 1"
    assert shown(get(f"/chat-42/-/spillstore/{name}", files=[str(copy)]))[1] == "line 1"


def test_a_second_copy_of_sqlite_is_refused():
    """Python's is taken, any other refused."""
    sessions.check_sqlite(sqlite3)
    with pytest.raises(StartupError, match="pysqlite3"):
        sessions.check_sqlite(json)


def test_the_distribution_names_what_it_needs():
    """Its entry point is that of Datasette's plugins, and its templates lie in the package."""
    about = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert about["entry-points"]["datasette"] == {"spillstore": "datasette_spillstore"}
    assert {each.name for each in (HERE / "datasette_spillstore" / "templates").iterdir()} == {
        "spillstore_artifact.html", "spillstore_failed.html", "spillstore_session.html",
    }  # fmt: skip
