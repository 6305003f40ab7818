"""A call that a worker may make before its result is asked for; else whoever asks makes it.

So nobody waits for a worker that is busy: what no worker has begun yet, the caller of ``result`` does. Worth it for calls that free
the interpreter's lock and take longer than to wake a thread, a tenth of a millisecond.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from spillstore.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE = 1.0  # seconds between two checks that the thread which makes the call is still there
T = TypeVar("T")


def helped() -> bool:
    """Whether there are workers who may make a call ahead. The only one there is makes none: its caller may be waiting for it."""
    return workers.COUNT > 1 and workers.working()


class Ahead(Generic[T]):
    """The result of one call, made once.

    Example:
        >>> Ahead(lambda: 6 * 7).result()
        42
    """

    __slots__ = ("_begun", "_call", "_ended", "_error", "_result")

    def __init__(self, call: Callable[[], T], *, starts: bool = False) -> None:
        """Offer the call to the workers.

        Args:
            call: made once, on any thread.
            starts: whether workers are started for it; else it is offered to those that there are, and not to the only one.
        """
        self._call: Callable[[], T] | None = call
        self._begun = threading.Lock()  # taken by who makes the call, or does without it, and never released
        self._ended = threading.Event()
        self._result: T | None = None
        self._error: BaseException | None = None
        if starts or helped():
            workers.submit(self._run)

    def _run(self) -> None:
        if not self._begun.acquire(blocking=False):
            return
        call, self._call = self._call, None  # what it refers to is not kept while this waits in the queue
        assert call is not None  # nobody else gets here
        try:
            self._result = call()
        except BaseException as error:  # noqa: BLE001  # raised by ``result``
            self._error = error
        self._ended.set()

    def result(self, check: Callable[[], None] | None = None) -> T:
        """What the call returns, or raises; ``check`` raises if nobody can be making it any more, for example after a fork."""
        self._run()
        while not self._ended.wait(None if check is None else _PATIENCE):
            if check is not None:
                check()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # it has returned

    def cancel(self) -> None:
        """Let nobody begin the call any more; ``result`` is not to be asked for then."""
        if self._begun.acquire(blocking=False):
            self._call = None
