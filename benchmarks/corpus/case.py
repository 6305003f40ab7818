"""A case: a name, what kind of output it is, in which language, which commands it needs, and how it is made.

A maker is a function that is given a ``Place``, an empty folder. It writes files, runs commands, and what they print is
the output: both streams in the order in which they came.

What matters in a pipeline's log rarely stands at its end. So tests, builds and scripts are part of one where the digest of
their names says so: steps that succeed come before (two of five), after (three of five), or both. They work on the 1,000
files of Python's own library: they are packed, copied, or summed up for a cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.corpus.tools import NODE_MODULES, search_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KINDS = ("test", "build", "script", "log", "listing", "data", "success")
_IN_PIPELINES = ("test", "build", "script")
_LIBRARY = (
    "cache=$PWD.cache; mkdir -p $cache; cd \"$(python -c 'import os; print(os.path.dirname(os.__file__))')\"\n"
    "find . -name '*.py' -not -path './site-packages/*' -not -path './test/*' -print0 | sort -z |"
)
_STEPS = (
    "tar --null -T - -cvvf /dev/null",
    "xargs -0 cp -v --parents -t $cache",
    "xargs -0 sha256sum",
)
_SECONDS = 240
_DATE = "2026-03-14T09:26:53+0000"


class Place:
    """Where an output is made. ``output`` grows with each command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = bytearray()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files, by their paths in the folder."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def node_modules(self) -> None:
        """Let programs of this folder find the packages of ``tools``."""
        (self.folder / "node_modules").symlink_to(NODE_MODULES)

    def run(
        self,
        *command: str,
        language: str | None = None,
        keep: bool = True,
        given: bytes = b"",
        seconds: float = _SECONDS,
        **variables: str,
    ) -> bytes:
        """Run a command; what it prints, which belongs to the output unless ``keep`` is false."""
        environment = self.environment() | variables
        if language is not None:
            environment["LANGUAGE"] = language
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        if keep:
            self.output += printed
        return printed

    def shell(self, script: str, **options: str | bool | None) -> bytes:
        """Run a script of bash."""
        return self.run("bash", "-c", script, **options)

    def environment(self) -> dict[str, str]:
        """What commands see: no colours, fixed dates, English unless a language is asked for."""
        home = Path.home()
        return {
            "PATH": search_path(),
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "COLUMNS": "100",
            "PYTHONHASHSEED": "0",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "SOURCE_DATE_EPOCH": "1773480413",
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(home / ".rustup")),
            "CARGO_HOME": str(self.folder / ".cargo"),
            "CARGO_NET_OFFLINE": "true",
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=mod",
            "NODE_PATH": str(NODE_MODULES),
            "NO_UPDATE_NOTIFIER": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_AUTHOR_DATE": _DATE,
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_COMMITTER_DATE": _DATE,
        }


class Case(NamedTuple):
    """One output."""

    name: str
    kind: str
    language: str
    needs: tuple[str, ...]
    make: Callable[[Place], None]
    alone: bool = False

    @property
    def half(self) -> str:
        """``seen`` or ``held_out``: a bit of the name's digest decides."""
        return half(self.name)

    def fill(self, place: Place) -> None:
        """Make the output, and what stands before and after it in its pipeline."""
        before, after = self.steps
        for step in before:
            place.shell(f"{_LIBRARY} {step}")
        self.make(place)
        for step in after:
            place.shell(f"{_LIBRARY} {step}")

    @property
    def steps(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Scripts of the steps before and after it."""
        if self.alone or self.kind not in _IN_PIPELINES:
            return (), ()
        _, before, after, which, *_ = hashlib.sha256(self.name.encode()).digest()
        first, second = _STEPS[which % len(_STEPS)], _STEPS[(which + 1) % len(_STEPS)]
        return (first,) * (before % 5 < 2), (second,) * (after % 5 < 3)

    @property
    def missing(self) -> list[str]:
        """Commands that it needs and this machine does not have."""
        return [name for name in self.needs if shutil.which(name, path=search_path()) is None]


CASES: dict[str, Case] = {}


def half(name: str) -> str:
    """The half that a name falls into."""
    return "held_out" if hashlib.sha256(name.encode()).digest()[0] & 1 else "seen"


def case(
    name: str, kind: str, *needs: str, language: str = "en", alone: bool = False
) -> Callable[[Callable[[Place], None]], Callable[[Place], None]]:
    """Register a maker; what is ``alone`` is part of no pipeline."""
    if kind not in KINDS or name in CASES:
        raise ValueError(name)

    def register(make: Callable[[Place], None]) -> Callable[[Place], None]:
        CASES[name] = Case(name, kind, language, needs, make, alone)
        return make

    return register
