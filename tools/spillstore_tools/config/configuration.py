"""The settings of `tools.truncation`, and the limits of one tool that follow from them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

from spillstore_tools.config.checks import checked
from spillstore_tools.config.schema import (
    STRATEGIES,
    TOOL_STRATEGIES,
    ArtifactSettings,
    Count,
    ElementTruncation,
    LineTruncation,
    MetadataSettings,
    Ratio,
    RedactionSettings,
    Size,
    SmartTruncation,
    Strategy,
    ToolLimits,
    ToolOverride,
)
from spillstore_tools.config.sources import from_mapping

if TYPE_CHECKING:
    from collections.abc import Collection

ASSUMED = "_assumed"  # the attribute in which ``load`` leaves the tools whose strategy is a default
# Further names that strategies may have while ``load`` builds a configuration: they need not be registered yet.
loading: ContextVar[Collection[str]] = ContextVar("loading", default=())


def _tool_overrides() -> dict[str, ToolOverride]:
    return {name: ToolOverride(strategy=strategy) for name, strategy in TOOL_STRATEGIES.items()}


class TruncationConfiguration(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True
):
    """The settings of `tools.truncation`, defaults filled in.

    ``load`` builds it from all sources. If it is made by hand, its values are checked, those of its groups and tools included,
    and a strategy has to be registered; that its limits rise is not checked, and no strategy of it counts as a default.

    Raises:
        ConfigurationError: a value that is not allowed.

    Attributes:
        inline_limit: characters up to which content is shown whole.
        artifact_threshold: characters from which on a reference is shown instead of a preview.
        max_artifact_size: bytes from which on content is refused.
        default_strategy: the strategy of tools that have none of their own.
        head_ratio: fraction of the limit that `head_tail` gives to the beginning; above 0, below 1.
        line_truncation: see ``LineTruncation``.
        element_truncation: see ``ElementTruncation``.
        smart_truncation: see ``SmartTruncation``.
        artifacts: see ``ArtifactSettings``.
        metadata: see ``MetadataSettings``.
        redaction: see ``RedactionSettings``.
        overrides: settings of single tools by name; the strategies of five known tools by default.

    Example:
        >>> TruncationConfiguration().overrides["execute_command"].strategy
        'tail'
    """

    inline_limit: Count = 8000
    artifact_threshold: Count = 50_000
    max_artifact_size: Size = 10_485_760
    default_strategy: Strategy = "head_tail"
    head_ratio: Ratio = 0.6
    line_truncation: LineTruncation = LineTruncation()
    element_truncation: ElementTruncation = ElementTruncation()
    smart_truncation: SmartTruncation = SmartTruncation()
    artifacts: ArtifactSettings = ArtifactSettings()
    metadata: MetadataSettings = MetadataSettings()
    redaction: RedactionSettings = RedactionSettings()
    overrides: dict[str, ToolOverride] = msgspec.field(default_factory=_tool_overrides)

    def __post_init__(self) -> None:
        values = _plain(self)
        strategies = {*STRATEGIES, *loading.get()}
        overrides = values["overrides"] if isinstance(values["overrides"], dict) else {}
        named = [values["default_strategy"], *(each.get("strategy") for each in overrides.values())]
        if not strategies.issuperset(name for name in named if isinstance(name, str)):
            from spillstore_tools.preview.strategies import names  # noqa: PLC0415  # only for those that were registered

            strategies |= set(names())
        checked(from_mapping(values), type(self), strategies, read=False)

    @property
    def assumed(self) -> frozenset[str | None]:
        """Tools whose strategy is a default that no source has named, with None for `default_strategy`.

        A profile with a strategy of its own uses that for them. Only ``load`` sets it; else it is empty.
        """
        found: frozenset[str | None] = self.__dict__.get(ASSUMED, frozenset())
        return found

    def for_tool(self, name: str | None = None) -> ToolLimits:
        """The limits of one tool: its own settings over the global ones, key by key. Cost: microseconds.

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


class Overlay(TruncationConfiguration, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings that the environment and arguments may make: the same keys, and `strategy`, which beats every tool's own."""

    strategy: Strategy | None = None


_NOTHING = ToolOverride()


def _plain(value: Any) -> Any:
    """The values of structs as dictionaries, whatever they are; ``msgspec.to_builtins`` refuses some types."""
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _merged(base: msgspec.Struct, over: msgspec.Struct) -> dict[str, Any]:
    values = msgspec.structs.asdict(base)
    values.update((key, value) for key, value in msgspec.structs.asdict(over).items() if value is not None)
    return values
