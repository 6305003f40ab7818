"""Prometheus: metrics of ``prometheus_client``, one for each instrument, which events are counted in.

They stand in a registry of their own, which is one collector of the caller's: so all of them are registered or none, and the
samples ``_created``, which double the number of series, are left out here without being switched off for the whole process.
The metrics' locks are taken only under the collector's lock; so a forked child knows whether one of them was held.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.registry import Collector as BaseCollector

from spillstore.observers import Observer, subscribe
from spillstore_tools.telemetry.instruments import INSTRUMENTS, EventMeter, Instrument, gauges

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client.core import Metric

    from spillstore.observers import EmittedEvent

_UNITS = {"s": "_seconds", "By": "_bytes"}


def metric_name(instrument: Instrument) -> str:
    """The name of an instrument in Prometheus, without ``_total``.

    Example:
        >>> [metric_name(each) for each in INSTRUMENTS if each.name == "spillstore.retrieval.duration"]
        ['spillstore_retrieval_duration_seconds']
    """
    return instrument.name.replace(".", "_") + _UNITS.get(instrument.unit, "")


class Collector(BaseCollector, Observer):
    """Counts events in metrics of Prometheus. It is registered and subscribed when it is made, until ``close``.

    Args:
        registry: where the metrics are registered; None for the default one of ``prometheus_client``.

    Raises:
        ValueError: the registry has these metrics already.
    """

    def __init__(self, registry: CollectorRegistry | None) -> None:
        self._meter = EventMeter()
        self._reset()
        self._registry = REGISTRY if registry is None else registry
        self._registry.register(self)
        self._unsubscribe = subscribe(self)
        _collectors.add(self)

    def _reset(self) -> None:
        self._lock = (
            threading.RLock()
        )  # protects the metrics and what is below; reentrant, for finalizers may emit events
        self._metrics = CollectorRegistry()
        self._parents = {each: _metric(each, self._metrics) for each in INSTRUMENTS}
        self._counting: dict[tuple[Instrument, tuple[str, ...]], Callable[[float], object]] = {}

    def after_fork(self) -> None:
        """In a forked child: count on, or from 0 if another thread of the parent was counting, whose locks nobody releases."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._reset()

    def close(self) -> None:
        """Stop counting, and leave the registry."""
        self._unsubscribe()
        self._registry.unregister(self)

    def on_event(self, event: EmittedEvent) -> None:
        """Count an event."""
        measurements = self._meter.measure(event)
        with self._lock:
            for instrument, value, labels in measurements:
                count = self._counting.get((instrument, labels))
                if count is None:
                    parent = self._parents[instrument]
                    child = parent.labels(*labels) if labels else parent
                    count = child.observe if instrument.kind == "histogram" else child.inc
                    self._counting[instrument, labels] = count
                count(value)

    def describe(self) -> list[Metric]:
        """The metrics without samples, for a registry to find names that occur twice."""
        return [metric for parent in self._parents.values() for metric in parent.describe()]

    def collect(self) -> list[Metric]:
        """The metrics with their samples."""
        now = gauges()  # before the lock is taken, for it takes locks of sessions
        with self._lock:
            for instrument, value in now.items():
                self._parents[instrument].set(value)
            metrics = list(self._metrics.collect())
        for metric in metrics:
            metric.samples = [each for each in metric.samples if not each.name.endswith("_created")]
        return metrics


def _metric(instrument: Instrument, registry: CollectorRegistry) -> Any:
    name, meaning, labels = metric_name(instrument), instrument.meaning, instrument.attributes
    if instrument.kind == "histogram":
        return Histogram(name, meaning, labels, registry=registry, buckets=instrument.buckets)
    return (Counter if instrument.kind == "counter" else Gauge)(name, meaning, labels, registry=registry)


_collectors: weakref.WeakSet[Collector] = weakref.WeakSet()


def _after_fork() -> None:
    for collector in list(_collectors):
        collector.after_fork()


os.register_at_fork(after_in_child=_after_fork)
