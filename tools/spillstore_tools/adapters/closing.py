"""What is closed with its agent: by ``close``, or at the end of a ``with`` or ``async with`` block."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class Closing:
    """A context manager, also for asyncio, that calls ``close`` when its block is left."""

    @abstractmethod
    def close(self) -> None:
        """Close what was opened here; a second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio  # noqa: PLC0415  # only for callers that have it already

        await asyncio.to_thread(self.close)
