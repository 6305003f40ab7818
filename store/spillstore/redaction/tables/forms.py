r"""How values stand behind names: what is between them, which words announce a value, where an unquoted word is a literal.

Rows are tried one by one behind each name of a secret, and what any of them finds goes. Expressions are those of ``re``, for
bytes. Examples are templates, as in ``names.py``; ``\n`` and the like are those of Python.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Services whose name alone promises a key: no words of every day, no programs with releases and their checksums. What they begin
# with is rare in texts: each beginning that is frequent makes the scanner slower, as 200 names in all did by a tenth on sources.
SERVICES = (
    "adafruit airbrake airtable aiven alchemy algolia apify asana assemblyai bitfinex bitly bitmex bittrex braintree browserstack bugsnag "
    "buildkite circleci codecov cohere coinbase convertkit deepgram deepseek dropbox dynatrace etherscan fastly figma firebase flagsmith "
    "flickr flutterwave freshdesk geocodio gocardless helpscout heroku honeybadger hubspot huggingface hunterio ipinfo ipstack klaviyo "
    "kucoin linode livekit loggly mailchimp mailgun mailjet mailtrap mapbox moralis netlify newrelic newsapi nytimes openai opencage "
    "openrouter openweather opsgenie optimizely pexels plaid posthog postmark pubnub pusher rapidapi razorpay rollbar saucelabs "
    "scraperapi sendbird sendgrid shippo shodan shopify snyk sonarcloud sparkpost spotify sumologic travisci trello twilio twitch "
    "unsplash vercel wakatime weatherbit weatherstack webflow x_ai xai yandex youtube zoominfo"
)
# Words that may stand between a password and its value: `the password for me has been set to: ...`.
SPOKEN = "is was has been for of to set generated created reset the new user account admin root elastic"
# Types that may stand behind a name: `Dim password As String = "..."`.
TYPES = "As as Str str STRING char byte text TEXT var std::"
# Names of a value, where the name of the secret is a value, too, and names that may stand between the two.
VALUES = "value stringvalue string_value default"
PASSED = "type sensitive kind description enabled disabled format required source origin scope comment"
# Words before a name alone that make it one of a service: `api key`.
QUALIFIERS = "api access secret private auth encryption signing master account shared license client app service unseal recovery"
# Last words of commands that set a variable: `config set NAME value`.
SETTERS = "set setx setenv add put ENV -gx -Ux -x -g -U"
# What a line may begin with before `NAME=value`.
COMMANDS = "export set setx ENV ARG declare Environment= -"
# Directives of programs, whose value stands behind a blank.
DIRECTIVES = "password requirepass masterauth"
LOGINS = "login user: username:"

# --- parts of expressions ---

ENTITY = r"&(?:quot|apos|#39|#34|#x27|#x22);"
QUOTED = rf"(?:\\{{0,8}}[\"'`]|{ENTITY})"
CLOSER = rf"(?>(?:{QUOTED}){{0,3}})(?>(?:\]|%5[Dd]){{0,2}})[ \t]{{0,64}}+"
SIGN = r"(?:=>|:{1,3}=|\?{1,2}=|\+=|\.=|=(?!=)|:(?![:=/])|->|<-)"
ASSIGN = (
    CLOSER + SIGN + r"[ \t]{0,64}+(?>(?:>[-+]?[ \t]{1,64}+)?)"
    rf"(?>(?:!!(?:str|binary)[ \t]{{1,64}}+|&\w{{1,64}}+[ \t]{{1,64}}+(?=[\"']))?)(?>(?:{ENTITY})?)"
)
_STRING = r"(?=\\{0,8}[\"'])"
_VALUE = r"\\{0,8}[\"']?[Vv]alue\\{0,8}[\"']?[ \t]{0,64}+[:=][ \t]{0,64}+"
_FIELD = (
    r"(?:,?[ \t]{0,8}\\{0,8}[\"']?[a-z]\w{0,15}\\{0,8}[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
    r"(?:\\{0,8}[\"'][\w./-]{0,32}\\{0,8}[\"']|\w{1,8}))"
)
_TYPE = (
    r"(?:[ \t]{0,8}+:[ \t]{0,8}+(?:&(?:'\w+[ \t]+)?)?[A-Za-z_][\w.\[\]<>|?* ]{0,64}?"
    r"|(?:\[\])?[ \t]{1,8}+(?:[Aa]s[ \t]+)?(?:\[\])?(?:[Ss]tring|STRING|str|char|byte|bytes|text|var|TEXT|std::string)(?:\[\d*\])?)"
)
_CALLED = r"(?i:pass(?:word|wd|phrase))"
_OPTION = r"(?:-e|-o|-v|--?var|--env|--build-arg|--set|--set-string|--from-literal|--extra-vars)[ \t=]+"
_COMMAND = (
    rf"export[ \t]+|set[ \t]+|setx[ \t]+|ENV[ \t]+|ARG[ \t]+|declare[ \t]+-x[ \t]+|Environment=|{_OPTION}"
)
_SETTER = (
    r"(?:\b(?:setx|setenv|(?:configure|config|env|secrets?)[ \t]+(?:set|add|put)|config:set|set[ \t]+-[gUx]{1,3})"
    r"|(?:^|[\r\n])[ \t]*ENV)[ \t]+"
)
_LOGIN_METHOD = r"\"method\"[ \t]{0,8}+:[ \t]{0,8}+\"[\w./]{0,64}(?i:login|auth(?:enticate|orize)?)\"[ \t]{0,8}+,[ \t]{0,8}+"
_SQL = r"(?i:\b(?:create|alter)[ \t]+(?:user|role|login)|\bgrant\b[^\r\n]*\bon)\b[^\r\n]*"
_TAG = r"<(?:\w{1,30}:)?"
BEFORE_OPTION = " \t\r\n\"'`[({,=|;\0"
_OPENED = rf"(?:\A|[{re.escape(BEFORE_OPTION)}])"
OWN_LINE = rf"(?:\A|[\r\n])[ \t]*(?:[-+>#*|][ \t]+)*(?:{_COMMAND})?[\"']?"  # the first thing of its line
_LOGIN = r"\b(?:login|user(?:name)?:)[ \t]+\S*[^\s,;][ \t]+"

# Between a name and a word that looks drawn: `token X`, `token is: X`, `token - X`, `token 1: X`.
_BLANK_ALONE = (
    r"[ \t]{1,16}+(?>(?:(?:is|was)(?:[ \t]{0,4}:)?[ \t]{1,4}+|-{1,2}[ \t]{1,4}+|\d{1,2}[ \t]{0,4}+[:=-]{1,2}[ \t]{0,4}+)?)"
    r"[\"'`]?(?=[A-Za-z0-9_-])"
)

# Bytes that may stand behind a name with a value.
BEHIND = " \t\\\"'`]=:<>?+-(%&!,"
CLOSERS = "\\\"'`]&%"
_BLANK = " \t"
_SIGNS = BEHIND.replace("(", "").replace(",", "")


class Form(NamedTuple):
    """One form in which a value stands behind a name.

    Attributes:
        reads: how the value is read: a function of ``readers.py``.
        between: what stands between name and value.
        goes: what loses its secret: lines, or several such with an empty line between them.
        stays: what is like it and keeps its value.
        behind: the byte behind the name is one of these.
        before: how what stands before the name ends; at most ``back`` bytes of it are looked at.
        name: how the name ends.
        of: what the name promises is one of these; see ``names.py``.
        back: see ``before``.
        promises: what the name is taken for.
        any_word: a plain word may stand behind a blank, as in prose: what stands before the name says that it is none.
    """

    reads: str
    between: str
    goes: str
    stays: str
    behind: str = BEHIND
    before: str = ""
    name: str = ""
    of: str = "password secret token weak long"
    back: int = 32
    promises: str = ""
    any_word: bool = False


FORMS: tuple[Form, ...] = (
    # --- a sign ---
    Form("value", ASSIGN, 'API_KEY = "%a{32}"\n\napiKey := " %a{32} "', "API_KEY == %a{32}", _SIGNS),
    Form(
        "word",
        ASSIGN + r"qq?[{(\[](?=[^\s$@])",
        "$password = q{7%a{11}};",
        "$password = f{7%a{11}};",
        _SIGNS,
        of="password secret",
    ),
    Form(
        "value",
        ASSIGN + r"(?=[\"']?[A-Za-z0-9]{20})",
        "agent link --key=%h{64} --host=x",
        "agent link -- key=%h{64} --host=x",
        _SIGNS,
        name=r"\A--?key",
        of="weak",
        promises="long",
    ),
    Form(
        "quoted",
        ASSIGN
        + r"(?:(?:Some|Ok|Just|String::from|SecretStr|SecretString|Secret|PASSWORD|CONVERT_TO|(?:sql\.)?Raw|string|str|bytes|b|u)"
        + r"\([ \t]{0,64}+(?=[\"'])|string\(\d{1,9}\)[ \t]{1,64}+(?=\"))",
        'api_key = Some("%a{32}")',
        'api_key = find("%a{32}")',
        _SIGNS,
    ),
    Form(
        "quoted",
        CLOSER + r"[=!]==?[ \t]{0,64}+" + _STRING,
        'if token == "%a{32}":',
        "if token == a1:",
        of="secret token weak long",
    ),
    Form(
        "chosen",
        CLOSER + r"[=!]==?[ \t]{0,64}+" + _STRING,
        'if password == "7f%a{10}":',
        "if password == 'function':",
        of="password",
    ),
    # --- a name that is a value, and its value ---
    Form(
        "quoted",
        r"\\{0,8}[\"']" + _FIELD + r"{0,2}[ \t]{0,64}+,?[ \t]{0,64}+" + _VALUE + _STRING,
        '{"name": "API_TOKEN", "value": "%a{32}"}',
        '{"name": "API_TOKEN", "label": "%a{32}"}',
        CLOSERS,
    ),
    Form(
        "quoted",
        r"\\{0,8}[\"'][ \t]{0,8}:[ \t]{0,8}\{[ \t]{0,8}(?:\\{0,8}[\"'](?:sensitive|type)\\{0,8}[\"']:[ \t]{0,8}[\w\"\\]{1,16},[ \t]{0,8}){0,2}"
        + _VALUE
        + _STRING,
        '"api_token": {"type": "string", "value": "%a{32}"}',
        '"api_token": {"type": "string", "label": "%a{32}"}',
        CLOSERS,
    ),
    # --- a comma ---
    Form(
        "quoted",
        r"\\{0,8}[\"'][ \t]{0,64}+,[ \t]{0,64}+" + _STRING + r"(?!.-)",
        "os.getenv('DB_PASSWORD', 'kittens')",
        "os.find('DB_PASSWORD', 'kittens')",
        CLOSERS,
        before=r"define[^\r\n]*|(?i:\bgetenv|\benv(?:iron)?(?:\.get|\.fetch)?)\(\\{0,8}[\"']",
        back=20,
    ),
    Form(
        "quoted",
        r"\\{0,8}[\"'][ \t]{0,64}+,[ \t]{0,64}+" + _STRING + r"(?!.-)",
        "['--password', 'kittens']",
        "['password', 'kittens']",
        CLOSERS,
        name=r"\A-.*",
    ),
    Form(
        "drawn",
        r"\\{0,8}[\"'][ \t]{0,64}+,[ \t]{0,64}+" + _STRING + r"(?!.-)",
        '["api_token", "%a{32}"]',
        '["api_token", "refresh"]',
        CLOSERS,
    ),
    Form(
        "drawn", r",[ \t]{0,8}+(?=[\"'])", '{:password, "%a{32}"}', '(password, "%a{32}")', ",", before="[{:]"
    ),
    # --- what is taken where a variable is not set ---
    Form(
        "chosen",
        r"(?>(?:\\{0,8}[\"'])?)\]?\)?[ \t]{0,8}+(?:\|\||\?\?|or)[ \t]{0,8}+(?=[\"'`])",
        "process.env.DB_PASSWORD || '7%a{11}'",
        "process.env.DB_PASSWORD || 'not-set'",
        " \t\"'",
        of="password",
    ),
    Form(
        "drawn",
        r"(?>(?:\\{0,8}[\"'])?)\]?\)?[ \t]{0,8}+(?:\|\||\?\?|or)[ \t]{0,8}+(?=[\"'`])",
        "process.env.API_TOKEN || '%a{32}'",
        "process.env.API_TOKEN || 'not-set'",
        " \t\"'",
        of="secret token weak long",
    ),
    # --- a type ---
    Form(
        "quoted",
        _TYPE + r"[ \t]{0,8}+=[ \t]{0,64}+(?=[fbruFBRUN@$]{0,2}[\"'`])",
        'let api_token: &str = "%a{32}";',
        "api_token: str = find(%a{32})",
        " \t:[",
    ),
    # --- a blank ---
    Form(
        "option",
        r"[ \t]{1,16}+(?=[^\s=:])",
        "--api-token %a{32}",
        "--api-token TOKEN",
        _BLANK,
        _OPENED,
        r"\A-.*",
    ),
    Form(
        "word",
        r"[ \t]{1,16}+(?=[^\s=:])",
        "setx DB_PASSWORD 7%a{11}",
        "offset DB_PASSWORD 7%a{11}",
        _BLANK,
        _SETTER,
        any_word=True,
    ),
    Form(
        "word",
        r"[ \t]{1,16}+(?=[^\s=:])",
        "machine h login me password kittens",
        "the login page password kittens",
        _BLANK,
        r"machine [^\r\n]*" + _LOGIN,
        r"\Apassword",
        back=256,
        any_word=True,
    ),
    Form(
        "option",
        r"[ \t]{1,16}+(?=[^\s=:])",
        "login me password 7%a{11}",
        "login, password 7%a{11}",
        _BLANK,
        _LOGIN,
        rf"\A(?:{DIRECTIVES.replace(' ', '|')})",
        back=256,
        any_word=True,
    ),
    Form(
        "directive",
        r"[ \t]{1,16}+(?=[^\s=:])",
        "requirepass 7%a{11}",
        "password 12 is too short",
        _BLANK,
        OWN_LINE,
        rf"\A(?:{DIRECTIVES.replace(' ', '|')})",
        back=64,
        any_word=True,
    ),
    Form(
        "word",
        r"[ \t]{1,16}+(?=[^\s=:])",
        "> PASS kittens",
        "the PASS kittens",
        _BLANK,
        r"(?:[>:]|write\(\d+, \")[ \t]*",
        r"\APASS",
        any_word=True,
    ),
    Form(
        "option",
        r"[ \t]{1,16}+(?=[^\s=:])",
        "CREATE ROLE me LOGIN PASSWORD 7%a{11};",
        "the PASSWORD 7%a{11}",
        _BLANK,
        _SQL,
        r"\APASSWORD",
        back=128,
        any_word=True,
    ),
    Form("quoted", r"[ \t]{1,16}+(?=[\"'])", 'passwd "7%a{11}"', 'api_token "x"', _BLANK, name=_CALLED),
    Form(
        "quoted",
        r"[ \t]{1,16}+(?=[\"'])",
        '#define API_TOKEN "%a{32}"',
        '#undef API_TOKEN "kittens"',
        _BLANK,
        r"#[ \t]*define[ \t]+",
    ),
    Form(
        "drawn",
        r"[ \t]{1,16}+(?=[\"'])",
        'client_secret "%a{32}"',
        'client_secret "kittens"',
        _BLANK,
        of="secret",
    ),
    Form(
        "value",
        r"[ \t]{1,16}+[Ii][Dd]" + ASSIGN,
        "Secret ID: %a{32}",
        "Secret IDs: %a{32}",
        _BLANK,
        of="secret",
        promises="token",
    ),
    Form(
        "mixed",
        r"[ \t]\d[ \t](?=[^\s\"'])",
        "enable secret 5 %a{20}",
        "secret 5 kittens",
        _BLANK,
        of="password secret",
    ),
    Form(
        "value", r"[ \t]\d{1,2}:[ \t]+(?=\S)", "Unseal Key 1: %a{44}", "Unseal Key 1 of 5", _BLANK, of="token"
    ),
    Form(
        "column",
        r"(?:[ \t]{2,64}+|\t)(?=[^\s=:|<>\"'#-])(?![.+?]=)",
        "token      %a{32}",
        "token      refresh",
        _BLANK,
        OWN_LINE,
        back=64,
    ),
    Form(
        "spoken",
        r"(?=[ \t]{1,16}+[^\s=:])(?>(?:[ \t]{1,64}+(?:[\w.-]{1,64}@[\w.-]{1,64}|(?:"
        + SPOKEN.replace(" ", "|")
        + r")\b)){0,8})"
        r"(?:[ \t]{0,64}[:=][ \t]{0,64}|[ \t]{1,64}(?=[\"'`])|(?<=[ \t]is)[ \t]{1,64})(?=\S)",
        "the new password is 7%a{11}",
        "the new password is wrong",
        _BLANK,
        name=_CALLED,
    ),
    Form(
        "word",
        r"[ \t]{1,64}+REG_(?:EXPAND_)?SZ[ \t]{1,64}+(?=\S)",
        "DefaultPassword    REG_SZ    7%a{11}",
        "DefaultPassword    REG_NONE    7%a{11}",
        _BLANK,
    ),
    Form(
        "alone",
        _BLANK_ALONE,
        "Using token %h{32} of acme\n\nYour api key is: %l{32}\n\nthe session secret is %h{64}\n\napi key 1 - %h{32}",
        "Using token abcdef-internationalization-%d{3} of acme\nYour api key is: 16 bytes\napi key 1 - of %h{8}",
        _BLANK,
        of="secret token",
        any_word=True,
    ),
    # --- a bracket ---
    Form(
        "argument",
        r"\([ \t]{0,16}+N?(?=[\"'])",
        'builder.password("7%a{11}")\n\nbuilder.password("kittens")',
        'keyring.set_password("system", "kittens")',
        "(",
        name=r"(?:\.|[Ss]et_?|[Ww]ith_?)[Pp]ass(?:word|wd|phrase)",
    ),
    Form(
        "quoted",
        r"\([ \t]{0,16}+N?(?=[\"'])",
        "PASSWORD('kittens')",
        "OLD_PASSWORD('kittens')",
        "(",
        name=r"\APASSWORD",
    ),
    Form(
        "drawn",
        r"\([ \t]{0,16}+N?(?=[\"'])",
        'old_password("7f3%a{11}9")',
        'old_password("kittens")',
        "(",
        name=_CALLED,
    ),
    # --- elements ---
    Form(
        "element",
        r"(?>(?:[ \t][^<>\r\n]{0,256}+)?)>(?=[^<\s])",
        "<api_token>%a{32}</api_token>",
        "{api_token>%a{32}</api_token>",
        "> \t",
        _TAG,
    ),
    Form(
        "element",
        r"[\"'](?>(?:[ \t][^<>\r\n]{0,128}+)?)>(?=[^<\s])",
        '<entry key="api_token">%a{32}</entry>',
        '<entry about="api_token">%a{32}</entry>',
        "\"'",
        r"\b(?:name|key|id)=[\"'][\w.-]{0,96}",
        back=128,
    ),
    Form(
        "element",
        r"</t[dh]>[ \t]{0,64}+<td[^<>\r\n]{0,64}+>[ \t]{0,64}+(?>(?:<pre[^<>\r\n]{0,64}+>)?)(?>(?:&#x27;|&#39;|&quot;)?)(?=[^<\s])",
        "<td>SECRET_KEY</td><td><pre>&#x27;%a{32}&#x27;</pre></td>",
        "<td>SECRET_KEY</td><td><pre>os.environ</pre></td>",
        "<",
    ),
)

# A blank behind a name: only where this matches, or a command or a directive says so, a value may follow.
AFTER_BLANKS = (
    r"[ \t]++(?:[.=:<>?+!&\\\"'`|-]|\d{1,2}[ \t:]|[Aa]s[ \t]|[Ss]tring|STRING|str\b|char|byte|text|TEXT|var\b|std::|\[|[Ii][Dd]\b"
    r"|is\b|was\b|has\b|for\b|of\b|set\b|generated|the\b|elastic)|[ \t]{2}|\t"
)


class Phrase(NamedTuple):
    """Words that are no part of a name, and a password behind them; see ``Form``."""

    literals: str
    reads: str
    between: str
    goes: str
    stays: str
    before: str = ""
    promises: str = ""
    back: int = 128
    name: str = ""


_COLUMN = r"\"?[A-Za-z][\w .-]{0,31}+\"?"
_ARGUMENT = (
    r"[ \t]{0,8}+(?:[\w.]{1,64}+(?:\(\))?|\"[^\"\r\n]{0,128}+\"|'[^'\r\n]{0,128}+')[ \t]{0,8}+,[ \t]{0,8}+"
)


def _table_names(sign: str) -> tuple[str, str]:
    """Literals of a password's column that is not the first, and one that is not the last."""
    names = ("password", "Password", "PASSWORD", "passwd")
    quoted = [*names, *(f'"{name}"' for name in names)]
    return "|".join(sign + name for name in quoted), "|".join(name + sign for name in quoted)


