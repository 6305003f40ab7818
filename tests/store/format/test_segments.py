"""The segment map: round trips, its bound, and what it costs."""

from __future__ import annotations

import itertools
import random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from spillstore.exceptions import IntegrityError
from spillstore.format import chunk_codec, segment_map
from spillstore.format.segment_map import MAX_MAP_BYTES, Segment


def round_trip(segments):
    encoded = segment_map.encode(segments, segments[0].time, chunk_codec.compressor())
    sizes = [sum(s.length for s in segments if s.stream == stream) for stream in (0, 1)]
    return encoded, segment_map.decode(encoded, segments[0].time, *sizes, chunk_codec.decompressor())


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(1, 65536), st.integers(0, 2**40)), min_size=1, max_size=40
    ),
    st.integers(0, 2**50),
)
def test_any_segments_come_back(parts, start):
    """Streams, lengths and times survive encoding."""
    segments, now = [], start
    for stream, length, pause in parts:
        now += pause
        segments.append(Segment(stream, length, now))
    assert segments == round_trip(segments)[1]


def test_one_segment_needs_no_map():
    """A chunk of one stream that arrived together stores no map at all."""
    assert (b"", [Segment(1, 500, 7)]) == round_trip([Segment(1, 500, 7)])


@pytest.mark.long
def test_the_worst_map_stays_within_its_bound():
    """One-byte writes at jittering times for eleven minutes: times become coarser, bytes and streams stay exact."""
    noise = random.Random(1)
    segments, now = [], 0
    for index in range(65536):
        now += 10_000 + noise.randrange(1_000_000)
        segments.append(Segment(index % 2, 1, now))
    encoded, decoded = round_trip(segments)
    assert len(encoded) <= MAX_MAP_BYTES
    assert [s.stream for s in segments] == [stream for stream, length, _ in decoded for _ in range(length)]
    assert [s.time for s in decoded] == sorted(s.time for s in decoded)


def test_ordinary_mixed_output_pays_little():
    """At 2 % stderr the map takes at most 5 % of what the chunk itself takes."""
    noise = random.Random(2)
    segments, raw, now = [], [], 0
    while sum(map(len, raw)) < 65536 - 200:
        stream = int(noise.random() < 0.02)
        line = f"{noise.randrange(10**9):010d} compiled module {noise.randrange(10**6)} in {noise.random():.4f} s\n"
        now += noise.randrange(400)
        raw.append(line.encode())
        if segments and segments[-1].stream == stream and now - segments[-1].time < 10_000:
            segments[-1] = segments[-1]._replace(length=segments[-1].length + len(line))
        else:
            segments.append(Segment(stream, len(line), now))
    encoded, decoded = round_trip(segments)
    assert segments == decoded
    assert len(encoded) <= 0.05 * len(chunk_codec.compressor().compress(b"".join(raw)))


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_map_that_does_not_add_up_is_refused(cut):
    """A truncated map never gives wrong segments."""
    segments = [Segment(i % 2, 10 + i, i * 1000) for i in range(6)]
    encoded, _ = round_trip(segments)
    with pytest.raises(IntegrityError):
        segment_map.decode(encoded[:-cut], 0, 100, 100, zstandard.ZstdDecompressor())


def test_coarser_times_join_neighbours_of_one_stream():
    """Where a map would be too large, segments of one stream that fall into one tick become one, and no bytes are lost."""
    noise, now, segments = random.Random(3), 0, []
    for index in range(49_000):
        now += noise.randrange(5_000)
        segments.append(Segment(index // 40_000, 1 + index // 40_000, now))
    encoded, decoded = round_trip(segments)
    assert len(encoded) <= MAX_MAP_BYTES
    assert [40_000, 18_000] == [sum(s.length for s in decoded if s.stream == stream) for stream in (0, 1)]
    assert all(one.stream != two.stream or one.time != two.time for one, two in itertools.pairwise(decoded))
    assert segments[0].time == decoded[0].time
    assert len(decoded) < len(segments)


def test_a_map_with_something_behind_its_frame_is_refused():
    """A frame is all that follows the count."""
    segments = [Segment(i % 2, 10, i * 1000) for i in range(40)]
    encoded, _ = round_trip(segments)
    assert encoded[0] == 1
    with pytest.raises((IntegrityError, zstandard.ZstdError)):
        segment_map.decode(
            encoded + zstandard.ZstdCompressor().compress(b"more"), 0, 200, 200, zstandard.ZstdDecompressor()
        )
