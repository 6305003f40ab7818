"""Redaction in the write path of the store: nothing on the disk holds a secret, whoever writes and however."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from leaks import everything
from secrets_made import Maker
from support import NO_FLOORS, wait_until

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError, InvalidSettingError
from spillstore.redaction import Pattern, Redacted, RedactionRules

MAKER = Maker(11)
TOKEN = "ghp_" + MAKER.of(36)
PASSWORD = MAKER.of(14)
LINE = f"deploy --password {PASSWORD} {TOKEN}"


def _text_of(artifact):
    return artifact.read_bytes(0, artifact.info.size)


def _leaks(store):
    data = everything(store.address)
    return [secret for secret in (TOKEN, PASSWORD, TOKEN[10:30]) if secret.encode() in data]


def test_nothing_is_stored_by_default(store, tmp_path):
    """Neither output nor command, source, media type, note or reason hold a secret on the disk, in the file or its log."""
    with store.session("s") as session:
        session.put(
            f"a\n{LINE}\nb\n", source=f"tool {TOKEN}", command=LINE, content_type=f"text/x; token={TOKEN}"
        )
        with session.create(source="bash", command=f"curl -u me:{PASSWORD} https://x.example") as writer:
            writer.write(f"out {TOKEN[:11]}")
            writer.write(f"{TOKEN[11:]}\n")
            writer.write(f"password: {PASSWORD[:3]}", "stderr")
            writer.write(f"{PASSWORD[3:]}\n", "stderr")
        session.note(
            "deployed", {"url": f"https://me:{PASSWORD}@x.example", "env": {"API_TOKEN": TOKEN, "n": 70000}}
        )
        session.artifact(writer.id).record("checked", {"password": PASSWORD})
        writer = session.create(source="bash")
        writer.write(f"{LINE}\n")
        writer.abort(f"failed: {LINE}")
        assert _leaks(store) == []
    assert _leaks(store) == []
    with store.session("s") as session:
        events = {event.kind: event.detail for event in session.events(limit=100)}
        assert events["deployed"] == {
            "url": "https://me:[REDACTED: PASSWORD]@x.example",
            "env": {"API_TOKEN": "[REDACTED: GITHUB_TOKEN]", "n": 70000},
        }
        [found] = [info for info in session.infos() if info.state == "interrupted"]
        assert found.reason == "failed: deploy --password [REDACTED: PASSWORD] [REDACTED: GITHUB_TOKEN]"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_nothing_is_stored_of_utf_16(store, encoding):
    """As tools of Windows write it, in pieces of any size; what is read back is text in UTF-16."""
    with store.session("s") as session:
        with session.create() as writer:
            data = f"first line\r\n{LINE}\r\n".encode(encoding)
            for start in range(0, len(data), 7):
                writer.write(data[start : start + 7])
        shown = _text_of(session.artifact(writer.id)).decode(encoding)
        assert shown == "first line\r\ndeploy --password [REDACTED: PASSWORD] [REDACTED: GITHUB_TOKEN]\r\n"
    stored = everything(store.address)
    for part in (PASSWORD, TOKEN[10:30]):
        assert part.encode("utf-16-le") not in stored


def test_findings_are_counted_and_lines_stay(plain_store):
    """One event tells which kinds were taken out of output and metadata of a tool, and how many; lines keep numbers."""
    body, key = MAKER.pem()
    with plain_store.session("s") as session:
        artifact = session.put(
            f"1\n{key}{LINE}\nlast\n", source="bash", command=LINE, tool_call_id="call_1", newline="lf"
        )
        [event] = artifact.events("redaction")
        assert event.detail == {
            "tool": "bash",
            "counts": {"PASSWORD": 2, "GITHUB_TOKEN": 2, "PRIVATE_KEY": 1},
        }
        assert event.tool_call_id == "call_1"
        assert artifact.info.lines == 3 + key.count("\n")
        assert _text_of(artifact).endswith(b" [REDACTED: GITHUB_TOKEN]\nlast\n")
        assert artifact.info.received > artifact.info.size
        assert [line for line in body if line.encode() in _text_of(artifact)] == []


@pytest.mark.files
def test_the_view_of_the_file_tells_the_same(plain_store):
    """``v_redactions`` has a row for each kind, for who opens the file with ``sqlite3``."""
    with plain_store.session("s") as session:
        session.put(f"{LINE}\n", source="bash")
    [path] = plain_store.root.rglob("session.db")
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT tool, secret, count FROM v_redactions ORDER BY secret").fetchall()
    connection.close()
    assert rows == [("bash", "GITHUB_TOKEN", 1), ("bash", "PASSWORD", 1)]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_secrets_at_every_border_of_storage(plain_store, stream):
    """A secret over the border of two writes, of chunks of 64 KiB and of batches of 2 MiB is found in both streams."""
    secret = TOKEN.encode()
    with plain_store.session("s") as session:
        writer = session.create(source="bash")
        sent = 0
        lines = 0
        for border in (64 * 1024, 128 * 1024, 1024 * 1024, 2 * 1024 * 1024, 4 * 1024 * 1024):
            for shift in (-1, -20, -39, 0):
                rest = border + shift - sent
                if rest > 2:
                    filler = (b"x" * 99 + b"\n") * (rest // 100) + b"y" * (rest % 100 - 1) + b" "
                    writer.write(filler, stream)
                    sent += len(filler)
                    lines += filler.count(b"\n")
            writer.write(secret[:7], stream)
            writer.write(secret[7:] + b"\n", stream)
            sent += len(secret) + 1
            lines += 1
        writer.close()
        assert _leaks(plain_store) == []
        artifact = session.artifact(writer.id)
        assert artifact.info.lines == lines
        assert artifact.events("redaction")[0].detail["counts"] == {"GITHUB_TOKEN": 5}


def test_in_one_large_write(plain_store):
    """So is one in a write that is cut into pieces on its way, in a line without an end of several windows."""
    data = b"a" * (1024 * 1024 - 20) + b" " + TOKEN.encode() + b" " + b"b" * (2 * 1024 * 1024)
    with plain_store.session("s") as session:
        artifact = session.put(data)
        assert _text_of(artifact) == data.replace(TOKEN.encode(), b"[REDACTED: GITHUB_TOKEN]")
    assert _leaks(plain_store) == []


# --- switching it off -------------------------------------------------------------------------------------


def test_off_for_one_call_is_recorded(store, tmp_path):
    """``redact=False`` stores what came, and the event of the artifact's beginning says so."""
    with store.session("s") as session:
        kept = session.put(f"{LINE}\n", redact=False)
        assert _text_of(kept) == f"{LINE}\n".encode()
        [event] = kept.events("create")
        assert event.detail["redact"] is False
        assert "redact" not in session.put("x").events("create")[0].detail


