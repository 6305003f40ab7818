"""Cut JSON is JSON, fits where anything can make it fit, and says exactly what is missing."""

from __future__ import annotations

import itertools
import json
import re
import sys
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import each_of, not_for_ever

from spillstore_tools.preview.structured import json_tree
from spillstore_tools.preview.structured.cuts import (
    Detail,
    NotStructured,
    TextCut,
    apply_cuts,
    counted,
    largest,
)
from spillstore_tools.preview.structured.json_cuts import cut_json
from spillstore_tools.preview.structured.json_tree import parsed

ROOM_FOR_A_MARKER = 40
MARKER = re.compile(r"\.\.\. (\d+) (item|items|key|keys) omitted \.\.\.")


def shown(text: str, limit: int, **options) -> str:
    return apply_cuts(text, cut_json(text, limit, **options))


def value(text: str, limit: int, **options):
    return json.loads(shown(text, limit, **options))


def refuse(constant):
    raise AssertionError(constant)


def restored(result: str, text: str, cuts: list[TextCut]) -> str:
    """The result with every replacement exchanged for its range, from the first on."""
    for cut in cuts:
        assert result[cut.start : cut.start + len(cut.text)] == cut.text
        result = result[: cut.start] + text[cut.start : cut.end] + result[cut.start + len(cut.text) :]
    return result


strings = st.one_of(
    st.text(max_size=12), st.text(min_size=30, max_size=200), st.text("e\u0301\u200d\\\n😀", max_size=80)
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(strings, inner, max_size=12),
    max_leaves=80,
)
formats = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 2]),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]),
        "ensure_ascii": st.booleans(),
    }
)
options = st.fixed_dictionaries(
    {}, optional={"first": st.integers(0, 6), "last": st.integers(0, 6), "max_depth": st.integers(0, 5)}
)
limits = st.integers(0, 60) | st.integers(0, 1500)


@given(values, formats, limits, options)
def test_a_result_is_json_of_the_limit_and_can_be_undone(content, layout, limit, options):
    """Whatever the value, its layout and the options: it parses, it fits if a marker does, and nothing is lost."""
    text = json.dumps(content, **layout)
    cuts = cut_json(text, limit, **options)
    result = apply_cuts(text, cuts)
    json.loads(result, parse_constant=refuse)
    assert restored(result, text, cuts) == text
    if isinstance(content, str | list | dict) and limit >= ROOM_FOR_A_MARKER and content not in ([], {}):
        assert len(result) <= limit
    assert len(result) <= max(limit, len(shown(text, 0, **options)))


@pytest.mark.long
@given(values, formats, limits, options)
def test_cuts_are_disjoint_and_ascending_and_save_room(content, layout, limit, options):
    """Every range is longer than what replaces it and ends before the next one begins."""
    text = json.dumps(content, **layout)
    cuts = cut_json(text, limit, **options)
    places = [place for cut in cuts for place in (cut.start, cut.end)]
    assert places == sorted(places)
    assert [
        cut for cut in cuts if len(cut.text) >= cut.end - cut.start or cut.start < 0 or cut.end > len(text)
    ] == []


@given(st.lists(values, min_size=1, max_size=40), formats, limits, options)
def test_the_ends_of_an_array_are_those_of_the_original(content, layout, limit, options):
    """What stands around the marker of the outermost array are its first and last elements, and the count adds up."""
    number = len(content)
    text = json.dumps([{"n": index, "value": inner} for index, inner in enumerate(content)], **layout)
    result = value(text, limit, **options)
    if isinstance(result, str):
        assert result == f"... {counted(number, 'item')} omitted ..."
        return
    markers = [at for at, item in enumerate(result) if isinstance(item, str) and "item" in item]
    assert len(markers) == (number > len(result))
    before = markers[0] if markers else number
    count = int(MARKER.fullmatch(result[before])[1]) if markers else 0
    kept = [*result[:before], *result[before + 1 :]]
    assert count + len(kept) == number
    for item, index in zip(kept, [*range(before), *range(before + count, number)], strict=True):
        assert item["n"] == index if isinstance(item, dict) else item == "... 2 keys omitted ..."


