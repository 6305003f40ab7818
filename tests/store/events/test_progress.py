"""``on_progress``: how far long work is."""

from __future__ import annotations

import asyncio

import pytest
from support import NO_FLOORS

from spillstore import Store, aio

LINE = b"x" * 63 + b"\n"
SIZE = 64 * 1024 * 40


@pytest.fixture
def session(root):
    with Store(root, **NO_FLOORS).session("s") as session:
        for _ in range(3):  # of one size, so that only a count can tell them apart
            session.put(LINE * (SIZE // 64))
        yield session


def whole(told, total):
    """What has to be true of all that was told: it grows, and ends where all is done."""
    assert len(told) > 2
    assert told == sorted(told)
    assert {of for _, of in told} == {total}
    assert told[-1][0] == total


def test_how_far_reading_an_artifact_is(session, tmp_path):
    """Bytes done, of how many: while it is verified, exported and searched."""
    artifact = session.artifacts(limit=1).items[0]
    for work in (
        artifact.verify,
        lambda **more: artifact.export(tmp_path / "file", overwrite=True, **more),
        lambda **more: artifact.search("nothing", **more),
    ):
        told = []
        work(on_progress=lambda *far, told=told: told.append(far))
        whole(told, SIZE)


def test_how_far_a_check_is(session):
    """Of all artifacts together."""
    told = []
    report = session.check(on_progress=lambda *far: told.append(far))
    whole(told, 3 * SIZE)
    assert report.size == 3 * SIZE


def test_an_artifact_with_a_hole(root):
    """What was dropped is not waited for."""
    with Store(root, artifact_limit=SIZE, **NO_FLOORS).session("s") as session:
        artifact = session.put(LINE * (3 * SIZE // 64))
        told = []
        artifact.verify(on_progress=lambda *far: told.append(far))
        whole(told, artifact.info.kept)


def test_how_far_a_collection_is(root):
    """Sessions that are done, of those that shall go."""
    store = Store(root, **NO_FLOORS)
    for name in "abc":
        store.session(name).close()
    for dry_run in (True, False):
        told = []
        store.collect(older_than=0, dry_run=dry_run, on_progress=lambda *far, told=told: told.append(far))
        assert [(1, 3), (2, 3), (3, 3)] == told
    told = []
    store.collect(older_than=0, on_progress=lambda *far: told.append(far))
    assert told == []


def test_how_far_it_is_for_asyncio(session, root):
    """The same, told on a thread of its own."""
    told = []

    async def main():
        async with await aio.Store(root, **NO_FLOORS).session("s") as opened:
            await opened.check(on_progress=lambda *far: told.append(far))

    asyncio.run(main())
    whole(told, 3 * SIZE)


class EnoughError(Exception):
    """Of a caller who has had it."""


def test_what_it_raises_ends_the_work(session, tmp_path):
    """It is raised as it is, and no file is left."""

    def enough(*_):
        raise EnoughError

    with pytest.raises(EnoughError):
        session.artifacts(limit=1).items[0].export(tmp_path / "file", on_progress=enough)
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith("file")] == []
