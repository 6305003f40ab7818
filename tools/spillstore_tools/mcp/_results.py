"""Results of tool calls made fit for a model: what is too large is stored, and a preview takes its place.

A block of text, or a resource with text, goes through the processor alone, in order. What a profile shows whole stays
byte for byte as it came, but for secrets. Once ``TOGETHER`` characters are shown, all text that follows is stored together and shown as one
preview, so that a thousand small blocks are as bounded as a large one. Images, sounds and other base64 stay up to
``BINARY`` bytes of all of them; beyond, the bytes are stored and words say what they are. Links and blocks of unknown kinds stay
up to ``OTHERS`` bytes, and are stored together beyond; so is what stands besides the content: metadata, annotations, members that
nobody knows. A structured value that is too large gives way to a short one that says where it is and has the preview
(``_listing`` relaxes the schema), for widely used clients show a model the structured value and not the text. In the content
the preview stands only where no text is there already: servers repeat the value as text. What they repeat is stored once.

Nothing is passed on because it could not be handled. What is no result, or fails on its way, is shown and stored as one text
without its secrets (``Fitter.as_text``); where that fails too, words say that it is left out.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import dataclasses
import json
import re
from typing import TYPE_CHECKING, TypeVar

from blake3 import blake3

from spillstore_tools.mcp._alike import digest
from spillstore_tools.mcp._listing import STAND_IN
from spillstore_tools.mcp._pieces import (
    PieceError,
    dumped,
    is_json,
    items,
    joined,
    listed,
    members,
    text_of,
    text_pieces,
    unescaped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore_tools.mcp._listing import Names
    from spillstore_tools.mcp._pieces import Data
    from spillstore_tools.output.truncation import TruncationProcessor
    from spillstore_tools.output.truncation_result import TruncationResult

_T = TypeVar("_T", str, bytes)
TOGETHER = 32_000
BINARY = 5 * 1024 * 1024
OTHERS = 64 * 1024
_OF_ANY_BLOCK = frozenset({"annotations", "_meta"})
META = "spillstore/artifacts"
_BLOCK = 30  # characters that a block costs beyond its text, which count towards ``TOGETHER``
_PICTURE = 300  # bytes that a picture or sound counts at least
_ALONE = 16  # so many pictures and sounds of a result are stored alone; the others together
_SHORT = 200  # bytes of a member that stays where all of them are too much
_NEEDED = frozenset({"type", "isError", "mimeType", "resultType", "uri", "task", "ttlMs"})
_PLAIN = re.compile(rb'true|false|null|"[a-z_]{1,20}"|"[a-z]{1,20}\\?/[a-z0-9.+-]{1,60}"')
_OPAQUE = frozenset(
    {"requestState", "inputRequests", "taskId"}
)  # what a client gives back, or answers itself
_NOT_SHOWN = frozenset({"content", "structuredContent", *_OPAQUE})
_BASE64 = re.compile(rb'"[A-Za-z0-9+/]*+(?:\\[/rn][A-Za-z0-9+/]*+)*+={0,2}(?:\\[rn])*+"')
_CODE = re.compile(rb"-?[0-9]{1,18}")
_INTERNAL = b"-32603"
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
    is_binary: bool = False

    @property
    def data(self) -> Data:
        return (self.block if self.inner is None else self.inner)[self.key]

    words: str | None = None  # what is shown in its place
    stored: TruncationResult | None = None  # alone, as an artifact
    is_gone: bool = False  # another block shows it
    is_changed: bool = False

    def besides(self) -> list[Data]:
        """The objects that stand around the text: the block's members, and those of the resource; none without news."""
        around = _without(self.block, self.key if self.inner is None else "resource")
        within = {} if self.inner is None else _without(self.inner, self.key)
        if not _says(around) and not _says(within):
            return []
        return [joined(around), joined(within)]

    def put_besides(self, around: Data, within: Data) -> None:
        """Put other members around the text."""
        self.is_changed = True
        if self.inner is None:
            self.block = {**members(around), self.key: self.block[self.key]}
            return
        self.inner = {**members(within), self.key: self.inner[self.key]}
        self.block = {**members(around), "resource": joined(self.inner)}

    def whole(self) -> bytes:
        """The block with what is shown in place of the text; what held base64 becomes a block of text."""
        if self.words is None:
            return joined(self.block)
        words = dumped(self.words)
        if self.key == "text" and self.inner is None:
            return joined({**self.block, "text": words})
        if self.key == "text" and self.inner is not None:
            return joined({**self.block, "resource": joined({**self.inner, "text": words})})
        fields: dict[str, Data] = {"type": b'"text"', "text": words}
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

    def fit(self, result: Data, call: Call) -> bytes | None:
        """The result as a client gets it; None if it is to stay as it is.

        Args:
            result: as the fronted server sent it.
            call: what it answers.

        Raises:
            PieceError: it is none.
        """
        return _Fitting(self._processor, self._names, call).result(members(result))

    def fit_error(self, error: Data, call: Call) -> bytes | None:
        """An error as a client gets it; None if it is to stay as it is. What is said with it is stored if it is too large.

        Args:
            error: as the fronted server sent it.
            call: what it answers.

        Raises:
            PieceError: it is none.
        """
        return _Fitting(self._processor, self._names, call).error(members(error))

    def as_text(self, result: Data, call: Call, why: BaseException) -> bytes:
        """A result in place of one that cannot be handled: all of it as one text, without secrets, stored if it is long.

        Args:
            result: as the fronted server sent it.
            call: what it answers.
            why: what happened.
        """
        words, fitting = self._in_words(f"The result of {call.tool}", result, call, why)
        is_error = fitting is None or fitting.refused or _is_error(result)
        fields: dict[str, Data] = {
            "content": listed([joined({"type": b'"text"', "text": dumped(words)})]),
            "isError": b"true" if is_error else b"false",
        }
        if fitting is None:
            return joined(fields)
        if fitting.stand_in is not None and b'"structuredContent"' in bytes(result):
            fields["structuredContent"] = dumped({STAND_IN: fitting.stand_in})
        return joined(fitting.with_artifacts(fields))

    def error_as_text(self, error: Data, call: Call, why: BaseException) -> bytes:
        """An error in place of one that cannot be handled, likewise."""
        words, _ = self._in_words(f"The error of {call.tool}", error, call, why)
        return joined({"code": _INTERNAL, "message": dumped(words)})

    def _in_words(
        self, what: str, answer: Data, call: Call, why: BaseException
    ) -> tuple[str, _Fitting | None]:
        """What is told of an answer that cannot be handled, and the fitting that stored it; None if nobody could."""
        reason = str(why) if isinstance(why, PieceError) else type(why).__name__
        told = f"{what} is not as the protocol has it, or too much ({reason})"
        for media_type in ("application/json", "text/plain"):  # what reads JSON may be what fails
            fitting = _Fitting(self._processor, self._names, call)
            try:
                return f"[{told}; as text:]\n{fitting.text(answer, media_type)}", fitting
            except Exception as error:  # noqa: BLE001  # whatever it is, the answer must not pass as it came
                failed = type(error).__name__
        return f"[{told}; its {len(answer)} bytes are left out and not stored ({failed})]\n", None


