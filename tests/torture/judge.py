"""Whether what processes have promised was kept: ``judged`` reads all that they have said, and then the store.

It is a part of its own process, so that a hang or a crash of it is seen. It says what is ``wrong``, and counts what it saw.
"""

from __future__ import annotations

import collections
import os
import traceback

import stories
from scenes import Scene, content

from spillstore.exceptions import ArtifactNotFoundError, SessionNotFoundError

ALWAYS = 10**9  # bytes and seconds, of which there are never so many


class Told:
    """What is known of an artifact."""

    def __init__(self, said):
        self.name = said["name"]
        self.sealed = "sealed" in said
        self.size = said.get("size", 0)
        self.cr = said.get("cr", False)
        self.roll = said.get("roll", False)
        self.out = self.err = 0  # what was acknowledged at least
        self.stream = "begun" in said
        self.deleting = said.get("spool", False)  # may be missing
        self.deleted = False


class Model:
    """What must be there, by what was said: of each session its artifacts."""

    def __init__(self, said):
        self.sessions = collections.defaultdict(dict)
        self.gone = collections.defaultdict(dict)  # artifacts of sessions that were deleted
        self.going = set()  # sessions whose deletion was begun
        self.copies = {}  # of each session that was copied the store that has the copy
        self.targets = set()  # all stores that were copied to
        self.errors = 0
        for each in said:
            self._take(each)

    def _take(self, each):
        name = each.get("session")
        if "sealed" in each:
            self.sessions[name][each["sealed"]] = Told(each)
        elif "begun" in each:
            self.sessions[name][each["begun"]] = Told(each)
        elif "flushed" in each:
            told = self.sessions[name][each["flushed"]]
            told.deleting = False
            told.out, told.err = each["out"], each["err"]
        elif "sealed_writer" in each:
            told = self.sessions[name][each["sealed_writer"]]
            told.sealed, told.deleting, told.out, told.err = True, False, each["out"], each["err"]
        elif "deleting" in each:
            self.sessions[name][each["deleting"]].deleting = True
        elif "deleted" in each:
            self.sessions[name][each["deleted"]].deleted = True
        elif "deleting_session" in each:
            for told in self.sessions[each["deleting_session"]].values():
                told.deleting = True
            self.going.add(each["deleting_session"])
        elif "deleted_session" in each:
            self.gone[each["deleted_session"]] |= self.sessions.pop(each["deleted_session"], {})
        if "copying" in each:
            self.targets.add(each["to"])
        elif "copied" in each:  # one that replaces it has the same
            self.copies[each["copied"]] = each["to"]
        self.errors += "error" in each


def judged(say, calls, root, said, settings, keyed, story="", urls=None):
    """Compare a scene's store with what was said."""
    scene = Scene(say, root, {**(settings or {}), "busy_timeout": 10.0}, keyed, urls=urls)
    Judge(scene, Model(said), say).play(aged=story == "migrate")


