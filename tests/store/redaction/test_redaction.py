"""What is taken out of a text, what stays, and what a configuration changes."""

from __future__ import annotations

import dataclasses
import re
import re._constants as code
import re._parser as parser

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st
from secrets_made import Maker
from streams import fed, in_bytes
from support import each_of, examples

from spillstore.exceptions import InvalidSettingError, PatternError
from spillstore.redaction import DEFAULT, Pattern, RedactionRules, Redactor, counted, patterns, redact
from spillstore.redaction.beginnings import UnreadableError, beginnings
from spillstore.redaction.names import HINT, classify
from spillstore.redaction.tokens import TOKENS

AROUND = (
    "{}",
    "token is {} ok",
    "x={}",
    '"{}"',
    "https://x.example/?k={}&y",
    "a\\n{}\\nb",
    "[{}]",
    "'{}',",
    "\x1b[1m{}\x1b[0m",
)


@each_of("before", [0, 5, 150, 1_000, 131_060, 200_000])
@each_of("kind", [str, bytes])
def test_a_beginning_has_no_part_of_a_secret(before, kind):
    """Wherever it is cut, it is the beginning of the text without secrets: of any text, and of halves of characters."""
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9" * 2
    text = " ".join(["\u00e9 \ud800" * (before // 3), token, "more " * 60_000])
    whole = text if kind is str else text.encode(errors="surrogatepass")
    clean = redact(whole)
    for length in (0, 1, *range(before - 3, before + 40, 7), len(clean) - 1, len(clean), len(clean) + 9):
        assert DEFAULT.beginning(whole, max(0, length)) == clean[: max(0, length)]


@pytest.mark.parametrize("seed", range(5))
def test_tokens_are_known_by_their_form(seed):
    """A token of each provider's public format goes wherever it stands, but for a public part at its beginning."""
    left = []
    for name, secret in Maker(seed).tokens().items():
        for around in AROUND:
            result = redact(around.format(secret))
            if secret[-14:] in result or secret in result or "[REDACTED: " not in result:
                left.append((name, around))
    assert left == []


@pytest.mark.parametrize("seed", range(5))
def test_values_are_known_by_their_place(seed):
    """What stands behind a secret's name, in a header, an address or an option goes, in every notation."""
    maker = Maker(seed)
    left = [text for secret, text in maker.within() + maker.elsewhere() if secret in redact(text)]
    assert left == []


@each_of(
    "text, expected",
    [
        ("password=hunter2", "password=[REDACTED: PASSWORD]"),
        ("postgres://me:hunter2@db/x", "postgres://me:[REDACTED: PASSWORD]@db/x"),
        ("postgres://me:hun@ter2@db/x", "postgres://me:[REDACTED: PASSWORD]@db/x"),
        ("mysql -pS3cret -h db", "mysql -p[REDACTED: PASSWORD] -h db"),
        ("Authorization: Bearer abc.def-1234567", "Authorization: Bearer [REDACTED: BEARER_TOKEN]"),
        ('{"password": "hun\\"ter2", "a": 1}', '{"password": "[REDACTED: PASSWORD]", "a": 1}'),
        ("?password=hunter2&user=me", "?password=[REDACTED: PASSWORD]&user=me"),
        ("password=hunter2, user=me", "password=[REDACTED: PASSWORD], user=me"),
        ("host=db user=me password=kittens port=5", "host=db user=me password=[REDACTED: PASSWORD] port=5"),
        ("machine h login me password kittens", "machine h login me password [REDACTED: PASSWORD]"),
        ("connect(password=hunter2).run()", "connect(password=[REDACTED: PASSWORD]).run()"),
        ("Password=hunter2;Encrypt=yes", "Password=[REDACTED: PASSWORD];Encrypt=yes"),
        ("Cookie: theme=dark; sid=0a1b2c3d4e5f6a7b", "Cookie: theme=dark; sid=[REDACTED: COOKIE]"),
        ("connect(password='hunter2', port=5)", "connect(password='[REDACTED: PASSWORD]', port=5)"),
        ("app/.env:7:DB_PASSWORD=hunter2", "app/.env:7:DB_PASSWORD=[REDACTED: PASSWORD]"),
        ("app.env:DB_PASSWORD=hunter2", "app.env:DB_PASSWORD=[REDACTED: PASSWORD]"),
        ("12:  password: kittens", "12:  password: [REDACTED: PASSWORD]"),
        ("1036:requirepass hunter2", "1036:requirepass [REDACTED: PASSWORD]"),
        ("profile::db::password: 'hunter2'", "profile::db::password: '[REDACTED: PASSWORD]'"),
        ("Main:Password = hunter2", "Main:Password = [REDACTED: PASSWORD]"),
        ('"Smtp:Password": "hunter2"', '"Smtp:Password": "[REDACTED: PASSWORD]"'),
        (
            '{"name": "Cookie", "value": "sid=0a1b2c3d4e5f6a7b"}',
            '{"name": "Cookie", "value": "sid=[REDACTED: COOKIE]"}',
        ),
        ("the new password is Harbor-515", "the new password is [REDACTED: PASSWORD]"),
        (
            "api_key:\n  type: string\n  default: 0a1b2c3d4e5f6a7b\n",
            "api_key:\n  type: string\n  default: [REDACTED: API_KEY]\n",
        ),
    ],
)
def test_only_the_secret_goes(text, expected):
    """Names, users, hosts and schemes around a secret stay."""
    assert redact(text) == expected


HARMLESS = r"""
password: str
password: string;
password: Optional[str] = None
password = None
password=null
password=true
password=password
password=self.password,
token=self.token
token = request.headers.get("X")
password=os.environ["DB_PASSWORD"]
password=process.env.DB_PASSWORD
password = getpass.getpass()
password=$DB_PASSWORD
password: ${DB_PASSWORD}
password: {{ vault.password }}
password: "{{ vault.password }}"
password=%(password)s
password: <password>
password=xxxxxxxx
password=********
password=changeme
password: required
password: ""
password=[REDACTED: PASSWORD]
the password is wrong
Enter password:
Enter your password:
password must not be empty
invalid token: expected 3 parts
Unexpected token '}' at position 12
secretName: my-secret
secretKeyRef: { name: db, key: password }
password_length = 12
PASSWORD_MIN_LENGTH=8
token_type: Bearer
token_url = "https://example.com/oauth/token"
tokens: 8192
max_tokens=4096
total_tokens: 123456
keyword: "abc123def456ghi789jkl0"
cache_key=0a1b2c3d4e5f60718293a4b5c6d7e8f9
key: value
"key": "some.translation.key2"
primary_key=True
tokens = [str(element) for element in value]
execute(SQL, {"session_key": SESSION_KEY}).fetchone()
execute(SQL, {"session_key": 1}).fetchone()
connect(password=secret_word).run()
RX_TOKENS = [(re.compile(rx), sub) for rx in found]
{'Date': stamp, 'Authorization': v4auth_header}
userinfo += f":{password}"
public_key = "9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit"
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDhA me@host
test_password_reset PASSED [ 12%]
tests/test_token.py::test_refresh_token PASSED
--password PASSWORD     the password of the user
--token TOKEN  an access token
commit 3f786850e387550fdab836ed7e6dc881de23001b
index 3f78685..89e6c98 100644
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  dist.tar.gz
"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
id: 123e4567-e89b-12d3-a456-426614174000
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
if line.startswith("-----BEGIN RSA PRIVATE KEY-----"):
http://localhost:8080/path
http://user:password@example.com
https://example.com/@scope/package
git@github.com:owner/repository.git
GET /users/me?page=2&sort=key:asc
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Basic ...
arn:aws:secretsmanager:eu-west-1:123456789012:secret:name-AbCdEf
"AWS::ApiGateway::ApiKey": "48205d4ffd7feba3",
nextToken: "9f4d9f69-275a-41fe-b58e-2b837bd9ba48"
csrf_token = "Mj2qykJO5rELyHgezQ69nzUX0i3OH67V7"
const alphabetKey = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
apiKey: string;
var e=t.key,n=r.token;function(o){return o.password=i.password}
def authenticate(user: str, password: str, token: str | None = None) -> Token:
<input type="password" name="password" placeholder="Password">
docker run -u 1000:1000 image
python -u script.py
curl -u username:password https://example.com
get '/forgot-password' => "site/passwords#edit", as: 'edit_password'
this.addPassword = "#add-password";
echo 'password = '.$settings['daemon_password']."\\n";
passwordLabel:"Password:",rememberMeLabel:"Remember me:"
\$pwd = \$_POST[\"password\"];
echo 'export DATABASE_PASSWORD="'$OTHER_PASSWORD'"' >> .env
const password = process.env.DB_PASSWORD || "not-set"
{"kind": "api-custom-key", "c098f218-face-40fe-9ea0-0199cba0": "no-value", "next": "x"}
client_secret=aB38Q~xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
xoxe.xoxp-1-xxx
https://example.com/images/250-xoxo-party-1.jpg
spwd: 3.0-3.12
BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "http://localhost:9292"
printf("Password is correct.");
X25519PrivateKey = openssl.hpke.MLKEM768X25519PrivateKey
tokens = expand_tokens(html2_tokens[j1:j2])
account:패스워드:UID:GID
password_token: |
  see the manual
SECRET_KEY=credentials['secret_key']
STATE_PASSWORD = :PASSWORD
pass = proxy_uri&.password
pass         *analysis.Pass
TOKENS = [*ATOM_TOKENS, T_RBRA]
token = [*elements, @s.matched, *pos]
tokens1 = [tok[:2] for tok in token_list]
acceptable_single_tokens = %i{comma semicolon}
cmd.Env = append(os.Environ(), "PWD="+ts.cd)
object_key: 9e107d9d372bb6826bd81d3542a419d6
commit_key=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12
gpg --recv-keys 2FD4E1C67A2D28FCED849EE1BB76E7391B93EB12
GPG_KEY=2FD4E1C67A2D28FCED849EE1BB76E7391B93EB12
checksum/secret: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
public key: 9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWis=
debug1: Will attempt key: /root/.ssh/id_ed25519 ED25519
auth.existingSecret: shop-db-2024a
row_key=user#123e4567-e89b-12d3-a456-426614174000
"AWS::SecretsManager::Secret": "aws-secretsmanager.CfnSecret2"
"secret": "V1SecretVolumeSource"
the password is Base64-encoded
token 0x8b2c44625a36aa9ac903e7a01bca30cdc4ffd0ec transferred
| password | varchar(64) | NO |
serverPublicKey?: RsaPublicKey | RsaPrivateKey | KeyLike2;
"password": "Kennwort"
order ord_tKCY1wSN5c7DhfURBOgDDTFP
"JobRunId": "jr_012e176506505074d94d761755e5c62538ee1aad6f17d39f527e9140cf0c0c5e"
"DbiResourceId": "db-GJMF75LM42IL6BTFRE4UZJ5YM4"
"Url": "https://3b815a.mediapackage.us-west-2.amazonaws.com/out/v1/6d345804ec3f46c9b454a91d4a80d0e0/index.m3u8"
exports.CfnToken=exports.CfnInstanceEventWindow2=void 0
"V1Secret": ".models.v1_secret",
parse-passwd "^1.0.0"
private_key: x25519.X25519PrivateKey
tokens = ["refresh", "access"]
let s:netrw_passwd = s:netrw_hup[host].passwd
Password (at least 8 characters):
gpg: using RSA key 2FD4E1C67A2D28FCED849EE1BB76E7391B93EB12
cursor key 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12
kubectl get secret my-app-tls-7f6d8c9b5
kubectl get secret sh.helm.release.v1.myapp.v12
unexpected token identifier_name_2_of_3
: "${API_KEY:?API_KEY is not set}"
--api-key YOURKEY
case"password":e=x("Public")
this.sessionToken=t,P.resolve()}}class
getToken:e=>Ae(a,e)}};mt._registerComponent(new e(ke))
passphrase: &[u8],
let token = decode::<Claims>(&token, &key);
$labels['password'] = 'Passwort';
AuthenticationTypeNoPassword = "no-password"
"pbkdf2-password": "1.2.1",
prompt = "{}'s password: ".format(user)
c_pass 1 fmt_category {text} {
resource identified by domain name
"changepassword": "Atharraich facal-faire"
$lang['admin_password'] = 'Das Passwort des obigen Benutzers.'
"config-admin-password": "Parool:",
"userlogin-yourpassword": "Palavra-passe de acesso"
password = "@PASSWORD@"
root_password: "$6$rounds$hash"
UNRESERVED_PAT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
"userlogin-yourpassword": "Kontrasenya"
key_pass = sdb://mydb/key1
$Password = New-Object System.Security.SecureString
$password = ConvertTo-SecureString $pw -AsPlainText
password=f'*{hashlib.sha1(x).hexdigest()}'
password = f"/Users/{name}"
bad-password 'ntpd'
{'unicodePwd': [(MODIFY_REPLACE
CB_PASS = 0x4004
passwd = 1*SAFE
Password = "%{User-Password}"
password = "%{1}"
User-Password = &User-Password
pass:`cmd`
ldapsearch -w -LLL
password = 'passwordfield'
testenv.pass_env+=GITHUB_*
keyring.set_password("system", "username")
fi # $linkmode,$pass = prog,link...
#define SN_setAttr_Token_B0Prime                "setAttr-Token-B0Prime"
FIPS_KEY_STRING = "f4556650ac31d35461610bac4ed81b1a181b2d8a43ea2854cbae22ca74560813"
Cache restored from key: node-modules-linux-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
Cache hit for restore-key: pip-Linux-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
<input type="hidden" name="csrfmiddlewaretoken" value="Mj2qykJO5rELyHgezQ69nzUX0i3OH67V7">
user_key: 123e4567-e89b-12d3-a456-426614174000
"key": "signed-123e4567-e89b-12d3-a456-426614174000"
add("PASSWORD", "password='%s'")
FindingTypeSensitiveDataS3objectCredentials = "SensitiveData:S3Object/Credentials"
"https://$user:$password\@pause.perl.
for (secret=temp+length_id; *secret; ++secret) {
J(e,"password")?"password":"public"}function n
KdcAdminPassword: XmlStringMaxLen256;
token: OAuth2Token
'pass': 'bandpass',
my @valid = qw/trust 1 reject 1 md5 1 crypt 1 password 1 krb5 1 ident 1/;
RESET_PASSWORD = '/v1/accounts:resetPassword'
e.idToken&&(t.idToken=e.idToken),e.accessToken&&(t.access=e)
""".strip("\n").split("\n")


@each_of("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    """Placeholders, variables, types, prose, hashes, identifiers and public keys stay as they are."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "text", ["PWD=@@\n", "HOME=/root\nPWD=@@\nSHLVL=1\n", "A=1\0PWD=@@\0", "A=1\r\nPWD=@@\r\n"]
)
def test_the_folder_of_a_shell_stays(text):
    """What ``env`` prints of a temporary folder, drawn by chance like a password, is a folder."""
    folder = text.replace("@@", "/tmp/tmp." + "Xa8Kd93kLs")
    assert redact(folder) == folder


@pytest.mark.parametrize("text", ["UID=me;PWD=@@", "PWD=@@", "DB_PWD=@@\n"])
def test_a_password_called_pwd_goes(text):
    """Within a line, under a longer name, or where it is no path."""
    secret = ("" if text == "PWD=@@" else "/") + "Xa8Kd93kLs" + "20mQ"
    assert secret not in redact(text.replace("@@", secret))


@pytest.mark.parametrize("before", [b"", b"\x01\n", b"caf\xe9 ", "密码".encode(), b"A=1\0", b"\x1b[1m"])
def test_a_password_called_pw_goes_from_text(before):
    """Behind a line of text in any encoding, also where a byte of it is of no character."""
    for value in (b"Xa8K%d" % 93, b"M\xfcnchen%d" % 7):
        text = before + b"pw=" + value + b"\n"
        assert fed(in_bytes(text))[0] == redact(text) == before + b"pw=[REDACTED: PASSWORD]\n"


@pytest.mark.parametrize(
    "text", [b"\x01 pw=@@\n", b"\x9cpw=@@\n", b" pw=@@\x01\n", b" pw=\xfe@@\xa3\xbf\xc0\n"]
)
def test_a_password_called_pw_stays_in_bytes_of_no_text(text):
    """In random bytes these two letters and a sign stand often."""
    text = text.replace(b"@@", b"Xa8K")
    assert fed(in_bytes(text))[0] == redact(text) == text


def test_aws_manual_key_goes():
    """The key that AWS prints in its manual goes like any other, since nothing tells them apart but a word."""
    key = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    assert redact(f"id = {key}") == "id = [REDACTED: AWS_ACCESS_KEY]"


@pytest.mark.parametrize(
    "kind",
    [
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_private_keys_go_and_lines_stay(kind, end):
    """Every line of a private key is emptied and none is lost, so the lines behind it keep their numbers."""
    body, text = Maker(1).pem(kind)
    text = f"before\n{text}after\n".replace("\n", end)
    result = redact(text)
    assert [line for line in body if line in result] == []
    assert result.count(end) == text.count(end)
    assert result.split(end)[-2] == "after"
    assert counted(text)[1] == {"PRIVATE_KEY": 1}


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda lines: "".join(f"{number:6}\t{line}\n" for number, line in enumerate(lines, 98)),
        lambda lines: "".join(f"id_rsa:{number}:{line}\n" for number, line in enumerate(lines, 1)),
        lambda lines: "".join(
            f"2024-05-01T08:00:{number:02}.{number}Z {line}\n" for number, line in enumerate(lines)
        ),
        lambda lines: "".join(f"    {line}\n" for line in lines),
        lambda lines: "".join(f"+{line}\n" for line in lines),
        lambda lines: 'key = "' + "\\n".join(lines) + '\\n"\n',
        lambda lines: "key = (\n" + "".join(f'    "{line}\\n"\n' for line in lines) + ")\n",
        lambda lines: '{\\"private_key\\": \\"' + "\\\\n".join(lines) + '\\\\n\\"}\n',
        lambda lines: " ".join(lines) + "\n",
    ],
    ids=["cat -n", "grep -n", "log", "indented", "diff", "one line", "literals", "JSON in JSON", "folded"],
)
def test_private_keys_in_other_clothes(wrapped):
    """A key is found behind line numbers, times and diff signs, and in strings of programs and of JSON."""
    body, text = Maker(2).pem()
    text = wrapped(text.splitlines())
    result = redact(text)
    assert [line for line in body if line in result] == []
    assert result.count("\n") == text.count("\n")


def test_static_keys_of_openvpn_go():
    """Their armour has another name, and each line is hexadecimal."""
    body = ["0a1b2c3d4e5f60718293a4b5c6d7e8f9", "f9e8d7c6b5a493827160f5e4d3c2b1a0"]
    key = ["-----BEGIN OpenVPN Static key V1-----", *body, "-----END OpenVPN Static key V1-----", "x"]
    assert redact("\n".join(key)) == "\n".join([key[0], "[REDACTED: PRIVATE_KEY]", "", *key[-2:]])


def test_a_key_without_an_end_stops_at_other_text():
    """The first line that is no part of a key is not taken, whether the end of the key was seen or not."""
    body, text = Maker(3).pem()
    text = "\n".join(text.splitlines()[:-1]) + "\nTraceback (most recent call last):\nab\n"
    assert redact(text).endswith("\nTraceback (most recent call last):\nab\n")
    assert [line for line in body if line in redact(text)] == []


@pytest.mark.parametrize("seed", range(3))
def test_twice_is_once(seed):
    """A text without its secrets has none."""
    maker = Maker(seed)
    texts = [*maker.tokens().values(), *(text for _, text in maker.within()), maker.pem()[1], *HARMLESS]
    once = redact("\n".join(texts))
    assert counted(once) == (once, {})


@given(st.binary(max_size=300))
@examples(300)
def test_any_bytes(data):
    """Bytes of any kind are taken, and the line ends stay."""
    result = redact(data)
    assert (result.count(b"\n"), result.count(b"\r")) == (data.count(b"\n"), data.count(b"\r"))


@given(st.text(st.characters(exclude_categories=()), max_size=60))
@examples(200)
def test_any_text(text):
    """So is any str, with surrogates or without, and its type and its other letters are the same after."""
    result = redact(f"{text}\npassword=hunter2")
    assert result.endswith("password=[REDACTED: PASSWORD]")


def test_binary_content():
    """A key and a token are found between bytes that are no text."""
    body, text = Maker(4).pem()
    token = "ghp_" + Maker(4).of(36)
    data = bytes(range(256)) * 4 + text.encode() + b"\0" * 300 + token.encode() + b"\0\xff"
    result = redact(data)
    assert token.encode() not in result
    assert [line for line in body if line.encode() in result] == []


def test_environment_of_a_process():
    """Values between zero bytes, as in /proc/PID/environ, are told apart."""
    assert redact(b"A=1\0DB_PASSWORD=hunter2\0B=2\0") == b"A=1\0DB_PASSWORD=[REDACTED: PASSWORD]\0B=2\0"


def test_colours_hide_nothing():
    """A secret is found though parts of it, or its name, are coloured."""
    token = "ghp_" + Maker(5).of(36)
    text = f"\x1b[01;31m\x1b[K{token[:4]}\x1b[m\x1b[K{token[4:]} \x1b[32mpassword\x1b[0m:\x1b[33m hunter2\x1b[0m."
    assert (
        redact(text)
        == "\x1b[01;31m\x1b[K[REDACTED: GITHUB_TOKEN] \x1b[32mpassword\x1b[0m:\x1b[33m [REDACTED: PASSWORD]\x1b[0m."
    )


def test_counts_are_by_kind():
    """What was taken out is counted by kind; nothing of it is kept."""
    redactor = Redactor()
    redactor.feed(b"password=hunter2 secret_key=abc123def456\npassword=hunter3\n")
    assert redactor.counts == {"PASSWORD": 2, "SECRET": 1}
    assert "hunter" not in repr(vars(redactor))


# --- names ---


@each_of(
    "name, kind",
    [
        ("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY"),
        ("dbPassword2", "PASSWORD"),
        ("spring.datasource.password", "PASSWORD"),
        ("X-Api-Key", "API_KEY"),
        ("client_secret", "SECRET"),
        ("authToken", "TOKEN"),
        ("DD_API_KEY", "DATADOG_KEY"),
        ("SOMECLOUDAPIKEY", "API_KEY"),
        ("MYSQLPASS", "PASSWORD"),
        ("dbpwd", "PASSWORD"),
        ("facebook.key", "API_KEY"),
        ("bypass", None),
        ("spwd", None),
        ("session", None),
        ("secretName", None),
        ("password_hash", None),
        ("passwordConfirmation", "PASSWORD"),
        ("password_policy", None),
        ("tokenizer", None),
        ("public_key", None),
        ("passport", None),
        ("keyboard", None),
    ],
)
def test_names(name, kind):
    """The last word of a name that is not about something else decides; a hint is no promise."""
    known = classify(name.encode())
    assert (known.kind if known and known.strength != HINT else None) == kind


# --- literals ---


def test_no_literal_hides_another():
    """A token is found though its literal stands inside of another's."""
    maker = Maker(1)
    inside = [
        (outer.literal, inner.literal)
        for outer in TOKENS
        for inner in TOKENS
        if inner.literal in outer.literal[1:]
    ]
    assert {(b"ops_eyJ", b"eyJ"), (b"sb_secret_", b"secret_")} <= set(inside)
    assert counted("ops_" + maker.jwt())[1] == {"JWT": 1}
    assert counted("AGE-SECRET-KEY-1//0" + "9" + maker.of(40))[1] == {"GOOGLE_OAUTH": 1}


def test_tokens_are_made_of_run_characters():
    """What follows a literal is made of the characters of a run alone, which is what a stream relies on."""
    letters = {byte for token in TOKENS for byte in _letters(parser.parse(token.rest))}
    assert letters <= set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~+/=@-")


def _letters(items):
    """The bytes that a parsed pattern names, look-ahead aside."""
    for op, value in items:
        if op is code.LITERAL:
            yield value
        elif op is code.RANGE:
            yield from range(value[0], value[1] + 1)
        elif op is code.CATEGORY:
            assert value is code.CATEGORY_DIGIT
        elif op is code.IN:
            yield from _letters(value)
        elif op is code.MAX_REPEAT:
            yield from _letters(value[2])
        elif op is code.SUBPATTERN:
            yield from _letters(value[3])
        elif op is code.BRANCH:
            for branch in value[1]:
                yield from _letters(branch)
        else:
            assert op is code.ASSERT_NOT


# --- configuration ---


def test_kinds_are_switched_off():
    """A kind that is off stays, the others go."""
    rules = RedactionRules(off={"PASSWORD"})
    assert (
        rules.redact("password=hunter2 secret_key=abc123def456")
        == "password=hunter2 secret_key=[REDACTED: SECRET]"
    )


def test_off_altogether():
    """Rules that are not enabled take nothing out."""
    assert RedactionRules(enabled=False).redact("password=hunter2") == "password=hunter2"


def test_allow_lists():
    """A secret that is allowed, as it is or by a pattern for the whole of it, stays."""
    rules = RedactionRules(allow={"hunter2"}, allow_patterns=("test-.*",))
    text = "password=hunter2\npassword=test-12ab\npassword=hunter22\npassword=a-test-12ab\n"
    assert rules.redact(text) == (
        "password=hunter2\npassword=test-12ab\npassword=[REDACTED: PASSWORD]\npassword=[REDACTED: PASSWORD]\n"
    )


def test_own_patterns():
    """A pattern takes out its group, within lines, beside the built-in rules."""
    rules = RedactionRules(
        patterns=(Pattern(name="badge", pattern=r"^badge: (\d+)$", group=1, kind="staff number"),)
    )
    text = "badge: 12345\r\nbadge: 12345 x\nbadge:\n 12345\npassword=hunter2\n"
    assert rules.redact(text) == (
        "badge: [REDACTED: STAFF_NUMBER]\r\nbadge: 12345 x\nbadge:\n 12345\npassword=[REDACTED: PASSWORD]\n"
    )


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?<=a)b", "no RE2 pattern"),
        (r"(a)\1", "no RE2 pattern"),
        ("(a", "no RE2 pattern"),
        ("[a-z]{1001}", "no RE2 pattern"),
        ("[a-z]{900}x" * 12, "instructions"),
        (r"\pL+", "cannot follow"),
    ],
)
def test_wrong_patterns(pattern, said):
    """A pattern that cannot be used is refused by the name of its rule, with the reason."""
    with pytest.raises(PatternError, match=f"rule 'mine'.*{said}"):
        Pattern(name="mine", pattern=pattern)


