"""Writes events into the log ``spillstore``, with the line that the catalogue has for their kind.

Lines of ``output`` are those of the logger ``spillstore.truncation``; its level can be set apart.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from spillstore.events.catalogue import KINDS, OUTPUTS

if TYPE_CHECKING:
    from spillstore.events.emitted import EmittedEvent

_LONGEST = 100
_log = logging.getLogger("spillstore")
_log.addHandler(logging.NullHandler())  # a library is silent unless its user configures logging
_truncation = logging.getLogger("spillstore.truncation")
LINES = {name: kind.line for name, kind in KINDS.items() if kind.line is not None}
_LEVELS = {name: line.level for name, line in LINES.items()}


def is_enabled(kind: str, outcome: str = "lost") -> bool:
    """Whether the level of that kind is enabled; of an ``output``, with that outcome."""
    level = _LEVELS.get(kind)
    if level is not None:
        return _log.isEnabledFor(level)
    return kind == "output" and _truncation.isEnabledFor(OUTPUTS[outcome].level)


def log(event: EmittedEvent) -> None:
    """Log an event, if its level is enabled."""
    logger, line = _log, LINES.get(event.kind)
    if event.kind == "output":
        logger, line = _truncation, OUTPUTS.get(str(event.detail.get("outcome")))
    if line is None or not logger.isEnabledFor(line.level):
        return
    fields: dict[str, object] = {"event": event.kind}
    if event.session is not None:
        fields["session"] = event.session
    if event.artifact_id is not None or event.kind == "output":
        fields["artifact_id"] = event.artifact_id
    if event.kind == "output":
        fields["artifact_created"] = event.artifact_id is not None
    if event.seconds is not None:
        fields["seconds"] = round(event.seconds, 6)
    for name, field in line.fields.items():
        value = event.detail.get(name)
        if isinstance(value, (bool, int, float)):
            fields[field] = value
        elif isinstance(value, str):
            fields[field] = value[:_LONGEST]
    logger.log(line.level, line.message, extra=fields)
