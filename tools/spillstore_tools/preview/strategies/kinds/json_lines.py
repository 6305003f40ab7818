"""JSON Lines: how many records of which level, and the first record of each trouble."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import count
from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.strategies.actionable import STRONG, score
from spillstore_tools.preview.strategies.kinds.excerpts import Picker, excerpts, odd_lines, rare, rows_of
from spillstore_tools.preview.structured.json_fields import (
    ERRORS,
    LEVELS,
    MESSAGES,
    NAMED,
    STATUSES,
    Field,
    is_known,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick
    from spillstore_tools.preview.strategies.request import Request

_SAMPLE = 50  # records that are read
_OFTEN_LATE = ("error", "err")  # of these, those that may stand in records of trouble alone
_KEPT, _FEW = 60, 6  # kinds of trouble; those that are shown where they are alike
_SCANNED = 200  # records of trouble that are looked at in a block
_WRITTEN = 8  # ways to write a level that are known
_OBJECTS = 0.95  # of the lines
_BROKEN = 3  # broken records that are shown
_OBJECT = rows_of(rb"\{[^\n]*+(?<=\})")
_DIGITS = re.compile(rb"[0-9a-f]*\d[0-9a-f]*")
_ROOM, _WIDEST = 4800, 2000  # code points of records from the middle, and of one of them
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d+$")
_MANY = 200  # records on the same subject, from which on they do not belong together
_STRONG, _NEAR = 3, 7  # of them those that are shown before one that tells of trouble


class _Counted(Field):
    """A member that tells how much a record matters, counted in lines.

    Attributes:
        bad_records: finds records that tell of trouble; ``little_records`` those that warn.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key)
        # Values by how a record writes them, with key and quotation marks.
        self._written: dict[bytes, str] = {}
        start = rb'"' + re.escape(key.encode()) + rb'"\s*:\s*"?'
        self._value = re.compile(start + rb'(\w+)["\s,}]')
        self.bad_records, self.little_records = (
            re.compile(start + rb"(?:" + values.encode() + rb')(?:"|\s*[,}])')
            for values in (self.bad, self.little)
        )

    def add(self, block: Block) -> bool:
        """Count the records of a block; whether some tell of trouble, or warn."""
        found = self._values_of(block)
        self.counts += found
        return any(self.weight(value) for value in found)

    def _values_of(self, block: Block) -> Counter[str]:
        """The records of a block by value. Known values are counted as they are written, which is ten times as fast."""
        found: Counter[str] = Counter()
        for written, value in self._written.items():
            found[value] += count(block.raw, written)
        if found.total() != block.lines:
            found.clear()
            for match in self._value.finditer(block.raw):
                value = match[1].decode()
                found[value] += 1
                if len(self._written) < _WRITTEN:
                    self._written[match[0]] = value
        return +found


class _Found:
    """Records of one sort: a pick and how many there are, by what their messages share."""

    def __init__(self) -> None:
        self._picks: dict[bytes, Pick] = {}
        self._before: dict[bytes, list[Pick]] = {}  # records on the same subject before each
        self._times: Counter[bytes] = Counter()
        self._more = False  # whether records were passed over

    def look(self, patterns: Iterable[Any], subject: _Subject, raw: bytes, picker: Picker) -> None:
        """Find the records of a block that one of the patterns is in."""
        known: set[int] = set()  # where the records begin that were found
        for pattern in patterns:
            end = 0
            for times, found in enumerate(pattern.finditer(raw)):
                if times == _SCANNED:
                    self._more = True
                    break
                if found.start() < end:
                    continue  # in the same record
                end = raw.find(b"\n", found.end()) + 1 or len(raw)
                start = raw.rfind(b"\n", 0, found.start()) + 1
                if start in known:
                    continue
                known.add(start)
                key = _DIGITS.sub(b"0", subject.of(raw[start:end]))
                if key not in self._picks and len(self._picks) < _KEPT:
                    self._picks[key] = picker.pick(start)
                    self._before[key] = [picker.pick(at) for at in subject.before(raw, start)]
                self._times[key] += key in self._picks

    def picks(self, subject: _Subject, overview: Overview) -> list[Pick]:
        """The first record of each kind, with how many there are more; behind each those before it that are on the same subject."""
        found: list[Pick] = []
        for key, pick in list(self._picks.items())[: self._most(subject)]:
            before = subject.all_before(pick, overview) if overview.whole else self._before[key]
            strong = [each for each in before if score(each.line.text[:_WIDEST]) >= STRONG]
            found.append(pick._replace(note=self._note(self._times[key])))
            found += [*strong[:_STRONG], *before[-_NEAR:]]
        return found

    def _most(self, subject: _Subject) -> int:
        """How many kinds are shown: few, if they differ in names alone of which many come again, such as those of paths that all failed for a while."""
        again = sum(times > 1 for times in self._times.values())
        return _FEW if not subject.has_messages and again * 3 >= len(self._picks) else _KEPT

    def _note(self, times: int) -> str:
        if self._more:
            return ""  # nobody counted them
        return f"  [and {times - 1} more like this]\n" if times > 1 else ""


