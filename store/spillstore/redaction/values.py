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
from spillstore.redaction.tables import classes
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


UUID = re.compile(classes.UUID.encode())
_PATH = re.compile(rb"(?:[A-Za-z]:\\|~?/|\.{1,2}/|[A-Za-z]\w*/)[\w.@+ -]*(?:[/\\][\w.@+ -]*)*(?::[A-Za-z]+)?")
_ABSOLUTE = re.compile(
    rb"(?:~|/(?:root|home|etc|usr|var|opt|tmp|run|srv|mnt|app|data|private|Users|workspace))(?:/[\w.@+-]{1,19})+"
)
_CODE = re.compile(
    rb"[A-Za-z_$@][\w$]*+(?:(?:[!?]?(?:\.|->|::)|[!?]\?\.)[A-Za-z_$][\w$]*+)*[!?]?(?:[(\[{<].*|\.)?"
)
_NUMBERED = re.compile(
    rb"(?i)(?:my|new|old|raw|the|user|test|hashed|encoded|plain)?_?(?:password|passwd|pass|pwd|pw|secret|token|key|value|val|str|buf|p|s|t|k)_?\d{1,2}"
)
_PIECE = re.compile(f"{classes.PIECE}+".encode())
_CAMEL = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]")
_WORDY = re.compile(rb"(?:[A-Za-z]{1,16}\d{0,3}|\d{1,4}|[vVxX]\d+)")
_PROSE = re.compile(
    rb"(?i)\b(?:password|passwd|secret|token|passphrase|key|enter|your|please|the|is|are|must|invalid|required|wrong|not|forgot\w*|reset|new|"
    rb"confirm|for|with|this|that|and|or|to|of|a|an|in|on|if|from|no|use|used|set|by)\b"
)
_ALPHABET = re.compile(rb"(?i)abcdefgh|stuvwxyz|01234567")
_DOTTED = re.compile(rb"\.?[A-Za-z_]+(?:(?:\.|->|::)[A-Za-z_]\w*)+")
# Of a password, of a secret. A word is looked for once, ahead, so that many of them take no longer.
_SPOKEN = re.compile(rb"(?i)(?=[a-z_./#-]*?(?:password|passwd|passphrase))[a-z_./#-]*+(?:(?<=\.)\d\w*+)?:?")
_NAMED = re.compile(rb"(?i)(?:v\d)?(?=[a-z_.]*?(?:secret|key|token|password))[a-z_.]*+")
_NUMBER = re.compile(table.NUMBER.encode())
_FILE = re.compile(rb"\.[A-Za-z]\w{0,4}$|/$")
_INNER = re.compile(rb"(?=.{16}).*[A-Za-z]\d+[A-Za-z].*")
_VOWELLESS = re.compile(rb"[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{3,}")
_PROGRAM = re.compile(
    rb"=>|\)\{|\}[}=,;.a-z]|\)[,;.:]|[\w$]\(|&&|\|\||[+:]=|;\w+[{ ]|\?\w+:\w+|\?[.?]|=!|^!\("
)
_CONSTANT = re.compile(rb"[A-Z]+(?:_[A-Z\d]+)+")
_FILLED = re.compile(rb"\$\d|\{\{[^{}]{0,64}\}\}|\[\[[^\[\]]{0,64}\]\]|</?[a-z]{1,10}/?>|\\{1,8}[\"'nrt]|''")
_MESSAGE = re.compile(
    rb"[A-Za-z-]+[:.?]|[A-Za-z(<'\"][A-Za-z.,:;!?'\"()<>/%-]*(?: +[A-Za-z.,:;!?'\"()<>/%-]+)+"
)
_HYPHENATED = re.compile(rb"[a-z]+(?:-[a-z]+)+")
_CLUSTER = re.compile(rb"[bcdfghjklmnpqrstvwxz]{6}")
_VERSION = re.compile(rb"[^~<>=]{0,2}\d+(?:\.\d+)+[-+]?")
_MIXED = re.compile(rb"(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{6,}")
_CHOSEN = re.compile(rb".{10,}|.*[^A-Za-z_.].*", re.DOTALL)
_CODE_DIGITS = re.compile(rb"(?!(?:19|20)\d\d\Z)\d{4,10}")  # of a PIN; no year
_LETTER = re.compile(rb"[A-Za-z]")
_KEY = re.compile(f"{classes.KEY}+".encode())
_MISMATCHED = re.compile(rb"[ \t].*|.*[ \t]|[,;:)\]}+].*[ \t].*", re.DOTALL)
_DIGIT = re.compile(rb"\d")
_LATIN = re.compile(rb"(?:[!-~]*[A-Za-z][\xc0-\xff]{1,2}(?![\xa0-\xff]))+[!-~]*|[\xc0-\xff][!-~]+")
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
_PART = re.compile(rb"(?=[^\d]*\d+[^\d]+\d)[A-Za-z0-9_-]{18,}")  # of a token: digits in several places
_WORD = re.compile(rb"[A-Z][a-z]{5}")
_TYPE = re.compile(rb"(?:[A-Z][a-z]{2,}){3,}\d+")
_HASHED = re.compile(
    rb"(?i)(?:\w[\w.]*+[-/:#])*(?:[A-Za-z][\w.]*\.)?(?<=[-/:.#])(?:[0-9a-f]{32,64}|0?[0-9a-f]{16}|%b)"
    % classes.UUID.encode()
)  # a hash behind words, as in the key of a cache
_DIGITS = 4  # of a number in a name
_KINDS_OF_LETTERS = 6
_SALT = 40  # bytes of a salt, at least
_KINDS_OF_SIGNS = 10
_PUNCTUATION = re.compile(rb"[!-/:-@\[-`{-~]")
_SMALL_WORD = re.compile(rb"[a-z]{6}")
_HEX = re.compile(rb"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)")
_HEX_BITS = 2.8


