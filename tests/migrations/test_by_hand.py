"""Alembic's own command on a session file."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import traceback
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import CommandLine, Config

import spillstore_migrations
from spillstore.engine.sqlite import sql as _sql

MIGRATIONS = Path(spillstore_migrations.__file__).parents[1]
pytestmark = pytest.mark.files
NEXT = f"{_sql.SCHEMA_NUMBER + 1:04d}"
INI = MIGRATIONS / "alembic.ini"


@pytest.fixture
def file(plain_store):
    """A session's file that nobody has open."""
    with plain_store.session("s") as session:
        session.put(b"kept\n")
    return plain_store.root / "_" / "s" / "session.db"


@pytest.fixture
def alembic(capfd):
    """Calls the command, and gives what it says."""

    def call(*arguments, ini=INI, code=0):
        capfd.readouterr()
        failed = 0
        command = CommandLine("alembic")
        options = command.parser.parse_args([*map(str, arguments)])
        try:
            command.run_cmd(Config(ini, cmd_opts=options, stdout=sys.stdout), options)
        except SystemExit as end:
            failed = end.code and 1
        except Exception:  # of a revision, which no command explains
            failed = 1
            traceback.print_exc()
        said = "".join(capfd.readouterr())
        assert code == failed, said
        return said

    return call


@pytest.mark.long
def test_the_command_is_a_program(file):
    """Which a person calls in a shell."""
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "-c", INI, "-x", f"file={file}", "current"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, f"{_sql.REVISION} (head)\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["current"], rf"^{_sql.REVISION} \(head\)$"),
        (["upgrade", "head"], r"^$"),
        (["check"], "^No new upgrade operations detected.$"),
        (["history"], rf"^0001 -> {_sql.REVISION} \(head\)"),
        (["upgrade", "head", "--sql"], "CREATE TABLE session"),
    ],
)
def test_commands_work_by_hand(alembic, plain_store, file, command, said):
    """Each finds the session at head and unchanged, and the session opens afterwards."""
    assert re.search(said, alembic("-x", f"file={file}", *command), re.MULTILINE)
    with plain_store.session("s") as session:
        assert [b"kept\n"] == [artifact.read() for artifact in session.artifacts()]


def test_the_file_may_stand_in_the_ini(alembic, file, tmp_path):
    """``sqlalchemy.url`` names it, too."""
    ini = tmp_path / "mine.ini"
    ini.write_text(f"{INI.read_text()}sqlalchemy.url = sqlite:///{file}\n")
    assert f"{_sql.REVISION} (head)\n" in alembic("current", ini=ini)


def test_a_blank_file_is_brought_to_head(alembic, tmp_path):
    """``upgrade head`` makes of an empty file one that ``check`` finds right."""
    blank = tmp_path / "blank.db"
    blank.touch()
    alembic("-x", f"file={blank}", "upgrade", "head")
    assert "No new upgrade operations" in alembic("-x", f"file={blank}", "check")
    assert f"{_sql.REVISION} (head)" in alembic("-x", f"file={blank}", "current")


def test_a_difference_is_found_and_written_down(alembic, file, tmp_path):
    """``check`` fails where the tables differ, and ``revision --autogenerate`` makes a revision of it that has to be finished."""
    (tmp_path / "versions").mkdir()
    ini = tmp_path / "mine.ini"
    ini.write_text(
        f"{INI.read_text()}path_separator = os\n"
        f"version_locations = {MIGRATIONS}/spillstore_migrations/versions:{tmp_path}/versions\n"
    )
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP INDEX ix_artifact_created")
    assert "add_index" in alembic("-x", f"file={file}", "check", ini=ini, code=1)
    place = tmp_path / "versions"
    asked = ["revision", "--autogenerate", "-m", "more", "--rev-id", NEXT, "--version-path", place]
    alembic("-x", f"file={file}", *asked, ini=ini)
    (made,) = place.glob(f"{NEXT}*.py")
    text = made.read_text()
    assert "op.create_index('ix_artifact_created'" in text
    assert f"down_revision = '{_sql.REVISION}'" in text
    assert "SCHEMA_NUMBER" in alembic("-x", f"file={file}", "upgrade", "head", ini=ini, code=1)
    made.write_text(text.replace("SCHEMA_NUMBER: int", f"SCHEMA_NUMBER = {_sql.SCHEMA_NUMBER}"))
    alembic("-x", f"file={file}", "upgrade", "head", ini=ini)
    assert f"{NEXT} (head)" in alembic("-x", f"file={file}", "current", ini=ini)


@pytest.mark.parametrize("command", [["current"], ["upgrade", "head"]])
def test_what_is_no_session_of_ours_to_change_is_refused(alembic, plain_store, file, tmp_path, command):
    """A file that is not there is not made, a database of others is left alone, and so is a session in use."""
    missing = tmp_path / "missing.db"
    assert "there is no session file" in alembic("-x", f"file={missing}", *command, code=1)
    assert not missing.exists()
    assert "there is no session file None" in alembic(*command, code=1)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (a)")
    before = other.read_bytes()
    assert "is no session file" in alembic("-x", f"file={other}", *command, code=1)
    assert before == other.read_bytes()
    with plain_store.session("s"):
        assert "is held by" in alembic("-x", f"file={file}", *command, code=1)


def test_the_manual_has_the_ini():
    """What the manual tells to write is what lies in the repository."""
    text = (MIGRATIONS.parent / "docs" / "stored-format.md").read_text()
    (shown,) = re.findall(r"```ini\n(.*?)```", text, re.DOTALL)
    lines = [line for line in INI.read_text().splitlines() if not line.startswith("#")]
    assert shown.splitlines() == lines
