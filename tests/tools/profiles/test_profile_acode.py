"""The profile ``acode``, against its document (S1): requirements, its own tests, scenarios and edge cases."""

from __future__ import annotations

import json
import random
import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from previews import reader, whole

from spillstore.exceptions import StorageError
from spillstore_tools.config import (
    ArtifactSettings,
    ElementTruncation,
    LineOverride,
    LineTruncation,
    MetadataSettings,
    SmartTruncation,
    ToolOverride,
    TruncationConfiguration,
    load,
)
from spillstore_tools.output.content import ContentError
from spillstore_tools.output.rendering import render
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile

MARKER = re.compile(r"\.\.\. \[\d+ lines / \d+ chars omitted\] \.\.\.")


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


@pytest.fixture
def make(session):
    """Makes processors of this profile."""

    def make(**settings):
        return TruncationProcessor(
            session, profile="acode", configuration=TruncationConfiguration(**settings)
        )

    return make


def nowhere():
    raise StorageError("no space")


def whole_of(result, artifact):
    """The law of notices on a result: notes are what the profile adds behind the last marker or part."""
    rendered = render(artifact, profile("acode"))
    assert rendered.text == result.content
    return whole(rendered, reader(artifact))


# --- limits -----------------------------------------------------------------------------------------------


def test_defaults():
    """8,000 inline, 50,000 to an artifact, 10 MiB at most; head and tail, 60 to 40; deleted with the session."""
    limits = profile("acode").limits("some_tool")
    assert (8000, 50_000, 10_485_760, "head_tail", 0.6) == (
        limits.inline_limit,
        limits.artifact_threshold,
        limits.max_artifact_size,
        limits.strategy,
        limits.head_ratio,
    )
    assert profile("acode").cleanup_on_exit


@pytest.mark.parametrize(
    ("tool", "strategy"),
    [
        ("read_file", "head_tail"),
        ("execute_command", "tail"),
        ("list_directory", "element"),
        ("search_files", "element"),
        ("git_diff", "head_tail"),
        ("anything_else", "head_tail"),
    ],
)
def test_each_tool_has_its_strategy(tool, strategy):
    """The strategies of the five known tools, and the default for others."""
    assert strategy == profile("acode").limits(tool).strategy


def test_exactly_the_inline_limit_is_not_cut(make):
    """8,000 characters pass; of code points, not bytes."""
    for text in ("x" * 8000, "é" * 8000, "x" * 7999 + "\n"):
        result = make().process(text, "read_file")
        assert (text, False, None) == (result.content, result.metadata.was_truncated, result.artifact_id)


@pytest.mark.parametrize("tool", ["read_file", "execute_command", "search_files", "other"])
@pytest.mark.parametrize("text", ["x" * 8001, "é" * 8001, "line\n" * 1601, "\x1b[1mb\x1b[0m" * 8001])
def test_one_character_more_is_cut(make, session, tool, text):
    """8,001 characters: cut, stored whole, and the result is no longer than the limit."""
    result = make().process(text, tool)
    assert result.metadata.was_truncated
    assert len(result.content) <= 8000
    assert text.encode() == session.artifact(result.artifact_id).read_bytes(0, 10**6)


@given(
    limit=st.integers(1, 700),
    size=st.integers(0, 900),
    tool=st.sampled_from(["read_file", "execute_command", "search_files", "head", "lines", "smart", "none"]),
    binary=st.booleans(),
)
def test_no_result_is_longer_than_its_limit(limit, size, tool, binary):
    """Whatever the limit and the strategy, stored or not: notices and markers are counted."""
    overrides = {name: ToolOverride(strategy=name) for name in ("head", "lines", "smart", "none")}
    overrides["execute_command"] = ToolOverride(strategy="tail")
    overrides["search_files"] = ToolOverride(strategy="element")
    configuration = TruncationConfiguration(
        inline_limit=limit, artifact_threshold=max(limit, 700) + 1, overrides=overrides
    )
    processor = TruncationProcessor(nowhere, profile="acode", configuration=configuration)
    noise = random.Random(size)
    content = noise.randbytes(size) if binary else "".join(noise.choices("ab \n", k=size))
    result = processor.process(content, tool)
    if tool != "none":
        assert len(result.content) <= limit or not result.metadata.was_truncated
    if not result.metadata.was_truncated:
        assert clean(content if binary else content.encode()) == result.content