def test_what_stays_by_a_rule_is_recorded(store):
    """Kinds and secrets that a call leaves are told by the event of the artifact's beginning, not which secrets."""
    with store.session("s") as session:
        rules = RedactionRules(off={"PASSWORD", "JWT"}, allow={PASSWORD}, allow_patterns=("x+",))
        kept = session.put(f"{LINE}\n", redact=rules)
        assert _text_of(kept) == f"deploy --password {PASSWORD} [REDACTED: GITHUB_TOKEN]\n".encode()
        assert kept.events("create")[0].detail["redact"] == {"off": ["JWT", "PASSWORD"], "allow": 2}
        done = session.put("x", redact=Redacted(RedactionRules(off={"COOKIE"})))
        assert done.events("create")[0].detail["redact"] == {"off": ["COOKIE"], "allow": 0}
        assert "redact" not in session.put("x", redact=Redacted(RedactionRules())).events("create")[0].detail


def test_no_secret_where_a_name_is_meant(store):
    """Ids of calls, ids that are refused and names of tools are looked at as well: a model mistakes one for another."""
    with store.session("s") as session:
        with session.acting("model", TOKEN):
            artifact = session.put("x", tool_call_id=TOKEN)
            with pytest.raises(ArtifactNotFoundError):
                session.artifact(TOKEN)
            session.count_passed(TOKEN, 10)
            artifact.read_lines(1, 1)
        kept = session.put("x", tool_call_id="toolu_01A09q90qw90lq917835lq9")
        assert kept.info.tool_call_id == "toolu_01A09q90qw90lq917835lq9"
        assert artifact.info.tool_call_id == "[REDACTED: GITHUB_TOKEN]"
    assert _leaks(store) == []


