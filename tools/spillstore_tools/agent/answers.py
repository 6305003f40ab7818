"""The answer of a tool that reads stored artifacts: its bounds, its signature, its event in the audit log, and its errors."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from spillstore.exceptions import SpillstoreError
from spillstore_tools.agent.arguments import ArgumentError, whole
from spillstore_tools.output.signed_answers import with_signature
from spillstore_tools.preview.text.clean import one_line, unmasked

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session

MODEL = "model"  # the actor of tool calls, unless the caller names another one
MAX_CHARS = 8000  # characters of an answer, by default
LEAST_CHARS, MOST_CHARS = 500, 100_000
SECONDS = 5.0  # after which a search, a query or a comparison answers with what it has found so far


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a tool that reads.

    Attributes:
        text: the text for the model.
        content: the part of ``text`` that comes from the artifact.
        is_error: whether the call failed.
        cursor: the argument with which the next call continues; None at the end.
        artifact_id: the artifact that was read, or None.
        ids: the artifacts that are listed.
        stream: the stream that positions refer to.
        start, end: the bytes ``[start, end)`` that ``content`` shows.
        first_line, last_line: the lines of these bytes. Lines and bytes are 0 for a call with ``path`` or ``query``, and
            for a comparison.
        total_size, total_lines: of the stream, or of the string that ``path`` selects; 0 where they are not known.
    """

    text: str
    content: str = ""
    is_error: bool = False
    cursor: str | None = None
    artifact_id: str | None = None
    ids: tuple[str, ...] = ()
    stream: str = "combined"
    start: int = 0
    end: int = 0
    first_line: int = 0
    last_line: int = 0
    total_size: int = 0
    total_lines: int = 0


def answer_size(value: object) -> int:
    """The argument ``max_chars`` of a call: 8,000 where it is missing, else from 500 to 100,000.

    Raises:
        ArgumentError: it is no number, or out of bounds.
    """
    return whole("max_chars", value, least=LEAST_CHARS, most=MOST_CHARS) or MAX_CHARS


def max_chars_argument(size: int) -> str:
    """The argument that a call in an answer needs so that the next answer is as large; empty for the default."""
    return "" if size == MAX_CHARS else f", max_chars={size}"


def signed(session: Session, answer: Answer, *, raw: bool = False) -> Answer:
    """The answer with the session's signature at its end, by which a processor knows not to store it again.

    Unless it is ``raw``, no character in it is unseen or changes the direction of others.
    """
    if not raw:
        answer = dataclasses.replace(answer, text=unmasked(answer.text), content=unmasked(answer.content))
    return dataclasses.replace(answer, text=with_signature(session, answer.text))


P = ParamSpec("P")


def reading_tool(
    event: str, *, called: str | None = None
) -> Callable[[Callable[Concatenate[Session, P], Answer]], Callable[Concatenate[Session, P], Answer]]:
    """Make a function a tool: each call is one event in the audit log, and its errors become answers.

    The event holds the artifact, the stream, the range that is shown and the duration, never the content. A tool that
    calls another one is a single event with it, of the inner tool's kind. The outcome of a failed call is the store's
    last error, or ``ArgumentError``.

    Args:
        event: the kind of the event.
        called: the name of the tool in error messages; None for the function's own.

    Raises:
        ClosedError: at the call: the session is closed, which is the caller's mistake and not the model's.
    """

    def wrap(tool: Callable[Concatenate[Session, P], Answer]) -> Callable[Concatenate[Session, P], Answer]:
        name = called or tool.__name__

        @functools.wraps(tool)
        def call(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
            with session.acting(otherwise=MODEL), session.action(event, tool.__name__) as action:
                try:
                    answer = tool(session, *args, **kwargs)
                except ArgumentError as error:
                    answer = Answer(text=f"{name}: {error}\n", is_error=True)
                except SpillstoreError as error:
                    if _closed(session):
                        raise
                    answer = Answer(text=f"{name}: {one_line(str(error))}\n", is_error=True)
                action.artifact_id = answer.artifact_id or action.artifact_id
                action.detail["shown"] = len(answer.text)
                if answer.is_error:
                    action.outcome = action.failed or ArgumentError.__name__
                elif answer.artifact_id is not None and event != "info":
                    action.detail |= {
                        "stream": answer.stream,
                        "start": answer.start,
                        "end": answer.end,
                        "bytes": answer.end - answer.start,
                    }
                    if answer.first_line:  # a count, say, belongs to no line
                        action.detail |= {"first": answer.first_line, "last": answer.last_line}
            return answer

        return call

    return wrap


def _closed(session: Session) -> bool:
    try:
        session.exists("")
    except SpillstoreError:
        return True
    return False
