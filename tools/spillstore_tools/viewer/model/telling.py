"""The next place that matters, and the one before: errors, failures and first causes, by the score of ``smart`` previews.

Lines that matter and follow each other are one place, whose first line is gone to: else a flood of errors would take a key each.
"""

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
    """Look for the first place behind ``line`` that matters; 0 begins with the first line. The result is its number, or None.

    Cost: about 1 ms a MiB where nothing is found. Of binary content, None at once.
    """
    return Steps(_forwards(log, line))


def previous_telling(log: Log, line: int) -> Steps[int | None]:
    """Look for the last place that begins before ``line`` and matters, likewise."""
    return Steps(_backwards(log, line))


def _forwards(log: Log, line: int) -> Generator[float, None, int | None]:
    if log.is_hex:
        return None
    hints = Hints()
    last = -1
    for low, high in log.spans():
        at = begin = log.start_of(
            line, low, high
        )  # whether the line itself matters tells where its place ends
        while at < high:
            end, number = log.whole_lines(at, min(high, at + _BLOCK), high)
            for found in _telling(log, hints, at, end, number):
                if found > line and found != last + 1:
                    return found
                last = found
            at = end
            yield (at - begin) / max(1, high - begin)
    return None


def _backwards(log: Log, line: int) -> Generator[float, None, int | None]:
    if log.is_hex:
        return None
    hints = Hints()
    place = None  # where it begins, as far as was looked
    for low, high in reversed(log.spans()):
        end = begin = log.start_of(line, low, high)
        while end > low:
            start = log.block_start(end - _BLOCK, low, end)
            _, number = log.whole_lines(start, start, high)
            for found in reversed(list(_telling(log, hints, start, end, number))):
                if place is not None and found != place - 1:
                    return place
                place = found
            if place is not None and place > number:
                return place
            end = start
            yield (begin - end) / max(1, begin - low)
    return place


def _telling(log: Log, hints: Hints, start: int, end: int, number: int) -> Iterator[int]:
    """The lines that matter among whole lines, of which the first has that number."""
    terminator = log.info.terminator
    end = min(end, start + _BLOCK + _LONGEST)  # the last line may be of any length
    data = log.artifact.read_bytes(start, end, stream=log.stream, holes="skip")
    for low, high, before, place, word in hints.lines(data, terminator):
        if hints.found(data, low, high, place, word):
            text = clean(data[low : min(high, low + _LONGEST)], terminator)[:_SCORED_CHARS]
            if score(text.rstrip("\n")) >= STRONG:
                yield number + before
