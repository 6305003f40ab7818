"""The profile ``pipe``, against its document (S2)."""

from __future__ import annotations

import pytest
from previews import reader, spilled, whole

from spillstore.exceptions import DiskFullError
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile
from spillstore_tools.profiles.formats.pipe import MAX_BYTES, MAX_LINES, truncate_tail


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def numbered(count):
    return "".join(f"line {number}\n" for number in range(1, count + 1)).encode()


def overview_of(data):
    scan = Scan(head_chars=0, tail_chars=2 * MAX_BYTES)
    scan.feed(data)
    return scan.finish()


def nowhere():
    raise DiskFullError("disk is full")


def test_limits():
    """2,000 lines, 51,200 bytes; nothing is deleted with the session."""
    assert (2000, 51_200, False) == (MAX_LINES, MAX_BYTES, profile("pipe").cleanup_on_exit)


@pytest.mark.parametrize("data", [b"", b"one", b"one\n", numbered(2000), (b"x" * 1023 + b"\n") * 50])
def test_within_the_limits_nothing_is_cut(data):
    """Up to 2,000 lines and 50 KB all of it is left, and the counts agree."""
    result = truncate_tail(overview_of(data))
    assert data.decode() == result.content
    assert (False, None, False) == (result.truncated, result.truncated_by, result.last_line_partial)
    assert (len(data), len(data)) == (result.total_bytes, result.output_bytes)
    assert result.total_lines == result.output_lines == len(data.splitlines())


@pytest.mark.parametrize(
    "data", [b"", numbered(3000), b"x" * 200_000, "世界\n".encode() * 20_000, b"a\rb\x1b[1mc\n" * 5000]
)
def test_text_and_bytes_will_do(data):
    """Who has the whole of it needs no pass of a scan: what is left, both counts, the limit and a partial line are told."""
    wanted = truncate_tail(overview_of(data))
    assert wanted == truncate_tail(data) == truncate_tail(data.decode())


def test_the_last_2000_lines():
    """3,000 short lines: the last 2,000, whole, cut by lines."""
    data = numbered(3000)
    result = truncate_tail(overview_of(data))
    assert b"".join(data.splitlines(keepends=True)[-2000:]).decode() == result.content
    assert (3000, len(data), 2000, len(result.content)) == (
        result.total_lines,
        result.total_bytes,
        result.output_lines,
        result.output_bytes,
    )
    assert (True, "lines", False) == (result.truncated, result.truncated_by, result.last_line_partial)


def test_the_last_50_kb():
    """1,000 lines of 100 bytes: as many whole ones from the end as 51,200 bytes hold, cut by bytes."""
    data = (b"y" * 99 + b"\n") * 1000
    result = truncate_tail(overview_of(data))
    assert (512, 51_200) == (result.output_lines, result.output_bytes)
    assert (True, "bytes", False) == (result.truncated, result.truncated_by, result.last_line_partial)
    assert 512 == result.content.count("\n")


def test_whichever_limit_is_met_first():
    """Both are exceeded: the one that leaves less decides."""
    assert truncate_tail(overview_of((b"y" * 99 + b"\n") * 3000)).truncated_by == "bytes"
    assert truncate_tail(overview_of((b"y" * 9 + b"\n") * 9000)).truncated_by == "lines"
    assert truncate_tail(overview_of(numbered(9)), max_lines=2, max_bytes=1000).content == "line 8\nline 9\n"
    assert truncate_tail(overview_of(numbered(9)), max_lines=9, max_bytes=15).content == "line 8\nline 9\n"


@pytest.mark.parametrize(("text", "width"), [("z", 1), ("é", 2), ("世", 3), ("🙂", 4)])
@pytest.mark.parametrize("before", [b"", b"earlier\n"])
def test_one_line_over_50_kb_keeps_its_tail(text, width, before):
    """A single line above the limit: as much of its end as fits, no character cut, and the flag says so."""
    data = before + b"start" + (text * 60_000).encode() + b"end\n"
    result = truncate_tail(overview_of(data))
    assert result.last_line_partial
    assert (1, "bytes", True) == (result.output_lines, result.truncated_by, result.truncated)
    assert MAX_BYTES - width <= result.output_bytes == len(result.content.encode()) <= MAX_BYTES
    assert result.content.endswith(f"{text}end\n")
    assert set(result.content[:-4]) == {text}
    assert (len(data), data.count(b"\n")) == (result.total_bytes, result.total_lines)


def test_bytes_are_counted_after_cleaning():
    """Escape sequences and control characters take no room; tab and newline stay, CRLF becomes LF."""
    data = b"\x1b[31mred\x1b[0m\tx\x01\x07\r\n\x1b]0;title\x07y\x0b\n" * 10
    result = truncate_tail(overview_of(data))
    assert "red\tx\ny\n" * 10 == result.content
    assert len(result.content) == result.total_bytes == result.output_bytes


