"""Processes that share a store are killed at random moments, one generation after the other; what all of them promised is kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import campaigns
from cases import Case, drawn
from victims import CHANGES, Fault, Victims

AT_ONCE = 3
# Those that may be played any number of times, by several at once; sessions that are deleted are of one alone.
_SHARED = ("write", "seal", "roll", "evict", "delete", "reopen", "tool")
_ALONE = (*_SHARED, "collect", "migrate")


class Campaign(campaigns.Base):
    """A round is a store in which two to five generations of one to three processes are killed, and then it is judged."""

    about = "kill -9 at random moments, of one to three processes at once, generation after generation in one store"
    rounds = 300
    short = ((0, 1.0), (1, 1.0))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._victims = [Victims(folder) for _ in range(AT_ONCE)]

    def play(self, number, done, share=1.0):
        """Kill all generations."""
        dice = self.dice(number)
        scene = drawn(dice)
        root = self.folder / f"{number}"
        case = Case(self._victims[0], root, done, f"chain, {scene}", scene)
        for generation in range(dice.randint(2, 5)):
            at_once = dice.randint(1, AT_ONCE)
            stories = [dice.choice(_ALONE if at_once == 1 else _SHARED) for _ in range(at_once)]
            with ThreadPoolExecutor(at_once) as pool:
                playing = [
                    pool.submit(
                        self._play,
                        victims,
                        root,
                        scene,
                        story,
                        _drawn_fault(dice, root),
                        f"{generation}{actor}",
                    )
                    for actor, (victims, story) in enumerate(zip(self._victims, stories, strict=False))
                ]
            for each in playing:
                for ended in each.result():
                    case.heard(ended)
                done.figures["processes that were killed"] += ended.how == "killed"
                done.figures["that ended before"] += ended.how != "killed"
        locked = case.errors()["LockedError"]
        if locked:
            case.found(f"{locked} lock errors", f"{[each for each in case.said if 'error' in each]}")
        case.judge("")

    def _play(self, victims, root, scene, story, fault, actor):
        from stories import PREPARED

        ended = []
        where = {"root": str(root), "actor": actor, **scene}
        if before := PREPARED.get(story):
            ended.append(victims.run("scenes.play", story=before, **where))
        ended.append(victims.run("scenes.play", fault, story=story, **where))
        return ended

    def close(self):
        """End the programs."""
        for each in self._victims:
            each.close()


def _drawn_fault(dice, root):
    """When a process is killed: before one of its changes, or after some time."""
    if dice.random() < 0.5:
        return Fault(str(root), CHANGES, dice.randint(1, 300), "kill")
    return Fault(after=dice.random() ** 2 * 0.5)
