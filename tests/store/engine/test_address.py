"""The URL of a server: what is read from it, what it must not be, and that no secret of it is ever shown."""

from __future__ import annotations

import copy
import pickle
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import each_of, examples

from spillstore.engine.postgres.address import parse
from spillstore.exceptions import InvalidSettingError, UsageError


def url_of(user="agent", password="", behind="db.example/spill", scheme="postgresql"):
    """A URL; one with a password is put together here, so that none is written down."""
    return f"{scheme}://{user}{':' if password else ''}{password}{'@' if user or password else ''}{behind}"


@each_of(
    "url, parameters",
    [
        ("postgresql://", {}),
        ("postgresql:///spill", {"dbname": "spill"}),
        ("postgres://h/d", {"host": "h", "dbname": "d"}),
        ("postgresql+psycopg://h:6432", {"host": "h", "port": "6432"}),
        ("postgresql://u@h/d", {"user": "u", "host": "h", "dbname": "d"}),
        ("postgresql://h?sslmode=require", {"host": "h", "sslmode": "require"}),
        ("postgresql://[::1]:5433/d", {"host": "::1", "port": "5433", "dbname": "d"}),
        ("postgresql://[fe80::1%25eth0]/d", {"host": "fe80::1%eth0", "dbname": "d"}),
        ("postgresql://a,b:2,[::1]/d", {"host": "a,b,::1", "port": ",2,", "dbname": "d"}),
        ("postgresql://:5433/d", {"port": "5433", "dbname": "d"}),
        ("postgresql:///d?host=/tmp/x", {"dbname": "d", "host": "/tmp/x"}),
        ("postgresql://%2Ftmp%2Fx/d", {"host": "/tmp/x", "dbname": "d"}),
        ("postgresql://?service=spill&passfile=/run/pw", {"service": "spill", "passfile": "/run/pw"}),
        ("postgresql://u@h/d?user=v&user=w&port=1", {"user": "w", "host": "h", "dbname": "d", "port": "1"}),
        ("postgresql://me%40corp@h/a%20b%2Fc", {"user": "me@corp", "host": "h", "dbname": "a b/c"}),
        ("postgresql://h/d?options=-c%20x%3Dy&", {"host": "h", "dbname": "d", "options": "-c x=y"}),
        ("postgresql://h/d?ssl=true", {"host": "h", "dbname": "d", "sslmode": "require"}),
        ("postgresql://u:@h", {"user": "u", "host": "h"}),
        ("postgresql://h/d?ssl%6Dode=disable", {"host": "h", "dbname": "d", "sslmode": "disable"}),
        ("postgresql://h/ä", {"host": "h", "dbname": "ä"}),
    ],
)
def test_what_libpq_gets(url, parameters):
    """Each part, decoded; the last of several with one name counts, and an empty password is none."""
    assert parameters == parse(url).parameters


def test_libpq_reads_the_same():
    """The library reads the URL, and what we make of it, alike; parameters of ours are not among them."""
    conninfo = pytest.importorskip("psycopg.conninfo")
    for url in (
        *("postgresql://a,b:2,[::1]/d", "postgresql://u@h/d?user=v&port=1", "postgresql://?service=s"),
        *("postgresql:///d?host=/tmp/x", "postgresql://%2Ftmp%2Fx/d", "postgresql://h/d?ssl=true"),
        url_of(password="p%27%5C%20x", behind="h/a%20b"),
    ):
        found = parse(f"{url}{'&' if '?' in url else '?'}connections=2&citus=off&citus_shards=8&prepare=off")
        assert conninfo.conninfo_to_dict(url) == found.parameters
        assert conninfo.conninfo_to_dict(found.conninfo) == found.parameters


def test_every_parameter_of_this_libpq_is_known():
    """A newer libpq may have more, and then they are added here."""
    pq = pytest.importorskip("psycopg.pq")
    for option in pq.Conninfo.get_defaults():
        name = option.keyword.decode()
        assert {name: "1"} == parse(f"postgresql://?{name}=1").parameters


def test_the_parameters_of_ours():
    """They are taken out of what libpq gets, and stay in the URL."""
    plain = parse("postgresql://h/d")
    assert ("auto", 32, True, 4) == (plain.citus, plain.citus_shards, plain.prepare, plain.connections)
    url = "postgresql://h/d?citus=on&citus_shards=64000&prepare=off&connections=1&sslmode=require"
    found = parse(url)
    assert ("on", 64000, False, 1) == (found.citus, found.citus_shards, found.prepare, found.connections)
    assert {"host": "h", "dbname": "d", "sslmode": "require"} == found.parameters
    assert (url, url) == (found.shown, found.without_credentials)


