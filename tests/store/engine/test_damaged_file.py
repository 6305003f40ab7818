"""Pages and rows as they are read without SQLite, held against what SQLite reads: lengths, chains, numbers, free pages, journals."""

from __future__ import annotations

import collections
import contextlib
import os
import shutil
import sqlite3
import struct

import pytest

from spillstore.engine.sqlite.damaged_file import DamagedFile
from spillstore.engine.sqlite.record_format import BrokenError, values, varint

COLUMNS = "abcdefghi"  # as many as a row of events has, by which it is told
SIZES = [512, 1024, 2048, 32768]
NUMBERS = [0, 1, 2, -1, 127, 128, -128, -129, 32767, 32768, -32769, 2**23 - 1, 2**23, -(2**23) - 1, 2**31 - 1, 2**31, 2**47 - 1, 2**47, -(2**47) - 1, 2**63 - 1, -(2**63)]  # fmt: skip


def connected(path, page_size, *, wal=False):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"CREATE TABLE event ({', '.join(COLUMNS)})")
    return connection


def put(connection, rows):
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO event VALUES ({', '.join('?' * 9)})", rows)
    connection.execute("COMMIT")


def row(number, last):
    return (number, "text", b"raw", None, 1.5, 0, 1, -number, last)


def got(path):
    """All rows that lie somewhere, by their first value, and whether on a free page."""
    with DamagedFile(path, None) as file:
        found = [(file.row(place), place.is_free) for table, _, place in file.places() if table == "event"]
    return [(row, is_free) for row, is_free in found if row is not None]


def same(rows, found):
    def by_number(of):
        return sorted(of, key=lambda row: row[0])

    assert by_number(rows) == by_number(row for row, _ in found)


@pytest.mark.parametrize("page_size", SIZES)
def test_rows_of_any_length_are_read(tmp_path, page_size):
    """Around each length at which a row no longer fits into its page, or into so many pages more."""
    lengths = set(range(9))
    for pages in range(4 if page_size <= 2048 else 1):
        around = pages * (page_size - 4) + page_size
        lengths |= {length for length in range(around - 90, around + 10) if length > 0}
    least = (page_size - 12) * 32 // 255 - 23
    lengths |= {
        least + pages * (page_size - 4) + near
        for pages in ((1, 2) if page_size <= 2048 else ())
        for near in range(-45, 12)
    }
    rows = [row(number, bytes([number % 251]) * length) for number, length in enumerate(sorted(lengths), 1)]
    with contextlib.closing(connected(tmp_path / "file", page_size)) as connection:
        put(connection, rows)
    same(rows, got(tmp_path / "file"))


@pytest.mark.parametrize("page_size", SIZES)
def test_pages_of_many_short_rows_are_read(tmp_path, page_size):
    """More than a byte can count in one page."""
    rows = [(number, *[None] * 8) for number in range(3000)]
    with contextlib.closing(connected(tmp_path / "file", page_size)) as connection:
        put(connection, rows)
    same(rows, got(tmp_path / "file"))


def test_numbers_of_any_width_and_other_values_are_read(tmp_path):
    """Whole ones of one to eight bytes with both signs, fractions, texts, bytes, and nothing."""
    rows = [
        (number, value, -1, 0, 1, "größe", b"\x00\xff", None, 0.1) for number, value in enumerate(NUMBERS)
    ]
    rows += [(100, *range(8)), (101, None, None, "", b"", "x" * 57, "x" * 58, b"y" * 57, b"y" * 58)]
    with contextlib.closing(connected(tmp_path / "file", 1024)) as connection:
        put(connection, rows)
    found = got(tmp_path / "file")
    same(rows, found)
    assert {type(value) for row, _ in found for value in row} == {int, str, bytes, float, type(None)}


def test_what_comes_first_of_a_row_is_told_from_its_page_alone(tmp_path):
    """Its first three values, whatever becomes of the chain of pages behind it; without that there is no row."""
    with contextlib.closing(connected(tmp_path / "file", 512)) as connection:
        put(connection, [row(7, b"x" * 5000)])
    size = (tmp_path / "file").stat().st_size
    with DamagedFile(tmp_path / "file", None) as file:
        [(_, first, place)] = [found for found in file.places() if found[0] == "event"]
        assert (7, "text", b"raw") == first
        assert row(7, b"x" * 5000) == file.row(place)
        os.truncate(tmp_path / "file", size - 512)  # zeros where the file ends
        assert row(7, b"x" * 5000) != file.row(place)


