"""How the commands print: sizes, times, tables, JSON, raw bytes."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spillstore_tools.agent.arguments import ArgumentError, moment
from spillstore_tools.preview.text.clean import label, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

F = TypeVar("F", bound="Callable[..., Any]")


class _Telling:
    """How what is no result is told on stderr: as text, or as JSON objects, one a line."""

    as_json = False


telling = _Telling()


def _choose(_: click.Context, __: click.Parameter, wanted: bool) -> bool:  # noqa: FBT001  # click's signature
    telling.as_json = wanted
    return wanted


def json_option_for(what: str) -> Callable[[F], F]:
    """``--json``; understood before all others, so that what is wrong with those is told as JSON, too."""
    return click.option("--json", "as_json", is_flag=True, is_eager=True, callback=_choose, help=what)


json_option = json_option_for("Print JSON, for programs.")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> str:
    """Aligned columns, the last one as long as it is.

    Args:
        header: the names of the columns.
        rows: as many cells each.
        right: columns of numbers.
    """
    lines = [list(header), *([label(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def aligned(cells: Sequence[str]) -> str:
        parts = (
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(cells, widths, header, strict=True)
        )
        return "  ".join(parts).rstrip()

    return "\n".join(aligned(cells) for cells in lines)


def fitted(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    less_wanted: Sequence[str] = (),
    least: int | None = None,
    style: Callable[[str, int | None], str] | None = None,
) -> str:
    """A table; at a terminal no wider than that, with a bold header, and without the columns that have no room.

    Args:
        header: the names of the columns.
        rows: as many cells each.
        right: columns of numbers.
        less_wanted: columns in the order in which they go where there is no room.
        least: what the last column gets of it at least, and is cut to; None for all that it needs.
        style: what becomes of a line at a terminal, given the number of its row, or None for the header.
    """
    if not at_terminal():
        return table(header, rows, right=right)
    room = shutil.get_terminal_size().columns
    cells = [header, *([label(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    kept = with_room(header, widths, room, less_wanted=less_wanted, least=least)
    text = table([header[at] for at in kept], [[row[at] for at in kept] for row in rows], right=right)
    lines = [line[:room] for line in text.splitlines()]
    if style is None:
        return "\n".join([styled(lines[0], "1"), *lines[1:]])
    return "\n".join(style(line, number - 1 if number else None) for number, line in enumerate(lines))


def with_room(
    header: Sequence[str],
    widths: Sequence[int],
    room: int,
    *,
    less_wanted: Sequence[str],
    least: int | None = None,
) -> list[int]:
    """Which columns of a table have room, two spaces between them; all but those that have to go, as in ``fitted``.

    Example:
        >>> with_room(["id", "size", "text"], [9, 5, 70], 30, less_wanted=["size"], least=16)
        [0, 2]
    """
    wanted = [*widths[:-1], widths[-1] if least is None else min(least, widths[-1])]
    kept = list(range(len(header)))
    for name in less_wanted:
        if sum(wanted[at] for at in kept) + 2 * (len(kept) - 1) <= room:
            break
        kept.remove(list(header).index(name))
    return kept


def boxed(title: str, columns: Sequence[tuple[str, int]], rows: Sequence[Sequence[str]]) -> str:
    """A table in a frame, with a title; the layout is that of the command line that comes with ``acode``.

    At a terminal that is too narrow for it, columns are as wide as they must be, and the last ones have their texts cut.

    Args:
        title: above the columns.
        columns: the name of each and how wide it is at least.
        rows: as many cells each.

    Example:
        >>> print(boxed("Things", [("ID", 2), ("Size", 6)], [("a1", "3 MB")]))
        ┌─────────────┐
        │ Things      │
        ├────┬────────┤
        │ ID │ Size   │
        ├────┼────────┤
        │ a1 │ 3 MB   │
        └────┴────────┘
    """
    lines = [[name for name, _ in columns], *([label(cell) for cell in row] for row in rows)]
    needed = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths = [max(least, need) for (_, least), need in zip(columns, needed, strict=True)]
    if at_terminal():
        room = shutil.get_terminal_size().columns - 3 * len(columns) - 1
        widths = _narrowed(widths, room, [needed, [len(name) for name, _ in columns]])
    rules = ["─" * (width + 2) for width in widths]
    inner = len("┼".join(rules))

    def framed(row: Sequence[str]) -> str:
        cells = (cell[:width].ljust(width) for cell, width in zip(row, widths, strict=True))
        return "│ " + " │ ".join(cells) + " │"

    return "\n".join(
        [
            f"┌{'─' * inner}┐",
            f"│ {title[: inner - 2].ljust(inner - 2)} │",
            f"├{'┬'.join(rules)}┤",
            framed(lines[0]),
            f"├{'┼'.join(rules)}┤",
            *map(framed, lines[1:]),
            f"└{'┴'.join(rules)}┘",
        ]
    )


def _narrowed(widths: list[int], room: int, floors: Sequence[Sequence[int]]) -> list[int]:
    """Widths that have room together, the last columns narrowed first: down to the first of the floors, then to the next."""
    for floor in floors:
        for at in reversed(range(len(widths))):
            over = sum(widths) - room
            widths[at] = max(floor[at], widths[at] - max(0, over))
    return widths


def coloured() -> bool:
    """Whether a person sees colours: at a terminal that can, unless NO_COLOR says otherwise."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdout.isatty()


