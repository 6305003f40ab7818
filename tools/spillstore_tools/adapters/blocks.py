"""Results that are content blocks: which of them are text, and the same result with other texts in their place.

A block is a mapping or an object, as frameworks and protocols have them: ``{"type": "text", "text": ...}``, ``{"text": ...}``,
``{"json": ...}``, ``{"type": "image", ...}``, ``{"image": ...}``, an embedded resource of MCP with its text. Blocks stand in a
list, or in the member ``content`` of a result, which may have a structured value beside them.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_OTHER_TYPES = frozenset(
    {
        *("image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file"),
        *("document", "resource", "resource_link", "search_result"),
    }
)
_NAMED = frozenset(
    {"image", "document", "video", "audio", "cachePoint", "guardContent"}
)  # blocks of one member
_STRUCTURED = ("structuredContent", "structured_content")


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A block that has a text, or a value to be shown as JSON.

    Attributes:
        index: its place in the list, from 0.
        value: the text, or the value.
        is_json: whether it is a value.
    """

    index: int
    value: object
    is_json: bool = False


def list_of(result: object) -> list[Any] | None:
    """The blocks of a result: itself, or what its member ``content`` has; None for anything else."""
    found = result
    if isinstance(result, Mapping):
        found = result.get("content")
    elif not isinstance(result, (list, tuple)):
        found = getattr(result, "content", None)
    if not isinstance(found, (list, tuple)) or not found:
        return None
    return list(found) if all(is_block(each) for each in found) else None


def is_block(value: object) -> bool:
    """Whether a value is a content block of a known kind."""
    kind = member(value, "type")
    if isinstance(kind, str):
        return kind in _OTHER_TYPES or (kind in TEXT_TYPES and isinstance(member(value, "text"), str))
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    (name,) = value
    return name in _NAMED or name == "json" or (name == "text" and isinstance(value[name], str))


def parts_of(blocks: list[Any]) -> list[Part]:
    """The blocks that have a text or a value; a text that stands for itself counts as one."""
    found = []
    for index, block in enumerate(blocks):
        if isinstance(block, str):
            found.append(Part(index, block))
        elif isinstance(text := member(_holder(block), "text"), str):
            found.append(Part(index, text))
        elif isinstance(block, Mapping) and len(block) == 1 and "json" in block:
            found.append(Part(index, block["json"], is_json=True))
    return found


def with_text(block: Any, text: str) -> Any:
    """The same block with another text; one of a value becomes one of text."""
    if isinstance(block, str):
        return text
    if isinstance(block, Mapping) and len(block) == 1 and "json" in block:
        return {"text": text}
    holder = _holder(block)
    changed = with_member(holder, "text", text)
    return changed if holder is block else with_member(block, "resource", changed)


def with_value(block: Any, value: object) -> Any:
    """The same block of a value with another one."""
    return with_member(block, "json", value)


def with_blocks(result: Any, blocks: list[Any]) -> Any:
    """The same result with other blocks."""
    if isinstance(result, list):
        return blocks
    return tuple(blocks) if isinstance(result, tuple) else with_member(result, "content", blocks)


def structured_of(result: object) -> tuple[str, object] | None:
    """The member with the structured value of a result of MCP, and the value; None if it has none."""
    for name in () if isinstance(result, (list, tuple)) else _STRUCTURED:
        if (value := member(result, name)) is not None:
            return name, value
    return None


def member(value: object, name: str) -> Any:
    """A member of a mapping, or an attribute of an object; None if there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def with_member(value: Any, name: str, new: object) -> Any:
    """A copy with one other member; what it holds besides is the same."""
    if isinstance(value, Mapping):
        return {**value, name: new}
    if callable(getattr(value, "model_copy", None)):  # a pydantic model
        return value.model_copy(update={name: new})
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **{name: new})  # type: ignore[type-var]  # it is no class
    changed = copy.copy(value)
    setattr(changed, name, new)
    return changed


def _holder(block: Any) -> Any:
    """What has the text of a block: itself, or the resource that is embedded in it."""
    return member(block, "resource") if member(block, "type") == "resource" else block
