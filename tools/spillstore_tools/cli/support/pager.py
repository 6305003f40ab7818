"""A pager for what is long, at a terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Quit if it fits on one screen, obey no escape sequences but colours, leave the text on the screen.
_LESS = "less -FRX"


def pager_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--no-pager``."""
    return click.option(
        "--no-pager",
        is_flag=True,
        help="Print at once. At a terminal $SPILLSTORE_PAGER, $PAGER or less shows it otherwise.",
    )(function)


def _chosen() -> list[str] | None:
    """The pager's command; None at no terminal, if it is switched off (empty or cat), or not installed."""
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return None
    import shlex  # noqa: PLC0415  # few commands are read at a terminal, and these take 5 ms
    import shutil  # noqa: PLC0415  # likewise

    pager = os.environ.get("SPILLSTORE_PAGER", os.environ.get("PAGER", _LESS))
    try:
        command = shlex.split(pager)
    except ValueError:
        return None
    if not command or command == ["cat"] or shutil.which(command[0]) is None:
        return None
    return command if command != ["less"] else shlex.split(_LESS)


@contextlib.contextmanager
def paged(*, off: bool) -> Iterator[None]:
    """A context in which stdout goes through the pager, if it is a terminal.

    Leaving the pager ends the command, as a closed pipe does. Ctrl-C goes to the pager.

    Args:
        off: whether to print without a pager.
    """
    command = None if off else _chosen()
    if command is None:
        yield
        return
    import signal  # noqa: PLC0415  # likewise
    import subprocess  # noqa: PLC0415  # likewise

    sys.stdout.flush()
    from spillstore_tools.process.environment import for_commands  # noqa: PLC0415  # likewise

    pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=for_commands(os.environ))
    assert pager.stdin is not None  # it was requested
    terminal = os.dup(1)
    os.dup2(pager.stdin.fileno(), 1)
    pager.stdin.close()
    interrupts = signal.signal(signal.SIGINT, signal.SIG_IGN)
    # If SIGPIPE killed us, the pager could not restore the terminal.
    broken = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        sys.stdout.flush()  # what is still buffered, or the terminal would get it later
    finally:
        os.dup2(terminal, 1)  # which closes our end of the pipe
        os.close(terminal)
        pager.wait()
        signal.signal(signal.SIGPIPE, broken)
        signal.signal(signal.SIGINT, interrupts)
