"""OpenTelemetry, through its API alone: who installs an SDK decides where it all goes.

A command and an output are spans while they go on, in the context of the work, so that what is done in it is a child of
them whatever thread does it. Reads and commits are spans after the fact: nothing of ours begins within them.
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
from spillstore_tools.telemetry.instruments import INSTRUMENTS, Instrument, Measuring, gauges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from opentelemetry.metrics import CallbackOptions, Counter, Histogram, MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from spillstore.observers import EmittedEvent

SCOPE = "spillstore"
_LIVE = frozenset({"command", "output"})
SPANS = frozenset({*_LIVE, *READS, "commit"})  # kinds that are spans
NUMBERS = ("bytes", "received", "shown", "exit_code", "artifacts", "stored_size")
_GOOD = frozenset({"ok", "whole", "stored", "truncated", "dropped", "refused", "error", "signal", "ended"})


class Telling(Observer):
    """Tells what happens. See ``telemetry.opentelemetry`` for the arguments."""

    def __init__(self, meter_provider: MeterProvider | None, tracer_provider: TracerProvider | None) -> None:
        self._measuring = Measuring()
        self._tracer = trace.get_tracer(SCOPE, __version__, tracer_provider)
        meter = metrics.get_meter(SCOPE, __version__, meter_provider)
        self._stopped = False
        self._attributes: dict[tuple[Instrument, tuple[str, ...]], dict[str, str]] = {}  # as few as the names
        self._adding: dict[Instrument, Counter] = {}
        self._recording: dict[Instrument, Histogram] = {}
        for each in INSTRUMENTS:
            if each.kind == "counter":
                self._adding[each] = meter.create_counter(each.name, each.unit, each.meaning)
            elif each.kind == "histogram":
                self._recording[each] = meter.create_histogram(
                    each.name, each.unit, each.meaning, explicit_bucket_boundaries_advisory=each.buckets
                )
            else:
                meter.create_observable_gauge(each.name, [self._gauge(each)], each.unit, each.meaning)

    def start(self) -> Callable[[], None]:
        """Begin; returns what ends it."""
        stop = subscribe(self)

        def end() -> None:
            self._stopped = True
            stop()

        return end

    def _gauge(self, instrument: Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def look(_: CallbackOptions) -> Iterable[Observation]:
            return [] if self._stopped else [Observation(gauges()[instrument])]

        return look

    def on_event(self, event: EmittedEvent) -> None:
        """Measure it, and make it a span if it took time."""
        for instrument, value, values in self._measuring.measure(event):
            attributes = self._attributes.get((instrument, values))
            if attributes is None:
                names = (f"{SCOPE}.{name}" for name in instrument.attributes)
                attributes = dict(zip(names, values, strict=True))
                self._attributes[instrument, values] = attributes
            if instrument.kind == "counter":
                self._adding[instrument].add(value, attributes)
            else:
                self._recording[instrument].record(value, attributes)
        if event.kind in SPANS and event.kind not in _LIVE and event.seconds is not None:
            end = time.time_ns()
            start = end - round(event.seconds * 1e9)
            span = self._tracer.start_span(f"{SCOPE}.{event.kind}", start_time=start)
            self._tell(span, event)
            span.end(end)

    def on_begin(self, kind: str, detail: Mapping[str, object]) -> Callable[[EmittedEvent], object]:  # noqa: ARG002  # told at the end
        """Begin a span, of which what is done in this context is a part."""
        span = self._tracer.start_span(f"{SCOPE}.{kind}")
        contexts.attach(trace.set_span_in_context(span))  # never detached: the context ends with the work

        def ended(event: EmittedEvent) -> None:
            self._tell(span, event)
            span.end()

        return ended

    def _tell(self, span: Span, event: EmittedEvent) -> None:
        if not span.is_recording():
            return
        for name, word in self._measuring.attributes(event).items():
            span.set_attribute(f"{SCOPE}.{name}", word)
        for name in NUMBERS:
            number = event.detail.get(name)
            if isinstance(number, (int, float)):
                span.set_attribute(f"{SCOPE}.{name}", number)
        outcome = event.detail.get("outcome", "ok")
        if outcome not in _GOOD:
            span.set_status(Status(StatusCode.ERROR))
