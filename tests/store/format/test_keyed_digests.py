"""Keyed digests: who has no key changes nothing unnoticed, though every digest without a key can be computed again."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
import threading

import pytest
from leaks import everything
from support import NO_FLOORS, rows_of

from spillstore import Store
from spillstore.engine.sqlite import sql
from spillstore.exceptions import DigestKeyError, IntegrityError, InvalidSettingError
from spillstore.format import chunk_codec
from spillstore.format.digests import Algorithm, new_digest
from spillstore.model import records

KEY = bytes(range(32))
TEXT = b"".join(b"line %d\n" % number for number in range(40_000))


@pytest.fixture(params=["blake3", "sha256"])
def store(request, root):
    return Store(root, digest_key=KEY, digest=request.param, **NO_FLOORS)


@pytest.fixture
def session(store):
    with store.session("test") as session:
        yield session


def path_of(store, session_id="test"):
    return store.root / "_" / session_id / "session.db"


def change(store, *statements, session_id="test"):
    with rows_of(store, session_id) as execute:
        for statement, *parameters in statements:
            execute(statement, *parameters)


def rows(store, statement, session_id="test"):
    with rows_of(store, session_id) as execute:
        return execute(statement)


def put_rows(store, table, found, session_id="test"):
    """Put whole rows into a table, in the place of those with the same keys; they become rows of that session."""
    with rows_of(store, session_id) as execute:
        [(session_key,)] = execute("SELECT session_key FROM session")
        for _, *values in found:
            names = ["session_key", "artifact_key", "seq"][: {"session": 1, "artifact": 2, "chunk": 3}[table]]
            keys = [session_key, *values][: len(names)]
            execute(f"DELETE FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in names)}", *keys)
            marks = ", ".join("?" * (1 + len(values)))
            execute(f"INSERT INTO {table} VALUES ({marks})", session_key, *values)


# BLAKE3's are those of https://github.com/BLAKE3-team/BLAKE3, test_vectors/test_vectors.json, SHA-256's of hashlib.
VECTOR_KEY = b"whats the Elvish word for friend"


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        (Algorithm("blake3"), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        (
            Algorithm("blake3-keyed:", VECTOR_KEY),
            "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
        ),
        (Algorithm("sha256"), hashlib.sha256().hexdigest()),
        (Algorithm("sha256-keyed:", VECTOR_KEY), hmac.digest(VECTOR_KEY, b"", "sha256").hex()),
    ],
)
def test_a_digest_is_that_of_its_algorithm(algorithm, expected):
    """As others compute it: BLAKE3, with a key its own keyed mode; SHA-256, with a key HMAC."""
    assert expected == new_digest(algorithm).digest().hex()


def test_a_session_with_a_key_works_like_any_other(store):
    """Both streams, a hole, lines that end in CR, a deletion and an interruption are stored, read and checked."""
    with store.session("test") as session:
        with session.create(policy="roll", limit=100_000) as writer:
            for number in range(20):
                writer.write(TEXT[number * 9000 : number * 9000 + 9000])
                writer.write(b"oops\n", stream="stderr")
                writer.flush()
        old_mac = session.put(b"one\rtwo\rthree\r" * 9000)
        session.put(b"gone").delete()
        with pytest.raises(RuntimeError), session.create() as broken:
            broken.write(b"begun\n")
            raise RuntimeError
        session.check()
    with store.session("test") as session:
        assert 3 == len(session.artifacts())
        assert b"two\r" == session.artifact(old_mac.id).read_lines(2, 2)
        assert b"oops\n" == session.artifact(writer.id).read_lines(20, 20, stream="stderr")
        name = store.settings.digest
        digest = session.artifact(old_mac.id).info.digest
        assert digest.startswith(f"{name}-keyed:")
        assert 1 == digest.count(":")
        session.check()
    session.close()


def test_the_key_is_needed_and_the_right_one(store):
    """Without the key, with another, and with a key where there is none: each gets its own clear error."""
    with store.session("test") as session:
        session.put(b"x")
    for key, words in ((None, "none is given"), (os.urandom(32), "another key")):
        with pytest.raises(DigestKeyError, match=words):
            Store(store.address, digest_key=key, **NO_FLOORS).session("test")
        if store.root is not None:
            with pytest.raises(DigestKeyError, match=words):
                Store.open_file(path_of(store), digest_key=key)
    if store.root is not None:
        with Store.open_file(path_of(store), digest_key=KEY) as session:
            session.check()
    Store(store.address, **NO_FLOORS).session("plain").close()
    with pytest.raises(DigestKeyError, match="made without one"):
        store.session("plain")


def test_a_session_that_is_open_here_is_not_shared_without_the_key(store):
    """What this process holds with the key cannot be reached through a store that has not got it."""
    with store.session("test") as session:
        session.put(b"x")
        with pytest.raises(DigestKeyError, match="none is given"):
            Store(store.address, **NO_FLOORS).session("test")


def test_the_key_comes_from_a_file_or_the_environment(root, tmp_path, monkeypatch):
    """A path, the setting and its variable name the same key; a line end behind it does not count."""
    file = tmp_path / "key"
    file.write_text(KEY.hex() + "\n")
    file.chmod(0o600)
    text = KEY.hex().encode()
    with Store(root, digest_key=text, **NO_FLOORS).session("test") as session:
        artifact_id = session.put(b"signed").id

    def signed(session):
        with session:
            return session.artifact(artifact_id).read()

    for options in ({"digest_key": file}, {"digest_key": str(file)}, {"digest_key_file": str(file)}):
        store = Store(root, **options, **NO_FLOORS)
        assert b"signed" == signed(store.session("test", create=False))
    monkeypatch.setenv("SPILLSTORE_DIGEST_KEY_FILE", str(file))
    assert b"signed" == signed(Store(root, **NO_FLOORS).session("test", create=False))
    if store.root is not None:
        assert b"signed" == signed(Store.open_file(path_of(store)))


def test_what_is_no_key_is_refused(root, tmp_path):
    """A short key, a missing or open file, a folder and a pipe are named; nobody waits for the pipe."""
    short, loose, pipe = tmp_path / "short", tmp_path / "loose", tmp_path / "pipe"
    short.write_bytes(b"x" * 31)
    short.chmod(0o600)
    loose.write_bytes(KEY)
    loose.chmod(0o644)
    os.mkfifo(pipe, 0o600)
    for given, words in (
        (b"x" * 31, "at least 32"),
        (short, "at least 32"),
        (loose, "open to everybody"),
        (pipe, "no regular file"),
        (tmp_path, "no regular file"),
        (tmp_path / "missing", "cannot be read"),
        (42, "must be bytes or the path"),
    ):
        with pytest.raises(InvalidSettingError, match=words):
            Store(root, digest_key=given)


def test_the_key_is_nowhere_in_the_store(store):
    """Neither the key nor what a session's own key is made of stands in any file or row, in the settings or in a repr."""
    with store.session("test") as session:
        session.put(TEXT)
        algorithm = session._engine.row.digest_algorithm
        assert KEY.hex() not in repr((store, store.settings, session, algorithm))
        stored = everything(store.address)
    for secret in (KEY, algorithm.key):
        assert secret not in stored
        assert secret.hex().encode() not in stored


