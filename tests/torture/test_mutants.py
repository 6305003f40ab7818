"""Mutation testing: what is changed and how, that a mutant is put in, and that one that no test looks at is told."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
import time

import mutant_map
import mutant_runs
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
    for each, _ in zip(range(2), range(2), strict=True):
        if each < value and value in (7, 8):
            print("seen")
            break
    return value + 1 <= most
'''
EXPECTED = [
    "not removed", "raise removed", "2 -> 3", "2 -> 3", "And -> Or", "Lt -> LtE", "Lt -> GtE", "In -> NotIn", "7 -> 8", "8 -> 9", "call removed",
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


def test_a_method_that_calls_that_of_its_class_above_is_changed_too(tmp_path):
    """What it closes over stays, though the call goes."""
    path = tmp_path / "above.py"
    path.write_text("class A(dict):\n    def get(self, name):\n        return super().get(name)\n")
    spec = importlib.util.spec_from_file_location("above", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.A(x=1).get("x") == 1
    (place,) = mutants.places(path)
    assert mutants.put_in(place) == 1
    assert module.A(x=1).get("x") is None


def test_what_is_known_of_lines_outlives_a_change(tmp_path):
    """Lines that have moved take their tests along, new ones have those around them; tests that are new are run."""
    path, kept = tmp_path / "a" / "b.py", tmp_path / "map.json"
    path.parent.mkdir()
    path.write_text("one\ntwo\nthree\n")
    before = mutant_map.Map(tmp_path, [path])
    before.took = {"x::first": 1.0, "x::second[1]": 0.5}
    before._lines = {"a/b.py": {1: ["x::first"], 2: ["x::second[1]"], 3: ["x::first"]}}
    before.save(kept)
    path.write_text("zero\none\ntwo and a half\nthree\n")
    after = mutant_map.Map(tmp_path, [path])
    after.load(kept)
    here = {"x::first", "x::second[1]"}
    assert [["x::first"], ["x::first"], ["x::first", "x::second[1]"], ["x::first"]] == [
        sorted(after.tests(path, line, here)) for line in range(1, 5)
    ]
    assert [] == after.tests(path, 2, {"x::second[1]"})


def test_of_many_tests_those_are_run_that_differ(tmp_path):
    """Of each file one function before it has a second one, of each function two cases before any has a third one."""
    found = mutant_map.Map(tmp_path, [])
    found.took = {f"{file}::{name}[{case}]": 10.0 for file in "ab" for name in "xy" for case in range(9)}
    found.took |= {f"c::quick[{case}]": 1.0 for case in range(9)}
    chosen = found._chosen(list(found.took))
    assert len(chosen) >= mutant_map.FEW
    assert chosen[:9] == [f"c::quick[{case}]" for case in range(9)]
    chosen = found._chosen([each for each in found.took if not each.startswith("c")])
    assert {"a::x", "a::y", "b::x", "b::y"} == {each.partition("[")[0] for each in chosen}


class Pieces:
    """Where pieces of tests are noted: in this process, and only so many."""

    def __init__(self, ends_after: int) -> None:
        self.left = ends_after

    def forked(self, function, *_):
        """Say what a piece says, or that it was killed."""
        self.left -= 1
        return (0, function(None)) if self.left >= 0 else ("killed by a signal", "")


def test_noting_goes_on_where_a_run_ended(tmp_path, monkeypatch):
    """What a piece has noted is kept, though another one comes to no end."""
    noted: list[str] = []

    def note(_self, tests, _run, _said):
        noted.extend(tests)
        lines = {"b.py": {"1": tests}}
        return json.dumps({"took": dict.fromkeys(tests, 1.0), "broken": [], "lines": lines})

    monkeypatch.setattr(mutant_map.Map, "_note", note)
    path, kept = tmp_path / "b.py", tmp_path / "map.json"
    path.write_text("one\n")
    tests = [f"x::{number:03}" for number in range(3 * mutant_map.PIECE)]
    with pytest.raises(RuntimeError, match="could not be noted: killed by a signal"):
        mutant_map.Map(tmp_path, [path]).note(tests, None, Pieces(2), 1, kept)
    again = mutant_map.Map(tmp_path, [path])
    again.load(kept)
    assert tests[: 2 * mutant_map.PIECE] == sorted(again.took)
    again.note(tests, None, Pieces(1), 1, kept)
    assert tests == noted == sorted(again.took)


def spins(_said):
    """Work for ever."""
    while True:
        pass


def waits(_said):
    """Have nothing to do for ever."""
    threading.Event().wait()


def writes(said):
    """Work for longer than is allowed at once, and tell from time to time."""
    until = time.process_time() + 2.0
    while time.process_time() < until:
        said.write_text(str(time.process_time()))
    return 3


@pytest.mark.parametrize(
    ("function", "seconds", "idle", "expected"),
    [
        (spins, 1.0, 1e9, "killed, as it did not end"),
        (waits, 1e9, 1.0, "killed, as it did not end"),
        (writes, 1.0, 1e9, 3),
    ],
)
def test_who_comes_to_no_end_is_stopped(tmp_path, function, seconds, idle, expected):
    """By what it uses of a processor since it told something, or as it does nothing."""
    assert expected == mutant_runs._forked(function, seconds, idle, tmp_path, None)[0]


def test_a_module_that_was_not_imported_is_told(tmp_path):
    """Nothing would be tried."""
    path = tmp_path / "other.py"
    path.write_text(TEXT)
    with pytest.raises(LookupError, match="was not imported"):
        mutants.put_in(mutants.places(path)[0])


@pytest.mark.repeat
def test_a_short_part():
    """Of a module of the store, a few mutants: nearly all are killed, and where to go on is told."""
    command = [sys.executable, str(ROOT / "tests" / "torture" / "mutate.py"), "--seed", "5", "--rounds", "3", "--all",
               "--only", "format/segment_map.py", "--tests", "tests/store/format/test_segments.py", "tests/store/format/test_chunker.py"]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert "to go on: --seed 5 --first 3" in said
    assert said.count(" killed format/segment_map.py:") >= 2
