"""Digests: which algorithm, and over which bytes.

BLAKE3 is the default because a measurement asked for it: on an x86-64 processor without SHA instructions it digests
64 KiB at 4.2 GB/s where ``hashlib.sha256`` reaches 0.2 to 0.4 and ``hashlib.blake2b`` 0.65. With SHA-256 over the raw
stream a spilled gigabyte would cost more for its digest than for its compression. SHA-256 remains as a choice for
those who must have it. The algorithm's name is stored in the session's row and shapes the file.

Rows are digested in a canonical form in which no two different rows look alike: every value carries its type and
length. Chunks, of which there are many, have a fixed binary header instead (``_schema.py`` has it as a table).
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Protocol

from blake3 import blake3

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from spillstore.settings import DigestName

DIGEST_SIZE = 32


class Hash(Protocol):
    """The part of ``hashlib``'s objects that is used."""

    def update(self, data: bytes | memoryview, /) -> object:
        """Digest more bytes."""

    def digest(self) -> bytes:
        """The 32 bytes so far."""


ALGORITHMS: dict[str, Callable[[], Hash]] = {"blake3": blake3, "sha256": hashlib.sha256}


def digest_bytes(algorithm: DigestName, data: bytes) -> bytes:
    """The digest of one run of bytes."""
    return blake3(data).digest() if algorithm == "blake3" else hashlib.sha256(data).digest()


def digest_row(algorithm: DigestName, values: Iterable[str | bytes | int | None]) -> bytes:
    """The digest of a row's values in the order of its columns."""
    parts: list[bytes] = []
    for value in values:
        if value is None:
            parts.append(b"n;")
        elif isinstance(value, int):
            parts.append(b"i%d;" % value)
        else:
            kind, raw = (
                (b"s", value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else (b"b", value)
            )
            parts.append(b"%b%d:%b;" % (kind, len(raw), raw))
    return digest_bytes(algorithm, b"".join(parts))


def keyed_digest(key: str, data: bytes) -> str:
    """64 bits of a keyed BLAKE3, as eleven characters of URL-safe base64.

    Args:
        key: 128 random bits in hexadecimal digits.
        data: what is digested.
    """
    digest = blake3(data, key=key.encode("ascii")).digest(length=8)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
