"""The environment of the processes that we start: what it lacks of ours, and the variable that marks a command's processes."""

from __future__ import annotations

TYPE_CHECKING = False  # that of ``typing`` would take longer to import than a small command runs

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = "SPILLSTORE_JOB"  # its value is a command's own, and its children inherit it
# These give access to something; commands do not need them, and their output is shown to models.
_ROOT = "SPILLSTORE_ROOT"
_WITHHELD = ("SPILLSTORE_MCP_TOKEN", "SPILLSTORE_DIGEST_KEY")  # prefixes of names


def for_commands(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without our secrets: the token of the MCP server, the file of the digest key, the password of a store.

    Where ``SPILLSTORE_ROOT`` is the URL of a server, it loses its password, and ``PGPASSWORD`` is left out; it is left out
    itself if it cannot be read. Files of passwords (``PGPASSFILE``, ``PGSERVICEFILE``) stay named, since a command of ours
    that reads the store needs them. Whatever starts a process passes its environment through here.

    Example:
        >>> for_commands({"HOME": "/root", "SPILLSTORE_MCP_TOKEN": "x", "SPILLSTORE_DIGEST_KEY_FILE": "y"})
        {'HOME': '/root'}
    """
    kept = {name: value for name, value in environment.items() if not name.startswith(_WITHHELD)}
    if ":/" in kept.get(_ROOT, ""):
        from spillstore.exceptions import UsageError  # noqa: PLC0415  # few have a server
        from spillstore.store import address_of  # noqa: PLC0415  # likewise

        try:
            kept[_ROOT] = address_of(kept[_ROOT])
        except UsageError:  # whoever opens the store says what is wrong
            del kept[_ROOT]
        if "://" in kept.get(_ROOT, "://"):
            kept.pop("PGPASSWORD", None)
    return kept
