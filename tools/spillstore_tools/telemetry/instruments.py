"""What is measured: a table of instruments, and what each event adds to them.

Names are OpenTelemetry's; Prometheus has them as its translation makes them (``_total``, ``_bytes``, ``_seconds``). An
attribute ``tool`` is ``spillstore.tool`` there and the label ``tool`` here. Attributes have few values: words of ours, and
names that callers choose, of which so many are told apart as ``Names`` allows.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from spillstore.events import catalogue
from spillstore_tools.output.output_events import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spillstore.observers import EmittedEvent

OTHER = "other"
MOST_TOOLS = 100
_MOST_WORDS = 50
_LONGEST = 100
_HIDDEN = re.compile(r"hidden:[\w-]{11}", re.ASCII)
_QUICK = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)
_SLOW = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0)
_SIZES = tuple(4.0**power for power in range(5, 16))  # 1 KiB to 1 GiB

Kind = Literal["counter", "histogram", "gauge"]


@dataclasses.dataclass(
    frozen=True, slots=True, eq=False
)  # the same if it is the same object, which is fast to look up
class Instrument:
    """Something that is measured.

    Attributes:
        name: OpenTelemetry's.
        kind: ``counter``, ``histogram`` or ``gauge``.
        unit: as UCUM has it: ``s``, ``By``, ``{output}``.
        attributes: by which it is told apart.
        meaning: what it says.
        buckets: upper bounds, of a histogram.
    """

    name: str
    kind: Kind
    unit: str
    attributes: tuple[str, ...]
    meaning: str
    buckets: tuple[float, ...] = ()


OUTPUTS = Instrument(
    "spillstore.outputs", "counter", "{output}", ("tool", "outcome"), "outputs that were made a text"
)
RECEIVED = Instrument("spillstore.output.received", "counter", "By", ("tool",), "bytes that tools printed")
SHOWN = Instrument(
    "spillstore.output.shown", "counter", "{character}", ("tool",), "characters of the texts made of them"
)
OUTPUT_DURATION = Instrument(
    "spillstore.output.duration",
    "histogram",
    "s",
    ("tool", "outcome"),
    "how long making a text took; of commands, from their end",
    _QUICK,
)
ARTIFACTS = Instrument("spillstore.artifacts", "counter", "{artifact}", ("tool",), "artifacts created")
ARTIFACT_SIZE = Instrument(
    "spillstore.artifact.size",
    "histogram",
    "By",
    ("tool", "state"),
    "bytes of artifacts that have ended",
    _SIZES,
)
ARTIFACT_STORED = Instrument(
    "spillstore.artifact.stored", "counter", "By", ("tool",), "what these take, compressed"
)
RETRIEVALS = Instrument(
    "spillstore.retrievals", "counter", "{call}", ("kind", "tool", "outcome"), "reads, searches and the like"
)
RETRIEVAL_DURATION = Instrument(
    "spillstore.retrieval.duration",
    "histogram",
    "s",
    ("kind", "tool", "outcome"),
    "how long each took; nothing of iterators, whose time is their caller's",
    _QUICK,
)
RETURNED = Instrument(
    "spillstore.retrieval.returned", "counter", "By", ("kind", "tool"), "bytes of the ranges that they gave"
)
COMMAND_DURATION = Instrument(
    "spillstore.command.duration", "histogram", "s", ("tool", "outcome"), "how long commands ran", _SLOW
)
COMMIT_DURATION = Instrument(
    "spillstore.commit.duration",
    "histogram",
    "s",
    (),
    "transactions of writers, waiting for the lock included",
    _QUICK,
)
LIMITS = Instrument("spillstore.limits", "counter", "{limit}", ("limit", "tool"), "limits that were met")
REDACTIONS = Instrument(
    "spillstore.redactions", "counter", "{secret}", ("kind", "tool"), "secrets that were removed"
)
DENIALS = Instrument("spillstore.denials", "counter", "{id}", ("reason",), "ids that were refused")
EVICTIONS = Instrument("spillstore.evictions", "counter", "{artifact}", (), "artifacts that had to make room")
FAILURES = Instrument(
    "spillstore.storage.failures",
    "counter",
    "{artifact}",
    ("error",),
    "artifacts that could not be stored any further",
)
DAMAGE = Instrument("spillstore.integrity.failures", "counter", "{read}", (), "reads that met damage")
LOST = Instrument("spillstore.audit.lost", "counter", "{event}", (), "events that the audit log lacks")
SESSIONS_OPEN = Instrument(
    "spillstore.session.open", "gauge", "{session}", (), "sessions that this process holds"
)
ARTIFACTS_OPEN = Instrument(
    "spillstore.artifact.open", "gauge", "{artifact}", (), "artifacts that it is writing"
)
QUEUED = Instrument("spillstore.queue.size", "gauge", "By", (), "bytes that wait to be compressed")

INSTRUMENTS: tuple[Instrument, ...] = (
    OUTPUTS, RECEIVED, SHOWN, OUTPUT_DURATION, ARTIFACTS, ARTIFACT_SIZE, ARTIFACT_STORED, RETRIEVALS, RETRIEVAL_DURATION,
    RETURNED, COMMAND_DURATION, COMMIT_DURATION, LIMITS, REDACTIONS, DENIALS, EVICTIONS, FAILURES, DAMAGE, LOST,
    SESSIONS_OPEN, ARTIFACTS_OPEN, QUEUED,
)  # fmt: skip


class Measurement(NamedTuple):
    """What is to be added to, or recorded by, an instrument."""

    instrument: Instrument
    value: float
    values: tuple[str, ...]  # of its attributes


class Names:
    """Tells so many names apart, whoever invents them; the rest is ``other``. Safe from any thread.

    Example:
        >>> names = Names(2)
        >>> [names(name) for name in ("bash", "read_file", "x", "bash")]
        ['bash', 'read_file', 'other', 'bash']
        >>> names("hidden:AbCdEfGhIjK"), Names(1)("x" * 1000) == "x" * 100
        ('hidden', True)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, str] = {}

    def __call__(self, name: object) -> str:
        """The name that stands for ``name``."""
        if not isinstance(name, str):
            return ""
        name = name[:_LONGEST]
        known = self._known.get(name)
        if known is not None:
            return known
        if _HIDDEN.fullmatch(name):
            return HIDDEN
        # Two threads may both find room for one: a hundred and one names do no harm.
        if len(self._known) >= self._most:
            return OTHER
        self._known[name] = name.encode(errors="replace").decode()
        return self._known[name]


