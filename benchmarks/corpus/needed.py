"""What a preview of an output must show, and where it stands in the output.

A pattern is a piece of one line, as it is after ``clean``: without escape sequences and control characters, with one
blank for each run of blanks. A plain string stands in exactly one line of the output; ``Copies`` stands in several, which
tell the same, so that any of them will do.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\r\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]"
)
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_LINE_END = re.compile(r"\r\n|\n|\r")
_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class Copies(str):
    """A pattern that stands in several lines."""

    __slots__ = ()


class Needed(NamedTuple):
    """What must be shown.

    Attributes:
        first: the first cause: one of these patterns. Empty where nothing went wrong.
        further: more that must be shown, one of the patterns of each tuple.
    """

    first: tuple[str, ...] = ()
    further: tuple[tuple[str, ...], ...] = ()

    @property
    def all(self) -> tuple[tuple[str, ...], ...]:
        """The first cause and the rest."""
        return ((self.first,) if self.first else ()) + self.further


def needed(first: str | tuple[str, ...] | None, *further: str | tuple[str, ...]) -> Needed:
    """The first cause, None where nothing went wrong, and more; a tuple names patterns of which one is enough."""
    return Needed(_several(first) if first else (), tuple(map(_several, further)))


def _several(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns


def decoded(data: bytes) -> str:
    """The text of an output: UTF-8 unless its first bytes say otherwise."""
    encoding = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), "utf-8")
    return data.decode(encoding, "replace")


def lines_of(text: str) -> list[str]:
    """Cleaned lines; LF, CRLF and CR end one."""
    return [clean(line) for line in _LINE_END.split(text)]


def clean(line: str) -> str:
    """Without escape sequences and control characters, one blank for each run of them."""
    return _BLANKS.sub(" ", _ESCAPE.sub("", line)).strip()


def places(lines: list[str], pattern: str) -> list[int]:
    """The numbers of the lines that hold a pattern, from 0."""
    return [number for number, line in enumerate(lines) if pattern in line]


def problems(lines: list[str], needed: Needed) -> list[str]:
    """Patterns that do not stand where they should: once, or several times if they say so; a word too much to be one."""
    found = []
    for alternatives in needed.all:
        if not any(places(lines, pattern) for pattern in alternatives):
            found.append(f"nowhere: {alternatives}")
        for pattern in alternatives:
            count = len(places(lines, pattern))
            if pattern != clean(pattern) or (count > 1 and not isinstance(pattern, Copies)):
                found.append(f"{count} times: {pattern!r}")
    return found
