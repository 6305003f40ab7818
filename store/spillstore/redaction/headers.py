"""Secrets in headers of HTTP, however they are written down: in requests, in programs, on command lines, in configurations."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from spillstore.redaction.assignments import ASSIGN
from spillstore.redaction.readers import QUOTE
from spillstore.redaction.values import drawn, harmless, judged

if TYPE_CHECKING:
    from spillstore.redaction.look import Look, Rule

_AUTHORIZATION = re.compile(
    rb"(?:\\{0,8}[\"'`])?+\]?+[ \t]{0,16}+(?:=>|[:=,])[ \t]{0,16}+(?:[fbruFBRU@$]{0,2}\\{0,8}[\"'`])?+[ \t]{0,4}+"
)
_AUTH_SCHEME = re.compile(
    rb"(?i)(?:bearer|basic|token|api-token|apikey|api-key|bot|digest|negotiate|ntlm|sso-key|key|aws4-hmac-sha256|genie-?key|ssws|splunk|hawk|oauth|jwt|pat)(?:[ \t]+|%20|\+|=)"
)
_OTHER_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,30}[ \t](?=[^\s-])")
_CREDENTIALS = re.compile(rb"[^\s\"'`<>,;\\\x00-\x20(){}\[\]|&]*+")
# Behind a scheme: no word alone, unless it is long.
_CREDENTIAL = re.compile(rb"(?=.*[0-9+/=-]).{6,}|.{12,}", re.DOTALL)
_DIGIT = re.compile(rb"\d")
_PRINTED = re.compile(rb"[^\x00-\x1f]*")
_LEAST_BASIC = 8
_LEAST_OPAQUE = 12
_LEAST_COOKIE = 24
LEAST_PAIR = 2 + _LEAST_BASIC  # a name, a sign and a value
LONGEST_COOKIE = 6 * 1024  # bytes of a header; browsers keep 4 KiB a cookie
_QUOTES = frozenset({b"'", b'"'})
_SPACES = re.compile(rb"[ \t]{0,16}+")
_BASE64 = re.compile(rb"[A-Za-z0-9+/=]*+")
_COOKIE = re.compile(rb"(?:\\{0,8}[\"'`])?+\]?+[ \t]{0,16}+(?:=>|[:=])[ \t]{0,16}+(?:\\{0,8}[\"'`])?+")
_COOKIE_NAME = re.compile(rb"(?:;[ \t]{0,4}+)?+([\w.!#$%&*+^|~-]{1,128}+)=\"?")
_COOKIE_VALUE = re.compile(rb"[^\s;\"'`\\\x00-\x20]*+")
_ATTRIBUTES = frozenset(b"path domain expires max-age samesite version comment priority".split())


def authorization(look: Look, start: int, end: int) -> int:
    """A header ``Authorization``, in any notation."""
    if not look.apart(start - 1):
        return end
    match = _AUTHORIZATION.match(look.text, end)
    return _credentials(look, match.end()) if match else end


def bearer(look: Look, start: int, end: int) -> int:
    """``Bearer`` and what it bears."""
    text = look.text
    if not look.apart(start - 1):
        return end
    begin = look.end(_SPACES, end)
    if text[begin : begin + 1] in _QUOTES and text[max(0, start - 10) : start] == b"--oauth2-b":
        begin += 1  # of curl
    stop = look.end(_CREDENTIALS, begin)
    if look.open(begin, stop):
        return stop
    value = text[begin:stop].rstrip(b".,;:")
    long = len(value) >= _LEAST_OPAQUE or (len(value) >= _LEAST_BASIC and drawn(value))
    if long and not harmless(value) and _DIGIT.search(value):
        look.add(begin, begin + len(value), "BEARER_TOKEN")
    return begin


_QUOTES = frozenset({b'"', b"'"})
_SNAKE = re.compile(rb"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")


def _credentials(look: Look, begin: int) -> int:
    text = look.text
    scheme = _AUTH_SCHEME.match(text, begin)
    other = None if scheme else _OTHER_SCHEME.match(text, begin)
    start = (scheme or other).end() if scheme or other else begin  # type: ignore[union-attr]  # one of them is there
    stop = look.end(_CREDENTIALS, start)
    if look.open(start, stop):
        return stop
    value = text[start:stop].rstrip(b".,;:")
    if harmless(value) or text[stop : stop + 1] in {b"(", b"["} or b"$" in value[:1]:
        return start
    name = scheme[0].strip().lower() if scheme else b""
    if name in {b"aws4-hmac-sha256", b"digest"}:
        return start
    kind = {b"bearer": "BEARER_TOKEN", b"basic": "BASIC_AUTH"}.get(name, "AUTHORIZATION")
    if scheme:
        good = _CREDENTIAL.fullmatch(value) is not None
    else:
        variable = text[start - 1 : start] not in _QUOTES and _SNAKE.fullmatch(value)
        good = len(value) >= _LEAST_OPAQUE and drawn(value) and not variable
    if good:
        look.add(start, start + len(value), kind)
    return start


def basic(look: Look, start: int, end: int) -> int:
    """``Basic`` and base64 of a user and a password."""
    text = look.text
    stop = look.end(_BASE64, end)
    if not look.apart(start - 1) or look.open(end, stop):
        return end
    value = text[end:stop]
    if len(value) >= _LEAST_BASIC and _user_and_password(value):
        look.add(end, stop, "BASIC_AUTH")
    return end


def auth(look: Look, _start: int, end: int) -> int:
    """``"auth": "..."`` of a Docker configuration, ``_auth=...`` of npm: base64 of a user and a password."""
    match = ASSIGN.match(look.text, end)
    if match is None:
        return end
    begin = match.end()
    quote = QUOTE.match(look.text, begin)
    begin = quote.end() if quote else begin
    stop = look.end(_BASE64, begin)
    if look.open(begin, stop):
        return stop
    value = look.text[begin:stop]
    if len(value) >= _LEAST_BASIC and _user_and_password(value):
        look.add(begin, stop, "BASIC_AUTH")
    return end


def cookie(look: Look, _start: int, end: int) -> int:
    """A header ``Cookie`` or ``Set-Cookie``: the values, not the names."""
    text = look.text
    match = _COOKIE.match(text, end)
    if match is None:
        return end
    first = place = match.end()
    most = place + LONGEST_COOKIE
    while place < most and (pair := _COOKIE_NAME.match(text, place)):
        stop = look.end(_COOKIE_VALUE, pair.end())
        if look.open(pair.end(), stop):
            return stop
        value = text[pair.end() : stop]
        if (
            pair[1].lower() not in _ATTRIBUTES
            and len(value) >= _LEAST_BASIC
            and not harmless(value)
            and (drawn(value) or len(value) >= _LEAST_COOKIE)
        ):
            look.add(pair.end(), stop, "COOKIE")
        place = stop
    return place if place - first >= LEAST_PAIR else end


def _user_and_password(value: bytes) -> bool:
    try:
        plain = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return (
        b":" in plain[1:] and _PRINTED.fullmatch(plain) is not None and not plain.startswith((b"http", b"{"))
    )


_PAIR = re.compile(rb"[ \t]{0,16}+[\"'][^\"'\r\n]{0,128}[\"'][ \t]{0,16}+,[ \t]{0,16}+(?:Some\()?(?=[\"'])")


def pair(look: Look, _start: int, end: int) -> int:
    """A user and a password, both in quotes: what programs give to functions for basic authorisation."""
    match = _PAIR.match(look.text, end)
    if match is None:
        return end
    begin = match.end() + 1
    stop = look.text.find(look.text[match.end() : begin], begin, look.line(begin))
    if look.open(begin, look.size if stop < 0 else stop + 1):
        return end
    value = look.text[begin:stop]
    if stop > 0 and judged(value, "password", quoted=True, literal=True):
        look.add(begin, stop, "PASSWORD")
    return end


_FIRST = re.compile(rb"[ \t]{0,16}+[\"'][^\"'\r\n]{0,256}[\"'][ \t]{0,16}+,")


def triple(look: Look, start: int, end: int) -> int:
    """The same behind something else: the place, in quotes."""
    match = _FIRST.match(look.text, end)
    return end if match is None else pair(look, start, match.end())


RULES: tuple[tuple[str, Rule], ...] = (
    ("auth=(", pair),
    ("BasicAuth(", pair),
    ("basic_auth(", pair),
    ("DigestAuth(", pair),
    ("NetworkCredential(", pair),
    ("PasswordCredentials(", pair),
    ("PasswordAuthentication(", pair),
    ("DirectoryEntry(", triple),
    ("PlainAuth(", triple),
    ("uthorization", authorization),
    ("UTHORIZATION", authorization),
    ("earer ", bearer),
    ("EARER ", bearer),
    ("earer%20", bearer),
    ("asic ", basic),
    ("_auth", auth),
    ('"auth"', auth),
    ("ookie", cookie),
    ("COOKIE", cookie),
)
