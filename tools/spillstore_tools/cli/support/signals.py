"""Signals that would end us are sent on to the command instead; we end when it has, with all of its output stored."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from spillstore_tools.process.runners import Started

_RELAYED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FOR_ALL = frozenset({signal.SIGTERM, signal.SIGHUP})  # sent on to everything that a command has started


class CommandInterruptedError(Exception):
    """The command has died of SIGINT, and so must we, or a loop of our shell would continue."""


class SignalRelay:
    """A context in which SIGINT, SIGTERM and SIGHUP reach ``process`` and do nothing to us.

    SIGTERM and SIGHUP reach everything that it has started, too. A signal that our caller ignores stays ignored. One that
    comes before the process is attached is sent then.

    Attributes:
        received: the numbers of the signals that have come.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self._process: Started | None = None
        self._before: dict[signal.Signals, object] = {}

    def attach(self, process: Started) -> None:
        """Set the process that gets the signals."""
        self._process = process
        for number in self.received:
            self._send(process, number)

    def _relay(self, number: int, _: FrameType | None) -> None:
        self.received.append(number)
        if self._process is not None:
            self._send(self._process, number)

    def _send(self, process: Started, number: int) -> None:
        if number == signal.SIGINT and _in_foreground():
            return  # the terminal has sent it to the command as well; twice means "at once" to many programs
        if number in FOR_ALL:
            process.signal_all(number)
        else:
            process.send_signal(number)

    def __enter__(self) -> Self:
        for number in _RELAYED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._relay)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() itself returned


def _in_foreground() -> bool:
    """Whether our process group has the terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
