r"""A digest of a JSON document that white space and the choice of escapes do not change, in constant memory.

Servers send a value twice: as structured content, and as text. The two differ in white space and in escapes, so their digests
are compared. Members in another order, or ``1.0`` for ``1``, count as different, and such values are stored one by one.

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
_IN_STRING = re.compile(r'(?>[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*+')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_PUNCTUATION = frozenset("[]{},:")
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/"}


def digest(parts: Iterator[str]) -> bytes:
    """The digest of a document. That of a text that is no JSON differs from the digests of all documents.

    Args:
        parts: the document, cut anywhere.
    """
    found = blake3()
    for part in _canonical(parts):
        # In UTF-16 the halves of a pair that was two escapes are the character that it stands for.
        found.update(part.encode("utf-16-le", "surrogatepass"))
    return found.digest()


def _canonical(parts: Iterator[str]) -> Iterator[str]:
    """The document without needless white space and escapes."""
    is_inside = False
    last, rest = "[", ""  # the last character outside of strings; an escape that is cut
    for part in parts:
        text, at, rest = rest + part, 0, ""
        while at < len(text):
            if is_inside:
                match = _IN_STRING.match(text, at)
                assert match is not None  # it matches nothing, too
                yield _ESCAPE.sub(_unescape, match[0])
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
                    last = last if last in _PUNCTUATION else " "
                    continue
                yield word if last != " " or word[0] in _PUNCTUATION else f" {word}"
                last = word[-1]
            at = len(text) if end < 0 else end + 1
            if end >= 0:
                is_inside = True
                yield '"' if last != " " else ' "'
    if rest:
        yield f"\\{rest}"


def _words(text: str) -> Iterator[str]:
    """The words of a text, and one space for each run of white space."""
    at = 0
    for match in _SPACE.finditer(text):
        if match.start() > at:
            yield text[at : match.start()]
        yield " "
        at = match.end()
    if at < len(text):
        yield text[at:]


def _unescape(escape: re.Match[str]) -> str:
    """The character that an escape stands for; quotes and backslashes keep an escape."""
    found = chr(int(escape[1], 16)) if escape[1] else _SHORT_ESCAPES.get(escape[2], escape[2])
    return f"\\{found}" if found in {'"', "\\"} else found
