"""Processes that are lost: each plays a part in a store while its system calls fail, or until it is killed.

``Victims`` starts this file as a program, under ``failing_calls.c``. The program imports everything once and opens nothing;
for each order it forks a process that plays the part, reads what that says, and ends it when its time is over. What a
process has said before it died is what it has promised.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
_PATIENCE = 5.0  # seconds that a program may take to end
sys.path[:0] = [str(HERE), str(HERE.parent)]

import campaigns  # noqa: E402
from support import compiler_here  # noqa: E402

if TYPE_CHECKING:
    from typing import Self

# Kinds of calls, as failing_calls.c has them.
_KINDS = (
    "write", "sync", "truncate", "create", "open", "unlink", "rename", "mkdir", "mmap", "read", "lock", "stat", "allocate", "list",
    "attributes", "send", "receive",
)  # fmt: skip
CHANGES = ("write", "sync", "truncate", "create", "unlink", "rename", "mkdir", "allocate", "attributes")
_ACTIONS = {"count": 0, "fail": 1, "half": 2, "kill": 3}


@dataclasses.dataclass(frozen=True)
class Fault:
    """What happens to a process.

    Attributes:
        below: the folder whose files count.
        kinds: of the calls that count.
        at: the number of the call it happens to, from 1.
        action: ``fail``, ``half`` of the bytes, ``kill``, or ``count`` alone.
        error: the error's number.
        ever: whether all later ones fail, too.
        after: seconds after which the process is killed; None for never.
    """

    below: str = ""
    kinds: tuple[str, ...] = ()
    at: int = 0
    action: str = "count"
    error: int = 0
    ever: bool = False
    after: float | None = None


@dataclasses.dataclass
class Ended:
    """How a process ended: ``exit``, ``killed`` as was wanted, ``hang``, or ``signal N``; and what it has said."""

    how: str
    said: list[dict[str, object]]
    trace: str = ""

    @property
    def calls(self) -> dict[str, object]:
        """What became of its calls: ``counted``, ``hits`` and ``where`` of the first hit."""
        return next((each for each in reversed(self.said) if "counted" in each), {})


class Victims:
    """Starts processes one at a time. A context manager."""

    def __init__(self, folder: Path, library: str = "failing_calls", *, servers: bool = False) -> None:
        """Start the program, in which calls can fail, or are recorded: by a library that is built in the folder, or none.

        With ``servers`` it has imported what a store on a server needs, too.

        Raises:
            NotHereError: there is no compiler, or this is not Linux.
        """
        preload = {"LD_PRELOAD": str(compiled(folder, library))} if library else {}
        self._process = subprocess.Popen(  # in a session of its own, to be ended with its processes
            [sys.executable, str(HERE / "victims.py"), *(["servers"] if servers else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**_without_settings(), **preload},
            text=True,
            start_new_session=True,
        )

    def run(
        self, part: str, fault: Fault | None = None, seconds: float = 120.0, **arguments: object
    ) -> Ended:
        """Let a process play a part, ``module.function``, which is called with ``say`` and these arguments."""
        order = {
            "part": part,
            "fault": dataclasses.asdict(fault or Fault()),
            "seconds": seconds,
            "arguments": arguments,
        }
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the program, and the process that it may be waiting for."""
        self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SPILLSTORE_")}


