"""What the processes of the campaigns do: one story for each thing that changes a store, small enough to fail at every call.

Each is a function of a ``Scene``. It must go on whatever has failed, and ends with its sessions open or closed, as it likes.
``PREPARED`` is what a process does beforehand, where nothing fails; its promises are kept, too.
"""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

from scenes import content

SESSIONS = Path(__file__).parents[1] / "data" / "sessions" / "schema-1"


# Of texts, to be made before processes are forked.
NAMES = (
    *(
        "tiny",
        "large",
        "cr",
        "gone",
        "stays",
        "old",
        "new",
        "a",
        "b",
        "c",
        "after",
        "one",
        "three",
        "cut",
        "afterwards",
    ),
    *(f"{name} {stream}" for name in ("w", "rolls", "spooled", "two") for stream in ("out", "err")),
    *(f"evicted {number}" for number in range(4)),
    *(f"time {number}" for number in range(3)),
)


def write(scene):
    """A session is made, an artifact written in pieces and sealed."""
    session = scene.open("s")
    writer = scene.begin(session, "w")
    for _ in range(3):
        scene.write(writer, 20_000, 1_500)
    scene.seal(writer)
    scene.close(session)


def seal(scene):
    """Artifacts of several kinds, one after the other; one without a line end, one of CR; notes."""
    session = scene.open("s")
    scene.put(session, "tiny", 7)
    scene.put(session, "large", 150_000)
    scene.put(session, "cr", 30_000, cr=True)
    if session is not None:
        scene.do("note", lambda: session.note("noted", {"x": 1}))
    writer = scene.begin(session, "spooled", spool=30_000)
    scene.write(writer, 29_000, flush=False)
    scene.write(writer, 40_000, flush=False)
    scene.seal(writer)
    scene.close(session)


def roll(scene):
    """An artifact drops its middle."""
    session = scene.open("s")
    writer = scene.begin(session, "rolls", policy="roll", limit=140_000)
    for _ in range(5):
        scene.write(writer, 70_000)
    scene.seal(writer)


def evict(scene):
    """A session is full, and deletes what it can."""
    session = scene.open("evicts", scene.store(session_quota=400_000, session_policy="evict"))
    for number in range(4):
        scene.put(session, f"evicted {number}", 300_000)
    scene.close(session)


def delete(scene):
    """An artifact is deleted, one stays; the session is deleted and made anew."""
    session = scene.open("s")
    gone = scene.put(session, "gone", 140_000)
    scene.put(session, "stays", 5000)
    scene.delete(session, gone)
    scene.close(session)
    session = scene.open("d")
    scene.put(session, "old", 5000)
    scene.close(session)
    scene.delete_session("d")
    session = scene.open("d")
    scene.put(session, "new", 6000)


def many(scene):
    """Sessions that are closed."""
    for name in ("a", "b", "c"):
        session = scene.open(name)
        scene.put(session, name, 30_000)
        scene.close(session)


def collect(scene):
    """All are collected, but one that is open."""
    session = scene.open("c")
    scene.collect(older_than=-1e6)
    scene.put(session, "after", 5000)
    if session is not None:
        scene.do("kept events", lambda: scene.store().deleted_events("a"))


def age(scene):
    """A session of an earlier schema."""
    place = scene.root / "root" / "web" / "chat-42"
    if place.exists():
        return
    place.mkdir(parents=True, mode=0o700)
    for folder in (scene.root / "root", scene.root / "root" / "web"):
        folder.chmod(0o700)
    name = "keyed" if scene.keyed else "plain"
    (place / "session.db").write_bytes(gzip.decompress((SESSIONS / f"{name}.db.gz").read_bytes()))
    (place / "session.db").chmod(0o600)


def aged(keyed):
    """What the session of an earlier schema answers: of each sealed artifact its digest."""
    infos = json.loads((SESSIONS / ("keyed.json" if keyed else "plain.json")).read_text(encoding="utf-8"))[
        "infos"
    ]
    return {info["id"]: (info["digest"], info["size"]) for info in infos if info["state"] == "sealed"}


def migrate(scene):
    """It is opened by a writer, which upgrades it."""
    session = scene.open("chat-42", project="web")
    if session is None:
        return
    infos = scene.do("list", lambda: list(session.infos(state="sealed", limit=100)))
    if infos is not None:
        found = {info.id: (info.digest, info.size) for info in infos}
        if not aged(scene.keyed).items() <= found.items():
            scene.say(wrong="an upgraded session", text=f"{found!r:.500}")
    scene.do("put", lambda: session.put(b"new\n"))


def original(scene):
    """A session to be copied, and one in its way."""
    session = scene.open("o")
    scene.put(session, "one", 90_000)
    writer = scene.begin(session, "two")
    scene.write(writer, 70_000, 3000)
    scene.seal(writer)
    scene.close(session)
    session = scene.open("p")
    scene.put(session, "three", 9000)
    scene.close(session)


