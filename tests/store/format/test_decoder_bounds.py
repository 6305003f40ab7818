"""What a decoder is given may be anything with a right digest: each length, count and size has its bound, and the last one that is allowed is read."""

from __future__ import annotations

import itertools

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from spillstore.exceptions import DigestKeyError, IntegrityError, InvalidSettingError
from spillstore.format import chunk_codec, digest_key, digests, grams, rollback_guard, segment_map
from spillstore.format.chunk import RawChunk, Totals
from spillstore.format.chunker import Chunker
from spillstore.format.segment_map import Segment

PLAIN = digests.Algorithm("blake3")
KEYED = digests.new_algorithm("blake3", "uid", bytes(32))


def row_of(raw, stream=0):
    """The row of a chunk of one stream."""
    sizes = (len(raw), 0) if stream == 0 else (0, len(raw))
    chunk = RawChunk(
        seq=0,
        raw=raw,
        segments=[Segment(stream, len(raw), 5)],
        before=Totals(),
        stdout_size=sizes[0],
        stdout_lines=0,
        stderr_size=sizes[1],
        stderr_lines=0,
        chars=len(raw),
        end_flags=0,
    )
    (row,) = chunk_codec.encode([chunk], b"prefix", PLAIN)
    return row


def framed(raw, **options):
    return zstandard.ZstdCompressor(**options).compress(raw)


# --- chunks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 65_535, 65_536])
@pytest.mark.parametrize("stream", [0, 1])
def test_a_chunk_has_one_byte_to_64_kib(size, stream):
    """Both ends of the range are read, whatever was decoded before, and belong to the stream that wrote them."""
    raw = bytes(number % 251 for number in range(size))
    row = row_of(raw, stream)
    for _ in range(2):
        assert raw == chunk_codec.decode(row)
        assert b"other" == chunk_codec.decode(row_of(b"other"))
    assert [raw, b""] == [chunk_codec.stream_part(row, raw, each) for each in (stream, 1 - stream)]
    assert len(row.data) == row.stored_size


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"size": 0, "stdout_size": 0, "data": framed(b"")}, "cannot have 0 bytes"),
        ({"size": -1, "stdout_size": -1}, "cannot have -1 bytes"),
        ({"size": 65_537, "stdout_size": 65_537, "data": framed(bytes(65_537))}, "cannot have 65537 bytes"),
        ({"stderr_size": 1}, "cannot have 10 bytes"),
        ({"stdout_size": 9}, "cannot have 10 bytes"),
        ({"data": framed(b"elevenbytes")}, "announces another size"),
        ({"data": framed(b"ten bytes!", write_content_size=False)}, "announces another size"),
        ({"data": framed(b"ten bytes!") + b"more"}, "cannot be decompressed"),
        ({"data": framed(b"ten bytes!")[:-1]}, "cannot be decompressed"),
        ({"data": b"no frame"}, "cannot be decompressed"),
    ],
)
def test_a_chunk_that_is_not_as_its_row_says_is_refused(change, words):
    """Sizes below one and above 64 KiB, streams that do not add up, a frame with another size, cut, or with something behind it."""
    row = row_of(b"0123456789")
    assert b"0123456789" == chunk_codec.decode(row)
    with pytest.raises(IntegrityError, match=words):
        chunk_codec.decode(row._replace(**change))


