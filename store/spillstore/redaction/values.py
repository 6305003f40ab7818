"""Whether what stands behind a name is a secret, or a placeholder, a variable, a type, a path, a hash, prose.

Nothing here looks at more than the value itself and how it is written, so the verdict on a value is final as soon as its
last byte is known. Shannon's entropy alone tells English from random letters badly below thirty characters, so it is asked
last, after the structure: words and small numbers between separators are no key, however many there are.
"""

from __future__ import annotations

import functools
import itertools
import math

from spillstore.redaction.remembered import remembered
from spillstore.redaction.tables import shapes
from spillstore.redaction.tables import values as table
from spillstore.runtime import lazy_patterns as re


@functools.cache
def _placeholder() -> re.Pattern[bytes]:
    """What the rows for placeholders say, as one expression."""
    return _any(table.PLACEHOLDERS, "ix")


@functools.cache
def _variable() -> re.Pattern[bytes]:
    """The same for variables and expressions."""
    return _any(table.VARIABLES, "x")


@functools.cache
def _no_key() -> re.Pattern[bytes]:
    """The same for what is no key, but may be a password."""
    return _any(table.NO_KEYS, "sx")


def _any(rows: tuple[table.Harmless, ...], flags: str) -> re.Pattern[bytes]:
    return re.compile(f"(?{flags})(?:{'|'.join(row.expression for row in rows)})".encode())


LEAST = 8  # bytes of a key or token
LEAST_CHOSEN = 6  # bytes of a password that looks chosen, where a word may stand instead
_HIGH = bytes(range(0x80, 0x100))
_LEAST_PASSWORD = 3
_PHRASE = 128  # bytes of a pass phrase, at most
_LONG = 20
_BITS = 3.2
_WEAK_BITS = (
    3.5  # of hexadecimal digits, 4 at most; of letters and digits drawn at random, 3.9 in 20, 4.9 in 64
)
_FEW_HUMPS = 2
_DIGITS = 4  # of a number in a name
_KINDS_OF_LETTERS = 6
_SALT = 40  # bytes of a salt, at least
_KINDS_OF_SIGNS = 10
_SIGNS_OF_DJANGO, _JOINTS = 5, frozenset({b"-", b"_"})
_HEX_BITS = 2.8
_LONG_WORD = 12  # letters and digits
_LONG_PART = 40  # bytes, of which six may be a word by chance


def entropy(value: bytes) -> float:
    """Shannon's entropy in bits per byte."""
    size = len(value)
    counts = [value.count(byte) for byte in set(value)]
    return -sum(count / size * math.log2(count / size) for count in counts)


@remembered
def drawn(value: bytes) -> bool:
    """Whether letters and digits look drawn, not written: mixed where words are not."""
    pieces = shapes.PIECE.findall(value)
    if not pieces or counted(value):
        return False
    if _words(value):
        return False
    longest = max(pieces, key=len)
    return len(set(longest)) >= min(_KINDS_OF_LETTERS, len(longest) - 2)


def counted(value: bytes) -> bool:
    """Whether most of it goes up or down the alphabet, as in a placeholder."""
    if shapes.ALPHABET.search(value) is None:
        return False
    steps = sum(abs(one - other) == 1 for one, other in itertools.pairwise(value))
    return steps * 2 >= len(value)


def _humped(piece: bytes) -> bool:
    """CamelCase: few humps, each a word, and one small number at most."""
    humps = shapes.CAMEL.findall(piece)
    numbers = [hump for hump in humps if hump.isdigit()]
    if (
        len(numbers) == 1
        and len(humps) > _FEW_HUMPS
        and (len(piece) - len(numbers[0])) >= 4 * (len(humps) - 1)
    ):
        return not any(
            (shapes.VOWELLESS.fullmatch(hump) and hump.islower()) or shapes.CLUSTER.search(hump)
            for hump in humps
        )
    if len(numbers) > 1 or (numbers and (len(numbers[0]) > _DIGITS or shapes.INNER.fullmatch(piece))):
        return False
    odd = sum(shapes.VOWELLESS.fullmatch(hump) is not None for hump in humps)
    if len(piece) >= _LONG and odd * 5 > len(humps) and len(piece) < 6 * len(humps):
        return False
    return len(humps) * 3 <= len(piece)


@remembered
def harmless(value: bytes) -> bool:
    """Whether a value is a placeholder, a variable or a word that no name makes secret."""
    return (
        not value
        or b"[REDACTED" in value
        or _placeholder().fullmatch(value) is not None
        or _variable().fullmatch(value.strip(b"'")) is not None
    )


