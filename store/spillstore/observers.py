r"""Observers of what happens in this process's sessions: metrics, traces, the log ``spillstore``.

Every event of the audit log is emitted as an ``EmittedEvent``, whether it is recorded or not: ``audit="off"`` changes nothing
for observers. Some kinds are only emitted: ``output`` (a tool's output was rendered), ``command`` (a command has ended),
``commit`` (a transaction of writers) and ``failure`` (an artifact cannot be stored any further). Events of writes are emitted
by the committing thread once they are committed; all others at once, on the acting thread.

An operation that takes time has a beginning, too, so that events within it can be shown as its parts: ``begin_operation`` gives it
a context of its own, in which observers may keep what they like; threads that go on with the work run in a copy of it.

Caveats: an observer is called on any thread and holds up what is done there, so it should count and return. An exception that
it raises is logged once and goes no further. No lock of a session is held when it is called, so it may use the session of
the event, but not open a session that is just being opened. Details are those of events: they contain ids, ranges and refused
names, and a reason may quote output. Metrics and logs take from them only the fields that they name.

Example:
    >>> import tempfile
    >>> from spillstore import Store
    >>> class Kinds(Observer):
    ...     def __init__(self):
    ...         self.seen = []
    ...     def on_event(self, event):
    ...         self.seen.append(event.kind)
    >>> kinds = Kinds()
    >>> stop = subscribe(kinds)
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0, audit="off").session("s") as session:
    ...     _ = session.put("one\ntwo\n").read_lines(1, 1)
    >>> stop()
    >>> kinds.seen
    ['create', 'seal', 'commit', 'read']
"""

from __future__ import annotations

import contextvars
import logging
import os
import threading
import time
import traceback
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from spillstore.events import log_lines
from spillstore.events.emitted import EmittedEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "EmittedEvent",
    "EmittingLock",
    "Observer",
    "Operation",
    "begin_operation",
    "emit",
    "is_observed",
    "subscribe",
]
P = ParamSpec("P")
T = TypeVar("T")
_log = logging.getLogger("spillstore")


class Observer:
    """A base class for observers. Both methods may be called on any thread, at the same time."""

    def on_event(self, event: EmittedEvent) -> None:
        """Receive an event."""

    def on_begin(self, kind: str, detail: Mapping[str, object]) -> Callable[[EmittedEvent], object] | None:
        """An operation of that kind begins: called in a context of its own.

        Returns:
            What is to be called with the operation's event when it has ended, on any thread, before ``on_event``; or None.
        """


_observers: tuple[Observer, ...] = ()  # replaced, never changed, so that ``emit`` needs no lock
_failed: set[int] = set()  # ids of observers whose failure was logged
_changing = threading.Lock()  # protects both


def subscribe(observer: Observer) -> Callable[[], None]:
    """Call ``observer`` from now on with the events of this process, and of children that are forked.

    Returns:
        A function that ends the subscription. A second call of it does nothing.

    Cost: without observers and log less than 1 us an event; else about 1 us and the time of the observer.
    """
    global _observers  # noqa: PLW0603  # there is one such list a process
    with _changing:
        _observers = (*_observers, observer)

    def stop() -> None:
        global _observers  # noqa: PLW0603  # likewise
        with _changing:
            _observers = tuple(each for each in _observers if each is not observer)
            _failed.discard(id(observer))

    return stop


def is_observed(kind: str, outcome: str = "lost") -> bool:
    """Whether an observer or the log takes events of that kind; for an ``output``, with that outcome."""
    return bool(_observers) or log_lines.is_enabled(kind, outcome)


def emit(event: EmittedEvent) -> None:
    """Give an event to the log and to all observers."""
    try:
        log_lines.log(event)
    except Exception:  # noqa: BLE001  # a filter or handler of the caller's, of which only ``logging`` itself could tell
        if logging.raiseExceptions:
            traceback.print_exc()
    for observer in _observers:
        try:
            observer.on_event(event)
        except Exception:  # noqa: BLE001  # whatever it is, it is not the fault of the observed code
            _log_failure(observer)


def _log_failure(observer: Observer) -> None:
    with _changing:
        if id(observer) in _failed:
            return
        _failed.add(id(observer))
    # With a traceback: it is the observer's own, and is shown nowhere else.
    _log.exception("an observer failed; this is told once", extra={"observer": type(observer).__qualname__})


class Operation:
    """An operation that goes on; made by ``begin_operation``. ``end`` may be called on any thread; a second call does nothing."""

    __slots__ = ("_began", "_context", "_ended", "_ends", "_kind")

    def __init__(
        self,
        kind: str,
        context: contextvars.Context | None,
        ends: tuple[tuple[Observer, Callable[[EmittedEvent], object]], ...],
    ) -> None:
        self._kind = kind
        self._context = context
        self._ends = ends
        self._ended = False
        self._began = time.perf_counter()

    def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``function`` as a part of it; several threads may at the same time."""
        if self._context is None:
            return function(*args, **kwargs)
        return self._context.copy().run(function, *args, **kwargs)

    def end(
        self, detail: Mapping[str, object], *, session: str | None = None, artifact_id: str | None = None
    ) -> None:
        """Emit the operation's event: it is over."""
        ends, self._ends = self._ends, ()
        if self._ended or not (ends or is_observed(self._kind)):
            return
        self._ended = True
        seconds = time.perf_counter() - self._began
        event = EmittedEvent(self._kind, detail, session, artifact_id, seconds)
        for observer, end in ends:
            try:
                end(event)
            except Exception:  # noqa: BLE001  # as in ``emit``
                _log_failure(observer)
        self.run(emit, event)


def begin_operation(kind: str, detail: Mapping[str, object]) -> Operation:
    """Begin an operation, as a part of what is done in this context.

    Args:
        kind: ``output`` or ``command``.
        detail: what is known of it.
    """
    observers = _observers
    if not observers:
        return Operation(kind, None, ())
    context = contextvars.copy_context()
    ends = []
    for observer in observers:
        try:
            end = context.run(observer.on_begin, kind, detail)
        except Exception:  # noqa: BLE001  # as in ``emit``
            _log_failure(observer)
        else:
            if end is not None:
                ends.append((observer, end))
    return Operation(kind, context, tuple(ends))


class EmittingLock:
    """A lock. Events that its holder emits are delivered once it is released, because observers may use what it protects."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._waiting: list[
            tuple[contextvars.Context | None, EmittedEvent]
        ] = []  # contexts of the threads that emitted them

    def emit(self, event: EmittedEvent, context: contextvars.Context | None = None) -> None:
        """Emit an event now, or when this thread has released the lock; in a copy of ``context``, if one is given."""
        if self._holder == threading.get_ident():
            self._waiting.append((context, event))
        else:
            _emit_in(context, event)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._holder = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        waiting, self._waiting = self._waiting, []
        self._holder = None
        self._lock.release()
        self.released()
        for context, event in waiting:
            _emit_in(context, event)

    def released(self) -> None:
        """Called between the release and the delivery of events, for a lock that holds something else besides."""


def _emit_in(context: contextvars.Context | None, event: EmittedEvent) -> None:
    if context is None:
        emit(event)
    else:
        context.copy().run(emit, event)


def _forget_after_fork() -> None:
    global _changing  # noqa: PLW0603  # another thread of the parent may hold it
    _changing = threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
