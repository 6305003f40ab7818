r"""The same store for asyncio: the same names, awaited.

Whatever may touch the disk runs on a thread of the loop's default executor; ``Writer.write`` returns at once while the
queue has room, and only waits on a thread when it is full. So no call holds up the event loop.

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
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, cast

from spillstore import artifact as _artifact
from spillstore import session as _session
from spillstore import store as _store
from spillstore import writer as _writer
from spillstore.artifact import MAX_BYTES
from spillstore.exceptions import SpillstoreError
from spillstore.info import Page
from spillstore.ingest.content import check_piece

if TYPE_CHECKING:
    import io
    import os
    from collections.abc import (
        AsyncIterator,
        Awaitable,
        Callable,
        Generator,
        Iterable,
        Mapping,
    )
    from pathlib import Path
    from types import TracebackType
    from typing import Literal, Unpack

    from spillstore.audit.action import Action
    from spillstore.info import (
        ArtifactInfo,
        BadLine,
        CheckReport,
        Cleaner,
        CollectReport,
        Event,
        Export,
        Holes,
        Origin,
        Position,
        QueryMatch,
        QueryResult,
        SearchResult,
        Segment,
        SessionInfo,
        State,
        Stream,
        Verification,
    )
    from spillstore.ingest.content import Content
    from spillstore.jsonstring import JSONString
    from spillstore.model.clock import Clock
    from spillstore.redaction import RedactionRules
    from spillstore.session import CreateOptions, PutOptions, Redact
    from spillstore.settings import Settings, SettingsOptions

__all__ = ["Artifact", "Listing", "Reader", "Session", "Store", "Writer"]


class _Closable(Protocol):
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


_LINES = 100  # are fetched by one call of a thread
T = TypeVar("T")
C = TypeVar("C", bound=_Closable)


class Opening(Generic[C]):
    """What is being opened: ``await`` it, or use it with ``async with``."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._made: C | None = None

    def __await__(self) -> Generator[Any, None, C]:
        return self._open().__await__()

    async def _open(self) -> C:
        task = asyncio.ensure_future(asyncio.to_thread(self._make))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # The thread goes on; what it opens must not stay open with nobody to close it.
            with contextlib.suppress(Exception):
                await (await task).__aexit__(None, None, None)
            raise

    async def __aenter__(self) -> C:
        self._made = await self._open()
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._made is not None, "__aexit__ is only called after __aenter__"
        await self._made.__aexit__(kind, error, trace)


