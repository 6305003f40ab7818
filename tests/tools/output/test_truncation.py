"""``TruncationProcessor``: every kind of content in, a bounded result with metadata out."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from previews import expanded, piece, repeats
from support import examples

from spillstore import Store
from spillstore.exceptions import InvalidSettingError, StorageError
from spillstore_tools.config import MetadataSettings, TruncationConfiguration
from spillstore_tools.describe import tokens
from spillstore_tools.output import truncation
from spillstore_tools.output.content import ContentError, encoded
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.profiles import NAMES, profile

pytestmark = pytest.mark.everywhere

LARGE = "".join(f"line {number}\n" for number in range(20_000))
SPILLING = [name for name in NAMES if name != "lace"]


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def nowhere():
    raise StorageError("no space")


def unopened():
    raise AssertionError("nobody may open a session for what is shown whole")


# --- content ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["default", *(pytest.param(each, marks=pytest.mark.slow) for each in NAMES if each != "default")]
)
@pytest.mark.parametrize(
    "content",
    [
        LARGE,
        LARGE.encode(),
        bytearray(LARGE.encode()),
        memoryview(LARGE.encode()),
        io.BytesIO(LARGE.encode()),
        io.StringIO(LARGE),
        [LARGE.encode()],
        LARGE.splitlines(keepends=True),
    ],
    ids=["str", "bytes", "bytearray", "memoryview", "binary file", "text file", "blocks", "text blocks"],
)
def test_content_of_any_kind(plain_store, name, content):
    """Text, bytes, files and iterables are stored alike and give the same text, but for the id."""
    if hasattr(content, "seek"):
        content.seek(0)
    if isinstance(content, list):  # a list itself would be shown as JSON
        content = iter(content)
    with plain_store.session("test") as session:
        result = TruncationProcessor(session, profile=name).process(content, "t")
        assert LARGE.encode() == session.artifact(result.artifact_id).read_bytes(0, 10**6)
        assert result.metadata.original_bytes == len(LARGE)
        assert name == result.metadata.profile


@pytest.mark.parametrize("name", NAMES)
def test_an_artifact_is_shown_again(session, name):
    """A stored artifact gives the text that was given when the content came."""
    processor = TruncationProcessor(session, profile=name)
    result = processor.process(LARGE, "t")
    again = processor.process(session.artifact(result.artifact_id), "t")
    assert (result.content, result.omissions, result.metadata) == (
        again.content,
        again.omissions,
        again.metadata,
    )


@pytest.mark.parametrize("content", [None, True, 7, 1.5, [1, "é"], (1, 2), {"a": {"b": []}}])
def test_objects_are_shown_as_json(content):
    """What JSON can hold is shown as JSON, characters as they are."""
    result = TruncationProcessor(unopened).process(content, "t")
    assert json.dumps(content, ensure_ascii=False) == result.content


def test_a_large_object_is_stored_as_json(session):
    """Its media type is JSON's."""
    result = TruncationProcessor(session).process(list(range(9000)), "t")
    artifact = session.artifact(result.artifact_id)
    assert ("application/json", list(range(9000))) == (
        artifact.info.content_type,
        json.loads(artifact.read_bytes(0, 10**6)),
    )


def nested(depth):
    content = []
    for _ in range(depth):
        content = [content]
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (object(), "content is a object"),
        ({"a": object()}, "not JSON serializable"),
        ({(1, 2): 3}, "keys must be"),
        (nested(100_000), "recursion"),
        ({"a": 10**5000}, "JSON: Exceeds the limit"),
        (iter([b"x", 5]), "a piece of the content is a int"),
        (3 + 4j, "content is a complex"),
    ],
)
def test_content_that_cannot_be_shown(content, message):
    """An error of ours that says what was given and what may be."""
    with pytest.raises(ContentError, match=message):
        TruncationProcessor(unopened).process(content, "t")


