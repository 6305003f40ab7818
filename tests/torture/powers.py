"""Parts of processes in the campaign *power*: stories whose calls are written down, and the judge of what a power cut left."""

from __future__ import annotations

import ctypes
import json
import os

import stories as all_stories
from judge import ALWAYS, Judge, Model
from scenes import Scene, content

from spillstore.exceptions import NotASessionError, SessionNotFoundError


def recorded(say, calls, stories, root, trace, settings, keyed):
    """Play stories; what they do to files, and what they promise when, is written into the file ``trace``."""
    library = ctypes.CDLL(None)
    library.recorded_calls_note.argtypes = [ctypes.c_char_p]

    def note(**what):
        library.recorded_calls_note(json.dumps(what).encode())
        say(**what)

    descriptor = os.open(trace, os.O_WRONLY | os.O_CREAT)
    library.recorded_calls_arm(descriptor, root.encode())
    for story in stories:
        scene = Scene(note, root, settings, keyed)
        all_stories.STORIES[story](scene)
        for session in list(scene.sessions):  # left open, as a process does that ends without a word
            if len(stories) > 1:
                scene.close(session)
    library.recorded_calls_disarm()


def judged(say, calls, root, said, settings, keyed, lost, aged, urls=None):
    """Compare what is left with what was said; ``nothing`` may be lost, ``moments`` without a closing after, or also ``names``."""
    scene = Scene(say, root, {**settings, "busy_timeout": 10.0}, keyed, urls=urls)
    judge = PowerJudge(scene, Model(said), say)
    if lost != "nothing":
        judge.allow(said, names=lost == "names")
    judge.play(aged=aged)


class PowerJudge(Judge):
    """A judge who lets what was not safe be missing, but not be wrong, and be there without what came before."""

    stays = (*Judge.stays, ".torn-")  # a journal whose session was lost is kept for as long as a session
    may_lose = False
    deleting = frozenset()

    def allow(self, said, *, names):
        """Let everything be missing that no closing of its session came after; with ``names``, those sessions, too."""
        self.may_lose = True
        self.deleting = {
            key
            for artifacts in (*self.model.sessions.values(), *self.model.gone.values())
            for key, told in artifacts.items()
            if told.deleting or told.deleted
        }
        closed = {}
        for number, each in enumerate(said):
            if "closed" in each:
                closed[each["closed"]] = number
        known = {}  # when each artifact was last heard of
        for number, each in enumerate(said):
            for verb in ("sealed", "begun", "flushed", "sealed_writer", "deleting", "deleted"):
                if verb in each:
                    known[each[verb]] = number
        for name, gone in self.model.gone.items():  # the deletion may be lost
            self.model.sessions[name].update(gone)
        deleted = set().union(*self.model.gone.values()) if self.model.gone else set()
        self.model.gone.clear()
        for name, artifacts in self.model.sessions.items():
            for key, told in artifacts.items():
                safe = closed.get(name, -1) > known[key] and key not in deleted and not names
                if not safe:
                    told.maybe_unsealed = True
                    told.deleting, told.deleted, told.out, told.err = True, False, 0, 0
        self.model.copies.clear()

    def _session(self, store, name, *, read_only):
        try:
            super()._session(store, name, read_only=read_only)
        except NotASessionError:
            told = self.model.sessions.get(name, {})
            if not (self.may_lose and read_only and all(each.deleting for each in told.values())):
                raise

    def _artifact(self, session, key, told, read_only):
        if not getattr(told, "maybe_unsealed", False):
            super()._artifact(session, key, told, read_only)
            return
        self.figures["that may be lost"] += 1
        if not session.exists(key):
            return
        self.figures["that may be lost, and are there"] += 1
        artifact = session.artifact(key)
        info = artifact.info
        if told.stream or info.state == "sealed":
            whole, told.sealed = told.sealed, told.sealed and info.state == "sealed" and not told.stream
            super()._artifact(session, key, told, read_only)
            told.sealed = whole
            return
        artifact.verify()
        text = content(told.name, told.size)
        text = text.replace(b"\n", b"\r") if told.cr else text
        if not text.startswith(artifact.read_bytes(0, ALWAYS, max_bytes=ALWAYS)):
            self.say(wrong="other bytes than were put", text=f"{key} {told.name}")

    def write(self):
        """And what is there of a session has with it what was sealed there before."""
        if self.may_lose:
            self.in_order()
        super().write()

    def in_order(self):
        """What is there of a session has with it what was sealed there before."""
        for name, told in self.model.sessions.items():
            if name == "evicts":  # which deletes by itself
                continue
            project, _, session_id = name.rpartition("/")
            try:
                session = self.scene.store().session(session_id, project or None, create=False)
            except SessionNotFoundError:
                continue
            with session:
                sealed = [key for key, each in told.items() if each.sealed and key not in self.deleting]
                there = [session.exists(key) for key in sealed]
                if there != sorted(there, reverse=True):
                    self.say(
                        wrong="a later artifact is there, and an earlier one is not", text=f"{sealed} {there}"
                    )
