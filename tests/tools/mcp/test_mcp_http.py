"""``spillstore mcp --transport http`` on a machine that it shares: strangers cannot stop it, and nobody fills its log."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import resource
import socket

import pytest
from support import wait_until
from test_mcp_server import serving_http

from spillstore_tools.mcp.server import client_sessions
from spillstore_tools.mcp.server.client_sessions import ClientSessions

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}
COMMON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "list_artifacts", "arguments": {}},
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
DESCRIPTORS = 256


def limited(count=DESCRIPTORS):
    """Options of a process that may have few descriptors."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))}


class Caller:
    """A client that knows no more of the protocol than it needs."""

    def __init__(self, port, **headers):
        self.port = port
        self.headers = {**COMMON, **headers}

    def post(self, message, **headers):
        """The status, and the id of the session."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        with contextlib.closing(connection):
            connection.request("POST", "/mcp", json.dumps(message).encode(), {**self.headers, **headers})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("mcp-session-id")

    def begin(self):
        """A session; a function that posts in it and gives the status."""
        status, identity = self.post(INITIALIZE)
        assert status == 200
        headers = {"Mcp-Session-Id": identity, "MCP-Protocol-Version": "2025-06-18"}
        return lambda message: self.post(message, **headers)[0]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_what_a_page_may_send_without_asking_is_refused(root, start, kind):
    """The kinds of content that a browser lets any page send to any address, without an ``Origin`` too."""
    with serving_http(start) as (_, port):
        assert 200 == Caller(port).post(INITIALIZE)[0]
        status, identity = Caller(port).post(INITIALIZE, **{"Content-Type": kind})
    assert identity is None
    assert status in {400, 415}


@contextlib.contextmanager
def strangers(port, count, said=b""):
    """So many connections that say this and no more."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            found.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=120)))
            with contextlib.suppress(ConnectionError):  # it gave way already
                found[-1].sendall(said)
        yield found


def told(process):
    """What the server writes to stderr until it ends."""
    process.terminate()
    return process.communicate(timeout=120)[1].splitlines()


HALVES = {
    "nothing": b"",
    "half a head": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    "half a body": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
}


@pytest.mark.parametrize("token", [None, pytest.param("a long random text", marks=pytest.mark.slow)])
def test_connections_that_say_nothing_stop_nobody(root, start, monkeypatch, token):
    """Beside more of them than there are descriptors, clients begin and go on, and the log has a few lines."""
    headers = {}
    if token is not None:
        monkeypatch.setenv("SPILLSTORE_MCP_TOKEN", token)
        headers = {"Authorization": f"Bearer {token}"}
    with serving_http(lambda *a, **k: start(*a, **k, **limited())) as (process, port):
        caller = Caller(port, **headers)
        old = caller.begin()
        for said in HALVES.values():
            with strangers(port, DESCRIPTORS + 50, said):
                new = caller.begin()
                assert [old(CALL), new(CALL), old(LIST), new(LIST)] == [200] * 4
        assert len(told(process)) < 30


def test_running_out_of_descriptors_is_told_a_few_times_and_survived(root, start):
    """Where more connections are allowed than there are descriptors, the oldest without a request give way."""
    with serving_http(lambda *a, **k: start(*a, **k, **limited(64)), "--max-connections", "1000") as (
        process,
        port,
    ):
        with strangers(port, 150):
            assert Caller(port).begin()(CALL) == 200
        lines = told(process)
    refused = [line for line in lines if "cannot be accepted" in line]
    assert 1 <= len(refused) <= 10
    assert "Too many open files" in refused[0]


@pytest.mark.slow
def test_the_head_of_a_request_must_come_in_time(root, start):
    """A connection that says nothing, half a head, or half a second one is ended, without anybody else asking for room."""
    whole = b"GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with serving_http(start) as (_, port), contextlib.ExitStack() as stack:
        found = [
            stack.enter_context(strangers(port, 1, said))[0]
            for said in (b"", HALVES["half a head"], whole + HALVES["half a head"])
        ]
        for each in found:
            with contextlib.suppress(ConnectionResetError):
                while each.recv(65536):
                    pass
        assert Caller(port).begin()(LIST) == 200


def test_the_body_of_a_request_must_come_in_time(monkeypatch):
    """A request whose body does not come is answered 408, and its application never sees it."""
    monkeypatch.setattr(client_sessions, "BODY_TIMEOUT", 0.01)
    seen, sent = [], []

    async def app(*_):
        seen.append(1)

    async def send(message):
        sent.append(message)

    async def main():
        sessions = ClientSessions(app, "h:1", limit=1, unused=1.0, max_body=100)
        await sessions({"method": "POST", "headers": []}, asyncio.Event().wait, send)

    asyncio.run(main())
    assert (seen, sent[0]["status"], (b"connection", b"close") in sent[0]["headers"]) == ([], 408, True)


def test_a_request_that_breaks_off_is_not_answered():
    """The part of a body that came before its client went is nothing that anybody has sent."""
    seen = []

    async def app(*_):
        seen.append(1)

    async def main():
        parts = iter(
            [{"type": "http.request", "body": b"{}", "more_body": True}, {"type": "http.disconnect"}]
        )

        async def receive():
            return next(parts)

        await ClientSessions(app, "h:1", limit=1, unused=1.0, max_body=100)(
            {"method": "POST", "headers": []}, receive, app
        )

    asyncio.run(main())
    assert seen == []


