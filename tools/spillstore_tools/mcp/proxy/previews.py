"""Previews of what a tool call has returned, and the artifacts that hold it whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from spillstore_tools.mcp.wire.raw_json import (
    RawJsonError,
    dump,
    is_json,
    items,
    join_array,
    join_object,
    members,
    unescape_ascii,
    with_distinct_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore_tools.mcp.proxy.listing import OwnToolNames
    from spillstore_tools.mcp.wire.messages import ToolCall
    from spillstore_tools.mcp.wire.raw_json import RawJson
    from spillstore_tools.output.truncation import TruncationProcessor
    from spillstore_tools.output.truncation_result import TruncationResult

_PLACEHOLDER = "[REDACTED: "  # with which the placeholder of a secret begins
META = "spillstore/artifacts"  # the key of the list of artifacts in a result's metadata
ALWAYS_SHOWN = 4000  # bytes that every profile shows whole
_MAX_LABEL = 200  # characters of an address or a media type
IN_MEMORY = 4 * 1024 * 1024  # bytes; what is larger is processed in parts


class CallPreviews:
    """Makes previews for one tool call, and notes the artifacts.

    Args:
        processor: decides what is shown, and stores the rest.
        names: returns the names of the own tools, for notices.
        call: the tool call.

    Attributes:
        artifacts: descriptions of the artifacts, for the result's metadata.
        is_refused: the profile has refused an output as too large.
    """

    def __init__(
        self, processor: TruncationProcessor, names: Callable[[], OwnToolNames], call: ToolCall
    ) -> None:
        self._processor = processor
        self._names = names
        self._call = call
        self.artifacts: list[dict[str, object]] = []
        self.is_refused = False

    def process(
        self, content: str | bytes | Iterator[str] | Iterator[bytes], place: int | str, media_type: str | None
    ) -> TruncationResult:
        """Make a preview, and store the content if it is too large.

        Args:
            content: what the tool has returned, or a part of it.
            place: where it stands in the result: the index of the block, or the name of a member.
            media_type: its media type.
        """
        done = self._processor.process(
            content,
            self._call.tool,
            command=self._call.arguments,
            tool_call_id=self._call.id,
            content_type=None if media_type is None else self.label(media_type),
        )
        self.is_refused = self.is_refused or done.is_error
        if done.artifact_id is not None:
            self.artifacts.append(
                {"id": done.artifact_id, "of": place, "bytes": done.metadata.original_bytes}
            )
        return done

    def label(self, text: str) -> str:
        """An address or a media type, bounded."""
        return self._processor.shortened(text, self._call.tool, _MAX_LABEL)

    def text(self, done: TruncationResult) -> str:
        """The text of a preview, in which own tools have the names that the client knows."""
        if done.artifact_id is None:
            return done.content
        return self._names().renamed_in_preview(done.content, done.artifact_id)

    def stand_in(self, done: TruncationResult, what: str = "JSON") -> dict[str, object]:
        """The short value that stands for a structured value: where that is stored, and a preview.

        Args:
            done: how it was stored.
            what: what was stored.
        """
        size = done.metadata.original_bytes
        if done.artifact_id is None:
            why = done.content.partition("\n")[0][:300]
            notice = f"left out here, and not stored: {why}"
            return {"artifact_id": None, "bytes": size, "notice": notice, "preview": done.content}
        call = f'{self._names().by_tool["get_artifact"]}(id="{done.artifact_id}")'
        return {
            "artifact_id": done.artifact_id,
            "bytes": size,
            "notice": f"{size} bytes of {what} are shown in part here; {call} brings them",
            "preview": self.text(done),
        }

    def is_shown_whole(self, value: RawJson) -> bool:
        """Whether the profile shows a value whole."""
        return len(value) <= ALWAYS_SHOWN or (
            len(value) <= IN_MEMORY and self._processor.shows_whole(bytes(value), self._call.tool)
        )

    def with_artifacts(self, fields: dict[str, RawJson]) -> dict[str, RawJson]:
        """The members of a result with the list of artifacts in its metadata."""
        if not self.artifacts:
            return fields
        try:
            found = members(fields.get("_meta", b"{}"))
        except RawJsonError:  # null, say
            found = {}
        return {**fields, "_meta": join_object({**found, META: dump(self.artifacts)})}

    # --- redaction --------------------------------------------------------------------------------------

    def redacted_text(self, text: str) -> str:
        """A text without secrets."""
        return self._processor.redacted(text, self._call.tool)

    def redacted_items(self, values: list[RawJson]) -> list[RawJson] | None:
        """JSON values without secrets, searched as one array; None if they hold none.

        Raises:
            RawJsonError: as ``redacted_json``.
        """
        if not values or (clean := self.redacted_json(join_array(values))) is None:
            return None
        found = items(clean)
        if len(found) != len(values):
            raise RawJsonError("a secret spans two parts of it")
        return found

    def redacted_json(self, data: RawJson) -> bytes | None:
        """JSON of the same structure without secrets; None if it holds none.

        Raises:
            RawJsonError: a secret is a part of the structure, and cannot be removed.
        """
        whole = unescape_ascii(data).decode(errors="replace")
        clean = self._processor.redacted(whole, self._call.tool)
        if clean == whole:
            return None
        found = with_distinct_names(clean, _PLACEHOLDER).encode(errors="surrogatepass")
        if is_json(found):
            return found
        try:  # a number, which becomes a string
            return dump(self._processor.redacted_value(json.loads(whole), self._call.tool))
        except (ValueError, RecursionError):
            raise RawJsonError("it has a secret and cannot be parsed") from None
