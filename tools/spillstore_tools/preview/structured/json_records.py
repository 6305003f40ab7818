"""The records in JSON: objects of one array, or of one object that holds many, counted by the values of their members.

A value is read in pieces of some 64 KiB at most, so its records are never in memory at once. What is remembered of
each member is bounded: its first 64 values with the first record of each, and the first records of each trouble.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.structured.json_fields import ERRORS, MESSAGES, Field
from spillstore_tools.preview.structured.json_paths import Where, member_step
from spillstore_tools.preview.structured.json_tree import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PIECE = 64 * 1024  # characters that are made values of at once
_SORTS = 64  # of records
_FIELDS = 64  # members of one sort of record
_VALUES = 64  # of a member that are told apart
_TROUBLES = 60  # kinds of trouble of one member, or of one sort
_SAME = 8  # records of one trouble that no message tells apart
_MAP = 10  # members of an object from which on, if they are all objects, they are records
_DEEPEST = 16
_VALUE = 60  # characters of a value in a note
_WORDS, _SENTENCE = 2, 500  # blanks that a message has at least, and characters at most

_TROUBLE = re.compile(
    r"(?:error\w*|err|exception|failure\w*|fail_?reason|error_?message|stderr|traceback|fault|problem\w*)"
)
_SOFT = frozenset({"reason"})  # tells of trouble where most records have none, as a number does
# A number of such a name says how many troubles there are, not which.
_COUNTS = re.compile(
    r"(?i:(?:num|total|number_?of|count)_?(?:error|fail|fatal|problem|exception)\w*"
    r"|\w*(?:error|fail\w*|fatal|problem|exception|warn\w*)s?_?(?:count|total|num)"
    r"|(?:\w+_)?(?:errors|failures|failed|problems|exceptions))"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[1-9]\d{0,17}")
_DIGITS = re.compile(r"[0-9a-f]*\d[0-9a-f]*")
_decoder = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


@dataclass(slots=True)
class Trouble:
    """Records that tell of the same trouble.

    Attributes:
        where: the first of them.
        member: the names of the member that tells, inside it; empty if the record itself does.
        times: how many they are.
    """

    where: Where
    member: tuple[str, ...]
    times: int = 0


class Tally(Field):
    """A member of records of one sort.

    Attributes:
        first: the first record of each value.
        with_it: how many records have it, neither null nor empty.
        many: whether it has more values than are told apart.
        texts: records in which it is some words.
        total: the sum of numbers that count troubles; ``counting`` is how many records have such a number.
        troubles: records whose value tells of trouble, by value and message.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names[-1], "".join(map(member_step, names)).removeprefix("."))
        self.names = names
        self.first: dict[str, Where] = {}
        self.with_it = 0
        self.first_with_it: Where = ()
        self.many = False
        self.texts = 0
        self.total = 0
        self.counting = 0
        self.troubles: dict[tuple[str, str], Trouble] = {}
        # Values that need no second look, and whether each is some words; none of a name that tells of trouble.
        self.plain: dict[str, bool] = {}
        self.is_watched = bool(
            self.is_known or self.key in _SOFT or _TROUBLE.fullmatch(self.key) or _COUNTS.fullmatch(self.key)
        )

    def is_counted(self, value: Any) -> bool:
        """Count a value that was met before, or any of a member with too many values; False if it needs a closer look."""
        word = _word_of_few(value)
        if (text := self.plain.get(word)) is None:
            if not (self.many and word) or self.is_watched:
                return False
            text = _is_sentence(word)
        else:
            self.counts[word] += 1
        self.with_it += 1
        self.texts += text
        return True

    def add(self, value: str, where: Where) -> bool:
        """Count a value; whether it tells of trouble."""
        if value in self.counts:
            self.counts[value] += 1
        elif len(self.counts) < _VALUES or (self.is_known and self.weight(value)):
            self.counts[value] += 1
            self.first[value] = where
        else:
            self.many = True
            return False
        return self.weight(value) > 1


class Records:
    """Records of one sort: those at one path, whatever the indices in it.

    Attributes:
        path: of all of them, such as ``$.items[*]``.
        count: how many.
        partial: whether there are more that nobody looked at.
        fields: their members, by the names from the record on.
        troubles: records with members that hold trouble, by message.
        soft: records with members that may.
    """

    def __init__(self, path: str, *, are_troubles: bool) -> None:
        self.path = path
        self.are_troubles = are_troubles
        self.count = 0
        self.partial = False
        self.fields: dict[tuple[str, ...], Tally] = {}
        self.troubles: dict[tuple[str, str], Trouble] = {}
        self.soft: dict[tuple[str, str], Trouble] = {}

    def field(self, names: tuple[str, ...]) -> Tally | None:
        """The tally of a member; None where there are too many."""
        found = self.fields.get(names)
        if found is None and len(self.fields) < _FIELDS:
            found = self.fields[names] = Tally(names)
        return found


