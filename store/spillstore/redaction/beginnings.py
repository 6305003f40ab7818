r"""Of a regular expression, the one for all that its matches begin with.

Whether a match has begun at the end of what has come so far is what a stream must know before it lets bytes go. The
expression for that is made from the parsed pattern: ``abc`` becomes ``(?:a(?:b(?:c)?)?)?``, a repetition its whole turns and
the beginning of one more. Conditions on places (``^``, ``\b``, look-ahead) become nothing, so it accepts too much rather than
too little, and text is held too long rather than let go too early.
"""

from __future__ import annotations

import re
import re._constants as code  # type: ignore[import-not-found]  # typeshed has none
import re._parser as parser  # type: ignore[import-not-found]
from typing import Any

_MANY = int(code.MAXREPEAT)


class UnreadableError(ValueError):
    """A pattern that this module does not understand, though an engine may."""


def beginnings(pattern: str) -> str:
    r"""The expression for all beginnings of matches of a pattern, the empty one included.

    Args:
        pattern: in the syntax that ``re`` and RE2 share, or with RE2's ``\z``, ``[[:alpha:]]``, or flags within.

    Raises:
        UnreadableError: it is in no such syntax.

    >>> begun = re.compile(beginnings("key-[a-f]{2,3}x?"))
    >>> [text for text in ("", "ke", "key-a", "key-abcx", "kex", "key-abcxx") if begun.fullmatch(text)]
    ['', 'ke', 'key-a', 'key-abcx']
    """
    common, ignore_case = _common(pattern)
    try:
        tree = parser.parse(common, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnreadableError(str(error)) from None
    flags = _flags(tree.state.flags, 0)
    return f"(?{flags}:{_begun(list(tree))})"


_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9A-Fa-f",
}


# Flags for the rest of a group. Greed and line ends make no difference to what can begin; the case of letters does, and
# where it is ignored somewhere it is ignored everywhere, which accepts more.
_SWITCH = re.compile(r"(?<!\\)\(\?([imsU]*)(?:-[imsU]+)?\)")


def _common(pattern: str) -> tuple[str, bool]:
    """A pattern of RE2 in the syntax of ``re``, as far as the two differ in words alone; whether case is ignored."""
    pattern = pattern.replace("\\z", "\\Z")
    for name, inside in _POSIX.items():
        pattern = pattern.replace(f"[:{name}:]", inside)
    ignore_case = any("i" in match[1] for match in _SWITCH.finditer(pattern))
    return _SWITCH.sub("", pattern), ignore_case


def _whole(item: Any) -> str:  # noqa: PLR0911  # one for each kind of item
    """An item, written out again."""
    op, value = item
    if op is code.LITERAL:
        return _literal(value)
    if op is code.NOT_LITERAL:
        return f"(?-i:[^{_literal(value)}])"
    if op is code.ANY:
        return "."
    if op is code.IN:
        return _class(value)
    if op in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
        least, most, inner = value
        bounds = f"{{{least},}}" if most == _MANY else f"{{{least},{most}}}"
        lazy = "?" if op is code.MIN_REPEAT else ""
        return f"(?:{_sequence(inner)}){bounds}{lazy}"
    if op is code.SUBPATTERN:
        _, add, drop, inner = value
        return f"(?{_flags(add, drop)}:{_sequence(inner)})"
    if op is code.ATOMIC_GROUP:
        return f"(?:{_sequence(value)})"
    if op is code.BRANCH:
        return "(?:" + "|".join(_sequence(branch) for branch in value[1]) + ")"
    if op in {code.AT, code.ASSERT, code.ASSERT_NOT}:
        return ""
    raise UnreadableError(f"{op} is not supported")


def _sequence(items: Any) -> str:
    return "".join(_whole(item) for item in items)


def _begun(items: Any) -> str:
    """What a sequence begins with."""
    items = [item for item in items if item[0] not in {code.AT, code.ASSERT, code.ASSERT_NOT}]
    result = ""
    for item in reversed(items):
        rest = f"{_whole(item)}{result}" if result else _whole(item)
        partly = _partly(item)
        result = f"(?:{rest}|{partly})" if partly else f"(?:{rest})?"
    return result


def _partly(item: Any) -> str:
    """What an item begins with, the empty match included; nothing if only the empty one."""
    op, value = item
    if op in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
        _, most, inner = value
        bounds = "*" if most == _MANY else f"{{0,{max(0, most - 1)}}}"
        simple = len(inner) == 1 and inner[0][0] in {code.LITERAL, code.NOT_LITERAL, code.ANY, code.IN}
        more = "" if simple else _begun(inner)
        return f"(?:{_sequence(inner)}){bounds}{more}"
    if op is code.SUBPATTERN:
        _, add, drop, inner = value
        return f"(?{_flags(add, drop)}:{_begun(inner)})"
    if op is code.ATOMIC_GROUP:
        return f"(?:{_begun(value)})"
    if op is code.BRANCH:
        return "(?:" + "|".join(_begun(branch) for branch in value[1]) + ")"
    return ""


def _flags(add: int, drop: int) -> str:
    names = {re.IGNORECASE: "i", re.DOTALL: "s", re.MULTILINE: "m"}
    added = "".join(name for flag, name in names.items() if add & flag)
    dropped = "".join(name for flag, name in names.items() if drop & flag)
    return added + (f"-{dropped}" if dropped else "")


def _literal(character: int) -> str:
    if character < 128:  # noqa: PLR2004  # ASCII
        return re.escape(chr(character))
    return chr(character)


_CATEGORIES = {
    code.CATEGORY_DIGIT: "\\d",
    code.CATEGORY_NOT_DIGIT: "\\D",
    code.CATEGORY_SPACE: "\\s",
    code.CATEGORY_NOT_SPACE: "\\S",
    code.CATEGORY_WORD: "\\w",
    code.CATEGORY_NOT_WORD: "\\W",
}


def _class(items: Any) -> str:
    found = ""
    for op, value in items:
        if op is code.NEGATE:
            found += "^"
        elif op is code.LITERAL:
            found += _literal(value)
        elif op is code.RANGE:
            found += f"{_literal(value[0])}-{_literal(value[1])}"
        elif op is code.CATEGORY:
            found += _CATEGORIES[value]
        else:
            raise UnreadableError(f"{op} is not supported in a class")
    return f"(?-i:[{found}])" if found.startswith("^") else f"[{found}]"
