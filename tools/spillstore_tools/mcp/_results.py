"""Results of tool calls made fit for a model: what is too large is stored, and a preview takes its place.

A block of text, or a resource with text, goes through the processor alone, in order. What a profile shows whole stays
byte for byte as it came, but for secrets. Once ``TOGETHER`` characters are shown, all text that follows is stored together and shown as one
preview, so that a thousand small blocks are as bounded as a large one. Images, sounds and other base64 stay up to
``BINARY`` bytes of all of them; beyond, the bytes are stored and words say what they are. Links and blocks of unknown kinds stay
up to ``OTHERS`` bytes, and are stored together beyond. A structured value that is too large gives way
to a short one that says where it is (``_listing`` relaxes the schema); its preview stands in the content only where no
text is there already, for servers repeat the value as text, and clients may show a model both.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
from typing import TYPE_CHECKING

from spillstore_tools.mcp._listing import STAND_IN
from spillstore_tools.mcp._pieces import (
    PieceError,
    dumped,
    items,
    joined,
    listed,
    members,
    text_of,
    text_pieces,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore_tools.mcp._listing import Names
    from spillstore_tools.mcp._pieces import Data
    from spillstore_tools.truncation import TruncationProcessor, TruncationResult

TOGETHER = 32_000
BINARY = 5 * 1024 * 1024
OTHERS = 64 * 1024
_OF_ANY_BLOCK = frozenset({"annotations", "_meta"})
META = "spillstore/artifacts"
_PIECE = 256 * 1024
_UNTOUCHED = 4000  # bytes of an error's message or data that any profile shows
_AT_ONCE = 4 * 1024 * 1024  # bytes; what is larger is stored piece by piece, and never there as a text


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that a result answers.

    Attributes:
        tool: the tool's name.
        id: the id of its request.
        arguments: as JSON, the beginning of them if they are long.
    """

    tool: str
    id: str | None = None
    arguments: str | None = None


@dataclasses.dataclass(slots=True)
class _Part:
    """A text or base64 in a result: where it stands, and what replaces it."""

    index: int
    block: dict[str, Data]
    inner: dict[str, Data] | None  # of a resource
    key: str  # of the member that has it
    where: str  # for a reader

    @property
    def data(self) -> Data:
        return (self.block if self.inner is None else self.inner)[self.key]

    def with_text(self, words: str) -> bytes:
        """The block with another text; what held base64 becomes a block of text."""
        if self.key == "text" and self.inner is None:
            return joined({**self.block, "text": dumped(words)})
        if self.key == "text" and self.inner is not None:
            return joined({**self.block, "resource": joined({**self.inner, "text": dumped(words)})})
        fields: dict[str, Data] = {"type": b'"text"', "text": dumped(words)}
        return joined(fields | {name: each for name, each in self.block.items() if name in _OF_ANY_BLOCK})


class Fitter:
    """Makes results fit.

    Args:
        processor: decides what is shown, and stores the rest.
        names: what our tools are called now, for notices.
    """

    def __init__(self, processor: TruncationProcessor, names: Callable[[], Names]) -> None:
        self._processor = processor
        self._names = names

    def fit_error(self, error: Data, call: Call) -> bytes | None:
        """An error as a client gets it; None if it is to stay as it is. What is said with it is stored if it is too large.

        Args:
            error: as the fronted server sent it.
            call: what it answers.

        Raises:
            PieceError: it is none.
        """
        fields = members(error)
        fitting = _Fitting(self._processor, self._names, {}, call)
        changed = {
            name: data
            for name, media_type in (("message", None), ("data", "application/json"))
            if (data := fitting.member(fields.get(name), name, media_type)) is not None
        }
        return joined(fields | changed) if changed else None

    def fit(self, result: Data, call: Call) -> bytes | None:
        """The result as a client gets it; None if it is to stay as it is.

        Args:
            result: as the fronted server sent it.
            call: what it answers.

        Raises:
            PieceError: it is no JSON.
        """
        fields = members(result)
        if "content" not in fields and "structuredContent" not in fields:
            return None  # another kind of result: more input is wanted, or a task has begun
        return _Fitting(self._processor, self._names, fields, call).result()

    def clean(self, error: Data, call: Call) -> bytes | None:
        """What a server says of a call that failed, without secrets; None if it holds none."""
        said = bytes(error)
        clean = _clean_json(self._processor, said, call.tool)
        return None if clean == said else clean


def _clean_json(processor: TruncationProcessor, value: bytes, tool: str) -> bytes:
    """JSON without its secrets, in the same structure; a number that is one becomes a text."""
    clean = processor.redacted(value.decode(errors="replace"), tool).encode(errors="surrogatepass")
    try:
        json.loads(clean)
    except ValueError:
        clean = dumped(processor.redacted_value(json.loads(value), tool))
    return clean


