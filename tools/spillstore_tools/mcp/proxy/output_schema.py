"""Output schemas of the upstream server's tools, relaxed so that they allow a stand-in for a stored value.

A structured value that is too large is stored, and a stand-in takes its place, which the tool's output schema would forbid. The
relaxed schema still describes the value, for clients that show it to a model or generate types from it; so it is not removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore_tools.mcp.wire.raw_json import RawJsonError, dump, value

if TYPE_CHECKING:
    from spillstore_tools.mcp.wire.raw_json import RawJson

STAND_IN = "spillstore"  # the only key of a stand-in
# Members that belong to the document as a whole, or that references lead to: they stay where they are.
_STAYS = frozenset(
    {"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment"}
    | {"$defs", "definitions", "title", "description"}
)
_DATA = frozenset({"const", "enum", "default", "examples"})  # values, even where they look like schemas
_SCHEMAS = frozenset(
    {"$defs", "definitions", "properties", "patternProperties", "dependentSchemas"}
)  # by name
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def relaxed_member(tool: dict[str, RawJson]) -> dict[str, RawJson]:
    """The member of a tool that has the relaxed output schema; empty if the tool has no output schema, or one that is no object."""
    if "outputSchema" not in tool:
        return {}
    try:
        schema = value(tool["outputSchema"])
    except RawJsonError:
        return {}
    return {"outputSchema": dump(relaxed(schema))} if isinstance(schema, dict) else {}


def relaxed(schema: dict[str, Any]) -> dict[str, Any]:
    """An output schema that also allows a stand-in.

    The schema moves into an ``anyOf``, and references inside it are adjusted. Where it has references that lead out of it, or to
    a document inside it, the result is a schema that allows every object.

    Example:
        >>> relaxed({"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}})
        ... # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
        {'$defs': {'n': {'type': 'integer'}}, 'type': 'object',
         'anyOf': [{'type': 'object', 'properties': {'n': {'$ref': '#/$defs/n'}}},
                   {'type': 'object', 'properties': {'spillstore': {'type': 'object', 'description': '...'}},
                    'required': ['spillstore']}]}
    """
    root = {"type": "object"} if schema.get("type") == "object" else {}
    stand_in = {
        "type": "object",
        "properties": {STAND_IN: {"type": "object", "description": "Stands for a value that was too large"}},
        "required": [STAND_IN],
    }
    try:
        adjusted = {name: _adjusted_member(name, each) for name, each in schema.items()}
    except (_UnknownReferenceError, RecursionError):
        return root
    staying = {name: each for name, each in adjusted.items() if name in _STAYS}
    moved = {name: each for name, each in adjusted.items() if name not in _STAYS}
    return {**staying, **root, "anyOf": [moved, stand_in]}


class _UnknownReferenceError(Exception):
    """A reference leads to an unknown place once the schema has moved."""


def _adjusted(schema: Any) -> Any:
    """A schema, or a list of schemas, with references that lead to the new places."""
    if isinstance(schema, list):
        return [_adjusted(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("$id"), str):
        raise _UnknownReferenceError  # a document inside the document
    return {name: _adjusted_member(name, each) for name, each in schema.items()}


def _adjusted_member(name: str, each: Any) -> Any:
    if name in _DATA:
        return each
    if name in _SCHEMAS and isinstance(each, dict):
        return {key: _adjusted(schema) for key, schema in each.items()}
    if name not in _REFERENCES or not isinstance(each, str):
        return _adjusted(each)
    if not each.startswith("#"):
        raise _UnknownReferenceError
    if not each.startswith("#/") or each.split("/")[1] in _STAYS:
        return each
    return f"#/anyOf/0{each[1:]}"
