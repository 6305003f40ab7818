"""How commands print: results on stdout as text, JSON or raw bytes, and messages on stderr."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spillstore_tools.agent.arguments import ArgumentError, moment
from spillstore_tools.preview.text.clean import label, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

F = TypeVar("F", bound="Callable[..., Any]")


class _Messages:
    """How messages on stderr are written: as text, or as JSON objects, one a line."""

    as_json = False


messages = _Messages()


def _choose(_: click.Context, __: click.Parameter, value: bool) -> bool:  # noqa: FBT001  # click's signature
    messages.as_json = value
    return value


def json_option_for(help_text: str) -> Callable[[F], F]:
    """``--json``; parsed before all other options, so that an error in those is written as JSON, too."""
    return click.option("--json", "as_json", is_flag=True, is_eager=True, callback=_choose, help=help_text)


json_option = json_option_for("Print JSON, for programs.")


def coloured() -> bool:
    """Whether to use colours: at a terminal that has them, unless NO_COLOR is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdout.isatty()


def styled(text: str, style: str) -> str:
    """Text in a style of the terminal (``1;31``) where colours are used; otherwise the same text."""
    return f"\x1b[{style}m{text}\x1b[0m" if text and coloured() else text


def local(seconds: float, *, fraction: bool = False) -> str:
    """A time, given in seconds since 1970, in the local time zone with its offset from UTC.

    Args:
        seconds: the time.
        fraction: whether milliseconds are shown.
    """
    at = dt.datetime.fromtimestamp(seconds, dt.UTC).astimezone()
    below = f".{at.microsecond // 1000:03}" if fraction else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{below} {at:%z}"


def moment_here(_: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """Callback of an option whose value is a time: ``2h`` ago, or a date and time in the local time zone.

    Raises:
        click.BadParameter: it is neither.
    """
    if text is None:
        return None
    try:
        found = moment(str(parameter.name), text, here=True)
    except ArgumentError as error:
        raise click.BadParameter(str(error).removeprefix(f"{parameter.name}: ")) from None
    if found is None:  # ``null``, by which a model leaves out what a person would not have typed
        raise click.BadParameter(f"{text!r} is no time; for example 2h, 7d or 2026-11-20T08:00")
    return found


def print_json(value: object) -> None:
    """Print one JSON document, in ASCII, which half surrogates and odd terminals cannot break."""
    click.echo(json.dumps(value, indent=2))


def note(message: str) -> None:
    """Write a message that is not the result."""
    _write(message, {"note": message})


def fail(message: str, code: int) -> int:
    """Write why there is no result, or not all of it; returns the exit code."""
    _write(message, {"error": message, "exit_code": code})
    return code


def _write(message: str, fields: dict[str, object]) -> None:
    click.echo(json.dumps(fields) if messages.as_json else f"spillstore: {label(message)}", err=True)


def announcer(*, as_json: bool) -> Callable[[str, str], None]:
    """A function that writes a name and a value to stderr, for a person or for a program that has started us."""

    def announce(what: str, value: str) -> None:
        if as_json:
            click.echo(json.dumps({what: value}), err=True)
        else:
            note(f"{what} {value}")

    return announce


def write_bytes(blocks: Iterable[bytes], *, flush: bool = False) -> int:
    """Write exact bytes to stdout; returns how many.

    Args:
        blocks: what to write.
        flush: whether to flush after each block, for somebody who watches.
    """
    out = sys.stdout.buffer
    size = 0
    for block in blocks:
        out.write(block)
        size += len(block)
        if flush:
            out.flush()
    out.flush()
    return size


def at_terminal() -> bool:
    """Whether stdout is a terminal. Call it before a pager replaces stdout."""
    return sys.stdout.isatty()


def write_text(texts: Iterable[str], *, flush: bool = False, seen: bool = False) -> None:
    """Write text to stdout.

    Args:
        texts: what to write.
        flush: whether to flush after each text, for somebody who watches.
        seen: whether invisible characters are made visible, for a terminal.
    """
    for text in texts:
        sys.stdout.write(visible(text) if seen else text)
        if flush:
            sys.stdout.flush()
    sys.stdout.flush()
