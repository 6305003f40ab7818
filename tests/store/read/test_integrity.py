"""Damage: whatever is flipped, swapped, dropped or repeated, wrong bytes never come back."""

from __future__ import annotations

import os
import shutil
import sqlite3

import pytest
from support import NO_FLOORS, dice, rows_of

from spillstore import Store
from spillstore.engine.sqlite import sql as _sql
from spillstore.exceptions import DamageError, IntegrityError, SpillstoreError
from spillstore.model.records import ArtifactRow

LINES = [b"line %06d %s\n" % (number, b"x" * (number % 50)) for number in range(12_000)]
ERRORS = [b"error %d\n" % number for number in range(0, 12_000, 400)]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A closed session with one artifact of both streams; tests damage copies of it."""
    store = Store(tmp_path_factory.mktemp("whole"), **NO_FLOORS)
    with pytest.MonkeyPatch.context() as patch, store.session("damage") as session:
        patch.setattr("spillstore.format.grams.FROM", 0)
        with session.create() as writer:
            for number, line in enumerate(LINES):
                writer.write(line)
                if number % 400 == 0:
                    writer.write(ERRORS[number // 400], stream="stderr")
        other = session.put(b"".join(LINES))
        session.check()
    return store, writer.id, other.id


@pytest.fixture
def damaged(original, root):
    """``damaged(sql, ...)`` runs statements on a copy and returns (session, artifact); the session is not checked."""
    store, artifact_id, _ = original
    copy = Store(root, **NO_FLOORS)
    store.copy_session("damage", to=copy)
    sessions = []

    def damage(*statements):
        with rows_of(copy, "damage") as execute:
            for statement, *parameters in statements:
                execute(statement, *parameters)
        session = copy.session("damage", read_only=True)
        sessions.append(session)
        return session, artifact_id

    yield damage
    for session in sessions:
        session.close()


def read_all(artifact):
    """Every kind of read, one after the other."""
    artifact.read_bytes(0, 10**9)
    artifact.read_lines(1, 10**6)
    artifact.read_bytes(0, 10**9, stream="stderr")
    artifact.read_lines(1, 10**6, stream="stdout")
    artifact.read_time(0, 10**6)
    b"".join(artifact.chunks())


@pytest.mark.parametrize("column", _sql.CHUNK_COLUMNS)
def test_any_changed_column_of_a_chunk_is_noticed(damaged, column):
    """A change of any one column of a chunk's row: IntegrityError from reads, verify and check."""
    kind = "blob" if column in {"digest", "segments", "data", "grams"} else "number"
    where = "WHERE artifact_key = 1 AND seq = 3"
    if kind == "number":
        change = (f"UPDATE chunk SET {column} = {column} + {1000 if column == 'seq' else 1} {where}",)
    else:
        change = (f"UPDATE chunk SET {column} = ? {where}", os.urandom(100))
    session, artifact_id = damaged(change)
    artifact = session.artifact(artifact_id)
    for read in (artifact.verify, session.check, lambda: artifact.read_bytes(3 * 65536 - 10, 4 * 65536 + 10)):
        with pytest.raises(IntegrityError):
            read()


def changing(column):
    """A statement that changes a column of an artifact to a value of the same type."""
    kind = str(ArtifactRow.__annotations__[column])
    new = "'art_1_0000000000000000'"
    if "int" in kind:
        new = f"coalesce({column}, 0) + 1"
    if "bytes" in kind:
        return f"UPDATE artifact SET {column} = ? WHERE artifact_key = 1", os.urandom(32)
    return (f"UPDATE artifact SET {column} = {new} WHERE artifact_key = 1",)


