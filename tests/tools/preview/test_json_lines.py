"""JSON Lines: levels in words and numbers, statuses, members that hold errors, and messages that stand once choose the records."""

from __future__ import annotations

import json

import pytest
from test_kinds import data_of, parts_of, shown

ROWS = 3000


def records(odd, at=1500, rows=ROWS, **usual):
    """Records that are alike, but for one of them."""
    lines = [json.dumps({"ts": number, **usual, "id": number}) for number in range(rows)]
    lines[at] = json.dumps({"ts": at, **usual, "id": at, **odd})
    return lines


@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        ({"level": 30, "msg": "request done"}, {"level": 50, "msg": "no answer"}),
        ({"level": 30, "msg": "request done"}, {"level": 60, "msg": "going down"}),
        (
            {"name": "app", "v": 0, "level": 30, "msg": "ok"},
            {"level": 50, "err": {"message": "gone"}, "msg": "x"},
        ),
        ({"severity": "INFO", "message": "done"}, {"severity": "ERROR", "message": "no answer"}),
        ({"status": 200, "path": "/a"}, {"status": 503, "path": "/a"}),
        ({"status": "ok", "task": "copy"}, {"status": "failed", "task": "copy"}),
        ({"statusCode": 200, "path": "/a"}, {"statusCode": 500, "path": "/a"}),
        ({"msg": "done", "error": None}, {"msg": "done", "error": "disk is full"}),
        ({"msg": "done"}, {"msg": "done", "error": {"code": 7}}),
        ({"msg": "done", "failed": False}, {"msg": "done", "failed": True}),
        ({"level": "info", "msg": "entry posted"}, {"level": "warn", "msg": "entry posted twice"}),
        ({"level": "info", "msg": "entry posted"}, {"msg": "der Knoten antwortet nicht"}),
    ],
)
def test_the_record_that_matters(usual, odd):
    """Of thousands of records the one is shown whose level, status, error or message is unlike the others."""
    lines = records(odd, **usual)
    assert f"\n1501: {lines[1500]}\n" in shown(data_of(lines))


def test_a_level_that_the_first_record_does_not_have():
    """The fields are learned from the first records, not from the first alone."""
    lines = records({"level": "error", "msg": "gone"}, level="info", msg="done")
    lines[0] = json.dumps({"version": 3, "started": True})
    assert f"\n1501: {lines[1500]}\n" in shown(data_of(lines))


def test_warnings_stand_behind_errors():
    """Warnings are shown where nothing is worse; of those alike the first, with the number of the others."""
    lines = records({"level": "error", "msg": "gone"}, level="info", msg="done")
    for number in range(200, 260):
        lines[number] = json.dumps({"level": "warn", "msg": "slow", "id": number})
    text = shown(data_of(lines))
    assert "slow" not in text
    assert f"\n1501: {lines[1500]}\n" in text
    lines[1500] = lines[1499]
    assert f"\n201: {lines[200]}\n  [and 59 more like this]\n" in shown(data_of(lines))


def test_a_record_that_tells_of_trouble_twice_is_counted_once():
    """By its level, its status and a member that holds an error."""
    bad = {"level": "error", "msg": "gone", "status": 502, "err": {"message": "reset"}, "error": "reset"}
    lines = records(bad, level="info", msg="done", status=200)
    assert " more like this" not in shown(data_of(lines))
    for number in range(1600, 1640):
        lines[number] = json.dumps({"ts": number, **bad, "id": number})
    text = shown(data_of(lines))
    assert f"\n1501: {lines[1500]}\n  [and 40 more like this]\n" in text
    assert text.count(" more like this") == 1


def test_errors_without_a_level_are_counted():
    """Records whose error is told by a member of that name alone: the first of each kind of message, and how many."""
    lines = records({}, msg="done", error=None)
    for number in range(500, 540):
        lines[number] = json.dumps({"msg": "copy", "id": number, "error": f"timeout of part {number}"})
    assert f"\n501: {lines[500]}\n  [and 39 more like this]\n" in shown(data_of(lines))


def test_nothing_odd():
    """Records that are all alike are told by both ends."""
    lines = records({}, level=30, msg="done")
    parts = parts_of(data_of(lines))
    assert len([part for part in parts if part.text.startswith("[...")]) == 1


def test_however_they_came():
    """The same records, the same preview, wherever they were cut."""
    data = data_of(records({"level": 50, "msg": "gone"}, at=2500, level=30, msg="done"))
    assert parts_of(data) == parts_of(data, feed=999) == parts_of(data, feed=70_003)


