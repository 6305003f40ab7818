"""Spillstore among its peers: all defaults, and with redaction off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.peers.libraries import Library, blocks

if TYPE_CHECKING:
    from pathlib import Path

_PIECE = 1 << 20


class Spillstore(Library):
    """All defaults but the floor of free disk."""

    module = "spillstore"
    settings: ClassVar[dict[str, Any]] = {"free_disk_floor": 0}

    def _session(self, **options: Any) -> Any:
        from spillstore import Store  # the workers of others have none

        return Store(self._folder / "store", **self.settings).session("bench", **options)

    def store(self, text: Path) -> None:
        """Keep a text."""
        with self._session() as session, session.create(source="benchmark") as writer:
            for block in blocks(text, _PIECE):
                writer.write(block)
        self._id = writer.id

    def open(self) -> None:
        """Open for reading."""
        self._artifact = self._session(read_only=True).artifact(self._id)

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        found: bytes = self._artifact.read_lines(first, last)
        return found

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        return [match.line for match in self._artifact.search(needle, literal=True).matches]

    def whole(self) -> bytes:
        """All of it."""
        found: bytes = self._artifact.read()
        return found


class Unredacted(Spillstore):
    """Without redaction: as little as the others do."""

    settings: ClassVar[dict[str, Any]] = {**Spillstore.settings, "redact": False}
