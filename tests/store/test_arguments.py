"""A caller's mistakes, and a model's: each gets an error that names the value and shows a right call."""

from __future__ import annotations

import pytest

from spillstore.exceptions import (
    ArtifactNotFoundError,
    ClosedError,
    InvalidIdError,
    InvalidSettingError,
    RangeError,
    RangeTooLargeError,
    SessionNotFoundError,
    SpillstoreError,
    UsageError,
)
from spillstore.model.arguments import filter_time


@pytest.fixture
def artifact(session):
    return session.put(b"one\ntwo\nthree\n")


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (lambda a: a.read_lines(0, 5), "lines count from 1"),
        (lambda a: a.read_lines(-3, 5), "-3"),
        (lambda a: a.read_lines(5, 2), "before first"),
        (lambda a: a.read_lines(10**31, 10**30), "before first"),
        (lambda a: a.read_lines("1", 2), r"read_lines\(1, 100\)"),
        (lambda a: a.read_lines(1, None), "None"),
        (lambda a: a.read_lines(True, 2), "True"),
        (lambda a: a.read_lines(1.0, 2), "whole number"),
        (lambda a: a.read_lines(1, 2, stream="both"), "combined, stdout or stderr"),
        (lambda a: a.read_lines(1, 2, stream=None), "None"),
        (lambda a: a.read_lines(1, 2, holes="ignore"), "ignore"),
        (lambda a: a.read_bytes(-1, 5), "count from 0"),
        (lambda a: a.read_bytes(5, 2), "before start"),
        (lambda a: a.read_bytes(10**31, 10**30), "before start"),
        (lambda a: a.read_bytes("null", 2), "null"),
        (lambda a: a.read_time(-1, 2), "-1"),
        (lambda a: a.read_time(2, 1), "before start"),
        (lambda a: a.read_time(float("nan"), 1), "nan"),
        (lambda a: a.read_time("0", 1), "'0'"),
        (lambda a: a.tail(-1), "-1"),
        (lambda a: a.tail("all"), "all"),
    ],
)
def test_a_range_that_means_nothing_is_refused(artifact, call, shown):
    """Wrong types, reversed and negative ranges, unknown streams: RangeError, which is a ValueError too."""
    with pytest.raises(RangeError, match=shown) as caught:
        call(artifact)
    assert isinstance(caught.value, ValueError)


def test_ranges_past_the_end_are_clipped(artifact):
    """Past the end gives what there is, however far."""
    assert b"three\n" == artifact.read_lines(3, 10**30)
    assert b"" == artifact.read_lines(10**30, 10**31)
    assert b"ree\n" == artifact.read_bytes(10, 10**30)
    assert b"" == artifact.read_bytes(10**30, 10**31)
    assert b"one\ntwo\nthree\n" == artifact.read_time(0, float("inf")) == artifact.tail(10**30)


def test_too_large_an_answer_names_the_way_out(artifact):
    """An answer above ``max_bytes`` is refused and the iterator is named; one at the limit is given."""
    for read, start in ((artifact.read_lines, 1), (artifact.read_bytes, 0), (artifact.read_time, 0)):
        with pytest.raises(RangeTooLargeError, match=r"chunks\(\)"):
            read(start, 99, max_bytes=13)
    assert 14 == len(artifact.read_lines(1, 3, max_bytes=14))


@pytest.mark.parametrize(
    "artifact_id", ["", "null", "../../etc/passwd", "art_1_x/../y", "art_1_\n", None, 7, "art_1_0"]
)
def test_unknown_malformed_and_foreign_ids_look_alike(session, artifact_id):
    """Every id that this session does not hold gives the same error."""
    with pytest.raises(ArtifactNotFoundError, match="lists what there is"):
        session.artifact(artifact_id)
    assert not session.exists(artifact_id)


def test_another_sessions_artifact_cannot_be_told_from_an_unknown_one(store):
    """An id that exists elsewhere is not found here, in the same words."""
    with store.session("mine") as mine, store.session("theirs") as theirs:
        foreign = theirs.put(b"secret").id
        unknown = foreign[:-4] + "0000"
        messages = []
        for artifact_id in (foreign, unknown):
            with pytest.raises(ArtifactNotFoundError) as caught:
                mine.artifact(artifact_id)
            messages.append(str(caught.value).replace(artifact_id, "ID"))
        assert messages[0] == messages[1]


@pytest.mark.parametrize(
    "name", ["", "x" * 201, "\u4e16" * 67, "a\nb", "a\x00b", "a\x7f", "\x9f", "\ud800", None, 3, b"x"]
)
def test_ids_that_are_not_allowed_are_refused(store, name):
    """Empty, too long, control characters, half surrogates and other types: InvalidIdError."""
    with pytest.raises(InvalidIdError):
        store.session(name).__enter__()
    if name is not None:
        with pytest.raises(InvalidIdError):
            store.session("fine", project=name).__enter__()


