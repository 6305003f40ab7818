"""What is taken out: built-in kinds that are switched off, patterns that are added, what is never a secret."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import TYPE_CHECKING, Any, TypeVar

from spillstore.exceptions import InvalidSettingError
from spillstore.redaction.patterns import Pattern, compiled
from spillstore.redaction.stream import Redactor

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore.redaction.spans import Span

Text = TypeVar("Text", bytes, str)

# Halves of characters that are no bytes of a file name.
_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")

_NAME = re.compile(r"[A-Za-z_.-]{0,24}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RedactionRules:
    """What a redactor takes out. A plain value: cheap to make, to compare and to share between threads.

    Args:
        enabled: False to take nothing out.
        off: kinds, such as ``JWT``, that stay.
        patterns: what is taken out besides.
        allow: secrets that stay, as they are printed.
        allow_patterns: RE2; a secret that one of them matches as a whole stays.

    Raises:
        PatternError: an allow-pattern that RE2 cannot compile.
        InvalidSettingError: a value of a wrong type.

    >>> rules = RedactionRules(patterns=(Pattern(name="badge", pattern="badge-[0-9]{6}"),), allow=frozenset({"hunter2"}))
    >>> rules.redact("badge-123456, password=hunter2, password=hunter3")
    '[REDACTED: BADGE], password=hunter2, password=[REDACTED: PASSWORD]'
    """

    enabled: bool = True
    off: frozenset[str] = frozenset()
    patterns: tuple[Pattern, ...] = ()
    allow: frozenset[str] = frozenset()
    allow_patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field, wanted in (("off", str), ("patterns", Pattern), ("allow", str), ("allow_patterns", str)):
            value = getattr(self, field)
            if isinstance(value, (str, bytes)) or not all(isinstance(item, wanted) for item in value):
                raise InvalidSettingError(
                    f"{field} is {value!r}; a collection of {wanted.__name__} is wanted"
                )
            object.__setattr__(self, field, frozenset(value) if field in {"off", "allow"} else tuple(value))
        for pattern in self.allow_patterns:
            compiled(pattern, "allow_patterns")
        if self.off:
            self._refuse_unknown()

    def _refuse_unknown(self) -> None:
        import difflib  # noqa: PLC0415  # only for those who leave some

        from spillstore.redaction.kinds import KINDS  # noqa: PLC0415  # likewise

        known = KINDS | {pattern.kind for pattern in self.patterns}
        for kind in sorted(self.off - known):
            near = difflib.get_close_matches(kind.upper(), sorted(known), 3, 0.4)
            raise InvalidSettingError(
                f"off names {kind[:100]!r}, which is no kind; kinds are {', '.join(near) or 'PASSWORD, TOKEN'} and others: "
                "write it as the placeholder does"
            )

    @classmethod
    def from_gitleaks(cls, source: str | Path, **others: Any) -> RedactionRules:
        """The built-in rules and those of a file in the TOML format of gitleaks.

        Args:
            source: a path, or the TOML itself as a string.
            others: the other arguments of ``RedactionRules``; ``patterns`` come first.

        Raises:
            InvalidSettingError: fields that are not supported; they are named.
            PatternError: an expression that RE2 cannot compile.
        """
        from spillstore.redaction.gitleaks import read  # noqa: PLC0415  # only for those who bring a file

        return cls(**{**others, "patterns": (*others.get("patterns", ()), *read(source))})

    def left(self) -> dict[str, object]:
        """What stays that the defaults take out, for the audit log: the kinds, and how many secrets and patterns are allowed.

        >>> RedactionRules(off={"JWT"}).left(), RedactionRules().left()
        ({'redact': {'off': ['JWT'], 'allow': 0}}, {})
        """
        allow = len(self.allow) + len(self.allow_patterns)
        return {"redact": {"off": sorted(self.off), "allow": allow}} if self.off or allow else {}

    def redactor(self) -> Redactor:
        """A fresh filter for one stream; see ``Redactor``."""
        return Redactor(self)

    def redact(self, text: Text) -> Text:
        """A text without its secrets; see ``redact``."""
        return self.counted(text)[0]

    def named(self, name: str) -> str:
        """The same for what is nearly always a mere name, as of a tool or a call: short ones of letters are not looked at."""
        return name if _NAME.fullmatch(name) else self.redact(name)

    def counted(self, text: Text) -> tuple[Text, dict[str, int]]:
        """The same, and how many were taken out, by kind."""
        redactor = self.redactor()
        if isinstance(text, bytes):
            return redactor.feed(text) + redactor.finish(), redactor.counts
        errors = "surrogatepass" if _LONE.search(text) else "surrogateescape"
        result = redactor.feed(text.encode("utf-8", errors)) + redactor.finish()
        return result.decode("utf-8", errors), redactor.counts

    def find(self, text: bytes, *, final: bool) -> tuple[list[Span], int]:
        """What the added patterns find, and from where on they cannot tell."""
        view = text.replace(b"\r", b"\n")
        low = view.lower() if self._keyed else view
        spans: list[Span] = []
        hold = len(text)
        for pattern in self.patterns:
            found, held = pattern.find(view, low, final=final)
            spans += found
            hold = min(hold, held)
        return spans, hold

    def allowed(self, text: bytes, spans: list[Span]) -> list[Span]:
        """Those of the secrets that are taken out."""
        if not spans or not (self.off or self.allow or self.allow_patterns):
            return spans
        return [span for span in spans if not self._stays(text, span)]

    def _stays(self, text: bytes, span: Span) -> bool:
        value = text[span.start : span.end]
        return (
            span.kind in self.off
            or value in self._allow
            or any(compiled(pattern, "allow_patterns").fullmatch(value) for pattern in self.allow_patterns)
        )

    @functools.cached_property
    def _allow(self) -> frozenset[bytes]:
        return frozenset(value.encode("utf-8", "surrogateescape") for value in self.allow)

    @functools.cached_property
    def _keyed(self) -> bool:
        return any(pattern.keywords for pattern in self.patterns)


@dataclasses.dataclass(frozen=True)
class Redacted:
    """Says that a caller has taken secrets out of what it stores itself, so that the store need not look again.

    Attributes:
        rules: by which rules, for the audit log.
    """

    rules: RedactionRules


DEFAULT = RedactionRules()


def redact(text: Text) -> Text:
    """A text without the secrets that the built-in rules find: for command lines, metadata, log lines, short results.

    Args:
        text: str or bytes; a str may hold what ``surrogateescape`` makes of bytes.

    Returns:
        The same type, with ``[REDACTED: KIND]`` for each secret and the same number of line ends.

    Cost: about 20 us and 3 ns a byte.

    >>> redact("psql postgres://me:s3cret@db/app")
    'psql postgres://me:[REDACTED: PASSWORD]@db/app'
    """
    return DEFAULT.redact(text)


def counted(text: Text) -> tuple[Text, dict[str, int]]:
    """The same, and how many secrets were taken out, by kind.

    >>> counted(b"PGPASSWORD=s3cret psql")
    (b'PGPASSWORD=[REDACTED: PASSWORD] psql', {'PASSWORD': 1})
    """
    return DEFAULT.counted(text)
