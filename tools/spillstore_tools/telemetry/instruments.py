"""The table of what is measured: for each instrument the events that it counts, and what each event adds to it.

Prometheus and OpenTelemetry both measure by this table. Names are those of OpenTelemetry; Prometheus has ``_`` for ``.`` and
the suffixes ``_total``, ``_bytes`` and ``_seconds``. An attribute ``tool`` is ``spillstore.tool`` in OpenTelemetry and the label
``tool`` in Prometheus. Names of tools come from callers, so ``LabelLimit`` bounds how many values an attribute has.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from spillstore.events import catalogue
from spillstore_tools.output.output_events import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.observers import EmittedEvent

OTHER = "other"
MAX_TOOLS = 100
_MAX_WORDS = 50
_MAX_LENGTH = 100
_HIDDEN = re.compile(r"hidden:[\w-]{11}", re.ASCII)
# fmt: off
_QUICK = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
# fmt: on
_SLOW = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0)
_SIZES = tuple(4.0**power for power in range(5, 16))  # 1 KiB to 1 GiB

Kind = Literal["counter", "histogram", "gauge"]
ONE: Final = "(one)"
SECONDS: Final = "(seconds)"
KIND: Final = "(kind)"
KEY: Final = "(key)"
_STATES = {"seal": "sealed", "interrupt": "interrupted"}  # the word for a kind of event, where it has another


@dataclasses.dataclass(frozen=True, slots=True, eq=False)  # compared and hashed by identity, which is fast
class Instrument:
    """One metric.

    Attributes:
        name: the name in OpenTelemetry.
        kind: ``counter``, ``histogram`` or ``gauge``.
        unit: in UCUM: ``s``, ``By``, ``{output}``.
        attributes: names of its attributes.
        meaning: the description.
        events: kinds of events that it measures; empty for a gauge.
        value: the number that an event adds: ``ONE``, ``SECONDS`` (how long it took) or the name of a field of its detail. A
            field that is a dictionary adds each of its numbers. For a gauge the name of a field of ``count_open()``.
        fields: the fields of the detail that attributes are read from, where they have another name; ``KIND`` is the event's
            kind, ``KEY`` the key of a number in a dictionary.
        buckets: upper bounds of a histogram.
    """

    name: str
    kind: Kind
    unit: str
    attributes: tuple[str, ...]
    meaning: str
    events: tuple[str, ...] = ()
    value: str = ONE
    fields: dict[str, str] = dataclasses.field(default_factory=dict)
    buckets: tuple[float, ...] = ()


_READ = tuple(sorted(catalogue.RETRIEVALS))
_BY_KIND = {"kind": KIND}
_ENDED = ("seal", "interrupt")
# fmt: off
INSTRUMENTS: Final[tuple[Instrument, ...]] = (
    Instrument("spillstore.outputs", "counter", "{output}", ("tool", "outcome"), "outputs that were made a text", ("output",)),
    Instrument("spillstore.output.received", "counter", "By", ("tool",), "bytes that tools printed", ("output",), "received"),
    Instrument("spillstore.output.shown", "counter", "{character}", ("tool",), "characters that were shown of them",
               ("output", "news"), "shown"),
    Instrument("spillstore.output.duration", "histogram", "s", ("tool", "outcome"),
               "how long making a text took; of commands, from their end", ("output",), SECONDS, buckets=_QUICK),
    Instrument("spillstore.artifacts", "counter", "{artifact}", ("tool",), "artifacts created", ("create",),
               fields={"tool": "source"}),
    Instrument("spillstore.artifact.size", "histogram", "By", ("tool", "state"), "bytes of artifacts that have ended", _ENDED,
               "size", {"state": KIND}, _SIZES),
    Instrument("spillstore.artifact.stored", "counter", "By", ("tool",), "what these take, compressed", _ENDED, "stored_size"),
    Instrument("spillstore.retrievals", "counter", "{call}", ("kind", "tool", "outcome"), "reads, searches and the like", _READ,
               ONE, _BY_KIND),
    Instrument("spillstore.retrieval.duration", "histogram", "s", ("kind", "tool", "outcome"),
               "how long each took; nothing of iterators, whose time is their caller's", _READ, SECONDS, _BY_KIND, _QUICK),
    Instrument("spillstore.retrieval.returned", "counter", "By", ("kind", "tool"), "bytes of the ranges that they gave", _READ,
               "bytes", _BY_KIND),
    Instrument("spillstore.command.duration", "histogram", "s", ("tool", "outcome"), "how long commands ran", ("command",),
               SECONDS, buckets=_SLOW),
    Instrument("spillstore.commit.duration", "histogram", "s", (), "transactions of writers, waiting for the lock included",
               ("commit",), SECONDS, buckets=_QUICK),
    Instrument("spillstore.limits", "counter", "{limit}", ("limit", "tool"), "limits that were met", ("limit",)),
    Instrument("spillstore.redactions", "counter", "{secret}", ("kind", "tool"), "secrets that were removed", ("redaction",),
               "counts", {"kind": KEY}),
    Instrument("spillstore.denials", "counter", "{id}", ("reason",), "ids that were refused", ("denied",),
               fields={"reason": "why"}),
    Instrument("spillstore.evictions", "counter", "{artifact}", (), "artifacts that had to make room", ("evict",)),
    Instrument("spillstore.storage.failures", "counter", "{artifact}", ("error",),
               "artifacts that could not be stored any further", ("failure",)),
    Instrument("spillstore.integrity.failures", "counter", "{read}", (), "reads that met damage", ("integrity",)),
    Instrument("spillstore.audit.lost", "counter", "{event}", (), "events that the audit log lacks", ("lost",), "events"),
    Instrument("spillstore.session.open", "gauge", "{session}", (), "sessions that this process holds", value="sessions"),
    Instrument("spillstore.artifact.open", "gauge", "{artifact}", (), "artifacts that it is writing", value="artifacts"),
    Instrument("spillstore.queue.size", "gauge", "By", (), "bytes that wait to be compressed", value="queued"),
)
# fmt: on
_BY_EVENT = {
    kind: tuple(each for each in INSTRUMENTS if kind in each.events)
    for kind in {kind for each in INSTRUMENTS for kind in each.events}
}
_FIELDS = {  # of the attributes of all instruments that measure a kind
    kind: {name: each.fields.get(name, name) for each in instruments for name in each.attributes}
    for kind, instruments in _BY_EVENT.items()
}


class Measurement(NamedTuple):
    """A number for an instrument.

    Attributes:
        instrument: the instrument that counts or records it.
        value: the number.
        labels: values of the instrument's attributes, in their order.
    """

    instrument: Instrument
    value: float
    labels: tuple[str, ...]


class LabelLimit:
    """Keeps a limited number of names as they are; all others become ``other``. Safe from any thread.

    Example:
        >>> label = LabelLimit(2)
        >>> [label(name) for name in ("bash", "read_file", "x", "bash")]
        ['bash', 'read_file', 'other', 'bash']
        >>> label("hidden:AbCdEfGhIjK"), LabelLimit(1)("x" * 1000) == "x" * 100
        ('hidden', True)
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._labels: dict[str, str] = {}

    def __call__(self, name: object) -> str:
        """The label for ``name``; empty for what is no string."""
        if not isinstance(name, str):
            return ""
        name = name[:_MAX_LENGTH]
        label = self._labels.get(name)
        if label is not None:
            return label
        if _HIDDEN.fullmatch(name):
            return HIDDEN
        # Two threads may both find room for one: a hundred and one labels do no harm.
        if len(self._labels) >= self._limit:
            return OTHER
        self._labels[name] = name.encode(errors="replace").decode()
        return self._labels[name]


