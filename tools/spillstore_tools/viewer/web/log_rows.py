"""Rows of a log as HTML: once for pages, for the script that asks for more of them, and for files that are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore_tools.describe import human_size
from spillstore_tools.viewer.web.html import Html, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore_tools.viewer.model.rows import Row

GAP: Final = 1.0  # seconds without output that are told
_PRINTABLE: Final = range(32, 127)


def row_html(row: Row, content: Html, kinds: Sequence[str] = (), read_by: str = "") -> Html:
    """A row.

    Args:
        row: the row.
        content: its text, of `line_html` or `hex_html`.
        kinds: classes that say what the model saw of it.
        read_by: who has read it later, in words; empty for nobody.
    """
    classes = ["row", *kinds]
    if row.kind == "hole":
        said = tag("span", f"⋯ {row.note}", class_="x")
        return tag(
            "div", tag("span", "⋯", class_="n"), said, class_="row hole", data_b=row.start, data_n=row.number
        )
    is_line = row.kind == "line"
    if row.stream == "stderr":
        classes.append("err")
    number = f"{row.number}" if is_line else f"{row.number:08x}"
    link = tag("a", number, class_="n", href=f"#L{row.number}" if is_line else f"#B{row.start}")
    gap = row.gap is not None and row.gap >= GAP
    when = "" if row.time is None else f"+{row.gap:.1f} s" if gap else f"{row.time:.3f}"
    time = tag(
        "span",
        when,
        class_="t gap" if gap else "t",
        title=None if row.time is None else f"{row.time:.3f} s after the beginning",
    )
    mark = tag("span", "●" if read_by else "", class_="r", title=read_by or None, aria_label=read_by or None)
    stream = tag("span", "!" if row.stream == "stderr" else "", class_="s", title=row.stream)
    cut = None
    if row.cut:  # the page of a log makes it a link to the whole line
        cut = tag("a", f" … {human_size(row.cut)} more in this line", class_="cut", data_line=row.number)
    body = tag("span", content, cut, class_="x")
    return tag(
        "div",
        link,
        time,
        stream,
        mark,
        body,
        class_=" ".join(classes),
        data_b=row.start,
        data_n=row.number if is_line else None,
    )


def hex_html(row: Row) -> Html:
    """Bytes in hex, and as ASCII."""
    pairs = [f"{byte:02x}" for byte in row.data]
    halves = f"{' '.join(pairs[:8])}  {' '.join(pairs[8:])}"
    drawn = "".join(chr(byte) if byte in _PRINTABLE else "·" for byte in row.data)
    return Html(f"{tag('span', f'{halves:<49}', class_='hex')}{text(drawn)}")
