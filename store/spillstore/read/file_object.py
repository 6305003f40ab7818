"""A seekable binary file object over an artifact."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import RangeError, SpillstoreError
from spillstore.model.records import view_of

if TYPE_CHECKING:
    from spillstore.audit.read_log import ReadLog
    from spillstore.info import Holes, Stream
    from spillstore.read.handle import ArtifactHandle


class RawFile(io.RawIOBase):
    """Unbuffered access to what was committed of a view when it was opened; closing it is an event, if there is a log."""

    def __init__(self, handle: ArtifactHandle, log: ReadLog | None, stream: Stream, holes: Holes) -> None:
        self._handle = handle
        self._log = log
        self._stream = stream
        self._holes = holes
        self._size = handle.row().view_size(view_of(stream))
        self._position = 0
        self._read = 0
        self._failure: SpillstoreError | None = None

    def close(self) -> None:
        """Close it, and record how much was read."""
        if not self.closed and self._log is not None:
            detail: dict[str, object] = {"stream": self._stream, "bytes": self._read}
            self._log.audit.read("read", self._log.artifact_id, detail, None, self._failure)
        super().close()

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position, in bytes of the view."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; see ``io.IOBase.seek``."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise RangeError(f"cannot seek to {base + offset}")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read the rest of the chunk in which the position is, or as much as the buffer holds."""
        view = memoryview(buffer).cast("B")
        end = min(self._position + len(view), self._size)
        try:
            blocks = self._handle.blocks(self._position, end, 1, self._stream, self._holes)
        except SpillstoreError as error:
            self._failure = error
            raise
        if not blocks:
            return 0
        block = blocks[0]
        start = max(self._position, block.start)
        data = block.data[start - block.start :][: len(view)]
        view[: len(data)] = data
        self._position = start + len(data)
        self._read += len(data)
        return len(data)
