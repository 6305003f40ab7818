"""``spillstore list``: a table for people, JSON for programs."""

from __future__ import annotations

import pytest


def test_table(cli, put):
    """The newest comes first, columns are aligned, and the last line is the total."""
    first = put(b"line\n" * 1000, source="bash", command="make test")
    second = put(b"x", source="web")
    header, *rows, total = cli("list").text.splitlines()
    assert header.split() == ["id", "size", "stored", "lines", "state", "source", "created", "command"]
    assert [row.split()[0] for row in rows] == [second, first]
    assert rows[1].endswith("UTC  make test")
    assert header.index("state") == rows[0].index("sealed") == rows[1].index("sealed")
    assert total.startswith("Total: 2 artifacts, 4.9 KB, stored in ")


def test_empty(cli, store):
    """A session without artifacts has a total alone."""
    store.session("default").close()
    assert cli("list").text == "Total: 0 artifacts, 0 bytes, stored in 0 bytes\n"


def test_json(cli, put):
    """A program gets everything that is known, and the totals."""
    put(b"abc", source="bash")
    found = cli("list", "--json").json
    assert [(each["source"], each["size"], each["lines"]) for each in found["artifacts"]] == [("bash", 3, 1)]
    assert (found["total"]["artifacts"], found["total"]["size"], found["total"]["more"]) == (1, 3, False)


def test_filters(cli, put, store):
    """By source, by state, by time."""
    put(b"a", source="one")
    put(b"b", source="two")
    with store.session("default") as session, session.create(source="two") as writer:
        writer.abort("stopped")

    def sources(*arguments):
        return sorted(each["source"] for each in cli("list", "--json", *arguments).json["artifacts"])

    assert sources() == ["one", "two", "two"]
    assert sources("--source", "two") == ["two", "two"]
    assert sources("--state", "interrupted") == ["two"]
    assert sources("--since", "1h") == ["one", "two", "two"]
    assert sources("--since", "2001-01-01") == ["one", "two", "two"]
    assert sources("--since", "2999-01-01T12:00+02:00") == []


def test_limit(cli, put):
    """A list that was cut says so, and how to see more."""
    for _ in range(3):
        put(b"x")
    answer = cli("list", "--limit", "2")
    assert len(answer.text.splitlines()) == 4
    assert answer.text.endswith("; there are more: --limit 20\n")
    assert cli("list", "--limit", "2", "--json").json["total"]["more"] is True


@pytest.mark.parametrize("command", ["a\nb", "\x1b[31mred", "x" * 500])
def test_commands_of_others_do_no_harm(cli, put, command):
    """A command in the table is one short line, whatever it holds."""
    put(b"x", command=command)
    answer = cli("list")
    assert len(answer.text.splitlines()) == 3
    assert "\x1b" not in answer.text
    assert max(map(len, answer.text.splitlines())) < 200
