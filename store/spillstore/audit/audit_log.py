"""The audit log on its way: what happens is put into a buffer, and a batch of it into the session's file.

A read takes a tenth of a millisecond and a transaction takes longer, so a read must not write. It appends one tuple to a
list, 1 to 2 us with the time it took. The list reaches the file with the next transaction of a writer, two seconds after
the first event in it, or when there are 200, on a thread of its own; and when the session is closed. So a process that
is killed loses the events of its last two seconds, at most those in the buffer, but never one of a write: these are part
of the transaction that writes. While the file cannot be written 10,000 events are kept; of more, the oldest are
dropped, and how many is an event itself.

Whoever observes is told of all of it at once, whatever is recorded: see ``observers``.

Who reads is said by ``acting`` for all that is called in it. A tool that reads here and there for one answer says so with
``Audit.action``, and all of it is one event.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
import time
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from spillstore import observers
from spillstore.events.catalogue import NO_WRITES
from spillstore.observers import EmittedEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from spillstore.model.clock import Clock
    from spillstore.settings import Settings

OK = "ok"
FULL = 200
PERIOD = 2.0
MOST = 10_000
ROTATED_EVERY = 1000  # events
ROTATED_AT_ONCE = 2000  # rows that one transaction deletes
_LONGEST = 200  # characters of a text
_ITEMS = 50
_LARGEST = 2**62
_encode = json.JSONEncoder().encode
_IDLE = 5.0  # seconds after which the thread ends


class Who(NamedTuple):
    """Who does something, and for which tool call."""

    actor: str | None
    tool_call_id: str | None


# An event that is not written yet: when (us), kind, artifact, actor, tool call, detail.
Entry: TypeAlias = "tuple[int, str, str | None, str, str | None, Mapping[str, object]]"


_who: ContextVar[Who | None] = ContextVar("spillstore_who", default=None)
_action: ContextVar[Action | None] = ContextVar("spillstore_action", default=None)


class Action:
    """One call of a tool, which is one event whatever it reads.

    Attributes:
        kind: ``read``, ``search``, ...
        artifact_id: what it was about, or None.
        detail: what is told of it, without content.
        outcome: ``ok``, or why there was no answer.
        failed: the name of the last error that the store raised in it.
    """

    __slots__ = ("artifact_id", "at_once", "audit", "detail", "failed", "kind", "outcome")

    def __init__(self, audit: Audit, kind: str) -> None:
        self.audit = audit
        self.kind = kind
        self.artifact_id: str | None = None
        self.detail: dict[str, object] = {}
        self.outcome = OK
        self.failed: str | None = None
        self.at_once = False  # somebody else needs to know of it when it is over


@contextlib.contextmanager
def acting(actor: str | None, tool_call_id: str | None, *, otherwise: str | None = None) -> Iterator[None]:
    """Say who does all that is called in it; what is None is as it was outside, or ``otherwise`` if nothing was."""
    outside = _who.get() or Who(os.environ.get("SPILLSTORE_ACTOR") or otherwise, None)
    if outside.actor is None:
        outside = outside._replace(actor=otherwise)
    token = _who.set(
        Who(
            outside.actor if actor is None else actor,
            outside.tool_call_id if tool_call_id is None else tool_call_id,
        )
    )
    try:
        yield
    finally:
        _who.reset(token)


def who() -> Who:
    """Who acts here: what ``acting`` has said, ``SPILLSTORE_ACTOR``, or ``library``."""
    said = _who.get()
    if said is None or said.actor is None:
        return Who(_default_actor(), None if said is None else said.tool_call_id)
    return said


def _default_actor() -> str:
    return os.environ.get("SPILLSTORE_ACTOR") or "library"


class Audit:
    """The events of one engine that are not written yet. Safe from any thread."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        flush: Callable[[], None],
        say: Callable[[EmittedEvent], None],
        *,
        foreign: bool,
    ) -> None:
        self.session: str | None = None  # its id, once it is known
        self._say = say
        self.writes = settings.audit != "off" and not foreign
        self.reads = settings.audit == "full" and not foreign
        self._foreign = foreign
        self._clock = clock
        self._flush = flush
        self._actor = _default_actor()  # looked up once, since that costs as much as all the rest
        self._entries: deque[Entry] = deque()  # whoever adds needs no lock
        self._guard = threading.Lock()  # protects what follows
        self._lost = 0
        self._told_lost = 0  # recorded, and to be told to who observes
        self._passed: dict[tuple[str, str], list[int]] = {}  # tool and who: calls and bytes

    def emit(
        self,
        kind: str,
        detail: Mapping[str, object],
        *,
        artifact_id: str | None = None,
        seconds: float | None = None,
    ) -> None:
        """Tell who observes of something that is no event here, or is recorded by who calls."""
        if observers.is_observed(kind):
            self._say(EmittedEvent(kind, detail, self.session, artifact_id, seconds))

    def wants(self, kind: str) -> bool:
        """Whether events of that kind are recorded."""
        return self.reads if kind in NO_WRITES else self.writes

    @property
    def pending(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._entries or self._passed)

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
            self._say(EmittedEvent(kind, detail, self.session, artifact_id, seconds))
        if not (self.wants(kind) or (needed and not self._foreign)):
            return
        said = _who.get()
        actor = self._actor
        if said is not None:
            actor = said.actor or actor
            tool_call_id = tool_call_id or said.tool_call_id
        entries = self._entries
        entries.append((int(self._clock.time() * 1e6), kind, artifact_id, actor, tool_call_id, detail))
        count = len(entries)
        if count == 1:
            _flusher.want(self, PERIOD)
        elif count == FULL:
            _flusher.want(self, 0.0)
        elif count > MOST:
            with self._guard:
                entries.popleft()
                self._lost += 1

    def read(
        self,
        kind: str,
        artifact_id: str | None,
        detail: dict[str, object],
        began: float | None,
        error: BaseException | None = None,
    ) -> None:
        """Take a read that has ended; one within a tool's action belongs to that."""
        action = _action.get()
        if action is not None and action.audit is self:
            action.artifact_id = action.artifact_id or artifact_id
            if error is not None:
                action.failed = type(error).__name__
            return
        if self.wants(kind) or observers.is_observed(kind):
            seconds = None
            if began is not None:
                seconds = time.perf_counter() - began
                detail["ms"] = round(seconds * 1000, 3)
            detail["outcome"] = OK if error is None else type(error).__name__
            self.add(kind, artifact_id, detail, seconds=seconds)
            if kind == "export":
                self.flush()

    @contextlib.contextmanager
    def action(self, kind: str, tool: str | None) -> Iterator[Action]:
        """All that is read in it is one event; in another action it is a part of that, and says of which kind it is."""
        outside = _action.get()
        if outside is not None and outside.audit is self:
            outside.kind = kind
            yield outside
            return
        action = Action(self, kind)
        if tool is not None:
            action.detail["tool"] = tool
        began = time.perf_counter()
        token = _action.set(action)
        try:
            yield action
        except BaseException as error:
            action.outcome = type(error).__name__
            raise
        finally:
            _action.reset(token)
            seconds = time.perf_counter() - began
            action.detail["ms"] = round(seconds * 1000, 3)
            action.detail["outcome"] = action.outcome
            self.add(action.kind, action.artifact_id, action.detail, needed=action.at_once, seconds=seconds)
            if action.at_once:
                self._flush()

    def reading(self, kind: str, artifact_id: str, detail: Mapping[str, object]) -> bool:
        """Make what was shown a part of the action that goes on; whether there is one."""
        action = _action.get()
        if action is None or action.audit is not self:
            return False
        action.kind, action.artifact_id, action.at_once = kind, artifact_id, True
        action.detail.update(detail)
        return True

    def about(self, artifact_id: str) -> None:
        """Say which artifact the action that goes on has asked for, if it is the first."""
        action = _action.get()
        if action is not None and action.artifact_id is None and action.audit is self:
            action.artifact_id = artifact_id

    def denied(self, name: str, why: str) -> None:
        """Take an id that was refused."""
        action = _action.get()
        if action is not None:
            action.failed = "ArtifactNotFoundError"
        detail: dict[str, object] = {"id": name[:_LONGEST], "why": why}
        self.add("denied", None, detail | _tool())

    def damaged(self, artifact_id: str | None, error: BaseException) -> None:
        """Take damage that was met."""
        self.add("integrity", artifact_id, {"error": str(error)[: 2 * _LONGEST]} | _tool())

    def passed(self, tool: str, size: int, calls: int = 1) -> None:
        """Count output that is shown whole. It alone is no reason to write."""
        if not self.reads:
            return
        key = (tool[:_LONGEST], who().actor or self._actor)
        with self._guard:
            counts = self._passed.get(key)
            if counts is None:
                if len(self._passed) >= MOST:
                    return
                counts = self._passed[key] = [0, 0]
            counts[0] += calls
            counts[1] += size

    @contextlib.contextmanager
    def taken(self) -> Iterator[list[Entry]]:
        """All that waits, to be written; what could not be written waits again."""
        with self._guard:
            entries = [self._entries.popleft() for _ in range(len(self._entries))]
            passed, self._passed = self._passed, {}
            lost, self._lost = self._lost, 0
        now = int(self._clock.time() * 1e6)
        counts: list[Entry] = [
            (
                now,
                "passed",
                None,
                actor,
                None,
                {"tool": tool, "calls": calls, "received": size, "shown": size},
            )
            for (tool, actor), (calls, size) in passed.items()
        ]
        dropped: list[Entry] = [(now, "lost", None, self._actor, None, {"events": lost})] if lost else []
        try:
            yield [*dropped, *entries, *counts]
        except BaseException:
            with self._guard:
                self._lost += lost
                self._entries.extendleft(reversed(entries))
                for key, (calls, size) in passed.items():
                    counted = self._passed.setdefault(key, [0, 0])
                    counted[0] += calls
                    counted[1] += size
            _flusher.want(self, PERIOD)
            raise
        if lost:
            with self._guard:
                self._told_lost += lost

    def _tell_lost(self) -> None:
        with self._guard:
            lost, self._told_lost = self._told_lost, 0
        if lost:
            self.emit("lost", {"events": lost})

    def drop(self) -> None:
        """Forget all, and take nothing more: there is nowhere to write it."""
        self.writes = self.reads = False
        self._foreign = True
        with self._guard:
            self._entries.clear()
            self._passed.clear()
            self._lost = 0
        _flusher.forget(self)

    def close(self) -> None:
        """Write what waits, and need no thread any more."""
        self.flush()
        _flusher.forget(self)

    def flush(self) -> None:
        """Write what waits, now."""
        if self.pending:
            self._flush()
        self._tell_lost()  # now that no lock is held


