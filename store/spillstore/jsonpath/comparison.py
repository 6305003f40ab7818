"""Values in filters: compared, measured and reached. ``true`` is no 1 here, unlike in Python."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from spillstore.jsonpath.context import NOTHING
from spillstore.jsonpath.nodes import CONTAINERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spillstore.jsonpath.context import Context
    from spillstore.jsonpath.selectors import PathSegment


class LazyValue(Protocol):
    """A value of a document that is too large to be decoded; a query can be run over it where it stands.

    Attributes:
        type: of the value: ``dict``, ``list`` or ``str``.
    """

    type: type

    def values(self, segments: tuple[PathSegment, ...], context: Context) -> Iterator[Any]:
        """The nodes that a query selects in it."""
        ...

    def build(self) -> Any:
        """The value after all, if it is within the limit."""
        ...


PLAIN: Final = frozenset({dict, list, str, int, float, bool, type(None), decimal.Decimal})
_NUMBERS = (int, float, decimal.Decimal)
_ORDINARY: Final = frozenset({int, float})


def reached(value: Any, keys: tuple[str | int, ...]) -> Any:
    """The value at a path of names and indices in a decoded value; ``NOTHING`` if there is none."""
    for key in keys:
        if isinstance(key, str):
            if type(value) is not dict:
                return NOTHING
            value = value.get(key, NOTHING)
        elif type(value) is list and -len(value) <= key < len(value):
            value = value[key]
        else:
            return NOTHING
    return value


def _built(value: Any) -> Any:
    return value if value is NOTHING or type(value) in PLAIN else value.build()


def text_of(value: Any) -> Any:
    """The value, decoded if it is a text that is not."""
    return _built(value) if _type(value) is str else value


def _type(value: Any) -> type:
    return type(value) if value is NOTHING or type(value) in PLAIN else cast("LazyValue", value).type


def length_of(value: Any) -> Any:
    """Characters of a text, or children of a container; ``NOTHING`` for any other value."""
    value = _built(value)
    return len(value) if isinstance(value, (str, list, dict)) else NOTHING


def only_one(values: Iterable[Any]) -> Any:
    """The value of a single node; ``NOTHING`` if there are more, or none."""
    found = list(_few(values))
    return found[0] if len(found) == 1 else NOTHING


def _few(values: Iterable[Any]) -> Iterator[Any]:
    for number, value in enumerate(values):
        yield value
        if number:
            return


def _equal(left: Any, right: Any) -> bool:
    if type(left) is type(right) is str:
        return bool(left == right)
    if left is NOTHING or right is NOTHING:
        return left is right
    if type(left) not in PLAIN or type(right) not in PLAIN:
        if _type(left) is not _type(right):
            return False
        left, right = _built(left), _built(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right) and (type(left) not in CONTAINERS or _same_kinds(left, right))


def _same_kinds(left: Any, right: Any) -> bool:
    """Whether two containers that Python takes for equal are so in JSON, too, where ``true`` is not 1."""
    todo = [(left, right)]
    while todo:
        one, other = todo.pop()
        if isinstance(one, bool) is not isinstance(other, bool):
            return False
        if isinstance(one, dict):
            todo += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list):
            todo += zip(one, other, strict=True)
    return True


def _less(left: Any, right: Any) -> bool:
    if type(left) in _ORDINARY and type(right) in _ORDINARY:
        return bool(left < right)
    if _type(left) is _type(right) is str:
        left, right = _built(left), _built(right)
        return bool(left < right)
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    return isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS) and bool(left < right)


COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _less,
    ">": lambda left, right: _less(right, left),
    "<=": lambda left, right: _less(left, right) or _equal(left, right),
    ">=": lambda left, right: _less(right, left) or _equal(left, right),
}
