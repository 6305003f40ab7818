"""Whether anything says what a model is shown, told without importing the configuration."""

from __future__ import annotations

import os

_CONFIGURATION = os.path.join(".agent", "config.yml")  # noqa: PTH118  # joined, never opened
# What variables of the configuration begin with; ``spillstore_tools.config.sources`` reads them.
_VARIABLES = tuple(
    f"SPILLSTORE_{name}"
    for name in (
        "TRUNCATION__",
        "INLINE_LIMIT",
        "ARTIFACT_THRESHOLD",
        "MAX_ARTIFACT_SIZE",
        "STRATEGY",
        "HEAD_RATIO",
    )
)


def is_configured() -> bool:
    """Whether a file or a variable may set what is shown; else the profile ``default`` needs no configuration."""
    if any(name.startswith(_VARIABLES) for name in os.environ):
        return True
    try:
        return nearest_configuration(os.getcwd()) is not None  # noqa: PTH109  # no link is followed
    except OSError:  # there is no working directory any more, which ``load`` reports
        return True


def nearest_configuration(folder: str) -> str | None:
    """The nearest folder from here upwards, within the repository, that has `.agent/config.yml`."""
    while not os.path.lexists(os.path.join(folder, _CONFIGURATION)):  # noqa: PTH118  # paths as they are named
        parent = os.path.dirname(folder)  # noqa: PTH120  # likewise
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118  # likewise
            return None
        folder = parent
    return folder
