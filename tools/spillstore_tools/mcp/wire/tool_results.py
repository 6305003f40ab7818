"""Answers of tools as results of the protocol: the text for a model, and a summary of it for programs.

Many clients show a model the structured content of a result *instead of* its text, so a summary there would hide the output.
The summary stands in the result's metadata, which models are not shown. Structured content, where it is switched on, holds the
whole text as well, so that a model sees the output whichever of the two its client passes on. The summary says where the text
came from, how much there is, how the command ended, and how to go on; unknown values are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore_tools.agent.bash_result import BashResult

if TYPE_CHECKING:
    from spillstore_tools.agent.answers import Answer
    from spillstore_tools.preview.parts import Omission

RESULT = "spillstore/result"  # the key of the summary in a result's metadata
_MAX_OMISSIONS = 8  # more than that are left out of the summary; the text has all of them
_DECIMALS = 3

_NATURAL = {"type": "integer", "minimum": 0}
_STREAM_COUNT = {
    "type": "object",
    "properties": {"size": {**_NATURAL, "description": "Bytes"}, "lines": _NATURAL},
    "required": ["size"],
}
_OMISSION = {
    "type": "object",
    "properties": {
        "stream": {"type": "string", "enum": ["combined", "stdout", "stderr"]},
        "start": {**_NATURAL, "description": "First byte, from 0"},
        "end": {**_NATURAL, "description": "The byte after the last"},
        "first_line": {**_NATURAL, "description": "From 1"},
        "last_line": {**_NATURAL, "description": "Included"},
        "dropped": {"type": "boolean", "description": "Gone for good, at the artifact's limit"},
    },
    "required": ["stream", "start", "end", "first_line", "last_line"],
}
_BASH: dict[str, Any] = {
    "type": "object",
    "properties": {
        "state": {
            "type": "string",
            "enum": ["ended", "running", "open", "refused"],
            "description": "running: in the background; open: ended, and left processes that may print; refused: no command",
        },
        "pid": {"type": "integer", "description": "For check_pid and kill_pid"},
        "exit_code": {"type": "integer", "description": "128 + n if signal n ended it"},
        "signal": {"type": "string", "description": "The signal that ended it"},
        "duration": {"type": "number", "description": "Seconds"},
        "stdout": _STREAM_COUNT,
        "stderr": _STREAM_COUNT,
        "artifact_id": {"type": "string", "description": "Where all of it is stored, if it had to be"},
        "skipped": {
            "type": "object",
            "additionalProperties": _NATURAL,
            "description": "Lines of each view that the text leaves out",
        },
        "omissions": {
            "type": "array",
            "items": _OMISSION,
            "maxItems": _MAX_OMISSIONS,
            "description": "What the text leaves out; absent if that is in more places",
        },
        "storage_error": {"type": "string", "description": "Why not all of it could be stored"},
    },
    "required": ["state"],
}
_READING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "artifact_id": {"type": "string"},
        "stream": {"type": "string", "description": "The view whose bytes and lines are meant"},
        "start": {**_NATURAL, "description": "First byte of what is shown or was searched, from 0"},
        "end": {**_NATURAL, "description": "The byte after the last"},
        "first_line": {**_NATURAL, "description": "From 1"},
        "last_line": {**_NATURAL, "description": "Included"},
        "total_size": {**_NATURAL, "description": "Bytes that there are"},
        "total_lines": {**_NATURAL, "description": "Lines that there are"},
        "ids": {"type": "array", "items": {"type": "string"}, "description": "The artifacts that are listed"},
        "cursor": {"type": "string", "description": "The same call with it brings what follows"},
    },
}


_TEXT: dict[str, Any] = {"type": "string", "description": "The whole answer"}


def output_schema(name: str) -> dict[str, Any]:
    """The JSON schema of the structured content of a tool's results.

    Example:
        >>> output_schema("bash")["required"], "cursor" in output_schema("get_artifact")["properties"]
        (['text', 'state'], True)
    """
    schema = _BASH if name == "bash" else _READING
    required = ["text", *schema.get("required", ())]
    return {**schema, "properties": {"text": _TEXT, **schema["properties"]}, "required": required}


def listed_tool(definition: dict[str, Any], *, structured: bool) -> dict[str, Any]:
    """A tool as it stands in the protocol's list.

    Args:
        definition: one of ``Toolbox.definitions("mcp")``.
        structured: the tool's results have structured content.
    """
    return {**definition, "outputSchema": output_schema(definition["name"])} if structured else definition


def result_of(answer: BashResult | Answer, *, structured: bool, text: str | None = None) -> dict[str, Any]:
    r"""An answer of a tool as a result of the protocol.

    Args:
        answer: the answer.
        structured: add structured content, which holds the text as well.
        text: a text to show instead of the answer's own.

    Example:
        >>> from spillstore_tools.agent.answers import Answer
        >>> result_of(Answer(text="hi\n", artifact_id="art_1_2"), structured=True)
        ... # doctest: +NORMALIZE_WHITESPACE
        {'content': [{'type': 'text', 'text': 'hi\n'}], 'isError': False,
         '_meta': {'spillstore/result': {'artifact_id': 'art_1_2'}},
         'structuredContent': {'text': 'hi\n', 'artifact_id': 'art_1_2'}}
    """
    shown = encodable(answer.text if text is None else text)
    known = summary(answer)
    result = {
        "content": [{"type": "text", "text": shown}],
        "isError": answer.is_error,
        "_meta": {RESULT: known},
    }
    return {**result, "structuredContent": {"text": shown, **known}} if structured else result


def encodable(text: str) -> str:
    """The text with half surrogates, which UTF-8 cannot encode (from bytes in file names, say), as question marks."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def summary(answer: BashResult | Answer) -> dict[str, Any]:
    """The metadata of an answer.

    Example:
        >>> from spillstore_tools.agent.answers import Answer
        >>> summary(Answer(text="...", artifact_id="art_1_2", end=5, first_line=1, last_line=2, total_size=9, total_lines=4))
        ... # doctest: +NORMALIZE_WHITESPACE
        {'artifact_id': 'art_1_2', 'stream': 'combined', 'start': 0, 'end': 5, 'first_line': 1, 'last_line': 2,
         'total_size': 9, 'total_lines': 4}
    """
    return _of_bash(answer) if isinstance(answer, BashResult) else _of_reading(answer)


