"""A session: the artifacts of one conversation, in one file."""

from __future__ import annotations

import dataclasses
import re
import threading
from typing import TYPE_CHECKING, Self, TypedDict

from spillstore import info as infos
from spillstore.artifact import Artifact, info_of
from spillstore.audit.actor import acting, who
from spillstore.engine.errors import may_be_full
from spillstore.engine.rows import ArtifactFilter, EventFilter
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ClosedError,
    IntegrityError,
    InvalidSettingError,
    SessionDeletedError,
    StorageError,
)
from spillstore.format.chunk import ALL_BITS
from spillstore.ingest.content import opened
from spillstore.ingest.pipeline import Pipeline
from spillstore.ingest.sequencer import Sequencer
from spillstore.ingest.spool import Spool
from spillstore.model.ids import ARTIFACT_ID, named_by, new_artifact_id
from spillstore.model.records import ArtifactRow
from spillstore.model.validation import read_artifact_row
from spillstore.read.verify import verify
from spillstore.settings import KIB, Settings, parse_size
from spillstore.writer import Writer

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from spillstore.audit.action import Action
    from spillstore.engine.base import Remains
    from spillstore.info import ArtifactInfo, CheckReport, Event, Newline, Page, State
    from spillstore.ingest.content import Content
    from spillstore.ingest.session_core import SessionCore
    from spillstore.ingest.stream_filters import FilterFactory, Tap
    from spillstore.model.clock import Clock
    from spillstore.redaction import Redacted, RedactionRules
    from spillstore.settings import Policy, Size

    Redact = bool | Redacted | RedactionRules | None

CHUNK_SIZE = 64 * KIB
_NEVER_US = 2**62
_BACKGROUND_BYTES = 16 * 1024 * KIB
_PAGE = 100
_LONGEST_ID = 4096  # characters of a refused id that are looked at
_SHORT = 20  # letters and digits that are no secret without a name
_NEWLINES = ("auto", "lf", "cr")
_STATES = ("open", "sealed", "interrupted")
_HIDDEN = re.compile(r"hidden:[\w-]{11}", re.ASCII)
_CURSOR = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)


def _done_by(redact: Redact) -> RedactionRules | None:
    """By which rules a caller has taken secrets out itself."""
    if redact is None or isinstance(redact, bool):
        return None
    from spillstore.redaction import Redacted  # noqa: PLC0415  # it is there, since ``redact`` is one of its values

    return redact.rules if isinstance(redact, Redacted) else None


def _without_secrets(text: str, rules: RedactionRules, counts: dict[str, int]) -> str:
    if text.isalnum() and len(text) < _SHORT:
        return text
    clean, found = rules.counted(text)
    for kind, count in found.items():
        counts[kind] = counts.get(kind, 0) + count
    return clean


class MetaOptions(TypedDict, total=False):
    """What is said of an artifact; each is told at ``Session.create``."""

    source: str
    tool_call_id: str | None
    command: str | None
    content_type: str | None
    newline: Newline
    limit: Size | None
    policy: Policy | None
    redact: Redact


class PutOptions(MetaOptions, total=False):
    """The same, and what is known of content that is already there."""

    exit_code: int | None


class CreateOptions(MetaOptions, total=False):
    """The same, and what concerns the bytes on their way."""

    filters: FilterFactory | None
    tap: Tap | None
    ago: float
    spool: int | Sequencer | None


class _Progress:
    """How far all artifacts are, of how far the one is that is looked at."""

    def __init__(self, told: Callable[[int, int], object] | None, session: Session) -> None:
        self._told = told
        self._total = 0
        if told is not None:
            with session._engine.reader() as rows:  # noqa: SLF001  # this is a part of it
                self._total = rows.kept_size()
        self._before = self._behind = 0

    def of(self, kept: int) -> Callable[[int, int], None]:
        """The next artifact, of so many bytes."""
        self._before, self._behind = self._behind, self._behind + kept
        return self._tell

    def _tell(self, done: int, _: int) -> None:
        if self._told is not None:
            so_far = self._before + done
            self._told(so_far, max(so_far, self._total))


