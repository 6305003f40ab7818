"""The refusal of what the roll policy has dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.exceptions import DroppedRangeError
from spillstore.model.records import loss

if TYPE_CHECKING:
    from spillstore.model.records import ArtifactRow, Hole, View


def refuse_lines(record: ArtifactRow, view: View, hole: Hole, first: int, last: int) -> None:
    """Refuse lines ``first`` to ``last`` where the hole has taken some of them.

    Raises:
        DroppedRangeError: it has.
    """
    low, high = hole.lines(view)
    if low <= high and first <= high and last >= low:
        refuse(record, view, hole, f"lines {first} to {last}")


def refuse(record: ArtifactRow, view: View, hole: Hole, what: str) -> None:
    """Refuse a range that touches the hole of an artifact, unless the view has lost nothing.

    Args:
        record: the artifact.
        view: what was read of it.
        hole: what it has dropped.
        what: the range, as the message will say.

    Raises:
        DroppedRangeError: it says which ranges are still there.
    """
    span = hole.span(view)
    if span.start == span.end:
        return
    size = record.view_size(view)
    low, high = hole.lines(view)
    lines = [
        f"{first}-{last}"
        for first, last in ((1, low - 1), (high + 1, record.view_lines(view)))
        if first <= last
    ]
    whole = f"Whole lines there are still {' and '.join(lines)}" if lines else "No line is still whole"
    lost = loss(record.reason, f"when it met its limit of {record.size_limit} bytes")
    raise DroppedRangeError(
        f"{what} of {record.artifact_id} touch what was {lost}: lines {low}-{high}, bytes {span.start}-{span.end} ({view.name}). "
        f'{whole}; bytes 0-{span.start} and {span.end}-{size}. Ask for those, or leave the gap out (holes="skip")',
        dropped_bytes=(span.start, span.end),
        dropped_lines=(low, high),
        before=(0, span.start),
        after=(span.end, size),
    )
