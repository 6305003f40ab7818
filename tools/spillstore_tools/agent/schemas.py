"""The tools as models are told of them: name, description and JSON schema, in the three forms in use."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal, get_args

from spillstore.info import State, Stream

if TYPE_CHECKING:
    from spillstore_tools.profiles.base import Profile

Style = Literal["openai", "anthropic", "mcp"]
STYLES: tuple[Style, ...] = ("openai", "anthropic", "mcp")

# The texts of the properties of bash are those of the design that `pipe` follows.
_BASH: dict[str, dict[str, Any]] = {
    "command": {"type": "string", "description": "The bash command to execute"},
    "timeout": {
        "type": "integer",
        "description": "Timeout in ms before auto-backgrounding (default%s: %d)",
    },
    "check_pid": {"type": "integer", "description": "Check on a backgrounded process, return new output"},
    "kill_pid": {"type": "integer", "description": "Kill a backgrounded process, return final output"},
}
_ID = {"type": "string", "description": "The artifact's id, as a notice names it"}
_STREAM = {
    "type": "string",
    "enum": list(get_args(Stream)),
    "description": "combined (default) has both streams as they came",
}
_CURSOR = {"type": "string", "description": "Goes on where the answer before stopped"}
_PATH = {
    "type": "string",
    "description": "JSONPath of one string in stored JSON, such as $.stdout: lines are those of its text",
}
_GET: dict[str, dict[str, Any]] = {
    "id": _ID,
    "start_line": {"type": "integer", "description": "First line, from 1; negative counts from the end"},
    "end_line": {"type": "integer", "description": "Last line, included"},
    "start_byte": {"type": "integer", "description": "First byte, from 0"},
    "end_byte": {"type": "integer", "description": "The byte after the last"},
    "start_time": {"type": "number", "description": "Seconds after the output began"},
    "end_time": {"type": "number", "description": "Seconds after the output began, not included"},
    "offset": {"type": "integer", "description": "Lines to skip"},
    "limit": {"type": "integer", "description": "Lines to show after offset (default: 2000)"},
    "tail": {"type": "integer", "description": "How many lines of the end to show"},
    "path": _PATH,
    "query": {
        "type": "string",
        "description": "JSONPath (RFC 9535) of stored JSON or JSON Lines, such as $.users[?@.age > 30].name",
    },
    "stream": _STREAM,
    "raw": {"type": "boolean", "description": "Keep escape sequences; show bytes that are no text as \\xNN"},
    "cursor": _CURSOR,
    "max_chars": {
        "type": "integer",
        "description": "Characters of the answer, 500 to 100000 (default: 8000)",
    },
}
_SEARCH: dict[str, dict[str, Any]] = {
    "id": _ID,
    "pattern": {"type": "string", "description": "Regular expression (RE2 syntax), matched within lines"},
    "stream": _STREAM,
    "path": _PATH,
    "context": {"type": "integer", "description": "Lines before and after each match (default: 0)"},
    "limit": {"type": "integer", "description": "Matching lines at most (default: 50)"},
    "cursor": _CURSOR,
    "ignore_case": {"type": "boolean", "description": "Take capitals and small letters for the same"},
    "literal": {"type": "boolean", "description": "The pattern is text, not an expression"},
    "invert": {"type": "boolean", "description": "Lines that do not match"},
    "raw": {"type": "boolean", "description": "Search the stored bytes, escape sequences and all"},
    "count": {"type": "boolean", "description": "Tell only how many lines match"},
}
_COMPARE: dict[str, dict[str, Any]] = {
    "id": {"type": "string", "description": "The newer artifact's id"},
    "base": {
        "type": "string",
        "description": "The older artifact's id (default: the run before of the same command)",
    },
    "stream": _STREAM,
    "exact": {"type": "boolean", "description": "Compare times, numbers and addresses, too"},
    "cursor": _CURSOR,
    "max_chars": _GET["max_chars"],
}
_LIST: dict[str, dict[str, Any]] = {
    "source": {"type": "string", "description": "Only those of this tool"},
    "state": {"type": "string", "enum": list(get_args(State)), "description": "Only those in this state"},
    "since": {"type": "string", "description": "Only those begun since: 2h ago, or a date and time in UTC"},
    "limit": {"type": "integer", "description": "Artifacts of one answer at most (default: 20)"},
    "cursor": _CURSOR,
}
_READING: dict[str, tuple[str, dict[str, dict[str, Any]], tuple[str, ...]]] = {
    "get_artifact": (
        (
            "Get any part of stored output: a range of lines, bytes or seconds, or all of it in parts. Answers are "
            "bounded and end with the call that brings the rest. Give one kind of range."
        ),
        _GET,
        ("id",),
    ),
    "search_artifact": (
        (
            "Search stored output for lines that match a regular expression, with their numbers. Look-around and "
            "back-references are not supported."
        ),
        _SEARCH,
        ("id", "pattern"),
    ),
    "compare_artifacts": (
        (
            "Compare a stored output with that of the run before: lines that are new and lines that are gone, errors "
            "and failures first. Times, numbers and addresses are not compared."
        ),
        _COMPARE,
        ("id",),
    ),
    "list_artifacts": ("List stored outputs, the newest first.", _LIST, ()),
    "artifact_info": (
        "What is known of a stored output: size, lines, state, exit code.",
        {"id": _ID},
        ("id",),
    ),
}
# Notices name these two, so a model must have them at hand; a client that lists tools only when they are searched for makes
# an exception where this says so.
_ALWAYS = {"anthropic/alwaysLoad": True}
_NAMED_BY_NOTICES = frozenset({"get_artifact", "search_artifact"})
BASH_ARGUMENTS = tuple(_BASH)
READING_ARGUMENTS = {name: tuple(properties) for name, (_, properties, _) in _READING.items()}


def bash_definition(style: Style, profile: Profile, *, timeout: int | None = None) -> dict[str, Any]:
    """The tool ``bash``; one of ``command``, ``check_pid`` and ``kill_pid`` is needed, which schemas cannot say everywhere.

    Args:
        style: ``openai`` (a function tool of chat completions), ``anthropic``, or ``mcp``.
        profile: its limits are in the description.
        timeout: milliseconds that a call waits at most, and where none are named; None for 120,000 where none are named.

    Example:
        >>> from spillstore_tools.profiles import profile
        >>> definition = bash_definition("anthropic", profile("default"))
        >>> definition["name"], sorted(definition["input_schema"]["properties"])
        ('bash', ['check_pid', 'command', 'kill_pid', 'timeout'])
    """
    description = (
        f"Execute a bash command in a fresh shell. {profile.summary} {profile.kept}: the notice in the output "
        "names the artifact and the calls that bring any part of it. So do not cut output with head or tail. Commands exceeding timeout are auto-backgrounded: "
        "check_pid shows their new output, get_artifact any part of it, kill_pid ends them. Give exactly one of command, check_pid and kill_pid."
    )
    told = _BASH["timeout"]["description"] % (("", 120_000) if timeout is None else (" and at most", timeout))
    properties = {**_BASH, "timeout": {**_BASH["timeout"], "description": told}}
    return _definition(style, "bash", description, properties, (), destructive=True)


def reading_definition(style: Style, name: str) -> dict[str, Any]:
    """``get_artifact``, ``search_artifact``, ``compare_artifacts``, ``list_artifacts`` or ``artifact_info``.

    Example:
        >>> reading_definition("mcp", "search_artifact")["inputSchema"]["required"]
        ['id', 'pattern']
    """
    description, properties, required = _READING[name]
    return _definition(style, name, description, properties, required, destructive=False)


def _definition(
    style: Style,
    name: str,
    description: str,
    properties: dict[str, dict[str, Any]],
    required: tuple[str, ...],
    *,
    destructive: bool,
) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": copy.deepcopy(properties),
    }
    if required:
        schema["required"] = list(required)
    if style == "openai":
        function = {"name": name, "description": description, "parameters": schema}
        return {"type": "function", "function": function}
    if style == "anthropic":
        return {"name": name, "description": description, "input_schema": schema}
    annotations = {
        "readOnlyHint": not destructive,
        "destructiveHint": destructive,
        "idempotentHint": not destructive,
        "openWorldHint": destructive,
    }
    listed = {"name": name, "description": description, "inputSchema": schema, "annotations": annotations}
    return {**listed, "_meta": dict(_ALWAYS)} if name in _NAMED_BY_NOTICES else listed
