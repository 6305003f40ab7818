"""What a store remembers of itself: for how long a size is kept, when it is time to look again, and which file is believed."""

from __future__ import annotations

import logging
import os

import pytest

from spillstore.engine.sqlite import usage_cache
from spillstore.engine.sqlite.usage_cache import due, forget_size, remember_size, size_of
from spillstore.settings import MIB

QUOTA = 10**12  # so large that only the longest time counts


@pytest.fixture
def root(tmp_path):
    """A store's folder that this process knows nothing of."""
    (tmp_path / "root").mkdir(mode=0o700)
    return tmp_path / "root"


def asked(root, quota, clock, size=1000):
    """What is said of the size, and whether it was measured for that."""
    return size_of(root, quota, clock, lambda: size)


@pytest.mark.parametrize("known", ["here", "in the file"])
@pytest.mark.parametrize(
    ("room", "took", "lasts"),
    [(QUOTA, 0.0, 60.0), (0, 0.0, 1.0), (-5, 0.0, 1.0), (256 * MIB * 8, 0.0, 8.0), (256 * MIB // 2, 0.0, 1.0), (0, 3.0, 30.0),
     (256 * MIB * 20, 1.0, 20.0), (256 * MIB * 20, 4.0, 40.0), (QUOTA, 9.0, 90.0)],
)  # fmt: skip
def test_a_size_lasts_for_as_long_as_one_process_needs_to_fill_the_room(
    root, clock, room, took, lasts, known
):
    """A minute at most, a second at least, and ten times what looking took; a time before it was found is none."""
    began = clock.now
    remember_size(root, 1000, clock, took)
    for later, expected in ((0.0, False), (lasts - 0.001, False), (lasts, True), (-0.001, True)):
        clock.now = began + later
        if known == "in the file":
            usage_cache._measured.clear()
        before = (root / ".size").read_bytes(), dict(usage_cache._measured)
        assert (7 if expected else 1000, expected) == asked(root, 1000 + room, clock, 7)
        (root / ".size").write_bytes(before[0])
        usage_cache._measured.clear()
        usage_cache._measured.update(before[1])


@pytest.mark.parametrize("known", ["here", "in the file", "both"])
def test_a_size_from_before_a_deletion_is_forgotten_wherever_it_is(root, clock, known):
    """By this process, and by the others, which read the file."""
    remember_size(root, 1000, clock, 0.0)
    line = (root / ".size").read_bytes()
    assert b"1000 1700000000.0 0.000000\n" == line
    if known == "here":
        (root / ".size").write_bytes(b"")
    if known == "in the file":
        usage_cache._measured.clear()
    forget_size(root)
    assert b"" == (root / ".size").read_bytes()
    assert (7, True) == asked(root, QUOTA, clock, 7)
    assert (7, False) == asked(root, QUOTA, clock, 8)


def test_what_nobody_knows_is_not_written_down(root, clock):
    """A root that is not there is not made, either, and nothing is remembered of it."""
    forget_size(root)
    assert [] == os.listdir(root)
    root.rmdir()
    for _ in range(2):
        assert (7, True) == asked(root, QUOTA, clock, 7)
    assert not root.exists()


@pytest.mark.parametrize(
    "line", [b"", b"1000 1700000000.0 0.0", b"-1 1700000000.0 0.0\n", b"1000 1700000000 0.0\n", b"x\n", b"1000 1700000000.0 0.0\n" * 2, b"1" * 19 + b" 1.0 0.0\n"]
)  # fmt: skip
def test_a_line_that_is_none_is_not_believed(root, clock, line):
    """Half of one, one of other numbers, two of them."""
    (root / ".size").write_bytes(line)
    (root / ".size").chmod(0o600)
    assert (7, True) == asked(root, QUOTA, clock, 7)
    assert (root / ".size").read_bytes().startswith(b"7 ")


def test_a_line_of_another_process_is_believed(root, clock):
    """One of the largest numbers that may stand there is."""
    (root / ".size").write_bytes(b"9" * 18 + b" 1700000000.0 0.5\n")
    (root / ".size").chmod(0o600)
    assert (int("9" * 18), False) == asked(root, QUOTA, clock, 7)


@pytest.mark.parametrize(("name", "ask"), [(".size", lambda root, clock: asked(root, QUOTA, clock)), (".collected", lambda root, clock: due(root, clock.now, 60))])  # fmt: skip
def test_a_file_that_cannot_be_used_is_named_once(root, clock, caplog, name, ask):
    """A link in its place: it says which file and why, and what this process has seen itself counts."""
    (root / name).symlink_to("elsewhere")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            ask(root, clock)
    [record] = [
        record for record in caplog.records if record.getMessage() == "a file of the store is not used"
    ]
    assert str(root / name) == record.file
    assert "none of the store's own files" in record.error
    assert not (root / "elsewhere").exists()
    if name == ".size":
        assert (1000, False) == asked(root, QUOTA, clock, 7)


def test_it_is_time_to_look_when_the_interval_has_passed(root, clock):
    """Nobody has looked before: then nothing is due, but noted; a mark in the future is no reason to wait."""
    began = clock.now
    assert due(root, began, 60.0) is None
    assert began == (root / ".collected").stat().st_mtime
    assert due(root, began, 60.0) is None
    assert due(root, began + 59.9, 60.0) is None
    assert began == due(root, began + 60.0, 60.0)
    assert began + 60.0 == (root / ".collected").stat().st_mtime
    assert due(root, began + 60.0, 60.0) is None
    os.utime(root / ".collected", (began + 1e6, began + 1e6))
    assert began + 1e6 == due(root, began + 61.0, 60.0)
    assert began + 61.0 == (root / ".collected").stat().st_mtime
    assert due(root / "missing", began, 60.0) is None


def test_without_a_mark_that_can_be_used_a_process_goes_by_what_it_has_seen(root, clock):
    """The first look notes, the next ones are due each interval after that."""
    (root / ".collected").symlink_to("elsewhere")
    began = clock.now
    assert due(root, began, 60.0) is None
    assert due(root, began + 59.0, 60.0) is None
    assert began == due(root, began + 60.0, 60.0)
    assert due(root, began + 61.0, 60.0) is None
    assert began + 60.0 == due(root, began + 120.0, 60.0)


def test_a_session_of_the_future_ages_from_when_it_was_seen_first(plain_store, clock):
    """Not from a later look, not from one that happened in the future itself; one that is not of the future is as it is."""
    if plain_store.root is None:
        pytest.skip("a server has one clock")
    plain_store.session("ahead").close()
    folder = plain_store.root / "_" / "ahead"
    (info,) = plain_store.sessions()

    def aged(now):
        return usage_cache.aged(info, now, folder, dry_run=False).used

    now = float(int(info.used) - 1000)
    assert info is usage_cache.aged(info, info.used, folder, dry_run=False)
    assert now == aged(now)
    assert now == pytest.approx(aged(now + 10), abs=1)
    assert now - 100 == aged(now - 100)
    assert now - 100 == pytest.approx(aged(now), abs=1)
    assert (folder / "session.db").stat().st_mtime == pytest.approx(info.used, abs=5)
    plain_store.delete("ahead")
    assert now == aged(now)
