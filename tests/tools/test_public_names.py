"""What ``spillstore_tools`` offers by name: which names, when they are imported, and what a type checker sees of them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import spillstore
import spillstore_tools

ROOT = Path(spillstore.__file__).parents[2]
PUBLIC = [
    "Answer",
    "BashOptions",
    "BashResult",
    "BashTool",
    "CommandOptions",
    "ConfigurationError",
    "Differences",
    "LocalRunner",
    "Runner",
    "Toolbox",
    "TruncationConfiguration",
    "TruncationProcessor",
    "TruncationResult",
    "artifact_info",
    "bash",
    "bash_sync",
    "compare_artifacts",
    "get_artifact",
    "list_artifacts",
    "load_configuration",
    "profile",
    "query_artifact",
    "render",
    "search_artifact",
]
TYPED = """
from pathlib import Path
from typing import assert_type

from spillstore import Session
from spillstore_tools import Answer, BashResult, BashTool, Toolbox, TruncationConfiguration, get_artifact, load_configuration


def right(session: Session) -> None:
    assert_type(BashTool(session, profile="pipe").call_sync({}), BashResult)
    assert_type(get_artifact(session, id="art_1"), Answer)
    assert_type(load_configuration(Path()), TruncationConfiguration)


def wrong(session: Session) -> None:
    Toolbox(session, profil="pipe")
    get_artifact(session, ident="art_1")
    from spillstore_tools import no_such_name
    from spillstore import Stroe
"""


def test_the_public_names():
    """They are these, ``dir`` lists them, and each is a class or a function of ours."""
    assert PUBLIC == sorted(spillstore_tools.__all__)
    assert set(PUBLIC) <= set(dir(spillstore_tools))
    for name in PUBLIC:
        thing = getattr(spillstore_tools, name)
        assert inspect.isclass(thing) or inspect.isfunction(thing), name
        assert thing.__module__.startswith("spillstore_tools."), name
    with pytest.raises(AttributeError, match="'spillstore_tools' has no attribute 'no_such_name'"):
        _ = spillstore_tools.no_such_name


@pytest.mark.long
def test_names_are_imported_when_they_are_used():
    """The package alone imports no other module of the tools, and the first name no more than it needs."""
    script = (
        "import sys, spillstore_tools\n"
        "ours = lambda: sorted(name for name in sys.modules if name.startswith('spillstore'))\n"
        "print(ours())\n"
        "spillstore_tools.LocalRunner\n"
        "print([name for name in ours() if name.startswith('spillstore_tools')])\n"
        "print(sorted({'sqlite3', 'click', 'asyncio', 'subprocess'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    alone = ["spillstore_tools"]
    needed = ["spillstore_tools", "spillstore_tools.process"]
    needed += [f"spillstore_tools.process.{name}" for name in ("environment", "runners")]
    assert f"{alone}\n{needed}\n['subprocess']\n" == done.stdout


@pytest.mark.slow
def test_a_type_checker_knows_the_names(tmp_path):
    """Mypy sees what each name is, and finds what is misspelled."""
    (tmp_path / "use.py").write_text(TYPED)
    path = ":".join(str(ROOT / folder) for folder in ("store", "migrations", "tools"))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file="),
            *("--cache-dir", str(tmp_path / "cache"), "use.py"),
        ],
        cwd=tmp_path,
        env={"MYPYPATH": path, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line.split(": error:")[0] for line in done.stdout.splitlines() if ": error:" in line]
    lines = TYPED.splitlines()
    wrong = range(lines.index("def wrong(session: Session) -> None:") + 2, len(lines) + 1)
    assert [f"use.py:{number}" for number in wrong] == found, done.stdout + done.stderr
