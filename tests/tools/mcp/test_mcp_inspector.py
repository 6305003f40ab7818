"""Our servers as the protocol's own inspector sees them: its command line calls them, checks answers and schemas.

It is a program of Node.js. Where that or the package is not to be had, these tests are skipped. The package comes from
npm's registry, once for each user, without the scripts that packages may run when they are installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from platformdirs import user_cache_path

pytestmark = pytest.mark.slow
PACKAGE, VERSION = "@modelcontextprotocol/inspector", "2.12.0"
OLDEST_NODE = 20
TOOL_FAILED = 5  # the exit code of the inspector where the result of a tool is an error
PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]
UPSTREAM = [sys.executable, str(Path(__file__).parent / "upstream_sdk.py")]
TOOLS = [
    "bash",
    "get_artifact",
    "search_artifact",
    "compare_artifacts",
    "list_artifacts",
    "artifact_info",
]


def installed() -> Path:
    """The inspector's folder; it appears there whole or not at all, however many tests want it at once."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("the inspector needs Node.js and npm, and they are not on this machine")
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(told.removeprefix("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"the inspector needs Node.js {OLDEST_NODE} or newer, and this is {told}")
    cache = user_cache_path("spillstore-tests")
    there = cache / f"inspector-{VERSION}"
    if not there.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as made:
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--prefix", made]
            command = [npm, "install", *options, f"{PACKAGE}@{VERSION}"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            except subprocess.TimeoutExpired:
                pytest.skip(f"npm could not install {PACKAGE} {VERSION} in five minutes")
            if done.returncode:
                pytest.skip(f"npm cannot install {PACKAGE} {VERSION}: {done.stderr.strip()[-300:]}")
            os.mkdir(f"{made}/whole")
            os.rename(f"{made}/node_modules", f"{made}/whole/node_modules")
            try:
                os.rename(f"{made}/whole", there)
            except OSError:  # another test was faster
                assert there.exists()
    return there / "node_modules" / PACKAGE


@pytest.fixture
def inspect(root, tmp_path, monkeypatch):
    """Calls the inspector for one method: what it prints, as a value. The user's own settings of it are left alone."""
    program = installed() / "clients/launcher/build/index.js"
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(target, method, *options, strict=False, code=0):
        checks = ["--strict"] if strict else []
        chosen = ["--method", method, *options, *checks]
        command = ["node", program, "--cli", *chosen, *target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    return call


def called(inspect, target, name, code=0, **arguments):
    """The result of a tool, with the inspector's exit code."""
    given = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
    return inspect(target, "tools/call", "--tool-name", name, *given, code=code)


@pytest.fixture(
    params=[
        "stdio",
        pytest.param("stdio, structured", marks=pytest.mark.repeat),
        pytest.param("http", marks=pytest.mark.repeat),
    ]
)
def target(request, root, start):
    """A server of a session's tools, as the inspector is told of it: the command, or the address."""
    if request.param != "http":
        options = ["--structured"] if "structured" in request.param else []
        return ["--", *PROGRAM, "mcp", "--root", str(root), "--session", "s", *options]
    process = start("mcp", "--transport", "http", "--session", "s", "--json", text=True)
    urls = (json.loads(line).get("url") for line in process.stderr)
    return ["--server-url", next(url for url in urls if url)]


def test_a_server_is_what_it_says(inspect, target):
    """It introduces itself, and its tools have schemas that every client can use."""
    told = inspect(target, "initialize")
    assert "spillstore" == told["serverInfo"]["name"]
    assert {"tools", "resources"} <= set(told["capabilities"])
    tools = inspect(target, "tools/list", strict=True)["tools"]
    assert TOOLS == [tool["name"] for tool in tools]
    # Without that, one client shows a model no tool of a server until it has searched for it.
    needed = [tool["name"] for tool in tools if tool.get("_meta", {}).get("anthropic/alwaysLoad")]
    assert ["get_artifact", "search_artifact"] == needed


def test_tools_and_resources_of_a_server(inspect, target, store):
    """A command's output is cut and stored; each tool and the resource bring back what was stored."""
    shown = called(inspect, target, "bash", command="seq 1 20000; exit 3")
    assert not shown["isError"]
    about = shown["_meta"]["spillstore/result"]
    assert ("ended", 3, 20_000) == (about["state"], about["exit_code"], about["stdout"]["lines"])
    name = about["artifact_id"]
    assert f'get_artifact(id="{name}"' in shown["content"][0]["text"]
    wanted = {
        "get_artifact": ({"id": name, "start_line": 9998, "end_line": 9999}, "9998\n9999\n"),
        "search_artifact": ({"id": name, "pattern": "^1234[5-6]$"}, "12345:12345\n12346:12346\n"),
        "list_artifacts": ({}, name),
        "artifact_info": ({"id": name}, "108,894 bytes"),
    }
    for tool, (arguments, words) in wanted.items():
        assert words in called(inspect, target, tool, **arguments)["content"][0]["text"]
    wrong = called(inspect, target, "get_artifact", code=TOOL_FAILED, id="art_1_a")
    assert wrong["isError"]
    [listed] = inspect(target, "resources/list")["resources"]
    assert name in listed["uri"]
    read = inspect(target, "resources/read", "--uri", listed["uri"])["contents"][0]["text"]
    assert "\n19\n20\n" in read


def test_a_server_behind_the_proxy(inspect, root):
    """Its tools and ours are listed; what is too large is cut, and our tools bring it back."""
    proxy = ["--", *PROGRAM, "mcp-proxy", "--root", str(root), "--session", "s", "--", *UPSTREAM]
    names = [tool["name"] for tool in inspect(proxy, "tools/list", strict=True)["tools"]]
    assert ["get_artifact", "search_artifact"] == [name for name in TOOLS if name in names][:2]
    text = called(inspect, proxy, "echo", text="some words of a line\n", times=10_000)["content"][0]["text"]
    assert len(text) <= 8000
    name = text.partition('get_artifact(id="')[2].partition('"')[0]
    text = called(inspect, proxy, "get_artifact", id=name, start_line=10_000)["content"][0]["text"]
    assert ": line 10000 of 10000," in text
    value = called(inspect, proxy, "rows", count=20_000)["structuredContent"]  # it is what its schema says
    assert value["spillstore"]["artifact_id"] in value["spillstore"]["preview"]
