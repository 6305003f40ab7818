"""A server with some of everything, written with the SDK, for a proxy to stand in front of."""

from __future__ import annotations

import base64
import sys
import warnings

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

warnings.simplefilter("ignore")

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(40))).decode()
ROWS = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
    "required": ["rows"],
    "additionalProperties": False,
    "$defs": {"row": {"type": "integer"}},
}
TOOLS = [
    types.Tool(
        name="echo",
        title="Echo",
        description="Says it again",
        input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        annotations=types.ToolAnnotations(title="Echo!", read_only_hint=True),
        icons=[types.Icon(src="data:image/png;base64,AAAA")],
        _meta={"example.com/colour": "blue"},
    ),
    *[
        types.Tool(name=name, input_schema={"type": "object"})
        for name in ("blocks", "picture", "slow", "ask", "log", "grow", "cancelled")
    ],
    types.Tool(name="rows", input_schema={"type": "object"}, output_schema=ROWS),
]
if "taken" in sys.argv:
    TOOLS.append(types.Tool(name="get_artifact", description="theirs", input_schema={"type": "object"}))
PAGE = 4
cancelled: list[str] = []


def text(words: str, **options) -> types.TextContent:
    return types.TextContent(type="text", text=words, **options)


async def list_tools(ctx, params):
    start = int(params.cursor) if params and params.cursor else 0
    more = str(start + PAGE) if start + PAGE < len(TOOLS) else None
    return types.ListToolsResult(
        tools=TOOLS[start : start + PAGE], next_cursor=more, _meta={"a.b/page": start}
    )


async def call_tool(ctx, params):
    arguments = params.arguments or {}
    return await globals()[f"do_{params.name}"](ctx, **arguments)


async def do_echo(ctx, *, text="", times=1, error=False, **more):
    return types.CallToolResult(content=[globals()["text"](text * times)], is_error=error)


async def do_get_artifact(ctx, **arguments):
    return types.CallToolResult(content=[text(f"theirs: {sorted(arguments)}")])


async def do_blocks(ctx, count=3, size=10):
    """Text, picture, resource and link in turn, with annotations."""
    blocks: list[types.ContentBlock] = []
    for number in range(count):
        words = f"{number:06d}\n" * (size // 7 + 1)
        blocks += [
            text(words[:size], annotations=types.Annotations(priority=0.5), _meta={"x.y/n": number}),
            types.ImageContent(type="image", data=PIXEL, mime_type="image/png"),
            types.EmbeddedResource(
                type="resource",
                resource=types.TextResourceContents(
                    uri=f"mem://{number}", mime_type="text/plain", text=words[:size]
                ),
            ),
            types.ResourceLink(type="resource_link", uri=f"mem://{number}", name="n"),
        ]
    return types.CallToolResult(content=blocks, _meta={"x.y/whole": True})


async def do_picture(ctx, size=100, kind="image"):
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(size - 8)).decode()
    if kind == "image":
        block: types.ContentBlock = types.ImageContent(type="image", data=data, mime_type="image/png")
    elif kind == "audio":
        block = types.AudioContent(type="audio", data=data, mime_type="audio/wav")
    else:
        contents = types.BlobResourceContents(uri="mem://blob", mime_type="application/zip", blob=data)
        block = types.EmbeddedResource(type="resource", resource=contents)
    return types.CallToolResult(content=[text("before"), block, text("after")])


async def do_rows(ctx, *, count=3, words=True):
    rows = list(range(count))
    content = [text(str(rows))] if words else []
    return types.CallToolResult(content=content, structured_content={"rows": rows})


async def do_slow(ctx, steps=3):
    for step in range(steps):
        await ctx.session.report_progress(step + 1, steps, f"step {step + 1}")
    return types.CallToolResult(content=[text("done")])


async def do_ask(ctx, what="sampling"):
    if what == "sampling":
        message = types.SamplingMessage(role="user", content=text("why?"))
        answer = await ctx.session.create_message(messages=[message], max_tokens=5)
        said = answer.content.text
    elif what == "elicitation":
        answer = await ctx.session.elicit_form(
            "name?", {"type": "object", "properties": {"n": {"type": "string"}}}
        )
        said = answer.content["n"]
    elif what == "roots":
        said = str((await ctx.session.list_roots()).roots[0].uri)
    else:
        await ctx.session.send_ping()
        said = "pong"
    return types.CallToolResult(content=[text(said)])


async def do_log(ctx):
    await ctx.session.send_log_message("warning", {"n": 1}, logger="here")
    await ctx.session.send_resource_updated("mem://0")
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_prompt_list_changed()
    return types.CallToolResult(content=[text("told")])


async def do_grow(ctx, name="search_artifact"):
    """From now on there is another tool, and clients are told."""
    TOOLS.append(types.Tool(name=name, input_schema={"type": "object"}))
    await ctx.session.send_tool_list_changed()
    return types.CallToolResult(content=[text("grown")])


async def do_cancelled(ctx, *, wait=False):
    """Waits to be cancelled; or says what was begun and cancelled."""
    if not wait:
        return types.CallToolResult(content=[text(str(cancelled))])
    cancelled.append("waits")
    try:
        await anyio.sleep(60)
    except anyio.get_cancelled_exc_class():
        cancelled.append("yes")
        raise
    raise AssertionError("nobody cancelled it")


async def list_resources(ctx, params):
    return types.ListResourcesResult(
        resources=[types.Resource(uri="mem://0", name="zero", mime_type="text/plain")], next_cursor="more"
    )


async def list_templates(ctx, params):
    return types.ListResourceTemplatesResult(
        resource_templates=[types.ResourceTemplate(uri_template="mem://{n}", name="any")]
    )


async def read_resource(ctx, params):
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text="x" * 20_000)])


async def list_prompts(ctx, params):
    return types.ListPromptsResult(
        prompts=[types.Prompt(name="p", arguments=[types.PromptArgument(name="a")])]
    )


async def get_prompt(ctx, params):
    said = f"{params.name} {params.arguments}"
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text(said))])


async def complete(ctx, params):
    return types.CompleteResult(completion=types.Completion(values=[params.argument.value + "!"], total=1))


async def nothing(ctx, params):
    return types.EmptyResult()


server = Server(
    "everything",
    version="7",
    instructions="Theirs.",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_subscribe_resource=nothing,
    on_unsubscribe_resource=nothing,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_completion=complete,
    on_set_logging_level=nothing,
)
if "toolless" in sys.argv:
    server = Server("toolless", on_list_prompts=list_prompts)


async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
