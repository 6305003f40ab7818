"""The tables of the native scanner: its automaton, and what is asked of the bytes around each literal.

Structures and checks are those of ``_native/scan.h``, in its order.
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, NamedTuple

from spillstore import _native
from spillstore.redaction import addresses, assignments, commands, headers, tokens, told
from spillstore.redaction.name_tables import NameTables, name_tables
from spillstore.redaction.places import LEAST_SEGMENT, SEGMENT, Placed, segment
from spillstore.redaction.tables import classes, forms, runs, scanner
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillstore.redaction.families import Entry
    from spillstore.redaction.look import Rule

_VERSION = 18  # of the tables, the checks and the functions' arguments
MOST_NAMES = 8192
_PLANE = 32  # columns of the automaton's table that stand side by side, as in ``_native/scan.c``
_LINE = 64  # bytes of a line of the processor's cache
# Bytes that most text is made of: their columns stand in the first plane, so one line of the cache holds what is needed of a state.
_FREQUENT = b" etaoinsrdlcumpfhg_.-/:y,bwkv"
_WORD_ROOM = 16  # bytes of a word in a list
_MOST = 255  # of what a literal has one byte for

_ALWAYS, _NAMED, _RUN, _SIGNED, _CREDENTIALS, _COMMAND, _LINE_START, _COOKIE, _INSERTED, _TOLD = range(10)


class Literal(ctypes.Structure):
    """What is asked where a literal stands."""

    _fields_ = [
        (name, ctypes.c_uint8)
        for name in ["check", "length", "skip", "least", "set", "apart", "no_name", "plural", "comma"]
    ]


class Name(ctypes.Structure):
    """What a name promises."""

    _fields_ = [("strength", ctypes.c_uint8), ("length", ctypes.c_uint8), ("bytes", ctypes.c_uint8 * 46)]


class Tables(ctypes.Structure):
    """All that the scanner reads."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("columns", "next", "first", "ends", "literals", "bytes")),
        *((name, ctypes.c_char_p) for name in ("sets", *scanner.WORDS, *scanner.PARTS)),
        *((name, ctypes.c_char_p) for name in NameTables._fields),
        ("names", ctypes.c_void_p),
        ("seed", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("accepting", "names_mask", "longest")),
    ]


def fits(library: ctypes.CDLL) -> bool:
    """Whether the library reads the tables as they are made here; one of another version may have been left behind."""
    return _native.fits(library, "spillstore_version", _VERSION, Tables, Literal)


class _Check(NamedTuple):
    """What is asked of the bytes around the literals of a rule: which check, and how many bytes of which set follow at least."""

    check: int
    follow: bytes = b""
    least: int = 0
    skip: int = 0
    apart: bool = False
    comma: bool = False


_CHECKS: dict[Rule, _Check] = {
    assignments.word: _Check(_NAMED),
    assignments.named: _Check(_NAMED),
    assignments.marked: _Check(_NAMED, skip=1),
    segment: _Check(_RUN, classes.members(SEGMENT), LEAST_SEGMENT),
    addresses.url: _Check(_CREDENTIALS),
    commands.own_line: _Check(_LINE_START),
    told.told: _Check(_TOLD),
    told.prompted: _Check(_TOLD, least=1),
    headers.cookie: _Check(_COOKIE, classes.members(headers.COOKIE_NAME) + b"=", headers.LONGEST_NAME + 1),
    headers.authorization: _Check(
        _SIGNED, classes.members(classes.CREDENTIAL), headers.LEAST_CREDENTIAL, comma=True
    ),
}
# What a row's expression begins with, and the check for what follows it.
_PLACE_CHECKS = {"": _RUN, forms.MAYBE_QUOTED: _RUN, forms.ASSIGN + forms.MAYBE_QUOTED: _SIGNED}


