"""Threads, processes, forks and suspended processes in one store: what each did when is a history that some order explains."""

from __future__ import annotations

import shutil

import campaigns
import linear
from victims import Victims

_SLOW = 1.0  # seconds


class Campaign(campaigns.Base):
    """A round is two to five processes with one to three threads each, which do what they do at least 60 times."""

    about = "threads, processes, forks, SIGSTOP and SIGCONT in one store, and a checker of linearizability"
    rounds = 200
    short = ((0, 0.4), (1, 0.4))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._victims = Victims(folder, library="")

    def play(self, number, done, share=1.0):
        """Let them run, and look for what no order explains."""
        dice = self.dice(number)
        folder = self.folder / f"{number}"
        folder.mkdir()
        settings = {"durability": dice.choice(("normal", "full"))}
        drawn = {
            "seed": f"{self.seed} {number}",
            "processes": dice.randint(2, 5),
            "threads": dice.randint(1, 3),
        }
        where = {"place": str(folder / "root"), "settings": settings}
        ended = self._victims.run(
            "histories.play", folder=str(folder), wanted=round(60 * share), **where, **drawn
        )
        looked = self._victims.run("histories.looked", **where)
        shutil.rmtree(folder)
        said = [each for one in (ended, looked) for each in one.said]
        found = [each["foreign"] + each["text"] for each in said if "foreign" in each]
        found += [each for one in said for each in one.get("failures", ())]
        for one in (ended, looked):
            if one.how != "exit":
                found.append(f"ended by {one.how}\n{one.trace}")
        history = [each for one in said for each in one.get("history", ())]
        found += linear.faults(history)
        what = f"{settings}, {drawn}"
        done.found += [f"{what}: {each}".replace("\n", "\n    ") for each in found]
        done.figures["operations"] += len(history)
        done.figures["that took above a second"] += sum(
            each["end"] - each["begin"] > _SLOW * 1e9 for each in history
        )
        for each in said:
            if "suspended" in each:
                done.figures["suspensions"] += each["suspended"]
                done.figures["of the busiest process"] += max(each["done"])
                done.figures["of the one that did least"] += min(each["done"])

    def close(self):
        """End the program."""
        self._victims.close()
