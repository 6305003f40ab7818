"""Real agents on this machine, models on loopback. Off unless ``-m agents`` asks for them."""

from __future__ import annotations

import os
import shlex
import stat
import sys

import pytest
from agents.drivers import Surroundings

PYTHON = shlex.quote(sys.executable)


def pytest_collection_modifyitems(config, items):
    """They take minutes and a download, so nobody gets them by chance."""
    if "agents" in (config.option.markexpr or ""):
        return
    ours = [item for item in items if item.get_closest_marker("agents")]
    if ours:
        config.hook.pytest_deselected(items=ours)
        items[:] = [item for item in items if item not in ours]


@pytest.fixture
def surroundings(tmp_path):
    """A user with a home, a folder to work in, a store, and our programs in PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, module in (("spillstore", "spillstore_tools.cli"), ("spillstore-sh", "spillstore_tools.shell")):
        path = programs / name
        path.write_text(f'#!/bin/sh\nexec {PYTHON} -m {module} "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    for name in ("home", "work", "temporary"):
        (tmp_path / name).mkdir()
    environment = {
        "PATH": os.pathsep.join([str(programs), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(tmp_path / "home"),
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "SPILLSTORE_ROOT": str(tmp_path / "store"),
        "SPILLSTORE_FREE_DISK_FLOOR": "0",
    }
    return Surroundings(tmp_path, environment)
