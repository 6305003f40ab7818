"""What a power cut leaves of recorded calls, by the model of a disk; and what a store with ``full`` durability keeps whatever it leaves."""

from __future__ import annotations

import json
import random
import shutil

import campaigns
import disks
import pytest
from cases import Case
from support import STEP
from victims import Victims

SCENE = {"settings": {"durability": "full"}, "keyed": False}


class Least(random.Random):
    """Draws that let nothing through that was not synced."""

    def choice(self, options):
        return options[0]

    def random(self):
        return 1.0

    def randint(self, first, last):
        return first


@pytest.fixture
def folder():
    with campaigns.workplace("power") as folder:
        yield folder


# --- the disk ---------------------------------------------------------------------------------------------


def call(kind, number, data=b"", *, other=0, offset=0):
    return disks.Call(kind, number, other, offset, data)


@pytest.fixture
def disk(folder):
    """A disk with one file of ten bytes, the numbers of its folder and of the file, and what is left of it."""
    (folder / "here").mkdir()
    (folder / "here" / "file").write_bytes(b"0123456789")
    number, file = (folder / "here").stat().st_ino, (folder / "here" / "file").stat().st_ino

    def left(made, dice):
        made.left(folder / "left", dice)
        found = {path.name: path.read_bytes() for path in (folder / "left").iterdir() if path.is_file()}
        shutil.rmtree(folder / "left")
        return found

    return disks.Disk(folder / "here", ordered=False), number, file, left


def test_what_was_synced_is_there(disk):
    """Bytes and names that a sync came after, and nothing else, if nothing else came through."""
    made, folder, file, left = disk
    made.take(call(disks.WRITE, file, b"ab", offset=2))
    made.take(call(disks.SYNC, file))
    made.take(call(disks.WRITE, file, b"lost", offset=4))
    made.take(call(disks.CREATE, folder, b"unsafe\0", other=1))
    assert {"file": b"01ab456789"} == left(made, Least())
    made.take(call(disks.RENAME, folder, b"file\0new\0", other=folder))
    assert {"file": b"01ab456789"} == left(made, Least())
    made.take(call(disks.SYNC, folder))
    assert {"new": b"01ab456789", "unsafe": b""} == left(made, Least())


def test_a_write_is_torn_at_sectors(disk):
    """Any of them may be there; within 512 bytes all or nothing."""
    made, _, file, left = disk
    new = b"a" * 512 + b"b" * 512
    made.take(call(disks.WRITE, file, new))
    found = {left(made, random.Random(seed))["file"] for seed in range(200)}
    assert found == {b"0123456789", new, b"a" * 512, b"\0" * 512 + b"b" * 512, b"0123456789" + b"\0" * 502 + b"b" * 512} - {
        b"\0" * 512 + b"b" * 512
    }  # fmt: skip


def test_writes_in_any_order(disk):
    """What was written last need not be what is there."""
    made, _, file, left = disk
    for data in (b"first", b"later"):
        made.take(call(disks.WRITE, file, data))
    found = {left(made, random.Random(seed))["file"][:5] for seed in range(200)}
    assert found == {b"01234", b"first", b"later"}


def test_names_in_their_order(folder):
    """On a disk that keeps their order a later one is never there without an earlier one, and any sync makes all safe."""
    (folder / "here").mkdir()
    number = (folder / "here").stat().st_ino
    made = disks.Disk(folder / "here", ordered=True)
    for other, name in enumerate((b"a\0", b"b\0", b"c\0"), 1):
        made.take(call(disks.CREATE, number, name, other=other))
    found = set()
    for seed in range(50):
        made.left(folder / "left", random.Random(seed))
        found.add("".join(sorted(path.name for path in (folder / "left").iterdir())))
        shutil.rmtree(folder / "left")
    assert found == {"", "a", "ab", "abc"}
    made.take(call(disks.SYNC, 2))
    made.left(folder / "left", Least())
    assert ["a", "b", "c"] == sorted(path.name for path in (folder / "left").iterdir())


