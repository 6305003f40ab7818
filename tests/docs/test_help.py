"""The command-line page shows what ``--help`` prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_has_the_help_of_every_command():
    """Running ``python docs/generate_cli.py`` would change nothing.

    In a process of its own: commands keep the help option that they were called with first.
    """
    script = f"import runpy, sys; print(runpy.run_path({str(DOCS / 'generate_cli.py')!r})['rendered'](sys.stdin.read()), end='')"
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", script],
        input=page,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == page
