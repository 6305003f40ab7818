"""A session that is full, under the policy ``evict``."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, ROUNDS, damage, dice, examples, tries, wait_until

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError, SessionQuotaError
from spillstore.observers import Observer, subscribe

EVICTING = {**NO_FLOORS, "session_policy": "evict"}


def evicted(session):
    """The ids that were evicted, the first one first."""
    return [event.artifact_id for event in session.events(kind="evict", limit=1000)][::-1]


@pytest.mark.files
def test_what_nobody_has_read_goes_first(make_store):
    """The oldest unread artifact makes room first; one that was read goes when all others are gone."""
    store = make_store(session_quota=2_000_000, session_policy="evict")
    with store.session("test") as session:
        ids = [session.put(os.urandom(400_000)).id for _ in range(4)]
        session.artifact(ids[0]).read_bytes(0, 10)
        session.put(os.urandom(400_000))
        assert ids[1:2] == evicted(session)
        session.put(os.urandom(1_500_000))
        assert ids[1:4] == evicted(session)[:3]
        assert ids[0] in evicted(session)[3:]


def test_an_evicted_artifact_says_so(make_store):
    """Whoever asks for it is told that it was evicted and what to do; an id that never was is not."""
    store = make_store(session_quota=1_000_000, session_policy="evict")
    with store.session("test") as session:
        artifact = session.put(os.urandom(700_000), tool_call_id="call_1")
        session.put(os.urandom(700_000))
        for ask in (lambda: session.artifact(artifact.id), lambda: artifact.read_bytes(0, 1)):
            with pytest.raises(ArtifactNotFoundError, match=r"was evicted .* SPILLSTORE_SESSION_QUOTA"):
                ask()
        assert artifact.id not in [info.id for info in session.infos()]
        (event,) = session.events(kind="evict")
        assert "call_1" == event.tool_call_id
        assert (700_000, 1_000_000, False) == tuple(event.detail[key] for key in ("kept", "quota", "read"))
        with pytest.raises(ArtifactNotFoundError, match="no artifact"):
            session.artifact("art_1_0")


@pytest.mark.long
def test_content_that_is_evicted_as_soon_as_it_is_sealed(plain_store):
    """``put`` has stored it and says which artifact it was; only reads say that it is gone, and nothing was refused."""
    store = Store(plain_store.address, **EVICTING, session_quota=1_000_000)
    filler = "import os, sys; from spillstore import Store; Store(sys.argv[1], free_disk_floor=0, session_quota=1_000_000, "
    filler += "session_policy='evict').session('test').put(os.urandom(700_000))"

    class Fills(Observer):
        def on_event(self, event):
            if event.kind == "seal":
                subprocess.run([sys.executable, "-c", filler, store.address], check=True)

    with store.session("test") as session:
        stop = subscribe(Fills())
        try:
            artifact = session.put(os.urandom(700_000))
        finally:
            stop()
        assert [artifact.id] == evicted(session)
        with pytest.raises(ArtifactNotFoundError, match="was evicted"):
            artifact.read_bytes(0, 1)
        assert not session.events(kind="denied")


def test_it_is_told_even_where_nothing_is_audited(plain_store):
    """With ``audit="off"`` the event is written all the same."""
    store = Store(plain_store.address, **EVICTING, session_quota=1_000_000, audit="off")
    with store.session("test") as session:
        artifact = session.put(os.urandom(700_000))
        session.put(os.urandom(700_000))
        with pytest.raises(ArtifactNotFoundError, match="was evicted"):
            session.artifact(artifact.id)


def test_what_is_being_written_stays(make_store):
    """An open artifact is never evicted: when nothing else is left, the session refuses."""
    store = make_store(session_quota=2_000_000, session_policy="evict")
    with store.session("test") as session:
        ended = session.put(os.urandom(300_000))
        with session.create() as writer:
            writer.write(os.urandom(1_000_000))
            writer.flush()
            with pytest.raises(SessionQuotaError, match=r"[0-9]+ more are wanted; nothing is left to evict"):
                session.put(os.urandom(1_900_000))
            assert ended.id in evicted(session)
            assert writer.id not in evicted(session)
            writer.write(b"goes on")
        session.artifact(writer.id).verify()


def test_a_damaged_artifact_is_not_evicted(plain_store, caplog):
    """What cannot be trusted stays as it is, is named in a warning, and the next one goes instead."""
    store = Store(plain_store.address, **EVICTING, session_quota=2_000_000)
    with store.session("test") as session:
        first, second = (session.put(os.urandom(600_000)).id for _ in range(2))
        damage(session, "UPDATE artifact SET source = 'other' WHERE artifact_id = ?", first)
        session.put(os.urandom(900_000))
        assert [second] == evicted(session)
        wait_until(lambda: caplog.records)  # whoever commits tells it, and that may be the committer's thread
        assert ["artifact not evicted"] == [record.message for record in caplog.records]
        damage(session, "UPDATE artifact SET source = '' WHERE artifact_id = ?", first)


@pytest.mark.files
def test_ten_times_the_quota_leaves_the_file_within_it(plain_store):
    """30 MB through a quota of 3 MB: the file never takes more, and what it holds is whole."""
    store = Store(plain_store.address, **EVICTING, session_quota=3_000_000)
    file = plain_store.root / "_" / "test" / "session.db"
    with store.session("test") as session:
        for _ in range(60):
            session.put(os.urandom(500_000))
            session._engine.store._pool._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            assert file.stat().st_size <= 3_000_000
        assert 4 <= len(session.infos().items) < 6
        session.check()


def test_a_large_artifact_is_dropped_as_far_as_needed(plain_store):
    """What is evicted is out of sight at once, its chunks go when they must, and the rest with the next writer."""
    store = Store(plain_store.address, **EVICTING, session_quota=60_000_000)
    with store.session("test") as session:
        large = session.put(os.urandom(50_000_000))
        session.put(os.urandom(12_000_000))
        assert [large.id] == evicted(session)
        counts = damage(session, "SELECT count(*) FROM chunk GROUP BY artifact_key")
        assert 2 == len(counts)
        session.check()
    with store.session("test") as session:
        counts = damage(session, "SELECT count(*) FROM chunk GROUP BY artifact_key")
        assert [(-(-12_000_000 // 65536),)] == counts


@given(
    actions=st.lists(
        st.one_of(
            st.tuples(st.just("put"), st.integers(1, 6)),
            st.tuples(st.sampled_from(["read", "search", "export"]), st.integers(0, 30)),
        ),
        max_size=25,
    )
)
@examples(25)
def test_the_order_is_that_of_a_plain_list(tmp_path_factory, actions):
    """Property: whatever is put and read, each eviction takes what a list sorted by (last read, age) has first."""
    root = tmp_path_factory.mktemp("evict")
    noise = random.Random(7)
    read_at: dict[str, int] = {}  # what is there, the oldest first, and when it was last read; 0 for never
    with Store(root, **EVICTING, session_quota=1_200_000).session("test") as session:
        seen = 0
        for step, (action, number) in enumerate(actions, 1):
            if action == "put":
                artifact = session.put(noise.randbytes(number * 60_000))
                gone = evicted(session)
                for artifact_id in gone[seen:]:
                    assert artifact_id == min(read_at, key=read_at.__getitem__)
                    del read_at[artifact_id]
                seen = len(gone)
                read_at[artifact.id] = 0
            elif read_at:
                artifact_id = list(read_at)[number % len(read_at)]
                artifact = session.artifact(artifact_id)
                if action == "read":
                    artifact.read_bytes(0, 1)
                elif action == "search":
                    artifact.search("x", limit=1)
                else:
                    artifact.export(root / f"export-{step}")
                session.events(limit=1)  # so that it is written
                read_at[artifact_id] = step
        assert set(read_at) == {info.id for info in session.infos(limit=1000)}
        session.check()


WRITER = """
import os, sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0, session_quota=4_000_000, session_policy="evict",
              busy_timeout=600)  # however slow the machine is
