"""Regular expressions of filters (I-Regexp, RFC 9485), for RE2, which takes linear time.

They are a subset of its own but for the dot.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import re2  # type: ignore[import-untyped]

from spillstore.exceptions import QueryError

_SHOWN = 200


def shown(query: str) -> str:
    """A query as a message shows it."""
    return repr(query if len(query) <= _SHOWN else f"{query[:_SHOWN]}...")


@functools.lru_cache(maxsize=256)
def iregexp(pattern: str, *, whole: bool) -> Any:
    """An expression of RFC 9485 for RE2; None for what is none, which matches nothing.

    Raises:
        QueryError: it is one, and RE2 cannot take it.
    """
    source = _translated(pattern)
    if source is None:
        return None
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # RE2 would copy all captures at each step
    try:
        return re2.compile(utf8(rf"\A(?:{source})\z" if whole else source), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise QueryError(
            f"the expression {shown(pattern)} cannot be matched: {reason}; counted repeats go up to 1000"
        ) from None


# RFC 9485, 4: what stands for one character or a group, and how often it may come.
_ESCAPE = r"\\[()*+\-.?\[\\\]^nrt{|}]"
_CATEGORY = r"\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}"
_MEMBER = rf"(?:(?:[^\-\[\\\]]|{_ESCAPE})(?:-(?:[^\-\[\\\]]|{_ESCAPE}))?|{_CATEGORY})"
_PIECE = re.compile(
    rf"(?P<bracket>[(|])"
    rf"|(?:(?P<end>\))|(?P<dot>\.)|(?P<one>[^()*+.?\[\\\]{{|}}]|{_ESCAPE}|{_CATEGORY}|\[\^?(?:-|{_MEMBER})(?>{_MEMBER})*+-?\]))"
    r"(?P<times>[*+?]|\{[0-9]+(?:,[0-9]*)?\})?",
    re.ASCII,
)


def _translated(pattern: str) -> str | None:
    """An expression of RFC 9485 as RE2 writes it; None if it is none."""
    parts: list[str] = []
    at = depth = 0
    while at < len(pattern):
        piece = _PIECE.match(pattern, at)
        if piece is None:
            return None
        depth += (piece["bracket"] == "(") - (piece["end"] is not None)
        if depth < 0:
            return None
        parts.append(rf"[^\n\r]{piece['times'] or ''}" if piece["dot"] else piece[0])
        at = piece.end()
    return None if depth else "".join(parts)


def utf8(text: str) -> bytes:
    """A text as RE2 searches it; half surrogates, which JSON may hold, included."""
    return text.encode(errors="surrogatepass")
