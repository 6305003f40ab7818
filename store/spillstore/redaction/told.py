"""Passwords in a line that speaks of one: it has a word such as ``login``, and behind it, in any notation, what looks typed in.

No row says what stands between the two. In a command line, behind a prompt, the value has letters of both cases and digits, as passwords have to. In any
other line it must say more: a sign where no name of a program, an id or a file has one, or no order in its letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.redaction.look import line_start
from spillstore.redaction.tables import classes, shapes
from spillstore.redaction.values import LEAST, drawn, jumbled, typed
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look

REACH = 256  # bytes before such a word in which a prompt may stand, and behind it in which a value begins; as in `_native/scan_places.c`
_LONGEST = 40
_MOST = 104  # bytes of a word with what stands before a password in it; the same
_LETTERS = r"[!#-&)-;=?-\[\]^_a-~]"  # no blanks, quotes, tags, calls, backslashes, and of ASCII alone
_WORD = re.compile(f"{_LETTERS}++".encode())
_MEMBERS = frozenset(classes.members(_LETTERS))
_PROMPT = re.compile(
    rb"(?:\++|[^\r\n]{0,96}?(?:[$#%>]|\bRUN|\brun:)|[ \t]*\d{1,6}\*?)(?:[ \t]|\Z)|[^\r\n]*\|[ \t]*\Z"
)
_OPTION = re.compile(rb"--?[A-Za-z]")
_FOR_SECRETS = re.compile(
    rb"-{1,2}(?i:p|pw|w|k|a|d|data|value|body|.*(?:pass|pw|secret|token|key|cred|auth)\w*)"
)
_BEFORE = b"[{,;:="
_BEHIND = b")]},;.:|"
# What may stand before it in one word: an option, a name, a user.
_NAMED = re.compile(
    rb"(?:--?|/)?[A-Za-z][\w.@-]{0,47}[:=](?=.{8})|[A-Za-z][\w.@-]{0,47}[/%](?=.{8})|-[pP](?=.{8})"
)
_QUOTES = frozenset(b"\"'")
_NO_NAME = frozenset(b"/%")
_ESCAPES = frozenset(b"nrt")


def told(look: Look, _start: int, end: int) -> int:
    """A word stands here that says that a password follows."""
    return _behind(look, end, prompt=False)


def prompted(look: Look, start: int, end: int) -> int:
    """``login``, ``user add`` or the like stands here, in a command line or elsewhere."""
    low = line_start(look.text, start, max(0, start - REACH))
    return _behind(look, end, prompt=_PROMPT.match(look.text, low, start) is not None)


def _behind(look: Look, end: int, *, prompt: bool) -> int:
    text = look.text
    place = look.run(_LETTERS, end) if text[end - 1] in _MEMBERS else end
    before = b""
    for match in _WORD.finditer(text, max(place, look.told[prompt]), look.line(end)):
        first, stop = match.span()
        if first >= end + REACH:
            break
        look.told[prompt] = stop
        if text[first - 1] == ord("\\") and text[first] in _ESCAPES:
            first += 1
        if stop - first <= _MOST:
            if look.open(first, stop):
                break
            asked = prompt and (not _OPTION.match(before) or _FOR_SECRETS.fullmatch(before) is not None)
            _found(look, first, stop, asked=asked)
        before = match[0]
    return end


def _found(look: Look, first: int, stop: int, *, asked: bool) -> None:
    """Tell a word, or its last part, without the brackets and full stops around it."""
    text = look.text
    word = text[first:stop].rstrip(_BEHIND)
    stop = first + len(word)
    first = stop - len(word.lstrip(_BEFORE))
    named = _NAMED.match(text, first, stop)
    for begin in (first,) if named is None else (named.end(), first):
        value = text[begin:stop]
        if LEAST <= len(value) <= _LONGEST and (
            typed(value, quoted=text[begin - 1] in _QUOTES)
            if asked and text[begin - 1] not in _NO_NAME
            else _signed(value)
        ):
            look.add(begin, stop, "PASSWORD")
            return


def _signed(value: bytes) -> bool:
    """Whether it looks typed in as a password and like nothing else: a sign among its letters that stands in no name, or no order in them."""
    if not typed(value, quoted=False) or shapes.NO_SIGN.search(value):
        return False
    inner = value.rstrip(b"!?")
    if shapes.WORD_AND_NUMBER.fullmatch(value):
        return True
    if shapes.TYPED_SIGN.search(inner, 1):
        return drawn(value)
    return (
        shapes.JOINTS.search(inner) is not None
        and shapes.ID_OF_A_KIND.match(inner) is None
        and jumbled(inner)
    )
