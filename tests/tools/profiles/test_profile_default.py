"""The profile ``default``: notice first, then what matters, within 8,000 characters."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from previews import reader, spilled, whole
from support import NO_FLOORS

from spillstore import Store
from spillstore.exceptions import StorageError
from spillstore_tools.config import ToolOverride, TruncationConfiguration, load
from spillstore_tools.output.rendering import render
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile
from spillstore_tools.profiles.default import Default
from spillstore_tools.profiles.limits import LIMIT

pytestmark = pytest.mark.everywhere


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def nowhere():
    raise StorageError("no space")


def numbered(count):
    return "".join(f"line {number} of a log\n" for number in range(1, count + 1)).encode()


@pytest.mark.parametrize("tool", ["bash", "read_file", "execute_command", "search_files"])
def test_smart_for_every_tool(session, tool):
    """No threshold, no overrides: one strategy and one limit for every source and size."""
    for size in (1000, 20_000):
        spill, rendered = spilled(session, "default", [(numbered(size), "stdout")], source=tool)
        assert ("smart", True) == (rendered.strategy, len(rendered.text) <= LIMIT)
        assert spill.artifact is not None


def test_the_notice(session):
    """Two lines: what there is, that a part is shown, and the calls, those of a shell, too; the first of each can be used as it is."""
    spill, rendered = spilled(session, "default", [(numbered(1000), "stdout")], flags=" --session test")
    identity = spill.artifact.id
    assert rendered.text.startswith(
        f'[1000 lines, 17.5 KB; a part is shown. All of it: get_artifact(id="{identity}", start_line=1, end_line=100), '
        'search_artifact(id=ID, pattern="...");\n'
        f"in a shell: spillstore show {identity} --lines 1-100 --session test, spillstore cat ID --session test | rg PATTERN]\n"
        "line 1 of a log\n"
    )
    assert rendered.text.endswith("line 1000 of a log\n")


def test_markers_agree_with_omissions(session):
    """Each marker says the lines that its omission says, and the call's arguments."""
    spill, rendered = spilled(session, "default", [(numbered(5000), "stdout")])
    for each in rendered.omissions:
        assert (
            f"[... {each.lines} lines omitted: start_line={each.first_line}, end_line={each.last_line} ...]\n"
            == (rendered.text[each.at : each.at + each.length])
        )
    assert clean(numbered(5000)) == whole(rendered, reader(spill.artifact))


def test_errors_are_brought_up(session):
    """A line in the middle that reports an error is shown with what stands around it."""
    data = numbered(2000) + b"src/main.c:7:3: error: expected ';'\n" + numbered(2000)
    _, rendered = spilled(session, "default", [(data, "stdout")])
    assert "\n2001: src/main.c:7:3: error: expected ';'\n" in rendered.text


def test_exactly_the_limit_is_whole():
    """8,000 characters are shown and not stored; for a command the footer is among them."""
    _, rendered = spilled(nowhere, "default", [(b"x" * LIMIT, "stdout")])
    assert b"x" * LIMIT == rendered.text.encode()
    footer = "[exit code 0]\n"
    data = b"x" * (LIMIT - len(footer) - 1) + b"\n"
    _, rendered = spilled(nowhere, "default", [(data, "stdout")], is_command=True, exit_code=0)
    assert data.decode() + footer == rendered.text


@given(size=st.integers(LIMIT - 30, LIMIT + 3), ended=st.booleans(), code=st.sampled_from([None, 0, 137]))
def test_around_the_limit(size, ended, code):
    """Whole or cut, command or not, the text has at most 8,000 characters."""
    data = b"x" * (size - ended) + b"\n" * ended
    _, rendered = spilled(nowhere, "default", [(data, "stdout")], is_command=code is not None, exit_code=code)
    assert len(rendered.text) <= LIMIT
    assert clean(data) == whole(rendered, lambda each: data[each.start : each.end])


def test_the_footer_begins_a_line():
    """Output without a last newline does not run into the exit code."""
    _, rendered = spilled(nowhere, "default", [(b"no newline", "stdout")], is_command=True, exit_code=2)
    assert ("no newline\n[exit code 2]\n", False) == (rendered.text, rendered.is_error)


