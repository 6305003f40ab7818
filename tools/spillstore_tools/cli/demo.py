"""The main job, shown: ``python -m spillstore_tools.cli.demo [BYTES [FOLDER]]``.

The noise is a log as ``make -k`` prints it, the same each time, in whose middle one file does not compile. What is shown
are real commands, run by a shell as they are printed; so each of them can be typed again. The store stays in ``FOLDER``
(``.demo``) until the next time.
"""

# ruff: noqa: T201, S602  # to print is what it is for; commands are run as they are printed, and are our own

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore import Store
from spillstore.exceptions import SessionNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BYTES = 32_000_000
_FOLDER = ".demo"
_NOISE = "noise"  # the argument with which this module is its own noisy command
_FAILED = 2  # the exit code of make
_LIMIT = 8000  # characters that a model is shown
_ENDS = 3  # lines that are shown of what is longer
_AROUND = 3  # lines before and behind the error that are shown of the preview
_ERROR = "error: no matching function"
_PLACES = ("net/socket", "core/error_codes", "ui/window", "db/cursor", "io/failed_reads", "core/parser")
_WARNING = """\
src/{name}.cpp: In function 'int check(const Options&)':
src/{name}.cpp:88:17: warning: unused parameter 'options' [-Wunused-parameter]
   88 | int check(const Options& options) {{
      |           ~~~~~~~~~~~~~~~^~~~~~~
"""
_WRONG = f"""\
src/{{name}}.cpp: In function 'int load(const std::string&)':
src/{{name}}.cpp:214:23: {_ERROR} for call to 'parse(const std::string&, int)'
  214 |     auto tree = parse(text, depth);
      |                 ~~~~~^~~~~~~~~~~~~
make[2]: *** [src/CMakeFiles/app.dir/build.make:{{line}}: src/CMakeFiles/app.dir/{{name}}.cpp.o] Error 1
"""


class DemoError(Exception):
    """A step did not do what it must."""


def noise(size: int) -> Iterator[str]:
    """A log of about so many bytes: a file after the other is compiled, some with warnings, the one in the middle wrongly."""
    written, number, failed = 0, 0, False
    while written < size:
        name = f"{_PLACES[number % len(_PLACES)]}_{number:06}"
        text = (
            f"[{100 * written // size:3}%] Building CXX object src/CMakeFiles/app.dir/{name}.cpp.o\n"
            f"c++ -O2 -g -Wall -Werror=return-type -std=c++20 -c src/{name}.cpp -o src/app.dir/{name}.cpp.o\n"
        )
        if not failed and 2 * written >= size:
            failed = True
            text += _WRONG.format(name=name, line=7 * number)
        elif number % 9 == 0:
            text += _WARNING.format(name=name)
        yield text
        written, number = written + len(text), number + 1
    yield f"[100%] {number - 1} of {number} files were built\nmake: Target 'all' not remade because of errors.\n"


class Demo:
    """Prints commands, runs them in a shell, and knows how long they took.

    Args:
        folder: where the store is.
    """

    def __init__(self, folder: Path) -> None:
        self.times: list[tuple[str, float]] = []
        self._place = f"--root {shlex.quote(_typed(folder))} --session demo"
        self._program = shlex.quote(_typed(Path(sys.executable).parent / "spillstore"))
        self._env = {name: value for name, value in os.environ.items() if not name.startswith("SPILLSTORE_")}
        self._env["SPILLSTORE_FREE_DISK_FLOOR"] = "0"

    def command(self, arguments: str, rest: str = "") -> str:
        """A command as it is typed."""
        name, _, others = arguments.partition(" ")
        return f"{self._program} {name} {self._place} {others}{rest}"

    def call(self, what: str, command: str, *, exit_code: int = 0) -> list[str]:
        """Run a command; returns the lines that it printed."""
        print(f"\n{what}\n$ {command}", flush=True)
        started = time.monotonic()
        done = subprocess.run(command, shell=True, env=self._env, stdout=subprocess.PIPE, check=False)
        self.times.append((what, time.monotonic() - started))
        text = done.stdout.decode()
        if done.returncode != exit_code:
            raise DemoError(f"`{command}` failed with exit code {done.returncode}:\n{text}")
        return text.splitlines()

    def show(self, what: str, command: str) -> None:
        """The same, and what it printed is printed."""
        print("\n".join(self.call(what, command)))


