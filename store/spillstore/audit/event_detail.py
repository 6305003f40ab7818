"""The detail of an event as the log stores it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 200  # characters of a text
_ITEMS = 50
_LARGEST = 2**62
_encode = json.JSONEncoder().encode


def detail_text(detail: Mapping[str, Any]) -> str:
    """The detail of an event as JSON. What a caller has sent may be anything: nothing in it is long or odd.

    Example:
        >>> detail_text({"start": 10**30, "end": float("inf"), "stream": "x" * 1000, "odd": object()})[:60]
        '{"start": 4611686018427387904, "end": "inf", "stream": "xxxx'
    """
    fields = {}
    for name, value in detail.items():
        kind = type(value)
        simple = (
            -_LARGEST < value < _LARGEST
            if kind is int
            else len(value) <= LONGEST
            if kind is str
            else kind is bool or value is None
        )
        fields[str(name)] = value if simple else _plain(value)
    return _encode(fields)


def _plain(value: Any) -> object:
    if isinstance(value, bool) or value is None:
        plain: object = value
    elif isinstance(value, int):
        plain = max(-_LARGEST, min(int(value), _LARGEST))
    elif isinstance(value, float):
        plain = value if math.isfinite(value) else str(value)
    elif isinstance(value, str):
        plain = value[:LONGEST]
    elif isinstance(value, (list, tuple)):
        plain = [_plain(item) for item in value[:_ITEMS]]
    elif isinstance(value, dict):
        plain = {str(name)[:LONGEST]: _plain(item) for name, item in list(value.items())[:_ITEMS]}
    else:
        plain = f"<{type(value).__name__}>"
    return plain
