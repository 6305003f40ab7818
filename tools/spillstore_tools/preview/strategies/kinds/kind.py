"""The interface of kinds: what each sees of an output, and what it makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request


class Kind(Protocol):
    """Output of one kind."""

    def block(self, block: Block) -> bool:
        """Take the next block, from the first one on; whether it looks like this kind."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """The parts, as those of a strategy, with a note in front that says what it is and how much; None if it is something else."""

    def is_row(self, line: bytes) -> bool | None:
        """Whether a line is what the kind consists of, whatever words it holds; None if it may be, where there are many like it."""
