"""Peers that are the stores of agents, each used through the hook that keeps a large result and the tool that reads it back.

Their packages want other versions of what Spillstore uses, so they are installed in an environment of their own, see
``benchmarks/agents.txt``. What a tool answers is what counts: where it cuts, the answer is cut. No model is asked anything.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.peers.libraries import Library, numbered


def _text(path: Path) -> str:
    """A result as agents have it: text, whatever the bytes were."""
    return path.read_bytes().decode("utf-8", "replace")


class Strands(Library):
    """strands-agents: ``ContextOffloader`` over files, and its tool ``retrieve_offloaded_content``."""

    module = "strands"

    def store(self, text: Path) -> None:
        """Keep a text, as the hook behind a tool call does."""
        self._opened()
        result = {"toolUseId": "call", "status": "success", "content": [{"text": _text(text)}]}
        use = {"name": "bash", "toolUseId": "call", "input": {}}
        events: Any = import_module("strands.hooks.events")
        event = events.AfterToolCallEvent(
            agent=self._agent, selected_tool=None, tool_use=use, invocation_state={}, result=result
        )
        asyncio.run(self._agent.hooks.invoke_callbacks_async(event))
        shown = event.result["content"][0]["text"]
        self._reference = re.findall(r"^\s+(\S+) \(text, [\d,]+ chars\)", shown, re.MULTILINE)[-1]

    def open(self) -> None:
        """A new agent on the same folder."""
        self._opened()

    def _opened(self) -> None:
        strands: Any = import_module("strands")
        models: Any = import_module("strands.models.model")
        plugin: Any = import_module("strands.vended_plugins.context_offloader")

        class Nobody(models.Model):  # type: ignore[misc]  # of a package that is not here
            """A model that is never asked."""

            def update_config(self, **_: Any) -> None: ...

            def get_config(self) -> dict[str, Any]:
                return {}

            async def stream(self, *_: Any, **__: Any) -> Any:
                yield {}

            async def structured_output(self, *_: Any, **__: Any) -> Any:
                yield {}

        self._plugin = plugin.ContextOffloader(storage=plugin.FileStorage(str(self._folder / "strands")))
        self._agent = strands.Agent(model=Nobody(), plugins=[self._plugin], callback_handler=None)

    def _asked(self, **arguments: Any) -> str:
        context = type("Context", (), {"agent": self._agent})()
        call = self._plugin.retrieve_offloaded_content._tool_func  # no way around the model else
        answer = asyncio.run(call(reference=self._reference, tool_context=context, **arguments))
        return answer if isinstance(answer, str) else json.dumps(answer)

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``, without the numbers that the tool adds."""
        found = self._asked(line_range={"start": first, "end": last})
        return "".join(
            f"{line}\n" for line in re.findall(r"^[ >]\s*\d+\| (.*)$", found, re.MULTILINE)
        ).encode()

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        found = self._asked(pattern=needle, context_lines=0)
        return [int(number) for number in re.findall(r"^>\s*(\d+)\| ", found, re.MULTILINE)]

    def whole(self) -> bytes:
        """All of it."""
        return self._asked().encode()


class DeepAgents(Library):
    """deepagents: ``FilesystemBackend``, to which it moves large results, with ``read`` and ``grep``."""

    module = "deepagents"
    _name = "/large_tool_results/call.txt"

    def store(self, text: Path) -> None:
        """Keep a text."""
        self.open()
        done = self._backend.write(self._name, _text(text))
        if done.error:
            raise RuntimeError(done.error)

    def open(self) -> None:
        """A backend on the folder."""
        backends: Any = import_module("deepagents.backends")
        self._backend = backends.FilesystemBackend(root_dir=self._folder, virtual_mode=True)

    def _read(self, offset: int, limit: int) -> bytes:
        found = self._backend.read(self._name, offset=offset, limit=limit)
        if found.error:
            raise RuntimeError(found.error)
        content: str = found.file_data["content"]
        return content.encode()

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        return self._read(first - 1, last - first + 1)

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        found = self._backend.grep(needle, path="/large_tool_results")
        if found.error:
            raise RuntimeError(found.error)
        return [match["line"] for match in found.matches]

    def whole(self) -> bytes:
        """All of it."""
        return self._read(0, 10**9)


class DeepAgentsStore(DeepAgents):
    """deepagents: ``StoreBackend`` over a store in memory."""

    def open(self) -> None:
        """The same store again: it has nothing on a disk."""
        if not hasattr(self, "_backend"):
            backends: Any = import_module("deepagents.backends")
            memory: Any = import_module("langgraph.store.memory")
            self._backend = backends.StoreBackend(
                store=memory.InMemoryStore(), namespace=lambda _: ("benchmark",)
            )


