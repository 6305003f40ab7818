"""What the product may start, and with what environment: no texts for shells, no pickles, and no secret of ours in any child."""

from __future__ import annotations

import ast
import functools
import os
from pathlib import Path

import pytest

import spillstore
import spillstore_migrations
import spillstore_tools
from spillstore_tools.agents import examination
from spillstore_tools.process import process_tree

PACKAGES = (spillstore, spillstore_tools, spillstore_migrations)
MODULES = sorted(path for package in PACKAGES for path in Path(package.__file__).parent.rglob("*.py"))
STARTS = {
    "Popen",
    "run",
    "call",
    "check_call",
    "check_output",
    "posix_spawn",
    "posix_spawnp",
    "execve",
    "execvpe",
}
# Ways to start a process that take no environment, or run a text in a shell, or make objects of bytes.
NEVER = {
    "os.system", "os.popen", "os.execv", "os.execl", "os.execvp", "os.execlp", "os.spawnl", "os.spawnv", "os.spawnve", "pty.spawn",
    "subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell", "asyncio.create_subprocess_exec",
    "yaml.load", "yaml.full_load", "yaml.unsafe_load", "eval", "exec", "__import__",
}  # fmt: skip
NEVER_IMPORTED = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}
# The demonstration types its own commands into a shell, as its reader would, in an environment without any variable of ours.
SHOWN_IN_A_SHELL = "cli/demo.py"
# Where the environment is made elsewhere, by the function that is named.
MADE_BEFORE = {
    "cli/demo.py": "self._env",
    "shell/command.py": "environment",  # by ``Call.environment``, or ours untouched where the shell takes our place
}
TOKEN = "SPILLSTORE_MCP_TOKEN"
KEY = "SPILLSTORE_DIGEST_KEY_FILE"


@functools.cache
def name_of(node):
    return ast.unparse(node.func)


@functools.cache
def calls():
    """Each call of each module, with the module's short name."""
    return [
        ("/".join(path.parts[-2:]), node)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def starts():
    for module, node in calls():
        owner, _, last = name_of(node).rpartition(".")
        if owner in ("subprocess", "os") and last in STARTS:
            yield module, node


def test_no_text_is_run_by_a_shell():
    """Programs are started with lists of arguments; the tool ``bash`` and ``spillstore-sh`` name their shell, whose text is the caller's."""
    shells = {
        module
        for module, node in starts()
        for each in node.keywords
        if each.arg == "shell" and ast.unparse(each.value) != "False"
    }
    assert {SHOWN_IN_A_SHELL} == shells


def test_what_would_run_texts_or_make_objects_of_bytes_is_not_used():
    """No ``eval``, no pickles, no loader of YAML that makes objects."""
    assert [] == [(module, name_of(node)) for module, node in calls() if name_of(node) in NEVER]
    imported = {
        (path.name, each.name)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for each in (*node.names, ast.alias(getattr(node, "module", "") or ""))
        if each.name.partition(".")[0] in NEVER_IMPORTED
    }
    assert set() == imported


def test_every_process_that_we_start_has_an_environment_without_secrets():
    """Whoever starts one names its environment, which has gone through ``for_commands``."""
    found = list(starts())
    assert len(found) >= 8
    for module, node in found:
        given = [ast.unparse(each.value) for each in node.keywords if each.arg == "env"]
        if name_of(node).startswith("os."):
            given = [ast.unparse(node.args[2])]
        made = MADE_BEFORE.get(module)
        assert given, (module, node.lineno, "inherits everything")
        assert given == [made] or given[0].startswith("for_commands("), (module, node.lineno, given)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program that notes its environment; the function returns it."""
    monkeypatch.setenv(TOKEN, "zk3vtq9lmw2xrb7nc")
    monkeypatch.setenv(KEY, str(tmp_path / "key"))
    monkeypatch.setenv("COLOUR", "blue")

    def make(name):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\necho 1.0\n")
        path.chmod(0o700)
        return str(path)

    make.seen = lambda: {line.partition("=")[0] for line in (tmp_path / "seen").read_text().splitlines()}
    return make


def test_programs_that_are_asked_for_their_version_do_not_have_them(program):
    """``spillstore doctor`` asks agents and entries of theirs, which may be anybody's programs."""
    for ask in (examination._version, lambda name: examination._exit_code([name, "--version"])):
        ask(program("agent"))
        assert (set(), True) == ({TOKEN, KEY} & program.seen(), "COLOUR" in program.seen())


def test_the_list_of_processes_is_made_without_them(program, monkeypatch, tmp_path):
    """``ps`` is the first of that name in the path."""
    program("ps")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ValueError, match="not enough values"):  # its answer is no list
        process_tree._listed()
    assert (set(), True) == ({TOKEN, KEY} & program.seen(), "COLOUR" in program.seen())
