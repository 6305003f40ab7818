"""The command-line page shows what ``--help`` prints."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_has_the_help_of_every_command():
    """Running ``python docs/generate_cli.py`` would change nothing."""
    rendered = runpy.run_path(str(DOCS / "generate_cli.py"))["rendered"]
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert rendered(page) == page
