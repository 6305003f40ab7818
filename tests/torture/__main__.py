"""Plays campaigns: ``python tests/torture NAME --seed N --first N --rounds N`` (``make campaign NAME=...``); ``--list`` names them."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "store"), str(Path(__file__).parents[1])]

import campaigns  # noqa: E402

MOST_TOLD = 4  # of what a round has found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/torture", description=__doc__)
    parser.add_argument("name", nargs="*", help="of the campaigns; all without one")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--seed", type=int, help="what all is drawn with; a new one if left out")
    parser.add_argument("--first", type=int, default=0, help="the number of the first round")
    parser.add_argument("--rounds", type=int, help="how many; as many as make a whole if left out")
    parser.add_argument(
        "--story", nargs="*", default=(), help="only rounds of these stories, of calls and kills"
    )
    parser.add_argument("--seconds", type=float, help="after which no more rounds of a campaign are begun")
    parser.add_argument("--folder", help="where to work; in memory if that can be")
    return parser.parse_args()


def play(name: str, seed: int, wanted: argparse.Namespace, folder: Path) -> int:
    """Play one campaign; how much it has found."""
    kind = campaigns.named(name)
    rounds = kind.rounds if wanted.rounds is None else wanted.rounds
    story = f" --story {' '.join(wanted.story)}" if wanted.story else ""
    print(f"campaign {name}: --seed {seed} --first {wanted.first} --rounds {rounds}{story}", flush=True)
    began = told = time.monotonic()
    total, number = campaigns.Done(), wanted.first - 1
    try:
        with kind(folder, seed) as campaign:
            for number, done in campaigns.played(
                campaign, wanted.first, rounds, wanted.seconds, wanted.story
            ):
                total.add(done)
                for each in done.found[:MOST_TOLD]:
                    print(f"{name} --seed {seed} --first {number} --rounds 1: {each}", flush=True)
                if len(done.found) > MOST_TOLD:
                    print(
                        f"{name} --seed {seed} --first {number}: and {len(done.found) - MOST_TOLD} more",
                        flush=True,
                    )
                if time.monotonic() - told > 20:
                    told = time.monotonic()
                    print(f"{told - began:.0f} s, up to round {number}: {total}", flush=True)
    except KeyboardInterrupt:
        print()
    except campaigns.NotHereError as error:
        print(f"campaign {name} is left out: {error}")
        return 0
    finally:
        print(f"to go on: {name} --seed {seed} --first {number + 1}", flush=True)
    print(
        f"| {name}{story}, seed {seed}, rounds {wanted.first} to {number} | {time.monotonic() - began:.0f} s | {total} |"
    )
    return len(total.found)


def main() -> int:
    """Play what is wanted; 1 if anything was found."""
    wanted = _arguments()
    if wanted.list:
        for name in campaigns.names():
            print(f"{name:10} {campaigns.named(name).rounds:6} rounds: {campaigns.named(name).about}")
        return 0
    seed = random.SystemRandom().randrange(1, 2**31) if wanted.seed is None else wanted.seed
    found = 0
    for name in wanted.name or campaigns.names():
        with campaigns.workplace(name, wanted.folder) as folder:
            found += play(name, seed, wanted, folder)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