@pytest.mark.parametrize("cycle", [[], {}])
def test_cycles(cycle):
    """A list or object that holds itself, however deep."""
    inner = [cycle]
    cycle.append(inner) if isinstance(cycle, list) else cycle.update(a=inner)
    with pytest.raises(ContentError, match="refers to itself"):
        TruncationProcessor(unopened).process(cycle, "t")


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_our_own(session, name):
    """A line of the output that looks like a reference is not taken for it."""
    result = TruncationProcessor(session, profile=name).process(
        "[Artifact: art_other] x (1 KB)\n" + LARGE, "t"
    )
    assert result.artifact_reference.startswith(f"[Artifact: {result.artifact_id}]")
    assert result.artifact_reference in result.content or name != "acode"


def test_text_with_half_surrogates():
    """Those that stand for bytes become the bytes; others are no characters. Nothing is raised."""
    assert (b"\xff", b"\xed\xa0\x80", "é".encode()) == (encoded("\udcff"), encoded("\ud800"), encoded("é"))
    assert "some text\ufffd" == TruncationProcessor(unopened).process("some text\udcff", "t").content


def test_a_stream_that_breaks(session):
    """The caller's own error comes out; what had come is kept, interrupted, with the reason."""

    def blocks():
        yield LARGE.encode()
        raise ZeroDivisionError("in the caller's stream")

    with pytest.raises(ZeroDivisionError):
        TruncationProcessor(session).process(blocks(), "t")
    (artifact,) = session.artifacts()
    assert ("interrupted", "ZeroDivisionError: in the caller's stream") == (
        artifact.info.state,
        artifact.info.reason,
    )


def test_what_is_known_of_the_call_is_stored(session):
    """Tool, command, tool call and media type."""
    result = TruncationProcessor(session).process(
        LARGE, "fetch", command="GET /", tool_call_id="call_1", content_type="text/csv"
    )
    info = session.artifact(result.artifact_id).info
    assert ("fetch", "GET /", "call_1", "text/csv") == (
        info.source,
        info.command,
        info.tool_call_id,
        info.content_type,
    )


# --- passing through --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPILLING)
def test_a_pass_through_touches_no_disk(tmp_path, name):
    """Neither the fast nor the slow way opens a session or makes a folder."""
    root = tmp_path / "never"

    def opens():
        return Store(root).session("test")

    processor = TruncationProcessor(opens, profile=name)
    for content in (
        "plain\n" * 500,
        "wörld\n" * 500,
        b"\x1b[1mbold\x1b[0m\n" * 300,
        io.BytesIO(b"slow\n" * 500),
    ):
        result = processor.process(content, "t")
        assert (False, None, "none") == (
            result.metadata.was_truncated,
            result.artifact_id,
            result.metadata.strategy_used,
        )
    assert not root.exists()


contents = st.one_of(
    st.lists(st.tuples(piece, repeats, st.just("stdout")), max_size=8).map(
        lambda drawn: b"".join(data for data, _ in expanded(drawn))
    ),
    st.builds(
        lambda data, size: (data * size)[:size],
        st.sampled_from([b"x", b"line\n", b"ab\r", "é".encode()]),
        st.integers(7990, 8010),
    ),
    st.builds(lambda end: b"\n" * end, st.integers(1990, 2010)),
    st.sampled_from(
        [b"%PDF-1.4\n", b"\x89PNG\r\n\x1a\n", "\ufeffx".encode("utf-16-le"), b"\xef\xbb\xbfx", b"x\rb\n", b""]
    ),
)


@pytest.mark.parametrize("name", NAMES)
@given(content=contents, newline=st.sampled_from(["auto", "lf", "cr"]), as_text=st.booleans())
@examples(40)
def test_the_fast_way_gives_what_the_slow_way_gives(name, content, newline, as_text):
    """For content that nobody can store, so that no id differs: every field of the result is the same."""
    if as_text:
        content = content.decode("utf-8", "surrogateescape")
    fast = TruncationProcessor(nowhere, profile=name)
    slow = TruncationProcessor(nowhere, profile=WithoutShortCut(profile(name)))
    first = fast.process(content, "t", newline=newline)
    second = slow.process(content, "t", newline=newline)
    if name == "lace":  # which stores all, and tells the time it took
        assert first.omissions == second.omissions
    else:
        assert first == second


class WithoutShortCut:
    """A profile that must always be asked."""

    def __init__(self, profile):
        self._profile = profile

    def __getattr__(self, name):
        return getattr(self._profile, name)

    def inline(self, source):
        return None


