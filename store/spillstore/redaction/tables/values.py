r"""What values are no secrets, whatever their names: placeholders, variables, hashes, code, prose.

Each row is an expression that a whole value matches. Those of ``PLACEHOLDERS`` do not mind the case of letters. ``stays`` is a
value that the row keeps behind any name, ``goes`` one like it that goes behind `password`. Expressions are those of ``re``
for bytes, blanks in them mean nothing; examples are templates, as in ``names.py``.
"""

from __future__ import annotations

from typing import NamedTuple


class Harmless(NamedTuple):
    """Values that are never secrets.

    Attributes:
        expression: what the whole value matches.
        stays: such a value.
        goes: a value like it that is one behind `password`; none if there is none.
    """

    expression: str
    stays: str
    goes: str = ""


# Words that are never a value; the native scanner asks for them first.
PLAIN = "null none nil true false undefined yes no on off password passwd secret token key value string text user self str"
_NAMES = (
    r"(?:password|passwd|pwd|pass|passphrase|passcode|secret|token|api[-_\ ]?key|apikey|key|value|credentials?|string|text|username"
    r"|user|here|auth|login)"
)

PLACEHOLDERS: tuple[Harmless, ...] = (
    Harmless(
        r"(?:(?:my|your|our|the|some|new|old|user|db|database|test|dummy|fake|sample|enter|insert|admin|client|access|a|an)[-_\ ]?)*"
        + _NAMES
        + r"(?:[-_\ ]?(?:here|field|box|input|label))?\ ?[:?*]?",
        "my_password",
        "my_passwort7",
    ),
    Harmless(r"(?:your|insert|enter|replace|put|add|paste|change)[-_\ ].*", "your-key-7", "yours7key"),
    Harmless(r".*[-_\ ](?:here|goes[-_]here|placeholder)", "key7_here", "key7there"),
    Harmless(r"change[-_]?(?:me|it|this).*|replace[-_]?me.*", "changeme123", "changing123"),
    Harmless(
        "value_specified_in_no_log_parameter", "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER", "VALUE_SPECIFIED_7"
    ),
    Harmless(r".*(?:example|placeholder|dummy|redacted|your[-_]).*", "7example7", "7exam7ple"),
    Harmless(
        r"todo|tbd|fixme|n/?a|nil|none|null|undefined|nan|true|false|yes|no|on|off|empty|missing|unset|default|hidden|masked|omitted"
        r"|unknown|invalid|wrong|incorrect|required|optional|optional\(\)|expired|changed|set|not|is|are|was|to|for|and|or|the|must"
        r"|should|cannot|could|has|have|will|with|from|in|of|reset|prompt|ask|encrypted|plaintext|plain|generated|random"
        r"|sensitive|fail|failed|failure|pass|passed|ok|skip|skipped|success|mismatch|mismatched|never|always|on_create|auto|manual|enabled|disabled",
        "required",
        "required77",
    ),
    Harmless(
        r"str|string|bytes|int|integer|bool|boolean|float|number|object|any|void|type|char|varchar|text|self|this|password_hash"
        r"|input|stdin|env|file|keyring|vault|field|credentials",
        "string",
        "string77",
    ),
    Harmless(
        r"basic|bearer|digest|oauth2?(?:token|client|session)?|jwt|ldap|scram-sha-256|md5|trust|peer|bcrypt|sha\d*",
        "bcrypt",
        "bcrypt77",
    ),
    Harmless(r"(?:band|low|high|all)(?:pass|stop)", "bandpass", "bandpass77"),
    Harmless(r"\[?(?:string|id|int|boolean|float|bytes|upload|json)!?\]?!", "String!", "String7!"),
    Harmless(r"xyz|yyy|foo|bar|baz|abc|blah|lorem|ipsum", "foo", "foo77"),
    Harmless(r"[a-z_.-]+=", "name=", "name7="),
    Harmless(r"(?:&(?:lt|\#x3c|\#60);|\\u003c).*", "&lt;word7", "lt;word7"),
    Harmless(r"(?:%(?:\([^)]*\))?[sdr][^\w]?)+", "%s:%s", "%s7%s"),
    Harmless(r"x{3,}[x-]*|(?:x+-)+x+|.*x{8}.*", "xxx-xxx", "xyx-xyx7"),
    Harmless(r".*[\#*]{8}", "me********", "me**7**"),
    Harmless(
        r".{0,12}(?:\*{3,}|\#{4,}|(?:\xe2\x80\xa2){3,}|(?:\xe2\x97\x8f){3,}|\.{3,}|\xe2\x80\xa6).{0,8}|\*{3,}@.*",
        "sk-a7****7f3a",
        "sk-a7*7*7f3a",
    ),
    Harmless(r"\W+|(.)\1*", "-----", "--7a--"),
    Harmless(r"\.{3}.*|.*\.{3}|.*\xe2\x80\xa6", "abc7...", "abc7.."),
    Harmless(
        r"(?:(?:[a-z]+-|(?:[a-z]|\xc3[\xa0-\xbf])*)(?:passwort|kennwort|wachtwoord|contrase(?:\xc3\xb1|n)a|senha|adgangskode|l(?:\xc3\xb6|o)senord|salasana|slaptazod|kodeord)[a-z]{0,12}"
        r"|(?:clave|llave|hesl|parool|gesl|parol|hasl|lozink|jelszo|sifr)[a-z]{0,4}|parol\xc4\x83|[ck]ontrasenya|contrasinal|contrasigno"
        r"|\xc5\x9fifr\xc9\x99|\xc5\x9eifr\xc9\x99|\xc5\xa0ifra|ger-tremen|cyfrinair|pasvorto|pasahitza|loynior\xc3\xb0|mot\ de\ passe"
        r"|wachtwurd|pasfhocal|jelsz\xc3\xb3|lykilor\xc3\xb0|nasnav|passwuert|slapta\xc5\xbeodis|katalaluan|passord|has\xc5\x82o"
        r"|fjal\xc3\xabkalimi|te\xc3\x9fera|m\xe1\xba\xadt\ kh\xe1\xba\xa9u|kata\ sandi|sandi|\xc5\x9fifre|has\xc5\x82a|palavra-passe)\ ?[:*]?",
        "Passwort",
        "Passwort7",
    ),
    Harmless(
        r"(?:no|wrong|weak|bad|old|new|set|srt|use|get|missing|invalid|empty|too-\w+)-(?:password|secret|token|key)(?:-required)?",
        "wrong-password",
        "wrong-passport7",
    ),
    Harmless(
        r"[A-Z]\w*_(?:pass|passwd|password|pwd|secret|token|header|credentials?)(?:_\d)?",
        "FTP_PASS",
        "FTP_PASS77",
    ),
    Harmless(r"\d{1,3}(?:\.\d+)?%(?:[|\ ].*)?", "100%|bar7|", "1000%|bar7|"),
    Harmless(r"\d{4}-\d\d-\d\d[T\ ][\d:.]+(?:Z|[+-][\d:]+)?", "2024-05-01T08:00:00Z", "2024-05-01x08"),
    Harmless(r"(?:yes|no)\).*", "YES)", "YE7S)"),
)

