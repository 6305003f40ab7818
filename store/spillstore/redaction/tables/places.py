"""Secrets by their place: headers, cookies, addresses and their parameters, login files, options of programs.

Columns are told in ``rows.py``. What no row can say is a function of Python, and its row names it.
"""

from __future__ import annotations

from spillstore.redaction.tables.classes import CREDENTIAL, WORD
from spillstore.redaction.tables.forms import ASSIGN, MAYBE_QUOTED
from spillstore.redaction.tables.rows import Command, Place

# What may stand between ``Authorization:`` and the credentials, of either case; of some the credentials may be parameters with names.
PARAMETERS = "digest hawk oauth aws4-hmac-sha256"
SCHEMES = (
    "bearer basic token api-token apikey api-key bot digest negotiate ntlm sso-key key aws4-hmac-sha256 genie-?key ssws splunk hawk "
    "oauth jwt pat"
)
# Attributes of a cookie, which are no cookies.
COOKIE_ATTRIBUTES = "path domain expires max-age samesite version comment priority"
# What schemes of databases and queues have in them: the user or the password of such may be a word of every day.
DATABASES = (
    "postgres mysql mariadb mongo redis amqp mssql sqlserver oracle jdbc clickhouse cockroach couchbase cassandra neo4j bolt "
    "ldap smtp db2 snowflake influx kafka nats mqtt valkey memcache elasticsearch pgsql psql"
)
# Users and passwords of manuals: users of databases, those of other addresses besides, and passwords of either.
NOBODY = "user username name login usr u me uid"
ANYBODY = "foo root admin userid user1 test john"
PASSWORDS_OF_MANUALS = "pass password passwd pw pwd secret bar p passwort pass1"  # which are none
# What stands in an address in place of a password.
ADDRESS_VARIABLE = (
    r"\$\{?[\w.:-]*\}?\\?|\{\{?[^{}]*\}?\}|%\w*%|%[sd]|<[^<>]*>?|[*x.]+|\[REDACTED.*|(?i:redacted|hidden|secret|x-oauth-basic|x|masked|\*+)"
    r"|:+|\\.*|\$\(.*|\{.*"
)
# Hosts whose paths are hashes of files.
HOSTS_OF_FILES = (
    r"git\w*|bitbucket|raw|cdn\w*|static|assets?|img|images?|media|files?|storage|registry|docker|s3|archive|pypi|npm\w*|crates|proxy"
    "|cache|mediapackage"
)
_BASE64 = "[A-Za-z0-9+/=]"
_PARAMETER = "[A-Za-z0-9%+/=_-]"
_SEGMENT = "[A-Za-z0-9_-]"
_QUOTED = r"(?<=')[^'\r\n]*+'?|(?<=\")[^\"\r\n]*+\"?"  # with the quote behind it, which must be there
_IN_QUOTES = r"([^'\"]*|[^\"]*|[^']*)['\"]\Z"
_FIRST = r"[ \t]{0,16}+[\"'][^\"'\r\n]{0,256}[\"'][ \t]{0,16}+,"
_THEN = r"[ \t]{0,16}+[\"'][^\"'\r\n]{0,128}[\"'][ \t]{0,16}+,[ \t]{0,16}+(?:Some\()?[\"']"
_MECHANISM = r"(?:PLAIN|LOGIN|CRAM-MD5|XOAUTH2|EXTERNAL|TLS|SSL)[ \t]*\Z"
_ENCODED = r"(?>(?:[A-Za-z0-9._~*+!-]|%(?!26)[0-9A-Fa-f]{2}|%[0-9A-Fa-f]?\Z))*+"  # up to an ampersand that is encoded, too