def test_line_truncation_alone_stores_nothing():
    """3,000 short lines under 50 KB: no artifact, no session, and the notice says that the rest is gone."""
    data = numbered(3000)
    spill, rendered = spilled(nowhere, "pipe", [(data, "stdout")])
    assert (None, None) == (spill.artifact, spill.problem)
    assert rendered.text.endswith(
        "line 3000\n[stdout: Showing last 2000 of 3000 lines. The rest was not kept.]\n"
    )
    assert rendered.text.startswith("line 1001\n")
    (omission,) = rendered.omissions
    assert (1, 1000, 1000, True, True) == (
        omission.first_line,
        omission.last_line,
        omission.lines,
        omission.exact_lines,
        omission.dropped,
    )
    assert clean(data) == whole(rendered, lambda each: data[each.start : each.end])


@pytest.mark.parametrize("size", [MAX_BYTES, MAX_BYTES + 1])
def test_stored_only_above_50_kb(session, size):
    """51,200 bytes are not stored, one more is."""
    data = b"x" * 99 + b"\n"
    data = (data * 600)[: size - 1] + b"\n"
    spill, rendered = spilled(session, "pipe", [(data, "stdout")])
    assert (size > MAX_BYTES) == (spill.artifact is not None) == rendered.was_truncated


def test_the_notice_names_counts_and_location(session):
    """``[stdout: Showing last N of M lines. Full output: ...]``, at the end."""
    data = b"".join(b"%06d some output\n" % number for number in range(8500))
    spill, rendered = spilled(session, "pipe", [(data, "stdout")])
    call = f'get_artifact(id="{spill.artifact.id}", stream="stdout", start_line=1, end_line=2000)'
    shell = f"in a shell: spillstore cat {spill.artifact.id} --stream stdout | rg PATTERN"
    assert rendered.text.endswith(
        f"008499 some output\n[stdout: Showing last 2000 of 8500 lines. Full output: {call}; {shell}]\n"
    )
    assert data == spill.artifact.read_bytes(0, len(data), stream="stdout")
    assert clean(data) == whole(rendered, reader(spill.artifact))


def test_the_notice_of_a_partial_line(session):
    """Of one over-long line the notice counts bytes."""
    _, rendered = spilled(session, "pipe", [(b"z" * 80_000, "stdout")])
    assert "\n[stdout: Showing last 51200 bytes of line 1. Full output: " in rendered.text


def test_storing_fails():
    """``Full output file may be incomplete``, with the place and the error, and the tail all the same."""
    _, rendered = spilled(nowhere, "pipe", [(b"x" * 99 + b"\n", "stdout")] * 1000)
    assert rendered.text.endswith(
        "\n[stdout: Showing last 512 of 1000 lines. Full output file may be incomplete: none (disk is full)]\n"
    )


def test_the_result_of_a_command():
    """``stdout:``, ``stderr:`` and ``exit code:``, to the letter."""
    written = [(b"out\n", "stdout"), (b"err", "stderr")]
    _, rendered = spilled(nowhere, "pipe", written, is_command=True, exit_code=0)
    assert "stdout:\nout\n\nstderr:\nerr\n\nexit code: 0" == rendered.text
    assert not rendered.is_error
    _, rendered = spilled(nowhere, "pipe", [], is_command=True, exit_code=0)
    assert "stdout:\n\nstderr:\n\nexit code: 0" == rendered.text


@pytest.mark.parametrize("code", [1, 2, 127, 137])
def test_a_non_zero_exit_is_an_error(code):
    """Same format, and the error flag."""
    _, rendered = spilled(nowhere, "pipe", [(b"out\n", "stdout")], is_command=True, exit_code=code)
    assert (f"stdout:\nout\n\nstderr:\n\nexit code: {code}", True) == (rendered.text, rendered.is_error)


def test_both_streams_are_cut_apart(session):
    """Each stream has its own limit and its own notice, below it."""
    written = [
        (b"%s %d\n" % (stream.encode(), number), stream)
        for number in range(6000)
        for stream in ("stdout", "stderr")
    ]
    spill, rendered = spilled(session, "pipe", written, is_command=True, exit_code=3)
    first, second = rendered.text.split("\nstderr:\n")
    assert first.startswith("stdout:\nstdout 4000\n")
    assert first.splitlines()[-1].startswith("[stdout: Showing last 2000 of 6000 lines. Full output: ")
    assert second.startswith("stderr 4000\n")
    assert second.endswith("]\n\nexit code: 3")
    assert {"stdout", "stderr"} == {each.stream for each in rendered.omissions}
    assert spill.artifact.info.exit_code == 3


def test_output_that_no_command_printed_has_no_headings():
    """Without a command the text is the output, stderr on a line of its own below stdout."""
    _, rendered = spilled(nowhere, "pipe", [(b"a", "stdout"), (b"b", "stderr")])
    assert (rendered.text, rendered.is_error) == ("a\nb", False)


def test_lines_whose_text_is_kept_in_part(session):
    """A window that ends inside the output still counts all lines and bytes."""
    data = (b"\x1b[1m" * 50_000 + b"x\n") * 60
    result = truncate_tail(overview_of(data))
    assert 60 == result.total_lines
    assert not result.truncated or result.truncated_by in {"lines", "bytes"}
    assert profile("pipe").name == "pipe"
