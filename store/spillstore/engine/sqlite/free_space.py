"""The space that must stay free on a disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from spillstore.engine.errors import translated
from spillstore.exceptions import DiskFullError

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore.settings import Settings


def check_free_space(folder: Path, settings: Settings) -> None:
    """Check that the disk of a folder has its floor of free space. Cost: a system call.

    Raises:
        DiskFullError: it has not.
    """
    with translated("measuring the disk"):
        disk = os.statvfs(folder)
    block, floor = disk.f_frsize, settings.free_disk_floor
    if floor:
        floor = max(floor, int(disk.f_blocks * block * settings.free_disk_floor_fraction))
    free = disk.f_bavail * block
    if free < floor:
        raise DiskFullError(
            f"{free} bytes are free on the disk and {floor} must stay free; delete sessions with `spillstore clean`, "
            "or lower SPILLSTORE_FREE_DISK_FLOOR"
        )
