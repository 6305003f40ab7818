"""The tool ``artifact_info``: size, lines, state and exit code of a stored artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agent.answers import Answer, reading_tool, signed
from spillstore_tools.agent.artifacts import find_artifact
from spillstore_tools.agent.definitions import ID, ToolDefinition
from spillstore_tools.describe import described
from spillstore_tools.preview.text.clean import one_line

if TYPE_CHECKING:
    from spillstore import Session

_VALUE = 500  # characters of a value that are shown

DEFINITION = ToolDefinition(
    name="artifact_info",
    description="What is known of a stored output: size, lines, state, exit code.",
    properties={"id": ID},
    required=("id",),
)


@reading_tool("info")
def artifact_info(session: Session, *, id: object = None) -> Answer:  # noqa: A002  # the name in the tool's schema
    """The facts about an artifact, a line each; its content is not read.

    Args:
        session: the session that holds the artifact.
        id: its id.

    Raises:
        ClosedError: the session is closed.
    """
    artifact, _ = find_artifact(session, id)
    text = "".join(f"{name}: {one_line(value)[:_VALUE]}\n" for name, value in described(artifact.info))
    return signed(session, Answer(text=text, artifact_id=artifact.id))