def test_the_threshold(make, session):
    """49,999 characters are truncated, 50,000 become a reference; what stands below the threshold names its artifact."""
    below = make().process("x" * 49_999, "read_file")
    assert MARKER.search(below.content)
    assert below.content.splitlines()[-1].startswith(f"[Artifact: {below.artifact_id}] read_file: ")
    assert ("head_tail", 49_999) == (below.metadata.strategy_used, below.metadata.original_size)
    exactly = make().process("x" * 50_000, "read_file")
    assert exactly.content.startswith(f"[Artifact: {exactly.artifact_id}] ")
    assert ("reference", 50_000) == (exactly.metadata.strategy_used, exactly.metadata.original_size)
    for result in (below, exactly):
        assert session.exists(result.artifact_id)


def test_the_reference_block(make, session):
    """The first line of FR-059, then the manual's lines, to the letter."""
    users = [{"id": number, "name": f"User {number}"} for number in range(4000)]
    result = make().process(users, "http_request", command="GET /api/v1/users?limit=4000")
    info = session.artifact(result.artifact_id).info
    head, preview = result.content.split("\n\nPreview (first 500 characters):\n")
    first, *rest = head.splitlines()
    size = len(json.dumps(users))
    assert re.fullmatch(rf"\[Artifact: {info.id}\] (.*) \({size / 1024:.1f} KB\)", first)
    assert len(re.fullmatch(r"\[Artifact: \S+\] (.*) \(.*\)", first)[1]) <= 100
    assert "Type: application/json" == rest[0]
    assert f"Size: {size / 1024:.1f} KB ({size:,} bytes, ~{-(-size // 4):,} tokens)" == rest[1]
    assert "Source: http_request GET /api/v1/users?limit=4000" == rest[2]
    assert re.fullmatch(r"Created: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", rest[3])
    call = f'get_artifact(id="{info.id}"'
    assert (
        json.dumps(users)[:500]
        + (
            "\n\nRetrieval options:\n"
            f"- Full content: {call})\n"
            f"- Line range: {call}, start_line=1, end_line=1)\n"
            f"- Byte range: {call}, start_byte=0, end_byte=10240)\n"
            f'- JSONPath query: {call}, query="$[0]")'
        )
        == preview
    )


def test_the_summary_is_one_line_of_at_most_100_characters(make):
    """Names and first lines of any length and content leave the reference line one line."""
    result = make().process("é\u0301" * 40_000, "tool\nwith\x1b[31m lines " * 9, content_type="text/x\ny")
    summary = re.match(r"\[Artifact: \S+\] (.*) \(.*\)\n", result.content)[1]
    assert len(summary) <= 100
    assert "\x1b" not in summary


@pytest.mark.parametrize("command", ["", "\n", "a\nb", "\x1b]0;x\x07ls", "c" * 5000])
def test_any_command_can_be_named(make, command):
    """An empty command, or one of many lines, in the block is one bounded line."""
    result = make().process("x" * 60_000, "bash", command=command)
    (source,) = [line for line in result.content.splitlines() if line.startswith("Source: ")]
    assert len(source) <= 210


def test_the_block_fits_a_small_inline_limit(make):
    """The preview shrinks, the options go, and in the end one line is left: never more than the limit."""
    for limit in (1000, 600, 300, 60):
        result = make(inline_limit=limit, artifact_threshold=2000).process("x" * 5000, "t")
        assert len(result.content) <= limit
        assert result.content.startswith("[Artifact: art_"[:limit])
    assert "Retrieval options" not in result.content


