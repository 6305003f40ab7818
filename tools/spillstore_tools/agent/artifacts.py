"""Which artifact a call means: by its id, a string inside it, the stream that holds JSON, or the run before it."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, cast, get_args

from spillstore import Artifact
from spillstore.exceptions import ArtifactNotFoundError, DroppedRangeError, NotJSONError, QueryLimitError
from spillstore.info import Stream
from spillstore.model.ids import named_by
from spillstore_tools.agent.answers import SECONDS
from spillstore_tools.agent.arguments import ArgumentError, absent, one_of, unquoted
from spillstore_tools.preview.text.clean import one_line
from spillstore_tools.process.working_folders import folder_of

if TYPE_CHECKING:
    from spillstore import Session
    from spillstore.jsonstring import JSONString

_PATH_CHARS = 100  # of a JSONPath that an answer repeats
STREAMS: tuple[Stream, ...] = get_args(Stream)
_NAMED = 5  # ids that an error message names
_NOTHING = "$[0:0]"  # a query that selects nothing, and needs JSON to do so


def find_artifact(session: Session, value: object) -> tuple[Artifact, str | None]:
    """The artifact with the id that a model sent, and the stream that the id names, as ``artifact://ID?stream=stdout`` does.

    Raises:
        ArgumentError: there is none; the same for ids that are malformed, unknown or another session's.
    """
    if absent(value):
        raise ArgumentError(f"id is missing; {_newest(session)}")
    name, stream = named_by(unquoted(value))
    try:
        return session.artifact(name), stream
    except ArtifactNotFoundError:
        shown = one_line(name)[:80]
        raise ArgumentError(
            f"404 not found: no artifact {shown!r} in this session; {_newest(session)}"
        ) from None


def _newest(session: Session) -> str:
    ids = [artifact.id for artifact in session.artifacts(limit=_NAMED)]
    if not ids:
        return "it holds none yet"
    example = f'get_artifact(id="{ids[0]}", start_line=1, end_line=100)'
    return f"the newest are {', '.join(ids)}; for example {example}"


def name_of(source: Artifact | JSONString) -> str:
    """What an answer calls an artifact, or a string of its JSON: its id, and the beginning of the path."""
    return source.id if isinstance(source, Artifact) else f"{source.id} {one_line(source.path)[:_PATH_CHARS]}"


def id_argument(artifact: Artifact) -> str:
    """The argument that names an artifact in a call."""
    return f'id="{artifact.id}"'


def stream_argument(stream: str) -> str:
    """The argument that names a stream in a call, a comma before it; empty for ``combined``, the default."""
    return "" if stream == "combined" else f', stream="{stream}"'


def ranges_are_off(artifact: Artifact, what: str) -> ArgumentError:
    """The error for a call that asks for a part of an artifact where only whole artifacts are allowed."""
    return ArgumentError(
        f"{what} are switched off here (enable_partial_retrieval); "
        f"get_artifact({id_argument(artifact)}) shows all of it, a part at a time"
    )


def find_string(artifact: Artifact, path: object, stream: object) -> tuple[JSONString, str]:
    """The string that a model's JSONPath selects, and the arguments that name it in a call.

    Args:
        artifact: holds the JSON.
        path: a JSONPath (RFC 9535).
        stream: the stream that is JSON; None to find out.

    Raises:
        ArgumentError: there is no such stream.
        SpillstoreError: the path selects no string.
    """
    query = str(path).strip()
    arguments = f"{id_argument(artifact)}, path={json.dumps(query, ensure_ascii=False)}"
    if stream is None:
        view = json_view(artifact, seconds=SECONDS)
    else:
        view = cast("Stream", one_of("stream", stream, STREAMS, "combined"))
        arguments += stream_argument(view)
    return artifact.string(query, stream=view, seconds=SECONDS), arguments


def json_view(artifact: Artifact, start_line: int = 1, seconds: float | None = None) -> Stream:
    """The stream to query where none was given: ``combined``, or ``stdout`` of a command whose warnings are no JSON.

    Args:
        artifact: the artifact to query.
        start_line: the line at which the JSON begins.
        seconds: the time after which ``combined`` is taken untried.

    Returns:
        ``combined``, unless that is no JSON and ``stdout`` is. Cost: none if only one stream has anything; else reading
        both.

    Raises:
        SpillstoreError: it cannot be read.
    """
    info = artifact.info
    views: tuple[Stream, ...] = ("combined", "stdout") if info.stdout.size and info.stderr.size else ()
    for view in views:
        try:
            page = artifact.query(_NOTHING, stream=view, limit=0, start_line=start_line, seconds=seconds)
        except NotJSONError:
            continue
        except (DroppedRangeError, QueryLimitError, ValueError):
            return "combined"
        if not page.bad_line_count:
            return view
    return "combined"


def view_of_cursor(cursor: str) -> Stream:
    """The stream that a cursor of the store names; ``combined`` for anything else, which the store refuses.

    Example:
        >>> view_of_cursor("stdout:document:7@0+7"), view_of_cursor("7")
        ('stdout', 'combined')
    """
    view = cursor.partition(":")[0]
    return view if view in STREAMS else "combined"


def previous_run(session: Session, artifact: Artifact) -> Artifact | None:
    """The last artifact before this one of the same tool and command, run in the same folder; None if there is none."""
    info, folder = artifact.info, folder_of(artifact)
    before = itertools.dropwhile(lambda each: each.id != info.id, session.infos(source=info.source))
    for each in itertools.islice(before, 1, None):
        if each.command == info.command:
            found = session.artifact(each.id)
            if folder_of(found) == folder:
                return found
    return None