def test_binary_content(session):
    """Named, dumped in part, with the command that writes it to a file; stored exactly."""
    data = random.Random(3).randbytes(100_000)
    spill, rendered = spilled(session, "default", [(data, "stdout")])
    assert rendered.text.startswith("[Binary: application/octet-stream, 100,000 bytes (97.7 KB)]\n")
    assert rendered.text.endswith(f"\n[all of it: spillstore cat {spill.artifact.id} > FILE]\n")
    assert ("binary", data) == (rendered.strategy, spill.artifact.read_bytes(0, 10**6))
    assert clean(data) == whole(rendered, reader(spill.artifact))


def test_binary_content_that_cannot_be_stored():
    """Named all the same, and it is said that it is not kept."""
    _, rendered = spilled(nowhere, "default", [(random.Random(3).randbytes(9000), "stdout")])
    assert "[Binary: application/octet-stream, 9,000 bytes" in rendered.text
    assert "[NOT STORED COMPLETELY: no space; nothing of it was kept]" in rendered.text


@pytest.mark.parametrize("count", [2, 5000])
def test_utf_16(session, count):
    """Decoded where shown, exact where stored."""
    data = "".join(f"wide wörld {number}\n" for number in range(count)).encode("utf-16")
    spill, rendered = spilled(session, "default", [(data, "stdout")])
    assert "wide wörld 0\nwide wörld 1\n" in rendered.text
    assert f"wide wörld {count - 1}\n" in rendered.text
    assert data == spill.artifact.read_bytes(0, 10**6)
    assert len(rendered.text) <= LIMIT
    assert rendered == render(spill.artifact, profile("default"))


def test_storing_fails():
    """What was kept (nothing), why, and that the rest cannot be fetched; both ends."""
    _, rendered = spilled(nowhere, "default", [(numbered(2000), "stdout")])
    assert rendered.text.startswith(
        "[NOT STORED COMPLETELY: no space; nothing of it was kept]\n"
        "[2000 lines, 36.0 KB; a part is shown, and what is left out below cannot be fetched]\nline 1 of"
    )
    assert "line 2000 of a log\n" in rendered.text


# --- with a configuration ---------------------------------------------------------------------------------


def test_a_configuration_takes_the_place_of_our_limits(session):
    """Limits and strategies of the user's own, over ``smart`` as the default."""
    configuration = load(
        environment={},
        inline_limit=3000,
        overrides={"logs": {"strategy": "tail", "line_truncation": {"tail_lines": 3}}},
    )
    processor = TruncationProcessor(session, configuration=configuration)
    other = processor.process(numbered(1000), "other")
    assert ("smart", True) == (other.metadata.strategy_used, len(other.content) <= 3000)
    logs = processor.process(numbered(1000), "logs")
    assert "tail" == logs.metadata.strategy_used
    assert ["line 998 of a log", "line 999 of a log", "line 1000 of a log"] == logs.content.splitlines()[-3:]
    assert not processor.process(numbered(100), "read_file").metadata.was_truncated


@given(
    limit=st.integers(1, 1500),
    size=st.integers(0, 3000),
    strategy=st.sampled_from(["smart", "head_tail", "tail", "element", "lines"]),
    code=st.sampled_from([None, 0]),
    binary=st.booleans(),
)
def test_no_result_is_longer_than_its_limit(limit, size, strategy, code, binary):
    """Small limits cost the notice, then the footer; never the limit."""
    configuration = TruncationConfiguration(
        inline_limit=limit, artifact_threshold=5000, default_strategy=strategy, overrides={}
    )
    noise = random.Random(size)
    data = noise.randbytes(size) if binary else bytes(noise.choices(b"ab \n", k=size))
    _, rendered = spilled(
        nowhere,
        profile("default", configuration),
        [(data, "stdout")],
        is_command=code is not None,
        exit_code=code,
    )
    assert len(rendered.text) <= limit or (limit < 400 and not data)
    assert clean(data) == whole(rendered, lambda each: data[each.start : each.end])


