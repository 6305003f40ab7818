"""What a viewer has read of an artifact, recorded in the audit log with the actor ``viewer``.

Who scrolls reads a block after the other. That is one read, recorded when the reader goes elsewhere, or leaves.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from spillstore.audit.actor import acting

if TYPE_CHECKING:
    from spillstore import Artifact
    from spillstore.info import Stream

ACTOR = "viewer"


class Footprint:
    """Records what is read of one artifact; safe from any thread.

    Args:
        artifact: what is read.
        tool: the program that shows it.
    """

    def __init__(self, artifact: Artifact, tool: str) -> None:
        self._artifact = artifact
        self._tool = tool
        self._lock = threading.Lock()
        self._read: tuple[Stream, bool, int, int] | None = None  # by lines or by bytes, from where to where

    def read(self, stream: Stream, first: int, last: int, *, lines: bool) -> None:
        """Take lines ``first`` to ``last``, or bytes ``[first, last)``, that were read."""
        with self._lock:
            known = self._read
            if (
                known is not None
                and known[:2] == (stream, lines)
                and first <= known[3] + 1
                and last >= known[2] - 1
            ):
                self._read = (stream, lines, min(first, known[2]), max(last, known[3]))
                return
            self._read = (stream, lines, first, last)
        self._record_range(known)

    def flush(self) -> None:
        """Record what was read last."""
        with self._lock:
            known, self._read = self._read, None
        self._record_range(known)

    def record(self, kind: str, detail: dict[str, object]) -> None:
        """Record a search, a comparison or an export."""
        with acting(ACTOR, None):
            self._artifact.record(kind, {"tool": self._tool, **detail, "outcome": "ok"}, at_once=False)

    def _record_range(self, known: tuple[Stream, bool, int, int] | None) -> None:
        if known is not None:
            stream, lines, first, last = known
            names = ("first", "last") if lines else ("start", "end")
            self.record("read", {"stream": stream, names[0]: first, names[1]: last})
