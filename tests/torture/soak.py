"""Soaks: one process goes on for very long, and what it takes is sampled: ``python tests/torture/soak.py PART --size N`` (``make soak``).

Each part does the same again and again, in steps that grow by a tenth of what is there. After each step it notes memory, descriptors,
threads, bytes on the disk, and of each kind of call the processor time of who calls, or of the server: what a busy machine does to clocks proves nothing.
At the end every series is fitted: *flat* if its last quarter is at most 1.3 times its second, *logarithmic* if it rises by less
than the fifth root of the size and no faster at the end than a logarithm, else it *grows*, which is a finding.
``--folder`` keeps what was made; a run with it goes on where the last one has ended. All is drawn with ``--seed``.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from spillstore import Store  # noqa: E402
from spillstore.settings import GIB, KIB, MIB, parse_size  # noqa: E402

SETTINGS = {
    "free_disk_floor": 0, "artifacts_per_minute": 0, "redact": False, "store_quota": 1024 * GIB, "session_quota": 512 * GIB,
    "artifact_limit": 128 * GIB,
}  # fmt: skip
STEPS = 1.1  # how much more there is at the next sample
FLAT = 1.3  # times
EXPONENT = 0.2  # of the size, at most
NOISE = {"memory": 8 * MIB, "descriptors": 4, "threads": 2, "disk": 64 * KIB}


class Part:
    """Something that goes on. ``step`` does it once more; ``there`` is how often it was done in this folder."""

    unit = "calls"
    average = staticmethod(statistics.median)  # of what calls of a kind take
    noise = 1e-3  # seconds of a call by which no two are told apart

    def __init__(self, folder: Path, seed: int, wanted: argparse.Namespace) -> None:
        self.folder, self.seed, self.wanted = folder, seed, wanted
        self.times: dict[str, list[float]] = collections.defaultdict(list)
        self.there = 0
        self.settled = 0  # the size from which on it is judged

    def timed(self, name, function):
        """Call; the processor time of this thread is noted."""
        began = time.thread_time()
        answer = function()
        self.times[name].append(time.thread_time() - began)
        return answer

    def step(self, number: int) -> None:
        """Do it once more."""
        raise NotImplementedError

    def pid(self) -> int:
        """The process that is looked at."""
        return os.getpid()

    def disk(self) -> float:
        """Bytes on the disk, those that should stay alike."""
        return float(sum(each.stat().st_size for each in self.folder.rglob("*") if each.is_file()))

    def close(self) -> None:
        """End it."""


def _text(dice: random.Random, lines: int = 20) -> bytes:
    return b"".join(
        b"line %06d of some output, status=%d\n" % (dice.randrange(10**6), dice.choice((200, 500)))
        for _ in range(lines)
    )


class Session(Part):
    """Small calls in one session: each tenth stores an artifact, the others look at one, list, search, delete and ask for its origin."""

    def __init__(self, folder, seed, wanted):
        super().__init__(folder, seed, wanted)
        self._session = Store(folder / "root", **SETTINGS).session("soak")
        self.ids = [info.id for info in self._session.infos(limit=None)] if (folder / "root").exists() else []
        self.ids.reverse()
        self.there = 10 * len(self.ids)

    def step(self, number):
        dice = random.Random(f"{self.seed} {number}")
        session, ids = self._session, self.ids
        if number % 10 == 0 or not ids:
            ids.append(self.timed("put", lambda: session.put(_text(dice), source="soak", command="make")).id)
            return
        one = dice.choice(ids)
        calls = {
            1: ("get", lambda: session.artifact(one).info),
            2: ("read", lambda: session.artifact(one).read_lines(2, 9)),
            3: ("list", lambda: list(session.infos(limit=20))[:20]),
            4: ("search", lambda: session.artifact(one).search("status=500")),
            5: ("origin", lambda: session.artifact(one).origin()),
            6: ("tail", lambda: session.artifact(one).tail(3)),
            7: ("events", lambda: session.events(limit=10)),
            8: ("read", lambda: session.artifact(one).read_bytes(0, 100)),
            9: ("flush", self._write),
        }
        self.timed(*calls[number % 10])

    def _write(self):
        with self._session.create(source="gone") as writer:
            writer.write(b"a line\n")
        self._session.artifact(writer.id).delete()

    def disk(self):
        """For each artifact."""
        return super().disk() / max(1, len(self.ids))

    def close(self):
        assert len(self.ids) <= len(set(self.ids))
        for one in random.Random(self.seed).sample(self.ids, min(50, len(self.ids))):
            self._session.artifact(one).verify()
        self._session.close()


class Sessions(Part):
    """Sessions, each with an artifact: made, listed a page at a time, opened again, collected for nothing."""

    unit = "sessions"

    def __init__(self, folder, seed, wanted):
        super().__init__(folder, seed, wanted)
        self._store = Store(folder / "root", collect_interval=1e9, **SETTINGS)
        self.there = (
            sum(1 for _ in (folder / "root" / "_").iterdir()) if (folder / "root" / "_").exists() else 0
        )

    def step(self, number):
        dice = random.Random(f"{self.seed} {number}")

        def make():
            with self._store.session(f"s{number}") as session:
                session.put(_text(dice), source="soak")

        def again():
            with self._store.session(f"s{dice.randrange(number + 1)}", read_only=True) as session:
                session.infos(limit=5)

        self.timed("make", make)
        self.timed("open", again)

    def disk(self):
        """For each session."""
        return super().disk() / max(1, self.there)


class Stream(Part):
    """MiB after MiB through an artifact with a cap, whose middle is dropped; its end is read meanwhile."""

    unit = "MiB"

    def __init__(self, folder, seed, wanted):
        super().__init__(folder, seed, wanted)
        self._session = Store(folder / "root", **SETTINGS).session("soak")
        self._writer = self._session.create(source="stream", policy="roll", limit=wanted.cap)
        self._dice = random.Random(seed)
        self.settled = 2 * wanted.cap // MIB  # until then it fills
        self._block = b"".join(
            b"%d %s\n" % (each, self._dice.randbytes(30).hex().encode()) for each in range(16_000)
        )[:MIB]

    def step(self, number):
        block = b"block %012d\n" % number
        self.timed("write", lambda: self._writer.write(block + self._block[len(block) :]))
        if number % 64 == 63:
            self.timed("flush", self._writer.flush)
            artifact = self._session.artifact(self._writer.id)
            assert (
                self.timed("tail", lambda: artifact.read_bytes(number * MIB, number * MIB + len(block)))
                == block
            )
            self.timed("list", lambda: self._session.infos(limit=5))

    def close(self):
        self._writer.close()
        artifact = self._session.artifact(self._writer.id)
        print(
            f"size {artifact.info.size:,}, kept {artifact.info.kept:,}, on the disk {artifact.info.stored_size:,}"
        )
        artifact.verify()
        self._session.close()


class Server(Part):
    """A server of the protocol, called by its client: commands whose output is stored or shown, and lists."""

    average = staticmethod(statistics.fmean)  # its time is told in ticks of ten milliseconds
    noise = 0.01

    def __init__(self, folder, seed, wanted):
        super().__init__(folder, seed, wanted)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SPILLSTORE_")
        }
        environment |= {
            "SPILLSTORE_ROOT": str(folder / "root"),
            "SPILLSTORE_FREE_DISK_FLOOR": "0",
            "SPILLSTORE_ARTIFACTS_PER_MINUTE": "0",
        }
        command = [sys.executable, "-m", "spillstore_tools.cli", "mcp", "--session", "soak"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
        )
        self._number = 0
        who = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"},
        }
        self._ask("initialize", who)
        self._newest = None

    def _ask(self, method, params):
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number and "method" not in answer:
                return answer["result"]

    def _tool(self, name, **given):
        before = self._used()
        result = self._ask("tools/call", {"name": name, "arguments": given})
        self.times[name].append(self._used() - before)
        assert not result.get("isError"), result
        return result

    def _used(self):
        """The server's processor time."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def step(self, number):
        kind = number % 8
        if kind == 0 or self._newest is None:
            found = self._tool("bash", command=f"seq {number} {number + 9000}")
            self._newest = found["_meta"]["spillstore/result"]["artifact_id"] if "_meta" in found else None
        elif kind < 4:
            self._tool("bash", command=f"echo {number}")
        elif kind == 4:
            self._tool("list_artifacts")
        elif kind == 5:
            self._ask("tools/list", {})
        else:
            self._ask("ping", {})

    def pid(self):
        return self._process.pid

    def disk(self):
        """For each call."""
        return super().disk() / max(1, self.there)

    def close(self):
        self._process.stdin.close()
        assert self._process.wait(120) == 0
        self._process.stdout.close()


