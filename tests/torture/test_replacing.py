"""A session is replaced by a copy in one step: whoever looks, and whenever the process is killed, finds the one or the other."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading

import campaigns
import pytest
from machines import Machine
from scenes import NO_FLOORS, content
from support import STEP
from victims import CHANGES, Fault, Victims

from spillstore import Store
from spillstore.exceptions import SessionDeletedError, StorageError

pytestmark = pytest.mark.slow
OLD, NEW = content("old", 200_000), content("new", 150_000)


@pytest.fixture
def folder():
    with campaigns.workplace("replacing") as folder:
        yield folder


def victims_of(folder, **options):
    try:
        return Victims(folder, **options)
    except campaigns.NotHereError as error:
        pytest.skip(str(error))


def put(where, data, **settings):
    """Make the session ``p`` with one artifact."""
    with Store(where, **NO_FLOORS, **settings).session("p") as session:
        session.put(data, redact=False)


def replace(say, calls, source, target, settings):
    """Replace a session."""
    try:
        Store(source, **NO_FLOORS).copy_session("p", to=Store(target, **NO_FLOORS, **settings), replace=True)
    except StorageError as error:
        say(error=str(error))
    else:
        say(replaced=True)


def found(target, *, read_only):
    """What a session has, for somebody who opens it now."""
    with Store(target, **NO_FLOORS).session("p", create=False, read_only=read_only) as session:
        session.check()
        [artifact] = session.artifacts()
        data = artifact.read_bytes(0, 10**6, max_bytes=10**6)
    assert data in (OLD, NEW)
    return data


@pytest.mark.parametrize(("durability", "audit_keep"), [("normal", False), ("full", True)])
def test_who_is_killed_anywhere_leaves_the_old_or_the_new_one_in_a_folder(folder, durability, audit_keep):
    """Before each system call that changes a file; what is left besides goes with the next collection."""
    settings = {"durability": durability, "audit_keep": audit_keep}
    put(folder / "source", NEW)
    put(folder / "prepared", OLD)
    seen, at = [], 0
    with victims_of(folder) as victims:
        ended = None
        while ended is None or ended.how == "killed":
            at += STEP
            target = folder / f"target-{at}"
            shutil.copytree(folder / "prepared", target)
            fault = Fault(str(target), CHANGES, at, "kill")
            where = {"source": str(folder / "source"), "target": str(target), "settings": settings}
            ended = victims.run("test_replacing.replace", fault, **where)
            assert [] == [each for each in ended.said if "foreign" in each or "error" in each]
            seen.append(found(target, read_only=True))
            assert seen[-1] == found(target, read_only=False)
            for path in target.glob("*/.copy-*"):
                os.utime(path, (1, 1))  # for a minute it may be one that is being made
            Store(target, **NO_FLOORS).collect()
            assert [] == [path.name for path in target.glob("*/.*") if not path.name.startswith(".audit.db")]
            shutil.rmtree(target)
    assert [OLD, NEW] == sorted(set(seen), key=seen.index)
    assert seen == sorted(seen, key=seen.index)
    assert at > 20


def test_where_two_names_cannot_be_exchanged_the_old_one_is_deleted_first(folder):
    """As before, and it succeeds; any other rename that fails is an error of ours, and one of the two is there."""
    put(folder / "source", NEW)
    put(folder / "prepared", OLD)
    failed, at = {}, 0
    with victims_of(folder) as victims:
        while True:
            at += 1
            target = folder / f"target-{at}"
            shutil.copytree(folder / "prepared", target)
            where = {"source": str(folder / "source"), "target": str(target), "settings": {}}
            fault = Fault(str(target), ("rename",), at, "fail", errno.EINVAL)
            ended = victims.run("test_replacing.replace", fault, **where)
            if not ended.calls["hits"]:
                break
            done = {"replaced": True} in ended.said
            failed.setdefault(ended.calls["where"].split()[0], []).append(done)
            assert [] == [each for each in ended.said if "foreign" in each]
            assert (NEW if done else OLD) == found(target, read_only=True)
            shutil.rmtree(target)
    assert [True] == failed["renameat2"]
    assert False in failed["rename"]


@pytest.mark.parametrize("kind", ["send", "receive"])
def test_who_is_killed_anywhere_leaves_the_old_or_the_new_one_on_a_server(folder, kind):
    """Before each message to the server, or each answer."""
    put(folder / "source", NEW)
    seen, at = [], 0
    try:
        machine = Machine()
    except campaigns.NotHereError as error:
        pytest.skip(str(error))
    try:
        name = machine.server.new_database()
        target = machine.server.url(name)
        with victims_of(folder, servers=True) as victims:
            ended = None
            while ended is None or ended.how == "killed":
                at += STEP
                machine.outlive(name)
                if not seen or seen[-1] == NEW:
                    put(folder / f"old-{at}", OLD)
                    Store(folder / f"old-{at}", **NO_FLOORS).copy_session(
                        "p", to=Store(target, **NO_FLOORS), replace=True
                    )
                where = {"source": str(folder / "source"), "target": target, "settings": {}}
                ended = victims.run(
                    "test_replacing.replace", Fault(kinds=(kind,), at=at, action="kill"), **where
                )
                assert [] == [each for each in ended.said if "foreign" in each or "error" in each]
                seen.append(found(target, read_only=True))
    finally:
        machine.close()
    assert {OLD, NEW} == {*seen}
    assert NEW == seen[-1]
    assert at > 10


@pytest.mark.parametrize("kind", ["folder", "server", "dict"])
def test_who_looks_meanwhile_finds_the_old_or_the_new_one(folder, kind, request):
    """It is always there to be opened, while copies of two sessions replace each other; who has the old one open may be told so."""
    stores = []
    for name, data in (("one", OLD), ("other", NEW)):
        put(folder / name, data)
        stores.append(Store(folder / name, **NO_FLOORS))
    if kind == "server":
        server = request.getfixturevalue("server")
        target = Store(server.url(server.new_database()), **NO_FLOORS)
    else:
        target = Store("dict:replacing" if kind == "dict" else folder / "target", **NO_FLOORS)
    stores[0].copy_session("p", to=target)
    over, errors, seen = threading.Event(), [], {OLD: 0, NEW: 0}

    def look():
        try:
            while not over.is_set():
                with (
                    target.session("p", create=False, read_only=True) as session,
                    contextlib.suppress(SessionDeletedError),
                ):
                    [info] = session.infos()
                    seen[{len(OLD): OLD, len(NEW): NEW}[info.size]] += 1
                assert ["p"] == [info.id for info in target.sessions()]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(20):
        stores[(number + 1) % 2].copy_session("p", to=target, replace=True)
    over.set()
    for thread in threads:
        thread.join()
    assert [] == errors
    assert all(seen.values())
    assert 1 == target.check()
