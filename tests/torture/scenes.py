"""What processes do in a store, told in verbs that say what was promised; and ``judged``, which asks whether it was kept.

A *scene* is a folder with stores, and what one process does in them. Each verb catches errors of ours and says them, so that
a scene goes on when a call has failed; whatever else comes out of a verb is foreign, and was not to come. A verb says what it
begins before it calls, and what was done when it has returned: that is what must be there afterwards.
"""

from __future__ import annotations

import functools
import importlib
import logging
import random
import traceback
from pathlib import Path

from spillstore import Store
from spillstore.exceptions import SpillstoreError

NO_FLOORS = {"free_disk_floor": 0, "artifacts_per_minute": 0, "collect_interval": 1e9, "busy_timeout": 2.0}
KEY = bytes(range(32))  # it protects nothing
SHARED = ("s", "evicts", "afterwards", "chat-42")  # sessions that no story deletes
_SIZE = 600_000


def import_all(*, servers=False):
    """Import what any scene needs, so that processes that are forked later need not; for ``servers``, what those need, too."""
    import pkgutil

    import stories

    import spillstore
    import spillstore_migrations
    import spillstore_tools

    logging.getLogger("spillstore").addHandler(logging.NullHandler())
    logging.getLogger("spillstore").propagate = False
    skipped = ("__main__", ".env", "._native.", "telemetry", ".mcp", "versions", ".adapters")
    skipped += () if servers else ("postgres",)
    for package in (spillstore, spillstore_migrations, spillstore_tools):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not any(each in module.name for each in skipped):
                importlib.import_module(module.name)
    from spillstore.redaction import counted

    for name in stories.NAMES:
        content(name, 1)
    counted(b"token: x\n")


@functools.cache
def _long(name):
    rng = random.Random(name)
    lines = [
        b"%s %s\n" % (name.encode(), rng.randbytes(rng.randrange(1, 60)).hex().encode()) for _ in range(200)
    ]
    text = b"".join(lines)
    rest = [b"%d %s\n" % (number, rng.choice(lines)[:-1]) for number in range(6000)]
    return (text + b"".join(rest))[:_SIZE]


def path_of(session):
    """What names a session here: its id, behind its project if it has one."""
    return session.id if session.project is None else f"{session.project}/{session.id}"


def content(name, size):
    """Lines of text of a name: those of a smaller size are the beginning of those of a larger one."""
    found = _long(name)
    assert size <= len(found)
    return found[:size]


