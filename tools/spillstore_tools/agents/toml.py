"""TOML: an entry is put in or taken out without touching the rest of the text.

``tomllib`` says whether a text is TOML and what it means; what is here only finds where statements begin and end in a text that
it has accepted. A table is added at the end, an array element in front of the others.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from typing import Any

from spillstore_tools.agents.edit import (
    ConfigurationError,
    Edit,
    Splice,
    found_at,
    is_there,
    same_entry,
)

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_SPACES = re.compile(r"[ \t\r]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_ENDS = {
    '"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']|'(?!''))*'{3,5}", re.DOTALL),
}
_TEXT = {'"': re.compile(r"(?:[^\"\\\n]|\\.)*\""), "'": re.compile(r"[^'\n]*'")}
_PLAIN = re.compile(r"[^,\]}#\n]*")

EMPTY = ""


@dataclasses.dataclass(frozen=True, slots=True)
class _Statement:
    """A header, or a key with its value.

    Attributes:
        path: keys from the top; of a header, those of its table.
        start: its first character.
        end: behind its last one; comments behind it do not count.
        value: where its value begins; None for a header.
        repeated: whether it is a header of an array of tables.
    """

    path: tuple[str, ...]
    start: int
    end: int
    value: int | None = None
    repeated: bool = False


def parse(text: str) -> dict[str, Any]:
    """What a text says.

    Raises:
        ConfigurationError: it is not TOML, with its line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        message = _PLACE.sub("", str(error))
        if place is None:
            lines = text.split("\n")
            raise ConfigurationError(message, len(lines), len(lines[-1]) + 1) from None
        raise ConfigurationError(message, int(place[1]), int(place[2])) from None
    except RecursionError:
        raise ConfigurationError("there are too many levels of tables and arrays", 1, 1) from None


def add(text: str, edit: Edit, *, force: bool = False) -> Splice | None:
    """The change that puts an entry into a text; None where it is there.

    Args:
        text: the file.
        edit: the entry: an element of an array, or a table of texts and arrays of texts.
        force: whether another table that stands there is replaced.

    Raises:
        ConfigurationError: the text is not TOML, or something else stands where the entry goes.
    """
    document = parse(text)
    if is_there(document, edit):
        return None
    depth, found = found_at(document, edit.path)
    if edit.element:
        return _with_element(text, edit, depth, found)
    if depth == len(edit.path):
        line = _line_of(text, edit.path)
        hint = "; take it out first" if force else ""
        raise ConfigurationError(f"{edit.name} has another value{hint}", line, 1)
    newline = _newline(text)
    lines = [
        f"[{_dotted(edit.path)}]",
        *(f"{_quoted(key)} = {_value(value)}" for key, value in edit.value.items()),
    ]
    return _at_end(text, newline.join(lines), edit, depth)


def remove(text: str, edit: Edit, keep: int) -> str:
    """The text without an entry, and without the key or table that is empty around it.

    Args:
        text: the file.
        edit: the entry; it is recognised wherever our programs were when it was made.
        keep: how many keys of its path stay, even if nothing is left in them.
    """
    depth, found = found_at(parse(text), edit.path)
    if depth < len(edit.path):
        return text
    statements = _statements(text)
    if not edit.element:
        if not same_entry(found, edit.value):
            return text
        ours = [each for each in statements if each.path[: len(edit.path)] == edit.path]
        return _without_lines(text, [(each.start, each.end) for each in ours])
    return _without_element(text, edit, keep, found) if isinstance(found, list) else text


def _without_element(text: str, edit: Edit, keep: int, found: list[Any]) -> str:
    """The text without an element; without its key and its table where nothing else is in them, and they may go."""
    statements = _statements(text)
    here = [each for each in statements if each.path == edit.path and each.value is not None]
    index = next((index for index, each in enumerate(found) if same_entry(each, edit.value)), None)
    if not here or index is None:
        return text
    start = here[0].value
    assert start is not None, "it was looked for"
    spans = _elements(text, start)
    if len(spans) == 1 and keep < len(edit.path):
        alone = [each for each in statements if each.path[:-1] == edit.path[:-1] and each.value is not None]
        headers = [each for each in statements if each.path == edit.path[:-1] and each.value is None]
        gone = here + (headers if len(alone) == 1 and keep < len(edit.path) - 1 else [])
        return _without_lines(text, [(each.start, each.end) for each in gone])
    begin, end = spans[index]
    behind = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]  # it matches nothing, too
    if text.startswith(",", behind):
        end = _SPACES.match(text, behind + 1).end()  # type: ignore[union-attr]  # likewise
        return text[:begin] + text[end:]
    begin = spans[index - 1][1] if index else begin
    return text[:begin] + text[end:]


