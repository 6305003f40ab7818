"""The sessions that this process has open: counted, drained when the interpreter exits, refused in a forked child."""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from spillstore.ingest.pipeline import Pipeline


class _OpenSession(Protocol):
    """A ``SessionCore``, as far as it matters here."""

    @property
    def pipelines(self) -> list[Pipeline]: ...

    def shutdown(self, reason: str) -> None: ...

    def disown(self) -> None: ...


open_sessions: set[_OpenSession] = set()
_inherited: list[object] = []  # connections that a fork could not close; a child must not close them either


class OpenResources(NamedTuple):
    """What this process has open.

    Attributes:
        sessions: open sessions.
        artifacts: artifacts that are being written.
        queued: bytes that were written and are not committed yet.
    """

    sessions: int
    artifacts: int
    queued: int


def count_open() -> OpenResources:
    """What this process has open now. Cost: a look at each open session."""
    cores = list(open_sessions)
    pipelines = [pipeline for core in cores for pipeline in core.pipelines]
    return OpenResources(len(cores), len(pipelines), sum(pipeline.uncommitted for pipeline in pipelines))


def drain() -> None:
    """Store what is still queued when the interpreter exits; what was left open becomes ``interrupted``."""
    for core in list(open_sessions):
        core.shutdown("the process ended before its writer was closed")


def _forget_after_fork() -> None:
    for core in open_sessions:
        core.disown()
    _inherited.extend(open_sessions)
    open_sessions.clear()


atexit.register(drain)
os.register_at_fork(after_in_child=_forget_after_fork)
