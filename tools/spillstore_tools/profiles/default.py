"""The profile ``default``: notice first, head, tail, and from the middle the lines that matter; 8,000 characters in all.

A configuration, if there is one, replaces the limit and the options, and ``smart`` where a source names a strategy; its
default strategies, those of the known tools too, do not count here. Binary content is named, not shown.
"""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING

from spillstore.settings import MIB
from spillstore_tools.describe import counted, preview_size
from spillstore_tools.preview.parts import Note, Shown, gaps_of
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.profiles.base import Inline, Profile
from spillstore_tools.profiles.limits import LIMIT, SMART, Limits, request_of
from spillstore_tools.profiles.notices import (
    marker_of,
    on_own_line,
    problem_notice,
    redrawn_notice,
    search_command,
)
from spillstore_tools.profiles.rendered import Section, compose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.config import ToolLimits, TruncationConfiguration
    from spillstore_tools.preview.binary.magic import BinaryType
    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.facts import Facts, Stored
    from spillstore_tools.profiles.rendered import Rendered
    from spillstore_tools.profiles.structured import Structured

_KEEP_JSON = (
    8 * MIB
)  # of what is cut by elements; it is held as bytes and as text, and a text in it twice more
_GONE = "(dropped since, cannot be fetched) "
_NOT_RUN = frozenset({126, 127})  # a shell's exit codes for what cannot be executed, and what is not there
_LONG = 1000  # bytes of a line on average, above which the calls name bytes: lines would bring far more than is wanted
_BYTES = 8000  # that they name
_LEAST_ROOM = (
    200  # for the output itself; where limits are so small that this is not left, the notice says less
)


