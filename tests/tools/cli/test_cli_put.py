"""``spillstore put``: a file, or stdin, becomes an artifact."""

from __future__ import annotations

import json
import os
import re

import pytest
from support import is_untouched, wait_until

from spillstore_tools.output.truncation import TruncationProcessor

pytestmark = pytest.mark.everywhere


def test_put_prints_id_and_sizes(cli, store, tmp_path):
    """The first line is the id alone, so that a script can take it."""
    file = tmp_path / "log"
    file.write_bytes(b"line\n" * 1000)
    answer = cli("put", file)
    artifact_id, sizes = answer.text.splitlines()
    assert re.fullmatch(r"5,000 bytes \(4.9 KiB\), 1,000 lines, stored in \d+ bytes", sizes)
    with store.session("default", read_only=True) as session:
        artifact = session.artifact(artifact_id)
        assert artifact.read_bytes(0, 5000) == file.read_bytes()
        assert (artifact.info.source, artifact.info.command) == ("put", str(file))


@pytest.mark.parametrize("data", [b"", b"\x00\xff\n\r\x1b[", os.urandom(300_000)])
def test_stdin(cli, store, data):
    """A dash is stdin; any bytes are stored as they are."""
    answer = cli("put", "-", "--json", stdin=data)
    assert answer.json["size"] == len(data)
    assert answer.json["command"] is None
    with store.session("default", read_only=True) as session:
        assert session.artifact(answer.json["id"]).read_bytes(0, len(data)) == data


def test_slow_stdin_can_be_read_before_its_end(start, store):
    """What has come in is readable while more is awaited."""
    process = start("put", "-", stdin=-1)
    process.stdin.write(b"early\n")
    process.stdin.flush()

    def appeared():
        if not any(True for _ in store.sessions()):
            return False
        with store.session("default", read_only=True) as session:
            return [info.size for info in session.infos()] == [6]

    wait_until(appeared)
    process.communicate(timeout=120)


def test_source_and_content_type(cli, tmp_path):
    """What the content is can be said."""
    (tmp_path / "x.json").write_text("{}")
    found = cli(
        "put", tmp_path / "x.json", "--source", "fetch", "--content-type", "application/json", "--json"
    ).json
    assert (found["source"], found["content_type"], found["state"]) == ("fetch", "application/json", "sealed")


@pytest.mark.parametrize(
    ("newline", "lines", "stored"), [("auto", 2, "cr"), ("lf", 1, "lf"), ("cr", 2, "cr")]
)
def test_newline(cli, tmp_path, newline, lines, stored):
    """Text of an old Mac has lines, unless it is said to have none."""
    (tmp_path / "x").write_bytes(b"one\rtwo\r")
    found = cli("put", tmp_path / "x", "--newline", newline, "--json").json
    assert (found["lines"], found["newline"]) == (lines, stored)


def test_file_that_is_not_there(cli, tmp_path):
    """A file that cannot be read is an error with its name."""
    answer = cli("put", tmp_path / "nothing")
    assert (answer.code, answer.err) == (125, f"spillstore: {tmp_path}/nothing: No such file or directory\n")


def test_folder(cli, tmp_path):
    """A folder is no file."""
    assert cli("put", tmp_path).code == 2


def test_quota(cli, tmp_path, monkeypatch):
    """What does not fit is an error that names the setting."""
    monkeypatch.setenv("SPILLSTORE_SESSION_QUOTA", "1MiB")
    (tmp_path / "x").write_bytes(os.urandom(3_000_000))
    answer = cli("put", tmp_path / "x")
    assert (answer.code, answer.out) == (125, b"")
    assert "SPILLSTORE_SESSION_QUOTA" in answer.err
    assert "could not be stored" not in answer.err


BIG = b"".join(b"%d\n" % number for number in range(1, 5001))  # 23,893 bytes


@pytest.fixture
def big(tmp_path):
    file = tmp_path / "big"
    file.write_bytes(BIG)
    return file


def artifacts(store):
    """What the default session holds; None if there is no session."""
    if not any(True for _ in store.sessions()):
        return None
    with store.session("default", read_only=True) as session:
        return [
            (artifact.info.source, artifact.read_bytes(0, artifact.info.size))
            for artifact in session.artifacts()
        ]


