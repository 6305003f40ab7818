"""``python -m benchmarks.corpus tools | make | list | score [NAME ...]``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import benchmarks.corpus.makers  # noqa: F401  # registers all cases
from benchmarks import previews
from benchmarks.corpus.case import CASES
from benchmarks.corpus.make import make
from benchmarks.corpus.needed import lines_of
from benchmarks.corpus.rows import HALVES, load
from benchmarks.corpus.scoring import score, total
from benchmarks.corpus.tools import install

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus.scoring import Output

_DESCRIPTION = """\
tools: install what the package registries have, once;
make: make the named outputs anew, or all that are missing;
list: the half, kind, language and name of each;
score: tell how previews of the named outputs, or of all of the half ``seen``, show what is needed."""


def main() -> int:
    """Install the tools, make outputs, list the cases, or score previews one by one."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.corpus",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("tools", "make", "list", "score"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if unknown := {*options.names} - {*CASES}:
        parser.error(f"no case is called {', '.join(sorted(unknown))}")
    if options.what == "score":
        if held_out := [name for name in options.names if CASES[name].half == "held_out"]:
            parser.error(f"held out, so only rates are told: {', '.join(held_out)}")
        return _score(options.names)
    if options.what == "tools":
        install()
    elif options.what == "make":
        _make(options.names)
    else:
        for case in CASES.values():
            print(f"{case.half:9}{case.kind:9}{case.language:4}{case.name}")
    return 0


def _make(names: Sequence[str]) -> None:
    cases = [case for case in CASES.values() if not names or case.name in names]
    for made in make(cases, again=bool(names)):
        if made.reason:
            print(f"{made.case.name}: skipped, {made.reason}")


def _score(names: Sequence[str]) -> int:
    """Each output of the half ``seen``, then the rates of both halves."""
    outputs, _ = load()
    scored = [(output, previews.preview(output.data)) for output in outputs]
    for output, preview in scored:
        if output.case.half == "seen" and (not names or output.case.name in names):
            print(_story(output, preview))
    for half in HALVES:
        rates = total(
            (output, score(output, preview)) for output, preview in scored if output.case.half == half
        )
        print(
            f"{half}: first cause {rates.first:.3f}, needed lines {rates.needed:.3f}, noise {rates.noise:.3f}, "
            f"median of tests and builds {rates.length:,.0f} characters"
        )
    return 0


def _story(output: Output, preview: str) -> str:
    """What is shown, and what is missed."""
    found = score(output, preview)
    verdict = (
        "small" if not output.counts else "-" if found.first is None else "hit" if found.first else "MISS"
    )
    text = "\n".join(lines_of(preview))
    missed = [patterns for patterns in output.needed.all if not any(pattern in text for pattern in patterns)]
    story = (
        f"{verdict:6}{output.case.name} ({output.case.kind}, {output.case.language}): "
        f"{len(output.text):,} characters, preview {found.length:,}, noise {found.noise} of {found.middle} lines"
    )
    return "\n".join([story, *(f"      not shown: {' | '.join(patterns)}" for patterns in missed)])


if __name__ == "__main__":
    sys.exit(main())
