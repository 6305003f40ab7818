"""The truncation configuration: its defaults, its sources and their order, and every error."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, each_of

from spillstore import Settings
from spillstore.exceptions import InvalidSettingError, SpillstoreError
from spillstore_tools import config as configuration
from spillstore_tools.config import ConfigurationError, ToolOverride, TruncationConfiguration, find
from spillstore_tools.config.sources import from_mapping

SAMPLE = Path(__file__).parent / "data" / "acode-config.yml"
PAGE = ROOT / "docs" / "configuration.md"

DEFAULTS = {
    "inline_limit": 8000,
    "artifact_threshold": 50000,
    "max_artifact_size": 10485760,
    "default_strategy": "head_tail",
    "head_ratio": 0.6,
    "line_truncation.tail_lines": 200,
    "line_truncation.head_lines": 300,
    "line_truncation.max_line_length": 500,
    "element_truncation.first_elements": 5,
    "element_truncation.last_elements": 5,
    "element_truncation.max_depth": 3,
    "element_truncation.preserve_json": True,
    "smart_truncation.enabled": False,
    "smart_truncation.preserve_functions": True,
    "smart_truncation.prioritize_errors": True,
    "artifacts.storage_path": ".acode/artifacts",
    "artifacts.cleanup_on_exit": True,
    "artifacts.compress_large": False,
    "artifacts.enable_partial_retrieval": True,
    "metadata.include_original_size": True,
    "metadata.include_token_estimate": True,
    "metadata.include_strategy": True,
    "metadata.include_retrieval_instructions": True,
    "redaction.enabled": True,
    "redaction.patterns": {},
    "redaction.allow": {},
}


@pytest.fixture
def load(tmp_path, monkeypatch):
    """``load`` in an empty folder that no parent configures, with no environment unless given."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    def load(*, environment=None, **options):
        return configuration.load(environment=environment or {}, **options)

    return load


@pytest.fixture
def write(tmp_path):
    """Writes `.agent/config.yml`; text or bytes."""

    def write(content, folder="."):
        path = tmp_path / folder / ".agent" / "config.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def refusal(load, write):
    """The message with which a file of these truncation settings is refused."""

    def refusal(text):
        body = "".join(f"    {line}\n" for line in text.splitlines())
        write(f"tools:\n  truncation:\n{body}")
        with pytest.raises(ConfigurationError) as error:
            load()
        return str(error.value)

    return refusal


def flat(value) -> dict[str, object]:
    layer = from_mapping(msgspec.to_builtins(value))
    return {".".join(path): setting.value for path, setting in layer.items() if path[0] != "overrides"}


# --- defaults and the sample ------------------------------------------------------------------------------


def test_defaults_are_those_of_the_specification(load):
    """FR-007, FR-008, FR-009, FR-023, FR-028 and the reference of every other key."""
    assert flat(load()) == DEFAULTS


def test_a_configuration_built_by_hand_is_the_default_one(load):
    """``TruncationConfiguration()`` and ``load()`` without any source agree."""
    assert TruncationConfiguration() == load()


def test_the_sample_of_the_specification_loads_verbatim(load):
    """Every key of the sample file is known, and its values arrive."""
    found = load(path=SAMPLE)
    assert flat(found) == DEFAULTS
    assert {name: msgspec.to_builtins(override) for name, override in found.overrides.items()} == {
        "execute_command": {
            "strategy": "tail",
            "inline_limit": 5000,
            "line_truncation": {"tail_lines": 150},
        },
        "read_file": {"strategy": "head_tail", "inline_limit": 12000, "head_ratio": 0.65},
        "list_directory": {
            "strategy": "element",
            "inline_limit": 10000,
            "element_truncation": {"first_elements": 10, "last_elements": 5},
        },
        "search_files": {
            "strategy": "element",
            "inline_limit": 15000,
            "element_truncation": {"first_elements": 8, "last_elements": 3},
        },
        "git_diff": {
            "strategy": "smart",
            "inline_limit": 20000,
            "smart_truncation": {"preserve_functions": True},
        },
        "http_request": {
            "strategy": "element",
            "inline_limit": 10000,
            "element_truncation": {"max_depth": 2, "preserve_json": True},
        },
    }


@pytest.mark.parametrize(
    ("tool", "strategy"),
    [
        ("read_file", "head_tail"),
        ("execute_command", "tail"),
        ("list_directory", "element"),
        ("search_files", "element"),
        ("git_diff", "head_tail"),
        ("anything_else", "head_tail"),
        (None, "head_tail"),
    ],
)
def test_the_known_tools_have_their_strategies(load, tool, strategy):
    """FR-071 to FR-075; every other tool takes the default strategy."""
    assert load().for_tool(tool).strategy == strategy


