"""The same result however a stream is cut, what a trickle shows at once, memory and time on hostile input."""

from __future__ import annotations

import random
import re
import threading
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secrets_made import Maker
from streams import cut, fed, in_bytes
from support import STEP, dice, each_of, examples, not_for_ever, places_to_cut

from spillstore.redaction import Pattern, RedactionRules, Redactor, redact, scan, stream
from spillstore.redaction.look import CONTEXT
from spillstore.redaction.stream import WINDOW
from spillstore.redaction.tokens import LONGEST
from spillstore.runtime import workers

OWN = RedactionRules(
    patterns=(
        Pattern(name="badge", pattern=r"\bbadge-[0-9]{6}\b"),
        Pattern(
            name="order",
            pattern=r"(?i)order\s{0,3}[:=]\s{0,3}([a-z]{4,8}\d?)(?:\s|$)",
            group=1,
            keywords=("order",),
        ),
    )
)


def _texts(seed):
    maker = Maker(seed)
    tokens = maker.tokens()
    texts = [text for _, text in maker.within() + maker.elsewhere()]
    maker.random.shuffle(texts)
    texts = texts[:60] + [f"x {token} y" for token in tokens.values()]
    texts += [
        maker.pem(lines=3)[1],
        "k = '" + maker.pem(lines=2)[1].replace("\n", "\\n") + "'",
        "badge-123456 order: abcd1 x",
    ]
    texts += [
        f"\x1b[1m{tokens['github'][:9]}\x1b[0m{tokens['github'][9:]}\x1b[32m \x1b[m",
        "10%\r20%\rpassword: hunter2\r\n",
    ]
    return texts


def test_pieces_are_what_feed_returns():
    """In more than one, of at least a window, and no copy where nothing is taken out; a secret among them is replaced, wherever it stands."""
    lines = [b"an ordinary line of a log, number %d\n" % number for number in range(40_000)]
    token = b"x " + Maker(0).tokens()["github"].encode() + b" y\n"
    for data in (b"".join(lines), b"".join((*lines[:9999], token, *lines[9999:]))):
        pieces = Redactor().pieces(data)
        assert b"".join(pieces) == Redactor().feed(data)
        assert len(data) / len(pieces) > WINDOW
        views = [piece for piece in pieces if isinstance(piece, memoryview)]
        assert all(view.obj is data for view in views)
        assert sum(map(len, views)) > len(data) // 2
        assert (b"".join(pieces) == data) is (token not in data)


@pytest.mark.long
@pytest.mark.parametrize("rules", [None, OWN], ids=["built in", "own"])
@pytest.mark.parametrize(
    ("seed", "every"),
    [
        (0, 4),
        pytest.param(1, 4, marks=pytest.mark.slow),
        *(pytest.param(seed, 1, marks=[pytest.mark.slow, pytest.mark.repeat]) for seed in range(2)),
    ],
)
def test_every_split(seed, every, rules):
    """Cut in two anywhere, or into single bytes, a text gives the same bytes and the same counts."""
    for text in _texts(seed)[::every]:
        for data in (text.encode(), f"a b\n{text}\nc\n".encode(), f'say "{text}", done\r\n'.encode()):
            expected = fed([data], rules)
            assert fed(in_bytes(data), rules) == expected
            for at in places_to_cut(len(data), len(text)):
                assert fed(cut(data, [at]), rules) == expected, (at, data)


@given(st.randoms(use_true_random=False), st.integers(0, 3))
@examples(150)
def test_splits_of_mixed_texts(rng, seed):
    """So do several secrets in one line or many, with bytes changed at random, cut at random."""
    data = bytearray(
        rng.choice((b" ", b"\n", b", ", b"\r")).join(text.encode() for text in rng.sample(_texts(seed), 4))
    )
    for _ in range(rng.randrange(4)):
        data[rng.randrange(len(data))] = rng.choice(b" \"'\\=:\n\r\x1b&;,x<>@/-")
    whole = bytes(data)
    expected = fed([whole], OWN)
    assert fed(cut(whole, [rng.randrange(len(whole)) for _ in range(rng.randrange(1, 12))]), OWN) == expected
    assert (expected[0].count(b"\n"), expected[0].count(b"\r")) == (whole.count(b"\n"), whole.count(b"\r"))


