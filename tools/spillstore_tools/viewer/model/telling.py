"""The next line that matters, and the one before: errors, failures and first causes, by the score of ``smart`` previews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.preview.strategies.actionable import STRONG, Hints, score
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.viewer.model.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from spillstore_tools.viewer.model.log import Log

_BLOCK = 1024 * 1024
_SCORED_CHARS = 400  # of a line, as in previews
_LONGEST = 64 * 1024  # bytes of a line that are looked at


def next_telling(log: Log, line: int) -> Steps[int | None]:
    """Look for the first line after ``line`` that matters; 0 begins with the first. The result is its number, or None.

    Cost: about 1 ms a MiB where nothing is found. Of binary content, None at once.
    """
    return Steps(_forwards(log, line))


def previous_telling(log: Log, line: int) -> Steps[int | None]:
    """Look for the last line before ``line`` that matters, likewise."""
    return Steps(_backwards(log, line))


def _forwards(log: Log, line: int) -> Generator[float, None, int | None]:
    if log.is_hex:
        return None
    hints = Hints()
    for low, high in log.spans():
        at = log.start_of(line + 1, low, high)
        begin = at
        while at < high:
            end, number = log.whole_lines(at, min(high, at + _BLOCK), high)
            for found in _telling(log, hints, at, end, number):
                return found
            at = end
            yield (at - begin) / max(1, high - begin)
    return None


def _backwards(log: Log, line: int) -> Generator[float, None, int | None]:
    if log.is_hex:
        return None
    hints = Hints()
    for low, high in reversed(log.spans()):
        end = begin = log.start_of(line, low, high)
        while end > low:
            start = log.block_start(end - _BLOCK, low, end)
            _, number = log.whole_lines(start, start, high)
            last = None
            for found in _telling(log, hints, start, end, number):
                last = found
            if last is not None:
                return last
            end = start
            yield (begin - end) / max(1, begin - low)
    return None


def _telling(log: Log, hints: Hints, start: int, end: int, number: int) -> Iterator[int]:
    """The lines that matter among whole lines, of which the first has that number."""
    terminator = log.info.terminator
    end = min(end, start + _BLOCK + _LONGEST)  # the last line may be of any length
    data = log.artifact.read_bytes(start, end, stream=log.stream, holes="skip")
    for low, high, before in hints.lines(data, terminator):
        if hints.found(data, low, high):
            text = clean(data[low : min(high, low + _LONGEST)], terminator)[:_SCORED_CHARS]
            if score(text.rstrip("\n")) >= STRONG:
                yield number + before
