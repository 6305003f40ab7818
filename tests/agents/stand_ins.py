"""Servers on loopback that stand in for models: they ask for tool calls from a script, and keep what comes back.

Each speaks as little of a provider's protocol as one conversation of one agent needs.
"""

from __future__ import annotations

import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Result(NamedTuple):
    """What an agent has sent back for one tool call."""

    text: str
    is_error: bool


class StandIn:
    """One model.

    Args:
        calls: tool calls, in order: a name and its arguments, or a function of the results so far that returns them.
    """

    def __init__(self, calls):
        self.calls = list(calls)
        self.requests = []
        self.tools = set()
        self.failure = None
        self._numbers = itertools.count(1)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def results(self) -> list[Result]:
        """Those of the conversation, in order."""
        found = [self.results_of(request) for request in self.requests]
        return max(found, key=len, default=[])

    def next_call(self, request):
        """The next tool call, or None if the script is over."""
        done = self.results_of(request)
        if len(done) >= len(self.calls):
            return None
        call = self.calls[len(done)]
        try:
            return call(done) if callable(call) else call
        except AssertionError as error:  # the conversation ends, and the test fails with it
            self.failure = error
            return None

    def _handler(self):
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.send(b'{"data": [], "models": [], "object": "list"}')

            def do_HEAD(self):
                self.send(b"")

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Content-Encoding") == "zstd":
                    import zstandard

                    body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
                request = json.loads(body or b"{}")
                data, kind = model.answer(self.path, request)
                self.send(data, kind)

            def send(self, data, kind="application/json"):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

        return Handler

    def number(self):
        return next(self._numbers)


def stream(events, *, named=True):
    """Server-sent events."""
    parts = []
    for event in events:
        head = f"event: {event['type']}\n" if named else ""
        parts.append(f"{head}data: {json.dumps(event)}\n\n")
    return "".join(parts).encode(), "text/event-stream"


def plain(value):
    return json.dumps(value).encode(), "application/json"


class Messages(StandIn):
    """The Messages API of Anthropic."""

    def results_of(self, request):
        found = []
        for message in request.get("messages", []):
            for block in message["content"] if isinstance(message["content"], list) else []:
                if block.get("type") == "tool_result":
                    content = block.get("content", "")
                    if isinstance(content, list):
                        content = "".join(each.get("text", "") for each in content)
                    found.append(Result(content, bool(block.get("is_error"))))
        return found

    def answer(self, path, request):
        if "/v1/messages" not in path or "count_tokens" in path:
            return plain({"input_tokens": 1})
        call = None
        if request.get("tools"):
            self.requests.append(request)
            self.tools |= {tool.get("name") for tool in request["tools"]}
            call = self.next_call(request)
        number = self.number()
        if call is None:
            block, stop = {"type": "text", "text": "done"}, "end_turn"
        else:
            block = {"type": "tool_use", "id": f"toolu_{number:04d}", "name": call[0], "input": call[1]}
            stop = "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model", "m"),
            "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        if not request.get("stream"):
            return plain(message)
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return stream([
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ])  # fmt: skip


class Responses(StandIn):
    """The Responses API of OpenAI."""

    def results_of(self, request):
        found = []
        for item in request.get("input", []) if isinstance(request.get("input"), list) else []:
            if item.get("type") in {"function_call_output", "custom_tool_call_output"}:
                output = item["output"]
                text = output if isinstance(output, str) else "".join(each.get("text", "") for each in output)
                found.append(Result(text, is_error=False))
        return found

    def answer(self, path, request):
        if "responses" not in path:
            return plain({})
        self.requests.append(request)
        self.tools |= {tool.get("name") or tool.get("type") for tool in request.get("tools", [])}
        call, number = self.next_call(request), self.number()
        if call is None:
            content = [{"type": "output_text", "text": "done"}]
            item = {"type": "message", "id": f"m_{number}", "role": "assistant", "content": content}
        else:
            item = {
                "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}",
                "name": call[0], "arguments": json.dumps(call[1]),
            }  # fmt: skip
        response = {"id": f"resp_{number}"}
        usage = {
            "input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
            "total_tokens": 2,
        }  # fmt: skip
        return stream([
            {"type": "response.created", "response": response},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "usage": usage}},
        ])  # fmt: skip


class Completions(StandIn):
    """The chat completions of OpenAI."""

    def results_of(self, request):
        return [
            Result(message["content"], is_error=False)
            for message in request.get("messages", [])
            if message["role"] == "tool"
        ]

    def answer(self, path, request):
        call = None
        if request.get("tools"):
            self.requests.append(request)
            self.tools |= {tool["function"]["name"] for tool in request["tools"]}
            call = self.next_call(request)
        number = self.number()
        if call is None:
            message, end = {"role": "assistant", "content": "done"}, "stop"
        else:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            calls = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
            message, end = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
        base = {"id": f"c_{number}", "created": 1, "model": request.get("model", "m")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": end}
            return plain({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        chunk = {**base, "object": "chat.completion.chunk"}
        data, kind = stream([
            {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
            {**chunk, "choices": [], "usage": usage},
        ], named=False)  # fmt: skip
        return data + b"data: [DONE]\n\n", kind


class Contents(StandIn):
    """The generateContent of Gemini."""

    def results_of(self, request):
        found = []
        for content in request.get("contents", []):
            for part in content.get("parts", []):
                if "functionResponse" in part:
                    response = part["functionResponse"]["response"]
                    text = response.get("output", response.get("error"))
                    found.append(
                        Result(text if isinstance(text, str) else json.dumps(response), "error" in response)
                    )
        return found

    def answer(self, path, request):
        if "countTokens" in path:
            return plain({"totalTokens": 1})
        names = [
            each["name"] for tool in request.get("tools", []) for each in tool.get("functionDeclarations", [])
        ]
        if names:
            self.requests.append(request)
            self.tools |= set(names)
            call = self.next_call(request)
            part = {"text": "done"} if call is None else {"functionCall": {"name": call[0], "args": call[1]}}
        else:
            part = {
                "text": json.dumps({"reasoning": "none", "next_speaker": "user", "model_choice": "flash"})
            }
        answer = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        if "stream" in path:
            return f"data: {json.dumps(answer)}\r\n\r\n".encode(), "text/event-stream"
        return plain(answer)
