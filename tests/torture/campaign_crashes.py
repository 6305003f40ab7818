"""Ten thousand kills: a dozen processes in one store, one after the other, each killed while it repairs what the last one left."""

from __future__ import annotations

import campaigns
from cases import Case, drawn
from stories import PREPARED
from victims import CHANGES, Fault, Victims

GENERATIONS = 12
_PLAYED = ("write", "seal", "roll", "evict", "delete", "reopen", "collect", "migrate", "copy")
_LAST_CHANGE, _LONGEST = 220, 0.15  # a story makes 100 to 400 changes, in 0.02 to 0.2 s


class Campaign(campaigns.Base):
    """A round is a store and twelve processes, each killed before a random change or after a random time; then it is judged."""

    about = "kill -9 of twelve processes, one after the other in one store, at random changes and moments"
    rounds = 1000
    short = ((0, 0.5), (1, 0.5))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._victims = Victims(folder)

    def play(self, number, done, share=1.0):
        """Kill all generations."""
        dice = self.dice(number)
        scene = drawn(dice)
        root = self.folder / f"{number}"
        case = Case(self._victims, root, done, f"crashes, {scene}", scene)
        played = []
        for _ in range(round(GENERATIONS * share)):
            story = dice.choice([each for each in _PLAYED if each != "copy" or each not in played])
            played.append(story)
            if before := PREPARED.get(story):
                case.heard(self._victims.run("scenes.play", story=before, root=str(root), **scene))
            fault = self._fault(dice, root)
            ended = case.heard(self._victims.run("scenes.play", fault, story=story, root=str(root), **scene))
            done.figures["kills" if ended.how == "killed" else "that ended before"] += 1
        if case.errors():
            case.found(
                f"errors where nothing failed: {case.errors()}",
                f"{[each for each in case.said if 'error' in each]}",
            )
        case.judge()

    def _fault(self, dice, root):
        if dice.random() < 0.7:
            return Fault(str(root), CHANGES, dice.randint(1, _LAST_CHANGE), "kill")
        return Fault(after=dice.random() ** 2 * _LONGEST)

    def close(self):
        """End the program."""
        self._victims.close()
