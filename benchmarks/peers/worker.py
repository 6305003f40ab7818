"""One peer and one text, in an interpreter of its own: ``python -m benchmarks.peers.worker JSON``; prints JSON.

The text is stored, then three processes that begin with what that one knows read lines, search, and read all of it. Of each
phase: wall clock, processor time with children, the most memory above what it began with (of commands: theirs, at least what a small
Python has), and in words what became of the answer. Nothing of Spillstore is imported, since others run this, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PEERS = {
    "spillstore": "ours.Spillstore",
    "spillstore, redaction off": "ours.Unredacted",
    "the machine's limit": "libraries.Limit",
    "tee, sed, rg": "commands.TeeSedRg",
    "tee, tail, grep": "commands.TeeTailGrep",
    "zstd": "commands.Zstd",
    "pyzstd, seekable": "libraries.SeekableZstd",
    "LMDB": "libraries.Lmdb",
    "diskcache": "libraries.Diskcache",
    "SQLite, a row a line": "libraries.RowALine",
    "strands-agents": "agents.Strands",
    "deepagents, files": "agents.DeepAgents",
    "deepagents, store": "agents.DeepAgentsStore",
    "pydantic-ai-harness": "agents.PydanticAi",
    "haystack": "agents.Haystack",
    "context-mode": "agents.ContextMode",
}
AGENTS = tuple(name for name, place in PEERS.items() if place.startswith("agents."))
ASKED = 100  # lines
_AGAIN = 20
_SECONDS = 120  # a phase; what takes longer is not waited for


def peer(name: str) -> Any:
    """The class of a peer."""
    module, _, kind = PEERS[name].partition(".")
    return getattr(import_module(f"benchmarks.peers.{module}"), kind)


def main(name: str, text: str, expected: str, folder: str, lines: int, needle: str) -> dict[str, Any]:
    """All phases."""
    _warm(name, Path(folder, "warm"), needle)
    subject = peer(name)(Path(folder))
    middle = max(1, lines // 2 - ASKED // 2)
    report = {"store": measured(lambda: subject.store(Path(text)), getattr(subject, "close", None))}
    report["store"]["disk"] = _disk_size(Path(folder))
    if report["store"]["words"] != "right":
        return report
    getattr(subject, "prepare", bool)()
    answer = Path(expected)
    report["lines"] = _apart(lambda: _lines(subject, middle, lines, answer))
    report["search"] = _apart(lambda: _search(subject, needle, answer))
    report["store"]["words"] = _apart(lambda: _whole(subject, answer))["words"]
    return report


def _warm(name: str, folder: Path, needle: str) -> None:
    """Once with a little text, so that what is imported is no part of what is measured."""
    folder.mkdir()
    text = folder / "text"
    text.write_bytes(b"one line of a few\n" * 5000 + needle.encode() + b"\n")
    subject = peer(name)(folder)
    subject.store(text)
    getattr(subject, "prepare", bool)()
    subject.open()
    if subject.lines is not None:
        subject.lines(1, 2)
    subject.search(needle)
    getattr(subject, "close", bool)()
    shutil.rmtree(folder)


# --- phases -----------------------------------------------------------------------------------------------


def _lines(subject: Any, middle: int, lines: int, expected: Path) -> dict[str, Any]:
    if subject.lines is None:
        return {"words": "cannot"}

    def first() -> bytes:
        subject.open()
        found: bytes = subject.lines(middle, middle + ASKED - 1)
        return found

    report = measured(first)
    answer = report.pop("answer", None)
    if answer is None:
        return report
    whole = expected.read_bytes().split(b"\n")
    report["words"] = words_of_bytes(answer, _joined(whole, middle))
    rng, begin, again = random.Random(5), time.monotonic(), []
    while len(again) < _AGAIN and time.monotonic() - begin < 2:
        place = rng.randrange(1, max(2, lines - ASKED))
        start = time.perf_counter()
        found = subject.lines(place, place + ASKED - 1)
        again.append(time.perf_counter() - start)
        if report["words"] == "right":
            report["words"] = words_of_bytes(found, _joined(whole, place))
    report["again"] = sorted(again)[len(again) // 2]
    return report


def _joined(whole: list[bytes], first: int) -> bytes:
    return b"".join(line + b"\n" for line in whole[first - 1 : first - 1 + ASKED])


def _search(subject: Any, needle: str, expected: Path) -> dict[str, Any]:
    def search() -> Any:
        subject.open()
        return subject.search(needle)

    report = measured(search, getattr(subject, "close", None))
    answer = report.pop("answer", None)
    if answer is not None:
        found = enumerate(expected.read_bytes().split(b"\n"), start=1)
        right = [(number, line.decode()) for number, line in found if needle.encode() in line]
        report["words"] = words_of_search(answer, right)
    return report


def _whole(subject: Any, expected: Path) -> dict[str, Any]:
    report = measured(lambda: (subject.open(), subject.whole())[1], getattr(subject, "close", None))
    answer = report.pop("answer", None)
    return report if answer is None else {"words": words_of_bytes(answer, expected.read_bytes())}


# --- in words ---------------------------------------------------------------------------------------------


def words_of_bytes(answer: bytes, expected: bytes) -> str:
    """What became of a text."""
    if answer.removesuffix(b"\n") == expected.removesuffix(b"\n"):
        return "right"
    told = answer.removesuffix(b"\n")
    if expected.startswith(told):
        return f"cut: {len(told):,} of {len(expected):,} bytes"
    if told == expected.decode("utf-8", "replace").encode().removesuffix(b"\n"):
        return "changed: bytes that are no UTF-8 are gone"
    if told.replace(b"\r", b"\n").split() == expected.replace(b"\r", b"\n").split():
        return "changed: blanks or line ends"
    return f"another text: {len(answer):,} bytes for {len(expected):,}"


def words_of_search(answer: list[Any], right: list[tuple[int, str]]) -> str:
    """What a search has found: numbers of lines, or lines where there are no numbers."""
    numbered = all(isinstance(found, int) for found in answer)
    wanted = [number if numbered else line for number, line in right]
    if sorted(answer) == sorted(wanted):
        return "right" if numbered else "right, without line numbers"
    hits = len({*answer} & {*wanted})
    return (
        f"{hits} of {len(wanted)} found"
        if hits == len(answer)
        else f"wrong: {len(answer) - hits} that are not there"
    )


# --- cost -------------------------------------------------------------------------------------------------


def measured(call: Callable[[], Any], close: Callable[[], None] | None = None) -> dict[str, Any]:
    """What a call costs; an error is told in words."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak of memory begins anew
    before, cpu, begin = _memory("VmRSS"), _cpu(), time.perf_counter()
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_SECONDS)
    words, answer = "right", None
    try:
        answer = call()
    except Exception as error:
        words = f"fails: {type(error).__name__}: {error}"[:120]
    finally:
        signal.alarm(0)
    wall = time.perf_counter() - begin
    if close is not None:
        close()
    peak = max(_memory("VmHWM") - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
    report = {"wall": wall, "cpu": _cpu() - cpu, "peak": peak, "words": words}
    return report if answer is None else {**report, "answer": answer}


def _too_long(*_: object) -> None:
    raise TimeoutError(f"not done in {_SECONDS} s")


def _cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _memory(field: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return 0  # not on macOS


def _disk_size(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _apart(phase: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The report of a phase that runs in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            report = phase()
        except BaseException as error:
            report = {"words": f"fails: {type(error).__name__}: {error}"[:120]}
        with open(writing, "w", encoding="utf-8") as pipe:
            json.dump(report, pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"words": "fails: the process has died"}


if __name__ == "__main__":
    if "missing" in sys.argv[1:]:
        print(json.dumps({name: peer(name).missing() for name in PEERS}))
    else:
        print(json.dumps(main(**json.loads(sys.argv[1]))))
