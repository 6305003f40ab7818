"""Texts in which the rules of redaction have much to look at: names, signs, quotes and values in any order."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import string
from typing import TYPE_CHECKING

from examples import drawn

from spillstore.redaction import tables

if TYPE_CHECKING:
    import random

# What may stand before a line, and behind it.
_BEFORE = (
    *(" ", "\t", "    ", "- ", '"', "'", "* ", "| ", "> ", "$ ", "# ", "// ", "(", "[", "{", "<"),
    *("export ", "+", "-", "\\", "x", "/", "@", ".", ",", ":", "=", "%", "\xff", "12:", "a/b:12:"),
    *(">>> ", "\x0b", "\u2502 ", "2) ", "In [1]: "),
)
_BEHIND = (
    *(" ", "\t", "  ", " \t ", "\r", " \r", "\x0b", "\x0c", ",", ", ", ";", '"', "'", ".", ")"),
    *("]", "}", "\\", "|", " |", ">", " #", ":", " :", "=", " =", "\xa0", "\x00", "*", "**", " {"),
    *("\\n", "&", "\xff", ' -> "x1y2"', " # x"),
)
# What may be written in another way.
_INSTEAD = (
    *((": ", ":"), ("=", " = "), ("=", ": "), (": ", "="), (":", " :"), ("=", ' = "" -> ')),
    *(('"', "'"), ("'", '"'), ('"', '\\"'), ('"', ""), ("_", "-"), ("-", "_"), (".", "_")),
    *((" ", "\t"), (" ", "  "), (" ", ""), (",", " ,"), ("\n", "\r\n"), ("\n", "\n\n")),
    *(("\n", " \n"), ("\n", "\n  "), ("\n", "\r"), ("\n", "\n\x0b\n"), ("\n", ",\n")),
)


@functools.cache
def rows() -> tuple[str, ...]:
    """The examples of all rows of tables, those that lose a secret and those that stay."""
    modules = [
        importlib.import_module(f"{tables.__name__}.{each.name}")
        for each in pkgutil.iter_modules(tables.__path__)
    ]
    named = [
        row._asdict()
        for module in modules
        for table in vars(module).values()
        if isinstance(table, tuple)
        for row in table
        if hasattr(row, "_asdict")
    ]
    return tuple(sorted({row[of] for row in named for of in ("goes", "stays") if row.get(of)}))


def changed_row(rng: random.Random) -> bytes:
    """The example of a row with other signs, other blanks, something before or behind its lines, or another's end."""
    text = drawn(rng.choice(rows()), seed=str(rng.random())).decode()
    lines = text.split("\n")
    kind = rng.randrange(5)
    some = set(range(len(lines))) if rng.random() < 0.5 else {rng.randrange(len(lines))}
    if kind == 0:
        text = "\n".join(line + (rng.choice(_BEHIND) if at in some else "") for at, line in enumerate(lines))
    elif kind == 1:
        text = "\n".join((rng.choice(_BEFORE) if at in some else "") + line for at, line in enumerate(lines))
    elif kind == 2:
        other = drawn(rng.choice(rows()), seed=str(rng.random())).decode()
        text = text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]
    for _ in range(rng.randrange(3)):
        old, new = rng.choice(_INSTEAD)
        at = text.find(old, rng.randrange(len(text) + 1)) if rng.random() < 0.5 else -1
        text = text.replace(old, new) if at < 0 else text[:at] + new + text[at + len(old) :]
    if rng.random() < 0.2:
        text = text.upper() if rng.random() < 0.5 else text.lower()
    return text.encode() + b"\n"


def _words(words: str) -> list[str]:
    return words.split()


_LETTERS = string.ascii_letters + string.digits
NAMES = _words(
    "password DB_PASSWORD passwd pwd PASS PWD psk pass passphrase secret SECRET_KEY client_secret token "
    "api_token tokens apiKey api_key key keys KEY_ID private-key credentials creds session_id _session "
    "sessionid salt CLI_AUTH password_length secretName public_key keyword passenger tokenizer "
    "requirepass masterauth contraseña пароль 密码 Authorization authorization _auth auth cookie Set-Cookie "
    "Bearer Basic sonar.login IDENTIFIED identified "
    "pin PIN otp sms_code mailer_auth WEBHOOK x-hmac STRIPE_LIVE masterSecretRef token_ref public_hook dbpw "
    "PASSWD password_915.cpp.o .cache--token self.api_secret tokenTimeout314 PrimaryKey gpg_key -Dapi.key --db-password "
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
    "login user signin secret attach --value -k "
    "e.key&&t !0, !1}) hover{color:red} f(x) f(x,y). new String( Some( q( q{ qq[ cifs generated your let const return login "
)
_JOINTS = (".", ".", "->", "::", "?.", "_", "-", "!.", "$", "")