def test_a_frame_with_a_window_of_more_than_a_mebibyte_is_refused():
    """Others might ask for gigabytes of memory; ours need none."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    raw = bytes(10)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = compressor.compress(raw) + compressor.flush()
    with pytest.raises(IntegrityError, match=r"announces another size|cannot be decompressed"):
        chunk_codec.decode(row_of(raw)._replace(data=data))
    with pytest.raises(zstandard.ZstdError):
        chunk_codec.decompressor().decompress(data, max_output_size=100)


@pytest.mark.parametrize("column", ["data", "segments"])
def test_what_is_larger_than_a_chunk_can_be_is_not_digested(column):
    """65 KiB are looked at, and found to be wrong; a byte more is refused for its length."""
    row = row_of(b"0123456789")
    chunk_codec.verify(row, b"prefix", PLAIN)
    with pytest.raises(IntegrityError, match="digest does not match"):
        chunk_codec.verify(row._replace(**{column: bytes(65 * 1024)}), b"prefix", PLAIN)
    with pytest.raises(IntegrityError, match="holds more than a chunk can"):
        chunk_codec.verify(row._replace(**{column: bytes(65 * 1024 + 1)}), b"prefix", PLAIN)


@pytest.mark.parametrize(
    ("size", "zeros", "words", "is_one"),
    [(4, 0, 0, True), (3, 0, 0, False), (1024, 0, 0, True), (1025, 0, 0, False), (40, 13, 0, True), (40, 14, 0, False), (40, 0, 36, True),
     (40, 0, 37, False)],
)  # fmt: skip
def test_a_gram_filter_has_a_header_and_a_kibibyte_at_most(size, zeros, words, is_one):
    """Its first part ends where it does, and no hash ends in more zeros than it has bits; else it is refused, its digest right or not."""
    filter_ = (bytes((0, zeros)) + words.to_bytes(2, "little")).ljust(size, b"\0")[:size]
    assert is_one is grams.is_sealed(grams.sealed(filter_, b"row", PLAIN), b"row", PLAIN)


@pytest.mark.parametrize(
    ("column", "value"), [("seq", "text"), ("time_end", None), ("size", 2**64), ("digest", "text")]
)
def test_a_value_of_a_wrong_type_is_damage(column, value):
    """Of a chunk as of its gram filter: it is said so, and by none of Python's own errors."""
    row = row_of(b"0123456789")._replace(grams=bytes(40), **{column: value})
    for verify in (chunk_codec.verify, chunk_codec.verify_grams):
        with pytest.raises(IntegrityError):
            verify(row, b"prefix", PLAIN)
    chunk_codec.verify_grams(row_of(b"0123456789"), b"prefix", PLAIN)


def test_the_lines_of_cr_and_of_lf_have_digests_of_their_own():
    """A chunk from before its lines were counted anew does not pass for one of after."""
    assert chunk_codec.prefix("abc", "lf") != chunk_codec.prefix("abc", "cr")
    assert b"\x03abc" == chunk_codec.prefix("abc", "lf")


# --- segment maps -------------------------------------------------------------------------------------------


def mapped(count, streams, lengths, *, announced=None):
    """A stored map by its description alone."""
    planes = bytes(8 * count)
    low, high = bytes((each - 1) & 255 for each in lengths), bytes((each - 1) >> 8 for each in lengths)
    columns = bytes(streams) + low + high + planes
    start = (count if announced is None else announced).to_bytes(4, "little")
    return [b"\0" + start + columns, b"\1" + start + framed(columns)]


def decoded(encoded, stdout, stderr):
    return segment_map.decode(encoded, 7, stdout, stderr, chunk_codec.decompressor())


@pytest.mark.parametrize("packed", [0, 1])
def test_a_map_may_have_a_segment_for_each_byte_and_no_more(packed):
    """One for each byte is read; none, and one more than there are bytes, are refused before anything is made."""
    assert [(0, 1, 7), (1, 1, 7), (0, 1, 7)] == decoded(mapped(3, [0, 1, 0], [1, 1, 1])[packed], 2, 1)
    with pytest.raises(IntegrityError, match="4 segments for 3 bytes"):
        decoded(mapped(4, [0, 1, 0, 1], [1, 1, 1, 1])[packed], 2, 1)
    with pytest.raises(IntegrityError, match="0 segments for 3 bytes"):
        decoded(mapped(0, [], [])[packed], 2, 1)


@pytest.mark.parametrize("packed", [0, 1])
@pytest.mark.parametrize(
    ("encoded", "sizes", "words"),
    [
        (mapped(2, [0, 2], [1, 1]), (1, 1), "names stream 2"),
        (mapped(2, [0, 1], [2, 1]), (1, 2), "does not add up"),
        (mapped(2, [0, 1], [256, 1]), (255, 1), "does not add up"),
        (mapped(2, [0, 1], [1, 257]), (1, 256), "does not add up"),
        (mapped(2, [0, 1], [1, 1], announced=3), (2, 2), "3 segments holds"),
        (mapped(3, [0, 1, 1], [1, 1, 1], announced=2), (2, 2), "2 segments holds"),
    ],
)
def test_a_map_that_says_something_else_than_its_chunk_is_refused(encoded, sizes, words, packed):
    """A third stream, other sizes, more or fewer columns than segments, whether they are compressed or not."""
    with pytest.raises(IntegrityError, match=words):
        decoded(encoded[packed], *sizes)


