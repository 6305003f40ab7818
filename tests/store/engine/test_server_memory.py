"""A process with a store on a server takes little more memory than one with a store in a folder, however much it stores.

Pages of files are not counted: how many of a library's are mapped with one that is touched depends on how its file came to the disk.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("psycopg")

SCRIPT = """
import sys
from spillstore import Store

root, size = sys.argv[1], int(sys.argv[2])
options = {} if "://" in root else {"free_disk_floor": 0}
line = b"".join(b"%d of what a tool has printed, more or less\\n" % number for number in range(20000))
with Store(root, artifacts_per_minute=0, **options).session("s") as session:
    for _ in range(3):
        with session.create(redact=False) as writer:
            for _ in range(size):
                writer.write(line)
        artifact = session.artifact(writer.id)
        for block in artifact.chunks():
            pass
        artifact.search("nothing of the kind")
    session.check()
with open("/proc/self/status") as status:
    now = {name: int(value.split()[0]) for name, _, value in (each.partition(":") for each in status) if name in {"VmHWM", "RssFile"}}
print(now["VmHWM"] - now["RssFile"])
"""


def peak(root, size):
    """The most memory that a process had, in MiB, without the pages of files that it has at its end."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(root), str(size)], stdout=subprocess.PIPE, text=True, check=True
    )
    return int(done.stdout) / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_as_with_a_folder(server_url, tmp_path):
    """At most 15 MiB more, psycopg and libpq included."""
    peak(server_url, 1)
    folder = min(peak(tmp_path / str(number), 30) for number in range(2))
    there = min(peak(server_url, 30) for _ in range(2))
    larger = peak(server_url, 90)
    print(f"folder {folder:.1f} MiB, server {there:.1f}, three times as much {larger:.1f}")
    assert there <= folder + 15
    assert larger <= there + 15
