r"""The tool ``bash``: run a command, show the lines of its output that matter, store all of it.

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
whole touches no disk; more than that is stored from its first byte, while it comes. A command that runs longer than its
time-out continues in the background; the next calls name it by its pid. Nothing that a model sends raises: wrong
arguments give a result that shows a right call.

``bash`` and ``bash_sync`` run one command; ``BashTool`` is for the loop of an agent.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import threading
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import InvalidSettingError
from spillstore.session import Session
from spillstore.settings import check_names
from spillstore_tools.agent.arguments import ArgumentError, absent, named, text, whole
from spillstore_tools.agent.bash_result import BashResult
from spillstore_tools.agent.command_launcher import CommandLauncher, CommandOptions, acting_as_model
from spillstore_tools.agent.definitions import ToolDefinition
from spillstore_tools.output.session_opener import Opened
from spillstore_tools.process.jobs import drop_in_background
from spillstore_tools.process.session_jobs import jobs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from spillstore import aio
    from spillstore_tools.agent.definitions import Schema, Style
    from spillstore_tools.process.jobs import Job
    from spillstore_tools.process.session_jobs import Jobs
    from spillstore_tools.profiles.base import Profile

TIMEOUT = 120_000  # milliseconds
_FOREVER = 100_000_000_000  # three years; clocks take no number of any size
_EXAMPLE = 'bash(command="make test", timeout=120000)'

# The texts of the arguments are those of the design that the profile ``pipe`` follows.
_PROPERTIES: dict[str, Schema] = {
    "command": {"type": "string", "description": "The bash command to execute"},
    "timeout": {
        "type": "integer",
        "description": "Timeout in ms before auto-backgrounding (default{}: {})",
    },
    "check_pid": {"type": "integer", "description": "Check on a backgrounded process, return new output"},
    "kill_pid": {"type": "integer", "description": "Kill a backgrounded process, return final output"},
}


def bash_definition(profile: Profile, *, timeout: int | None = None) -> ToolDefinition:
    """The definition of the tool; that one of ``command``, ``check_pid`` and ``kill_pid`` is needed stands in its text.

    Args:
        profile: its limits are in the description.
        timeout: the most milliseconds that a call waits, and the default; None for 120,000 by default and no bound.

    Example:
        >>> from spillstore_tools.profiles import profile
        >>> definition = bash_definition(profile("default")).in_style("anthropic")
        >>> definition["name"], sorted(definition["input_schema"]["properties"])
        ('bash', ['check_pid', 'command', 'kill_pid', 'timeout'])
    """
    description = (
        f"Execute a bash command in a fresh shell. {profile.summary} {profile.kept}: the notice in the output "
        "names the artifact and the calls that bring any part of it. So do not cut output with head or tail. Commands exceeding timeout are auto-backgrounded: "
        "check_pid shows their new output, get_artifact any part of it, kill_pid ends them. Give exactly one of command, check_pid and kill_pid."
    )
    waits = _PROPERTIES["timeout"]["description"].format(
        *(("", TIMEOUT) if timeout is None else (" and at most", timeout))
    )
    properties = {**_PROPERTIES, "timeout": {**_PROPERTIES["timeout"], "description": waits}}
    return ToolDefinition(name="bash", description=description, properties=properties, read_only=False)


class BashOptions(CommandOptions, total=False):
    """All options of a ``BashTool``.

    Attributes:
        timeout: the milliseconds that a call waits for its command where the model names none, and at most. Choose less
            than what the caller itself waits for, so that a long command continues in the background. None for 120,000,
            and no bound on what a model sends.
    """

    timeout: int | None


async def bash(
    session: Session | aio.Session,
    *,
    command: object = None,
    timeout: object = None,  # noqa: ASYNC109  # the model's, in milliseconds; it ends the waiting, not the command
    check_pid: object = None,
    kill_pid: object = None,
    tool_call_id: str | None = None,
    **options: Unpack[CommandOptions],
) -> BashResult:
    """Run a command, or check or end one in the background.

    ``command``, ``timeout``, ``check_pid`` and ``kill_pid`` are what a model sends; one of the three but ``timeout`` is
    needed. Cancelling the call ends the command with everything it has started, and what it printed is stored. Closing
    the session does the same to commands in the background.

    Args:
        session: stores the output.
        command: for ``bash -c``.
        timeout: milliseconds after which the command continues in the background; 120,000 by default.
        check_pid: a command in the background: show what it has printed since the last call.
        kill_pid: a command in the background: end it with everything it has started, SIGTERM and two seconds later
            SIGKILL, and show the rest of what it printed.
        tool_call_id: the tool call that the result answers.
        options: see ``CommandOptions``.

    Returns:
        The text for the model, and facts for programs. Cost: under 2 ms above the command's own time where little is
        printed; flat memory, however much is.

    Raises:
        InvalidSettingError: there is no such option or profile.
        ClosedError: the session is closed.
    """
    sent = {"command": command, "timeout": timeout, "check_pid": check_pid, "kill_pid": kill_pid}
    return await BashTool(session, **options).call(sent, tool_call_id=tool_call_id)


def bash_sync(
    session: Session,
    *,
    command: object = None,
    timeout: object = None,
    check_pid: object = None,
    kill_pid: object = None,
    tool_call_id: str | None = None,
    **options: Unpack[CommandOptions],
) -> BashResult:
    r"""``bash`` for callers without an event loop. An exception while it waits, as of Ctrl-C, ends the command.

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
    sent = {"command": command, "timeout": timeout, "check_pid": check_pid, "kill_pid": kill_pid}
    return BashTool(session, **options).call_sync(sent, tool_call_id=tool_call_id)