@remembered
def judged(value: bytes, strength: str, *, quoted: bool = True, literal: bool = True) -> bool:
    """Whether a value behind a name of that strength is a secret.

    Args:
        value: without quotes.
        strength: what its name promises; see ``Named``.
        quoted: it stands in quotes.
        literal: what is not quoted is a literal too where it stands: a shell's assignment, a URL, a line of its own.
    """
    salt = len(value) >= _SALT and (
        (quoted and _salted(value)) or (strength != "weak" and _of_all_signs(value))
    )
    program = not quoted and not literal and shapes.PROGRAM.search(value) is not None
    message = (quoted or not (literal or value.isascii())) and not salt and _message(value)
    if salt or program or message or harmless(value) or (not value.isascii() and _binary(value)):
        return salt
    if strength == "password":
        return _password(value, quoted=quoted, literal=literal)
    foreign = strength != "secret" and not value.isascii()  # a word of another language, and no token
    if strength == "code" or foreign or _other(value) or (not quoted and not literal and _code(value)):
        return strength == "code" and shapes.CODE_DIGITS.fullmatch(value) is not None
    if strength in {"weak", "long"} or _path(value):
        return strength in {"weak", "long"} and _random(value, hashes=strength == "long")
    if strength == "secret" and not (shapes.NAMED.fullmatch(value) and _identifier(value)):
        chosen = quoted or (literal and shapes.HYPHENATED.fullmatch(value) is None)
        typed_in = shapes.WORD_AND_NUMBER.fullmatch(value) is not None
        return (
            drawn(value)
            or typed_in
            or (chosen and (shapes.CHOSEN.fullmatch(value) is not None or mixed(value)))
        )
    made = len(value) >= _LONG and entropy(value) >= _BITS
    return drawn(value) or (made and not _words(value)) or shapes.WORD_AND_NUMBER.fullmatch(value) is not None


def _binary(value: bytes) -> bool:
    """Whether it is no text in any encoding that people type in: bytes behind a word in an archive, say."""
    letters = len(value.translate(None, _HIGH))
    try:
        value.decode()
    except UnicodeDecodeError:
        return letters * 2 < len(value)
    return False


@remembered
def _other(value: bytes) -> bool:
    """Whether it is no key or token whatever its name: prose, a digest, a public key, numbers, a template, a name with dots."""
    return (
        _no_key().fullmatch(value) is not None
        or counted(value)
        or (shapes.DOTTED.fullmatch(value) is not None and not _coded(value))
    )


def _code(value: bytes) -> bool:
    """Whether it is a name or a call in a program."""
    return shapes.CODE.fullmatch(value) is not None and not _loose(value) and not _coded(value)


def _coded(value: bytes) -> bool:
    """Whether what has the form of names with dots is a token in parts: one of them is long and no word."""
    return any(
        shapes.PART.fullmatch(part)
        and (len(part) >= _LONG_PART or not shapes.WORD.search(part))
        and not shapes.CONSTANT.fullmatch(part)
        and drawn(part)
        for part in value.split(b".")
    )


def _password(value: bytes, *, quoted: bool, literal: bool) -> bool:
    """A name promises no more by a password than that somebody has typed it."""
    if (
        len(value) < _LEAST_PASSWORD
        or not _text(value)
        or _path(value)
        or shapes.VERSION.fullmatch(value)
        or shapes.HAN.fullmatch(value)
        or (shapes.SPOKEN.fullmatch(value) and _identifier(value))
    ):
        return False
    if shapes.NUMBER.fullmatch(value) and not (quoted or literal) and not value.isdigit():
        return False
    if b" " in value or b"\t" in value:
        return (
            quoted
            and len(value) <= _PHRASE
            and shapes.MISMATCHED.fullmatch(value) is None
            and not shapes.PROSE.search(value)
        )
    if quoted or literal or value.isdigit():
        return quoted or len(value) > _LEAST_PASSWORD
    if shapes.HYPHENATED.fullmatch(value):
        return False
    return not shapes.NUMBERED.fullmatch(value) and (not shapes.CODE.fullmatch(value) or _loose(value))


def _message(value: bytes) -> bool:
    """Whether it is a text for people, in any language: no digit, and several words, other letters, or a mark at its end.

    Places that are filled in (``$1``, ``{{name}}``), tags, and small numbers behind a blank count as nothing.
    """
    text = shapes.FILLED.sub(b"", value)
    return shapes.DIGIT.search(text) is None and (
        not text.isascii() or shapes.MESSAGE.fullmatch(text) is not None
    )


def mixed(value: bytes) -> bool:
    """Whether letters stand beside digits or signs, or of both cases beside each other, as in no word, and it is no path or call."""
    if value.isalpha():
        return shapes.CAMELS.fullmatch(value) is None
    return (
        shapes.LETTER.search(value) is not None
        and (b"/" not in value or (shapes.BASE64.fullmatch(value) is not None and jumbled(value)))
        and not value.endswith((b")", b"]", b"}", b">"))
        and not all(piece.isalpha() for piece in shapes.PIECE.findall(value))
    )