def _of_bash(result: BashResult) -> dict[str, Any]:
    if result.state == "refused":
        return {"state": "refused"}
    found: dict[str, Any] = {
        "state": result.state,
        "pid": result.pid,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "duration": None if result.duration is None else round(result.duration, _DECIMALS),
        "stdout": _known({"size": result.stdout.size, "lines": result.stdout.lines}),
        "stderr": _known({"size": result.stderr.size, "lines": result.stderr.lines}),
        "artifact_id": result.artifact_id,
        "skipped": {view: count["skipped"] for view, count in result.truncated.items() if count["skipped"]}
        or None,
        "storage_error": None if result.storage_error is None else encodable(result.storage_error),
    }
    if 0 < len(result.omissions) <= _MAX_OMISSIONS:
        found["omissions"] = [_of_omission(each) for each in result.omissions]
    return _known(found)


def _of_omission(omission: Omission) -> dict[str, Any]:
    names = ("stream", "start", "end", "first_line", "last_line")
    found = {name: getattr(omission, name) for name in names}
    return {**found, "dropped": True} if omission.dropped else found


def _of_reading(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = {"artifact_id": answer.artifact_id}
    if answer.total_size:
        found["stream"] = answer.stream
        if answer.end:
            found |= {"start": answer.start, "end": answer.end}
        if answer.last_line:
            found |= {"first_line": answer.first_line, "last_line": answer.last_line}
        found |= {"total_size": answer.total_size, "total_lines": answer.total_lines or None}
    return _known({**found, "ids": list(answer.ids) or None, "cursor": answer.cursor})


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
