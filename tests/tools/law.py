"""What the tests of previews measure against: a slow cleaner written from the rules, and the law of notices.

Nothing here imports what is tested but the types of parts.
"""

from __future__ import annotations

import re

from hypothesis import strategies as st

from spillstore_tools.preview.parts import Gap, Note, Shown

STRING_LIMIT = 65536
TO_END, ALL = "\ud800", "\ud801"  # an escape sequence that erases; no text holds half a surrogate
C1_STRINGS = "\x90\x98\x9e\x9f"
BREAKS = "\r\n\x1b\x9b\x9d" + C1_STRINGS

# Drawn as one each, and none of them joins its neighbour here.
CLUSTERS = [
    "a",
    "世",
    "\ufffd",
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈",
    "🇩🇪",
    "🇫🇷",
    "👍🏽",
    "👩🏿‍🚒",
    "1️⃣",
    "e\u0301\u0323",
    "नि",
    "\u1112\u1161\u11ab",
    "\u1100\u1100\u1161",
    "한\u11ab",
    "\ua960\u1161\ud7cb",
    "🏴\U000e0067\U000e0062\U000e007f",
    "e" + "\u0300" * 31,
]

TOKENS = [
    *(b"a", b"b 12", b"Z", b" ", b"\t", b"\x00", b"\x07", b"\x0b", b"\x7f", b"error: x", b"0;31m", b"[", b"]", b"\\"),
    *(b"\x1b", b"\x1b[", b"\x1b[31m", b"\x1b[0", b"\x1b(B", b"\x1b7", b"\x1b ", b"\x1b[K", b"\x1b[2K", b"\x1b]0;t\x07", b"\x1b]8;;u\x1b\\"),
    *(b"\x1b]", b"\x1bP", b"\x1bX", b"\x1b^", b"\x1b_", b"\x1b\\", b"\x1bPq\x07\x1b\\", b"\x9b", b"\xff", b"\xe2\x82"),
    *("\x9b31m".encode(), "\x9b".encode(), "\x9d".encode(), "\x9c".encode(), "\x90".encode(), "\x85".encode()),
    *(b"\xc2", b"\xf0\x9f\x91", b"\x80", "é".encode(), "世".encode(), "👩‍👧".encode(), "🇩🇪".encode(), b"\xcc\x81"),
    *(b"\r", b"\r\r", b"\b", b"\b\b\b", b"0%\r", b"100%"),
]  # fmt: skip
ENDINGS = [b"\n", b"\n", b"\r\n", b"\r\r\n"]

line_bytes = st.lists(st.sampled_from(TOKENS), max_size=30).map(b"".join)
lines_with_endings = st.tuples(line_bytes, st.sampled_from([*ENDINGS, b""])).map(b"".join)
outputs = st.lists(
    st.one_of(
        st.sampled_from([*TOKENS, *ENDINGS, b"the same line\n" * 5, b"x" * 90]),
        st.tuples(line_bytes, st.sampled_from(ENDINGS)).map(b"".join),
    ),
    max_size=40,
).map(b"".join)


def cleaned(data: bytes, terminator: bytes = b"\n") -> str:
    """The rules of cleaning, a character at a time."""
    text = ""
    for line in lines_of(data, terminator):
        body = line.removesuffix(terminator)
        if terminator == b"\r":
            text += _visible(body.replace(b"\n", b"\x0b"))
        else:
            text += _visible(body.removesuffix(b"\r") if body != line else body)
        text += "\n" if body != line else ""
    return text


def lines_of(data: bytes, terminator: bytes = b"\n") -> list[bytes]:
    """Lines with their endings."""
    return re.findall(rb"[^%b]*%b|[^%b]+" % (terminator, terminator, terminator), data)


