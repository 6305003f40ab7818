"""Results of 200 MB through the hooks that frameworks call: what the process takes besides is flat."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = [pytest.mark.adapters, pytest.mark.slow]

BEFORE = """
    import asyncio, resource, sys
    from pathlib import Path
    from types import SimpleNamespace
    from spillstore import Store
    line = "2026-11-20 12:00:00 worker 7 has done its part, and goes on with the next one\\n"
    text = line * (200_000_000 // len(line))
    open_session = lambda: Store(sys.argv[1], free_disk_floor=0).session("large")
"""
AFTER = """
    asyncio.run(call(line))
    with open("/proc/self/statm") as file:
        before = int(file.read().split()[1]) * resource.getpagesize()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak counts from here
    shown = asyncio.run(call(text))
    assert "worker 7" in str(shown) and len(str(shown)) < 10_000, str(shown)[:1000]
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    print(peak - before)
"""
CALLS = {
    "openai_agents": """
    from spillstore_tools.adapters.openai_agents import SpillTools
    guardrail = SpillTools(open_session).guardrail
    async def call(text):
        context = SimpleNamespace(tool_name="t", tool_call_id="c", tool_arguments="{}", tool_call=None)
        return (await guardrail.run(SimpleNamespace(context=context, output=text))).behavior
    """,
    "google_adk": """
    from spillstore_tools.adapters.google_adk import SpillPlugin
    plugin = SpillPlugin(open_session)
    async def call(text):
        context = SimpleNamespace(function_call_id="c")
        return await plugin.after_tool_callback(
            tool=SimpleNamespace(name="t"), tool_args={}, tool_context=context, result={"stdout": text}
        )
    """,
    "pydantic_ai": """
    from spillstore_tools.adapters.pydantic_ai import SpillCapability
    spill = SpillCapability(open_session)
    async def call(text):
        return await spill.after_tool_execute(
            SimpleNamespace(messages=[]), call=SimpleNamespace(tool_name="t", tool_call_id="c"),
            tool_def=SimpleNamespace(tool_kind=None), args={}, result=text,
        )
    """,
    "agent_framework": """
        from spillstore_tools.adapters.agent_framework import SpillMiddleware
        spill = SpillMiddleware(open_session)
        async def call(text):
            context = SimpleNamespace(function=SimpleNamespace(name="t"), arguments={}, metadata={"call_id": "c"})
            async def call_next():
                context.result = text
            await spill.process(context, call_next)
            return context.result
        """,
    "claude_sdk": """
    from spillstore_tools.adapters.claude_sdk import SpillOptions
    hook = SpillOptions(open_session, shell=False).options().hooks["PostToolUse"][0].hooks[0]
    folder = Path(sys.argv[1] + "-conversation/tool-results")
    folder.mkdir(parents=True)
    (folder / "b.txt").write_text(text)
    del text
    async def call(text):
        payload = {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c", "tool_input": {},
            "transcript_path": str(folder.parent) + ".jsonl",
            "tool_response": {"stdout": "", "persistedOutputPath": str(folder / "b.txt")},
        }
        return await hook(payload, "c", {}) if text is None else None
    text = None
    """,
}


@pytest.mark.parametrize("adapter", CALLS)
def test_a_result_of_200_mb_is_not_copied(adapter, tmp_path):
    """The copy that is there is the framework's own; of Claude Code, a file."""
    pytest.importorskip(f"spillstore_tools.adapters.{adapter}", exc_type=ImportError)
    code = "".join(map(textwrap.dedent, (BEFORE, CALLS[adapter], AFTER)))
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "root")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    print(adapter, int(done.stdout) / 1e6)
    assert int(done.stdout) < 120e6
