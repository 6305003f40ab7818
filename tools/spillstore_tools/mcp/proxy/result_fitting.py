"""One result of a tool call, made to fit part by part; ``results`` describes the rules."""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING

from spillstore_tools.mcp.proxy.content import content_part, has_details, required, text_block, without
from spillstore_tools.mcp.proxy.output_schema import STAND_IN
from spillstore_tools.mcp.proxy.payloads import (
    array_lines,
    batched,
    decoded,
    decoded_size,
    joined_texts,
    repeated,
)
from spillstore_tools.mcp.proxy.previews import IN_MEMORY
from spillstore_tools.mcp.wire.raw_json import (
    dump,
    items,
    join_array,
    join_object,
    members,
    slices,
    string_parts,
)

if TYPE_CHECKING:
    from spillstore_tools.mcp.proxy.content import ContentPart
    from spillstore_tools.mcp.proxy.previews import CallPreviews
    from spillstore_tools.mcp.wire.raw_json import RawJson

TOGETHER = 32_000  # characters that are shown before all texts that follow are shown as one
BINARY = 5 * 1024 * 1024  # bytes of all base64 that stays
OTHERS = 64 * 1024  # bytes of all blocks of other kinds that stay, and of all that stands around texts
_BLOCK = 30  # characters that a block counts besides its text
_MIN_BINARY = 300  # bytes that an image or sound counts at least
_MAX_BINARIES = 16  # so many images and sounds of a result are stored alone; the others together
_OPAQUE = frozenset(
    {"requestState", "inputRequests", "taskId"}
)  # for the client, which returns or answers them
_NOT_SHOWN = frozenset({"content", "structuredContent", *_OPAQUE})


