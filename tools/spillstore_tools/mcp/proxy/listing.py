"""The list of tools that a client sees: the upstream server's tools, then the proxy's own.

Own tools keep their names unless the upstream server has a tool of the same name; then they get a prefix.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore_tools.agent.reading_tools import READING_TOOLS
from spillstore_tools.mcp.proxy.output_schema import relaxed_member
from spillstore_tools.mcp.wire.raw_json import dump, items, join_array, join_object, members, string_or_none
from spillstore_tools.mcp.wire.tool_results import listed_tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore_tools.mcp.wire.raw_json import RawJson

PREFIX = "spillstore_"


class OwnToolNames:
    """The names of the proxy's own tools beside those of the upstream server.

    Args:
        taken: names of the upstream server's tools.
        structured: results of own tools have structured content.

    Example:
        >>> names = OwnToolNames(["get_artifact", "git_show"])
        >>> names.by_tool["get_artifact"], names.by_tool["list_artifacts"]
        ('spillstore_get_artifact', 'list_artifacts')
        >>> names.tool("spillstore_get_artifact"), names.tool("get_artifact")
        ('get_artifact', None)
        >>> names.renamed('get_artifact(id="art_1", tail=5)')
        'spillstore_get_artifact(id="art_1", tail=5)'
    """

    def __init__(self, taken: Iterable[str], *, structured: bool = False) -> None:
        others = set(taken)
        self.by_tool: dict[str, str] = {}
        for tool in READING_TOOLS:
            name = tool
            while name in others:
                name = PREFIX + name
            self.by_tool[tool] = name
        self._tools = {name: tool for tool, name in self.by_tool.items()}
        changed = [tool for tool, name in self.by_tool.items() if tool != name]
        self._structured = structured
        self._calls = re.compile(rf"\b({'|'.join(changed)})(?=[(:])") if changed else None

    def tool(self, name: str) -> str | None:
        """The own tool that has a name; None if it is a name of another tool."""
        return self._tools.get(name)

    def renamed(self, text: str) -> str:
        """A text of the proxy with the names that own tools have here in the calls that it mentions."""
        return text if self._calls is None else self._calls.sub(lambda match: self.by_tool[match[1]], text)

    def renamed_in_preview(self, preview: str, artifact_id: str) -> str:
        """A preview, likewise. An output cannot contain the id of its own artifact, so calls with it stand in notices."""
        for tool, name in self.by_tool.items():
            if tool != name:
                preview = preview.replace(f'{tool}(id="{artifact_id}"', f'{name}(id="{artifact_id}"')
        return preview

    def definitions(self) -> list[bytes]:
        """Definitions of the own tools, for the list."""
        return [
            dump(
                {
                    **listed_tool(
                        READING_TOOLS[tool].definition.in_style("mcp"), structured=self._structured
                    ),
                    "name": name,
                }
            )
            for tool, name in self.by_tool.items()
        ]


def could_be_own(name: str) -> bool:
    """Whether a name is that of an own tool beside some list of tools."""
    while name not in READING_TOOLS and name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name in READING_TOOLS


class ToolListPage:
    """A page of the upstream server's list of tools.

    Args:
        result: the result of ``tools/list``.

    Raises:
        RawJsonError: the result is no list of tools.
    """

    def __init__(self, result: RawJson) -> None:
        self._result = members(result)
        self._tools = [members(each) for each in items(self._result.get("tools", b"null"))]

    @property
    def names(self) -> list[str]:
        """The names of the tools on it."""
        found = [string_or_none(each.get("name")) for each in self._tools]
        return [name for name in found if name is not None]

    @property
    def cursor(self) -> str | None:
        """Where the next page begins; None on the last one."""
        return string_or_none(self._result.get("nextCursor"))

    def with_tools(self, more: Iterable[bytes]) -> bytes:
        """The page as a client sees it: with relaxed output schemas, and more tools at its end."""
        tools = [join_object(each | relaxed_member(each)) for each in self._tools]
        return join_object({**self._result, "tools": join_array([*tools, *more])})
