"""The folders of ``mcp``: imports go down, from the server and the proxy to the wire, and never in a circle."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

import spillstore_tools

TOOLS = Path(spillstore_tools.__file__).parent
MCP = "spillstore_tools.mcp"


def imports():
    """Each module of ``mcp``, and the modules of ``mcp`` that it imports, also inside functions and for types."""
    paths = {
        ".".join((TOOLS.name, *path.relative_to(TOOLS).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in (TOOLS / "mcp").rglob("*.py")
    }
    found = {}
    for name, path in paths.items():
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
            elif isinstance(node, ast.Import):
                names |= {each.name for each in node.names}
        found[name] = names & paths.keys() - {name}
    return found


def test_the_wire_is_below_the_server_and_the_proxy():
    """A module imports modules of its own folder and of ``wire`` alone."""

    def folder(name):
        return name.removeprefix(f"{MCP}.").partition(".")[0]

    wrong = [
        (name, each)
        for name, others in imports().items()
        for each in others
        if folder(each) not in {folder(name), "wire"}
    ]
    assert wrong == []


def test_no_imports_go_in_a_circle():
    """Every module can be read after those that it imports."""
    graph = {name: {each for each in others if each.count(".") > 2} for name, others in imports().items()}
    assert set(graphlib.TopologicalSorter(graph).static_order()) == graph.keys()
    assert len(graph) > 30
