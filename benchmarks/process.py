"""A command, and what it cost: wall clock, processor time, and what it printed."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

_ROOT = Path(__file__).parent.parent


class Cost(NamedTuple):
    """Seconds of wall clock and of processor time, its own threads and children included."""

    wall: float
    cpu: float
    output: str


def run(command: list[str]) -> Cost:
    """Run a command to its end; everything dirty is on disk before, so that nobody pays for the one before."""
    os.sync()
    begin = time.perf_counter()
    child = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Cost(wall, usage.ru_utime + usage.ru_stime, output)


def python(module: str, *arguments: object) -> dict[str, Any]:
    """Run a module of ours in a fresh interpreter and parse what it prints."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    answer: dict[str, Any] = json.loads(run(command).output)
    return answer


def cpu_seconds() -> float:
    """Processor time of this process so far, all threads."""
    return _cpu_seconds(resource.RUSAGE_SELF)


def children_cpu_seconds() -> float:
    """Processor time of all processes of ours that have ended."""
    return _cpu_seconds(resource.RUSAGE_CHILDREN)


def _cpu_seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def peak_bytes() -> int:
    """The most memory this program had at once.

    Linux hands ``ru_maxrss`` down from the parent through fork and exec, so there the high-water mark of this address
    space is read instead.
    """
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
