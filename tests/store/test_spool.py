"""A writer that spools: what it keeps in memory, when the artifact begins, and what happens when it cannot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model import interleave
from support import NO_FLOORS, ManualClock, examples, locked, wait_until

from spillstore import Store, aio
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ArtifactTooLargeError,
    ClosedError,
    DiskFullError,
    InvalidSettingError,
    LockedError,
    RateLimitError,
    SessionDeletedError,
    SessionQuotaError,
)
from spillstore.ingest.sequencer import Sequencer
from spillstore.observers import Observer, subscribe
from spillstore.redaction import DEFAULT, Redactor

SECRET = b"hunter" + b"2abc"
PIECES = (
    b"plain line\n",
    b"no end",
    b"password=" + SECRET + b"\n",
    b"passw",
    b"ord=" + SECRET[:4],
    SECRET[4:] + b" \n",
    b"\n",
    b"\r\n",
    b"\xe4\xb8",
    b"x" * 97,
    b"y"
    * 3000,  # never a line that is too long to be looked at whole: what is held of that depends on the cuts
    b"line\n" * 3000,
)
pieces = st.sampled_from(range(len(PIECES)))  # what fails is printed
# Writes less than 10 ms apart may be given one time, by whoever looks at them first; these are at the same moment, or later.
# Times are exact sums of powers of two.
pause = st.sampled_from((0.0, 0.0, 1 / 64, 5 / 64))
scripts = st.lists(st.tuples(pieces, st.sampled_from(("stdout", "stderr")), pause), max_size=12)
sizes = st.sampled_from((0, 1, 5, 20, 200, 20_000, 10**6))


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A session for many examples, and its clock."""
    clock = ManualClock()
    store = Store(tmp_path_factory.mktemp("root"), clock=clock, **NO_FLOORS)
    with store.session("test") as session:
        yield session, clock
    store.check()


def files(session):
    """Everything that is in a session's folder; a file that SQLite has open is not opened here."""
    folder = session.path.parent
    return {
        str(path): (status.st_size, status.st_mtime_ns, status.st_ino)
        for path in folder.rglob("*")
        if (status := path.stat())
    }


def played(script, clock, writer):
    for data, stream, seconds in script:
        clock.advance(seconds)
        writer.write(data, stream)


def facts(session, writer, begun_at):
    """Everything that is known of a stored artifact, but what is its own: ids, and when it began."""
    artifact = session.artifact(writer.id)
    info = artifact.info
    (seal,) = [event.detail for event in artifact.events("seal")]
    return {
        "sizes": (info.received, info.size, info.kept, info.stdout.size, info.stderr.size),
        "lines": (info.lines, info.stdout.lines, info.stderr.lines, info.chars),
        "digest": info.digest,
        "state": (info.state, info.newline, info.exit_code),
        "times": (round(info.created - begun_at, 6), round(info.ended - begun_at, 6)),
        "segments": list(artifact.segments()),
        "redactions": [event.detail for event in artifact.events("redaction")],
        "seal": seal,
        "bytes": [
            artifact.read_bytes(0, info.size, stream=stream, holes="skip")
            for stream in ("combined", "stdout", "stderr")
        ],
    }


def secret_free(script, stream):
    """What is left of a stream when all of it is redacted at once."""
    redactor = Redactor(DEFAULT)
    return redactor.feed(b"".join(data for data, name, _ in script if name == stream)) + redactor.finish()


def expected_runs(script, hold_us):
    """The sequence, by the plain model."""
    redactors = {"stdout": Redactor(DEFAULT), "stderr": Redactor(DEFAULT)}
    now, events = 0, []
    for data, stream, seconds in script:
        now += round(seconds * 1e6)
        if passed := redactors[stream].feed(data):
            events.append(("write", now, stream, passed))
    events += [("write", now, stream, rest) for stream in redactors if (rest := redactors[stream].finish())]
    return b"".join(run.data for run in interleave([*events, ("flush", now)], hold_us))


