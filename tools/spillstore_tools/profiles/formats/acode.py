r"""The profile ``acode``: pass through, truncate with a strategy of the tool's, or replace by a reference.

Up to ``inline_limit`` characters nothing is done. Below ``artifact_threshold`` the tool's strategy cuts, markers read
``\n... [X lines / Y chars omitted] ...\n`` and the last line is the reference; of cut JSON it is the last element or member,
on a line of its own, so that the text is JSON with that line and without it. From the threshold on the text is the
reference block alone, unless it would refer to what could not be stored. From ``max_artifact_size`` bytes on output is
refused, with both sizes named, and nothing is kept.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted, preview_size, tokens
from spillstore_tools.preview.parts import Note, Shown, gaps_of, length_of, text_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.ends import beginning
from spillstore_tools.preview.strategies.fit import nothing_shown
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.structured.json_paths import member_step
from spillstore_tools.preview.text.clean import one_line
from spillstore_tools.preview.text.graphemes import grapheme_boundary
from spillstore_tools.profiles.base import Inline, Profile
from spillstore_tools.profiles.binary import summarised
from spillstore_tools.profiles.facts import REASON
from spillstore_tools.profiles.limits import Limits, request_of
from spillstore_tools.profiles.notices import redrawn_notice
from spillstore_tools.profiles.rendered import Section, compose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.config import ToolLimits, TruncationConfiguration
    from spillstore_tools.preview.binary.magic import BinaryType
    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered

_PREVIEW = 500
_SUMMARY = 100
_SMALLEST_WITH_REFERENCE = 400
FALLBACK = "head_tail"
ELEMENT = "element"
_KEY = "[Artifact]"  # of the member that holds the reference, where an object was cut
_LF = "\n"


class Acode(Profile):
    """See the module."""

    name = "acode"
    summary = (
        "Output above 8,000 characters is truncated; above 50,000 characters a reference is shown instead."
    )

    def __init__(self, configuration: TruncationConfiguration | None = None) -> None:
        if configuration is None:
            from spillstore_tools.config import TruncationConfiguration  # noqa: PLC0415  # msgspec is not always needed

            configuration = TruncationConfiguration()
        self.configuration = configuration
        self.cleanup_on_exit = configuration.artifacts.cleanup_on_exit
        self._limits = Limits(configuration)

    def limits(self, source: str) -> ToolLimits:
        """The limits of one tool."""
        return self._limits.of(source)

    def refuse_at(self, source: str) -> int:
        """As in ``Profile``."""
        return self.limits(source).max_artifact_size

    def inline(self, source: str) -> Inline:
        """As in ``Profile``."""
        return Inline(chars=_most_inline(self.limits(source)))

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # there is one view
        """As in ``Profile``."""
        limits = self.limits(source)
        chosen = strategy(limits.strategy)
        most = max(limits.inline_limit, _PREVIEW)
        return Scan(
            head_chars=most,
            tail_chars=most,
            keep_bytes=min(chosen.keep_bytes, 4 * limits.artifact_threshold),
            terminator=terminator,
            observer=chosen.observer(),
        )

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:
        """As in ``Profile``."""
        overview = overviews["combined"]
        return (
            facts.binary is None
            and not overview.redrawn
            and _fitting(overview, self.limits(facts.source)) is not None
        )

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``."""
        overview = overviews["combined"]
        limits = self.limits(facts.source)
        if facts.binary is not None:
            name, parts = "binary", _binary(overview, facts, facts.binary, limits)
        elif not overview.redrawn and (text := _fitting(overview, limits)) is not None:
            name, parts = "none", [Shown(text, 0, overview.size)]
        elif overview.chars >= limits.artifact_threshold and facts.problem is None:
            name, parts = "reference", self._reference_block(overview, facts, limits)
        else:
            name, parts = _truncated(overview, facts, limits)
        redrawn = 0 if facts.binary is not None else overview.redrawn
        if name != "reference" and not gaps_of(parts):
            name = "none"
        return compose([Section("combined", parts)], facts, strategy=name, redrawn=redrawn)

    def _reference_block(self, overview: Overview, facts: Facts, limits: ToolLimits) -> list[Part]:
        """The block, its preview shortened where ``inline_limit`` is less than it takes; then no options, then one line."""
        options = ""
        if self.configuration.metadata.include_retrieval_instructions:
            options = _retrieval(
                facts, overview, partial=self.configuration.artifacts.enable_partial_retrieval
            )
        reference = reference_line(overview, facts)
        for tail in (f"\n{options}", "\n"):
            room = limits.inline_limit - len(_block_head(overview, facts, _PREVIEW)) - len(tail)
            if room >= 0:
                return _block(overview, facts, min(room, _PREVIEW), tail)
        return _block(overview, facts, 0, reference[: limits.inline_limit])