def _typed(path: Path) -> str:
    """A path as short as it can be typed in the folder we are in."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  # the interpreter is a link, and is not to be followed
    return str(absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else absolute)


def _print_ends(lines: list[str]) -> None:
    """The first and the last of some lines."""
    print(*lines[:_ENDS], f"    ({len(lines) - 2 * _ENDS} more lines)", *lines[-_ENDS:], sep="\n")


def _print_preview(lines: list[str]) -> int:
    """Print a preview's part about the error; returns the number of the error's line."""
    notice = next(number for number, line in enumerate(lines) if line.endswith("]")) + 1
    error = next((number for number, line in enumerate(lines) if _ERROR in line), None)
    if error is None:
        raise DemoError("the preview does not show the error")
    first, last = error - _AROUND, error + _AROUND + 1
    print(*lines[: notice + 1], f"    ({first - notice - 1} more lines)", *lines[first:last], sep="\n")
    print(f"    ({len(lines) - last - _ENDS} more lines)", *lines[-_ENDS:], sep="\n")
    return int(lines[error].partition(":")[0])


def _run(folder: Path, size: int) -> None:
    demo = Demo(folder)
    _forget(folder)
    python = shlex.quote(_typed(Path(sys.executable)))
    build = f"-- {python} -m spillstore_tools.cli.demo {_NOISE} {size}"
    print(
        f"A build prints {size / 1e6:.0f} MB, and one of its files does not compile: the one in the middle."
    )
    preview = demo.call(
        "Run it, store all it prints, show what matters:", demo.command(f"run {build}"), exit_code=_FAILED
    )
    line = _print_preview(preview)
    chars = sum(len(each) + 1 for each in preview)
    print(f"That is {chars:,} characters, and the error is among them.")

    half = _LIMIT // 2
    shown: list[str] = []
    for which, end in (("first", "head"), ("last", "tail")):
        lines = demo.call(
            f"The {which} {half:,} characters of the same:", demo.command("cat @last", f" | {end} -c {half}")
        )
        _print_ends(lines)
        shown += lines
    found = sum(_ERROR in each for each in shown)
    print(f"That is {_LIMIT:,} characters, too, and they show {found or 'no'} error.")

    demo.show("Find all errors:", demo.command("search 'error: ' @last"))
    demo.show("Read around the one:", demo.command(f"show @last --lines {line - 2}-{line + 3}"))
    demo.show("Check all that is stored, every digest:", demo.command("verify @last"))
    print("\nSeconds, the start of each process included:")
    for what, seconds in demo.times:
        print(f"{seconds:6.2f}  {what.rstrip(':')}")
    print(f"\nThe store stays in {_typed(folder)}. Your turn; this works as it stands here:")
    print(demo.command(f"show @last --lines {line - 20}-{line + 20}"))


def _forget(folder: Path) -> None:
    """Delete what the demonstration before has stored."""
    with contextlib.suppress(SessionNotFoundError):
        Store(folder, free_disk_floor=0).delete("demo")


def main() -> int:
    """Run it; returns the exit code."""
    if sys.argv[1:2] == [_NOISE]:
        sys.stdout.writelines(noise(int(sys.argv[2])))
        return _FAILED
    size = int(sys.argv[1]) if len(sys.argv) > 1 else _BYTES
    try:
        _run(Path(sys.argv[2] if len(sys.argv) > 2 else _FOLDER), size)  # noqa: PLR2004  # the second argument
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
