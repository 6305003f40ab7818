"""What the page of a log asks for while somebody reads it: rows, places, marks, calls; a dictionary for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spillstore_tools.viewer.model.places import show_call
from spillstore_tools.viewer.web.opened import Wanted
from spillstore_tools.viewer.web.parameters import BadRequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.viewer.model.log import Log
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters

MOST_ROWS: Final = 240  # of one answer
_STEP: Final = 0.5  # seconds that a look for the next line takes before it says how far it is
_WHAT: Final = ("match", "telling", "seen", "read")


def wanted(given: Parameters) -> Wanted:
    """The log that a request is about."""
    hexed = given.choice("hex", ("0", "1"))
    return Wanted(
        given.needed("session"),
        given.text("project"),
        given.needed("id"),
        given.stream(),
        None if hexed is None else hexed == "1",
    )


def rows(opened: Opened, given: Parameters) -> dict[str, Any]:
    """Rows from an index on, as HTML, and how many there are by now."""
    first, count = given.number("from", 0), given.number("count", 60, least=1, most=MOST_ROWS)
    with opened.reading(wanted(given)) as reading:
        found = reading.rows(first, count, pattern=given.text("pattern"), raw=given.flag("raw"))
        return {**reading.facts(), "from": first, "rows": found}


def go(opened: Opened, given: Parameters) -> dict[str, Any]:
    """The index of the row of a line, a byte, a share of all rows, or a time."""
    places = [name for name in ("line", "byte", "percent", "time") if given.word(name) is not None]
    if len(places) != 1:
        raise BadRequestError("go to one of line, byte, percent and time; for example line=100")
    with opened.reading(wanted(given)) as reading:
        log = reading.log
        log.refresh()
        match places[0]:
            case "line":
                row = log.row_of_line(given.number("line", 1, least=1))
            case "byte":
                row = log.row_of_byte(given.number("byte", 0))
            case "percent":
                row = log.row_of_percent(given.decimal("percent") or 0.0)
            case _:
                row = log.row_of_time(given.decimal("time") or 0.0)
        return {"row": row, "total": log.total}


def next_(opened: Opened, given: Parameters) -> dict[str, Any]:
    """The next row of a kind, or the one before; None where there is none, or none was found yet (not `done`)."""
    what = given.choice("what", _WHAT) or "telling"
    forwards = given.choice("by", ("1", "-1")) != "-1"
    start = given.word("from")
    row = -1 if start == "-1" else given.number("from", 0)
    with opened.reading(wanted(given)) as reading:
        return reading.next(what, row, given.text("pattern"), _STEP, forwards=forwards)


def marks(opened: Opened, given: Parameters) -> dict[str, Any]:
    """Where the model saw something, and where somebody has read later: how much of each of some hundred parts."""
    with opened.reading(wanted(given)) as reading:
        return reading.maps()


def call(opened: Opened, given: Parameters) -> dict[str, Any]:
    """The call that shows lines, or bytes of binary content."""
    with opened.reading(wanted(given)) as reading:
        return {"call": show_call(reading.session, reading.log, *meant(given, reading.log))}


def meant(given: Parameters, log: Log) -> tuple[int, int]:
    """The first and the last row, by index, that a request is about: of lines `first` to `last`, or of the bytes from `start` up to `end`."""
    if log.is_hex and given.word("start") is not None:
        start = given.number("start", 0)
        end = given.number("end", start + 1, least=start + 1)
        return log.row_of_byte(start), log.row_of_byte(end - 1)
    first = given.number("first", 1, least=1)
    last = given.number("last", first, least=first)
    return log.row_of_line(first), log.row_of_line(last)


ANSWERS: Final[dict[str, Callable[[Opened, Parameters], dict[str, Any]]]] = {
    "rows": rows,
    "go": go,
    "next": next_,
    "marks": marks,
    "call": call,
}
