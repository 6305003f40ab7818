"""Values behind names: assignments, options, headers, elements, in the notation of any language.

What may stand between a name and its value is a table (``tables/forms.py``); here its rows are tried behind each name of a
secret, and what any of them finds goes. Where the value is in another line than the name, ``nextlines.py`` looks for it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction import nextlines
from spillstore.redaction.look import BACK, LINE_ENDS, LONGEST_NAME, NAME_LETTERS, compiled, name_start
from spillstore.redaction.names import HINT, Named, classify
from spillstore.redaction.readers import READERS, Reader
from spillstore.redaction.tables import classes, forms, names, phrases
from spillstore.redaction.tables.names import KIND_OF
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look, Rule
    from spillstore.redaction.spans import Span

_NAME_ON = re.compile(f"{classes.NAME}{{0,{LONGEST_NAME}}}+".encode())
_BLANKS = frozenset(b" \t")
_BLANK = frozenset({b" ", b"\t"})
_SMALL = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_LARGE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NOTHING_FOLLOWS = frozenset(b"){}")
_FOLLOWING = frozenset(forms.BEHIND.encode())
_AFTER_BLANKS = re.compile(forms.AFTER_BLANKS.encode())
_QUALIFIED = re.compile(rb"(?i)\b(?:%b)[ \t]\Z" % forms.QUALIFIERS.replace(" ", "|").encode())
_PUBLIC = re.compile(rb"(?i)\b(?:public|host|peer|page|pagination|continuation|csrf|xsrf)[ \t]\Z")
_TITLE = re.compile(rb"(?<![^\s:])([A-Z][A-Za-z]{1,23} Key)[:=]\Z")  # a label of two words is a name
_LONGEST_TITLE = 25
_PASSWORD = Named("PASSWORD", "password")
_RESOURCE = re.compile(rb"[\w:*]:\Z")  # arn:...:secret:name, AWS::ApiGateway::ApiKey
_ENVIRONMENT = re.compile(rb"(?i)(?:\$\{?env|<\w{1,30}|(?:\A|\s)[-/]p):\Z")
_SCOPED = re.compile(rb"(?::|\blet[ \t]{1,4}[bgstw]):\Z")  # of a class; of Vim
_FOUND = re.compile(rb"(?:\A|[\r\n])%b\Z" % forms.FOUND.encode())
_CONSTANT = re.compile(rb"(?![\"'`])(?:%b|\([ \t]{0,16})[\"']" % forms.ASSIGN.encode())
_SECTION = re.compile(rb"(?:\A|[\s\"'{,])(?:[A-Za-z]\w+:){1,4}\Z")
_OF_PUPPET = re.compile(rb"(?:\A|[\r\n])[ \t]{0,8}(?:[a-z]\w+::){1,4}\Z")  # keys of its data
_PASS = 4  # letters of a name that is one of a compiler's, too
_OF_SPRING = re.compile(rb"[ \t][pc]:\Z")  # attributes of beans
_OF_A_SECTION = re.compile(
    rb"(?>[ \t]*+)=(?!=)|:[ \t]{1,8}+(?=[^\s:])|[\"'][ \t]{0,8}+:[ \t]{0,8}+[\"']|[ \t]{2,64}+(?=[\w\"'])"
)
_QUOTES = frozenset({b'"', b"'"})
_OF_TEXT = re.compile(
    rb"(?:\A|[\x00\t\n\r\x1b -~]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})\Z"
)
_CONTROL = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROL_BEFORE = re.compile(rb"%b[^\r\n]*+\Z" % _CONTROL.pattern)
_NEAR = 8  # bytes
_SHORT = 3  # letters of a name, as pw, that random bytes hold often
_CHOICE = re.compile(rb"\?[ \t]*[\"']\Z")  # cond ? "password" : "text"


class _Form(NamedTuple):
    """A row of the table of forms, compiled."""

    between: re.Pattern[bytes]
    before: re.Pattern[bytes] | None
    back: int
    name: re.Pattern[bytes] | None
    promises: Named | None
    read: Reader


def _form(row: forms.Form | phrases.Phrase) -> _Form:
    return _Form(
        compiled(f"(?={row.follows}){row.between}" if isinstance(row, phrases.Phrase) else row.between),
        compiled(row.before, ends=True) if row.before else None,
        row.back,
        compiled(row.name, ends=True) if row.name else None,
        Named(KIND_OF[row.promises], row.promises) if row.promises else None,
        READERS[row.reads],
    )


@functools.cache
def _forms_behind(byte: int, strength: str, *, prose: bool) -> tuple[_Form, ...]:
    """The rows for a byte behind a name and what the name promises; in prose those for any word behind a blank."""
    return tuple(
        _form(row)
        for row in forms.FORMS
        if byte in row.behind.encode() and strength in row.of.split() and (row.any_word or not prose)
    )


def named(look: Look, start: int, end: int) -> int:
    """A word that the names of secrets are made of stands here."""
    text = look.text
    stop = look.end(_NAME_ON, end)
    if stop == look.size or text[stop] not in _FOLLOWING:
        if text[stop : stop + 1] in LINE_ENDS:
            _labelled(look, start, stop)
        # A letter of another alphabet may end another word, and of a long name not all was looked at.
        return stop if text[stop : stop + 1].isascii() and text[stop : stop + 1] not in NAME_LETTERS else end
    begin = name_start(text, start)
    left = text[begin - 1 : begin]
    # Behind a blank and a word there are few forms; most such names stand in prose.
    prose = (
        text[stop] in _BLANKS
        and left not in {b"<", b":"}
        and text[begin] != ord("-")
        and _AFTER_BLANKS.match(text, stop) is None
    )
    known = promise(look, begin, stop)
    if known is None or known.strength == HINT:
        return stop
    found = len(look.spans)
    done = _read(look, _forms_behind(text[stop], known.strength, prose=prose), known, begin, stop)
    if stop - begin <= _SHORT:
        look.spans[found:] = [span for span in look.spans[found:] if _text(text, span)]
    if len(look.spans) == found and not prose:
        nextlines.begin(look, known, begin, stop)
    return max(stop, done)


def _text(text: bytes, span: Span) -> bool:
    """Whether at most one of four bytes belongs to no character of UTF-8, as in a word of Latin-1, and no control character is behind."""
    value = text[span.start : span.end]
    strange = len(value) - len(value.decode(errors="ignore").encode())
    return 4 * strange <= len(value) and not _CONTROL.match(text, span.end)


def _behind_text(text: bytes, begin: int) -> bool:
    """Whether what stands in the line before a short name may be text: no control character is near, and no part of a character."""
    before = text[max(0, begin - _NEAR) : begin]
    return _OF_TEXT.search(before) is not None and _CONTROL_BEFORE.search(before) is None


def promise(look: Look, begin: int, stop: int) -> Named | None:
    """What a name promises by its words and by what stands before it, as in ``public key``, ``checksum/secret``, ``arn:x:secret``."""
    text = look.text
    left = text[begin - 1 : begin]
    known = look.classified(begin, stop)
    if (
        known is None
        or (stop - begin <= _SHORT and not _behind_text(text, begin))
        or (left == b":" and _of_a_resource(text, begin, stop))
        or (left in _QUOTES and _CHOICE.search(text, max(0, begin - 4), begin))
        or (left == b"/" and text.endswith(b"checksum/", 0, begin))  # of Helm: of what the secret holds
    ):
        return None
    if left in _BLANK and known.strength not in {"password", "secret"}:
        if _PUBLIC.search(text, max(0, begin - 16), begin):
            return None
        if known.strength in {"weak", "long"} and _QUALIFIED.search(text, max(0, begin - 16), begin):
            return Named("API_KEY", "token")
        title = _TITLE.search(text, max(0, begin - _LONGEST_TITLE), stop + 1)
        if title and known.strength == "weak":
            return classify(title[1].replace(b" ", b"_"))
    return known


def _read(look: Look, rows: tuple[_Form, ...], known: Named, begin: int, stop: int) -> int:
    """Try the forms behind a name. Returns where to look on."""
    text = look.text
    name, before = text[begin:stop], text[max(0, begin - BACK) : begin]
    done = 0
    for form in rows:
        if (
            (form.name is None or form.name.search(name))
            and (match := form.between.match(text, stop))
            and (form.before is None or form.before.search(before, max(0, len(before) - form.back)))
        ):
            done = max(done, form.read(look, form.promises or known, begin, match.end()))
    return done


def _of_a_resource(text: bytes, begin: int, stop: int) -> bool:
    """Whether a name behind a colon is a part of a resource's, not behind an environment, a module, a section or a searched file."""
    if (
        _RESOURCE.search(text, max(0, begin - 2), begin) is None
        or _ENVIRONMENT.search(text, max(0, begin - 32), begin)
        or (_SCOPED.search(text, max(0, begin - 16), begin) and _CONSTANT.match(text, stop))
        or (_OF_A_SECTION.match(text, stop) and _SECTION.search(text, max(0, begin - BACK), begin))
        or (
            text.startswith(b": ", stop)
            and stop - begin > _PASS
            and _OF_PUPPET.search(text, max(0, begin - BACK), begin)
        )
        or (text.startswith(b'="', stop) and _OF_SPRING.search(text, max(0, begin - 3), begin))
    ):
        return False
    return _FOUND.search(text, max(0, begin - BACK), begin) is None


