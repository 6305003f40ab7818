"""Damaged session files that are salvaged, and a judge of what was got: ``play`` damages copies of what ``damaging.build`` has made.

What an artifact was is known from the files before they were damaged, today's and earlier ones: for each its pieces, by the byte
at which they begin. Nothing else may come out; what does not come out is told; and of a chunk whose pages are as they were it
does, if the pages of its artifact's row and of the session's are, too.
"""

from __future__ import annotations

import contextlib
import resource
import shutil
import sqlite3
import traceback
from pathlib import Path

import damages
from damaging import MEMORY, SETTINGS
from scenes import KEY

from spillstore import Store
from spillstore.exceptions import DigestKeyError, SpillstoreError

STATES = ("whole", "older", "live")
ALL = 10**9


def pieces(session):
    """Of each artifact of a session its size in a chunk, and its bytes by where they begin."""
    out = {}
    for info in session.infos(limit=1000):
        hole, artifact = info.hole, session.artifact(info.id)
        ends = [(0, info.size)] if hole is None else [(0, hole.start), (hole.end, info.size)]
        out[info.id] = (
            info.chunk_size,
            [(start, artifact.read_bytes(start, end, max_bytes=ALL)) for start, end in ends if start < end],
        )
    return out


def known(base, keyed):
    """The pieces of all artifacts, as they are and as they were, by the name of a state."""
    found = {}
    for name in STATES:
        store = Store(base / f"asked-{name}", digest_key=KEY if keyed else None, **SETTINGS)
        with store.session("s", read_only=True) as session:
            found[name] = pieces(session)
    return found


class Places:
    """On which pages a file has the rows of chunks, of artifacts and of the session."""

    def __init__(self, path):
        self.raw = path.read_bytes()
        self.chunks, self.artifacts, self.session = {}, {}, set()
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            (self.size,) = connection.execute("PRAGMA page_size").fetchone()
            names = {
                "chunk": "SELECT artifact_id, seq FROM chunk JOIN artifact USING (session_key, artifact_key) ORDER BY chunk.rowid",
                "artifact": "SELECT artifact_id FROM artifact ORDER BY rowid",
                "session": "SELECT session_id FROM session ORDER BY rowid",
            }
            for table, query in names.items():
                self._take(connection, table, connection.execute(query).fetchall())

    def _take(self, connection, table, rows):
        """Find the pages of a table's rows, which lie in its leaves in their order."""
        rest, of_cell = iter(rows), {}
        pages = connection.execute(
            "SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ? ORDER BY path", (table,)
        ).fetchall()
        into = {"chunk": self.chunks, "artifact": self.artifacts}.get(table)
        for path, number, kind, cells in pages:
            if kind == "leaf" and into is None:
                self.session.add(number)
            elif kind == "leaf":
                for cell in range(cells):
                    row = next(rest)
                    of_cell[f"{path}{cell:03x}"] = row
                    into[row if table == "chunk" else row[0]] = {number}
        for path, number, kind, _ in pages:
            if kind == "overflow" and into is not None:
                row = of_cell[path.partition("+")[0]]
                into[row if table == "chunk" else row[0]].add(number)

    def changed(self, raw):
        """The pages that another file has not, or has otherwise."""
        size = self.size
        return {
            at // size + 1
            for at in range(0, len(self.raw), size)
            if self.raw[at : at + size] != raw[at : at + size]
        }

    def whole(self, raw):
        """The chunks that another file must have, whatever else has become of it."""
        changed = self.changed(raw)
        if changed & self.session:
            return []
        return [
            (name, seq)
            for (name, seq), pages in self.chunks.items()
            if not (pages | self.artifacts[name]) & changed
        ]


