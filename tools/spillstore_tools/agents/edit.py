"""What is put into a configuration: edits, the places where they changed the text, and what they mean as plain values.

An edit is checked by values, whatever language the file is in: after it the file must hold what it held before, and our entry.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from typing import Any

_QUOTED = re.compile(r"'[^']*/(spillstore(?:-sh)?)'")
_PATH = re.compile(r"[^\s'\"]*/(spillstore(?:-sh)?)(?=$|[\s'\"])")
_ONLY_A_PATH = re.compile(r"\A/.*/(spillstore(?:-sh)?)\Z", re.DOTALL)


class ConfigurationError(Exception):
    """A configuration that is left as it is, and why.

    Args:
        message: what is wrong, and what to do.
        line: where in the file, from 1; None where it is about the whole file.
        column: likewise.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def at(text: str, position: int, message: str) -> ConfigurationError:
    """An error with the line and column of a position."""
    line = text.count("\n", 0, position) + 1
    return ConfigurationError(message, line, position - (text.rfind("\n", 0, position) + 1) + 1)


@dataclasses.dataclass(frozen=True)
class Edit:
    """One entry of ours.

    Attributes:
        path: keys from the top.
        value: what stands there afterwards; of an element, what is one of the array's.
        element: whether the value becomes one element of the array at the path.
    """

    path: tuple[str, ...]
    value: Any
    element: bool = False

    @property
    def name(self) -> str:
        """The path for people: ``env.NAME``."""
        return ".".join(self.path)


@dataclasses.dataclass(frozen=True)
class Splice:
    """One change of a text.

    Attributes:
        edit: what it was made for.
        position: where, in the text as it was then.
        inserted: what stands there now.
        removed: what stood there.
        created: how many keys of the edit's path were there already.
    """

    edit: Edit
    position: int
    inserted: str
    removed: str
    created: int

    def applied(self, text: str) -> str:
        """The text with the change."""
        assert text.startswith(self.removed, self.position), "it was made for this text"
        return text[: self.position] + self.inserted + text[self.position + len(self.removed) :]


def canonical(value: Any) -> Any:
    """A form in which equal means the same document: without order of keys, with types, and NaN equal to itself."""
    if isinstance(value, dict):
        return ("object", tuple(sorted((key, canonical(each)) for key, each in value.items())))
    if isinstance(value, list):
        return ("array", tuple(canonical(each) for each in value))
    if isinstance(value, float) and math.isnan(value):
        return ("float", "nan")
    return (type(value).__name__, repr(value))


def same_entry(found: Any, wanted: Any) -> bool:
    """Whether an entry is ours, wherever our programs were when it was made."""
    return bool(canonical(_without_folders(found)) == canonical(_without_folders(wanted)))


def _without_folders(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_folders(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    if isinstance(value, str):
        whole = _ONLY_A_PATH.match(value)
        return whole[1] if whole else _PATH.sub(r"\1", _QUOTED.sub(r"\1", value))
    return value


def names_our_program(value: Any) -> bool:
    """Whether an entry names one of our programs by its path; nobody but us has put it there."""
    return bool(canonical(_without_folders(value)) != canonical(value))


def found_at(document: Any, path: tuple[str, ...]) -> tuple[int, Any]:
    """How many keys of a path are there, and the value at the last of these."""
    for number, key in enumerate(path):
        if not isinstance(document, dict) or key not in document:
            return number, document
        document = document[key]
    return len(path), document


def is_there(document: Any, edit: Edit) -> bool:
    """Whether a document holds exactly our entry."""
    depth, value = found_at(document, edit.path)
    if depth < len(edit.path):
        return False
    if not edit.element:
        return bool(canonical(value) == canonical(edit.value))
    wanted = canonical(edit.value)
    return isinstance(value, list) and any(canonical(each) == wanted for each in value)


def with_entry(document: Any, edit: Edit) -> Any:
    """The document with our entry; a value that stood there is replaced."""
    found = copy.deepcopy(document)
    inner = found
    for key in edit.path[:-1]:
        inner = inner.setdefault(key, {})
    if edit.element:
        inner.setdefault(edit.path[-1], []).insert(0, edit.value)
    else:
        inner[edit.path[-1]] = edit.value
    return found


def without_entry(document: Any, edit: Edit, keep: int) -> Any:
    """The document without our entry, and without what is empty around it.

    Args:
        document: the parsed file.
        edit: our entry.
        keep: how many keys of the path stay, even if nothing is left in them.
    """
    found = copy.deepcopy(document)
    chain = [found]
    for key in edit.path:
        if not isinstance(chain[-1], dict) or key not in chain[-1]:
            return found
        chain.append(chain[-1][key])
    if edit.element:
        here = [index for index, each in enumerate(chain[-1]) if same_entry(each, edit.value)]
        if not here:
            return found
        del chain[-1][here[0]]
        if chain[-1] or len(edit.path) <= keep:
            return found
    elif not same_entry(chain[-1], edit.value):
        return found
    for depth in range(len(edit.path), 0, -1):
        del chain[depth - 1][edit.path[depth - 1]]
        if chain[depth - 1] or depth - 1 <= keep:
            break
    return found


def nested(edit: Edit, depth: int) -> Any:
    """The value of the member that an edit adds where ``depth`` keys of its path are there."""
    value = [edit.value] if edit.element else edit.value
    for key in reversed(edit.path[depth + 1 :]):
        value = {key: value}
    return value