HEADERS = (
    Place(
        "AUTHORIZATION",
        ("Authorization", "authorization", "AUTHORIZATION"),
        rule="authorization",
        goes='Authorization: key=%a{24}\n"authorization": "%a{40}"\n{\\"Authorization\\": \\"Token %h{40}\\"}',
        stays="Authorization: OAuth realm=movies\nheaders['Authorization'] = auth_header",
    ),
    Place(
        "BEARER_TOKEN",
        ("Bearer ", "bearer ", "BEARER ", "Bearer%20", "bearer%20"),
        before=r"[ \t]{0,16}+(?:(?<=--oauth2-bearer )[\"'])?",
        run=CREDENTIAL,
        least=8,
        form=".*[^.,;:]",
        judge="opaque",
        apart=True,
        goes="got Bearer %a{30}.\ncurl --oauth2-bearer '%a{30}'",
        stays="Bearer tokens-are-sent-here\ntoken_type: Bearer",
    ),
    Place(
        "AUTHORIZATION",
        ("OAuth ", "oauth "),
        run=CREDENTIAL,
        least=20,
        form=r"[A-Za-z0-9._~+/-]{20,}=*\Z",
        judge="mixed",
        apart=True,
        goes="api: OAuth %h{64}",
        stays="OAuth 2.0-authorization-code-grant is used\nOAuth realm=a1b2c3d4e5f6a7b8c9d0",
    ),
    Place(
        "BASIC_AUTH",
        ("Basic ", "basic ", "BASIC "),
        run=_BASE64,
        least=8,
        judge="user_and_password",
        apart=True,
        goes="-H 'x: Basic bWU6%l{15}0'",
        stays="Basic authentication is on",
    ),
    Place(
        "BASIC_AUTH",
        ("_auth", '"auth"'),
        before=ASSIGN + MAYBE_QUOTED,
        run=_BASE64,
        least=8,
        judge="user_and_password",
        goes='//host/:_auth=bWU6%l{15}0\n{"auth": "bWU6%l{15}0"}',
        stays="_auth=automatic\n_auth = authenticate(user)",
    ),
    Place(
        "COOKIE",
        ("ookie", "COOKIE"),
        rule="cookie",
        goes="Cookie: theme=dark; sid=%h{32}; a=b\nSet-Cookie: sid=%a{24}; Path=/; HttpOnly",
        stays="Cookie: theme=dark; lang=en\nSet-Cookie: seen=1; Max-Age=3600",
    ),
)

