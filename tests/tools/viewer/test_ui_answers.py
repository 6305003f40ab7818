"""What ``spillstore ui`` answers about logs: rows as they are stored, streams, holes, growth, files; of folders and of servers."""

from __future__ import annotations

import contextlib
import http.client
import importlib.resources
import json
import os
import re
import sqlite3
import threading

import pytest
from browsing import serving

from spillstore_tools.viewer.web.opened import Opened, Wanted

ASSETS = 60_000  # bytes that all of them may have


@pytest.fixture
def entered(root, start):
    with serving(start) as client:
        client.enter()
        yield client


@pytest.mark.long
@pytest.mark.everywhere
def test_rows_are_the_stored_lines(entered, store):
    """Rows of each stream have the text and the numbers that `read_lines` gives, also across blocks; a store on a server has the same pages."""
    with store.session("default") as session:
        with session.create(source="make", command="make test", tool_call_id="call_1") as writer:
            for number in range(1, 501):
                writer.write(b"line %d\n" % number, "stderr" if number % 5 == 0 else "stdout")
        artifact = session.artifact(writer.id)
        for stream in ("combined", "stdout", "stderr"):
            total = artifact.info.view(stream).lines
            for first, count in ((0, 10), (55, 20), (total - 3, 20), (0, 240)):
                stored = artifact.read_lines(first + 1, min(total, first + count), stream=stream)
                assert entered.rows(writer.id, first, count, stream=stream) == stored.decode().splitlines()
        assert entered.get("/log/go", session="default", id=writer.id, line=77).json["row"] == 76
    for path in ("/", "/artifacts", "/audit", "/charts", "/changes"):
        answer = entered.get(path, session="default", id=writer.id)
        assert answer.status == 200, answer.text
    assert "make test" in entered.get("/artifacts", session="default").seen


@pytest.mark.long
def test_reads_are_recorded_as_the_viewers(entered, store, put):
    """What was looked at is one event of the actor `viewer`, however many requests it took; nobody else's are changed."""
    artifact = put(b"".join(b"line %d\n" % number for number in range(1, 1001)))
    for first in range(0, 600, 60):
        entered.rows(artifact, first, 60)
    list(entered.events("/log/search", session="default", id=artifact, pattern="line 5"))
    entered.get("/download", session="default", id=artifact)
    entered.process.terminate()
    entered.process.wait(timeout=120)
    with store.session("default") as session:
        events = [event for event in session.events() if event.kind in {"read", "search", "export"}]
    assert {event.actor for event in events} == {"viewer"}
    [read] = [event for event in events if event.kind == "read"]
    assert (read.detail["first"], read.detail["last"]) == (1, 600)
    assert sorted(event.kind for event in events) == ["export", "read", "search"]


@pytest.mark.long
def test_a_search_tells_how_far_it_is(entered, put):
    """Its last event has the totals and a map; a wrong pattern is an error that names it."""
    artifact = put(b"".join(b"line %d\n" % number for number in range(1, 10_001)))
    events = entered.events("/log/search", session="default", id=artifact, pattern="line .*77$")
    assert (events[-1]["lines"], events[-1]["done"], events[-1]["share"]) == (100, True, 1.0)
    assert sum(events[-1]["map"]) == 100
    [wrong] = entered.events("/log/search", session="default", id=artifact, pattern="(")
    assert "'('" in wrong["error"]
    [gone] = entered.events("/log/search", session="default", id="art_1_0123456789abcdef", pattern="x")
    assert "art_1_0123456789abcdef" in gone["error"]


@pytest.mark.long
def test_next_and_previous(entered, put):
    """The next match and the next line that matters, in both directions, and none behind the last."""
    lines = [b"line %d" % number for number in range(1, 3001)]
    lines[999] = b"src/a.c:3:1: error: boom"
    artifact = put(b"\n".join(lines))
    where = {"session": "default", "id": artifact}

    def row(**query):
        while True:
            answer = entered.get("/log/next", **where, **query).json
            if answer["done"]:
                return answer["row"]

    assert row(what="telling", **{"from": -1}, by=1) == 999
    assert row(what="telling", **{"from": 999}, by=1) is None
    assert row(what="telling", **{"from": 2999}, by=-1) == 999
    assert row(what="match", pattern="line 2000", **{"from": 5}, by=1) == 1999
    assert row(what="match", pattern="line 2000", **{"from": 5}, by=-1) is None
    assert entered.get("/log/next", **where, what="match", **{"from": 5}).status == 400


