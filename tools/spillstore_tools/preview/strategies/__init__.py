"""How output is cut: strategies by name.

A strategy turns an ``Overview`` into parts of at most a number of code points, markers included. The built-in ones are
imported when they are first used; others are added with ``register``. A strategy that cannot cut an output (one for JSON
that gets text) returns None, and the caller takes another one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from spillstore.exceptions import InvalidSettingError
from spillstore_tools.preview.strategies.request import Request, Strategy

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Request", "Strategy", "names", "register", "strategy"]

_BUILT_IN = {  # the module and the class of each
    "element": ("element", "Element"),
    "head": ("head_tail", "Head"),
    "head_tail": ("head_tail", "HeadTail"),
    "lines": ("head_tail", "WholeLines"),
    "none": ("head_tail", "Uncut"),
    "smart": ("smart", "Smart"),
    "tail": ("head_tail", "Tail"),
}
_REGISTRY: dict[str, Callable[[], Strategy]] = {}


def register(name: str, make: Callable[[], Strategy]) -> None:
    """Add a strategy under a name.

    Raises:
        InvalidSettingError: the name is taken.
    """
    if name in names():
        raise InvalidSettingError(f"there is a strategy {name!r} already; choose another name")
    _REGISTRY[name] = make


def names() -> tuple[str, ...]:
    """The names of all strategies."""
    return tuple(sorted({*_BUILT_IN, *_REGISTRY}))


def strategy(name: str) -> Strategy:
    """The strategy of a name.

    Raises:
        InvalidSettingError: there is none; the message names those that there are.
    """
    if name in _BUILT_IN:
        module, kind = _BUILT_IN[name]
        return cast("Strategy", getattr(importlib.import_module(f"{__name__}.{module}"), kind)())
    if name not in _REGISTRY:
        raise InvalidSettingError(f"no strategy {name!r}; there are {', '.join(names())}")
    return _REGISTRY[name]()
