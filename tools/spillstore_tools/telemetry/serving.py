"""The metrics of this process over HTTP, for Prometheus to scrape; on this machine alone.

A request whose ``Host`` is no name of this machine is refused: a web page could reach the port by a name of its own.
``prometheus_client`` has a server, which does not look at that.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import socketserver
import threading
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from spillstore_tools.telemetry.collector import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_HOST = re.compile(r"(?:\[([^\[\]]*)\]|([^\[\]:]*))(?::[0-9]*)?", re.ASCII)
_PATIENCE = 10.0  # seconds for a request


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True  # who does not read an answer holds up nobody's end


class _ServerOf6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = _PATIENCE  # of the connection, as ``socketserver`` has it

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        """Nothing: stderr is for what people need to know."""


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
        with (_ServerOf6 if ":" in address else _Server)((address, port), _Handler) as server:
            answer: WSGIApplication = make_wsgi_app(registry)

            def guarded(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
                if _is_here(environ.get("HTTP_HOST", "")):
                    return answer(environ, start_response)
                start_response("421 Misdirected Request", [("Content-Type", "text/plain")])
                return [b"ask for it by an address of this machine\n"]

            server.set_app(guarded)
            thread = threading.Thread(target=server.serve_forever, name="spillstore-metrics", daemon=True)
            thread.start()
            try:
                host = f"[{address}]" if ":" in address else address
                yield f"http://{host}:{server.server_port}/metrics"
            finally:
                server.shutdown()
                thread.join()
    finally:
        collector.close()


def _is_here(host: str) -> bool:
    """Whether a request was sent to this machine by an address, or as ``localhost``."""
    match = _HOST.fullmatch(host)
    name = "" if match is None else (match[1] or match[2] or "").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
