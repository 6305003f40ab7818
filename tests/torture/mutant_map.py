"""Which tests come by which lines of the store, noted by running each test once; a file keeps it from one run to the next.

What has changed since is noted anew and nothing else: lines that have moved take their tests along, lines that are new have those
of the lines around them, and tests that are new are run.
"""

from __future__ import annotations

import collections
import difflib
import json
import re
from concurrent.futures import ThreadPoolExecutor, as_completed

BUDGET = 30.0  # seconds of tests for a line, by what they took when nothing was changed
_FORKS = re.compile("fork|child")  # in the names of tests
QUICK = 0.3  # of that, for the quickest
PIECE = 100  # tests that are noted together
FOREVER = 36000.0
FEW = 10  # tests that are run for it however long they take


class Map:
    """Of each line of each module, by its path in the store, the tests that come by; and what each test took."""

    def __init__(self, store, paths, budget=BUDGET):
        self._store, self._paths, self._budget = store, paths, budget
        self.took: dict[str, float] = {}
        self._broken: list[str] = []
        self._lines: dict[str, dict[int, list[str]]] = {}
        self._sources: dict[str, list[str]] = {}

    def load(self, file):
        """Take what a file has kept, as far as it is so still."""
        kept = json.loads(file.read_text())
        names, self.took, self._broken = kept["names"], kept["took"], kept["broken"]
        for path in self._paths:
            name = self._name(path)
            now = path.read_text().splitlines()
            old = {
                int(line): [names[each] for each in tests]
                for line, tests in kept["lines"].get(name, {}).items()
            }
            self._lines[name] = _moved(old, kept["sources"].get(name, []), now)

    def save(self, file):
        names = sorted(self.took)
        numbers = {name: number for number, name in enumerate(names)}
        lines = {
            name: {line: [numbers[each] for each in tests] for line, tests in lines.items()}
            for name, lines in self._lines.items()
        }
        sources = {self._name(path): path.read_text().splitlines() for path in self._paths}
        file.write_text(json.dumps({"took": self.took, "names": names, "broken": self._broken, "lines": lines, "sources": sources}))  # fmt: skip

    def note(self, tests, run, places, jobs, kept=None):
        """Run the tests that are not known yet, in ``jobs`` processes; ``run`` runs one and says whether it fails and what it took.

        They are run in pieces, and what a piece has noted is saved in the file ``kept``: a run that ended goes on behind it.
        """
        new = [name for name in tests if name not in self.took and name not in self._broken]
        pieces = [new[at : at + PIECE] for at in range(0, len(new), PIECE)]
        with ThreadPoolExecutor(jobs) as pool:
            running = [
                pool.submit(
                    places.forked, lambda said, piece=piece: self._note(piece, run, said), FOREVER, FOREVER
                )
                for piece in pieces
            ]
            for done in as_completed(running):
                how, said = done.result()
                if how:
                    for each in running:
                        each.cancel()
                    raise RuntimeError(f"the tests could not be noted: {how} {said[:500]}")
                self._learn(json.loads(said))
                if kept:
                    self.save(kept)
        if new:
            print(f"fail without a change, and are left out: {self._broken}", flush=True)

    def _learn(self, found):
        self.took |= found["took"]
        self._broken += found["broken"]
        for name, lines in found["lines"].items():
            known = self._lines.setdefault(name, {})
            for line, tests_of in lines.items():
                known[int(line)] = known.get(int(line), []) + tests_of

    def tests(self, path, line, there):
        """The tests of a line among those that are there, quickest first; of one that none comes by, those of forks.

        What runs in a forked child alone is not noted, since that ends without telling.
        """
        known = self._lines.get(self._name(path), {}).get(line) or sorted(
            filter(_FORKS.search, self.took), key=self.took.__getitem__
        )
        return self._chosen([each for each in dict.fromkeys(known) if each in there and each in self.took])

    def _name(self, path):
        return path.relative_to(self._store).as_posix()

    def _note(self, tests, run, said):
        import coverage

        cov = coverage.Coverage(
            data_file=None, include=[str(path) for path in self._paths], config_file=False
        )
        cov.start()
        took, broken = {}, []
        for number, name in enumerate(tests):
            cov.switch_context(name)
            failed, seconds = run(name, tests[number + 1] if number + 1 < len(tests) else None)
            if failed:
                broken.append(name)
            else:
                took[name] = seconds
        cov.stop()
        data = cov.get_data()
        self.took |= took
        by = {str(path): self._name(path) for path in self._paths}
        lines = {
            by[path]: {
                line: [each for each in tests_of if each in took]
                for line, tests_of in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
        said.write_text(json.dumps({"took": took, "broken": broken, "lines": lines}))
        return 0

    def _chosen(self, tests):
        """Of the tests that come by a line those that are run, until their time is over, quickest first.

        A part of the time is for the quickest. In the rest, of each test function two cases come before any has a third one, and of
        each file one function before it has a second one, so that what is run is as different as can be.
        """
        quickest = sorted(tests, key=self.took.__getitem__)
        chosen: list[str] = []
        seconds = 0.0
        for each in quickest:
            seconds += self.took[each]
            if seconds > self._budget * QUICK:
                break
            chosen.append(each)
        cases: collections.Counter[str] = collections.Counter()
        functions: collections.Counter[str] = collections.Counter()
        ranked = []
        for each in quickest[len(chosen) :]:
            function, file = each.partition("[")[0], each.partition("::")[0]
            functions[file] += not cases[function]
            ranked.append((cases[function] > 1, functions[file], cases[function], self.took[each], each))
            cases[function] += 1
        seconds = sum(self.took[each] for each in chosen)
        for *_, each in sorted(ranked):
            if seconds < self._budget or len(chosen) < FEW:
                chosen.append(each)
                seconds += self.took[each]
        return sorted(chosen, key=self.took.__getitem__)


def _moved(lines, before, now):
    """The tests of lines where those are now; a new line has those of the lines before and behind it."""
    found = {}
    for what, low, high, new_low, new_high in difflib.SequenceMatcher(
        None, before, now, autojunk=False
    ).get_opcodes():
        if what == "equal":
            found |= {
                new_low + at + 1: lines[low + at + 1] for at in range(high - low) if low + at + 1 in lines
            }
        else:
            near = dict.fromkeys(each for line in range(low, high + 2) for each in lines.get(line, ()))
            found |= {line: list(near) for line in range(new_low + 1, new_high + 1)}
    return found
