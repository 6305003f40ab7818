"""HTML as what a reader sees of it, and XML cut by elements."""

from __future__ import annotations

import dataclasses
import html
from itertools import islice
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore.settings import MIB
from spillstore_tools.describe import counted, listed, preview_size
from spillstore_tools.preview.parts import Note
from spillstore_tools.preview.strategies.actionable import STRONG, Hints, score
from spillstore_tools.preview.strategies.ends import beginning, ending
from spillstore_tools.preview.strategies.fit import assemble, fitted
from spillstore_tools.preview.strategies.novelty import Novelty
from spillstore_tools.preview.structured.cuts import NotStructured
from spillstore_tools.preview.structured.replace import replaced
from spillstore_tools.preview.text.clean import BOM
from spillstore_tools.preview.text.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request

_HEADINGS = 800  # code points of headings
_TEXT = 4000  # code points of the text
_PAGE = 0.97  # of the output is one page
_MARKED = re.compile(r"#{1,4} \S")
_SECTION = re.compile(r"(?m)^\n#{2,3} \w[^\n]*\n\n")  # no comment of a script stands like this
_SECTIONS = 3  # that a document has at least; and so many lines to a heading
_FRONT = 0.85  # of the room, for the beginning
_MOST = 10**6  # elements
_ALIKE = (6, 4)  # of elements of one name, at either end
_LINES_OF_TEXT = 50  # that are looked at, behind a tag
# No pattern looks for an end that may be missing: a page of such beginnings would take the square of its size.
_UNSEEN = re.compile(r"(?i)<(/?)(script|style|svg|head|template|noscript)\b[^<>]*>|<!--|-->")
_TITLE = re.compile(r"(?i)<title[^<>]*>([^<]{0,500})")
_HEADING = re.compile(r"(?i)<h([1-6])\b[^<>]*>")
_LONGEST = 400  # characters of a heading, and of a line that reports a failure
_FAILURES, _MARKER = 6, 30  # such lines that are shown wherever they stand, and what stands before each
_BREAK = re.compile(
    r"(?i)</?(?:p|div|br|tr|li|ul|ol|h[1-6]|table|section|article|pre|blockquote|dt|dd|header|footer|nav)\b[^<>]*>"
)
_TAG = re.compile(r"<[^<>]*>")
_LINES = re.compile(r"[ ]?\n[\n ]*+")
_BLANKS = re.compile(r"[ \t\r\f\v]+")
_TARGET = re.compile(r"(?i)<(?:a|form|table|img)\b")


class _Whole:
    """Output that is looked at when all of it is there."""

    def block(self, block: Block) -> bool:
        """Whether it is small enough to be held."""
        return block.end <= MIB and block.long is None

    def is_row(self, line: bytes) -> bool | None:  # noqa: ARG002  # what it tells is chosen in ``cut``
        """As in ``Kind``."""
        return True


class Html(_Whole):
    """A page: its title, its headings, and its text, in words of our own; the source is left out as a whole."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        source = overview.text() if overview.size <= MIB else None
        if source is None:
            return None
        end = source.rfind("</html>")
        if end < len(source) * _PAGE:
            return None  # a page that something else has printed, too
        title = _TITLE.search(source)
        headings = list(_headings(source))
        text = _plain(_seen(source.removeprefix(BOM)), lines=True)
        marks = len(_TARGET.findall(source))
        words = f"[HTML, {preview_size(overview.size)}"
        words += f": {_plain(title[1])[:200]!r}" if title else ""
        words += f"; {counted(len(text), 'character')} of text, {marks} links, forms, images and tables]\n"
        if headings:
            words += f"headings: {listed(headings, _HEADINGS)}\n"
        gap = overview.everything().marked(request.marker)
        room = min(_TEXT, request.limit - len(words) - len(gap.text) - 40)
        if room < 0 or not text:
            return None
        return [Note(f"{words}{_told(text, room)}\n"), dataclasses.replace(gap, text=gap.text.strip("\n"))]


class Markdown(_Whole):
    """A document: its headings with their lines, then its text from the beginning on, and its end."""

    def is_row(self, line: bytes) -> bool | None:  # noqa: ARG002  # any line may be prose
        """As in ``Kind``."""
        return None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        text = overview.text() if overview.size <= MIB else None
        if text is None:
            return None
        headings, fenced = [], False
        for number, line in enumerate(text.removeprefix(BOM).split("\n"), 1):
            fenced ^= line.startswith(("```", "~~~"))
            if not fenced and _MARKED.match(line):
                headings.append(f"{number} {line.strip('# ')}")
        if len(_SECTION.findall(text)) < _SECTIONS or len(headings) > overview.lines // _SECTIONS:
            return None
        words = Note(f"[Markdown, {counted(overview.lines, 'line')}: {listed(headings, _HEADINGS)}]\n")
        small = request.smaller(len(words.text))

        def attempt(room: int) -> list[Part]:
            head = beginning(overview, int(room * _FRONT), small)
            tail = ending(overview, room - head.length, small, head.position)
            return assemble(head, tail, overview, small.marker)

        return [words, *fitted(overview, small, attempt)]


class Xml(_Whole):
    """XML, cut by elements, so that it is XML still."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        text = overview.text() if overview.size <= MIB else None
        if text is None:
            return None
        from spillstore_tools.preview.structured.xml_cuts import cut_xml  # noqa: PLC0415  # expat only where it is needed

        for telling in (_telling(text), []):
            try:
                cuts = cut_xml(
                    text, request.limit, first=_MOST, last=_MOST, max_depth=64, telling=telling, alike=_ALIKE
                )
            except NotStructured:
                return None
            parts = replaced(overview, text, cuts, request.limit)
            if parts is not None or not telling:
                break
        return parts


