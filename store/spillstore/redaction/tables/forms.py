r"""How values stand behind names: what is between them, and which words announce a value.

Rows are tried one by one behind each name of a secret, and what any of them finds goes. Expressions are those of ``re``, for
bytes. Examples are templates, as in ``names.py``; ``\n`` and the like are those of Python.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Words that may stand between a password and its value: `the password for me has been set to: ...`.
SPOKEN = "is was now has been for of to set generated created changed updated reset the new user account admin root elastic"
# Types that may stand behind a name: `Dim password As String = "..."`.
TYPES = "As as Str str STRING char byte text TEXT var std::"
# Names of a value, where the name of the secret is a value, too, and names that may stand between the two.
VALUES = "value stringvalue string_value parametervalue default"
PASSED = "flags type sensitive kind description enabled disabled format required source origin scope comment permissions slotsetting label purpose kid managed tags contenttype"
# Words before a name alone that make it one of a service: `api key`.
QUALIFIERS = "certificate api access secret private auth encryption signing master account shared license client app service unseal recovery"
# Last words of commands that set a variable: `config set NAME value`.
SETTERS = "SetEnv fastcgi_param uwsgi_param set setx setenv add put ENV -gx -Ux -x -g -U"
# What a line may begin with before `NAME=value`.
COMMANDS = "export set setx ENV ARG declare Environment= -"
# Directives of programs, whose value stands behind a blank.
DIRECTIVES = r"password|requirepass|masterauth"

# --- parts of expressions ---

QUOTE = r"[fbruFBRUN@$]{0,2}(\\{0,8})([\"'`])"  # with what may stand before it in a program
MAYBE_QUOTE = rf"(?>(?:{QUOTE})?)"
MAYBE_QUOTED = r"(?:\\{0,8}[\"'`])?"
ENTITY = r"&(?:quot|apos|#39|#34|#x27|#x22);"
QUOTED = rf"(?:\\{{0,8}}[\"'`]|{ENTITY})"
CLOSER = (
    rf"(?>(?:{QUOTED}){{0,3}})(?>(?::(?:protected|private)(?=\]))?)(?>(?:\]|%5[Dd]){{0,2}})[ \t]{{0,64}}+"
)
VISIBILITY = r"(?:protected|private|\"[\w\\]{1,96}\":private)"  # of PHP: behind a name, a colon and this
SIGN = rf"(?:=>|:{{1,3}}=|\?{{1,2}}=|\+=|\.=|=(?!=)|:(?![:=/]|{VISIBILITY}\])|->|<-|\xef\xbc\x9a)"
ASSIGN = (
    CLOSER + SIGN + r"[ \t]{0,64}+(?>(?:>[-+]?[ \t]{1,64}+)?)"
    rf"(?>(?:!!(?:str|binary)[ \t]{{1,64}}+|&(?!mut\b|str\b|dyn\b)\w{{1,64}}+[ \t]{{1,64}}+(?=[\w\"']))?)(?>(?:{ENTITY})?)"
)
_STRING = r"(?=\\{0,8}[\"'])"
_VALUE = r"\\{0,8}[\"']?(?:Parameter|[a-z]{1,16}:)?[Vv]alue\\{0,8}[\"']?[ \t]{0,64}+[:=][ \t]{0,64}+"
_FIELD = (
    r"(?:,?[ \t]{0,8}\\{0,8}[\"']?[a-z]\w{0,15}\\{0,8}[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
    r"(?:\\{0,8}[\"'][\w./-]{0,32}\\{0,8}[\"']|\w{1,8}))"
)
_TYPE = (
    r"(?:[ \t]{0,8}+:[ \t]{0,8}+(?:&(?:'\w+[ \t]+)?)?[A-Za-z_][\w.\[\]<>|?* ]{0,64}?"
    r"|(?:\[\])?[ \t]{1,8}+(?:[Aa]s[ \t]+)?(?:\[\])?(?:[Ss]tring|STRING|str|char|byte|bytes|text|var|TEXT|std::string)(?:\[\d*\])?)"
)
_CDATA = r"(?>(?:<!\[CDATA\[)?)"
_BAR = r"(?:\||│|┃|║)"
_CALLED = r"(?i:pass(?:word|wd|phrase))"
OPTION = r"(?:-e|-o|-v|--?var|--env|--build-arg|--set|--set-string|--from-literal|--extra-vars)[ \t=]+"
_COMMAND = (
    rf"export[ \t]+|set[ \t]+|setx[ \t]+|ENV[ \t]+|ARG[ \t]+|declare[ \t]+-x[ \t]+|Environment=|{OPTION}"
)
_SETTER = (
    r"(?:\b(?:setx|setenv|SetEnv|fastcgi_param|uwsgi_param|(?:configure|config|env|secrets?)[ \t]+(?:set|add|put)|config:set|set[ \t]+-[gUx]{1,3})"
    r"|(?:^|[\r\n])[ \t]*ENV)[ \t]+"
)
SQL = r"(?i:\b(?:create|alter)[ \t]+(?:user|role|login)|\bgrant\b[^\r\n]*\bon)\b[^\r\n]*"
_TAG = r"<(?:\w{1,30}:)?"
BEFORE_OPTION = " \t\r\n\"'`[({,=|;\0"
_OPENED = rf"(?:\A|[{re.escape(BEFORE_OPTION)}])"
# What `grep` puts before a line: the file, the number, or both.
FOUND = r"(?:(?:[\w~^@/.-]{1,64}:)?(?=[^\s:]{0,160}[./])[\w./\\@+-]{1,160}:(?:\d{1,7}:)?|(?:[\w@+-]{1,64}:)?\d{1,7}:)"
# What puts numbers before lines: `cat -n`, a tool that reads a file, a frame of a report.
NUMBERED = r"[ \t]{0,8}\d{1,7}(?:\t|→|[ \t]?(?:\||│)[ \t]?)"
_FIRST = rf"[ \t]*(?:(?:[-+>#*|;]|//|/\*|--)[ \t]+)*(?:{_COMMAND})?(?:[\"']|\*\*)?"
OWN_LINE = rf"(?:\A|[\r\n])(?:{FOUND}|{NUMBERED})?{_FIRST}"  # the first thing of its line
PLAIN_LINE = rf"(?:\A|[\r\n])(?:{FOUND})?{_FIRST}"  # the same, with no number before it
_LOGIN = r"\b(?:login|neighbor|user(?:name)?:)[ \t]+\S*[^\s,;][ \t]+"

# Between a name and a word that looks drawn: `token X`, `token is: X`, `token - X`, `token 1: X`.
_BLANK_ALONE = (
    r"[ \t]{1,16}+(?>(?:(?:(?:for|of)(?:[ \t][\w.@/-]{1,48}){1,2}?[ \t])?(?:is|was)(?:[ \t]{0,4}:)?[ \t]{1,4}+|-{1,2}[ \t]{1,4}+|\d{1,2}[ \t]{0,4}+[:=-]{1,2}[ \t]{0,4}+)?)"
    r"[\"'`]?(?=[A-Za-z0-9_-])"
)

# Bytes that may stand behind a name with a value.
BEHIND = " \t\\\"'`]=:<>?+-(%&!,*;|["
CLOSERS = "\\\"'`]&%"
_BLANK = " \t"
_SIGNS = BEHIND.translate({ord(sign): None for sign in "(,;|["})
# What stands between a name and its value in several forms.
_NEXT_ITEM = r"\\{0,8}[\"'][ \t]{0,64}+,[ \t]{0,64}+b?" + _STRING
_NEXT_STRING = _NEXT_ITEM + r"(?!.-)"
_OR_ELSE = r"(?>(?:\\{0,8}[\"'])?)\]?\)?[ \t]{0,8}+(?:\|\||\?\?|or)[ \t]{0,8}+(?=[\"'`])"
_COMPARED = CLOSER + r"[=!]==?[ \t]{0,64}+" + _STRING
_BLANK_WORD = r"[ \t]{1,16}+(?=[^\s=:])"
_BLANK_STRING = r"[ \t]{1,16}+(?=[\"'])"
_NO_FIELD = r"(?![a-z][a-z_]{1,15}=[^\s=])"  # a field of its own, such as `id=7`
_FIRST_ARGUMENT = r"\([ \t]{0,16}+N?(?=[\"'])"


class Form(NamedTuple):
    """One form in which a value stands behind a name.

    Attributes:
        reads: how the value is read: a name in ``READERS`` of ``readers.py``.
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
    of: str = "password secret token weak long code"
    back: int = 32
    promises: str = ""
    any_word: bool = False


