"""How reads of an artifact become events: what was asked for, how much came, how long it took, and what came of it.

An event never has content, nor what somebody searched for, which may be a secret.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from spillstore import info as infos
from spillstore.exceptions import SpillstoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.audit.audit_log import Audit

P = ParamSpec("P")
T = TypeVar("T")


class ReadLog(NamedTuple):
    """Where the reads of one artifact are recorded."""

    audit: Audit
    artifact_id: str


def iterated(
    log: ReadLog | None,
    items: Iterator[T],
    detail: dict[str, object],
    size_of: Callable[[T], int],
    *,
    kind: str = "read",
    size: str = "bytes",
) -> Iterator[T]:
    """The items; when they end, or nobody wants more, that is an event.

    Args:
        log: where it is recorded; None for nowhere.
        items: what is read.
        detail: of the event.
        size_of: the size of one item.
        kind: of the event.
        size: the name that the sum of the sizes has in the detail.
    """
    return items if log is None else _iterated(log, items, detail, size_of, kind, size)


def _iterated(
    log: ReadLog,
    items: Iterator[T],
    detail: dict[str, object],
    size_of: Callable[[T], int],
    kind: str,
    size: str,
) -> Iterator[T]:
    total = 0
    failure: SpillstoreError | None = None
    complete = False
    try:
        for item in items:
            total += size_of(item)
            yield item
        complete = True
    except SpillstoreError as error:
        failure = error
        raise
    finally:
        detail |= {size: total, "complete": complete}
        log.audit.read(kind, log.artifact_id, detail, None, failure)


class Recording(Protocol):
    """An object whose methods may be ``recorded``; a log that is None records nothing."""

    _log: ReadLog | None


S = TypeVar("S", bound=Recording)


def recorded(
    kind: str, **fields: str
) -> Callable[[Callable[Concatenate[S, P], T]], Callable[Concatenate[S, P], T]]:
    """Make each call of a method an event, also one that fails.

    Args:
        kind: of the event.
        fields: the parameters whose arguments, where they are given, stand in the event's detail, and the name that each has
            there.
    """

    def decorate(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
        code = method.__code__
        parameters = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        if unknown := fields.keys() - set(parameters):
            raise TypeError(f"{method.__name__} has no parameters {unknown}")
        positional = [fields.get(name, "") for name in parameters[: code.co_argcount - 1]]

        @functools.wraps(method)
        def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
            log = self._log
            if log is None:
                return method(self, *args, **kwargs)
            began = time.perf_counter()
            detail: dict[str, object] = dict(zip(positional, args))  # noqa: B905  # those that are given
            detail.pop("", None)
            for name, value in kwargs.items():
                if name in fields:
                    detail[fields[name]] = value
            try:
                result = method(self, *args, **kwargs)
            except SpillstoreError as error:
                log.audit.read(kind, log.artifact_id, detail, began, error)
                raise
            if isinstance(result, bytes):
                detail["bytes"] = len(result)
            else:
                detail.update(_size_of(result))
            log.audit.read(kind, log.artifact_id, detail, began)
            return result

        return call

    return decorate


def _size_of(result: object) -> dict[str, object]:
    """How much an answer is."""
    if isinstance(result, infos.SearchResult):
        return {"lines": result.lines, "matches": result.total_matches, "complete": result.complete}
    if isinstance(result, infos.QueryResult):
        return {"nodes": len(result.matches), "complete": result.complete}
    if isinstance(result, infos.Export):
        return {"bytes": result.size, "size": result.size, "dropped": result.dropped}
    return {}
