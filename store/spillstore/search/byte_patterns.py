r"""What matches of a pattern look like as bytes: a few short sequences, where a pattern is simple enough to tell.

Many patterns are nothing but such sequences: ``ERROR``, ``status=5\d\d``, ``panicked|deadlock``. Of others each match holds one:
``timeout`` in ``(?i)timeout.*refused``. Where a text has none of them, it has no match.

Only a part of RE2's syntax is read here: characters, classes, groups without names, alternatives, repetition, and ``(?i)`` at
the beginning. Of a pattern with anything else, nothing is known. Alternatives stand in the order in which RE2 would try them,
so the first one that matches at a place is the match.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import string
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST = 16  # alternatives
LONGEST = 64  # classes of an alternative
_DEEPEST = 32  # groups in groups that are read
_LF = 10
CASE = 0x20  # the bit in which a small letter of ASCII differs from its capital
_BOTH = 2
_ESCAPED = {"n": b"\n", "t": b"\t", "f": b"\f", "r": b"\r", "v": b"\v", "a": b"\a"}
_DIGITS = frozenset(b"0123456789")
_WORDS = frozenset((string.ascii_letters + string.digits + "_").encode())
CLASSES = {"d": _DIGITS, "w": _WORDS, "s": frozenset(b"\t\f\r ")}  # no match holds a line's end
REPEATED = re.compile(r"\{(\d{1,3})(?:(,)(\d{0,3}))?\}|[*+?]")
_FOLDING_BEYOND = frozenset(b"kKsS")  # in UTF-8 the Kelvin sign and the long s are other cases of them

ANY = frozenset(range(256)) - {_LF}


class Rest(frozenset[int]):
    """As many of these bytes as there are, or none; what follows in a sequence is none of them, so there is one way to match."""


Sequence: TypeAlias = tuple[frozenset[int], ...]


class BytePattern(NamedTuple):
    """What matches hold.

    Attributes:
        alternatives: sequences of classes of bytes, none of them empty, some of them with a ``Rest``.
        exact: whether a match is one of them; else each match holds one.
        folds: whether that is so only where text has neither the Kelvin sign nor the long s, other cases of k and s.
    """

    alternatives: tuple[Sequence, ...]
    exact: bool
    folds: bool


class _Part(NamedTuple):
    """What is known of a part of a pattern.

    Attributes:
        exact: all that it matches; None if that cannot be told.
        needed: one of these is in whatever it matches; None if nothing is known.
        bytes_: of a part that is one character: its bytes.
    """

    exact: tuple[Sequence, ...] | None
    needed: tuple[Sequence, ...] | None
    bytes_: frozenset[int] | None = None


class UnknownError(Exception):
    """The pattern has what is not read here."""


_UNKNOWN = _Part(None, None)


@functools.lru_cache(maxsize=64)
def byte_pattern(pattern: str, *, ignore_case: bool, literal: bool) -> BytePattern | None:
    r"""What matches of a pattern of RE2 hold; None if that is not known.

    Example:
        >>> found = byte_pattern("(?:colou?r|shade) *=", ignore_case=False, literal=False)
        >>> [bytes(min(each) for each in sequence) for sequence in found.alternatives], found.exact
        ([b'colo', b'shade'], False)
    """
    if not literal and pattern.startswith("(?i)"):
        pattern = pattern[4:]
        ignore_case = True
    try:
        part = (
            _literal(pattern, ignore_case)
            if literal
            else PatternParser(pattern, ignore_case=ignore_case).whole()
        )
    except UnknownError:
        return None
    found = part.exact if part.exact is not None and _usable(part.exact) else _rarer(part.exact, part.needed)
    if found is None or not _usable(found):
        return None
    classes = [each for sequence in found for each in sequence]
    if not all(classes) or any(_LF in each for each in classes):
        return None  # no line holds it
    beyond = ignore_case and any(each & _FOLDING_BEYOND for each in classes)
    return BytePattern(found, found is part.exact, beyond)


def _literal(text: str, ignore_case: bool) -> _Part:  # noqa: FBT001  # of our own calls, as below
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise UnknownError from None
    if ignore_case and not data.isascii():
        raise UnknownError
    return _Part((tuple(_folded(frozenset({byte}), ignore_case) for byte in data),), None)


def head(sequence: Sequence) -> Sequence:
    """The classes of a sequence that stand for one byte each, up to the first that does not."""
    return tuple(itertools.takewhile(lambda each: not isinstance(each, Rest), sequence))


def is_compared(members: frozenset[int]) -> bool:
    """Whether a class is one byte, or one letter in both cases: bytes of a text are compared with such at once."""
    return len(members) == 1 or (len(members) == _BOTH and members == {min(members), min(members) | CASE})


def _usable(sequences: tuple[Sequence, ...]) -> bool:
    return _fit(sequences) and all(any(map(is_compared, head(each))) for each in sequences)


def _solid(sequence: Sequence) -> Sequence:
    """The part of a sequence without any ``Rest`` that is rarest in text."""
    parts: list[Sequence] = [()]
    for each in sequence:
        parts = [*parts, ()] if isinstance(each, Rest) else [*parts[:-1], (*parts[-1], each)]
    return max(parts, key=lambda part: _weight((part,)))


def _folded(bytes_: frozenset[int], ignore_case: bool) -> frozenset[int]:  # noqa: FBT001  # of our own calls
    if not ignore_case:
        return bytes_
    return bytes_ | frozenset(byte ^ 0x20 for byte in bytes_ if bytes((byte,)).isalpha())


def _fit(sequences: tuple[Sequence, ...]) -> bool:
    return len(sequences) <= MOST and all(len(each) <= LONGEST for each in sequences)


def _weight(sequences: tuple[Sequence, ...]) -> float:
    """How rare a sequence of these is in a text, roughly: by the shortest, in which a small class counts more."""
    shortest = min(sum(1 / math.sqrt(len(each)) for each in sequence) for sequence in sequences)
    return shortest / math.sqrt(len(sequences))


def _rarer(
    first: tuple[Sequence, ...] | None, second: tuple[Sequence, ...] | None
) -> tuple[Sequence, ...] | None:
    known = []
    for each in (first, second):
        fixed = () if each is None else tuple(map(_solid, each))
        if fixed and all(fixed) and _fit(fixed):
            known.append(fixed)
    return max(known, key=_weight, default=None)


class PatternParser:
    """Reads one pattern.

    Args:
        pattern: an expression.
        ignore_case: letters of either case are the same, whether the pattern says so or not.

    Attributes:
        ignore_case: whether they are.
    """

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        self._pattern = pattern
        self.ignore_case = ignore_case
        self._at = 0
        self._depth = 0

    def begin(self) -> None:
        """Take the flag at the beginning, and refuse what is not read here."""
        if self._pattern.startswith("(?i)"):
            self._at = 4
            self.ignore_case = True
        if not self._pattern.isascii() or not self._pattern.isprintable():
            raise UnknownError

    def whole(self) -> _Part:
        """What is known of the pattern."""
        self.begin()
        part = self._alternatives()
        if self._at < len(self._pattern):
            raise UnknownError
        return part

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _alternatives(self) -> _Part:
        parts = [self._concatenation()]
        while self._next() == "|":
            self._at += 1
            parts.append(self._concatenation())
        if len(parts) == 1:
            return parts[0]
        exact: list[Sequence] | None = []
        needed: list[Sequence] | None = []
        for part in parts:
            exact = (
                None if exact is None or part.exact is None or len(exact) > MOST else [*exact, *part.exact]
            )
            either = _rarer(part.exact, part.needed)
            needed = None if needed is None or either is None or len(needed) > MOST else [*needed, *either]
        return _Part(
            tuple(exact) if exact is not None and len(exact) <= MOST else None,
            tuple(needed) if needed is not None and len(needed) <= MOST else None,
        )

    def _concatenation(self) -> _Part:
        exact: tuple[Sequence, ...] | None = ((),)  # of all parts up to here
        run: tuple[Sequence, ...] = ((),)  # of those since the last one that is not known exactly
        needed: tuple[Sequence, ...] | None = None
        while self._next() not in {"", "|", ")"}:
            part = self._repeated()
            joined = None if part.exact is None else _product(run, part.exact)
            if exact is not None:
                exact = joined
            if joined is None:
                needed = _rarer(_rarer(needed, run), _rarer(part.exact, part.needed))
                run = part.exact if part.exact is not None and _fit(part.exact) else ((),)
            else:
                run = joined
        return _Part(exact, _rarer(needed, run))

    def _repeated(self) -> _Part:
        part = self._atom()
        found = REPEATED.match(self._pattern, self._at)
        if found is None:
            if self._next() == "{":
                raise UnknownError  # text to RE2
            return part
        self._at = found.end()
        is_lazy = self._next() == "?"  # the same texts, in another order
        self._at += is_lazy
        if self._next() in {"*", "+", "?", "{"}:
            raise UnknownError
        least = {"*": 0, "?": 0, "+": 1}.get(found[0])
        least = int(found[1]) if least is None else least
        is_endless = found[0] in {"*", "+"} or (found[2] is not None and not found[3])
        if is_endless and not is_lazy and part.bytes_ is not None:
            exact: tuple[Sequence, ...] | None = ((part.bytes_,) * least + (Rest(part.bytes_),),)
            if least and part.exact is None:  # so many characters need more bytes
                exact = exact if least == 1 else None
            return _Part(exact, _rarer(part.exact, part.needed) if least else None)
        if not least:
            return _UNKNOWN
        exact = ((),)
        for _ in range(least):
            exact = None if exact is None or part.exact is None else _product(exact, part.exact)
        if exact is not None and found[1] is not None and found[2] is None and not is_lazy:
            return _Part(exact, None)
        return _Part(None, _rarer(exact, _rarer(part.exact, part.needed)))

    def _atom(self) -> _Part:
        first = self._next()
        self._at += 1
        if first == "(":
            return self._group()
        if first == "[":
            return self._class()
        if first == "\\":
            return self._escape()
        if first == ".":
            return _Part(None, None, ANY)
        if first in {"^", "$"}:
            return _UNKNOWN
        if first in {"*", "+", "?", "{"}:
            raise UnknownError
        return self._one(frozenset(first.encode()))

    def _escape(self) -> _Part:
        second = self._next()
        self._at += 1
        if second in CLASSES:
            return self._one(CLASSES[second])
        if second in {"D", "W", "S", "b", "B"}:
            return _UNKNOWN
        return self._one(frozenset(self._escaped(second)))

    def _escaped(self, second: str) -> bytes:
        if second in _ESCAPED:
            return _ESCAPED[second]
        if not second or second.isalnum():
            raise UnknownError
        return second.encode()

    def _one(self, bytes_: frozenset[int]) -> _Part:
        folded = _folded(bytes_, self.ignore_case)
        return _Part(((folded,),), None, folded)

    def _group(self) -> _Part:
        return self.in_group(self._alternatives)._replace(bytes_=None)

    def in_group(self, read: Callable[[], T]) -> T:
        """What ``read`` makes of a group, behind its bracket."""
        if self._pattern.startswith("?:", self._at):
            self._at += 2
        elif self._next() == "?":
            raise UnknownError
        if self._depth == _DEEPEST:
            raise UnknownError
        self._depth += 1
        part = read()
        if self._next() != ")":
            raise UnknownError
        self._at += 1
        self._depth -= 1
        return part

    def _class(self) -> _Part:
        """A class of single bytes; the members of one that is negated are not all known."""
        is_negated = self._next() == "^"
        self._at += is_negated
        members: set[int] = set()
        begin = self._at
        while self._next() != "]" or self._at == begin:
            low = self._member(members)
            if self._next() == "-" and self._pattern[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                high = self._member(members)
                if low is None or high is None or low > high:
                    raise UnknownError
                members |= set(range(low, high + 1))
        self._at += 1
        if is_negated:
            return _UNKNOWN if self.ignore_case else _Part(None, None, ANY - members)
        return self._one(frozenset(members))

    def _member(self, members: set[int]) -> int | None:
        """Take one character or class of a class; returns the byte, None for a class."""
        first = self._next()
        self._at += 1
        if not first or first == "[":
            raise UnknownError
        if first == "\\":
            second = self._next()
            self._at += 1
            if second in CLASSES:
                members |= CLASSES[second]
                return None
            first = self._escaped(second).decode()
        members.add(ord(first))
        return ord(first)


def _product(first: tuple[Sequence, ...], second: tuple[Sequence, ...]) -> tuple[Sequence, ...] | None:
    """Each of the first with each of the second behind it; None where there would be too many, or too long ones."""
    if len(first) * len(second) > MOST or not all(
        map(_follows, *zip(*itertools.product(first, second), strict=True))
    ):
        return None
    joined = tuple(before + behind for before, behind in itertools.product(first, second))
    return joined if _fit(joined) else None


def _follows(before: Sequence, behind: Sequence) -> bool:
    """Whether there is one way to match a sequence behind another."""
    if not before or not behind or not isinstance(before[-1], Rest):
        return True
    return not isinstance(behind[0], Rest) and before[-1].isdisjoint(behind[0])
