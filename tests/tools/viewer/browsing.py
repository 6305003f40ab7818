"""A server of ``spillstore ui`` for tests, a client that knows no more than it needs, and a real browser."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import os
import re
import urllib.parse
from html.parser import HTMLParser

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def why_no_browser():
    """Why there can be no tests in a browser here; nothing where there can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed: pip install playwright"
    return "" if os.path.exists(CHROMIUM) else f"{CHROMIUM} is not here: apt-get install chromium"


class Answer:
    """What the server has answered."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def seen(self):
        """The text that a reader of the page sees, in one line."""
        return " ".join(Text.of(self.text).split())


class Text(HTMLParser):
    """The text of a page, with a space at the end of each element."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def handle_data(self, data):
        self.parts.append(data)

    def handle_endtag(self, tag):
        self.parts.append("" if tag in {"span", "a", "mark"} else " ")

    @classmethod
    def of(cls, html):
        parser = cls()
        parser.feed(html)
        return "".join(parser.parts)


class Client:
    """Asks a server, with a cookie once it has one."""

    def __init__(self, url):
        self.url = url
        parts = urllib.parse.urlsplit(url)
        self.port = parts.port
        self.entrance = f"{parts.path}?{parts.query}"
        self.cookie = None

    def raw(self, path, method="GET", *, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            return Answer(connection.getresponse())

    def enter(self):
        answer = self.raw(self.entrance)
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def get(self, path, /, fragment=None, **query):
        del fragment
        given = {name: value for name, value in query.items() if value is not None}
        return self.raw(f"{path}?{urllib.parse.urlencode(given)}" if given else path, Cookie=self.cookie)

    def events(self, path, **query):
        """What a stream of events says, until it ends."""
        return [
            json.loads(line[6:])
            for line in self.get(path, **query).text.splitlines()
            if line.startswith("data: ")
        ]

    def rows(self, artifact_id, first, count, session="default", **query):
        """The text of rows, as it stands in them."""
        answer = self.get(
            "/log/rows", session=session, id=artifact_id, **{"from": first}, count=count, **query
        )
        assert answer.status == 200, answer.text
        return [
            Text.of(row)
            for row in re.findall(r'<span class="x">(.*?)</span></div>', answer.json["rows"], re.DOTALL)
        ]


@contextlib.contextmanager
def serving(start, *arguments):
    """A server, started by the fixture `start`, as a client that has not entered yet."""
    process = start("ui", "--json", *map(str, arguments), text=True)
    said = json.loads(process.stderr.readline())
    assert "url" in said, said
    client = Client(said["url"])
    client.process = process
    yield client
    process.terminate()
    process.communicate(timeout=120)


@contextlib.contextmanager
def browser():
    """A browser with a new profile; each of its contexts has cookies of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(
            executable_path=CHROMIUM, headless=True, chromium_sandbox=False, args=list(FLAGS)
        )
        try:
            yield found
        finally:
            found.close()
