r"""What an agent or a person uses: tools for models, previews of output, and the command line. No storage logic.

    >>> import tempfile
    >>> from spillstore import Store
    >>> from spillstore_tools import BashTool
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     BashTool(session).call_sync({"command": "echo hello"}).text
    'hello\n[exit code 0]\n'

Each public name is imported when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of ``typing`` would take longer to import than a small command runs

if TYPE_CHECKING:
    from spillstore_tools.agent.answers import Answer
    from spillstore_tools.agent.artifact_info import artifact_info
    from spillstore_tools.agent.bash import BashOptions, BashTool, bash, bash_sync
    from spillstore_tools.agent.bash_result import BashResult
    from spillstore_tools.agent.command_launcher import CommandOptions
    from spillstore_tools.agent.compare_artifacts import compare_artifacts
    from spillstore_tools.agent.get_artifact import get_artifact
    from spillstore_tools.agent.list_artifacts import list_artifacts
    from spillstore_tools.agent.query_artifact import query_artifact
    from spillstore_tools.agent.search_artifact import search_artifact
    from spillstore_tools.agent.toolbox import Toolbox
    from spillstore_tools.compare.differences import Differences
    from spillstore_tools.config import ConfigurationError, TruncationConfiguration
    from spillstore_tools.config import load as load_configuration
    from spillstore_tools.output.rendering import render
    from spillstore_tools.output.truncation import TruncationProcessor
    from spillstore_tools.output.truncation_result import TruncationResult
    from spillstore_tools.process.runners import LocalRunner, Runner
    from spillstore_tools.profiles import profile

__all__ = [
    "Answer",
    "BashOptions",
    "BashResult",
    "BashTool",
    "CommandOptions",
    "ConfigurationError",
    "Differences",
    "LocalRunner",
    "Runner",
    "Toolbox",
    "TruncationConfiguration",
    "TruncationProcessor",
    "TruncationResult",
    "artifact_info",
    "bash",
    "bash_sync",
    "compare_artifacts",
    "get_artifact",
    "list_artifacts",
    "load_configuration",
    "profile",
    "query_artifact",
    "render",
    "search_artifact",
]

_MODULES = {
    "agent.answers": ("Answer",),
    "agent.artifact_info": ("artifact_info",),
    "agent.bash": ("BashOptions", "BashTool", "bash", "bash_sync"),
    "agent.bash_result": ("BashResult",),
    "agent.command_launcher": ("CommandOptions",),
    "agent.compare_artifacts": ("compare_artifacts",),
    "agent.get_artifact": ("get_artifact",),
    "agent.list_artifacts": ("list_artifacts",),
    "agent.query_artifact": ("query_artifact",),
    "agent.search_artifact": ("search_artifact",),
    "agent.toolbox": ("Toolbox",),
    "compare.differences": ("Differences",),
    "config": ("ConfigurationError", "TruncationConfiguration", "load as load_configuration"),
    "output.rendering": ("render",),
    "output.truncation": ("TruncationProcessor",),
    "output.truncation_result": ("TruncationResult",),
    "process.runners": ("LocalRunner", "Runner"),
    "profiles": ("profile",),
}

if not TYPE_CHECKING:  # a type checker would take any name for one that this function finds

    def __getattr__(name: str) -> object:
        from spillstore.runtime.lazy_imports import importing  # noqa: PLC0415  # a command starts without it

        return importing(__name__, _MODULES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