@given(st.lists(values, min_size=2, max_size=30), limits, options, st.booleans())
def test_lines_of_json_stay_lines_of_json(content, limit, options, end):
    """Every line of cut JSON Lines is JSON, the marker's too."""
    text = "\n".join(map(json.dumps, content)) + "\n" * end
    cuts = cut_json(text, limit, **options)
    result = apply_cuts(text, cuts)
    for line in result.splitlines():
        json.loads(line)
    assert restored(result, text, cuts) == text
    if limit >= ROOM_FOR_A_MARKER:
        assert len(result) <= limit


@given(
    st.text('ae\u0301\u0308\u200d👩👍🏽\\"\n\u0915\u093f', min_size=60, max_size=300),
    st.booleans(),
    st.integers(30, 200),
)
def test_a_string_is_parted_between_what_is_read_as_characters(content, ascii_, limit):
    """Neither escape sequences nor surrogate pairs nor clusters with combining marks and joiners are parted."""
    text = json.dumps(content, ensure_ascii=ascii_)
    for cut in cut_json(text, limit):
        head, tail = json.loads(text[: cut.start] + '"'), json.loads('"' + text[cut.end :])
        assert content.startswith(head)
        assert content.endswith(tail)
        for place in {len(head), len(content) - len(tail)} - {0, len(content)}:
            assert content[place - 1] != "\u200d"
            assert content[place] not in "\u200d🏽"
            assert unicodedata.category(content[place])[0] != "M"


@given(st.lists(st.integers(0, 10**9), min_size=30), st.integers(60, 400))
def test_the_most_elements_that_fit_are_kept(content, limit):
    """One element more at both ends would not have fitted."""
    text = json.dumps(content)
    assume(len(text) > limit)
    kept = (len(value(text, limit, first=1000, last=1000)) - 1) // 2
    more = [
        *content[: kept + 1],
        f"... {len(content) - 2 * kept - 2} items omitted ...",
        *content[-kept - 1 :],
    ]
    assert len(json.dumps(more)) > limit


def test_what_fits_is_left_alone():
    """At the limit there is nothing to cut, however deep or long it is."""
    text = json.dumps([[[[[list(range(100))]]]]])
    assert cut_json(text, len(text)) == []


def test_the_middle_of_an_array_becomes_one_string():
    """Separators outside the cut stay as they are."""
    text = "[" + ", ".join(map(str, range(1, 101))) + "]"
    assert cut_json(text, 100, first=2, last=2) == [TextCut(7, 382, '"... 96 items omitted ..."', 96)]
    assert shown(text, 100, first=2, last=2) == '[1, 2, "... 96 items omitted ...", 99, 100]'


def test_an_array_just_longer_than_its_ends_is_not_cut_by_count():
    """A marker for one element would take the place that the element could take."""
    items = ["x" * 50] * 5
    assert len(value(json.dumps(items), 300, first=2, last=2)) == 5
    assert value(json.dumps([*items, items[0]]), 300, first=2, last=2)[2] == "... 2 items omitted ..."


def test_search_results_keep_their_total():
    """The list within is cut, and the members beside it stay."""
    text = json.dumps(
        {"results": [{"path": f"src/{i}.py", "line": i} for i in range(253)], "total_matches": 253}, indent=2
    )
    result = value(text, 2000)
    assert result["total_matches"] == 253
    assert [item["line"] for item in result["results"][:5] + result["results"][6:]] == [
        0,
        1,
        2,
        3,
        4,
        248,
        249,
        250,
        251,
        252,
    ]
    assert result["results"][5] == "... 243 items omitted ..."


def test_members_that_do_not_fit_are_one_member():
    """The first members stay, as many as there is room for."""
    result = value(json.dumps({f"key{i}": i for i in range(1000)}), 500)
    assert list(result) == [f"key{i}" for i in range(len(result) - 1)] + ["..."]
    assert result["..."] == f"{1001 - len(result)} keys omitted"
    assert len(result) > 30


def test_one_member_is_called_one_key():
    """A number of one takes the singular."""
    text = json.dumps({"a": 1, "b": 2, "c" * 200: 3})
    assert value(text, 100)["..."] == "1 key omitted"


def test_the_marker_of_members_has_a_name_of_its_own():
    r"""A member called ``...`` already, be it as ``\u002e..``, keeps its name to itself."""
    text = '{"\\u002e..": 1, "....": 2, ' + ", ".join(f'"k{i}": {i}' for i in range(100)) + "}"
    assert "....." in value(text, 200)


