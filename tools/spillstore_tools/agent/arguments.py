"""The arguments of a model's call, parsed leniently.

Models send ``"null"`` for what they leave out, ``"5"`` or ``5.0`` for 5: both are accepted. Anything else is an
``ArgumentError`` whose message shows a right call.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import time
from collections.abc import Mapping, Sequence

from spillstore.runtime import lazy_patterns as re
from spillstore.settings import BOOLEANS, parse_duration
from spillstore_tools.describe import shown

_ABSENT = frozenset({"", "null", "none", "undefined", "nil"})
_WHOLE = re.compile(r"[+-]?[0-9]+(?:\.0*)?", re.ASCII)
_AGO = re.compile(r"\d{1,9}[smhd]", re.ASCII)
_ZONE = re.compile(r" ([+-]\d{4})", re.ASCII)  # after a time as we print it; ISO 8601 has no space there
_SHOWN = 100
_LARGEST = 1e12  # of numbers that may be fractions; as seconds 30,000 years


class ArgumentError(Exception):
    """A wrong argument; the message says what would be right."""


def named(
    arguments: Mapping[str, object] | str, names: Sequence[str], *, example: str = ""
) -> Mapping[str, object]:
    """The arguments of a call by name.

    Args:
        arguments: an object, or its JSON; an empty text is an empty object.
        names: the names of the tool's arguments.
        example: a right call, for the message.

    Raises:
        ArgumentError: it is no JSON object, or has an unknown name.

    Example:
        >>> named('{"limit": 3}', ["limit"])
        {'limit': 3}
    """
    if isinstance(arguments, str):
        try:
            sent = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"the arguments are no JSON: {error}{_for(example)}") from None
    else:
        sent = arguments
    if not isinstance(sent, Mapping):
        raise ArgumentError(f"the arguments must be an object, not {_shown(sent)}{_for(example)}")
    unknown = sorted(str(name) for name, value in sent.items() if name not in names and not absent(value))
    if unknown:
        raise ArgumentError(
            f"no argument is called {', '.join(unknown)[:_SHOWN]}; there are {', '.join(names)}{_for(example)}"
        )
    return sent


def absent(value: object) -> bool:
    """Whether an argument was left out, as models do it.

    Example:
        >>> absent(None), absent("null"), absent(" None "), absent(0), absent("nullable")
        (True, True, True, False, False)
    """
    return value is None or (isinstance(value, str) and value.strip().lower() in _ABSENT)


def unquoted(value: object) -> str:
    """An id or a cursor without the quotes and spaces that models put around it.

    Example:
        >>> unquoted(' "art_1" '), unquoted("`7`")
        ('art_1', '7')
    """
    return str(value).strip().strip("\"'`")


def whole(
    name: str, value: object, *, least: int | None = 0, most: int | None = None, example: str = ""
) -> int | None:
    """A whole number, or None where it was left out.

    Args:
        name: the name of the argument.
        value: its value, as it was sent.
        least: the smallest allowed number; None for no bound.
        most: the largest allowed number; None for no bound.
        example: a right call, for the message.

    Raises:
        ArgumentError: it is no whole number, or out of bounds.

    Example:
        >>> whole("limit", "20"), whole("limit", 20.0), whole("limit", "null")
        (20, 20, None)
    """
    if absent(value):
        return None
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    elif isinstance(value, str) and len(value) < _SHOWN and _WHOLE.fullmatch(value.strip()):
        number = int(value.strip().split(".")[0])
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        bounds = "" if least is None else f" from {least}" + ("" if most is None else f" to {most}")
        raise ArgumentError(f"{name} must be a whole number{bounds}, not {_shown(value)}{_for(example)}")
    return number


def at_most(name: str, value: int, most: int, notes: list[str]) -> int:
    """The value of an argument, or the largest that it may have, which a note then says.

    Example:
        >>> notes = []
        >>> at_most("limit", 5000, 1000, notes), notes
        (1000, ['limit is 1000, the most that it can be'])
    """
    if value > most:
        notes.append(f"{name} is {most}, the most that it can be")
    return min(value, most)


def text(name: str, value: object, *, example: str = "") -> str | None:
    """Text, or None where it was left out; ``"null"`` is text.

    Raises:
        ArgumentError: it is no text.
    """
    if value is None or isinstance(value, str):
        return value
    raise ArgumentError(f"{name} must be text, not {_shown(value)}{_for(example)}")


def number(name: str, value: object, *, example: str = "") -> float | None:
    """A number from 0, or None where it was left out.

    Raises:
        ArgumentError: it is no such number.
    """
    if absent(value):
        return None
    found: float | None = None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            found = float(value)
    elif isinstance(value, str) and len(value) < _SHOWN:
        with contextlib.suppress(ValueError):
            found = float(value)
    if found is None or not 0 <= found < _LARGEST:
        raise ArgumentError(f"{name} must be a number from 0, not {_shown(value)}{_for(example)}")
    return found


def flag(name: str, value: object) -> bool:
    """A truth value; one that was left out is false.

    Raises:
        ArgumentError: it is neither true nor false.

    Example:
        >>> flag("raw", "on"), flag("raw", None), flag("raw", 0)
        (True, False, False)
    """
    if absent(value):
        return False
    if isinstance(value, str):
        value = BOOLEANS.get(value.strip().lower(), value)
    if value in (True, False):
        return bool(value)
    raise ArgumentError(f"{name} must be true or false, not {_shown(value)}")


def one_of(name: str, value: object, names: Sequence[str], default: str) -> str:
    """One of some words; ``default`` where it was left out.

    Raises:
        ArgumentError: it is another word.
    """
    if absent(value):
        return default
    if isinstance(value, str) and value.strip().lower() in names:
        return value.strip().lower()
    raise ArgumentError(f"{name} must be one of {', '.join(names)}, not {_shown(value)}")


def moment(name: str, value: object, *, here: bool = False) -> float | None:
    """A time in seconds since 1970, or None where it was left out: ``2h`` ago, a date and time, or the seconds.

    Args:
        name: the name of the argument.
        value: its value, as it was sent.
        here: whether a date and time without an offset from UTC is in the local time zone instead of UTC.

    Raises:
        ArgumentError: it is no time.

    Example:
        >>> moment("since", "1970-01-02"), moment("since", "1970-01-01 02:00:05 +0200"), moment("since", 5)
        (86400.0, 5.0, 5.0)
    """
    if absent(value):
        return None
    if isinstance(value, str):
        if _AGO.fullmatch(value.strip()):
            return time.time() - parse_duration(name, value)
        with contextlib.suppress(
            ValueError, OverflowError
        ):  # the latter for years outside of the clock's range
            found = dt.datetime.fromisoformat(_ZONE.sub(r"\1", value.strip()).replace(" UTC", "Z"))
            return (found if here or found.tzinfo else found.replace(tzinfo=dt.UTC)).timestamp()
    try:
        return number(name, value)
    except ArgumentError:
        raise ArgumentError(
            f"{name}: {_shown(value)} is no time; for example 2h, 7d or 2026-11-20T08:00"
        ) from None


def _shown(value: object) -> str:
    return shown(value, _SHOWN)


def _for(example: str) -> str:
    return f"; for example {example}" if example else ""
