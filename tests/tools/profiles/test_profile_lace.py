"""The profile ``lace``, against the tests and formats of its document (S4)."""

from __future__ import annotations

import json
import subprocess

import pytest
from previews import reader, spilled, whole_field
from support import wait_until

from spillstore.exceptions import StorageError
from spillstore_tools.agent.bash import BashTool
from spillstore_tools.output.rendering import render
from spillstore_tools.output.spill import Spill
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.process.output_reader import Process
from spillstore_tools.profiles import profile

KEYS = ["command", "exitCode", "runtime", "stdoutPreview", "stderrPreview", "truncated", "outputFiles"]


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


@pytest.fixture
def bash(session):
    """Runs a command as the document's tests do; returns the parsed result, the error flag and the artifact."""

    def run(command):
        spill = Spill(lambda: session, profile("lace"), source="bash", command=command, is_command=True)
        process = Process.start(["/bin/bash", "-c", command])
        outcome = process.drain(spill)
        rendered = spill.finish(exit_code=outcome.exit_code, runtime=round(outcome.duration * 1000))
        assert rendered == render(spill.artifact, profile("lace"))
        return json.loads(rendered.text), rendered.is_error, spill.artifact

    return run


def stored(artifact, stream):
    return artifact.read_bytes(0, 10**8, stream=stream).decode()


def test_a_simple_command(bash):
    """The fields, in their order, and artifacts in the place of files."""
    content, is_error, artifact = bash('echo "hello world"')
    assert not is_error
    assert KEYS == list(content)
    assert ('echo "hello world"', 0, "hello world\n", "") == (
        content["command"],
        content["exitCode"],
        content["stdoutPreview"],
        content["stderrPreview"],
    )
    assert {"stdout": {"skipped": 0, "total": 1}, "stderr": {"skipped": 0, "total": 0}} == content[
        "truncated"
    ]
    assert {
        stream: f"artifact://{artifact.id}?stream={stream}" for stream in ("stdout", "stderr", "combined")
    } == content["outputFiles"]


def test_under_the_limits_nothing_is_skipped(bash):
    """50 lines: all of them, none skipped, all stored."""
    content, is_error, artifact = bash('for i in {1..50}; do echo "Line $i of output"; done')
    assert ({"skipped": 0, "total": 50}, False) == (content["truncated"]["stdout"], is_error)
    assert content["stdoutPreview"].startswith("Line 1 of output\n")
    assert content["stdoutPreview"].endswith("Line 50 of output\n")
    assert content["stdoutPreview"] == stored(artifact, "stdout")


def test_200_lines_show_head_marker_and_tail(bash):
    """200 lines: 100 from the beginning, 50 from the end, 50 skipped, the marker between them to the letter."""
    content, is_error, artifact = bash('for i in {1..200}; do echo "Line $i of many lines"; done')
    assert ({"skipped": 50, "total": 200}, False) == (content["truncated"]["stdout"], is_error)
    call = f'get_artifact(id="{artifact.id}", stream="stdout", start_line=101, end_line=150)'
    lines = [f"Line {number} of many lines\n" for number in range(1, 201)]
    assert content["stdoutPreview"] == (
        "".join(lines[:100]) + "\n=== OUTPUT TRUNCATED ===\n"
        f"[Skipped 50 lines - see full output in {call}]\n"
        "=== LAST 50 LINES ===\n\n" + "".join(lines[150:])
    )
    assert "".join(lines) == stored(artifact, "stdout")
    assert "".join(lines[100:150]).encode() == artifact.read_lines(101, 150, stream="stdout")


def test_a_large_stderr(bash):
    """200 lines of stderr: cut alike, and no error."""
    content, is_error, artifact = bash('for i in {1..200}; do echo "Error $i" >&2; done')
    assert ({"skipped": 50, "total": 200}, False) == (content["truncated"]["stderr"], is_error)
    for part in ("Error 1\n", "=== OUTPUT TRUNCATED ===", "Error 200\n"):
        assert part in content["stderrPreview"]
    assert "".join(f"Error {number}\n" for number in range(1, 201)) == stored(artifact, "stderr")