class Listing(Generic[T]):
    """A list that is asked for: ``await`` it for its first page, or go over all of it with ``async for``.

    With a ``limit`` that is one page, as for a plain ``Page``.
    """

    def __init__(self, make: Callable[[], Page[T]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, None, Page[T]]:
        return self._first().__await__()

    async def _first(self) -> Page[T]:
        page = await asyncio.to_thread(self._make)
        return Page(page.items, page.cursor)  # iterating over it must not hold up the loop

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await asyncio.to_thread(self._make)
        while True:
            for item in page.items:
                yield item
            if page.cursor is None or page.following is None:
                return
            page = await asyncio.to_thread(page.following, page.cursor)


class Store:
    """``spillstore.Store`` for asyncio."""

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
        self._store = _store.Store(root, redaction=redaction, clock=clock, digest_key=digest_key, **settings)

    @property
    def root(self) -> Path:
        """The folder."""
        return self._store.root

    @property
    def settings(self) -> Settings:
        """The settings that sessions opened through this store get."""
        return self._store.settings

    def session(
        self, session_id: str, project: str | None = None, *, create: bool = True, read_only: bool = False
    ) -> Opening[Session]:
        """Open a session; see ``spillstore.Store.session``."""
        return Opening(
            lambda: Session(self._store.session(session_id, project, create=create, read_only=read_only))
        )

    @staticmethod
    def open_file(
        path: str | os.PathLike[str], *, digest_key: bytes | str | os.PathLike[str] | None = None
    ) -> Opening[Session]:
        """Read a ``session.db`` that somebody sent; see ``spillstore.Store.open_file``."""
        return Opening(lambda: Session(_store.Store.open_file(path, digest_key=digest_key)))

    async def sessions(self, project: str | None = None) -> list[SessionInfo]:
        """All sessions, or those of one project."""
        return await asyncio.to_thread(lambda: list(self._store.sessions(project)))

    async def check(self) -> int:
        """Check every session."""
        return await asyncio.to_thread(self._store.check)

    async def deleted_events(
        self,
        session_id: str,
        project: str | None = None,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Event]:
        """What happened in sessions of that name that were deleted, where ``audit_keep`` is set; the newest first."""
        return await asyncio.to_thread(
            lambda: self._store.deleted_events(
                session_id,
                project,
                kind=kind,
                artifact_id=artifact_id,
                actor=actor,
                tool_call_id=tool_call_id,
                since=since,
                until=until,
                limit=limit,
                cursor=cursor,
            )
        )

    async def delete(self, session_id: str, project: str | None = None, *, force: bool = False) -> None:
        """Delete a session, also on a full disk; see ``spillstore.Store.delete``."""
        await asyncio.to_thread(lambda: self._store.delete(session_id, project, force=force))

    async def delete_artifact(self, session_id: str, artifact_id: str, project: str | None = None) -> int:
        """Delete one artifact, also on a full disk; see ``spillstore.Store.delete_artifact``."""
        return await asyncio.to_thread(lambda: self._store.delete_artifact(session_id, artifact_id, project))

    async def collect(
        self,
        *,
        older_than: float | None = None,
        keep_bytes: int | None = None,
        project: str | None = None,
        dry_run: bool = False,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> CollectReport:
        """Delete sessions that are too old or take too much; see ``spillstore.Store.collect``."""
        return await asyncio.to_thread(
            lambda: self._store.collect(
                older_than=older_than,
                keep_bytes=keep_bytes,
                project=project,
                dry_run=dry_run,
                on_progress=on_progress,
            )
        )


class Session:
    """``spillstore.Session`` for asyncio."""

    def __init__(self, session: _session.Session) -> None:
        self._session = session

    @property
    def id(self) -> str:
        """The id as the caller gave it."""
        return self._session.id

    @property
    def project(self) -> str | None:
        """The project it belongs to, or None."""
        return self._session.project

    @property
    def root(self) -> Path | None:
        """The store's folder, or None where one file was opened."""
        return self._session.root

    @property
    def path(self) -> Path:
        """Its file."""
        return self._session.path

    @property
    def plain(self) -> _session.Session:
        """The session for callers that wait."""
        return self._session

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading alone."""
        return self._session.read_only

    @property
    def present(self) -> bool:
        """Whether its file is still where it was opened."""
        return self._session.present

    def on_close(self, function: Callable[[], object]) -> None:
        """Call ``function`` on a thread when the session is about to be closed."""
        self._session.on_close(function)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._session.settings

    @property
    def cleanup_on_exit(self) -> bool:
        """Whether ``end`` deletes the session."""
        return self._session.cleanup_on_exit

    @cleanup_on_exit.setter
    def cleanup_on_exit(self, value: bool) -> None:
        self._session.cleanup_on_exit = value

    def create(self, **meta: Unpack[CreateOptions]) -> Opening[Writer]:
        """Begin an artifact; arguments as for ``spillstore.Session.create``."""
        return Opening(lambda: Writer(self._session.create(**meta)))

    async def put(
        self,
        data: Content | AsyncIterable[bytes],
        **meta: Unpack[PutOptions],
    ) -> Artifact:
        """Store content that is already there; arguments as for ``spillstore.Session.put``."""
        if isinstance(data, AsyncIterable):
            pieces = aiter(data)
            piece = await anext(pieces, b"")  # who cannot be read fails before anything is begun
            check_piece(piece)
            code = meta.pop("exit_code", None)
            meta.setdefault("newline", "auto")
            async with self.create(**cast("CreateOptions", meta)) as writer:
                writer.exit_code = code
                await writer.write(piece)
                async for piece in pieces:
                    await writer.write(piece)
            return await self.artifact(writer.id)
        return Artifact(await asyncio.to_thread(lambda: self._session.put(data, **meta)))

    def redaction(self, wanted: Redact = None) -> RedactionRules | None:
        """The rules by which secrets are taken out, or None where they are not."""
        return self._session.redaction(wanted)

    async def artifact(self, artifact_id: str) -> Artifact:
        """The artifact of that id."""
        return Artifact(await asyncio.to_thread(self._session.artifact, artifact_id))

    async def exists(self, artifact_id: str) -> bool:
        """Whether this session holds an artifact of that id."""
        return await asyncio.to_thread(self._session.exists, artifact_id)

    async def matching(self, prefix: str, limit: int = 10) -> list[str]:
        """Ids that begin with ``prefix``."""
        return await asyncio.to_thread(self._session.matching, prefix, limit)

    def artifacts(
        self,
        *,
        source: str | None = None,
        state: State | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[Artifact]:
        """The newest artifacts first: ``await`` a page, or go over all of them with ``async for``."""

        def page(cursor: str | None) -> Page[Artifact]:
            found = self._session.artifacts(
                source=source,
                state=state,
                tool_call_id=tool_call_id,
                since=since,
                limit=limit,
                cursor=cursor,
            )
            artifacts = [Artifact(each) for each in found.items]
            return Page(artifacts, found.cursor, page if limit is None else None)

        return Listing(lambda: page(cursor))

    def infos(
        self,
        *,
        source: str | None = None,
        state: State | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[ArtifactInfo]:
        """Like ``artifacts``, but what is known of each."""
        return Listing(
            lambda: self._session.infos(
                source=source,
                state=state,
                tool_call_id=tool_call_id,
                since=since,
                limit=limit,
                cursor=cursor,
            )
        )

    async def find(self, tool_call_id: str) -> Artifact:
        """The newest artifact that answers a tool call."""
        return Artifact(await asyncio.to_thread(self._session.find, tool_call_id))

    def events(
        self,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[Event]:
        """What happened in the session, the newest first: ``await`` a page, or go over all of it with ``async for``."""
        return Listing(
            lambda: self._session.events(
                kind=kind,
                artifact_id=artifact_id,
                actor=actor,
                tool_call_id=tool_call_id,
                since=since,
                until=until,
                limit=limit,
                cursor=cursor,
            )
        )

    async def new_events(
        self,
        cursor: str | None = None,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int = 100,
    ) -> Page[Event]:
        """What was recorded after a former call; arguments as for ``spillstore.Session.new_events``."""
        return await asyncio.to_thread(
            lambda: self._session.new_events(
                cursor,
                kind=kind,
                artifact_id=artifact_id,
                actor=actor,
                tool_call_id=tool_call_id,
                since=since,
                limit=limit,
            )
        )

    def acting(
        self, actor: str | None = None, tool_call_id: str | None = None, *, otherwise: str | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Say who does what is awaited in a ``with`` block; as ``spillstore.Session.acting``."""
        return self._session.acting(actor, tool_call_id, otherwise=otherwise)

    def action(self, kind: str, tool: str | None = None) -> contextlib.AbstractContextManager[Action]:
        """Make what is read in a ``with`` block one event; as ``spillstore.Session.action``."""
        return self._session.action(kind, tool)

    def note(self, kind: str, detail: Mapping[str, object], *, artifact_id: str | None = None) -> None:
        """Take an event that is written with the next batch; arguments as for ``spillstore.Session.note``."""
        self._session.note(kind, detail, artifact_id=artifact_id)

    def count_passed(self, tool: str, size: int, calls: int = 1) -> None:
        """Count output that was shown whole and so not stored; arguments as for ``spillstore.Session.count_passed``."""
        self._session.count_passed(tool, size, calls)

    async def sign(self, data: bytes) -> str:
        """Eleven characters that only who can open this session can make of ``data``."""
        return await asyncio.to_thread(lambda: self._session.sign(data))

    async def check(self, *, on_progress: Callable[[int, int], object] | None = None) -> CheckReport:
        """Check everything."""
        return await asyncio.to_thread(lambda: self._session.check(on_progress=on_progress))

    async def end(self, *, cleanup: bool | None = None) -> None:
        """Record that the conversation is over and close, or delete at once."""
        await asyncio.to_thread(lambda: self._session.end(cleanup=cleanup))

    async def delete(self, *, force: bool = False) -> None:
        """Delete the session with all its artifacts."""
        await asyncio.to_thread(lambda: self._session.delete(force=force))

    async def close(self) -> None:
        """Let go of the session."""
        await asyncio.to_thread(self._session.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Writer:
    """``spillstore.Writer`` for asyncio."""

    def __init__(self, writer: _writer.Writer) -> None:
        self._writer = writer

    @property
    def id(self) -> str:
        """The artifact's id; see ``spillstore.Writer``."""
        return self._writer.id

    @property
    def stored(self) -> bool:
        """Whether the session has the artifact: false while a writer that spools keeps all of it in memory."""
        return self._writer.stored

    @property
    def closed(self) -> bool:
        """Whether nothing more can be written."""
        return self._writer.closed

    @property
    def received(self) -> int:
        """Bytes handed to ``write`` so far."""
        return self._writer.received

    @property
    def exit_code(self) -> int | None:
        """The exit code that the artifact is sealed with; set it before the block ends."""
        return self._writer.exit_code

    @exit_code.setter
    def exit_code(self, value: int | None) -> None:
        self._writer.exit_code = value

    async def write(
        self, data: bytes | bytearray | memoryview | str, stream: Literal["stdout", "stderr"] = "stdout"
    ) -> int:
        """Queue bytes of one stream; waits, without holding up the loop, while the queue is full."""
        if self._writer.would_block(len(data)):
            return await asyncio.to_thread(self._writer.write, data, stream)
        return self._writer.write(data, stream)

    async def flush(self) -> None:
        """Return when everything written so far is committed."""
        await asyncio.to_thread(self._writer.flush)

    async def close(
        self, *, exit_code: int | None = None, redactions: Mapping[str, int] | None = None
    ) -> None:
        """Commit everything and seal the artifact."""
        await asyncio.to_thread(lambda: self._writer.close(exit_code=exit_code, redactions=redactions))

    async def abort(self, reason: str) -> None:
        """Commit everything and leave the artifact ``interrupted``."""
        await asyncio.to_thread(self._writer.abort, reason)

    async def discard(self) -> list[tuple[str, bytes]]:
        """End it and keep nothing; returns what a writer that spools has kept in memory."""
        return await asyncio.to_thread(self._writer.discard)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._writer.__exit__, kind, error, trace)


class Artifact:
    """``spillstore.Artifact`` for asyncio; ``info`` is awaited too."""

    def __init__(self, artifact: _artifact.Artifact) -> None:
        self._artifact = artifact

    @property
    def id(self) -> str:
        """The id that a model is shown."""
        return self._artifact.id

    @property
    def info(self) -> Awaitable[ArtifactInfo]:
        """What is known of it now: ``await artifact.info``."""
        return asyncio.to_thread(lambda: self._artifact.info)

    async def read_lines(
        self,
        first: int,
        last: int,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Lines ``first`` to ``last``, inclusive."""
        return await asyncio.to_thread(
            lambda: self._artifact.read_lines(first, last, stream=stream, holes=holes, max_bytes=max_bytes)
        )

    async def read_bytes(
        self,
        start: int,
        end: int,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Bytes ``[start, end)``."""
        return await asyncio.to_thread(
            lambda: self._artifact.read_bytes(start, end, stream=stream, holes=holes, max_bytes=max_bytes)
        )

    async def read_time(
        self,
        start: float,
        end: float,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Bytes that arrived in ``[start, end)`` seconds."""
        return await asyncio.to_thread(
            lambda: self._artifact.read_time(start, end, stream=stream, holes=holes, max_bytes=max_bytes)
        )

    async def read(
        self, *, stream: Stream = "combined", holes: Holes = "raise", max_bytes: int = MAX_BYTES
    ) -> bytes:
        """All bytes of a view."""
        return await asyncio.to_thread(
            lambda: self._artifact.read(stream=stream, holes=holes, max_bytes=max_bytes)
        )

    async def read_text(
        self,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
        encoding: str = "utf-8",
        errors: str = "replace",
    ) -> str:
        """All of a view as text."""
        return await asyncio.to_thread(
            lambda: self._artifact.read_text(
                stream=stream, holes=holes, max_bytes=max_bytes, encoding=encoding, errors=errors
            )
        )

    async def lines(
        self, *, stream: Stream = "combined", holes: Holes = "raise", max_bytes: int = MAX_BYTES
    ) -> AsyncIterator[bytes]:
        """The lines of a view with their endings, one by one; some hundred are fetched at a time."""
        lines = self._artifact.lines(stream=stream, holes=holes, max_bytes=max_bytes)
        failure: SpillstoreError | None = None

        def fetched() -> list[bytes]:
            nonlocal failure
            found: list[bytes] = []
            try:
                found.extend(itertools.islice(lines, _LINES))
            except SpillstoreError as error:
                failure = error  # to be raised behind the lines that came before
            return found

        while some := await asyncio.to_thread(fetched):
            for line in some:
                yield line
        if failure is not None:
            raise failure

    async def locate(
        self,
        *,
        line: int | None = None,
        byte: int | None = None,
        time: float | None = None,
        stream: Stream = "combined",
        holes: Holes = "raise",
    ) -> Position:
        """Where a line begins, which line a byte is in, or what came first at a time or later."""
        return await asyncio.to_thread(
            lambda: self._artifact.locate(line=line, byte=byte, time=time, stream=stream, holes=holes)
        )

    async def search(
        self,
        pattern: str,
        *,
        stream: Stream = "combined",
        context: int = 0,
        limit: int = 50,
        cursor: str | None = None,
        ignore_case: bool = False,
        literal: bool = False,
        invert: bool = False,
        cleaner: Cleaner | None = None,
        seconds: float | None = None,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> SearchResult:
        """Lines that match a regular expression, a page at a time."""
        return await asyncio.to_thread(
            lambda: self._artifact.search(
                pattern,
                stream=stream,
                context=context,
                limit=limit,
                cursor=cursor,
                ignore_case=ignore_case,
                literal=literal,
                invert=invert,
                cleaner=cleaner,
                seconds=seconds,
                on_progress=on_progress,
            )
        )

    async def query(
        self,
        query: str,
        *,
        stream: Stream = "combined",
        limit: int = 100,
        max_bytes: int = MAX_BYTES,
        cursor: str | None = None,
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = 60.0,
    ) -> QueryResult:
        """Nodes of JSON that a JSONPath query selects, a page at a time."""
        return await asyncio.to_thread(
            lambda: self._artifact.query(
                query,
                stream=stream,
                limit=limit,
                max_bytes=max_bytes,
                cursor=cursor,
                lines=lines,
                start_line=start_line,
                seconds=seconds,
            )
        )

    async def nodes(
        self,
        query: str,
        *,
        stream: Stream = "combined",
        cursor: str | None = None,
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = None,
    ) -> AsyncIterator[QueryMatch | BadLine]:
        """All nodes that a JSONPath query selects, one by one."""
        found = await asyncio.to_thread(
            lambda: self._artifact.nodes(
                query, stream=stream, cursor=cursor, lines=lines, start_line=start_line, seconds=seconds
            )
        )
        while (node := await asyncio.to_thread(next, found, None)) is not None:
            yield node

    async def string(
        self,
        path: str,
        *,
        stream: Stream = "combined",
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = 60.0,
    ) -> JSONString:
        """The one string that a JSONPath query finds; it is in memory then, and its methods are plain ones."""
        return await asyncio.to_thread(
            lambda: self._artifact.string(
                path, stream=stream, lines=lines, start_line=start_line, seconds=seconds
            )
        )

    async def tail(
        self,
        lines: int = 50,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """The last ``lines`` lines."""
        return await asyncio.to_thread(
            lambda: self._artifact.tail(lines, stream=stream, holes=holes, max_bytes=max_bytes)
        )

    async def chunks(
        self, start: int = 0, end: int | None = None, *, stream: Stream = "combined", holes: Holes = "raise"
    ) -> AsyncIterator[bytes]:
        """The bytes ``[start, end)`` in blocks of at most 64 KiB."""
        blocks = self._artifact.chunks(start, end, stream=stream, holes=holes)
        while (block := await asyncio.to_thread(next, blocks, None)) is not None:
            yield block

    async def segments(self, *, holes: Holes = "raise") -> AsyncIterator[Segment]:
        """Both streams in the order of the sequence, each run of bytes with its stream and time."""
        segments = self._artifact.segments(holes=holes)
        while (segment := await asyncio.to_thread(next, segments, None)) is not None:
            yield segment

    async def follow(
        self, start: int = 0, *, stream: Stream = "combined", poll: float = 0.1, holes: Holes = "raise"
    ) -> AsyncIterator[bytes]:
        """Like ``chunks``, but waits for more until the artifact ends."""
        while True:
            size, state = await asyncio.to_thread(self._artifact.extent, stream)
            async for block in self.chunks(start, size, stream=stream, holes=holes):
                yield block
            start = max(start, size)
            if state != "open":
                return
            await asyncio.sleep(poll)

    async def open(self, *, stream: Stream = "combined", holes: Holes = "raise") -> Reader:
        """A seekable binary reader."""
        return Reader(await asyncio.to_thread(lambda: self._artifact.open(stream=stream, holes=holes)))

    async def verify(self, *, on_progress: Callable[[int, int], object] | None = None) -> Verification:
        """Read every chunk and recompute every digest and counter."""
        return await asyncio.to_thread(lambda: self._artifact.verify(on_progress=on_progress))

    async def export(
        self,
        path: str | os.PathLike[str],
        *,
        stream: Stream = "combined",
        overwrite: bool = False,
        holes: Holes = "raise",
        on_progress: Callable[[int, int], object] | None = None,
    ) -> Export:
        """Write the bytes to a file, atomically."""
        return await asyncio.to_thread(
            lambda: self._artifact.export(
                path, stream=stream, overwrite=overwrite, holes=holes, on_progress=on_progress
            )
        )

    async def delete(self) -> None:
        """Make it unreadable at once and give its space back."""
        await asyncio.to_thread(self._artifact.delete)

    async def reading(
        self, shown: Iterable[bytes], start: int, end: int, *, stream: Stream = "combined"
    ) -> AsyncIterator[bytes]:
        """Hand on what is shown of bytes ``[start, end)``; when all of it was, that is recorded as a ``read``."""
        blocks = self._artifact.reading(shown, start, end, stream=stream)
        while (block := await asyncio.to_thread(next, blocks, None)) is not None:
            yield block

    async def origin(self, *, alike: bool = True) -> Origin | None:
        """Where the session holds the same bytes already, or None."""
        return await asyncio.to_thread(lambda: self._artifact.origin(alike=alike))

    def unrecorded(self) -> Artifact:
        """The same artifact, for who records what it reads in an event of its own."""
        return Artifact(self._artifact.unrecorded())

    async def record(self, kind: str, detail: Mapping[str, object], *, at_once: bool = True) -> None:
        """Add an event to the artifact's history."""
        await asyncio.to_thread(lambda: self._artifact.record(kind, detail, at_once=at_once))

    async def events(self, kind: str | None = None, *, limit: int = 100) -> list[Event]:
        """What happened to it, newest first."""
        return await asyncio.to_thread(lambda: self._artifact.events(kind, limit=limit))


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
