"""What servers of the protocol share: our tools and our answers in its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcp_types

from spillstore_tools.mcp.outputs import output_schema, structured

if TYPE_CHECKING:
    from spillstore_tools.bash import BashResult
    from spillstore_tools.retrieval import Answer
    from spillstore_tools.toolbox import Toolbox

MAX_REQUEST = 1024 * 1024  # bytes; a command line of Linux takes an eighth of that


def tools_of(toolbox: Toolbox) -> list[mcp_types.Tool]:
    """All tools of a toolbox as the protocol describes tools."""
    return [
        mcp_types.Tool.model_validate({**each, "outputSchema": output_schema(each["name"])})
        for each in toolbox.definitions("mcp")
    ]


def result_of(answer: BashResult | Answer) -> mcp_types.CallToolResult:
    """An answer as a result of the protocol: its text once, and beside it a short value that does not repeat it."""
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(type="text", text=text_of(answer.text))],
        structured_content=structured(answer),
        is_error=answer.is_error,
    )


def text_of(text: str) -> str:
    """Text that JSON in UTF-8 can carry: half surrogates (of bytes in file names, say) become question marks."""
    return text if text.isascii() else text.encode(errors="replace").decode()
