"""What the log ``spillstore`` says: a line for each kind of happening, its fields, and never any content.

A line's message is a constant. What there is to say stands in fields of the record (``extra``), flat, so that formatters
for JSON find them; ``event`` is the kind. Only fields named here leave a happening, and of them only numbers and short
words: a range that a model made up, a refused id, the reason of a failure or what somebody searched for never does.
Lines of ``output`` are those of the logger ``spillstore.truncation``; its level can be set apart.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spillstore.events.happening import Happening

_LONGEST = 100
_log = logging.getLogger("spillstore")
_log.addHandler(logging.NullHandler())  # a library is silent unless its user configures logging
_truncation = logging.getLogger("spillstore.truncation")


class Line(NamedTuple):
    """How one kind is told.

    Attributes:
        level: of the record.
        message: always the same.
        fields: what is taken from the detail, by the name that it has there, and its name in the record.
    """

    level: int
    message: str
    fields: dict[str, str]


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_TOOL = {"tool": "tool_name"}
_CALL = {**_TOOL, **_same("outcome")}
_READ = {**_CALL, **_same("bytes")}
_SIZES = {**_TOOL, **_same("size", "received", "stored_size")}
LINES: dict[str, Line] = {
    "create": Line(logging.DEBUG, "artifact created", {"source": "tool_name"}),
    "seal": Line(logging.INFO, "artifact sealed", _SIZES),
    "interrupt": Line(logging.WARNING, "artifact interrupted", _SIZES),
    "failure": Line(logging.WARNING, "artifact could not be stored", _same("error")),
    "commit": Line(logging.DEBUG, "committed", _same("artifacts", "bytes", "stored_size")),
    "command": Line(logging.DEBUG, "command ended", {**_TOOL, **_same("outcome", "exit_code")}),
    "read": Line(logging.DEBUG, "read", _READ),
    "search": Line(logging.DEBUG, "searched", _READ),
    "query": Line(logging.DEBUG, "queried", _READ),
    "compare": Line(logging.DEBUG, "compared", _READ),
    "export": Line(logging.INFO, "exported", _READ),
    "list": Line(logging.DEBUG, "listed", _CALL),
    "info": Line(logging.DEBUG, "described", _CALL),
    "denied": Line(logging.INFO, "id refused", {**_TOOL, **_same("why")}),
    "limit": Line(logging.WARNING, "limit met", {**_TOOL, **_same("limit", "size", "most")}),
    "integrity": Line(logging.ERROR, "stored data is damaged", _TOOL),
    "unevictable": Line(logging.WARNING, "artifact not evicted", _same("error")),
    "redaction": Line(logging.INFO, "secrets removed", {**_TOOL, **_same("secrets")}),
    "evict": Line(logging.INFO, "artifact evicted", {"kept": "size", "stored": "stored_size"}),
    "delete": Line(logging.INFO, "artifact deleted", {"kept": "size", "why": "why"}),
    "delete_session": Line(logging.INFO, "session deleted", {}),
    "end": Line(logging.INFO, "session ended", {}),
    "lost": Line(logging.WARNING, "events of the audit log lost", _same("events")),
}
_OUTPUT = {
    **_TOOL,
    **_same("profile", "strategy", "outcome", "original_size", "received"),
    "shown": "truncated_size",
}
OUTPUTS: dict[str, Line] = {  # by outcome
    "whole": Line(logging.DEBUG, "shown whole", _OUTPUT),
    "stored": Line(logging.DEBUG, "shown whole", _OUTPUT),
    "truncated": Line(logging.INFO, "truncated", _OUTPUT),
    "dropped": Line(logging.INFO, "truncated", _OUTPUT),
    "refused": Line(logging.WARNING, "refused", _OUTPUT),
    "lost": Line(logging.WARNING, "not stored", _OUTPUT),
    "failed": Line(logging.WARNING, "not processed", _OUTPUT),
}


def wanted(kind: str, outcome: str = "lost") -> bool:
    """Whether a line of that kind is wanted; of an output, with that outcome."""
    if kind == "output":
        return _truncation.isEnabledFor(OUTPUTS[outcome].level)
    line = LINES.get(kind)
    return line is not None and _log.isEnabledFor(line.level)


def log(happening: Happening) -> None:
    """Say it, if anybody listens."""
    logger, line = _log, LINES.get(happening.kind)
    if happening.kind == "output":
        logger, line = _truncation, OUTPUTS.get(str(happening.detail.get("outcome")))
    if line is None or not logger.isEnabledFor(line.level):
        return
    told: dict[str, object] = {"event": happening.kind}
    if happening.session is not None:
        told["session"] = happening.session
    if happening.artifact_id is not None or happening.kind == "output":
        told["artifact_id"] = happening.artifact_id
    if happening.kind == "output":
        told["artifact_created"] = happening.artifact_id is not None
    if happening.seconds is not None:
        told["seconds"] = round(happening.seconds, 6)
    for name, field in line.fields.items():
        value = happening.detail.get(name)
        if isinstance(value, (bool, int, float)):
            told[field] = value
        elif isinstance(value, str):
            told[field] = value[:_LONGEST]
    logger.log(line.level, line.message, extra=told)
