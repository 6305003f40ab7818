"""Which artifact a name on the command line means: an id, a part of one, or a position such as ``@last``."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore import Artifact, Session

LAST = "@last"
_CANDIDATES = 6  # ids that an ambiguous name could mean; one fewer is shown
_POSITION = re.compile(r"@last(?:~([0-9]{1,9}))?|@([0-9]{1,9})")
_LEAST_END = 4  # characters of an id's end


def find(session: Session, name: str) -> Artifact:
    """The artifact that a name on the command line means.

    Args:
        session: the session that holds it.
        name: an id, the beginning or the end of one, ``@last``, ``@last~2`` (the second before it), or ``@2`` (the second
            of the session).

    Raises:
        ArtifactNotFoundError: there is none, or more than one.
    """
    from spillstore.exceptions import ArtifactNotFoundError  # noqa: PLC0415

    if match := _POSITION.fullmatch(name):
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
    """The artifact ``before`` steps before the newest, or with that number from the oldest."""
    from spillstore.exceptions import ArtifactNotFoundError  # noqa: PLC0415  # as in ``find``

    if number is None:
        found = next((info.id for info in itertools.islice(session.infos(), before, None)), None)
    else:
        ids = [info.id for info in session.infos()]
        found = ids[-number] if 0 < number <= len(ids) else None
    if found is not None:
        return session.artifact(found)
    if number is None and before == 0:
        raise ArtifactNotFoundError(f"session {session.id!r} holds no artifact yet")
    raise ArtifactNotFoundError(
        f"session {session.id!r} does not hold as many artifacts as {name} asks for; `spillstore list` shows what there is"
    )


def _ending(session: Session, end: str) -> list[str]:
    """Ids that end in this: the part of an id that people remember."""
    found = (info.id for info in session.infos() if info.id.endswith(end))
    return list(itertools.islice(found, _CANDIDATES))
