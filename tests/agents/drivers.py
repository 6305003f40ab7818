"""How each agent is configured, started and asked: what differs between them, in one place."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from agents.programs import node, program
from agents.stand_ins import Completions, Contents, Messages, Responses

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 240
CLI = [sys.executable, "-m", "spillstore_tools.cli"]


class Surroundings(NamedTuple):
    """Where an agent runs."""

    folder: Path
    environment: dict

    @property
    def home(self):
        return self.folder / "home"

    @property
    def work(self):
        return self.folder / "work"

    def spillstore(self, *arguments):
        done = subprocess.run(
            [*CLI, *arguments],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


class Agent:
    """One agent.

    Attributes:
        name: for `spillstore install`.
        model: the stand-in for its model.
        options: of `spillstore install`.
        tool: its tool for commands.
        argument: the name of that tool's argument.
        keeps_rules: whether its rules see the command itself.

    Each has ``command(url)``: the words of the call that begins a conversation.
    """

    name = ""
    model = None
    options = ()
    tool = ""
    argument = "command"
    keeps_rules = True

    def __init__(self, surroundings):
        self.at = surroundings
        self.path = program(self.name)

    def call(self, command):
        return (self.tool, {self.argument: command})

    def configure(self, url):
        """Write the configuration that the user has before anything of ours."""

    def environment(self, url):
        return {}

    def run(self, *calls):
        """One conversation; the results of its calls."""
        with self.model(calls) as model:
            self.configure(model.url)
            done = subprocess.run(
                self.command(model.url),
                cwd=self.at.work,
                env={**self.at.environment, **self.environment(model.url)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            found = model.results
            if model.failure is not None:
                raise model.failure
        assert len(found) == len(calls), (
            found,
            sorted(map(str, model.tools)),
            done.stdout[-2000:],
            done.stderr[-2000:],
        )
        return found

    def write(self, path, text):
        path = self.at.home / path
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


class ClaudeCode(Agent):
    name = "claude-code"
    model = Messages
    tool = "Bash"
    denies = ("Bash(rm:*)",)
    servers = None

    def call(self, command):
        return (self.tool, {"command": command, "description": "a test"})

    def configure(self, url):
        permissions = {"allow": ["Bash", "mcp__counter"], "deny": list(self.denies)}
        self.write(
            ".claude/settings.json", json.dumps({"permissions": permissions, "env": {"MINE": "1"}}, indent=2)
        )

    def command(self, url):
        return [
            str(self.path), "-p", "go", "--mcp-config", json.dumps({"mcpServers": self.servers or {}}),
            "--output-format", "stream-json", "--verbose",
        ]  # fmt: skip

    def environment(self, url):
        return {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }  # fmt: skip


class Codex(Agent):
    name = "codex"
    model = Responses
    options = ("--i-know",)
    tool = "exec_command"
    argument = "cmd"
    keeps_rules = False  # said by `spillstore install`

    def configure(self, url):
        text = (
            f'model = "m" # mine\nmodel_provider = "here"\n[model_providers.here]\nname = "here"\nbase_url = "http://127.0.0.1/v1"\n'
            f'wire_api = "responses"\nenv_key = "KEY"\n\n[projects."{self.at.work}"]\ntrust_level = "trusted"\n'
        )
        self.write(".codex/config.toml", text)

    def command(self, url):
        return [
            str(self.path), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust", "--json", "-c", f'model_providers.here.base_url="{url}/v1"', "go",
        ]  # fmt: skip

    def environment(self, url):
        return {"KEY": "none"}


class OpenCode(Agent):
    name = "opencode"
    model = Completions
    tool = "bash"

    def call(self, command):
        return (self.tool, {"command": command, "description": "a test"})

    def configure(self, url):
        self.write(
            ".config/opencode/opencode.jsonc",
            "{\n  // mine\n"
            '  "permission": {"bash": {"*": "allow", "rm *": "deny"}},\n'
            '  "provider": {"here": {"npm": "@ai-sdk/openai-compatible", "models": {"m": {}},\n'
            '    "options": {"baseURL": "{env:HERE}", "apiKey": "none"}}},\n'
            "}\n",
        )

    def command(self, url):
        return [str(self.path), "run", "--model", "here/m", "go"]

    def environment(self, url):
        return {
            "HERE": f"{url}/v1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }  # fmt: skip


class Gemini(Agent):
    name = "gemini"
    model = Contents
    tool = "run_shell_command"

    def configure(self, url):
        settings = {
            "general": {"disableAutoUpdate": True},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
        }
        self.write(".gemini/settings.json", json.dumps(settings, indent=2) + "\n")
        rule = 'toolName = "run_shell_command"\ncommandPrefix = "rm"\ndecision = "deny"\npriority = 999\n'
        self.write(".gemini/policies/mine.toml", f"[[rule]]\n{rule}")

    def command(self, url):
        return [node(), str(self.path), "--yolo", "-m", "gemini-2.5-flash", "-p", "go"]

    def environment(self, url):
        return {
            "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }  # fmt: skip


AGENTS = {each.name: each for each in (ClaudeCode, Codex, OpenCode, Gemini)}
