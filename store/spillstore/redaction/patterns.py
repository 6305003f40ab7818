"""Patterns that a user adds: RE2, which never backtracks, within lines.

A line is what ends with LF or CR; ``^`` and ``$`` are its ends and nothing matches across one. Of a line of more than 64
KiB a pattern sees 64 KiB at a time. Bytes are Latin-1: a class for letters outside of ASCII must name their UTF-8 bytes.

How much a pattern costs is the product of its size and the text at worst, when RE2 runs out of memory for its automaton; so
the size is bounded (``MOST_INSTRUCTIONS``; 1,000 repetitions of a class are 1,000 of them), and no pattern can stall a
write: at the bound a megabyte takes seconds, not hours.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from spillstore.exceptions import PatternError
from spillstore.redaction.beginnings import UnreadableError, beginnings
from spillstore.redaction.spans import Span
from spillstore.redaction.values import entropy

MOST_INSTRUCTIONS = 10_000
_MEMORY = 16 * 1024 * 1024
_SHOWN = 100


@dataclasses.dataclass(frozen=True, kw_only=True)
class Allowed:
    """What a pattern finds and that is no secret, of one rule of a file in the format of gitleaks.

    Args:
        patterns: RE2, searched in ``target``.
        stopwords: text in the secret, of either case.
        target: ``secret``, ``match`` or ``line``.
        every: both a pattern and a stopword must be there, not one of them.
    """

    patterns: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()
    target: str = "secret"
    every: bool = False

    def covers(self, secret: bytes, match: bytes, line: bytes) -> bool:
        """Whether this is no secret."""
        text = {"secret": secret, "match": match, "line": line}[self.target]
        low = secret.lower()
        answers = []
        if self.patterns:
            answers.append(any(compiled(pattern, "an allow-list").search(text) for pattern in self.patterns))
        if self.stopwords:
            answers.append(any(word.lower().encode() in low for word in self.stopwords))
        return bool(answers) and (all(answers) if self.every else any(answers))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pattern:
    r"""A secret that a user knows of.

    Args:
        name: told when the pattern is wrong.
        pattern: RE2; see the module for what it can match.
        group: the group that is the secret; 0 for the whole match. If it takes no part in a match, the whole is.
        kind: in the placeholder; by default the name in capitals.
        keywords: one of these, of either case, is in each text that is searched; none if all are.
        entropy: bits per byte that a secret has at least.
        allowed: what is none.

    Raises:
        PatternError: RE2 cannot compile it, or it is too large; the message names the rule and the reason.

    >>> Pattern(name="employee id", pattern=r"\bemp-\d{6}\b").kind
    'EMPLOYEE_ID'
    """

    name: str
    pattern: str
    group: int = 0
    kind: str = ""
    keywords: tuple[str, ...] = ()
    entropy: float = 0.0
    allowed: tuple[Allowed, ...] = ()

    def __post_init__(self) -> None:
        kind = "".join(letter if letter.isalnum() else "_" for letter in self.kind or self.name).upper()
        object.__setattr__(self, "kind", kind.strip("_") or "SECRET")
        expression = compiled(self.pattern, self.name)
        if not 0 <= self.group <= expression.groups:
            raise PatternError(
                f"rule {self.name!r}: there is no group {self.group}; it has {expression.groups}"
            )
        begun(self.pattern, self.name)
        for allowed in self.allowed:
            for pattern in allowed.patterns:
                compiled(pattern, f"{self.name}, allow-list")

    def find(self, text: bytes, low: bytes, *, final: bool) -> tuple[list[Span], int]:
        """Its secrets in a text whose line ends are LF alone, and from where on one may have begun.

        Args:
            text: lines; the last may be unfinished.
            low: the same in small letters.
            final: nothing follows that belongs to the last line.
        """
        hold = len(text)
        if not final:
            line = text.rfind(b"\n") + 1
            rest = text[line:]
            if rest and (match := begun(self.pattern, self.name).search(rest)) and match.start() < len(rest):
                hold = line + match.start()
        if self.keywords and not any(word in low for word in self._words):
            return [], hold
        found = []
        place = 0
        expression = compiled(self.pattern, self.name)
        while match := expression.search(text, place):
            start, end = match.span(self.group)
            if start < 0:
                start, end = match.span()
            place = max(end, match.start() + 1)
            if start < end <= hold and self._secret(text, start, end, match):
                found.append(Span(start, end, self.kind))
            if place > len(text):
                break
        return found, hold

    @functools.cached_property
    def _words(self) -> tuple[bytes, ...]:
        return tuple(word.lower().encode() for word in self.keywords)

    def _secret(self, text: bytes, start: int, end: int, match: Any) -> bool:
        value = text[start:end]
        if b"[REDACTED:" in value or (self.entropy and entropy(value) < self.entropy):
            return False
        if not self.allowed:
            return True
        first = text.rfind(b"\n", 0, start) + 1
        last = text.find(b"\n", end)
        line = text[first : last if last >= 0 else len(text)]
        return not any(allowed.covers(value, match.group(), line) for allowed in self.allowed)


@functools.lru_cache(maxsize=1024)
def compiled(pattern: str, name: str) -> Any:
    """The pattern for bytes.

    Raises:
        PatternError: RE2 cannot compile it, or it is too large.
    """
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415  # ten milliseconds that only own patterns need

    try:
        expression = re2.compile(f"(?m){pattern}".encode(), _options())
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        reason = reason.replace("(?m)", "", 1)  # which the pattern does not have
        hint = (
            "; look-around and back-references are not supported"
            if "(?" in reason or "escape" in reason
            else ""
        )
        raise PatternError(f"rule {name!r}: {_shown(pattern)} is no RE2 pattern: {reason}{hint}") from None
    if expression.programsize > MOST_INSTRUCTIONS:
        raise PatternError(
            f"rule {name!r}: {_shown(pattern)} takes {expression.programsize} instructions, at most "
            f"{MOST_INSTRUCTIONS} are allowed, as large patterns are slow; repeat less, or use * or +"
        )
    return expression


@functools.lru_cache(maxsize=1024)
def begun(pattern: str, name: str) -> Any:
    """The expression for what stands at the end of a text and may become a match.

    Raises:
        PatternError: it is in a syntax that a stream cannot follow.
    """
    import re2  # noqa: PLC0415  # as above

    try:
        source = beginnings(pattern.encode().decode("latin-1"))  # byte by byte, as it is matched
    except UnreadableError as error:
        raise PatternError(
            f"rule {name!r}: {_shown(pattern)} is in a syntax that a stream cannot follow: {error}; write it with groups, "
            "classes, alternatives and repetitions"
        ) from None
    try:
        return re2.compile(f"(?:{source})\\z".encode("latin-1"), _options())
    except re2.error:
        raise PatternError(
            f"rule {name!r}: {_shown(pattern)} is too large for a stream to follow; repeat less, or use * or +"
        ) from None


def _options() -> Any:
    import re2  # noqa: PLC0415  # as above

    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.max_mem = _MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}...")
