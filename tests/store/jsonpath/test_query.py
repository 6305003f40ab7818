"""Queries: the nodes that the library finds, whole and streamed, page by page, of documents and of lines."""

from __future__ import annotations

import json
import re
import sys
import traceback
import tracemalloc
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonpath_rfc9535 import JSONPathEnvironment
from support import NO_FLOORS, examples, not_for_ever

from spillstore import Store
from spillstore.exceptions import (
    DroppedRangeError,
    NotJSONError,
    QueryError,
    QueryLimitError,
    RangeError,
)
from spillstore.info import BadLine, json_text
from spillstore.jsonpath import queried_view
from spillstore.jsonpath import query as _query
from spillstore.jsonpath.compiler import compiled
from spillstore.jsonpath.hints import EXAMPLE

NAMES = ["a", "b", "c", "é", "a b", "it's", "0", ""]
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, -1.5, 1e20]),
    st.sampled_from(["", "a", "ab,]}", 'q"{[', "\\", "é", "x" * 40]),
)  # fmt: skip
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=30,
)
indices = st.integers(-4, 4)
bounds = st.none() | indices
tests = st.sampled_from(
    ["@.a", "!@.b", "@.a == 1", "@ > 0", "@.a < @.b || @.c", "@.a && @[0]", "count(@.*) > 1", "length(@) == 2",
     "@..a", "match(@, 'a.*')", "search(@.a, '[ab]')", "value(@..a) == 1", "@.* || @ == 'a'", "@[-1] != 0", "(@.a)",
     "@.a >= 1 && !(@.b == null)", "@['a b'] == \"x\""]
)  # fmt: skip
selectors = st.one_of(
    st.sampled_from(NAMES).map(lambda name: json.dumps(name, ensure_ascii=False)),
    indices.map(str),
    st.just("*"),
    st.tuples(bounds, bounds, st.none() | st.integers(1, 3)).map(
        lambda parts: ":".join("" if part is None else str(part) for part in parts)
    ),
    tests.map("?{}".format),
)
segments = st.tuples(st.sampled_from(["", ".."]), st.lists(selectors, min_size=1, max_size=3)).map(
    lambda parts: f"{parts[0]}[{', '.join(parts[1])}]"
)
queries = st.lists(segments, max_size=4).map(lambda parts: "$" + "".join(parts))
layouts = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}, {"ensure_ascii": False}])


@pytest.fixture(scope="module")
def session(module_root):
    with Store(module_root, **NO_FLOORS).session("chat") as session:
        yield session


def expected(document, query):
    """Paths and values, by the library."""
    found = JSONPathEnvironment().compile(query).find(document)
    return [(node.path(), node.value) for node in found]


def of(matches):
    return [(match.path, match.value) for match in matches]


def pages(artifact, query, **options):
    """All pages of a query."""
    found = [artifact.query(query, **options)]
    while found[-1].cursor is not None:
        found.append(artifact.query(query, **{**options, "cursor": found[-1].cursor}))
    return found


@examples(150)
@given(documents, queries, layouts, st.integers(1, 5))
def test_the_nodes_of_the_library_in_pages(session, document, query, layout, limit):
    """Paths, values and order agree, the pages joined are the whole, and only the last knows the total."""
    artifact = session.put(json.dumps(document, **layout), newline="lf")
    wanted = expected(document, query)
    found = pages(artifact, query, limit=limit, lines=False)
    assert of(match for page in found for match in page.matches) == wanted
    assert [match.number for page in found for match in page.matches] == list(range(1, len(wanted) + 1))
    assert all(len(page.matches) <= limit for page in found)
    assert [page.total for page in found] == [None] * (len(found) - 1) + [len(wanted)]
    counted = artifact.query(query, limit=0, lines=False)
    assert (counted.matches, counted.total, counted.complete) == ((), len(wanted), True)
    artifact.delete()