class Default(Profile):
    """See the module."""

    name = "default"
    summary = (
        "Up to 8,000 characters of output are shown: of longer output its beginning, its end, and "
        "the lines between that report errors."
    )
    shows_dropped = True
    people = False  # whether a person at a shell reads it, who has none of a model's tools
    shown_before = 0  # characters of the limit that were used before the text of cut output is made

    def __init__(self, configuration: TruncationConfiguration | None = None) -> None:
        self._configured = None if configuration is None else Limits(configuration, own=SMART)
        self._partial = configuration is None or configuration.artifacts.enable_partial_retrieval

    def _limits(self, source: str) -> ToolLimits | None:
        return None if self._configured is None else self._configured.of(source)

    def _limit(self, source: str) -> int:
        """Code points of all that is shown, but for ``none``, which leaves alone what is below the threshold."""
        limits = self._limits(source)
        if limits is None:
            return LIMIT
        return limits.artifact_threshold - 1 if limits.strategy == "none" else limits.inline_limit

    def _strategy(self, source: str) -> str:
        limits = self._limits(source)
        return SMART if limits is None or limits.strategy == "none" else limits.strategy

    def inline(self, source: str) -> Inline:
        """As in ``Profile``."""
        return Inline(chars=self._limit(source))

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # there is one view
        """As in ``Profile``."""
        name = self._strategy(source)
        chosen = strategy(name)
        return Scan(
            head_chars=self._limit(source),
            tail_chars=self._limit(source),
            keep_bytes=chosen.keep_bytes,
            keep_json=_KEEP_JSON if name == SMART else 0,
            terminator=terminator,
            observer=chosen.observer(),
            exact=name != SMART,
            text_only=True,
        )

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:
        """As in ``Profile``."""
        overview = overviews["combined"]
        return facts.binary is None and not overview.redrawn and self._fitting(overview, facts) is not None

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``."""
        facts = dataclasses.replace(facts, partial=self._partial)
        overview = overviews["combined"]
        parts: list[Part]
        if facts.binary is None and (text := self._fitting(overview, facts)) is not None:
            shown = Shown(text, 0, overview.size)
            parts = [*_notes(facts), shown, on_own_line([shown], _ending(overview, facts))]
            return self._composed("none", parts, overview, facts)
        limits = self._limits(facts.source)
        limit = LIMIT if limits is None else limits.inline_limit
        limit = max(limit - self.shown_before, limit // 4)  # an error in cut output is still seen
        if facts.binary is None:
            name, parts = self._cut(overview, facts, limits, limit)
        else:
            name, parts = "binary", _binary(overview, facts, facts.binary, limit)
        return self._composed(name, parts, overview, facts)

    def _composed(self, name: str, parts: list[Part], overview: Overview, facts: Facts) -> Rendered:
        redrawn = 0 if facts.binary is not None else overview.redrawn
        sections = [Section("combined", parts)]
        return compose(sections, facts, strategy=name, is_error=_failed(facts), redrawn=redrawn)

    def progress(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``; the last line names the state, within the limit."""
        return self.render(overviews, facts)

    def _fitting(self, overview: Overview, facts: Facts) -> str | None:
        """All of the text, if it and the notices are within the limit, and nothing is lost."""
        lost = facts.problem is not None or (facts.stored is not None and facts.stored.cut_off > 0)
        footer = _ending(overview, facts)
        limit = self._limit(facts.source)
        limit -= sum(len(note.text) for note in _notes(facts))
        if lost or overview.chars + len(footer) > limit:
            return None
        text = overview.text()
        room = limit - overview.chars - len(footer) - (1 if footer else 0)
        return text if text is not None and (room >= 0 or text.endswith("\n")) else None

    def _cut(
        self, overview: Overview, facts: Facts, limits: ToolLimits | None, limit: int
    ) -> tuple[str, list[Part]]:
        """The strategy that cut it, and the parts."""
        json = None
        if self._strategy(facts.source) == SMART and (facts.stored is None or facts.stored.hole is None):
            json = _json(overview)
        footer, notice = _ending(overview, facts), _notice(overview, facts, json, people=self.people)
        if limit - len(notice) - len(footer) < _LEAST_ROOM:
            notice = ""
        if notice and facts.stored is not None:
            footer = _ending(overview, facts, named=True)
        if limit - len(footer) < _LEAST_ROOM:
            footer = _footer(facts)
        if limit - len(footer) < _LEAST_ROOM:
            footer = ""
        room = limit - len(notice) - len(footer) - (1 if footer else 0)
        marker = marker_of(facts)
        request = Request(limit=room, marker=marker) if limits is None else request_of(limits, room, marker)
        request = dataclasses.replace(
            request, hint=None if facts.is_command else facts.command, ended_well=_ended_well(facts)
        )
        if json is not None:
            from spillstore_tools.profiles.structured import cut  # noqa: PLC0415  # most output is no JSON

            if (parts := cut(overview, json, room, partial=self._partial)) is not None:
                return "element", [Note(notice), *parts, on_own_line(parts, footer)]
        name, parts = _chosen(self._strategy(facts.source), overview, request)
        hole = facts.stored.hole if facts.stored else None
        if hole is not None and (words := len(_GONE) * sum(_touches(part, hole) for part in parts)):
            smaller = dataclasses.replace(request, limit=max(1, room - words))
            name, parts = _chosen(name, overview, smaller)
            parts = _with_dropped_noted(parts, hole)
        if notice and not gaps_of(parts):
            notice, footer = problem_notice(facts), _ending(overview, facts)
        return name, [Note(notice), *parts, on_own_line(parts, footer)]


def _json(overview: Overview) -> Structured | None:
    """JSON taken apart; None for anything else, and where not all of it was kept."""
    if (text := overview.text()) is None or text.lstrip("\ufeff \t\r\n")[:1] not in {"{", "["}:
        return None
    from spillstore_tools.profiles.structured import structured  # noqa: PLC0415  # most output is no JSON

    return structured(text)


def _chosen(name: str, overview: Overview, request: Request) -> tuple[str, list[Part]]:
    """The strategy of a name and its parts; ``smart`` where it makes none."""
    parts = strategy(name).cut(overview, request)
    if parts is not None:
        return name, parts
    return SMART, strategy(SMART).cut(overview, request) or []


def _binary(overview: Overview, facts: Facts, kind: BinaryType, limit: int) -> list[Part]:
    from spillstore_tools.profiles.binary import summarised  # noqa: PLC0415  # most output is text

    stored, footer = facts.stored, _footer(facts)
    notice, call = problem_notice(facts), ""
    if stored is not None:
        call = f"[all of it: spillstore cat {stored.id}{stored.flags} > FILE]\n"
        footer = _footer(facts, named=True)
    if limit - len(notice) - len(call) - len(footer) < _LEAST_ROOM:
        notice = call = footer = ""
    room = limit - len(notice) - len(call) - len(footer) - 1
    gap = summarised(overview, facts, kind, room, ended_well=_ended_well(facts))
    return [Note(notice), gap, on_own_line([gap], call + footer)]


