"""The power goes: of all that was written since the last sync any part is on the disk, and what was safe is all there."""

from __future__ import annotations

import json
import shutil

import campaigns
import disks
from cases import Case, drawn
from stories import PREPARED
from victims import Victims

CUTS = 25  # of a round
_PLAYED = ("write", "seal", "roll", "evict", "delete", "collect", "migrate", "copy", "reopen")


def _drawn(dice):
    """Stories that can be judged together: one copy, which later originals would differ from; a collection takes the old file away."""
    while True:
        played = dice.choices(_PLAYED, k=dice.randint(1, 3))
        if played.count("copy") < 2 and not {"migrate", "collect"} <= {*played}:
            return played


def _before(story):
    """What is played before it, and recorded, too."""
    return [PREPARED[story]] if PREPARED.get(story, "age") != "age" else []


class Campaign(campaigns.Base):
    """A round is one to three stories whose calls are recorded, and 25 moments at which the power goes; every other one of ``full``."""

    about = (
        "power cuts: writes since the last sync lost, torn, in any order, names too, with both durabilities"
    )
    rounds = 120
    short = ((0, 0.12), (1, 0.12))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._recorded = Victims(folder, library="recorded_calls")
        self._victims = Victims(folder, library="")

    def play(self, number, done, share=1.0):
        """Record, and cut the power."""
        dice = self.dice(number)
        scene = drawn(dice)
        scene["settings"]["durability"] = durability = ("normal", "full")[number % 2]
        played = _drawn(dice)
        stories = [each for story in played for each in (*_before(story), story)]
        what = f"{number}, {stories}, {scene}"
        root, trace = self.folder / f"{number}", self.folder / f"{number}.trace"
        case = Case(self._victims, root, done, what, scene)
        if "migrate" in stories:  # a file that is old is on the disk
            case.heard(self._victims.run("scenes.play", story="age", root=str(root), **scene))
        both = [disks.Disk(root, ordered=ordered) for ordered in (False, True)]
        case.heard(
            self._recorded.run("powers.recorded", stories=stories, root=str(root), trace=str(trace), **scene)
        )
        if case.errors():
            case.found(f"errors where nothing failed: {case.errors()}")
        calls = list(disks.recorded(trace.read_bytes()))
        trace.unlink()
        shutil.rmtree(root)
        moments = sorted(dice.sample(range(1, len(calls) + 1), min(round(CUTS * share), len(calls))))
        said = []
        for at, call in enumerate(calls, 1):
            for disk in both:
                disk.take(call)
            if call.kind == disks.NOTE:
                said.append(json.loads(call.data))
            if moments and at == moments[0]:
                moments.pop(0)
                self._cut(both, f"{what}, after call {at} of {len(calls)}", scene, said, dice, done)
                done.figures[f"power cuts of {durability}"] += 1

    def _cut(self, both, what, scene, said, dice, done):
        root = self.folder / "left"
        ordered = dice.random() < 0.5
        both[ordered].left(root, dice)
        lost = "nothing" if scene["settings"]["durability"] == "full" else "moments" if ordered else "names"
        what += f", names in {'their' if ordered else 'any'} order"
        case = Case(self._victims, root, done, what, scene, made=True)
        aged = (root / "root" / "web" / "chat-42" / "session.db").exists()
        ended = self._victims.run("powers.judged", root=str(root), said=said, lost=lost, aged=aged, **scene)
        case.heard(ended)
        case.close(ended)

    def close(self):
        """End the programs."""
        self._recorded.close()
        self._victims.close()