def test_a_tools_own_default_beats_the_default_strategy_and_yields_to_the_user(load):
    """`default_strategy` is for tools that have none; what the file says about a tool is for that tool."""
    found = load(
        defaults=None,
        path=None,
        default_strategy="smart",
        overrides={"read_file": {"strategy": "lines"}, "git_diff": {"inline_limit": 9}},
    )
    tools = ("read_file", "execute_command", "git_diff", "other")
    assert [found.for_tool(tool).strategy for tool in tools] == ["lines", "tail", "head_tail", "smart"]


def test_a_profile_may_have_other_defaults(load, write):
    """``defaults`` replaces the built-in strategies of tools and is weaker than the file."""
    found = load(defaults={"default_strategy": "smart"})
    assert {found.for_tool(tool).strategy for tool in ("read_file", "execute_command")} == {"smart"}
    write("tools: {truncation: {default_strategy: tail}}")
    assert load(defaults={"default_strategy": "smart"}).for_tool("x").strategy == "tail"


def test_for_tool_resolves_everything(load):
    """A tool's partial groups are merged with the global ones, key by key."""
    limits = load(path=SAMPLE, head_ratio=0.5).for_tool("http_request")
    assert msgspec.structs.asdict(limits) == {
        "strategy": "element",
        "inline_limit": 10000,
        "artifact_threshold": 50000,
        "max_artifact_size": 10485760,
        "head_ratio": 0.5,
        "head_lines": 300,
        "tail_lines": 200,
        "max_line_length": 500,
        "first_elements": 5,
        "last_elements": 5,
        "max_depth": 2,
        "preserve_json": True,
        "smart_enabled": False,
        "preserve_functions": True,
        "prioritize_errors": True,
    }


def test_every_key_may_differ_for_a_tool(load):
    """FR-010: each per-tool key reaches the limits of that tool and of no other."""
    own = {
        "strategy": "lines",
        "inline_limit": 1,
        "artifact_threshold": 2,
        "max_artifact_size": 3,
        "head_ratio": 0.25,
        "line_truncation": {"tail_lines": 4, "head_lines": 5, "max_line_length": 6},
        "element_truncation": {
            "first_elements": 7,
            "last_elements": 8,
            "max_depth": 9,
            "preserve_json": False,
        },
        "smart_truncation": {"enabled": True, "preserve_functions": False, "prioritize_errors": False},
    }
    assert {*own, "redaction"} == set(ToolOverride.__struct_fields__)
    found = load(overrides={"x": own})
    values = [
        value for group in own.values() for value in (group.values() if type(group) is dict else [group])
    ]
    limits = msgspec.structs.asdict(found.for_tool("x"))
    assert sorted(map(str, limits.values())) == sorted(map(str, values))
    assert found.for_tool("y") == TruncationConfiguration().for_tool()


def test_values_are_frozen(load):
    """Neither the configuration nor a tool's limits can be changed."""
    with pytest.raises(AttributeError):
        load().inline_limit = 1
    with pytest.raises(AttributeError):
        load().for_tool().inline_limit = 1


# --- where the file is ------------------------------------------------------------------------------------


def test_the_file_of_the_nearest_parent_is_read(load, write, tmp_path):
    """The search goes upwards from the given directory; the first file wins."""
    write("tools: {truncation: {inline_limit: 1}}")
    write("tools: {truncation: {inline_limit: 2}}", "a")
    (tmp_path / "a/b/c").mkdir(parents=True)
    assert [load(directory=tmp_path / name).inline_limit for name in (".", "a", "a/b/c")] == [1, 2, 2]
    assert load(directory="a/b").inline_limit == 2


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_search_ends_at_the_repository(write, tmp_path, kind):
    """A folder that holds `.git`, a file in a worktree, is the last that is looked at."""
    write("tools: {truncation: {inline_limit: 1}}")
    git = tmp_path / "repository/.git"
    git.mkdir(parents=True) if kind == "folder" else (git.parent.mkdir(), git.write_text("gitdir: x"))
    (tmp_path / "repository/src").mkdir()
    assert find(tmp_path / "repository/src") is None
    own = write("tools: {truncation: {inline_limit: 1}}", "repository")
    assert find(tmp_path / "repository/src") == own