class PydanticAi(Library):
    """pydantic-ai-harness: ``ToolOutputLimits`` over files, and its tool ``read_tool_result``."""

    module = "pydantic_ai_harness"

    def store(self, text: Path) -> None:
        """Keep a text, as the hook behind a tool call does."""
        self.open()
        messages: Any = import_module("pydantic_ai.messages")
        tools: Any = import_module("pydantic_ai.tools")
        call = messages.ToolCallPart("bash", {}, tool_call_id="call")
        definition = tools.ToolDefinition(name="bash")
        answer = asyncio.run(
            self._limits.after_tool_execute(
                self._context, call=call, tool_def=definition, args={}, result=_text(text)
            )
        )
        self._handle = answer.metadata["overflow_handle"]

    def open(self) -> None:
        """New limits on the same folder."""
        limits: Any = import_module("pydantic_ai_harness.tool_output_limits")
        models: Any = import_module("pydantic_ai.models.test")
        usage: Any = import_module("pydantic_ai.usage")
        tools: Any = import_module("pydantic_ai.tools")
        self._limits = limits.ToolOutputLimits(store=limits.LocalFileStore(base_dir=self._folder / "spilled"))
        self._context = tools.RunContext(
            deps=None, model=models.TestModel(), usage=usage.RunUsage(), run_id="run"
        )
        self._tool = self._limits.get_toolset().tools["read_tool_result"].function

    def _asked(self, **arguments: Any) -> str:
        answer: str = asyncio.run(self._tool(self._context, self._handle, **arguments))
        return answer.partition("\n")[2]  # the first line says what is shown

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        return f"{self._asked(offset=first - 1, limit=last - first + 1)}\n".encode()

    def search(self, needle: str) -> list[str]:
        """The lines that hold a text: the tool gives no numbers."""
        return [line for line in self._asked(pattern=needle).splitlines() if needle in line]

    def whole(self) -> bytes:
        """All of it."""
        return asyncio.run(self._limits.store.read(self._handle))


class Haystack(Library):
    """haystack: ``FileSystemToolResultStore``, which gives back all or nothing."""

    module = "haystack"

    def store(self, text: Path) -> None:
        """Keep a text."""
        self.open()
        self._reference = self._store.write(key="call.txt", content=_text(text))

    def open(self) -> None:
        """A store on the folder."""
        offloading: Any = import_module("haystack.hooks.tool_result_offloading")
        self._store = offloading.FileSystemToolResultStore(root=self._folder / "results")

    def whole(self) -> bytes:
        """All of it."""
        found = self._store.read(self._reference)
        return found if isinstance(found, bytes) else found.encode()

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last`` of all of it."""
        return b"".join(line + b"\n" for line in self.whole().split(b"\n")[first - 1 : last])

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text, in all of it."""
        return numbered(iter([self.whole()]), needle.encode())


class ContextMode:
    """context-mode: its ``ContentStore``, full-text search over pieces of 20 lines; a program of its own in Node."""

    folder = Path(__file__).parent.parent / ".data" / "context-mode" / "node_modules" / "context-mode"

    def __init__(self, folder: Path) -> None:
        self._database = folder / "content.db"
        self._node: subprocess.Popen[str] | None = None

    @classmethod
    def missing(cls) -> str:
        """What has to be installed."""
        return "" if cls.folder.is_dir() else "context-mode (make bench-peers)"

    def store(self, text: Path) -> None:
        """Keep a text."""
        self.open()
        self._asked(do="index", text=str(text))

    def open(self) -> None:
        """Start it anew."""
        self.close()
        script = Path(__file__).with_name("context_mode.mjs")
        self._node = subprocess.Popen(
            ["node", str(script), str(self.folder), str(self._database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End it, so that its cost is known."""
        if self._node is not None:
            self._node.communicate()
            self._node = None

    def _asked(self, **question: Any) -> Any:
        assert self._node is not None
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps(question) + "\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline() or '{"error": "it has ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["answer"]

    lines = None  # it has no way to ask for a range

    def search(self, needle: str) -> list[str]:
        """The lines that hold a text, of the pieces that the search finds: it gives no numbers."""
        pieces: list[str] = self._asked(do="search", query=needle)
        return [line for piece in pieces for line in piece.splitlines() if needle in line]

    def whole(self) -> bytes:
        """All pieces, one behind the other."""
        return "\n".join(self._asked(do="all")).encode()