def test_short_plain_text_takes_the_fast_way(monkeypatch):
    """No ``Spill`` is made for it, so that it costs microseconds."""
    monkeypatch.setattr(truncation, "Spill", unopened)
    for name in SPILLING:
        processor = TruncationProcessor(unopened, profile=name)
        assert "plain\n" * 1300 == processor.process("plain\n" * 1300, "t").content
        assert "wörld" == processor.process("w\x1b[1mörld", "t").content


# --- metadata ---------------------------------------------------------------------------------------------


def test_metadata_of_what_is_whole():
    """Sizes agree, nothing is missing."""
    data = TruncationProcessor(unopened).process("wörld\n", "t").metadata.as_dict()
    assert {
        "original_size": 6,
        "original_bytes": 7,
        "truncated_size": 6,
        "strategy_used": "none",
        "strategy": "none",
        "truncation_strategy": "none",
        "was_truncated": False,
        "artifact_id": None,
        "artifact_created": False,
        "omitted_lines": 0,
        "omitted_characters": 0,
        "omitted_elements": 0,
        "redrawn_characters": 0,
        "original_tokens": 2,
        "truncated_tokens": 2,
        "tool_name": "t",
        "profile": "default",
        "version": 1,
    } == data


@pytest.mark.parametrize("name", [*SPILLING, "lace"])
def test_metadata_of_what_is_cut(session, name):
    """Shown and missing characters are all of them; the summary and the way to the rest are there."""
    result = TruncationProcessor(session, profile=name).process(LARGE, "execute_command")
    data = result.metadata.as_dict()
    assert len(LARGE) == data["original_size"] == data["original_bytes"]
    assert len(result.content) == data["truncated_size"]
    assert (True, True, result.artifact_id) == (
        data["was_truncated"],
        data["artifact_created"],
        data["artifact_id"],
    )
    assert data["omitted_characters"] == sum(each.chars for each in result.omissions)
    assert data["omitted_lines"] == sum(each.lines for each in result.omissions)
    assert data["omission_summary"].startswith(
        f"{data['omitted_lines']} lines, {data['omitted_characters']} characters"
    )
    assert f'get_artifact(id="{result.artifact_id}"' in data["retrieval_instructions"]
    assert (tokens(len(LARGE)), tokens(len(result.content))) == (
        data["original_tokens"],
        data["truncated_tokens"],
    )
    assert result.artifact_reference.startswith(f"[Artifact: {result.artifact_id}]")


@pytest.mark.parametrize(
    ("setting", "gone"),
    [
        ("include_original_size", {"original_size", "original_bytes"}),
        ("include_token_estimate", {"original_tokens", "truncated_tokens"}),
        ("include_strategy", {"strategy", "strategy_used", "truncation_strategy"}),
        ("include_retrieval_instructions", {"retrieval_instructions"}),
    ],
)
def test_metadata_that_nobody_wants(session, setting, gone):
    """Each ``include_`` key leaves out its own names and no other."""
    result = TruncationProcessor(session, profile="acode").process(LARGE, "t")
    everything = result.metadata.as_dict(MetadataSettings())
    assert everything == result.metadata.as_dict()
    assert gone == set(everything) - set(result.metadata.as_dict(MetadataSettings(**{setting: False})))


def test_characters_nobody_counted(session):
    """Of very large output that ``smart`` has cut, the size is that of its bytes, and the summary names lines."""
    result = TruncationProcessor(session).process(("é" * 99 + "\n") * 20_000, "t")
    data = result.metadata.as_dict()
    assert data["original_size"] in {4_000_000 - 20_000, 2_000_000, 3_980_000}
    assert data["omission_summary"].startswith(f"{data['omitted_lines']} lines")


def test_tokens_are_a_quarter_of_the_characters():
    """Rounded up."""
    assert [0, 1, 1, 2, 2000] == [tokens(chars) for chars in (0, 1, 4, 5, 8000)]


