"""The store's digest key: where it comes from. It is never stored, logged or shown."""

from __future__ import annotations

import os
import stat
from typing import Final

from spillstore.exceptions import InvalidSettingError

LEAST_BYTES: Final = 32
_MOST_BYTES = 4096


def load_key(given: bytes | str | os.PathLike[str] | None, configured: str) -> bytes | None:
    """The key, or None for digests without one.

    Args:
        given: the key itself, as bytes, or the path of its file.
        configured: the path that the settings name; "" for none. What is given wins.

    Raises:
        InvalidSettingError: the file cannot be read or can be changed by everybody, or the key is too short to be one.
    """
    if isinstance(given, bytes):
        return _long_enough(given, "digest_key")
    if given is None and not configured:
        return None
    path = configured if given is None else given
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidSettingError(
            f"digest_key must be bytes or the path of a file, not {type(given).__name__}"
        )
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe must not keep us waiting
        try:
            mode = os.fstat(descriptor).st_mode
            data = os.read(descriptor, _MOST_BYTES + 1) if stat.S_ISREG(mode) else b""
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise InvalidSettingError(f"the digest key file cannot be read: {error}") from error
    if not stat.S_ISREG(mode):
        raise InvalidSettingError(f"the digest key file {path} is no regular file")
    if mode & (stat.S_IWOTH | stat.S_IROTH):
        raise InvalidSettingError(f"the digest key file {path} is open to everybody; chmod 600 it")
    if len(data) > _MOST_BYTES:
        raise InvalidSettingError(f"the digest key file {path} has more than {_MOST_BYTES} bytes")
    # A line end that an editor or `openssl rand -hex 32` has put there is no part of the key.
    text = data.rstrip(b"\r\n")
    return _long_enough(text if len(text) >= LEAST_BYTES else data, f"the key in {path}")


def _long_enough(key: bytes, what: str) -> bytes:
    if len(key) < LEAST_BYTES:
        raise InvalidSettingError(
            f"{what} has {len(key)} bytes and needs at least {LEAST_BYTES}, at random: openssl rand -hex 32"
        )
    return key
