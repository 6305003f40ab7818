"""What may wait, whose turn it is, and what is counted: the numbers of back-pressure, on a queue that nobody empties."""

from __future__ import annotations

import threading
import time

import pytest
from support import NO_FLOORS, wait_until

from spillstore import Store
from spillstore.exceptions import ClosedError, LockedError, StorageError
from spillstore.format.chunk import Totals
from spillstore.ingest import pipeline as pipelines
from spillstore.ingest.inboxes import Inboxes
from spillstore.ingest.ingest_queue import IngestQueue
from spillstore.ingest.pipeline import Batch, Ending, Pipeline
from spillstore.ingest.sequencer import Sequencer
from spillstore.settings import Settings

KIB = 1024
MIB = 1024 * KIB
FULL, HALF = 64 * KIB, 32 * KIB  # of the smallest queue that may be


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    """The row of an artifact that is being written."""
    with (
        Store(tmp_path_factory.mktemp("queue") / "root", **NO_FLOORS).session("test") as session,
        session.create() as writer,
    ):
        yield writer._pipeline.row


@pytest.fixture
def new(row):
    """Makes pipelines; their bytes go nowhere."""
    return lambda **options: Pipeline(row, Sequencer(**options), algorithm=row_algorithm(), redacted={})


def row_algorithm():
    from spillstore.format.digests import Algorithm

    return Algorithm("blake3")


@pytest.fixture
def failed():
    return []


@pytest.fixture
def make(failed):
    """Makes queues with settings."""
    return lambda **settings: IngestQueue(
        Settings(**settings), lambda: None, lambda *what: failed.append(what)
    )


def batch(number, size=10):
    return Batch(number, [], False, Totals(), 0, size, None)


def not_waiting(function):
    """What a function gives that would wait for ever if it waited."""
    given = []
    thread = threading.Thread(target=lambda: given.append(function()), daemon=True)
    thread.start()
    wait_until(lambda: given)
    return given[0]