@pytest.mark.parametrize("page_size", [512, 2048])
def test_rows_on_free_pages_come_last_and_are_said_to_be_free(tmp_path, page_size):
    """Those that were deleted, by both the list of free pages and the map of pages; what is there is not."""
    rows = [row(number, bytes([number % 251]) * (page_size // 3)) for number in range(1, 1301)]
    with contextlib.closing(connected(tmp_path / "file", page_size)) as connection:
        put(connection, rows)
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("DELETE FROM event WHERE a BETWEEN 100 AND 1000")
        kept = connection.execute("SELECT * FROM event").fetchall()
        [(free,)] = connection.execute("PRAGMA freelist_count")
    assert free > page_size // 5  # more than one page of the map, and of the list
    found = got(tmp_path / "file")
    there = [row for row, is_free in found if not is_free]
    assert set(kept) <= set(there)
    assert {row[0] for row in there} <= {row[0] for row in kept} | {*range(97, 103), *range(998, 1004)}
    gone = [row for row, is_free in found if is_free]
    assert len(set(gone) - set(kept)) > 600
    assert set(gone) <= set(rows)
    assert [is_free for _, is_free in found] == sorted(is_free for _, is_free in found)


def test_a_free_list_that_goes_round_or_says_too_much_ends(tmp_path):
    """Its pages are counted once, and no page holds more numbers than fit; pages that are used by the map are not free."""
    with contextlib.closing(connected(tmp_path / "file", 512)) as connection:
        put(connection, [row(number, b"x" * 300) for number in range(100)])
        connection.execute("DELETE FROM event WHERE a > 20")
        kept = connection.execute("SELECT * FROM event").fetchall()
    data = bytearray((tmp_path / "file").read_bytes())
    trunk = int.from_bytes(data[32:36], "big")
    at = (trunk - 1) * 512
    data[at : at + 8] = struct.pack(">II", trunk, 2**32 - 1)  # it is its own successor, with no end
    leaves = struct.pack(">126I", *range(1, 127))  # and everything is free
    data[at + 8 : at + 512] = leaves
    (tmp_path / "file").write_bytes(data)
    assert set(kept) <= {row for row, is_free in got(tmp_path / "file") if not is_free}


def test_no_link_is_followed_and_nobody_waits_for_a_pipe(tmp_path):
    """In place of the file or of its journal: it is an error at once."""
    with contextlib.closing(connected(tmp_path / "file", 512)) as connection:
        put(connection, [row(1, b"x")])
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OSError, match="symbolic links"):
        DamagedFile(tmp_path / "link", None)
    os.mkfifo(tmp_path / "file-wal")
    with pytest.raises(OSError, match="seek"):
        DamagedFile(tmp_path / "file", None)
    os.unlink(tmp_path / "file-wal")
    (tmp_path / "file-wal").symlink_to("file")
    with pytest.raises(OSError, match="symbolic links"):
        DamagedFile(tmp_path / "file", None)


# --- journals -----------------------------------------------------------------------------------------------


@pytest.fixture
def journal(tmp_path):
    """A file whose newest rows are in its journal alone: the file, the journal, and the rows after each of three commits."""
    after = []
    with contextlib.closing(connected(tmp_path / "live", 1024, wal=True)) as connection:
        put(connection, [row(number, b"old" * 50) for number in range(40)])
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        after.append(connection.execute("SELECT * FROM event").fetchall())
        for change in (
            "UPDATE event SET i = 'new' WHERE a < 10",
            "UPDATE event SET i = 'newer' WHERE a > 30",
        ):
            connection.execute(change)
            after.append(connection.execute("SELECT * FROM event").fetchall())
        for suffix in ("", "-wal"):
            shutil.copy(f"{tmp_path}/live{suffix}", f"{tmp_path}/file{suffix}")
    return tmp_path / "file", bytearray((tmp_path / "file-wal").read_bytes()), after


def first_found(path):
    """Of each row the form that is to be preferred: the one that comes first."""
    rows = {}
    for row, _ in got(path):
        rows.setdefault(row[0], row)
    return sorted(rows.values(), key=lambda row: row[0])


def with_journal(path, data):
    path.with_name("file-wal").write_bytes(data)
    return first_found(path)


def frames_of(data):
    return range(32, len(data), 24 + 1024)


def test_what_a_whole_journal_has_committed_is_what_is_read(journal):
    """And nothing of what it has replaced, which was changed on purpose; without it, what the file has."""
    path, data, after = journal
    assert after[2] == with_journal(path, data)
    same(after[2], got(path))
    path.with_name("file-wal").unlink()
    assert after[0] == first_found(path)
    assert after[0] == with_journal(path, b"")
    assert after[0] == with_journal(path, data[:31])


def test_of_a_journal_that_was_cut_the_commits_that_are_whole_are_preferred(journal):
    """Frames of one that was not finished come behind them, and what the file has last of all."""
    path, data, after = journal
    ends = [at for at in frames_of(data) if data[at + 4 : at + 8] != bytes(4)]  # frames that commit
    assert len(ends) == 2
    assert after[1] == with_journal(path, data[: ends[0] + 24 + 1024])
    assert after[1] == with_journal(path, data[: ends[1]])
    assert after[1] == with_journal(path, data[: ends[1] + 24 + 1023])
    both = {row for row, _ in got(path)}
    assert set(after[0]) | set(after[1]) <= both
    assert after[0] == with_journal(path, data[: ends[0]])
    assert after[2] == with_journal(path, data + bytes(1000))


def test_of_a_page_that_an_unfinished_commit_has_changed_both_forms_are_read(journal):
    """What the file has of it comes last; a page that all agree about is read once."""
    path, data, after = journal
    ends = [at for at in frames_of(data) if data[at + 4 : at + 8] != bytes(4)]
    assert ends[1] > ends[0] + 24 + 1024, "the second commit has more than one page"
    path.with_name("file-wal").write_bytes(data[: ends[1]])
    count = collections.Counter(row for row, _ in got(path))
    assert {row for row in after[0] if row[0] > 30} <= set(count)  # of the file
    assert {row for row in after[2] if row[0] > 30} & set(count)  # of the commit that was not finished
    assert {1} == {count[row] for row in after[1] if row[8] == "new"}


def test_a_free_list_that_is_in_the_journal_alone_is_the_one_that_counts(tmp_path):
    """The first page of the file knows nothing yet of what was deleted."""
    with contextlib.closing(connected(tmp_path / "live", 512, wal=True)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        rows = [row(number, b"x" * 300) for number in range(60)]
        put(connection, rows)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("DELETE FROM event WHERE a >= 20")
        for suffix in ("", "-wal"):
            shutil.copy(f"{tmp_path}/live{suffix}", f"{tmp_path}/file{suffix}")
    found = got(tmp_path / "file")
    assert set(rows[:20]) <= {row for row, is_free in found if not is_free}
    assert len({row[0] for row, is_free in found if is_free}) > 30


@pytest.mark.parametrize("where", ["salt", "page", "sum", "header"])
def test_behind_a_frame_that_is_damaged_nothing_is_committed(journal, where):
    """What is there is got all the same, after what is sure; a frame of an earlier round counts for nothing."""
    path, data, after = journal
    second = next(at for at in frames_of(data) if data[at + 4 : at + 8] != bytes(4)) + 24 + 1024
    places = {"salt": second + 8, "page": second + 24 + 1000, "sum": second + 16, "header": 24}
    data[places[where]] ^= 1
    if where == "salt":
        for at in range(second + 24 + 1024, len(data), 24 + 1024):
            data[at + 8] ^= 1
    assert after[0 if where == "header" else 1] == with_journal(path, data)
    found = {row for row, _ in got(path)}
    assert set(after[1]) <= found
    if where in {"sum", "header"}:
        assert set(after[2]) <= found
    if where == "salt":
        assert not found & (set(after[2]) - set(after[1]) - set(after[0]))


def test_either_order_of_bytes_in_a_journal_s_sums_is_read(journal):
    """Its header says which; both are written, by machines of either kind."""
    path, data, after = journal
    was = data[3]
    order = {0x82: ">", 0x83: "<"}[was]  # the other one
    data[3] = was ^ 1

    def summed(part, sums):
        first, second = sums
        for one, two in struct.iter_unpack(f"{order}II", part):
            first = (first + one + second) & 0xFFFFFFFF
            second = (second + two + first) & 0xFFFFFFFF
        return first, second

    sums = summed(bytes(data[:24]), (0, 0))
    data[24:32] = struct.pack(">II", *sums)
    for at in frames_of(data):
        sums = summed(bytes(data[at : at + 8] + data[at + 24 : at + 24 + 1024]), sums)
        data[at + 16 : at + 24] = struct.pack(">II", *sums)
    assert after[2] == with_journal(path, data)
    same(after[2], got(path))


# --- rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"\x00", (0, 1)), (b"\x7f", (127, 1)), (b"\x81\x00", (128, 2)), (b"\xff\x7f", (16383, 2)), (b"\x81\x80\x00", (16384, 3)),
     (b"\xff" * 8 + b"\xff", (2**64 - 1, 9)), (b"\x80" * 8 + b"\x05", (5, 9)), (b"\xff" * 7 + b"\x7f", (2**56 - 1, 8))],
)  # fmt: skip
def test_numbers_of_one_to_nine_bytes(data, expected):
    """The ninth has eight bits; what comes behind is not looked at."""
    assert expected == varint(data, 0)
    assert (expected[0], expected[1] + 3) == varint(b"abc" + data + b"\xff", 3)


@pytest.mark.parametrize(
    ("types", "payload"), [([10], b"12345678"), ([11], b"12345678"), ([2], b"1"), ([7], b"1234567"), ([18], b"12"), ([15], b"\xff"), ([1, 1], b"1")]
)  # fmt: skip
def test_values_that_are_none_are_no_row(types, payload):
    """Types that are reserved, less than there should be, a text that is none."""
    with pytest.raises(BrokenError):
        values(types, payload, 0)
