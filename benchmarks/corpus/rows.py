"""The corpus as rows of the benchmark ``previews``: each half apart, ours beside the peers, other languages beside English."""

from __future__ import annotations

from typing import TYPE_CHECKING

import benchmarks.corpus.makers  # noqa: F401  # registers all cases
from benchmarks.corpus import needed_held_out, needed_seen
from benchmarks.corpus.case import CASES
from benchmarks.corpus.make import make
from benchmarks.corpus.needed import decoded, lines_of, problems
from benchmarks.corpus.peers import PEERS
from benchmarks.corpus.scoring import LIMIT, output_of, scores, total
from benchmarks.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.corpus.scoring import Output, Score

NEEDED = {"seen": needed_seen.NEEDED, "held_out": needed_held_out.NEEDED}
HALVES = tuple(NEEDED)
_CAUSE, _NEEDED, _NOISE, _LENGTH, _APART = 0.05, 0.08, 0.25, 3_500, 0.05


def measure(ours: Callable[[bytes], str]) -> list[Row]:
    """Rows of both halves; outputs that are not there are made first."""
    outputs, skipped = load()
    rows = []
    for half in HALVES:
        mine = [output for output in outputs if output.case.half == half]
        rows += rows_of(half, mine, sum(CASES[name].half == half for name in skipped), ours)
    return rows


def load() -> tuple[list[Output], dict[str, str]]:
    """All outputs, and why some are missing: not made, or made by a version that says it in other words."""
    skipped: dict[str, str] = {}
    outputs = []
    for made in make(list(CASES.values())):
        name = made.case.name
        wanted = NEEDED[made.case.half][name]
        if made.reason:
            skipped[name] = made.reason
        elif problems(lines_of(decoded(made.data)), wanted):
            skipped[name] = "its needed lines are not where they should be"
        else:
            outputs.append(output_of(made.case, made.data, wanted))
    if skipped:
        print(f"\nskipped: {'; '.join(f'{name} ({reason})' for name, reason in skipped.items())}")
    return outputs, skipped


def rows_of(
    half: str, outputs: Sequence[Output], skipped: int, ours: Callable[[bytes], str]
) -> Iterator[Row]:
    """The rows of one half."""
    mine = scores(outputs, lambda output: ours(output.data))
    theirs = {
        name: scores(outputs, lambda output, peer=peer: peer(output.text)) for name, peer in PEERS.items()
    }
    correct = all(score.length <= LIMIT for _, score in mine)
    counted = [output for output in outputs if output.counts]
    about = f"{half}, {len(counted)} outputs"
    extra = {
        "outputs": len(counted),
        "small": len(outputs) - len(counted),
        "skipped": skipped,
        "kinds": _counts([output.case.kind for output in counted]),
        "languages": _counts([output.case.language for output in counted]),
    }
    extra["first_by_language"] = {
        language: round(total(_of(mine, language)).first, 3) for language in extra["languages"]
    }
    figures = total(mine)
    english, others = (total(_of_language(mine, english=english)).first for english in (True, False))
    aims = (
        ("first cause not shown", 1 - figures.first, "of outputs", _CAUSE),
        ("needed lines not shown", 1 - figures.needed, "of lines", _NEEDED),
        ("noise among middle lines", figures.noise, "of lines", _NOISE),
        ("median preview of tests and builds", figures.length, "characters", _LENGTH),
        ("first cause, other languages below English", english - others, "of outputs", _APART),
    )
    for what, value, unit, limit in aims:
        yield Row(
            what=f"{what}: {about}",
            ours=value,
            unit=unit,
            limit=limit,
            of_ratio=False,
            correct=correct,
            extra=extra,
        )
    compared = (
        ("first cause shown", "of outputs", lambda scored: total(scored).first),
        (
            "first cause shown, English",
            "of outputs",
            lambda scored: total(_of_language(scored, english=True)).first,
        ),
        (
            "first cause shown, other languages",
            "of outputs",
            lambda scored: total(_of_language(scored, english=False)).first,
        ),
        ("needed lines shown", "of lines", lambda scored: total(scored).needed),
        ("noise among middle lines", "of lines", lambda scored: total(scored).noise),
        ("median preview of tests and builds", "characters", lambda scored: total(scored).length),
    )
    for what, unit, figure in compared:
        for name, scored in theirs.items():
            if what.startswith("noise") and not _has_middle(scored):
                continue
            peer = figure(scored)
            yield Row(
                what=f"{what}: {about}",
                ours=figure(mine),
                unit=unit,
                peer=peer,
                peer_name=name,
                ratio=figure(mine) / peer if peer else None,
                correct=correct,
            )


def _has_middle(scored: Sequence[tuple[Output, Score]]) -> bool:
    """Whether a way to truncate shows more than both ends of most outputs."""
    return 2 * sum(score.middle > 0 for _, score in scored) > len(scored)


def _of_language(scored: Sequence[tuple[Output, Score]], *, english: bool) -> list[tuple[Output, Score]]:
    return [(output, score) for output, score in scored if (output.case.language == "en") == english]


def _of(scored: Sequence[tuple[Output, Score]], language: str) -> list[tuple[Output, Score]]:
    return [(output, score) for output, score in scored if output.case.language == language]


def _counts(names: Sequence[str]) -> dict[str, int]:
    return {name: names.count(name) for name in dict.fromkeys(names)}
