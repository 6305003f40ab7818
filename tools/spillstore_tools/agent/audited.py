"""Tools that are one event a call, whatever they read for their answer: who asked, for what part, and what came of it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session

MODEL = "model"  # who calls tools, where nobody says otherwise
_WRONG_ARGUMENT = "ArgumentError"
P = ParamSpec("P")


class _Answer(Protocol):
    """What an event tells of an answer."""

    @property
    def text(self) -> str: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def artifact_id(self) -> str | None: ...
    @property
    def stream(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def first_line(self) -> int: ...
    @property
    def last_line(self) -> int: ...


A = TypeVar("A", bound=_Answer)


def audited(
    kind: str,
) -> Callable[[Callable[Concatenate[Session, P], A]], Callable[Concatenate[Session, P], A]]:
    """Make each call of a tool one event of that kind; a tool that calls another is one event with it, of its kind.

    Told are the artifact, the view, the range that is shown and how long that took, never what it says. An answer that
    is an error has as its outcome the store's last error, or ``ArgumentError``.
    """

    def wrap(tool: Callable[Concatenate[Session, P], A]) -> Callable[Concatenate[Session, P], A]:
        @functools.wraps(tool)
        def call(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> A:
            with session.acting(otherwise=MODEL), session.action(kind, tool.__name__) as action:
                answer = tool(session, *args, **kwargs)
                action.artifact_id = answer.artifact_id or action.artifact_id
                action.detail["shown"] = len(answer.text)
                if answer.is_error:
                    action.outcome = action.failed or _WRONG_ARGUMENT
                elif answer.artifact_id is not None and kind != "info":
                    action.detail |= {
                        "stream": answer.stream,
                        "start": answer.start,
                        "end": answer.end,
                        "bytes": answer.end - answer.start,
                    }
                    if answer.first_line:  # what is told of all of it, such as a count, stands in no lines
                        action.detail |= {"first": answer.first_line, "last": answer.last_line}
            return answer

        return call

    return wrap
