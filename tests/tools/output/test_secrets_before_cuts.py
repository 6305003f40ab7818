"""Secrets are taken out before anything is measured, cut or stored: no cut can hide half of one from the rules."""

from __future__ import annotations

import random
import re
import string

import pytest

from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.profiles import NAMES

pytestmark = pytest.mark.everywhere

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
TAKEN_OUT = "[REDACTED: GITHUB_TOKEN]"
IDENTITY = re.compile(r"art_[0-9]+_[0-9a-f]+")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\"runtime\": \d+|\[~\S+\]")
SHAPES = {
    "one line": "some words of a line that never ends " * 12_000,
    "many lines": "".join(f"{number:06} some words of a line\n" for number in range(20_000)),
}


def shown(session, profile, text, **options):
    """What a model is shown, without what differs from one call to the next; and what was cut."""
    result = TruncationProcessor(session, profile=profile, **options).process(text, "read_file")
    return MOMENT.sub("", IDENTITY.sub("ID", result.content)), result


def with_secret(text, at, secret):
    """A text of the same length around a secret, which stands apart."""
    return f"{text[:at]} {secret} {text[at:]}"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_a_cut_inside_a_secret(plain_store, name, shape):
    """Wherever the text is cut, it is the text without the secret that is: shown and stored as if that had come."""
    text = SHAPES[shape][
        : 40_000 if name == "acode" else None
    ]  # longer ones are not cut there, but named alone
    torn = False
    with plain_store.session("s") as session:
        _, cut = shown(session, name, text)
        borders = sorted(
            {border for each in cut.omissions for border in (each.start, each.end)} - {0, len(text)}
        )
        assert borders
        for border in borders:
            for shift in (-len(TOKEN), -len(TOKEN) // 2, len(TOKEN) // 2):
                at = border + shift
                plain, _ = shown(session, name, with_secret(text, at, TOKEN), redact=False)
                torn |= TOKEN not in plain and (TOKEN[:9] in plain or TOKEN[-9:] in plain)
                content, result = shown(session, name, with_secret(text, at, TOKEN))
                wanted = with_secret(text, at, TAKEN_OUT)
                assert content == shown(session, name, wanted, redact=False)[0]
                assert (TOKEN[:9] in content, TOKEN[-9:] in content) == (False, False)
                artifact = session.artifact(result.artifact_id)
                assert wanted.encode() == artifact.read_bytes(0, artifact.info.size)
                assert {"GITHUB_TOKEN": 1} == result.redactions
    assert torn or shape == "many lines"  # whole lines are kept together


@pytest.mark.parametrize("name", NAMES)
def test_what_fits_without_its_secrets_is_whole(plain_store, name):
    """A text whose secrets alone make it too long is measured without them."""
    limit = {"opencode": 51_200, "pipe": 51_200, "lace": 10_000}.get(name, 8000)
    many = f"{TOKEN} " * 60
    text = many + "x" * (limit - len(many.replace(TOKEN, TAKEN_OUT)))
    with plain_store.session("s") as session:
        assert shown(session, name, text, redact=False)[1].metadata.was_truncated
        content, result = shown(session, name, text)
        assert (False, {"GITHUB_TOKEN": 60}) == (result.metadata.was_truncated, result.redactions)
        assert text.replace(TOKEN, TAKEN_OUT)[:-1] in content


def test_bare_tokens_before_a_cut(plain_store):
    """The rule that ``acode`` alone has comes before its cuts, too; no other profile applies it."""
    token = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=48))
    text = SHAPES["one line"][:40_000]
    with plain_store.session("s") as session:
        at = shown(session, "acode", text)[1].omissions[0].start - len(token) // 2
        content = shown(session, "acode", with_secret(text, at, token))[0]
        assert content == shown(session, "acode", with_secret(text, at, "[REDACTED: TOKEN]"), redact=False)[0]
        for name in NAMES:
            assert (name == "acode") == ("[REDACTED: TOKEN]" in shown(session, name, f"use {token} now")[0])


@pytest.mark.parametrize("place", [130, 170, 195])
def test_the_reason_of_an_interruption(plain_store, place):
    """An error that ends an output is cut without its secrets, in the store too."""
    words = f"{'x' * place} {TOKEN}"

    def broken():
        yield b"some words of a line\n" * 20_000
        raise OSError(words)

    with plain_store.session("s") as session:
        with pytest.raises(OSError, match="x"):
            TruncationProcessor(session).process(broken(), "read_file")
        with pytest.raises(OSError, match="x"), session.create(source="t") as writer:
            writer.write(b"some words\n")
            raise OSError(words)
        reasons = [info.reason for info in session.infos()]
    assert len(reasons) == 2
    assert [TOKEN[:6] in reason for reason in reasons] == [False, False]


def test_the_reason_of_an_error_without_words(plain_store):
    def broken():
        yield b"some words of a line\n" * 20_000
        raise TimeoutError

    with plain_store.session("s") as session:
        with pytest.raises(TimeoutError):
            TruncationProcessor(session).process(broken(), "read_file")
        assert [info.reason for info in session.infos()] == ["TimeoutError"]
