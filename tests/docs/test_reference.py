"""The reference pages agree with the code: settings, public names, help texts."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from support import each_of, imported

import spillstore
import spillstore_tools
from spillstore import Settings
from spillstore.events.catalogue import KINDS, READS
from spillstore.settings import parse_size

ROOT = Path(__file__).parents[2]
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def parsed(text: str, default: object) -> object:
    """A default as the page writes it."""
    if isinstance(default, bool):
        return text == "true"
    if isinstance(default, int):
        return parse_size("the page", text)
    return type(default)(text)


def test_the_settings_page_lists_every_setting_with_its_default():
    """The table has the names and defaults of ``Settings``, in its order."""
    table = dict(re.findall(r"^\| `([a-z_]+)` \| *([^|]*?) *\|", SETTINGS, re.MULTILINE))
    fields = {field.name: field.default for field in dataclasses.fields(Settings)}
    assert list(table) == list(fields)
    assert {name: parsed(text, fields[name]) for name, text in table.items()} == fields


def test_the_audit_page_lists_every_kind_of_event():
    """Each that is recorded, once, with the least setting that records it; another page says what counts as read."""
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    page = page.partition("## What is recorded")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| `(full|writes)` \|", page, re.MULTILINE)
    listed = [(kind, level) for kinds, level in rows for kind in re.findall(r"`(\w+)`", kinds)]
    recorded = {name: "full" if kind.reads else "writes" for name, kind in KINDS.items() if kind.recorded}
    assert sorted(listed) == sorted(recorded.items())
    page = (ROOT / "docs" / "retention.md").read_text(encoding="utf-8")
    (kinds,) = re.findall(r"^What counts as read are the events (.*?)\.", page, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", kinds)) == set(READS)


@each_of("name", [field.name for field in dataclasses.fields(Settings)])
def test_every_setting_has_the_variable_that_the_page_says(name):
    """``SPILLSTORE_`` and the name in capitals sets it."""
    default = getattr(Settings(), name)
    text = {
        "artifact_policy": "stop",
        "session_policy": "evict",
        "store_policy": "refuse",
        "redact": "false",
        "hidden_metadata": "true",
        "durability": "full",
        "digest": "sha256",
        "cleanup_on_exit": "true",
        "audit": "writes",
        "audit_keep": "true",
    }.get(name, "1048576")
    assert getattr(Settings.load({f"SPILLSTORE_{name.upper()}": text}), name) != default


def test_the_page_of_the_library_names_the_whole_public_api():
    """Every name of ``spillstore.__all__``, and every method of its four main classes."""
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    methods = {
        name
        for cls in (spillstore.Store, spillstore.Session, spillstore.Writer, spillstore.Artifact)
        for name, member in inspect.getmembers(cls)
        if not name.startswith("_") and callable(member)
    }
    words = set(re.findall(r"\w+", page))
    assert sorted((set(spillstore.__all__) | methods) - words) == []


def public_modules():
    """All modules without an underscore; those of the commands are told by their help."""
    for package in (spillstore, spillstore_tools):
        yield package.__name__
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(part.startswith("_") or part == "cli" for part in module.name.split(".")):
                yield module.name


def test_every_public_name_has_a_docstring():
    """Modules, classes, methods and properties that a caller can reach say what they are."""
    bare = []
    for module in filter(None, map(imported, public_modules())):
        if not module.__doc__:
            bare.append(module.__name__)
        for public, thing in vars(module).items():
            if public.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                continue
            if not inspect.getdoc(thing):
                bare.append(f"{module.__name__}.{public}")
            if inspect.isclass(thing):
                bare += [
                    f"{module.__name__}.{public}.{member}"
                    for member, value in vars(thing).items()
                    if not member.startswith("_")
                    and (
                        inspect.isfunction(value) or isinstance(value, property | staticmethod | classmethod)
                    )
                    and not inspect.getdoc(value)
                ]
    assert bare == []


@pytest.mark.parametrize("folder", ["store/spillstore", "tools/spillstore_tools"])
def test_the_code_map_says_what_the_folders_say(folder):
    """ARCHITECTURE.md has all that stands at the top of a package, each folder with the first line of its own text."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page.partition(f"| `{folder}/` |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", table, flags=re.MULTILINE)
    named = {name for names, _ in rows for name in re.findall(r"`([\w/.]+)`", names)}
    package = ROOT / folder
    there = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").exists()}
    there |= {path.name for path in package.glob("*.py")} - {
        "__init__.py",
        "_version.py",
        "sqlite_functions.py",
    }
    assert there <= named
    assert {name for name in named if not (package / name).exists()} == set()
    for names, text in rows:
        for part in re.findall(r"`([\w/]+)/`", names):
            module = package / part / "__init__.py"
            said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
            assert said.splitlines()[0].rstrip(".") in text


def test_every_module_says_what_it_is_for():
    """In one line, which is what the tree tells a newcomer."""
    for path in sorted([*(ROOT / "store").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]):
        text = path.read_text(encoding="utf-8")
        assert text.startswith(('"""', 'r"""')), path
        said = ast.get_docstring(ast.parse(text[: text.index('"""', 4) + 3]))
        assert said and len(said.splitlines()[0]) < 130, path


def test_the_changelog_names_the_version_that_is_coming():
    """The version in the code is the one that the changelog announces or has released."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert spillstore.__version__ in changelog


def test_every_dependency_is_justified():
    """ARCHITECTURE.md has a row for each dependency, and for nothing else."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    table = page.partition("\n\n")[0]
    declared = re.search(
        r"^dependencies = \[\n(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL
    )
    assert declared is not None
    names = re.findall(r'"([a-z0-9-]+)', declared[1])
    assert re.findall(r"^\| ([a-z0-9-]+) \|", table, re.MULTILINE)[1:] == names
