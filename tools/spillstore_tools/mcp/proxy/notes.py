"""Notes for people, on stderr: stdout belongs to the protocol."""

from __future__ import annotations

import sys

from spillstore_tools.preview.text.clean import label


def note(message: str) -> None:
    """Print a line without secrets on stderr, if it is open."""
    if sys.stderr is not None:  # else ``print`` would write to stdout
        from spillstore.redaction import redact  # noqa: PLC0415  # only for who has something to print

        print(f"spillstore: {label(redact(message))}", file=sys.stderr, flush=True)  # noqa: T201  # not on stdout
