"""Output on its way: held back while it is small, stored from its first byte once it is not, looked at as it passes.

A ``Spill`` takes what a tool prints, as a writer does. Up to the profile's ``buffer_bytes`` everything stays in memory,
so that what is shown whole never touches a disk. Beyond, an artifact is opened, what was held back goes in first, and
the profile's passes see the sequence as it is stored. In the end the profile makes the text.

Storage may fail at any time and the tool call must not: what the store has taken but not shown to the passes yet is
kept until it has, so after a failure the passes go on with exactly what is missing, and the text says what was kept.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Literal

from spillstore.exceptions import RangeTooLargeError, SpillstoreError
from spillstore.interleave import Interleaver
from spillstore_tools._serial import Serial
from spillstore_tools.preview.binary import recognise
from spillstore_tools.profiles.base import Facts, Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from spillstore import Artifact, Session, Writer
    from spillstore.info import Newline
    from spillstore_tools.preview.binary import BinaryType
    from spillstore_tools.preview.parts import View
    from spillstore_tools.preview.scan import Overview, Scan
    from spillstore_tools.profiles.base import Keep, Profile, Rendered

OutputStream = Literal["stdout", "stderr"]
STREAMS: tuple[OutputStream, OutputStream] = ("stdout", "stderr")
_HEAD = 8192
_HOLD_US = 50_000
_ROOM = 4 * 1024 * 1024


class Spill:
    """Takes output with ``write``; ``finish`` says what a model is shown of it.

    Args:
        session: where it is stored if need be; a function, so that a pass-through opens nothing.
        profile: decides what is shown.
        source: the tool.
        command: what was run or asked for.
        tool_call_id: the tool call that it answers.
        content_type: its media type.
        newline: what ends a line; ``auto`` takes CR where there is no LF.
        is_command: whether a command prints it.
        flags: what a ``spillstore`` command needs besides to find the session.
        keep: ``all`` stores what is shown whole, too; None leaves it to the profile.
    """

    def __init__(
        self,
        session: Callable[[], Session],
        profile: Profile,
        *,
        source: str,
        command: str | None = None,
        tool_call_id: str | None = None,
        content_type: str | None = None,
        newline: Newline = "lf",
        is_command: bool = False,
        flags: str = "",
        keep: Keep | None = None,
    ) -> None:
        self._keep = keep or profile.keep
        self._session = session
        self._profile = profile
        self._source = source
        self._command = command
        self._tool_call_id = tool_call_id
        self._content_type = content_type
        self._newline: Newline = newline
        self._is_command = is_command
        self._flags = flags
        self._started = time.monotonic()
        self._created = time.time()
        self._held: list[tuple[int, bytes, int]] | None = []
        self._sizes = [0, 0]
        self._capped: set[str] = set()
        self._head = b""
        self._writer: Writer | None = None
        self._problem: str | None = None
        self._lock = threading.Lock()  # protects what was seen: the tap runs on the store's threads
        # The passes take about as long as storing does, so they run beside it.
        self._passes: Serial[tuple[str, bytes]] = Serial(
            self._feed, size_of=lambda item: len(item[1]), room=_ROOM
        )
        self._unseen: tuple[deque[bytes], deque[bytes]] = (deque(), deque())
        self._scans = self._make_scans()
        self.artifact: Artifact | None = None
        if self._keep == "all":
            self._spill()

    def _make_scans(self, terminator: bytes = b"\n") -> dict[View, Scan]:
        return {view: self._profile.scan(view, terminator, self._source) for view in self._profile.views}

    @property
    def received(self) -> int:
        """Bytes that came."""
        return sum(self._sizes)

    @property
    def problem(self) -> str | None:
        """Why not all of it is stored, or None."""
        return self._problem

    def write(self, data: bytes, stream: OutputStream = "stdout") -> int:
        """Take bytes; blocks while the store is behind. Storage failures are kept for ``finish``, not raised."""
        number = STREAMS.index(stream)
        self._sizes[number] += len(data)
        if len(self._head) < _HEAD:
            self._head += data[: _HEAD - len(self._head)]
        if self._refusing():
            self._abandon()
        elif data := self._within_limit(data, number):
            if self._held is not None:
                self._hold(data, number)
            else:
                self._pass_on(data, number)
        return len(data)

    def _refusing(self) -> bool:
        return self._profile.refuse_at is not None and self.received >= self._profile.refuse_at

    def _within_limit(self, data: bytes, number: int) -> bytes:
        """What the profile keeps of a stream."""
        limit = self._profile.stream_limit
        if limit is None or self._sizes[number] <= limit:
            return data
        self._capped.add(STREAMS[number])
        return data[: max(0, limit - (self._sizes[number] - len(data)))]

    def _hold(self, data: bytes, number: int) -> None:
        assert self._held is not None  # the caller asked
        self._held.append((number, bytes(data), int((time.monotonic() - self._started) * 1e6)))
        if self.received > self._profile.buffer_bytes:
            self._spill()

    def _spill(self) -> None:
        """Open the artifact and give it what was held back."""
        held, self._held = self._held or [], None
        try:
            self._writer = self._session().create(
                source=self._source,
                command=self._command,
                tool_call_id=self._tool_call_id,
                content_type=self._content_type,
                newline=self._newline,
                limit=self._profile.size_limit,
                policy=self._profile.policy,
                tap=self._see,
            )
        except (SpillstoreError, OSError) as error:
            self._problem = str(error)
        for number, data, _ in held:
            self._pass_on(data, number)

    def _pass_on(self, data: bytes, number: int) -> None:
        if self._writer is not None:
            self._unseen[number].append(
                data
            )  # no lock: the passes may take milliseconds, and a deque needs none
            try:
                self._writer.write(data, STREAMS[number])
            except SpillstoreError as error:
                self._fail(error)
        else:
            self._passes.put((STREAMS[number], data))

    def _see(self, stream: str, data: bytes) -> None:
        """The store's tap: the next run of the sequence."""
        with self._lock:
            if self._writer is None:
                return  # it failed meanwhile, and the passes have been given all of it
            self._forget(self._unseen[STREAMS.index(stream)], len(data))
            self._passes.put((stream, data))

    def _feed(self, item: tuple[str, bytes]) -> None:
        stream, data = item
        for view, scan in self._scans.items():
            if view in {"combined", stream}:
                scan.feed(data)

    @staticmethod
    def _forget(unseen: deque[bytes], size: int) -> None:
        while size and unseen:
            first = unseen.popleft()
            if len(first) > size:
                unseen.appendleft(first[size:])
                return
            size -= len(first)

    def _fail(self, error: SpillstoreError) -> None:
        """Go on without the store; the passes get what it had not shown them."""
        with self._lock:
            writer, self._writer = self._writer, None
            self._problem = self._problem or str(error)
            for stream, unseen in zip(STREAMS, self._unseen, strict=True):
                for data in unseen:
                    self._passes.put((stream, data))
                unseen.clear()
        if writer is not None:
            with contextlib.suppress(SpillstoreError):
                writer.abort(self._problem)
            self._find(writer.id)

    def _abandon(self) -> None:
        """Keep nothing: the profile refuses what is as large as this."""
        self._held = None
        self._scans = {}
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with contextlib.suppress(SpillstoreError):
                writer.abort("refused: too large")
                self._session().artifact(writer.id).delete()

    def _find(self, artifact_id: str) -> None:
        with contextlib.suppress(SpillstoreError):
            artifact = self._session().artifact(artifact_id)
            if artifact.info.size:
                self.artifact = artifact

    def finish(
        self, *, exit_code: int | None = None, signal: str | None = None, runtime: int | None = None
    ) -> Rendered:
        """End the artifact, if there is one, and make the text. Nothing of the store is raised.

        Args:
            exit_code: of the command.
            signal: the name of the signal that ended it.
            runtime: milliseconds that it ran.
        """
        if self._refusing():
            from spillstore_tools.preview.scan import Overview  # noqa: PLC0415  # rarely needed

            nothing = Overview(
                size=self.received,
                lines=0,
                chars=0,
                head=(),
                tail=(),
                whole=False,
                terminator=b"\n",
                observer=None,
            )
            return self._profile.render(
                dict.fromkeys(self._profile.views, nothing), self._facts(None, None, None)
            )
        overviews = self._end(exit_code)
        return self._profile.render(overviews, self._facts(exit_code, signal, runtime))

    def _end(self, exit_code: int | None) -> dict[View, Overview]:
        if self._held is not None:
            held = list(self._held)
            terminator = self._terminator(data for _, data, _ in held)
            self._scans = self._make_scans(terminator)
            overviews = self._overviews_of(held)
            if self._complete(overviews):
                return overviews
            self._scans = self._make_scans(terminator)
            self._spill()
        if self._writer is not None:
            self._close(self._writer, exit_code)
        self._passes.join()
        if self.artifact is not None and self._needs_another_look():
            return scanned(self.artifact, self._profile, self._source)
        overviews = {view: scan.finish() for view, scan in self._scans.items()}
        if self._keep == "spilled" and self.artifact is not None and self._complete(overviews):
            with contextlib.suppress(SpillstoreError):
                self.artifact.delete()
                self.artifact = None
        return overviews

    def _complete(self, overviews: dict[View, Overview]) -> bool:
        return self._profile.complete(overviews, self._source, self._binary())

    def _needs_another_look(self) -> bool:
        """Whether the passes saw other lines than the artifact has: CRs count as line ends since, or it was rolled."""
        assert self.artifact is not None  # the caller asked
        info = self.artifact.info
        return info.hole is not None or (info.newline == "cr" and self._problem is None)

    def _close(self, writer: Writer, exit_code: int | None) -> None:
        try:
            writer.close(exit_code=exit_code)
        except SpillstoreError as error:
            self._fail(error)
        else:
            self._find(writer.id)
            if self.artifact is None:  # empty, and stored all the same
                with contextlib.suppress(SpillstoreError):
                    self.artifact = self._session().artifact(writer.id)

    def _terminator(self, pieces: Iterable[bytes]) -> bytes:
        if self._newline != "auto":
            return b"\r" if self._newline == "cr" else b"\n"
        data = b"".join(pieces)
        return b"\r" if b"\r" in data and b"\n" not in data else b"\n"

    def _overviews_of(self, held: list[tuple[int, bytes, int]]) -> dict[View, Overview]:
        """The passes over what is in memory, its lines interleaved as the store would."""

        def enter(stream: int, pieces: list[bytes | memoryview], now: int) -> None:  # noqa: ARG001  # the interface
            self._feed((STREAMS[stream], b"".join(pieces)))

        interleaver = Interleaver(enter, _HOLD_US)
        now = 0
        for number, data, now in held:
            interleaver.write(number, data, now)
        interleaver.flush(now)
        return {view: scan.finish() for view, scan in self._scans.items()}

    def _binary(self) -> BinaryType | None:
        return recognise(self._head, self.received)

    def _facts(self, exit_code: int | None, signal: str | None, runtime: int | None) -> Facts:
        artifact = self.artifact
        return Facts(
            source=self._source,
            command=self._command,
            content_type=self._content_type,
            stored=None if artifact is None else stored_of(artifact, self._flags),
            problem=self._problem,
            capped=frozenset(self._capped),
            is_command=self._is_command,
            exit_code=exit_code,
            signal=signal,
            runtime=runtime,
            created=self._created if artifact is None else artifact.info.created,
            binary=self._binary(),
            head=self._head,
        )


