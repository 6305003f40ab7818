"""``spillstore tail``: the last lines, and those to come."""

from __future__ import annotations

import signal
import threading

import pytest
from support import wait_until

pytestmark = pytest.mark.everywhere

LINES = b"".join(b"line %d\n" % number for number in range(1, 30_001))


@pytest.mark.parametrize("count", [0, 1, 10, 9999, 30_000, 99_999])
def test_lines(cli, put, count):
    """The last N lines, or all of them if there are fewer."""
    put(LINES)
    expected = b"".join(LINES.splitlines(keepends=True)[-count:] if count else [])
    assert cli("tail", "@last", "-n", count).out == expected


@pytest.mark.parametrize(
    ("data", "count", "expected"),
    [
        (b"", 5, b""),
        (b"one\ntwo", 1, b"two"),
        (b"one\ntwo", 2, b"one\ntwo"),
        (b"\n\n\n", 2, b"\n\n"),
        (b"x" * 200_000, 1, b"x" * 200_000),
        (b"a\n" + b"x" * 200_000 + b"\n", 1, b"x" * 200_000 + b"\n"),
    ],
)
def test_odd_content(cli, put, data, count, expected):
    """An unfinished line counts, empty lines count, and a line may be longer than a block."""
    put(data)
    assert cli("tail", "@last", "-n", count, "--raw").out == expected


def test_ten_by_default_and_cleaned(cli, put):
    """Ten lines, without escape sequences unless they are wanted."""
    put(b"\x1b[31mred\x1b[0m\n" * 20)
    assert cli("tail", "@last").text == "red\n" * 10
    assert cli("tail", "@last", "--raw").out == b"\x1b[31mred\x1b[0m\n" * 10


def test_stream(cli, store):
    """The last lines of one stream."""
    with store.session("default") as session, session.create() as writer:
        writer.write("err 1\nerr 2\n", stream="stderr")
        writer.write("out 1\nout 2\n")
    assert cli("tail", "@last", "-n", "1", "--stream", "stderr").text == "err 2\n"


def test_hole(cli, rolled):
    """What was dropped is no hindrance: the tail begins behind it."""
    assert cli("tail", rolled, "-n", "1").text == "line 0001000\n"
    text = cli("tail", rolled, "-n", "1000").text
    assert text.endswith("line 0001000\n")
    assert 1000 < len(text) < 4200


def test_cr(cli, put):
    """Lines that end in CR are lines here, too."""
    put(b"one\rtwo\rthree\r", newline="cr")
    assert cli("tail", "@last", "-n", "2").text == "two\nthree\n"


def test_json(cli, put):
    """A program gets the text and the byte at which it begins."""
    artifact_id = put(b"one\ntwo\nthree\n")
    assert cli("tail", "@last", "-n", "2", "--json").json == {
        "id": artifact_id,
        "stream": "combined",
        "start": 4,
        "text": "two\nthree\n",
    }
    assert cli("tail", "@last", "-f", "--json").code == 2


def test_follow_until_the_artifact_is_complete(start, store):
    """``-f`` begins with the last lines, prints what comes as it comes, and ends with the artifact."""
    with store.session("default") as session:
        writer = session.create()
        writer.write("one\ntwo\nthree\n")
        writer.flush()
        process = start("tail", writer.id, "-n", "2", "-f")
        assert process.stdout.readline() == b"two\n"
        assert process.stdout.readline() == b"three\n"
        writer.write("four\n")
        assert process.stdout.readline() == b"four\n"
        writer.write("five")
        writer.close()
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, b"five", b"")


def test_follow_of_a_complete_artifact(cli, put):
    """``-f`` of what is complete ends at once."""
    put(b"one\ntwo\n")
    assert cli("tail", "@last", "-n", "1", "-f").text == "two\n"


def test_follow_a_command(start, store):
    """One shell runs a command, another follows it."""
    runner = start("run", "--", "sh", "-c", "for i in 1 2 3; do echo $i; sleep 0.2; done")
    wait_until(lambda: any(True for _ in store.sessions()))
    follower = start("tail", "@last", "-f", "-n", "99")
    out, err = follower.communicate(timeout=120)
    runner.communicate(timeout=120)
    assert (out, err) == (b"1\n2\n3\n", b"")


def test_follow_is_ended_by_ctrl_c(start, store):
    """It dies of Ctrl-C, so that a loop of the shell ends, without a word."""
    with store.session("default") as session, session.create() as writer:
        writer.write("one\n")
        writer.flush()
        process = start("tail", "@last", "-f")
        assert process.stdout.readline() == b"one\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (-signal.SIGINT, b"", b"\n")


def test_follow_in_a_closed_pipe(start, store):
    """Nobody left to read ends it, too."""
    with store.session("default") as session, session.create() as writer:
        writer.write("one\n")
        writer.flush()
        process = start("tail", "@last", "-f")
        assert process.stdout.readline() == b"one\n"
        process.stdout.close()
        stop = threading.Event()

        def keep_writing():
            while not stop.wait(0.05):
                writer.write("more\n")

        thread = threading.Thread(target=keep_writing)
        thread.start()
        assert process.wait(120) == -signal.SIGPIPE
        stop.set()
        thread.join()
        assert process.stderr.read() == b""


def test_what_is_missing_is_told(cli, rolled):
    """The lines that were asked for and dropped, not those that were not asked for."""
    answer = cli("tail", rolled, "-n", 1_000_000)
    assert (answer.code, answer.out) == (0, cli("cat", rolled, "--skip-holes").out[-len(answer.out) :])
    assert "are missing here, wholly or in part: they were dropped at the artifact's limit" in answer.err
    assert cli("tail", rolled, "-n", 3).err == ""
