"""Results of verifying and exporting."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verification:
    """Counts of what ``Artifact.verify`` has read and found undamaged.

    Attributes:
        chunks: chunks whose digest, position and counters were checked.
        size: raw bytes decoded.
        content: whether the digest over the whole content was compared too (a rolled or unsealed artifact has none
            that could be).
    """

    chunks: int
    size: int
    content: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Export:
    """Sizes of what ``Artifact.export`` has written.

    Attributes:
        size: bytes in the file.
        dropped: bytes of the hole that the file lacks.
    """

    size: int
    dropped: int