def test_sessions_that_never_called_anything_give_way(root, start):
    """At the limit the next client is served, and a session that was used stays; without one to give way it is 503."""
    with serving_http(start, "--max-sessions", "3") as (_, port):
        caller = Caller(port)
        used = caller.begin()
        assert used(CALL) == 200
        others = [caller.begin() for _ in range(5)]
        assert [each(LIST) for each in others] == [404, 404, 404, 200, 200]
        assert used(LIST) == 200
        assert [each(CALL) for each in others[-2:]] == [200, 200]
        assert caller.post(INITIALIZE)[0] == 503


def test_a_session_that_never_called_anything_expires(root, start):
    """After its time without a request it is gone; one that was used is not."""
    with serving_http(start, "--unused", "1") as (_, port):
        caller = Caller(port)
        used, unused = caller.begin(), caller.begin()
        assert used(CALL) == 200

        def stored():
            return len(list(root.glob("_/mcp-*")))

        assert unused(LIST) in {200, 404}  # on a slow machine its time is up already
        wait_until(lambda: stored() == 1)  # asking in it would keep it
        assert (used(LIST), unused(LIST)) == (200, 404)


ADDRESSED = (  # host, origin, answer
    ("127.0.0.1:{port}", None, 200),
    ("localhost:{port}", "http://localhost:{port}", 200),
    ("[::1]:{port}", "http://127.0.0.1:{port}", 200),
    ("127.0.0.1", None, 421),
    ("localhost:1", None, 421),
    ("127.0.0.1:{port}.evil.example", None, 421),
    ("127.0.0.1:{port}0", None, 421),
    ("127.0.0.1:80:{port}", None, 421),
    ("127.0.0.1:{port}@evil.example", None, 421),
    ("tunnel.example:9000", None, 200),
    ("tunnel.example:9001", None, 421),
    ("127.0.0.1:{port}", "http://127.0.0.1:1", 403),
    ("127.0.0.1:{port}", "http://127.0.0.1:{port}.evil.example", 403),
    ("127.0.0.1:{port}", "http://127.0.0.1:{port}@evil.example", 403),
    ("127.0.0.1:{port}", "https://127.0.0.1:{port}", 403),
    ("127.0.0.1:{port}", "null", 403),
    ("127.0.0.1:{port}", "http://localhost:6274", 200),
    ("127.0.0.1:{port}", "http://localhost:62740", 403),
)


def test_hosts_and_origins_are_compared_whole(root, start):
    """Only this address and port, and what was allowed by an option, to the letter."""
    allowed = ("--allow-host", "tunnel.example:9000", "--allow-origin", "http://localhost:6274")
    with serving_http(start, *allowed) as (_, port):
        answers = []
        for host, origin, _ in ADDRESSED:
            headers = {"Host": host.format(port=port)}
            if origin is not None:
                headers["Origin"] = origin.format(port=port)
            answers.append((host, origin, Caller(port).post(INITIALIZE, **headers)[0]))
    assert list(ADDRESSED) == answers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({}, 401),
        ({"Authorization": "Bearer a long random text"}, 413),
    ],
)
def test_who_sends_much_is_told_why_it_is_refused(root, start, monkeypatch, headers, status):
    """A request that is refused by its head or its size is taken whole, so that its client is not cut off while it sends."""
    monkeypatch.setenv("SPILLSTORE_MCP_TOKEN", "a long random text")
    with serving_http(start) as (_, port):
        for _ in range(3):
            assert Caller(port).post({**INITIALIZE, "more": "x" * 8_000_000}, **headers)[0] == status


def test_requests_of_strangers_do_not_fill_the_log(root, start):
    """A hundred requests that are no HTTP, and a hundred with a foreign host, are a few lines."""
    with serving_http(start) as (process, port):
        for _ in range(100):
            with strangers(port, 1, b"nonsense\r\n\r\n") as (one,):
                assert one.recv(100).startswith(b"HTTP/1.1 400")
            assert Caller(port).post(INITIALIZE, Host="evil.example")[0] == 421
        lines = told(process)
        assert 2 <= len(lines) <= 20
        notes = {json.loads(line)["note"] for line in lines}
        assert "a request names another host than this server" in notes


BOMBS = {
    "deep": b"[" * 200_000,
    "deep arguments": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":'
    + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}}",
    "a batch": b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 20_000) + b"]",
    "a long number": b'{"jsonrpc":"2.0","id":' + b"9" * 100_000 + b',"method":"ping"}',
    "no text": b"\xff\xfe\x00" * 1000,
}  # fmt: skip


def test_bombs_are_refused_and_harm_nobody(root, start):
    """Depth, batches, numbers and bytes that are no text: each an error of the client's, and others are served."""
    with serving_http(start) as (_, port):
        caller = Caller(port)
        session = caller.begin()
        for name, body in BOMBS.items():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            with contextlib.closing(connection):
                connection.request("POST", "/mcp", body, {**COMMON, "MCP-Protocol-Version": "2025-06-18"})
                status = connection.getresponse().status
            assert (name, status // 100) == (name, 4)
        assert 200 == session(LIST)


def test_a_body_without_a_length_is_bounded(root, start):
    """It comes in pieces that never end: refused as soon as it is too much, before all of it was sent."""
    with serving_http(start) as (_, port):
        with socket.create_connection(("127.0.0.1", port), timeout=120) as stream:
            head = "".join(f"{name}: {value}\r\n" for name, value in COMMON.items())
            stream.sendall(
                f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode()
            )
            piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
            with contextlib.suppress(ConnectionError):
                for _ in range(1024):  # 64 MiB, far more than it takes
                    stream.sendall(piece)
            with contextlib.suppress(
                ConnectionError
            ):  # it may have ended the connection with its answer unread
                assert stream.recv(100).startswith(b"HTTP/1.1 413")
        assert 200 == Caller(port).begin()(LIST)