def test_what_a_model_would_see(cli, store, big):
    """The output is the text that the library gives for the same content, and the artifact has all of it."""
    answer = cli("put", big, "--source", "fetch", "--profile", "default")
    assert (answer.code, answer.err, artifacts(store)) == (0, "", [("fetch", BIG)])
    with store.session("default") as session:
        artifact = session.artifacts(limit=1).items[0]
        assert answer.text == TruncationProcessor(session, flags="").process(artifact, "fetch").content
    assert len(answer.text) <= 8000


@pytest.mark.parametrize("name", ["default", "acode", "opencode", "pipe", "omni"])
@pytest.mark.parametrize("data", [b"", b"small\n", b"no end", "naïve ✓\n".encode()])
def test_pass_through_stores_nothing(cli, root, tmp_path, name, data):
    """What is shown whole is shown as it is; no session is made, no file is written."""
    (tmp_path / "short").write_bytes(data)
    answer = cli("put", tmp_path / "short", "--profile", name)
    assert (answer.code, answer.out.removesuffix(b"\n"), answer.err) == (0, data.removesuffix(b"\n"), "")
    assert is_untouched(root)


LONG = {
    "default": ('[5000 lines, 23.3 KB; a part is shown. All of it: get_artifact(id="ID"', "\n5000\n"),
    "acode": ("1\n2\n", "\n[Artifact: ID] put: 5000 lines of text/plain: 1 (23.3 KB)"),
    "opencode": (
        "<stdout truncated: 5,000 lines total>\nFull output saved to: artifact ID, stdout\n",
        "\n5000\n",
    ),
    "omni": ("[Output truncated: ", "\n5000\n"),
}


@pytest.mark.parametrize("name", list(LONG))
def test_long_content_under_each_profile(cli, store, big, name):
    """What is cut is stored, and the text says where."""
    answer = cli("put", big, "--profile", name)
    begin, end = LONG[name]
    assert (answer.code, answer.err, artifacts(store)) == (0, "", [("put", BIG)])
    with store.session("default", read_only=True) as session:
        (info,) = session.infos()
    assert answer.text.startswith(begin.replace("ID", info.id))
    assert answer.text.endswith(end.replace("ID", info.id))
    assert info.id in answer.text


def test_lines_that_pipe_leaves_out_are_not_kept(cli, root, big):
    """``pipe`` stores from 50 KB on; the line limit alone stores nothing, and the notice says so."""
    answer = cli("put", big, "--profile", "pipe")
    assert answer.text.startswith("3001\n")
    assert answer.text.endswith("\n5000\n[stdout: Showing last 2000 of 5000 lines. The rest was not kept.]\n")
    assert is_untouched(root)


def test_pipe_stores_what_is_larger(cli, store, tmp_path):
    """Above 50 KB the notice of ``pipe`` has the call that brings the rest."""
    data = BIG * 5
    (tmp_path / "x").write_bytes(data)
    answer = cli("put", tmp_path / "x", "--profile", "pipe")
    assert artifacts(store) == [("put", data)]
    assert '\n[stdout: Showing last 2000 of 25000 lines. Full output: get_artifact(id="art_' in answer.text


def test_lace_stores_everything(cli, store, big):
    """``lace`` gives JSON, and keeps even what is empty."""
    found = cli("put", big, "--profile", "lace").json
    assert found["truncated"]["stdout"] == {"skipped": 4850, "total": 5000}
    assert "=== LAST 50 LINES ===" in found["stdoutPreview"]
    (big.parent / "empty").write_bytes(b"")
    assert cli("put", big.parent / "empty", "--profile", "lace").json["stdoutPreview"] == ""
    assert [data for _, data in artifacts(store)] == [b"", BIG]


def test_a_tools_own_strategy(cli, big):
    """``--source`` is the tool, which may have a strategy of its own; ``--strategy`` is stronger."""

    def found(*arguments):
        return cli("put", big, "--profile", "acode", *arguments).text

    assert found("--source", "execute_command").startswith("... [")
    assert found("--source", "read_file").startswith("1\n2\n")
    assert found("--source", "execute_command", "--strategy", "head").startswith("1\n2\n")


