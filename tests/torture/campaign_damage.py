"""Session files are damaged in all ways: each answer is right, or an error, or an older state where nobody could tell."""

from __future__ import annotations

import shutil
import sqlite3

import campaigns
import damages
from victims import Victims

DAMAGES = 25  # of a round
WHOLE = (0, 1)  # of eight rounds, those whose chunks have the usual size, and which ask everything
SMALL = 16  # what sizes are divided by in the others


class Campaign(campaigns.Base):
    """A round is 25 damages; every other round is of a session with a digest key, and of eight rounds six are quick."""

    about = "flips, bursts, cuts, exchanged, stale and zeroed pages, rows changed, moved, removed and put back, journals"
    rounds = 4000
    noise = 0  # bytes of an artifact that no compression makes smaller
    short = ((0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._victims = Victims(folder, library="")
        self._built = {}

    def _base(self, keyed, scale):
        base = self.folder / f"{'keyed' if keyed else 'plain'}-{scale}"
        if base not in self._built:
            base.mkdir()
            ended = self._victims.run(
                "damaging.build",
                folder=str(base),
                seed=self.seed,
                keyed=keyed,
                scale=scale,
                noise=self.noise,
            )
            [built] = (each["built"] for each in ended.said if "built" in each)
            for name in ("older", "whole", "live"):
                ended = self._victims.run("damaging.answered", folder=str(base), name=name, keyed=keyed)
                [built[name]] = (each["answered"] for each in ended.said if "answered" in each)
            # What the file was earlier, without a journal.
            for suffix in ("", "-wal"):
                if (base / f"older.db{suffix}").exists():
                    shutil.copy(base / f"older.db{suffix}", base / f"older.whole{suffix}")
            connection = sqlite3.connect(base / "older.whole")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            self._built[base] = built
        return base, self._built[base]

    def play(self, number, done, share=1.0):
        """Damage copies, in one process after the other where one dies."""
        keyed = bool(number % 2)
        quick = number % 8 not in WHOLE
        base, built = self._base(keyed, SMALL if quick else 1)
        first, end = number * DAMAGES, number * DAMAGES + round(DAMAGES * share)
        work = self.folder / f"work-{number}"
        while first < end:
            work.mkdir()
            ended = self._victims.run(
                "damaging.play", seconds=300, folder=str(base), seed=self.seed, first=first, count=end - first,
                built=built, keyed=keyed, work=str(work), quick=quick,
            )  # fmt: skip
            shutil.rmtree(work)
            key = "with a key" if keyed else "without a key"
            for each in ended.said:
                if "came" in each:
                    done.figures[f"{each['kind']} {key}: {each['came']}"] += 1
                if "wrong" in each or "foreign" in each:
                    what = f"{key}, {each.get('at')}: {each.get('wrong') or each['foreign']}\n{each.get('text', '')}"
                    done.found.append(what.rstrip().replace("\n", "\n    "))
            last = max(each["damage"] for each in ended.said if "damage" in each)
            if not any("done" in each for each in ended.said):
                _, kind, how = damages.drawn(self.seed, last)
                done.found.append(
                    f"{key}, {last} {kind} {how}: ended by {ended.how}\n{ended.trace}".replace("\n", "\n    ")
                )
            first = last + 1

    def close(self):
        """End the program."""
        self._victims.close()
