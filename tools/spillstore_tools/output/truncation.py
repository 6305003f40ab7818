"""Tool results of any kind and size made fit for a model: ``TruncationProcessor``.

It takes text, bytes, streams, stored artifacts and JSON-able objects, and gives a ``TruncationResult``: content within
the limits of the profile, metadata about what was done, and the artifact that has the rest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

from spillstore import Artifact
from spillstore.exceptions import SpillstoreError
from spillstore.observers import EmittedEvent, begin_operation, emit, is_observed
from spillstore_tools.config.redaction_rules import Redaction
from spillstore_tools.describe import tokens
from spillstore_tools.output.output_events import (
    FAILED,
    OUTPUT,
    omitted_chars,
    output_detail,
    shown_chars,
    tool_of,
)
from spillstore_tools.output.rendering import flags_to, kind_of, render, terminator_of
from spillstore_tools.output.repeated import passes
from spillstore_tools.output.signature import MOST
from spillstore_tools.output.spill import Spill
from spillstore_tools.preview.text.clean import clean, is_plain, redrawn
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.profiles.rendered import REFUSED, Rendered

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session
    from spillstore.info import Newline
    from spillstore.observers import Operation
    from spillstore_tools.config import MetadataSettings, TruncationConfiguration
    from spillstore_tools.preview.parts import Omission
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.base import Profile

METADATA_VERSION = 1
_READ = 256 * 1024
_SHORT = 64 * 1024  # bytes that are held in memory by every profile anyhow
_PDF = b"%PDF-"  # the one kind of binary content that may be plain text throughout
_TERMINATORS = {"lf": b"\n", "cr": b"\r"}


class ContentError(SpillstoreError):
    """What was handed over cannot be made into text: a cycle, or an object or number that JSON does not hold."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TruncationMetadata:
    """What was done to a tool result.

    Attributes:
        original_size: code points of the cleaned content; of large content that ``smart`` cut, its bytes.
        original_bytes: bytes that came.
        truncated_size: code points of what is shown.
        strategy_used: how it was cut; ``none`` if it was not, ``reference`` if a reference stands for it.
        was_truncated: whether anything is missing.
        artifact_id: where all of it is, or None.
        omitted_lines: lines of which nothing is shown.
        omitted_characters: code points that are missing, or None where nobody counted.
        omitted_elements: array items, members or nodes that are missing.
        redrawn_characters: characters that were drawn over or erased in their lines, and are stored but not shown.
        tool_name: the tool.
        profile: the profile's name.
        included: what ``as_dict`` tells unless it is asked for other things; None for all of it.
        partial: whether parts of an artifact may be asked for.
    """

    original_size: int
    original_bytes: int
    truncated_size: int
    strategy_used: str
    was_truncated: bool
    artifact_id: str | None
    omitted_lines: int
    omitted_characters: int | None
    omitted_elements: int
    tool_name: str
    profile: str
    redrawn_characters: int = 0
    included: MetadataSettings | None = dataclasses.field(default=None, repr=False, compare=False)
    partial: bool = dataclasses.field(default=True, repr=False, compare=False)

    def as_dict(self, include: MetadataSettings | None = None) -> dict[str, Any]:
        """What the configuration wants of it, under the names of the profile ``acode``.

        Args:
            include: what is told; None for what the processor's configuration says, all of it where it has none.
        """
        include = self.included if include is None else include
        own = {"included", "partial"}
        data: dict[str, Any] = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in own
        }
        data["version"] = METADATA_VERSION
        data["strategy"] = data["truncation_strategy"] = self.strategy_used
        data["artifact_created"] = self.artifact_id is not None
        data["original_tokens"] = tokens(self.original_size)
        data["truncated_tokens"] = tokens(self.truncated_size)
        if self.was_truncated:
            data["omission_summary"] = self._omission_summary()
        if self.artifact_id is not None:
            part = ", start_line=1, end_line=100" if self.partial else ""
            use = "for a part of it" if self.partial else "for all of it, a part at a time"
            data["retrieval_instructions"] = f'Use get_artifact(id="{self.artifact_id}"{part}) {use}.'
        if include is not None:
            for wanted, names in (
                (include.include_original_size, ("original_size", "original_bytes")),
                (include.include_token_estimate, ("original_tokens", "truncated_tokens")),
                (include.include_strategy, ("strategy", "strategy_used", "truncation_strategy")),
                (include.include_retrieval_instructions, ("retrieval_instructions",)),
            ):
                for name in () if wanted else names:
                    data.pop(name, None)
        return data

    def _omission_summary(self) -> str:
        """What is missing, in words."""
        if self.strategy_used == REFUSED:
            return f"all of it, {self.original_bytes} bytes"
        missing = self.omitted_characters
        lines = f"{self.omitted_lines} {'line' if self.omitted_lines == 1 else 'lines'}"
        return lines if missing is None else f"{lines}, {missing} characters / ~{tokens(missing)} tokens"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TruncationResult:
    """A tool result as a model sees it.

    Attributes:
        content: the text.
        metadata: what was done.
        artifact_id: where all of it is, or None.
        artifact_reference: ``[Artifact: id] ...``, or None.
        omissions: what is missing, exactly, and where in ``content`` its markers stand.
        is_error: whether the tool call failed by the rules of the profile.
        redactions: how many secrets of each kind were taken out of what came, before anything else.
    """

    content: str
    metadata: TruncationMetadata
    artifact_id: str | None = None
    artifact_reference: str | None = None
    omissions: tuple[Omission, ...] = ()
    is_error: bool = False
    redactions: dict[str, int] = dataclasses.field(default_factory=dict)


