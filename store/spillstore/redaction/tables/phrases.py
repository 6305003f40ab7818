"""Words that are no part of a name, and behind them a secret: statements of SQL, arguments of calls, headers of tables, prose.

Rows are like those of ``forms.py``, and so are expressions and examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction.tables.forms import ASSIGN, CLOSER, SQL

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
_LOGIN_METHOD = r"\"method\"[ \t]{0,8}+:[ \t]{0,8}+\"[\w./]{0,64}(?i:login|auth(?:enticate|orize)?)\"[ \t]{0,8}+,[ \t]{0,8}+"


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
    Phrase("dentified by", "quoted", r"[ \t]{1,64}+(?=[\"'])", "create user me identified by 'kittens'", "is identified by 'kittens'", SQL),
    Phrase("dentified by", "word", r"[ \t]{1,16}+(?=[^\s=:\"'])", "create user me identified by kittens", "is identified by kittens", SQL),
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