def test_what_is_too_large_is_refused(make, session):
    """At the largest size exactly: an error with both sizes, not a byte kept, not even by the session."""
    limit = 10_485_760
    for content in ("x" * limit, b"\xff" * limit, (b"x" * 1024 for _ in range(10_240))):
        result = make().process(content, "read_file")
        assert result.content.startswith("Output size (10.0 MB) exceeds maximum artifact size (10.0 MB)")
        assert (True, None, "refused", True, limit) == (
            result.is_error,
            result.artifact_id,
            result.metadata.strategy_used,
            result.metadata.was_truncated,
            result.metadata.original_size,
        )
    assert [] == list(session.artifacts())
    assert not make().process("x" * (limit - 1), "read_file").is_error


def test_a_tool_may_have_a_largest_size_of_its_own(make, session):
    """Smaller or larger than that of all tools: each is heeded from the first byte on."""
    overrides = {
        "small": ToolOverride(max_artifact_size=80_000),
        "large": ToolOverride(max_artifact_size=500_000),
    }
    processor = make(max_artifact_size=200_000, overrides=overrides)
    assert "(0.1 MB) exceeds" in processor.process("x" * 90_000, "small").content
    assert [] == list(session.artifacts())
    assert processor.process("x" * 300_000, "large").content.startswith("[Artifact: art_")
    assert processor.process("x" * 200_000, "other").is_error
    assert processor.process("x" * 500_000, "large").is_error


def test_a_single_write_that_is_too_large(session):
    """Refused by its first write, before anything was committed: no empty artifact stays behind."""
    spill = Spill(lambda: session, profile("acode"), source="run", keep="all")
    spill.write(b"x" * 10_485_760)
    spill.write(b"more")
    assert (True, 10_485_764) == (spill.finish().is_error, spill.received)
    assert [] == list(session.artifacts())


def test_a_small_largest_size_refuses_short_content(make):
    """Even what would be shown whole."""
    processor = make(inline_limit=10, artifact_threshold=20, max_artifact_size=30)
    assert not processor.process("x" * 29, "t").is_error
    assert processor.process("x" * 30, "t").is_error


def test_a_stored_artifact_is_never_refused(make, session):
    """Something larger that was stored by other means is shown by reference: it is there."""
    artifact = session.put(b"line\n" * 100_000)
    result = make(max_artifact_size=100_000, artifact_threshold=60_000).process(artifact, "read_file")
    assert result.content.startswith(f"[Artifact: {artifact.id}] ")


# --- strategies: the document's unit tests ----------------------------------------------------------------


def test_content_under_the_limit_is_untouched(make):
    """Content, sizes and flag."""
    content = "This is a short piece of content under the limit."
    result = make(inline_limit=1000).process(content, "t")
    assert (content, False, len(content), len(content)) == (
        result.content,
        result.metadata.was_truncated,
        result.metadata.original_size,
        result.metadata.truncated_size,
    )


def test_head_and_tail_are_kept(make):
    """200 characters at a limit of 100: begins with the head, ends with the tail, marker between, counts beside."""
    result = make(inline_limit=100).process("A" * 50 + "B" * 100 + "C" * 50, "t")
    assert (True, 200) == (result.metadata.was_truncated, result.metadata.original_size)
    assert result.metadata.truncated_size == len(result.content) < 200
    assert result.content.startswith("AAAA")
    assert result.content.endswith("CCCC")
    assert "omitted" in result.content
    assert result.metadata.omitted_characters > 0


def test_the_split_is_60_to_40(make):
    """Of the room beside the marker; a ratio of one's own is heeded."""
    for ratio, settings in ((0.6, {}), (0.8, {"head_ratio": 0.8})):
        result = make(inline_limit=350, **settings).process("x" * 5000, "t")
        head, tail = re.split(r"\n\.\.\. \[.*\] \.\.\.\n", result.content)
        assert abs(len(head) / (len(head) + len(tail)) - ratio) < 0.01


