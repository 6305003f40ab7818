"""What the names of variables, keys, options and headers say about their values.

A name is taken apart into words. Words of ``WHERE`` at its end only say where it is used and are dropped; then the first row
of ``PROMISES`` that fits decides, by the last word and the ones before it. Examples are templates: ``%a{32}`` stands for 32
letters and digits drawn at random, ``%h{32}`` for hexadecimal digits.
"""

from __future__ import annotations

from typing import NamedTuple


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


class Promise(NamedTuple):
    """What names promise whose last word is one of these.

    Attributes:
        last: the last word; none means any.
        promises: ``password``: any literal; ``secret``: one that looks chosen; ``token``: one that looks drawn;
            ``code``: digits, four to ten; ``long``: a long one drawn at random; ``weak``: such a one that is no hash; ``hint``: a long one that is
            found without its name; nothing: no secret.
        goes: a line that loses its secret by this row, or nothing if the row promises none.
        stays: a line that stays: what the row does not promise, or a name that it does not fit.
        behind: the word before the last is one of these.
        among: one of the words before the last is one of these.
        longer: at least so many words stand before the last.
    """

    last: frozenset[str]
    promises: str
    goes: str
    stays: str
    behind: frozenset[str] = frozenset()
    among: frozenset[str] = frozenset()
    longer: int = 0


WHERE = words(
    "prod production dev develop development stage staging test testing live local qa uat value val string str text plain raw "
    "base64 b64 encoded env var default current primary secondary backup main data clear cleartext plaintext stdout it x b content contents pem"
)

