"""Where rules may apply: literals of the rules, found by the native scanner or by a Python automaton.

The native scanner (``_native/scan.c``) drops hits behind which no secret can stand; the automaton gives out all of them.
What is found is the same, since a rule that is tried in vain finds nothing.

The automaton is a full table (DFA), so it takes the same time however many literals there are: 2.5 ns a byte of logs and of
sources for 430 of them, and no more for 670. Searchers by SIMD are faster as long as there are few: six times for 32 literals, but they want one
pass for every 64. RE2 with all literals in one expression takes longer, and stops at each match. Hyperscan takes 1.2 to 1.5 ns,
but calls back for each hit, with the interpreter's lock each time: beside a thread that ran Python, 4 MB took it 12 s, and
this automaton 0.3.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import operator
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from spillstore import _native
from spillstore.redaction import addresses, assignments, commands, headers, prefixed, tokens
from spillstore.redaction.places import LEAST_SEGMENT, Placed, segment
from spillstore.redaction.tables import forms, values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spillstore.redaction.look import Rule
    from spillstore.redaction.names import Named

    Hit = tuple[int, int, int]
    Group = Sequence[tuple[str, Rule]]

# What the scanner asks of the bytes around a literal, as in ``_native/scan.c``.
_ALWAYS, _NAMED, _WORD, _MARK, _RUN, _SIGNED, _CREDENTIALS, _COMMAND, _LINE_START, _COOKIE = range(10)
_STRENGTHS: dict[str | None, int] = {None: 1, "password": 2, "secret": 3, "token": 4, "weak": 5, "long": 5}

# One bit for each class of bytes, in the order of ``_native/scan.c``.
_CLASSES = (
    rb"[\w.-]",
    b"[" + re.escape(forms.BEHIND.encode()) + b"]",
    b"[" + re.escape(forms.CLOSERS.encode()) + b"]",
    rb"[ \t]",
    rb"[\r\n]",
    rb"[^\s\"'`\x00-\x20\x7f]",
    rb"[A-Za-z0-9+/=_.~%!@#$^*:-]",
    rb"[A-Za-z0-9]",
    rb"[0-9]",
    rb"[^-_./:\s,+@=#]",
    rb"[0-9.,:+-]",
    rb"[`\\&$@(\[{<!|>,+%-]",
    rb"[)\]}>,;.:]",
    b"[" + re.escape(forms.BEFORE_OPTION.encode()) + b"]",
    rb"[-+>#*|\"' \t]",
    rb"[\w-]",
    b"[" + re.escape(prefixed.BEFORE) + b"]",
    b"[" + re.escape(prefixed.BEHIND) + b"]",
)
_VERSION = 6  # of the tables, the checks and the functions' arguments, as in ``_native/scan.c``
_NARROW, _WIDE = (
    7,
    8,
)  # bits of a column's number in a row of the automaton; the wide rows cost up to a tenth more
_MOST_NAMES = 8192
_MOST_SETS = 256
_ROOM = 8192  # candidates that one call gives out
_END_THEN_START = operator.itemgetter(2, 1)
_SIMPLE = re.compile(rb"(\[[^\]]+\])\{(\d+)")  # what a token goes on with, where that is one class
_RUN_ON = rb"[A-Za-z0-9_.~+/=@:|-]"
_RUN_ON_LEAST = 12


# Lists of words that the checks ask for, in the order of ``_native/scan.c``.
_WORDS = {
    "spoken": forms.SPOKEN,
    "types": forms.TYPES,
    "values": forms.VALUES,
    "passed": forms.PASSED,
    "placeholders": values.PLAIN,
    "qualifiers": forms.QUALIFIERS,
    "setters": forms.SETTERS,
    "commands": forms.COMMANDS,
}
_ASKED = "check length skip least set apart dull plural comma"  # of each literal


class _Literal(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint8) for name in _ASKED.split()]


class _Name(ctypes.Structure):
    _fields_ = [("strength", ctypes.c_uint8), ("length", ctypes.c_uint8), ("bytes", ctypes.c_uint8 * 46)]


class _Tables(ctypes.Structure):
    _fields_ = [
        ("classes", ctypes.c_char_p),
        *((name, ctypes.c_void_p) for name in ("next", "first", "ends", "literals", "bytes")),
        *((name, ctypes.c_char_p) for name in ("sets", *_WORDS)),
        ("names", ctypes.c_void_p),
        ("seed", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("accepting", "names_mask", "longest", "shift")),
    ]


class Entry(NamedTuple):
    """A literal and the rule that is tried where it stands."""

    literal: bytes
    rule: Rule
    kind: int
    dull: frozenset[int]


def entries(groups: Sequence[Group]) -> tuple[Entry, ...]:
    """All literals of the rules, with the kind that each belongs to."""
    return tuple(
        Entry(
            literal.encode(),
            rule,
            kind,
            assignments.no_name_before(literal) if rule is assignments.word else frozenset(),
        )
        for kind, group in enumerate(groups)
        for literal, rule in group
    )


class Automaton:
    """All literals of the rules in a text, whatever stands around them."""

    def __init__(self, of: Sequence[Entry]) -> None:
        import ahocorasick_rs  # noqa: PLC0415  # what only who redacts needs

        self._machine = ahocorasick_rs.BytesAhoCorasick(
            [entry.literal for entry in of],
            matchkind=ahocorasick_rs.MatchKind.Standard,
            implementation=ahocorasick_rs.Implementation.DFA,
        )

    def hits(self, text: bytes, whole: int) -> Iterator[Hit]:  # noqa: ARG002  # the scanner needs it
        """Number of the entry, start and end of each, in the order of the ends."""
        found = self._machine.find_matches_as_indexes(text, overlapping=True)
        return iter(sorted(found, key=_END_THEN_START))  # the longest first

    def runs(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where letters, digits, ``_`` and ``-`` stand in a row that may be a token with a prefix; see ``prefixed.py``."""
        return (match.span() for match in prefixed.RUN.finditer(text))

    def learn(self, names: Mapping[bytes, Named | None]) -> None:
        """What names promise: nothing to keep here."""


