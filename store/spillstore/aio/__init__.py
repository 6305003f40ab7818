r"""The same store for asyncio: the same names, awaited.

A method runs on a thread of the loop's default executor, except those that touch no disk. ``Writer.write`` returns at once while
the queue has room, and waits on a thread when it is full; who writes on and on gives other tasks a turn every 10 ms. So no call holds
up the event loop. Arguments, results and errors are
those of the method of the same name in ``spillstore``.

    >>> import asyncio, tempfile
    >>> from spillstore import aio
    >>> async def main(root):
    ...     store = aio.Store(root)
    ...     async with store.session("chat-42") as session:
    ...         async with session.create(source="bash") as writer:
    ...             await writer.write("one\ntwo\n")
    ...         artifact = await session.artifact(writer.id)
    ...         return (await artifact.info).lines, await artifact.read_lines(2, 2)
    >>> with tempfile.TemporaryDirectory() as root:
    ...     asyncio.run(main(root))
    (2, b'two\n')

Most methods are made from those of ``spillstore``; see ``aio.methods``. Type checkers, ``help`` and ``inspect.signature`` see the
parameters of the original.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Self, cast

from spillstore import artifact as _artifact
from spillstore import session as _session
from spillstore import store as _store
from spillstore import writer as _writer
from spillstore.aio.methods import (
    Listing,
    Opening,
    at_once,
    attribute,
    in_thread,
    iterating,
    listing,
    opening,
)
from spillstore.ingest.content import check_piece

if TYPE_CHECKING:
    import io
    import os
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path
    from types import TracebackType
    from typing import Literal, Unpack

    from spillstore.aio.methods import Attribute, SettableAttribute
    from spillstore.info import ArtifactInfo, CopyReport, Holes, SessionInfo, Stream
    from spillstore.ingest.content import Content
    from spillstore.model.clock import Clock
    from spillstore.redaction import RedactionRules
    from spillstore.session.options import CreateOptions, PutOptions
    from spillstore.settings import Settings, SettingsOptions

__all__ = ["Artifact", "Listing", "Opening", "Reader", "Session", "Store", "Writer"]

_LINES = 100  # that one call of a thread fetches
_SLICE = 0.01  # seconds that a writer keeps the event loop


class Reader:
    """A binary file object whose methods are awaited."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file

    async def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes, or all that is left."""
        return await asyncio.to_thread(self._file.read, size)

    async def readline(self) -> bytes:
        """The next line."""
        return await asyncio.to_thread(self._file.readline)

    async def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a position."""
        return await asyncio.to_thread(self._file.seek, offset, whence)

    def tell(self) -> int:
        """The position."""
        return self._file.tell()

    async def close(self) -> None:
        """Close it."""
        await asyncio.to_thread(self._file.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Artifact:
    """``spillstore.Artifact`` for asyncio; ``info`` is awaited too.

    Attributes:
        plain: the artifact for callers that wait.
    """

    def __init__(self, artifact: _artifact.Artifact) -> None:
        self.plain = artifact

    id: Attribute[str] = attribute(_artifact.Artifact.id)

    @property
    def info(self) -> Awaitable[ArtifactInfo]:
        """What is known of the artifact now: ``await artifact.info``."""
        return asyncio.to_thread(lambda: self.plain.info)

    read_lines = in_thread(_artifact.Artifact.read_lines)
    read_bytes = in_thread(_artifact.Artifact.read_bytes)
    read_time = in_thread(_artifact.Artifact.read_time)
    read = in_thread(_artifact.Artifact.read)
    read_text = in_thread(_artifact.Artifact.read_text)
    tail = in_thread(_artifact.Artifact.tail)
    locate = in_thread(_artifact.Artifact.locate)
    search = in_thread(_artifact.Artifact.search)
    query = in_thread(_artifact.Artifact.query)
    nodes = iterating(_artifact.Artifact.nodes)
    string = in_thread(_artifact.Artifact.string)
    chunks = iterating(_artifact.Artifact.chunks)
    lines = iterating(_artifact.Artifact.lines, _LINES)
    segments = iterating(_artifact.Artifact.segments)
    open = opening(_artifact.Artifact.open, Reader)

    async def follow(
        self, start: int = 0, *, stream: Stream = "combined", poll: float = 0.1, holes: Holes = "raise"
    ) -> AsyncIterator[bytes]:
        """Like ``chunks``, but waits for more until the artifact ends; ``poll`` is in seconds."""
        pauses, first = self.plain._pauses(poll), True  # noqa: SLF001  # of the same package
        while True:
            size, state = await asyncio.to_thread(self.plain.extent, stream)
            came = first or size > start
            if came:
                async for block in self.chunks(start, size, stream=stream, holes=holes):
                    yield block
            start, first = max(start, size), False
            if state != "open":
                return
            await asyncio.sleep(pauses.next(came=came))

    verify = in_thread(_artifact.Artifact.verify)
    export = in_thread(_artifact.Artifact.export)
    delete = in_thread(_artifact.Artifact.delete)
    record = in_thread(_artifact.Artifact.record)
    events = in_thread(_artifact.Artifact.events)
    reading = iterating(_artifact.Artifact.reading)
    origin = in_thread(_artifact.Artifact.origin)

    def unrecorded(self) -> Artifact:
        """The same artifact; what is read of it is not recorded."""
        return Artifact(self.plain.unrecorded())


class Writer:
    """``spillstore.Writer`` for asyncio.

    Attributes:
        plain: the writer for callers that wait.
    """

    def __init__(self, writer: _writer.Writer) -> None:
        self.plain = writer
        self._turn = time.monotonic() + _SLICE  # when other tasks have theirs

    id: Attribute[str] = attribute(_writer.Writer.id)
    stored: Attribute[bool] = attribute(_writer.Writer.stored)
    closed: Attribute[bool] = attribute(_writer.Writer.closed)
    received: Attribute[int] = attribute(_writer.Writer.received)
    exit_code: SettableAttribute[int | None] = attribute(_writer.Writer.exit_code)

    async def write(
        self,
        data: bytes | bytearray | memoryview | str,
        stream: Literal["stdout", "stderr"] = "stdout",
        *,
        at: float | None = None,
    ) -> int:
        """Queue bytes of one stream; while the queue is full, wait on a thread.

        A task that is cancelled in a turn of others has not written these bytes.
        """
        if time.monotonic() >= self._turn:
            # Else a loop of writes that find room would hold up timeouts, cancellation and all others until it ends.
            await asyncio.sleep(0)
            self._turn = time.monotonic() + _SLICE
        if self.plain.would_block(len(data)):
            return await asyncio.to_thread(self.plain.write, data, stream, at=at)
        return self.plain.write(data, stream, at=at)

    flush = in_thread(_writer.Writer.flush)
    close = in_thread(_writer.Writer.close)
    abort = in_thread(_writer.Writer.abort)
    discard = in_thread(_writer.Writer.discard)
    __aexit__ = in_thread(_writer.Writer.__exit__)

    async def __aenter__(self) -> Self:
        return self


class Session:
    """``spillstore.Session`` for asyncio.

    Attributes:
        plain: the session for callers that wait.
    """

    def __init__(self, session: _session.Session) -> None:
        self.plain = session

    id: Attribute[str] = attribute(_session.Session.id)
    project: Attribute[str | None] = attribute(_session.Session.project)
    root: Attribute[Path | None] = attribute(_session.Session.root)
    address: Attribute[str | None] = attribute(_session.Session.address)
    path: Attribute[Path | None] = attribute(_session.Session.path)
    read_only: Attribute[bool] = attribute(_session.Session.read_only)
    present: Attribute[bool] = attribute(_session.Session.present)
    settings: Attribute[Settings] = attribute(_session.Session.settings)
    cleanup_on_exit: SettableAttribute[bool] = attribute(_session.Session.cleanup_on_exit)

    create = opening(_session.Session.create, Writer)

    async def put(self, data: Content | AsyncIterable[bytes], **meta: Unpack[PutOptions]) -> Artifact:
        """Store content that is already there, also an asynchronous iterable; arguments as for ``spillstore.Session.put``."""
        if not isinstance(data, AsyncIterable):
            return Artifact(await asyncio.to_thread(lambda: self.plain.put(data, **meta)))
        pieces = aiter(data)
        piece = await anext(pieces, b"")  # what cannot be read fails before anything is begun
        check_piece(piece)
        code = meta.pop("exit_code", None)
        meta.setdefault("newline", "auto")
        async with self.create(**cast("CreateOptions", meta)) as writer:
            writer.exit_code = code
            await writer.write(piece)
            async for piece in pieces:
                await writer.write(piece)
        return await self.artifact(writer.id)

    redaction = at_once(_session.Session.redaction)
    artifact = in_thread(_session.Session.artifact, Artifact)
    exists = in_thread(_session.Session.exists)
    matching = in_thread(_session.Session.matching)
    artifacts = listing(_session.Session.artifacts, Artifact)
    infos = listing(_session.Session.infos)
    find = in_thread(_session.Session.find, Artifact)
    events = listing(_session.Session.events)
    new_events = in_thread(_session.Session.new_events)
    acting = at_once(_session.Session.acting)
    action = at_once(_session.Session.action)
    note = at_once(_session.Session.note)
    count_passed = at_once(_session.Session.count_passed)
    sign = in_thread(_session.Session.sign)
    check = in_thread(_session.Session.check)
    on_close = at_once(_session.Session.on_close)
    end = in_thread(_session.Session.end)
    delete = in_thread(_session.Session.delete)
    close = in_thread(_session.Session.close)
    __aexit__ = in_thread(_session.Session.__exit__)

    async def __aenter__(self) -> Self:
        return self


class Store:
    """``spillstore.Store`` for asyncio.

    Attributes:
        plain: the store for callers that wait.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        redaction: RedactionRules | None = None,
        clock: Clock | None = None,
        digest_key: bytes | str | os.PathLike[str] | None = None,
        **settings: Unpack[SettingsOptions],
    ) -> None:
        """Name a store; see ``spillstore.Store``."""
        self.plain = _store.Store(root, redaction=redaction, clock=clock, digest_key=digest_key, **settings)

    root: Attribute[Path | None] = attribute(_store.Store.root)
    name: Attribute[str] = attribute(_store.Store.name)
    address: Attribute[str] = attribute(_store.Store.address)
    settings: Attribute[Settings] = attribute(_store.Store.settings)
    session = opening(_store.Store.session, Session)

    @staticmethod
    def open_file(
        path: str | os.PathLike[str], *, digest_key: bytes | str | os.PathLike[str] | None = None
    ) -> Opening[Session]:
        """Read a ``session.db`` that somebody sent; see ``spillstore.Store.open_file``."""
        return Opening(lambda: Session(_store.Store.open_file(path, digest_key=digest_key)))

    async def sessions(self, project: str | None = None) -> list[SessionInfo]:
        """All sessions, or those of one project."""
        return await asyncio.to_thread(lambda: list(self.plain.sessions(project)))

    async def copy_session(
        self,
        session_id: str,
        project: str | None = None,
        *,
        to: Store,
        force: bool = False,
        replace: bool = False,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> CopyReport:
        """Copy a session to another store, of any engine; see ``spillstore.Store.copy_session``."""
        target = to.plain if isinstance(to, Store) else to  # the plain store says what is none
        copy = functools.partial(
            self.plain.copy_session, to=target, force=force, replace=replace, on_progress=on_progress
        )
        return await asyncio.to_thread(copy, session_id, project)

    check = in_thread(_store.Store.check)
    salvage = in_thread(_store.Store.salvage)
    deleted_events = in_thread(_store.Store.deleted_events)
    delete = in_thread(_store.Store.delete)
    delete_artifact = in_thread(_store.Store.delete_artifact)
    collect = in_thread(_store.Store.collect)
