r"""The tool ``bash``: run a command, show what matters of what it prints, lose nothing of it.

    >>> import asyncio, tempfile
    >>> from spillstore import Store
    >>> async def main(root):
    ...     with Store(root, free_disk_floor=0).session("chat-42") as session:
    ...         result = await bash(session, command="echo hello; exit 3")
    ...         return result.text, result.exit_code
    >>> with tempfile.TemporaryDirectory() as root:
    ...     asyncio.run(main(root))
    ('hello\n[exit code 3]\n', 3)

Each command is a fresh ``bash -c`` with an empty stdin, in a session and process group of its own. Output that is shown
whole touches no disk; more than that is stored from its first byte, while it comes. A command that takes longer than
its time-out goes on in the background and is asked for by its pid. Nothing that a model sends raises: what means
nothing comes back as a result that says what would.

The form for callers that wait is ``bash_sync``; both share everything but the waiting.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import sys
import threading
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from spillstore.audit.actor import acting
from spillstore.exceptions import ClosedError, InvalidSettingError, SpillstoreError
from spillstore.observers import begin_operation
from spillstore.session import Session
from spillstore.settings import check_names
from spillstore_tools.agent.arguments import ArgumentError, absent, named, text, whole
from spillstore_tools.agent.audited import MODEL
from spillstore_tools.agent.schemas import BASH_ARGUMENTS, bash_definition
from spillstore_tools.config.redaction_rules import Redaction
from spillstore_tools.output.output_events import COMMAND, tool_of
from spillstore_tools.output.session_opener import Opened
from spillstore_tools.output.spill import Spill
from spillstore_tools.process.jobs import Job, guarded, jobs_of
from spillstore_tools.process.runners import LocalRunner, for_commands
from spillstore_tools.process.working_folders import note_folder
from spillstore_tools.profiles import profile as profile_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from spillstore import aio
    from spillstore.redaction import RedactionRules
    from spillstore_tools.agent.schemas import Style
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.preview.parts import Omission
    from spillstore_tools.process.jobs import Jobs
    from spillstore_tools.process.runners import Runner
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.base import Profile, Rendered

TIMEOUT = 120_000
_FOREVER = 100_000_000_000  # three years; clocks of waits take no number of any size
_RIGHT = 'bash(command="make test", timeout=120000)'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StreamCount:
    """What came on one stream.

    Attributes:
        size: bytes.
        lines: lines, an unended last one included; None where nobody counted them.
    """

    size: int
    lines: int | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BashResult:
    """What came of a call.

    Attributes:
        text: what the model is shown.
        is_error: whether the call counts as failed, by the rules of the profile.
        state: the command has ``ended``, is ``running`` in the background, or has ended but left processes ``open``
            that may still print; ``refused`` if the call asked for nothing that there is.
        command: its text, without secrets.
        pid: of its process.
        exit_code: its own, 128 + n if signal n ended it, 127 or 126 if it could not be started; None while it runs.
        signal: the name of that signal.
        started: when it began, in seconds since 1970.
        duration: seconds from its start to its end, or None.
        stdout: bytes and lines so far.
        stderr: likewise.
        truncated: for each view that is shown, ``total`` lines and those of them that are ``skipped``; in the
            background, of what is told now.
        omissions: what is left out, exactly, and where in ``text`` that is marked.
        strategy: how it was cut.
        artifact_id: where all of it is stored, or None if it did not have to be.
        storage_error: why not all of it could be stored, or None.
    """

    text: str
    is_error: bool = False
    state: Literal["ended", "running", "open", "refused"] = "ended"
    command: str | None = None
    pid: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    started: float | None = None
    duration: float | None = None
    stdout: StreamCount = StreamCount(size=0, lines=0)
    stderr: StreamCount = StreamCount(size=0, lines=0)
    truncated: Mapping[str, Mapping[str, int | None]] = dataclasses.field(default_factory=dict)
    omissions: tuple[Omission, ...] = ()
    strategy: str = "none"
    artifact_id: str | None = None
    storage_error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON; ``output_files`` names each view of the artifact."""
        found = dataclasses.asdict(self)
        found["omissions"] = [dataclasses.asdict(each) for each in self.omissions]
        views = ("stdout", "stderr", "combined")
        found["output_files"] = (
            {view: f"artifact://{self.artifact_id}?stream={view}" for view in views}
            if self.artifact_id
            else {}
        )
        return found


