"""The page of a session (its artifacts, and questions to it), and that of an artifact (some of its lines, or of its matches)."""

from __future__ import annotations

import asyncio
import urllib.parse
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from datasette import Response
from datasette.utils import tilde_decode, tilde_encode

from datasette_spillstore.examples import EXAMPLES
from datasette_spillstore.lines import MOST_LINES, Part, part, visible
from datasette_spillstore.sessions import SessionDatabase
from spillstore.exceptions import (
    ArtifactNotFoundError,
    InvalidIdError,
    PatternError,
    RangeError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillstore.artifact import Artifact
    from spillstore.info import ArtifactInfo, SearchResult
    from spillstore.session import Session

_LINES: Final = 200  # of a page, where nothing else is asked for
_LISTED: Final = 100  # artifacts of a page
_MATCHES: Final = 50
_MOST_OF_MATCH: Final = 2000  # characters
_STREAMS: Final = ("combined", "stdout", "stderr")
_STATUS: Final[dict[type[SpillstoreError], int]] = {
    ArtifactNotFoundError: 404,
    SessionNotFoundError: 404,
    SessionDeletedError: 404,
    InvalidIdError: 404,
    RangeError: 400,
    PatternError: 400,
}
_WHAT_IT_READS: Final = ("artifact", "chunk")
_HEADERS: Final = {
    "content-security-policy": "base-uri 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
}


def session_path(datasette: Any, database: SessionDatabase, **arguments: object) -> str:
    """Where the page of a session is."""
    path = f"{datasette.urls.database(database.name)}/-/spillstore"
    return _with_arguments(path, arguments)


def artifact_path(datasette: Any, database: SessionDatabase, artifact_id: str, **arguments: object) -> str:
    """Where the page of an artifact is."""
    path = f"{datasette.urls.database(database.name)}/-/spillstore/{tilde_encode(artifact_id)}"
    return _with_arguments(path, arguments)


def _with_arguments(path: str, arguments: Mapping[str, object]) -> str:
    given = {name: str(value) for name, value in arguments.items() if value is not None}
    return f"{path}?{urllib.parse.urlencode(given)}" if given else path


class _Asked(NamedTuple):
    """What an address of an artifact's page asks for."""

    artifact_id: str
    stream: Any
    search: str | None
    start: int
    most: int
    cursor: str | None


def _asked(request: Any) -> _Asked:
    stream = request.args.get("stream") or "combined"
    if stream not in _STREAMS:
        raise RangeError(f"stream is combined, stdout or stderr, not {stream!r:.100}")
    return _Asked(
        tilde_decode(request.url_vars["artifact"]),
        stream,
        request.args.get("search") or None,
        _number(request, "start", 1, 2**62),
        _number(request, "lines", _LINES, MOST_LINES),
        request.args.get("cursor") or None,
    )


def _number(request: Any, name: str, default: int, most: int) -> int:
    given = request.args.get(name)
    if not given:
        return default
    try:
        value = int(given)
    except ValueError:
        value = 0
    if not 1 <= value <= most:
        raise RangeError(
            f"{name} is a whole number from 1 to {most}, not {given!r:.100}; for example ?{name}={default}"
        )
    return value


async def session_page(datasette: Any, request: Any) -> Response:
    """Artifacts of a session, the newest first, and questions to it."""

    def listed(session: Session) -> tuple[list[ArtifactInfo], str | None]:
        page = session.infos(limit=_LISTED, cursor=request.args.get("cursor") or None)
        return list(page), page.cursor

    def context(database: SessionDatabase, found: tuple[list[ArtifactInfo], str | None]) -> dict[str, Any]:
        infos, cursor = found
        base = datasette.urls.database(database.name)
        return {
            "artifacts": [(each, artifact_path(datasette, database, each.id)) for each in infos],
            "next": session_path(datasette, database, cursor=cursor) if cursor else None,
            "examples": [(each, _with_arguments(base, {"sql": each.sql})) for each in EXAMPLES],
        }

    return await _page(datasette, request, "spillstore_session.html", listed, context)


async def artifact_page(datasette: Any, request: Any) -> Response:
    """Lines of an artifact from ``?start=`` on, or the lines that match ``?search=``, of one ``?stream=``."""
    seconds = datasette.setting("sql_time_limit_ms") / 1000

    def found(session: Session) -> tuple[_Asked, Artifact, Part | SearchResult]:
        asked = _asked(request)
        artifact = session.artifact(asked.artifact_id)
        if asked.search is None:
            return asked, artifact, part(artifact, asked.stream, asked.start, asked.most)
        result = artifact.search(
            asked.search, stream=asked.stream, limit=_MATCHES, cursor=asked.cursor, seconds=seconds
        )
        return asked, artifact, result

    def context(
        database: SessionDatabase, got: tuple[_Asked, Artifact, Part | SearchResult]
    ) -> dict[str, Any]:
        asked, artifact, result = got
        return _artifact_context(datasette, database, asked, artifact.info, result)

    return await _page(datasette, request, "spillstore_artifact.html", found, context)


def _artifact_context(
    datasette: Any, database: SessionDatabase, asked: _Asked, info: ArtifactInfo, result: Part | SearchResult
) -> dict[str, Any]:
    stream = None if asked.stream == "combined" else asked.stream
    count = None if asked.most == _LINES else asked.most

    def place(start: int | None, **arguments: object) -> str:
        return artifact_path(
            datasette, database, info.id, stream=stream, start=start, lines=count, **arguments
        )

    total = info.view(asked.stream).lines
    common = {
        "info": info,
        "asked": asked,
        "total": total,
        "start": None if asked.start == 1 else asked.start,
        "streams": [
            (
                name,
                artifact_path(datasette, database, info.id, stream=name, search=asked.search),
                info.view(name),
            )  # type: ignore[arg-type]
            for name in _STREAMS
        ],
        "here": artifact_path(datasette, database, info.id),
    }
    if isinstance(result, Part):
        return {
            **common,
            "lines": result.lines,
            "first": place(1) if asked.start > 1 else None,
            "before": place(max(1, asked.start - asked.most)) if asked.start > 1 else None,
            "after": place(result.next) if result.next is not None else None,
            "last": place(max(1, total - asked.most + 1)) if result.next is not None else None,
        }
    matches = [
        (each.line, visible(each.text[:_MOST_OF_MATCH]), f"{place(max(1, each.line - 5))}#L{each.line}")
        for each in result.matches
    ]
    more = place(None, search=asked.search, cursor=result.cursor) if result.cursor else None
    return {**common, "matches": matches, "result": result, "more": more}


async def _page(
    datasette: Any,
    request: Any,
    template: str,
    read: Callable[[Session], Any],
    context_of: Callable[[SessionDatabase, Any], dict[str, Any]],
) -> Response:
    """A page about a session: who may not see its tables does not see it, and what fails says why."""
    route = tilde_decode(request.url_vars["database"])
    try:
        database = datasette.get_database(route=route)
    except KeyError:
        database = None
    if not isinstance(database, SessionDatabase):
        return await _failed(datasette, request, 404, f"no session is called {route!r:.300}")
    await _check_allowed(datasette, request.actor, database.name)

    def run() -> dict[str, Any]:
        with database.place.open() as session:
            return context_of(database, read(session))

    try:
        context = await asyncio.to_thread(run)
    except SpillstoreError as error:
        status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
        return await _failed(datasette, request, status, str(error))
    context |= {"database": database.name, "place": database.place, "visible": visible}
    context["session_path"] = session_path(datasette, database)
    return Response.html(
        await datasette.render_template(template, context, request=request), headers=_HEADERS
    )


async def _failed(datasette: Any, request: Any, status: int, why: str) -> Response:
    context = {"why": visible(why), "status": status}
    text = await datasette.render_template("spillstore_failed.html", context, request=request)
    return Response.html(text, status=status, headers=_HEADERS)


async def _check_allowed(datasette: Any, actor: Any, database: str) -> None:
    """Raise Forbidden unless the actor may see the tables that the pages read."""
    if hasattr(datasette, "ensure_permissions"):  # Datasette 0.65
        for table in _WHAT_IT_READS:
            wanted = [("view-table", (database, table)), ("view-database", database), "view-instance"]
            await datasette.ensure_permissions(actor, wanted)
        return
    from datasette.resources import TableResource  # noqa: PLC0415  # from 1.0 on

    await datasette.refresh_schemas()
    for table in _WHAT_IT_READS:
        await datasette.ensure_permission(
            action="view-table", resource=TableResource(database=database, table=table), actor=actor
        )
