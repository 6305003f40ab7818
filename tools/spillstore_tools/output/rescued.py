"""How many lines that report an error a preview shows that no cut to beginning and end of the same size would have shown.

A preview of ``smart`` takes excerpts from the middle. Whether that was worth anything can be told from its text and the places of its
gaps: an excerpt before which, and behind which, as many bytes of the output stand as the whole preview has is out of reach of
any beginning and end of the output that together have no more bytes, wherever they are cut. Excerpts nearer to an end are not
counted, though most such cuts would miss them, too: the number is a lower bound.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from spillstore_tools.preview.strategies.actionable import STRONG, score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.profiles.rendered import Rendered

_SCORED_CHARS = 400  # of a line, as when it was chosen


def rescued_lines(rendered: Rendered) -> int:
    r"""Count them. Cost: a look at each line of the preview that is out of reach.

    Example:
        >>> from spillstore_tools.preview.parts import Gap, Shown
        >>> from spillstore_tools.profiles.facts import Facts
        >>> from spillstore_tools.profiles.rendered import Section, compose
        >>> gaps = [Gap(at, at + 900, 1, 9, 9, None, text="[900 missing]\n") for at in (6, 926)]
        >>> parts = [Shown("first\n", 0, 6), gaps[0], Shown("error: no such file\n", 906, 926), gaps[1]]
        >>> rescued_lines(compose([Section("combined", parts)], Facts(source="make"), strategy="smart"))
        1
    """
    reach = len(rendered.text.encode(errors="surrogatepass"))
    ends = {each.stream: each.end for each in rendered.omissions}
    count = 0
    for before, behind in pairwise(rendered.omissions):
        if (
            before.stream == behind.stream
            and before.end >= reach
            and ends[behind.stream] - behind.start >= reach
        ):
            lines = _shown(rendered, before.at + before.length, behind.at).splitlines()
            if not before.exact_lines and before.first_line == before.last_line:
                del lines[:1]  # the rest of a line that was cut in its middle
            count += sum(score(line[:_SCORED_CHARS]) >= STRONG for line in lines)
    return count


def _shown(rendered: Rendered, start: int, end: int) -> str:
    """Output in a part of the text, without words of ours."""
    return "".join(_between(rendered, start, end))


def _between(rendered: Rendered, start: int, end: int) -> Iterator[str]:
    for at, length in sorted(rendered.notes):
        if start <= at < end:
            yield rendered.text[start:at]
            start = at + length
    yield rendered.text[start:end]
