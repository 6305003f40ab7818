"""The definition of a tool that is sent to a model: name, description and JSON schema, in three styles."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any, Literal, get_args

from spillstore.info import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

Style = Literal["openai", "anthropic", "mcp"]
STYLES: tuple[Style, ...] = get_args(Style)

Schema = dict[str, Any]
# The schemas of arguments that several tools have.
ID: Schema = {"type": "string", "description": "The artifact's id, as a notice names it"}
STREAM: Schema = {
    "type": "string",
    "enum": list(get_args(Stream)),
    "description": "combined (default) has both streams as they came",
}
CURSOR: Schema = {"type": "string", "description": "Goes on where the answer before stopped"}
PATH: Schema = {
    "type": "string",
    "description": "JSONPath of one string in stored JSON, such as $.stdout: lines are those of its text",
}
MAX_CHARS: Schema = {
    "type": "integer",
    "description": "Characters of the answer, 500 to 100000 (default: 8000)",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """The definition of one tool.

    Attributes:
        name: the tool's name.
        description: what the tool does, for the model.
        properties: the JSON schema of each argument, by its name.
        required: the arguments that a call must have.
        read_only: whether a call changes nothing and may be repeated.
        always_load: whether clients that list tools only on a search should list this one always. Notices in previews
            name such a tool, so a model needs it at hand.
    """

    name: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    read_only: bool = True
    always_load: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(self.properties)

    def in_style(self, style: Style) -> dict[str, Any]:
        """The definition as an API takes it; a new object with each call.

        Args:
            style: ``openai`` (a function tool of chat completions), ``anthropic``, or ``mcp``.

        Example:
            >>> tool = ToolDefinition(name="now", description="Tell the time.", properties={})
            >>> tool.in_style("anthropic")
            {'name': 'now', 'description': 'Tell the time.', 'input_schema': {'type': 'object', 'properties': {}}}
        """
        schema: Schema = {"type": "object", "properties": copy.deepcopy(dict(self.properties))}
        if self.required:
            schema["required"] = list(self.required)
        named = {"name": self.name, "description": self.description}
        if style == "openai":
            return {"type": "function", "function": {**named, "parameters": schema}}
        if style == "anthropic":
            return {**named, "input_schema": schema}
        annotations = {
            "readOnlyHint": self.read_only,
            "destructiveHint": not self.read_only,
            "idempotentHint": self.read_only,
            "openWorldHint": not self.read_only,
        }
        meta = {"_meta": {"anthropic/alwaysLoad": True}} if self.always_load else {}
        return {**named, "inputSchema": schema, "annotations": annotations, **meta}