def test_off_for_a_store(make_store, monkeypatch):
    """So does a store with ``redact=False`` and one under ``SPILLSTORE_REDACT=false``; a call may still ask for it."""
    with make_store("/".join([os.environ["SPILLSTORE_ROOT"], "a"]), redact=False).session("s") as session:
        kept = session.put(f"{LINE}\n", command=LINE)
        assert (_text_of(kept), kept.info.command) == (f"{LINE}\n".encode(), LINE)
        assert kept.events("create")[0].detail["redact"] is False
        assert TOKEN.encode() not in _text_of(session.put(LINE, redact=True))
        session.note("said", {"password": PASSWORD})
        assert next(iter(session.events(kind="said"))).detail == {"password": PASSWORD}
    monkeypatch.setenv("SPILLSTORE_REDACT", "false")
    with make_store("/".join([os.environ["SPILLSTORE_ROOT"], "b"])).session("s") as session:
        assert _text_of(session.put(LINE)) == LINE.encode()


@pytest.mark.parametrize("first", [True, False])
def test_stores_that_share_a_session_keep_their_own_setting(make_store, first):
    """Whoever opened the session before, a store that takes secrets out does so, and one that does not keeps them."""
    with make_store(redact=first).session("s") as one, make_store(redact=not first).session("s") as other:
        for session, redacts in ((one, first), (other, not first)):
            assert (TOKEN.encode() in session.put(LINE).read()) != redacts


def test_rules_of_a_store_and_of_a_call(make_store):
    """A store's own rules hold for all that is written into it; a call's go before."""
    rules = RedactionRules(patterns=(Pattern(name="badge", pattern=r"badge-\d{6}"),))
    with make_store(redaction=rules).session("s") as session:
        text = f"badge-123456 {TOKEN}"
        assert _text_of(session.put(text)) == b"[REDACTED: BADGE] [REDACTED: GITHUB_TOKEN]"
        assert (
            _text_of(session.put(text, redact=RedactionRules())) == b"badge-123456 [REDACTED: GITHUB_TOKEN]"
        )
        session.note("said", {"of": "badge-123456"})
        assert next(iter(session.events(kind="said"))).detail == {"of": "[REDACTED: BADGE]"}


@pytest.mark.parametrize("wrong", ["no", 0, 1.5, [], "null"])
def test_a_wrong_switch_is_named(plain_store, wrong):
    """What is none of the four things that may be given is refused, with what may be."""
    with (
        plain_store.session("s") as session,
        pytest.raises(InvalidSettingError, match="redact must be true, false, Redacted or RedactionRules"),
    ):
        session.put("x", redact=wrong)


# --- processes --------------------------------------------------------------------------------------------

WRITER = """
import sys
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("s")
writer = session.create(source="bash", command=sys.stdin.readline())
secret = sys.stdin.readline().strip()
number = 0
while True:
    number += 1
    stream = "stderr" if number % 3 else "stdout"
    writer.write(f"line {number} {secret[: number % 40]}", stream)
    writer.write(f"{secret[number % 40 :]}\\npassword={secret}\\n", stream)
    if number == int(sys.argv[2]):
        writer.flush()
        print("ready", flush=True)
"""


@pytest.mark.long
def test_kill_in_the_middle_leaves_no_secret(root):
    """What a writer that was killed has left holds no secret, and is a readable prefix."""
    for lines in (1, 200, 2222):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(root), str(lines)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        process.stdin.write(f"{LINE}\n{TOKEN}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        store = Store(root, **NO_FLOORS)
        assert _leaks(store) == []
        with store.session("s") as session:
            [info] = session.infos()
            assert info.size > 0
            session.delete(force=True)


def test_a_prompt_is_readable_within_half_a_second(plain_store):
    """A line that has not ended is there for readers though nothing follows, unless a secret may have begun."""
    with plain_store.session("s") as session, session.create(source="bash") as writer:
        for prompt, shown in (
            (b"Password: ", b"Password: "),
            (b"\nToken for gh", b"Password: \nToken for "),
        ):
            writer.write(prompt)
            artifact = session.artifact(writer.id)
            wait_until(lambda artifact=artifact, shown=shown: artifact.info.size >= len(shown))
            assert _text_of(artifact) == shown
        writer.write(b"osts\n")


def test_log_records_hold_no_secret(plain_store, caplog):
    """What the library logs about an artifact with secrets holds none."""
    caplog.set_level(logging.DEBUG)
    with plain_store.session("s") as session:
        session.put(f"{LINE}\n", source=f"x {TOKEN}", command=LINE)
    assert [
        record for record in caplog.records if TOKEN in str(vars(record)) or PASSWORD in str(vars(record))
    ] == []
