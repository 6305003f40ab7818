"""The addresses of the server, and what is answered where something is wrong."""

from __future__ import annotations

import logging
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from spillstore.exceptions import (
    ArtifactNotFoundError,
    InvalidIdError,
    InvalidSettingError,
    RangeError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
    UsageError,
)
from spillstore_tools.viewer.web.ansi import stylesheet
from spillstore_tools.viewer.web.artifacts_page import artifacts_page
from spillstore_tools.viewer.web.audit_page import audit_page
from spillstore_tools.viewer.web.changes_page import changes_page
from spillstore_tools.viewer.web.charts_page import charts_page
from spillstore_tools.viewer.web.files import download, save
from spillstore_tools.viewer.web.html import tag
from spillstore_tools.viewer.web.layout import THEMES, page
from spillstore_tools.viewer.web.line_page import line_page
from spillstore_tools.viewer.web.log_answers import ANSWERS
from spillstore_tools.viewer.web.log_page import log_page
from spillstore_tools.viewer.web.log_streams import follow, search
from spillstore_tools.viewer.web.parameters import BadRequestError, Parameters
from spillstore_tools.viewer.web.sessions_page import sessions_page

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from spillstore_tools.viewer.web.html import Html
    from spillstore_tools.viewer.web.opened import Opened

    Page = Callable[[Opened, Parameters, str | None], Html]
    Endpoint = Callable[[Request], Awaitable[Response]]

_PAGES: Final[dict[str, Page]] = {
    "/": sessions_page,
    "/artifacts": artifacts_page,
    "/log": log_page,
    "/line": line_page,
    "/changes": changes_page,
    "/audit": audit_page,
    "/charts": charts_page,
}
_ASSETS: Final = {"ui.css": "text/css", "ui.js": "text/javascript", "icon.svg": "image/svg+xml"}
_FRESH: Final = {"cache-control": "no-store"}
_NOT_FOUND: Final = (SessionNotFoundError, SessionDeletedError, ArtifactNotFoundError)
_MISUSED: Final = (BadRequestError, RangeError, InvalidIdError, InvalidSettingError, UsageError)
_log = logging.getLogger("spillstore")


def application(opened: Opened, ends: asyncio.Event) -> Starlette:
    """The ASGI application.

    Args:
        opened: opens sessions.
        ends: set when the server ends, for answers that go on until then.
    """
    routes = [Route(path, _page(opened, each)) for path, each in _PAGES.items()]
    routes += [Route(f"/log/{name}", _answer(opened, each)) for name, each in ANSWERS.items()]
    routes += [
        Route("/log/follow", _streamed(opened, ends, follow)),
        Route("/log/search", _streamed(opened, ends, search)),
        Route("/download", _file(opened, download)),
        Route("/save", _file(opened, save)),
        Route("/assets/ansi.css", _fixed(stylesheet().encode(), "text/css")),
    ]
    folder = resources.files(__package__) / "assets"
    routes += [
        Route(f"/assets/{name}", _fixed((folder / name).read_bytes(), kind)) for name, kind in _ASSETS.items()
    ]
    return Starlette(routes=routes, exception_handlers={404: _nothing_here})


def _page(opened: Opened, make: Page) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        theme = _theme(request)
        try:
            content = await run_in_threadpool(make, opened, Parameters(request.query_params), theme)
        except (SpillstoreError, BadRequestError) as error:
            return _problem(error, theme)
        return HTMLResponse(content, headers=_FRESH)

    return endpoint


def _answer(opened: Opened, make: Callable[[Opened, Parameters], dict[str, Any]]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            content = await run_in_threadpool(make, opened, Parameters(request.query_params))
        except (SpillstoreError, BadRequestError) as error:
            return JSONResponse({"error": str(error)}, _status(error), headers=_FRESH)
        return JSONResponse(content, headers=_FRESH)

    return endpoint


def _streamed(
    opened: Opened, ends: asyncio.Event, make: Callable[[Opened, Parameters, asyncio.Event], Response]
) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            return make(opened, Parameters(request.query_params), ends)
        except BadRequestError as error:
            return JSONResponse({"error": str(error)}, _status(error), headers=_FRESH)

    return endpoint


def _file(opened: Opened, make: Callable[[Opened, Parameters], Response]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            return await run_in_threadpool(make, opened, Parameters(request.query_params))
        except (SpillstoreError, BadRequestError) as error:
            return _problem(error, _theme(request))

    return endpoint


def _fixed(content: bytes, kind: str) -> Endpoint:
    async def endpoint(_: Request) -> Response:
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    return endpoint


def _theme(request: Request) -> str | None:
    theme = request.cookies.get("spillstore-theme")
    return theme if theme in THEMES else None


def _status(error: Exception) -> int:
    return 404 if isinstance(error, _NOT_FOUND) else 400 if isinstance(error, _MISUSED) else 500


def _problem(error: Exception, theme: str | None) -> Response:
    status = _status(error)
    title = {404: "Not here", 400: "That cannot be shown"}.get(status, "This cannot be read")
    return HTMLResponse(_message(title, str(error), theme), status, headers=_FRESH)


def _message(title: str, words: str, theme: str | None) -> Html:
    content = tag(
        "div",
        tag("h1", title),
        tag("p", words),
        tag("a", "Sessions", href="/", class_="button"),
        class_="message",
    )
    return page(title, content, theme=theme)


async def _nothing_here(request: Request, _: Exception) -> Response:
    return HTMLResponse(
        _message("Not here", f"There is no page {request.url.path}.", _theme(request)), 404, headers=_FRESH
    )
