"""The session that belongs to the current folder.

That of a project goes by the folder in which git finds it, so that runs of two projects are not mixed up; outside of any it
is ``default``.
"""

from __future__ import annotations

import os
import re

DEFAULT = "default"
_READABLE = 60  # characters of the folder's name


def project_session() -> str:
    """The session for the folder that we are in: that of the git repository around it, or ``default``."""
    try:
        folder = os.getcwd()  # noqa: PTH109  # no link is followed
    except OSError:  # it was removed
        return DEFAULT
    while not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118  # paths as they are named
        parent = os.path.dirname(folder)  # noqa: PTH120  # likewise
        if parent == folder:
            return DEFAULT
        folder = parent
    import hashlib  # noqa: PLC0415  # some milliseconds that a session with a name does without

    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", os.path.basename(folder))[:_READABLE]  # noqa: PTH119  # likewise
    return f"{name.strip('-.') or 'project'}-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"
