"""What every storage engine keeps to: the rules of ``engine.base`` and ``engine.rows``. A new engine is added to ``ENGINES`` and has to pass.

Rows are drawn at random and written to the engine and to plain dictionaries; whatever is asked must be answered alike.
"""

from __future__ import annotations

import contextlib
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ManualClock, examples

from spillstore.engine.base import SessionRef, VanishedError
from spillstore.engine.memory.backend import MemoryBackend
from spillstore.engine.memory.rows import EMPTY, MemoryTransaction
from spillstore.engine.rows import END, ArtifactFilter, EventFilter, NewEvent
from spillstore.engine.sqlite.backend import FolderBackend
from spillstore.exceptions import (
    LockedError,
    SessionBusyError,
    SessionDeletedError,
    SessionExistsError,
    StorageError,
)
from spillstore.format.chunk_codec import ChunkRow
from spillstore.format.digests import Algorithm
from spillstore.model.clock import SystemClock
from spillstore.model.records import ArtifactRow, SessionRow
from spillstore.settings import Settings

ENGINES = ("folder", "memory", "server")
REF = SessionRef("chat", "web")
UID = "0" * 32
SESSION = SessionRow("chat", "web", UID, 1_000, None, None, 0, Algorithm("blake3"), None, b"d" * 32)
SETTINGS = Settings.load(free_disk_floor=0, busy_timeout=5.0)


@contextlib.contextmanager
def backend_of(engine, request, place):
    if engine == "memory":
        yield MemoryBackend(f"dict:{place}", ManualClock())
    elif engine == "folder":
        yield FolderBackend(place, SETTINGS, None, SystemClock())
    else:
        from spillstore.engine.postgres.address import parse
        from spillstore.engine.postgres.backend import ServerBackend

        server = request.getfixturevalue("server")
        name = server.new_database()
        yield ServerBackend(parse(server.url(name)), SETTINGS, None, SystemClock())
        server.drop_database(name)


@pytest.fixture(params=ENGINES)
def backend(request, tmp_path):
    with backend_of(request.param, request, tmp_path / "root") as backend:
        yield backend


@pytest.fixture
def made(backend):
    backend.make(REF, SESSION.sealed())
    return backend


@pytest.fixture
def opened(made):
    session = made.open(REF, read_only=False)
    yield session
    with session.using:
        session.close()


def artifact(key, **changes):
    row = ArtifactRow(
        artifact_key=key,
        artifact_id=f"art_{key}_a",
        tool_call_id=None,
        source="bash",
        command=None,
        content_type=None,
        state="sealed",
        reason=None,
        owner="owner-0123456789abcdef",
        newline="lf",
        chunk_size=65536,
        size_limit=10**9,
        policy="stop",
        created_us=key * 10,
        ended_us=None,
        exit_code=None,
        chunks=0,
        received=0,
        size=0,
        kept=0,
        stored_size=0,
        stdout_size=0,
        stdout_lines=0,
        stderr_size=0,
        stderr_lines=0,
        chars=0,
        line_flags=0,
        hole=None,
        content_digest=None,
        chunks_digest=None,
        digest=bytes([key % 256]) * 32,
    )
    return row._replace(**changes)


def chunk(seq, *, at=0, out=5, err=0, lines=1, begin=0):
    """A chunk whose counters go on from ``begin`` bytes and line ends of stdout."""
    return ChunkRow(
        seq=seq,
        size=out + err,
        line_start=begin,
        stdout_start=begin,
        stdout_size=out,
        stdout_line_start=begin,
        stdout_lines=lines if out else 0,
        stderr_start=seq,
        stderr_size=err,
        stderr_line_start=seq,
        stderr_lines=0,
        time_start=at,
        time_end=at,
        line_flags=0,
        digest=bytes([seq % 256]) * 32,
        segments=b"s",
        data=b"x" * (seq + 1),
    )


# --- rows, against plain dictionaries ---------------------------------------------------------------------

