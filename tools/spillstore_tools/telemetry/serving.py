"""A page with the metrics of this process, for Prometheus to scrape; served to this machine alone.

A request whose ``Host`` is no name of this machine is refused, because a web page can reach the port under a name of its own
(DNS rebinding). The server of ``prometheus_client`` does not check that, and waits for a silent client for ever.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import threading
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from spillstore_tools.telemetry.collector import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_PATH = "/metrics"
_HOST = re.compile(r"(?:\[([^\[\]]*)\]|([^\[\]:]*))(?::[0-9]*)?", re.ASCII)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True  # a client that reads no answer does not delay the end


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = 10.0  # seconds for a request

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        """Log nothing: stderr is for what people need to know."""


@contextlib.contextmanager
def served(address: str, port: int) -> Iterator[str]:
    """A context in which events are counted and the metrics are served over HTTP; gives the URL.

    Args:
        address: a loopback address.
        port: 0 for one that is free.

    Raises:
        OSError: the port cannot be had.
    """
    registry = CollectorRegistry()
    metrics: WSGIApplication = make_wsgi_app(registry)

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        status, words = "404 Not Found", b"there is nothing here but /metrics\n"
        if not _is_local(environ.get("HTTP_HOST", "")):
            status, words = "421 Misdirected Request", b"ask for it by an address of this machine\n"
        elif environ.get("PATH_INFO") == _PATH:
            return metrics(environ, start_response)
        start_response(status, [("Content-Type", "text/plain")])
        return [words]

    with (
        contextlib.closing(Collector(registry)),
        (_Server6 if ":" in address else _Server)((address, port), _Handler) as server,
    ):
        server.set_app(application)
        thread = threading.Thread(target=server.serve_forever, name="spillstore-metrics", daemon=True)
        thread.start()
        try:
            host = f"[{address}]" if ":" in address else address
            yield f"http://{host}:{server.server_port}{_PATH}"
        finally:
            server.shutdown()
            thread.join()


def _is_local(host: str) -> bool:
    """Whether a ``Host`` is a loopback address or ``localhost``."""
    match = _HOST.fullmatch(host)
    name = "" if match is None else (match[1] or match[2] or "").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
