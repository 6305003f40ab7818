"""The sessions of a store and the artifacts of a session, chosen and in order: for ``spillstore list`` and for viewers."""

from __future__ import annotations

import dataclasses
import functools
import heapq
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from spillstore.events.catalogue import READS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from spillstore import ArtifactInfo, Session, SessionInfo, Store
    from spillstore.info import State

Order = Literal["created", "size", "stored", "lines", "duration", "source"]
ORDERS: dict[Order, Callable[[ArtifactInfo], Any]] = {
    "created": lambda info: info.created,
    "size": lambda info: info.size,
    "stored": lambda info: info.stored_size,
    "lines": lambda info: info.lines,
    "duration": lambda info: info.duration or 0.0,
    "source": lambda info: info.source,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """Which artifacts are listed; what is None chooses all.

    Attributes:
        source: the tool.
        state: ``open``, ``sealed`` or ``interrupted``.
        since, until: begun from then on, or before then, in seconds since 1970.
        command: text that the command has in it.
        content_type: the media type.
        min_size: bytes at least.
        failed: whether only commands count that ended with an exit code other than 0.
        without: ids that are left out.
    """

    source: str | None = None
    state: State | None = None
    since: float | None = None
    until: float | None = None
    command: str | None = None
    content_type: str | None = None
    min_size: int | None = None
    failed: bool = False
    without: Container[str] = ()

    def has(self, info: ArtifactInfo) -> bool:
        """Whether an artifact is chosen; by tool, state and beginning the store chooses."""
        return (
            (self.until is None or info.created < self.until)
            and (self.command is None or self.command in (info.command or ""))
            and (self.content_type is None or self.content_type == info.content_type)
            and (self.min_size is None or info.size >= self.min_size)
            and not (self.failed and not info.exit_code)
            and info.id not in self.without
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Chosen:
    """Artifacts in order, the first of those that were chosen.

    Attributes:
        infos: at most as many as were asked for.
        artifacts: how many were chosen.
        size: their bytes together.
        stored_size: the same, as they are stored.
    """

    infos: list[ArtifactInfo]
    artifacts: int
    size: int
    stored_size: int


def chosen_artifacts(
    session: Session,
    choice: Choice | None = None,
    *,
    order: Order = "created",
    limit: int = 100,
    reverse: bool = False,
) -> Chosen:
    """The artifacts of a session that a choice has: the newest or the largest first, names from A.

    Cost: a look at each artifact of that tool, state and time; no more than ``limit`` are held.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
        ...     for size in (3, 5, 4):
        ...         _ = session.put("x" * size)
        ...     found = chosen_artifacts(session, Choice(min_size=4), order="size")
        ...     [info.size for info in found.infos], found.artifacts
        ([5, 4], 2)
    """
    choice = choice or Choice()
    infos = session.infos(source=choice.source, state=choice.state, since=choice.since)
    counted = _Counted(filter(choice.has, infos))
    found = _first(iter(counted), order, limit, ascending=reverse is not (order == "source"))
    counted.rest()
    return Chosen(
        infos=found, artifacts=counted.artifacts, size=counted.size, stored_size=counted.stored_size
    )


def times_read(session: Session) -> Counter[str]:
    """How often each artifact was read with an answer, by its id, whoever read it. Cost: the events of reads."""
    found: Counter[str] = Counter()
    for kind in READS:
        for event in session.events(kind=kind):
            if event.artifact_id is not None and event.detail.get("outcome", "ok") == "ok":
                found[event.artifact_id] += 1
    return found


def sessions_by_use(store: Store, project: str | None = None) -> list[SessionInfo]:
    """The sessions of a store, the one used last first. Cost: a look at each session."""
    return sorted(store.sessions(project), key=lambda info: -info.used)


class _Counted:
    """Artifacts, counted while they are iterated over, with their sizes."""

    def __init__(self, infos: Iterator[ArtifactInfo]) -> None:
        self._infos = infos
        self.artifacts = self.size = self.stored_size = 0

    def __iter__(self) -> Iterator[ArtifactInfo]:
        for info in self._infos:
            self.artifacts += 1
            self.size += info.size
            self.stored_size += info.stored_size
            yield info

    def rest(self) -> None:
        """Count those that were not iterated over."""
        for _ in self:
            pass


def _first(infos: Iterator[ArtifactInfo], order: Order, most: int, *, ascending: bool) -> list[ArtifactInfo]:
    """The first ``most`` of them in that order; no more than these are held."""
    if order == "created" and not ascending:
        return [info for _, info in zip(range(most), infos, strict=False)]
    choose = functools.partial(heapq.nsmallest if ascending else heapq.nlargest, most, infos)
    return choose(key=ORDERS[order])