def test_wrong_groups_and_types():
    """So are a group that is not there, and values of other types."""
    with pytest.raises(PatternError, match="no group 2; it has 1"):
        Pattern(name="mine", pattern="(a)", group=2)
    with pytest.raises(InvalidSettingError, match="off is 'JWT'"):
        RedactionRules(off="JWT")
    with pytest.raises(InvalidSettingError, match="patterns is"):
        RedactionRules(patterns=("a",))
    with pytest.raises(PatternError, match="allow_patterns"):
        RedactionRules(allow_patterns=("(",))


def test_rules_are_values():
    """Rules are equal when they say the same, and cannot be changed."""
    assert RedactionRules(allow={"a"}) == RedactionRules(allow=frozenset({"a"}))
    assert RedactionRules() == DEFAULT
    assert hash(RedactionRules()) == hash(DEFAULT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEFAULT.enabled = False


GITLEAKS = r"""
title = "mine"
[allowlist]
description = "all"
paths = ['''\.lock$''']
stopwords = ["sample"]

[[rules]]
id = "acme-key"
description = "a key"
regex = '''(?i)\bacme[_-](?:key|id)\s{0,3}[:=]\s{0,3}([a-z0-9]{16})(?:['"\s]|$)'''
entropy = 3.0
keywords = ["acme"]
tags = ["x"]

[[rules.allowlists]]
condition = "AND"
regexTarget = "line"
regexes = ['''# public''']
stopwords = ["0000"]

[[rules]]
id = "files-alone"
path = '''\.p12$'''
"""


def test_gitleaks_files():
    """Rules of a file in the format of gitleaks: group, keywords, entropy, allow-lists."""
    rules = RedactionRules.from_gitleaks(GITLEAKS)
    key = Maker(6).of(16, "abcdefgh12345678")
    text = f"ACME_KEY = {key}\nacme-id: aaaaaaaaaaaaaaa1\nacme_key=sample{key[6:]}\nacme_key=0000{key[4:]} # public\n"
    assert rules.redact(text) == text.replace(f" {key}\n", " [REDACTED: ACME_KEY]\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[extend]\nuseDefault = true", "the file: not supported: extend"),
        ('[[rules]]\nid = "a"\nregex = "b"\nrequired = []', "rule 'a': not supported: required"),
        ('[[rules]]\nid = "a"\nregex = 5', "regex is 5"),
        ('[[rules]]\nid = "a"\nregex = "b"\nkeywords = "k"', "no list of strings"),
        ('[[rules]]\nid = "a"\nregex = "b"\n[rules.allowlist]\nregexTarget = "file"', "regexTarget 'file'"),
        ("= 5", "no TOML"),
        ("rules = [1]", "a table is wanted"),
    ],
)
def test_gitleaks_files_that_are_refused(text, said):
    """What is not supported is refused by name."""
    with pytest.raises(InvalidSettingError, match=re.escape(said)):
        RedactionRules.from_gitleaks(text)