class _Fitting:
    """One result on its way."""

    def __init__(
        self, processor: TruncationProcessor, names: Callable[[], Names], fields: dict[str, Data], call: Call
    ) -> None:
        self._processor = processor
        self._names = names
        self._fields = fields
        self._call = call
        self._blocks: list[Data | None] = [*items(fields["content"])] if "content" in fields else []
        self._artifacts: list[dict[str, object]] = []
        self._shown = 0
        self._binary = 0  # bytes of base64 that stay
        self._changed = False
        self._refused = False

    def result(self) -> bytes | None:
        parts = [part for index, block in enumerate(self._blocks) if (part := _part(index, block))]
        rest: list[_Part] = []
        for part in parts:
            if part.key != "text":
                self._fit_binary(part)
            elif self._shown >= TOGETHER:
                rest.append(part)
            else:
                self._fit_text(part)
        if len(rest) == 1:
            self._fit_text(rest[0])
        elif rest:
            self._fit_together(rest)
        self._fit_others({part.index for part in parts})
        fields = self._fields
        if "structuredContent" in fields:
            fields = self._fit_structured(fields, has_text=any(part.key == "text" for part in parts))
        if not self._changed and not self._artifacts:
            return None
        if "content" in fields or self._blocks:
            fields = {**fields, "content": listed([each for each in self._blocks if each is not None])}
        if self._refused:
            fields = {**fields, "isError": b"true"}
        return joined({**fields, "_meta": self._meta(fields.get("_meta"))} if self._artifacts else fields)

    def _meta(self, there: Data | None) -> bytes:
        try:
            found = {} if there is None else members(there)
        except PieceError:  # null, say
            found = {}
        return joined({**found, META: dumped(self._artifacts)})

    # --- blocks -----------------------------------------------------------------------------------------

    def _fit_text(self, part: _Part) -> None:
        pieces = text_pieces(part.data)
        content = "".join(pieces) if len(part.data) <= _AT_ONCE else pieces
        done = self._process(content, part.index, _media_type(part))
        self._shown += len(done.content)
        if done.metadata.was_truncated:
            self._replace(part, self._words(done))
        elif done.redactions:  # it stays as it came but for its secrets
            self._replace(part, self._processor.redacted("".join(text_pieces(part.data)), self._call.tool))

    def _fit_together(self, parts: list[_Part]) -> None:
        """All of these as one, if that does not fit; the first of them gives it a place."""
        done = self._process(_together(parts, len(self._blocks)), parts[0].index, "text/plain")
        if done.metadata.was_truncated:
            where = f"[{len(parts)} blocks of the result, from block {parts[0].index + 1} on, are shown as one:]\n"
            first = parts[0]
            first.key = "text"
            self._replace(first, where + self._words(done))
            for part in parts[1:]:
                self._blocks[part.index] = None
        elif done.redactions:
            for part in parts:
                self._replace(
                    part, self._processor.redacted("".join(text_pieces(part.data)), self._call.tool)
                )

    def _fit_others(self, known: set[int]) -> None:
        """Links and what we know nothing of: if it is much, all of it goes as one array, and a preview stands where the first was."""
        others = [
            (index, block)
            for index, block in enumerate(self._blocks)
            if block is not None and index not in known
        ]
        if sum(len(block) for _, block in others) <= OTHERS:
            return
        place = others[0][0]
        done = self._process(_array([block for _, block in others]), place, "application/json")
        where = f"[{len(others)} other blocks of the result, from block {place + 1} on, as one JSON array:]\n"
        for index, _ in others:
            self._blocks[index] = None
        self._blocks[place] = joined({"type": b'"text"', "text": dumped(where + self._words(done))})
        self._changed = True

    def member(self, data: Data | None, name: str, media_type: str | None) -> bytes | None:
        """A value that a model may be shown, made fit, as a JSON string; None if it stays."""
        if data is None or len(data) <= _UNTOUCHED:
            return None
        content = text_pieces(data) if _is_text(data) else _slices(data)
        done = self._process(content, name, media_type)
        return dumped(self._words(done)) if done.metadata.was_truncated else None

    def _fit_binary(self, part: _Part) -> None:
        size = len(part.data) // 4 * 3
        if size > BINARY - self._binary:
            size = _decoded_size(part.data)
        if size <= BINARY - self._binary:
            self._binary += size
            return
        try:
            done = self._process(_decoded(part.data), part.index, _media_type(part))
        except (binascii.Error, UnicodeEncodeError):  # it only claims to be base64
            done = self._process(text_pieces(part.data), part.index, "text/plain")
        self._shown += len(done.content)
        self._replace(part, self._words(done))

    def _replace(self, part: _Part, words: str) -> None:
        self._blocks[part.index] = part.with_text(words)
        self._changed = True

    # --- structured content -----------------------------------------------------------------------------

    def _fit_structured(self, fields: dict[str, Data], *, has_text: bool) -> dict[str, Data]:
        value = fields["structuredContent"]
        content = bytes(value) if len(value) <= _AT_ONCE else _slices(value)
        done = self._process(content, "structuredContent", "application/json")
        if not done.metadata.was_truncated:
            if not done.redactions:
                return fields
            self._changed = True
            return {
                **fields,
                "structuredContent": _clean_json(self._processor, bytes(value), self._call.tool),
            }
        self._changed = True
        if not has_text:
            self._blocks.append(joined({"type": b'"text"', "text": dumped(self._words(done))}))
        return {**fields, "structuredContent": dumped({STAND_IN: self._stand_in(done)})}

    def _stand_in(self, done: TruncationResult) -> dict[str, object]:
        size = done.metadata.original_bytes
        if done.artifact_id is None:
            why = done.content.partition("\n")[0][:300]
            return {"artifact_id": None, "bytes": size, "notice": f"left out here, and not stored: {why}"}
        call = f'{self._names().ours["get_artifact"]}(id="{done.artifact_id}")'
        return {
            "artifact_id": done.artifact_id,
            "bytes": size,
            "notice": f"{size} bytes of JSON are left out here; {call} brings them",
        }

    # --- the processor ----------------------------------------------------------------------------------

    def _process(
        self, content: str | bytes | Iterator[str] | Iterator[bytes], place: int | str, media_type: str | None
    ) -> TruncationResult:
        done = self._processor.process(
            content,
            self._call.tool,
            command=self._call.arguments,
            tool_call_id=self._call.id,
            content_type=media_type,
        )
        self._refused = self._refused or done.is_error
        if done.artifact_id is not None:
            self._artifacts.append(
                {"id": done.artifact_id, "of": place, "bytes": done.metadata.original_bytes}
            )
        return done

    def _words(self, done: TruncationResult) -> str:
        if done.artifact_id is None:
            return done.content
        return self._names().renamed_of(done.content, done.artifact_id)