def test_a_named_file_is_read_instead_of_the_found_one(load, write, tmp_path):
    """``path`` ends the search before it begins."""
    write("tools: {truncation: {inline_limit: 1}}")
    (tmp_path / "other.yaml").write_text("tools: {truncation: {head_ratio: 0.5}}")
    found = load(path=tmp_path / "other.yaml")
    assert (found.inline_limit, found.head_ratio) == (8000, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "---\n",
        "tools:\n",
        "tools: {}\n",
        "model: {name: x}\n",
        "tools: {shell: {timeout: 3}}\n",
        "tools:\n  truncation:\n",
        "tools:\n  truncation: {}\n",
        "tools:\n  truncation:\n    line_truncation:\n    overrides:\n      read_file:\n",
        "\ufeff# with a byte order mark\ntools: ~\n",
    ],
)
def test_a_file_that_says_nothing_leaves_the_defaults(load, write, text):
    """Empty files, missing and empty parts are no error."""
    write(text)
    assert load() == TruncationConfiguration()


def test_other_programs_parts_are_not_looked_at(load, write):
    """Unknown keys, tags and merge keys outside `tools.truncation` are somebody else's."""
    write(
        "secret: !vault abc\nbase: &b {x: 1}\nuse: {<<: *b, inline_limit: -1}\n"
        "tools:\n  shell: !cmd [ls]\n  truncation: {inline_limit: 9}\n"
    )
    assert load().inline_limit == 9


def test_an_alias_repeats_a_value(load, write):
    """Anchors and aliases work as in any YAML."""
    write("tools: {truncation: {overrides: {a: &x {inline_limit: 9, strategy: tail}, b: *x}}}")
    found = load().overrides
    assert found["a"] == found["b"] == ToolOverride(inline_limit=9, strategy="tail")


def test_scalars_mean_what_they_mean_in_the_environment(load, write):
    """Underscores, hexadecimal and words for truth are read; quoted text and tool names stay text."""
    write(
        "tools: {truncation: {inline_limit: 8_001, artifact_threshold: 0xffff, "
        "default_strategy: 'none', artifacts: {storage_path: \"1\", cleanup_on_exit: No}, "
        "overrides: {on: {head_ratio: 5e-1}, 7: {inline_limit: 7}}}}"
    )
    found = load()
    assert (found.inline_limit, found.artifact_threshold, found.default_strategy) == (8001, 65535, "none")
    assert (found.artifacts.storage_path, found.artifacts.cleanup_on_exit) == ("1", False)
    assert (found.for_tool("on").head_ratio, found.for_tool("7").inline_limit) == (0.5, 7)


def test_sizes_may_be_texts(load, write):
    """Where a key is a size, a text with a unit is bytes: in the file, in a tool's part of it, and as an argument."""
    write("tools: {truncation: {max_artifact_size: 64KiB, overrides: {x: {max_artifact_size: '2 MiB'}}}}")
    found = load()
    assert (found.max_artifact_size, found.for_tool("x").max_artifact_size) == (65536, 2 * 1024**2)
    assert load(max_artifact_size="1g").max_artifact_size == 1024**3
    with pytest.raises(ConfigurationError, match=r"or a size such as 64KiB; it is '64 apples'"):
        load(max_artifact_size="64 apples")
    with pytest.raises(ConfigurationError, match=r"inline_limit must be a positive integer .*; it is '8K'"):
        load(inline_limit="8K")


@pytest.mark.parametrize("text", ["1", "true", "YES", "on", " 1 ", "0", "false", "No", "off"])
def test_a_switch_means_the_same_to_the_store_and_here(load, text):
    """A variable of the store's settings and one of the configuration take the same words."""
    here = load(environment={"SPILLSTORE_TRUNCATION__REDACTION__ENABLED": text}).redaction.enabled
    assert here == Settings.load({"SPILLSTORE_REDACT": text}).redact


@pytest.mark.parametrize("text", ["65536", "64KiB", "64k", "64 KB", "65_536", "2MiB", "1g"])
def test_a_size_means_the_same_to_the_store_and_here(load, text):
    """A variable of the store's settings and one of the configuration take the same texts."""
    here = load(environment={"SPILLSTORE_MAX_ARTIFACT_SIZE": text}).max_artifact_size
    assert here == Settings.load({"SPILLSTORE_ARTIFACT_LIMIT": text}).artifact_limit


def test_a_size_by_hand_is_a_number():
    """A configuration that is made by hand holds what it was given, so a text is refused there."""
    with pytest.raises(ConfigurationError, match="it is '64KiB'"):
        TruncationConfiguration(max_artifact_size="64KiB")


# --- precedence -------------------------------------------------------------------------------------------