def _labelled(look: Look, start: int, stop: int) -> None:
    """``name: DB_PASSWORD``, ``$ cat db_password``, whose value stands in the next line; the last name above a table."""
    begin = name_start(look.text, start)
    known = look.classified(begin, stop)
    if known is not None and known.strength != HINT:
        nextlines.begin(look, known, begin, stop)
        if stop < look.size:
            _read(look, _forms_behind(look.text[stop], known.strength, prose=False), known, begin, stop)


def word(look: Look, start: int, end: int) -> int:
    """The same for a word that another may begin with: ``key``, but not ``keyword``, nor before ``no_name_before``."""
    if end == look.size:
        return end
    plural = b"s" if look.text[end - 1] in _SMALL else b"S"
    if look.text[end : end + 1] == plural and look.text[end + 1 : end + 2].isalpha():
        return end
    return named(look, start, end)


def no_name_before(literal: str) -> frozenset[int]:
    """Bytes behind such a word with which it is no name: signs that end it, letters that make it another word."""
    letters = _SMALL if literal[-1].islower() else _LARGE
    return _NOTHING_FOLLOWS | letters - {ord("s"), ord("S")}


def marked(look: Look, start: int, end: int) -> int:
    """The same for a word of two letters, found with the sign behind it."""
    return named(look, start, end - 1)


