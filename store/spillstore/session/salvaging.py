"""Gets out of a damaged session what can be got, into a new session that ``check`` passes; see ``Store.salvage``.

The engine tells what rows it finds, old and wrong ones among them (``engine.base.DamagedRows``). Here their digests decide: a row
of an artifact, a chunk or the session is taken if its digest holds, events, which have none, if they are events in form. What is
whole is stored as it was, with the digests that it had; how the rest is told, ``salvaged_artifact`` says. Where an artifact's row
is lost, its chunks are tried with every text in the file that looks like an artifact's id: their digests say whose they are.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from spillstore import info as infos
from spillstore.engine import registry
from spillstore.engine.base import SessionRef
from spillstore.exceptions import (
    DigestKeyError,
    IntegrityError,
    InvalidIdError,
    SessionNotFoundError,
    UsageError,
)
from spillstore.format import chunk_codec
from spillstore.format.chunk_codec import MAX_CHUNK, ChunkRow
from spillstore.format.digests import Algorithm, stored_algorithm
from spillstore.format.rollback_guard import changed_sum, check_sum, new_sum
from spillstore.model.ids import UID, check_id
from spillstore.model.records import SessionRow
from spillstore.model.validation import is_count, read_artifact_row, read_session_row
from spillstore.session.salvaged_artifact import SalvagedArtifact, made_up
from spillstore.session.salvaged_events import SalvagedEvents

if TYPE_CHECKING:
    from spillstore.engine.base import Backend, DamagedRows, RowPlace
    from spillstore.info import SalvageReport
    from spillstore.model.clock import Clock
    from spillstore.model.records import ArtifactRow
    from spillstore.session.salvaged_part import Part
    from spillstore.settings import Settings

_CHUNK_COLUMNS: Final = len(ChunkRow._fields)


def salvage(
    path: str | os.PathLike[str],
    ref: SessionRef | None,
    named: SessionRef | None,
    target: Backend,
    settings: Settings,
    key: bytes | None,
    clock: Clock,
) -> SalvageReport:
    """See ``Store.salvage``; ``ref`` is the session of the store at ``path``."""
    if ref is not None:
        backend, _ = registry.open_backend(path, settings, key, clock)
        source = backend.damaged(ref)
    elif registry.is_url(os.fspath(path)):
        raise UsageError(
            "a URL names a store on a server, and no file; what a server holds is repaired by its own tools"
        )
    else:
        source = registry.damaged_file(Path(os.path.abspath(path)))  # noqa: PTH100  # no link is followed
    with source as found:
        return Salvage(found, key, clock, named).into(target)


class _Session(NamedTuple):
    """The session's own row, as far as it is left."""

    row: SessionRow
    is_known: bool