def forged(store, column, value, *, key=None):
    """A chunk with another value whose digest was computed again, with the algorithm and without the key."""
    found = rows(store, "SELECT * FROM chunk WHERE artifact_key = 1 AND seq = 1")[0]
    row = chunk_codec.ChunkRow._make(found[2:])._replace(**{column: value})
    (artifact_id,) = rows(store, "SELECT artifact_id FROM artifact WHERE artifact_key = 1")[0]
    plain = Algorithm(store.settings.digest, key)
    digest = chunk_codec._digest(
        chunk_codec.prefix(artifact_id, "lf"),
        row[: chunk_codec._HEADER_COLUMNS],
        row.segments,
        row.data,
        plain,
    )
    put_rows(store, "chunk", [(*found[:2], *row._replace(digest=digest))])


def test_a_changed_chunk_with_a_new_checksum_is_refused(store):
    """Another frame of the same size, its digest computed again as anybody can: it is not returned."""
    with store.session("test") as session:
        artifact_id = session.put(TEXT).id
        row = rows(store, "SELECT data FROM chunk WHERE artifact_key = 1 AND seq = 1")[0]
    raw = chunk_codec.decompressor().decompress(row[0])
    forged(store, "data", chunk_codec.compressor().compress(raw[:-1] + b"X"))
    with store.session("test", read_only=True) as session:
        artifact = session.artifact(artifact_id)
        assert TEXT[:65536] == artifact.read_bytes(0, 65536)
        for read in (artifact.verify, session.check, lambda: artifact.read_bytes(65536, 70_000)):
            with pytest.raises(IntegrityError):
                read()


