"""Runs of bytes become chunks: the same ones, and one digest over all of them, however they came."""

from hypothesis import given
from hypothesis import strategies as st

from spillstore.format.chunker import Chunker
from spillstore.format.digests import Algorithm, new_digest


@given(
    st.lists(st.lists(st.binary(min_size=1, max_size=200), min_size=1, max_size=5), max_size=20),
    st.integers(1, 64),
)
def test_pieces_make_no_difference(runs, size):
    """Whole chunks, the last one and the digest are those of all bytes in a row, taken after each run or at the end."""
    digest = new_digest(Algorithm("blake3"))
    chunker = Chunker(size, b"\n", digest)
    chunks = []
    for number, pieces in enumerate(runs):
        chunker.add(0, [memoryview(piece) if number % 2 else piece for piece in pieces], number)
        if number % 3:
            chunks += chunker.take()
    chunks += chunker.take()
    last = chunker.finish()
    data = b"".join(b"".join(pieces) for pieces in runs)
    raws = [chunk.raw for chunk in chunks] + ([last.raw] if last else [])
    assert raws == [data[at : at + size] for at in range(0, len(data), size)]
    expected = new_digest(Algorithm("blake3"))
    expected.update(data)
    assert digest.digest() == expected.digest()