with store.session("test") as session:
    print(flush=True)
    for number in range(int(sys.argv[2])):
        session.put(os.urandom(50_000 + 150_000 * (number % 7)))
"""


def start(root, count):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), str(count)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    return process


@pytest.mark.long
def test_processes_evict_beside_each_other(plain_store):
    """Three processes fill one session at once: nobody fails, the quota holds, and what is left is sound."""
    count = tries(25)
    processes = [start(plain_store.address, count) for _ in range(3)]
    for process in processes:
        _, errors = process.communicate()
        assert (0, b"") == (process.returncode, errors)
    with plain_store.session("test") as session:
        gone = evicted(session)
        assert 3 * count == len(session.infos(limit=1000)) + len(gone)
        assert len(gone) > 0
        session.check()


BESIDE = """
import os, sys
from spillstore import Store
options = {"session_quota": 1_000_000, "session_policy": "evict", "free_disk_floor": 0, "artifacts_per_minute": 0}
with Store(sys.argv[1], **options).session("test") as session:
    session.put(os.urandom(400_000))
"""


@pytest.mark.files
def test_room_that_another_process_takes_is_made_again(plain_store, monkeypatch):
    """Between the look and the commit it stores what fits; then what was to fit here does not any more."""
    store = Store(plain_store.address, **EVICTING, session_quota=1_000_000)
    with store.session("test") as session:
        first = session.put(os.urandom(400_000)).id
        evictor = session._engine.ingest.committer._evictor
        make_room, used, beside = evictor.make_room, [], []

        def looked(size):
            with session._engine.reader() as rows:
                used.append(rows.used())
            has_room = make_room(size)
            if len(used) == 1:
                subprocess.run([sys.executable, "-c", BESIDE, store.address], check=True)
                beside.extend(evicted(session))
            return has_room

        monkeypatch.setattr(evictor, "make_room", looked)
        session.put(os.urandom(300_000))
        assert [] == beside
        assert max(used) <= 1_000_000
        assert [first] == evicted(session)
        assert [400_000, 300_000] == sorted((info.size for info in session.infos()), reverse=True)


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_kill_9_while_evicting_leaves_a_sound_session(root, seed):
    """At any moment: every artifact that is listed is whole, and the next writer frees what was half dropped."""
    process = start(root, 1_000_000)
    time.sleep(dice(seed).random() * 0.7)
    process.kill()
    process.communicate()
    store = Store(root, **EVICTING, session_quota=4_000_000)
    for read_only in (True, False):
        with store.session("test", read_only=read_only) as session:
            session.check()
            for info in session.infos(state="sealed"):
                assert info.size == len(session.artifact(info.id).read_bytes(0, 10**7))
    with store.session("test") as session:
        assert [(0,)] == damage(session, "SELECT count(*) FROM artifact WHERE state = 'deleted'")
        session.put(b"goes on")
