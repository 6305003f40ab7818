"""Writes ``docs/performance.md``, its plots, and the figures of the README and of the page about agents from the newest results.

``python -m benchmarks.pages [--results FOLDER] [--into FOLDER]``. Nothing here measures: the same results give the same
pages, and a test compares what is committed of both.
"""

from __future__ import annotations

import argparse
import functools
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import report, seen
from benchmarks.aims import AIMS, distance, figure, worst
from benchmarks.drawings import drawings
from benchmarks.peers.worker import PEERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    Results = dict[str, dict[str, Any]]

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
_BEGIN = "<!-- Figures: written by python -m benchmarks.pages, compared by a test. -->"
_END = "<!-- End of figures. -->"
_ORDER = (
    "defaults",
    "stages",
    "peers",
    "growth",
    "reads",
    "retrieval",
    "small",
    "cold",
    "bash",
    "ingest",
    "size",
)
_INTRO = """# Performance

What Spillstore costs at its defaults, beside what people use instead. This page and its plots are written from the newest files of
`benchmarks/results` by `python -m benchmarks.pages`; `make bench` measures everything anew. `benchmarks/README.md` says what each
row means and how it is measured.

Seconds belong to the machine that is named; ratios were taken in one run, in turn with the peer, and mean something anywhere. `correct` and
the words beside the peers say whether the answers were right: a fast wrong answer is no answer. An aim that is missed is
shown as one.
"""
_QUICK = "**Taken with `--quick`**: small sizes and few rounds; what it says is that the harness works.\n"


def pages(results: Results) -> dict[str, str]:
    """All files but the README, by their path below ``docs``."""
    drawn = {f"performance/{name}.svg": plot for name, plot in drawings(results).items()}
    return {"performance.md": performance(results), **drawn}


def performance(results: Results) -> str:
    """The page."""
    parts = [_INTRO, "## Aims\n", _aims(results)]
    names = [name for name in _ORDER if name in results] + sorted({*results} - {*_ORDER})
    for name in names:
        content = results[name]
        about = ", ".join(f"{key} {value}" for key, value in content["machine"].items())
        parts.append(f"## {name}\n")
        if "--quick" in content["command"]:
            parts.append(_QUICK)
        load = ", ".join(map(str, content.get("load", ())))
        parts.append(f"{content['date']}: `{content['command']}`; {about}; load {load}\n")
        parts += _SPECIAL.get(name, _plain)(content)
    return "\n".join(parts)


def front(readme: str, results: Results, saw: dict[str, seen.Seen]) -> str:
    """The README with today's figures: what models saw, one plot, and how many aims are met."""
    readme = seen.written(readme, saw)
    before, _, rest = readme.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    machine = results["peers"]["machine"]
    quick = " with small sizes (`make bench-quick`)" if "--quick" in results["peers"]["command"] else ""
    told = (
        f"Measured{quick} on {results['peers']['date']}, {machine['cores']} cores, {machine['cpu']}, at the default settings, "
        "redaction, previews and audit log included."
    )
    rows = [row for row, _ in (worst(aim, results) for aim in AIMS) if row is not None]
    reached = sum(_verdict(row) == "pass" for row in rows)
    said = (
        f"A command that prints little costs [20 ms of processor time]({link('docs/shell.md')}#what-it-costs) more. Of "
        f"{len(rows)} aims that were measured {reached} are met by their worst case; the others are shown as missed: "
        f"[performance]({link('docs/performance.md')}) has every figure, each peer, and how often its answers were right."
    )
    return f"{before}{_BEGIN}\n\n{told}\n\n![{_PLOT}]({raw('docs/performance/peers.svg')})\n\n{said}\n\n{_END}{after}"


def link(path: str) -> str:
    """Where a page of the project can be read, by the project's metadata."""
    return f"{_source()}/blob/main/{path}"


def raw(path: str) -> str:
    """Where a picture of the project can be loaded from."""
    return f"{_source().replace('//github.com/', '//raw.githubusercontent.com/')}/main/{path}"


@functools.cache
def _source() -> str:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["urls"]["Source"])


_PLOT = "Storing, reading and searching beside what people use instead"


# --- aims -------------------------------------------------------------------------------------------------


def _aims(results: Results) -> str:
    """The table."""
    lines = ["| aim | target | measured | verdict |", "|---|---|---|---|"]
    for aim in AIMS:
        row, count = worst(aim, results)
        if row is None:
            lines.append(f"| {aim.name} | | not measured yet | |")
            continue
        unit = " x" if row["of_ratio"] else f" {row['unit']}"
        name = row["what"].rpartition(": ")[2] if aim.benchmark == "defaults" else row["what"]
        where = name if count > 1 else ""
        told = f"{figure(row):.2f}{unit}" + (f" ({where}, the worst of {count})" if where else "")
        lines.append(f"| {aim.name} | {row['limit']:g}{unit} | {told} | {_verdict(row)} |")
    return "\n".join(lines) + "\n"