@given(script=scripts, size=sizes, policy=st.sampled_from(("roll", "stop")), flushed=st.booleans())
@examples(80)
def test_spooled_and_then_stored_is_stored_without_spooling(world, script, size, policy, flushed):
    """Bytes, segments, counts, times and taps are the same, wherever the writes begin to be stored."""
    session, clock = world
    script = [(PIECES[piece], stream, seconds) for piece, stream, seconds in script]
    found = []
    for spool in (None, size):
        seen, begun_at = [], clock.now
        writer = session.create(
            source="x", spool=spool, policy=policy, limit=30_000 if policy == "stop" else None,
            tap=lambda stream, data, seen=seen: seen.append((stream, data)),
        )  # fmt: skip
        half = len(script) // 2
        played(script[:half], clock, writer)
        if flushed:
            writer.flush()
        played(script[half:], clock, writer)
        writer.close(exit_code=3)
        sequence = b"".join(data for _, data in seen)
        streams = [b"".join(data for name, data in seen if name == each) for each in ("stdout", "stderr")]
        found.append((facts(session, writer, begun_at), sequence, streams))
        session.artifact(writer.id).verify()
        session.artifact(writer.id).delete()
    assert found[0] == found[1]
    if policy == "roll" and not flushed:
        known, sequence, _ = found[1]
        assert expected_runs(script, 50_000) == sequence == known["bytes"][0]
        assert [secret_free(script, each) for each in ("stdout", "stderr")] == known["bytes"][1:]


@given(script=scripts)
@examples(40)
def test_what_stays_below_changes_no_file(world, script):
    """Nothing in the session's folder changes, and ``discard`` gives what would have been stored, without its secrets."""
    session, clock = world
    script = [(PIECES[piece], stream, seconds) for piece, stream, seconds in script]
    session.events()  # writes what waits to be recorded of earlier reads
    before = files(session)
    writer = session.create(source="x", command="printed once", spool=10**7)
    played(script, clock, writer)
    assert not writer.stored
    assert not session.exists(writer.id)
    runs = writer.discard()
    assert before == files(session)
    assert expected_runs(script, 50_000) == b"".join(data for _, data in runs)
    for stream in ("stdout", "stderr"):
        assert secret_free(script, stream) == b"".join(data for name, data in runs if name == stream)
    assert writer.closed
    assert [] == writer.discard()
    with pytest.raises(ClosedError):
        writer.write(b"late")
    with pytest.raises(ClosedError):
        writer.flush()
    assert before == files(session)


def test_an_id_leads_to_nothing_until_the_artifact_begins(session):
    """The id is known at once and stays; nobody can read it before there is an artifact."""
    writer = session.create(source="x", spool=10)
    with pytest.raises(ArtifactNotFoundError):
        session.artifact(writer.id)
    assert [] == list(session.artifacts())
    assert [] == list(session.events(kind="create"))
    writer.write(b"0123456789")
    assert not writer.stored
    writer.write(b"\n")
    assert writer.stored
    assert [writer.id] == [artifact.id for artifact in session.artifacts()]
    assert [writer.id] == [event.artifact_id for event in session.events(kind="create")]
    writer.close()
    assert b"0123456789\n" == session.artifact(writer.id).read_bytes(0, 99)


@pytest.mark.parametrize("asking", ["flush", "close", "abort"])
def test_whoever_asks_has_it_stored(session, asking):
    """``flush``, ``close`` and ``abort`` store what is in memory, however little it is."""
    writer = session.create(source="x", spool=1000)
    writer.write(b"little\n")
    getattr(writer, asking)(*(("the caller gave up",) if asking == "abort" else ()))
    artifact = session.artifact(writer.id)
    state = {"flush": "open", "close": "sealed", "abort": "interrupted"}[asking]
    assert (state, b"little\n") == (artifact.info.state, artifact.read_bytes(0, 99))
    writer.close()


def test_a_block_stores_what_it_has_spooled(session):
    """Leaving the block closes the writer, and closing asks for the artifact."""
    with session.create(source="x", spool=1000) as writer:
        writer.write(b"little\n")
    assert b"little\n" == session.artifact(writer.id).read_bytes(0, 99)


def test_spooled_output_is_committed_in_time(session):
    """Once the artifact has begun, what was in memory is readable soon, though nobody asks and nothing more comes."""
    writer = session.create(source="x", spool=3)
    writer.write(b"all of it\n")
    wait_until(lambda: session.artifact(writer.id).info.size == 10)
    writer.close()


