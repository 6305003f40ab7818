"""docs/security.md: what it says is proven is proven by tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_each_threat_has_a_proof():
    """The table has six threats, and each names tests, or files of tests, that are there."""
    table = PAGE.partition("| threat | what is done | proven by |")[2].partition("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    assert len(rows) == 6
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    tests = {name for text in files.values() for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    for _, _, proofs in rows:
        named = re.findall(r"`(test_\w+(?:\.py)?)`", proofs)
        assert named
        assert set(named) <= tests | files.keys()


def test_each_attack_has_tests():
    """Each row of the list of attacks names tests, or files of tests, that are there."""
    table = PAGE.partition("| attack | tests |")[2].partition("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    assert len(rows) > 10
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    tests = {name for text in files.values() for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    for _, names in rows:
        named = re.findall(r"`(test_\w+(?:\.py)?)`", names)
        assert named
        assert set() == set(named) - tests - files.keys()


def test_there_is_advice_for_whoever_handles_credentials():
    """The page says what to do with tools that handle credentials, and where to go when a secret was stored."""
    advice = PAGE.partition("Where tools handle credentials")[2]
    for word in ("redaction.md", "environment", "arguments", "spillstore clean", "change the secret"):
        assert word in advice
