"""Peers that are commands: a file kept by ``tee`` or ``zstd``, read by ``tail``, ``sed``, ``rg`` or ``grep``."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SEARCH = {"rg": "rg -a -n -F --no-filename -e {needle} {file}", "grep": "grep -a -n -F -e {needle} {file}"}


class Command:
    """A file and the commands that write, read and search it; ``{}`` marks what is filled in."""

    store_command = "tee {file} < {text} > /dev/null"
    lines_command = ""
    search_command = ""
    needs: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        self._file = folder / "output"

    @classmethod
    def missing(cls) -> str:
        """What has to be installed."""
        return ", ".join(name for name in cls.needs if shutil.which(name) is None)

    def store(self, text: Path) -> None:
        """Keep a text."""
        self._run(self.store_command, text=text)

    def open(self) -> None:
        """Nothing: a file is there."""

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        return self._run(self.lines_command, first=first, last=last, count=last - first + 1)

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        found = self._run(self.search_command, needle=needle)
        return [int(number) for number in re.findall(rb"^(\d+):", found, re.MULTILINE)]

    def whole(self) -> bytes:
        """All of it."""
        return self._file.read_bytes()

    def _run(self, command: str, **values: object) -> bytes:
        quoted = {name: shlex.quote(str(value)) for name, value in {"file": self._file, **values}.items()}
        done = subprocess.run(["sh", "-c", command.format(**quoted)], check=True, stdout=subprocess.PIPE)
        return done.stdout


class TeeSedRg(Command):
    """A file, lines by ``sed``, search by ``rg``."""

    lines_command = "sed -n {first},{last}p\\;{last}q {file}"
    search_command = _SEARCH["rg"]
    needs = ("tee", "sed", "rg")


class TeeTailGrep(Command):
    """A file, lines by ``tail`` and ``head``, search by ``grep``."""

    lines_command = "tail -n +{first} {file} | head -n {count}"
    search_command = _SEARCH["grep"]
    needs = ("tee", "tail", "grep")


class Zstd(Command):
    """One stream of zstd, decompressed for each answer."""

    store_command = "zstd -1 -T1 -q -f {text} -o {file}"
    lines_command = "zstd -dcq {file} | sed -n {first},{last}p"
    search_command = "zstd -dcq {file} | rg -a -n -F -e {needle}"
    needs = ("zstd", "sed", "rg")

    def whole(self) -> bytes:
        """All of it."""
        return self._run("zstd -dcq {file}")