@examples(300)
@given(
    documents.filter(lambda document: isinstance(document, (dict, list))),
    queries,
    layouts,
    st.integers(8, 60),
)
def test_a_streamed_document_gives_the_same(session, document, query, layout, block):
    """However little is read at once: entering containers finds what decoding the document does."""
    artifact = session.put(json.dumps(document, **layout), newline="lf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_query, "WHOLE", 0)
        patch.setattr(queried_view, "BLOCK", block)
        found = artifact.query(query, limit=10_000, lines=False)
    assert of(found.matches) == expected(document, query)
    assert found.complete
    artifact.delete()


@examples(100)
@given(st.lists(documents, min_size=1, max_size=8), queries, st.integers(1, 4), st.booleans())
def test_lines_are_documents(session, lines, query, limit, end):
    """Each line's nodes with its number, over all pages."""
    text = "\n".join(json.dumps(line) for line in lines) + ("\n" if end else "")
    artifact = session.put(text, newline="lf", content_type="application/x-ndjson")
    wanted = [(number, *node) for number, line in enumerate(lines, 1) for node in expected(line, query)]
    found = pages(artifact, query, limit=limit)
    assert [(match.line, match.path, match.value) for page in found for match in page.matches] == wanted
    assert found[-1].total == len(wanted)
    assert found[0].lines
    artifact.delete()


@examples(150)
@given(documents.filter(lambda document: isinstance(document, (dict, list))), st.data())
def test_a_document_that_breaks_off(session, document, data):
    """What stands before the end is found as far as it is whole; then comes the byte at which it ends."""
    text = json.dumps(document)
    cut = data.draw(st.integers(1, len(text) - 1))
    artifact = session.put(text[:cut], newline="lf")
    whole = expected(document, "$.*")
    found = []
    with pytest.raises(NotJSONError) as raised:
        for node in artifact.nodes("$.*", lines=False):
            found.append(node)
    assert of(found) == whole[: len(found)]
    assert raised.value.byte == cut
    # What is told apart from the next by a comma is whole.
    assert len(found) >= _commas(text[:cut])
    artifact.delete()


def _commas(text):
    """Commas between the children of the outermost container."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"|"(?:[^"\\]|\\.)*\\?$', "", text)
    depth = count = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        count += character == "," and depth == 1
    return count


# --- what JSON may be -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[12345678901234567890123]", [12345678901234567890123]),
        ("[-0, -0.0, 1.0, 1e2]", [0, -0.0, 1.0, 100.0]),
        ("[1e400, -1E+400]", [Decimal("1e400"), Decimal("-1e400")]),
        (f"[{'9' * 5000}]", [Decimal("9" * 5000)]),
        (r'["\ud800", "\ud83d\ude00"]', ["\ud800", "\U0001f600"]),
        ("\ufeff [1]\n", [1]),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("3", 3),
        ('"\\u0000"', "\0"),
    ],
)
def test_no_value_comes_back_changed(session, text, value):
    """Numbers of any size, half surrogates, a mark of UTF-8: what JSON allows, and its JSON is the same value again."""
    match = session.put(text, newline="lf").query("$").matches[0]
    assert (repr(match.value), match.path) == (repr(value), "$")
    assert repr(session.put(json_text(match.value), newline="lf").query("$").matches[0].value) == repr(value)


@pytest.mark.parametrize(
    ("data", "byte", "words"),
    [
        (b"", 0, "it is empty"),
        (b" \n ", 3, "nothing but white space"),
        (b"[1, NaN]", 4, "NaN is no number"),
        (b"[1, 2", 5, "end"),
        (b"[1,]", 3, "missing|expecting value"),
        (b"[1] x", 4, "there is more|extra data"),
        (b'["\xff"]', 2, "no UTF-8"),
        (b'["a\tb"]', 3, "control character"),
        ('["a"]'.encode("utf-16"), 0, "UTF-16"),
        ('["a"]'.encode("utf-16-le"), 0, "UTF-16"),
        (b"[1}", 2, "delimiter|bracket"),
        (b"\x1b[1m{}", 0, "coloured"),
        (b"{1: 2}", 1, "name"),
    ],
)
@pytest.mark.parametrize("whole", [0, 2**20])
def test_what_is_no_json(session, monkeypatch, data, byte, words, whole):
    """The byte at which that shows and why, whether the document is decoded at once or streamed."""
    monkeypatch.setattr(_query, "WHOLE", whole)
    with pytest.raises(NotJSONError, match=words) as raised:
        list(session.put(data, newline="lf").nodes("$.x", lines=False))
    assert (raised.value.byte, raised.value.line) == (byte, data[:byte].count(b"\n") + 1)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": [1, 2], "a": [3, 4]}', [4]),
        ('{"a": [1, 2]} trailing', [2]),
        ('{"a": [1, 2, {"b": tru}]}', [2]),
        ('{"a": [1, 2], "b": [[', [2]),
        ('{"a": [1, 2, 1e9999999999999999999999]}', [2]),
    ],
)
def test_what_stands_before_damage_is_found(session, text, values):
    """A page has it, and the problem."""
    page = session.put(text, newline="lf").query("$.a[1]", lines=False)
    assert [match.value for match in page.matches] == values
    assert page.complete is (page.problem is None)
    assert page.problem is None or "is no JSON at byte" in page.problem


def test_a_banner_before_the_json(session):
    """The error says at which line it may begin, and from there it is read."""
    artifact = session.put('[INFO] fetching\nstatus: {ok}\n{\n"a": 1}\n')
    with pytest.raises(NotJSONError, match="JSON may begin at line 3: start_line=3"):
        artifact.query("$.a")
    assert [match.value for match in artifact.query("$.a", start_line=3).matches] == [1]
    with pytest.raises(RangeError, match="fewer lines"):
        artifact.query("$.a", start_line=30)


def test_what_nests_deeply_is_refused(session):
    """No depth ends the interpreter; what Python cannot hold is said."""
    for text in ("[" * 100_000 + "]" * 100_000, '{"a":' * 20_000 + "1" + "}" * 20_000):
        for query in ("$..a", "$[0]", "$"):
            with pytest.raises(QueryLimitError, match="nested more deeply"):
                session.put(text).query(query)
    page = session.put("[" * 400 + "1" + "]" * 400).query("$..[0]", limit=1000)
    assert (page.total, page.matches[-1].value) == (400, 1)


def test_a_running_and_an_interrupted_document(session):
    """What is there is queried, and why it ends is said."""
    with session.create() as writer:
        writer.write('{"rows": [{"n": 1}, {"n": 2}, {"n"')
        writer.flush()
        page = session.artifact(writer.id).query("$.rows[*].n")
        assert [match.value for match in page.matches] == [1, 2]
        assert "still being written" in page.problem
        writer.abort("killed")
    page = session.artifact(writer.id).query("$..n")
    assert [match.value for match in page.matches] == [1, 2]
    assert "was interrupted" in page.problem


def test_what_was_dropped(plain_store):
    """Up to the hole a document gives what it has; of lines only those that are torn are missing."""
    with plain_store.session("chat") as session:
        rows = [{"n": number, "text": "x" * 50} for number in range(3000)]
        artifact = session.put(json.dumps(rows), limit=64 * 1024, policy="roll", newline="lf")
        found = []
        with pytest.raises(DroppedRangeError, match="breaks off at byte 16384"):
            for node in artifact.nodes("$[*].n"):
                found.append(node.value)
        assert found == list(range(len(found)))
        assert len(found) > 100
        assert "breaks off" in artifact.query("$[*].n", limit=10_000).problem
        lines = session.put(
            "".join(f"{json.dumps(row)}\n" for row in rows), limit=64 * 1024, policy="roll", newline="lf"
        )
        nodes = list(lines.nodes("$.n"))
        hole = lines.info.hole
        assert {node.line for node in nodes if isinstance(node, BadLine)} <= {hole.first_line, hole.last_line}
        kept = [node for node in nodes if not isinstance(node, BadLine)]
        assert [node.value for node in kept] == [node.line - 1 for node in kept]
        assert len(kept) >= 3000 - (hole.last_line - hole.first_line + 1)


# --- lines ------------------------------------------------------------------------------------------------


def test_lines_are_found_out(session):
    """The first line is a whole document and not the last, or the content type says it, or the caller."""
    assert session.put('{"a": 1}\n\n{"a": 2}').query("$.a").lines
    assert not session.put('{"a": 1}\n\n').query("$.a").lines
    assert not session.put('[\n{"a": 1}\n]\n').query("$.a", limit=0).lines
    assert session.put('{"a": 1}', content_type="application/jsonl; charset=utf-8").query("$.a").lines
    page = session.put('{"a": 1}\n{"a": 2}').query("$.a", lines=False)
    assert (len(page.matches), page.complete) == (1, False)
    assert session.put("{}").query("$.a", lines=True).lines


def test_a_bad_line_stops_no_other(session):
    """Each is told once, on the page whose nodes stand behind it."""
    text = '{"a": 1}\nwarning\n{"a": 2}\n\n{"a"\n{"a": 3}\n'
    artifact = session.put(text)
    page = artifact.query("$.a")
    assert [(match.line, match.value) for match in page.matches] == [(1, 1), (3, 2), (6, 3)]
    assert [bad.line for bad in page.bad_lines] == [2, 5]
    assert "at byte 9: 'warning" in page.bad_lines[0].reason
    found = pages(artifact, "$.a", limit=1)
    assert [[bad.line for bad in each.bad_lines] for each in found] == [[], [2], [5]]
    many = session.put("{}\n" + "x\n" * 1000).query("$.a")
    assert (len(many.bad_lines), many.bad_line_count, many.total) == (20, 1000, 0)


@pytest.mark.parametrize("limit", [1, 50])
def test_a_byte_order_mark_before_lines(session, limit):
    """It belongs to no document, wherever files were joined."""
    mark = "\ufeff"
    artifact = session.put(
        f'{mark}{{"a": 1}}\n{{"a": 2}}\n{mark}{{"a": 3}}\n{mark}{{"a":]\n{mark}\n', newline="lf"
    )
    found = pages(artifact, "$.a", limit=limit)
    assert [(match.line, match.value) for page in found for match in page.matches] == [(1, 1), (2, 2), (3, 3)]
    bad = [line for page in found for line in page.bad_lines]
    assert [line.line for line in bad] == [4]
    assert "at byte 41: ']" in bad[0].reason


def test_a_line_that_is_too_much_stops_no_other(session, monkeypatch):
    """One that is nested too deeply, or holds a node that is too large to be made."""
    monkeypatch.setattr(_query, "WHOLE", 100_000)
    monkeypatch.setattr(queried_view, "LIMIT", 100_000)
    monkeypatch.setattr(queried_view, "BLOCK", 50_000)
    lines = ['{"a": 1}', "[" * 20_000 + "]" * 20_000, json.dumps({"a": list(range(50_000))}), '{"a": 2}']
    page = session.put("\n".join(lines)).query("$.a", lines=True)
    assert [(match.line, match.value) for match in page.matches] == [(1, 1), (4, 2)]
    assert ["nested more deeply" in bad.reason for bad in page.bad_lines] == [True, False]
    assert "the node $['a'] takes" in page.bad_lines[1].reason


@pytest.mark.parametrize("width", [15, 16, 17, 31, 33, 64])
def test_whole_lines_beside_a_hole_are_kept(session, width):
    """Whether what was dropped ends inside a line or between two, no whole line is missed."""
    text = "".join(f'{{"n": {number}}}'.ljust(width - 1) + "\n" for number in range(5000))
    artifact = session.put(text, limit=8192, policy="roll", newline="lf")
    hole = artifact.info.hole
    nodes = list(artifact.nodes("$.n", lines=True))
    found = [node.value for node in nodes if not isinstance(node, BadLine)]
    assert found == [n for n in range(5000) if not hole.first_line <= n + 1 <= hole.last_line]
    torn = [node.line for node in nodes if isinstance(node, BadLine)]
    assert torn == [hole.first_line] * bool(hole.start % width) + [hole.last_line] * bool(hole.end % width)


def test_a_line_longer_than_a_block(session):
    """Long lines are documents as any other, with their numbers."""
    row = {"id": 1, "text": "y" * 700_000, "more": list(range(100_000))}
    artifact = session.put(f'{{"id": 0}}\n{json.dumps(row)}\n{{"id": 2}}\n')
    assert [(match.line, match.value) for match in artifact.query("$.id").matches] == [(1, 0), (2, 1), (3, 2)]


# --- what is large, and what is hostile -------------------------------------------------------------------


@pytest.fixture(scope="module")
def heap(session):
    """20 MB of JSON, of which a few rows are large."""
    with session.create() as writer:
        writer.write('{"version": 1, "allocations": [')
        for start in range(0, 400_000, 1000):
            rows = (
                {
                    "id": number,
                    "size": 2_000_000 if number % 90_000 == 7 else number % 1000,
                    "site": f"f{number}.c:1",
                }
                for number in range(start, start + 1000)
            )
            writer.write((", " if start else "") + json.dumps(list(rows))[1:-1])
        writer.write('], "total": 400000}')
    return session.artifact(writer.id)


@pytest.mark.slow
def test_a_large_document_is_streamed_in_flat_memory(heap):
    """Rows that match, what stands behind them, and the last one, in half the memory of the document."""
    assert heap.info.size > 1.2 * _query.WHOLE
    tracemalloc.start()
    try:
        rows = heap.query("$.allocations[?(@.size > 1000000)]")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    total = heap.query("$.total").matches[0].value
    last = heap.query("$.allocations[-1].id").matches[0]
    assert [match.value["id"] for match in rows.matches] == list(range(7, 400_000, 90_000))
    assert (rows.matches[1].path, total) == ("$['allocations'][90007]", 400_000)
    assert (last.path, last.value) == ("$['allocations'][399999]['id']", 399_999)
    assert peak < 10_000_000


@pytest.mark.slow
def test_what_a_large_document_refuses(heap):
    """Each refusal names the limit and the way out."""
    with pytest.raises(
        QueryLimitError, match=r"the node \$\['allocations'\] takes \d+ bytes, and at most 16777216"
    ):
        heap.query("$.allocations")
    with pytest.raises(QueryLimitError, match=r"a filter speaks of \$"):
        heap.query("$.allocations[?@.id == $.total]")
    with pytest.raises(QueryLimitError, match=r"backwards; take a slice with a step above 0"):
        heap.query("$.allocations[::-1]")


@pytest.mark.parametrize(
    "query",
    [
        "$..*..*..*..*[?@.nothing]",
        "$..[?@..[?@..[?@..[?@.nothing == 1]]]]",
        "$..[?count($..*..*) > count(@..*..*) && @.nothing]",
        "$" + "[0:9007199254740991:1, ::-1]" * 200 + "[?@.nothing]",
        "$[?" + "!" * 100 + "(@..[?@..[?@..*..*..*..x]])]",
    ],
)
def test_a_hostile_query_is_given_up(session, query):
    """What would take hours ends at the time limit, and says so."""
    document = [0]
    for number in range(250):
        document = [document, {"a": number}]
    artifact = session.put(json.dumps(document))
    with not_for_ever(), pytest.raises(QueryError, match=r"given up after 0\.05 seconds; ask for less"):
        artifact.query(query, seconds=0.05)


@pytest.mark.parametrize("function", ["match", "search"])
def test_expressions_take_linear_time(session, function):
    """What makes other engines hang takes time in proportion to the text."""
    artifact = session.put(json.dumps(["a" * 100_000 + "!"]))
    with not_for_ever():
        for pattern in ("(a+)+b", "(a|aa)+b", "(.*)*x", "((a*)*)*b"):
            assert artifact.query(f"$[?{function}(@, '{pattern}')]").total == 0
    with pytest.raises(QueryError, match="cannot be matched"):
        artifact.query(f"$[?{function}(@, 'a{{5000}}')]")


def test_true_is_not_one(session):
    """Not at any depth, on either side; and numbers are equal by value."""
    artifact = session.put('[[1], [true], {"a": [1]}, {"a": [true]}, [1.0], 1, true]')
    first = session.put('{"one": [1], "rows": [[1], [true], [1.0], true]}')
    assert [match.path for match in first.query("$.rows[?@ == $.one]").matches] == [
        "$['rows'][0]",
        "$['rows'][2]",
    ]
    assert [match.path for match in artifact.query("$[?@ == 1]").matches] == ["$[5]"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (".[777]", r"a query begins with \$; for example \$\[777\]$"),
        ("$.[777]", r"a bracket stands without a dot; for example \$\[777\]$"),
        ("$.a.['b']", r"without a dot; for example \$\.a\['b'\]$"),
        ("]]", r"a query begins with \$; for example \$\.users"),
        ("users[0]", r"a query begins with \$; for example \$.users\[0\]"),
        ("$.a[?@.x = 1]", "at character 10; equality is =="),
        ("$.a[?@.x =~ /b/]", "search"),
        ("$.a[(@.length-1)]", r"the last element is \[-1\]"),
        ("$.a-b", "is \\['a-name'\\]"),
        ("$.a[", "at character 5"),
        ("", "for example"),
        ("$[?lower(@.a) == 1]", "lower"),
        ("$[" + "9" * 5000 + "]", "out of every range"),
        ("$[?@ == 1e99999999999999999999]", "out of every range"),
        ("$[?" + "(" * 3000 + "@" + ")" * 3000 + "]", "nested too deeply"),
    ],
)
def test_what_is_no_query(session, query, words):
    """The place, and what would have been right."""
    with pytest.raises(QueryError, match=words) as raised:
        session.put("{}").query(query)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize(
    ("query", "right"),
    [
        (".[777]", "$[777]"),
        ("[0]", "$[0]"),
        ("users", "$.users"),
        (".users[].name", "$.users[*].name"),
        ("users.[0]", "$.users[0]"),
        ("$.a[?@.x = 1]", "$.a[?@.x == 1]"),
        ("$..[?@.x = 1]", "$..[?@.x == 1]"),
        ("$.a[?@.x == 1 and @.y == 2]", "$.a[?@.x == 1 && @.y == 2]"),
        ("$.a-b.c", "$['a-b'].c"),
        ("$.a[", EXAMPLE),
        ("a b", EXAMPLE),
        ("", EXAMPLE),
        ("x" * 5000 + "[", EXAMPLE),
    ],
)
def test_the_example_of_a_message_is_a_query(session, query, right):
    """It is the same one mended, where that is enough, and can be run in any case."""
    artifact = session.put("{}")
    with pytest.raises(QueryError) as raised:
        artifact.query(query)
    assert str(raised.value).endswith(f"for example {right}")
    assert artifact.query(right).total == 0


def test_a_wrong_query_deep_in_a_program():
    """Where there is no stack left to see whether the mended query is one, the example is another."""
    query = "a[?" + "(" * 90 + "@.x" + ")" * 90 + "]"

    def called(depth):
        if depth:
            called(depth - 1)
        else:
            compiled(query)

    with pytest.raises(QueryError, match=rf"for example {re.escape(f'$.{query}')}$"):
        called(0)
    with pytest.raises(QueryError, match=rf"for example {re.escape(EXAMPLE)}$"):
        called(sys.getrecursionlimit() - sum(1 for _ in traceback.walk_stack(None)) - 100)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": 5}, "a query is text"),
        ({"query": "$", "limit": -1}, "limit is -1"),
        ({"query": "$", "limit": "5"}, "limit"),
        ({"query": "$", "max_bytes": 1.5}, "max_bytes"),
        ({"query": "$", "start_line": 0}, "start_line is 0"),
        ({"query": "$", "stream": "all"}, "stream must be"),
        ({"query": "$", "cursor": "x"}, "no cursor of this query"),
        ({"query": "$", "cursor": 5}, "is no cursor"),
        ({"query": "$", "cursor": "stderr:document:0@0+0"}, "no cursor of this query"),
        ({"query": "$", "cursor": "combined:document:0@999+0"}, "no cursor of this query"),
    ],
)
def test_arguments_that_mean_nothing(session, arguments, words):
    """As for ranges."""
    with pytest.raises(ValueError, match=words) as raised:
        session.put("{}").query(**arguments)
    assert isinstance(raised.value, (RangeError, QueryError))


@pytest.mark.parametrize("text", [json.dumps([{"a": n, "b": n} for n in range(9)]), '{"a": 1, "b": 1}\n' * 9])
def test_a_cursor_is_of_one_query(session, text):
    """With another query or artifact, or with other numbers, it would leave nodes out, and so it is refused."""
    artifact, other = session.put(text), session.put(text)
    cursor = artifact.query("$..a", limit=2).cursor
    assert (2, 9) == (
        artifact.query("$..a", cursor=cursor).before,
        artifact.query("$..a", cursor=cursor).total,
    )
    tampered = re.sub(r"\d+", "0", cursor, count=1)
    for again in (
        lambda: artifact.query("$..b", cursor=cursor),
        lambda: other.query("$..a", cursor=cursor),
        lambda: artifact.query("$..a", cursor=tampered),
        lambda: artifact.query("$..a", cursor=cursor.partition(".")[0]),
        lambda: artifact.query("$..a", cursor=cursor, stream="stdout"),
    ):
        with pytest.raises(RangeError, match="no cursor of this query"):
            again()


def test_pages_are_bounded_in_bytes(session):
    """A node that alone has more is a page of its own."""
    artifact = session.put(json.dumps(["a" * 50, "b" * 500, "c" * 50, "d" * 40]))
    found = pages(artifact, "$[*]", max_bytes=100)
    assert [len(page.matches) for page in found] == [1, 1, 2]


def test_streams(session):
    """Each view is queried by itself."""
    with session.create() as writer:
        writer.write('{"a": 1}\n')
        writer.write("warning\n", stream="stderr")
    artifact = session.artifact(writer.id)
    assert [match.value for match in artifact.query("$.a", stream="stdout").matches] == [1]
    with pytest.raises(NotJSONError, match="stderr of art_"):
        artifact.query("$.a", stream="stderr")


def test_both_kinds_of_store(store):
    """Pages and iteration, plain and awaited."""
    with store.session("both") as session:
        artifact = session.put('[{"n": 1}, {"n": 2}]')
        assert [match.value for match in artifact.query("$[*].n").matches] == [1, 2]
        assert [node.path for node in artifact.nodes("$..n")] == ["$[0]['n']", "$[1]['n']"]
