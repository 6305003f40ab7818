"""Secrets in addresses: a password before the host, a signature, what makes a webhook's address secret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore.redaction.look import ALNUM
from spillstore.redaction.values import drawn, harmless

if TYPE_CHECKING:
    from spillstore.redaction.look import Look, Rule

_USER = re.compile(rb"[^\s:/@?#\"'<>`\\(){}\[\],;|\x00-\x20]{0,256}+")
_SECRET = re.compile(rb"[^\s/\"'<>`\x00-\x20]*+")
_SECRET_LONG = re.compile(rb"[^\s\"'<>`\x00-\x20]*+")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*\Z")
_MAIL = re.compile(rb"@[A-Za-z0-9-]{1,64}(?:\.[A-Za-z0-9-]{1,64}){1,8}:")
_MAILED = re.compile(rb"[^\s/@\"'<>`\x00-\x20]*+")
_SCHEME_END = frozenset(bytes([byte]) for byte in ALNUM)
_DATABASES = tuple(
    b"postgres mysql mariadb mongo redis amqp mssql sqlserver oracle jdbc clickhouse cockroach couchbase cassandra neo4j bolt "
    b"ldap smtp db2 snowflake influx kafka nats mqtt valkey memcache elasticsearch pgsql psql".split()
)
_HOST_FIRST = re.compile(rb"\d{2,5}/|[^@]*/[^@:]*[?#]")
_LEAST_TOKEN = 16
_LEAST_SIGNATURE = 20
_VARIABLE_URL = re.compile(
    rb"\$\{?[\w.:-]*\}?|\{\{?[^{}]*\}?\}|%\w*%|%[sd]|<[^<>]*>?|[*x.]+|\[REDACTED.*|(?i:redacted|hidden|secret|x-oauth-basic|x|masked|\*+)|:+|\\.*|\$\(.*|\{.*"
)
_ANYBODY = frozenset(b"user username name login foo usr u me root admin userid user1 test john".split())
ANYTHING = frozenset(b"pass password passwd pw pwd secret bar p passwort pass1".split())
_NOBODY = frozenset(b"user username name login usr u me uid".split())
_ORACLE = re.compile(rb"jdbc:oracle:\w+:[\w$#]{1,64}+/")
_SIGNATURE = re.compile(rb"[A-Za-z0-9%+/=_-]*+")
_WEBHOOK = re.compile(
    rb"(?:T[A-Za-z0-9_]{6,}/B[A-Za-z0-9_]{6,}/[A-Za-z0-9_]{12,}|[A-Z0-9]{8,}/[A-Z0-9]{8,}/[A-Za-z0-9]{16,}|(?P<plain>)[a-z0-9]{26}(?![\w.-])|(?P<with>\w{1,64}/(?:json/)?with/key/)[A-Za-z0-9_-]{16,}|(?P<public>\d{15,}/)[A-Za-z0-9_-]{50,}|(?P<catch>\d{4,}/)[A-Za-z0-9]{6,}|[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{20,}(?:/[0-9a-f-]{36})?)"
)


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
    if following == b"@":
        value = text[end:colon]
        if (
            not look.open(end, colon + 1)
            and len(value) >= _LEAST_TOKEN
            and not harmless(value)
            and drawn(value)
        ):
            look.add(end, colon, "TOKEN")
        return colon
    if following == b":":
        return _password(look, start, end, colon)
    look.open(end, colon)
    return end


def _password(look: Look, scheme_end: int, begin: int, colon: int) -> int:
    """What stands between the colon behind a user and the last ``@`` before the host. A user that looks drawn is a token."""
    text = look.text
    user, start = text[begin:colon], colon + 1
    token = len(user) >= _LEAST_TOKEN and drawn(user) and not harmless(user)
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
    nobody = (
        user.partition(b"@")[0].lower() in (_NOBODY if database else _ANYBODY) and value.lower() in ANYTHING
    )
    if not value or nobody or _VARIABLE_URL.fullmatch(value):
        return begin
    look.add(start, start + len(value), "PASSWORD")
    return start + len(value)


def signature(look: Look, _start: int, end: int) -> int:
    """The signature of a signed URL."""
    text = look.text
    stop = look.end(_SIGNATURE, end)
    if look.open(end, stop):
        return stop
    if stop - end < _LEAST_SIGNATURE:
        return end
    if drawn(text[end:stop]):
        look.add(end, stop, "SIGNATURE")
    return stop


def webhook(look: Look, _start: int, end: int) -> int:
    """The secret part of a webhook's address."""
    text = look.text
    stop = look.run(end)
    if look.open(end, stop):
        return stop
    if match := _WEBHOOK.match(text, end):
        begin = max(end, *(match.end(name) for name in ("public", "catch", "with", "plain")))
        look.add(begin, match.end(), "WEBHOOK_URL")
        return match.end()
    return end


