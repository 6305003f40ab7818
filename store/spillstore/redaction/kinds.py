"""The kinds of secrets, as placeholders name them."""

from __future__ import annotations

from spillstore.redaction.names import KINDS_OF_NAMES
from spillstore.redaction.tables import places, tokens

_ROWS = (*places.HEADERS, *places.ADDRESSES, *places.SIGNATURES, *places.FILES, *places.COMMANDS)

KINDS = KINDS_OF_NAMES | {row.kind for row in _ROWS} | {row[0] for row in tokens.TOKENS} | {"PRIVATE_KEY"}