class BashOptions(TypedDict, total=False):
    """What is settled for all calls of a tool; each is told at ``bash``."""

    profile: ProfileName | Profile
    configuration: TruncationConfiguration | None
    cwd: str | os.PathLike[str] | None
    env: Mapping[str, str] | None
    runner: Runner | None
    source: str
    timeout: int | None
    on_output: Callable[[str, bytes], object] | None
    on_spill: Callable[[str], object] | None
    on_end: Callable[[BashResult], object] | None


def session_of(session: Session | aio.Session) -> Session:
    """The session for callers that wait.

    Raises:
        InvalidSettingError: it is none.
    """
    plain = session if isinstance(session, Session) else getattr(session, "plain", None)
    if not isinstance(plain, Session):
        raise InvalidSettingError(
            f"a tool needs a session, as Store.session gives it, to store output in; not {session!r:.80}"
        )
    return plain


def opened_of(session: Session | aio.Session | Callable[[], Session] | Opened) -> Opened:
    """Where a tool finds its session.

    Raises:
        InvalidSettingError: it is none, nor what opens one.
    """
    if isinstance(session, Opened):
        return session
    return Opened(session if callable(session) else session_of(session))


async def bash(
    session: Session | aio.Session,
    *,
    command: object = None,
    timeout: object = None,  # noqa: ASYNC109  # the model's, in milliseconds; it ends the waiting, not the command
    check_pid: object = None,
    kill_pid: object = None,
    profile: ProfileName | Profile = "default",
    configuration: TruncationConfiguration | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    runner: Runner | None = None,
    source: str = "bash",
    tool_call_id: str | None = None,
    on_output: Callable[[str, bytes], object] | None = None,
    on_spill: Callable[[str], object] | None = None,
    on_end: Callable[[BashResult], object] | None = None,
) -> BashResult:
    """Run a command, or look after one in the background. The first four arguments are the model's; one of three is needed.

    Cancelling it ends the command with everything it has started; what it printed is stored. So does closing the session,
    for commands in the background, too.

    Args:
        session: where output is stored.
        command: for ``bash -c``.
        timeout: milliseconds after which the command goes on in the background; 120,000 by default.
        check_pid: a command in the background: what it has printed since it was told of last.
        kill_pid: a command in the background: end it with everything it has started, SIGTERM and two seconds later
            SIGKILL, and show the rest of what it printed.
        profile: decides what is shown: its name, or one of your own.
        configuration: for profiles that heed it.
        cwd: where the command runs; None for the folder in which the session's first command was run.
        env: its environment; None for ours. ``SPILLSTORE_ROOT``, ``SPILLSTORE_PROJECT`` and ``SPILLSTORE_SESSION`` are set
            in it, and ``spillstore`` can be found; ``SPILLSTORE_MCP_TOKEN`` and ``SPILLSTORE_DIGEST_KEY_FILE`` are taken out.
        runner: starts it; None for ``LocalRunner``.
        source: the tool that its output is stored under.
        tool_call_id: the tool call that it answers.
        on_output: called with ``(stream, data)`` for each piece as it comes, on a thread of the command's own, which
            it holds up; what it raises is logged, and it is not called again.
        on_spill: called with the artifact's id when output begins to be stored.
        on_end: called with the result when the command has ended, also in the background.

    Returns:
        What the model is shown, and what is known besides. Cost: under 2 ms above the command's own time where little is
        printed; memory is flat, however much is.

    Raises:
        InvalidSettingError: there is no such profile.
        ClosedError: the session is closed.
    """
    tool = BashTool(
        session,
        profile=profile,
        configuration=configuration,
        cwd=cwd,
        env=env,
        runner=runner,
        source=source,
        on_output=on_output,
        on_spill=on_spill,
        on_end=on_end,
    )
    asked = {"command": command, "timeout": timeout, "check_pid": check_pid, "kill_pid": kill_pid}
    return await tool.call(asked, tool_call_id=tool_call_id)


def bash_sync(
    session: Session,
    *,
    command: object = None,
    timeout: object = None,
    check_pid: object = None,
    kill_pid: object = None,
    profile: ProfileName | Profile = "default",
    configuration: TruncationConfiguration | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    runner: Runner | None = None,
    source: str = "bash",
    tool_call_id: str | None = None,
    on_output: Callable[[str, bytes], object] | None = None,
    on_spill: Callable[[str], object] | None = None,
    on_end: Callable[[BashResult], object] | None = None,
) -> BashResult:
    r"""``bash`` for callers that wait. An exception while it waits, Ctrl-C say, ends the command as cancelling does.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
        ...     result = bash_sync(session, command="seq 1 20000")
        ...     result.state, result.stdout.lines, len(result.text) <= 8000
        ...     session.artifact(result.artifact_id).read_lines(10000, 10000)
        ('ended', 20000, True)
        b'10000\n'
    """
    tool = BashTool(
        session,
        profile=profile,
        configuration=configuration,
        cwd=cwd,
        env=env,
        runner=runner,
        source=source,
        on_output=on_output,
        on_spill=on_spill,
        on_end=on_end,
    )
    asked = {"command": command, "timeout": timeout, "check_pid": check_pid, "kill_pid": kill_pid}
    return tool.call_sync(asked, tool_call_id=tool_call_id)


