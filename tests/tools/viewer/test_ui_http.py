"""``spillstore ui`` over HTTP: who is served, with what headers, and what is answered to requests that make no sense."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.parse

import pytest
from browsing import serving
from support import each_of

HOSTILE = b"<script>alert(1)</script> \x1b]0;title\x07\x1b[31mred\x1b[0m </div><img src=x onerror=alert(1)> \x00\xff &amp;"


@pytest.fixture
def entered(root, start):
    """A client that the server knows."""
    with serving(start) as client:
        client.enter()
        yield client


def test_the_token_lets_one_browser_in_once(root, start):
    """Who brings the token gets a cookie for it; who brings it later, or another, or nothing, gets 403."""
    with serving(start) as client:
        assert client.raw("/").status == 403
        assert client.raw("/?token=wrong").status == 403
        assert (
            client.raw(client.entrance, "HEAD").status == 200
        )  # who looks what a link leads to uses nothing up
        answer = client.enter()
        assert (answer.status, answer.headers["location"]) == (303, "/")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(answer.headers["set-cookie"].split("; "))
        assert client.get("/").status == 200
        assert client.raw(client.entrance).status == 403
        assert client.raw("/", Cookie=client.cookie[:-1]).status == 403
        assert client.raw("/assets/ui.js").status == 403


ADDRESSED = (  # headers, answer
    ({}, 200),
    ({"Host": "localhost:{port}"}, 200),
    ({"Host": "[::1]:{port}", "Origin": "http://127.0.0.1:{port}"}, 200),
    ({"Host": "evil.example"}, 403),
    ({"Host": "127.0.0.1"}, 403),
    ({"Host": "127.0.0.1:{port}.evil.example"}, 403),
    ({"Host": "evil.example:{port}"}, 403),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "https://127.0.0.1:{port}"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    ({"Sec-Fetch-Site": "same-origin"}, 200),
    ({"Sec-Fetch-Site": "none"}, 200),
)


@pytest.mark.long
def test_strangers_are_refused_though_they_have_the_cookie(entered):
    """A foreign ``Host`` or ``Origin``, and a page of another program on this machine, get 403."""
    answers = []
    for headers, _ in ADDRESSED:
        given = {name: value.format(port=entered.port) for name, value in headers.items()}
        answers.append((headers, entered.raw("/charts", Cookie=entered.cookie, **given).status))
    assert list(ADDRESSED) == answers


@pytest.mark.long
def test_nothing_can_be_changed(entered):
    """Every method but GET and HEAD is refused."""
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert entered.raw("/", method, Cookie=entered.cookie).status == 405
    for _ in range(3):  # who still sends is told so, too
        assert entered.raw("/", "POST", body=bytes(8_000_000), Cookie=entered.cookie).status == 405


@pytest.mark.long
def test_every_answer_forbids_what_is_not_ours(entered, put):
    """Pages, assets and errors have the policy: no inline script or style, no frame, no guessing of types."""
    session = {"session": "default", "id": put(b"one\n")}
    pages = [
        entered.get("/"),
        entered.get("/log", **session),
        entered.get("/assets/ui.js"),
        entered.get("/nowhere"),
        entered.raw("/"),
    ]
    assert [200, 200, 200, 404, 403] == [answer.status for answer in pages]
    for answer in pages:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    for answer in pages[:2]:
        assert "<style" not in answer.text
        assert " style=" not in answer.text
        assert " onclick=" not in answer.text
        assert answer.text.count("<script") == 1
        assert 'src="/assets/ui.js" type="module"></script>' in answer.text


@pytest.mark.long
def test_hostile_bytes_are_text(entered, put, store):
    """Tags, escape sequences and control characters of an output, a command, a tool's name and a session's are shown, never obeyed."""
    words = HOSTILE.decode("utf-8", "replace").replace("\x00", "")
    artifact = put(HOSTILE + b"\n", command=words, source="<b>tool", tool_call_id="<i>call")
    with store.session("<u>other") as session:
        session.put("x")
    where = {"session": "default", "id": artifact}
    pages = [
        entered.get("/"), entered.get("/artifacts", session="default"), entered.get("/audit", session="default"),
        entered.get("/charts", session="default"), entered.get("/log", **where), entered.get("/save", **where, first=1, last=1),
        entered.get("/artifacts", session="default", source="<script>x"), entered.get("/<script>"), entered.get("/log", session="<script>", id="x"),
    ]  # fmt: skip
    for answer in pages:
        assert "<script>" not in answer.text.replace("<script>/*", "")
        for tag in ("<b>tool", "<i>call", "<u>other", "<img src=x"):
            assert tag not in answer.text
        assert not {"\x1b", "\x00", "\x07"} & set(answer.text)
    rows = entered.get("/log/rows", **where)
    assert "<script>" not in rows.json["rows"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in rows.json["rows"]
    assert "\x1b" not in rows.json["rows"]


WRONG = (  # path, query, status, words
    ("/log", {}, 400, "session is missing"),
    ("/log", {"session": "nowhere", "id": "x"}, 404, "nowhere"),
    ("/log", {"session": "default", "id": "art_1_0123456789abcdef"}, 404, "art_1_0123456789abcdef"),
    ("/log", {"session": "a\nb", "id": "x"}, 400, "control character"),
    ("/log", {"session": "default", "id": "ID", "stream": "stdin"}, 400, "combined, stdout, stderr"),
    ("/log", {"session": "default", "id": "ID", "line": "many"}, 400, "&#x27;many&#x27;"),
    ("/log", {"session": "default", "id": "ID", "line": "0"}, 400, "1 or more"),
    ("/log/rows", {"session": "default", "id": "ID", "count": "100000"}, 400, "from 1 to 240"),
    ("/log/rows", {"session": "default", "id": "ID", "from": "-1"}, 400, "whole number"),
    ("/log/rows", {"session": "default", "id": "ID", "from": "9" * 30}, 400, "whole number"),
    ("/log/go", {"session": "default", "id": "ID"}, 400, "line=100"),
    ("/log/go", {"session": "default", "id": "ID", "time": "nan"}, 400, "12.5"),
    ("/log/next", {"session": "default", "id": "ID", "what": "sense"}, 400, "match, telling, seen"),
    ("/audit", {"session": "default", "since": "yesterday"}, 400, "2h"),
    ("/audit", {"session": "default", "limit": "0"}, 400, "from 1 to"),
    ("/audit", {"session": "default", "cursor": "x"}, 400, "cursor"),
    ("/artifacts", {"session": "default", "min_size": "lots"}, 400, "64K"),
    ("/artifacts", {"session": "default", "state": "asleep"}, 400, "open, sealed, interrupted"),
    ("/save", {"session": "default", "id": "ID", "first": "5", "last": "2"}, 400, "5 or more"),
    ("/line", {"session": "default", "id": "EMPTY"}, 400, "no line 1"),
    ("/nowhere", {}, 404, "/nowhere"),
)


@pytest.mark.long
def test_what_makes_no_sense_gets_an_error_that_helps(entered, put):
    """A wrong parameter is named, with its value and what it may be; what is not there is 404."""
    ids = {"ID": put(b"one\ntwo\n"), "EMPTY": put(b"")}
    answers = []
    for path, query, _, words in WRONG:
        given = {name: ids.get(value, value) for name, value in query.items()}
        answer = entered.get(path, **given)
        answers.append((path, query, answer.status, words if words in answer.text else answer.seen))
    assert list(WRONG) == answers


@pytest.mark.long
def test_ranges_past_the_end(entered, put):
    """Rows, lines, shares and times behind the last are the last, or none, never an error."""
    artifact = put(b"one\ntwo\nthree\n")
    where = {"session": "default", "id": artifact}
    assert entered.rows(artifact, 2, 10) == ["three"]
    assert entered.rows(artifact, 10**12, 10) == []
    for place in ({"line": 10**15}, {"percent": "100"}, {"percent": "1e9"}, {"byte": 10**15}):
        assert entered.get("/log/go", **where, **place).json == {"row": 2, "total": 3}
    saved = entered.get("/save", **where, first=3, last=10**9)
    assert saved.status == 200
    assert "three" in saved.text


def say(port, *lines):
    """Send a request that needs no HTTP client, and take what is answered."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        while connection.recv(65_536):
            pass


