"""``element``: JSON and XML cut by elements, and every gap with its exact bytes and lines."""

from __future__ import annotations

import json
import tracemalloc
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import assert_law

from spillstore_tools.preview.parts import gaps_of, length_of, text_of
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.text.clean import clean


def cut(data: bytes, *, terminator: bytes = b"\n", keep=None, **request):
    chosen = strategy("element")
    limit = request["limit"]
    scan = Scan(
        head_chars=limit,
        tail_chars=limit,
        keep_bytes=chosen.keep_bytes if keep is None else keep,
        terminator=terminator,
        observer=chosen.observer(),
    )
    scan.feed(data)
    parts = chosen.cut(scan.finish(), Request(**request))
    if parts is not None:
        assert_law(parts, data, terminator, clean=clean)
        assert length_of(parts) <= limit
    return parts


def test_preserves_valid_json_array():
    """A JSON array that was cut is a JSON array (S1, Should_Preserve_Valid_JSON_Array)."""
    data = json.dumps(
        [{"id": number, "name": f"Item {number}"} for number in range(1, 21)], separators=(",", ":")
    )
    text = text_of(cut(data.encode(), limit=200, first=2, last=2))
    assert (text[0], text[-1]) == ("[", "]")
    assert isinstance(json.loads(text), list)


def test_shows_omitted_count():
    """The number of elements that are gone stands in their place and in the gap (S1, Should_Show_Omitted_Count)."""
    parts = cut(json.dumps(list(range(1, 101))).encode(), limit=150, first=2, last=2)
    assert "96 items omitted" in text_of(parts)
    assert [gap.elements for gap in gaps_of(parts)] == [96]


@pytest.mark.parametrize(
    ("begin", "end", "text"), [(b'[["x"', b"], 1]", '["... 1 item omitted ...", 1]'), (b"[", b"]", None)]
)
def test_many_lines_take_little_memory(begin, end, text):
    """Places in the output are looked up in passing, where there is a result at all; no line is kept for that."""
    scan = Scan(head_chars=200, tail_chars=200, keep_bytes=1_000_000)
    scan.feed(begin + b"\n" * 300_000 + end)
    overview = scan.finish()
    tracemalloc.start()
    parts = strategy("element").cut(overview, Request(limit=200))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text == (None if parts is None else text_of(parts))
    assert peak < 10_000_000


def test_places_in_many_blocks():
    """Cuts in blocks of plain and of coloured lines, whose characters are counted, and in blocks between them."""
    rows = [{"id": number, "text": "a" * 90} for number in range(4000)]
    data = b",\n".join(
        json.dumps(row).encode().replace(b"a", b"\x1b[31ma" if number % 1500 == 9 else b"a")
        for number, row in enumerate(rows)
    )
    parts = cut(b'{"one": [' + data + b'],\n"two": [' + data + b"]}\n", limit=3000)
    assert [3990, 3990] == [gap.elements for gap in gaps_of(parts)]


DOCUMENTS = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 999), "text": st.text("aé世\u0301\U0001f600 ", max_size=60)}),
    min_size=3,
    max_size=60,
)


@given(
    DOCUMENTS,
    st.sampled_from([None, 1]),
    st.booleans(),
    st.integers(100, 700),
    st.sampled_from(["", "\n", "\r\n", "\n\x1b[0m"]),
)
def test_json(document, indent, ascii_only, limit, end):
    """Whatever is left of JSON is JSON, and every gap is told exactly."""
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    if end == "\r\n":
        text = text.replace("\n", end)
    parts = cut((text + end).encode(), limit=limit)
    assert parts is not None
    json.loads(text_of(parts))


@given(st.lists(st.integers(0, 10**9), min_size=30, max_size=60), st.booleans())
def test_json_lines(numbers, ended):
    """Of values on lines, lines are left out."""
    data = "\n".join(json.dumps({"n": number}) for number in numbers) + "\n" * ended
    parts = cut(data.encode(), limit=150)
    assert len(gaps_of(parts)) == 1
    assert gaps_of(parts)[0].elements > 0


@given(DOCUMENTS, st.integers(300, 700))
def test_xml(document, limit):
    """Whatever is left of XML is XML."""
    root = ET.Element("items")
    for each in document:
        ET.SubElement(root, "item", id=str(each["id"])).text = each["text"]
    ET.indent(root)
    parts = cut(ET.tostring(root), limit=limit)
    assert parts is not None
    ET.fromstring(text_of(parts))


def test_lines_that_end_in_cr():
    """Where CR ends lines, places are right as well."""
    data = json.dumps(list(range(200)), indent=1).replace("\n", "\r").encode()
    gap = gaps_of(cut(data, terminator=b"\r", limit=150))[0]
    assert data[gap.start : gap.end].count(b"\r") == gap.elements - 1 == gap.lines + 1


def test_one_long_line():
    """Minified JSON far longer than a block is cut by elements, colours, bare characters and all."""
    document = [{"id": number, "name": f"世 {number}"} for number in range(20_000)]
    data = json.dumps(document, ensure_ascii=False).encode() + b"\r\n"
    parts = cut(data, limit=400)
    assert json.loads(text_of(parts))[0] == document[0]
    assert sum(gap.elements for gap in gaps_of(parts)) > 19_000


def test_more_than_is_kept():
    """What is too large to be held, and a line of it that is, are left to the fallback."""
    data = json.dumps(list(range(100_000))).encode()
    assert cut(data, limit=200, keep=1000) is None
    assert cut(b" " * 100_000 + b"\r[" + b"1, " * 90 + b"1]", limit=100, keep=0) is None


@pytest.mark.parametrize("data", [b"no JSON at all " * 30, b"[1, 2" * 100, b"<a>" * 100, b"1" * 500])
def test_not_for_it(data):
    """What is neither, or cannot be made to fit, is left to the fallback."""
    assert cut(data, limit=100) is None


def test_short():
    """What fits is shown as it is, whatever it is."""
    assert text_of(cut(b"plain\n", limit=100)) == "plain\n"
    assert cut(b"", limit=100) == [] or text_of(cut(b"", limit=100)) == ""


def test_markers_without_json():
    """Where JSON need not stay JSON, markers stand in it bare; the law holds all the same."""
    data = json.dumps(
        {"rows": list(range(500)), **{f"key{number}": "x" * 20 for number in range(80)}}
    ).encode()
    chosen = strategy("element")
    scan = Scan(head_chars=700, tail_chars=700, keep_bytes=chosen.keep_bytes)
    scan.feed(data)
    parts = chosen.cut(scan.finish(), Request(limit=700, preserve_json=False))
    gaps = gaps_of(parts)
    assert gaps
    assert all('"' not in gap.text for gap in gaps)
    assert_law(parts, data, clean=clean)