_PASSWORD = words(
    "password passwd passwort passphrase passcode pwd pw psw pswd pass passw passwrd "
    "kennwort contrasena senha wachtwoord parola heslo haslo sifre lozinka kodeord jelszo salasana losenord adgangskode passord parool passe geslo slaptazodis sifresi mima parol parolasi kodord losen mdp "
    "motdepasse palavrapasse contrasenya contrasinal zaporka salasona kouling lykilord wagwoord nenosiri pasvorto senord"
)
# Which of several it is.
_WHICH = words(
    "old new previous legacy temp tmp internal external eu us uk emea apac enc encrypted v sandbox demo preprod preview canary standby replica"
)
# In other languages the word for it comes first, and where it is used behind: `senha_smtp`.
_FOREIGN = _PASSWORD - words(
    "password passwd passphrase passcode pwd pw psw pswd pass passw passwrd passwort kennwort"
)
_PUBLIC = words(
    "site public pub publishable fips host foreign primary unique cache sort partition index idempotency object socket meta"
)
# Words before `key` that say it is one of a service, or of a cipher.
_KEYED = words(
    "api access secret private signing sign encryption encrypt encode encoding decryption master account auth service app "
    "application consumer subscription storage shared webhook session cipher aes hmac rsa ssh deploy deployment admin "
    "integration ingest write license licence jwt sas bot oauth connection ssl tls token client server platform "
    "publish nonce management maps role unseal recovery tacacs radius ospf bgp ntp"
)
PROVIDERS = words(
    "stripe openai anthropic aws azure google gcp github gitlab slack twilio sendgrid mailgun mailchimp datadog dd heroku "
    "newrelic algolia firebase fcm cloudflare digitalocean linode vultr npm pypi hf huggingface cohere mistral groq gemini "
    "claude openrouter deepseek replicate pinecone supabase sentry rollbar bugsnag segment mixpanel amplitude shopify square "
    "paypal plaid coinbase binance kraken telegram discord zoom jira atlassian confluence linear notion airtable asana figma "
    "dropbox okta auth0 vault consul terraform docker dockerhub snyk sonar codecov circleci travis buildkite drone grafana "
    "elastic kibana splunk logzio loggly sumo pagerduty opsgenie resend postmark sparkpost brevo tailscale ngrok wandb comet "
    "neptune kaggle serpapi tavily exa perplexity elevenlabs deepgram assemblyai stability together fireworks xai voyage jina "
    "unsplash pexels weather openweather openweathermap mapbox tomtom here etherscan infura alchemy moralis quicknode lob "
    "easypost shippo flutterwave razorpay paystack adyen braintree klarna mollie linkedin facebook twitter twitch spotify "
    "adobe adafruit cloudant softlayer ibm finnhub flickr fastly gitter hubspot intercom jfrog artifactory kucoin bittrex "
    "launchdarkly mattermost meraki messagebird netlify rapidapi sendbird squarespace yandex zendesk kagi appsync bitbucket "
    "contentful confluent droneci dynatrace etsy finicity freshbooks looker postman pulumi scalingo sauce saucelabs sumologic "
    "thingsboard travisci vercel wakatime wordpress"
)
# What a password or a key may be for, where that is said behind it: `PASSWORD_DB`, `API_KEY_MAILER`.
_FOR = PROVIDERS | words(
    "db database sql smtp imap pop3 mysql mariadb pg pgsql postgresql postgres mongo mongodb redis rabbitmq amqp kafka elasticsearch "
    "admin administrator root superuser api rest graphql ftp sftp ssh user app application server web website mail email mailer wifi "
    "wlan vpn ldap jwt oauth backend frontend bot worker cron ci deploy registry git repo minio payment payments sms push webhook cloud "
    "hosting router proxy nas jenkins nexus portainer keycloak magento shop erp crm sap oracle mssql session cookie encryption signing"
)
# Words before `key` that say it is one of a table, a cache, a text or a key ring, not of a service.
_LOCAL = words(
    "hash row record lookup etag dedup dedupe shard routing route group bucket map dict json field column i18n l10n translation locale "
    "message msg event trace span metric item entity image asset blob file path content build compile compiled config option "
    "setting registry state store param query request response order redis etcd kv label sub data ref node edge tree checksum "
    "digest commit tag short first last next prev old new current dst src left right dedupe fingerprint version chunk block page "
    "view template style css class component module package plugin artifact layer digest snapshot job task run step batch by in "
    "recv receive s3 gpg pgp send search refresh restore trusted a b k n x y the this that with of for on is has no any each per from to"
)
# Tokens that only say where a list goes on, which request it was, or that a parser has read them.
_PASSING = words(
    "public csrf xsrf csrfmiddleware authenticity change action forward backward next page paging pagination continuation request idempotency starting "
    "start sync marker update lock cancel progress cancellation lifecycle syntax lexer parser eos bos pad unk sep cls mask "
    "stop end max min num total input output prompt completion"
)
# Words that only hint at a secret: what stands behind them must be long and drawn. Few of them may be searched for in texts.
HINTS = words(
    "auth access signing jwt captcha hmac verifier webhook pat priv privkey license licence activation enrollment "
    "enrolment join pairing session bearer refresh cookie pepper sso saml oauth openid assertion ticket credential seed psk "
    "passwordless otp mfa invite recovery integration dsn encrypt gossip"
)
# Words behind a secret's name that make it the name of something else.
_ABOUT = words(
    "id ids name names url uri path paths file files filename field fields type types length len size policy policies expiry "
    "expires expiration expire ttl count counts limit limits hint label labels prompt reset error errors manager provider "
    "providers service services endpoint header headers prefix suffix format algorithm alg regex pattern class ref refs "
    "reference arn version scope scopes required enabled min max age time date hash hashed digest checksum fingerprint index "
    "pos position offset kind store storage vault generator validator strength usage info description text title page form "
    "input view callback handler func function method event listener change changed up down press pressed code char chars "
    "sha rev revision selector board sid kid accessor verification head org organization tenant zone account release client clients word words map maps set list dir folder location bits bit cache column table source schema range mode signature used "
    "mgr stdin through specials query queries jti uid uuid guid subject audience issuer commit etag tx block mint contract asset curve cert "
    "certificate modulus grip keyid md fpr thumbprint region model backend created encoding charset kdf"
)
# Words before `pass` of tests and compilers.
_RUNS = words(
    "debug first second third last pre post opt filter band low high multi single test print after before run bypass to"
)
# In other languages what a key is for comes behind its word, which may be one for a password, too: `clave_sol`. Of some words only
# what stands behind a letter of their own is told: of `lösenord`, `nøkkel`.
_FOREIGN_KEYS = words(
    "chave clave schluessel sleutel klucz chiave nokkel noekkel noegle nyckel avain kulcs anahtar anahtari cle llave kunci raktas "
    "kljuc klyuch kluc kluch miyao cheie klic clef clau atslega kleidi kkel"
)
KEYS = words("key keys") | _FOREIGN_KEYS
# Words before a secret's name that make it a hash, or an id.
_NONE = words("hashed masked redacted identifier identifiers")

