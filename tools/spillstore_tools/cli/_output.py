"""How the commands print: sizes, times, tables, JSON, raw bytes."""

from __future__ import annotations

import datetime as dt
import json
import sys
from typing import TYPE_CHECKING

import click

from spillstore_tools.preview.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def human_size(size: int) -> str:
    """A size in bytes for people, in powers of 1024.

    Example:
        >>> human_size(512), human_size(2_415_919), human_size(911_360)
        ('512 bytes', '2.3 MB', '890 KB')
    """
    if size < 1024:  # noqa: PLR2004
        return count(size, "byte")
    value = float(size)
    for unit in ("KB", "MB", "GB", "TB"):
        value /= 1024
        if value < 1023.5 or unit == "TB":  # noqa: PLR2004  # would be rounded to 1024
            break
    number = f"{value:.0f}" if value >= 99.95 else f"{value:.1f}".removesuffix(".0")  # noqa: PLR2004  # three digits
    return f"{number} {unit}"


def count(number: int, noun: str) -> str:
    """A number and its noun.

    Example:
        >>> count(1, "byte"), count(12_345, "line")
        ('1 byte', '12,345 lines')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def exact_size(size: int) -> str:
    """A size to the byte, and for people where that is not the same."""
    return count(size, "byte") if size < 1024 else f"{count(size, 'byte')} ({human_size(size)})"  # noqa: PLR2004


def utc(seconds: float) -> str:
    """A moment, given in seconds since 1970.

    Example:
        >>> utc(1_699_280_567.5)
        '2023-11-06 14:22:47 UTC'
    """
    moment = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> str:
    """Aligned columns, the last one as long as it is.

    Args:
        header: the names of the columns.
        rows: as many cells each.
        right: columns of numbers.
    """
    lines = [list(header), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def aligned(cells: Sequence[str]) -> str:
        parts = (
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(cells, widths, header, strict=True)
        )
        return "  ".join(parts).rstrip()

    return "\n".join(aligned(cells) for cells in lines)


def print_json(value: object) -> None:
    """One JSON document, in ASCII, so that half surrogates and odd terminals do no harm."""
    click.echo(json.dumps(value, indent=2))


def note(message: str) -> None:
    """Something worth knowing that is not the result."""
    click.echo(f"spillstore: {one_line(message)}", err=True)


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


def write_text(texts: Iterable[str], *, flush: bool = False) -> None:
    """Write text to stdout, likewise."""
    for text in texts:
        sys.stdout.write(text)
        if flush:
            sys.stdout.flush()
    sys.stdout.flush()
