"""What is promised to others: names, layers, defaults, the exception tree, and what an import costs."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import each_of

import spillstore
from spillstore import exceptions
from spillstore.exceptions import InvalidSettingError
from spillstore.session.new_artifact import CHUNK_SIZE
from spillstore.settings import GIB, KIB, MIB, Settings

ROOT = Path(spillstore.__file__).parents[2]

PUBLIC = [
    "Artifact", "ArtifactInfo", "HoleInfo", "Page", "Session", "SessionInfo", "Settings", "SpillstoreError", "Store",
    "Writer", "__version__",
]  # fmt: skip


def test_the_public_names_are_these():
    """``spillstore`` exports exactly this, and every name resolves."""
    assert PUBLIC == sorted(spillstore.__all__)
    assert all(getattr(spillstore, name) is not None for name in PUBLIC)
    assert set(PUBLIC) <= set(dir(spillstore))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = spillstore.nothing


DEFAULTS = {
    "artifact_limit": GIB,
    "artifact_policy": "roll",
    "session_quota": 4 * GIB,
    "session_policy": "refuse",
    "store_quota": 20 * GIB,
    "store_policy": "collect",
    "free_disk_floor": GIB,
    "free_disk_floor_fraction": 0.02,
    "artifacts_per_minute": 600,
    "queue_bytes": 12 * MIB,
    "hold_back": 0.05,
    "commit_interval": 0.2,
    "commit_bytes": 6 * MIB,
    "busy_timeout": 30.0,
    "lease": 30.0,
    "retention": 7 * 86400.0,
    "collect_interval": 3600.0,
    "redact": True,
    "durability": "normal",
    "digest": "blake3",
    "digest_key_file": "",
    "cleanup_on_exit": False,
    "hidden_metadata": False,
    "audit": "full",
    "audit_events": 100_000,
    "audit_age": 30 * 86400.0,
    "audit_keep": False,
}


def test_the_defaults_are_these():
    """Every default, and the size of a chunk."""
    assert DEFAULTS == dataclasses.asdict(Settings())
    assert 64 * KIB == CHUNK_SIZE


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("SPILLSTORE_ARTIFACT_LIMIT", "64MiB", "artifact_limit", 64 * MIB),
        ("SPILLSTORE_QUEUE_BYTES", "1000000", "queue_bytes", 1_000_000),
        ("SPILLSTORE_RETENTION", "0.5", "retention", 0.5),
        ("SPILLSTORE_DURABILITY", "full", "durability", "full"),
        ("SPILLSTORE_RETENTION", "12h", "retention", 43200.0),
        ("SPILLSTORE_HOLD_BACK", "200ms", "hold_back", 0.2),
        ("SPILLSTORE_STORE_QUOTA", "2TiB", "store_quota", 2048 * GIB),
        ("SPILLSTORE_AUDIT_EVENTS", "200_000", "audit_events", 200_000),
        ("SPILLSTORE_CLEANUP_ON_EXIT", "yes", "cleanup_on_exit", True),
        ("SPILLSTORE_CLEANUP_ON_EXIT", " On ", "cleanup_on_exit", True),
    ],
)
def test_every_setting_can_come_from_the_environment(variable, text, name, value):
    """The environment overlays the default, an argument overlays the environment."""
    assert value == getattr(Settings.load({variable: text}), name)
    default = getattr(Settings(), name)
    assert default == getattr(Settings.load({variable: text}, **{name: default}), name)


@each_of(
    "environ, overrides, shown",
    [
        ({"SPILLSTORE_ARTIFACT_LIMIT": "much"}, {}, "SPILLSTORE_ARTIFACT_LIMIT.*'much'"),
        ({"SPILLSTORE_RETENTION": "a week"}, {}, "SPILLSTORE_RETENTION.*'a week'"),
        ({"SPILLSTORE_RETENTION": "-1"}, {}, "must be a duration such as .*7d, not '-1'"),
        ({"SPILLSTORE_RETENTION": "1e400"}, {}, "must be a duration"),
        ({"SPILLSTORE_ARTIFACT_LIMIT": "010"}, {}, "must be a size .*'010'"),
        ({"SPILLSTORE_ARTIFACT_LIMIT": "9" * 5000}, {}, "must be a size"),
        (
            {"SPILLSTORE_AUDIT_EVENTS": "64KiB"},
            {},
            "SPILLSTORE_AUDIT_EVENTS must be a whole number .*'64KiB'",
        ),
        ({"SPILLSTORE_FREE_DISK_FLOOR_FRACTION": "2 %"}, {}, "must be a number such as 0.02, not '2 %'"),
        ({"SPILLSTORE_CLEANUP_ON_EXIT": "maybe"}, {}, "true or false .*'maybe'"),
        ({"SPILLSTORE_DURABILITY": "high"}, {}, "normal, full"),
        ({}, {"artifact_limits": 1}, "did you mean artifact_limit?"),
        ({}, {"artifact_limit": "one"}, "must be a size .* not 'one'"),
        ({}, {"artifact_limit": True}, "True"),
        ({}, {"artifact_limit": -1}, "-1"),
        ({}, {"retention": -1.0}, "-1.0"),
        ({}, {"queue_bytes": 1}, "65536"),
        ({}, {"retention": float("nan")}, "nan"),
    ],
)
def test_a_wrong_setting_names_itself_and_the_way_out(environ, overrides, shown):
    """Unknown names, wrong types and values out of range are refused."""
    with pytest.raises(InvalidSettingError, match=shown):
        Settings.load(environ, **overrides)


def test_the_exception_tree_is_the_one_drawn():
    """Every class of ``exceptions`` stands in the drawing, under its parent, and nothing else does."""
    drawn, stack = {}, []
    for line in exceptions.__doc__.splitlines():
        name = line.replace("│", " ").replace("├──", "   ").replace("└──", "   ").split("(")[0].split()
        if not name or not name[0].endswith("Error"):
            continue
        indent = len(line) - len(line.lstrip(" │├└─"))
        while stack and stack[-1][0] >= indent:
            stack.pop()
        drawn[name[0]] = stack[-1][1] if stack else "Exception"
        stack.append((indent, name[0]))
    real = {
        name: value.__bases__[0].__name__
        for name, value in vars(exceptions).items()
        if inspect.isclass(value) and value.__module__ == exceptions.__name__
    }
    assert real == drawn


LAYERS = {
    "store": {"spillstore_migrations"},
    "migrations": set(),
    "tools": {"spillstore", "spillstore_migrations"},
}
OURS = {"spillstore", "spillstore_migrations", "spillstore_tools"}


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_down_only(layer):
    """Tools -> store -> migrations, in every file, lazy imports included."""
    own = {path.parent.name for path in (ROOT / layer).glob("*/__init__.py")}
    imported = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)
    for path in (ROOT / layer).rglob("*.py"):
        tops = set(imported.findall(path.read_text()))
        assert set() == tops & (OURS - own - LAYERS[layer]), path


HEAVY = ["sqlalchemy", "alembic", "mcp", "rich", "asyncio", "platformdirs", "numpy", "starlette", "pydantic"]

SESSIONS = ["spillstore.session", "spillstore.artifact", "spillstore.ingest.session_core"]
OPENING = ["sqlite3", "zstandard", "blake3", *SESSIONS]
OPENED = "import spillstore; store = spillstore.Store('dict:light'); store.session('a').close()"


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "forbidden"),
    [
        ("import spillstore", [*HEAVY, "sqlite3", "zstandard", "blake3", "click"]),
        ("import spillstore; spillstore.Store", [*HEAVY, *OPENING, "click"]),
        (
            "import spillstore; spillstore.Store('unused')",
            [*HEAVY, *SESSIONS, "click"],
        ),
        (OPENED, [*HEAVY, "spillstore.redaction", "spillstore.session.check", "click"]),
    ],
)
def test_imports_stay_light(script, forbidden):
    """What a user does not need yet is not imported."""
    probe = f"{script}\nimport sys\nprint([m for m in {forbidden!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout


def test_the_package_is_typed():
    """Every package ships ``py.typed``."""
    for package in ("store/spillstore", "tools/spillstore_tools", "migrations/spillstore_migrations"):
        assert (ROOT / package / "py.typed").exists()
