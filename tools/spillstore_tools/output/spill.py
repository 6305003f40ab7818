"""One output from its first byte to the text that a model is shown: ``Spill``.

A ``Spill`` takes what a tool prints, as a writer does. Up to the profile's ``buffer_bytes`` everything stays in memory, so
output that is shown whole never touches a disk. Beyond, an artifact has all of it. Its parts are the ``Recorder``, which keeps
the output, the ``OutputScans``, which scan it, ``Progress``, the texts while it goes on, and the ``Ending``.

Storage may fail at any time and the tool call must not: the scans still get everything, and the text says what was kept.
"""

from __future__ import annotations

import contextlib
import contextvars
import time
from typing import TYPE_CHECKING

from spillstore.exceptions import RangeError, UsageError
from spillstore_tools.output.description import Description
from spillstore_tools.output.ending import Ending
from spillstore_tools.output.live_facts import LiveFacts
from spillstore_tools.output.output_scans import OutputScans
from spillstore_tools.output.progress import Progress
from spillstore_tools.output.recorder import STREAMS, OutputStream, Recorder
from spillstore_tools.output.refusal import Refusal
from spillstore_tools.output.spill_events import SpillEvents

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Artifact, Session
    from spillstore.info import Newline
    from spillstore.observers import Operation
    from spillstore.redaction import RedactionRules
    from spillstore_tools.preview.parts import View
    from spillstore_tools.profiles.base import Keep, Profile
    from spillstore_tools.profiles.facts import Background
    from spillstore_tools.profiles.rendered import Rendered


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
        on_pass: called at the end with the tool, the size in bytes and the characters shown of output that is not stored.
        observed_as: name of the tool in the events that observers receive; None for ``source``.
        work: the operation that it is a part of, whose end observers learn of; None if ``finish`` is to tell them.
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
        flags: str | None = "",
        keep: Keep | None = None,
        redaction: RedactionRules | None = None,
        on_spill: Callable[[str], object] | None = None,
        on_pass: Callable[[str, int, int], object] | None = None,
        observed_as: str | None = None,
        work: Operation | None = None,
        on_redaction: Callable[[str, dict[str, int]], object] | None = None,
        began: float | None = None,
    ) -> None:
        ago = 0.0 if began is None else time.monotonic() - began
        described = Description(
            source=source,
            command=command,
            tool_call_id=tool_call_id,
            content_type=content_type,
            newline=newline,
            is_command=is_command,
            created=time.time() - ago,
        )
        if redaction is not None:
            described.redact(redaction)
        self._described = described
        self._profile = profile
        self._work = work
        self._on_spill = on_spill
        self._context = contextvars.copy_context()  # of the actor, for what happens on other threads
        self._scans = OutputScans(profile, described.source, b"\r" if newline == "cr" else b"\n")
        self._recorder = Recorder(session, profile, described, self._scans, redaction, began)
        limit = profile.refuse_at(described.source)
        self._refusal = Refusal(limit, described.source, self._recorder, self._scans)
        self._facts = LiveFacts(described, self._recorder, self._scans, flags)
        self._progress = Progress(profile, described.source, self._recorder, self._scans, self._facts)
        self._ending = Ending(
            profile, described, self._recorder, self._scans, self._facts, keep or profile.keep
        )
        self._events = SpillEvents(
            session,
            profile,
            described,
            self._recorder,
            self._progress,
            self._ending,
            tool=described.source if observed_as is None else observed_as,
            on_pass=on_pass,
            on_redaction=on_redaction,
        )
        if self._ending.keep == "all":
            self.keep()

    @property
    def command(self) -> str | None:
        """What was run or asked for, without secrets."""
        return self._described.command

    @property
    def received(self) -> int:
        """Bytes that came."""
        return self._recorder.received

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes that came, of each stream."""
        return dict(zip(STREAMS, self._recorder.sizes, strict=True))

    @property
    def redactions(self) -> dict[str, int]:
        """How many secrets were taken out so far, by kind."""
        return self._recorder.redactions

    @property
    def problem(self) -> str | None:
        """Why not all of it is stored, or None."""
        return self._recorder.problem

    @property
    def views(self) -> tuple[View, ...]:
        """The views that are shown."""
        return self._profile.views

    @property
    def artifact(self) -> Artifact | None:
        """Where it is stored; None where it is not, or not looked for yet."""
        return self._recorder.artifact

    @property
    def artifact_id(self) -> str | None:
        """The artifact that has all of it: its own, or one that held the same before."""
        return self._ending.artifact_id

    @property
    def session_id(self) -> str | None:
        """The session, if it was opened."""
        session = self._recorder.session
        return None if session is None else session.id

    def lines(self) -> dict[View, int]:
        """Lines of each view, as of the last look or the end; empty if they are unknown because storing failed."""
        return self._facts.lines() if self._ending.lines is None else self._ending.lines

    # --- while it goes on -------------------------------------------------------------------------------

    def write(
        self,
        data: bytes | bytearray | memoryview,
        stream: OutputStream = "stdout",
        *,
        at: float | None = None,
    ) -> int:
        """Take bytes; blocks while the store is behind. Storage failures are kept for ``finish``, not raised.

        ``at`` says when they were printed, as for ``Writer.write``.

        Raises:
            UsageError: ``data`` is no bytes.
            RangeError: there is no such stream.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise UsageError(
                f"a Spill takes bytes, not {type(data).__name__}; encode text first: write(text.encode())"
            )
        if stream not in STREAMS:
            raise RangeError(f"stream must be stdout or stderr, not {stream!r}")
        piece, number = bytes(data), STREAMS.index(stream)
        recorder = self._recorder
        with recorder.lock:
            recorder.sizes[number] += len(piece)
            if not self._refusal.check():
                recorder.write(piece, number, at)
        self._announce()
        return len(piece)

    def keep(self) -> None:
        """Store it from its first byte, however little it is and will be."""
        with self._recorder.lock:
            self._ending.keep = "all"
            if self._recorder.spooling:
                self._recorder.store()
        self._announce()

    def look(self, background: Background, *, exit_code: int | None = None) -> Rendered:
        """What has come so far; ``news`` goes on from there. From now on all of it is stored.

        Args:
            background: what goes on.
            exit_code: of the command, if it has ended and others print in its place.
        """
        self.keep()
        return self._refusal.text(background, exit_code) or self._progress.look(background, exit_code)

    def news(
        self, background: Background, *, exit_code: int | None = None, recorded: bool = True
    ) -> Rendered:
        """What has come since ``look`` or the last ``news``: every byte once. Arguments as for ``look``.

        ``recorded`` is false of what may never be shown.
        """
        refusal = self._refusal.text(background, exit_code)
        return refusal or self._progress.news(background, exit_code, recorded=recorded)

    def abort(self, reason: str) -> None:
        """Give up: what was stored stays, ``interrupted``; what was held back is dropped."""
        with self._recorder.lock:
            self._recorder.abort(reason)
            if self._refusal.met:
                self._refusal.record(self._events.note_limit)

    def _announce(self) -> None:
        """Tell the caller that there is an artifact: without a lock, for it may ask for what is printed."""
        if self._recorder.begun is None:
            return
        with self._recorder.lock:
            begun, self._recorder.begun = self._recorder.begun, None
        if begun is not None and self._on_spill is not None:
            with contextlib.suppress(Exception):  # whatever it raises, the tool call succeeds
                self._context.copy().run(self._on_spill, begun)

    # --- the end ----------------------------------------------------------------------------------------

    def finish(
        self, *, exit_code: int | None = None, runtime: int | None = None, stopped: str | None = None
    ) -> Rendered:
        """End the artifact, if there is one, and make the text. Call it once; nothing of the store is raised.

        Args:
            exit_code: of the command; the text takes the signal that ended it from this, too.
            runtime: milliseconds that it ran; of output that is stored the artifact's own times are used.
            stopped: why it was ended before its end, in a word; the text is not shown then.
        """
        if self._work is not None:
            return self._finish(exit_code, runtime, stopped)
        with self._events.operation(stopped) as emit:
            rendered = self._finish(exit_code, runtime, stopped)
            emit(rendered)
        return rendered

    def _finish(self, exit_code: int | None, runtime: int | None, stopped: str | None) -> Rendered:
        try:
            with self._recorder.lock:
                if (rendered := self._refusal.text()) is not None:
                    self._refusal.record(self._events.note_limit)
                else:
                    rendered = self._ending.finish(exit_code, runtime)
                    if self._scans.news is not None:
                        self._progress.final = self._ending.overviews
        finally:
            self._announce()
        self._events.record(rendered, exit_code, stopped, met_limit=self._refusal.met)
        return rendered
