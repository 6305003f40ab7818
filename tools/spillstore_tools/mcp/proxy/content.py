"""The content of a result: blocks with a text or base64, and what stands around these."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from spillstore_tools.mcp.wire.raw_json import RawJsonError, dump, join_object, members, string_or_none

if TYPE_CHECKING:
    from spillstore_tools.mcp.wire.raw_json import RawJson
    from spillstore_tools.output.truncation_result import TruncationResult

_OF_ANY_BLOCK = frozenset({"annotations", "_meta"})
_SHORT = 200  # bytes of a member
_REQUIRED = frozenset({"type", "isError", "mimeType", "resultType", "uri", "task", "ttlMs"})
_USUAL = frozenset({"type", "isError", "mimeType", "resultType"})
_USUAL_VALUE = re.compile(rb'true|false|null|"[a-z_]{1,20}"|"[a-z]{1,20}\\?/[a-z0-9.+-]{1,60}"')
_BASE64 = re.compile(rb'"[A-Za-z0-9+/]*+(?>\\[/rn][A-Za-z0-9+/]*+)*+={0,2}(?>\\[rn])*+"')


@dataclasses.dataclass(slots=True)
class ContentPart:
    """A block with a text or base64, and what replaces that.

    Attributes:
        index: the place of the block in the content, from 0.
        block: the members of the block.
        resource: the members of the resource in the block; None if it has none.
        key: the member, of the resource or else of the block, that has the text or base64.
        description: the kind of the block, for a reader.
        is_binary: the member is base64.
        shown: the text that replaces it; None if it stays.
        stored: how the text was stored, if it was stored alone.
        is_dropped: the block is shown in another one.
        is_changed: the block is not as it came.
    """

    index: int
    block: dict[str, RawJson]
    resource: dict[str, RawJson] | None
    key: str
    description: str
    is_binary: bool = False
    shown: str | None = None
    stored: TruncationResult | None = None
    is_dropped: bool = False
    is_changed: bool = False

    @property
    def data(self) -> RawJson:
        """The text or base64, as a JSON string."""
        return (self.block if self.resource is None else self.resource)[self.key]

    @property
    def media_type(self) -> str | None:
        """The media type that the server gives."""
        return string_or_none((self.resource or self.block).get("mimeType"))

    def replace(self, text: str) -> None:
        """Show ``text`` in place of the text or base64."""
        self.shown = text
        self.is_changed = True

    def frames(self) -> list[RawJson]:
        """The other members of the block and of the resource, as two objects; empty if they are only the usual ones."""
        outer = without(self.block, self.key if self.resource is None else "resource")
        inner = {} if self.resource is None else without(self.resource, self.key)
        if not has_details(outer) and not has_details(inner):
            return []
        return [join_object(outer), join_object(inner)]

    def replace_frames(self, outer: RawJson, inner: RawJson) -> None:
        """Put other members around the text."""
        self.is_changed = True
        if self.resource is None:
            self.block = {**members(outer), self.key: self.block[self.key]}
            return
        self.resource = {**members(inner), self.key: self.resource[self.key]}
        self.block = {**members(outer), "resource": join_object(self.resource)}

    def to_json(self) -> bytes:
        """The block as it is shown; a replaced base64 becomes a block of text."""
        if self.shown is None:
            return join_object(self.block)
        text = dump(self.shown)
        if self.key == "text" and self.resource is None:
            return join_object({**self.block, "text": text})
        if self.key == "text" and self.resource is not None:
            return join_object({**self.block, "resource": join_object({**self.resource, "text": text})})
        return text_block(text, {name: each for name, each in self.block.items() if name in _OF_ANY_BLOCK})


def content_part(index: int, block: RawJson) -> ContentPart | None:
    """The text or base64 of a block; None for blocks of other kinds, and for what is no block."""
    try:
        fields = members(block)
        kind = string_or_none(fields.get("type"))
        if kind == "text" and is_string(fields.get("text")):
            return ContentPart(index, fields, None, "text", "text")
        if kind in {"image", "audio"} and is_string(fields.get("data")):
            return ContentPart(index, fields, None, "data", kind, is_binary=_is_base64(fields["data"]))
        if kind == "resource" and "resource" in fields:
            resource = members(fields["resource"])
            description = f"resource {string_or_none(resource.get('uri')) or ''}".strip()
            for key in ("text", "blob"):
                if is_string(resource.get(key)):
                    is_binary = key == "blob" and _is_base64(resource[key])
                    return ContentPart(index, fields, resource, key, description, is_binary=is_binary)
    except RawJsonError:
        pass
    return None


def text_block(text: bytes, more: dict[str, RawJson] | None = None) -> bytes:
    """A block of text."""
    return join_object({"type": b'"text"', "text": text, **(more or {})})


def is_string(data: RawJson | None) -> bool:
    """Whether a value is a string."""
    return data is not None and bytes(data[:1]) == b'"'


def without(fields: dict[str, RawJson], *names: str) -> dict[str, RawJson]:
    """The members but for some."""
    return {name: each for name, each in fields.items() if name not in names}


def has_details(fields: dict[str, RawJson]) -> bool:
    """Whether there are members that not every result and block has."""
    return any(name not in _USUAL or not _USUAL_VALUE.fullmatch(each) for name, each in fields.items())


def required(fields: dict[str, RawJson]) -> dict[str, RawJson]:
    """The short members without which a result or a block is not valid."""
    return {name: each for name, each in fields.items() if name in _REQUIRED and len(each) <= _SHORT}


def _is_base64(data: RawJson) -> bool:
    """Whether a string is base64 throughout; what only claims to be is handled as text, which may hold secrets."""
    return _BASE64.fullmatch(data) is not None
