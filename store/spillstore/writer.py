"""The writing end of an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from spillstore.exceptions import (
    ArtifactTooLargeError,
    ClosedError,
    RangeError,
    SpillstoreError,
    UsageError,
)
from spillstore.ingest.pipeline import UNFILTERED_SLOW, Ending
from spillstore.model.arguments import storable
from spillstore.model.records import STREAMS
from spillstore.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from spillstore.ingest.ingest import Ingest
    from spillstore.ingest.pipeline import Pipeline
    from spillstore.ingest.spool import Spool
    from spillstore.redaction import RedactionRules

_PIECE = MIB  # a larger write enters the queue in pieces, so that the queue's bounds hold; of what is filtered, one above ``unfiltered``
_LONGEST = 200  # characters of the reason that an exception is
_FILTERED_AT_ONCE = 2048  # bytes that the slowest filters take a few milliseconds for


def reason_of(error: BaseException, rules: RedactionRules | None) -> str:
    """What is said of an artifact that an exception ended: its type and the beginning of its words, without their secrets.

    >>> reason_of(OSError("the disk is gone"), None), reason_of(KeyboardInterrupt(), None)
    ('OSError: the disk is gone', 'KeyboardInterrupt')
    """
    words = f"{type(error).__name__}: {error}".removesuffix(": ")
    return words[:_LONGEST] if rules is None else rules.beginning(words, _LONGEST)


class Writer:
    r"""Takes the bytes of one artifact. Safe from any thread; use it as a context manager.

    Leaving the block seals the artifact; an exception in the block leaves it ``interrupted`` with the exception's name
    as reason, and everything written so far stays readable. A storage failure is raised by the next ``write``,
    ``flush`` or ``close``.

    A writer that spools (``Session.create(spool=N)``) keeps up to N bytes in memory, and touches no disk until there are more,
    or until ``flush``, ``close`` or ``abort`` is called. ``discard`` ends it without storing anything. When the artifact
    cannot begin then, that is a storage failure like any other, and ``discard`` still gives what was written.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root).session("demo") as session:
        ...     with session.create(source="bash") as writer:
        ...         _ = writer.write(b"out\n")
        ...         _ = writer.write("err\n", stream="stderr")
        ...     session.artifact(writer.id).read_bytes(0, 8, stream="stderr")
        b'err\n'
    """

    def __init__(
        self,
        ingest: Ingest,
        pipeline: Pipeline,
        rules: RedactionRules | None = None,
        spool: Spool | None = None,
    ) -> None:
        self._rules = rules
        self._ingest = ingest
        self._pipeline = pipeline
        self._spool = spool
        self._exit_code: int | None = None
        if pipeline.received and self._passes_limit():  # a sequencer has taken too much already
            self._reject()

    def __repr__(self) -> str:
        return f"<Writer {self.id}>"

    @property
    def id(self) -> str:
        """The artifact's id. Of a writer that spools it leads to nothing until ``stored`` is true."""
        return self._pipeline.row.artifact_id

    @property
    def stored(self) -> bool:
        """Whether the session has the artifact: false while a writer that spools keeps all of it in memory."""
        return self._pipeline.begun

    @property
    def closed(self) -> bool:
        """Whether nothing more can be written."""
        return self._pipeline.ended

    @property
    def received(self) -> int:
        """Bytes handed to ``write`` so far."""
        return self._pipeline.received

    @property
    def exit_code(self) -> int | None:
        """The exit code that the artifact is sealed with; set it before the block ends.

        Raises:
            UsageError: it is set to what is no whole number of 64 bits, or None for none.
        """
        return self._exit_code

    @exit_code.setter
    def exit_code(self, value: int | None) -> None:
        self._exit_code = _code(value)

    def write(
        self,
        data: bytes | bytearray | memoryview | str,
        stream: Literal["stdout", "stderr"] = "stdout",
        *,
        at: float | None = None,
    ) -> int:
        """Queue bytes of one stream; they are readable at most 200 ms later, unless they are spooled.

        Args:
            data: bytes, anything with a buffer (copied), or text (stored as UTF-8; half surrogates that stand for
                bytes become those bytes again).
            stream: ``stdout`` or ``stderr``.
            at: when they were printed, as a reading of ``time.monotonic``, for who could not write them at once; now by
                default. Times never go back: bytes are not stored as older than those before them.

        Returns:
            How many bytes that was. Blocks only while the queue is full.

        Raises:
            RangeError: there is no such stream.
            UsageError: ``data`` is neither bytes nor text, or ``at`` no number.
            ClosedError: the writer was closed.
            ArtifactTooLargeError: the ``reject`` policy's limit is passed; the artifact is discarded.
            StorageError: storing an earlier write failed.
        """
        if stream not in STREAMS:
            raise RangeError(f"stream must be stdout or stderr, not {stream!r}")
        if at is not None and not isinstance(at, (int, float)):
            raise UsageError(f"at must be a reading of time.monotonic, or None for now, not {at!r}")
        raw = data if type(data) is bytes else _as_bytes(data)
        size = len(raw)
        if self._passes_limit(size):
            self._reject(size)
        number = STREAMS.index(stream)
        most = self._pipeline.unfiltered if self._pipeline.filtered else _PIECE
        if size <= most:
            if size:
                self._take(number, raw, at)
        else:
            for start in range(0, size, most):
                self._take(number, raw[start : start + most], at)
        return size

    def _take(self, stream: int, data: bytes, at: float | None) -> None:
        if (spool := self._spool) is not None:
            if spool.write(stream, data, at):
                return
            self._spool = None  # the artifact has begun
        self._ingest.inboxes.write(self._pipeline, stream, data, at)

    def would_block(self, size: int) -> bool:
        """Whether a write of that many bytes may take milliseconds: no room, much to copy or filter, or a limit passed."""
        much = UNFILTERED_SLOW if self._pipeline.filtered else _PIECE
        if size > much or self._passes_limit(size):
            return True
        if (spool := self._spool) is not None and not self._pipeline.begun:
            return spool.would_begin(size) or (self._pipeline.filtered and size > _FILTERED_AT_ONCE)
        return not self._ingest.inboxes.room(self._pipeline, size)

    def flush(self) -> None:
        """Return when everything written so far is committed, lines without an end included.

        Raises:
            ClosedError, StorageError: as for ``write``.
        """
        if (spool := self._spool) is not None:
            spool.store()
        self._ingest.flush(self._pipeline)

    def close(self, *, exit_code: int | None = None, redactions: Mapping[str, int] | None = None) -> None:
        """Commit everything and seal the artifact. Later calls do nothing.

        Args:
            exit_code: of the command whose output this was; None for what the property says.
            redactions: how many secrets of each kind a caller has taken out itself (``redact=Redacted(...)``), to be recorded.

        Raises:
            UsageError: an exit code that is no whole number.
            StorageError: something could not be stored; the artifact is ``interrupted`` and keeps what was committed.
        """
        code = self._exit_code if exit_code is None else _code(exit_code)
        ending = Ending("sealed", exit_code=code, redactions=dict(redactions or {}))
        self._end(ending)

    def abort(self, reason: str) -> None:
        """Commit everything and leave the artifact ``interrupted``.

        Where ``Session.create`` was given a ``Sequencer``, that goes on without the store: its tap sees what was written and could
        not be stored, its filters keep what they hold back, and it takes what comes next.

        Args:
            reason: what its ``info`` will say.

        Raises:
            StorageError: something could not be stored.
        """
        reason = storable(reason if self._rules is None else self._rules.redact(reason))
        try:
            self._end(Ending("interrupted", reason, output_goes_on=True))
        finally:
            if self._pipeline.shared:
                self._pipeline.sequence_rest()

    def discard(self) -> list[tuple[str, bytes]]:
        """End it and keep nothing: of an artifact that was stored already, everything is deleted. Later writes raise ClosedError.

        Returns:
            What a writer that spools has kept in memory, as ``(stream, bytes)`` in the order in which it would be stored,
            secrets taken out; nothing if it was stored.

        Raises:
            StorageError: what was stored cannot be deleted.
        """
        spool = self._spool
        runs = None if spool is None else spool.discard()
        if runs is None and not self.closed:
            error = ClosedError(f"the writer of {self.id} was discarded")
            self._ingest.check_usable()
            self._ingest.drop(self._pipeline, error, "discarded")
        return runs or []

    def _end(self, ending: Ending) -> None:
        if (spool := self._spool) is not None and not self._pipeline.ended:
            spool.store()
        self._ingest.end(self._pipeline, ending)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.abort(reason_of(error, self._rules))
        except SpillstoreError as failure:
            # The exception that left the block is the one to raise; this one must not be lost either.
            if failure is not error:
                error.add_note(f"artifact {self.id} could not be stored whole: {failure}")

    def _passes_limit(self, more: int = 0) -> bool:
        """Whether so many more bytes are more than the ``reject`` policy lets the artifact have."""
        row = self._pipeline.row
        return row.policy == "reject" and self._pipeline.received + more > row.size_limit

    def _reject(self, more: int = 0) -> None:
        """Remove the artifact, which so many more bytes make too large, unless another error is due first.

        Raises:
            ArtifactTooLargeError: always, but for that.
        """
        if self._pipeline.error is not None or self.closed:
            return
        row = self._pipeline.row
        size = self._pipeline.received + more
        error = ArtifactTooLargeError(
            f"the output has at least {size} bytes and an artifact may have {row.size_limit}; it was not kept. Print "
            "less, raise the limit, or choose the policy roll or stop"
        )
        detail = {"limit": "artifact_limit", "tool": row.source, "size": size, "most": row.size_limit}
        if (spool := self._spool) is not None:
            spool.refuse(error)  # first, so that no other thread begins what is removed here
        artifact_id = row.artifact_id if self.stored else None
        self._ingest.audit.add("limit", artifact_id, detail, tool_call_id=row.tool_call_id)
        self._ingest.drop(self._pipeline, error, "rejected")
        raise error


def _code(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise UsageError(f"exit_code must be a whole number of 64 bits or None, not {repr(value)[:80]}")
    return value


def _as_bytes(data: object) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError:
            pass
        try:
            return data.encode(errors="surrogateescape")
        except UnicodeEncodeError:
            return data.encode(errors="surrogatepass")
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise UsageError(f"write takes bytes or text, not {type(data).__name__}")