class _Subject:
    """What records are about: their messages, or where there are none, members such as a name that several records share."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        messages = (key for key in MESSAGES if any(isinstance(each.get(key), str) for each in records))
        message = next(messages, None)
        self._message = _member(message.encode(), rb"[^\"]{0,200}") if message else None
        self.has_messages = message is not None
        self._names: list[Any] = []  # what finds members that several records share
        self._others: list[Any] = []  # and other texts
        for key in dict.fromkeys(key for record in records for key in record):
            values = [record[key] for record in records if key in record]
            if is_known(key) or not all(isinstance(each, str) for each in values) or _DATE.match(values[0]):
                continue
            shared = len(set(values)) < len(values)
            (self._names if shared else self._others).append(_member(key.encode(), rb'(?>[^"\\\n]|\\.)*+"'))

    def of(self, record: bytes) -> bytes:
        """The message of a record, or its names."""
        found = self._message.search(record) if self._message else None
        return found[0] if found else b" ".join(self._of(record))

    def _of(self, record: bytes) -> list[bytes]:
        """The names, as they are written."""
        return [found[0] for name in self._names if (found := name.search(record))]

    def before(self, raw: bytes, end: int) -> list[int]:
        """Where the records before a byte begin that are about the same as the one there; none where they have messages, or are many."""
        return self._before(raw[end : raw.find(b"\n", end) + 1 or len(raw)], raw, end)

    def _before(self, record: bytes, raw: bytes, end: int) -> list[int]:
        names = self._of(record)
        others = (other.search(record) for other in self._others)
        shared = [*names, *(other[0] for other in others if other and raw.find(other[0], 0, end) >= 0)]
        found: list[int] = []
        at = -1 if self._message or not shared else raw.find(shared[-1], 0, end)
        while at >= 0 and len(found) <= _MANY:
            start, after = raw.rfind(b"\n", 0, at) + 1, raw.find(b"\n", at) + 1 or len(raw)
            line = raw[start:after]
            if self._of(line) == names and all(each in line for each in shared):
                found.append(start)
            at = raw.find(shared[-1], after, end)
        return found if len(found) <= _MANY else []

    def all_before(self, pick: Pick, overview: Overview) -> list[Pick]:
        """The same, of all of the output."""
        picker, found = Picker(), []
        for block in (*overview.head, *overview.tail):
            if block.start >= pick.line.start:
                break
            picker.begin(block)
            end = min(len(block.raw), pick.line.start - block.start)
            found += [picker.pick(at) for at in self._before(pick.line.text.encode(), block.raw, end)]
        return found if len(found) <= _MANY else []


def _member(key: bytes, value: bytes) -> Any:
    return re.compile(rb'"' + re.escape(key) + rb'"\s*:\s*"' + value)


class JsonLines:
    """Records of JSON, one a line."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        # Lines that are objects, that begin as one and do not end so, and all others but blank ones.
        self._objects = self._broken = self._others = 0
        self._broken_picks: list[Pick] = []
        self._picker = Picker()
        self._fields: list[_Counted] = []
        self._subject = _Subject([])
        # Members that hold errors: how a key is written, how a member that holds none is, and what finds the others.
        self._errors: list[tuple[bytes, bytes, Any]] = []
        self._bad, self._told, self._little = _Found(), _Found(), _Found()

    def _begin(self, first: Block) -> None:
        """Learn from the first records which fields tell a level and a message."""
        self._records = _read(first.raw)
        for keys in ((*LEVELS, "PRIORITY"), STATUSES):
            known = (
                key for key in keys if any(isinstance(each.get(key), (str, int)) for each in self._records)
            )
            if (key := next(known, None)) is not None:
                self._fields.append(_Counted(key))
        self._subject = _Subject(self._records)
        for name in ERRORS:
            written = f'"{name}":'.encode()
            none = re.compile(written + rb'\s*(?:null|false|"")').search(first.raw)
            some = re.compile(written + rb'\s*(?:"[^"]|[\[{]\s*[^\s\]}]|[1-9]|true)')
            if name in _OFTEN_LATE or written in first.raw:
                self._errors.append((written, none[0] if none else b"", some))

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.first_line == 1 and block.long is None:
            self._begin(block)
        if block.long is not None or not self._records:
            return False
        objects = count(block.raw, b"\n{")
        if objects < _OBJECTS * (block.lines - 1):
            return False
        self._picker.begin(block)
        self._count(block)
        telling = [field for field in self._fields if field.add(block)]
        # Counting those that hold nothing is ten times as fast as looking at each.
        errors = [
            some
            for key, none, some in self._errors
            if count(block.raw, key) > (count(block.raw, none) if none else 0)
        ]
        for found, patterns in (
            (self._bad, [field.bad_records for field in telling]),
            (self._little, [field.little_records for field in telling]),
            (self._told, errors),
        ):
            found.look(patterns, self._subject, block.raw, self._picker)
        return True

    def _count(self, block: Block) -> None:
        """Count the lines of a block that are objects, and those that are none."""
        raw = block.raw
        self._objects += block.lines
        if count(raw, b"}\n{") == block.lines - 1 and raw.startswith(b"{") and raw.endswith((b"}", b"}\n")):
            return
        for at in odd_lines(_OBJECT, raw, blank=True):
            line = raw[at : raw.find(b"\n", at) + 1 or len(raw)].strip()
            if line.startswith(b"{") and line.endswith(b"}"):
                continue
            self._objects -= 1
            if line.startswith(b"{"):
                self._broken += 1
                if len(self._broken_picks) < _BROKEN:
                    self._broken_picks.append(self._picker.pick(at))
            elif line:
                self._others += 1

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``; a record tells by its level whether something failed, if there are levels."""
        return (bool(self._fields) or None) if line.startswith(b"{") else False

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        keys = dict.fromkeys(key for record in self._records for key in record)
        words = f"{counted(self._objects, 'record')} of JSON Lines with {listed(list(keys), NAMED)}"
        words += "".join(f"; {field.told()}" for field in self._fields)
        if self._broken:
            words += f"; {counted(self._broken, 'broken record')}"
        if self._others:
            words += f"; {counted(self._others, 'other line')}"
        picks = [*self._picks(overview), *self._broken_picks]
        return excerpts(overview, request, words, picks, first=3, last=3, most=_ROOM, widest=_WIDEST)

    def _picks(self, overview: Overview) -> list[Pick]:
        """The first record of each trouble; where there is none, of what is less, and records whose words stand hardly anywhere."""
        found = [each for sort in (self._bad, self._told) for each in sort.picks(self._subject, overview)]
        if found:
            return found
        return [*self._little.picks(self._subject, overview), *rare(overview)]


def _read(raw: bytes) -> list[dict[str, Any]]:
    """The first records; none where some line of them is no object."""
    records = []
    for line in raw.split(b"\n", _SAMPLE)[:_SAMPLE]:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if not isinstance(record, dict):
            return []
        records.append(record)
    return records
