"""The catalogue of events, and what is stored or written elsewhere and has to agree with it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support import NO_FLOORS

import spillstore
import spillstore_tools
from spillstore import Store
from spillstore.engine.sqlite import file_schema
from spillstore.events.catalogue import KINDS, READS, RENDERED

# Views are part of the stored format and stay as they are: a kind that one side alone takes for a read, and why.
VIEWS_DIFFER: dict[str, str] = {}
# Who is given a kind, as the first text of its first two arguments.
TAKING = {
    "EmittedEvent", "action", "add", "begin_operation", "emit", "note", "read", "reading", "reading_tool", "record",
    "recorded", "_recorded",
}  # fmt: skip


def texts(module):
    """The constants of a module that are texts."""
    return {
        node.targets[0].id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def of_the_log(call):
    """Whether a method of a common name is that of the audit log."""
    receiver = getattr(call.func, "value", None)
    named = receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")
    return named.strip("_") in {"audit", "log", "self"} and len(call.args) > 1


def used():
    """Kinds that our code names where it tells or records something, and where it does."""
    roots = (Path(package.__file__).parent for package in (spillstore, spillstore_tools))
    modules = {
        path: ast.parse(path.read_text(encoding="utf-8")) for root in roots for path in root.rglob("*.py")
    }
    imported = {name: text for module in modules.values() for name, text in texts(module).items()}
    for path, module in modules.items():
        known = imported | texts(module)
        for call in ast.walk(module):
            if not isinstance(call, ast.Call):
                continue
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
            if name not in TAKING or (name in {"add", "read"} and not of_the_log(call)):
                continue
            for given in call.args[:2]:
                text = given.value if isinstance(given, ast.Constant) else known.get(getattr(given, "id", ""))
                if isinstance(text, str) and text.isidentifier():  # and no words for people
                    yield text, f"{path.name}:{call.lineno}"
                    break


def test_every_kind_of_ours_is_in_the_catalogue():
    """Whatever the code tells or records by name."""
    found = dict(used())
    assert {"read", "place", "commit"} <= set(found)
    assert {kind: where for kind, where in found.items() if kind not in KINDS and kind != RENDERED} == {}


@pytest.mark.parametrize("view", ["v_reads", "v_never_read"])
def test_the_views_take_the_same_for_reads(view):
    """Those that the catalogue calls reads of content, unless there is a reason."""
    (text,) = (text for text in file_schema.VIEWS if text.startswith(f"CREATE VIEW {view} "))
    (kinds,) = re.findall(r"kind IN \(([^)]*)\)", text)
    assert set(re.findall(r"'(\w+)'", kinds)) ^ set(READS) == set(VIEWS_DIFFER)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("full", {name for name, kind in KINDS.items() if kind.recorded}),
        ("writes", {name for name, kind in KINDS.items() if kind.recorded and kind.reads is None}),
        ("off", set()),
    ],
)
def test_what_is_recorded_follows_from_the_catalogue(root, level, expected):
    """``writes`` leaves out each kind that reads, and those alone."""
    with Store(root, audit=level, **NO_FLOORS).session("test") as session:
        for name, kind in KINDS.items():
            if kind.recorded:
                session.note(name, {})
        assert {event.kind for event in session.events(limit=100)} == expected
