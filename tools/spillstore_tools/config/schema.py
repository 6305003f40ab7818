"""What `tools.truncation` may hold, with every default and unit.

These types are the one list of keys: the checks, the environment variables and the error messages read it from here.
``configuration.py`` is the public door; build a value with ``load``, which checks it.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from spillstore.exceptions import InvalidSettingError

STRATEGIES = frozenset({"head_tail", "tail", "head", "lines", "element", "smart", "none"})

TOOL_STRATEGIES = {
    "read_file": "head_tail",
    "execute_command": "tail",
    "list_directory": "element",
    "search_files": "element",
    "git_diff": "head_tail",
}

ASSUMED = "_assumed"  # where ``load`` leaves which strategies nobody asked for
# The upper end keeps every sum of two limits inside SQLite's 64 bits.
Count = Annotated[int, msgspec.Meta(ge=1, lt=2**62)]
# Bytes; a text such as "64KiB" will do in the file, in variables and as an argument of ``load``.
Size = Annotated[int, msgspec.Meta(ge=1, lt=2**62, extra={"unit": "bytes"})]
Ratio = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


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
    preserve_json: bool = True


class SmartTruncation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `smart` looks at content.

    Attributes:
        enabled: whether the kind of content that is recognised may decide how it is cut.
        preserve_functions: whether code is cut between functions and classes.
        prioritize_errors: whether lines that report errors and warnings come before others.
    """

    enabled: bool = False
    preserve_functions: bool = True
    prioritize_errors: bool = True


class ArtifactSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens to content that is stored.

    Attributes:
        storage_path: the store's folder, relative to the working directory and below it.
        cleanup_on_exit: whether the end of a session deletes its artifacts.
        compress_large: accepted either way; artifacts are always compressed.
        enable_partial_retrieval: whether ranges of an artifact may be asked for.
    """

    storage_path: str = ".acode/artifacts"
    cleanup_on_exit: bool = True
    compress_large: bool = False
    enable_partial_retrieval: bool = True


class MetadataSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a result tells about its truncation.

    Attributes:
        include_original_size: the size of the whole content.
        include_token_estimate: characters divided by four.
        include_strategy: the name of the strategy that cut it.
        include_retrieval_instructions: how to ask for the rest.
    """

    include_original_size: bool = True
    include_token_estimate: bool = True
    include_strategy: bool = True
    include_retrieval_instructions: bool = True


class RedactionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which secrets are taken out before anything is shown or stored, besides those that are built in.

    Attributes:
        enabled: whether any are.
        off: kinds that stay, such as ``JWT``: a list, or text with commas.
        patterns: RE2 expressions by the kind that takes their place.
        allow: RE2 expressions by a name of one's choice; a secret that one of them matches as a whole stays.
        rules: a file in the TOML format of gitleaks, relative to the working directory and below it.
    """

    enabled: bool = True
    off: tuple[Text, ...] | Text | None = None
    patterns: dict[str, Text] = msgspec.field(default_factory=dict)
    allow: dict[str, Text] = msgspec.field(default_factory=dict)
    rules: str | None = None


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
    preserve_json: bool | None = None


class SmartOverride(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`SmartTruncation` of one tool; None takes the global value."""

    enabled: bool | None = None
    preserve_functions: bool | None = None
    prioritize_errors: bool | None = None


