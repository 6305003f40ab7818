"""Searches that leave chunks out: the same answers as without filters, and an error where a chunk or a filter is damaged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, damage, dice, examples, native, rows_of

from spillstore import Store
from spillstore.exceptions import IntegrityError
from spillstore.format import chunk_codec, grams
from spillstore.format.digests import Algorithm
from spillstore.read.ranges import RangeReader
from spillstore_tools.agent.search_artifact import TextCleaner

pytestmark = native

PIECES = [
    b"error", b"Timeout", b"dead", b"lock", b"_", b"req-", b"a3f09bd1", b"0042", b"77", b" ", b"=", b"K", b"ksks", "größe".encode(),
    "\u212aelvin".encode(), "\u017fort".encode(), b"\x1b[1m", b"\r", b"\x1b]0;title", b"\x07", b"\xff", b"\xc3", b"x" * 40, b"wordy " * 20,
]  # fmt: skip
lines = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join), max_size=120)
PATTERNS = [
    "error", "timeout", "deadlock", "lock_", "a3f09bd1", "req-a3f0", "größe", "title", "nowhere", "wordy wordy", "x" * 64, "ksks", "short",
    "kelvin", "dead(lock|_)", "error|wordy", "(?i)TIMEOUT.*error", "^deadlock$", r"req-[0-9a-f]+77", r"lock+_", r"er+or", "dead.*lock", r"a3f\d+bd1",
]  # fmt: skip


@pytest.fixture(scope="module")
def session(module_root):
    with Store(module_root, redact=False, **NO_FLOORS).session("chat") as session:
        yield session


@pytest.fixture(autouse=True)
def _from_the_first_on(monkeypatch):
    monkeypatch.setattr(grams, "FROM", 0)


@pytest.fixture
def small(monkeypatch):
    """Chunks of any size may have filters, those that take more bytes compressed as well."""
    monkeypatch.setattr(chunk_codec, "_TEXT_SHARE", 2)
    monkeypatch.setattr(grams, "_SHARE", 1)
    monkeypatch.setattr(grams, "_LEAST", 8)


def counted(monkeypatch):
    """Numbers of the chunks that are decoded from now on."""
    decode, decoded = chunk_codec.decode, []
    monkeypatch.setattr(chunk_codec, "decode", lambda row: decoded.append(row.seq) or decode(row))
    monkeypatch.setattr("spillstore.read.block_reader.chunk_codec.decode", chunk_codec.decode)
    return decoded


def put(session, patch, text, size, errors=0):
    """An artifact in chunks of that size; of some lines, every so manieth is stderr's."""
    patch.setattr("spillstore.session.new_artifact.CHUNK_SIZE", size)
    with session.create(source="test", newline="lf") as writer:
        for number, line in enumerate(text.splitlines(keepends=True) if errors else [text]):
            writer.write(line, stream="stderr" if errors and number % errors == 0 else "stdout")
    return writer.id


def answers(artifact, pattern, **options):
    """All pages of a search, and one that counts."""
    found = [artifact.search(pattern, **options)]
    while found[-1].cursor is not None:
        found.append(artifact.search(pattern, cursor=found[-1].cursor, **options))
    return (
        [match for page in found for match in page.matches],
        found[-1].lines,
        found[-1].total_matches,
        found[-1].scanned,
    )


@given(
    lines,
    st.data(),
    st.sampled_from([16, 64, 100, 333, 1000]),
    st.sampled_from([0, 0, 3]),
    st.sampled_from([None, TextCleaner()]),
    st.sampled_from(["combined", "stdout", "stderr"]),
)
@examples(250)
def test_with_and_without_filters(small, session, text, data, size, errors, cleaner, stream):
    """Matches, contexts, numbers and totals are the same for any text, size of chunks, view and pattern, on pages of any size."""
    text = b"\n".join(text)
    at = data.draw(st.integers(0, max(0, len(text) - 1)))
    cut = text[at : at + data.draw(st.integers(3, 70))].partition(b"\n")[0].decode("utf-8", "ignore")
    literal = data.draw(st.booleans()) and bool(cut)
    pattern = cut if literal else data.draw(st.sampled_from(PATTERNS))
    options = {
        "literal": literal,
        "ignore_case": data.draw(st.booleans()),
        "cleaner": cleaner,
        "stream": stream,
        "context": data.draw(st.sampled_from([0, 2])),
        "limit": data.draw(st.sampled_from([0, 1, 5, 1000])),
    }
    with pytest.MonkeyPatch.context() as patch:
        artifact = session.artifact(put(session, patch, text, size, errors))
        patch.setattr("spillstore.read.sieve._FIRST", data.draw(st.sampled_from([1, 2, 32])))
        patch.setattr("spillstore.read.sieve._USEFUL", data.draw(st.sampled_from([0, 0.6])))
        patch.setattr("spillstore.read.sieve._UNREAD", data.draw(st.sampled_from([1, 8])))
        patch.setattr("spillstore.read.sieve._EVERY", data.draw(st.sampled_from([3, 1024])))
        patch.setattr("spillstore.read.iteration.BLOCKS", data.draw(st.sampled_from([1, 2, 16])))
        found = answers(artifact, pattern, **options)
        patch.setattr("spillstore.search.searched_text.gram_rules", lambda *_, **__: None)
        assert answers(artifact, pattern, **options) == found
    artifact.delete()