class TruncationProcessor:
    r"""Measure, pass through, truncate, or replace by a reference; whatever is cut is stored.

    Safe from any thread. A pass-through opens no session and touches no disk.

    Args:
        session: an open session, or a function that opens one when something must be stored; None stores nothing.
            A function is asked each time something must be stored.
        profile: the name of a profile, or a profile.
        configuration: limits and strategies for ``acode`` and ``default``; None for the defaults.
        flags: what a ``spillstore`` command needs besides to find the session, for notices; None for the options that name
            the session, its project and, unless it is the default one, its root. Give ``""`` where commands run with
            ``SPILLSTORE_SESSION`` set, as those of the tool ``bash`` do.
        redact: False to take no secrets out, whatever anything else says.

    Example:
        >>> processor = TruncationProcessor(None, profile="acode")
        >>> result = processor.process("all good\n", "read_file")
        >>> result.content, result.metadata.was_truncated
        ('all good\n', False)
    """

    def __init__(
        self,
        session: Session | Callable[[], Session] | None,
        *,
        profile: ProfileName | Profile = "default",
        configuration: TruncationConfiguration | None = None,
        flags: str | None = None,
        redact: bool = True,
    ) -> None:
        self._session = session
        self._flags = flags
        self._passed: dict[
            str, tuple[int, int]
        ] = {}  # calls and bytes of each tool that no session has counted yet
        self._redacted: dict[str, dict[str, int]] = {}  # and the secrets that no session was told of
        self._counting = threading.Lock()  # protects both
        self._known = None if callable(session) else session  # the session, as soon as it is known
        self._configuration = configuration
        self._profile = profile_named(profile, configuration) if isinstance(profile, str) else profile
        self._redaction = Redaction(session, configuration, enabled=redact, profile=self._profile.name)
        if self._known is not None and self._profile.cleanup_on_exit:
            self._known.cleanup_on_exit = True

    def process(
        self,
        content: object,
        tool_name: str,
        *,
        command: str | None = None,
        tool_call_id: str | None = None,
        content_type: str | None = None,
        newline: Newline = "auto",
    ) -> TruncationResult:
        """Make a tool result fit.

        Args:
            content: text, bytes, a file or iterable of bytes, an ``Artifact``, or an object that JSON can hold.
            tool_name: chooses what the configuration says of this tool.
            command: what was run or asked for.
            tool_call_id: the tool call that it answers.
            content_type: its media type.
            newline: what ends a line; ``auto`` takes CR where there is no LF.

        Raises:
            ContentError: an object with a cycle, or one that JSON cannot hold.

        Cost: linear in the content, in flat memory.
        """
        tool = tool_of(tool_name, self._known)
        work = begin_operation(OUTPUT, {"tool": tool})
        try:
            return work.run(
                self._processed, content, tool_name, command, tool_call_id, content_type, newline, work
            )
        except BaseException:
            work.end({"tool": tool, "outcome": FAILED}, session=self._session_id)
            raise

    async def process_async(
        self,
        content: object,
        tool_name: str,
        *,
        command: str | None = None,
        tool_call_id: str | None = None,
        content_type: str | None = None,
        newline: Newline = "auto",
    ) -> TruncationResult:
        """``process`` for asyncio: cutting and storing happen on a thread, and the event loop goes on.

        Cancelling stops the waiting alone; what was begun is finished. A stream is read on that thread, too.

        Args:
            content: as in ``process``.
            tool_name: as in ``process``.
            command: as in ``process``.
            tool_call_id: as in ``process``.
            content_type: as in ``process``.
            newline: as in ``process``.

        Raises:
            ContentError: as in ``process``.
        """
        import asyncio  # noqa: PLC0415  # only for who has it already

        return await asyncio.to_thread(
            self.process,
            content,
            tool_name,
            command=command,
            tool_call_id=tool_call_id,
            content_type=content_type,
            newline=newline,
        )

    def _processed(
        self,
        content: object,
        tool_name: str,
        command: str | None,
        tool_call_id: str | None,
        content_type: str | None,
        newline: Newline,
        work: Operation,
    ) -> TruncationResult:
        data: object = encoded(content) if isinstance(content, str) else content
        rules = self._redaction.rules(tool_name)
        if isinstance(data, bytes):
            shown, redactions = data, dict[str, int]()
            if rules is not None and len(data) <= _SHORT:
                shown, redactions = rules.counted(data)
            if (text := self._at_once(shown, tool_name, newline)) is not None:
                self._count(tool_name, len(data))
                self._note(tool_name, redactions)
            else:
                text, redactions = self._answer(data), {}
            if text is not None:
                rendered = Rendered(text=text)
                if is_observed(OUTPUT, "whole"):  # most output is, and most programs do not want to know
                    self._tell(work, rendered, tool_name, len(data))
                return self._result(rendered, len(data), None, tool_name, redactions)
        redactions = {}
        if isinstance(data, Artifact):
            rendered, size = render(data, self._profile, flags=self._flags_of_known()), data.info.size
            artifact_id: str | None = data.id
            self._tell(work, rendered, tool_name, size, artifact_id)
        else:
            pieces, content_type = _pieces(data, content_type)
            spill = Spill(
                self._open,
                self._profile,
                source=tool_name,
                command=command,
                tool_call_id=tool_call_id,
                content_type=content_type,
                newline=newline,
                flags=self._flags,
                redaction=rules,
                on_pass=self._count,
                work=work,
                on_redaction=self._note,
            )
            _fill(spill, pieces)
            rendered, size, artifact_id = spill.finish(), spill.received, spill.artifact_id
            redactions = spill.redactions
            problem = self._session is not None and spill.problem is not None
            self._tell(work, rendered, tool_name, size, artifact_id, problem=problem)
        return self._result(rendered, size, artifact_id, tool_name, redactions)

    @property
    def _session_id(self) -> str | None:
        return None if self._known is None else self._known.id

    def _tell(
        self,
        work: Operation,
        rendered: Rendered,
        tool_name: str,
        size: int,
        artifact_id: str | None = None,
        *,
        problem: bool = False,
    ) -> None:
        """Tell who observes."""
        if is_observed(OUTPUT):
            detail = output_detail(
                rendered,
                tool=tool_of(tool_name, self._known),
                profile=self._profile.name,
                received=size,
                artifact_id=artifact_id,
                problem=problem,
            )
            work.end(detail, session=self._session_id, artifact_id=artifact_id)

    def shows_whole(self, data: bytes, tool_name: str) -> bool:
        """Whether the profile shows a text as it is, told without storing anything; False also above 64 KiB."""
        return self._at_once(data, tool_name, "auto") is not None

    def redacted(self, text: str, tool_name: str) -> str:
        """A text that is shown as it is, without the secrets that are taken out of that tool's results."""
        rules = self._redaction.rules(tool_name)
        return text if rules is None else rules.redact(text)

    def redacted_value(self, value: object, tool_name: str) -> object:
        """The same for a value that JSON can hold."""
        rules = self._redaction.rules(tool_name)
        if rules is None:
            return value
        from spillstore.redaction.structures import without_secrets  # noqa: PLC0415  # likewise

        return without_secrets(value, rules, {}, numbers=True)

    def _at_once(self, data: bytes, source: str, newline: Newline) -> str | None:
        """The text, if it is short and the profile shows such text as it is; ``Spill`` would give the same."""
        inline = self._profile.inline(source)
        refuse_at = self._profile.refuse_at(source)
        if inline is None or len(data) > _SHORT or (refuse_at is not None and len(data) >= refuse_at):
            return None
        if data.isascii() and newline != "cr" and is_plain(data) and not data.startswith(_PDF):
            text = data.decode("ascii")
        elif inline.text_only and kind_of(data, len(data)) is not None:
            return None
        else:
            terminator = terminator_of(data) if newline == "auto" else _TERMINATORS[newline]
            if redrawn(data, terminator):
                return None
            text = clean(data, terminator)
        if len(text) > inline.chars or (inline.size is not None and len(text.encode()) > inline.size):
            return None
        lines = text.count("\n") + (not text.endswith("\n"))
        return text if inline.lines is None or lines <= inline.lines else None

    def _answer(self, data: bytes) -> str | None:
        """The text, if it is an answer of the retrieval tools, whatever tool hands it on."""
        if self._session is None or len(data) > 4 * MOST:
            return None
        text = data.decode(errors="replace")
        return text if passes(self._open, text) else None

    def _flags_of_known(self) -> str:
        if self._flags is not None:
            return self._flags
        return "" if self._known is None else flags_to(self._known)

    def _open(self) -> Session:
        if self._session is None:
            raise SpillstoreError("there is no session to store it in")
        session = self._known = self._session() if callable(self._session) else self._session
        if self._profile.cleanup_on_exit:
            session.cleanup_on_exit = True
        with self._counting:
            passed, self._passed = self._passed, {}
            redacted, self._redacted = self._redacted, {}
        for tool, (calls, size) in passed.items():
            session.count_passed(tool, size, calls)
        for tool, counts in redacted.items():
            session.note("redaction", {"tool": tool, "counts": counts})
        return session

    def _count(self, tool_name: str, size: int) -> None:
        """Count output that is shown whole; where the session is not known yet, here until it is."""
        if self._session is not None and not callable(self._session):
            with contextlib.suppress(SpillstoreError):  # it is closed; nothing needs storing
                self._session.count_passed(tool_name, size)
            return
        with self._counting:
            calls, total = self._passed.get(tool_name, (0, 0))
            self._passed[tool_name] = calls + 1, total + size

    def _note(self, tool_name: str, redactions: dict[str, int]) -> None:
        """Tell the audit which secrets were taken out of what is shown whole; as with ``_count``, as soon as it is known."""
        if not redactions:
            return
        if self._session is None:  # nothing will ever be recorded
            if is_observed("redaction"):
                emit(EmittedEvent("redaction", {"tool": tool_name, "counts": redactions}))
            return
        if not callable(self._session):
            with contextlib.suppress(SpillstoreError):  # it is closed; nothing needs storing
                self._session.note("redaction", {"tool": tool_name, "counts": redactions})
            return
        with self._counting:
            known = self._redacted.setdefault(tool_name, {})
            for kind, count in redactions.items():
                known[kind] = known.get(kind, 0) + count

    def _result(
        self,
        rendered: Rendered,
        size: int,
        artifact_id: str | None,
        tool_name: str,
        redactions: dict[str, int],
    ) -> TruncationResult:
        omitted = omitted_chars(rendered)
        metadata = TruncationMetadata(
            original_size=size if omitted is None else shown_chars(rendered) + omitted,
            original_bytes=size,
            truncated_size=len(rendered.text),
            strategy_used=rendered.strategy,
            was_truncated=rendered.was_truncated,
            artifact_id=artifact_id,
            omitted_lines=sum([each.lines for each in rendered.omissions]),
            omitted_characters=omitted,
            omitted_elements=rendered.elements,
            tool_name=tool_name,
            profile=self._profile.name,
            redrawn_characters=rendered.redrawn,
            included=None if self._configuration is None else self._configuration.metadata,
            partial=self._configuration is None or self._configuration.artifacts.enable_partial_retrieval,
        )
        reference = None if artifact_id is None else _reference(rendered, artifact_id)
        return TruncationResult(
            content=rendered.text,
            metadata=metadata,
            artifact_id=metadata.artifact_id,
            artifact_reference=reference,
            omissions=rendered.omissions,
            is_error=rendered.is_error,
            redactions=redactions,
        )


