"""The page of figures says what the newest results say, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from agents.programs import PROGRAMS
from benchmarks import aims, pages, plots, report, seen

ROOT = Path(__file__).parents[2]
RESULTS = report.newest(pages.RESULTS)


@pytest.mark.parametrize("name", pages.pages(RESULTS))
def test_the_page_and_its_plots_are_those_of_the_newest_results(name: str) -> None:
    """Running ``python -m benchmarks.pages`` would change nothing."""
    assert pages.pages(RESULTS)[name] == (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_readme_shows_the_figures_of_the_newest_results() -> None:
    """Likewise; and its pictures are there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert pages.front(readme, RESULTS, seen.read()) == readme
    shown = re.findall(rf"!\[.+\]\({re.escape(pages.raw(''))}(\S+)\)", readme)
    assert shown == ["docs/cast.svg", "docs/performance/peers.svg"]
    assert all((ROOT / path).is_file() for path in shown)


def test_the_page_about_agents_shows_what_their_models_saw() -> None:
    """Likewise; of every agent that was run, at the version that is run."""
    page = (ROOT / "docs/agents/index.md").read_text(encoding="utf-8")
    assert seen.written(page, seen.read()) == page
    versions = {name: program.version.partition("-")[0] for name, program in PROGRAMS.items()}
    assert {name: each.version for name, each in seen.read().items()} == versions


def test_no_generated_file_is_large() -> None:
    """200 KB at most, data and pages."""
    files = [
        *pages.RESULTS.glob("*.json"),
        *(ROOT / "docs" / "performance").iterdir(),
        ROOT / "docs/performance.md",
    ]
    assert [path.name for path in files if path.stat().st_size > 200_000] == []


def test_every_figure_of_a_result_is_on_the_page() -> None:
    """A row of any measurement that has a table of its own is there with its verdict."""
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for name, content in RESULTS.items():
        _, found, rest = page.partition(f"\n## {name}\n")
        assert found
        section = rest.partition("\n## ")[0]
        if name != "peers":  # which has a table for each kind
            for row in report.rows_of(content):
                line = next(line for line in section.splitlines() if line.startswith(f"| {row.what} "))
                assert row.verdict in line


def row(what: str, ratio: float, limit: float | None, *, correct: bool = True) -> dict[str, Any]:
    """As a file of results has it."""
    return {
        "what": what, "ours": ratio, "unit": "s", "ratio": ratio, "limit": limit, "of_ratio": True, "correct": correct,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [
                row("Writer.write, defaults, wall: a", 1.5, 1.6),
                row("Writer.write, defaults, wall: b", 1.2, 1.6),
            ],
            "pass",
        ),
        (
            [
                row("Writer.write, defaults, wall: a", 1.5, 1.6),
                row("Writer.write, defaults, wall: b", 1.7, 1.6),
            ],
            "**MISS**",
        ),
        ([row("Writer.write, defaults, wall: a", 1.5, 1.6, correct=False)], "**WRONG**"),
        ([], "not measured yet"),
    ],
)
def test_the_worst_kind_of_text_decides_an_aim(rows: list[dict[str, Any]], told: str) -> None:
    """One that is missed is shown as such, and so are answers that were wrong and what was not measured."""
    table = pages._aims({"defaults": {"rows": rows}})
    line = next(line for line in table.splitlines() if line.startswith("| Writer, all defaults"))
    assert told in line


def test_every_aim_has_rows_in_the_results_that_are_there() -> None:
    """No expression is one that nothing matches, where its benchmark has been run with today's rows."""
    known = [aim for aim in aims.AIMS if aim.benchmark in {"defaults", "growth"}]
    assert [aim.name for aim in known if aims.worst(aim, RESULTS)[0] is None] == []


def test_plots_are_well_formed_and_say_their_figures() -> None:
    """Whatever the labels hold; a logarithmic panel takes nothing for a figure, too."""
    found = [plots.Bar("a < b & c", 3.0, "3.00", aim=2.0), plots.Bar("none", 0.0, "cannot")]
    for logarithmic in (False, True):
        parts = plots.bars(0, 40, 400, "<bars>", found, logarithmic=logarithmic)
        root = ET.fromstring(plots.document(400, 90, "a & b", parts))
        assert {"a < b & c", "3.00", "cannot", "<bars>"} <= {each.text for each in root.iter() if each.text}
    line = plots.Line("one", [(100, 1.0), (10_000, 2.0)], [(100, 3.0), (10_000, 4.0)])
    parts = plots.lines(60, 40, (200, 100), ("t", "below", "ms"), [line])
    root = ET.fromstring(plots.document(300, 200, "lines", parts))
    assert {"100", "10k", "1 ms", "10 ms"} <= {each.text for each in root.iter()}
