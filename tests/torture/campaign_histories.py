"""Threads, processes, forks and suspended processes in one store: what each did when is a history that some order explains."""

from __future__ import annotations

import contextlib
import shutil

import campaigns
import linear
from machines import Machine
from victims import Victims

_SLOW = 1.0  # seconds


class Campaign(campaigns.Base):
    """A round is two to five processes with one to three threads each, which do what they do at least 60 times.

    Every fifth one is on a server, where there is one.
    """

    about = "threads, processes, forks, SIGSTOP and SIGCONT in one store, and a checker of linearizability"
    rounds = 200
    short = ((0, 0.3), (4, 0.2))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._victims = Victims(folder, library="", servers=True)
        self._machine = None

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
        with self._place(number, folder) as place:
            self._play(number, folder, {"place": place, "settings": settings}, drawn, share, done)

    @contextlib.contextmanager
    def _place(self, number, folder):
        """Where the store is: in the folder, or on a server."""
        if number % 5 == 4 and self._machine is None:
            with contextlib.suppress(campaigns.NotHereError):
                self._machine = Machine()
        if number % 5 < 4 or self._machine is None:
            yield str(folder / "root")
            return
        name = self._machine.server.new_database()
        yield self._machine.server.url(name)
        self._machine.server.drop_database(name)

    def _play(self, number, folder, where, drawn, share, done):
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
        what = f"{where}, {drawn}"
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
        """End the program, and the server."""
        self._victims.close()
        if self._machine is not None:
            self._machine.close()
