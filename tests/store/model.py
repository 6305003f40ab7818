"""Plain reference models: slow, obvious, and written without a look at the code they are held against."""

from __future__ import annotations

import dataclasses

HOLD_BYTES = 64 * 1024


@dataclasses.dataclass
class Run:
    """Bytes that entered the sequence together; time in microseconds."""

    stream: str
    data: bytes
    time: int


def interleave(events: list[tuple], hold_us: int) -> list[Run]:
    """What enters the sequence, in order.

    Events are ``("write", time, stream, data)`` and ``("flush", time)``, in order of time; the end of the list flushes.
    """
    runs: list[Run] = []
    held = {"stdout": b"", "stderr": b""}
    touched = {"stdout": 0, "stderr": 0}

    def enter(stream: str, time: int) -> None:
        if held[stream]:
            runs.append(Run(stream, held[stream], time))
            held[stream] = b""

    def silence(now: int) -> None:
        waiting = [stream for stream in held if held[stream] and now >= touched[stream] + hold_us]
        for stream in sorted(waiting, key=lambda stream: (touched[stream], stream == "stderr")):
            enter(stream, touched[stream] + hold_us)

    now = 0
    for event in events:
        now = event[1]
        silence(now)
        if event[0] == "flush":
            for stream in sorted(held, key=lambda stream: (touched[stream], stream == "stderr")):
                enter(stream, now)
            continue
        _, _, stream, data = event
        if not data:
            continue
        text = held[stream] + data
        complete, newline, rest = text.rpartition(b"\n")
        if newline and b"\n" in data:
            held[stream] = complete + newline
            enter(stream, now)
            held[stream] = rest
        else:
            held[stream] = text
        if held[stream]:
            touched[stream] = now
        if len(held[stream]) >= HOLD_BYTES:
            enter(stream, now)
    silence(now)
    for stream in sorted(held, key=lambda stream: (touched[stream], stream == "stderr")):
        enter(stream, now)
    return runs


class Sequence:
    """The bytes of an artifact as a model: every view one plain ``bytes``."""

    def __init__(self, runs: list[Run], terminator: bytes = b"\n") -> None:
        self.runs = runs
        self.terminator = terminator

    def view(self, stream: str) -> bytes:
        """All bytes of a view."""
        return b"".join(run.data for run in self.runs if stream in {"combined", run.stream})

    def lines(self, stream: str) -> list[bytes]:
        """The lines of a view with their endings."""
        pieces = self.view(stream).split(self.terminator)
        return [piece + self.terminator for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])

    def between(self, start_us: int, end_us: int, stream: str) -> bytes:
        """The bytes of segments that began in ``[start_us, end_us)``; like writes within 10 ms are one segment."""
        out = b""
        last_stream, segment = None, 0
        for run in self.runs:
            if run.stream != last_stream or run.time - segment >= 10_000:
                last_stream, segment = run.stream, run.time
            if start_us <= segment < end_us and stream in {"combined", run.stream}:
                out += run.data
        return out
