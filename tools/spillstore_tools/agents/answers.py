"""What an agent's hook answers: a preview in place of a large result, or a command that runs in our shell.

Each function takes the agent's payload and returns what the agent reads on stdout; an empty object leaves everything as it is.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import stat
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# How Claude Code tells where it has put a result that is too large.
_SAVED = re.compile(r"[Oo]utput has been saved to (/[^\n]+?\.(?:txt|json))(?=[.\s]|\Z)")
_OWN = re.compile(r"\Amcp_+(?:plugin_spillstore_)?spillstore_+")
_LONGEST_NAME = 150  # characters of a session's name
SHORT = 4000  # characters that every profile shows whole


class Preview(Protocol):
    """What is shown of content."""

    @property
    def content(self) -> str:
        """A text."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Means:
    """What answers are made with.

    Attributes:
        environment: variables.
        shell: `spillstore-sh`, absolute; None where it is not installed.
        preview: makes a preview of content of a tool, in a session, and stores the rest; None for content that is shown
            whole.
        short: characters up to which a text is not looked at.
    """

    environment: Mapping[str, str]
    shell: Callable[[], str]
    preview: Callable[[Any, str, str, str | None], Preview | None]
    short: int = SHORT

    def session(self, agent: str, payload: Mapping[str, Any]) -> str:
        """The session's name; the same as that of the agent's commands."""
        given = self.environment.get("SPILLSTORE_SESSION")
        if given:
            return given
        name = str(payload.get("session_id") or payload.get("sessionId") or "unknown")
        safe = "".join(each if each.isalnum() or each in "_.-" else "-" for each in name)
        return f"{agent}-{safe}"[:_LONGEST_NAME]


def claude_code(payload: Mapping[str, Any], means: Means) -> dict[str, Any]:
    """Claude Code, after a tool. Cursor runs Claude's hooks, too, and gets nothing."""
    if "CURSOR_VERSION" in means.environment or payload.get("hook_event_name") != "PostToolUse":
        return {}
    tool, response = str(payload.get("tool_name")), payload.get("tool_response")
    if tool == "Bash" and isinstance(response, dict):
        changed = _saved_command(payload, response, means)
    elif tool.startswith("mcp__") and not _OWN.match(tool):
        changed = _mcp_result(payload, tool, response, means)
    else:
        return {}
    if changed is None:
        return {}
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": changed}}


def codex(payload: Mapping[str, Any], means: Means) -> dict[str, Any]:
    """Codex, before a command: the same command in our shell."""
    given = payload.get("tool_input")
    if payload.get("hook_event_name") != "PreToolUse" or not isinstance(given, dict):
        return {}
    command = _in_our_shell(given.get("command"), "codex", payload, means)
    if command is None:
        return {}
    # Codex takes a changed command only from a hook that allows it.
    output = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {**given, "command": command},
    }
    return {"hookSpecificOutput": output}


def gemini(payload: Mapping[str, Any], means: Means) -> dict[str, Any]:
    """Gemini CLI, after a tool: a preview of its whole result, the end of a command included."""
    tool, response = str(payload.get("tool_name")), payload.get("tool_response")
    if payload.get("hook_event_name") != "AfterTool" or not isinstance(response, dict) or _OWN.match(tool):
        return {}
    text = _text_of(response.get("llmContent"))
    shown = None if text is None else _preview(text, tool, "gemini", payload, means)
    return {} if shown is None else {"decision": "deny", "reason": shown}


def copilot(payload: Mapping[str, Any], means: Means) -> dict[str, Any]:
    """Copilot CLI, after a tool."""
    result = payload.get("toolResult")
    tool = str(payload.get("toolName"))
    if not isinstance(result, dict) or not isinstance(result.get("textResultForLlm"), str):
        return {}
    if tool.startswith("spillstore"):
        return {}
    shown = _preview(result["textResultForLlm"], tool, "copilot", payload, means)
    return {} if shown is None else {"modifiedResult": {**result, "textResultForLlm": shown}}


