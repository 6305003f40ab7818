"""Secrets by their place: headers, cookies, addresses and their parameters, login files, options of programs.

Columns are told in ``rows.py``. What no row can say is a function of Python, and its row names it.
"""

from __future__ import annotations

from spillstore.redaction.tables.rows import Command, Place

# What may stand between ``Authorization:`` and the credentials, of either case; of some the credentials may be parameters with names.
PARAMETERS = "digest hawk oauth aws4-hmac-sha256"
SCHEMES = (
    "bearer basic token api-token apikey api-key bot digest negotiate ntlm sso-key key aws4-hmac-sha256 genie-?key ssws splunk hawk "
    "oauth jwt pat"
)
_BASE64 = "[A-Za-z0-9+/=]"
_PARAMETER = "[A-Za-z0-9%+/=_-]"
_SEGMENT = "[A-Za-z0-9_-]"
_HEX = "[0-9a-fA-F]"
_WORD = r"[^\s\"'`\x00-\x20\x7f]"
_QUOTED = r"(?<=')[^'\r\n]*+(?=')|(?<=\")[^\"\r\n]*+(?=\")"
_FIRST = r"[ \t]{0,16}+[\"'][^\"'\r\n]{0,256}[\"'][ \t]{0,16}+,"
_THEN = r"[ \t]{0,16}+[\"'][^\"'\r\n]{0,128}[\"'][ \t]{0,16}+,[ \t]{0,16}+(?:Some\()?[\"']"
_CREDENTIALS = r"[^\s\"'`<>,;\\\x00-\x20(){}\[\]|&]"

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
        run=_CREDENTIALS,
        least=8,
        form=".*[^.,;:]",
        judge="opaque",
        apart=True,
        goes="got Bearer %a{30}.\ncurl --oauth2-bearer '%a{30}'",
        stays="Bearer tokens-are-sent-here\ntoken_type: Bearer",
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
        before="{assign}{quote}",
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
        ("/api/webhooks/",),
        before=r"\d{15,20}/",
        run=_SEGMENT,
        least=50,
        goes="https://discord.com/api/webhooks/123456789012345678/%a{68}",
        stays="https://discord.com/api/webhooks/123456789012345678",
    ),
    Place(
        "WEBHOOK_URL",
        (".webhook.office.com/webhookb2/",),
        run="[0-9A-Za-z@/-]",
        least=80,
        form=r"[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{20,}(?:/[0-9A-Za-z-]{36,})?",
        goes="https://x.webhook.office.com/webhookb2/%h{8}-%h{4}-%h{4}-%h{4}-%h{12}@%h{8}-%h{4}-%h{4}-%h{4}-%h{12}/IncomingWebhook/%h{32}",
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
        ("/hooks/",),
        run=r"[\w.-]",
        least=26,
        form=r"[a-z0-9]{26}\Z",
        goes="https://chat.example/hooks/%l{26}",
        stays="import x from './hooks/useSomethingWithALongName'",
    ),
    Place(
        "PASSWORD",
        ("NEO4J_AUTH",),
        before=r"[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?\w{1,64}/",
        run=_WORD,
        judge="known",
        goes="NEO4J_AUTH=neo4j/%a{12}",
        stays="NEO4J_AUTH=none",
    ),
    Place(
        "PASSWORD",
        ("BUNDLE_",),
        before=r"[A-Z0-9_]{1,128}__[A-Z]{2,16}[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?(?=[^\s\"'$])",
        run=_WORD,
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

# They stand for themselves: one may hold other secrets, but not another one of its own.
SIGNATURES = (
    Place(
        "SIGNATURE",
        ("ignature=", "&sig=", "?sig="),
        run=_PARAMETER,
        least=20,
        judge="drawn",
        goes="https://h.example/x?sv=1&sig=%b{43}%3D\nhttps://h.example/x?X-Amz-Signature=%h{64}",
        stays="https://h.example/x?sig=none\ndef f(signature=inspect_signature_of_something)",
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
        judge="password",
        goes='requests.get(url, auth=("me", "%a{12}"))',
        stays='requests.get(url, auth=("me", getpass()))',
    ),
    Place(
        "PASSWORD",
        ("DirectoryEntry(", "PlainAuth("),
        before=_FIRST + _THEN,
        run=_QUOTED,
        judge="password",
        goes='smtp.PlainAuth("", "me", "%a{12}", host)',
        stays='smtp.PlainAuth("", "me", password, host)',
    ),
    Place(
        "DISCORD_TOKEN",
        (".login(", ".run(", "Bot "),
        before="{quote}",
        least=50,
        form=r"[MNO][DTjz](?:[AEIMQUYcgk][w-z0-5][MNO][DTjz]){3,4}[A-Za-z0-9_-]{2,10}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        goes="client.run('MTAxMTAxMTAxMTAxMTA%w{4}.%w{6}.%w{27}')",
        stays="client.run('a.very.long.name.of.a.command.that.is.run.by.it')",
    ),
)

COMMANDS = (
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
        "docker login,mongo,mongosh,mongodump,mongorestore,mongoexport,az login,az sql,beeline,cqlsh,cypher-shell,evil-winrm,"
        "psexec,PSEXEC,PsExec,psexec.exe,PSEXEC.EXE,PsExec.exe,rdesktop,useradd",
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
        "ldapsearch,ldapmodify,ldapadd,ldapwhoami",
        r"-w[ \t]+[\"']?",
        goes="ldapsearch -D me -w %a{12} x",
        stays="ldapsearch -D me -W x",
    ),
    Command(
        "PASSWORD",
        "sqlcmd,bcp,zip,unzip",
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
        "authtoken,snyk auth,wandb login",
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
        "sqlplus",
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
        "ConvertTo-SecureString",
        r"(?:-String[ \t]+|-AsPlainText[ \t]+|-Force[ \t]+){0,3}(?:\\{0,4}[\"']|(?=[^\s\"'|)(-]))",
        goes='ConvertTo-SecureString "%a{12}" -AsPlainText -Force',
        stays="ConvertTo-SecureString $password",
    ),
)