class _Fitting:
    """One result on its way."""

    def __init__(self, processor: TruncationProcessor, names: Callable[[], Names], call: Call) -> None:
        self._processor = processor
        self._names = names
        self._call = call
        self._fields: dict[str, Data] = {}
        self._blocks: list[Data | None] = []
        self._artifacts: list[dict[str, object]] = []
        self._shown = 0
        self._binary = 0  # bytes of base64 that stay
        self._binaries = 0  # stored
        self._changed = False
        self.refused = False
        self.stand_in: dict[str, object] | None = None  # for what was handled as one text

    def result(self, fields: dict[str, Data]) -> bytes | None:
        """The result; None if it is to stay as it is."""
        self._fields = dict(fields)
        self._blocks = [*items(fields["content"])] if "content" in fields else []
        found = [_part(index, block or b"null") for index, block in enumerate(self._blocks)]
        parts = [part for part in found if part is not None]
        self._fit_texts([part for part in parts if not part.is_binary])
        others = [index for index, part in enumerate(found) if part is None]
        others += [part.index for part in parts if part.is_binary and not self._fit_binary(part)]
        homeless = set(others)
        left = [part for part in parts if part.index not in homeless]
        self._fit_besides([part for part in left if not part.is_gone])
        for part in left:
            if part.is_gone or part.is_changed:
                self._blocks[part.index] = None if part.is_gone else part.whole()
        self._fit_others(sorted(others))
        if "structuredContent" in fields:
            self._fit_structured([part for part in parts if part.key == "text"])
        if not self._changed and not self._artifacts:
            return None
        if "content" in fields or self._blocks:
            self._fields["content"] = listed([each for each in self._blocks if each is not None])
        if self.refused:
            self._fields["isError"] = b"true"
        return joined(self.with_artifacts(self._fields))

    def text(self, answer: Data, media_type: str) -> str:
        """All of an answer as one text."""
        done = self._process(_slices(answer), "result", media_type)
        if done.artifact_id is not None:
            self.stand_in = self._stand_in(done)
        return self._words(done)

    def error(self, fields: dict[str, Data]) -> bytes | None:
        """An error of the protocol; None if it is to stay as it is."""
        others = _without(fields, "code", "message", "data")
        is_error = _CODE.fullmatch(fields.get("code", b"")) and _is_text(fields.get("message"))
        if not is_error or sum(map(len, others.values())) > OTHERS:
            raise PieceError("no error of the protocol")
        changed: dict[str, Data] = {}
        if others and (clean := self._clean_json(joined(others))) is not None:
            changed |= members(clean)
        for name, media_type in (("message", None), ("data", "application/json")):
            if name in fields and (shown := self._member(fields[name], name, media_type)) is not None:
                changed[name] = shown
        return joined({**fields, **changed}) if changed else None

    def _member(self, data: Data, name: str, media_type: str | None) -> bytes | None:
        """A value that a model may be shown, made fit; None if it stays."""
        if len(data) > _UNTOUCHED:
            done = self._process(text_pieces(data) if _is_text(data) else _slices(data), name, media_type)
            if done.metadata.was_truncated:
                return dumped(self._words(done))
        return self._clean_json(data)

    def with_artifacts(self, fields: dict[str, Data]) -> dict[str, Data]:
        """A result's members, and where the artifacts are."""
        if not self._artifacts:
            return fields
        try:
            found = members(fields.get("_meta", b"{}"))
        except PieceError:  # null, say
            found = {}
        return {**fields, "_meta": joined({**found, META: dumped(self._artifacts)})}

    # --- blocks -----------------------------------------------------------------------------------------

    def _fit_texts(self, parts: list[_Part]) -> None:
        rest: list[_Part] = []
        for part in parts:
            if self._shown >= TOGETHER:
                rest.append(part)
            else:
                self._fit_text(part)
        if len(rest) == 1:
            self._fit_text(rest[0])
        elif rest:
            self._fit_together(rest)

    def _fit_text(self, part: _Part) -> None:
        pieces = text_pieces(part.data)
        content = "".join(pieces) if len(part.data) <= _AT_ONCE else pieces
        done = self._process(content, part.index, _media_type(part))
        self._shown += len(done.content) + _BLOCK
        if done.metadata.was_truncated:
            part.stored = done if done.artifact_id is not None else None
            self._replace(part, self._words(done))
        elif done.redactions:  # it stays as it came but for its secrets
            self._replace(part, self._clean_text(part))

    def _fit_together(self, parts: list[_Part]) -> None:
        """All of these as one, if that does not fit; the first of them gives it a place."""
        whole = _in_bulk(_together(parts, len(self._blocks)), "")
        done = self._process(whole, parts[0].index, "text/plain")
        if done.metadata.was_truncated:
            where = f"[{len(parts)} blocks of the result, from block {parts[0].index + 1} on, are shown as one:]\n"
            self._replace(parts[0], where + self._words(done))
            for part in parts[1:]:
                part.is_gone = True
        elif done.redactions:
            for part in parts:
                self._replace(part, self._clean_text(part))

    def _fit_binary(self, part: _Part) -> bool:
        """Whether it has a place: as it is, or stored alone."""
        size = len(part.data) // 4 * 3
        if size > BINARY - self._binary:
            size = _decoded_size(part.data)
        if size <= BINARY - self._binary:
            self._binary += max(size, _PICTURE)
            return True
        if self._binaries >= _ALONE:
            return False
        self._binaries += 1
        try:
            done = self._process(_decoded(part.data), part.index, _media_type(part))
        except (binascii.Error, UnicodeEncodeError):  # it only claims to be base64
            done = self._process(text_pieces(part.data), part.index, "text/plain")
        self._shown += len(done.content)
        self._replace(part, self._words(done))
        return True

    def _replace(self, part: _Part, words: str) -> None:
        part.words = words
        part.is_changed = self._changed = True

    def _clean_text(self, part: _Part) -> str:
        return self._processor.redacted("".join(text_pieces(part.data)), self._call.tool)

    # --- what is no text --------------------------------------------------------------------------------

    def _fit_others(self, others: list[int]) -> None:
        """Links and what we know nothing of: if it is much, all of it goes as one array, and a preview stands where the first was."""
        blocks = [self._blocks[index] or b"null" for index in others]
        if sum(map(len, blocks)) <= OTHERS:
            for index, block in zip(others, self._clean_items(blocks), strict=True):
                self._blocks[index] = block
            return
        place = others[0]
        where = f"[{len(others)} other blocks of the result, from block {place + 1} on, as one JSON array:]\n"
        for index in others:
            self._blocks[index] = None
        self._blocks[place] = self._as_array(blocks, place, where)

    def _fit_besides(self, parts: list[_Part]) -> None:
        """What stands around texts, and besides the content: if it is much, all of it goes as one array, and what is short stays."""
        own = _without(self._fields, *_NOT_SHOWN)
        frames: list[Data] = [joined(own)] if _says(own) else []
        around = [(part, found) for part in parts if (found := part.besides())]
        frames += [each for _, found in around for each in found]
        if sum(map(len, frames)) > OTHERS:
            where = "[what stands in the result besides its content, as one JSON array:]\n"
            self._blocks.append(self._as_array(frames, "besides", where))
            cleaned = self._clean_items([joined(_short(members(each))) for each in frames])
        elif (cleaned := self._clean_items(frames)) is frames:
            return
        clean = iter(cleaned)
        if _says(own):
            shown = members(next(clean))
            known = {**self._fields, **shown}
            self._fields = {n: known[n] for n in self._fields if n in shown or n in _NOT_SHOWN}
        for part, _ in around:
            part.put_besides(next(clean), next(clean))

    def _as_array(self, pieces: list[Data], place: int | str, where: str) -> bytes:
        """A block that shows a part of an array, which is stored."""
        self._changed = True
        done = self._process(_in_bulk(_array(pieces), b""), place, "application/json")
        return joined({"type": b'"text"', "text": dumped(where + self._words(done))})

    def _clean_items(self, pieces: list[Data]) -> list[Data]:
        """Pieces of JSON without secrets, looked through as one."""
        if not pieces or (clean := self._clean_json(listed(pieces))) is None:
            return pieces
        found = items(clean)
        if len(found) != len(pieces):
            raise PieceError("a secret that goes from one part of it to another")
        self._changed = True
        return found

    def _clean_json(self, data: Data) -> bytes | None:
        """JSON without its secrets, in the same structure; None if it holds none.

        Raises:
            PieceError: a secret is woven into the structure, which cannot be taken apart.
        """
        whole = unescaped(data).decode(errors="replace")
        clean = self._processor.redacted(whole, self._call.tool)
        if clean == whole:
            return None
        found = clean.encode(errors="surrogatepass")
        if is_json(found):
            return found
        try:  # a number, which becomes a text
            return dumped(self._processor.redacted_value(json.loads(whole), self._call.tool))
        except (ValueError, RecursionError):
            raise PieceError("a secret in what cannot be taken apart") from None

    # --- structured content -----------------------------------------------------------------------------

    def _fit_structured(self, texts: list[_Part]) -> None:
        value = self._fields["structuredContent"]
        for part in texts if not self._fits(value) else ():
            if part.stored is not None and _repeats(part.data, value):
                self._changed = True
                self._fields["structuredContent"] = dumped({STAND_IN: self._stand_in(part.stored)})
                return
        content = bytes(value) if len(value) <= _AT_ONCE else _slices(value)
        done = self._process(content, "structuredContent", "application/json")
        if not done.metadata.was_truncated:
            if (clean := self._clean_json(value)) is not None:
                self._changed = True
                self._fields["structuredContent"] = clean
            return
        self._changed = True
        if not texts:
            self._blocks.append(joined({"type": b'"text"', "text": dumped(self._words(done))}))
        self._fields["structuredContent"] = dumped({STAND_IN: self._stand_in(done)})

    def _fits(self, value: Data) -> bool:
        return len(value) <= _UNTOUCHED or (
            len(value) <= _AT_ONCE and self._processor.shows_whole(bytes(value), self._call.tool)
        )

    def _stand_in(self, done: TruncationResult) -> dict[str, object]:
        size = done.metadata.original_bytes
        if done.artifact_id is None:
            why = done.content.partition("\n")[0][:300]
            notice = f"left out here, and not stored: {why}"
            return {"artifact_id": None, "bytes": size, "notice": notice, "preview": done.content}
        call = f'{self._names().ours["get_artifact"]}(id="{done.artifact_id}")'
        return {
            "artifact_id": done.artifact_id,
            "bytes": size,
            "notice": f"{size} bytes of JSON are shown in part here; {call} brings them",
            "preview": self._words(done),
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
        self.refused = self.refused or done.is_error
        if done.artifact_id is not None:
            self._artifacts.append(
                {"id": done.artifact_id, "of": place, "bytes": done.metadata.original_bytes}
            )
        return done

    def _words(self, done: TruncationResult) -> str:
        if done.artifact_id is None:
            return done.content
        return self._names().renamed_of(done.content, done.artifact_id)


def _part(index: int, block: Data) -> _Part | None:
    """The text or base64 of a block; None for other blocks, and what is none."""
    try:
        fields = members(block)
        kind = text_of(fields.get("type"))
        if kind == "text" and _is_text(fields.get("text")):
            return _Part(index, fields, None, "text", "text")
        if kind in {"image", "audio"} and _is_text(fields.get("data")):
            return _Part(index, fields, None, "data", kind, is_binary=_is_base64(fields["data"]))
        if kind == "resource" and "resource" in fields:
            inner = members(fields["resource"])
            where = f"resource {(text_of(inner.get('uri')) or '')[:200]}".strip()
            for key in ("text", "blob"):
                if _is_text(inner.get(key)):
                    is_binary = key == "blob" and _is_base64(inner[key])
                    return _Part(index, fields, inner, key, where, is_binary=is_binary)
    except PieceError:
        pass
    return None


def _is_base64(data: Data) -> bool:
    """Whether a text is nothing else; what only claims to be is a text like others, and may hold secrets."""
    return _BASE64.fullmatch(data) is not None


def _without(fields: dict[str, Data], *names: str) -> dict[str, Data]:
    return {name: each for name, each in fields.items() if name not in names}


def _says(fields: dict[str, Data]) -> bool:
    """Whether there is more than what every result and block has."""
    return any(
        name not in {"type", "isError", "mimeType", "resultType"} or not _PLAIN.fullmatch(each)
        for name, each in fields.items()
    )


def _short(fields: dict[str, Data]) -> dict[str, Data]:
    """The members without which a result or block is none, where they are short."""
    return {name: each for name, each in fields.items() if name in _NEEDED and len(each) <= _SHORT}


def _is_error(result: Data) -> bool:
    """Whether a result says that the call failed, as far as it can be read."""
    try:
        return bytes(members(result).get("isError", b"")) == b"true"
    except PieceError:
        return False


def _is_text(data: Data | None) -> bool:
    return data is not None and bytes(data[:1]) == b'"'


def _media_type(part: _Part) -> str | None:
    found = text_of((part.inner or part.block).get("mimeType"))
    return found[:200] if found is not None else None


def _in_bulk(pieces: Iterator[_T], nothing: _T) -> Iterator[_T]:
    """The same in few pieces: each costs what a thousand bytes do."""
    held: list[_T] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield nothing.join(held)
            held, size = [], 0
    yield nothing.join(held)


def _array(blocks: list[Data]) -> Iterator[bytes]:
    """Blocks as a JSON array, one a line."""
    for number, block in enumerate(blocks):
        yield b",\n" if number else b"["
        yield from _slices(block)
    yield b"]\n"


def _slices(data: Data) -> Iterator[bytes]:
    return (bytes(data[at : at + _PIECE]) for at in range(0, len(data), _PIECE))


def _repeats(text: Data, value: Data) -> bool:
    """Whether a text says what a structured value says: the same JSON, or what a library has wrapped as ``result``."""
    own = digest(text_pieces(text))
    if own == digest(_decoded_pieces(value)):
        return True
    try:
        wrapped = members(value)
    except PieceError:
        return False
    if list(wrapped) != ["result"]:
        return False
    inner = wrapped["result"]
    if own == digest(_decoded_pieces(inner)):
        return True
    return _is_text(inner) and _same_text(text_pieces(text), text_pieces(inner))


def _decoded_pieces(data: Data) -> Iterator[str]:
    """JSON as text, in pieces."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    yield from map(decoder.decode, _slices(data))
    yield decoder.decode(b"", final=True)


def _same_text(one: Iterator[str], other: Iterator[str]) -> bool:
    """Whether two texts are equal, however they are cut."""
    digests = []
    for pieces in (one, other):
        found = blake3()
        for piece in pieces:
            found.update(piece.encode())
        digests.append(found.digest())
    return digests[0] == digests[1]


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
