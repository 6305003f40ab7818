"""A story that is played while something happens to its process, and judged."""

from __future__ import annotations

import collections
import shutil
from typing import TYPE_CHECKING

import stories

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from campaigns import Done
    from victims import Ended, Fault, Victims


def drawn(dice: random.Random) -> dict[str, object]:
    """Settings of a scene, and whether it has a digest key."""
    settings = {
        "durability": dice.choice(("normal", "full")),
        "audit_keep": dice.random() < 0.5,
        "digest": dice.choice(("blake3", "blake3", "sha256")),
        "hidden_metadata": dice.random() < 0.2,
    }
    return {"settings": settings, "keyed": dice.random() < 0.4}


class Case:
    """One scene: what was said in it, and what was found. The folder is removed when it was judged."""

    def __init__(
        self,
        victims: Victims,
        root: Path,
        done: Done,
        what: str,
        scene: dict[str, object],
        *,
        made: bool = False,
    ) -> None:
        self._victims = victims
        self._done = done
        self._what = what
        self._scene = scene
        self.root = root
        self.said: list[dict[str, object]] = []
        if not made:
            root.mkdir()

    def play(self, story: str, fault: Fault | None = None, **options: object) -> Ended:
        """Let a process play a story, and what must be prepared for it."""
        if before := stories.PREPARED.get(story):
            self.heard(self._victims.run("scenes.play", story=before, root=str(self.root), **self._scene))
        return self.heard(
            self._victims.run(
                "scenes.play", fault, story=story, root=str(self.root), **options, **self._scene
            )
        )

    def heard(self, ended: Ended) -> Ended:
        """Note what a process has said, and how it ended."""
        self.said += ended.said
        complete = ended.how == "killed" or (
            ended.how == "exit" and any("done" in each for each in ended.said)
        )
        if not complete:
            self.found(f"ended by {ended.how}", ended.trace)
        for each in ended.said:
            if "wrong" in each or "foreign" in each:
                kind = each.get("wrong") or f"{each['foreign']} from {each['at']}"
                self.found(kind, f"{ended.calls.get('where', '')}\n{each.get('text', '')}")
        return ended

    def errors(self) -> collections.Counter[str]:
        """Errors of ours that verbs met."""
        return collections.Counter(str(each["error"]) for each in self.said if "error" in each)

    def found(self, what: str, text: str = "") -> None:
        """Note what must not be."""
        self._done.found.append(f"{self._what}: {what}\n{text}".rstrip().replace("\n", "\n    "))

    def judge(self, story: str = "") -> None:
        """Compare the store with what was said, and remove it."""
        ended = self._victims.run(
            "judge.judged", root=str(self.root), said=self.said, story=story, **self._scene
        )
        self.said = []
        self.heard(ended)
        self.close(ended)

    def close(self, judged: Ended) -> None:
        """Count what a judge has seen, and remove the store."""
        for each in judged.said:
            for name, count in each.get("figures", {}).items():
                if name == "kept":
                    self._done.figures["artifacts that were acknowledged"] += count
                elif "lost" in name:
                    self._done.figures[name] += count
        shutil.rmtree(self.root)