def _check(entry: Entry, known: dict[Rule, _Check]) -> _Check:
    """The check of a literal; ``known`` keeps those of rules that have one for all of theirs."""
    rule, literal = entry.rule, entry.literal
    if isinstance(rule, tokens.Tokens):
        runs = [_token_run(token, len(literal)) for token in rule.of if token.literal.startswith(literal)]
        follow, least = b"".join(members for members, _ in runs), min(least for _, least in runs)
        return _Check(_RUN, follow, least, apart=not rule.of[0].skip)
    if rule is assignments.phrase or rule is assignments.signed_phrase:
        return _phrase_check(rule, literal.decode())
    check = known.get(rule)
    if check is None:
        check = known[rule] = _check_of_rule(rule)
    return check


def _check_of_rule(rule: Rule) -> _Check:
    if isinstance(rule, Placed):
        row = rule.row
        check = _PLACE_CHECKS.get(row.before) if row.run[0] == "[" else None
        if check is None:
            return _Check(_ALWAYS, apart=row.apart)
        quotes = b"\"'`\\" if row.before == forms.MAYBE_QUOTED else b""
        return _Check(check, classes.members(row.run) + quotes, row.least, apart=row.apart)
    if isinstance(rule, commands.Program) and rule.option:
        return _Check(_COMMAND)
    return _CHECKS.get(rule, _Check(_ALWAYS))


def _phrase_check(rule: Rule, literal: str) -> _Check:
    """What follows words that are no part of a name, by all rows that have them."""
    rows = assignments.ROWS_OF_PHRASES[literal]
    if all(row.follows for row in rows):
        return _Check(
            _RUN, b"".join(classes.members(row.follows) for row in rows), min(row.least for row in rows)
        )
    signed = rule is assignments.signed_phrase
    if all(row.reads == "inserted" for row in rows):
        return _Check(_INSERTED)
    if not signed and literal[-1] not in ":=":
        return _Check(_ALWAYS)
    if all(row.reads == "issued" for row in rows):
        return _Check(_SIGNED, classes.members(runs.ISSUED), runs.LEAST_ISSUED, skip=int(not signed))
    return _Check(_SIGNED, classes.members(r"\S"), 1) if signed else _Check(_ALWAYS)


_SIMPLE = re.compile(r"(\[[^\]]+\])\{(\d+)")  # what a token goes on with, where that is one class


def _token_run(token: tokens.Token, size: int) -> tuple[bytes, int]:
    """What a token goes on with behind the first ``size`` bytes of its literal: bytes of a set, and how many of them at least."""
    more = token.literal[size:]
    if simple := _SIMPLE.match(token.rest):
        return classes.members(simple[1]) + more, int(simple[2]) + len(more)
    return classes.members(classes.TOKEN_OR_MARK), max(0, tokens.LEAST - size + token.skip)


class _Sets:
    """Sets of bytes, each once."""

    def __init__(self) -> None:
        self._numbers: dict[frozenset[int], int] = {}
        self._known: dict[bytes | frozenset[int], int] = {}  # the same, as they were asked for

    def of(self, members: bytes | frozenset[int]) -> int:
        number = self._known.get(members)
        if number is None:
            number = self._numbers.setdefault(frozenset(members), len(self._numbers))
            self._known[members] = number
        return number

    def flags(self) -> bytes:
        """256 bytes for each set: which bytes it has."""
        assert len(self._numbers) <= _MOST + 1, "a literal has one byte for the number of its set"
        flags = bytearray(256 * len(self._numbers))
        for number, members in enumerate(self._numbers):
            for byte in members:
                flags[256 * number + byte] = 1
        return bytes(flags)


def _literal(entry: Entry, sets: _Sets, known: dict[Rule, _Check]) -> bytes:
    """A ``Literal``, whose fields have one byte each."""
    check, follow, least, skip, apart, comma = _check(entry, known)
    literal = entry.literal
    no_name = sets.of(entry.not_before) if check == _NAMED else 0
    plural = 0 if entry.rule is not assignments.word else ord("s") if literal[-1:].islower() else ord("S")
    followed = sets.of(follow) if follow else 0
    return bytes((check, len(literal), skip, min(least, _MOST), followed, apart, no_name, plural, comma))


