r"""The expression for all beginnings of the matches of a regular expression.

Whether a match has begun at the end of what has come so far is what a stream must know before it lets bytes go. The
expression for that is written while the pattern is read: ``abc`` becomes ``(?:a(?:b(?:c)?)?)?``, a repetition its whole turns
and the beginning of one more. Conditions that take up no text (``^``, ``\b``, look-ahead) become nothing, so it accepts too
much rather than too little, and text is held too long rather than let go too early. For the same reason case that is ignored
from somewhere on is ignored everywhere, and never in classes that exclude letters.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.runtime import lazy_patterns as re

# Without ``\pL``: texts are bytes, and of a letter of several it would match some.
_CLASS = re.compile(r"\[\^?\]?(?>(?:\[:\^?\w+:\]|\\[^pP]|[^\]\\])*)\]", re.DOTALL)
_REPEAT = re.compile(
    r"([*+?]|\{(\d+)(,(\d*))?\})[?+]?", re.ASCII
)  # greed makes no difference to what can begin
_GROUP = re.compile(r"\((?!\?)|\(\?P?<\w+>|\(\?>|\(\?(?P<add>[imsU]*)(?:-(?P<drop>[imsU]*))?(?P<end>[:)])")
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_CONDITION = re.compile(r"\\[AbBzZ]|[\^$]")
_CHARACTER = re.compile(
    r"\\(?:x(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{2})|0[0-7]{0,2}|[1-7][0-7]{1,2}|[^\dpP])", re.DOTALL
)
_FLAGS = "ims"  # those that change what matches


class UnreadableError(ValueError):
    """A pattern that this module does not understand, though an engine may."""


class _Part(NamedTuple):
    """A part of a pattern: what matches it, and what matches its beginnings (nothing, if only the empty text is one)."""

    whole: str
    beginnings: str = ""


def beginnings(pattern: str) -> str:
    r"""The expression for all beginnings of matches of a pattern, the empty one included.

    Args:
        pattern: in the syntax of RE2, or of ``re`` as far as the two share it; look-around and atomic groups are read, too.

    Returns:
        An expression in the same syntax. Its size is linear in the pattern's, but that each level of repeated groups doubles it.

    Raises:
        UnreadableError: it is in no such syntax.

    >>> begun = re.compile(beginnings("key-[a-f]{2,3}x?"))
    >>> [text for text in ("", "ke", "key-a", "key-abcx", "kex", "key-abcxx") if begun.fullmatch(text)]
    ['', 'ke', 'key-a', 'key-abcx']
    """
    reader = _Reader(pattern)
    try:
        part = reader.alternatives()
    except RecursionError:
        raise UnreadableError("groups are nested too deeply") from None
    if reader.at < len(pattern):
        raise UnreadableError(f"a bracket is closed at character {reader.at + 1} that was not opened")
    return f"(?{'i' if reader.ignores_case else ''}:{part.beginnings})"


class _Reader:
    """Reads a pattern from left to right.

    Attributes:
        at: the character that is read next.
        ignores_case: whether a flag within the pattern says so.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0
        self.ignores_case = False

    def alternatives(self) -> _Part:
        """What stands up to the end of the group, or of the pattern."""
        found = [self._sequence()]
        while self._pattern.startswith("|", self.at):
            self.at += 1
            found.append(self._sequence())
        return _Part("|".join(part.whole for part in found), "|".join(part.beginnings for part in found))

    def _sequence(self) -> _Part:
        parts: list[_Part] = []
        while self.at < len(self._pattern) and self._pattern[self.at] not in "|)":
            parts += self._repeated()
        begun = ""
        for whole, beginnings_ in reversed(parts):
            begun = f"(?:{whole}{begun}|{beginnings_})" if beginnings_ else f"(?:{whole}{begun})?"
        return _Part("".join(part.whole for part in parts), begun)

    def _repeated(self) -> list[_Part]:
        """What comes next, with how often it may come."""
        parts = self._next()
        times = _REPEAT.match(self._pattern, self.at)
        if times is None:
            return parts
        self.at = times.end()
        if not parts:
            return []
        whole, begun = parts[-1]
        most = {"*": None, "+": None, "?": 1}.get(times[1], times[4] or None if times[3] else times[2])
        turns = "*" if most is None else f"{{0,{max(0, int(most) - 1)}}}"
        parts[-1] = _Part(f"(?:{whole}){times[1]}", f"(?:{whole}){turns}{begun}")
        return parts

    def _next(self) -> list[_Part]:
        """One character, class or group; several characters if they are quoted; nothing if it takes up no text."""
        pattern, at = self._pattern, self.at
        if pattern.startswith("\\Q", at):
            end = pattern.find("\\E", at)
            end = len(pattern) if end < 0 else end
            self.at = end + 2
            return [_Part(re.escape(each)) for each in pattern[at + 2 : end]]
        if condition := _CONDITION.match(pattern, at):
            self.at = condition.end()
            return []
        if pattern[at] == "(":
            return self._group()
        found = {"[": _CLASS, "\\": _CHARACTER}.get(pattern[at])
        if found is None:
            self.at += 1
            return [_Part("." if pattern[at] == "." else re.escape(pattern[at]))]
        match = found.match(pattern, at)
        if match is None:
            raise UnreadableError(f"{pattern[at : at + 2]} at character {at + 1} is not supported")
        self.at = match.end()
        return [_Part(f"(?-i:{match[0]})" if match[0].startswith("[^") else match[0])]

    def _group(self) -> list[_Part]:
        if look_around := _LOOK_AROUND.match(self._pattern, self.at):
            self._inside(look_around.end())
            return []
        group = _GROUP.match(self._pattern, self.at)
        if group is None:
            raise UnreadableError(
                f"{self._pattern[self.at : self.at + 3]} at character {self.at + 1} is not supported"
            )
        add, drop = (
            "".join(flag for flag in group[name] or "" if flag in _FLAGS) for name in ("add", "drop")
        )
        if group["end"] == ")":  # flags for the rest of the group around it
            self.at = group.end()
            self.ignores_case |= "i" in add
            return []
        flags = add + (f"-{drop}" if drop else "")
        inside = self._inside(group.end())
        return [_Part(f"(?{flags}:{inside.whole})", f"(?{flags}:{inside.beginnings})")]

    def _inside(self, start: int) -> _Part:
        """What a group holds, from its first character on."""
        opened, self.at = self.at, start
        inside = self.alternatives()
        if not self._pattern.startswith(")", self.at):
            raise UnreadableError(f"the group at character {opened + 1} has no end")
        self.at += 1
        return inside