PARTS = {
    "session": (Session, 1_000_000),
    "sessions": (Sessions, 20_000),
    "stream": (Stream, 50 * KIB),
    "server": (Server, 86_400),
}


def taken(part: Part) -> dict[str, float]:
    """What a process takes now."""
    status = Path(f"/proc/{part.pid()}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {
        "memory": int(fields["VmRSS"].split()[0]) * KIB,
        "descriptors": len(os.listdir(f"/proc/{part.pid()}/fd")),
        "threads": int(fields["Threads"]),
        "disk": part.disk(),
    }


def verdict(sizes: list[float], values: list[float], noise: float) -> str:
    """How a series grows with the size: ``flat``, ``logarithmic`` or ``grows``; a word for each."""
    pairs = [(size, value) for size, value in zip(sizes, values, strict=True) if not math.isnan(value)][
        len(sizes) // 4 :
    ]
    if len(pairs) < 4:
        return "too few"
    middle = len(pairs) // 3
    first = statistics.median(value for _, value in pairs[:middle] or pairs[:1])
    last = statistics.median(value for _, value in pairs[-middle:] or pairs[-1:])
    if last <= first * FLAT or last - first <= noise:
        return "flat"
    logs = [(math.log(size), math.log(max(value, 1e-9))) for size, value in pairs]
    slope = statistics.linear_regression(*zip(*logs, strict=True)).slope
    return "logarithmic" if slope <= EXPONENT else f"grows (size to the power of {slope:.2f})"


