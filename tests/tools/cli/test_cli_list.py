"""``spillstore list``: a table for people, JSON for programs."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.everywhere

HEADER = ["id", "size", "stored", "lines", "type", "state", "exit", "source", "created", "command"]


def test_table(cli, put):
    """The newest comes first, columns are aligned, and the last line is the total."""
    first = put(b"line\n" * 1000, source="bash", command="make test")
    second = put(b"x", source="web")
    header, *rows, total = cli("list").text.splitlines()
    assert header.split() == HEADER
    assert [row.split()[0] for row in rows] == [second, first]
    assert rows[1].endswith("+0000  make test")
    assert header.index("state") == rows[0].index("sealed") == rows[1].index("sealed")
    assert total.startswith("Total: 2 artifacts, 4.9 KiB, stored in ")


def test_empty(cli, store):
    """A session without artifacts has a total alone."""
    store.session("default").close()
    assert cli("list").text == "Total: 0 artifacts, 0 bytes, stored in 0 bytes\n"


def test_one_long_name_widens_no_table(cli, put):
    """The rows of all others stay as they are; a program gets the name whole."""
    put(b"a", source="s" * 5_000, content_type="t" * 5_000)
    put(b"b", source="short")
    for arguments in ((), ("--box",)):
        assert max(map(len, cli("list", *arguments).text.splitlines())) < 400
    assert {"s" * 5_000, "short"} == {each["source"] for each in cli("list", "--json").json["artifacts"]}


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
    assert answer.text.endswith("; 2 are shown, all with --limit 3\n")
    assert cli("list", "--limit", "2", "--json").json["total"]["more"] is True


@pytest.mark.parametrize("command", ["a\nb", "\x1b[31mred", "x" * 500])
def test_commands_of_others_do_no_harm(cli, put, command):
    """A command in the table is one short line, whatever it holds."""
    put(b"x", command=command)
    answer = cli("list")
    assert len(answer.text.splitlines()) == 3
    assert "\x1b" not in answer.text
    assert max(map(len, answer.text.splitlines())) < 200


def sources(cli, *arguments):
    return [each["source"] for each in cli("list", "--json", *arguments).json["artifacts"]]


def test_more_filters(cli, put, store):
    """By the end of a time, part of the command, media type, size, and failure."""
    put(b"a" * 2000, source="one", command="make test", content_type="text/plain")
    put(b"b" * 500, source="two", command="make all")
    for code in (0, 2):
        with store.session("default") as session:
            session.create(source=f"exit {code}").close(exit_code=code)
    assert ["exit 2", "exit 0", "two", "one"] == sources(cli)
    assert [] == sources(cli, "--until", "2001-01-01")
    assert 4 == len(sources(cli, "--until", "2999-01-01"))
    assert ["two", "one"] == sources(cli, "--command", "make")
    assert ["one"] == sources(cli, "--command", "e test")
    assert ["one"] == sources(cli, "--type", "text/plain")
    assert ["two", "one"] == sources(cli, "--min-size", "500")
    assert ["one"] == sources(cli, "--min-size", "1K")
    assert [] == sources(cli, "--min-size", "2m")
    assert ["exit 2"] == sources(cli, "--failed")
    answer = cli("list", "--min-size", "much")
    assert (answer.code, "64K" in answer.err) == (2, True)


def test_sorting(cli, put):
    """The largest first, names from A, and the other way round; a limit applies to the sorted list."""
    for source, size in (("b", 20), ("c", 30), ("a", 10)):
        put(b"x\n" * size, source=source)
    assert ["a", "c", "b"] == sources(cli)
    assert ["b", "c", "a"] == sources(cli, "--reverse")
    assert ["c", "b", "a"] == sources(cli, "--sort", "size") == sources(cli, "--sort", "lines")
    assert ["a", "b", "c"] == sources(cli, "--sort", "source") == sources(cli, "--sort", "size", "--reverse")
    assert ["c", "b", "a"] == sources(cli, "--sort", "source", "--reverse")
    assert ["c"] == sources(cli, "--sort", "size", "--limit", "1")
    assert ["b"] == sources(cli, "--reverse", "--limit", "1")
    assert cli("list", "--sort", "size", "--limit", "1", "--json").json["total"]["more"] is True
    assert cli("list", "--sort", "size", "--limit", "3", "--json").json["total"]["more"] is False


def test_a_list_longer_than_a_page(cli, store):
    """Filters and limits reach beyond the store's pages."""
    with store.session("default") as session:
        for number in range(250):
            session.put(b"x", source="even" if number % 2 == 0 else "odd", command=f"number {number}")
    assert 125 == len(sources(cli, "--source", "odd", "--limit", "1000"))
    assert ["even"] == sources(cli, "--command", "number 0")
    assert 250 == len(sources(cli, "--limit", "250"))


def test_box(cli, put):
    """The layout of S1's manual: a frame, a title, four columns, and the total."""
    first = put(b"x" * 2_411_724, source="http_request", content_type="application/json")
    second = put(b"x" * 911_360, source="execute_command", content_type="text/plain")
    lines = [
        f"┌{'─' * 90}┐",
        f"│ Session Artifacts{' ' * 72}│",
        f"├{'─' * 36}┬{'─' * 10}┬{'─' * 24}┬{'─' * 17}┤",
        "│ ID                                 │ Size     │ Type                   │ Source          │",
        f"├{'─' * 36}┼{'─' * 10}┼{'─' * 24}┼{'─' * 17}┤",
        f"│ {second} │ 890 KB   │ text/plain             │ execute_command │",
        f"│ {first} │ 2.3 MB   │ application/json       │ http_request    │",
        f"└{'─' * 36}┴{'─' * 10}┴{'─' * 24}┴{'─' * 17}┘",
        "Total: 2 artifacts, 3.2 MB",
    ]
    assert lines == cli("list", "--box").text.splitlines()


def test_null_is_no_time(cli, put):
    """A person who types it has not left the option out, as models do; age and time are named."""
    put(b"x")
    for arguments, words in (
        (["list", "--since", "null"], "'null' is no time"),
        (["audit", "--until", "None"], "'None' is no time"),
        (["gc", "--older-than", "null", "--dry-run"], "'null' is no age"),
    ):
        answer = cli(*arguments)
        assert (arguments, answer.code, words in answer.err) == (arguments, 2, True)
