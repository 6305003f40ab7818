"""How the commands print: sizes, times, tables, JSON, raw bytes."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from typing import TYPE_CHECKING

import click

from spillstore_tools.preview.clean import label, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


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


def boxed(title: str, columns: Sequence[tuple[str, int]], rows: Sequence[Sequence[str]]) -> str:
    """A table in a frame, with a title; the layout is that of S1's command line.

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
    cells = zip(*lines, strict=True)
    widths = [max(least, *map(len, column)) for (_, least), column in zip(columns, cells, strict=True)]
    rules = ["─" * (width + 2) for width in widths]
    inner = len("┼".join(rules))

    def framed(row: Sequence[str]) -> str:
        return "│ " + " │ ".join(map(str.ljust, row, widths)) + " │"

    return "\n".join(
        [
            f"┌{'─' * inner}┐",
            f"│ {title.ljust(inner - 2)} │",
            f"├{'┬'.join(rules)}┤",
            framed(lines[0]),
            f"├{'┼'.join(rules)}┤",
            *map(framed, lines[1:]),
            f"└{'┴'.join(rules)}┘",
        ]
    )


def coloured() -> bool:
    """Whether a person sees colours: at a terminal that can, unless NO_COLOR says otherwise."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdout.isatty()


def styled(text: str, style: str) -> str:
    """Text in a style of the terminal (``1;31``), where a person sees it; otherwise as it is."""
    return f"\x1b[{style}m{text}\x1b[0m" if text and coloured() else text


def local(seconds: float) -> str:
    """A moment, given in seconds since 1970, by the clock on the wall here, with its distance from UTC."""
    moment = dt.datetime.fromtimestamp(seconds, dt.UTC).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M:%S %z")


def print_json(value: object) -> None:
    """One JSON document, in ASCII, so that half surrogates and odd terminals do no harm."""
    click.echo(json.dumps(value, indent=2))


def note(message: str) -> None:
    """Something worth knowing that is not the result."""
    click.echo(f"spillstore: {label(message)}", err=True)


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