def test_a_record_of_trouble_is_shown_whole():
    """However much it says, while there is room; of several long ones none takes the room of the others."""
    stack = "\n".join(f"    at part_{n} (/srv/pay.js:{n}:11)" for n in range(40))
    lines = records(
        {"level": "error", "msg": "gone", "err": {"code": "ECONNRESET", "stack": stack}},
        level="info",
        msg="done",
    )
    assert len(lines[1500]) > 1500
    assert f"\n1501: {lines[1500]}\n" in shown(data_of(lines))
    for at in range(100, 1400, 100):
        lines[at] = json.dumps(
            {"level": "error", "msg": f"gone {chr(97 + at // 100)}", "err": {"stack": stack}}
        )
    text = shown(data_of(lines))
    assert all(f"\n{at + 1}: " in text for at in range(100, 500, 100))


def runs_of_tests(count=700, failing=500):
    """As a runner of tests writes what happens: names in all records, and what a test printed long before it ended."""
    lines = []
    for number in range(count):
        name = {"Package": "app/store", "Test": f"TestPart{number}"}
        lines.append(json.dumps({"Time": f"t{len(lines)}", "Action": "run", **name}))
        if number == failing:
            for said in ("got: 3", "want: 4"):
                lines.append(
                    json.dumps({"Time": f"t{len(lines)}", "Action": "output", **name, "Output": said})
                )
    for number in range(count):
        name = {"Package": "app/store", "Test": f"TestPart{number}"}
        action = "fail" if number == failing else "pass"
        lines.append(json.dumps({"Time": f"t{len(lines)}", "Action": action, **name, "Elapsed": 0}))
    return lines


@pytest.mark.parametrize("feed", [0, 4097])
def test_what_a_failing_test_has_printed(feed):
    """Where records have no message, those before the one that tells of a failure are shown that are about the same."""
    lines = runs_of_tests()
    text = shown(data_of(lines), feed=feed)
    for said in ("got: 3", "want: 4"):
        assert said in text
    assert '"fail"' in text
    assert "TestPart499" not in text


def test_records_about_the_same_in_an_output_that_is_not_held():
    """Those of the same block are shown."""
    lines = runs_of_tests(count=20_000, failing=500)
    fail = lines.pop(next(at for at, line in enumerate(lines) if '"fail"' in line))
    lines.insert(560, fail)
    data = data_of(lines)
    assert len(data) > 1 << 20
    text = shown(data, exact=False)
    assert "got: 3" in text
    assert "want: 4" in text


def test_records_of_a_burst_that_differ_in_names_alone():
    """Of paths that all failed for a while a few are shown; of tests, each of which fails once, all that there is room for."""
    paths = [f"/{first}{second}" for first in "ghijk" for second in "mnopq"]
    lines = [json.dumps({"path": paths[number % 25], "status": 200}) for number in range(ROWS)]
    lines[1500:1560] = [json.dumps({"path": paths[number % 25], "status": 502}) for number in range(60)]
    assert shown(data_of(lines)).count('"status": 502') == 6
    lines = [json.dumps({"test": "all", "Action": "run"}) for _ in range(ROWS)]
    lines[1500:1525] = [json.dumps({"test": f"all of {path[1:]}", "Action": "fail"}) for path in paths]
    assert shown(data_of(lines)).count('"Action": "fail"') == 25


def test_lines_that_are_no_records():
    """Blank ones are not counted, others are told of."""
    lines = records({}, level="info")
    assert "[3000 records of JSON Lines" in shown(data_of(lines))
    blanks = [part for line in lines for part in ([line, "", " "] if line.endswith("00}") else [line])]
    assert "[3000 records of JSON Lines" in shown(data_of(blanks))
    told = shown(
        data_of([part for line in lines for part in ([line, "up"] if line.endswith("00}") else [line])])
    )
    assert "[3000 records of JSON Lines" in told
    assert "; 29 other lines]" in told


@pytest.mark.parametrize("end", ["", "\r"])
def test_records_that_break_off(end):
    """They are no records, are told of on their own, and are shown."""
    lines = [line + end for line in records({}, status=200)]
    lines[900] = '{"ts": 900, "status":'
    text = shown(data_of(lines))
    assert "[2999 records of JSON Lines with ts, status, id; status: 200 2,999; 1 broken record]" in text
    assert '\n901: {"ts": 900, "status":\n' in text
    lines[-1] = '{"ts": 2999, "sta'
    text = shown("\n".join(lines).encode())
    assert "[2998 records of JSON Lines with ts, status, id; status: 200 2,998; 2 broken records]" in text
