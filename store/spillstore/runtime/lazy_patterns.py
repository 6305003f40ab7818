"""Regular expressions that are compiled when they are first used: a module with many of them costs what is used of it.

A module that compiles its expressions at its top takes this one in the place of ``re``::

    from spillstore.runtime import lazy_patterns as re

To compile one takes 50 to 500 us. Once compiled, a call takes as long as one of ``re``'s own.
"""

from __future__ import annotations

import re
from re import ASCII, DOTALL, IGNORECASE, MULTILINE, VERBOSE, Match, Pattern, escape, fullmatch, search
from typing import TYPE_CHECKING, AnyStr, cast

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ASCII",
    "DOTALL",
    "IGNORECASE",
    "MULTILINE",
    "VERBOSE",
    "Match",
    "Pattern",
    "compile",
    "escape",
    "fullmatch",
    "search",
]


class _Lazy:
    """What ``re.compile`` would return, made when it is first asked for anything."""

    def __init__(self, pattern: str | bytes, flags: int | re.RegexFlag) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        pattern, flags = self._source
        value = getattr(re.compile(pattern, flags), name)
        self.__dict__[name] = value  # so that this is called once for each name
        return value


def compile(pattern: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:  # noqa: A001  # the name that it has in ``re``
    r"""An expression, compiled when its first attribute is asked for; an error in it is raised then.

    Args:
        pattern: as for ``re.compile``.
        flags: likewise.

    Example:
        >>> digits = compile(r"\d+")
        >>> digits.findall("from 3 to 12")
        ['3', '12']
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
