"""Names: the ids of artifacts, and what may name a session or a project."""

from __future__ import annotations

import os
from typing import Final

from spillstore.exceptions import InvalidIdError
from spillstore.runtime import lazy_patterns as re

MAX_ID_BYTES: Final = 200
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
ARTIFACT_ID: Final = re.compile(r"art_[0-9]+_[a-zA-Z0-9]+", re.ASCII)
_URI = re.compile(r"artifact://([^?/]+)/?(?:\?stream=(combined|stdout|stderr))?")
UID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_artifact_id(unix_seconds: float) -> str:
    """``art_{unix ms}_{random}`` with 64 random bits from the operating system.

    Example:
        >>> ARTIFACT_ID.fullmatch(new_artifact_id(1699234567.89)) is not None
        True
    """
    return f"art_{int(unix_seconds * 1000)}_{os.urandom(8).hex()}"


def check_id(kind: str, value: object) -> str:
    """``value`` if it may name a session or a project.

    Raises:
        InvalidIdError: not a string, empty, longer than 200 bytes, or with control characters or half surrogates.
    """
    if not isinstance(value, str):
        raise InvalidIdError(f"a {kind} id is a string, not {value!r}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidIdError(f"the {kind} id {value!r} holds half a surrogate pair") from None
    if not 1 <= size <= MAX_ID_BYTES:
        raise InvalidIdError(f"a {kind} id has 1 to {MAX_ID_BYTES} bytes, not {size}: {value[:60]!r}")
    if _CONTROL.search(value):
        raise InvalidIdError(f"the {kind} id {value!r} holds a control character")
    return value


def named_by(text: str) -> tuple[str, str | None]:
    """The artifact and the stream that an id or a URI names; no stream where none is.

    Example:
        >>> named_by("artifact://art_1_a?stream=stderr"), named_by("art_1_a")
        (('art_1_a', 'stderr'), ('art_1_a', None))
    """
    match = _URI.fullmatch(text)
    return (text, None) if match is None else (match[1], match[2])