class ResultFitting:
    """A result on its way.

    Args:
        previews: makes the previews.
        fields: the members of the result.
    """

    def __init__(self, previews: CallPreviews, fields: dict[str, RawJson]) -> None:
        self._previews = previews
        self._fields = dict(fields)
        self._blocks: list[RawJson | None] = [*items(fields["content"])] if "content" in fields else []
        self._shown = 0  # characters
        self._binary_size = 0  # bytes of base64 that stay
        self._stored_binaries = 0
        self._is_changed = False

    def run(self) -> bytes | None:
        """The result as a client gets it; None if it is unchanged. To be called once.

        Raises:
            RawJsonError: it is no result.
        """
        fields = dict(self._fields)
        found = [content_part(index, block or b"null") for index, block in enumerate(self._blocks)]
        parts = [part for part in found if part is not None]
        self._fit_texts([part for part in parts if not part.is_binary])
        others = [index for index, part in enumerate(found) if part is None]
        others += [part.index for part in parts if part.is_binary and not self._fit_binary(part)]
        moved = set(others)
        left = [part for part in parts if part.index not in moved]
        self._fit_frames([part for part in left if not part.is_dropped])
        for part in left:
            if part.is_dropped or part.is_changed:
                self._blocks[part.index] = None if part.is_dropped else part.to_json()
        self._fit_others(sorted(others))
        if "structuredContent" in fields:
            self._fit_structured([part for part in parts if part.key == "text"])
        if not self._is_changed and not self._previews.artifacts:
            return None
        if "content" in fields or self._blocks:
            self._fields["content"] = join_array([each for each in self._blocks if each is not None])
        if self._previews.is_refused:
            self._fields["isError"] = b"true"
        return join_object(self._previews.with_artifacts(self._fields))

    # --- texts and base64 -------------------------------------------------------------------------------

    def _fit_texts(self, parts: list[ContentPart]) -> None:
        rest: list[ContentPart] = []
        for part in parts:
            if self._shown >= TOGETHER:
                rest.append(part)
            else:
                self._fit_text(part)
        if len(rest) == 1:
            self._fit_text(rest[0])
        elif rest:
            self._fit_together(rest)

    def _fit_text(self, part: ContentPart) -> None:
        texts = string_parts(part.data)
        content = "".join(texts) if len(part.data) <= IN_MEMORY else texts
        done = self._previews.process(content, part.index, part.media_type)
        self._shown += len(done.content) + _BLOCK
        if done.metadata.was_truncated:
            part.stored = done if done.artifact_id is not None else None
            self._replace(part, self._previews.text(done))
        elif done.redactions:
            self._redact(part)

    def _fit_together(self, parts: list[ContentPart]) -> None:
        """Show several texts as one preview in the place of the first, if they do not fit."""
        whole = batched(joined_texts(parts, len(self._blocks), self._previews.label), "")
        done = self._previews.process(whole, parts[0].index, "text/plain")
        if done.metadata.was_truncated:
            where = f"[{len(parts)} blocks of the result, from block {parts[0].index + 1} on, are shown as one:]\n"
            self._replace(parts[0], where + self._previews.text(done))
            for part in parts[1:]:
                part.is_dropped = True
        elif done.redactions:
            for part in parts:
                self._redact(part)

    def _fit_binary(self, part: ContentPart) -> bool:
        """Keep base64, or store it alone; False if it is to be stored with the blocks of other kinds."""
        size = len(part.data) // 4 * 3
        if size > BINARY - self._binary_size:
            size = decoded_size(part.data)
        if size <= BINARY - self._binary_size:
            self._binary_size += max(size, _MIN_BINARY)
            return True
        if self._stored_binaries >= _MAX_BINARIES:
            return False
        self._stored_binaries += 1
        try:
            done = self._previews.process(decoded(part.data), part.index, part.media_type)
        except (binascii.Error, UnicodeEncodeError):  # it only claims to be base64
            done = self._previews.process(string_parts(part.data), part.index, "text/plain")
        self._shown += len(done.content)
        self._replace(part, self._previews.text(done))
        return True

    def _replace(self, part: ContentPart, text: str) -> None:
        part.replace(text)
        self._is_changed = True

    def _redact(self, part: ContentPart) -> None:
        self._replace(part, self._previews.redacted_text("".join(string_parts(part.data))))

    # --- all else ---------------------------------------------------------------------------------------

    def _fit_others(self, others: list[int]) -> None:
        """Keep links and blocks of unknown kinds, or show all of them as one JSON array in the place of the first."""
        blocks = [self._blocks[index] or b"null" for index in others]
        if sum(map(len, blocks)) <= OTHERS:
            for index, block in zip(others, self._redacted(blocks), strict=True):
                self._blocks[index] = block
            return
        place = others[0]
        where = f"[{len(others)} other blocks of the result, from block {place + 1} on, as one JSON array:]\n"
        for index in others:
            self._blocks[index] = None
        self._blocks[place] = self._array_block(blocks, place, where)

    def _fit_frames(self, parts: list[ContentPart]) -> None:
        """Keep what stands around texts and beside the content, or show it as one JSON array and keep what is required."""
        own = without(self._fields, *_NOT_SHOWN)
        has_own = has_details(own)
        around = [(part, found) for part in parts if (found := part.frames())]
        frames: list[RawJson] = [join_object(own)] if has_own else []
        frames += [each for _, found in around for each in found]
        if sum(map(len, frames)) > OTHERS:
            where = "[what stands in the result besides its content, as one JSON array:]\n"
            self._blocks.append(self._array_block(frames, "besides", where))
            frames = self._redacted([join_object(required(members(each))) for each in frames])
        elif (clean := self._redacted(frames)) is frames:
            return
        else:
            frames = clean
        remaining = iter(frames)
        if has_own:
            kept = {name: each for name, each in self._fields.items() if name in _NOT_SHOWN}
            self._fields = {**kept, **members(next(remaining))}
        for part, _ in around:
            part.replace_frames(next(remaining), next(remaining))

    def _array_block(self, values: list[RawJson], place: int | str, where: str) -> bytes:
        """A block of text with a preview of values as a JSON array, which is stored."""
        self._is_changed = True
        done = self._previews.process(batched(array_lines(values), b""), place, "application/json")
        return text_block(dump(where + self._previews.text(done)))

    def _redacted(self, values: list[RawJson]) -> list[RawJson]:
        """JSON values without secrets; the same list if they hold none."""
        clean = self._previews.redacted_items(values)
        self._is_changed = self._is_changed or clean is not None
        return values if clean is None else clean

    def _fit_structured(self, texts: list[ContentPart]) -> None:
        value = self._fields["structuredContent"]
        for part in () if self._previews.is_shown_whole(value) else texts:
            if part.stored is not None and (what := repeated(part.data, value)) is not None:
                self._is_changed = True
                stand_in = self._previews.stand_in(part.stored, what)
                self._fields["structuredContent"] = dump({STAND_IN: stand_in})
                return
        content = bytes(value) if len(value) <= IN_MEMORY else slices(value)
        done = self._previews.process(content, "structuredContent", "application/json")
        if not done.metadata.was_truncated:
            if (clean := self._previews.redacted_json(value)) is not None:
                self._is_changed = True
                self._fields["structuredContent"] = clean
            return
        self._is_changed = True
        if not texts:
            self._blocks.append(text_block(dump(self._previews.text(done))))
        self._fields["structuredContent"] = dump({STAND_IN: self._previews.stand_in(done)})
