"""Examples of the redaction tables, whose secrets are drawn when the tests run."""

from __future__ import annotations

import random
import re
import string

_CLASSES = {
    "w": string.ascii_letters + string.digits + "_-",
    "a": string.ascii_letters + string.digits,
    "h": string.digits + "abcdef",
    "H": string.digits + "ABCDEF",
    "b": string.ascii_letters + string.digits + "+/",
    "l": string.ascii_lowercase + string.digits,
    "y": string.ascii_lowercase,
    "U": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "Z": string.ascii_lowercase + "234567",
}
_DRAWN = re.compile(r"%([a-zA-Z])\{(\d+)\}")


def drawn(template: str, *, seed: str = "") -> bytes:
    """The bytes of an example: ``%a{36}`` is 36 letters and digits, drawn anew for each seed.

    The letters are those of the token tables: ``%w`` token characters, ``%a`` letters and digits, ``%h`` and ``%H``
    hexadecimal digits, ``%b`` base64, ``%l`` small and ``%U`` large letters with digits, ``%y`` small letters, ``%d`` digits, ``%Z`` base32 in
    small letters.

    >>> drawn("token ghp_%a{4}, 100%", seed="x") == drawn("token ghp_%a{4}, 100%", seed="x")
    True
    >>> len(drawn("ghp_%a{36}"))
    40
    """
    draw = random.Random(f"{seed}:{template}")
    text = _DRAWN.sub(lambda match: "".join(draw.choices(_CLASSES[match[1]], k=int(match[2]))), template)
    return text.encode()


def parts(template: str, *, seed: str = "") -> list[bytes]:
    """What is drawn in an example, part by part.

    >>> [len(part) for part in parts("Basic %b{8}%d{2}")]
    [8, 2]
    """
    text, found, place, last = drawn(template, seed=seed), [], 0, 0
    for match in _DRAWN.finditer(template):
        place += len(template[last : match.start()].encode())
        found.append(text[place : place + int(match[2])])
        place, last = place + int(match[2]), match.end()
    return found
