"""The URL that names a store on a server: read, checked, and shown without its secrets.

libpq's own form (PostgreSQL documentation, "Connection URIs"), with parameters of ours. It is read here and not by libpq
because ours must be taken out of it, because libpq's errors repeat passwords, and because a URL that holds a raw ``@``,
``/`` or ``?`` in its password is read by libpq as something else, in which a part of the password passes for a host.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, NoReturn
from urllib.parse import quote, unquote_to_bytes

from spillstore.exceptions import InvalidSettingError, UsageError
from spillstore.settings import parse_bool, parse_count

Citus = Literal["auto", "on", "off"]

_SCHEMES: Final = ("postgresql", "postgres", "postgresql+psycopg", "postgres+psycopg")
_FORM: Final = "postgresql://[USER@]HOST[:PORT]/DATABASE[?NAME=VALUE&...]"
_OURS: Final = ("citus", "citus_shards", "prepare", "connections")
_CITUS: Final[tuple[Citus, ...]] = ("auto", "on", "off")
_MOST_SHARDS: Final = 64_000  # of one table, says Citus (``citus.shard_count``)
_MOST_PORT: Final = 65_535
_SECRET: Final = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
# Of libpq 12 to 19. An older libpq refuses what it does not know when it connects.
_LIBPQ: Final = frozenset(
    {
        *("host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "servicefile"),
        *("connect_timeout", "client_encoding", "options", "application_name", "fallback_application_name"),
        *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"),
        *("sslmode", "sslnegotiation", "sslcompression", "sslcert", "sslkey", "sslkeylogfile", "sslpassword"),
        *("sslcertmode", "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "requirepeer", "require_auth"),
        *("min_protocol_version", "max_protocol_version"),
        *("ssl_min_protocol_version", "ssl_max_protocol_version"),
        *("channel_binding", "scram_client_key", "scram_server_key"),
        *("gssencmode", "krbsrvname", "gsslib", "gssdelegation"),
        *("oauth_issuer", "oauth_client_id", "oauth_client_secret", "oauth_scope"),
        *("replication", "target_session_attrs", "load_balance_hosts"),
    }
)
_AFTER_HOST: Final = re.compile(r"([^/?]*)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)
_HOST: Final = re.compile(r"(?:\[([^\[\]]+)\]|([^:\[\]]*))(?::(.*))?", re.DOTALL)
_NOT_ENCODED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})|%00|\0")
_PLAIN: Final = string.punctuation.translate(str.maketrans("", "", "\"'<>\\^`{|}"))


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """Where a server is and how it is used. Its ``repr`` holds no secret, and it is not pickled.

    Attributes:
        shown: the URL for messages and logs: ``***`` stands for the password and other secrets.
        without_credentials: the URL without them, for the environment of commands; the user's name stays.
        citus: whether tables are distributed: if the server has Citus (``auto``), always, or never.
        citus_shards: how many shards a distributed table gets when it is made.
        prepare: whether statements may be prepared.
        connections: how many connections a process may have at a time.
    """

    shown: str
    without_credentials: str
    citus: Citus = "auto"
    citus_shards: int = 32
    prepare: bool = True
    connections: int = 4
    _parameters: tuple[tuple[str, str], ...] = field(default=())

    @property
    def parameters(self) -> dict[str, str]:
        """What libpq gets, by its keywords, decoded. It holds the password."""
        return dict(self._parameters)

    @property
    def conninfo(self) -> str:
        """The same as one text, for ``psycopg.connect``."""
        quoted = ((name, value.replace("\\", "\\\\").replace("'", "\\'")) for name, value in self._parameters)
        return " ".join(f"{name}='{value}'" for name, value in quoted)

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise TypeError("an address may hold a password, so it is not pickled; hand on its URL")


def parse(url: str) -> Address:
    """Read the URL of a store on a server.

    Args:
        url: ``postgresql://[USER[:PASSWORD]@][HOST[:PORT],...][/DATABASE][?NAME=VALUE&...]``, each part percent-encoded;
            ``postgresql+psycopg://`` and ``postgres://`` mean the same. A NAME is a keyword of libpq, or ``citus``
            (``auto``, ``on``, ``off``), ``citus_shards`` (1 to 64,000, by default 32), ``prepare`` (``on``, ``off``) or
            ``connections`` (from 1, by default 4). The last of several with one name counts.

    Raises:
        UsageError: no such URL, or one of another database. Neither error repeats a password.
        InvalidSettingError: an unknown parameter, or a value that it cannot have.

    Example:
        >>> address = parse("postgresql://agent@db.example:6432/spill?sslmode=require&connections=2")
        >>> address.connections, address.conninfo
        (2, "user='agent' host='db.example' port='6432' dbname='spill' sslmode='require'")
    """
    scheme, user, password, hosts, path, query = _split(url)
    asked = _query(scheme, query)
    found: dict[str, str] = {}
    if user:
        found["user"] = _decoded(scheme, "user", user)
    if password:
        found["password"] = _decoded(scheme, "password", password)
    found |= _hosts(scheme, hosts)
    if path:
        found["dbname"] = _decoded(scheme, "database", path)
    found |= {each.name: each.value for each in asked if each.name not in _OURS}
    for port in found.get("port", "").split(","):
        _check_port(port)
    ours = {each.name: each.value for each in asked if each.name in _OURS}
    where = hosts if path is None else f"{hosts}/{path}"
    hidden = [each._replace(raw_value="***") if each.name in _SECRET else each for each in asked]
    public = [each for each in asked if each.name not in _SECRET]
    return Address(
        _url(scheme, f"{user}:***" if password else user, where, hidden),
        _url(scheme, user, where, public),
        _citus(ours.get("citus", "auto")),
        _count("citus_shards", ours.get("citus_shards", "32"), _MOST_SHARDS),
        parse_bool(_named("prepare"), ours.get("prepare", "on")),
        _count("connections", ours.get("connections", "4"), None),
        tuple(found.items()),
    )


def _split(url: str) -> tuple[str, str, str, str, str | None, str]:
    """Scheme, user, password, hosts, path and query, as they are written; the path is None if there is no ``/``."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise UsageError(f"a URL is given as text, with two slashes, and not as a path: {_FORM}")
    if scheme not in _SCHEMES:
        raise UsageError(_no_engine(scheme))
    before, at, after = rest.partition("@")
    if not at:
        before, after = "", rest
    # Where one of these stands raw, nobody can tell the password from the rest, so nothing but the scheme is shown.
    if "@" in after or "/" in before or "?" in before:
        raise _broken(
            scheme,
            "an @, / or ? in a user's name or password is written %40, %2F or %3F, and so is any other @",
        )
    user, _, password = before.partition(":")
    match = _AFTER_HOST.fullmatch(after)
    assert match is not None, "each text has this form"
    return scheme, user, password, match[1], match[2], match[3] or ""