@pytest.mark.parametrize("column", _sql.ARTIFACT_COLUMNS[1:])
def test_any_changed_column_of_an_artifact_is_noticed(damaged, column):
    """A change of any one column of an artifact's row keeps it from being opened, or from being found."""
    session, artifact_id = damaged(changing(column))
    with pytest.raises(SpillstoreError):
        session.artifact(artifact_id)
    with pytest.raises(IntegrityError):
        session.check()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM chunk WHERE artifact_key = 1 AND seq = 3",
        "DELETE FROM chunk WHERE artifact_key = 1 AND seq = (SELECT max(seq) FROM chunk WHERE artifact_key = 1)",
        (
            "UPDATE chunk SET data = (SELECT data FROM chunk WHERE artifact_key = 1 AND seq = 2), digest = (SELECT digest "
            "FROM chunk WHERE artifact_key = 1 AND seq = 2) WHERE artifact_key = 1 AND seq = 3"
        ),
        "UPDATE chunk SET artifact_key = artifact_key + 100 WHERE artifact_key = 1",
        "UPDATE chunk SET artifact_key = 3 - artifact_key + 100 WHERE artifact_key IN (1, 2)",
    ],
)
def test_missing_swapped_and_foreign_chunks_are_noticed(damaged, statement):
    """A chunk that is gone, in another's place, or another artifact's: reads that touch it fail."""
    statements = [(statement,)]
    if "3 - artifact_key" in statement:
        statements.append(("UPDATE chunk SET artifact_key = artifact_key - 100",))
    session, artifact_id = damaged(*statements)
    artifact = session.artifact(artifact_id)
    with pytest.raises(IntegrityError):
        read_all(artifact)
    with pytest.raises(IntegrityError):
        session.check()


def test_a_row_that_a_changed_state_hides_is_noticed(damaged):
    """Once ``check`` did not look at rows that are marked as deleted, so that one could be hidden with a word."""
    session, _ = damaged(("UPDATE artifact SET state = 'deleted' WHERE artifact_key = 1",))
    with pytest.raises(IntegrityError):
        session.check()


@pytest.mark.files
@pytest.mark.parametrize("value", ["x", b"x", b"\xff" * 100, -5, -1.5, float("inf")])
def test_a_row_with_a_time_of_another_type_is_not_left_out(damaged, value):
    """Once such a row was in no list, and ``check`` looked at what is listed alone."""
    session, _ = damaged(("UPDATE artifact SET created_us = ? WHERE artifact_key = 1", value))
    for read in (session.infos, session.check, lambda: list(session.artifacts())):
        with pytest.raises(IntegrityError):
            read()


def test_chunks_left_over_are_noticed(damaged):
    """Chunks of an artifact that is not there are reported by check."""
    session, _ = damaged(("DELETE FROM artifact WHERE artifact_key = 2",))
    with pytest.raises(IntegrityError, match="not there"):
        session.check()


def test_a_damaged_session_row_keeps_the_session_shut(damaged):
    """A change in the session's own row is noticed when it is opened."""
    with pytest.raises(IntegrityError):
        damaged(("UPDATE session SET session_id = 'another'",))


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes_of_the_file_never_give_wrong_text(original, tmp_path, seed):
    """One flipped bit anywhere in the file: the right bytes or an error of ours, never anything else."""
    store, artifact_id, other_id = original
    copy = tmp_path / "copy"
    shutil.copytree(store.root, copy)
    path = copy / "_" / "damage" / "session.db"
    raw = bytearray(path.read_bytes())
    noise = dice(seed)
    raw[noise.randrange(100, len(raw))] ^= 1 << noise.randrange(8)
    path.write_bytes(raw)
    stderr, stdout = b"".join(ERRORS), b"".join(LINES)
    try:
        with Store(copy, **NO_FLOORS).session("damage", read_only=True) as session:
            artifact, other = session.artifact(artifact_id), session.artifact(other_id)
            for read, expected in (
                (lambda: artifact.read_bytes(0, 10**9, stream="stderr"), stderr),
                (lambda: artifact.read_lines(1, 10**6, stream="stdout"), stdout),
                (lambda: other.read_lines(6001, 6001), LINES[6000]),
                (lambda: other.read_bytes(0, 10**9), stdout),
            ):
                try:
                    assert expected == read()
                except DamageError:
                    pass
    except SpillstoreError:
        pass


def test_a_file_of_something_else_is_refused(tmp_path):
    """A text file, an empty file and a foreign database are named as what they are."""
    for name, content in (("text", b"hello " * 500), ("empty", b"")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DamageError):
            Store.open_file(path)
    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()
    with pytest.raises(DamageError, match="no Spillstore session"):
        Store.open_file(foreign)


def test_a_sent_file_reads_wherever_it_lies(original, tmp_path):
    """``open_file`` reads a copy under any name and leaves nothing beside it."""
    store, artifact_id, _ = original
    path = tmp_path / "sent" / "from a friend.sqlite"
    path.parent.mkdir()
    shutil.copy(store.root / "_" / "damage" / "session.db", path)
    with Store.open_file(path) as session:
        assert LINES[99] == session.artifact(artifact_id).read_lines(100, 100, stream="stdout")
        session.check()
    assert ["from a friend.sqlite"] == [entry.name for entry in path.parent.iterdir()]
