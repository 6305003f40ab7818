"""Which modules may know what: read from all imports, those inside functions and for types included, and from the text."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

import spillstore
import spillstore_tools

STORE, TOOLS = (Path(package.__file__).parent for package in (spillstore, spillstore_tools))
SQLITE = STORE / "engine" / "sqlite"
POSTGRES = STORE / "engine" / "postgres"
RELATIONAL = STORE / "engine" / "relational"
# Chooses the engine; what is for who opens a session's file with ``sqlite3``; and texts that hold secrets in statements.
KNOWING = {
    STORE / "engine" / "registry.py",
    STORE / "sqlite_functions.py",
    STORE / "redaction" / "statements.py",
    STORE / "redaction" / "tables" / "phrases.py",
}
WORDS = re.compile(
    r"sqlite3|\bPRAGMA\b|\bSELECT |\bINSERT INTO|\bUPDATE \w+ SET|statvfs|\bflock\b|-wal\b|-shm\b"
)


@functools.cache
def modules(*roots):
    return sorted(path for root in roots for path in root.rglob("*.py"))


def name_of(path):
    root = STORE if path.is_relative_to(STORE) else TOOLS
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports_of(path):
    """Full names of all that a module imports, wherever it does."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            found |= {f"{node.module}.{each.name}" for each in node.names}
    return found


def words_of(path):
    """The names and texts in a module's code; what is written for people may name what they know, and is left out."""
    found, for_people = [], set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            for_people.add(node.body[0].value)
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and node not in for_people:
            found.append(str(node.value))
        found += [
            str(getattr(node, field))
            for field in ("id", "attr", "name", "arg", "module")
            if hasattr(node, field)
        ]
    return "\n".join(found)


def within(name, package):
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize(
    ("folder", "libraries"),
    [
        (SQLITE, ("sqlite3",)),
        (POSTGRES, ("psycopg",)),
        (RELATIONAL, ()),
    ],
    ids=("sqlite", "postgres", "relational"),
)
def test_an_engine_alone_knows_its_database(folder, libraries):
    """No other module imports what it works with, or a module of it; what renders or upgrades for it may know SQLAlchemy."""
    engines = {SQLITE, POSTGRES, RELATIONAL} - {folder}
    for path in modules(STORE, TOOLS):
        if path.is_relative_to(folder) or path in KNOWING:
            continue
        beside = any(path.is_relative_to(each) for each in engines)
        forbidden = [*libraries, name_of(folder / "__init__.py")]
        if folder is RELATIONAL and beside:
            continue
        assert (name_of(path), []) == (
            name_of(path),
            [name for name in imports_of(path) if any(within(name, each) for each in forbidden)],
        )
        if not beside:
            assert not {name for name in imports_of(path) if within(name, "sqlalchemy")}, name_of(path)


def test_no_other_module_speaks_sql():
    """Or of pragmas, file locks and files beside a database."""
    for path in modules(STORE):
        if (
            not any(path.is_relative_to(each) for each in (SQLITE, POSTGRES, RELATIONAL))
            and path not in KNOWING
        ):
            assert (name_of(path), None) == (name_of(path), WORDS.search(words_of(path)))
            assert not {name for name in imports_of(path) if within(name, "fcntl")}, name_of(path)


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
    above = {"store", "session", "artifact", "writer", "aio", "ingest", "search", "jsonpath", "read"}
    above = {f"spillstore.{name}" for name in above}
    assert [] == [name for name in imports_of(path) if any(within(name, each) for each in above)]