KEYS = st.integers(1, 4)
TIMES = st.integers(0, 30)
DIGESTS = st.sampled_from([None, b"a" * 32, b"b" * 32])
ARTIFACTS = st.builds(
    artifact,
    KEYS,
    source=st.sampled_from(["bash", "grep"]),
    tool_call_id=st.sampled_from([None, "call"]),
    state=st.sampled_from(["open", "sealed", "interrupted", "deleted"]),
    policy=st.sampled_from(["stop", "roll"]),
    created_us=TIMES,
    size=st.sampled_from([0, 10**9]),
    kept=st.integers(0, 9),
    stored_size=st.sampled_from([0, 9]),
    hole=st.sampled_from([None, "{}"]),
    content_digest=DIGESTS,
)
EVENTS = st.builds(
    NewEvent,
    at_us=TIMES,
    kind=st.sampled_from(["read", "create", "interrupt", "rendered"]),
    artifact_id=st.one_of(st.none(), KEYS.map("art_{}_a".format)),
    actor=st.sampled_from([None, "model"]),
    tool_call_id=st.sampled_from([None, "call"]),
    detail=st.just("{}"),
    shown=DIGESTS,
)
STEPS = st.one_of(
    st.tuples(st.just("put"), ARTIFACTS),
    st.tuples(st.just("remove"), KEYS),
    st.tuples(st.just("chunks"), KEYS, st.integers(0, 6), st.integers(1, 4), st.booleans()),
    st.tuples(st.just("drop"), KEYS, st.integers(0, 8), st.integers(0, 8)),
    st.tuples(st.just("events"), st.lists(EVENTS, min_size=1, max_size=4)),
    st.tuples(st.just("forget"), st.integers(0, 12), st.integers(0, 3)),
    st.tuples(st.just("old"), TIMES, st.integers(0, 3)),
    st.tuples(st.just("key")),
)


def do(tx, step):
    """One step of a transaction; what it returns must be the same everywhere."""
    kind, *given_ = step
    if kind == "put":
        [row] = given_
        known = tx.artifact_row(row.artifact_id)
        return (tx.insert_artifact if known is None else tx.update_artifact)(row)
    if kind == "chunks":
        key, first, count, errs = given_
        there = {row[0] for row in tx.chunks(key, None, -1, END - 1, 100)}
        rows = [
            chunk(seq, at=seq * 3, out=seq % 3 * 5, err=5 * errs, begin=seq * 5)
            for seq in range(first, first + count)
            if seq not in there
        ]
        return tx.insert_chunks(key, rows)
    calls = {
        "remove": tx.remove_artifact,
        "drop": tx.drop_chunks,
        "events": tx.append_events,
        "forget": tx.drop_events_through,
        "old": tx.drop_events_before,
        "key": tx.next_artifact_key,
    }
    return calls[kind](*given_)


