"""A command that runs on a thread of its own: ``Job``.

A job reads what its command prints into a ``Spill`` until the command has ended, whether somebody waits for it or not.
So a time-out hands nothing over: the caller stops waiting. Processes that a command leaves behind with its pipes open
are read on, too; the job is ``open`` then, and what they print is news like any other.

A job is ended with everything it has started when its session is closed (``session_jobs``), when the interpreter ends, or (by the
watchdog) when the agent is killed.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from spillstore.observers import begin_operation
from spillstore_tools.output.output_events import COMMAND, FAILED
from spillstore_tools.process.command_reader import CommandReader
from spillstore_tools.process.output_reader import TERM_GRACE, end_together
from spillstore_tools.process.runners import NOT_EXECUTABLE, StartError
from spillstore_tools.profiles.facts import Background

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from spillstore.observers import Operation
    from spillstore_tools.output.spill import Spill
    from spillstore_tools.preview.parts import View
    from spillstore_tools.process.output_reader import Outcome, OutputStream, Process
    from spillstore_tools.process.runners import Started
    from spillstore_tools.profiles.rendered import Rendered

State = Literal["running", "open", "ended"]
Stopped = Literal[
    "killed", "cancelled", "closed"
]  # by ``kill_pid``; with the call that waited for it; with its session

_log = logging.getLogger("spillstore")


def guarded(function: Callable[..., object], *arguments: object) -> bool:
    """Call a function of the caller's; whether it went well. The command must not suffer from it."""
    try:
        function(*arguments)
    except KeyboardInterrupt:  # the user's, and not the hook's
        raise
    except BaseException:  # noqa: BLE001  # whatever it is, SystemExit too, it is the caller's, and told in the log
        name = getattr(function, "__qualname__", type(function).__qualname__)
        _log.exception("a hook failed and is not called again for this command", extra={"hook": name})
        return False
    return True


class Printed(NamedTuple):
    """Sizes and place of a command's output.

    Attributes:
        sizes: bytes that came, of each stream.
        lines: of each view, where they were counted.
        views: those that are shown.
        artifact_id: where it is stored, or None.
        problem: why not all of it is.
    """

    sizes: Mapping[str, int]
    lines: Mapping[View, int]
    views: tuple[View, ...]
    artifact_id: str | None
    problem: str | None

    @classmethod
    def of(cls, spill: Spill) -> Printed:
        """As it is now."""
        return cls(spill.sizes, spill.lines(), spill.views, spill.artifact_id, spill.problem)