class Measuring:
    """Makes measurements of events; each of its users has one, for the names that it has seen."""

    def __init__(self) -> None:
        self._tool = Names(MOST_TOOLS)
        self._word = Names(_MOST_WORDS)

    def measure(self, event: EmittedEvent) -> Iterator[Measurement]:
        """What a event adds."""
        kind, detail = event.kind, event.detail
        if kind in catalogue.RETRIEVALS:
            yield from self._retrieval(event)
        elif kind == "output":
            yield from self._output(event)
        elif kind in {"seal", "interrupt"}:
            tool = self._tool(detail.get("tool"))
            yield Measurement(ARTIFACT_SIZE, _number(detail, "size"), (tool, _STATES[kind]))
            yield Measurement(ARTIFACT_STORED, _number(detail, "stored_size"), (tool,))
        elif kind == "redaction":
            yield from self._redactions(detail.get("counts"), self._tool(detail.get("tool")))
        elif kind in _ONE:
            instrument, names = _ONE[kind]
            values = tuple(
                (self._tool if attribute == "tool" else self._word)(detail.get(name))
                for attribute, name in zip(instrument.attributes, names, strict=True)
            )
            if instrument.kind == "counter":
                yield Measurement(instrument, _number(detail, "events", 1) if kind == "lost" else 1, values)
            elif event.seconds is not None:
                yield Measurement(instrument, event.seconds, values)

    def attributes(self, event: EmittedEvent) -> dict[str, str]:
        """What a span tells of a event, besides numbers: its tool and its outcome."""
        detail = event.detail
        told = {"tool": self._tool(detail.get("tool")), "outcome": self._word(detail.get("outcome"))}
        return {name: value for name, value in told.items() if value}

    def _retrieval(self, event: EmittedEvent) -> Iterator[Measurement]:
        detail = event.detail
        tool, outcome = self._tool(detail.get("tool")), self._word(detail.get("outcome"))
        yield Measurement(RETRIEVALS, 1, (event.kind, tool, outcome))
        if event.seconds is not None:
            yield Measurement(RETRIEVAL_DURATION, event.seconds, (event.kind, tool, outcome))
        if size := _number(detail, "bytes"):
            yield Measurement(RETURNED, size, (event.kind, tool))

    def _output(self, event: EmittedEvent) -> Iterator[Measurement]:
        detail = event.detail
        tool, outcome = self._tool(detail.get("tool")), self._word(detail.get("outcome"))
        yield Measurement(OUTPUTS, 1, (tool, outcome))
        yield Measurement(RECEIVED, _number(detail, "received"), (tool,))
        yield Measurement(SHOWN, _number(detail, "shown"), (tool,))
        if event.seconds is not None:
            yield Measurement(OUTPUT_DURATION, event.seconds, (tool, outcome))

    def _redactions(self, counts: object, tool: str) -> Iterator[Measurement]:
        if not isinstance(counts, dict):
            return
        for kind in counts:
            yield Measurement(REDACTIONS, _number(counts, kind), (self._word(kind), tool))


_STATES = {"seal": "sealed", "interrupt": "interrupted"}
# Kinds that are one measurement, and the names that the attributes have in the detail.
_ONE: dict[str, tuple[Instrument, tuple[str, ...]]] = {
    "create": (ARTIFACTS, ("source",)),
    "command": (COMMAND_DURATION, ("tool", "outcome")),
    "commit": (COMMIT_DURATION, ()),
    "limit": (LIMITS, ("limit", "tool")),
    "denied": (DENIALS, ("why",)),
    "evict": (EVICTIONS, ()),
    "failure": (FAILURES, ("error",)),
    "integrity": (DAMAGE, ()),
    "lost": (LOST, ()),
}


def gauges() -> dict[Instrument, float]:
    """What the gauges say now."""
    from spillstore.ingest.session_core import held  # noqa: PLC0415  # only when somebody looks

    now = held()
    return {SESSIONS_OPEN: now.sessions, ARTIFACTS_OPEN: now.artifacts, QUEUED: now.queued}


def _number(detail: Mapping[str, object], name: str, otherwise: float = 0) -> float:
    """A number that a event tells; a caller of ``Session.note`` may have put anything there."""
    value = detail.get(name, otherwise)
    return value if isinstance(value, (int, float)) and value >= 0 else 0
