"""The profile ``opencode``, against its document (S0)."""

from __future__ import annotations

import threading

import pytest
from previews import of_stream, reader, spilled, whole

from spillstore.exceptions import StorageError
from spillstore_tools.agent.bash import BashTool
from spillstore_tools.output.rendering import render
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile
from spillstore_tools.profiles.formats import opencode
from spillstore_tools.profiles.formats.opencode import MAX_BYTES, MAX_LINES, Opencode


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def numbered(count, text="line"):
    return "".join(f"{text} {number}\n" for number in range(1, count + 1)).encode()


def nowhere():
    raise StorageError("no space left on device")


def test_limits():
    """2,000 lines or 50 KB inline, 500 and 500 lines of more, 100 MB kept, deleted with the session."""
    profile_ = profile("opencode")
    assert (2000, 51_200, 500, 500, 104_857_600) == (
        MAX_LINES,
        MAX_BYTES,
        profile_.head_lines,
        profile_.tail_lines,
        profile_.stream_limit,
    )
    assert profile_.cleanup_on_exit


def test_under_the_limits_nothing_changes():
    """Exactly 2,000 lines, or exactly 50 KB: shown as they are, and nothing is stored."""
    for data in (numbered(2000), b"x" * 79 + b"\n", (b"x" * 1023 + b"\n") * 50, b"x" * MAX_BYTES, b""):
        spill, rendered = spilled(nowhere, "opencode", [(data, "stdout")])
        assert (data.decode(), None) == (rendered.text, spill.artifact)


def test_over_the_line_limit(session):
    """2,001 lines and more: total with a thousands separator, location, how to read on, both ends; to the letter."""
    data = numbered(8432)
    spill, rendered = spilled(session, "opencode", [(data, "stdout")])
    lines = data.decode().splitlines(keepends=True)
    identity = spill.artifact.id
    assert rendered.text == (
        "<stdout truncated: 8,432 lines total>\n"
        f"Full output saved to: artifact {identity}, stdout\n"
        f'Use get_artifact(id="{identity}", stream="stdout", offset=0, limit=2000, max_chars=50000) with other values of '
        "offset and limit to read specific sections.\n"
        f"In a shell: spillstore cat {identity} --stream stdout | rg PATTERN\n\n"
        "--- First 500 lines ---\n"
        + "".join(lines[:500])
        + "\n--- Last 500 lines ---\n"
        + "".join(lines[-500:])
    )
    (omission,) = rendered.omissions
    assert (501, 7932, 7432) == (omission.first_line, omission.last_line, omission.lines)
    assert "".join(lines[500:7932]).encode() == spill.artifact.read_lines(501, 7932, stream="stdout")
    assert data == spill.artifact.read_bytes(0, len(data))


def test_over_the_byte_limit(session):
    """Few lines above 50 KB: whole lines of both ends, trimmed from the inner edge until they are at most 50 KB."""
    data = b"".join(b"%04d %s\n" % (number, b"x" * 200) for number in range(1000))
    spill, rendered = spilled(session, "opencode", [(data, "stdout")])
    shown = [line for line in rendered.text.splitlines(keepends=True) if line.endswith("x\n")]
    assert all(len(line) == 206 for line in shown)
    assert MAX_BYTES - 206 < sum(map(len, shown)) <= MAX_BYTES
    assert "0000 " in shown[0]
    assert "0999 " in shown[-1]
    assert f"--- First {sum(line < '0500' for line in shown)} lines ---" in rendered.text
    assert clean(data) == whole(rendered, reader(spill.artifact))


@pytest.mark.parametrize("text", ["世界", "é", "🙂", "e\u0301"])
def test_multi_byte_text_is_not_garbled(session, text):
    """Cuts fall between whole lines, and limits count bytes of UTF-8: no replacement character anywhere."""
    data = numbered(3000, text * 20)
    spill, rendered = spilled(session, "opencode", [(data, "stdout")])
    assert "\ufffd" not in rendered.text
    inside = [line for line in rendered.text.splitlines() if line.startswith(text)]
    assert set(inside) <= set(data.decode().splitlines())
    assert sum(len(line.encode()) + 1 for line in inside) <= MAX_BYTES
    assert clean(data) == whole(rendered, reader(spill.artifact))