class Judge:
    """Compares a store with what must be in it."""

    stays = (".audit.db", ".id")  # after all was collected

    def __init__(self, scene, model, say):
        self.scene = scene
        self.model = model
        self.say = say
        self.figures = collections.Counter()

    def play(self, *, aged=False):
        """Go through all that can be asked; with ``aged``, of a session of an earlier schema, too."""
        phases = (self.read, self.write, self.copies, *([self.aged] if aged else []), self.all, self.empty)
        for phase in phases:
            try:
                phase()
            except BaseException as error:
                self.say(
                    wrong=f"{phase.__name__}: {type(error).__name__}",
                    text="".join(traceback.format_exception(error))[-3000:],
                )
        self.say(figures=self.figures)

    def read(self):
        """Everything is there for who only reads."""
        for name in {*self.model.sessions, *self.model.gone}:
            self._session("root", name, read_only=True)

    def write(self):
        """And for who opens it for writing, who leaves nothing open."""
        for name in {*self.model.sessions, *self.model.gone}:
            self._session("root", name, read_only=False)

    def copies(self):
        """A copy that was made is whole; one that was begun is whole or not there."""
        for name, to in self.model.copies.items():
            self._session(to, name, read_only=True)

    def _session(self, store, name, *, read_only):
        told = self.model.sessions.get(name, {})
        project, _, session_id = name.rpartition("/")
        needed = [key for key, each in told.items() if not each.deleting]
        try:
            session = self.scene.store(store).session(
                session_id, project or None, create=False, read_only=read_only
            )
        except SessionNotFoundError:
            if needed:
                self.say(wrong=f"session {name} is not there", text=f"{store} {needed}")
            return
        with session:
            for key, each in told.items():
                self._artifact(session, key, each, read_only)
            for key in self.model.gone.get(name, {}) if store == "root" else ():  # a copy stays
                if session.exists(key):
                    self.say(wrong="an artifact of a deleted session is back", text=key)
            session.check()
            states = collections.Counter(info.state for info in session.infos(limit=1000))
            if states["open"]:
                self.say(wrong="an artifact is open after its process died", text=f"{name} {states}")
            if not read_only:
                self.figures.update(states)

    def _artifact(self, session, key, told, read_only):
        try:
            artifact = session.artifact(key)
        except ArtifactNotFoundError as error:
            if not (told.deleting or "evicted" in str(error)):
                self.say(wrong="an artifact is not there", text=f"{key} {told.name}: {error}")
            return
        if told.deleted:
            self.say(wrong="a deleted artifact is there", text=f"{key} {told.name}")
            return
        artifact.verify()
        info = artifact.info
        if info.state not in ({"sealed"} if told.sealed else {"sealed", "interrupted"}):
            self.say(
                wrong=f"the state is {info.state}", text=f"{key} {told.name}, opened for reading: {read_only}"
            )
        if told.roll:
            self._rolled(artifact, told)
        elif told.stream:
            out = artifact.read_bytes(0, ALWAYS, stream="stdout", max_bytes=ALWAYS)
            err = artifact.read_bytes(0, ALWAYS, stream="stderr", max_bytes=ALWAYS)
            right = out == content(f"{told.name} out", len(out)) and err == content(
                f"{told.name} err", len(err)
            )
            if not right:
                self.say(wrong="other bytes than were written", text=f"{key} {told.name}")
            enough = len(out) >= told.out and len(err) >= told.err
            if not enough or (told.sealed and (len(out), len(err)) != (told.out, told.err)):
                self.say(
                    wrong="what was acknowledged is not there",
                    text=f"{key} {told.name}: {len(out)} {len(err)} of {told.out} {told.err}",
                )
        else:
            expected = content(told.name, told.size)
            expected = expected.replace(b"\n", b"\r") if told.cr else expected
            if artifact.read_bytes(0, ALWAYS, max_bytes=ALWAYS) != expected:
                self.say(wrong="other bytes than were put", text=f"{key} {told.name}")
        self.figures["kept"] += told.sealed or told.out > 0

    def _rolled(self, artifact, told):
        info = artifact.info
        text = content(f"{told.name} out", info.size)
        hole = info.hole
        ends = [(0, info.size)] if hole is None else [(0, hole.start), (hole.end, info.size)]
        if any(artifact.read_bytes(*each, max_bytes=ALWAYS) != text[slice(*each)] for each in ends):
            self.say(wrong="other bytes than were written", text=f"rolled, {info}")
        if info.size < told.out or (told.sealed and info.size != told.out):
            self.say(wrong="what was acknowledged is not there", text=f"rolled: {info.size} of {told.out}")

    def aged(self):
        """A session of an earlier schema has all that it had, whether it was upgraded or not."""
        for read_only in (True, False):
            with self.scene.store().session("chat-42", "web", create=False, read_only=read_only) as session:
                found = {
                    info.id: (info.digest, info.size) for info in session.infos(state="sealed", limit=100)
                }
                expected = stories.aged(self.scene.keyed)
                if any(found.get(key) != value for key, value in expected.items()):
                    self.say(wrong="an upgraded session lacks something", text=f"{found}")
                for key in expected:
                    session.artifact(key).verify()
                session.check()

    def all(self):
        """Each session passes its check, and takes something new."""
        for name in ("root", *self.model.targets):
            store = self.scene.store(name)
            store.check()
            for info in list(store.sessions()):
                with store.session(info.id, info.project) as session:
                    session.put(b"afterwards")
                    session.check()
            with store.session("one more") as session:
                session.put(b"afterwards")

    def empty(self):
        """Everything can be deleted, and nothing stays behind."""
        for name in ("root", *self.model.targets):
            store = self.scene.store(name)
            hidden = () if store.root is None else ("new", "copy")
            for path in (path for kind in hidden for path in store.root.glob(f"*/.{kind}-*")):
                os.utime(path, (0, 0))  # for a minute it may be one that is being made
            report = store.collect(older_than=-1e9)
            if report.spared or list(store.sessions()):
                why = [(fate.session.id, fate.why, fate.detail) for fate in report.spared]
                self.say(wrong="a session cannot be collected", text=f"{why}")
            files = () if store.root is None else store.root.glob("*/*")
            left = [
                str(path.relative_to(store.root)) for path in files if not path.name.startswith(self.stays)
            ]
            if left:
                self.say(wrong="something is left after all was collected", text=f"{left}")