def test_each_source_beats_the_one_before(load, write):
    """Default, file, environment, argument; what a source does not name is left alone."""
    write("tools: {truncation: {inline_limit: 1, head_ratio: 0.1, line_truncation: {tail_lines: 1}}}")
    environment = {
        "SPILLSTORE_INLINE_LIMIT": "2",
        "SPILLSTORE_TRUNCATION__LINE_TRUNCATION__TAIL_LINES": "2",
    }
    found = load(environment=environment, line_truncation={"tail_lines": 3}, artifact_threshold=None)
    assert (found.artifact_threshold, found.head_ratio, found.inline_limit) == (50000, 0.1, 2)
    assert (found.line_truncation.tail_lines, found.line_truncation.head_lines) == (3, 300)


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("SPILLSTORE_INLINE_LIMIT", "9", "inline_limit", 9),
        ("SPILLSTORE_ARTIFACT_THRESHOLD", "60000", "artifact_threshold", 60000),
        ("SPILLSTORE_MAX_ARTIFACT_SIZE", "70000", "max_artifact_size", 70000),
        ("SPILLSTORE_STRATEGY", "none", "default_strategy", "none"),
        ("SPILLSTORE_HEAD_RATIO", " .5 ", "head_ratio", 0.5),
        ("SPILLSTORE_TRUNCATION__DEFAULT_STRATEGY", "tail", "default_strategy", "tail"),
        ("SPILLSTORE_TRUNCATION__LINE_TRUNCATION__TAIL_LINES", "150", "line_truncation.tail_lines", 150),
        (
            "SPILLSTORE_TRUNCATION__ELEMENT_TRUNCATION__PRESERVE_JSON",
            "false",
            "element_truncation.preserve_json",
            False,
        ),
        ("SPILLSTORE_TRUNCATION__SMART_TRUNCATION__ENABLED", "ON", "smart_truncation.enabled", True),
        ("SPILLSTORE_TRUNCATION__ARTIFACTS__STORAGE_PATH", "'7'", "artifacts.storage_path", "7"),
        ("SPILLSTORE_TRUNCATION__REDACTION__ENABLED", "0", "redaction.enabled", False),
        ("SPILLSTORE_TRUNCATION__SMART_TRUNCATION__ENABLED", "1", "smart_truncation.enabled", True),
        ("SPILLSTORE_MAX_ARTIFACT_SIZE", "64KiB", "max_artifact_size", 65536),
        ("SPILLSTORE_MAX_ARTIFACT_SIZE", "1 m", "max_artifact_size", 1048576),
    ],
)
def test_variables(load, variable, text, key, value):
    """The five short names, and every key by its path with two underscores between the parts."""
    assert flat(load(environment={variable: text})) == {**DEFAULTS, key: value}


def test_an_empty_variable_counts_as_not_set(load):
    """As it does for the store's settings."""
    environment = {"SPILLSTORE_INLINE_LIMIT": "", "SPILLSTORE_TRUNCATION__HEAD_RATIO": ""}
    assert load(environment=environment) == TruncationConfiguration()


def test_the_short_name_of_a_variable_wins(load):
    """Of two variables for one key the shorter is read."""
    environment = {"SPILLSTORE_TRUNCATION__INLINE_LIMIT": "1", "SPILLSTORE_INLINE_LIMIT": "2"}
    assert load(environment=environment).inline_limit == 2


def test_the_process_environment_is_read_unless_one_is_given(load, monkeypatch):
    """``environment=None`` is ``os.environ``."""
    monkeypatch.setenv("SPILLSTORE_INLINE_LIMIT", "7")
    assert configuration.load().inline_limit == 7
    assert load().inline_limit == 8000


@pytest.mark.parametrize(
    ("variable", "tool"),
    [
        ("READ_FILE__INLINE_LIMIT", "read_file"),
        ("readFile__INLINE_LIMIT", "readFile"),
        ("MCP__GIT__LOG__INLINE_LIMIT", "mcp__git__log"),
    ],
)
def test_a_variable_for_one_tool(load, variable, tool):
    """A name in capitals means small letters, any other is taken as it is, and it may hold two underscores."""
    found = load(environment={f"SPILLSTORE_TRUNCATION__OVERRIDES__{variable}": "7"})
    assert found.for_tool(tool).inline_limit == 7


def test_a_variable_for_a_group_of_one_tool(load):
    """A tool's nested keys have variables, too."""
    name = "SPILLSTORE_TRUNCATION__OVERRIDES__READ_FILE__LINE_TRUNCATION__TAIL_LINES"
    limits = load(environment={name: "7"}).for_tool("read_file")
    assert (limits.tail_lines, limits.head_lines, limits.strategy) == (7, 300, "head_tail")