def tables(library: ctypes.CDLL, of: Sequence[Entry]) -> tuple[Tables, tuple[object, ...]]:
    """The scanner's tables, and what must live as long as they."""
    sets = _Sets()
    known: dict[Rule, _Check] = {}
    literals = [entry.literal for entry in of]
    table = (Literal * len(of)).from_buffer_copy(b"".join(_literal(entry, sets, known) for entry in of))
    columns, following, firsts, numbers, accepting = _automaton(library, literals)
    members = [
        *map(classes.members, scanner.CLASSES),
        *(_letters(words, place) for words, place in scanner.LETTERS),
        classes.members(scanner.BEGINS) + b"".join(_letters(words, 0) for words in scanner.BEGIN_LINES),
    ]
    bits = (ctypes.c_uint32 * 256)()
    for bit, bytes_ in enumerate(members):
        for byte in frozenset(bytes_):
            bits[byte] += 1 << bit
    address = ctypes.addressof
    made = Tables(
        columns=address(columns),
        next=_aligned(following),
        first=address(firsts),
        ends=address(numbers),
        literals=address(table),
        bytes=address(bits),
        sets=sets.flags(),
        **{name: _words(words) for name, words in scanner.WORDS.items()},
        **{name: _parts(words) for name, words in scanner.PARTS.items()},
        **name_tables()._asdict(),
        seed=int.from_bytes(os.urandom(8), "little"),
        accepting=accepting,
        names_mask=MOST_NAMES - 1,
        longest=max(map(len, literals)),
    )
    return made, (columns, following, firsts, numbers, table, bits, made)


def _letters(words: str, place: int) -> bytes:
    """The first or the last letters of words, in both cases."""
    letters = "".join(word[place] for word in words.split())
    return (letters.lower() + letters.upper()).encode()


def _words(words: str) -> bytes:
    """As many bytes for each word as are compared at once, the last one a blank; a 0 behind all of them."""
    assert all(len(word) < _WORD_ROOM for word in words.split())
    return b"".join(word.encode().ljust(_WORD_ROOM) for word in words.split()) + b"\0"


def _parts(words: str) -> bytes:
    """For each its length and its bytes; a 0 behind all of them."""
    return b"".join(bytes([len(word)]) + word.encode() for word in words.split()) + b"\0"


def _automaton(library: ctypes.CDLL, literals: list[bytes]) -> tuple[Any, ...]:
    """The columns of bytes, the automaton's table, where the literals of each accepting state stand among the ends, and the first of them."""
    most, room = sum(map(len, literals)) + 1, 4 * len(literals)
    alphabet = {byte for literal in literals for byte in literal}
    frequent = [byte for byte in _FREQUENT if byte in alphabet]
    # The first column is for all bytes that no literal has.
    places = {
        byte: place for place, byte in enumerate([*frequent, *sorted(alphabet.difference(frequent))], 1)
    }
    planes = len(places) // _PLANE + 1
    columns = (ctypes.c_uint32 * 256)()
    for byte, place in places.items():
        columns[byte] = place // _PLANE * most * _PLANE + place % _PLANE
    following = (ctypes.c_uint16 * ((planes * most + 1) * _PLANE))()  # a row more, for the place of the first
    work = (ctypes.c_uint32 * (most * 8))()
    firsts = (ctypes.c_uint32 * (most + 1))()
    ends = (ctypes.c_uint16 * room)()
    number, pointer = ctypes.c_uint32, ctypes.c_void_p
    build = library.spillstore_build
    build.restype = ctypes.c_int64
    accepting = build(
        b"".join(literals), bytes(map(len, literals)), ctypes.c_int64(len(literals)), columns, number(planes),
        pointer(_aligned(following)), work, firsts, ends, number(most), number(room),
    )  # fmt: skip
    assert accepting >= 0, "the literals have no more states and ends than this"
    return columns, following, firsts, ends, accepting


def _aligned(table: ctypes.Array[Any]) -> int:
    """Where the first line of the cache begins in a table."""
    return -(-ctypes.addressof(table) // _LINE) * _LINE
