"""All tools that read stored artifacts, by name: each with its definition and its function."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.agent import (
    artifact_info,
    compare_artifacts,
    get_artifact,
    list_artifacts,
    search_artifact,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.agent.answers import Answer
    from spillstore_tools.agent.definitions import ToolDefinition


class ReadingTool(NamedTuple):
    """A tool that reads.

    Attributes:
        definition: what a model is sent.
        function: takes a session and the tool's arguments by name.
    """

    definition: ToolDefinition
    function: Callable[..., Answer]


READING_TOOLS = {
    tool.definition.name: tool
    for tool in (
        ReadingTool(get_artifact.DEFINITION, get_artifact.get_artifact),
        ReadingTool(search_artifact.DEFINITION, search_artifact.search_artifact),
        ReadingTool(compare_artifacts.DEFINITION, compare_artifacts.compare_artifacts),
        ReadingTool(list_artifacts.DEFINITION, list_artifacts.list_artifacts),
        ReadingTool(artifact_info.DEFINITION, artifact_info.artifact_info),
    )
}