def records_of(text: str, root: Value) -> list[Records]:
    """All records of a value by their sorts, in the order of the first of each; the outermost value, if it is an object, is a record, too.

    Costs some 1.2 seconds of processor time for 7 MB of records.

    Example:
        >>> from spillstore_tools.preview.structured.json_tree import parsed
        >>> text = '{"items": [{"state": "up"}, {"state": "up"}, {"state": "down"}]}'
        >>> [(each.path, each.count, [field.told() for field in each.fields.values()]) for each in records_of(text, parsed(text))]
        [('$', 1, ['items: [...] 1']), ('$.items[*]', 3, ['state: up 2, down 1'])]
    """
    reader = _Reader(text)
    reader.read(root)
    return list(reader.sorts.values())


class _Reader:
    """Walks through a value. Containers of more than a piece are ``Value``s, all else what the scanner makes of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.sorts: dict[str, Records] = {}

    def read(self, root: Value) -> None:
        """Take the whole value."""
        if root.kind == "{":
            self._record(root, "$", (), are_troubles=False)
        elif root.kind == "[":
            self._elements(root, "$[*]", (), are_troubles=False)

    def _record(self, record: Any, path: str, where: Where, *, are_troubles: bool) -> None:
        sort = self.sorts.get(path)
        if sort is None:
            if len(self.sorts) >= _SORTS:
                return
            sort = self.sorts[path] = Records(path, are_troubles=are_troubles)
        sort.count += 1
        one = _One(sort, where, record)
        if are_troubles:
            one.add(sort.troubles, "", ())
        self._members(record, one, (), path, told=are_troubles)

    def _members(self, value: Any, one: _One, names: tuple[str, ...], path: str, *, told: bool) -> None:
        """The members of a record, or of an object inside it; ``told`` if that is a trouble already."""
        if len(one.where) + len(names) > _DEEPEST:
            return
        sort = one.sort
        sort.partial = sort.partial or (isinstance(value, Value) and value.opened(self._text).missing > 0)
        for key, child in self._items(value):
            name = str(key)
            inner = (*names, name)
            known = sort.fields.get(inner)
            if known is not None and known.is_counted(child):
                continue
            kind = _kind(child)
            word = _word(child, kind)
            tells = not told and self._tells(name, word, kind, child)
            if (field := sort.field(inner)) is not None:
                one.count(field, word, kind, child)
            if tells:
                one.add(sort.soft if name in _SOFT or kind == "0" else sort.troubles, name, inner)
            if kind == "{" and word != "{}":
                inside = f"{path}{member_step(name)}"
                if self._is_map(child):
                    for key_, each in self._items(child):
                        self._record(each, f"{inside}[*]", (*one.where, *inner, key_), are_troubles=False)
                else:
                    self._members(child, one, inner, inside, told=told or tells)
            elif kind == "[" and word != "[]":
                is_trouble = _TROUBLE.fullmatch(name) is not None
                self._elements(
                    child, f"{path}{member_step(name)}[*]", (*one.where, *inner), are_troubles=is_trouble
                )

    def _tells(self, name: str, word: str, kind: str, child: Any) -> bool:
        """Whether a member tells of trouble by its name; an array of objects leaves that to them."""
        if not (_TROUBLE.fullmatch(name) or name in _SOFT) or word in {"", "null", "false", "[]", "{}"}:
            return False
        if kind == "[":
            return not any(_kind(each) == "{" for _, each in self._items(child))
        if kind == "0":
            return word.strip("0.-") != "" and not _COUNTS.fullmatch(name)
        return True

    def _elements(self, value: Any, path: str, where: Where, *, are_troubles: bool) -> None:
        if len(where) > _DEEPEST:
            return
        for index, child in self._items(value):
            kind = _kind(child)
            if kind == "{":
                self._record(child, path, (*where, index), are_troubles=are_troubles)
            elif kind == "[":
                self._elements(child, f"{path}[*]", (*where, index), are_troubles=are_troubles)
        if isinstance(value, Value) and value.opened(self._text).missing and path in self.sorts:
            self.sorts[path].partial = True

    def _is_map(self, value: Any) -> bool:
        parts = value.opened(self._text) if isinstance(value, Value) else value
        return len(parts) >= _MAP and all(_kind(child) == "{" for _, child in self._items(value))

    def _items(self, value: Any) -> Iterable[tuple[str | int, Any]]:
        """The parts of a container that are known, with their names or indices."""
        if isinstance(value, dict):
            return value.items()
        if isinstance(value, list):
            return enumerate(value)
        return self._parts(value) if isinstance(value, Value) and value.kind in "[{" else ()

    def _parts(self, value: Value) -> Iterator[tuple[str | int, Any]]:
        parts = value.opened(self._text)
        for index in parts.indices():
            key, start, end = parts[index]
            name = index if value.kind == "[" else str(_decoder.raw_decode(self._text, key)[0])
            yield name, self._piece(start, end)

    def _piece(self, start: int, end: int) -> Any:
        if end - start > _PIECE:
            return Value(self._text[start], start, end)
        return _decoder.raw_decode(self._text, start)[0]


class _One:
    """One record."""

    __slots__ = ("_added", "_record", "_said", "sort", "where")

    def __init__(self, sort: Records, where: Where, record: Any) -> None:
        self.sort = sort
        self.where = where
        self._record = record
        self._said: str | None = None
        self._added = False

    def count(self, field: Tally, word: str, kind: str, child: Any) -> None:
        """Count the value of a member."""
        if kind == "0" and _COUNTS.fullmatch(field.key):
            if _WHOLE.fullmatch(word):
                field.total += int(word)
                field.counting += 1
            field.first.setdefault(word, self.where)
            return
        if word not in {"", "null", "[]", "{}"}:
            field.with_it += 1
            field.first_with_it = field.first_with_it or self.where
        is_text = kind == '"' and isinstance(child, str) and _is_sentence(child)
        field.texts += is_text
        if kind == "{":
            return
        if field.add(word, self.where):
            self._put(field.troubles, word, field.names)
        elif word in field.counts and word == _word_of_few(child) and not field.is_watched:
            field.plain[word] = is_text

    def add(self, troubles: dict[tuple[str, str], Trouble], name: str, member: tuple[str, ...]) -> None:
        """Note that the record tells of trouble; once, if several of its members do."""
        if troubles is self.sort.troubles:
            if self._added:
                return
            self._added = True
        self._put(troubles, name, member)

    def _put(self, troubles: dict[tuple[str, str], Trouble], name: str, member: tuple[str, ...]) -> None:
        said = self._message()
        key = (name, said)
        if not said:  # nothing tells them apart: a few are shown, and the last of these stands for the others
            number = sum(each[0] == name for each in troubles)
            key = (name, f"{number}")
            if number >= _SAME:
                key = (name, f"{_SAME - 1}")
        found = troubles.get(key)
        if found is None and len(troubles) >= _TROUBLES:
            found = next(reversed(troubles.values()))  # counted with the last
        if found is None:
            found = troubles[key] = Trouble(self.where, member)
        found.times += 1

    def _message(self) -> str:
        """What the record says, without numbers; empty if it says nothing."""
        if self._said is None:
            record = self._record if isinstance(self._record, dict) else {}
            values = (record.get(name) for name in (*MESSAGES, *ERRORS))
            texts = (
                next((each.get(name) for name in MESSAGES if name in each), None)
                if isinstance(each, dict)
                else each
                for each in values
            )
            self._said = next(
                (
                    _DIGITS.sub("0", each)
                    for each in texts
                    if isinstance(each, str) and not _NUMBER.fullmatch(each)
                ),
                "",
            )
        return self._said


def _is_sentence(value: str) -> bool:
    return len(value) <= _SENTENCE and value.count(" ") >= _WORDS


def _word_of_few(value: Any) -> str:
    """A string, or the word for an array of nothing but scalars; empty for all else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and not any(isinstance(each, (dict, list)) for each in value):
        return "[...]"
    return ""


def _kind(child: Any) -> str:
    """The first character that tells the type: of a number 0, of true, false and null t."""
    if isinstance(child, str):
        return "0" if _NUMBER.fullmatch(child) else '"'
    if isinstance(child, dict):
        return "{"
    if isinstance(child, list):
        return "["
    return child.kind if isinstance(child, Value) else "t"


def _word(child: Any, kind: str) -> str:
    """A value in a word."""
    if isinstance(child, str):
        word = child if len(child) <= _VALUE else child[: _VALUE - 3] + "..."
        return word if word.isprintable() else json.dumps(word)[1:-1]
    if kind == "t":
        return "null" if child is None else "true" if child else "false"
    if kind == '"':
        return "..."
    return kind + ("...") * bool(child) + {"{": "}", "[": "]"}[kind]