@pytest.mark.parametrize("engine", ["sqlite", "memory"])
def test_chunks_that_cannot_match_are_not_decoded(tmp_path, monkeypatch, engine):
    """Of a text in one line of many, the chunk that holds it, its neighbours and the last one are read; of an absent one, hardly any."""
    text = [b"%d some words of a log, request %d\n" % (number, number % 97) for number in range(60_000)]
    text[30_000] = b"here is a needle_in_a_haystack\n"
    with Store("memory:" if engine == "memory" else tmp_path, **NO_FLOORS).session("s") as session:
        artifact = session.put(b"".join(text))
        decoded = counted(monkeypatch)
        found = artifact.search("needle_in_a_haystack", literal=True, limit=0)
        assert (1, 1, artifact.info.size) == (found.lines, found.total_matches, found.scanned)
        assert 5 >= len(decoded)
        decoded.clear()
        match = artifact.search("needle_in").matches[0]
        assert (30_001, "here is a needle_in_a_haystack") == (match.line, match.text)
        decoded.clear()
        assert 0 == artifact.search("(?i)DEADLOCK|panicked", limit=0).lines
        assert 3 >= len(decoded)
        session.check()


def test_first_page_of_a_common_text_looks_at_what_it_shows(session, monkeypatch):
    """However many chunks follow: neither they nor their filters are read."""
    text = b"".join(
        b"%d a word that is everywhere, request %d\n" % (number, number % 97) for number in range(60_000)
    )
    artifact = session.artifact(put(session, monkeypatch, text, 256))
    decoded, looked_at, with_grams = counted(monkeypatch), [], RangeReader.with_grams

    def noting(ranges, first, end, before):
        looked_at.append(end - first)
        return with_grams(ranges, first, end, before)

    monkeypatch.setattr(RangeReader, "with_grams", noting)
    assert 10 == len(artifact.search("everywhere", limit=10).matches)
    assert sum(looked_at) <= 32
    assert len(decoded) <= 2 * 16
    assert artifact.info.size // 256 > 5000


def test_a_line_across_many_chunks_is_found(session):
    """Where it begins in one chunk, goes on through several and is matched in the last."""
    rnd = dice()
    noise = " ".join(f"{rnd.getrandbits(40):x}" for _ in range(30_000)).encode()
    text = b"some line\n" * 20_000 + b"begin " + noise + b" the needle\n" + b"another line\n" * 20_000
    artifact = session.put(text)
    found = artifact.search("^begin .* needle$")
    assert [20_001] == [match.line for match in found.matches]
    assert 1 == artifact.search("e needle\\b", limit=0).lines


@pytest.mark.parametrize("behind", [0, 30, 64, 100, 400])
def test_a_line_that_goes_on_where_nothing_is_looked_for_is_shown_whole(small, session, monkeypatch, behind):
    """What is found ends that far before the end of its chunk; the next one, which its filter rules out, has the rest of the line."""
    text = b"".join(b"%d some words of a log\n" % number for number in range(400))
    begin = text.rindex(b"\n", 0, 3960 - behind) + 1
    line = b"needle_in_a_haystack".rjust(4000 - behind - begin, b".") + b" and so on" * 60
    artifact = session.artifact(
        put(session, monkeypatch, text[:begin] + line + b"\n" + text[begin:], size=1000)
    )
    decoded = counted(monkeypatch)
    found = artifact.search("needle_in_a_haystack", literal=True)
    assert [line.decode()] == [match.text for match in found.matches]
    assert len(decoded) < 8
    artifact.delete()


