"""Mutation testing: ``python tests/torture/mutate.py --seed N --first N --rounds N`` (``make mutants``).

Each round changes one place of the store (``mutants.py``), runs the tests that come by that place (``mutant_map.py``), and notes
whether one of them fails: then the mutant is killed, if that test does not fail without the change as well. One that survives is
a place that no test looks at, or one whose change changes nothing.

The program collects all tests once. Forked processes (``mutant_runs.py``) first run each of them and note which lines it comes by;
then each mutant gets one of its own, which puts it in and runs the tests of its line, quickest first, until one fails.
Rounds are drawn from the seed and their number alone, so a run goes on with ``--first``. ``--map`` keeps what was noted.
"""

from __future__ import annotations

import argparse
import collections
import gc
import hashlib
import importlib
import logging
import os
import pkgutil
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ.setdefault("SPILLSTORE_TEST_FACTOR", "0.3")  # as ``make test`` runs the tests

import mutant_runs  # noqa: E402
import mutants  # noqa: E402
import pytest  # noqa: E402
from mutant_map import BUDGET, Map  # noqa: E402

ROOT = HERE.parents[1]
STORE = ROOT / "store" / "spillstore"
# What is tried, each with the folders of tests that are run for it.
PARTS = (
    "format",
    "ingest",
    "read",
    "engine/*.py",
    *(f"engine/{name}" for name in ("sqlite", "memory", "postgres", "relational")),
)
TESTS = ("tests/store",)
# Tests that come by everything, and of what is not tried.
UNRELATED = ("redaction", "jsonpath", "test_layers.py", "test_public.py")
LEFT = (
    "sql.py",
    "base.py",
    "citus.py",
)  # texts of statements, what has no body, and what only a server with Citus runs
PATIENCE = 15.0  # seconds of a processor for a test of a mutant, besides ten times what it took


def modules(parts: list[str]) -> list[Path]:
    """The modules that are tried."""
    found = []
    for part in parts:
        pattern = part if part.endswith(".py") else f"{part}/*.py"
        found += [path for path in STORE.glob(pattern) if path.name not in (*LEFT, "__init__.py")]
    return sorted(found)


def drawn(seed: int, parts: list[str]) -> list[mutants.Place]:
    """All places, in the order of the rounds: drawn by what stands there, so that a change elsewhere leaves it."""
    lines = {path: path.read_text().splitlines() for path in modules(parts)}

    def lot(place: mutants.Place) -> bytes:
        text = lines[place.path][place.line - 1].strip()
        return hashlib.sha256(f"{seed} {place.path.relative_to(STORE)} {text} {place.what}".encode()).digest()

    return sorted((place for path in lines for place in mutants.places(path)), key=lot)


def _name(place: mutants.Place) -> str:
    return f"{place.path.relative_to(STORE)}:{place.line}"


