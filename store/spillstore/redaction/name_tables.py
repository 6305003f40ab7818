"""The tables of names for the native scanner: what ``names.classify`` knows, in bytes.

Each group of words that a row of ``PROMISES`` asks for is one bit, and each word is the bits of its groups. Structures are those of
``_native/scan_promises.c``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction.tables import names

if TYPE_CHECKING:
    from collections.abc import Mapping

STRENGTHS = {"": 1, "password": 2, "code": 2, "secret": 3, "token": 4, "weak": 5, "long": 5, "hint": 6}
_WORD_SIZE = 16
_MASK = 16  # bytes
_MOST_JOINED = 3  # words that one stands for
_SLOTS = 2048  # of the hash table of words


class NameTables(NamedTuple):
    """What the scanner reads, as its structure has it."""

    words: bytes
    promises: bytes
    dropped: bytes
    before_short: bytes


def name_tables() -> NameTables:
    """The tables of names."""
    bits: dict[frozenset[str], int] = {}

    def bit(group: frozenset[str]) -> bytes:
        mask = 1 << bits.setdefault(group, len(bits)) if group else 0
        return mask.to_bytes(_MASK, "little")

    dropped, before_short = bit(names.WHERE), bit(names.BEFORE_SHORT)
    rows = [
        bit(row.last) + bit(row.behind) + bit(row.among) + bytes([row.longer, STRENGTHS[row.promises]])
        for row in names.PROMISES
    ]
    return NameTables(_words(bits), b"".join(rows) + bytes(len(rows[0])), dropped, before_short)


def _words(bits: Mapping[frozenset[str], int]) -> bytes:
    """A hash table: each word with its groups and those of the words that it stands for, and how many of these there are."""
    groups = dict.fromkeys(names.JOINED, 0)
    for group, bit in bits.items():
        for word in group:
            groups[word] = groups.get(word, 0) | 1 << bit
    slots = [bytes(_WORD_SIZE + _MASK * (_MOST_JOINED + 1) + 1)] * _SLOTS
    for word in groups:
        slot = _hash(word.encode()) % _SLOTS
        while slots[slot][0]:
            slot = (slot + 1) % _SLOTS
        joined = names.JOINED.get(word, "").split()
        masks = b"".join(groups.get(each, 0).to_bytes(_MASK, "little") for each in [word, *joined])
        assert len(word) <= _WORD_SIZE, "a word of a group fits into its slot"
        assert len(joined) <= _MOST_JOINED, "there is room for the words that one stands for"
        slots[slot] = (
            word.encode().ljust(_WORD_SIZE, b"\0")
            + masks.ljust(_MASK * (_MOST_JOINED + 1), b"\0")
            + bytes([len(joined)])
        )
    return b"".join(slots)


def _hash(word: bytes) -> int:
    """FNV-1a of 32 bits."""
    value = 0x811C9DC5
    for byte in word:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value
