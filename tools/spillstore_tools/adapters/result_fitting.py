"""One tool result made to fit: what is too large is stored and shown in part, all else stays the very object that it was.

Texts and values are fed to the store in slices, so the only copy of a large result is the framework's own. Of several blocks each
text is shown alone until ``TOGETHER`` characters are shown; those behind are stored and shown as one.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import StorageError
from spillstore_tools.adapters import blocks as content
from spillstore_tools.adapters.json_pieces import is_jsonable, is_small, json_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from spillstore_tools.output.truncation import TruncationProcessor
    from spillstore_tools.output.truncation_result import TruncationResult

TOGETHER = 32_000  # characters that are shown before all texts that follow are shown as one
_SLICE = 64 * 1024
_JSON = "application/json"


class ResultFitting:
    """A result on its way to the model.

    Args:
        processor: decides what is shown, and stores the rest.
        tool: the tool that has returned it.
        command: what the tool was asked for, or None.
        call_id: the tool call that it answers, or None.

    Attributes:
        artifact_ids: where what is shown in part is stored whole, in the order of the blocks.
        is_refused: the profile has refused something as too large.
    """

    def __init__(
        self, processor: TruncationProcessor, tool: str, command: str | None, call_id: str | None
    ) -> None:
        self.artifact_ids: list[str] = []
        self.is_refused = False
        self._processor = processor
        self._tool = tool
        self._command = command
        self._call_id = call_id
        self._shown = 0  # characters

    def fit(self, result: Any, *, as_blocks: bool = False) -> Any:
        """What the model is shown: the result itself where nothing is changed.

        Args:
            result: of any type; one that is neither text nor bytes, an open file, blocks or JSON is not changed.
            as_blocks: a list is content blocks, whatever is in it.

        Raises:
            StorageError: it could not be stored.
        """
        if isinstance(result, str):
            return self._text(result)
        if isinstance(result, (bytes, bytearray, memoryview)):
            return self._bytes(result)
        if callable(getattr(result, "read", None)):
            return self._process(result, None).content
        if as_blocks and isinstance(result, (list, tuple)):
            return self._result(result, list(result))
        if (blocks := content.list_of(result)) is not None:
            return self._result(result, blocks)
        return self._value(result) if is_jsonable(result) else result

    # --- texts, bytes and values ------------------------------------------------------------------------

    def _text(self, text: str) -> str:
        done = self._process(text if len(text) <= _SLICE else _slices(text), None)
        if done.metadata.was_truncated:
            return done.content
        return self._processor.redacted(text, self._tool) if done.redactions else text

    def _bytes(self, data: bytes | bytearray | memoryview) -> object:
        done = self._process(data if isinstance(data, bytes) else _byte_slices(memoryview(data)), None)
        if done.metadata.was_truncated:
            return done.content
        if not done.redactions:
            return data
        text = bytes(data).decode(errors="surrogateescape")
        return self._processor.redacted(text, self._tool).encode(errors="surrogateescape")

    def _value(self, value: Any) -> Any:
        """The value itself, one without secrets, or the text that is shown of it."""
        if value is None or isinstance(value, (bool, int, float)):
            return value
        small = is_small(value)
        done = self._process("".join(json_pieces(value)) if small else json_pieces(value), _JSON)
        if done.metadata.was_truncated:
            return done.content
        if not done.redactions:
            return value
        jsonable = value if small else json.loads("".join(json_pieces(value)))
        return self._processor.redacted_value(jsonable, self._tool)

    def _process(
        self, data: str | bytes | IO[bytes] | Iterator[str] | Iterator[bytes], kind: str | None
    ) -> TruncationResult:
        done = self._processor.process(
            data, self._tool, command=self._command, tool_call_id=self._call_id, content_type=kind
        )
        if done.storage_error is not None:
            raise StorageError(done.storage_error)
        if done.artifact_id is not None:
            self.artifact_ids.append(done.artifact_id)
        self.is_refused = self.is_refused or done.is_error
        self._shown += len(done.content)
        return done

    # --- blocks -----------------------------------------------------------------------------------------

    def _result(self, result: Any, blocks: list[Any]) -> Any:
        parts = content.parts_of(blocks)
        fitted: list[Any] = list(blocks)
        rest = list(itertools.dropwhile(lambda part: self._fits_alone(part, fitted), parts))
        if len(rest) == 1:
            self._fit_block(rest[0], fitted)
        elif rest:
            self._fit_together(rest, fitted)
        if any(new is not old for new, old in zip(fitted, blocks, strict=True)):
            result = content.with_blocks(result, [block for block in fitted if block is not None])
        return self._with_structured(result, parts)

    def _fits_alone(self, part: content.Part, fitted: list[Any]) -> bool:
        """Fit a block by itself; False, with nothing done, where enough is shown."""
        if self._shown >= TOGETHER:
            return False
        self._fit_block(part, fitted)
        return True

    def _fit_block(self, part: content.Part, fitted: list[Any]) -> None:
        block = fitted[part.index]
        if part.is_json:
            shown = self._value(part.value)
            if shown is not part.value:
                change = (
                    content.with_text
                    if isinstance(shown, str) and not isinstance(part.value, str)
                    else content.with_value
                )
                fitted[part.index] = change(block, shown)
        else:
            text = self._text(str(part.value))
            if text is not part.value:
                fitted[part.index] = content.with_text(block, text)

    def _fit_together(self, parts: list[content.Part], fitted: list[Any]) -> None:
        """Show several blocks as one in the place of the first, if they do not fit."""
        first = parts[0].index
        done = self._process(_joined(parts, len(fitted)), None)
        if done.metadata.was_truncated:
            where = f"[{len(parts)} blocks of the result, from block {first + 1} on, are shown as one:]\n"
            for part in parts[1:]:
                fitted[part.index] = None
            fitted[first] = content.with_text(fitted[first], where + done.content)
        elif done.redactions:
            for part in parts:
                self._fit_block(part, fitted)

    def _with_structured(self, result: Any, parts: list[content.Part]) -> Any:
        """A structured value that is too large is replaced by a short one that says where it is stored."""
        if (found := content.structured_of(result)) is None:
            return result
        name, value = found
        before = list(self.artifact_ids)
        if before and any(_is_repeated(part, value) for part in parts):
            stand_in: dict[str, object] = {"artifact_id": before[0]}
        elif (shown := self._value(value)) is value:
            return result
        elif not isinstance(shown, str) or isinstance(value, str):
            return content.with_member(result, name, shown)
        else:
            stand_in = {"artifact_id": next(iter(self.artifact_ids[len(before) :]), None), "preview": shown}
        return content.with_member(result, name, {"spillstore": stand_in})


def _slices(text: str) -> Iterator[str]:
    return (text[at : at + _SLICE] for at in range(0, len(text), _SLICE))


def _byte_slices(data: memoryview) -> Iterator[bytes]:
    data = data.cast("B")
    return (bytes(data[at : at + _SLICE]) for at in range(0, len(data), _SLICE))


def _texts_of(part: content.Part) -> Iterator[str]:
    return json_pieces(part.value) if part.is_json else _slices(str(part.value))


def _joined(parts: list[content.Part], count: int) -> Iterator[str]:
    """The texts of several blocks as one, each with a line before it that names the block."""
    for part in parts:
        yield f"--- block {part.index + 1} of {count} ---\n"
        last = ""
        for last in _texts_of(part):
            yield last
        if not last.endswith("\n"):
            yield "\n"


def _is_repeated(part: content.Part, value: object) -> bool:
    """Whether a text is the same JSON as a structured value, or what libraries wrap as ``{"result": text}``."""
    if part.is_json or not isinstance(part.value, str):
        return False
    if isinstance(value, dict) and value.keys() == {"result"} and value["result"] == part.value:
        return True
    if part.value[:1] not in ("{", "["):
        return False
    from spillstore_tools.mcp.wire.json_digest import digest  # noqa: PLC0415  # few results have both

    try:
        return digest(_slices(part.value)) == digest(json_pieces(value))
    except (TypeError, ValueError):  # one of them is no JSON
        return False
