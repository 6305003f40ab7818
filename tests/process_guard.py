"""Ends processes whose parent has been killed, and removes their folders; and what tests need to know of processes.

``python process_guard.py FOLDER ...`` reads lines from its standard input: ``+PID`` of a process that has begun, ``-PID``
of one that has ended. When the input ends, or its own parent is gone, it kills what is left with all descendants. It is
a process of its own, since one that is killed with ``kill -9`` cannot end its children, and works where there is no
``prctl`` as well, which besides would kill them when the thread ends that has started them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path


def processes():
    """Of each process its parent and its state: ``Z`` for one that is dead, but not waited for, ``T`` for a stopped one."""
    found = {}
    if Path("/proc/self/stat").exists():
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
                found[int(entry.name)] = int(parent), state
    else:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,state="], check=True, capture_output=True, text=True
        )
        for line in listed.stdout.splitlines():
            pid, parent, state = line.split()[:3]
            found[int(pid)] = int(parent), state[0]
    return found


def family(pid):
    """A process and its descendants, parents first; nothing if it is dead."""
    alive = {each: parent for each, (parent, state) in processes().items() if state != "Z"}
    found = [pid] if pid in alive else []
    for member in found:
        found += sorted(each for each, parent in alive.items() if parent == member)
    return found


def send(pid, number):
    """Send a signal to a process, which may be gone already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def stop(pids):
    """Stop processes until SIGCONT, and wait until they stand still."""
    for pid in pids:
        send(pid, signal.SIGSTOP)
    _wait(pids, "TZ")


def kill_family(pid):
    """Kill a process and its descendants, and wait until they are dead. The caller waits for its own children."""
    stop([pid])  # so that it starts no more
    pids = family(pid)
    for each in pids:
        send(each, signal.SIGKILL)
    _wait(pids, "Z")


def _wait(pids, states):
    """Wait until each process is gone, or in one of some states."""
    while True:
        now = processes()
        if all(pid not in now or now[pid][1] in states for pid in pids):
            return
        time.sleep(0.002)


def guard(*folders):
    """Wait until nobody is left who could end the processes in these folders, and end them."""
    parent, pids, rest = os.getppid(), set(), b""
    while os.getppid() == parent:
        if not select.select([0], [], [], 1)[0]:
            continue
        if not (data := os.read(0, 65536)):
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            (pids.add if line[:1] == b"+" else pids.discard)(int(line[1:]))
    for pid in pids:
        kill_family(pid)
    for folder in folders:
        for path in Path(folder).glob("*/postmaster.pid"):
            _remove_shared_memory(path.read_text().splitlines())
        shutil.rmtree(folder)


def _remove_shared_memory(lines):
    """Remove the segment that a killed PostgreSQL leaves, a few bytes that tell the next one of a server still alive."""
    if len(lines) > 6:
        ctypes.CDLL(None).shmctl(int(lines[6].split()[1]), 0, None)  # IPC_RMID


if __name__ == "__main__":
    guard(*sys.argv[1:])