def test_one_over_long_line_is_clipped(session):
    """A line above 50 KB: both ends of it, the byte range of what is missing, no more than 50 KB."""
    data = b"a" * 40_000 + b"b" * 40_000 + b"\n"
    spill, rendered = spilled(session, "opencode", [(data, "stdout")])
    (omission,) = rendered.omissions
    assert f"bytes {omission.start}-{omission.end}, omitted" in rendered.text
    assert rendered.text.startswith("<stdout truncated: 1 line total>")
    assert "--- First 1 line ---\naaa" in rendered.text
    assert rendered.text.endswith("bbb\n")
    shown = rendered.text.partition("--- First 1 line ---\n")[2]
    assert MAX_BYTES - 10 <= len(shown) <= MAX_BYTES
    assert clean(data) == whole(rendered, reader(spill.artifact))


def test_streams_stand_apart(session):
    """Each stream by itself: the long one is cut and says so, the short one is whole, below it."""
    written = [(numbered(3000), "stderr"), (b"done\n", "stdout")]
    spill, rendered = spilled(session, "opencode", written)
    assert rendered.text.startswith("done\n\n<stderr truncated: 3,000 lines total>\n")
    assert f"artifact {spill.artifact.id}, stderr" in rendered.text
    assert 'stream="stderr"' in rendered.text
    assert ["stderr"] == [each.stream for each in rendered.omissions]
    assert of_stream(written, "stderr") == spill.artifact.read_bytes(0, 10**6, stream="stderr")


def test_only_stderr(session):
    """A command that prints to stderr alone begins with it."""
    _, rendered = spilled(session, "opencode", [(b"no\n", "stderr")])
    assert rendered.text == "no\n"


@pytest.mark.parametrize("step", [10**9, 7000])
def test_more_than_100_mb(session, monkeypatch, step):
    """Above the cap (here 200 KB): the first bytes are kept, the last lines shown, all are counted, and it is the same again."""
    monkeypatch.setattr(Opencode, "stream_limit", 200_000)
    data = numbered(40_000)
    pieces = [(data[at : at + step], "stdout") for at in range(0, len(data), step)]
    spill, rendered = spilled(session, "opencode", [*pieces, (numbered(9), "stderr")])
    assert rendered.text.startswith("<stdout truncated: 40,000 lines total>\n")
    assert (
        f"Full output saved to: artifact {spill.artifact.id}, stdout (truncated at 100MB)\n" in rendered.text
    )
    assert f"The stored part ends behind byte 200000 of {len(data)}; " in rendered.text
    assert "--- Last 500 lines ---\nline 39501\n" in rendered.text
    assert "line 40000\n" in rendered.text
    assert [True] == [each.dropped for each in rendered.omissions]
    assert spill.lines()["stdout"] == 40_000
    assert data[:200_000] == spill.artifact.read_bytes(0, 10**7, stream="stdout")
    assert numbered(9) == spill.artifact.read_bytes(0, 10**7, stream="stderr")
    assert rendered == render(spill.artifact, profile("opencode"))
    assert len(data) + len(numbered(9)) == spill.received


def test_exactly_100_mb(session, monkeypatch):
    """What is as large as the cap (here 200 KB) is kept whole, and nothing else is said."""
    monkeypatch.setattr(Opencode, "stream_limit", 200_000)
    data = numbered(40_000)[:199_999] + b"\n"
    spill, rendered = spilled(session, "opencode", [(data, "stdout")])
    assert "100MB" not in rendered.text
    assert [False] == [each.dropped for each in rendered.omissions]
    assert data == spill.artifact.read_bytes(0, 10**7)
    assert rendered == render(spill.artifact, profile("opencode"))


