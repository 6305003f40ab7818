"""The audit log on its way: what happens is put into a buffer, and a batch of it into the session's file.

A read takes a tenth of a millisecond and a transaction takes longer, so a read must not write. It appends one tuple to a
buffer, 1 to 2 us with the time it took. The buffer reaches the file with the next transaction of a writer, two seconds after
the first event in it, or when there are 200, on a thread of its own; and when the session is closed. So a process that
is killed loses the events of its last two seconds, at most those in the buffer, but never one of a write: these are part
of the transaction that writes. While the file cannot be written 10,000 events are kept; of more, the oldest are
dropped, and how many is an event itself.

All of it is emitted to observers at once, whatever is recorded: see ``observers``.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from spillstore import observers
from spillstore.audit import flusher
from spillstore.audit.action import CURRENT, OK, Action
from spillstore.audit.actor import ACTING, call_context, default_actor
from spillstore.audit.event_buffer import EventBuffer
from spillstore.audit.event_detail import LONGEST
from spillstore.events.catalogue import NO_WRITES
from spillstore.observers import EmittedEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from spillstore.audit.event_buffer import Entry
    from spillstore.model.clock import Clock
    from spillstore.settings import Settings

FULL = 200  # events that are written at once
PERIOD = 2.0  # seconds that an event waits to be written


class DrainedEvents:
    """The events that an audit log holds, for a block that writes them. If the block fails, they wait again."""

    __slots__ = ("_buffer", "_log", "_waiting")

    def __init__(self, buffer: EventBuffer, log: Audit) -> None:
        """Take nothing yet."""
        self._buffer = buffer
        self._log = log

    def __enter__(self) -> list[Entry]:
        self._waiting = self._buffer.take()
        return self._buffer.rows(self._waiting)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._buffer.written(self._waiting)
        else:
            self._buffer.put_back(self._waiting)
            flusher.flush_later(self._log, PERIOD)


class Audit:
    """The events of one engine that are not written yet. Safe from any thread."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        flush: Callable[[], None],
        emit: Callable[[EmittedEvent], None],
        *,
        foreign: bool,
    ) -> None:
        self.session: str | None = None  # its id, once it is known
        self._emit = emit
        self.writes = settings.audit != "off" and not foreign
        self.reads = settings.audit == "full" and not foreign
        self._foreign = foreign
        self._clock = clock
        self._flush = flush
        self._actor = default_actor()  # looked up once, since that costs as much as all the rest
        self._buffer = EventBuffer(clock, self._actor)

    def emit(
        self,
        kind: str,
        detail: Mapping[str, object],
        *,
        artifact_id: str | None = None,
        seconds: float | None = None,
    ) -> None:
        """Emit what is no event of the log, or is recorded by the caller."""
        if observers.is_observed(kind):
            self._emit(EmittedEvent(kind, detail, self.session, artifact_id, seconds))

    def wants(self, kind: str) -> bool:
        """Whether events of that kind are recorded."""
        return self.reads if kind in NO_WRITES else self.writes

    @property
    def pending(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._buffer)

    def add(
        self,
        kind: str,
        artifact_id: str | None,
        detail: Mapping[str, object],
        *,
        tool_call_id: str | None = None,
        needed: bool = False,
        seconds: float | None = None,
    ) -> None:
        """Take an event; ``needed`` whatever the setting says."""
        if observers.is_observed(kind):
            self._emit(EmittedEvent(kind, detail, self.session, artifact_id, seconds))
        if self.wants(kind) or (needed and not self._foreign):
            self._enter(kind, artifact_id, detail, tool_call_id)

    def _enter(
        self, kind: str, artifact_id: str | None, detail: Mapping[str, object], tool_call_id: str | None
    ) -> None:
        """Put an event into the buffer."""
        said = ACTING.get()
        actor = self._actor
        if said is not None:
            actor = said.actor or actor
            tool_call_id = tool_call_id or said.tool_call_id
        at_us = int(self._clock.time() * 1e6)
        waiting = self._buffer.add((at_us, kind, artifact_id, actor, tool_call_id, detail))
        if waiting == 1:
            flusher.flush_later(self, PERIOD)
        elif waiting == FULL:
            flusher.flush_later(self, 0.0)

    def read(
        self,
        kind: str,
        artifact_id: str | None,
        detail: dict[str, object],
        began: float | None,
        error: BaseException | None = None,
    ) -> None:
        """Take a read that has ended; one within a tool's action belongs to that."""
        action = CURRENT.get()
        if action is not None and action.audit is self:
            action.artifact_id = action.artifact_id or artifact_id
            if error is not None:
                action.failed = type(error).__name__
            return
        recorded, observed = self.wants(kind), observers.is_observed(kind)
        if not recorded and not observed:
            return
        seconds = None
        if began is not None:
            seconds = time.perf_counter() - began
            detail["ms"] = round(seconds * 1000, 3)
        detail["outcome"] = OK if error is None else type(error).__name__
        if observed:
            self._emit(EmittedEvent(kind, detail, self.session, artifact_id, seconds))
        if recorded:
            self._enter(kind, artifact_id, detail, None)
        if kind == "export":
            self.flush()

    @contextlib.contextmanager
    def action(self, kind: str, tool: str | None) -> Iterator[Action]:
        """All that is read in it is one event; in another action it is a part of that, and says of which kind it is."""
        outside = CURRENT.get()
        if outside is not None and outside.audit is self:
            outside.kind = kind
            yield outside
            return
        action = Action(self, kind)
        if tool is not None:
            action.detail["tool"] = tool
        began = time.perf_counter()
        token = CURRENT.set(action)
        try:
            yield action
        except BaseException as error:
            action.outcome = type(error).__name__
            raise
        finally:
            CURRENT.reset(token)
            seconds = time.perf_counter() - began
            action.detail["ms"] = round(seconds * 1000, 3)
            action.detail["outcome"] = action.outcome
            self.add(action.kind, action.artifact_id, action.detail, needed=action.at_once, seconds=seconds)
            if action.at_once:
                self._flush()

    def reading(self, kind: str, artifact_id: str, detail: Mapping[str, object]) -> bool:
        """Make what was shown a part of the action that goes on; whether there is one."""
        action = CURRENT.get()
        if action is None or action.audit is not self:
            return False
        action.kind, action.artifact_id, action.at_once = kind, artifact_id, True
        action.detail.update(detail)
        return True

    def about(self, artifact_id: str) -> None:
        """Say which artifact the action that goes on has asked for, if it is the first."""
        action = CURRENT.get()
        if action is not None and action.artifact_id is None and action.audit is self:
            action.artifact_id = artifact_id

    def denied(self, name: str, why: str) -> None:
        """Take an id that was refused."""
        action = CURRENT.get()
        if action is not None:
            action.failed = "ArtifactNotFoundError"
        detail: dict[str, object] = {"id": name[:LONGEST], "why": why}
        self.add("denied", None, detail | _tool())

    def damaged(self, artifact_id: str | None, error: BaseException) -> None:
        """Take damage that was met."""
        self.add("integrity", artifact_id, {"error": str(error)[: 2 * LONGEST]} | _tool())

    def passed(self, tool: str, size: int, shown: int, calls: int) -> None:
        """Count output that is shown whole. It alone is no reason to write."""
        if self.reads:
            self._buffer.add_passed(tool[:LONGEST], call_context().actor or self._actor, calls, size, shown)

    def drained(self) -> DrainedEvents:
        """All that waits, to be written in a block; what could not be written waits again."""
        return DrainedEvents(self._buffer, self)

    def drop(self) -> None:
        """Forget all, and take nothing more: there is nowhere to write it."""
        self.writes = self.reads = False
        self._foreign = True
        self._buffer.clear()
        flusher.forget(self)

    def close(self) -> None:
        """Write what waits, and need no thread any more."""
        self.flush()
        flusher.forget(self)

    def flush(self) -> None:
        """Write what waits, now."""
        if self.pending:
            self._flush()
        if lost := self._buffer.lost_and_written():  # now that no lock is held
            self.emit("lost", {"events": lost})


def _tool() -> dict[str, object]:
    """The tool that acts here."""
    action = CURRENT.get()
    return {"tool": action.detail["tool"]} if action is not None and "tool" in action.detail else {}
