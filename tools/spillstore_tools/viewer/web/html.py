"""HTML as text that is safe by its type: whatever is no `Html` is escaped."""

from __future__ import annotations

from html import escape
from typing import Final

_VOID: Final = frozenset({"input", "link", "meta"})
# Control characters and half surrogates, which are no text; lone CR and NUL would be changed by a parser.
_CONTROLS: Final = {
    **{code: 0x2400 + code for code in range(32) if code not in {9, 10}},
    127: 0x2421,
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = "str | int | None | Iterable[Child]"


def text(value: object) -> Html:
    r"""Any value as escaped text; control characters are drawn, not sent.

    Example:
        >>> text("<b>\x1b[0m"), text(Html("<b>"))
        ('&lt;b&gt;␛[0m', '<b>')
    """
    return value if isinstance(value, Html) else Html(escape(str(value).translate(_CONTROLS)))


def joined(children: object) -> Html:
    """Children one behind the other; None is nothing."""
    if children is None:
        return Html("")
    if isinstance(children, (str, int, float)):
        return text(children)
    assert hasattr(children, "__iter__")  # the only other kind
    return Html("".join(joined(each) for each in children))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. Of attributes, None and False are left out and True has no value; ``class_`` is ``class``, ``data_a`` is ``data-a``.

    Example:
        >>> tag("a", "<here>", href="/?a=1&b=2", class_="x", hidden=False)
        '<a href="/?a=1&amp;b=2" class="x">&lt;here&gt;</a>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        words.append(attribute if value is True else f'{attribute}="{text(value)}"')
    opening = f"<{' '.join(words)}>"
    return Html(opening if name in _VOID else f"{opening}{joined(children)}</{name}>")
