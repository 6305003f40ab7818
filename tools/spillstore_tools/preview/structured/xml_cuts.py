"""XML with its middle left out: the first and last children of elements, shorter text, content below a depth.

Expat decides whether the text is XML, over UTF-8 whatever the declaration says, since somebody has decoded it already.
A document type is refused: it can define entities that grow without bound or name files, and no preview is worth that.
What expat accepts without one is so regular that one expression finds all markup: ``<`` stands nowhere else, and ``>``
inside a tag only in quotes. Its positions are characters, while expat's callbacks give bytes, which would have to be
mapped back, for about the same time.

Comments are kept, and shortened only when little else is left. Tags with their attributes, processing instructions and
the declaration are never cut inside, nor is a CDATA section, which is left out whole if it is too long.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING
from xml.parsers import expat

from spillstore_tools.describe import counted
from spillstore_tools.preview.structured.cuts import (
    DEEPEST,
    SHORTEST,
    Detail,
    NotStructured,
    TextCut,
    largest,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKUP = re.compile(
    r"""
      <(?: !-- .*? --> | !\[CDATA\[ .*? \]\]> | \? .*? \?>  # comment, CDATA section, instruction
         | (?> [^"'>]++ | "[^"]*" | '[^']*' )*+ > )         # tag
    """,
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"<[^\s/>]+")
_COMMENTS_GIVE_WAY = 16  # characters of a text node below which comments are shortened as well


def cut_xml(
    text: str,
    limit: int,
    *,
    first: int = 5,
    last: int = 5,
    max_depth: int = 3,
    telling: Sequence[int] = (),
    alike: tuple[int, int] | None = None,
) -> list[TextCut]:
    """The cuts that bring XML down to a limit and leave it well-formed.

    Costs one pass over all markup, about 100 ms for a megabyte. Options are the most that is kept of a text above the
    limit; less is kept, everywhere alike, until it fits.

    Args:
        text: a document without a document type.
        limit: characters of the result.
        first: child elements kept at the start of every element.
        last: child elements kept at its end.
        max_depth: levels of elements whose children are kept, the root being 1. Above 64 means 64.
        telling: characters, ascending; an element that one of them is in is kept, wherever it stands.
        alike: child elements kept at either end where all of them have one name; as many as of others if None.

    Returns:
        Disjoint cuts in ascending order; none if the text fits. The root's tags and what stands outside it are not
        cut (comments there are shortened), so a text of little else can stay above the limit.

    Raises:
        NotStructured: the text is not well-formed, or has a document type.

    Example:
        >>> from spillstore_tools.preview.structured.cuts import apply_cuts
        >>> text = "<log>" + "<line>ok</line>" * 100 + "</log>"
        >>> apply_cuts(text, cut_xml(text, 90, first=1, last=1))
        '<log><line>ok</line><!-- ... 98 elements omitted ... --><line>ok</line></log>'
    """
    _check(text)
    if len(text) <= limit:
        return []
    depth = min(max_depth, DEEPEST)
    document = _parse(text, depth)
    asked = Detail(len(text), max(0, first), max(0, last), depth, len(text))
    return largest(text, limit, asked, lambda detail: _XmlCutter(text, detail, telling, alike).run(document))


def _check(text: str) -> None:
    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise NotStructured(f"no XML: {error}") from error
    except UnicodeEncodeError as error:
        raise NotStructured("no XML: half of a surrogate pair") from error


def _refuse(*_: object) -> None:
    raise NotStructured("a document type is refused")


@dataclass(slots=True)
class _Node:
    """A node's place.

    Attributes:
        kind: ``element``, ``text``, ``data`` (a CDATA section) or ``comment``; instructions are no nodes.
        start: its first character.
        low: the first character of its content.
        high: the position after its content.
        end: the position after its last character.
        nodes: an element's children, as far down as anybody looks.
        elements: which of them are elements.
        markup: whether it has anything but text.
        count: all child elements, looked at or not.
        one_name: whether all of them have one name, once that was asked.
    """

    kind: str
    start: int
    low: int
    high: int
    end: int
    nodes: list[_Node] = field(default_factory=list)
    elements: list[int] = field(default_factory=list)
    markup: bool = False
    count: int = 0
    one_name: bool | None = None

    def has_one_name(self, text: str) -> bool:
        """Whether all child elements have the same name."""
        if self.one_name is None:
            names = (_NAME.match(text, self.nodes[at].start) for at in self.elements)
            self.one_name = len({name and name[0] for name in names}) == 1
        return self.one_name


class _Builder:
    """Makes nodes of markup, in the order of the text; ``deepest`` is the last depth that has nodes."""

    def __init__(self, deepest: int) -> None:
        self.document = _Node("document", 0, 0, 0, 0)
        self._open = [self.document]
        self._deepest = deepest
        self._below = 0  # elements open below the last depth that has nodes

    def text(self, start: int, end: int) -> None:
        if end - start > SHORTEST and not self._below and len(self._open) > 1:
            self._open[-1].nodes.append(_Node("text", start, start, end, end))

    def other(self, kind: str, start: int, end: int) -> None:
        if not self._below:
            self._open[-1].markup = True
            if kind == "comment":
                self._open[-1].nodes.append(_Node(kind, start, start + 4, end - 3, end))
            elif kind == "data":
                self._open[-1].nodes.append(_Node(kind, start, start, end, end))

    def opened(self, start: int, end: int, *, empty: bool) -> None:
        if self._below or len(self._open) > self._deepest:
            if not self._below:
                self._open[-1].markup = True
                self._open[-1].count += 1
            self._below += not empty
            return
        parent = self._open[-1]
        parent.markup = True
        parent.count += 1
        parent.elements.append(len(parent.nodes))
        node = _Node("element", start, end, end, end)
        parent.nodes.append(node)
        if not empty:
            self._open.append(node)

    def closed(self, start: int, end: int) -> None:
        if self._below:
            self._below -= 1
            return
        node = self._open.pop()
        node.high, node.end = start, end


def _parse(text: str, depth: int) -> _Node:
    """The document's nodes, down to one level below ``depth``: the elements there are shown without content."""
    builder = _Builder(depth + 1)
    pos = 0
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if start > pos:
            builder.text(pos, start)
        pos = end
        mark = text[start + 1]
        if mark == "/":
            builder.closed(start, end)
        elif mark == "!":
            builder.other("comment" if text[start + 2] == "-" else "data", start, end)
        elif mark == "?":
            builder.other("instruction", start, end)
        else:
            builder.opened(start, end, empty=text[end - 2] == "/")
    return builder.document


class _XmlCutter:
    """Collects the cuts of one detail, in the order of the text."""

    def __init__(
        self, text: str, detail: Detail, telling: Sequence[int], alike: tuple[int, int] | None
    ) -> None:
        self._text = text
        self._detail = detail
        self._telling = telling
        self._alike = alike
        self._cuts: list[TextCut] = []

    def run(self, document: _Node) -> list[TextCut]:
        self._nodes(document.nodes, 1)
        return self._cuts

    def _nodes(self, nodes: list[_Node], depth: int) -> None:
        for node in nodes:
            if node.end - node.start <= SHORTEST:
                continue
            if node.kind == "element":
                self._element(node, depth)
            elif node.kind == "data":
                self._data(node)
            elif node.kind == "text":
                self._shorten(node, _References)
            elif self._detail.strings < _COMMENTS_GIVE_WAY:
                self._shorten(node, _PlainText)

    def _element(self, node: _Node, depth: int) -> None:
        # Without child elements it is a leaf, whose text may stand in CDATA sections or around comments.
        deep = depth > self._detail.depth and (node.count or (node.markup and self._detail.depth < 1))
        if deep and not self._tells(node):
            self._omit(node.low, node.high, node.count)
            return
        detail = self._detail
        if (
            self._alike is not None
            and len(node.elements) > sum(self._alike)
            and node.has_one_name(self._text)
        ):
            first, last = self._alike
            detail = replace(detail, first=min(first, detail.first), last=min(last, detail.last))
        low, high = (0, len(node.elements)) if deep else detail.omitted(len(node.elements))
        shown = 0  # the first node that is not yet looked at
        for tells, run in groupby(node.elements[low:high], lambda at: self._tells(node.nodes[at])):
            omitted = [] if tells else list(run)
            if omitted and self._omit_nodes(node, shown, omitted, depth):
                shown = omitted[-1] + 1
        self._nodes(node.nodes[shown:], depth + 1)

    def _omit_nodes(self, node: _Node, shown: int, omitted: list[int], depth: int) -> bool:
        """Leave out a run of elements, behind those nodes that are shown; whether that makes the text shorter."""
        cuts = len(self._cuts)
        self._nodes(node.nodes[shown : omitted[0]], depth + 1)
        if self._omit(node.nodes[omitted[0]].start, node.nodes[omitted[-1]].end, len(omitted)):
            return True
        del self._cuts[cuts:]
        return False

    def _tells(self, node: _Node) -> bool:
        """Whether something in it must be shown."""
        at = bisect_left(self._telling, node.start)
        return at < len(self._telling) and self._telling[at] < node.end

    def _omit(self, start: int, end: int, elements: int) -> bool:
        what = counted(elements, "element") if elements else counted(end - start, "char")
        marker = f"<!-- ... {what} omitted ... -->"
        if len(marker) >= end - start:
            return False
        self._cuts.append(TextCut(start, end, marker, elements))
        return True

    def _data(self, node: _Node) -> None:
        marker = f"... [{counted(node.end - node.start, 'char')} omitted] ..."
        if node.end - node.start > max(self._detail.strings, len(marker)):
            self._cuts.append(TextCut(node.start, node.end, marker, 0))

    def _shorten(self, node: _Node, sequences: type[_References | _PlainText]) -> None:
        cut = shortened(self._text, node.low, node.high, self._detail.strings, sequences)
        if cut:
            self._cuts.append(cut)


class _References:
    """References in text: ``&amp;``, ``&#233;``."""

    @staticmethod
    def opening(text: str, low: int, pos: int) -> int:
        start = text.rfind("&", low, pos)
        return pos if start < 0 else start

    @staticmethod
    def closing(text: str, pos: int) -> int:
        return text.index(";", pos) + 1 if text[pos] == "&" else pos + 1


class _PlainText:
    """Text in a comment, where every character stands for itself."""

    @staticmethod
    def opening(text: str, low: int, pos: int) -> int:  # noqa: ARG004  # the protocol's
        return pos

    @staticmethod
    def closing(text: str, pos: int) -> int:  # noqa: ARG004  # the protocol's
        return pos + 1