def _most_inline(limits: ToolLimits) -> int:
    """Code points up to which output is shown as it is."""
    if limits.strategy == "none":
        return max(limits.inline_limit, limits.artifact_threshold - 1)
    return limits.inline_limit


def _fitting(overview: Overview, limits: ToolLimits) -> str | None:
    """All of the text, if it is short enough to be shown as it is."""
    return overview.text() if overview.chars <= _most_inline(limits) else None


def _truncated(overview: Overview, facts: Facts, limits: ToolLimits) -> tuple[str, list[Part]]:
    """The strategy that cut it, and the parts."""
    reference = ""
    if limits.inline_limit >= _SMALLEST_WITH_REFERENCE:
        if facts.problem is not None:
            reference = f"\n[{_not_stored(facts)}]"
        elif facts.stored is not None:
            reference = _reference_with_losses(overview, facts)
        if notice := redrawn_notice(overview, facts):
            reference = f"\n{notice}{reference}"
    words = len(reference)
    if limits.strategy == ELEMENT and reference:
        words = max(words, len(_member(reference, "{")))
    request = request_of(limits, limits.inline_limit - words)
    for name in (limits.strategy, FALLBACK):
        parts = strategy(name).cut(overview, request)
        if parts is not None and length_of(parts) <= request.limit:
            if name == ELEMENT and reference and (joined := _within_json(parts, reference)) is not None:
                return name, joined
            return name, [*parts, Note(reference)]
    return FALLBACK, [*nothing_shown(overview, request), Note(reference)]


def _member(reference: str, bracket: str) -> str:
    """The reference as the last element of an array, or the last member of an object, on a line that may as well be missing."""
    key = f"{json.dumps(_KEY)}: " if bracket == "{" else ""
    return f"\n, {key}{json.dumps(reference.strip(_LF), ensure_ascii=False)}\n"


def _within_json(parts: list[Part], reference: str) -> list[Part] | None:
    """Cut JSON with the reference in it, so that all of the text is JSON; None where that cannot be."""
    text, last = text_of(parts), parts[-1]
    end = len(last.text.rstrip())
    if not isinstance(last, Shown) or not end or _KEY in text:
        return None
    member = _member(reference, text.lstrip()[:1])
    try:
        json.loads(text[: len(text) - len(last.text) + end - 1] + member + last.text[end - 1 :])
    except ValueError:
        return None
    border = last.end - (len(last.text) - end + 1)
    before = [Shown(last.text[: end - 1], last.start, border)] if end > 1 else []
    return [*parts[:-1], *before, Note(member), Shown(last.text[end - 1 :], border, last.end)]


def _block(overview: Overview, facts: Facts, room: int, tail: str) -> list[Part]:
    """A preview of so many characters between the head of the block and its tail; no head where there is no preview."""
    head = beginning(overview, room, Request(limit=room, line_limit=None), exact=True)
    gap = overview.gap(
        head.position, Position(overview.size, overview.lines + 1), overview.chars - head.chars
    )
    parts: list[Part] = [*head.parts, gap]
    shown = length_of(parts)
    block = _block_head(overview, facts, shown) if room or tail.startswith("\n") else ""
    return [Note(block), *parts, Note(tail)]


