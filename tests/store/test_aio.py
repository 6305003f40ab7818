"""``spillstore.aio`` has the names, parameters, types and texts of the plain classes."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import threading

import pytest
from support import each_of

import spillstore
from spillstore import aio
from spillstore.exceptions import RangeTooLargeError

NAMES = ["Store", "Session", "Writer", "Artifact"]
ONLY_PLAIN = {"would_block", "extent"}
# What is given as another thing than by the plain method; all else is the same, awaited.
LISTINGS = {"Session.artifacts", "Session.infos", "Session.events"}
OPENINGS = {"Store.session", "Store.open_file", "Session.create", "Artifact.open"}
DIRECT = {
    *("Session.redaction", "Session.acting", "Session.action", "Session.note", "Session.count_passed"),
    *("Session.on_close", "Artifact.unrecorded"),
}
# Takes asynchronous iterables besides, and its options as a dictionary of types.
OTHER_PARAMETERS = {"Session.put"}


def members(cls):
    return {name: getattr(cls, name) for name in dir(cls) if not name.startswith("_")}


PAIRS = [
    (f"{name}.{member}", getattr(getattr(spillstore, name), member), mirror)
    for name in NAMES
    for member, mirror in members(getattr(aio, name)).items()
]


@pytest.mark.parametrize("name", NAMES)
def test_it_has_every_public_name(name):
    """All names of the plain class but those that only its own code needs, and no other."""
    plain, mirror = members(getattr(spillstore, name)), members(getattr(aio, name))
    assert plain.keys() - ONLY_PLAIN == mirror.keys()


@each_of("name, plain, mirror", PAIRS)
def test_parameters_are_those_of_the_plain_method(name, plain, mirror):
    """Names, order, kinds, defaults and types; a property gives the same type."""
    if isinstance(plain, property):
        told = inspect.get_annotations(mirror.fget)["return"]
        expected = plain.fget.__annotations__["return"]
        assert told in {expected, f"Awaitable[{expected}]"}
        assert (plain.fset is None) == (mirror.fset is None)
        annotated = vars(aio)[name.split(".")[0]].__annotations__.get(name.split(".")[1])
        kind = "Attribute" if plain.fset is None else "SettableAttribute"
        assert annotated in {None, f"{kind}[{expected}]"}
    elif name not in OTHER_PARAMETERS:
        ours, theirs = (inspect.signature(each).parameters for each in (plain, mirror))
        assert list(ours.values()) == list(theirs.values())


@each_of("name, plain, mirror", PAIRS)
def test_it_is_of_the_kind_that_callers_await(name, plain, mirror):
    """A coroutine function, an asynchronous generator, a listing, an opening, or a plain function; and it says so."""
    if isinstance(plain, property):
        return
    returned = inspect.signature(mirror).return_annotation
    iterates = inspect.signature(plain).return_annotation.startswith("Iterator[")
    assert inspect.isasyncgenfunction(mirror) == (iterates and name != "Store.sessions")
    direct = name in LISTINGS | OPENINGS | DIRECT or inspect.isasyncgenfunction(mirror)
    assert inspect.iscoroutinefunction(mirror) != direct
    assert (name in LISTINGS) == returned.startswith("Listing[")
    assert (name in OPENINGS) == returned.startswith("Opening[")
    assert inspect.isasyncgenfunction(mirror) == returned.startswith("AsyncIterator[")


@each_of("name, plain, mirror", PAIRS)
def test_help_has_signature_and_text(name, plain, mirror):
    """``help`` shows the parameters and what the plain method says, without examples, which do not await."""
    shown = pydoc.render_doc(mirror, renderer=pydoc.plaintext)
    assert inspect.getdoc(mirror)
    assert inspect.getdoc(mirror).splitlines()[0] in shown
    assert ">>>" not in shown
    if not isinstance(plain, property):
        assert f"{name.split('.')[1]}(" in shown
        assert all(parameter in shown for parameter in inspect.signature(mirror).parameters)


def test_a_method_runs_on_another_thread(plain_store, monkeypatch):
    """What reads does so on a thread of the executor, which knows the caller's context; what touches no disk does not."""
    seen = {}
    plain_read = spillstore.Artifact.read_lines

    def read(self, *args, **kwargs):
        seen["read"] = threading.current_thread()
        return plain_read(self, *args, **kwargs)

    async def main(session):
        artifact = await session.put("one\ntwo\n")
        with session.acting("model"):
            assert b"two\n" == await artifact.tail(1)
        return await artifact.events("read")

    with plain_store.session("s") as session:
        (event,) = asyncio.run(main(aio.Session(session)))
        assert "model" == event.actor
        monkeypatch.setattr(spillstore.Artifact, "read_lines", read)
        artifact = aio.Artifact(session.put("one\n"))
        assert b"one\n" == asyncio.run(artifact.read_lines(1, 1))
    assert seen["read"] is not threading.current_thread()