def _reference(rendered: Rendered, identity: str) -> str:
    """The line of our own that refers to the artifact; output may hold others like it."""
    ours = "".join(rendered.text[at : at + length] for at, length in rendered.notes)
    begin = f"[Artifact: {identity}]"
    if (at := ours.find(f'"{begin}')) >= 0:  # inside JSON
        return str(json.JSONDecoder().raw_decode(ours, at)[0])
    return next((line for line in ours.split("\n") if line.startswith(begin)), begin)


def encoded(text: str) -> bytes:
    """Text as bytes, as a writer stores it: half surrogates that stand for bytes become those bytes again."""
    for errors in ("strict", "surrogateescape"):
        try:
            return text.encode(errors=errors)
        except UnicodeEncodeError:
            continue
    return text.encode(errors="surrogatepass")


def _fill(spill: Spill, pieces: Iterable[bytes]) -> None:
    """Write all of it; if it cannot be had to its end, what there is of it stays."""
    try:
        for piece in pieces:
            spill.write(piece)
    except BaseException as error:
        spill.abort(f"{type(error).__name__}: {error}"[:200])
        raise


def _pieces(content: object, content_type: str | None) -> tuple[Iterable[bytes], str | None]:
    """Content as bytes in pieces, and its media type."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        return _slices(bytes(content)), content_type
    if hasattr(content, "read"):
        return _file(content), content_type  # type: ignore[arg-type]  # it reads
    if isinstance(content, (dict, list, tuple, int, float, bool)) or content is None:
        return _slices(_json(content)), content_type or "application/json"
    if isinstance(content, Iterable):
        return map(_block, content), content_type
    raise _unfit("content", content)


def _slices(data: bytes) -> Iterable[bytes]:
    return [data] if len(data) <= _READ else (data[at : at + _READ] for at in range(0, len(data), _READ))


def _file(file: IO[Any]) -> Iterable[bytes]:
    while piece := file.read(_READ):
        yield _block(piece)


def _block(block: object) -> bytes:
    if isinstance(block, str):
        return encoded(block)
    if isinstance(block, (bytes, bytearray, memoryview)):
        return bytes(block)
    raise _unfit("a piece of the content", block)  # bytes(5) would be five NULs


def _unfit(what: str, content: object) -> ContentError:
    return ContentError(
        f"{what} is a {type(content).__name__}; give text, bytes, a file, an iterable of bytes, an Artifact, or what JSON "
        "can hold"
    )


def _json(content: object) -> bytes:
    try:
        return encoded(json.dumps(content, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        why = f"it refers to itself ({error})" if "Circular" in str(error) else error
        raise ContentError(f"content cannot be shown as JSON: {why}") from None
    except (TypeError, RecursionError) as error:
        raise ContentError(f"content cannot be shown as JSON: {error}") from None