def _telling(text: str) -> list[int]:
    """Where the tags stand whose names, attributes or texts report failures most clearly."""
    data, found = text.encode(), []
    at = chars = 0
    for start, after, _, _, _ in Hints().lines(data, b"<"):
        chars, at = chars + len(data[at:start].decode()), start
        name, _, rest = data[start:after].decode(errors="replace").rstrip("<").partition(" ")
        lines = rest.split("\n", _LINES_OF_TEXT)[:_LINES_OF_TEXT]
        points = score(f"{name.partition('>')[0]}: ") + max(score(line[:_LONGEST]) for line in lines)
        if points >= STRONG:
            found.append((-points, chars))
    return sorted(place for _, place in sorted(found)[:_FAILURES])


def _told(text: str, room: int) -> str:
    """The lines of a text that tell something new, from its beginning, and those beyond that report failures."""
    lines = text.split("\n")
    hinted = (number for _, _, number, _, _ in Hints().lines(text.encode(), b"\n"))
    strong = (number for number in hinted if score(lines[number][:_LONGEST]) >= STRONG)
    telling = set(islice(strong, _FAILURES))
    reserved = sum(min(len(lines[number]), _LONGEST) + _MARKER for number in telling)
    left, missing = room - min(reserved, room // 2) - _MARKER, 0
    pieces: list[str] = []
    novelty = Novelty()
    for number, line in enumerate(lines):
        tells = number in telling
        if not tells and (left <= 0 or novelty.known(Line(number, 0, line.encode()))):
            missing += 1
            continue
        marker = f"[... {counted(missing, 'line')} ...]" if missing else ""
        shown = line[: _LONGEST if tells else left]
        pieces += [marker, shown] if marker else [shown]
        left -= 0 if tells else len(shown) + len(marker) + 2
        missing = 0
    return "\n".join([*pieces, f"[... {counted(missing, 'line')} ...]"] if missing else pieces)[:room]


def _headings(source: str) -> Iterator[str]:
    """The headings, with as many marks as their level."""
    for found in _HEADING.finditer(source):
        end = source.find("</h", found.end(), found.end() + _LONGEST)
        if end > 0:
            yield f"{'#' * int(found[1])} {_plain(source[found.end() : end])}"


def _seen(source: str) -> str:
    """The source without comments, scripts and the like."""
    pieces, at, inside = [], 0, ""
    for mark in _UNSEEN.finditer(source):
        name = (mark[2] or "--").lower()
        opens = mark[0] == "<!--" or mark[1] == ""
        if opens and not inside:
            pieces.append(source[at : mark.start()])
            inside = name
        elif not opens and name == inside:
            inside, at = "", mark.end()
    return " ".join([*pieces, "" if inside else source[at:]])


def _plain(source: str, *, lines: bool = False) -> str:
    """The text of HTML; on one line, or with the line ends of its blocks."""
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", source)))
    text = _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()
    return text if lines else text.replace("\n", " ")
