"""Facts about a tool's output besides its bytes."""

from __future__ import annotations

import dataclasses
import signal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.preview.binary.magic import BinaryType

REASON = 200  # characters of an error's message that are shown
_FIRST_SIGNAL = 128  # a shell's exit code for a death by signal n is this and n


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Where output is kept.

    Attributes:
        id: the id of the artifact.
        flags: options that a ``spillstore`` command needs to find its session; begins with a space or is empty.
        sizes: bytes of each view that were stored, those dropped since included.
        holes: bytes ``[start, end)`` that were dropped, of each view that lost some.
        cut_off: bytes that came after the last one that was stored.
        limit: bytes an artifact may keep.
    """

    id: str
    flags: str = ""
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)
    holes: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    cut_off: int = 0
    limit: int = 0

    @property
    def size(self) -> int:
        """Bytes of both streams that were stored, those dropped since included."""
        return self.sizes.get("combined", 0)

    @property
    def hole(self) -> tuple[int, int] | None:
        """Bytes ``[start, end)`` of the combined view that were dropped, or None."""
        return self.holes.get("combined")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A command that runs on in the background while the model gets an answer.

    Attributes:
        pid: its process id.
        state: ``running``; ``open`` if it has ended and processes that it left behind may still print; ``ended``.
        timeout: milliseconds after which it was put there, in the first answer after that.
    """

    pid: int
    state: Literal["running", "open", "ended"]
    timeout: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about one output.

    Attributes:
        source: the name of the tool.
        command: the command line or the request, or None.
        content_type: its media type, or None if that is not known.
        stored: where it is kept, or None.
        problem: why it, or a part of it, could not be stored.
        capped: streams that are longer than may be kept.
        is_command: whether a command printed it.
        exit_code: the exit code of the command.
        runtime: milliseconds from its start to its end.
        created: seconds since 1970-01-01 UTC.
        binary: its type, if it is no text in UTF-8.
        head: its first bytes.
        background: the state of the command, where this answer shows a part of its output.
        repeat_notice: words in brackets that name the artifact of an earlier output with the same bytes.
        partial: whether a model may ask for ranges of it.
    """

    source: str
    command: str | None = None
    content_type: str | None = None
    stored: Stored | None = None
    problem: str | None = None
    capped: frozenset[str] = frozenset()
    is_command: bool = False
    exit_code: int | None = None
    runtime: int | None = None
    created: float = 0.0
    binary: BinaryType | None = None
    head: bytes = b""
    background: Background | None = None
    repeat_notice: str = ""
    partial: bool = True

    @property
    def reason(self) -> str:
        """The problem on one line, cut to 200 characters."""
        return " ".join((self.problem or "").split())[:REASON]

    @property
    def killed_by(self) -> str | None:
        """The name of the signal that a shell's exit code stands for.

        Nobody stores the signal itself, and a preview that is made again must be the same text.
        """
        try:
            return signal.Signals((self.exit_code or 0) - _FIRST_SIGNAL).name
        except ValueError:
            return None

    @property
    def status(self) -> str:
        """Words that say how the command ended, or that it runs on and which calls follow it."""
        ended = None
        if self.exit_code is not None:
            killed = f" ({self.killed_by})" if self.killed_by else ""
            ended = f"exit code {self.exit_code}{killed}"
        background = self.background
        if background is None:
            return ended or ("still running" if self.problem is None else "exit code unknown")
        pid = background.pid
        if background.state == "ended":
            return f"pid {pid} has ended: {ended}"
        calls = f"bash(check_pid={pid}) shows what is new, bash(kill_pid={pid}) ends it"
        if background.state == "open":
            return f"{ended}, but pid {pid} left processes behind that may still print: {calls}"
        since = f" after {background.timeout / 1000:g} s" if background.timeout is not None else ""
        return f"pid {pid} is still running{since}, in the background: {calls}"
