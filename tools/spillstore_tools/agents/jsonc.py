"""JSON with comments: where each value stands in the text, and how an entry is put in or taken out without touching the rest.

An entry is put before what is there: what follows needs no comma more or less, so a change is one insertion, and a diff shows
added lines alone. Comments and commas at the end are accepted, since agents accept them.
"""

from __future__ import annotations

import dataclasses
import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # it is there, without a type
from typing import Any

from spillstore_tools.agents.edit import (
    Edit,
    Splice,
    at,
    canonical,
    nested,
    same_entry,
)

_BLANK = re.compile(r"[ \t\r\n]+")
_SPACES = re.compile(r"[ \t]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 200  # levels; a configuration has five
_LONGEST_NUMBER = 300  # characters

EMPTY = "{}\n"


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A value in the text.

    Attributes:
        start: its first character.
        end: behind its last one.
        value: what it says.
        parts: of an object or array, each member or element: its key, the start of the key or element, its node.
    """

    start: int
    end: int
    value: Any
    parts: tuple[tuple[str | None, int, Node], ...] = ()

    def member(self, key: str) -> tuple[int, Node] | None:
        """Where a member is; the last one of that name, which is the one that counts."""
        found = [(start, node) for name, start, node in self.parts if name == key]
        return found[-1] if found else None


def parse(text: str) -> Any:
    """What a text says.

    Raises:
        ConfigurationError: it is not JSON, with its line and column.
    """
    return _Parser(text).document().value


def trailing_commas(text: str) -> int:
    """How many commas stand behind the last member or element of something; not every program accepts them."""
    parser = _Parser(text)
    return sum(text.startswith(("}", "]"), parser.skipped(comma + 1)) for comma in parser.commas())


def add(text: str, edit: Edit, *, force: bool = False) -> Splice | None:
    """The change that puts an entry into a text; None where it is there.

    Args:
        text: the file.
        edit: the entry.
        force: whether another value that stands there is replaced.

    Raises:
        ConfigurationError: the text is not JSON, or something else stands where the entry goes.
    """
    node = _Parser(text).document()
    for depth, key in enumerate(edit.path):
        if not isinstance(node.value, dict):
            raise at(text, node.start, f"an object is expected here, for {edit.name}")
        found = node.member(key)
        if found is None:
            entry = (key, nested(edit, depth))
            return _inserted(text, node, entry, edit, depth)
        node = found[1]
    if edit.element:
        if not isinstance(node.value, list):
            raise at(text, node.start, f"an array is expected here, for {edit.name}")
        if any(canonical(each) == canonical(edit.value) for each in node.value):
            return None
        return _inserted(text, node, (None, edit.value), edit, len(edit.path))
    if canonical(node.value) == canonical(edit.value):
        return None
    if not force:
        raise at(
            text, node.start, f"{edit.name} has another value; --force replaces it until it is uninstalled"
        )
    written = json.dumps(edit.value, ensure_ascii=False)
    return Splice(edit, node.start, written, text[node.start : node.end], len(edit.path))


def remove(text: str, edit: Edit, keep: int) -> str:
    """The text without an entry, and without what is empty around it.

    Args:
        text: the file.
        edit: the entry; it is recognised wherever our programs were when it was made.
        keep: how many keys of its path stay, even if nothing is left in them.
    """
    chain = [(0, _Parser(text).document())]
    for key in edit.path:
        found = chain[-1][1].member(key) if isinstance(chain[-1][1].value, dict) else None
        if found is None:
            return text
        chain.append(found)
    if edit.element:
        array = chain[-1][1]
        here = [
            (start, node) for _, start, node in array.parts if same_entry(node.value, edit.value)
        ] if isinstance(array.value, list) else []  # fmt: skip
        if not here:
            return text
        chain.append(here[0])
    elif not same_entry(chain[-1][1].value, edit.value):
        return text
    last = len(chain) - 1
    while last - 1 > keep and len(chain[last - 1][1].parts) == 1:
        last -= 1
    start, node = chain[last]
    return _cut(text, start, node.end)


def _inserted(text: str, into: Node, entry: tuple[str | None, Any], edit: Edit, depth: int) -> Splice:
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    opened = into.start + 1
    outer = _indentation(text, into.start)
    if not into.parts:
        gap = text[opened : into.end - 1]
        written = newline + outer + unit + _written(entry, unit, outer + unit, newline)
        return Splice(edit, opened, written + ("" if "\n" in gap else newline + outer), "", depth)
    first = into.parts[0][1]
    if "\n" not in text[opened:first]:
        return Splice(edit, first, _written(entry, None, "", newline) + ", ", "", depth)
    before = text[text.rfind("\n", 0, first) + 1 : first]
    inner = before if not before.strip() else outer + unit
    written = newline + inner + _written(entry, unit, inner, newline) + ","
    return Splice(edit, _behind_comment(text, opened), written, "", depth)


def _written(entry: tuple[str | None, Any], unit: str | None, indentation: str, newline: str) -> str:
    key, value = entry
    text = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + indentation)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _indentation(text: str, position: int) -> str:
    begin = text.rfind("\n", 0, position) + 1
    return _SPACES.match(text, begin)[0]  # type: ignore[index]  # it matches nothing, too


def _unit(text: str) -> str:
    """How deep the file indents one level."""
    found = re.search(r"\n([ \t]+)[\"}\]]", text)
    return found[1] if found else "  "


def _behind_comment(text: str, position: int) -> int:
    """The end of the line on which an object opens, behind a comment there; else where it opens."""
    at_end = position
    while True:
        at_end = _SPACES.match(text, at_end).end()  # type: ignore[union-attr]  # likewise
        if text.startswith("/*", at_end):
            at_end = text.index("*/", at_end) + 2
        elif text.startswith("//", at_end):
            at_end = text.index("\n", at_end)
            return at_end - (text[at_end - 1] == "\r")
        else:
            return at_end if text.startswith(("\n", "\r\n"), at_end) else position


def _cut(text: str, start: int, end: int) -> str:
    """The text without what stands there, one of the commas around it, and the line if nothing else is on it."""
    comma: int | None = _Parser(text).skipped(end)
    assert comma is not None, "for the type"
    if text.startswith(",", comma):
        if comma == end:
            end, comma = end + 1, None
    else:
        comma = _comma_before(text, start)
    line = text.rfind("\n", 0, start) + 1
    rest = _SPACES.match(text, end).end()  # type: ignore[union-attr]  # it matches nothing, too
    if line and not text[line:start].strip(" \t") and text.startswith(("\n", "\r\n"), rest):
        start, end = line - 1 - (text[line - 2 : line - 1] == "\r"), rest
    elif comma is None:
        end = rest
    elif comma < start and not text[comma + 1 : start].strip(" \t"):
        start = comma + 1
    spans = [(start, end)] if comma is None else [(start, end), (comma, comma + 1)]
    for begin, behind in sorted(spans, reverse=True):
        text = text[:begin] + text[behind:]
    return text


def _comma_before(text: str, position: int) -> int | None:
    """The comma that separates what begins here from what is before it; comments may stand between."""
    commas = [index for index in _Parser(text).commas() if index < position]
    if not commas:
        return None
    behind = _Parser(text).skipped(commas[-1] + 1)
    return commas[-1] if behind == position else None


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._commas: list[int] = []

    def document(self) -> Node:
        """The whole text as one value."""
        begin = self.skipped(0)
        node = self._value(begin, 0)
        end = self.skipped(node.end)
        if end < len(self._text):
            raise at(self._text, end, "nothing is expected here any more")
        return node

    def commas(self) -> list[int]:
        """Where commas separate values."""
        self._commas = []
        self.document()
        return self._commas

    def skipped(self, position: int) -> int:
        """Behind blanks and comments."""
        text = self._text
        while True:
            blank = _BLANK.match(text, position)
            position = blank.end() if blank else position
            if text.startswith("//", position):
                end = text.find("\n", position)
                position = len(text) if end < 0 else end
            elif text.startswith("/*", position):
                end = text.find("*/", position + 2)
                if end < 0:
                    raise at(text, position, "this comment has no end")
                position = end + 2
            else:
                return position

    def _value(self, position: int, depth: int) -> Node:
        text = self._text
        if depth > _DEEPEST:
            raise at(text, position, f"more than {_DEEPEST} levels of objects and arrays")
        first = text[position : position + 1]
        if first == "{":
            return self._object(position, depth)
        if first == "[":
            return self._array(position, depth)
        if first == '"':
            value, end = self._string(position)
            return Node(position, end, value)
        number = _NUMBER.match(text, position)
        if number:
            written = number[0]  # numbers that no program can hold stay as they are written
            value = json.loads(written) if len(written) <= _LONGEST_NUMBER else written
            return Node(position, number.end(), value)
        for word, meaning in _WORDS.items():
            if text.startswith(word, position):
                return Node(position, position + len(word), meaning)
        raise at(text, position, "a value is expected here" if first else "the file ends before a value")

    def _string(self, position: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, position + 1, True)
        except json.JSONDecodeError as error:
            raise at(self._text, error.pos, f"this text is not valid: {error.msg}") from None
        return str(value), int(end)

    def _object(self, begin: int, depth: int) -> Node:
        text = self._text
        parts: list[tuple[str | None, int, Node]] = []
        position = self.skipped(begin + 1)
        while not text.startswith("}", position):
            if not text.startswith('"', position):
                raise at(text, position, "a name in double quotes or } is expected here")
            key, end = self._string(position)
            colon = self.skipped(end)
            if not text.startswith(":", colon):
                raise at(text, colon, "a colon is expected here")
            node = self._value(self.skipped(colon + 1), depth + 1)
            parts.append((key, position, node))
            position = self._next(node.end, "}")
        return Node(begin, position + 1, {str(key): node.value for key, _, node in parts}, tuple(parts))

    def _array(self, begin: int, depth: int) -> Node:
        text = self._text
        parts: list[tuple[str | None, int, Node]] = []
        position = self.skipped(begin + 1)
        while not text.startswith("]", position):
            node = self._value(position, depth + 1)
            parts.append((None, position, node))
            position = self._next(node.end, "]")
        return Node(begin, position + 1, [node.value for _, _, node in parts], tuple(parts))

    def _next(self, end: int, closing: str) -> int:
        """The next part behind a comma, or the closing bracket."""
        position = self.skipped(end)
        if self._text.startswith(",", position):
            self._commas.append(position)
            return self.skipped(position + 1)
        if not self._text.startswith(closing, position):
            raise at(self._text, position, f"a comma or {closing} is expected here")
        return position
