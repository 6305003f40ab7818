"""What a terminal obeys or does not show: escape sequences and invisible characters of others never reach it unasked."""

from __future__ import annotations

import re
import unicodedata

import pytest
from support import each_of

from spillstore_tools.preview.text.clean import label, visible

pytestmark = pytest.mark.everywhere

SECRETIVE = "rm \u202efdp.exe\u2066\u200b"
SHOWN = "rm <U+202E>fdp.exe<U+2066><U+200B>"
DATA = f"one \x1b[31mred\x1b[0m \x1b]0;title\x07two {SECRETIVE}\n".encode()


@pytest.mark.parametrize("command", ["cat", "show", "tail"])
def test_a_terminal_gets_cleaned_text(at_terminal, put, command):
    """Without escape sequences, and with names in place of what is invisible."""
    put(DATA)
    answer = at_terminal(command, "@last", SPILLSTORE_PAGER="")
    assert (0, f"one red two {SHOWN}\n") == (answer.code, answer.text)


@pytest.mark.parametrize("command", ["cat", "show", "tail"])
def test_raw_gives_a_terminal_the_bytes(at_terminal, put, command):
    """With ``--raw`` they are what was stored."""
    put(DATA)
    answer = at_terminal(command, "@last", "--raw", SPILLSTORE_PAGER="")
    assert (0, DATA) == (answer.code, answer.out)


@pytest.mark.parametrize(
    ("command", "expected"), [("cat", DATA), ("show", f"one red two {SECRETIVE}\n".encode())]
)
def test_a_pipe_gets_what_it_always_got(cli, put, command, expected):
    """``cat`` is exact there, and ``show`` leaves characters alone that a program may need."""
    put(DATA)
    assert cli(command, "@last").out == expected


def test_a_pager_gets_cleaned_text(at_terminal, put):
    """It passes escape sequences on to the terminal, so ``cat`` cleans before."""
    put(DATA)
    answer = at_terminal("cat", "@last", SPILLSTORE_PAGER="cat -")
    assert (0, f"one red two {SHOWN}\n") == (answer.code, answer.text)


@pytest.mark.parametrize(
    "arguments", [("list",), ("list", "--box"), ("info", "@last"), ("audit",), ("stats",)]
)
def test_metadata_is_shown_as_it_is(cli, store, arguments):
    """Commands, sources and types of others hide nothing where people read them."""
    with store.session("default") as session:
        session.put(b"x\n" * 9, source=SECRETIVE, command=SECRETIVE, content_type=f"text/{SECRETIVE}")
    printed = cli(*arguments).out.decode()
    assert not set("\u202e\u2066\u200b") & set(printed)
    assert "<U+202E>" in printed


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "caf\u00e9",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f468\u200d\U0001f469",
        "\u05e9\u05dc\u05d5\u05dd",
        "\u4f60\u597d",
        "e\u0301",
    ],
)
def test_writing_of_all_scripts_stays(text):
    """Letters, accents, emoji and the joiners between them are shown as they are."""
    assert visible(text) == text


@each_of(
    "code",
    [
        0xAD,
        0x61C,
        0x200B,
        0x200C,
        0x200D,
        0x200E,
        0x2028,
        0x202A,
        0x202E,
        0x2060,
        0x2066,
        0x2069,
        0xFEFF,
        0xE0041,
    ],
)
def test_what_is_invisible_is_named(code):
    """Also on one line with what was several."""
    assert label(f"a{chr(code)}b\nc") == f"a<U+{code:04X}>b c"


HOSTILE = b"\x1b]52;c;aGk=\x07\x1b]0;title\x07\x1b[2J\x1b[8mhidden\x1b[0m\x9b2J\x90q\x9c \xc2\x9b2J\r\x08\x7f"
EVERYWHERE = (
    ("list",), ("list", "--box"), ("sessions",), ("info", "@last"), ("show", "@last"), ("show", "@last", "--lines", "1-2"), ("cat", "@last"),
    ("tail", "@last"), ("search", "wanted", "@last"), ("search", "wanted.*", "@last", "--context", "2"), ("query", "$..*", "@last"),
    ("query", "$[", "@last"), ("diff", "@last~1", "@last"), ("verify", "@last"), ("verify",), ("audit",), ("stats",), ("show", "no\x1b[2Jne"),
    ("search", "(\x1b[2J", "@last"), ("export", "@last", "/nowhere/\x1b[2J/x"), ("copy", "--to", "/nowhere\x1b[2J"), ("rm", "\x1b[2J"),
    ("gc", "--dry-run"),
)  # fmt: skip


@pytest.mark.parametrize("arguments", EVERYWHERE, ids=" ".join)
def test_no_command_sends_a_terminal_what_it_obeys(at_terminal, store, arguments):
    """Content, metadata, and what was typed: no control but those of our own colours reaches it, of any command."""
    text = HOSTILE.decode("latin-1")
    with store.session("default") as session:
        session.put(b"first\n" + HOSTILE + b" wanted\n", source="x", command="one")
        session.put(b"other " + HOSTILE + b" wanted\n", source=text, command=text, content_type="text/plain")
    said = at_terminal(*arguments, SPILLSTORE_PAGER="").out.decode("utf-8", "replace")
    without_colours = re.sub(r"\x1b\[[0-9;]*m", "", said.replace("\r\n", "\n"))
    assert said
    assert "\x1b[8m" not in said  # a colour that hides
    assert set() == {each for each in without_colours if unicodedata.category(each) == "Cc"} - {"\n", "\t"}
