"""Sources of bytes that can be searched and queried: an artifact, or a string inside one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.info import ArtifactInfo, Holes, Position, State, Stream


class ByteSource(Protocol):
    """Bytes in lines, with positions that do not change. The methods are those of ``Artifact``."""

    @property
    def info(self) -> ArtifactInfo:
        """The metadata of the artifact, with the sizes of this source."""

    def extent(self, stream: Stream = "combined") -> tuple[int, State]:
        """Bytes of a stream that are there by now, and whether more may come."""

    def read_bytes(
        self, start: int, end: int, *, stream: Stream = ..., max_bytes: int = ..., holes: Holes = ...
    ) -> bytes:
        """Bytes ``[start, end)``."""

    def read_lines(
        self, first: int, last: int, *, stream: Stream = ..., max_bytes: int = ..., holes: Holes = ...
    ) -> bytes:
        """Lines ``first`` to ``last``, inclusive."""

    def chunks(
        self, start: int = ..., end: int | None = ..., *, stream: Stream = ..., holes: Holes = ...
    ) -> Iterator[bytes]:
        """Bytes ``[start, end)``, some at a time."""

    def locate(
        self, *, byte: Any = ..., line: Any = ..., stream: Stream = ..., holes: Holes = ...
    ) -> Position:
        """Where a byte or a line stands."""