def test_the_marker_has_counts(make):
    """Lines and characters in the marker, in plain digits, and in the metadata."""
    content = "\n".join(f"Line {number}" for number in range(1, 51))
    result = make(inline_limit=100).process(content, "t")
    lines, chars = map(int, re.search(r"\[(\d+) lines / (\d+) chars omitted\]", result.content).groups())
    data = result.metadata.as_dict()
    assert (lines, chars) == (data["omitted_lines"], data["omitted_characters"])
    assert len(content) == chars + len(MARKER.sub("", result.content).replace("\n\n", "")) or lines
    result = make().process("x" * 40_000, "t")
    assert re.search(r"\n\.\.\. \[0 lines / \d{5} chars omitted\] \.\.\.\n", result.content)


def test_characters_stay_whole(make):
    """No broken character, whatever stands at the cut."""
    content = "Hello 世界 " + "X" * 100 + " 再见 World"
    result = make(inline_limit=50).process(content, "t")
    assert "\ufffd" not in result.content
    assert re.fullmatch(r"[\x00-\x7F\u4e00-\u9fff\s]+", result.content)
    for text in ("世" * 9000, "🙂" * 9000, "e\u0301" * 9000, "👩\u200d👧" * 4000):
        result = make().process(text, "t")
        assert set(MARKER.sub("", result.content.rsplit("\n", 1)[0])) - {"\n"} <= set(text)


def test_tail_keeps_the_last_lines(make):
    """Five of twenty: a marker first, then the last five."""
    processor = make(
        inline_limit=200,
        default_strategy="tail",
        line_truncation=LineTruncation(tail_lines=5),
        artifact_threshold=250,
    )
    content = "\n".join(f"Line {number:02}" for number in range(1, 31))
    result = processor.process(content, "t")
    assert all(f"Line {number}" in result.content for number in range(26, 31))
    assert not any(f"Line {number:02}" in result.content for number in range(1, 26))
    assert result.content.startswith("...")


def test_tail_keeps_whole_lines(make):
    """Every line but the marker is a line of the content."""
    content = "".join(f"Line {number}\n" for number in range(1, 60))
    result = make(inline_limit=100, default_strategy="tail").process(content, "t")
    shown = [line for line in result.content.splitlines() if line and "omitted" not in line]
    assert set(shown) <= set(content.splitlines())
    assert "Line 59" == shown[-1]


def test_head_and_lines(make):
    """``head`` ends with its marker, ``lines`` has it between whole lines."""
    content = "".join(f"Line {number}\n" for number in range(1, 200))
    head = make(inline_limit=300, default_strategy="head").process(content, "t").content
    assert head.startswith("Line 1\n")
    assert MARKER.search(head.splitlines()[-1])
    both = make(inline_limit=300, default_strategy="lines").process(content, "t").content
    assert {line for line in both.splitlines() if line and "omitted" not in line} <= set(content.splitlines())
    assert both.endswith("Line 199\n")


def test_element_keeps_json_valid(make):
    """An array of objects: begins and ends as one, parses, first and last elements stay."""
    items = [{"id": number, "name": f"Item {number}"} for number in range(1, 21)]
    settings = ElementTruncation(first_elements=2, last_elements=2)
    result = make(inline_limit=200, default_strategy="element", element_truncation=settings).process(
        items, "t"
    )
    parsed = json.loads(result.content)
    assert isinstance(parsed, list)
    assert (items[0], items[-1]) == (parsed[0], parsed[-1])


def test_element_counts_what_is_omitted(make):
    """100 numbers, two and two kept: 96 items omitted, in the text and in the metadata."""
    settings = ElementTruncation(first_elements=2, last_elements=2)
    processor = make(inline_limit=150, default_strategy="element", element_truncation=settings)
    result = processor.process(json.dumps(list(range(1, 101))), "t")
    assert "96 items omitted" in result.content
    assert 96 == result.metadata.as_dict()["omitted_elements"]


# --- the document's integration and performance tests -----------------------------------------------------