@pytest.mark.parametrize("source", ["argument", "environment"])
def test_what_is_asked_for_now_beats_the_files_word_for_a_tool(load, source):
    """`strategy` and other global values from the environment or an argument hold for every tool."""
    asked = {"strategy": "head", "inline_limit": 99, "line_truncation": {"tail_lines": 9}}
    variables = {
        "SPILLSTORE_STRATEGY": "head",
        "SPILLSTORE_INLINE_LIMIT": "99",
        "SPILLSTORE_TRUNCATION__LINE_TRUNCATION__TAIL_LINES": "9",
    }
    options = asked if source == "argument" else {"environment": variables}
    found = load(path=SAMPLE, **options)
    for tool in found.overrides:
        limits = found.for_tool(tool)
        assert (limits.strategy, limits.inline_limit, limits.tail_lines) == ("head", 99, 9)
    assert found.for_tool("read_file").head_ratio == 0.65
    assert found.default_strategy == "head"


def test_within_a_source_the_word_for_a_tool_wins(load):
    """An argument for one tool beats one for all, and an argument for all beats a variable for one tool."""
    environment = {"SPILLSTORE_TRUNCATION__OVERRIDES__A__STRATEGY": "lines"}
    found = load(environment=environment, strategy="head", overrides={"b": {"strategy": "tail"}})
    assert [found.for_tool(tool).strategy for tool in "abc"] == ["head", "tail", "head"]


def test_a_default_strategy_asked_for_now_is_still_a_default(load):
    """`default_strategy` leaves tools alone that have a strategy of their own, wherever it comes from."""
    assert load(default_strategy="head").for_tool("execute_command").strategy == "tail"


# --- thresholds -------------------------------------------------------------------------------------------


def test_a_threshold_that_nobody_set_rises_with_the_inline_limit(load):
    """A large inline limit alone switches truncation off, for all tools or for one."""
    assert load(inline_limit=1_000_000, default_strategy="none").artifact_threshold == 1_000_000
    found = load(overrides={"x": {"inline_limit": 60000}})
    assert (found.for_tool("x").artifact_threshold, found.artifact_threshold) == (60000, 50000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("artifact_threshold: 10", ["line 3", "artifact_threshold is 10", "inline_limit, 8000 (default)"]),
        ("inline_limit: 60000\nartifact_threshold: 50000", ["line 4", "below", "60000", "line 3"]),
        ("max_artifact_size: 49999", ["max_artifact_size is 49999", "artifact_threshold, 50000 (default)"]),
        ("artifact_threshold: 99999999", ["max_artifact_size is 10485760", "99999999", "line 3"]),
        (
            "artifact_threshold: 9000\noverrides: {x: {inline_limit: 9001}}",
            ["line 3", "artifact_threshold is 9000", "overrides.x.inline_limit, 9001", "line 4"],
        ),
        ("overrides: {x: {artifact_threshold: 7}}", ["overrides.x.artifact_threshold is 7", "8000"]),
    ],
)
def test_limits_must_rise(refusal, text, words):
    """Both keys, both values and both places are named, for all tools and for one."""
    message = refusal(text)
    assert [word for word in words if word not in message] == []


def test_equal_limits_are_allowed(load):
    """The borders themselves are in order."""
    found = load(inline_limit=9, artifact_threshold=9, max_artifact_size=9)
    assert found.for_tool().max_artifact_size == 9


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key, value in DEFAULTS.items() if type(value) is int])
@each_of("value", ["0", "-1", "1.5", "8000.0", "true", "'8000'", "8,000", "~", "[1]", "{a: 1}", "010"])
def test_limits_are_positive_integers(refusal, key, value):
    """FR-012: nothing else is taken for a count, not even a truth or a number in quotes; a size may be text."""
    if key == "max_artifact_size" and value == "'8000'":
        value = "'8000 apples'"
    *group, name = key.split(".")
    text = f"{group[0]}:\n  {name}: {value}" if group else f"{name}: {value}"
    message = refusal(text)
    assert f"config.yml, line {3 + len(group)}: tools.truncation.{key} must be a positive integer" in message


@pytest.mark.parametrize("value", ["0", "1", "0.0", "1.0", "-0.5", "60%", "true", ".nan", "1e400"])
def test_the_ratio_lies_between_0_and_1(refusal, value):
    """Both borders are outside: `head` and `tail` are strategies of their own."""
    message = refusal(f"head_ratio: {value}")
    assert "line 3: tools.truncation.head_ratio must be a number above 0 and below 1; it is" in message