VARIABLES: tuple[Harmless, ...] = (
    Harmless(r"<[a-z]{1,8}>(?:\{\{|\{%|\$\{|<%).*", "<b>{{name7", "<b>{name7"),
    Harmless(
        r"\$\$?[A-Za-z_][\w:]*(?:(?:->|\[|\{|/|\(|\$|\\|:\$).*)?[;,)]*|\$::\w+|\$\d+(?:\s.*)?|\$\$?[({].*",
        "$NAME7",
        "$7name",
    ),
    Harmless(r"[:/@%]?\{[A-Za-z_]+|[:/@%]?\{[^{}]*\}.*|\{\{.*|\{%\ .*", "{{ name7 }}", "n7{{ame"),
    Harmless(r"\[\(?[A-Za-z_@][\w.]*[(\[].*|\[[\[\\*].*|\[\(?[\w\ .,|<>/\#-]*(?:\].*)?", "[name7]", "n7[ame"),
    Harmless(r"%[A-Za-z_]\w*%[\\/]*|%\d\$s|%(?:\([^)]*\))?[\#+0-9.-]*[sdrifxqv]", "%NAME7%", "%NAME7"),
    Harmless(r"<{1,3}[^<>]*>{0,3}|<\?.*", "<name7>", "<name7>>!a"),
    Harmless(r"\\?\.\$.*|,[A-Za-z_]\w*[:=].*|@[A-Za-z_.]+@?", "@NAME@", "@name7"),
    Harmless(
        r"!(?:vault|Ref|Sub|GetAtt|reference|secret|env|ENV|include|If|Join|ImportValue|!\w+)\b.*",
        "!Ref name7",
        "!Name7",
    ),
    Harmless(r"\#\{.*|:[a-z_]+|:[A-Z_]+|\?\d*|\?[A-Za-z_]+|\(.*|\).*", ":NAME", ":name7!"),
    Harmless(
        r"(?:hover|focus(?:-within|-visible)?|active|visited|link|disabled|enabled|checked|required|valid|invalid|before|after)\{(?:\}|[a-z-]+:.*)",
        "focus{color:red}",
        "focus7{color:red}",
    ),
    Harmless(
        r"(?:vault|op|ssm|arn|secret|keyring|env|file|awssm|kms|projects|sealed|workspace|npm|github|gitlab|bitbucket|link|portal|patch|catalog|jsr):.*|Ag[A-D][A-Za-z0-9+/]{200}.*",
        "vault:name7",
        "volt:name7",
    ),
    Harmless(r"[A-Za-z][A-Za-z0-9+.-]{1,15}://.*", "sdb://name/7", "sdb!7"),
    Harmless(
        r"(?:New|Get|Set|Read|Import|Export|Invoke|Out|Join|Select|Convert(?:To|From)?)-[A-Z][A-Za-z]+",
        "New-Object",
        "New-Object7",
    ),
    Harmless(
        r"(?:/[\w.-]+)*/(?:\*{1,2}|[:{<][A-Za-z_][\w.]*[}>]?)(?:/(?:[\w.-]*|\*{1,2}|[:{<][A-Za-z_][\w.]*[}>]?))*",
        "/name7/**",
        "/name7/**!",
    ),
    Harmless(
        r"(?:required|nullable|string|sometimes|confirmed|omitempty|(?:min|max|between|size|regex)[:=][^|,]*)(?:[|,][a-z_]+(?:[:=][^|,]*)?)+",
        "required|min:8|max:64",
        "requires|min:8|max:64!",
    ),
    Harmless(r"[a-z]+(?::[A-Za-z]+)+", "name:other", "name:7other"),
    Harmless(r"[abglstvw]:[A-Za-z_]\w*(?:[.\[][\w.\[\]]*)?|[as]:\d+", "a:name.name7", "a:name7!"),
    Harmless(
        r"(?:[a-z]+_)?(?:oobeSystem|windowsPE|offlineServicing|specialize|generalize|audit(?:User|System))",
        "oobeSystem",
        "oobeSystem7",
    ),
    Harmless(r"0x[0-9A-Fa-f]{1,8}[uUlL]{0,3}|\d*\*[A-Z]+|[A-Z][A-Z\d]*_\*", "0x4004", "0x400g4"),
    Harmless(r"[a-z]+(?:,[a-z]+)+|[a-z_]*[a-z]\+[a-z][a-z_]*_[a-z_]+", "one,other", "one,other7"),
    Harmless(r"[A-Za-z_]\w*=['\"]?(?:%s|\?)['\"]?", "name='%s'", "name='%7'"),
    Harmless(
        r"\\[A-Za-z$].*|[&*]{1,2}(?:[A-Za-z_][\w-]*|\[\w*\]\w*)(?:\.\w+)*(?:[\[{(]\w?.*)?[;,)]*|~",
        "&[u8]",
        "&name7!",
    ),
    Harmless(r"%[iIqQwW][{(\[<].*", "%w{name7}", "%w7name"),
    Harmless(r"[A-Za-z_@][\w.@]*&\.[a-z_].*", "name&.name7", "name&7.name"),
    Harmless(r"(?:::\w|\w+::<|<[^<>]*>::).*", "::Name::new", ":Name7::new!"),
    Harmless(r"\w+(?:\.\w+)*\.\(\w+\).*", "name.(name7)", "name.)name7"),
    Harmless(r"\{\w+:.*", "{name:{name7", "{7name{"),
    Harmless(r"\+[\w.]+\+|\+[\w.]+\(.*|\.\w+\(.*|/\.\w+\(.*", "+name.name7+", "+name7!"),
    Harmless(
        r"(?:this|self)\.[A-Za-z_].*|![01](?:[,;)}\]].*)?|(?:[01]|null|true|false|undefined)[,;)}\]].*",
        "this.name7",
        "thi7s.name!",
    ),
    Harmless(r"(?:module\.)?exports\.[A-Za-z_].*", "exports.name7", "export.name7!"),
    Harmless(r"(?:[A-Za-z]\w*\|)+[A-Za-z]\w*", "Name7|string", "Name7|str!ng"),
    Harmless(r"[A-Z_]+=[A-Z_]+|--?[A-Za-z][a-z-]*(?:=[A-Z_]+)?|-[A-Z]+", "SECRET=SECRET", "SECRET=SEC7RET"),
    Harmless(r"\{:system,?.*", "{:system,", "{7system,"),
    # encrypted by the key service of AWS
    Harmless(r"AQICAH[A-Za-z0-9+/=]{64,}", "AQICAH" + 16 * "k8Jd7", "AQICAk8Jd72hsQ0zPw"),
    Harmless(r"[A-Za-z_][\w.]*<[a-z]{1,8}", "name.name7.<span", "name.name7.<spa!"),
    Harmless(r"[A-Za-z_][\w.]*\(['\"].*|id-[A-Za-z].*", "url('./name7.png", "url'./name7.png"),
    Harmless(
        r"(?:argon2:)?\$(?:1|2[abxy]?|5|6|y|apr1|argon2\w*|scrypt)\$.*\$?.*",
        "$6$name$name7",
        "$77$name$name7!",
    ),
)

