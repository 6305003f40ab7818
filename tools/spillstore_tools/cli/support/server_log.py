"""What a server says on stderr while it runs: warnings as notes, so that they are JSON where the command's other messages are."""

from __future__ import annotations

import contextlib
import logging
import traceback
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError
from spillstore_tools.cli.support.log_limit import RateLimitFilter
from spillstore_tools.cli.support.output import messages, note

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS = "spillstore"


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[None]:
    """A context in which warnings of all loggers are written as notes, a few a minute of those that are alike."""
    handler = _Notes(logging.WARNING)
    handler.addFilter(_is_news)
    handler.addFilter(RateLimitFilter())  # anybody who connects can cause lines
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether nobody else says it: of damage the error says more, which goes to who reads."""
    return getattr(record, "event", None) != "integrity"


class _Notes(logging.Handler):
    """Writes each record as one note: of an error of the store its message, of any other all that is known of it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it."""
        try:
            for each in _words(record):
                note(each)
        except Exception:  # noqa: BLE001  # stderr is closed, say; a log raises nothing
            self.handleError(record)


def _words(record: logging.LogRecord) -> list[str]:
    """The notes for a record; a traceback is a note for each of its lines where people read them."""
    said = record.getMessage().strip()
    if record.name.partition(".")[0] != _OURS:
        said = f"{record.name}: {said}"
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return [said]
    if isinstance(error, SpillstoreError):
        return [str(error)]
    told = "".join(traceback.format_exception(error))
    return [f"{said}\n{told}"] if messages.as_json else [said, *told.splitlines()]