def answers(rows):
    """All that can be asked, as one value; what comes in no order is sorted."""
    out = {
        "session": rows.session_row(),
        "digests": sorted(rows.artifact_digests()),
        "unfinished": sorted(map(tuple, rows.unfinished())),
        "ids": rows.artifact_ids("art_1", "art_4", 2),
        "ids before one": rows.artifact_ids("art_1", "art_2_a", 9),
        "created": [rows.artifacts_created(since, 20) for since in (0, 5, 20)],
        "kept": rows.kept_size(),
        "evict": [rows.to_evict(limit) for limit in (1, 9)],
        "nobody": sorted(rows.orphan_chunks()),
        "newest": rows.newest_event(),
        "uses": [rows.uses(since, 20) for since in (0, 10)],
        "after": [rows.events_after(key, 3) for key in (-1, 2)],
        "whole": [[tuple(row) for row in rows.whole_events_after(key, 3)] for key in (-1, 2)],
        "all": [[tuple(row) for row in rows.artifacts_after(key, limit)] for key, limit in ((-1, 9), (1, 2))],
    }
    for digest in (b"a" * 32, b"b" * 32):
        out["same", digest] = sorted(rows.same_content(digest, "art_1_a", 9))
        out["shown", digest] = sorted(rows.events_shown(digest, 99))
    for wanted in (
        ArtifactFilter(),
        ArtifactFilter(since_us=3, before_us=20, before_key=2, source="bash"),
        ArtifactFilter(tool_call_id="call"),
    ):
        out["artifacts", wanted] = [list(map(tuple, rows.artifacts(wanted, limit))) for limit in (1, 9)]
    for filter_ in (
        EventFilter(),
        EventFilter(since_us=3, before_us=20, before_key=4, kind="read"),
        EventFilter(actor="model", tool_call_id="call"),
        EventFilter(artifact_id="art_1_a"),
    ):
        out["events", filter_] = [rows.events(filter_, limit) for limit in (2, 99)]
    for key in range(1, 5):
        name = f"art_{key}_a"
        out["of", key] = [rows.events_of(name, kind, 2) for kind in (None, "read")]
        row = rows.artifact_row(name)
        out["row", key] = None if row is None else tuple(row)
        out["digest", key] = rows.artifact_digest(key)
        out["first", key] = rows.first_chunk(key)
        out["chunk digests", key] = list(rows.chunk_digests(key))
        out["stored", key] = rows.stored_size(key, 1, 5)
        for stream in (None, 0, 1):
            out["chunks", key, stream] = [
                [tuple(row) for row in rows.chunks(key, stream, after, last, limit)]
                for after, last, limit in ((-1, END - 1, 99), (1, 4, 99), (-1, END - 1, 1))
            ]
            out["line", key, stream] = [
                plain(rows.chunk_before_line(key, stream, line)) for line in (1, 12, 99)
            ]
        out["time", key] = [plain(rows.chunk_before_time(key, time)) for time in (0, 5, 99)]
        for stream in (0, 1):
            out["byte", key, stream] = [plain(rows.chunk_at_byte(key, stream, at)) for at in (0, 3, 99)]
    return out


def plain(row):
    return None if row is None else tuple(row)


@pytest.mark.parametrize("engine", ENGINES)
@examples(25)
@given(transactions=st.lists(st.lists(STEPS, max_size=5), max_size=6))
def test_rows_are_those_of_dictionaries(engine, transactions, request, tmp_path_factory):
    """Whatever was written in whatever transactions, every question has the answer that dictionaries give."""
    with backend_of(engine, request, tmp_path_factory.mktemp("engine") / "root") as backend:
        rows_are_those_of_dictionaries(backend, transactions)


def rows_are_those_of_dictionaries(backend, transactions):
    backend.make(REF, SESSION.sealed())
    session = backend.open(REF, read_only=False)
    model = MemoryTransaction(EMPTY)
    model.insert_session(SESSION.sealed())
    try:
        for steps in transactions:
            with session.using, session.transaction("a test") as tx:
                for step in steps:
                    assert do(model, step) == do(tx, step)
                assert answers(model) == answers(tx)
            with session.snapshot("a test") as rows:
                assert answers(model) == answers(rows)
    finally:
        with session.using:
            session.close()


# --- transactions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("patient", [True, False])
def test_all_of_a_transaction_or_nothing(opened, patient):
    """What raises in the middle leaves every row as it was, also for who would not have waited."""
    with opened.using, opened.transaction("a test", patient=patient) as tx:
        tx.insert_artifact(artifact(1))
        tx.append_events([NewEvent(1, "create", "art_1_a", None, None, "{}", None)])
    with opened.snapshot("a test") as rows:
        before = answers(rows)
    with opened.using, pytest.raises(ZeroDivisionError), opened.transaction("a test", patient=patient) as tx:
        tx.insert_chunks(1, [chunk(0)])
        tx.remove_artifact(1)
        tx.append_events([NewEvent(2, "read", None, None, None, "{}", None)] * 3)
        tx.drop_events_through(1, 9)
        raise ZeroDivisionError
    with opened.snapshot("a test") as rows:
        assert before == answers(rows)


