"""Whether settings can be used, and the sentence that says why not.

What is known and allowed is read from the types in ``_configuration_schema``. msgspec would refuse the same values,
but in its own words: without the line, the value, or the key that was meant.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import posixpath
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from msgspec import inspect

from spillstore.exceptions import InvalidSettingError
from spillstore.settings import parse_bool, parse_size
from spillstore_tools.config.schema import STRATEGIES, ConfigurationError
from spillstore_tools.config.sources import KeyPath, Layer, Setting, dotted, from_mapping

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from spillstore_tools.config.schema import TruncationConfiguration

_GROUPS = (inspect.StructType, inspect.DictType)
_SHOWN = 60
_WANTED: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.FloatType: "a number above 0 and below 1",
    inspect.VarTupleType: "a list of texts, or text with commas",
}


def checked(layer: Layer, schema: type[msgspec.Struct], strategies: Collection[str]) -> Layer:
    """The settings of a source, without its empty groups; texts read where their key is a size or, in a variable, a switch.

    Args:
        layer: the source.
        schema: the type whose keys it may set.
        strategies: the names that a strategy may have.

    Raises:
        ConfigurationError: an unknown key, or a value that is not allowed.
    """
    read = {path: _read(setting, _kind_of(path, schema)) for path, setting in layer.items()}
    return {path: setting for path, setting in read.items() if _is_value(path, setting, schema, strategies)}


def _kind_of(path: KeyPath, schema: type[msgspec.Struct]) -> Any:
    """The type of a key; None if there is no such key."""
    kind: Any = _type_of(schema)
    for part in path:
        kind = _members(kind, part).get(part) if isinstance(kind, _GROUPS) else None
    return kind


def _read(setting: Setting, kind: Any) -> Setting:
    """The setting with its text read; as it is where there is nothing to read, or it says nothing right."""
    with contextlib.suppress(InvalidSettingError):
        if isinstance(kind, inspect.BoolType) and setting.text is not None:
            return dataclasses.replace(setting, value=parse_bool(setting.origin, setting.text))
        if isinstance(kind, inspect.Metadata) and isinstance(setting.value, str):
            return dataclasses.replace(setting, value=parse_size(setting.origin, setting.value))
    return setting


# The names that strategies may have for who is loading: they need not be registered yet.
loading: ContextVar[Collection[str]] = ContextVar("loading", default=())


def check_values(configuration: TruncationConfiguration) -> None:
    """Check a configuration that was made by hand.

    Raises:
        ConfigurationError: a value that is not allowed.
    """
    values = _plain(configuration)
    assert isinstance(values, dict)  # as a struct is told
    strategies = {*STRATEGIES, *loading.get()}
    overrides = values["overrides"] if isinstance(values["overrides"], dict) else {}
    named = [values["default_strategy"], *(each.get("strategy") for each in overrides.values())]
    if not strategies.issuperset(name for name in named if isinstance(name, str)):
        from spillstore_tools.preview.strategies import names  # noqa: PLC0415  # only for those that are not built in

        strategies |= set(names())
    layer = from_mapping(values)
    for path, setting in layer.items():
        _is_value(path, setting, type(configuration), strategies)


def _plain(value: object) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def check_order(configuration: TruncationConfiguration, settings: Layer) -> None:
    """Every tool's limits must rise: inline limit, artifact threshold, largest artifact.

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
                low_path, high_path = _place(settings, tool, low), _place(settings, tool, high)
                raise ConfigurationError(
                    f"{settings[high_path].origin}: {dotted(high_path)} is {value}, which is below "
                    f"{dotted(low_path)}, {least} ({settings[low_path].origin}); it must be at least that, "
                    f"or the other at most {value}"
                )


def _place(settings: Layer, tool: str | None, key: str) -> KeyPath:
    own = ("overrides", tool or "", key)
    return own if own in settings else (key,)