def test_both_streams_mixed(bash):
    """100 lines of each: counted apart, combined has both."""
    content, is_error, artifact = bash(
        'for i in {1..100}; do echo "Stdout line $i"; echo "Stderr line $i" >&2; done'
    )
    assert not is_error
    assert [100, 100] == [content["truncated"][stream]["total"] for stream in ("stdout", "stderr")]
    combined = stored(artifact, "combined")
    assert (200, True, True) == (
        combined.count("\n"),
        "Stdout line 1\n" in combined,
        "Stderr line 1\n" in combined,
    )


def test_1000_lines(bash):
    """1,000 lines: 850 skipped, a preview under 10,000 characters, more than 50,000 stored."""
    content, is_error, artifact = bash(
        'for i in {1..1000}; do echo "Very long line $i with lots of text to make it bigger"; done'
    )
    assert ({"skipped": 850, "total": 1000}, False) == (content["truncated"]["stdout"], is_error)
    assert len(content["stdoutPreview"]) < 10_000
    assert len(stored(artifact, "stdout")) > 50_000


def test_the_three_views(bash):
    """Stdout, stderr and combined hold what they should."""
    _, _, artifact = bash('echo "stdout content"; echo "stderr content" >&2')
    assert ("stdout content\n", "stderr content\n") == (
        stored(artifact, "stdout"),
        stored(artifact, "stderr"),
    )
    assert sorted(["stdout content", "stderr content"]) == sorted(stored(artifact, "combined").splitlines())


def test_no_output_at_all(bash):
    """``true``: empty previews, zero lines, and an empty artifact all the same."""
    content, is_error, artifact = bash("true")
    assert (0, "", "", False) == (
        content["exitCode"],
        content["stdoutPreview"],
        content["stderrPreview"],
        is_error,
    )
    assert [0, 0] == [content["truncated"][stream]["total"] for stream in ("stdout", "stderr")]
    assert ("", "sealed") == (stored(artifact, "combined"), artifact.info.state)


def test_the_run_time(bash):
    """Milliseconds, a whole number, taken from the artifact's own times."""
    content, _, artifact = bash('sleep 0.15; echo "done"')
    assert isinstance(content["runtime"], int)
    assert content["runtime"] > 100
    assert content["runtime"] == round(artifact.info.duration * 1000)


def test_a_non_zero_exit(bash):
    """42 is told, and is no error; the output is stored."""
    content, is_error, artifact = bash('echo "before error"; exit 42')
    assert (42, False, "before error\n") == (content["exitCode"], is_error, content["stdoutPreview"])
    assert "before error\n" == stored(artifact, "stdout")


@pytest.mark.parametrize(
    ("code", "stdout", "is_error"),
    [
        (127, b"", True),
        (127, b" \n\t\n", True),
        (127, b"something\n", False),
        (126, b"", False),
        (1, b"", False),
        (0, b"", False),
    ],
)
def test_only_127_without_output_is_an_error(session, code, stdout, is_error):
    """Not found, and nothing but white space on stdout."""
    written = [(stdout, "stdout"), (b"bash: x: command not found\n", "stderr")]
    _, rendered = spilled(session, "lace", written, is_command=True, exit_code=code)
    assert is_error == rendered.is_error


def test_a_command_that_is_not_found(bash):
    """A real one: exit 127, the shell's message in the preview of stderr, an error."""
    content, is_error, _ = bash("no-such-command-anywhere")
    assert (127, True) == (content["exitCode"], is_error)
    assert "not found" in content["stderrPreview"]


