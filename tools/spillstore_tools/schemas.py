"""The tools as models are told of them: name, description and JSON schema, in the three forms in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from spillstore_tools.profiles.base import Profile

Style = Literal["openai", "anthropic", "mcp"]
STYLES: tuple[Style, ...] = ("openai", "anthropic", "mcp")

# The texts of the properties are those of the design that `pipe` follows (S2, Tool Schema).
_BASH: dict[str, dict[str, str]] = {
    "command": {"type": "string", "description": "The bash command to execute"},
    "timeout": {
        "type": "integer",
        "description": "Timeout in ms before auto-backgrounding (default: 120000)",
    },
    "check_pid": {"type": "integer", "description": "Check on a backgrounded process, return new output"},
    "kill_pid": {"type": "integer", "description": "Kill a backgrounded process, return final output"},
}
BASH_ARGUMENTS = tuple(_BASH)


def bash_definition(style: Style, profile: Profile) -> dict[str, Any]:
    """The tool ``bash``; one of ``command``, ``check_pid`` and ``kill_pid`` is needed, which schemas cannot say everywhere.

    Args:
        style: ``openai`` (a function tool of chat completions), ``anthropic``, or ``mcp``.
        profile: its limits are in the description.

    Example:
        >>> from spillstore_tools.profiles import profile
        >>> definition = bash_definition("anthropic", profile("default"))
        >>> definition["name"], sorted(definition["input_schema"]["properties"])
        ('bash', ['check_pid', 'command', 'kill_pid', 'timeout'])
    """
    description = (
        f"Execute a bash command in a fresh shell. {profile.summary} All of it is kept: the notice in the output names "
        "the artifact and the calls that bring any part of it. Commands exceeding timeout are auto-backgrounded: "
        "check_pid shows their new output, kill_pid ends them. Give exactly one of command, check_pid and kill_pid."
    )
    schema = {"type": "object", "properties": {name: dict(each) for name, each in _BASH.items()}}
    if style == "openai":
        function = {"name": "bash", "description": description, "parameters": schema}
        return {"type": "function", "function": function}
    if style == "anthropic":
        return {"name": "bash", "description": description, "input_schema": schema}
    annotations = {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    return {"name": "bash", "description": description, "inputSchema": schema, "annotations": annotations}
