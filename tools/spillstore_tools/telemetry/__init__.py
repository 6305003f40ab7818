"""Metrics and traces of what happens in this process: ``opentelemetry``, ``prometheus``.

Both observe the same events (``spillstore.observers``) and measure them by one table (``instruments``), so a figure means the
same in both. Neither library is imported unless one of them is called. Names of tools come from callers: the first hundred are
told apart, the rest is ``other``. No id, command, path or content is exported.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError
from spillstore.settings import parse_bool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider
    from prometheus_client import CollectorRegistry

    from spillstore_tools.telemetry.collector import Collector
    from spillstore_tools.telemetry.statistics import Statistics

VARIABLE = "SPILLSTORE_OTEL"
_is_decided = False
_deciding = threading.Lock()  # protects it


class ExtraMissingError(SpillstoreError):
    """A package is not installed that one of Spillstore's extras would bring."""


def opentelemetry(
    *, meter_provider: MeterProvider | None = None, tracer_provider: TracerProvider | None = None
) -> Callable[[], None]:
    """Export events to OpenTelemetry: metrics, and spans as children of the caller's.

    Only the API is needed; without an SDK it does nothing, and costs next to nothing.

    Args:
        meter_provider: where instruments are made; None for the global one.
        tracer_provider: where spans are made; likewise.

    Returns:
        A function that ends the export.

    Raises:
        ExtraMissingError: ``opentelemetry-api`` is not installed.
    """
    with _extra("otel", "opentelemetry"):
        from spillstore_tools.telemetry.otel import OpenTelemetryObserver  # noqa: PLC0415  # an extra

    return OpenTelemetryObserver(meter_provider, tracer_provider).start()


def prometheus(registry: CollectorRegistry | None = None) -> Collector:
    r"""Count events from now on, for Prometheus.

    Args:
        registry: where the metrics are registered; None for the default one of ``prometheus_client``.

    Returns:
        The collector; its ``close`` ends the counting.

    Raises:
        ExtraMissingError: ``prometheus_client`` is not installed.
        ValueError: the registry has these metrics already.

    Cost: some microseconds for an event.

    Example:
        >>> import tempfile
        >>> from prometheus_client import CollectorRegistry
        >>> from spillstore import Store
        >>> registry = CollectorRegistry()
        >>> collector = prometheus(registry)
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
        ...     _ = session.put("one\n", source="make")
        >>> registry.get_sample_value("spillstore_artifacts_total", {"tool": "make"})
        1.0
        >>> collector.close()
    """
    with _extra("prometheus", "prometheus_client"):
        from spillstore_tools.telemetry.collector import Collector  # noqa: PLC0415  # an extra

    return Collector(registry)


def served(address: str, port: int) -> contextlib.AbstractContextManager[str]:
    """A context in which events are counted and the metrics are served over HTTP; gives the URL.

    Args:
        address: an address of this machine (``spillstore_tools.loopback.addresses`` checks that).
        port: 0 for one that is free.

    Raises:
        ExtraMissingError: ``prometheus_client`` is not installed.
        OSError: when it is entered, the port cannot be had.
    """
    with _extra("prometheus", "prometheus_client"):
        from spillstore_tools.telemetry import serving  # noqa: PLC0415  # an extra

    return serving.served(address, port)


def exposition(statistics: Statistics) -> str:
    """The sums of audit logs in the text format of Prometheus: gauges named ``spillstore_recorded_...``.

    Raises:
        ExtraMissingError: ``prometheus_client`` is not installed.
    """
    with _extra("prometheus", "prometheus_client"):
        from spillstore_tools.telemetry import recorded  # noqa: PLC0415  # an extra

    return recorded.exposition(statistics)


def from_environment() -> None:
    """Call ``opentelemetry`` once a process if ``SPILLSTORE_OTEL`` is true; for the commands. Raises once at most.

    Raises:
        ExtraMissingError: ``opentelemetry-api`` is not installed.
        InvalidSettingError: the variable is neither true nor false.
    """
    global _is_decided  # noqa: PLW0603  # once a process
    text = os.environ.get(VARIABLE, "")
    with _deciding:
        if _is_decided or not text.strip():
            return
        _is_decided = True
    if parse_bool(VARIABLE, text):
        opentelemetry()


@contextlib.contextmanager
def _extra(name: str, package: str) -> Iterator[None]:
    """A context that imports the package of an extra.

    Raises:
        ExtraMissingError: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(package):
            raise
        raise ExtraMissingError(f"{package} is not installed: pip install 'spillstore[{name}]'") from None
