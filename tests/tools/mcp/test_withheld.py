"""What opens something to who has it is in the environment of no command, however it is started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from test_mcp_proxy import RAW, talk

from spillstore_tools.agent.bash import bash_sync
from spillstore_tools.process.runners import LocalRunner, start_program

pytestmark = pytest.mark.everywhere

__all__ = ["talk"]
TOKEN, KEY = "SPILLSTORE_MCP_TOKEN", "SPILLSTORE_DIGEST_KEY_FILE"
SCRIPT = f'echo "[${{{TOKEN}-none}}] [${{{KEY}-none}}] [$COLOUR]"'
EXPECTED = "[none] [none] [blue]\n"


@pytest.fixture
def session(plain_store):
    with plain_store.session("chat") as session:
        yield session


@pytest.fixture(autouse=True)
def secrets(monkeypatch, tmp_path):
    """Both are set for us; the key is not used, for the sessions here have none."""
    monkeypatch.setenv("COLOUR", "blue")
    monkeypatch.setenv(TOKEN, "zk3vtq9lmw2xrb7nc")
    file = tmp_path / "key"
    file.write_bytes(bytes(range(64)))
    file.chmod(0o600)
    monkeypatch.setenv(KEY, str(file))


@pytest.mark.parametrize("env", [None, "ours"])
def test_the_tool_bash_withholds_them(session, env):
    """Whether it has our environment or one that it was given."""
    found = bash_sync(session, command=SCRIPT, env=dict(os.environ) if env else None)
    assert found.text.startswith(EXPECTED)


def test_a_runner_of_ones_own_never_sees_them(session):
    """What is handed to it is what the command may have."""
    seen = {}

    class Own(LocalRunner):
        def start(self, command, *, cwd, env):
            seen.update(env)
            return super().start(command, cwd=cwd, env=env)

    bash_sync(session, command="true", runner=Own())
    assert ({TOKEN, KEY} & seen.keys(), seen["COLOUR"]) == (set(), "blue")


@pytest.mark.parametrize("env", [None, "ours"])
def test_programs_do_not_have_them(env):
    """Neither with our environment nor with one like it."""
    started = start_program(["sh", "-c", SCRIPT], env=dict(os.environ) if env else None)
    with os.fdopen(started.stdout) as printed, os.fdopen(started.stderr):
        assert printed.read() == EXPECTED
    assert started.wait() == 0


@pytest.mark.long
def test_spillstore_run_withholds_them(root):
    """Its command does not have them."""
    program = [
        sys.executable,
        "-m",
        "spillstore_tools.cli",
        "run",
        "--session",
        "s",
        "--",
        "sh",
        "-c",
        SCRIPT,
    ]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout.startswith(EXPECTED)


@pytest.mark.long
def test_the_server_behind_a_proxy_does_not_have_them(talk):
    """Nothing else is taken away."""
    words = talk(RAW).words("environment")
    assert [name in words for name in (TOKEN, KEY, "COLOUR")] == [False, False, True]
