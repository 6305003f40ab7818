"""Classes of bytes, and expressions, that several rules and the native scanner speak of: each stands here alone."""

from __future__ import annotations

import functools
import re

WORD = r"[^\s\"'`\x00-\x20\x7f]"  # no blanks, no quotes
NAME = r"[\w.-]"  # of names of variables, keys and options
TOKEN = "[A-Za-z0-9_.~+/=@-]"  # noqa: S105  # of tokens of providers
TOKEN_OR_MARK = "[A-Za-z0-9_.~+/=@:|-]"  # noqa: S105  # of those and their literals
KEY = "[A-Za-z0-9+/=_.~%!@#$^*:-]"  # of keys behind names
CREDENTIAL = r"[^\s\"'`<>,;\\\x00-\x20(){}\[\]|&]"  # of what stands behind a scheme of HTTP
PIECE = r"[^-_./:\s,+@=#]"  # of the pieces of a value, between its separators
# Letters as in words, whose capitals begin one or are those of an abbreviation; a short one may be any.
_HUMP = r"(?:[A-Z]{1,7}[a-z]{2,}|[A-Z][a-z]|[A-Z]{1,7}s(?![a-z]))"
CAMELS = rf"(?:(?:{_HUMP}|[a-z]{{2,}}){_HUMP}*[A-Z]{{0,7}}|[A-Z]+|[a-z]+|[A-Za-z]{{0,7}})"
BEFORE_RUN = "./+~@$#?!*^"  # what stands between such bytes is a part of a path, a name, a mangled symbol, and no token
BEHIND_RUN = "/+~@$(=*{[:^"
UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@functools.cache
def members(of: str) -> bytes:
    """The bytes that a class has, in order.

    >>> members("[0-9a-f]")
    b'0123456789abcdef'
    """
    return b"".join(re.findall(of.encode(), bytes(range(256)), re.DOTALL))


def others(of: str) -> str:
    """The class of the bytes that a class has not.

    >>> others("[0-9a-f]"), others(others("[0-9a-f]"))
    ('[^0-9a-f]', '[0-9a-f]')
    """
    return f"[{of[2:]}" if of.startswith("[^") else f"[^{of[1:]}"
