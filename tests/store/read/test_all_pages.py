"""Iteration gives all, whatever is fetched at a time; artifacts by their tool call, by URI, as text and line by line."""

from __future__ import annotations

import asyncio
import datetime as dt
import json

import pytest

from spillstore import aio
from spillstore.exceptions import (
    ArtifactNotFoundError,
    DroppedRangeError,
    InvalidSettingError,
    RangeTooLargeError,
    UsageError,
)
from spillstore.info import Page

COUNT = 230


@pytest.fixture
def many(plain_store):
    """A session of more artifacts than two pages hold, and their ids, the newest first."""
    with plain_store.session("s") as session:
        ids = [session.put(b"%d" % number, source=["even", "odd"][number % 2]).id for number in range(COUNT)]
        yield session, ids[::-1]


def test_iterating_goes_over_all_pages(many):
    """``for`` sees every artifact once, the newest first; a filter holds for all pages; a page still shows itself."""
    session, ids = many
    assert ids == [info.id for info in session.infos()]
    assert ids == [artifact.id for artifact in session.artifacts()]
    assert ids[::2] == [info.id for info in session.infos(source="odd")]
    page = session.infos()
    assert ids[:100] == [info.id for info in page.items]
    assert (100, 100) == (len(page), len(page.items))
    following = session.infos(cursor=page.cursor)
    assert ids[100:] == [info.id for info in following]
    assert ids[100:200] == [info.id for info in following.items]
    assert ids == [info.id for info in page], "a page can be iterated over again"
    assert "following" not in repr(page)


def test_a_limit_is_one_page(many):
    """Who asks for so many gets so many, and a cursor for the rest."""
    session, ids = many
    page = session.infos(limit=7)
    assert ids[:7] == [info.id for info in page]
    assert page.cursor is not None
    assert page == Page(page.items, page.cursor)


def test_events_are_all_there(many):
    """What happened is iterated over likewise."""
    session, ids = many
    assert ids == [event.artifact_id for event in session.events(kind="create")]
    assert 100 == len(session.events(kind="create").items)
    assert 7 == len(list(session.events(kind="create", limit=7)))


def test_pages_are_fetched_when_they_are_reached(many):
    """Who stops early has read one page; what is deleted meanwhile is not seen."""
    session, ids = many
    seen = iter(session.infos())
    assert ids[:100] == [next(seen).id for _ in range(100)]
    session.artifact(ids[150]).delete()
    assert [each for each in ids[100:] if each != ids[150]] == [info.id for info in seen]


def test_asyncio_goes_over_all_pages(many, loop):
    """``async for`` sees all, ``await`` gives a page, a limit is one page."""
    session, ids = many
    mirror = aio.Session(session)

    async def seen():
        return (
            [info.id async for info in mirror.infos()],
            [artifact.id async for artifact in mirror.artifacts(source="odd")],
            [event.artifact_id async for event in mirror.events(kind="create")],
            [info.id async for info in mirror.infos(limit=7)],
            [info.id for info in await mirror.infos()],
            [info.id for info in await asyncio.create_task(_awaited(mirror.infos(limit=7)))],
        )

    assert (ids, ids[::2], ids, ids[:7], ids[:100], ids[:7]) == loop.run(seen())


async def _awaited(listing):
    return await listing


# --- by tool call, by URI -----------------------------------------------------------------------------------


def test_artifacts_are_found_by_their_tool_call(session):
    """``find`` gives the newest of a call; the filter all of them; a call of nobody is an error."""
    first = session.put("1", tool_call_id="call_1").id
    other = session.put("2", tool_call_id="call_2").id
    again = session.put("3", tool_call_id="call_1").id
    session.put("4")
    assert [again, other] == [session.find(call).id for call in ("call_1", "call_2")]
    assert [again, first] == [info.id for info in session.infos(tool_call_id="call_1").items]
    assert [other] == [artifact.id for artifact in session.artifacts(tool_call_id="call_2").items]
    for missing in ("call_3", "", "\udcff"):
        with pytest.raises(ArtifactNotFoundError, match="no artifact of the tool call"):
            session.find(missing)
    with pytest.raises(InvalidSettingError, match="tool_call_id must be a string, not None"):
        session.find(None)


def test_a_tool_call_with_a_secret_is_found(session):
    """An id is looked for as it was stored: without what was taken out of it."""
    call = "password=hunter2xyzzy9 of call"
    artifact = session.put("1", tool_call_id=call)
    assert "hunter2" not in artifact.info.tool_call_id
    assert artifact.id == session.find(call).id


@pytest.mark.parametrize("form", ["artifact://{}", "artifact://{}/", "artifact://{}?stream=stderr"])
def test_a_uri_is_an_id(session, form):
    """Whoever takes an id takes the URI that a result names."""
    artifact = session.put("one")
    uri = form.format(artifact.id)
    assert artifact.id == session.artifact(uri).id
    assert session.exists(uri)
    assert ["seal", "create"] == [event.kind for event in session.events(artifact_id=uri).items][-2:]


@pytest.mark.parametrize("uri", ["artifact://", "artifact://art_1_a", "artifact://{}?stream=x", "file://{}"])
def test_another_uri_is_none(session, uri):
    """A URI of what is not there, or of another kind, finds nothing."""
    uri = uri.format(session.put("one").id)
    assert not session.exists(uri)
    with pytest.raises(ArtifactNotFoundError):
        session.artifact(uri)