def test_the_spool_does_not_count_against_the_queue(plain_store):
    """More may be spooled than ``queue_bytes``; a write behind that waits for the commit, and all of it is stored."""
    store = Store(plain_store.address, **NO_FLOORS, queue_bytes=64 * 1024)
    lines = [b"%07d a line that is spooled\n" % number for number in range(40_000)]
    with store.session("test") as session:
        writer = session.create(source="x", spool=900_000, redact=False)
        for line in lines:
            writer.write(line)
        writer.close()
        artifact = session.artifact(writer.id)
        assert b"".join(lines) == artifact.read_bytes(0, artifact.info.size)


def test_a_session_that_closes_drops_what_is_spooled(plain_store):
    """Nobody has asked for it, so it is not stored; its writer learns that the session was closed."""
    with plain_store.session("test") as session:
        writer = session.create(source="x", spool=1000)
        writer.write(b"little\n")
    with pytest.raises(ClosedError):
        writer.write(b"late\n")
    assert [("stdout", b"little\n")] == writer.discard()
    with plain_store.session("test") as session:
        assert [] == list(session.artifacts())


def test_a_discarded_artifact_is_deleted(session):
    """What was stored already goes, too, and the next write is refused."""
    for spool in (None, 3):
        writer = session.create(source="x", spool=spool)
        writer.write(b"all of it\n")
        writer.flush()
        assert [] == writer.discard()
        assert not session.exists(writer.id)
        assert ["discarded"] == [
            event.detail["why"] for event in session.events(kind="delete", artifact_id=writer.id)
        ]
        with pytest.raises(ClosedError):
            writer.write(b"late\n")
        writer.close()


# --- what keeps it from being stored ----------------------------------------------------------------------


def refused(session, error, **options):
    """A writer whose artifact cannot begin: the error is raised, again and again, and nothing is lost."""
    writer = session.create(source="x", spool=5, **options)
    writer.write(b"1234\n")
    with pytest.raises(error):
        writer.write(b"password=" + SECRET + b" 6\n")
    for call in (lambda: writer.write(b"7\n"), writer.flush, writer.close):
        with pytest.raises(error):
            call()
    assert b"1234\npassword=[REDACTED: PASSWORD] 6\n" == b"".join(data for _, data in writer.discard())
    assert not writer.stored


@pytest.mark.files
def test_a_full_disk(plain_store):
    """No room for an artifact: the write that needs one is refused, and what is in memory can be had."""
    with Store(plain_store.address, **{**NO_FLOORS, "free_disk_floor": 2**61}).session("test") as session:
        refused(session, DiskFullError)
        assert ["free_disk_floor"] == [event.detail["limit"] for event in session.events(kind="limit")]


def test_a_rate_that_is_exceeded(plain_store):
    """Writers that spool do not count; the artifact that would be one too many is refused."""
    with Store(plain_store.address, free_disk_floor=0, artifacts_per_minute=1).session("test") as session:
        for _ in range(3):
            session.create(source="x", spool=100).write(b"little\n")
        session.put(b"the one that is allowed")
        refused(session, RateLimitError)


def test_a_session_quota_that_is_met(plain_store):
    """What does not fit is an error of the next call, as for any writer: the artifact stays, interrupted."""
    with Store(plain_store.address, **NO_FLOORS, session_quota=70_000).session("test") as session:
        writer = session.create(source="x", spool=5, redact=False)
        writer.write(os.urandom(200_000))
        with pytest.raises(SessionQuotaError):
            writer.close()
        assert session.artifact(writer.id).info.state == "interrupted"


def test_a_session_that_was_deleted(plain_store):
    """A spool does not keep a session from being deleted; then there is no artifact to begin."""
    session = plain_store.session("test")
    writer = session.create(source="x", spool=5)
    writer.write(b"1234\n")
    plain_store.session("test").delete()
    with pytest.raises(SessionDeletedError):
        writer.write(b"5\n")
    assert b"1234\n" == b"".join(data for _, data in writer.discard())
    session.close()


