"""Previews, profiles and their configuration: imports go down only, those inside functions and for types included."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

import spillstore_tools

TOOLS = Path(spillstore_tools.__file__).parent
# From the top down: a package imports those below it, never one above.
ORDER = (
    "profiles",
    "config",
    "preview.strategies",
    "preview.code",
    "preview.structured",
    "preview.scan",
    "preview.text",
    "preview.parts",
    "preview.binary",
)
MODULES = {
    ".".join(("spillstore_tools", *path.relative_to(TOOLS).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for folder in ("preview", "profiles", "config")
    for path in (TOOLS / folder).rglob("*.py")
}


def imports_of(path):
    """The modules of ours that a module names in an import."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                full = f"{node.module}.{each.name}"
                if (name := full if full in MODULES else node.module) in MODULES:
                    yield name


def place_of(name):
    return next(
        (place for place, part in enumerate(ORDER) if f"{name}.".startswith(f"spillstore_tools.{part}.")),
        None,
    )


def test_no_two_modules_import_each_other():
    """There is an order of all modules in which each imports only modules before it."""
    graph = {name: set(imports_of(path)) - {name} for name, path in MODULES.items()}
    assert set(graphlib.TopologicalSorter(graph).static_order()) == set(MODULES)


def test_packages_import_those_below_them():
    """The configuration knows no profile, cutting knows no strategy, and cleaning knows nothing of passes."""
    assert [] == [
        (name, each)
        for name, path in MODULES.items()
        for each in imports_of(path)
        if place_of(name) is not None and place_of(each) is not None and place_of(each) < place_of(name)
    ]
