"""Searching what is stored, and what an answer costs where a model waits for it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks.data import MIB, read_blocks
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved, median, percentile
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore_tools.agent.search_artifact import TextCleaner

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.workspace import Workspace
    from spillstore import Artifact

_SIZE = 200
_PATTERNS = {
    "log": {"rare": "zebra-[0-9]{9}", "some": "ERROR", "either": "(?i)timeout.*refused|panicked|deadlock"},
    "tool": {
        "rare": "zebra-[0-9]{9}",
        "some": "JUMP_BACKWARD",
        "either": "(?i)unexpected.*indent|overflow|deadlock",
    },
}
_CATASTROPHIC = ("(a+)+$", "(a|aa)+$", "((a*)*b)*c$")


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 3 if space.quick else 7
    rows = []
    for kind in ("log", "tool"):
        root, report = space.stored(kind, _SIZE * MIB)
        with Store(root).session(SESSION, read_only=True) as session:
            rows += _searches(space, kind, session.artifact(report["artifact"]), rounds)
    rows += _linear(space)
    root, report = space.stored("log", _SIZE * MIB)
    return [
        *rows,
        *_cold(root, report["artifact"], 5 * rounds),
        *_served(root, report["artifact"], 40 * rounds),
    ]


def _searches(space: Workspace, kind: str, artifact: Artifact, rounds: int) -> list[Row]:
    """Counting all matching lines, beside a search through the same bytes as one zstd file."""
    rows = []
    source = space.source(kind, _SIZE * MIB).path
    for name, pattern in _PATTERNS[kind].items():
        peer, peer_name = _peer(space.compressed(kind, _SIZE * MIB), pattern)
        expected = _lines_with(source, pattern)
        right = {"ours": True, peer_name: True}

        def check(
            who: str, _: int, answer: Any, right: dict[str, bool] = right, expected: int = expected
        ) -> None:
            right[who] = right[who] and answer == expected

        calls = {
            "ours": lambda _, pattern=pattern: artifact.search(pattern, limit=0, cleaner=TextCleaner()).lines,
            peer_name: lambda _, peer=peer: _counted(peer),
        }
        times = interleaved(calls, rounds, check)
        rows.append(
            compare(
                f"{_SIZE} MiB of {kind}, lines that match {name} ({expected})",
                times["ours"],
                times[peer_name],
                peer_name,
                unit="s",
                limit=1.0 if name == "rare" else None,
                correct=all(right.values()),
            )
        )
    pages = interleaved(
        {
            "page": lambda _: artifact.search(
                _PATTERNS[kind]["some"], limit=50, context=2, cleaner=TextCleaner()
            )
        },
        5 * rounds,
        lambda *_: None,
    )["page"]
    rows.append(
        absolute(
            f"{_SIZE} MiB of {kind}, first page of a common pattern with context",
            median(pages),
            unit="ms",
            limit=20.0,
            correct=len(artifact.search(_PATTERNS[kind]["some"], limit=50, cleaner=TextCleaner()).matches)
            == 50,
            p99=percentile(pages, 0.99) * 1e3,
        )
    )
    return rows


def _peer(path: Path, pattern: str) -> tuple[list[str], str]:
    """The command that counts, and what it is called: ripgrep where it is installed, else grep behind zstd."""
    if shutil.which("rg"):
        return ["rg", "-z", "-c", "--no-filename", pattern, str(path)], "rg -z -c"
    return ["sh", "-c", 'zstd -dcq "$0" | LC_ALL=C grep -cP "$1"', str(path), pattern], "zstd -dc | grep -cP"


def _counted(command: list[str]) -> int:
    return int(subprocess.run(command, capture_output=True, check=False).stdout or 0)


def _lines_with(path: Path, pattern: str) -> int:
    import re  # the reference

    wanted = re.compile(pattern.encode())
    rest, lines = b"", 0
    for block in read_blocks(path):
        *whole, rest = (rest + block).split(b"\n")
        lines += sum(wanted.search(line) is not None for line in whole)
    return lines + (wanted.search(rest) is not None)


def _linear(space: Workspace) -> list[Row]:
    """Patterns that make backtracking engines run for ever: twice the text takes about twice the time."""
    rows = []
    store = Store(space.fresh("catastrophic"), free_disk_floor=0)
    with store.session(SESSION) as session:
        artifacts = [session.put(b"a" * (size * MIB) + b"!\n") for size in (8, 16)]
        for pattern in _CATASTROPHIC:
            taken = []
            for artifact in artifacts:
                begin = time.perf_counter()
                found = artifact.search(pattern, limit=0).lines
                taken.append(time.perf_counter() - begin)
            rows.append(
                Row(
                    what=f"a line of 16 MiB that {pattern} almost matches, against one of 8 MiB",
                    ours=taken[1],
                    unit="s",
                    peer=taken[0],
                    peer_name="8 MiB",
                    ratio=taken[1] / taken[0],
                    limit=3.0,
                    correct=found == 0,
                )
            )
    return rows


def _cold(root: Path, artifact_id: str, rounds: int) -> list[Row]:
    """A command from its start to its end, above an empty Python."""
    script = shutil.which("spillstore", path=os.path.dirname(sys.executable)) or "spillstore"
    where = ["--root", str(root), "--session", SESSION]
    answers: dict[str, bytes] = {}

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(command: list[str]) -> bytes:
        """Its output; the first run leaves compiled modules behind, as an installation does."""
        return subprocess.run(command, capture_output=True, check=True, env=environment).stdout

    def check(name: str, _: int, answer: bytes) -> None:
        answers[name] = answer

    calls = {
        "python": lambda _: run([sys.executable, "-c", "pass"]),
        "show": lambda _: run([script, "show", artifact_id, "--lines", "1000-1099", *where]),
    }
    times = interleaved(calls, rounds, check)
    return [
        absolute(
            "spillstore show, 100 lines, from start to end, above an empty Python",
            median(times["show"]) - median(times["python"]),
            unit="ms",
            limit=150.0,
            correct=answers["show"].count(b"\n") == 100,
            peer_ms=median(times["python"]) * 1e3,
        )
    ]


def _served(root: Path, artifact_id: str, rounds: int) -> list[Row]:
    """``get_artifact`` through the MCP server: a whole round trip, the client's part included."""
    try:
        from mcp import Client, StdioServerParameters  # an extra
        from mcp.client.stdio import stdio_client  # likewise
    except ImportError:
        print("mcp is not installed: get_artifact through the server is not measured")
        return []

    async def calls() -> tuple[list[float], bool]:
        arguments = [
            "-m",
            "spillstore_tools.cli",
            "mcp",
            "--read-only",
            "--root",
            str(root),
            "--session",
            SESSION,
        ]
        taken, right = [], True
        server = StdioServerParameters(command=sys.executable, args=arguments)
        async with Client(stdio_client(server)) as client:
            for number in range(rounds):
                first = 1 + 997 * number % 1_000_000
                sent = {"id": artifact_id, "start_line": first, "end_line": first + 99, "max_chars": 30_000}
                begin = time.perf_counter()
                result = await client.call_tool("get_artifact", sent)
                taken.append(time.perf_counter() - begin)
                right &= f"lines {first}-{first + 99} of" in result.content[0].text
        return taken, right

    taken, right = asyncio.run(calls())
    return [
        absolute(
            "get_artifact of 100 lines through MCP stdio, the whole round trip, p50",
            median(taken),
            unit="ms",
            limit=5.0,
            correct=right,
            p99=percentile(taken, 0.99) * 1e3,
        )
    ]
