"""The demonstration works, end to end."""

from __future__ import annotations

import os
import subprocess
import sys


def test_demo(tmp_path):
    """It stores, reads, checks and deletes in front of the reader, and leaves nothing behind."""
    done = subprocess.run(
        [sys.executable, "-m", "spillstore_tools.demo", "400000"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        "a part is shown. Artifact art_",
        " lines omitted: start_line=",
        "; exit code 0]",
        "Estimated tokens: ",
        "is whole: ",
        "Removed 1 artifact ",
        " s  read 5 lines",
    ):
        assert words in done.stdout
    assert list(tmp_path.iterdir()) == []