def test_truncations_are_logged(session, caplog):
    """Tool, strategy, sizes and id; no content; nothing for what is whole."""
    caplog.set_level(logging.INFO, "spillstore.truncation")
    processor = TruncationProcessor(session)
    processor.process("short", "t")
    result = processor.process(LARGE, "fetch")
    (record,) = [each for each in caplog.records if each.name == "spillstore.truncation"]
    assert ("fetch", "smart", len(LARGE), len(result.content), result.artifact_id) == (
        record.tool_name,
        record.strategy,
        record.original_size,
        record.truncated_size,
        record.artifact_id,
    )
    assert "line 1" not in caplog.text


# --- the processor itself ---------------------------------------------------------------------------------


def test_without_a_session_nothing_is_stored():
    """``None`` for the session: the preview, and that the rest is gone."""
    result = TruncationProcessor(None).process(LARGE, "t")
    assert (
        "NOT STORED COMPLETELY: there is no session to store it in; nothing of it was kept" in result.content
    )
    assert (None, None) == (result.artifact_id, result.artifact_reference)


def test_a_result_says_why_it_is_not_stored(plain_store):
    """For programs, which need not read that in the text."""

    def fails():
        raise StorageError("no room")

    result = TruncationProcessor(fails).process(LARGE, "t")
    assert ("no room", None) == (result.storage_error, result.artifact_id)
    with plain_store.session("test") as session:
        assert TruncationProcessor(session).process(LARGE, "t").storage_error is None
        assert TruncationProcessor(session).process("short", "t").storage_error is None


def test_a_session_or_a_function(plain_store):
    """Both are taken; a function is called when something must be stored, not before."""
    calls = []

    def opens():
        calls.append(1)
        return session

    with plain_store.session("test") as session:
        processor = TruncationProcessor(opens)
        processor.process("short", "t")
        assert [] == calls
        processor.process(LARGE, "t")
        assert [1] == calls
        assert TruncationProcessor(session).process(LARGE, "t").artifact_id is not None


def test_profiles_by_name_or_as_they_are():
    """An unknown name is refused with those that there are."""
    assert TruncationProcessor(None, profile=profile("omni")).process("x", "t").metadata.profile == "omni"
    with pytest.raises(InvalidSettingError, match="default, acode, opencode, pipe, omni, lace"):
        TruncationProcessor(None, profile="other")


@pytest.mark.parametrize("name", NAMES)
def test_a_closed_session_is_told(plain_store, name):
    """A session that was closed meanwhile is one more way for storing to fail: no exception."""
    session = plain_store.session("test")
    session.close()
    result = TruncationProcessor(session, profile=name).process(LARGE, "t")
    assert (None, False) == (result.artifact_id, result.is_error)
    assert "line 19999" in result.content


def test_the_configuration_is_heeded_by_the_profiles_that_have_one():
    """``acode`` and ``default`` take its limits."""
    configuration = TruncationConfiguration(inline_limit=500, artifact_threshold=9_000_000)
    for name in ("acode", "default"):
        result = TruncationProcessor(None, profile=name, configuration=configuration).process(LARGE, "t")
        assert len(result.content) <= 500


@pytest.mark.long
@pytest.mark.parametrize("given", ["a session", "a function"])
@pytest.mark.parametrize("name", ["chat-42", "two words; and 'more'"])
def test_the_commands_of_a_notice_find_the_session(plain_store, tmp_path, monkeypatch, name, given):
    """From any folder, with nothing in the environment that names the session or its root."""
    monkeypatch.delenv("SPILLSTORE_ROOT")
    with plain_store.session(name, project="p q") as session:
        processor = TruncationProcessor(session if given == "a session" else lambda: session)
        content = processor.process("".join(f"line {n} of words\n" for n in range(5000)), "read_file").content
    shown = content.partition("in a shell: ")[2].partition("]\n")[0]
    identity = content.partition('get_artifact(id="')[2].partition('"')[0]
    show, cat = shown.replace(" ID ", f" {identity} ").split(", ")
    cat = cat.replace("rg PATTERN", "grep -c 'line 4[0-9]* of'")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, wanted in ((show, "line 99 of words\n"), (cat, "1111\n")):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (0, wanted, "") == (done.returncode, done.stdout[-len(wanted) :], done.stderr)
