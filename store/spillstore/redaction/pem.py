"""Private keys in armour: ``-----BEGIN ... PRIVATE KEY-----``, over many lines or in one.

Between the markers each line's content goes: the first becomes the placeholder, the others become empty, so lines keep
their numbers. The markers stay; they are no secret, and source code is full of them. Whether a line belongs to a key is
judged by that line alone, after the marker: base64, behind nothing, quotes, or what stood before the marker in the same
shape (``cat -n``, the time in a log). The first line that does not belong ends the key, whether or not its end was seen.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.runtime import lazy_patterns as re

_BEGIN = re.compile(
    rb"-----?[ ]?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-----?|PuTTY-User-Key-File-\d: \S+|Private-Lines: \d+"
    rb"|-----BEGIN OpenVPN Static key V\d-----"
)
_END = re.compile(
    rb"[ \t]*-----?[ ]?END [A-Z0-9 ]{0,40}PRIVATE KEY|Private-MAC|[ \t]*-----END OpenVPN Static key"
)
_INLINE = re.compile(rb"(?>(?:[A-Za-z0-9+/=,:]|\\+[nrt\"'/]?|[ \t\"'`+.;-](?!-{3}))*)")
MAY_END = re.compile(rb"[^A-Za-z0-9+/=,:\\ \t\"'`.;]")
_EDGE = re.compile(rb"(?:\\+[nrt\"']?|[ \t\"'`+.,;:-])*")
_LONG = re.compile(rb"[A-Za-z0-9+/]{24,}")
_HEADER = re.compile(
    rb"[^A-Za-z0-9]*(?:[\w.:/+-]+[ \t|]+){0,6}(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|X-[\w-]+):"
)
_BODY = re.compile(
    rb"=?[A-Za-z0-9+/]+={0,3}(?=(?:\\+[nr])*\\*[\"'`]?(?:\\+[nr])*[ \t,;+.)\\]*$|(?:\\+[nr])*\\*[\"'],.*$)"
)
_DECOR = re.compile(rb"[ \t\"'`+|>#*/.,(-]*")
_NUMBERS = re.compile(rb"[ \t\d]+")
_COUNTED = re.compile(rb"[-:]0[-:]")  # grep tells what matched from what stands around it
_GREPPED = re.compile(rb"[^\s:]{0,160}?[-:]\d+[-:](?=[A-Za-z0-9+/=]{4})")
_LOGGED = re.compile(rb"[ \t]*\{\"\w{1,16}\":[ ]?\"")  # a line of a container, in JSON
_LEAST = 32
_PREFIX = 200  # bytes of a line before its part of a key
_BLANKS = 2  # lines in a key without content, at most


class Open(NamedTuple):
    """A key whose end was not seen yet.

    Attributes:
        shape: of what stands before the marker in its line.
        lines: of the key that were taken out.
        blank: lines without content since the last one.
    """

    shape: bytes
    lines: int = 0
    blank: int = 0


def shape(prefix: bytes) -> bytes:
    """A line's beginning without what counts: numbers and widths; nothing of a long one."""
    return _COUNTED.sub(b":0:", _NUMBERS.sub(b"0", prefix)) if len(prefix) <= _PREFIX else b""


def begin(text: bytes, start: int) -> re.Match[bytes] | None:
    """The marker around ``PRIVATE KEY`` at ``start``."""
    low = max(0, start - 60)
    if text.find(b"BEGIN ", low, start) < 0 and not text.startswith(b"Private-Lines", start):
        return None
    for match in _BEGIN.finditer(text, low, start + 40):
        if match.start() <= start < match.end():
            return match
    return None


def inline(text: bytes, start: int) -> tuple[int, int, int, bool]:
    """What follows a marker in its own line.

    Returns:
        Where the key begins and ends (the same if there is none), where what was looked at ends, and whether the end
        marker follows.
    """
    stop = _INLINE.match(text, start).end()  # type: ignore[union-attr]  # it matches everywhere
    closed = _END.match(text, stop) is not None
    first = _EDGE.match(text, start, stop).end()  # type: ignore[union-attr]  # it matches everywhere
    body = text[first:stop]
    last = first + len(body)
    trimmed = re.search(rb"(?:\\+[nrt\"']?|[ \t\"'`+.,;:-])*$", body[-64:])
    assert trimmed  # it matches everywhere
    last -= len(trimmed[0])
    if not _LONG.search(text, first, last):
        return start, start, stop, closed
    return first, last, stop, closed


def logged(prefix: bytes) -> bool:
    """Whether a marker behind that prefix is the beginning of a line that was put into JSON."""
    return _LOGGED.fullmatch(prefix) is not None


def judge(line: bytes, key: Open) -> tuple[tuple[int, int] | None, Open | None]:
    """Whether a line belongs to a key: the bytes to take out, and the key after it, None at its end."""
    ending = _END.search(line)
    content = line[: ending.start()] if ending else line
    if not content.strip():
        if ending or key.blank >= _BLANKS:
            return None, None
        return None, key._replace(blank=key.blank + 1)
    if not ending and _HEADER.match(content):
        return None, key
    found = _body(content, key)
    return found, None if ending or found is None else key._replace(lines=key.lines + 1, blank=0)


def _body(content: bytes, key: Open) -> tuple[int, int] | None:
    match = None
    for prefix in _prefixes(content, key):
        match = _BODY.match(content, prefix)
        if match is not None:
            break
    if match is None or (key.lines == 0 and match.end() - match.start() < _LEAST):
        return None
    return match.span()


def _prefixes(content: bytes, key: Open) -> list[int]:
    """Where the base64 of a line may begin."""
    # Base64 may begin with what else is the sign of a diff, so what stood before the marker goes first.
    found = [len(key.shape)] if content.startswith(key.shape) else []
    found.append(_DECOR.match(content).end())  # type: ignore[union-attr]  # it matches everywhere
    blank = max(content.rfind(byte, 0, _PREFIX + 100) for byte in (b" ", b"\t", b"|", b":", b'"', b"'"))
    if blank >= 0:
        quotes = blank + 1
        if key.shape and shape(content[:quotes]) == key.shape:
            found.append(quotes)
    found += [
        match.end()
        for form in (_GREPPED, _LOGGED)
        if key.shape and (match := form.match(content)) and shape(match[0]) == key.shape
    ]
    return found
