"""Metrics and traces of what happens in this process: ``opentelemetry``, ``prometheus``.

Both observe the same events (``spillstore.observers``) and measure them by the same table (``instruments``), so a figure
means the same wherever it is read. Nothing of this is imported unless one of them is called. Names of tools come from
callers: the first hundred are told apart, the rest is ``other``. No id, no command, no path and no content is told.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider
    from prometheus_client import CollectorRegistry

    from spillstore_tools.telemetry.collector import Collector
    from spillstore_tools.telemetry.statistics import Statistics

VARIABLE = "SPILLSTORE_OTEL"
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"", "0", "false", "no", "off"})
_asked = False
_asking = threading.Lock()  # protects it


class ExtraMissingError(SpillstoreError):
    """A package is not installed that an extra of ours would bring."""


def opentelemetry(
    *, meter_provider: MeterProvider | None = None, tracer_provider: TracerProvider | None = None
) -> Callable[[], None]:
    """Tell OpenTelemetry what happens: metrics, and spans as children of the caller's.

    Only the API is needed; without an SDK it does nothing, and costs next to nothing.

    Args:
        meter_provider: where instruments are made; None for the global one.
        tracer_provider: where spans are made; likewise.

    Returns:
        What ends it.

    Raises:
        ExtraMissingError: ``opentelemetry-api`` is not installed.
    """
    with _extra("otel", "opentelemetry"):
        from spillstore_tools.telemetry.otel import Telling  # noqa: PLC0415  # only where it is installed

    return Telling(meter_provider, tracer_provider).start()


def prometheus(registry: CollectorRegistry | None = None) -> Collector:
    r"""Count what happens from now on, for Prometheus.

    Args:
        registry: where it is registered; None for the default one of ``prometheus_client``.

    Returns:
        What counts; its ``close`` ends that.

    Raises:
        ExtraMissingError: ``prometheus_client`` is not installed.
        ValueError: the registry has one already.

    Example:
        >>> import tempfile
        >>> from prometheus_client import CollectorRegistry
        >>> from spillstore import Store
        >>> registry = CollectorRegistry()
        >>> collector = prometheus(registry)
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
        ...     _ = session.put("one\n", source="make")
        >>> registry.get_sample_value("spillstore_artifacts_total", {"tool": "make"})
        1
        >>> collector.close()
    """
    with _extra("prometheus", "prometheus_client"):
        from spillstore_tools.telemetry.collector import Collector, default  # noqa: PLC0415  # likewise

    return Collector(default() if registry is None else registry)


def served(address: str, port: int) -> contextlib.AbstractContextManager[str]:
    """A context in which what happens is counted and served over HTTP; gives the URL.

    Args:
        address: one of this machine (``spillstore_tools.telemetry.loopback`` says which are).
        port: 0 for one that is free.

    Raises:
        ExtraMissingError: ``prometheus_client`` is not installed.
        OSError: when it is entered, the port cannot be had.
    """
    with _extra("prometheus", "prometheus_client"):
        from spillstore_tools.telemetry import serving  # noqa: PLC0415  # likewise

    return serving.served(address, port)


def exposition(statistics: Statistics) -> str:
    """What audit logs add up to, in the text format of Prometheus: gauges named ``spillstore_recorded_...``.

    Raises:
        ExtraMissingError: ``prometheus_client`` is not installed.
    """
    with _extra("prometheus", "prometheus_client"):
        from spillstore_tools.telemetry import recorded  # noqa: PLC0415  # likewise

    return recorded.exposition(statistics)


def from_environment() -> None:
    """``opentelemetry``, once a process, where ``SPILLSTORE_OTEL`` says so; for programs of ours. Fails once at most.

    Raises:
        ExtraMissingError: it is not installed.
        SpillstoreError: the variable says neither yes nor no.
    """
    global _asked  # noqa: PLW0603  # once a process
    said = os.environ.get(VARIABLE, "").strip().lower()
    with _asking:
        if _asked or said in _NO:
            return
        _asked = True
    if said not in _YES:
        raise SpillstoreError(f"{VARIABLE} must be true or false, not {said[:80]!r}")
    opentelemetry()


class _extra:  # noqa: N801  # it reads as a function
    """A context that imports what only an extra brings."""

    def __init__(self, name: str, package: str) -> None:
        self._name = name
        self._package = package

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(self._package):
            raise ExtraMissingError(
                f"{self._package} is not installed: pip install 'spillstore[{self._name}]'"
            ) from None
