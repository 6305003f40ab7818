"""What in JSON is worth showing first: how its records divide, and those that tell of trouble or are unlike the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.structured.cuts import apply_cuts
from spillstore_tools.preview.structured.json_cuts import cut_json
from spillstore_tools.preview.structured.json_paths import member_step, path_of, value_at
from spillstore_tools.preview.structured.json_records import Records, Tally, Trouble, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.structured.json_paths import Where
    from spillstore_tools.preview.structured.json_tree import Value

_LEAST = 8  # records of which there is something to count
_ENOUGH = 20  # of which one may be unlike the others
_RARE = 100  # one in so many records
_RARE_VALUES, _USUAL = 3, 12  # of a member in which a rare value means something
_RARE_MEMBERS = 6  # and members that hardly any record has
_KIND_OF = 3  # records of each kind on average, at least
_NEUTRAL = 50  # records from which on the first of each kind is shown where nothing failed
_MOST = 10  # records that are shown
_FEW = 3  # rare ones of a sort
_TOLD = 3  # members whose values are told
_WIDEST = 1200  # code points of a record
_WORTH = 240  # and of a part of one that is worth showing
_VALUE = 300  # and of a member that tells of trouble
_DEEPEST = 64
_WORD = re.compile(r"@?[^\W\d][\w .@-]*(?:/[\w.@-]+)?")
_PLACE = re.compile(r".*\.\w{1,5}|(?:[^/]*/){2}.*|/.*")
_BLANKS = re.compile(r'("[^"\\]*+(?>\\.[^"\\]*+)*+")|[ \t\n\r]+')


class Findings(NamedTuple):
    """The result: lines without brackets, and whether some of them are records unlike the others, beside which equal ones tell little."""

    lines: list[str]
    are_odd: bool


class _Pick(NamedTuple):
    """A record to show.

    Attributes:
        weight: 2 of trouble, 1 of what is rare, 0 of the first of a kind.
        turn: the how manieth of its sort; one of each sort comes before a second of any.
        where: its place.
        member: the names of the member that tells; empty if all of it does.
        times: how many are like it, itself included.
    """

    weight: int
    turn: int
    where: Where
    member: tuple[str, ...]
    times: int


def findings(text: str, root: Value, room: int) -> Findings:
    """What is found, within a number of code points.

    Example:
        >>> from spillstore_tools.preview.structured.json_tree import parsed
        >>> text = "[" + '{"state": "up"},' * 50 + '{"state": "down"}]'
        >>> findings(text, parsed(text), 500).lines
        ['$[*]: state: up 50, down 1', '$[50]: {"state": "down"}']
    """
    sorts = records_of(text, root)
    failed = any(field.total for sort in sorts for field in sort.fields.values())
    words: list[str] = []
    picks: list[_Pick] = []
    are_odd = False
    for sort in sorts:
        own, odd = _picked(sort, failed=failed)
        picks += own
        words += _counted(sort, odd)
        weight = max((pick.weight for pick in own), default=-1)
        are_odd = are_odd or weight > 1 or (failed and weight >= 0) or (weight == 1 and not _tell_all(sort))
    lines: list[str] = []
    for line in words:
        if sum(map(len, lines)) + len(line) <= room // 4:
            lines.append(line)
    picks.sort(key=lambda pick: (-pick.weight, pick.turn))
    shown = _Shown(text, root, room - sum(map(len, lines)))
    for pick in picks:
        shown.add(pick)
    return Findings([*lines, *shown.lines], are_odd)


def _tell_all(sort: Records) -> bool:
    """Whether each record says something of its own, such as the title of an issue."""
    message = _message_of(sort)
    return message is not None and message.many


def _picked(sort: Records, *, failed: bool) -> tuple[list[_Pick], list[Tally]]:
    """The records of a sort to show, and the members that tell them from the others."""
    odd: list[Tally] = []
    found = list(sort.troubles.values())
    if sum(each.times for each in sort.soft.values()) * 2 <= sort.count or sort.count == 1:
        found += sort.soft.values()
    for field in sort.fields.values():
        if field.troubles and (field.is_known or _has_usual(field, sort)):
            found += field.troubles.values()
            odd.append(field)
    kind, told = _kind_of(sort), True
    if kind is None and failed and sort.count > 1:
        kind, told = _message_of(sort), False
    all_bad = sum(each.times for each in found) >= sort.count and sort.count >= _LEAST
    weighty = [_Pick(2, turn, each.where, each.member, each.times) for turn, each in enumerate(_once(found))]
    if kind is not None and (all_bad or (not weighty and (failed or sort.count >= _NEUTRAL))):
        weight = 2 if all_bad else 0
        firsts = [
            _Pick(weight, turn, where, (), kind.counts[value])
            for turn, (value, where) in enumerate(kind.first.items())
        ]
        return [*firsts, *_rare(sort, odd)], [*odd, kind] if told else odd
    rare = _rare(sort, odd, messages=not weighty)
    if not weighty and not rare:
        weighty = list(_warned(sort, odd))
    return [*weighty, *rare], odd


def _once(found: list[Trouble]) -> Iterator[Trouble]:
    """Each record once, in the order of the first reasons."""
    known: set[Where] = set()
    for each in found:
        if each.where not in known:
            known.add(each.where)
            yield each


def _has_usual(field: Tally, sort: Records) -> bool:
    """Whether most records have one value, which tells of no trouble."""
    value, times = field.counts.most_common(1)[0] if field.counts else ("", 0)
    return not field.many and times * 2 >= sort.count > 1 and not field.weight(value)


def _warned(sort: Records, odd: list[Tally]) -> Iterator[_Pick]:
    """The first record of each value that warns, such as a status of 404."""
    for field in sort.fields.values():
        if not field.is_known:
            continue
        for value, where in field.first.items():
            if field.weight(value) == 1 and field.counts[value] < sort.count:
                odd.append(field)
                yield _Pick(1, len(odd), where, field.names, field.counts[value])


def _rare(sort: Records, odd: list[Tally], *, messages: bool = True) -> list[_Pick]:
    """Records with a value, or a member, that hardly any other has; ``messages`` if their words count, too, which are rare of troubles anyway."""
    if sort.count < _ENOUGH:
        return []
    most = max(1, sort.count // _RARE)
    # Of many members that hardly any record has, such as labels, none means anything.
    alone = sum(0 < field.with_it <= most for field in sort.fields.values()) <= _RARE_MEMBERS
    found: dict[Where, _Pick] = {}
    for field in sort.fields.values():
        if field.many or field.total or field.counting or (field.texts and not messages):
            continue
        values = [
            value
            for value, times in field.counts.items()
            if times <= most and value not in {"", "null", "[]", "{}"}
        ]
        if 0 < field.with_it <= most:
            if alone:
                where = field.first_with_it
                found.setdefault(where, _Pick(1, len(found), where, field.names, field.with_it))
            continue
        if 0 < len(values) <= _RARE_VALUES and 0 < len(field.counts) - len(values) <= _USUAL:
            for value in values:
                where = field.first[value]
                found.setdefault(where, _Pick(1, len(found), where, field.names, field.counts[value]))
            if field not in odd:
                odd.append(field)
    return list(found.values())[:_FEW]


def _message_of(sort: Records) -> Tally | None:
    """The first member that holds some words in most records."""
    return next((field for field in sort.fields.values() if field.texts * 2 >= sort.count), None)


def _kind_of(sort: Records) -> Tally | None:
    """The first member that divides records with messages into kinds, such as the rule that each is about."""
    if sort.count < _LEAST or _message_of(sort) is None:
        return None
    for field in sort.fields.values():
        values = field.counts
        if field.many or not 1 < len(values) <= sort.count // _KIND_OF or field.texts:
            continue
        if all(_WORD.fullmatch(value) and not _PLACE.fullmatch(value) for value in values):
            return field
    return None


def _counted(sort: Records, odd: list[Tally]) -> list[str]:
    """How the records divide, and how many troubles they count."""
    lines = []
    told = [*odd, *(field for field in sort.fields.values() if field.is_known and field not in odd)]
    told = [field for field in told if field.counts and not field.many][:_TOLD]
    if told and sort.count >= _LEAST:
        part = " (those at both ends)" if sort.partial else ""
        lines.append(f"{sort.path}{part}: " + "; ".join(field.told() for field in told))
    for field in sort.fields.values():
        if field.total:
            path = sort.path + "".join(map(member_step, field.names))
            many = f" in all, in {field.counting} of {sort.count}" if sort.count > 1 else ""
            lines.append(f"{path}: {field.total}{many}")
    return lines


class _Shown:
    """Records that are shown, while there is room.

    Attributes:
        lines: what is shown.
    """

    def __init__(self, text: str, root: Value, room: int) -> None:
        self._text = text
        self._root = root
        self._room = room
        self._number = 0
        self._whole: set[Where] = set()
        self.lines: list[str] = []

    def add(self, pick: _Pick) -> None:
        """Show a record: all of it, or the member that tells and what there is room for."""
        inside = any(pick.where[:length] in self._whole for length in range(1, len(pick.where) + 1))
        if inside or self._number >= _MOST:
            return
        record = value_at(self._text, self._root, pick.where)
        source = _squeezed(self._text[record.start : record.end])
        more = f"  [and {pick.times - 1} more like this]" if pick.times > 1 else ""
        if pick.where and len(source) <= _WIDEST and self._put(pick.where, source, more):
            self._whole.add(pick.where)
            return
        if pick.member:
            member = value_at(self._text, self._root, (*pick.where, *pick.member))
            self._put((*pick.where, *pick.member), self._cut(member, _VALUE), more)
        elif pick.where:
            self._put(pick.where, self._cut(record, min(_WIDEST, self._room // 2)), more)

    def _put(self, where: Where, source: str, more: str) -> bool:
        line = f"{path_of(where)}: {source}{more}"
        if len(line) > self._room:
            return False
        self._room -= len(line)
        self._number += 1
        self.lines.append(line)
        return True

    def _cut(self, value: Value, room: int) -> str:
        source = _squeezed(self._text[value.start : value.end])
        if len(source) <= room:
            return source
        return apply_cuts(source, cut_json(source, room, first=3, last=1, max_depth=_DEEPEST))


def _squeezed(source: str) -> str:
    """JSON on one line: blanks between its parts are single."""
    return _BLANKS.sub(lambda found: found[1] or " ", source)