@pytest.mark.parametrize("value", ["1", "maybe", "~", "'true'"])
def test_switches_are_true_or_false(refusal, value):
    """A number is no truth."""
    message = refusal(f"artifacts: {{cleanup_on_exit: {value}}}")
    assert "tools.truncation.artifacts.cleanup_on_exit must be true or false; it is" in message


@pytest.mark.parametrize("key", ["default_strategy: tial", "overrides: {x: {strategy: tial}}"])
def test_an_unknown_strategy_is_refused_with_the_known_ones(refusal, key):
    """The message lists what is allowed."""
    message = refusal(key)
    assert "one of element, head, head_tail, lines, none, smart, tail; it is 'tial'" in message


def test_more_strategies_may_be_registered(load):
    """``strategies`` says which names are allowed, from every source."""
    names = {*configuration.STRATEGIES, "hunks"}
    assert load(strategies=names, strategy="hunks").default_strategy == "hunks"
    with pytest.raises(ConfigurationError, match="hunks"):
        load(strategy="hunks")


@pytest.mark.parametrize(
    "value", ["/tmp/x", "../x", "a/../../x", "..", ".", "''", "~/x", "a/..", "7", '"a\\0b"', "//x"]
)
def test_the_storage_path_stays_below_the_working_directory(refusal, value):
    """Absolute folders and those that lead out are refused, and so is the working directory itself."""
    message = refusal(f"artifacts: {{storage_path: {value}}}")
    assert "tools.truncation.artifacts.storage_path must be a path below the working directory" in message


def test_the_storage_path_is_no_server(refusal):
    """A project's file sends what is stored to nobody; a password in the URL is not repeated."""
    word = "x" * 12
    for scheme in ("postgresql", "x"):
        message = refusal(f"artifacts: {{storage_path: '{scheme}://u:{word}@h/d'}}")
        assert "must be a path below the working directory" in message
        assert f"it is '{scheme}://...'" in message
        assert word not in message


@pytest.mark.parametrize("value", ["x", "a/b", "a/../b", "./x", "..x", ".acode/artifacts/"])
def test_storage_paths_that_stay_below(load, value):
    """Dots that do not lead out are allowed."""
    assert load(artifacts={"storage_path": value}).artifacts.storage_path == value


