"""Values in the columns of tables, below a line of titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.redaction.look import BACK, LINE_ENDS, line_start
from spillstore.redaction.names import Expected, Named
from spillstore.redaction.tables import titles
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look

_FAR = 480  # bytes behind a title, as in scan_blanks.c
_TITLES = tuple((table.sign.encode(), re.compile(table.titles.encode())) for table in titles.TABLES)


def columns(look: Look, named: Named, begin: int, _start: int) -> int:
    """The same column of the next lines, as that of the name in a line of titles."""
    text = look.text
    line = line_start(text, begin, max(0, begin - BACK))
    stop = look.line(begin)
    if (line and text[line - 1 : line] not in LINE_ENDS) or stop - begin > _FAR:
        return 0
    head, titled = text[line:begin], text[line:stop]
    for sign, form in _TITLES:
        if (
            sign in titled
            and form.fullmatch(titled)
            and sum(map(bool, map(bytes.strip, titled.split(sign)))) > 1
        ):
            look.expected.append((stop + 1, _expected(named, sign, head, titled)))
            break
    return 0


def _expected(named: Named, sign: bytes, head: bytes, titled: bytes) -> Expected:
    """What a title behind ``head`` promises, by the number of its column or, where blanks alone stand between columns, by its place."""
    if sign.strip(b" "):
        return Expected(named, "row", columns=titled.count(sign) + 1, column=head.count(sign), sign=sign)
    lead = len(titled) - len(titled.lstrip(b" "))
    return Expected(named, "aligned", column=max(lead, head.rfind(sign) + len(sign) if sign in head else 0))
