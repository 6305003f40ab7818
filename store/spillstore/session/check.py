"""Checks a whole session: the storage engine's own structure, every row's digest, and every chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.engine.rows import END, ArtifactFilter
from spillstore.exceptions import ArtifactNotFoundError, IntegrityError
from spillstore.model.validation import read_artifact_row
from spillstore.read.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.engine.rows import Snapshot
    from spillstore.info import CheckReport
    from spillstore.ingest.session_core import SessionCore
    from spillstore.session.listing import ArtifactListing

_PAGE = 100  # rows


def check(
    core: SessionCore, listing: ArtifactListing, on_progress: Callable[[int, int], object] | None
) -> CheckReport:
    """See ``Session.check``."""
    problems = _structure_problems(core)
    artifacts = chunks = size = 0
    progress = _Progress(core, on_progress)
    cursor: str | None = None
    while True:
        try:
            records, cursor = listing.page(ArtifactFilter(), None, None, cursor)
        except IntegrityError as error:
            problems.append(str(error))
            break
        artifacts += len(records)
        # One that is open grows while it is read; its chunks are checked when it has ended.
        for record in (record for record in records if record.state != "open"):
            try:
                found = verify(core, record, progress.of(record.kept))
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
        raise IntegrityError(f"session {core.row.session_id!r}: " + "; ".join(problems))
    return infos.CheckReport(artifacts=artifacts, chunks=chunks, size=size)


def _structure_problems(core: SessionCore) -> list[str]:
    """Problems of the engine's structures, of the rollback guard, and chunks without an artifact, in words."""
    with core.snapshot("checking") as rows:
        problems = core.store.structure_problems(rows)
        lost = rows.orphan_chunks()
        stale = []
        try:
            core.record.check_fresh(rows)
            _check_rows(core, rows)
        except IntegrityError as error:
            stale.append(str(error))
    return [
        *stale,
        *problems,
        *(f"chunks of an artifact that is not there (key {artifact})" for artifact in lost),
    ]


def _check_rows(core: SessionCore, rows: Snapshot) -> None:
    """Check the digests of all artifacts' rows, and of those that no listing shows, which a changed state may have hidden."""
    after = -END
    while page := rows.artifacts_after(after, _PAGE):
        for row in page:
            read_artifact_row(row, core.row.digest_algorithm)
        after = page[-1][0]


class _Progress:
    """Makes the progress of the artifact that is verified that of all artifacts."""

    def __init__(self, core: SessionCore, on_progress: Callable[[int, int], object] | None) -> None:
        self._on_progress = on_progress
        self._total = 0
        if on_progress is not None:
            with core.reader() as rows:
                self._total = rows.kept_size()
        self._before = self._after = 0

    def of(self, kept: int) -> Callable[[int, int], None]:
        """What the next artifact, of so many bytes, calls."""
        self._before, self._after = self._after, self._after + kept
        return self._report

    def _report(self, done: int, _: int) -> None:
        if self._on_progress is not None:
            done += self._before
            self._on_progress(done, max(done, self._total))
