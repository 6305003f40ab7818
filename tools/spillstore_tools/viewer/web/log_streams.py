"""Answers that go on: how far a search is, and how an open artifact grows; as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from spillstore.exceptions import SpillstoreError
from spillstore_tools.viewer.web.log_answers import wanted
from spillstore_tools.viewer.web.parameters import BadRequestError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.responses import Response

    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters

_POLL: Final = 0.2  # seconds between two looks at an open artifact
_STEP: Final = 0.15  # seconds that a search works before it says how far it is
_QUIET: Final = 75  # looks without news after which a comment shows that the connection is used


def follow(opened: Opened, given: Parameters, ends: asyncio.Event) -> Response:
    """How an artifact grows, until it has ended."""
    place = wanted(given)

    def look() -> dict[str, Any]:
        with opened.reading(place) as reading:
            reading.log.refresh()
            return reading.facts()

    async def events() -> AsyncIterator[str]:
        before, quiet = None, 0
        while not ends.is_set():
            facts = await run_in_threadpool(look)
            quiet += 1
            if facts != before:
                yield _event(facts)
                before, quiet = facts, 0
            elif quiet == _QUIET:
                yield ": nothing new\n\n"
                quiet = 0
            if facts["state"] != "open":
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ends.wait(), _POLL)

    return _stream(events)


def search(opened: Opened, given: Parameters, ends: asyncio.Event) -> Response:
    """How many lines match a pattern, and where, until all of the artifact was searched."""
    place, pattern = wanted(given), given.needed("pattern")

    def step() -> dict[str, Any]:
        with opened.reading(place) as reading:
            return reading.search(pattern, _STEP)

    async def events() -> AsyncIterator[str]:
        while not ends.is_set():
            facts = await run_in_threadpool(step)
            yield _event(facts)
            if facts["done"]:
                return

    return _stream(events)


def _stream(events: Callable[[], AsyncIterator[str]]) -> Response:
    async def told() -> AsyncIterator[str]:
        try:
            async for event in events():
                yield event
        except (SpillstoreError, BadRequestError) as error:
            yield _event({"error": str(error)})

    return StreamingResponse(told(), media_type="text/event-stream", headers={"cache-control": "no-store"})


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"