class Job:
    """One command.

    Args:
        command: its text.
        start: starts it.
        spill: takes its output.
        on_output: sees each piece as it comes, on the job's thread: ``(stream, data)``.
        on_end: called on the job's thread when all is over.
        cannot_start: the exit code that stands for a command that could not be started; None for a shell's.
        linger: seconds that processes which it leaves behind may hold up its result by printing.
        orphans: what happens then to what they print: it is ``read``, or they are left to themselves (``leave``).
        tool: name of the tool in the events that observers receive.
        observed: the work that it is for them; None to begin it here.
    """

    def __init__(
        self,
        command: str,
        start: Callable[[], Started],
        spill: Spill,
        *,
        on_output: Callable[[str, bytes], object] | None = None,
        on_end: Callable[[Job], object] | None = None,
        cannot_start: int | None = None,
        linger: float = 1.0,
        orphans: Literal["read", "leave"] = "read",
        tool: str = "bash",
        observed: Operation | None = None,
    ) -> None:
        self.command = command
        self.began = time.time()
        self.pid: int | None = None
        self.outcome: Outcome | None = None  # once the command itself has ended
        self.rendered: Rendered | None = None  # once all is over
        self._reader = CommandReader(
            start,
            cannot_start=cannot_start,
            linger=linger,
            orphans=orphans,
        )
        self._spill: Spill | None = spill
        self._last_news: tuple[Rendered, Printed] | None = None
        self._on_output = on_output
        self._on_end = on_end
        self._tool = tool
        self._observed = observed or begin_operation(COMMAND, {"tool": tool})
        self._process: Process | None = None
        self._error: BaseException | None = None
        self._dismissed = False  # it is to be ended
        self._stopped: Stopped | None = None  # why it was ended
        self._dropped = False  # its result is shown to nobody, so all of its output is stored
        self._worker: int | None = None  # the thread that reads
        self._changed = threading.Condition()  # protects all of the above but the spill
        self.steady = threading.RLock()  # while it is held, the state stays as it is
        self.finished = threading.Event()  # all is over, the hooks too
        self._callbacks: list[Callable[[], object]] = []

    def __repr__(self) -> str:
        return f"<Job {self.pid} {self.state}>"

    @property
    def failed(self) -> bool:
        """Whether it could not be started."""
        return self._reader.failed

    @property
    def state(self) -> State:
        """Whether the command runs, has left others behind that may print, or all is over."""
        if self.rendered is not None or self._error is not None:
            return "ended"
        return "running" if self.outcome is None else "open"

    @property
    def printed(self) -> Printed:
        """Sizes and place of its output, as of the last ``tell`` or ``news``."""
        with self.steady:
            if self._last_news is not None:
                return self._last_news[1]
            assert self._spill is not None  # or there would be last news
            return Printed.of(self._spill)

    def run(self) -> None:
        """Start it on a thread of its own."""
        try:
            threading.Thread(None, self._observed.run, "spillstore-job", (self.work,), daemon=True).start()
        except RuntimeError as error:  # no more threads are to be had
            self._reader.error = StartError(f"cannot look after a command: {error}", NOT_EXECUTABLE)
            self.work()

    # --- waiting ----------------------------------------------------------------------------------------

    def wait(self, seconds: float | None = None) -> bool:
        """Return when there is a result, or after so many seconds; whether there is one."""
        with self._changed:
            return self._changed.wait_for(lambda: self.state != "running", seconds)

    def wait_started(self) -> None:
        """Return when the command runs, or cannot."""
        with self._changed:
            self._changed.wait_for(lambda: self.pid is not None or self.state != "running")

    def when_settled(self, function: Callable[[], object]) -> None:
        """Call ``function`` once, on whatever thread, as soon as ``wait`` would return True."""
        with self._changed:
            if self.state == "running":
                self._callbacks.append(function)
                return
        function()

    def _settle(self) -> None:
        with self._changed:
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for function in callbacks:
            function()

    # --- texts of its output -----------------------------------------------------------------------------------

    def tell(self, timeout: int | None = None) -> Rendered:
        """All there is so far, or in the end; ``timeout`` is how long somebody has waited, in milliseconds."""
        with self.steady:
            self._raise()
            if self.rendered is not None:
                return self.rendered
            assert self._spill is not None  # it is there until the last text was made
            return self._spill.look(self._background(timeout), exit_code=self._exit_code)

    def news(self) -> Rendered:
        """What has come since ``tell`` or the last news."""
        with self.steady:
            self._raise()
            if self._last_news is not None:
                return self._last_news[0]
            assert self._spill is not None  # or there would be last news
            news = self._spill.news(self._background(), exit_code=self._exit_code)
            if self.rendered is not None:
                last = self._spill.news(self._background(), exit_code=self._exit_code, recorded=False)
                self._last_news, self._spill = (last, Printed.of(self._spill)), None
            return news

    @property
    def _exit_code(self) -> int | None:
        return None if self.outcome is None else self.outcome.exit_code

    def _background(self, timeout: int | None = None) -> Background:
        assert self.pid is not None  # it runs
        return Background(pid=self.pid, state=self.state, timeout=timeout)

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    # --- its life ---------------------------------------------------------------------------------------

    def work(self) -> None:
        """Start it, and return when all is over."""
        self._worker = threading.get_ident()
        spill = self._spill
        assert spill is not None  # it is there until the last text was made
        try:
            outcome = self._reader.read(self, on_process=self._begun, on_open=self._left_open)
            with self.steady:
                if self._dropped:
                    spill.keep()
                runtime = round(outcome.duration * 1000)
                rendered = spill.finish(exit_code=outcome.exit_code, runtime=runtime, stopped=self._stopped)
                with self._changed:
                    self.outcome, self.rendered = outcome, rendered
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is wanted
            with self.steady:
                try:
                    spill.abort(str(error) or type(error).__name__)
                finally:
                    with self._changed:
                        self._error = error
        finally:
            try:
                detail = {"tool": self._tool, "outcome": self._event_outcome, "exit_code": self._exit_code}
                self._observed.end(detail, session=spill.session_id, artifact_id=spill.artifact_id)
            finally:
                self._settle()  # first: a hook that blocks holds up nobody's result
            if self._on_end is not None:
                guarded(self._on_end, self)
            self.finished.set()

    @property
    def _event_outcome(self) -> str:
        """How it ended, as the event ``command`` says it."""
        if self._reader.failed:
            return "not_started"
        if self._error is not None or self.outcome is None:
            return FAILED
        if self._dismissed:
            return "ended"
        return "signal" if self.outcome.signal is not None else "error" if self._exit_code else "ok"

    def _begun(self, process: Process) -> None:
        with self._changed:
            self._process, self.pid = process, process.pid
            dismissed = self._dismissed
            self._changed.notify_all()
        if dismissed:
            _end_for_good([process])

    def _left_open(self, outcome: Outcome) -> None:
        with self.steady, self._changed:
            self.outcome = outcome
        self._settle()

    def write(self, data: bytes, stream: OutputStream = "stdout", *, at: float | None = None) -> int:
        """Take output, as ``Spill.write``."""
        assert self._spill is not None  # it is there until the last text was made
        self._spill.write(data, stream, at=at)
        if self._on_output is not None and not guarded(self._on_output, stream, data):
            self._on_output = None
        return len(data)

    def end(self, grace: float = TERM_GRACE) -> bool:
        """End it with everything it has started, and return when its output has been read; whether nothing is left.

        What cannot be ended is read on, and its end is not waited for.
        """
        process = self._begin_to_end("killed")
        if process is not None and self.state != "ended" and (not process.end(grace) or process.held()):
            return False
        self._wait_ended()
        return True

    @property
    def is_here(self) -> bool:
        """Whether it is read on this very thread."""
        return self._worker == threading.get_ident()

    def _begin_to_end(self, why: Stopped) -> Process | None:
        """Mark the job to be ended; returns its process, or None if it has not started and is ended when it does."""
        with self._changed:
            self._dismissed = True
            if self.outcome is None:  # or it has ended by itself, and left others behind
                self._stopped = self._stopped or why
            return self._process

    def _wait_ended(self) -> None:
        if self.is_here:
            return  # a hook of its own has asked; reading goes on when that has returned
        with self._changed:
            self._changed.wait_for(lambda: self.state == "ended")


