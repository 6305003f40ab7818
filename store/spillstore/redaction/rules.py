"""What is taken out: built-in kinds that are switched off, patterns that are added, what is never a secret."""

from __future__ import annotations

import codecs
import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

from spillstore.redaction.own_rules import OwnRules
from spillstore.redaction.redactor import Redactor
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from pathlib import Path

Text = TypeVar("Text", bytes, str)

# Halves of characters that are no bytes of a file name.
_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")

_NAME = re.compile(r"[A-Za-z_.-]{0,24}")
_PIECE = 128 * 1024  # bytes; more than a redactor holds back
_WIDEST = 4  # bytes of a character


@dataclasses.dataclass(frozen=True, kw_only=True)
class RedactionRules(OwnRules):
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

    >>> from spillstore.redaction import Pattern
    >>> rules = RedactionRules(patterns=(Pattern(name="badge", pattern="badge-[0-9]{6}"),), allow=frozenset({"hunter2"}))
    >>> rules.redact("badge-123456, password=hunter2, password=hunter3")
    '[REDACTED: BADGE], password=hunter2, password=[REDACTED: PASSWORD]'
    """

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
            return redactor.finish(text), redactor.counts
        errors = "surrogatepass" if _LONE.search(text) else "surrogateescape"
        result = redactor.finish(text.encode("utf-8", errors))
        return result.decode("utf-8", errors), redactor.counts

    def beginning(self, text: Text, length: int) -> Text:
        """The first bytes or characters of a text, cut where its secrets are taken out already: no part of one is left at the cut.

        Cost: as ``redact``, but of a long text only the beginning is looked at: 128 KiB, and more if secrets fill it.

        >>> RedactionRules().beginning("password=correcthorsebattery99 and more", 30)
        'password=[REDACTED: PASSWORD] '
        """
        if isinstance(text, bytes):
            return self._begun(text, length)[:length]
        errors = "surrogatepass" if _LONE.search(text) else "surrogateescape"
        found = self._begun(text.encode("utf-8", errors), _WIDEST * length)
        return codecs.utf_8_decode(found, errors, False)[0][:length]  # its end may be a part of a character

    def _begun(self, data: bytes, size: int) -> bytes:
        """At least the first ``size`` bytes without secrets."""
        redactor, found, at = self.redactor(), b"", 0
        while len(data) - at > _PIECE and len(found) < size:
            found += redactor.feed(data[at : at + _PIECE])
            at += _PIECE
        return found if len(found) >= size else found + redactor.finish(data[at:])


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
