"""What tools answer besides their text: short values for programs, and the schemas that describe them.

A client may show a model the text and the structured value both, so the value never repeats the text. It says where the
text came from, how much there is, how it ended, and where to go on; what is not known is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore_tools.bash import BashResult

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Omission
    from spillstore_tools.retrieval import Answer

_OMISSIONS = 8  # more gaps than that are counted, and the text has them all
_ROUND = 3

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
            "maxItems": _OMISSIONS,
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


def output_schema(name: str) -> dict[str, Any]:
    """What ``structured`` gives for answers of a tool, as a JSON schema.

    Example:
        >>> output_schema("bash")["required"], "cursor" in output_schema("get_artifact")["properties"]
        (['state'], True)
    """
    return _BASH if name == "bash" else _READING


def structured(answer: BashResult | Answer) -> dict[str, Any]:
    """An answer as a short value.

    Example:
        >>> from spillstore_tools.retrieval import Answer
        >>> structured(Answer(text="...", artifact_id="art_1_2", end=5, first_line=1, last_line=2, total_size=9, total_lines=4))
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
        "duration": None if result.duration is None else round(result.duration, _ROUND),
        "stdout": _known({"size": result.stdout.size, "lines": result.stdout.lines}),
        "stderr": _known({"size": result.stderr.size, "lines": result.stderr.lines}),
        "artifact_id": result.artifact_id,
        "skipped": {view: count["skipped"] for view, count in result.truncated.items() if count["skipped"]}
        or None,
        "storage_error": result.storage_error,
    }
    if 0 < len(result.omissions) <= _OMISSIONS:
        found["omissions"] = [_of_omission(each) for each in result.omissions]
    return _known(found)


def _of_omission(omission: Omission) -> dict[str, Any]:
    names = ("stream", "start", "end", "first_line", "last_line")
    found = {name: getattr(omission, name) for name in names}
    return {**found, "dropped": True} if omission.dropped else found


def _of_reading(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = {"artifact_id": answer.artifact_id}
    if answer.total_size:
        found |= {"stream": answer.stream, "start": answer.start, "end": answer.end}
        if answer.last_line:
            found |= {"first_line": answer.first_line, "last_line": answer.last_line}
        found |= {"total_size": answer.total_size, "total_lines": answer.total_lines}
    return _known({**found, "ids": list(answer.ids) or None, "cursor": answer.cursor})


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
