"""The redaction rules for each tool: from the configuration, the session and the environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spillstore.exceptions import InvalidSettingError, SpillstoreError
from spillstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session
    from spillstore.redaction import RedactionRules
    from spillstore_tools.config import (
        RedactionOverride,
        RedactionSettings,
        TruncationConfiguration,
    )


_BITS = 4.1  # hexadecimal digits have 4 at most, forty characters drawn at random 4.5 and more
_NO_TOKEN = (
    "^[^A-Z]*$",
    "^[^a-z]*$",
    "^[^0-9]*$",
    (
        "^(?:[A-Z]?[a-z]{2,}|[A-Z]{2,12}|[0-9]{1,8}|[AI]|[-_]|"
        "An|As|At|Be|By|Do|If|In|Is|It|No|Of|On|Or|To|Up|We)+$"
    ),  # words of a program
    "^(?:sha[0-9]{1,3}-|AAAA)",  # a digest, a public key
    "(?i)^(?:[a-z]+[-_])?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",  # an id
)


class Redaction:
    """The redaction rules for each tool, each made once.

    Args:
        session: the session whose rules apply unless the configuration changes them; for a session that is opened later
            the environment decides (``SPILLSTORE_REDACT``).
        configuration: its settings of redaction, if it has any, change those rules.
        enabled: whether anything is redacted at all.
        profile: the profile's name; ``acode`` also redacts bare runs of forty token characters.
    """

    def __init__(
        self,
        session: Session | Callable[[], Session] | None,
        configuration: TruncationConfiguration | None = None,
        *,
        enabled: bool = True,
        profile: str = "default",
    ) -> None:
        self._enabled = enabled
        self._bare_tokens = profile == "acode"
        self._configuration = configuration
        self._session = session
        # By tool; "" stands for all tools without settings of their own.
        self._made: dict[str, RedactionRules | None] = {}

    def rules(self, tool: str) -> RedactionRules | None:
        """The rules for the output of a tool; None if nothing is redacted.

        Raises:
            InvalidSettingError: a configured expression or file that cannot be used.
        """
        configuration = self._configuration
        own = None
        enabled = None  # by the tool's own settings, or else by those for all
        if configuration is not None:
            own = configuration.overrides[tool].redaction if tool in configuration.overrides else None
            enabled = None if own is None else own.enabled
            if enabled is None and not configuration.redaction.enabled:
                return None
        if not self._enabled or enabled is False:
            return None
        if "" not in self._made:
            self._made[""] = self._make()
        base = self._made[""] or (self._with_bare_tokens(_default()) if enabled else None)
        if base is None or own is None or not _adds(own):
            return base
        if tool not in self._made:
            self._made[tool] = _configured(own, base, f"overrides.{tool}.redaction")
        return self._made[tool]

    def _make(self) -> RedactionRules | None:
        from spillstore import Session  # noqa: PLC0415  # most callers have it by now

        base = _default() if Settings.load().redact else None
        if isinstance(self._session, Session):
            base = self._session.redaction()
        base = None if base is None else self._with_bare_tokens(base)
        if base is None or self._configuration is None:
            return base
        return _configured(self._configuration.redaction, base, "redaction")

    def _with_bare_tokens(self, base: RedactionRules) -> RedactionRules:
        if not self._bare_tokens:
            return base
        import dataclasses  # noqa: PLC0415  # only of this profile

        from spillstore.redaction import Allowed, Pattern  # noqa: PLC0415  # likewise

        # Neither hashes, which have one case and few kinds of digits, nor paths, nor names that are made of words.
        token = Pattern(
            name="bare token",
            kind="TOKEN",
            pattern=r"(?:^|[^A-Za-z0-9_./+=-])([A-Za-z0-9_-]{40,500})(?:$|[^A-Za-z0-9_./+=-]|\.(?:$|\s))",
            group=1,
            entropy=_BITS,
            allowed=(Allowed(patterns=_NO_TOKEN),),
        )
        return dataclasses.replace(base, patterns=(*base.patterns, token))


def _default() -> RedactionRules:
    from spillstore.redaction import DEFAULT  # noqa: PLC0415  # not where it is switched off

    return DEFAULT


def _configured(
    settings: RedactionSettings | RedactionOverride, base: RedactionRules, where: str
) -> RedactionRules:
    """The rules with the additions of a part of the configuration.

    Raises:
        InvalidSettingError: an expression or a file that cannot be used.
    """
    import dataclasses  # noqa: PLC0415  # only where there is a configuration

    from spillstore.redaction import Pattern, RedactionRules  # noqa: PLC0415  # likewise

    if not _adds(settings):
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
        raise InvalidSettingError(f"tools.truncation.{where}: {error}") from None


def _adds(settings: RedactionSettings | RedactionOverride) -> bool:
    return bool(settings.off or settings.patterns or settings.allow or settings.rules)


def _kinds(off: tuple[str, ...] | str) -> frozenset[str]:
    names = off.split(",") if isinstance(off, str) else off
    return frozenset(name.strip().upper() for name in names if name.strip())
