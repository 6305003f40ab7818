"""What an output is, told by its bytes: the one place where a kind is chosen.

The first block decides: the first kind that takes it sees all others, too, and gives up where what follows does not bear the guess out.
What no kind takes in the end is left to ``smart``, which cuts any text. A kind's module is imported when its opening is met.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.kinds.kind import Kind
    from spillstore_tools.preview.strategies.request import Request

LEAST = 1000  # code points; where there is less room, output is cut as text
_OPENING = 4096  # bytes that say which kinds are tried

_PATHS = rb"(?:\.{0,2}/|[\w.@+~-]+/)[^\s:][^\n:]*\n"
_GREP = rb"[^\s:{\[][^:\n]*:\d+[:-]"
_FINDING = rb"(?:[A-Za-z]:(?=[\\/]))?[^\s:(][^\s:]*?(?:\.\w+:\d+(?::\d+)?:?|\(\d+(?:,\d+)*\) ?:) (?:[A-Z]+\d+\b|\[?(?:error|warning|note|info)\b|[A-Z]\w*(?:Warning|Error):|[^\n]*[\])]\n)[^\n]*\n?"
_QUOTED = rb"(?:[ \t][^\n]*\n){0,6}"  # what a finding is about
_FINDINGS = rb"(?:[^\n]*\n){0,4}?(?:" + _FINDING + _QUOTED + rb"){3}"
_REPORTS = rb"(?:[^\n]*\n){0,4}?[A-Z]+\d+ [^\n]*\n *--> [^\n]*:\d+:\d+\n"
_LONG = rb"(?:[^\n]*:\n)?(?:total \d+[^\n]*\n)[-dlbcps][rwxsStT-]{9}"
_TREE = rb"(?:[^\n]*\n)?(?:\xe2\x94[\x9c\x94]\xe2\x94\x80|[|`+]-- )"
_TABLE = rb"[^\n,;|\t]+(?P<by>[,;|\t])[^\n]*\n[^\n]+(?P=by)|(?:[^\n]*\n){0,11}?(?:[ |+]*+[-=]{2}[-=+| ]{2,}+\n|(?:\xe2[\x94\x95][\x80-\xbf]){3}|[ \t]*+(?!\d)[^\n\d]*?\S {2,}[^\n\d]+\n)|[ \t]*+(?:[A-Z%#/()_-]{2,}[ \t]+){2,}"
# What an output begins with, the module and the class. The first whose guess is borne out has it.
_KINDS: tuple[tuple[Any, str, str], ...] = (
    (re.compile(rb"\s*\{[^\n]*\}\r?\n\s*\{"), "json_lines", "JsonLines"),
    (re.compile(rb"\s*(?i:<!doctype html|<html)\b"), "markup", "Html"),
    (re.compile(rb"\s*<\?xml\s"), "markup", "Xml"),
    (re.compile(rb"(?:[^\n]*\n){0,12}?#{1,2} \w"), "markup", "Markdown"),
    (re.compile(rb"(?:[A-Za-z0-9+/]{60,}\n){3}|[A-Za-z0-9+/]{2000}"), "encoded", "Base64"),
    (re.compile(rb"0{6,8}:? +[0-9a-f]{2}"), "encoded", "HexDump"),
    (re.compile(rb"commit [0-9a-f]{7,64}[^\n]*\n(?:\w+:[^\n]*\n)*Author:"), "commits", "Commits"),
    (re.compile(rb"(?:(?:[*|/\\ ]* )?[0-9a-f]{7,64} [^\n]+\n){5}"), "commits", "OneLine"),
    (re.compile(rb"(?: [^|\n]+ \| +(?:\d+ [+-]*|Bin [^\n]*|\d+)\n){3}"), "changes", "Stat"),
    (re.compile(rb"(?:(?:[ACDMRTUXB]\d{0,3}\t|(?! {2})[ MTADRCU?!]{2} )[^\n]+\n){5}"), "changes", "Statuses"),
    (re.compile(_TREE), "trees", "Tree"),
    (re.compile(_LONG), "listings", "LongListing"),
    (re.compile(_FINDINGS), "findings", "Findings"),
    (re.compile(_REPORTS), "findings", "Reports"),
    (re.compile(_GREP), "listings", "Matches"),
    (re.compile(_PATHS), "listings", "Paths"),
    (re.compile(_TABLE), "tables", "Table"),
)
_ALWAYS = ("code", "Units")  # tried at last, if all of the output is there


class Guess:
    """The kinds that an output may be, as it passes. Nothing is looked at before there is a second block, or a preview is made."""

    def __init__(self) -> None:
        self._first: Block | None = None
        self._kinds: list[Kind] | None = None
        self._end = 0

    def block(self, block: Block) -> None:
        """Take the next block."""
        self._end = block.end
        block = block.unmarked()
        if self._first is None:
            self._first = block
            return
        self._kinds = [kind for kind in self._begun() if kind.block(block)]

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """The parts that the first kind makes which this is; None for text, and where not all of it has been seen."""
        if request.limit < LEAST or self._end != overview.size or not request.whole_units:
            return None
        from spillstore_tools.preview.strategies.kinds.failures import cut_with_failures  # noqa: PLC0415  # as the kinds

        for kind in self._begun():
            parts = cut_with_failures(kind, overview, request)
            if parts is not None:
                return parts
        return None

    def _begun(self) -> list[Kind]:
        if self._kinds is None:
            self._kinds = [] if self._first is None or self._first.long else _tried(self._first)
        return self._kinds


def _tried(first: Block) -> list[Kind]:
    opening = first.raw[:_OPENING]
    taken = (
        kind
        for pattern, module, name in _KINDS
        if pattern.match(opening) and (kind := _made(module, name)).block(first)
    )
    first_taken = next(taken, None)
    last = _made(*_ALWAYS)
    return [last] if first_taken is None else [first_taken, last]


def _made(module: str, name: str) -> Kind:
    return cast("Kind", getattr(importlib.import_module(f"{__name__}.{module}"), name)())