def _part(index: int, block: Data | None) -> _Part | None:
    """The text or base64 of a block; None for other blocks, and what is none."""
    try:
        fields = members(block or b"null")
        kind = text_of(fields.get("type"))
        if kind == "text" and _is_text(fields.get("text")):
            return _Part(index, fields, None, "text", "text")
        if kind in {"image", "audio"} and _is_text(fields.get("data")):
            return _Part(index, fields, None, "data", kind)
        if kind == "resource" and "resource" in fields:
            inner = members(fields["resource"])
            where = f"resource {(text_of(inner.get('uri')) or '')[:200]}".strip()
            for key in ("text", "blob"):
                if _is_text(inner.get(key)):
                    return _Part(index, fields, inner, key, where)
    except PieceError:
        pass
    return None


def _is_text(data: Data | None) -> bool:
    return data is not None and bytes(data[:1]) == b'"'


def _media_type(part: _Part) -> str | None:
    found = text_of((part.inner or part.block).get("mimeType"))
    return found[:200] if found is not None else None


def _array(blocks: list[Data]) -> Iterator[bytes]:
    """Blocks as a JSON array, one a line."""
    for number, block in enumerate(blocks):
        yield b",\n" if number else b"["
        yield from _slices(block)
    yield b"]\n"


def _slices(data: Data) -> Iterator[bytes]:
    return (bytes(data[at : at + _PIECE]) for at in range(0, len(data), _PIECE))


def _together(parts: list[_Part], count: int) -> Iterator[str]:
    for part in parts:
        yield f"--- block {part.index + 1} of {count}: {part.where} ---\n"
        last = "\n"
        for last in text_pieces(part.data):
            yield last
        if not last.endswith("\n"):
            yield "\n"


def _decoded_size(data: Data) -> int:
    """Bytes that base64 in a string stands for."""
    length, end = 0, ""
    for piece in text_pieces(data):
        length += len(piece)
        end = piece
    return length // 4 * 3 - end[-2:].count("=")


def _decoded(data: Data) -> Iterator[bytes]:
    rest = ""
    for piece in text_pieces(data):
        whole = rest + piece
        end = len(whole) - len(whole) % 4
        rest = whole[end:]
        yield base64.b64decode(whole[:end].encode("ascii"), validate=True)
    yield base64.b64decode(rest.encode("ascii"), validate=True)
