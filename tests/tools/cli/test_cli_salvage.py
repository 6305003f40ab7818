"""``spillstore salvage``."""

from __future__ import annotations

import json

import pytest

from spillstore import Store
from spillstore_tools.cli import _invoke

pytestmark = pytest.mark.files


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """A store with a session whose file has no header and a chunk that is damaged; its root and the artifact's id."""
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    monkeypatch.chdir(tmp_path)
    with Store("out", redact=False).session("ci") as session:
        session.put("small\n", source="small")
        text = "".join(f"line {number} {number * 7919 % 104729}\n" for number in range(30_000))
        name = session.put(text, source="make").id
    path = tmp_path / "out" / "_" / "ci" / "session.db"
    raw = bytearray(path.read_bytes())
    raw[:100] = bytes(100)
    raw[len(raw) // 2] ^= 255
    path.write_bytes(raw)
    return path, name


def run(capsys, *arguments):
    code = _invoke(["salvage", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_session_or_a_file_is_salvaged_and_what_is_missing_told(damaged, capsys):
    """By the name of the session or the path of its file; what is missing by bytes and lines, and code 1."""
    path, name = damaged
    code, out, _ = run(capsys, "ci", "--root", "out")
    assert code == 1
    first, *rest = out.splitlines()
    assert first.startswith("Salvaged 2 artifacts, ") and " as session ci in " in first
    assert rest and all(line.startswith(f"{name}: bytes ") for line in rest) and "missing (lines " in rest[0]
    code, out, _ = run(capsys, path, "--as", "found", "--json")
    (each,) = json.loads(out)["sessions"]
    assert code == 1 and each["session"] == "found" and not each["complete"]
    whole, cut = each["artifacts"]
    assert whole["complete"] and not cut["complete"] and cut["missing"][0]["start"] > 0
    assert Store("salvaged").check() == 2
    where = ("--session", "ci", "--root", "salvaged")
    for command in (
        ("cat", "--skip-holes"),
        ("show", "--skip-holes"),
        ("search", "--count", "1"),
        ("verify",),
        ("info",),
    ):
        assert _invoke([command[0], name, *command[1:], *where]) in {0, 2}
        said = "".join(capsys.readouterr())
        assert "damaged before it was salvaged" in said and "dropped" not in said
    code, out, _ = run(capsys, "--session", "ci", "--root", "out", "--to", "again")
    assert code == 1 and out.splitlines()[0] == first.replace("salvaged", "again")


def test_what_cannot_be_salvaged_is_an_error(damaged, capsys):
    """One alone ends the command; of several, the others are salvaged."""
    path, _ = damaged
    code, _, err = run(capsys, "nothing", "--root", "out")
    assert code == 125 and "no session 'nothing'" in err
    code, out, err = run(capsys, "nothing", path, "--root", "out")
    assert code == 125 and "Salvaged" in out and "nothing was not salvaged" in err
    code, _, err = run(capsys, "a", "b", "--as", "c")
    assert code == 2 or "--as names one session" in err
