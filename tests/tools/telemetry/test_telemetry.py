"""OpenTelemetry and Prometheus: that both say the same, what is a span of what, and that nobody's names run over."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import secrets
import signal
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from support import NO_FLOORS, ROOT, examples

from spillstore import Store, aio
from spillstore.events.catalogue import RETRIEVALS
from spillstore.exceptions import RangeError, SpillstoreError
from spillstore.observers import EmittedEvent
from spillstore_tools import telemetry
from spillstore_tools.agent.bash import BashTool, bash_sync
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.search_artifact import search_artifact
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.telemetry.collector import metric_name
from spillstore_tools.telemetry.instruments import INSTRUMENTS, MAX_TOOLS, LabelLimit
from spillstore_tools.telemetry.otel import NUMBERS, SPANS
from spillstore_tools.telemetry.statistics import Statistics

pytestmark = pytest.mark.everywhere

PAGE = ROOT / "docs" / "metrics.md"
BIG = "line\n" * 20_000


class Traced:
    """An SDK in memory."""

    def __init__(self):
        self.reader = InMemoryMetricReader()
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader])
        self.stop = telemetry.opentelemetry(meter_provider=self.meters, tracer_provider=self.tracers)
        self.tracer = self.tracers.get_tracer("caller")

    def close(self):
        self.stop()
        self.meters.shutdown()
        self.tracers.shutdown()

    @property
    def spans(self):
        return self.exporter.get_finished_spans()

    def named(self, name):
        return [span for span in self.spans if span.name == name]

    def numbers(self):
        """Every series: name and attributes, and its value or how many values it has."""
        found = {}
        data = self.reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.data.data_points:
                        values = tuple(sorted((name, value) for name, value in point.attributes.items()))
                        found[metric.name, values] = getattr(point, "count", getattr(point, "value", None))
        return found


@pytest.fixture
def traced():
    traced = Traced()
    yield traced
    traced.close()


@pytest.fixture
def counted():
    registry = CollectorRegistry()
    collector = telemetry.prometheus(registry)
    yield registry
    collector.close()


def use_all(store):
    """A little of everything."""
    with store.session("chat") as session:
        processor = TruncationProcessor(session)
        processor.process("short\n", "cat")
        result = processor.process(BIG, "cat")
        bash_sync(session, command="seq 1 20000; exit 3")
        bash_sync(session, command="echo hi")
        artifact = session.artifact(result.artifact_id)
        artifact.read_lines(1, 10)
        with pytest.raises(RangeError):
            artifact.read_lines(0, 1)
        search_artifact(session, id=artifact.id, pattern="line")
        search_artifact(session, id="art_9", pattern="line")
        session.put(b"token = ghp_" + b"a1B2" * 9 + b"\n", source="cat")


def test_numbers_of_a_session(plain_store, counted):
    """Outputs, sizes, artifacts, reads, refusals and secrets, by tool, kind and outcome."""
    use_all(plain_store)

    def value(name, **labels):
        return counted.get_sample_value(f"spillstore_{name}", labels)

    assert 1 == value("outputs_total", tool="cat", outcome="whole")
    assert 1 == value("outputs_total", tool="cat", outcome="truncated")
    assert 1 == value("outputs_total", tool="bash", outcome="truncated")
    assert 1 == value("outputs_total", tool="bash", outcome="whole")
    assert len(BIG) + 6 == value("output_received_bytes_total", tool="cat")
    assert 0 < value("output_shown_total", tool="cat") < 10_000
    assert 2 == value("artifacts_total", tool="cat")
    assert 1 == value("artifact_size_bytes_count", tool="bash", state="sealed")
    assert 0 < value("artifact_stored_bytes_total", tool="cat") < len(BIG)
    assert 1 == value("retrievals_total", kind="read", tool="", outcome="ok")
    assert 1 == value("retrievals_total", kind="read", tool="", outcome="RangeError")
    assert 50 == value("retrieval_returned_bytes_total", kind="read", tool="")
    for outcome in ("ok", "ArtifactNotFoundError"):
        labels = {"kind": "search", "tool": "search_artifact", "outcome": outcome}
        assert 1 == value("retrievals_total", **labels) == value("retrieval_duration_seconds_count", **labels)
    assert 1 == value("command_duration_seconds_count", tool="bash", outcome="error")
    assert 1 == value("command_duration_seconds_count", tool="bash", outcome="ok")
    assert 1 == value("denials_total", reason="malformed")
    assert 0 == value("integrity_failures_total")
    assert 1 == sum(
        sample.value
        for family in counted.collect()
        for sample in family.samples
        if sample.name == "spillstore_redactions_total"
    )


def test_metrics_and_the_audit_log_count_the_same_as_shown(plain_store, counted):
    """What was shown of each tool is one number: of output shown whole, in part, again, in the background, refused and handed on."""
    with plain_store.session("chat") as session:
        processor = TruncationProcessor(session)
        for text in ("short \u00e9\n", BIG, BIG):
            result = processor.process(text, "cat")
        processor.process(session.artifact(result.artifact_id), "cat")
        processor.process(get_artifact(session, id=result.artifact_id).text, "cat")
        tool = BashTool(session)
        tool.call_sync({"command": "echo caf\u00e9; exit 3"})
        tool.call_sync({"command": "seq 1 20000"})
        pid = tool.call_sync({"command": "seq 1 9; sleep 100", "timeout": 0}).pid
        tool.call_sync({"check_pid": pid})
        tool.call_sync({"kill_pid": pid})
    with plain_store.session("chat", read_only=True) as session:
        statistics = Statistics()
        statistics.add(session)
    for name in ("cat", "bash"):
        assert statistics.tools[name].shown == counted.get_sample_value(
            "spillstore_output_shown_total", {"tool": name}
        )


def test_both_say_the_same(plain_store, traced, counted):
    """Every number of OpenTelemetry is one of Prometheus, under the translated names."""
    use_all(plain_store)
    units = {each.name: each for each in INSTRUMENTS}
    ours = {}
    for (name, values), number in traced.numbers().items():
        instrument = units[name]
        suffix = {"counter": "_total", "histogram": "_count", "gauge": ""}[instrument.kind]
        labels = {attribute.removeprefix("spillstore."): value for attribute, value in values}
        assert set(labels) == set(instrument.attributes)
        ours[name, values] = number
        assert number == counted.get_sample_value(metric_name(instrument) + suffix, labels), name
    assert len(ours) > 25


def test_what_is_shown_whole_and_not_stored_counts_its_secrets(counted):
    """Secrets in output that no artifact holds are counted, too, once."""
    TruncationProcessor(None).process("token = ghp_" + "a1B2" * 9 + "\n", "cat")
    total = [s.value for f in counted.collect() for s in f.samples if s.name == "spillstore_redactions_total"]
    assert [1] == total


def test_a_name_that_is_hidden_is_not_told(tmp_path, counted, caplog):
    """With ``hidden_metadata`` every tool of a session is ``hidden``, whether its output is stored or not."""
    caplog.set_level(logging.DEBUG, "spillstore")
    with Store(tmp_path, **NO_FLOORS, hidden_metadata=True).session("s") as session:
        processor = TruncationProcessor(session)
        processor.process("short", "private")
        processor.process(BIG, "private")
        tool = BashTool(session, source="private")
        tool.call_sync({"command": "seq 1 20000"})
        tool.call_sync({"command": "true"})
        with pytest.raises(Exception, match="limit"):
            session.put(BIG, source="private", limit=10, policy="reject")
    text = generate_latest(counted).decode()
    assert "private" not in text
    assert 'tool="hidden"' in text
    assert "private" not in repr([vars(record) for record in caplog.records])


@given(st.lists(st.text(max_size=200), max_size=300))
@examples(30)
def test_names_are_bounded(names):
    """However many names callers invent, so many series there are; each label can be printed and read back."""
    label = LabelLimit(MAX_TOOLS)
    labels = [label(name) for name in names]
    assert len(set(labels)) <= MAX_TOOLS + 1
    assert labels == [label(name) for name in names]
    registry = CollectorRegistry()
    collector = telemetry.prometheus(registry)
    try:
        for name in names:
            collector.on_event(EmittedEvent("create", {"source": name}))
        families = list(text_string_to_metric_families(generate_latest(registry).decode()))
    finally:
        collector.close()
    counts = [s.value for f in families for s in f.samples if s.name == "spillstore_artifacts_total"]
    assert len(names) == sum(counts)


@pytest.mark.parametrize("value", [None, "many", -1, float("nan"), object(), [1]])
def test_a_detail_may_be_anything(value, counted, traced):
    """``Session.note`` takes what callers give; a number that is none counts nothing."""
    for kind in ("output", "seal", "read", "redaction", "lost", "limit", "create"):
        names = (
            "tool",
            "outcome",
            "size",
            "stored_size",
            "received",
            "shown",
            "bytes",
            "counts",
            "events",
            "limit",
        )
        event = EmittedEvent(
            kind, dict.fromkeys(names, value) | {"redactions": {value.__class__: value}}, "s", None, 0.1
        )
        for collector in list(counted._names_to_collectors.values())[:1]:
            collector.on_event(event)
    assert b"nan" not in generate_latest(counted).lower().replace(b"nanosecond", b"")


def test_threads_count_everything(counted):
    """Two thousand events of eight threads are two thousand."""
    collector = next(iter(counted._names_to_collectors.values()))

    def work():
        for _ in range(250):
            collector.on_event(EmittedEvent("create", {"source": "t"}))
            collector.on_event(EmittedEvent("commit", {}, None, None, 0.001))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 2000 == counted.get_sample_value("spillstore_artifacts_total", {"tool": "t"})
    assert 2000 == counted.get_sample_value("spillstore_commit_duration_seconds_count")
    assert 2000 == counted.get_sample_value("spillstore_commit_duration_seconds_bucket", {"le": "0.001"})
    assert 0 == counted.get_sample_value("spillstore_commit_duration_seconds_bucket", {"le": "0.0005"})


def test_no_series_of_creation_times(plain_store, counted):
    """The samples ``_created`` of the library, as many as all others, are left out; those of the application stay."""
    Counter("mine", "of the application", registry=counted).inc()
    use_all(plain_store)
    found = [s.name for family in counted.collect() for s in family.samples if s.name.endswith("_created")]
    assert ["mine_created"] == found


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer versions warn of a fork beside threads
@pytest.mark.parametrize("counts_on", [True, False])
def test_a_forked_child_counts(counts_on):
    """It counts on; and from 0 where another thread was counting at that moment, whose lock nobody releases there."""
    registry = CollectorRegistry()
    collector = telemetry.prometheus(registry)
    collector.on_event(EmittedEvent("evict", {}))
    held, release = threading.Event(), threading.Event()

    def hold():
        with collector._lock:
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    if not counts_on:
        thread.start()
        held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends what would wait for ever
        collector.on_event(EmittedEvent("evict", {}))
        os._exit(int(registry.get_sample_value("spillstore_evictions_total")))
    release.set()
    assert (2 if counts_on else 1) == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not counts_on:
        thread.join()
    assert 1 == registry.get_sample_value("spillstore_evictions_total")
    collector.close()


def test_gauges_say_what_is_held(plain_store, counted):
    """Open sessions and artifacts are counted when somebody looks."""
    before = counted.get_sample_value("spillstore_session_open")
    with plain_store.session("s") as session, session.create() as writer:
        writer.write(b"x")
        assert before + 1 == counted.get_sample_value("spillstore_session_open")
        assert 1 == counted.get_sample_value("spillstore_artifact_open")
    assert before == counted.get_sample_value("spillstore_session_open")
    assert 0 == counted.get_sample_value("spillstore_artifact_open")


def parents(traced):
    """Each span's name with that of its parent."""
    names = {span.context.span_id: span.name for span in traced.spans}
    return [
        (span.name, None if span.parent is None else names.get(span.parent.span_id)) for span in traced.spans
    ]


