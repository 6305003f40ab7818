"""Output on its way: in memory while there is little of it, in an artifact from its first byte once there is more.

Output goes through a ``Sequencer`` of the store from its first byte. When there is more of it than the profile holds back, a
session is opened and the sequencer is given to ``Session.create``. When storing fails, the sequence goes on to the scans alone.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from typing import TYPE_CHECKING, Literal

from spillstore.exceptions import (
    ArtifactNotFoundError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
)
from spillstore.ingest.sequencer import Sequencer

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Artifact, ArtifactInfo, Session, Writer
    from spillstore.redaction import Redacted, RedactionRules
    from spillstore_tools.output.description import Description
    from spillstore_tools.output.output_scans import OutputScans
    from spillstore_tools.profiles.base import Profile

OutputStream = Literal["stdout", "stderr"]
_DELETED = (
    ArtifactNotFoundError,
    SessionDeletedError,
    SessionNotFoundError,
)  # nothing is left of what was stored
STREAMS: tuple[OutputStream, OutputStream] = ("stdout", "stderr")


class Recorder:
    """Keeps one output, as far as that goes. The caller holds ``lock`` around every call.

    Attributes:
        lock: protects the recorder: streams are written from threads of their own.
        session: where it is stored, if it was opened.
        sizes: bytes of each stream that came.
        spooling: whether all of it is in memory.
        problem: why not all of it is stored, or None.
        artifact: where it is stored, as of the last look at it.
        info: the artifact's.
        begun: the id of an artifact that was begun and not announced yet.
    """

    def __init__(
        self,
        open_session: Callable[[], Session],
        profile: Profile,
        described: Description,
        scans: OutputScans,
        rules: RedactionRules | None,
        began: float | None,
    ) -> None:
        """Begin with nothing.

        Args:
            open_session: gives the session; called once, if something must be stored.
            profile: says how much is kept.
            described: what the output is called.
            scans: read the sequence as it comes.
            rules: by which secrets are taken out; None for none.
            began: when the output began, by ``time.monotonic``; None for now.
        """
        self.lock = threading.Lock()
        self.session: Session | None = None
        self.sizes = [0, 0]
        self.spooling = True
        self.problem: str | None = None
        self.artifact: Artifact | None = None
        self.info: ArtifactInfo | None = None
        self.begun: str | None = None
        self._open_session = open_session
        self._profile = profile
        self._described = described
        self._scans = scans
        self._redacted: Redacted | Literal[False] = False
        redactors = None
        if rules is not None:
            from spillstore.redaction import Redacted  # noqa: PLC0415  # not where it is switched off

            redactors = rules.redactor(), rules.redactor()
            self._redacted = Redacted(rules)
        ago = 0.0 if began is None else time.monotonic() - began  # to import redaction has taken time
        self.sequencer = Sequencer(redactors=redactors, stream_limit=profile.stream_limit, ago=ago)
        self._context = contextvars.copy_context()  # of the actor: the job's thread has none
        self._writer: Writer | None = None

    @property
    def received(self) -> int:
        """Bytes that came."""
        return sum(self.sizes)

    @property
    def redactions(self) -> dict[str, int]:
        """How many secrets were taken out so far, by kind."""
        found = dict(self._described.redactions)
        for kind, count in self.sequencer.redactions.items():
            found[kind] = found.get(kind, 0) + count
        return found

    @property
    def capped(self) -> frozenset[str]:
        """The streams of which more has come than the profile keeps."""
        behind = self.sequencer.behind
        if not any(behind):
            return frozenset()
        return frozenset(name for name, size in zip(STREAMS, behind, strict=True) if size)

    def write(self, data: bytes, stream: int, at: float | None = None) -> None:
        """Take bytes, as ``Writer.write``; blocks while the store is behind."""
        if self._writer is not None:
            data = self._write_on(self._writer, data, stream, at)
        if self._writer is None:
            self.sequencer.write(stream, data, at)
            if self.spooling and self._is_much():
                self.store()

    def _is_much(self) -> bool:
        limit = self._profile.stream_limit
        return self.received > self._profile.buffer_bytes or (
            limit is not None and max(self.sequencer.passed) > limit
        )

    def _write_on(self, writer: Writer, data: bytes, stream: int, at: float | None) -> bytes:
        """Store bytes; returns those that the store has not taken."""
        before = writer.received
        try:
            writer.write(data, STREAMS[stream], at=at)
        except SpillstoreError as error:
            taken = writer.received - before
            self._fail(error)
            return data[taken:]
        return b""

    def store(self, *, scanned: bool = False) -> None:
        """Store the output from its first byte on; ``scanned`` if the scans have seen all of it, for it has ended."""
        self.spooling = False
        beginning = self.sequencer.beginning()
        self._described.guess(beginning, whole=scanned)
        # A guess; where more output proves it wrong, the artifact is looked at again.
        terminator = None if scanned else self._described.guess_terminator(beginning, whole=False)
        if terminator is not None:
            self._scans.begin(terminator)
        tap = None if scanned else self._scans.see
        try:
            self.session = self._open_session()
            self._writer = self._context.run(
                self.session.create,
                source=self._described.source,
                command=self._described.command,
                tool_call_id=self._described.tool_call_id,
                content_type=self._described.content_type,
                newline=self._described.newline,
                limit=self._profile.size_limit,
                policy=self._profile.policy,
                redact=self._redacted,
                tap=tap,
                spool=self.sequencer,
            )
            self.begun = self._writer.id
        except Exception as error:  # noqa: BLE001  # whatever the caller's functions raise, the tool call succeeds
            self.problem = str(error) or type(error).__name__
            if not self.sequencer.watched:
                self.sequencer.watch(tap)
            self.sequencer.disconnect()

    def flush(self) -> None:
        """Let the scans see everything that has come, and look at what is stored."""
        if self._writer is not None:
            try:
                self._writer.flush()
            except SpillstoreError as error:
                self._fail(error)
        if self._writer is not None:
            self._find(self._writer.id, empty=True)
        else:
            self.sequencer.flush()

    def close(self, exit_code: int | None) -> None:
        """End the output, and the artifact if there is one."""
        if (writer := self._writer) is not None:
            try:
                writer.close(exit_code=exit_code, redactions=self._described.redactions)
            except SpillstoreError as error:
                self._fail(error)
            else:
                self._writer = None
                self._find(writer.id, empty=True)
        self.sequencer.flush(finish=True)

    def abort(self, reason: str) -> None:
        """Keep nothing more: what was stored stays, ``interrupted``; what is in memory is dropped."""
        self.spooling = False
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(SpillstoreError):
                writer.abort(reason)
            self._find(writer.id, empty=True)
        self.sequencer.disconnect()

    def delete(self) -> None:
        """Remove the artifact; where that fails it stays."""
        if self.artifact is not None:
            with contextlib.suppress(SpillstoreError):
                self.artifact.delete()
                self.artifact = self.info = None

    def _fail(self, error: SpillstoreError) -> None:
        """Go on without the store."""
        self.problem = self.problem or str(error) or type(error).__name__
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(SpillstoreError):
                writer.abort(self.problem)
            self._find(writer.id)

    def _find(self, artifact_id: str, *, empty: bool = False) -> None:
        """Learn what was stored; an artifact without a byte counts where it is ``empty``."""
        assert self.session is not None  # there was a writer
        try:
            artifact = self.session.artifact(artifact_id)
            info = artifact.info
        except SpillstoreError as error:
            if empty:
                self.problem = self.problem or str(error)
            if isinstance(error, _DELETED):
                self.artifact = self.info = None
        else:
            if info.size or empty:
                self.artifact, self.info = artifact, info
