"""The tool ``list_artifacts``: the artifacts of a session, the newest first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast, get_args

from spillstore.info import State
from spillstore_tools.agent.answers import MAX_CHARS, Answer, reading_tool, signed
from spillstore_tools.agent.arguments import absent, at_most, moment, one_of, text, whole
from spillstore_tools.agent.definitions import CURSOR, ToolDefinition
from spillstore_tools.describe import counted, human_size, shortened, utc
from spillstore_tools.preview.text.clean import one_line

if TYPE_CHECKING:
    from spillstore import ArtifactInfo, Session

_LISTED, _MOST_LISTED = 20, 100
_AROUND = 200  # characters that an answer has besides its list and the call that goes on
_LONG_SOURCE = 200  # characters; a longer one is not repeated in that call

DEFINITION = ToolDefinition(
    name="list_artifacts",
    description="List stored outputs, the newest first.",
    properties={
        "source": {"type": "string", "description": "Only those of this tool"},
        "state": {"type": "string", "enum": list(get_args(State)), "description": "Only those in this state"},
        "since": {
            "type": "string",
            "description": "Only those begun since: 2h ago, or a date and time in UTC",
        },
        "limit": {"type": "integer", "description": "Artifacts of one answer at most (default: 20)"},
        "cursor": CURSOR,
    },
)


@reading_tool("list")
def list_artifacts(
    session: Session,
    *,
    source: object = None,
    state: object = None,
    since: object = None,
    limit: object = None,
    cursor: object = None,
) -> Answer:
    """The artifacts of a session, the newest first, a line each, in at most 8,000 characters.

    Args:
        session: the session.
        source: only those of this tool.
        state: only ``open``, ``sealed`` or ``interrupted`` ones.
        since: only those begun since then: ``2h`` ago, a date and time in UTC, or seconds since 1970.
        limit: the most artifacts of one answer; 20 by default, 100 at most.
        cursor: from an earlier answer.

    Raises:
        ClosedError: the session is closed.
    """
    count = whole("limit", limit, least=1, example="list_artifacts(limit=20)") or _LISTED
    named = None if absent(source) else text("source", source, example='list_artifacts(source="bash")')
    filters: dict[str, object] = {
        "source": named,
        "state": None if absent(state) else cast("State", one_of("state", state, get_args(State), "")),
        "since": moment("since", since),
        "cursor": None if absent(cursor) else str(cursor),
    }
    notes: list[str] = []
    asked = at_most("limit", count, _MOST_LISTED, notes)
    return _listed(session, asked, asked, filters, "".join(f"{note}; " for note in notes))


def _listed(session: Session, asked: int, count: int, filters: dict[str, object], notes: str) -> Answer:
    """The answer with ``count`` artifacts, of as many as were asked for."""
    page = session.infos(limit=count, **filters)  # type: ignore[arg-type]  # checked by the caller
    rest = _call(asked, {**filters, "cursor": page.cursor})
    room = MAX_CHARS - _AROUND - len(rest)
    lines: list[str] = []
    length = 0
    for info in page:
        line = _entry(info)
        if length + len(line) > room:
            # With the cursor behind the last line that fits.
            return _listed(session, asked, len(lines), filters, notes)
        lines.append(line)
        length += len(line)
    if not lines:
        return Answer(text="[no artifacts]\n")
    more = f"[{notes}more: {rest}]\n" if page.cursor else f"[{notes}that is all]\n"
    listed = "".join(lines)
    ids = tuple(info.id for info in page)
    return signed(session, Answer(text=listed + more, content=listed, cursor=page.cursor, ids=ids))


def _call(limit: int, filters: dict[str, object]) -> str:
    """The call that lists what follows: with the same filters, since a page of other artifacts would say nothing of them."""
    given = dict(filters)
    if given["since"] is not None:
        given["since"] = f"{given['since']:.6f}"  # a time ago would be another one by then
    if limit != _LISTED:
        given["limit"] = limit
    if isinstance(given["source"], str) and len(given["source"]) > _LONG_SOURCE:
        return f'list_artifacts with the same arguments and cursor="{given["cursor"]}"'
    said = [
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in given.items()
        if value is not None
    ]
    return f"list_artifacts({', '.join(said)})"


def _entry(info: ArtifactInfo) -> str:
    ended = info.state if info.exit_code is None else f"exit code {info.exit_code}"
    return (
        f"{info.id}  {human_size(info.size)}, {counted(info.lines, 'line')}, {ended}, {one_line(info.source)[:40]}, "
        f"{utc(info.created)}  {shortened(one_line(info.command or ''))}".rstrip()
        + "\n"
    )