ADDRESSES = (
    Place(
        "PASSWORD",
        ("://",),
        rule="url",
        goes="postgres://me:%a{12}@db/x\nhttps://me@host.example:%a{12}@db/x",
        stays="https://me@host/x:y\nhttp://localhost:8080/@scope/name\npostgres://user:password@db/x",
    ),
    Place(
        "PASSWORD",
        ("jdbc:oracle:",),
        before=r"\w{1,64}+:[\w$#]{1,64}+/",
        run=r"[^\s/\"'<>`\x00-\x20]",
        form="([^@]+)@",
        judge="known",
        goes="jdbc:oracle:thin:scott/%a{9}@host:1521:x",
        stays="jdbc:oracle:thin:scott/password@host:1521:x",
    ),
    Place(
        "TOKEN",
        ("/v1/", "/v2/", "/v3/", "/v4/", "/feed/", "/feeds/"),
        rule="segment",
        goes="wss://eth.rpc.example/v2/%a{32}\nhttps://api.example/v1/%h{32}/events\nGET https://x.example/private/feed/%a{32}?n=1",
        stays="https://api.example/v1/%h{40}/x\nhttps://git.example/v3/%h{32}\nGET /v1/%a{32}\n"
        "https://x.example/v1/%a{32}.js\nhttps://x.example/v1/%h{8}-%h{4}-%h{4}-%h{4}-%h{12}\n"
        "https://api.example/v2/the-longest-name-of-them-all-2/x\nhttps://cdn.example/v1/%a{32}/x",
    ),
    Place(
        "WEBHOOK_URL",
        ("hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"),
        run="[A-Za-z0-9_/]",
        least=24,
        form=r"\w{7,}(?:/\w{7,}){0,2}/\w{12,}",
        goes="https://hooks.slack.com/services/T%U{8}/B%U{8}/%a{24}",
        stays="https://hooks.slack.com/services/T00/B00/XXX",
    ),
    Place(
        "WEBHOOK_URL",
        ("/webhooks/",),
        before=r"(?:\d{15,20}/)?",
        run=_SEGMENT,
        least=20,
        judge="mixed",
        goes="https://discord.com/api/v10/webhooks/123456789012345678/%a{68}\nhttps://x.example/webhooks/%a{32}",
        stays="https://discord.com/api/webhooks/123456789012345678",
    ),
    Place(
        "WEBHOOK_URL",
        ("/IncomingWebhook/",),
        run="[0-9A-Za-z/-]",
        least=32,
        form=r"[0-9a-f]{20,}(?:/[0-9A-Za-z-]{20,})*",
        goes="https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/%h{32}/%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        stays="https://x.webhook.office.com/webhookb2/me@host/IncomingWebhook/x",
    ),
    Place(
        "WEBHOOK_URL",
        ("hooks.zapier.com/hooks/catch/",),
        before=r"\d{4,12}/",
        run="[A-Za-z0-9]",
        least=6,
        goes="https://hooks.zapier.com/hooks/catch/1234567/%l{7}/",
        stays="https://hooks.zapier.com/hooks/catch/1234567/",
    ),
    Place(
        "WEBHOOK_URL",
        ("maker.ifttt.com/trigger/",),
        before=r"\w{1,64}+/(?:json/)?with/key/",
        run=_SEGMENT,
        least=16,
        goes="https://maker.ifttt.com/trigger/event/with/key/%a{22}",
        stays="https://maker.ifttt.com/trigger/event/with/key/KEY",
    ),
    Place(
        "WEBHOOK_URL",
        ("/hooks/", "/hook/", "/webhook/", "/token/", ".make.com/", "hook.integromat.com/"),
        run=_SEGMENT,
        least=20,
        judge="mixed",
        goes="https://chat.example/hooks/%l{26}\nhttps://x.example/webhook/%h{32}\nhttps://hook.eu1.make.com/%l{32}",
        stays="import x from './hooks/useSomethingWithALongName2'\n/token/refresh-tokens-of-users-v2-list",
    ),
    Place(
        "WEBHOOK_URL",
        (".tines.com/webhook/", "/genericWebhook/"),
        run="[A-Za-z0-9/]",
        least=40,
        judge="mixed",
        goes="https://x.tines.com/webhook/%h{32}/%h{32}",
        stays="https://x.tines.com/webhook/documentation",
    ),
    Place(
        "WEBHOOK_URL",
        ("/bot/v2/hook/", "/webhook/send?key="),
        run="[0-9a-f-]",
        least=36,
        goes="https://open.feishu.cn/open-apis/bot/v2/hook/%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        stays="https://open.feishu.cn/open-apis/bot/v2/hook/xxxxxxxx-xxxx",
    ),
    Place(
        "WEBHOOK_URL",
        ("events.pagerduty.com/integration/",),
        run="[0-9a-f]",
        least=20,
        goes="https://events.pagerduty.com/integration/%h{32}/enqueue",
        stays="https://events.pagerduty.com/integration/key/enqueue",
    ),
    Place(
        "API_KEY",
        (
            ".infura.io/v3/",
            ".infura.io/ws/v3/",
            ".alchemyapi.io/v2/",
            ".alchemy.com/v2/",
            ".quiknode.pro/",
            ".p2pify.com/",
            "go.getblock.io/",
        ),
        run=_SEGMENT,
        least=20,
        judge="mixed",
        goes="https://mainnet.infura.io/v3/%h{32}\nhttps://eth-mainnet.g.alchemy.com/v2/%a{32}\nhttps://x.quiknode.pro/%h{40}/",
        stays="https://mainnet.infura.io/v3/YOUR-PROJECT-ID",
    ),
    Place(
        "API_KEY",
        ("rpc.ankr.com/",),
        before=r"\w{1,32}/",
        run="[0-9a-f]",
        least=40,
        goes="https://rpc.ankr.com/eth/%h{64}",
        stays="https://rpc.ankr.com/eth",
    ),
    Place(
        "TOKEN",
        ("?code=", "&code=", "code_verifier=", "device_code="),
        run="[A-Za-z0-9%._~/+-]",
        least=16,
        judge="mixed",
        goes="GET /callback?code=%h{20}&state=x\nhttps://app.example/cb?state=1&code=4%2F0A%w{60}",
        stays="https://app.example/help?code=invalid_request_error_42&x=1",
    ),
    Place(
        "PASSWORD",
        ("NEO4J_AUTH",),
        before=r"[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?\w{1,64}/",
        run=WORD,
        judge="known",
        goes="NEO4J_AUTH=neo4j/%a{12}",
        stays="NEO4J_AUTH=none",
    ),
    Place(
        "PASSWORD",
        ("BUNDLE_",),
        before=r"[A-Z0-9_]{1,128}__[A-Z]{2,16}[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?(?=[^\s\"'$])",
        run=WORD,
        form=r"[^/:]++:[^/:]++\Z",
        judge="known",
        goes="BUNDLE_GEMS__EXAMPLE__COM=me:%a{12}",
        stays='BUNDLE_GEMS__EXAMPLE__COM="https://mirror.example"',
    ),
    Place(
        "TOKEN",
        ("::server:",),
        least=16,
        judge="drawn",
        goes="K10c4f::server:%h{32}",
        stays="machine::server:listen-on-all-addresses",
    ),
)

