"""``Spill``: what is held back, what is stored, what is made of it, and what happens when storing fails."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import threading
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from previews import OWN_TIME, expanded, of_stream, reader, spilled, whole, whole_field, writes
from support import NO_FLOORS, examples

from spillstore import Store
from spillstore.exceptions import RangeError, RangeTooLargeError, SessionBusyError, UsageError
from spillstore_tools.output.rendering import render, scanned
from spillstore_tools.output.spill import Spill
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import NAMES
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.profiles.formats.opencode import Opencode

LINES = [b"%06d the quick brown fox jumps over the lazy dog\n" % number for number in range(3000)]
LARGE = b"".join(LINES)
SPILLING = [name for name in NAMES if name != "lace"]


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A session for many examples."""
    store = Store(tmp_path_factory.mktemp("root"), **NO_FLOORS)
    with store.session("test") as session:
        yield session
    store.check()


def unopened():
    raise AssertionError("nobody may open a session for what is shown whole")


# --- what is shown whole ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPILLING)
def test_what_is_shown_whole_opens_no_session(name):
    """The function that gives the session is never called, so no folder is made."""
    spill, rendered = spilled(unopened, name, [(b"little\n", "stdout")])
    assert ("little\n", (), None, None) == (
        rendered.text,
        rendered.omissions,
        spill.artifact,
        spill.problem,
    )


def test_lace_and_keep_all_store_what_is_shown_whole(session):
    """``keep="all"`` and ``lace`` store everything, empty output too."""
    for name, options in (("lace", {}), ("default", {"keep": "all"}), ("pipe", {"keep": "all"})):
        for data in (b"", b"little\n"):
            spill, rendered = spilled(session, name, [(data, "stdout")], **options)
            assert data == spill.artifact.read_bytes(0, 99)
            assert not rendered.was_truncated


@pytest.mark.parametrize("name", SPILLING)
def test_what_turns_out_to_be_little_is_not_kept(session, name):
    """Megabytes of which a terminal would show little: stored on their way, and deleted when all of it is shown."""
    data = b"\x1b[31m" * 40_000 + b"little\n"
    spill, rendered = spilled(session, name, [(data, "stdout")])
    assert "little\n" == rendered.text
    assert spill.artifact is None
    assert [] == list(session.artifacts())


def test_held_output_is_stored_from_its_first_byte(session):
    """What was held back goes into the artifact before what came after."""
    spill, _ = spilled(session, "omni", [(line, "stdout") for line in LINES])
    assert LARGE == spill.artifact.read_bytes(0, len(LARGE) + 1)
    assert len(LARGE) == spill.received


def test_callers_may_reuse_their_buffer(session):
    """A bytearray is copied before ``write`` returns, on every path."""
    spill = Spill(lambda: session, profile_named("omni"), source="bash")
    buffer = bytearray(1000)
    for number in range(200):
        buffer[:] = b"%999d\n" % number
        assert 1000 == spill.write(buffer)
    spill.finish()
    assert b"".join(b"%999d\n" % number for number in range(200)) == spill.artifact.read_bytes(0, 10**6)


def test_only_bytes_are_taken(session):
    """Text is refused with the way out, and so is an unknown stream; nothing of it is counted. Items of a view are bytes."""
    spill = Spill(lambda: session, profile_named("default"), source="bash")
    with pytest.raises(
        UsageError, match=r"takes bytes, not str; encode text first: write\(text.encode\(\)\)"
    ):
        spill.write("text")
    with pytest.raises(RangeError, match="stream must be stdout or stderr, not 'log'"):
        spill.write(b"text", "log")
    assert spill.received == 0
    assert spill.write(memoryview(array("I", [0x61616161, 0x0A616161]))) == 8
    assert (spill.received, spill.finish().text) == (8, "aaaaaaa\n")


