"""Detects that an artifact's row was replaced by an older one: a keyed sum over the digests of all rows.

A keyed digest proves that a row was written by somebody with the key, not that it is the newest. So a session with a key
keeps in its own row the sum, modulo 2 to the 256th, of one secret number for each artifact's row: a keyed digest of the
row's digest. It is brought up to date in the transaction that changes an artifact's row, in constant time, and compared
with all rows when the session is opened and checked. It is stored under a one-time pad, since who could watch it change
would learn differences, and find older rows whose differences cancel. A sum, because with exclusive or a row would cancel
with its own copy.

So the artifacts of a session that opens are those that it had when it was written last, all of them. What cannot be told
without knowledge from outside is a whole session file put back as it once was.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from spillstore.exceptions import IntegrityError
from spillstore.format.digests import DIGEST_SIZE, digest_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore.format.digests import Algorithm

_NONCE_BYTES = 16
_MODULUS = 1 << 8 * DIGEST_SIZE


def new_sum(algorithm: Algorithm) -> bytes | None:
    """The stored sum of a session without artifacts; None if it has no key."""
    return None if algorithm.key is None else _hidden(algorithm, 0)


def changed_sum(
    algorithm: Algorithm, stored: bytes | None, old: bytes | None, new: bytes | None
) -> bytes | None:
    """The stored sum after one row with the digest ``old`` became one with the digest ``new``; None for no row."""
    if algorithm.key is None:
        return None
    total = _shown(algorithm, stored)
    total -= 0 if old is None else _number(algorithm, old)
    total += 0 if new is None else _number(algorithm, new)
    return _hidden(algorithm, total % _MODULUS)


def check_sum(algorithm: Algorithm, stored: bytes | None, digests: Iterable[bytes]) -> None:
    """Compare a stored sum with the digests of all rows. Cost: 2 us a row.

    Raises:
        IntegrityError: a row was put back, or taken away.
    """
    if algorithm.key is None:
        return
    total = sum(_number(algorithm, digest) for digest in digests) % _MODULUS
    if total != _shown(algorithm, stored):
        raise IntegrityError(
            "the session's artifacts are not those that it had when it was last written: one was put back as it was "
            "before, or taken away"
        )


def _number(algorithm: Algorithm, digest: object) -> int:
    if not isinstance(digest, bytes):
        raise IntegrityError("an artifact's digest is damaged")
    return int.from_bytes(digest_bytes(algorithm, b"row:" + digest), "little")


def _pad(algorithm: Algorithm, nonce: bytes) -> int:
    return int.from_bytes(digest_bytes(algorithm, b"pad:" + nonce), "little")


def _hidden(algorithm: Algorithm, total: int) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + (total ^ _pad(algorithm, nonce)).to_bytes(DIGEST_SIZE, "little")


def _shown(algorithm: Algorithm, stored: bytes | None) -> int:
    if not isinstance(stored, bytes) or len(stored) != _NONCE_BYTES + DIGEST_SIZE:
        raise IntegrityError("the session's row is damaged: it has no sum of its artifacts")
    nonce, rest = stored[:_NONCE_BYTES], stored[_NONCE_BYTES:]
    return int.from_bytes(rest, "little") ^ _pad(algorithm, nonce)
