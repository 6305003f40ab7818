"""Text in UTF-16: its secrets go, alone, behind other text and before it; all else stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import cut, fed, in_bytes
from support import examples

from spillstore.redaction import Redactor, counted, redact

VALUE = "Xa8Kd93k" + "Ls20mQ"
TEXT = (
    "Windows-Registrierungs-Editor\r\n\r\nuser=me\r\npassword=@@\r\nétat: «prêt» … 12 €\r\n"
    "пароль неверный, password: @@\r\n中文一段文字。api_key=@@\r\n\U0001f511 token=@@\r\nend of the text\r\n"
).replace("@@", VALUE)
ENCODINGS = ["utf-16-le", "utf-16-be"]
MARKS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_secrets_go(encoding, marked):
    """The same as in UTF-8, whatever the alphabet around them, with and without a mark of the order of bytes."""
    mark = MARKS[encoding] if marked else b""
    wanted, counts = counted(TEXT)
    assert VALUE not in wanted
    assert sum(counts.values()) == 4
    assert counted(mark + TEXT.encode(encoding)) == (mark + wanted.encode(encoding), counts)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_it_may_stand_among_other_text(encoding):
    """A program of Windows writes into the output of others; also where that shifts its characters by a byte."""
    other = f"plain text\npassword={VALUE}\n".encode()
    wide = TEXT.encode(encoding)
    for data in (
        other + wide,
        wide + other,
        other + wide + other,
        other + b"x" + wide + b"ok\n" + wide + other,
    ):
        shown = redact(data)
        assert VALUE.encode() not in shown
        assert VALUE.encode(encoding) not in shown
        assert shown.count(b"[REDACTED: PASSWORD]") == data.count(other)
        assert shown.count("[REDACTED: ".encode(encoding)) == 4 * data.count(wide)
        assert fed(in_bytes(data))[0] == shown


parts = st.lists(
    st.sampled_from(
        [
            *(TEXT[:40].encode(encoding) for encoding in ENCODINGS),
            *(f"password={VALUE}\n".encode(encoding) for encoding in (*ENCODINGS, "utf-8")),
            *MARKS.values(),
            "中文".encode("utf-16-le"),
            "я ".encode("utf-16-be"),
            b"\0",
            b"\0\0",
            b"x",
            b"ab",
            b"\x00\xd8",
            b"\x00\xdc",
            b"some more of it\n",
        ]
    )
    | st.binary(max_size=3),
    max_size=12,
).map(b"".join)


@given(parts, st.lists(st.integers(0, 400), max_size=8))
@examples(400)
def test_cuts_change_nothing(data, places):
    """The result is that of the whole, however the bytes came."""
    whole = redact(data)
    assert fed(cut(data, [place % (len(data) + 1) for place in places]))[0] == whole
    assert fed(in_bytes(data))[0] == whole


@given(parts)
@examples(400)
def test_what_is_no_secret_stays(data):
    """Half characters, halves of pairs, NULs and bytes of any kind come out as they went in."""
    data = (
        data.replace(VALUE.encode(), b"x")
        .replace(VALUE.encode("utf-16-le"), b"x")
        .replace(VALUE.encode("utf-16-be"), b"x")
    )
    if not counted(data)[1]:
        assert redact(data) == data


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_character_that_a_secret_ends_in_is_whole(encoding):
    """What is behind a secret that ends in the middle of a character's bytes can be read."""
    for character in ("é", "€", "中", "\U0001f511"):
        for size in range(1, 400, 7):
            text = f"some text\npassword={VALUE}{character * size} and more\n"
            shown = redact(text.encode(encoding)).decode(encoding)
            assert VALUE not in shown
            assert shown.endswith(" and more\n")


def test_it_shows_while_it_is_written():
    """Lines show when they come, and a prompt before its line ends."""
    redactor = Redactor()
    redactor.feed("first line\r\n".encode("utf-16"))
    assert (
        redactor.feed("second line\r\nName: ".encode("utf-16-le")).decode("utf-16-le")
        == "second line\r\nName: "
    )


def test_names_of_files_that_nuls_part_show():
    """What ``find -print0`` prints is no text of two bytes a character; a letter between NULs waits for the next."""
    redactor = Redactor()
    assert redactor.feed(b"./a/b.txt\0./c \0d\0e\0f\0") == b"./a/b.txt\0./c "
    assert redactor.finish() == b"\0d\0e\0f\0"
