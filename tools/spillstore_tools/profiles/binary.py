"""Content that cannot be shown as text in UTF-8: a summary, or the text decoded from another encoding."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted
from spillstore_tools.preview.binary.recognise import ENCODED_TEXT
from spillstore_tools.preview.binary.summary import summarise
from spillstore_tools.preview.parts import text_of
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.strategies.smart import decoded
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.graphemes import grapheme_boundary
from spillstore_tools.profiles.notices import marker_of

if TYPE_CHECKING:
    from spillstore_tools.preview.binary.magic import BinaryType
    from spillstore_tools.preview.parts import Gap
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.facts import Facts


def summarised(
    overview: Overview, facts: Facts, kind: BinaryType, room: int, *, ended_well: bool | None = None
) -> Gap:
    """One gap that covers all of the content, with a summary as its marker.

    Args:
        overview: the pass over all of it.
        facts: have the first bytes.
        kind: its type; text in another encoding is decoded.
        room: code points.
        ended_well: as in ``Request``.
    """
    gap = overview.everything()
    if kind.media_type.startswith(ENCODED_TEXT):
        text = _cut(overview, facts, kind, room, ended_well=ended_well)
        text = text or _decoded(kind, facts.head, overview.size, room)
    else:
        text = summarise(kind, facts.head, overview.size, inline=room)
    return dataclasses.replace(gap, text=text)


def _cut(overview: Overview, facts: Facts, kind: BinaryType, room: int, *, ended_well: bool | None) -> str:
    """What ``smart`` shows of the text, as it was decoded on its way; nothing where it was not, or there is no room."""
    known = decoded(overview)
    inner = None if known is None else known.overview()
    title = _title(kind, overview.size)
    if known is None or inner is None or len(title) >= room:
        return ""
    request = Request(
        limit=room - len(title),
        ended_well=ended_well,
        marker=marker_of(facts) if known.as_stored else _omitted,
        clip_marker=_clipped,
        repeat_marker=_repeated,
    )
    return title + text_of(strategy("smart").cut(inner, request) or []).rstrip("\n")


def _title(kind: BinaryType, size: int) -> str:
    return f"[{kind.name}, {size:,} bytes; shown decoded, but line and byte ranges mean the bytes as they are stored]\n"


def _omitted(gap: Gap) -> str:
    """The marker where the lines of the text are not those of the bytes."""
    return f"[... {counted(gap.lines, 'line')} omitted ...]\n"


def _clipped(gap: Gap) -> str:
    return f" [... {gap.chars} chars omitted ...] "


def _repeated(gap: Gap) -> str:
    return f"  [the same {gap.lines} more times]\n"


def _decoded(kind: BinaryType, head: bytes, size: int, room: int) -> str:
    encoding = kind.media_type.removeprefix(ENCODED_TEXT)
    text = head.decode(encoding, "ignore").removeprefix("\ufeff")
    text = clean(text.encode("utf-8", "replace"))
    title = _title(kind, size)
    rest = f"\n[... only the beginning is shown: {len(head):,} of {size:,} bytes at most ...]"
    if size <= len(head) and len(title) + len(text) <= room:
        return title + text
    space = max(0, room - len(title) - len(rest))
    return (title + text[: grapheme_boundary(text, min(space, len(text)))] + rest)[: max(0, room)]