def play(name: str, wanted: argparse.Namespace, folder: Path) -> bool:
    """Play a part; whether nothing grows that must not."""
    kind, usual = PARTS[name]
    size = wanted.size or max(50, int(usual * wanted.scale))
    print(f"soak {name}: --seed {wanted.seed} --size {size}", flush=True)
    folder.mkdir(exist_ok=True)
    part = kind(folder, wanted.seed, wanted)
    began, told = time.monotonic(), 0.0
    sizes: list[float] = []
    series: dict[str, list[float]] = collections.defaultdict(list)
    until = began + wanted.seconds
    first, following = part.there, part.there + max(10, int(part.there * (STEPS - 1)))
    number = first
    try:
        while number < size and time.monotonic() < until:
            part.step(number)
            number += 1
            part.there = number
            if number >= following or number == size:
                following = max(number + 10, int(number * STEPS))
                sizes.append(number)
                for what, value in taken(part).items():
                    series[what].append(value)
                for what in set(part.times) | set(series) - set(NOISE):
                    times = part.times.pop(what, [])
                    series[what] += [math.nan] * (len(sizes) - 1 - len(series[what]))
                    series[what].append(part.average(times) if times else math.nan)
                if time.monotonic() - told > 30:
                    told = time.monotonic()
                    print(
                        f"{told - began:.0f} s, {number:,} {part.unit}: memory {series['memory'][-1] / MIB:.0f} MiB",
                        flush=True,
                    )
    finally:
        part.close()
    print(
        f"to go on: {name} --seed {wanted.seed} --size {size} --folder ...; {number:,} of {size:,} {part.unit} are done"
    )
    fine = True
    for what, values in series.items():
        from_ = sum(size < part.settled for size in sizes)
        word = verdict(sizes[from_:], values[from_:], NOISE.get(what, part.noise))
        fine &= not word.startswith("grows")
        shown = [value for value in values[from_:] or values if not math.isnan(value)]
        picked = [_said(what, shown[min(len(shown) - 1, len(shown) * each // 4)]) for each in (1, 2, 4)]
        print(f"| {name}, seed {wanted.seed}, {first:,} to {number:,} {part.unit}, {time.monotonic() - began:.0f} s | {what} |"
              f" {' -> '.join(picked)} | {word} |", flush=True)  # fmt: skip
    return fine


def _said(what: str, value: float) -> str:
    if what in ("memory", "disk"):
        return f"{value / MIB:.1f} MiB" if value > MIB else f"{value:.0f} B"
    return f"{value:.0f}" if what in NOISE else f"{1000 * value:.2f} ms"


def main() -> int:
    """Play what is wanted; 1 if something grows."""
    parser = argparse.ArgumentParser(prog="python tests/torture/soak.py", description=__doc__)
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)}; all without one")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 2**31))
    parser.add_argument("--size", type=int, help="calls, sessions or MiB; else the usual one times --scale")
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        help="of the usual sizes: 1,000,000 calls, 20,000 sessions, 50 GiB, 86,400 calls",
    )
    parser.add_argument(
        "--cap", type=lambda text: parse_size("--cap", text), default=GIB, help="of the stream"
    )
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="after which a part ends, whatever it has done"
    )
    parser.add_argument("--folder", help="where to work and what to keep; a temporary one if left out")
    wanted = parser.parse_args()
    fine = True
    with contextlib.ExitStack() as stack:
        folder = Path(
            wanted.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-"))
        ).resolve()  # a server runs elsewhere
        folder.mkdir(exist_ok=True)
        for name in wanted.part or PARTS:
            fine &= play(name, wanted, folder / name)
    return not fine


if __name__ == "__main__":
    assert threading.active_count() == 1
    sys.exit(main())
