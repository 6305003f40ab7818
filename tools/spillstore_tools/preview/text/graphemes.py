"""Characters that are read as one (grapheme clusters): marks, joiners, flags, Hangul syllables.

A cut of text stands only between two of them. This is the part of Unicode's rules that a preview needs, without tables.
"""

from __future__ import annotations

import unicodedata

_CLUSTER = 32
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # regional indicators


def splits_grapheme(text: str, index: int) -> bool:
    r"""Whether a cut before ``text[index]`` would split characters that are read as one.

    Example:
        >>> splits_grapheme("e\u0301", 1), splits_grapheme("ab", 1)
        (True, False)
    """
    if not 0 < index < len(text):
        return False
    here, before = text[index], text[index - 1]
    if here < "\u0300":
        return before == "\u200d"
    if before == "\u200d" or here in "\u200c\u200d" or "\U0001f3fb" <= here <= "\U0001f3ff":
        return True
    if unicodedata.category(here) in {"Mn", "Mc", "Me"} or "\U000e0020" <= here <= "\U000e007f":
        return True
    if _jamo(here) or "\uac00" <= here <= "\ud7a3":
        return _leading(before) or (
            not _leading(here) and _jamo(here) and (_jamo(before) or "\uac00" <= before <= "\ud7a3")
        )
    return here in _REGIONAL and len(text[:index]) - len(text[:index].rstrip(_REGIONAL)) & 1 == 1


def leading_regionals(text: str) -> int:
    """How many regional indicators, of which two make a flag, the text begins with."""
    return len(text) - len(text.lstrip(_REGIONAL))


def grapheme_boundary(text: str, index: int) -> int:
    """The nearest index from ``index`` down at which a cut splits nothing; a grapheme of more than 32 characters is split."""
    for place in range(index, max(-1, index - _CLUSTER - 1), -1):
        if not splits_grapheme(text, place):
            return place
    return index


def _leading(character: str) -> bool:
    """Whether the character is a Hangul consonant that a syllable begins with."""
    return "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c"


def _jamo(character: str) -> bool:
    """Whether the character is a part of a Hangul syllable."""
    return _leading(character) or "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"
