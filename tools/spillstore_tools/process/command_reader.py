"""A command is started, and what it prints is read to the end."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

from spillstore_tools.process import watchdog as _watchdog
from spillstore_tools.process.output_reader import LeftRunningError, Outcome, Process
from spillstore_tools.process.runners import StartError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.process.output_reader import Sink
    from spillstore_tools.process.runners import Started


class CommandReader:
    """Reads one command's output, on the thread that calls ``read``.

    Args:
        start: starts the command.
        cannot_start: the exit code that stands for a command that could not be started; None for a shell's.
        linger: seconds that processes which it leaves behind may hold up its result by printing.
        orphans: what happens then to what they print: it is ``read``, or they are left to themselves (``leave``).

    Attributes:
        start: starts the command.
        failed: whether it could not be started.
    """

    def __init__(
        self,
        start: Callable[[], Started],
        *,
        cannot_start: int | None,
        linger: float,
        orphans: Literal["read", "leave"],
    ) -> None:
        self.start = start
        self.failed = False
        self.error: StartError | None = None
        self._cannot_start = cannot_start
        self._linger = linger
        self._orphans = orphans

    def read(
        self, sink: Sink, *, on_process: Callable[[Process], object], on_open: Callable[[Outcome], object]
    ) -> Outcome:
        """Start it and give ``sink`` what it prints, until all is over; returns how it ended.

        Args:
            sink: takes what it prints.
            on_process: called with its process once that is there.
            on_open: called when the command has ended and processes that it left behind are read on.
        """
        try:
            if self.error is not None:
                raise self.error
            return self._read_started(
                self.start(), functools.partial(self._read_process, sink, on_process, on_open)
            )
        except StartError as error:
            self.failed = True
            code = error.exit_code if self._cannot_start is None else self._cannot_start
            message = f"{error}\n".encode(errors="surrogateescape")
            sink.write(message, "stderr")
            return Outcome(exit_code=code, signal=None, duration=0.0, stdout=0, stderr=len(message))

    def _read_started(self, started: Started, read: Callable[[Process], Outcome]) -> Outcome:
        if started.mark:
            _watchdog.begins(started.pid, started.mark)
        try:
            process = Process(started)
            try:
                return read(process)
            except LeftRunningError:
                raise
            except BaseException:
                process.end()
                process.close()
                raise
        finally:
            if started.mark:
                _watchdog.ends(started.pid, started.mark)

    def _read_process(
        self,
        sink: Sink,
        on_process: Callable[[Process], object],
        on_open: Callable[[Outcome], object],
        process: Process,
    ) -> Outcome:
        on_process(process)
        outcome = process.drain(sink, linger=self._linger)
        if outcome.held_open and self._orphans == "leave":
            process.close()
        elif outcome.held_open:
            on_open(outcome)
            outcome = process.drain_rest(sink)
        return outcome
