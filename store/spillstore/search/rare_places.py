"""The two bytes of a sequence that are rarest in text, as ``_native/places.h`` compares them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from spillstore.search.byte_patterns import CASE, head, is_compared

if TYPE_CHECKING:
    from spillstore.search.byte_patterns import Sequence

# The most frequent bytes of logs and sources, the most frequent first; of a sequence the others are looked for.
_FREQUENT = b" etaoinrsldcu0mpf1g2h.34b5-y6_:789/wv=\"',kx()\tjqz[]{}"


class Places(ctypes.Structure):
    """Where in a sequence the two stand, and what a byte of text there is compared with."""

    _fields_ = [  # as ctypes wants it
        ("place", ctypes.c_uint8 * 2),
        ("mask", ctypes.c_uint8 * 2),
        ("byte", ctypes.c_uint8 * 2),
    ]


def rare_places(sequence: Sequence) -> Places | None:
    """The places of a sequence whose bytes are rarest in text, of those that can be compared; None where none can.

    >>> found = rare_places((frozenset(b"e"), frozenset(b"qQ"), frozenset(b"0123")))
    >>> list(found.place), bytes(found.byte)
    ([1, 0], b'Qe')
    """
    ranks = []
    for place, each in enumerate(head(sequence)):
        if is_compared(each):
            rank = _FREQUENT.find(max(each))
            ranks.append((-rank if rank >= 0 else -len(_FREQUENT), place))
    if not ranks:
        return None
    ranks.sort()
    found = Places()
    for number, (_, place) in enumerate((ranks[0], ranks[min(1, len(ranks) - 1)])):
        found.place[number] = place
        found.mask[number] = 0xFF if len(sequence[place]) == 1 else 0xFF ^ CASE
        found.byte[number] = min(sequence[place])
    return found
