"""Digests: which algorithm, with which key, and over which bytes.

BLAKE3 is the default because a measurement asked for it: on an x86-64 processor without SHA instructions it digests
64 KiB at 4.2 GB/s where ``hashlib.sha256`` reaches 0.2 to 0.4 and ``hashlib.blake2b`` 0.65. With SHA-256 over the raw
stream a spilled gigabyte would cost more for its digest than for its compression. SHA-256 remains as a choice for
those who must have it. The algorithm's name is stored in the session's row and shapes the file.

A digest alone finds damage; who changes bytes on purpose computes it again. With a key that lies outside the store
(keyed BLAKE3, or HMAC of SHA-256) nobody else can. Each session has a key of its own, made of the store's key and the
session's ``uid``, so that what was digested in one session means nothing in another. The stored name then ends in the
first bytes of a digest under that key, by which a missing or another key is told from damage; it says nothing about the
key, which is as long as the digest.

Rows are digested in a canonical form in which no two different rows look alike: every value carries its type and
length. Chunks, of which there are many, have a fixed binary header instead (``engine.relational.schema`` has it as a table).
"""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from blake3 import blake3

from spillstore.exceptions import DigestKeyError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore.settings import DigestName

DIGEST_SIZE = 32
_NAMES: Final = ("blake3", "sha256")
_KEYED: Final = "-keyed"
_CHECK_DIGITS: Final = 16


class Hash(Protocol):
    """The part of ``hashlib``'s objects that is used."""

    def update(self, data: bytes | memoryview, /) -> object:
        """Digest more bytes."""

    def digest(self) -> bytes:
        """The 32 bytes so far."""

    def copy(self) -> Self:
        """One that goes on from here by itself."""


class Algorithm(str):
    """An algorithm as a session's row names it, with the session's key if it has one.

    The text is ``blake3``, ``sha256``, or with a key ``blake3-keyed:CHECK`` and ``sha256-keyed:CHECK``.
    """

    __slots__ = ("is_blake3", "key")

    is_blake3: bool
    key: bytes | None

    def __new__(cls, text: str, key: bytes | None = None) -> Self:
        """An algorithm; ``key`` is the session's own."""
        self = super().__new__(cls, text)
        self.is_blake3 = text.startswith("blake3")
        self.key = key
        return self

    @property
    def public_name(self) -> str:
        """The prefix of a digest that is shown: ``blake3``, ``blake3-keyed``, ..."""
        return self.partition(":")[0]


def new_algorithm(name: DigestName, uid: str, store_key: bytes | None) -> Algorithm:
    """The algorithm of a new session.

    Args:
        name: ``blake3`` or ``sha256``.
        uid: the session's.
        store_key: 32 bytes or more; None for digests without a key.
    """
    if store_key is None:
        return Algorithm(name)
    if name == "blake3":
        master = blake3(store_key, derive_key_context="spillstore 2026-11-21 digest key").digest()
        key = blake3(uid.encode(), key=master).digest()
    else:
        import hmac  # noqa: PLC0415  # OpenSSL takes some milliseconds, and few stores need it; so below

        key = hmac.digest(store_key, b"spillstore session " + uid.encode(), "sha256")
    bare = Algorithm(name + _KEYED, key)
    check = digest_bytes(bare, b"key check").hex()[:_CHECK_DIGITS]
    return Algorithm(f"{bare}:{check}", key)


def stored_algorithm(text: object, uid: str, store_key: bytes | None) -> Algorithm:
    """The algorithm of a session that is there, with its key.

    Raises:
        DigestKeyError: its digests need a key that is not given, or another one; or they have none and one is given.
        IntegrityError: there is no such algorithm.
    """
    name, keyed, check = text.partition(_KEYED + ":") if isinstance(text, str) else ("", "", "")
    if name not in _NAMES or (keyed and len(check) != _CHECK_DIGITS):
        raise IntegrityError(f"the session's row is damaged: no digest algorithm is called {text!r:.80}")
    if store_key is None:
        if keyed:
            raise DigestKeyError(
                "the session's digests were made with a key, and none is given: name its file in "
                "SPILLSTORE_DIGEST_KEY_FILE, or give Store(..., digest_key=...)"
            )
        return Algorithm(name)
    if not keyed:
        raise DigestKeyError(
            "a digest key is given, and the session was made without one, so anybody may have changed it; "
            "open it without the key if you trust it all the same"
        )
    algorithm = new_algorithm("blake3" if name == "blake3" else "sha256", uid, store_key)
    if algorithm != text:
        raise DigestKeyError("the session's digests were made with another key than the one that is given")
    return algorithm


def new_digest(algorithm: Algorithm) -> Hash:
    """A digest to be fed piece by piece."""
    key = algorithm.key
    if algorithm.is_blake3:
        return blake3() if key is None else blake3(key=key)
    import hashlib  # noqa: PLC0415
    import hmac  # noqa: PLC0415

    return hashlib.sha256() if key is None else hmac.new(key, digestmod="sha256")


def digest_bytes(algorithm: Algorithm, data: bytes) -> bytes:
    """The digest of one run of bytes."""
    key = algorithm.key
    if algorithm.is_blake3:
        return blake3(data).digest() if key is None else blake3(data, key=key).digest()
    import hashlib  # noqa: PLC0415
    import hmac  # noqa: PLC0415

    return hashlib.sha256(data).digest() if key is None else hmac.digest(key, data, "sha256")


def digest_row(algorithm: Algorithm, values: Iterable[str | bytes | int | None]) -> bytes:
    """The digest of a row's values in the order of its columns."""
    values = tuple(values)
    template, texts = _form(*map(type, values))
    if texts:
        parts: list[Any] = list(values)
        for index in texts:
            raw = parts[index]
            raw = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
            parts[index] = b"%d:%b" % (len(raw), raw)
        values = tuple(parts)
    return digest_bytes(algorithm, template % values)


@lru_cache(maxsize=256)
def _form(*types: type) -> tuple[bytes, tuple[int, ...]]:
    """The canonical form of a row with values of these types, to be filled in, and which of them are texts or bytes.

    There are few such forms, and to look one up takes a third of the time of looking at each value.
    """
    parts = []
    texts = []
    for index, kind in enumerate(types):
        if kind is type(None):
            parts.append(b"n%.0a;")  # of None, no character
        elif issubclass(kind, int):
            parts.append(b"i%d;")
        else:
            parts.append(b"s%b;" if issubclass(kind, str) else b"b%b;")
            texts.append(index)
    return b"".join(parts), tuple(texts)


def keyed_digest(key: bytes, data: bytes) -> str:
    """64 bits of a keyed BLAKE3, as eleven characters of URL-safe base64.

    Args:
        key: 32 bytes.
        data: what is digested.
    """
    digest = blake3(data, key=key).digest(length=8)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
