"""A place in an output, between two bytes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Gap


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """A position between two bytes.

    Attributes:
        byte: the byte behind it.
        line: the line that this byte is in, from 1.
        inside: whether that line began before it.
    """

    byte: int
    line: int
    inside: bool = False

    def moved(self, gap: Gap) -> Gap:
        """A gap that counts from this position, as one that counts from the beginning of the output."""
        return dataclasses.replace(
            gap,
            start=gap.start + self.byte,
            end=gap.end + self.byte,
            first_line=gap.first_line + self.line - 1,
            last_line=gap.last_line + self.line - 1,
            inside=gap.inside or (self.inside and gap.start == 0),
        )