# One may hold other secrets, but not another one of its own.
SIGNATURES = (
    Place(
        "SIGNATURE",
        ("ignature=", "&sig=", "?sig=", "&sign=", "?sign=", "&hmac=", "?hmac=", "~hmac="),
        run=_PARAMETER,
        least=20,
        judge="drawn",
        goes="https://h.example/x?sv=1&sig=%a{43}%3D\nhttps://h.example/x?X-Amz-Signature=%h{64}\n?t=exp=1~hmac=%h{64}",
        stays="https://h.example/x?sig=none\ndef f(signature=inspect_signature_of_something)",
    ),
    Place(
        "SAML",
        ("SAMLResponse", "SAMLRequest", "SAMLart"),
        before=r"(?:=|\\{0,4}\"[ \t]{1,4}value=\\{0,4}\"|\\{0,4}\"[ \t]{0,4}:[ \t]{0,4}\\{0,4}\")",
        run=_PARAMETER,
        least=40,
        judge="mixed",
        goes='SAMLResponse=PHNhbWxw%a{60}&RelayState=x\n<input name="SAMLResponse" value="PHNhbWxw%a{60}"/>',
        stays="SAMLResponse=response",
    ),
)

FILES = (
    Place(
        "PASSWORD",
        (":5432:", ":5433:", ":6432:", ":*:"),
        rule="pgpass",
        goes="db.example:5432:app:me:%a{12}",
        stays="listening on host:5432: ready: yes",
    ),
    Place(
        "PASSWORD",
        ("-u ", "--user "),
        rule="own_line",
        goes="    -u me:%a{12} \\",
        stays="    -u me \\",
    ),
    Place(
        "PASSWORD",
        (
            "auth=(",
            "BasicAuth(",
            "basic_auth(",
            "DigestAuth(",
            "NetworkCredential(",
            "PasswordCredentials(",
            "PasswordAuthentication(",
        ),
        before=_THEN,
        run=_QUOTED,
        form=_IN_QUOTES,
        judge="password",
        goes='requests.get(url, auth=("me", "%a{12}"))',
        stays='requests.get(url, auth=("me", getpass()))',
    ),
    Place(
        "PASSWORD",
        (
            "DirectoryEntry(",
            "PlainAuth(",
            "__construct(",
            "PDO(",
            "mysqli(",
            "mysqli_connect(",
            "getConnection(",
        ),
        before=_FIRST + _THEN,
        run=_QUOTED,
        form=_IN_QUOTES,
        judge="password",
        goes='smtp.PlainAuth("", "me", "%a{12}", host)',
        stays='smtp.PlainAuth("", "me", password, host)',
    ),
    Place(
        "PASSWORD",
        ("> AUTH ", "> auth ", "C: AUTH "),
        run=r"[^\r\n]",
        least=3,
        form=rf"(?!{_MECHANISM})(?:[^\s\"']+ )?[\"']?(?!{_MECHANISM})([^\s\"']+)[\"']?[ \t]*\Z",
        judge="chosen",
        goes="127.0.0.1:6379> AUTH %a{12}\nredis:6379> AUTH me %a{12}\n>>> AUTH PLAIN AG1lAHMz%l{16}M2Q=",
        stays="127.0.0.1:6379> AUTH <password>\n>>> AUTH PLAIN\n>>> AUTH PLAIN LOGIN CRAM-MD5",
    ),
    Place(
        "PASSWORD",
        ("npmAuthIdent", "auth.user.info", "USERPWD"),
        before=rf"(?:{ASSIGN}|[ \t]{{0,4}},[ \t]{{0,4}}){MAYBE_QUOTED}[\w.@+-]{{1,96}}:",
        run=WORD,
        judge="chosen",
        goes='npmAuthIdent: "me:%a{12}"\nbasic.auth.user.info=me:%b{64}\ncurl_setopt($c, CURLOPT_USERPWD, "me:%a{12}");',
        stays='npmAuthIdent: ""\nbasic.auth.user.info=<key>:<secret>',
    ),
    Place(
        "PASSWORD",
        ("stats auth ", ":587 ", ":465 "),
        before=r"[ \t]*[\w.@+-]{1,96}:",
        run=WORD,
        judge="chosen",
        goes="stats auth me:%a{12}\n[mail.host.example]:587 me@host.example:%a{12}",
        stays="stats auth\nlistening on :587 and on :465 too",
    ),
    Place(
        "PASSWORD",
        ('user = "', 'user="'),
        before=r"[\w.@+-]{1,64}:",
        run=r"(?:[^\"\r\n])*+\"?",
        form=r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])([^\s\"/]{6,})\"\Z",
        judge="chosen",
        goes='user = "me:7%a{11}"',
        stays='user = "1000:1000"\nuser = "me:staff"',
    ),
    Place(
        "PASSWORD",
        ("echo ",),
        run=r"[^\r\n]",
        least=10,
        form=r"(?:-n[ \t]+)?[\"']?(?:[\w.-]{1,32}:)?([^\s\"']{3,128})[\"']?[ \t]*\|[ \t]*"
        r"(?:sudo[ \t]+(?:-[A-Za-z]+[ \t]+){0,3}-\w*S|(?:sudo[ \t]+)?(?:chpasswd|passwd[ \t]+--stdin|kinit|cryptsetup)\b"
        r"|[^|\r\n]{1,256}--password-stdin)",
        judge="chosen",
        goes="echo '%a{12}' | sudo -S apt-get update\necho me:%a{12} | chpasswd\necho %a{12} | docker login -u me --password-stdin",
        stays='echo "$PASSWORD" | docker login --password-stdin\necho done | sudo tee -a /etc/x',
    ),
    Place(
        "PASSWORD",
        ("assword%3D", "assword%3d"),
        run=_ENCODED,
        least=3,
        judge="known",
        goes="grant_type%3Dpassword%26password%3D%a{12}%26scope%3Dall",
        stays="password%3D%26scope%3Dall",
    ),
    Place(
        "TOKEN",
        ("oken%3D", "oken%3d", "ecret%3D", "ecret%3d"),
        run=_ENCODED,
        least=16,
        judge="drawn",
        goes="%26client_secret%3D%h{32}%26x%3D1",
        stays="%26token%3Drefresh-the-session%26",
    ),
    Place(
        "PASSWORD",
        ("redentials: ", "redentials:  "),
        before=r"[\"'`]?[\w.@-]{1,64}[`]?(?::|[ \t]?/[ \t]?)[`]?",
        run=CREDENTIAL,
        least=6,
        form=r"(?=[^\d]*\d).*",
        judge="chosen",
        goes="Default credentials: me:Kittens%d{4}\nCredentials: `me` / `Kittens%d{4}`",
        stays="credentials: me:word\ncredentials: same-origin",
    ),
    Place(
        "PASSWORD",
        ("SQL> CONNECT ", "SQL> connect ", "SQL> conn "),
        before=r"[\w$#]{1,64}/",
        run=r"[^\s@\"'\x00-\x20]",
        judge="chosen",
        goes="SQL> CONNECT system/%a{12}@//db:1521/x",
        stays="SQL> CONNECT /@db\nSQL> CONNECT system@db",
    ),
    Place(
        "SECRET",
        ("django-insecure-",),
        run=r"[^\s\"'`<>\\\x00-\x20]",
        least=30,
        goes="'django-insecure-%a{30}$(x&%a{20}'",
        stays="the prefix is django-insecure-",
    ),
    Place(
        "AWS_SECRET_KEY",
        ("AKI",),
        before=r"A[A-Z0-9]{16}[\"']?[ \t,;|:]{1,8}+(?:[\dT:+.Z-]{10,32}[ \t,]{1,8}+)?[\"']?",
        run="[A-Za-z0-9/+]",
        least=40,
        form=r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z]).{40}\Z",
        judge="mixed",
        goes="AKIA%U{16},%a{40}\nACCESSKEY\tAKIA%U{16}\t2026-02-03T08:00:00+00:00\t%a{40}\tActive",
        apart=True,
        stays="AKIA and others",
    ),
    Place(
        "PASSWORD",
        ("Key Content",),
        before=r"[ \t]{1,24}:[ \t]{1,8}",
        run=r"[^\r\n]",
        least=8,
        form=r"(.*\S)",
        judge="chosen",
        goes="    Key Content            : %a{12}",
        stays="    Key Content            : ********",
    ),
    Place(
        "JENKINS_SECRET",
        ("AQAAABAAA",),
        before=r"(?:(?<=\{AQAAABAAA)|(?<= AQAAABAAA) )",
        run=_BASE64,
        least=20,
        goes="<secret>{AQAAABAAAAAQ%b{43}=}</secret>",
        stays="AAAAB3NzaC1yc2EAAAADAQAAABAAAAAQEAAAAEAAABAQ",
    ),
    Place(
        "DISCORD_TOKEN",
        (".login(", ".run(", "Bot "),
        before=MAYBE_QUOTED,
        least=50,
        form=r"[MNO][DTjz](?:[AEIMQUYcgk][w-z0-5][MNO][DTjz]){3,4}[A-Za-z0-9_-]{2,10}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        goes="client.run('MTAxMTAxMTAxMTAxMTA%w{4}.%w{6}.%w{27}')",
        stays="client.run('a.very.long.name.of.a.command.that.is.run.by.it')",
    ),
)

