"""What people do instead of a preview: the end, both ends, ``grep``, more of the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.corpus.scoring import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD = LIMIT * 60 // 100
_BYTES = 50 * 1024
_WORDS = re.compile(r"error|fail|exception|fatal|panic|traceback", re.IGNORECASE)
_AFTER = 2


def tail(text: str) -> str:
    """The last 8,000 characters."""
    return text[-LIMIT:]


def head_and_tail(text: str) -> str:
    """60 % from the beginning, 40 % from the end."""
    return text if len(text) <= LIMIT else f"{text[:_HEAD]}\n{text[_HEAD - LIMIT :]}"


def grep(text: str) -> str:
    """The first 8,000 characters of ``grep -iE -A2`` with words of failure."""
    lines = text.split("\n")
    wanted = {
        number + step
        for number, line in enumerate(lines)
        if _WORDS.search(line)
        for step in range(_AFTER + 1)
    }
    return "\n".join(lines[number] for number in sorted(wanted) if number < len(lines))[:LIMIT]


def last_50_kb(text: str) -> str:
    """The last 50 KiB."""
    return text.encode()[-_BYTES:].decode("utf-8", "ignore")


PEERS: dict[str, Callable[[str], str]] = {
    "tail 8,000": tail,
    "head 60 % + tail 40 % of 8,000": head_and_tail,
    "grep -A2, first 8,000": grep,
    "tail 50 KB": last_50_kb,
}
