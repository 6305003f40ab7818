"""``spillstore hook``: what an agent calls around its tools."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from spillstore_tools.cli.support.output import note

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.output.truncation_result import TruncationResult

_LARGEST = 64 * 1024 * 1024  # bytes of a payload
_NAMES = ("claude-code", "codex", "gemini", "copilot")


@click.command("hook")
@click.argument("agent", metavar="AGENT", type=click.Choice(_NAMES))
def command(agent: str) -> None:
    """Answer a hook of AGENT: a payload on stdin, an answer on stdout, both JSON. `spillstore install` sets it up.

    Large results are stored, and answered by a preview with the id. If anything goes wrong the answer is `{}`, with which
    the agent goes on as it would without us, one line on stderr says why, and the exit code is 0 all the same.

    \b
    Example:
      spillstore hook claude-code < payload.json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    answer: dict[str, Any] = {}
    try:
        answer = _answer(agent)
    except Exception as error:  # noqa: BLE001  # an agent must never be stopped by us
        note(f"{agent} goes on with its own output: {type(error).__name__}: {error}".replace("\n", " "))
    click.echo(json.dumps(answer))


def _answer(agent: str) -> dict[str, Any]:
    from spillstore_tools.agents.answers import ANSWERS, Means  # noqa: PLC0415  # not for --help

    data = sys.stdin.buffer.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"the payload has more than {_LARGEST} bytes")
    payload = json.loads(data)
    if not isinstance(payload, dict):
        raise TypeError("the payload is no JSON object")
    means = Means(environment=os.environ, shell=_shell, preview=_preview_in(payload.get("cwd")))
    return ANSWERS[agent](payload, means)


def _shell() -> str:
    from spillstore_tools.agents.place import program  # noqa: PLC0415  # for commands alone

    return program("spillstore-sh")


def _preview_in(folder: object) -> Callable[[Any, str, str, str | None], TruncationResult | None]:
    """What makes previews; the configuration is that of the folder in which the agent works."""

    def preview(content: Any, tool: str, session: str, call: str | None) -> TruncationResult | None:
        from spillstore import Store  # noqa: PLC0415  # only where something is large
        from spillstore_tools.cli.support.location import configured_root, observe  # noqa: PLC0415  # likewise
        from spillstore_tools.cli.support.profile import load_configuration  # noqa: PLC0415  # likewise
        from spillstore_tools.output.truncation import TruncationProcessor  # noqa: PLC0415  # likewise

        if isinstance(folder, str):
            os.chdir(folder)
        observe()
        store = Store(os.environ.get("SPILLSTORE_ROOT") or configured_root())
        with store.session(session, os.environ.get("SPILLSTORE_PROJECT")) as opened:
            processor = TruncationProcessor(opened, configuration=load_configuration("default"))
            if isinstance(content, bytes) and processor.shows_whole(content, tool):
                return None
            done = processor.process(content, tool, tool_call_id=call)
        if done.artifact_id is None:
            raise OSError("the output could not be stored")
        return done

    return preview
