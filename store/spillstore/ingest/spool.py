"""Output that is kept in memory until there is much of it: what stays little is never stored."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from spillstore.engine.errors import storing_failed
from spillstore.exceptions import ClosedError
from spillstore.model.records import STREAMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.exceptions import SpillstoreError
    from spillstore.ingest.pipeline import Pipeline


class Spool:
    """The beginning of one artifact, in memory. Safe from any thread.

    Everything that happens to output happens to it at once, on the thread that writes: filters, redaction, interleaving, the
    tap, limits. The artifact begins, with all of it, when there are more than ``size`` bytes, or when it is asked for.

    Args:
        pipeline: takes the bytes of the artifact.
        size: bytes of output that are kept in memory at most.
        begin: inserts the artifact's row; raises what keeps it from being stored.
        check: raises what keeps the session from being used.
    """

    def __init__(
        self, pipeline: Pipeline, size: int, begin: Callable[[], None], check: Callable[[], None]
    ) -> None:
        self._pipeline = pipeline
        self._size = size
        self._begin = begin
        self._check = check
        # Protects the sequencer and the artifact's beginning. Nobody takes it once the artifact has begun, since observers
        # are called then.
        self._lock = threading.Lock()

    def would_begin(self, size: int) -> bool:
        """Whether the artifact begins with so many more bytes."""
        return not self._pipeline.begun and self._pipeline.received + size > self._size

    def write(self, stream: int, data: bytes, at: float | None = None) -> bool:
        """Take bytes; False if the artifact has begun, and they belong into its inbox. ``at`` as for ``Inboxes.write``.

        Raises:
            ClosedError: the writer was closed.
            StorageError: the artifact should begin and cannot. The bytes are kept all the same.
        """
        pipeline = self._pipeline
        self._check()
        if self._begun():
            return False
        with self._lock:
            if self._begun():
                return False
            self._refuse_ended()
            pipeline.received += len(data)
            try:
                pipeline.sequencer.write(stream, data, at)
            except Exception as error:
                raise self._fail(error) from error
            if pipeline.received > self._size:
                self._store()
            return True

    def store(self) -> None:
        """Begin the artifact, if it has not begun.

        Raises:
            ClosedError: the writer was closed.
            StorageError: it cannot begin.
        """
        self._check()
        if self._begun():
            return
        with self._lock:
            if not self._begun():
                self._refuse_ended()
                self._store()

    def refuse(self, error: SpillstoreError) -> None:
        """Let the artifact not begin any more, unless it has begun: the next call of its writer raises ``error``."""
        pipeline = self._pipeline
        if self._begun():
            return
        with self._lock:
            if not self._begun() and pipeline.error is None:
                pipeline.error = error

    def discard(self) -> list[tuple[str, bytes]] | None:
        """End it without storing anything; returns what it holds, or None if the artifact has begun."""
        pipeline = self._pipeline
        if self._begun():
            return None
        with self._lock:
            if self._begun():
                return None
            pipeline.ended = True
            pipeline.sequencer.flush(finish=True)
            runs = [(STREAMS[stream], data) for stream, data, _ in pipeline.sequencer.runs]
            pipeline.sequencer.disconnect()
            return runs

    def _begun(self) -> bool:
        return self._pipeline.begun

    def _store(self) -> None:
        try:
            self._pipeline.context.copy().run(self._begin)
        except Exception as error:
            raise self._fail(error) from error

    def _fail(self, error: Exception) -> SpillstoreError:
        self._pipeline.error = failure = storing_failed(error)
        return failure

    def _refuse_ended(self) -> None:
        if self._pipeline.error is not None:
            raise self._pipeline.error
        if self._pipeline.ended:
            raise ClosedError(f"the writer of {self._pipeline.row.artifact_id} was closed before")