def test_strategy_and_limit(cli, big):
    """How it is cut, and how much is shown, can be said for one call."""
    answer = cli("put", big, "--strategy", "tail", "--inline-limit", "1500")
    assert len(answer.text) <= 1500
    notice, _, shown = answer.text.partition("| rg PATTERN]\n")
    assert notice.startswith("[5000 lines, ")
    assert re.fullmatch(r"\[\.\.\. \d+ lines omitted: start_line=1, end_line=\d+ \.\.\.\]\n?(\d+\n)+", shown)
    assert shown.endswith("\n5000\n")


def test_preview_as_json(cli, store, big):
    """A program gets the text, what was done, and what is missing."""
    found = cli("put", big, "--source", "read_file", "--profile", "acode", "--json").json
    with store.session("default", read_only=True) as session:
        (info,) = session.infos()
    assert set(found) == {"content", "metadata", "omissions", "artifact_id", "is_error", "redactions"}
    assert (found["artifact_id"], found["is_error"]) == (info.id, False)
    (omission,) = found["omissions"]
    marker = found["content"][omission["at"] : omission["at"] + omission["length"]]
    assert marker == f"\n... [{omission['lines']} lines / {omission['chars']} chars omitted] ...\n"
    head, tail = found["content"].split(marker)
    shown = head + BIG[omission["start"] : omission["end"]].decode() + tail.partition("\n[Artifact: ")[0]
    assert shown.rstrip("\n") == BIG.decode().rstrip("\n")
    metadata = found["metadata"]
    assert metadata["original_bytes"] == metadata["original_size"] == len(BIG)
    assert (metadata["strategy_used"], metadata["was_truncated"], metadata["tool_name"]) == (
        "head_tail",
        True,
        "read_file",
    )


def test_json_of_what_is_shown_whole(cli, root):
    """Nothing is missing, and no artifact is named."""
    found = cli("put", "-", "--profile", "omni", "--json", stdin=b"small\n").json
    assert (found["content"], found["omissions"], found["artifact_id"]) == ("small\n", [], None)
    assert (found["metadata"]["was_truncated"], found["metadata"]["artifact_created"]) == (False, False)
    assert is_untouched(root)


@pytest.mark.parametrize("name", ["default", "acode"])
def test_binary_content_is_named(cli, store, tmp_path, name):
    """A model is told what it is; the bytes are kept."""
    data = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x40\x00\x00\x00\xf0" + bytes(50_000)
    (tmp_path / "x.png").write_bytes(data)
    text = cli("put", tmp_path / "x.png", "--profile", name).text
    assert text.startswith("[Binary: image/png, 50,024 bytes (48.9 KB), 320x240 pixels]\n")
    assert artifacts(store) == [("put", data)]


def test_content_that_is_refused(cli, store, big):
    """A model is told both sizes, on stdout, since it would see that; nothing is kept, and the exit code is 1."""
    limits = {"SPILLSTORE_MAX_ARTIFACT_SIZE": "20000", "SPILLSTORE_ARTIFACT_THRESHOLD": "10000"}
    answer = cli("put", big, "--profile", "acode", env=limits)
    assert (answer.code, answer.err) == (1, "")
    assert re.match(
        r"Output size \([^)]*\) exceeds maximum artifact size \([^)]*\)\. 23893 bytes came, ", answer.text
    )
    assert not artifacts(store)
    found = cli("put", big, "--profile", "acode", "--json", env=limits)
    assert (found.code, found.json["is_error"], found.json["artifact_id"]) == (1, True, None)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["--profile", "nonsense"],
            125,
            "no profile 'nonsense'; there are default, acode, opencode, pipe, omni, lace",
        ),
        (
            ["--strategy", "nonsense"],
            125,
            "must be one of element, head, head_tail, lines, none, smart, tail",
        ),
        (["--profile", "lace", "--strategy", "tail"], 2, "profile lace has its own limits"),
        (["--inline-limit", "0"], 2, "--inline-limit"),
    ],
)
def test_names_and_limits_that_make_no_sense(cli, root, big, arguments, code, words):
    """What there is instead is named, and nothing is stored."""
    answer = cli("put", big, *arguments)
    assert (answer.code, answer.out) == (code, b"")
    assert words in answer.err
    assert is_untouched(root)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("inline_limit: nope", "line 3: tools.truncation.inline_limit must be a positive integer"),
        ("inline_limt: 1", "line 3: tools.truncation.inline_limt"),
        ("default_strategy: [", "line "),
    ],
)
def test_configuration_that_makes_no_sense(cli, root, big, monkeypatch, text, words):
    """File and key are named, nothing is shown or stored; a call that asks for no preview does not look."""
    monkeypatch.chdir(big.parent)
    (big.parent / ".agent").mkdir()
    (big.parent / ".agent" / "config.yml").write_text(f"tools:\n  truncation:\n    {text}\n")
    answer = cli("put", big, "--profile", "acode")
    assert (answer.code, answer.out) == (125, b"")
    assert answer.err.startswith(f"spillstore: {big.parent}/.agent/config.yml, ")
    assert words in answer.err
    assert is_untouched(root)
    assert cli("put", big).code == 0