def _tool() -> dict[str, object]:
    """The tool that acts here."""
    action = _action.get()
    return {"tool": action.detail["tool"]} if action is not None and "tool" in action.detail else {}


def detail_text(detail: Mapping[str, Any]) -> str:
    """The detail of an event as JSON. What a caller has sent may be anything: nothing in it is long or odd.

    Example:
        >>> detail_text({"start": 10**30, "end": float("inf"), "stream": "x" * 1000, "odd": object()})[:60]
        '{"start": 4611686018427387904, "end": "inf", "stream": "xxxx'
    """
    told = {}
    for name, value in detail.items():
        kind = type(value)
        simple = (
            -_LARGEST < value < _LARGEST
            if kind is int
            else len(value) <= _LONGEST
            if kind is str
            else kind is bool or value is None
        )
        told[str(name)] = value if simple else _plain(value)
    return _encode(told)


def _plain(value: Any) -> object:
    if isinstance(value, bool) or value is None:
        plain: object = value
    elif isinstance(value, int):
        plain = max(-_LARGEST, min(int(value), _LARGEST))
    elif isinstance(value, float):
        plain = value if math.isfinite(value) else str(value)
    elif isinstance(value, str):
        plain = value[:_LONGEST]
    elif isinstance(value, (list, tuple)):
        plain = [_plain(item) for item in value[:_ITEMS]]
    elif isinstance(value, dict):
        plain = {str(name)[:_LONGEST]: _plain(item) for name, item in list(value.items())[:_ITEMS]}
    else:
        plain = f"<{type(value).__name__}>"
    return plain