PROMISES: tuple[Promise, ...] = (
    Promise(_PASSWORD, "", "", "public_password=%a{12}", behind=words("public publishable")),
    Promise(words("pass"), "", "", "first_pass=%a{12}", behind=_RUNS),
    Promise(_PASSWORD, "", "", "bad_password=%a{12}", behind=words("bad wrong invalid incorrect missing no")),
    Promise(_PASSWORD, "password", "dbPassword2=%a{12}", "password_length=12"),
    Promise(
        words("psk"),
        "password",
        "wpa_psk=%a{12}",
        "modulation_psk=%a{12}",
        among=words("wifi wlan wpa wireless security ipsec ike vpn l2tp"),
    ),
    Promise(
        words("key"),
        "password",
        "wireless.default_radio0.key='%a{13}'",
        'row_key0="%a{13}"',
        among=words("wep wifi wlan wireless"),
    ),
    Promise(
        words("key"),
        "password",
        "<pre-shared-key>7%a{11}</pre-shared-key>",
        "<shared-key>%a{6}</shared-key>",
        words("shared"),
        words("pre"),
    ),
    Promise(
        words("phrase word khau sandi laluan"),
        "password",
        "pass_phrase=%a{12}\n\npassWord=%a{12}\n\nmat_khau=%a{12}",
        "catch_phrase=%a{12}",
        words("pass mat kata"),
    ),
    Promise(
        words("chiave passe segreta secreta secrete secreto secret"),
        "token",
        'parola_chiave: "%a{19}7"\n\npalabra_secreta=%a{19}7',
        'parola_chiave: "scarpe2024"',
        words("parola palabra palavra mot"),
    ),
    Promise(words("mat"), "secret", "KHOA_BI_MAT=%h{64}", "KHOA_BI_MAT=words", words("bi")),
    Promise(
        words("secret key keys"), "", "", "existingSecret: %a{24}", among=words("existing export delete")
    ),
    Promise(_PASSWORD | words("secret token apikey"), "", "", "hashed_secret=%h{40}", behind=_NONE),
    Promise(words("secret"), "secret", "client_secret=%a{24}", "secretName=%a{24}"),
    Promise(
        words("token tokens"),
        "token",
        "META_PAGE_TOKEN=%a{40}",
        "next_page_token=%a{40}",
        words("page"),
        among=words("meta facebook fb instagram"),
    ),
    Promise(words("token tokens"), "", "", "next_page_token=%a{24}", _PASSING),
    Promise(
        words("token tokens"),
        "token",
        "aws_client_token=%a{24}",
        "client_token=%a{24}",
        words("client"),
        longer=2,
    ),
    Promise(words("token tokens"), "", "", "clientToken=%a{24}", words("client")),
    Promise(words("token tokens"), "", "", "publicKeyToken=%a{24}", among=words("public request")),
    Promise(words("token tokens"), "token", "authToken=%a{24}", "tokenizer=%a{24}"),
    Promise(
        words("access api app application session sesion sessao bot"),
        "token",
        'jeton_acces: "%h{40}"\n\ntoken_acceso=%a{32}',
        'token_acces: "words"',
        words("token tokens"),
    ),
    Promise(
        words("code"),
        "token",
        "device_code=%a{40}\n\nrecovery_code: %h{4}7-a%h{4}",
        "country_code=%a{40}",
        words("device recovery backup scratch pairing activation enrollment enrolment provisioning unlock"),
    ),
    Promise(
        words("bearer pepper"),
        "token",
        "bearer: %a{40}\n\nauth_pepper: %h{32}",
        "bearer: %d{9}\nauth_pepper: ground",
    ),
    Promise(words("totp"), "long", '"totp": "%U{32}"', '"totp": "%U{6}"'),
    Promise(words("pat"), "long", "ado_pat=%l{52}", "ado_pat=%l{12}"),
    Promise(words("pin otp tan"), "code", 'card_pin=4%d{3}\n\n"otp": "%d{6}"', "led_pin=13"),
    Promise(
        words("code"),
        "code",
        "sms_code=4%d{5}",
        "zip_code=4%d{5}",
        words("sms otp mfa verification confirmation security totp door garage disarm"),
    ),
    Promise(
        words("ro rw"),
        "secret",
        "snmp_community_ro: %a{11}7",
        "snmp_community_ro: public",
        words("community"),
    ),
    Promise(
        words("cookie"),
        "token",
        "RELEASE_COOKIE=%U{20}",
        "RELEASE_COOKIE=monster",
        words("erlang release rabbitmq elixir ejabberd couchdb"),
    ),
    Promise(
        KEYS,
        "token",
        "ENCRYPTION_PRIMARY_KEY=%a{32}",
        "PRIMARY_KEY=%a{32}",
        words("primary"),
        among=words("encryption"),
    ),
    Promise(words("api"), "token", "clave_api=%a{32}", "clave_api=words", KEYS),
    Promise(KEYS, "", "", "cache_key=%a{24}", _PUBLIC),
    Promise(KEYS, "", "", "public_api_key=%a{24}", among=words("public publishable")),
    Promise(KEYS, "secret", "SECRET_KEY=%a{24}", "secretKeyName=%a{24}", among=words("secret")),
    Promise(KEYS, "token", "X-Api-Key: %a{24}", "primary_key=%a{24}", among=words("api")),
    Promise(KEYS, "token", "stripe_key=%a{24}", "primary_key=%a{24}", _KEYED | PROVIDERS),
    Promise(
        KEYS,
        "token",
        "PAGERDUTY_ROUTING_KEY=%h{32}",
        "routing_key=users.created",
        words("routing"),
        among=words("pagerduty"),
    ),
    Promise(KEYS, "long", "routing_key: %h{32}", "routing_key: users.created", words("routing")),
    Promise(
        KEYS,
        "weak",
        "row_key=%a{32}\n\nGPG_KEY=%a{32}\n\ns3_key=%a{20}",
        "row_key=%h{32}\nGPG_KEY=%h{40}\ns3_key=builds/%h{32}.tgz",
        _LOCAL,
    ),
    Promise(KEYS, "long", "acme_key=%h{32}", "acme_key=%h{12}", longer=1),
    Promise(KEYS, "weak", "key=%a{32}", "key=%h{32}"),
    Promise(
        words("base"),
        "secret",
        "SECRET_KEY_BASE=%h{128}",
        "SECRET_BASE=words",
        words("key"),
        among=words("secret"),
    ),
    Promise(words("base"), "long", "db_key_base=%h{128}", "key_base=%h{128}", words("key"), longer=2),
    Promise(words("credential credentials creds"), "token", "aws_credentials=%a{24}", "credentials=%d{9}"),
    Promise(
        words("access auth"),
        "weak",
        "FIREBASE_AUTH=%a{32}",
        "KeychainAccess: %h{40}\nFirebaseAuth: %h{40}",
        words("keychain firebase"),
    ),
    Promise(words("auth"), "long", "X-Mailer-Auth │ %h{40}", "auth │ %h{40}", longer=1),
    Promise(
        words("salt"),
        "token",
        "API_TOKEN_SALT=%a{22}==",
        "cache_salt=%h{32}",
        among=_PASSWORD | words("secret token apikey jwt"),
    ),
    Promise(
        words("salt"),
        "token",
        "WORDPRESS_NONCE_SALT=%h{40}",
        "cache_salt=%h{32}",
        words("auth nonce encryption hashids signing session ticket derivation"),
    ),
    Promise(
        words("salt"), "token", "LOGGED_IN_SALT=%a{24}", "BUILT_IN_SALT=%h{24}", words("in"), words("logged")
    ),
    Promise(words("auth authorization salt"), "weak", "AUTH_SALT=%a{32}", "author=%a{32}"),
    Promise(words("id"), "token", "secret_id=%a{24}", "user_id=%a{24}", words("secret")),
    Promise(words("login"), "token", "sonar.login=%a{24}", "user.login=%a{24}", words("sonar")),
    Promise(
        words("confirmation confirm repeat again"),
        "token",
        "passwordConfirmation=7%a{11}",
        "orderConfirmation=7%a{11}",
        among=_PASSWORD,
    ),
    Promise(words("hmac"), "weak", "EAB_HMAC=%a{43}", "EAB_HMAC=%h{64}", longer=1),
    Promise(words("sessid sessionid phpsessid jsessionid"), "long", "PHPSESSID=%h{32}", "processid=%a{32}"),
    Promise(
        words("id sid"),
        "weak",
        "session_id=%a{32}",
        "request_id=%a{32}",
        words("session sess phpsess jsession asp"),
    ),
    Promise(words("session"), "weak", "_app_session=%a{32}", "session=%a{20}", longer=1),
    Promise(
        words("ref reference"),
        "hint",
        'masterSecretRef = "%h{40}"',
        "masterSecretRef = db-credentials",
        among=_PASSWORD | words("secret token apikey"),
    ),
    Promise(
        _FOR - words("user server backend encryption signing session cookie"),
        "secret",
        "PASSWORD_DB=%a{11}7\n\nPASS_SMTP=%h{32}",
        "PASSWORD_DB=required",
        _PASSWORD,
    ),
    Promise(
        _FOR - words("user server"),
        "token",
        "TOKEN_GITHUB=%h{40}\n\nSECRET_JWT=%a{40}",
        "TOKEN_API=anna",
        words("secret token tokens"),
    ),
    Promise(
        _FOR,
        "",
        "",
        "PUBLIC_KEY_STRIPE=%a{32}\ncache_key_github=%h{32}",
        KEYS,
        _PUBLIC - words("meta host") | words("row hash lock record"),
    ),
    Promise(
        _FOR,
        "token",
        "API_KEY_MAILER=%h{32}",
        "CACHE_KEY_MAILER=%h{32}",
        KEYS,
        _KEYED - words("shared session"),
    ),
    Promise(PROVIDERS, "token", "KEY_STRIPE=%h{32}", "KEY_USER=%h{32}", KEYS),
    Promise(_WHICH, "password", "db_password_old=%a{12}", "tests_pass_old: 1198", _PASSWORD - words("pass")),
    Promise(_WHICH, "secret", "client_secret_new=%a{24}", "client_secret_new=words", words("secret")),
    Promise(
        _WHICH,
        "token",
        "api_token_eu=%h{40}",
        "api_token_eu=words",
        words("token tokens credential credentials"),
    ),
    Promise(_WHICH, "token", "api_key_v2=%h{32}", "row_key_v2=%h{32}", KEYS, _KEYED),
    Promise(_WHICH, "secret", "secret_key_old=%a{24}", "row_key_old=%a{12}", KEYS, words("secret")),
    Promise(_ABOUT | _PUBLIC, "", "", "password_policy=%a{32}"),
    Promise(words(""), "", "", "public_token_3d=%a{32}", among=_PUBLIC),
    Promise(
        words(
            "primaria primario primaire publica publico publique pubblica foranea estrangeira etrangere esterna unica valida"
        ),
        "",
        "",
        "clave_primaria=%h{40}",
        KEYS,
    ),
    Promise(
        words(""),
        "secret",
        "haslo_bazy=7%a{11}\n\nsenha_smtp=%a{12}7\n\nkata_sandi_smtp=%a{11}7",
        "senha_valida = senha",
        among=_FOREIGN | words("sandi khau laluan"),
    ),
    Promise(
        words(""),
        "long",
        "CHAVE_CRIPTOGRAFIA=%h{64}\n\nclave_sol=%a{24}",
        "clave_producto: 01010101",
        among=_FOREIGN_KEYS - words("cle llave avain"),
    ),
    Promise(
        words(""),
        "long",
        "password_alpha=%a{24}\n\ntoken_alpha=%h{40}",
        "password_alpha=Kit1987.x\ntoken_alpha=gpt-4o-mini-2024",
        _PASSWORD - words("pass") | words("secret token"),
    ),
    Promise(
        words(""),
        "long",
        "API_KEY_ALPHA=%h{32}",
        "CACHE_KEY_ALPHA=%h{32}",
        KEYS,
        words("api secret access master private encryption deploy service account signing auth license"),
    ),
    Promise(
        words(""),
        "weak",
        "secret_token_alpha=%a{32}",
        "alpha=%a{32}",
        among=_PASSWORD | words("secret token apikey"),
    ),
    Promise(_LOCAL - words("trusted restore s3 gpg pgp"), "", "", "webhook_checksum=%a{32}"),
    Promise(_PASSING | words("challenge nonce state"), "", "", "auth_challenge=%a{32}"),
    Promise(HINTS, "", "", "identifier.license │ %h{40}", behind=_NONE),
    Promise(words("private"), "hint", "RECAPTCHA_PRIVATE=%a{40}", '"private": "%a{40}"', longer=1),
    Promise(HINTS, "hint", "X-Mailer-Webhook │ %h{40}", "X-Mailer-Webhook │ %h{8}-%h{4}-%h{4}-%h{4}-%h{12}"),
    Promise(words(""), "hint", "hmac_of_webhooks: %h{40}", "of_webhooks: %l{32}", among=HINTS),
    Promise(words(""), "hint", "MAILGUN_SENDING: %h{40}", "MAILGUN_SENDING: short", among=PROVIDERS),
    Promise(_FOR, "weak", "KEY_USER=%a{32}", "KEY_USER=%h{32}", KEYS),
)

