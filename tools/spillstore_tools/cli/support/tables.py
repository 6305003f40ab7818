"""Tables as text: aligned, fitted to the terminal, or in a frame."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from spillstore_tools.cli.support.output import at_terminal, styled
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


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
    optional: Sequence[str] = (),
    least: int | None = None,
    style: Callable[[str, int | None], str] | None = None,
) -> str:
    """A table; at a terminal no wider than that, with a bold header, and without the columns that have no room.

    Args:
        header: the names of the columns.
        rows: as many cells each.
        right: columns of numbers.
        optional: columns that are left out where there is no room, the first one first.
        least: the least width of the last column, which is cut; None for all that it needs.
        style: styles a line for a terminal; it gets the number of the row, None for the header.
    """
    if not at_terminal():
        return table(header, rows, right=right)
    room = shutil.get_terminal_size().columns
    cells = [header, *([label(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    kept = with_room(header, widths, room, optional=optional, least=least)
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
    optional: Sequence[str],
    least: int | None = None,
) -> list[int]:
    """The columns of a table that have room, with two spaces between them; others are left out as in ``fitted``.

    Example:
        >>> with_room(["id", "size", "text"], [9, 5, 70], 30, optional=["size"], least=16)
        [0, 2]
    """
    needed = [*widths[:-1], widths[-1] if least is None else min(least, widths[-1])]
    kept = list(range(len(header)))
    for name in optional:
        if sum(needed[at] for at in kept) + 2 * (len(kept) - 1) <= room:
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
