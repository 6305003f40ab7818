"""``spillstore view`` through Textual's pilot: keys, what stands on the screen, artifacts of every kind."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

pytest.importorskip("textual", reason="the extra `view` is not installed")

from spillstore_tools import profile, render
from spillstore_tools.cli.commands.view import list_options
from spillstore_tools.viewer.terminal.app import Viewer
from spillstore_tools.viewer.terminal.keys import LIST_KEYS, LOG_KEYS
from spillstore_tools.viewer.terminal.log_screen import LogScreen
from spillstore_tools.viewer.terminal.log_view import LogView
from spillstore_tools.viewer.terminal.prompts import ChangesScreen, Help, LongLine

pytestmark = pytest.mark.everywhere
LOOKS = 2000  # pauses of the pilot after which what must come has not come


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def drive(session, artifact, play, *, size=(100, 24), **options):
    """Run the viewer without a terminal, and ``play`` on it."""

    async def run():
        app = Viewer(list_options, session=session, artifact=artifact, **options)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await play(app, pilot)

    asyncio.run(run())


def shown(app):
    """The lines of the log on the screen, without gutter."""
    view = app.screen.query_one(LogView)
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def status(app):
    return str(app.screen.query_one("#status").render())


async def until(pilot, condition):
    """Wait for something that comes from a thread: so many looks."""
    for _ in range(LOOKS):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError(f"it did not come; the status is {status(pilot.app)!r}")


async def typed(pilot, text):
    for each in text:
        await pilot.press({"%": "percent_sign", " ": "space", ".": "full_stop", "-": "minus"}.get(each, each))
    await pilot.press("enter")
    await pilot.pause()


LINES = [f"line {number} of this log".encode() for number in range(1, 5001)]


@pytest.mark.parametrize("size", [(100, 24), (20, 5), (300, 100)])
def test_the_text_on_the_screen_is_that_of_read_lines(session, size):
    """At the beginning, in the middle and at the end, at every size of the terminal."""
    artifact = session.put(b"\n".join(LINES) + b"\n")

    async def play(app, pilot):
        view = app.screen.query_one(LogView)
        for keys, cursor in (((), 1), (("G",), 5000), (("g",), 1), ((":",), 2500)):
            await pilot.press(*(("colon",) if keys == (":",) else keys))
            if keys == (":",):
                await typed(pilot, "2500")
            await pilot.pause()
            assert view.cursor == cursor - 1
            first = int(view.scroll_offset.y) + 1
            wanted = artifact.read_lines(first, first + view.size.height - 1).decode().splitlines()
            room = view.size.width - 6
            assert [line[6:] for line in shown(app)] == [
                each if len(each) <= room else f"{each[: room - 1]}>".rstrip() for each in wanted
            ]

    drive(session, artifact, play, size=size)


def test_positions_are_lines_shares_and_times(session, monkeypatch):
    """A line, per cent, and a time each lead to their row; what is none is told."""
    artifact = session.put(b"\n".join(LINES) + b"\n")

    async def play(app, pilot):
        view = app.screen.query_one(LogView)
        for key, text, row in (("percent_sign", "50", 2500), ("colon", "10%", 500), ("at", "3000", 4999)):
            await pilot.press(key)
            await typed(pilot, text)
            assert view.cursor == pytest.approx(row, abs=1)
        await pilot.press("colon")
        await typed(pilot, "nowhere")
        assert "'nowhere' is no position" in status(app)

    drive(session, artifact, play)


def test_a_search_counts_and_goes_to_hits(session):
    """``/`` goes to the first hit, ``n`` and ``N`` on and back, ``?`` the other way; the status has the count."""
    artifact = session.put(b"\n".join(LINES) + b"\n")

    async def play(app, pilot):
        view = app.screen.query_one(LogView)
        await pilot.press("slash")
        await typed(pilot, "line [0-9]*77 ")
        await until(pilot, lambda: view.cursor == 76)
        await until(pilot, lambda: "50 lines" in status(app) and "searched" not in status(app))
        await pilot.press("n")
        await until(pilot, lambda: view.cursor == 176)
        await pilot.press("N")
        await until(pilot, lambda: view.cursor == 76)
        await pilot.press("G", "question_mark")
        await typed(pilot, "line 4[0-9]* ")
        await until(pilot, lambda: view.cursor == 4998)
        await pilot.press("slash")
        await typed(pilot, "(")
        assert "regular expression" in status(app) or "pattern" in status(app)

    drive(session, artifact, play)


def test_lines_that_matter(session):
    """``e`` and ``E`` go to errors, and say where there are no more."""
    lines = [*LINES]
    lines[2999] = b"src/a.c:3: error: boom"
    artifact = session.put(b"\n".join(lines) + b"\n")

    async def play(app, pilot):
        view = app.screen.query_one(LogView)
        await pilot.press("e")
        await until(pilot, lambda: view.cursor == 2999)
        await pilot.press("e")
        await until(pilot, lambda: "no line that matters behind" in status(app))
        await pilot.press("G", "E")
        await until(pilot, lambda: view.cursor == 2999)

    drive(session, artifact, play)


def test_marks_show_what_the_model_saw(session):
    """A row that the preview showed has a mark, one that it left out another, and one that was read later a third."""
    artifact = session.put(b"\n".join(LINES) + b"\n", source="make")
    with session.acting("model", "call_1"):
        render(artifact, profile("default"))
        artifact.read_lines(2001, 2003)

    async def play(app, pilot):
        await pilot.press("m", "e")  # what goes somewhere does not end the marks
        await until(pilot, lambda: "█" in shown(app)[0])
        await pilot.press("m", "m")
        await until(pilot, lambda: "model saw" in status(app))
        assert "1 later read" in status(app)
        assert "█" in shown(app)[0]
        await pilot.press("colon")
        await typed(pilot, "2001")
        rows = [line for line in shown(app) if "◆" in line]
        assert [line.partition("line ")[2].split()[0] for line in rows] == ["2001", "2002", "2003"]
        assert all("·" in line for line in rows)
        view = app.screen.query_one(LogView)
        await pilot.press("g", "r")
        await until(pilot, lambda: view.cursor == 2000)
        await pilot.press("r")
        await until(pilot, lambda: "nothing behind this was read later" in status(app))
        await pilot.press("G", "R")
        await until(pilot, lambda: view.cursor == 2000)
        await pilot.press("m")
        assert not any("◆" in line for line in shown(app))

    drive(session, artifact, play)


def test_streams_apart(session):
    """``1``, ``2`` and ``0`` show a stream or both, at the same place."""
    with session.create(newline="lf") as writer:
        for number in range(1, 101):
            writer.write(f"out {number}\n")
            writer.write(f"err {number}\n", stream="stderr")
    artifact = session.artifact(writer.id)

    async def play(app, pilot):
        await pilot.press("colon")
        await typed(pilot, "100")
        await pilot.press("2")
        await pilot.pause()
        view = app.screen.query_one(LogView)
        assert view.shown.stream == "stderr"
        assert view.shown.line_of_row(view.cursor) == 50
        await pilot.press("1")
        await pilot.pause()
        assert all("err" not in line for line in shown(app))
        await pilot.press("0")
        await pilot.pause()
        assert view.shown.total == 200

    drive(session, artifact, play)


def test_an_artifact_that_grows_is_followed(session):
    """``f`` stays at the end while more comes; without it, the last line can still be reached."""
    writer = session.create(newline="lf")
    writer.write("first\n")
    writer.flush()
    artifact = session.artifact(writer.id)

    async def play(app, pilot):
        view = app.screen.query_one(LogView)
        await pilot.press("f")
        writer.write("".join(f"more {number}\n" for number in range(200)))
        writer.flush()
        await until(pilot, lambda: view.cursor == 200)
        assert any("more 199" in line for line in shown(app))
        writer.close()
        await until(pilot, lambda: "sealed" in str(app.screen.query_one("#title").render()))

    drive(session, artifact, play)
    writer.close()


def test_what_was_dropped_is_a_row_that_says_so(session):
    """A rolled artifact has one row for its hole; those around it are its lines."""
    artifact = session.put(b"\n".join(LINES) + b"\n", limit=70_000, policy="roll")
    hole = artifact.info.hole
    assert hole is not None

    async def play(app, pilot):
        assert "not all of it is here" in status(app)
        view = app.screen.query_one(LogView)
        row = view.shown.hole.index
        view.go(row)
        await pilot.pause()
        assert any(f"bytes {hole.start:,} to {hole.end:,}" in line for line in shown(app))
        await pilot.press("G")
        assert any("line 5000 of" in line for line in shown(app))

    drive(session, artifact, play)


def test_binary_content_is_hex(session):
    """Sixteen bytes a row, with what ASCII can show of them."""
    artifact = session.put(b"\x7fELF" + bytes(range(256)) * 8)

    async def play(app, pilot):
        assert "7f 45 4c 46 00 01" in shown(app)[0]
        assert ".ELF" in shown(app)[0]
        await pilot.press("G", "e")
        await until(pilot, lambda: "no line that matters" in status(app))

    drive(session, artifact, play)


def test_hostile_bytes_are_inert(session):
    """No escape sequence, no control character and no invisible one reaches the terminal."""
    hostile = b"\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\r\xe2\x80\xae\x9b5m\xff\x00\x08end\n"
    artifact = session.put(hostile * 30, command="\x1b[2Jmake\n")

    async def play(app, pilot):
        for _ in range(2):
            for line in shown(app):
                assert all(character.isprintable() for character in line)
            assert any("end" in line for line in shown(app))
            await pilot.press("a")
        assert any("red" in line and "[31m" not in line for line in shown(app))
        assert "\x1b" not in str(app.screen.query_one("#title").render())

    drive(session, artifact, play)


def test_an_empty_artifact(session):
    """It says that it is empty, and no key fails."""
    artifact = session.put(b"")

    async def play(app, pilot):
        assert "empty" in status(app)
        for key in LOG_KEYS:
            name = key.names.split(",")[0]
            if (
                key.action in {"end", "leave", "go", "go_percent", "go_time", "export", "help"}
                or "search" in key.action
            ):
                continue
            await pilot.press(name)
            await pilot.pause()

    drive(session, artifact, play)


def test_a_line_of_five_megabytes(session):
    """Its beginning is a row, and Enter shows all of it."""
    artifact = session.put(b"a" * 100 + b"x" * 5_000_000 + b"THE END\nshort\n")

    async def play(app, pilot):
        assert "aaaa" in shown(app)[0]
        assert "short" in shown(app)[1]
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, LongLine)
        width = 98
        assert "THE END" in app.screen.strip(app.screen.total(width) - 1, width).text
        await pilot.press("escape")
        assert isinstance(app.screen, LogScreen)

    drive(session, artifact, play)


def test_what_has_changed_since_the_run_before(session):
    """``d`` lists what is new and gone; Enter goes to a line."""
    session.put(b"start\ntest_a ok\ntest_b ok\n", source="make", command="make test")
    artifact = session.put(b"start\ntest_a ok\ntest_b FAILED\n", source="make", command="make test")

    async def play(app, pilot):
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ChangesScreen))
        texts = [app.screen.strip(index, 80).text for index in range(app.screen.total(80))]
        assert "+3: test_b FAILED" in texts
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(app.screen, LogScreen))
        assert app.screen.query_one(LogView).cursor == 2

    drive(session, artifact, play)


def test_the_call_and_the_file(session, tmp_path, monkeypatch):
    """``y`` copies a call for what is selected; ``x`` writes it to a file, and never over another."""
    artifact = session.put(b"\n".join(LINES) + b"\n")
    monkeypatch.chdir(tmp_path)

    async def play(app, pilot):
        await pilot.press("j", "v", "j", "y")
        assert f"spillstore show {artifact.id} --lines 2-3" in app.clipboard
        await pilot.press("x", "enter")
        target = tmp_path / f"{artifact.id}-2-3.log"
        await until(pilot, lambda: str(target) in status(app))
        assert target.read_bytes() == artifact.read_lines(2, 3)
        await pilot.press("x", "enter")
        await until(pilot, lambda: "is there already" in status(app))
        await pilot.press("escape", "x", "enter")
        whole = tmp_path / f"{artifact.id}.log"
        await until(pilot, lambda: str(whole) in status(app))
        assert whole.read_bytes() == artifact.read()

    drive(session, artifact, play)


def test_escape_ends_what_goes_on_and_q_leaves(session):
    """``Esc`` ends a selection and stays; ``q`` leaves, whatever goes on."""
    artifact = session.put(b"\n".join(LINES) + b"\n")

    async def play(app, pilot):
        view = app.screen.query_one(LogView)
        await pilot.press("j", "v", "j", "escape")
        assert (view.began, app.return_code) == (None, None)
        await pilot.press("v", "j", "q")
        assert view.began is not None and app.return_code == 0

    drive(session, artifact, play)


def test_lists_lead_to_a_log(session, plain_store):
    """From the sessions to the artifacts, chosen by the options of ``list``, to a log and back."""
    session.put(b"one\n", command="make one")
    two = session.put(b"two\n", command="make two", exit_code=1)

    async def play(app, pilot):
        table = app.screen.query_one("DataTable")
        assert table.row_count == 2
        assert (
            "make two" in table.render_line(1).text[:80]
        )  # what people know it by, on a narrow terminal too
        await pilot.press("slash")
        await typed(pilot, "--failed")
        assert app.screen.query_one("DataTable").row_count == 1
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, LogScreen)
        assert app.screen.artifact.id == two.id
        await pilot.press("escape", "s")
        await pilot.pause()
        assert app.screen.query_one("DataTable").row_count == 1
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.query_one("DataTable").row_count == 2
        await pilot.press("f1")
        assert isinstance(app.screen, Help)

    drive(session, None, play, store=plain_store)


def test_reads_are_recorded_with_the_actor_viewer(session):
    """What was on the screen is one read, and what was read by others is not mixed with it."""
    artifact = session.put(b"\n".join(LINES) + b"\n")

    async def play(app, pilot):
        await pilot.press("pagedown", "pagedown")

    drive(session, artifact, play)
    reads = artifact.events("read")
    assert {event.actor for event in reads} == {"viewer"}
    assert reads[0].detail["first"] == 1


@pytest.mark.long
def test_other_commands_do_not_import_textual():
    """Neither the store, nor the tools, nor the command line load it."""
    code = (
        "import sys, spillstore, spillstore_tools, spillstore_tools.cli as cli\n"
        "for name in cli._MODULES:\n    cli.group.get_command(None, name)\n"
        "assert not {'textual', 'rich'} & set(sys.modules), 'imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_key_is_in_the_manual():
    """docs/viewing.md has each key and what it does."""
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs" / "viewing.md").read_text(encoding="utf-8")
    for key in (*LOG_KEYS, *LIST_KEYS):
        assert f"| {' '.join(f'`{name}`' for name in key.shown.split())} | {key.text} |" in page
