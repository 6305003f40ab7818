"""What all campaigns have in common: rounds that are drawn from a seed and their number alone, what was found, and figures.

A campaign is a module ``campaign_NAME.py`` beside this one, with a class ``Campaign`` (see ``Base``). Its name makes it known:
``python tests/torture NAME`` plays it, and ``test_campaigns.py`` plays a short fixed part of it.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import importlib
import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

HERE = Path(__file__).parent
_IN_ORDER = 6  # of more figures a reader looks for the names


class NotHereError(Exception):
    """A campaign cannot be played on this machine; the message says why."""


@dataclasses.dataclass
class Done:
    """What some rounds have done.

    Attributes:
        rounds: how many.
        figures: how often what was done, in the order in which it is told.
        found: what must not be, each with what repeats it.
    """

    rounds: int = 0
    figures: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    found: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Done) -> None:
        """Count what another one has done."""
        self.rounds += other.rounds
        for name, count in other.figures.items():
            self.figures[name] += count
        self.found += other.found

    def __str__(self) -> str:
        names = sorted(self.figures) if len(self.figures) > _IN_ORDER else self.figures
        figures = "".join(f", {self.figures[name]:,} {name}" for name in names)
        return f"{self.rounds:,} rounds{figures}; {len(self.found)} found"


class Base:
    """A campaign in a folder of its own, with a seed. A context manager.

    Attributes:
        about: what it does, in one line.
        rounds: how many make a whole; more of them draw more.
        seconds: what such a round takes at most, about, on an idle machine.
    """

    about = ""
    rounds = 1
    short: tuple[tuple[int, float], ...] = ((0, 1.0),)

    def __init__(self, folder: Path, seed: int) -> None:
        """Make ready what all rounds need.

        Raises:
            NotHereError: it cannot be played here.
        """
        self.folder = folder
        self.seed = seed

    def dice(self, number: int) -> random.Random:
        """Numbers drawn for a round."""
        return random.Random(f"{self.seed} {number}")

    def play(self, number: int, done: Done, share: float = 1.0) -> None:
        """Play one round, or a share of it, and note what was done and found."""
        raise NotImplementedError

    def tells(self, number: int) -> str:
        """The story of a round; nothing where a round has none."""
        del number
        return ""

    def close(self) -> None:
        """End what was begun."""

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def workplace(name: str, within: str | None = None) -> Iterator[Path]:
    """A new folder, in memory where that can be: what kills and errors do depends on no disk, and they would wait for it."""
    within = within or ("/dev/shm" if Path("/dev/shm").is_dir() else None)
    with tempfile.TemporaryDirectory(prefix=f"torture-{name}-", dir=within) as folder:
        yield Path(folder)


def names() -> list[str]:
    """Of all campaigns."""
    return sorted(path.stem.removeprefix("campaign_") for path in HERE.glob("campaign_*.py"))


def named(name: str) -> type[Base]:
    """The class of a campaign."""
    return importlib.import_module(f"campaign_{name}").Campaign


def played(
    campaign: Base, first: int, rounds: int, seconds: float | None = None, stories: Collection[str] = ()
) -> Iterator[tuple[int, Done]]:
    """Play rounds one after the other; of each its number and what it has done.

    Args:
        campaign: which.
        first: the number of the first round.
        rounds: how many.
        seconds: after which no more are begun; None for any time.
        stories: those that are played, and the others are left out; all of them without any.
    """
    until = None if seconds is None else time.monotonic() + seconds
    for number in range(first, first + rounds):
        if until is not None and time.monotonic() > until:
            return
        if stories and campaign.tells(number) not in stories:
            continue
        done = Done(rounds=1)
        campaign.play(number, done)
        yield number, done
