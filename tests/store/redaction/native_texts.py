"""Texts in which the rules of redaction have much to look at: names, signs, quotes and values in any order."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random


def _words(words: str) -> list[str]:
    return words.split()


_LETTERS = string.ascii_letters + string.digits
NAMES = _words(
    "password DB_PASSWORD passwd pwd PASS PWD psk pass passphrase secret SECRET_KEY client_secret token "
    "api_token tokens apiKey api_key key keys KEY_ID private-key credentials creds session_id _session "
    "sessionid salt CLI_AUTH password_length secretName public_key keyword passenger tokenizer "
    "requirepass masterauth contraseña пароль 密码 Authorization authorization _auth auth cookie Set-Cookie "
    "Bearer Basic sonar.login IDENTIFIED identified "
)
SIGNS = _words("= : => := ::= == != === ?= ?? || += .= -> <- , ; :: :/ ( [ { < > | & % ! ? + - @ # \\ ")
BLANKS = ("", "", "", " ", " ", "  ", "\t", "\n", "\n  ", "\n\n    ", "\r\n", "\r")
QUOTES = ("", "", "", '"', '"', "'", "`", '\\"', "&quot;", "%5D", '"""', "b'", 'f"')
WORDS = _words(
    "is for of set to the was new user login admin root ID id as string str STRING char or BY WITH value "
    "Value: default: type: name: name key: variable field ENV set export setx setenv add --from-literal "
    "-e -D -u -p -a --user mysql curl docker sshpass define os.getenv( process.env. <key> </key> <string> "
    "form-data; name= |- >- | > - * # ~ & null None true false [REDACTED: $HOME ${X} $(x) {{x}} <x> %s "
    "self.x this.y x.y() C:/a/b https:// postgres:// @ machine .run( hooks "
)


def value(rng: random.Random) -> str:  # noqa: PLR0911  # one for each sort
    """What may stand as a value: drawn, a word, a number, several of these."""
    kind = rng.randrange(9)
    if kind == 0:
        return "".join(rng.choices(_LETTERS, k=rng.choice((2, 3, 5, 8, 12, 19, 20, 21, 32, 40, 64))))
    if kind == 1:
        return "".join(rng.choices("0123456789abcdef", k=rng.choice((8, 16, 20, 32, 40, 64))))
    if kind == 2:
        return "".join(rng.choices(string.digits + ".,:-+^~", k=rng.randrange(1, 14)))
    if kind == 3:
        return "".join(rng.choices(_LETTERS + "!#%*+?^~@/=.:;,()[]{}|$<>\\-_", k=rng.randrange(1, 30)))
    if kind == 4:
        return "-".join(
            rng.choices(("hunter2", "v12", "red", "x9", "ab12cd34", "Password1", "0"), k=rng.randrange(1, 5))
        )
    if kind == 5:
        return "".join(rng.choices(_LETTERS + "_.~+/=@-", k=rng.choice((255, 256, 257, 300))))
    return rng.choice(WORDS)


def text(rng: random.Random, literals: tuple[str, ...]) -> bytes:
    """Lines of such things, with literals of the rules among them."""
    parts = []
    for _ in range(rng.randrange(1, 12)):
        kind = rng.randrange(10)
        if kind < 4:
            parts += [rng.choice(QUOTES), rng.choice(NAMES), rng.choice(QUOTES), rng.choice(BLANKS)]
            parts += [
                rng.choice(SIGNS),
                rng.choice(BLANKS),
                rng.choice(QUOTES),
                value(rng),
                rng.choice(QUOTES),
            ]
        elif kind < 6:
            parts += [rng.choice(literals), value(rng)]
        elif kind < 8:
            parts += [rng.choice(WORDS), rng.choice(BLANKS)]
        else:
            parts += [rng.choice(SIGNS), rng.choice(BLANKS), value(rng)]
        parts.append(rng.choice(BLANKS))
    return "".join(parts).encode()
