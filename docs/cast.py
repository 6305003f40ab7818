"""Writes ``docs/cast.svg``: commands with what they print, drawn as a terminal, in fifteen seconds that begin again.

``python docs/cast.py`` (``make cast``). The commands are run by bash in an empty folder, with a home and a store that are gone
afterwards; what they print is drawn to the letter. Ids and sizes on the disk change from time to time, the rest does not. The picture
moves by CSS alone, so it does so wherever a page shows it as an image; who has asked for less motion sees the last frame.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

PAGE = Path(__file__).parent / "cast.svg"
SETUP = "echo \"seq 1 20000; echo 'src/a.c:3: error: boom'; seq 1 20000; exit 3\" > build.sh"
COMMANDS = (
    "cat build.sh",
    "sh build.sh | tail -n 2     # the end alone, as some agents keep it",
    "spillstore run -- sh build.sh > shown; wc -m < shown",
    "grep -B1 -A1 boom shown     # a preview of 8,000 characters has the error",
    "spillstore show @last --lines 20000-20002     # and all the rest is there",
    "spillstore search @last 'error:'",
    "spillstore stats --all | head -n 4",
    "# spillstore install claude-code     does all of this in your agent",
)
SECONDS = 15.0
_TYPED = 90.0  # characters a second
_PAUSE = 0.55  # seconds before what a command prints, and behind it
_COLUMNS, _WIDTH, _HEIGHT = 80, 8.4, 19  # a character and a line, in pixels
_MARGIN, _BAR = 16, 28
_STYLE = (
    "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d0d7de;white-space:pre}"
    ".typed{fill:#fff;font-weight:600}.bad{fill:#ff7b72}.back{fill:#0d1117}"
    ".late{animation:15s step-end infinite}"
    "@media(prefers-reduced-motion:reduce){.late{animation:none}.cover{display:none}}"
)


class Call(NamedTuple):
    """A command, and what it printed."""

    command: str
    printed: str


def record() -> list[Call]:
    """Run the commands."""
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir()
        work.mkdir()
        environment = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "SPILLSTORE_FREE_DISK_FLOOR": "0",
        }

        def call(command: str) -> str:
            done = subprocess.run(  # our own commands
                ["/bin/bash", "-c", command],
                cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, check=False,
            )  # fmt: skip
            return done.stdout

        call(SETUP)
        return [Call(command, call(command)) for command in COMMANDS]


def draw(calls: list[Call]) -> str:
    """The picture."""
    rows: list[str] = []
    rules: list[str] = []
    at, row = 0.5, 0

    def late(moment: float) -> str:
        """The class of what is seen from a moment on."""
        rules.append(
            f"@keyframes k{len(rules)}{{0%{{opacity:0}}{100 * moment / SECONDS:.2f}%,100%{{opacity:1}}}}"
        )
        return f'class="late" style="animation-name:k{len(rules) - 1}"'

    def line(words: str, kind: str) -> str:
        y = _BAR + _MARGIN + _HEIGHT * row
        return f'<text x="{_MARGIN}" y="{y}" class="{kind}" textLength="{_WIDTH * len(words):.1f}">{escape(words)}</text>'

    for command, printed in calls:  # each twice: as it is typed, and what it prints
        prompted = f"$ {command}"
        took = len(command) / _TYPED
        rules.append(
            f"@keyframes k{len(rules)}{{0%,{100 * at / SECONDS:.2f}%{{transform:translateX({2 * _WIDTH:.1f}px)}}"
            f"{100 * (at + took) / SECONDS:.2f}%,100%{{transform:translateX({_WIDTH * len(prompted):.1f}px)}}}}"
        )
        cover = (
            f'<rect class="back cover" x="{_MARGIN}" y="{_BAR + _MARGIN + _HEIGHT * row - 14}" width="{_WIDTH * _COLUMNS:.0f}" '
            f'height="{_HEIGHT}" style="animation:k{len(rules) - 1} {SECONDS:g}s steps({len(command)}) infinite"/>'
        )
        rows.append(f"<g {late(at)}>{line(prompted, 'typed')}{cover}</g>")
        row += 1
        at += took + _PAUSE
        drawn = []
        for each in printed.splitlines():
            drawn.append(line(each, "bad" if each.endswith("error: boom") else "said"))
            row += 1
        if drawn:
            rows.append(f"<g {late(at)}>{''.join(drawn)}</g>")
            at += _PAUSE
    width, height = _WIDTH * _COLUMNS + 2 * _MARGIN, _BAR + 2 * _MARGIN + _HEIGHT * row
    told = quoteattr(
        "A terminal: a build's error in the middle of 40,001 lines, kept and shown by spillstore"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        f'role="img" aria-label={told}>'
    )
    frame = f'<rect class="back" width="{width:.0f}" height="{height}" rx="8"/>'
    lights = "".join(
        f'<circle cx="{18 + 18 * n}" cy="16" r="5" fill="{c}"/>'
        for n, c in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return "\n".join([head, f"<style>{_STYLE}{''.join(rules)}</style>", frame, lights, *rows, "</svg>", ""])


if __name__ == "__main__":
    PAGE.write_text(draw(record()), encoding="utf-8")
    print(f"written: {PAGE}")