@pytest.mark.parametrize(
    ("text", "key", "value", "nearest"),
    [
        ("inline_limt: 9", "inline_limt", "9", "inline_limit"),
        ("line_truncation: {tail_line: 9}", "line_truncation.tail_line", "9", "line_truncation.tail_lines"),
        ("tail_lines: 9", "tail_lines", "9", "line_truncation.tail_lines"),
        ("strategy: tail", "strategy", "'tail'", "default_strategy"),
        (
            "overrides: {x: {default_strategy: tail}}",
            "overrides.x.default_strategy",
            "'tail'",
            "default_strategy",
        ),
        ("overrides: {x: {inlinelimit: 1}}", "overrides.x.inlinelimit", "1", "overrides.x.inline_limit"),
        ("artifact: {cleanup_on_exit: true}", "artifact", "a mapping", "artifacts"),
        ("overide: ~", "overide", "null", "overrides"),
        ("Inline_Limit: [1]", "Inline_Limit", "a list", "inline_limit"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(refusal, text, key, value, nearest):
    """The full path, the value, the key that was probably meant, and the line."""
    message = refusal(text)
    assert f"line 3: tools.truncation.{key} is not a setting (its value: {value});" in message
    assert f"did you mean tools.truncation.{nearest}?" in message


def test_an_unknown_variable_or_argument_is_refused(load):
    """Errors name the variable or the argument."""
    with pytest.raises(ConfigurationError, match="environment variable SPILLSTORE_TRUNCATION__INLINE: "):
        load(environment={"SPILLSTORE_TRUNCATION__INLINE": "1"})
    with pytest.raises(ConfigurationError, match=r"argument line_truncation\.tails: "):
        load(line_truncation={"tails": 1})
    with pytest.raises(ConfigurationError, match=r"argument overrides: .* must be a mapping"):
        load(overrides=5)
    with pytest.raises(ConfigurationError, match=r"environment variable SPILLSTORE_HEAD_RATIO: .* it is 2"):
        load(environment={"SPILLSTORE_HEAD_RATIO": "2"})


def test_a_value_that_a_later_source_replaces_is_still_checked(load, write):
    """A broken file does not hide behind an argument."""
    write("tools: {truncation: {inline_limit: 0}}")
    with pytest.raises(ConfigurationError, match=r"config\.yml, line 1"):
        load(inline_limit=5)


def test_a_long_value_is_shortened(load):
    """Messages stay readable."""
    with pytest.raises(ConfigurationError) as error:
        load(strategy="x" * 10_000)
    assert len(str(error.value)) < 300
    with pytest.raises(ConfigurationError, match="thousands of digits"):
        load(inline_limit=10**5000)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("tools:\n  truncation: [\n", "line 3: not YAML"),
        ("tools:\n  a: b\n c: d\n", "line 3: not YAML"),
        ("a: 1\n---\nb: 2\n", "line 2: not YAML: expected a single document"),
        ("a: *nowhere\n", "line 1: not YAML: found undefined alias"),
        ("a: 1\nb: \x01\n", "line 2: the character '\\x01' is not allowed"),
        ("- tools\n", "line 1: the file must be a mapping of settings, not a list"),
        ("just text\n", "line 1: the file must be a mapping of settings, not 'just text'"),
        ("a: 1\ntools: [truncation]\n", "line 2: tools must be a mapping of settings, not a list"),
        ("tools:\n  truncation: off\n", "line 2: tools.truncation must be a mapping of settings, not 'off'"),
        (b"a: 1\nb: \xe9t\xe9\n", "line 2: byte 8 (0xe9) is not UTF-8"),
        ("tools: 1".encode("utf-16"), "is not UTF-8"),
        ("tools:\n  truncation: {? [a] : 1}\n", "line 2: a key must be text"),
        ("tools: {truncation: {inline_limit: !!python/object/apply:os.system [ls]}}\n", "it is a list"),
        ("tools: {truncation: {default_strategy: !own tail}}\n", "line 1: the tag !own is not allowed"),
        ("tools: {truncation: {inline_limit: 2026-01-01}}\n", "it is '2026-01-01'"),
        ("x: &x {head_ratio: 0.5}\ntools: {truncation: {<<: *x}}\n", "line 2: the merge key"),
    ],
)
def test_files_that_cannot_be_used(load, write, content, words):
    """The message names the file, the line and what is wrong."""
    path = write(content)
    with pytest.raises(ConfigurationError) as error:
        load()
    assert str(error.value).startswith(f"{path}, line ")
    assert words in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        "tools: {}\ntools: {}\n",
        "tools:\n  truncation: {}\n  truncation: {}\n",
        "tools:\n  truncation:\n    inline_limit: 1\n    inline_limit: 1\n",
        "tools:\n  truncation:\n    overrides:\n      x: {inline_limit: 1,\n          'inline_limit': 1}\n",
    ],
)
def test_a_key_that_is_there_twice_is_refused(load, write, content):
    """YAML libraries take the last silently; the user meant one of the two."""
    write(content)
    with pytest.raises(ConfigurationError, match=r"line \d: the key '\w+' is there twice, first in line \d"):
        load()


def test_aliases_cannot_blow_up(load, write):
    """A few lines that stand for a billion values, and a value that contains itself, are refused at once."""
    bomb = "a0: &a0 {x: 1}\n" + "".join(
        f"a{level}: &a{level} {{{', '.join(f'k{i}: *a{level - 1}' for i in range(20))}}}\n"
        for level in range(1, 7)
    )
    write(f"{bomb}tools: {{truncation: {{overrides: *a6}}}}\n")
    with pytest.raises(ConfigurationError, match="more than 10,000 values or 8 levels"):
        load()
    write("tools: {truncation: &t {overrides: *t}}\n")
    with pytest.raises(ConfigurationError, match="more than 10,000 values or 8 levels"):
        load()


@pytest.mark.parametrize("content", ["[" * 200_000, "a: " + "{x: " * 100_000, "- " * 50_000])
def test_deep_nesting_is_refused(load, write, content):
    """It would overflow the C stack of libyaml's composer and end the process."""
    write(content)
    with pytest.raises(ConfigurationError, match=r"line 1: nested more than 100 levels deep"):
        load()


def test_files_that_cannot_be_read(load, tmp_path, write):
    """Missing, a folder, too large, a dangling link, a name that no file can have."""
    (tmp_path / "large.yml").write_bytes(b"#" * (1024 * 1024 + 1))
    (tmp_path / "link.yml").symlink_to("nowhere")
    for name in ("missing.yml", ".", "large.yml", "link.yml", "a\0b", ""):
        with pytest.raises(ConfigurationError):
            load(path=name)
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent/config.yml").symlink_to("nowhere")
    with pytest.raises(
        ConfigurationError, match=r"config\.yml: the configuration cannot be read: No such file"
    ):
        load()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_an_error(load, write):
    """A configuration that is there and cannot be read is not ignored."""
    write("tools: {}").chmod(0)
    with pytest.raises(ConfigurationError, match="Permission denied"):
        load()