# --- all of it, as text, by lines ---------------------------------------------------------------------------


@pytest.fixture
def mixed(session):
    """Two streams, the last line without an end."""
    with session.create() as writer:
        writer.write("one\n")
        writer.write("err\n", stream="stderr")
        writer.write(b"tw\xff\xc3\xa4")
    return session.artifact(writer.id)


def test_all_of_it(mixed):
    """Bytes, or text in which what is none is marked."""
    assert b"one\nerr\ntw\xff\xc3\xa4" == mixed.read()
    assert b"err\n" == mixed.read(stream="stderr")
    assert "one\nerr\ntw\ufffd\u00e4" == mixed.read_text()
    assert "one\ntw\xff\xc3\xa4" == mixed.read_text(stream="stdout", encoding="latin-1")
    with pytest.raises(RangeTooLargeError):
        mixed.read(max_bytes=3)
    for wrong in ({"errors": "strict"}, {"encoding": "none"}, {"errors": "none"}):
        with pytest.raises(UsageError, match="cannot be decoded"):
            mixed.read_text(**wrong)


def test_lines(mixed):
    """With their endings, of each view."""
    assert [b"one\n", b"err\n", b"tw\xff\xc3\xa4"] == list(mixed.lines())
    assert [b"one\n", b"tw\xff\xc3\xa4"] == list(mixed.lines(stream="stdout"))


@pytest.mark.parametrize(("newline", "end"), [("lf", b"\n"), ("cr", b"\r")])
def test_lines_of_many_chunks(session, newline, end):
    """However lines and chunks lie, the lines are those of the content."""
    lines = [b"x" * (number * 37 % 900) + end for number in range(2_000)] + [b"y" * 200_000 + end, end, b"z"]
    artifact = session.put(b"".join(lines), newline=newline)
    assert lines == list(artifact.lines())
    assert len(lines) == artifact.info.lines
    assert [] == list(session.put(b"").lines())


def test_a_long_line_is_refused(session):
    """A line that takes more memory than it may is named; one of just that size is given."""
    artifact = session.put(b"short\n" + b"x" * 99_999 + b"\n" + b"y" * 100_000)
    assert [6, 100_000, 100_000] == [len(line) for line in artifact.lines(max_bytes=100_000)]
    for most, found, number in ((99_999, 1, 2), (6, 1, 2), (5, 0, 1)):
        seen = []
        with pytest.raises(RangeTooLargeError, match=f"line {number} of .* more than max_bytes={most} bytes"):
            for line in artifact.lines(max_bytes=most):
                seen.append(line)  # what came before the error counts
        assert found == len(seen)


@pytest.mark.parametrize(
    ("content", "most", "found"),
    [
        (b"a\nbb\ncccc\n", 4, 2),
        (b"a\nbb\nccccc", 4, 2),
        (b"\n\nxx\n", 2, 2),
        (b"aaaa", 3, 0),
        (b"aaa\n", 3, 0),
    ],
)
def test_the_line_that_is_too_long_is_counted(session, content, most, found):
    """Lines before it are given, and its number follows theirs, in whichever chunk they are."""
    artifact = session.put(content)
    seen = []
    with pytest.raises(RangeTooLargeError, match=f"^line {found + 1} of "):
        seen += iter(artifact.lines(max_bytes=most))
    assert seen == content.splitlines(keepends=True)[: len(seen)]
    longest = max(map(len, content.splitlines(keepends=True)))
    assert content.splitlines(keepends=True) == list(artifact.lines(max_bytes=longest))


def test_lines_around_a_hole(session):
    """What was dropped is an error, or left out; then the parts on both sides are no line together."""
    artifact = session.put(
        b"".join(b"line %05d\n" % number for number in range(2_000)), limit=5_000, policy="roll"
    )
    with pytest.raises(DroppedRangeError):
        list(artifact.lines())
    hole = artifact.info.hole
    head, tail = artifact.read_bytes(0, hole.start), artifact.read_bytes(hole.end, artifact.info.size)
    expected = head.splitlines(keepends=True) + tail.splitlines(keepends=True)
    assert expected == list(artifact.lines(holes="skip"))
    assert artifact.info.kept == sum(map(len, expected))


def test_reading_is_recorded(plain_store):
    """One event a call, with what was given."""
    with plain_store.session("s") as session:
        artifact = session.put("one\ntwo\n")
        artifact.read()
        list(artifact.lines())
        assert [8, 8] == [event.detail["bytes"] for event in artifact.events("read")]


# --- times --------------------------------------------------------------------------------------------------


def test_times_are_dates_too(make_store, clock):
    """Beside the seconds there are times with a zone; what is printed as JSON is as it was."""
    store = make_store(clock=clock)
    with store.session("s") as session:
        info = session.put("x").info
        event = session.events().items[0]
        with session.create() as writer:
            assert session.artifact(writer.id).info.ended_at is None
    expected = dt.datetime(2023, 11, 14, 22, 13, 20, tzinfo=dt.UTC)
    assert [expected] * 3 == [info.created_at, info.ended_at, event.recorded_at]
    assert 1_700_000_000.0 == info.created
    (known,) = store.sessions()
    assert abs(known.used - known.used_at.timestamp()) < 1e-6
    assert not {"created_at", "ended_at"} & set(json.dumps(vars(info), default=str).split('"'))
