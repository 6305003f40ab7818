"""Messages of the upstream server: passed on to the client as they are, or with results that fit."""

from __future__ import annotations

import contextlib
import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from spillstore_tools.describe import human_size
from spillstore_tools.mcp.proxy.listing import ToolListPage
from spillstore_tools.mcp.proxy.notes import excerpt, in_words, note
from spillstore_tools.mcp.wire.messages import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    ToolCall,
    error_code,
    id_in,
    id_of,
    members_of,
)
from spillstore_tools.mcp.wire.pending import PendingRequest
from spillstore_tools.mcp.wire.raw_json import (
    RawJsonError,
    dump,
    first_byte,
    items,
    join_object,
    members,
    string_or_none,
)

if TYPE_CHECKING:
    from spillstore_tools.mcp.proxy.catalogue import ToolCatalogue
    from spillstore_tools.mcp.proxy.client import ClientConnection
    from spillstore_tools.mcp.proxy.results import ResultFitter
    from spillstore_tools.mcp.proxy.tasks import TaskCalls
    from spillstore_tools.mcp.wire.lines import OversizedLine
    from spillstore_tools.mcp.wire.pending import PendingRequests
    from spillstore_tools.mcp.wire.raw_json import RawJson
    from spillstore_tools.mcp.wire.request_threads import RequestThreads

INSTRUCTIONS = "A tool result that is too long is shown in part; it says what is left out and names the call that brings it."
_CHANGED = frozenset({"initialize", "server/discover", "tools/list"})  # methods whose results are changed


@dataclasses.dataclass(frozen=True, slots=True)
class UpstreamMessages:
    """Handles the messages of the upstream server, on the thread that reads them; results are stored on others.

    Attributes:
        client: the client.
        pending: the requests to the server.
        catalogue: the names of tools.
        task_calls: makes results fit.
        fitter: makes errors fit, and results that cannot be handled.
        threads: where results are stored.
        max_message: bytes of a message; a longer one is discarded.
    """

    client: ClientConnection
    pending: PendingRequests
    catalogue: ToolCatalogue
    task_calls: TaskCalls
    fitter: ResultFitter
    threads: RequestThreads
    max_message: int

    def handle(self, line: bytes | bytearray) -> None:
        """Handle a line. Nothing in it raises; what cannot be handled is answered with an error."""
        if not first_byte(line):
            return
        try:
            if first_byte(line) == b"[":
                for each in items(line):
                    self._handle_message(bytes(each))
            else:
                self._handle_message(line)
        except RawJsonError:
            note(f"the server said what is no message: {excerpt(line)}")

    def _handle_message(self, line: bytes | bytearray) -> None:
        message = members(line)
        try:
            self._pass_on(line, message)
        except RawJsonError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, there is more to read, and the waiting client gets an answer
            why = type(error).__name__
            note(f"what the server said cannot be handled ({why}): {excerpt(line)}")
            if "id" in message and "method" not in message:
                self.client.send_error(message["id"], INTERNAL_ERROR, f"the answer cannot be handled: {why}")

    def handle_oversized(self, line: OversizedLine) -> None:
        """Answer the request that an oversized message answers, if its id can be found."""
        identity = id_of(id_in(line.beginning, line.end))
        request = self.pending.pop(identity)
        limit = f"{human_size(self.max_message)} that a message may have (--max-message)"
        if line.end is not None:
            note(f"the server said {line.size} bytes in one line, more than the {limit}; it is thrown away")
        if request is None:
            return
        if request.answers is not None:
            request.answers.put(None)
        elif request.call is None:
            words = f"the answer is longer than the {limit}, and is thrown away"
            self.client.send_error(request.id, INTERNAL_ERROR, words)
        else:
            words = (
                f"[the result of {request.call.tool} is longer than the {limit}; it is thrown away, and nothing of it is "
                "stored; ask for less at once]\n"
            )
            content = [{"type": "text", "text": words}]
            self.client.send_result(request, {"content": dump(content), "isError": b"true"})

    def _pass_on(self, line: bytes | bytearray, message: dict[str, RawJson]) -> None:
        method = string_or_none(message.get("method"))
        if method is not None:
            if method == "notifications/tools/list_changed":
                self.catalogue.note_change()
            self.client.write(line)
            return
        if "result" not in message and "error" not in message:
            raise RawJsonError("not a JSON-RPC message")
        request = self.pending.pop(id_of(message.get("id")))
        if (
            request is None
        ):  # the answer to a cancelled call, or a second answer: any other request is pending
            request = PendingRequest(
                bytes(message.get("id", b"null")), "tools/call", call=ToolCall(tool="tool")
            )
        if request.answers is not None:
            request.answers.put(message)
        elif request.call is not None:
            self.threads.put(partial(self._send_fit, line, message, request, request.call), len(line))
        elif request.method == "tools/list" and error_code(message) == METHOD_NOT_FOUND:
            self.client.send_result(request, self.catalogue.own_list(modern=request.modern))
        elif request.method in _CHANGED:
            self._send_changed(line, message, request)
        else:
            self.client.write(line)

    def _send_fit(
        self, line: bytes | bytearray, message: dict[str, RawJson], request: PendingRequest, call: ToolCall
    ) -> None:
        """Send the answer to a tool call, made to fit."""
        is_result = "result" in message
        member = "result" if is_result else "error"
        answer = message[member]
        fit: bytes | None
        try:
            if is_result:
                fit = self.task_calls.fit(answer, request, call)
            else:
                fit = self.fitter.fit_error(answer, call)
        except Exception as error:  # noqa: BLE001  # whatever it is, the client gets an answer, and not as it came
            note(f"the {member} of {excerpt(call.tool.encode())} is shown as text: {in_words(error)}")
            fit = (self.fitter.as_text if is_result else self.fitter.error_as_text)(answer, call, error)
        if fit is None and message.keys() <= {"jsonrpc", "id", member}:
            self.client.write(line)
            return
        head = {name: each for name, each in message.items() if name in {"jsonrpc", "id"}}
        self.client.write(join_object({**head, member: answer if fit is None else fit}))

    def _send_changed(
        self, line: bytes | bytearray, message: dict[str, RawJson], request: PendingRequest
    ) -> None:
        """Send the answer to a request for tools, or for what the server is; as it is if it has another form."""
        result = None
        with contextlib.suppress(RawJsonError):
            if "result" in message:
                if request.method == "tools/list":
                    result = self._with_own_tools(message["result"], request)
                else:
                    result = self._with_instructions(message["result"])
        self.client.write(line if result is None else join_object({**message, "result": result}))

    def _with_own_tools(self, result: RawJson, request: PendingRequest) -> bytes:
        """A page of the list of tools, with the own tools on the last one."""
        page = ToolListPage(result)
        names = self.catalogue.note_page(page, continued=request.continued)
        return page.with_tools([] if names is None else names.definitions())

    def _with_instructions(self, result: RawJson) -> bytes:
        """The server's result of ``initialize``, with tools among its capabilities and a sentence after its instructions."""
        fields = members(result)
        capabilities = members_of(fields.get("capabilities"))
        self.catalogue.note_capability(has_tools="tools" in capabilities)
        own = string_or_none(fields.get("instructions"))
        instructions = f"{own.rstrip()}\n\n{INSTRUCTIONS}" if own and own.strip() else INSTRUCTIONS
        changed: dict[str, RawJson] = {
            "capabilities": join_object({"tools": b"{}", **capabilities}),
            "instructions": dump(instructions),
        }
        return join_object({**fields, **changed})
