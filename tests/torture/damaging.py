"""Session files that are damaged in all ways, and what they answer: what is right, an error, of an older state, or wrong.

``build`` makes what is damaged, always the same with a seed: a session's file with artifacts of all kinds; the same file as it
was earlier; the session as a killed process left it, with a journal; and another session, whose rows are put where they do not
belong. ``play`` damages copies, one after the other, asks everything, and says what came of each.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import hashlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import traceback
from pathlib import Path

import damages
from scenes import KEY, NO_FLOORS

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError, SpillstoreError
from spillstore.session import new_artifact

MEMORY = 4 * 1024**3  # address space
SETTINGS = {**NO_FLOORS, "redact": False}


class _Clock:
    """Time that goes on by a millisecond whenever it is read."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def time(self):
        self.now += 0.001
        return self.now

    monotonic = time


def _lines(tag, count, end=b"\n"):
    return b"".join(
        b"%s line %09d %s%s" % (tag, number, b"abcdefghijklmnopqrst"[: number % 20], end)
        for number in range(count)
    )


def answers(artifact):
    """What an artifact answers, by what it was asked; of each a function."""
    return {
        "info": lambda: repr(artifact.info),
        "all": lambda: artifact.read_bytes(0, 10**9, holes="skip", max_bytes=10**9),
        "stdout": lambda: artifact.read_bytes(0, 10**9, stream="stdout", holes="skip", max_bytes=10**9),
        "stderr": lambda: artifact.read_bytes(0, 10**9, stream="stderr", holes="skip", max_bytes=10**9),
        "lines": lambda: artifact.read_lines(3, 9, holes="skip"),
        "last lines of stderr": lambda: artifact.read_lines(90, 10**6, stream="stderr", holes="skip"),
        "a middle": lambda: artifact.read_bytes(66_000, 66_100, holes="skip"),
        "time": lambda: artifact.read_time(0, 10**6, holes="skip"),
        "some time": lambda: artifact.read_time(0.05, 10**6, holes="skip"),
        "tail": lambda: artifact.tail(3, holes="skip"),
        "search": lambda: repr([(each.line, each.byte) for each in artifact.search("9+5", limit=5).matches]),
        "count": lambda: artifact.search("line").total_matches,
        "chunks": lambda: b"".join(artifact.chunks(holes="skip")),
        "origin": lambda: repr(artifact.origin()),
        "verify": lambda: repr(artifact.verify()),
    }


QUESTIONS = list(answers(None))
FEW = 4  # of them, where many copies are asked


def _hash(value):
    return hashlib.blake2b(
        value if isinstance(value, bytes) else repr(value).encode(), digest_size=12
    ).hexdigest()


def answered(say, calls, folder, name, keyed):
    """Say what all artifacts of one of the files that were built answer, to who only reads."""
    folder = Path(folder)
    path = folder / f"asked-{name}" / "_" / "s" / "session.db"
    path.parent.mkdir(parents=True, mode=0o700)
    for suffix in ("", "-wal"):
        if (folder / f"{name}.db{suffix}").exists():
            shutil.copy(folder / f"{name}.db{suffix}", f"{path}{suffix}")
    store = Store(path.parents[2], digest_key=KEY if keyed else None, **SETTINGS)
    with store.session("s", read_only=True) as session:
        session.check()
        found = {
            info.id: {
                what: _hash(ask())
                for what, ask in answers(session.artifact(info.id)).items()
                if what != "verify"
            }
            for info in session.infos(limit=100)
        }
    say(answered=found)


