"""Deletes sessions: those that are too old, and the oldest while all take more than they may."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.engine.base import SessionRef, VanishedError
from spillstore.exceptions import (
    InvalidSettingError,
    SessionBusyError,
    SessionNotFoundError,
    SpillstoreError,
    StoreQuotaError,
)
from spillstore.limits import retention
from spillstore.model.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.info import CollectReport, Fate
    from spillstore.ingest.session_pool import SessionPool


class Collector:
    """Keeps one store within its age and its quota."""

    def __init__(self, pool: SessionPool) -> None:
        self._pool = pool
        self._backend = pool.backend
        self._settings = pool.settings
        self._clock = pool.clock

    def collect(
        self,
        *,
        older_than: float | None = None,
        keep_bytes: int | None = None,
        project: str | None = None,
        dry_run: bool = False,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> CollectReport:
        """Delete sessions that nobody alive holds: those that are too old, and the oldest while all take too much.

        A live session is never touched, nor is a folder that is no session. What goes is gone when this returns, and off
        the disk as soon as no reader has its file open.

        Args:
            older_than: seconds since a session was last written; None for the ``retention`` setting.
            keep_bytes: what the files of these sessions may take together; None for any size.
            project: look at this project's sessions alone; None for all.
            dry_run: only say what would go.
            on_progress: called, on this thread, after each session with how many are done and how many shall go.

        Returns:
            What went and what stays, each with why. Cost: a few system calls for each session, and what deleting takes.

        Raises:
            InvalidIdError: a project that is no name.
            InvalidSettingError: a number that means nothing.
            StorageError: the root cannot be read.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root:
            ...     store = Store(root)
            ...     store.session("chat-42").close()
            ...     report = store.collect(older_than=0, dry_run=True)
            >>> [(fate.session.id, fate.why) for fate in report.deleted]
            [('chat-42', 'age')]
        """
        if project is not None:
            check_id("project", project)
        age = self._settings.retention if older_than is None else older_than
        for name, value in (("older_than", age), ("keep_bytes", keep_bytes)):
            if value is not None and (type(value) not in {int, float} or math.isnan(value)):
                raise InvalidSettingError(f"{name} must be a number, not {value!r}")
        now = self._clock.time()
        return self._collect(now, now - age, keep_bytes, project, dry_run=dry_run, on_progress=on_progress)

    def collect_if_due(self) -> None:
        """Once per ``collect_interval`` and root, delete what was too old already at the last such call."""
        now = self._clock.time()
        before = self._backend.last_look(now, self._settings.collect_interval)
        if before is None:
            return
        # An old session that cannot be opened must not block a new one.
        with contextlib.suppress(SpillstoreError):
            self._collect(now, min(before, now) - self._settings.retention, None, None, dry_run=False)

    def before_make(self, needed: int = 0) -> None:
        """What is done before a session is made, of about so many bytes; raises as ``make_room`` does."""
        self.collect_if_due()
        self.make_room(needed)

    def make_room(self, needed: int = 0) -> None:
        """Keep the store's quota before something new is begun, by a size that is known roughly.

        Args:
            needed: bytes that it will take, if that is known.

        Raises:
            StoreQuotaError: the sessions take more, and none may go that would help.
        """
        quota = self._settings.store_quota
        if not quota:
            return
        most = max(quota - needed, 0)
        size, fresh = self._backend.size(most, self._disk_size)
        if needed and size >= most and not fresh:  # nobody has asked for that much before
            self._backend.forget_size()
            size, fresh = self._backend.size(most, self._disk_size)
        collecting = self._settings.store_policy == "collect"
        if size >= most > 0 and fresh and collecting:
            # Somewhat less, so that the next one need not do this again.
            size = self.collect(keep_bytes=most // 10 * 9).left
        if size >= most:
            what = "and none that is left may go" if collecting else "and SPILLSTORE_STORE_POLICY is refuse"
            more = f", {needed} more are wanted" if needed else ""
            raise StoreQuotaError(
                f"the sessions in {self._backend.name} take {size} bytes and may take {quota}{more}, {what}; delete some with "
                "`spillstore gc`, or raise SPILLSTORE_STORE_QUOTA"
            )

    def _disk_size(self) -> int:
        return sum(info.disk_size for info in self._backend.sessions(None))

    def _collect(
        self,
        now: float,
        used_before: float,
        keep_bytes: int | None,
        project: str | None,
        *,
        dry_run: bool,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> CollectReport:
        """See ``collect``; a session that was last used before ``used_before`` is too old."""
        began = self._clock.monotonic()
        leftovers, freed, damaged = self._backend.remove_leftovers(now, dry_run=dry_run)
        found = (self._backend.aged(info, now, dry_run=dry_run) for info in self._backend.sessions(project))
        chosen, spared = retention.plan(found, used_before=used_before, keep_bytes=keep_bytes)
        took = self._clock.monotonic() - began
        deleted: list[Fate] = []
        for number, fate in enumerate(chosen):
            if on_progress is not None and number:
                on_progress(number, len(chosen))
            info = fate.session
            ref = SessionRef(info.id, info.project)
            takes = self._backend.size_of(ref)
            if dry_run:
                freed += takes
                deleted.append(fate)
                continue
            try:
                gone = self._pool.delete_unused(ref, now)
            except (VanishedError, SessionNotFoundError):
                continue  # somebody else has deleted it
            except SessionBusyError as error:
                spared.append(infos.Fate(session=info, why="busy", detail=str(error)))
            except SpillstoreError as error:
                spared.append(infos.Fate(session=info, why="unreadable", detail=str(error)))
            else:
                gone.free()
                freed += takes - gone.size()
                deleted.append(fate)
        if on_progress is not None and chosen:
            on_progress(len(chosen), len(chosen))
        left = sum(fate.session.disk_size for fate in spared)
        if project is None and not dry_run:
            self._backend.remember_size(left, took)
        return infos.CollectReport(
            deleted=tuple(deleted),
            spared=tuple(spared),
            leftovers=leftovers,
            freed=freed,
            left=left,
            dry_run=dry_run,
            damaged=damaged,
        )