def test_strangers_do_not_fill_stderr(root, start):
    """With ``--json`` each line is a note, and there are a few of each kind, however often somebody asks for nonsense."""
    with serving(start) as client:
        upgrade = ("Connection: Upgrade, close", "Upgrade: websocket")
        for _ in range(10):
            say(client.port, "x")
            say(client.port, "GET / HTTP/1.1", f"Host: 127.0.0.1:{client.port}", *upgrade)
            assert client.raw("/", Host="evil.example").status == 403
        client.process.terminate()
        notes = [json.loads(line)["note"] for line in client.process.stderr.read().splitlines()]
    assert 3 <= len(notes) <= 20
    assert "a request names another host than this server" in notes
    assert "uvicorn.error: Invalid HTTP request received." in notes
    assert not any("pip install" in note for note in notes)


def test_who_reads_stderr_may_go(root, start):
    """A program that reads the URL alone leaves the server running, whatever somebody sends to it."""
    with serving(start) as client:
        client.enter()
        client.process.stderr.close()
        for _ in range(2):
            say(client.port, "x")
        assert client.get("/").status == 200


def test_without_the_extra_the_way_out_is_named(root, cli, monkeypatch):
    """Where Starlette is not installed, the command says what to install, and nothing is listened to."""
    for name in [
        name
        for name in sys.modules
        if name.startswith(
            ("starlette", "uvicorn", "spillstore_tools.viewer.web", "spillstore_tools.loopback.connections")
        )
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setitem(sys.modules, "starlette", None)
    answer = cli("ui")
    assert (answer.code, answer.err) == (
        125,
        "spillstore: the viewer in a browser needs an extra: pip install 'spillstore[ui]'\n",
    )


def test_other_machines_are_not_listened_to(cli):
    """An address that other machines can reach is refused."""
    answer = cli("ui", "--host", "0.0.0.0")
    assert answer.code == 2
    assert "can be reached from other machines" in answer.err


def test_a_session_that_is_not_there_is_told_at_once(cli):
    """``--session`` of none is an error before anything is served."""
    answer = cli("ui", "--session", "nowhere")
    assert (answer.code, answer.out) == (125, b"")
    assert "no session 'nowhere'" in answer.err


@pytest.mark.long
@each_of(
    "module",
    [
        "spillstore",
        "spillstore_tools",
        "spillstore_tools.cli",
        "spillstore_tools.cli.commands.list_",
        "spillstore_tools.cli.commands.ui",
    ],
)
def test_no_web_server_is_imported_by_others(module):
    """Neither the library nor another command imports Starlette or Uvicorn."""
    script = f"import sys, {module}; sys.exit(str({{'starlette', 'uvicorn', 'asyncio'}} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.stderr.strip() == "set()"


def test_it_begins_at_the_session_that_was_named(root, put, start):
    """With ``--session`` the URL leads to the session's artifacts."""
    put(b"one\n")
    with serving(start, "--session", "default") as client:
        location = client.enter().headers["location"]
        assert urllib.parse.urlsplit(location).path == "/artifacts"
        assert "default" in client.raw(location, Cookie=client.cookie).seen


def test_it_ends_with_a_signal(root, start):
    """SIGTERM ends it at once, also while a browser follows something."""
    with serving(start) as client:
        client.enter()
        client.process.terminate()
        assert client.process.wait(timeout=120) == 128 + 15