def test_configuration_is_heeded(cli, big, monkeypatch):
    """The file in the working directory says how much of which tool is shown."""
    monkeypatch.chdir(big.parent)
    (big.parent / ".agent").mkdir()
    (big.parent / ".agent" / "config.yml").write_text(
        "tools:\n  truncation:\n    overrides:\n      fetch: {strategy: head, inline_limit: 600}\n"
    )
    text = cli("put", big, "--source", "fetch", "--profile", "acode").text
    assert 400 < len(text) <= 600
    assert text.startswith("1\n2\n3\n")
    assert len(cli("put", big, "--source", "other", "--profile", "acode").text) > 7000


def test_file_that_is_not_there_and_a_profile(cli, root, tmp_path):
    """A file that cannot be read is the same error, with a profile or without."""
    answer = cli("put", tmp_path / "nothing", "--profile", "acode")
    assert (answer.code, answer.out) == (125, b"")
    assert answer.err == f"spillstore: {tmp_path}/nothing: No such file or directory\n"
    assert is_untouched(root)


def test_preview_without_a_store(cli, big):
    """A model is shown what there is although nothing can be stored, and told so."""
    answer = cli("put", big, "--profile", "default", env={"SPILLSTORE_ROOT": "/dev/null/store"})
    assert answer.code == 0
    assert answer.text.startswith("[NOT STORED COMPLETELY: /dev/null/store cannot be used: ")


def configure(folder, settings):
    """Write `tools.truncation` of a folder's configuration file; JSON is YAML."""
    (folder / ".agent").mkdir(exist_ok=True)
    (folder / ".agent" / "config.yml").write_text(json.dumps({"tools": {"truncation": settings}}))


LINES = [*BIG.decode().splitlines()]
ERROR = BIG + b"src/app.py:12: error: no such name\n" + BIG
ARRAY = json.dumps([{"id": number, "in": {"a": [*range(20)]}} for number in range(300)]).encode()


def first_lines(text):
    return [line for line in text.splitlines() if line.isdigit()]


HEEDED = [
    ("inline_limit", {"inline_limit": 500}, "read_file", BIG, lambda text: len(text) <= 500),
    ("artifact_threshold", {"artifact_threshold": 10_000}, "x", BIG, lambda text: "Preview (first 5" in text),
    ("max_artifact_size", {"artifact_threshold": 10_000, "max_artifact_size": 20_000}, "x", BIG,
     lambda text: text.startswith("Output size (")),
    ("default_strategy", {"default_strategy": "head"}, "x", BIG, lambda text: first_lines(text) == LINES[:300]),
    ("head_ratio", {"head_ratio": 0.01}, "read_file", BIG, lambda text: text.index("omitted") < 200),
    ("tail_lines", {"line_truncation": {"tail_lines": 7}}, "execute_command", BIG,
     lambda text: first_lines(text) == LINES[-7:]),
    ("head_lines", {"line_truncation": {"head_lines": 7}, "default_strategy": "head"}, "x", BIG,
     lambda text: first_lines(text) == LINES[:7]),
    ("max_line_length", {"line_truncation": {"max_line_length": 80}, "default_strategy": "head"}, "x",
     b"y" * 400 + b"\n" + BIG, lambda text: len(text.splitlines()[0]) <= 80),
    ("first_elements", {"element_truncation": {"first_elements": 2, "last_elements": 1}}, "search_files", ARRAY,
     lambda text: [each["id"] for each in json.loads(text.partition("\n[Artifact")[0]) if isinstance(each, dict)]
     == [0, 1, 299]),
    ("last_elements", {"element_truncation": {"first_elements": 1, "last_elements": 2}}, "search_files", ARRAY,
     lambda text: [each["id"] for each in json.loads(text.partition("\n[Artifact")[0]) if isinstance(each, dict)]
     == [0, 298, 299]),
    ("max_depth", {"element_truncation": {"max_depth": 2}}, "search_files", ARRAY,
     lambda text: isinstance(json.loads(text.partition("\n[Artifact")[0])[0]["in"], str)),
    ("prioritize_errors", {"default_strategy": "smart", "smart_truncation": {"prioritize_errors": False}}, "x", ERROR,
     lambda text: "no such name" not in text),
    ("errors are shown otherwise", {"default_strategy": "smart"}, "x", ERROR, lambda text: "no such name" in text),
    ("smart_truncation.enabled", {"smart_truncation": {"enabled": True}}, "x", ERROR,
     lambda text: "no such name" in text),
    ("include_retrieval_instructions", {"artifact_threshold": 10_000,
     "metadata": {"include_retrieval_instructions": False}}, "x", BIG, lambda text: "Retrieval" not in text),
]  # fmt: skip


