"""One artifact of an open session: its row, and reads of it in one snapshot each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from spillstore.engine.errors import translated, translation
from spillstore.exceptions import IntegrityError, SpillstoreError
from spillstore.model.records import view_of
from spillstore.read.ranges import RangeReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from spillstore.audit.audit_log import Audit
    from spillstore.engine.base import SessionBackend
    from spillstore.engine.rows import Snapshot
    from spillstore.info import Holes
    from spillstore.model.records import ArtifactRow, SessionRow
    from spillstore.read.blocks import Block

P = ParamSpec("P")
T = TypeVar("T")


class SessionRows(Protocol):
    """An open session, as far as reading needs it."""

    row: SessionRow
    store: SessionBackend
    audit: Audit

    def reader(self) -> AbstractContextManager[Snapshot]:
        """Rows, each call on its own snapshot."""

    def snapshot(self, doing: str) -> AbstractContextManager[Snapshot]:
        """Rows, all calls on one snapshot."""

    def borrow(self) -> Snapshot:
        """Rows that the same thread gives back to ``store``; they may show an old state."""

    def current(self, rows: Snapshot) -> Snapshot:
        """The borrowed rows, or new ones in their place if those show an old state."""

    def artifact_row(self, rows: Snapshot, artifact_id: str) -> ArtifactRow:
        """The verified row of an artifact.

        Raises:
            ArtifactNotFoundError: there is none of that id.
        """

    def check_usable(self) -> None:
        """Raise if the session is closed or deleted."""


class ArtifactHandle:
    """One artifact of an open session. It holds no transaction between calls, and keeps the row once that is sealed."""

    __slots__ = ("_sealed", "artifact_id", "session")

    def __init__(self, session: SessionRows, artifact_id: str, record: ArtifactRow | None = None) -> None:
        self.session = session
        self.artifact_id = artifact_id
        self._sealed = record if record is not None and record.state == "sealed" else None

    def copy(self) -> ArtifactHandle:
        """Another handle on the same artifact."""
        return ArtifactHandle(self.session, self.artifact_id, self._sealed)

    def row(self) -> ArtifactRow:
        """The artifact's row as it is committed now. Cost: one indexed row, none once it is sealed.

        Raises:
            ArtifactNotFoundError: it was deleted.
        """
        with self.session.reader() as rows:
            return self.row_in(rows)

    def row_in(self, rows: Snapshot) -> ArtifactRow:
        """The artifact's row in one snapshot."""
        if self._sealed is not None:
            return self._sealed
        record = self.session.artifact_row(rows, self.artifact_id)
        if record.state == "sealed":
            self._sealed = record
        return record

    def blocks(self, start: int, end: int, limit: int, stream: str, holes: Holes) -> list[Block]:
        """Up to ``limit`` chunks that hold bytes of ``[start, end)`` of a view; see ``RangeReader.blocks``."""
        return self.read(stream, holes, RangeReader.blocks, start, end, limit)

    def read(
        self,
        stream: str,
        holes: Holes,
        method: Callable[Concatenate[RangeReader, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call ``method`` with a ``RangeReader`` of one snapshot; a sealed artifact cannot change, so it needs no transaction."""
        view = view_of(stream)
        session = self.session
        rows = session.borrow()
        try:
            if self._sealed is not None:
                try:
                    ranges = RangeReader(rows, self._sealed, session.row.digest_algorithm, view, holes)
                    return method(ranges, *args, **kwargs)
                except IntegrityError:
                    before = rows
                    rows = session.current(rows)
                    if rows is before:
                        raise
            else:
                rows = session.current(rows)
            with session.store.together(rows, f"reading {self.artifact_id}"):
                ranges = RangeReader(rows, self.row_in(rows), session.row.digest_algorithm, view, holes)
                return method(ranges, *args, **kwargs)
        except IntegrityError as error:
            # Chunks are missing, too, if the artifact was deleted since its row was read.
            self._sealed = None
            with translated(f"reading {self.artifact_id}"):
                session.artifact_row(rows, self.artifact_id)
            session.audit.damaged(self.artifact_id, error)
            raise
        except SpillstoreError:
            raise
        except Exception as error:
            ours = translation(error, f"reading {self.artifact_id}")
            if ours is None:
                raise
            raise ours from error
        finally:
            session.store.give_back(rows)
