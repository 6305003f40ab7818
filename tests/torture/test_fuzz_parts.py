"""Each part that is fuzzed, for a moment and without a guide; that what is wrong is found; and what the command says."""

from __future__ import annotations

import subprocess
import sys

import fuzz_parts
import fuzz_targets
import pytest
from support import ROOT, SEED, tries

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, str(ROOT / "tests" / "torture" / "fuzz_parts.py")]


@pytest.mark.parametrize("name", fuzz_targets.TARGETS)
def test_a_short_part(name):
    """Nothing is found."""
    assert tries(200) == fuzz_parts.plain(name, SEED, tries(200))


def test_what_is_wrong_is_found_and_told_with_its_text(monkeypatch):
    """A part that cannot stand a byte ends with a text that holds it."""

    def cannot(data):
        assert b"\x1b" not in data[8:]

    monkeypatch.setitem(fuzz_targets.TARGETS, "cleaning", cannot)
    with pytest.raises(AssertionError) as found:
        fuzz_parts.plain("cleaning", SEED, 200)
    assert "cleaning of b'" in found.value.__notes__[0]
    assert "\\x1b" in found.value.__notes__[0]


def test_a_proxy_that_redacts_nothing_is_found(monkeypatch):
    """Its results are fuzzed with redaction, and a secret that stays is no result."""
    without = fuzz_targets.TruncationProcessor(fuzz_targets._session())
    monkeypatch.setattr(fuzz_targets, "_processor", lambda: without)
    with pytest.raises(AssertionError, match="hunter2hunter"):
        fuzz_parts.plain("results", SEED, 200)


def test_all_command_lines_to_begin_with_are_answered():
    """None of them is refused as misused, nor for a session that is not there, so that changes of them reach what the commands do."""
    answers = {text: fuzz_targets.answered(text) for text in fuzz_targets.SEEDS["arguments"]}
    assert {} == {text: said for text, (code, said) in answers.items() if code in {2, 125}}


def test_a_seed_draws_the_same_texts(monkeypatch):
    """Again and again, and another one others."""

    def of(seed):
        seen = []
        monkeypatch.setitem(fuzz_targets.TARGETS, "urls", seen.append)
        fuzz_parts.plain("urls", seed, 50)
        return seen

    assert of(1) == of(1) != of(2)


def test_it_says_what_there_is():
    """The command names all parts."""
    listed = subprocess.run([*COMMAND, "--list"], capture_output=True, text=True, check=True).stdout
    assert list(fuzz_targets.TARGETS) == [line.split()[0] for line in listed.splitlines()]
    assert all(line[16:].strip() for line in listed.splitlines())


def test_a_guide_counts_what_it_has_tried(tmp_path):
    """With atheris the row has executions and coverage, and the corpus is kept."""
    pytest.importorskip("atheris", reason="the dependency group `fuzz` is not installed")
    options = ["urls", "--seed", "5", "--seconds", "60", "--executions", "500", "--corpus", str(tmp_path)]
    said = subprocess.run([*COMMAND, *options], capture_output=True, text=True, check=True).stdout
    row = said.splitlines()[-1].split("|")
    assert "urls, seed 5" == row[1].strip()
    assert int(row[3].split()[0].replace(",", "")) >= 500
    assert int(row[4].split()[0]) > 10
    assert list((tmp_path / "urls").iterdir())
