"""Where truncation settings come from, each source as a flat table from key path to value.

A flat table makes the rest short: a later source is laid over an earlier one by ``dict`` union, every value carries
the place that an error names, and a check looks at one path at a time. Nested dictionaries were tried first; merging
them needed recursion in three places and lost the origin.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from spillstore.settings import BOOLEANS
from spillstore_tools.config.schema import ToolOverride

if TYPE_CHECKING:
    from collections.abc import Iterable

KeyPath = tuple[str, ...]

DEFAULT = "default"
MAX_DEPTH = 8  # the deepest key has 4 parts; more is a mistake or an object that contains itself

_PREFIX = "SPILLSTORE_TRUNCATION__"
_SHORT: dict[str, KeyPath] = {
    "SPILLSTORE_INLINE_LIMIT": ("inline_limit",),
    "SPILLSTORE_ARTIFACT_THRESHOLD": ("artifact_threshold",),
    "SPILLSTORE_MAX_ARTIFACT_SIZE": ("max_artifact_size",),
    "SPILLSTORE_STRATEGY": ("strategy",),
    "SPILLSTORE_HEAD_RATIO": ("head_ratio",),
}
_WORDS: dict[str, bool | None] = {
    **{word: value for word, value in BOOLEANS.items() if not word.isdigit()},
    **dict.fromkeys(("", "null", "~"), None),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """A value and its source, as an error names it.

    Attributes:
        value: the value, read as a scalar of YAML.
        origin: the file and line, the variable or the argument.
        text: the text of a variable, which has no types of its own; None elsewhere.
    """

    value: object
    origin: str
    text: str | None = None


Layer = dict[KeyPath, Setting]


def dotted(path: Iterable[str]) -> str:
    """A key as a person writes it.

    >>> dotted(("overrides", "read_file", "inline_limit"))
    'tools.truncation.overrides.read_file.inline_limit'
    """
    return ".".join(("tools", "truncation", *path))


def parse_scalar(text: str) -> object:
    """The value of a plain YAML scalar: integer, float, boolean, None or else text.

    A number with a leading zero stays text, because YAML 1.1 reads it as octal and YAML 1.2 as decimal.

    >>> [parse_scalar(text) for text in ("8_000", "0.6", "Yes", "~", "tail", "010")]
    [8000, 0.6, True, None, 'tail', '010']
    """
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    if word.isascii() and any(character.isdigit() for character in word):
        with contextlib.suppress(ValueError):
            return int(word, 0)
        if not word.lstrip("+-0").isdigit():
            with contextlib.suppress(ValueError):
                return float(word)
    return text


def from_mapping(values: Mapping[str, object], origin: str | None = None, above: KeyPath = ()) -> Layer:
    """The settings of nested mappings; None is no setting.

    Args:
        values: settings by name, groups as mappings.
        origin: the source that errors name; None for "argument" and the key.
        above: the keys of the mappings around this one.
    """
    layer: Layer = {}
    for key, value in values.items():
        path = (*above, str(key))
        if isinstance(value, Mapping) and value and len(path) < MAX_DEPTH:
            layer |= from_mapping(value, origin, path)
        elif value is not None:
            layer[path] = Setting(value, origin or f"argument {'.'.join(path)}")
    return layer


def from_environment(environment: Mapping[str, str]) -> Layer:
    """The settings of the process's environment; an empty variable counts as not set.

    >>> list(from_environment({"SPILLSTORE_TRUNCATION__OVERRIDES__READ_FILE__HEAD_RATIO": "0.7"}))
    [('overrides', 'read_file', 'head_ratio')]
    """
    paths = {name: _path_of(name) for name in sorted(environment) if name.startswith(_PREFIX)}
    # The short names come last: they win over the long name of the same key.
    return {
        path: Setting(_unquoted(environment[name]), f"environment variable {name}", environment[name])
        for name, path in (paths | _SHORT).items()
        if environment.get(name)
    }


def lay_over(lower: Layer, upper: Layer) -> Layer:
    """The settings of an upper source over a lower one; they beat the lower one's settings of single tools, too."""
    kept = {
        path: setting for path, setting in lower.items() if not (path[0] == "overrides" and path[2:] in upper)
    }
    merged = kept | upper
    if strategy := merged.pop(("strategy",), None):
        merged["default_strategy",] = strategy
    return merged


def nested(layer: Layer) -> dict[str, object]:
    """The settings as nested dictionaries.

    >>> nested({("artifacts", "cleanup_on_exit"): Setting(True, "default")})
    {'artifacts': {'cleanup_on_exit': True}}
    """
    tree: dict[str, object] = {}
    for (*groups, key), setting in layer.items():
        inner = tree
        for group in groups:
            inner = inner.setdefault(group, {})  # type: ignore[assignment]  # no key is also a group: checked
        inner[key] = setting.value
    return tree


def _path_of(name: str) -> KeyPath:
    parts = name.removeprefix(_PREFIX).split("__")
    path = tuple(part.lower() for part in parts)
    if path[0] != "overrides":
        return path
    # A tool's name may hold "__" itself, as those of MCP servers do: it ends where a setting's name begins.
    keys = ToolOverride.__struct_fields__
    end = next((at for at in range(2, len(path)) if path[at] in keys), 2)
    tool = "__".join(parts[1:end])
    return ("overrides", tool.lower() if tool.isupper() else tool, *path[end:])


def _unquoted(text: str) -> object:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return parse_scalar(text)
