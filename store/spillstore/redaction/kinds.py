"""The kinds of secrets, as placeholders name them."""

from __future__ import annotations

from spillstore.redaction.names import KINDS_OF_NAMES
from spillstore.redaction.tokens import TOKENS

KINDS = (
    frozenset({token.kind for token in TOKENS})
    | KINDS_OF_NAMES
    | frozenset(
        [
            "AUTHORIZATION",
            "BASIC_AUTH",
            "BEARER_TOKEN",
            "COOKIE",
            "PASSWORD",
            "PRIVATE_KEY",
            "SIGNATURE",
            "WEBHOOK_URL",
        ]
    )
)
