"""The recording of the README shows what its commands print."""

from __future__ import annotations

import re
import runpy
from xml.etree import ElementTree as ET

import pytest
from support import ROOT

CAST = ROOT / "docs" / "cast.svg"
SVG = "{http://www.w3.org/2000/svg}"
VARYING = r"art_\d+_[0-9a-f]{16}|in [\d.]+ [KM]iB$"  # ids, and sizes on the disk


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "docs" / "cast.py"))


def lines(svg):
    """The lines of a picture from top to bottom."""
    return [each.text for each in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.long
def test_the_recording_shows_what_the_commands_print(script):
    """Each command with all that it prints, to the letter, but for ids and sizes on the disk; the picture is well-formed."""
    calls = script["record"]()
    wanted = [line for call in calls for line in (f"$ {call.command}", *call.printed.splitlines())]
    found = lines(CAST.read_text(encoding="utf-8"))
    assert [re.sub(VARYING, "...", line) for line in found] == [
        re.sub(VARYING, "...", line) for line in wanted
    ]
    assert lines(script["draw"](calls)) == wanted


def test_the_recording_says_what_it_is_there_to_say():
    """The end of the output has no error, the preview has it, and all of it is kept."""
    shown = "\n".join(lines(CAST.read_text(encoding="utf-8")))
    assert "20001: src/a.c:3: error: boom" in shown
    assert "1 line that both ends would have lost" in shown


def test_the_recording_is_a_small_picture_that_asks_for_nothing(script):
    """CSS alone: no script, nothing from elsewhere; it ends within its time, and every line fits."""
    svg = CAST.read_text(encoding="utf-8")
    assert len(svg) < 20_000
    assert not re.search(r"<script|href|url\(|@import|\son\w+=", svg)
    moments = [float(moment) for moment in re.findall(r"([\d.]+)%,100%", svg)]
    assert 60 < max(moments) < 95
    assert max(map(len, lines(svg))) <= script["_COLUMNS"]


def test_the_same_calls_are_drawn_the_same(script):
    """To the byte."""
    calls = [script["Call"]("echo '<&>'", "<&>\n")]
    assert script["draw"](calls) == script["draw"](calls)
    assert lines(script["draw"](calls)) == ["$ echo '<&>'", "<&>"]