ANSWERS: dict[str, Callable[[Mapping[str, Any], Means], dict[str, Any]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "copilot": copilot,
}


def _in_our_shell(command: object, agent: str, payload: Mapping[str, Any], means: Means) -> str | None:
    """A command line that runs another in our shell; None for what is no command, or runs there already."""
    if not isinstance(command, str) or not command.strip():
        return None
    shell = means.shell()
    session = f"SPILLSTORE_SESSION={shlex.quote(means.session(agent, payload))}"
    if command.startswith(f"{session} {shlex.quote(shell)} "):
        return None
    return f"{session} {shlex.quote(shell)} -c {shlex.quote(command)}"


def _saved_command(
    payload: Mapping[str, Any], response: dict[str, Any], means: Means
) -> dict[str, Any] | None:
    """A command's output that Claude Code has saved to a file, and shows the beginning of."""
    saved = response.get("persistedOutputPath")
    file = _saved_file(str(saved), payload) if saved else None
    shown = None if file is None else _file_preview(file, "Bash", payload, means)
    if shown is None:
        return None
    # With the path of the saved file in it, the text would be replaced by that file's beginning again.
    return {
        "stdout": shown,
        "stderr": "",
        "interrupted": bool(response.get("interrupted")),
        "isImage": bool(response.get("isImage")),
    }


def _mcp_result(payload: Mapping[str, Any], tool: str, response: object, means: Means) -> Any:
    """A result of an MCP server in the form in which it came: a text, or a list of blocks."""
    if isinstance(response, str):
        return _mcp_text(payload, tool, response, means)
    if not isinstance(response, list):
        return None
    blocks = list(response)
    for index, block in enumerate(blocks):
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            shown = _mcp_text(payload, tool, block["text"], means)
            if shown is not None:
                blocks[index] = {**block, "text": shown}
    return blocks if blocks != response else None


def _mcp_text(payload: Mapping[str, Any], tool: str, text: str, means: Means) -> str | None:
    named = _SAVED.search(text)
    file = _saved_file(named[1], payload) if named else None
    if file is not None:
        return _file_preview(file, tool, payload, means)
    return _preview(text, tool, "claude", payload, means)


def _preview(text: str, tool: str, agent: str, payload: Mapping[str, Any], means: Means) -> str | None:
    if len(text) <= means.short:
        return None
    call = payload.get("tool_use_id")
    done = means.preview(text.encode(errors="surrogatepass"), tool, means.session(agent, payload), _id(call))
    return None if done is None else done.content


def _file_preview(path: str, tool: str, payload: Mapping[str, Any], means: Means) -> str | None:
    with open(path, "rb", opener=_regular) as file:  # pathlib's takes no opener
        done = means.preview(file, tool, means.session("claude", payload), _id(payload.get("tool_use_id")))
    return None if done is None else done.content


def _regular(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no regular file")
    return descriptor


def _saved_file(path: str, payload: Mapping[str, Any]) -> str | None:
    """A file in which Claude Code keeps this conversation's results; None for any other, which a server may have named."""
    transcript = payload.get("transcript_path")
    if not isinstance(transcript, str) or not transcript.startswith("/"):
        return None
    folder = os.path.join(os.path.splitext(transcript)[0], "tool-results")  # noqa: PTH118, PTH122  # paths as they are named
    here = os.path.realpath(path)
    return here if os.path.dirname(here) == os.path.realpath(folder) else None  # noqa: PTH120  # likewise


def _text_of(content: object) -> str | None:
    """The text of Gemini's content: a text, a part, or a list of parts; None where there is anything else in it."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else None
    if isinstance(content, list):
        texts = [_text_of(each) for each in content]
        known = [text for text in texts if text is not None]
        return "".join(known) if len(known) == len(texts) else None
    return None


def _id(value: object) -> str | None:
    return value if isinstance(value, str) else None
