"""Notes for people, on stderr: stdout belongs to the protocol."""

from __future__ import annotations

import sys

from spillstore_tools.mcp.wire.raw_json import RawJsonError
from spillstore_tools.preview.text.clean import label


def note(message: str) -> None:
    """Print a line without secrets on stderr, if it is open."""
    if sys.stderr is not None:  # else ``print`` would write to stdout
        from spillstore.redaction import redact  # noqa: PLC0415  # only where there is something to print

        print(f"spillstore: {label(redact(message))}", file=sys.stderr, flush=True)  # noqa: T201  # not on stdout


def in_words(error: BaseException) -> str:
    """Why a message cannot be handled; an error of Python's own is named by its class."""
    return str(error) if isinstance(error, RawJsonError) else type(error).__name__
