"""Values that are runs of one class: what may stand behind them, and what they must look like.

The rows of ``forms.py`` and ``phrases.py`` that are read so are their examples.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.redaction.tables import classes

BASE64 = r"(?>[A-Za-z0-9+/]*)={0,2}+"
ISSUED = r"[\w:-]"  # of what a service gives out
LEAST_ISSUED = 20
TRAILING = ")]}>,;.:"  # what ends a sentence or a call, and no value
IN_PIECES = r"(?=[^\d\s]*+\d[^\d\s]*+\d)(?=[\d_-]*+[A-Za-z])[\w-]++"  # digits in two of them
_KEY_OF_AWS = r"(?=[^\d]*\d)(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9+/]{40}"
_UNESCAPED = r"[^\s\"'`\\\x00-\x20\x7f]"  # a word up to what is escaped in a string
_IN_TEXT = _UNESCAPED.replace("[^", "[^<")  # the same up to a tag
_NO_PATH = r"(?!\\(?![nrt\"'`\\]))"  # what stands behind it is an escape, if anything
_CHAIN_ADDRESS = r"0x[0-9a-fA-F]{40}"


class Run(NamedTuple):
    """How one is read.

    Attributes:
        of: the class, or an expression.
        behind: how many bytes behind it decide.
        ends: expression for what stands behind it.
        trims: letters that are no part of it at its end.
        form: what the whole is like.
        looks: ``drawn``, ``mixed``, ``typed`` or ``signed`` (see ``values.py``), or ``named``: mixed behind the name of a password, and drawn behind any other.
        judged: whether it is judged by its name as a value in quotes (``quoted``), without them (``bare``), or not.
        without: letters that do not count then.
    """

    of: str
    behind: int = 1
    ends: str = ""
    trims: str = ""
    form: str = ""
    looks: str = ""
    judged: str = ""
    without: str = ""


RUNS: dict[str, Run] = {
    # A password of ODBC, which may hold any sign in braces.
    "braced": Run(r"[^}\r\n]", 2, ends=r"\};", looks="mixed"),
    # The only value of a list, as Java prints them.
    "bracketed": Run(r"[^\s\]]", ends=r"\]", looks="named", judged="quoted"),
    # A password of letters of both cases, digits and signs, wherever words may stand.
    "typed": Run(_IN_TEXT, 2, ends=_NO_PATH, trims=TRAILING, looks="typed"),
    # The same up to a colon.
    "field": Run(r"[^\s\"'`:\x00-\x20]", looks="typed"),
    # The same where any text may stand: with a sign that is in no name, or drawn.
    "signed": Run(_IN_TEXT, 2, ends=_NO_PATH, trims=TRAILING, looks="signed"),
    # The last word of its line.
    "column": Run(classes.WORD, ends=r"[\r\n]|\Z", form=".*[^.,:]", looks="named", judged="bare"),
    # The same, or the last of a string, as where a line is a value of JSON.
    "ended": Run(
        _IN_TEXT,
        2,
        ends=r"[\r\n]|\Z|[\"'`]|</|\\[nrt\"'`\\]",
        form=".*[^.,:]",
        looks="named",
        judged="bare",
    ),
    # A word in one piece behind nothing but a blank.
    "alone": Run(
        classes.WORD,
        0,
        trims=TRAILING,
        form=rf"(?!{_CHAIN_ADDRESS}\Z)(?:(?=.*?(?:[A-Za-z0-9]{{16}}|{classes.UUID}\Z)){IN_PIECES}|{_KEY_OF_AWS})",
        looks="drawn",
    ),
    # A number of a private key in the form of JSON.
    "of a key": Run(r"[\w-]", ends='"', form=r"(?![0-9a-fA-F]+\Z).{43,}", looks="drawn"),
    "before at": Run(r"[^\s@\"'`]", ends="@", judged="quoted"),
    # Base64 or hexadecimal digits of 32 bytes at least.
    "long run": Run(BASE64, 0, form=".{64,}"),
    # The same, and no path.
    "long drawn": Run(BASE64, 0, form=".{64,}", looks="drawn"),
    # Hexadecimal digits of 32 bytes at least.
    "hexadecimal": Run("[0-9a-f]", 0, form=".{64,}"),
    # One that a service has given out; it may be hexadecimal, or a UUID.
    "issued": Run(
        ISSUED,
        ends=r"(?![./(\[${@])",
        form=rf"(?=.*\d)(?=.*[A-Za-z])(?:{classes.UUID}(?::[0-9a-fA-F]{{32}})?|[A-Za-z0-9]{{{LEAST_ISSUED},}}|[\w-]{{32,}})",
        looks="drawn",
    ),
    # An id of a session and its signature.
    "signed cookie": Run(r"[\w.%+/-]", 0, form=r"[\w-]{24,}\..{27,}"),
    # The content of an element whose brackets are escaped.
    "escaped": Run(r"[^\s&<\"']", 5, ends="&lt;/", judged="quoted"),
    # A key of a product: groups of capitals and digits.
    "grouped": Run(
        "[A-Z0-9-]",
        ends=r"(?!\w)",
        form=r"(?=[^\d]*\d)(?=[\d-]*[A-Z])(?:[A-Z0-9]{2}-)?[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,8}){3,7}",
    ),
    # A code of digits, in two parts or one.
    "digits": Run("[0-9-]", judged="quoted", without="-"),
}
