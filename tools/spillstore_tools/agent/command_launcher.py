"""Starts the commands of the tool ``bash``: as a job whose output goes into a spill, in an environment that leads to the session."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, TypedDict

from spillstore.audit.actor import acting
from spillstore.exceptions import ClosedError, SpillstoreError
from spillstore.observers import begin_operation
from spillstore_tools.agent.answers import MODEL
from spillstore_tools.agent.bash_result import BashResult
from spillstore_tools.config.redaction_rules import Redaction
from spillstore_tools.output.output_events import COMMAND, tool_of
from spillstore_tools.output.spill import Spill
from spillstore_tools.process.environment import for_commands
from spillstore_tools.process.jobs import Job, guarded
from spillstore_tools.process.runners import LocalRunner
from spillstore_tools.process.working_folders import note_folder
from spillstore_tools.profiles import profile as profile_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from spillstore import Session
    from spillstore.redaction import RedactionRules
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.output.session_opener import Opened
    from spillstore_tools.process.runners import Runner
    from spillstore_tools.process.session_jobs import Jobs
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.base import Profile


class CommandOptions(TypedDict, total=False):
    """How commands run and how their output is shown; the author of an agent sets these, and no model.

    Attributes:
        profile: decides what is shown: its name, or a profile of your own; ``default`` by default.
        configuration: settings for profiles that heed them.
        cwd: the folder in which commands run; None for the folder in which the session's first command ran.
        env: their environment; None for ours. ``SPILLSTORE_ROOT``, ``SPILLSTORE_PROJECT`` and ``SPILLSTORE_SESSION`` are
            set in it, and its ``PATH`` leads to ``spillstore``; ``SPILLSTORE_MCP_TOKEN``,
            ``SPILLSTORE_DIGEST_KEY_FILE`` and the password of a store on a server are taken out.
        runner: starts commands; None for ``LocalRunner``.
        source: the name of the tool under which output is stored; ``bash`` by default.
        on_output: called with ``(stream, data)`` for each piece of output, on a thread of the command, which it holds up.
            What it raises is logged, and it is not called again.
        on_spill: called with the artifact's id when the output begins to be stored.
        on_end: called with the result when the command has ended, in the background too.
    """

    profile: ProfileName | Profile
    configuration: TruncationConfiguration | None
    cwd: str | os.PathLike[str] | None
    env: Mapping[str, str] | None
    runner: Runner | None
    source: str
    on_output: Callable[[str, bytes], object] | None
    on_spill: Callable[[str], object] | None
    on_end: Callable[[BashResult], object] | None


class CommandLauncher:
    """Starts commands with the same options.

    Args:
        opened: opens the session that stores their output.
        jobs: the session's running commands.
        options: see ``CommandOptions``.

    Attributes:
        profile: decides what of the output is shown.

    Raises:
        InvalidSettingError: there is no such profile.
    """

    def __init__(self, opened: Opened, jobs: Jobs, **options: Unpack[CommandOptions]) -> None:
        profile = options.get("profile", "default")
        self._configuration = options.get("configuration")
        self.profile = profile_named(profile, self._configuration) if isinstance(profile, str) else profile
        self._opened = opened
        self._jobs = jobs
        self._cwd = options.get("cwd")
        self._env = options.get("env")
        self._runner = options.get("runner") or LocalRunner()
        self._source = options.get("source", "bash")
        self._on_output = options.get("on_output")
        self._on_spill = options.get("on_spill")
        self._on_end = options.get("on_end")
        self._rules_session = opened.given  # the session that the rules are of
        self._rules = self._rules_in(self._rules_session)

    def _rules_in(self, session: Session | None) -> RedactionRules | None:
        """The rules of a session that is used from now on; whether it is deleted at its end is set, too."""
        if session is not None and self.profile.cleanup_on_exit:
            session.cleanup_on_exit = True
        return Redaction(session, self._configuration, profile=self.profile.name).rules(self._source)

    def session(self) -> Session | None:
        """The session, opened if it is not; None if that fails: commands run all the same.

        Raises:
            ClosedError: the session is closed.
        """
        try:
            return self._opened.get()
        except ClosedError:
            raise
        except SpillstoreError:
            return None

    def start(self, command: str, tool_call_id: str | None) -> Job:
        """Start a command; its output is stored under the tool call.

        Raises:
            ClosedError: the session is closed.
        """
        session, runner, on_end = self.session(), self._runner, self._on_end
        cwd = self._jobs.cwd if self._cwd is None else os.fspath(self._cwd)
        env = self._environment(session)
        tool = tool_of(self._source, session)
        operation = begin_operation(COMMAND, {"tool": tool})
        if session is not self._rules_session:
            self._rules, self._rules_session = self._rules_in(session), session

        def spilled(artifact_id: str) -> None:
            with contextlib.suppress(OSError, SpillstoreError):  # it is stored all the same
                where = self._opened.get() if session is None else session
                note_folder(where, artifact_id, self._folder(cwd))
            if self._on_spill is not None:
                guarded(self._on_spill, artifact_id)

        with acting_as_model(session, tool_call_id):
            spill = operation.run(
                Spill,
                # Without a session, opening it is tried once more, and the error says why it failed.
                self._opened.get if session is None else lambda: session,
                self.profile,
                source=self._source,
                command=command,
                tool_call_id=tool_call_id,
                content_type="text/plain",
                is_command=True,
                redaction=self._rules,
                on_spill=spilled,
                on_pass=None if session is None else session.count_passed,
                observed_as=tool,
                on_redaction=None
                if session is None
                else lambda tool, counts: session.note("redaction", {"tool": tool, "counts": counts}),
            )
        job = Job(
            spill.command or "",
            lambda: runner.start(command, cwd=cwd, env=env),
            spill,
            on_output=self._on_output,
            on_end=None if on_end is None else lambda job: on_end(BashResult.of(job, job.tell())),
            cannot_start=self.profile.cannot_start,
            tool=tool,
            observed=operation,
        )
        self._jobs.add(job)
        job.run()
        return job

    def _folder(self, cwd: str) -> str:
        """The folder that a command runs in: its real path, or with another runner the path as it was given."""
        return os.path.realpath(cwd) if isinstance(self._runner, LocalRunner) else cwd

    def _environment(self, session: Session | None) -> dict[str, str]:
        """The command's environment, in which ``spillstore`` is found and leads to this session."""
        env = dict(os.environ if self._env is None else self._env)
        if session is not None and session.address is not None:
            env["SPILLSTORE_ROOT"] = session.address
            env["SPILLSTORE_SESSION"] = session.id
            env.setdefault("SPILLSTORE_ACTOR", MODEL)
            env.pop("SPILLSTORE_PROJECT", None)
            if session.project is not None:
                env["SPILLSTORE_PROJECT"] = session.project
        folder, path = os.path.dirname(sys.executable), env.get("PATH", os.defpath)  # noqa: PTH120  # no link is followed
        if folder not in path.split(os.pathsep) and os.path.exists(os.path.join(folder, "spillstore")):  # noqa: PTH110, PTH118  # likewise
            env["PATH"] = f"{path}{os.pathsep}{folder}"
        return for_commands(env)  # a runner may start it in its own way


def acting_as_model(
    session: Session | None, tool_call_id: str | None
) -> contextlib.AbstractContextManager[None]:
    """Events of what follows name the model as their actor, and the tool call if there is a session."""
    if session is None:
        return acting(None, None, otherwise=MODEL)
    return session.acting(tool_call_id=tool_call_id, otherwise=MODEL)