def _label(word_ends: str = "") -> str:
    """Words that go on behind a name, and a colon: ``token for the build: X``; each word ends so."""
    word = r"(?!(?:[Ii][Dd]s?|[Nn]ames?|[Hh]ash(?:es)?|[Vv]ersions?|of)\b)[A-Za-z'\"/][^\s:=,;(){}]{0,47}"
    return rf"(?=[^:\r\n]{{1,63}}:)(?:,?[ \t]{word}{word_ends}){{1,10}}[ \t]?:[ \t]{{1,4}}+"


FORMS: tuple[Form, ...] = (
    # --- a sign ---
    Form("value", ASSIGN, 'API_KEY = "%a{32}"\n\napiKey := " %a{32} "', "API_KEY == %a{16}", _SIGNS),
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
        + r"(?:(?:Some|Ok|Just|String|String::from|SecretStr|SecretString|Secret|PASSWORD|CONVERT_TO|(?:sql\.)?Raw|string|str|bytes|b|u"
        + r"|\[\]byte|Buffer\.from|Secret(?:String|Box)?::(?:new|from)|(?:bytes|bytearray)\.fromhex|(?:binascii\.)?unhexlify|hex::decode|new[ \t](?:String|Secret|SecretString|Buffer)|(?:Token|Key|ApiKey|AuthToken|Credential|Password)(?:::|\.)(?:new|from|of|create))"
        + r"\([ \t]{0,64}+(?=[\"'])|(?:string\(\d{1,9}\)|Some|Just|chr|\((?:\[\])?[a-z]\w{1,15}\)(?: \(len=\d{1,9}(?: cap=\d{1,9})?\))?)[ \t]{1,64}+(?=\")|\\{0,8}[\"']\[\]byte\((?=\\{1,8}[\"']))",
        'api_key = Some("%a{32}")\n\nlet token = Token::new("%a{32}");\n\nApiKey = Some "%a{32}"\n\n $ token: chr "%a{32}"\n\nsecret="[]byte(\\"%a{40}\\")"\n\n ApiKey: (string) (len=32) "%a{32}"',
        'api_key = find("%a{32}")',
        _SIGNS,
    ),
    Form(
        "several",
        ASSIGN + r"\[[ \t]{0,8}+(?=[\"'])",
        'api_keys = ["%a{32}", "%h{32}"]\n\n"tokens": ["7%a{31}"]',
        'api_keys = ["refresh", "access"]',
        _SIGNS,
        of="secret token",
    ),
    Form(
        "several",
        ASSIGN
        + r"\{[ \t]{0,8}+(?![\"']?(?i:\w*(?:hash|sha|sum|id|digest|version|print|ur[il]|arn|type|name|alg))\b)[\"']?[\w.-]{1,48}[\"']?[ \t]{0,8}+(?:=>|[:=])[ \t]{0,8}+(?=[\"'])",
        'tokens = { "ci": "%a{32}" }\n\n"apiKeys": {"me": "%h{32}", "you": "x"}',
        'tokens = { "checksum": "%a{32}" }',
        _SIGNS,
        name=r"(?i:tokens|keys|secrets)\Z",
        of="secret token",
    ),
    Form(
        "quoted",
        CLOSER + r"=[ \t]{1,16}+\"[^\"\\\r\n]{0,256}+\"[ \t]{1,4}->[ \t]{1,4}(?=\")",
        'db_password = "7%a{11}" -> "7%a{11}"',
        'db_password = "text" -> "string"',
        _SIGNS,
    ),
    Form(
        "quoted",
        ASSIGN + r"0x[0-9a-f]{6,16}[ \t]{1,4}(?=\")",
        '$1 = {user = 0x5582a0 "app", password = 0x5582c0 "kittens", retries = 3}',
        "password = 0x5582c0 kittens",
        _SIGNS,
        of="password secret token",
    ),
    Form(
        "quoted",
        _COMPARED,
        'if token == "%a{32}":',
        "if token == a1:",
        of="secret token weak long",
    ),
    Form(
        "chosen",
        _COMPARED,
        'if password == "7f%a{10}":',
        "if password == 'function':",
        of="password",
    ),
    Form(
        "value",
        r"(?:\*\*[ \t]?[:=]|[:=]\*\*)[ \t]{1,8}+(?=\S)",
        "- **Password**: `7%a{11}`\n\n**API token:** %a{32}\n\n* **DB password:** kittens7",
        "**Password** is kittens7\n**Password**",
        "*:=",
    ),
    Form(
        "typed",
        r"\*\*[ \t]{1,8}[\"'`]?(?=[^\s\"'`])",
        "- **Password** Kit%a{8}7.x",
        "- **Password** Base64-encoded",
        "*",
        of="password",
    ),
    Form(
        "typed",
        r":</\w{1,8}>[ \t]{0,4}(?>(?:<\w{1,8}>)?)[ \t]{0,4}(?=[^\s<])",
        "<b>Password:</b> Kit%a{8}7.x\n\n<th>Password:</th><td>Kit%a{8}7.x",
        "<b>Password:</b> Base64-encoded",
        ":",
        of="password",
    ),
    Form(
        "column",
        r"[ \t]-{1,2}[ \t]{1,2}(?=\S)",
        "Password - 7%a{11}",
        "Password - 8 letters",
        _BLANK,
        of="password",
    ),
    Form(
        "columns",
        r"(?=[\",;|\t\r\n]|[ \t]{1,64}+[|\r\n\xe2]|[ ]{2})(?=[^\r\n]{0,480}+[\r\n])",
        "id,api_token\n1,%h{32}",
        "api_token is  or\n%h{32}",
        ' \t,;|"\r\n',
    ),
    Form(
        "column",
        r"[ \t]\.{3,64}+[ \t]{1,2}(?=\S)",
        "Client secret ..... %a{40}",
        "Client secret ..... none",
        _BLANK,
    ),
    Form(
        "column",
        r"[ \t]\.{3,64}+[ \t]?:[ \t]{1,2}(?=\S)",
        "Client secret ..... : %a{40}",
        "Client secret ..... : none",
        _BLANK,
    ),
    Form(
        "value",
        r"[ \t]{2,64}+(?i:n/a|unset|-)[ \t]{2,64}+(?=[\"'])",
        'APP_SECRET   n/a     "%h{32}"',
        'APP_SECRET   n/a     "n/a"',
        _BLANK,
        OWN_LINE,
        back=64,
        any_word=True,
    ),
    Form(
        "column",
        r"[ \t]{2,64}+(?i:true|false)[ \t]{2,64}+(?=[^\s\"'])",
        "Store__ApiKey       False          %b{86}==",
        "Store__ApiKey       False          none",
        _BLANK,
        OWN_LINE,
        back=64,
        of="secret token weak long",
        any_word=True,
    ),
    Form(
        "ended",
        _label() + r"(?=\S)",
        'Save this token now: %a{40}\n\n[sudo] password for me: 7%a{11}\n\n{"text":"token refreshed: %a{40}"}\n\nthe key to go on, shown once: %a{40}',
        "Save this token now: it is the only time",
        _BLANK,
        name=r"\w",
        any_word=True,
        of="password secret token weak long",
    ),
    Form(
        "issued",
        _label(r"(?<!\.)") + r"`(?=[A-Za-z0-9_-])",
        "API token for the importer: `%h{40}`",
        "Save this token now: `token`",
        _BLANK,
        name=r"\w",
        any_word=True,
        of="secret token weak long",
    ),
    Form(
        "value",
        r"[ \t]{1,16}+(?=[\"']?[A-Za-z0-9]{20})",
        "agent link --key %h{64}",
        "agent link --key %h{12}",
        _BLANK,
        _OPENED,
        r"\A--?key",
        of="weak",
        promises="long",
    ),
    Form(
        "chosen",
        ASSIGN + r"\[[ \t]{0,8}+(?=[\"'])",
        "{'password': ['7%a{11}'], 'next': ['/']}",
        "{'password': ['required'], 'next': ['/']}",
        _SIGNS,
        of="password",
    ),
    Form(
        "braced",
        r"=\{(?=[^\s{}\"'])",
        "Driver={x};Uid=me;Pwd={7%a{11};x};Encrypt=yes",
        "Uid=me;Pwd={7%a{11}}",
        "=",
        r"[;\"']",
        of="password",
    ),
    Form(
        "bracketed",
        CLOSER + r"=\[(?=[^\s\[\]\"'])",
        "{user=[me], password=[7%a{11}], remember=[on]}",
        "password=[kittens]",
        _SIGNS,
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
        r"\\{0,8}[\"'][ \t]{0,8}:[ \t]{0,8}\{" + _FIELD + r"{0,3}[ \t]{0,8},?[ \t]{0,8}" + _VALUE + _STRING,
        '"api_token": {"type": "string", "value": "%a{32}"}\n\n"token":{"name":"t1","ttl":60,"value":"%a{40}"}',
        '"api_token": {"type": "string", "label": "%a{32}"}',
        CLOSERS,
    ),
    # --- a comma ---
    Form(
        "quoted",
        _NEXT_ITEM,
        "os.getenv('DB_PASSWORD', 'kittens')\n\nos.Setenv(\"DB_PASSWORD\", \"kittens\")",
        "os.find('DB_PASSWORD', 'kittens')",
        CLOSERS,
        before=r"define[^\r\n]*|(?i:\b[gs]etenv|\bputenv|EnvironmentVariable|\benv(?:iron)?(?:\.get|\.fetch|\.setdefault)?)\(\\{0,8}[\"']",
        back=32,
    ),
    Form(
        "quoted",
        r"[\"'][ \t]{0,8}+,[ \t]{0,8}+(?>(?:default=)?)(?=[\"'])",
        'PASSWORD = config("DB_PASSWORD", default="kittens")',
        'PASSWORD = find("DB_PASSWORD", default="kittens")',
        CLOSERS,
        r"\b(?:config|env|env\.str)\([\"']",
        r"\A[A-Z][A-Z\d_]*\Z",
    ),
    Form(
        "signed",
        r"[\"'][ \t]{0,8}+,[ \t]{0,8}+[\"'](?=[^\s\"'-])",
        'form.append("password", "Kit%a{8}7!x")\n\n["password", "Kit%a{8}7!x"]',
        '["password", "Confirm2"]',
        CLOSERS,
        of="password",
    ),
    Form(
        "quoted",
        r"[\"'][\])],[^\r\n{}]{0,256}?[\"']input[\"']:[ \t]?(?=[\"'])",
        "{'loc': ('body', 'password'), 'msg': 'too short', 'input': '7%a{11}'}",
        "{'loc': ('body', 'password'), 'msg': 'too short', 'type': '7%a{11}'}",
        "\"'",
        r"[\"']loc[\"']:[ \t]?[\[(](?:[\"'][\w.-]{1,32}[\"'],[ \t]?){0,4}[\"']",
        back=160,
    ),
    Form(
        "typed",
        r"\"[ \t]{1,16}\"(?=[^\s\"])",
        '"password"    "Kit%a{8}7.x"',
        '"password"    "Kittens"',
        '"',
        r"(?:\A|[\r\n])[ \t]*\"",
        back=64,
        of="password",
    ),
    Form(
        "quoted",
        r"\[\w{0,16}\](?>(?: PROGMEM)?)[ \t]{0,8}+=[ \t]{0,8}+(?=[\"'])",
        'char password[] = "kittens";\n\nchar password[] PROGMEM = "kittens";\n\nconst char api_key[40] = "%h{32}";',
        'password[0] = name;\npassword[] = "text";',
        "[",
    ),
    Form(
        "quoted",
        _NEXT_STRING,
        "['--password', 'kittens']",
        "['password', 'kittens']",
        CLOSERS,
        name=r"\A-.*",
    ),
    Form(
        "drawn",
        _NEXT_STRING,
        '["api_token", "%a{32}"]',
        '["api_token", "refresh"]',
        CLOSERS,
    ),
    Form(
        "chosen",
        r"\\{0,8}[\"'][ \t]{0,64}+,[ \t]{0,64}+" + _STRING,
        "insert into x values('db_password','kittens7');",
        "insert into x values('db_password','kittens');",
        CLOSERS,
        of="password",
        before=r"(?i:values)[ \t]?\((?:\d{1,3},)?[ \t]?\\?[\"']",
        back=20,
    ),
    Form(
        "drawn",
        r",[ \t]{0,8}+(?:<<)?(?=[\"'])",
        '{:password, "%a{32}"}\n\n{api_token, <<"%a{20}">>}',
        '(password, "kittens")',
        ",",
        before="[{:]",
    ),
    Form(
        "chosen",
        r",[ \t]{0,8}+(?:<<)?(?=[\"'])",
        '{default_pass, <<"7_%a{10}">>}',
        '{default_pass, <<"kittens">>}',
        ",",
        before="[{:]",
        of="password",
    ),
    # --- what is taken where a variable is not set ---
    Form(
        "chosen",
        _OR_ELSE,
        "process.env.DB_PASSWORD || '7%a{11}'",
        "process.env.DB_PASSWORD || 'not-set'",
        " \t\"'",
        of="password",
    ),
    Form(
        "drawn",
        _OR_ELSE,
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
        _BLANK_WORD,
        "--api-token %a{32}",
        "--api-token TOKEN",
        _BLANK,
        _OPENED,
        r"\A-.*",
    ),
    Form(
        "word",
        _BLANK_WORD,
        "setx DB_PASSWORD 7%a{11}",
        "offset DB_PASSWORD kittens",
        _BLANK,
        _SETTER,
        any_word=True,
    ),
    Form(
        "word",
        _BLANK_WORD,
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
        _BLANK_WORD + _NO_FIELD,
        "login me password 7%a{11}",
        "login, password kittens\n\nlogin page password id=7%h{11}",
        _BLANK,
        _LOGIN,
        rf"\A(?:{DIRECTIVES})",
        back=256,
        any_word=True,
    ),
    Form(
        "directive",
        _BLANK_WORD,
        "requirepass 7%a{11}\n\nrcon_password 7%a{11}\n\nPass 7%a{11}",
        "password 12 is too short",
        _BLANK,
        OWN_LINE,
        rf"\A(?:{DIRECTIVES})|_pass(?:word|wd)\Z|\APass\Z|\Apasswd\Z",
        back=64,
        any_word=True,
    ),
    Form(
        "word",
        _BLANK_WORD,
        "> PASS kittens\n\n\tPASS kittens",
        "the PASS kittens",
        _BLANK,
        r"(?:[>:]|write\(\d+, \"|(?:\A|[\r\n])\t)[ \t]*",
        r"\APASS",
        any_word=True,
    ),
    Form(
        "option",
        _BLANK_WORD,
        "CREATE ROLE me LOGIN PASSWORD 7%a{11};",
        "the PASSWORD kittens",
        _BLANK,
        SQL,
        r"\APASSWORD",
        back=128,
        any_word=True,
    ),
    Form("quoted", _BLANK_STRING, 'passwd "7%a{11}"', 'api_token "x"', _BLANK, name=_CALLED),
    Form(
        "quoted",
        r"[ \t]{1,16}+(?=\\{0,8}\")",
        '{:host "h", :pass "kittens"}\n\n"{:api-key \\"%a{32}\\"}"',
        'a :pass\n"kittens"',
        _BLANK,
        r"(?:\A|[{,\[(\"'\]})\d\r\n])[ \t]{0,8}:",
        any_word=True,
    ),
    Form(
        "signed",
        r"[ \t]{1,4}+(?>(?:(?:ist?|lautet|est?|es|to|now)[ \t]{1,2})?)[\"'`(]?(?=[^\s\"'`(:=])",
        "Das Root-Passwort lautet Kitten1%d{3}.x, bitte\n\nuser me password Kit%a{8}7!x\n\nthe pw 'Kitten1%d{3}.x' is new\n\nconsul kv put db/password Kit%a{8}7!x\n\nput the password (Kit%a{8}7!x) there"
        "\n\nradius shared-secret Kit%a{8}7!x",
        "the password Base64-encoded\nthe password file7X.txt\nthe pw Kitten7",
        _BLANK,
        of="password secret",
        any_word=True,
    ),
    Form(
        "signed",
        r"(?=[^:\r\n]{1,63}:)(?:[ \t][A-Za-z][^\s:=,;(){}]{0,23}){1,5}[ \t]?:[ \t]{1,4}[\"'`]?(?=[^\s\"'`])",
        "new pw for the test db: Kit%a{8}7!x (old: none)",
        "the password for the test db: see Kitten7.x",
        _BLANK,
        of="password",
        any_word=True,
    ),
    Form(
        "quoted",
        _BLANK_STRING,
        '#define API_TOKEN "%a{32}"',
        '#undef API_TOKEN "kittens"',
        _BLANK,
        r"#[ \t]*define[ \t]+",
    ),
    Form(
        "drawn",
        _BLANK_STRING,
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
        "token      %a{32}\n\nmain:dbPassword     7%a{11}\n\n/main/db/password\t7%a{11}",
        "token      refresh",
        _BLANK,
        rf"{OWN_LINE}(?:[A-Za-z]\w{{1,30}}:|/(?:[\w.-]{{1,48}}/){{0,6}})?",
        back=64,
    ),
    Form(
        "cell",
        rf"[ \t]{{1,64}}+{_BAR}[ \t]{{1,64}}+(?>(?:(?:SecureString|String|secret|sensitive|encrypted|hidden)[ \t]{{1,64}}+{_BAR}[ \t]{{1,64}}+)?)"
        r"(?=[^\s|])",
        "| /x/db/password | SecureString | 7%a{11} |\n\ndb_password  | 7%a{11}\n\n| main DB password | 7%a{11} |\n\n| api_token | %h{32} |\n\n║ api_token │ %h{32} ║",
        "x api_token | %h{16} |\n| api_token | refresh |\n| token | varchar(64) |",
        _BLANK,
        rf"(?:\A|[\r\n])(?:[^:=(){{}}\r\n]{{0,200}}{_BAR}[ \t]*(?:[\w.-]{{1,24}} ){{0,3}})?[ \t]*(?:/(?:[\w.-]{{1,48}}/){{0,6}})?",
        back=256,
    ),
    Form(
        "cell",
        rf":[ \t]{{1,64}}+{_BAR}[ \t]{{1,64}}+(?=[^\s|])",
        "| Password: | 7%a{11} |",
        "| Password: | varchar(64) |",
        ":",
        rf"(?:\A|[\r\n])[^\r\n]{{0,200}}{_BAR}[ \t]*(?:[\w.-]{{1,24}} ){{0,3}}",
        back=256,
    ),
    Form(
        "column",
        r"\|(?=[^\s|])",
        "smtp_password|7%a{11}\n\n12|api_token|%h{32}",
        "smtp_password|api_token\nx smtp_password|7%a{11}",
        "|",
        r"(?:\A|[\r\n])(?:\d{1,9}\|)?",
        r"\A\w+",
    ),
    Form(
        "column",
        r"[ \t]{1,4}+(?:\([^()\r\n]{0,96}+\)|\[[^\[\]\r\n]{0,96}+\]):[ \t]{1,8}+(?=\S)",
        "Your new API token (shown once): %h{32}\n\nAWS Secret Access Key [None]: %a{30}/%h{9}",
        "the API token (optional): refresh",
        _BLANK,
    ),
    Form(
        "spoken",
        r"(?=[ \t]{1,16}+[^\s=:])(?>(?:[ \t]{1,64}+(?:\w[\w.-]{0,63}@[\w.-]{1,64}|(?:"
        + SPOKEN.replace(" ", "|")
        + r")\b)){0,8})"
        r"(?:[ \t]{0,64}[:=][ \t]{0,64}|[ \t]{1,64}(?=[\"'`])|(?:(?<=[ \t]is)|(?<=[ \t]to)|(?<=[ \t]now))[ \t]{1,64})(?=\S)",
        "the new password is 7%a{11}\n\nthe password is now 7%a{11}\n\nthe password has been reset to 7X%a{11}",
        "the new password is wrong",
        _BLANK,
        name=_CALLED,
    ),
    Form(
        "word",
        r"[ \t]{1,64}+REG_(?:(?:EXPAND_)?SZ|BINARY)[ \t]{1,64}+(?=\S)",
        "DefaultPassword    REG_SZ    7%a{11}\n\nPassword    REG_BINARY    7%H{14}A",
        "DefaultPassword    REG_NONE    7%a{11}",
        _BLANK,
    ),
    Form(
        "alone",
        _BLANK_ALONE,
        "Using token %h{32} of acme\n\nThe token for builds is %a{40}.\n\nYour api key is: %l{32}\n\nthe session secret is %h{64}\n\nThe API key for the sandbox is `%a{40}`.\n\napi key 1 - %h{32}",
        "Using token abcdef-internationalization-%d{3} of acme\nYour api key is: 16 bytes\napi key 1 - of %h{8}",
        _BLANK,
        of="secret token",
        any_word=True,
    ),
    # --- a bracket ---
    Form(
        "argument",
        _FIRST_ARGUMENT,
        'builder.password("7%a{11}")\n\nbuilder.password("kittens")',
        'keyring.set_password("system", "kittens")',
        "(",
        name=r"(?:\.|[Ss]et_?|[Ww]ith_?)[Pp]ass(?:word|wd|phrase)",
    ),
    Form(
        "typed",
        r"\([ \t]{0,16}+[\"'][^\"'\r\n]{0,96}[\"'][ \t]{0,8}+,[ \t]{0,8}+[\"'](?=[^\s\"'])",
        'db.changeUserPassword("me", "Kit%a{8}7.x")',
        'db.changeUserPassword("me", "File7x.txt")',
        "(",
        name=_CALLED,
    ),
    Form(
        "quoted",
        _FIRST_ARGUMENT,
        "PASSWORD('kittens')",
        "OLD_PASSWORD('kittens')",
        "(",
        name=r"\APASSWORD",
    ),
    Form(
        "drawn",
        _FIRST_ARGUMENT,
        'old_password("7f3%a{11}9")',
        'old_password("kittens")',
        "(",
        name=_CALLED,
    ),
    Form(
        "issued",
        r"\([ \t]{0,16}+[\"']",
        'Client::with_api_key("%h{40}")\n\nbuilder.authToken("%h{40}")',
        'Client::with_api_key("refresh")',
        "(",
        of="secret token",
    ),
    # --- elements ---
    Form(
        "element",
        rf"(?>(?:[ \t][^<>\r\n]{{0,256}}+)?)>[ \t]{{0,16}}+{_CDATA}(?=[^<\s])",
        "<api_token>%a{32}</api_token>\n\n<password>  7%a{11} </password>\n\n<password><![CDATA[7%a{11}]]></password>",
        "{api_token>%a{16}</api_token>",
        "> \t",
        _TAG,
    ),
    Form(
        "element",
        rf"[\"'](?>(?:[ \t][^<>\r\n]{{0,128}}+)?)>(?>(?:<(?:value|string)>)?){_CDATA}(?=[^<\s])",
        '<entry key="api_token">%a{32}</entry>\n\n<setting name="Password" x="String"><value>kittens</value></setting>\n\n<void property="password"><string>kittens</string></void>',
        '<entry about="api_token">%a{16}</entry>',
        "\"'",
        r"\b(?i:name|key|id|property)=[\"'][\w.-]{0,96}",
        back=128,
    ),
    Form(
        "quoted",
        r"[ \t]{1,8}+(?:[\w:.-]{1,32}=\"[^\"<>\r\n]{0,64}\"[ \t]{1,8}+){0,3}[Vv]alue=(?=[\"'])",
        '<api-key value="%h{32}"/>\n\n<Password hidden="true" Value="kittens" />',
        '<password label="kittens"/>',
        _BLANK,
        _TAG,
    ),
    Form(
        "escaped",
        r"&gt;(?=[^\s&])",
        "&lt;api_token&gt;%a{32}&lt;/api_token&gt;",
        "&lt;api_token&gt;text&lt;/api_token&gt;",
        "&",
        r"&lt;(?:\w{1,30}:)?",
    ),
    Form(
        "typed",
        r"</\w{1,8}>[ \t]{0,4}:[ \t]{0,4}(?>(?:<\w{1,8}>)?)(?=[^\s<])",
        "<b>password</b>: Kit%a{8}7.x",
        "<b>password</b>: Base64-encoded",
        "<",
        of="password",
    ),
    Form(
        "typed",
        r",[ \t](?=[^\s\"'\]-])",
        "args: [run, --password, Kit%a{8}7.x]",
        "the options --password, Kitten7",
        ",",
        r"[\[,][ \t]{0,4}",
        r"\A-.*",
        of="password",
    ),
    Form(
        "element",
        r"</string>[ \t]{0,8}+<string>(?=[^<\s])",
        "<entry><string>password</string><string>kittens</string></entry>",
        "<list><string>password</string><string>kittens</string></list>",
        "<",
        r"<entry>[ \t]*<string>",
    ),
    Form(
        "element",
        r"</name>[ \t]{0,8}+<value>(?>(?:<string>)?)(?=[^<\s])",
        "<member><name>api_token</name><value><string>%a{32}</string></value></member>",
        "<member><name>api_token</name><value><int>%a{32}</int></value></member>",
        "<",
        "<name>",
    ),
    Form(
        "element",
        r"</(?:t[dh]|dt|key|b|strong|span|label|div)>[ \t]{0,64}+<(?:td|dd|string|code|tt|kbd|span|b|strong|div)\b[^<>\r\n]{0,64}+>[ \t]{0,64}+"
        r"(?>(?:<(?:pre|code|b)\b[^<>\r\n]{0,64}+>)?)(?>(?:&#x27;|&#39;|&quot;)?)(?=[^<\s])",
        "<td>SECRET_KEY</td><td><pre>&#x27;%a{32}&#x27;</pre></td>\n\n<dt>Password</dt><dd>7%a{11}</dd>\n\n<b>Token</b> <code>%a{40}</code>"
        "\n\n<key>ApiKey</key><string>%h{32}</string>",
        "<td>SECRET_KEY</td><td><pre>os.environ</pre></td>\n<b>Token</b> <i>%a{40}</i>",
        "<",
    ),
)

# A blank behind a name: only where this matches, or a command or a directive says so, a value may follow.
AFTER_BLANKS = (
    r"[ \t]++(?:[.=:<>?+!&(\\\"'`|-]|\d{1,2}[ \t:]|[Aa]s[ \t]|[Ss]tring|STRING|str\b|char|byte|text|TEXT|var\b|std::|\[|[Ii][Dd]\b"
    r"|[A-Za-z][A-Za-z ]{0,60}:[ \t]{0,8}[\r\n]|is\b|was\b|has\b|for\b|of\b|set\b|generated|the\b|elastic|now\b|\xe2|[\r\n])|[ \t]{2}|\t"
)