def compiled(folder: Path, name: str) -> Path:
    """A library for ``LD_PRELOAD`` by the name of its source, built in a folder.

    Raises:
        NotHereError: there is no compiler, or this is not Linux.
    """
    if sys.platform != "linux":
        raise campaigns.NotHereError("only Linux's calls are taken over")
    if compiler := compiler_here():
        command = [compiler]
    elif importlib.util.find_spec("ziglang"):
        command = [sys.executable, "-m", "ziglang", "cc"]
    else:
        raise campaigns.NotHereError("this machine has no C compiler")
    library = folder / f"{name}.so"
    if library.exists():
        return library
    source = HERE / f"{name}.c"
    subprocess.run(
        [*command, "-O1", "-std=gnu11", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"],
        check=True,
    )
    return library


# --- the program --------------------------------------------------------------------------------------------


class Calls:
    """The functions of ``failing_calls.c`` in this process."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.failing_calls_where.restype = ctypes.c_char_p
        self._library.failing_calls_arm.argtypes = [
            ctypes.c_char_p, ctypes.c_uint, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        ]  # fmt: skip

    def arm(self, below, kinds, at, action, error, ever):
        """Let calls fail from now on."""
        bits = sum(1 << _KINDS.index(kind) for kind in kinds)
        self._library.failing_calls_arm(below.encode(), bits, at, _ACTIONS[action], error, ever)

    def disarm(self):
        """Let no more calls fail; what became of them."""
        self._library.failing_calls_disarm()
        return {
            "counted": self._library.failing_calls_counted(),
            "hits": self._library.failing_calls_hits(),
            "where": self._library.failing_calls_where().decode(errors="replace"),
        }


class _NoCalls:
    """Where none fail."""

    def disarm(self):
        """Nothing became of them."""
        return {}


def _play(order, pipe, traces):
    """Be the process."""
    import atexit
    import faulthandler
    import importlib
    import threading
    import traceback

    faulthandler.register(signal.SIGUSR1, file=traces, all_threads=True)
    faulthandler.enable(file=traces, all_threads=True)

    one_at_a_time = threading.Lock()

    def say(**what):
        with one_at_a_time:
            os.write(pipe, json.dumps(what).encode() + b"\n")

    def foreign(where, error):
        say(foreign=type(error).__name__, at=where, text="".join(traceback.format_exception(error))[-3000:])

    threading.excepthook = lambda of: foreign(f"thread {of.thread and of.thread.name}", of.exc_value)
    sys.unraisablehook = lambda of: foreign(f"unraisable {of.object!r}"[:200], of.exc_value)
    fault = order["fault"]
    calls = Calls() if "failing_calls" in os.environ.get("LD_PRELOAD", "") else _NoCalls()
    module, _, function = order["part"].rpartition(".")
    part = getattr(importlib.import_module(module), function)
    if fault["kinds"]:
        calls.arm(*(fault[name] for name in ("below", "kinds", "at", "action", "error", "ever")))
    try:
        part(say, calls, **order["arguments"])
        say(**calls.disarm())
        threading._shutdown()
        atexit._run_exitfuncs()
        say(done=True)
    except BaseException as error:
        foreign("the part itself", error)
    os._exit(0)


def _watch(order):
    """Fork a process, and read what it says until it ends or its time is over."""
    inward, outward = os.pipe()
    with open(os.memfd_create("traces"), "w+b", buffering=0) as traces:
        pid = os.fork()
        if not pid:
            os.close(inward)
            _play(order, outward, traces)
        os.close(outward)
        data, how = b"", "exit"
        began = time.monotonic()
        after = order["fault"]["after"]
        while True:
            left = began + order["seconds"] - time.monotonic()
            if after is not None:
                left = min(left, began + after - time.monotonic())
            if left <= 0:
                how = "killed" if after is not None else "hang"
                if how == "hang":
                    os.kill(pid, signal.SIGUSR1)
                    time.sleep(1)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                break
            if select.select([inward], [], [], left)[0]:
                piece = os.read(inward, 65536)
                if not piece:
                    break
                data += piece
        while piece := os.read(inward, 65536):
            data += piece
        os.close(inward)
        _, status = os.waitpid(pid, 0)
        if how == "exit" and os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            how = "killed" if order["fault"]["action"] == "kill" and number == 9 else f"signal {number}"
        traces.seek(0)
        trace = traces.read().decode(errors="replace")
    lines = data.split(b"\n")
    said = [json.loads(line) for line in lines[:-1]]
    return Ended(how, said, trace[-12000:])


def main() -> None:
    """Carry out orders until there are no more."""
    import gc

    import scenes

    scenes.import_all(servers="servers" in sys.argv)
    gc.freeze()  # so that forked processes need not copy what it would look at
    for line in sys.stdin:
        print(json.dumps(dataclasses.asdict(_watch(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