def test_a_command_whose_footer_does_not_fit_is_stored(session):
    """7,990 characters and the exit code are more than 8,000: what is cut then can be fetched."""
    data = (b"x" * 79 + b"\n") * 99 + b"y" * 70
    spill, rendered = spilled(session, "default", [(data, "stdout")], is_command=True, exit_code=1)
    assert len(rendered.text) <= 8000
    assert rendered.was_truncated
    assert clean(data) == whole(rendered, reader(spill.artifact))


# --- made again -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@given(
    drawn=writes,
    exit_code=st.sampled_from((None, 0, 3, 127, 137)),
    command=st.sampled_from((None, "", "make test", "a\nb")),
    content_type=st.sampled_from((None, "text/plain", "application/json")),
    newline=st.sampled_from(("lf", "cr", "auto")),
)
@examples(12)
def test_a_stored_artifact_gives_the_same_again(
    shared, name, drawn, exit_code, command, content_type, newline
):
    """Text, omissions, notes, fields, strategy and error flag are those that were shown when the output came."""
    spill, rendered = spilled(
        shared,
        name,
        expanded(drawn),
        command=command,
        content_type=content_type,
        newline=newline,
        is_command=exit_code is not None,
        exit_code=exit_code,
        runtime=OWN_TIME,
        flags=" --session test",
        keep="all",
    )
    assert rendered == render(spill.artifact, profile_named(name), flags=" --session test")
    spill.artifact.delete()


def test_the_signal_is_told_from_the_exit_code(session):
    """Nobody stores a signal; 128 + n stands for it, when output comes and when it is shown again."""
    spill, rendered = spilled(
        session, "default", [(b"x\n", "stdout")], keep="all", is_command=True, exit_code=137
    )
    assert f"x\n[artifact {spill.artifact.id}; exit code 137 (SIGKILL)]\n" == rendered.text
    _, rendered = spilled(unopened, "default", [(b"x\n", "stdout")], is_command=True, exit_code=255)
    assert rendered.text == "x\n[exit code 255]\n"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kinds", [("stdout",), ("stderr", "stdout"), ("stdout", "stderr", "stderr")])
def test_a_hole_is_told_and_the_same_again(tmp_path, name, kinds):
    """A rolled artifact: both texts agree, what cannot be fetched is marked, and what can be is the right bytes."""
    store = Store(tmp_path, artifact_limit=100_000, artifact_policy="roll", **NO_FLOORS)
    profile = profile_named(name)
    if name == "opencode":  # it stops at 200 MB, so it never rolls by itself
        profile = type("Rolling", (Opencode,), {"policy": None, "size_limit": None})()
    written = [(line * 3, kinds[number % len(kinds)]) for number, line in enumerate(LINES)]
    with store.session("test") as session:
        spill, rendered = spilled(session, profile, written)
        artifact = spill.artifact
        assert artifact.info.hole is not None
        assert rendered == render(artifact, profile)
        assert "dropped" in rendered.text.lower() or "not all of it is there any more" in rendered.text
        assert any(each.dropped for each in rendered.omissions)
        for each in rendered.omissions:
            if each.stream == "combined":
                continue
            data = of_stream(written, each.stream)
            if not each.dropped:
                assert data[each.start : each.end] == artifact.read_bytes(
                    each.start, each.end, stream=each.stream
                )
    store.check()


@pytest.mark.parametrize("view", ["stdout", "stderr", "combined"])
def test_a_scan_of_a_rolled_artifact_knows_its_positions(tmp_path, view):
    """Behind a hole lines keep their numbers and bytes their positions, in each view."""
    store = Store(tmp_path, artifact_limit=20_000, artifact_policy="roll", **NO_FLOORS)
    written = [(line, "stderr" if number % 3 else "stdout") for number, line in enumerate(LINES)]
    with store.session("test") as session:
        spill, _ = spilled(session, "lace", written)
        profile = type("OneView", (type(profile_named("lace")),), {"views": (view,)})()
        overview = scanned(spill.artifact, profile, "bash")[view]
        expected = of_stream(written, view) if view != "combined" else LARGE
        last = next(overview.backward())
        assert (len(expected), expected.count(b"\n")) == (overview.size, overview.lines)
        assert expected[last.start : last.end] == last.text.encode()
        assert expected.count(b"\n") == last.number


