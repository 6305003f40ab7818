"""Members of records of JSON, on lines or in arrays: which tell how much a record matters, and how many records have which value."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import listed

LEVELS = ("level", "severity", "levelname", "log_level", "lvl", "log.level", "@level")
STATUSES = ("status", "status_code", "statusCode", "outcome", "Action")
MESSAGES = ("msg", "message", "event", "text", "error", "err", "@message", "MESSAGE", "code")
ERRORS = ("error", "err", "exception", "failed")
NAMED = 300  # code points of names or values in a note
_WORDS = r"(?i:err(?:or)?|fatal|critical|crit|panic|alert|emerg\w*|severe|fail(?:ed|ure)?|dpanic|abort(?:ed)?|timeout|crashed)"
_WARNS = r"(?i:warn(?:ing)?)"
# What tells of trouble in such a field, and what of a little: words, numbers of pino and bunyan, of syslog, of HTTP.
_TROUBLE = {
    **dict.fromkeys(LEVELS, (_WORDS + r"|[56]\d", _WARNS + r"|4\d")),
    "PRIORITY": (r"[0-3]", r"4"),
    **dict.fromkeys(STATUSES, (_WORDS + r"|5\d\d", _WARNS + r"|4\d\d")),
}


class Field:
    """A member of records, and how many of them have which value.

    Args:
        key: its name.
        name: as what it is told; by default its name.

    Attributes:
        counts: records by their value.
        bad: the pattern of values that tell of trouble.
        little: the pattern of those that warn.
        is_known: whether it is a level or a status by its name; of others words alone tell of trouble.

    Example:
        >>> field = Field("status")
        >>> field.counts.update({"200": 1899, "503": 1})
        >>> field.told(), [field.weight(value) for value in ("503", "404", "200")]
        ('status: 200 1,899, 503 1', [2, 1, 0])
    """

    def __init__(self, key: str, name: str = "") -> None:
        self.key = key
        self.name = name or key
        self.counts: Counter[str] = Counter()
        self.is_known = key in _TROUBLE
        self.bad, self.little = _TROUBLE.get(key, (_WORDS, _WARNS))

    def weight(self, value: str) -> int:
        """2 of a value that tells of trouble, 1 of one that warns, else 0."""
        bad, little = _compiled(self.bad, self.little)
        return 2 if bad.fullmatch(value) else 1 if little.fullmatch(value) else 0

    def told(self) -> str:
        """Its name, the values and how many records have each, the most frequent first."""
        values = [f"{value} {count:,}" for value, count in self.counts.most_common()]
        return f"{self.name}: {listed(values, NAMED)}"


def is_known(key: str) -> bool:
    """Whether a member of this name tells a level or a status."""
    return key in _TROUBLE


@functools.cache
def _compiled(bad: str, little: str) -> tuple[Any, Any]:
    return re.compile(bad), re.compile(little)