def test_containers_below_the_depth_become_strings():
    """They say what they held; scalars and empty containers stay."""
    deep = {"keys": {"a": "x" * 50, "b": 1, "c": 2}, "items": list(range(40)), "none": [], "no": {}, "n": 1}
    assert value(json.dumps({"deep": deep}), 200, max_depth=2) == {
        "deep": {
            "keys": "... 3 keys omitted ...",
            "items": "... 40 items omitted ...",
            "none": [],
            "no": {},
            "n": 1,
        }
    }


def test_a_container_shorter_than_its_marker_stays():
    """Below the depth a cut has to save something, too."""
    text = json.dumps([{"point": {"x": 1, "y": 2}} for _ in range(50)])
    assert value(text, 1000, max_depth=2)[0] == {"point": {"x": 1, "y": 2}}


def test_the_only_element_of_an_array_stays():
    """It is shortened inside instead."""
    assert value(json.dumps(["x" * 500]), 100)[0].startswith("xxxxxx")


def test_a_long_string_keeps_both_ends():
    """The marker counts the characters between them as they stand in the text."""
    text = json.dumps({"log": "abc" + "-" * 1000 + "xyz", "code": 0})
    result = shown(text, 120)
    assert 110 <= len(result) <= 120
    assert re.fullmatch(r'\{"log": "abc-+\.\.\. \[\d+ chars omitted\] \.\.\.-+xyz", "code": 0\}', result)
    [cut] = cut_json(text, 120)
    assert cut.text == f"... [{cut.end - cut.start} chars omitted] ..."
    assert cut.elements == 0


def test_an_endless_cluster_is_not_parted():
    """A base with a thousand marks is left out whole rather than walked or parted."""
    text = json.dumps("e" + "\u0301" * 1000, ensure_ascii=False)
    assert shown(text, 100) == '"... [1001 chars omitted] ..."'


def test_formatting_outside_the_cuts_is_the_original():
    """Odd spacing, spellings of numbers, duplicate keys and a byte order mark stay."""
    text = '\ufeff \n{ "a" :\t1.50E+3 , "a": 1e999999, "b" : [1' + " , 7" * 200 + " ] }\r\n"
    assert shown(text, 200, first=2, last=1) == (
        '\ufeff \n{ "a" :\t1.50E+3 , "a": 1e999999, "b" : [1 , 7 , "... 198 items omitted ..." , 7 ] }\r\n'
    )


def test_the_last_resort_is_one_string():
    """Where not even one element fits, a string stands for everything."""
    text = "  [" + ", ".join(["[" + "1" * 100 + "]"] * 50) + "]  " + "\n" * 100
    assert shown(text, 30) == '"... 50 items omitted ..."'


def test_numbers_are_not_cut():
    """A text that is one long number stays above the limit."""
    assert cut_json("1" * 10_000, 100) == []


def test_pretty_printed_values_in_a_row_are_a_sequence():
    """What ``jq`` prints is cut between its values."""
    text = '{\n  "a": 1\n}\n' * 100
    assert shown(text, 100, first=1, last=1) == '{\n  "a": 1\n}\n"... 98 items omitted ..."\n{\n  "a": 1\n}\n'


@each_of(
    "text",
    [
        "",
        " \n",
        "hello",
        "{'a': 1}",
        "[1, 2",
        "[1,]",
        "{} {}",
        "[1] x",
        "[NaN]",
        "-Infinity",
        '["\n"]',
        "\ufeff",
        "01",
    ],
)
def test_what_is_no_json_is_not_structured(text):
    """Malformed text is refused, short or long."""
    with pytest.raises(NotStructured):
        cut_json(text, 1000)


@pytest.mark.parametrize("inner", ["", "1" * 100])
@pytest.mark.parametrize("max_depth", [3, 10**9])
def test_deep_nesting_is_cut(inner, max_depth):
    """Half of what the interpreter allows is no trouble, however much of it is asked for."""
    depth = sys.getrecursionlimit() // 2
    assert len(shown("[" * depth + inner + "]" * depth, 100, max_depth=max_depth)) <= 100


@pytest.mark.parametrize("end", ["", "]" * 100_000])
def test_bottomless_nesting_is_refused(end):
    """Where Python's scanner gives up, so does this, without an overflow."""
    with pytest.raises(NotStructured, match="nested too deeply"):
        cut_json("[" * 100_000 + end, 100)


