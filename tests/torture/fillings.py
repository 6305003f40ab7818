"""Parts of processes in the campaign *fillings*: a small disk is filled by what a store and its tools do, used, and given room again."""

from __future__ import annotations

import contextlib
import os
import random
from pathlib import Path

from scenes import Scene, content

_PIECE = 4096
_STEPS = 200  # the disk is full before


def _fill(path, leave):
    """Fill the disk with a file, but for some bytes."""
    with contextlib.suppress(OSError), open(path, "ab", buffering=0) as file:
        while True:
            file.write(bytes(_PIECE))
    os.truncate(path, max(0, os.path.getsize(path) - leave))


class Filling:
    """One process: what it stores, reads, deletes and calls, whatever room there is."""

    def __init__(self, scene, dice):
        self.scene = scene
        self.dice = dice
        self.kept = []
        self.session = None
        self.number = 0

    def calls_tool(self):
        """The tool answers with its preview, whether it can be stored or not."""
        from spillstore_tools.agent.bash import BashTool

        store = self.scene.store()
        bash = BashTool(lambda: store.session("tools"))
        try:
            text = bash.call_sync({"command": "seq 1 30000; exit 3"}).text
        except BaseException as error:
            self.scene.say(foreign=type(error).__name__, at="bash", text=repr(error))
        else:
            missing = [part for part in ("1\n2\n3\n", "\n30000\n", "exit code 3]") if part not in text]
            if missing:
                self.scene.say(wrong=f"bash does not show {missing}", text=text[-700:])
        self.scene.do("close the tool", bash.close)

    def cuts_result(self):
        """A result of another tool is cut."""
        from spillstore_tools import TruncationProcessor

        session = self.scene.open("s", tries=1)
        if session is None:
            return
        text = content("cut", 300_000).decode()
        try:
            shown = TruncationProcessor(session).process(text, "read_file").content
        except BaseException as error:
            self.scene.say(foreign=type(error).__name__, at="a cut result", text=repr(error))
            shown = text
        if text[:100] not in shown or text[-30:] not in shown:
            self.scene.say(wrong="a cut result does not show its ends", text=shown[-700:])

    def puts(self):
        """Store one."""
        size = self.dice.choice((3000, 60_000, 150_000, 250_000))
        name = self.dice.choice(("large", "one", "a", "b", "c"))
        if self.session is None:
            self.session = self.scene.open("s", tries=1)
        artifact = self.scene.put(self.session, name, size, redact=False)
        if artifact is not None:
            self.kept.append((artifact, content(name, size)))

    def writes(self):
        """Write a stream, and end it."""
        if self.session is None:
            self.session = self.scene.open("s", tries=1)
        writer = self.scene.begin(self.session, self.dice.choice(("w", "two")))
        for _ in range(self.dice.randint(1, 4)):
            self.scene.write(writer, 70_000, 2000)
        self.scene.seal(writer)

    def reads(self):
        """Read what was stored."""
        for artifact, data in self.kept[-3:]:
            self.scene.right("read_bytes", lambda each=artifact: each.read_bytes(0, 10**6), data)
            self.scene.right("tail", lambda each=artifact: each.tail(1), data.splitlines(keepends=True)[-1])

    def deletes(self):
        """Delete one, or the session."""
        if not self.kept:
            return
        artifact, _ = self.kept.pop(self.dice.randrange(len(self.kept)))
        self.scene.delete(self.session, artifact)

    def lists(self):
        """List all."""
        if self.session is not None:
            self.scene.do("list", lambda: list(self.session.infos(limit=1000)))
        self.scene.do("sessions", lambda: list(self.scene.store().sessions()))

    def reopens(self):
        """Close the session, and open it."""
        self.scene.close(self.session)
        self.session, self.kept = None, []

    def fill(self, other):
        """Store until there is no room, with another file on the disk, if one is named, that takes the rest."""
        failed = 0
        for _ in range(_STEPS):
            before = self.scene.failed
            self.dice.choice((self.puts, self.puts, self.writes, self.reads))()
            failed += self.scene.failed > before
            if failed > self.dice.randint(0, 4):
                break
        if other:
            _fill(other, self.dice.choice((0, 0, 4096, 40_000, 200_000)))

    def use(self):
        """Do anything, on a full disk."""
        self.calls_tool()
        for _ in range(6):
            self.dice.choice(
                (self.puts, self.writes, self.reads, self.lists, self.deletes, self.reopens, self.cuts_result)
            )()
        self.calls_tool()
        self.reads()
        self.lists()


class _Counting(Scene):
    """A scene that counts what failed."""

    failed = 0

    def do(self, verb, function):
        """Call it."""
        found = super().do(verb, function)
        self.failed += found is None
        return found


def play(say, calls, root, seed, settings, keyed, disk):
    """Fill the disk, use it, make room, and go on; three times."""
    scene = _Counting(say, root, settings, keyed)
    dice = random.Random(seed)
    filling = Filling(scene, dice)
    other = Path(disk) / "other"
    for _ in range(3):
        filling.fill(other if dice.random() < 0.7 else None)
        filling.use()
        say(filled=True, failed=scene.failed)
        other.unlink(missing_ok=True)
        if os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize < 1_500_000:
            _make_room(scene, filling)
        filling.reopens()
        filling.calls_tool()
        for session in list(scene.sessions):
            scene.close(session)
    scene.go_on()


def _make_room(scene, filling):
    """The store itself has filled the disk: what is in it goes."""
    scene.collect(older_than=-1e6)
    for session in list(scene.sessions):
        scene.close(session)
    filling.session, filling.kept = None, []
    for info in scene.do("sessions", lambda: list(scene.store().sessions())) or ():
        scene.delete_session(info.id)
