"""A tool for the model as a plain specification, from which a framework's own tools are made."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillstore_tools.agent.answers import Answer
    from spillstore_tools.agent.bash_result import BashResult
    from spillstore_tools.agent.toolbox import Toolbox

_log = logging.getLogger("spillstore.adapters")


@dataclasses.dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool for the model, as a framework's own tools are made from.

    Attributes:
        name: its name.
        description: what it does, for the model.
        schema: the JSON schema of its arguments; yours to change.
        box: gives what answers its calls.
    """

    name: str
    description: str
    schema: dict[str, Any]
    box: Callable[[], Toolbox] = dataclasses.field(repr=False)

    def answer(
        self, arguments: Mapping[str, object] | str, *, call_id: str | None = None
    ) -> Answer | BashResult:
        """Answer a model's call: ``text`` for the model, ``is_error`` and more for programs.

        Args:
            arguments: by name, or as JSON.
            call_id: the tool call, for the audit log.

        Raises:
            ClosedError: the caller has closed the session that the adapter was given.
        """
        return self.box().call_sync(self.name, arguments, tool_call_id=call_id)

    def call(self, arguments: Mapping[str, object] | str, *, call_id: str | None = None) -> str:
        """The text of ``answer``. Nothing is raised: an error is a text, too."""
        try:
            return self.answer(arguments, call_id=call_id).text
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent goes on
            return _failed(self.name, error)

    async def acall(self, arguments: Mapping[str, object] | str, *, call_id: str | None = None) -> str:
        """``call`` for asyncio; the event loop goes on."""
        import asyncio  # noqa: PLC0415  # only for callers that have it already

        try:
            box = await asyncio.to_thread(self.box)
            return (await box.call(self.name, arguments, tool_call_id=call_id)).text
        except Exception as error:  # noqa: BLE001  # likewise
            return _failed(self.name, error)


def _failed(name: str, error: Exception) -> str:
    _log.warning("a call of %s has failed: %s: %s", name, type(error).__name__, error)
    return f"{name}: {type(error).__name__}: {error}\n"
