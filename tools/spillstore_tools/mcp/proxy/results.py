"""Results of tool calls made to fit: what is too large for the model is stored, and a preview takes its place.

- Text: a block of text, or a resource with text, is processed alone, in order. What the profile shows whole stays byte for byte
  as it came, but for secrets. Once ``TOGETHER`` characters are shown, all texts that follow are stored together and shown as
  one preview, so that a thousand small blocks are as bounded as a large one.
- Base64: images, sounds and blobs stay up to ``BINARY`` bytes of all of them; beyond, the bytes are stored and a text says what
  they are.
- Other blocks: links and blocks of unknown kinds stay up to ``OTHERS`` bytes, and are stored together beyond. So is what stands
  around the content: metadata, annotations, members of unknown meaning.
- A structured value that is too large is replaced by a stand-in, which says where it is stored and has the preview, because many
  clients show a model the structured value and not the text; ``output_schema`` relaxes the schema. The preview stands in the
  content as well only if there is no text: servers repeat the value as text. A repeated value is stored once.

Nothing is passed on because it could not be handled. What is no result, or cannot be processed, is shown and stored as one
text without its secrets (``ResultFitter.as_text``); where that fails too, a text says that it is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore_tools.mcp.proxy.content import is_string, text_block, without
from spillstore_tools.mcp.proxy.notes import in_words
from spillstore_tools.mcp.proxy.output_schema import STAND_IN
from spillstore_tools.mcp.proxy.previews import ALWAYS_SHOWN, CallPreviews
from spillstore_tools.mcp.proxy.result_fitting import OTHERS, ResultFitting
from spillstore_tools.mcp.wire.messages import INTERNAL_ERROR, members_of
from spillstore_tools.mcp.wire.raw_json import (
    RawJsonError,
    dump,
    join_array,
    join_object,
    members,
    slices,
    string_parts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.mcp.proxy.listing import OwnToolNames
    from spillstore_tools.mcp.wire.messages import ToolCall
    from spillstore_tools.mcp.wire.raw_json import RawJson
    from spillstore_tools.output.truncation import TruncationProcessor
    from spillstore_tools.output.truncation_result import TruncationResult

_CODE = re.compile(rb"-?[0-9]{1,18}")


class ResultFitter:
    """Makes results and errors of tool calls fit.

    Args:
        processor: decides what is shown, and stores the rest.
        names: returns the present names of the own tools, for notices.
    """

    def __init__(self, processor: TruncationProcessor, names: Callable[[], OwnToolNames]) -> None:
        self._processor = processor
        self._names = names

    def fit(self, result: RawJson, call: ToolCall) -> bytes | None:
        """The result as a client gets it; None if it is to stay as it is.

        Raises:
            RawJsonError: it is no result of the protocol.
        """
        return ResultFitting(self._previews(call), members(result)).run()

    def fit_error(self, error: RawJson, call: ToolCall) -> bytes | None:
        """An error as a client gets it; None if it is to stay as it is. Its message and data are stored if they are too large.

        Raises:
            RawJsonError: it is no error of the protocol.
        """
        fields = members(error)
        others = without(fields, "code", "message", "data")
        is_error = _CODE.fullmatch(fields.get("code", b"")) and is_string(fields.get("message"))
        if not is_error or sum(map(len, others.values())) > OTHERS:
            raise RawJsonError("not a JSON-RPC error")
        previews = self._previews(call)
        changed: dict[str, RawJson] = {}
        shown: dict[str, RawJson] = dict(fields)
        clean = previews.redacted_json(join_object(others)) if others else None
        if clean is not None:
            shown = {**without(fields, *others), **members(clean)}
        for name, media_type in (("message", None), ("data", "application/json")):
            if name in fields and (fit := _fit_member(previews, fields[name], name, media_type)) is not None:
                changed[name] = fit
        return None if clean is None and not changed else join_object({**shown, **changed})

    def as_text(self, result: RawJson, call: ToolCall, why: BaseException) -> bytes:
        """A result that replaces one that cannot be handled: all of that as one text without secrets, stored if it is long."""
        previews = self._previews(call)
        text, done = self._text(previews, f"The result of {call.tool}", result, why)
        is_error = (
            done is None or previews.is_refused or bytes(members_of(result).get("isError", b"")) == b"true"
        )
        fields: dict[str, RawJson] = {
            "content": join_array([text_block(dump(text))]),
            "isError": b"true" if is_error else b"false",
        }
        if done is not None and done.artifact_id is not None and b'"structuredContent"' in bytes(result):
            fields["structuredContent"] = dump({STAND_IN: previews.stand_in(done, "the whole result")})
        return join_object(previews.with_artifacts(fields))

    def error_as_text(self, error: RawJson, call: ToolCall, why: BaseException) -> bytes:
        """An error that replaces one that cannot be handled, likewise."""
        text, _ = self._text(self._previews(call), f"The error of {call.tool}", error, why)
        return join_object({"code": dump(INTERNAL_ERROR), "message": dump(text)})

    def _previews(self, call: ToolCall) -> CallPreviews:
        return CallPreviews(self._processor, self._names, call)

    @staticmethod
    def _text(
        previews: CallPreviews, what: str, answer: RawJson, why: BaseException
    ) -> tuple[str, TruncationResult | None]:
        """The text for an answer that cannot be handled, and how the answer was processed; None if that failed."""
        problem = f"{what} is not as the protocol has it, or too much ({in_words(why)})"
        for media_type in ("application/json", "text/plain"):  # what reads JSON may be what fails
            try:
                done = previews.process(slices(answer), "result", media_type)
                return f"[{problem}; as text:]\n{previews.text(done)}", done
            except Exception as error:  # noqa: BLE001  # whatever it is, the answer must not pass as it came
                failure = type(error).__name__
        return f"[{problem}; its {len(answer)} bytes are left out and not stored ({failure})]\n", None


def _fit_member(previews: CallPreviews, data: RawJson, name: str, media_type: str | None) -> bytes | None:
    """A member of an error, made to fit; None if it stays."""
    if len(data) > ALWAYS_SHOWN:
        done = previews.process(string_parts(data) if is_string(data) else slices(data), name, media_type)
        if done.metadata.was_truncated:
            return dump(previews.text(done))
    return previews.redacted_json(data)