def test_none_cuts_nothing_below_the_threshold(session):
    """``none``: whole up to the threshold, not stored; beyond it the limit holds again."""
    configuration = TruncationConfiguration(default_strategy="none", overrides={"t": ToolOverride()})
    processor = TruncationProcessor(session, configuration=configuration)
    result = processor.process("x" * 49_999, "t")
    assert ("x" * 49_999, None) == (result.content, result.artifact_id)
    result = processor.process("x" * 50_000, "t")
    assert (True, "smart") == (len(result.content) <= 8000, result.metadata.strategy_used)


def test_element_falls_back_to_smart(session):
    """What is no JSON is cut by ``smart``."""
    configuration = TruncationConfiguration(default_strategy="element", overrides={})
    result = TruncationProcessor(session, configuration=configuration).process(numbered(1000), "t")
    assert "smart" == result.metadata.strategy_used


class Limited(Default):
    """The profile with artifacts of 256 KiB."""

    size_limit = 4 * 64 * 1024
    policy = "roll"


def test_a_line_that_was_dropped_since_is_shown_and_says_so(make_store):
    """What matters in the dropped middle was seen as it passed: it is shown, marked, and shown again the same."""
    with make_store().session("test") as session:
        spill = Spill(lambda: session, Limited(), source="bash", command="make", is_command=True)
        for number in range(0, 40_000, 10):
            spill.write(b"".join(b"step %d of the build went well\n" % (number + each) for each in range(10)))
            if number == 20_000:
                spill.write(b"src/main.c:12:5: error: expected ';' before 'return'\n")
        rendered = spill.finish(exit_code=2)
        assert spill.artifact.info.hole is not None
        assert "(dropped since, cannot be fetched) src/main.c:12:5: error" in rendered.text
        assert len(rendered.text) <= LIMIT
        assert rendered == render(spill.artifact, Limited())
        assert any(omission.dropped for omission in rendered.omissions)


@pytest.mark.parametrize("lines", [1000, 1797])
def test_what_is_shown_whole_and_not_kept_whole(tmp_path, lines):
    """That bytes were dropped is said before it, if there is room, else in the notice; and the text is made again the same."""
    store = Store(
        tmp_path, free_disk_floor=0, artifacts_per_minute=0, artifact_limit=1000, artifact_policy="roll"
    )
    profile_all = Default()
    profile_all.keep = "all"
    data = b"".join(b"%d\n" % number for number in range(1, lines + 1))
    with store.session("test") as session:
        spill = Spill(lambda: session, profile_all, source="bash", keep="all", is_command=True)
        spill.write(data)
        rendered = spill.finish(exit_code=0)
        hole = spill.artifact.info.hole
        said = f"[bytes {hole.start}-{hole.end} were dropped: an artifact may keep 1,000 bytes; they cannot be fetched any more]\n"
        assert rendered.text.startswith(said)
        assert rendered.was_truncated == (lines > 1000)
        assert len(rendered.text) <= LIMIT
        assert clean(data) == whole(rendered, lambda omission: data[omission.start : omission.end])
        assert rendered == render(spill.artifact, profile_all)


def test_what_the_strategy_leaves_when_dropped_parts_are_told(tmp_path):
    """Words about what was dropped take room; where the strategy cannot do with less, ours takes its place."""
    store = Store(
        tmp_path, free_disk_floor=0, artifacts_per_minute=0, artifact_limit=100_000, artifact_policy="roll"
    )
    middle = (b"<?x?>" + b"t " * 50) * 20  # instructions are never cut
    data = b"<a b='" + b"p" * 6892 + b"'>" + b"t " * 50_000 + middle + b"t " * 50_000 + b"</a>"
    with store.session("test") as session:
        configured = profile("default", load(environment={}, strategy="element"))
        spill, rendered = spilled(session, configured, [(data, "stdout")])
        assert ("smart", True) == (rendered.strategy, len(rendered.text) <= LIMIT)
        assert clean(data) == whole(rendered, lambda omission: data[omission.start : omission.end])
        assert rendered == render(spill.artifact, configured)