@each_of("depth", range(700, 1000, 20))
def test_nesting_near_the_scanner_s_limit_is_cut_or_refused(depth):
    """What the first pass could just read may be too deep for a later one: then it is refused as well."""
    text = "[" * depth + "1" * 100 + "]" * depth
    try:
        assert len(shown(text, 100, max_depth=depth)) <= 100
    except NotStructured as error:
        assert str(error) == "nested too deeply"  # noqa: PT017  # either outcome is right


def test_a_megabyte_of_json():
    """One pass of the C scanner per level."""
    text = json.dumps({"results": [{"id": i, "text": "word " * 20, "at": {"line": i}} for i in range(7000)]})
    with not_for_ever():
        assert len(shown(text, 2000)) <= 2000


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "row",
    [
        {"id": 123_456, "name": "row", "tags": ["a", "b"], "at": {"line": 12, "file": "src/a.py"}},
        [1, 2],
        1234,
    ],
)
def test_small_rows_are_not_taken_apart_one_by_one(row, indent):
    """However much may be kept, a row takes a few calls of Python, whatever is in it."""
    number = 100_000 // len(json.dumps(row))
    text = json.dumps([row] * number, indent=indent)
    root = parsed(text)
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        cuts = cut_json(text, 7000, first=1_000_000, last=1_000_000, max_depth=64, root=root)
    finally:
        sys.setprofile(None)
    assert cuts == cut_json(text, 7000, first=1_000_000, last=1_000_000, max_depth=64)
    assert calls < 3 * number + 5000


@given(values | st.lists(st.integers(0, 99), min_size=200, max_size=900), formats, st.integers(0, 200))
def test_a_large_text_is_cut_as_a_small_one(content, layout, limit):
    """Though no values are made of it, and of very many parts only those at both ends are known."""
    text = json.dumps(content, **layout)
    cuts = cut_json(text, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_tree, "_LARGE", 0)
        patch.setattr(json_tree, "_ENDS", 60)
        assert cut_json(text, limit) == cuts


@pytest.mark.parametrize("ends", [3, 7, 50])
@pytest.mark.parametrize("number", [1, 11, 12, 13, 28, 29, 400, 1000])
@pytest.mark.parametrize("members", [False, True])
def test_no_more_is_shown_than_is_known(monkeypatch, ends, number, members):
    """Of very many parts as many as are known at either end are shown at most, and the count is that of the others."""
    content = {f"k{n}": n for n in range(number)} if members else list(range(number))
    text = json.dumps(content)
    monkeypatch.setattr(json_tree, "_LARGE", 0)
    monkeypatch.setattr(json_tree, "_ENDS", ends)
    cuts = cut_json(text, len(text) - 1, first=1000, last=1000)
    result = json.loads(apply_cuts(text, cuts))
    assert restored(apply_cuts(text, cuts), text, cuts) == text
    if number > 1:
        left = [part for part in result if "..." not in str(part)]
        assert len(left) + sum(cut.elements for cut in cuts) == number


@pytest.mark.parametrize(
    "text", ["[1, 2", '{"a": }', '[{"a": [1}]', "[1] [2]", '["\n"]', "[[", '["a', "]", "[NaN]"]
)
def test_what_is_no_json_is_not_structured_however_large(monkeypatch, text):
    """The same answer where no values are made."""
    monkeypatch.setattr(json_tree, "_LARGE", 0)
    with pytest.raises(NotStructured):
        cut_json(text, 1000)


def test_a_level_leaves_less_of_everything():
    """Details shrink together, and the least of them has no depth at all."""
    asked = Detail(strings=9999, first=5, last=5, depth=3, members=9999)
    assert asked.at(0) == Detail(strings=0, first=1, last=0, depth=0, members=0)
    assert asked.at(10**6) == asked
    levels = [asked.at(level) for level in range(300)]
    for less, more in itertools.pairwise(levels):
        assert all(getattr(less, name) <= getattr(more, name) for name in Detail.__slots__)


def test_the_largest_level_that_fits_is_found():
    """One level more would have been too long."""
    text = "x" * 1000
    asked = Detail(strings=1000, first=0, last=0, depth=0, members=0)

    def render(detail):
        return [TextCut(detail.strings, 1000, "", 0)]

    for limit in (1, 16, 17, 100, 511, 512, 513, 999):
        assert largest(text, limit, asked, render) == [TextCut(limit, 1000, "", 0)]


def test_a_number_of_things_has_its_plural():
    """One is one item, everything else several."""
    assert [counted(number, "item") for number in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