def entropy(value: bytes) -> float:
    """Shannon's entropy in bits per byte."""
    size = len(value)
    counts = [value.count(byte) for byte in set(value)]
    return -sum(count / size * math.log2(count / size) for count in counts)


def drawn(value: bytes) -> bool:
    """Whether letters and digits look drawn, not written: mixed where words are not."""
    pieces = _PIECE.findall(value)
    if not pieces or counted(value):
        return False
    if _words(value):
        return False
    longest = max(pieces, key=len)
    return len(set(longest)) >= min(_KINDS_OF_LETTERS, len(longest) - 2)


def counted(value: bytes) -> bool:
    """Whether most of it goes up or down the alphabet, as in a placeholder."""
    if _ALPHABET.search(value) is None:
        return False
    steps = sum(abs(one - other) == 1 for one, other in itertools.pairwise(value))
    return steps * 2 >= len(value)


def _humped(piece: bytes) -> bool:
    """CamelCase: few humps, each a word, and one small number at most."""
    humps = _CAMEL.findall(piece)
    numbers = [hump for hump in humps if hump.isdigit()]
    if (
        len(numbers) == 1
        and len(humps) > _FEW_HUMPS
        and (len(piece) - len(numbers[0])) >= 4 * (len(humps) - 1)
    ):
        return not any(
            (_VOWELLESS.fullmatch(hump) and hump.islower()) or _CLUSTER.search(hump) for hump in humps
        )
    if len(numbers) > 1 or (numbers and (len(numbers[0]) > _DIGITS or _INNER.fullmatch(piece))):
        return False
    odd = sum(_VOWELLESS.fullmatch(hump) is not None for hump in humps)
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
    salt = quoted and len(value) >= _SALT and _salted(value)
    program = not quoted and not literal and _PROGRAM.search(value) is not None
    message = quoted and not salt and _message(value)
    if salt or program or message or harmless(value) or (not value.isascii() and _binary(value)):
        return salt
    if strength == "password":
        return _password(value, quoted=quoted, literal=literal)
    if strength == "code" or _other(value) or (not quoted and not literal and _code(value)):
        return strength == "code" and _CODE_DIGITS.fullmatch(value) is not None
    if strength in {"weak", "long"} or _path(value):
        return strength in {"weak", "long"} and _random(value, hashes=strength == "long")
    if strength == "secret" and not (_NAMED.fullmatch(value) and _identifier(value)):
        return drawn(value) or ((quoted or literal) and _CHOSEN.fullmatch(value) is not None)
    return drawn(value) or (len(value) >= _LONG and not _words(value) and entropy(value) >= _BITS)


def _binary(value: bytes) -> bool:
    """Whether it is no text in any encoding that people type in: bytes behind a word in an archive, say."""
    letters = len(value.translate(None, _HIGH))
    try:
        value.decode()
    except UnicodeDecodeError:
        return letters * 2 < len(value)
    return False


def _other(value: bytes) -> bool:
    """Whether it is no key or token whatever its name: prose, a digest, a public key, numbers, a template, a name with dots."""
    return (
        _no_key().fullmatch(value) is not None
        or counted(value)
        or (_DOTTED.fullmatch(value) is not None and not _coded(value))
    )


def _code(value: bytes) -> bool:
    """Whether it is a name or a call in a program."""
    return _CODE.fullmatch(value) is not None and not _loose(value) and not _coded(value)


