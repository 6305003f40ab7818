"""``spillstore ui`` in a real browser: keys, the wheel and the thumb in logs of any length, searches, marks, follow, and questions by clicking."""

from __future__ import annotations

import contextlib
import re

import pytest
from browsing import browser, serving, why_no_browser

from spillstore_tools import get_artifact
from spillstore_tools.output.rendering import render
from spillstore_tools.profiles import profile

WHY = why_no_browser()
pytestmark = pytest.mark.skipif(WHY != "", reason=WHY or "there is a browser")
SPACER = 10_000_000


class Window:
    """The page of a log, as somebody at the keyboard has it."""

    def __init__(self, page, base):
        self.page = page
        self.base = base

    def open(self, artifact_id, more="", *, session="default"):
        self.page.goto(f"{self.base}/log?session={session}&id={artifact_id}{more}")
        self.page.wait_for_selector("html[data-ready]")
        self.settle()

    def settle(self):
        """Wait until every row is there."""
        self.page.wait_for_function(
            "() => document.querySelector('#rows .row') && !document.querySelector('#rows .waiting')"
        )
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        self.page.wait_for_function(
            "() => document.querySelector('#rows .row') && !document.querySelector('#rows .waiting')"
        )

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def fill(self, field, text):
        self.page.fill(field, text)
        self.page.press(field, "Enter")
        self.settle()

    def rows(self):
        """Number and text of each row that is in the document."""
        found = self.page.eval_on_selector_all(
            "#rows .row", "rows => rows.map(row => [+row.dataset.n, row.querySelector('.x').textContent])"
        )
        return [(number, text) for number, text in found]

    def first(self):
        return self.rows()[0][0]


@pytest.fixture(scope="module")
def chromium():
    """One browser for all tests, since starting one takes longer than most of them."""
    with browser() as found:
        yield found


@pytest.fixture
def opened(root, put, start, chromium):
    """A browser that has entered; whatever it complains of fails the test."""
    put(b"one\n")
    said = []
    with (
        serving(start) as client,
        contextlib.closing(chromium.new_context(viewport={"width": 1200, "height": 800})) as context,
    ):
        page = context.new_page()
        page.on(
            "console",
            lambda message: said.append(message.text) if message.type in {"error", "warning"} else None,
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}") or dialog.dismiss())
        page.goto(client.url)
        yield Window(page, client.url.split("/?")[0])
        assert said == []


