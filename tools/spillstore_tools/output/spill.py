"""Output on its way: held back while it is small, stored from its first byte once it is not, looked at as it passes.

A ``Spill`` takes what a tool prints, as a writer does. Up to the profile's ``buffer_bytes`` everything stays in memory,
so that what is shown whole never touches a disk. Beyond, an artifact is opened, what was held back goes in first, and
the profile's passes see the sequence as it is stored. In the end the profile makes the text.

Storage may fail at any time and the tool call must not: what the store has taken but not shown to the passes yet is
kept until it has, so after a failure the passes go on with exactly what is missing, and the text says what was kept.

What is said of output that was stored comes from the artifact alone (its times, its exit code), never from what only
this process knows; so ``stored.render`` makes the same text again.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Literal, NamedTuple

from spillstore.exceptions import SpillstoreError
from spillstore.ingest.interleaver import Interleaver
from spillstore.observers import EmittedEvent, begin_operation, emit, is_observed
from spillstore_tools.output.output_events import FAILED, OUTPUT, output_detail, tool_of
from spillstore_tools.output.rendering import (
    facts_of,
    flags_to,
    head_of,
    is_cr_text,
    is_progress,
    kind_of,
    media_type_of,
    place_of,
    record,
    scanned,
    terminator_of,
    told,
)
from spillstore_tools.output.repeated import known
from spillstore_tools.output.serial import Serial
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.preview.parts import VIEWS
from spillstore_tools.preview.scan.overview import Position
from spillstore_tools.profiles.facts import Facts
from spillstore_tools.profiles.rendered import Rendered, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Artifact, ArtifactInfo, Session, Writer
    from spillstore.info import Newline
    from spillstore.observers import Operation
    from spillstore.redaction import RedactionRules, Redactor
    from spillstore_tools.preview.parts import View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.scan.scan import Scan
    from spillstore_tools.profiles.base import Keep, Profile
    from spillstore_tools.profiles.facts import Background

OutputStream = Literal["stdout", "stderr"]
STREAMS: tuple[OutputStream, OutputStream] = ("stdout", "stderr")
_HOLD_US = 50_000
_ROOM = 4 * 1024 * 1024
_BATCH = 64 * 1024


class News(NamedTuple):
    """What has come since somebody looked, and where that begins."""

    origin: Position
    scan: Scan


class _Batch:
    """Consecutive runs of the sequence. Tools print line by line, and to wake a thread for each would cost more."""

    def __init__(self) -> None:
        self._runs: list[tuple[str, bytes]] = []
        self.size = 0

    def add(self, stream: str, data: bytes) -> None:
        """The next run."""
        self._runs.append((stream, data))
        self.size += len(data)

    def of(self, view: View) -> bytes:
        """What a view has of them."""
        return b"".join([data for stream, data in self._runs if view in {"combined", stream}])


def _named(
    rules: RedactionRules, source: str, command: str | None, content_type: str | None
) -> tuple[str, str | None, str | None, dict[str, int]]:
    """What an output is called, without secrets, and how many of each kind were in the command."""
    found: dict[str, int] = {}
    if command is not None:
        command, found = rules.counted(command)
    if content_type is not None:
        content_type = rules.redact(content_type)
    return rules.named(source), command, content_type, found


class Spill:
    r"""Takes output with ``write``, from any thread; ``finish`` says what a model is shown of it.

    Args:
        session: where it is stored if need be; a function, so that a pass-through opens nothing. Called once.
        profile: decides what is shown.
        source: the tool.
        command: what was run or asked for.
        tool_call_id: the tool call that it answers.
        content_type: its media type.
        newline: what ends a line; ``auto`` takes CR where there is no LF.
        is_command: whether a command prints it.
        flags: what a ``spillstore`` command needs besides to find the session; None for ``flags_to`` of it.
        keep: ``all`` stores what is shown whole, too; None leaves it to the profile.
        redaction: the rules by which secrets are taken out before anything is shown or stored; None for none, which the
            event ``create`` says.
        on_spill: called with the artifact's id when there is one.
        on_pass: called with the tool and the size of output that is not stored, at the end.
        told_as: what who observes is told of the tool; None for ``source``.
        work: of which it is a part, whose end tells who observes; None to tell them in ``finish``.
        on_redaction: called then with the tool and how many secrets of each kind were taken out of it, if any were.
        began: when it began to be printed, by ``time.monotonic``, if that was before; times count from then.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> from spillstore_tools.profiles import profile
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
        ...     spill = Spill(lambda: session, profile("omni"), source="bash")
        ...     _ = spill.write(b"little\n")
        ...     spill.finish().text, spill.artifact
        ('little\n', None)
    """

    def __init__(  # noqa: PLR0915  # what it holds is named here, all of it
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
        flags: str | None = "",
        keep: Keep | None = None,
        redaction: RedactionRules | None = None,
        on_spill: Callable[[str], object] | None = None,
        on_pass: Callable[[str, int], object] | None = None,
        told_as: str | None = None,
        work: Operation | None = None,
        on_redaction: Callable[[str, dict[str, int]], object] | None = None,
        began: float | None = None,
    ) -> None:
        self._work = work
        self._on_redaction = on_redaction
        self._redacted: dict[str, int] = {}  # of what is no output
        self._redactors: tuple[Redactor, Redactor] | None = None
        self._done: Redacted | Literal[False] = False
        if redaction is not None:
            from spillstore.redaction import Redacted  # noqa: PLC0415  # not where it is switched off

            source, command, content_type, self._redacted = _named(redaction, source, command, content_type)
            tool_call_id = None if tool_call_id is None else redaction.named(tool_call_id)
            self._redactors = redaction.redactor(), redaction.redactor()
            self._done = Redacted(redaction)
        self._told_as = source if told_as is None else told_as
        self._keep = keep or profile.keep
        self._on_spill = on_spill
        self._on_pass = on_pass
        self._context = contextvars.copy_context()  # who acts: what happens on other threads is theirs, too
        self._open_session = session
        self._session: Session | None = None
        self._profile = profile
        self._source = source
        self._command = command
        self._tool_call_id = tool_call_id
        self._content_type = content_type
        self._newline: Newline = newline
        self._is_command = is_command
        self._told_flags = flags
        now = time.monotonic()
        self._ago = 0.0 if began is None else now - began
        self._started = now - self._ago
        self._created = time.time() - self._ago
        self._refuse_at = profile.refuse_at(source)
        self._refused = False
        self._held: list[tuple[int, bytes, int]] | None = []
        self._sizes = [0, 0]
        self._passed = [0, 0]  # the same after redaction
        self._head = b""  # of the sequence, and how much of that the passes have seen
        self._seen = 0
        self._inside = False  # the last of it is a line that has not ended
        self._news: News | None = None  # what has come since somebody looked
        self._writer: Writer | None = None
        self._cut_off: set[int] = set()  # streams of which more has come than the profile keeps
        self._room_to_stop: int | None = (
            None  # bytes that the store will still take, where it stops at a limit
        )
        self._told: int | None = None  # bytes of which somebody was told while it was coming
        self._problem: str | None = None
        self._to_announce: str | None = None  # an artifact that the caller has not been told of
        self._writing = (
            threading.Lock()
        )  # protects all of the above: streams are written from their own threads
        self._lock = threading.Lock()  # protects what was seen: the tap runs on the store's threads
        # The passes take about as long as storing does, so they run beside it.
        self._passes: Serial[_Batch] = Serial(self._feed, size_of=lambda batch: batch.size, room=_ROOM)
        self._batch = _Batch()  # runs of the sequence on their way to the passes
        self._unseen: deque[tuple[int, bytes]] = deque()
        self._interleaver = Interleaver(self._enter, _HOLD_US)  # for what does not go through the store
        self._scans = self._make_scans(b"\r" if newline == "cr" else b"\n")
        self.artifact: Artifact | None = None
        self._info: ArtifactInfo | None = None
        self._original: str | None = None  # the artifact that holds the same, where nothing was kept of this
        self._repeat: dict[str, object] = {}  # what nothing else has on record of an output that is not kept
        self._lines: dict[View, int] | None = None
        self._final: dict[View, Overview] | None = None  # of all of it, for who asks for the last news
        if self._keep == "all":
            self._spill()
            self._announce()

    def _make_scans(self, terminator: bytes) -> dict[View, Scan]:
        self._head, self._seen = b"", 0
        self._ended_by = terminator
        return {view: self._profile.scan(view, terminator, self._source) for view in self._profile.views}

    @property
    def _flags(self) -> str:
        if self._told_flags is not None:
            return self._told_flags
        return "" if self._session is None else flags_to(self._session)

    @property
    def command(self) -> str | None:
        """What was run or asked for, without secrets."""
        return self._command

    @property
    def received(self) -> int:
        """Bytes that came."""
        return sum(self._sizes)

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes that came, of each stream."""
        return dict(zip(STREAMS, self._sizes, strict=True))

    @property
    def problem(self) -> str | None:
        """Why not all of it is stored, or None."""
        return self._problem

    @property
    def views(self) -> tuple[View, ...]:
        """The views that are shown."""
        return self._profile.views

    @property
    def artifact_id(self) -> str | None:
        """Where all of it is: an artifact of its own, or one that held the same before."""
        return self._original if self.artifact is None else self.artifact.id

    @property
    def session_id(self) -> str | None:
        """The session, if it was opened."""
        return None if self._session is None else self._session.id

    def lines(self) -> dict[View, int]:
        """Lines of each view, as of the last look or the end; nothing where nobody knows, because storing failed."""
        if self._lines is not None:
            return self._lines
        if self._info is not None and self._problem is None:
            return {view: self._info.view(view).lines for view in VIEWS}
        if self._held is None:
            return {}
        found: dict[View, int] = {}
        ended = True
        for number, view in enumerate(STREAMS):
            data = b"".join(piece for stream, piece, _ in self._held if stream == number)
            unended = bool(data) and not data.endswith(self._ended_by)
            found[view] = data.count(self._ended_by) + unended
            found["combined"] = found.get("combined", 0) + data.count(self._ended_by)
            ended = ended and not unended
        found["combined"] += not ended
        return found

    # --- as it comes ------------------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview, stream: OutputStream = "stdout") -> int:
        """Take bytes; blocks while the store is behind. Storage failures are kept for ``finish``, not raised."""
        number = STREAMS.index(stream)
        size = len(data)
        with self._writing:
            self._sizes[number] += size
            if self._refuse_at is not None and self.received >= self._refuse_at:
                self._refuse()
            else:
                passed = bytes(data)
                if self._redactors is not None:
                    passed = self._redactors[number].feed(passed)
                self._take(passed, number)
        self._announce()
        return size

    def _take(self, data: bytes, number: int) -> None:
        """Bytes that may be shown and stored."""
        self._passed[number] += len(data)
        kept = self._within_limit(data, number)
        if kept:
            if self._held is not None:
                self._hold(kept, number)
            else:
                self._pass_on(kept, number)
        if len(kept) < len(data):
            self._pass_by(data[len(kept) :], number)

    @property
    def redactions(self) -> dict[str, int]:
        """How many secrets were taken out so far, by kind."""
        found = dict(self._redacted)
        for redactor in self._redactors or ():
            for kind, count in redactor.counts.items():
                found[kind] = found.get(kind, 0) + count
        return found

    def keep(self) -> None:
        """Store it from its first byte, however little it is and will be."""
        with self._writing:
            self._keep = "all"
            if self._held is not None:
                self._spill()
        self._announce()

    def _announce(self) -> None:
        """Tell the caller that there is an artifact: without a lock, for it may ask for what is printed."""
        if self._to_announce is None:
            return
        with self._lock:  # two may be here
            announced, self._to_announce = self._to_announce, None
        if announced is not None and self._on_spill is not None:
            with contextlib.suppress(Exception):  # whatever it raises, the tool call succeeds
                self._context.copy().run(self._on_spill, announced)

    def abort(self, reason: str) -> None:
        """Give up: what was stored stays, ``interrupted``; what was held back is dropped."""
        with self._writing:
            self._held = None
            self._end_writer(reason)
            if self._refused and self._refuse_at is not None:
                self._tell_refused(self._refuse_at)

    def _within_limit(self, data: bytes, number: int) -> bytes:
        """What the profile keeps of a stream."""
        limit = self._profile.stream_limit
        if limit is None or self._passed[number] <= limit:
            return data
        return data[: max(0, limit - (self._passed[number] - len(data)))]

    def _hold(self, data: bytes, number: int) -> None:
        assert self._held is not None  # the caller asked
        self._held.append((number, data, self._now()))
        if self.received > self._profile.buffer_bytes:
            self._spill()

    def _guessed(self, held: list[tuple[int, bytes, int]], *, beginning: bool = False) -> bytes | None:
        """What ends a line, by what there is of it so far; None where it is known.

        From here on the artifact is made with the same guess: where it takes CR, the store looks at all of it in the end.
        """
        data = b"".join(data for _, data, _ in held)
        if self._newline == "lf" and self._is_command and is_cr_text(data):
            self._newline = "auto"
        if self._newline != "auto":
            return None
        terminator = terminator_of(data)
        if beginning and is_progress(data):  # a line end may yet come
            terminator = b"\n"
        if terminator == b"\n" and b"\r" in data:
            self._newline = "lf"
        return terminator

    def _now(self) -> int:
        return int((time.monotonic() - self._started) * 1e6)

    def _spill(self, *, whole: bool = False) -> None:
        """Open the artifact and give it what was held back; ``whole`` if that is all there is."""
        held, self._held = self._held or [], None
        if self._content_type is None:
            self._content_type = media_type_of(b"".join(data for _, data, _ in held), whole=whole)
        # A guess; where more output proves it wrong, the artifact is looked at again.
        if terminator := self._guessed(held, beginning=not whole):
            self._scans = self._make_scans(terminator)
        try:
            self._session = self._open_session()
            self._writer = self._context.run(
                self._session.create,
                source=self._source,
                command=self._command,
                tool_call_id=self._tool_call_id,
                content_type=self._content_type,
                newline=self._newline,
                limit=self._profile.size_limit,
                policy=self._profile.policy,
                redact=self._done,
                tap=self._see,
                ago=0.0 if self._ago == 0.0 else time.monotonic() - self._started,
            )
            if (self._profile.policy or self._session.settings.artifact_policy) == "stop":
                self._room_to_stop = self._profile.size_limit or self._session.settings.artifact_limit
            self._to_announce = self._writer.id
        except Exception as error:  # noqa: BLE001  # whatever the caller's functions raise, the tool call succeeds
            self._problem = str(error) or type(error).__name__
        for number, data, _ in held:
            self._pass_on(data, number)

    def _pass_on(self, data: bytes, number: int) -> None:
        if self._writer is None:
            self._interleaver.write(number, data, self._now())
            return
        expected = data if self._room_to_stop is None else data[: self._room_to_stop]
        if self._room_to_stop is not None:
            self._room_to_stop -= len(expected)
        if expected:  # what the store will not take it will not show either
            # Without the lock, for the passes may take milliseconds under it: a deque needs none.
            self._unseen.append((number, expected))
        try:
            self._writer.write(data, STREAMS[number])
        except SpillstoreError as error:
            self._fail(error)

    def _pass_by(self, data: bytes, number: int) -> None:
        """Bytes of a stream behind what the profile keeps of it: looked at, and not stored."""
        if self._held is not None:
            self._spill()
        if self._writer is not None and number not in self._cut_off:
            try:  # so the passes have seen what stands before them
                self._writer.flush()
            except SpillstoreError as error:
                self._fail(error)
        self._cut_off.add(number)
        if self._writer is None:
            self._interleaver.write(number, data, self._now())
            return
        with self._lock:  # the tap gives the passes what the other stream prints
            self._hand_over(STREAMS[number], data)

    def _see(self, stream: str, data: bytes) -> None:
        """The store's tap: the next run of the sequence."""
        with self._lock:
            if self._writer is None:
                return  # it failed meanwhile, and the passes have been given all of it
            self._forget(STREAMS.index(stream), len(data))
            self._hand_over(stream, data)

    def _forget(self, number: int, size: int) -> None:
        """Bytes of a stream that the passes have been given; others stand before them only while a line is held back."""
        at = 0
        while size and at < len(self._unseen):
            stream, data = self._unseen[at]
            if stream != number:
                at += 1
            elif len(data) > size:
                self._unseen[at] = (stream, data[size:])
                return
            else:
                del self._unseen[at]
                size -= len(data)

    def _enter(self, number: int, pieces: list[bytes | memoryview], now: int) -> None:  # noqa: ARG002  # the interface
        self._hand_over(STREAMS[number], b"".join(pieces))

    def _hand_over(self, stream: str, data: bytes) -> None:
        """The next run for the passes: never from two threads at once, for there is no writer, or ``_lock`` is held."""
        self._batch.add(stream, data)
        if self._batch.size >= _BATCH:
            batch, self._batch = self._batch, _Batch()
            self._passes.put(batch)

    def _feed(self, batch: _Batch) -> None:
        whole = batch.of("combined")
        self._seen += batch.size
        self._inside = not whole.endswith(self._ended_by) if whole else self._inside
        if len(self._head) < HEAD_BYTES:
            self._head += whole[: HEAD_BYTES - len(self._head)]
        for view, scan in self._scans.items():
            scan.feed(whole if view == "combined" else batch.of(view))
        if self._news is not None:
            self._news.scan.feed(whole)

    # --- while it goes on -------------------------------------------------------------------------------

    def look(self, background: Background, *, exit_code: int | None = None) -> Rendered:
        """What has come so far; ``news`` goes on from there. From now on all of it is stored.

        Args:
            background: what goes on.
            exit_code: of the command, if it has ended and others print in its place.
        """
        self.keep()

        def text(facts: Facts) -> Rendered:
            looks = {view: scan.snapshot() for view, scan in self._scans.items()}
            # Without a pass over both streams the artifact says how many lines they have.
            lines = self.lines().get("combined", 0)
            origin = Position(self._seen, lines + (not self._inside), inside=self._inside)
            rest = b""
            if "combined" in looks:
                overview, rest = looks["combined"]
                origin = overview.end
            self._follow(origin, rest)
            return self._profile.progress({view: overview for view, (overview, _) in looks.items()}, facts)

        rendered = self._beside(text, background, exit_code)
        self._record_part("preview", rendered, background)
        return rendered

    def news(
        self, background: Background, *, exit_code: int | None = None, recorded: bool = True
    ) -> Rendered:
        """What has come since ``look`` or the last ``news``: every byte once. Arguments as for ``look``.

        ``recorded`` is false of what may be told some day.
        """

        def text(facts: Facts) -> Rendered:
            assert self._news is not None  # somebody has looked
            origin = self._news.origin
            overview, rest = self._news.scan.snapshot()
            if background.state == "ended":
                overview, rest = self._news.scan.finish(), b""
            end = overview.end
            line = origin.line + end.line - 1
            # An escape sequence that has not ended is held back: then nothing is told, and the line is as it was.
            inside = end.inside if end.byte else origin.inside
            self._follow(Position(origin.byte + end.byte, line, inside=inside), rest)
            return self._profile.news(overview, origin, self._final, facts)

        rendered = self._beside(text, background, exit_code)
        if recorded:
            self._record_part("news", rendered, background)
        return rendered

    def _record_part(self, kind: str, rendered: Rendered, background: Background) -> None:
        """Tell the audit what is shown of a command that goes on; it is the one who asks now that acts."""
        size = self.received
        since, self._told = size - (self._told or 0), size
        if self._session is None or self.artifact_id is None:
            return
        detail = told(rendered, self._profile, self._source, since)
        with contextlib.suppress(SpillstoreError):  # the session was closed meanwhile, or is gone
            self._session.note(
                kind,
                {**detail, "pid": background.pid, "state": background.state},
                artifact_id=self.artifact_id,
            )

    def _follow(self, origin: Position, rest: bytes) -> None:
        """From here on it is news."""
        scan = self._profile.news_scan(self._ended_by)
        scan.feed(rest)
        self._news = News(origin, scan)

    def _beside(
        self, text: Callable[[Facts], Rendered], background: Background, exit_code: int | None
    ) -> Rendered:
        """A text that is made between two pieces of output."""
        with self._writing:
            if self._refused:
                assert self._refuse_at is not None  # or nothing would have been refused
                status = Facts(source=self._source, exit_code=exit_code, background=background).status
                return refused(self.received, self._refuse_at, status)
            if self._writer is not None:
                try:
                    self._writer.flush()
                except SpillstoreError as error:
                    self._fail(error)
            if self._writer is not None:
                self._find(self._writer.id, empty=True)
            self._interleaver.flush(self._now())
            self._hand_over_rest()
            runtime = round((time.monotonic() - self._started) * 1000)
            facts = self._live(dataclasses.replace(self._facts(exit_code, runtime), background=background))
        return self._passes.call(lambda: text(facts))

    def _hand_over_rest(self) -> None:
        with self._lock:
            batch, self._batch = self._batch, _Batch()
        self._passes.put(batch)

    # --- what goes wrong --------------------------------------------------------------------------------

    def _fail(self, error: SpillstoreError) -> None:
        """Go on without the store; the passes get what it had not shown them."""
        self._problem = self._problem or str(error) or type(error).__name__
        with self._lock:  # from here on the tap does nothing
            writer, self._writer = self._writer, None
        while self._unseen:
            number, data = self._unseen.popleft()
            self._interleaver.write(number, data, self._now())
        if writer is not None:
            with contextlib.suppress(SpillstoreError):
                writer.abort(self._problem)
            self._find(writer.id)

    def _refuse(self) -> None:
        """Keep nothing: the profile refuses what is as large as this."""
        if self._refused:
            return
        self._refused = True
        self._held = None
        self._scans = {}
        self._end_writer("refused: too large")
        if self.artifact is not None:
            self._delete()

    def _tell_refused(self, most: int) -> None:
        """Record that a limit was met, also where nothing of the output has reached the store."""
        detail = {"limit": "max_artifact_size", "tool": self._source, "size": self.received, "most": most}
        try:
            session = self._session = self._session or self._open_session()
            self._context.run(self._note, session, detail)
        except Exception:  # noqa: BLE001  # whatever the caller's functions raise, the tool call succeeds
            if is_observed("limit"):
                emit(EmittedEvent("limit", detail))

    def _note(self, session: Session, detail: dict[str, object]) -> None:
        with session.acting(tool_call_id=self._tool_call_id):
            session.note("limit", detail)

    def _end_writer(self, reason: str) -> None:
        with self._lock:
            writer, self._writer = self._writer, None
            self._unseen.clear()
        if writer is not None:
            with contextlib.suppress(SpillstoreError):
                writer.abort(reason)
            self._find(writer.id, empty=True)

    def _find(self, artifact_id: str, *, empty: bool = False) -> None:
        """Learn what was stored, if anything was."""
        assert self._session is not None  # there was a writer
        try:
            artifact = self._session.artifact(artifact_id)
            info = artifact.info
        except SpillstoreError as error:
            if not empty:
                return
            self._problem = self._problem or str(error)
        else:
            if info.size or empty:
                self.artifact, self._info = artifact, info

    def _delete(self) -> None:
        """Remove the artifact; where that fails it stays, and is told of."""
        assert self.artifact is not None  # the callers asked
        with contextlib.suppress(SpillstoreError):
            self.artifact.delete()
            self.artifact = self._info = None

    # --- the end ----------------------------------------------------------------------------------------

    def finish(
        self, *, exit_code: int | None = None, runtime: int | None = None, stopped: str | None = None
    ) -> Rendered:
        """End the artifact, if there is one, and make the text. Call it once; nothing of the store is raised.

        Args:
            exit_code: of the command; the text takes the signal that ended it from this, too.
            runtime: milliseconds that it ran; of output that is stored the artifact's own times are used.
            stopped: why it was ended before its end, in a word; nobody is shown the text then.
        """
        if self._work is not None:
            return self._finish_recorded(exit_code, runtime, stopped)
        work = self._context.copy().run(begin_operation, OUTPUT, {"tool": self._told_as})
        detail: dict[str, object] = {"tool": tool_of(self._told_as, self._session), "outcome": FAILED}
        try:
            rendered = self._finish_recorded(exit_code, runtime, stopped)
            if is_observed(OUTPUT):
                detail = output_detail(
                    rendered,
                    tool=tool_of(self._told_as, self._session),
                    profile=self._profile.name,
                    received=self.received,
                    artifact_id=self.artifact_id,
                    problem=self._problem is not None,
                )
        finally:
            work.end(detail, session=self.session_id, artifact_id=self.artifact_id)
        return rendered

    def _finish_recorded(self, exit_code: int | None, runtime: int | None, stopped: str | None) -> Rendered:
        try:
            rendered = self._finish(exit_code, runtime)
        finally:
            self._announce()
        with contextlib.suppress(SpillstoreError):  # the session was closed meanwhile, or is gone
            self._context.run(self._record, rendered, exit_code, stopped)
        return rendered

    def _record(self, rendered: Rendered, exit_code: int | None, stopped: str | None) -> None:
        """Tell the audit what was shown of how much; of what was told of in parts, or is shown to nobody, that it ended."""
        if self._session is not None and self.artifact_id is not None:
            kind, detail = "preview", told(rendered, self._profile, self._source, self.received)
            if self._told is not None or stopped is not None:
                kind = "ended"
                detail = {"tool": self._source, "exit_code": exit_code, "received": self.received}
                if stopped is not None:
                    detail["why"] = stopped
            with self._session.acting(tool_call_id=self._tool_call_id):
                self._session.note(kind, detail | self._repeat, artifact_id=self.artifact_id)
        elif not self._refused and self._problem is None:
            if self._on_pass is not None:
                self._on_pass(self._source, self.received)
            if self._on_redaction is not None and self._session is None and (found := self.redactions):
                self._on_redaction(self._source, found)

    def _finish(self, exit_code: int | None, runtime: int | None) -> Rendered:
        with self._writing:
            if self._refused:
                assert self._refuse_at is not None  # or nothing would have been refused
                self._tell_refused(self._refuse_at)
                return refused(self.received, self._refuse_at)
            for number, redactor in enumerate(self._redactors or ()):
                self._take(redactor.finish(), number)
            facts = self._facts(exit_code, runtime)
            overviews = self._end(facts)
            facts = self._facts(exit_code, runtime)  # its type is known now
            if self._news is not None:
                self._final = overviews
            if self._info is not None and self.artifact is not None and self._problem is None:
                # What ``stored.render`` will say, too.
                stored = facts_of(self._info, self._profile, self._flags, self._head)
                stored = dataclasses.replace(stored, capped=self._capped)
                rendered = self._profile.render(overviews, stored)
                again = self._again(
                    rendered, stored, lambda facts: self._profile.render(overviews, facts), exit_code, runtime
                )
                if again is not None:
                    return again
                if self._cut_off:
                    self._lines = {view: overview.lines for view, overview in overviews.items()}
                    self._lines["combined"] = sum(self._lines.values())
                if self._cut_off or (self._info.hole is not None and self._profile.shows_dropped):
                    record(self.artifact, self._profile, self._flags, rendered)
                return rendered
            return self._profile.render(overviews, self._live(facts))

    def _again(
        self,
        rendered: Rendered,
        facts: Facts,
        render: Callable[[Facts], Rendered],
        exit_code: int | None,
        runtime: int | None,
    ) -> Rendered | None:
        """The text, if the session had all of this before; then it is not stored a second time.

        What somebody wants to have stored is stored, and so is what a model may have been told of.
        """
        artifact, info, session = self.artifact, self._info, self._session
        if (
            artifact is None
            or info is None
            or session is None
            or self._keep == "all"
            or info.hole is not None
        ):
            return None
        try:
            again = known(session, artifact.unrecorded(), facts, render)
            if again is None:
                return None
            self._lines = self.lines()
            artifact.delete()
        except SpillstoreError:  # it is stored like anything else
            return None
        self.artifact, self._info, self._original = None, None, again.artifact_id
        self._repeat = {
            "again": True,
            "command": self._command,
            "exit_code": exit_code,
            "started": self._created,
            "milliseconds": facts.runtime if runtime is None else runtime,
        }
        return dataclasses.replace(again.rendered, is_error=rendered.is_error)

    def _facts(self, exit_code: int | None, runtime: int | None) -> Facts:
        return Facts(
            source=self._source,
            command=self._command,
            content_type=self._content_type,
            is_command=self._is_command,
            exit_code=exit_code,
            runtime=runtime,
            created=self._created,
        )

    def _end(self, facts: Facts) -> dict[View, Overview]:
        if self._held is not None:
            held = list(self._held)
            if terminator := self._guessed(held):
                self._scans = self._make_scans(terminator)
            overviews = self._overviews_of(held)
            if self._complete(overviews, facts):
                return overviews
            self._scans = self._make_scans(self._ended_by)
            self._spill(whole=True)
        if self._writer is not None:
            self._close(self._writer, facts.exit_code)
        self._interleaver.flush(self._now())
        self._hand_over_rest()
        self._passes.join()
        overviews = self._look_again({view: scan.finish() for view, scan in self._scans.items()})
        if self._keep == "spilled" and self._complete(overviews, facts):
            if self.artifact is not None:
                self._delete()
            self._problem = None  # nothing needed storing
        return overviews

    def _complete(self, overviews: dict[View, Overview], facts: Facts) -> bool:
        return self._profile.complete(overviews, self._live(facts, stored=False))

    def _close(self, writer: Writer, exit_code: int | None) -> None:
        try:
            writer.close(exit_code=exit_code, redactions=self.redactions)
        except SpillstoreError as error:
            self._fail(error)
        else:
            self._writer = None
            self._find(writer.id, empty=True)

    def _look_again(self, overviews: dict[View, Overview]) -> dict[View, Overview]:
        """What the artifact gives where the passes saw another thing: what was dropped since, other line ends."""
        info, artifact = self._info, self.artifact
        if info is None or artifact is None or self._problem is not None:
            return overviews
        if info.terminator == self._ended_by and (info.hole is None or self._profile.shows_dropped):
            return overviews
        try:
            again = scanned(artifact.unrecorded(), self._profile, self._source)
            self._head = head_of(artifact.unrecorded())
        except SpillstoreError as error:
            self._problem = f"it cannot be read again: {error}"
            return overviews
        return again

    def _live(self, facts: Facts, *, stored: bool = True) -> Facts:
        """What is known here of output that is not stored, or not all of it."""
        where = None
        if stored and self._info is not None:
            where = place_of(self._info, self._flags)
        return dataclasses.replace(
            facts,
            stored=where,
            problem=self._problem if stored else None,
            capped=self._capped,
            created=facts.created if self._info is None else self._info.created,
            binary=kind_of(self._head, self._seen),
            head=self._head,
        )

    @property
    def _capped(self) -> frozenset[str]:
        """The streams of which more has come than the profile keeps."""
        return frozenset(STREAMS[number] for number in self._cut_off)

    def _overviews_of(self, held: list[tuple[int, bytes, int]]) -> dict[View, Overview]:
        """The passes over what is in memory, its lines interleaved as the store would."""
        batch = _Batch()

        def enter(stream: int, pieces: list[bytes | memoryview], now: int) -> None:  # noqa: ARG001  # the interface
            batch.add(STREAMS[stream], b"".join(pieces))

        interleaver = Interleaver(enter, _HOLD_US)
        now = 0
        for number, data, now in held:
            interleaver.write(number, data, now)
        interleaver.flush(now)
        self._feed(batch)
        return {view: scan.finish() for view, scan in self._scans.items()}
