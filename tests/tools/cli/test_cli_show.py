"""``spillstore show``: ranges, cleaned or exact."""

from __future__ import annotations

import base64
import gzip

import pytest
from support import ROOT

from spillstore.format import chunk_codec

pytestmark = pytest.mark.everywhere

LINES = b"".join(b"line %d\n" % number for number in range(1, 20_001))


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [("1-3", 1, 3), ("7", 7, 7), ("19999-", 19_999, 20_000), ("10-999999", 10, 20_000)],
)
def test_lines(cli, put, lines, first, last):
    """Lines are 1-based and inclusive, as in sed, and a range may be open or reach past the end."""
    put(LINES)
    expected = "".join(f"line {number}\n" for number in range(first, last + 1))
    assert cli("show", "@last", "--lines", lines).text == expected


@pytest.mark.parametrize(
    ("bounds", "start", "end"), [("0-10", 0, 10), ("5", 5, 6), ("100-", 100, None), ("0-99999999", 0, None)]
)
def test_bytes(cli, put, bounds, start, end):
    """Bytes are counted from 0, the end excluded."""
    put(LINES)
    assert cli("show", "@last", "--bytes", bounds, "--raw").out == LINES[start:end]


def test_everything(cli, put):
    """Without a range it is all of it."""
    put(LINES)
    assert cli("show", "@last").out == LINES


def test_cleaned_or_raw(cli, put):
    """A reader is spared escape sequences, ``--raw`` gives the exact bytes, and line numbers are the same."""
    data = b"\x1b[31mred\x1b[0m\r\n10%\r100%\n\xff\x00\n\x1b]0;title\x07\ttab \x1b]8;;https://x.example\x1b\\link"
    put(data)
    assert cli("show", "@last").text == "red\n100%\n\ufffd\u2400\n\ttab link"
    assert cli("show", "@last", "--raw").out == data
    assert cli("show", "@last", "--lines", "2").text == "100%\n"
    assert cli("show", "@last", "--lines", "2", "--raw").out == b"10%\r100%\n"


def test_a_raw_search_shows_what_it_has_found(cli, put):
    """The text as it is stored, on one line: what a reader does not see is written as escapes."""
    put(b"old 1\rnew 1\n\x1b[31mred\x1b[0m\tx\n")
    assert cli("search", "--raw", "old").text == "1:old 1\\rnew 1\n"
    assert cli("search", "--raw", "-o", "old.*").text == "1:old 1\\rnew 1\n"
    assert cli("search", "--raw", r"\x1b").text == "2:\\x1b[31mred\\x1b[0m\tx\n"
    assert cli("search", "new").text == "1:new 1\n"


def test_stream(cli, store):
    """Each stream counts its own lines and bytes."""
    with store.session("default") as session, session.create() as writer:
        for number in range(1, 6):
            writer.write(f"out {number}\n")
            writer.write(f"err {number}\n", stream="stderr")
    assert cli("show", "@last", "--stream", "stderr", "--lines", "2-3").text == "err 2\nerr 3\n"
    assert cli("show", "@last", "--stream", "stdout", "--bytes", "6-12").text == "out 2\n"
    assert cli("show", "@last", "--lines", "2-3").text == "err 1\nout 2\n"


def test_past_the_end_is_said(cli, put):
    """A range with nothing in it is no failure, but it is not silent either."""
    artifact_id = put(b"one\ntwo\n")
    answer = cli("show", "@last", "--lines", "5-9")
    assert (answer.code, answer.out) == (0, b"")
    assert answer.err == f"spillstore: nothing is there: {artifact_id} has 2 lines (combined)\n"
    assert "has 8 bytes" in cli("show", "@last", "--bytes", "8-9").err


def test_json(cli, put):
    """A program gets the text, or the bytes in base64."""
    artifact_id = put(b"a\xff\nb\n")
    assert cli("show", "@last", "--lines", "1", "--json").json == {
        "id": artifact_id,
        "stream": "combined",
        "lines": "1",
        "bytes": None,
        "text": "a\ufffd\n",
    }
    found = cli("show", "@last", "--bytes", "1-", "--raw", "--json").json
    assert base64.b64decode(found["data"]) == b"\xff\nb\n"


def test_hole(cli, rolled):
    """A range that touches what was dropped is refused before anything is printed, unless holes are to be skipped."""
    for arguments in (["--lines", "1-1000"], ["--bytes", "0-"], []):
        answer = cli("show", rolled, *arguments)
        assert (answer.code, answer.out) == (125, b"")
        assert "--skip-holes" in answer.err
        text = cli("show", rolled, *arguments, "--skip-holes").text
        assert text.startswith("line 0000001\n")
        assert text.endswith("line 0001000\n")
        assert len(text) < 4500
    assert cli("show", rolled, "--lines", "1-2").text == "line 0000001\nline 0000002\n"


def test_lines_that_end_in_cr(cli, put):
    """Text whose lines end in CR is shown in lines."""
    put(b"one\rtwo\rthree", newline="cr")
    assert cli("show", "@last", "--lines", "2-3").text == "two\nthree"