@pytest.fixture
def damaged(root):
    """A session with one artifact, and what runs a statement on its rows."""
    rnd = dice()
    text = b"".join(b"%x words of a text that goes on\n" % rnd.getrandbits(60) for number in range(20_000))
    with Store(root, **NO_FLOORS).session("s") as session:
        artifact_id = session.put(text).id

    def run(statement, *parameters):
        with rows_of(Store(root), "s") as execute:
            execute(statement, *parameters)

    def search(pattern="nowhere_in_it"):
        with Store(root, **NO_FLOORS).session("s", read_only=True) as session:
            return session.artifact(artifact_id).search(pattern, limit=0).lines

    assert 0 == search()
    return run, search


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            ("UPDATE chunk SET grams = (SELECT grams FROM chunk WHERE seq = 4) WHERE seq = 3",),
            "filter of chunk 3",
        ),
        (("UPDATE chunk SET grams = ? WHERE seq = 3", bytes(100)), "filter of chunk 3"),
        (("UPDATE chunk SET grams = ? WHERE seq = 3", b""), "filter of chunk 3"),
        pytest.param(
            ("UPDATE chunk SET grams = 'text' WHERE seq = 3",), "filter of chunk 3", marks=pytest.mark.files
        ),
        (("UPDATE chunk SET line_start = line_start + 1 WHERE seq = 3",), "filter of chunk 3"),
        (("UPDATE chunk SET digest = ? WHERE seq = 3", bytes(32)), "filter of chunk 3"),
        (("DELETE FROM chunk WHERE seq = 3",), "chunk 3 .* is missing"),
        (("UPDATE chunk SET data = ? WHERE seq = (SELECT max(seq) FROM chunk)", bytes(100)), "is damaged"),
    ],
)
def test_damage_is_an_error(damaged, statement, words):
    """Of a filter, of what it is bound to, and a chunk that is missing, though nothing would have been read of it."""
    run, search = damaged
    run(*statement)
    with pytest.raises(IntegrityError, match=words):
        search()


def test_the_last_of_many_chunks_is_missed(small, session, monkeypatch):
    """Where it is gone with its filter, those that are left are not taken for all: the error names it."""
    text = b"".join(b"%d some words of a log\n" % number for number in range(400))
    artifact = session.artifact(put(session, monkeypatch, text, 1000))
    last = (len(text) - 1) // 1000
    where = "seq = ? AND artifact_key = (SELECT artifact_key FROM artifact WHERE artifact_id = ?)"
    damage(session, f"DELETE FROM chunk WHERE {where}", last, artifact.id)
    with pytest.raises(IntegrityError, match=f"chunk {last} of {artifact.id} is missing"):
        artifact.search("nowhere_in_it", limit=0)
    artifact.delete()


def test_verification_finds_a_damaged_filter(damaged, root):
    """Though no read needs it."""
    run, _ = damaged
    run("UPDATE chunk SET grams = ? WHERE seq = 3", bytes(100))
    with (
        Store(root, **NO_FLOORS).session("s", read_only=True) as session,
        pytest.raises(IntegrityError, match="filter of chunk 3"),
    ):
        next(iter(session.artifacts())).verify()


def reseal(root, seq, change):
    """Rewrite the filter of a chunk, with a digest that fits."""
    with rows_of(Store(root), "s") as execute:
        where = "WHERE seq = ? AND artifact_key = (SELECT max(artifact_key) FROM chunk)"
        [(_, _, *values)] = execute(f"SELECT * FROM chunk {where}", seq)
        row = chunk_codec.ChunkRow._make(values)
        [(name,)] = execute("SELECT max(artifact_id) FROM artifact")
        place = chunk_codec._place(chunk_codec.prefix(name, "lf"), row[: chunk_codec._HEADER_COLUMNS], row.digest)  # fmt: skip
        filter_ = grams.sealed(change(row.grams[grams._CHECK :]), place, Algorithm("blake3"))
        execute(f"UPDATE chunk SET grams = ? {where}", filter_, seq)


def without_words(filter_):
    return filter_[: grams._HEADER] + bytes(len(filter_) - grams._HEADER)