def opener_of(session: Session | aio.Session | Callable[[], Session] | Opened) -> Opened:
    """The opener of the session that an agent's author gave: a session, one of ``spillstore.aio``, or a function.

    Raises:
        InvalidSettingError: it is none of these.
    """
    if isinstance(session, Opened):
        return session
    if callable(session) or isinstance(getattr(session, "plain", session), Session):
        return Opened(session)
    raise InvalidSettingError(
        f"a tool needs a session, as Store.session gives it, to store output in; not {session!r:.80}"
    )


class BashTool:
    r"""The tool ``bash`` with its options set: for the loop of an agent.

    Args:
        session: stores the output. Or a function that opens a session, such as ``lambda: store.session("chat-42")``: it is
            called when a session is needed, again where it failed, and again when the session's folder was removed.
            Where it raises an error of the store, the command runs all the same, and its result says that nothing was
            stored and why. ``close`` closes what the function has opened.
        timeout: see ``BashOptions``.
        options: see ``CommandOptions``.

    Raises:
        InvalidSettingError: there is no such option, or ``session`` is none.

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
        *,
        timeout: int | None = None,
        **options: Unpack[CommandOptions],
    ) -> None:
        check_names("option of BashTool", options, BashOptions.__annotations__)
        self._timeout = timeout
        self._opened = opener_of(session)
        self._jobs = jobs_of(self._opened.given or self._opened)
        self._launcher = CommandLauncher(self._opened, self._jobs, **options)

    @property
    def session(self) -> Session:
        """The session that stores the output; opened if it is not.

        Raises:
            SpillstoreError: it cannot be opened.
        """
        return self._opened.get()

    def close(self) -> None:
        """End the commands and close the session, if a function was given to open it."""
        if self._opened.given is None:
            self._opened.close()

    def definition(self, style: Style) -> dict[str, Any]:
        """The definition to send to a model, in the style ``openai``, ``anthropic`` or ``mcp``."""
        return bash_definition(self._launcher.profile, timeout=self._timeout).in_style(style)

    # --- calls ------------------------------------------------------------------------------------------

    async def call(
        self, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult:
        """Run a model's call; ``arguments`` as the model sent them, by name or as JSON."""
        import asyncio  # noqa: PLC0415  # only callers with an event loop need it

        try:
            request = _Request.of(arguments, self._timeout)
        except ArgumentError as error:
            return BashResult.refused(str(error))
        if request.command is None:
            return await asyncio.to_thread(self._check_or_end, request, tool_call_id)
        if self._opened.current is None:  # opening takes time, and must not hold up the loop
            await asyncio.to_thread(self._launcher.session)
        job = self._launcher.start(request.command, tool_call_id)
        loop = asyncio.get_running_loop()
        settled, dropped = asyncio.Event(), asyncio.Event()

        def wake(event: asyncio.Event) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits
                loop.call_soon_threadsafe(event.set)

        try:
            job.when_settled(lambda: wake(settled))
            try:
                async with asyncio.timeout(request.timeout / 1000):
                    await settled.wait()
            except TimeoutError:
                await asyncio.to_thread(job.wait_started)
            if job.state == "ended":
                return BashResult.of(job, job.tell())
            return await asyncio.to_thread(self._put_into_background, job, request.timeout, tool_call_id)
        except BaseException as error:
            drop_in_background(job, lambda: wake(dropped))
            if not isinstance(error, GeneratorExit):  # or there is no loop any more
                await dropped.wait()
            raise

    def call_sync(
        self, arguments: Mapping[str, object] | str, *, tool_call_id: str | None = None
    ) -> BashResult:
        """``call`` for callers without an event loop."""
        try:
            request = _Request.of(arguments, self._timeout)
        except ArgumentError as error:
            return BashResult.refused(str(error))
        if request.command is None:
            return self._check_or_end(request, tool_call_id)
        job = self._launcher.start(request.command, tool_call_id)
        try:
            if not job.wait(request.timeout / 1000):
                job.wait_started()
            if job.state == "ended":
                return BashResult.of(job, job.tell())
            return self._put_into_background(job, request.timeout, tool_call_id)
        except BaseException:
            dropped = threading.Event()
            drop_in_background(job, dropped.set)
            dropped.wait()
            raise

    def _put_into_background(self, job: Job, timeout: int, tool_call_id: str | None) -> BashResult:
        with (
            acting_as_model(self._opened.current, tool_call_id),
            job.steady,
        ):  # the text and the facts are of one moment
            rendered = job.tell(timeout if job.state == "running" else None)
            if job.rendered is None:
                self._jobs.keep(job)
            return BashResult.of(job, rendered)

    def _check_or_end(self, request: _Request, tool_call_id: str | None) -> BashResult:
        """Check, or end, a command in the background."""
        pid = request.check_pid if request.kill_pid is None else request.kill_pid
        assert pid is not None  # one of the three is there
        job = self._jobs.find(pid)
        if job is None:
            return BashResult.refused(_unknown(pid, self._jobs))
        gone = job.end() if request.kill_pid is not None else True
        with acting_as_model(self._opened.current, tool_call_id), job.steady:
            result = BashResult.of(job, job.news())
        if not gone:
            text = f"{result.text}[some of its processes could not be ended]\n"
            return dataclasses.replace(result, text=text, is_error=True)
        return result


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """The arguments of a call: of ``command``, ``check_pid`` and ``kill_pid`` exactly one is there."""

    command: str | None
    timeout: int
    check_pid: int | None
    kill_pid: int | None

    @classmethod
    def of(cls, arguments: Mapping[str, object] | str, most: int | None) -> _Request:
        """The arguments that a model sent, with a time-out of at most ``most``.

        Raises:
            ArgumentError: they are no right call.
        """
        try:
            sent = named(arguments, tuple(_PROPERTIES), example=_EXAMPLE)
        except RecursionError:
            raise ArgumentError(f"the arguments are nested too deeply; for example {_EXAMPLE}") from None
        command, timeout, check_pid, kill_pid = map(sent.get, _PROPERTIES)
        check = whole("check_pid", check_pid, least=1, example="bash(check_pid=12345)")
        kill = whole("kill_pid", kill_pid, least=1, example="bash(kill_pid=12345)")
        milliseconds = whole("timeout", timeout, example=_EXAMPLE)
        if absent(command) and (check is not None or kill is not None):
            command = None  # "null" beside a pid means nothing; alone it is a command
        command_line = text("command", command, example=_EXAMPLE)
        given = [
            name
            for name, value in (("command", command_line), ("check_pid", check), ("kill_pid", kill))
            if value is not None
        ]
        if len(given) > 1:
            raise ArgumentError(
                f"{' and '.join(given)} exclude each other: run a command, check on a process, or end one; for example "
                f"{_EXAMPLE}"
            )
        if not given or (command_line is not None and not command_line.strip()):
            raise ArgumentError(f"nothing to do: give command, check_pid or kill_pid; for example {_EXAMPLE}")
        if command_line is not None and "\0" in command_line:
            raise ArgumentError("command holds a NUL character, which no command line can; leave it out")
        try:
            (command_line or "").encode(errors="surrogateescape")
        except UnicodeEncodeError:
            raise ArgumentError(
                "command holds half of a surrogate pair, which no text has; leave it out"
            ) from None
        return cls(
            command=command_line,
            timeout=(most or TIMEOUT) if milliseconds is None else min(milliseconds, most or _FOREVER),
            check_pid=check,
            kill_pid=kill,
        )


def _unknown(pid: int, jobs: Jobs) -> str:
    """The message for a pid that is no command's; it names those that there are."""
    known = "; ".join(f"{job.pid} ({shlex.quote(job.command)[:80]})" for job in jobs.background())
    there = f"in the background are: {known}" if known else "no command of this session is in the background"
    return f"no command with pid {pid}; {there}"