@pytest.mark.parametrize(
    ("most", "count", "expected"),
    [(8 * MIB, 1, 8 * MIB), (8 * MIB, 4, 8 * MIB), (8 * MIB, 5, 32 * MIB // 5), (8 * MIB, 16, 2 * MIB), (8 * MIB, 128, 256 * KIB), (8 * MIB, 200, 256 * KIB),
     (100 * KIB, 1, 100 * KIB), (100 * KIB, 50, 100 * KIB)],
)  # fmt: skip
def test_four_artifacts_have_whole_queues_and_more_of_them_share_those(make, new, most, count, expected):
    """None has less than 256 KiB, unless all are to have less; and room comes back when artifacts have ended."""
    queue = make(queue_bytes=most)
    added = [new() for _ in range(count)]
    for each in added:
        queue.add(each)
    assert expected == queue.queue_bytes
    assert added == queue.pipelines
    for each in added[1:]:
        queue.forget(each)
        queue.forget(each)
    assert most == queue.queue_bytes
    assert added[:1] == queue.pipelines
    assert added[:1] == queue.stop(forget=count > 4)
    assert ([] if count > 4 else added[:1]) == queue.pipelines
    assert queue.stopping
    assert queue.wait_for_due() is None


def test_an_artifact_ends_once(make, new):
    """How it ends is what was said first; whether anything is left to commit is told each time."""
    queue, pipeline, ending = make(), new(), Ending("sealed")
    queue.add(pipeline)
    queue.refuse_ended(pipeline)
    assert queue.close(pipeline, ending)
    assert queue.close(pipeline, Ending("aborted"))
    assert pipeline.ending is ending
    with pytest.raises(ClosedError, match="was closed before"):
        queue.refuse_ended(pipeline)
    queue.forget(pipeline)
    assert not queue.close(pipeline)


def test_what_has_failed_holds_nothing_and_says_why(make, new, failed):
    """The first failure is told to observers and to its writer; what waited does not count any more, nor what comes after it."""
    queue, pipeline, other = make(commit_bytes=FULL), new(), new()
    for each in (pipeline, other):
        queue.add(each)
        queue.add_batch(each, batch(0, 400))
        each.inbox.append((0, b"x", 0))
        each.inbox_bytes = each.uncommitted = 1
    error = StorageError("first")
    queue.fail(pipeline, error)
    queue.drop(pipeline, StorageError("second"))
    assert [(pipeline, error)] == failed
    with pytest.raises(StorageError, match="first"):
        queue.refuse_ended(pipeline)
    queue.add_batch(pipeline, batch(1, 400))
    assert (0, 0, 0, 0, None) == (
        len(pipeline.inbox),
        pipeline.inbox_bytes,
        pipeline.ready_bytes,
        pipeline.uncommitted,
        pipeline.dirty_since,
    )
    assert 400 == queue._ready_bytes
    assert [(other, [0])] == [(each, [one.number for one in batches]) for each, batches in queue.next_work()]
    not_waiting(lambda: queue.wait_until_ready(pipeline, 0) or True)


def test_a_shared_sequence_keeps_what_waits_when_storing_fails(make, row):
    """The caller goes on with it, and its tap has not seen those bytes yet."""
    queue = make()
    pipeline = Pipeline(row, Sequencer(), algorithm=row_algorithm(), redacted={}, shared=True)
    queue.add(pipeline)
    pipeline.inbox.append((0, b"x", 0))
    pipeline.inbox_bytes = pipeline.uncommitted = 1
    queue.fail(pipeline, StorageError("full"))
    assert (1, 1) == (len(pipeline.inbox), pipeline.inbox_bytes)


def test_batches_are_committed_in_their_order_smallest_artifact_first(make, new):
    """One that is not ready holds up those behind it, and a transaction takes as much as it is to have, but something."""
    queue, large, small = make(commit_bytes=FULL, commit_interval=1000.0), new(), new()
    for each in (large, small):
        queue.add(each)
    assert not queue.any_ready()
    queue.add_batch(large, batch(1, 40 * KIB))
    assert [] == queue.next_work()
    assert queue.any_ready()
    queue.add_batch(large, batch(0, 40 * KIB))
    queue.add_batch(small, batch(0, 6 * KIB))
    work = queue.next_work()
    assert [(small, [0])] == [(each, [one.number for one in batches]) for each, batches in work]
    assert [] == not_waiting(queue.wait_for_due)  # the rest comes at once
    rest = queue.next_work()
    assert [(large, [0, 1])] == [(each, [one.number for one in batches]) for each, batches in rest]
    assert 86 * KIB == queue._ready_bytes
    queue.finish(work)
    queue.finish(rest)
    assert (0, 0, 0) == (queue._ready_bytes, large.ready_bytes, small.ready_bytes)
    assert not queue.any_ready()


def test_as_much_as_a_transaction_is_to_have_goes_together(make, new):
    """Two artifacts of half of it each are one transaction; with a byte more they are two."""
    for size, expected in ((HALF, 2), (HALF + 1, 1)):
        queue = make(commit_bytes=FULL)
        for _ in range(2):
            pipeline = new()
            queue.add(pipeline)
            queue.add_batch(pipeline, batch(0, size))
        assert expected == len(queue.next_work())


def test_what_could_not_be_committed_comes_again(make, new, failed):
    """With the next attempt, all of it; an artifact whose writer waits for room fails instead, so that it is told."""
    queue, patient, waiting = make(), new(), new()
    for each in (patient, waiting):
        queue.add(each)
        queue.add_batch(each, batch(0, 100))
    waiting.waiting = 1
    work = queue.next_work()
    error = LockedError("held")
    queue.put_back(work, error)
    queue.finish(work)
    assert [(waiting, error)] == failed
    assert 100 == patient.ready_bytes
    assert [(patient, [0])] == [
        (each, [one.number for one in batches]) for each, batches in queue.next_work()
    ]


def hurries(queue, pipeline, size):
    """Whether a batch of so many bytes is not to wait for the committer's next look."""
    queue.add_batch(pipeline, batch(0, size))
    return queue._hurried


@pytest.mark.parametrize(("size", "expected"), [(FULL - 1, False), (FULL, True)])
def test_a_transaction_s_worth_is_committed_at_once(make, new, size, expected):
    """However it is spread over artifacts; less waits for its time."""
    queue = make(commit_bytes=FULL, queue_bytes=8 * MIB, commit_interval=1000.0)
    pipeline, other = new(), new()
    for each in (pipeline, other):
        queue.add(each)
    assert not hurries(queue, other, HALF)
    assert expected == hurries(queue, pipeline, size - HALF)
    if expected:
        assert [] == not_waiting(queue.wait_for_due)
        assert not queue._hurried


@pytest.mark.parametrize(("size", "expected"), [(768 * KIB - 1, False), (768 * KIB, True)])
def test_three_quarters_of_a_queue_are_committed_at_once(make, new, size, expected):
    """Before its writer must wait, though a transaction could hold more."""
    queue, pipeline = make(commit_bytes=8 * MIB, queue_bytes=MIB), new()
    queue.add(pipeline)
    assert expected == hurries(queue, pipeline, size)


@pytest.mark.parametrize(
    ("waiting", "inbox", "uncommitted", "ready", "expected"),
    [(1, False, HALF, HALF // 2, True), (0, False, HALF, HALF // 2, False), (1, True, HALF, HALF // 2, False), (1, False, HALF - 1, HALF // 2, False), (1, False, HALF + 1, HALF // 2, False)],
)  # fmt: skip
def test_a_writer_that_waits_for_a_commit_has_one_at_once(
    make, new, waiting, inbox, uncommitted, ready, expected
):
    """Half of its queue is uncommitted, half of that ready, and none waits for filters: else it would be for nothing."""
    queue, pipeline = make(commit_bytes=8 * MIB, queue_bytes=FULL), new()
    queue.add(pipeline)
    pipeline.waiting, pipeline.uncommitted = waiting, uncommitted
    if inbox:
        pipeline.inbox.append((0, b"x", 0))
    assert expected == hurries(queue, pipeline, ready)


def test_what_is_due_is_committed_with_what_would_be_next(make, new):
    """A write is due after two fifths of the interval; those older than a fifth go along; one that has ended is its closer's."""
    queue = make(commit_interval=1000.0)
    now = time.monotonic()
    ages = {900.0: True, 250.0: True, 150.0: False, None: False}
    known = {age: new() for age in ages}
    ended = new()
    for age, pipeline in [*known.items(), (900.0, ended)]:
        queue.add(pipeline)
        pipeline.dirty_since = None if age is None else now - age
    ended.ended = True
    with queue.guard:
        assert [known[age] for age, due in ages.items() if due] == queue._due()
        assert queue._until_due() <= 0
        known[900.0].dirty_since = None
        assert 100 < queue._until_due() <= 150
        known[250.0].due = True  # a worker was asked for it
        assert 100 < queue._until_due() <= 150
        known[250.0].dirty_since = now - 399
        assert 99 < queue._until_due() <= 100
        known[150.0].dirty_since = known[250.0].dirty_since = None
        assert queue._until_due() == 400.0


@pytest.mark.parametrize("how", ["ready", "committed", "failed"])
def test_who_waits_for_a_batch_goes_on_when_it_can_be_committed(make, new, how):
    """When the next one is ready, when that of the number was committed, or when none will be; not for a later one."""
    queue, pipeline = make(), new()
    queue.add(pipeline)
    queue.add_batch(pipeline, batch(1))
    done = []
    thread = threading.Thread(target=lambda: done.append(queue.wait_until_ready(pipeline, 0)), daemon=True)
    thread.start()
    wait_until(lambda: queue._changed._waiters)
    assert not done
    if how == "ready":
        queue.add_batch(pipeline, batch(0))
    elif how == "failed":
        queue.fail(pipeline, StorageError("it cannot be stored"))
    else:
        pipeline.next_commit = 1
        with queue.guard:
            queue._changed.notify_all()
    wait_until(lambda: done)


# --- inboxes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uncommitted", "size", "expected"),
    [(0, 2 * FULL, True), (1, FULL - 1, True), (1, FULL, False), (FULL, 0, True), (FULL, 1, False)],
)
def test_a_write_has_room_up_to_the_queue_s_size(make, new, uncommitted, size, expected):
    """One that is larger than all of it has room where nothing waits, else it would never have any."""
    queue, pipeline = make(queue_bytes=FULL), new()
    queue.add(pipeline)
    pipeline.uncommitted = uncommitted
    assert expected == Inboxes(queue).room(pipeline, size)


@pytest.mark.parametrize(
    ("waits", "size", "expected"), [(0, 2 * MIB, True), (1, 256 * KIB - 1, True), (1, 256 * KIB, False)]
)
def test_what_waits_for_filters_has_room_of_its_own(make, new, waits, size, expected):
    """A quarter of a MiB before their speed is known; without filters there is no such bound."""

    class Same:
        def feed(self, data):
            return data

        def finish(self):
            return b""

    for filters in (None, (Same(), Same())):
        queue, pipeline = make(queue_bytes=8 * MIB), new(filters=filters)
        queue.add(pipeline)
        if waits:
            pipeline.inbox.append((0, b"x" * waits, 0))
            pipeline.inbox_bytes = waits
        assert (expected or filters is None) == Inboxes(queue).room(pipeline, size)


@pytest.mark.parametrize(
    ("size", "seconds", "expected"),
    [(16 * MIB, 1.0, pipelines.UNFILTERED_FAST), (16 * MIB - 1, 1.0, pipelines.UNFILTERED), (2 * MIB, 1.0, pipelines.UNFILTERED),
     (2 * MIB - 1, 1.0, pipelines.UNFILTERED_SLOW), (MIB, 0.0, pipelines.UNFILTERED_FAST), (4 * MIB, 2.0, pipelines.UNFILTERED)],
)  # fmt: skip
def test_slow_filters_have_less_waiting_and_fast_ones_more(new, size, seconds, expected):
    """By how many bytes a second went through them last; a slow one has a second's worth at most."""
    pipeline = new()
    pipeline.pace(size, seconds)
    assert expected == pipeline.unfiltered
    assert pipelines.UNFILTERED_SLOW < pipelines.UNFILTERED < pipelines.UNFILTERED_FAST <= 16 * MIB


@pytest.mark.parametrize(
    ("most", "expected"),
    [(1, [b"one"]), (3, [b"one"]), (4, [b"one", b"three"]), (8, [b"one", b"three"]), (10, None), (11, None)],
)
def test_what_is_taken_is_what_was_asked_for_or_a_little_more(new, most, expected):
    """Whole writes, in their order; what is left is counted."""
    pipeline = new()
    for data in (b"one", b"three", b"xy"):
        pipeline.inbox.append((0, data, 0))
        pipeline.inbox_bytes += len(data)
    items, size = pipeline.take(most)
    taken = [b"one", b"three", b"xy"] if expected is None else expected
    assert taken == [data for _, data, _ in items]
    assert sum(map(len, taken)) == size
    assert 10 - size == pipeline.inbox_bytes == sum(len(data) for _, data, _ in pipeline.inbox)


@pytest.mark.parametrize("how", ["failed", "finished", "closed"])
def test_who_waits_for_room_goes_on_when_there_is_some_or_never_will_be(make, new, how):
    """When batches were committed, when storing has failed, and when another one has closed the artifact."""
    queue, pipeline = make(queue_bytes=FULL), new()
    queue.add(pipeline)
    pipeline.uncommitted = FULL
    said = []

    def write():
        try:
            Inboxes(queue).write(pipeline, 0, b"x" * 10)
            said.append("written")
        except (StorageError, ClosedError) as error:
            said.append(type(error))

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    wait_until(lambda: pipeline.waiting)
    work = [(pipeline, [batch(0, 100)])]
    queue._ready_bytes += 100
    if how == "failed":
        queue.fail(pipeline, StorageError("full"))
    elif how == "closed":
        queue.close(pipeline)
        queue.finish(work)
    else:
        queue.committed(pipeline, work[0][1])
        queue.finish(work)
    wait_until(lambda: said)
    assert [{"failed": StorageError, "closed": ClosedError, "finished": "written"}[how]] == said
    assert 0 == pipeline.waiting
    if how == "finished":
        assert (FULL - 90, 10, 10) == (pipeline.uncommitted, pipeline.inbox_bytes, pipeline.received)
        assert pipeline.dirty_since is not None


def test_what_is_not_committed_is_counted_to_the_byte(plain_store):
    """Nothing at first; what was written, as long as nobody can commit it; nothing when it is."""
    with plain_store.session("test") as session, session.create(redact=False) as writer:
        pipeline, queue = writer._pipeline, session._engine.ingest.queue

        def counted():
            with queue.guard:
                waits = pipeline.inbox_bytes + pipeline.ready_bytes
                return pipeline.received, pipeline.uncommitted, waits, queue._ready_bytes, pipeline.waiting

        assert (0, 0, 0, 0, 0) == counted()
        assert (-1, 0) == (pipeline.newest_batch, pipeline.next_commit)
        with session._engine._commit:
            for size in (100, 300_000, 7):
                writer.write(b"y" * size)
            received, uncommitted, *_ = counted()
            assert 300_107 == received == uncommitted
        writer.flush()
        assert (300_107, 0, 0, 0, 0) == counted()
        assert pipeline.next_commit == pipeline.newest_batch + 1
