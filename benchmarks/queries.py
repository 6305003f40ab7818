"""What is searched for: seven queries in three kinds of text, and in the other kinds the three that have a target.

The texts are made with one seed, so a rare text is as rare on every machine; the rows say how many lines there were.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = "panicked|deadlock|overflow|refused"


class Query(NamedTuple):
    """What is searched for."""

    name: str
    pattern: str
    literal: bool = False
    ignore_case: bool = False
    limit: float | None = None

    @property
    def expression(self) -> str:
        """The same as one expression of the standard library."""
        return f"{'(?i)' * self.ignore_case}{re.escape(self.pattern) if self.literal else self.pattern}"


_NOTHING = Query("nothing", "zebra quartz", limit=0.5)
QUERIES = {
    "log": (
        Query("a rare pattern", "request_id=000[0-9a-f]+ DELETE"),
        Query("a rare text", "GET /v1/users/4242 status=503", literal=True, limit=0.5),
        Query("a common text", "ERROR", limit=1.0),
        Query("a common pattern", "status=50[03] duration_ms=[0-9]+"),
        Query("four words", _WORDS),
        Query("either case", "timeouterror: upstream", ignore_case=True),
        _NOTHING,
    ),
    "json": (
        Query("a rare pattern", 'trace_id": "dead[0-9a-f]+b"'),
        Query("a rare text", '"key": "user:4242"', literal=True, limit=0.5),
        Query("a common text", "expired", limit=1.0),
        Query("a common pattern", 'key": "user:9[0-9]+"'),
        Query("four words", _WORDS),
        Query("either case", "EXPIRED", ignore_case=True),
        _NOTHING,
    ),
    "sources": (
        Query("a rare pattern", "SIGUSR[0-9]+"),
        Query("a rare text", "JUMP_BACKWARD_NO", literal=True, limit=0.5),
        Query("a common text", "return", limit=1.0),
        Query("a common pattern", "def [a-z_]+_[a-z]+"),
        Query("four words", _WORDS),
        Query("either case", "keyboardINTERRUPT", ignore_case=True),
        _NOTHING,
    ),
}


def _three(rare: str, common: str) -> tuple[Query, ...]:
    return (
        Query("a rare text", rare, literal=True, limit=0.5),
        Query("a common text", common, limit=1.0),
        _NOTHING,
    )


OTHERS = {
    "logfmt": _three("session_id=42424", "key=user:9"),
    "access log": _three("/4242?key=", "key=9"),
    "test run": _three("test_queue_cache.py::test_node_token", "worker"),
    "build output": _three("src/queue/cache_4", "warning:"),
    "lock file": _three('"node_modules/queue-42"', '"dependencies"'),
    "minified": _three('["4242', "hover"),
    "random bytes": _three("zQ7", "zQ"),
}