def _verdict(row: dict[str, Any]) -> str:
    if not row["correct"]:
        return "**WRONG**"
    return "pass" if distance(row) <= 1 else "**MISS**"


# --- tables -----------------------------------------------------------------------------------------------


def _plain(content: dict[str, Any]) -> Iterator[str]:
    yield report.table(report.rows_of(content)) + "\n"


def _defaults(content: dict[str, Any]) -> Iterator[str]:
    yield "![](performance/defaults.svg)\n"
    yield from _plain(content)


def _growth(content: dict[str, Any]) -> Iterator[str]:
    """Each size of each call, then the ratios."""
    yield "![](performance/growth.svg)\n"
    for what in dict.fromkeys(row["extra"]["growing"] for row in content["rows"]):
        rows = [row for row in content["rows"] if row["extra"]["growing"] == what]
        sizes = rows[0]["extra"]["sizes"]
        names = [f"{size:,}" if max(sizes) < 2**28 else f"{size // 2**20:,} MiB" for size in sizes]
        head = [f"{what} of", *names]
        lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for row in rows:
            extra = row["extra"]
            cells = (
                [f"{value} MB" for value in extra["peak_mb"]]
                if "peak_mb" in extra
                else [
                    f"{p50 / 1e3:.3g} ms (p99 {p99 / 1e3:.3g})"
                    for p50, p99 in zip(extra["p50_us"], extra["p99_us"], strict=True)
                ]
            )
            lines.append(f"| {extra['call']} | {' | '.join(cells)} |")
        yield "\n".join(lines) + "\n"
    yield from _plain(content)


def _peers(content: dict[str, Any]) -> Iterator[str]:
    """A table for each kind of text."""
    yield "![](performance/peers.svg)\n"
    yield _PEERS_TOLD
    found = {row["extra"]["peer_of"] for row in content["rows"]}
    if left := [name for name in PEERS if name not in found]:
        yield f"Not installed, so not measured: {', '.join(left)}.\n"
    for kind in dict.fromkeys(row["extra"]["kind"] for row in content["rows"]):
        lines = [f"### {kind}\n", f"| {' | '.join(_PEER_COLUMNS)} |", "|---" * len(_PEER_COLUMNS) + "|"]
        rows = [row["extra"] for row in content["rows"] if row["extra"]["kind"] == kind]
        lines += [f"| {' | '.join(_peer_cells(extra))} |" for extra in rows]
        yield "\n".join(lines) + "\n"


_PEERS_TOLD = """Milliseconds of the wall, of the processor in brackets. *Stored* is from the first byte to the end of storing; *lines*
is opening and reading 100 lines of the middle, *again* 100 others in what is open; *search* is opening and finding three lines. Memory is the most of the
three, above what the process began with (of commands: theirs, at least what a small Python has). The words say what became of the text, of
the lines and of the matches where it is not all of them. *The machine's limit* is what bytes alone cost: written as they are, lines at places that are
known, one pass over memory.
"""
_PEER_COLUMNS = ("", "stored", "on disk", "lines", "again", "search", "memory", "answers")


def _peer_cells(extra: dict[str, Any]) -> list[str]:
    store, lines, search = (extra.get(phase, {}) for phase in ("store", "lines", "search"))
    name = extra["peer_of"]
    words = [
        f"{what} {phase['words']}"
        for what, phase in (("text", store), ("lines", lines), ("search", search))
        if phase.get("words", "right") != "right"
    ]
    memory = max(phase.get("mb", 0.0) for phase in (store, lines, search))
    return [
        f"**{name}**" if name.startswith("spillstore") else name,
        _ms(store),
        f"{store['disk_mb']:.1f} MB" if store.get("disk_mb") else "",
        _ms(lines),
        f"{lines['again_ms']:.2f}" if "again_ms" in lines else "",
        _ms(search),
        f"{memory:.0f} MB",
        "; ".join(words).replace("|", "/") or "right",
    ]


def _ms(phase: dict[str, Any]) -> str:
    return f"{phase['ms']:.0f} ({phase['cpu_ms']:.0f})" if "cpu_ms" in phase else ""


_SPECIAL = {"defaults": _defaults, "growth": _growth, "peers": _peers}


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are")
    parser.add_argument(
        "--into", type=Path, help="a folder to write to instead of docs; the README is left alone"
    )
    options = parser.parse_args()
    results = report.newest(options.results)
    into = options.into or ROOT / "docs"
    for name, content in pages(results).items():
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    if options.into is None:
        saw = seen.read()
        readme, agents = ROOT / "README.md", into / "agents" / "index.md"
        readme.write_text(front(readme.read_text(encoding="utf-8"), results, saw), encoding="utf-8")
        agents.write_text(seen.written(agents.read_text(encoding="utf-8"), saw), encoding="utf-8")
    print(f"written: {into / 'performance.md'}")


if __name__ == "__main__":
    main()