def test_a_wrong_rule_of_a_file_is_named():
    """What is wrong in an expression is said with the name of its rule, and of what the file says alone."""
    with pytest.raises(PatternError) as raised:
        RedactionRules.from_gitleaks('[[rules]]\nid = "a"\nregex = "(b"')
    assert "rule 'a': '(b' is no RE2 pattern: missing ): (b" == str(raised.value)


def test_a_rule_of_a_file_is_compiled_once():
    """That no group is named takes no second compilation: its first group is the secret."""
    patterns.compiled.cache_clear()
    rules = RedactionRules.from_gitleaks('[[rules]]\nid = "a"\nregex = "id ([0-9]{6})"')
    assert (1, 1) == (rules.patterns[0].group, patterns.compiled.cache_info().currsize)


# --- beginnings ---


PATTERNS = [
    "abc",
    "a[bc]{2,3}d?",
    "(?:ab|cd)+e",
    "(?i:ab)c{2}",
    r"\d{2}-\w*x",
    "a(?:b(?:c|d){2}){1,2}",
    "[^a]b|c.",
    "a*?b",
    "(a|ab)(c|bcd)",
]


@given(st.sampled_from(PATTERNS), st.text("abcdexABC12-", max_size=8), st.text("abcdexABC12-", max_size=6))
@examples(600)
def test_beginnings(pattern, text, more):
    """Whatever can become a match matches the expression for its beginnings."""
    if re.fullmatch(pattern, text + more):
        assert re.fullmatch(beginnings(pattern), text)