class _Scratch:
    """What one call of the scanner needs for itself; used by one thread at a time."""

    def __init__(self, tables: _Tables, size: int) -> None:
        self.names = (_Name * _MOST_NAMES)()
        self.known: set[bytes] = set()
        self.tables = _Tables.from_buffer_copy(tables)
        self.tables.names = ctypes.addressof(self.names)
        self.out = (ctypes.c_uint32 * (3 * _ROOM))()
        self.hits = ctypes.create_string_buffer(size)
        self.place = ctypes.c_int64()


def fits(library: ctypes.CDLL) -> bool:
    """Whether the library reads the tables as they are made here; one of another version may have been left behind."""
    return _native.fits(library, "spillstore_version", _VERSION, _Tables, _Literal)


class Scanner:
    """Literals of the rules in a text, but those behind which no secret can stand."""

    def __init__(self, library: ctypes.CDLL, of: Sequence[Entry]) -> None:
        self._scan = library.spillstore_scan
        self._scan.restype = ctypes.c_int64
        pointer, count = ctypes.c_void_p, ctypes.c_int64
        self._scan.argtypes = [pointer, ctypes.c_char_p, count, count, pointer, pointer, count, pointer]
        self._runs = library.spillstore_runs
        self._runs.restype = ctypes.c_int64
        self._runs.argtypes = [pointer, ctypes.c_char_p, count, pointer, pointer, count]
        self._learn = library.spillstore_learn
        self._learn.restype = None
        self._learn.argtypes = [pointer, ctypes.c_char_p, count, ctypes.c_uint8]
        self._size = int(library.spillstore_scratch())
        self._tables, self._owned = _tables(library, of)
        self._free: collections.deque[_Scratch] = collections.deque()

    def hits(self, text: bytes, whole: int) -> Iterator[Hit]:
        """Number of the entry, start and end of each, in the order of the ends.

        Args:
            text: what is searched.
            whole: behind this place nothing is dropped, since more of the line may come.

        The first ``_ROOM`` of them are looked for at once, the others as they are needed; other threads run meanwhile.
        """
        return self._going_on(text, whole, *self._next(text, whole, 0))

    def _going_on(self, text: bytes, whole: int, values: list[int], place: int) -> Iterator[Hit]:
        while True:
            numbers = iter(values)
            yield from zip(numbers, numbers, numbers, strict=True)
            if place >= len(text):
                return
            values, place = self._next(text, whole, place)

    def _next(self, text: bytes, whole: int, place: int) -> tuple[list[int], int]:
        """The three numbers of each of the next hits one behind the other, and where to go on."""
        scratch = self._scratch()
        try:
            scratch.place.value = place
            found = self._scan(
                ctypes.byref(scratch.tables), text, len(text), whole, ctypes.byref(scratch.place), scratch.out, _ROOM,
                scratch.hits,
            )  # fmt: skip
            return scratch.out[: 3 * found], scratch.place.value
        finally:
            self._free.append(scratch)

    def runs(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where letters, digits, ``_`` and ``-`` stand in a row that may be a token with a prefix; see ``prefixed.py``."""
        scratch = self._scratch()
        size = len(text)
        scratch.place.value = 0
        out, place = scratch.out, ctypes.byref(scratch.place)
        try:
            while scratch.place.value < size:
                found = self._runs(ctypes.byref(scratch.tables), text, size, place, out, _ROOM)
                numbers = iter(out[: 2 * found])
                yield from zip(numbers, numbers, strict=True)
        finally:
            self._free.append(scratch)

    def learn(self, names: Mapping[bytes, Named | None]) -> None:
        """Keep what names promise, so that they are dropped or looked at more closely the next time."""
        for _ in range(max(1, len(self._free))):  # one at a time, so that others need no new one meanwhile
            scratch = self._scratch(oldest=True)
            try:
                tables = ctypes.byref(scratch.tables)
                for name, named in names.items():
                    self._learn(tables, name, len(name), _STRENGTHS[named.strength if named else None])
            finally:
                self._free.append(scratch)

    def _scratch(self, *, oldest: bool = False) -> _Scratch:
        try:
            return self._free.popleft() if oldest else self._free.pop()
        except IndexError:
            return _Scratch(self._tables, self._size)


def _words(words: str) -> bytes:
    return b"".join(bytes([len(word)]) + word.encode() for word in words.split()) + b"\0"


class _Sets:
    """Sets of bytes, each once."""

    def __init__(self) -> None:
        self._numbers: dict[frozenset[int], int] = {}

    def of(self, members: frozenset[int]) -> int:
        return self._numbers.setdefault(members, len(self._numbers))

    def flags(self) -> bytes:
        """256 bytes for each set: which bytes it has."""
        assert len(self._numbers) <= _MOST_SETS, "a literal has one byte for the number of its set"
        return b"".join(bytes(byte in members for byte in range(256)) for members in self._numbers)


@functools.cache
def _members(pattern: bytes) -> frozenset[int]:
    return frozenset(b"".join(re.findall(pattern, bytes(range(256)))))


def _letters(words: str, place: int) -> frozenset[int]:
    """The first or last letters of words, in both cases."""
    letters = "".join(word[place] for word in words.split())
    return frozenset((letters.lower() + letters.upper()).encode())


def _checked(entry: Entry, sets: _Sets) -> _Literal:  # noqa: C901  # one for each rule
    """What is asked of the bytes around a literal, by the rule that it belongs to."""
    rule, literal = entry.rule, entry.literal
    found = _Literal(check=_ALWAYS, length=len(literal))
    if rule is assignments.word:
        found.check, found.dull = _WORD, sets.of(entry.dull)
        found.plural = ord("s") if literal[-1:].islower() else ord("S")
    elif rule is assignments.named:
        found.check = _NAMED
    elif rule is assignments.marked:
        found.check, found.skip = _MARK, 1
    elif isinstance(rule, Placed):
        found.check, found.set, found.least = _place_checked(rule, sets)
        found.apart = rule.row.apart
    elif rule is segment:
        found.check, found.set, found.least = _RUN, sets.of(_members(rb"[\w-]")), LEAST_SEGMENT
    elif rule is addresses.url:
        found.check = _CREDENTIALS
    elif rule is commands.own_line:
        found.check = _LINE_START
    elif isinstance(rule, commands.Program) and rule.option:
        found.check = _COMMAND
    elif rule is headers.cookie:
        name = _members(rb"[\w.!#$%&*+^|~=-]")
        found.check, found.set, found.least = _COOKIE, sets.of(name), headers.LONGEST_NAME + 1
    elif rule is headers.authorization:
        credentials = _members(headers.CREDENTIALS.pattern[:-2])
        found.check, found.set, found.least = _SIGNED, sets.of(credentials), headers.LEAST_CREDENTIAL
        found.comma = True
    elif rule is assignments.signed_phrase:
        found.check, found.set, found.least = _SIGNED, sets.of(_members(rb"\S")), 1
    return found


# What a row's expression begins with, and the check for what follows it.
_PLACE_CHECKS = {"": _RUN, "{quote}": _RUN, "{assign}{quote}": _SIGNED}


def _place_checked(rule: Placed, sets: _Sets) -> tuple[int, int, int]:
    """The check for a row of places, the set of bytes that follow, and how many of them at least."""
    row = rule.row
    check = _PLACE_CHECKS.get(row.before, _ALWAYS) if row.run[0] == "[" else _ALWAYS
    if check == _ALWAYS:
        return _ALWAYS, 0, 0
    members = _members(row.run.encode()) | (frozenset(b"\"'`\\") if row.before == "{quote}" else frozenset())
    return check, sets.of(members), min(row.least, 255)


def _token_checked(literal: bytes, sets: _Sets) -> _Literal:
    """The same for the literal of tokens."""
    family = tokens.BY_LITERAL[literal]
    runs = [_run(token, len(literal)) for token in family if token.literal.startswith(literal)]
    return _Literal(
        check=_RUN,
        length=len(literal),
        least=min(least for _, least in runs),
        set=sets.of(frozenset().union(*(members for members, _ in runs))),
        apart=not family[0].skip,
    )


def _run(token: tokens.Token, size: int) -> tuple[frozenset[int], int]:
    """What a token goes on with behind the first ``size`` bytes of its literal: bytes of a set, and how many of them at least."""
    more = token.literal[size:]
    simple = _SIMPLE.match(token.rest)
    if simple:
        return _members(simple[1]) | frozenset(more), min(int(simple[2]) + len(more), 255)
    return _members(_RUN_ON), max(0, _RUN_ON_LEAST - size + token.skip)


_TOKENS = 4  # the kind of tokens


def _tables(library: ctypes.CDLL, of: Sequence[Entry]) -> tuple[_Tables, tuple[object, ...]]:
    """The scanner's tables, and what must live as long as they."""
    sets = _Sets()
    literals = [entry.literal for entry in of]
    table = (_Literal * len(of))(
        *(
            _token_checked(entry.literal, sets) if entry.kind == _TOKENS else _checked(entry, sets)
            for entry in of
        )
    )
    alphabet = sorted({byte for literal in literals for byte in literal})
    shift = _NARROW if len(alphabet) < 1 << _NARROW else _WIDE
    others = len(alphabet) < 1 << _WIDE  # one column is for all other bytes, if there are any
    column = {byte: place for place, byte in enumerate(alphabet, int(others))}
    classes = bytes(column.get(byte, 0) for byte in range(256))
    following, firsts, numbers, accepting = _automaton(library, literals, classes, shift)
    members = [
        *(_members(pattern) for pattern in _CLASSES),
        *(_letters(words, 0) for words in (forms.SPOKEN, forms.TYPES, values.PLAIN)),
        *(_letters(words, -1) for words in (forms.QUALIFIERS, forms.SETTERS)),
        *(_letters(words, 0) for words in (forms.VALUES, forms.PASSED)),
    ]
    bits = (ctypes.c_uint32 * 256)(
        *(sum(1 << bit for bit, bytes_ in enumerate(members) if byte in bytes_) for byte in range(256))
    )
    address = ctypes.addressof
    tables = _Tables(
        classes=classes,
        next=address(following),
        first=address(firsts),
        ends=address(numbers),
        literals=address(table),
        bytes=address(bits),
        sets=sets.flags(),
        **{name: _words(words) for name, words in _WORDS.items()},
        seed=int.from_bytes(os.urandom(8), "little"),
        accepting=accepting,
        names_mask=_MOST_NAMES - 1,
        longest=max(map(len, literals)),
        shift=shift,
    )
    return tables, (following, firsts, numbers, table, bits, tables)


def _automaton(
    library: ctypes.CDLL, literals: list[bytes], classes: bytes, shift: int
) -> tuple[ctypes.Array[ctypes.c_uint16], ctypes.Array[ctypes.c_uint32], ctypes.Array[ctypes.c_uint16], int]:
    """The states of the automaton, where the literals of each accepting one stand among the ends, and the first of them."""
    most, room = sum(map(len, literals)) + 1, 4 * len(literals)
    following = (ctypes.c_uint16 * (most << shift))()
    work = (ctypes.c_uint32 * (most * 4))()
    firsts = (ctypes.c_uint32 * (most + 1))()
    ends = (ctypes.c_uint16 * room)()
    states = ctypes.c_uint32()
    lengths = bytes(map(len, literals))
    build = library.spillstore_build
    build.restype = ctypes.c_int64
    accepting = build(
        b"".join(literals), lengths, ctypes.c_int64(len(literals)), classes, ctypes.c_uint32(shift), following, work, firsts, ends,
        ctypes.c_uint32(most), ctypes.c_uint32(room), ctypes.byref(states),
    )  # fmt: skip
    assert accepting >= 0, "the literals have no more states and ends than this"
    return following, firsts, ends, accepting