def _visible(line: bytes) -> str:
    """A screen of one line, character by character."""
    screen: dict[int, str] = {}
    cursor, erased = 0, False
    for character in _without_escapes(_characters(line)):
        if character in "\r\b":
            cursor = 0 if character == "\r" else max(0, cursor - 1)
        elif character in {TO_END, ALL}:
            cursor = 0 if character == ALL else cursor
            erased = erased or cursor == 0
            screen = {place: shown for place, shown in screen.items() if cursor == 0 or place < cursor}
        elif character in "\t\0" or not (character < " " or "\x7f" <= character <= "\x9f"):
            screen = {} if erased else screen
            screen[cursor], cursor, erased = character.replace("\0", "\u2400"), cursor + 1, False
    return "".join(screen[place] for place in sorted(screen))


def _characters(data: bytes) -> str:
    text, at = "", 0
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                text += data[at : at + size].decode()
            except UnicodeDecodeError:
                continue
            at += size
            break
        else:
            text += "\ufffd"
            at += 1
    return text


def _without_escapes(text: str) -> str:
    out, at = "", 0
    while at < len(text):
        behind = _behind_escape(text, at)
        erasers = {"[K": TO_END, "[0K": TO_END, "[2K": ALL}
        escape = text[at:behind].replace("\x9b", "\x1b[").removeprefix("\x1b")
        out += erasers.get(escape, "") if behind > at else text[at]
        at = max(behind, at + 1)
    return out


def _behind_escape(text: str, at: int) -> int:
    """The place behind the escape sequence at ``at``; ``at`` where there is none."""
    two = text[at : at + 2]
    if two == "\x1b[" or text[at] == "\x9b":
        at = _while(text, at + (2 if two == "\x1b[" else 1), "0", "?", 256)
        at = _while(text, at, " ", "/", 16)
        return _while(text, at, "@", "~", 1)
    if two == "\x1b]" or text[at] == "\x9d":
        return _behind_string(text, at, 2 if two == "\x1b]" else 1, "\x07")
    if two in {"\x1bP", "\x1bX", "\x1b^", "\x1b_"} or text[at] in C1_STRINGS:
        return _behind_string(text, at, 1 if text[at] in C1_STRINGS else 2, "")
    if text[at] == "\x1b":
        return _while(text, _while(text, at + 1, " ", "/", 16), "0", "~", 1)
    return at


def _while(text: str, at: int, low: str, high: str, most: int) -> int:
    for _ in range(most):
        if not (at < len(text) and low <= text[at] <= high):
            break
        at += 1
    return at


def _behind_string(text: str, start: int, introducer: int, bell: str) -> int:
    for at in range(start + introducer, min(len(text), start + introducer + STRING_LIMIT + 1)):
        if text[at] == "\x9c" or (bell and text[at] == bell):
            return at + 1
        if text[at : at + 2] == "\x1b\\":
            return at + 2
        if text[at] in BREAKS:
            break
    return start + introducer


def assert_law(parts, data: bytes, terminator: bytes = b"\n", *, clean) -> None:
    """Parts are without a break; gaps put back give everything; what gaps say is so."""
    at, restored = 0, ""
    for part in parts:
        if isinstance(part, Note):
            continue
        assert part.start == at
        assert part.end > at or not data
        at = part.end
        restored += part.text if isinstance(part, Shown) else clean(data[part.start : part.end], terminator)
        if isinstance(part, Gap):
            assert_gap(part, data, terminator, clean=clean)
    assert at == len(data)
    assert restored == clean(data, terminator)


def assert_gap(gap: Gap, data: bytes, terminator: bytes = b"\n", *, clean) -> None:
    """Lines, characters and bytes of a gap agree."""
    spans = [(0, 0)]
    for line in lines_of(data, terminator):
        spans.append((spans[-1][1], spans[-1][1] + len(line)))
    first = next(number for number, span in enumerate(spans) if span[0] <= gap.start < span[1])
    last = next(number for number, span in enumerate(spans) if span[0] < gap.end <= span[1])
    whole = [span for span in spans[1:] if gap.start <= span[0] and span[1] <= gap.end]
    assert (gap.first_line, gap.last_line, gap.lines) == (first, last, len(whole))
    assert gap.inside == ((spans[first][0], spans[last][1]) != (gap.start, gap.end))
    assert gap.chars in {None, len(clean(data[gap.start : gap.end], terminator))}
