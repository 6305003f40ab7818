"""Where the artifacts are: the options of root, project and session that all commands share, and what they lead to."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
import re
import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spillstore.audit.actor import acting
from spillstore.model.ids import named_by
from spillstore_tools.cli.support.working_folders import project_session
from spillstore_tools.preview.clean import label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.shell_completion import CompletionItem

    from spillstore import Artifact, ArtifactInfo, Session, Store

LAST = "@last"
_STORAGE_PATH = "SPILLSTORE_TRUNCATION__ARTIFACTS__STORAGE_PATH"
_CANDIDATES = 6
_LASTING = ("mcp", "mcp-proxy")  # what goes on for as long as its artifacts are wanted

_COMPLETED = 50
_LOOKED_AT = 1000  # artifacts whose tools are offered
_PLACE = re.compile(r"@last(?:~([0-9]{1,9}))?|@([0-9]{1,9})")
_LEAST_END = 4  # characters of an id's end


def complete_id(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """Ids that a shell offers: those that begin as typed, the newest first; nothing where that cannot be known."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks

    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # likewise

    found = [CompletionItem(LAST, help="the newest")] if LAST.startswith(typed) else []
    with contextlib.suppress(SpillstoreError), _meant(context).open() as session:
        page = session.infos(limit=_COMPLETED)
        found += [
            CompletionItem(info.id, help=label(info.command or info.source))
            for info in page
            if info.id.startswith(typed)
        ]
    return found


def _meant(context: click.Context) -> Location:
    """The place that the options say that are typed so far."""
    values = context.params
    named = values.get("session") or project_session()
    return Location(session=named, project=values.get("project"), root=values.get("root"), flags="")