@pytest.mark.parametrize("shape", ["{}", "{}\n", "begin\n{}\nend\n", "{}\n{}\n", "a\nb\n{}\nc\n{}\nd\n"])
def test_few_long_lines_share_the_room(session, shape):
    """Each is shown, with as much of it as leaves room for the others: most of the 8,000 characters."""
    count = shape.count("{}")
    data = shape.format(
        *(f"{number} " + "some words of it " * 20_000 + f"{number}" for number in range(count))
    )
    spill, rendered = spilled(session, "default", [(data.encode(), "stdout")])
    assert 5000 <= len(rendered.text) <= 8000
    assert count == len(rendered.omissions)
    assert all(each.lines == 0 for each in rendered.omissions)
    for number in range(count):
        assert f"{number} some words of it some" in rendered.text
    assert f"words of it {count - 1}" in rendered.text
    assert clean(data.encode()) == whole(rendered, reader(spill.artifact))


def test_what_was_not_stored_is_said_first(plain_store):
    """The first line says so of binary content as of text, with what there was and what was still to come."""
    store = Store(plain_store.address, **NO_FLOORS, session_quota=150_000)
    noise = random.Random(3).randbytes(900_000)
    with store.session("small") as session:
        for content in (noise, noise.hex()):
            first = TruncationProcessor(session).process(content, "t").content.splitlines()[0]
            assert first.startswith("[NOT STORED COMPLETELY: session 'small' takes ")
            assert "bytes, may take 150000, and " in first
            assert "raise SPILLSTORE_SESSION_QUOTA" in first


@pytest.mark.parametrize("tool", ["read_file", "execute_command", "other"])
def test_a_limit_leaves_the_strategy_alone(session, tool):
    """Who sets a limit alone keeps ``smart``, whatever tool it is; ``acode`` keeps its own."""
    configuration = load(environment={}, inline_limit=6000)
    content = numbered(10_000) + b"app.c:3: error: no such symbol\n" + numbered(10_000)
    result = TruncationProcessor(session, configuration=configuration).process(content, tool)
    assert ("smart", True) == (result.metadata.strategy_used, len(result.content) <= 6000)
    assert "app.c:3: error: no such symbol" in result.content
    assert "tail" == profile("acode", configuration).limits("execute_command").strategy


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"default_strategy": "head_tail"}, {"execute_command": "head_tail", "other": "head_tail"}),
        (
            {"overrides": {"execute_command": {"strategy": "tail"}}},
            {"execute_command": "tail", "other": "smart"},
        ),
        ({"overrides": {"execute_command": {"inline_limit": 7000}}}, {"execute_command": "smart"}),
        ({"strategy": "tail"}, {"execute_command": "tail", "read_file": "tail", "other": "tail"}),
    ],
)
def test_a_strategy_that_was_asked_for(session, settings, expected):
    """Whoever names a strategy gets it, even where its name is that of a default of the configuration."""
    processor = TruncationProcessor(session, configuration=load(environment={}, **settings))
    shown = {tool: processor.process(numbered(10_000) + tool.encode(), tool) for tool in expected}
    assert expected == {tool: result.metadata.strategy_used for tool, result in shown.items()}


def test_notice_of_few_long_lines_named_lines(session):
    """Where lines are long, the calls bring some kilobytes by bytes, and what is found in a line is shown without the rest of it."""
    page = b"".join(b"function f%d(e){return e.value+%d}" % (number, number) for number in range(9000))
    spill, rendered = spilled(session, "default", [(b"loading\n" + page, "stdout")])
    notice = rendered.text[: rendered.text.index("]\n")]
    assert f'get_artifact(id="{spill.artifact.id}", start_byte=0, end_byte=8000)' in notice
    assert f"spillstore show {spill.artifact.id} --bytes 0-8000" in notice
    assert notice.endswith("spillstore cat ID | rg -o '.{0,80}PATTERN.{0,80}'")
    assert "line=" not in notice
    assert "1-100" not in notice