def test_verification_finds_a_filter_that_does_not_fit(damaged, root):
    """One whose digest is right, which no search can tell from a sound one: it hides what its chunk holds."""
    _, search = damaged
    lines = search("words of a text")
    reseal(root, 3, lambda filter_: filter_)
    with Store(root, **NO_FLOORS).session("s", read_only=True) as session:
        session.check()
    reseal(root, 3, without_words)
    assert search("words of a text") < lines
    with Store(root, **NO_FLOORS).session("s", read_only=True) as session:
        (artifact,) = session.artifacts()
        assert artifact.info.size == len(artifact.read())
        for check in (artifact.verify, session.check):
            with pytest.raises(IntegrityError, match=r"filter of chunk 3 of art_.* does not fit"):
                check()


@pytest.mark.parametrize("size", [40, 1000, 65536])
def test_filters_behind_a_hole_are_verified(small, root, monkeypatch, size):
    """Though what stood before the first chunk there is gone; its filter is held against what is left."""
    monkeypatch.setattr("spillstore.session.new_artifact.CHUNK_SIZE", size)
    rnd = dice()
    with Store(root, redact=False, **NO_FLOORS).session("s") as session:
        with session.create(source="test", newline="lf", policy="roll", limit=20 * size) as writer:
            for _ in range(50):
                writer.write(
                    b"".join(
                        b"gr\xc3\xb6\xc3\x9fe %x words\n" % rnd.getrandbits(60) for _ in range(size // 20)
                    )
                )
        assert session.artifact(writer.id).info.hole is not None
        session.check()
        found = damage(session, "SELECT seq, grams IS NOT NULL FROM chunk ORDER BY seq")
    behind = next(seq for (seq, _), (before, _) in zip(found[1:], found, strict=False) if seq != before + 1)
    wanted = [seq for seq, has in found if has and seq >= behind][:2]
    assert behind == wanted[0]
    for seq in reversed(wanted):
        reseal(root, seq, without_words)
        with (
            Store(root, **NO_FLOORS).session("s", read_only=True) as session,
            pytest.raises(IntegrityError, match=f"filter of chunk {seq} of art_.* does not fit"),
        ):
            session.check()


def test_without_filters_all_is_read(damaged):
    """As in a file that was upgraded: the answers are the same."""
    run, search = damaged
    assert 20_000 == search("words of a text")
    run("UPDATE chunk SET grams = NULL")
    assert (0, 20_000) == (search(), search("words of a text"))


def test_filters_take_little_and_are_counted(session):
    """At most a twenty-fifth of what is stored, and ``stored_size`` has it."""
    rnd = dice()
    text = b"".join(b"%x %d words of a text\n" % (rnd.getrandbits(60), number) for number in range(20_000))
    artifact = session.put(text)
    with rows_of(session) as execute:
        sizes = execute("SELECT length(data), length(segments), length(grams) FROM chunk c JOIN artifact a USING (artifact_key) WHERE a.artifact_id = ? ORDER BY seq", artifact.id)  # fmt: skip
    assert artifact.info.stored_size == sum(
        data + segments + (filters or 0) for data, segments, filters in sizes
    )
    assert 0 < sum(filters or 0 for _, _, filters in sizes) <= sum(data for data, _, _ in sizes) / 25
    assert sizes[-1][2] is None


def test_only_long_artifacts_have_filters(session, monkeypatch):
    """None of the first chunks has one; what is short is searched in milliseconds, and pays nothing."""
    monkeypatch.setattr(grams, "FROM", 3)
    rnd = dice()
    artifact = session.put(b"".join(b"%x words of a text\n" % rnd.getrandbits(60) for _ in range(20_000)))
    with rows_of(session) as execute:
        found = execute("SELECT grams IS NOT NULL FROM chunk c JOIN artifact a USING (artifact_key) WHERE a.artifact_id = ? ORDER BY seq", artifact.id)  # fmt: skip
    count = len(found)
    assert [(0,)] * 3 + [(1,)] * (count - 4) + [(0,)] == found


@pytest.mark.parametrize("cut", [b"\xc3", b"\xe2\x84", b"\xff"])
def test_a_character_that_is_cut_off_at_the_end_is_seen(session, monkeypatch, cut):
    """By who searches what a reader sees, where the last chunk is whole and has a filter."""
    monkeypatch.setattr("spillstore.session.new_artifact.CHUNK_SIZE", 4096)
    rnd = dice()
    text = b"".join(b"%x words of a text\n" % rnd.getrandbits(60) for _ in range(3000))[: 16 * 4096 - 20]
    text = text[: text.rindex(b"\n") + 1]
    artifact = session.put(text + b"w" * (16 * 4096 - len(text) - len(cut)) + cut)
    assert 1 == artifact.search("w\ufffd", literal=True, cleaner=TextCleaner(), limit=0).lines
