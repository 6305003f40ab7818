"""What is not kept as it came is said: secrets that are taken out, and what goes beyond a limit."""

from __future__ import annotations

import os
import signal

import pytest
from support import wait_until

pytestmark = pytest.mark.everywhere

SECRET = "password=correct-Horse-77-battery\n"
LIMIT = {"SPILLSTORE_ARTIFACT_LIMIT": "100000"}


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "conf.env"
    path.write_text(f"user=me\n{SECRET}")
    return path


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "big.log"
    path.write_bytes(b"".join(b"line %06d\n" % number for number in range(50_000)))
    return path


def test_put_says_what_it_takes_out(cli, store, secret):
    """On stderr: how many secrets of which kind, and the way to keep them; ``info`` says it later."""
    answer = cli("put", secret)
    assert (answer.code, answer.err.count("\n")) == (0, 1)
    assert answer.err.startswith("spillstore: 1 secret taken out of what is stored (")
    assert answer.err.endswith("; --no-redact keeps them\n")
    info = cli("info", "@last")
    assert "Redacted: 1 secret taken out" in info.text
    assert "--no-redact" in info.text
    assert sum(cli("info", "@last", "--json").json["redactions"].values()) == 1
    assert b"correct-Horse" not in cli("cat", "@last").out


def test_put_keeps_secrets_where_told(cli, secret):
    """With ``--no-redact`` the artifact is the file, to the byte."""
    assert cli("put", "--no-redact", secret).err == ""
    assert cli("cat", "@last").out == secret.read_bytes()
    assert cli("info", "@last", "--json").json["redactions"] == {}


@pytest.mark.parametrize("choice", [[], ["--profile", "default"]], ids=["stored", "shown"])
def test_put_keeps_secrets_in_what_is_shown(cli, secret, choice):
    """A preview follows the same switch."""
    shown = cli("put", *choice, secret, "--profile", "omni")
    assert "correct-Horse" not in shown.text
    assert "1 secret taken out" in shown.err
    kept = cli("put", *choice, secret, "--profile", "omni", "--no-redact")
    assert SECRET in kept.text
    assert kept.err == ""


def test_run_says_what_it_takes_out(cli, secret):
    """Likewise, and ``--no-redact`` keeps it."""
    answer = cli("run", "--", "cat", secret)
    assert "1 secret taken out of what is stored (" in answer.err
    assert cli("run", "--json", "--", "cat", secret).json["redactions"] != {}
    assert cli("run", "--no-redact", "--", "cat", secret).err == ""
    assert cli("cat", "@last").out == secret.read_bytes()


def test_a_file_above_the_limit_is_told_of(cli, large):
    """Before it is read, after it was, by the exit code, and wherever the artifact is met again."""
    answer = cli("put", large, env=LIMIT)
    before, after = answer.err.splitlines()
    assert answer.code == 1
    assert "its middle will be dropped; SPILLSTORE_ARTIFACT_LIMIT raises that" in before
    assert "NOT KEPT WHOLE: bytes " in after
    assert "  incomplete  " in cli("list").text
    verified = cli("verify", "@last")
    assert verified.code == 0
    assert "is intact, but not whole, for bytes " in verified.text
    assert "1 of its artifacts is incomplete" in cli("verify").text
    assert cli("put", large, "--json", env=LIMIT).json["incomplete"].startswith("bytes ")


def test_a_limit_that_stops(cli, large):
    """The end is missing, which is said in the same way."""
    answer = cli("put", large, env={**LIMIT, "SPILLSTORE_ARTIFACT_POLICY": "stop"})
    assert answer.code == 1
    assert "its end will not be kept" in answer.err
    assert "is intact, but not whole, for what came after its limit" in cli("verify", "@last").text


def test_the_way_through_a_hole_is_an_option(cli, rolled, tmp_path):
    """The command line speaks of its own options."""
    for arguments in (["cat", rolled], ["export", rolled, tmp_path / "file"]):
        answer = cli(*arguments)
        assert answer.code == 125
        assert answer.err.endswith("with --skip-holes\n")
        assert "holes=" not in answer.err


def test_a_file_that_cannot_be_read_leaves_nothing(cli, store):
    """No artifact, not even an interrupted one."""
    assert cli("put", "nosuchfile").code == 125
    assert cli("list").code == 125
    assert list(store.sessions()) == []


def test_an_interrupted_put_says_what_stays(start, store):
    """What was read so far is an artifact, and one can say how to delete it."""
    read, write = os.pipe()
    process = start("put", "-", stdin=read)
    os.close(read)
    os.write(write, b"begun\n")
    wait_until(lambda: list(store.sessions()) and store.session("default", read_only=True).infos().items)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=120)[1]
    os.close(write)
    assert process.returncode == -signal.SIGINT
    assert b"interrupted; what was read so far stays as the artifact @last" in err


def test_the_reason_of_an_interruption_has_no_loose_end(store, cli):
    """An exception without words is named alone."""
    with (
        pytest.raises(KeyboardInterrupt),
        store.session("default") as session,
        session.create() as writer,
    ):
        writer.write(b"begun\n")
        raise KeyboardInterrupt
    assert "State: interrupted: KeyboardInterrupt\n" in cli("info").text
