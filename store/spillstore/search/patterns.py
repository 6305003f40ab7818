"""Patterns that can be searched for in time linear in the text, and why others cannot.

Linear in the text is not enough: each byte can cost as many steps as the pattern has instructions, and compiling takes as
long as the pattern makes it. So both are bounded, for a pattern may come from a model. Captures are switched off: nobody
asks for them, and RE2 copies all of them at each step.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import PatternError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINES = "(?m)"  # ^ and $ are the ends of lines
_NO_LINES = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*m[a-zA-Z]*[:)]")
# Groups with names are captured whatever the options say.
_NAMED = re.compile(r"\(\?P?<\w+>")
_CLASS = re.compile(r"\[\^?\]?(?>[^\]\[\\]|\\.|\[:\^?[a-z]+:\]|\[)*+\]", re.DOTALL)
_SHOWN = 100  # characters of a wrong pattern
MOST_CHARACTERS = 16 * 1024  # of an expression; one made of nothing but \pL takes a second to be read
MOST_INSTRUCTIONS = 50_000  # of RE2's program; 1,000 repetitions of any character are 8,000, one of \pL 1,200
_TRIAL = 8 * 1024 * 1024  # bytes in which what has so few instructions is compiled
_MEMORY = 64 * 1024 * 1024  # bytes for searching


@functools.lru_cache(maxsize=64)
def compiled(pattern: str, *, ignore_case: bool, literal: bool, latin: bool) -> Any:
    """The pattern for bytes.

    Raises:
        PatternError: it is none, or one that cannot be searched in linear time, or is too large.
    """
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415  # ten milliseconds that only a search needs

    if len(pattern) > MOST_CHARACTERS and not literal:
        raise PatternError(
            f"{_short(pattern)!r} has {len(pattern)} characters, an expression has at most {MOST_CHARACTERS}; "
            "search for its alternatives one after the other"
        )
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.never_capture = True
    options.case_sensitive = not ignore_case
    if latin:
        options.encoding = re2.Options.Encoding.LATIN1
    source = f"{_LINES}{re2.escape(pattern) if literal else _within_lines(pattern)}".encode(
        errors="surrogatepass"
    )
    try:
        if not literal:
            options.max_mem = _TRIAL  # with more memory it would take seconds to find that it is too large
            if re2.compile(source, options).programsize > MOST_INSTRUCTIONS:
                raise _too_large(pattern)
        options.max_mem = _MEMORY
        return re2.compile(source, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        if "too large" in reason:
            raise _too_large(pattern) from None
        raise PatternError(_explained(pattern, reason.replace(_LINES, "", 1))) from None


def _too_large(pattern: str) -> PatternError:
    return PatternError(
        f"{_short(pattern)!r} takes more than {MOST_INSTRUCTIONS} instructions, the most that can be searched for in time; "
        "repeat less, use * or +, or a smaller class than \\pL"
    )


def asks_for_line_ends(pattern: str, *, literal: bool) -> bool:
    r"""Whether a pattern has line ends in it, as they are or as ``\n``; those of a class do not count, which may have others.

    Example:
        >>> asks_for_line_ends(r"one\ntwo", literal=False), asks_for_line_ends(r"one[^\n]*", literal=False)
        (True, False)
    """
    if "\n" not in pattern and (literal or "\\n" not in pattern):
        return False
    return literal or any(piece == "\\n" or ("\n" in piece and piece[0] != "[") for piece in _pieces(pattern))


def _pieces(pattern: str) -> Iterator[str]:
    """The pattern in pieces: what is quoted, classes, the beginnings of groups with a name, escapes, and single characters."""
    at = 0
    closed = True  # as far as is known: without a bracket that ends one class, none begins behind it
    while at < len(pattern):
        two = pattern[at : at + 2]
        piece = two if two[0] == "\\" else two[0]
        if two == "\\Q":
            end = pattern.find("\\E", at + 2)
            piece = pattern[at:] if end < 0 else pattern[at : end + 2]
        elif two[0] == "[" and closed:
            found = _CLASS.match(pattern, at)
            closed = found is not None
            if found is not None and "\\C" not in found[0]:
                piece = found[0]
        elif two == "(?" and (group := _NAMED.match(pattern, at) or _NO_LINES.match(pattern, at)):
            piece = group[0]
        yield piece
        at += len(piece)


def _within_lines(pattern: str) -> str:
    """The pattern with nothing in it that looks beyond a line, its ends are those of the text, and no group with a name.

    Raises:
        PatternError: it has what would match line ends, or none of them.
    """
    out: list[str] = []
    for piece in _pieces(pattern):
        if piece == "\\C":
            raise PatternError(f"{_short(pattern)!r}: \\C, any byte, is not supported; use . or [^a]")
        if _NO_LINES.fullmatch(piece):
            raise PatternError(
                f"{_short(pattern)!r}: {piece} is not supported: ^ and $ are always the ends of a line"
            )
        out.append("(?:" if _NAMED.fullmatch(piece) else {"\\A": "^", "\\z": "$"}.get(piece, piece))
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