@pytest.mark.long
def test_a_long_line_is_read_in_pieces(entered, put):
    """A row has the first 4 KiB of a line and says how much more there is; a page has the rest, piece by piece."""
    line = b"".join(b"%09d " % number for number in range(10_000))
    where = {"session": "default", "id": put(b"short\n" + line + b"\nshort\n")}
    assert "93.7 KiB more in this line" in entered.rows(where["id"], 1, 1)[0]
    found = [
        entered.get("/line", **where, line=2, **{"from": start}).seen for start in range(0, len(line), 32_768)
    ]
    assert "000003275" in found[0]
    assert "000009999" in found[-1]
    assert "Next" in found[0]
    assert "Next" not in found[-1]


@pytest.mark.long
def test_follow_tells_of_growth_until_the_end(entered, store):
    """Each event has how many lines there are; the last one comes with the seal, and then the stream ends."""
    with store.session("default") as session:
        writer = session.create(source="make")
        writer.write(b"one\n")
        writer.flush()
        told = []
        reader = threading.Thread(
            target=lambda: told.extend(entered.events("/log/follow", session="default", id=writer.id))
        )
        reader.start()
        writer.write(b"two\nthree\n")
        writer.close()
        reader.join(timeout=120)
    assert (told[-1]["state"], told[-1]["total"]) == ("sealed", 3)
    assert [each["total"] for each in told] == sorted(each["total"] for each in told)


@pytest.mark.long
def test_interrupted_and_rolled_artifacts_say_what_is_missing(entered, store, rolled):
    """The page names the reason, and the bytes and lines that were dropped; rows around the hole have their own numbers."""
    with store.session("default") as session:
        writer = session.create(source="make")
        writer.write(b"one\n")
        writer.abort("the disk was full")
    assert "the disk was full" in entered.get("/log", session="default", id=writer.id).seen
    page = entered.get("/log", session="default", id=rolled)
    assert "were dropped at its limit" in page.seen
    total = entered.get("/log/rows", session="default", id=rolled).json["total"]
    assert entered.rows(rolled, total - 1, 1) == ["line 0001000"]


@pytest.mark.long
def test_downloads_are_the_stored_bytes(entered, put):
    """All of a view, to the byte, as a file that no browser shows."""
    data = bytes(range(256)) * 1000
    artifact = put(data)
    answer = entered.get("/download", session="default", id=artifact)
    assert answer.body == data
    assert answer.headers["content-disposition"] == f'attachment; filename="{artifact}.log"'
    assert answer.headers["content-type"] == "application/octet-stream"


@pytest.fixture
def damaged(store, put):
    """Stores 30 chunks, and damages one of them; the id of their artifact."""

    def damaged(seq):
        artifact = put(os.urandom(30 * 65_536))
        file = store.root / "_" / "default" / "session.db"
        with contextlib.closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE chunk SET data = x'00' WHERE seq = ?", (seq,))
        return artifact

    yield damaged
    store.delete("default")


@pytest.mark.long
def test_a_damaged_download_breaks_off(entered, damaged):
    """Its length is that of the whole, so that a browser sees what it lacks; stderr has one line with the reason."""
    artifact = damaged(25)
    with pytest.raises(http.client.IncompleteRead) as raised:
        entered.get("/download", session="default", id=artifact)
    assert 30 * 65_536 == len(raised.value.partial) + raised.value.expected
    entered.process.terminate()
    (line,) = entered.process.stderr.read().splitlines()
    assert "chunk 25" in json.loads(line)["note"]


@pytest.mark.long
def test_a_download_that_cannot_begin_says_why(entered, damaged):
    """Damage in the first chunk is an answer with status 500 and a reason, and nothing on stderr."""
    answer = entered.get("/download", session="default", id=damaged(0))
    assert answer.status == 500
    assert "chunk 0" in answer.seen
    entered.process.terminate()
    assert entered.process.stderr.read() == ""


@pytest.mark.long
def test_downloads_tell_their_length_once_it_is_known(entered, store, rolled):
    """Without what was dropped; of an artifact that is being written it is not known."""
    answer = entered.get("/download", session="default", id=rolled)
    assert int(answer.headers["content-length"]) == len(answer.body) < 4096
    with store.session("default") as session, session.create(source="make") as writer:
        writer.write(b"one\n")
        writer.flush()
        growing = entered.get("/download", session="default", id=writer.id)
    assert growing.body == b"one\n"
    assert "content-length" not in growing.headers


@pytest.mark.long
def test_blanks_are_a_name_and_a_pattern(entered, store, put):
    """A session whose name is a blank is reached by its link, and blanks can be searched; a blank number is none."""
    with store.session(" ") as session:
        session.put("here\n", command="of a blank")
    (link,) = re.findall(r'href="(/artifacts\?session=\+)"', entered.get("/").text)
    answer = entered.get(link)
    assert answer.status == 200
    assert "of a blank" in answer.seen
    artifact = put(b"one\ntwo  blanks\n")
    where = {"session": "default", "id": artifact}
    assert entered.events("/log/search", **where, pattern="  ")[-1]["lines"] == 1
    assert entered.get("/artifacts", session="default", min_size=" ", limit=" ").status == 200


