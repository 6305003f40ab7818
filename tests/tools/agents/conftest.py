"""A user's folder of its own, with stand-ins for our programs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from spillstore_tools.agents.base import Place


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's folder; state and configurations are in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def place(home, tmp_path):
    """Where a test installs, for the user."""
    return make_place(home, tmp_path)


def make_place(home, tmp_path, **changed):
    return Place(**{
        "scope": "user", "home": home, "project": tmp_path / "project", "environment": {},
        "program": "/opt/spill store/bin/spillstore", "shell": "/opt/spill store/bin/spillstore-sh",
        "root": "/var/spill", "rewrites": True, **changed,
    })  # fmt: skip


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def tree(folder):
    """All files below a folder, with bytes and modes; and the folders."""
    found = {}
    for at, names, files in os.walk(folder):
        for name in names:
            found[os.path.join(at, name)] = None
        for name in files:
            path = os.path.join(at, name)
            found[path] = (Path(path).read_bytes(), os.stat(path).st_mode)
    return found
