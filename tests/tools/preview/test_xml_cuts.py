"""Cut XML is well-formed, fits where anything can make it fit, and says exactly what is missing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import not_for_ever

from spillstore_tools.preview.structured.cuts import NotStructured, TextCut, apply_cuts
from spillstore_tools.preview.structured.xml_cuts import cut_xml

MARKER = re.compile(r"<!-- \.\.\. (\d+) (?:element|char)s? omitted \.\.\. -->")


def shown(text: str, limit: int, **options) -> str:
    return apply_cuts(text, cut_xml(text, limit, **options))


def tree(text: str) -> ET.Element:
    return ET.fromstring(text.removeprefix("\ufeff").encode(), ET.XMLParser(encoding="utf-8"))


def restored(result: str, text: str, cuts: list[TextCut]) -> str:
    """The result with every replacement exchanged for its range, from the first on."""
    for cut in cuts:
        assert result[cut.start : cut.start + len(cut.text)] == cut.text
        result = result[: cut.start] + text[cut.start : cut.end] + result[cut.start + len(cut.text) :]
    return result


letters = st.text(st.sampled_from("ab>\"' \n]é😀\u0301\u200d"), max_size=100).map(
    lambda text: text.replace("]]>", "")
)
texts = (
    st.lists(letters | st.sampled_from(["&lt;", "&amp;", "&#233;", "&#x301;"]), max_size=6)
    .map("".join)
    .map(lambda text: text.replace("]]>", ""))
)
datas = letters.map(lambda text: f"<![CDATA[<&{text.replace(']', '')}]]>")
comments = letters.map(lambda text: f"<!-- <a> {text} -->")
instructions = st.sampled_from(["<?go on?>", "<?php echo '>'; ?>"])
attributes = st.sampled_from(["", ' id="1"', ' a=\'>"\' b="/>"', ' x = "&amp;é"\n'])
names = st.sampled_from(["a", "item", "x:y", "é"])
content = st.recursive(
    st.one_of(texts, datas, comments, instructions),
    lambda inner: st.builds(
        lambda name, attributes, parts, gap: (
            f"<{name}{attributes}>{gap.join(['', *parts, ''])}</{name}>"
            if parts
            else f"<{name}{attributes}/>"
        ),
        names,
        attributes,
        st.lists(inner, max_size=14),
        st.sampled_from(["", "\n  "]),
    ),
    max_leaves=60,
)
documents = st.builds(
    lambda prolog, parts, end: f'{prolog}<root xmlns:x="u">{"".join(parts)}</root>{end}',
    st.sampled_from(["", "\ufeff", "<?xml version='1.0' encoding='utf-16'?>\n", "<!-- first -->\n<?go on?>"]),
    st.lists(content, max_size=20),
    st.sampled_from(["", "\n", "<!-- end -->"]),
)
options = st.fixed_dictionaries(
    {}, optional={"first": st.integers(0, 6), "last": st.integers(0, 6), "max_depth": st.integers(0, 5)}
)
limits = st.integers(0, 100) | st.integers(0, 1500)
WORST = len("<?xml version='1.0' encoding='utf-16'?>\n<root xmlns:x=\"u\"></root><!-- end -->") + 50


@pytest.mark.long
@given(documents, limits, options)
def test_a_result_is_xml_of_the_limit_and_can_be_undone(text, limit, options):
    """Whatever the document and the options: it parses, it fits if root and marker do, and nothing is lost."""
    cuts = cut_xml(text, limit, **options)
    result = apply_cuts(text, cuts)
    tree(result)
    assert restored(result, text, cuts) == text
    if limit >= WORST:
        assert len(result) <= limit
    assert len(result) <= max(limit, len(shown(text, 0, **options)))


@pytest.mark.long
@given(documents, limits, options)
def test_cuts_are_disjoint_and_ascending_and_save_room(text, limit, options):
    """Every range is longer than what replaces it and ends before the next one begins."""
    cuts = cut_xml(text, limit, **options)
    places = [place for cut in cuts for place in (cut.start, cut.end)]
    assert places == sorted(places)
    assert [cut for cut in cuts if len(cut.text) >= cut.end - cut.start] == []


@given(documents, limits, options)
def test_no_cut_ends_inside_markup(text, limit, options):
    """Tags, references, CDATA sections and instructions are there or not; only text and comments are parted."""
    cuts = cut_xml(text, limit, **options)
    whole = re.compile(
        r"&[^;]+;|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?!!--)(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>|<!--.*?-->",
        re.DOTALL,
    )
    for match in whole.finditer(text):
        if not match[0].startswith("<!--"):
            assert [cut for cut in cuts if match.start() < cut.start < match.end()] == []
            assert [cut for cut in cuts if match.start() < cut.end < match.end()] == []


@given(st.integers(3, 300), st.integers(60, 3000), st.integers(0, 6), st.integers(0, 6))
def test_the_children_kept_are_the_first_and_the_last(number, limit, first, last):
    """What stands around the marker is the original's, and the count adds up."""
    text = "<log>\n" + "".join(f'  <line n="{i}">ok</line>\n' for i in range(number)) + "</log>\n"
    result = shown(text, limit, first=first, last=last)
    assert len(result) <= limit
    kept = [int(line.get("n")) for line in tree(result)]
    omitted = MARKER.search(result)
    count = int(omitted[1]) if omitted else 0
    assert len(kept) + count == number
    before = next((i for i in range(len(kept)) if kept[i] != i), len(kept))
    assert kept == [*range(before), *range(before + count, number)]
    if omitted:
        assert before <= first
        assert len(kept) - before <= last