def play(say, calls, folder, seed, first, count, keyed, young, work):
    """Damage copies and salvage them; says of each what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    base, work = Path(folder), Path(work)
    states, places = known(base, keyed), {name: Places(base / name) for name in ("whole.db", "older.whole")}
    for number in range(first, first + count):
        dice, kind, how = damages.drawn(seed, number)
        say(damage=number, kind=kind, how=how)
        root = work / f"{number}"
        database = root / "from" / "_" / "s" / "session.db"
        database.parent.mkdir(parents=True, mode=0o700)
        for each in (root, root / "from", root / "from" / "_"):
            each.chmod(0o700)
        shutil.copy(base / "whole.db", database)
        with contextlib.suppress(sqlite3.Error):
            damages.apply(kind, database, dice, base)
        for path in database.parent.iterdir():
            path.chmod(0o600)
        one = _Salvaged(states, kind, keyed, places, young)
        one.salvage(root, database, by_name=how == "file")
        for text in one.wrong:
            say(wrong=text, at=f"{number} {kind}")
        say(came=one.came, kind=kind, whole=one.whole)
        shutil.rmtree(root)


class _Salvaged:
    """One damaged file, and what came out of it."""

    def __init__(self, states, kind, keyed, places, young):
        self.states = states
        self.young = young
        self.kind = kind
        self.keyed = keyed
        self.places = places
        self.wrong = []
        self.came = ""
        self.whole = 0  # chunks that had to be got

    def salvage(self, root, database, *, by_name):
        """Salvage it into a store of its own, and judge."""
        before = {path.name: path.read_bytes() for path in database.parent.iterdir()}
        raw = before["session.db"]
        store = Store(root / "to", digest_key=KEY if self.keyed else None, **SETTINGS)
        try:
            named = (root / "from", "s") if by_name else (database, None)
            report = store.salvage(named[0], session_id=named[1])
            after = {path.name: path.read_bytes() for path in database.parent.iterdir()}
            if after != before:
                self.wrong.append("the damaged file was changed")
            with store.session("s", create=False, read_only=True) as session:
                session.check()
                self._judge(report, pieces(session), raw)
                told = {event.artifact_id for event in session.events(kind="salvage", limit=1000)}
                if told != {each.id for each in report.artifacts if not each.complete}:
                    self.wrong.append(f"the audit log tells of {told}")
            self.came = "complete" if report.complete else "in part"
        except DigestKeyError as error:
            self.came = "no key"
            if not self.keyed or self._session_is_whole(raw):
                self.wrong.append(f"no key: {error}")
        except SpillstoreError as error:
            self.came = "refused"
            self.wrong.append(f"refused: {type(error).__name__}: {error}")
        except BaseException as error:
            self.came = "foreign"
            self.wrong.append(f"{type(error).__name__}\n{''.join(traceback.format_exception(error))[-2500:]}")

    def _session_is_whole(self, raw):
        place = self.places["whole.db"]
        return self.kind not in {"journal", "whole"} and not place.changed(raw) & place.session

    def _judge(self, report, new, raw):
        got = {}
        for each in report.artifacts:
            _, own = new[each.id]
            got[each.id] = list(own)
            for part in each.parts:
                (_, inner) = new[part.id]
                if sum(len(text) for _, text in inner) != part.range.end - part.range.start:
                    self.wrong.append(f"{part.id} is not as long as it is said to be")
                got[each.id] += [(part.range.start + start, text) for start, text in inner]
            self._was_stored(each, got[each.id])
            self._is_told(each, got[each.id])
        there = {*got, *(part.id for each in report.artifacts for part in each.parts)}
        if new.keys() != there:
            self.wrong.append(f"not told of: {new.keys() ^ there}")
        self._all_whole(got, raw)
        self._none_is_lost_without_a_word(report, got)

    def _was_stored(self, each, own):
        """No byte that was not, at its place."""
        ever = [piece for state in self.states.values() for piece in state.get(each.id, (0, ()))[1]]
        for start, text in own:
            if not any(
                at <= start and text == whole[start - at : start - at + len(text)] for at, whole in ever
            ):
                self.wrong.append(f"{each.id} has {len(text)} bytes at {start} that were not stored there")

    def _is_told(self, each, own):
        """What is there and what is said to be missing is what there was, in one of the states."""
        there = sorted((start, start + len(text)) for start, text in own if text)
        gone = sorted((gap.start, gap.end) for gap in each.missing)
        if each.size != sum(end - start for start, end in there):
            self.wrong.append(f"{each.id} is said to have {each.size} bytes: {there}")
        if each.complete != (each.known and not gone):
            self.wrong.append(f"{each.id} is said to be complete: {each.complete}, without {gone}")
        if not each.known:
            return
        wanted = [
            merged([(at, at + len(text)) for at, text in state[each.id][1]])
            for state in self.states.values()
            if each.id in state
        ]
        if (
            self.kind == "journal" and each.id in self.young
        ):  # one that ends earlier has less of what was being written
            size = sum(end - start for start, end in there + gone)
            wanted.append([(0, size)] if size else [])
        if merged(there + gone) not in wanted:
            self.wrong.append(f"{each.id}: there {there}, said to be missing {gone}, of {wanted}")

    def _all_whole(self, got, raw):
        """Each chunk whose pages are as they were is got."""
        if self.kind == "journal":
            return  # which pages of it count, another judge would have to find out like salvaging does
        name, state = ("older.whole", "older") if self.kind == "whole" else ("whole.db", "whole")
        place = self.places[name]
        if self.kind == "whole" and place.changed(raw):
            return  # with a journal
        for artifact, seq in place.whole(raw):
            if artifact not in self.states[state]:
                continue  # it was deleted
            self.whole += 1
            start = seq * self.states[state][artifact][0]
            if not any(at <= start < at + len(text) for at, text in got.get(artifact, ())):
                self.wrong.append(f"chunk {seq} of {artifact} is whole, and was not got")

    def _none_is_lost_without_a_word(self, report, got):
        """An artifact of which nothing was found, while all is said to be there."""
        if not report.complete or self.kind in {"journal", "whole"}:
            return
        whole = self.states["whole"]
        if lost := sorted(whole.keys() - got.keys()):
            self.wrong.append(f"said to be complete, without {lost}")
        older = [name for name, (_, own) in whole.items() if name in got and got[name] != own]
        if older and self.keyed:
            self.wrong.append(f"said to be complete, with an older state of {older}")


def merged(ranges):
    """Ranges that touch each other made one; an overlap stays, and is seen."""
    out = []
    for start, end in sorted(ranges):
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out
