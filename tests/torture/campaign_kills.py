"""A process is killed before each call that changes a file, in all that a store does."""

from __future__ import annotations

import campaigns
from cases import Case, drawn
from stories import PLAYED
from victims import CHANGES, Fault, Victims

PASSES = 8  # each tries every eighth call


class Campaign(campaigns.Base):
    """A round is a story, killed before every eighth of its calls that change something, one after the other."""

    about = "kill -9 before every system call that changes a file, in each thing that a store does"
    rounds = len(PLAYED) * PASSES
    short = tuple((PLAYED.index(story), 0.1) for story in ("write", "roll", "migrate", "copy"))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._victims = Victims(folder)

    def tells(self, number):
        """What its process does."""
        return PLAYED[number % len(PLAYED)]

    def play(self, number, done, share=1.0):
        """Kill it until it comes to its end."""
        story = self.tells(number)
        scene = drawn(self.dice(number))
        at = 1 + number // len(PLAYED) % PASSES
        while True:
            root = self.folder / f"{number}-{at}"
            case = Case(self._victims, root, done, f"{story}, killed before change {at}, {scene}", scene)
            ended = case.play(story, Fault(str(root), CHANGES, at, "kill"))
            if case.errors():
                case.found(f"errors where nothing failed: {case.errors()}", f"{case.said}"[-2000:])
            done.figures["kills"] += ended.how == "killed"
            case.judge(story)
            if ended.how != "killed":
                return
            at += round(PASSES / share)

    def close(self):
        """End the program."""
        self._victims.close()
