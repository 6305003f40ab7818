"""Mutation testing: what is changed and how, that a mutant is put in, and that one that no test looks at is told."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import mutants
import pytest
from support import ROOT

pytestmark = pytest.mark.slow
TEXT = '''
LIMIT = 5  # outside of functions


def judge(value: int, most: int = LIMIT) -> bool | None:
    """A text of 1 word."""
    assert value != 3, "impossible"
    if not value:
        raise ValueError(f"{value + 1}")
    for each in range(2):
        if each < value and value in (7, 8):
            print("seen")
            break
    return value + 1 <= most
'''
EXPECTED = [
    "not removed", "raise removed", "2 -> 3", "And -> Or", "Lt -> LtE", "Lt -> GtE", "In -> NotIn", "7 -> 8", "8 -> 9", "call removed",
    "break -> continue", "return None", "LtE -> Lt", "LtE -> Gt", "Add -> Sub", "1 -> 2",
]  # fmt: skip


@pytest.fixture
def module(tmp_path):
    """A module of its own, and the places in it."""
    path = tmp_path / "judging.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("judging", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, mutants.places(path)


def test_what_is_changed(module):
    """Code in functions; not what runs once, defaults, assertions, texts and what is raised."""
    assert sorted(EXPECTED) == sorted(place.what for place in module[1])


def place_of(module, what):
    return next(place for place in module[1] if place.what == what)


@pytest.mark.parametrize(
    ("what", "value", "before", "after"),
    [
        ("LtE -> Lt", 4, True, False),
        ("return None", 4, True, None),
        ("Add -> Sub", 5, False, True),
        ("1 -> 2", 4, True, False),
    ],
)
def test_a_mutant_is_put_into_this_process(module, what, value, before, after):
    """The function that was imported does what the mutant's does."""
    assert before == module[0].judge(value)
    assert 1 == mutants.put_in(place_of(module, what))
    assert after == module[0].judge(value)


def test_a_module_that_was_not_imported_is_told(tmp_path):
    """Nothing would be tried."""
    path = tmp_path / "other.py"
    path.write_text(TEXT)
    with pytest.raises(LookupError, match="was not imported"):
        mutants.put_in(mutants.places(path)[0])


def test_a_short_part():
    """Of a module of the store, a few mutants: nearly all are killed, and where to go on is told."""
    command = [sys.executable, str(ROOT / "tests" / "torture" / "mutate.py"), "--seed", "5", "--rounds", "3", "--all",
               "--only", "format/segment_map.py", "--tests", "tests/store/format/test_segments.py", "tests/store/format/test_chunker.py"]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert "to go on: --seed 5 --first 3" in said
    assert said.count(" killed format/segment_map.py:") >= 2