@pytest.mark.parametrize(
    "more", [pytest.param(0, id="exactly", marks=pytest.mark.slow), pytest.param(1, id="one byte more")]
)
def test_100_mb_of_a_command(session, more):
    """The cap as it is: at 104,857,600 bytes nothing is cut and nothing said; of more the end is shown, counted, not kept."""
    cap = 100 * 1024 * 1024
    command = f"yes 'a line of 19 letters' | head -c {cap - 16 + more}; echo; echo ERROR: no link"
    result = BashTool(session, profile="opencode").call_sync({"command": command})
    lines = (cap - 16 + more) // 21 + 2
    assert result.text.startswith(f"<stdout truncated: {lines:,} lines total>\n")
    assert result.text.endswith("\nERROR: no link\n")
    assert (cap + more, lines) == (result.stdout.size, result.stdout.lines)
    assert cap == session.artifact(result.artifact_id).info.size
    assert bool(more) == ("(truncated at 100MB)" in result.text)
    assert bool(more) == (f"The stored part ends behind byte {cap} of {cap + 1}" in result.text)


def test_more_than_100_mb_where_storing_fails(monkeypatch):
    """The last lines of all that came are shown, too."""
    monkeypatch.setattr(Opencode, "stream_limit", 200_000)
    _spill, rendered = spilled(nowhere, "opencode", [(numbered(40_000), "stdout")])
    assert rendered.text.startswith("<stdout truncated: 40,000 lines total>\n")
    assert rendered.text.endswith("line 40000\n")


def test_the_cap_is_said_to_be_100_mb():
    """The words of the notice are those of the constant."""
    assert opencode.STREAM_LIMIT == 100 * 1024 * 1024


def test_storing_fails():
    """No location line, no error: the line that counts and both ends, as the document wants it."""
    data = numbered(3000)
    spill, rendered = spilled(nowhere, "opencode", [(data, "stdout")])
    assert rendered.text.startswith(
        "<stdout truncated: 3,000 lines total>\n\n--- First 500 lines ---\nline 1\n"
    )
    assert "Full output saved to" not in rendered.text
    assert rendered.text.endswith("line 3000\n")
    assert (False, "no space left on device") == (rendered.is_error, spill.problem)


def test_two_calls_at_once(session):
    """Two commands in one session: two artifacts, each with its own output."""
    found = {}

    def call(name):
        found[name] = spilled(session, "opencode", [(numbered(3000, name), "stdout")])

    threads = [threading.Thread(target=call, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, (spill, rendered) in found.items():
        assert numbered(3000, name) == spill.artifact.read_bytes(0, 10**6)
        assert f"{name} 3000\n" in rendered.text
    assert found["one"][0].artifact.id != found["two"][0].artifact.id


def test_any_section_can_be_read(session):
    """Paging by lines, as ``offset`` and ``limit`` say it, brings every line once."""
    data = numbered(5000)
    spill, _ = spilled(session, "opencode", [(data, "stdout")])
    pages = [spill.artifact.read_lines(at + 1, at + 2000, stream="stdout") for at in range(0, 5000, 2000)]
    assert [2000, 2000, 1000] == [page.count(b"\n") for page in pages]
    assert data == b"".join(pages)


def test_line_counts_can_be_set(session):
    """``Opencode(head_lines=3, tail_lines=2)`` shows three and two."""
    _, rendered = spilled(session, Opencode(head_lines=3, tail_lines=2), [(numbered(3000), "stdout")])
    assert (
        "--- First 3 lines ---\nline 1\nline 2\nline 3\n\n--- Last 2 lines ---\nline 2999\nline 3000\n"
        in (rendered.text)
    )


def test_the_preview_is_bounded(session):
    """Whatever comes, both streams together show at most 100 KB and their notices."""
    written = [(b"x" * 999 + b"\n", stream) for _ in range(3000) for stream in ("stdout", "stderr")]
    _, rendered = spilled(session, "opencode", written)
    assert len(rendered.text.encode()) < 2 * MAX_BYTES + 1500