def copy(scene):
    """Sessions are copied to another store; one replaces the copy that was made before."""
    scene.copy("o", "other")
    scene.copy("p", "other")
    scene.copy("p", "other", replace=True)


def reopen(scene):
    """A session is opened and closed again and again, by readers, too."""
    for number in range(3):
        session = scene.open("s")
        scene.put(session, f"time {number}", 3000)
        reader = scene.open("s", read_only=True)
        if reader is not None:
            scene.do("list", reader.infos)
        scene.close(reader if number % 2 else session)
        scene.close(session if number % 2 else reader)


def _read_one(scene, artifact):
    """Read the artifact ``one`` in all ways."""
    text = content("one", 90_000)
    lines = text.splitlines(keepends=True)
    found = sum(line.startswith(b"one 0") for line in lines)
    scene.right("read_bytes", lambda: artifact.read_bytes(0, 10**6), text)
    scene.right("read_lines", lambda: artifact.read_lines(900, 910), b"".join(lines[899:910]))
    scene.right("tail", lambda: artifact.tail(2), b"".join(lines[-2:]))
    scene.right("read_time", lambda: artifact.read_time(0, 1e9), text)
    scene.right("chunks", lambda: b"".join(artifact.chunks()), text)
    scene.right("search", lambda: artifact.search("^one 0").total_matches, found)
    scene.right("verify", lambda: artifact.verify().size, len(text))


def _export(scene, artifact, target):
    if scene.do("export", lambda: (artifact.export(target),)) is None:
        return
    with contextlib.suppress(OSError):  # of ours
        exported = target.read_bytes()
        scene.right("what was exported", lambda: exported, content("one", 90_000))


def _read_all(scene, session, target):
    for artifact in scene.do("list", lambda: list(session.artifacts(state="sealed"))) or ():
        if scene.do("info", lambda found=artifact: found.info.source) == "one":
            _read_one(scene, artifact)
            _export(scene, artifact, target)
    scene.do("events", session.events)
    scene.do("check", session.check)


def read(scene):
    """What is there is read in all ways, and exported; the reads are recorded."""
    for read_only in (True, False):
        session = scene.open("o", read_only=read_only)
        if session is not None:
            _read_all(scene, session, scene.root / f"exported {read_only}")
        scene.close(session)
    sessions = scene.do("sessions", lambda: sorted(info.id for info in scene.store().sessions()))
    if sessions not in (None, ["o", "p"]):
        scene.say(wrong="sessions", text=repr(sessions))
    scene.do("check all", scene.store().check)


def _answers(scene, what, function, *parts):
    try:
        text = function()
    except BaseException as error:
        import traceback

        scene.say(
            foreign=type(error).__name__, at=what, text="".join(traceback.format_exception(error))[-3000:]
        )
        return
    missing = [part for part in parts if part not in text]
    if missing:
        scene.say(wrong=f"{what} does not show {missing}", text=text[-700:])


def tool(scene):
    """A model calls the tool ``bash``, and a result of another tool is cut; each answers with its preview, whatever fails."""
    from spillstore_tools import TruncationProcessor
    from spillstore_tools.agent.bash import BashTool

    store = scene.store()
    bash = BashTool(lambda: store.session("tools"))
    shown = ("1\n2\n3\n", "\n30000\n", "exit code 3]")
    _answers(scene, "bash", lambda: bash.call_sync({"command": "seq 1 30000; exit 3"}).text, *shown)
    _answers(scene, "bash, little", lambda: bash.call_sync({"command": "echo hello"}).text, "hello")
    session = scene.open("s")
    processor = TruncationProcessor(lambda: store.session("other"))
    text = content("cut", 300_000).decode()
    parts = (text[:100], text[-30:])
    _answers(scene, "a cut result", lambda: processor.process(text, "read_file").content, *parts)
    if session is not None:
        processor = TruncationProcessor(session)
        _answers(scene, "another cut result", lambda: processor.process(text, "read_file").content, *parts)
    _answers(scene, "bash again", lambda: bash.call_sync({"command": "seq 1 30000; exit 3"}).text, *shown)
    scene.do("close the tool", bash.close)


STORIES = {
    each.__name__: each
    for each in (
        write,
        seal,
        roll,
        evict,
        delete,
        collect,
        migrate,
        copy,
        reopen,
        read,
        tool,
        many,
        age,
        original,
    )
}
PREPARED = {"collect": "many", "migrate": "age", "copy": "original", "read": "original"}
# Those that change a store.
PLAYED = ("write", "seal", "roll", "evict", "delete", "collect", "migrate", "copy", "reopen", "read", "tool")
