"""Random operations on a store against an in-memory model."""

from __future__ import annotations

import shutil
import tempfile

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule
from model import Sequence, interleave
from support import NO_FLOORS, ManualClock, examples

from spillstore import Store
from spillstore.exceptions import SessionBusyError

SESSIONS = ("one", "Two", "th/ree")


class StoreMachine(RuleBasedStateMachine):
    """Sessions opened, closed and deleted; artifacts written, sealed, aborted, deleted, read - in any order."""

    writers = Bundle("writers")

    def __init__(self):
        super().__init__()
        self.root = tempfile.mkdtemp()
        self.clock = ManualClock()
        self.store = Store(self.root, clock=self.clock, **NO_FLOORS)
        self.open = {}
        self.model = {}  # session -> artifact id -> {"events", "state", "start"}

    def teardown(self):
        for session in self.open.values():
            session.close()
        self.store.check()
        shutil.rmtree(self.root)

    @rule(name=st.sampled_from(SESSIONS))
    def open_session(self, name):
        if name not in self.open:
            self.open[name] = self.store.session(name)
            self.model.setdefault(name, {})

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def close_session(self, data):
        name = data.draw(st.sampled_from(sorted(self.open)))
        self.open.pop(name).close()
        for artifact in self.model[name].values():
            if artifact["state"] == "open":
                artifact["state"] = "interrupted"

    @precondition(lambda self: self.open)
    @rule(data=st.data(), force=st.booleans())
    def delete_session(self, data, force):
        name = data.draw(st.sampled_from(sorted(self.open)))
        busy = any(artifact["state"] == "open" for artifact in self.model[name].values())
        try:
            self.open[name].delete(force=force)
        except SessionBusyError:
            assert busy and not force
        else:
            assert force or not busy
            del self.open[name]
            del self.model[name]

    @precondition(lambda self: self.open)
    @rule(target=writers, data=st.data())
    def create(self, data):
        name = data.draw(st.sampled_from(sorted(self.open)))
        writer = self.open[name].create()
        self.model[name][writer.id] = {"events": [], "state": "open", "start": self.clock.now}
        return name, writer

    def live(self, name, writer):
        artifact = self.model.get(name, {}).get(writer.id)
        return artifact if artifact is not None and artifact["state"] == "open" else None

    @rule(
        writer=writers,
        stream=st.sampled_from(["stdout", "stderr"]),
        data=st.sampled_from([b"a\n", b"part", b"x" * 70_000, b"\n\n", b"l\n" * 50_000]),
        pause=st.sampled_from([0, 20, 60]),
    )
    def write(self, writer, stream, data, pause):
        name, writer = writer
        if (artifact := self.live(name, writer)) is not None:
            self.clock.advance(pause / 1000)
            writer.write(data, stream=stream)
            artifact["events"].append(
                ("write", int((self.clock.now - artifact["start"]) * 1e6), stream, data)
            )

    @rule(writer=writers)
    def flush_and_read(self, writer):
        name, writer = writer
        if (artifact := self.live(name, writer)) is not None:
            writer.flush()
            artifact["events"].append(("flush", int((self.clock.now - artifact["start"]) * 1e6)))
            self.compare(name, writer.id)

    @rule(writer=consumes(writers), abort=st.booleans())
    def finish(self, writer, abort):
        name, writer = writer
        if (artifact := self.live(name, writer)) is not None:
            if abort:
                writer.abort("a test")
            else:
                writer.close(exit_code=3)
            artifact["state"] = "interrupted" if abort else "sealed"

    @precondition(lambda self: any(self.model.get(name) for name in self.open))
    @rule(data=st.data())
    def delete_artifact(self, data):
        name = data.draw(st.sampled_from(sorted(name for name in self.open if self.model[name])))
        artifact_id = data.draw(st.sampled_from(list(self.model[name])))
        try:
            self.open[name].artifact(artifact_id).delete()
        except SessionBusyError:
            assert self.model[name][artifact_id]["state"] == "open"
        else:
            assert self.model[name].pop(artifact_id)["state"] != "open"

    @precondition(lambda self: any(self.model.get(name) for name in self.open))
    @rule(data=st.data())
    def read(self, data):
        name = data.draw(st.sampled_from(sorted(name for name in self.open if self.model[name])))
        artifact_id = data.draw(st.sampled_from(list(self.model[name])))
        if self.model[name][artifact_id]["state"] != "open":
            self.compare(name, artifact_id)

    def compare(self, name, artifact_id):
        expected = self.model[name][artifact_id]
        model = Sequence(interleave(expected["events"], 50_000))
        artifact = self.open[name].artifact(artifact_id)
        assert expected["state"] == artifact.info.state
        for view in ("combined", "stdout", "stderr"):
            assert model.view(view) == artifact.read_bytes(0, 10**9, stream=view)
        lines = model.lines("combined")
        assert b"".join(lines[-3:]) == artifact.tail(3)
        assert len(lines) == artifact.info.lines

    @invariant()
    def lists_agree(self):
        assert set(self.model) == {info.id for info in self.store.sessions()}
        for name, session in self.open.items():
            found = {info.id: info.state for info in session.infos()}
            assert {key: value["state"] for key, value in self.model[name].items()} == found


TestStore = StoreMachine.TestCase
TestStore.settings = examples(20, stateful_step_count=30)
