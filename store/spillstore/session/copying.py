"""Copies a session from one store to another, row by row, whatever their engines are.

No digest covers an integer key, and none the place of a session, so rows go over as they are: the session's own with its
uid, artifacts, chunks, events with their keys. What was verified here is what the other store will verify. All is read in
one snapshot, so a session that is written meanwhile is copied as it was at one moment. An artifact that was open then bears the
name of an owner who is nobody in the other store: it is read as ``interrupted`` there, and the next writer records that.
Chunks of an artifact that is marked as deleted stay behind; its row goes along, since the session's sum over its artifacts
(``format.rollback_guard``) counts it, and the next writer removes it.
"""

from __future__ import annotations

import contextlib
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from spillstore import info as infos
from spillstore.engine.base import VanishedError
from spillstore.engine.rows import EVENT_FIELDS
from spillstore.exceptions import (
    DigestKeyError,
    IntegrityError,
    SessionBusyError,
    SessionDeletedError,
    SessionExistsError,
    SessionNotFoundError,
    SessionQuotaError,
    SpillstoreError,
    UnsupportedError,
    UsageError,
)
from spillstore.format.digests import new_digest
from spillstore.ingest.session_pool import release
from spillstore.ingest.session_record import check_key
from spillstore.model.records import COMBINED
from spillstore.model.validation import WHOLE, is_count, read_artifact_row
from spillstore.read.sequence import FETCH, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.engine.base import Backend, SessionImport, SessionRef
    from spillstore.engine.rows import Row, Snapshot
    from spillstore.format.digests import Algorithm
    from spillstore.info import CopyReport
    from spillstore.ingest.session_core import SessionCore
    from spillstore.ingest.session_pool import SessionPool
    from spillstore.model.records import ArtifactRow, SessionRow
    from spillstore.settings import Settings

_ROWS = 100  # of artifacts or events, that are read at once
_FIELDS = len(EVENT_FIELDS)
_ATTEMPTS = 10  # to replace a session that others make anew all the time


class CopyTarget(NamedTuple):
    """The store that is copied to.

    Attributes:
        backend: its sessions.
        settings: its settings.
        key: its digest key, or None.
        before_make: makes room for so many bytes, or raises that there is none.
        pool: opens its sessions.
        delete: deletes a session of it, by its id and its project.
    """

    backend: Backend
    settings: Settings
    key: bytes | None
    before_make: Callable[[int], None]
    pool: SessionPool
    delete: Callable[[str, str | None], None]


class SessionCopy:
    """One copy of one session; see ``Store.copy_session``."""

    def __init__(
        self,
        ref: SessionRef,
        target: CopyTarget,
        *,
        force: bool,
        replace: bool,
        on_progress: Callable[[int, int], object] | None,
    ) -> None:
        self._ref = ref
        self._target = target
        self._force = force
        self._replace = replace
        self._on_progress = on_progress

    def run(self, source: SessionPool) -> CopyReport:
        """Copy it from there."""
        ref, target = self._ref, self._target.backend
        if source.backend.place(ref) == target.place(ref):
            raise UsageError(f"session {ref.session_id!r} cannot be copied to where it is: {target.name}")
        if not self._replace and not self._is_free():
            raise SessionExistsError(
                f"{target.name} has a session {ref.session_id!r} of project {ref.project!r} already; delete it there, or copy "
                "with replace=True (`spillstore copy --replace`)"
            )
        core = source.acquire(ref, read_only=True, before_make=None)
        try:
            # Before the snapshot, which may hold the only connection that there is.
            if not self._force and (others := core.store.others()):
                raise SessionBusyError(
                    f"session {ref.session_id!r} is open for writing in {', '.join(others)}; close it there, or copy it as it is "
                    "now with force=True (`spillstore copy --force`)"
                )
            with core.snapshot("copying the session") as rows:
                report = self._copy(core, rows)
            detail = {"artifacts": report.artifacts, "stored_size": report.stored_size}
            core.audit.emit("copy_session", detail)
        finally:
            release(core)
        return report

    def _is_free(self) -> bool:
        """Whether no session of the target has that name; a deletion that broke off is finished."""
        ref, target = self._ref, self._target.backend
        if not target.exists(ref, repair=True):
            return True
        try:
            target.finish_deletion(ref).free()
        except VanishedError:
            return True
        except SpillstoreError:  # it is not marked as deleted, or cannot be read
            return False
        return True

    def _copy(self, core: SessionCore, rows: Snapshot) -> CopyReport:
        session = core.record.read(rows)
        core.record.check_fresh(rows)
        self._check(rows, session)
        with self._target.backend.importing(self._ref, session) as new:
            report = _Filling(rows, session.digest_algorithm, new, self._on_progress).fill()
            self._commit(new)
        return report

    def _check(self, rows: Snapshot, session: SessionRow) -> None:
        """Raise what keeps the session from being copied at all."""
        name, target = self._ref.session_id, self._target
        if session.deleted_us is not None:
            raise SessionNotFoundError(f"session {name!r} was deleted; Store.sessions() lists what there is")
        try:
            check_key(session, target.key)
        except DigestKeyError as error:
            raise DigestKeyError(
                f"session {name!r} cannot be copied to {target.backend.name}, which could not verify it: {error} (digests are "
                "copied as they are, so both stores need the same digest key)"
            ) from None
        if rows.orphan_chunks():
            raise IntegrityError(f"session {name!r} has chunks of an artifact that is not there")
        used, quota = rows.used(), target.settings.session_quota
        if used > quota:
            raise SessionQuotaError(
                f"session {name!r} takes {used} bytes, and a session of {target.backend.name} may take {quota}; raise "
                "SPILLSTORE_SESSION_QUOTA"
            )
        target.before_make(used)

    def _commit(self, new: SessionImport) -> None:
        for _ in range(_ATTEMPTS):
            try:
                new.commit()
            except SessionExistsError:
                if not self._replace:
                    raise
            else:
                return
            if self._replaced(new):
                return
        raise SessionBusyError(
            f"session {self._ref.session_id!r} of {self._target.backend.name} is made anew all the time; try again later"
        )

    def _replaced(self, new: SessionImport) -> bool:
        """Let it take the place of the session that is there, in one step; False if that is gone, and ``commit`` is next."""
        target = self._target
        try:
            core = target.pool.acquire(self._ref, read_only=False, before_make=None)
            try:
                remains = core.delete_session(force=False, successor=new)
            finally:
                release(core)
        except (SessionNotFoundError, SessionDeletedError):
            return False  # somebody else has deleted it
        except UnsupportedError:  # where two names cannot be exchanged, there is neither for a moment
            with contextlib.suppress(SessionNotFoundError):
                target.delete(*self._ref)
            return False
        core.abandon()
        remains.free()
        target.backend.forget_size()
        return True


