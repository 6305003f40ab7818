"""Calls of the proxy's own tools, which it answers itself."""

from __future__ import annotations

import dataclasses
import re
import threading
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import SpillstoreError
from spillstore_tools.agent.answers import Answer
from spillstore_tools.mcp.proxy.listing import could_be_own
from spillstore_tools.mcp.wire.messages import INTERNAL_ERROR
from spillstore_tools.mcp.wire.raw_json import RawJsonError, dump, join_object, value
from spillstore_tools.mcp.wire.tool_results import result_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.mcp.proxy.catalogue import ToolCatalogue
    from spillstore_tools.mcp.proxy.client import ClientConnection
    from spillstore_tools.mcp.proxy.lazy_session import LazySession
    from spillstore_tools.mcp.proxy.upstream import Forwarder
    from spillstore_tools.mcp.wire.messages import Id, ToolCall
    from spillstore_tools.mcp.wire.pending import PendingRequest
    from spillstore_tools.mcp.wire.raw_json import RawJson
    from spillstore_tools.mcp.wire.request_threads import RequestThreads

_SIGNATURE = re.compile(r" \[~\d{1,7}\.[A-Za-z0-9_-]{11}\]\n\Z", re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True)
class OwnCalls:
    """Answers calls of own tools, on threads.

    Attributes:
        session: what the tools read.
        catalogue: the names of the tools.
        forwarder: for calls that turn out to be the upstream server's.
        client: gets the answers.
        threads: where calls are answered.
        described: as in ``ClientMessages``.
        structured: results have structured content.
    """

    session: LazySession
    catalogue: ToolCatalogue
    forwarder: Forwarder
    client: ClientConnection
    threads: RequestThreads
    described: Callable[[str, Id, RawJson | None], ToolCall]
    structured: bool
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)  # protects what is below
    _active: dict[Id, bool] = dataclasses.field(default_factory=dict)  # calls; False once cancelled

    def take(
        self,
        request: PendingRequest,
        identity: Id,
        name: str,
        params: dict[str, RawJson],
        message: dict[str, RawJson],
    ) -> bool:
        """Take a call, if it is one of an own tool or may be one; False if it is the upstream server's.

        While the names of the upstream server's tools are not known, a thread lists them and decides.
        """
        if not could_be_own(name):
            return False
        names = self.catalogue.known
        if names is not None and names.tool(name) is None:
            return False
        with self._lock:
            self._active[identity] = True

        def answer() -> None:
            tool = self.catalogue.names().tool(name)
            if tool is not None:
                self._answer(request, identity, tool, params)
                return
            call = self.described(name, identity, params.get("arguments"))
            if self._end(identity) and self.forwarder.expect(
                identity, dataclasses.replace(request, call=call)
            ):
                self.forwarder.send(join_object(message))

        self.threads.put(answer, len(params.get("arguments", b"")))
        return True

    def cancel(self, identity: Id) -> bool:
        """Cancel a call; False if it is none of these."""
        with self._lock:
            is_active = identity in self._active
            if is_active:
                self._active[identity] = False
            return is_active

    def _end(self, identity: Id) -> bool:
        """Note that a call is answered; False if it was cancelled."""
        with self._lock:
            return self._active.pop(identity, False)

    def _answer(self, request: PendingRequest, identity: Id, tool: str, params: dict[str, RawJson]) -> None:
        result: dict[str, Any]
        try:
            arguments: Any = value(params.get("arguments", b"{}"))
            answer = self.session.toolbox().call_sync(tool, {} if arguments is None else arguments)
            text = self._renamed(answer.text, getattr(answer, "content", ""))
            result = result_of(answer, structured=self.structured, text=text)
        except (SpillstoreError, RawJsonError) as error:
            failed = Answer(text=f"{tool}: {error}\n", is_error=True)
            result = result_of(failed, structured=self.structured)
        except Exception as error:
            message = f"{tool}: {type(error).__name__}: {error}"
            self.client.send_error(request.id, INTERNAL_ERROR, message)
            raise
        finally:
            is_wanted = self._end(identity)
        if is_wanted:
            self.client.send_result(request, {name: dump(each) for name, each in result.items()})

    def _renamed(self, text: str, content: str) -> str:
        """An answer in which own tools have the names that they have here, but for the stored content that it quotes."""
        names = self.catalogue.names()
        head, quoted, tail = text.partition(content) if content else (text, "", "")
        renamed = names.renamed(head) + quoted + names.renamed(tail)
        if renamed == text:
            return text
        from spillstore_tools.output.signed_answers import with_signature  # noqa: PLC0415  # few servers have tools of these names

        unsigned = _SIGNATURE.sub("\n", renamed)
        return renamed if unsigned == renamed else with_signature(self.session.session(), unsigned)