def test_the_same_forgery_succeeds_without_a_key(root):
    """So the key is what refuses it: a plain session takes the new checksum for its own."""
    store = Store(root, **NO_FLOORS)
    with store.session("test") as session:
        artifact_id = session.put(TEXT).id
        row = rows(store, "SELECT data FROM chunk WHERE artifact_key = 1 AND seq = 1")[0]
    raw = chunk_codec.decompressor().decompress(row[0])
    forged(store, "data", chunk_codec.compressor().compress(b"X" + raw[1:]))
    with store.session("test", read_only=True) as session:
        assert b"X" == session.artifact(artifact_id).read_bytes(65536, 65537)


@pytest.mark.parametrize("swap", ["positions", "artifacts", "sessions"])
def test_a_chunk_in_anothers_place_is_refused(store, swap):
    """A true chunk, moved to another position, artifact or session, digest and all: reads of it fail."""
    for session_id in ("test", "other"):
        with store.session(session_id) as session:
            ids = [session.put(TEXT).id, session.put(TEXT[::-1]).id]
    found = rows(store, "SELECT * FROM chunk WHERE artifact_key = 1 AND seq = 1")[0]
    if swap == "positions":
        put_rows(store, "chunk", [(1, 1, 2, *found[3:])], session_id="other")
        position = 2 * 65536
    else:
        found = (
            rows(store, "SELECT * FROM chunk WHERE artifact_key = 2 AND seq = 1", "other")[0]
            if (swap == "artifacts")
            else found
        )
        put_rows(store, "chunk", [(1, 1, 1, *found[3:])], session_id="other")
        position = 65536
    with store.session("other", read_only=True) as session, pytest.raises(IntegrityError):
        session.artifact(ids[0]).read_bytes(position, position + 1)


def test_an_artifact_of_another_session_is_refused(store):
    """A whole artifact put into another session under the same key, row, chunks and all: it does not open."""
    for session_id in ("other", "test"):
        with store.session(session_id) as session:
            artifact_id = session.put(TEXT).id
    for table in ("artifact", "chunk"):
        found = rows(store, f"SELECT * FROM {table}")
        put_rows(store, table, [(row[0], 7, *row[2:]) for row in found], session_id="other")
    with pytest.raises(IntegrityError, match="put back"):
        store.session("other", read_only=True)
    with store.session("test", read_only=True) as session:
        session.artifact(artifact_id).verify()


def test_truncation_is_refused(store):
    """Fewer chunks are missed where they were; an artifact's row that says less has no right digest."""
    with store.session("test") as session:
        artifact_id = session.put(TEXT).id
    last = rows(store, "SELECT max(seq) FROM chunk")[0][0]
    change(store, ("DELETE FROM chunk WHERE seq = ?", last))
    with store.session("test", read_only=True) as session:
        artifact = session.artifact(artifact_id)
        assert TEXT[:100] == artifact.read_bytes(0, 100)
        for read in (artifact.verify, lambda: artifact.read_bytes(0, len(TEXT)), lambda: artifact.tail(1)):
            with pytest.raises(IntegrityError):
                read()
    found = rows(store, "SELECT * FROM artifact")[0]
    row = records.ArtifactRow(*found[1:])
    size = last * 65536
    row = row._replace(size=size, kept=size, received=size, stdout_size=size, chunks=last, chars=size)
    plain = row.sealed(Algorithm(store.settings.digest))
    put_rows(store, "artifact", [(1, *plain)])
    with pytest.raises(IntegrityError):
        store.session("test", read_only=True)


def test_an_older_last_chunk_is_refused(store):
    """The unfinished last chunk as it was before it grew, put back when the artifact was sealed: it is not returned."""
    with store.session("test") as session, session.create() as writer:
        writer.write(b"first\n")
        writer.flush()
        old = rows(store, "SELECT * FROM chunk")
        writer.write(b"second\n")
        writer.flush()
        assert old != rows(store, "SELECT * FROM chunk")
    put_rows(store, "chunk", old)
    with store.session("test", read_only=True) as session:
        artifact = session.artifact(writer.id)
        for read in (artifact.verify, lambda: artifact.read_bytes(0, 1), lambda: artifact.read_lines(1, 1)):
            with pytest.raises(IntegrityError):
                read()


def test_a_chunk_from_before_its_lines_were_counted_anew_is_refused(store):
    """Content that turns out to end its lines in CR is counted again when sealed; chunks from before do not fit."""
    with store.session("test") as session, session.create(newline="auto") as writer:
        writer.write(b"one\rtwo\r" * 10_000)
        writer.flush()
        old = rows(store, "SELECT * FROM chunk WHERE seq = 0")
    put_rows(store, "chunk", old)
    with store.session("test", read_only=True) as session, pytest.raises(IntegrityError):
        session.artifact(writer.id).read_bytes(0, 1)