@pytest.mark.parametrize("whose", ["all tools", "one tool"])
@pytest.mark.parametrize(
    ("settings", "tool", "data", "holds"), [each[1:] for each in HEEDED], ids=[each[0] for each in HEEDED]
)
def test_each_setting_is_heeded(cli, tmp_path, monkeypatch, settings, tool, data, holds, whose):
    """What the file says of all tools, or of this one, is what happens."""
    monkeypatch.chdir(tmp_path)
    if whose == "one tool":
        own = {key: value for key, value in settings.items() if key not in {"metadata", "default_strategy"}}
        if "default_strategy" in settings:
            own["strategy"] = settings["default_strategy"]
        settings = {"overrides": {tool: own}, **{key: settings[key] for key in settings if key == "metadata"}}
    configure(tmp_path, settings)
    (tmp_path / "content").write_bytes(data)
    text = cli("put", "content", "--source", tool, "--profile", "acode").text
    assert holds(text), text


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("include_original_size", {"original_size", "original_bytes"}),
        ("include_token_estimate", {"original_tokens", "truncated_tokens"}),
        ("include_strategy", {"strategy", "strategy_used", "truncation_strategy"}),
        ("include_retrieval_instructions", {"retrieval_instructions"}),
    ],
)
def test_metadata_that_is_not_wanted(cli, big, monkeypatch, key, names):
    """Each switch under `metadata` leaves out what it speaks of, and nothing else."""
    monkeypatch.chdir(big.parent)
    call = ["put", big, "--profile", "acode", "--json"]
    everything = set(cli(*call).json["metadata"])
    configure(big.parent, {"metadata": {key: False}})
    assert everything - set(cli(*call).json["metadata"]) == names


@pytest.mark.parametrize("data", [b"[]", b"{}", b'[{"only": 1}]', b'{"a": [1, 2]}\n', b"", b" \n\t\n"])
def test_little_content_is_left_alone(cli, data):
    """Empty and small values, white space, nothing at all: shown as they are."""
    assert cli("put", "-", "--source", "search_files", "--profile", "acode", stdin=data).out == data


def test_json_stays_json(cli, tmp_path):
    """A long array keeps both ends, and an element in between counts what is gone."""
    (tmp_path / "x.json").write_bytes(ARRAY)
    found = cli("put", tmp_path / "x.json", "--source", "list_directory", "--profile", "acode", "--json").json
    shown = json.loads(found["content"].partition("\n[Artifact: ")[0])
    ids = [each["id"] for each in shown if isinstance(each, dict)]
    assert ids == [*range(5), *range(295, 300)]
    assert shown[5] == "... 290 items omitted ..."
    inner = sum(isinstance(each["in"]["a"], str) for each in shown if isinstance(each, dict))
    assert inner == 10  # below the depth
    assert (found["metadata"]["omitted_elements"], found["metadata"]["strategy_used"]) == (
        290 + 20 * inner,
        "element",
    )


