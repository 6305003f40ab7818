"""What registries and agents read of the repository: plugins, marketplaces, server.json, the bundle's manifest."""

from __future__ import annotations

import json

import jsonschema
import pytest
from support import ROOT

from spillstore_tools.agents.registry import AGENTS
from spillstore_tools.cli.support.agents import NAMES


def read(path):
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def test_the_registry_takes_server_json():
    """By its schema; and the readme proves whose package it is."""
    server = read("server.json")
    jsonschema.validate(server, read("tests/data/registry/server.schema.json"))
    assert f"mcp-name: {server['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "marketplace", [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"]
)
def test_marketplaces_name_folders_that_are_there(marketplace):
    """With a plugin of that name."""
    for plugin in read(marketplace)["plugins"]:
        source = plugin["source"]
        folder = ROOT / (source if isinstance(source, str) else source["path"])
        manifest = next(folder.glob(".*-plugin/plugin.json"))
        assert plugin["name"] == json.loads(manifest.read_text(encoding="utf-8"))["name"]


def test_hooks_of_the_plugin_are_those_that_there_are():
    """The context at the beginning of a session is short, and no hook runs before a tool."""
    hooks = read("plugins/claude-code/hooks/hooks.json")["hooks"]
    assert {"PostToolUse", "SessionStart"} == set(hooks)
    assert hooks["PostToolUse"][0]["hooks"][0]["command"] == "spillstore hook claude-code"
    said = read("plugins/claude-code/hooks/session-start.json")["hookSpecificOutput"]["additionalContext"]
    assert len(said) <= 600
    skills = [ROOT / "plugins" / name / "skills/spillstore/SKILL.md" for name in ("claude-code", "codex")]
    assert skills[0].read_bytes() == skills[1].read_bytes()


def test_the_command_line_knows_all_agents():
    """Its list stands apart, so that ``--help`` imports nothing."""
    assert tuple(AGENTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_agent_has_a_page(name):
    """How it is installed, what is edited, what the model sees, how it is taken back, and its limits; and whether it was run."""
    page = (ROOT / "docs" / "agents" / f"{name}.md").read_text(encoding="utf-8")
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    sections = ["Install", "What is edited", "What the model sees", "Take it back", "Limits"]
    assert headings == [f"## {each}" for each in sections]
    tested = AGENTS[name].tested
    assert ("the program was not run" if tested is None else f"Run with {tested}.") in page