def test_a_missing_session_is_not_made_by_readers(store):
    """``create=False`` and ``read_only=True`` never make anything on disk."""
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(SessionNotFoundError):
            store.session("absent", **options).__enter__()
    assert [] == list(store.sessions())
    assert store.root is None or not store.root.exists()


@pytest.mark.parametrize(
    "options",
    [
        {"newline": "crlf"},
        {"policy": "drop"},
        {"limit": 0},
        {"limit": "1 apple"},
        {"source": None},
        {"command": 7},
        {"tool_call_id": b"x"},
        {"content_type": ["text/plain"]},
    ],
)
def test_wrong_arguments_of_create_are_refused(session, options):
    """A wrong type or value of ``create`` names itself."""
    with pytest.raises(InvalidSettingError, match=next(iter(options))):
        session.create(**options).__enter__()


def test_wrong_data_is_refused(session):
    """``write`` takes bytes and text and says so."""
    with session.create() as writer:
        for data in (None, 7, ["x"]):
            with pytest.raises((UsageError, TypeError)):
                writer.write(data)
        with pytest.raises(RangeError, match="stdout or stderr"):
            writer.write(b"x", stream="combined")
        with pytest.raises(
            UsageError, match=r"at must be a reading of time\.monotonic, or None for now, not 'now'"
        ):
            writer.write(b"x", at="now")


def test_a_closed_writer_says_so(session):
    """Writing or flushing after the end is ClosedError; closing twice is fine."""
    with session.create() as writer:
        writer.write(b"x")
    writer.close()
    for call in (lambda: writer.write(b"y"), writer.flush):
        with pytest.raises(ClosedError, match="closed before"):
            call()
    assert writer.closed


def test_a_closed_session_says_so(store):
    """Everything on a closed session raises one of ours and names the way out."""
    with store.session("closing") as session:
        artifact = session.put(b"x")
    for call in (session.artifacts, lambda: session.put(b"y"), session.check):
        with pytest.raises(ClosedError, match="open it again"):
            call()
    with pytest.raises(SpillstoreError):
        artifact.read_bytes(0, 1)


@pytest.mark.parametrize(
    ("name", "value"), [("limit", 0), ("limit", "5"), ("state", "dead"), ("cursor", "x"), ("cursor", 3)]
)
def test_wrong_filters_are_refused(session, name, value):
    """A filter, limit or cursor that means nothing names itself."""
    with pytest.raises(InvalidSettingError, match=str(value)):
        session.artifacts(**{name: value})


@pytest.mark.parametrize("call", ["events", "new_events"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", 5),
        ("kind", float("nan")),
        ("actor", ["model"]),
        ("artifact_id", 1),
        ("tool_call_id", b"call_1"),
        ("since", "2h"),
        ("since", float("nan")),
        ("since", True),
    ],
)
def test_a_filter_of_events_that_means_nothing_is_refused(session, call, name, value):
    """A wrong type is named; none of them means "any"."""
    session.put(b"one\n")
    with pytest.raises(InvalidSettingError, match=name):
        getattr(session, call)(**{name: value})


def test_filters_may_be_any_text_and_any_time(session):
    """Text that no row can hold finds what is stored for it, or nothing; times and limits beyond all others are no error."""
    half = "call \udc80"
    with session.acting(half, half):
        artifact = session.put(b"one\n", tool_call_id=half)
    assert ["seal", "create"] == [event.kind for event in session.events(actor=half)]
    assert ["seal", "create"] == [event.kind for event in session.events(tool_call_id=half)]
    assert [[], []] == [session.events(**{name: half}).items for name in ("kind", "artifact_id")]
    assert [] == artifact.events(half)
    assert [] == session.matching("\udc80") + session.matching("art_", 0)
    assert [artifact.id] == session.matching("art_", 10**30)
    assert 2 == len(artifact.events(limit=10**30)) == len(session.events(limit=10**30))
    for since, found in ((-(10**30), 1), (float("-inf"), 1), (10**30, 0), (float("inf"), 0)):
        assert found == len(session.infos(since=since)) == len(session.events(kind="seal", since=since))
    assert 2 == len(session.events(until=10**30))


def test_the_time_of_an_artifact_finds_it():
    """A time that was listed is that of its row to the microsecond, whatever a float makes of it."""
    times = range(1_795_851_895_337_000, 1_795_851_895_338_000)
    assert list(times) == [filter_time(time_us / 1e6, "since") for time_us in times]
