"""What the store returns: plain, frozen values, each imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.info.choices import Holes, Newline, State, Stream
from spillstore.runtime.lazy_imports import importing

if TYPE_CHECKING:
    from spillstore.info.artifacts import ArtifactInfo, HoleInfo, StreamInfo, artifact_info
    from spillstore.info.checks import CheckReport, CopyReport
    from spillstore.info.collected import CollectReport, Fate
    from spillstore.info.events import Event, event_of
    from spillstore.info.exports import Export, Verification
    from spillstore.info.pages import Page
    from spillstore.info.places import Origin, Position, Segment
    from spillstore.info.queries import BadLine, QueryMatch, QueryResult, json_text
    from spillstore.info.salvaged import MissingRange, SalvagedArtifact, SalvagedPart, SalvageReport
    from spillstore.info.searches import Cleaner, Match, SearchResult
    from spillstore.info.servers import Upgrade
    from spillstore.info.sessions import SessionInfo

__all__ = [
    "ArtifactInfo",
    "BadLine",
    "CheckReport",
    "Cleaner",
    "CollectReport",
    "CopyReport",
    "Event",
    "Export",
    "Fate",
    "HoleInfo",
    "Holes",
    "Match",
    "MissingRange",
    "Newline",
    "Origin",
    "Page",
    "Position",
    "QueryMatch",
    "QueryResult",
    "SalvageReport",
    "SalvagedArtifact",
    "SalvagedPart",
    "SearchResult",
    "Segment",
    "SessionInfo",
    "State",
    "Stream",
    "StreamInfo",
    "Upgrade",
    "Verification",
    "artifact_info",
    "event_of",
    "json_text",
]

__getattr__ = importing(
    __name__,
    {
        "artifacts": ("StreamInfo", "HoleInfo", "ArtifactInfo", "artifact_info"),
        "places": ("Position", "Segment", "Origin"),
        "searches": ("Cleaner", "Match", "SearchResult"),
        "queries": ("QueryMatch", "json_text", "BadLine", "QueryResult"),
        "exports": ("Verification", "Export"),
        "sessions": ("SessionInfo",),
        "collected": ("Fate", "CollectReport"),
        "checks": ("CopyReport", "CheckReport"),
        "salvaged": ("MissingRange", "SalvagedPart", "SalvagedArtifact", "SalvageReport"),
        "events": ("Event", "event_of"),
        "pages": ("Page",),
        "servers": ("Upgrade",),
    },
)