COMMANDS = (
    Command(
        "PASSWORD",
        "plink,pscp,psftp,putty,kitty",
        r"-pw[ \t]+[\"']?",
        goes="plink -ssh me@h -pw %a{12} ls",
        stays="plink -ssh me@h ls",
    ),
    Command(
        "PASSWORD",
        "lftp",
        r"-u[ \t]+[\"']?[^\s,\"']{1,128},",
        goes="lftp -u me,%a{12} h",
        stays="lftp -u me h",
    ),
    Command(
        "TOKEN",
        "nuget push",
        r"-k[ \t]+[\"']?",
        judge="long",
        goes="dotnet nuget push x.nupkg -k %l{46}",
        stays="nuget push x.nupkg -k key",
    ),
    Command(
        "PASSWORD",
        "mysql,mysqldump,mysqladmin,mariadb,7z a,7z x",
        r"-p(?=[^\s-])[\"']?",
        goes="mysql -h db -p%a{12} app",
        stays="mysql -h db -p app",
    ),
    Command(
        "PASSWORD",
        "sshpass",
        r"-p[ \t]*[\"']?",
        goes="sshpass -p %a{12} ssh host",
        stays="sshpass -e ssh host",
    ),
    Command(
        "PASSWORD",
        "docker login,podman login,buildah login,skopeo login,nerdctl login,helm registry login,oras login,oc login,az acr login,twine upload,"
        "couchbase-cli,cbq,mongo,mongosh,mongodump,mongorestore,mongoexport,az login,az sql,beeline,cqlsh,cypher-shell,evil-winrm,"
        "crane auth login,regctl registry login,crackmapexec,netexec,nxc,psexec,PSEXEC,PsExec,psexec.exe,PSEXEC.EXE,PsExec.exe,rdesktop,useradd",
        r"-p[ \t=]+[\"']?",
        goes="docker login -u me -p %a{12} host",
        stays="docker login -u me -p $PASSWORD host",
    ),
    Command(
        "PASSWORD",
        "redis-cli",
        r"-a[ \t]+[\"']?",
        goes="redis-cli -a %a{12} ping",
        stays="redis-cli -h db ping",
    ),
    Command(
        "PASSWORD",
        "ldapsearch,ldapmodify,ldapadd,ldapwhoami,ldapdelete,ldappasswd,ldapcompare",
        r"-w[ \t]+[\"']?",
        goes="ldapsearch -D me -w %a{12} x",
        stays="ldapsearch -D me -W x",
    ),
    Command(
        "PASSWORD",
        "sqlcmd,bcp,zip,unzip,mosquitto_pub,mosquitto_sub,ipmitool",
        r"-P[ \t]+[\"']?",
        goes="sqlcmd -U me -P '%a{12}'",
        stays="zip -r a.zip .",
    ),
    Command(
        "PASSWORD",
        "smbclient",
        r"-U[ \t]+[\"']?[^\s\"'%]{1,128}%",
        goes="smbclient //h/s -U me%%a{12}",
        stays="smbclient //h/s -U me",
    ),
    Command(
        "PASSWORD", "xfreerdp", r"/p:[\"']?", goes="xfreerdp /u:me /p:%a{12}", stays="xfreerdp /u:me /v:host"
    ),
    Command(
        "PASSWORD",
        "schtasks",
        r"/rp[ \t]+[\"']?",
        goes="schtasks /create /rp %a{12}",
        stays="schtasks /create /tn x",
    ),
    Command(
        "PASSWORD",
        "openssl",
        r"-(?:k[ \t]+[\"']?|pass(?:in|out)?[ \t]+[\"']?pass:)",
        goes="openssl enc -k %a{12}\nopenssl rsa -passin pass:%a{12}",
        stays="openssl rsa -passin file:x",
    ),
    Command(
        "PASSWORD",
        "ssh-keygen",
        r"-[NP][ \t]+[\"']?",
        goes="ssh-keygen -t rsa -N '%a{12}'",
        stays="ssh-keygen -t rsa -N ''",
    ),
    Command(
        "PASSWORD",
        "snmpwalk,snmpget",
        r"-[AX][ \t]+[\"']?",
        goes="snmpget -v3 -A %a{12} host",
        stays="snmpget -v3 -c public host",
    ),
    Command(
        "PASSWORD",
        "curl",
        r"-(?:u[ \t]*|[a-zA-Z]{1,6}u[ \t]+|-(?:proxy-)?user[ \t=]+|U[ \t]+)",
        judge="login",
        goes="curl -u me:%a{12} https://h.example",
        stays="curl -u me https://h.example",
    ),
    Command(
        "PASSWORD",
        "etcdctl",
        r"--user[ \t=]+",
        judge="login",
        goes="etcdctl --user root:%a{12} get x",
        stays="etcdctl --user root get x",
    ),
    Command(
        "PASSWORD",
        "http,https",
        r"-(?:a|-auth)[ \t=]+",
        judge="login",
        goes="http -a me:%a{12} h.example",
        stays="http -a me h.example",
    ),
    Command(
        "TOKEN",
        "codecov,doctl",
        r"-t[ \t]+[\"']?",
        judge="long",
        goes="codecov -t %a{32}",
        stays="codecov -t unit",
    ),
    Command(
        "TOKEN",
        "authtoken,snyk auth,wandb login,vault login",
        r"(?=\w)",
        judge="long",
        goes="ngrok authtoken %a{32}",
        stays="ngrok authtoken add",
    ),
    Command(
        "PASSWORD",
        "htpasswd",
        r"-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+[\"']?",
        goes="htpasswd -cb file me %a{12}",
        stays="htpasswd -c file me",
    ),
    Command(
        "PASSWORD",
        "rabbitmqctl",
        r"(?:-\w+[ \t]+\S+[ \t]+){0,3}(?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+[\"']?",
        goes="rabbitmqctl add_user me %a{12}",
        stays="rabbitmqctl list_users",
    ),
    Command(
        "PASSWORD",
        "sqlplus,expdp,impdp,sqlldr",
        r"(?:-\w+[ \t]+){0,3}[\"']?[\w$#]+/(?!@)",
        run=r"[^\s\"'`\x00-\x20|;&@]*+",
        goes="sqlplus -s scott/%a{9}@db",
        stays="sqlplus /nolog",
    ),
    Command(
        "PASSWORD",
        "alias set",
        r"\w[\w-]*[ \t]+https?://\S+[ \t]+\S+[ \t]+[\"']?",
        goes="mc alias set x https://h.example me %a{20}",
        stays="mc alias set x",
    ),
    Command(
        "PASSWORD",
        "admin user add",
        r"\w[\w-]*[ \t]+\S+[ \t]+[\"']?",
        goes="mc admin user add prod me %a{20}",
        stays="mc admin user add prod me",
    ),
    Command(
        "PASSWORD",
        "unlock-keychain,create-keychain,altool,notarytool",
        r"-p[ \t]+[\"']?(?!@)",
        goes="security unlock-keychain -p %a{12} build.keychain",
        stays="altool --upload-app -p @keychain:ALTOOL",
    ),
    Command(
        "PASSWORD",
        "winrs,winrs.exe",
        r"-p(?:assword)?:[\"']?",
        goes="winrs -r:host -u:me -p:%a{12} dir",
        stays="winrs -r:host -u:me dir",
    ),
    Command(
        "PASSWORD",
        "net user,NET USER",
        r"[^\s/]\S*[ \t]+[\"']?(?![/*])",
        goes="net user me %a{12} /add",
        stays="net user me /active:yes",
    ),
    Command(
        "PASSWORD",
        "psexec.py,wmiexec.py,smbexec.py,atexec.py,secretsdump.py,smbclient.py,mssqlclient.py,impacket-psexec,impacket-wmiexec,"
        "impacket-secretsdump,impacket-smbclient,impacket-mssqlclient",
        r"(?:-[\w-]+[ \t]+){0,4}[\"']?(?:[\w.-]{1,64}/)?[\w.-]{1,64}:",
        run=r"[^\s\"'`\x00-\x20|;&@]*+",
        goes="secretsdump.py acme/me:%a{12}@10.0.0.1",
        stays="secretsdump.py acme/me@10.0.0.1",
    ),
    Command(
        "PASSWORD",
        "net use",
        r"(?:[A-Za-z*]:?[ \t]+)?\\\\\S+[ \t]+(?:/\S+[ \t]+){0,4}[\"']?(?!/)",
        goes=r"net use Z: \\files\share /user:ACME\svc %a{12}",
        stays=r"net use Z: \\files\share /delete",
    ),
    Command(
        "PASSWORD",
        "ConvertTo-SecureString",
        r"(?:-String[ \t]+|-AsPlainText[ \t]+|-Force[ \t]+){0,3}(?:\\{0,4}[\"']|(?=[^\s\"'|)(-]))",
        goes='ConvertTo-SecureString "%a{12}" -AsPlainText -Force',
        stays="ConvertTo-SecureString $password",
    ),
)
