"""Values in another line than their name.

Expressions are those of ``re``, for bytes; examples are templates, as in ``names.py``.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.redaction.tables.forms import ENTITY, PASSED, VALUES, VISIBILITY


class NextLine(NamedTuple):
    """A value in another line than its name; the first row that fits decides.

    Attributes:
        form: how the value is written; see ``nextlines.py``.
        before: what stands before the name in its line, to the end.
        behind: what stands behind the name, up to the line's end.
        goes: lines that lose a secret.
        stays: lines that stay.
        whole: what stands before the name is all of that.
        name: how the name begins, which may then be the last word of its line.
        alone: what must stand before the name, near, if it is the last word of its line; it cannot be if that is nothing.
    """

    form: str
    before: str
    behind: str
    goes: str
    stays: str
    whole: bool = False
    name: str = ""
    alone: str = ""


_ENDED = rf"(?>(?:\\?[\"']|</(?:key|t[dh]|dt|[Nn]ame|stringProp)>)?)(?>(?::{VISIBILITY})?)\]?+"
_SET = _ENDED + r"[ \t]{0,8}+(?>=>|[:=])[ \t]{0,8}+"
_NO_SIGN = _ENDED + r"[ \t]{0,8}+,?[ \t]{0,8}+"


class Line(NamedTuple):
    """What a line looks like that has a value, and is known by one expression; for other forms see ``nextlines.py``.

    Attributes:
        form: see ``NextLine``.
        found: what stands before a value that may be in quotes; or a line, its group the value.
        passed: another line that may stand before that of the value.
    """

    form: str
    found: str
    passed: str = ""


_VALUES, _PASSED = (words.replace(" ", "|") for words in (VALUES, PASSED))
DESCRIBED = (
    rf"(?i)[ \t]*(?:[-+][ \t]+)?[\"']?(?:{_PASSED})[\"']?[ \t]*[:=].*"  # what may stand before a value
)
# Commands that print what they are asked for.
_PRINTS = "cat|bat|head|tail|less|more|type|echo|printenv|print|get|GET|get-value|get-secret|get-parameter|hget|HGET|read|show|access|reveal|decrypt|output|[a-z]+:get|gc|Get-Content"
# What stands before what is asked for in a console of a language or a debugger.
_CONSOLE = r"(?:>>>|In \[\d{1,5}\]:|(?:irb|iex|pry|\[\d{1,5}\] pry)[^>\r\n]{0,40}>|\((?:gdb|lldb|Pdb|ipdb|byebug|dlv|rdb:\d)\)|(?:php|scala|julia|node|ghci|jshell|R)>)"
_RESULT = r"[ \t]*+\"?result\"?[ \t]*+[:=][ \t]*+(?=\")"
LINES = (
    Line(
        "value",
        rf"[ \t]*(?:[-+][ \t]+)?\\?[\"']?(?i:{_VALUES})\\?[\"']?[ \t]*(?:=>|[:=])[ \t]*(?:!!str[ \t]+)?(?=\S)",
        DESCRIBED,
    ),
    Line("hosted", r"[ \t]*\"[\w-]+(?:\.[\w-]+)+\"[ \t]*:[ \t]*(?=\")"),
    Line(
        "framed",
        r"(?s)[ \t]*(?:\||\xe2\x94\x82)[ \t]*value[ \t]*(?:\||\xe2\x94\x82)[ \t]*([^\s|]+).*",
        r"(?s)[ \t]*(?:\||\xe2\x94)(?![ \t\x82]*value).*",
    ),
    Line("input", r"[ \t]*\"input\"[ \t]*:[ \t]*(?=\")", r"[ \t]*\"(?:msg|type|url|ctx)\".*"),
    Line("wireguard", r"(?:[\w.-]{1,15}\t)?([A-Za-z0-9+/=]++)(?:\t.*|\Z)"),
    Line("new value", r"New value:[ \t]*(?=\S)"),
    Line("derived", r"key=([0-9A-F]++)"),
    Line("result", _RESULT, rf"(?s)(?!{_RESULT}).*"),
    Line("joined", r"\s*(?=[\"'])"),
    Line("argument", r"[ \t]*+(?:(?=[\"'][^-])|-[ \t]+(?=[\"']?[^\s\"'-]))"),
    Line(
        "string",
        rf"(?s)[ \t]*<(?:string|[Vv]alue(?:[ \t][^<>]*)?|dd|td[^<>]*|stringProp name=\"[\w.]{{1,32}}value\")>[ \t]*(?:<pre[^<>]*>)?(?:{ENTITY})?(?=[^<\s])(.*?)(?=(?:{ENTITY})?<|\Z)",
    ),
    Line(
        "element",
        r"[ \t]*+(?:<[Vv]alue>)?([^\s<>]++)(?:<(?:/.*)?)?[ \t]*+\Z",
        r"[ \t]*+<\w+>(?:true|false)</\w+>[ \t]*+",
    ),
)

NEXT_LINES: tuple[NextLine, ...] = (
    NextLine("joined", "", _SET + r"\\", 'API_TOKEN = \\\n    "%a{32}"', "API_TOKEN = \\\n    find"),
    NextLine(
        "joined",
        "",
        _SET + r"(?:Some|Ok|Just|Right|Optional|Secret|SecretString|SecretStr|Sensitive)\(",
        'api_token: Some(\n    "%a{32}",\n)',
        'api_token: find(\n    "%a{32}",\n)',
    ),
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
        "api_token:\n  %a{32}\n\napi_keys:\n  - %a{32}\n  - %a{32}\n\nDBPassword:\n  Type: String\n  Default: 7%a{11}\n",
        "api_token:\n  refresh: %a{32}\n",
        whole=True,
    ),
    NextLine(
        "argument",
        r"[ \t]*(?:-[ \t]+)?[\"']?",
        r"[\"']?,?",
        '"run",\n"--license-key",\n"%a{40}",\n\n  - --requirepass\n  - 7%a{11}',
        '"run",\n"--license-key",\n"--password",\n"-license-key",\n"-%a{40}",',
        whole=True,
        name="--?[A-Za-z]",
    ),
    NextLine(
        "printed",
        "",
        _ENDED + r"(?:[ \t][A-Za-z-]{1,16}){0,8}[ \t]{0,8}+:[ \t]{0,8}+",
        "Use the following password to proceed:\n  \n%h{32}\n\nUse the following password:\n  \n%h{32}\n\nyour new token:\n  %a{32}\n",
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
        "input",
        r"\"loc\":[ \t]*\[(?:\"[\w.-]{1,32}\",[ \t]*){0,4}\"[\w.-]*",
        r"\"\],?",
        '"loc": ["body", "password"],\n"msg": "String should be longer",\n"input": "7%a{11}"',
        '"loc": ["body", "password"],\n"msg": "String should be longer",\n"label": "7%a{11}"',
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
        r"<(?:key|t[dh]|dt|[Nn]ame|stringProp name=\"[\w.]{1,32}name\")>[\w.-]*",
        _NO_SIGN,
        '<key>api_token</key>\n<string>%a{32}</string>\n\n<td>SECRET_KEY</td>\n<td><pre>&#x27;%a{32}&#x27;</pre></td>\n\n<name>db_password</name>\n<value>7%a{11}</value>\n\n<Name>A.B.DbPassword</Name>\n<Value type="s">7%a{11}</Value>'
        '\n\n<stringProp name="Argument.name">password</stringProp>\n<stringProp name="Argument.value">7%a{11}</stringProp>',
        "<key>api_token</key>\n<date>%a{32}</date>",
    ),
    NextLine(
        "part",
        r"(?i:form-data;.*\bname=\"?)[\w.-]*",
        _NO_SIGN,
        'Content-Disposition: form-data; name="password"\n\r\n7%a{11}',
        'Content-Disposition: form-data; name="password"\n7%a{11}',
        alone="ame:",
    ),
    NextLine(
        "printed",
        rf"(?:{_CONSOLE}) [^\r\n]{{0,160}}[\[(][\"':][\w.-]*",
        r"[\"']?[\])]{1,3}",
        ">>> from x import settings; settings.DB[\"PASSWORD\"]\n'7%a{11}'",
        ">>> from x import settings; settings.DB[\"PASSWORD\"]\n'none'",
    ),
    NextLine(
        "printed",
        rf"(?:{_CONSOLE}) [^\r\n]{{0,160}}[.>:)\]][\w-]*",
        "",
        'irb(main):002> User.find_by(email: "me@x.example").api_token\n=> "%a{24}"',
        'irb(main):002> User.find_by(email: "me@x.example").api_token\n=> nil',
        alone="> |]: |b) |e) ",
    ),
    NextLine(
        "printed",
        rf"(?:[$>]|[\w\])~]#) (?:[^\r\n]{{0,160}}[ \t|])?(?:{_PRINTS})[ \t][^\r\n]{{0,160}}",
        "",
        '$ cat /run/secrets/db_password\n7%a{11}\n\nme@host:~$ config:get SECRET_TOKEN\n%h{64}\n\nredis:6379> GET session:token\n"%a{40}"',
        "$ ls /run/secrets/db_password\n7%a{11}",
        alone="> |$ |# ",
    ),
    NextLine(
        "printed",
        r"(?:/[\w.@-]+)*/",
        "",
        "/app/db/password\n7%a{11}",
        "see /app/db/password\n7%a{11}",
        whole=True,
        alone="/",
    ),
    NextLine(
        "printed",
        r"\d{1,4}\) [\"'][\w.:-]*",
        _ENDED,
        '3) "access_token"\n4) "%a{40}"',
        '3) "access_token"\n4) "refresh"',
    ),
    NextLine(
        "value",
        r"(?:\A|[\s{,\"'-])(?:name|Name|NAME|key|Key|ParameterKey|label|field|variable|header)[\"']?[ \t]*[:=][ \t]*[\"']?[\w./-]*",
        _NO_SIGN,
        '- name: API_TOKEN\n  value: %a{32}\n\n- key: DB_PASS\n  value: kittens\n\n"key": "app/prod/db_pass",\n"flags": 0,\n"value": "7%a{11}"',
        "- name: API_TOKEN\n  label: %a{32}",
        alone="ame:|ey:|abel:",
    ),
    NextLine(
        "printed",
        r"(?:>|In \[\d{1,5}\]:|\((?:gdb|lldb|Pdb|ipdb|byebug|dlv|rdb:\d)\)) {1,2}(?:(?:p|po|pp|print|inspect|x/s|display|output) )?[\w.:()\[\]\"'$>-]*",
        r"(?>(?:[\"'])?)[\])]{0,2}",
        "irb(main)> app.secret_key_base\n=> \"%h{128}\"\n\n>>> settings.SECRET_KEY\n'%a{40}'\n\n>>> os.environ['API_TOKEN']\n'%a{40}'",
        'irb(main)> app.secret_key_base\n=> "%h{128}", 1',
        alone="> |]: |b) |e) ",
    ),
)