def test_a_session_that_another_process_has_locked(plain_store):
    """The lock is waited for as long as for any writer; then the writer has failed, with all that was written in memory."""
    with Store(plain_store.address, **NO_FLOORS, busy_timeout=0.1).session("test") as session:
        with locked(session):
            refused(session, LockedError)
        assert [] == list(session.artifacts())


def test_a_limit_that_rejects(session):
    """Output that is larger than may be is refused before anything is stored."""
    writer = session.create(source="x", spool=1000, policy="reject", limit=20)
    writer.write(b"0123456789\n")
    with pytest.raises(ArtifactTooLargeError):
        writer.write(b"0123456789\n")
    assert [] == list(session.artifacts())
    with pytest.raises(ArtifactTooLargeError):
        writer.write(b"more\n")
    writer.close()
    assert [] == list(session.artifacts())


def test_a_limit_that_rejects_while_the_artifact_begins(session):
    """Nothing is left of it, whoever writes too much at that very moment."""
    writer = session.create(source="x", spool=10, policy="reject", limit=1000)

    class WritesTooMuch(Observer):
        def on_event(self, event):
            if event.kind == "create":
                with pytest.raises(ArtifactTooLargeError):
                    writer.write(b"x" * 1000)

    stop = subscribe(WritesTooMuch())
    try:
        with contextlib.suppress(ArtifactTooLargeError):
            writer.write(b"0123456789\n")
    finally:
        stop()
    assert [] == list(session.artifacts())
    with pytest.raises(ArtifactTooLargeError):
        writer.write(b"more\n")
    writer.close()
    assert [] == list(session.artifacts())


def test_observers_are_called_when_others_can_write(session):
    """An observer of an artifact's beginning waits for a thread that writes to it."""
    writer = session.create(spool=10)
    alive = []

    class Waits(Observer):
        def on_event(self, event):
            if event.kind == "create":
                thread = threading.Thread(target=writer.write, args=(b"second\n",), daemon=True)
                thread.start()
                thread.join(120)
                alive.append(thread.is_alive())

    stop = subscribe(Waits())
    try:
        writer.write(b"first is long\n")
    finally:
        stop()
    assert [False] == alive
    writer.close()
    assert b"first is long\nsecond\n" == session.artifact(writer.id).read()


@pytest.mark.parametrize("spool", [-1, True, "64KiB", 1.5])
def test_a_spool_is_a_number_of_bytes(session, spool):
    """Anything else is the caller's mistake."""
    with pytest.raises(InvalidSettingError):
        session.create(spool=spool)


def test_a_filter_that_fails(session):
    """An exception of a filter's is a storage failure, raised where the filter runs."""

    class Failing:
        def feed(self, data):
            raise ZeroDivisionError("oops")

        def finish(self):
            return b""

    from spillstore.exceptions import StorageError

    writer = session.create(spool=1000, filters=lambda stream: Failing(), redact=False)
    with pytest.raises(StorageError, match="oops"):
        writer.write(b"x")
    with pytest.raises(StorageError, match="oops"):
        writer.close()


# --- a sequencer that is there before its session ---------------------------------------------------------


def test_a_sequencer_is_stored_from_its_first_byte(session):
    """What it has taken before there was a session comes first, with its times; the tap sees all of it once."""
    seen = []
    sequencer = Sequencer(redactors=(DEFAULT.redactor(), DEFAULT.redactor()))
    sequencer.write(0, b"one\npass")
    sequencer.write(1, b"two\n")
    writer = session.create(source="x", spool=sequencer, tap=lambda stream, data: seen.append((stream, data)))
    assert writer.stored
    writer.write(b"word=" + SECRET + b" three\n")
    writer.close()
    artifact = session.artifact(writer.id)
    expected = b"one\ntwo\npassword=[REDACTED: PASSWORD] three\n"
    assert expected == artifact.read_bytes(0, 999) == b"".join(data for _, data in seen)
    assert ("stderr", b"two\n") in seen
    assert {"PASSWORD": 1} == artifact.events("redaction")[0].detail["counts"]


