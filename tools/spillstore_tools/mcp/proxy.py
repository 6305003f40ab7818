r"""A server of the Model Context Protocol in front of another one, whose oversized tool results it stores.

Both ends are lines of JSON-RPC (the stdio transport), and a line is passed on as it came, to the byte. So whatever the
two speak goes through: any version of the protocol, any method, in both directions, ids and cursors and cancellations as
they are. Only four answers of the server are touched: ``initialize`` and ``server/discover`` (tools are announced, a
sentence of instructions added), ``tools/list`` (our tools at its end), and those that carry the results of tool calls. A
relay made of the SDK's client and server would know the messages of its own time only, would make new ids, and would cost
a second to import; so the SDK is not used here.

A thread reads the client, one reads the server, and few work on what takes time: storing, and calls of our own tools.
What waits for them is bounded (``_ROOM``), so a server that says more than can be stored waits, as it would for a slow
client. What it says is bounded too (``MESSAGE``): a longer line is thrown away, and who waits for it is told. Nothing that it
says ends a thread: what cannot be handled is answered with an error, and a result is never passed on for that. Requests of our own (to learn the names of the server's tools) have ids that begin with 64 random bits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import re
import secrets
import select
import signal
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import SpillstoreError
from spillstore_tools.agent.retrieval import Answer
from spillstore_tools.describe import human_size
from spillstore_tools.mcp._catalogue import Catalogue
from spillstore_tools.mcp._fronted import Fronted
from spillstore_tools.mcp._lines import LineWriter, TooLong, lines
from spillstore_tools.mcp._listing import Page, could_be_ours
from spillstore_tools.mcp._messages import (
    METHOD_NOT_FOUND,
    Pending,
    call_of,
    error_code,
    id_in,
    id_of,
    members_of,
    shown,
)
from spillstore_tools.mcp._pieces import (
    PieceError,
    dumped,
    first,
    items,
    joined,
    listed,
    members,
    text_of,
    value,
)
from spillstore_tools.mcp._results import Call, Fitter
from spillstore_tools.mcp._workers import Workers
from spillstore_tools.mcp.outputs import result_of
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.mcp._lazy import LazySession
    from spillstore_tools.mcp._messages import Id
    from spillstore_tools.mcp._pieces import Data
    from spillstore_tools.profiles import ProfileName

FAILED = 125
MESSAGE = 256 * 1024 * 1024  # bytes of one message of the server
INSTRUCTIONS = "A tool result that is too long is shown in part; it says what is left out and names the call that brings it."
_SERVER_GONE = -32000
_INTERNAL = -32603
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_READ = 256 * 1024
_ROOM = 64 * 1024 * 1024  # bytes of results that are being stored, or wait for it
_WORKERS = 4
_LEAVE = 5.0  # seconds for the server to end by itself once nobody asks or waits any more
_FINISH = 5.0  # seconds for what is being stored
_TOUCHED = frozenset({"initialize", "server/discover", "tools/list"})
_OF_TASKS = frozenset({"tasks/result", "tasks/get"})  # of 2025-11-25, and of the extension that came after
_MARK = re.compile(r" \[~\d{1,7}\.[A-Za-z0-9_-]{11}\]\n\Z", re.ASCII)


class Proxy:
    """Fronts a server until either end goes away, or a signal comes.

    Args:
        command: starts the server.
        store: where oversized results go.
        profile: what a model is shown of them.
        configuration: of the profile.
        flags: what a ``spillstore`` command needs besides to find the session, for notices.
        streams: the descriptors to read the client from and to write to it.
        message: bytes of one message of the server; a longer one is thrown away.
        structured: results of our tools have structured content.

    Raises:
        StartError: the server cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        store: LazySession,
        *,
        profile: ProfileName = "default",
        configuration: TruncationConfiguration | None = None,
        flags: str = "",
        streams: tuple[int, int] = (0, 1),
        message: int = MESSAGE,
        structured: bool = False,
    ) -> None:
        self._events: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
        self._server = Fronted(command)
        # The server comes up while these are imported.
        from spillstore_tools.output.truncation import TruncationProcessor  # noqa: PLC0415

        self._store = store
        self._input, self._output = streams
        self._message = message
        self._client = LineWriter(streams[1], lambda: self._events.put(("deaf", 0)))
        processor = TruncationProcessor(
            store.session, profile=profile, configuration=configuration, flags=flags
        )
        self._structured = structured
        self._catalogue = Catalogue(self._ask, structured=structured)
        self._fitter = Fitter(processor, self._catalogue.names)
        self._storing = Workers(_WORKERS, _ROOM)
        self._reading = Workers(_WORKERS, _ROOM)  # calls of our tools wait for no storing
        self._lock = threading.Lock()  # protects all of the below
        self._pending: dict[Id, Pending] = {}
        self._answering: dict[Id, bool] = {}  # calls of our tools, and whether they are wanted still
        self._tasks: dict[str, Call] = {}  # calls whose results are fetched later
        self._gone = False
        self._nonce = secrets.token_hex(8)
        self._asked = 0
        self._answered = threading.Event()  # the server has said all it will

    # --- life -------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Relay until it is over; the exit code.

        0 if the client went away, 128 + n after signal n, else that of the server, which ended by itself: 125 where it
        ended without an error and left requests unanswered.
        """
        for target, name in ((self._read_client, "client"), (self._read_server, "server")):
            threading.Thread(target=target, name=f"spillstore-proxy-{name}", daemon=True).start()
        with _signals(self._events):
            try:
                kind, number = self._events.get()
                if kind == "client":
                    kind, number = self._left_alone()
            finally:
                code = self._end()
        if kind == "signal":
            return 128 + number
        if kind in {"client", "deaf"}:
            return 0
        return code

    def _left_alone(self) -> tuple[str, int]:
        """Nobody asks any more: let the server answer what it was asked, and end; returns what happened."""
        while True:
            try:
                return _other(self._events.get(timeout=_LEAVE), "client")
            except queue.Empty:
                with self._lock:
                    owes = any(each.ours is None for each in self._pending.values())
                if not (owes and _is_read(self._output)):
                    return "client", 0

    def _end(self) -> int:
        """End the server, finish what is being stored, tell those who wait; the server's exit code, or ours."""
        by_itself = self._server.wait(0.5 if self._answered.is_set() else 0)
        if not self._server.end():
            _note("processes of the server could not be ended, and are left alone")
        self._answered.wait(_FINISH)
        finished = self._storing.finish(_FINISH)
        with self._lock:
            self._gone = True
            left = [each for each in self._pending.values() if each.ours is None]
        code = self._server.wait(0)
        how = "was ended" if by_itself is None else f"ended with exit code {code}"
        for each in left:  # on a thread, for nobody may read what we write
            self._reading.put(partial(self._fail, each.id, f"the server {how} before it answered"), 0)
        if not (self._reading.finish(_FINISH) and finished):
            _note("gave up storing and answering, for it takes too long")
        try:
            self._store.close()
        except SpillstoreError as error:
            _note(f"the session cannot be closed: {error}")
        return code or (FAILED if left or code is None else 0)

    # --- what the client says ---------------------------------------------------------------------------

    def _read_client(self) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone
            for line in lines(lambda: os.read(self._input, _READ)):
                assert not isinstance(line, TooLong)  # it has no bound: the client is who we serve
                self._from_client(line)
                del line  # nothing is kept while the next one is waited for
        self._server.close_input()
        self._events.put(("client", 0))

    def _from_client(self, line: bytes | bytearray) -> None:
        send: bytes | bytearray | None = line
        try:
            if first(line) == b"[":  # a batch, which one version of the protocol has
                batch = items(line)
                theirs = [each for each in batch if self._is_for_server(members(each))]
                if len(theirs) < len(batch):
                    send = listed(theirs) if theirs else None
            elif first(line) and not self._is_for_server(members(line)):
                send = None
        except PieceError:
            pass  # the server says what it thinks of it
        if send is not None and not self._server.send(send):
            self._refuse()

    def _is_for_server(self, message: dict[str, Data]) -> bool:
        """Whether a message is to be passed on; others are answered here."""
        method = text_of(message.get("method"))
        if method is None:
            return True  # it answers a request of the server
        identity = id_of(message.get("id"))
        if identity is None:
            return method != "notifications/cancelled" or self._cancel(message)
        params = members_of(message.get("params"))
        modern = _VERSION_KEY in members_of(params.get("_meta"))
        pending = Pending(bytes(message["id"]), method, modern=modern)
        if modern and "_meta" in params:
            self._catalogue.heard(params["_meta"])
        if method == "tools/call":
            name = text_of(params.get("name")) or ""
            if could_be_ours(name) and self._take(pending, identity, name, params, message):
                return False
            pending = dataclasses.replace(pending, call=call_of(name, identity, params.get("arguments")))
            if self._catalogue.known is None:  # a notice may have to name our tools
                self._reading.put(self._catalogue.names, 0)
        elif method in _OF_TASKS:
            task = text_of(params.get("taskId")) or ""
            pending = dataclasses.replace(pending, call=self._tasks.get(task, Call(tool="task")))
        elif method == "tools/list":
            if self._catalogue.is_empty:
                self._send_list(pending)
                return False
            pending = dataclasses.replace(pending, continued=text_of(params.get("cursor")) is not None)
        return self._awaits(identity, pending)

    def _awaits(self, identity: Id, pending: Pending) -> bool:
        """Note that the server is to answer a request; whether it is there to do so."""
        with self._lock:
            if not self._gone:
                self._pending[identity] = pending
                return True
        self._fail(pending.id, "the server has ended")
        return False

    def _cancel(self, message: dict[str, Data]) -> bool:
        identity = id_of(members_of(message.get("params")).get("requestId"))
        if identity is None:
            return True
        with self._lock:
            if identity in self._answering:
                self._answering[identity] = False
                return False
            self._pending.pop(identity, None)
        return True

    def _refuse(self) -> None:
        """The server takes nothing any more; who waits for an answer shall not wait for ever."""
        with self._lock:
            left = [each for each in self._pending.values() if each.ours is None]
            self._pending.clear()
        for each in left:
            self._fail(each.id, "the server does not read any more")

    # --- calls of our tools -----------------------------------------------------------------------------

    def _take(
        self,
        pending: Pending,
        identity: Id,
        name: str,
        params: dict[str, Data],
        message: dict[str, Data],
    ) -> bool:
        """Whether a call is one of our tools'. Where the server may have one of that name it is asked, on a thread."""
        names = self._catalogue.known
        if names is not None and names.tool(name) is None:
            return False
        with self._lock:
            self._answering[identity] = True

        def answer() -> None:
            tool = self._catalogue.names().tool(name)
            if tool is not None:
                self._answer(pending, identity, tool, params)
                return
            with self._lock:
                wanted = self._answering.pop(identity, False)
            theirs = dataclasses.replace(pending, call=call_of(name, identity, params.get("arguments")))
            if wanted and self._awaits(identity, theirs) and not self._server.send(joined(message)):
                self._refuse()

        self._reading.put(answer, len(params.get("arguments", b"")))
        return True

    def _answer(self, pending: Pending, identity: Id, tool: str, params: dict[str, Data]) -> None:
        result: dict[str, Any]
        try:
            sent: Any = value(params.get("arguments", b"{}"))
            answer = self._store.toolbox().call_sync(tool, {} if sent is None else sent)
            words = self._renamed(answer.text, getattr(answer, "content", ""))
            result = result_of(answer, structured=self._structured, text=words)
        except (SpillstoreError, PieceError) as error:
            failed = Answer(text=f"{tool}: {error}\n", is_error=True)
            result = result_of(failed, structured=self._structured)
        except Exception as error:
            self._error(pending.id, _INTERNAL, f"{tool}: {type(error).__name__}: {error}")
            raise
        finally:
            with self._lock:
                wanted = self._answering.pop(identity, False)
        if wanted:
            self._send_result(pending, {name: dumped(each) for name, each in result.items()})

    def _renamed(self, words: str, content: str) -> str:
        """An answer in which our tools have the names that they have here; what it quotes stays as it is."""
        names = self._catalogue.names()
        head, quoted, tail = words.partition(content) if content else (words, "", "")
        renamed = names.renamed(head) + quoted + names.renamed(tail)
        if renamed == words:
            return words
        from spillstore_tools.output.signature import marked  # noqa: PLC0415  # few servers have tools of our names

        bare = _MARK.sub("\n", renamed)
        return renamed if bare == renamed else marked(self._store.session(), bare)

    # --- what the server says ---------------------------------------------------------------------------

    def _read_server(self) -> None:
        for line in self._server.lines(self._message):
            if isinstance(line, TooLong):
                self._refuse_line(line)
            else:
                self._from_server(line)
            del line  # likewise
        self._answered.set()
        with self._lock:
            self._gone = True
            asked = [each.ours for each in self._pending.values() if each.ours is not None]
        for each in asked:
            each.put(None)
        self._events.put(("server", 0))

    def _from_server(self, line: bytes | bytearray) -> None:
        if not first(line):
            return
        try:
            if first(line) == b"[":
                for each in items(line):
                    self._message_from_server(bytes(each))
            else:
                self._message_from_server(line)
        except PieceError:
            _note(f"the server said what is no message: {shown(line)}")

    def _message_from_server(self, line: bytes | bytearray) -> None:
        message = members(line)
        try:
            self._pass_on(line, message)
        except PieceError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, there is more to read, and who waits is told
            _note(f"what the server said cannot be handled ({type(error).__name__}): {shown(line)}")
            if "id" in message and "method" not in message:
                self._error(message["id"], _INTERNAL, f"the answer cannot be handled: {type(error).__name__}")

    def _refuse_line(self, line: TooLong) -> None:
        """A message that is too long: who waits for it is told, if it can be known who that is."""
        raw = id_in(line.beginning, line.end)
        identity = id_of(raw)
        with self._lock:
            pending = None if identity is None else self._pending.pop(identity, None)
        most = f"{human_size(self._message)} that a message may have (--max-message)"
        if line.end is not None:
            _note(f"the server said {line.size} bytes in one line, more than the {most}; it is thrown away")
        if pending is None:
            return
        if pending.ours is not None:
            pending.ours.put(None)
        elif pending.call is None:
            self._error(pending.id, _INTERNAL, f"the answer is longer than the {most}, and is thrown away")
        else:
            words = (
                f"[the result of {pending.call.tool} is longer than the {most}; it is thrown away, and nothing of it is "
                "stored; ask for less at once]\n"
            )
            content = [{"type": "text", "text": words}]
            self._send_result(pending, {"content": dumped(content), "isError": b"true"})

    def _pass_on(self, line: bytes | bytearray, message: dict[str, Data]) -> None:
        method = text_of(message.get("method"))
        identity = id_of(message.get("id"))
        if method is not None:
            if method == "notifications/tools/list_changed":
                self._catalogue.changed()
            self._client.write(line)
            return
        if "result" not in message and "error" not in message:
            raise PieceError("no message")
        with self._lock:
            pending = None if identity is None else self._pending.pop(identity, None)
        if (
            pending is None
        ):  # of a call that was cancelled, or was answered before: nothing else goes for that
            pending = Pending(bytes(message.get("id", b"null")), "tools/call", call=Call(tool="tool"))
        if pending.ours is not None:
            pending.ours.put(message)
        elif pending.call is not None:
            self._storing.put(partial(self._send_fit, line, message, pending, pending.call), len(line))
        elif pending.method in _TOUCHED:
            self._send_touched(line, message, pending)
        else:
            self._client.write(line)

    def _send_fit(
        self, line: bytes | bytearray, message: dict[str, Data], pending: Pending, call: Call
    ) -> None:
        is_result = "result" in message
        member = "result" if is_result else "error"
        said = message[member]
        try:
            fit = self._fit(said, pending, call) if is_result else self._fitter.fit_error(said, call)
        except Exception as error:  # noqa: BLE001  # whatever it is, an answer is wanted, and not as it came
            _note(f"the {member} of {shown(call.tool.encode())} is shown as text: {type(error).__name__}")
            fit = (self._fitter.as_text if is_result else self._fitter.error_as_text)(said, call, error)
        if fit is None and message.keys() <= {"jsonrpc", "id", member}:
            self._client.write(line)
            return
        kept = {name: each for name, each in message.items() if name in {"jsonrpc", "id"}}
        self._client.write(joined({**kept, member: said if fit is None else fit}))

    def _fit(self, result: Data, pending: Pending, call: Call) -> bytes | None:
        """The result made fit; None if it stays as it is. That of a task comes later, and is one of this tool then, too."""
        fields = members_of(result)
        task = text_of(members_of(fields.get("task")).get("taskId") or fields.get("taskId"))
        if pending.method == "tools/call" and task is not None:
            self._tasks[task] = call
        if pending.method != "tasks/get" or "result" not in fields:
            return self._fitter.fit(result, call)
        inner = self._fitter.fit(fields["result"], call)
        outer = self._fitter.fit(joined({**fields, "result": b"null"}), call)
        if inner is None and outer is None:
            return None
        shown_fields = fields if outer is None else members(outer)
        return joined({**shown_fields, "result": fields["result"] if inner is None else inner})

    def _send_touched(self, line: bytes | bytearray, message: dict[str, Data], pending: Pending) -> None:
        if pending.method == "tools/list" and error_code(message) == METHOD_NOT_FOUND:
            self._send_list(pending)
            return
        result = None
        with contextlib.suppress(PieceError):  # then it is the client's to judge
            if "result" in message:
                if pending.method == "tools/list":
                    result = self._listed(message["result"], pending)
                else:
                    result = self._announced(message["result"])
        self._client.write(line if result is None else joined({**message, "result": result}))

    def _announced(self, result: Data) -> bytes:
        """What the server says of itself, with tools and a sentence of ours."""
        fields = members(result)
        capabilities = members_of(fields.get("capabilities"))
        self._catalogue.announced(has_tools="tools" in capabilities)
        said = text_of(fields.get("instructions"))
        instructions = f"{said.rstrip()}\n\n{INSTRUCTIONS}" if said and said.strip() else INSTRUCTIONS
        return joined(
            {
                **fields,
                "capabilities": joined({"tools": b"{}", **capabilities}),
                "instructions": dumped(instructions),
            }
        )

    # --- the list of tools ------------------------------------------------------------------------------

    def _listed(self, result: Data, pending: Pending) -> bytes:
        page = Page(result)
        names = self._catalogue.passed(page, continued=pending.continued)
        return page.shown([] if names is None else names.definitions())

    def _send_list(self, pending: Pending) -> None:
        """Answer with our tools alone, for a server without any."""
        fields: dict[str, Data] = {"tools": listed(self._catalogue.none().definitions())}
        if pending.modern:
            fields |= {"ttlMs": b"0", "cacheScope": b'"private"'}
        self._send_result(pending, fields)

    def _ask(self, params: dict[str, Data], deadline: float) -> dict[str, Data] | None:
        """A request of our own for a page of tools; None if there is no answer in time."""
        answers: queue.SimpleQueue[dict[str, Data] | None] = queue.SimpleQueue()
        with self._lock:
            if self._gone:
                return None
            self._asked += 1
            identity = f"{self._nonce}-{self._asked}"
            self._pending[identity] = Pending(dumped(identity), "tools/list", ours=answers)
        request = {name: dumped(each) for name, each in (("jsonrpc", "2.0"), ("id", identity))}
        try:
            sent = {**request, "method": b'"tools/list"', "params": joined(params)}
            if not self._server.send(joined(sent)):
                return None
            return answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None
        finally:
            with self._lock:
                self._pending.pop(identity, None)

    # --- answers of ours --------------------------------------------------------------------------------

    def _send_result(self, pending: Pending, fields: dict[str, Data]) -> None:
        if pending.modern:
            fields = {**fields, "resultType": b'"complete"'}
        self._client.write(joined({"jsonrpc": b'"2.0"', "id": pending.id, "result": joined(fields)}))

    def _fail(self, identity: Data, message: str) -> None:
        self._error(identity, _SERVER_GONE, message)

    def _error(self, identity: Data, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._client.write(joined({"jsonrpc": b'"2.0"', "id": identity, "error": dumped(error)}))


@contextlib.contextmanager
def _signals(events: queue.SimpleQueue[tuple[str, int]]) -> Iterator[None]:
    """Signals that would end us become events; a client that goes away while it is told something is none."""
    before = {
        number: signal.signal(number, lambda number, _: events.put(("signal", number)))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    before[signal.SIGPIPE] = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _other(event: tuple[str, int], before: str) -> tuple[str, int]:
    """What happened after the client had gone: that the server then ends is as it should be."""
    return (before, 0) if event[0] in {"server", "deaf"} else event


def _is_read(stream: int) -> bool:
    """Whether somebody has the other end of a pipe open."""
    poll = select.poll()
    poll.register(stream, 0)
    return not poll.poll(0)


def _note(message: str) -> None:
    if sys.stderr is not None:  # or it would go to stdout, which has the protocol
        from spillstore.redaction import redact  # noqa: PLC0415  # only what has something to say pays for it

        print(f"spillstore: {label(redact(message))}", file=sys.stderr, flush=True)  # noqa: T201  # stdout is not touched
