"""What audit logs add up to, in the text format of Prometheus: for commands that live too short to be scraped.

All are gauges. Events are rotated away and sessions are deleted, so a sum may fall; a counter that falls is taken for one
that began anew, and its rate would jump by all that is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector as BaseCollector

from spillstore_tools.telemetry.instruments import MOST_TOOLS, Names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spillstore_tools.telemetry.statistics import Statistics

PREFIX = "spillstore_recorded_"
TOOLS = {  # of ``ToolStatistics``
    "calls": ("outputs", "outputs that were shown, whole or in part, or refused"),
    "truncated": ("outputs_truncated", "of these, those that were not shown whole"),
    "received": ("output_received_bytes", "bytes of all of them"),
    "shown": ("output_shown", "characters that were shown of them"),
    "artifacts": ("artifacts", "artifacts that are stored"),
    "size": ("artifact_size_bytes", "their bytes"),
    "stored_size": ("artifact_stored_bytes", "what these take, compressed"),
    "reads": ("artifact_reads", "reads, searches and the like of them"),
    "never_read": ("artifacts_never_read", "artifacts of which there was none"),
}
RETRIEVALS = {  # of ``Retrieval``
    "calls": ("retrievals", "reads, searches and the like"),
    "failed": ("retrievals_failed", "those that had no answer"),
    "size": ("retrieval_returned_bytes", "bytes that the others gave"),
}
DURATION = ("retrieval_duration_seconds", "how long they took: the median and the 95th percentile")
_QUANTILES = {"p50_ms": "0.5", "p95_ms": "0.95"}
COUNTS = {  # of ``Statistics``, by one label
    "limits": ("limits", "limit", "limits that were met"),
    "redactions": ("redactions", "kind", "secrets that were removed"),
}
TOTALS = {  # of ``Statistics``
    "sessions": ("sessions", "sessions that were added up"),
    "created": ("artifacts_created", "artifacts whose creation is recorded"),
    "denied": ("denials", "ids that were refused"),
    "damaged": ("integrity_failures", "reads that met damage"),
    "evicted": ("evictions", "artifacts that had to make room"),
}


class _Recorded(BaseCollector):
    def __init__(self, families: list[GaugeMetricFamily]) -> None:
        self._families = families

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from self._families


def exposition(statistics: Statistics) -> str:
    """The text. Tools beyond the hundred that printed most are one, ``other``."""
    registry = CollectorRegistry()
    registry.register(_Recorded(_families(statistics)))
    return generate_latest(registry).decode()


def _families(statistics: Statistics) -> list[GaugeMetricFamily]:
    tools = sorted(statistics.tools.items(), key=lambda item: -item[1].received)
    names = Names(MOST_TOOLS)
    rows: list[tuple[str, Mapping[str, float]]] = [(names(name), tool.as_dict()) for name, tool in tools]
    kinds = {kind: each.as_dict() for kind, each in sorted(statistics.retrievals.items())}
    families = [
        _family(name, meaning, ("tool",), _sums((tool, numbers[field]) for tool, numbers in rows))
        for field, (name, meaning) in TOOLS.items()
    ]
    families += [
        _family(name, meaning, ("kind",), {(kind,): numbers[field] for kind, numbers in kinds.items()})
        for field, (name, meaning) in RETRIEVALS.items()
    ]
    times: dict[tuple[str, ...], float] = {
        (kind, quantile): numbers[field] / 1000
        for kind, numbers in kinds.items()
        for field, quantile in _QUANTILES.items()
        if numbers[field] is not None
    }
    families.append(_family(*DURATION, ("kind", "quantile"), times))
    for field, (name, label, meaning) in COUNTS.items():
        words = Names(MOST_TOOLS)
        counted = getattr(statistics, field).most_common()
        families.append(_family(name, meaning, (label,), _sums((words(word), n) for word, n in counted)))
    families += [
        _family(name, meaning, (), {(): getattr(statistics, field)})
        for field, (name, meaning) in TOTALS.items()
    ]
    return families


def _sums(rows: Iterator[tuple[str, float]]) -> dict[tuple[str, ...], float]:
    """The rows with the same name added up."""
    found: dict[tuple[str, ...], float] = {}
    for name, value in rows:
        found[name,] = found.get((name,), 0) + value
    return found


def _family(
    name: str, meaning: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(PREFIX + name, meaning, labels=labels)
    for label, value in values.items():
        family.add_metric(label, value)
    return family
