"""A campaign against the native scanner: drawn and changed texts, scanned under sanitizers and by the Python path.

``python tests/torture/scan_fuzz.py --seed N --executions 10000000`` (``make fuzz``). The work is cut into rounds, which are
drawn from the seed and their number alone: ``--first R`` goes on where an earlier run of that seed has ended, and
``--first R --rounds 1`` is a round alone. In each round, four things:

- *checked* texts never leave the driver (``scan_driver.c``): no read outside, no undefined behaviour, every literal given out
  where nothing may be dropped, the same answer with little room and from any place on;
- *compared* texts: the secrets that the rules find at the places of the scanner must be those that they find at all literals.
  These are the executions that are counted. Where nothing was dropped, both are the same places, and are not judged twice;
- *rows*: the same for the examples of the tables of rules, written in other ways (``native_texts.changed_row``);
- *streams*: such texts, and long lines of several, cut into pieces anywhere, with the scanner, without it, and whole. Where the last two differ, the scanner
  has no part in it.

A text with another answer is made shorter as long as the answers differ, and is printed. The exit status is 1 then.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import functools
import itertools
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scan_driver import MOST_NAMES, Driver, Ended, NoCompilerError, compiled, native_texts

from spillstore.redaction import Redactor, candidates, counted, finder, own_rules, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scan_driver import Hit

COMPARED, CHECKED, ROWS, STREAMED = 20_000, 40_000, 4_000, 100  # of a round
LINES = 20  # streams of one long line, in a round
NAMES = (8, 64, MOST_NAMES)  # that the scanner can keep: with few, they push each other out
BATCH = 500
LARGE = 50_000  # of so many texts that are checked, one is longer than a block
LARGE_COMPARED = 10 * LARGE
MOST_TOLD = 5  # differences of a round


_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")


@dataclasses.dataclass
class Done:
    """What a round has done, or several."""

    rounds: int = 0
    compared: int = 0
    checked: int = 0
    rows: int = 0
    streams: int = 0
    places: int = 0
    dropped: int = 0
    seconds: float = 0.0
    wrong: list[str] = dataclasses.field(default_factory=list)
    uneven: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Done) -> None:
        """Count what another one has done."""
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def __str__(self) -> str:
        return (
            f"{self.rounds} rounds, {self.compared:,} compared, {self.checked:,} checked, {self.rows:,} rows, {self.streams:,} streams, "
            f"{self.dropped:,} of {self.places:,} literals dropped, {len(self.wrong)} wrong answers of the scanner, "
            f"{len(self.uneven)} streams that are not as their whole text"
        )


class _Told:
    """A searcher whose places are told beforehand."""

    def __init__(self, places: list[Hit], runs: list[tuple[int, int]]) -> None:
        self._places = places
        self._runs = runs

    def hits(self, text: bytes, whole: int) -> Iterator[Hit]:
        return iter(self._places)

    def runs(self, text: bytes) -> Iterator[tuple[int, int]]:
        return iter(self._runs)


@functools.cache
def _automaton() -> candidates.Automaton:
    return candidates.Automaton(finder.ENTRIES)


@contextlib.contextmanager
def searching(searcher: object) -> Iterator[None]:
    """Let the rules look where this one says."""
    before = finder.searcher
    finder.FIRST.left = 0
    finder.searcher = lambda: searcher
    try:
        yield
    finally:
        finder.searcher = before


def _answer(text: bytes, searcher: object, *, final: bool) -> tuple[object, ...]:
    """What is taken out of a text without colours, from where on it is held, and what the next text must know."""
    with searching(searcher):
        spans, hold, state, until, _ = scan._scan(text, own_rules.OwnRules(), scan.State(), 0, final=final)
    return spans, hold, state, None if until is None else until.pattern


def _cut(text: bytes, places: list[int], searcher: object) -> tuple[bytes, dict[str, int]]:
    with searching(searcher):
        redactor = Redactor()
        out = [redactor.feed(text[a:b]) for a, b in zip([0, *places], [*places, len(text)], strict=True)]
        out.append(redactor.finish())
    return b"".join(out), redactor.counts


def _whole_stream(text: bytes) -> tuple[bytes, dict[str, int]]:
    with searching(_automaton()):
        return counted(text)


def shortened(text: bytes, differs: Callable[[bytes], bool]) -> bytes:
    """A part of the text that still differs, and of which no part can be left out."""
    step = len(text) // 2
    while step:
        at = 0
        while at < len(text):
            shorter = text[:at] + text[at + step :]
            if differs(shorter):
                text = shorter
            else:
                at += step
        step //= 2
    return text


def _difference(driver: Driver, text: bytes, *, final: bool) -> str:
    """The shortest form of a text that has two answers, and these."""

    def answers(of: bytes) -> list[tuple[object, ...]]:
        driver.start("alone", MOST_NAMES)
        return [_answer(of, searcher, final=final) for searcher in (_automaton(), driver, driver)]

    def differ(of: bytes) -> bool:
        without, first, again = answers(of)
        return not without == first == again

    if not differ(text):
        return f"{text!r} (final={final}) differs, but not alone, so by the names that were known"
    short = shortened(text, differ)
    without, first, again = answers(short)
    return f"{short!r} (final={final})\n    in Python   {without}\n    at first    {first}\n    names known {again}"


def _cuts(text: bytes, count: int) -> list[int]:
    chance = random.Random(len(text))  # a shorter text is cut elsewhere
    return sorted(chance.choices(range(1, len(text)), k=min(len(text), count))) if len(text) > 1 else []


def _streamed(driver: Driver, text: bytes, count: int, done: Done) -> None:
    """Feed a text in pieces, with the scanner and without it, and whole."""

    def scanned(of: bytes) -> tuple[object, ...]:
        return _cut(of, _cuts(of, count), driver)

    def judged(of: bytes) -> tuple[object, ...]:
        return _cut(of, _cuts(of, count), _automaton())

    for one, other, to in ((scanned, judged, done.wrong), (judged, _whole_stream, done.uneven)):
        differs = lambda of, one=one, other=other: one(of) != other(of)
        if differs(text):
            short = shortened(text, differs)
            cut = _cuts(short, count)
            to.append(
                f"{short!r} in pieces cut at {cut}\n    {scanned(short)}\n    in Python {judged(short)}\n    whole {_whole_stream(short)}"
            )


def play(command: list[str], seed: int, number: int, share: float = 1.0) -> Done:
    """One round, or a share of one."""
    began = time.process_time()
    done = Done(rounds=1)
    rng = random.Random(f"{seed} {number}")
    try:
        with Driver(command, seed=rng.getrandbits(32)) as driver:
            driver.start(rng.random(), rng.choice(NAMES))
            while done.checked < CHECKED * share:
                driver.check(BATCH, LARGE)
                done.checked += BATCH
            driver.start(rng.random(), rng.choice(NAMES))
            streams = _compared(driver, round(COMPARED * share), done)
            driver.start(rng.random(), rng.choice(NAMES))
            _changed_rows(driver, rng, round(ROWS * share), done)
            driver.start(rng.random(), rng.choice(NAMES))
            for text in itertools.islice(itertools.cycle(streams), round(STREAMED * share)):
                _streamed(driver, text, rng.choice((1, 2, 3, 8)), done)
                done.streams += 1
            for _ in range(round(LINES * share)):
                line = b" ".join(rng.choices(streams, k=24)).translate(_ONE_LINE)
                _streamed(driver, line, rng.choice((1, 2, 3, 8)), done)
                done.streams += 1
    except Ended as error:
        done.wrong.append(str(error))
    done.seconds = time.process_time() - began
    return done


def _compared(driver: Driver, count: int, done: Done) -> list[bytes]:
    """Judge so many texts at the places of the scanner and at all; returns a text of each batch."""
    last: list[bytes] = []
    different: list[tuple[bytes, bool]] = []
    while done.compared < count:
        for text, final, places, runs in driver.texts(BATCH, LARGE_COMPARED):
            every, every_run = list(_automaton().hits(text, len(text))), list(_automaton().runs(text))
            done.compared += 1
            done.places += len(every)
            done.dropped += len(every) - len(places)
            scanned = _answer(text, _Told(places, runs), final=final)
            if (places != every or runs != every_run) and (
                not set(places) <= set(every)
                or not set(runs) <= set(every_run)
                or _answer(text, _Told(every, every_run), final=final) != scanned
            ):
                different.append((text, final))
        last.append(text)
    _tell(driver, different, done)
    return last


def _tell(driver: Driver, different: list[tuple[bytes, bool]], done: Done) -> None:
    """Note texts that have two answers, the first ones in their shortest form."""
    done.wrong += [_difference(driver, text, final=final) for text, final in different[:MOST_TOLD]]
    done.wrong += [f"{each!r}" for each in different[MOST_TOLD:]]


def _changed_rows(driver: Driver, rng: random.Random, count: int, done: Done) -> None:
    """Judge so many examples of tables, written in other ways."""
    different = []
    for _ in range(count):
        text, final = native_texts.changed_row(rng), rng.random() < 0.8
        if not final:  # a line that has ended is whole
            text = text.rstrip(b"\r\n")
        done.rows += 1
        if _answer(text, driver, final=final) != _answer(text, _automaton(), final=final):
            different.append((text, final))
    _tell(driver, different, done)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="what all is drawn with; a new one if left out")
    parser.add_argument("--first", type=int, default=0, help="the number of the first round")
    parser.add_argument("--executions", type=int, help="texts to compare")
    parser.add_argument("--seconds", type=float, help="when to start no more rounds")
    parser.add_argument("--rounds", type=int, help="how many rounds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="rounds that are played at once")
    return parser.parse_args()


def main() -> int:
    """Play rounds until there are enough of them; 1 if anything differs."""
    wanted = _arguments()
    seed = random.SystemRandom().randrange(1, 2**31) if wanted.seed is None else wanted.seed
    most = wanted.rounds
    if wanted.executions is not None:
        most = -(-wanted.executions // COMPARED)
    if most is None and wanted.seconds is None:
        most = 10
    print(f"scan_fuzz.py --seed {seed} --first {wanted.first}", flush=True)
    total, began, told = Done(), time.monotonic(), 0.0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(wanted.jobs) as pool:
        try:
            command = [str(compiled(Path(folder)))]
        except NoCompilerError as error:
            print(error, file=sys.stderr)
            return 2
        number = wanted.first
        playing: dict[concurrent.futures.Future[Done], int] = {}
        while True:
            late = wanted.seconds is not None and time.monotonic() - began > wanted.seconds
            while len(playing) < wanted.jobs and not late and (most is None or number < wanted.first + most):
                playing[pool.submit(play, command, seed, number)] = number
                number += 1
            if not playing:
                break
            ended, _ = concurrent.futures.wait(playing, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ended:
                of, done = playing.pop(future), future.result()
                total.add(done)
                for text in done.wrong + done.uneven:
                    print(f"--seed {seed} --first {of} --rounds 1: {text}", flush=True)
            if time.monotonic() - told > 10:
                told = time.monotonic()
                print(f"{told - began:.0f} s: {total}", flush=True)
    print(
        f"{time.monotonic() - began:.0f} s: {total}; {total.compared / max(total.seconds, 0.001):,.0f} a second of Python"
    )
    print(f"to go on: --seed {seed} --first {number}")
    return bool(total.wrong or total.uneven)


if __name__ == "__main__":
    sys.exit(main())