@each_of(
    "query, message",
    [
        ("conections=4", "did you mean connections"),
        ("Sslmode=require", "did you mean sslmode"),
        ("ssl=1", "no parameter 'ssl'"),
        ("sslmode", "sslmode has no value; write sslmode=VALUE"),
        ("citus=maybe", "citus must be auto, on or off, not 'maybe'"),
        ("citus_shards=0", "citus_shards must be from 1 to 64000, not '0'"),
        ("citus_shards=64001", "from 1 to 64000"),
        ("citus_shards=-1", "must be a whole number"),
        (f"citus_shards={'9' * 5000}", "must be a whole number"),
        ("prepare=perhaps", "prepare must be true or false"),
        ("connections=0", "connections must be at least 1"),
        ("connections=", "must be a whole number"),
        ("port=70000", "port must be a number from 1 to 65535, not '70000'"),
        ("port=1,x", "port must be a number"),
    ],
)
def test_a_wrong_parameter_is_named(query, message):
    """With what it may be, and in a few words."""
    with pytest.raises(InvalidSettingError) as caught:
        parse(f"postgresql://h/d?{query}")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


@each_of(
    "url, message",
    [
        ("mysql://h/d", "no engine for mysql://; a store is a folder or a database of PostgreSQL"),
        ("postgresql+asyncpg://h/d", "no engine for postgresql+asyncpg://; the driver is psycopg 3"),
        ("sqlite:///spill.db", "named by the path of their folder"),
        ("file:///tmp", "named by the path of their folder"),
        ("POSTGRESQL://h/d", "no engine for POSTGRESQL://"),
        ("://h", "no engine for such a URL"),
        ("x y://h", "no engine for such a URL"),
        ("postgresql:/h/d", "with two slashes"),
        ("postgresql://h:x/d", "a port is a number"),
        ("postgresql://h:99999/d", "a port is a number"),
        ("postgresql://[::1/d", "[IPV6]"),
        ("postgresql://[::1]x/d", "[IPV6]"),
        ("postgresql://h/d%", "two hexadecimal digits"),
        ("postgresql://h/d%00", "two hexadecimal digits"),
        ("postgresql://h/d\0", "two hexadecimal digits"),
        ("postgresql://h/%ff", "no UTF-8"),
        ("postgresql://h/\udcff", "no UTF-8"),
        ("postgresql://h/\ud800", "no UTF-8"),
        ("postgresql://h/d?user=a@b", "%40"),
    ],
)
def test_what_is_no_such_url(url, message):
    """It is refused with the reason and the form that is read."""
    with pytest.raises(UsageError) as caught:
        parse(url)
    assert message in str(caught.value)


def test_what_is_shown():
    """The user stays, and each secret is three stars; what is handed on has none of them, and leads to the same place."""
    secret = "x" * 9
    url = url_of(
        password=secret, behind=f"h,[::1]:5/d?sslpassword={secret}&sslmode=require&pass%77ord={secret}"
    )
    found = parse(url)
    assert "postgresql://agent:***@h,[::1]:5/d?sslpassword=***&sslmode=require&pass%77ord=***" == found.shown
    assert "postgresql://agent@h,[::1]:5/d?sslmode=require" == found.without_credentials
    assert f"Address({found.shown!r})" == repr(found) == str(found)
    public = {
        name: value for name, value in found.parameters.items() if name not in {"password", "sslpassword"}
    }
    assert public == parse(found.without_credentials).parameters
    assert parse(found.without_credentials).shown == found.without_credentials


def test_what_is_shown_is_one_line():
    """Blanks, line ends and what is no ASCII are percent-encoded, and mean the same."""
    found = parse("postgresql://h/a b\nc\x1b[1mä?application_name=x y")
    assert "postgresql://h/a%20b%0Ac%1B[1m%C3%A4?application_name=x%20y" == found.shown
    assert found.parameters == parse(found.shown).parameters


def test_an_address_is_not_pickled():
    """Nor copied: its bytes would hold the password."""
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="hand on its URL"):
            take(parse("postgresql://h/d"))


