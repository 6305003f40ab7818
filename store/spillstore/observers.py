r"""Who is told, within this process, what happens in its sessions: metrics, traces, the log ``spillstore``.

What becomes an event of the audit log is an ``EmittedEvent`` here, whether it is recorded or not: ``audit="off"`` changes
nothing for who observes. Besides there are kinds that no log has: ``output`` (what a tool printed was made a text),
``command`` (one has ended), ``commit`` (a transaction of writers), ``failure`` (an artifact that cannot be stored any
further). What is written is told once it is committed, by whoever commits it; all else at once, by who did it.

Work that takes time has a beginning, too, so that what is done in it can be told as a part of it: ``begin`` gives it a
context of its own, in which observers may leave what they like, and threads that go on with the work run in a copy of it.

Caveats: an observer is called on any thread and holds up what is done there, so it should count and return. What it raises
is told in the log once, and never reaches who is observed. It is called when no lock of a session is held, so it may use
what it is told of, but not open the session that is just being opened. Details are those of events: ids, ranges and refused names are
in them, and a reason may quote what was printed. Metrics and logs take from them only what they name.

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
    """Wants to know what happens. Made to be derived from; both methods may be called on any thread, at the same time."""

    def on_event(self, event: EmittedEvent) -> None:
        """Something has."""

    def on_begin(self, kind: str, detail: Mapping[str, object]) -> Callable[[EmittedEvent], object] | None:
        """An operation of that kind begins: called in a context of its own.

        Returns:
            What is to be called, on any thread, when it has ended, before ``happened``; or None.
        """


_observers: tuple[Observer, ...] = ()  # replaced, never changed, so that who tells needs no lock
_failed: set[int] = set()  # ids of observers whose failure was told
_changing = threading.Lock()  # protects both


def subscribe(observer: Observer) -> Callable[[], None]:
    """Tell ``observer`` from now on what happens in this process, and in children that are forked.

    Returns:
        What ends it. A second call does nothing.

    Cost: with no observer and no log, less than 1 us for what happens; else what the observer takes, and about 1 us.
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
    """Whether anybody wants to know of that kind; of an output, with that outcome (``lost`` is what most want to know)."""
    return bool(_observers) or log_lines.is_enabled(kind, outcome)


def emit(event: EmittedEvent) -> None:
    """Tell everybody who wants to know."""
    try:
        log_lines.log(event)
    except Exception:  # noqa: BLE001  # a filter or handler of the caller's, of which only ``logging`` itself could tell
        if logging.raiseExceptions:
            traceback.print_exc()
    for observer in _observers:
        try:
            observer.on_event(event)
        except Exception:  # noqa: BLE001  # whatever it is, it is not the fault of who is observed
            _log_failure(observer)


def _log_failure(observer: Observer) -> None:
    with _changing:
        if id(observer) in _failed:
            return
        _failed.add(id(observer))
    # With a traceback: it is the observer's own, and nobody else will ever see it.
    _log.exception("an observer failed; this is told once", extra={"observer": type(observer).__qualname__})


class Operation:
    """Work that goes on; made by ``begin``. ``end`` it on any thread; a second end is none."""

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
        """Tell that it is over, and what came of it."""
        ends, self._ends = self._ends, ()
        if self._ended or not (ends or is_observed(self._kind)):
            return
        self._ended = True
        seconds = time.perf_counter() - self._began
        event = EmittedEvent(self._kind, detail, session, artifact_id, seconds)
        for observer, end in ends:
            try:
                end(event)
            except Exception:  # noqa: BLE001  # as in ``tell``
                _log_failure(observer)
        self.run(emit, event)


def begin_operation(kind: str, detail: Mapping[str, object]) -> Operation:
    """Say that work begins here, as a part of what is done in this context.

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
        except Exception:  # noqa: BLE001  # as in ``tell``
            _log_failure(observer)
        else:
            if end is not None:
                ends.append((observer, end))
    return Operation(kind, context, tuple(ends))


class EmittingLock:
    """A lock; what is told by who holds it is passed on when it has been let go, for an observer may use what it guards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._waiting: list[tuple[contextvars.Context | None, EmittedEvent]] = []  # of who holds it

    def emit(self, event: EmittedEvent, context: contextvars.Context | None = None) -> None:
        """Tell, now or then; in a context, if one is given, that nobody else uses."""
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
        """For a lock that holds something else besides: it was let go, and nobody was told yet."""


def _emit_in(context: contextvars.Context | None, event: EmittedEvent) -> None:
    if context is None:
        emit(event)
    else:
        context.copy().run(emit, event)


def _forget_after_fork() -> None:
    global _changing  # noqa: PLW0603  # another thread of the parent may hold it
    _changing = threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