@functools.cache
def _type_of(schema: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(schema)


def _is_value(
    path: KeyPath, setting: Setting, schema: type[msgspec.Struct], strategies: Collection[str]
) -> bool:
    """Whether a path leads to a checked value; False for a group that says nothing."""
    kind: Any = _type_of(schema)
    for depth, part in enumerate(path, 1):
        if not isinstance(kind, _GROUPS):
            _refuse(path[: depth - 1], setting.origin, _wanted(kind, path[depth - 2], strategies), {})
        inner = _members(kind, part).get(part)
        if inner is None:
            value = setting.value if depth == len(path) else {}
            _refuse_key(path[:depth], Setting(value, setting.origin), _members(kind), schema)
        kind = inner
    if not isinstance(kind, _GROUPS):
        if not _fits(kind, path[-1], setting.value, strategies):
            _refuse(path, setting.origin, _wanted(kind, path[-1], strategies), setting.value)
        return True
    if setting.value is not None and setting.value != {}:
        _refuse(path, setting.origin, "a mapping of settings", setting.value)
    return False


def _members(kind: Any, tool: str | None = None) -> dict[str, Any]:
    """What a group may hold; ``tool`` is the key to give to what is held under names of the user's choice."""
    if isinstance(kind, inspect.DictType):
        return {} if tool is None else {tool: kind.value_type}
    return {field.name: _unwrapped(field.type) for field in kind.fields}


def _unwrapped(kind: Any) -> Any:
    return kind.types[0] if isinstance(kind, inspect.UnionType) else kind


def _fits(kind: Any, name: str, value: Any, strategies: Collection[str]) -> bool:
    if isinstance(kind, inspect.Metadata):
        kind = kind.type
    # type() and not isinstance(): True is an int.
    if isinstance(kind, inspect.BoolType):
        return type(value) is bool
    if isinstance(kind, inspect.IntType):
        return type(value) is int and kind.ge <= value < kind.lt  # type: ignore[operator]  # Count has both
    if isinstance(kind, inspect.FloatType):
        return type(value) in {int, float} and kind.gt < value < kind.lt
    if isinstance(kind, inspect.VarTupleType):
        items = value if isinstance(value, (list, tuple)) else [value]
        return all(type(item) is str and item for item in items)
    if kind.min_length:
        return type(value) is str and bool(value)
    return type(value) is str and (value in strategies if "strategy" in name else _is_below(value))


def _is_below(folder: str) -> bool:
    """Whether a path stays below the folder that it is relative to; links are the store's to refuse."""
    normal = posixpath.normpath(folder)
    return not (normal.startswith(("/", "../", "~")) or normal in {".", ".."} or "\0" in folder)


def _wanted(kind: Any, name: str, strategies: Collection[str]) -> str:
    if isinstance(kind, inspect.Metadata):
        return f"{_wanted(kind.type, name, strategies)} or a size such as 64KiB"
    if isinstance(kind, inspect.IntType):
        return f"a positive integer (at most {(kind.lt or 0) - 1})"
    for of, wanted in _WANTED.items():
        if isinstance(kind, of):
            return wanted
    if kind.min_length:
        return "text"
    if "strategy" in name:
        return f"one of {', '.join(sorted(strategies))}"
    return (
        "a path below the working directory, such as .acode/artifacts: relative, and not leading out by '..'"
    )


def _refuse(path: KeyPath, origin: str, wanted: str, value: object) -> NoReturn:
    raise ConfigurationError(f"{origin}: {dotted(path)} must be {wanted}; it is {_shown(value)}")


def _refuse_key(
    path: KeyPath, setting: Setting, siblings: Collection[str], schema: type[msgspec.Struct]
) -> NoReturn:
    raise ConfigurationError(
        f"{setting.origin}: {dotted(path)} is not a setting (its value: {_shown(setting.value)}); "
        f"did you mean {dotted(_nearest(path, schema))}? Known here: {', '.join(siblings)}"
    )


def _nearest(path: KeyPath, schema: type[msgspec.Struct]) -> KeyPath:
    """The known key whose name is most like the last part of ``path``; its neighbours win a tie."""
    tool = path[1] if path[0] == "overrides" and len(path) > 1 else None

    def likeness(known: KeyPath) -> tuple[float, bool]:
        ratio = difflib.SequenceMatcher(None, known[-1], path[-1].lower()).ratio()
        return ratio, known[:-1] == path[:-1]

    return max(_paths(_type_of(schema), (), tool), key=likeness)


def _paths(kind: Any, above: KeyPath, tool: str | None) -> Iterator[KeyPath]:
    for name, inner in _members(kind, tool).items():
        path = (*above, name)
        yield path
        if isinstance(inner, _GROUPS):
            yield from _paths(inner, path, tool)


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple, set)):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    try:
        text = repr(value)
    except ValueError:  # an int with more digits than sys.get_int_max_str_digits()
        return "a number of thousands of digits"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
