"""Session files are damaged in all ways and salvaged: nothing else comes out than was stored, and what is whole does."""

from __future__ import annotations

import shutil

import campaign_damage
import damages
from campaign_damage import DAMAGES, SMALL

_USUAL = 0  # of four rounds, the one whose chunks have the usual size


class Campaign(campaign_damage.Campaign):
    """A round is 25 damages, as those of *damage*; every other round is of a session with a digest key."""

    about = "the same damages, salvaged: no other bytes, every chunk whose pages are whole, and what is missing is told"
    rounds = 80
    noise = 300_000
    short = ((2, 0.4), (3, 0.4))

    def play(self, number, done, share=1.0):
        """Damage copies and salvage them, in one process after the other where one dies."""
        keyed = bool(number % 2)
        base, built = self._base(keyed, 1 if number // 2 % 4 == _USUAL else SMALL)
        first, end = number * DAMAGES, number * DAMAGES + round(DAMAGES * share)
        work = self.folder / f"work-{number}"
        key = "with a key" if keyed else "without a key"
        while first < end:
            work.mkdir()
            ended = self._victims.run(
                "salvages.play", seconds=300, folder=str(base), seed=self.seed, first=first, count=end - first, keyed=keyed,
                young=[*built["young"]], work=str(work),
            )  # fmt: skip
            shutil.rmtree(work)
            for each in ended.said:
                if "came" in each:
                    done.figures[f"{each['kind']} {key}: {each['came']}"] += 1
                    done.figures["chunks that had to be got"] += each["whole"]
                if "wrong" in each or "foreign" in each:
                    what = f"{key}, {each.get('at')}: {each.get('wrong') or each['foreign']}\n{each.get('text', '')}"
                    done.found.append(what.rstrip().replace("\n", "\n    "))
            last = max((each["damage"] for each in ended.said if "damage" in each), default=first)
            if not any("done" in each for each in ended.said):
                _, kind, how = damages.drawn(self.seed, last)
                done.found.append(
                    f"{key}, {last} {kind} {how}: ended by {ended.how}\n{ended.trace}".replace("\n", "\n    ")
                )
            first = last + 1