def test_json_that_is_broken_is_cut_as_text(cli, tmp_path):
    """What only begins like JSON is shown from both ends."""
    (tmp_path / "x.json").write_bytes(ARRAY[:-2])
    found = cli("put", tmp_path / "x.json", "--source", "list_directory", "--profile", "acode", "--json").json
    assert found["metadata"]["strategy_used"] == "head_tail"
    assert found["content"].startswith('[{"id": 0, ')


def test_the_limit_to_the_character(cli, root, tmp_path):
    """Exactly the limit is shown whole; with one character more it is cut and stored. Characters count, not bytes."""
    (tmp_path / "x").write_text("é" * 8000)
    assert cli("put", tmp_path / "x", "--profile", "acode").text == "é" * 8000
    assert is_untouched(root)
    (tmp_path / "x").write_text("é" * 8001)
    answer = cli("put", tmp_path / "x", "--profile", "acode")
    assert len(answer.text) <= 8000
    assert " chars omitted] ..." in answer.text
    assert not is_untouched(root)


def test_the_threshold_to_the_character(cli, tmp_path):
    """From exactly the threshold on a reference stands for the content; below, it is cut."""
    (tmp_path / "x").write_text("é" * 50_000)
    answer = cli("put", tmp_path / "x", "--source", "fetch", "--profile", "acode", "--json").json
    assert answer["metadata"]["strategy_used"] == "reference"
    assert answer["content"].startswith(f"[Artifact: {answer['artifact_id']}] fetch: 1 line of text/plain")
    assert f"\n\nPreview (first 500 characters):\n{'é' * 500}\n" in answer["content"]
    (tmp_path / "x").write_text("é" * 49_999)
    answer = cli("put", tmp_path / "x", "--profile", "acode", "--json").json
    assert answer["metadata"]["strategy_used"] == "head_tail"


def test_the_largest_size_to_the_byte(cli, big):
    """Exactly the largest size is refused; one byte less is not."""

    def code(size):
        limits = {"SPILLSTORE_MAX_ARTIFACT_SIZE": str(size), "SPILLSTORE_ARTIFACT_THRESHOLD": "10000"}
        return cli("put", big, "--profile", "acode", env=limits).code

    assert (code(len(BIG)), code(len(BIG) + 1)) == (1, 0)


def test_truncation_can_be_switched_off(cli, root, big, monkeypatch):
    """With ``none`` and a high limit a tool's content is shown whole, and nothing is stored."""
    monkeypatch.chdir(big.parent)
    configure(big.parent, {"overrides": {"vault": {"strategy": "none", "inline_limit": 1_000_000}}})
    assert cli("put", big, "--source", "vault", "--profile", "acode").out == BIG
    assert is_untouched(root)
    assert len(cli("put", big, "--source", "other", "--profile", "acode").text) <= 8000


def test_a_file_that_is_not_there_leaves_nothing_behind(cli, root, tmp_path):
    """Neither an artifact nor a session nor a store is made for what cannot be opened."""
    for options in ([], ["--profile", "default"]):
        answer = cli("put", tmp_path / "nosuchfile", *options)
        assert answer.code == 125
        assert "No such file" in answer.err
        assert is_untouched(root)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("roll", r"bytes \d+-\d+ \(lines \d+-\d+\) were dropped at its limit of 9.8 KiB"),
        ("stop", ".*9.8 KiB"),
    ],
)
def test_put_of_more_than_the_limit_says_so(cli, tmp_path, policy, told):
    """It stands on stderr with the way out, and the exit code is 1; at the limit nothing is said."""
    (tmp_path / "log").write_bytes(b"line\n" * 2_001)
    settings = {"SPILLSTORE_ARTIFACT_LIMIT": "10000", "SPILLSTORE_ARTIFACT_POLICY": policy}
    for options in ([], ["--json"]):
        answer = cli("put", tmp_path / "log", *options, env=settings)
        assert "SPILLSTORE_ARTIFACT_LIMIT raises that" in answer.err
        assert bool(options) or re.search(f"NOT KEPT WHOLE: {told}", answer.err)
        assert answer.code == 1
        assert answer.json["received"] == 10_005 if options else answer.text.startswith("art_")
    (tmp_path / "log").write_bytes(b"line\n" * 2_000)
    answer = cli("put", tmp_path / "log", env=settings)
    assert (answer.code, answer.err) == (0, "")