def test_spans_are_children_of_the_callers(plain_store, traced):
    """A command, what it stores, and the output made of it are a part of what called, and so is each read."""
    with plain_store.session("s") as session:
        with traced.tracer.start_as_current_span("turn"):
            result = bash_sync(session, command="seq 1 20000")
        with traced.tracer.start_as_current_span("look"):
            search_artifact(session, id=result.artifact_id, pattern="7")
        session.artifact(result.artifact_id).read_bytes(0, 5)
    found = parents(traced)
    assert ("spillstore.command", "turn") in found
    assert ("spillstore.output", "spillstore.command") in found
    assert {"spillstore.command"} == {parent for name, parent in found if name == "spillstore.commit"}
    assert ("spillstore.search", "look") in found
    assert ("spillstore.read", None) in found
    assert not trace.get_current_span().get_span_context().is_valid
    (command,) = traced.named("spillstore.command")
    (output,) = traced.named("spillstore.output")
    assert command.start_time <= output.start_time <= output.end_time <= command.end_time
    assert {"spillstore.tool": "bash", "spillstore.outcome": "ok", "spillstore.exit_code": 0} == dict(
        command.attributes
    )


def test_spans_of_asyncio_are_children_of_the_callers(tmp_path, traced):
    """Two tasks that work at the same time on the loop's threads each have their own."""

    async def task(session, name):
        with traced.tracer.start_as_current_span(name):
            result = await BashTool(session).call({"command": f"seq 1 20000; echo {name}"})
            artifact = await session.artifact(result.artifact_id)
            await artifact.read_lines(1, 2)

    async def both():
        async with await aio.Store(tmp_path, **NO_FLOORS).session("s") as session:
            await asyncio.gather(task(session, "one"), task(session, "two"))

    asyncio.run(both())
    found = parents(traced)
    for name in ("one", "two"):
        assert 1 == found.count(("spillstore.command", name))
        assert 1 == found.count(("spillstore.read", name))
    assert 2 == found.count(("spillstore.output", "spillstore.command"))