def _complete_session(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """The sessions of the project, the one used last first."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks

    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # likewise

    where = _meant(context)
    with contextlib.suppress(SpillstoreError):
        known = sorted(where.store().sessions(where.project), key=lambda info: -info.used)
        return [
            CompletionItem(info.id)
            for info in known
            if info.project == where.project and info.id.startswith(typed)
        ]
    return []


def _complete_folder(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Folders, which are the shell's to complete."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks

    return [CompletionItem(typed, type="dir")]


def complete_source(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """The tools of the newest artifacts."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks

    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # likewise

    with contextlib.suppress(SpillstoreError), _meant(context).open() as session:
        sources = dict.fromkeys(info.source for info in session.infos(limit=_LOOKED_AT))
        return [CompletionItem(label(source)) for source in sources if source.startswith(typed)]
    return []


def complete_words(
    *words: str,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes an option that takes one of these, and perhaps others."""

    def found(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks

        return [CompletionItem(word) for word in words if word.startswith(typed)]

    return found


id_argument = click.argument(
    "artifact_id", metavar="[ID]", default=LAST, required=False, shell_complete=complete_id
)
ids_argument = click.argument("artifact_ids", metavar="[ID]...", nargs=-1, shell_complete=complete_id)
stream_option = click.option(
    "--stream",
    type=click.Choice(["combined", "stdout", "stderr"]),
    default="combined",
    help="One stream alone; each counts its own lines and bytes.  [default: combined]",
)
skip_holes_option = click.option(
    "--skip-holes",
    is_flag=True,
    help="Leave out what was dropped at the artifact's limit, instead of failing.",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Location:
    """A session of a store.

    Attributes:
        session: its id.
        project: its project, or None.
        root: the store's folder, or None for the default one.
        flags: the options that lead to the same place from another command, with a space before each.
    """

    session: str
    project: str | None
    root: str | None
    flags: str

    def store(self) -> Store:
        """The store."""
        import logging  # noqa: PLC0415  # not before `run` has started its command, and so is the next one

        from spillstore import Store  # noqa: PLC0415

        # What goes wrong is said by the commands, once.
        logging.getLogger("spillstore").addHandler(logging.NullHandler())
        observe()
        return Store(self.root or configured_root())

    def open(self, *, create: bool = False, write: bool | None = False) -> Session:
        """The session.

        Args:
            create: make it if it is not there.
            write: open it for writing; otherwise nothing on disk changes. None for writing where that can be, else reading.

        Raises:
            SessionNotFoundError: it is not there.
            SpillstoreError: it cannot be opened.
        """
        from spillstore.exceptions import SessionNotFoundError, StorageError  # noqa: PLC0415

        if write is None:
            try:
                return self.open(create=create, write=True)
            except StorageError:
                return self.open()
        store = self.store()
        try:
            return store.session(self.session, self.project, create=create, read_only=not write)
        except SessionNotFoundError:
            where = f" of project {self.project!r}" if self.project else ""
            raise SessionNotFoundError(
                f"no session {self.session!r}{where} in {store.root}; `spillstore sessions` lists those that there are, "
                "--session, --project and --root name one, and `spillstore run` and `spillstore put` make it"
            ) from None

    @contextlib.contextmanager
    def reading(self, kind: str) -> Iterator[Session]:
        """The session, opened for reading, and all that is read in it one event: ``read``, ``search``, ..."""
        with self.open() as session, session.action(kind, click.get_current_context().info_name):
            yield session

    def environment(self) -> dict[str, str]:
        """Our environment, and in it the variables that lead a child to the same place."""
        found = {**os.environ, "SPILLSTORE_SESSION": self.session}
        if self.project is not None:
            found["SPILLSTORE_PROJECT"] = self.project
        if self.root is not None:
            found["SPILLSTORE_ROOT"] = os.path.abspath(self.root)  # noqa: PTH100  # no link is followed
        return found


def observe() -> None:
    """Tell OpenTelemetry what happens, where ``SPILLSTORE_OTEL`` says so.

    Raises:
        SpillstoreError: it says neither yes nor no, or the package is not installed.
    """
    if "SPILLSTORE_OTEL" in os.environ:
        from spillstore_tools.telemetry import from_environment  # noqa: PLC0415  # only where it is asked for

        from_environment()


def refuse_memory(root: str | None) -> None:
    """Raise a usage error for a store in memory, which would be gone before anybody could read it."""
    if root == "memory:":
        raise click.UsageError(
            "a store in memory ends with its process, and this command's process ends at once; name a folder with --root or "
            "SPILLSTORE_ROOT (`spillstore mcp` and `spillstore mcp-proxy` can serve one in memory)"
        )


def configured_root() -> str | None:
    """The root that `storage_path` of `.agent/config.yml` names, for the folder that holds it; None for the default one.

    Its variable names one for the working directory, and wins.

    Most folders have no such file, or one that does not speak of this: then nothing is imported to read it.

    Raises:
        ConfigurationError: the file is there and wrong.
    """
    folder = os.getcwd()  # noqa: PTH109  # no link is followed
    if os.environ.get(_STORAGE_PATH):
        from spillstore_tools.config import load  # noqa: PLC0415  # only where there is something to read

        return os.path.join(folder, load(folder).artifacts.storage_path)  # noqa: PTH118  # paths as they are named
    while not os.path.lexists(os.path.join(folder, ".agent", "config.yml")):  # noqa: PTH118  # paths as they are named
        parent = os.path.dirname(folder)  # noqa: PTH120  # likewise
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118  # likewise
            return None
        folder = parent
    with open(os.path.join(folder, ".agent", "config.yml"), "rb") as file:  # noqa: PTH118, PTH123  # likewise
        if b"storage_path" not in file.read():
            return None
    from spillstore_tools.config import load  # noqa: PLC0415  # only where there is something to read

    return os.path.join(folder, load(folder).artifacts.storage_path)  # noqa: PTH118  # likewise


def location_options(
    function: Callable[..., Any] | None = None, *, session: str | None = None, told: str = "the project's"
) -> Callable[..., Any]:
    """Give a command ``--session``, ``--project`` and ``--root``, and pass them on as ``location``.

    Args:
        function: the command; None to settle the others first.
        session: the session where none is named; None for that of the folder.
        told: how the help calls it.
    """
    if function is None:
        return functools.partial(location_options, session=session, told=told)

    @click.option(
        "--session",
        envvar="SPILLSTORE_SESSION",
        default=session,
        metavar="NAME",
        shell_complete=_complete_session,
        help=f"The session.  [SPILLSTORE_SESSION; default: {told}]",
    )
    @click.option(
        "--project", envvar="SPILLSTORE_PROJECT", metavar="NAME", help="Its project.  [SPILLSTORE_PROJECT]"
    )
    @click.option(
        "--root",
        envvar="SPILLSTORE_ROOT",
        metavar="DIR",
        shell_complete=_complete_folder,
        help="The store.  [SPILLSTORE_ROOT; default: in the user's state folder]",
    )
    @functools.wraps(function)
    def with_location(
        *args: object, session: str | None, project: str | None, root: str | None, **kwargs: object
    ) -> Any:
        context = click.get_current_context()
        if context.info_name not in _LASTING:
            refuse_memory(root)
        flags = "".join(
            f" --{name} {shlex.quote(value)}"
            for name, value in (("session", session), ("project", project), ("root", root))
            if value is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        )
        named = project_session() if session is None else session
        _understand_uris(context, kwargs)
        location = Location(session=named, project=project, root=root, flags=flags)
        # Who goes on serving serves others.
        with acting(None, None, otherwise=None if context.info_name in _LASTING else "cli"):
            return function(*args, location=location, **kwargs)

    return with_location


def every(session: Session, **filters: Any) -> Iterator[ArtifactInfo]:
    """All artifacts that these filters leave, the newest first."""
    return iter(session.infos(**filters))


def _understand_uris(context: click.Context, arguments: dict[str, Any]) -> None:
    """Take ``artifact://ID?stream=stderr`` for an id, and for the stream where none was asked for."""
    for key in ("artifact_id", "artifact_ids", "ids", "names"):
        given = arguments.get(key)
        if not given:
            continue
        named = [named_by(each) for each in ([given] if isinstance(given, str) else given)]
        ids = tuple(name for name, _ in named)
        arguments[key] = ids[0] if isinstance(given, str) else ids
        views = {view for _, view in named if view is not None}
        chosen = context.get_parameter_source("stream") is ParameterSource.COMMANDLINE
        if len(views) == 1 and not chosen and "stream" in arguments:
            arguments["stream"] = views.pop()


def find(session: Session, name: str) -> Artifact:
    """The artifact that a user means.

    Args:
        session: where to look.
        name: an id, the beginning or the end of one, ``@last``, ``@last~2`` (the second before it), or ``@2`` (the second
            of the session).

    Raises:
        ArtifactNotFoundError: nothing or more than one thing is meant.
    """
    from spillstore.exceptions import ArtifactNotFoundError  # noqa: PLC0415

    if match := _PLACE.fullmatch(name):
        return _at(
            session, name, before=int(match[1] or 0), number=None if match[2] is None else int(match[2])
        )
    matches = session.matching(name, _CANDIDATES) if name else []
    if not matches and len(name) >= _LEAST_END:
        matches = _ending(session, name)
    if len(matches) == 1 or name in matches:
        return session.artifact(name if name in matches else matches[0])
    if not matches:
        with contextlib.suppress(ArtifactNotFoundError):
            session.artifact(name)  # so that the refusal is recorded
        raise ArtifactNotFoundError(
            f"session {session.id!r} holds no artifact {name!r}; `spillstore list` shows what there is, `spillstore "
            "sessions` which other sessions there are"
        )
    more = ", ..." if len(matches) == _CANDIDATES else ""
    raise ArtifactNotFoundError(
        f"{name!r} could be {', '.join(matches[: _CANDIDATES - 1])}{more}; give more of the id"
    )


def _at(session: Session, name: str, *, before: int, number: int | None) -> Artifact:
    """The artifact at a place in the session's order."""
    from spillstore.exceptions import ArtifactNotFoundError  # noqa: PLC0415

    total = 0
    wanted: str | None = None
    if number is None:
        infos = itertools.islice(every(session), before, None)
        wanted = next((info.id for info in infos), None)
    else:
        ids = [info.id for info in every(session)]
        total = len(ids)
        wanted = ids[-number] if 0 < number <= total else None
    if wanted is not None:
        return session.artifact(wanted)
    if number is None and before == 0:
        raise ArtifactNotFoundError(f"session {session.id!r} holds no artifact yet")
    raise ArtifactNotFoundError(
        f"session {session.id!r} does not hold as many artifacts as {name} asks for; `spillstore list` shows what there is"
    )


def _ending(session: Session, end: str) -> list[str]:
    """Ids that end so; what people remember of one."""
    found = (info.id for info in every(session) if info.id.endswith(end))
    return list(itertools.islice(found, _CANDIDATES))
