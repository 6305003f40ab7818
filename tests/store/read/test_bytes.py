"""Bytes of every kind go in and come out exactly; lines are what grep and sed would call lines."""

from __future__ import annotations

import pytest

CASES = {
    "empty": b"",
    "one newline": b"\n",
    "no newline": b"no newline at all",
    "no last newline": b"one\ntwo",
    "crlf": b"one\r\ntwo\r\n",
    "lone cr": b"10%\r20%\r100%\ndone\n",
    "nul": b"a\x00b\n\x00\n",
    "invalid utf-8": b"\xff\xfe\n\x80abc\n",
    "form feed": b"a\x0bb\x0cc\x1cd\x85e\xe2\x80\xa8f\n",
    "only newlines": b"\n" * 5,
    "escape sequences": b"\x1b[31mred\x1b[0m\n",
}


@pytest.mark.parametrize("name", CASES)
def test_lines_end_at_lf_and_bytes_are_exact(session, name):
    """Every line with its ending, and all bytes, come back as they were."""
    data = CASES[name]
    with session.create() as writer:
        writer.write(data)
    artifact = session.artifact(writer.id)
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    assert data == artifact.read_bytes(0, 1000)
    assert lines == [artifact.read_lines(n, n) for n in range(1, len(lines) + 1)]
    assert b"" == artifact.read_lines(len(lines) + 1, len(lines) + 9)
    assert "lf" == session.infos().items[0].newline


@pytest.mark.parametrize("size", [10, 300_000])
def test_content_with_cr_alone_has_cr_lines_when_put(session, size):
    """What was put and has CR but no LF counts its lines by CR, decided at the seal."""
    data = b"".join(b"line %d\r" % number for number in range(size // 10)) + b"last"
    artifact = session.put(data)
    lines = data.split(b"\r")
    info = session.infos().items[0]
    assert ("cr", len(lines)) == (info.newline, info.lines)
    assert lines[4 % len(lines)] in artifact.read_lines(4 % len(lines) + 1, 4 % len(lines) + 1)
    assert b"last" == artifact.tail(1)
    artifact.verify()


@pytest.mark.parametrize(
    ("data", "newline", "first"),
    [(b"10%\r20%\rdone\n", "cr", b"10%\r"), (b"10%\r20%\ndone", "lf", b"10%\r20%\n"), (b"10%\r20%\n\n", "lf", b"10%\r20%\n"), (b"10%\n", "lf", b"10%\n")],
)  # fmt: skip
def test_one_lf_is_no_line_end_of_its_own_at_the_end_alone(session, data, newline, first):
    """What was put counts its lines by CR if its one LF is its last byte; by LF if that stands elsewhere or is not alone."""
    artifact = session.put(data)
    assert (newline, first) == (session.infos().items[0].newline, artifact.read_lines(1, 1))
    artifact.verify()


def test_a_process_keeps_lone_cr_inside_its_line(session):
    """A progress bar is one line: ``create`` counts by LF unless it is told otherwise."""
    with session.create() as writer:
        writer.write(b"10%\r20%\r")
    assert b"10%\r20%\r" == session.artifact(writer.id).read_lines(1, 1)


def test_cr_can_be_asked_for(session):
    """``newline="cr"`` counts CR from the start, on the running artifact too."""
    with session.create(newline="cr") as writer:
        writer.write(b"one\rtwo\r")
        writer.flush()
        assert b"two\r" == session.artifact(writer.id).read_lines(2, 2)


def test_a_character_across_a_chunk_border_stays_whole(session):
    """A multi-byte character whose bytes lie in two chunks reads as it was written."""
    text = "x" * 65535 + "\u4e16" + "y" * 65540 + "\U0001f600\n"
    artifact = session.put(text)
    raw = text.encode()
    assert raw == artifact.read_lines(1, 1)
    assert raw[65530:65545] == artifact.read_bytes(65530, 65545)
    assert len(text) == session.infos().items[0].chars


@pytest.mark.slow
def test_a_line_of_200_mib_is_one_line(plain_store):
    """A line without an end for 200 MiB: its parts, its length and the line after it, in flat memory."""
    with plain_store.session("long") as session:
        with session.create() as writer:
            for _ in range(200):
                writer.write(b"z" * 2**20)
            writer.write(b"end\nnext\n")
        artifact = session.artifact(writer.id)
        assert 2 == artifact.info.lines
        assert b"next\n" == artifact.read_lines(2, 2)
        assert b"zzend\nne" == artifact.read_bytes(200 * 2**20 - 2, 200 * 2**20 + 6)
        with pytest.raises(ValueError, match=r"chunks\(\)"):
            artifact.read_lines(1, 1)


def test_text_is_stored_as_utf8(session):
    """Text becomes UTF-8; half surrogates that stand for bytes become those bytes, others stay recoverable."""
    with session.create() as writer:
        for text in ("\u00e9\n", b"\xff\n".decode(errors="surrogateescape"), "\ud800\n"):
            writer.write(text)
    assert "\u00e9\n".encode() + b"\xff\n" + b"\xed\xa0\x80\n" == session.artifact(writer.id).read_bytes(
        0, 99
    )


def test_buffers_are_copied(session):
    """A bytearray or memoryview may change right after ``write``."""
    buffer = bytearray(b"before\n")
    with session.create() as writer:
        writer.write(buffer)
        writer.write(memoryview(buffer)[:3])
        buffer[:] = b"AFTER!\n"
    assert b"before\nbef" == session.artifact(writer.id).read_bytes(0, 99)
