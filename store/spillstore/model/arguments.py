"""Checks of arguments: a model may send anything, and an error says what would be right."""

from __future__ import annotations

import math
import zlib
from typing import Final, overload

from spillstore.exceptions import InvalidSettingError, RangeError
from spillstore.runtime import lazy_patterns as re
from spillstore.settings import MIB

LARGEST: Final = 2**62  # larger positions mean this one: engines hold 63 bits
MAX_BYTES: Final = 64 * MIB
_CURSOR = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)


def whole_number(value: object, name: str, example: str, least: int | None = 0) -> int:
    """``value``, if it is a whole number from ``least`` on.

    Args:
        value: what was given.
        name: the parameter.
        example: a call that is right.
        least: the smallest that is allowed; None for any.

    Raises:
        RangeError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise RangeError(f"{name} must be a whole number, not {value!r}; for example {example}")
    if least is not None and value < least:
        raise RangeError(f"{name} is {value}, but must be {least} or more; for example {example}")
    return value


def line_number(value: object, name: str, example: str) -> int:
    """``value``, if it is the number of a line; at most ``LARGEST``.

    Raises:
        RangeError: it is no whole number from 1 on.
    """
    number = whole_number(value, name, example, least=None)
    if number < 1:
        raise RangeError(f"{name} is {number}, but lines count from 1; for example {example}")
    return min(number, LARGEST)


def byte_position(value: object, name: str, example: str) -> int:
    """``value``, if it is the position of a byte; at most ``LARGEST``.

    Raises:
        RangeError: it is no whole number from 0 on.
    """
    position = whole_number(value, name, example, least=None)
    if position < 0:
        raise RangeError(f"{name} is {position}, but bytes count from 0; for example {example}")
    return min(position, LARGEST)


def line_range(first: int, last: int) -> tuple[int, int]:
    """The lines ``first`` to ``last``, both at most ``LARGEST``.

    Raises:
        RangeError: they are not two whole numbers with 1 <= first <= last.
    """
    if type(first) is int and type(last) is int and 1 <= first <= last <= LARGEST:
        return first, last
    example = "read_lines(1, 100)"
    low = line_number(first, "first", example)
    if whole_number(last, "last", example, least=None) < first:
        raise RangeError(f"last is {last} and lies before first, {first}; for example {example}")
    return low, min(last, LARGEST)


def byte_range(start: int, end: int) -> tuple[int, int]:
    """The bytes ``[start, end)``, both at most ``LARGEST``.

    Raises:
        RangeError: they are not two whole numbers with 0 <= start <= end.
    """
    if type(start) is int and type(end) is int and 0 <= start <= end <= LARGEST:
        return start, end
    example = "read_bytes(0, 65536)"
    low = byte_position(start, "start", example)
    if whole_number(end, "end", example, least=None) < start:
        raise RangeError(f"end is {end} and lies before start, {start}; for example {example}")
    return low, min(end, LARGEST)


def time_us(value: object, name: str, example: str) -> int:
    """A time given in seconds, in microseconds: rounded, so that a time printed with six digits finds its own segment.

    Raises:
        RangeError: it is no number from 0 on.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise RangeError(f"{name} must be seconds from 0, not {value!r}; for example {example}")
    return round(min(value, LARGEST / 1e6) * 1e6)


def time_range(start: float, end: float) -> tuple[int, int]:
    """The times ``[start, end)``, given in seconds, in microseconds.

    Raises:
        RangeError: they are not two numbers with 0 <= start <= end.
    """
    example = "read_time(0.0, 2.5)"
    low, high = time_us(start, "start", example), time_us(end, "end", example)
    if end < start:
        raise RangeError(f"end is {end} and lies before start, {start}; for example {example}")
    return low, high


def byte_limit(value: object) -> int:
    """``max_bytes``.

    Raises:
        InvalidSettingError: it is no whole number from 0 on.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidSettingError(f"max_bytes must be a number of bytes, not {value!r}")
    return value


def page_start(limit: object, cursor: object) -> tuple[int, int] | None:
    """The time in microseconds and the key that a cursor names; None for no cursor. See ``page_cursor``."""
    match = page_cursor(limit, cursor, _CURSOR)
    return None if match is None else (int(match[1]), int(match[2]))


def page_cursor(limit: object, cursor: object, form: re.Pattern[str]) -> re.Match[str] | None:
    """A cursor of that form; None for no cursor.

    Raises:
        InvalidSettingError: the limit is no whole number from 1 on, or the cursor is none.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidSettingError(f"limit must be a whole number from 1, not {limit!r}")
    if cursor is None:
        return None
    match = form.fullmatch(cursor) if isinstance(cursor, str) else None
    if match is None:
        raise InvalidSettingError(f"{str(cursor)[:80]!r} is no cursor; take it from the page before")
    return match


def filter_text(value: object, name: str) -> str | None:
    """A text that rows must have to be listed; None for any.

    Raises:
        InvalidSettingError: it is no text.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidSettingError(f"{name} must be a string, or None for any, not {value!r}")
    return value


def filter_time(value: object, name: str) -> int | None:
    """A time given in seconds since 1970, in microseconds; None for none.

    Rounded, so that a time that was listed finds its own row: ``int`` would take many a one for the microsecond before.

    Raises:
        InvalidSettingError: it is no number.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise InvalidSettingError(
            f"{name} must be seconds since 1970, such as time.time() - 3600, not {value!r}"
        )
    return round(max(min(value, LARGEST / 1e6), -LARGEST / 1e6) * 1e6)


def cursor_mark(cursor: str, of: str) -> str:
    """What ties a cursor to what it goes on with: a checksum of both, in eight hexadecimal digits.

    A cursor holds what was counted before it. With another pattern or query it would leave out what stands before it, and give
    a total of two.
    """
    return f"{zlib.crc32(f'{cursor} {of}'.encode(errors='surrogatepass')):08x}"


@overload
def storable(text: str) -> str: ...


@overload
def storable(text: str | None) -> str | None: ...


def storable(text: str | None) -> str | None:
    r"""Text that every engine can hold: NUL, and each half of a surrogate pair that stands alone, become U+FFFD.

    UTF-8 has no halves, and the texts of PostgreSQL hold no NUL.

    Example:
        >>> storable("caf\u00e9 \ud800!") == "caf\u00e9 \ufffd!", storable("\ud83d\ude00") == "\U0001f600"
        (True, True)
        >>> storable("a\0b") == "a\ufffdb"
        True
    """
    if text is None:
        return None
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