class _Filling:
    """Fills a session with the rows of a snapshot, each of which is checked before."""

    def __init__(
        self,
        rows: Snapshot,
        algorithm: Algorithm,
        new: SessionImport,
        on_progress: Callable[[int, int], object] | None,
    ) -> None:
        self._rows = rows
        self._algorithm = algorithm
        self._new = new
        self._on_progress = on_progress
        self._total = rows.kept_size()
        self._artifacts = self._open = self._chunks = self._events = self._size = self._stored = 0

    def fill(self) -> CopyReport:
        """Copy all rows but the session's own."""
        after = -1
        while found := self._rows.artifacts_after(after, _ROWS):
            records = [read_artifact_row(row, self._algorithm) for row in found]
            self._new.add_artifacts(records)
            for record in records:
                if record.state != "deleted":
                    self._copy_chunks(record)
            after = records[-1].artifact_key
        after = -1
        while events := self._rows.whole_events_after(after, _ROWS):
            for event in events:
                check_event(event)
            self._new.add_events(events)
            self._events += len(events)
            after = events[-1][0]
        return infos.CopyReport(
            artifacts=self._artifacts,
            open=self._open,
            chunks=self._chunks,
            events=self._events,
            size=self._size,
            stored_size=self._stored,
        )

    def _copy_chunks(self, record: ArtifactRow) -> None:
        """Copy the chunks of an artifact, which are those that its row says, in their places."""
        self._artifacts += 1
        self._open += record.state == "open"
        sequence = Sequence(self._rows, record, self._algorithm)
        hole, chunk_size = sequence.hole, record.chunk_size
        none = record.chunks if hole is None else hole.first_seq
        digests, stored = new_digest(self._algorithm), 0
        for first, end in ((0, none), (none if hole is None else hole.last_seq, record.chunks)):
            if first == end:
                continue
            walk = sequence.walk(COMBINED, first * chunk_size, min(end * chunk_size, record.size))
            while batch := list(islice(walk, FETCH)):
                self._new.add_chunks(record.artifact_key, batch)
                for row in batch:
                    digests.update(row.digest)
                    stored += row.stored_size
                    self._size += row.size
                self._chunks += len(batch)
                if self._on_progress is not None:
                    self._on_progress(self._size, self._total)
        self._stored += stored
        strays = [(record.chunks, WHOLE)]
        if hole is not None:
            strays.append((hole.first_seq, hole.last_seq - 1))
        if (
            any(sequence.stray(*each) is not None for each in strays)
            or stored != record.stored_size
            or record.chunks_digest not in {None, digests.digest()}
        ):
            raise IntegrityError(
                f"{record.artifact_id} has other chunks than its row says; Artifact.verify tells which"
            )


def check_event(row: Row) -> None:
    """Raise IntegrityError for a row that is no event's. Events have no digest."""
    infos.event_of(row[:_FIELDS])
    key, detail, shown = row[0], row[_FIELDS - 1], row[_FIELDS]
    if not is_count(key) or type(detail) is not str or (shown is not None and type(shown) is not bytes):
        raise IntegrityError(f"event {repr(key)[:30]} of the audit log is damaged")
