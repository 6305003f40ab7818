"""Diffs and source code: what is in them, then as much as fits, cut between whole units (``preview.code``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore.settings import MIB
from spillstore_tools.preview.code.cut_units import UnitText
from spillstore_tools.preview.parts import Note
from spillstore_tools.preview.structured.replace import replaced

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request

# Indented, of a diff, a call, with a sign at its end, or of signs alone.
_ROW = re.compile(rb"[\s+@-]|[^\n]*(?:\w\(|[{}\[\],:;\\]\s*$)|\W*$")
_SHARE = 6  # of the limit the part that an outline may take


class Units:
    """A diff or source code up to a megabyte."""

    def block(self, block: Block) -> bool:
        """Whether it is small enough."""
        return block.end <= MIB

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``."""
        return _ROW.match(line) is not None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        text = overview.text() if overview.size <= MIB else None
        if text is None:
            return None
        units = UnitText.read(text, request.hint)
        if units is None:
            return None
        words = units.outline(request.limit // _SHARE) + "\n"
        room = request.limit - len(words)
        cuts = units.cuts(room)
        parts = replaced(overview, text, cuts, room) if cuts else None
        return None if parts is None else [Note(words), *parts]
