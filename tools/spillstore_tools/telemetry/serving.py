"""The metrics of this process over HTTP, for Prometheus to scrape; on this machine alone."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server

from spillstore_tools.telemetry.collector import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def served(address: str, port: int) -> Iterator[str]:
    """A context in which they are counted and served; gives where.

    Args:
        address: of this machine.
        port: 0 for one that is free.

    Raises:
        OSError: the port cannot be had.
    """
    registry = CollectorRegistry()
    collector = Collector(registry)
    try:
        server, thread = start_http_server(port, address, registry)
        host = f"[{address}]" if ":" in address else address
        try:
            yield f"http://{host}:{server.server_port}/metrics"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
    finally:
        collector.close()
