"""Finds where the session holds the bytes of an artifact already: in another artifact, or in what was read of one.

What an event says of a read is not believed, since others can write events: the bytes that it names are read and digested
before they count.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.exceptions import ArtifactNotFoundError, IntegrityError
from spillstore.format.digests import new_digest
from spillstore.model.records import VIEWS, view_of
from spillstore.read.handle import ArtifactHandle
from spillstore.read.iteration import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.engine.rows import Row
    from spillstore.info import Origin
    from spillstore.model.records import ArtifactRow

_READS = 200  # events that are read
_CANDIDATES = 4  # of each kind that are read to find out whether they are the same


def find_origin(handle: ArtifactHandle, *, alike: bool) -> Origin | None:
    """Where the same bytes are, or None; see ``Artifact.origin``.

    Args:
        handle: the artifact.
        alike: whether artifacts with the same bytes count, or only what was read.
    """
    record = handle.row()
    if record.content_digest is None or record.stopped():
        return None
    candidates = _candidates(handle, record, record.content_digest, alike=alike)
    return next(
        (origin for origin in candidates if _digest_of(handle, origin) == record.content_digest), None
    )


def _candidates(
    handle: ArtifactHandle, record: ArtifactRow, digest: bytes, *, alike: bool
) -> Iterator[Origin]:
    """Where the same bytes may be, a few of each kind."""
    if alike:
        with handle.session.reader() as rows:
            names = rows.same_content(digest, handle.artifact_id, _CANDIDATES)
        yield from (infos.Origin(name, "combined", 0, record.size) for name in names)
    with handle.session.reader() as rows:
        found = rows.events_shown(digest, _READS)
    read = dict.fromkeys(filter(None, map(_range_read, found)))  # each once, in their order
    clipped = filter(None, (_clipped(handle, origin, record.size) for origin in read))
    yield from itertools.islice(clipped, _CANDIDATES)


def _range_read(row: Row) -> Origin | None:
    """The range that an event says was read, if it says so at all; anybody may have written it."""
    try:
        event = infos.event_of(row)
    except IntegrityError:
        return None
    stream, start, end = (event.detail.get(name) for name in ("stream", "start", "end"))
    if event.artifact_id is None or not isinstance(stream, str) or stream not in VIEWS:
        return None
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        return None
    return infos.Origin(event.artifact_id, stream, start, end)  # type: ignore[arg-type]  # one of the views


def _clipped(handle: ArtifactHandle, origin: Origin, size: int) -> Origin | None:
    """A range of another artifact without what lies past its end; None if it has another size or may still change."""
    try:
        with handle.session.reader() as rows:
            other = handle.session.artifact_row(rows, origin.artifact_id)
    except (ArtifactNotFoundError, IntegrityError):  # deleted since, or damaged
        return None
    end = min(origin.end, other.view_size(view_of(origin.stream)))
    whole = other.state != "open" and other.hole is None and other.artifact_id != handle.artifact_id
    return dataclasses.replace(origin, end=end) if whole and end - origin.start == size else None


def _digest_of(handle: ArtifactHandle, origin: Origin) -> bytes | None:
    """The digest of the bytes there, by reading them; None if they cannot be read."""
    digest = new_digest(handle.session.row.digest_algorithm)
    other = ArtifactHandle(handle.session, origin.artifact_id)
    try:
        for block in chunks(other, origin.start, origin.end, origin.stream, "raise"):
            digest.update(block)
    except (
        ArtifactNotFoundError,
        IntegrityError,
    ):  # deleted since, or damaged, which reading it has recorded
        return None
    return digest.digest()