@pytest.mark.long
def test_numbers_are_those_of_what_is_shown(entered, put):
    """Of lines and bytes behind the last, a saved file and a piece of a line name those that they have; of nothing they name none."""
    three = {"session": "default", "id": put(b"one\ntwo\nthree\n")}
    saved = entered.get("/save", **three, first=10**17)
    assert "lines 3 to 3 of 3 lines" in saved.seen
    assert f"{three['id']}-3-3.html" in saved.headers["content-disposition"]
    empty = {"session": "default", "id": put(b"")}
    saved = entered.get("/save", **empty)
    assert f"combined of {empty['id']}: 0 lines, 0 bytes" in saved.seen
    assert f'"{empty["id"]}.html"' in saved.headers["content-disposition"]
    long = {"session": "default", "id": put(b"x" * 40_000)}
    assert "bytes 32,768 to 40,000 of 40,000 bytes" in entered.get("/line", **long, **{"from": 10**17}).seen


@pytest.mark.long
def test_a_uri_names_its_stream(entered, store):
    """Everywhere, unless another stream is asked for; links name both apart."""
    with store.session("default") as session, session.create(source="make") as writer:
        writer.write(b"out\n", "stdout")
        writer.write(b"err\n", "stderr")
    uri = f"artifact://{writer.id}?stream=stderr"
    assert entered.rows(uri, 0, 10) == ["err"]
    assert entered.rows(uri, 0, 10, stream="stdout") == ["out"]
    assert entered.get("/download", session="default", id=uri).body == b"err\n"
    page = entered.get("/log", session="default", id=uri).text
    assert f'href="/log?session=default&amp;id={writer.id}"' in page
    assert f'href="/download?session=default&amp;id={writer.id}&amp;stream=stderr"' in page


@pytest.mark.long
def test_a_saved_file_needs_nothing_and_is_bounded(entered, put):
    """It loads nothing and runs nothing; of more than it may hold it says which lines are left out."""
    artifact = put(b"".join(b"%d <b>bold</b> \x1b[31mred\x1b[0m\n" % number for number in range(1, 30_001)))
    small = entered.get("/save", session="default", id=artifact, first=10, last=12).text
    assert all(f"{number} &lt;b&gt;bold" in small for number in (10, 11, 12))
    assert "13 &lt;b&gt;" not in small
    assert "default-src &#x27;none&#x27;" in small
    assert not any(word in small for word in ("<script", "<link", "http://", "https://", "left out"))
    assert ".f1{" in small
    assert ".f77{" not in small
    large = entered.get("/save", session="default", id=artifact, first=1, last=30_000)
    assert len(large.body) <= 2 * 1024 * 1024
    assert "are left out" in large.text


@pytest.mark.long
def test_changes_since_the_run_before(entered, store):
    """What is new and what is gone, with links to the lines; of the first run, that there is none before."""
    with store.session("default") as session:
        ids = []
        for middle in (b"same\n", b"src/a.c:3:1: error: boom\n"):
            with session.create(source="bash", command="make") as writer:
                writer.write(b"begin\n" + middle + b"end\n")
            ids.append(writer.id)
    page = entered.get("/changes", session="default", id=ids[1])
    assert "1 new line, 1 gone, 2 in both" in page.seen
    assert "src/a.c:3:1: error: boom" in page.seen
    assert "#L2" in page.text
    assert (
        "No artifact of the same command came before it"
        in entered.get("/changes", session="default", id=ids[0]).seen
    )


def test_assets_are_few_and_small():
    """Style, script and icon have 60,000 bytes at most, and name no other server."""
    folder = importlib.resources.files("spillstore_tools.viewer.web") / "assets"
    files = {each.name: each.read_bytes() for each in folder.iterdir()}
    assert sorted(files) == ["icon.svg", "ui.css", "ui.js"]
    assert sum(map(len, files.values())) <= ASSETS
    assert b"://" not in files["ui.css"] + files["ui.js"]


def test_logs_that_nobody_reads_are_closed(store, put):
    """A log stays open while it is asked for, and is closed when nobody has for a while; a session that was deleted is none."""
    artifact = put(b"one\n")
    now = [0.0]
    opened = Opened(store, lambda: now[0])
    wanted = Wanted("default", None, artifact, "combined", None)
    with opened.reading(wanted) as first:
        now[0] = 100.0
        opened.close_idle()
        with opened.reading(wanted) as second:
            assert second is first
    opened.close_idle()
    with opened.reading(wanted) as again:
        assert again is first
    now[0] = 200.0
    opened.close_idle()
    with opened.reading(wanted) as fresh:
        assert fresh is not first
        assert [row.data for row in fresh.log.rows(0, 5)] == [b"one"]
    opened.close()