def _touches(part: Part, hole: tuple[int, int]) -> bool:
    return isinstance(part, Shown) and part.start < hole[1] and part.end > hole[0]


def _with_dropped_noted(parts: list[Part], hole: tuple[int, int]) -> list[Part]:
    """The parts, with a note before those that have been dropped since."""
    out: list[Part] = []
    for part in parts:
        if _touches(part, hole):
            out.append(Note(_GONE))
        out.append(part)
    return out


def _notice(overview: Overview, facts: Facts, json: Structured | None, *, people: bool) -> str:
    """The notice that comes first: how much output there is, and the calls that show any of it; of JSON by a path.

    The first call of a tool and the first command name the artifact, so that each can be used as it is; ``ID`` stands for it in
    those that follow.
    """
    total = f"{counted(overview.lines, 'line')}, {preview_size(overview.size)}"
    stored = facts.stored
    if stored is None:
        what = f"[{total}; a part is shown, and what is left out below cannot be fetched]\n"
        return problem_notice(facts) + what
    kind = f"{total} of JSON" if json is not None else total
    brings = "More of it" if json is not None and facts.partial else "All of it"  # of JSON a part by its path
    if stored.hole or facts.problem or stored.cut_off:
        brings = "What is left"
    first = f"{problem_notice(facts)}[{kind}; a part is shown. {brings}: "
    if json is not None and facts.partial:
        commands = [_shell_json(stored, json)]
        call, search = _calls_json(json)
    else:
        long = overview.size > _LONG * overview.lines
        span = f"--bytes 0-{_BYTES}" if long else "--lines 1-100"
        commands = [
            f"spillstore show {stored.id} {span}{stored.flags}",
            search_command(stored, name="" if people else "ID", long=long),
        ]
        call = f", start_byte=0, end_byte={_BYTES}" if long else ", start_line=1, end_line=100"
        call, search = call if facts.partial else "", ""
    if people:
        return first + "\n".join(commands) + "]\n"
    calls = f'get_artifact(id="{stored.id}"{call}), search_artifact(id=ID{search}, pattern="...");'
    return f"{first}{calls}\nin a shell: {', '.join(commands)}]\n"


def _calls_json(json: Structured) -> tuple[str, str]:
    """The arguments of calls that bring more of JSON, and search it: lines of its first long text, or elements."""
    quoted = '"' + json.query.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if json.strings:
        return f", path={quoted}, start_line=1, end_line=100", f", path={quoted}"
    return f", query={quoted}", ""


def _shell_json(stored: Stored, json: Structured) -> str:
    """The shell command that shows the same."""
    path = shlex.quote(json.query)
    if json.strings:
        return f"spillstore show {stored.id} --path {path} --lines 1-100{stored.flags}"
    return f"spillstore query {stored.id} {path}{stored.flags}"


def _failed(facts: Facts) -> bool:
    """Whether a command could not be run; other exit codes are no error of the tool."""
    return facts.is_command and facts.exit_code in _NOT_RUN


def _ended_well(facts: Facts) -> bool | None:
    """Whether a command ended with exit code 0; None for other output, and where that is not known."""
    return facts.exit_code == 0 if facts.is_command and facts.exit_code is not None else None


def _footer(facts: Facts, *, named: bool = False) -> str:
    """How the command ended, and the artifact, unless a notice has named it."""
    if not facts.is_command:
        return ""
    code = facts.status
    kept = f"artifact {facts.stored.id}; " if facts.stored and not named else ""
    return f"[{kept}{code}]\n"


def _notes(facts: Facts) -> list[Note]:
    """What is said before output that is shown whole: that the artifact is that of an earlier one, and what of it is not kept."""
    notice = problem_notice(facts)
    return [Note(notice)] if notice else []


def _ending(overview: Overview, facts: Facts, *, named: bool = False) -> str:
    """The last lines: what was overwritten, and how the command ended."""
    notice = redrawn_notice(overview, facts)
    return (f"{notice}\n" if notice else "") + _footer(facts, named=named)
