"""``spillstore query``: values for a pipe, paths for people, one document for programs."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import pytest

pytestmark = pytest.mark.everywhere

USERS = b'{"users": [{"name": "Ann", "age": 31}, {"name": "B\\u00f6", "age": 7}]}'


def test_a_value_a_line(cli, put):
    """Compact JSON, and 1 for nothing found."""
    put(USERS)
    assert cli("query", "@last", "$.users[?(@.age > 30)]").text == '{"name":"Ann","age":31}\n'
    assert cli("query", "@last", "$..name").text == '"Ann"\n"Bö"\n'
    nothing = cli("query", "@last", "$.none")
    assert (nothing.code, nothing.out, nothing.err) == (1, b"", "")


def test_the_examples_of_the_help_work(program, cli, root):
    """Typed one after the other, as they stand there."""
    text = cli("query", "--help").text
    examples = re.search(r"Example:\n((?:    .*\n)+)", text)[1]
    shell = examples.replace("spillstore", shlex.join([sys.executable, "-m", "spillstore_tools.cli"]))
    done = subprocess.run(["bash", "-ec", shell], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2:] == ['"Ann"', "$['users'][0]['name']\t\"Ann\""]


def test_paths_and_limit(cli, put):
    """Where each node is; a limit says how to go on."""
    put(USERS)
    first = cli("query", "@last", "$..age", "--paths", "--limit", "1")
    assert first.text == "$['users'][0]['age']\t31\n"
    cursor = first.err.split("--cursor ")[1].strip()
    assert cli("query", "@last", "$..age", "--paths", "--cursor", cursor).text == "$['users'][1]['age']\t7\n"
    put(b'{"a": 1}\n{"a": 2}\n')
    assert cli("query", "@last", "$.a", "--paths").text == "1:$['a']\t1\n2:$['a']\t2\n"


def test_json_is_ascii(cli, put):
    """Whatever stands in paths and values is escaped, and is the same when it is read."""
    put('{"é": "ü😀", "n": 1}'.encode())
    answer = cli("query", "@last", "$.*", "--json")
    assert answer.text.isascii()
    assert [(each["path"], each["value"]) for each in answer.json["matches"]] == [
        ("$['é']", "ü😀"),
        ("$['n']", 1),
    ]


def test_json(cli, put):
    """One document whatever happens; what went wrong is in it."""
    put(USERS)
    found = cli("query", "@last", "$..age", "--json").json
    assert found["matches"][0] == {"path": "$['users'][0]['age']", "line": None, "value": 31}
    assert (found["count"], found["complete"], found["problem"]) == (2, True, None)
    nothing = cli("query", "@last", "$.none", "--json")
    assert (nothing.code, nothing.json["matches"]) == (1, [])
    put(b'{"a": 1, "b": ')
    broken = cli("query", "@last", "$.a", "--json")
    assert (broken.code, broken.json["count"], broken.json["complete"]) == (125, 1, False)
    assert "at byte 14" in broken.json["problem"]


def test_lines(cli, put):
    """What is no JSON is told on stderr and stops nothing; each form can be asked for."""
    put(b'{"a": 1}\noops\n{"a": 2}\n')
    answer = cli("query", "@last", "$.a")
    assert (answer.code, answer.text) == (0, "1\n2\n")
    assert "line 2 is no JSON: expecting value" in answer.err
    answer = cli("query", "@last", "$.a", "--document")
    assert (answer.code, answer.text) == (125, "1\n")
    put(b'{"a": 3}')
    assert cli("query", "@last", "$.a", "--lines", "--json").json["matches"][0]["line"] == 1


def test_failures(cli, put):
    """A wrong query, no JSON, and text before it."""
    put(b"banner\n{\n}")
    answer = cli("query", "@last", "$")
    assert (answer.code, answer.out) == (125, b"")
    assert "JSON may begin at line 2: start_line=2" in answer.err
    assert cli("query", "@last", "$", "--start-line", "2").text == "{}\n"
    answer = cli("query", "@last", "name")
    assert answer.code == 125
    assert "a query begins with $" in answer.err


def test_stdout_beside_warnings(cli, store):
    """Where the two together are no JSON, stdout is taken, and that is said; not where a stream is named."""
    with store.session("default") as session, session.create() as writer:
        writer.write("warning\n", stream="stderr")
        writer.write('{"a": 1}')
    answer = cli("query", "@last", "$.a")
    assert (answer.code, answer.text) == (0, "1\n")
    assert "stdout alone was queried" in answer.err
    assert cli("query", "@last", "$.a", "--stream", "combined").code == 125


def test_all_nodes_are_printed(cli, put):
    """Without a limit none is left out."""
    put(json.dumps(list(range(5000))).encode())
    assert cli("query", "@last", "$[*]").text == "".join(f"{number}\n" for number in range(5000))


def test_a_rolled_artifact(cli, put, rolled):
    """What was dropped is told, and what stands before it printed."""
    assert "is no JSON at byte 0" in cli("query", rolled, "$").err
    number = put("".join(["[", *(f"{n}, \n" for n in range(5000)), "0]"]).encode(), limit=4096, policy="roll")
    answer = cli("query", number, "$[*]")
    assert (answer.code, answer.text.split()[:100]) == (125, [str(n) for n in range(100)])
    assert "the document of art_" in answer.err
    assert "--skip-holes" not in answer.err
