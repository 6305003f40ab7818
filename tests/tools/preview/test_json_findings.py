"""JSON: records that tell of trouble or are unlike the others are shown first, with their paths; equal ones are few."""

from __future__ import annotations

import json

import pytest
from previews import reader, whole

from spillstore_tools.config import load
from spillstore_tools.output.rendering import render
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.structured import json_records
from spillstore_tools.preview.structured.json_findings import findings
from spillstore_tools.preview.structured.json_tree import parsed
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile as profile_named

pytestmark = pytest.mark.everywhere


def found(content, room=3200, **options):
    text = json.dumps(content, **options)
    return findings(text, parsed(text), room)


def records(odd, usual, at=311, count=900):
    """Records that are alike, but for one of them."""
    rows = [{"id": number, **usual} for number in range(count)]
    rows[at].update(odd)
    return rows


def processed(store, content):
    """The text that is shown; it is checked that nothing is lost between it and what is stored."""
    with store.session("chat") as session:
        result = TruncationProcessor(session, flags="").process(json.dumps(content), "tool")
        artifact = session.artifact(result.artifact_id)
        rendered = render(artifact, profile_named("default"))
        assert rendered.text == result.content
        assert clean(artifact.read_bytes(0, artifact.info.size)) == whole(rendered, reader(artifact))
        return result.content


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        ({"state": "SUCCEEDED"}, {"state": "FAILED"}),
        ({"status": 200}, {"status": 503}),
        ({"colour": "green"}, {"colour": "mauve"}),
        ({"ok": True}, {"ok": False}),
        ({"name": "a"}, {"name": "a", "error": {"code": 7}}),
        ({"name": "a"}, {"name": "a", "extra": 1}),
        ({"response": {"status": 200}}, {"response": {"status": 500, "body": "ledger locked"}}),
    ],
)
def test_one_odd_element_among_hundreds_was_not_shown(usual, odd, indent):
    """It is shown with its path, whole, wherever the array stands."""
    rows = records(odd, usual)
    for content, path in ((rows, "$[311]"), ({"a": {"rows": rows}}, "$.a.rows[311]")):
        result = found(content, indent=indent)
        assert result.are_odd
        shown = [line for line in result.lines if line.startswith(f"{path}: ")]
        assert [json.loads(line.split(": ", 1)[1]) for line in shown] == [rows[311]]


def test_values_of_few_were_not_counted():
    """Members of few values are counted as in JSON Lines, under the path of the array."""
    result = found({"jobs": records({"state": "FAILED"}, {"state": "SUCCEEDED"})})
    assert result.lines[0] == "$.jobs[*]: state: SUCCEEDED 899, FAILED 1"


def test_an_odd_element_of_more_than_a_piece(monkeypatch):
    """What is found does not depend on how much is read at once."""
    content = {"rows": records({"state": "FAILED", "error": "x"}, {"state": "up", "in": {"a": [1], "b": []}})}
    expected = found(content)
    monkeypatch.setattr(json_records, "_PIECE", 40)
    assert found(content) == expected


def test_an_odd_member_of_an_object_of_many():
    """An object whose members are all objects holds records, as an array does."""
    content = {"found": {f"part {n}": {"severity": "low" if n != 77 else "critical"} for n in range(300)}}
    assert found(content).lines == [
        "$.found[*]: severity: low 299, critical 1",
        '$.found[\'part 77\']: {"severity": "critical"}',
    ]


def test_troubles_of_one_message_are_counted():
    """The first of them is shown with the number of the others; messages that differ in numbers are one."""
    rows = records({"level": "error", "msg": "locked by 41"}, {"level": "info", "msg": "done"})
    rows[500] = {"id": 500, "level": "error", "msg": "locked by 55"}
    assert found(rows).lines[1:] == [
        '$[311]: {"id": 311, "level": "error", "msg": "locked by 41"}  [and 1 more like this]'
    ]


