r"""All tools of a session in one: for the loop of an agent that hands definitions out and calls back.

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
from spillstore_tools.agent.arguments import ArgumentError, named
from spillstore_tools.agent.bash import BashTool, opened_of
from spillstore_tools.agent.compare import compare_artifacts
from spillstore_tools.agent.retrieval import Answer, artifact_info, get_artifact, list_artifacts
from spillstore_tools.agent.schemas import READING_ARGUMENTS, reading_definition
from spillstore_tools.agent.search import search_artifact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from spillstore import Session, aio
    from spillstore_tools.agent.bash import BashOptions, BashResult
    from spillstore_tools.agent.schemas import Style
    from spillstore_tools.output.session_opener import Opened

_READING: dict[str, Callable[..., Answer]] = {
    "get_artifact": get_artifact,
    "search_artifact": search_artifact,
    "compare_artifacts": compare_artifacts,
    "list_artifacts": list_artifacts,
    "artifact_info": artifact_info,
}


class Toolbox:
    """``bash``, ``get_artifact``, ``search_artifact``, ``compare_artifacts``, ``list_artifacts`` and ``artifact_info``.

    Args:
        session: where output is stored, or a function that opens it, as for ``BashTool``.
        options: of ``BashTool``; the ``configuration`` may also switch ranges off (``enable_partial_retrieval``).

    Raises:
        InvalidSettingError: an option that there is not, or what is no session.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | Opened,
        **options: Unpack[BashOptions],
    ) -> None:
        configuration = options.get("configuration")
        self._opened = opened_of(session)
        self._bash = BashTool(self._opened, **options)
        self._partial = configuration is None or configuration.artifacts.enable_partial_retrieval

    def close(self) -> None:
        """End the commands and close the session, if a function was given to open it."""
        self._bash.close()

    def definitions(self, style: Style) -> list[dict[str, Any]]:
        """All tools as a model is told of them: ``openai``, ``anthropic`` or ``mcp``."""
        return [self._bash.definition(style), *(reading_definition(style, name) for name in _READING)]

    async def call(
        self, name: str, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult | Answer:
        """Answer a model's call; ``arguments`` as it sent them, or as JSON. Nothing that a model sends raises."""
        import asyncio  # noqa: PLC0415  # only for who has it already

        if name == "bash":
            return await self._bash.call(arguments, tool_call_id=tool_call_id)
        return await asyncio.to_thread(self._read, name, arguments, tool_call_id)

    def call_sync(
        self, name: str, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult | Answer:
        """``call`` for callers that wait."""
        if name == "bash":
            return self._bash.call_sync(arguments, tool_call_id=tool_call_id)
        return self._read(name, arguments, tool_call_id)

    def _read(
        self, name: str, arguments: Mapping[str, object] | str, tool_call_id: str | None = None
    ) -> Answer:
        if name not in _READING:
            tools = ", ".join(["bash", *_READING])
            return Answer(text=f"no tool is called {str(name)[:80]!r}; there are {tools}\n", is_error=True)
        try:
            sent: dict[str, Any] = dict(named(arguments, READING_ARGUMENTS[name]))
        except ArgumentError as error:
            return Answer(text=f"{name}: {error}\n", is_error=True)
        known = {key: value for key, value in sent.items() if key in READING_ARGUMENTS[name]}
        if name == "get_artifact":
            known["partial"] = self._partial
        try:
            session = self._opened.get()
        except SpillstoreError as error:
            return Answer(text=f"{name}: {error}\n", is_error=True)
        with session.acting(tool_call_id=tool_call_id):
            return _READING[name](session, **known)
