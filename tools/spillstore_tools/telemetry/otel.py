"""OpenTelemetry, through its API alone; the application's SDK decides where metrics and spans go.

A command and an output are spans while they go on, in the context of the work, so that what is done in it is a child of
them whatever thread does it. Reads and commits become spans when they have ended: no other span begins within them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from opentelemetry import context as contexts
from opentelemetry import metrics, trace
from opentelemetry.metrics import Observation
from opentelemetry.trace import Status, StatusCode

from spillstore import __version__
from spillstore.events.catalogue import READS
from spillstore.observers import Observer, subscribe
from spillstore_tools.telemetry.instruments import INSTRUMENTS, EventMeter, Instrument, gauges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from opentelemetry.metrics import CallbackOptions, MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from spillstore.observers import EmittedEvent

SCOPE = "spillstore"
_LIVE = frozenset({"command", "output"})
SPANS = frozenset({*_LIVE, *READS, "commit"})  # kinds of events that are spans
NUMBERS = ("bytes", "received", "shown", "exit_code", "artifacts", "stored_size")
_GOOD = frozenset({"ok", "whole", "stored", "truncated", "dropped", "refused", "error", "signal", "ended"})


class OpenTelemetryObserver(Observer):
    """Records events as metrics and spans. ``telemetry.opentelemetry`` describes the arguments."""

    def __init__(self, meter_provider: MeterProvider | None, tracer_provider: TracerProvider | None) -> None:
        self._meter = EventMeter()
        self._tracer = trace.get_tracer(SCOPE, __version__, tracer_provider)
        self._stopped = False
        self._attributes: dict[
            tuple[Instrument, tuple[str, ...]], dict[str, str]
        ] = {}  # as few as the labels
        self._record: dict[Instrument, Callable[[float, dict[str, str]], object]] = {}
        meter = metrics.get_meter(SCOPE, __version__, meter_provider)
        for each in INSTRUMENTS:
            if each.kind == "counter":
                self._record[each] = meter.create_counter(each.name, each.unit, each.meaning).add
            elif each.kind == "histogram":
                self._record[each] = meter.create_histogram(
                    each.name, each.unit, each.meaning, explicit_bucket_boundaries_advisory=each.buckets
                ).record
            else:
                meter.create_observable_gauge(each.name, [self._gauge(each)], each.unit, each.meaning)

    def start(self) -> Callable[[], None]:
        """Subscribe to events; returns a function that ends it."""
        unsubscribe = subscribe(self)

        def stop() -> None:
            self._stopped = True
            unsubscribe()

        return stop

    def _gauge(self, instrument: Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
        return lambda _: [] if self._stopped else [Observation(gauges()[instrument])]

    def on_event(self, event: EmittedEvent) -> None:
        """Record an event, and make it a span if it took time."""
        for instrument, value, labels in self._meter.measure(event):
            attributes = self._attributes.get((instrument, labels))
            if attributes is None:
                names = (f"{SCOPE}.{name}" for name in instrument.attributes)
                attributes = self._attributes[instrument, labels] = dict(zip(names, labels, strict=True))
            self._record[instrument](value, attributes)
        if event.kind in SPANS and event.kind not in _LIVE and event.seconds is not None:
            end = time.time_ns()
            start = end - round(event.seconds * 1e9)
            span = self._tracer.start_span(f"{SCOPE}.{event.kind}", start_time=start)
            self._describe(span, event)
            span.end(end)

    def on_begin(self, kind: str, detail: Mapping[str, object]) -> Callable[[EmittedEvent], object]:  # noqa: ARG002  # described at the end
        """Begin a span, which is the parent of what is done in this context."""
        span = self._tracer.start_span(f"{SCOPE}.{kind}")
        contexts.attach(trace.set_span_in_context(span))  # never detached: the context ends with the work

        def end(event: EmittedEvent) -> None:
            self._describe(span, event)
            span.end()

        return end

    def _describe(self, span: Span, event: EmittedEvent) -> None:
        if not span.is_recording():
            return
        for name, label in self._meter.span_attributes(event).items():
            span.set_attribute(f"{SCOPE}.{name}", label)
        for name in NUMBERS:
            number = event.detail.get(name)
            if isinstance(number, (int, float)):
                span.set_attribute(f"{SCOPE}.{name}", number)
        if event.detail.get("outcome", "ok") not in _GOOD:
            span.set_status(Status(StatusCode.ERROR))
