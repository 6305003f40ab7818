"""``--metrics`` of the commands that serve, and ``spillstore stats --prometheus``."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import subprocess
import sys
import urllib.request
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support import ROOT

from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.telemetry import served
from spillstore_tools.telemetry.instruments import MAX_TOOLS
from spillstore_tools.telemetry.recorded import COUNTS, DURATION, PREFIX, RETRIEVALS, TOOLS, TOTALS
from spillstore_tools.telemetry.statistics import Statistics


class Client:
    """A client over stdio, and what the server says on stderr."""

    def __init__(self, process):
        self.process = process
        self.number = 0

    def said(self, what):
        """What was said under a name, which comes on stderr as a line of JSON."""
        for line in self.process.stderr:
            found = json.loads(line)
            if what in found:
                return found[what]
        raise AssertionError(f"{what} was never said")

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.number:
                return message["result"]

    def initialize(self):
        self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "t", "version": "0"},
        )
        self.send({"method": "notifications/initialized", "params": {}})


def scraped(url):
    """Every sample: name and labels, and its value."""
    with urllib.request.urlopen(url, timeout=120) as answer:
        text = answer.read().decode()
    return samples_of(text)


def samples_of(text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_server_serves_its_metrics(start):
    """What a client does over the protocol can be scraped meanwhile, and the port is free when the server has ended."""
    client = Client(start("mcp", "--metrics", "127.0.0.1:0", "--json", stdin=subprocess.PIPE))
    url = client.said("metrics")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", url)
    client.initialize()
    client.ask("tools/call", name="bash", arguments={"command": "seq 1 20000"})
    client.ask("tools/call", name="list_artifacts", arguments={})
    found = scraped(url)
    assert 1 == found["spillstore_outputs_total", ("outcome", "truncated"), ("tool", "bash")]
    assert 1 == found["spillstore_artifacts_total", ("tool", "bash")]
    labels = (("kind", "list"), ("outcome", "ok"), ("tool", "list_artifacts"))
    assert 1 == found["spillstore_retrievals_total", *labels]
    assert 1 == found["spillstore_session_open",]
    client.process.stdin.close()
    assert 0 == client.process.wait(timeout=120)
    port = int(url.rpartition(":")[2].partition("/")[0])
    with contextlib.closing(socket.create_server(("127.0.0.1", port))):
        pass


def test_a_proxy_serves_its_metrics(start):
    """Results of the other server are counted under its tools' names."""
    other = [sys.executable, str(ROOT / "tests/tools/mcp/upstream_raw.py")]
    client = Client(start("mcp-proxy", "--metrics", "0", "--json", "--", *other, stdin=subprocess.PIPE))
    url = client.said("metrics")
    client.initialize()
    client.ask("tools/list")
    line = json.dumps(
        {"jsonrpc": "2.0", "id": "%ID%", "result": {"content": [{"type": "text", "text": "x" * 50_000}]}}
    ).replace('"%ID%"', "%ID%")
    client.ask("tools/call", name="say", arguments={"lines": [line]})
    found = scraped(url)
    assert 1 == found["spillstore_outputs_total", ("outcome", "truncated"), ("tool", "say")]
    client.process.stdin.close()
    assert 0 == client.process.wait(timeout=120)


@pytest.mark.parametrize("command", [("mcp",), ("mcp-proxy",)])
@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("0.0.0.0:9464", "can be reached from other machines"),
        ("[::]:9464", "can be reached from other machines"),
        ("x" * 5000, "is no address and port; for example 127.0.0.1:9464"),
        ("127.0.0.1:99999", "is no address and port"),
        ("no.such.host.invalid:1", "no host"),
        ("", "is no address and port"),
    ],
)
def test_only_this_machine_is_told(cli, command, where, shown):
    """Another address, or none, is refused in one line before anything is started."""
    answer = cli(*command, "--metrics", where, *(("--", "true") if command == ("mcp-proxy",) else ()))
    assert 2 == answer.code
    assert shown in answer.err
    assert len(answer.err) < 1000


