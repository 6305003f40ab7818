"""Gram filters: what ends in a chunk is never ruled out, and the native function makes what the description says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import dice, examples, native

from spillstore.format import chunk_codec, grams
from spillstore.format.chunk import RawChunk, Totals
from spillstore.format.digests import Algorithm
from spillstore.format.segment_map import Segment
from spillstore.text_scan import kind

pytestmark = native

pieces = st.sampled_from(
    [b"error", b"Timeout", b"deadlock_1", b" ", b"=", b"\n", b"a3f09bd1", b"0042", b"e7", "größe".encode(), b"\xff", b"_", b"Z",
     "\u212a".encode(), "\u017f".encode(), b"\xc2\x85", b"\xe2\x84", b"\xaa", b"\r", b"abcdefghijklmnopqrstuvwxyz" * 3]
)  # fmt: skip
texts = st.lists(pieces, max_size=80).map(b"".join)
random_bytes = st.binary(max_size=400)
PARTS = 16 + grams._HEADER  # where the bits begin in a stored filter


def made(before, text, size=100_000):
    """The filter of a text, as it is stored but for its digest."""
    (found,) = grams.grams_of([(before, text, size)])
    return bytes(16) + found


def folded(text):
    """A run as filters see it."""
    return re.sub(rb"[A-Z]", lambda found: found[0].lower(), text)


@given(st.one_of(texts, random_bytes), st.one_of(texts, random_bytes), st.data())
@examples(300)
def test_what_ends_in_a_chunk_is_never_ruled_out(before, text, data):
    """Any run of up to 64 bytes that ends in the chunk, wherever it begins, and whatever room the filter has."""
    before = before[-grams.BEFORE :]
    size = data.draw(st.sampled_from([2_100, 2_600, 5_000, 100_000]))
    stored = made(before, text, size)
    together = before + text
    if len(stored) > 16:
        for _ in range(20):
            end = data.draw(st.integers(len(before) + 1, len(together))) if text else 0
            start = data.draw(st.integers(max(0, end - grams.LONGEST), end))
            assert grams.Run(list(folded(together[start:end]))).may_end_in(stored)


def reference(before, text):
    """The hashes of the grams by their lengths, and the kind of the text, by plain loops."""
    together = folded(before + text)
    places = {grams.MARK: set(), grams.WORD: set()}
    for length, found in places.items():
        for at in range(len(together) - length + 1):
            gram = together[at : at + length]
            if grams._is_mark(gram) if length == grams.MARK else grams._is_word(gram):
                found.add(grams.hash_of(gram))
    return places, _kind(before, text)


def _kind(before, text):
    """What the characters are that end in the text."""
    whole = before + text
    start = len(before)
    while start > 0 and start < len(whole) and whole[start] & 0xC0 == 0x80:
        start -= 1
    for cut in range(4):  # a character that goes on behind
        part = whole[start : len(whole) - cut]
        try:
            part.decode()
        except UnicodeDecodeError:
            continue
        if cut and not _could_go_on(whole[len(whole) - cut :]):
            continue
        found = kind(part)
        return 3 if found < 0 else found
    return 3


def _could_go_on(rest):
    lead = rest[0]
    length = 2 if 0xC2 <= lead < 0xE0 else 3 if lead >> 4 == 14 else 4 if 0xF0 <= lead < 0xF5 else 0
    return len(rest) < length and all(byte & 0xC0 == 0x80 for byte in rest[1:])


@given(texts, texts)
@examples(200)
def test_the_filter_is_the_one_that_is_described(before, text):
    """Each bit is the one of a gram, and each gram has its bit; the kind is that of the characters that end in the chunk."""
    before = before[-grams.BEFORE :]
    stored = made(before, text)
    if len(stored) == 16:
        return
    found, kind_of = reference(before, text)
    few = stored[17]
    split = PARTS + int.from_bytes(stored[18:20], "little")
    for part, hashes in (
        (stored[PARTS:split], found[grams.WORD]),
        (stored[split:], {each for each in found[grams.MARK] if not each & ((1 << few) - 1)}),
    ):
        bits = 8 * len(part)
        wanted = {each * bits >> grams._BITS for each in hashes} if bits else set()
        assert wanted == {at for at in range(bits) if part[at >> 3] >> (at & 7) & 1}
    assert kind_of <= grams.kind(stored)  # a higher one costs a look at the chunk, and no more
    if (whole := kind(before + text)) >= 0:
        assert whole == grams.kind(stored)


def of_another_maker(before, text, sizes):
    """A filter with parts of these sizes, by the description alone."""
    found, _ = reference(before, text)
    own = made(before, text)
    kind_of = grams.kind(own) if len(own) > 16 else grams.ANYTHING
    parts = []
    for size, hashes in zip(sizes, (found[grams.WORD], found[grams.MARK]), strict=True):
        part = bytearray(size)
        for each in hashes if size else ():
            at = each * 8 * size >> grams._BITS
            part[at >> 3] |= 1 << (at & 7)
        parts.append(bytes(part))
    return bytes(16) + bytes([kind_of, 0]) + sizes[0].to_bytes(2, "little") + b"".join(parts)


@given(st.one_of(texts, random_bytes), st.one_of(texts, random_bytes), st.data())
@examples(200)
def test_what_is_made_fits(before, text, data):
    """The filter of any text, with what stands before it or without, and one whose parts have other sizes."""
    before = before[-grams.BEFORE :]
    size = data.draw(st.sampled_from([2_100, 2_600, 100_000]))
    other = of_another_maker(before, text, data.draw(st.sampled_from([(16, 16), (700, 300), (33, 0)])))
    for stored in (made(before, text, size), other):
        if len(stored) > 16:
            assert grams.fits(stored, before, text, size)
            assert grams.fits(stored, None, text, size)
            assert grams.fits(stored, before, text, size + 500)


@given(texts, texts, st.data())
@examples(200)
def test_what_could_miss_something_does_not_fit(before, text, data):
    """A filter that lacks a bit of a gram, whichever, or whose kind is too low; one with more bits, or a higher kind, does."""
    before = before[-grams.BEFORE :]
    stored = made(before, text)
    if len(stored) == 16:
        return
    bits = [at for at in range(8 * PARTS, 8 * len(stored)) if stored[at >> 3] >> (at & 7) & 1]
    changed = bytearray(stored)
    if bits:
        at = data.draw(st.sampled_from(bits))
        changed[at >> 3] ^= 1 << (at & 7)
        assert not grams.fits(bytes(changed), before, text, 100_000)
    assert grams.fits(stored[:PARTS] + b"\xff" * (len(stored) - PARTS), before, text, 100_000)
    least = _kind(before, text)
    for each in range(4):
        changed = bytearray(stored)
        changed[16] = each
        if each < least or each >= grams.kind(stored):
            assert (each >= least) == grams.fits(bytes(changed), before, text, 100_000)


def test_without_native_functions_every_filter_fits(monkeypatch):
    """Nothing is looked at there, so nothing is said."""
    stored = made(b"", b"some words of a text\n" * 50)
    empty = stored[:PARTS] + bytes(len(stored) - PARTS)
    assert not grams.fits(empty, b"", b"some words of a text\n" * 50, 100_000)
    monkeypatch.setattr(grams, "_native", lambda: None)
    assert grams.fits(empty, b"", b"some words of a text\n" * 50, 100_000)


def test_words_and_ids_that_are_not_there_are_ruled_out():
    """Of a log of 64 KiB: nearly all words, and most ids of twelve digits."""
    rnd = dice()
    lines = [b"2024-05-01 INFO cache.redis request_id=%012x GET /v1/users/%d 200\n" % (rnd.getrandbits(48), n) for n in range(900)]  # fmt: skip
    text = b"".join(lines)[:65536]
    stored = made(b"", text, 13_000)
    assert 13_000 // 25 >= len(stored)
    for word in (b"deadlock", b"panicked", b"refused", b"traceback", b"segfault"):
        assert not grams.Run(list(word)).may_end_in(stored)
    ids = [b"%012x" % rnd.getrandbits(48) for _ in range(400)]
    assert 200 > sum(grams.Run(list(each)).may_end_in(stored) for each in ids)
    assert all(grams.Run(list(line[-45:-33])).may_end_in(stored) for line in lines[:600])


def test_what_has_no_use_gets_no_filter():
    """A chunk that takes few bytes, and one of nothing but noise."""
    rnd = dice()
    noise = rnd.randbytes(65536).translate(bytes(range(128, 256)) * 2)
    assert [b"", b""] == grams.grams_of([(b"", b"word " * 13_000, 300), (b"", noise, 65_600)])


@pytest.mark.parametrize("key", [None, bytes(32)])
def test_its_digest_binds_it_to_its_chunk(key):
    """A filter with another bit, of another chunk or with another key is none."""
    algorithm = Algorithm("blake3" if key is None else "blake3-keyed:0", key)
    (found,) = grams.grams_of([(b"", b"some words of a text\n" * 50, 9_000)])
    stored = grams.sealed(found, b"row", algorithm)
    assert grams.is_sealed(stored, b"row", algorithm)
    assert not grams.is_sealed(stored, b"another", algorithm)
    assert not grams.is_sealed(stored, b"row", Algorithm("blake3", bytes([1] * 32)))
    for at in range(len(stored)):
        changed = bytearray(stored)
        changed[at] ^= 1
        assert not grams.is_sealed(bytes(changed), b"row", algorithm)
    for cut in (0, 3, 16, 20):
        assert not grams.is_sealed(stored[:cut], b"row", algorithm)
    assert grams.sealed(b"", b"row", algorithm) is None


def test_a_run_may_end_in_a_text_that_holds_it_or_begins_with_its_end():
    """Wherever in the text it stands; of one whose bytes are not known, it always may."""
    run = grams.Run(list(b"needle"))
    found = [
        run.may_end_in_text(text)
        for text in (b"a needle b", b"needle", b"eedle", b"dle and more", b"e", b"need", b"", b"xneedl e")
    ]
    assert [True, True, True, True, True, False, False, False] == found
    assert grams.Run([ord("n"), None]).may_end_in_text(b"")


def test_bytes_drawn_at_random_get_no_filter():
    """Chunks that hardly compress have nearly all grams; the text beside them gets its filter."""
    drawn = dice()
    raws = [
        drawn.randbytes(65536),
        b"".join(b"line %d of a log\n" % drawn.randrange(9999) for _ in range(4000)),
    ]
    chunks = [
        RawChunk(
            seq=grams.FROM + number,
            raw=raw[:65536],
            segments=[Segment(0, 65536, 0)],
            before=Totals(),
            stdout_size=65536,
            stdout_lines=raw[:65536].count(b"\n"),
            stderr_size=0,
            stderr_lines=0,
            chars=65536,
            end_flags=0,
            lead=b"x" * grams.BEFORE,
        )
        for number, raw in enumerate(raws)
    ]
    rows = chunk_codec.encode(chunks, b"prefix", Algorithm("blake3"))
    assert [row.grams is None for row in rows] == [True, False]
    for row, raw in zip(rows, raws, strict=True):
        chunk_codec.verify(row, b"prefix", Algorithm("blake3"))
        assert chunk_codec.decode(row) == raw[:65536]