def _with_element(text: str, edit: Edit, depth: int, found: Any) -> Splice:
    newline, value = _newline(text), _value(edit.value)
    statements = _statements(text)
    if depth == len(edit.path):
        here = [each.value for each in statements if each.path == edit.path and each.value is not None]
        if not isinstance(found, list) or not here:
            raise ConfigurationError(f"an array is expected for {edit.name}", _line_of(text, edit.path), 1)
        assert here[0] is not None, "it was looked for"
        opened = here[0] + 1
        if not found:
            return Splice(edit, opened, value, "", depth)
        gap = text[opened : _elements(text, here[0])[0][0]]
        blank = gap[: len(gap) - len(gap.lstrip(" \t\r\n"))]
        return Splice(edit, opened, blank + value + ("," if "\n" in blank else ", "), "", depth)
    line = f"{_quoted(edit.path[-1])} = [{value}]"
    headers = [
        each for each in statements
        if each.path == edit.path[:-1] and each.value is None and not each.repeated
    ]  # fmt: skip
    if headers:
        end = text.find("\n", headers[0].end)
        if end < 0:
            return Splice(edit, len(text), newline + line, "", depth)
        return Splice(edit, end + 1, line + newline, "", depth)
    return _at_end(text, f"[{_dotted(edit.path[:-1])}]{newline}{line}", edit, depth)


def _at_end(text: str, lines: str, edit: Edit, depth: int) -> Splice:
    newline = _newline(text)
    before = "" if not text else newline if text.endswith("\n") else newline + newline
    return Splice(edit, len(text), before + lines + newline, "", depth)


def _without_lines(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without the lines of some statements, and without one empty line before them."""
    for start, end in sorted(spans, reverse=True):
        line = text.rfind("\n", 0, start) + 1
        behind = text.find("\n", end)
        text = text[:line] + ("" if behind < 0 else text[behind + 1 :])
    first = text.rfind("\n", 0, min(spans)[0]) + 1 if spans else 0
    for empty in ("\r\n", "\n"):
        if text[:first].endswith(empty * 2):
            return text[: first - len(empty)] + text[first:]
    return text


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(_quoted(key) for key in path)


def _quoted(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    """A text, a number, a truth, or an array of them; a text of JSON is one of TOML, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of the nearest statement about a path."""
    best = [
        each
        for each in _statements(text)
        if path[: len(each.path)] == each.path or each.path[: len(path)] == path
    ]
    best.sort(key=lambda each: len(each.path))
    return text.count("\n", 0, best[-1].start) + 1 if best else 1


def _statements(text: str) -> list[_Statement]:
    """All statements of a valid text."""
    found: list[_Statement] = []
    table: tuple[str, ...] = ()
    position = _BETWEEN.match(text, 0).end()  # type: ignore[union-attr]  # it matches nothing, too
    while position < len(text):
        start = position
        if text.startswith("[", position):
            repeated = text.startswith("[[", position)
            table, position = _path(text, position + 1 + repeated)
            position += 1 + repeated
            found.append(_Statement(table, start, position, repeated=repeated))
        else:
            path, position = _path(text, position)
            value = _SPACES.match(text, position + 1).end()  # type: ignore[union-attr]  # likewise
            position = _value_end(text, value)
            found.append(_Statement(table + path, start, position, value))
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # likewise
    return found


def _path(text: str, position: int) -> tuple[tuple[str, ...], int]:
    """The keys that stand there, and where what follows them begins."""
    keys: list[str] = []
    while True:
        position = _SPACES.match(text, position).end()  # type: ignore[union-attr]  # likewise
        key = _KEY.match(text, position)
        assert key is not None, "tomllib has read it"
        keys.append(tomllib.loads(f"k = {key[0]}")["k"] if key[0][0] in "\"'" else key[0])
        position = _SPACES.match(text, key.end()).end()  # type: ignore[union-attr]  # likewise
        if not text.startswith(".", position):
            return tuple(keys), position
        position += 1


def _value_end(text: str, position: int) -> int:
    """Behind the value that begins there."""
    for quotes, end in (*_ENDS.items(), *_TEXT.items()):
        if text.startswith(quotes, position):
            found = end.match(text, position + len(quotes))
            assert found is not None, "tomllib has read it"
            return found.end()
    if text[position] == "[":
        spans = _elements(text, position)
        return text.index("]", _separators(text, spans[-1][1] if spans else position + 1)) + 1
    if text[position] == "{":
        return _inline_end(text, position)
    plain = _PLAIN.match(text, position)
    assert plain is not None, "it matches nothing, too"
    return position + len(plain[0].rstrip())


def _separators(text: str, position: int) -> int:
    """Behind blanks, comments and commas."""
    while True:
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # likewise
        if not text.startswith(",", position):
            return position
        position += 1


def _elements(text: str, opened: int) -> list[tuple[int, int]]:
    """Where the elements of an array stand."""
    spans: list[tuple[int, int]] = []
    position = _separators(text, opened + 1)
    while not text.startswith("]", position):
        end = _value_end(text, position)
        spans.append((position, end))
        position = _separators(text, end)
    return spans


def _inline_end(text: str, position: int) -> int:
    """Behind the inline table that begins there."""
    position = _separators(text, position + 1)
    while not text.startswith("}", position):
        _, position = _path(text, position)
        value = _SPACES.match(text, position + 1).end()  # type: ignore[union-attr]  # likewise
        position = _separators(text, _value_end(text, value))
    return position + 1
