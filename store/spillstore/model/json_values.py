"""JSON to values and back, so that no valid document is refused and none comes back changed.

msgspec does the work, and gives up on what JSON allows and it does not hold: half surrogates, numbers beyond a double
or beyond 4,300 digits. Whatever it refuses gets a second opinion from the standard library, which is slower, holds all
of that with two hooks, and says at which character a text stops being JSON. A number that no ``float`` holds becomes a
``Decimal``: never infinity.
"""

from __future__ import annotations

import decimal
import gc
import json
import math
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

WHITESPACE = b" \t\r\n"
_DIGITS = 4000  # of a whole number that Python makes an int of; it refuses from 4,301 on
_raw = msgspec.json.Decoder(msgspec.Raw)
_encoder = msgspec.json.Encoder(decimal_format="number")


class MalformedError(Exception):
    """Bytes that are no JSON.

    Attributes:
        at: the byte at which that shows, from the beginning of what was decoded.
        reason: why.
    """

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(at, reason)
        self.at = at
        self.reason = reason


def decode(data: bytes) -> Any:
    """The value of a whole JSON text. Cost: about 50 MB/s, five times the text in memory.

    Raises:
        MalformedError: it is none.
        RecursionError: it is nested more deeply than Python's stack.

    Example:
        >>> decode(b'{"a": [1, 1.5, 1e400]}')
        {'a': [1, 1.5, Decimal('1E+400')]}
    """
    # A collector that runs in between looks at all that is there, time and again: 40 % of the time of a large document.
    enabled = gc.isenabled()
    gc.disable()
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _decoded(data)
    finally:
        if enabled:
            gc.enable()


def is_whole(data: bytes) -> bool:
    """Whether msgspec takes the bytes for one whole value, without making it: 300 MB/s."""
    try:
        _raw.decode(data)
        if not data.isascii():
            data.decode()  # which is not looked at there
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


def _decoded(data: bytes) -> Any:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise MalformedError(error.start, "it is no UTF-8") from None
    try:
        return json.loads(text, parse_int=number, parse_float=number, parse_constant=_refused)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise MalformedError(len(text[: error.pos].encode()), reason) from None
    except _NoNumberError as error:
        at = max(0, text.find(error.args[0]))
        raise MalformedError(len(text[:at].encode()), f"{error.args[0][:40]} is no number") from None


class _NoNumberError(ValueError):
    """A word where a number should be."""


def _refused(word: str) -> Any:
    raise _NoNumberError(word)


def number(text: str) -> int | float | decimal.Decimal:
    """A number of JSON: ``int`` if it has neither fraction nor exponent, else ``float``; ``Decimal`` what neither holds.

    Example:
        >>> number("10"), number("1e1"), number("-1e400")
        (10, 10.0, Decimal('-1E+400'))
    """
    if not any(mark in text for mark in ".eE"):
        return int(text) if len(text) <= _DIGITS else decimal.Decimal(text)
    found = float(text)
    if math.isfinite(found):
        return found
    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:  # an exponent of more than 18 digits
        raise _NoNumberError(text) from None


def encode(value: Any) -> bytes:
    r"""A value as compact JSON in UTF-8; what UTF-8 cannot hold is escaped. Nesting is not limited.

    Example:
        >>> encode({"a": [1, True, "\u00e9", None]}).decode()
        '{"a":[1,true,"é",null]}'
    """
    try:
        return _encoder.encode(value)
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return "".join(_encoded(value)).encode()


def _encoded(value: Any) -> Iterator[str]:
    todo: list[Any] = [value]
    while todo:
        each = todo.pop()
        if isinstance(each, _Text):
            yield each
        elif isinstance(each, dict):
            parts: list[Any] = [_Text("{")]
            for name, child in each.items():
                parts += [_Text("," if len(parts) > 1 else ""), _Text(f"{json.dumps(name)}:"), child]
            todo += reversed([*parts, _Text("}")])
        elif isinstance(each, list):
            parts = [_Text("[")]
            for child in each:
                parts += [_Text("," if len(parts) > 1 else ""), child]
            todo += reversed([*parts, _Text("]")])
        else:
            yield str(each) if isinstance(each, decimal.Decimal) else json.dumps(each)


class _Text(str):
    """What is already JSON."""

    __slots__ = ()