def looks(value: bytes, strength: str) -> bool:
    """Whether a word where any word may stand looks chosen as a password, or drawn behind another name; ``typed`` and ``signed`` ask for more."""
    if strength in {"typed", "signed"}:
        return typed(value, quoted=strength == "typed")
    if strength in {"password", "mixed"}:
        return mixed(value)
    made = shapes.WORD_AND_NUMBER.fullmatch(value) is not None and not shapes.NAMED_SO.fullmatch(value)
    return made or drawn(value)


def typed(value: bytes, *, quoted: bool = True) -> bool:
    """Whether it has letters of both cases and digits, as passwords have to, and is no name of a file, a host, an image."""
    return (
        shapes.TYPED.fullmatch(value) is not None
        and not shapes.NAMED_SO.fullmatch(value)
        and (
            quoted
            or shapes.SIGN.search(value) is not None
            or shapes.WORD_AND_NUMBER.fullmatch(value) is not None
            or drawn(value)
        )
        and not harmless(value)
    )


def _text(value: bytes) -> bool:
    """Whether it is text, not a part of something binary; in an encoding of one byte a letter with a digit, too."""
    if value.isascii():
        return True
    try:
        return value.decode().isprintable()
    except UnicodeDecodeError:
        return shapes.DIGIT.search(value) is not None and shapes.LATIN.fullmatch(value) is not None


def _identifier(value: bytes) -> bool:
    """Whether letters have the form of a name in a program: several words, or capitals alone."""
    return (
        b"_" in value
        or b"-" in value
        or b"." in value
        or b"#" in value
        or value.isupper()
        or not (value.islower() or value.istitle())
    )


def _loose(value: bytes) -> bool:
    """Whether it is an identifier by its form that nobody would write: digits among the letters, a number before a last letter."""
    value = value.rstrip(b"!?$")
    if shapes.MIXED.fullmatch(value):
        return not shapes.NUMBERED.fullmatch(value) and not (shapes.TYPE.fullmatch(value) and _humped(value))
    return shapes.TYPED.fullmatch(value) is not None and (
        shapes.WORD_AND_NUMBER.fullmatch(value) is not None or jumbled(value)
    )


def jumbled(value: bytes) -> bool:
    """Whether letters, capitals and digits change as often as in no name of a program, nor in several with dots between them."""
    letters = len(value) - len(shapes.JOINTS.findall(value))
    words = sum(map(len, shapes.SHORT_WORDS.findall(value)))
    return 5 * len(shapes.CHANGE.findall(value)) >= 2 * letters and 5 * words <= 2 * letters


def _words(value: bytes) -> bool:
    return all(_wordy(piece) or _humped(piece) for piece in shapes.PIECE.findall(value))


def _wordy(piece: bytes) -> bool:
    """Whether it is a word with a small number: a long one has few humps, not capitals anywhere; as in ``_native/scan_values.c``."""
    return shapes.WORDY.fullmatch(piece) is not None and (
        len(piece) < _LONG_WORD or 3 * len(shapes.CAMEL.findall(piece)) <= len(piece)
    )


def _path(value: bytes) -> bool:
    return b"/" in value and shapes.PATH.fullmatch(value) is not None and _words(value)


@remembered
def _random(value: bytes, *, hashes: bool) -> bool:
    """Whether it is long and drawn at random; what may be a hash only if such are wanted."""
    if len(value) < _LONG or not shapes.LETTER.search(value) or not shapes.DIGIT.search(value):
        return False
    if not hashes and shapes.HASHED.fullmatch(value):
        return False
    if (
        shapes.UUID.fullmatch(value)
        or _path(value)
        or shapes.ABSOLUTE.fullmatch(value)
        or shapes.FILE.search(value)
        or shapes.CONSTANT.fullmatch(value)
        or shapes.KEY.fullmatch(value) is None
    ):
        return False
    if shapes.HEX.fullmatch(value):
        return hashes and drawn(value) and entropy(value) >= _HEX_BITS
    return drawn(value) and entropy(value) >= _WEAK_BITS


def _of_all_signs(value: bytes) -> bool:
    """Whether it is a key as Django makes them."""
    signs = set(shapes.PUNCTUATION.findall(value)) - _JOINTS
    return (
        shapes.OF_ALL_SIGNS.fullmatch(value) is not None
        and len(signs) >= _SIGNS_OF_DJANGO
        and not harmless(value)
    )


def _salted(value: bytes) -> bool:
    """Whether it is drawn from all that can be typed, as the salts of WordPress are: signs of many kinds, and no words."""
    return (
        value.isascii()
        and len(set(shapes.PUNCTUATION.findall(value))) >= _KINDS_OF_SIGNS
        and len(shapes.DIGIT.findall(value)) >= _LEAST_PASSWORD
        and shapes.SMALL_WORD.search(value) is None
    )
