"""Decides which sessions a collection deletes.

A collection has two reasons: ``age``, for what nobody has written to for longer than it is kept, and ``room``, for the
oldest of what is left while all sessions together are larger than they may be. A session that somebody alive holds is
never chosen; whether that is still so is asked again, under the session's write lock, when it is deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore import info as infos

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore.info import Fate, SessionInfo


def plan(
    sessions: Iterable[SessionInfo], *, used_before: float, keep_bytes: int | None
) -> tuple[list[Fate], list[Fate]]:
    """The sessions to delete, the oldest first, and those to spare.

    Args:
        sessions: all that there are.
        used_before: a session last written at this time or earlier is too old; seconds since 1970.
        keep_bytes: bytes that the sessions that stay may take together; None for any size.
    """
    gone: list[Fate] = []
    spared: list[Fate] = []
    young: list[SessionInfo] = []
    for info in sorted(sessions, key=lambda info: info.used):
        if info.live:
            spared.append(infos.Fate(session=info, why="live"))
        elif info.used <= used_before:
            gone.append(infos.Fate(session=info, why="age"))
        else:
            young.append(info)
    left = sum(fate.session.disk_size for fate in spared) + sum(info.disk_size for info in young)
    for info in young:
        if keep_bytes is not None and left > keep_bytes:
            gone.append(infos.Fate(session=info, why="room"))
            left -= info.disk_size
        else:
            spared.append(infos.Fate(session=info, why="young"))
    return gone, spared
