"""docs/reliability.md: what it says attacks a promise is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_each_promise_names_what_attacks_it():
    """Each row of the tables of promises names tests, or files of tests, that exist."""
    rows = re.findall(r"^\| (?!promise|-|run)(.*) \|$", PAGE.partition("## The campaign")[0], re.MULTILINE)
    assert len(rows) > 10
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    tests = {name for text in files.values() for name in re.findall(r"def (test_\w+)", text)}
    for row in rows:
        named = set(re.findall(r"`(test_\w+(?:\.py)?)`", row))
        assert (row, named - tests - files.keys()) == (row, set())
        assert named


def test_commands_are_targets_of_make():
    """What the page tells to run exists."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`make ([\w-]+)", PAGE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