def phrase(look: Look, start: int, end: int) -> int:
    """A secret behind words that are no part of a name: ``IDENTIFIED BY`` of SQL, names in other languages."""
    return max(end, _read(look, _phrases(look.text[start:end].decode()), _PASSWORD, start, end))


def signed_phrase(look: Look, start: int, end: int) -> int:
    """The same for words that a sign follows."""
    return phrase(look, start, end)


RULES: tuple[tuple[str, Rule], ...] = (
    *((literal, word) for literal in names.WORDS.split()),
    *((literal, named) for literal in names.PARTS.split()),
    *((literal, marked) for literal in names.MARKED),
)
ROWS_OF_PHRASES: dict[str, list[phrases.Phrase]] = {}
for _row in phrases.PHRASES:
    for _phrase in _row.literals.split("|"):
        ROWS_OF_PHRASES.setdefault(_phrase, []).append(_row)
# These may begin within a name that is no name of a secret.
PHRASE_RULES: tuple[tuple[str, Rule], ...] = tuple(
    (literal, signed_phrase if all(row.between.startswith(forms.ASSIGN) for row in rows) else phrase)
    for literal, rows in ROWS_OF_PHRASES.items()
)


@functools.cache
def _phrases(literal: str) -> tuple[_Form, ...]:
    """The rows for words that are no part of a name."""
    return tuple(map(_form, ROWS_OF_PHRASES[literal]))
