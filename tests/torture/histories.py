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

from workers import NAMES, Worker

from spillstore.exceptions import SessionNotFoundError, SpillstoreError

_AT_MOST = 4  # times as many as are wanted, for who waits for others


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