# --- the thread ---------------------------------------------------------------------------------------------


class _Flusher:
    """One thread a process, as long as there is something to write."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # protects what follows
        self._due: dict[Audit, float] = {}
        self._running = False

    def want(self, audit: Audit, delay: float) -> None:
        """Write the events of ``audit`` in so many seconds, or sooner."""
        due = time.monotonic() + delay
        with self._changed:
            if self._due.get(audit, math.inf) <= due:
                return
            self._due[audit] = due
            if not self._running:
                thread = threading.Thread(target=self._run, name="spillstore-audit", daemon=True)
                try:
                    thread.start()
                except (
                    RuntimeError
                ):  # no more threads are to be had, or the interpreter ends: ``close`` writes
                    return
                self._running = True
            elif not delay:
                self._changed.notify()

    def forget(self, audit: Audit) -> None:
        """There is nothing more to write of it."""
        with self._changed:
            self._due.pop(audit, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                ready = [audit for audit, due in self._due.items() if due <= now]
                if not ready:
                    if not self._due and not self._changed.wait(_IDLE) and not self._due:
                        self._running = False
                        return
                    if self._due:
                        self._changed.wait(max(0.0, min(self._due.values()) - time.monotonic()))
                    continue
                for audit in ready:
                    del self._due[audit]
            for audit in ready:
                audit.flush()


_flusher = _Flusher()


def _restart_after_fork() -> None:
    global _flusher  # noqa: PLW0603  # the parent's thread does not exist here
    _flusher = _Flusher()


os.register_at_fork(after_in_child=_restart_after_fork)
