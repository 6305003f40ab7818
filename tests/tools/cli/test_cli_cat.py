"""``spillstore cat``: exact bytes, in flat memory, into any pipe."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.everywhere

CAT = f'"{sys.executable}" -m spillstore_tools.cli cat @last'


@pytest.mark.parametrize("data", [b"", b"no end", b"\x00\xff\r\n\x1b[31m", os.urandom(1_000_000)])
def test_exact_bytes(cli, put, data):
    """What comes out is what went in."""
    put(data)
    answer = cli("cat", "@last")
    assert (answer.code, answer.out, answer.err) == (0, data, "")


def test_stream(cli, store):
    """One stream alone."""
    with store.session("default") as session, session.create() as writer:
        writer.write("out\n")
        writer.write("err\n", stream="stderr")
    assert cli("cat", "@last", "--stream", "stderr").out == b"err\n"
    assert cli("cat", "@last").out == b"out\nerr\n"


@pytest.mark.long
def test_broken_pipe_is_quiet(put):
    """A reader that has seen enough ends us as it ends ``cat``: by SIGPIPE, without a word."""
    put(b"line\n" * 1_000_000)
    process = subprocess.Popen(CAT, shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"line\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(120) in {-13, 141}


@pytest.mark.long
def test_head_in_a_pipeline(put):
    """``| head`` works."""
    put(b"".join(b"%d\n" % number for number in range(500_000)))
    done = subprocess.run(f"{CAT} | head -n 2", shell=True, capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"0\n1\n", b"")


def test_hole(cli, rolled):
    """What lacks a part is refused before a byte is written, unless that is allowed, and then it is reported."""
    answer = cli("cat", rolled)
    assert (answer.code, answer.out) == (125, b"")
    assert "--skip-holes" in answer.err
    answer = cli("cat", rolled, "--skip-holes")
    assert answer.code == 0
    assert answer.err == (
        f"spillstore: {13_000 - len(answer.out):,} bytes (9 KiB) are missing here: "
        "they were dropped at the artifact's limit\n"
    )


def test_hole_in_the_other_stream_is_none(cli, store):
    """A stream that lost nothing is written without more ado."""
    with store.session("default") as session, session.create(limit=4096) as writer:
        writer.write("err\n", stream="stderr")
        for number in range(1000):
            writer.write(f"line {number:07}\n")
    assert cli("cat", "@last", "--stream", "stderr").out == b"err\n"
    assert cli("cat", "@last", "--stream", "stdout").code == 125


@pytest.mark.long
def test_memory_is_flat(put):
    """A large artifact takes no more memory than a small one."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("there is no /proc to ask; ru_maxrss begins with that of the parent")
    script = (
        "import sys\nfrom spillstore_tools.cli import main\n"
        "try:\n    main(['cat', '@last'])\nexcept SystemExit:\n"
        "    lines = open('/proc/self/status').read().split('\\n')\n"
        "    print(*(line.split()[1] for line in lines if line.startswith('VmHWM')), file=sys.stderr)"
    )

    def peak_kib() -> int:
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
        )
        return int(done.stderr)

    put(b"x" * 1000)
    small = peak_kib()
    put(b"a line of text\n" * 65536 for _ in range(100))
    assert peak_kib() - small < 16 * 1024
