"""A small disk is filled by a store, its tools and others: each call answers, nothing is wrong or lost, and with room all works again."""

from __future__ import annotations

import contextlib
import shutil
import subprocess

import campaigns
from cases import Case, drawn
from victims import Victims


class Campaign(campaigns.Base):
    """A round is a disk of 3 to 8 MB that is filled, used and emptied three times by one process; then it is judged."""

    about = "a disk of a few megabytes filled, used while it is full, and given room again"
    rounds = 100
    short = ((0, 1.0),)

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        with _disk(folder / "probe", 1):
            pass
        self._victims = Victims(folder, library="")

    def play(self, number, done, share=1.0):
        """Fill a disk."""
        dice = self.dice(number)
        scene = drawn(dice)
        scene["settings"]["busy_timeout"] = 0.5
        size = dice.choice((3, 4, 6, 8))
        with _disk(self.folder / f"{number}", size) as disk:
            case = Case(self._victims, disk / "scene", done, f"a disk of {size} MB, {scene}", scene)
            ended = case.heard(
                self._victims.run(
                    "fillings.play",
                    root=str(case.root),
                    disk=str(disk),
                    seed=f"{self.seed} {number}",
                    **scene,
                )
            )
            filled = [each["failed"] for each in ended.said if "filled" in each]
            done.figures["fillings"] += len(filled)
            done.figures["calls that failed"] += max(filled, default=0)
            foreign_to_room = {*case.errors()} - {"DiskFullError", "StorageError", "SessionBusyError"}
            if foreign_to_room:
                texts = [each for each in case.said if each.get("error") in foreign_to_room]
                case.found(f"other errors than a full disk is: {foreign_to_room}", f"{texts}"[:2000])
            case.judge()

    def close(self):
        """End the program."""
        self._victims.close()


@contextlib.contextmanager
def _disk(folder, size):
    """A disk of so many megabytes.

    Raises:
        NotHereError: this user may not mount one.
    """
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        raise campaigns.NotHereError("this user may not mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()