def test_a_working_directory_that_is_gone_is_an_error(load, tmp_path, monkeypatch):
    """The search cannot begin."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(ConfigurationError, match="working directory"):
        load()


def test_the_error_belongs_to_the_tree():
    """One ``except SpillstoreError`` is enough; it is a wrong value, so ``ValueError`` too."""
    assert issubclass(ConfigurationError, InvalidSettingError)
    assert issubclass(ConfigurationError, SpillstoreError)
    assert issubclass(ConfigurationError, ValueError)


def message_of(path, **arguments) -> str:
    """What is said against a configuration; the file's name and a key where nothing is."""
    try:
        assert configuration.load(path=path, environment={}, **arguments).for_tool("x")
    except ConfigurationError as error:
        return str(error)
    return f"{path}: tools.truncation is in order"


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_no_bytes_raise_anything_else(tmp_path_factory, content):
    """Whatever the file holds, it is a configuration or a ``ConfigurationError``."""
    path = tmp_path_factory.getbasetemp() / "any.yml"
    path.write_bytes(content)
    assert message_of(path=path).startswith(str(path))


PIECES = [
    "tools",
    "truncation",
    "overrides",
    "inline_limit",
    "1",
    "~",
    ":",
    "{",
    "}",
    "[",
    "]",
    "&a",
    "*a",
    "!!int",
    "!",
    "'",
    '"',
    "|",
    ">",
    "---",
    "%",
    "#",
    ",",
    "<<",
    "?",
]
YAML_PIECES = st.sampled_from([*PIECES, ": ", "\n", "  ", "- ", "\t", "\x85", "\ufeff"])


@given(st.lists(YAML_PIECES, max_size=30).map("".join))
def test_no_yaml_raises_anything_else(tmp_path_factory, text):
    """The same for text that looks like YAML."""
    path = tmp_path_factory.getbasetemp() / "some.yml"
    for content in (text, f"tools:\n  truncation: {text}\n", f"tools: {{truncation: {{{text}}}}}"):
        path.write_text(content, encoding="utf-8")
        assert message_of(path=path).startswith(str(path))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", *DEFAULTS]), inner),
    max_leaves=5,
)
KEYS = st.sampled_from([*TruncationConfiguration.__struct_fields__, "strategy", "x"])


@given(st.dictionaries(KEYS, JSON, max_size=3))
def test_no_arguments_raise_anything_else(arguments):
    """The same for arguments of any shape."""
    assert "tools.truncation" in message_of(path=SAMPLE, **arguments)


# --- the module and its page ------------------------------------------------------------------------------


@pytest.mark.long
def test_yaml_is_imported_only_for_a_file(tmp_path):
    """Importing the module, and loading without a file, do without PyYAML."""
    (tmp_path / ".git").mkdir()
    code = (
        "import sys, spillstore_tools.config as c\n"
        "c.load(environment={'SPILLSTORE_INLINE_LIMIT': '1'})\n"
        "assert 'yaml' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=120)


def rows() -> dict[str, str]:
    return dict(
        re.findall(r"^\| `([a-z_.]+)` \| `([^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    )


def test_the_page_lists_every_key_with_its_default():
    """NFR-018: docs/configuration.md has each key, in order, with the value that the code has."""

    def parsed(text):
        return {"true": True, "false": False}.get(text) if text in {"true", "false"} else literal(text)

    def literal(text):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text

    assert {key: parsed(text) for key, text in rows().items()} == DEFAULTS
    assert list(rows()) == list(DEFAULTS)


def test_the_pages_example_loads(load, write):
    """The YAML block of the page is a configuration that works."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for block in blocks:
        write(block)
        assert load() != TruncationConfiguration()
    assert blocks


def test_the_public_names_are_these():
    """``__all__`` is what a caller may rely on."""
    assert configuration.__all__ == [
        "STRATEGIES",
        "TOOL_STRATEGIES",
        "ArtifactSettings",
        "ConfigurationError",
        "ElementOverride",
        "ElementTruncation",
        "LineOverride",
        "LineTruncation",
        "MetadataSettings",
        "RedactionOverride",
        "RedactionSettings",
        "SmartOverride",
        "SmartTruncation",
        "ToolLimits",
        "ToolOverride",
        "TruncationConfiguration",
        "find",
        "load",
    ]
