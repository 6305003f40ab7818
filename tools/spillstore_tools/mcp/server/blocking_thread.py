"""A thread for calls that block, from an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class BlockingThread:
    """Runs blocking calls one after the other. It is a daemon: a call that hangs does not delay the end of the process."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    async def run(self, function: Callable[[], _T]) -> _T:
        """Call ``function`` on the thread; returns or raises what it does."""
        future: asyncio.Future[_T] = self._loop.create_future()
        self._calls.put((function, future))
        return await future

    def _work(self) -> None:
        while True:
            function, future = self._calls.get()
            found, error = None, None
            try:
                found = function()
            except Exception as raised:  # noqa: BLE001  # it is raised by ``run``
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits
                self._loop.call_soon_threadsafe(_settle, future, found, error)


def _settle(future: asyncio.Future[Any], found: object, error: Exception | None) -> None:
    if future.done():  # it was cancelled
        return
    if error is None:
        future.set_result(found)
    else:
        future.set_exception(error)
