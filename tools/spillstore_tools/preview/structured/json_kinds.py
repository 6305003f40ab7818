"""Of which kinds the elements of an array or the values of a member are, told in words; of a rare kind also where the first is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

# By the first character of a value; the others begin numbers.
KIND_OF = {'"': "string", "[": "array", "{": "object", "t": "boolean", "f": "boolean", "n": "null"}
_RARE = 20  # one in so many is rare
_INSIDE = 240  # code points of the members of objects


class Kinds:
    """How many values are of each kind, and at which index the first of each stands.

    Example:
        >>> kinds = Kinds()
        >>> kinds.add("number", 0, 3999)
        >>> kinds.add("string", 2000)
        >>> array_of(4000, kinds)
        'array of 4000 elements (number, 1 string at [2000])'
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, kind: str) -> bool:
        return kind in self._counts

    def total(self) -> int:
        """How many values there are."""
        return self._counts.total()

    def add(self, kind: str, index: int, times: int = 1) -> None:
        """Count values of a kind, the first of which stands at an index; of one kind it is called in the order of indices."""
        if times:
            self._counts[kind] += times
            self._first.setdefault(kind, index)

    def join(self, other: Kinds) -> None:
        """Count those of another, which stand behind these."""
        for kind, index in other._first.items():
            self.add(kind, index, other._counts[kind])

    def copy(self) -> Kinds:
        """The same, which may go on by itself."""
        found = Kinds()
        found.join(self)
        return found

    def named(self) -> str:
        """The kinds of the elements of an array: the usual ones, then those that are rare."""
        usual, rare = self._divided(self._counts)
        return ", ".join([*usual, *rare])

    def of_member(self) -> str:
        """The kinds of a member's values; that some are null is not told."""
        usual, rare = self._divided({kind: times for kind, times in self._counts.items() if kind != "null"})
        return " or ".join(usual or ["null"]) + (f" ({', '.join(rare)})" if rare else "")

    def _divided(self, counts: Mapping[str, int]) -> tuple[list[str], list[str]]:
        rare = {kind for kind, times in counts.items() if times * _RARE <= sum(counts.values())}
        return sorted(counts.keys() - rare), [self._placed(kind) for kind in sorted(rare)]

    def _placed(self, kind: str) -> str:
        times = self._counts[kind]
        return f"{counted(times, kind)}{' at' if times == 1 else ', first at'} [{self._first[kind]}]"


def array_of(
    count: int, kinds: Kinds, members: Mapping[str, Kinds] | None = None, *, of: str = "", room: int = _INSIDE
) -> str:
    """An array in words.

    Args:
        count: its elements.
        kinds: of all of them.
        members: of the objects among them, by their names.
        of: which objects these are known of, where there are others.
        room: code points for the members.
    """
    words = f"array of {counted(count, 'element')}" + (f" ({kinds.named()})" if len(kinds) else "")
    if len(kinds) == 1:
        words = f"array of {counted(count, kinds.named())}"
    if not members:
        return words
    which = " the objects" if len(kinds) > 1 else ""
    told = listed([f"{name} {each.of_member()}" for name, each in members.items()], min(room, _INSIDE))
    return f"{words}{',' if of or which else ''}{f' {of}' if of else which} with {told}"
