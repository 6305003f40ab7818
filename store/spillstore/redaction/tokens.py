r"""Secrets that are known by their own form: what providers put in front of the keys and tokens that they give out.

Each row of ``tables/tokens.py`` is a kind, literals that begin it, and what must follow. The literals are looked for in whole blocks
first, so a row costs nothing where none of them occurs. What follows is made of token characters alone, which is what lets a stream
decide by bytes whether one may still grow: see ``look.py``. A match begins at its literal and behind no letter or digit, an
escape such as ``\\n`` or ``%20`` aside.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction.beginnings import beginnings
from spillstore.redaction.look import RUN_END, compiled
from spillstore.redaction.tables import tokens as tables
from spillstore.redaction.tables.classes import TOKEN_OR_MARK
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.redaction.look import Look, Rule


class Token(NamedTuple):
    """What a token looks like behind its literal."""

    kind: str
    literal: bytes
    skip: int  # bytes of the literal that are no part of the secret
    rest: str
    endless: str = ""  # the class of what follows, where that may go on for ever


_SHORT = {"%w": "[A-Za-z0-9_-]", "%a": "[A-Za-z0-9]", "%h": "[0-9a-f]", "%b": "[A-Za-z0-9+/]"}
_CLASS = re.compile("%[wahb]")
_ENDLESS = re.compile(r"(\[[^\]]+\])\{\d+,\}")


def _tokens() -> Iterator[Token]:
    for kind, literals, form, _, _ in tables.TOKENS:
        rest = _CLASS.sub(lambda short: _SHORT[short[0]], form)
        for literal in literals.split():
            stays, bar, _ = literal.partition("|")
            skip = len(stays) if bar else 0
            endless = _ENDLESS.fullmatch(rest)
            yield Token(kind, literal.replace("|", "").encode(), skip, rest, endless[1] if endless else "")


TOKENS: tuple[Token, ...] = tuple(_tokens())
_DIGEST = re.compile(rb"sha\d{1,3}[=:-]\Z")
_DIGEST_BACK = 7
LEAST = 12  # bytes of every token, the literal included
# Bytes of a token that has no end of its own. A longer run is data that holds a literal by chance, as megabytes of base64 do. It is less
# than half a window of a stream, which would take out what it cannot follow.
LONGEST = 24 * 1024
_RUN_ON = re.compile(f"{TOKEN_OR_MARK}{{{LEAST}}}".encode())
_FAMILY = 4
_CAPITALS = frozenset({b"AKIA"})  # one in 28 has no digit
_MASKED = re.compile(rb"(?i)x{6}|here\Z")
_ALPHABET = re.compile(rb"(?i)abcdef|uvwxyz")
_NO_WORD = 30  # letters in a row that are no word
_LETTERS = 3  # different ones that a token has at least; the rest is a placeholder


@functools.cache
def _begun(rest: str) -> re.Pattern[bytes]:
    """What follows a literal, or begins to."""
    return re.compile(beginnings(rest).encode())


class Tokens:
    """The rule of a literal.

    Attributes:
        of: all tokens that begin as it does, the longest first.
    """

    def __init__(self, of: tuple[Token, ...]) -> None:
        self.of = of

    def __call__(self, look: Look, start: int, _end: int) -> int:  # noqa: C901  # one for each way to end
        """The literal stands here. Returns where to look on."""
        text, skip = look.text, self.of[0].skip
        if start + skip < look.tail and _RUN_ON.match(text, start + skip) is None:
            return start
        if not skip and not look.apart(start):
            return start
        held = False
        for entry in self.of:
            if not text.startswith(entry.literal, start):
                continue
            after = start + len(entry.literal)
            if entry.endless and look.run(entry.endless, after) - start > LONGEST:
                continue
            match = compiled(entry.rest).match(text, after)
            if look.final or start + entry.skip < look.tail:
                if match is None:
                    continue
            elif _begun(entry.rest).fullmatch(text, after):
                held = look.open(start + entry.skip, look.size, RUN_END) or held
            if match is None or (match.end() == look.size and not look.final):
                continue
            if _digest(text, start):
                return start
            if _real(text[after : match.end()], entry):
                look.add(start + entry.skip, match.end(), entry.kind)
            return match.end()
        return look.size if held else start  # what is held is looked at again


def _digest(text: bytes, start: int) -> bool:
    """Whether this is one of a lock file: ``sha512-`` stands before it."""
    low = max(0, start - _DIGEST_BACK)
    return b"sha" in text[low:start] and _DIGEST.search(text, low, start) is not None


def _real(value: bytes, token: Token) -> bool:
    """Whether it is no placeholder. The keys that AWS prints in its manual go like any other."""
    return (
        len(set(value)) > _LETTERS
        and (not _worded(value) or token.literal in _CAPITALS)
        and _MASKED.search(value) is None
        and (b"EXAMPLE" not in value or token.kind == "AWS_ACCESS_KEY")
    )


def _worded(value: bytes) -> bool:
    """Whether it may be words, or the alphabet: letters of one case, and not many in a row."""
    letters = value.replace(b"_", b"").replace(b"-", b"")
    if not letters.isalpha() or not (letters.islower() or letters.isupper()):
        return False
    return len(letters) < len(value) or len(value) < _NO_WORD or _ALPHABET.search(value) is not None


def _rules() -> Iterator[tuple[str, Rule]]:
    """Each literal with all tokens that begin as it does, the longest first, since a longer one says more."""
    families: dict[bytes, list[Token]] = {}
    for entry in sorted(TOKENS, key=lambda entry: -len(entry.literal)):
        families.setdefault(entry.literal[:_FAMILY], []).append(entry)
    for literal in sorted({entry.literal for entry in TOKENS}):
        yield literal.decode(), Tokens(tuple(families[literal[:_FAMILY]]))


RULES: tuple[tuple[str, Rule], ...] = tuple(_rules())


@functools.cache
def _beginnings() -> tuple[dict[bytes, int], int]:
    """What an unfinished text may end in that begins a token: by it the bytes of the token, and the longest such."""
    found = {
        entry.literal[:size]: size - entry.skip
        for entry in TOKENS
        for size in range(entry.skip + 1, len(entry.literal))
    }
    return found, max(map(len, found))


def unfinished(look: Look) -> None:
    """Hold back what the text ends in, if a token may begin with it."""
    found, longest = _beginnings()
    for size in range(min(longest, look.size), 0, -1):
        held = found.get(look.text[-size:])
        if held is not None and (held < size or look.apart(look.size - size)):
            look.open(look.size - held, look.size)
