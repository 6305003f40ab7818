"""The limits and the strategy of one tool, from a configuration, looked up once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.preview.strategies.request import Request, omitted_marker

if TYPE_CHECKING:
    from spillstore_tools.config import ToolLimits, TruncationConfiguration
    from spillstore_tools.preview.parts import Marker

LIMIT = 8000  # code points of a preview under the profile ``default``
SMART = "smart"  # the strategy of that profile


class Limits:
    """Limits by tool, of a configuration that does not change.

    Example:
        >>> from spillstore_tools.config import SmartTruncation, TruncationConfiguration
        >>> limits = Limits(TruncationConfiguration(smart_truncation=SmartTruncation(enabled=True)))
        >>> limits.of("fetch").strategy, limits.of("execute_command").strategy
        ('smart', 'tail')
    """

    def __init__(self, configuration: TruncationConfiguration, *, own: str | None = None) -> None:
        self._configuration = configuration
        self._own = own  # the profile's strategy, for tools whose strategy is only a default
        self._known: dict[str | None, ToolLimits] = {}

    def of(self, source: str) -> ToolLimits:
        """The limits of a tool; ``smart_truncation.enabled`` decides for tools without a strategy of their own."""
        overrides = self._configuration.overrides
        name = source if source in overrides else None
        found = self._known.get(name)
        if found is None:
            import msgspec  # noqa: PLC0415  # who has no configuration does without

            found = self._configuration.for_tool(name)
            if self._own is not None:
                found = msgspec.structs.replace(found, strategy=self._configured(name) or self._own)
            if found.smart_enabled and (name is None or overrides[name].strategy is None):
                found = msgspec.structs.replace(found, strategy=SMART)
            self._known[name] = found
        return found

    def _configured(self, name: str | None) -> str | None:
        """The strategy that a source names for this tool or for all tools, if any does."""
        assumed = self._configuration.assumed
        if name is not None and name not in assumed and (own := self._configuration.overrides[name].strategy):
            return own
        return None if None in assumed else self._configuration.default_strategy


def request_of(limits: ToolLimits, limit: int, marker: Marker = omitted_marker) -> Request:
    """The request to a strategy for a tool, of at most ``limit`` code points."""
    return Request(
        limit=max(1, limit),
        marker=marker,
        head_ratio=limits.head_ratio,
        head_lines=limits.head_lines,
        tail_lines=limits.tail_lines,
        line_limit=limits.max_line_length,
        first=limits.first_elements,
        last=limits.last_elements,
        max_depth=limits.max_depth,
        preserve_json=limits.preserve_json,
        whole_units=limits.preserve_functions,
        actionable=limits.prioritize_errors,
    )
