"""The command-line page shows what ``--help`` prints."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def generator():
    """``docs/generate_cli.py`` as a module."""
    spec = importlib.util.spec_from_file_location("generate_cli", ROOT / "docs" / "generate_cli.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_help_of_every_command():
    """Running ``python docs/generate_cli.py`` would change nothing."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert generator().rendered(page) == page
