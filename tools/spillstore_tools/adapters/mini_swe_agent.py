"""mini-swe-agent: its local environment, which shows large outputs of commands in part. Extra ``mini-swe-agent``.

.. code-block:: yaml

    environment:
      environment_class: spillstore_tools.adapters.mini_swe_agent.SpillEnvironment
      session: task-7

That agent has no tools but commands, so notices name commands of ``spillstore``, which are found on the ``PATH`` of the environment.
What a command submits reaches the agent as it is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minisweagent.environments.local import LocalEnvironment

from spillstore_tools.adapters.core import Adapter, WithAdapter
from spillstore_tools.profiles.default import Default

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session, aio
    from spillstore_tools.config import TruncationConfiguration


class SpillEnvironment(WithAdapter, LocalEnvironment):
    """Runs commands as ``LocalEnvironment`` does, and stores what they print if it is much.

    The templates of mini-swe-agent show outputs below 10,000 characters whole, so they show all that is left here. A context
    manager; leaving it closes a session that was opened here, and so does the end of the process.

    Args:
        session: see ``Adapter``; it must lie where the commands of the environment find it, so not in memory.
        configuration: limits and strategies; None for the defaults.
        options: those of ``LocalEnvironment``.

    Attributes:
        adapter: what does the work.
    """

    def __init__(
        self,
        *,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        configuration: TruncationConfiguration | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        profile = Default(configuration)
        profile.people = True
        self.adapter = Adapter(session, profile=profile, configuration=configuration, tools=())
        path = self.config.env.get("PATH") or os.environ.get("PATH", os.defpath)
        folder = str(Path(sys.executable).parent)
        if folder not in path.split(os.pathsep):
            self.config.env["PATH"] = f"{path}{os.pathsep}{folder}"

    def execute(self, action: dict[str, Any], cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        """Run a command; the output is what is shown of it.

        Raises:
            Submitted: the command has submitted the task; with all of what it printed.
        """
        done = super().execute(action, cwd, timeout=timeout)
        shown = self.adapter.shown(
            "bash",
            done["output"],
            call_id=action.get("tool_call_id"),
            arguments=action.get("command", ""),
        )
        return {**done, "output": shown.content} if shown.changed else done