@pytest.mark.parametrize("lengths", [[256, 1], [1, 256], [257, 65_279], [65_535, 1], [255, 255]])
@pytest.mark.parametrize("packed", [0, 1])
def test_lengths_of_two_bytes_are_whole(lengths, packed):
    """Low and high bytes of a segment's length come together again, and times go on from the chunk's."""
    assert [(0, lengths[0], 7), (1, lengths[1], 7)] == decoded(mapped(2, [0, 1], lengths)[packed], *lengths)


def test_a_map_of_few_segments_is_not_compressed_and_one_of_many_is():
    """A frame's header costs more than it saves on eight; on a thousand alike it saves nearly all."""
    few = [Segment(number % 2, 10, number) for number in range(8)]
    many = [Segment(number % 2, 10, number) for number in range(1000)]
    assert 5 + 11 * 8 == len(segment_map.encode(few, 0, chunk_codec.compressor()))
    assert len(segment_map.encode(many, 0, chunk_codec.compressor())) < 11 * 1000 / 10


def test_times_that_are_made_coarser_stay_within_a_tick_of_what_they_were():
    """Each time is at most one tick too early, never late, and streams keep their bytes in order."""
    segments = [Segment(number % 3 % 2, 1 + number % 5, 1000 + 777 * number) for number in range(5000)]
    tick = 10_000
    coarse = segment_map._coarsen(segments, tick)

    def each_byte(of):
        return [(stream, time) for stream, length, time in of for _ in range(length)]

    before, after = each_byte(segments), each_byte(coarse)
    assert [stream for stream, _ in before] == [stream for stream, _ in after]
    assert all(0 <= was - time < tick for (_, was), (_, time) in zip(before, after, strict=True))
    times = sorted({time for _, _, time in coarse})
    assert all(two - one >= tick for one, two in itertools.pairwise(times))


# --- chunks are cut -----------------------------------------------------------------------------------------


def cut_by_hand(runs, size, terminator):
    """The counters of each chunk by plain loops over the bytes."""
    bytes_of = [(byte, stream, now) for stream, pieces, now in runs for byte in b"".join(pieces)]
    found, totals, flags = (
        [],
        [0, 0, 0, 0],
        [True, True, True],
    )  # size and lines of both; combined, stdout, stderr
    for start in range(0, len(bytes_of), size):
        part = bytes_of[start : start + size]
        before, flags_before = list(totals), list(flags)
        for byte, stream, _ in part:
            ends = bytes([byte]) == terminator
            totals[2 * stream] += 1
            totals[2 * stream + 1] += ends
            flags[0] = flags[1 + stream] = ends
        counted = [now - was for now, was in zip(totals, before, strict=True)]
        characters = sum(byte & 0xC0 != 0x80 for byte, _, _ in part)
        found.append(
            (bytes(byte for byte, _, _ in part), before, counted, characters, flags_before, list(flags))
        )
    return found


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.lists(st.text("ab\n\ré\n", min_size=1, max_size=9).map(str.encode), min_size=1, max_size=3),
            st.integers(0, 20_000),
        ),
        max_size=12,
    ),
    st.integers(1, 12),
    st.sampled_from([b"\n", b"\r"]),
)
def test_each_chunk_counts_what_is_in_it_and_before_it(steps, size, terminator):
    """Bytes, lines, characters and open lines of both streams, and whose bytes are where, as plain loops find them."""
    runs, now = [], 0
    for stream, pieces, pause in steps:
        now += pause
        runs.append((stream, pieces, now))
    chunker = Chunker(size, terminator, digests.new_digest(PLAIN))
    chunks = []
    for run in runs:
        chunker.add(*run)
        chunks += chunker.take()
    last = chunker.finish()
    chunks += [last] if last else []

    def flags(bits):
        return [bool(bits & bit) for bit in (1, 2, 4)]

    found = []
    for number, chunk in enumerate(chunks):
        before, parts = (
            chunk.before,
            [chunk.stdout_size, chunk.stdout_lines, chunk.stderr_size, chunk.stderr_lines],
        )
        totals = [before.stdout_size, before.stdout_lines, before.stderr_size, before.stderr_lines]
        found.append(
            (chunk.raw, totals, parts, chunk.chars, flags(before.line_flags), flags(chunk.end_flags))
        )
        assert number == chunk.seq
        assert len(chunk.raw) == sum(segment.length for segment in chunk.segments)
        assert [chunk.stdout_size, chunk.stderr_size] == [
            sum(segment.length for segment in chunk.segments if segment.stream == stream) for stream in (0, 1)
        ]
        assert [segment.time for segment in chunk.segments] == sorted(
            segment.time for segment in chunk.segments
        )
    assert cut_by_hand(runs, size, terminator) == found
    owners = [segment.stream for chunk in chunks for segment in chunk.segments for _ in range(segment.length)]
    assert owners == [stream for stream, pieces, _ in runs for _ in b"".join(pieces)]


