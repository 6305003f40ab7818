"""Commands of a framework's own shell tool: run by the tool ``bash``, and ended when their time is over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.agent.bash import BashTool
from spillstore_tools.output.truncation import TruncationProcessor

if TYPE_CHECKING:
    from spillstore_tools.agent.bash_result import BashResult
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.output.session_opener import Opened
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.base import Profile


class Ran(NamedTuple):
    """A command that is over.

    Attributes:
        text: what the model is shown.
        exit_code: its own, 128 + n if signal n ended it; None if nobody knows.
        timed_out: whether it was ended because its time was over.
    """

    text: str
    exit_code: int | None
    timed_out: bool


class Commands:
    """Runs commands; all they print is kept.

    Args:
        opened: opens the session that stores it.
        profile: what is shown.
        configuration: limits and strategies, or None.
        limit: characters of a preview, for profiles that heed a configuration; None for the configuration's own.
    """

    def __init__(
        self,
        opened: Opened,
        profile: ProfileName | Profile,
        configuration: TruncationConfiguration | None,
        limit: int | None = None,
    ) -> None:
        if limit is not None:
            configuration = _limited(configuration, limit)
        self._tool = BashTool(opened, profile=profile, configuration=configuration)
        self._profile = profile
        self._configuration = configuration

    async def run(self, command: str, timeout: int, call_id: str | None) -> Ran:  # noqa: ASYNC109  # it ends the command
        """Run one command.

        Args:
            command: for ``bash -c``.
            timeout: milliseconds, after which it is ended with everything it has started.
            call_id: the tool call.
        """
        result = await self._tool.call({"command": command, "timeout": timeout}, tool_call_id=call_id)
        if result.state != "running":
            return Ran(result.text, result.exit_code, timed_out=False)
        result = await self._tool.call({"kill_pid": result.pid}, tool_call_id=call_id)
        return Ran(await asyncio.to_thread(self._text_of, result), result.exit_code, timed_out=True)

    def _text_of(self, ended: BashResult) -> str:
        """All that a command printed from its beginning, not only what is new since its time was over."""
        if ended.artifact_id is None or ended.storage_error is not None:
            return ended.text
        session = self._tool.session
        processor = TruncationProcessor(session, profile=self._profile, configuration=self._configuration)
        return processor.process(session.artifact(ended.artifact_id), "bash").content


def _limited(configuration: TruncationConfiguration | None, limit: int) -> TruncationConfiguration:
    import msgspec  # noqa: PLC0415  # few calls name a limit

    from spillstore_tools.config import TruncationConfiguration  # noqa: PLC0415  # likewise

    own = configuration or TruncationConfiguration(default_strategy="smart", overrides={})
    return msgspec.structs.replace(own, inline_limit=limit)
