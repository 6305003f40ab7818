"""What a user adds to the built-in rules, and what they must leave."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

from spillstore.exceptions import InvalidSettingError
from spillstore.redaction.patterns import Pattern, compiled

if TYPE_CHECKING:
    from spillstore.redaction.spans import Span


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnRules:
    """The arguments of ``RedactionRules``, and what follows from them for a text."""

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

    def left(self) -> dict[str, object]:
        """What stays that the defaults take out, for the audit log: the kinds, and how many secrets and patterns are allowed.

        >>> OwnRules(off={"JWT"}).left(), OwnRules().left()
        ({'redact': {'off': ['JWT'], 'allow': 0}}, {})
        """
        allow = len(self.allow) + len(self.allow_patterns)
        return {"redact": {"off": sorted(self.off), "allow": allow}} if self.off or allow else {}

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
