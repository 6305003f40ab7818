"""Checking beside others who write, delete, evict and end: nothing is called damaged that is not."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest
from support import NO_FLOORS

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError, IntegrityError
from spillstore.format import chunk_codec

CHUNK = 64 * 1024


@pytest.fixture
def between(monkeypatch):
    """``between(call)``: the call is made once, when the first chunk is about to be decoded; gives what is left to call."""

    def between(call):
        decode, calls = chunk_codec.decode, [call]

        def decoding(row):
            while calls:
                calls.pop()()
            return decode(row)

        monkeypatch.setattr(chunk_codec, "decode", decoding)
        return calls

    return between


def in_another_process(root, code, **options):
    """Run a line of code with the ``store`` and its session ``s``, in a process of its own."""
    program = (
        "import os, sys\nfrom spillstore import Store\n"
        f"store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0, **{options!r})\n"
        f"session = store.session('s')\n{code}\nsession.close()\n"
    )
    subprocess.run([sys.executable, "-c", program, str(root)], check=True)


@pytest.fixture
def root(tmp_path):
    """A store with a session of three artifacts of 40 chunks each, which do not compress."""
    with Store(tmp_path, **NO_FLOORS).session("s") as session:
        for _ in range(3):
            session.put(os.urandom(40 * CHUNK), redact=False)
    return tmp_path


@pytest.mark.long
def test_what_is_deleted_beside_a_check_is_not_damaged(root, between):
    """Another process deletes an artifact while it is being checked: the others are checked, and that is all."""
    with Store(root, **NO_FLOORS).session("s", read_only=True) as session:
        newest = next(iter(session.artifacts())).id
        left = between(lambda: in_another_process(root, f"session.artifact({newest!r}).delete()"))
        report = session.check()
        assert not left
        assert (2, 80, 80 * CHUNK) == (report.artifacts, report.chunks, report.size)
        assert [] == session.events(kind="integrity").items


@pytest.mark.long
def test_what_is_evicted_beside_a_check_is_not_damaged(root, between):
    """Another process makes room in the session by all that is there: nothing is damaged."""
    code = f"session.put(os.urandom({100 * CHUNK}), redact=False)"
    quota = {"session_quota": 110 * CHUNK, "session_policy": "evict"}
    with Store(root, **NO_FLOORS).session("s", read_only=True) as session:
        left = between(lambda: in_another_process(root, code, **quota))
        assert session.check().artifacts < 3
        assert not left
    assert 1 <= Store(root, **NO_FLOORS).session("s").check().artifacts <= 2


@pytest.mark.long
def test_verifying_what_is_deleted_meanwhile_says_that_it_is_gone(root, between):
    """``verify`` of an artifact that goes: it is not found, and no damage is recorded."""
    with Store(root, **NO_FLOORS).session("s") as session:
        artifact = next(iter(session.artifacts()))
        left = between(lambda: in_another_process(root, f"session.artifact({artifact.id!r}).delete()"))
        with pytest.raises(ArtifactNotFoundError):
            artifact.verify()
        assert not left
        assert [] == session.events(kind="integrity").items


@pytest.mark.parametrize("policy", ["stop", "roll"])
def test_verifying_what_is_written_meanwhile(root, between, policy):
    """An artifact that grows, drops its middle and is sealed while it is verified is whole as it is then."""
    with Store(root, **NO_FLOORS).session("s") as session:
        writer = session.create(limit=20 * CHUNK, policy=policy, redact=False)
        writer.write(os.urandom(20 * CHUNK - 100))
        writer.flush()

        def go_on():
            writer.write(os.urandom(20 * CHUNK))
            writer.close()

        left = between(go_on)
        found = session.artifact(writer.id).verify()
        assert not left
        info = session.artifact(writer.id).info
        assert "sealed" == info.state
        assert (policy == "roll") == (info.hole is not None)
        assert info.kept == found.size
        assert [] == session.events(kind="integrity").items


@pytest.mark.long
def test_a_session_that_is_deleted_beside_a_check_of_the_store_is_not_damaged(root, between):
    """Another process deletes the session that is being checked, while a thread here uses its connection: none is damaged."""
    store = Store(root, **NO_FLOORS)
    with store.session("s", read_only=True) as same:
        borrowed = []

        def delete():
            borrowed.append(same._engine.borrow())
            in_another_process(root, "session.delete(force=True)")

        left = between(delete)
        assert 0 == store.check()
        assert not left
        same._engine.store.give_back(borrowed.pop())
    assert [] == list(store.sessions())


@pytest.mark.long
def test_damage_is_still_told_beside_a_deletion(root, between):
    """What is damaged is told, though something else goes at the same time; and once, however often it was looked at."""
    with Store(root, **NO_FLOORS).session("s", read_only=True) as session:
        newest, older, _ = (artifact.id for artifact in session.artifacts())

        def damage():
            in_another_process(root, f"session.artifact({newest!r}).delete()")
            with sqlite3.connect(root / "_" / "s" / "session.db") as connection:
                connection.execute("DELETE FROM chunk WHERE artifact_key = 2 AND seq = 30")
            connection.close()

        between(damage)
        with pytest.raises(IntegrityError, match=f"^session 's': chunk 30 of {older} is missing$"):
            session.check()
