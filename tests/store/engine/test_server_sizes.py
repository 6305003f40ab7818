"""What rows count for on a server: what a chunk adds is what its removal gives back."""

from __future__ import annotations

import random

from support import NO_FLOORS

from spillstore import Store
from spillstore.engine.postgres import control


def test_what_a_chunk_counts_for_is_what_its_removal_gives_back(server, server_url):
    """As the client counts and as the server does, for chunks of any size."""
    drawn = random.Random(3)
    with Store(server_url, **NO_FLOORS).session("test") as session:
        for size in (1, 10, 1000, 70_000):
            session.put(drawn.randbytes(size), redact=False)
    database = server_url.split("?")[0].rpartition("/")[2]
    stored = "octet_length(data) + octet_length(segments) + coalesce(octet_length(grams), 0)"
    rows = server.execute(f"SELECT {stored}, {control._SHARE} FROM spillstore.chunk", database)
    assert len(rows) == 5
    assert [control.chunk_bytes(size) for size, _ in rows] == [share for _, share in rows]
    assert all(share > size for size, share in rows)