def test_a_snapshot_stands_still(made, opened):
    """What is committed meanwhile is not in it, and is in the next one, also for who only reads."""
    reader = made.open(REF, read_only=True)
    with contextlib.ExitStack() as stack:
        views = [stack.enter_context(each.snapshot("a test")) for each in (opened, reader)]
        assert [None, None] == [rows.artifact_row("art_1_a") for rows in views]
        with opened.using, opened.transaction("a test") as tx:
            tx.insert_artifact(artifact(1))
        assert [None, None] == [rows.artifact_row("art_1_a") for rows in views]
    for each in (opened, reader):
        with each.reader() as rows:
            assert rows.artifact_row("art_1_a") is not None
    with reader.using:
        reader.close()


def test_what_is_borrowed_sees_each_commit_and_stands_still_together(opened):
    """Outside ``together`` each call has the newest state; inside, all have one."""
    rows = opened.current(opened.borrow())
    try:
        with opened.using, opened.transaction("a test") as tx:
            tx.insert_artifact(artifact(1))
        assert rows.artifact_row("art_1_a") is not None
        with opened.together(rows, "a test"):
            assert rows.artifact_row("art_2_a") is None
            with opened.using, opened.transaction("a test") as tx:
                tx.insert_artifact(artifact(2))
            assert rows.artifact_row("art_2_a") is None
        assert rows.artifact_row("art_2_a") is not None
    finally:
        opened.give_back(rows)


