"""Secrets are taken out of what is about to be stored, and a placeholder is put in their place: ``[REDACTED: KIND]``.

``Redactor`` does so for a stream, ``redact`` and ``counted`` for a text, by the same rules; ``RedactionRules`` says what is
taken out besides, and what is not. Found are tokens by their form, values by what stands before them, private keys by
their armour; see ``docs/redaction.md``. Caveat: no rule knows every secret, and what has neither form nor name stays.
"""

from __future__ import annotations

from spillstore.redaction.patterns import Allowed, Pattern
from spillstore.redaction.redactor import Redactor
from spillstore.redaction.rules import DEFAULT, Redacted, RedactionRules, counted, redact

__all__ = ["DEFAULT", "Allowed", "Pattern", "Redacted", "RedactionRules", "Redactor", "counted", "redact"]
