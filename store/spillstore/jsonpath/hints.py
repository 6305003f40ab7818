"""What is wrong with a query that cannot be read, and how it may have been meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = "$.users[?@.age > 30].name"
_LONGEST = 200  # characters of a query that is mended


_HINTS = (
    (r"(?<!\.)\.\[", "a bracket stands without a dot"),
    (r"=~", "regular expressions are search(@.name, 'x') and match(@.name, 'x.*')"),
    (r"\(\s*@\.length\s*-\s*1\s*\)", "the last element is [-1]"),
    (r"\.length\(\)|\.length\b(?!\s*\()", "a length is length(@.name) in a filter"),
    (r"(?<![=!<>])=(?!=)", "equality is =="),
    (r"(?<!&)&(?!&)|(?<!\|)\|(?!\|)|\b(?:and|or|not)\b", "logic is &&, || and !"),
    (r"\[\]", "all elements are [*]"),
    (r"\.[A-Za-z_]\w*-", "a name with other characters than letters, digits and _ is ['a-name']"),
)


# What others write, and what it is here.
_MENDS = (
    (r"\A\s+|\s+\Z", ""),
    (r"\A(?=[.\[])", "$"),
    (r"\A(?!\$)", "$."),
    (r"(?<!\.)\.(?=\[)", ""),
    (r"\[\]", "[*]"),
    (r"(?<![=!<>])=(?!=)", "=="),
    (r"(?<!&)&(?!&)|\band\b", "&&"),
    (r"(?<!\|)\|(?!\|)|\bor\b", "||"),
    (r"\.([A-Za-z_]\w*(?:-\w+)+)", r"['\1']"),
)


def hint(query: str, is_query: Callable[[str], bool]) -> str:
    """What is wrong, where that is known, and a query that is right: the same one mended, if that is enough.

    Args:
        query: none that can be read.
        is_query: whether a text is one.
    """
    text = query.strip()
    right = mended if (mended := _mended(query, is_query)) is not None else EXAMPLE
    if text != query and right == text:
        return f"leave out the space around it: {text}"
    if text and not text.startswith("$"):
        return f"a query begins with $; for example {right}"
    for pattern, what in _HINTS:
        if re.search(pattern, text):
            return f"{what}; for example {right}"
    return f"for example {right}"


def _mended(query: str, is_query: Callable[[str], bool]) -> str | None:
    """The query as it may have been meant, if that is one."""
    if len(query) > _LONGEST:
        return None
    for pattern, mend in _MENDS:
        query = re.sub(pattern, mend, query)
        if is_query(query):
            return query
    return None
