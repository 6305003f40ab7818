"""Fairness: many write and read one session at once, and each should get its share: ``python tests/torture/fairness.py NAME`` (``make fairness``).

Participants are threads of processes of their own. All begin together and do the same kind of call again and again for some seconds: *put* stores
an artifact of a kilobyte, *stream* writes a MiB to an artifact and waits until it is committed, *read* reads and searches one. Of those that do
the same it is told how many calls each has made, the least beside the mean, Jain's index (the square of the sum by the sum of squares and their
number: 1 if all have made as many, 1/n if one has made all; R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984), and how long calls took. Who gets an error
or less than a tenth of the mean is a finding, and so is an artifact that was acknowledged and is not there. So that a busy machine makes no
finding, who is behind has ``--patience`` to catch up, while the others go on. ``--server`` plays on a server of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1])]

import campaigns  # noqa: E402
from machines import Machine  # noqa: E402

from spillstore import Store  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PATIENCE = 60.0  # seconds
# Of each scene: how many processes with how many threads do what.
SCENES = {
    "processes": ((8, 1, "put"),),
    "threads": ((1, 8, "put"),),
    "both": ((3, 3, "put"),),
    "stream": ((1, 1, "stream"), (4, 1, "put")),
    "readers": ((4, 1, "put"), (4, 1, "read")),
}
SETTINGS = {
    "free_disk_floor": 0,
    "artifacts_per_minute": 0,
    "redact": False,
    "session_quota": 2**40,
    "store_quota": 2**40,
}
_TEXT = b"".join(b"line %03d of some output, status=200\n" % number for number in range(28))
_BLOCK = os.urandom(2**20)


class Done(NamedTuple):
    """What one participant has done: its call, how long each took in seconds, and the errors that it got."""

    call: str
    waits: list[float]
    errors: list[str]


class Together:
    """What all participants share: when they begin, how many calls each has made, and when all end."""

    def __init__(self, calls: list[str], seconds: float, patience: float) -> None:
        context = multiprocessing.get_context("spawn")
        self.calls, self._seconds, self._patience = calls, seconds, patience
        self._given_up = context.Value("b", False, lock=False)
        self._ended = context.Value(
            "b", False, lock=False
        )  # for all at once: who goes on makes others fall behind
        # Of each participant, which alone writes it: whether it is there, and its calls.
        self._here = context.Array("b", len(calls), lock=False)
        self._counts = context.Array("L", len(calls), lock=False)

    def turns(self, number: int) -> Iterator[None]:
        """A call for each turn, from when all are there, or none where somebody does not come."""
        self._here[number] = True
        called = time.monotonic()
        while not all(self._here):
            if self._given_up.value or time.monotonic() - called > PATIENCE:
                return
            time.sleep(0.001)
        began = time.monotonic()
        while not self._ended.value:
            passed = time.monotonic() - began
            if passed >= self._seconds and (passed >= self._patience or not self._behind()):
                self._ended.value = True
                return
            yield
            self._counts[number] += 1

    def give_up(self) -> None:
        """Nobody waits for who is out."""
        self._given_up.value = True

    def _behind(self) -> bool:
        """Whether somebody is, even if the others make one call more, which they are about."""
        shares = by_call(self.calls, self._counts).values()
        return not self._given_up.value and any(starved(counts, len(counts)) for counts in shares)


def by_call(calls: list[str], counts: Iterable[int]) -> dict[str, list[int]]:
    """The counts of those that make the same call."""
    found: dict[str, list[int]] = {call: [] for call in calls}
    for call, count in zip(calls, counts, strict=True):
        found[call].append(count)
    return found


def starved(counts: list[int], more: int = 0) -> int:
    """How many have made less than a tenth of the mean, or nothing; or will have, if all together make so many calls more."""
    return sum(count == 0 or 10 * len(counts) * count < sum(counts) + more for count in counts)


def index(counts: list[int]) -> float:
    """Jain's index of fairness.

    >>> index([5, 5, 5, 5]), index([8, 0, 0, 0]), round(index([1, 2, 3]), 2)
    (1.0, 0.25, 0.86)
    """
    squares = sum(count * count for count in counts)
    return sum(counts) ** 2 / (len(counts) * squares) if squares else 0.0


@contextlib.contextmanager
def _stream(session):
    with session.create(source="stream") as writer:

        def write():
            writer.write(_BLOCK)
            writer.flush()

        yield write


def _call(call: str, session, first: str):
    """The call that a participant makes again and again; what it has open is closed at the end."""

    def read():
        artifact = session.artifact(first)
        lines, found = artifact.read_lines(2, 3), artifact.search("line 02[0-7]").total_matches
        if (lines.count(b"\n"), found) != (2, 8):
            raise AssertionError(f"other bytes: {lines!r}, {found} matches")

    match call:
        case "put":
            return contextlib.nullcontext(lambda: session.put(_TEXT, source="put"))
        case "read":
            return contextlib.nullcontext(read)
        case _:
            return _stream(session)


def participate(together: Together, number: int, session, first: str) -> Done:
    """Make calls while the others do."""
    done = Done(together.calls[number], [], [])
    try:
        with _call(done.call, session, first) as once:
            for _ in together.turns(number):
                began = time.monotonic()
                once()
                done.waits.append(time.monotonic() - began)
    except Exception as error:  # whatever it is, it is a finding, and the participant is out
        together.give_up()
        done.errors.append(f"{type(error).__name__}: {error}")
    return done


def _process(address: str, together: Together, numbers: range, first: str, answers) -> None:
    """One process: a store of its own, and its threads."""
    found: list[Done] = []
    try:
        with Store(address, **SETTINGS).session("s") as session:
            workers = [
                threading.Thread(
                    target=lambda number=number: found.append(participate(together, number, session, first))
                )
                for number in numbers
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
    except Exception as error:  # likewise
        together.give_up()
        found.append(Done(together.calls[numbers[0]], [], [f"{type(error).__name__}: {error}"]))
    answers.send(found)
    answers.close()


def play(scene: str, address: str, seconds: float, patience: float = PATIENCE) -> list[Done]:
    """Play a scene in an empty store; what each participant has done."""
    with Store(address, **SETTINGS).session("s") as session:
        first = session.put(_TEXT, source="first").id
    groups = [(threads, call) for processes, threads, call in SCENES[scene] for _ in range(processes)]
    together = Together([call for threads, call in groups for _ in range(threads)], seconds, patience)
    context = multiprocessing.get_context("spawn")
    children, begun = [], 0
    for threads, _ in groups:
        ours, theirs = context.Pipe(duplex=False)
        numbers = range(begun, begun := begun + threads)
        child = context.Process(target=_process, args=(address, together, numbers, first, theirs))
        child.start()
        theirs.close()
        children.append((child, ours))
    found: list[Done] = []
    for child, answers in children:
        try:
            found += answers.recv()
        except EOFError:
            together.give_up()
            child.join()
            found.append(Done("process", [], [f"it ended with {child.exitcode}"]))
        child.join()
    return found


def findings(address: str, found: list[Done]) -> list[str]:
    """What is wrong: errors, who came short, artifacts that are not there."""
    wrong = [f"{done.call}: {error}" for done in found for error in done.errors]
    for call, counts in by_call([done.call for done in found], [len(done.waits) for done in found]).items():
        if few := starved(counts):
            wrong.append(f"{call}: {few} of {len(counts)} came short: {sorted(counts)}")
    put = sum(len(done.waits) for done in found if done.call == "put")
    with Store(address, **SETTINGS).session("s", read_only=True) as session:
        there = sum(info.source == "put" for info in session.infos(limit=None))
    return wrong + [f"{put} artifacts were stored, {there} are there"] * (put != there)


def rows(scene: str, where: str, found: list[Done]) -> list[str]:
    """A row of a table for each kind of call."""
    told = []
    shares = by_call([done.call for done in found], [len(done.waits) for done in found])
    for call, counts in shares.items():
        waits = sorted(wait for done in found if done.call == call for wait in done.waits) or [0.0]
        times = [1e3 * waits[min(len(waits) - 1, int(share * len(waits)))] for share in (0.5, 0.99, 1)]
        least = min(counts) * len(counts) / max(1, sum(counts))
        told.append(
            f"| *{scene}*, {where}: {len(counts)} x {call} | {sum(counts):,} | {least:.2f} | {index(counts):.3f} | "
            + " / ".join(f"{each:.1f}" for each in times)
            + " ms |"
        )
    return told


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(SCENES), metavar="NAME", help=", ".join(SCENES))
    parser.add_argument("--seconds", type=float, default=20.0, help="of each scene, 20 by default")
    parser.add_argument("--server", action="store_true", help="on a PostgreSQL server of its own")
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="seconds for who is behind, 60 by default"
    )
    wanted = parser.parse_args()
    if unknown := set(wanted.names) - set(SCENES):
        parser.error(f"there is no scene {', '.join(sorted(unknown))}; there are {', '.join(SCENES)}")
    wrong: list[str] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairness-")))
        machine = stack.enter_context(contextlib.closing(Machine())) if wanted.server else None
        for name in wanted.names:
            address = (
                str(folder / name) if machine is None else machine.server.url(machine.server.new_database())
            )
            found = play(name, address, wanted.seconds, wanted.patience)
            print("\n".join(rows(name, "a folder" if machine is None else "a server", found)), flush=True)
            wrong += [f"{name}: {each}" for each in findings(address, found)]
    print("\n".join(wrong) or "nothing was found")
    return bool(wrong)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except campaigns.NotHereError as error:
        sys.exit(f"not here: {error}")