def _binary(overview: Overview, facts: Facts, kind: BinaryType, limits: ToolLimits) -> list[Part]:
    reference = ""
    if limits.inline_limit >= _SMALLEST_WITH_REFERENCE:
        if facts.stored is not None:
            reference = _reference_with_losses(overview, facts)
        if facts.problem is not None:
            reference += f"\n[{_not_stored(facts)}]"
    gap = summarised(overview, facts, kind, limits.inline_limit - len(reference))
    return [gap, Note(reference)]


def _reference_with_losses(overview: Overview, facts: Facts) -> str:
    return f"\n{reference_line(overview, facts)}{''.join(f' [{loss}]' for loss in _losses(facts))}"


def reference_line(overview: Overview, facts: Facts) -> str:
    """``[Artifact: {id}] {summary} ({size})``, the summary in at most 100 characters."""
    identity = facts.stored.id if facts.stored else "not stored"
    kind = facts.content_type or (facts.binary.media_type if facts.binary else "text/plain")
    lines = f"{counted(overview.lines, 'line')} of "
    summary = one_line(f"{facts.source}: {'' if facts.binary else lines}{kind}")
    if facts.binary is None:
        first = next((line.prefix(_SUMMARY)[0].strip() for line in overview.forward() if line.chars > 1), "")
        summary = f"{summary}: {first}" if first else summary
    if len(summary) > _SUMMARY:
        summary = summary[: grapheme_boundary(summary, _SUMMARY - 3)] + "..."
    return f"[Artifact: {identity}] {summary} ({preview_size(overview.size)})"


def _not_stored(facts: Facts) -> str:
    kept = f"; the first {facts.stored.size} bytes are artifact {facts.stored.id}" if facts.stored else ""
    return f"not stored: {facts.reason}{kept}"


def _block_head(overview: Overview, facts: Facts, shown: int) -> str:
    created = dt.datetime.fromtimestamp(facts.created, tz=dt.UTC)
    source = facts.source if facts.command is None else f"{facts.source} {facts.command}"
    lines = [
        reference_line(overview, facts),
        f"Type: {one_line(facts.content_type or 'text/plain')}",
        f"Size: {preview_size(overview.size)} ({overview.size:,} bytes, ~{tokens(overview.chars):,} tokens)",
        f"Source: {one_line(source)[:REASON]}",
        f"Created: {created:%Y-%m-%d %H:%M:%S} UTC",
    ]
    if notice := redrawn_notice(overview, facts):
        lines.append(notice)
    lines += _losses(facts)
    return "\n".join([*lines, "", f"Preview (first {shown} characters):", ""])


def _losses(facts: Facts) -> list[str]:
    """Words about an artifact: that it is that of an earlier output, and what it lacks."""
    stored, losses = facts.stored, [facts.repeat_notice[1:-1]] if facts.repeat_notice else []
    if stored is not None and stored.hole is not None:
        losses.append(f"Dropped: bytes {stored.hole[0]}-{stored.hole[1]}, which cannot be fetched any more")
    if stored is not None and stored.cut_off:
        losses.append(f"Not kept: the last {stored.cut_off} bytes")
    return losses


def _retrieval(facts: Facts, overview: Overview, *, partial: bool) -> str:
    if facts.stored is None:
        return ""
    call = f'get_artifact(id="{facts.stored.id}"'
    lines = ["", "Retrieval options:", f"- Full content: {call})"]
    if not partial:  # what would be refused is not recommended
        return "\n".join(lines)
    lines += [
        f"- Line range: {call}, start_line=1, end_line={min(100, max(1, overview.lines))})",
        f"- Byte range: {call}, start_byte=0, end_byte={min(10240, overview.size)})",
    ]
    if facts.content_type is not None and "json" in facts.content_type:
        lines.append(f"- JSONPath query: {call}, query={_quoted(_first_node(overview))})")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _first_node(overview: Overview) -> str:
    """A query that finds something of JSON: its first element, or its first member."""
    text = ""
    for line in overview.forward():
        text += line.prefix(_PREVIEW)[0]
        if len(text) >= _PREVIEW:
            break
    text = text.lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return "$[0]"
    name = text[1:].lstrip()
    try:
        return f"${member_step(json.JSONDecoder().raw_decode(name)[0])}" if name.startswith('"') else "$.*"
    except ValueError:  # it goes on behind what was looked at
        return "$.*"
