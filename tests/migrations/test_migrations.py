"""Schema versions: created at head without Alembic, upgraded by it, refused when newer."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from hostile import make_earlier

import spillstore_migrations
from spillstore import Store
from spillstore.engine.relational import schema as _schema
from spillstore.engine.sqlite import database
from spillstore.engine.sqlite import sql as _sql
from spillstore.engine.sqlite import upgrade as _upgrade
from spillstore.exceptions import NotASessionError, SchemaTooNewError, SessionBusyError
from spillstore.settings import Settings

pytestmark = pytest.mark.files
VERSIONS = Path(spillstore_migrations.__file__).parent / "versions"

# A revision after head, as a later release would bring it.
NEXT = f"""
import sqlalchemy as sa
from alembic import op
revision = "next"
down_revision = "{_sql.REVISION}"
def upgrade():
    op.add_column("artifact", sa.Column("added", sa.Text))
    op.execute(sa.text("PRAGMA user_version = {_sql.SCHEMA_NUMBER + 1}"))
"""


def objects(path):
    """Everything in a file's schema, white space aside."""
    with closing(sqlite3.connect(path)) as connection:
        return schema_of(connection)


def schema_of(connection):
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    squeeze = lambda sql: "" if sql is None else " ".join(sql.split()).replace("( ", "(").replace(" )", ")")
    return sorted((kind, name, table, squeeze(sql)) for kind, name, table, sql in rows)


def image():
    connection = sqlite3.connect(":memory:")
    connection.deserialize(database.empty_image())
    return connection


@pytest.fixture
def blank(tmp_path):
    """A file at the very beginning, before any revision."""
    path = tmp_path / "session.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 2048")
    connection.execute("VACUUM")
    connection.close()
    return path


def test_revisions_from_blank_equal_the_prebuilt_image(blank):
    """Alembic's way to head and the image that new sessions are copied from end in the same schema."""
    _upgrade.upgrade(blank, Settings())
    upgraded, prebuilt = sqlite3.connect(blank), image()
    assert schema_of(upgraded) == schema_of(prebuilt)
    for pragma in ("application_id", "user_version"):
        assert (
            upgraded.execute(f"PRAGMA {pragma}").fetchone() == prebuilt.execute(f"PRAGMA {pragma}").fetchone()
        )
    for connection in (upgraded, prebuilt):
        assert [(_sql.REVISION,)] == connection.execute("SELECT version_num FROM alembic_version").fetchall()
        connection.close()


def test_nothing_is_missing_in_the_revisions(blank):
    """Alembic's own comparison of the upgraded file with the metadata finds no difference."""
    _upgrade.upgrade(blank, Settings())
    engine = sa.create_engine(f"sqlite:///{blank}")
    with engine.connect() as connection:
        assert [] == compare_metadata(MigrationContext.configure(connection), _schema.metadata)
    engine.dispose()


def test_the_newest_revision_is_the_schemas():
    """The constants name the head of the revisions."""
    config = Config()
    config.set_main_option("script_location", "spillstore_migrations:")
    assert _sql.REVISION == ScriptDirectory.from_config(config).get_current_head()


def test_revisions_are_frozen():
    """A revision imports nothing of ours, so that it says the same for ever."""
    for path in VERSIONS.glob("*.py"):
        assert "spillstore" not in path.read_text()


@pytest.mark.long
def test_a_new_session_is_at_head_without_alembic(tmp_path):
    """Making, writing and reading a session imports neither Alembic nor SQLAlchemy."""
    script = (
        "import sys\nfrom spillstore import Store\n"
        "with Store(sys.argv[1], free_disk_floor=0).session('x') as session:\n"
        "    session.put(b'y').read_lines(1, 1)\n    session.check()\n"
        "print(sorted({'alembic', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "[]\n" == done.stdout


def session_file(store):
    with store.session("test") as session:
        artifact_id = session.put(b"kept\n").id
    return store.root / "_" / "test" / "session.db", artifact_id


@pytest.fixture
def later(tmp_path):
    """A folder of revisions with one more than head."""
    folder = tmp_path / "later"
    folder.mkdir()
    (folder / "next.py").write_text(NEXT)
    return f"{VERSIONS}:{folder}"


def test_an_older_file_is_upgraded_in_place(plain_store, later):
    """A revision after today's head runs on a real session; what was stored stays readable."""
    path, artifact_id = session_file(plain_store)
    _upgrade.upgrade(path, Settings(), locations=later)
    connection = sqlite3.connect(path)
    assert "added" in [row[1] for row in connection.execute("PRAGMA table_info(artifact)")]
    # Back, so that this version reads it: a file must be to the letter what its number says.
    connection.execute("ALTER TABLE artifact DROP COLUMN added")
    connection.execute(f"PRAGMA user_version = {_sql.SCHEMA_NUMBER}")
    connection.close()
    with plain_store.session("test") as session:
        assert b"kept\n" == session.artifact(artifact_id).read_lines(1, 1)


def test_opening_an_older_file_upgrades_it(plain_store, monkeypatch):
    """A writer that finds a file of an older schema upgrades it, once; a reader reads it as it is."""
    path, artifact_id = session_file(plain_store)
    upgraded = []

    def upgrade(found, settings):
        upgraded.append(found)
        real(found, settings)

    real = _upgrade.upgrade
    monkeypatch.setattr(_upgrade, "upgrade", upgrade)
    make_earlier(path)
    with plain_store.session("test", read_only=True) as session:
        assert b"kept\n" == session.artifact(artifact_id).read_lines(1, 1)
    assert [] == upgraded
    with plain_store.session("test") as session:
        assert b"kept\n" == session.artifact(artifact_id).read_lines(1, 1)
    assert [path] == upgraded


def test_a_newer_file_is_refused(plain_store):
    """A file of a newer version is named, for writers and readers, and left as it is."""
    path, _ = session_file(plain_store)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {_sql.SCHEMA_NUMBER + 1}")
    connection.close()
    before = path.read_bytes()
    for read_only in (True, False):
        with pytest.raises(SchemaTooNewError, match="newer Spillstore"):
            plain_store.session("test", read_only=read_only)
    assert before == path.read_bytes()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {_sql.SCHEMA_NUMBER}")
    connection.close()


def test_an_upgrade_waits_for_nobody_who_lives(plain_store, later):
    """While a process holds the session, an upgrade refuses and names it."""
    path, _ = session_file(plain_store)
    with plain_store.session("test"), pytest.raises(SessionBusyError, match="held by"):
        _upgrade.upgrade(path, Settings(), locations=later)


def test_a_failed_upgrade_changes_nothing(plain_store, tmp_path):
    """A revision that fails in its middle leaves the file as it was."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "next.py").write_text(NEXT + "    raise RuntimeError('half way')\n")
    path, artifact_id = session_file(plain_store)
    before = objects(path)
    with pytest.raises(RuntimeError, match="half way"):
        _upgrade.upgrade(path, Settings(), locations=f"{VERSIONS}:{folder}")
    assert before == objects(path)
    with plain_store.session("test") as session:
        assert b"kept\n" == session.artifact(artifact_id).read_lines(1, 1)


def test_a_database_of_others_is_not_upgraded(tmp_path):
    """A foreign SQLite file is refused before anything is done to it."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    with pytest.raises(NotASessionError):
        Store.open_file(path)
