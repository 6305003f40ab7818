"""Artifacts as resources: ``artifact://ID`` and ``artifact://ID?stream=stderr``.

A client may put a whole resource into a model's context, so resources are bounded: text of at most 100,000 characters, decoded
where it is UTF-16 or UTF-32, or the bytes of a small binary file. A longer one ends with a notice that names the call of
``get_artifact`` that goes on.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, cast

from spillstore.exceptions import InvalidSettingError
from spillstore_tools.agent.artifacts import find_artifact
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.describe import counted, human_size
from spillstore_tools.mcp.wire.tool_results import encodable
from spillstore_tools.output.media_type import kind_of
from spillstore_tools.output.rendering import head_of
from spillstore_tools.preview.text.clean import label
from spillstore_tools.preview.text.encoded import encoding_of

if TYPE_CHECKING:
    from spillstore import Artifact, ArtifactInfo, Session
    from spillstore.info import Stream

MAX_CHARS = 100_000
MAX_BINARY = 512 * 1024  # bytes
_PAGE_SIZE = 50
_MAX_TITLE = 100
_TEXT = "text/plain"

TEMPLATES: dict[str, Any] = {
    "resourceTemplates": [
        {
            "name": "artifact",
            "title": "Stored output",
            "uriTemplate": "artifact://{id}{?stream}",
            "description": "Output of a tool call. stream is combined (default), stdout or stderr; each counts its own lines.",
        }
    ]
}


def list_resources(session: Session, cursor: str | None) -> dict[str, Any]:
    """A page of artifacts, the newest first.

    Raises:
        ValueError: the cursor is invalid.
    """
    try:
        page = session.infos(limit=_PAGE_SIZE, cursor=cursor)
    except InvalidSettingError as error:
        raise ValueError(f"{error}; begin without a cursor") from None
    found: dict[str, Any] = {"resources": [_resource(info) for info in page]}
    return found if page.cursor is None else {**found, "nextCursor": page.cursor}


def _resource(info: ArtifactInfo) -> dict[str, Any]:
    title = label(info.command or info.source)
    ended = info.state if info.exit_code is None else f"exit code {info.exit_code}"
    return {
        "uri": f"artifact://{info.id}",
        "name": info.id,
        "title": encodable(title if len(title) <= _MAX_TITLE else f"{title[: _MAX_TITLE - 3]}..."),
        "description": encodable(
            f"{label(info.source)[:_MAX_TITLE]}: {human_size(info.size)}, {counted(info.lines, 'line')}, {ended}"
        ),
        "mimeType": encodable(info.content_type or _TEXT),
        "size": info.size,
    }


def read_resource(session: Session, uri: str) -> dict[str, Any]:
    """The content of an artifact, or the beginning of it with a notice.

    Args:
        session: the session of the artifact.
        uri: ``artifact://ID``, with ``?stream=stdout`` for one stream alone.

    Raises:
        ArgumentError: there is no such artifact; the message names others.
        SpillstoreError: it cannot be read.
    """
    artifact, view = find_artifact(session, uri)
    stream = cast("Stream", view or "combined")
    info = artifact.info
    encoding = encoding_of(artifact, stream)
    kind = None if encoding is not None else kind_of(head_of(artifact), info.size)
    if kind is not None and info.size <= MAX_BINARY and info.hole is None:
        data = artifact.read_bytes(0, info.size, stream=stream)
        blob = base64.b64encode(data).decode()
        return {"contents": [{"uri": uri, "mimeType": kind.media_type, "blob": blob}]}
    text, is_whole = _text(session, artifact, stream, room=MAX_CHARS if kind is None else None)
    mime_type = info.content_type if is_whole and info.content_type else _TEXT
    if encoding is not None:
        mime_type = mime_type.partition(";")[0]  # its charset is that of the stored bytes
    return {"contents": [{"uri": encodable(uri), "mimeType": encodable(mime_type), "text": encodable(text)}]}


def _text(session: Session, artifact: Artifact, stream: Stream, room: int | None) -> tuple[str, bool]:
    """The text, and whether it is the whole artifact, without a notice."""
    answer = get_artifact(session, id=artifact.id, stream=stream, max_chars=room)
    is_whole = (
        answer.cursor is None
        and (answer.start, answer.end) == (0, answer.total_size)
        and artifact.info.hole is None
    )
    return (answer.content, True) if is_whole and not answer.is_error else (answer.text, False)
