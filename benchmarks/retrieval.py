"""Searching what is stored, and what an answer costs where a model waits for it."""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks import process
from benchmarks.data import MIB, read_blocks
from benchmarks.queries import OTHERS, QUERIES, Query
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
_OTHER_SIZE = 64
_AS_STORED = ("random bytes",)  # what a reader sees of them says nothing
_CATASTROPHIC = ("(a+)+$", "(a|aa)+$", "((a*)*b)*c$")


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 3 if space.quick else 7
    rows = []
    for kind in (*QUERIES, *OTHERS):
        size = _SIZE if kind in QUERIES else _OTHER_SIZE
        root, report = space.stored(kind, size * MIB)
        with Store(root).session(SESSION, read_only=True) as session:
            artifact = session.artifact(report["artifact"])
            rows += [
                _searched(space, query, kind, size, artifact, rounds) for query in (QUERIES | OTHERS)[kind]
            ]
            if kind in QUERIES:
                rows.append(_first_page(kind, artifact, rounds))
    rows += _linear(space)
    root, report = space.stored("log", _SIZE * MIB)
    return [*rows, *_served(root, report["artifact"], 40 * rounds)]


def _first_page(kind: str, artifact: Artifact, rounds: int) -> Row:
    common = next(query.pattern for query in QUERIES[kind] if query.name == "a common text")
    pages = interleaved(
        {"page": lambda _: artifact.search(common, limit=50, context=2, cleaner=TextCleaner())},
        5 * rounds,
        lambda *_: None,
    )["page"]
    return absolute(
        f"{_SIZE} MiB of {kind}, first page of a common pattern with context",
        median(pages),
        unit="ms",
        limit=20.0,
        correct=len(artifact.search(common, limit=50, cleaner=TextCleaner()).matches) == 50,
        p99=percentile(pages, 0.99) * 1e3,
    )


def _searched(space: Workspace, query: Query, kind: str, size: int, artifact: Artifact, rounds: int) -> Row:
    """All matching lines and matches counted, beside a search through the same bytes as one zstd file for the lines alone."""
    peer, peer_name = _peer(space.compressed(kind, size * MIB), query)
    expected = _found_in(space.source(kind, size * MIB).path, query.expression)
    cleaner = None if kind in _AS_STORED else TextCleaner()
    spent = {"ours": 0.0, peer_name: 0.0}
    right = True

    def ours(_: int) -> tuple[int, int]:
        before = process.cpu_seconds()
        options = {"literal": query.literal, "ignore_case": query.ignore_case}
        found = artifact.search(query.pattern, limit=0, cleaner=cleaner, **options)
        spent["ours"] += process.cpu_seconds() - before
        return found.lines, found.total_matches

    def theirs(_: int) -> int:
        before = process.children_cpu_seconds()
        lines = _counted(peer)
        spent[peer_name] += process.children_cpu_seconds() - before
        return lines

    def check(who: str, _: int, answer: Any) -> None:
        nonlocal right
        right &= answer == (expected if who == "ours" else expected[0])

    times = interleaved({"ours": ours, peer_name: theirs}, rounds, check)
    return compare(
        f"{size} MiB of {kind}, {query.name}: {expected[0]} lines, {expected[1]} matches",
        times["ours"],
        times[peer_name],
        peer_name,
        unit="s",
        limit=query.limit,
        correct=right,
        cpu_ratio=spent["ours"] / spent[peer_name],
    )


def _peer(path: Path, query: Query) -> tuple[list[str], str]:
    """The command that counts, and what it is called: ripgrep where it is installed, else grep behind zstd."""
    options = ["-i"] * query.ignore_case + ["-F"] * query.literal
    if shutil.which("rg"):
        return ["rg", "-a", "-z", "-c", "--no-filename", *options, query.pattern, str(path)], "rg -z -c"
    flags = "".join(each[1:] for each in options) + "P" * (not query.literal)
    command = f'zstd -dcq "$0" | LC_ALL=C grep -ac{flags} "$1"'
    return ["sh", "-c", command, str(path), query.pattern], "zstd -dc | grep -c"


def _counted(command: list[str]) -> int:
    return int(subprocess.run(command, capture_output=True, check=False).stdout or 0)


def _found_in(path: Path, pattern: str) -> tuple[int, int]:
    """Matching lines and matches, by the standard library's expressions."""
    wanted = re.compile(pattern.encode())
    rest, lines, matches = b"", 0, 0
    for block in itertools.chain(read_blocks(path), (b"\n",)):
        whole, end, rest = (rest + block).rpartition(b"\n")
        known = -1
        for found in wanted.finditer(whole + end):
            begin = whole.rfind(b"\n", 0, found.start()) + 1
            lines += begin != known
            matches += 1
            known = begin
    return lines, matches


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
