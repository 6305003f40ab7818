"""Configurations as people and programs write them: comments, odd spacing, line ends, marks, foreign entries."""

from __future__ import annotations

import codecs
import json

from hypothesis import strategies as st

BLANKS = st.text(" \t\n", max_size=4)
WORDS = st.text("abc {}[]\",:*/\\'#=é\U0001f600", max_size=8)
KEYS = st.one_of(
    st.sampled_from(["env", "hooks", "permissions", "allow", "PostToolUse", "shell", "mcpServers", "a", "b"]),
    WORDS,
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 10**20),
    WORDS,
    st.sampled_from(["spillstore", "/x/other-sh", "Bash(ls:*)"]),
)
HOOK = {"matcher": "Edit", "hooks": [{"type": "command", "command": "/usr/bin/lint --all"}]}


@st.composite
def gaps(draw, *, comments=True):
    """What may stand between two tokens of JSON."""
    text = draw(BLANKS)
    if comments and draw(st.integers(0, 5)) == 0:
        word = draw(WORDS).replace("*/", "").rstrip("*")
        text += draw(st.sampled_from([f"/*{word} */", f"//{word}\n", f"/*\n{word} */\n"])) + draw(BLANKS)
    return text


@st.composite
def rendered(draw, value, *, comments=True):
    """A text of JSON for a value, oddly spaced."""

    def gap():
        return draw(gaps(comments=comments))

    if isinstance(value, (dict, list)):
        parts = []
        for each in value.items() if isinstance(value, dict) else value:
            if isinstance(value, dict):
                key = json.dumps(each[0], ensure_ascii=draw(st.booleans()))
                parts.append(
                    gap() + key + gap() + ":" + gap() + draw(rendered(each[1], comments=comments)) + gap()
                )
            else:
                parts.append(gap() + draw(rendered(each, comments=comments)) + gap())
        end = "," + gap() if parts and comments and draw(st.booleans()) else ""
        inside = ",".join(parts) + end if parts else gap()
        return ("{%s}" if isinstance(value, dict) else "[%s]") % inside
    return json.dumps(value)


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def settings_values(draw):
    """What settings hold: foreign entries, and containers of ours that are there already."""
    found = draw(
        st.dictionaries(
            KEYS.filter(lambda key: key not in {"env", "hooks", "permissions", "shell", "mcpServers"}),
            VALUES,
            max_size=4,
        )
    )
    if draw(st.booleans()):
        found["env"] = draw(st.dictionaries(WORDS, WORDS, max_size=2))
    if draw(st.booleans()):
        events = ["PostToolUse", "PreToolUse", "AfterTool", "BeforeTool"]
        found["hooks"] = draw(
            st.dictionaries(st.sampled_from(events), st.lists(st.just(HOOK), max_size=2), max_size=3)
        )
    if draw(st.booleans()):
        allowed = ["Bash(ls:*)", "Read", "Bash(spillstore show:*)"]
        found["permissions"] = draw(
            st.dictionaries(
                st.sampled_from(["allow", "deny"]),
                st.lists(st.sampled_from(allowed), max_size=3, unique=True),
                max_size=2,
            )
        )
    if draw(st.booleans()):
        found["mcpServers"] = draw(
            st.dictionaries(
                WORDS.filter(lambda word: word != "spillstore"), st.just({"command": "x"}), max_size=2
            )
        )
    keys = draw(st.permutations(list(found)))
    return {key: found[key] for key in keys}


@st.composite
def encoded(draw, texts):
    """The bytes of a file: with LF or CRLF, with or without a mark and a last line end."""
    text = draw(texts)
    text = text.rstrip("\n") + draw(st.sampled_from(["", "\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (codecs.BOM_UTF8 if draw(st.booleans()) else b"") + text.encode()


@st.composite
def json_texts(draw):
    value = draw(settings_values())
    how = draw(st.sampled_from(["odd", "odd", "indented", "tabs", "one line"]))
    if how == "odd":
        return draw(gaps()) + draw(rendered(value)) + draw(gaps())
    return json.dumps(value, indent={"indented": 2, "tabs": "\t", "one line": None}[how])


JSON_FILES = encoded(json_texts())

TOML_LINES = st.sampled_from([
    "# a comment [not.a.table]\n", "\n", 'model = "m" # why\n', "'quoted key' = 'C:\\x'\n", "n = 1_000\n", "when = 2026-01-01 10:00:00\n",
    'text = """\n[sandbox_workspace_write]\nx = ""y""""\n', "raw = '''\n]\n'''\n", 'many = [ 1, # one\n  [2, 3], {a = 1, b = ["]"]}, ]\n',
    "inline = { a.b = 1, c = 'x' }\n", "a.b.c = true\n", "f = [nan, inf, 1e3]\n",
])  # fmt: skip
TOML_TABLES = st.sampled_from([
    "[tools]\nweb = true\n", '[ mcp_servers . other ] # keep\ncommand = "x"\nargs = [\n  "a",\n]\n', "[[profiles]]\nname = 'p'\n[[profiles]]\nname = 'q'\n",
    "[sandbox_workspace_write]\nnetwork_access = true\n", '[sandbox_workspace_write]\nwritable_roots = ["/data"]\n',
    "[sandbox_workspace_write]\nwritable_roots = [ # ours\n  '/data', # one\n  \"/more\"\n]\n", "[sandbox_workspace_write]\nwritable_roots = [ ]\n",
    "sandbox_workspace_write.writable_roots = []\n", "[sandbox_workspace_write] # last\n", "[mcp_servers]\n", '[projects."/home/u/x"]\ntrust_level = "trusted"\n',
])  # fmt: skip


@st.composite
def toml_texts(draw):
    lines = draw(st.lists(TOML_LINES, max_size=4, unique=True))
    tables = draw(
        st.lists(
            TOML_TABLES,
            max_size=4,
            unique_by=lambda text: text.strip("[ ").split("]")[0].split(".")[0].strip(),
        )
    )
    dotted = [table for table in tables if not table.startswith("[")]
    text = "".join(lines + dotted)
    for table in tables:
        if table not in dotted:
            text += draw(st.sampled_from(["", "\n", "  ", "# before\n"])) + table
    return text


TOML_FILES = encoded(toml_texts())
