"""The events that are left of a damaged session, and the artifacts of which they alone tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from spillstore.engine.rows import EVENT_FIELDS
from spillstore.events.catalogue import EVICT
from spillstore.exceptions import IntegrityError
from spillstore.session.copying import check_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spillstore.engine.base import DamagedRows, RowPlace, SessionImport
    from spillstore.engine.rows import Row
    from spillstore.info import SalvagedArtifact

_ROWS: Final = 100  # that are written at once
_KIND, _ARTIFACT = EVENT_FIELDS.index("kind"), EVENT_FIELDS.index("artifact_id")
_GONE: Final = frozenset({"delete", EVICT})


class SalvagedEvents:
    """Rows of events that are events in form: they have no digest.

    Args:
        found: the damaged session.
        places: where rows of events lie.
    """

    def __init__(self, found: DamagedRows, places: Iterable[RowPlace]) -> None:
        rows: dict[int, Row] = {}
        for place in places:
            values = found.row(place)
            if values is None or place.is_free or values[1] in rows:
                continue
            try:
                check_event(values[1:])
            except IntegrityError:
                continue
            rows[values[1]] = values[1:]
        self._rows = [rows[key] for key in sorted(rows)]

    def __len__(self) -> int:
        return len(self._rows)

    def lost(self, there: set[str]) -> list[str]:
        """Ids of artifacts that were made and not deleted, as far as events are left, besides those that are there."""
        of = {
            kind: {row[_ARTIFACT] for row in self._rows if row[_KIND] == kind} for kind in ("create", *_GONE)
        }
        return sorted(of["create"].difference(there, *(of[kind] for kind in _GONE)) - {None})

    def add(self, new: SessionImport, told: Sequence[SalvagedArtifact], now_us: int) -> None:
        """Store them, and behind them one for each artifact that lacks something."""
        for at in range(0, len(self._rows), _ROWS):
            new.add_events(self._rows[at : at + _ROWS])
        after = max((row[0] for row in self._rows), default=0)
        for number, each in enumerate((each for each in told if not each.complete), 1):
            detail = {
                "missing": [[gap.start, gap.end, gap.first_line, gap.last_line] for gap in each.missing],
                "parts": {part.id: [part.range.start, part.range.end] for part in each.parts},
            }
            new.add_events(
                [(after + number, now_us, "salvage", each.id, "library", None, json.dumps(detail), None)]
            )
