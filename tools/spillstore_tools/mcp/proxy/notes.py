"""Notes for people, on stderr: stdout belongs to the protocol."""

from __future__ import annotations

import sys

from spillstore_tools.mcp.wire.raw_json import RawJsonError
from spillstore_tools.preview.text.clean import label

_EXCERPT = 120  # bytes


def note(message: str) -> None:
    """Print a line without secrets on stderr, if it is open."""
    if sys.stderr is not None:  # else ``print`` would write to stdout
        from spillstore.redaction import redact  # noqa: PLC0415  # only where there is something to print

        print(f"spillstore: {label(redact(message))}", file=sys.stderr, flush=True)  # noqa: T201  # not on stdout


def excerpt(line: bytes | bytearray) -> str:
    """The beginning of a line without secrets, quoted."""
    from spillstore.redaction import DEFAULT  # noqa: PLC0415  # likewise

    words = label(DEFAULT.beginning(bytes(line), _EXCERPT).decode("utf-8", "replace")).strip()
    return repr(words) + (f"... ({len(line)} bytes)" if len(line) > _EXCERPT else "")


def in_words(error: BaseException) -> str:
    """Why a message cannot be handled; an error of Python's own is named by its class."""
    return str(error) if isinstance(error, RawJsonError) else type(error).__name__
