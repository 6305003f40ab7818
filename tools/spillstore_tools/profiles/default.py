"""The profile ``default``: notice first, head, tail, and from the middle the lines that matter; 8,000 characters in all.

A configuration, where one is given, takes the place of our limit, strategy and options (load it with
``defaults=CONFIGURATION_DEFAULTS``, so that ``smart`` is what applies where nobody said otherwise). Binary content is named,
not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.preview import smart  # noqa: F401  # registers itself
from spillstore_tools.preview.binary import summarise
from spillstore_tools.preview.parts import Gap, Note, Shown, length_of
from spillstore_tools.preview.scan import Scan
from spillstore_tools.preview.strategies import Request, everything, strategy
from spillstore_tools.profiles.base import Facts, Rendered, Section, compose, human_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.configuration import TruncationConfiguration
    from spillstore_tools.preview.binary import BinaryType
    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan import Overview

LIMIT = 8000
CONFIGURATION_DEFAULTS = {"default_strategy": "smart"}
_REASON = 300


class Default:
    """See the module."""

    name = "default"
    views: tuple[View, ...] = ("combined",)
    keep = "spilled"
    buffer_bytes = 64 * 1024
    size_limit = None
    policy = None
    stream_limit = None
    refuse_at = None
    cleanup_on_exit = False

    def __init__(self, configuration: TruncationConfiguration | None = None) -> None:
        self._configuration = configuration

    def _settings(self, source: str) -> tuple[int, str, dict[str, object]]:
        """Limit, strategy, and what else a request holds."""
        if self._configuration is None:
            return LIMIT, "smart", {}
        limits = self._configuration.for_tool(source)
        options: dict[str, object] = {
            "head_ratio": limits.head_ratio,
            "head_lines": limits.head_lines,
            "tail_lines": limits.tail_lines,
            "line_limit": limits.max_line_length,
            "first": limits.first_elements,
            "last": limits.last_elements,
            "max_depth": limits.max_depth,
            "whole_units": limits.preserve_functions,
            "actionable": limits.prioritize_errors,
        }
        return limits.inline_limit, limits.strategy, options

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # there is one view
        limit, name, _ = self._settings(source)
        chosen = strategy(name)
        return Scan(
            head_chars=limit,
            tail_chars=limit,
            keep_bytes=chosen.keep_bytes,
            terminator=terminator,
            observer=chosen.observer(),
            exact=name != "smart",
        )

    def complete(self, overviews: Mapping[View, Overview], source: str, binary: BinaryType | None) -> bool:
        overview = overviews["combined"]
        return binary is None and overview.whole and overview.chars <= self._settings(source)[0]

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        overview = overviews["combined"]
        limit, name, options = self._settings(facts.source)
        footer = _footer(facts)
        if facts.binary is not None:
            return _binary(overview, facts, facts.binary, limit, footer)
        text = overview.text() if overview.chars + len(footer) <= limit else None
        lost = facts.problem is not None or (facts.stored is not None and facts.stored.cut_off > 0)
        if text is not None and not lost:
            line_end = "\n" if footer and text and not text.endswith("\n") else ""
            return compose(
                [Section("combined", [Shown(text, 0, overview.size), Note(line_end + footer)])],
                facts,
                strategy=name,
            )
        notice = _notice(overview, facts)
        room = limit - len(notice) - len(footer) - 1
        request = Request(limit=room, marker=_marker(facts), **options)  # type: ignore[arg-type]  # from a typed struct
        chosen = strategy(name)
        parts = chosen.cut(overview, request)
        if parts is None:
            name = "smart"
            parts = strategy(name).cut(overview, request) or []
        shown: list[Part] = [Note(notice), *parts]
        if footer:
            shown.append(Note(footer if not parts or parts[-1].text.endswith("\n") else f"\n{footer}"))
        return compose([Section("combined", shown)], facts, strategy=name)


def _notice(overview: Overview, facts: Facts) -> str:
    """What comes first: how much there is, and the call that shows any of it."""
    total = f"{overview.lines} lines, {human_size(overview.size)}"
    stored = facts.stored
    lines = []
    if facts.problem is not None:
        reason = facts.problem.replace("\n", " ")[:_REASON]
        kept = f"a part is kept as artifact {stored.id}" if stored else "nothing of it was kept"
        lines.append(f"[NOT STORED COMPLETELY: {reason}; {kept}]")
    if stored is None:
        lines.append(f"[{total}; a part is shown, and what is left out below cannot be fetched]")
    else:
        lines += [
            f"[{total}; a part is shown. Artifact {stored.id} has all of it, for example:",
            f'get_artifact(id="{stored.id}", start_line=1, end_line=100)',
            f'search_artifact(id="{stored.id}", pattern="...")',
            f"in a shell: spillstore show {stored.id} --lines 1-100{stored.flags}",
            f"            spillstore cat {stored.id}{stored.flags} | rg PATTERN]",
        ]
        if stored.hole is not None:
            lines.append(
                f"[bytes {stored.hole[0]}-{stored.hole[1]} were dropped: an artifact may keep "
                f"{human_size(stored.limit)}; they cannot be fetched any more]"
            )
        if stored.cut_off:
            lines.append(
                f"[the last {stored.cut_off} bytes were not kept: an artifact may keep {human_size(stored.limit)}]"
            )
    return "".join(f"{line}\n" for line in lines)


def _marker(facts: Facts):  # type: ignore[no-untyped-def]
    hole = facts.stored.hole if facts.stored else None

    def marker(gap: Gap) -> str:
        if gap.inside:
            what, call = f"{gap.end - gap.start} bytes", f"start_byte={gap.start}, end_byte={gap.end}"
        else:
            what = f"{gap.lines} {'line' if gap.lines == 1 else 'lines'}"
            call = f"start_line={gap.first_line}, end_line={gap.last_line}"
        gone = hole is not None and gap.start < hole[1] and gap.end > hole[0]
        return f"[... {what} omitted: {call}{' (partly dropped)' if gone else ''} ...]\n"

    return marker


def _footer(facts: Facts) -> str:
    if not facts.is_command:
        return ""
    killed = f" ({facts.signal})" if facts.signal else ""
    code = f"exit code {facts.exit_code}{killed}" if facts.exit_code is not None else "still running"
    kept = f"artifact {facts.stored.id}; " if facts.stored else ""
    return f"[{kept}{code}]\n"


def _binary(overview: Overview, facts: Facts, kind: BinaryType, limit: int, footer: str) -> Rendered:
    stored = facts.stored
    call = f"[artifact {stored.id}: spillstore cat {stored.id}{stored.flags} > FILE]\n" if stored else ""
    summary = summarise(kind, facts.head, overview.size, inline=limit - len(call) - len(footer) - 1)
    gap = everything(overview)
    parts: list[Part] = [
        Gap(0, overview.size, 1, gap.last_line, gap.lines, overview.chars, text=f"{summary}\n")
    ]
    assert length_of(parts) <= limit  # summarise() keeps to what it was given
    return compose([Section("combined", [*parts, Note(call + footer)])], facts, strategy="binary")


def make(configuration: TruncationConfiguration | None) -> Default:
    """The profile."""
    return Default(configuration)
