"""Spillstore beside its peers: a text is stored, 100 lines are read from its middle, a rare word is searched.

Each peer does that in an interpreter of its own, in turn with the others. What is not installed is named and left out. A row
has all that was measured of one peer and one kind of text; whether its answers were right is said in words. Whether ours
were decides ``correct``: right is what the redactor gives, where redaction is on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchmarks import process
from benchmarks.data import FOLDER, MIB, read_blocks
from benchmarks.peers.worker import AGENTS, PEERS
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import median
from benchmarks.texts import TEN, texts
from spillstore.redaction import Redactor

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.workspace import Workspace

OURS = "spillstore"
NEEDLE = "zebraquartz4711"
_MADE = 8 * MIB  # of each kind; the file repeats it
_QUICK = ("log lines",)
_AGENTS_PYTHON = FOLDER / "agents" / "bin" / "python"
_PHASES = ("store", "lines", "search")
_ONCE = {*AGENTS}  # they are asked once, in few kinds: what they take is far from what noise is
_OF_AGENTS = ("log lines", "minified", "random bytes")


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds, size = (1, 8 * MIB) if space.quick else (2, 32 * MIB)
    peers = _installed()
    rows = []
    for kind, data in texts(_MADE, _QUICK if space.quick else TEN):
        asked = {name: peers[name] for name in peers if name not in _ONCE or kind in _OF_AGENTS}
        rows += _kind(space, kind, data, size, rounds, asked)
    return rows


def _installed() -> dict[str, Path | str]:
    """Those that can run, each with the interpreter that has what it needs; the others are named."""
    found: dict[str, Path | str] = {}
    missing: dict[str, str] = {}
    for python, names in ((sys.executable, {*PEERS} - _ONCE), (_AGENTS_PYTHON, _ONCE)):
        if python == _AGENTS_PYTHON and not _AGENTS_PYTHON.exists():
            missing |= dict.fromkeys(names, "make bench-peers")
            continue
        lacking: dict[str, str] = json.loads(process.run([str(python), *_WORKER, "missing"]).output)
        found |= {name: python for name in names if not lacking[name]}
        missing |= {name: lacking[name] for name in names if lacking[name]}
    for name, what in missing.items():
        print(f"{name} is not compared: not installed ({what})", flush=True)
    return {name: found[name] for name in PEERS if name in found}


_WORKER = ("-m", "benchmarks.peers.worker")


def _kind(
    space: Workspace, kind: str, data: bytes, size: int, rounds: int, peers: dict[str, Path | str]
) -> list[Row]:
    text, redacted = space.fresh("peers-text"), space.fresh("peers-redacted")
    text.write_bytes(_planted(data, size))
    redactor = Redactor()
    with redacted.open("wb") as file:
        for block in read_blocks(text):
            file.write(redactor.feed(block))
        file.write(redactor.finish())
    lines = sum(block.count(b"\n") for block in read_blocks(text))
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in peers}
    for number in range(rounds):
        names = [name for name in peers if not number or name not in _ONCE]
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            folder = space.fresh("peer")
            folder.mkdir()
            question = {
                "name": name,
                "text": str(text),
                "expected": str(redacted if name == OURS else text),
                "folder": str(folder),
                "lines": lines,
                "needle": NEEDLE,
            }
            reports[name].append(_asked(peers[name], question))
    return [_row(kind, name, reports) for name in reports]


def _planted(data: bytes, size: int) -> bytes:
    """The text, repeated up to a size, with three lines to be found: early, in the middle, late."""
    whole = bytearray(data * (size // len(data)))
    for place, share in enumerate((0.1, 0.5, 0.9)):
        begin = whole.index(b"\n", int(len(whole) * share)) + 1
        whole[begin:begin] = b"%s was here, place %d\n" % (NEEDLE.encode(), place)
    return bytes(whole)


def _asked(python: Path | str, question: dict[str, Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(
            process.run([str(python), *_WORKER, json.dumps(question)]).output.splitlines()[-1]
        )
    except (subprocess.CalledProcessError, IndexError, ValueError) as error:
        return {"store": {"wall": 0.0, "words": f"fails: its process ends with {type(error).__name__}"}}
    return answer


def _row(kind: str, name: str, reports: dict[str, list[dict[str, Any]]]) -> Row:
    told = {"kind": kind, "peer_of": name, **_told(reports[name])}
    correct = all(
        report[phase]["words"] == "right" for report in reports[OURS] for phase in _PHASES if phase in report
    )
    ours = [report["store"]["wall"] for report in reports[OURS]]
    peer = [report["store"]["wall"] for report in reports[name]]
    what = f"{kind}, stored, read and searched: {name}"
    if name == OURS or min(peer) == 0:
        return absolute(what, median(peer), unit="s", limit=None, correct=correct, **told)
    return compare(what, ours, peer, name, unit="s", limit=None, correct=correct, **told)


def _told(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each phase: milliseconds, megabytes, and the worst of what became of the answers."""
    found: dict[str, Any] = {}
    for phase in _PHASES:
        each = [report[phase] for report in reports if phase in report]
        if not each:
            continue
        told: dict[str, Any] = {"words": next((x["words"] for x in each if x["words"] != "right"), "right")}
        for key, name, scale in _FIGURES:
            if values := [report[key] for report in each if key in report]:
                told[name] = round(median(values) * scale, 2)
        found[phase] = told
    return found


_FIGURES = (
    ("wall", "ms", 1e3),
    ("cpu", "cpu_ms", 1e3),
    ("again", "again_ms", 1e3),
    ("peak", "mb", 1e-6),
    ("disk", "disk_mb", 1e-6),
)
