"""A wire between clients and a PostgreSQL server, which counts what passes and can be cut, slow, dead or refused.

``with Wire(server_url) as wire:`` listens on an address of its own, of the same kind as the server's: a unix socket or
a port of the loopback. ``wire.url`` is the server's URL with this address. It knows nothing of the protocol, but that
clients ask and servers answer.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

SERVER, CLIENT = "to_server", "to_client"


class Wire:
    """What passes between the clients that use ``url`` and a server.

    Attributes:
        url: The server's URL, with the address of the wire.
        delay: Seconds that each piece of data waits, in either direction.
        trips: How many times a client had something to say after it was answered, or at the beginning: the round
            trips of all connections. Connecting takes some, too.
        connections: How many were made.
        to_server: How many bytes went there.
        to_client: How many bytes came back.
    """

    def __init__(self, server_url):
        self._server, self._address, self.url, self._folder = _addresses(server_url)
        self.delay, self.trips, self.connections, self.to_server, self.to_client = 0.0, 0, 0, 0, 0
        self._cut_at = {}  # by direction, what its counter shows after the last byte that passes
        self._held = set()  # directions
        self._open = set()  # pairs of sockets
        self._threads = []
        self._listener = None
        self._ended = False
        self._changed = threading.Condition()  # protects all of these

    def __enter__(self):
        self.accept()
        return self

    def __exit__(self, *error):
        self.refuse()
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self.cut()
        for thread in self._threads:
            thread.join()
        if self._folder:
            shutil.rmtree(self._folder)

    def cut(self, *, to_server=None, to_client=None):
        """Cut all connections now; or one, as soon as so many more bytes went in a direction: 0 lets none pass."""
        with self._changed:
            if to_server is not None:
                self._cut_at[SERVER] = self.to_server + to_server
            if to_client is not None:
                self._cut_at[CLIENT] = self.to_client + to_client
            open_now = list(self._open) if to_server is None and to_client is None else []
        for pair in open_now:
            self._close(pair)

    def mend(self):
        """Cut no more, when bytes did not come to where they were to be cut."""
        with self._changed:
            self._cut_at.clear()

    def hold(self, *, to_server=True, to_client=True):
        """Let nothing pass in these directions: nobody is told, as if the net had lost it. New connections hang."""
        with self._changed:
            self._held |= {
                direction for direction, held in ((SERVER, to_server), (CLIENT, to_client)) if held
            }

    def release(self):
        """Let pass what was held, and all that follows."""
        with self._changed:
            self._held.clear()
            self._changed.notify_all()

    def refuse(self):
        """Take no new connections: whoever asks for one is refused at once. Those that are there stay."""
        if self._listener is not None:
            listener, self._listener = self._listener, None
            with contextlib.suppress(OSError):  # macOS: closing does what Linux needs this for
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def accept(self):
        """Take new connections."""
        family = socket.AF_UNIX if self._folder else socket.AF_INET
        listener = socket.socket(family)
        if self._folder:
            Path(self._address).unlink(missing_ok=True)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(self._address)
        listener.listen(128)
        self._listener = listener
        self._run(self._take, listener)

    def _run(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _take(self, listener):
        listener.settimeout(1)
        with contextlib.suppress(OSError):  # it was closed
            while listener is self._listener:
                with contextlib.suppress(TimeoutError):
                    self._connect(listener.accept()[0])

    def _connect(self, client):
        server = socket.socket(socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET)
        try:
            server.connect(self._server)
        except OSError:  # the server is not there, so neither are we
            server.close()
            client.close()
            return
        pair = _Pair(client, server)
        with self._changed:
            self.connections += 1
            self._open.add(pair)
        self._run(self._pump, pair, client, server, SERVER)
        self._run(self._pump, pair, server, client, CLIENT)

    def _pump(self, pair, source, sink, direction):
        """Pass on what comes from a socket until it ends, or until this is to be cut."""
        with contextlib.suppress(OSError):  # cut, from our side or another
            while data := source.recv(65536):
                with self._changed:
                    self._changed.wait_for(lambda: direction not in self._held or self._ended)
                    if self._ended:
                        break
                    if pair.cut:  # whichever way: what a fast server answers must not overtake the end
                        continue
                    data, last = self._counted(pair, direction, data)
                    pair.cut = last
                time.sleep(self.delay)
                sink.sendall(data)
                if last:
                    break
        self._close(pair)

    def _counted(self, pair, direction, data):
        """How much of some data may pass, and whether it is the last; as counted from here on."""
        if direction == SERVER and pair.last != SERVER:
            self.trips += 1
        pair.last = direction
        before = getattr(self, direction)
        end = self._cut_at.get(direction)
        last = end is not None and before + len(data) >= end
        if last:
            data = data[: end - before]
            del self._cut_at[direction]
        setattr(self, direction, before + len(data))
        return data, last

    def _close(self, pair):
        """End both halves; each thread that waits for one sees its end."""
        with self._changed:
            if pair not in self._open:
                return
            self._open.remove(pair)
        for half in (pair.client, pair.server):
            with contextlib.suppress(OSError):  # the other side was first
                half.shutdown(socket.SHUT_RDWR)
            half.close()


class _Pair:
    """One connection: its two halves, in which direction data went last, and whether it was the last of all."""

    def __init__(self, client, server):
        self.client, self.server, self.last, self.cut = client, server, None, False


def _addresses(url):
    """The server's address, ours, the URL with ours, and a folder to be removed in the end if we need one."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    host, port = query.get("host", parts.hostname), int(query.get("port", parts.port or 5432))
    user = parts.netloc.rpartition("@")[0]
    if host.startswith("/"):
        folder = tempfile.mkdtemp(prefix="spillstore-wire-", dir="/tmp")  # a socket's path must be short
        query |= {"host": folder}
        made = parts._replace(query=urlencode(query, quote_via=quote, safe="")).geturl()
        return f"{host}/.s.PGSQL.{port}", f"{folder}/.s.PGSQL.{port}", made, folder
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    made = parts._replace(netloc=f"{user}@{address[0]}:{address[1]}").geturl()
    return (host, port), address, made, None
