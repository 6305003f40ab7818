"""Secrets of the public formats, drawn anew: by kind, and what stands around them."""

from __future__ import annotations

import base64
import json
import random
import string

_LETTERS = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits
_UPPER = string.ascii_uppercase + string.digits
_HEX = "0123456789abcdef"
_URL = _LETTERS + "-_"
_BASE64 = _LETTERS + "+/"
_SIGNS = _LETTERS + "!#%*+?^~@"


class Maker:
    """Draws secrets. The prefixes stand apart from what follows, so that no scanner takes this file for a leak."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, size: int, letters: str = _LETTERS) -> str:
        """Letters, both kinds and a digit among them."""
        while True:
            made = "".join(self.random.choice(letters) for _ in range(size))
            if (
                any(letter.isdigit() for letter in made)
                and len(set(made)) > min(3, size - 1) - 1
                and made.strip("/+-_=.@!#%*?^~") == made
            ):
                return made

    def password(self) -> str:
        """What a person may have typed: letters, a digit, perhaps a sign."""
        return self.of(self.random.randrange(8, 20), _LETTERS if self.random.random() < 0.5 else _SIGNS)

    def uuid(self) -> str:
        """Five groups of hexadecimal digits."""
        return "-".join(self.of(size, _HEX) for size in (8, 4, 4, 4, 12))

    def jwt(self) -> str:
        """Header, claims, signature."""
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": self.of(8), "iat": 1516239022}]
        coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*coded, self.of(43, _URL)])

    def tokens(self) -> dict[str, str]:
        """One of each form that is known by itself, wherever it stands."""
        of = self.of
        number = base64.b64encode(str(self.random.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
        return {
            "aws access key": "AKIA" + of(16, string.ascii_uppercase + "234567"),
            "aws session key": "ASIA" + of(16, string.ascii_uppercase + "234567"),
            "github": "ghp_" + of(36),
            "github app": "ghs_" + of(36),
            "github fine": "github_pat_" + of(22) + "_" + of(59),
            "gitlab": "glpat-" + of(20, _URL),
            "slack bot": "xoxb-" + of(12, string.digits) + "-" + of(12, string.digits) + "-" + of(24),
            "slack user": "xoxp-" + of(12, string.digits) + "-" + of(32, _HEX),
            "slack app": "xapp-1-A" + of(9, _UPPER) + "-" + of(12, string.digits) + "-" + of(64, _HEX),
            "stripe": "sk_live_" + of(24),
            "stripe restricted": "rk_test_" + of(99),
            "google": "AIza" + of(35, _URL),
            "google oauth": "GOCSPX-" + of(28, _URL),
            "openai": "sk-" + of(20) + "T3BlbkFJ" + of(20),
            "openai project": "sk-proj-" + of(74, _URL),
            "anthropic": "sk-ant-api03-" + of(93, _URL) + "AA",
            "hugging face": "hf_" + of(34, string.ascii_letters + "12"),
            "npm": "npm_" + of(36),
            "pypi": "pypi-AgEIcHlwaS5vcmc" + of(120, _URL),
            "sendgrid": "SG." + of(22, _URL) + "." + of(43, _URL),
            "twilio": "SK" + of(32, _HEX),
            "mailgun": "key-" + of(32, _HEX),
            "telegram": of(9, string.digits) + ":AA" + of(33, _URL),
            "digitalocean": "dop_v1_" + of(64, _HEX),
            "shopify": "shpat_" + of(32, _HEX),
            "square": "sq0atp-" + of(22, _URL),
            "docker": "dckr_pat_" + of(27, _URL),
            "heroku": "HRKU-" + "-".join(of(size, _HEX) for size in (8, 4, 4, 4, 12)),
            "vercel": "vercel_blob_rw_" + of(16) + "_" + of(30),
            "vault": "hvs." + of(90, _URL),
            "terraform": of(14) + ".atlasv1." + of(67, _URL),
            "databricks": "dapi" + of(32, _HEX),
            "atlassian": "ATATT3xFfGF0" + of(170, _URL) + "=" + of(8, _UPPER),
            "new relic": "NRAK-" + of(27, _UPPER),
            "sentry": "sntrys_" + of(140, _BASE64),
            "linear": "lin_api_" + of(40),
            "notion": "ntn_" + of(46),
            "figma": "figd_" + of(40, _URL),
            "age": "AGE-SECRET-KEY-1" + of(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
            "grafana": "glsa_" + of(32) + "_" + of(8, _HEX),
            "doppler": "dp.pt." + of(43),
            "groq": "gsk_" + of(52),
            "tailscale": "tskey-auth-" + of(12) + "-" + of(32),
            "postman": "PMAK-" + of(24, _HEX) + "-" + of(34, _HEX),
            "rubygems": "rubygems_" + of(48, _HEX),
            "azure": of(3) + "8Q~" + of(34, _LETTERS + "_~."),
            "alibaba": "LTAI" + of(20),
            "jwt": self.jwt(),
            "aws without a digit": "AKIA" + "".join(self.random.sample(string.ascii_uppercase, 16)),
            "twilio capital": "SKC" + of(31, _HEX.upper()),
            "terraform padded": of(14) + ".atlasv1." + of(60, _URL) + "=" + of(4),
            "artifactory reference": "cmVmd" + of(59),
            "sourcegraph": "sgp_" + of(16, _HEX.upper()) + "_" + of(40, _HEX + "ABCDEF"),
            "sourcegraph local": "sgp_local_" + of(40, _HEX.upper()),
            "new relic query": "NRIQ-" + of(32, _URL),
            "new relic rest": "NRRA-" + of(42, _HEX),
            "new relic admin": "NRAA-" + of(27, _HEX),
            "pixie": f"px-api-{self.uuid()}",
            "adafruit": "aio_" + of(28),
            "appsync": "da2-" + of(26, _LOWER),
            "authress": f"sc_{of(12, _LOWER)}.{of(5, _LOWER)}.acc_{of(20, _LOWER)}." + of(60, _URL),
            "marketplace": f"amzn.mws.{self.uuid()}",
            "dependency-track": "odt_" + of(36),
            "grafana old": "eyJrIjoi" + of(80),
            "pyx": "tp-pyx-" + of(64),
            "salesforce": f"00D{of(12)}!AQ" + of(94),
            "stackhawk": f"hawk.{of(20)}.{of(20)}",
            "slack webhook": f"https://hooks.slack.com/services/T{of(8, _UPPER)}/B{of(8, _UPPER)}/{of(24)}",
            "discord webhook": f"https://discord.com/api/webhooks/{of(18, string.digits)}/{of(68, _URL)}",
            "discord": f"Bot {number}.{of(6, _URL)}.{of(38, _URL)}",
        }

    def prefixed(self) -> list[str]:
        """Tokens of providers that nobody knows, and texts that are hardly none."""
        of = self.of
        tokens = [
            prefix + sign + body
            for prefix in ("acme", "ACME", "acme_live", "my-co-pat", "req", "build", "a1", "Acme")
            for sign in "_-"
            for body in (
                of(20),
                of(24, _URL),
                of(40),
                of(32, _HEX),
                of(26, _UPPER),
                of(30, string.ascii_lowercase + "234567"),
            )
        ]
        return [
            f"{before}{token}{behind}"
            for token in tokens
            for before in ("", '"', "/", "\\n", "%20", "é")
            for behind in ("", ".", ".js", "=")
        ]

    def within(self) -> list[tuple[str, str]]:
        """A secret that only its place makes one, and the text with it."""
        of, word = self.of, self.password
        user = base64.b64encode(f"deploy:{word()}".encode()).decode()
        made = []

        def put(secret: str, text: str) -> None:
            made.append((secret, text.replace("@@", secret)))

        for name in (
            "password",
            "DB_PASSWORD",
            "dbPassword",
            "spring.datasource.password",
            "MYSQL_ROOT_PASSWORD",
            "passwd",
            "PGPASSWORD",
            "admin_pwd",
            "passphrase",
            "SMTP_PASS",
        ):
            for form in (
                "{}=@@",
                "export {}=@@",
                "{}: @@",
                '{} = "@@"',
                '"{}": "@@"',
                "'{}' => '@@'",
                "{}='@@'",
                '{} := "@@"',
                "--{}=@@",
                "--{} @@",
                '\\"{}\\": \\"@@\\"',
                "&{}=@@&x=1",
                'os.environ["{}"] = "@@"',
                "<{0}>@@</{0}>",
                '{{"name": "{}", "value": "@@"}}',
                'const {}: string = "@@";',
                "setx {} @@",
                "\x1b[32m{}\x1b[0m=\x1b[31m@@\x1b[0m",
                "2024-05-01T00:00:00Z INFO user=me {}=@@ ok",
            ):
                put(of(12) if "<" in form or "&" in form else word().replace("'", "x"), form.format(name))
        for name in (
            "api_key",
            "API_KEY",
            "apiKey",
            "X-Api-Key",
            "client_secret",
            "SECRET_KEY",
            "auth_token",
            "accessToken",
            "access_token",
            "STRIPE_SECRET",
            "private-token",
            "app.secret",
            "ENCRYPTION_KEY",
            "HEROKU_API_KEY",
            "DD_API_KEY",
            "DISCORD_TOKEN",
            "session_token",
            "refreshToken",
            "bearer_token",
        ):
            for form in (
                "{}=@@",
                "{}: @@",
                '{} = "@@"',
                '"{}":"@@"',
                "'{}': '@@',",
                "{} => '@@'",
                '-H "{}: @@"',
                "?{}=@@&x=1",
                "--{} @@",
                "let {} = '@@';",
            ):
                put(
                    of(self.random.choice((20, 32, 40)), self.random.choice((_LETTERS, _HEX))),
                    form.format(name),
                )
        secret_key = of(40, _BASE64)
        for form in (
            "aws_secret_access_key = @@",
            "AWS_SECRET_ACCESS_KEY=@@",
            '"SecretAccessKey": "@@",',
            "export AWS_SECRET_ACCESS_KEY='@@'",
        ):
            put(secret_key, form)
        for scheme in (
            "postgres",
            "postgresql+asyncpg",
            "mysql",
            "mongodb+srv",
            "redis",
            "amqps",
            "https",
            "ftp",
        ):
            put(
                word().replace("@", "x").replace("#", "x").replace("?", "x"),
                f"{scheme}://deploy:@@@db.example.com:5432/app?x=1",
            )
        put(of(40), "https://@@@github.com/me/repo.git")
        put(of(16), "redis://:@@@localhost:6379/0")
        put(of(14), "Server=db;Database=x;User Id=sa;Password=@@;Encrypt=yes")
        put(
            of(86, _BASE64) + "==",
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@;EndpointSuffix=core.windows.net",
        )
        put(
            of(43, _BASE64) + "=",
            "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=@@",
        )
        for form in (
            "Authorization: Bearer @@",
            '"Authorization": "Bearer @@"',
            "curl -H 'Authorization: Bearer @@' https://x",
            "authorization: token @@",
            'headers={"Authorization": f"Bearer @@"}',
            "Authorization: ApiKey @@",
        ):
            put(of(40, _URL), form)
        for form in (
            "Authorization: Basic @@",
            "-H 'Authorization: Basic @@'",
            '"auth": "@@"',
            "//registry.example.com/:_auth=@@",
            "Proxy-Authorization: Basic @@",
        ):
            put(user, form)
        put(of(36), "//registry.example.com/:_authToken=@@")
        for form in (
            "mysql -u root -p@@ app",
            "mysqldump --host db -p@@ app",
            "sshpass -p @@ ssh me@host",
            "ssh-keygen -t ed25519 -N '@@' -f key",
            "snmpwalk -v3 -u me -A @@ host",
            "sshpass -p '@@' ssh me@host",
            "curl -u deploy:@@ https://x",
            'curl --user "deploy:@@" https://x',
            "curl -sSfu deploy:@@ https://x",
            "redis-cli -a @@ ping",
            "docker login -u me -p @@ registry",
            "machine api.example.com login me password @@",
            "  password @@",
            "db.example.com:5432:app:deploy:@@",
            "ALTER USER me WITH PASSWORD '@@'",
            "pip install --extra-index-url https://me:@@@pypi.example.com/simple x",
            "openssl enc -pass pass:@@ -in x",
            "SET PASSWORD = '@@'",
            "jdbc:oracle:thin:me/@@@db:1521:x",
            "requirepass @@",
            "identified by '@@'",
        ):
            put(of(12), form)
        put(of(32, _HEX), "Set-Cookie: session=@@; Path=/; HttpOnly")
        put(of(40, _URL), "Cookie: theme=dark; sessionid=@@; lang=en")
        put(of(64, _HEX), "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=@@")
        put(of(43) + "%3D", "https://x.blob.core.windows.net/c?sv=2022-11-02&se=2024&sr=b&sp=r&sig=@@")
        put(base64.b64encode(of(900).encode()).decode(), "    client-key-data: @@")
        return made

    def elsewhere(self) -> list[tuple[str, str]]:
        """The same in notations of more languages, in lines below a name, in calls and in notes."""
        of, made = self.of, []
        for form in (
            "my_token: |\n  @@",
            "my_token: >-\n  @@\nnext: 1",
            "api_key:\n  @@\n",
            "<apiToken>\n    @@\n</apiToken>",
            '$apiToken .= "@@"',
            '$apiToken ??= "@@";',
            'API_TOKEN ::= "@@"',
            'API_TOKEN :::= "@@"',
            'variable "api_token" {\n  type    = string\n  default = "@@"\n}',
            'API_TOKEN = \\\n    "@@"',
            "softlayerapikey= @@",
            "IBMCLOUDIAMAPIKEY=@@",
            'config.facebook.key = "@@"',
            "sonarLogin = '@@'",
            "Set-Cookie: x=1; _my_app_session=@@; path=/",
            "_my_app_session=@@",
            "curl -u '@@:' https://x",
            'curl --oauth2-bearer "@@" https://x',
            "export BUNDLE_GEMS__EXAMPLE__COM=me:@@",
            "Authorization: SSWS @@",
        ):
            secret = of(40)
            made.append((secret, form.replace("@@", secret)))
        for form in (
            "MYSQLPASS: @@",
            "dbpwd=@@",
            "CREATE USER me IDENTIFIED BY @@;",
            "CREATE ROLE me WITH LOGIN PASSWORD @@;",
            "the new password is @@",
            "username: me password @@",
            "ID:me PWD:@@",
            "비번:@@",
            'os.environ.get("DB_PASSWORD", "@@")',
            "process.env.DB_PASSWORD || '@@'",
            'process.env["DB_PASSWORD"] ?? "@@"',
            'os.getenv("DB_PASSWORD") or "@@"',
            'new NetworkCredential("me", "@@")',
            'new DirectoryEntry("LDAP://10.0.0.1", "me", "@@")',
            'smtp.PlainAuth("", "me", "@@", host)',
            "PsExec.exe \\\\host -u me -p @@ cmd",
            "ConvertTo-SecureString -String @@ -Force",
            'ConvertTo-SecureString \\"@@\\"',
            "smtps://me@example.com:@@@smtp.example.com:465",
        ):
            secret = "x" + of(6) + "7" + of(4)
            made.append((secret, form.replace("@@", secret)))
        return made

    def pem(self, kind: str = "RSA PRIVATE KEY", lines: int = 12) -> tuple[list[str], str]:
        """Lines of a private key, and the whole."""
        body = [self.of(64, _BASE64) for _ in range(lines)] + [self.of(17, _BASE64) + "=="]
        return body, "\n".join([f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"]) + "\n"
