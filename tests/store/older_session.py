"""Session files as this version writes them, and all that they are asked; run as a program, with the code of any version.

``python tests/store/older_session.py FOLDER`` writes ``NAME.db.gz`` and ``NAME.json`` (the answers) for each kind of session. Those
of a version that is no longer the newest are kept in ``tests/data/sessions``, and ``test_older_sessions.py`` asks them again.
It uses the public API alone, and of that what no version changes.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import os
import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from spillstore import Store
from spillstore.exceptions import DroppedRangeError

KEY = bytes(range(32))  # of the keyed session; it protects nothing
KINDS = {
    "plain": {},
    "sha256": {"digest": "sha256"},
    "hidden": {"hidden_metadata": True},
    "keyed": {"digest_key": KEY},
}
_FIELDS = (
    "id", "session", "project", "source", "tool_call_id", "command", "content_type", "state", "reason", "newline", "size", "kept",
    "received", "stored_size", "lines", "chars", "digest", "chunks_digest", "exit_code", "created", "ended", "limit", "policy",
    "chunks", "chunk_size",
)  # fmt: skip


class _Clock:
    """Time that stands still until it is moved."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def time(self):
        return self.now

    def monotonic(self):
        return self.now


def options(name):
    """The settings of a session of that kind."""
    return {"free_disk_floor": 0, "artifacts_per_minute": 0, **KINDS[name]}


def opened(name, path):
    """A file of that kind, for reading."""
    return Store.open_file(path, digest_key=KINDS[name].get("digest_key"))


def write(name, root):
    """A session of every kind of artifact, and what was done with them; the process ends in the middle of one."""
    clock = _Clock()
    session = Store(root, clock=clock, **options(name)).session("chat-42", project="web")
    with session.acting("tester", tool_call_id="call_1"):
        with session.create(source="bash", command="make test", tool_call_id="call_1") as make:
            for number in range(2500):
                make.write(f"{number}: compiled größer_{number % 7}.c\r\n".encode())
                if number % 50 == 0:
                    clock.now += 0.25
                    make.write(f"warning {number}\n", stream="stderr")
                    clock.now += 0.25
            make.write("no line end")
            make.exit_code = 2
        with session.create(source="bash", policy="roll", limit=10_000) as rolled:
            for number in range(3000):
                rolled.write(b"out %d\n" % number)
                if number % 7 == 0:
                    rolled.write(b"err %d\n" % number, stream="stderr")
                clock.now += 0.001
        with session.create(source="bash", policy="stop", limit=1000) as stopped:
            stopped.write(b"0123456789\n" * 200)
    with suppress(ZeroDivisionError), session.create(source="python") as broken:
        broken.write(b"before\n")
        broken.write(b"the end", stream="stderr")
        raise ZeroDivisionError
    document = {"users": [{"name": f"user {number}", "age": number, "größe": 1.5} for number in range(60)]}
    session.put(json.dumps(document), content_type="application/json", source="api")
    session.put(
        "".join(f'{{"n": {number}}}\n' for number in range(20)) + "{\n", content_type="application/x-ndjson"
    )
    secret = "s3cret" + "-" + "hunter2"
    session.put(f"one\nPASSWORD={secret}\npostgres://me:{secret}@db/app\nfour\n", source="env")
    session.put(f"PASSWORD={'kept'}-as-it-is\n", redact=False)
    session.put(b"one\rtwo\rthree\r", source="mac")
    session.put(bytes(range(256)) * 8, source="binary")
    session.put(b"")
    session.put(b"gone\n", source="gone").delete()
    with session.acting("reader", tool_call_id="call_2"):
        read = session.artifact(make.id)
        read.read_lines(10, 12)
        read.read_bytes(0, 100, stream="stderr")
        read.search("größer_3", limit=2)
        session.artifact(rolled.id).tail(3, holes="skip")
    session.note("mine", {"answer": 42})
    killed = session.create(source="killed", command="sleep")
    killed.write(b"was written\n" * 100)
    killed.write(b"and on stderr\n", stream="stderr")
    killed.flush()
    os._exit(0)


def answers(session):
    """What a session says to all that can be asked, as JSON values."""
    infos = list(session.infos(limit=100))
    return {
        "infos": [_info(info) for info in infos],
        "artifacts": [_artifact(session.artifact(info.id)) for info in infos],
        "events": [dataclasses.asdict(event) for event in session.events(limit=1000)],
        "check": dataclasses.asdict(session.check()),
    }


def _info(info):
    found = {name: getattr(info, name) for name in _FIELDS}
    for name in ("stdout", "stderr"):
        stream = getattr(info, name)
        found[name] = [stream.size, stream.lines]
    return found


def _artifact(artifact):
    artifact = artifact.unrecorded()
    return {
        "views": {stream: _view(artifact, stream) for stream in ("combined", "stdout", "stderr")},
        "times": [
            _short(artifact.read_time(start, start + 2.0, holes="skip")) for start in (0.0, 1.25, 4.0, 11.0)
        ],
        "segments": _digest(
            repr([(s.stream, round(s.time, 6), s.data) for s in artifact.segments(holes="skip")]).encode()
        ),
        "search": _page(artifact.search("err|[0-9]7\\b|größer_3|REDACTED", context=1, limit=3)),
        "verify": dataclasses.asdict(artifact.verify()),
        "query": _query(artifact),
    }


def _view(artifact, stream):
    try:
        artifact.read_bytes(0, 2**40, stream=stream)
        dropped = None
    except DroppedRangeError as error:
        dropped = [error.dropped_bytes, error.dropped_lines]
    return {
        "digest": _digest(artifact.read_bytes(0, 2**40, stream=stream, holes="skip")),
        "dropped": dropped,
        "lines": [
            _short(artifact.read_lines(n, n + 2, stream=stream, holes="skip")) for n in (1, 2, 40, 430, 2400)
        ],
        "middle": _short(artifact.read_bytes(700, 760, stream=stream, holes="skip")),
        "tail": _short(artifact.tail(2, stream=stream, holes="skip")),
    }


def _query(artifact):
    if not (artifact.info.content_type or "").startswith("application/"):
        return None
    path = "$.n" if "ndjson" in artifact.info.content_type else "$.users[?@.age > 57].name"
    return _page(artifact.query(path))


def _page(page):
    """What is on it and where it goes on, without what older versions did not tell: checksums of cursors, columns of parts of lines."""
    found = dataclasses.asdict(page)
    for each in (found, *found["matches"]):
        each.pop("text_column", None)
        if each.get("cursor"):
            each["cursor"] = each["cursor"].partition(".")[0]
    return found


def _short(data):
    return data.decode("latin-1") if len(data) <= 300 else _digest(data)  # what a person may read


def _digest(data):
    return f"{len(data)} bytes, {hashlib.sha256(data).hexdigest()}"


def plain(value):
    """The same as it comes back from JSON."""
    return json.loads(json.dumps(value, ensure_ascii=False, sort_keys=True))


def main(folder):
    """Write the files of all kinds, each in a process of its own that dies, and what they answer."""
    folder = Path(folder)
    for name in KINDS:
        with tempfile.TemporaryDirectory() as temporary:
            child = os.fork()
            if not child:
                write(name, Path(temporary) / "root")
            os.waitpid(child, 0)
            path = Path(temporary) / "root" / "web" / "chat-42" / "session.db"
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (folder / f"{name}.db.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            with opened(name, path) as session:
                found = answers(session)
                if name != "plain":  # they hold the same
                    del found["artifacts"]
                text = json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
                text = text.replace("},{", "},\n{")
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
