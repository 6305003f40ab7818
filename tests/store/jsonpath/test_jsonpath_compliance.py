"""The compliance test suite of RFC 9535 (tests/data/jsonpath, BSD-2), evaluated whole and streamed."""

from __future__ import annotations

import json
import re

import pytest
from support import NO_FLOORS, ROOT, each_of

from spillstore import Store
from spillstore.exceptions import QueryError, QueryLimitError
from spillstore.jsonpath import queried_view
from spillstore.jsonpath import query as _query
from spillstore.jsonpath.compiler import compiled
from spillstore.jsonpath.context import Context
from spillstore.jsonpath.nodes import nodes, normalized
from spillstore.model.json_values import decode

CASES = json.loads((ROOT / "tests/data/jsonpath/cts.json").read_bytes())["tests"]
VALID = [case for case in CASES if not case.get("invalid_selector")]
INVALID = [case for case in CASES if case.get("invalid_selector")]


def right(case, found):
    paths, values = [path for path, _ in found], [value for _, value in found]
    if "result" in case:
        return values == case["result"] and paths == case["result_paths"]
    return [values, paths] in map(list, zip(case["results"], case["results_paths"], strict=True))


def test_the_suite_is_whole():
    """No case was lost."""
    assert (len(CASES), len(VALID), len(INVALID)) == (687, 442, 245)


@each_of("case", VALID)
def test_a_query_finds_what_it_must(case):
    """Values and normalized paths are those of the suite, in its order."""
    document = decode(json.dumps(case["document"]).encode())
    found = nodes(Context(document), document, None, compiled(case["selector"]).segments)
    assert right(case, [(normalized(place), value) for place, value in found])


@each_of("case", INVALID)
def test_what_is_no_query_is_refused(case):
    """Every malformed or ill-typed query, with a query that would have been right."""
    with pytest.raises(QueryError, match=r"for example|leave out the space"):
        compiled(case["selector"])


@pytest.fixture(scope="module")
def session(module_root):
    with Store(module_root, **NO_FLOORS).session("chat") as session:
        yield session


@pytest.mark.parametrize(
    "block", [12, *(pytest.param(block, marks=pytest.mark.slow) for block in (40, 4096))]
)
def test_a_streamed_document_gives_the_same(session, monkeypatch, block):
    """Of the cases that a large document allows not one differs, whatever a block holds."""
    monkeypatch.setattr(_query, "WHOLE", 0)
    monkeypatch.setattr(queried_view, "BLOCK", block)
    refused = []
    for case in VALID:
        artifact = session.put(json.dumps(case["document"]), newline="lf")
        try:
            found = [(node.path, node.value) for node in artifact.nodes(case["selector"], lines=False)]
        except QueryLimitError:
            refused.append(case["selector"])
            continue
        assert right(case, found), case["name"]
    # A filter that speaks of the root, or a slice with a negative step.
    assert all(re.search(r"\?.*\$|:-\d+\s*\]|:\s*-", query) for query in refused)
    assert len(refused) < 30