# Words that stand for several.
JOINED = {
    "apikey": "api key",
    "apikeys": "api key",
    "authkey": "auth key",
    "accesskey": "access key",
    "secretkey": "secret key",
    "secretaccesskey": "secret access key",
    "privatekey": "private key",
    "accountkey": "account key",
    "sharedaccesskey": "shared access key",
    "appkey": "app key",
    "masterkey": "master key",
    "encryptionkey": "encryption key",
    "passkey": "pass phrase",
    "keypass": "key pass",
    "storepass": "store pass",
    "trustpass": "trust pass",
    "requirepass": "require pass",
    "masterauth": "master pass",
    "passwordsalt": "password salt",
    "authtok": "auth pass",
    "srcstorepass": "store pass",
    "deststorepass": "store pass",
    "srckeypass": "key pass",
    "destkeypass": "key pass",
    "licensekey": "license key",
    "hmackey": "hmac key",
    "activationkey": "activation key",
    "signingkey": "signing key",
    "signkey": "sign key",
    "aeskey": "aes key",
    "cipherkey": "cipher key",
    "encryptkey": "encrypt key",
    "sharedkey": "shared key",
    "presharedkey": "pre shared key",
    "preshared": "pre shared",
    "sessionkey": "session key",
    "nwkskey": "network session key",
    "appskey": "app session key",
    "nwkkey": "network master key",
    # of other languages
    "gizli": "secret",
    "hemlighet": "secret",
    "hemmelighed": "secret",
    "hemmelighet": "secret",
    "salaisuus": "secret",
    "tajemstvi": "secret",
    "tajomstvo": "secret",
    "tajne": "secret",
    "tajni": "secret",
    "tajna": "secret",
    "titok": "secret",
    "skrivnost": "secret",
    "slaptas": "secret",
    "saladus": "secret",
    "rahsia": "secret",
    "himitsu": "secret",
    "miwen": "secret",
    "lingpai": "token",
    "katasandi": "kata sandi",
    "matkhau": "mat khau",
    "rahasia": "secret",
    "titkos": "secret",
    "secreta": "secret",
    "secreto": "secret",
    "segreta": "secret",
    "segreto": "secret",
    "segredo": "secret",
    "secrete": "secret",
    "geheim": "secret",
    "geheimer": "secret",
    "geheimnis": "secret",
    "tajny": "secret",
    "hemmelig": "secret",
    "hemlig": "secret",
    "sekret": "secret",
    "jeton": "token",
    "acces": "access",
    "acceso": "access",
    "acesso": "access",
    "accesso": "access",
    "zugriffs": "access",
    "zugangs": "access",
}
# Words that may stand at the end of another: `dbpassword`; and those that may do so behind some words alone.
ENDINGS = (
    "password",
    "passwort",
    "kennwort",
    "wachtwoord",
    "passwd",
    "secret",
    "token",
    "passphrase",
    "apikey",
    "accesskey",
    "secretkey",
)
SHORT_ENDINGS = ("pass", "pwd", "pw")
BEFORE_SHORT = words(
    "auth new old control vpn master bind usr svc guest wifi sip ldap imap backup unlock cert pfx db user mysql my root admin smtp mail ftp pg postgres postgresql redis mongo proxy login web server remote sudo ssh vnc rdp "
    "svn git"
)

