"""Which secrets are taken out of a tool's output: what a configuration says, or the session, or the environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spillstore.exceptions import InvalidSettingError, SpillstoreError
from spillstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session
    from spillstore.redaction import RedactionRules
    from spillstore_tools.configuration import RedactionSettings, TruncationConfiguration


class Redaction:
    """The rules for each tool; they are made once.

    Args:
        session: whose rules apply where no configuration says anything; what is asked for one only when something must
            be stored has none yet, and then the environment decides (``SPILLSTORE_REDACT``).
        configuration: what it says of redaction goes before, if it says anything.
    """

    def __init__(
        self,
        session: Session | Callable[[], Session] | None,
        configuration: TruncationConfiguration | None = None,
    ) -> None:
        self._configuration = configuration
        self._session = session
        self._rules: RedactionRules | None = None
        self._made = False

    def rules(self, tool: str) -> RedactionRules | None:
        """The rules for the output of a tool; None if nothing is taken out.

        Raises:
            InvalidSettingError: a configured expression or file that cannot be used.
        """
        configuration = self._configuration
        own = configuration.overrides.get(tool) if configuration is not None else None
        if own is not None and own.redact is not None:
            return (self._all() or _default()) if own.redact else None
        return self._all() if configuration is None or configuration.redaction.enabled else None

    def _all(self) -> RedactionRules | None:
        if not self._made:
            self._rules = self._make()
            self._made = True
        return self._rules

    def _make(self) -> RedactionRules | None:
        from spillstore import Session  # noqa: PLC0415  # most callers have it by now

        base = _default() if Settings.load().redact else None
        if isinstance(self._session, Session):
            base = self._session.redaction()
        if base is None or self._configuration is None:
            return base
        return _configured(self._configuration.redaction, base)


def _default() -> RedactionRules:
    from spillstore.redaction import DEFAULT  # noqa: PLC0415  # not where it is switched off

    return DEFAULT


def _configured(settings: RedactionSettings, base: RedactionRules) -> RedactionRules:
    """The rules with what a configuration adds to them.

    Raises:
        InvalidSettingError: an expression or a file that cannot be used.
    """
    import dataclasses  # noqa: PLC0415  # only where there is a configuration

    from spillstore.redaction import Pattern, RedactionRules  # noqa: PLC0415  # likewise

    if not (settings.off or settings.patterns or settings.allow or settings.rules):
        return base
    try:
        patterns = tuple(Pattern(name=name, pattern=text) for name, text in settings.patterns.items())
        if settings.rules is not None:
            patterns += RedactionRules.from_gitleaks(Path(settings.rules)).patterns
        return dataclasses.replace(
            base,
            off=base.off | _kinds(settings.off or ()),
            patterns=(*base.patterns, *patterns),
            allow_patterns=(*base.allow_patterns, *settings.allow.values()),
        )
    except (OSError, SpillstoreError) as error:
        raise InvalidSettingError(f"tools.truncation.redaction: {error}") from None


def _kinds(told: tuple[str, ...] | str) -> frozenset[str]:
    names = told.split(",") if isinstance(told, str) else told
    return frozenset(name.strip().upper() for name in names if name.strip())