class Player:
    """The plugin of pytest that plays the rounds in place of running the tests."""

    def __init__(self, wanted: argparse.Namespace) -> None:
        self.wanted = wanted
        self.failed = False
        self.took: dict[str, float] = collections.Counter()
        self.figures: collections.Counter[str] = collections.Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Play."""
        _import_all()
        wanted = self.wanted
        self.items = {item.nodeid: item for item in session.items}
        places = drawn(wanted.seed, wanted.only)
        with mutant_runs.Places(wanted.jobs) as self.where:
            self.map = self._map()
            gc.freeze()  # so that looking for garbage copies nothing of what forked processes share
            if wanted.place:
                numbers = [number for number, place in enumerate(places) if _name(place) in wanted.place]
            else:
                numbers = range(wanted.first, min(wanted.first + wanted.rounds, len(places)))
            print(f"\nmutants: --seed {wanted.seed} --first {wanted.first} --rounds {len(numbers)}; {len(places)} places, {len(self.items)} tests", flush=True)  # fmt: skip
            began = time.monotonic()
            with ThreadPoolExecutor(wanted.jobs) as pool:
                played = list(
                    pool.map(
                        lambda number: (
                            time.monotonic() - began < wanted.seconds and self._play(number, places[number])
                        ),
                        numbers,
                    )
                )
        done = sum(map(bool, played))
        killed = sum(count for name, count in self.figures.items() if name.startswith("killed"))
        total = self.figures.total()
        print(f"to go on: --seed {wanted.seed} --first {wanted.first + done}")
        print(f"| mutants, seed {wanted.seed}, rounds {wanted.first} to {wanted.first + done - 1} | {time.monotonic() - began:.0f} s | {dict(self.figures)} |"
              f" {killed} of {total} killed: {killed / max(total, 1):.3f} |", flush=True)  # fmt: skip
        return True

    def pytest_runtest_logreport(self, report):
        """Note what a test took, and whether it failed."""
        self.took[report.nodeid] += report.duration
        self.failed |= report.failed

    def _run(self, name, following=None):
        """Run a test; whether it fails, and what it took."""
        self.failed = False
        item = self.items[name]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=self.items.get(following))
        return self.failed, self.took[name]

    def _map(self):
        """Which tests come by which lines; from a file where that is wanted and there."""
        found = Map(STORE, modules(list(PARTS)), self.wanted.budget)
        kept = Path(self.wanted.map) if self.wanted.map else None
        if kept and kept.exists():
            found.load(kept)
        found.note(list(self.items), self._run, self.where, self.wanted.jobs, kept)
        return found

    def _play(self, number, place):
        tests = self.map.tests(place.path, place.line, self.items)
        seconds = sum(self.map.took[each] for each in tests)
        how, by = "no test comes by", ""
        while tests:
            how, by = self.where.forked(
                lambda said: self._try(place, tests, said),
                PATIENCE + 10 * max(self.map.took[each] for each in tests),
            )
            if how in (0, 2) or by not in tests or self._passes(by):
                break
            tests.remove(by)
        how = {0: "survived", 1: "killed", 2: "changes nothing"}.get(how, how)
        self.figures[how] += how != "changes nothing"
        if how in ("survived", "no test comes by") or self.wanted.all:
            text = place.path.read_text().splitlines()[place.line - 1].strip()
            print(
                f"{number} {how} {_name(place)} {place.what}: {text} ({len(tests)} tests, {seconds:.0f} s) {by}",
                flush=True,
            )
        return True

    def _passes(self, name):
        """Whether a test passes without a change."""
        return self.where.forked(lambda _: self._run(name)[0], PATIENCE + 10 * self.map.took[name])[0] == 0

    def _try(self, place, tests, said):
        gc.unfreeze()
        changed = mutants.put_in(place)
        gc.freeze()
        if not changed:
            return 2
        for name, following in zip(tests, [*tests[1:], None], strict=True):
            said.write_text(name)
            if self._run(name, following)[0]:
                return 1
        said.write_text("")
        return 0


def _import_all():
    """Import whatever is imported late, so that no module is read again in a mutant's process."""
    import spillstore

    logging.getLogger("spillstore").addHandler(logging.NullHandler())
    for module in pkgutil.walk_packages(spillstore.__path__, "spillstore."):
        if "_native." not in module.name:
            importlib.import_module(module.name)


def main() -> int:
    """Play what is wanted."""
    parser = argparse.ArgumentParser(prog="python tests/torture/mutate.py", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 2**31))
    parser.add_argument("--first", type=int, default=0, help="the number of the first round")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=1e9, help="after which no more rounds are begun")
    parser.add_argument("--only", nargs="*", default=list(PARTS), help="parts of the store")
    parser.add_argument("--tests", nargs="*", default=list(TESTS), help="where the tests are")
    parser.add_argument("--map", help="a file that keeps which tests come by which lines")
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants are tried at once")
    parser.add_argument(
        "--place",
        nargs="*",
        help="MODULE:LINE as they are printed: all mutants of those lines instead of rounds",
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=BUDGET,
        help="seconds of tests for a mutant, by what they took unchanged",
    )
    parser.add_argument("--all", action="store_true", help="print each round")
    wanted = parser.parse_args()
    os.chdir(ROOT)
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--capture=no",
        "--override-ini=addopts=",
        *(f"--ignore=tests/store/{name}" for name in UNRELATED),
        "-m",
        "not slow and not fault",
    ]
    return pytest.main([*options, *wanted.tests], plugins=[Player(wanted)])


if __name__ == "__main__":
    sys.exit(main())