def _tables() -> Iterator[Phrase]:
    for sign in (",", "\t"):
        behind, before = _table_names(sign)
        column = rf"(?>{_COLUMN}(?:{sign}{_COLUMN}){{0,15}})"
        goes = sign.join(("user", "%s", "mail")).replace("%s", "password")
        row = sign.join(("me", "7%a{11}", "x"))
        yield Phrase(
            behind,
            "columns",
            rf"(?>(?:{sign}{_COLUMN}){{0,15}})(?=[\r\n])",
            f"{goes}\n{row}\n{row}",
            f"{goes}\nme 7%a{{11}}",
            rf"(?:\A|[\r\n]){column}",
        )
        yield Phrase(
            before,
            "columns",
            rf"{column}(?=[\r\n])",
            sign.join(("password", "user")) + "\n" + sign.join(("7%a{11}", "me")),
            "  f(password" + sign + "user)\n" + sign.join(("7%a{11}", "me")),
            rf"(?:\A|[\r\n])(?:{_COLUMN}{sign}){{0,15}}",
        )


PHRASES: tuple[Phrase, ...] = (
    Phrase("DENTIFIED BY", "value", r"[ \t]{1,64}+(?=[\"'])", "IDENTIFIED BY 'kittens'", "IDENTIFIED BY ''"),
    Phrase("DENTIFIED BY", "word", r"[ \t]{1,16}+(?=[^\s=:\"'])", "IDENTIFIED BY kittens", "IDENTIFIED BY <word>"),
    Phrase("dentified by", "quoted", r"[ \t]{1,64}+(?=[\"'])", "create user me identified by 'kittens'", "is identified by 'kittens'", _SQL),
    Phrase("dentified by", "word", r"[ \t]{1,16}+(?=[^\s=:\"'])", "create user me identified by kittens", "is identified by kittens", _SQL),
    Phrase("dentified by", "drawn", r"[ \t]{1,64}+(?=[\"'])", "identified by '7%a{11}'", "identified by 'kittens'"),
    Phrase(
        "dentified with|DENTIFIED WITH",
        "quoted",
        r"[ \t]+[\w\"'@]{1,64}[ \t]+(?:BY|AS|by|as)[ \t]+(?=[\"'])",
        "IDENTIFIED WITH sha256 BY 'kittens'",
        "IDENTIFIED WITH sha256 OF 'kittens'",
    ),
    Phrase(
        '"sensitive": true|"sensitive":true',
        "quoted",
        r"[ \t]{0,8}+,[ \t]{0,8}+(?>(?:\"type\"[ \t]{0,8}+:[ \t]{0,8}+\"\w{1,16}+\"[ \t]{0,8}+,[ \t]{0,8}+)?)\"value\"[ \t]{0,8}+:[ \t]{0,8}+(?=\")",
        '{"dsn": {"sensitive": true, "type": "string", "value": "7%a{11}"}}',
        '{"dsn": {"sensitive": true, "type": "string", "label": "7%a{11}"}}',
    ),
    Phrase(
        '"sensitive": true',
        "below",
        r"[ \t]{0,8}+,?[ \t]{0,8}+(?=[\r\n])",
        '"dsn": {\n  "sensitive": true,\n  "type": "string",\n  "value": "7%a{11}"\n}',
        '"dsn": {\n  "sensitive": true,\n  "labels": "string",\n  "value": "7%a{11}"\n}',
    ),
    Phrase(
        "cG9zdGdyZX|bXlzcWw6Ly|bXlzcWwr|bW9uZ29kYj|bW9uZ29kYi|cmVkaXM6Ly|cmVkaXNzOi|YW1xcDovL|YW1xcHM6Ly",
        "coded",
        "",
        "  DATABASE_URL: cG9zdGdyZXM6Ly9tZTpodW50ZXIyQGRiL3g=",
        "  DATABASE_URL: cG9zdGdyZXM6Ly9kYi94",
        r"(?:\A|[^A-Za-z0-9+/])",
    ),
    Phrase(
        "密码|密碼|口令|пароль|Пароль|contraseña|Contraseña|senha|Senha|passe|wachtwoord|Wachtwoord|hasło|Hasło|비밀번호|비번|암호",
        "value",
        ASSIGN,
        "пароль: 7%a{11}",
        "a:пароль:7%a{11}",
        r"(?:\A|[^:])",
    ),
    Phrase(
        SERVICES.replace(" ", "|"),
        "issued",
        ASSIGN,
        'deepgram = "%h{40}"\n\nx_ai: %h{8}-%h{4}-%h{4}-%h{4}-%h{12}',
        "deepgram = %h{7}\nacme = %h{40}\ndeepgram.%h{40}",
        r"(?:\A|[^A-Za-z0-9])",
        "token",
    ),
    Phrase(
        "_api=|_api =|_api:|-api:|-api =|_API=|_API =|_API:",
        "issued",
        "[ \\t]{0,8}+(?=[\\w\"'])",
        "ACME_API=%h{32}\n\nacme-api: %h{40}",
        "/_api=%h{32}",
        "[A-Za-z0-9]",
        "token",
    ),
    Phrase(
        '"value":|"Value":|\'value\':',
        "named behind",
        r"[ \t]{0,8}+(?=[\"'])",
        '{"value": "7%a{11}", "name": "DB_PASSWORD"}',
        '{"value": "7%a{11}", "name": "DB_HOST"}',
    ),
    Phrase(
        "패스|パス",
        "value",
        f"(?:워드|ワード){ASSIGN}",
        "パスワード: 7%a{11}",
        "a:パスワード:7%a{11}",
        r"(?:\A|[^:])",
    ),
    Phrase(
        "assword>",
        "element",
        r"<[Vv]alue>(?=[^<\s])",
        "<AdministratorPassword><Value>7%a{11}</Value></AdministratorPassword>",
        "<AdministratorPassword><Value>%NAME%</Value></AdministratorPassword>",
    ),
    Phrase(
        "secure: ",
        "long run",
        r"[\"']?(?=[A-Za-z0-9])",
        '  - secure: "%b{88}="',
        "secure: true",
        r"[\s-]",
        "secret",
    ),
    Phrase(
        '"params":',
        "last",
        r"[ \t]{0,8}+\[[ \t]{0,8}+(?=\")",
        '{"method": "auth.login", "params": ["%h{32}"]}',
        '{"method": "auth.list", "params": ["%h{32}"]}',
        _LOGIN_METHOD,
    ),
    Phrase(
        '"params":',
        "chosen",
        r"[ \t]{0,8}+\[[ \t]{0,8}+\"[^\"\r\n]{0,128}+\"[ \t]{0,8}+,[ \t]{0,8}+(?=\")",
        '{"method": "login", "params": ["me", "7%a{11}"]}',
        '{"method": "login", "params": ["me", "kittens"]}',
        _LOGIN_METHOD,
    ),
    Phrase(
        "Your ",
        "alone",
        "(?:[\\w.-]{1,32} ){0,3}(?:[Kk]ey|KEY|[Tt]oken|[Ss]ecret) is:? ?[\"'`]?(?=[A-Za-z0-9_-])",
        "Your Acme key is %h{32}",
        "Our Acme key is %h{32}",
        promises="token",
    ),
    Phrase(
        "onnect('|onnect(\"",
        "drawn",
        r"[^\"'\r\n]{0,128}+[\"'][ \t]{0,8}+,[ \t]{0,8}+" + _ARGUMENT + r"(?=[\"'])",
        "connect('localhost', user, '7%a{11}')",
        "connect('localhost', user, 'kittens')",
    ),
    Phrase(
        "Login(|log_in(|Credentials(|Credential(|AuthenticationToken(|TokenAuth(|authenticate(",
        "drawn",
        _ARGUMENT + r"(?=[\"'])",
        "client.log_in('me', '7f3%a{11}9')",
        "client.log_in('me', 'kittens')",
    ),
    Phrase(
        '"random_password"',
        "result",
        r"[^\r\n]{0,96}+(?=[\r\n])",
        '"type": "random_password",\n"name": "db",\n"attributes": {\n"length": 20,\n"result": "%a{20}"',
        '"type": "random_pet",\n"result": "%a{20}"',
    ),
    Phrase(
        'admin initial-password|requirepass"|331 Please|331 Password',
        "printed",
        r"[^\r\n]{0,96}+(?=[\r\n])",
        '$ argocd admin initial-password -n argocd\n%a{16}\n\n1) "requirepass"\n2) "7%a{11}"',
        "$ argocd admin initial-password -n argocd\nnot found",
    ),
    Phrase(
        "Password for ",
        "printed",
        r"[^\r\n:]{0,96}+:[ \t]{0,8}+(?=[\r\n])",
        "Password for the user (reset):\n  7%a{11}",
        "Password for the user:\nhas been reset",
    ),
    Phrase(
        '"SecureString",',
        "below",
        r"[ \t]{0,8}+(?=[\r\n])",
        '"Name": "/db/x",\n"Type": "SecureString",\n"Value": "7%a{11}"',
        '"Name": "/db/x",\n"Type": "SecureString",\n"Label": "7%a{11}"',
    ),
    Phrase(
        "--auth |--auth=|--proxy-user |--proxy-user=|--basic-auth |--basic-auth=",
        "option",
        r"[\"']?[\w.@\\-]{1,64}:(?=[^\s:/\"'])",
        "tool --auth me:7%a{11} run",
        "tool --auth me[:7%a{11}] run",
    ),
    Phrase(
        'dsn|DSN|DATA_SOURCE_NAME|Open("mysql"',
        "before at",
        CLOSER + r"[:=,]=?[ \t]{0,8}+[\"'`]?[\w.-]{1,64}:(?=[^\s:@/\"'`])",
        'dsn := "me:7%a{11}@tcp(db:3306)/x"\n\nsql.Open("mysql", "me:7%a{11}@/x")',
        'dsn := "mysql:host=db;user=me"',
    ),
    Phrase(
        "accounts: ",
        "long run",
        r"\[[\"'`](?:0x)?(?=[0-9a-fA-F])",
        'accounts: ["0x%h{64}"]',
        'accounts: ["0x%h{40}"]',
    ),
    Phrase(
        "snmp-server community |pac key |s-server key ",
        "word",
        r"(?:\d )?(?=\S)",
        "snmp-server community 7%a{11} RW\n\npac key 0 7%a{11}\n\nradius-server key 7%a{11}",
        "snmp-server community <word>",
    ),
    Phrase(
        "API Key|API Secret|Api Key|API key|Secret Key|SECRET Token|Secret Token|Access Token|API Token|API token|Client Secret|Secret key",
        "printed",
        r"[ \t]{0,8}+(?=[\r\n])",
        "API Key\n%h{32}\n\nYour Client Secret\n  %a{32}",
        "API Key\nis needed",
        r"(?:\A|[\r\n])(?:[ \t]|[A-Z][A-Za-z]{0,15} ){0,4}",
        "token",
    ),
    *_tables(),
)  # fmt: skip


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
        rf"{OWN_LINE}|[ \t\0\"'=]|\A",
        r"(?=[^a-z]*[A-Z])[^a-z]*=",
    ),
    Unquoted(
        "docker run -e password=kittens x",
        "docker(e, password=kittens, x)",
        rf"(?:\A|[\s\"'])(?:-[\w-]*[=\w]?|{_OPTION})[\"']?[\w.,=-]{{0,64}}",
        _TIGHT,
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
        r".*:\s*",
        _END,
        not_value=r"[A-Za-z]{0,4}|(?=.*[A-Z])[A-Za-z]+|[A-Za-z_]\w*[.\[|<][\w.\[\]|<{:'\"]*",
    ),
    Unquoted(
        "password = kittens", "    password = kittens", rf"(?:{OWN_LINE})(?<!  )(?<!\t)", r".*[^:\s]\s*", _END
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


class NextLine(NamedTuple):
    """A value in another line than its name; the first row that fits decides.

    Attributes:
        form: how the value is written; see ``nextlines.py``.
        before: what stands before the name in its line, to the end.
        behind: what stands behind the name, up to the line's end.
        goes: lines that lose a secret.
        stays: lines that stay.
        whole: what stands before the name is all of that.
    """

    form: str
    before: str
    behind: str
    goes: str
    stays: str
    whole: bool = False


_ENDED = r"(?>(?:\\?[\"']|</(?:key|t[dh])>)?)\]?+"
_SET = _ENDED + r"[ \t]{0,8}+(?>=>|[:=])[ \t]{0,8}+"
_NO_SIGN = _ENDED + r"[ \t]{0,8}+,?[ \t]{0,8}+"
NEXT_LINES: tuple[NextLine, ...] = (
    NextLine("joined", "", _SET + r"\\", 'API_TOKEN = \\\n    "%a{32}"', "API_TOKEN = \\\n    find"),
    NextLine(
        "value",
        "",
        _SET + r"\{",
        'api_token = {\n  value = "%a{32}"\n}',
        'api_token = {\n  label = "%a{32}"\n}',
    ),
    NextLine(
        "block", "", _SET + r"[|>][-+]?\d?[-+]?", "my_token: |\n  %a{32}\n", "my_token: |\n  see there\n"
    ),
    NextLine(
        "nested",
        r"[ \t]*(?:-[ \t]+)?[\[\"']{0,2}[\w.-]*",
        _ENDED + r"[ \t]{0,8}+(?::|=>)[ \t]{0,8}+",
        "api_token:\n  %a{32}\n",
        "api_token:\n  refresh: %a{32}\n",
        whole=True,
    ),
    NextLine(
        "printed",
        "",
        _ENDED + r"[ \t]{0,8}+:[ \t]{0,8}+",
        "Use the following password:\n  \n%h{32}\n\nyour new token:\n  %a{32}\n",
        "Use the following password:\n%h{32} or none",
    ),
    NextLine(
        "value",
        r"[ \t]*variable[ \t]+[\"'][\w-]*",
        _ENDED + r"[ \t]{0,8}+\{",
        'variable "api_token" {\n  type = string\n  default = "%a{32}"\n}',
        'module "api_token" {\n  type = string\n  default = "%a{32}"\n}',
        whole=True,
    ),
    NextLine(
        "element",
        r"[ \t]*<(?:\w{1,30}:)?[\w.-]*",
        r"[ \t]{0,8}+>",
        "<apiToken>\n    %a{32}\n</apiToken>\n\n"
        "<AdminPassword>\n  <PlainText>true</PlainText>\n  <Value>7%a{11}</Value>\n</AdminPassword>",
        "<apiToken>\n    <x>%a{32}</x>\n</apiToken>",
        whole=True,
    ),
    NextLine(
        "string",
        r"<(?:key|t[dh])>[\w.-]*",
        _NO_SIGN,
        "<key>api_token</key>\n<string>%a{32}</string>\n\n<td>SECRET_KEY</td>\n<td><pre>&#x27;%a{32}&#x27;</pre></td>",
        "<key>api_token</key>\n<date>%a{32}</date>",
    ),
    NextLine(
        "part",
        r"(?i:form-data;.*\bname=\"?)[\w.-]*",
        _NO_SIGN,
        'Content-Disposition: form-data; name="password"\n\r\n7%a{11}',
        'Content-Disposition: form-data; name="password"\n7%a{11}',
    ),
    NextLine(
        "value",
        r"(?:\A|[\s{,\"'-])(?:name|Name|NAME|key|Key|field|variable|header)[\"']?[ \t]*[:=][ \t]*[\"']?[\w.-]*",
        _NO_SIGN,
        "- name: API_TOKEN\n  value: %a{32}",
        "- name: API_TOKEN\n  label: %a{32}",
    ),
    NextLine(
        "printed",
        r">{1,3} {1,2}[\w.:()-]*",
        "",
        "irb(main)> app.secret_key_base\n=> \"%h{128}\"\n\n>>> settings.SECRET_KEY\n'%a{40}'",
        'irb(main)> app.secret_key_base\n=> "%h{128}", 1',
    ),
)
