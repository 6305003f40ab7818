"""Values behind names: assignments, options, headers, elements, in the notation of any language.

What may stand between a name and its value are several forms, each a rule of its own. Whether an unquoted word is a
literal or a variable of a program depends on where it stands: in a shell's assignment, a URL or a line of its own it is one.
Where the value is in another line than the name, ``nextlines.py`` looks for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore.redaction import nextlines
from spillstore.redaction.look import ALNUM, WORD_END, Look, Rule
from spillstore.redaction.names import Named
from spillstore.redaction.values import LEAST, drawn, mixed

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = bytes(sorted(ALNUM)) + b"_.-"
_NAMES = frozenset(_NAME)
_SPACES = frozenset(b" \t")
_SPACE = frozenset({b" ", b"\t"})
_NAME_BACK = 96
_NAME_ON = re.compile(rb"[\w.-]{0,96}+")

_QUOTED = rb"(?:\\{0,8}[\"'`]|&(?:quot|apos|#39|#34|#x27|#x22);)"
_CLOSER = rb"(?:" + _QUOTED + rb"){0,3}+(?:\]|%5[Dd]){0,2}+[ \t]{0,64}+"
_SIGN = rb"(?:=>|:{1,3}=|\?{1,2}=|\+=|\.=|=(?!=)|:(?![:=/])|->|<-)"
ASSIGN = re.compile(
    _CLOSER
    + _SIGN
    + rb"[ \t]{0,64}+(?:>[-+]?[ \t]{1,64}+)?+(?:!!(?:str|binary)[ \t]{1,64}+|&\w{1,64}+[ \t]{1,64}+(?=[\"']))?+"
    rb"(?:&(?:quot|apos|#39|#34|#x27|#x22);)?+"
)
_WRAPPED = re.compile(
    rb"(?:Some|Ok|Just|String::from|SecretStr|SecretString|Secret|PASSWORD|CONVERT_TO|(?:sql\.)?Raw|string|str|bytes|b|u)\([ \t]{0,64}+(?=[\"'])"
    rb"|string\(\d{1,9}\)[ \t]{1,64}+(?=\")"
)
_COMPARE = re.compile(_CLOSER + rb"[=!]==?[ \t]{0,64}+(?=\\{0,8}[\"'])")
_TYPE = (
    rb"(?:[ \t]{0,8}+:[ \t]{0,8}+(?:&(?:'\w+[ \t]+)?)?[A-Za-z_][\w.\[\]<>|?* ]{0,64}?"
    rb"|(?:\[\])?[ \t]{1,8}+(?:[Aa]s[ \t]+)?(?:\[\])?(?:[Ss]tring|STRING|str|char|byte|bytes|text|var|TEXT|std::string)(?:\[\d*\])?)"
)
_TYPED = re.compile(_TYPE + rb"[ \t]{0,8}+=[ \t]{0,64}+(?=[fbruFBRUN@$]{0,2}[\"'`])")
_VALUE = rb"\\{0,8}[\"']?[Vv]alue\\{0,8}[\"']?[ \t]{0,64}+[:=][ \t]{0,64}+"
_OTHER = rb"(?:,?[ \t]{0,8}\\{0,8}[\"']?[a-z]\w{0,15}\\{0,8}[\"']?[ \t]{0,8}[:=][ \t]{0,8}(?:\\{0,8}[\"'][\w./-]{0,32}\\{0,8}[\"']|\w{1,8})){0,2}"
_PAIR = re.compile(rb"\\{0,8}[\"']" + _OTHER + rb"[ \t]{0,64}+,?[ \t]{0,64}+" + _VALUE + rb"(?=\\{0,8}[\"'])")
_NESTED = re.compile(
    rb"\\{0,8}[\"'][ \t]{0,8}:[ \t]{0,8}\{[ \t]{0,8}(?:\\{0,8}[\"'](?:sensitive|type)\\{0,8}[\"']:[ \t]{0,8}[\w\"\\]{1,16},[ \t]{0,8}){0,2}"
    + _VALUE
    + rb"(?=\\{0,8}[\"'])"
)
_LISTED = re.compile(rb"\\{0,8}[\"'][ \t]{0,64}+,[ \t]{0,64}+(?=\\{0,8}[\"'])")
# `os.getenv("NAME") or "..."`, `process.env.NAME || "..."`
_ELSE = re.compile(rb"(?:\\{0,8}[\"'])?\]?\)?[ \t]{0,8}+(?:\|\||\?\?|or)[ \t]{0,8}+(?=[\"'`])")
_TUPLE = re.compile(rb",[ \t]{0,8}+(?=[\"'])")
_OPTION = re.compile(rb"[ \t]{1,16}+(?=[^\s=:])")
_DEFINED = re.compile(rb"[ \t]{1,64}+(?=[\"'])")
_NUMBERED = re.compile(rb"[ \t]\d[ \t](?=[^\s\"'])")
_COUNTED = re.compile(rb"[ \t]\d{1,2}:[ \t]+(?=\S)")  # Unseal Key 1: ...
_COLUMN = re.compile(rb"(?:[ \t]{2,64}+|\t)(?=[^\s=:|<>\"'#-])")
_SPOKEN = re.compile(
    rb"(?:[ \t]{1,64}+(?:[\w.-]{1,64}@[\w.-]{1,64}|(?:is|was|has|been|for|of|to|set|generated|created|reset|the|new|user|account|admin|root|elastic)\b)){0,8}+"
    rb"(?:[ \t]{0,64}[:=][ \t]{0,64}|[ \t]{1,64}(?=[\"'`])|(?<=[ \t]is)[ \t]{1,64})(?=\S)"
)
_ELEMENT = re.compile(rb"(?:[ \t][^<>\r\n]{0,256}+)?+>(?=[^<\s])")
_ATTRIBUTE = re.compile(rb"[\"'](?:[ \t][^<>\r\n]{0,128}+)?+>(?=[^<\s])")
_CALL = re.compile(rb"\([ \t]{0,16}+N?(?=[\"'])")

FOLLOWING = frozenset(b" \t\\\"'`]=:<>?+-(%&!,")
_AFTER_BLANKS = re.compile(
    rb"[ \t]++(?:[.=:<>?+!&\\\"'`|-]|\d{1,2}[ \t:]|[Aa]s[ \t]|[Ss]tring|STRING|str\b|char|byte|text|TEXT|var\b|std::|\[|[Ii][Dd]\b"
    rb"|is\b|was\b|has\b|for\b|of\b|set\b|generated|the\b|elastic)|[ \t]{2}|\t"
)
CLOSERS = frozenset(b"\\\"'`]&%")
_DASH = 45
_PARENTHESIS = 40
_COMMA = 44
_PREFIXED = re.compile(rb"<(?:\w{1,30}:)?\Z")
_ATTRIBUTED = re.compile(rb"\b(?:name|key|id)=[\"'][\w.-]{0,96}\Z")
_RESOURCE = re.compile(rb"[\w:*]:\Z")  # arn:...:secret:name, AWS::ApiGateway::ApiKey
_ENVIRONMENT = re.compile(rb"(?i)(?:\$\{?env|<\w{1,30}):\Z")
_MACRO = re.compile(rb"#[ \t]*define[ \t]+\Z")
_SETTER = re.compile(
    rb"(?:\b(?:setx|setenv|(?:configure|config|env|secrets?)[ \t]+(?:set|add|put)|config:set|set[ \t]+-[gUx]{1,3})|(?:^|[\r\n])[ \t]*ENV)[ \t]+\Z"
)
SETS_LAST = (b"set", b"setx", b"setenv", b"add", b"put", b"ENV", b"-gx", b"-Ux", b"-x", b"-g", b"-U")
_SENT = re.compile(rb"(?:[>:]|write\(\d+, \")[ \t]*\Z")
OPTION_BEFORE = frozenset(b" \t\r\n\"'`[({,=|;\0")
_TAGGED = frozenset({b"<", b":"})
_DIRECTIVES = frozenset({b"password", b"requirepass", b"masterauth"})  # of .netrc, of Redis
# What reads a variable of the environment; its second argument is what is taken without one.
_GETTER = re.compile(rb"(?i)(?:\bgetenv|\benv(?:iron)?(?:\.get|\.fetch)?)\(\\{0,8}[\"']\Z")
_CALLED = re.compile(rb"(?i)pass(?:word|wd|phrase)\Z")
_SETS = re.compile(rb"(?:\.|[Ss]et_?|[Ww]ith_?)[Pp]ass(?:word|wd|phrase)\Z")
_SMALL = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_LARGE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NOTHING_FOLLOWS = frozenset(b",;){}")
QUALIFIER = rb"api|access|secret|private|auth|encryption|signing|master|account|shared|license|client|app|service|unseal|recovery"
_QUALIFIED = re.compile(rb"(?i)\b(?:" + QUALIFIER + rb")[ \t]\Z")
_PAIR_BEFORE = re.compile(rb"(?:^|[\s\"'])[A-Za-z_]\w*=[^\s\"'(){},;]+ \Z")
_CLOSED = re.compile(rb"([\w.]*)[)\]}]+[.;,)\]}]")  # in a program, by brackets that were opened before
_SEVERAL = re.compile(rb"[^\s]+[ \t]+[^\s]")  # words
_LOGIN = re.compile(rb"\b(?:login|user(?:name)?:)[ \t]+\S*[^\s,;][ \t]+\Z")
_ANNOUNCED = re.compile(
    rb"(?i)\b(?:generated|temporary|initial|new|default|your|one-time|admin|root)\b[^\r\n:=]{0,40}\Z"
)
_SQL = re.compile(rb"(?i)\b(?:create|alter|grant|user|role)\b")

QUOTE = re.compile(rb"[fbruFBRUN@$]{0,2}(\\{0,8})([\"'`])")
_INSIDE = {quote: re.compile(rb"(?:[^%b\\\r\n]|\\[^\r\n])*+" % quote) for quote in (b'"', b"'", b"`")}
_QUOTE_ENDS = {quote: re.compile(quote) for quote in _INSIDE}
_CONTENT = re.compile(rb"[^<\r\n]*+")
_NEXT = rb"(?:[\w.%$\[\]-]{1,64}+[=:])"
_CUT = re.compile(
    rb"[&;,|](?:\s*+"
    + _NEXT
    + rb"|[;&,|)\]}>.]*+$)|</|\\+[\"nrt]|[&|;]{2}|&(?:quot|apos|#39|#34|#x27|#x22|lt|gt);"
    rb"|\xe2\x80[\x98-\x9f]|\xc2[\xab\xbb]"
)
_TRAILING = b")]}>,;.:"
_COMMAND = (
    rb"export[ \t]+|set[ \t]+|setx[ \t]+|ENV[ \t]+|ARG[ \t]+|declare[ \t]+-x[ \t]+|Environment=|"
    rb"(?:-e|-o|-v|--?var|--env|--build-arg|--set|--set-string|--from-literal|--extra-vars)[ \t=]+"
)
_BEFORE_LINE = re.compile(rb"[ \t]*(?:[-+>#*|][ \t]+)*(?:" + _COMMAND + rb")?[\"']?\Z")
_OPTION_WORD = re.compile(rb"(?:^|[\s\"'])(?:-[\w-]*[=\w]?|(?:" + _COMMAND + rb"))[\"']?[\w.,=-]{0,64}\Z")
_EXPRESSION = re.compile(rb"[A-Za-z_]\w*[.\[|][\w.\[\]|]*")
_METAVARIABLE = re.compile(rb"[A-Z]+(?:[-_.][A-Z]+)*")
_BACK = 64  # bytes before a name that say what line it stands in
_LONG = 256  # bytes of a refused value that are looked at again, for names in it
_LEAST_LISTED = 6
_LEAST_WORD = 5
_LEAST_SPOKEN = 6
_BAR = frozenset({b"pass", b"pwd", b"passwd"})  # words of their own as well


def named(look: Look, start: int, end: int) -> int:  # one for each kind of name
    """A word that the names of secrets are made of stands here."""
    text = look.text
    stop = look.end(_NAME_ON, end)
    if stop == look.size or text[stop] not in FOLLOWING:
        if text[stop : stop + 1] in _ENDS and b"ame:" in text[max(0, start - _BACK) : start]:
            _labelled(look, start, stop)
        # A letter of another alphabet may end another word, and of a long name not all was looked at.
        return stop if text[stop : stop + 1].isascii() and text[stop : stop + 1] not in _NAME else end
    begin = _begin(text, start)
    left = text[begin - 1 : begin]
    dashed = text[begin] == _DASH and (begin == 0 or text[begin - 1] in OPTION_BEFORE)
    spoken = text[stop] in _SPACES and not dashed and left not in _TAGGED
    if spoken and _AFTER_BLANKS.match(text, stop) is None:
        _told(look, begin, stop)
        return stop
    known = look.classified(begin, stop)
    if known is None or (left == b":" and _of_a_path(text, begin)):
        return stop
    if known.strength == "weak" and left in _SPACE and _QUALIFIED.search(text, max(0, begin - 16), begin):
        known = Named("API_KEY", "token")
    found = len(look.spans)
    signed, done = _signed(look, known, begin, stop)
    if not signed:
        _spaced(look, known, begin, stop, dashed=dashed)
    if text[stop] in b" \t:[" and (match := _TYPED.match(text, stop)):
        done = _beyond(look, done, _quoted(look, known, begin, match.end()))
    if text[stop] in b" \t\"'" and (match := _ELSE.match(text, stop)):
        typed = known.strength == "password"
        value = _quoted(look, known, begin, match.end(), strict=not typed, told=typed)
        done = _beyond(look, done, value)
    if len(look.spans) == found:
        nextlines.begin(look, known, begin, stop)
    return done


def _beyond(look: Look, done: int, end: int) -> int:
    """Where to look on behind a value that names may stand before: at its end only if it was a secret."""
    return max(done, end) if look.spans and look.spans[-1].end >= done else done


def _of_a_path(text: bytes, begin: int) -> bool:
    """Whether a name behind a colon is a part of a longer one: of a resource, not of an environment or a prefix."""
    resource = _RESOURCE.search(text, max(0, begin - 2), begin) is not None
    return resource and _ENVIRONMENT.search(text, max(0, begin - 32), begin) is None


def _begin(text: bytes, start: int) -> int:
    """Where the name begins that holds what stands at ``start``."""
    if start == 0 or text[start - 1] not in _NAMES:
        return start
    before = text[max(0, start - _NAME_BACK) : start]
    return start - (len(before) - len(before.rstrip(_NAME)))


def _labelled(look: Look, start: int, stop: int) -> None:
    """``name: DB_PASSWORD``, whose value stands in the next line."""
    begin = _begin(look.text, start)
    known = look.classified(begin, stop)
    if known is not None:
        nextlines.begin(look, known, begin, stop)


def word(look: Look, start: int, end: int) -> int:
    """The same for a word that another may begin with: ``key``, but not ``keyword``, nor before ``dull_behind``."""
    if end == look.size:
        return end
    plural = b"s" if look.text[end - 1] in _SMALL else b"S"
    if look.text[end : end + 1] == plural and look.text[end + 1 : end + 2].isalpha():
        return end
    return named(look, start, end)


def dull_behind(literal: str) -> frozenset[int]:
    """Bytes behind such a word with which it is no name: signs that end it, letters that make it another word."""
    letters = _SMALL if literal[-1].islower() else _LARGE
    return _NOTHING_FOLLOWS | letters - {ord("s"), ord("S")}


def marked(look: Look, start: int, end: int) -> int:
    """The same for a word of two letters, found with the sign behind it."""
    return named(look, start, end - 1)


def foreign(look: Look, start: int, end: int) -> int:
    """A password in a language other than English, behind a sign."""
    match = ASSIGN.match(look.text, end)
    if match is None or look.text[start - 1 : start] == b":":  # a list of fields
        return end
    return _any(look, Named("PASSWORD", "password"), start, match.end())


def _told(look: Look, begin: int, stop: int) -> None:
    """``PASS word`` of FTP and SQL, ``ENV NAME word``, ``config set NAME word``: a value behind a blank where a command says so."""
    text = look.text
    back = max(0, begin - 32)
    name = text[begin:stop]
    sent = name == b"PASS" and _SENT.search(text, back, begin)
    if name == b"PASSWORD" and _SQL.search(text, max(0, begin - 128), begin):
        if match := _OPTION.match(text, stop):
            _option(look, Named("PASSWORD", "password"), begin, match.end())
        return
    if not sent and name not in _DIRECTIVES and not text[back:begin].rstrip(b" \t").endswith(SETS_LAST):
        return
    match, known = _OPTION.match(text, stop), look.classified(begin, stop)
    if match is None or known is None:
        return
    if sent or _SETTER.search(text, back, begin):
        _bare(look, known, begin, match.end(), option=True)
    elif _netrc(look, begin, match.end()):
        if b"machine " in text[max(0, begin - 256) : begin]:
            _bare(look, known, begin, match.end(), option=True)
        else:
            _option(look, known, begin, match.end())


def _signed(look: Look, known: Named, begin: int, stop: int) -> tuple[bool, int]:
    """Forms with a sign between name and value. Returns whether there is one, and where to look on."""
    text = look.text
    ends = []
    if match := ASSIGN.match(text, stop):
        ends.append(_any(look, known, begin, match.end()))
        if wrapped := _WRAPPED.match(text, match.end()):
            ends.append(_quoted(look, known, begin, wrapped.end()))
    if text[stop] in CLOSERS:
        ends += [
            value(look, known, begin, match.end())
            for form, value in _FORMS
            if (match := form.match(text, stop))
        ]
        if (match := _LISTED.match(text, stop)) and text[match.end() + 1 : match.end() + 2] != b"-":
            before = text[max(0, begin - 20) : begin]
            strict = text[begin] != _DASH and b"define" not in before and _GETTER.search(before) is None
            ends.append(_quoted(look, known, begin, match.end(), strict=strict))
    elif match := _COMPARE.match(text, stop):
        ends.append(_quoted(look, known, begin, match.end()))
    elif (
        text[stop] == _COMMA
        and text[begin - 1 : begin] in {b"{", b":"}
        and (match := _TUPLE.match(text, stop))
    ):
        ends.append(_quoted(look, known, begin, match.end(), strict=True))
    return bool(ends), max(stop, *ends, 0)


def _spaced(look: Look, known: Named, begin: int, stop: int, *, dashed: bool) -> None:  # noqa: C901, PLR0912  # one for each form
    """Forms without a sign between name and value."""
    text = look.text
    following = text[stop]
    back = max(0, begin - 32)
    if following in b" \t" and (match := _OPTION.match(text, stop)):
        value = match.end()
        if (
            dashed
            or _SETTER.search(text, back, begin)
            or (known.strength == "password" and _netrc(look, begin, value))
        ):
            _option(look, known, begin, value)
        elif text[value] in b"\"'" and (
            _CALLED.search(text, begin, stop) or _MACRO.search(text, back, begin)
        ):
            _quoted(look, known, begin, value)
        elif text[value] in b"\"'" and known.strength == "secret":
            _quoted(look, known, begin, value, strict=True)
        elif text[value : value + 2] in {b"ID", b"Id", b"id"} and known.strength == "secret":
            if match := ASSIGN.match(text, value + 2):
                _any(look, Named("SECRET", "token"), begin, match.end())
        elif known.strength in {"password", "secret"} and (numbered := _NUMBERED.match(text, stop)):
            _option(look, known, begin, numbered.end())
        elif known.strength == "token" and (numbered := _COUNTED.match(text, stop)):
            _any(look, known, begin, numbered.end())
        elif column := _COLUMN.match(text, stop):
            _column(look, known, begin, column.end())
        if _CALLED.search(text, begin, stop) and (spoken := _SPOKEN.match(text, stop)):
            _spoken(look, begin, spoken.end())
    elif following == _PARENTHESIS and (match := _CALL.match(text, stop)):
        if _SETS.search(text, max(0, begin - 1), stop):
            _quoted(look, known, begin, match.end())
        elif _CALLED.search(text, begin, stop):
            _quoted(look, known, begin, match.end(), strict=text[begin : begin + 8] != b"PASSWORD")
    if following in b"> \t" and b"<" in text[back:begin] and _PREFIXED.search(text, back, begin):
        if match := _ELEMENT.match(text, stop):
            _element(look, known, match.end())
    elif (
        following in b"\"'"
        and (match := _ATTRIBUTE.match(text, stop))
        and _ATTRIBUTED.search(text, max(0, begin - 128), begin)
    ):
        _element(look, known, match.end())


def identified(look: Look, start: int, end: int) -> int:
    """``IDENTIFIED BY`` of SQL, and ``IDENTIFIED WITH plugin BY``."""
    text = look.text
    match = _DEFINED.match(text, end)
    known = text[start] not in _SMALL or _SQL.search(text, max(0, start - 128), start) is not None
    if match is None:
        match = _OPTION.match(text, end) if known else None
        if match is None:
            return end
        return _bare(look, Named("PASSWORD", "password"), start, match.end(), option=True)
    strict = not known
    return _quoted(look, Named("PASSWORD", "password"), start, match.end(), strict=strict)


_WITH = re.compile(rb"[ \t]+[\w\"'@]{1,64}[ \t]+(?:BY|AS|by|as)[ \t]+(?=[\"'])")


def identified_with(look: Look, start: int, end: int) -> int:
    """``IDENTIFIED WITH plugin BY`` of SQL."""
    match = _WITH.match(look.text, end)
    return end if match is None else _quoted(look, Named("PASSWORD", "password"), start, match.end())


def _netrc(look: Look, begin: int, value: int) -> bool:
    """Whether this is ``password`` of a ``.netrc``, in one line with its login or in one of its own."""
    text = look.text
    name = text[begin:value].strip()
    if name not in _DIRECTIVES:
        return False
    before = text[max(0, begin - 256) : begin]
    if (b"login" in before or b"user" in before) and _LOGIN.search(before):
        return True
    if not _own_line(before[-_BACK:]):
        return False
    if _SEVERAL.match(text, value):
        return False
    line = look.line(value)
    if look.open(value, line):
        return False
    content = text[value:line].strip()
    return not content.isalpha() and content.isascii() and content[-1] not in _TRAILING


def _element(look: Look, known: Named, start: int) -> None:
    """The content of an XML element."""
    end = look.end(_CONTENT, start)
    if look.open(start, min(look.size, end + 1)):
        return
    value = look.text[start:end]
    if look.text[end : end + 2] == b"</" and look.judged(value, known.strength, quoted=True, literal=True):
        look.add(start, end, known.kind)


def _column(look: Look, known: Named, begin: int, start: int) -> None:
    """The second of two columns, the last word of its line: in what ``vault`` and ``kubectl describe`` print."""
    text = look.text
    if not _own_line(text[max(0, begin - _BACK) : begin]):
        return
    end = look.word(start)
    if look.open(start, min(look.size, end + 1)):
        return
    value = text[start:end]
    if text[end : end + 1] not in _ENDS or value.endswith((b".", b",", b":")):
        return
    good = mixed(value) if known.strength == "password" else drawn(value)
    if good and look.judged(value, known.strength, quoted=False, literal=True):
        look.add(start, end, known.kind)


def _spoken(look: Look, begin: int, start: int) -> None:
    """``The password for me@host is set to: word``: the last word of the line, or a quoted one."""
    text = look.text
    if QUOTE.match(text, start):
        _quoted(look, Named("PASSWORD", "password"), begin, start, told=True)
        return
    end = look.word(start)
    if look.open(start, min(look.size, end + 1)):
        return
    value = text[start:end].rstrip(b".")
    spoken = text[end : end + 1] in _ENDS and len(value) >= _LEAST_SPOKEN and mixed(value)
    if text[start - 1] not in _SPACES or text[start - 2] not in b":=":  # no sign, or no blank behind it
        spoken = spoken and drawn(value) and _CUT.search(value) is None and b"(" not in value
    if spoken and look.judged(value, "password", quoted=False, literal=True):
        look.add(start, start + len(value), "PASSWORD")


def _any(look: Look, known: Named, begin: int, start: int) -> int:
    """A value in quotes or without. Returns where to look on, 0 if behind the name: what is refused hides nothing."""
    if QUOTE.match(look.text, start):
        return _quoted(look, known, begin, start)
    return _bare(look, known, begin, start)


def _option(look: Look, known: Named, begin: int, start: int) -> None:
    """The value of an option behind a blank: no word of letters, since help texts are full of those."""
    text = look.text
    if QUOTE.match(text, start):
        _quoted(look, known, begin, start)
        return
    end = look.word(start)
    value = text[start:end].rstrip(b".,;:)]")
    if text[start] == _DASH or value.isalpha() or _METAVARIABLE.fullmatch(value):
        if end == look.size:
            look.open(start, end)
        return
    _bare(look, known, begin, start, option=True)


def _drawn(look: Look, known: Named, begin: int, start: int) -> int:
    """A value in quotes that looks drawn: in a list or a call anything else may stand there."""
    return _quoted(look, known, begin, start, strict=True)


def _quoted(
    look: Look, known: Named, _begin: int, start: int, *, strict: bool = False, told: bool = False
) -> int:
    text = look.text
    match = QUOTE.match(text, start)
    if match is None:
        return 0
    escape, quote = match.groups()
    inside = match.end()
    if not escape and text[inside : inside + 2] == quote * 2:
        inside += 2
    if escape:
        line = look.line(inside)
        end = text.find(escape + quote, inside, line)
        end = line if end < 0 else end
    else:
        end = look.end(_INSIDE[quote], inside)
    after = end + len(escape) + 1
    if look.open(start, min(look.size, end + 1), _QUOTE_ENDS[quote]) or (
        strict and look.open(start, min(look.size, after + 1))
    ):
        return end
    value = text[inside:end]
    if text[end : end + 1] in {b"", b"\r", b"\n"}:  # no quote at its end: not all of the line is the value
        value = value.split(b" ", 1)[0].rstrip(b"\\,;)}]")
    key = text[after : after + 1] == b":"  # it is a name itself
    if strict and (key or not drawn(value) or len(value) < _LEAST_LISTED or b" " in value):
        return 0
    if told and not (mixed(value) and len(value) >= _LEAST_SPOKEN and b" " not in value):
        return 0
    if look.judged(value, known.strength, quoted=True, literal=False):
        look.add(inside, inside + len(value), known.kind)
        return _behind(text, inside, inside + len(value))
    return 0


def _bare(look: Look, known: Named, begin: int, start: int, *, option: bool = False) -> int:
    text = look.text
    end = look.word(start)
    if look.open(start, end, WORD_END):
        return end
    cut = _CUT.search(text, start, end)
    stop = cut.start() if cut else end
    while stop > start and text[stop - 1] in _TRAILING and not _balanced(text[start:stop]):
        stop -= 1
    value = text[start:stop]
    if (closed := _CLOSED.match(value)) and not option and not _literal(look, begin, start, stop):
        stop = start + closed.end(1)
        value = closed[1]
    if not value or (known.strength != "password" and len(value) < LEAST):
        return 0
    found = look.judged(value, known.strength, quoted=False, literal=True)
    if found != look.judged(value, known.strength, quoted=False, literal=False):
        found = found == (option or _literal(look, begin, start, stop))
    if found and known.strength == "password" and not option and _of_its_own(text, begin, start, value):
        return 0
    if found:
        look.add(start, stop, known.kind)
    return 0 if not found and len(value) <= _LONG else _behind(text, start, stop)


def _behind(text: bytes, start: int, stop: int) -> int:
    """Where to look on behind a value: at what may be a name at its end, with a value of its own."""
    last = text[max(start, stop - _NAME_BACK) : stop]
    return stop - (len(last) - len(last.rstrip(_NAME)))


def _of_its_own(text: bytes, begin: int, start: int, value: bytes) -> bool:
    """Whether ``pass``, ``pwd`` or ``passwd`` before a colon is another thing: a test's result, a file, a package.

    A metavariable behind ``=`` is one of a manual. A path behind ``PWD=`` at the beginning of a line is the folder of a
    shell, as ``env`` prints it.
    """
    name, sign = text[begin:start].rstrip(), text[start - 1 : start]
    if name == b"PWD=" and value.startswith(b"/") and (begin == 0 or text[begin - 1] in b"\r\n\0"):
        return True
    if name.endswith(b":"):
        plain = name.rstrip(b":\"'` \t")
        if plain.isupper() and plain.lower() in _BAR:
            return plain != b"PWD" or b"/" in value or not drawn(value)
        escape = text[begin - 1 : begin] == b"\\" and text[begin] in b"nrt"
        if text[begin - 1 : begin] in {b"/", b"\\"} and not escape:
            before = text[max(0, begin - 2) : begin - 1]
            return before not in _BLANKS and before not in _ENDS  # else an option of Windows
        return plain.lower().rpartition(b"-")[2] in _BAR and not (mixed(value) and b"/" not in value)
    return sign == b"=" and text[begin] == _DASH and value.isalpha() and value.isupper()


def _literal(look: Look, begin: int, start: int, stop: int) -> bool:  # noqa: C901, PLR0911  # one for each place
    """Whether an unquoted word is a literal where it stands, not a variable of a program."""
    text = look.text
    value = text[start:stop]
    if b"(" in value:
        return False
    before = text[max(0, begin - _BACK) : begin]
    left, right = before[-1:], text[stop : stop + 1]
    name = text[begin:start]
    tight = name.endswith(b"=")
    if tight and (left in _JOINTS or right in _JOINTS or name.startswith(b"-")):
        return not value.startswith((b"this.", b"self."))
    if tight and _PAIR_BEFORE.search(before):
        return True  # one of several: of a connection's settings, of a log line
    own = _own_line(before)
    if tight and name.rstrip(b"=\"'").isupper() and (own or left in _BLANKS):
        return True
    if tight and b"-" in before and _OPTION_WORD.search(before):
        return True
    if name.endswith(b":") and name[:1].isupper() and left in _STRUCT and right in _STRUCT_NEXT:
        return True  # a struct that Go has printed
    if name.endswith(b";"):
        return True  # an entity of HTML
    if right not in _ENDS:
        return False
    if len(value) >= LEAST and _ANNOUNCED.search(before):
        return True
    if not own:
        return False
    if name.rstrip().endswith(b":"):
        short = value.isalpha() and (not value.islower() or len(value) < _LEAST_WORD)
        return not short and not _EXPRESSION.fullmatch(value)
    return not before.endswith((b"  ", b"\t"))


_JOINTS = frozenset({b"?", b"&", b";"})
_BLANKS = frozenset({b" ", b"\t", b"\0", b'"', b"'", b"", b"="})
_ENDS = frozenset({b"", b"\r", b"\n"})
_STRUCT = frozenset({b"{", b" "})
_STRUCT_NEXT = frozenset({b"}", b" "})


def _own_line(before: bytes) -> bool:
    """Whether a line begins with what stands behind this, but for a command and a sign of a list."""
    line = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
    return _BEFORE_LINE.match(before, line) is not None


def _balanced(value: bytes) -> bool:
    """Whether the bracket at the end of a value has its partner in it."""
    partner = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}.get(value[-1:])
    return partner is not None and value.count(partner) >= value.count(value[-1:])


_FORMS: tuple[tuple[re.Pattern[bytes], Callable[[Look, Named, int, int], int]], ...] = (
    (_COMPARE, _quoted),
    (_PAIR, _quoted),
    (_NESTED, _quoted),
)

# Words that another may begin with stand apart; see `word`.
_WORDS = "pass Pass PASS pwd Pwd PWD psk ecret ECRET oken OKEN key Key KEY"
_PARTS = (
    "passw Passw PASSW passphr Passphr PASSPHR passco Passco PASSCO redential REDENTIAL creds CREDS essionid essionId SESSID "
    "SESSIONID ession_id _pw _PW kennwort contrasena sonar.login sonarLogin SONAR_LOGIN _SALT CLI_AUTH"
)
_MARKED = ("_session=", "pw=", "pw:", 'pw"', "pw'", "PW=", "PW:", 'PW"')
_FOREIGN = "密码 密碼 口令 пароль Пароль contraseña Contraseña senha Senha passe wachtwoord Wachtwoord hasło Hasło 비밀번호 비번 암호 패스워드 パスワード"
RULES: tuple[tuple[str, Rule], ...] = (
    *((literal, word) for literal in _WORDS.split()),
    *((literal, named) for literal in _PARTS.split()),
    *((literal, marked) for literal in _MARKED),
)
# These may begin within a name that is no name of a secret.
OTHER_RULES: tuple[tuple[str, Rule], ...] = (
    ("dentified by", identified),
    ("DENTIFIED BY", identified),
    ("dentified with", identified_with),
    ("DENTIFIED WITH", identified_with),
    *((literal, foreign) for literal in _FOREIGN.split()),
)