def test_what_fits_is_left_alone():
    """At the limit there is nothing to cut."""
    text = "<a>" + "<b><c><d><e>deep</e></d></c></b>" * 30 + "</a>"
    assert cut_xml(text, len(text)) == []


def test_the_middle_children_become_one_comment():
    """White space around the run stays as it is."""
    text = "<r>\n" + "  <i>one</i>\n" * 255 + "</r>"
    edge = "  <i>one</i>\n" * 5
    assert shown(text, 1000) == f"<r>\n{edge}  <!-- ... 245 elements omitted ... -->\n{edge}</r>"
    assert [cut.elements for cut in cut_xml(text, 1000)] == [245]


def test_children_below_the_depth_become_a_comment():
    """Elements there keep their tags; those with text alone keep that."""
    row = '<row n="1"><key>name</key><deep><a>aaaaaaaaaa</a><b>bbbbbbbbbb</b><c>cccccccccc</c></deep></row>'
    kept = '<row n="1"><key>name</key><deep><!-- ... 3 elements omitted ... --></deep></row>'
    assert shown(f"<t>{row * 2}</t>", 180, max_depth=2) == f"<t>{kept * 2}</t>"


def test_one_child_is_called_one_element():
    """A number of one takes the singular."""
    text = f"<a><b><c x='{'1' * 100}'/></b></a>"
    assert shown(text, 60) == "<a><b><!-- ... 1 element omitted ... --></b></a>"


def test_long_text_keeps_both_ends():
    """The marker counts the characters between them as they stand in the text."""
    text = f"<a>start{'-' * 1000}end</a>"
    assert re.fullmatch(r"<a>start-+\.\.\. \[\d+ chars omitted\] \.\.\.-+end</a>", shown(text, 100))
    [cut] = cut_xml(text, 100)
    assert cut.text == f"... [{cut.end - cut.start} chars omitted] ..."
    assert cut.elements == 0


def test_a_cdata_section_is_there_or_not():
    """One that is too long is replaced as a whole, by text."""
    text = "<a><b>1</b><c><![CDATA[" + "<&" * 500 + "]]></c></a>"
    assert shown(text, 200) == "<a><b>1</b><c>... [1012 chars omitted] ...</c></a>"
    short = "<a><b><![CDATA[<&]]></b><c>" + "x" * 500 + "</c></a>"
    assert "<![CDATA[<&]]>" in shown(short, 200)


def test_a_leaf_of_cdata_is_shown_below_the_depth():
    """A section is text: an element that holds nothing else is a leaf, as in feeds."""
    item = "<item><title><![CDATA[News & more of it, in a section]]></title></item>"
    text = f"<rss><channel>{item * 50}</channel></rss>"
    assert shown(text, 1500).count(item) == 10


def test_declaration_instructions_and_comments_stay():
    """They stand outside every cut while there is room."""
    text = (
        "<?xml version='1.0' encoding='latin-1'?>\n<?style a?>\n<!-- by hand -->\n<a>"
        + "<b>é</b>" * 200
        + "</a>\n<!-- end -->\n"
    )
    result = shown(text, 300)
    assert result.startswith(
        "<?xml version='1.0' encoding='latin-1'?>\n<?style a?>\n<!-- by hand -->\n<a><b>é</b>"
    )
    assert result.endswith("</a>\n<!-- end -->\n")


def test_comments_are_shortened_last():
    """A licence above the root gives way only where nothing else does."""
    text = f"<!--{' licence' * 100} --><a>text</a>"
    assert re.fullmatch(r"<!-- .*\.\.\. \[\d+ chars omitted\] \.\.\..*--><a>text</a>", shown(text, 100))
    beside = f"<!--{' licence' * 10} --><a>{'text ' * 100}</a>"
    assert f"<!--{' licence' * 10} -->" in shown(beside, 200)


def test_attributes_are_not_cut():
    """A root with a long attribute stays above the limit."""
    assert cut_xml(f'<a b="{"x" * 1000}"/>', 100) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a>&none;</a>",
        "<a>\0</a>",
        "<a>\ud800</a>",
        "<a b=c/>",
        "<br><p>html",
    ],
)
def test_what_is_no_xml_is_not_structured(text):
    """Malformed text is refused, short or long."""
    with pytest.raises(NotStructured, match="no XML"):
        cut_xml(text, 1000)


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE a>",
        '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;&b;">]>',
    ],
)
def test_a_document_type_is_refused(doctype):
    """No entity is expanded and no file is opened, because none can be declared."""
    with pytest.raises(NotStructured, match="document type"):
        cut_xml(f"{doctype}<a>1</a>", 1000)


def test_deep_nesting_is_cut():
    """A hundred thousand open elements are one comment."""
    text = "<a>" * 100_000 + "x" + "</a>" * 100_000
    assert shown(text, 100) == "<a><a><a><a><!-- ... 1 element omitted ... --></a></a></a></a>"
    assert len(shown(text, 100, max_depth=10**9)) <= 100


def test_a_reference_of_any_length_is_read():
    """Zeros in front of a character's number do not matter."""
    text = "<a>" + "x" * 100 + "&#" + "0" * 5000 + "65;</a>"
    assert len(shown(text, 60)) <= 60


def test_a_megabyte_of_markup():
    """One pass over all markup."""
    text = "<r>" + "<i n='1'><k>name</k><v>some value of it</v></i>\n" * 21_000 + "</r>"
    with not_for_ever():
        assert len(shown(text, 2000)) <= 2000
