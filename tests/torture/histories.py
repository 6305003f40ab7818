"""What processes do at once to a few sessions, written down with when it began and ended: the parts of the campaign *histories*.

All share one session; some more are made and deleted by name all the time. Each process has threads with handles of their own,
forks children that open the store anew, and is suspended now and then.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import struct
import threading
import time
import traceback
from pathlib import Path

from scenes import NO_FLOORS, content

from spillstore import Store
from spillstore.exceptions import (
    ArtifactNotFoundError,
    SessionBusyError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
)

_ALWAYS = 10**9
_GONE = (SessionDeletedError, SessionNotFoundError)
_AT_MOST = 4  # times as many as are wanted, for who waits for others
NAMES = ("n0", "n1")
KINDS = (
    "put",
    "stream",
    "stream",
    "read",
    "read",
    "read",
    "exists",
    "list",
    "delete",
    "name",
    "name list",
    "name delete",
)


class Worker:
    """One thread of a process."""

    def __init__(self, place, settings, dice, name, known):
        self.store = Store(place, **{**NO_FLOORS, "busy_timeout": 60.0, **settings})
        self.dice = dice
        self.name = name
        self.known = known  # ids of artifacts of the shared session, of this process
        self.history = []
        self.wrong = []
        self.session = self.store.session("s")
        self.writer = None
        self.numbers = iter(range(10**9))

    def timed(self, op, function, session="s", **what):
        """Do something, and write down when; ``gone`` and ``missing`` are answers, too, any other error is wrong."""
        begin = time.monotonic_ns()
        try:
            result = function()
        except _GONE:
            result = "missing" if op in ("delete session", "list") else "gone"
        except ArtifactNotFoundError:
            result = "missing"
        except SessionBusyError as error:
            result = "failed"
            if op != "delete session":
                self.wrong.append(f"{op}: {error!r}")
        except BaseException as error:
            result = "failed"
            self.wrong.append(f"{op}: {''.join(traceback.format_exception(error))[-2500:]}")
        record = {"op": op, "session": session, "begin": begin, "end": time.monotonic_ns(), "by": self.name}
        self.history.append({**record, **what, "result": result})
        return result

    def step(self):
        """Do one thing."""
        kind = self.dice.choice(KINDS)
        getattr(self, f"do_{kind.replace(' ', '_')}")()

    def _put(self, session, name):
        number = next(self.numbers)
        source = f"{self.name}-{number}"
        size = self.dice.choice((20, 3000, 120_000))
        data = (source.encode() + b" ").ljust(30, b".") + content("large", size)
        return self.timed("put", lambda: session.put(data, source=source, redact=False).id, session=name)

    def do_put(self):
        key = self._put(self.session, "s")
        if key not in ("gone", "failed"):
            self.known.append(key)

    def do_stream(self):
        """Begin one, write more of it, or end it."""
        if self.writer is None:
            source = f"{self.name}-{next(self.numbers)}"

            def begin():
                self.writer = self.session.create(source=source, redact=False)
                return self.writer.id

            self.size = 0
            self.timed("create", begin)
            if self.writer is not None:
                self.known.append(self.writer.id)
            return
        writer = self.writer
        if self.dice.random() < 0.75:
            piece = content("w out", self.size + self.dice.choice((50, 9000, 70_000)))[self.size :]
            self.size += len(piece)

            def write():
                writer.write(piece)
                writer.flush()
                return "done"

            self.timed("write", write, id=writer.id, size=self.size)
        if self.size > 300_000 or self.dice.random() < 0.25:
            self.writer = None

            def close():
                writer.close()
                return "done"

            self.timed("close", close, id=writer.id)

    def _one(self):
        return self.dice.choice(self.known) if self.known else None

    def do_read(self):
        if (key := self._one()) is None:
            return

        def read():
            artifact = self.session.artifact(key)
            info = artifact.info
            data = artifact.read_bytes(0, _ALWAYS, max_bytes=_ALWAYS)
            head = (info.source.encode() + b" ").ljust(30, b".")
            right = (
                data == head + content("large", len(data) - len(head))
                if data.startswith(head)
                else (data == content("w out", len(data)))
            )
            # The state was looked at before the bytes: one that was open may be sealed by now.
            return [len(data), info.state if info.state == "sealed" else artifact.info.state, right]

        self.timed("read", read, id=key)

    def do_exists(self):
        if (key := self._one()) is not None:
            self.timed("exists", lambda: self.session.exists(key), id=key)

    def do_list(self):
        found = self.timed("list", lambda: [info.id for info in self.session.infos(limit=1000)])
        if isinstance(found, list) and found:
            self.known.append(self.dice.choice(found))  # also those of others

    def do_delete(self):
        key = self._one()
        if key is None or (self.writer is not None and key == self.writer.id) or self.dice.random() < 0.3:
            return

        def delete():
            artifact = self.session.artifact(key)
            if artifact.info.state != "sealed":
                return "missing"  # of somebody who writes it
            artifact.delete()
            return "done"

        begin = len(self.history)
        self.timed("delete", delete, id=key)
        if self.history[begin]["result"] == "missing":
            del self.history[begin]  # not deleted, or not there: exists() says which

    def do_name(self):
        name = self.dice.choice(NAMES)
        try:
            session = self.store.session(name)
        except _GONE:
            return
        with session:
            self._put(session, name)

    def do_name_list(self):
        name = self.dice.choice(NAMES)

        def listed():
            with self.store.session(name, create=False, read_only=True) as session:
                return [info.id for info in session.infos(limit=1000)]

        if self.timed("list", listed, session=name) in ("missing", "gone"):
            self.history[-1]["result"] = []

    def do_name_delete(self):
        if self.dice.random() < 0.6:
            return
        name = self.dice.choice(NAMES)

        def delete():
            self.store.delete(name, force=True)
            return "done"

        self.timed("delete session", delete, session=name)

    def end(self):
        """Close what is open."""
        if self.writer is not None:
            writer, self.writer = self.writer, None
            self.timed("close", lambda: writer.close() or "done", id=writer.id)
        self.session.close()


class Counters:
    """What each process has done, in memory that all share."""

    def __init__(self, count):
        self._memory = mmap.mmap(-1, 8 * count)
        self._count = count

    def set(self, number, value):
        struct.pack_into("q", self._memory, 8 * number, value)

    def all(self):
        return struct.unpack_from(f"{self._count}q", self._memory)


def _thread(worker, counters, number, mine, wanted, forks, place, settings):
    try:
        while min(counters.all()) < wanted and mine[0] < _AT_MOST * wanted:
            worker.step()
            with forks:
                mine[0] += 1
                counters.set(number, mine[0])
            if worker.dice.random() < 0.01:
                _fork(worker, place, settings)
        worker.end()
    except BaseException as error:
        worker.wrong.append("".join(traceback.format_exception(error))[-2500:])


def _fork(worker, place, settings):
    """A child that opens the store anew, does some things and goes."""
    inward, outward = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(inward)
        try:
            dice = random.Random(worker.dice.random())
            child = Worker(place, settings, dice, f"{worker.name}f{len(worker.history)}", list(worker.known))
            for _ in range(4):
                child.step()
            child.end()
            said = {"history": child.history, "wrong": child.wrong}
        except BaseException as error:
            said = {"history": [], "wrong": ["".join(traceback.format_exception(error))[-2500:]]}
        with os.fdopen(outward, "w") as pipe:
            json.dump(said, pipe)
        os._exit(0)
    os.close(outward)
    with os.fdopen(inward) as pipe:
        said = json.load(pipe)
    os.waitpid(pid, 0)
    worker.history += said["history"]
    worker.wrong += said["wrong"]


def _process(number, counters, place, settings, seed, threads, wanted, into):
    mine, known, forks = [0], [], threading.Lock()
    workers = [
        Worker(place, settings, random.Random(f"{seed} {number} {each}"), f"{number}.{each}", known)
        for each in range(threads)
    ]
    running = [
        threading.Thread(
            target=_thread, args=(worker, counters, number, mine, wanted, forks, place, settings)
        )
        for worker in workers
    ]
    for each in running:
        each.start()
    for each in running:
        each.join()
    said = {
        "history": [each for worker in workers for each in worker.history],
        "wrong": [each for worker in workers for each in worker.wrong],
    }
    Path(into).write_text(json.dumps(said), encoding="utf-8")


def play(say, calls, place, folder, settings, seed, processes, threads, wanted):
    """Let processes do at least so many things each, suspend them now and then, and tell what all of them have written down."""
    counters = Counters(processes)
    files = [f"{folder}/history-{number}" for number in range(processes)]
    pids = []
    for number in range(processes):
        pid = os.fork()
        if not pid:
            try:
                _process(number, counters, place, settings, seed, threads, wanted, files[number])
            finally:
                os._exit(0)
        pids.append(pid)
    dice = random.Random(f"{seed} suspended")
    alive = list(pids)
    suspended = 0
    while alive:
        pid = dice.choice(alive)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(dice.random() ** 2 * 0.3)
        os.kill(pid, signal.SIGCONT)
        suspended += 1
        time.sleep(dice.random() * 0.1)
        alive = [each for each in alive if os.waitpid(each, os.WNOHANG) == (0, 0)]
    said = [json.loads(Path(each).read_text(encoding="utf-8")) for each in files]
    say(
        history=[each for one in said for each in one["history"]],
        failures=[each for one in said for each in one["wrong"]],
        done=counters.all(),
        suspended=suspended,
    )


def looked(say, calls, place, settings):
    """What is there in the end, as one more operation of the history for each session, and whether it passes its check."""
    worker = Worker(place, settings, random.Random(0), "end", [])
    worker.do_list()
    for name in NAMES:
        try:
            with worker.store.session(name, create=False) as session:
                worker.timed(
                    "list", lambda session=session: [i.id for i in session.infos(limit=1000)], session=name
                )
        except SessionNotFoundError:
            now = time.monotonic_ns()
            worker.history.append(
                {"op": "list", "session": name, "begin": now, "end": now + 1, "by": "end", "result": []}
            )
    try:
        worker.store.check()
        for info in list(worker.session.infos(limit=1000)):
            if info.state == "open":
                worker.wrong.append(f"it is open in the end: {info.id}")
    except SpillstoreError as error:
        worker.wrong.append(f"check: {error!r}")
    worker.end()
    say(history=worker.history, failures=worker.wrong)
