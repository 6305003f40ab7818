"""The profile ``omni``, against its document (S3)."""

from __future__ import annotations

import pytest
from previews import reader, spilled, whole

from spillstore.exceptions import StorageError
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles.formats.omni import LIMIT


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def nowhere():
    raise StorageError("no\nspace")


@pytest.mark.parametrize("data", [b"", b"small\n", b"x" * LIMIT, "é".encode() * LIMIT])
def test_small_outputs_are_untouched(data):
    """Up to 8,000 characters nothing is done, said or stored."""
    _, rendered = spilled(nowhere, "omni", [(data, "stdout")])
    assert (data.decode(), ()) == (rendered.text, rendered.omissions)


def test_the_notice_comes_first(session):
    """Omitted characters, then the location, then the follow-up; then head and tail; at most 8,000 characters."""
    data = b"".join(b"%05d building things\n" % number for number in range(5000))
    spill, rendered = spilled(session, "omni", [(data, "stdout")])
    lines = rendered.text.splitlines()
    (omission,) = rendered.omissions
    identity = spill.artifact.id
    assert f"[Output truncated: {omission.chars} characters omitted]" == lines[0]
    assert f"Full output saved to: artifact {identity}" == lines[1]
    assert f'get_artifact(id="{identity}", tail=100)' in lines[2]
    assert f'search_artifact(id="{identity}", pattern="error")' in lines[2]
    assert f"spillstore tail {identity} -n 100" in lines[2]
    assert f"spillstore cat {identity} | rg PATTERN" in lines[2]
    assert "" == lines[3]
    assert "--- head ---" == lines[4]
    assert "00000 building things" == lines[5]
    assert "04999 building things" == lines[-1]
    assert LIMIT - 4 <= len(rendered.text) <= LIMIT
    assert omission.end - omission.start == omission.chars
    assert clean(data) == whole(rendered, reader(spill.artifact))


def test_head_and_tail_have_equal_shares(session):
    """As many characters of the beginning as of the end."""
    _, rendered = spilled(session, "omni", [(b"x" * 20_000, "stdout")])
    head, tail = rendered.text.split("--- head ---\n")[1].split("\n--- tail ---\n")
    assert abs(len(head) - len(tail)) <= 8


def test_the_threshold_counts_both_streams(session):
    """4,500 characters on each stream are 9,000 together: stored, in the order in which they came."""
    written = [(b"x" * 44 + b"\n", stream) for _ in range(100) for stream in ("stdout", "stderr")]
    spill, rendered = spilled(session, "omni", written)
    assert rendered.was_truncated
    assert b"".join(data for data, _ in written) == spill.artifact.read_bytes(0, 9001)


def test_what_is_stored_has_every_line(session):
    """A command of 5,000 lines: the artifact has 5,000."""
    spill, _ = spilled(session, "omni", [(b"line\n" * 5000, "stdout")], is_command=True, exit_code=0)
    assert 5000 == spill.artifact.info.lines


def test_the_last_lines_are_seen(session):
    """The errors at the end of a long log are shown without a further call."""
    data = b"compiling\n" * 5000 + b"error: undefined reference\nbuild failed\n"
    _, rendered = spilled(session, "omni", [(data, "stdout")])
    assert rendered.text.endswith("error: undefined reference\nbuild failed\n")


def test_storing_fails():
    """Both ends, and the reason in the place of the location."""
    _, rendered = spilled(nowhere, "omni", [(b"line\n" * 5000, "stdout")])
    assert "\nFull output could not be saved: no space\n" in rendered.text
    assert "Follow up" not in rendered.text
    assert len(rendered.text) <= LIMIT