class Session:
    r"""All artifacts of one conversation. Made by ``Store.session``; safe from any thread; a context manager.

    Leaving the block closes the session and keeps it.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root).session("chat-42", project="web") as session:
        ...     artifact = session.put("hello\n", source="doc", tool_call_id="call_1")
        ...     [found.id == artifact.id for found in session.artifacts(source="doc")]
        [True]
    """

    def __init__(
        self,
        engine: SessionCore,
        release: Callable[[SessionCore], None],
        root: Path | None = None,
        rules: RedactionRules | None = None,
        *,
        before_create: Callable[[], None] = lambda: None,
        deleted: Callable[[], None] = lambda: None,
        remove_unwritten: Callable[[], Remains] | None = None,
    ) -> None:
        self._engine = engine
        self._rules = rules
        self._release = release
        self._root = root
        self._before_create = before_create
        self._deleted = deleted
        self._remove_unwritten = remove_unwritten
        self._closed = False
        self._cleanup = engine.settings.cleanup_on_exit
        self._closing: list[Callable[[], object]] = []
        self._close_guard = threading.Lock()  # protects both, so that two threads release once

    def __repr__(self) -> str:
        return f"<Session {self.id!r} of project {self.project!r} in {self._engine.store.path.parent}>"

    @property
    def id(self) -> str:
        """The id as the caller gave it."""
        return self._engine.row.session_id

    @property
    def project(self) -> str | None:
        """The project it belongs to, or None."""
        return self._engine.row.project_id

    @property
    def root(self) -> Path | None:
        """The store's folder, or None where one file was opened."""
        return self._root

    @property
    def path(self) -> Path:
        """Its file."""
        return self._engine.store.path

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading alone."""
        return self._engine.read_only

    @property
    def present(self) -> bool:
        """Whether its file is still where it was opened, and not deleted or exchanged. Cost: one system call."""
        return self._engine.still_there()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._engine.settings

    @property
    def cleanup_on_exit(self) -> bool:
        """Whether ``end`` deletes the session; ``close`` keeps it all the same.

        At first that is the store's setting. Tools set it where their profile, or its configuration, wants what is stored to
        go with the session.
        """
        return self._cleanup

    @cleanup_on_exit.setter
    def cleanup_on_exit(self, value: bool) -> None:
        self._cleanup = value

    # --- writing ----------------------------------------------------------------------------------------

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
        settings = self._engine.settings
        if limit is not None or policy is not None:
            most = parse_size("limit", limit) if isinstance(limit, str) else limit
            settings = dataclasses.replace(
                settings,
                artifact_limit=settings.artifact_limit if most is None else most,
                artifact_policy=settings.artifact_policy if policy is None else policy,
            )
        if newline not in _NEWLINES:
            raise InvalidSettingError(f"newline must be one of {', '.join(_NEWLINES)}, not {newline!r}")
        for name, value in {
            "tool_call_id": tool_call_id,
            "command": command,
            "content_type": content_type,
        }.items():
            if value is not None and not isinstance(value, str):
                raise InvalidSettingError(f"{name} must be a string or None, not {value!r}")
        if not isinstance(source, str):
            raise InvalidSettingError(f"source must be a string, not {source!r}")
        _check_spool(spool)
        self._check_open()
        rules = self.redaction(redact)
        redacted: dict[str, int] = {}
        if rules is not None:
            source = _without_secrets(source, rules, redacted)
            command = None if command is None else _without_secrets(command, rules, redacted)
            content_type = None if content_type is None else _without_secrets(content_type, rules, redacted)
            tool_call_id = None if tool_call_id is None else rules.named(tool_call_id)
        if settings.hidden_metadata:
            source = self._hidden(source)
            command = None if command is None else self._hidden(command)
        clock = self._engine.clock
        ingest = self._engine.ingest
        shared = isinstance(spool, Sequencer)
        sequencer = spool if isinstance(spool, Sequencer) else _sequencer(filters, rules, clock, ago)
        created = _before(clock.time(), sequencer.age if shared else ago)
        # The roll policy drops whole chunks: of an artifact that may keep little, they must be small.
        chunk_size = (
            CHUNK_SIZE
            if settings.artifact_policy != "roll"
            else max(1, min(CHUNK_SIZE, settings.artifact_limit // 8))
        )

        row = ArtifactRow(
            artifact_key=0,
            artifact_id=new_artifact_id(created),
            tool_call_id=_storable(tool_call_id),
            source=_storable(source) or "",
            command=_storable(command),
            content_type=_storable(content_type),
            state="open",
            reason=None,
            owner=ingest.owner,
            newline=newline,
            chunk_size=chunk_size,
            size_limit=settings.artifact_limit,
            policy=settings.artifact_policy,
            created_us=int(created * 1e6),
            ended_us=None,
            exit_code=None,
            **dict.fromkeys(_COUNTERS, 0),
            line_flags=ALL_BITS,
            hole=None,
            content_digest=None,
            chunks_digest=None,
            digest=b"",
        )
        pipeline = Pipeline(
            row,
            sequencer,
            algorithm=self._engine.row.digest_algorithm,
            redacted=redacted,
            actor=who().actor,
            shared=shared,
        )
        sequencer.watch(
            tap,
            settings.artifact_limit if settings.artifact_policy == "stop" else None,
            hold_us=int(settings.hold_back * 1e6),
        )
        by = rules or _done_by(redact)
        detail: dict[str, object] = {"redact": False} if by is None else by.left()

        def begin() -> None:
            with ingest.limits(source):
                self._before_create()
            ingest.begin(pipeline, detail)

        if isinstance(spool, int):
            return Writer(ingest, pipeline, rules, Spool(pipeline, spool, begin, ingest.check_usable))
        writer = Writer(ingest, pipeline, rules)
        begin()
        return writer

    def redaction(self, wanted: Redact = None) -> RedactionRules | None:
        """The rules by which secrets are taken out, or None where they are not.

        Args:
            wanted: as for ``create``.

        Raises:
            InvalidSettingError: it is none of what may be given.
        """
        if wanted is False or (wanted is None and not self._engine.settings.redact):
            return None
        from spillstore.redaction import DEFAULT, Redacted, RedactionRules  # noqa: PLC0415  # not where it is switched off

        if isinstance(wanted, Redacted):
            return None
        rules = (self._rules or DEFAULT) if wanted is None or wanted is True else wanted
        if isinstance(rules, RedactionRules):
            return rules if rules.enabled else None
        raise InvalidSettingError(f"redact must be true, false, Redacted or RedactionRules, not {wanted!r}")

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

        What is no content, or cannot be read, is refused before anything is begun. Content above the limit is cut as the
        policy says; ``info.hole`` tells what ``roll`` has dropped, and the log and the events say that a limit was met.

        Args:
            data: the content, stored as ``stdout``.
            exit_code: of the command that it is the output of.
            source: as for ``create``, and so are the others.
            tool_call_id: the call it answers.
            command: the command or arguments.
            content_type: a media type.
            newline: ``auto`` here, because content that is put does not come from a process.
            limit: raw bytes that may be kept.
            policy: what happens there.
            redact: whether secrets are taken out.

        Returns:
            The sealed artifact.

        Raises:
            UsageError: it is no content (a dict, a number, a list of texts ...), or a file that cannot be opened.
            InvalidSettingError, StorageError: as for ``create`` and ``Writer.write``.
        """
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
        return self.artifact(writer.id)

    # --- finding ----------------------------------------------------------------------------------------

    def artifact(self, artifact_id: str) -> Artifact:
        """The artifact of that id, or of a URI ``artifact://ID``. One that is refused is recorded, as the event ``denied``.

        A URI may end in ``?stream=stderr``; which stream is read, each read is told itself.

        Raises:
            ArtifactNotFoundError: this session has none of that id; an id of another session looks just the same.
        """
        try:
            return self._artifact(artifact_id)
        except ArtifactNotFoundError:
            well_formed = isinstance(artifact_id, str) and ARTIFACT_ID.fullmatch(named_by(artifact_id)[0])
            rules = self.redaction()
            told = str(artifact_id)[:_LONGEST_ID]
            told = told if rules is None else rules.redact(told)
            self._engine.audit.denied(told, "unknown" if well_formed else "malformed")
            raise

    def _artifact(self, artifact_id: str) -> Artifact:
        self._check_open()
        given = artifact_id
        artifact_id = named_by(given)[0] if isinstance(given, str) else ""
        if not ARTIFACT_ID.fullmatch(artifact_id):
            raise self._engine.not_found(str(given)[:100])
        with self._engine.reader() as rows:
            record = self._engine.artifact_row(rows, artifact_id)
        self._engine.audit.about(artifact_id)
        return Artifact(self._engine, artifact_id, record)

    def exists(self, artifact_id: str) -> bool:
        """Whether this session holds an artifact of that id or URI."""
        try:
            self._artifact(artifact_id)
        except ArtifactNotFoundError:
            return False
        return True

    def matching(self, prefix: str, limit: int = 10) -> list[str]:
        """Ids that begin with ``prefix``, at most ``limit``."""
        self._check_open()
        with self._engine.reader() as rows:
            return rows.artifact_ids(prefix, prefix + "\U0010ffff", limit)

    def artifacts(
        self,
        *,
        source: str | None = None,
        state: State | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Artifact]:
        """The newest artifacts first: iterate over all of them, or take a page at a time.

        Args:
            source: only those of this tool.
            state: only ``open``, ``sealed`` or ``interrupted`` ones.
            tool_call_id: only those that answer this tool call.
            since: only those begun at this time or later, in seconds since 1970.
            limit: the most that a page holds, and then only that page is iterated over; None for pages of 100, and all of
                them are.
            cursor: a former page's ``cursor``, for the next one.

        Returns:
            The page. Cost: an index walk over what the page and its filters touch.

        Raises:
            InvalidSettingError: a filter, limit or cursor that means nothing.
        """

        def page(cursor: str | None) -> Page[Artifact]:
            found, following = self._page(source, state, tool_call_id, since, limit, cursor)
            artifacts = [Artifact(self._engine, record.artifact_id, record) for record in found]
            return infos.Page(artifacts, following, page if limit is None else None)

        return page(cursor)

    def infos(
        self,
        *,
        source: str | None = None,
        state: State | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[ArtifactInfo]:
        """Like ``artifacts``, but what is known of each, read in one snapshot."""

        def page(cursor: str | None) -> Page[ArtifactInfo]:
            found, following = self._page(source, state, tool_call_id, since, limit, cursor)
            told = [info_of(self._engine, record) for record in found]
            return infos.Page(told, following, page if limit is None else None)

        return page(cursor)

    def find(self, tool_call_id: str) -> Artifact:
        """The newest artifact that answers a tool call; ``artifacts(tool_call_id=...)`` has all of them.

        Cost: a look at each artifact's row, 7 ms at 10,000 of them.

        Raises:
            ArtifactNotFoundError: there is none.
            InvalidSettingError: the id is no text.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     _ = session.put("one", tool_call_id="call_1")
            ...     session.find("call_1").read()
            b'one'
        """
        if not isinstance(tool_call_id, str):
            raise InvalidSettingError(f"tool_call_id must be a string, not {tool_call_id!r}")
        for artifact in self.artifacts(tool_call_id=tool_call_id, limit=1):
            return artifact
        raise ArtifactNotFoundError(
            f"session {self.id!r} holds no artifact of the tool call {tool_call_id[:100]!r}; Session.infos() lists what "
            "there is"
        )

    def _page(
        self,
        source: str | None,
        state: str | None,
        tool_call_id: str | None,
        since: float | None,
        limit: int | None,
        cursor: str | None,
    ) -> tuple[list[ArtifactRow], str | None]:
        limit = _PAGE if limit is None else limit
        if state is not None and state not in _STATES:
            raise InvalidSettingError(f"state must be one of {', '.join(_STATES)}, not {state!r}")
        before_us, before_key = _place(limit, cursor)
        self._check_open()
        if source is not None and self._engine.settings.hidden_metadata:
            source = self._hidden(source)
        if tool_call_id is not None and (rules := self.redaction()) is not None:
            tool_call_id = rules.named(tool_call_id)  # as it was when it was stored
        out: list[ArtifactRow] = []
        wanted = ArtifactFilter(
            since_us=0 if since is None else int(since * 1e6),
            before_us=before_us,
            before_key=before_key,
            source=_storable(source),
            tool_call_id=_storable(tool_call_id),
        )
        with self._engine.snapshot("listing") as snapshot:
            while True:
                rows = snapshot.artifacts(wanted, min(limit, _PAGE) + 1)
                for row in rows:
                    record = self._engine.with_derived_state(
                        read_artifact_row(row, self._engine.row.digest_algorithm)
                    )
                    if state is not None and record.state != state:
                        continue
                    if len(out) == limit:
                        return out, f"{out[-1].created_us}-{out[-1].artifact_key}"
                    out.append(record)
                if len(rows) <= min(limit, _PAGE):
                    return out, None
                last = ArtifactRow(*rows[-1])
                wanted = wanted._replace(before_us=last.created_us, before_key=last.artifact_key)

    def events(
        self,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Event]:
        """What happened in the session, the newest first: iterate over all of it, or take a page at a time.

        Args:
            kind: only these: ``create``, ``seal``, ``read``, ...
            artifact_id: only what happened to this artifact, which may be gone by now.
            actor: only what this one did.
            tool_call_id: only what was done for this tool call.
            since: only from this time on, in seconds since 1970.
            until: only before this time.
            limit: the most that a page holds; None for 100, and iteration over all pages, as for ``artifacts``.
            cursor: a former page's ``cursor``, for the next one.

        Returns:
            The page. Cost: an index walk over the events of that time.

        Raises:
            InvalidSettingError: a limit or cursor that means nothing.
        """
        most = _PAGE if limit is None else limit
        before_us, before_key = _place(most, cursor)
        if cursor is None and until is not None:
            before_us = int(until * 1e6)
        self._check_open()
        wanted = EventFilter(
            since_us=0 if since is None else int(since * 1e6),
            before_us=before_us,
            before_key=before_key,
            kind=kind,
            actor=actor,
            artifact_id=None if artifact_id is None else named_by(artifact_id)[0],
            tool_call_id=tool_call_id,
        )
        self._engine.audit.flush()
        with self._engine.reader() as snapshot:
            rows = snapshot.events(wanted, most + 1)
        following = f"{rows[most - 1][1]}-{rows[most - 1][0]}" if len(rows) > most else None
        found = [infos.event_of(row) for row in rows[:most]]
        if limit is not None:
            return infos.Page(found, following)

        def page(cursor: str) -> Page[Event]:
            return self.events(
                kind=kind,
                artifact_id=artifact_id,
                actor=actor,
                tool_call_id=tool_call_id,
                since=since,
                until=until,
                cursor=cursor,
            )

        return infos.Page(found, following, page)

    def new_events(
        self,
        cursor: str | None = None,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int = _PAGE,
    ) -> Page[Event]:
        r"""What was recorded after a former call, in the order in which it reached the file: for who follows.

        That order is not quite that of time: a process writes what it has read up to two seconds later.

        Args:
            cursor: the ``cursor`` of the page before; None to begin.
            kind: only these, and so on, as for ``events``.
            artifact_id: likewise.
            actor: likewise.
            tool_call_id: likewise.
            since: where it begins, in seconds since 1970; None for now. Not looked at with a cursor.
            limit: the most that a page holds.

        Returns:
            The page; its ``cursor`` is never None. Fewer than ``limit`` events are all that there are for now. Cost: a look
            at each event that was recorded since.

        Raises:
            InvalidSettingError: a limit or cursor that means nothing.
            SessionDeletedError: it is gone.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     cursor = session.new_events().cursor
            ...     _ = session.put("one\n")
            ...     page = session.new_events(cursor)
            ...     [event.kind for event in page], session.new_events(page.cursor).items
            (['create', 'seal'], [])
        """
        at_us, after = _place(limit, cursor)
        if cursor is None:
            at_us, after = 0, 0
        self._check_open()
        if not self._engine.still_there():
            raise SessionDeletedError(f"session {self.id!r} was deleted")
        self._engine.audit.flush()
        artifact_id = None if artifact_id is None else named_by(artifact_id)[0]
        wanted = {"kind": kind, "artifact_id": artifact_id, "actor": actor, "tool_call_id": tool_call_id}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        from_us = 0 if since is None else int(since * 1e6)
        found: list[Event] = []
        with self._engine.reader() as snapshot:
            newest = snapshot.newest_event()
            if cursor is None and since is None:
                return infos.Page([], f"{int(self._engine.clock.time() * 1e6)}-{newest}")
            if newest < after:  # all of them were rotated away, and the keys have begun anew
                after, from_us = 0, at_us
            while True:
                rows = snapshot.events_after(after, _PAGE)
                for row in rows:
                    event = infos.event_of(row)
                    after, at_us = row[0], max(at_us, row[1])
                    if row[1] >= from_us and all(
                        getattr(event, name) == value for name, value in wanted.items()
                    ):
                        found.append(event)
                    if len(found) == limit:
                        break
                if len(rows) < _PAGE or len(found) == limit:
                    return infos.Page(found, f"{at_us}-{after}")

    def acting(
        self, actor: str | None = None, tool_call_id: str | None = None, *, otherwise: str | None = None
    ) -> contextlib.AbstractContextManager[None]:
        r"""Say who does all that is called in a ``with`` block, for its events: a model, a user, a program.

        It holds for this thread, for what ``asyncio.to_thread`` calls, and for every session.

        Args:
            actor: who; None for who it is outside: ``SPILLSTORE_ACTOR``, or ``library``.
            tool_call_id: the tool call that it is done for; None as outside.
            otherwise: who, where nobody has said so outside, nor ``SPILLSTORE_ACTOR``.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     artifact = session.put("one\ntwo\n")
            ...     with session.acting("model", "call_7"):
            ...         _ = artifact.read_lines(1, 1)
            ...     [(event.actor, event.tool_call_id, event.detail["bytes"]) for event in artifact.events("read")]
            [('model', 'call_7', 4)]
        """
        rules = None if tool_call_id is None else self.redaction()
        if rules is not None and isinstance(tool_call_id, str):
            tool_call_id = rules.named(tool_call_id)
        return acting(actor, tool_call_id, otherwise=otherwise)

    def action(self, kind: str, tool: str | None = None) -> contextlib.AbstractContextManager[Action]:
        """Make all that is read in a ``with`` block one event; for tools that read here and there for one answer.

        Args:
            kind: of the event: ``read``, ``search``, ``query``, ``compare``, ``list``, ``info``.
            tool: its name.

        Returns:
            What the block may tell of itself: ``artifact_id``, ``detail`` (values that JSON can hold, no content) and
            ``outcome``, ``ok`` or why there was no answer. An error that leaves the block is its outcome.
        """
        return self._engine.audit.action(kind, tool)

    def note(self, kind: str, detail: Mapping[str, object], *, artifact_id: str | None = None) -> None:
        """Take an event that is written with the next batch; ``Artifact.record`` writes at once.

        Args:
            kind: what happened, in one word.
            detail: what there is to say of it, without content; long texts are cut, and secrets taken out where the store
                takes them out.
            artifact_id: the artifact that it happened to, if there is one.
        """
        self._check_open()
        told = self._told(detail)
        if self._engine.settings.hidden_metadata and isinstance(tool := told.get("tool"), str):
            told["tool"] = self._hidden(tool)
        self._engine.audit.add(kind, artifact_id, told)

    def _told(self, detail: Mapping[str, object]) -> dict[str, object]:
        """What an event may say: no secret."""
        rules = self.redaction()
        if rules is None:
            return dict(detail)
        from spillstore.redaction.structures import without_secrets  # noqa: PLC0415  # not where it is switched off

        told = without_secrets(dict(detail), rules, {})
        assert isinstance(told, dict)  # as it was
        return told

    def count_passed(self, tool: str, size: int, calls: int = 1) -> None:
        """Count output that was shown whole and so not stored. It is written with the next events, never by itself.

        Args:
            tool: what printed it.
            size: its bytes.
            calls: how many calls printed it.
        """
        self._check_open()
        rules = self.redaction()
        tool = tool if rules is None else rules.named(tool)
        if self._engine.settings.hidden_metadata:
            tool = self._hidden(tool)
        self._engine.audit.passed(tool, size, calls)

    def sign(self, data: bytes) -> str:
        """Eleven characters that only who can open this session can make of ``data``: a keyed digest of 64 bits.

        With it, what was taken out of the session can be told from what only looks like it. The key is part of the
        session, and gone with it.
        """
        return self._engine.sign(data)

    def _hidden(self, text: str) -> str:
        """What stands for a source or a command where these are hidden: the same for the same text of one session."""
        if not text or _HIDDEN.fullmatch(text):
            return text
        return f"hidden:{self.sign(text.encode(errors='surrogatepass'))}"

    # --- life and death ---------------------------------------------------------------------------------

    def check(self, *, on_progress: Callable[[int, int], object] | None = None) -> CheckReport:
        """Check everything: the storage engine's own structure, every row's digest, every chunk, and that nothing is left over.

        Cost: reading and decoding the whole session, in flat memory. Others may go on writing, deleting and evicting: what
        goes meanwhile is not counted, and nothing is called damaged that was not there any more or had changed.

        Args:
            on_progress: called, on this thread, every few chunks with the bytes that are checked and those that there are.

        Raises:
            IntegrityError: lists what is wrong.
            SessionDeletedError, StorageError: it cannot be read to its end, which says nothing about what is in it.
        """
        self._check_open()
        problems = self._structure_problems()
        artifacts = chunks = size = 0
        progress = _Progress(on_progress, self)
        cursor: str | None = None
        while True:
            try:
                records, cursor = self._page(None, None, None, None, _PAGE, cursor)
            except IntegrityError as error:
                problems.append(str(error))
                break
            artifacts += len(records)
            # One that is open grows while it is read; its chunks are checked when it has ended.
            for record in (record for record in records if record.state != "open"):
                try:
                    found = verify(self._engine, record, progress.of(record.kept))
                except ArtifactNotFoundError:
                    artifacts -= 1  # deleted meanwhile
                except IntegrityError as error:
                    problems.append(str(error))
                else:
                    chunks += found.chunks
                    size += found.size
            if cursor is None:
                break
        if problems:
            raise IntegrityError(f"session {self.id!r}: " + "; ".join(problems))
        return infos.CheckReport(artifacts=artifacts, chunks=chunks, size=size)

    def _structure_problems(self) -> list[str]:
        """What the storage engine finds wrong, and chunks that belong to nobody."""
        with self._engine.snapshot("checking") as rows:
            problems = self._engine.store.structure_problems(rows)
            lost = rows.chunks_of_nobody()
            stale = []
            try:
                self._engine.record.check_fresh(rows)
            except IntegrityError as error:
                stale.append(str(error))
        return [
            *stale,
            *problems,
            *(f"chunks of an artifact that is not there (key {artifact})" for artifact in lost),
        ]

    def end(self, *, cleanup: bool | None = None) -> None:
        """Record that the conversation is over and close; delete at once where ``cleanup_on_exit`` is set.

        That is the setting of the store, or what a tool with a profile that wants it has made of the property.

        Args:
            cleanup: delete it, or keep it, whatever was said before.

        Raises:
            SessionBusyError: it is to be deleted and somebody else holds it.
        """
        self._check_open()
        self._before_close()
        if self._cleanup if cleanup is None else cleanup:
            self.delete()
            return
        self._engine.end_session()
        self.close()

    def delete(self, *, force: bool = False) -> None:
        """Delete the session with all its artifacts, atomically; large files are unlinked in the background.

        Args:
            force: delete it even though somebody alive holds it; they get ``SessionDeletedError``.

        Raises:
            SessionBusyError: somebody alive holds it, or a writer is open here.
            ReadOnlyError: it was opened for reading.
        """
        self._check_open()
        engine = self._engine
        try:
            gone = engine.delete_session(force=force)
        except StorageError as error:
            if self._remove_unwritten is None or not may_be_full(error) or engine.users > 1:
                raise
            self.close()  # as the last who has it open here
            self._remove_unwritten().free()
            return
        size = gone.size()
        self.close()
        self._deleted()

        def free() -> None:
            engine.abandon()
            gone.free()

        if size < _BACKGROUND_BYTES:
            free()
        else:
            # Not a daemon: a process that ends now waits the tenth of a second that a gigabyte takes.
            threading.Thread(target=free, name="spillstore-unlink").start()

    def on_close(self, function: Callable[[], object]) -> None:
        """Call ``function`` when this object is about to be closed, while it can still be used; the last named first.

        So what writes into the session can come to its end. What ``function`` raises is raised by ``close``, when the
        session has been let go of.

        Raises:
            ClosedError: it is closed.
        """
        self._check_open()
        with self._close_guard:
            self._closing.append(function)

    def _before_close(self) -> None:
        while True:
            with self._close_guard:
                if not self._closing:
                    return
                function = self._closing.pop()
            function()

    def close(self) -> None:
        """Let go of the session; artifacts still open through it are sealed as ``interrupted`` by the last one out."""
        try:
            self._before_close()
        finally:
            with self._close_guard:
                closed, self._closed = self._closed, True
            if not closed:
                self._release(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        self._engine.check_usable()
        if self._closed:
            raise ClosedError(f"session {self.id!r} was closed; open it again with Store.session")


_COUNTERS = (
    "chunks",
    "received",
    "size",
    "kept",
    "stored_size",
    "stdout_size",
    "stdout_lines",
    "stderr_size",
    "stderr_lines",
    "chars",
)


def _sequencer(
    filters: FilterFactory | None, rules: RedactionRules | None, clock: Clock, ago: float
) -> Sequencer:
    return Sequencer(
        filters=None if filters is None else (filters("stdout"), filters("stderr")),
        redactors=None if rules is None else (rules.redactor(), rules.redactor()),
        clock=clock,
        ago=ago,
    )


def _check_spool(spool: object) -> None:
    if spool is None or isinstance(spool, Sequencer):
        return
    if isinstance(spool, bool) or not isinstance(spool, int) or spool < 0:
        raise InvalidSettingError(f"spool must be bytes, 0 or more, a Sequencer or None, not {spool!r}")


def _before(now: float, ago: float) -> float:
    if not 0 <= ago <= now:
        raise InvalidSettingError(f"ago must be 0 seconds or more, and begin in 1970 or later, not {ago!r}")
    return now - ago


def _place(limit: int, cursor: str | None) -> tuple[int, int]:
    """The time and the key before which a page begins.

    Raises:
        InvalidSettingError: a limit or cursor that means nothing.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidSettingError(f"limit must be a whole number from 1, not {limit!r}")
    if cursor is None:
        return _NEVER_US, 0
    match = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    if match is None:
        raise InvalidSettingError(f"{str(cursor)[:80]!r} is no cursor; take it from the page before")
    return int(match[1]), int(match[2])


def _storable(text: str | None) -> str | None:
    """Text that every engine can hold: half surrogates, which UTF-8 has not, become U+FFFD."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
