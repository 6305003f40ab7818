"""Whether an agent's configuration works: what `spillstore doctor` says."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Literal

from spillstore_tools.agents import document, files
from spillstore_tools.agents.edit import ConfigurationError, found_at, same_entry
from spillstore_tools.process.environment import for_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.agents.base import Agent, Place, Target
    from spillstore_tools.agents.edit import Edit

Level = Literal["ok", "advice", "problem"]
_OURS = re.compile(r"(?:'(/[^']*/spillstore(?:-sh)?)'|(/\S*/spillstore(?:-sh)?))(?=\s|\Z)")
_PATIENCE = 20  # seconds for a program to say its version
_CODE = 7  # that a shell is asked to exit with


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        level: ``problem`` makes `spillstore doctor` exit with 1.
        what: what was looked at, one word.
        text: what was found, and what to do.
    """

    level: Level
    what: str
    text: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """What is known of one agent.

    Attributes:
        agent: its name.
        program: its executable; None if there is none.
        version: what it says.
        configured: ``yes``, ``partly``, ``no``, or ``unknown`` where a file cannot be read.
        findings: what was looked at.
    """

    agent: str
    program: str | None
    version: str | None
    configured: str
    findings: tuple[Finding, ...]


def examine(agent: Agent, place: Place, limit: int | None) -> Report:
    """Look at one agent.

    Args:
        agent: which one.
        place: where it would be installed.
        limit: characters of our previews; None where they have no limit.

    Cost: one start of the agent's program and one of each of ours that its entries name.
    """
    program = shutil.which(agent.program, path=place.environment.get("PATH"))
    version = None if program is None else _version(program)
    configured, entries, findings = _configured(agent, place)
    if configured in {"no", "partly"}:
        findings.append(_advice(agent, configured, installed=program is not None))
    if configured != "no":
        findings += [_runs(path) for path in sorted(set(_programs(entries)))]
        findings += _fits(agent, limit)
    if program is not None and agent.tested and version and agent.tested not in version:
        findings.append(
            Finding("ok", "version", f"it is {version}; the entries were tried with {agent.tested}")
        )
    return Report(
        agent=agent.name, program=program, version=version, configured=configured, findings=tuple(findings)
    )


def _advice(agent: Agent, configured: str, *, installed: bool) -> Finding:
    if configured == "partly":
        return Finding(
            "problem", "entries", f"some entries are missing; `spillstore install {agent.name}` puts them in"
        )
    if not installed:
        return Finding("ok", "entries", f"{agent.program} is not in PATH, and nothing is configured")
    return Finding("advice", "entries", f"nothing is configured; `spillstore install {agent.name}` does it")


def _configured(agent: Agent, place: Place) -> tuple[str, list[Any], list[Finding]]:
    """Whether our entries are there, the entries, and what cannot be read."""
    findings: list[Finding] = []
    entries: list[Any] = []
    expected = there = 0
    needed = agent.targets(place)
    for target in agent.targets(dataclasses.replace(place, rewrites=True)):
        try:
            found = list(_entries(target))
        except (ConfigurationError, OSError) as error:
            line = (
                f":{error.line}:{error.column}"
                if isinstance(error, ConfigurationError) and error.line
                else ""
            )
            findings.append(Finding("problem", "file", f"{target.path}{line}: {error}"))
            continue
        entries += found
        if target in needed:
            expected += len(target.edits) or 1
            there += len(found)
    if findings:
        return "unknown", entries, findings
    return ("yes" if there >= expected else "partly" if there else "no"), entries, findings


def _entries(target: Target) -> Iterator[Any]:
    """Those of our entries that a file holds."""
    text = files.read(target.path).text
    if text is None:
        return
    if target.language is None:
        yield text
        return
    parsed = document.LANGUAGES[target.language].parse(text)
    for edit in target.edits:
        found = _entry(parsed, edit)
        if found is not None:
            yield found


def _entry(parsed: Any, edit: Edit) -> Any:
    depth, value = found_at(parsed, edit.path)
    if depth < len(edit.path):
        return None
    if not edit.element:
        return value if same_entry(value, edit.value) else None
    found = value if isinstance(value, list) else []
    return next((each for each in found if same_entry(each, edit.value)), None)


def _programs(value: Any) -> Iterator[str]:
    """The absolute paths of our programs that entries name."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _programs(each)
    elif isinstance(value, str):
        whole = re.fullmatch(r"/.*/spillstore(-sh)?", value)
        yield from [value] if whole else (quoted or plain for quoted, plain in _OURS.findall(value))


def _runs(path: str) -> Finding:
    """Whether one of our programs exists and does what it should."""
    if not os.access(path, os.X_OK):
        return Finding(
            "problem",
            "program",
            f"{path} is not there or cannot be run; install Spillstore again, then the entries",
        )
    is_shell = path.endswith("-sh")
    code = _exit_code([path, "-c", f"exit {_CODE}"] if is_shell else [path, "--version"])
    if code != (_CODE if is_shell else 0):
        return Finding(
            "problem", "program", f"{path} does not run (exit code {code}); install Spillstore again"
        )
    return Finding("ok", "program", f"{path} runs")


def _exit_code(command: list[str]) -> int | None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            env=for_commands(os.environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.returncode


def _fits(agent: Agent, limit: int | None) -> list[Finding]:
    """Whether what we show passes the agent uncut."""
    if agent.cut is None:
        return []
    if limit is None or limit > agent.cut:
        shown = "have no limit" if limit is None else f"have up to {limit} characters"
        text = f"previews {shown}, and {agent.title} cuts beyond {agent.cut}; set a smaller inline_limit in .agent/config.yml"
        return [Finding("problem", "limit", text)]
    return [
        Finding("ok", "limit", f"previews of {limit} characters pass; {agent.title} cuts beyond {agent.cut}")
    ]


def _version(program: str) -> str | None:
    """The first line that a program prints for ``--version``."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            env=for_commands(os.environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return lines[0] if lines and done.returncode == 0 else None
