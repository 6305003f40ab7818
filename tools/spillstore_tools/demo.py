"""The main job, shown: ``python -m spillstore_tools.demo [BYTES]``.

The noise is a byte-compilation of Python's own library that lists every instruction, since every machine that can run
this has that. It is compiled from a copy in a temporary folder, where the store lies, too. Everything goes through the
real command line; the times are those of whole processes, their start included.
"""

# ruff: noqa: T201  # to print is what it is for

from __future__ import annotations

import dis
import io
import json
import os
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

_BYTES = 32_000_000
_NOISE = "noise"  # the argument with which this module is its own noisy command
_LINES, _WIDTH = 5, 118  # of each end of the preview
_GAPS = 2  # of the preview that are shown, each with the two lines behind it
_SHORTENED = "(shortened by this demonstration)"


class DemoError(Exception):
    """A step did not do what it must."""


class Demo:
    """Runs commands in a folder of its own, prints them, what they print, and how long they take.

    Attributes:
        times: what each step was, and its seconds.
    """

    def __init__(self, folder: Path) -> None:
        self.times: list[tuple[str, float]] = []
        self._folder = folder
        ours = {name: value for name, value in os.environ.items() if not name.startswith("SPILLSTORE_")}
        self._env = {
            **ours,
            "SPILLSTORE_ROOT": str(folder / "store"),
            "SPILLSTORE_SESSION": "demo",
            "SPILLSTORE_FREE_DISK_FLOOR": "0",
        }

    def call(self, what: str, *arguments: str) -> str:
        """One ``spillstore`` command, timed; returns what it printed."""
        shown = [argument.replace(sys.executable, "python") for argument in arguments]
        print(f"\n$ spillstore {' '.join(shown)}", flush=True)
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "spillstore_tools.cli", *arguments],
            env=self._env,
            stdout=subprocess.PIPE,
            check=False,
        )
        self.times.append((what, time.monotonic() - started))
        if done.returncode:
            raise DemoError(
                f"`spillstore {' '.join(shown)}` failed with exit code {done.returncode}:\n{done.stdout.decode()}"
            )
        return done.stdout.decode()

    def show(self, what: str, *arguments: str) -> None:
        """The same, and what it printed is printed."""
        print(self.call(what, *arguments), end="")

    def disk(self) -> int:
        """Bytes that the store's files take."""
        return sum(path.stat().st_size for path in (self._folder / "store").rglob("*") if path.is_file())


def make_noise(folder: Path, size: int) -> None:
    """Compile every module in ``folder`` and list its instructions, again and again, until there are ``size`` bytes."""
    written = 0
    while written < size:
        for module in sorted(folder.glob("*.py")):
            print(f"compiling {module.name}", file=sys.stderr, flush=True)
            py_compile.compile(str(module), cfile=str(module.with_suffix(".pyc")), doraise=True)
            listing = io.StringIO()
            dis.dis(compile(module.read_bytes(), str(module), "exec"), file=listing)
            written += sys.stdout.write(f"{module.name}\n{listing.getvalue()}\n")
            sys.stdout.flush()
            if written >= size:
                return


def _copy_library(folder: Path) -> int:
    """Copy the modules at the top of the standard library; returns how many."""
    folder.mkdir()
    count = 0
    for module in Path(sysconfig.get_path("stdlib")).glob("*.py"):
        shutil.copyfile(module, folder / module.name)
        count += 1
    return count


def _shorten(preview: str) -> str:
    """The notice, both ends and the gaps of a preview, which is too long for a demonstration."""
    lines = preview.splitlines()
    notice = next(number for number, line in enumerate(lines) if line.endswith("]")) + 1
    gaps = [number for number, line in enumerate(lines) if line.startswith("[... ")]
    kept = [*lines[: notice + _LINES], _SHORTENED]
    for number in gaps[:_GAPS]:
        kept += [*lines[number : number + 3], _SHORTENED]
    kept += lines[-_LINES:]
    return "\n".join(line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..." for line in kept)


def _run(folder: Path, size: int) -> None:
    modules = _copy_library(folder / "library")
    print(f"A noisy command: byte-compile {modules} modules of Python's library and list every instruction.")
    demo = Demo(folder)
    noise = [sys.executable, "-m", "spillstore_tools.demo", _NOISE, str(folder / "library"), str(size)]
    print(_shorten(demo.call("run the command, store and preview its output", "run", "--", *noise)))

    demo.show("tell what is known of it", "info", "@last")
    info = json.loads(demo.call("the same for programs", "info", "@last", "--json"))
    print(f"(the same as JSON, {len(info)} fields)")
    line, byte = info["lines"] // 2, info["size"] // 2
    demo.show("read 5 lines from the middle", "show", info["id"], "--lines", f"{line}-{line + 4}")
    demo.show("read 200 bytes from the middle", "show", info["id"], "--bytes", f"{byte}-{byte + 200}")
    print()
    demo.show("read the end of stderr alone", "tail", "@last", "-n", "3", "--stream", "stderr")
    demo.show("read everything, compare every digest", "verify", "@last")

    disk = demo.disk()
    print(
        f"\nraw {info['size']:,} bytes, compressed {info['stored_size']:,}, on disk with index and digests {disk:,}: "
        f"{info['size'] / disk:.1f} : 1"
    )
    demo.show("delete the session", "clean")
    print("\nEach step as a process of its own:")
    for what, seconds in demo.times:
        print(f"  {seconds:6.2f} s  {what}")
    print(
        "\nNext: spillstore --help, then `spillstore run -- YOUR COMMAND`; the manual begins in docs/index.md."
    )


def main() -> int:
    """Run it; returns the exit code."""
    if sys.argv[1:2] == [_NOISE]:
        make_noise(Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    size = int(sys.argv[1]) if len(sys.argv) > 1 else _BYTES
    try:
        with tempfile.TemporaryDirectory(prefix="spillstore-demo-") as folder:
            _run(Path(folder), size)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