def _no_engine(scheme: str) -> str:
    if scheme.startswith("sqlite") or scheme == "file":
        way_out = "sessions in SQLite files are named by the path of their folder alone"
    elif scheme.partition("+")[0] in _SCHEMES:
        way_out = "the driver is psycopg 3: postgresql://"
    else:
        way_out = f"a store is a folder or a database of PostgreSQL: {_FORM}"
    named = f"{scheme}://" if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]{0,31}", scheme) else "such a URL"
    return f"there is no engine for {named}; {way_out}"


def _broken(scheme: str, why: str) -> UsageError:
    return UsageError(f"the store's URL {scheme}://*** cannot be read: {why}; its form is {_FORM}")


def _decoded(scheme: str, what: str, text: str) -> str:
    """Take the percent-encoding off."""
    if _NOT_ENCODED.search(text):
        raise _broken(scheme, f"in the {what}, a % is not followed by two hexadecimal digits from 01 on")
    decoded = _utf8(unquote_to_bytes(text.encode("utf-8", "surrogatepass")))
    if decoded is None:
        raise _broken(scheme, f"the {what} is no UTF-8")
    return decoded


def _utf8(encoded: bytes) -> str | None:
    """The text, or None: the decoder's error holds all of it, and would stay in the context of what is raised."""
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        return None