def styled(text: str, style: str) -> str:
    """Text in a style of the terminal (``1;31``), where a person sees it; otherwise as it is."""
    return f"\x1b[{style}m{text}\x1b[0m" if text and coloured() else text


def local(seconds: float, *, fraction: bool = False) -> str:
    """A moment, given in seconds since 1970, by the clock on the wall here, with its distance from UTC.

    Args:
        seconds: the moment.
        fraction: tell milliseconds, too.
    """
    at = dt.datetime.fromtimestamp(seconds, dt.UTC).astimezone()
    below = f".{at.microsecond // 1000:03}" if fraction else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{below} {at:%z}"


def moment_here(_: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """What an option says of a time: ``2h`` ago, or a date and time by the clock on the wall here.

    Raises:
        click.BadParameter: nothing of the kind.
    """
    try:
        return moment(str(parameter.name), text, here=True)
    except ArgumentError as error:
        raise click.BadParameter(str(error).removeprefix(f"{parameter.name}: ")) from None


def print_json(value: object) -> None:
    """One JSON document, in ASCII, so that half surrogates and odd terminals do no harm."""
    click.echo(json.dumps(value, indent=2))


def note(message: str) -> None:
    """Something worth knowing that is not the result."""
    _tell(message, {"note": message})


def fail(message: str, code: int) -> int:
    """Say why there is no result, or not all of it, and what the exit code will be, which is returned."""
    _tell(message, {"error": message, "exit_code": code})
    return code


def _tell(message: str, fields: dict[str, object]) -> None:
    click.echo(json.dumps(fields) if telling.as_json else f"spillstore: {label(message)}", err=True)


def announcer(*, as_json: bool) -> Callable[[str, str], None]:
    """Says, on stderr, what a person, or a program that has started us, may want to know."""

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
        flush: after each block, for somebody who watches.
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
    """Whether a person reads stdout; asked before a pager takes it."""
    return sys.stdout.isatty()


def write_text(texts: Iterable[str], *, flush: bool = False, seen: bool = False) -> None:
    """Write text to stdout, likewise.

    Args:
        texts: what to write.
        flush: after each, for somebody who watches.
        seen: make visible what is not, for a terminal.
    """
    for text in texts:
        sys.stdout.write(visible(text) if seen else text)
        if flush:
            sys.stdout.flush()
    sys.stdout.flush()