def test_writers_take_turns(made):
    """Two holds on one session that write at once lose nothing, and give each key once."""
    holds = [made.open(REF, read_only=False) for _ in range(2)]
    keys = []

    def write(hold):
        for _ in range(20):
            with hold.using, hold.transaction("a test") as tx:
                key = tx.next_artifact_key()
                tx.insert_artifact(artifact(key))
                tx.append_events([NewEvent(key, "create", None, None, None, "{}", None)])
                keys.append(key)

    threads = [threading.Thread(target=write, args=(hold,)) for hold in holds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(range(1, 41)) == sorted(keys)
    with holds[0].snapshot("a test") as rows:
        assert 40 == len(rows.artifact_digests()) == rows.newest_event()
    for hold in holds:
        with hold.using:
            hold.close()


def test_who_only_reads_may_record(made):
    """Beside a writer, on a transaction of its own."""
    reader = made.open(REF, read_only=True)
    with reader.separate_transaction("a test") as tx:
        tx.append_events([NewEvent(1, "read", None, None, None, "{}", None)])
    with reader.snapshot("a test") as rows:
        assert 1 == rows.newest_event()
    with reader.using:
        reader.close()


def test_used_grows_with_what_is_stored_and_shrinks_with_what_goes(opened):
    """By no more than was said beforehand."""
    with opened.reader() as rows:
        empty = rows.used()
    data = [chunk(seq)._replace(data=bytes(50_000)) for seq in range(20)]
    with opened.using, opened.transaction("a test") as tx:
        tx.insert_artifact(artifact(1))
        tx.insert_chunks(1, data)
    with opened.reader() as rows:
        full = rows.used()
    assert empty + 20 * 50_000 <= full <= empty + opened.space_for(sum(row.stored_size for row in data), 1)
    with opened.using, opened.transaction("a test") as tx:
        tx.drop_chunks(1, 0, 20)
    with opened.using:
        opened.release_space()
        opened.settle()
    with opened.reader() as rows:
        assert rows.used() < empty + 100_000
        assert [] == opened.structure_problems(rows)


# --- sessions ---------------------------------------------------------------------------------------------


def test_a_session_is_there_once_it_was_made(backend):
    """And holds the row that it was made with; making it again changes nothing."""
    assert not backend.exists(REF)
    assert [] == list(backend.sessions(None))
    backend.make(REF, SESSION.sealed())
    backend.make(REF, SESSION._replace(created_us=5).sealed())
    assert backend.exists(REF)
    session = backend.open(REF, read_only=True)
    with session.reader() as rows:
        assert tuple(SESSION.sealed()) == rows.session_row()
    with session.using:
        session.close()
    [found] = backend.sessions("web")
    assert ("chat", "web", False) == (found.id, found.project, found.live)
    assert [] == list(backend.sessions("other"))
    assert backend.size_of(REF) > 0


# --- sessions that are filled before they are there -------------------------------------------------------


def fill(new, rows):
    """Give an import all rows of a session, a few at a time."""
    for artifact in rows.artifacts_after(-1, 99):
        new.add_artifacts([artifact])
        chunks = list(rows.chunks(artifact[0], None, -1, END - 1, 99))
        for first in range(0, len(chunks), 3):
            new.add_chunks(artifact[0], chunks[first : first + 3])
    events = rows.whole_events_after(-1, 99)
    for first in range(0, len(events), 2):
        new.add_events(events[first : first + 2])


@pytest.mark.parametrize("engine", ENGINES)
@examples(25)
@given(transactions=st.lists(st.lists(STEPS, max_size=5), max_size=6))
def test_an_import_has_the_rows_that_it_was_given(engine, transactions, request, tmp_path_factory):
    """With their keys, whatever was removed between them; what is written then goes on from these."""
    with backend_of(engine, request, tmp_path_factory.mktemp("engine") / "root") as backend:
        an_import_has_the_rows_that_it_was_given(backend, transactions)


def an_import_has_the_rows_that_it_was_given(backend, transactions):
    model = MemoryTransaction(EMPTY)
    model.insert_session(SESSION._replace(next_artifact_key=7).sealed())
    for step in (step for steps in transactions for step in steps):
        do(model, step)
    for key in model.orphan_chunks():  # no session has any
        model.drop_chunks(key, 0, END)
    with backend.importing(REF, SessionRow(*model.session_row())) as new:
        fill(new, model)
        new.commit()
    session = backend.open(REF, read_only=False)
    try:
        with session.snapshot("a test") as rows:
            assert answers(model) == answers(rows)
            assert [] == session.structure_problems(rows)
        with session.using, session.transaction("a test") as tx:
            for step in (("key",), ("events", [NewEvent(1, "read", None, None, None, "{}", None)])):
                assert do(model, step) == do(tx, step)
            assert answers(model) == answers(tx)
    finally:
        with session.using:
            session.close()


def test_nobody_sees_an_import_before_its_commit(backend):
    """Neither in a list nor by its name; then it is there, whole and held by nobody."""
    with backend.importing(REF, SESSION.sealed()) as new:
        new.add_artifacts([artifact(1)])
        assert not backend.exists(REF)
        assert not backend.exists(REF, repair=True)
        assert [] == list(backend.sessions(None))
        assert 0 == backend.size_of(REF)
        new.commit()
        assert backend.exists(REF)
    [found] = backend.sessions(None)
    assert ("chat", "web", False) == (found.id, found.project, found.live)
    session = backend.open(REF, read_only=True)
    with session.reader() as rows:
        assert [artifact(1)] == rows.artifacts_after(-1, 9)
    with session.using:
        session.close()


def test_an_import_that_is_not_committed_leaves_nothing(backend):
    """However its block ends."""
    with pytest.raises(ZeroDivisionError), backend.importing(REF, SESSION.sealed()) as new:
        new.add_artifacts([artifact(1)])
        raise ZeroDivisionError
    with backend.importing(REF, SESSION.sealed()) as new:
        new.add_events([(1, 1, "create", None, None, None, "{}", None)])
    assert not backend.exists(REF)
    assert (0, 0, ()) == backend.remove_leftovers(2e9, dry_run=False)
    backend.make(REF, SESSION.sealed())
    assert backend.exists(REF)


def test_no_import_takes_the_place_of_a_session(backend):
    """One that was made meanwhile stays as it is; when it is gone, the same import can still be committed."""
    other = SESSION._replace(uid="1" * 32).sealed()
    with contextlib.suppress(LockedError), backend.importing(REF, SESSION.sealed()) as new:
        new.add_artifacts([artifact(1)])
        backend.make(REF, other)  # or it waits in vain
        with pytest.raises(SessionExistsError):
            new.commit()
        session = backend.open(REF, read_only=True)
        with session.reader() as rows:
            assert (tuple(other), []) == (rows.session_row(), list(rows.artifacts_after(-1, 9)))
        with session.using:
            session.close()
        backend.remove_unwritten(REF).free()
        new.commit()
        session = backend.open(REF, read_only=True)
        with session.reader() as rows:
            assert tuple(SESSION.sealed()) == rows.session_row()
        with session.using:
            session.close()


def test_of_two_imports_the_first_commit_wins(backend):
    """Their rows do not mix."""
    with backend.importing(REF, SESSION.sealed()) as first:
        first.add_artifacts([artifact(1)])
        taken = pytest.raises((SessionExistsError, LockedError))
        with taken, backend.importing(REF, SESSION.sealed()) as second:
            second.add_artifacts([artifact(1), artifact(2)])
            first.commit()
            second.commit()
        if not backend.exists(REF):  # the second has waited for the first in vain
            first.commit()
    session = backend.open(REF, read_only=True)
    with session.reader() as rows:
        assert [artifact(1)] == rows.artifacts_after(-1, 9)
    with session.using:
        session.close()


def test_what_is_being_imported_is_no_leftover(backend):
    """However long it takes, and whoever else begins one."""
    with backend.importing(REF, SESSION.sealed()) as new:
        assert (0, 0, ()) == backend.remove_leftovers(2e9, dry_run=False)
        with backend.importing(REF, SESSION.sealed()):
            pass
        new.add_artifacts([artifact(1)])
        new.commit()
    assert backend.exists(REF)


def test_an_import_replaces_a_session_in_one_step(made):
    """Who has the old one open finds it gone; its rows were to be seen until then, and nothing of it is left."""
    old, reader = claimed(made), made.open(REF, read_only=True)
    with old.using, old.transaction("a test") as tx:
        tx.insert_artifact(artifact(1))
    seen = []
    with made.importing(REF, SESSION._replace(uid="1" * 32).sealed()) as new:
        new.add_artifacts([artifact(2)])
        with pytest.raises(SessionExistsError):
            new.commit()
        with old.using:
            remains = new.replace(old, lambda rows: seen.append(list(rows.artifacts_after(-1, 9))))
    assert [[artifact(1)]] == seen
    assert not old.still_there()
    for each in (old, reader):
        with each.using:
            each.close()
    remains.free()
    [found] = made.sessions(None)
    assert ("chat", "web", False) == (found.id, found.project, found.live)
    session = made.open(REF, read_only=False)
    with session.using, session.transaction("a test") as rows:
        assert ("1" * 32, [artifact(2)]) == (rows.session_row()[2], list(rows.artifacts_after(-1, 9)))
    assert session.still_there()
    assert [] == session.others()
    with session.using:
        session.close()
    assert (0, 0, ()) == made.remove_leftovers(2e9, dry_run=False)


def test_what_is_refused_before_the_last_step_replaces_nothing(made):
    """The old session stays, with what it had, and can be written to."""
    old = claimed(made)

    def refuse(rows):
        raise ZeroDivisionError

    with (
        old.using,
        pytest.raises(ZeroDivisionError),
        made.importing(REF, SESSION._replace(uid="1" * 32).sealed()) as new,
    ):
        new.add_artifacts([artifact(2)])
        new.replace(old, refuse)
    assert old.still_there()
    with old.using, old.transaction("a test") as tx:
        assert tuple(SESSION.sealed()) == tx.session_row()
        tx.insert_artifact(artifact(1))
    with old.using:
        old.close()
    assert (0, 0, ()) == made.remove_leftovers(2e9, dry_run=False)


def test_what_is_gone_is_not_replaced(made):
    """A session that was deleted meanwhile: the import can be committed instead, also where another was made and deleted since."""
    old = claimed(made)
    with made.importing(REF, SESSION._replace(uid="1" * 32).sealed()) as new:
        new.add_artifacts([artifact(2)])
        with old.using:
            old.remove(SESSION.uid).free()
        with old.using, pytest.raises(SessionDeletedError):
            new.replace(old, lambda rows: None)
        with old.using:
            old.close()
        new.commit()
    session = made.open(REF, read_only=True)
    with session.reader() as rows:
        assert [artifact(2)] == rows.artifacts_after(-1, 9)
    with session.using:
        session.close()


def claimed(made):
    """The session, open and claimed."""
    session = made.open(REF, read_only=False)
    with session.using, session.transaction("a test"):
        pass
    return session


def test_a_claim_lives_until_it_is_let_go_of(made):
    """Others see it, and who it is; a name that was never given is nobody's."""
    first, second = (claimed(made) for _ in range(2))
    reader = made.open(REF, read_only=True)
    assert "" == reader.owner
    assert first.owner != second.owner
    assert first.alive(second.owner)
    assert reader.alive(first.owner)
    assert not first.alive("owner-0123456789abcdef")
    assert 1 == len(first.others())
    assert [True] == [info.live for info in made.sessions(None)]
    with second.using:
        second.close()
    assert not first.alive(second.owner)
    assert [] == first.others()
    for each in (first, reader):
        with each.using:
            each.close()
    assert [False] == [info.live for info in made.sessions(None)]


def deleted(tx):
    tx.update_session(SESSION._replace(deleted_us=7).sealed())


def test_a_deleted_session_takes_nothing_more(made, opened):
    """Neither of who has deleted it nor of anybody else; and a new one of its name is another."""
    other = made.open(REF, read_only=False)
    with opened.using, opened.transaction("a test") as tx:
        deleted(tx)
    for each in (opened, other):
        with each.using, pytest.raises(SessionDeletedError), each.transaction("a test"):
            pass
    remains = opened.remove(UID)
    assert not opened.still_there()
    assert not made.exists(REF)
    made.make(REF, SESSION._replace(uid="1" * 32).sealed())
    with other.using, pytest.raises(SessionDeletedError), other.transaction("a test"):
        pass
    assert not other.still_there()
    with other.using:
        other.close()
    assert remains.size() >= 0
    remains.free()
    assert 0 == remains.size()
    assert made.exists(REF)


def test_a_deletion_is_finished_by_another(made):
    """Where it was marked and not taken away; one that was not marked stays, and one that is gone is gone."""
    with pytest.raises(SessionBusyError):
        made.finish_deletion(REF)
    session = made.open(REF, read_only=False)
    with session.using, session.transaction("a test") as tx:
        deleted(tx)
    with session.using:
        session.close()
    made.finish_deletion(REF).free()
    assert not made.exists(REF)
    with pytest.raises((VanishedError, StorageError)):
        made.finish_deletion(REF)
    with pytest.raises(VanishedError), made.opening(REF):
        made.open(REF, read_only=True)


def test_what_somebody_has_open_is_not_deleted_unwritten(made):
    """Where nothing can be recorded, a session goes only if nobody has it."""
    session = claimed(made)
    with pytest.raises(SessionBusyError):
        made.remove_unwritten(REF)
    assert made.open_alone(REF) is None
    with session.using:
        session.close()
    made.remove_unwritten(REF).free()
    assert not made.exists(REF)


def test_events_of_a_deleted_session_are_archived(made, opened):
    """And found by its name, the newest first, a page at a time."""
    with opened.using, opened.transaction("a test") as tx:
        tx.append_events([NewEvent(at, "read", None, None, None, "{}", None) for at in (10, 20, 30)])
    with opened.using, opened.transaction("a test") as tx:
        deleted(tx)
        opened.archive_events(tx, SESSION, 40)
    opened.remove(UID).free()
    first = made.deleted_events(REF, EventFilter(), 2, None)
    rest = made.deleted_events(REF, EventFilter(), 2, first.cursor)
    assert [30, 20, 10] == [round(event.at * 1e6) for event in [*first, *rest]]
    assert rest.cursor is None
    assert [] == made.deleted_events(SessionRef("other", "web"), EventFilter(), 2, None).items


def test_it_is_looked_at_once_an_interval(made):
    """One of those who ask gets the time of the look before."""
    assert made.last_look(1000.0, 60.0) is None
    assert made.last_look(1010.0, 60.0) is None
    assert 1000.0 == made.last_look(1070.0, 60.0)
    assert made.last_look(1071.0, 60.0) is None