def test_items_before_an_error_are_given(plain_store):
    """An iteration that fails gives all items before, and then raises."""

    async def main(session):
        artifact = await session.put(b"one\ntwo\n" + b"x" * 100 + b"\nfour\n")
        found = []
        with pytest.raises(RangeTooLargeError):
            async for line in artifact.lines(max_bytes=50):
                found.append(line)
        return found

    with plain_store.session("s") as session:
        assert [b"one\n", b"two\n"] == asyncio.run(main(aio.Session(session)))


def test_an_iteration_that_is_cancelled_is_recorded_as_incomplete(plain_store):
    """Who stops iterating has read what was given, and no more."""

    async def main(session):
        artifact = await session.put(b"x" * 300_000)
        chunks = artifact.chunks()
        size = len(await anext(chunks))
        await chunks.aclose()
        return size, (await artifact.events("read"))[0]

    with plain_store.session("s") as session:
        size, event = asyncio.run(main(aio.Session(session)))
    assert (size, False) == (event.detail["bytes"], event.detail["complete"])


def test_a_loop_of_writes_lets_others_have_their_turn(plain_store, monkeypatch):
    """Who writes on and on, with room for all of it, holds up neither other tasks nor its own cancellation."""
    monkeypatch.setattr(aio, "_SLICE", 0.0)
    turns = 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def write_for_ever(writer):
        while True:
            await writer.write("x\n")

    async def main(session):
        async with session.create() as writer:
            task = asyncio.create_task(others())
            for _ in range(50):
                await writer.write("x\n")
            task.cancel()
            writing = asyncio.create_task(write_for_ever(writer))
            await asyncio.sleep(0)
            writing.cancel()
            await asyncio.wait([writing])
            return writing.cancelled()

    with plain_store.session("s") as session:
        assert asyncio.run(main(aio.Session(session)))
    assert turns >= 50


def test_a_file_is_opened_in_a_block_or_awaited(plain_store):
    """As a session and a writer are; at the end of the block it is closed."""

    async def main(session):
        artifact = await session.put(b"one\ntwo\n")
        async with artifact.open() as file:
            lines = [await file.readline(), await file.readline()]
        async with await artifact.open() as again:
            lines.append(await again.read())
        with pytest.raises(ValueError, match="closed"):
            await file.read()
        return lines

    with plain_store.session("s") as session:
        assert [b"one\n", b"two\n", b"one\ntwo\n"] == asyncio.run(main(aio.Session(session)))


@pytest.mark.parametrize("cancellations", [1, 2, 5])
def test_what_is_opened_for_nobody_is_closed(plain_store, monkeypatch, cancellations):
    """However often opening a session is cancelled, it is closed when it is open, and only then does the task end."""
    may_open, opened, closed = threading.Event(), [], []
    plain_open, plain_exit = spillstore.Store.session, spillstore.Session.__exit__

    def open_late(self, *args, **kwargs):
        assert may_open.wait(120)
        opened.append(plain_open(self, *args, **kwargs))
        return opened[-1]

    def leave(self, *args):
        closed.append(self)
        return plain_exit(self, *args)

    async def main():
        store = aio.Store(plain_store.address)

        async def use():
            async with store.session("s"):
                pass

        task = asyncio.ensure_future(use())
        for _ in range(cancellations):
            await asyncio.sleep(0.01)
            assert not task.done()
            task.cancel()
        may_open.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        return opened == closed

    monkeypatch.setattr(spillstore.Store, "session", open_late)
    monkeypatch.setattr(spillstore.Session, "__exit__", leave)
    assert asyncio.run(main())
    assert len(opened) == 1


def test_all_classes_have_their_plain_object(plain_store):
    """``plain`` is what waits."""
    with plain_store.session("s") as session:
        assert aio.Session(session).plain is session
        artifact = session.put("x")
        assert aio.Artifact(artifact).plain is artifact
