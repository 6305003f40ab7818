"""What a call of ``spillstore-sh`` asks for: which shell runs what, whether its output is looked after, in which session.

An agent calls a shell as ``sh -c LINE``, ``sh -lc LINE``, ``sh -c LINE NAME ARGUMENT...``, or with nothing but the line.
Anything else (a script, an interactive shell, lines on stdin) is the real shell's own.
"""

from __future__ import annotations

import os
import sys

from spillstore_tools.process.environment import for_commands

TYPE_CHECKING = False  # that of ``typing`` would take longer to import than a small command runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAME = "spillstore-sh"
NESTED = "SPILLSTORE_SH"  # the agent's session, or ``-``: commands inside a line are not looked after again
_OFF = frozenset({"1", "true", "yes", "on"})
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh")
_NO_SHELLS = frozenset({"nologin", "false", "true", NAME})
_WITH_VALUE = frozenset({"--rcfile", "--init-file"})
# The variables by which agents name their sessions, with what stands before the name here.
_AGENTS = (
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CODEX_THREAD_ID", "codex"),
    ("OPENCODE_SESSION_ID", "opencode"),
    ("GEMINI_SESSION_ID", "gemini"),
)
_LONGEST = 150  # characters of a session's name; a store takes 200 bytes


class Call:
    """One call.

    Args:
        arguments: those behind our name.
        environment: ours.

    Attributes:
        line: the command line, or None where there is none.
        arguments: for the real shell.
        shells: real shells, the best first.
        session: the session for what is stored.
        is_captured: whether the output is looked after.

    Example:
        >>> call = Call(["-lc", "make test"], {"SHELL": "/bin/sh", "CODEX_THREAD_ID": "0198"})
        >>> call.line, call.arguments, call.shells[0], call.session, call.is_captured
        ('make test', ['-lc', 'make test'], '/bin/sh', 'codex-0198', True)
        >>> Call(["make test"], {}).arguments, Call(["script.sh", "1"], {}).is_captured
        (['-c', 'make test'], False)
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.line = _line(arguments)
        self.arguments = list(arguments)
        if len(arguments) == 1 and not arguments[0].startswith(("-", "+")):
            self.line = arguments[0]
            self.arguments = ["-c", self.line]
        self.shells = list(_shells(environment))
        self._environment = environment
        self._agent = _session_of_agent(environment)
        inner = environment.get(NESTED)
        is_nested = inner is not None and inner == (self._agent or "-")
        given = environment.get("SPILLSTORE_SESSION")
        if inner is not None and not is_nested:
            given = None  # it is that of another agent, which has started this one
        self.session = given or self._agent or _session_of_day()
        self.is_captured = self.line is not None and not is_nested and not _is_off(environment)

    def environment(self) -> dict[str, str]:
        """The environment of the command: without our secrets, and ``spillstore`` is found there and leads to the session."""
        found = without_secrets(self._environment)
        found[NESTED] = self._agent or "-"
        found["SPILLSTORE_SESSION"] = self.session
        found.setdefault("SPILLSTORE_ACTOR", "model")
        root = found.get("SPILLSTORE_ROOT")
        if root and ":/" not in root:
            found["SPILLSTORE_ROOT"] = os.path.abspath(os.path.expanduser(root))  # noqa: PTH100, PTH111  # no link is followed
        folder, path = sys.executable.rpartition("/")[0], found.get("PATH")
        if path and folder not in path.split(":") and os.access(f"{folder}/spillstore", os.X_OK):
            found["PATH"] = f"{path}:{folder}"
        return found


def _line(arguments: Sequence[str]) -> str | None:
    """The command line behind ``-c``, wherever that stands among the options; None where the shell does something else."""
    rest = iter(arguments)
    found = False
    for word in rest:
        if word in {"-", "--"}:
            return next(rest, None) if found else None
        if not word.startswith(("-", "+")) or len(word) == 1:
            return word if found else None
        if word.startswith("--"):
            if word in _WITH_VALUE:
                next(rest, None)
            continue
        if word[0] == "-" and ("i" in word or "s" in word):
            return None
        found = found or (word[0] == "-" and "c" in word)
        for letter in word[1:]:
            if letter in "oO":
                next(rest, None)
    return None


def _shells(environment: Mapping[str, str]) -> Iterator[str]:
    """Shells that there are, the best first."""
    for path in (environment.get("SPILLSTORE_SHELL"), environment.get("SHELL"), *_SHELLS):
        if not path or not path.startswith("/") or _name(path) in _NO_SHELLS:
            continue
        if _name(os.path.realpath(path)) != NAME and os.access(path, os.X_OK):
            yield path


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """``for_commands``, without what that imports where there is no password in the URL of a store."""
    root = environment.get("SPILLSTORE_ROOT", "")
    if ":/" not in root:
        return for_commands(environment)
    others = for_commands({name: value for name, value in environment.items() if name != "SPILLSTORE_ROOT"})
    if "@" not in root and "?" not in root:
        others.pop("PGPASSWORD", None)
        return {**others, "SPILLSTORE_ROOT": root}
    try:
        return for_commands(environment)
    except Exception:  # noqa: BLE001  # a module is missing: the command runs, and finds no store
        others.pop("PGPASSWORD", None)
        return others


def _is_off(environment: Mapping[str, str]) -> bool:
    """Whether it is switched off, or what is run is a program of the agent's own: a hook, an MCP server."""
    if environment.get("SPILLSTORE_OFF", "").lower() in _OFF:
        return True
    return environment.get("AI_AGENT", "").endswith("_harness")


def _session_of_agent(environment: Mapping[str, str]) -> str | None:
    """The session after that of the agent which calls us, or None."""
    for name, agent in _AGENTS:
        if found := environment.get(name):
            safe = "".join(each if each.isalnum() or each in "_.-" else "-" for each in found)
            return f"{agent}-{safe}"[:_LONGEST]
    return None


def _session_of_day() -> str:
    import time  # noqa: PLC0415  # where no agent says which session it has

    return time.strftime("shell-%Y-%m-%d")
