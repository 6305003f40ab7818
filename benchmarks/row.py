"""One line of the table: a figure of ours, the peer's beside it, the target, and whether the answers were right."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from benchmarks.samples import median

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "MB": 1e-6, "1/s": 1.0, "x": 1.0}


@dataclasses.dataclass(kw_only=True)
class Row:
    """A measurement.

    Attributes:
        what: what was measured.
        ours: our median, in ``unit``.
        unit: of ``ours`` and ``peer``.
        peer: the peer's median.
        peer_name: the peer.
        ratio: ours over the peer's, medians.
        ratio_min: the same of the fastest ones, which noise touches least.
        limit: the target: of ``ratio`` if ``of_ratio``, else of ``ours``; None where the row only informs.
        correct: whether every answer was right.
        extra: what else is worth keeping.
    """

    what: str
    ours: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    ratio: float | None = None
    ratio_min: float | None = None
    limit: float | None = None
    of_ratio: bool = True
    correct: bool
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """PASS, MISS, WRONG, or nothing where there is no target."""
        if not self.correct:
            return "WRONG"
        if self.limit is None:
            return ""
        value = self.ratio if self.of_ratio else self.ours
        return "PASS" if value is not None and value <= self.limit else "MISS"

    @property
    def target(self) -> str:
        """The target as text."""
        if self.limit is None:
            return ""
        return f"<= {self.limit:g}{' x' if self.of_ratio else ' ' + self.unit}"


def compare(
    what: str,
    ours: Sequence[float],
    peer: Sequence[float],
    peer_name: str,
    *,
    unit: str,
    limit: float | None,
    correct: bool,
    **extra: Any,
) -> Row:
    """A row from the samples of both, in seconds or bytes."""
    scale = _UNITS[unit]
    return Row(
        what=what,
        ours=median(ours) * scale,
        unit=unit,
        peer=median(peer) * scale,
        peer_name=peer_name,
        ratio=median(ours) / median(peer),
        ratio_min=min(ours) / min(peer),
        limit=limit,
        correct=correct,
        extra={"rounds": len(ours), **extra},
    )


def absolute(what: str, value: float, *, unit: str, limit: float | None, correct: bool, **extra: Any) -> Row:
    """A row with a target of its own."""
    return Row(
        what=what,
        ours=value * _UNITS[unit],
        unit=unit,
        limit=limit,
        of_ratio=False,
        correct=correct,
        extra=extra,
    )
