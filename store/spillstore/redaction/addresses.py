"""Addresses: a password, or a token alone, before the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.redaction.look import ALNUM
from spillstore.redaction.places import ANYTHING
from spillstore.redaction.tables import places
from spillstore.redaction.values import drawn, harmless
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look

_USER = re.compile(rb"[^\s:/@?#\"'<>`\\(){}\[\],;|\x00-\x20]{0,256}+")
_SECRET = re.compile(rb"[^\s/\"'<>`\x00-\x20]*+")
_SECRET_LONG = re.compile(rb"[^\s\"'<>`\x00-\x20]*+")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*\Z")
_MAIL = re.compile(rb"@[A-Za-z0-9-]{1,64}(?:\.[A-Za-z0-9-]{1,64}){1,8}:")
_MAILED = re.compile(rb"[^\s/@\"'<>`\x00-\x20]*+")
_SCHEME_END = frozenset(bytes([byte]) for byte in ALNUM)
_HOST_FIRST = re.compile(rb"\d{2,5}/|[^@]*/[^@:]*[?#]")
_LEAST_TOKEN = 16
_VARIABLE = re.compile(places.ADDRESS_VARIABLE.encode())
_DATABASES = tuple(places.DATABASES.encode().split())
_NOBODY = frozenset([b"", *places.NOBODY.encode().split()])  # of databases
_ANYBODY = _NOBODY - {b"uid"} | frozenset(places.ANYBODY.encode().split())


def url(look: Look, start: int, end: int) -> int:
    """``://`` stands here: a password, or a token alone, before the host."""
    text = look.text
    if text[start - 1 : start] not in _SCHEME_END:
        return end
    colon = look.end(_USER, end)
    following = text[colon : colon + 1]
    if following == b"@" and (mail := _MAIL.match(text, colon)):  # a user may be an address of mail
        stop = look.end(_MAILED, mail.end())
        if look.open(mail.end(), stop):
            return stop
        if text[stop : stop + 1] == b"@":
            return _password(look, start, end, mail.end() - 1)
    if following == b":":
        return _password(look, start, end, colon)
    if following != b"@":
        look.open(end, colon)
        return end
    if not look.open(end, colon + 1) and _token(text[end:colon]):
        look.add(end, colon, "TOKEN")
    return colon


def _token(user: bytes) -> bool:
    return len(user) >= _LEAST_TOKEN and drawn(user) and not harmless(user)


def _password(look: Look, scheme_end: int, begin: int, colon: int) -> int:
    """What stands between the colon behind a user and the last ``@`` before the host. A user that looks drawn is a token."""
    text = look.text
    user, start = text[begin:colon], colon + 1
    token = _token(user)
    scheme = _SCHEME.search(text, max(0, scheme_end - 24), scheme_end)
    database = scheme is not None and scheme[0].lower().startswith(_DATABASES)
    end = look.end(_SECRET_LONG if database else _SECRET, start)
    if look.open(begin if token else start, end):
        return end
    value = text[start:end]
    stop = value.rfind(b"@")
    if token and stop >= 0:
        look.add(begin, colon, "TOKEN")
    if database and b"/" in value[: max(stop, 0)] and _HOST_FIRST.match(value):
        stop = value.find(b"@")
        if b"/" in value[:stop]:
            return begin  # a port and a path
    value = value[: max(stop, 0)]
    nobody = user.partition(b"@")[0].lower() in (_NOBODY if database else _ANYBODY)
    if not value or (nobody and value.lower() in ANYTHING) or _VARIABLE.fullmatch(value):
        return begin
    look.add(start, start + len(value), "PASSWORD")
    return start + len(value)
