"""Places in JSON: their paths, and where they stand in the text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore_tools.preview.structured.json_tree import Value

Where: TypeAlias = (
    "tuple[str | int, ...]"  # names of members and indices of elements, from the outermost value on
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def member_step(name: str) -> str:
    r"""The step of a JSONPath to the member of a name.

    Example:
        >>> member_step("users"), member_step("it's")
        ('.users', "['it\\'s']")
    """
    if _NAME.fullmatch(name):
        return f".{name}"
    return "['" + json.dumps(name)[1:-1].replace('\\"', '"').replace("'", "\\'") + "']"


def path_of(where: Where) -> str:
    """The JSONPath of a place.

    Example:
        >>> path_of(("items", 7, "error"))
        '$.items[7].error'
    """
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else member_step(step) for step in where)


def name_at(text: str, value: Value, index: int) -> str:
    """The name of a member of an object."""
    return str(json.JSONDecoder(strict=False).raw_decode(text, value.opened(text)[index][0])[0])


def value_at(text: str, root: Value, where: Where) -> Value:
    """The value at a place, which is there; of members of one name the last."""
    value = root
    for step in where:
        parts = value.opened(text)
        index = (
            step
            if isinstance(step, int)
            else max(each for each in parts.indices() if name_at(text, value, each) == step)
        )
        value = value.part(text, index)
    return value
