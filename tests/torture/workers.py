"""One thread of a process of the campaign *histories*: what it does, and when each call began and ended."""

from __future__ import annotations

import time
import traceback

from scenes import NO_FLOORS, content

from spillstore import Store
from spillstore.exceptions import (
    ArtifactNotFoundError,
    SessionBusyError,
    SessionDeletedError,
    SessionNotFoundError,
)

_ALWAYS = 10**9
_GONE = (SessionDeletedError, SessionNotFoundError)
NAMES = ("n0", "n1")
KINDS = (
    "put",
    "stream",
    "stream",
    "read",
    "read",
    "read",
    "exists",
    "list",
    "delete",
    "name",
    "name list",
    "name delete",
)


class Worker:
    """One thread of a process."""

    def __init__(self, place, settings, dice, name, known):
        self.store = Store(place, **{**NO_FLOORS, "busy_timeout": 60.0, **settings})
        self.dice = dice
        self.name = name
        self.known = known  # ids of artifacts of the shared session, of this process
        self.history = []
        self.wrong = []
        self.session = self.store.session("s")
        self.writer = None
        self.numbers = iter(range(10**9))

    def timed(self, op, function, session="s", **what):
        """Do something, and write down when; ``gone`` and ``missing`` are answers, too, any other error is wrong."""
        begin = time.monotonic_ns()
        try:
            result = function()
        except _GONE:
            result = "missing" if op in ("delete session", "list") else "gone"
        except ArtifactNotFoundError:
            result = "missing"
        except SessionBusyError as error:
            result = "failed"
            if op != "delete session":
                self.wrong.append(f"{op}: {error!r}")
        except BaseException as error:
            result = "failed"
            self.wrong.append(f"{op}: {''.join(traceback.format_exception(error))[-2500:]}")
        record = {"op": op, "session": session, "begin": begin, "end": time.monotonic_ns(), "by": self.name}
        self.history.append({**record, **what, "result": result})
        return result

    def step(self):
        """Do one thing."""
        kind = self.dice.choice(KINDS)
        getattr(self, f"do_{kind.replace(' ', '_')}")()

    def _put(self, session, name):
        number = next(self.numbers)
        source = f"{self.name}-{number}"
        size = self.dice.choice((20, 3000, 120_000))
        data = (source.encode() + b" ").ljust(30, b".") + content("large", size)
        return self.timed("put", lambda: session.put(data, source=source, redact=False).id, session=name)

    def do_put(self):
        key = self._put(self.session, "s")
        if key not in ("gone", "failed"):
            self.known.append(key)

    def do_stream(self):
        """Begin one, write more of it, or end it."""
        if self.writer is None:
            source = f"{self.name}-{next(self.numbers)}"

            def begin():
                self.writer = self.session.create(source=source, redact=False)
                return self.writer.id

            self.size = 0
            self.timed("create", begin)
            if self.writer is not None:
                self.known.append(self.writer.id)
            return
        writer = self.writer
        if self.dice.random() < 0.75:
            piece = content("w out", self.size + self.dice.choice((50, 9000, 70_000)))[self.size :]
            self.size += len(piece)

            def write():
                writer.write(piece)
                writer.flush()
                return "done"

            self.timed("write", write, id=writer.id, size=self.size)
        if self.size > 300_000 or self.dice.random() < 0.25:
            self.writer = None

            def close():
                writer.close()
                return "done"

            self.timed("close", close, id=writer.id)

    def _one(self):
        return self.dice.choice(self.known) if self.known else None

    def do_read(self):
        if (key := self._one()) is None:
            return

        def read():
            artifact = self.session.artifact(key)
            info = artifact.info
            data = artifact.read_bytes(0, _ALWAYS, max_bytes=_ALWAYS)
            head = (info.source.encode() + b" ").ljust(30, b".")
            right = (
                data == head + content("large", len(data) - len(head))
                if data.startswith(head)
                else (data == content("w out", len(data)))
            )
            # The state was looked at before the bytes: one that was open may be sealed by now.
            return [len(data), info.state if info.state == "sealed" else artifact.info.state, right]

        self.timed("read", read, id=key)

    def do_exists(self):
        if (key := self._one()) is not None:
            self.timed("exists", lambda: self.session.exists(key), id=key)

    def do_list(self):
        found = self.timed("list", lambda: [info.id for info in self.session.infos(limit=1000)])
        if isinstance(found, list) and found:
            self.known.append(self.dice.choice(found))  # also those of others

    def do_delete(self):
        key = self._one()
        if key is None or (self.writer is not None and key == self.writer.id) or self.dice.random() < 0.3:
            return

        def delete():
            artifact = self.session.artifact(key)
            if artifact.info.state != "sealed":
                return "missing"  # of somebody who writes it
            artifact.delete()
            return "done"

        begin = len(self.history)
        self.timed("delete", delete, id=key)
        if self.history[begin]["result"] == "missing":
            del self.history[begin]  # not deleted, or not there: exists() says which

    def do_name(self):
        name = self.dice.choice(NAMES)
        try:
            session = self.store.session(name)
        except _GONE:
            return
        with session:
            self._put(session, name)

    def do_name_list(self):
        name = self.dice.choice(NAMES)

        def listed():
            with self.store.session(name, create=False, read_only=True) as session:
                return [info.id for info in session.infos(limit=1000)]

        if self.timed("list", listed, session=name) in ("missing", "gone"):
            self.history[-1]["result"] = []

    def do_name_delete(self):
        if self.dice.random() < 0.6:
            return
        name = self.dice.choice(NAMES)

        def delete():
            self.store.delete(name, force=True)
            return "done"

        self.timed("delete session", delete, session=name)

    def end(self):
        """Close what is open."""
        if self.writer is not None:
            writer, self.writer = self.writer, None
            self.timed("close", lambda: writer.close() or "done", id=writer.id)
        self.session.close()