class EventMeter:
    """Turns events into measurements. Each exporter has its own, since it holds the labels in use."""

    def __init__(self) -> None:
        self._tool = LabelLimit(MAX_TOOLS)
        self._word = LabelLimit(_MAX_WORDS)

    def measure(self, event: EmittedEvent) -> list[Measurement]:
        """The measurements of an event. What is no number, or less than 0, is not measured: callers may note anything."""
        kind, detail, _, _, seconds = event
        if kind not in _BY_EVENT:
            return []
        labels = {}
        for name, field in _FIELDS[kind].items():
            if field is KIND:
                labels[name] = _STATES.get(kind, kind)
            else:
                labels[name] = (self._tool if name == "tool" else self._word)(detail.get(field))
        found = []
        for instrument in _BY_EVENT[kind]:
            source = instrument.value
            value = 1 if source is ONE else seconds if source is SECONDS else detail.get(source)
            if isinstance(value, (int, float)) and value >= 0:
                found.append(
                    Measurement(instrument, value, tuple([labels[n] for n in instrument.attributes]))
                )
            elif isinstance(value, dict):
                found += self._measure_each(instrument, value, labels)
        return found

    def _measure_each(
        self, instrument: Instrument, values: dict[object, object], labels: dict[str, str]
    ) -> Iterator[Measurement]:
        """The numbers of a dictionary; their keys are the attribute that has the field ``KEY``."""
        for key, value in values.items():
            if isinstance(value, (int, float)) and value >= 0:
                found = (
                    self._word(key) if instrument.fields.get(name) is KEY else labels[name]
                    for name in instrument.attributes
                )
                yield Measurement(instrument, value, tuple(found))

    def span_attributes(self, event: EmittedEvent) -> dict[str, str]:
        """The tool and the outcome of an event, where it has them."""
        detail = event.detail
        found = {"tool": self._tool(detail.get("tool")), "outcome": self._word(detail.get("outcome"))}
        return {name: label for name, label in found.items() if label}


def gauges() -> dict[Instrument, float]:
    """The present values of the gauges."""
    from spillstore.ingest.open_sessions import count_open  # noqa: PLC0415  # only when metrics are collected

    now = count_open()
    return {each: getattr(now, each.value) for each in INSTRUMENTS if each.kind == "gauge"}
