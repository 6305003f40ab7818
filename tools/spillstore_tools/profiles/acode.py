"""The profile ``acode``: pass through, truncate with a strategy of the tool's, or replace by a reference (S1).

Up to ``inline_limit`` characters nothing is done. Below ``artifact_threshold`` the tool's strategy cuts, markers read
``\\n... [X lines / Y chars omitted] ...\\n`` and the last line is the reference. From the threshold on the text is the
reference block alone. From ``max_artifact_size`` bytes on output is refused, with both sizes named, and nothing is kept.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from spillstore_tools.preview import element, smart  # noqa: F401  # both register themselves
from spillstore_tools.preview.binary import summarise
from spillstore_tools.preview.clean import whole_cut
from spillstore_tools.preview.parts import Gap, Note, Shown, text_of
from spillstore_tools.preview.scan import Place, Scan
from spillstore_tools.preview.strategies import Request, beginning, everything, strategy
from spillstore_tools.profiles.base import Facts, Rendered, Section, compose, human_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.configuration import ToolLimits, TruncationConfiguration
    from spillstore_tools.preview.binary import BinaryType
    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan import Overview

_PREVIEW = 500
_SUMMARY = 100
_SMALLEST_WITH_REFERENCE = 400
FALLBACK = "head_tail"


class Acode:
    """See the module."""

    name = "acode"
    views: tuple[View, ...] = ("combined",)
    keep = "spilled"
    size_limit = None
    policy = None
    stream_limit = None

    def __init__(self, configuration: TruncationConfiguration) -> None:
        self.configuration = configuration
        self.cleanup_on_exit = configuration.artifacts.cleanup_on_exit
        self.buffer_bytes = 64 * 1024
        self.refuse_at = configuration.max_artifact_size

    def limits(self, source: str) -> ToolLimits:
        """What is in force for one tool."""
        return self.configuration.for_tool(source)

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # there is one view
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

    def complete(self, overviews: Mapping[View, Overview], source: str, binary: BinaryType | None) -> bool:
        overview = overviews["combined"]
        limits = self.limits(source)
        below = limits.strategy == "none" and overview.chars < limits.artifact_threshold
        return binary is None and overview.whole and (overview.chars <= limits.inline_limit or below)

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        overview = overviews["combined"]
        limits = self.limits(facts.source)
        if limits.max_artifact_size <= overview.size:
            return _refused(overview, limits)
        if facts.binary is not None:
            return self._binary(overview, facts, facts.binary, limits)
        if overview.chars <= limits.inline_limit and (text := overview.text()) is not None:
            return compose([Section("combined", [Shown(text, 0, overview.size)])], facts, strategy="none")
        if overview.chars >= limits.artifact_threshold:
            return compose(
                [Section("combined", self._reference_block(overview, facts))], facts, strategy="reference"
            )
        return self._truncated(overview, facts, limits)

    def _truncated(self, overview: Overview, facts: Facts, limits: ToolLimits) -> Rendered:
        reference = ""
        if facts.problem is not None:
            reference = f"\n[not stored: {facts.problem.splitlines()[0][:200]}]"
        elif facts.stored is not None and limits.inline_limit >= _SMALLEST_WITH_REFERENCE:
            reference = f"\n{reference_line(overview, facts)}"
        request = request_of(limits, limits.inline_limit - len(reference))
        name = limits.strategy
        parts = strategy(name).cut(overview, request)
        if parts is None:
            name = FALLBACK
            parts = strategy(name).cut(overview, request) or []
        if len(text_of(parts)) + len(reference) > limits.inline_limit and name == "none":
            reference = ""
        return compose([Section("combined", [*parts, Note(reference)])], facts, strategy=name)

    def _reference_block(self, overview: Overview, facts: Facts) -> list[Part]:
        request = Request(limit=_PREVIEW, line_limit=None)
        head = beginning(overview.forward(), _PREVIEW, request, exact=True)
        gap = overview.gap(head.place, Place(overview.size, overview.lines + 1), overview.chars - head.chars)
        shown = len(text_of(head.parts))
        block = _block_head(overview, facts, shown)
        options = _retrieval(
            facts, overview, instructions=self.configuration.metadata.include_retrieval_instructions
        )
        return [Note(block), *head.parts, gap, Note(options)]

    def _binary(self, overview: Overview, facts: Facts, kind: BinaryType, limits: ToolLimits) -> Rendered:
        reference = f"\n{reference_line(overview, facts)}" if facts.stored else ""
        room = max(limits.inline_limit - len(reference) - 1, 80)
        text = summarise(kind, facts.head, overview.size, inline=room)
        whole = everything(overview)
        gap = Gap(0, overview.size, 1, whole.last_line, whole.lines, overview.chars, text=text)
        return compose([Section("combined", [gap, Note(reference)])], facts, strategy="binary")


def request_of(limits: ToolLimits, limit: int) -> Request:
    """What a strategy is asked for a tool."""
    return Request(
        limit=max(1, limit),
        head_ratio=limits.head_ratio,
        head_lines=limits.head_lines,
        tail_lines=limits.tail_lines,
        line_limit=limits.max_line_length,
        first=limits.first_elements,
        last=limits.last_elements,
        max_depth=limits.max_depth,
        whole_units=limits.preserve_functions,
        actionable=limits.prioritize_errors,
    )


def reference_line(overview: Overview, facts: Facts) -> str:
    """``[Artifact: {id}] {summary} ({size})`` (FR-059), the summary in at most 100 characters (FR-060)."""
    identity = facts.stored.id if facts.stored else "not stored"
    what = f"{facts.source}: {overview.lines} lines of {facts.content_type or 'text/plain'}"
    first = next((line.prefix(_SUMMARY)[0].strip() for line in overview.forward() if line.chars > 1), "")
    summary = f"{what}: {first}" if first else what
    if len(summary) > _SUMMARY:
        summary = summary[: whole_cut(summary, _SUMMARY - 3)] + "..."
    return f"[Artifact: {identity}] {summary} ({human_size(overview.size)})"


def _block_head(overview: Overview, facts: Facts, shown: int) -> str:
    created = datetime.datetime.fromtimestamp(facts.created, tz=datetime.UTC)
    source = (
        facts.source if facts.command is None else f"{facts.source} {facts.command.splitlines()[0][:200]}"
    )
    lines = [
        reference_line(overview, facts),
        f"Type: {facts.content_type or 'text/plain'}",
        f"Size: {human_size(overview.size)} ({overview.size:,} bytes, ~{tokens(overview.chars):,} tokens)",
        f"Source: {source}",
        f"Created: {created:%Y-%m-%d %H:%M:%S} UTC",
    ]
    if facts.problem is not None:
        lines.append(f"Not stored: {facts.problem.splitlines()[0][:200]}")
    return "\n".join([*lines, "", f"Preview (first {shown} characters):", ""])


def _retrieval(facts: Facts, overview: Overview, *, instructions: bool) -> str:
    if facts.stored is None or not instructions:
        return "\n"
    call = f'get_artifact(id="{facts.stored.id}"'
    lines = [
        "\n",
        "Retrieval options:",
        f"- Full content: {call})",
        f"- Line range: {call}, start_line=1, end_line={min(100, max(1, overview.lines))})",
        f"- Byte range: {call}, start_byte=0, end_byte={min(10240, overview.size)})",
    ]
    if facts.content_type is not None and "json" in facts.content_type:
        lines.append(f'- JSONPath query: {call}, query="$[0]")')
    return "\n".join(lines)


def _refused(overview: Overview, limits: ToolLimits) -> Rendered:
    sizes = [f"{size / 1024 / 1024:.1f} MB" for size in (overview.size, limits.max_artifact_size)]
    text = (
        f"Output size ({sizes[0]}) exceeds maximum artifact size ({sizes[1]}). "
        f"{overview.size} bytes came, fewer than {limits.max_artifact_size} are allowed (max_artifact_size); nothing of "
        "it was kept. Filter or page the output in the tool call."
    )
    return Rendered(text=text, strategy="refused", is_error=True)


def tokens(chars: int) -> int:
    """The estimate of S1: a quarter of the characters, rounded up (FR-017).

    Example:
        >>> tokens(8000), tokens(1)
        (2000, 1)
    """
    return -(-chars // 4)


def make(configuration: TruncationConfiguration | None) -> Acode:
    """The profile, with the defaults unless configured."""
    if configuration is None:
        from spillstore_tools.configuration import TruncationConfiguration  # noqa: PLC0415  # msgspec is not always needed

        configuration = TruncationConfiguration()
    return Acode(configuration)
