"""Tool results of any kind and size made fit for a model: ``TruncationProcessor``.

It takes text, bytes, streams, stored artifacts and JSON-able objects, and gives a ``TruncationResult``: content within
the limits of the profile, metadata about what was done, and the artifact that has the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore import Artifact
from spillstore.exceptions import InvalidSettingError
from spillstore.observers import begin_operation, is_observed
from spillstore.text_scan import is_plain
from spillstore_tools.config.redaction_rules import Redaction
from spillstore_tools.output.content import encoded, pieces_of
from spillstore_tools.output.deferred_session import DeferredSession
from spillstore_tools.output.duplicates import is_answer
from spillstore_tools.output.media_type import kind_of, terminator_of
from spillstore_tools.output.output_events import FAILED, OUTPUT, output_detail, tool_of
from spillstore_tools.output.rendering import flags_to, render
from spillstore_tools.output.signed_answers import MOST
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation_result import TruncationResult
from spillstore_tools.preview.text.clean import clean, redrawn, unmasked
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.profiles.rendered import Rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from spillstore import Session
    from spillstore.info import Newline
    from spillstore.observers import Operation
    from spillstore.redaction import RedactionRules
    from spillstore.redaction.rules import Text
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.base import Profile

_SHORT = 64 * 1024  # bytes that are held in memory by every profile anyhow
_PDF = b"%PDF-"  # the one kind of binary content that may be plain text throughout
_TERMINATORS = {"lf": b"\n", "cr": b"\r"}


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
        self._flags = flags
        self._configuration = configuration
        self._profile = profile_named(profile, configuration) if isinstance(profile, str) else profile
        self._redaction = Redaction(session, configuration, enabled=redact, profile=self._profile.name)
        self._session = DeferredSession(session, cleanup_on_exit=self._profile.cleanup_on_exit)

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
        tool = tool_of(tool_name, self._session.known)
        work = begin_operation(OUTPUT, {"tool": tool})
        try:
            return work.run(
                self._processed, content, tool_name, command, tool_call_id, content_type, newline, work
            )
        except BaseException:
            work.end({"tool": tool, "outcome": FAILED}, session=self._session.id)
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

        Cancelling stops the waiting alone; what was begun is finished. A stream is read on that thread, too. Arguments and errors are those of ``process``.
        """
        import asyncio  # noqa: PLC0415  # only for callers that have it already

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
            if (text := self._at_once(shown, tool_name, newline)) is None:
                text, redactions = self._answer(data), {}
            if text is not None:
                self._session.count_passed(tool_name, len(data), len(text))
                self._session.note_redactions(tool_name, redactions)
                rendered = Rendered(text=text)
                if is_observed(OUTPUT, "whole"):  # most output is, and most programs do not want to know
                    self._emit(work, rendered, tool_name, len(data))
                return self._result(rendered, len(data), None, tool_name, redactions)
        redactions, problem = {}, None
        if isinstance(data, Artifact):
            rendered, size = render(data, self._profile, flags=self._flags_of_known()), data.info.size
            artifact_id: str | None = data.id
            self._emit(work, rendered, tool_name, size, artifact_id)
        else:
            pieces, content_type = pieces_of(data, content_type)
            spill = Spill(
                self._session.open,
                self._profile,
                source=tool_name,
                command=command,
                tool_call_id=tool_call_id,
                content_type=content_type,
                newline=newline,
                flags=self._flags,
                redaction=rules,
                on_pass=self._session.count_passed,
                work=work,
                on_redaction=self._session.note_redactions,
            )
            _fill(spill, pieces, rules)
            rendered, size, artifact_id = spill.finish(), spill.received, spill.artifact_id
            redactions = spill.redactions
            problem = spill.problem if self._session.stores else None
            self._emit(work, rendered, tool_name, size, artifact_id, problem=problem is not None)
        return self._result(rendered, size, artifact_id, tool_name, redactions, problem)

    def _emit(
        self,
        work: Operation,
        rendered: Rendered,
        tool_name: str,
        size: int,
        artifact_id: str | None = None,
        *,
        problem: bool = False,
    ) -> None:
        """Emit the event ``output``."""
        if is_observed(OUTPUT):
            detail = output_detail(
                rendered,
                tool=tool_of(tool_name, self._session.known),
                profile=self._profile.name,
                received=size,
                artifact_id=artifact_id,
                problem=problem,
            )
            work.end(detail, session=self._session.id, artifact_id=artifact_id)

    def shows_whole(self, data: bytes, tool_name: str) -> bool:
        """Whether the profile shows a text as it is; stores nothing. False also above 64 KiB."""
        return self._at_once(data, tool_name, "auto") is not None

    def redacted(self, text: str, tool_name: str) -> str:
        """A text that is shown as it is, without the secrets that are taken out of that tool's results."""
        rules = self._redaction.rules(tool_name)
        return text if rules is None else rules.redact(text)

    def shortened(self, text: Text, tool_name: str, length: int) -> Text:
        """The first bytes or characters of what goes with a tool's results. Of a text that is cut, the secrets are taken out first.

        By the built-in rules, where those of the tool cannot be used; ``process`` raises then.
        """
        if len(text) <= length:
            return text
        try:
            rules = self._redaction.rules(tool_name)
        except InvalidSettingError:
            from spillstore.redaction import DEFAULT  # noqa: PLC0415  # not where it is switched off

            rules = DEFAULT
        return text[:length] if rules is None else rules.beginning(text, length)

    def redacted_value(self, value: object, tool_name: str) -> object:
        """A JSON-able value without the secrets that are taken out of that tool's results."""
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
            text = unmasked(clean(data, terminator))
        if len(text) > inline.chars or (inline.size is not None and len(text.encode()) > inline.size):
            return None
        lines = text.count("\n") + (not text.endswith("\n"))
        return text if inline.lines is None or lines <= inline.lines else None

    def _answer(self, data: bytes) -> str | None:
        """The text, if it is an answer of the retrieval tools, whatever tool hands it on."""
        if not self._session.stores or len(data) > 4 * MOST:
            return None
        text = data.decode(errors="replace")
        return text if is_answer(self._session.open, text) else None

    def _flags_of_known(self) -> str:
        if self._flags is not None:
            return self._flags
        return "" if self._session.known is None else flags_to(self._session.known)

    def _result(
        self,
        rendered: Rendered,
        size: int,
        artifact_id: str | None,
        tool_name: str,
        redactions: dict[str, int],
        storage_error: str | None = None,
    ) -> TruncationResult:
        return TruncationResult.of(
            rendered,
            size,
            artifact_id,
            tool_name,
            redactions,
            profile=self._profile.name,
            configuration=self._configuration,
            storage_error=storage_error,
        )


def _fill(spill: Spill, pieces: Iterable[bytes], rules: RedactionRules | None) -> None:
    """Write all of it; if it cannot be had to its end, what there is of it stays."""
    try:
        for piece in pieces:
            spill.write(piece)
    except BaseException as error:
        from spillstore.writer import reason_of  # noqa: PLC0415  # most outputs end well

        spill.abort(reason_of(error, rules))
        raise
