"""Secrets in values that JSON can hold: in texts, and behind names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillstore.redaction.rules import RedactionRules

_DEEPEST = 200  # levels; of what is deeper only the type is told


def without_secrets(
    value: object, rules: RedactionRules, counts: dict[str, int], *, numbers: bool = False
) -> object:
    """A value of the same structure, its secrets replaced by placeholders.

    Args:
        value: what JSON can hold; other things stay as they are.
        rules: what is a secret.
        counts: those taken out are counted here, by kind.
        numbers: whether a number can be a secret behind a name, too; its placeholder is a text.

    Cost: 20 us a text, 40 us one behind a name.

    >>> from spillstore.redaction import DEFAULT
    >>> counts = {}
    >>> without_secrets({"user": "me", "password": "hunter2", "urls": ["redis://:s3cret@db/0"], "pin_token": 7}, DEFAULT, counts)
    {'user': 'me', 'password': '[REDACTED: PASSWORD]', 'urls': ['redis://:[REDACTED: PASSWORD]@db/0'], 'pin_token': 7}
    >>> counts
    {'PASSWORD': 2}
    """
    return _Structure(rules, counts, numbers=numbers).value(None, value, 0)


def distinct_name(name: str, known: dict[str, int]) -> str:
    """The name, with a number behind it if it is known; noted as known, with how often it was met."""
    found = name
    while found in known:
        known[name] += 1
        found = f"{name} ({known[name]})"
    known[found] = 1
    return found


class _Structure:
    """One value that is gone through."""

    def __init__(self, rules: RedactionRules, counts: dict[str, int], *, numbers: bool) -> None:
        self._rules = rules
        self._counts = counts
        self._numbers = numbers

    def value(self, name: str | None, value: object, depth: int) -> object:
        """A value behind a name, or in a list."""
        if isinstance(value, str):
            return self._text(name, value)
        if isinstance(value, (list, tuple, dict)) and depth >= _DEEPEST:
            return f"<{type(value).__name__}>"
        if isinstance(value, dict):
            found: dict[object, object] = {}
            known: dict[str, int] = {}
            for key, item in value.items():
                inner = self.value(key if isinstance(key, str) else None, item, depth + 1)
                found[self._key(key, known)] = inner
            return found
        if isinstance(value, (list, tuple)):
            return [self.value(name, item, depth + 1) for item in value]
        if self._numbers and name is not None and isinstance(value, int) and not isinstance(value, bool):
            return self._named(name, value)
        return value

    def _key(self, key: object, known: dict[str, int]) -> object:
        """A name without secrets, which is none of those before it: no member is lost."""
        return distinct_name(str(self._text(None, key)), known) if isinstance(key, str) else key

    def _text(self, name: str | None, value: str) -> object:
        if not value:
            return value
        clean, found = self._rules.counted(value)
        if found:
            self._count(found)
            return clean
        return value if name is None else self._named(name, value)

    def _named(self, name: str, value: str | int) -> object:
        """The value, or a placeholder if it is a secret behind that name."""
        found = self._rules.counted(f"{json.dumps(name)}: {json.dumps(value)}")[1]
        self._count(found)
        return f"[REDACTED: {next(iter(found))}]" if found else value

    def _count(self, found: dict[str, int]) -> None:
        for kind, count in found.items():
            self._counts[kind] = self._counts.get(kind, 0) + count