def test_a_large_command_output_is_cut_to_its_tail(make):
    """500 log lines: the last 50. The document's limit of 1,000 leaves no room for them beside the notice that counts here."""
    overrides = {
        "execute_command": ToolOverride(strategy="tail", line_truncation=LineOverride(tail_lines=50))
    }
    processor = make(inline_limit=1300, artifact_threshold=20_000, overrides=overrides)
    output = "\n".join(f"[INFO] Log line {number}" for number in range(1, 501))
    result = processor.process(output, "execute_command")
    assert result.metadata.was_truncated
    shown = re.findall(r"^\[INFO\] Log line (\d+)$", result.content, re.MULTILINE)
    assert [str(number) for number in range(451, 501)] == shown
    assert "tail" == result.metadata.as_dict()["strategy"]


def test_massive_content_becomes_an_artifact(make, session):
    """100,000 characters: a reference that names it, and all of it comes back by id."""
    processor = make(inline_limit=1000, artifact_threshold=5000)
    content = "X" * 100_000
    result = processor.process(content, "read_file")
    assert "[Artifact:" in result.content
    assert result.artifact_id in result.content
    assert len(result.content) <= 1000
    assert result.metadata.as_dict()["artifact_created"] is True
    assert content.encode() == session.artifact(result.artifact_id).read_bytes(0, 10**6)
    assert re.fullmatch(r"art_\d+_[a-zA-Z0-9]+", result.artifact_id)


def test_ten_at_once(make):
    """Ten threads truncate 50,000 characters each: ten different results."""
    processor, results = make(inline_limit=10_000, artifact_threshold=60_000), [None] * 10

    def work(number):
        results[number] = processor.process(chr(ord("A") + number) * 50_000, "t")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 10 == len({result.content for result in results})
    assert 10 == len({result.artifact_id for result in results})
    assert all(result.content.startswith(chr(ord("A") + n) * 100) for n, result in enumerate(results))


# --- the user's verification scenarios --------------------------------------------------------------------


def test_scenario_1_small_content():
    """Full content, no marker, no artifact."""
    processor = TruncationProcessor(nowhere, profile="acode")
    result = processor.process("small file\n" * 100, "read_file")
    assert "small file\n" * 100 == result.content
    assert (None, None, False) == (
        result.artifact_id,
        result.artifact_reference,
        result.metadata.as_dict()["artifact_created"],
    )


def test_scenario_2_medium_content(make, session):
    """Truncated, marker present, head and tail preserved; nothing lost."""
    content = "".join(f"line {number}\n" for number in range(2000))
    result = make().process(content, "read_file")
    assert MARKER.search(result.content)
    assert result.content.startswith("line 0\nline 1\n")
    assert "line 1999\n" in result.content
    assert content == whole_of(result, session.artifact(result.artifact_id))


def test_scenario_3_large_content(make, session):
    """Artifact created, reference in the result, retrievable."""
    content = "".join(f"line {number}\n" for number in range(20_000))
    result = make().process(content, "read_file")
    assert result.content.startswith(result.artifact_reference)
    assert f'get_artifact(id="{result.artifact_id}")' in result.content
    assert content.encode() == session.artifact(result.artifact_id).read_bytes(0, 10**6)
    assert content == whole_of(result, session.artifact(result.artifact_id))


def test_scenario_4_tail(make):
    """A command with long output: only the end, most recent lines visible."""
    content = "".join(f"step {number}\n" for number in range(3000))
    result = make().process(content, "execute_command")
    assert "step 2999\n" in result.content
    assert "step 0\n" not in result.content
    assert result.content.startswith("... [2800 lines / ")


def test_scenario_5_json(make):
    """A search with many results: valid JSON, first and last elements, the count."""
    found = {"results": [{"file": f"src/{number}.ts", "line": number} for number in range(800)], "total": 800}
    result = make().process(found, "search_files")
    text = result.content.rsplit("\n[Artifact: ", 1)[0]
    parsed = json.loads(text)
    assert found["results"][:5] == parsed["results"][:5]
    assert found["results"][-5:] == parsed["results"][-5:]
    assert "790" in str(parsed["results"][5])
    assert ("element", 790) == (result.metadata.strategy_used, result.metadata.omitted_elements)


