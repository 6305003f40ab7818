"""What is counted in a session's file does not depend on how it was made."""

import sqlite3

import pytest

from spillstore.engine.sqlite.rows import SessionRows


@pytest.mark.files
@pytest.mark.parametrize("page_size", [1024, 2048, 8192])
def test_the_bytes_in_use_are_those_of_the_files_own_pages(tmp_path, page_size):
    """A file that was copied with other pages (``VACUUM INTO``) holds as many bytes as it has."""
    path = tmp_path / "session.db"
    connection = sqlite3.connect(path, factory=SessionRows)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000));")
    assert connection.used() == path.stat().st_size
    connection.close()
