"""The colours of terminals as classes of CSS: 16 that fit the page, and the 240 others of the usual palette."""

from __future__ import annotations

from typing import Final

_LIGHT: Final = (
    "#24292f", "#b3261e", "#1f7a45", "#8f5b00", "#1f5fb0", "#8240a8", "#16737d", "#8b939b",
    "#59616a", "#d13b31", "#2b9457", "#a87413", "#3b7fd4", "#a35bc9", "#228f9b", "#b9c0c7",
)  # fmt: skip
_DARK: Final = (
    "#5b636d", "#f0867f", "#63c08b", "#dba844", "#7db7f0", "#c79be0", "#62c3cd", "#c3c8ce",
    "#7c848e", "#ff9d96", "#7dd9a4", "#efc066", "#9fcbf7", "#dab4ef", "#80dae3", "#f4f6f8",
)  # fmt: skip
_STEPS: Final = (0, 95, 135, 175, 215, 255)
_NAMED: Final = 16
_CUBE: Final = 216
_ATTRIBUTES: Final = (
    (".bold", "font-weight:700"), (".dim", "opacity:.65"), (".italic", "font-style:italic"),
    (".underline", "text-decoration:underline"), (".strike", "text-decoration:line-through"),
)  # fmt: skip


def rgb_of(number: int) -> tuple[int, int, int]:
    """The colour of a number of the palette, from 16 to 255.

    Example:
        >>> rgb_of(16), rgb_of(196), rgb_of(232), rgb_of(255)
        ((0, 0, 0), (255, 0, 0), (8, 8, 8), (238, 238, 238))
    """
    place = number - _NAMED
    if place >= _CUBE:
        grey = 8 + 10 * (place - _CUBE)
        return grey, grey, grey
    return _STEPS[place // 36], _STEPS[place // 6 % 6], _STEPS[place % 6]


def nearest(red: int, green: int, blue: int) -> int:
    """The number of the palette that is nearest to a colour.

    Example:
        >>> nearest(255, 1, 2), nearest(8, 8, 9)
        (196, 232)
    """

    def distance(number: int) -> int:
        return sum((one - other) ** 2 for one, other in zip(rgb_of(number), (red, green, blue), strict=True))

    return min(range(_NAMED, 256), key=distance)


def stylesheet() -> str:
    """The classes ``f0`` to ``f255`` for text, ``b0`` to ``b255`` for what is behind it, and those of attributes."""
    rules: list[str] = []
    for number in range(256):
        if number < _NAMED:
            colour = f"light-dark({_LIGHT[number]},{_DARK[number]})"
        else:
            colour = "#{:02x}{:02x}{:02x}".format(*rgb_of(number))
        rules += [f".f{number}{{color:{colour}}}", f".b{number}{{background:{colour}}}"]
    rules += [f"{name}{{{rule}}}" for name, rule in _ATTRIBUTES]
    return "\n".join(rules)
