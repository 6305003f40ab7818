"""Text in UTF-16 and UTF-32: previewed as its text, whatever order its bytes have, with a mark or without, however they came."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from previews import reader, spilled, whole

from spillstore_tools.output.rendering import render
from spillstore_tools.preview.binary.recognise import recognise, text_encoding
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile

ROWS = [f"Row {number}: accepted, 14 columns, 0 warnings" for number in range(3000)]
CAUSE = "Row 1402: value 'N/A' of column Menge kann nicht nach Int32 umgewandelt werden; FEHLER"
ENCODINGS = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
UNMARKED = ENCODINGS[:2]


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def log(cause=CAUSE, ending="\r\n"):
    """Rows with one among them that tells what went wrong."""
    lines = [*ROWS]
    lines[1402] = cause
    return "".join(f"{line}{ending}" for line in lines)


def preview(session, data, **options):
    spill, rendered = spilled(session, "default", [(data, "stdout")], **options)
    assert clean(data) == whole(rendered, reader(spill.artifact))
    assert rendered == render(spill.artifact, profile("default"))
    assert len(rendered.text) <= 8000
    return rendered.text


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_line_that_matters_is_shown(session, encoding):
    """A failure in the middle is found and decoded, with its number, between both ends; gaps name lines as they are stored."""
    text = preview(session, ("\ufeff" + log()).encode(encoding))
    assert f"[Text in {encoding}, " in text
    assert f"\n1403: {CAUSE}\n" in text
    assert f"\n{ROWS[0]}\n" in text
    assert ROWS[-1] in text
    assert "omitted: start_line=3, end_line=1402 ...]" in text


@pytest.mark.parametrize("encoding", UNMARKED)
def test_without_a_mark(session, encoding):
    """Programs that write to a pipe leave the mark out; which order the bytes have is told by the blanks and line ends."""
    data = log().encode(encoding)
    assert text_encoding(data[:8192]) == encoding
    assert recognise(data[:8192], len(data)) is None
    assert f"\n1403: {CAUSE}\n" in preview(session, data)


@pytest.mark.skipif(shutil.which("iconv") is None, reason="iconv is missing")
@pytest.mark.parametrize("name", ["UTF-16", "UTF-16LE", "UTF-16BE"])
def test_as_a_tool_writes_it(session, name):
    """What ``iconv`` makes of a log, with the mark that it writes and without."""
    made = subprocess.run(
        ["iconv", "-f", "UTF-8", "-t", name],
        input=log(ending="\n").encode(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert f"\n1403: {CAUSE}\n" in preview(session, made)


def test_characters_that_hold_the_byte_of_a_line_end(session):
    """Half of U+4E0A is the byte 0x0A; numbers of lines would be wrong then, so that no gap names any."""
    cause = "第1402行: 上传失败"
    text = preview(session, ("\ufeff" + log(cause).replace("accepted", "上")).encode("utf-16-le"))
    assert cause in text
    assert "start_line" not in text.split("[all of it")[0]
    assert "lines omitted" in text


@pytest.mark.long
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_however_it_came(session, encoding, mark):
    """The same bytes give the same preview, wherever they were cut: in a line end, in a character."""
    data = (
        ("" if not mark and encoding in UNMARKED else "\ufeff") + log(CAUSE + "上 Ċ \U0001f600 " * 20)
    ).encode(encoding)
    expected = excerpts_of(preview(session, data))
    for seed in range(3):
        cuts = sorted(random.Random(seed).choices(range(len(data)), k=9))
        pieces = [data[low:high] for low, high in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        _, rendered = spilled(session, "default", [(piece, "stdout") for piece in pieces])
        assert expected == excerpts_of(rendered.text)


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("cause", [CAUSE, "Row 1402: warning: odd", ROWS[7]])
def test_as_the_same_text_in_utf_8(session, cause, code):
    """What is shown is what is shown of the same text in UTF-8, exit code and all."""
    shown = []
    for encoding in ("utf-8", "utf-16-le"):
        data = (log(cause) + "the end\r\n").encode(encoding)
        _, rendered = spilled(session, "default", [(data, "stdout")], is_command=True, exit_code=code)
        shown.append(
            [line for line in rendered.text.split("\n") if line.lstrip("0123456789: ").startswith("Row")]
        )
    assert shown[0] == shown[1]


def excerpts_of(text):
    """The lines without those that name the artifact."""
    return [line for line in text.split("\n") if "art_" not in line]


@pytest.mark.parametrize(
    "data",
    [
        bytes(200),
        b"\x01\x00\x02\x00" * 50,
        b"A\x00\x00\x00B\x00\x00\x00" * 30,
        bytes(each for number in range(400) for each in (number % 256, number // 256)),
        b"a\x00b\x00",
        b"key\x00value\x00" * 40,
    ],
)
def test_numbers_and_names_are_no_text_without_a_mark(data):
    """Tables of numbers, NUL-separated names, and what is too short to be told."""
    assert text_encoding(data) is None
