"""What the name of a variable, key, option or header says about its value.

A name is taken apart at ``_ - . `` and at capitals; what only says where it is used (``prod``, ``2``, ``base64``) is
dropped from its end, and the last word decides, the one before it helping: ``AWS_SECRET_ACCESS_KEY``, ``dbPassword`` and
``api-key`` hold secrets, ``password_length``, ``secretName`` and ``public_key`` do not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from spillstore.redaction.remembered import remembered


class Named(NamedTuple):
    """A name that promises a secret."""

    kind: str
    strength: str  # password: any literal; secret: one that looks chosen; token: drawn; weak: long and drawn at random


class Expected(NamedTuple):
    """A value that a name in a line before has promised.

    Attributes:
        named: what it promises.
        form: how it is written: ``value``, ``block``, ``nested``, ``string``, ``element``, ``joined`` or ``part``.
        indent: blanks before the name.
        passed: lines that were passed over.
        taken: lines that were taken out.
    """

    named: Named
    form: str
    indent: int = 0
    passed: int = 0
    taken: int = 0


_WORD = re.compile(rb"[sS]3|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NEUTRAL = frozenset(
    b"prod production dev develop development stage staging test testing live local qa uat value val string str text plain raw "
    b"base64 b64 encoded env var default current primary secondary backup main data clear cleartext plaintext it x raw".split()
)
_PASSWORD = frozenset(
    b"password passwd passwort passphrase passcode pwd pw psw pass passw kennwort contrasena senha".split()
)
_KEYED = frozenset(
    b"api access secret private signing sign encryption encrypt encode encoding decryption master account auth service app application consumer "
    b"subscription storage shared webhook session cipher aes hmac rsa ssh deploy deployment admin integration ingest write "
    b"license licence jwt sas bot oauth connection gpg pgp ssl tls user token client server platform publish management "
    b"maps stripe openai anthropic aws azure google gcp github gitlab slack twilio sendgrid mailgun mailchimp datadog dd "
    b"heroku newrelic algolia firebase fcm cloudflare digitalocean linode vultr npm pypi hf huggingface cohere mistral groq "
    b"gemini claude openrouter deepseek replicate pinecone supabase sentry rollbar bugsnag segment mixpanel amplitude "
    b"shopify square paypal plaid coinbase binance kraken telegram discord zoom jira atlassian confluence linear notion "
    b"airtable asana figma dropbox okta auth0 vault consul terraform docker dockerhub snyk sonar codecov circleci travis "
    b"buildkite drone grafana elastic kibana splunk logzio loggly sumo pagerduty opsgenie resend postmark sparkpost brevo "
    b"tailscale ngrok wandb comet neptune kaggle serpapi tavily exa perplexity elevenlabs deepgram assemblyai stability "
    b"together fireworks xai voyage jina unsplash pexels weather openweather openweathermap mapbox tomtom here etherscan "
    b"infura alchemy moralis quicknode lob easypost shippo flutterwave role unseal recovery razorpay paystack adyen braintree klarna mollie "
    b"linkedin facebook twitter twitch spotify adobe adafruit cloudant softlayer ibm finnhub flickr fastly gitter hubspot intercom jfrog "
    b"artifactory kucoin bittrex launchdarkly mattermost meraki messagebird netlify plaid rapidapi sendbird squarespace yandex "
    b"zendesk kagi appsync auth0 bitbucket contentful confluent droneci dynatrace etsy finicity freshbooks looker "
    b"postman pulumi scalingo sauce saucelabs sumologic thingsboard travisci vercel wakatime wordpress".split()
)
_PUBLIC = frozenset(
    b"public pub publishable host foreign primary unique cache sort partition index idempotency s3 object".split()
)
# Tokens that only say where a list goes on, or which request it was.
_PASSING = frozenset(
    b"public csrf xsrf change action forward backward next page paging pagination continuation request idempotency starting start sync marker update lock cancel progress "
    b"cancellation lifecycle syntax lexer parser eos bos pad unk sep cls mask stop start end max min num total input output prompt completion".split()
)
# Words behind a secret's name that make it the name of something else.
_ABOUT = frozenset(
    b"ids name names url uri path paths file files filename field fields type types length len size policy policies expiry expires expiration "
    b"expire ttl count counts limit limits hint label labels prompt reset error errors manager provider providers service "
    b"services endpoint header headers prefix suffix format algorithm alg regex pattern class ref refs reference arn version scope "
    b"scopes required enabled min max age time date hash hashed digest checksum fingerprint index pos position offset kind store "
    b"storage vault generator validator strength usage info description text title page form input view callback handler func "
    b"function method event listener change changed up down press pressed code char chars selector board word words map maps set "
    b"list dir folder location bits bit cache column table schema range mode signature".split()
)
_SECRET_ENDS = frozenset({b"secret"})
_RUNS = frozenset(
    b"debug first second third last pre post opt filter band low high multi single test print after before run bypass to".split()
)
_WIRELESS = frozenset(b"wifi wlan wpa wireless security".split())
_SESSION = frozenset(b"session sess phpsess jsession asp".split())
_SESSIONS = frozenset(b"sessid sessionid phpsessid jsessionid".split())
_TOKEN_ENDS = frozenset(b"token tokens pat".split())
_KINDS = (
    ("aws_secret", "AWS_SECRET_KEY"),
    ("secret_access_key", "AWS_SECRET_KEY"),
    ("aws_session_token", "AWS_SESSION_TOKEN"),
    ("account_key", "AZURE_STORAGE_KEY"),
    ("azure", "AZURE_SECRET"),
    ("npm", "NPM_TOKEN"),
    ("pypi", "PYPI_TOKEN"),
    ("github", "GITHUB_TOKEN"),
    ("gitlab", "GITLAB_TOKEN"),
    ("slack", "SLACK_TOKEN"),
    ("discord", "DISCORD_TOKEN"),
    ("telegram", "TELEGRAM_TOKEN"),
    ("datadog", "DATADOG_KEY"),
    ("dd_a", "DATADOG_KEY"),
    ("heroku", "HEROKU_KEY"),
    ("twilio", "TWILIO_KEY"),
    ("mailgun", "MAILGUN_KEY"),
    ("cloudflare", "CLOUDFLARE_KEY"),
    ("openai", "OPENAI_KEY"),
    ("anthropic", "ANTHROPIC_KEY"),
    ("stripe", "STRIPE_KEY"),
    ("google", "GOOGLE_API_KEY"),
    ("docker", "DOCKER_TOKEN"),
    ("vault", "VAULT_TOKEN"),
    ("private_key", "PRIVATE_KEY"),
    ("client_key_data", "PRIVATE_KEY"),
    ("jwt", "SECRET"),
    ("api_key", "API_KEY"),
)
_KIND_OF = {"secret": "SECRET", "token": "TOKEN", "weak": "API_KEY"}
KINDS_OF_NAMES = frozenset({kind for _, kind in _KINDS} | set(_KIND_OF.values()))
_LONGEST = 96


def words(name: bytes) -> list[bytes]:
    """The words of a name, small: ``dbPassword2`` is ``db password 2``."""
    return [word.lower() for word in _WORD.findall(name)]


@remembered
def classify(name: bytes) -> Named | None:
    """What a name promises; None if no secret. Cost: 5 us, 50 ns for a name seen before."""
    if len(name) > _LONGEST:
        name = name[-_LONGEST:]
    parts = [part for word in words(name) for part in _apart(word)]
    while len(parts) > 1 and (parts[-1] in _NEUTRAL or parts[-1].isdigit()):
        parts.pop()
    if not parts:
        return None
    strength = "password" if name == b"psk" else _strength(parts)
    if strength is None:
        return None
    if strength == "password":
        return Named("PASSWORD", strength)
    joined = b"_".join(parts).decode()
    for mark, kind in _KINDS:
        if mark in joined:
            return Named(kind, strength)
    if strength == "token" and parts[-1] in {b"key", b"keys"}:
        return Named("API_KEY", strength)
    return Named("COOKIE" if parts[-1] == b"session" else _KIND_OF[strength], strength)


_JOINED: dict[bytes, tuple[bytes, ...]] = {
    b"apikey": (b"api", b"key"),
    b"apikeys": (b"api", b"key"),
    b"authkey": (b"auth", b"key"),
    b"accesskey": (b"access", b"key"),
    b"secretkey": (b"secret", b"key"),
    b"secretaccesskey": (b"secret", b"access", b"key"),
    b"privatekey": (b"private", b"key"),
    b"accountkey": (b"account", b"key"),
    b"sharedaccesskey": (b"shared", b"access", b"key"),
    b"appkey": (b"app", b"key"),
    b"masterkey": (b"master", b"key"),
    b"encryptionkey": (b"encryption", b"key"),
    b"passkey": (b"pass", b"phrase"),
    b"dbpass": (b"db", b"pass"),
    b"userpass": (b"user", b"pass"),
    b"storepass": (b"store", b"pass"),
    b"keypass": (b"key", b"pass"),
    b"requirepass": (b"require", b"pass"),
    b"trustpass": (b"trust", b"pass"),
    b"masterauth": (b"master", b"pass"),
    b"sshpass": (b"ssh", b"pass"),
    b"passphrase": (b"pass", b"passphrase"),
}


_LAST = (b"password", b"passwd", b"secret", b"token", b"passphrase")
_LAST_TWO = (b"apikey", b"accesskey", b"secretkey", b"authtoken")
_BEFORE_PASS = frozenset(
    b"db mysql my root admin smtp mail ftp pg postgres postgresql redis mongo proxy login web server remote sudo vnc rdp svn git".split()
)


def _apart(word: bytes) -> tuple[bytes, ...]:
    """The words of which one is made: ``dbpassword``, ``authtoken``, ``apikey``."""
    joined = _JOINED.get(word)
    if joined is not None:
        return joined
    for last in _LAST:
        if word.endswith(last) and word != last:
            return (word[: -len(last)], last)
    for last in _LAST_TWO:
        if word.endswith(last):
            return (word[: -len(last)], *_JOINED.get(last, (last,)))
    for last in (b"pass", b"pwd"):
        if word.endswith(last) and word[: -len(last)] in _BEFORE_PASS:
            return (word[: -len(last)], last)
    return (word,)


_STRONG = _PASSWORD | _SECRET_ENDS | {b"token", b"apikey"}


def _strength(parts: list[bytes]) -> str | None:  # noqa: C901, PLR0911, PLR0912  # one for each kind of word
    last = parts[-1]
    before = parts[-2] if len(parts) > 1 else b""
    if last in _PASSWORD:
        return (
            None
            if before in _PUBLIC - {b"primary", b"host"} or (last == b"pass" and before in _RUNS)
            else "password"
        )
    if last == b"psk":
        return "password" if before in _WIRELESS else None
    if last == b"phrase" and before == b"pass":
        return "password"
    if last in _SECRET_ENDS:
        return "secret"
    if last in _TOKEN_ENDS:
        return None if before in _PASSING or parts == [b"client", b"token"] else "token"
    if last in {b"key", b"keys"}:
        return _key(parts[:-1], before)
    if last in {b"credential", b"credentials", b"creds"}:
        return "token"
    if last in {b"signature", b"sig", b"auth", b"authorization", b"cert", b"salt"}:
        return "weak"
    if last == b"id" and before == b"secret":
        return "token"
    if last == b"auth" and before in {b"rediscli", b"requirepass"}:
        return "password"
    if last == b"login" and before.endswith(b"sonar"):
        return "token"
    if (
        last in _SESSIONS
        or (last in {b"id", b"sid"} and before in _SESSION)
        or (last == b"session" and before)
    ):
        return "weak"
    if (
        last != b"id"
        and last not in _ABOUT
        and not _PUBLIC.intersection(parts)
        and _STRONG.intersection(parts)
    ):
        return "weak"
    return None


def _key(others: list[bytes], before: bytes) -> str | None:
    if before in _PUBLIC or b"public" in others or b"publishable" in others:
        return None
    if b"secret" in others:
        return "secret"
    if before in _KEYED or b"api" in others or (before == b"client" and others):
        return "token"
    return "weak"
