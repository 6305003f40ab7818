"""An artifact: what one tool call has printed, to be read, searched, checked and deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.artifact.searchable import SearchableArtifact
from spillstore.audit.read_log import recorded
from spillstore.engine.errors import translated
from spillstore.events.catalogue import RENDERED
from spillstore.exceptions import IntegrityError
from spillstore.format.digests import new_digest
from spillstore.model.arguments import LARGEST, filter_text, storable, whole_number

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from spillstore.info import Event, Export, Holes, Origin, Stream, Verification

__all__ = ["Artifact"]


class Artifact(SearchableArtifact):
    r"""One tool call's output. Cheap to make; holds no transaction between calls; safe from any thread.

    Reads of an artifact that is still being written see what is committed, which is at most 200 ms old. Byte positions
    and line numbers never change once given out. Each read is an event in the session's audit log.

    Parameters that several methods share:

    - ``stream``: the view: ``combined`` (both streams as they came), ``stdout`` or ``stderr``, with positions of its own.
    - ``holes``: ``raise`` or ``skip`` what the ``roll`` policy has dropped.
    - ``max_bytes``: the most that is built in memory; 64 MiB.
    - ``on_progress``: called, on this thread, every few chunks with the bytes that are done and those that there are.

    Errors that all reads raise: ``RangeTooLargeError`` for more than ``max_bytes``, ``DroppedRangeError`` where the range
    touches a hole, ``IntegrityError`` at a damaged chunk, ``RangeError`` for a stream or a position that there is not.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root).session("demo") as session:
        ...     artifact = session.put(b"one\ntwo\nthree\n", source="doc")
        ...     artifact.read_lines(2, 3), artifact.read_bytes(0, 3), artifact.tail(1)
        (b'two\nthree\n', b'one', b'three\n')
    """

    def verify(self, *, on_progress: Callable[[int, int], object] | None = None) -> Verification:
        """Read every chunk and recompute every digest, counter and gram filter. Cost: decoding all of it, in flat memory.

        A filter is held against what its chunk holds where the native functions are built; elsewhere only its digest is checked.

        Others may write it, drop its middle or delete it meanwhile: what looks like damage is read again in one snapshot,
        and raised if it is still there.

        Raises:
            ArtifactNotFoundError: it was deleted.
            IntegrityError: says what is damaged, and where.
        """
        with translated("verifying"):  # an import opens files
            from spillstore.read.verify import verify  # noqa: PLC0415  # few verify

        with self._core.snapshot("verifying") as rows:
            record = self._handle.row_in(rows)
        try:
            return verify(self._core, record, on_progress)
        except IntegrityError as error:
            self._core.audit.damaged(self.id, error)
            raise

    @recorded("export", stream="stream")
    def export(
        self,
        path: str | os.PathLike[str],
        *,
        stream: Stream = "combined",
        overwrite: bool = False,
        holes: Holes = "raise",
        on_progress: Callable[[int, int], object] | None = None,
    ) -> Export:
        """Write the bytes to a file in a folder that exists, atomically, with mode 0600: it appears whole or not at all.

        Returns:
            How much was written, and how much the file lacks.

        Raises:
            TargetExistsError: the file is there and ``overwrite`` is not set.
            StorageError: the file cannot be written.
            DroppedRangeError, IntegrityError: see the class.
        """
        with translated("exporting"):  # as above
            from spillstore.read.export import export  # noqa: PLC0415  # few export

        target = Path(path)
        return export(self._handle, target, stream, holes, overwrite=overwrite, on_progress=on_progress)

    def delete(self) -> None:
        """Make it unreadable at once and give its space back to the disk, which may be full; see ``Store.delete_artifact``.

        Raises:
            ArtifactNotFoundError: it is gone already.
            SessionBusyError: it is still being written.
            ReadOnlyError: the session was opened for reading.
        """
        self._core.ingest.remover.remove(self.id)

    # --- events -----------------------------------------------------------------------------------------

    def record(self, kind: str, detail: Mapping[str, object], *, at_once: bool = True) -> None:
        """Add an event to the artifact's history.

        A session that was opened for reading records it, too, unless it cannot be written or lies in no store.

        Args:
            kind: what happened, in one word.
            detail: what there is to say of it; values that JSON can hold. Secrets are taken out by the built-in rules.
            at_once: write it now, whatever ``audit`` says; else with the next batch, its texts cut to 200 characters.

        Raises:
            StorageError: it cannot be written.
        """
        given: object = dict(detail)
        if self._core.settings.redact and kind != RENDERED:  # which comes out of what is stored
            from spillstore.redaction import DEFAULT  # noqa: PLC0415  # not where it is switched off
            from spillstore.redaction.structures import without_secrets  # noqa: PLC0415  # likewise

            given = without_secrets(given, DEFAULT, {})
        assert isinstance(given, dict)  # as it was
        if kind == RENDERED:
            given["signature"] = self._signature(given)
        if at_once:
            self._core.events.record(kind, self.id, given)
        else:
            self._core.audit.add(kind, self.id, given)

    def events(self, kind: str | None = None, *, limit: int = 100) -> list[Event]:
        """The artifact's events, of one kind or of all, the newest first, at most ``limit``. Cost: the events of this artifact.

        Texts that were rendered (``rendered``) are given back as previews, so those that this session did not sign are left out.
        """
        most = min(whole_number(limit, "limit", "events()"), LARGEST)
        kind = storable(filter_text(kind, "kind"))
        self._core.audit.flush()
        with self._core.reader() as rows:
            self._handle.row_in(rows)
            found = map(infos.event_of, rows.events_of(self.id, kind, most))
        return [
            event
            for event in found
            if event.kind != RENDERED or event.detail.get("signature") == self._signature(event.detail)
        ]

    def _signature(self, detail: Mapping[str, object]) -> str:
        """The signature of a text that was rendered, since events have no digests and others may write them."""
        signed = {name: value for name, value in detail.items() if name != "signature"}
        return self._core.sign(f"{self.id} {json.dumps(signed, sort_keys=True)}".encode())

    def reading(
        self, shown: Iterable[bytes], start: int, end: int, *, stream: Stream = "combined"
    ) -> Iterator[bytes]:
        """Yield ``shown``, which is what a reader is shown of bytes ``[start, end)``; at its end that is recorded as a ``read``.

        If a tool then prints what was shown here, ``origin`` knows where it is from.

        Raises:
            StorageError: it cannot be recorded.
        """
        digest, size = new_digest(self._core.row.digest_algorithm), 0
        for block in shown:
            digest.update(block)
            size += len(block)
            yield block
        detail: dict[str, object] = {"stream": stream, "start": start, "end": end, "bytes": size}
        detail["digest"] = digest.digest().hex()
        if not self._core.audit.reading("read", self.id, detail):
            self.record("read", {**detail, "outcome": "ok"})

    def origin(self, *, alike: bool = True) -> Origin | None:
        """Where the session holds the same bytes already, or None: another artifact, or what was read of one.

        Both streams count, in the order in which they came; which of them a byte belongs to does not. An artifact with the
        same bytes comes first (unless ``alike`` is false), then what a ``reading`` has shown. Each is read and digested before
        it is returned: an artifact that is damaged, that is being written or that has lost some is no origin, and neither is
        one that has met its limit and keeps only the beginning (``stop``). Cost: two look-ups; where they find something,
        reading as much as this artifact has, eight times at most.
        """
        self._core.audit.flush()
        with translated("looking for the origin"):  # as above
            from spillstore.read.origin import find_origin  # noqa: PLC0415  # tools that print again ask

        return find_origin(self._handle, alike=alike)