# --- a store ----------------------------------------------------------------------------------------------


@pytest.fixture
def after_cuts(folder):
    """Records stories, cuts the power after each ``step``-th of ``most`` calls from some promise on, and gives what was found."""
    try:
        recording = Victims(folder, library="recorded_calls")
        victims = Victims(folder, library="")
    except campaigns.NotHereError as error:
        pytest.skip(str(error))

    def found(stories, first, dice, scene=SCENE, most=12, step=STEP):
        done = campaigns.Done()
        root, trace = folder / "scene", folder / "trace"
        case = Case(victims, root, done, "recorded", scene)
        disk = disks.Disk(root, ordered=False)
        case.heard(
            recording.run("powers.recorded", stories=stories, root=str(root), trace=str(trace), **scene)
        )
        assert [] == done.found
        said, calls = [], 0
        for each in disks.recorded(trace.read_bytes()):
            disk.take(each)
            if each.kind == disks.NOTE:
                said.append(json.loads(each.data))
            elif calls < most and any(
                first.items() <= one.items() if isinstance(first, dict) else first in one for one in said
            ):
                calls += 1
                if calls % step:
                    continue
                disk.left(folder / "left", dice)
                case = Case(victims, folder / "left", done, f"cut {calls}", scene, made=True)
                ended = victims.run(
                    "powers.judged", root=str(folder / "left"), said=said, lost="nothing", aged=False,
                    **{**scene, "settings": {"durability": "full"}},
                )  # fmt: skip
                case.heard(ended)
                case.close(ended)
        assert calls >= step
        return done.found

    with recording, victims:
        yield found


@pytest.mark.slow
def test_the_names_on_the_way_to_a_new_session_are_synced(after_cuts):
    """With ``full`` nothing needs a name that no sync of its folder made safe: the file's, the session's, the project's, the root's."""
    assert [] == after_cuts(["write"], "flushed", Least())


@pytest.mark.slow
def test_what_is_less_durable_is_found(after_cuts):
    """What ``normal`` promises is not what ``full`` does."""
    scene = {"settings": {"durability": "normal"}, "keyed": False}
    found = after_cuts(["write"], "flushed", Least(), scene, most=2, step=1)
    assert any("session s is not there" in each for each in found)


@pytest.mark.slow
def test_a_deleted_session_whose_journal_is_gone_does_not_come_back(after_cuts):
    """With ``full`` its files are unlinked when its new name is safe: else it would be there again, without what its journal said."""
    assert [] == after_cuts(["many", "collect"], "deleting_session", random.Random(0), most=40)


@pytest.mark.slow
@pytest.mark.parametrize("dice", [Least(), random.Random(0)], ids=["the least", "anything"])
def test_a_session_that_is_replaced_is_there_whenever_the_power_goes(after_cuts, dice):
    """The old one or the new one: its file and its names are safe before they are exchanged, and that before the old one is emptied."""
    assert [] == after_cuts(["original", "copy"], {"replaces": True}, dice, most=80)


def test_names_that_are_exchanged_are_both_there_or_both_not(folder):
    """On a disk whose names come through in any order: an exchange is one step."""
    (folder / "here").mkdir()
    number = (folder / "here").stat().st_ino
    made = disks.Disk(folder / "here", ordered=False)
    for other, name in ((1, b"a\0"), (2, b"b\0")):
        made.take(call(disks.CREATE, number, name, other=other))
        made.take(call(disks.WRITE, other, name[:1]))
        made.take(call(disks.SYNC, other))
    made.take(call(disks.SYNC, number))
    made.take(call(disks.EXCHANGE, number, b"a\0b\0", other=number))
    found = set()
    for seed in range(20):
        made.left(folder / "left", random.Random(seed))
        found.add("".join((folder / "left" / name).read_text() for name in "ab"))
        shutil.rmtree(folder / "left")
    assert {"ab", "ba"} == found