def _fill(session, tag, scale):
    """Artifacts of several kinds."""
    session.put(_lines(b"one" + tag, 6000 // scale), source="one", command="make")
    with session.create(source="two", command="two streams") as writer:
        for number in range(900 // scale):
            writer.write(b"out %06d\n" % number)
            if number % 3 == 0:
                writer.write(b"err %06d\n" % number, stream="stderr")
            if number % (100 // scale) == 0:
                writer.flush()
    with session.create(source="rolls", policy="roll", limit=150_000 // scale) as writer:
        for number in range(20):
            writer.write(_lines(b"roll %d" % number, 800 // scale))
            writer.flush()
    session.put(_lines(b"cr", 50, b"\r"), source="cr")
    session.put(json.dumps([{"a": number} for number in range(300)]), content_type="application/json")
    return session.put(_lines(b"gone", 5000 // scale), source="gone").id


def build(say, calls, folder, seed, keyed, scale, noise=0):
    """Make what is damaged; says what it answers. Sizes are divided by ``scale``, those of chunks too; ``noise`` is of that many bytes."""
    new_artifact.CHUNK_SIZE //= scale
    folder = Path(folder)
    numbers = random.Random(f"base {seed}")
    os.urandom = numbers.randbytes  # so that ids, and with them all bytes, are those of the seed
    store = Store(folder / "base", clock=_Clock(), digest_key=KEY if keyed else None, **SETTINGS)
    path = folder / "base" / "_" / "s" / "session.db"
    with store.session("o") as session:
        _fill(session, b"o", scale)
    with store.session("s") as session:
        gone = _fill(session, b"s", scale)
        if noise:
            session.put(random.Random(seed).randbytes(noise), source="noise")
        grows = session.create(source="grows")
        grows.write(_lines(b"grows", 100))
        grows.flush()
        _copied(path, folder / "older.db")
        grows.write(_lines(b"grows", 3000 // scale)[len(_lines(b"grows", 100)) :])
        grows.close(exit_code=4)
        session.artifact(gone).delete()
        empty = session.put(b"", source="empty").id
    shutil.copy(path, folder / "whole.db")
    shutil.copy(folder / "base" / "_" / "o" / "session.db", folder / "foreign.db")
    session = store.session("s")
    young = [
        session.put(_lines(b"young %d" % number, 2500 // scale), source="young").id for number in range(2)
    ]
    going = next(iter(session.artifacts(source="cr"))).id
    session.artifact(going).delete()
    writer = session.create(source="youngest")
    for _ in range(3):
        writer.write(_lines(b"youngest", 500 // scale))
        writer.flush()
    _copied(path, folder / "live.db")
    young.append(writer.id)
    content = {
        young[0]: _lines(b"young 0", 2500 // scale),
        young[1]: _lines(b"young 1", 2500 // scale),
        young[2]: _lines(b"youngest", 500 // scale) * 3,
    }
    young = {key: value.decode() for key, value in content.items()}
    say(
        built={
            "gone": [gone],
            "going": [going],
            "young": young,
            "grew": [grows.id, writer.id],
            "empty": [empty],
        }
    )
    os._exit(0)  # what the journal holds stays there


def _copied(path, to):
    """A copy of a file that is in use, by another program: this process would drop its locks, and a fork closes the file."""
    for suffix in ("", "-wal"):
        if os.path.exists(f"{path}{suffix}"):
            subprocess.run(["cp", f"{path}{suffix}", f"{to}{suffix}"], check=True)


# Of what may give an older state that nobody can tell: without a key, and with one.
MAY_BE_OLDER = {False: {"stale", "replayed", "journal", "whole"}, True: {"journal", "whole"}}
# Of what may give one that ``check`` must tell: pages may happen to be all those of an older session's and its artifacts' rows.
MUST_BE_TOLD = {"stale"}
# Of what may take whole artifacts away, so that nobody can tell: without a key, whoever changes rows, those that have but one;
# with one, older states alone.
MAY_LOSE = {False: {"journal", "whole", "cells", "removed"}, True: {"journal", "whole"}}


def beginnings(content):
    """Whether an answer is that of a beginning of what was written, by what was asked; of each a function of the answer."""
    lines = content.splitlines(keepends=True)
    ends = list(itertools.accumulate(map(len, lines), initial=0))
    found = [(at + 1, ends[at]) for at, line in enumerate(lines) if re.search(b"9+5", line)]
    return {
        "all": content.startswith,
        "stdout": content.startswith,
        "stderr": lambda answer: answer == b"",
        "lines": b"".join(lines[2:9]).startswith,
        "last lines of stderr": lambda answer: answer == b"",
        "a middle": content[66_000:66_100].startswith,
        "time": content.startswith,
        "some time": lambda answer: answer in content,
        "tail": lambda answer: answer in content and answer.count(b"\n") <= 3,
        "search": lambda answer: ast.literal_eval(answer) == found[: len(ast.literal_eval(answer))],
        "count": lambda answer: answer <= len(lines),
        "chunks": content.startswith,
    }


def play(say, calls, folder, seed, first, count, built, keyed, work, quick):
    """Damage copies and ask them; says of each what came of it. Quickly: a few questions, drawn anew for each copy."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    base, work = Path(folder), Path(work)
    for number in range(first, first + count):
        dice, kind, how = damages.drawn(seed, number)
        say(damage=number, kind=kind, how=how)
        root = work / f"{number}"
        database = root / "_" / "s" / "session.db"
        database.parent.mkdir(parents=True, mode=0o700)
        for each in (root, root / "_"):
            each.chmod(0o700)
        shutil.copy(base / "whole.db", database)
        database.chmod(0o600)
        with contextlib.suppress(sqlite3.Error):
            damages.apply(kind, database, dice, base)
        for path in database.parent.iterdir():
            path.chmod(0o600)
        questions = random.Random(f"{seed} questions {number}").sample(QUESTIONS, FEW) if quick else QUESTIONS
        one = _Asked(built, kind, keyed, questions)
        one.ask(root, database, how)
        for text in one.foreign:
            say(foreign=text[:80], at=f"{number} {kind} {how}", text=text)
        for text in one.wrong:
            say(wrong=text, at=f"{number} {kind} {how}")
        say(came=one.came(), kind=kind)
        shutil.rmtree(root)


class _Asked:
    """Everything asked of one damaged session, and what came of it."""

    def __init__(self, built, kind, keyed, questions):
        self.built = built
        self.questions = questions
        self.settings = SETTINGS if questions is QUESTIONS else {**SETTINGS, "audit": "writes"}
        self.kind = kind
        self.keyed = keyed
        self.expected = built["live" if kind == "journal" else "whole"]
        self.wrong, self.foreign = [], []
        self.errors = collections.Counter()
        self.older = False
        self.lost = []
        self.checked = False

    def came(self):
        """One word."""
        if self.foreign or self.wrong:
            return "wrong or foreign"
        if self.lost:
            return "lost, and not told" if self.checked else "lost, and told"
        if self.errors:
            return "an older state, and told" if self.older else "told"
        return "an older state" if self.older else "right"

    def act(self, what, function):
        """Ask; (answer,) or None for an error of ours."""
        try:
            return (function(),)
        except SpillstoreError as error:
            self.errors[type(error).__name__] += 1
        except BaseException as error:
            self.foreign.append(
                f"{type(error).__name__} from {what}\n{''.join(traceback.format_exception(error))[-2500:]}"
            )
        return None

    def ask(self, root, database, how):
        """Open it and ask everything."""
        key = KEY if self.keyed else None
        if how == "file":
            session = self.act("open", lambda: Store.open_file(database, digest_key=key))
        else:
            store = Store(root, digest_key=key, **self.settings)
            session = self.act("open", lambda: store.session("s", create=False, read_only=how == "read"))
        if session is None:
            return
        session = session[0]
        listed = self.act("list", lambda: {info.id for info in session.infos(limit=1000)})
        if listed is not None:
            missing = self.expected.keys() - listed[0]
            self.lost += sorted(missing)
            self._known(listed[0])
        for artifact_id, expected in self.expected.items():
            self._artifact(session, artifact_id, expected)
        self.act("events", session.events)
        self.checked = self.act("check", session.check) is not None
        if how == "write":
            kept = self.act("put", lambda: session.put(b"kept").read_bytes(0, 10))
            if kept not in (None, (b"kept",)):
                self.wrong.append(f"put, and read otherwise: {kept}")
        self.act("close", session.close)
        if self.lost and self.checked and self.kind not in MAY_LOSE[self.keyed]:
            self.wrong.append(f"lost without a word: {self.lost}")
        if (
            self.lost
            and self.checked
            and self.kind == "journal"
            and not set(self.lost) <= {*self.built["young"], *self.built["going"]}
        ):
            self.wrong.append(f"a journal's damage took {self.lost}")
        if self.lost and self.checked and self.kind in {"cells", "removed"}:
            more = {*self.lost} - {*self.built["empty"]}
            if more:
                self.wrong.append(f"lost without a word, and had more than a row: {more}")
        told = not self.checked and self.kind in MUST_BE_TOLD
        if self.older and not told and self.kind not in MAY_BE_OLDER[self.keyed]:
            self.wrong.append("an older state")

    def _begins(self, young, what, answer):
        """Whether that is an answer of a beginning; of what is said about an artifact, nothing is asked here."""
        is_one = beginnings(young.encode()).get(what)
        return is_one is None or is_one(answer)

    def _known(self, listed):
        """What is listed, but was not there any more."""
        more = listed - self.expected.keys()
        known = {*self.built["gone"], *self.built["going"]}
        if more - known:
            self.wrong.append(f"listed, and never there: {more - known}")
        elif more:
            self.older = True

    def _artifact(self, session, artifact_id, expected):
        try:
            artifact = session.artifact(artifact_id)
        except ArtifactNotFoundError:
            self.lost.append(artifact_id)
            return
        except SpillstoreError as error:
            self.errors[type(error).__name__] += 1
            return
        except BaseException as error:
            self.foreign.append(
                f"{type(error).__name__} from artifact\n{''.join(traceback.format_exception(error))[-2500:]}"
            )
            return
        young = self.built["young"].get(artifact_id) if self.kind == "journal" else None
        asked = answers(artifact)
        for what in self.questions:
            answer = self.act(what, asked[what])
            if answer is None or what == "verify" or _hash(answer[0]) == expected[what]:
                continue
            if young is not None:
                if not self._begins(young, what, answer[0]):
                    self.wrong.append(
                        f"{what} of {artifact_id}: no beginning of what was written: {answer[0]!r:.200}"
                    )
                self.older = True
            elif (
                what == "info" and self.kind in MAY_BE_OLDER[self.keyed] and artifact_id in self.built["grew"]
            ):
                self.older = True  # who opens it for writing notes when it was interrupted
            elif _hash(answer[0]) == self.built["older"].get(artifact_id, {}).get(what):
                self.older = True
            else:
                self.wrong.append(f"{what} of {artifact_id}: {answer[0]!r:.200}")
