"""Session files that an older version has written: each is read as that version read it, to the byte, and can be written on."""

from __future__ import annotations

import gzip
import json
import shutil

import older_session
import pytest
from support import ROOT

from spillstore import Settings, Store
from spillstore.engine.sqlite.upgrade import upgrade
from spillstore.exceptions import SchemaTooOldError

DATA = ROOT / "tests" / "data" / "sessions"
VERSIONS = sorted(path.name for path in DATA.iterdir() if path.is_dir())
EACH = [(version, name) for version in VERSIONS for name in older_session.KINDS]


@pytest.fixture(params=EACH, ids=["-".join(each) for each in EACH])
def older(request, tmp_path):
    """A session's file in its place and of today's schema, its kind, and what it answered when it was new."""
    version, name = request.param
    path, expected = placed(version, name, tmp_path)
    upgrade(path, Settings())
    return path, name, expected


def placed(version, name, tmp_path):
    """A session's file as it was written, in its place, and what it answered."""
    path = tmp_path / "root" / "web" / "chat-42" / "session.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(gzip.decompress((DATA / version / f"{name}.db.gz").read_bytes()))
    path.chmod(0o600)
    expected = json.loads((DATA / version / f"{name}.json").read_text(encoding="utf-8"))
    plain = json.loads((DATA / version / "plain.json").read_text(encoding="utf-8"))
    return path, {**expected, "artifacts": plain["artifacts"]}


def test_it_is_upgraded_by_who_writes(tmp_path):
    """A file of an older schema is refused for reading with the way out; opened for writing once, it is read."""
    path, expected = placed("schema-1", "plain", tmp_path)
    with pytest.raises(SchemaTooOldError, match="open it once for writing"):
        older_session.opened("plain", path)
    with Store(path.parents[2], **older_session.options("plain")).session("chat-42", project="web"):
        pass
    with older_session.opened("plain", path) as session:
        assert len(expected["infos"]) == len(list(session.infos(limit=100)))


def test_it_reads_as_when_it_was_written(older):
    """Artifacts, lines, times, searches, queries, events and digests: every answer is the one of its own version."""
    path, name, expected = older
    with older_session.opened(name, path) as session:
        found = older_session.plain(older_session.answers(session))
    assert sorted(expected) == sorted(found)
    for part in expected:
        assert expected[part] == found[part], part


def test_it_is_written_on(older):
    """A writer opens it, says what was interrupted, adds an artifact and deletes one; the others stay, and all is checked."""
    path, name, expected = older
    store = Store(path.parents[2], audit_age=0, **older_session.options(name))
    before = {info["id"] for info in expected["infos"]}
    with store.session("chat-42", project="web") as session:
        added = session.put(b"new\n", source="new")
        session.artifact(next(info["id"] for info in expected["infos"] if info["size"] == 1000)).delete()
        session.check()
        assert b"new\n" == added.read()
        kinds = [event.kind for event in session.events(limit=1000)]
        assert len(expected["events"]) < len(kinds)
        assert {"delete", "interrupt"} < set(kinds)
    with store.session("chat-42", project="web", read_only=True) as session:
        ids = {info.id for info in session.infos(limit=100)}
        assert (1, 1) == (len(ids - before), len(before - ids))
        session.check()
        killed = next(info["id"] for info in expected["infos"] if info["ended"] is None)
        assert "interrupted" == session.artifact(killed).info.state


def test_no_secret_is_in_it(older):
    """What was redacted stands nowhere in the file, nor in the answers."""
    path, _, expected = older
    secret = "hunter" + "2"
    assert secret.encode() not in path.read_bytes()
    assert secret not in json.dumps(expected)


def test_a_copy_of_it_is_the_same(older, tmp_path):
    """An artifact is exported from it to the byte, and a file that was sent elsewhere reads as well."""
    path, name, expected = older
    copy = shutil.copyfile(path, tmp_path / "sent.db")
    with older_session.opened(name, copy) as session:
        info = next(info for info in expected["infos"] if info["size"] == 2048)
        session.artifact(info["id"]).export(tmp_path / "out")
    assert bytes(range(256)) * 8 == (tmp_path / "out").read_bytes()
