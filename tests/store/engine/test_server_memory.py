"""A process with a store on a server takes little more memory than one with a store in a folder, however much it stores.

Pages of files are not counted: how many of a library's are mapped with one that is touched depends on how its file came to the disk.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("psycopg")

SCRIPT = '''
import sys
from spillstore import Store

def private():
    """The memory that is this process's alone now, in KiB."""
    with open("/proc/self/status") as status:
        return next(int(each.split()[1]) for each in status if each.startswith("RssAnon"))

root, size = sys.argv[1], int(sys.argv[2])
options = {} if "://" in root else {"free_disk_floor": 0}
line = b"".join(b"%d of what a tool has printed, more or less\\n" % number for number in range(20000))
seen = []
with Store(root, artifacts_per_minute=0, **options).session("s") as session:
    for _ in range(3):
        with session.create(redact=False) as writer:
            for _ in range(size):
                writer.write(line)
                seen.append(private())
        artifact = session.artifact(writer.id)
        for block in artifact.chunks():
            seen.append(private())
        artifact.search("nothing of the kind")
        seen.append(private())
    session.check()
    seen.append(private())
print(max(seen))
'''


def peak(root, size):
    """The most memory of its own that a process had at any of its steps, in MiB; pages of files, which all share, apart."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(root), str(size)], stdout=subprocess.PIPE, text=True, check=True
    )
    return int(done.stdout) / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_as_with_a_folder(server_url, tmp_path):
    """At most 15 MiB more, psycopg and libpq included."""
    peak(server_url, 1)
    folder = peak(tmp_path / "root", 30)
    there = peak(server_url, 30)
    larger = peak(server_url, 90)
    print(f"folder {folder:.1f} MiB, server {there:.1f}, three times as much {larger:.1f}")
    assert there <= folder + 15
    assert larger <= there + 15
