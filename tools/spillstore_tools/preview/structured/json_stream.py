"""What one value of JSON holds that is too large to be kept: its members, and how many elements they have, told while it passes.

Its bytes come in pieces. A member of the outermost object is read on its own, while of a container only brackets and commas
outside of strings are looked at, most of them by patterns that take whole records at once; so memory is flat, and a second is enough for 30 MB.
Nothing proves that it is JSON: where brackets do not fit, it is given up.
"""

from __future__ import annotations

import json
from typing import Any

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.structured.json_kinds import Kinds, array_of

_STRING = rb'"[^"\\]*+(?>\\.[^"\\]*+)*+"'
_WHOLE = re.compile(rb'(?>[^"]++|' + _STRING + rb")*+", re.DOTALL)  # up to a string that has not ended
_STRINGS = re.compile(_STRING, re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?>\\.[^"\\]*+)*+', re.DOTALL)
_BRACKETS = re.compile(_STRING + rb"|[][{}]", re.DOTALL)
_SIGNS = re.compile(rb"([][{}])")
_INNERMOST = re.compile(rb"[\[{][^][{}]*+[\]}]")
_KEPT = b'[]{},"tfn'  # of true, false and null the letters that stand in them alone
_KIND_OF = {b'"': "string", b"t": "boolean", b"f": "boolean", b"n": "null", b"o": "object", b"a": "array"}
_OTHERS = bytes(set(range(256)) - set(_KEPT))
_GAP = re.compile(r"[ \t\r\n,]*+")
_MEMBER = re.compile(rb"[ \t\r\n,]*+(" + _STRING + rb")[ \t\r\n]*+:[ \t\r\n]*+", re.DOTALL)
_SCALAR = re.compile(rb"(?:" + _STRING + rb'|[^][{}", \t\r\n]++)(?=[ \t\r\n]*+[,}])', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_LEVELS = 8  # of containers in each other that are taken at once
_DEEPEST = 10_000  # containers in each other: no JSON of anybody's
_MEMBERS = 256  # that are told apart; behind them they are counted
_SAMPLE = 20  # elements whose members are told
_SAMPLED = 64 * 1024  # bytes in which they stand
_HELD = 1024 * 1024  # bytes of one member's key and scalar at most
_ROOM = 900  # code points of all that is told
_TYPES = {str: "string", bool: "boolean", type(None): "null", dict: "object", list: "array"}


class JsonStream:
    """Takes the bytes of one value with ``feed``.

    Example:
        >>> stream = JsonStream()
        >>> for piece in (b'{"total": 2, "rows": [{"id": 1}, {"i', b'd": 2}], "more": null}'):
        ...     stream.feed(piece)
        >>> stream.told()
        'object of 3 members: total number, rows array of 2 objects with id number, more null'
    """

    def __init__(self) -> None:
        self._data = b""  # that is not read yet
        self._inside = False  # a string that was begun goes on
        self._before = b""  # the key that stands before it
        self._root: _Container | None = None
        self._child: _Container | None = None  # of the root, that is open
        self._key = ""
        self._members: dict[str, str] = {}  # what each is
        self._count = 0
        self._wrong = False
        self._ended = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        if self._wrong:
            return
        if self._ended:
            self._wrong = bool(piece) and not piece.isspace()
            return
        for container in (self._root, self._child):
            if container is not None:
                container.go_on(piece)
        self._data += piece
        if self._inside:
            self._leave_string()
        while self._data and not (self._inside or self._wrong or self._ended) and self._step():
            pass

    def told(self) -> str:
        """Its type, its members and what they hold; empty if it is no JSON."""
        root = self._root
        if self._wrong or root is None:
            return ""
        words = "" if self._ended else "unfinished, "
        if root.kind == b"[":
            return words + root.told()
        members = [f"{key} {what}" for key, what in self._members.items()]
        if self._child is not None:
            members.append(f"{self._key} {self._child.told()}")
        count = max(self._count + root.commas, len(members))
        beside = count - len(members)
        return f"{words}object of {counted(count, 'member')}: {listed(members, _ROOM, beside=beside)}"

    def _step(self) -> bool:
        """Read on; whether more can be read of what is there."""
        if self._root is None:
            self._data = self._data.lstrip(b"\xef\xbb\xbf \t\r\n")
            if not self._data:
                return False
            self._wrong = self._data[:1] not in (b"[", b"{")
            self._root = _Container(self._data)
            self._data = self._data[1:]
            return True
        if self._root.kind == b"[" or self._count >= _MEMBERS:
            return self._count_in(self._root)
        if self._child is not None:
            return self._count_in(self._child)
        return self._member()

    def _count_in(self, container: _Container) -> bool:
        """Count what stands in a container up to its end, or up to a string that has not ended."""
        end = _end(_WHOLE.match(self._data))
        whole, self._data = self._data[:end], self._data[end:]
        rest = container.add(whole)
        if rest is None:
            self._wrong = container.depth > _DEEPEST
            self._enter_string()
            return False
        self._data = rest + self._data
        if container is self._root:
            self._ended = True
            self._wrong = bool(self._data.strip())
        else:
            self._put(self._key, container.told())
            self._child = None
        return bool(self._data)

    def _member(self) -> bool:
        """Read a member of the root, up to where its value begins if that is a container."""
        start = _end(_SPACE.match(self._data))
        if self._data[start : start + 1] == b"}":
            self._ended, self._wrong = True, bool(self._data[start + 1 :].strip())
            return False
        found = _MEMBER.match(self._data)
        if found is None or found.end() == len(self._data):
            self._wrong = len(self._data) > _HELD or self._data[start : start + 1] not in (b"", b'"', b",")
            return False
        key = _text(found[1])
        if self._data[found.end() : found.end() + 1] in (b"[", b"{"):
            self._key = key
            self._child = _Container(self._data[found.end() :])
            self._data = self._data[found.end() + 1 :]
            return True
        scalar = _SCALAR.match(self._data, found.end())
        if scalar is None:
            if len(self._data) > _HELD:
                self._wrong = self._data[found.end() : found.end() + 1] != b'"'
                self._before, self._data = self._data[: found.end()], self._data[found.end() :]
                self._enter_string()
            return False
        self._put(key, _type_of(scalar[0]))
        self._data = self._data[scalar.end() :]
        return True

    def _put(self, key: str, what: str) -> None:
        self._count += 1
        self._members[key] = what

    def _enter_string(self) -> None:
        """What is left is the beginning of a string: nothing of it is kept but a last backslash."""
        if self._data:
            self._inside = True
            self._data = self._data[1:]
            self._leave_string()

    def _leave_string(self) -> None:
        end = _end(_IN_STRING.match(self._data))
        if self._data[end : end + 1] == b'"':
            self._inside = False
            self._data = self._before + b'""' + self._data[end + 1 :]
            self._before = b""
        else:
            self._data = self._data[end:]  # nothing, or a backslash whose character is still to come


class _Container:
    """An array or an object: how many parts it has, of which kinds those of an array are, and what the first of them are.

    Args:
        data: its beginning, with its bracket.

    Attributes:
        commas: between its parts, so far.
        depth: how many containers are open, this one among them.
    """

    def __init__(self, data: bytes) -> None:
        self.kind = data[:1]
        self.depth = 1
        self.commas = 0
        self._empty = True
        self._kinds = Kinds()  # but for numbers, which are all others
        self._number: int | None = None  # the index of the first
        self._last = b""  # what stands for the part behind the last comma: nothing if it is a number
        self._head = data[:_SAMPLED]

    def go_on(self, piece: bytes) -> None:
        """Hold what comes next, as far as elements are read there; it may reach beyond the end."""
        if len(self._head) < _SAMPLED:
            self._head += piece[: _SAMPLED - len(self._head)]

    def add(self, data: bytes) -> bytes | None:
        """Count the parts in bytes that end in no string; returns what stands behind the container's end, None if it is not there."""
        signs = _STRINGS.sub(b'"', data).translate(None, _OTHERS)
        signs = signs.replace(b"{", b"o{").replace(b"[", b"a[")  # which stands for it once it is gone
        for _ in range(_LEVELS):  # more are counted one by one
            signs = _INNERMOST.sub(b"", signs)
        depth, parts = self.depth, []
        for part in _SIGNS.split(signs):
            if part in (b"[", b"{"):
                depth += 1
            elif part in (b"]", b"}"):
                depth -= 1
                if not depth:
                    return self._ended_in(data)
            elif depth == 1:
                parts.append(part)
        self._empty = self._empty and (not data or data.isspace())
        self.depth = depth
        self._count(b"".join(parts))
        return None

    def _count(self, signs: bytes) -> None:
        """Count parts of its own, each but a number written as the sign of its kind, with the commas between them."""
        for sign, kind in _KIND_OF.items():
            if times := signs.count(sign):
                self._kinds.add(kind, self.commas + signs.count(b",", 0, signs.find(sign)), times)
        if self._number is None:
            at = (b"," + self._last + signs).find(b",,")
            if at >= 0:
                self._number = self.commas + (self._last + signs).count(b",", 0, at)
        self.commas += signs.count(b",")
        self._last = (self._last + signs).rpartition(b",")[2][:1]

    def _ended_in(self, data: bytes) -> bytes:
        """Count up to the container's end, which is in these bytes; returns what stands behind it."""
        depth, at = self.depth, 0
        for found in _BRACKETS.finditer(data):
            at = found.end()
            sign = data[found.start()]
            depth += (sign in b"[{") - (sign in b"]}")
            if not depth:
                break
        self.add(data[: at - 1])
        return data[at:]

    def told(self) -> str:
        """Its type, how many parts it has, and of which types those of an array are."""
        count = 0 if self._empty else self.commas + 1
        if self.kind == b"{":
            return f"object of {counted(count, 'member')}"
        members: dict[str, Kinds] = {}
        sample = _first_parts(self._head)
        for index, each in enumerate(sample):
            for name, value in each.items() if isinstance(each, dict) else ():
                members.setdefault(name, Kinds()).add(_name(value), index)
        of = "" if len(sample) == count else "the first" if len(sample) == 1 else f"the first {len(sample)}"
        return array_of(count, self._kinds_of(count), members, of=of)

    def _kinds_of(self, count: int) -> Kinds:
        found = self._kinds.copy()
        number = self.commas if self._number is None else self._number
        found.add("number", number, count - found.total())
        return found


def _first_parts(data: bytes) -> list[Any]:
    """The first elements of an array, as far as they are there."""
    found: list[Any] = []
    if data[:1] != b"[":
        return found
    text = data.decode("utf-8", "replace")
    decoder, at = json.JSONDecoder(), 1
    while len(found) < _SAMPLE:
        try:
            value, end = decoder.raw_decode(text, _end(_GAP.match(text, at)))
        except (ValueError, RecursionError):
            break
        if end == len(text):  # a number may go on
            break
        found.append(value)
        at = end
    return found


def _name(value: object) -> str:
    return _TYPES.get(type(value), "number")


def _type_of(scalar: bytes) -> str:
    return {b'"': "string", b"t": "boolean", b"f": "boolean", b"n": "null"}.get(scalar[:1], "number")


def _text(key: bytes) -> str:
    try:
        return str(json.loads(key))
    except ValueError:
        return key.decode("utf-8", "replace").strip('"')


def _end(match: Any) -> int:
    return 0 if match is None else int(match.end())