def test_a_processed_output_is_a_span(plain_store, traced):
    """Its commits are a part of it, and what fails is marked."""
    with plain_store.session("s") as session:
        processor = TruncationProcessor(session)
        processor.process(BIG, "cat")
        with pytest.raises(SpillstoreError):
            processor.process(object(), "cat")
        with pytest.raises(RangeError):
            session.infos().items and session.artifacts().items[0].read_lines(0, 0)
    found = parents(traced)
    assert {"spillstore.output"} == {parent for name, parent in found if name == "spillstore.commit"}
    good, bad = traced.named("spillstore.output")
    assert (StatusCode.UNSET, StatusCode.ERROR) == (good.status.status_code, bad.status.status_code)
    assert "truncated" == good.attributes["spillstore.outcome"]
    (read,) = traced.named("spillstore.read")
    assert (StatusCode.ERROR, "RangeError") == (
        read.status.status_code,
        read.attributes["spillstore.outcome"],
    )


def test_spans_and_metrics_hold_no_content(plain_store, traced, counted):
    """Not the output, not the command, not an id, not what was looked for."""
    mark = f"mark{secrets.token_hex(8)}"
    with plain_store.session(mark) as session:
        result = bash_sync(session, command=f"seq 1 20000; echo {mark}", tool_call_id=mark)
        search_artifact(session, id=result.artifact_id, pattern=mark)
        search_artifact(session, id=mark, pattern=mark)
        TruncationProcessor(session).process(mark * 10_000, "cat", command=mark)
    told = repr([(span.name, dict(span.attributes), span.events, span.status) for span in traced.spans])
    told += repr(traced.numbers()) + generate_latest(counted).decode()
    assert mark not in told
    assert result.artifact_id not in told


