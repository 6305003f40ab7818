"""The list of tools that a client sees: the fronted server's, and ours behind them.

Ours keep their names where the server has none of these; else they get a prefix. A result that was too large loses its
structured value, which would break the promise of the tool's output schema; so the schema is relaxed: it still describes
the value, and allows the short one that stands for a stored one. What it says is kept, for clients that show it to a
model or make types of it; removing it would have been simpler.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from spillstore_tools.agent.reading_tools import READING_TOOLS
from spillstore_tools.mcp._pieces import PieceError, dumped, items, joined, listed, members, text_of, value
from spillstore_tools.mcp.outputs import tool_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore_tools.mcp._pieces import Data

PREFIX = "spillstore_"
STAND_IN = "spillstore"  # the one key of the value that stands for a stored one
# What belongs to the document as a whole, or is pointed at from inside: it stays where it is.
_KEPT = frozenset(
    {"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment"}
    | {"$defs", "definitions", "title", "description"}
)
_DATA = frozenset({"const", "enum", "default", "examples"})  # no schemas, whatever they look like
_SCHEMAS = frozenset(
    {"$defs", "definitions", "properties", "patternProperties", "dependentSchemas"}
)  # by name
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


class Names:
    """What our tools are called beside the tools of the fronted server.

    Args:
        taken: the names of these.
        structured: results of ours have structured content.

    Example:
        >>> names = Names(["get_artifact", "git_show"])
        >>> names.ours["get_artifact"], names.ours["list_artifacts"]
        ('spillstore_get_artifact', 'list_artifacts')
        >>> names.tool("spillstore_get_artifact"), names.tool("get_artifact")
        ('get_artifact', None)
        >>> names.renamed('get_artifact(id="art_1", tail=5)')
        'spillstore_get_artifact(id="art_1", tail=5)'
    """

    def __init__(self, taken: Iterable[str], *, structured: bool = False) -> None:
        others = set(taken)
        self.ours: dict[str, str] = {}
        for tool in READING_TOOLS:
            name = tool
            while name in others:
                name = PREFIX + name
            self.ours[tool] = name
        self._tools = {name: tool for tool, name in self.ours.items()}
        changed = [tool for tool, name in self.ours.items() if tool != name]
        self._structured = structured
        self._calls = re.compile(rf"\b({'|'.join(changed)})(?=[(:])") if changed else None

    def tool(self, name: str) -> str | None:
        """Which of our tools a name means, if any."""
        return self._tools.get(name)

    def renamed(self, words: str) -> str:
        """Words of our own; calls in them get the names that are right here."""
        return words if self._calls is None else self._calls.sub(lambda match: self.ours[match[1]], words)

    def renamed_of(self, preview: str, artifact_id: str) -> str:
        """A preview, likewise. An output cannot have known the id it would get, so calls with it are our own words."""
        for tool, name in self.ours.items():
            if tool != name:
                preview = preview.replace(f'{tool}(id="{artifact_id}"', f'{name}(id="{artifact_id}"')
        return preview

    def definitions(self) -> list[bytes]:
        """Our tools, as they are listed."""
        return [
            dumped(
                {
                    **tool_of(READING_TOOLS[tool].definition.in_style("mcp"), structured=self._structured),
                    "name": name,
                }
            )
            for tool, name in self.ours.items()
        ]


def could_be_ours(name: str) -> bool:
    """Whether a name may mean one of our tools, depending on what else there is."""
    while name not in READING_TOOLS and name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name in READING_TOOLS


class Page:
    """A page of the fronted server's list.

    Raises:
        PieceError: it is none.
    """

    def __init__(self, result: Data) -> None:
        self._result = members(result)
        self._tools = [members(each) for each in items(self._result.get("tools", b"null"))]

    @property
    def names(self) -> list[str]:
        """The names of its tools."""
        found = [text_of(each.get("name")) for each in self._tools]
        return [name for name in found if name is not None]

    @property
    def cursor(self) -> str | None:
        """Where the next page begins; None on the last one."""
        return text_of(self._result.get("nextCursor"))

    def shown(self, more: Iterable[bytes]) -> bytes:
        """The page as a client sees it.

        Args:
            more: tools to add.
        """
        tools = [joined(each | _relaxed_in(each)) for each in self._tools]
        return joined({**self._result, "tools": listed([*tools, *more])})


def _relaxed_in(tool: dict[str, Data]) -> dict[str, Data]:
    """The tool's output schema, relaxed; nothing where it has none, or no object."""
    if "outputSchema" not in tool:
        return {}
    try:
        schema = value(tool["outputSchema"])
    except PieceError:
        return {}
    return {"outputSchema": dumped(relaxed(schema))} if isinstance(schema, dict) else {}


def relaxed(schema: dict[str, Any]) -> dict[str, Any]:
    """An output schema that allows, besides what it did, the value that stands for a stored one.

    Where the schema points out of itself, or to a name inside that cannot be told from here, nothing can be said of where
    it leads once it has moved: it becomes one that allows every object.

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
        there = {name: _member(name, each) for name, each in schema.items()}
    except (_LeadsOutError, RecursionError):
        return root
    kept = {name: each for name, each in there.items() if name in _KEPT}
    moved = {name: each for name, each in there.items() if name not in _KEPT}
    return {**kept, **root, "anyOf": [moved, stand_in]}


class _LeadsOutError(Exception):
    """A reference that nobody can follow from here."""


def _repointed(schema: Any) -> Any:
    """A schema, or a list of some, in which references to what has moved lead to where it is."""
    if isinstance(schema, list):
        return [_repointed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("$id"), str):
        raise _LeadsOutError  # a document inside the document
    return {name: _member(name, each) for name, each in schema.items()}


def _member(name: str, each: Any) -> Any:
    if name in _DATA:
        return each
    if name in _SCHEMAS and isinstance(each, dict):
        return {key: _repointed(schema) for key, schema in each.items()}
    if name not in _REFERENCES or not isinstance(each, str):
        return _repointed(each)
    if not each.startswith("#"):
        raise _LeadsOutError
    if not each.startswith("#/") or each.split("/")[1] in _KEPT:
        return each
    return f"#/anyOf/0{each[1:]}"
