"""Clients of a PostgreSQL server are killed, their calls fail, their connections are cut, and the server itself is killed."""

from __future__ import annotations

import errno
import threading
import time

import campaigns
from cases import Case, drawn
from machines import Machine
from stories import PREPARED
from victims import Fault, Victims
from wire import Wire

_PLAYED = ("write", "seal", "roll", "evict", "delete", "reopen", "collect", "copy")
_KINDS = ("kills", "fails", "cuts", "restarts", "schema")
_LAST, _LONGEST = 90, 0.2  # a story sends 40 to 150 times, in 0.05 to 0.3 s
_REACHED = {"opened", "copied", "deleted_session"}
_BROKEN = (errno.ECONNRESET, errno.EPIPE, errno.ETIMEDOUT)


class Campaign(campaigns.Base):
    """A round is a new database and one kind of harm, again and again; then all that was promised is looked for."""

    about = "a PostgreSQL server: clients killed, sends and receives that fail, cuts, kills of the server, upgrades killed"
    rounds = 400
    short = ((0, 0.17), (1, 0.2), (2, 0.2), (3, 0.25), (4, 0.15))

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self._machine = Machine()
        self._victims = Victims(folder, servers=True)

    def play(self, number, done, share=1.0):
        """Do the harm, and judge."""
        kind = _KINDS[number % len(_KINDS)]
        scene = drawn(self.dice(number))
        schema = kind != "schema"
        names = {each: self._machine.server.new_database(schema=schema) for each in ("root", "other")}
        root = self.folder / f"{number}"
        case = Case(self._victims, root, done, f"{kind}, {scene}", scene)
        harm = _Harm(self._machine, self._victims, case, self.dice(f"{number} harm"), names, scene)
        getattr(harm, kind)(share)
        done.figures.update(harm.figures)
        harm.judge(lossy=kind == "restarts" and scene["settings"]["durability"] == "normal")
        for each in names.values():
            if left := self._machine.left(each):
                case.found(f"rows are left: {left}")
            self._machine.server.drop_database(each)

    def close(self):
        """End the program and the server."""
        self._victims.close()
        self._machine.close()


class _Harm:
    """One round."""

    def __init__(self, machine, victims, case, dice, names, scene):
        self.machine, self.victims, self.case, self.dice, self.names = machine, victims, case, dice, names
        self.where = {"root": str(case.root), **scene}
        self.urls = {each: machine.server.url(name) for each, name in names.items()}
        self.figures = {}
        self._played = []

    def _count(self, what):
        self.figures[what] = self.figures.get(what, 0) + 1

    def _run(self, part, fault=None, urls=None, **options):
        return self.case.heard(
            self.victims.run(part, fault, urls=urls or self.urls, **{**self.where, **options})
        )

    def _story(self, fault, urls=None, **options):
        """Let a client play a story, with what comes before it; nobody who died before counts any more."""
        story = self.dice.choice([each for each in _PLAYED if each != "copy" or "copy" not in self._played])
        self._played.append(story)
        self.machine.outlive(*self.names.values())
        if before := PREPARED.get(story):
            self._run("scenes.play", story=before)
        return self._run("scenes.play", fault, urls, story=story, **options)

    def _no_errors(self, ended):
        """Who has reached the server once has no error; before, it is told at once that it cannot be reached."""
        reached, errors = False, []
        for each in ended.said:
            reached = reached or not _REACHED.isdisjoint(each)
            if "error" in each and (reached or each["error"] != "ServerError") and each["at"] != "copy":
                errors.append(each)
        if errors:
            self.case.found("errors where all works again", f"{errors}"[:3000])

    def kills(self, share):
        """Clients are killed before they send or receive, or at any time."""
        for _ in range(round(12 * share)):
            way = self.dice.choice(("send", "receive", "time"))
            after = self.dice.random() ** 2 * _LONGEST if way == "time" else None
            fault = Fault(
                kinds=() if after else (way,), at=self.dice.randint(1, _LAST), action="kill", after=after
            )
            ended = self._story(fault)
            self._count("kills of clients" if ended.how == "killed" else "clients that ended before")
            self._no_errors(ended)

    def fails(self, share):
        """A call fails, once or from then on; afterwards all works in the same process."""
        for _ in range(round(8 * share)):
            ever = self.dice.random() < 0.3
            fault = Fault(
                kinds=(self.dice.choice(("send", "receive")),), at=self.dice.randint(1, _LAST), action="fail",
                error=self.dice.choice(_BROKEN), ever=ever,
            )  # fmt: skip
            settings = {**self.where["settings"], **({"busy_timeout": 0.3} if ever else {})}
            ended = self._story(fault, settings=settings, go_on=True)
            self._count("calls that failed" if ended.calls.get("hits") else "without a fault")
            if not ever:
                self._no_errors(ended)

    def cuts(self, share):
        """Connections are cut after any byte, in either direction."""
        with Wire(self.urls["root"]) as wire:
            for _ in range(round(8 * share)):
                direction = self.dice.choice(("to_server", "to_client"))
                before = wire.connections
                wire.cut(**{direction: int(self.dice.random() ** 2 * 120_000)})
                self._no_errors(self._story(None, {**self.urls, "root": wire.url}))
                wire.mend()
                self._count("connections that were cut")
                self._count("connections")
                self.figures["connections"] += wire.connections - before - 1

    def restarts(self, share):
        """The server is killed at any moment, and recovers."""
        settings = {**self.where["settings"], "busy_timeout": 60.0}
        ended = threading.Event()

        def restart():
            while not ended.wait(0.05 + self.dice.random() * 0.3):
                self.machine.server.kill()
                time.sleep(self.dice.random() * 0.1)
                self.machine.server.start()
                self._count("kills of the server")

        for _ in range(round(4 * share)):
            self.machine.outlive(*self.names.values())
            thread = threading.Thread(target=restart)
            ended.clear()
            stories = ["write", "seal", "roll", "evict", "reopen", "delete"]
            thread.start()
            try:
                played = self._run("scenes.play", story=self.dice.choice(stories), settings=settings)
            finally:
                ended.set()
                thread.join()
            if self.where["settings"]["durability"] == "full":
                self._no_errors(played)

    def schema(self, share):
        """Who makes the tables is killed before each send; the next one makes them."""
        for each in self.urls:
            at, ended = 1 + self.dice.randrange(4), None
            while ended is None or ended.how == "killed":
                fault = Fault(kinds=("send",), at=at, action="kill")
                ended = self._run("scenes.upgrade", fault, name=each)
                self._count("kills of upgrades" if ended.how == "killed" else "upgrades")
                at += round(4 / share)
            self._no_errors(self._run("scenes.upgrade", name=each))

    def judge(self, *, lossy):
        """Compare what is there with what was said."""
        self.machine.outlive(*self.names.values())
        lost = "names" if lossy else "nothing"
        self.case.close(self._run("powers.judged", said=self.case.said, lost=lost, aged=False))
