"""A position as people type it: a line, per cent, or a time since the artifact began."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore.exceptions import RangeError

if TYPE_CHECKING:
    from spillstore_tools.viewer.model.log import Log

_TIME = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def row_at(log: Log, text: str) -> int:
    """The index of the row that a position means: ``500``, ``50%``, ``90s``, ``1m30s`` or ``1h``.

    Raises:
        RangeError: it means nothing.
        SpillstoreError: the artifact cannot be read.
    """
    given = text.strip().replace(",", "").lower()
    if given.endswith("%") and _NUMBER.fullmatch(given[:-1]):
        return log.row_of_percent(float(given[:-1]))
    if given.isdecimal():
        return log.row_of_line(int(given))
    if given and (found := _TIME.fullmatch(given)):
        hours, minutes, seconds = (float(each or 0) for each in found.groups())
        return log.row_of_time(3600 * hours + 60 * minutes + seconds)
    raise RangeError(f"{text!r} is no position; for example 500 (a line), 50% or 1m30s")