# From the top down: what stands in a line may import what stands below it, and nothing beside or above it.
ORDER = (
    ("aio", "sqlite_functions", "server"),
    ("store",),
    ("deleting",),
    ("session",),
    ("artifact", "writer"),
    ("jsonstring",),
    ("limits",),
    ("ingest", "search", "jsonpath"),
    ("read",),
    ("audit",),
    ("observers",),
    ("engine.registry",),
    ("engine.sqlite", "engine.memory", "engine.postgres"),
    ("engine.relational",),
    ("engine.base", "engine.errors"),
    ("engine.rows",),
    ("events",),
    ("info",),
    ("model",),
    ("format",),
    ("redaction",),
    ("line_kinds",),
    ("text_scan", "line_filter"),
    ("runtime",),
    ("_native",),
    ("settings",),
    ("exceptions",),
)
PLACE = {f"spillstore.{name}": place for place, names in enumerate(ORDER) for name in names}
# An engine keeps the events of deleted sessions, and asks who deletes.
EXCEPTIONS = {("spillstore.engine.sqlite", "spillstore.audit")}


def part_of(name):
    """The part of the store that a module or a name in one belongs to."""
    return next((part for part in sorted(PLACE, key=len, reverse=True) if within(name, part)), None)


def test_imports_go_down():
    """No part of the store imports a part above it, not inside a function and not for types alone."""
    up = {
        (name_of(path), mine, part)
        for path in modules(STORE)
        if (mine := part_of(name_of(path))) is not None  # else a package's own ``__init__``, or the version
        for name in imports_of(path)
        if (part := part_of(name)) is not None and part != mine and PLACE[part] <= PLACE[mine]
    }
    assert {found for found in up if found[1:] not in EXCEPTIONS} == set()


def test_every_module_has_a_place():
    """A new module at the top, or a new folder, is put into the order."""
    top = {name_of(path) for path in modules(STORE)} - {
        "spillstore",
        "spillstore._version",
        "spillstore.engine",
    }
    assert {name for name in top if part_of(name) is None} == set()


# The same for the tools.
TOOLS_ORDER = (
    ("shell",),
    ("cli",),
    ("viewer",),
    ("adapters",),
    ("agents",),
    ("mcp",),
    ("agent",),
    ("telemetry",),
    ("process", "compare"),
    ("output",),
    ("profiles",),
    ("config",),
    ("preview",),
    ("describe", "configured", "loopback"),
)
TOOLS_PLACE = {f"spillstore_tools.{name}": place for place, names in enumerate(TOOLS_ORDER) for name in names}


def tools_part_of(name):
    """The folder, or the module beside the folders, that a module of the tools or a name in one belongs to."""
    return next((part for part in TOOLS_PLACE if within(name, part)), None)


def test_imports_of_the_tools_go_down():
    """No folder of the tools imports one above or beside it, not inside a function and not for types alone."""
    assert set() == {
        (name_of(path), mine, part)
        for path in modules(TOOLS)
        if (mine := tools_part_of(name_of(path))) is not None
        for name in imports_of(path)
        if (part := tools_part_of(name)) not in {None, mine} and TOOLS_PLACE[part] <= TOOLS_PLACE[mine]
    }


def test_every_module_of_the_tools_has_a_place():
    """A new folder, or a module beside the folders, is put into the order; the package itself offers names of all."""
    assert ["spillstore_tools"] == [
        name for path in modules(TOOLS) if tools_part_of(name := name_of(path)) is None
    ]


def circles(graph):
    """Groups of nodes of which each leads to each other one."""

    def reached(start):
        found, todo = set(), [start]
        while todo:
            for each in graph[todo.pop()] - found:
                found.add(each)
                todo.append(each)
        return found

    ways = {node: reached(node) for node in graph}
    return {
        frozenset(other for other in ways if node in ways[other] and other in ways[node])
        for node in graph
        if node in ways[node]
    }


@pytest.mark.long
@pytest.mark.parametrize("package", [STORE, TOOLS], ids=["store", "tools"])
def test_modules_import_each_other_in_no_circle(package):
    """Not within a folder either, and imports inside functions and for types count."""
    names = {name_of(path) for path in modules(package)} - {package.name}  # which offers names of all
    graph = {
        name_of(path): {
            target
            for each in imports_of(path)
            for target in ({each} & names or {each.rpartition(".")[0]} & names)
        }
        for path in modules(package)
        if name_of(path) != package.name
    }
    assert set() == set(circles(graph))
