"""What `tools.truncation` may hold: every key with its type, default and unit.

These types are the one list of keys: the checks, the environment variables and the error messages read it from here. The
description of a type is what a message says of the values that are allowed.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from spillstore.exceptions import InvalidSettingError

STRATEGIES = frozenset({"head_tail", "tail", "head", "lines", "element", "smart", "none"})

TOOL_STRATEGIES = {
    "read_file": "head_tail",
    "execute_command": "tail",
    "list_directory": "element",
    "search_files": "element",
    "git_diff": "head_tail",
}

_LARGEST = 2**62 - 1  # keeps every sum of two limits inside SQLite's 64 bits
_POSITIVE = f"a positive integer (at most {_LARGEST})"
Count = Annotated[int, Meta(ge=1, le=_LARGEST, description=_POSITIVE)]
# Bytes; a text such as "64KiB" will do in the file, in variables and as an argument of ``load``.
Size = Annotated[
    int, Meta(ge=1, le=_LARGEST, description=f"{_POSITIVE} or a size such as 64KiB", extra={"reads": "size"})
]
Ratio = Annotated[float, Meta(gt=0, lt=1, description="a number above 0 and below 1")]
Switch = Annotated[bool, Meta(description="true or false", extra={"reads": "bool"})]
Text = Annotated[str, Meta(min_length=1, description="text")]
Texts = Annotated[tuple[Text, ...] | Text, Meta(description="a list of texts, or text with commas")]
Strategy = Annotated[str, Meta(description="one of", extra={"names": "strategy"})]
Folder = Annotated[
    str,
    Meta(
        description="a path below the working directory, such as .acode/artifacts: relative, and not leading out by '..'",
        extra={"names": "folder"},
    ),
]


class ConfigurationError(InvalidSettingError):
    """A setting of `tools.truncation` that cannot be used, or a file that cannot be read.

    The message names the file and line, variable or argument, the key, the value and what is allowed.
    """


class LineTruncation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How strategies that keep lines cut.

    Attributes:
        tail_lines: lines that `tail` keeps.
        head_lines: lines that `head` keeps.
        max_line_length: characters of one line that are shown.
    """

    tail_lines: Count = 200
    head_lines: Count = 300
    max_line_length: Count = 500


class ElementTruncation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `element` cuts JSON, arrays and lists.

    Attributes:
        first_elements: elements kept from the beginning.
        last_elements: elements kept from the end.
        max_depth: levels of nesting that are shown.
        preserve_json: whether the result must be JSON again.
    """

    first_elements: Count = 5
    last_elements: Count = 5
    max_depth: Count = 3
    preserve_json: Switch = True


class SmartTruncation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `smart` cuts.

    Attributes:
        enabled: whether `smart` cuts content of tools that have no strategy of their own.
        preserve_functions: whether code is cut between functions and classes.
        prioritize_errors: whether lines that report errors and warnings come before others.
    """

    enabled: Switch = False
    preserve_functions: Switch = True
    prioritize_errors: Switch = True


class ArtifactSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How content is stored.

    Attributes:
        storage_path: the store's folder, relative to the working directory and below it.
        cleanup_on_exit: whether the end of a session deletes its artifacts.
        compress_large: accepted either way; artifacts are always compressed.
        enable_partial_retrieval: whether ranges of an artifact may be asked for.
    """

    storage_path: Folder = ".acode/artifacts"
    cleanup_on_exit: Switch = True
    compress_large: Switch = False
    enable_partial_retrieval: Switch = True


class MetadataSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which facts about the truncation a result has.

    Attributes:
        include_original_size: the size of the whole content.
        include_token_estimate: characters divided by four.
        include_strategy: the name of the strategy that cut it.
        include_retrieval_instructions: how to ask for the rest.
    """

    include_original_size: Switch = True
    include_token_estimate: Switch = True
    include_strategy: Switch = True
    include_retrieval_instructions: Switch = True


class RedactionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which secrets are redacted before anything is shown or stored, besides the built-in rules.

    Attributes:
        enabled: whether anything is redacted.
        off: kinds that are not redacted, such as ``JWT``: a list, or text with commas.
        patterns: RE2 expressions by the kind that placeholders name.
        allow: RE2 expressions by any name; a secret that one of them matches as a whole is not redacted.
        rules: a file in the TOML format of gitleaks, relative to the working directory and below it.
    """

    enabled: Switch = True
    off: Texts | None = None
    patterns: dict[str, Text] = msgspec.field(default_factory=dict)
    allow: dict[str, Text] = msgspec.field(default_factory=dict)
    rules: Folder | None = None


class LineOverride(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """`LineTruncation` of one tool; None takes the global value."""

    tail_lines: Count | None = None
    head_lines: Count | None = None
    max_line_length: Count | None = None


class ElementOverride(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`ElementTruncation` of one tool; None takes the global value."""

    first_elements: Count | None = None
    last_elements: Count | None = None
    max_depth: Count | None = None
    preserve_json: Switch | None = None


class SmartOverride(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`SmartTruncation` of one tool; None takes the global value."""

    enabled: Switch | None = None
    preserve_functions: Switch | None = None
    prioritize_errors: Switch | None = None


class RedactionOverride(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`RedactionSettings` of one tool: `enabled` replaces the global value, the others are added to it."""

    enabled: Switch | None = None
    off: Texts | None = None
    patterns: dict[str, Text] = msgspec.field(default_factory=dict)
    allow: dict[str, Text] = msgspec.field(default_factory=dict)
    rules: Folder | None = None


class ToolOverride(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settings of one tool; None takes the global value.

    Attributes:
        strategy: instead of `default_strategy`.
        inline_limit: characters.
        artifact_threshold: characters.
        max_artifact_size: bytes.
        head_ratio: fraction, above 0 and below 1.
        redaction: added to the global one, but for `enabled`.
        line_truncation: merged with the global one, key by key.
        element_truncation: merged with the global one, key by key.
        smart_truncation: merged with the global one, key by key.
    """

    strategy: Strategy | None = None
    inline_limit: Count | None = None
    artifact_threshold: Count | None = None
    max_artifact_size: Size | None = None
    head_ratio: Ratio | None = None
    redaction: RedactionOverride = RedactionOverride()
    line_truncation: LineOverride = LineOverride()
    element_truncation: ElementOverride = ElementOverride()
    smart_truncation: SmartOverride = SmartOverride()


class ToolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """All limits of one tool, with every default filled in.

    Units are those of ``TruncationConfiguration`` and its parts, whose names these are but for `strategy` and
    `smart_enabled` (`smart_truncation.enabled`).
    """

    strategy: str
    inline_limit: int
    artifact_threshold: int
    max_artifact_size: int
    head_ratio: float
    head_lines: int
    tail_lines: int
    max_line_length: int
    first_elements: int
    last_elements: int
    max_depth: int
    preserve_json: bool
    smart_enabled: bool
    preserve_functions: bool
    prioritize_errors: bool
