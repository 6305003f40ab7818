"""Patterns that can be searched for in time linear in the text, and why others cannot."""

from __future__ import annotations

import functools
import re
from typing import Any

from spillstore.exceptions import PatternError

_NO_LINES = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*m[a-zA-Z]*[:)]")
_TEXT = re.compile(r"[\w \t!\"#%&',/:;<=>@`~-]+", re.ASCII)  # a pattern that is just text
_SHOWN = 100  # characters of a wrong pattern


@functools.lru_cache(maxsize=64)
def compiled(pattern: str, *, ignore_case: bool, literal: bool, latin: bool) -> Any:
    """The pattern for bytes.

    Raises:
        PatternError: it is none, or one that cannot be searched in linear time.
    """
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415  # ten milliseconds that only a search needs

    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = not ignore_case
    options.max_mem = 64 * 1024 * 1024
    if latin:
        options.encoding = re2.Options.Encoding.LATIN1
    source = re2.escape(pattern) if literal else _within_lines(pattern)
    try:
        return re2.compile(f"(?m){source}".encode(errors="surrogatepass"), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise PatternError(_explained(pattern, reason)) from None


def _within_lines(pattern: str) -> str:
    """The pattern with nothing in it that looks beyond a line: its ends are those of the text.

    Raises:
        PatternError: it has what would match line ends, or none of them.
    """
    out: list[str] = []
    at = 0
    while at < len(pattern):
        two = pattern[at : at + 2]
        if two == "\\Q":
            end = pattern.find("\\E", at + 2)
            end = len(pattern) if end < 0 else end + 2
            out.append(pattern[at:end])
            at = end
            continue
        if two == "\\C":
            raise PatternError(f"{_short(pattern)!r}: \\C, any byte, is not supported; use . or [^a]")
        if two == "(?" and (flags := _NO_LINES.match(pattern, at)):
            raise PatternError(
                f"{_short(pattern)!r}: {flags[0]} is not supported: ^ and $ are always the ends of a line"
            )
        out.append({"\\A": "^", "\\z": "$"}.get(two, two) if two[0] == "\\" else two[0])
        at += 2 if two[0] == "\\" else 1
    return "".join(out)


def _short(pattern: str) -> str:
    return pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}..."


def _explained(pattern: str, reason: str) -> str:
    shown = _short(pattern)
    hint = "escape what is meant literally, or search for it literally"
    if re.search(r"\(\?<?[=!]", pattern):
        hint = "look-ahead and look-behind are not supported; match more, and look at the lines"
    elif re.search(r"\\[1-9]|\(\?P=", pattern):
        hint = "back-references are not supported; spell the alternatives out"
    elif re.search(r"[*+?}]\+|\(\?>", pattern):
        hint = "possessive and atomic groups are not supported, nor needed: no pattern backtracks here"
    elif "\\Z" in pattern:
        hint = r"use $ for the end of a line"
    elif re.search(r"\{\d{4,}", pattern):
        hint = "repeat at most 1000 times, or use * or +"
    return f"{shown!r} is no pattern that can be searched for (RE2 syntax): {reason}; {hint}"


def text_of(pattern: str, *, literal: bool) -> bytes | None:
    """The text that a pattern is, if it is nothing else and in ASCII."""
    is_text = pattern.isascii() and pattern.isprintable() if literal else _TEXT.fullmatch(pattern)
    return pattern.encode() if pattern and is_text else None