class BashTool:
    r"""``bash`` with everything settled but what a model sends: for the loop of an agent. Options as for ``bash``.

    Args:
        session: where output is stored, or a function that opens it, such as ``lambda: store.session("chat-42")``. It is
            called when a session is needed, again where it failed, and again when the session's folder was removed.
            Where it raises an error of the store, the command runs all the same, and its result says that nothing was
            stored and why. ``close`` closes what it has opened.
    But ``timeout``: the milliseconds that a call waits for its command where the model names none, and at most. Below what the
    caller itself waits for, so that a long command goes on in the background. None for 120,000, and what a model wants.

    An option that there is not raises ``InvalidSettingError``, and so does what is no session.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
        ...     tool = BashTool(session)
        ...     tool.definition("openai")["function"]["name"], tool.call_sync('{"command": "echo hi"}').text
        ('bash', 'hi\n[exit code 0]\n')
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | Opened,
        **options: Unpack[BashOptions],
    ) -> None:
        check_names("option of BashTool", options, BashOptions.__annotations__)
        self._configuration = configuration = options.get("configuration")
        profile = options.get("profile", "default")
        self._timeout = options.get("timeout")
        self._opened = opened_of(session)
        self._profile = profile_named(profile, configuration) if isinstance(profile, str) else profile
        self._cwd = options.get("cwd")
        self._env = options.get("env")
        self._runner = options.get("runner") or LocalRunner()
        self._source = options.get("source", "bash")
        self._on_output = options.get("on_output")
        self._on_spill = options.get("on_spill")
        self._on_end = options.get("on_end")
        self._jobs = jobs_of(self._opened.given or self._opened)
        self._ruled = self._opened.given  # the session whose rules these are
        self._rules = self._rules_in(self._ruled)

    @property
    def session(self) -> Session:
        """Where output is stored; opened if it is not.

        Raises:
            SpillstoreError: it cannot be opened.
        """
        return self._opened.get()

    def close(self) -> None:
        """End the commands and close the session, if a function was given to open it."""
        if self._opened.given is None:
            self._opened.close()

    def _rules_in(self, session: Session | None) -> RedactionRules | None:
        """The rules of a session that is used from now on, and what its end does."""
        if session is not None and self._profile.cleanup_on_exit:
            session.cleanup_on_exit = True
        return Redaction(session, self._configuration, profile=self._profile.name).rules(self._source)

    def definition(self, style: Style) -> dict[str, Any]:
        """The tool as a model is told of it: ``openai``, ``anthropic`` or ``mcp``."""
        return bash_definition(style, self._profile, timeout=self._timeout)

    # --- answers ----------------------------------------------------------------------------------------

    async def call(
        self, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult:
        """Answer a model's call; ``arguments`` as it sent them, or as JSON."""
        import asyncio  # noqa: PLC0415  # only for who has it already

        try:
            asked = _Asked.of(arguments, self._timeout)
        except ArgumentError as error:
            return _refused(str(error))
        if asked.command is None:
            return await asyncio.to_thread(self._look_after, asked, tool_call_id)
        if self._opened.current is None:  # what takes time to be opened shall not hold up the loop
            await asyncio.to_thread(self._found)
        job = self._begin(asked.command, tool_call_id)
        loop = asyncio.get_running_loop()
        settled, dropped = asyncio.Event(), asyncio.Event()

        def wake(event: asyncio.Event) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits
                loop.call_soon_threadsafe(event.set)

        try:
            job.when_settled(lambda: wake(settled))
            try:
                async with asyncio.timeout(asked.timeout / 1000):
                    await settled.wait()
            except TimeoutError:
                await asyncio.to_thread(job.wait_started)
            if job.state == "ended":
                return _result(job, job.tell())
            return await asyncio.to_thread(self._put_into_background, job, asked.timeout, tool_call_id)
        except BaseException as error:
            job.drop_beside(lambda: wake(dropped))
            if not isinstance(error, GeneratorExit):  # or there is no loop any more
                await dropped.wait()
            raise

    def call_sync(
        self, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult:
        """``call`` for callers that wait."""
        try:
            asked = _Asked.of(arguments, self._timeout)
        except ArgumentError as error:
            return _refused(str(error))
        if asked.command is None:
            return self._look_after(asked, tool_call_id)
        job = self._begin(asked.command, tool_call_id)
        try:
            if not job.wait(asked.timeout / 1000):
                job.wait_started()
            if job.state == "ended":
                return _result(job, job.tell())
            return self._put_into_background(job, asked.timeout, tool_call_id)
        except BaseException:
            dropped = threading.Event()
            job.drop_beside(dropped.set)
            dropped.wait()
            raise

    def _put_into_background(self, job: Job, timeout: int, tool_call_id: str | None) -> BashResult:
        with (
            _acting(self._opened.current, tool_call_id),
            job.steady,
        ):  # what is told of it and what is known of it are of one moment
            rendered = job.tell(timeout if job.state == "running" else None)
            if job.rendered is None:
                self._jobs.keep(job)
            return _result(job, rendered)

    def _look_after(self, asked: _Asked, tool_call_id: str | None) -> BashResult:
        """Check, or end, a command in the background."""
        pid = asked.check_pid if asked.kill_pid is None else asked.kill_pid
        assert pid is not None  # one of the three was asked for
        job = self._jobs.find(pid)
        if job is None:
            return _refused(_unknown(pid, self._jobs))
        gone = job.end() if asked.kill_pid is not None else True
        with _acting(self._opened.current, tool_call_id), job.steady:
            result = _result(job, job.news())
        if not gone:
            text = f"{result.text}[some of its processes could not be ended]\n"
            return dataclasses.replace(result, text=text, is_error=True)
        return result

    # --- a new command ----------------------------------------------------------------------------------

    def _begin(self, command: str, tool_call_id: str | None) -> Job:
        profile, session = self._profile, self._found()
        cwd = self._jobs.cwd if self._cwd is None else os.fspath(self._cwd)
        env, runner = self._environment(session), self._runner
        on_spill, on_end = self._on_spill, self._on_end
        tool = tool_of(self._source, session)
        work = begin_operation(COMMAND, {"tool": tool})
        if session is not self._ruled:
            self._rules, self._ruled = self._rules_in(session), session

        def spilled(artifact_id: str) -> None:
            with contextlib.suppress(OSError, SpillstoreError):  # it is stored all the same
                where = self._opened.get() if session is None else session
                note_folder(where, artifact_id, self._folder(cwd))
            if on_spill is not None:
                guarded(on_spill, artifact_id)

        with _acting(session, tool_call_id):
            spill = work.run(
                Spill,
                # Where there is none, it is asked for once more, and says why.
                self._opened.get if session is None else lambda: session,
                profile,
                source=self._source,
                command=command,
                tool_call_id=tool_call_id,
                content_type="text/plain",
                is_command=True,
                redaction=self._rules,
                on_spill=spilled,
                on_pass=None if session is None else session.count_passed,
                told_as=tool,
                on_redaction=None
                if session is None
                else lambda tool, counts: session.note("redaction", {"tool": tool, "counts": counts}),
            )
        job = Job(
            spill.command or "",
            lambda: runner.start(command, cwd=cwd, env=env),
            spill,
            on_output=self._on_output,
            on_end=None if on_end is None else lambda job: on_end(_result(job, job.tell())),
            cannot_start=profile.cannot_start,
            tool=tool,
            observed=work,
        )
        self._jobs.add(job)
        job.run()
        return job

    def _found(self) -> Session | None:
        """The session; None where it cannot be opened, for the command runs all the same."""
        try:
            return self._opened.get()
        except ClosedError:
            raise
        except SpillstoreError:
            return None

    def _folder(self, cwd: str) -> str:
        """The folder that a command runs in, as it sees it itself; where a runner of the caller's has it, as he calls it."""
        return os.path.realpath(cwd) if isinstance(self._runner, LocalRunner) else cwd

    def _environment(self, session: Session | None) -> dict[str, str]:
        """The command's environment, in which ``spillstore`` is found and leads to this session."""
        env = dict(os.environ if self._env is None else self._env)
        if session is not None and session.root is not None:
            env["SPILLSTORE_ROOT"] = str(session.root)
            env["SPILLSTORE_SESSION"] = session.id
            env.setdefault("SPILLSTORE_ACTOR", MODEL)
            env.pop("SPILLSTORE_PROJECT", None)
            if session.project is not None:
                env["SPILLSTORE_PROJECT"] = session.project
        folder, path = os.path.dirname(sys.executable), env.get("PATH", os.defpath)  # noqa: PTH120  # no link is followed
        if folder not in path.split(os.pathsep) and os.path.exists(os.path.join(folder, "spillstore")):  # noqa: PTH110, PTH118  # likewise
            env["PATH"] = f"{path}{os.pathsep}{folder}"
        return for_commands(env)  # a runner may start it in its own way


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the model wants: one of three things."""

    command: str | None
    timeout: int
    check_pid: int | None
    kill_pid: int | None

    @classmethod
    def of(cls, arguments: Mapping[str, object] | str, most: int | None) -> _Asked:
        """Its arguments, as they were meant, with a time-out of at most ``most``.

        Raises:
            ArgumentError: they mean nothing.
        """
        try:
            sent = named(arguments, BASH_ARGUMENTS, example=_RIGHT)
        except RecursionError:
            raise ArgumentError(f"the arguments are nested too deeply; for example {_RIGHT}") from None
        command, timeout, check_pid, kill_pid = map(sent.get, BASH_ARGUMENTS)
        check = whole("check_pid", check_pid, least=1, example="bash(check_pid=12345)")
        kill = whole("kill_pid", kill_pid, least=1, example="bash(kill_pid=12345)")
        milliseconds = whole("timeout", timeout, example=_RIGHT)
        if absent(command) and (check is not None or kill is not None):
            command = None  # "null" beside a pid was left out; alone it is a command
        wanted = text("command", command, example=_RIGHT)
        given = [
            name
            for name, value in (("command", wanted), ("check_pid", check), ("kill_pid", kill))
            if value is not None
        ]
        if len(given) > 1:
            raise ArgumentError(
                f"{' and '.join(given)} exclude each other: run a command, check on a process, or end one; for example "
                f"{_RIGHT}"
            )
        if not given or (wanted is not None and not wanted.strip()):
            raise ArgumentError(f"nothing to do: give command, check_pid or kill_pid; for example {_RIGHT}")
        if wanted is not None and "\0" in wanted:
            raise ArgumentError("command holds a NUL character, which no command line can; leave it out")
        try:
            (wanted or "").encode(errors="surrogateescape")
        except UnicodeEncodeError:
            raise ArgumentError(
                "command holds half of a surrogate pair, which no text has; leave it out"
            ) from None
        return cls(
            command=wanted,
            timeout=(most or TIMEOUT) if milliseconds is None else min(milliseconds, most or _FOREVER),
            check_pid=check,
            kill_pid=kill,
        )


def _acting(session: Session | None, tool_call_id: str | None) -> contextlib.AbstractContextManager[None]:
    """A model acts; of which call is told where there is a session to tell it to."""
    if session is None:
        return acting(None, None, otherwise=MODEL)
    return session.acting(tool_call_id=tool_call_id, otherwise=MODEL)


def _refused(message: str) -> BashResult:
    return BashResult(text=f"bash: {message}\n", is_error=True, state="refused")


def _unknown(pid: int, jobs: Jobs) -> str:
    known = "; ".join(f"{job.pid} ({shlex.quote(job.command)[:80]})" for job in jobs.background())
    there = f"in the background are: {known}" if known else "no command of this session is in the background"
    return f"no command with pid {pid}; {there}"


def _result(job: Job, rendered: Rendered) -> BashResult:
    """What is known of a command now, and what is told of it."""
    outcome, printed = job.outcome, job.printed
    skipped = dict.fromkeys(printed.views, 0)
    for each in rendered.omissions:
        skipped[each.stream] = skipped.get(each.stream, 0) + each.lines
    return BashResult(
        text=rendered.text,
        is_error=rendered.is_error or job.failed,
        state=job.state,
        command=job.command,
        pid=job.pid,
        exit_code=outcome.exit_code if outcome else None,
        signal=outcome.signal if outcome else None,
        started=job.began,
        duration=outcome.duration if outcome else None,
        stdout=StreamCount(size=printed.sizes["stdout"], lines=printed.lines.get("stdout")),
        stderr=StreamCount(size=printed.sizes["stderr"], lines=printed.lines.get("stderr")),
        truncated={
            view: {"total": printed.lines.get(view), "skipped": count} for view, count in skipped.items()
        },
        omissions=rendered.omissions,
        strategy=rendered.strategy,
        artifact_id=printed.artifact_id,
        storage_error=printed.problem,
    )
