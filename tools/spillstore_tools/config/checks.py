"""Whether settings can be used, and the sentence that says why not.

Keys and types are read from ``schema``, and msgspec checks each value. Its own messages would lack the source and its line, the
value, and the key that was meant.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import posixpath
import re
import types
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias, get_args, get_origin, get_type_hints

import msgspec

from spillstore.exceptions import InvalidSettingError
from spillstore.settings import parse_bool, parse_size
from spillstore_tools.config.schema import ConfigurationError
from spillstore_tools.config.sources import KeyPath, Layer, Setting, dotted
from spillstore_tools.describe import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_SHOWN = 60
# A group of settings (a struct, or a dictionary of them) or the annotated type of one setting.
_Type: TypeAlias = Any


def checked(
    layer: Layer, schema: type[msgspec.Struct], strategies: Collection[str], *, read: bool = True
) -> Layer:
    """The settings of a source, without its empty groups.

    Args:
        layer: the source.
        schema: the type whose keys it may set.
        strategies: the names that a strategy may have.
        read: read sizes and switches that are given as text; else such a text is refused.

    Raises:
        ConfigurationError: an unknown key, or a value that is not allowed.
    """
    found: Layer = {}
    for path, setting in layer.items():
        kind = _type_of(path, setting, schema, strategies)
        if kind is not None:
            found[path] = _read(setting, _details(kind).get("reads")) if read else setting
            _check_value(path, found[path], kind, strategies)
    return found


def _type_of(
    path: KeyPath, setting: Setting, schema: type[msgspec.Struct], strategies: Collection[str]
) -> _Type:
    """The type of the setting at a path; None for a group without settings."""
    kind: _Type = schema
    for depth, part in enumerate(path, 1):
        if not _is_group(kind):
            _refuse(path[: depth - 1], setting.origin, _allowed(kind, strategies), {})
        inner = _members(kind, part).get(part)
        if inner is None:
            value = setting.value if depth == len(path) else {}
            _refuse_key(path[:depth], Setting(value, setting.origin), _members(kind), schema)
        kind = inner
    if not _is_group(kind):
        return kind
    if setting.value is not None and setting.value != {}:
        _refuse(path, setting.origin, "a mapping of settings", setting.value)
    return None


def _read(setting: Setting, reads: str | None) -> Setting:
    """The setting with its text read; unchanged if its type is not given as text, or the text means nothing."""
    with contextlib.suppress(InvalidSettingError):
        if reads == "bool" and setting.text is not None:
            return dataclasses.replace(setting, value=parse_bool(setting.origin, setting.text))
        if reads == "size" and isinstance(setting.value, str):
            return dataclasses.replace(setting, value=parse_size(setting.origin, setting.value))
    return setting


def _check_value(path: KeyPath, setting: Setting, kind: _Type, strategies: Collection[str]) -> None:
    names = _details(kind).get("names")
    try:
        value: Any = msgspec.convert(setting.value, kind)
        right = (names != "strategy" or value in strategies) and (names != "folder" or _is_below(value))
    except msgspec.ValidationError:
        right = False
    if not right:
        wrong = setting.value
        if names == "folder" and isinstance(wrong, str):  # what follows may hold a password
            wrong = re.sub("://.*", "://...", wrong, flags=re.DOTALL)
        _refuse(path, setting.origin, _allowed(kind, strategies), wrong)


def _is_below(folder: str) -> bool:
    """Whether a path stays below the folder that it is relative to; links are the store's to refuse, and a URL leads elsewhere."""
    normal = posixpath.normpath(folder)
    return "://" not in folder and not (
        normal.startswith(("/", "../", "~")) or normal in {".", ".."} or "\0" in folder
    )


def _origin(kind: _Type) -> Any:
    """``dict`` for a dictionary's type, ``Annotated`` for an annotated one."""
    return get_origin(kind)


def _is_group(kind: _Type) -> bool:
    return _origin(kind) is dict or (isinstance(kind, type) and issubclass(kind, msgspec.Struct))


def _members(kind: _Type, tool: str | None = None) -> Mapping[str, _Type]:
    """The types in a group by key; a dictionary has whatever key is asked for as ``tool``."""
    if _origin(kind) is dict:
        return {} if tool is None else {tool: get_args(kind)[1]}
    return _fields(kind)


@functools.cache
def _fields(schema: type[msgspec.Struct]) -> dict[str, _Type]:
    hints = get_type_hints(schema, include_extras=True)
    return {name: _without_none(hints[name]) for name in schema.__struct_fields__}


def _without_none(kind: _Type) -> _Type:
    """The type without the None that stands for a setting that is not made."""
    optional = _origin(kind) is not Annotated and types.NoneType in get_args(kind)
    return next(each for each in get_args(kind) if each is not types.NoneType) if optional else kind


def _meta(kind: _Type) -> msgspec.Meta:
    """The description and the limits of a setting's type."""
    meta: msgspec.Meta = kind.__metadata__[0]
    return meta


def _details(kind: _Type) -> dict[str, Any]:
    return _meta(kind).extra or {}


def _allowed(kind: _Type, strategies: Collection[str]) -> str:
    """Which values a setting may have, in words."""
    words = _meta(kind).description or ""
    return f"{words} {', '.join(sorted(strategies))}" if _details(kind).get("names") == "strategy" else words


def _refuse(path: KeyPath, origin: str, allowed: str, value: object) -> NoReturn:
    raise ConfigurationError(f"{origin}: {dotted(path)} must be {allowed}; it is {_shown(value)}")


def _refuse_key(
    path: KeyPath, setting: Setting, siblings: Collection[str], schema: type[msgspec.Struct]
) -> NoReturn:
    raise ConfigurationError(
        f"{setting.origin}: {dotted(path)} is not a setting (its value: {_shown(setting.value)}); "
        f"did you mean {dotted(_nearest(path, schema))}? Known here: {', '.join(siblings)}"
    )


def _nearest(path: KeyPath, schema: type[msgspec.Struct]) -> KeyPath:
    """The known key whose name is most like the last part of ``path``; its neighbours win a tie."""
    import difflib  # noqa: PLC0415  # only for errors

    tool = path[1] if path[0] == "overrides" and len(path) > 1 else None

    def likeness(known: KeyPath) -> tuple[float, bool]:
        ratio = difflib.SequenceMatcher(None, known[-1], path[-1].lower()).ratio()
        return ratio, known[:-1] == path[:-1]

    return max(_paths(schema, (), tool), key=likeness)


def _paths(kind: _Type, above: KeyPath, tool: str | None) -> Iterator[KeyPath]:
    for name, inner in _members(kind, tool).items():
        path = (*above, name)
        yield path
        if _is_group(inner):
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
    return shown(value, _SHOWN)
