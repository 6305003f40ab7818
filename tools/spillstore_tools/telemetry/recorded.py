"""The sums of audit logs in the text format of Prometheus, for commands that are too short-lived to be scraped.

All of them are gauges: events are rotated away and sessions are deleted, so a sum may fall, and Prometheus takes a counter
that falls for one that was reset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from spillstore_tools.telemetry.instruments import MAX_TOOLS, LabelLimit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore_tools.telemetry.statistics import Statistics

_Value = tuple[tuple[str, ...], float]  # labels and number
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


def exposition(statistics: Statistics) -> str:
    """The text. Tools beyond the hundred that printed most are added up as ``other``."""
    registry = CollectorRegistry()

    def gauge(name: str, meaning: str, labels: tuple[str, ...], values: Iterable[_Value]) -> None:
        found = Gauge(PREFIX + name, meaning, labels, registry=registry)
        for words, value in values:
            (found.labels(*words) if words else found).inc(value)

    label = LabelLimit(MAX_TOOLS)
    tools = sorted(statistics.tools.items(), key=lambda item: -item[1].received)
    for field, (name, meaning) in TOOLS.items():
        gauge(name, meaning, ("tool",), (((label(tool),), getattr(each, field)) for tool, each in tools))
    kinds = {kind: each.as_dict() for kind, each in sorted(statistics.retrievals.items())}
    for field, (name, meaning) in RETRIEVALS.items():
        gauge(name, meaning, ("kind",), (((kind,), numbers[field]) for kind, numbers in kinds.items()))
    gauge(*DURATION, ("kind", "quantile"), _durations(kinds))
    for field, (name, attribute, meaning) in COUNTS.items():
        word_label, counts = LabelLimit(MAX_TOOLS), getattr(statistics, field).most_common()
        gauge(name, meaning, (attribute,), [((word_label(word),), count) for word, count in counts])
    for field, (name, meaning) in TOTALS.items():
        gauge(name, meaning, (), [((), getattr(statistics, field))])
    return generate_latest(registry).decode()


def _durations(kinds: dict[str, dict[str, Any]]) -> Iterator[_Value]:
    for kind, numbers in kinds.items():
        for field, quantile in _QUANTILES.items():
            if numbers[field] is not None:
                yield (kind, quantile), numbers[field] / 1000
