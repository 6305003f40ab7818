"""Content that cannot be shown as text in UTF-8: a summary, or the text decoded from another encoding."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.preview.binary.summary import summarise
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.graphemes import grapheme_boundary

if TYPE_CHECKING:
    from spillstore_tools.preview.binary.magic import BinaryType
    from spillstore_tools.preview.parts import Gap
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.facts import Facts

ENCODED_TEXT = "text/plain; charset="


def summarised(overview: Overview, facts: Facts, kind: BinaryType, room: int) -> Gap:
    """One gap that covers all of the content, with a summary as its marker.

    Args:
        overview: the pass over all of it.
        facts: have the first bytes.
        kind: its type; text in another encoding is decoded.
        room: code points.
    """
    gap = overview.everything()
    if kind.media_type.startswith(ENCODED_TEXT):
        text = _decoded(kind, facts.head, overview.size, room)
    else:
        text = summarise(kind, facts.head, overview.size, inline=room)
    return dataclasses.replace(gap, text=text)


def _decoded(kind: BinaryType, head: bytes, size: int, room: int) -> str:
    encoding = kind.media_type.removeprefix(ENCODED_TEXT)
    text = head.decode(encoding, "ignore").removeprefix("\ufeff")
    text = clean(text.encode("utf-8", "replace"))
    title = f"[{kind.name}, {size:,} bytes; shown decoded, but line and byte ranges mean the bytes as they are stored]\n"
    rest = f"\n[... only the beginning is shown: {len(head):,} of {size:,} bytes at most ...]"
    if size <= len(head) and len(title) + len(text) <= room:
        return title + text
    space = max(0, room - len(title) - len(rest))
    return (title + text[: grapheme_boundary(text, min(space, len(text)))] + rest)[: max(0, room)]
