r"""All tools of a session in one object, for the loop of an agent: definitions for the model, and its calls.

>>> import tempfile
>>> from spillstore import Store
>>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
...     tools = Toolbox(session)
...     [definition["name"] for definition in tools.definitions("anthropic")]
...     result = tools.call_sync("bash", '{"command": "seq 1 9999"}')
...     tools.call_sync("get_artifact", {"id": result.artifact_id, "tail": 1}).content
['bash', 'get_artifact', 'search_artifact', 'compare_artifacts', 'list_artifacts', 'artifact_info']
'9999\n'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore.exceptions import SpillstoreError
from spillstore_tools.agent.answers import Answer
from spillstore_tools.agent.arguments import ArgumentError, named
from spillstore_tools.agent.bash import BashTool, opener_of
from spillstore_tools.agent.reading_tools import READING_TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from spillstore import Session, aio
    from spillstore_tools.agent.bash import BashOptions
    from spillstore_tools.agent.bash_result import BashResult
    from spillstore_tools.agent.definitions import Style
    from spillstore_tools.output.session_opener import Opened


class Toolbox:
    """``bash``, ``get_artifact``, ``search_artifact``, ``compare_artifacts``, ``list_artifacts`` and ``artifact_info``.

    Args:
        session: stores the output, or a function that opens a session, as for ``BashTool``.
        options: see ``BashOptions``; the ``configuration`` may also switch ranges off (``enable_partial_retrieval``).

    Raises:
        InvalidSettingError: there is no such option, or ``session`` is none.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | Opened,
        **options: Unpack[BashOptions],
    ) -> None:
        configuration = options.get("configuration")
        self._opened = opener_of(session)
        self._bash = BashTool(self._opened, **options)
        self._partial = configuration is None or configuration.artifacts.enable_partial_retrieval

    def close(self) -> None:
        """End the commands and close the session, if a function was given to open it."""
        self._bash.close()

    def definitions(self, style: Style) -> list[dict[str, Any]]:
        """The definitions to send to a model, in the style ``openai``, ``anthropic`` or ``mcp``."""
        return [
            self._bash.definition(style),
            *(tool.definition.in_style(style) for tool in READING_TOOLS.values()),
        ]

    async def call(
        self, name: str, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult | Answer:
        """Run a model's call; ``arguments`` by name or as JSON. Nothing that a model sends raises."""
        import asyncio  # noqa: PLC0415  # only callers with an event loop need it

        if name == "bash":
            return await self._bash.call(arguments, tool_call_id=tool_call_id)
        return await asyncio.to_thread(self._read, name, arguments, tool_call_id)

    def call_sync(
        self, name: str, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult | Answer:
        """``call`` for callers without an event loop."""
        if name == "bash":
            return self._bash.call_sync(arguments, tool_call_id=tool_call_id)
        return self._read(name, arguments, tool_call_id)

    def _read(
        self, name: str, arguments: Mapping[str, object] | str, tool_call_id: str | None = None
    ) -> Answer:
        if (tool := READING_TOOLS.get(name)) is None:
            tools = ", ".join(["bash", *READING_TOOLS])
            return Answer(text=f"no tool is called {str(name)[:80]!r}; there are {tools}\n", is_error=True)
        known = tool.definition.arguments
        try:
            sent = named(arguments, known)
            session = self._opened.get()
        except (ArgumentError, SpillstoreError) as error:
            return Answer(text=f"{name}: {error}\n", is_error=True)
        given: dict[str, Any] = {key: value for key, value in sent.items() if key in known}
        if name == "get_artifact":
            given["partial"] = self._partial
        with session.acting(tool_call_id=tool_call_id):
            return tool.function(session, **given)
