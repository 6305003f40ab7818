"""Reading ahead: the next few pieces of a long read are made on the workers while the last one is being used.

A piece that no worker has begun when it is wanted is made by who wants it, so a reader never waits in a line behind
writers, and one that is given up leaves nothing under way but what has begun.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from spillstore.runtime import workers as _workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DEPTH = 3  # pieces under way: one for each worker, and one that waits
_PATIENCE = 1.0  # seconds after which somebody looks whether who makes it is still there
T = TypeVar("T")


class _Piece(Generic[T]):
    """A piece on its way."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._taken = threading.Lock()  # by whoever makes it, and never given back
        self._done = threading.Event()
        self._result: T
        self._error: BaseException | None = None

    def take(self) -> bool:
        """Whether the caller is the one to make it."""
        return self._taken.acquire(blocking=False)

    def run(self) -> None:
        """Make it, unless somebody else does or nobody wants it."""
        if not self.take():
            return
        try:
            self._result = self._make()
        except BaseException as error:  # noqa: BLE001  # raised where the piece is wanted
            self._error = error
        self._done.set()

    def result(self, check: Callable[[], None]) -> T:
        """The piece; ``check`` raises if nobody can be making it any more."""
        self.run()
        while not self._done.wait(_PATIENCE):
            check()
        if self._error is not None:
            raise self._error
        return self._result


def ahead(makers: Iterable[Callable[[], T]], check: Callable[[], None]) -> Iterator[T]:
    """What ``makers`` make, in their order, ``DEPTH`` of them at a time.

    Args:
        makers: make one piece each, on any thread.
        check: raises if this process cannot go on, for example after a fork.
    """
    waiting: deque[_Piece[T]] = deque()
    try:
        for make in makers:
            piece = _Piece(make)
            waiting.append(piece)
            _workers.submit(piece.run)
            if len(waiting) > DEPTH:
                yield waiting.popleft().result(check)
        while waiting:
            yield waiting.popleft().result(check)
    finally:
        for piece in waiting:
            piece.take()  # so that nobody begins it