def test_nothing_is_told_after_the_end(plain_store):
    """Who has stopped both sees no more of it, and the registry is free for another."""
    traced, registry = Traced(), CollectorRegistry()
    collector = telemetry.prometheus(registry)
    traced.stop()
    collector.close()
    use_all(plain_store)
    assert () == traced.spans
    assert {} == traced.numbers()
    assert b"" == generate_latest(registry)
    telemetry.prometheus(registry).close()
    traced.close()


@pytest.mark.long
def test_a_missing_package_is_named():
    """The error says what to install; anything else that is missing is a defect."""
    script = (
        "import sys\nsys.modules[{package!r}] = None\nfrom spillstore_tools import telemetry\n"
        "try:\n    telemetry.{name}()\nexcept telemetry.ExtraMissingError as error:\n    print(error)\n"
    )
    for package, name, extra in (
        ("opentelemetry", "opentelemetry", "otel"),
        ("prometheus_client", "prometheus", "prometheus"),
    ):
        code = script.format(package=package, name=name)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
        assert f"{package} is not installed: pip install 'spillstore[{extra}]'\n" == done.stdout


@pytest.mark.long
def test_only_the_api_is_imported():
    """Without an SDK all of it does nothing, and loads none."""
    script = (
        "import sys, tempfile\nfrom spillstore import Store\nfrom spillstore_tools import telemetry\n"
        "stop = telemetry.opentelemetry()\n"
        "with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session('s') as session:\n"
        "    session.put(b'one').read_bytes(0, 1)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert "[]\n" == done.stdout


def observed(arguments, said):
    """A command as a process whose spans are printed on stderr, each as a line of JSON."""
    script = (
        "import sys\n"
        "from opentelemetry import trace\nfrom opentelemetry.sdk.trace import TracerProvider\n"
        "from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor\n"
        "tracers = TracerProvider()\n"
        "line = lambda span: span.to_json(indent=None) + '\\n'\n"
        "tracers.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr, formatter=line)))\n"
        "trace.set_tracer_provider(tracers)\n"
        f"from spillstore_tools.cli import main\nmain({arguments!r})\n"
    )
    env = {**os.environ, "SPILLSTORE_OTEL": said}
    return subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.long
def test_a_variable_switches_it_on_for_commands(root, put):
    """With ``SPILLSTORE_OTEL`` a command tells the providers of its process; a wrong value is refused."""
    name = put("one\ntwo\n")
    (span,) = observed(["cat", name], "true").stderr.splitlines()
    assert "spillstore.read" == json.loads(span)["name"]
    assert "" == observed(["cat", name], "false").stderr == observed(["cat", name], "").stderr
    wrong = observed(["cat", name], "maybe")
    assert (125, "spillstore: SPILLSTORE_OTEL must be true or false (1 and 0 will do), not 'maybe'\n") == (
        wrong.returncode,
        wrong.stderr,
    )


@pytest.mark.long
def test_a_command_that_is_run_is_a_span(root, store):
    """What is stored of it is a part of it; a wrong value of the variable is told, and costs no output."""
    done = observed(["run", "--", "seq", "20000"], "1")
    spans = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    (command,) = (span for span in spans if span["name"] == "spillstore.command")
    parents = {span["parent_id"] for span in spans if span["name"] == "spillstore.commit"}
    assert {command["context"]["span_id"]} == parents
    assert "run" == command["attributes"]["spillstore.tool"]
    wrong = observed(["run", "--", "seq", "20000"], "maybe")
    assert 0 == wrong.returncode
    assert "SPILLSTORE_OTEL must be true or false" in wrong.stderr
    with store.session("default", read_only=True) as session:
        assert 2 == len(session.artifacts().items)


def table(width, first):
    """The rows of the manual's tables of that many columns whose first cell is a name of ours."""
    rows = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == width and re.match(first, cells[0]):
            rows.append(cells)
    return rows


def test_the_manual_tells_every_instrument():
    """The table of ``docs/metrics.md`` is the one of the code."""
    expected = [
        [
            f"`{each.name}`",
            each.kind,
            f"`{each.unit}`",
            ", ".join(f"`{name}`" for name in each.attributes),
            each.meaning,
        ]
        for each in INSTRUMENTS
    ]
    assert expected == table(5, r"`spillstore\.")


def test_the_manual_tells_every_span():
    """So is that of spans; every number that they have is named, and every kind of retrieval."""
    assert {f"`spillstore.{kind}`" for kind in SPANS} == {name for name, _ in table(2, r"`spillstore\.")}
    text = PAGE.read_text(encoding="utf-8")
    assert [] == [name for name in NUMBERS if f"`{name}`" not in text]
    (kinds,) = re.findall(r"^- `kind` of a retrieval: (.*?);", text, re.MULTILINE)
    assert set(re.findall(r"\w+", kinds)) == RETRIEVALS
