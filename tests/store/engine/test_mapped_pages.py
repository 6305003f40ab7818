"""A file is read by mapping it into memory, and no more of it stays there than was read last."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support import NO_FLOORS

from spillstore import Store

pytestmark = [
    pytest.mark.files,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]
SIZE = 96 * 1024 * 1024
SCRIPT = """
import sys
from spillstore import Store

def held(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0]) // 1024

with Store(sys.argv[1]).session("s", read_only=True) as session:
    (artifact,) = session.artifacts()
    before = held("VmHWM")
    if sys.argv[2] == "search":
        artifact.search("nothing of the kind")
    elif sys.argv[2] == "read":
        for block in artifact.chunks():
            pass
    else:
        artifact.verify()
    print(held("VmHWM") - before)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The root of a store with an artifact that does not compress."""
    root = tmp_path_factory.mktemp("large") / "root"
    with Store(root, redact=False, **NO_FLOORS).session("s") as session:
        session.put(os.urandom(SIZE), source="test", newline="lf", limit=2 * SIZE)
    return root


@pytest.mark.long
@pytest.mark.parametrize("how", ["search", "read", "verify"])
def test_memory_does_not_grow_with_what_is_read(large, how):
    """A process that has read all of a large artifact has taken far less memory than that."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(large), how], stdout=subprocess.PIPE, text=True, check=True
    )
    assert int(done.stdout) < 64