@pytest.mark.long
@pytest.mark.parametrize("lines", [600_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_every_line_can_be_reached_and_a_key_is_a_line(opened, store, lines):
    """Of more lines than an element can be high, the last one is reached, and keys and the wheel move by exact lines."""
    with store.session("default") as session:
        artifact = session.put("\n".join(map(str, range(1, lines + 1))).encode())
        opened.open(artifact.id)

        def same_as_stored():
            rows = opened.rows()
            assert 10 < len(rows) <= 120
            first, last = rows[0][0], rows[-1][0]
            assert [text for _, text in rows] == artifact.read_lines(first, last).decode().splitlines()
            return first, last

        assert same_as_stored()[0] == 1
        assert opened.page.evaluate("() => document.getElementById('scroller').scrollHeight") <= SPACER
        opened.press("j")
        assert same_as_stored()[0] == 2
        opened.press("j", "ArrowDown", "k")
        assert same_as_stored()[0] == 3
        opened.press("G")
        assert same_as_stored()[1] == lines
        opened.press("k")
        assert opened.rows()[-1][0] in {lines - 1, lines}
        opened.fill("#go-to", "50%")
        middle = same_as_stored()[0]
        assert abs(middle - lines // 2) < 100
        opened.press("j")
        assert same_as_stored()[0] == middle + 1
        opened.page.mouse.move(400, 400)
        opened.page.mouse.wheel(0, 60)
        opened.page.wait_for_function(
            f"() => +document.querySelector('#rows .row').dataset.n === {middle + 4}"
        )
        opened.settle()
        same_as_stored()
        opened.press("PageDown", "PageUp")
        assert same_as_stored()[0] == middle + 4
        opened.fill("#go-to", f"{lines:,}")
        assert same_as_stored()[1] == lines
        opened.page.evaluate("() => { const s = document.getElementById('scroller'); s.scrollTop = 0; }")
        opened.page.wait_for_function("() => +document.querySelector('#rows .row').dataset.n === 1")
        opened.page.evaluate(
            "() => { const s = document.getElementById('scroller'); s.scrollTop = s.scrollHeight; }"
        )
        opened.page.wait_for_function(
            f"() => [...document.querySelectorAll('#rows .row')].some((row) => +row.dataset.n === {lines})"
        )


@pytest.mark.long
def test_search_counts_marks_and_goes_on(opened, put):
    """A search tells how many lines match, marks them, and n, N, e and E go from one to the other; a wrong one says why."""
    lines = [b"line %d" % number for number in range(1, 5001)]
    for number in (100, 2000, 4900):
        lines[number - 1] = b"here is a needle"
    lines[2999] = b"src/a.c:3:1: error: boom"
    opened.open(put(b"\n".join(lines)))
    opened.fill("#pattern", "need.e")
    opened.page.wait_for_function("() => document.getElementById('found').textContent === '3 lines'")
    found = opened.page.locator(".row.found")
    opened.page.wait_for_function("() => document.querySelector('.row.found')?.dataset.n === '100'")
    assert opened.page.inner_text(".row.found mark") == "needle"
    for key, line in (("n", 2000), ("n", 4900), ("N", 2000), ("E", None), ("e", 3000), ("N", 2000)):
        opened.press(key)
        if line is not None:
            opened.page.wait_for_function(
                f"() => document.querySelector('.row.found')?.dataset.n === '{line}'"
            )
    assert found.count() == 1
    opened.fill("#pattern", "(unclosed")
    opened.page.wait_for_function("() => document.getElementById('found').className === 'bad'")
    assert "missing" in opened.page.inner_text("#found")


@pytest.mark.long
def test_what_the_model_saw_and_what_it_read_later(opened, store):
    """Rows that the preview showed are marked, those that were fetched later name who has read them, and m takes the marks away."""
    with store.session("default") as session:
        artifact = session.put(
            b"".join(b"line %d of some length, so that there are many bytes\n" % n for n in range(1, 5001))
        )
        with session.acting("model", "call_7"):
            render(artifact, profile("default"))
            get_artifact(session, id=artifact.id, start_line=1000, end_line=1003)
    opened.open(artifact.id)
    page = opened.page
    assert "seen" in page.get_attribute("#rows .row", "class")
    opened.fill("#go-to", "1001")
    row = page.locator('.row[data-n="1001"]')
    assert "unseen" in row.get_attribute("class")
    assert re.match(r"read by model call_7 with get_artifact at ", row.locator(".r").get_attribute("title"))
    assert page.locator('.row[data-n="1004"] .r').inner_text() == ""
    opened.press("g", "v")
    edge = int(page.get_attribute(".row.found", "data-n"))
    assert page.get_attribute(f'.row[data-n="{edge}"]', "class") != page.get_attribute(
        f'.row[data-n="{edge - 1}"]', "class"
    )
    opened.press("g", "r")
    page.wait_for_selector('.row.found[data-n="1000"]')
    opened.press("G", "R")
    page.wait_for_selector('.row.found[data-n="1000"]')
    assert page.get_attribute("#seen", "aria-pressed") == "true"
    opened.press("m")
    assert page.get_attribute("#seen", "aria-pressed") == "false"


@pytest.mark.long
def test_lines_have_links_and_calls(opened, put):
    """A link to lines picks them, a click and Shift pick others, y tells the call that shows them."""
    artifact = put(b"".join(b"line %d\n" % n for n in range(1, 1001)))
    opened.open(artifact, "#L500-520")
    page = opened.page
    page.wait_for_selector(".row.picked")
    assert [
        int(each)
        for each in page.eval_on_selector_all(".row.picked", "rows => rows.map(row => row.dataset.n)")
    ] == list(range(500, 521))
    page.click('.row[data-n="502"] .n')
    page.click('.row[data-n="505"] .n', modifiers=["Shift"])
    assert page.url.endswith("#L502-505")
    opened.press("y")
    call = f"spillstore show {artifact} --lines 502-505"
    page.wait_for_function(f"() => document.getElementById('told').textContent.includes('{call}')")
    with page.expect_download() as saved:
        opened.press("x")
    text = saved.value.path().read_text()
    assert [f"line {n}" in text for n in (501, 502, 505, 506)] == [False, True, True, False]


@pytest.mark.long
def test_an_open_artifact_grows_and_ends_before_ones_eyes(opened, store):
    """Lines come as they are written, f stays at the end, and the state changes when it is sealed."""
    with store.session("default") as session:
        writer = session.create(source="make", command="make")
        writer.write(b"".join(b"early %d\n" % n for n in range(200)))
        writer.flush()
        opened.open(writer.id)
        assert opened.page.inner_text("#state") == "open"
        opened.press("f")
        writer.write(b"late\n")
        writer.flush()
        opened.page.wait_for_function(
            "() => [...document.querySelectorAll('#rows .x')].at(-1).textContent === 'late'"
        )
        writer.close()
        opened.page.wait_for_function("() => document.getElementById('state').textContent === 'sealed'")


@pytest.mark.long
def test_hostile_output_does_nothing(opened, put):
    """Tags and escape sequences of an output stand there as text; colours of SGR are the only thing that is obeyed."""
    hostile = b"<script>document.title='taken'</script><img src=x onerror=alert(1)>\n\x1b]0;taken\x07\x1b[2J\x1b[31mred\x1b[0m\n"
    artifact = put(hostile, command="<img src=x onerror=alert(2)>")
    opened.open(artifact)
    rows = [text for _, text in opened.rows()]
    assert rows[0] == "<script>document.title='taken'</script><img src=x onerror=alert(1)>"
    assert rows[1] == "␛]0;taken␇␛[2Jred"
    assert opened.page.locator("img").count() == 0
    assert "taken" not in opened.page.title()
    assert opened.page.inner_text("#rows .f1") == "red"
    opened.press("a")
    opened.page.wait_for_function("() => document.querySelectorAll('#rows .f1').length === 0")
    opened.settle()
    assert [text for _, text in opened.rows()][1] == "␛]0;taken␇␛[2J␛[31mred␛[0m"


@pytest.mark.long
def test_holes_and_binary_content(opened, put, rolled):
    """What was dropped is a row that says so, with the numbers of the lines around it; binary content is hex."""
    opened.open(rolled)
    assert "Not all of it is here" in opened.page.inner_text(".lost")
    opened.fill("#go-to", "500")
    assert "were dropped" in opened.page.inner_text(".row.hole")
    opened.press("G")
    assert opened.rows()[-1] == (1000, "line 0001000")
    opened.open(put(bytes(range(256)) * 100))
    assert opened.page.inner_text("#rows .row .n") == "00000000"
    assert opened.page.inner_text("#rows .row .hex").startswith("00 01 02 03 04 05 06 07  08")


@pytest.mark.long
def test_bytes_have_links_and_calls(opened, put):
    """Rows of binary content are picked, linked to, copied and saved as the bytes that they are."""
    data = bytes(range(256)) * 100
    artifact = put(data)
    opened.open(artifact, "#B1600-1632")
    page = opened.page
    page.wait_for_selector(".row.picked")
    assert page.eval_on_selector_all(".row.picked", "rows => rows.map(row => +row.dataset.b)") == [
        1600,
        1616,
        1632,
    ]
    opened.press("y")
    call = f"spillstore show {artifact} --bytes 1600-1648 --raw"
    page.wait_for_function(f"() => document.getElementById('told').textContent.includes('{call}')")
    page.click('.row[data-b="1616"] .n')
    assert page.url.endswith("#B1616")
    with page.expect_download() as saved:
        opened.press("x")
    text = saved.value.path().read_text()
    assert "bytes 1,616 to 1,632" in text
    assert [f"{number:08x}" in text for number in (1600, 1616, 1632)] == [False, True, False]
    opened.press("Escape", "G")
    opened.press("y")
    page.wait_for_function(
        f"() => document.getElementById('told').textContent.includes('-{len(data)} --raw')"
    )


@pytest.mark.long
def test_wrapped_lines_are_all_reached(opened, put):
    """Where lines wrap, keys move by lines of the screen, so that each part of a line that is higher than the window is shown."""
    long = [b" ".join(b"%d.%03d" % (line, word) for word in range(500)) for line in (2, 3)]
    opened.open(put(b"\n".join([b"first", *long, b"last"])))
    page = opened.page

    shown = """() => { const box = document.getElementById('window').getBoundingClientRect();
        return [...document.querySelectorAll('#rows .row')].filter((row) => row.getBoundingClientRect().top < box.bottom - 1
            && row.getBoundingClientRect().bottom > box.top + 1).map((row) => row.querySelector('.x').textContent.slice(0, 5)); }"""

    def texts():
        return page.evaluate(shown)

    page.set_viewport_size({"width": 500, "height": 500})
    opened.press("w")
    assert "last" not in texts()
    opened.press("G")
    page.wait_for_function(f"() => ({shown})().includes('last')")
    assert texts() == ["3.000", "last"]
    opened.press("g")
    seen = [texts()[0]]
    for _ in range(400):
        opened.press("j")
        if texts()[0] != seen[-1]:
            seen.append(texts()[0])
        if seen[-1] == "last":
            break
    assert seen == ["first", "2.000", "3.000", "last"]
    opened.press("k")
    assert texts() == ["3.000", "last"]
    opened.press("w", "g")
    assert texts() == ["first", "2.000", "3.000", "last"]


@pytest.mark.long
def test_keys_theme_and_help(opened):
    """? shows the keys, T switches to dark and that stays, s goes to the sessions, j and Enter open a row."""
    page = opened.page
    page.goto(f"{opened.base}/artifacts?session=default")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    before = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("T")
    page.reload()
    assert page.get_attribute("html", "data-theme") == "dark"
    assert before != page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("s")
    page.wait_for_url(f"{opened.base}/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/artifacts"))


@pytest.mark.long
def test_a_phone_needs_no_scrolling_sideways_and_everything_has_a_name(opened, put):
    """At 390 pixels no page is wider than the screen, and each control has an accessible name."""
    page = opened.page
    artifact = put(b"".join(b"line %d\n" % n for n in range(300)), command="x" * 300)
    page.set_viewport_size({"width": 390, "height": 800})
    named = "session=default"
    for path in (
        "/",
        f"/artifacts?{named}",
        f"/log?{named}&id={artifact}",
        f"/audit?{named}",
        f"/charts?{named}",
        f"/changes?{named}&id={artifact}",
    ):
        page.goto(f"{opened.base}{path}")
        assert (path, True) == (
            path,
            page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"),
        )
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, a, select, input:not([type=hidden]), canvas, svg[role=img], [role=region]")]
            .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim() || e.title))
            .map((e) => e.outerHTML)"""
        )
        assert (path, []) == (path, nameless)
        unsaid = page.evaluate(
            r"""() => [...document.querySelectorAll("button[aria-label]")].filter((e) => /[a-z]/i.test(e.textContent)
            && !e.getAttribute("aria-label").toLowerCase().includes(e.textContent.trim().toLowerCase())).map((e) => e.outerHTML)"""
        )
        assert (path, []) == (path, unsaid)


@pytest.fixture
def eventful(store):
    """A session in which something has happened of all that can be asked."""
    with store.session("asked") as session:
        read = session.put(
            b"".join(b"line %d\n" % n for n in range(1, 3001)), source="make", command="make test"
        )
        session.put(b"never looked at\n" * 100, source="ls", command="ls -R")
        session.put(b"0123456789\n" * 9000, source="cat", command="cat log", limit=65536, policy="roll")
        with session.acting("model", "call_7"):
            render(read, profile("default"))
            get_artifact(session, id=read.id, start_line=5, end_line=6)
            with contextlib.suppress(Exception):
                get_artifact(session, id="../../etc/passwd")
        session.note("redaction", {"tool": "make", "counts": {"password": 2}}, artifact_id=read.id)
    return read.id


QUESTIONS = {  # of docs/audit.md and its views: what is clicked, one behind the other, and what is on the page then
    "what was stored, and how large it is": ((), ("make test", "3,000", "ls -R", "cat log", "incomplete")),
    "what nobody has read": (("text=Never read",), ("ls -R", "cat log")),
    "what has happened, and who did it": (("#to-audit",), ("create", "seal", "preview", "call_7", "model")),
    "what the model has read": (
        ("#to-audit", "text=Read by the model"),
        ("get_artifact", "first 5", "last 6", "outcome ok"),
    ),
    "what each tool has spilled": (("#to-charts",), ("Spills", "make 1", "ls 1", "cat 1")),
    "what was shown of it": (("#to-charts",), ("Cuts", "1 of 1 calls")),
    "which secrets were removed": (("#to-charts", "#secrets a"), ("redaction", "password 2")),
    "which limits were met": (("#to-charts", "#limits a"), ("artifact_limit", "limit")),
    "which ids were refused": (("#to-audit", "text=Ids refused"), ("../../etc/passwd", "malformed")),
    "what an artifact holds": (("text=make test",), ("line 1", "line 2", "seen by the model")),
}


@pytest.mark.long
def test_questions_are_answered_by_clicking(opened, eventful):
    """From the list of sessions on, each question of the audit log has its answer on a page that links lead to."""
    page = opened.page
    failed = []
    for question, (clicks, words) in QUESTIONS.items():
        page.goto(f"{opened.base}/")
        page.click("text=asked")
        for each in clicks:
            page.click(each)
        page.wait_for_load_state()
        if page.locator("#scroller").count():
            opened.settle()
        seen = " ".join(page.inner_text("body").split())
        failed += [(question, each, seen) for each in words if each not in seen]
    assert failed == []
    page.goto(f"{opened.base}/artifacts?session=asked&unread=1")
    assert "make test" not in page.inner_text("table")
