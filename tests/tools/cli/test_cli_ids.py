"""Which artifact and which session a command means."""

from __future__ import annotations

import json
import os
import re

import pytest

from spillstore_tools.cli.support.working_folders import project_session


@pytest.fixture
def three(put):
    """Ids of three artifacts, the oldest first."""
    return [put(f"{word}\n", source="make", command="make test") for word in ("one", "two", "three")]


@pytest.mark.parametrize(
    ("name", "index"),
    [("@last", 2), ("@last~0", 2), ("@last~1", 1), ("@last~2", 0), ("@1", 0), ("@3", 2)],
)
def test_places_in_the_session(cli, three, name, index):
    """From the newest back, or from the oldest on."""
    assert cli("info", name, "--json").json["id"] == three[index]


@pytest.mark.parametrize("name", ["@last~3", "@4", "@0"])
def test_places_that_are_not_there(cli, three, name):
    """They are refused by what was asked for."""
    answer = cli("cat", name)
    assert answer.code == 125
    assert f"does not hold as many artifacts as {name} asks for" in answer.err


def test_the_end_of_an_id(cli, three):
    """Four characters or more, as long as one artifact alone ends so."""
    for artifact_id, word in zip(three, (b"one\n", b"two\n", b"three\n"), strict=True):
        assert cli("cat", artifact_id[-8:]).out == word
    assert cli("cat", three[0][-3:]).code == 125


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["show"], "three\n"),
        (["cat"], "three\n"),
        (["tail"], "three\n"),
        (["replay"], "three\n"),
        (["search", "thr"], "1:three\n"),
        (["diff"], "[new]\n+1:three\n[gone]\n-1:two\n"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_newest_is_meant_where_none_is_named(cli, three, arguments, shown):
    """As a person expects who has just run something."""
    assert cli(*arguments).text == shown


def test_the_newest_is_described_exported_and_queried(cli, put, tmp_path):
    """Likewise where another argument follows."""
    newest = put('{"a": [1, 2]}\n')
    assert cli("info").text.startswith(f"Artifact: {newest}\n")
    assert cli("export", tmp_path / "file").code == 0
    assert (tmp_path / "file").read_text() == '{"a": [1, 2]}\n'
    assert cli("query", "$.a[1]").text == "2\n"


def test_nothing_is_deleted_unnamed(cli, three):
    """``rm`` alone means nothing."""
    assert cli("rm").code == 2
    assert len(cli("list", "--json").json["artifacts"]) == 3


def test_a_dash_is_no_file(cli, three):
    """``export -`` says what writes to stdout."""
    answer = cli("export", "@last", "-")
    assert answer.code == 2
    assert "spillstore cat @last" in answer.err
    assert not os.path.exists("-")


# --- search -----------------------------------------------------------------------------------------------


def test_both_orders_of_a_search(cli, three):
    """The pattern first, as grep has it; an id first, as long as it can be told from a pattern."""
    for arguments in (
        ["two", three[1]],
        [three[1], "two"],
        ["two", "@2"],
        ["@2", "two"],
        ["two", three[1][-8:]],
        [three[1][-8:], "two"],
    ):
        assert cli("search", *arguments).text == "1:two\n"


def test_a_search_of_everything(cli, three):
    """Each artifact that matches is named, the newest first; others are not."""
    answer = cli("search", "--all", "t")
    assert answer.text == f"{three[2]} make test\n1:three\n\n{three[1]} make test\n1:two\n"
    assert cli("search", "--all", "-l", "t").text == f"{three[2]}\n{three[1]}\n"
    assert cli("search", "--all", "-c", "o").text == f"{three[1]}:1\n{three[0]}:1\n"
    assert [each["id"] for each in cli("search", "--all", "one", "--json").json["artifacts"]] == [three[0]]
    assert cli("search", "--all", "nowhere").code == 1


def test_options_as_grep_has_them(cli, put):
    """-A, -B, -o, -i and -m."""
    put("a\nb\nHIT one hit\nc\nd\nhit two\ne\n")
    assert cli("search", "-A", "1", "HIT").text == "3:HIT one hit\n4-c\n"
    assert cli("search", "-B", "2", "HIT").text == "1-a\n2-b\n3:HIT one hit\n"
    assert cli("search", "-n", "-i", "-o", "hit").text == "3:HIT\n3:hit\n6:hit\n"
    assert cli("search", "-i", "-m", "1", "hit").text == "3:HIT one hit\n"
    assert cli("search", "-o", "-v", "hit").code == 2


# --- folders ----------------------------------------------------------------------------------------------


@pytest.fixture
def projects(tmp_path):
    """Two repositories of one name, with a folder inside."""
    for place in ("here", "there"):
        (tmp_path / place / "my app" / "src").mkdir(parents=True)
        (tmp_path / place / "my app" / ".git").mkdir()
    return [tmp_path / "here" / "my app", tmp_path / "there" / "my app"]


def test_a_session_goes_by_its_repository(cli, projects, monkeypatch):
    """Each has its own, from any folder inside; the newest artifact of one is not that of the other."""
    names = []
    for project in projects:
        monkeypatch.chdir(project / "src")
        assert cli("run", "--", "echo", project.parent.name).code == 0
        names.append(project_session())
    assert [bool(re.fullmatch(r"my-app-[0-9a-f]{8}", name)) for name in names] == [True, True]
    assert names[0] != names[1]
    for project in projects:
        monkeypatch.chdir(project)
        assert cli("cat").text == f"{project.parent.name}\n"


def test_the_default_session_can_still_be_read(cli, put, projects, monkeypatch):
    """It is a session like any other, and where it is found is said."""
    put("old\n")
    monkeypatch.chdir(projects[0])
    answer = cli("cat")
    assert answer.code == 125
    assert "`spillstore sessions` lists those that there are" in answer.err
    assert cli("cat", "--session", "default").text == "old\n"


def test_sessions_are_listed(cli, put, projects, monkeypatch):
    """The one used last first, with a star at that of this folder."""
    put("old\n")
    monkeypatch.chdir(projects[0])
    cli("run", "--", "true")
    listed = cli("sessions").text.splitlines()
    assert [line[:1] for line in listed] == [" ", "*", " ", "T"]
    assert project_session() in listed[1]
    assert " default " in listed[2]
    found = cli("sessions", "--json").json
    assert [each["id"] for each in found["sessions"]] == [project_session(), "default"]
    assert found["here"] == project_session()


def test_the_folder_is_recorded(cli, tmp_path, monkeypatch):
    """Of commands and of files."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / "work" / "file").write_text("x")
    for arguments in (["run", "--", "true"], ["put", "file"]):
        cli(*arguments)
        assert cli("info", "--json").json["cwd"] == str(tmp_path / "work")
        assert f"Folder: {tmp_path / 'work'}\n" in cli("info").text + "\n"


def test_hidden_folders_are_not_told(cli, tmp_path):
    """Where metadata are hidden the folder is a digest, which is enough to compare it."""
    cli("run", "--", "true", env={"SPILLSTORE_HIDDEN_METADATA": "1"})
    assert cli("info", "--json").json["cwd"].startswith("hidden:")


def test_a_run_is_not_compared_with_that_of_another_folder(cli, tmp_path, monkeypatch):
    """Without a base the same command of the same folder is taken, or none."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"file-{name}").touch()
    for name in ("one", "two", "one"):
        monkeypatch.chdir(tmp_path / name)
        cli("run", "--", "ls")
    assert cli("diff").code == 0
    answer = cli("diff", "@last~1")
    assert (answer.code, answer.text) == (125, "")
    assert f"run in {tmp_path / 'two'}" in answer.err


def test_completion_offers_ids_of_the_project(projects, root, monkeypatch, cli):
    """A shell is offered what the command would find."""
    monkeypatch.chdir(projects[0])
    stored = json.loads(cli("run", "--json", "--", "true").text)["artifact"]["id"]
    env = {"_SPILLSTORE_COMPLETE": "bash_complete", "COMP_WORDS": "spillstore cat art", "COMP_CWORD": "2"}
    assert stored in cli(env=env).text
