"""Output of a running command at a terminal: shown as it comes, summed up at the end, or a hint how to watch it."""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import TYPE_CHECKING

from spillstore_tools.cli.support.output import note
from spillstore_tools.describe import count, human_size, seconds, shortened

if TYPE_CHECKING:
    from spillstore import ArtifactInfo
    from spillstore_tools.process.output_reader import Outcome
    from spillstore_tools.profiles.rendered import Rendered

SILENCE = 2.0  # seconds after which the hint is shown
_NAMED = 2  # lines that the summary repeats
_WIDTH = 160


def show(stream: str, data: bytes) -> None:
    """Write output of a command to our stdout or stderr, at once and to the byte."""
    number = 2 if stream == "stderr" else 1
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(number, rest) :]
        except BlockingIOError:  # another program has set the terminal to this mode
            select.select([], [number], [])


def summary(
    outcome: Outcome, info: ArtifactInfo | None, rendered: Rendered, problem: str | None, flags: str
) -> list[str]:
    """The lines after all of the output was shown: its artifact, its size, how the command ended, what mattered.

    Args:
        outcome: how the command ended.
        info: the artifact, or None.
        rendered: the preview.
        problem: why not all of it is stored, or None.
        flags: the options that name the session for another command.
    """
    how = f"exit code {outcome.exit_code}" + (f" ({outcome.signal})" if outcome.signal else "")
    took = seconds(outcome.duration)
    if info is None:
        return [f"NOT STORED: {problem}; {human_size(outcome.received)}, {how}, {took}"]
    said = [f"{info.id}{flags}: {count(info.lines, 'line')}, {human_size(info.size)}, {how}, {took}"]
    if problem is not None:
        said.append(f"NOT STORED COMPLETELY: {problem}; the first {count(info.size, 'byte')} are kept")
    import shutil  # noqa: PLC0415  # the command has ended by now

    if info.lines > shutil.get_terminal_size().lines:  # else all of it can be seen
        said += [f"  {line}" for line in mattered(rendered)]
    return said


def mattered(rendered: Rendered) -> list[str]:
    """The lines of a preview that matter most, in their order."""
    from spillstore_tools.preview.strategies.actionable import STRONG, score  # noqa: PLC0415  # the command has ended by now

    ours = [(at, at + length) for at, length in rendered.notes]
    ours += [(each.at, each.at + each.length) for each in rendered.omissions]
    ours.sort()
    found: list[tuple[float, int, str]] = []
    at = 0
    for line in rendered.text.splitlines(keepends=True):
        begin = at  # behind our own words, such as the number of a line
        for low, high in ours:
            if low <= begin < high:
                begin = high
        at += len(line)
        if text := rendered.text[begin:at].strip():
            found.append((score(text), -begin, text))
    best = sorted((each for each in found if each[0] >= STRONG), reverse=True)[:_NAMED]
    texts = [text for _, _, text in sorted(best, key=lambda each: -each[1])]
    return [shortened(text, _WIDTH) for text in texts]


class Hint:
    """Says once, at a terminal where nothing is shown until the end, how to watch the output.

    Args:
        flags: the options that name the session for another command.

    Attributes:
        artifact_id: the artifact that stores the output; None until there is one.
    """

    def __init__(self, flags: str) -> None:
        self._flags = flags
        self.artifact_id: str | None = None
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Show the hint after two seconds."""
        if not sys.stderr.isatty():
            return
        self._timer = threading.Timer(SILENCE, self._say)
        self._timer.daemon = True
        try:
            self._timer.start()
        except RuntimeError:  # no more threads can be started, and it is only a hint
            self._timer = None

    def stop(self) -> None:
        """Show it no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _say(self) -> None:
        if self.artifact_id is not None:
            note(f"still running; to watch: spillstore tail -f {self.artifact_id}{self._flags}")
