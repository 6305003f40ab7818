"""Tool calls whose results a client fetches later: tasks, as of version 2025-11-25 and of the extension that came after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.mcp.wire.messages import ToolCall, members_of
from spillstore_tools.mcp.wire.raw_json import join_object, members, string_or_none

if TYPE_CHECKING:
    from spillstore_tools.mcp.proxy.results import ResultFitter
    from spillstore_tools.mcp.wire.pending import PendingRequest
    from spillstore_tools.mcp.wire.raw_json import RawJson

METHODS = frozenset({"tasks/result", "tasks/get"})


class TaskCalls:
    """The tool calls of tasks, by the ids of the tasks.

    Args:
        fitter: makes results fit.
    """

    def __init__(self, fitter: ResultFitter) -> None:
        self._fitter = fitter
        self._calls: dict[str, ToolCall] = {}

    def call(self, params: dict[str, RawJson]) -> ToolCall:
        """The tool call of the task that a request names; one of an unknown tool if the task is not known."""
        return self._calls.get(string_or_none(params.get("taskId")) or "", ToolCall(tool="task"))

    def fit(self, result: RawJson, request: PendingRequest, call: ToolCall) -> bytes | None:
        """The result of a tool call or of a request for a task, made to fit; None if it stays as it is.

        If the result of a tool call is a task, that is noted.

        Raises:
            RawJsonError: it is no result of the protocol.
        """
        fields = members_of(result)
        task = string_or_none(members_of(fields.get("task")).get("taskId") or fields.get("taskId"))
        if request.method == "tools/call" and task is not None:
            self._calls[task] = call
        if request.method != "tasks/get" or "result" not in fields:
            return self._fitter.fit(result, call)
        inner = self._fitter.fit(fields["result"], call)
        outer = self._fitter.fit(join_object({**fields, "result": b"null"}), call)
        if inner is None and outer is None:
            return None
        shown = fields if outer is None else members(outer)
        return join_object({**shown, "result": fields["result"] if inner is None else inner})
