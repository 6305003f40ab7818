"""What is aimed at, in the order of the page: a name, and the rows of which measurement are about it.

Of several rows the one counts that is furthest from its target; the target itself stands where it is measured.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Aim(NamedTuple):
    """One line of the table: its name, the benchmark, and an expression that its rows' names match."""

    name: str
    benchmark: str
    rows: str


AIMS = (
    Aim("Writer, all defaults, against `zstd -1`", "defaults", r"Writer\.write, defaults, wall: (?!median)"),
    Aim("the same, median of the kinds", "defaults", r"Writer\.write, defaults, wall: median"),
    Aim(
        "`spillstore run -- cat FILE` against `zstd -1`",
        "defaults",
        r"spillstore run -- cat, wall: (?!median)",
    ),
    Aim("the same, median of the kinds", "defaults", r"spillstore run -- cat, wall: median"),
    Aim("`put --profile default` against plain `put`", "defaults", r"spillstore put --profile default, wall"),
    Aim("Redactor's processor time against that of `zstd -1`", "defaults", r"the redactor alone, cpu"),
    Aim("Writer, redaction off, against `zstd -1`", "defaults", r"Writer\.write, redaction off, wall"),
    Aim("the same, processor time", "defaults", r"Writer\.write, redaction off, cpu"),
    Aim("64 KiB at random against bare frames", "reads", r"64 KiB from a random place"),
    Aim("100 lines at random against bare frames", "reads", r"100 lines from a random place"),
    Aim("Search, a rare text, against `rg -z`", "retrieval", r".*, a rare text: "),
    Aim("Search, no match, against `rg -z`", "retrieval", r".*, nothing: "),
    Aim("Search, a common text with totals, against `rg -z`", "retrieval", r".*, a common text: "),
    Aim(
        "Result after a process's last print, 1.3 MB of short lines",
        "bash",
        r"the same, above subprocess\.run, 1\.3 MB",
    ),
    Aim("100 KB spilled, p50", "small", r"100 KB, first byte to sealed, normal: p50"),
    Aim("100 KB spilled, p99", "small", r"100 KB, first byte to sealed, normal: p99"),
    Aim("100 KB spilled against a temporary file", "small", r"100 KB, normal, against a temporary file"),
    Aim("`spillstore show` above an empty Python, processor time", "cold", r"spillstore show, cpu above"),
    Aim("`import spillstore`, processor time above an empty Python", "cold", r"import spillstore, cpu above"),
    Aim("`spillstore view` of 10 million lines, first screen", "viewing", r"view, first screen"),
    Aim("the same, a jump to any line", "viewing", r"view, a jump"),
    Aim("the same, memory", "viewing", r"view, most memory"),
    Aim("First cause not shown, outputs held out", "previews", r"first cause not shown: held_out"),
    Aim("Needed lines not shown, outputs held out", "previews", r"needed lines not shown: held_out"),
    Aim(
        "Noise among middle lines of previews, outputs held out",
        "previews",
        r"noise among middle lines: held_out",
    ),
    Aim(
        "Median preview of tests and builds, outputs held out",
        "previews",
        r"median preview of tests and builds: held_out",
    ),
    Aim(
        "First cause, other languages below English, outputs held out",
        "previews",
        r"first cause, other languages below English: held_out",
    ),
    Aim("First marked line not shown, CiDiff logs", "previews", r"first E line not shown"),
    Aim("A log stored on a server against a folder", "server", r".* of log, redaction .*, wall"),
    Aim("64 KiB or 100 lines from a server against a folder", "server", r"(64 KiB|100 lines) from"),
    Aim("100 KB on a server against a folder", "server", r"100 KB, first byte"),
    Aim("Any call as a session grows", "growth", r"a session of"),
    Aim("Any call as a root grows", "growth", r"a root of"),
    Aim("Any call as an artifact grows", "growth", r"an artifact of"),
)


def worst(aim: Aim, results: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Any] | None, int]:
    """The row that is furthest from its target, and how many there are; None if it was not measured."""
    wanted = re.compile(aim.rows)
    rows: Sequence[dict[str, Any]] = results.get(aim.benchmark, {}).get("rows", ())
    found = [row for row in rows if row["limit"] is not None and wanted.match(row["what"])]
    return max(found, key=distance, default=None), len(found)


def figure(row: Mapping[str, Any]) -> float:
    """What the target is compared with."""
    value: float = row["ratio"] if row["of_ratio"] else row["ours"]
    return value


def distance(row: Mapping[str, Any]) -> float:
    """The figure in targets: above 1 it is missed."""
    return figure(row) / row["limit"]
