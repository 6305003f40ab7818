"""The Claude Agent SDK: options with a hook, a shell prefix and tools for the rest. Extra ``claude-agent-sdk``.

.. code-block:: python

    from claude_agent_sdk import ClaudeAgentOptions, query
    from spillstore_tools.adapters.claude_sdk import SpillOptions

    options = SpillOptions().options(ClaudeAgentOptions(allowed_tools=["Bash"]))
    async for message in query(prompt="Run the tests.", options=options):
        print(message)

Three things are added:

- a hook behind each tool, for results of MCP servers, and for what Claude Code has saved to a file of its own;
- the shell prefix ``spillstore-sh``: commands run in another process, which stores into the same session, with the settings that
  the environment and ``.agent/config.yml`` name. What an adapter's options say of previews does not reach there;
- an MCP server in this process, with the tools that read what is stored.

A hook that rewrites a command before it runs is not used: rules of permission would see the rewritten command. Claude Code runs
hooks side by side on the same result and takes one answer, so another hook of yours that changes results excludes ours there.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import TYPE_CHECKING, Any, cast

from claude_agent_sdk import (
    ClaudeAgentOptions,
    HookMatcher,
    SdkMcpTool,
    ToolAnnotations,
    create_sdk_mcp_server,
)

from spillstore.exceptions import InvalidSettingError, SpillstoreError
from spillstore_tools.adapters.core import Adapter, WithAdapter
from spillstore_tools.agents.answers import Means, claude_code
from spillstore_tools.agents.base import READING
from spillstore_tools.agents.edit import ConfigurationError
from spillstore_tools.agents.place import program

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from claude_agent_sdk import HookContext, HookInput
    from claude_agent_sdk.types import HookJSONOutput, McpServerConfig

    from spillstore import Session, aio
    from spillstore_tools.adapters.core import AdapterOptions, ToolSpec

SERVER = "spillstore"
_MATCHER = "Bash|mcp__.*"
_PREFIX = "CLAUDE_CODE_SHELL_PREFIX"
_LARGEST = 110_000  # characters of an answer, which Claude Code would save to a file above 25,000 tokens
_log = logging.getLogger("spillstore.adapters")


@dataclasses.dataclass(frozen=True)
class _Text:
    content: str


class SpillOptions(WithAdapter):
    """Makes options for the SDK. A context manager, also of ``async with``: its end closes what was opened here.

    Args:
        session: see ``Adapter``.
        shell: False to leave commands to Claude Code.
        options: see ``AdapterOptions``; tools of MCP servers are named as Claude Code names them, ``mcp__SERVER__TOOL``.

    Attributes:
        adapter: decides what is shown, and stores the rest.

    Raises:
        InvalidSettingError: as ``Adapter`` does.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        *,
        shell: bool = True,
        **options: Unpack[AdapterOptions],
    ) -> None:
        self.adapter = Adapter(session, **options)
        self._shell = shell

    def options(self, base: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """Options with ours added; those that were given are not changed.

        The session is opened for them, since commands must be told its name. Where it cannot be opened, or no other process can,
        or ``spillstore-sh`` is not installed, or a shell prefix is set already, commands are left to Claude Code.

        Args:
            base: your own options.

        Raises:
            InvalidSettingError: ``mcp_servers`` is a file or text, to which no server in this process can be added, or has a
                server of our name.
        """
        base = base or ClaudeAgentOptions()
        specs = self.adapter.specs()
        hooks = dict(base.hooks or {})
        hooks["PostToolUse"] = [
            *hooks.get("PostToolUse", []),
            HookMatcher(matcher=_MATCHER, hooks=[self._after_tool]),
        ]
        environment = self._environment(base) if self._shell else {}
        allowed = [f"mcp__{SERVER}__{spec.name}" for spec in specs]
        allowed += [f"Bash(spillstore {name}:*)" for name in READING] if environment else []
        return dataclasses.replace(
            base,
            hooks=hooks,
            env={**base.env, **environment},
            mcp_servers=_with_server(base, specs),
            allowed_tools=[*base.allowed_tools, *allowed],
        )

    # --- results ----------------------------------------------------------------------------------------

    async def _after_tool(
        self,
        payload: HookInput,
        tool_use_id: str | None,  # noqa: ARG002  # it is in the payload, too
        context: HookContext,  # noqa: ARG002  # the SDK gives it
    ) -> HookJSONOutput:
        """What Claude Code asks after a call."""
        given = cast("dict[str, Any]", payload)
        if self.adapter.passes(str(given.get("tool_name"))):
            return {}
        return cast("HookJSONOutput", await asyncio.to_thread(self._answer, given))

    def _answer(self, payload: dict[str, Any]) -> dict[str, Any]:
        def preview(content: Any, tool: str, _session: str, call: str | None) -> _Text | None:
            arguments = payload.get("tool_input")
            shown = self.adapter.shown(
                tool, content, call_id=call, arguments=arguments if isinstance(arguments, dict) else None
            )
            if not shown.changed:
                return None
            return _Text(
                shown.content
                if isinstance(shown.content, str)
                else bytes(shown.content).decode(errors="replace")
            )

        try:
            return claude_code(payload, Means(environment={}, shell=str, preview=preview, short=0))
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent goes on
            _log.warning(
                "the result of the tool %.80r is passed on as it is: %s: %s",
                payload.get("tool_name"),
                type(error).__name__,
                error,
            )
            return {}

    # --- commands ---------------------------------------------------------------------------------------

    def _environment(self, base: ClaudeAgentOptions) -> dict[str, str]:
        """What leads commands into the session; empty where they cannot be led there."""
        if _PREFIX in base.env:
            return {}
        try:
            shell, session = program("spillstore-sh"), self.adapter.session
        except (ConfigurationError, SpillstoreError) as error:
            _log.warning("commands are left to Claude Code: %s", error)
            return {}
        if session.address is None or " -" in shell:
            _log.warning(
                "commands are left to Claude Code: no other process can reach the session or the shell"
            )
            return {}
        return {
            _PREFIX: shell,
            "SPILLSTORE_ROOT": session.address,
            "SPILLSTORE_PROJECT": session.project or "",
            "SPILLSTORE_SESSION": session.id,
        }


def _with_server(base: ClaudeAgentOptions, specs: tuple[ToolSpec, ...]) -> dict[str, McpServerConfig]:
    if not isinstance(base.mcp_servers, dict):
        raise InvalidSettingError(
            "give mcp_servers as a dictionary: to a file or a text no server in this process can be added"
        )
    if SERVER in base.mcp_servers:
        raise InvalidSettingError(f"mcp_servers has a server {SERVER!r} already; give it another name")
    server = create_sdk_mcp_server(SERVER, tools=[_tool_of(spec) for spec in specs])
    # Notices name these tools, so they must be there without a search for tools.
    always = {**server, "alwaysLoad": True}
    return {**base.mcp_servers, SERVER: cast("McpServerConfig", always)}


def _tool_of(spec: ToolSpec) -> SdkMcpTool[Any]:
    async def answer(arguments: dict[str, Any]) -> dict[str, Any]:
        found = await asyncio.to_thread(spec.answer, arguments)
        return {"content": [{"type": "text", "text": found.text}], "is_error": found.is_error}

    annotations = ToolAnnotations(readOnlyHint=spec.name != "bash", maxResultSizeChars=_LARGEST)
    return SdkMcpTool(spec.name, spec.description, spec.schema, answer, annotations)
