"""Soaks: one process goes on for very long, and what it takes is sampled: ``python tests/torture/soak.py PART --size N`` (``make soak``).

Each part does the same again and again, in steps that grow by a tenth of what is there. After each step it notes memory, descriptors,
threads, bytes on the disk, and of each kind of call the processor time of who calls, or of the server: what a busy machine does to clocks proves nothing.
*all* is what the whole process has taken for a call, with its other threads. Processor time is longer while others fill the caches, too, so a fixed
piece of work, the *reference*, is timed between the calls, and all times are told as if it had always taken its median.
At the end every series is fitted: *flat* if the last third of its last three quarters is at most 1.3 times their first, *logarithmic* if it rises
by less than the fifth root of the size, else it *grows*, which is a finding.
``--folder`` keeps what was made and what was sampled; a run with it goes on where the last one has ended, and judges all that was sampled. A run
that is told to end (SIGTERM, Ctrl-C) notes where; of one that is killed, *stream* and *server* count what was done at the last sample.
All is drawn with ``--seed``.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import itertools
import json
import math
import os
import random
import signal
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
COLLECTED = 250  # sessions between two collections
REFERRED = 10  # calls between two references
STEPS = 1.1  # how much more there is at the next sample
FLAT = 1.3  # times
EXPONENT = 0.2  # of the size, at most
NOISE = {"memory": 8 * MIB, "descriptors": 4, "threads": 2, "disk": 64 * KIB}


_REFERENCE = {str(number): [number, "x" * number] for number in range(200)}


class Part:
    """Something that goes on. ``step`` does it once more; ``there`` is how often it was done in this folder."""

    unit = "calls"
    noise = 1e-3  # seconds of a call by which no two are told apart

    def __init__(self, folder: Path, seed: int, wanted: argparse.Namespace, there: int) -> None:
        self.folder, self.seed, self.wanted = folder, seed, wanted
        self.times: dict[str, list[float]] = collections.defaultdict(list)
        self.there = there
        self.settled = 0  # the size from which on it is judged

    def timed(self, name, function):
        """Call; the processor time of this thread is noted."""
        began = time.thread_time()
        answer = function()
        self.times[name].append(time.thread_time() - began)
        return answer

    def refer(self) -> None:
        """Time something that never changes."""
        self.timed("reference", lambda: json.loads(json.dumps(_REFERENCE)))

    def step(self, number: int) -> None:
        """Do it once more."""
        raise NotImplementedError

    def pid(self) -> int:
        """The process that is looked at."""
        return os.getpid()

    def used(self) -> float:
        """Its processor time, of all its threads; its clock is named as Linux names those of other processes."""
        return time.clock_gettime(~self.pid() << 3 | 2)

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

    def __init__(self, folder, seed, wanted, there):
        super().__init__(folder, seed, wanted, there)
        self._session = Store(folder / "root", **SETTINGS).session("soak")
        self.ids = [info.id for info in self._session.infos(limit=None) if info.source == "soak"]
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
    """Sessions, each with an artifact: made, opened again, listed, and from time to time all looked at by a collection that deletes none."""

    unit = "sessions"

    def __init__(self, folder, seed, wanted, there):
        super().__init__(folder, seed, wanted, there)
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
        self.timed("list", lambda: list(itertools.islice(self._store.sessions(), 20)))
        if number % COLLECTED == 10:
            report = self.timed("collect", lambda: self._store.collect(older_than=1e9))
            assert (len(report.deleted), len(report.spared)) == (0, number + 1)
            self.times["collect"][-1] /= number + 1  # it looks at each

    def disk(self):
        """For each session."""
        return super().disk() / max(1, self.there)


class Stream(Part):
    """MiB after MiB through an artifact with a cap, whose middle is dropped; its end is read meanwhile."""

    unit = "MiB"

    def __init__(self, folder, seed, wanted, there):
        super().__init__(folder, seed, wanted, there)
        self._session = Store(folder / "root", **SETTINGS).session("soak")
        for before in self._session.infos(limit=None):  # of a run that has ended: its writer is gone
            self._session.artifact(before.id).delete()
        self._writer = self._session.create(source="stream", policy="roll", limit=wanted.cap)
        self._dice = random.Random(seed)
        self.began = there
        self.settled = there + 2 * wanted.cap // MIB  # until then it fills
        self._block = b"".join(
            b"%d %s\n" % (each, self._dice.randbytes(30).hex().encode()) for each in range(16_000)
        )[:MIB]

    def step(self, number):
        block = b"block %012d\n" % number
        self.timed("write", lambda: self._writer.write(block + self._block[len(block) :]))
        if number % 64 == 63:
            self.timed("flush", self._writer.flush)
            artifact = self._session.artifact(self._writer.id)
            at = (number - self.began) * MIB
            assert block == self.timed("tail", lambda: artifact.read_bytes(at, at + len(block)))
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

    def __init__(self, folder, seed, wanted, there):
        super().__init__(folder, seed, wanted, there)
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
        before = self.used()
        result = self._ask("tools/call", {"name": name, "arguments": given})
        self.times[name].append(self.used() - before)
        assert not result.get("isError"), result
        return result

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


class Samples:
    """What was sampled in a folder, by all runs: a line of JSON each, with the size, the run and what is judged of it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
        self.rows = [json.loads(line) for line in lines if line.endswith(b"\n")]
        self.run = self.rows[-1]["run"] + 1 if self.rows else 1

    @property
    def there(self) -> int:
        """The size of the last one."""
        return self.rows[-1]["size"] if self.rows else 0

    def add(self, part: Part, used: float) -> None:
        """Look at a part, which has used so much processor time for each of its units since it was looked at."""
        values = taken(part) | {"all": used}
        values |= {what: statistics.median(times) for what, times in part.times.items()}
        part.times.clear()
        self.rows.append(
            {"size": part.there, "run": self.run, "judged": part.there >= part.settled, "values": values}
        )
        with self._file.open("a") as file:
            file.write(json.dumps(self.rows[-1]) + "\n")

    def series(self) -> dict[str, tuple[list[int], list[float]]]:
        """Of each thing the sizes that are judged, and its values at them."""
        rows = [row for row in self.rows if row["judged"]] or self.rows
        names = dict.fromkeys(name for row in self.rows for name in row["values"])
        sizes = [row["size"] for row in rows]
        found = {name: [row["values"].get(name, math.nan) for row in rows] for name in names}
        fixed = found.pop("reference", [math.nan] * len(rows))
        usual = statistics.median([value for value in fixed if not math.isnan(value)] or [1.0])
        for name in found.keys() - NOISE.keys():
            found[name] = [
                value if math.isnan(now) else value * usual / now
                for value, now in zip(found[name], fixed, strict=True)
            ]
        return {name: (sizes, values) for name, values in found.items()}


