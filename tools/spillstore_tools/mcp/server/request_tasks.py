"""The tasks that answer requests of one client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from spillstore_tools.mcp.wire.messages import Id


class RequestTasks:
    """Tasks of the running loop; those of requests can be cancelled by id."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[Any]] = set()
        self._by_id: dict[Id, asyncio.Future[Any]] = {}
        self._cancelled: set[asyncio.Future[Any]] = set()

    def begin(self, work: Awaitable[None]) -> asyncio.Future[None]:
        """Begin a task that is no request."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def begin_request(self, identity: Id, work: Awaitable[None]) -> asyncio.Future[None]:
        """Begin a task that answers the request of an id."""
        task = self._by_id[identity] = self.begin(work)

        def forget(_: object) -> None:
            if self._by_id.get(identity) is task:
                del self._by_id[identity]

        task.add_done_callback(forget)
        return task

    def cancel(self, identity: Id) -> None:
        """Cancel the request of an id, if it is not answered."""
        if (task := self._by_id.get(identity)) is not None:
            self._cancel(task)

    async def finish(self) -> None:
        """Wait until all tasks have ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cancel all tasks; returns when those of requests have ended. Others may wait for a client that does not read."""
        requests = [task for task in self._by_id.values() if not task.done()]
        for task in requests:
            self._cancel(task)
        if requests:
            await asyncio.wait(requests)
        for task in self._tasks:
            self._cancel(task)

    def _cancel(self, task: asyncio.Future[Any]) -> None:
        """Cancel a task once: a call that is ending a command must not be disturbed."""
        if task not in self._cancelled:
            self._cancelled.add(task)
            task.add_done_callback(self._cancelled.discard)
            task.cancel()
