"""How much of a tool's output a model sees: `tools.truncation` of `.agent/config.yml`.

``load`` gathers the settings, checks them and returns a ``TruncationConfiguration``; its ``for_tool`` gives the
``ToolLimits`` of one tool. Sources, weakest first:

1. the defaults;
2. the file, found from the working directory upwards;
3. environment variables, ``SPILLSTORE_INLINE_LIMIT`` and others;
4. arguments.

Within a source, a setting for one tool beats the one for all. Between sources the later one wins: a value for all tools
from the environment or an argument beats the file's value for one tool. `strategy` is such a value; `default_strategy` is
only for tools that have none. The strategies of five known tools
(``TOOL_STRATEGIES``) are defaults, yet stronger than a `default_strategy`.

Caveats: relative paths are judged by their text alone, so a symbolic link below the working directory is for the
store to refuse. Keys of the file outside `tools.truncation` are not looked at.

Each public name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.runtime.lazy_imports import importing

if TYPE_CHECKING:
    from spillstore_tools.config.configuration import TruncationConfiguration
    from spillstore_tools.config.loading import find, load
    from spillstore_tools.config.schema import (
        STRATEGIES,
        TOOL_STRATEGIES,
        ArtifactSettings,
        ConfigurationError,
        ElementOverride,
        ElementTruncation,
        LineOverride,
        LineTruncation,
        MetadataSettings,
        RedactionOverride,
        RedactionSettings,
        SmartOverride,
        SmartTruncation,
        ToolLimits,
        ToolOverride,
    )

__all__ = [
    "STRATEGIES",
    "TOOL_STRATEGIES",
    "ArtifactSettings",
    "ConfigurationError",
    "ElementOverride",
    "ElementTruncation",
    "LineOverride",
    "LineTruncation",
    "MetadataSettings",
    "RedactionOverride",
    "RedactionSettings",
    "SmartOverride",
    "SmartTruncation",
    "ToolLimits",
    "ToolOverride",
    "TruncationConfiguration",
    "find",
    "load",
]

if not TYPE_CHECKING:  # a type checker would take any name for one that this function finds
    __getattr__ = importing(
        __name__,
        {
            "configuration": ("TruncationConfiguration",),
            "loading": ("find", "load"),
            "schema": tuple(
                name for name in __all__ if name not in {"TruncationConfiguration", "find", "load"}
            ),
        },
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
