"""``tests/not_on_servers.md`` names each test of the store that opens one and does not run on a server, and no other."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests" / "not_on_servers.md"
ROW = re.compile(r"- `(?P<name>tests/\S+)`: (?P<why>\S.*)")
ON_SERVERS = {"make_store", "root", "module_root", "server", "servers", "server_url", "own_server"}


@functools.cache
def functions(path):
    """The functions and values of a test file and of the ``conftest.py`` above it, by name; theirs come first."""
    found = {}
    for file in [*(folder / "conftest.py" for folder in reversed(path.parents)), path]:
        if file.is_file() and ROOT in file.parents:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    found[node.name] = node
                elif isinstance(node, ast.Assign):
                    found |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    return found


@functools.cache
def names_of(path):
    """What a test file itself defines."""
    return {
        target.id if isinstance(target, ast.Name) else target.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        for target in (node.targets if isinstance(node, ast.Assign) else [node])
        if isinstance(target, ast.Name | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


@functools.cache
def names_in(node):
    """The names that a piece of code uses."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


@functools.cache
def fixtures_of(node):
    """The fixtures that a function asks for: by its arguments, and by name while it runs."""
    arguments = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    return arguments | {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "getfixturevalue"
    }


text_of = functools.cache(ast.unparse)


def reached(path, name, following):
    """A function, and all of its file and the ``conftest.py`` above it that it leads to; the names of all."""
    known, found, left = functions(path), set(), {name}
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left |= following(known[each]) if each in known else set()
    return found


def about_files(path, node):
    """Whether a test, or its whole file, has the mark ``files``."""
    marks = [text_of(each) for each in node.decorator_list]
    whole = functions(path).get("pytestmark")
    return "pytest.mark.files" in marks or (whole is not None and "mark.files" in text_of(whole))


def not_on_servers():
    """Tests of the store that open one, and never one on a server: ``{file: {test, ...}}``, and all tests of those files."""
    found, whole = {}, {}
    for path in sorted((ROOT / "tests" / "store").rglob("test_*.py")):
        file = path.relative_to(ROOT).as_posix()
        for name, node in functions(path).items():
            if not name.startswith("test_") or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            fixtures = reached(path, name, fixtures_of)
            own = names_of(path)
            used = reached(path, name, lambda node, own=own: fixtures_of(node) | names_in(node) & own)
            texts = [text_of(functions(path)[each]) for each in used & functions(path).keys()]
            if not any(re.search(r"Store\(|Backend\(", text) for text in texts):
                continue
            by_name = any("getfixturevalue('server" in text for text in texts)
            whole.setdefault(file, set()).add(name)
            if about_files(path, node) or not (by_name or ON_SERVERS & fixtures):
                found.setdefault(file, set()).add(name)
    return found, whole


@functools.cache
def expected():
    """What the page has to name: a file if none of its tests runs on a server, else the tests."""
    found, whole = not_on_servers()
    names = set()
    for file, tests in found.items():
        names |= {file} if tests == whole[file] else {f"{file}::{name}" for name in tests}
    return names


def test_the_page_names_what_does_not_run_on_a_server():
    """Each once, and why."""
    rows = [
        match["name"]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if (match := ROW.fullmatch(line))
    ]
    assert len(rows) == len(set(rows))
    assert (sorted(expected() - set(rows)), sorted(set(rows) - expected())) == ([], [])


def test_what_runs_on_a_server_is_told_from_what_does_not():
    """A test of a database's rows does; one that opens a file by its path, or has the mark, does not."""
    names = expected()
    assert "tests/store/engine/test_views.py" in names
    assert "tests/store/limits/test_retention.py::test_an_unreadable_session_is_named_and_stays" in names
    assert not [name for name in names if "test_a_changed_chunk_with_a_new_checksum_is_refused" in name]
