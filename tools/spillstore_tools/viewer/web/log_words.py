"""What pages about a log say in words."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from spillstore_tools.describe import count, human_size, incomplete
from spillstore_tools.viewer.web.html import Html, tag

if TYPE_CHECKING:
    from spillstore import ArtifactInfo
    from spillstore_tools.viewer.model.reads import Read


def amount_of(lines: int, size: int) -> str:
    """Lines and bytes.

    Example:
        >>> amount_of(1, 2048)
        '1 line, 2 KiB'
    """
    return f"{count(lines, 'line')}, {human_size(size)}"


def reader_words(read: Read) -> str:
    """Who has read something, when and how."""
    at = dt.datetime.fromtimestamp(read.at, dt.UTC).astimezone()
    by = " ".join(each for each in (read.actor or "somebody", read.tool_call_id) if each)
    how = f" with {read.tool}" if read.tool else ""
    return f"read by {by}{how} at {at:%H:%M:%S}"


def state_of(info: ArtifactInfo) -> Html:
    """The state; of a sealed one that lacks some of the output, that it does."""
    lost = incomplete(info)
    state = "incomplete" if lost and info.state == "sealed" else info.state
    return tag("span", state, class_=f"state {state}", title=lost)
