"""`.agent/config.yml`: finding it, and reading `tools.truncation` out of it.

The file belongs to several programs, so only our part of it is read; other parts may hold anything, custom tags included.
It may also come with a repository that nobody has read yet. Hence:

- Nodes are composed, never constructed, so that no tag can build an object.
- Nesting is counted from the parser's events first: libyaml's composer recurses on the C stack, and 30,000 opening
  brackets end the process (PyYAML 6.0.3, 2026-07).
- Aliases are followed, but only so many values and levels, so that a few lines cannot become a billion.
- Merge keys (`<<`) are refused: YAML 1.2 does not have them, and they multiply in the same way.
- A scalar means what ``parse_scalar`` says, the same as in the environment.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

from spillstore_tools.config.schema import ConfigurationError
from spillstore_tools.config.sources import MAX_DEPTH, KeyPath, Layer, Setting, parse_scalar

NAME = os.path.join(".agent", "config.yml")  # noqa: PTH118  # shown and joined, never opened alone
MAX_BYTES = 1024 * 1024
MAX_NESTING = 100
MAX_VALUES = 10_000
_TOO_DEEP = f"nested more than {MAX_NESTING} levels deep"

_TAG = "tag:yaml.org,2002:"
_QUOTED = {"'", '"', "|", ">"}
_PLAIN_TAGS = {_TAG + name for name in ("int", "float", "bool", "null", "str", "timestamp", "value")}


def find(directory: Path) -> Path | None:
    """The configuration file of a working directory: its own, or that of the nearest parent that has one.

    The search ends at the root, or at the folder that holds `.git`, so that a project is not configured by
    files around it.
    """
    try:
        directory = Path(os.path.abspath(directory))  # noqa: PTH100  # parents as the caller names them
    except OSError as error:
        raise ConfigurationError(f"the working directory cannot be found: {error.strerror}") from error
    for folder in (directory, *directory.parents):
        if os.path.lexists(folder / NAME):
            return folder / NAME
        if os.path.lexists(folder / ".git"):
            break
    return None


def read(path: Path) -> Layer:
    """The settings in `tools.truncation` of a file; none if that part is missing or empty.

    Raises:
        ConfigurationError: the file cannot be read, or is no YAML that can be used.
    """
    document = _Document(path)
    place = node = document.compose(_text(path))
    for name, below in (("the file", "tools"), ("tools", "truncation"), ("tools.truncation", None)):
        if _is_empty(node):
            return {}
        if node.id != "mapping":
            document.fail(place, f"{name} must be a mapping of settings, not {_kind(node)}")
        if below is not None:
            place, node = document.entries(node).get(below, (None, None))
    document.collect(node, (), place)
    return document.layer


def _text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{path}: not a regular file; name a YAML file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"{path}: the configuration cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"{path}: larger than {MAX_BYTES:,} bytes, which is all that is read")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"{path}, line {line}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8; save it as UTF-8"
        ) from error


def _is_empty(node: Any) -> bool:
    return node is None or (node.id == "scalar" and node.tag == _TAG + "null") or not node.value


def _kind(node: Any) -> str:
    return "a list" if node.id == "sequence" else repr(node.value[:60])


class _Document:
    """The settings in one file's nodes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.layer: Layer = {}
        self._values = 0

    def fail(self, node: Any, message: str) -> NoReturn:
        """Raise an error that names the line of ``node``."""
        raise ConfigurationError(f"{self.path}, line {node.start_mark.line + 1}: {message}")

    def compose(self, text: str) -> Any:
        """The document's root node; None if there is no document."""
        import yaml  # type: ignore[import-untyped]  # noqa: PLC0415  # 15 ms that most callers do not need

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        if match := yaml.reader.Reader.NON_PRINTABLE.search(text):
            line = text.count("\n", 0, match.start()) + 1
            raise ConfigurationError(
                f"{self.path}, line {line}: the character {match[0]!r} is not allowed in YAML"
            )
        try:
            self._check_nesting(yaml.parse(text, Loader=loader))
            return yaml.compose(text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            reason = ", ".join(part for part in (error.context, error.problem) if part)
            # libyaml has a limit of its own, which is higher; its scanner is ahead of the events.
            wrong = _TOO_DEEP if "nesting depth" in reason else f"not YAML: {reason}"
            raise ConfigurationError(f"{self.path}, line {error.problem_mark.line + 1}: {wrong}") from error
        except (yaml.YAMLError, ValueError) as error:  # found by no test, yet PyYAML promises nothing
            raise ConfigurationError(f"{self.path}: not YAML: {error}") from error

    def _check_nesting(self, events: Any) -> None:
        depth = 0
        for event in events:
            kind = type(event).__name__
            depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
            if depth > MAX_NESTING:
                self.fail(event, _TOO_DEEP)

    def entries(self, node: Any) -> dict[str, tuple[Any, Any]]:
        """A mapping's key and value nodes by key, as written: `on` is a tool's name, not a truth."""
        found: dict[str, tuple[Any, Any]] = {}
        for key, value in node.value:
            if key.tag == _TAG + "merge":
                self.fail(key, "the merge key << is not supported; write the settings out")
            if key.id != "scalar":
                self.fail(key, "a key must be text")
            if key.value in found:
                first = found[key.value][0].start_mark.line + 1
                self.fail(key, f"the key {key.value!r} is there twice, first in line {first}; keep one")
            found[key.value] = (key, value)
        return found

    def collect(self, node: Any, path: KeyPath, place: Any) -> None:
        """Put the settings below ``node`` into the layer; errors name the line of the key at ``place``."""
        if node.id == "mapping" and node.value:
            self._count(path, place)
            for name, (key, value) in self.entries(node).items():
                self.collect(value, (*path, name), key)
        else:
            origin = f"{self.path}, line {place.start_mark.line + 1}"
            self.layer[path] = Setting(self._value(node, path, place), origin)

    def _count(self, path: KeyPath, place: Any) -> None:
        self._values += 1
        if self._values > MAX_VALUES or len(path) > MAX_DEPTH:
            self.fail(
                place,
                f"tools.truncation holds more than {MAX_VALUES:,} values or {MAX_DEPTH} levels, aliases followed",
            )

    def _value(self, node: Any, path: KeyPath, place: Any) -> object:
        self._count(path, place)
        if node.id == "sequence":
            return [self._value(inner, (*path, ""), place) for inner in node.value]
        if node.id == "mapping":
            return {}
        if node.tag not in _PLAIN_TAGS:
            self.fail(node, f"the tag {node.tag} is not allowed here; write a plain value")
        return node.value if node.style in _QUOTED else parse_scalar(node.value)