def test_flags_within_a_pattern():
    """A flag in the middle of a pattern, as RE2 has it, is understood."""
    begun = re.compile(beginnings(r"(p8e-(?i)[a-z]{2})x\z"))
    assert [text for text in ("p8", "p8e-", "p8e-Ab", "p8e-ABx", "p8e-ABy") if begun.fullmatch(text)] == [
        "p8",
        "p8e-",
        "p8e-Ab",
        "p8e-ABx",
    ]


@each_of(
    "pattern",
    [
        r"(a)\1",
        "(?P=name)",
        "(?(1)a|b)",
        "(?#note)",
        "(?x) a",
        "(a",
        "a)",
        "[a",
        "a\\",
        "(" * 5000,
        r"\pL",
        r"a[\PL]",
    ],
)
def test_beginnings_of_other_syntax(pattern):
    """What cannot be read is said to be."""
    with pytest.raises(UnreadableError):
        beginnings(pattern)


RE2_PATTERNS = [
    (r"\Qa.b\E+c", "a.bbc"),
    (r"[[:alpha:]]{2}[^[:digit:]x]", "ab-"),
    (r"\x41\x{42}\103\0", "ABC\0"),
    (r"(?i)a[^b]", "AB"),
    (r"(?P<one>a)(?<two>b)(?i:c|(?-i:d))", "abC"),
    (r"(?U)a*b{2,}c{,3}", "aabbbc{,3}"),
    (r"^a$|(?:)\bx\b", "x"),
    (r"[]a][^]a]", "]b"),
    (r"(?:(?:ab?){2}c){1,2}", "abacaabc"),
    (r"été|\.", "été"),
]