def name(rng: random.Random) -> str:
    """A name that is new, of a secret or not."""
    parts = [
        rng.choice((*NAMES, *WORDS[:24])) if rng.random() < 0.8 else _word(rng)
        for _ in range(rng.randrange(1, 4))
    ]
    return (
        rng.choice(("", "", "", ".", "--", "_"))
        + rng.choice("_-.").join(parts)
        + rng.choice(("", str(rng.randrange(999)), ".o", "=", ":hover"))
    )


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randrange(1, 9)))


def code(rng: random.Random) -> str:
    """Names that a program joins, brackets behind them, and what may follow."""
    chain = [
        rng.choice("_$@a") * (rng.random() < 0.1) + _word(rng) + str(rng.randrange(999)) * rng.randrange(2)
    ]
    for _ in range(rng.randrange(3)):
        chain += [rng.choice(_JOINTS), _word(rng) + str(rng.randrange(99)) * rng.randrange(2)]
    if rng.random() < 0.1:
        chain += [".", "".join(rng.choices(_LETTERS, k=rng.randrange(16, 24)))]
    inside = rng.choice(("", "", "x", "e,t", '"x"', "x y", "!0"))
    chain.append(
        rng.choice(
            (
                "",
                "",
                f"({inside})",
                f"({inside}",
                f"[{inside}]",
                f"[{inside}",
                f"{{{inside}}}",
                "{color:red",
                "<",
                "</",
                "!",
                "?",
            )
        )
    )
    return "".join(chain) + rng.choice(
        ("", "", "", ",", ";", ")", "})", "},x", ");", ".", ",a=1", ";b:2", "&&c", "?d:e", "=>", "/x")
    )


def value(rng: random.Random) -> str:  # noqa: PLR0911  # one for each sort
    """What may stand as a value: drawn, a word, a number, several of these."""
    kind = rng.randrange(11)
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
    if kind > 8:
        return code(rng)
    return rng.choice(WORDS)


def table(rng: random.Random) -> str:
    """Titles with one sign between them, and lines of cells below, or statements of SQL."""
    sign = rng.choice((",", ";", "\t", "|", " | ", " │ ", "  ", "   ", ", "))
    titles = [
        rng.choice((*NAMES[:40], "id", "user", "plan", "# 1", "7x", "a b c", '"name"'))
        for _ in range(rng.randrange(1, 6))
    ]
    rows = [[value(rng) for _ in titles] for _ in range(rng.randrange(1, 4))]
    if rng.random() < 0.2:
        columns = ", ".join(f"`{title}` text" for title in titles)
        cells = ["(" + ",".join(f"'{cell}'" for cell in row) + ")" for row in rows]
        return f"\nCREATE TABLE t ({columns});\nINSERT INTO t VALUES {','.join(cells)};\n"
    lead = rng.choice(("", "", " ", "| ", "│"))
    lines = [titles, *([["--"] * len(titles)] if rng.random() < 0.3 else []), *rows]
    return "\n" + "".join(lead + sign.join(line) + rng.choice(("\n", "\n", "\r\n", " |\n")) for line in lines)


def text(rng: random.Random, literals: tuple[str, ...]) -> bytes:
    """Lines of such things, with literals of the rules among them."""
    parts = []
    for _ in range(rng.randrange(1, 12)):
        kind = rng.randrange(10)
        if kind < 4:
            of = rng.choice(NAMES) if rng.random() < 0.7 else name(rng)
            parts += [rng.choice(QUOTES), of, rng.choice(QUOTES), rng.choice(BLANKS)]
            parts += [
                rng.choice(SIGNS),
                rng.choice(BLANKS),
                rng.choice(QUOTES),
                value(rng),
                rng.choice(QUOTES),
            ]
        elif kind < 6:
            parts += [rng.choice(literals), value(rng)]
        elif kind == 6 and rng.random() < 0.3:
            parts.append(table(rng))
        elif kind == 7 and rng.random() < 0.3:
            parts += [
                rng.choice(("\n$ ", "\n+ ", "\n  12  ", "x > ")),
                rng.choice(literals),
                value(rng),
                " ",
                value(rng),
            ]
        elif kind < 8:
            parts += [rng.choice(WORDS), rng.choice(BLANKS)]
        else:
            parts += [rng.choice(SIGNS), rng.choice(BLANKS), value(rng)]
        parts.append(rng.choice(BLANKS))
    return "".join(parts).encode()