def test_long_lines_in_flat_memory(cli, put):
    """Lines that are together more than what may be read at once come in parts."""
    line = b"x" * 1_000_000 + b"\n"
    put(line * 40)
    assert cli("show", "@last", "--lines", "2-", "--raw").out == line * 39


def test_line_that_is_too_long(cli, put):
    """A line that cannot be read at once is refused with the way out."""
    put(b"x" * (65 * 1024 * 1024))
    answer = cli("show", "@last", "--lines", "1")
    assert (answer.code, answer.out) == (2, b"")
    assert "--bytes" in answer.err


def test_a_uri_names_an_artifact_and_its_stream(cli, store):
    """What a result names as ``artifact://ID?stream=stderr`` is an id for every command; ``--stream`` wins."""
    with store.session("default") as session, session.create() as writer:
        writer.write("out\n")
        writer.write("err\n", stream="stderr")
    uri = f"artifact://{writer.id}"
    assert [cli(command, uri).out for command in ("cat", "tail")] == [b"out\nerr\n"] * 2
    assert cli("cat", f"{uri}?stream=stderr").out == b"err\n"
    assert cli("cat", f"{uri}?stream=stderr", "--stream", "stdout").out == b"out\n"
    assert cli("search", f"{uri}?stream=stderr", "r").text.count("err") == 1
    assert cli("info", uri, "--json").json["id"] == writer.id
    assert cli("verify", uri).code == 0
    assert "2 lines" not in cli("diff", uri, f"{uri}?stream=stdout").err
    assert writer.id in cli("audit", "--artifact", uri, "--json").text
    assert cli("cat", "artifact://art_1_a").code == 125
    assert cli("rm", uri).code == 0


class Decoding:
    """A decompressor that counts."""

    def __init__(self):
        self.calls = 0
        self._decompressor = chunk_codec.decompressor()

    def decompress(self, *arguments, **options):
        self.calls += 1
        return self._decompressor.decompress(*arguments, **options)


@pytest.mark.parametrize(
    "options",
    [("--lines", "10002-10004"), ("--lines", "10002-10004", "--json"), ("--bytes", "100000-100100")],
)
def test_a_chunk_is_decoded_once(cli, put, monkeypatch, options):
    """Lines that lie in one chunk are found, read and recorded with that chunk decoded a single time."""
    put(LINES)
    decoding = Decoding()
    monkeypatch.setattr(chunk_codec, "decompressor", lambda: decoding)
    chunk_codec._local.decoded = None
    assert 0 == cli("show", "@last", *options).code
    assert 1 == decoding.calls


@pytest.mark.parametrize("arguments", [["show", "@last"], ["search", "written", "@last"], ["list"]])
def test_a_session_of_an_older_version_is_shown(cli, tmp_path, arguments):
    """Its file becomes one of this version first; nobody has to know how."""
    folder = tmp_path / "old" / "web" / "chat-42"
    folder.mkdir(parents=True, mode=0o700)
    stored = ROOT / "tests" / "data" / "sessions" / "schema-1" / "plain.db.gz"
    (folder / "session.db").write_bytes(gzip.decompress(stored.read_bytes()))
    (folder / "session.db").chmod(0o600)
    where = ["--root", str(tmp_path / "old"), "--project", "web", "--session", "chat-42"]
    assert cli(*arguments, *where).code == 0


def test_what_is_left_out_is_told(cli, rolled):
    """How much of the range was dropped."""
    answer = cli("show", rolled, "--skip-holes")
    missing = answer.err.split(" bytes ")[0].removeprefix("spillstore: ").replace(",", "")
    hole = cli("info", rolled, "--json").json["hole"]
    assert int(missing) == hole["end"] - hole["start"]
    assert cli("show", rolled, "--bytes", "0-10").err == ""


def test_a_count_that_is_not_all_says_so(cli, rolled):
    """What was dropped may have matched, too."""
    for options in (["--count"], ["--ids-only", "--all"], []):
        assert "were dropped and could not be searched" in cli("search", "line", *options).err


def test_characters_that_hold_the_byte_of_a_line_end(cli, put):
    """Of text in UTF-16 a character is shown with the stored line in which it begins, and ends none; a search finds it."""
    text = "zu \u4e0a\u6d77 da\n" + "".join(f"line {n}\n" for n in range(8))
    put(b"\xff\xfe" + text.encode("utf-16-le"))
    assert cli("show", "@last").text == text
    assert cli("show", "@last", "--lines", "1-2").text == "zu \u4e0a\u6d77 da\n"
    assert cli("show", "@last", "--lines", "1").text == "zu \u4e0a"
    assert cli("show", "@last", "--lines", "2").text == "\u6d77 da\n"
    parts = [cli("show", "@last", "--bytes", span).text for span in ("0-9", "9-20")]
    assert parts == ["zu \u4e0a", "\u6d77 da\n"]
    assert cli("tail", "@last", "-n", "3").text == "line 6\nline 7\n"
    assert cli("search", "\u4e0a\u6d77", "@last").text == "1:zu \u4e0a\u6d77 da\n"
    put(b"\xff\xfe" + "\u4e0a\u6d77\nand more\n".encode("utf-16-le"))
    assert cli("show", "@last", "--lines", "1").text == "\u4e0a"