NUMBER = r"(?i:[\^~<>=]*[\d.,:+-]+|-?0x[0-9a-f]{1,40}[ul]*|\d+<<\d+)"
# What is no key or token, but may be a password; the examples stand behind `token`.
NO_KEYS: tuple[Harmless, ...] = (
    Harmless(r".{0,7}|.*\ .*", "k8Jd72h", "k8Jd72hsQ0"),
    Harmless(
        r"[a-z-]+-(?:token|secret|password|key)s?-[a-z0-9]{5}", "name-token-x7f2p", "name-tokem-x7f2pK8jd"
    ),
    Harmless(r"[A-Z]{1,3}\d{1,5}(?:\.\d{1,4})+", "TEC1098.001", "TEC1098.k8Jd72hsQ0zPw"),
    Harmless(r"Iv(?:\d\.[0-9a-f]{16}|\d\d[A-Za-z0-9]{16})", "Iv1.f618cd16de2aa3c3", "Iv1.f618cd16de2aa3c3d"),
    Harmless(r"[A-Za-z_]{2,24}=[^=].*", "old=k8Jd72hsQ0zPw", "k8Jd72hsQ0zPw=="),
    Harmless(
        r"(?i:(?:sha(?:1|224|256|384|512)|md5|blake[23]b?)[-:].+)",
        "sha256:k8Jd72hsQ0zPw",
        "sha2:k8Jd72hsQ0zPw",
    ),
    Harmless(
        r"(?:ssh-|ecdsa-|AAAA[A-J][23nm]|MFk|MFw|MIG[fe]|MII[BC]I?j|-----BEGIN\ (?:PUBLIC|CERT)).*",
        "MFkwk8Jd72hsQ0zPw",
        "MFawk8Jd72hsQ0zPw",
    ),
    Harmless(NUMBER, "0x7f3a9c41d2e8b605", "0y7f3a9c41d2e8b605"),
    Harmless(r"(?=[^{]*\{)[^}]*\}.*", "k8Jd{72hsQ0}zPw", "k8Jd{72hsQ0zPw"),
    Harmless(r".*%s.*", "k8Jd72%shsQ0zPw", "k8Jd72%hsQ0zPw"),
    Harmless(r".*(?:\\[wdsbWDSBux]|[\])][+*?{]|\(\?).*", "k8Jd72)+hsQ0zPw", "k8Jd72+hsQ0zPw"),
)
