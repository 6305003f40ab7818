r"""A proxy in front of another server of the Model Context Protocol, which stores oversized results of its tools.

Both ends are lines of JSON-RPC (the stdio transport), and a line is passed on byte for byte. So any version of the protocol and
any method goes through, in both directions, with ids, cursors and cancellations as they are. Only four answers of the upstream
server are changed: ``initialize`` and ``server/discover`` (tools are announced, a sentence is added to the instructions),
``tools/list`` (the proxy's own tools are added), and results of tool calls. A proxy made of the SDK's client and server would
know only the messages of its own version, would make new ids, and would take a second to import; so the SDK is not used.

A thread reads the client, one reads the upstream server, and some others do what takes time: storing, and calls of own tools.
The work that waits for them is bounded (``_CAPACITY``), so a server that sends more than can be stored has to wait, as for a slow
client. A message is bounded too (``MAX_MESSAGE``): a longer one is discarded, and its request is answered with an error.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
from functools import partial
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError
from spillstore_tools.mcp.proxy.catalogue import ToolCatalogue
from spillstore_tools.mcp.proxy.client import SERVER_GONE, ClientConnection
from spillstore_tools.mcp.proxy.client_messages import ClientMessages
from spillstore_tools.mcp.proxy.notes import note
from spillstore_tools.mcp.proxy.own_calls import OwnCalls
from spillstore_tools.mcp.proxy.results import ResultFitter
from spillstore_tools.mcp.proxy.tasks import TaskCalls
from spillstore_tools.mcp.proxy.upstream import Forwarder, UpstreamServer, gone
from spillstore_tools.mcp.proxy.upstream_messages import UpstreamMessages
from spillstore_tools.mcp.wire.lines import OversizedLine
from spillstore_tools.mcp.wire.messages import tool_call
from spillstore_tools.mcp.wire.pending import PendingRequests
from spillstore_tools.mcp.wire.request_threads import RequestThreads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.mcp.proxy.lazy_session import LazySession
    from spillstore_tools.profiles import ProfileName

Events = queue.SimpleQueue[tuple[str, int]]
FAILED = 125
MAX_MESSAGE = 256 * 1024 * 1024  # bytes of a message of the upstream server
_CAPACITY = 64 * 1024 * 1024  # bytes of results that are being stored, or wait for it
_THREADS = 4
_LEAVE = 5.0  # seconds for the server to end by itself once the client has gone
_FINISH = 5.0  # seconds for results that are being stored


class Proxy:
    """Stands in front of an upstream server until either end goes away, or a signal comes.

    Args:
        command: starts the upstream server.
        session: where oversized results are stored.
        profile: decides what a model is shown of them.
        configuration: that of the profile.
        flags: options that a ``spillstore`` command needs to find the session, for notices.
        streams: the descriptors to read the client from and to write to it.
        max_message: bytes of a message of the server; a longer one is discarded.
        structured: results of own tools have structured content.
        events: where ``signals_as_events`` puts signals; None where they stay as they are.

    Raises:
        StartError: the server cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        session: LazySession,
        *,
        profile: ProfileName = "default",
        configuration: TruncationConfiguration | None = None,
        flags: str = "",
        streams: tuple[int, int] = (0, 1),
        max_message: int = MAX_MESSAGE,
        structured: bool = False,
        events: Events | None = None,
    ) -> None:
        self._events: Events = queue.SimpleQueue() if events is None else events
        self._upstream = UpstreamServer(command)
        # The server comes up while this is imported.
        from spillstore_tools.output.truncation import TruncationProcessor  # noqa: PLC0415

        self._session = session
        self._max_message = max_message
        self._client = ClientConnection(streams, lambda: self._events.put(("deaf", 0)))
        self._pending = PendingRequests()
        self._storing = RequestThreads(_THREADS, _CAPACITY)
        self._answering = RequestThreads(
            _THREADS, _CAPACITY
        )  # so that calls of own tools wait for no storing
        self._has_all = threading.Event()  # the server's output has ended
        catalogue = ToolCatalogue(self._upstream, self._pending, structured=structured)
        processor = TruncationProcessor(
            session.session, profile=profile, configuration=configuration, flags=flags
        )
        fitter = ResultFitter(processor, catalogue.names)
        tasks = TaskCalls(fitter)
        forwarder = Forwarder(self._upstream, self._pending, self._client)
        described = partial(tool_call, shorten=processor.shortened)
        own_calls = OwnCalls(
            session,
            catalogue,
            forwarder,
            self._client,
            self._answering,
            described,
            structured=structured,
        )
        self._from_client = ClientMessages(
            self._client, forwarder, self._pending, catalogue, own_calls, tasks, described, self._answering
        )
        self._from_upstream = UpstreamMessages(
            self._client, self._pending, catalogue, tasks, fitter, self._storing, max_message
        )

    def run(self) -> int:
        """Run until it is over; returns the exit code.

        128 + n after signal n; that of the server if it ended by itself before the client went away, or left requests of the
        client unanswered: 125 if it ended without an error then; else 0.
        """
        for target, name in ((self._read_client, "client"), (self._read_upstream, "server")):
            threading.Thread(target=target, name=f"spillstore-proxy-{name}", daemon=True).start()
        try:
            kind, number = self._events.get()
            if kind == "client":
                kind, number = self._wait_for_server()
            if kind == "server":  # what the client has sent is answered too
                self._client.wait_until_handled(_FINISH)
        finally:
            code = self._end()
        if kind == "signal":
            return 128 + number
        if kind in {"client", "deaf"}:
            return 0
        return code

    def _read_client(self) -> None:
        for line in self._client.lines():
            assert not isinstance(line, OversizedLine)  # the client's lines have no limit
            self._from_client.handle(line)
            del line  # no message is in memory while the next one is waited for
        self._upstream.close_input()
        self._events.put(("client", 0))

    def _read_upstream(self) -> None:
        for line in self._upstream.lines(self._max_message):
            if isinstance(line, OversizedLine):
                self._from_upstream.handle_oversized(line)
            else:
                self._from_upstream.handle(line)
            del line  # likewise
        self._has_all.set()
        self._pending.close()
        self._events.put(("server", 0))

    def _wait_for_server(self) -> tuple[str, int]:
        """The client has gone: let the server answer what is pending, and end; returns what has happened."""
        while True:
            try:
                return self._event_after_client(self._events.get(timeout=_LEAVE))
            except queue.Empty:
                if not (self._pending.has_clients() and self._client.is_reading()):
                    return "client", 0

    def _event_after_client(self, event: tuple[str, int]) -> tuple[str, int]:
        """The event that decides the exit code: once the client has gone, the server ends as it should, if it leaves nothing."""
        leaves = event[0] == "server" and self._pending.has_left() and self._client.is_reading()
        return event if leaves or event[0] == "signal" else ("client", 0)

    def _end(self) -> int:
        """End the server, finish storing, and answer pending requests; returns the server's exit code, or 125."""
        by_itself = self._upstream.wait(0.5 if self._has_all.is_set() else 0)
        if not self._upstream.end():
            note("processes of the server could not be ended, and are left alone")
        self._has_all.wait(_FINISH)
        has_stored = self._storing.finish(_FINISH)
        has_left = self._pending.has_left()
        left = self._pending.close()
        code = self._upstream.wait(0)
        words = gone(by_itself)
        for each in left:  # on a thread, for the client may not read
            self._answering.put(partial(self._client.send_error, each.id, SERVER_GONE, words), 0)
        if not (self._answering.finish(_FINISH) and has_stored):
            note("gave up storing and answering, for it takes too long")
        try:
            self._session.close()
        except SpillstoreError as error:
            note(f"the session cannot be closed: {error}")
        return code or (FAILED if has_left or code is None else 0)


@contextlib.contextmanager
def signals_as_events() -> Iterator[Events]:
    """A context in which signals that would end the process become events, for ``Proxy``. From now on SIGPIPE is ignored.

    It stays so, because threads may write after the end.
    """
    events: Events = queue.SimpleQueue()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    before = {
        number: signal.signal(number, lambda number, _: events.put(("signal", number)))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield events
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
