"""Methods that a class hands on to a part of itself, declared once, with the part's signature and docstring."""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Method(Protocol[P, R_co]):
    """What type checkers see of a method that is made from another one: its parameters ``P`` and its result ``R_co``."""

    @overload
    def __get__(self, instance: None, owner: type, /) -> Callable[Concatenate[Any, P], R_co]: ...

    @overload
    def __get__(self, instance: object, owner: type, /) -> Callable[P, R_co]: ...


class _Delegated:
    def __init__(self, method: Callable[..., Any], part: str) -> None:
        self._method = method
        self._part = part

    def __get__(self, instance: object, owner: type) -> Callable[..., Any]:
        return self._method if instance is None else MethodType(self._method, getattr(instance, self._part))


def delegated(method: Callable[Concatenate[Any, P], R], part: str) -> Method[P, R]:
    """A method of a class that is a method of one of its parts.

    Args:
        method: of the part's class.
        part: the attribute of the instance that has the part.

    Example:
        >>> class Motor:
        ...     def start(self) -> str:
        ...         return "started"
        >>> class Car:
        ...     start = delegated(Motor.start, "_motor")
        ...
        ...     def __init__(self) -> None:
        ...         self._motor = Motor()
        >>> Car().start()
        'started'
    """
    return cast("Method[P, R]", _Delegated(method, part))