def test_an_older_row_of_an_artifact_is_refused(store):
    """An artifact as it was while it was written, its row and its chunk, put back after it grew: nothing is read."""
    with store.session("test") as session, session.create() as writer:
        writer.write(b"first\n")
        writer.flush()
        row, chunk = rows(store, "SELECT * FROM artifact"), rows(store, "SELECT * FROM chunk")
        writer.write(b"second\n")
    put_rows(store, "artifact", row)
    put_rows(store, "chunk", chunk)
    for read_only in (True, False):
        with pytest.raises(IntegrityError, match="put back"):
            store.session("test", read_only=read_only)


def test_a_deleted_artifact_put_back_is_refused(store):
    """All rows of a deleted artifact put back as they were: the session does not open."""
    with store.session("test") as session:
        artifact = session.put(TEXT)
        row, chunks = rows(store, "SELECT * FROM artifact"), rows(store, "SELECT * FROM chunk")
        artifact.delete()
    put_rows(store, "artifact", row)
    put_rows(store, "chunk", chunks)
    with pytest.raises(IntegrityError, match="put back"):
        store.session("test", read_only=True)


def test_a_removed_artifact_is_missed(store):
    """An artifact taken out of the file with all its rows: the session does not open."""
    with store.session("test") as session:
        session.put(b"one")
        session.put(b"two")
    change(
        store, ("DELETE FROM artifact WHERE artifact_key = 2",), ("DELETE FROM chunk WHERE artifact_key = 2",)
    )
    with pytest.raises(IntegrityError, match="taken away"):
        store.session("test", read_only=True)


def test_an_older_session_row_is_refused(store):
    """The session's row as it was before the last artifact came: it does not fit to the artifacts there are."""
    with store.session("test") as session:
        session.put(b"one")
        old = rows(store, "SELECT * FROM session")
        session.put(b"two")
    put_rows(store, "session", old)
    with pytest.raises(IntegrityError, match="put back"):
        store.session("test", read_only=True)


def test_what_is_changed_while_the_session_is_open_is_found_by_its_check(store):
    """A row put back under a session that is open: ``check`` finds it."""
    with store.session("test") as session:
        session.put(b"kept")
        artifact = session.put(b"gone")
        row, chunks = (
            rows(store, "SELECT * FROM artifact WHERE artifact_key = 2"),
            rows(store, "SELECT * FROM chunk WHERE artifact_key = 2"),
        )
        artifact.delete()
        put_rows(store, "artifact", row)
        put_rows(store, "chunk", chunks)
        with pytest.raises(IntegrityError, match="put back"):
            session.check()


@pytest.mark.files
def test_a_whole_file_put_back_cannot_be_told(store, tmp_path):
    """The limit of what a file can prove by itself: all of it as it once was is a session as it once was."""
    with store.session("test") as session:
        session.put(b"one")
    copy = tmp_path / "copy.db"
    shutil.copy(path_of(store), copy)
    with store.session("test") as session:
        session.put(b"two")
    for beside in path_of(store).parent.glob("session.db*"):
        beside.unlink()
    shutil.copy(copy, path_of(store))
    with store.session("test", read_only=True) as session:
        assert 1 == len(session.artifacts())


def test_two_writers_keep_one_sum(store):
    """Several threads that create, grow and delete artifacts leave a session that opens."""
    with store.session("test") as session:

        def work(number):
            for turn in range(8):
                with session.create() as writer:
                    writer.write(b"%d %d\n" % (number, turn))
                    writer.flush()
                if turn % 2:
                    session.artifact(writer.id).delete()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        session.check()
    with store.session("test", read_only=True) as session:
        assert 16 == len(session.artifacts())


def test_without_a_key_no_sum_is_kept(root):
    """A session without a key stores no sum, and pays nothing for one."""
    store = Store(root, **NO_FLOORS)
    with store.session("test") as session:
        session.put(b"x")
    assert [(None,)] == rows(store, "SELECT artifacts_sum FROM session")
    assert "artifacts_sum" in sql.SESSION_COLUMNS


def test_an_artifact_that_is_marked_as_deleted_without_the_key_is_noticed(store):
    """Once who could write the file hid an artifact from who only reads, without the key, by one word in its row."""
    with store.session("test") as session:
        session.put(TEXT)
    change(store, ("UPDATE artifact SET state = 'deleted'",))
    for read_only in (True, False):
        with pytest.raises(IntegrityError):
            store.session("test", read_only=read_only)