@pytest.mark.parametrize("filler", [b"x", b"ab ", b"0123456789abcdef", b'{"k":1},'])
def test_secrets_at_the_borders_of_a_long_line(filler):
    """A secret is found at every place relative to the windows that a long line is looked at in, whatever the writes."""
    secret = ("ghp_" + Maker(7).of(36)).encode()
    rng = random.Random(1)
    shifts = (*range(-60, 4, 3), *range(-3610, -3520, 40), *range(-2610, -2500, 40), -CONTEXT, CONTEXT)
    for border in (WINDOW, 2 * WINDOW):
        for shift in shifts[len(filler) % STEP :: STEP]:
            before = (filler * (3 * WINDOW))[: border + shift] + b" "
            data = before + b"password=" + secret + b" token: " + secret + b" " + filler * 3000 + b"\nend\n"
            expected = fed([data])
            assert secret not in expected[0]
            assert expected[0].startswith(before)
            assert expected[0].endswith(filler * 3000 + b"\nend\n")
            places = [rng.randrange(len(data)) for _ in range(6)]
            assert fed(cut(data, places)) == expected
            assert fed(cut(data, range(1000, len(data), 9973))) == expected


def test_a_secret_longer_than_a_window():
    """What may be a secret and is longer than can be followed is taken out to its end; the line goes on behind it."""
    value = b"a1B2" * WINDOW
    data = b"password=" + value + b" next=1 password=hunter2\nend\n"
    expected = b"password=[REDACTED: SECRET] next=1 password=[REDACTED: PASSWORD]\nend\n"
    assert fed([data])[0] == expected
    assert fed(cut(data, range(0, len(data), 12345)))[0] == expected


