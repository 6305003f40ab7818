"""Tells the log ``spillstore`` what happens: the line that the catalogue has for it.

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
    """Whether a line of that kind is wanted; of an output, with that outcome."""
    level = _LEVELS.get(kind)
    if level is not None:
        return _log.isEnabledFor(level)
    return kind == "output" and _truncation.isEnabledFor(OUTPUTS[outcome].level)


def log(event: EmittedEvent) -> None:
    """Say it, if anybody listens."""
    logger, line = _log, LINES.get(event.kind)
    if event.kind == "output":
        logger, line = _truncation, OUTPUTS.get(str(event.detail.get("outcome")))
    if line is None or not logger.isEnabledFor(line.level):
        return
    told: dict[str, object] = {"event": event.kind}
    if event.session is not None:
        told["session"] = event.session
    if event.artifact_id is not None or event.kind == "output":
        told["artifact_id"] = event.artifact_id
    if event.kind == "output":
        told["artifact_created"] = event.artifact_id is not None
    if event.seconds is not None:
        told["seconds"] = round(event.seconds, 6)
    for name, field in line.fields.items():
        value = event.detail.get(name)
        if isinstance(value, (bool, int, float)):
            told[field] = value
        elif isinstance(value, str):
            told[field] = value[:_LONGEST]
    logger.log(line.level, line.message, extra=told)
