"""What is synced before it is relied on: a sync finds the whole file, and the name in its folder. No power has to go for this."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from support import NO_FLOORS

from spillstore import Store
from spillstore.engine.sqlite import folders
from spillstore.exceptions import TargetExistsError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a descriptor tells its path in /proc")


LONG = "X" * 100  # no name of a folder has room for it: it stands in a file


@pytest.fixture
def syncs(monkeypatch):
    """Each sync so far: a path, and how many bytes or which names were there then."""
    seen = []
    real = os.fsync

    def fsync(descriptor):
        real(descriptor)
        status = os.fstat(descriptor)
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        seen.append((path, sorted(os.listdir(path)) if stat.S_ISDIR(status.st_mode) else status.st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    return seen


def names_in(syncs, folder):
    """The names that were there when the folder was synced last; None if it never was."""
    found = [what for path, what in syncs if path == folder]
    return found[-1] if found else None


def sizes_of(syncs, name):
    return [what for path, what in syncs if path.name == name]


def test_an_exported_file_is_synced_whole_before_it_has_its_name(tmp_path, syncs):
    """Its hidden one: every byte was handed over by then; and the target that was there stays until that."""
    with Store(tmp_path / "root", **NO_FLOORS).session("test") as session:
        artifact = session.put(b"line\n" * 1001)
        target = tmp_path / "exported"
        for _ in range(2):
            syncs.clear()
            artifact.export(target, overwrite=True)
            [(path, size)] = syncs
            assert (tmp_path, 5005) == (path.parent, size)
            assert path.name.startswith(".exported.")
        with pytest.raises(TargetExistsError):
            artifact.export(target)
        assert 5005 == artifact.export(tmp_path / "new").size
    assert ["exported", "new"] == sorted(path.name for path in tmp_path.iterdir() if path.is_file())


@pytest.mark.parametrize("session_id", ["test", LONG], ids=["short", "long"])
def test_the_file_of_a_new_session_is_synced_whole_before_it_has_its_name(tmp_path, syncs, session_id):
    """Whatever the durability: a file that a power cut made empty would be in the way."""
    Store(tmp_path / "root", **NO_FLOORS).session(session_id, project=LONG).close()
    made = [(path, size) for path, size in syncs if ".new-" in str(path)]
    assert (["session.db"] if session_id == "test" else ["id", "session.db"]) == [
        path.name for path, _ in made
    ]
    project = next(path for path in (tmp_path / "root").iterdir() if path.is_dir())
    [folder] = [path for path in project.iterdir() if path.is_dir() and not path.name.startswith(".")]
    assert [size for path, size in made if path.name == "id"] == [len(LONG)] * (len(made) - 1)
    assert (folder / "session.db").stat().st_size == made[-1][1] > 4096
    assert [len(LONG)] == [size for path, size in syncs if path.parent == project]


def test_with_full_durability_every_name_on_the_way_to_a_session_is_synced(tmp_path, syncs):
    """The folders above the root, the root, the project, the session: each once the next one's name is in it."""
    root = tmp_path / "above" / "root"
    with Store(root, durability="full", **NO_FLOORS).session("test", project="web") as session:
        assert "above" in names_in(syncs, tmp_path)
        assert "root" in names_in(syncs, tmp_path / "above")
        assert "web" in names_in(syncs, root)
        assert "test" in names_in(syncs, root / "web")
        assert ["session.db"] in [what for path, what in syncs if path.name.startswith(".new-")]
        session.put(b"text")


def test_with_normal_durability_no_folder_is_synced(tmp_path, syncs):
    """It would cost milliseconds, and promises nothing."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    store.session("test").close()
    store.delete("test")
    assert [] == [path for path, what in syncs if isinstance(what, list)]


def test_with_full_durability_a_deletion_is_synced_before_anything_is_unlinked(tmp_path, syncs):
    """A folder that came back under its old name without its journal would be a session again."""
    store = Store(tmp_path / "root", durability="full", **NO_FLOORS)
    store.session("test").close()
    syncs.clear()
    store.delete("test")
    [gone] = [name for name in names_in(syncs, tmp_path / "root" / "_") if name.startswith(".gone-")]
    assert "test" not in names_in(syncs, tmp_path / "root" / "_")
    assert not (tmp_path / "root" / "_" / gone).exists()


@pytest.mark.parametrize("dry_run", [False, True])
def test_what_others_have_deleted_is_synced_before_it_is_unlinked(tmp_path, syncs, dry_run):
    """Who renamed it may have died before that; where there is nothing of the kind, and of a dry run, nothing is synced."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    for session_id in ("one", "two"):
        store.session(session_id, project=session_id).close()
    (tmp_path / "root" / "one" / "one").rename(tmp_path / "root" / "one" / ".gone-1")
    syncs.clear()
    assert 1 == store.collect(dry_run=dry_run).leftovers
    synced = [path.name for path, what in syncs if isinstance(what, list)]
    assert ([] if dry_run else ["one"]) == synced
    assert dry_run == (tmp_path / "root" / "one" / ".gone-1").exists()


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_a_copy_is_synced_whole_before_it_has_its_name(tmp_path, syncs, durability):
    """Its file and that file's name always, when all rows are in it; its own name with full durability."""
    source = Store(tmp_path / "source", **NO_FLOORS)
    with source.session("test") as session:
        session.put(os.urandom(300_000))
    target = Store(tmp_path / "target", durability=durability, **NO_FLOORS)
    syncs.clear()
    source.copy_session("test", to=target)
    file = tmp_path / "target" / "_" / "test" / "session.db"
    assert file.stat().st_size == sizes_of(syncs, "session.db")[-1] > 300_000
    synced = [path for path, what in syncs if isinstance(what, list)]
    assert any(path.name.startswith(".copy-") for path in synced)
    if durability == "normal":
        assert all(path.name.startswith(".copy-") for path in synced)
    else:
        assert "test" in names_in(syncs, file.parents[1])


def test_what_is_no_small_file_has_no_content(tmp_path):
    """A file of as many bytes as may be is read; one of a byte more, a link, a pipe, a folder and nothing at all are not."""
    (tmp_path / "right").write_bytes(b"12345678")
    (tmp_path / "large").write_bytes(b"123456789")
    (tmp_path / "link").symlink_to("right")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with folders.open_root(tmp_path) as root:
        assert b"12345678" == root.read_small("right", 8)
        assert {None} == {root.read_small(name, 8) for name in ("large", "link", "folder", "pipe", "missing")}
