"""What small things cost: commands from start to end, imports, a put of 26 bytes, a call of a tool over MCP.

Whole processes are compared by their processor time, in turn with a Python that does nothing, or with bash; what happens in an open session
or server by the time that the caller waits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import plain, process
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved, median, percentile
from benchmarks.workspace import SESSION
from spillstore import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.workspace import Workspace

_EMPTY = "an empty Python"
_LINES = b"".join(b"line %d of a log\n" % number for number in range(1, 20_001))
_SMALL = b"abcdefghijklmnopqrstuvwxyz"
_EIGHT = _LINES[:8000]
_CLIENT: dict[str, object] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class _Process(NamedTuple):
    """A process: its arguments for Python, what it must print, and the target for what it takes above an empty Python."""

    arguments: list[str]
    printed: bytes | None  # at its end; None for anything
    limit: float | None = None  # ms
    stdin: bytes = b""


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 20 if space.quick else 60
    store = Store(space.fresh("cold"), artifacts_per_minute=0, free_disk_floor=0)
    with store.session(SESSION) as session:
        shown = session.put(_LINES, source="benchmark").id
    return [
        *_processes(space, shown, rounds),
        *_shells(rounds),
        *_puts(store, space.fresh("temporary"), rounds * 10),
        *_calls(store.root, rounds * 5),
    ]


def _commands(space: Workspace, shown: str) -> dict[str, _Process]:
    eight = space.fresh("eight")
    eight.write_bytes(_EIGHT)
    where = ["--session", SESSION, "--root", str(space.folder / "cold")]
    small = space.fresh("small")
    small.write_bytes(_SMALL)

    def command(*arguments: str) -> list[str]:
        return ["-m", "spillstore_tools.cli", arguments[0], *where, *arguments[1:]]

    hello = (
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _CLIENT}).encode() + b"\n"
    )
    return {
        _EMPTY: _Process(["-c", "pass"], b""),
        "import spillstore": _Process(["-c", "import spillstore"], b"", 30.0),
        "import spillstore; spillstore.Store": _Process(
            ["-c", "import spillstore; spillstore.Store"], b"", 30.0
        ),
        "spillstore show": _Process(
            command("show", shown, "--lines", "100-101"), b"line 100 of a log\nline 101 of a log\n", 100.0
        ),
        "spillstore list": _Process(command("list"), None),
        "spillstore put, 26 bytes": _Process(command("put", str(small)), None),
        "spillstore run -- true": _Process(command("run", "--", "true"), b"exit code 0]\n"),
        "spillstore run -- echo hi": _Process(command("run", "--", "echo", "hi"), b"exit code 0]\n"),
        "spillstore run, 8 KB": _Process(command("run", "--", "cat", str(eight)), b"exit code 0]\n"),
        "spillstore mcp, the first answer": _Process(command("mcp"), b"}\n", stdin=hello),
    }


def _processes(space: Workspace, shown: str, rounds: int) -> list[Row]:
    commands = _commands(space, shown)
    wrong: set[str] = set()

    def run(name: str, _number: int) -> bytes:
        command = commands[name]
        done = subprocess.run(
            [sys.executable, *command.arguments],
            input=command.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return done.stdout

    def check(name: str, _number: int, answer: object) -> None:
        expected = commands[name].printed
        assert isinstance(answer, bytes)
        if expected is not None and not (answer.endswith(expected) and (expected or not answer)):
            wrong.add(name)

    calls: dict[str, Callable[[int], object]] = {name: partial(run, name) for name in commands}
    for call in calls.values():  # so that what is imported is compiled
        call(0)
    times = interleaved(calls, rounds, check, process.children_cpu_seconds)
    rows = []
    for name, taken in times.items():
        if name == _EMPTY:
            continue
        row = compare(
            f"{name}, cpu", taken, times[_EMPTY], _EMPTY, unit="ms", limit=None, correct=name not in wrong
        )
        above = absolute(
            f"{name}, cpu above {_EMPTY}",
            median(taken) - median(times[_EMPTY]),
            unit="ms",
            limit=commands[name].limit,
            correct=name not in wrong,
            rounds=rounds,
        )
        rows += [row, above]
    return rows


def _shells(rounds: int) -> list[Row]:
    """A small command by ``spillstore-sh``, in turn with the same by bash."""
    program = "from spillstore_tools.shell.command import main; main()"
    shells = {"ours": [sys.executable, "-c", program], "peer": ["bash"]}
    wrong = False

    def run(name: str, _number: int) -> bytes:
        return subprocess.run([*shells[name], "-c", "echo hi"], stdout=subprocess.PIPE, check=True).stdout

    def check(_name: str, _number: int, answer: object) -> None:
        nonlocal wrong
        wrong |= answer != b"hi\n"

    calls: dict[str, Callable[[int], object]] = {name: partial(run, name) for name in shells}
    for call in calls.values():
        call(0)
    times = interleaved(calls, rounds, check, process.children_cpu_seconds)
    name, ours, peer = "spillstore-sh -c 'echo hi', cpu", times["ours"], times["peer"]
    above = median(ours) - median(peer)
    return [
        compare(name, ours, peer, "bash", unit="ms", limit=None, correct=not wrong),
        absolute(f"{name} above bash", above, unit="ms", limit=60.0, correct=not wrong, rounds=rounds),
    ]


def _puts(store: Store, folder: Path, rounds: int) -> list[Row]:
    """26 bytes into an open session, next to a temporary file in that folder."""
    folder.mkdir()
    correct = True
    with store.session("puts") as session:

        def check(name: str, _number: int, answer: Any) -> None:
            nonlocal correct
            correct &= name != "ours" or answer.read_bytes(0, 100) == _SMALL

        calls: dict[str, Callable[[int], object]] = {
            "ours": lambda _: session.put(_SMALL),
            "peer": lambda _: plain.temporary_file(_SMALL, folder),
        }
        times = interleaved(calls, rounds, check)
    ours = times["ours"]
    rows = [
        absolute(f"put of 26 bytes: {name}", percentile(ours, share), unit="ms", limit=None, correct=correct)
        for name, share in (("p50", 0.5), ("p99", 0.99))
    ]
    peer = "temporary file"
    return [*rows, compare(f"put of 26 bytes against a {peer}", ours, times["peer"], peer, unit="ms", limit=None, correct=correct)]  # fmt: skip


def _calls(root: Path, rounds: int) -> list[Row]:
    """Round trips to a server over stdio."""
    server = subprocess.Popen(
        [sys.executable, "-m", "spillstore_tools.cli", "mcp", "--root", str(root), "--session", SESSION],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    sent = 0

    def call(method: str, params: dict[str, object]) -> dict[str, Any]:
        nonlocal sent
        sent += 1
        message = {"jsonrpc": "2.0", "id": sent, "method": method, "params": params}
        server.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]  # asserted above
        server.stdin.flush()  # type: ignore[union-attr]  # likewise
        while True:
            answer: dict[str, Any] = json.loads(server.stdout.readline())  # type: ignore[union-attr]  # likewise
            if answer.get("id") == sent:  # others are notifications
                return answer

    correct = True

    def check(name: str, _number: int, answer: Any) -> None:
        nonlocal correct
        correct &= name == "ping" or not answer["result"].get("isError", False)

    tool: dict[str, object] = {"name": "list_artifacts", "arguments": {"limit": 1}}
    try:
        begin = time.perf_counter()
        call("initialize", _CLIENT)
        started = time.perf_counter() - begin
        calls: dict[str, Callable[[int], object]] = {
            "call": lambda _: call("tools/call", tool),
            "ping": lambda _: call("ping", {}),
        }
        for each in calls.values():
            each(0)
        times = interleaved(calls, rounds, check)
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()
    return [
        absolute("MCP: from start to the first answer", started, unit="ms", limit=None, correct=correct),
        compare(
            "MCP: a call of list_artifacts", times["call"], times["ping"], "ping", unit="ms", limit=None, correct=correct
        ),
    ]  # fmt: skip
