"""The folder names of projects and sessions.

An id that a person or a model chose (1 to 200 bytes of UTF-8, no control characters) must become one folder name that
is distinct from every other, also on a file system that folds case or normalises Unicode, and from which the id can
be told again. So a folder name uses only ``a-z 0-9 _ - .``; every other byte is ``%xx``. An id whose encoding would
pass 200 bytes gets a readable prefix, ``~`` and 160 bits of its SHA-256 instead, and the folder holds the id in a
file called ``id``. (One case-folded name of 255 bytes cannot hold 200 arbitrary bytes, whatever the alphabet.)
"""

from __future__ import annotations

import re
from typing import Final

NO_PROJECT: Final = "_"
ID_FILE: Final = "id"
_MAX_FOLDER_BYTES: Final = 200
_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-.")


def folder_name(value: str) -> str:
    """The folder name of a checked id.

    Example:
        >>> folder_name("chat-42"), folder_name("Web/UI"), folder_name("_"), folder_name("..")
        ('chat-42', '%57eb%2f%55%49', '%5f', '%2e.')
    """
    raw = value.encode()
    # A leading dot would hide the folder or climb out of it; a lone "_" is the folder of no project.
    encoded = "".join(
        chr(byte) if byte in _PLAIN and not (index == 0 and byte == ord(".")) else f"%{byte:02x}"
        for index, byte in enumerate(raw)
    )
    if encoded == NO_PROJECT:
        return "%5f"
    if len(encoded) <= _MAX_FOLDER_BYTES:
        return encoded
    import hashlib  # noqa: PLC0415  # some milliseconds that few ids need

    return f"{encoded[:60]}~{hashlib.sha256(raw).hexdigest()[:40]}"


def needs_id_file(folder: str) -> bool:
    """Whether the id of this folder stands in its ``id`` file."""
    return "~" in folder


def is_folder_name(folder: str) -> bool:
    """Whether a project or a session may have a folder of that name.

    Example:
        >>> is_folder_name("_"), is_folder_name("chat-42"), is_folder_name("Not ours")
        (True, True, False)
    """
    return folder == NO_PROJECT or needs_id_file(folder) or id_of_folder(folder) is not None


def id_of_folder(folder: str) -> str | None:
    """The id that a folder name encodes; None if it is no folder name of ours.

    Example:
        >>> id_of_folder("%57eb%2f%55%49"), id_of_folder("Not ours")
        ('Web/UI', None)
    """
    try:
        raw = re.sub(rb"%([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), folder.encode())
        value = raw.decode()
    except UnicodeError:
        return None
    return value if value and folder_name(value) == folder else None
