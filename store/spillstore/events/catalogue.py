"""Every kind of event that the library and its tools know, once: what it counts as, and what the log says of it.

From this follow which events ``audit="writes"`` leaves out, what eviction and statistics take for a read, what is measured
as a retrieval and shown as a span, and the lines of the log ``spillstore``; tests compare the manual's tables with it.
Callers may record kinds of their own (``Session.note``): they count as writes, and the log has no line for them.

A line's message is a constant. What there is to say stands in fields of the record (``extra``), flat, so that formatters
for JSON find them; ``event`` is the kind. Only fields named here leave an event, and of them only numbers and short
words: a range that a model made up, a refused id, the reason of a failure or what somebody searched for never does.
"""

from __future__ import annotations

from logging import DEBUG, ERROR, INFO, WARNING
from typing import Final, Literal, NamedTuple

Reading = Literal["content", "facts", "output"]


class Line(NamedTuple):
    """The line of one kind in the log.

    Attributes:
        level: of the record.
        message: always the same.
        fields: what is taken from the detail, by the name that it has there, and its name in the record.
    """

    level: int
    message: str
    fields: dict[str, str]


class EventKind(NamedTuple):
    """One kind of event.

    Attributes:
        line: what the log says of it; None for nothing.
        reads: for what changes nothing, what somebody gets: ``content`` of artifacts, ``facts`` about them, or ``output``
            that a tool has just printed. None for all else.
        recorded: whether the audit log has it; others are only emitted.
    """

    line: Line | None = None
    reads: Reading | None = None
    recorded: bool = True


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_TOOL = {"tool": "tool_name"}
_CALL = {**_TOOL, **_same("outcome")}
_READ = {**_CALL, **_same("bytes")}
_SIZES = {**_TOOL, **_same("size", "received", "stored_size")}
KINDS: Final[dict[str, EventKind]] = {
    "create": EventKind(Line(DEBUG, "artifact created", {"source": "tool_name"})),
    "seal": EventKind(Line(INFO, "artifact sealed", _SIZES)),
    "interrupt": EventKind(Line(WARNING, "artifact interrupted", _SIZES)),
    "failure": EventKind(Line(WARNING, "artifact could not be stored", _same("error")), recorded=False),
    "commit": EventKind(Line(DEBUG, "committed", _same("artifacts", "bytes", "stored_size")), recorded=False),
    "command": EventKind(Line(DEBUG, "command ended", {**_CALL, **_same("exit_code")}), recorded=False),
    "place": EventKind(),
    "read": EventKind(Line(DEBUG, "read", _READ), "content"),
    "search": EventKind(Line(DEBUG, "searched", _READ), "content"),
    "query": EventKind(Line(DEBUG, "queried", _READ), "content"),
    "compare": EventKind(Line(DEBUG, "compared", _READ), "content"),
    "export": EventKind(Line(INFO, "exported", _READ), "content"),
    "list": EventKind(Line(DEBUG, "listed", _CALL), "facts"),
    "info": EventKind(Line(DEBUG, "described", _CALL), "facts"),
    "denied": EventKind(Line(INFO, "id refused", {**_TOOL, **_same("why")})),
    "limit": EventKind(Line(WARNING, "limit met", {**_TOOL, **_same("limit", "size", "most")})),
    "integrity": EventKind(Line(ERROR, "stored data is damaged", _TOOL)),
    "output": EventKind(recorded=False),  # a line for each outcome: ``OUTPUTS``
    "preview": EventKind(reads="output"),
    "news": EventKind(reads="output"),
    "passed": EventKind(reads="output"),
    "ended": EventKind(),
    "unevictable": EventKind(Line(WARNING, "artifact not evicted", _same("error")), recorded=False),
    "redaction": EventKind(Line(INFO, "secrets removed", {**_TOOL, **_same("secrets")})),
    "evict": EventKind(Line(INFO, "artifact evicted", {"kept": "size", "stored": "stored_size"})),
    "delete": EventKind(Line(INFO, "artifact deleted", {"kept": "size", "why": "why"})),
    "delete_session": EventKind(Line(INFO, "session deleted", {})),
    "copy_session": EventKind(
        Line(INFO, "session copied", _same("artifacts", "stored_size")), recorded=False
    ),
    "end": EventKind(Line(INFO, "session ended", {})),
    "lost": EventKind(Line(WARNING, "events of the audit log lost", _same("events"))),
}
_OUTPUT = {
    **_TOOL,
    **_same("profile", "strategy", "outcome", "original_size", "received"),
    "shown": "truncated_size",
}
OUTPUTS: Final[dict[str, Line]] = {  # of an ``output``, by its outcome
    "whole": Line(DEBUG, "shown whole", _OUTPUT),
    "stored": Line(DEBUG, "shown whole", _OUTPUT),
    "truncated": Line(INFO, "truncated", _OUTPUT),
    "dropped": Line(INFO, "truncated", _OUTPUT),
    "refused": Line(WARNING, "refused", _OUTPUT),
    "lost": Line(WARNING, "not stored", _OUTPUT),
    "failed": Line(WARNING, "not processed", _OUTPUT),
}
RENDERED: Final = (
    "rendered"  # a row beside the events: what ``stored.render`` needs, never emitted or rotated away
)


def _reading(*what: Reading) -> tuple[str, ...]:
    return tuple(name for name, kind in KINDS.items() if kind.reads in what)


READS: Final = _reading("content")  # in the order in which statements name them
RETRIEVALS: Final = frozenset(_reading("content", "facts"))
SHOWN: Final = frozenset(_reading("output"))
EVICT: Final = "evict"  # the kind of the event of an artifact that had to make room
NO_WRITES: Final = RETRIEVALS | SHOWN
