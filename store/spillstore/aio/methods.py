"""How a plain method becomes one for asyncio.

Each function here takes a method of a plain class and returns the function that stands in its place in a class that mirrors it.
An instance of such a class has the plain object as ``plain``. The result has the name, parameters and docstring of the original.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from spillstore.exceptions import SpillstoreError
from spillstore.info import Page

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Never

    from spillstore.runtime.delegation import Method


class _Closable(Protocol):
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)
C = TypeVar("C", bound=_Closable)


class Opening(Generic[C]):
    """A session or a writer that is being opened: ``await`` it, or use it with ``async with``."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._made: C | None = None

    def __await__(self) -> Generator[Any, None, C]:
        return self._open().__await__()

    async def _open(self) -> C:
        task = asyncio.ensure_future(asyncio.to_thread(self._make))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # The thread goes on; what it opens must not stay open with nobody to close it, however often this is cancelled.
            closing = asyncio.ensure_future(_close(task))
            while not closing.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(closing)
            raise

    async def __aenter__(self) -> C:
        self._made = await self._open()
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._made is not None, "__aexit__ is only called after __aenter__"
        await self._made.__aexit__(kind, error, trace)


async def _close(opening: asyncio.Future[C]) -> None:
    """Close what is being opened, as soon as it is open."""
    with contextlib.suppress(Exception):  # the caller was cancelled, and waits for no result
        await (await opening).__aexit__(None, None, None)


class Listing(Generic[T]):
    """The result of a method that lists: ``await`` it for its first page, or use ``async for`` over all items.

    With a ``limit`` it is one page, as for a plain ``Page``.
    """

    def __init__(self, first: Callable[[], Page[Any]], convert: Callable[[Any], T]) -> None:
        self._first = first
        self._convert = convert

    def __await__(self) -> Generator[Any, None, Page[T]]:
        return self._page().__await__()

    async def _page(self) -> Page[T]:
        page = await asyncio.to_thread(self._first)
        return Page(
            [self._convert(item) for item in page.items], page.cursor
        )  # iterating must not block the loop

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await asyncio.to_thread(self._first)
        while True:
            for item in page.items:
                yield self._convert(item)
            if page.cursor is None or page.following is None:
                return
            page = await asyncio.to_thread(page.following, page.cursor)


class Attribute(Protocol[T_co]):
    """The type of a property that mirrors a plain one, for type checkers."""

    def __get__(self, instance: object, owner: type, /) -> T_co: ...

    def __set__(self, instance: Any, value: Never, /) -> None: ...


class SettableAttribute(Protocol[T]):
    """The type of such a property that can be set."""

    def __get__(self, instance: object, owner: type, /) -> T: ...

    def __set__(self, instance: Any, value: T, /) -> None: ...


def _same(value: Any) -> Any:
    return value


def _call(mirror: Any, plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the method of the plain object, which may be of a subclass."""
    return getattr(mirror.plain, plain.__name__)(*args, **kwargs)


def _described(function: Callable[..., Any], plain: Callable[..., Any], returns: str | None = None) -> Any:
    """A function with the name, signature and docstring of a plain method, without its example, which does not await."""
    functools.update_wrapper(function, plain)
    function.__module__ = "spillstore.aio"
    function.__doc__ = inspect.cleandoc(plain.__doc__ or "").partition("\nExample:")[0].rstrip()
    if returns is not None:
        signature = inspect.signature(plain).replace(return_annotation=returns)
        function.__signature__ = signature  # type: ignore[attr-defined]  # functions take any attribute
    return function


@overload
def in_thread(method: Callable[Concatenate[Any, P], T]) -> Method[P, Coroutine[Any, Any, T]]: ...


@overload
def in_thread(
    method: Callable[Concatenate[Any, P], T], convert: Callable[[T], R]
) -> Method[P, Coroutine[Any, Any, R]]: ...


def in_thread(method: Callable[..., Any], convert: Callable[[Any], Any] = _same) -> Any:
    """A coroutine function that calls the plain method, and ``convert`` on its result, on a thread."""

    async def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(lambda: convert(_call(self, method, args, kwargs)))

    return _described(call, method)


def at_once(method: Callable[Concatenate[Any, P], T]) -> Method[P, T]:
    """The plain method itself, for one that touches no disk."""

    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return _call(self, method, args, kwargs)

    return cast("Method[P, T]", _described(call, method))


def opening(method: Callable[Concatenate[Any, P], T], convert: Callable[[T], C]) -> Method[P, Opening[C]]:
    """A function that returns an ``Opening`` of what the plain method opens."""

    def call(self: Any, /, *args: Any, **kwargs: Any) -> Opening[C]:
        return Opening(lambda: convert(_call(self, method, args, kwargs)))

    returns = f"Opening[{inspect.signature(method).return_annotation}]"
    return cast("Method[P, Opening[C]]", _described(call, method, returns))


@overload
def listing(method: Callable[Concatenate[Any, P], Page[T]]) -> Method[P, Listing[T]]: ...


@overload
def listing(
    method: Callable[Concatenate[Any, P], Page[T]], convert: Callable[[T], R]
) -> Method[P, Listing[R]]: ...


def listing(method: Callable[..., Page[Any]], convert: Callable[[Any], Any] = _same) -> Any:
    """A function that returns a ``Listing`` of the items of the plain method's pages, each converted."""

    def call(self: Any, /, *args: Any, **kwargs: Any) -> Listing[Any]:
        return Listing(lambda: _call(self, method, args, kwargs), convert)

    returns = str(inspect.signature(method).return_annotation)
    return _described(call, method, returns.replace("Page[", "Listing["))


def iterating(
    method: Callable[Concatenate[Any, P], Iterator[T]], batch: int = 1
) -> Method[P, AsyncIterator[T]]:
    """An asynchronous generator over what the plain method iterates over; a thread fetches ``batch`` items at a time."""

    async def call(self: Any, /, *args: Any, **kwargs: Any) -> AsyncIterator[T]:
        items: Iterator[T] | None = None
        failure: SpillstoreError | None = None

        def fetch() -> list[T]:
            nonlocal items, failure
            fetched: list[T] = []
            try:
                if items is None:
                    items = _call(self, method, args, kwargs)
                fetched.extend(itertools.islice(items, batch))
            except SpillstoreError as error:
                failure = error  # raised behind the items that came before
            return fetched

        try:
            while failure is None and (fetched := await asyncio.to_thread(fetch)):
                for item in fetched:
                    yield item
        finally:
            if isinstance(items, Generator):
                with contextlib.suppress(
                    ValueError
                ):  # it is running on a thread that nobody waits for any more
                    items.close()
        if failure is not None:
            raise failure

    returns = f"Async{inspect.signature(method).return_annotation}"
    return cast("Method[P, AsyncIterator[T]]", _described(call, method, returns))


def attribute(plain: Any) -> Any:
    """A property that reads, and sets if it can be set, the same property of the plain object."""

    @functools.wraps(plain.fget)
    def get(self: Any) -> Any:
        return getattr(self.plain, plain.fget.__name__)

    def put(self: Any, value: Any) -> None:
        setattr(self.plain, plain.fget.__name__, value)

    return property(get, put if plain.fset is not None else None)