def oracle(look: Look, start: int, _end: int) -> int:
    """``jdbc:oracle:thin:user/password@``."""
    match = _ORACLE.match(look.text, start)
    if match is None:
        return start
    stop = _SECRET.match(look.text, match.end()).end()  # type: ignore[union-attr]  # it matches everywhere
    if look.open(match.end(), stop):
        return stop
    value = look.text[match.end() : stop].partition(b"@")
    if value[1] and not harmless(value[0]):
        look.add(match.end(), match.end() + len(value[0]), "PASSWORD")
    return stop


_NEO4J = re.compile(rb"[\"']?[ \t]*[=:][ \t]*[\"']?\w+/")


def neo4j(look: Look, _start: int, end: int) -> int:
    """``NEO4J_AUTH=user/password``."""
    match = _NEO4J.match(look.text, end)
    if match is None:
        return end
    stop = look.word(match.end())
    if not look.open(match.end(), stop) and not harmless(look.text[match.end() : stop]):
        look.add(match.end(), stop, "PASSWORD")
    return stop


_USER_AND_PASSWORD = re.compile(rb"[^/:]++:[^/:]++")
_BUNDLE = re.compile(rb"[A-Z0-9_]{1,128}__[A-Z]{2,16}[\"']?[ \t]*[=:][ \t]*[\"']?(?=[^\s\"'$])")


def bundle(look: Look, _start: int, end: int) -> int:
    """``BUNDLE_GEMS__EXAMPLE__COM=user:password``, what Ruby's Bundler sends to a host."""
    match = _BUNDLE.match(look.text, end)
    if match is None:
        return end
    stop = look.word(match.end())
    if look.open(match.end(), stop):
        return stop
    value = look.text[match.end() : stop]
    if _USER_AND_PASSWORD.fullmatch(value) and not harmless(value):
        look.add(match.end(), stop, "PASSWORD")
    return stop


def joined(look: Look, _start: int, end: int) -> int:
    """The second half of a token by which a node joins a k3s cluster."""
    stop = look.run(end)
    if not look.open(end, stop) and stop - end >= _LEAST_TOKEN and drawn(look.text[end:stop]):
        look.add(end, stop, "TOKEN")
    return stop


RULES: tuple[tuple[str, Rule], ...] = (
    ("://", url),
    ("hooks.slack.com/services/", webhook),
    ("hooks.slack.com/workflows/", webhook),
    ("hooks.slack.com/triggers/", webhook),
    ("/api/webhooks/", webhook),
    (".webhook.office.com/webhookb2/", webhook),
    ("hooks.zapier.com/hooks/catch/", webhook),
    ("/hooks/", webhook),
    ("NEO4J_AUTH", neo4j),
    ("BUNDLE_", bundle),
    ("::server:", joined),
    ("maker.ifttt.com/trigger/", webhook),
    ("jdbc:oracle:", oracle),
)
# One may hold other secrets, but not another of its own.
SIGNATURE_RULES: tuple[tuple[str, Rule], ...] = (
    ("ignature=", signature),
    ("&sig=", signature),
    ("?sig=", signature),
)