# What texts are searched for: parts of names, words that another may begin with (`key`, `keyword`), and short ones with the sign behind.
PARTS = (
    "enha ENHA achtwoord ACHTWOORD arola AROLA eslo ESLO aslo ASLO ozinka odeord elszo alasana osenord OSENORD dgangskode DGANGSKODE assord ASSORD ODEORD ALASANA parool PAROOL Parool sifre Sifre SIFRE DePasse de_passe DE_PASSE "
    "chave Chave CHAVE clave_ Clave_ CLAVE_ clave. claveS claveA chiave CHIAVE schluessel Schluessel SCHLUESSEL sleutel Sleutel SLEUTEL klucz KLUCZ jeton JETON egredo egreto ecreta ecreto "
    "nokkel NOKKEL noekkel noegle nyckel NYCKEL avain AVAIN anahtar ANAHTAR khau KHAU atasandi ATASANDI ata_sandi geslo GESLO azodis AZODIS atkhau parol PAROL Parol mima MIMA odord ODORD losen LOSEN mdp_ MDP_ kunci KUNCI raktas RAKTAS kljuc KLJUC klyuch KLYUCH "
    "otdepasse otDePasse OTDEPASSE alavrapasse alavraPasse alavra_passe ALAVRA_PASSE ontrasenya ontrasinal aporka alasona ouling OULING ykilord agwoord enosiri asvorto SENORD senord ata_laluan atalaluan BI_MAT bi_mat rapasse kkel KKEL klic_ KLIC_ kluc_ kluch tslega leidi_ alabra_secr arola_segr mmunity_r lang_cookie ang.cookie LANG_COOKIE ASE_COOKIE ase_cookie "
    "ONTRASEN JELSZO OZINKA WAGWOORD YKILORD NENOSIRI PASVORTO ALASONA APORKA Anahtar Chiave Cheie Klucz Kljuc Klyuch Kulcs Kunci Llave Mima Noegle NOEGLE Nyckel Raktas Mdp_ "
    "gizli Gizli GIZLI emmelig EMMELIG emlig_ EMLIG_ ahasia AHASIA EGRETO EGREDO ekret_ EKRET_ tajn Tajn TAJN itkos_ ITKOS_ miyao Miyao MIYAO ingpai LINGPAI clau_ CLAU_ clef_ CLEF_ "
    "kulcs KULCS cheie CHEIE llave LLAVE cle_api CLE_API cle_secr CLE_SECR cleApi cleSecr geheim GEHEIM Geheim "
    "kennwort Kennwort KENNWORT pswd PSWD evice_code _salt Salt passw Passw PASSW passphr Passphr PASSPHR passco Passco PASSCO redential REDENTIAL creds CREDS essionid essionId SESSID "
    "SESSIONID ession_id _pw _PW contrasena Contrasena _SALT CLI_AUTH masterauth totp TOTP epper EPPER sonar.login sonarLogin SONAR_LOGIN authtok _HMAC _hmac ms_code tp_code ation_code rity_code fa_code SMS_CODE"
)
WORDS = "pass Pass PASS pwd Pwd PWD psk Psk PSK _pat _PAT ecret ECRET oken OKEN key Key KEY"
MARKED = (
    *[
        "_session=",
        "_SESSION=",
        "pw=",
        "pw:",
        "pw>",
        "pat:",
        "pat=",
        "PAT:",
        "PAT=",
        'pw"',
        "Pw:",
        'Pw"',
        'Auth"',
        "pw'",
        "PW=",
        "PW:",
        'PW"',
        "AUTH=",
        "AUTH:",
        "SALT=",
        "bearer=",
        "bearer:",
        "BEARER=",
        "BEARER:",
    ],
    *(f"{word}{sign}" for word in ["pin", "Pin", "PIN", "otp", "OTP"] for sign in '=:" ,\t\\'),
    *(f"{word}{sign}" for word in ["_code", "_CODE"] for sign in '=:"'),
    "pw ",
    "PW ",
)

# The kind of a secret: of the first mark that a name holds, its words joined by `_`.
KINDS = (
    ("password_", "PASSWORD"),
    ("passwd_", "PASSWORD"),
    ("pwd_", "PASSWORD"),
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
KIND_OF = {
    "password": "PASSWORD",
    "secret": "SECRET",
    "token": "TOKEN",
    "code": "CODE",
    "weak": "API_KEY",
    "long": "API_KEY",
    "hint": "SECRET",
}
