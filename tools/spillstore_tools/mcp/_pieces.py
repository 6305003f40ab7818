r"""JSON taken apart without being read: the members of an object and the items of an array, as the bytes they were.

What a relay does not change it passes on byte for byte, whatever numbers, keys or escapes it holds, and it reads no more
of a message than it needs. msgspec finds the pieces; where it refuses what other parsers take (NaN, half a surrogate
pair, a thousand brackets inside each other), a scanner does, in linear time and without recursion.

    >>> {name: bytes(piece) for name, piece in members(b'{"id": 1.0, "a": [1, {"b": NaN}]}').items()}
    {'id': b'1.0', 'a': b'[1, {"b": NaN}]'}
    >>> [bytes(piece) for piece in items(b'[1, "a,b", []]')]
    [b'1', b'"a,b"', b'[]']
    >>> joined({"id": b"1.0", "a": b"null"})
    b'{"id":1.0,"a":null}'
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Data = bytes | bytearray | memoryview
_SAYING = re.compile(rb"[^ \t\r\n]")
# A string, or a bracket, comma or colon between strings; what stands between those is a number or a word.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:"]', re.DOTALL)
_SCALAR = re.compile(rb"-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity")
_MEMBER = re.compile(rb'\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)\s*[,}]', re.DOTALL)
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)
# As many characters and whole escapes as there is room for.
_UNITS = re.compile(rb"(?:[^\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.DOTALL)
_HIGH = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
# A character of ASCII that needs no escape and has one. What comes before is consumed in whole escapes.
_NEEDLESS = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|(/)|.)", re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")
_QUOTE = ord('"')
_PIECE = 256 * 1024  # bytes
_CLOSED_BY = {b"{": b"}", b"[": b"]"}
_BEFORE = frozenset({b"{", b"[", b",", b":"})  # a number or word
_AFTER = frozenset({b"}", b"]", b","})


class PieceError(ValueError):
    """It is not what it should be: no JSON, or JSON of another kind."""


def first(data: Data) -> bytes:
    r"""The first byte that says something; none where there is none.

    Example:
        >>> first(b" [1]"), first(b"\n")
        (b'[', b'')
    """
    match = _SAYING.search(data)
    return match[0] if match else b""


def members(data: Data) -> dict[str, Data]:
    """The members of an object; of those with the same name the last one.

    Raises:
        PieceError: it is no object.
    """
    try:
        return {name: memoryview(raw) for name, raw in _MEMBERS.decode(data).items()}
    except msgspec.ValidationError:
        raise PieceError("no object") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found: dict[str, Data] = {}
        for piece in _scanned(data, b"{"):
            match = _TOKEN.match(piece.lstrip())
            _, colon, value = (piece.lstrip()[match.end() :] if match else b"").partition(b":")
            if match is None or not colon or not value.strip():
                raise PieceError("no object") from None
            found[text(match[0])] = value.strip()
        return found


def items(data: Data) -> list[Data]:
    """The items of an array.

    Raises:
        PieceError: it is none.
    """
    try:
        return [memoryview(raw) for raw in _ITEMS.decode(data)]
    except msgspec.ValidationError:
        raise PieceError("no array") from None
    except (msgspec.DecodeError, RecursionError):
        return [piece.strip() for piece in _scanned(data, b"[")]


def text(data: Data) -> str:
    """A string.

    Raises:
        PieceError: it is none.
    """
    try:
        return _TEXT.decode(data)
    except msgspec.ValidationError:
        raise PieceError("no string") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        # Half a surrogate pair, or bytes that are no UTF-8: both are to be had as they are.
        value = json.loads(bytes(data).decode("utf-8", "surrogateescape"), strict=False)
    except ValueError:
        raise PieceError("no string") from None
    if not isinstance(value, str):
        raise PieceError("no string")
    return value


def text_pieces(data: Data) -> Iterator[str]:
    r"""A string in pieces, so that a large one is never there as a whole; half a surrogate pair becomes U+FFFD.

    Raises:
        PieceError: it is none.

    Example:
        >>> "".join(text_pieces(b'"caf\\u00e9 \\ud83d\\ude00"'))
        'caf\xe9 \U0001f600'
    """
    view = memoryview(data)
    if len(view) < len('""') or view[0] != _QUOTE or view[-1] != _QUOTE:
        raise PieceError("no string")
    at, end = 1, len(view) - 1
    while at < end:
        stop = end if end - at <= _PIECE else _boundary(view, at)
        piece = text(b"".join((b'"', view[at:stop], b'"')))
        yield piece if piece.isascii() else _HALF.sub("\ufffd", piece)
        at = stop


def _boundary(view: memoryview, start: int) -> int:
    """Where a piece may end: after a whole escape, and not inside a pair of them or a character."""
    match = _UNITS.match(view, start, start + _PIECE)
    stop = start if match is None else match.end()
    if _HIGH.fullmatch(view, stop - 6, stop):
        stop -= 6  # its other half may follow
    inside = 0
    while inside < 3 and view[stop - inside] & 0xC0 == 0x80:  # noqa: PLR2004  # bytes inside a character of UTF-8
        inside += 1
    if stop - inside <= start:
        raise PieceError("no string")  # an escape that is none
    return stop - inside


def text_of(value: Data | None) -> str | None:
    """A string, or None where there is another thing or nothing."""
    if value is None:
        return None
    try:
        return text(value)
    except PieceError:
        return None


def value(data: Data) -> object:
    """All of it as Python's own values, for what is small.

    Raises:
        PieceError: it is no JSON.
    """
    try:
        return json.loads(bytes(data).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise PieceError(str(error)) from None


def dumped(value: object) -> bytes:
    """A value as JSON; half surrogates as escapes, so that they stay what they are."""
    return json.dumps(value, separators=(",", ":")).encode()


def member_in(beginning: bytes, key: bytes) -> bytes | None:
    """A short member of an object of which only the beginning is known; None if it does not stand there.

    Args:
        beginning: of the object.
        key: of the member, as JSON.

    Example:
        >>> member_in(b'{"a": [{"id": 1}], "id": 2, "b": "...', b'"id"')
        b'2'
    """
    depth = 0
    name = b""
    for match in _TOKEN.finditer(beginning):
        token = match[0]
        if token == b'"':
            return None  # a string that goes on
        depth += (token in _CLOSED_BY) - (token in {b"}", b"]"})
        if depth == 1 and token == b":" and name == key:
            found = _MEMBER.match(beginning, match.end())
            return None if found is None else found[1]
        name = token
    return None


def is_json(data: Data) -> bool:
    """Whether it is one value, however deep, as far as brackets and strings tell.

    Example:
        >>> is_json(b"[" * 5000 + b"]" * 5000), is_json(b'{"a": 1'), is_json(b"1, 2")
        (True, False, False)
    """
    try:
        return len(items(b"".join((b"[", data, b"]")))) == 1
    except PieceError:
        return False


def unescaped(data: Data) -> bytes:
    r"""JSON in which characters of ASCII have no escapes that they do not need, so that words in it are words.

    Example:
        >>> unescaped(rb'"\u0061 \\u0061 \/ \n \u0022"')
        b'"a \\\\u0061 / \\n \\u0022"'
    """
    whole = bytes(data)
    return _NEEDLESS.sub(_plain, whole) if b"\\u00" in whole or b"\\/" in whole else whole


def _plain(escape: re.Match[bytes]) -> bytes:
    if escape[2]:
        return b"/"
    found = bytes([int(escape[1], 16)]) if escape[1] else escape[0]
    return escape[0] if found in {b'"', b"\\", b"\x7f"} else found


def joined(members: Mapping[str, Data]) -> bytes:
    """An object of members."""
    return b"{" + b",".join([b"".join((dumped(name), b":", data)) for name, data in members.items()]) + b"}"


def listed(items: Iterable[Data]) -> bytes:
    """An array of items."""
    return b"[" + b",".join(items) + b"]"


def _scanned(data: Data, bracket: bytes) -> list[bytes]:
    """What stands between the outermost brackets, at its commas."""
    whole = bytes(data).strip()
    if not whole.startswith(bracket):
        raise PieceError("no JSON" if whole[:1] not in _CLOSED_BY else "another kind")
    pieces: list[bytes] = []
    expected: list[bytes] = []
    begin = end = 0
    for token, start, end in _tokens(whole):
        if token in _CLOSED_BY:
            expected.append(_CLOSED_BY[token])
            begin = end if len(expected) == 1 else begin
        elif token == b"," and len(expected) == 1:
            pieces.append(whole[begin:start])
            begin = end
        elif token in {b"}", b"]"}:
            if expected.pop() != token:
                raise PieceError("no JSON")
            if not expected:
                if pieces or whole[begin:start].strip():
                    pieces.append(whole[begin:start])
                break
    if expected or end != len(whole) or not all(piece.strip() for piece in pieces):
        raise PieceError("no JSON")
    return pieces


def _tokens(whole: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Strings, brackets, commas and colons, and where they stand; what stands between them is a number or a word."""
    end = 0
    value_ended = False
    for match in _TOKEN.finditer(whole):
        token = match[0]
        between = whole[end : match.start()].strip()
        misplaced = value_ended or token not in _AFTER
        if token == b'"' or (between and (misplaced or not _SCALAR.fullmatch(between))):
            raise PieceError("no JSON")
        end = match.end()
        value_ended = token not in _BEFORE
        yield token, match.start(), end
