"""The environment of the processes that we start: what it lacks of ours, and the variable that marks a command's processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = "SPILLSTORE_JOB"  # its value is a command's own, and its children inherit it
# These give access to something; commands do not need them, and their output is shown to models.
_WITHHELD = ("SPILLSTORE_MCP_TOKEN", "SPILLSTORE_DIGEST_KEY")  # prefixes of names


def for_commands(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without our secrets: the token of the MCP server and the file of the digest key.

    Whatever starts a process passes its environment through here.

    Example:
        >>> for_commands({"HOME": "/root", "SPILLSTORE_MCP_TOKEN": "x", "SPILLSTORE_DIGEST_KEY_FILE": "y"})
        {'HOME': '/root'}
    """
    return {name: value for name, value in environment.items() if not name.startswith(_WITHHELD)}
