"""``spillstore stats``: what the audit log adds up to."""

from __future__ import annotations

import tracemalloc

import pytest

from spillstore import Store
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.config import load
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.telemetry.statistics import Durations, Statistics

pytestmark = pytest.mark.everywhere

TEXT = "".join(f"line {number}\n" for number in range(1, 30_001))


def fill(store, name, project=None):
    with store.session(name, project) as session:
        tools = Toolbox(session)
        tools.call_sync("bash", {"command": "echo hi"})
        result = tools.call_sync("bash", {"command": "seq 1 40000"})
        tools.call_sync("get_artifact", {"id": result.artifact_id, "tail": 3})
        tools.call_sync("get_artifact", {"id": "art_1_0123456789abcdef"})
        session.put(TEXT, source="make", limit=65536, policy="roll")
        session.note("redaction", {"tool": "bash", "counts": {"token": 2}})
        return result.artifact_id


def test_sums_of_a_session(cli, store):
    """For each tool what was called, cut, stored and read; for each kind of read how often and how long; the rest counted."""
    fill(store, "default")
    told = cli("stats", "--json").json
    bash, make = told["tools"]["bash"], told["tools"]["make"]
    assert (bash["calls"], bash["truncated"], bash["truncation_rate"]) == (2, 1, 0.5)
    assert (bash["artifacts"], bash["reads"], bash["never_read"]) == (1, 1, 0)
    assert bash["received"] == bash["size"] + 3
    assert 0.9 < bash["reduction"] < 1
    assert (make["artifacts"], make["reads"], make["never_read"]) == (1, 0, 1)
    read = told["retrievals"]["read"]
    assert (read["calls"], read["failed"]) == (2, 1)
    assert 0 < read["p50_ms"] <= read["p95_ms"]
    assert {"artifact_limit": 1} == told["limits"]
    assert {"token": 2} == told["redactions"]
    assert {"model": 2} == told["readers"]
    assert (told["denied"], told["damaged"], told["created"], told["sessions"]) == (1, 0, 2, 1)
    assert told["artifacts_per_hour"] > 0


def test_sums_of_all_sessions(cli, store):
    """``--all`` adds up every session of the store, whatever its project."""
    fill(store, "one")
    fill(store, "two", "web")
    told = cli("stats", "--all", "--json").json
    assert (told["sessions"], told["denied"], told["tools"]["bash"]["calls"]) == (2, 2, 4)


def test_totals_are_the_sums(cli, store):
    """What was kept, shown and read back in all; errors that both ends would have lost."""
    fill(store, "one")
    with store.session("two", "web") as session:
        TruncationProcessor(session).process(f"{TEXT}a.c:3: error: boom\n{TEXT}", "make")
    told = cli("stats", "--all", "--json").json
    totals, tools, reads = told["totals"], told["tools"].values(), told["retrievals"].values()
    assert (totals["rescued"], totals["rescuing"]) == (1, 1)
    for name, parts in (
        ("kept", "artifacts"),
        ("size", "size"),
        ("stored_size", "stored_size"),
        ("shown", "shown"),
    ):
        assert totals[name] == sum(each[parts] for each in tools)
    assert totals["received"] == sum(each["received"] for each in tools)
    assert totals["reads"] == sum(each["calls"] - each["failed"] for each in reads) == 1
    assert totals["read_size"] == sum(each["size"] for each in reads)
    text = cli("stats", "--all").text
    assert "3 outputs" in text
    assert "errors:    1 line that both ends would have lost" in text


@pytest.mark.long
def test_memory_does_not_grow_with_what_is_kept():
    """Artifacts pass a page at a time, durations are counters; only the ids of what was read are held, of one session."""

    def peak(session):
        tracemalloc.start()
        try:
            Statistics().add(session)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peaks = []
    for number in (1000, 4000):
        with Store("memory:", artifacts_per_minute=100_000).session("chat") as session:
            for each in range(number):
                session.put(f"{each}\n", source="make")
            Statistics().add(session)  # what is loaded once is loaded
            peaks.append(peak(session))
    assert peaks[1] < 1.5 * peaks[0]
    durations = Durations()
    for each in range(100_000):
        durations.add(each / 7)
    assert len(durations._counts) < 2000
    assert durations.percentile(0.5) == pytest.approx(50_000 / 7, rel=0.01)


def test_what_is_gone_counts_as_read(cli, store):
    """Reads of an artifact that was deleted are told under a name of their own."""
    name = fill(store, "default")
    with store.session("default") as session:
        session.artifact(name).delete()
    assert 1 == cli("stats", "--json").json["tools"]["(deleted)"]["reads"]


def test_tables(cli, store):
    """People get tables, and a line with the rest; an empty session is no error."""
    fill(store, "default")
    text = cli("stats").text
    assert [line.split(":")[0] for line in text.splitlines()[:4]] == ["kept", "shown", "read back", "errors"]
    assert text.splitlines()[5].split()[:3] == ["tool", "calls", "cut"]
    assert "50%" in text
    assert "2 artifacts created" in text
    store.session("empty").close()
    assert cli("stats", "--session", "empty").text.startswith("1 session, 0 artifacts created")


def test_a_refused_output_is_one_that_was_cut(cli, store):
    """It is a call of its tool of which nothing was shown, beside the limit that it met."""
    configuration = load(inline_limit=500, artifact_threshold=1000, max_artifact_size=2000)
    with store.session("default") as session:
        processor = TruncationProcessor(session, profile="acode", configuration=configuration)
        for content in ("x\n" * 9_000, "short\n"):
            processor.process(content, "fetch")
    told = cli("stats", "--json").json
    fetch = told["tools"]["fetch"]
    assert (2, 1, 0.5) == (fetch["calls"], fetch["truncated"], fetch["truncation_rate"])
    assert 18_006 == fetch["received"]
    assert {"max_artifact_size": 1} == told["limits"]


def test_bytes_that_commands_print_are_counted(cli, put):
    """``cat``, ``show`` and ``tail`` say how much they have given, as the library's reads do."""
    name = put(TEXT)
    given = [
        len(cli(*command).out)
        for command in (("cat", name), ("show", name, "--lines", "3-4"), ("tail", name, "-n", "2"))
    ]
    read = cli("stats", "--json").json["retrievals"]["read"]
    assert (3, sum(given)) == (read["calls"], read["size"])