def play(name: str, wanted: argparse.Namespace, folder: Path) -> bool:
    """Play a part; whether nothing grows that must not."""
    kind, usual = PARTS[name]
    size = wanted.size or max(50, int(usual * wanted.scale))
    print(f"soak {name}: --seed {wanted.seed} --size {size}", flush=True)
    folder.mkdir(exist_ok=True)
    samples = Samples(folder / "samples.jsonl")
    part = kind(folder, wanted.seed, wanted, samples.there)
    began, told = time.monotonic(), 0.0
    number, following, sampled, used = part.there, int(part.there * STEPS) + 10, part.there, part.used()
    try:
        while number < size:
            part.step(number)
            if number % REFERRED == 0:
                part.refer()
            number += 1
            part.there = number
            ended = _ENDED.is_set() or time.monotonic() - began > wanted.seconds
            if number >= following or number == size or ended:
                samples.add(part, (part.used() - used) / (number - sampled))
                following, sampled, used = int(number * STEPS) + 10, number, part.used()
                if time.monotonic() - told > 30:
                    told = time.monotonic()
                    memory = samples.rows[-1]["values"]["memory"] / MIB
                    print(
                        f"{told - began:.0f} s, {number:,} {part.unit}: memory {memory:.0f} MiB", flush=True
                    )
            if ended:
                break
    finally:
        part.close()
    print(
        f"to go on: {name} --seed {wanted.seed} --size {size} --folder ...; {number:,} of {size:,} {part.unit} are done"
    )
    return _judge(name, wanted, part, samples, f"{number:,} {part.unit}, {samples.run} runs")


def _judge(name: str, wanted: argparse.Namespace, part: Part, samples: Samples, what_was_done: str) -> bool:
    fine = True
    for what, (sizes, values) in samples.series().items():
        word = verdict(sizes, values, NOISE.get(what, part.noise))
        fine &= not word.startswith("grows")
        shown = [value for value in values if not math.isnan(value)]
        picked = [
            _said(what, shown[min(len(shown) - 1, len(shown) * each // 4)]) for each in (1, 2, 4) if shown
        ]
        print(f"| {name}, seed {wanted.seed}, {what_was_done} | {what} | {' -> '.join(picked)} | {word} |", flush=True)  # fmt: skip
    return fine


_ENDED = threading.Event()


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
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: _ENDED.set())
    fine = True
    with contextlib.ExitStack() as stack:
        folder = Path(
            wanted.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-"))
        ).resolve()  # a server runs elsewhere
        folder.mkdir(exist_ok=True)
        for name in wanted.part or PARTS:
            fine &= _ENDED.is_set() or play(name, wanted, folder / name)
    return not fine


if __name__ == "__main__":
    assert threading.active_count() == 1
    sys.exit(main())