@pytest.mark.parametrize("text", [b"", b"x", b"word " * 3])
def test_a_long_line_of_colours_stays(text):
    """Windows of which little or nothing is left without the colours hide nothing of what is behind them."""
    data = (b"\x1b[31m" + text + b"\x1b[0m") * (5 * WINDOW // (9 + len(text))) + b"seen"
    assert fed([data]) == (data, {})
    assert fed(cut(data + b"\n", range(0, len(data), 12345))) == (data + b"\n", {})


def test_a_long_line_without_secrets_stays():
    """Base64 and minified text of megabytes in one line come out as they went in."""
    rng = random.Random(2)
    data = b"".join(
        rng.choice((b"function(a){return a.key}", b"var t=e.token,", b"QUJD" * 50, b"x=1;"))
        for _ in range(60_000)
    )
    assert fed([data])[0] == data
    assert fed(cut(data, range(0, len(data), 65_521)))[0] == data


@each_of(
    "text, shown",
    [
        (b"Enter your name: ", b"Enter your name: "),
        (b"Enter password: ", b"Enter password: "),
        (b"Continue? [y/N]", b"Continue? [y/N]"),
        (b".....F...", b".....F..."),
        (b"Progress: 50%", b"Progress: 50%"),
        (b"Downloading", b"Downloading"),
        (b"ok 1\nok 2\nrunning 3 ", b"ok 1\nok 2\nrunning 3 "),
        (b"password=hunter2 Continue? ", b"password=[REDACTED: PASSWORD] Continue? "),
        (b"password=hun", b"password="),
        (b"https://me:hun", b"https://me:"),
        (b"token ghp_12", b"token "),
        (b"badge-12", b""),
        (b"order = abc", b""),
        (b"orders came in ", b"orders came in "),
    ],
)
def test_what_a_trickle_shows(text, shown):
    """Text that can neither begin nor continue a secret is given out with the write that brings it."""
    assert Redactor(OWN).feed(text) == shown


def test_nothing_waits_for_more_than_it_must():
    """What was held is given out as soon as the bytes say that it is no secret."""
    redactor = Redactor()
    assert redactor.feed(b"see gh") == b"see "
    assert redactor.feed(b"osts ") == b"ghosts "
    assert redactor.feed(b"password: ") == b"password: "
    assert redactor.feed(b"st") == b""
    assert redactor.feed(b"r\n") == b"str\n"


def test_memory_is_bounded():
    """A line of 32 MiB, of a kind that is held back, takes memory of a few windows."""
    redactor = Redactor()
    piece = b"password=a1b2c3d4" * 4096
    Redactor().feed(piece)  # rules are compiled once, when they are first asked
    tracemalloc.start()
    for _ in range(480):
        redactor.feed(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * WINDOW


HOSTILE = {
    "assignments": b"password=",
    "assignments apart": b"password=a1b2 ",
    "names": b"password: secret: token: key: auth:\n",
    "weak names": b"key=",
    "words that look drawn": b"token a1b2c3d4e5f6a7b8 ",
    "words in one piece": b"token " + b"a1" * 1500 + b"! ",
    "addresses in base64": b"cG9zdGdyZX",
    "names in prose": b"the secret is was token: ",
    "prompts": b'> secret\n=> "',
    "tokens": b"eyJ",
    "tokens apart": b"ghp_ ",
    "markers": b"-----BEGIN",
    "keys": b"-----BEGIN RSA PRIVATE KEY-----",
    "keys in lines": b"-----BEGIN RSA PRIVATE KEY-----\n",
    "quotes": b'password="',
    "escaped quotes": b'token=\\"',
    "backslashes": b"password=\\",
    "addresses": b"://a:",
    "commands": b"curl -u ",
    "options": b"--user -u ",
    "cookies": b"Cookie: a=",
    "headers": b"Authorization: ",
    "colours": b"\x1b[31m",
    "half colours": b"password=\x1b[3",
    "blanks": b"password" + b" " * 60,
    "elements": b"<password>",
    "files of passwords": b"a:5432:",
    "words in a value": b"password=" + b"password" * 3000 + b"!\n",
    "names in a value": b"secret='" + b"token.key." * 2400 + b"!'\n",
    "masks": b"password=" + b"#" * 20_000 + b"a ",
    "names with dots": b"token=" + b"a1b2c3d4e5f6g7h8i9j0." * 1000 + b"\n",
    "spoken": b"password is ",
    "defaults": b'getenv("token", "',
    "values of variables": b'password || "',
    "users of mail": b"://a@b.c:x",
    "names above values": b"token = \\\n",
    "ends": b"a\r",
    "words and dots": b"key=" + b"a." * 2000 + b"1!\n",
}


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name):
    """Of four times as much of a text made to be slow four times as many bytes are looked at, and each in bounded time."""
    unit = HOSTILE[name]

    def looked_at(size):
        redactor = Redactor()
        data = unit * (size // len(unit))
        for at in range(0, len(data), 4096):
            redactor.feed(data[at : at + 4096])
        redactor.finish()
        return redactor.looked_at

    small, large = looked_at(33_000), looked_at(132_000)
    assert large < 6 * small


def _log(rng):
    return b"".join(b"line %d of a log\n" % number for number in range(rng.randrange(200, 4000)))


def _words(rng, size):
    return b" ".join(b"%x" % rng.randrange(16**6) for _ in range(size // 6))[:size]


@pytest.mark.parametrize(
    "seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 20))]
)
def test_secrets_behind_long_lines(seed):
    """After a line that was looked at in steps, lines are lines again: keys, cookies and names in them, however it is cut."""
    rng = dice(seed)
    maker = Maker(seed)
    body, key = maker.pem("RSA PRIVATE KEY", 40)
    cookies = [maker.of(30) for _ in range(60)]
    cookie = "Cookie: " + "; ".join(f"c{number}={value}" for number, value in enumerate(cookies)) + "\n"
    behind = _words(rng, rng.choice((1, 2, 3)) * WINDOW - rng.randrange(4000))
    text = b"".join(
        (
            _log(rng),
            behind,
            rng.choice((b" ", b"\n")),
            cookie.encode(),
            _words(rng, rng.randrange(65_000, 150_000)),
            b"\n",
            key.encode(),
            _log(rng),
        )
    )
    whole, counts = fed([text])
    assert [value for value in (*body, *cookies) if value.encode() in whole] == []
    for step in (WINDOW, rng.randrange(3000, 70_000), 701):
        assert (whole, counts) == fed([text[at : at + step] for at in range(0, len(text), step)])


@pytest.mark.long
def test_a_trickle_of_names_shows():
    """Names without values are let go as they come, and looked at again near their end alone."""
    redactor = Redactor()
    data = b"password " * 1000
    shown = sum(len(redactor.feed(data[at : at + 9])) for at in range(0, len(data), 9))
    assert shown > len(data) - 1000
    assert redactor.looked_at < 600 * len(data)


def test_own_patterns_are_linear():
    """A pattern that backtracking engines hang on takes no longer than another."""
    rules = RedactionRules(
        patterns=(Pattern(name="slow", pattern=r"(a+)+b\d"), Pattern(name="wide", pattern=r"(x.{0,200}){2}y"))
    )
    data = b"a" * 40_000 + b"\n" + b"x" * 40_000 + b"\n"
    with not_for_ever():
        assert fed([data], rules)[0] == data


def test_an_own_pattern_that_never_ends_is_cut_at_the_window():
    """A pattern that a whole long line may match takes it out rather than let it go."""
    rules = RedactionRules(patterns=(Pattern(name="all", pattern=r"begin.*end"),))
    data = b"begin" + b"x" * (2 * WINDOW) + b" tail\nnext\n"
    expected = b"[REDACTED: SECRET] tail\nnext\n"
    assert fed([data], rules)[0] == expected
    assert fed(cut(data, range(0, len(data), 7777)), rules)[0] == expected


def test_one_shot_and_stream_agree():
    """``redact`` is a stream of one write."""
    text = "\n".join(_texts(3))
    assert redact(text).encode() == fed([text.encode()])[0]


@pytest.mark.parametrize("before", [b"", b"log\n", b"line of a log\n" * 300])
def test_where_a_name_is_too_far_from_its_line_s_beginning(before):
    """How far that may be depends on the line alone, whatever stands before it and however it is cut."""
    found = []
    for size in range(230, 262):
        text = before + b"x" * size + b' name: API_TOKEN\n  value: "Zq83kdXp7a2m"\n'
        results = {fed([text])[0], fed([text[at : at + 97] for at in range(0, len(text), 97)])[0]}
        assert len(results) == 1
        found.append(b"Zq83" not in results.pop())
    assert found == [True] * sum(found) + [False] * (len(found) - sum(found))
    assert 20 == sum(found)


def test_parts_of_many_lines_give_the_same(monkeypatch):
    """With workers, which search all parts but the first of what comes at once, and in small pieces, where none does. Lines of several parts at once: secrets, a key over the border of two parts, a promise to the next line, colours."""
    maker = Maker(31)
    lines = [text for text in _texts(31) if "\n" not in text]
    pem = maker.pem(lines=40)[1]
    filler = "".join(f"{place:07} {line}\n" for place, line in enumerate(lines * 12)) + "password:\n"
    size = 2 * WINDOW - 700
    data = "".join(filler[:size] + "\n" + pem + "\npassword:\n  - hunter22\n" for _ in range(9)).encode()
    assert len(data) > 16 * WINDOW
    begun = threading.Event()
    workers.submit(begun.set)
    assert begun.wait(60)
    ahead = []

    def search(data, low, high):
        ahead.append(threading.get_ident())
        return scan.search(data, low, high)

    monkeypatch.setattr(stream, "search", search)
    expected = fed([data[place : place + 4096] for place in range(0, len(data), 4096)])
    assert set(ahead) <= {threading.get_ident()}
    ahead.clear()
    for at_once in (len(data), 8 * WINDOW, 5 * WINDOW + 17):
        assert fed([data[place : place + at_once] for place in range(0, len(data), at_once)]) == expected
        assert len(ahead) * at_once > len(data) // 2
        ahead.clear()


def test_a_promise_goes_far_beyond_the_last_literal():
    """Only the lines around literals are searched by rules, and those that a line of titles promises something in."""
    plain = b"the quick brown fox and no more\n" * 5000
    rows = [f"{number},{Maker(number).of(32, '0123456789abcdef')},x\n".encode() for number in range(8000)]
    text = plain + b"id,api_key,plan\n" + b"".join(rows) + b"\n" + plain
    given, counts = fed([text])
    assert given == re.sub(rb"(?<=,)[0-9a-f]{32}(?=,)", b"[REDACTED: API_KEY]", text)
    assert counts == {"API_KEY": len(rows)}
    assert fed([text[place : place + 5000] for place in range(0, len(text), 5000)]) == (given, counts)


@pytest.mark.parametrize("at_once", [700, WINDOW + 1, 4 * WINDOW, 10**9])
@pytest.mark.parametrize("size", [LONGEST + 100, 5 * WINDOW])
def test_data_that_holds_the_beginning_of_a_token(at_once, size):
    """A run that is longer than any token stays, and what follows it, too; of a token in it whose length is known, that token goes."""
    maker = Maker(7)
    token = maker.tokens()["github"]
    data = f"{maker.of(3000)}+ZXlK{maker.of(size)}/{token}/{maker.of(size)}"
    text = f'{{"data": "{data}"}}\nthe next line\n'.encode()
    given, _ = fed([text[place : place + at_once] for place in range(0, len(text), at_once)])
    assert given == text.replace(token.encode(), b"[REDACTED: GITHUB_TOKEN]")


def test_the_longest_token_goes():
    """At any length that it may have, and not one byte of what follows."""
    for size in (100, LONGEST - len("ZXlK")):
        text = f'+ZXlK{Maker(7).of(size)}" and more\n'.encode()
        assert redact(text.decode()) == '+[REDACTED: JWT]" and more\n'
