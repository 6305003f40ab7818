"""The settings of all sources, laid over each other and checked: ``load``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from spillstore_tools.config.checks import checked
from spillstore_tools.config.configuration import ASSUMED, Overlay, TruncationConfiguration, loading
from spillstore_tools.config.schema import (
    STRATEGIES,
    TOOL_STRATEGIES,
    ConfigurationError,
)
from spillstore_tools.config.sources import (
    DEFAULT,
    Layer,
    Setting,
    dotted,
    from_environment,
    from_mapping,
    lay_over,
    nested,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from spillstore_tools.config.sources import KeyPath

_TOOL_DEFAULTS = {"overrides": {name: {"strategy": strategy} for name, strategy in TOOL_STRATEGIES.items()}}


def find(directory: str | os.PathLike[str] | None = None) -> Path | None:
    """The configuration file that ``load`` reads for a working directory.

    Args:
        directory: where the search begins; None for the process's own.

    Returns:
        `.agent/config.yml` of that folder or of the nearest parent that has one, up to the root or to the folder
        that holds `.git`; None if there is none.
    """
    from spillstore_tools.config import yaml_file  # noqa: PLC0415  # most callers have no file

    return yaml_file.find(Path(directory or "."))


def load(
    directory: str | os.PathLike[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    defaults: Mapping[str, object] | None = None,
    strategies: Collection[str] = STRATEGIES,
    **arguments: object,
) -> TruncationConfiguration:
    """The settings of all sources, checked. Cost: about a millisecond, 20 if there is a file.

    Args:
        directory: where the search for the file begins; None for the process's working directory.
        path: the file to read, instead of searching; it must exist.
        environment: the variables to read; None for the process's own.
        defaults: settings weaker than the file, over the built-in defaults; None for the strategies of the known
            tools. A profile with other defaults passes them here.
        strategies: the names that a strategy may have: ``STRATEGIES`` and whatever else is registered.
        arguments: settings by name, the groups as mappings; None leaves the lower source's value.

    Returns:
        The settings. An `artifact_threshold` that no source sets rises with an `inline_limit` above it.

    Raises:
        ConfigurationError: a file that cannot be read or is no YAML, an unknown key, a value that is not allowed,
            or limits that do not rise.

    Example:
        >>> overrides = {"read_file": {"line_truncation": {"tail_lines": 150}}}
        >>> configuration = load(environment={"SPILLSTORE_INLINE_LIMIT": "9000"}, overrides=overrides)
        >>> limits = configuration.for_tool("read_file")
        >>> limits.strategy, limits.inline_limit, limits.tail_lines, limits.head_lines
        ('head_tail', 9000, 150, 300)
    """
    environment = os.environ if environment is None else environment
    settings = _configured(directory, path, _TOOL_DEFAULTS if defaults is None else defaults, strategies)
    for source in (from_environment(environment), from_mapping(arguments)):
        settings = lay_over(settings, checked(source, Overlay, strategies))
    settings = _with_raised_thresholds(settings)
    token = loading.set(strategies)
    try:
        configuration = msgspec.convert({"overrides": {}, **nested(settings)}, TruncationConfiguration)
    finally:
        loading.reset(token)
    _check_order(configuration, settings)
    configuration.__dict__[ASSUMED] = frozenset(_assumed(settings))
    return configuration


def _configured(
    directory: str | os.PathLike[str] | None,
    path: str | os.PathLike[str] | None,
    defaults: Mapping[str, object],
    strategies: Collection[str],
) -> Layer:
    """The defaults and the file over them."""
    # A caller whose strategies lack this one replaces it, by `defaults` or by an argument.
    built_in = msgspec.to_builtins(TruncationConfiguration(overrides={}))
    settings = checked(from_mapping(built_in, DEFAULT), TruncationConfiguration, {*strategies, "head_tail"})
    settings |= checked(from_mapping(defaults, DEFAULT), TruncationConfiguration, strategies)
    file = find(directory) if path is None else Path(path)
    if file is None:
        return settings
    from spillstore_tools.config import yaml_file  # noqa: PLC0415  # likewise

    return settings | checked(yaml_file.read(file), TruncationConfiguration, strategies)


def _assumed(settings: Layer) -> Iterator[str | None]:
    """The tools, and None for all, whose strategy is a default."""
    for path, setting in settings.items():
        if setting.origin == DEFAULT and path[-1] in {"strategy", "default_strategy"}:
            yield path[1] if path[0] == "overrides" else None


def _with_raised_thresholds(settings: Layer) -> Layer:
    """Raise each `artifact_threshold` that nobody set to the `inline_limit` beside it.

    Otherwise a user who sets a large `inline_limit`, to switch truncation off, must know of a second key.
    """
    raised = dict(settings)
    for path, limit in settings.items():
        if path[-1] != "inline_limit":
            continue
        own = (*path[:-1], "artifact_threshold")
        threshold = settings.get(own) or settings["artifact_threshold",]
        values = limit.value, threshold.value
        if threshold.origin == DEFAULT and values[0] > values[1]:  # type: ignore[operator]  # checked: integers
            raised[own] = Setting(limit.value, DEFAULT)
    return raised


def _check_order(configuration: TruncationConfiguration, settings: Layer) -> None:
    """Check that the limits of every tool rise: inline limit, artifact threshold, largest artifact.

    Raises:
        ConfigurationError: one of them is below the one before it.
    """
    for tool in (None, *configuration.overrides):
        limits = configuration.for_tool(tool)
        for low, high in (
            ("inline_limit", "artifact_threshold"),
            ("artifact_threshold", "max_artifact_size"),
        ):
            least, value = getattr(limits, low), getattr(limits, high)
            if value < least:
                low_path, high_path = _path_of(settings, tool, low), _path_of(settings, tool, high)
                raise ConfigurationError(
                    f"{settings[high_path].origin}: {dotted(high_path)} is {value}, which is below "
                    f"{dotted(low_path)}, {least} ({settings[low_path].origin}); it must be at least that, "
                    f"or the other at most {value}"
                )


def _path_of(settings: Layer, tool: str | None, key: str) -> KeyPath:
    own = ("overrides", tool or "", key)
    return own if own in settings else (key,)
