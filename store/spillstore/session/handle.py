"""An open session, as the parts of ``Session`` share it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.exceptions import ClosedError, InvalidSettingError
from spillstore.runtime import fork_imports
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore.ingest.session_core import SessionCore
    from spillstore.redaction import RedactionRules
    from spillstore.session.options import Redact

_HIDDEN = re.compile(r"hidden:[\w-]{11}", re.ASCII)


class SessionHandle:
    """A session's core, whether and by which rules secrets are taken out in it, and whether the ``Session`` was closed.

    Several share a core, each with the setting and the rules of its own store.
    """

    def __init__(self, core: SessionCore, rules: RedactionRules | None, *, redact: bool) -> None:
        self.core = core
        self.closed = False
        self._rules = rules
        self._redact = redact
        self._default_rules: RedactionRules | None = None
        self._is_known = (
            False  # whether that was looked up, which imports what most programs that read do not need
        )

    def check_open(self) -> None:
        """Raise if nothing can be done with the session.

        Raises:
            ClosedError, SessionDeletedError, ForkError: it was closed, deleted, or inherited by a fork.
        """
        self.core.check_usable()
        if self.closed:
            session_id = self.core.row.session_id
            raise ClosedError(f"session {session_id!r} was closed; open it again with Store.session")

    def redaction(self, wanted: Redact = None) -> RedactionRules | None:
        """The rules by which secrets are taken out, or None where they are not; ``wanted`` is ``redact`` of ``create``.

        Raises:
            InvalidSettingError: ``wanted`` is none of what may be given.
        """
        if wanted is not None:
            return self._rules_for(wanted)
        if not self._is_known:
            self._default_rules = self._rules_for(self._redact)
            self._is_known = True
        return self._default_rules

    def _rules_for(self, wanted: Redact) -> RedactionRules | None:
        if wanted is False:
            return None
        with (
            fork_imports.importing()
        ):  # in a fork's child, an import that another thread has begun would never end
            from spillstore.redaction import DEFAULT, Redacted, RedactionRules  # noqa: PLC0415  # not where it is off

        if isinstance(wanted, Redacted):
            return None
        rules = (self._rules or DEFAULT) if wanted is True else wanted
        if isinstance(rules, RedactionRules):
            return rules if rules.enabled else None
        raise InvalidSettingError(f"redact must be true, false, Redacted or RedactionRules, not {wanted!r}")

    def redacted_name(self, name: str) -> str:
        """The name of a tool or of a tool call as it is stored: without secrets."""
        rules = self.redaction()
        return name if rules is None else rules.named(name)

    def redacted_detail(self, detail: Mapping[str, object]) -> dict[str, object]:
        """The detail of an event without secrets."""
        rules = self.redaction()
        if rules is None:
            return dict(detail)
        from spillstore.redaction.structures import without_secrets  # noqa: PLC0415  # not where it is switched off

        redacted = without_secrets(dict(detail), rules, {})
        assert isinstance(redacted, dict)  # as it was
        return redacted

    def hidden(self, text: str) -> str:
        """A source or a command as it is stored: where these are hidden, a digest, the same for the same text of one session."""
        if not self.core.settings.hidden_metadata or not text or _HIDDEN.fullmatch(text):
            return text
        return f"hidden:{self.core.sign(text.encode(errors='surrogatepass'))}"
