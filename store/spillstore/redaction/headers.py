"""Headers of HTTP of which no row says enough, however they are written down: ``Authorization`` and ``Cookie``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore.redaction.tables.classes import CREDENTIAL
from spillstore.redaction.tables.places import COOKIE_ATTRIBUTES, PARAMETERS, SCHEMES
from spillstore.redaction.values import drawn, harmless
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look

_SIGN = rb"(?>(?:\\{0,8}[\"'`])?)\]?+[ \t]{0,16}+(?:=>|[:=%b])[ \t]{0,16}+"
_AUTHORIZATION = re.compile(_SIGN % b"," + rb"(?>(?:[fbruFBRU@$]{0,2}\\{0,8}[\"'`])?)[ \t]{0,4}+")
_OTHER_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,30}[ \t](?=[^\s-])")
_CREDENTIALS = re.compile(f"{CREDENTIAL}*+".encode())
# Behind a scheme: no word alone, unless it is long.
_CREDENTIAL = re.compile(rb"(?=.*[0-9+/=-]).{6,}|.{12,}", re.DOTALL)
LEAST_CREDENTIAL = 6
_LEAST_OPAQUE = 12
_PARAMETER = re.compile(rb"[A-Za-z_]+=[^=]")
_WITH_PARAMETERS = frozenset(PARAMETERS.encode().split())
_SCHEME_KINDS = {b"bearer": "BEARER_TOKEN", b"basic": "BASIC_AUTH"}
_QUOTES = frozenset({b"'", b'"'})
_SNAKE = re.compile(rb"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")

LONGEST_COOKIE = 6 * 1024  # bytes of a header; browsers keep 4 KiB a cookie
_LEAST_VALUE = 8
_LEAST_COOKIE = 24  # of one that does not look drawn
_LEAST_PAIR = 2 + _LEAST_VALUE  # a name, a sign and a value
_BESIDE = rb"\\{0,8}[\"'][ \t]{0,16}+,[ \t]{0,16}+\\{0,8}[\"'][Vv]alue\\{0,8}[\"'][ \t]{0,16}+:[ \t]{0,16}+"  # {"name": "Cookie", "value": ...}
_COOKIE = re.compile(b"(?:%b|%b)" % (_SIGN % b"", _BESIDE) + rb"(?>(?:\\{0,8}[\"'`])?)")
COOKIE_NAME = r"[\w.!#$%&*+^|~-]"
LONGEST_NAME = 128
_PAIR = re.compile(rf"(?>(?:;[ \t]{{0,4}})?)({COOKIE_NAME}{{1,{LONGEST_NAME}}}+)=\"?".encode())
_COOKIE_VALUE = re.compile(rb"[^\s;\"'`\\\x00-\x20]*+")
_ATTRIBUTES = frozenset(COOKIE_ATTRIBUTES.encode().split())


@functools.cache
def _scheme() -> re.Pattern[bytes]:
    names = "|".join(SCHEMES.split())
    return re.compile(rf"(?i)(?:{names})(?:[ \t]+|%20|\+|=)".encode())


def authorization(look: Look, start: int, end: int) -> int:
    """A header ``Authorization``, in any notation."""
    text = look.text
    match = _AUTHORIZATION.match(text, end) if look.apart(start) else None
    if match is None:
        return end
    begin = match.end()
    scheme = _scheme().match(text, begin)
    if match := scheme or _OTHER_SCHEME.match(text, begin):
        begin = match.end()
    stop = look.end(_CREDENTIALS, begin)
    if look.open(begin, stop):
        return stop
    value = text[begin:stop].rstrip(b".,;:")
    name = scheme[0].rstrip(b" \t=+").lower() if scheme else b""
    if harmless(value) or text[stop : stop + 1] in {b"(", b"["} or value[:1] == b"$":
        return begin
    if name in _WITH_PARAMETERS and _PARAMETER.match(
        value
    ):  # those that are secrets are known by their names
        return begin
    if scheme:
        secret = _CREDENTIAL.fullmatch(value) is not None
    else:
        variable = text[begin - 1 : begin] not in _QUOTES and _SNAKE.fullmatch(value)
        secret = len(value) >= _LEAST_OPAQUE and drawn(value) and not variable
    if secret:
        look.add(begin, begin + len(value), _SCHEME_KINDS.get(name, "AUTHORIZATION"))
    return begin


def cookie(look: Look, _start: int, end: int) -> int:
    """A header ``Cookie`` or ``Set-Cookie``: the values, not the names."""
    text = look.text
    match = _COOKIE.match(text, end)
    if match is None:
        return end
    first = place = match.end()
    most = place + LONGEST_COOKIE
    while place < most and (pair := _PAIR.match(text, place)):
        stop = look.end(_COOKIE_VALUE, pair.end())
        if look.open(pair.end(), stop):
            return stop
        value = text[pair.end() : stop]
        if (
            pair[1].lower() not in _ATTRIBUTES
            and len(value) >= _LEAST_VALUE
            and not harmless(value)
            and (drawn(value) or len(value) >= _LEAST_COOKIE)
        ):
            look.add(pair.end(), stop, "COOKIE")
        place = stop
    return place if place - first >= _LEAST_PAIR else end
