r"""Whether two JSON documents say the same, of any size, in memory that does not grow with them.

Servers send a value twice: as structured content, and as text. The two differ in white space and in escapes, so what is
compared is a digest of each without both. Members in another order, or ``1.0`` for ``1``, count as different: what is not
sure to be the same is stored on its own.

    >>> digest(iter(['{"a": [1,  "caf\\u00', 'e9"]}'])) == digest(iter(['{"a":[1,"café"]}']))
    True
    >>> digest(iter(["[1, 2]"])) == digest(iter(["[12]"])), digest(iter(['["a,b"]'])) == digest(iter(['["a","b"]']))
    (False, False)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from blake3 import blake3

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(r"[ \t\r\n]+")
# What may stand in a string: characters and whole escapes. What follows is its end, or an escape that is cut.
_INSIDE = re.compile(r'(?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*+')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_AROUND = frozenset("[]{},:")
_NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/"}


def digest(pieces: Iterator[str]) -> bytes:
    """A digest of JSON that white space between values and the choice of escapes do not change.

    Args:
        pieces: of a document; for what is none the digest means nothing, and differs from those of documents.
    """
    found = blake3()
    for piece in _canonical(pieces):
        # In UTF-16 the halves of a pair that was two escapes are the character that it stands for.
        found.update(piece.encode("utf-16-le", "surrogatepass"))
    return found.digest()


def _canonical(pieces: Iterator[str]) -> Iterator[str]:
    is_inside = False
    last, rest = "[", ""  # what came last outside of strings; what is not understood yet
    for piece in pieces:
        text, at, rest = rest + piece, 0, ""
        while at < len(text):
            if is_inside:
                match = _INSIDE.match(text, at)
                assert match is not None  # it matches nothing, too
                yield _ESCAPE.sub(_plain, match[0])
                at = match.end()
                if text[at : at + 1] != '"':
                    rest = text[at:]
                    break
                is_inside = False
                last = '"'
                at += 1
                yield '"'
                continue
            end = text.find('"', at)
            for word in _words(text[at : len(text) if end < 0 else end]):
                if word == " ":
                    last = last if last in _AROUND else " "
                    continue
                yield word if last != " " or word[0] in _AROUND else f" {word}"
                last = word[-1]
            at = len(text) if end < 0 else end + 1
            if end >= 0:
                is_inside = True
                yield '"' if last != " " else ' "'
    if rest:
        yield f"\\{rest}"


def _words(text: str) -> Iterator[str]:
    """What stands between white space, and one space for each of these."""
    at = 0
    for match in _SPACE.finditer(text):
        if match.start() > at:
            yield text[at : match.start()]
        yield " "
        at = match.end()
    if at < len(text):
        yield text[at:]


def _plain(escape: re.Match[str]) -> str:
    """A character in place of its escape; only a quote and a backslash keep one, and so end or begin nothing."""
    found = chr(int(escape[1], 16)) if escape[1] else _NAMED.get(escape[2], escape[2])
    return f"\\{found}" if found in {'"', "\\"} else found
