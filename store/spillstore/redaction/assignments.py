"""Values behind names: assignments, options, headers, elements, in the notation of any language.

What may stand between a name and its value are several forms, each a rule of its own. Whether an unquoted word is a
literal or a variable of a program depends on where it stands: in a shell's assignment, a URL or a line of its own it is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore.redaction.look import ALNUM, Look, Rule
from spillstore.redaction.names import Named, classify
from spillstore.redaction.values import LEAST, drawn, judged

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = bytes(sorted(ALNUM)) + b"_.-"
_NAME_BACK = 96
_NAME_ON = re.compile(rb"[\w.-]{0,96}+")

_CLOSER = rb"(?:\\{0,8}[\"'`]){0,3}+\]{0,2}+[ \t]{0,64}+"
ASSIGN = re.compile(_CLOSER + rb"(?:=>|:=|\?=|\+=|=(?!=)|:(?![:=/])|->)[ \t]{0,64}+(?:>[-+]?[ \t]+)?+")
_COMPARE = re.compile(_CLOSER + rb"[=!]==?[ \t]{0,64}+(?=\\{0,8}[\"'])")
_TYPE = rb"(?:\[\])?[ \t]{0,8}+:?[ \t]{0,8}+[A-Za-z_][\w.\[\]<>|?*]{0,64}+[ \t]{0,8}+=[ \t]{0,64}+"
_TYPED = re.compile(_TYPE + rb"(?=[fbruFBRU@$]{0,2}[\"'`])")
_VALUE = rb"\\{0,8}[\"']?[Vv]alue\\{0,8}[\"']?[ \t]{0,64}+[:=][ \t]{0,64}+"
_PAIR = re.compile(rb"\\{0,8}[\"'][ \t]{0,64}+,?[ \t]{0,64}+" + _VALUE + rb"(?=\\{0,8}[\"'])")
_LISTED = re.compile(rb"\\{0,8}[\"'][ \t]{0,64}+,[ \t]{0,64}+(?=\\{0,8}[\"'])")
_OPTION = re.compile(rb"[ \t]{1,16}+(?=[^\s=:-])")
_DEFINED = re.compile(rb"[ \t]{1,64}+(?=[\"'])")
_ELEMENT = re.compile(rb"(?:[ \t][^<>\r\n]{0,256}+)?+>(?=[^<\s])")
_CALL = re.compile(rb"\([ \t]{0,16}+(?=[\"'])")

_CLOSERS = frozenset(b"\\\"'`]")
_DASH = 45
_PARENTHESIS = 40
_PREFIXED = re.compile(rb"<(?:\w{1,30}:)?\Z")
_RESOURCE = re.compile(rb"[\w:*]:\Z")  # arn:...:secret:name, AWS::ApiGateway::ApiKey
_MACRO = re.compile(rb"#[ \t]*define[ \t]+\Z")
_SETTER = re.compile(rb"\b(?:setx|setenv)[ \t]+\Z")
_DIRECTIVES = frozenset({b"password", b"requirepass", b"masterauth"})  # of .netrc, of Redis
_CALLED = re.compile(rb"(?i)pass(?:word|wd|phrase)\Z")
_SMALL = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_LARGE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NOTHING_FOLLOWS = frozenset(b"\r\n,;){}")
_QUALIFIER = (
    rb"api|access|secret|private|auth|encryption|signing|master|account|shared|license|client|app|service"
)
_QUALIFIED = re.compile(rb"(?i)\b(?:" + _QUALIFIER + rb")[ \t]\Z")
_LOGIN = re.compile(rb"\blogin[ \t]+\S*[^\s,;][ \t]+\Z")

QUOTE = re.compile(rb"[fbruFBRU@$]{0,2}(\\{0,8})([\"'`])")
_INSIDE = {quote: re.compile(rb"(?:[^%b\\\r\n]|\\[^\r\n])*+" % quote) for quote in (b'"', b"'", b"`")}
_CONTENT = re.compile(rb"[^<\r\n]*+")
_NEXT = rb"(?:[\w.%$\[\]-]{1,64}+[=:])"
_CUT = re.compile(rb"[&;,|](?:\s*+" + _NEXT + rb"|[;&,|)\]}>.]*+$)|</|\\+[\"nrt]|[&|;]{2}")
_TRAILING = b")]}>,;.:"
_COMMAND = rb"export[ \t]+|set[ \t]+|setx[ \t]+|ENV[ \t]+|ARG[ \t]+|declare[ \t]+-x[ \t]+|(?:-e|--env|--build-arg)[ \t=]+"
_BEFORE_LINE = re.compile(rb"(?:^|[\r\n])[ \t]*(?:[-+>#*|][ \t]+)*(?:" + _COMMAND + rb")?[\"']?\Z")
_EXPRESSION = re.compile(rb"[A-Za-z_]\w*[.\[|][\w.\[\]|]*")
_BACK = 64  # bytes before a name that say what line it stands in
_LONG = 256  # bytes of a refused value that are looked at again, for names in it
_LEAST_LISTED = 6
_LEAST_WORD = 5


def named(look: Look, start: int, end: int) -> int:
    """A word that the names of secrets are made of stands here."""
    text = look.text
    before = text[max(0, start - _NAME_BACK) : start]
    begin = start - (len(before) - len(before.rstrip(_NAME)))
    stop = look.end(_NAME_ON, end)
    if stop == look.size or text[stop] in _NOTHING_FOLLOWS:
        return stop
    name = text[begin:stop]
    known = classify(name.strip(b"-."))
    if known is None or (
        text[begin - 1 : begin] == b":" and _RESOURCE.search(text, max(0, begin - 2), begin)
    ):
        return stop
    if known.strength == "weak" and _QUALIFIED.search(text, max(0, begin - 12), begin):
        known = Named("API_KEY", "token")
    done = _signed(look, known, begin, stop)
    if done == stop:
        _spaced(look, known, begin, stop)
    if text[stop] in b" \t:[" and (match := _TYPED.match(text, stop)):
        done = max(done, _quoted(look, known, begin, match.end()))
    return done


def word(look: Look, start: int, end: int) -> int:
    """The same for a word that another may begin with: ``key``, but not ``keyword``."""
    text = look.text
    if end == look.size or text[end] in _NOTHING_FOLLOWS:
        return end
    letters = _SMALL if text[end - 1] in _SMALL else _LARGE
    if text[end] in letters and (text[end] not in b"sS" or text[end + 1 : end + 2].isalpha()):
        return end
    return named(look, start, end)


def _signed(look: Look, known: Named, begin: int, stop: int) -> int:
    """Forms with a sign between name and value. Returns where to look on."""
    text = look.text
    done = stop
    if match := ASSIGN.match(text, stop):
        done = _any(look, known, begin, match.end())
    if text[stop] in _CLOSERS:
        for form, value in _FORMS:
            if match := form.match(text, stop):
                done = max(done, value(look, known, begin, match.end()))
    elif match := _COMPARE.match(text, stop):
        done = max(done, _quoted(look, known, begin, match.end()))
    return done


def _spaced(look: Look, known: Named, begin: int, stop: int) -> None:
    """Forms without a sign between name and value."""
    text = look.text
    following = text[stop]
    if following in b" \t" and (match := _OPTION.match(text, stop)):
        back = max(0, begin - 32)
        if (
            text[begin] == _DASH
            or (known.strength == "password" and _netrc(look, begin, match.end()))
            or _SETTER.search(text, back, begin)
        ):
            _option(look, known, begin, match.end())
        elif text[match.end()] in b"\"'" and (
            _CALLED.search(text, begin, stop) or _MACRO.search(text, back, begin)
        ):
            _quoted(look, known, begin, match.end())
    elif (
        following == _PARENTHESIS and _CALLED.search(text, begin, stop) and (match := _CALL.match(text, stop))
    ):
        _drawn(look, known, begin, match.end())
    if (
        following in b"> \t"
        and b"<" in text[max(0, begin - 32) : begin]
        and _PREFIXED.search(text, max(0, begin - 32), begin)
        and (match := _ELEMENT.match(text, stop))
    ):
        _element(look, known, match.end())


def identified(look: Look, _start: int, end: int) -> int:
    """``IDENTIFIED BY`` of SQL."""
    match = _DEFINED.match(look.text, end)
    return end if match is None else _quoted(look, Named("PASSWORD", "password"), end, match.end())


def _netrc(look: Look, begin: int, value: int) -> bool:
    """Whether this is ``password`` of a ``.netrc``, in one line with its login or in one of its own."""
    text = look.text
    before = text[max(0, begin - 256) : begin]
    if b"login" in before and _LOGIN.search(before):
        return True
    if text[begin:value].strip() not in _DIRECTIVES or not _BEFORE_LINE.search(before[-_BACK:]):
        return False
    line = look.line(value)
    if look.open(value, line):
        return False
    content = text[value:line].strip()
    return (
        b" " not in content and not content.isalpha() and content.isascii() and content[-1] not in _TRAILING
    )


def _element(look: Look, known: Named, start: int) -> None:
    """The content of an XML element."""
    end = look.end(_CONTENT, start)
    if look.open(start, min(look.size, end + 1)):
        return
    value = look.text[start:end]
    if look.text[end : end + 2] == b"</" and judged(value, known.strength, quoted=True, literal=True):
        look.add(start, end, known.kind)


def _any(look: Look, known: Named, begin: int, start: int) -> int:
    """A value in quotes or without. Returns where to look on."""
    if QUOTE.match(look.text, start):
        return _quoted(look, known, begin, start)
    return _bare(look, known, begin, start)


def _option(look: Look, known: Named, begin: int, start: int) -> None:
    """The value of an option behind a blank: no word of letters, since help texts are full of those."""
    if QUOTE.match(look.text, start):
        _quoted(look, known, begin, start)
    elif not look.text[start : look.word(start)].isalpha() or look.word(start) == look.size:
        _bare(look, known, begin, start, option=True)


def _drawn(look: Look, known: Named, begin: int, start: int) -> int:
    """A value in quotes that looks drawn: in a list or a call anything else may stand there."""
    return _quoted(look, known, begin, start, strict=True)


def _quoted(look: Look, known: Named, _begin: int, start: int, *, strict: bool = False) -> int:
    text = look.text
    match = QUOTE.match(text, start)
    if match is None:
        return start
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
    if look.open(start, min(look.size, end + 1)):
        return end
    value = text[inside:end]
    if text[end : end + 1] in {b"", b"\r", b"\n"}:  # no quote at its end: not all of the line is the value
        value = value.split(b" ", 1)[0].rstrip(b"\\,;)}]")
    if strict and not (drawn(value) and len(value) >= _LEAST_LISTED):
        return inside
    if judged(value, known.strength, quoted=True, literal=False):
        look.add(inside, inside + len(value), known.kind)
        return inside + len(value)
    return inside


def _bare(look: Look, known: Named, begin: int, start: int, *, option: bool = False) -> int:
    text = look.text
    end = look.word(start)
    if look.open(start, end):
        return end
    cut = _CUT.search(text, start, end)
    stop = cut.start() if cut else end
    while stop > start and text[stop - 1] in _TRAILING and not _balanced(text[start:stop]):
        stop -= 1
    value = text[start:stop]
    if not value:
        return start
    if known.strength != "password" and len(value) < LEAST:
        return start
    literal = option or _literal(look, begin, start, stop)
    if judged(value, known.strength, quoted=False, literal=literal):
        look.add(start, stop, known.kind)
        return stop
    return start if len(value) <= _LONG else stop


def _literal(look: Look, begin: int, start: int, stop: int) -> bool:
    """Whether an unquoted word is a literal where it stands, not a variable of a program."""
    text = look.text
    value = text[start:stop]
    if b"(" in value:
        return False
    before = text[max(0, begin - _BACK) : begin]
    left, right = before[-1:], text[stop : stop + 1]
    name = text[begin:start]
    tight = name.endswith(b"=")
    if tight and (left in _JOINTS or right in _JOINTS or name.startswith(b"--")):
        return not value.startswith((b"this.", b"self."))
    own = _BEFORE_LINE.search(before) is not None
    if tight and name.rstrip(b"=\"'").isupper() and (own or left in _BLANKS):
        return True
    if not own or right not in _ENDS:
        return False
    if name.rstrip().endswith(b":"):
        short = value.isalpha() and (not value.islower() or len(value) < _LEAST_WORD)
        return not short and not _EXPRESSION.fullmatch(value)
    return not before.endswith((b"  ", b"\t"))


_JOINTS = frozenset({b"?", b"&", b";"})
_BLANKS = frozenset({b" ", b"\t", b"\0", b'"', b"'", b""})
_ENDS = frozenset({b"", b"\r", b"\n"})


def _balanced(value: bytes) -> bool:
    """Whether the bracket at the end of a value has its partner in it."""
    partner = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}.get(value[-1:])
    return partner is not None and value.count(partner) >= value.count(value[-1:])


_FORMS: tuple[tuple[re.Pattern[bytes], Callable[[Look, Named, int, int], int]], ...] = (
    (_COMPARE, _quoted),
    (_PAIR, _quoted),
    (_LISTED, _drawn),
)

# Words that another may begin with stand apart; see `word`.
_WORDS = "pass Pass PASS pwd Pwd PWD ecret ECRET oken OKEN key Key KEY"
_PARTS = "passw Passw PASSW passphr Passphr PASSPHR passco Passco PASSCO redential REDENTIAL creds CREDS essionid essionId SESSID ession_id _pw _PW kennwort"
RULES: tuple[tuple[str, Rule], ...] = (
    *((literal, word) for literal in _WORDS.split()),
    *((literal, named) for literal in _PARTS.split()),
    ("dentified by", identified),
    ("DENTIFIED BY", identified),
)