def test_a_port_that_is_taken_is_told(program):
    """In one line, before a client is served."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        answer = program("mcp", "--metrics", taken.getsockname()[1])
    assert 125 == answer.code
    assert re.fullmatch(r"spillstore: .*in use\n", answer.err)


@pytest.mark.long
def test_a_missing_package_is_told(root, put):
    """Of what has to be installed the name is said."""
    put("one\n")
    for arguments in (["mcp", "--metrics", "0"], ["stats", "--prometheus"]):
        script = (
            "import sys\nsys.modules['prometheus_client'] = None\n"
            f"from spillstore_tools.cli import main\nmain({arguments!r})\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert (
            125,
            "spillstore: prometheus_client is not installed: pip install 'spillstore[prometheus]'\n",
        ) == (
            done.returncode,
            done.stderr,
        )


def test_statistics_in_the_text_format(cli, store):
    """All sums of all sessions are gauges, the same numbers as in JSON."""
    for name, project in (("one", None), ("two", "web")):
        with store.session(name, project) as session:
            tools = Toolbox(session)
            result = tools.call_sync("bash", {"command": "seq 1 40000"})
            tools.call_sync("get_artifact", {"id": result.artifact_id, "tail": 3})
            tools.call_sync("get_artifact", {"id": "art_9"})
            session.put("x" * 100_000, source="make", limit=65536)
            session.note("redaction", {"tool": "bash", "counts": {"token": 2}})
    told = cli("stats", "--all", "--json").json
    answer = cli("stats", "--all", "--prometheus")
    found = samples_of(answer.text)
    assert {"gauge"} == {family.type for family in text_string_to_metric_families(answer.text)}
    for tool, numbers in told["tools"].items():
        for field, (name, _) in TOOLS.items():
            assert numbers[field] == found[PREFIX + name, ("tool", tool)]
    for kind, numbers in told["retrievals"].items():
        for field, (name, _) in RETRIEVALS.items():
            assert numbers[field] == found[PREFIX + name, ("kind", kind)]
    median = found[PREFIX + DURATION[0], ("kind", "read"), ("quantile", "0.5")]
    assert told["retrievals"]["read"]["p50_ms"] == pytest.approx(median * 1000)
    for field, (name, label, _) in COUNTS.items():
        for word, number in told[field].items():
            assert number == found[PREFIX + name, (label, word)]
    for field, (name, _) in TOTALS.items():
        assert told[field] == found[PREFIX + name,]
    assert 2 == found[PREFIX + "sessions",]
    assert 4 == found[PREFIX + "redactions", ("kind", "token")]


def test_many_tools_are_told_apart_up_to_a_bound(plain_store):
    """Those that printed most have names; nothing is lost in the sum."""
    from spillstore_tools.telemetry import exposition

    statistics = Statistics()
    for number in range(3 * MAX_TOOLS):
        statistics._tool(f'tool "{number}"\n').calls += 1
    statistics._tool('tool "299"\n').received = 5
    found = {
        key: value for key, value in samples_of(exposition(statistics)).items() if key[0].endswith("_outputs")
    }
    assert MAX_TOOLS + 1 == len(found)
    assert 3 * MAX_TOOLS == sum(found.values())
    assert (PREFIX + "outputs", ("tool", 'tool "299"\n')) in found


def test_both_formats_at_once_are_refused(cli, put):
    """Standard output holds one of them."""
    put("one\n")
    answer = cli("stats", "--prometheus", "--json")
    assert (2, b"") == (answer.code, answer.out)


@pytest.mark.long
def test_an_empty_variable_of_the_environment_is_none(cli, put):
    """Commands run as ever, and load nothing."""
    put("one\n")
    assert b"one\n" == cli("cat", "@last", env={"SPILLSTORE_OTEL": ""}).out
    script = (
        "import sys\nfrom spillstore_tools.cli import main\n"
        "try:\n    main(['show', '@last'])\nexcept SystemExit:\n"
        "    print([m for m in sys.modules if 'telemetry' in m or m.startswith('prometheus')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stderr


def asked(there, path, host):
    """The status and the body of an answer."""
    with contextlib.closing(
        http.client.HTTPConnection(there.hostname, there.port, timeout=120)
    ) as connection:
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_requests_by_another_name_or_path_are_refused(address):
    """Only the documented path has the metrics. A web page that has a name of its own for this machine is told nothing; a client that is silent holds nobody up."""
    with served(address, 0) as url:
        there = urlsplit(url)
        with contextlib.closing(socket.create_connection((there.hostname, there.port))):
            here = f"localhost:{there.port}"
            for path in ("/", "/metrics/", "/metric", "/favicon.ico"):
                assert asked(there, path, here) == (404, b"there is nothing here but /metrics\n")
            assert asked(there, "/metrics?name[]=spillstore_outputs_total", here)[0] == 200
            for host, status in (
                (f"localhost:{there.port}", 200),
                (there.netloc, 200),
                ("127.1.2.3", 200),
                ("[::1]", 200),
                ("evil.example", 421),
                ("127.0.0.1.evil.example", 421),
                ("", 421),
                ("[", 421),
                ("0.0.0.0", 421),
            ):
                answered, body = asked(there, "/metrics", host)
                assert (status, status == 200) == (answered, b"spillstore_" in body), host
