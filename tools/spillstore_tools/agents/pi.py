"""pi: commands by its setting `shellPath`. Its documentation was read; it was not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Agent, Target
from spillstore_tools.agents.edit import Edit

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Place


def _targets(place: Place) -> tuple[Target, ...]:
    folder = place.folder("PI_CODING_AGENT_DIR", ".pi/agent", ".pi")
    return (
        Target(path=folder / "settings.json", language="json", edits=(Edit(("shellPath",), place.shell),)),
    )


AGENT = Agent(name="pi", title="pi", program="pi", tested=None, cut=None, targets=_targets)
