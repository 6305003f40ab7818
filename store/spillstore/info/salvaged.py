"""What was got out of a damaged session."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class MissingRange:
    """What is not there any more of an artifact, in the combined view.

    Attributes:
        start: its first byte.
        end: the byte behind it.
        first_line: first line of which at least a part is gone.
        last_line: last such line.
    """

    start: int
    end: int
    first_line: int
    last_line: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class SalvagedPart:
    """A range of an artifact that became an artifact of its own, because what is missing lies on both sides of it.

    Attributes:
        id: of the new artifact.
        range: where its bytes and lines stood in the old one.
    """

    id: str
    range: MissingRange


@dataclasses.dataclass(frozen=True, kw_only=True)
class SalvagedArtifact:
    """What was got of one artifact.

    Attributes:
        id: its id, which it keeps.
        complete: whether all of it is there, to the byte.
        known: whether its row was whole; else its tool, its command and its end are not known.
        size: bytes that were got, those of its parts included.
        missing: what is lost, in order; of an artifact that is not ``known``, what follows the last range is not known either.
        parts: ranges that became artifacts of their own.
    """

    id: str
    complete: bool
    known: bool
    size: int
    missing: tuple[MissingRange, ...]
    parts: tuple[SalvagedPart, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SalvageReport:
    """What ``Store.salvage`` has got out of a damaged session.

    Attributes:
        session: the id of the new session.
        project: its project, or None.
        known: whether the session's own row was whole.
        all_rows: likewise, and no artifact's row is known to be missing. With a digest key, the session's sum over them tells
            that, and whether one is older; without, only whether the end of the file is gone.
        artifacts: every artifact of which anything was found.
        lost: ids of artifacts of which nothing was found, while the audit log says that they were made, and not that they were
            deleted.
        events: rows of the audit log that were got.
        nameless: chunks that belong to no artifact whose id is known, and were left.
    """

    session: str
    project: str | None
    known: bool
    all_rows: bool
    artifacts: tuple[SalvagedArtifact, ...]
    lost: tuple[str, ...]
    events: int
    nameless: int

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing."""
        is_all = self.known and self.all_rows and not (self.nameless or self.lost)
        return is_all and all(each.complete for each in self.artifacts)
