"""Tokens of providers that no row knows: a prefix and what is drawn; and what only looks so."""

from __future__ import annotations

import random

import pytest
from examples import drawn, parts
from streams import cut, fed, in_bytes
from support import each_of

from spillstore.redaction import Redactor, counted, redact

# Of the forty examples of each form, those that do not go as TOKEN: by what other kind they go, or None for those that stay.
GOES: dict[str, dict[str | None, set[int]]] = {
    "got acme_%a{40}, retrying": {},
    "acme_%a{24}": {None: {5, 12, 24, 33}},
    "xq_%a{32}.": {None: {25, 39}},
    '["acme-%a{40}", 3, true]': {},
    "  - acme_live_%w{40}": {},
    "<code>acme_pat_%h{40}</code>": {},
    "client = Client('acme-secret-%h{32}')": {},
    "x=acme_prov_%h{64}": {},
    "ACME-%U{32} is what it prints": {None: {2, 22, 24, 29}},
    "acme_%l{40}\tx": {},
    "my-co_v1_%a{40};x": {},
    "a\\nacme_%a{40}\\n": {},
    "q=%20acme_%a{40}&x=1": {None: {14}},
    "acme_%Z{52}": {None: {2, 3, 5, 9, 14, 16, 32, 34}},
}
STAYS = (
    # parts of something else: paths, files, hosts, images, symbols, calls, names of variables
    "see /x/acme_%a{40}",
    "acme_%a{40}/x",
    "acme_%a{40}.js",
    "img@acme_%a{40}",
    "x.acme_%a{40}",
    "acme_%a{40}(x)",
    "acme_%a{40} = 1".replace(" = ", "="),
    "_ZN4core3fmt9Formatter12pad_integral17h%h{16}E",
    r"C:\users\acme_%a{40}",
    # hashes, builds, ids
    "sha512-%a{86}",
    "sha256=ab_%w{40}",
    "build_%h{40}",
    "node-modules-linux-%h{64}",
    "acme-%h{40}",
    "req_%a{24}",
    "toolu_%a{24}",
    "user_%l{26}",
    "cs_test_%a{58}",
    "pk_live_%a{24}",
    "PR_kwDO%a{20}",
    "script-src 'nonce-%a{24}'",
    "ord_01HZY3K4M5N6P7Q8R9S0T1V2W3",
    "lead_01hzy3k4m5n6p7q8r9s0t1v2w3",
    "my-stack-MyFunctionF68F3FF0-1I1Q5MXZ5R2QH",
    "pip-Linux-X64-%h{64}",
    # words, counters
    "acme_HelloWorldOfTheManyWords2And3More",
    "test_the_client_sends_2_requests_and_3_answers",
    "NID_pbeWithMD5AndRC2_CBC",
    "app-5d8f7c9b6-x2x4z",
    "v1.2.3-14-g%h{8}",
    "acme_abcdefghijklmnopqrstuvwxyz0123456789",
    "acme_00000000000000000000000000000000",
    "acme_%a{12}",
    "acme_%a{510}",
)


pytestmark = pytest.mark.usefixtures("searcher")


@each_of("template, others", GOES.items())
def test_a_token_goes(template, others):
    """But for its prefix, under its own kind, in forty examples of each form; a few are too much like words or hashes and stay."""
    found = {}
    for seed in range(40):
        text = drawn(template, seed=f"{seed}")
        result, kinds = counted(text)
        (kind,) = kinds or [None]
        assert kinds == ({} if kind is None else {kind: 1})
        assert [part in result for part in parts(template, seed=f"{seed}")] == [kind is None], text
        assert (kind is None) == (result == text)
        if kind != "TOKEN":
            found.setdefault(kind, set()).add(seed)
    assert found == others


@each_of("template", STAYS)
def test_what_is_no_token_stays(template):
    """However it is drawn."""
    for seed in range(40):
        text = drawn(template, seed=f"{seed}")
        assert redact(text) == text


@pytest.mark.parametrize("behind", ["", " and more\n", "\nnext"])
@each_of("template", [*GOES, *STAYS])
def test_it_is_the_same_in_pieces(template, behind):
    """A run that the text ends in is held until it is told, or can be none."""
    text = b"see " + drawn(template, seed="pieces") + behind.encode()
    whole = counted(text)
    assert fed(in_bytes(text)) == whole
    for place in random.Random(template).sample(range(1, len(text)), 12):
        assert fed(cut(text, [place])) == whole, place


def test_the_kind_of_a_row_says_more():
    """A token that a row finds, whole or in part, is told under the row's kind alone."""
    for template, kind in (("ghp_%a{36}", "GITHUB_TOKEN"), ("npm_%a{36}-x", "NPM_TOKEN")):
        assert set(counted(drawn(template))[1]) == {kind}


def test_words_and_prefixes_show_at_once():
    """Only what stands behind a prefix is held until it ends."""
    redactor = Redactor()
    assert redactor.feed(b"Downloading some") == b"Downloading some"
    assert redactor.feed(b"_li") == b"_"
    assert redactor.feed(b"ve_8Fk2") == b""
    assert redactor.feed(b"?") == b"live_8Fk2?"
    token = drawn("acme_%a{40}")
    assert redact(token) == b"acme_[REDACTED: TOKEN]"


def test_many_runs():
    """More than one call of the scanner gives out, and a run that never ends."""
    token = drawn("acme_%a{40}")
    assert counted(b"\n".join([token] * 9000))[1] == {"TOKEN": 9000}
    run = token * 3000
    assert counted(b"x " + run + b"\n" + token)[1] == {"TOKEN": 1}
