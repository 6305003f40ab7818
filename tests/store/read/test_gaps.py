"""A chunk that is missing, comes from another time or counts wrongly: every read gives the right bytes or says so."""

from __future__ import annotations

import itertools

import pytest
from support import NO_FLOORS, STEP, ManualClock, damage, rows_of

from spillstore import Store
from spillstore.engine.sqlite import sql as _sql
from spillstore.exceptions import DroppedRangeError, IntegrityError
from spillstore.format import chunk_codec
from spillstore.model import records

LIMIT = 24_000  # of the rolled artifacts: 3,000 bytes a chunk
KEY = b"k" * 32
FEWER = min(STEP, 3)  # with fewer examples than usual every third of the chunks, of which there are not many
COLUMNS = ", ".join(_sql.CHUNK_COLUMNS)


def fill(session, clock, limit, policy, *, ended=True):
    """An artifact of JSON lines of both streams that comes in ten seconds; and the last chunk as it once was."""
    writer = session.create(source="x", limit=limit, policy=policy)
    for number in range(1000):
        clock.advance(0.01)
        writer.write(b'{"n": %d, "text": "%s"}\n' % (number, b"x" * (number % 40)))
        if number % 97 == 0:
            writer.write(b'{"error": %d}\n' % number, stream="stderr")
        if number == 990:
            writer.flush()
            of_it = "artifact_key = (SELECT artifact_key FROM artifact WHERE artifact_id = ?)"
            sql = f"SELECT {COLUMNS} FROM chunk WHERE {of_it} ORDER BY seq DESC LIMIT 1"
            [stale] = damage(session, sql, writer.id)
    writer.write(b'{"last": "without an end"}')
    if ended:
        writer.close()
    else:
        writer.flush()
    return session.artifact(writer.id), stale


KINDS = {
    "whole": (LIMIT * 2, "roll", True),
    "rolled": (LIMIT, "roll", True),
    "open": (LIMIT * 2, "roll", False),
    "open and rolled": (LIMIT, "roll", False),
}


# With a hole there is all that there is without one, and more.
HOLES_FIRST = [pytest.param(kind, marks=() if "rolled" in kind else pytest.mark.slow) for kind in KINDS]


@pytest.fixture(
    scope="module",
    params=[pytest.param(None, id="plain"), pytest.param(KEY, id="keyed", marks=pytest.mark.slow)],
)
def stored(request, module_root):
    """An artifact of each kind, open for reading, and what changes their chunks: ``execute`` of ``rows_of``."""
    clock = ManualClock()
    store = Store(module_root, clock=clock, digest_key=request.param, **NO_FLOORS)
    with store.session("plain" if request.param is None else "keyed") as session:
        artifacts = {
            kind: fill(session, clock, limit, policy, ended=ended)
            for kind, (limit, policy, ended) in KINDS.items()
        }
        with rows_of(session) as execute:
            yield session, artifacts, execute
        session.check()


