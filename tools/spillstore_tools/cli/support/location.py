"""Where a command's session is: its store, its project, its id."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING

import click

from spillstore_tools.configured import nearest_configuration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Session, Store

_STORAGE_PATH = "SPILLSTORE_TRUNCATION__ARTIFACTS__STORAGE_PATH"
_CONFIGURATION = os.path.join(".agent", "config.yml")  # noqa: PTH118  # joined, never opened alone


@dataclasses.dataclass(frozen=True, kw_only=True)
class Location:
    """Where a session is.

    Attributes:
        session: its id.
        project: its project, or None.
        root: the store's folder or URL, or None for the default one.
        flags: the options that name the same session for another command, with a space before each.
    """

    session: str
    project: str | None
    root: str | None = dataclasses.field(repr=False)  # a URL may hold a password
    flags: str

    def store(self) -> Store:
        """The store that holds the session."""
        import logging  # noqa: PLC0415  # imported after `run` has started its command, as the next one

        from spillstore import Store  # noqa: PLC0415

        # Commands report what goes wrong, once.
        logging.getLogger("spillstore").addHandler(logging.NullHandler())
        observe()
        return Store(self.root or configured_root())

    def open(self, *, create: bool = False, write: bool = False) -> Session:
        """Open the session.

        Args:
            create: whether it is made if it does not exist.
            write: whether it is opened for writing; otherwise nothing on disk changes but what is recorded of reads.

        Raises:
            SessionNotFoundError: it does not exist.
            SpillstoreError: it cannot be opened.
        """
        store = self.store()
        with self.named(store):
            return store.session(self.session, self.project, create=create, read_only=not write)

    @contextlib.contextmanager
    def named(self, store: Store) -> Iterator[None]:
        """A context that opens the session: where there is none, the error says how a command names another."""
        from spillstore.exceptions import SessionNotFoundError  # noqa: PLC0415

        try:
            yield
        except SessionNotFoundError:
            where = f" of project {self.project!r}" if self.project else ""
            raise SessionNotFoundError(
                f"no session {self.session!r}{where} in {store.name}; `spillstore sessions` lists those that there are, "
                "--session, --project and --root name one, and `spillstore run` and `spillstore put` make it"
            ) from None

    @contextlib.contextmanager
    def reading(self, kind: str) -> Iterator[Session]:
        """A context with the session opened for reading; all reads in it are one event of this kind (``read``, ...)."""
        with self.open() as session, session.action(kind, click.get_current_context().info_name):
            yield session

    def environment(self) -> dict[str, str]:
        """Our environment, with the variables that name the same session for a child process."""
        found = {**os.environ, "SPILLSTORE_SESSION": self.session}
        if self.project is not None:
            found["SPILLSTORE_PROJECT"] = self.project
        if self.root is not None:
            is_url = ":/" in self.root  # its password is taken out with all others
            found["SPILLSTORE_ROOT"] = self.root if is_url else os.path.abspath(self.root)  # noqa: PTH100  # no link is followed
        return found


def named_target(_: click.Context, parameter: click.Parameter, target: str) -> str:
    """Callback of ``--to``.

    Raises:
        click.BadParameter: it is empty, as a variable that was never set.
    """
    if not target:
        raise click.BadParameter("it is empty; name a folder", param=parameter)
    return target


def observe() -> None:
    """Send metrics and traces to OpenTelemetry if ``SPILLSTORE_OTEL`` says so.

    Raises:
        SpillstoreError: it is neither yes nor no, or the package is not installed.
    """
    if "SPILLSTORE_OTEL" in os.environ:
        from spillstore_tools.telemetry import from_environment  # noqa: PLC0415  # only if it is switched on

        from_environment()


def named_root(_: click.Context, parameter: click.Parameter, root: str | None) -> str | None:
    """Callback of ``--root``: a folder may begin with ``~``, also where no shell has read it.

    Raises:
        click.BadParameter: it is empty, as a variable that was never set: it would be another store than was meant.
    """
    if root == "":
        raise click.BadParameter("it is empty; leave it out for the default store", param=parameter)
    return None if root is None else os.path.expanduser(root)  # noqa: PTH111  # a URL stays as it is


def refuse_memory(root: str | None) -> None:
    """Raise a usage error for a store in memory, which would end with the command."""
    if root == "memory:":
        raise click.UsageError(
            "a store in memory ends with its process, and this command's process ends at once; name a folder with --root or "
            "SPILLSTORE_ROOT (`spillstore mcp` and `spillstore mcp-proxy` can serve one in memory)"
        )


def without_password(root: str | None) -> str | None:
    """What names a store in messages: a URL without its password, None for one that cannot be read, anything else as it is."""
    if root is None or ":/" not in root:
        return root
    from spillstore.exceptions import UsageError  # noqa: PLC0415  # few have a server
    from spillstore.store import address_of  # noqa: PLC0415  # likewise

    try:
        found = address_of(root)
    except UsageError:  # opening it says what is wrong
        return None
    return found if "://" in found else root


def configured_root() -> str | None:
    """The store's folder that `storage_path` of `.agent/config.yml` names; None if it names none.

    It is relative to the folder that holds `.agent`; the variable wins, and is relative to the working directory. The
    configuration is imported only if one of them is there.

    Raises:
        ConfigurationError: the file is wrong.
    """
    folder = os.getcwd()  # noqa: PTH109  # no link is followed
    if not os.environ.get(_STORAGE_PATH):
        configured = _configured_folder(folder)
        if configured is None:
            return None
        folder = configured
    from spillstore_tools.config import load  # noqa: PLC0415  # only if there is something to read

    return os.path.join(folder, load(folder).artifacts.storage_path)  # noqa: PTH118  # paths as they are named


def _configured_folder(folder: str) -> str | None:
    """The same, where the file speaks of the storage path."""
    found = nearest_configuration(folder)
    if found is None:
        return None
    with open(os.path.join(found, _CONFIGURATION), "rb") as opened:  # noqa: PTH118, PTH123  # likewise
        return found if b"storage_path" in opened.read() else None
