"""``put``: what content may be, what is refused, and that a refusal leaves nothing behind."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from spillstore import aio
from spillstore.exceptions import SpillstoreError, StorageError, UsageError


def broken():
    raise ValueError("not to be had")
    yield b""


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ({"a": 1}, r"bytes, text, a path or an iterable of bytes, not dict; .*json\.dumps"),
        ({}, "not dict"),
        ({b"a"}, "not set"),
        (None, "not NoneType"),
        (3, "not int"),
        (object(), "not object"),
        (["a", "b"], r"a list of bytes, and this one holds str; join texts .*json\.dumps"),
        ([b"a", 3], "holds int"),
        ((b"a", None), "holds NoneType"),
        (lambda: iter([3]), "a piece of the content is of type int, not bytes"),
        (Path("/nowhere/at/all"), "/nowhere/at/all cannot be read: No such file"),
        (Path("/"), "/ cannot be read: Is a directory"),
        (Path("a\0b"), "cannot be read: embedded null"),
    ],
)
def test_what_is_no_content_is_refused_before_anything_is_begun(session, content, shown):
    """It is a usage error that says what content may be, and no artifact is left."""
    with pytest.raises(UsageError, match=shown):
        session.put(content() if callable(content) else content)
    assert [] == session.infos().items
    assert [] == [event.kind for event in session.events(kind="create")]


def test_what_cannot_be_read_is_not_begun(session):
    """An iterable that fails at its first piece raises its own error, and nothing is left."""
    with pytest.raises(ValueError, match="not to be had"):
        session.put(broken())
    assert [] == session.infos().items


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_a_path_is_read(session, tmp_path, size):
    """The file's bytes are stored, not its name."""
    path = tmp_path / "log"
    path.write_bytes(b"x" * size)
    artifact = session.put(path)
    assert b"x" * size == artifact.read_bytes(0, size + 1)


@pytest.mark.parametrize(
    "content",
    [b"ab", "ab", bytearray(b"ab"), memoryview(b"ab"), [b"a", b"b"], (b"a", bytearray(b"b")), lambda: iter([b"a", "b"])],
)  # fmt: skip
def test_what_is_content(session, content):
    """Bytes, text, buffers, and lists, tuples and iterators of them."""
    assert b"ab" == session.put(content() if callable(content) else content).read_bytes(0, 10)


def test_open_files_are_content(session):
    """A binary file and a text file, from where they stand."""
    assert b"b\n" == session.put(io.BytesIO(b"b\n")).read_bytes(0, 10)
    assert b"\xc3\xa4\n" == session.put(io.StringIO("\u00e4\n")).read_bytes(0, 10)
    assert b"" == session.put([]).read_bytes(0, 10)


def test_a_later_piece_that_is_none_leaves_what_came_before(session):
    """What was begun is interrupted, with the reason, and can be read."""
    with pytest.raises(UsageError, match="not int"):
        session.put(iter([b"a\n", 3]))
    (info,) = session.infos().items
    assert ("interrupted", 2) == (info.state, info.size)


def test_a_file_that_fails_in_its_middle_is_a_storage_error(plain_store):
    """What the environment refuses is an error of ours; what had been read stays."""
    with plain_store.session("s") as session, pytest.raises(StorageError, match="/proc/self/mem cannot be"):
        session.put(Path("/proc/self/mem"))
    with plain_store.session("s") as session:
        assert [] == session.infos().items


def test_an_async_iterable_is_begun_with_its_first_piece(plain_store, loop):
    """Asyncio's ``put`` refuses likewise, and stores likewise."""

    async def pieces(*values):
        for value in values:
            yield value

    async def stored():
        async with aio.Store(plain_store.address, free_disk_floor=0).session("s") as session:
            with pytest.raises(UsageError, match="type int"):
                await session.put(pieces(3))
            assert [] == (await session.infos()).items
            assert b"" == await (await session.put(pieces())).read_bytes(0, 9)
            artifact = await session.put(pieces(b"a", b"b"), exit_code=3, source="x")
            return await artifact.read_bytes(0, 9), (await artifact.info).exit_code

    assert (b"ab", 3) == loop.run(stored())


def test_an_exit_code_is_set_where_it_is_known(session):
    """Content that is there already brings its exit code along; without one there is none."""
    assert session.put("x").info.exit_code is None
    assert 3 == session.put("x", exit_code=3).info.exit_code


def test_the_writers_exit_code(plain_store):
    """The property is what the block seals the artifact with; ``close`` may say another."""
    with plain_store.session("s") as session:
        with session.create() as writer:
            writer.exit_code = 7
        with session.create() as other:
            other.exit_code = 7
            other.close(exit_code=8)
        found = [session.artifact(each.id).info.exit_code for each in (writer, other)]
        assert [7, 8] == found
        for wrong in ("1", True, 2**63, 1.0):
            with (
                session.create() as writer,
                pytest.raises(UsageError, match="exit_code must be a whole number"),
            ):
                writer.exit_code = wrong
            with pytest.raises(SpillstoreError):
                session.put("x", exit_code=wrong)


def test_asyncio_sets_the_exit_code(plain_store, loop):
    """The mirror has the same property."""

    async def stored():
        async with aio.Store(plain_store.address, free_disk_floor=0).session("s") as session:
            async with session.create() as writer:
                writer.exit_code = 7
            return writer.exit_code, (await (await session.artifact(writer.id)).info).exit_code

    assert (7, 7) == loop.run(stored())


def test_put_above_the_limit_is_told(plain_store, caplog):
    """The hole, the event and a warning of the log say that content was dropped."""
    with plain_store.session("s") as session:
        artifact = session.put(b"line\n" * 100_000, limit=50_000)
        assert artifact.info.hole is not None
        assert ["limit"] == [event.kind for event in artifact.events("limit")]
        assert "limit met" in [record.getMessage() for record in caplog.records]
        assert json.dumps(artifact.info.received) == "500000"