def test_a_hole_that_tears_a_long_line(tmp_path):
    """One line through the whole hole: the preview names the bytes, and is the same again."""
    store = Store(tmp_path, artifact_limit=100_000, artifact_policy="roll", **NO_FLOORS)
    with store.session("test") as session:
        spill, rendered = spilled(session, "default", [(b"x" * 500_000 + b"\nend\n", "stdout")])
        assert rendered == render(spill.artifact, profile_named("default"))
        assert any(each.dropped for each in rendered.omissions)


def test_lines_of_a_hole_too_long_to_look_at(tmp_path, monkeypatch):
    """A line that is too large to be read where a hole ends counts as torn."""
    store = Store(tmp_path, artifact_limit=20_000, artifact_policy="roll", **NO_FLOORS)
    with store.session("test") as session:
        spill, _ = spilled(session, "omni", [(LARGE, "stdout")])
        artifact = spill.artifact

        def too_large(*arguments, **options):
            raise RangeTooLargeError("more than 64 MiB")

        monkeypatch.setattr(type(artifact), "read_lines", too_large)
        assert render(artifact, profile_named("omni")).omissions[0].dropped


def test_a_running_artifact_can_be_rendered(session):
    """A command that runs still: what it has printed so far, and that it runs."""
    with session.create(source="bash", command="make") as writer:
        writer.write(b"begun\n")
        writer.flush()
        text = render(session.artifact(writer.id), profile_named("default")).text
        assert f"begun\n[artifact {writer.id}; still running]\n" == text
        not_one = render(session.artifact(writer.id), profile_named("default"), is_command=False)
        assert not_one.text == "begun\n"


def test_an_interrupted_artifact_says_why(session):
    """A writer that was aborted: what is kept, the reason, and no exit code."""
    with contextlib.suppress(ZeroDivisionError), session.create(source="bash", command="make") as writer:
        writer.write(b"begun\n")
        raise ZeroDivisionError("oops")
    text = render(session.artifact(writer.id), profile_named("default")).text
    assert text == (
        f"[NOT STORED COMPLETELY: ZeroDivisionError: oops; the first 6 bytes are kept as artifact {writer.id}]\n"
        f"begun\n[artifact {writer.id}; exit code unknown]\n"
    )


# --- storage fails ----------------------------------------------------------------------------------------