def test_writes_within_ten_milliseconds_are_one_segment():
    """A later one begins a segment of its own, as the other stream does; a clock that goes back makes no time smaller."""
    chunker = Chunker(100, b"\n", digests.new_digest(PLAIN))
    for stream, now in ((0, 0), (0, 9_999), (0, 10_000), (0, 15_000), (1, 15_000), (1, 3), (0, 4)):
        chunker.add(stream, [b"x"], now)
    assert [(0, 2, 0), (0, 2, 10_000), (1, 2, 15_000), (0, 1, 15_000)] == chunker.partial().segments


@pytest.mark.parametrize(
    ("written", "expected"),
    [([b"a\rb"], True), ([b"a\r\n"], False), ([b"a", b"\r\r\n\n"], False), ([b"a\nb\rc"], True), ([b"plain"], False), ([b"ab\r"], True)],
)  # fmt: skip
def test_a_cr_that_is_none_of_a_crlf_is_seen(written, expected):
    """It says how the lines of content that is put at once may end."""
    chunker = Chunker(1000, b"\n", digests.new_digest(PLAIN))
    for piece in written:
        chunker.add(0, [piece], 0)
    chunker.finish()
    assert expected == chunker.saw_cr


# --- keys and digests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "newline"), [(32, b""), (32, b"\n"), (4094, b"\r\n"), (4096, b"")])
def test_a_key_file_has_32_to_4096_bytes(tmp_path, size, newline):
    """Both ends of the range are a key; a line end is no part of it."""
    file = tmp_path / "key"
    file.write_bytes(b"k" * size + newline)
    file.chmod(0o600)
    assert b"k" * size == digest_key.load_key(file, "")
    assert b"k" * size == digest_key.load_key(None, str(file))
    assert b"k" * 32 == digest_key.load_key(b"k" * 32, str(file))


def test_a_key_that_would_be_too_short_without_its_line_end_keeps_it(tmp_path):
    """Random bytes may end in what looks like one."""
    file = tmp_path / "key"
    file.write_bytes(b"k" * 31 + b"\n")
    file.chmod(0o600)
    assert b"k" * 31 + b"\n" == digest_key.load_key(file, "")


@pytest.mark.parametrize(
    ("size", "mode", "words"),
    [(4097, 0o600, "more than 4096 bytes"), (31, 0o600, "has 31 bytes"), (32, 0o604, "open to everybody"), (32, 0o602, "open to everybody")],
)  # fmt: skip
def test_a_key_file_that_is_too_long_short_or_open_is_refused(tmp_path, size, mode, words):
    """Everybody must neither read nor write it, each by itself; a group may."""
    file = tmp_path / "key"
    file.write_bytes(b"k" * size)
    file.chmod(mode)
    with pytest.raises(InvalidSettingError, match=words):
        digest_key.load_key(file, "")
    if mode != 0o600:
        file.chmod(0o660)
        assert b"k" * size == digest_key.load_key(file, "")


