r"""Raw slices of JSON: the members of an object and the items of an array as bytes, not decoded.

A proxy passes on byte for byte what it does not change, whatever numbers, keys or escapes it holds, and decodes no more of a
message than it needs. msgspec finds the slices. Where msgspec refuses what other parsers accept (NaN, half a surrogate pair, a
thousand nested brackets), a scanner finds them, in linear time and without recursion.

    >>> {name: bytes(raw) for name, raw in members(b'{"id": 1.0, "a": [1, {"b": NaN}]}').items()}
    {'id': b'1.0', 'a': b'[1, {"b": NaN}]'}
    >>> [bytes(raw) for raw in items(b'[1, "a,b", []]')]
    [b'1', b'"a,b"', b'[]']
    >>> join_object({"id": b"1.0", "a": b"null"})
    b'{"id":1.0,"a":null}'
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

RawJson = bytes | bytearray | memoryview
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
# A string, or a bracket, comma or colon between strings; what stands between those is a number or a word.
_TOKEN = re.compile(rb'"[^"\\]*+(?>\\.[^"\\]*+)*+"|[{}\[\],:"]', re.DOTALL)
# A string, and whether it is a name; or a bracket of an object.
_NAME = re.compile(r'"([^"\\]*+(?>\\.[^"\\]*+)*+)"(\s*:)?|[{}]', re.DOTALL)
_SCALAR = re.compile(rb"-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity")
_MEMBER = re.compile(rb'\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)\s*[,}]', re.DOTALL)
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_STRING = msgspec.json.Decoder(str)
# As many characters and whole escapes as there is room for.
_UNITS = re.compile(rb"(?>[^\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.DOTALL)
_HIGH = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
# A character of ASCII that needs no escape and has one. What comes before is consumed in whole escapes.
_NEEDLESS = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|(/)|.)", re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")
_QUOTE = ord('"')
_PART_SIZE = 256 * 1024  # bytes
_CLOSED_BY = {b"{": b"}", b"[": b"]"}
_BEFORE = frozenset({b"{", b"[", b",", b":"})  # a number or word
_AFTER = frozenset({b"}", b"]", b","})


class RawJsonError(ValueError):
    """Bytes are no JSON, or JSON of another kind than expected."""


def first_byte(data: RawJson) -> bytes:
    r"""The first byte that is no white space; empty if there is none.

    Example:
        >>> first_byte(b" [1]"), first_byte(b"\n")
        (b'[', b'')
    """
    match = _NOT_SPACE.search(data)
    return match[0] if match else b""


def members(data: RawJson) -> dict[str, RawJson]:
    """The members of an object by name; of members with the same name the last one.

    Raises:
        RawJsonError: the data is no object.
    """
    try:
        return {name: memoryview(raw) for name, raw in _MEMBERS.decode(data).items()}
    except msgspec.ValidationError:
        raise RawJsonError("not a JSON object") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found: dict[str, RawJson] = {}
        for raw in _scan(data, b"{"):
            match = _TOKEN.match(raw.lstrip())
            rest = raw.lstrip()[match.end() :].lstrip() if match else b""
            value = rest[1:].strip()
            if match is None or rest[:1] != b":" or not value:
                raise RawJsonError("not a JSON object") from None
            found[string(match[0])] = value
        return found


def items(data: RawJson) -> list[RawJson]:
    """The items of an array.

    Raises:
        RawJsonError: the data is no array.
    """
    try:
        return [memoryview(raw) for raw in _ITEMS.decode(data)]
    except msgspec.ValidationError:
        raise RawJsonError("not a JSON array") from None
    except (msgspec.DecodeError, RecursionError):
        return [raw.strip() for raw in _scan(data, b"[")]


def string(data: RawJson) -> str:
    """The decoded string.

    Raises:
        RawJsonError: the data is no string.
    """
    try:
        return _STRING.decode(data)
    except msgspec.ValidationError:
        raise RawJsonError("not a JSON string") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        # Half a surrogate pair, or bytes that are no UTF-8: both stay as they are.
        value = json.loads(bytes(data).decode("utf-8", "surrogateescape"), strict=False)
    except ValueError:
        raise RawJsonError("not a JSON string") from None
    if not isinstance(value, str):
        raise RawJsonError("not a JSON string")
    return value


def string_parts(data: RawJson) -> Iterator[str]:
    r"""The decoded string in parts of at most 256 KiB of JSON; half a surrogate pair becomes U+FFFD.

    Raises:
        RawJsonError: the data is no string.

    Example:
        >>> "".join(string_parts(b'"caf\\u00e9 \\ud83d\\ude00"'))
        'caf\xe9 \U0001f600'
    """
    view = memoryview(data)
    if len(view) < len('""') or view[0] != _QUOTE or view[-1] != _QUOTE:
        raise RawJsonError("not a JSON string")
    at, end = 1, len(view) - 1
    while at < end:
        stop = end if end - at <= _PART_SIZE else _boundary(view, at)
        part = string(b"".join((b'"', view[at:stop], b'"')))
        yield part if part.isascii() else _HALF.sub("\ufffd", part)
        at = stop


def _boundary(view: memoryview, start: int) -> int:
    """Where a part may end: after a whole escape, and not inside a pair of escapes or a character."""
    match = _UNITS.match(view, start, start + _PART_SIZE)
    stop = start if match is None else match.end()
    if _HIGH.fullmatch(view, stop - 6, stop):
        stop -= 6  # its other half may follow
    inside = 0
    while inside < 3 and view[stop - inside] & 0xC0 == 0x80:  # noqa: PLR2004  # bytes inside a character of UTF-8
        inside += 1
    if stop - inside <= start:
        raise RawJsonError("not a JSON string")  # an escape that is none
    return stop - inside


def string_or_none(value: RawJson | None) -> str | None:
    """The decoded string; None if the data is no string, or None."""
    if value is None:
        return None
    try:
        return string(value)
    except RawJsonError:
        return None


def value(data: RawJson) -> object:
    """The decoded value, for small data.

    Raises:
        RawJsonError: the data is no JSON.
    """
    try:
        return json.loads(bytes(data).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise RawJsonError(str(error)) from None


def dump(value: object) -> bytes:
    """A value as JSON in ASCII, so that half surrogates stay as they are, as escapes."""
    return json.dumps(value, separators=(",", ":")).encode()


def find_member(beginning: bytes, key: bytes) -> bytes | None:
    """A short member of an object of which only the beginning is known; None if the beginning does not hold it.

    Args:
        beginning: the first bytes of the object.
        key: the member's name as JSON.

    Example:
        >>> find_member(b'{"a": [{"id": 1}], "id": 2, "b": "...', b'"id"')
        b'2'
    """
    depth = 0
    name = b""
    for match in _TOKEN.finditer(beginning):
        token = match[0]
        if token == b'"':
            return None  # a string that is cut
        depth += (token in _CLOSED_BY) - (token in {b"}", b"]"})
        if depth == 1 and token == b":" and name == key:
            found = _MEMBER.match(beginning, match.end())
            return None if found is None else found[1]
        name = token
    return None


def is_json(data: RawJson) -> bool:
    """Whether the data is one JSON value, judged by its brackets and strings, at any depth.

    Example:
        >>> is_json(b"[" * 5000 + b"]" * 5000), is_json(b'{"a": 1'), is_json(b"1, 2")
        (True, False, False)
    """
    try:
        return len(items(b"".join((b"[", data, b"]")))) == 1
    except RawJsonError:
        return False


def unescape_ascii(data: RawJson) -> bytes:
    r"""JSON without needless escapes of ASCII characters, so that patterns match the words in it.

    Example:
        >>> unescape_ascii(rb'"\u0061 \\u0061 \/ \n \u0022"')
        b'"a \\\\u0061 / \\n \\u0022"'
    """
    whole = bytes(data)
    return _NEEDLESS.sub(_plain, whole) if b"\\u00" in whole or b"\\/" in whole else whole


def _plain(escape: re.Match[bytes]) -> bytes:
    if escape[2]:
        return b"/"
    found = bytes([int(escape[1], 16)]) if escape[1] else escape[0]
    return escape[0] if found in {b'"', b"\\", b"\x7f"} else found


def with_distinct_names(text: str, marker: str) -> str:
    r"""JSON in which those names of an object that hold a marker differ: of members of one name, readers keep the last alone.

    Example:
        >>> with_distinct_names('{"<x>": 1, "<x>": {"<x>": 2}, "y": "<x>"}', "<")
        '{"<x>": 1, "<x> (2)": {"<x>": 2}, "y": "<x>"}'
    """
    if text.count(marker) <= 1:
        return text
    from spillstore.redaction.structures import distinct_name  # noqa: PLC0415  # few names hold one

    known: list[dict[str, int]] = [{}]

    def distinct(match: re.Match[str]) -> str:
        if match[0] == "{":
            known.append({})
        elif match[0] == "}":
            if len(known) > 1:
                known.pop()
        elif match[2] and marker in match[1]:
            return f'"{distinct_name(match[1], known[-1])}"{match[2]}'
        return match[0]

    return _NAME.sub(distinct, text)


def slices(data: RawJson) -> Iterator[bytes]:
    """The data as copies of at most 256 KiB."""
    return (bytes(data[at : at + _PART_SIZE]) for at in range(0, len(data), _PART_SIZE))


def join_object(members: Mapping[str, RawJson]) -> bytes:
    """The JSON object of these members."""
    return b"{" + b",".join([b"".join((dump(name), b":", data)) for name, data in members.items()]) + b"}"


def join_array(items: Iterable[RawJson]) -> bytes:
    """The JSON array of these items."""
    return b"[" + b",".join(items) + b"]"


def _scan(data: RawJson, bracket: bytes) -> list[bytes]:
    """The slices between the commas of the outermost brackets."""
    whole = bytes(data).strip()
    if not whole.startswith(bracket):
        raise RawJsonError("not JSON" if whole[:1] not in _CLOSED_BY else "JSON of another kind")
    found: list[bytes] = []
    expected: list[bytes] = []
    begin = end = 0
    for token, start, end in _tokens(whole):
        if token in _CLOSED_BY:
            expected.append(_CLOSED_BY[token])
            begin = end if len(expected) == 1 else begin
        elif token == b"," and len(expected) == 1:
            found.append(whole[begin:start])
            begin = end
        elif token in {b"}", b"]"}:
            if expected.pop() != token:
                raise RawJsonError("not JSON")
            if not expected:
                if found or whole[begin:start].strip():
                    found.append(whole[begin:start])
                break
    if expected or end != len(whole) or not all(each.strip() for each in found):
        raise RawJsonError("not JSON")
    return found


def _tokens(whole: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Strings, brackets, commas and colons with their start and end; between them are numbers and words."""
    end = 0
    value_ended = False
    for match in _TOKEN.finditer(whole):
        token = match[0]
        between = whole[end : match.start()].strip()
        misplaced = value_ended or token not in _AFTER
        if token == b'"' or (between and (misplaced or not _SCALAR.fullmatch(between))):
            raise RawJsonError("not JSON")
        end = match.end()
        value_ended = token not in _BEFORE
        yield token, match.start(), end