def stored_of(artifact: Artifact, flags: str = "") -> Stored:
    """Where an artifact is kept, for a notice."""
    info = artifact.info
    hole = None if info.hole is None else (info.hole.start, info.hole.end)
    cut_off = info.received - info.size if info.policy == "stop" and info.state == "sealed" else 0
    return Stored(id=info.id, flags=flags, hole=hole, cut_off=cut_off, limit=info.limit)


def scanned(artifact: Artifact, profile: Profile, source: str) -> dict[View, Overview]:
    """A profile's passes over what is stored."""
    info = artifact.info
    terminator = b"\r" if info.newline == "cr" else b"\n"
    overviews: dict[View, Overview] = {}
    for view in profile.views:
        scan = profile.scan(view, terminator, source)
        hole = info.hole if view == "combined" else None
        if hole is None:
            for block in artifact.chunks(stream=view, holes="skip"):
                scan.feed(block)
        else:
            for block in artifact.chunks(0, hole.start, stream=view):
                scan.feed(block)
            scan.skip(hole.end - hole.start, hole.last_line, torn=_torn(artifact, hole.last_line, terminator))
            for block in artifact.chunks(hole.end, stream=view):
                scan.feed(block)
        overviews[view] = scan.finish()
    return overviews


def _torn(artifact: Artifact, last_line: int, terminator: bytes) -> bool:
    """Whether the last line that a hole touches goes on behind it."""
    if last_line >= artifact.info.lines:
        return True
    try:
        rest = artifact.read_lines(last_line, last_line, holes="skip")
    except RangeTooLargeError:
        return True
    return rest.endswith(terminator)


def render(
    artifact: Artifact, profile: Profile, *, flags: str = "", is_command: bool | None = None
) -> Rendered:
    """What a model is shown of a stored artifact; the text it was shown when the output came.

    Args:
        artifact: sealed, interrupted, or still being written.
        profile: decides what is shown.
        flags: what a ``spillstore`` command needs besides to find the session.
        is_command: whether a command printed it; None asks the artifact, which has an exit code then.
    """
    info = artifact.info
    command = info.exit_code is not None if is_command is None else is_command
    head = next(artifact.chunks(holes="skip"), b"")[:_HEAD]
    facts = Facts(
        source=info.source,
        command=info.command,
        content_type=info.content_type,
        stored=stored_of(artifact, flags),
        problem=info.reason if info.state == "interrupted" else None,
        is_command=command,
        exit_code=info.exit_code,
        runtime=None if info.ended is None else int((info.ended - info.created) * 1000),
        created=info.created,
        binary=recognise(head, info.size),
        head=head,
    )
    return profile.render(scanned(artifact, profile, info.source), facts)