@pytest.mark.parametrize(("pattern", "match"), RE2_PATTERNS)
def test_beginnings_of_what_re2_reads(pattern, match):
    """Quotes, classes, escapes, flags and names of RE2 are understood: every beginning of a match is one, in that engine."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    begun = re2.compile(beginnings(pattern.encode().decode("latin-1")).encode("latin-1"), options)
    data = match.encode()
    for size in range(len(data) + 1):
        assert begun.fullmatch(data[:size]), data[:size]
    assert not begun.fullmatch(b"\n")


def test_a_pattern_with_letters_of_several_bytes_is_held_within_one():
    """A stream that is cut inside such a letter gives what a whole text gives."""
    rules = RedactionRules(patterns=(Pattern(name="summer", pattern="été-[0-9]+"),))
    text = "un été-123 fini".encode()
    assert b"un [REDACTED: SUMMER] fini" == fed(in_bytes(text), rules)[0] == rules.redact(text)


@pytest.mark.parametrize("word", ["p\xe4ssword1", "gr\xf6\xdfe77x!", "\xf6l-und-77"])
@pytest.mark.parametrize("form", ["password={}", 'DB_PASSWORD="{}"', '"password": "{}"'])
def test_passwords_with_letters_of_any_encoding(word, form):
    """A password of a western keyboard goes in UTF-8 and in an encoding of one byte a letter."""
    for encoding in ("utf-8", "latin-1"):
        assert counted(form.format(word).encode(encoding))[1] == {"PASSWORD": 1}


def test_kinds_are_known():
    """What is found has a kind that may be left, and a kind that does not exist is refused with those like it."""
    maker = Maker(3)
    texts = [*maker.tokens().values(), *(text for _, text in maker.within()), maker.pem()[1]]
    found = set().union(*(counted(text)[1] for text in texts))
    assert len(found) > 50
    assert RedactionRules(off=found).off == found
    own = RedactionRules(off={"BADGE"}, patterns=(Pattern(name="badge", pattern="b-[0-9]+"),))
    assert own.redact("b-1 password=hunter2") == "b-1 password=[REDACTED: PASSWORD]"
    for wrong in ("PASWORD", "password", "nope"):
        with pytest.raises(InvalidSettingError, match=f"off names '{wrong}'.* kinds are .*and others"):
            RedactionRules(off={wrong})


def test_bytes_that_are_no_text_stay():
    """What stands behind the word in an archive is no password."""
    for value in (b"\x8f\xe3a1\xf3", b"\x01\x02\x03\x04", b"\xff\xfe1\xfd\xfc", b"\xe4\xf6\xfc\xdf1"):
        assert counted(b"password=" + value + b"\n")[1] == {}


@pytest.mark.parametrize("sign", ["+", "/", "//", "+/"])
def test_lines_of_a_key_that_begin_with_a_sign(sign):
    """Base64 may begin with what else marks a line of a diff: nothing of it stays, and in a diff the sign may."""
    body, _ = Maker(7).pem(lines=4)
    lines = [sign + line[len(sign) :] for line in body[:-1]] + body[-1:]
    key = ["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"]
    assert redact("\n".join(key)).splitlines() == [key[0], "[REDACTED: PRIVATE_KEY]", "", "", "", "", key[-1]]
    left = redact("\n".join(f"+{line}" for line in key)).splitlines()
    assert [line for line in left[1:-1] if line.strip("+")] == ["+[REDACTED: PRIVATE_KEY]"]


# Code, tables and messages that look like the forms of secrets and hold none.
LOOKS_LIKE_ONE = (
    "scp deploy@web1.example.com:report2024.pdf",
    "rsync -a deploy@web1.example.com:db2024 .",
    "origin git@github.com:web2.git",
    "repository: git@gitlab.example.com:infra-2024.git",
    "BORG_REPO: borg@backup.example.com:repo-web1",
    "INFO bob@example.com:login-2",
    'await page.fill("#addressLine1", addr)',
    "await page.fill('textarea#Notes2', note)",
    "locator.fill('#Tag2024Go')",
    'column("passwd").type("VarChar255")',
    "graphql.field('password').type('ID2String')",
    "it('resets password', async () => { await page.getByLabel('Email').fill('JaneDoe1') })",
    "cy.visit('/reset-password'); cy.get('#user').type('JohnDoe42')",
    "page.getByLabel('Password').fill(pw); page.getByLabel('User').fill('JohnDoe42')",
    "await passwordPage.userField.fill('JohnDoe42')",
    "form.setValue('passwordPolicy', 'MinLength8')",
    '{"loc":["body","password"],"msg":"Field required","type":"missing"},{"loc":["body","email"],"msg":"x","input":"not-an-email"}',
    "Подключение: 8f0e9d5c-12ab-4c3d-9e8f-001122334455",
    "Исключение в запросе: 3f786850e387550fdab836ed7e6dc881de23001b",
    "Включено правило: rule_a1b2c3d4e5f60718293a4b",
    "ключевое слово: utf8mb4_general_ci",
    "Секретарь: Ivanov1987.x",
    "Κωδικός προϊόντος: PR-12345",
    "Ταχυδρομικός κωδικός: 15125",
    "kodikos: 12345",
    "kodikos,onoma",
    "int sifra = 4711;",
    '"sifra": "10023"',
    "sifra,naziv,cena\n10023,Hleb,55",
    "Der Schlüssel der Datei: 3f786850e387550fdab836ed7e6dc881de23001b",
    "La clé du cache : d41d8cd98f00b204e9800998ecf8427e",
    "clave para el commit: 3f786850e387550fdab836ed7e6dc881de23001b",
    "chave estrangeira: fk_a1b2c3d4e5f6",
    "Tests en succès : unit/Login2Test",
    "Accès : Menu / Reglages2Gen",
    '"password_hash": "argon2id"',
    'password_hash = "md5crypt"',
    '"password_hash": "char(60)"',
    '"pin_code": "560001"',
    "alarm_code: 10023",
    'claim_code: "CLM-2024-00123"',
    'primary_key: "order#12345#customer#67890"',
    '"primary_key": "pk_users_0a1b2c3d4e5f6a7b8c9d"',
    "New value: 3f786850e387550fdab836ed7e6dc881de23001b",
    "New value: sg-0a1b2c3d4e5f67890",
    "createUser('alice', 'Alice2Smith')",
    "createUser(\"u1\", 'Role2Admin', true)",
    "<name>password</name><ValueType>String2Type</ValueType>",
    "Generate with rails secret\nusers2024",
    "See the docs of get-access-token\nGetAccessTokenResponseV2",
    "def getHashSalt(self):\n    return_value_2024",
    "userlist.txt\nStatus: Done2024.x",
    "user_password   NO    varchar2",
    "password     true     Text2Input",
    'DB_PASSWORD   null   "varchar(255)"',
    "auth: 'Ldap+Tls1.2'",
    'auth="U2F+Fido2"',
    '"auth": "Anmelden2!"',
    "tool --mysql-auth=Native1!",
    'proxy_auth = "ntlm:negotiate2"',
    "hashlib.sha256(b'HelloWorld1')",
    "crypto.subtle.encrypt('AesGcm256', key)",
    "decrypt('messageV2')",
    "GET /ping/8f0e9d5c-12ab-4c3d-9e8f-001122334455",
    "require('../ping/PingServiceClientV2Factory3')",
    "rtmp://srv.example/live/stream1080p60",
    "x?ticket=proj-2024-customer-support-0012345",
    '"md5d41d8cd98f00b204e9800998ecf8427e"',
    "tool --session /var/lib/sessions/of/some/one/who/has/a/long/path/in/the/folder/of/all",
    '<add key="httpPublicKey" value="MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDu"/>',
    "? What's the value of CI? v2.0-beta",
    "dotnet user-secrets set Kestrel:Port 5001",
    "the password cipher AES256 is used",
    "set snmp community name ro-view1",
    '(is (= :pass "result"))',
    'sheet.Unprotect "Sheet1Name"',
    "$USER2$=Site2Name",
    "password policy name: MyPolicy2024",
    "The token for request id 7 is 8f0e9d5c-12ab-4c3d-9e8f-001122334455",
    'built_in_salt: "a1b2c3d4e5f60718"',
    "token  line1987.go",
    "    41\tpassword = args",
    "     3\tpw = width",
    "12 | pass = tests",
    "120→pass = count",
    "JWT_SECRET=your-256-bit-secret-key-that-is-at-least-32-characters-long",
    "SECRET_KEY=change-me-to-a-long-random-string-of-at-least-50-chars",
    "key: node-modules-v1-ubuntu-22-04-node-18-yarn-a-b-c-lock",
    "key: how-to-set-up-2-factor-auth-for-all-users-in-a-team",
    "translation_key=error_the_password_must_have_at_least_8_characters_or_more",
    "token=test_that_the_token_is_renewed_after_1_hour_of_use",
    "hash_key=(h_1*31)^(h_2*37)^(h_3*41)^(h_4*43)^(h_5*47)",
    "per_token_loss = -(per_token_loss - advantages.unsqueeze(1))",
    "m_token_produced = !m_token_produced;",
    '    Token.Keyword: "$text-accent",',
    "secret_foo=SECRET_FOO:latest",
    "token_mask = ~pad_mask4d",
    "token_weight = 2*n_tokens+1",
    "token_model: gpt-4o-mini-2024",
    'token_encoding = "cl100k_base"',
    "token_budget: 128k/200k",
    "token_throughput: 1234.5tok/s",
    'token_price = "$1.25/1M"',
    "secret_volume: app-7f9c8d6b5x",
    "secret_created: 20240501T080000Z",
    "token_serial: GALT12345678",
    "token_device: iPhone15Pro2",
    'token_ip = "2001:db8::1a2b"',
    "--token-color-primary: #1a2b3c4d",
    'passwordIcon = "mdi-lock-24px"',
    'password_charset = "a-zA-Z0-9!@#$"',
    "PASSWORD_CHARSET=utf8mb4_bin",
    "password_kdf: argon2id-v13",
    "token_standard: ERC721A-v4",
    "token_pair: WETH9USDC6",
    "battle_pass_season: s12x2024",
    'private_key_curve = "secp256k1"',
    "access_key_region: eu-central-1b",
    "api_key_model: gpt-4o-2024-05-13",
    "password_encryption: scram-sha-512",
    "password_user: jdoe1984",
    "password-server: dc01win2019",
    "password_backend=ldap2012",
    "token_server: auth01eu",
    "lock_code: 1205",
    "gate_code: 20231",
    "ERROR entry_code=10054 returned by peer",
    "keypad_code=65293",
    "pass_new: 1204",
    "pass_old=1198",
    "tests_pass_old: 1198",
    "mot de passe Windows11 oublié",
    "la contraseña Office365Pro caducó",
    "senha Windows11Pro esquecida",
    "Пароль PostgreSQL15 не задан",
    "Неверный пароль Windows10",
    "口令是SHA256散列",
    "口令为base64编码",
    "пароль_истекает: 2024-05-01",
    "пароль_версия=v2beta1",
    "секрет_версия: v12beta3",
    "clave_ct: 09DPR1234Z",
    "clave_articulo: ART00012-B",
    "clave_curso: MAT101-2024B",
    "clave_region: us-east-1a",
    "chave_produto=SKU00042X",
    "khoa_hoc: K65CNTT02",
    "kunci_jawaban: A1B2C3D4E5",
    "nyckel_tal: Q12024mkr",
    "clef_usb=kingston64gb3",
    "parola_chiave: scarpe2024",
    "BRÜSSEL_MIDI=8814001bru",
    "next token to emit: `ident42x7`",
    "token used in tests: `abc123def456ghi789`",
    "llvm::pass: LoopUnroll2",
    "passes::pass = 1024",
)


LOOKS_LIKE_NONE = (
    "user,password\r\nanna,Kitten77x!\r\nbert,@\r\n",
    "name,token\na,1\n\nb,@\n",
    "<p>Your new API token is: @</p>\n",
    "<b>Your token for the build: @</b>\n",
    "Your API token for Acme Inc.: @\n",
    'password: "$tr0ng.@"\n',
    "password=$uperS3cret@.key\n",
    "password=!vault2024@\n",
    "password: '|kitten|@'\n",
    "token_status=@\n",
    "FIREBASE_AUTH=@\n",
    "MAILGUN_EU=@\n",
    "rabbitmq::default_pass: @\n",
    "db_password_old=@\n",
    "SECRET_KEY: j1x44_ohgh9^m58kd#0v9hq5nx%1^*o0(dfuc42e#h#@\n",
)


@each_of("text", LOOKS_LIKE_NONE)
def test_what_looks_like_none_goes(text):
    """Lines that end as on Windows, empty lines in tables, elements, abbreviations, signs of variables, names that go on."""
    secret = Maker(12).of(24) if "j1x44" not in text else "sl-arww"
    assert secret not in redact(text.replace("@", secret))


@each_of("line", LOOKS_LIKE_ONE)
def test_what_looks_like_a_form_stays(line):
    """A line stays alone, and with others around it."""
    for text in (line, f"x\n{line}\ny\n"):
        assert redact(text) == text