def _hosts(scheme: str, hosts: str) -> dict[str, str]:
    """Hosts and ports, several with commas between them, as libpq takes them."""
    names, ports = [], []
    for each in hosts.split(","):
        match = _HOST.fullmatch(each)
        if match is None:
            raise _broken(scheme, "a host is HOST, HOST:PORT or [IPV6]:PORT")
        names.append(_decoded(scheme, "host", match[1] or match[2] or ""))
        ports.append(_decoded(scheme, "port", match[3] or ""))
        # Before an error may show it: what stands here may be the half of a password.
        if ports[-1] and not _is_port(ports[-1]):
            raise _broken(scheme, "a port is a number from 1 to 65535")
    found = {"host": ",".join(names), "port": ",".join(ports)}
    return {name: value for name, value in found.items() if value.strip(",")}


class _Parameter(NamedTuple):
    """One ``NAME=VALUE``, as it is written and decoded."""

    raw_name: str
    raw_value: str
    name: str
    value: str


def _query(scheme: str, query: str) -> list[_Parameter]:
    """The parameters, each of ours or of libpq."""
    found: list[_Parameter] = []
    for written in filter(None, query.split("&")):
        raw, equals, value = written.partition("=")
        name = _decoded(scheme, "parameters", raw)
        if (raw, value) == ("ssl", "true"):  # libpq takes this from JDBC's URLs
            raw = name = "sslmode"
            value = "require"
        if not equals or not (name in _OURS or name in _LIBPQ):
            secret = next((each.name for each in found if each.name in _SECRET), None)
            if secret is not None:  # what follows may be the rest of it
                raise _broken(
                    scheme, f"what follows {secret} is no parameter; an & in a value is written %26"
                )
            raise InvalidSettingError(
                _unknown(name) if equals else f"{_named(name)} has no value; write {name}=VALUE"
            )
        found.append(_Parameter(raw, value, name, _decoded(scheme, f"parameter {name}", value)))
    return found


def _named(name: str) -> str:
    return f"the store's URL: {name[:40]}"


def _unknown(name: str) -> str:
    import difflib  # noqa: PLC0415  # only for a mistake

    near = difflib.get_close_matches(name, sorted(_LIBPQ.union(_OURS)), 1)
    meant = f"did you mean {near[0]}? " if near else ""
    return (
        f"the store's URL has no parameter {name[:40]!r}; {meant}"
        f"There are {', '.join(_OURS)}, and the parameters of libpq, such as sslmode and passfile"
    )


def _is_port(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,5}", text) is not None and 1 <= int(text) <= _MOST_PORT


def _check_port(text: str) -> None:
    if text and not _is_port(text):
        raise InvalidSettingError(f"{_named('port')} must be a number from 1 to 65535, not {text[:40]!r}")


def _citus(text: str) -> Citus:
    for choice in _CITUS:
        if choice == text:
            return choice
    raise InvalidSettingError(f"{_named('citus')} must be auto, on or off, not {text[:40]!r}")


def _count(name: str, text: str, most: int | None) -> int:
    value = parse_count(_named(name), text)
    if value < 1 or (most is not None and value > most):
        raise InvalidSettingError(
            f"{_named(name)} must be {'at least 1' if most is None else f'from 1 to {most}'}, not {text[:40]!r}"
        )
    return value


def _url(scheme: str, user: str, where: str, parameters: list[_Parameter]) -> str:
    """A URL of such parts; blanks, control characters and what is no ASCII are percent-encoded."""
    query = "&".join(f"{each.raw_name}={each.raw_value}" for each in parameters)
    text = f"{scheme}://{user}{'@' if user else ''}{where}{'?' if query else ''}{query}"
    return quote(text, safe=_PLAIN)
