"""Prometheus: counts that are kept here and handed to ``prometheus_client`` when it asks.

Its own counters are not used, since each look-up of labels in them takes a lock and a check that ours does not need, and
because the same numbers go to OpenTelemetry by the same table.
"""

from __future__ import annotations

import bisect
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from prometheus_client import REGISTRY
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector as BaseCollector

from spillstore.observers import Observer, subscribe
from spillstore_tools.telemetry.instruments import INSTRUMENTS, Instrument, Measuring, gauges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

    from spillstore.observers import EmittedEvent

_UNITS = {"s": "_seconds", "By": "_bytes"}
_FAMILIES = {
    "counter": CounterMetricFamily,
    "histogram": HistogramMetricFamily,
    "gauge": GaugeMetricFamily,
}


def default() -> CollectorRegistry:
    """The registry of ``prometheus_client``."""
    return REGISTRY


def metric_name(instrument: Instrument) -> str:
    """The name that Prometheus has for an instrument, without ``_total``.

    Example:
        >>> from spillstore_tools.telemetry.instruments import RETRIEVAL_DURATION
        >>> metric_name(RETRIEVAL_DURATION)
        'spillstore_retrieval_duration_seconds'
    """
    return instrument.name.replace(".", "_") + _UNITS.get(instrument.unit, "")


class _Distribution:
    """Values of one histogram."""

    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * (buckets + 1)
        self.total = 0.0


class Collector(BaseCollector, Observer):
    """Counts what happens, and tells Prometheus. Registered and begun when it is made; ``close`` ends both."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._measuring = Measuring()
        self.renew()
        self._sums: dict[tuple[Instrument, tuple[str, ...]], float] = {}
        self._distributions: dict[tuple[Instrument, tuple[str, ...]], _Distribution] = {}
        self._registry = registry
        registry.register(self)
        self._stop = subscribe(self)
        _collectors.add(self)

    def renew(self) -> None:
        """In a forked child: whoever holds the lock may not exist here."""
        self._guard = threading.Lock()  # protects the two dictionaries

    def close(self) -> None:
        """Count no more, and be gone from the registry."""
        self._stop()
        self._registry.unregister(self)

    def on_event(self, event: EmittedEvent) -> None:
        """Count it."""
        for instrument, value, values in self._measuring.measure(event):
            key = (instrument, values)
            with self._guard:
                if instrument.kind == "counter":
                    self._sums[key] = self._sums.get(key, 0) + value
                    continue
                found = self._distributions.get(key)
                if found is None:
                    found = self._distributions[key] = _Distribution(len(instrument.buckets))
                found.counts[bisect.bisect_left(instrument.buckets, value)] += 1
                found.total += value

    def describe(self) -> list[Metric]:
        """All that there may be, so that nothing has to be counted to find two of the same name."""
        return [self._family(instrument) for instrument in INSTRUMENTS]

    def collect(self) -> Iterator[Metric]:
        """What was counted so far."""
        with self._guard:
            sums = dict(self._sums)
            distributions = {
                key: (list(found.counts), found.total) for key, found in self._distributions.items()
            }
        families = {instrument: self._family(instrument) for instrument in INSTRUMENTS}
        for instrument, now in gauges().items():
            families[instrument].add_metric((), now)
        for (instrument, values), total in sums.items():
            families[instrument].add_metric(values, total)
        for (instrument, values), (counts, total) in distributions.items():
            families[instrument].add_metric(values, _cumulative(instrument.buckets, counts), total)
        for instrument, family in families.items():
            if instrument.kind == "counter" and not instrument.attributes and not family.samples:
                family.add_metric((), 0)  # a counter that is not there cannot be alerted on
            yield family

    @staticmethod
    def _family(instrument: Instrument) -> Any:
        make = _FAMILIES[instrument.kind]
        return make(metric_name(instrument), instrument.meaning, labels=instrument.attributes)


def _cumulative(buckets: tuple[float, ...], counts: list[int]) -> list[tuple[str, int]]:
    found = []
    total = 0
    for bound, count in zip((*map(repr, buckets), "+Inf"), counts, strict=True):
        total += count
        found.append((bound, total))
    return found


_collectors: weakref.WeakSet[Collector] = weakref.WeakSet()


def _renew_after_fork() -> None:
    for collector in list(_collectors):
        collector.renew()


os.register_at_fork(after_in_child=_renew_after_fork)
