"""What is published, tried by the validators of those who read it."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from agents.programs import PATIENCE, cache, node, program
from support import ROOT

pytestmark = pytest.mark.agents
MCPB = "@anthropic-ai/mcpb@2.1.2"


def run(*command, **environment):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("folder", ["plugins/claude-code", "."])
def test_claude_code_takes_the_plugin_and_the_marketplace(folder, tmp_path):
    """By `claude plugin validate`."""
    assert "Validation passed" in run(
        program("claude-code"), "plugin", "validate", ROOT / folder, HOME=str(tmp_path)
    )


def test_codex_installs_the_plugin(tmp_path):
    """From our marketplace, with its MCP server."""
    home = {"HOME": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    codex = program("codex")
    run(codex, "plugin", "marketplace", "add", ROOT, **home)
    run(codex, "plugin", "add", "spillstore@spillstore", **home)
    servers = json.loads(run(codex, "mcp", "list", "--json", **home))
    assert [server["name"] for server in servers] == ["spillstore"]


def test_the_manifest_of_the_bundle_is_valid():
    """By `mcpb validate`."""
    node()
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = cache() / "mcpb-2.1.2"
    if not folder.exists():
        made = subprocess.run(
            ["npm", "install", "--silent", "--prefix", folder, MCPB],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"npm cannot bring {MCPB}: {made.stderr.strip()[-200:]}")
    validator = folder / "node_modules" / ".bin" / "mcpb"
    assert "passes" in run(validator, "validate", ROOT / "plugins/mcpb/manifest.json")
