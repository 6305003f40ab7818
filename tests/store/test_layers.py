"""Which modules may know what: read from all imports, those inside functions and for types included, and from the text."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import spillstore
import spillstore_tools

STORE, TOOLS = (Path(package.__file__).parent for package in (spillstore, spillstore_tools))
SQLITE = STORE / "engine" / "sqlite"
# Chooses the engine; and what is for who opens a session's file with ``sqlite3``.
KNOWING = {STORE / "engine" / "registry.py", STORE / "sqlite_functions.py"}
WORDS = re.compile(
    r"sqlite3|\bPRAGMA\b|\bSELECT |\bINSERT INTO|\bUPDATE \w+ SET|statvfs|\bflock\b|-wal\b|-shm\b"
)


def modules(*roots):
    return sorted(path for root in roots for path in root.rglob("*.py"))


def name_of(path):
    root = STORE if path.is_relative_to(STORE) else TOOLS
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path):
    """Full names of all that a module imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            found |= {f"{node.module}.{each.name}" for each in node.names}
    return found


def within(name, package):
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("path", modules(STORE, TOOLS), ids=name_of)
def test_one_engine_knows_sqlite(path):
    """No other module imports it, or a module of it, or speaks of statements, pragmas and files beside a database."""
    if path.is_relative_to(SQLITE) or path in KNOWING:
        return
    foreign = [
        name
        for name in imports_of(path)
        if within(name, "sqlite3") or within(name, "sqlalchemy") or within(name, "spillstore.engine.sqlite")
    ]
    assert [] == foreign
    if path.is_relative_to(STORE):
        code = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(code):  # what is written for people may name what they know
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                node.body = node.body[1:] or [ast.Pass()]
        assert WORDS.search(ast.unparse(code)) is None
        assert not {name for name in imports_of(path) if within(name, "fcntl")}


def test_the_tools_know_no_engine():
    """They use the store as anybody does."""
    assert {} == {
        name_of(path): names
        for path in modules(TOOLS)
        if (names := [name for name in imports_of(path) if within(name, "spillstore.engine")])
    }


@pytest.mark.parametrize("path", modules(STORE / "engine"), ids=name_of)
def test_an_engine_knows_rows_and_no_session(path):
    """Engines import values, settings and each other's protocol, and nothing that works with a session."""
    above = {"store", "session", "artifact", "writer", "aio", "_engine", "_recorder", "_pipeline", "_search"}
    above = {f"spillstore.{name}" for name in above}
    assert [] == [name for name in imports_of(path) if any(within(name, each) for each in above)]
