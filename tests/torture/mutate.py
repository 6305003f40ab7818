"""Mutation testing: ``python tests/torture/mutate.py --seed N --first N --rounds N`` (``make mutants``).

Each round changes one place of the store (``mutants.py``), runs the tests that come by that place, and notes whether one of
them fails: then the mutant is killed. One that survives is a place that no test looks at, or one whose change changes nothing.

The program collects all tests once. A forked process first runs each of them and notes which lines it comes by; then each
mutant gets a forked process of its own, which puts it in and runs the tests of its line, quickest first, until one fails.
Rounds are drawn from the seed and their number alone, so a run goes on with ``--first``. ``--map`` keeps what was noted.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import json
import logging
import os
import pkgutil
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

import mutants  # noqa: E402
import pytest  # noqa: E402

ROOT = HERE.parents[1]
STORE = ROOT / "store" / "spillstore"
# What is tried, each with the folders of tests that are run for it.
PARTS = ("format", "ingest", "read", "engine/*.py", "engine/sqlite", "engine/memory")
TESTS = ("tests/store",)
LEFT = ("sql.py", "base.py")  # texts of statements, and what has no body
PATIENCE = 60.0  # seconds for a mutant's tests, besides ten times what they took
IDLE = 25.0  # seconds without any work, after which it will never end
BUDGET = 15.0  # seconds of tests for a mutant, by what they took when nothing was changed
FEW = 10  # tests that are run for it however long they take


def modules(parts: list[str]) -> list[Path]:
    """The modules that are tried."""
    found = []
    for part in parts:
        pattern = part if part.endswith(".py") else f"{part}/*.py"
        found += [path for path in STORE.glob(pattern) if path.name not in (*LEFT, "__init__.py")]
    return sorted(found)


def drawn(seed: int, parts: list[str]) -> list[mutants.Place]:
    """All places, in the order of the rounds."""
    places = [place for path in modules(parts) for place in mutants.places(path)]
    random.Random(f"{seed} mutants").shuffle(places)
    return places


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
        self.items = {item.nodeid: item for item in session.items}
        lines = self._lines(session)
        places = drawn(self.wanted.seed, self.wanted.only)
        first, rounds = self.wanted.first, self.wanted.rounds
        print(
            f"\nmutants: --seed {self.wanted.seed} --first {first} --rounds {rounds}; {len(places)} places, {len(self.items)} tests",
            flush=True,
        )
        until = time.monotonic() + self.wanted.seconds
        began = time.monotonic()
        number = first
        while number < min(first + rounds, len(places)) and time.monotonic() < until:
            self._play(number, places[number], lines)
            number += 1
        killed = sum(count for name, count in self.figures.items() if name.startswith("killed"))
        total = self.figures.total()
        print(f"to go on: --seed {self.wanted.seed} --first {number}")
        print(f"| mutants, seed {self.wanted.seed}, rounds {first} to {number - 1} | {time.monotonic() - began:.0f} s | {dict(self.figures)} |"
              f" {killed} of {total} killed: {killed / max(total, 1):.3f} |", flush=True)  # fmt: skip
        return True

    def pytest_runtest_logreport(self, report):
        """Note what a test took, and whether it failed."""
        self.took[report.nodeid] += report.duration
        self.failed |= report.failed

    def _run(self, nodeids) -> str | None:
        """Run tests until one fails; its name."""
        items = [self.items[nodeid] for nodeid in nodeids]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return item.nodeid
        return None

    def _lines(self, session):
        """Of each module's lines the tests that come by, as many as are run; from a file where that is wanted and there."""
        kept = Path(self.wanted.map) if self.wanted.map else None
        if kept and kept.exists():
            noted = json.loads(kept.read_text())
        else:
            with _folder() as folder:
                file = kept or folder / "map.json"
                _forked(lambda: self._note(session, file), 7200)
                noted = json.loads(file.read_text())
        took = noted["took"]
        return {
            path: {int(line): [noted["names"][each] for each in tests] for line, tests in lines.items()}
            for path, lines in noted["lines"].items()
        }, took

    def _note(self, session, file):
        """Run each test once, and note the lines it comes by. In a process of its own."""
        import coverage

        cov = coverage.Coverage(
            data_file=None, include=[str(path) for path in modules(self.wanted.only)], config_file=False
        )
        cov.start()
        broken = []
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            self.failed = False
            cov.switch_context(item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                broken.append(item.nodeid)
        cov.stop()
        took = {name: seconds for name, seconds in self.took.items() if name not in broken}
        print(f"fail without a change, and are left out: {broken}")
        data = cov.get_data()
        names = sorted(took)
        numbers = {name: number for number, name in enumerate(names)}
        lines = {
            Path(path).relative_to(STORE).as_posix(): {
                line: [numbers[each] for each in _chosen(Path(path), tests, took)]
                for line, tests in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
        file.write_text(json.dumps({"took": took, "names": names, "lines": lines}))
        return 0

    def _play(self, number, place, noted):
        lines, took = noted
        known = lines.get(place.path.relative_to(STORE).as_posix(), {})
        tests = [nodeid for nodeid in known.get(place.line, []) if nodeid in self.items]
        seconds = sum(took[nodeid] for nodeid in tests)
        how = (
            "no test comes by"
            if not tests
            else _forked(lambda: self._try(place, tests), PATIENCE + 10 * seconds)
        )
        how = {0: "survived", 1: "killed", 2: "changes nothing"}.get(how, how)
        self.figures[how] += how != "changes nothing"
        name = f"{place.path.relative_to(STORE)}:{place.line}"
        if how in ("survived", "no test comes by") or self.wanted.all:
            text = place.path.read_text().splitlines()[place.line - 1].strip()
            print(
                f"{number} {how} {name} {place.what}: {text} ({len(tests)} tests, {seconds:.0f} s)",
                flush=True,
            )

    def _try(self, place, tests):
        if not mutants.put_in(place):
            return 2
        return 0 if self._run(tests) is None else 1


def _chosen(path, tests, took):
    """Of the tests that come by a line those that are run: the module's own first, quick ones first, until their time is over."""
    package = path.relative_to(STORE).parts[0]
    known = sorted(
        (each for each in tests if each in took), key=lambda each: (f"/{package}/" not in each, took[each])
    )
    chosen, seconds = [], 0.0
    for each in known:
        if seconds < BUDGET or len(chosen) < FEW:
            chosen.append(each)
            seconds += took[each]
    return sorted(chosen, key=took.get)


@contextlib.contextmanager
def _folder():
    with tempfile.TemporaryDirectory(
        prefix="mutants-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    ) as folder:
        yield Path(folder)


def _forked(function, seconds):
    """Call a function in a process of its own, whose folders are removed after it; what it returns, or how it was killed."""
    with _folder() as folder:
        pid = os.fork()
        if not pid:
            how = 1
            try:
                os.setsid()
                os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(folder)
                resource.setrlimit(resource.RLIMIT_AS, (4 * 1024**3, 4 * 1024**3))
                how = function()
            except BaseException as error:
                print(f"a mutant's process: {error!r}"[:500], file=sys.__stderr__, flush=True)
            finally:
                os._exit(how)
        until, idle_since, used = time.monotonic() + seconds, time.monotonic(), -1.0
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            now = time.monotonic()
            if used != (used := _used(pid)):
                idle_since = now
            if now > until or now - idle_since > IDLE:
                break
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # and what the tests have started
        if not done:
            os.waitpid(pid, 0)
            return "killed, as it did not end"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return "killed by a signal" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _used(pid):
    """Processor time of a process."""
    with contextlib.suppress(OSError):
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
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
    parser.add_argument("--all", action="store_true", help="print each round")
    wanted = parser.parse_args()
    os.chdir(ROOT)
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--capture=no",
        "--override-ini=addopts=",
        "--ignore=tests/store/redaction",
        "-m",
        "not slow and not fault",
        "-k",
        "not server",
    ]
    return pytest.main([*options, *wanted.tests], plugins=[Player(wanted)])


if __name__ == "__main__":
    sys.exit(main())
