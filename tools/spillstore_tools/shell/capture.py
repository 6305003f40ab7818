"""Output that is too much to pass: stored, and shown as the profile shows it. Imported when there is such output."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from typing import TYPE_CHECKING, cast

from spillstore.exceptions import UsageError
from spillstore_tools.cli.support.location import Location
from spillstore_tools.cli.support.profile import load_configuration
from spillstore_tools.config.redaction_rules import Redaction
from spillstore_tools.configured import is_configured
from spillstore_tools.output.spill import Spill
from spillstore_tools.process.working_folders import note_folder
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.profiles.default import Default
from spillstore_tools.profiles.limits import LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore import Session
    from spillstore_tools.profiles import ProfileName

SOURCE = "bash"  # the tool under which output is stored
# What Claude Code wraps around a command: its snapshot of the user's shell before it, the working folder behind it.
_WRAPPED = re.compile(r"\bsource .* && eval (.+?)(?: (?:\\)?< ?/dev/null)? && pwd -P >\| \S+\s*", re.DOTALL)


class Capture:
    """Takes the output of one command, from its first byte.

    Args:
        line: the command line.
        session: the session that stores it.
        began: when the command began, by ``time.monotonic``.

    Attributes:
        limit: characters that the profile shows.
        is_stored: whether there is an artifact.

    Raises:
        SpillstoreError: something is configured wrongly.
    """

    def __init__(self, line: str, session: str, began: float) -> None:
        root = os.environ.get("SPILLSTORE_ROOT") or None
        if root == "memory:":
            raise UsageError("a store in memory ends with its process")
        self._location = Location(
            session=session, project=os.environ.get("SPILLSTORE_PROJECT") or None, root=root, flags=""
        )
        name = cast("ProfileName", os.environ.get("SPILLSTORE_PROFILE") or "default")
        configuration = None if name == "default" and not is_configured() else load_configuration(name)
        self._profile = profile_named(name, configuration)
        self._inline = self._profile.inline(SOURCE)
        self.limit = LIMIT if self._inline is None else self._inline.chars
        self.is_stored = False
        self._session: Session | None = None
        self._artifact_id: str | None = None
        self._spill = Spill(
            self._open,
            self._profile,
            source=SOURCE,
            command=own_command(line),
            content_type="text/plain",
            is_command=True,
            redaction=Redaction(None, configuration, profile=name).rules(SOURCE),
            on_spill=self._begun,
            began=began,
        )

    def _open(self) -> Session:
        self._session = self._location.open(create=True, write=True)
        return self._session

    def _begun(self, artifact_id: str) -> None:
        self.is_stored, self._artifact_id = True, artifact_id
        if self._session is not None:
            note_folder(self._session, artifact_id)

    @property
    def problem(self) -> str | None:
        """Why not all of it is stored, or None."""
        return self._spill.problem

    def write(self, stream: int, data: bytes, at: float) -> None:
        """Take bytes of stream 1 or 2, which came ``at`` a reading of ``time.monotonic``; blocks while the store is behind."""
        self._spill.write(data, "stderr" if stream == 2 else "stdout", at=at)  # noqa: PLR2004  # the descriptor's number

    def shows(self, pieces: Iterable[bytes]) -> bool:
        """Whether the profile's limits allow all of it."""
        inline = self._inline
        if inline is None:
            return False
        data = b"".join(pieces)
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        return (
            len(data.decode(errors="replace")) <= inline.chars
            and (inline.lines is None or lines <= inline.lines)
            and (inline.size is None or len(data) <= inline.size)
        )

    def keep(self) -> str | None:
        """Store it, however little it is; returns the artifact's id, or None if that failed."""
        self._spill.keep()
        return self._artifact_id

    def finish(self, exit_code: int, shown: int) -> str:
        """End it; the text is for who has seen ``shown`` bytes of it."""
        if isinstance(self._profile, Default):
            self._profile.shown_before = shown
        text = self._spill.finish(exit_code=exit_code).text
        self.is_stored = self._spill.artifact_id is not None
        self._close()
        return text

    def drop(self) -> None:
        """Keep nothing of it."""
        self._spill.abort("it was passed on")
        self._close()

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(Exception):  # what is stored is stored, and the command has ended
                session.close()


def own_command(line: str) -> str:
    r"""The command that a model gave, out of the line that its agent makes of it.

    Example:
        >>> own_command("source /tmp/snapshot.sh && eval 'make test' \\< /dev/null && pwd -P >| /tmp/cwd-1")
        'make test'
        >>> own_command("make test")
        'make test'
    """
    found = _WRAPPED.fullmatch(line)
    if found is None:
        return line
    try:
        words = shlex.split(found[1])
    except ValueError:  # quoted in a way that only a shell understands
        return line
    return words[0] if len(words) == 1 else line
