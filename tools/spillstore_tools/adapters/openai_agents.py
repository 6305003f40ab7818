"""The OpenAI Agents SDK: tools with a guardrail, and an executor of commands. Extra ``openai-agents``.

.. code-block:: python

    from agents import Agent
    from spillstore_tools.adapters.openai_agents import SpillTools

    spill = SpillTools()
    agent = Agent(name="tester", tools=spill.tools(run_tests, read_log))

A tool gets an output guardrail as its last one, which answers with the preview. So the guardrails before it see all of the result,
and approvals, time-outs, agents as tools and realtime agents work as before: the SDK looks into a tool's own ``on_invoke_tool``
for some of them, and another one in its place would change who is asked for an approval.

A result that a program of the model consumes (programmatic tool calling) passes as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from agents import (
    FunctionTool,
    ShellCallOutcome,
    ShellCommandOutput,
    ShellResult,
    ToolGuardrailFunctionOutput,
    ToolOutputFileContent,
    ToolOutputGuardrail,
    ToolOutputImage,
    ToolOutputText,
)

from spillstore_tools.adapters.core import Adapter, WithAdapter

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from agents import ShellCommandRequest, Tool, ToolOutputGuardrailData
    from agents.tool_context import ToolContext

    from spillstore import Session, aio
    from spillstore_tools.adapters.commands import Ran
    from spillstore_tools.adapters.core import AdapterOptions, ToolSpec

_TIMEOUT = 120_000  # milliseconds of a command where the model names none
_LEAST = 500  # characters of a preview


class SpillTools(WithAdapter):
    """Wraps the tools of an agent, and offers those that read what is stored. A context manager, also of ``async with``.

    Args:
        session: see ``Adapter``.
        options: see ``AdapterOptions``.

    Attributes:
        adapter: decides what is shown, and stores the rest.
        guardrail: for ``tool_output_guardrails``, of a tool or of an MCP server.

    Raises:
        InvalidSettingError: as ``Adapter`` does.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        **options: Unpack[AdapterOptions],
    ) -> None:
        self.adapter = Adapter(session, **options)
        self.guardrail: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._checked, name="spillstore")

    def tools(self, *tools: Tool) -> list[Tool]:
        """An agent's tools with previews in place of large results, and those that read what is stored.

        Args:
            tools: of any kind; all but function tools are returned as they are.
        """
        return [*map(self.spilled, tools), *self.retrieval()]

    def spilled(self, tool: Tool) -> Tool:
        """A copy of a function tool that shows large results in part; any other tool as it is."""
        if not isinstance(tool, FunctionTool) or self.guardrail in (tool.tool_output_guardrails or ()):
            return tool
        wrapped = copy.copy(tool)
        wrapped.tool_output_guardrails = [*(tool.tool_output_guardrails or ()), self.guardrail]
        return wrapped

    def retrieval(self) -> list[Tool]:
        """The tools with which the model reads what is stored."""
        return [_tool_of(spec) for spec in self.adapter.specs()]

    async def shell(self, request: ShellCommandRequest) -> ShellResult:
        """Run the commands of a call one after the other, for ``ShellTool(executor=spill.shell)``; all they print is kept.

        A command that is not over in time (two minutes where the model names none) is ended with everything it has started.
        Where the model wants at most so many characters, the previews together have that many, but 500 each.
        """
        action = request.data.action
        commands = self.adapter.commands(limit=_limit(action.max_output_length, len(action.commands)))
        timeout = action.timeout_ms or _TIMEOUT
        ran = [(each, await commands.run(each, timeout, request.data.call_id)) for each in action.commands]
        return ShellResult([_output_of(command, result) for command, result in ran])

    async def _checked(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        """What the SDK asks after a call."""
        context, output = data.context, data.output
        if _is_block(output):  # the SDK sends a list of one in the same way
            output = [output]
        if _is_for_a_program(context):
            return ToolGuardrailFunctionOutput.allow()
        shown = await self.adapter.ashown(
            context.tool_name,
            output,
            call_id=context.tool_call_id,
            arguments=context.tool_arguments,
        )
        if not shown.changed:
            return ToolGuardrailFunctionOutput.allow()
        # The SDK takes whatever stands here for the tool's output, so images and files beside a text stay.
        return ToolGuardrailFunctionOutput.reject_content(
            cast("str", shown.content), output_info={"artifact_ids": list(shown.artifact_ids)}
        )


def _is_block(output: object) -> bool:
    """Whether an output is one block of content, of the SDK's types or a dictionary like them."""
    if isinstance(output, dict):
        return output.get("type") in {"text", "image", "file"}
    return isinstance(output, (ToolOutputText, ToolOutputImage, ToolOutputFileContent))


def _is_for_a_program(context: ToolContext[Any]) -> bool:
    """Whether a program that the model has written made the call."""
    caller = getattr(context.tool_call, "caller", None)
    kind = caller.get("type") if isinstance(caller, Mapping) else getattr(caller, "type", None)
    return bool(kind == "program")


def _tool_of(spec: ToolSpec) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return await spec.acall(arguments, call_id=context.tool_call_id)

    return FunctionTool(
        name=spec.name,
        description=spec.description,
        params_json_schema=spec.schema,
        on_invoke_tool=invoke,
        strict_json_schema=False,  # a strict schema has no argument that may be left out
    )


def _limit(wanted: int | None, commands: int) -> int | None:
    """The characters of one preview, or None for the profile's own."""
    return None if wanted is None else max(wanted // max(commands, 1), _LEAST)


def _output_of(command: str, ran: Ran) -> ShellCommandOutput:
    outcome = ShellCallOutcome(type="timeout" if ran.timed_out else "exit", exit_code=ran.exit_code)
    return ShellCommandOutput(stdout=ran.text, outcome=outcome, command=command)
