"""Makes artifacts: for bytes that come one by one, and for content that is already there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.artifact import Artifact
from spillstore.engine.errors import translated

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.info import Newline
    from spillstore.ingest.content import Content
    from spillstore.ingest.sequencer import Sequencer
    from spillstore.ingest.stream_filters import FilterFactory, Tap
    from spillstore.session.handle import SessionHandle
    from spillstore.session.options import Redact
    from spillstore.settings import Policy, Size
    from spillstore.writer import Writer


class ArtifactCreator:
    """Makes the artifacts of one session."""

    def __init__(self, session: SessionHandle, before_create: Callable[[], None]) -> None:
        self._session = session
        self._before_create = before_create  # makes room for an artifact
        if not session.core.read_only:
            # At once, and not with the first write: another thread may fork just then, and its child would wait for the import.
            _write_path()

    def create(
        self,
        *,
        source: str = "",
        tool_call_id: str | None = None,
        command: str | None = None,
        content_type: str | None = None,
        newline: Newline = "lf",
        limit: Size | None = None,
        policy: Policy | None = None,
        redact: Redact = None,
        filters: FilterFactory | None = None,
        tap: Tap | None = None,
        ago: float = 0.0,
        spool: int | Sequencer | None = None,
    ) -> Writer:
        """Begin an artifact. Returns when its row is committed, so that others can see it at once, unless it is spooled.

        Args:
            source: the tool that prints.
            tool_call_id: the call it answers.
            command: the command or arguments.
            content_type: a media type, such as ``text/plain``.
            newline: ``lf``; ``cr`` for text whose lines end in CR alone; ``auto`` to decide between the two at the
                end, CR where no LF stands but as the last byte: for content that did not come from a process (where a
                lone CR draws over the line).
            limit: raw bytes that may be kept, also as text such as ``"64MiB"``; None for the setting.
            policy: ``roll``, ``stop`` or ``reject`` at the limit; None for the setting.
            redact: whether secrets are taken out of the output, the command, the source and the media type before anything
                is stored; rules of its own, or ``Redacted`` by a caller that has done it; None for the store's setting and rules.
                What is switched off is recorded.
            filters: makes what may change each stream before it is stored; see ``StreamFilter``.
            tap: sees the sequence as it is stored; called on a worker thread, one call at a time.
            ago: seconds since it began to be printed, where that was before this call; the artifact's times count from then.
            spool: bytes of output that are kept in memory before anything is stored. Filters, redaction, tap and limits work
                from the first byte; the artifact can be read, counts for quotas and is in the audit log once there is more,
                or ``flush``, ``close`` or ``abort`` asks for it. A ``Sequencer`` has taken the beginning of the output before
                there was a session: it is stored now, with what the sequencer takes out of it; ``filters`` and ``ago`` are its
                own then, and ``redact`` concerns the command, the source and the media type alone.

        Returns:
            The writer. Cost: one small transaction; with a number as ``spool`` none.

        Raises:
            InvalidSettingError: an argument of a wrong type or value.
            RateLimitError, StoreQuotaError, DiskFullError, SessionDeletedError, LockedError, ReadOnlyError: it cannot be
                stored.
        """
        self._session.check_open()
        with translated("beginning an artifact"):  # who reads alone has not imported it, and is refused later
            from spillstore.ingest.spool import Spool  # noqa: PLC0415  # see ``_write_path``
            from spillstore.session.new_artifact import NewArtifact  # noqa: PLC0415  # likewise
            from spillstore.writer import Writer  # noqa: PLC0415  # likewise

        new = NewArtifact(
            self._session,
            source=source,
            tool_call_id=tool_call_id,
            command=command,
            content_type=content_type,
            newline=newline,
            limit=limit,
            policy=policy,
            redact=redact,
            filters=filters,
            tap=tap,
            ago=ago,
            spool=spool,
        )
        ingest = self._session.core.ingest
        pipeline = new.pipeline(ingest.owner)

        def begin() -> None:
            with ingest.limits(new.source):
                self._before_create()
            ingest.begin(pipeline, new.detail())

        if isinstance(spool, int):
            return Writer(ingest, pipeline, new.rules, Spool(pipeline, spool, begin, ingest.check_usable))
        writer = Writer(ingest, pipeline, new.rules)
        begin()
        return writer

    def put(
        self,
        data: Content,
        *,
        exit_code: int | None = None,
        source: str = "",
        tool_call_id: str | None = None,
        command: str | None = None,
        content_type: str | None = None,
        newline: Newline = "auto",
        limit: Size | None = None,
        policy: Policy | None = None,
        redact: Redact = None,
    ) -> Artifact:
        """Store content that is already there: bytes, text, a file by its path, or an iterable of bytes such as an open file.

        It is stored as ``stdout``. What is no content, or cannot be read, is refused before anything is begun. Content above
        the limit is cut as the policy says; ``info.hole`` is what ``roll`` has dropped, and the log and the events say that
        a limit was met. The other parameters are those of ``create``; ``newline`` is ``auto`` here, because content that is put
        does not come from a process.

        Returns:
            The sealed artifact. In a session that is full another process may have evicted it by then, which its reads say.

        Raises:
            UsageError: it is no content (a dict, a number, a list of texts ...), or a file that cannot be opened.
            InvalidSettingError, StorageError: as for ``create`` and ``Writer.write``.
        """
        with translated("beginning an artifact"):  # as in ``create``
            from spillstore.ingest.content import opened  # noqa: PLC0415  # see ``_write_path``

        with opened(data) as pieces:
            writer = self.create(
                source=source,
                tool_call_id=tool_call_id,
                command=command,
                content_type=content_type,
                newline=newline,
                limit=limit,
                policy=policy,
                redact=redact,
            )
            with writer:
                writer.exit_code = exit_code
                for piece in pieces:
                    writer.write(piece)
        core = self._session.core
        core.audit.about(writer.id)
        return Artifact(core, writer.id)


def _write_path() -> None:
    """Import what writing needs, and reading does without."""
    with translated("opening the session"):  # an import opens files
        import spillstore.ingest.content  # noqa: PLC0415
        import spillstore.ingest.spool  # noqa: PLC0415
        import spillstore.session.new_artifact  # noqa: PLC0415
        import spillstore.writer  # noqa: F401, PLC0415