class Salvage:
    """One salvage of one session."""

    def __init__(self, found: DamagedRows, key: bytes | None, clock: Clock, named: SessionRef | None) -> None:
        """Prepare it.

        Args:
            found: what the engine finds.
            key: the store's digest key, or None.
            clock: where to read the time.
            named: what to call the session; None for the name that it had.
        """
        self._found = found
        self._key = key
        self._clock = clock
        self._named = named
        self._rows: dict[str, list[RowPlace]] = defaultdict(
            list
        )  # of the session, of artifacts, of events: their places
        self._chunks: dict[int, dict[int, list[RowPlace]]] = defaultdict(lambda: defaultdict(list))
        self._nameless = 0
        self._digests: list[bytes] = []  # of the rows of artifacts
        self._deleted: set[str] = set()  # artifacts that were marked so

    def into(self, target: Backend) -> SalvageReport:
        """Read all, and store it there."""
        self._survey()
        session = self._session()
        algorithm = session.row.digest_algorithm
        artifacts = self._artifacts(algorithm)
        for each in artifacts:
            each.look()
        records = [each.row() for each in artifacts]
        # Parts come behind all others, so that they follow in the order of their keys, as rows are stored.
        key = max((record.artifact_key for record in records), default=0)
        parts = [(each, part) for each in artifacts for part in each.parts()]
        rows_of_parts = [part.row(key + number) for number, (_, part) in enumerate(parts, 1)]
        row = self._new_row(session.row, [*records, *rows_of_parts])
        with target.importing(SessionRef(row.session_id, row.project_id), row) as new:
            for each, record in zip(artifacts, records, strict=True):
                new.add_artifacts([record])
                for batch in each.chunks():
                    new.add_chunks(record.artifact_key, batch)
            for (_, part), record in zip(parts, rows_of_parts, strict=True):
                new.add_artifacts([record])
                for batch in part.chunks():
                    new.add_chunks(record.artifact_key, batch)
            told = [_told(each, record, parts) for each, record in zip(artifacts, records, strict=True)]
            events = SalvagedEvents(self._found, self._rows["event"])
            events.add(new, told, int(self._clock.time() * 1e6))
            new.commit()
        return infos.SalvageReport(
            session=row.session_id,
            project=row.project_id,
            known=session.is_known,
            all_rows=session.is_known and self._are_all_rows(session.row),
            artifacts=tuple(told),
            lost=tuple(events.lost({each.id for each in told} | self._deleted)),
            events=len(events),
            nameless=self._nameless,
        )

    def _survey(self) -> None:
        for table, head, place in self._found.places():
            if table != "chunk":
                self._rows[table].append(place)
            elif is_count(head[1]) and is_count(head[2]):
                self._chunks[head[1]][head[2]].append(place)

    # --- the session --------------------------------------------------------------------------------------

    def _session(self) -> _Session:
        left: list[SessionRow] = []
        for place in self._rows["session"]:
            values = self._found.row(place)
            if values is None or len(values[1:]) != len(SessionRow._fields):
                continue
            try:
                row = read_session_row(values[1:], self._key)
            except IntegrityError:
                left.append(SessionRow(*values[1:]))
            else:
                if row.deleted_us is not None:
                    raise SessionNotFoundError(
                        f"session {row.session_id!r} was deleted; what was deleted is not brought back"
                    )
                return _Session(self._renamed(row), is_known=True)
        return _Session(self._renamed(self._made_up(left)), is_known=False)

    def _renamed(self, row: SessionRow) -> SessionRow:
        if self._named is None:
            return row
        return row._replace(session_id=self._named.session_id, project_id=self._named.project)

    def _made_up(self, left: list[SessionRow]) -> SessionRow:
        """A row in place of one whose digest does not hold, of what can be told: its name, and how digests are made."""
        ref = self._named or self._found.ref
        for row in left:
            if ref is None and _is_id(row.session_id) and (row.project_id is None or _is_id(row.project_id)):
                ref = SessionRef(row.session_id, row.project_id)
        if ref is None:
            raise UsageError(
                "the session's name is lost; say how the new one is to be called: session_id= (`spillstore salvage --as`)"
            )
        uid, algorithm = self._way_of_digests(left)
        now = int(self._clock.time() * 1e6)
        return SessionRow(
            ref.session_id, ref.project, uid, now, None, None, 1, algorithm, new_sum(algorithm), b""
        )

    def _way_of_digests(self, left: list[SessionRow]) -> tuple[str, Algorithm]:
        """The uid, and the algorithm with its key: those that a damaged row names, or, without a key, those by which rows are right.

        Raises:
            DigestKeyError: the key is made of a uid that is lost.
        """
        for row in left:
            if isinstance(row.uid, str) and UID.fullmatch(row.uid):
                try:  # with a key, the algorithm's name holds a digest that proves the uid
                    return row.uid, stored_algorithm(row.digest_algorithm, row.uid, self._key)
                except (IntegrityError, DigestKeyError):
                    continue
        if self._key is not None:
            raise DigestKeyError(
                "the session's row is lost, and with it the uid that its key is made of; without that, nothing can be told from damage"
            )
        for name in ("blake3", "sha256"):
            algorithm = Algorithm(name)
            if any(self._artifact_row(place, algorithm) for place in self._rows["artifact"]):
                return os.urandom(16).hex(), algorithm
        return os.urandom(16).hex(), Algorithm("blake3")

    @staticmethod
    def _new_row(session: SessionRow, records: list[ArtifactRow]) -> SessionRow:
        algorithm = session.digest_algorithm
        total = new_sum(algorithm)
        for record in records:
            total = changed_sum(algorithm, total, None, record.digest)
        after = max((record.artifact_key for record in records), default=0)
        return session._replace(
            artifacts_sum=total, next_artifact_key=max(session.next_artifact_key, after)
        ).sealed()

    # --- artifacts ----------------------------------------------------------------------------------------

    def _artifact_row(self, place: RowPlace, algorithm: Algorithm) -> ArtifactRow | None:
        values = self._found.row(place)
        try:
            return None if values is None else read_artifact_row(values[1:], algorithm)
        except (IntegrityError, TypeError):
            return None

    def _are_all_rows(self, session: SessionRow) -> bool:
        """Whether no row of an artifact is missing or old: by the session's sum over them, or, without a key, by the file's end."""
        if self._key is None:
            return not self._found.is_cut
        try:
            check_sum(session.digest_algorithm, session.artifacts_sum, self._digests)
        except IntegrityError:
            return False
        return True

    def _artifacts(self, algorithm: Algorithm) -> list[SalvagedArtifact]:
        """All artifacts of which there is anything, in the order of their keys."""
        known: dict[int, ArtifactRow] = {}
        for place in self._rows["artifact"]:
            record = self._artifact_row(place, algorithm)
            if record is not None and not place.is_free:
                known.setdefault(record.artifact_key, record)
        self._digests = [record.digest for record in known.values()]
        self._deleted = {record.artifact_id for record in known.values() if record.state == "deleted"}
        used = {record.artifact_id for record in known.values()}
        artifacts = [
            SalvagedArtifact(self._found, algorithm, record, self._chunks.get(key, {}))
            for key, record in known.items()
            if record.state != "deleted"
        ]
        ids: list[str] | None = None
        for key in sorted(self._chunks.keys() - known.keys()):
            places = self._chunks[key]
            if all(place.is_free for each in places.values() for place in each):
                continue  # it was deleted
            ids = sorted(self._found.ids() - used) if ids is None else ids
            record = self._whose(key, places, ids, algorithm)
            if record is None:
                self._nameless += len(places)
            else:
                artifacts.append(SalvagedArtifact(self._found, algorithm, record, places, is_known=False))
        return sorted(artifacts, key=lambda each: each.record.artifact_key)

    def _whose(
        self, key: int, places: dict[int, list[RowPlace]], ids: list[str], algorithm: Algorithm
    ) -> ArtifactRow | None:
        """The row of the artifact that chunks belong to, found by a digest that holds."""
        for seq in sorted(places):
            for place in places[seq]:
                values = self._found.row(place)
                if values is None:
                    continue
                columns = values[2:]
                row = ChunkRow._make(columns + (None,) * (_CHUNK_COLUMNS - len(columns)))
                for name in ids:
                    for newline in ("lf", "cr"):
                        if _holds(row, name, newline, algorithm):
                            return made_up(name, key, newline, self._chunk_size(row, places))
        return None

    @staticmethod
    def _chunk_size(row: ChunkRow, places: dict[int, list[RowPlace]]) -> int:
        """The size of an artifact's whole chunks, by one of them: by its place, or its own if others follow."""
        if row.seq:
            return (row.stdout_start + row.stderr_start) // row.seq
        return row.size if len(places) > 1 else MAX_CHUNK


def _told(
    artifact: SalvagedArtifact, record: ArtifactRow, parts: list[tuple[SalvagedArtifact, Part]]
) -> infos.SalvagedArtifact:
    own = tuple(
        infos.SalvagedPart(id=part.name, range=part.range) for each, part in parts if each is artifact
    )
    return infos.SalvagedArtifact(
        id=record.artifact_id,
        complete=artifact.is_known and not artifact.missing(),
        known=artifact.is_known,
        size=record.kept + sum(each.range.end - each.range.start for each in own),
        missing=tuple(artifact.missing()),
        parts=own,
    )


def _holds(row: ChunkRow, name: str, newline: str, algorithm: Algorithm) -> bool:
    try:
        chunk_codec.verify(row, chunk_codec.prefix(name, newline), algorithm)
    except IntegrityError:
        return False
    return True


def _is_id(value: object) -> bool:
    try:
        check_id("session", value)
    except InvalidIdError:
        return False
    return True