def test_scenario_6_a_range_of_an_artifact(make, session):
    """Only the lines that were asked for, and the right ones."""
    content = "".join(f"line {number}\n" for number in range(1, 20_001))
    result = make().process(content, "read_file")
    assert b"line 100\nline 101\nline 102\n" == session.artifact(result.artifact_id).read_lines(100, 102)


# --- edge cases -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", b"", [], {}, "[]", "{}", " ", "\n" * 50, " \t\n" * 100])
def test_empty_and_blank_content(make, content):
    """Nothing, white space, ``[]`` and ``{}`` come back as they are."""
    expected = json.dumps(content) if isinstance(content, (list, dict)) else content
    expected = expected.decode() if isinstance(expected, bytes) else expected
    for tool in ("read_file", "execute_command", "search_files"):
        assert expected == make().process(content, tool).content


def test_much_white_space_is_cut_like_anything_else(make, session):
    """20,000 blank lines: truncated, stored, lawful."""
    result = make().process(" \n" * 10_000, "read_file")
    assert " \n" * 10_000 == whole_of(result, session.artifact(result.artifact_id))


@pytest.mark.parametrize(
    "content",
    [
        [{"id": number, "name": f'Item "{number}"'} for number in range(1, 801)],
        {"results": [{"file": f"src/{number}.ts"} for number in range(800)], "total": 800},
        {f"key {number}": number for number in range(2000)},
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_cut_json_is_json_as_it_is_shown(make, session, content, indent):
    """All of the text is JSON, the reference in it, and so is what is left without the line of the reference."""
    content = json.dumps(content, indent=indent)
    result = make().process(content, "search_files")
    shown = json.loads(result.content)
    assert content[0] == result.content[0]
    assert content[-1] == result.content[-1]
    reference = shown[-1] if isinstance(shown, list) else shown["[Artifact]"]
    assert reference == result.artifact_reference
    assert reference.startswith(f"[Artifact: {result.artifact_id}] search_files: ")
    lines = result.content.split("\n")
    (line,) = [line for line in lines if f"[Artifact: {result.artifact_id}]" in line]
    left = json.loads("\n".join(each for each in lines if each != line))
    assert len(shown) - 1 == len(left)
    assert len(result.content) <= 8000
    assert content == whole_of(result, session.artifact(result.artifact_id))


@pytest.mark.parametrize("empty", ["[]", "{}"])
def test_empty_collections_inside_stay(make, empty):
    """An empty array or object among others is no reason to cut it."""
    content = '{"first": ' + empty + ', "more": [' + ", ".join(["1234567890"] * 1000) + "]}"
    result = make().process(content, "search_files")
    assert json.loads(empty) == json.loads(result.content.rsplit("\n[Artifact: ", 1)[0])["first"]


@pytest.mark.parametrize("tool", ["read_file", "execute_command", "search_files"])
def test_invalid_utf_8(make, session, tool):
    """Shown with replacement characters, stored as it came."""
    data = b"caf\xe9 and some longer text \xff ok \xe4\xb8\n" * 1000
    result = make().process(data, tool)
    assert "\ufffd" in result.content
    assert len(result.content) <= 8000
    assert data == session.artifact(result.artifact_id).read_bytes(0, 10**6)


def test_binary_content(make, session):
    """Small: base64 of all of it. Large: named and dumped in part. Both stored exactly."""
    import base64

    small = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
    result = make().process(small, "read_file")
    assert "[Binary: image/png, 208 bytes" in result.content
    body = "".join(line for line in result.content.splitlines()[2:] if not line.startswith("["))
    assert small == base64.b64decode(body)
    large = random.Random(1).randbytes(200_000)
    result = make().process(large, "read_file")
    assert "[Binary: application/octet-stream, 200,000 bytes" in result.content
    assert "00000000  " in result.content
    assert ("binary", True) == (result.metadata.strategy_used, len(result.content) <= 8000)
    assert large == session.artifact(result.artifact_id).read_bytes(0, 10**6)
    assert clean(large) == whole_of(result, session.artifact(result.artifact_id))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("count", [3, 3000])
def test_utf_16_with_a_mark_is_shown_decoded(make, session, encoding, count):
    """Text in another encoding: decoded where shown, exact where stored, and it is said which of both ranges mean."""
    data = "\ufeff".encode(encoding) + ("wide wörld\r\n" * count).encode(encoding)
    result = make().process(data, "read_file")
    assert f"[Text in {encoding}, {len(data):,} bytes; shown decoded" in result.content
    assert "bytes as they are stored" in result.content
    assert "wide wörld\nwide wörld\n" in result.content
    assert len(result.content) <= 8000
    artifact = session.artifact(result.artifact_id)
    assert data == artifact.read_bytes(0, 10**6)
    assert clean(data) == whole_of(result, artifact)
    assert (count > 1000) == ("only the beginning is shown" in result.content)


@pytest.mark.parametrize("tool", ["read_file", "execute_command", "search_files"])
@pytest.mark.parametrize("content", ["x" * 40_000, "short\n" + "x" * 20_000 + "\nshort\n", "word " * 8000])
def test_very_long_lines_and_single_lines(make, session, tool, content):
    """Above 10 KB, and without any newline: bounded, both parts right, nothing lost."""
    result = make().process(content, tool)
    assert len(result.content) <= 8000
    assert content == whole_of_tool(result, session, tool)


def whole_of_tool(result, session, tool):
    artifact = session.artifact(result.artifact_id)
    assert tool == artifact.info.source
    return whole_of(result, artifact)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_of_all_systems(make, session, ending):
    """LF, CRLF and CR end lines: counted alike, shown as LF, stored as they came."""
    content = "".join(f"line {number}{ending}" for number in range(3000))
    result = make().process(content, "execute_command")
    assert result.content.startswith("... [2800 lines / ")
    assert "line 2998\nline 2999\n" in result.content
    artifact = session.artifact(result.artifact_id)
    assert (3000, content.encode()) == (artifact.info.lines, artifact.read_bytes(0, 10**6))
    assert b"line 99" + ending.encode() == artifact.read_lines(100, 100)


@pytest.mark.parametrize(
    "content", ['{"a": [1, 2, ', "[1, 2, 3" * 30, "no JSON at all " * 1000, "{'a': 1}" * 2000]
)
def test_malformed_json_is_cut_as_text(make, content):
    """Falls back to head and tail, and says so."""
    content = content * (20_000 // len(content))
    result = make().process(content, "search_files")
    assert ("head_tail", True) == (result.metadata.strategy_used, bool(MARKER.search(result.content)))


def test_nesting_beyond_the_depth_is_cut(make):
    """Levels below ``max_depth`` are replaced by their counts, and what is left is JSON."""
    deep = {"level 1": {"level 2": {"level 3": {"level 4": {"level 5": list(range(3000))}}}}}
    result = make().process(deep, "search_files")
    text = result.content.rsplit("\n[Artifact: ", 1)[0]
    assert "level 1" in json.loads(text)
    assert "level 5" not in text


def test_circular_references_are_detected(make):
    """A list that holds itself is told, not followed."""
    content = {"a": []}
    content["a"].append(content)
    with pytest.raises(ContentError, match="refers to itself"):
        make().process(content, "search_files")


def test_an_array_of_one_element_is_not_cut_needlessly(make):
    """Short: as it is. Long: its element is shown in part, not replaced by a count of one."""
    assert "[1]" == make().process([1], "search_files").content
    result = make().process([{"text": "x" * 20_000, "id": 7}], "search_files")
    assert "1 items omitted" not in result.content
    assert len(result.content) <= 8000


def test_null_bytes_are_not_shown(make, session):
    """NULs in text: left out where shown, kept where stored."""
    data = b"name\0value of some length\n" * 800
    result = make().process(data, "read_file")
    assert "\0" not in result.content
    assert data == session.artifact(result.artifact_id).read_bytes(0, 10**6)


def test_markers_that_do_not_fit_are_cut(make):
    """A limit shorter than any marker: what fits of it."""
    result = make(inline_limit=10).process("x" * 1000, "t")
    assert (10, True) == (len(result.content), result.content.startswith("... ["))


def test_ids_never_collide(make):
    """100 artifacts in one go: as many ids."""
    processor = make(inline_limit=1, artifact_threshold=2)
    assert 100 == len({processor.process("abc", "t").artifact_id for _ in range(100)})


# --- configuration ----------------------------------------------------------------------------------------


def test_limits_of_one_tool(make):
    """``overrides`` beat what holds for all."""
    processor = make(overrides={"chatty": ToolOverride(inline_limit=20_000)})
    assert not processor.process("x" * 20_000, "chatty").metadata.was_truncated
    assert processor.process("x" * 20_000, "other").metadata.was_truncated


def test_the_default_strategy_is_for_tools_without_one(make):
    """``default_strategy: tail`` leaves ``read_file`` its head."""
    processor = make(default_strategy="tail")
    assert "tail" == processor.process("line\n" * 2000, "other").metadata.strategy_used
    assert "head_tail" == processor.process("line\n" * 2000, "read_file").metadata.strategy_used


def test_smart_can_be_enabled(make):
    """``smart_truncation.enabled``: ``smart`` for tools that have no strategy of their own."""
    processor = make(smart_truncation=SmartTruncation(enabled=True))
    assert "smart" == processor.process("line\n" * 2000, "other").metadata.strategy_used
    assert "tail" == processor.process("line\n" * 2000, "execute_command").metadata.strategy_used
    own = {"other": ToolOverride(strategy="head")}
    processor = make(smart_truncation=SmartTruncation(enabled=True), overrides=own)
    assert "head" == processor.process("line\n" * 2000, "other").metadata.strategy_used
    assert "smart" == processor.process("line\n" * 2000, "read_file").metadata.strategy_used


def test_none_cuts_nothing_below_the_threshold(make):
    """``none``: whole up to the threshold and not stored; a reference from there on."""
    processor = make(default_strategy="none")
    result = processor.process("x" * 49_999, "other")
    assert ("x" * 49_999, None) == (result.content, result.artifact_id)
    assert "reference" == processor.process("x" * 50_000, "other").metadata.strategy_used


def test_no_retrieval_instructions_where_nobody_wants_them(make):
    """``include_retrieval_instructions: false`` leaves them out of the block, too."""
    processor = make(metadata=MetadataSettings(include_retrieval_instructions=False))
    result = processor.process("x" * 60_000, "other")
    assert "get_artifact" not in result.content
    assert f"[Artifact: {result.artifact_id}]" in result.content


def test_clean_up_can_be_turned_off():
    """``artifacts.cleanup_on_exit`` is the profile's."""
    configuration = TruncationConfiguration(artifacts=ArtifactSettings(cleanup_on_exit=False))
    assert not profile("acode", configuration).cleanup_on_exit


def test_a_loaded_configuration_is_honoured(session):
    """Arguments, environment and file arrive here through ``load``."""
    configuration = load(environment={"SPILLSTORE_INLINE_LIMIT": "900"}, default_strategy="tail")
    processor = TruncationProcessor(session, profile="acode", configuration=configuration)
    result = processor.process("line\n" * 2000, "other")
    assert (True, "tail") == (len(result.content) <= 900, result.metadata.strategy_used)


def test_storing_fails():
    """Both ends instead of a reference to nothing, the reason, no error; within the limit."""
    processor = TruncationProcessor(nowhere, profile="acode")
    for size in (500, 20_000):
        content = "".join(f"line {number}\n" for number in range(size))
        result = processor.process(content, "read_file")
        if size == 500:
            assert content == result.content
            continue
        assert result.content.startswith("line 0\n")
        assert result.content.endswith("line 19999\n\n[not stored: no space]")
        assert (False, None, "head_tail") == (
            result.is_error,
            result.artifact_id,
            result.metadata.strategy_used,
        )
        assert len(result.content) <= 8000