def reads(artifact):
    """Every kind of read, of every view, at the ends, in the middle and beyond, by name."""
    info = artifact.info
    asked = {}

    def ask(name, call, **options):
        asked[f"{name} {options}"] = lambda: call(**options)

    for stream, size, lines in (
        ("combined", info.size, info.lines),
        ("stdout", info.stdout.size, info.stdout.lines),
        ("stderr", info.stderr.size, info.stderr.lines),
    ):
        for holes in ("raise", "skip"):
            how = {"stream": stream, "holes": holes}
            for low, high in ((1, 5), (3, 9), (lines // 2, lines // 2 + 3), (lines - 3, lines), (1, 10**6)):
                ask(
                    f"read_lines({low}, {high})",
                    lambda low=low, high=high, **o: artifact.read_lines(max(low, 1), max(high, 1), **o),
                    **how,
                )
            for low, high in ((0, 1), (size // 3, size // 3 + 700), (size - 20, size), (0, 10**9)):
                ask(
                    f"read_bytes({low}, {high})",
                    lambda low=low, high=high, **o: artifact.read_bytes(low, high, **o),
                    **how,
                )
            for low, high in ((0, 0.05), (0.3, 0.31), (1.0, 9.0), (9.9, 99.0), (0, 10**6)):
                ask(
                    f"read_time({low}, {high})",
                    lambda low=low, high=high, **o: artifact.read_time(low, high, **o),
                    **how,
                )
            for number in (1, 3, 10**6):
                ask(f"tail({number})", lambda number=number, **o: artifact.tail(number, **o), **how)
            for place in (
                {"line": 1},
                {"line": lines // 2},
                {"line": lines},
                {"byte": size // 2},
                {"byte": size - 1},
                {"time": 0},
                {"time": 5.0},
                {"time": 9.99},
            ):
                ask("locate", artifact.locate, **place, **how)
            ask("chunks", lambda **o: b"".join(artifact.chunks(**o)), **how)
            ask("chunks(1700)", lambda **o: b"".join(artifact.chunks(1700, **o)), **how)
            ask("open", lambda **o: artifact.open(**o).read(), **how)
        ask("search", lambda **o: found(artifact.search("9", limit=10**6, **o)), stream=stream)
        ask("query", lambda **o: artifact.query("$.n", limit=10**6, lines=True, **o).matches, stream=stream)
    ask("segments", lambda **o: list(artifact.segments(**o)), holes="raise")
    ask("segments", lambda **o: list(artifact.segments(**o)), holes="skip")
    return asked


def found(page):
    return page.matches, page.total_matches, page.complete


def outcome(read):
    """What a read gives; the name of the error for one that says why it gives nothing."""
    try:
        return read()
    except (DroppedRangeError, IntegrityError) as error:
        return type(error)


def assert_right_or_told(asked, whole, what):
    """Each read gives what it gave when all was there, or IntegrityError; returns how many said that."""
    told = 0
    for name, read in asked.items():
        got = outcome(read)
        if got is IntegrityError:
            told += 1
        else:
            assert whole[name] == got, f"{name} {what}"
    return told


def chunks_of(execute, artifact):
    """The artifact's key, and its chunks' rows."""
    [(key,)] = execute("SELECT artifact_key FROM artifact WHERE artifact_id = ?", artifact.id)
    rows = execute(f"SELECT {COLUMNS} FROM chunk WHERE artifact_key = ? ORDER BY seq", key)
    return key, [chunk_codec.ChunkRow._make(row) for row in rows]


def put_back(execute, key, *rows):
    """Put rows in the place of those of the same numbers."""
    marks = ", ".join("?" * (len(_sql.CHUNK_COLUMNS) + 2))
    [(session_key,)] = execute("SELECT session_key FROM session")
    for row in rows:
        execute("DELETE FROM chunk WHERE artifact_key = ? AND seq = ?", key, row[0])
        execute(
            f"INSERT INTO chunk (session_key, artifact_key, {COLUMNS}) VALUES ({marks})",
            *(session_key, key, *row),
        )


@pytest.mark.parametrize("kind", HOLES_FIRST)
def test_no_read_leaves_out_a_chunk_that_is_missing(stored, kind):
    """Whichever chunk is taken away: each read gives all that it should, or IntegrityError, and some do say so."""
    _, artifacts, execute = stored
    artifact, _ = artifacts[kind]
    asked = reads(artifact)
    whole = {name: outcome(read) for name, read in asked.items()}
    assert IntegrityError not in whole.values()
    key, rows = chunks_of(execute, artifact)
    assert len(rows) > 6
    for row in rows[::FEWER]:
        execute("DELETE FROM chunk WHERE artifact_key = ? AND seq = ?", key, row.seq)
        told = assert_right_or_told(asked, whole, f"without chunk {row.seq}")
        with pytest.raises(IntegrityError, match=f"chunk {row.seq} of {artifact.id} is missing"):
            artifact.verify()
        if row.stdout_lines + row.stderr_lines:
            with pytest.raises(IntegrityError, match=f"^chunk {row.seq}"):
                artifact.locate(line=row.line_start + 2)
        put_back(execute, key, row)
        assert told > 10
    assert whole == {name: outcome(read) for name, read in asked.items()}


@pytest.mark.long
@pytest.mark.parametrize("kind", HOLES_FIRST)
def test_no_read_takes_one_chunk_for_another(stored, kind):
    """Two neighbours exchanged, or one twice: each read gives what it should, or IntegrityError."""
    _, artifacts, execute = stored
    artifact, _ = artifacts[kind]
    asked = reads(artifact)
    whole = {name: outcome(read) for name, read in asked.items()}
    key, rows = chunks_of(execute, artifact)
    for one, other in [*itertools.pairwise(rows)][::FEWER]:
        for changed in (
            (one._replace(seq=other.seq), other._replace(seq=one.seq)),
            (one._replace(seq=other.seq),),
        ):
            put_back(execute, key, *changed)
            assert assert_right_or_told(asked, whole, f"with chunks {one.seq} and {other.seq} exchanged")
            put_back(execute, key, one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_no_read_takes_a_chunk_as_it_once_was(stored, kind):
    """The chunk that was the last one once, before it grew: each read gives what it should, or IntegrityError."""
    _, artifacts, execute = stored
    artifact, stale = artifacts[kind]
    asked = reads(artifact)
    whole = {name: outcome(read) for name, read in asked.items()}
    key, rows = chunks_of(execute, artifact)
    (now,) = (row for row in rows if row.seq == stale[0])
    assert now.size > stale[1]
    put_back(execute, key, stale)
    assert assert_right_or_told(asked, whole, f"with an older chunk {now.seq}")
    put_back(execute, key, now)


def counting_one_more(row, counter, artifact, algorithm):
    """A chunk's row with a counter that is larger by one, and the digest that belongs to that."""
    wrong = row._replace(**{counter: getattr(row, counter) + 1})
    header = tuple(wrong)[: _sql.CHUNK_COLUMNS.index("digest")]
    start = chunk_codec.prefix(artifact.id, "lf")
    return wrong._replace(digest=chunk_codec._digest(start, header, row.segments, row.data, algorithm))


COUNTERS = ("line_start", "stdout_start", "stdout_line_start", "stderr_start", "stderr_line_start")


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("kind", ["whole", "rolled"])
def test_counters_that_do_not_go_on_are_noticed(stored, kind, counter):
    """A chunk that is right in itself, and counts other bytes or lines before itself than there are: reads of its view say so."""
    session, artifacts, execute = stored
    artifact, _ = artifacts[kind]
    key, rows = chunks_of(execute, artifact)
    algorithm = session._engine.row.digest_algorithm
    stream = counter.partition("_")[0] if counter.startswith("std") else "combined"
    for row in rows:
        put_back(execute, key, counting_one_more(row, counter, artifact, algorithm))
        if stream == "combined" or getattr(row, f"{stream}_size"):
            with pytest.raises(IntegrityError):
                b"".join(artifact.chunks(stream=stream, holes="skip"))
        put_back(execute, key, row)


@pytest.mark.parametrize("end", ["first", "last"])
@pytest.mark.parametrize("kind", ["whole", "rolled"])
def test_a_read_within_one_chunk_compares_it_with_the_artifact(stored, kind, end):
    """Bytes or lines of the first or last chunk alone, which counts another line before itself than there is, are an error."""
    session, artifacts, execute = stored
    artifact, _ = artifacts[kind]
    info = artifact.info
    key, rows = chunks_of(execute, artifact)
    row = rows[0 if end == "first" else -1]
    byte, line = (1, 4) if end == "first" else (info.size - 9, info.lines - 2)
    assert artifact.read_bytes(byte, byte + 8)
    assert artifact.read_lines(line, line + 1)
    algorithm = session._engine.row.digest_algorithm
    put_back(execute, key, counting_one_more(row, "line_start", artifact, algorithm))
    with pytest.raises(IntegrityError, match=f"^chunk {row.seq} of {artifact.id} counts other"):
        artifact.read_bytes(byte, byte + 8)
    with pytest.raises(IntegrityError, match=f"^chunk {row.seq} of {artifact.id} counts other"):
        artifact.read_lines(line, line + 1)
    put_back(execute, key, row)


def test_a_chunk_of_the_hole_is_no_part_of_what_is_kept(stored):
    """A chunk that was dropped and is there again is told, and never read."""
    _, artifacts, execute = stored
    artifact, _ = artifacts["rolled"]
    key, rows = chunks_of(execute, artifact)
    first = artifact.info.hole.start // artifact.info.chunk_size
    put_back(execute, key, rows[0]._replace(seq=first))
    assert artifact.read_bytes(0, 10**9, holes="skip")
    with pytest.raises(
        IntegrityError, match=f"chunk {first} of {artifact.id} was dropped, and is still there"
    ):
        artifact.verify()
    execute("DELETE FROM chunk WHERE artifact_key = ? AND seq = ?", key, first)


def test_what_is_counted_anew_at_the_end_is_all_there(plain_store):
    """Where lines turn out to end in CR, a chunk that is missing keeps the artifact from being sealed without it."""
    with plain_store.session("s") as session:
        writer = session.create(source="x", newline="auto", limit=20_000)
        writer.write(b"one line\r" * 2000)
        writer.flush()
        damage(session, "DELETE FROM chunk WHERE seq = 3")
        with pytest.raises(IntegrityError, match=f"chunk 3 of {writer.id} is missing"):
            writer.close()
        assert "interrupted" == session.artifact(writer.id).info.state
        session.artifact(writer.id).delete()


def test_a_hole_is_not_begun_at_a_chunk_that_is_missing(plain_store):
    """Where the first chunk to be dropped is gone already, nobody can say where the hole is: no hole is made up."""
    with plain_store.session("s") as session:
        writer = session.create(source="x", limit=LIMIT, policy="roll")
        writer.write(b"x" * 99 + b"\n")
        writer.write((b"x" * 99 + b"\n") * (LIMIT // 100 - 1))
        writer.flush()
        size = session.artifact(writer.id).info.chunk_size
        first = LIMIT // 4 // size
        damage(session, "DELETE FROM chunk WHERE seq = ?", first)
        writer.write((b"y" * 99 + b"\n") * 100)
        with pytest.raises(IntegrityError, match=f"chunk {first} of {writer.id} is missing"):
            writer.close()
        session.artifact(writer.id).delete()


def rolled_to_the_end_of_a_chunk(session):
    """A writer with a hole, the size of its chunks, and the number of the last one, which is full."""
    writer = session.create(source="x", limit=LIMIT, policy="roll")
    writer.write(b"\n")
    writer.flush()
    size = session.artifact(writer.id).info.chunk_size
    writer.write(b"x" * (2 * LIMIT - LIMIT % size - 2) + b"\n")
    writer.flush()
    return writer, size, (2 * LIMIT - LIMIT % size) // size - 1


def test_what_is_kept_around_a_hole_is_all_there_at_the_end(plain_store):
    """Where the last chunk is missing, the artifact is not sealed without it."""
    with plain_store.session("s") as session:
        writer, _, last = rolled_to_the_end_of_a_chunk(session)
        damage(session, "DELETE FROM chunk WHERE seq = ?", last)
        with pytest.raises(IntegrityError, match=f"chunk {last} of {writer.id} is missing"):
            writer.close()
        session.artifact(writer.id).delete()


def test_what_comes_before_the_end_is_there_and_nothing_else_is(plain_store):
    """Where a chunk behind the hole is gone, or stands in the hole, it is named by its place, and the artifact is not sealed."""
    for moved in (False, True):
        with plain_store.session("s") as session:
            writer, size, last = rolled_to_the_end_of_a_chunk(session)
            hole = session.artifact(writer.id).info.hole
            if moved:
                missing, there = hole.end // size, hole.start // size
                damage(session, "UPDATE chunk SET seq = ? WHERE seq = ?", there, last - 1)
            else:
                missing, there = last - 1, last
                damage(session, "DELETE FROM chunk WHERE seq = ?", missing)
            with pytest.raises(
                IntegrityError,
                match=f"chunk {missing} of {writer.id} is missing, and chunk {there} stands there",
            ):
                writer.close()
            session.artifact(writer.id).delete()


def test_rows_name_their_place():
    """What a view makes of a chunk: bytes before it and in it, line ends before it and in it."""
    row = chunk_codec.ChunkRow(2, 10, 7, 15, 6, 4, 1, 5, 4, 3, 2, 0, 0, 0, b"", b"", b"")
    places = {name: view.place(row, 10) for name, view in records.VIEWS.items()}
    assert {"combined": (20, 10, 7, 3), "stdout": (15, 6, 4, 1), "stderr": (5, 4, 3, 2)} == places