def drop_in_background(job: Job, then: Callable[[], object]) -> None:
    """End a job whose result nobody wants any more, on a thread of its own that nothing interrupts; ``then`` after it."""

    def drop() -> None:
        try:
            drop_together([job], "cancelled")
        finally:
            then()

    try:
        threading.Thread(target=drop, name="spillstore-drop", daemon=True).start()
    except RuntimeError:  # no more threads are to be had
        drop()


def drop_together(jobs: Iterable[Job], why: Stopped) -> None:
    """End jobs because nobody wants their results any more; what they printed is stored."""
    jobs = [job for job in jobs if job.state != "ended"]
    for job in jobs:
        job._dropped = True  # noqa: SLF001  # this is a part of it
    processes = [process for job in jobs if (process := job._begin_to_end(why))]  # noqa: SLF001  # likewise
    _end_for_good(processes)
    for job in jobs:
        job._wait_ended()  # noqa: SLF001  # likewise


def _end_for_good(processes: list[Process]) -> None:
    """End them; what cannot be ended is given up, once what it has printed is read."""
    left = end_together(processes)
    for process in processes:
        if process in left or process.held():
            _log.warning(
                "something of a command could not be ended; what that prints from now on is lost",
                extra={"pid": process.pid},
            )
            process.give_up()