def test_what_a_sequencer_has_taken_is_committed_in_time(session):
    """It is readable soon, though nothing more comes, and counts as received."""
    sequencer = Sequencer()
    sequencer.write(0, b"all of it\n")
    writer = session.create(source="x", spool=sequencer)
    assert 10 == writer.received
    wait_until(lambda: session.artifact(writer.id).info.size == 10)
    writer.close()
    assert 10 == session.artifact(writer.id).info.received


def test_what_a_sequencer_has_taken_counts_for_the_limit(session):
    """Output that is too large already is rejected before there is an artifact."""
    sequencer = Sequencer()
    sequencer.write(0, b"all of it\n")
    with pytest.raises(ArtifactTooLargeError):
        session.create(source="x", spool=sequencer, policy="reject", limit=5)
    assert [] == list(session.artifacts())
    assert [(0, b"all of it\n")] == [run[:2] for run in sequencer.runs]


def test_a_sequence_goes_on_when_storing_fails(plain_store):
    """Everything that was written reaches the tap once and in order, whether it was stored or not, secrets whole."""
    seen = []
    noise = [b"%d %s\n" % (number, os.urandom(300).hex().encode()) for number in range(2000)]
    with Store(plain_store.address, **NO_FLOORS, session_quota=150_000).session("test") as session:
        sequencer = Sequencer(redactors=(DEFAULT.redactor(), DEFAULT.redactor()))
        writer = session.create(source="x", spool=sequencer, tap=lambda _, data: seen.append(data))
        rest = list(noise)
        with pytest.raises(SessionQuotaError):
            while rest:
                writer.write(rest[0])
                rest.pop(0)
            writer.flush()
        with pytest.raises(SessionQuotaError):
            writer.abort("it was full")
        sequencer.write(0, b"passw")
        for line in [b"ord=" + SECRET + b"\n", *rest]:
            sequencer.write(0, line)
        sequencer.flush(finish=True)
        text = b"".join([*noise[: len(noise) - len(rest)], b"password=[REDACTED: PASSWORD]\n", *rest])
        assert text == b"".join(seen)
        artifact = session.artifact(writer.id)
        kept = artifact.info.size
        assert ("interrupted", text[:kept]) == (artifact.info.state, artifact.read_bytes(0, kept))


def test_a_secret_is_whole_though_its_session_closes(plain_store):
    """The store's end is not the output's: what may be a secret is held back until the rest of it has come."""
    seen = []
    session = plain_store.session("test")
    sequencer = Sequencer(redactors=(DEFAULT.redactor(), DEFAULT.redactor()))
    writer = session.create(source="x", spool=sequencer, tap=lambda _, data: seen.append(data))
    writer.write(b"password=" + SECRET[:6])
    session.close()
    with pytest.raises(ClosedError):
        writer.write(SECRET[6:])
    with pytest.raises(ClosedError):
        writer.abort("the session was closed")
    sequencer.write(0, SECRET[6:] + b"\n")
    sequencer.flush(finish=True)
    assert b"password=[REDACTED: PASSWORD]\n" == b"".join(seen)


# --- asyncio ----------------------------------------------------------------------------------------------


def test_a_spooling_writer_for_asyncio(root):
    """The same names, awaited: what is little is given back, what is more is stored."""

    async def main():
        async with aio.Store(root, **NO_FLOORS).session("test") as session:
            async with session.create(source="x", spool=5) as writer:
                await writer.write(b"1234\n")
                assert not writer.stored
                assert not await session.exists(writer.id)
                assert [("stdout", b"1234\n")] == await writer.discard()
            async with session.create(source="x", spool=5) as writer:
                await writer.write(b"more than five\n")
                assert writer.stored
            artifact = await session.artifact(writer.id)
            return await artifact.read_bytes(0, 99), len(await session.artifacts())

    assert (b"more than five\n", 1) == asyncio.run(main())


def test_a_write_that_takes_long_would_block(session):
    """What begins the artifact, or is much to filter, is for another thread than that of an event loop."""
    writer = session.create(source="x", spool=10_000)
    assert (False, True, True) == tuple(writer.would_block(size) for size in (100, 5000, 10_001))
    plain = session.create(source="x", spool=10_000, redact=False)
    assert (False, False, True) == tuple(plain.would_block(size) for size in (100, 5000, 10_001))
    writer.discard()
    plain.discard()
