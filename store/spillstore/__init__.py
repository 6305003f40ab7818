r"""Spillstore keeps what a tool printed when it printed too much.

A **store** is a folder of **sessions**; a session is one SQLite file; an **artifact** is the output of one tool call in
it, kept as zstd-compressed, line-indexed, digested **chunks**. Any range of lines, bytes or seconds of it comes back
in constant time, verified.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root).session("chat-42") as session:
    ...     with session.create(source="bash", command="make test") as writer:
    ...         for number in range(1, 100_001):
    ...             _ = writer.write(f"line {number}\n")
    ...     artifact = session.artifact(writer.id)
    ...     artifact.info.lines, artifact.read_lines(50_000, 50_001)
    (100000, b'line 50000\nline 50001\n')

Caveats: one machine's disk, not a network file system, is where a session belongs. ``durability="normal"`` survives
a killed process, not a power cut. After a fork a child opens its sessions anew. Positions and line numbers are those
of the stored bytes; cleaning for a reader happens elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore._version import __version__
from spillstore.runtime.lazy_imports import importing

if TYPE_CHECKING:
    from spillstore.artifact import Artifact
    from spillstore.exceptions import SpillstoreError
    from spillstore.info import ArtifactInfo, HoleInfo, Page, SessionInfo
    from spillstore.session import Session
    from spillstore.settings import Settings
    from spillstore.store import Store
    from spillstore.writer import Writer

__all__ = [
    "Artifact",
    "ArtifactInfo",
    "HoleInfo",
    "Page",
    "Session",
    "SessionInfo",
    "Settings",
    "SpillstoreError",
    "Store",
    "Writer",
    "__version__",
]

if not TYPE_CHECKING:  # a type checker would take any name for one that this function finds
    __getattr__ = importing(
        __name__,
        {
            "artifact": ("Artifact",),
            "exceptions": ("SpillstoreError",),
            "info": ("ArtifactInfo", "HoleInfo", "Page", "SessionInfo"),
            "session": ("Session",),
            "settings": ("Settings",),
            "store": ("Store",),
            "writer": ("Writer",),
        },
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
