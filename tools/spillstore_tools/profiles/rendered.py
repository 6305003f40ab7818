"""The text that a model is shown, with what is missing from it, and how parts become one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.describe import preview_size
from spillstore_tools.preview.parts import Gap, Note, Omission, Part, View, omissions_of
from spillstore_tools.preview.text.clean import unmasked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore_tools.profiles.facts import Facts

REFUSED = "refused"  # the strategy of output that is too large to be taken


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The text that a model is shown.

    Attributes:
        text: the whole text.
        omissions: the ranges that are missing, and where in ``text`` (or in ``fields``) their markers stand.
        notes: ``(at, length)`` of our own words in ``text``, or in the only field; all text besides these and the markers
            is output.
        strategy: the name of the strategy that cut it; ``none`` if it was not cut.
        is_error: whether the tool call failed, by the rules of the profile.
        fields: texts inside a structured result by name, to which omissions may refer.
        elements: array items, members or nodes left out.
        redrawn: characters that were overwritten or erased in their lines, which no omission names; see
            ``preview.text.clean.redrawn``.
    """

    text: str
    omissions: tuple[Omission, ...] = ()
    notes: tuple[tuple[int, int], ...] = ()
    strategy: str = "none"
    is_error: bool = False
    fields: Mapping[str, str] = dataclasses.field(default_factory=dict)
    elements: int = 0
    redrawn: int = 0

    @property
    def refused(self) -> bool:
        """Whether the output was too large for the profile, and nothing of it is shown or kept."""
        return self.strategy == REFUSED

    @property
    def was_truncated(self) -> bool:
        """Whether anything is missing."""
        return bool(self.omissions) or self.refused or self.redrawn > 0


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """Parts of one view."""

    view: View
    parts: Sequence[Part]


def compose(
    sections: Sequence[Section], facts: Facts, *, strategy: str, is_error: bool = False, redrawn: int = 0
) -> Rendered:
    """One text of sections that follow each other."""
    text: list[str] = []
    omissions: list[Omission] = []
    notes: list[tuple[int, int]] = []
    at = 0
    for section in sections:
        omissions += omissions_of(section.parts, section.view, at)
        for part in section.parts:
            if isinstance(part, Note) and part.text:
                notes.append((at, len(part.text)))
            text.append(unmasked(part.text))
            at += len(part.text)
    return Rendered(
        text="".join(text),
        omissions=mark_dropped(omissions, facts),
        notes=tuple(notes),
        strategy=strategy if omissions else "none",
        is_error=is_error,
        elements=sum(
            part.elements for section in sections for part in section.parts if isinstance(part, Gap)
        ),
        redrawn=redrawn,
    )


def mark_dropped(omissions: Sequence[Omission], facts: Facts) -> tuple[Omission, ...]:
    """The omissions, marked as dropped where some of their bytes cannot be fetched."""
    return tuple(
        dataclasses.replace(each, dropped=is_dropped(facts, each.stream, each.start, each.end))
        for each in omissions
    )


def is_dropped(facts: Facts, view: View, start: int, end: int) -> bool:
    """Whether some of the bytes ``[start, end)`` of a view are not stored or were dropped."""
    stored = facts.stored
    if stored is None:
        return True
    if view in facts.capped and end > stored.sizes.get(view, 0):
        return True
    low, high = stored.holes.get(view, (0, 0))
    return max(start, low) < min(end, high) or (facts.problem is not None and end > stored.sizes.get(view, 0))


def refused(size: int, limit: int, status: str = "") -> Rendered:
    """The text in place of output that is larger than a profile takes.

    Args:
        size: bytes of the output.
        limit: bytes from which on output is refused.
        status: the state of a command that runs on.

    Example:
        >>> refused(15_728_640, 10_485_760).text[:66]
        'Output size (15.0 MB) exceeds maximum artifact size (10.0 MB). 157'
        >>> refused(18_000, 2_000).text[:62]
        'Output size (17.6 KB) exceeds maximum artifact size (2.0 KB). '
    """
    text = (
        f"Output size ({preview_size(size, prefix='M')}) exceeds maximum artifact size ({preview_size(limit, prefix='M')}). "
        f"{size} bytes came, fewer than {limit} are allowed (max_artifact_size); nothing of "
        "it was kept. Filter or page the output in the tool call."
    )
    return Rendered(text=f"{text}\n[{status}]" if status else text, strategy=REFUSED, is_error=True)