def _coded(value: bytes) -> bool:
    """Whether what has the form of names with dots is a token in parts: one of them is long and no word."""
    return any(
        _PART.fullmatch(part) and not _WORD.search(part) and not _CONSTANT.fullmatch(part) and drawn(part)
        for part in value.split(b".")
    )


def _password(value: bytes, *, quoted: bool, literal: bool) -> bool:
    """A name promises no more by a password than that somebody has typed it."""
    if (
        len(value) < _LEAST_PASSWORD
        or not _text(value)
        or _path(value)
        or _VERSION.fullmatch(value)
        or (_SPOKEN.fullmatch(value) and _identifier(value))
    ):
        return False
    if _NUMBER.fullmatch(value) and not (quoted or literal) and not value.isdigit():
        return False
    if b" " in value or b"\t" in value:
        return (
            quoted
            and len(value) <= _PHRASE
            and _MISMATCHED.fullmatch(value) is None
            and not _PROSE.search(value)
        )
    if quoted or literal or value.isdigit():
        return quoted or len(value) > _LEAST_PASSWORD
    if _HYPHENATED.fullmatch(value):
        return False
    return not _NUMBERED.fullmatch(value) and (not _CODE.fullmatch(value) or _loose(value))


def _message(value: bytes) -> bool:
    """Whether it is a text for people, in any language: no digit, and several words, other letters, or a mark at its end.

    Places that are filled in (``$1``, ``{{name}}``) and tags count as nothing.
    """
    text = _FILLED.sub(b"", value)
    return _DIGIT.search(text) is None and (not text.isascii() or _MESSAGE.fullmatch(text) is not None)


def mixed(value: bytes) -> bool:
    """Whether letters stand beside digits or signs, as in no word, and it is no path or call."""
    return (
        not value.isalpha()
        and _LETTER.search(value) is not None
        and b"/" not in value
        and not value.endswith((b")", b"]", b"}", b">"))
        and not all(piece.isalpha() for piece in _PIECE.findall(value))
    )


def looks(value: bytes, strength: str) -> bool:
    """Whether a word where any word may stand looks chosen as a password, or drawn behind another name."""
    return mixed(value) if strength in {"password", "mixed"} else drawn(value)


def _text(value: bytes) -> bool:
    """Whether it is text, not a part of something binary; in an encoding of one byte a letter with a digit, too."""
    if value.isascii():
        return True
    try:
        return value.decode().isprintable()
    except UnicodeDecodeError:
        return _DIGIT.search(value) is not None and _LATIN.fullmatch(value) is not None


def _identifier(value: bytes) -> bool:
    """Whether letters have the form of a name in a program: several words, or capitals alone."""
    return (
        b"_" in value
        or b"." in value
        or b"#" in value
        or value.isupper()
        or not (value.islower() or value.istitle())
    )


def _loose(value: bytes) -> bool:
    """Whether it is an identifier by its form that nobody would write: digits among the letters."""
    value = value.rstrip(b"!?$")
    return (
        _MIXED.fullmatch(value) is not None
        and not _NUMBERED.fullmatch(value)
        and not (_TYPE.fullmatch(value) and _humped(value))
    )


def _words(value: bytes) -> bool:
    return all(_WORDY.fullmatch(piece) or _humped(piece) for piece in _PIECE.findall(value))


def _path(value: bytes) -> bool:
    return b"/" in value and _PATH.fullmatch(value) is not None and _words(value)


def _random(value: bytes, *, hashes: bool) -> bool:
    """Whether it is long and drawn at random; what may be a hash only if such are wanted."""
    if len(value) < _LONG or not _LETTER.search(value) or not _DIGIT.search(value):
        return False
    if not hashes and _HASHED.fullmatch(value):
        return False
    if (
        UUID.fullmatch(value)
        or _path(value)
        or _ABSOLUTE.fullmatch(value)
        or _FILE.search(value)
        or _CONSTANT.fullmatch(value)
        or _KEY.fullmatch(value) is None
    ):
        return False
    if _HEX.fullmatch(value):
        return hashes and drawn(value) and entropy(value) >= _HEX_BITS
    return drawn(value) and entropy(value) >= _WEAK_BITS


def _salted(value: bytes) -> bool:
    """Whether it is drawn from all that can be typed, as the salts of WordPress are: signs of many kinds, and no words."""
    return (
        value.isascii()
        and len(set(_PUNCTUATION.findall(value))) >= _KINDS_OF_SIGNS
        and len(_DIGIT.findall(value)) >= _LEAST_PASSWORD
        and _SMALL_WORD.search(value) is None
    )