def test_a_name_of_an_algorithm_that_never_was_is_damage():
    """Another name, a check that is too short or too long, no text at all; each of the four that there are is read."""
    for name in ("blake3", "sha256"):
        assert name == digests.stored_algorithm(name, "uid", None)
        keyed = digests.new_algorithm(name, "uid", bytes(32))
        assert f"{name}-keyed" == keyed.public_name
        assert keyed == digests.stored_algorithm(str(keyed), "uid", bytes(32))
        assert keyed.key == digests.stored_algorithm(str(keyed), "uid", bytes(32)).key
        for text in (
            str(keyed)[:-1],
            f"{keyed}0",
            f"{name}-keyed:",
            f"{name}x",
            f"md5-keyed:{'0' * 16}",
            None,
            3,
            b"blake3",
        ):
            with pytest.raises(IntegrityError, match="no digest algorithm is called"):
                digests.stored_algorithm(text, "uid", bytes(32))
        with pytest.raises(DigestKeyError, match="none is given"):
            digests.stored_algorithm(str(keyed), "uid", None)
        with pytest.raises(DigestKeyError, match="without one"):
            digests.stored_algorithm(name, "uid", bytes(32))
        for uid, key in (("other", bytes(32)), ("uid", bytes(31) + b"x")):
            with pytest.raises(DigestKeyError, match="another key"):
                digests.stored_algorithm(str(keyed), uid, key)


def test_rows_that_differ_have_digests_that_differ():
    """A value is told by its kind and length: a text from bytes and a number, nothing from an empty text, a border that moves."""
    rows = [
        ("a", "b"),
        ("ab", ""),
        ("", "ab"),
        (b"a", "b"),
        ("a", None),
        ("a", ""),
        (1, "b"),
        ("1", "b"),
        (11, None),
        (1, 1),
        (None, None),
        ("a",),
    ]
    assert len(rows) == len({digests.digest_row(PLAIN, row) for row in rows})
    assert digests.digest_row(PLAIN, (True,)) == digests.digest_row(PLAIN, (1,))  # SQLite gives numbers back


# --- sums of rows -------------------------------------------------------------------------------------------


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=6, unique=True))
def test_a_sum_follows_what_comes_changes_and_goes(rows):
    """Whatever was added, exchanged and removed before: the sum is that of the rows there are, and of no others."""
    stored = rollback_guard.new_sum(KEYED)
    for row in rows:
        stored = rollback_guard.changed_sum(KEYED, stored, None, b"old" + row)
        stored = rollback_guard.changed_sum(KEYED, stored, b"old" + row, row)
    rollback_guard.check_sum(KEYED, stored, rows)
    for other in ([*rows, b"x"], rows[1:] if rows else [b""], [*rows, *rows[:1]] if rows else [b"y"]):
        with pytest.raises(IntegrityError, match="are not those that it had"):
            rollback_guard.check_sum(KEYED, stored, other)
    for row in rows:
        stored = rollback_guard.changed_sum(KEYED, stored, row, None)
    rollback_guard.check_sum(KEYED, stored, [])


def test_a_sum_that_is_none_is_damage():
    """None, one of another length or type; a row without a digest; two sums of the same rows look different."""
    stored = rollback_guard.new_sum(KEYED)
    assert 16 + 32 == len(stored)
    assert stored != rollback_guard.new_sum(KEYED)
    for wrong in (None, b"", stored[:-1], stored + b"x", stored.hex()):
        with pytest.raises(IntegrityError, match="has no sum of its artifacts"):
            rollback_guard.check_sum(KEYED, wrong, [])
        with pytest.raises(IntegrityError, match="has no sum of its artifacts"):
            rollback_guard.changed_sum(KEYED, wrong, None, b"row")
    with pytest.raises(IntegrityError, match="digest is damaged"):
        rollback_guard.check_sum(KEYED, stored, ["text"])
    assert rollback_guard.new_sum(PLAIN) is None
    assert rollback_guard.changed_sum(PLAIN, b"any", b"one", b"two") is None
    rollback_guard.check_sum(PLAIN, b"any", [b"one"])