def test_equal_addresses():
    """Two of one URL are equal and can be keys; another password is another address."""
    one, same, other = (parse(url_of(password=word)) for word in ("a" * 8, "a" * 8, "b" * 8))
    assert one == same != other
    assert {one: 1} == {same: 1}


# Each begins with a mark that stands nowhere else, so that finding a part of it is finding it.
MARK = "Zq7"
passwords = st.builds(lambda text: f"{MARK}{text}{MARK}", st.text(max_size=12))
words = st.text(st.characters(codec="utf-8", exclude_characters="Zq7\0"), max_size=8)
SECRETS = ["password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"]


def told(url):
    """All that anybody is told of a URL, whether it can be read or not."""
    try:
        found = parse(url)
    except UsageError as error:
        return repr((error, str(error), error.__cause__, error.__context__)), None
    return "\n".join((repr(found), str(found), f"{found!r}", found.shown, found.without_credentials)), found


@given(passwords, words, words, st.sampled_from(["h", "h:5", "[::1]", "a,b:2", ""]), st.sampled_from(SECRETS))
@examples(150)
def test_no_secret_of_a_url_is_shown(password, user, name, host, parameter):
    """Where it is encoded as it must be: the rest is there, and the password only in what libpq gets."""
    assume("\0" not in password)
    hidden = quote(password, safe="")
    user, name = quote(user, safe=""), quote(name, safe="")
    url = url_of(user, hidden, f"{host}/{name}?application_name={name}&{parameter}={hidden}")
    text, found = told(url)
    assert found is not None
    assert MARK not in text
    assert password == found.parameters["password"] == found.parameters[parameter]
    assert user in found.shown
    assert password not in parse(found.without_credentials).parameters.values()


@given(
    passwords,
    words,
    st.sampled_from(["h/d", "h:x/d", "h/d?nothing=1", "h/d?citus=no", "h/d?a@b", "[::1/d", "/"]),
)
@examples(100)
def test_no_secret_of_a_broken_url_is_shown(password, user, behind):
    """Where it is written raw, whatever it holds, with a URL that is right or wrong elsewhere: never a part of it."""
    for url in (
        url_of(quote(user, safe=""), password, behind),
        url_of(user, password, behind),
        url_of(user, password, behind, scheme="postgresql+asyncpg"),
        url_of(user, password, behind, scheme="mysql"),
        url_of("", "", f"{behind}{'&' if '?' in behind else '?'}password={password}"),
        url_of("", "", f"h/d?sslpassword={password}&{behind}"),
        url_of("", "", f"h/d?password={password}%&citus=2"),
    ):
        assert MARK not in told(url)[0]


@each_of(
    "url",
    [
        url_of("u", f"{MARK}@{MARK}"),
        url_of("u", f"12/{MARK}"),
        url_of("u", f"12?{MARK}"),
        url_of("u", f"{MARK}/3"),
        url_of("u", f"{MARK}#3/"),
        url_of("u", f"{MARK}%"),
        url_of("u", f"{MARK}%ff"),
        url_of("u", f"{MARK}\ud800"),
        url_of("", "", f"u:{MARK}"),
        url_of("", "", f"h?password={MARK}&{MARK}=1"),
        url_of("", "", f"h?password={MARK}&{MARK}"),
        url_of("", "", f"h?password={MARK}@h"),
        url_of("", "", f"h?password={MARK}%"),
    ],
)
def test_passwords_that_break_a_url(url):
    """No part of one passes for a host, a port, a database or a parameter, in the error or in its context."""
    with pytest.raises(UsageError) as caught:
        parse(url)
    assert MARK not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@each_of("port, is_one", [("1", True), ("65535", True), ("0", False), ("65536", False), ("99999", False), ("123456", False), ("x", False), ("00001", True)])  # fmt: skip
def test_a_port_is_a_number_from_1_to_65535(port, is_one):
    """Both ends of the range are ports; others are named with the range."""
    for url in (f"postgresql://u@h:{port}/d", f"postgresql://u@/d?host=h&port={port}"):
        if is_one:
            assert port in parse(url).shown or int(port) == 1
        else:
            with pytest.raises((InvalidSettingError, UsageError), match=r"port|number"):
                parse(url)


def test_a_count_is_at_least_one():
    """One is, none is not."""
    assert 1 == parse("postgresql://u@h/d?connections=1").connections
    with pytest.raises(InvalidSettingError, match=r"at least 1, not '0'"):
        parse("postgresql://u@h/d?connections=0")
