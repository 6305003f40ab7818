"""Where an unquoted word is a literal, not a variable of a program, and where a password's name means something else.

Expressions are those of ``re``, for bytes; examples are templates, as in ``names.py``.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.redaction.tables.classes import CAMELS
from spillstore.redaction.tables.forms import OPTION, OWN_LINE, PLAIN_LINE


class Unquoted(NamedTuple):
    """Where an unquoted word is a literal, not a variable of a program; or a place where a password's name means another thing.

    Attributes:
        goes: a line that loses its secret.
        stays: a line that keeps its value.
        before: how what stands before the name ends.
        sign: the name and what stands between it and the value.
        behind: what stands behind the value.
        value: the value.
        not_value: the value is not that.
        unless: the value is a secret all the same if it looks ``drawn`` or ``mixed``; see ``values.py``.
    """

    goes: str
    stays: str
    before: str = ""
    sign: str = ""
    behind: str = ""
    value: str = ""
    not_value: str = ""
    unless: str = ""


_THIS = r"(?:this|self)\..*"
_END = r"(?:\Z|[\r\n])"
_TIGHT = r".*="
LITERALS: tuple[Unquoted, ...] = (
    Unquoted("?password=kittens", "(password=kittens)", r"[?&;]", _TIGHT, not_value=_THIS),
    Unquoted("password=kittens;", "password=kittens&&f()", "", _TIGHT, r"[?;]|&(?!&)", not_value=_THIS),
    Unquoted("f --password=kittens x", "f(password=kittens, x)", "", r"-.*=", not_value=_THIS),
    Unquoted(
        "f user=me password=kittens x",
        "f(user=me, password=kittens, x)",
        r"(?:\A|[\s\"'])[A-Za-z_]\w*=[^\s\"'(){},;]+ ",
        _TIGHT,
    ),
    Unquoted(
        "PASSWORD=kittens x",
        "f(PASSWORD=kittens, x)",
        rf"{OWN_LINE}|[ \t\0\"'=]|\A|[ \t\"'][A-Z_]+=[^\s(){{}}\[\],]+,",
        r"(?=[^a-z]*[A-Z])[^a-z]*=",
    ),
    Unquoted(
        "docker run -e password=kittens x",
        "docker(e, password=kittens, x)",
        rf"(?:\A|[\s\"'])(?:-[\w-]*[=\w]?|{OPTION})[\"']?[\w.,=-]{{0,64}}",
        _TIGHT,
    ),
    Unquoted(
        "//h/s /mnt cifs user=me,password=kittens,uid=0",
        "cifs(user=me, password=kittens, uid=0)",
        r"\bcifs[ \t]+[\w.,=\\-]{0,96}",
        _TIGHT,
    ),
    Unquoted(
        "vault kv put x/y password=kittens_cats34",
        "f(x/y, password=kittens_cats34)",
        r"(?:\A|[\r\n])[^\s(){}\[\],;][^(){}\[\],;\r\n]*[ \t]",
        _TIGHT,
        rf"[ \t]|{_END}",
        r"\w*\d\d",
    ),
    Unquoted(
        "Username: me  Password: kittens_cats34",
        "user: me, password: kittens_cats34",
        r"\b(?:User(?:name)?|Login|E-?[Mm]ail):[ \t]*\S{1,64}[ \t,;/|]+",
        r"[A-Z].*:\s*",
        _END,
    ),
    Unquoted(
        "login: me   password: kittens",
        "login: me,   password: kittens",
        r"\blogin:[ \t]+[^\s,;]{1,64}[ \t]{2,16}",
        r"password:[ \t]+",
        _END,
    ),
    Unquoted("{User:me Password:kittens}", "{user:me password:kittens}", r"[{ ]", r"[A-Z].*:", r"[} ]"),
    Unquoted("password=&quot;kittens&quot;", "password = kittens or", "", r".*;"),
    Unquoted(
        "generated password: meowmeow",
        "password: meowmeow or kittens",
        r"(?i:\b(?:generated|temporary|initial|new|default|your|one-time|admin|root)\b)[^\r\n:=]{0,40}",
        "",
        _END,
        r".{8,}",
    ),
    Unquoted(
        "password: kittens",
        "password: word",
        OWN_LINE,
        r".*:[\s*]*",
        _END,
        not_value=rf"[A-Za-z]{{0,4}}|(?=.*[A-Z]){CAMELS}|(?!\w*\d\d\.\w?\Z)[A-Za-z_]\w*(?:[.\[|<]|::)[\w.\[\]|<{{:'\"]*(?<!\d\d)",
    ),
    Unquoted("cmdkey /user:me /pass:kittens_cats", "user:me pass:kittens_cats", r"[ \t]/", r"pass(?:word)?:"),
    Unquoted(
        "wifi password: kittens.cats34",
        "let password: kittens.cats",
        rf"{OWN_LINE}(?:[A-Za-z]{{2,12}} ){{1,3}}",
        r".*:\s*",
        _END,
        r"(?=.*\d.*\d|.*\d[^\w])\S{6,}",
    ),
    Unquoted(
        "password = kittens",
        "    password = kittens",
        rf"(?:{PLAIN_LINE})(?<!  )(?<!\t)",
        r".*[^:\s]\s*",
        _END,
    ),
)

_BAR = r"[:\"'`\s]*:\s*"  # a colon behind a name
NOT_PASSWORDS: tuple[Unquoted, ...] = (
    Unquoted("x;PWD=/7%a{11}", "PWD=/tmp/7%a{11}", r"(?:\A|[\r\n\0])", r"PWD=", value=r"/.*"),
    Unquoted("DB_PASS: 7%a{11}", "PASS: test_7%a{11}", "", rf"(?:PASS|PASSWD){_BAR}"),
    Unquoted("PWD: 7%a{11}", "PWD: /home/7%a{11}", "", rf"PWD{_BAR}", value=r".*/.*"),
    Unquoted("PWD: 7%a{11}", "PWD: home", "", rf"PWD{_BAR}", unless="drawn"),
    Unquoted("net /pass:7%a{11}", "path/pass:7%a{11}", r"[^ \t\0\"'=\r\n]/", r".*:\s*"),
    Unquoted("net /pass:7%a{11}", "path\\\\pass:7%a{11}", r"[^ \t\0\"'=\r\n]\\", r"(?![nrt]).*:\s*"),
    Unquoted(
        "passwd: 7%a{11}",
        "passwd: user/kittens",
        r"(?:\A|[^/\\])",
        rf"(?!(?:PASS|PWD|PASSWD)[:\"'`\s])(?:.*-)?(?i:pass|pwd|passwd){_BAR}",
        unless="mixed",
    ),
    Unquoted("--password=7%a{11}", "--password=PASSWORD", "", r"-.*=", value=r"[A-Z]+"),
    Unquoted("x password:kit7ten", "input[type=password]:focus,.a", r"(?:type=|\bcase[ \t]*)[\"']?", r".*:"),
)