@pytest.mark.parametrize(
    "content",
    [
        [{"id": number, "name": f"n{number}"} for number in range(900)],
        [{"id": number, "labels": {f"k{number}": "v"}} for number in range(50)],
        [{"limits": {"failureThreshold": 3}} for _ in range(90)],
        [{"option": name, "value": 1} for name in ("timeout", "error", *map(str, range(200)))],
        [{"errors": 0, "error": None, "failure": "", "problems": []} for _ in range(90)],
        list(range(2000)),
        "error",
    ],
)
def test_nothing_odd(content):
    """Names, labels and settings are unlike each other, and tell of no trouble."""
    assert not found(content).are_odd


def checked(files=40, findings_in_each=50):
    """What a checker of sources reports."""
    rules = ["too-long", "unused"]
    return [
        {
            "file": f"/src/f{number}.ts",
            "messages": [
                {
                    "rule": rules[each % 2],
                    "severity": 2,
                    "message": f"'n{each}' is no good name",
                    "line": each,
                }
                for each in range(findings_in_each)
            ],
            "errorCount": findings_in_each,
            "source": "import a from './a';\n" * 80,
        }
        for number in range(files)
    ]


def test_a_number_of_troubles_was_taken_for_their_text():
    """Numbers of troubles are summed, and the first finding of each rule is shown."""
    lines = found(checked()).lines
    assert "$[*].errorCount: 2000 in all, in 40 of 40" in lines
    assert not any(line.startswith("$[0].errorCount") for line in lines)
    for index, rule in enumerate(("too-long", "unused")):
        (line,) = (line for line in lines if line.startswith(f"$[0].messages[{index}]: "))
        assert f'"rule": "{rule}"' in line
        assert line.endswith("  [and 999 more like this]")


def test_sources_took_the_room_of_findings(plain_store):
    """Long strings that many records have are not shown where no word in them tells; those that do are."""
    content = checked()
    text = processed(plain_store, content)
    assert "is no good name" in text
    assert "lines of text" not in text
    content[7]["source"] += "src/a.c:3: error: no such name\n"
    assert "error: no such name" in processed(plain_store, content)


def test_an_odd_element_was_followed_by_equal_ones_to_the_limit(plain_store):
    """Beside it stand two elements of either end."""
    text = processed(plain_store, {"results": records({"status": "failed"}, {"status": "ok"})})
    assert "$.results[311]: " in text
    assert '"... 896 items omitted ..."' in text
    assert len(text) < 1000


@pytest.mark.parametrize("limit", [1200, 4300, 5000])
def test_little_room(plain_store, limit):
    """Where all that is found takes more than its share, less of it is shown, and the JSON stays JSON."""
    rows = [{"id": number, "level": "error", "msg": f"x{number:x}" * 60} for number in range(90)]
    configuration = load(inline_limit=limit)
    with plain_store.session("chat") as session:
        processor = TruncationProcessor(session, configuration=configuration)
        result = processor.process(json.dumps([{"id": 0, "level": "info"}, *rows]), "tool")
    assert result.metadata.strategy_used == "element"
    assert len(result.content) <= limit


def test_elements_that_each_say_something_stay(plain_store):
    """A rare value among records with words of their own takes no room from them."""
    rows = [{"title": f"how to mend the {number}th roof", "state": "open"} for number in range(400)]
    rows[300]["state"] = "draft"
    text = processed(plain_store, rows)
    assert "$[300]: " in text
    assert len(text) > 4000


def test_a_notice_called_a_part_all_of_it(plain_store):
    """A call that brings elements of JSON, or a text in it, brings more of it, not all."""
    for content in (records({}, {"a": 1}), {"stdout": "a line of it\n" * 2000, "exit_code": 0}):
        text = processed(plain_store, content)
        assert "a part is shown. More of it: get_artifact(" in text
        assert "All of it" not in text


def test_members_with_the_same_name_and_odd_characters():
    """Paths and values are written so that they can be printed, and the last member of a name counts."""
    text = '[{"s": "a", "s": "\\u001b[31m"}' + ', {"s": "b"}' * 99 + "]"
    lines = findings(text, parsed(text), 3200).lines
    assert lines[0] == "$[*]: s: b 99, \\u001b[31m 1"
    assert all(line.isprintable() for line in lines)