class Scene:
    """What one process does.

    Args:
        say: tells what was promised.
        root: of the scene.
        settings: of its stores.
        keyed: whether they have a digest key.
        urls: of stores that are on a server, by their names.
        actor: who, where several processes are in a scene: sessions that are deleted are their own.
    """

    def __init__(self, say, root, settings, keyed, actor="", urls=None):
        self.say = say
        self.root = Path(root)
        self.settings = {**NO_FLOORS, **(settings or {})}
        self.keyed = keyed
        self.urls = urls or {}
        self.actor = actor
        self.sessions = []
        self.writers = {}

    def store(self, name="root", **more):
        """A store of the scene."""
        key = {"digest_key": KEY} if self.keyed else {}
        return Store(self.urls.get(name, self.root / name), **key, **{**self.settings, **more})

    def do(self, verb, function):
        """Call a function; None where it raises an error of ours, which is said, or one of others, which must not be."""
        try:
            return function()
        except SpillstoreError as error:
            self.say(error=type(error).__name__, at=verb, text=str(error)[:300])
        except BaseException as error:
            self.say(
                foreign=type(error).__name__, at=verb, text="".join(traceback.format_exception(error))[-3000:]
            )
        return None

    # --- sessions ---------------------------------------------------------------------------------------

    def named(self, session_id):
        """The name of a session: of one of our own, or of one that all share."""
        return session_id if session_id in SHARED else session_id + self.actor

    def open(self, session_id, store=None, tries=2, **options):
        """Open a session, twice if need be."""
        session_id = self.named(session_id)
        for _ in range(tries):
            session = self.do("open", lambda: (store or self.store()).session(session_id, **options))
            if session is not None:
                self.sessions.append(session)
                self.say(opened=session_id)
                return session
        return None

    def close(self, session):
        """Close it."""
        if session is None:
            return
        self.sessions.remove(session)

        def close():
            session.close()
            # Who closes it as the last one brings the journal into the file, unless it could only be read.
            if not session.read_only and not any(path_of(each) == path_of(session) for each in self.sessions):
                self.say(closed=path_of(session))

        self.do("close", close)

    def delete_session(self, session_id, store=None):
        """Delete a session by its name."""
        session_id = self.named(session_id)
        self.say(deleting_session=session_id)

        def delete():
            (store or self.store()).delete(session_id)
            self.say(deleted_session=session_id)

        self.do("delete session", delete)

    def collect(self, **options):
        """Collect all sessions: those that nobody holds go."""

        def collect():
            store = self.store()
            for info in list(store.sessions()):
                self.say(deleting_session=path_of(info))
            for fate in store.collect(**options).deleted:
                self.say(deleted_session=path_of(fate.session))

        self.do("collect", collect)

    def copy(self, session_id, to, **options):
        """Copy a session to another store of the scene."""
        self.say(copying=session_id, to=to, replaces=options.get("replace", False))

        def copy():
            self.store().copy_session(session_id, to=self.store(to), **options)
            self.say(copied=session_id, to=to)

        self.do("copy", copy)

    # --- artifacts ----------------------------------------------------------------------------------------

    def put(self, session, name, size, *, cr=False, **options):
        """Store a text at once."""

        def put():
            data = content(name, size).replace(b"\n", b"\r") if cr else content(name, size)
            artifact = session.put(data, source=name, **options)
            self.say(sealed=artifact.id, session=path_of(session), name=name, size=size, cr=cr)
            return artifact

        return None if session is None else self.do("put", put)

    def begin(self, session, name, **options):
        """Begin to write one."""

        def begin():
            writer = session.create(source=name, command="make", **options)
            self.say(
                begun=writer.id,
                session=path_of(session),
                name=name,
                roll=options.get("policy") == "roll",
                spool="spool" in options,
            )
            self.writers[writer.id] = [session, writer, name, 0, 0]
            return writer

        return None if session is None else self.do("create", begin)

    def write(self, writer, out, err=0, *, flush=True):
        """Write more of both streams, whole lines or not."""
        if writer is None:
            return
        one = self.writers[writer.id]
        session, _, name, before, before_err = one

        def write():
            writer.write(content(f"{name} out", before + out)[before:])
            one[3] += out
            if err:
                writer.write(content(f"{name} err", before_err + err)[before_err:], stream="stderr")
                one[4] += err
            if flush:
                writer.flush()
                self.say(flushed=writer.id, session=path_of(session), out=one[3], err=one[4])

        self.do("write", write)

    def seal(self, writer):
        """Close a writer."""
        if writer is None:
            return
        session, _, _, out, err = self.writers[writer.id]

        def seal():
            writer.close(exit_code=3)
            self.say(sealed_writer=writer.id, session=path_of(session), out=out, err=err)

        self.do("seal", seal)

    def delete(self, session, artifact):
        """Delete an artifact."""
        if artifact is None:
            return

        def delete():
            self.say(deleting=artifact.id, session=path_of(session))
            artifact.delete()
            self.say(deleted=artifact.id, session=path_of(session))

        self.do("delete", delete)

    def right(self, verb, function, expected):
        """Read something: what is expected, or an error of ours."""
        found = self.do(verb, lambda: (function(),))
        if found is not None and found[0] != expected:
            self.say(wrong=verb, text=f"{found[0]!r:.300} instead of {expected!r:.300}")

    # --- the end --------------------------------------------------------------------------------------------

    def go_on(self):
        """Nothing fails any more: what is open works, and what is not can be opened."""
        for session in [*self.sessions, self.open("afterwards", tries=1)]:
            if session is None:
                self.say(wrong="no session can be opened when nothing fails any more", text="")
            elif session.read_only:
                self.do("list", session.infos)
            elif self.put(session, "afterwards", 10_000) is None:
                self.say(wrong="nothing can be put when nothing fails any more", text=session.id)
            elif self.do("check", session.check) is None:
                self.say(wrong="a session cannot be checked when nothing fails any more", text=session.id)
        for session in list(self.sessions):
            self.close(session)


def play(say, calls, story, root, settings, keyed, *, go_on=False, actor="", urls=None):
    """Play a story by name; with ``go_on``, nothing fails after it, and all must work again in this process."""
    import stories

    scene = Scene(say, root, settings, keyed, actor, urls)
    stories.STORIES[story](scene)
    if go_on:
        say(**calls.disarm())
        scene.go_on()


def upgrade(say, calls, name, root, settings, keyed, urls):
    """Make the tables of a store on a server."""
    from spillstore.server import upgrade

    scene = Scene(say, root, settings, keyed, urls=urls)
    scene.do("upgrade", lambda: upgrade(urls[name]))
