"""The checker of histories sees what no order of the operations explains, and nothing else."""

from __future__ import annotations

import linear
import pytest


def history(*operations):
    """Of ``(op, result, begin, end, id)``, all of one session."""
    names = ("op", "result", "begin", "end", "id", "size")
    return [{"session": "s", "by": "test", **dict(zip(names, each, strict=False))} for each in operations]


PUT = ("put", "a", 1, 3)
RIGHT = {
    "seen after": [PUT, ("list", ["a"], 4, 5)],
    "seen while it is made": [PUT, ("list", ["a"], 2, 5)],
    "not seen while it is made": [PUT, ("list", [], 2, 5)],
    "deleted": [PUT, ("delete", "done", 4, 6, "a"), ("list", ["a"], 5, 7), ("exists", False, 8, 9, "a")],
    "gone with its session": [PUT, ("delete session", "done", 4, 6), ("list", [], 5, 7)],
    "of a failed call": [("put", "failed", 1, 3), ("list", ["b"], 4, 5)],
    "grows": [
        ("create", "a", 1, 2),
        ("write", "done", 3, 9, "a", 50),
        ("read", [20, "open", True], 4, 5, "a"),
        ("read", [50, "open", True], 6, 7, "a"),
    ],
}
WRONG = {
    "lost": [PUT, ("list", [], 4, 5)],
    "lost to who asks": [PUT, ("exists", False, 4, 5, "a")],
    "back": [PUT, ("delete", "done", 4, 5, "a"), ("exists", True, 6, 7, "a")],
    "back with its session": [PUT, ("delete session", "done", 4, 5), ("list", ["a"], 6, 7)],
    "too early": [("list", ["a"], 0, 0.5), PUT],
    "twice": [PUT, ("list", ["a", "a"], 4, 5)],
    "one id": [PUT, ("put", "a", 4, 5)],
    "of nobody": [("list", ["b"], 4, 5)],
    "deleted twice": [PUT, ("delete", "done", 4, 6, "a"), ("delete", "done", 5, 7, "a")],
    "not in order": [PUT, ("put", "b", 4, 5), ("list", ["a", "b"], 6, 7)],
    "seen, then not": [PUT, ("exists", True, 1.1, 1.2, "a"), ("exists", False, 1.3, 1.4, "a")],
    "the later one alone": [PUT, ("put", "b", 4, 6), ("list", ["b"], 2, 7)],
    "two that see the other order": [
        ("put", "a", 1, 9),
        ("put", "b", 1, 9),
        ("list", ["a"], 2, 8),
        ("list", ["b"], 2, 8),
    ],
    "a write that is lost": [("create", "a", 1, 2), ("write", "done", 3, 4, "a", 50), ("read", [20, "open", True], 5, 6, "a")],
    "bytes of nobody": [("create", "a", 1, 2), ("write", "done", 3, 4, "a", 50), ("read", [60, "open", True], 5, 6, "a")],
    "shorter": [
        ("create", "a", 1, 2),
        ("write", "done", 3, 9, "a", 50),
        ("read", [30, "open", True], 4, 5, "a"),
        ("read", [20, "open", True], 6, 7, "a"),
    ],
    "not sealed": [("create", "a", 1, 2), ("close", "done", 3, 4, "a"), ("read", [0, "open", True], 5, 6, "a")],
    "interrupted": [("create", "a", 1, 2), ("read", [0, "interrupted", True], 5, 6, "a")],
    "other bytes": [PUT, ("read", [3, "sealed", False], 5, 6, "a")],
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_an_order_explains(name):
    """Nothing is found."""
    assert [] == linear.faults(history(*RIGHT[name]))


@pytest.mark.parametrize("name", WRONG)
def test_what_no_order_explains(name):
    """It is found."""
    assert linear.faults(history(*WRONG[name]))
