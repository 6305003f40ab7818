"""What several tests share and none owns."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time

import pytest
from hypothesis import HealthCheck, settings

# How many times the usual number of examples a property is tried with. From 2 on they are drawn anew in every run;
# at 1 they are the same in all, so that a change is judged by what it changes.
FACTOR = int(os.environ.get("SPILLSTORE_TEST_FACTOR", "1"))

# What the machine happens to have free is not what these tests are about.
NO_FLOORS = {"free_disk_floor": 0, "artifacts_per_minute": 0}


class ManualClock:
    """Time that stands still until a test moves it."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def examples(count: int = 60, **options) -> settings:
    """The settings of a property that is tried with ``count`` examples."""
    return settings(
        max_examples=count * FACTOR,
        derandomize=FACTOR == 1,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **options,
    )


def wait_until(condition, seconds=60.0):
    """Wait for what must come; how soon is not what a test is about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


@contextlib.contextmanager
def rolling(root, limit):
    """A session and the id of its artifact, which drops its middle all the while: line N is ``line N-1`` in nine digits."""
    from spillstore import Store  # most who need this module need no store

    ended = threading.Event()
    store = Store(root, artifact_limit=limit, **NO_FLOORS)
    with store.session("rolls") as session, session.create(source="x") as writer:

        def write():
            number = 0
            while not ended.is_set():
                writer.write(b"".join(b"line %09d\n" % each for each in range(number, number + 5000)))
                number += 5000

        thread = threading.Thread(target=write)
        thread.start()
        try:
            yield session, writer.id
        finally:
            ended.set()
            thread.join()


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk of its own for a folder, of ``size`` as mount understands it; skips the test where this user may not mount."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    """Take what is free on the disk of a folder, to the last byte."""
    with contextlib.suppress(OSError), open(os.path.join(folder, "fill"), "ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))
