"""Words that are no part of a name, and behind them a secret: statements of SQL, arguments of calls, headers of tables, prose.

Rows are like those of ``forms.py``, and so are expressions and examples.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.redaction.tables.forms import ASSIGN, CLOSER, MAYBE_QUOTE, SQL

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
    """Words that are no part of a name, and a password behind them; see ``Form``.

    Attributes:
        follows: the class of the byte behind the words, for what is frequent in other texts.
    """

    literals: str
    reads: str
    between: str
    goes: str
    stays: str
    before: str = ""
    promises: str = ""
    back: int = 128
    name: str = ""
    follows: str = ""


_ARGUMENT = (
    r"[ \t]{0,8}+(?:[\w.]{1,64}+(?:\(\))?|\"[^\"\r\n]{0,128}+\"|'[^'\r\n]{0,128}+')[ \t]{0,8}+,[ \t]{0,8}+"
)


# One more argument, and the first ones of a call, behind its bracket.
_NEXT_ARGUMENT = r"[ \t]{0,8}+,[ \t]{0,8}+(?:[\w.]{1,64}+|\"[^\"\r\n]{0,128}+\"|'[^'\r\n]{0,128}+')"
_ARGUMENTS = (
    r"[ \t]{0,8}+(?:[\w.]{1,64}+|\"[^\"\r\n]{0,128}+\"|'[^'\r\n]{0,128}+')(?:"
    + _NEXT_ARGUMENT
    + r"){0,2}[ \t]{0,8}+,[ \t]{0,8}+(?:\w{1,32}=)?[\"'](?=[^\s\"'])"
)

_OF_A_KEY = r"(?:type|typ|management|mgmt|size|length|name|id|index|format|rotation|exchange|version)\b"
_NARROW = r"(?>(?:\xc2\xa0|\xe2\x80\xaf)?)"  # a blank that no line ends in, before a colon of French
# What stands between the words and a value in several phrases; what stands before some of them.
_STRING = r"[ \t]{1,64}+(?=[\"'])"
_BARE = r"[ \t]{1,16}+(?=[^\s=:\"'])"
_NO_COLON = r"(?:\A|[^:])"
_LINE = r"[^\r\n]{0,96}+(?=[\r\n])"
_LINE_END = r"[ \t]{0,8}+(?=[\r\n])"

# What makes a secret, and prints it.
_MAKERS = "keygen|genkey|oken create|okens create|oken generate|oken new|key generate|ecret generate|keyring generate|64decode"

PHRASES: tuple[Phrase, ...] = (
    Phrase(
        "and password |with password |and passwd |and pass ",
        "typed",
        "(?:is |of |= ?)?[\"'`]?(?=[^\\s\"'`])",
        "username me and password Kit%a{8}7.x\n\nwith username me and password `Kit%a{8}7!`, please",
        "both name and password Authentication2-modes.txt",
        follows="[A-Za-z0-9\"'`=]",
    ),
    Phrase(
        "pass `|passwd `|pwd `|pw `",
        "typed",
        "",
        "user `admin`, pass `Kit%a{8}7.x`",
        "pass `None` or pass `--flag`",
        follows="[A-Za-z0-9]",
    ),
    Phrase(
        'root:|dmin:|dministrator:|root": "|dmin": "',
        "field",
        "[ \t]{0,16}+[\"']?(?=[^\\s\"'])",
        "root:Kit%a{8}7.x:1001\n\nroot:       Kit%a{8}7.x\n\n  vault_root: Kit%a{8}7!",
        "root: /Srv/App7",
        r"(?:\A|[\r\n])[ \t]*(?:-[ \t]+)?[\"']?(?:\w{1,32}_)?[aA]?",
        follows="[A-Za-z0-9 \"'!#%+*]",
    ),
    Phrase(
        "asicAuth|asic_auth|asic-auth",
        "option",
        ASSIGN + r"[\"']?[\w.@\\-]{1,64}:(?=[^\s:/\"'$])",
        'basicAuth: "me:7%a{11}"\n\n"basic_auth": "me:7%a{11}"',
        "basicAuth: {user: me}\nbasicAuth: me:words",
    ),
    Phrase(
        _MAKERS,
        "printed",
        r"[^\r\n]{0,96}+(?=[\r\n])",
        "$ consul keygen\n%b{43}=\n\n$ tool tokens create --ttl 1h\n%a{40}\n\n$ kubectl -o go-template='{{.data.x|base64decode}}'\n7%a{11}",
        "$ ssh-keygen -t rsa\ncreated\nrun keygen\n%a{40}",
        r"(?:\A|[\r\n])[^\r\n$#>]{0,96}[$#>] [^\r\n]{0,128}",
        "token",
        240,
    ),
    Phrase(
        "auth: |UTH=|UTH: |BASIC=|REDS=|REDS: |OGIN=|OGIN: |redentials=|reds: |reds=|reds |reds are |redentials are |auth_basic ",
        "typed",
        r"[\[({]?b?[\"']?[\w.@\\+-]{1,64}[\"']?[ \t]?[:,/][ \t]?b?[\"'`]?(?=[^\s\"'`])",
        "creds are me:Kit%a{8}7.x\n\nHTTP_AUTH: \"me:Kit%a{8}7!\"\n\ncredentials=('me', 'Kit%a{8}7.x')",
        "auth: sha256:Kit%a{8}7.txt\nlogin=me, File7x.txt",
        follows="[A-Za-z0-9\"'\\[({]",
    ),
    Phrase(
        "(admin / |(root / |(admin/|(root/|(admin:|(root:|(admin, |(user: ",
        "typed",
        r"(?>(?:[\w.@-]{1,48}[ \t]?[,/][ \t]?(?:p\w{1,7}:[ \t])?)?)(?=\S)",
        "- Panel: https://x.example.com (admin / Kit%a{8}7.x)\n\nthe server (user: me, pw: Kit%a{8}7.x)",
        "the server (admin / Kittens)",
    ),
    Phrase(
        'AES "|SHA "|MD5 "|DES "',
        "typed",
        "",
        'createUser me SHA "Kit%a{8}7.x" AES "Kit%a{8}7!"',
        'createUser me SHA "kittens" AES "kittens"\nthe SHA "Kit%a{8}7.x"',
        r"createUser[ \t][^\r\n]{1,96}",
    ),
    Phrase(
        '"-p', "typed", r"(?>(?:\",[ \t]?\")?)(?=[^\s\"-])", '["mysql", "-uroot", "-pKit%a{8}7.x"]\n\n["tool", "-p", "Kit%a{8}7.x"]', '["tool", "-p", "8080:80"]'
    ),
    Phrase(
        "-o user=|-o username=|cifs user=|cifs username=",
        "typed",
        r"[\w.\\/-]{1,64}%(?=\S)",
        "mount -t cifs //h/s /mnt -o user=me%Kit%a{8}7.x",
        "mount -o user=me%20Kit",
    ),
    Phrase(
        "-v2c -c |-v1 -c |-v 2c -c |-v 1 -c ",
        "signed",
        r"[\"']?(?=[^\s\"'])",
        "$ snmpget -v2c -c Kit%a{8}7!x 10.0.0.1 x",
        "$ snmpget -v2c -c public 10.0.0.1 x\nbash -v1 -c Kit%a{8}7!x",
        r"\bsnmp\w{2,12}[ \t][^\r\n]{0,96}",
    ),
    Phrase(
        ":auth(|.auth(|.AUTH(|.requirepass(",
        "signed",
        r"[\"'](?=[^\s\"'])",
        'redis:auth("Kit%a{8}7!x")',
        'app.auth("me7@Host.example.com")\napp.auth("Kitten2Provider")',
    ),
    Phrase(
        "setsteamaccount |pypi-token.|--plaintext |--plaintext=|--plain-text ",
        "option",
        r"(?>(?:[\w-]{1,64}[ \t])?)(?=\S)",
        "sv_setsteamaccount %H{32}\n\npoetry config pypi-token.x 7%a{40}\n\ncaddy hash-password --plaintext 7%a{11}",
        "caddy hash-password --plaintext <password>",
    ),
    Phrase(
        "-serial |/ipk |erial key: |erial Key: |roduct key: |roduct Key: |roduct Key : |icense key: |icense Key: |icence key: |ctivation key: |CD key: |CD-Key: ",
        "grouped",
        r"[ \t]{0,8}[\"']?(?=[A-Z0-9])",
        "unity -batchmode -serial SB-%U{3}7-A%U{3}-%U{4}-%U{4}-%U{4}\n\nslmgr /ipk A%U{4}-7%U{4}-%U{5}-%U{5}-%U{5}",
        "tool -serial 1234-5678-9012-3456-7890",
        promises="token",
    ),
    Phrase(
        "userid=|USERID=",
        "before at",
        r"[\"']?[\w$#]{1,64}/(?=[^\s@/])",
        "expdp userid=me/7%a{11}@db",
        "userid=me@db/x",
    ),
    Phrase(
        " catalog | auxiliary ",
        "before at",
        r"[\"']?[\w$#]{1,64}/(?=[^\s@/])",
        "rman target / catalog me/7%a{11}@cat",
        "the catalog me/7%a{11}@cat",
        r"(?:\A|[\s])rman[ \t][^\r\n]{0,128}",
    ),
    Phrase(
        "addresses=",
        "typed",
        r"[\da-f.:/,]{3,96} (?:[\w-]{1,24}=[^\s\"=]{1,32} ){0,3}name=\"?(?=\w)",
        "add addresses=10.1.0.0/24 name=Kit%a{8}7",
        "add addresses=10.1.0.0/24 name=public",
    ),
    Phrase(
        "github-oauth.|gitlab-oauth.|gitlab-token.|bitbucket-oauth.",
        "issued",
        r"[\w.-]{1,64} (?:[\w-]{1,48} )?(?=\w)",
        "composer config -g github-oauth.github.com %h{40}",
        "composer config -g github-oauth.github.com <token>",
        promises="token",
    ),
    Phrase(
        "full-tokenid ",
        "framed",
        r"[^\r\n]{1,200}+(?=[\r\n])",
        "│ full-tokenid │ me@pam!x │\n├───┼───┤\n│ info │ {} │\n├───┼───┤\n│ value │ %h{8}-%h{4}-%h{4}-%h{4}-%h{12} │",
        "│ full-tokenid │ me@pam!x │\n├───┼───┤\n│ label │ %h{8}-%h{4}-%h{4}-%h{4}-%h{12} │",
        promises="token",
    ),
    Phrase(
        '"bearer":|"http-basic":|"github-oauth":|"gitlab-oauth":|"gitlab-token":|"bitbucket-oauth":|"x-access-token":',
        "hosted",
        r"[ \t]{0,8}\{[ \t]{0,8}+(?=[\r\n])",
        '"bearer": {\n    "h.example.com": "%a{32}"\n}',
        '"bearer": {\n    "label": "%a{32}"\n}',
        promises="token",
    ),
    Phrase(
        "ttempt [",
        "typed",
        r"(?:b?[\"'])?[\w.@-]{1,64}[\"']?/(?:b?[\"'])?(?=[^\s\"'])",
        "login attempt [root/Kit%a{8}7.x] failed\n\nlogin attempt [b'root'/b'Kit%a{8}7.x'] failed",
        "attempt [1/3] of Kit%a{8}7",
    ),
    Phrase(
        "[+] ",
        "typed",
        r"(?>(?:[^\s:]{1,64}:\d{1,5} - [\w ]{1,32}: [\"']?)?)(?>(?:[\w.-]{1,32}\\{1,2})?)[\w.$-]{1,64}:(?=\S)",
        "SMB h DC [+] corp\\\\me:Kit%a{8}7.x (x)\n\n[+] 10.0.0.5:22 - Success: 'root:Kit%a{8}7.x'",
        "[+] Building: Kit%a{8}7",
    ),
    Phrase(
        "echo '|echo \"|echo -n '|echo -n \"",
        "signed",
        "",
        "echo 'Kit%a{8}7!x' | tool open -",
        "echo 'Kit7ten.txt' | tool open -",
        follows="[A-Za-z0-9]",
    ),
    Phrase(
        "PASS ",
        "signed",
        r"(?=\S)",
        "USER me\nPASS Kit%a{8}7!x",
        "PASS TestKittens7",
        r"(?:\A|[\r\n])",
        follows="[A-Za-z0-9]",
    ),
    Phrase(
        "AUTH ",
        "typed",
        r"(?=\S)",
        'AUTH Kit%a{8}7.x\n\nwrite(7, "AUTH Kit%a{8}7.x\\r\\n", 22) = 22',
        "AUTH LOGIN",
        r"(?:\A|[\r\n]|\")",
        follows="[A-Za-z0-9]",
    ),
    Phrase(
        "ogin with |og in with |og in as |ogged in as |ogin as ",
        "typed",
        r"[\"'`]?[\w.@-]{1,64}[\"'`]?(?: and | with | / |:|/)[\"'`]?(?=[^\s\"'`])",
        "log in as me with Kit%a{8}7.x\n\nlogin with me:Kit%a{8}7.x",
        "log in as me with OAuth2-tokens.txt",
    ),
    Phrase(
        "p_login(|auth_password(",
        "typed",
        r"[^(),\r\n]{1,64},[ \t]{0,4}[\"'][^\"'\r\n]{1,64}[\"'],[ \t]{0,4}[\"'](?=[^\s\"'])",
        "ftp_login($c, 'me', 'Kit%a{8}7.x');",
        "ftp_login($c, 'me', $password);",
    ),
    Phrase(
        "334 UGFzc3dvcmQ6",
        "printed",
        r"[^\r\n]{0,8}+(?=[\r\n])",
        "334 UGFzc3dvcmQ6\nS2l0%a{16}7",
        "334 UGFzc3dvcmQ6\n535 failed",
    ),
    Phrase(
        "pass is |pw is |pwd is |passwd is |assword changed to |assword updated to |assword reset to |assword from |ogin changed to ",
        "typed",
        "[\"'`]?(?=[^\\s\"'`])",
        "the pass is Kit%a{8}7.x\n\npassword changed to Kit%a{8}7.x",
        "the pass is done by Kit%a{8}7",
        follows="[A-Za-z0-9\"'`]",
    ),
    Phrase(
        "hared-key |key-string |psksecret |authentication-key |ascii 0 |ascii 7 |auth sha |auth md5 |v aes 128 |v aes 256 |v des |Priv SHA |Priv MD5 |sec psk ",
        "typed",
        r"(?>(?:\d{1,5} (?:md5|sha\d*|hmac-\S{1,16}) )?)[\"']?(?=[^\s\"'])",
        "ntp authentication-key 1 md5 Kit%a{8}7.x\n\npre-shared-key Kit%a{8}7.x\n\nuser u g v3 auth sha Kit%a{8}7.x priv aes 128 Kit%a{8}7!",
        "auth sha 256 of Kit%a{8}7",
        follows="[A-Za-z0-9\"']",
    ),
    Phrase(
        "mysqladmin",
        "typed",
        r"[^\r\n]{0,128}?[ \t\"',]password[\"']?,?[ \t]{1,4}[\"']?(?=[^\s\"'-])",
        'mysqladmin -u root password Kit%a{8}7.x\n\n["mysqladmin", "-u", "root", "password", "Kit%a{8}7!"]',
        "mysqladmin -u root password <word>",
    ),
    Phrase(
        "SETUSER |setuser ",
        "word",
        r"[^\r\n>]{1,96}>(?=[^\s<])",
        "ACL SETUSER me on >7%a{11} ~*",
        "ACL SETUSER me on nopass ~*",
    ),
    Phrase(
        's VALUES |s` VALUES |s" VALUES |s values ',
        "rows",
        r"[ \t]{0,8}+(?=\()",
        "INSERT INTO `users` VALUES (1,'me','me@h.example','Kit%a{8}7.x','2024-01-01'),(2,'you','Kit%a{8}7!');",
        "INSERT INTO users VALUES (1,'me','me@h.example','File7.txt','2024-01-01');",
        r"(?i:into )[`\"]?(?:\w{1,64}\.)?[`\"]?(?:\w{1,32}_)?(?i:user|account|credential|customer|member|login|admin)",
    ),
    Phrase(
        "SET value = '|SET value='|SET `value` = '|set value = '",
        "named behind",
        r"(?<=')(?=[^'])",
        "UPDATE settings SET value = '7%a{11}' WHERE name = 'smtp_password';",
        "UPDATE settings SET value = '7%a{11}' WHERE name = 'smtp_host';",
    ),
    Phrase(
        "oken\t|OKEN\t",
        "long run",
        "(?=[A-Za-z0-9+/])",
        "AUTHORIZATIONTOKEN\t%b{160}\t2025-02-12",
        "TOKEN\tnone",
        promises="token",
    ),
    Phrase(
        "PIN of |PIN for |pin for ",
        "digits",
        r"[^\r\n:\d]{1,32}(?: is|:) (?=\d)",
        "PIN of the safe is 4%d{5}",
        "PIN of the safe is short",
        promises="code",
    ),
    Phrase(
        "DENTIFIED BY",
        "word",
        r"[ \t]{1,16}'\\''(?=[^\s'])",
        r"+ mysql -e 'ALTER USER x IDENTIFIED BY '\''7%a{11}'\'' '",
        r"+ mysql -e 'ALTER USER x IDENTIFIED BY '\''<word>'\'' '",
    ),
    Phrase("DENTIFIED BY", "value", _STRING, "IDENTIFIED BY 'kittens'", "IDENTIFIED BY ''"),
    Phrase("DENTIFIED BY", "word", _BARE, "IDENTIFIED BY kittens", "IDENTIFIED BY <word>"),
    Phrase("dentified by", "quoted", _STRING, "create user me identified by 'kittens'", "is identified by 'kittens'", SQL),
    Phrase("dentified by", "word", _BARE, "create user me identified by kittens", "is identified by kittens", SQL),
    Phrase("dentified by", "drawn", _STRING, "identified by '7%a{11}'", "identified by 'kittens'"),
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
        "Пароля|пароля|Парола|парола",
        "value",
        ASSIGN,
        "пароля: 7%a{11}",
        "a:пароля:7%a{11}",
        _NO_COLON,
    ),
    Phrase(
        "ifre",
        "value",
        ASSIGN,
        "Şifre: 7%a{11}",
        "ifre: 7%a{11}",
        r"\xc5[\x9e\x9f]",
    ),
    Phrase(
        "Jelsz|jelsz",
        "value",
        r"(?:\xc3\xb3|ava)" + ASSIGN,
        "Jelszó: 7%a{11}",
        "a:Jelszó:7%a{11}",
        _NO_COLON,
    ),
    Phrase(
        "密",
        "value",
        f"(?:钥|鑰)(?:为|是|為)?{ASSIGN}",
        "密钥：%h{32}\n\nAPI 密鑰: %a{40}",  # noqa: RUF001  # a colon of Chinese
        "密钥：refresh",  # noqa: RUF001  # a colon of Chinese
        promises="token",
    ),
    Phrase(
        "令|トー",
        "value",
        f"(?:牌|クン)(?:为|是|為)?{ASSIGN}",
        "令牌：%h{32}\n\nトークン: %a{40}",  # noqa: RUF001  # a colon of Chinese
        "令牌：refresh",  # noqa: RUF001  # a colon of Chinese
        promises="token",
    ),
    Phrase(
        "Clé API|clé API|Clé secr|clé secr|Clave API|clave API|Clave secreta|clave secreta|Chave de API|chave de API|Chave API|Chave secreta|chave secreta|API-Schl|Geheimschl"
        "|Zugriffsschl|Chiave API|chiave API|Klucz API|klucz API|API-nyckel|API-sleutel|API anahtar|Jeton|jeton d",
        "value",
        rf"[^\s:=,;()]{{0,24}}(?:[ \t][^\s:=,;()]{{1,48}}){{0,3}}{_NARROW}" + ASSIGN,
        "Clé API : %h{32}\n\nAPI-Schlüssel: %a{40}\n\nJeton d'accès\u202f: %a{40}",
        "Jeton : refresh",
        _NO_COLON,
        "token",
    ),
    Phrase(
        "ot de passe|mdp|Mdp|MDP",
        "value",
        _NARROW + ASSIGN,
        "mdp : 7%a{11}\n\nFTP_MDP=7%a{11}\n\nMot de passe\u202f: 7%a{11}",
        "mdp = MDP(grid)\namdp: 7%a{11}",
        r"(?:\A|[^A-Za-z])[Mm]?",
    ),
    Phrase(
        "пароль |Пароль |mot de passe |Mot de passe |contraseña |Contraseña |senha |Senha |hasło |Hasło |wachtwoord |Wachtwoord |parola |heslo |salasana |adgangskode ",
        "signed",
        r"(?>(?:(?:est|es|is|é|ist|jest|je|on|er|это)[ \t]{1,2})?)(?>(?:[\"'`]|\xc2\xab(?:\xc2\xa0)?)?)(?=[^\s\"'`])",
        "votre mot de passe est Kit%a{8}7!x\n\nпароль Kit%a{8}7!x на сервер",  # noqa: RUF001  # letters of other alphabets
        "votre mot de passe est Kittens7",
    ),
    Phrase(
        "jeton |Jeton |clé |clave |chave ",
        "alone",
        r"(?=[A-Za-z0-9])",
        "voici le jeton %a{40}",
        "voici la clé secondaire",
        promises="token",
    ),
    Phrase(
        "i-Fi key|iFi key|i-Fi Key|iFi Key|wifi key|WPA key|WPA2 key|WPA Key|WEP key|etwork key|etwork security key|WLAN-Schl|Netzwerkschl"
        "|Netzwerksicherheitsschl|Sicherheitsschl|Clé Wi|clé Wi|Clé WiFi|clé WiFi|Clé WPA|clé WPA|Clé réseau|clé réseau|Clef W|clef W|Clé de sécurité|clé de sécurité|Clave Wi|clave Wi|Clave de red"
        "|Chave Wi|chave Wi|Chiave Wi|Chiave di rete",
        "column",
        rf"[^\s:=,;()-]{{0,16}}(?:[ \t-](?!{_OF_A_KEY})[^\s:=,;()-]{{1,24}}){{0,3}}{_NARROW}[ \t]{{0,16}}[:=][ \t]{{1,4}}(?=\S)",
        "WPA key: 7%a{11}\n\nClé Wi-Fi : 7%a{11}\n\nWLAN-Schlüssel: 7%a{11}",
        "WPA key: required\nWi-Fi key size: 12.5 bits",
    ),
    Phrase(
        "口令|пароль|Пароль|contraseña|Contraseña|senha|Senha|passe|wachtwoord|Wachtwoord|hasło|Hasło|비밀번호|비번|암호"
        "|senord|parola|Parola|heslo|Heslo|şifre|clave|Clave|salasana|Salasana|adgangskode|Adgangskode|passord|Passord"
        "|lozinka|Lozinka|kata sandi|Kata sandi",
        "value",
        ASSIGN,
        "пароль: 7%a{11}\n\n口令: 7%a{11}",
        "a:пароль:7%a{11}",
        _NO_COLON,
    ),
    Phrase(
        SERVICES.replace(" ", "|"),
        "issued",
        ASSIGN + MAYBE_QUOTE,
        'deepgram = "%h{40}"\n\nx_ai: %h{8}-%h{4}-%h{4}-%h{4}-%h{12}',
        "deepgram = %h{7}\nacme = %h{40}\ndeepgram.%h{40}",
        r"(?:\A|[^A-Za-z0-9])",
        "token",
    ),
    Phrase(
        "_api=|_api =|_api:|-api:|-api =|_API=|_API =|_API:",
        "issued",
        r"[ \t]{0,8}+(?=[\w\"'])" + MAYBE_QUOTE,
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
        follows=r"[ \t\"']",
    ),
    Phrase(
        "密",
        "value",
        f"(?:码|碼)(?:为|是|為|已重置为)?{ASSIGN}",
        "密码：7%a{11}\n\n密碼: 7%a{11}\n\n密码为：7%a{11}",  # noqa: RUF001  # a colon of Chinese
        "a:密码:7%a{11}",
        _NO_COLON,
    ),
    Phrase(
        "패스|パス",
        "value",
        f"(?:워드|ワード){ASSIGN}",
        "パスワード: 7%a{11}",
        "a:パスワード:7%a{11}",
        _NO_COLON,
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
        ".login('|.login(\"",
        "chosen",
        r"[^\"'\r\n]{1,128}+[\"'][ \t]{0,8}+,[ \t]{0,8}+(?=[\"'])",
        "smtp.login('me@host.example', '7f3%a{11}9')",
        "smtp.login('me@host.example', 'kittens')",
    ),
    Phrase(
        "ignIn(|ign_in(|log_in(|redentials(|redential(|asicAuth(|asic_auth(|etAuth(|WiFi.begin(|uth_login(",
        "typed",
        _ARGUMENTS,
        "client.basicAuth('me', 'Kit%a{8}7.x')\n\nSetBasicAuth(user, \"Kitten1%d{3}.x\")",
        "client.signIn('me', 'File7x.txt')\nclient.basicAuth('me', ReadKitten7)",
    ),
    Phrase(
        "ogin('|ogin(\"|uthenticate('|uthenticate(\"|onnect('|onnect(\"",
        "typed",
        r"[^\"'\r\n]{0,128}+[\"'](?:" + _NEXT_ARGUMENT + r"){0,2}[ \t]{0,8}+,[ \t]{0,8}+(?:\w{1,32}=)?[\"'](?=[^\s\"'])",
        "ssh.connect('h.example', 22, 'me', 'Kit%a{8}7.x')\n\nclient.authenticate(\"me\", \"Kitten1%d{3}.x\")",
        "client.connect('h.example', 'File7x.txt')\nclient.connect('h.example', ReadKitten7)",
    ),
    Phrase(
        "Login(|log_in(|Credentials(|Credential(|AuthenticationToken(|TokenAuth(|authenticate(",
        "drawn",
        _ARGUMENT + r"(?=[\"'])",
        "client.log_in('me', '7f3%a{11}9')",
        "client.log_in('me', 'kittens')",
    ),
    Phrase(
        "SET PASSWORD FROM ",
        "quoted",
        r"(?>(?:'[^'\r\n]{1,128}+'[ \t]+TO[ \t]+)?)(?=')",
        "ALTER CURRENT USER SET PASSWORD FROM 'kittens' TO 'kittens'",
        "SET PASSWORD FROM $old TO $new",
    ),
    Phrase(
        "SET PASSWORD FROM ",
        "quoted",
        r"(?=')",
        "SET PASSWORD FROM 'kittens' TO $new",
        "SET PASSWORD FROM '' TO $new",
    ),
    Phrase(
        "SET PASSWORD FOR ",
        "quoted",
        r"[^\r\n=]{1,128}+=[ \t]{0,8}+(?>(?:PASSWORD\()?)(?=[\"'])",
        "SET PASSWORD FOR 'me'@'%%' = 'kittens';",
        "SET PASSWORD FOR 'me'@'%%' = ?;",
    ),
    Phrase(
        ": PSK |: EAP |: XAUTH ",
        "quoted",
        r"(?=[\"'])",
        '10.0.0.1 10.0.0.2 : PSK "kittens"',
        "the key is : PSK or none",
    ),
    Phrase(
        "insecure-password ",
        "word",
        r"(?=\S)",
        "user me insecure-password kittens",
        "user me insecure-password <word>",
    ),
    Phrase(
        "PASSWORD kibana|PASSWORD elastic|PASSWORD apm_|PASSWORD logstash_|PASSWORD beats_|PASSWORD remote_",
        "word",
        r"\w{0,32} = (?=\S)",
        "PASSWORD kibana_system = %a{20}",
        "PASSWORD elastic = <word>",
    ),
    Phrase(
        " LOGIN ",
        "quoted",
        r"[\"']?[\w.@+-]{1,64}[\"']?[ \t]{1,4}+(?=\")",
        'a1 LOGIN me@host.example "7%a{11}"',
        'the LOGIN page "7%a{11}"',
        r"(?:\A|[\r\n]|C: )[A-Za-z]{0,4}\d{1,6}",
    ),
    Phrase(
        " LOGIN ",
        "column",
        r"[\"']?[\w.@+-]{1,64}[\"']?[ \t]{1,4}+(?=\S)",
        "a1 LOGIN me@host.example 7%a{11}",
        "the LOGIN page 7%a{11}",
        r"(?:\A|[\r\n]|C: )[A-Za-z]{0,4}\d{1,6}",
    ),
    Phrase(
        "userPassword:: |unicodePwd:: |RootPW:: ",
        "word",
        r"(?=\S)",
        "userPassword:: S2l0dGVucz%d{2}cw==",
        "userPassword:: <word>",
    ),
    Phrase(
        "ecovery code: |ecovery Code: |ecovery code |ackup code: |ctivation code: |ctivation key: |nrollment code: |airing key: ",
        "alone",
        "",
        "Recovery code: %a{24}",
        "Recovery code: see below",
        promises="token",
    ),
    Phrase(
        "RLANG_COOKIE|abbit_cookie|ABBIT_COOKIE|rlang Cookie|rlangCookie|RLang Cookie",
        "value",
        ASSIGN,
        "RABBITMQ_ERLANG_COOKIE=%a{32}",
        "RABBITMQ_ERLANG_COOKIE=$COOKIE",
        promises="token",
    ),
    Phrase(
        '"keyName":|"KeyName":',
        "below",
        r"[ \t]{0,8}+\"key\d\",?[ \t]{0,8}+(?=[\r\n])",
        '"keyName": "key1",\n"permissions": "FULL",\n"value": "%b{86}=="',
        '"keyName": "deploy",\n"permissions": "FULL",\n"value": "%b{86}=="',
        promises="token",
    ),
    Phrase(
        '"key1":|"key2":',
        "issued",
        r"[ \t]{0,8}+\"",
        '{"key1": "%h{32}",\n"key2": "%h{32}"}',
        '{"key1": "value1", "key2": "value2"}',
        promises="token",
    ),
    Phrase(
        '"username":',
        "quoted",
        r"[ \t]?\"[\w.-]{1,64}\",[ \t]?\"key\":[ \t]?(?=\")",
        '{"username":"me","key":"%h{32}"}',
        '{"username":"me","key":"value"}',
        promises="long",
    ),
    Phrase(
        "plain-text-password-value ",
        "quoted",
        r"(?=[\"'])",
        'root-authentication plain-text-password-value "kittens"',
        "plain-text-password-value is asked for",
    ),
    Phrase(
        "assword,ParameterValue=|ecret,ParameterValue=|oken,ParameterValue=|assword,value=|ecret,value=|oken,value=|assword --value=|ecret --value="
        "|oken --value=",
        "word",
        r"[\"']?(?=[^\s\"'])",
        "ParameterKey=DbPassword,ParameterValue=7%a{11}\n\nx config:set dbpassword --value=7%a{11}",
        "ParameterKey=DbPassword,ParameterValue=$PASSWORD",
    ),
    Phrase(
        "ecrets set |ecret set |ecret put |onfig:set |onfig set |nv set |nv:set |nv add |-auth ",
        "signed",
        r"(?>(?:[\w./-]{1,64}(?:=|[ \t]{1,4}))?)[\"']?(?=[^\s\"'=])",
        "$ tool secrets set DB=Kit%a{8}7!x\n\ntool --redis-auth Kit%a{8}7!x",
        "$ tool secrets set DB=Kitten7.txt\n$ tool config set path Kitten7",
    ),
    Phrase(
        ".dockerconfigjson: |.dockercfg: ",
        "long run",
        r"[\"']?(?=[A-Za-z0-9])",
        ".dockerconfigjson: %b{200}==",
        ".dockerconfigjson: none",
        promises="secret",
    ),
    Phrase(
        "acs-server |dius-server |acs server |dius server ",
        "mixed",
        r"[^\r\n]{1,96}?[ \t]key[ \t](?:\d[ \t])?(?=[^\s\"'])",
        "tacacs-server host 10.0.0.1 key 7%a{11}",
        "tacacs-server host 10.0.0.1 key kittens",
    ),
    Phrase(
        "key 0 |key 6 |key 7 ",
        "mixed",
        r"(?=[^\s\"'])",
        " key 7 %H{24}",
        " key 7 kittens\nthe key 7 %H{24}",
        r"(?:\A|[\r\n])[ \t]*",
        back=64,
    ),
    Phrase(
        "printf '|printf \"",
        "signed",
        r"(?![^\"'\r\n]*%)",
        "printf 'Kit%a{8}7!x' | tool open -",
        'printf "Kitten_%04d.x"',
        follows="[A-Za-z0-9]",
    ),
    Phrase(
        "ackup codes|ackup Codes|ecovery codes|ecovery Codes|cratch codes|mergency codes",
        "codes",
        _LINE,
        "Your backup codes:\n  %d{8}\n  4%d{7}\n\nRecovery codes\n1. %h{4}7-a%h{4}\n2. %h{4}7-a%h{4}",
        "Your backup codes:\n  see below\n  %d{8}",
    ),
    Phrase(
        "asic_auth:|asicAuth:|asic-auth:|chpasswd:|users:|Users:|ccounts:|asswords:|redentials:|ogins:",
        "logins",
        r"[ \t]{0,4}+[|>]?[-+]?[ \t]{0,4}+(?=[\r\n])",
        'chpasswd:\n  list: |\n    root:Kit%a{8}7!x\n    me:Kitten1%d{3}.x\n\nusers:\n  me: Kit%a{8}7!x\n  you: "Kitten1%d{3}.x"',
        "users:\n  me: Kitten7.txt\n  you: Kitten7\nusers:\nme\nyou: Kitten1%d{3}.x",
        follows=r"[\r\n \t]",
    ),
    Phrase(
        '"d":|"p":|"q":|"dp":|"dq":|"qi":|"k":',
        "of a key",
        r"[ \t]{0,4}+\"(?=[\w-])",
        '{"kty": "EC", "d": "%w{43}"}\n\n"k":"%w{43}"',
        '{"d": "%h{64}"}\n{"k": "%w{20}"}',
    ),
    Phrase(
        "openssl rand |pwgen |apg |dumpprivkey |genkey|.erlang.cookie|makepasswd|diceware|mkpasswd ",
        "printed",
        _LINE,
        "root@h:~# openssl rand -base64 32\n%b{43}=\n\n% pwgen -s 24 1\n%a{24}\n\n$ cat ~/.erlang.cookie\n%a{20}",
        "with openssl rand -base64 32\n%b{43}=",
        r"(?:\A|[\r\n])[^\r\n$#%>]{0,64}[$#%>] [^\r\n]{0,64}",
        "token",
        160,
    ),
    Phrase("::add-mask::", "word", r"(?=\S)", "::add-mask::%a{12}", "::add-mask::$TOKEN"),
    Phrase(
        "SET requirepass |set requirepass |SET masterauth ",
        "word",
        r"(?=\S)",
        "redis:6379> CONFIG SET requirepass 7%a{11}",
        "redis:6379> CONFIG SET requirepass <password>",
    ),
    Phrase(
        '"primaryKey":|"secondaryKey":',
        "quoted",
        r"[ \t]?(?=\")",
        '"primaryKey": "%b{43}=",\n"secondaryKey": "%h{32}"',
        '"primaryKey": "%d{9}"',
        promises="long",
    ),
    Phrase(
        "-setcookie ",
        "word",
        r"(?=\S)",
        "-setcookie 7%a{19}",
        "-setcookie <cookie>",
        r"(?:\A|\s)",
    ),
    Phrase(
        "Fernet(|hmac.new(|GetBytes(|algoliasearch(|createHmac(|Stripe(|APIClient(|WebClient(",
        "drawn",
        rf"(?>(?:{_ARGUMENT})?)b?(?=[\"'])",
        "Fernet(b'%a{43}=')\n\nhmac.new(b'%h{32}', text, hashlib.sha256)\n\nconst x = algoliasearch('APP4ID', '%h{32}')",
        "hmac.new(key, b'text', hashlib.sha256)",
        promises="token",
    ),
    Phrase(
        "TeleBot(|Telegraf(|OpenAI(|Anthropic(|Octokit(|Github(|SendGridAPIClient(",
        "issued",
        r"[\"'](?=\w)",
        'client = OpenAI("%a{32}")\n\ng = Github("%h{40}")',
        'client = OpenAI("gpt-4o-Mini2")',
        promises="token",
    ),
    Phrase(
        "jwt.encode(|jwt.decode(|jwt.sign(|jwt.verify(|signWith(",
        "drawn",
        r"[^\"'\r\n]{0,64}(?:[\"'][^\"'\r\n]{0,64}[\"'][^\"'\r\n]{1,64}){0,3},[ \t]{0,8}+(?=[\"'])",
        'jwt.encode({"a": 1}, "%a{32}", algorithm="HS256")\n\nsignWith(HS256, "%a{32}")',
        'jwt.encode({"a": 1}, key, "HS256")',
        promises="token",
    ),
    Phrase(
        'Client("AC|Client(\'AC',
        "issued",
        r"[0-9a-f]{32}[\"'][ \t]{0,8}+,[ \t]{0,8}+[\"']",
        'Client("AC0123456789abcdef0123456789abcdef", "%h{32}")',
        'Client("AC0123456789abcdef0123456789abcdef", token)',
        promises="token",
    ),
    Phrase(
        '"Plaintext":|"encoded":',
        "quoted",
        r"[ \t]?(?=\")",
        '{"Plaintext": "%b{43}="}\n\n{"encoded":"%b{59}="}',
        '{"encoded": "some text of 2024"}',
        promises="long",
    ),
    Phrase(
        "SecureString\t",
        "word",
        r"(?=\S)",
        "/x/db\tSecureString\t7%a{11}\t1",
        "/x/db\tSecureString\t<value>",
    ),
    Phrase(
        "Debugger PIN: |NickServ IDENTIFY |NickServ identify ",
        "word",
        r"(?>(?:[\w-]{1,32}[ \t]+(?=\S))?)(?=\S)",
        " * Debugger PIN: %d{3}-%d{3}-%d{3}\n\n/msg NickServ IDENTIFY 7%a{11}\n\n/msg NickServ IDENTIFY me 7%a{11}",
        "/msg NickServ IDENTIFY <password>",
    ),
    Phrase(
        "Application key ",
        "long run",
        r"\[base64:",
        "Application key [base64:%b{86}==] set",
        "Application key [name] set",
        promises="token",
    ),
    Phrase(
        "register => ",
        "before at",
        r"[\w.+-]{1,64}:(?=[^\s:@/])",
        "register => me:7%a{11}@sip.host.example",
        "register => me@sip.host.example",
    ),
    Phrase(
        "ascii-text ",
        "quoted",
        r"(?=[\"'])",
        'pre-shared-key ascii-text "kittens";',
        "pre-shared-key ascii-text is asked for",
    ),
    Phrase(
        "psk ascii |message-digest-key |tacacs-server key |enable password |enable secret ",
        "mixed",
        r"(?:\d{1,3}[ \t]md5[ \t])?(?:\d[ \t])?(?=[^\s\"'])",
        " ip ospf message-digest-key 1 md5 7%a{11}\n\nenable secret 0 7%a{11}",
        "wpa-psk ascii 0 kittens",
        r"(?:\A|[\r\n])[ \t]*(?:[\w-]{1,24}[ \t-]){0,4}",
        back=96,
    ),
    Phrase(
        "username ",
        "mixed",
        r"\w{1,32}[ \t](?:privilege[ \t]\d{1,2}[ \t])?(?:password|secret)[ \t](?:\d[ \t])?(?=[^\s\"'])",
        "username me privilege 15 secret 0 7%a{11}",
        "username me secret kittens",
        r"(?:\A|[\r\n])[ \t]*",
        back=64,
    ),
    Phrase(
        '"type": "secret",|"type" : "secret",|"type": "SECRET",|type: SECRET',
        "below",
        _LINE_END,
        '"type" : "secret",\n"value" : "%a{32}"\n\ntype: SECRET\nvalue: %a{32}',
        '"type": "secret",\n"label": "%a{32}"',
        promises="token",
    ),
    Phrase(
        " -p ",
        "mixed",
        r"(?=[\"']?[^\s\"'-])[\"']?",
        "tool -t x login -u me -p 7%a{11}",
        "tool -u me -p 8080:80\nmkdir -u me -p a/b7",
        r"[ \t]-(?:u|U|-user|-username|-login)[ \t=]\S{1,64}(?:[ \t][\w./:=-]{1,64}){0,4}",
        back=160,
    ),
    Phrase(
        "db.auth(",
        "chosen",
        rf"{_ARGUMENT}(?=[\"'])",
        'db.auth("me", "7%a{11}")',
        'db.auth("me", passwordPrompt())',
    ),
    Phrase(
        " on >",
        "word",
        r"(?=[^\s~&+>-])",
        "user me on >7%a{11} ~* +@all",
        "go on >7%a{11}",
        r"user[ \t]\S{1,64}",
    ),
    Phrase(
        "key1 |key2 ",
        "long run",
        r"[ \t]{0,24}(?>(?:(?i:full|read)[ \t]{1,24})?)(?=[A-Za-z0-9+/])",
        "key1    %b{86}== Full\n\n2025-11-04T12:01:44.110223+00:00  key1  FULL   %b{86}==",
        "key1    %b{20} Full",
        r"(?:\A|[\r\n])(?:[\dT:+.-]{10,32}[ \t]{1,8})?",
    ),
    Phrase(
        "rootpw --plaintext |-password password |password-again password |password ENC |secret ENC |psk ENC ",
        "word",
        r"(?=\S)",
        "rootpw --plaintext kittens\n\nd-i passwd/root-password password kittens\n\n    set password ENC %b{44}",
        "rootpw --plaintext <password>",
        r"(?:\A|[\r\n])(?:d-i |[ \t]*set )?[\w/-]{0,40}",
    ),
    Phrase(
        "isakmp key ",
        "mixed",
        r"(?:\d[ \t])?(?=[^\s\"'])",
        "crypto isakmp key 7%a{11} address 10.0.0.1",
        "crypto isakmp key kittens",
    ),
    Phrase(
        '"github-oauth":|"gitlab-oauth":|"gitlab-token":|"bearer":',
        "quoted",
        r"[ \t]{0,8}\{[ \t]{0,8}\"[\w.-]{1,64}\"[ \t]{0,8}:[ \t]{0,8}(?=\")",
        '{"github-oauth": {"github.com": "%h{40}"}}',
        '{"github-oauth": {"github.com": "none"}}',
        promises="token",
    ),
    Phrase(
        "contraseña |Contraseña |mot de passe |Mot de passe |senha |Senha |hasło |Hasło |пароль |Пароль |пароля |Пароля |wachtwoord |Wachtwoord |parola |Parola |heslo |Heslo |senord "
        "|ifre |salasana |Salasana |adgangskode |Adgangskode ",
        "column",
        r"(?:(?:[^\s:=,;(){}]{1,48}[ \t]){0,3}[^\s:=,;(){}]{1,48}[ \t]?:|\xe2\x80[\x93\x94]|-)[ \t]{1,4}+(?=\S)",
        "Contraseña temporal: 7%a{11}\n\nПароль пользователя x: 7%a{11}\n\nВаш пароль — 7%a{11}",  # noqa: RUF001  # letters of other alphabets
        "Contraseña temporal: ninguna",
    ),
    Phrase(
        "pre-shared-key address |pre-shared-key hostname ",
        "mixed",
        r"[\w.:-]{2,64}[ \t](?:\d[\d.]{6,14}[ \t])?key[ \t](?:\d[ \t])?(?=[^\s\"'])",
        " pre-shared-key address 10.0.0.1 key 7%a{11}",
        "pre-shared-key address 10.0.0.1 key kittens",
    ),
    Phrase(
        "NSERT INTO |nsert into ",
        "inserted",
        r"[`\"\w.]{1,96}[ \t]{0,8}+(?=\()",
        "insert into users (id, email, password, `api_token`) VALUES (1, 'me''s', '7%a{11}', '%a{40}');",
        "insert into users (id, email, password) VALUES (1, '7%a{11}', NULL);",
    ),
    Phrase(
        "CREATE TABLE |create table ",
        "created",
        "",
        "CREATE TABLE `u` (\n  `id` int,\n  `password` text,\n  PRIMARY KEY (`id`)\n);\n"
        "LOCK TABLES `u` WRITE;\nINSERT INTO `u` VALUES (1,'7%a{11}'),(2,'7%a{11}');\n\n"
        "CREATE TABLE u(id INT, pw text);\nINSERT INTO u VALUES\n(1,'7%a{11}'),",
        "CREATE TABLE `u` (\n  `password` text\n);\nINSERT INTO `v` VALUES ('7%a{11}');",
        r"(?:\A|[\r\n]|[;>] ?)[ \t]*",
    ),
    Phrase(
        "COPY ",
        "copied",
        r"[\"\w.]{1,96}[ \t]{0,8}+(?=\()",
        "COPY public.users (id, email, api_token) FROM stdin;\n1\tme\t%a{40}\n2\tyou\t%a{40}",
        "COPY public.users (id, email, api_token) TO stdout;\n1\tme\t%a{40}",
        r"(?:\A|[\r\n])",
    ),
    Phrase(
        "bindpw |rootpw |auth_pass ",
        "word",
        r"[ \t]*(?=[^\s={])",
        "bindpw 7%a{11}",
        "the bindpw 7%a{11}",
        r"(?:\A|[\r\n])[ \t]*",
    ),
    Phrase(
        '"CONCEALED",',
        "below",
        r"[ \t]{0,8}+(?=[\r\n])",
        '"type": "CONCEALED",\n"label": "x",\n"value": "7%a{11}"',
        '"type": "STRING",\n"label": "x",\n"value": "7%a{11}"',
    ),
    Phrase(
        '"random_password"',
        "drawn",
        r"[^\r\n]{0,400}?\"result\":[ \t]{0,4}+(?=\")",
        '{"type": "random_password", "values": {"length": 20, "result": "%a{20}"}}',
        '{"type": "random_pet", "values": {"length": 20, "result": "%a{20}"}}',
    ),
    Phrase(
        '"random_password"',
        "result",
        _LINE,
        '"type": "random_password",\n"name": "db",\n"attributes": {\n"length": 20,\n"result": "%a{20}"',
        '"type": "random_pet",\n"result": "%a{20}"',
    ),
    Phrase(
        'admin initial-password|requirepass"|331 Please|331 Password| pass show |keepassxc-cli show |keepassxc-cli generate|/initialAdminPassword|print-access-token|gh auth token'
        "|$ op read |secrets versions access |$ lpass show |--query SecretString |find-generic-password |$ op item get |$ bw get password"
        "|config get DB_PASSWORD|--query value -o tsv|$ heroku auth:token|$ pwgen |$ openssl rand |$ apg |$ genpasswd|secrets.token_hex(|secrets.token_urlsafe(|get_random_secret_key|$ wg genkey|$ wg genpsk|/admin.password|access token is ",
        "printed",
        r"[^\r\n]{0,160}+(?=[\r\n])",
        '$ argocd admin initial-password -n argocd\n%a{16}\n\n1) "requirepass"\n2) "7%a{11}"\n\n$ pass show web/x\n7%a{11}',
        "$ argocd admin initial-password -n argocd\nnot found",
    ),
    Phrase(
        "-o tsv|--output tsv|--output text|-o text",
        "printed",
        _LINE_END,
        "$ az storage account keys list -n x --query '[0].value' -o tsv\n%b{86}==\n\n$ aws ecr get-login-password --output text\n7%a{31}",
        "$ az vm list --query '[0].id' -o tsv\n7%a{31}",
        r"(?i:\b|_)(?:keys?|secrets?(?:manager)?|password|token|credentials?|connection-string)\b[^\r\n]{0,128}",
        "token",
        144,
    ),
    Phrase(
        "get secret ",
        "printed",
        r"[^\r\n]{0,200}[ \t]base64[ \t]+(?:-d|-D|--decode)\b[^\r\n]{0,32}+(?=[\r\n])",
        "$ kubectl get secret x -o jsonpath='{.data.password}' | base64 -d\n%a{16}",
        "$ kubectl get secret x -o name\nsecret/x7%a{11}",
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
        _LINE_END,
        '"Name": "/db/x",\n"Type": "SecureString",\n"Value": "7%a{11}"',
        '"Name": "/db/x",\n"Type": "SecureString",\n"Label": "7%a{11}"',
    ),
    Phrase(
        "--auth |--auth=|-auth=|-auth |--proxy-user |--proxy-user=|--basic-auth |--basic-auth=|--basic_auth=|--creds |--creds=|--login |--login="
        "|--userpass |--credentials |--credentials=|--admin-user=",
        "option",
        r"[\"']?[\w.@\\-]{1,64}:(?=[^\s:/\"'])",
        "tool --auth me:7%a{11} run",
        "tool --auth me[:7%a{11}] run",
    ),
    Phrase(
        ".com:|.org:|.net:|.de:|.io:|.edu:|.example:|.local:",
        "column",
        r"(?=[A-Za-z!#$%&*+?~]|\Z)",
        "me@host.example.com:X7%a{11}\n\nmail.example.org:me@host.example:X7%a{11}",
        "me@host.example.com:delivered\nx me@host.example.com:7X%a{11}\nme@host.example:.7X%a{11}",
        r"(?:\A|[\r\n])(?:[\w.-]{1,64}:)?[\w.+-]{1,64}@[\w.-]{1,64}",
        follows=r"[A-Za-z!#$%&*+?~]",
    ),
    Phrase(
        "<<< ",
        "mixed",
        r"[\"']?(?=[^\s\"'$])",
        "sudo -S apt update <<< '7%a{11}'",
        "bc <<< '7%a{11}'",
        r"\b(?:sudo|kinit|passwd|chpasswd|login|cryptsetup|unlock|decrypt|gpg|su|pass|secrets?)\b[^\r\n]{0,96}",
    ),
    Phrase(
        "assword......|asswd......|ecret......|oken......|ASSWORD......",
        "column",
        r"\.{0,64}+[ \t]?(?=[^\s.|])",
        "config : password........................7X%a{11}",
        "config : password........................none",
        promises="",
    ),
    Phrase(
        '"AUTH" |"auth" |"Auth" ',
        "quoted",
        r"(?>(?:\"[\w.-]{1,64}\" (?=\"))?)(?=\")",
        '1706781600.123456 [0 10.0.0.9:51234] "AUTH" "default" "7%a{11}"',
        '"AUTH" ""',
        follows='["]',
    ),
    Phrase(
        "ication code|urity code|ogin code|rmation code|time code|SMS code|sms code|Your code|your code|airing code|PUK|2FA code|MFA code|nlock code|asscode|ccess code|oor code|larm code|ctivation code|ign-in code|PIN code|Pin code|pin code|PINCode|PinCode|etup code|etup Code|ogin PIN|card PIN|Your PIN|your PIN|time password|OTP is|otp is|Your OTP|your OTP|PIN is",
        "digits",
        r"(?: is| =)?:?[ \t]{1,2}[\"'`*]{0,2}(?=\d)",
        "Your verification code is %d{6}.\n\nYour login PIN: 4%d{3}",
        "error code is %d{6}\nYour verification code is short",
        promises="code",
        follows=r"[ :]",
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
        "snmp-server community |pac key |s-server key |rocommunity |rwcommunity ",
        "word",
        r"(?:\d )?(?=\S)",
        "snmp-server community 7%a{11} RW\n\npac key 0 7%a{11}\n\nradius-server key 7%a{11}",
        "snmp-server community <word>",
    ),
    Phrase(
        "API Key|API Secret|Api Key|API key|Secret Key|SECRET Token|Secret Token|Access Token|API Token|API token|Client Secret|Secret key"
        "|Signing Secret|Signing secret|Verification Token|Bot Token|Auth Token|Webhook Secret",
        "printed",
        r"(?>(?:[ \t]{1,2}[a-z]{2,12}){0,3}):?[ \t]{0,8}+(?=[\r\n])",
        "API Key\n%h{32}\n\nYour Client Secret\n  %a{32}\n\nAPI key created:\n  %a{40}",
        "API Key\nis needed",
        r"(?:\A|[\r\n])(?:[ \t]|[A-Z][A-Za-z]{0,15} ){0,4}",
        "token",
    ),
)  # fmt: skip