class RedactionOverride(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`RedactionSettings` of one tool: whether, instead of the global value; the others besides the global ones."""

    enabled: bool | None = None
    off: tuple[Text, ...] | Text | None = None
    patterns: dict[str, Text] = msgspec.field(default_factory=dict)
    allow: dict[str, Text] = msgspec.field(default_factory=dict)
    rules: str | None = None


class ToolOverride(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is configured for one tool alone; None takes the global value.

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

    strategy: str | None = None
    inline_limit: Count | None = None
    artifact_threshold: Count | None = None
    max_artifact_size: Size | None = None
    head_ratio: Ratio | None = None
    redaction: RedactionOverride = RedactionOverride()
    line_truncation: LineOverride = LineOverride()
    element_truncation: ElementOverride = ElementOverride()
    smart_truncation: SmartOverride = SmartOverride()


class ToolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is in force for one tool, with nothing left to look up.

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


def _tool_overrides() -> dict[str, ToolOverride]:
    return {name: ToolOverride(strategy=strategy) for name, strategy in TOOL_STRATEGIES.items()}


class TruncationConfiguration(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True
):
    """What `tools.truncation` says, defaults filled in.

    ``load`` builds it from all sources. Made by hand, its values are checked, those of its groups and tools included, and a
    strategy has to be one that is registered; that its limits rise is for who makes it to see to, and its strategies count
    as asked for, the defaults as well.

    Raises:
        ConfigurationError: a value that is not allowed.

    Attributes:
        inline_limit: characters up to which content is shown whole.
        artifact_threshold: characters from which on a reference is shown instead of a preview.
        max_artifact_size: bytes from which on content is refused.
        default_strategy: what cuts content of a tool that has no strategy of its own.
        head_ratio: fraction of the limit that `head_tail` gives to the beginning; above 0, below 1.
        line_truncation: see ``LineTruncation``.
        element_truncation: see ``ElementTruncation``.
        smart_truncation: see ``SmartTruncation``.
        artifacts: see ``ArtifactSettings``.
        metadata: see ``MetadataSettings``.
        redaction: see ``RedactionSettings``.
        overrides: what differs, by the tool's name; the strategies of five known tools unless told otherwise.

    Example:
        >>> TruncationConfiguration().overrides["execute_command"].strategy
        'tail'
    """

    inline_limit: Count = 8000
    artifact_threshold: Count = 50_000
    max_artifact_size: Size = 10_485_760
    default_strategy: str = "head_tail"
    head_ratio: Ratio = 0.6
    line_truncation: LineTruncation = LineTruncation()
    element_truncation: ElementTruncation = ElementTruncation()
    smart_truncation: SmartTruncation = SmartTruncation()
    artifacts: ArtifactSettings = ArtifactSettings()
    metadata: MetadataSettings = MetadataSettings()
    redaction: RedactionSettings = RedactionSettings()
    overrides: dict[str, ToolOverride] = msgspec.field(default_factory=_tool_overrides)

    def __post_init__(self) -> None:
        from spillstore_tools.config.checks import check_values  # noqa: PLC0415  # it imports this module

        check_values(self)

    @property
    def assumed(self) -> frozenset[str | None]:
        """Tools whose strategy is a default that no source has named, with None for `default_strategy`.

        A profile with a strategy of its own uses that for them. ``load`` knows; made by hand there are none.
        """
        found: frozenset[str | None] = self.__dict__.get(ASSUMED, frozenset())
        return found

    def for_tool(self, name: str | None = None) -> ToolLimits:
        """What is in force for one tool: its own settings over the global ones, key by key. Microseconds.

        Args:
            name: the tool's name, exactly as under `overrides`; None, or a name that is not there, for the
                global settings alone.

        Returns:
            The limits.

        Example:
            >>> configuration = TruncationConfiguration()
            >>> configuration.for_tool("list_directory").strategy, configuration.for_tool("other").strategy
            ('element', 'head_tail')
        """
        own = self.overrides.get(name, _NOTHING) if name is not None else _NOTHING
        smart = _merged(self.smart_truncation, own.smart_truncation)
        return ToolLimits(
            strategy=own.strategy or self.default_strategy,
            inline_limit=own.inline_limit or self.inline_limit,
            artifact_threshold=own.artifact_threshold or self.artifact_threshold,
            max_artifact_size=own.max_artifact_size or self.max_artifact_size,
            head_ratio=own.head_ratio or self.head_ratio,
            smart_enabled=smart.pop("enabled"),
            **smart,
            **_merged(self.line_truncation, own.line_truncation),
            **_merged(self.element_truncation, own.element_truncation),
        )


class Request(TruncationConfiguration, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the environment and arguments may say: the same keys, and `strategy`, which beats every tool's own."""

    strategy: str | None = None


_NOTHING = ToolOverride()


def _merged(base: msgspec.Struct, over: msgspec.Struct) -> dict[str, Any]:
    values = msgspec.structs.asdict(base)
    values.update((key, value) for key, value in msgspec.structs.asdict(over).items() if value is not None)
    return values