def test_exactly_150_lines_are_whole(session):
    """100 and 50 lines are no more than are shown; one more is."""
    for count, skipped in ((150, 0), (151, 1)):
        _, rendered = spilled(session, "lace", [(b"x\n" * count, "stdout")], exit_code=0)
        content = json.loads(rendered.text)
        assert {"skipped": skipped, "total": count} == content["truncated"]["stdout"]


@pytest.mark.parametrize("width", [90, 300, 2000, 30_000, 200_000])
@pytest.mark.parametrize("count", [1, 20, 150, 400])
def test_previews_have_at_most_10000_characters(session, width, count):
    """Long lines: the first 10,000 characters, the words that say so among them, and nothing is lost."""
    data = b"".join(b"%05d %s\n" % (number, b"w" * width) for number in range(count))[:6_000_000]
    spill, rendered = spilled(session, "lace", [(data, "stdout")], exit_code=0)
    preview = rendered.fields["stdoutPreview"]
    assert len(preview) <= 10_000
    assert (width * count > 10_000) == preview.endswith("\n[PREVIEW TRUNCATED]")
    assert clean(data) == whole_field(rendered, "stdout", reader(spill.artifact))


def test_storing_fails():
    """The previews, no files, and the reason beside them."""

    def nowhere():
        raise StorageError("no space")

    _, rendered = spilled(nowhere, "lace", [(b"line\n" * 500, "stdout")], is_command=True, exit_code=0)
    content = json.loads(rendered.text)
    assert ("no space", {"stdout": "", "stderr": "", "combined": ""}) == (
        content["storageError"],
        content["outputFiles"],
    )
    assert "[Skipped 350 lines - not stored]" in content["stdoutPreview"]


def test_run_time_of_what_is_not_stored():
    """Without an artifact the caller's run time is used."""

    def nowhere():
        raise StorageError("no space")

    _, rendered = spilled(nowhere, "lace", [], is_command=True, exit_code=0, runtime=1234)
    assert 1234 == json.loads(rendered.text)["runtime"]


def test_output_can_be_watched_while_it_comes(session):
    """The artifact has the first lines while the command still runs."""
    spill = Spill(lambda: session, profile("lace"), source="bash", command="slow", is_command=True)
    with subprocess.Popen(["printf", "early\n"], stdout=subprocess.PIPE) as process:
        spill.write(process.stdout.read())
    (artifact,) = session.artifacts()
    wait_until(lambda: artifact.info.size)
    assert b"early\n" == artifact.read_bytes(0, 99)
    assert json.loads(render(artifact, profile("lace")).text)["stdoutPreview"] == "early\n"
    spill.finish(exit_code=0)


def test_every_answer_is_json(session, tmp_path):
    """Also what is told of a command in the background, what is new of it, and its end; news in at most 8,000 characters."""
    tool = BashTool(session, profile="lace")
    mark = tmp_path / "mark"
    command = f"until [ -e {mark} ]; do sleep 0.01; done; seq 1 20000; echo low >&2; sleep 100"
    began = tool.call_sync({"command": command, "timeout": 0})
    mark.touch()
    first = json.loads(began.text)
    assert (None, "running", began.pid) == (
        first["exitCode"],
        *(first["background"][k] for k in ("state", "pid")),
    )
    wait_until(lambda: session.artifact(began.artifact_id).info.stderr.size > 0)
    news = tool.call_sync({"check_pid": began.pid})
    told = json.loads(news.text)
    assert ("running", first["command"]) == (told["background"]["state"], told["command"])
    assert len(told["combinedPreview"]) <= 8000
    assert "low\n" in told["combinedPreview"]
    for each in news.omissions:
        marker = told["combinedPreview"][each.at : each.at + each.length]
        assert "omitted" in marker
    assert sum(each.lines for each in news.omissions) == told["truncated"]["combined"]["skipped"]
    last = json.loads(tool.call_sync({"kill_pid": began.pid}).text)
    assert (143, "ended") == (last["exitCode"], last["background"]["state"])
    assert f"artifact://{began.artifact_id}?stream=combined" == last["outputFiles"]["combined"]