def hexes(seed, size):
    """Lines that hardly compress."""
    noise = random.Random(seed)
    return [b"%06d %s\n" % (number, noise.randbytes(40).hex().encode()) for number in range(size // 88)]


def cannot_open(root):
    raise SessionBusyError("another process holds it")


def raises_anything(root):
    raise RuntimeError("an error in the caller's own function")


def root_is_a_file(root):
    root.write_text("")
    return Store(root, **NO_FLOORS).session("test")


def disk_is_full(root):
    return Store(root, **{**NO_FLOORS, "free_disk_floor": 2**61}).session("test")


def quota_is_small(root):
    return Store(root, session_quota=100_000, **NO_FLOORS).session("test")


def too_large(root):
    return Store(root, artifact_policy="reject", artifact_limit=300_000, **NO_FLOORS).session("test")


FAILURES = {
    cannot_open: "another process holds it",
    raises_anything: "an error in the caller's own function",
    root_is_a_file: "is no folder",
    disk_is_full: "must stay free",
    quota_is_small: "may take 100000",
    too_large: "may have 300000",
}


def reasons(name, rendered):
    """Where a profile says what went wrong; opencode degrades in silence, as its document says."""
    if name == "lace":
        return json.loads(rendered.text)["storageError"]
    marks = {
        "default": "[NOT STORED COMPLETELY: ",
        "acode": "[not stored: ",
        "pipe": "Full output file may be incomplete: ",
        "omni": "Full output could not be saved: ",
    }
    return rendered.text[rendered.text.index(marks[name]) :]


CASES = [  # opencode has a limit of its own, where it stops
    (name, failing) for name in NAMES for failing in FAILURES if (name, failing) != ("opencode", too_large)
]


@pytest.mark.parametrize(("name", "failing"), CASES, ids=[f"{n}-{f.__name__}" for n, f in CASES])
def test_a_storage_failure_never_leaves_and_loses_nothing_of_the_preview(tmp_path, name, failing):
    """However storing fails: no exception, both ends shown, the reason told, all that is shown right, nothing twice."""
    lines = hexes(1, 700_000)
    written = [(line, "stderr" if number % 4 == 0 else "stdout") for number, line in enumerate(lines)]
    opened = []

    def open_session():
        opened.append(failing(tmp_path / "root"))
        return opened[0]

    try:
        spill, rendered = spilled(open_session, name, written, command="make", is_command=True, exit_code=0)
        assert spill.problem is not None
        streams = {stream: of_stream(written, stream) for stream in ("stdout", "stderr")}
        streams["combined"] = b"".join(lines)

        def read(each):
            return streams[each.stream][each.start : each.end]

        assert all(each.dropped or spill.artifact is not None for each in rendered.omissions)
        if name == "lace":
            assert [clean(streams[s]) for s in ("stdout", "stderr")] == [
                whole_field(rendered, s, read) for s in ("stdout", "stderr")
            ]
        elif name in {"pipe", "opencode"}:
            assert clean(streams["stdout"]) + clean(streams["stderr"]) == whole(rendered, read)
        else:
            assert clean(streams["combined"]) == whole(rendered, read)
        shown = json.loads(rendered.text)["stdoutPreview"] if name == "lace" else rendered.text
        for line in (lines[1], lines[-1]) if name not in {"pipe", "lace"} else (lines[-2],):
            assert line.decode()[:40] in shown or name == "lace"
        if name == "opencode":
            assert "Full output saved to" not in rendered.text
            assert "stdout truncated: " in rendered.text
        else:
            assert FAILURES[failing] in reasons(name, rendered)
        if name in {"default", "acode", "omni"}:
            assert len(rendered.text) <= 8000
    finally:
        for session in opened:
            session.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_part_that_was_kept_is_named(tmp_path, name):
    """A quota that is met midway: the artifact that has the first bytes is named, and what is behind them is marked."""
    lines = hexes(2, 700_000)
    with Store(tmp_path, session_quota=150_000, **NO_FLOORS).session("test") as session:
        spill = Spill(lambda: session, profile_named(name), source="bash")
        for number, line in enumerate(lines):
            spill.write(line)
            if number == 1300:
                spill._recorder.flush()  # so that something is committed before the quota is met
        rendered = spill.finish()
        artifact = spill.artifact
        kept = artifact.info.size
        assert b"".join(lines)[:kept] == artifact.read_bytes(0, kept)
        assert artifact.info.state == "interrupted"
        assert all(each.dropped == (each.end > kept) for each in rendered.omissions)
        if name != "opencode":
            assert artifact.id in rendered.text
        if name in {"default", "acode", "omni"}:
            assert f"the first {kept} bytes" in rendered.text


def test_a_session_deleted_meanwhile(plain_store):
    """Somebody deletes the session while output comes: the text says so and is whole."""
    session = plain_store.session("test")
    spill = Spill(lambda: session, profile_named("default"), source="bash")
    spill.write(LARGE)
    plain_store.session("test").delete(force=True)
    for line in LINES:
        spill.write(line)
    rendered = spill.finish()
    assert "[NOT STORED COMPLETELY: " in rendered.text
    assert clean(LARGE * 2) == whole(rendered, lambda each: (LARGE * 2)[each.start : each.end])
    session.close()


def test_a_deletion_right_after_the_end(session, monkeypatch):
    """An artifact that cannot be found again once it is closed is told of, not raised."""
    spill = Spill(lambda: session, profile_named("omni"), source="bash")
    spill.write(LARGE)
    found = session.artifact

    def gone(artifact_id):
        found(artifact_id).delete()
        return found(artifact_id)

    monkeypatch.setattr(session, "artifact", gone, raising=False)
    assert "Full output could not be saved: " in spill.finish().text


CR_LINES = b"".join(b"line %d\r" % number for number in range(20_000))


@pytest.mark.parametrize("data", [CR_LINES, b"x" * 70_000 + CR_LINES, CR_LINES + b"\nend\n"])
@pytest.mark.parametrize("pieces", [1, 30])
def test_line_ends_that_show_late(session, data, pieces):
    """CR ends lines where there is no LF, which may be known at the very end only: lines and ranges are right then."""
    size = -(-len(data) // pieces)
    written = [(data[at : at + size], "stdout") for at in range(0, len(data), size)]
    spill, rendered = spilled(session, "default", written, newline="auto")
    terminator = b"\n" if b"\n" in data else b"\r"
    assert {b"\n": "lf", b"\r": "cr"}[terminator] == spill.artifact.info.newline if spill.artifact else True
    if spill.artifact is None:
        assert clean(data) == rendered.text
    else:
        assert clean(data, terminator) == whole(rendered, reader(spill.artifact), terminator)
        assert rendered == render(spill.artifact, profile_named("default"))


def test_an_artifact_that_cannot_be_read_again(session, monkeypatch):
    """Output that must be looked at again (LF came after all) and cannot be: what was seen is shown, and why."""
    spill = Spill(lambda: session, profile_named("default"), source="bash", newline="auto")
    for _ in range(3):
        spill.write(CR_LINES)
    spill.write(LARGE)
    from spillstore import Artifact
    from spillstore.exceptions import IntegrityError

    def broken(*arguments, **options):
        raise IntegrityError("a chunk is damaged")

    monkeypatch.setattr(Artifact, "chunks", broken)
    assert "it cannot be read again: a chunk is damaged" in spill.finish().text


def test_an_artifact_that_cannot_be_deleted_stays(session, monkeypatch):
    """All of it is shown and the artifact should go, but it cannot: the text is whole all the same."""
    from spillstore import Artifact
    from spillstore.exceptions import LockedError

    def locked(artifact):
        raise LockedError("locked by another")

    monkeypatch.setattr(Artifact, "delete", locked)
    spill, rendered = spilled(session, "omni", [(b"\x1b[31m" * 40_000 + b"little\n", "stdout")])
    assert rendered.text == "little\n"
    assert spill.artifact is not None


def test_storing_failed_although_nothing_had_to_be_stored():
    """What is shown whole needs no store: that it could not be opened is not told."""
    data = b"\x1b[31m" * 40_000 + b"little\n"
    spill, rendered = spilled(lambda: cannot_open(None), "default", [(data, "stdout")])
    assert ("little\n", None) == (rendered.text, spill.problem)


def test_everything_should_be_kept_and_is_not():
    """``keep="all"``: all of it is shown, and that nothing is kept is told all the same."""
    _, rendered = spilled(lambda: cannot_open(None), "default", [(b"little\n", "stdout")], keep="all")
    assert (
        rendered.text == "[NOT STORED COMPLETELY: another process holds it; nothing of it was kept]\nlittle\n"
    )


@pytest.mark.long
def test_a_full_disk_midway(tmp_path):
    """A real file-size limit in place of a full disk: every profile still gives its text and says what happened."""
    script = """
import os, resource, signal, sys
from spillstore import Store
from spillstore_tools.profiles import NAMES, profile
from spillstore_tools.output.spill import Spill
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
session = Store(sys.argv[1], free_disk_floor=0).session("test")
session.put(os.urandom(200_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
for name in NAMES:
    spill = Spill(lambda: session, profile(name), source="bash")
    for number in range(100):
        spill.write(os.urandom(20_000).hex().encode() + b"\\n")
    text = spill.finish().text
    print(name, spill.problem is not None, bool(text), flush=True)
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert [f"{name} True True" for name in NAMES] == done.stdout.splitlines()


def test_aborted_output_is_interrupted(session):
    """``abort`` leaves what was stored, with the reason, and drops what was held back."""
    spill = Spill(lambda: session, profile_named("omni"), source="bash")
    spill.write(LARGE)
    spill.abort("the caller gave up")
    assert ("interrupted", "the caller gave up") == (spill.artifact.info.state, spill.artifact.info.reason)
    spill = Spill(unopened, profile_named("omni"), source="bash")
    spill.write(b"little")
    spill.abort("the caller gave up")
    assert spill.artifact is None


# --- limits of the profile and of the store ---------------------------------------------------------------


def test_a_store_that_stops_at_its_limit(tmp_path):
    """``stop``: the beginning is kept and shown; what came behind it is counted, takes no memory, and is the same again."""
    with Store(tmp_path, artifact_policy="stop", artifact_limit=50_000, **NO_FLOORS).session(
        "test"
    ) as session:
        spill = Spill(lambda: session, profile_named("default"), source="bash")
        for line in LINES:
            spill.write(line)
        spill._recorder.flush()
        assert ([], False) == (spill._recorder.sequencer.runs, spill._recorder.sequencer.holding)
        rendered = spill.finish()
        assert f"[the last {len(LARGE) - 50_000} bytes were not kept: " in rendered.text
        assert clean(LARGE[:50_000]) == whole(rendered, reader(spill.artifact))
        assert rendered == render(spill.artifact, profile_named("default"))


# --- threads and memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_two_threads_write_their_streams(session, name):
    """Both streams from two threads at once: both are stored whole, and the text is what the artifact gives."""
    spill = Spill(lambda: session, profile_named(name), source="bash")

    def write(stream):
        for number in range(4000):
            spill.write(b"%s %d %s\n" % (stream.encode(), number, b"x" * 30), stream)

    threads = [threading.Thread(target=write, args=(stream,)) for stream in ("stdout", "stderr")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rendered = spill.finish()
    artifact = spill.artifact
    streams = {
        stream: b"".join(b"%s %d %s\n" % (stream.encode(), number, b"x" * 30) for number in range(4000))
        for stream in ("stdout", "stderr")
    }
    for stream, expected in streams.items():
        assert expected == artifact.read_bytes(0, 10**7, stream=stream)
    assert rendered == render(artifact, profile_named(name))


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["default", *(pytest.param(each, marks=pytest.mark.slow) for each in NAMES if each != "default")]
)
def test_memory_stays_flat(tmp_path, name):
    """60 MB through each profile: the process stays below 150 MB."""
    script = """
import resource, sys
from spillstore import Store
from spillstore_tools.profiles import profile
from spillstore_tools.output.spill import Spill
with Store(sys.argv[1], free_disk_floor=0).session("test") as session:
    spill = Spill(lambda: session, profile(sys.argv[2]), source="bash")
    block = b"".join(b"%06d a line as a tool prints it\\n" % number for number in range(30_000))
    for _ in range(60_000_000 // len(block) + 1):
        spill.write(block)
    text = spill.finish().text
    try:  # getrusage counts the process before exec, too
        peak = 1024 * int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(len(text), peak)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), name], capture_output=True, text=True, check=True
    )
    shown, peak = map(int, done.stdout.split())
    assert 0 < shown < 120_000
    assert peak < 150_000_000
