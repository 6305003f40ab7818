"""A score for lines of output: high for errors, failures, first causes and summaries.

No tool is known here. A line is scored by words and forms that tools of all kinds share: a level in front of a
message, an exception's name with a colon behind it, a place in a source file, a count of failures that is not zero.
Words that only look so are removed first: ``0 errors``, a test called ``test_error_handling`` that passed, a file called
``ErrorHandler.java``. In two steps, for speed: one linear pattern over whole blocks finds the lines that hold any such
word; only these are cleaned and scored, and of lines that differ in their digits alone only the first.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from spillstore.line_filter import After, Before, Word, line_filter
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# For an engine without look-around: what stands before and behind a word that is not part of a path or a name. Before
# it may also stand the end of a colour.
_START = r"(?:^|[^\w./\\-]|\x1b\[[0-9;]*m)"
_END = r"(?:$|[^\w/\\.-]|\.(?:$|\W))"

# What a line must hold to be scored at all: bytes, any case. A word counts where it begins one, not inside a path or a
# name; an exception's name may end in it.
_WORDS = tuple(
    word.encode()
    for word in r"""
    errors?|err!|failure/error|fail\w*|fatal|exceptions?|panic\w*|traceback|abort\w*|cannot|can't|could not|couldn't|unable|denied|refused|undefined|
    undeclared|unresolved|unknown|unexpected|mismatch\w*|timed ?out|timeout|killed|expected|assert\w*|exit(?:ed)?|non-zero|
    violat\w*|invalid|incompatible|conflict\w*|missing|corrupt\w*|exceed\w*|segmentation|oom\w*|severe|critical|emerg\w*|alert|
    unhandled|uncaught|caused by|unsupported|unsafe|rejected|unreachable|interrupted|terminated|overflow|leak\w*|deadlock|
    illegal|crash\w*|sig[a-z]{3,4}|signal|not ok|gave up|giving up|erreur|fehler|errore|terminate called|warn(?:ing)?|unsuccessful|
    what went wrong|unavailable|bad gateway|
    fatal:|does not exist|doesn't exist|not permitted|data race|not in scope|no rule to make|and not used|not defined|not recognized|
    read-only file|null pointer|bug:|oops:|fehlgeschlagen|schwerwiegend|nicht möglich|introuvable|no se pudo|não foi possível|
    nie można|błąd|nie powiodł\w*|konflikt\w*|conflit\w*|conflicto\w*|conflito\w*
    """.replace("\n    ", "")
    .strip()
    .split("|")
)
# And forms, each with the words that are in it.
_FORMS: dict[bytes, tuple[Word, ...]] = {
    rb"[a-z](?:error|exception|fault|panic)(?:[:(\s]|$)": tuple(
        Word(word, "letter", "called") for word in (b"error", b"exception", b"fault", b"panic")
    ),
    rb"^E  |^e: |^\*\* \(|sanitizer: ": (
        *(Word(word, "line start") for word in (b"e  ", b"e: ", b"** (")),
        Word(b"sanitizer: "),
    ),
    rb"[)\]]: [a-z]{2,}\d{3,}: ": tuple(Word(word, after="code") for word in (b"): ", b"]: ")),
    rb"http/\d(?:\.\d)?[\"']? 4\d\d": (Word(b"http/", after="status"),),
    rb"http/\d(?:\.\d)?[\"']? 5\d\d": (Word(b"http/", after="status"),),
    rb"[a-z](?:error|exception)\)": (Word(b"error)", "letter"), Word(b"exception)", "letter")),
    rb"\.\.\.\s?failed": (Word(b"...failed"), Word(b"... failed")),
    rb"error\[": (Word(b"error["),),
    **{
        form.encode(): (Word(form.encode()),)
        for form in (
            *("not found", "no such", "core dumped", "out of memory", "no space", "not allowed", "<<< "),
            *("실패", "无法", "無法", "できません", "致命"),
            *("冲突", "衝突", "충돌", "конфликт"),
            *("échec", "ошибк", "错误", "錯誤", "失败", "失敗", "エラー", "오류", "✗", "✘", "✕", "❌"),
        )
    },
}
_HINTS = (*_WORDS, *_FORMS)
_OPEN = re.compile(r"(?:\\w\*|\[a-z\]\{\d,\d\})$")
_OPTIONAL = re.compile(r"(?:\(\?:(?P<group>[^()]*)\)|(?P<one>.))\?")
_WHOLE: tuple[Before, After] = "apart", "ended"  # of a hint that is there if its word is
_COMMON = 256  # hits of a word after which it is too common to be a hint

_HARMLESS = (
    r"\b(?:0|no|zero|without(?:\s+any)?)\s+(?:\w+\s+){0,2}?(?:errors?|failures?|failed|problems?|exceptions?|conflicts?)\b|"
    r"\b(?:errors?|failures?|failed|aborted|skipped|warnings?|exceptions?)\s*[:=]\s*0\b|"
    r"\b(?:no|not)\s+(?:longer\s+)?(?:an?\s+)?error\b|"
    r"\b(?:ignor|suppress|handl|recover|fix|resolv|retr)\w*\s+(?:\w+\s+){0,2}?(?:errors?|failures?|exceptions?)\b|"
    r"\bon[_ -]?(?:error|failure)s?\b|\b(?:looking|checking|searching)\s+for\b.{0,80}\bnot\s+found\b|^\s*#\s*error\b|"
    r"\b(?:error|failure|exception)s?(?:[_ -](?:handl|report|log|prone|mess|recover|rate|page)|[_-]code)\w*|"
    r"\b(?:on|at|after|upon)\s+(?:the\s+)?(?:first|any|each|every)\s+(?:error|failure|exception)s?\b|"
    r"--?[\w-]*(?:error|fail|exit|abort|assert)[\w-]*|"
    r"\bif\s+(?:\w+\s+){0,3}?fails?\b|"
    r"\b(?:error|failure|timeout|exception)s?[ _-]+(?:rate|count|budget|threshold|limit)s?\b|"
    r"\bfailed\s+\w+\s*[:=]\s*0(?:$|[^.\d])|\b(?:0|no|zero)\s+(?:\w+\s+)?failing\b|"
    r"\bexpected\s+(?:errors?|failures?|exceptions?|to\s+fail)\b|\bxfail\w*|\ballow\w*\s+to\s+fail\b|"
    r"\b(?:new|throws?|extends)\s+[\w.$]+(?:error|exception)s?\b|"
    r"\b(?:keine?|ohne|aucune?|sans|sin|ning[uú]n|sem|nenhuma?|bez)\s+(?:fehler|erreurs?|error(?:es)?|erros?|konflikte?|"
    r"conflits?|conflictos?|conflitos?|błędów|konfliktów)\b"
)

_HOW_MANY = (
    r"(?:^|[^\w#])[1-9]\d*\s+(?:\w+\s+){0,2}?(?:errors?|failures?|failed|failing|broken)\b|"
    r"\b(?:errors?|failures?|failed)\s*[:=]\s*[1-9]"
)

# The same words with a number, as they stand in line after line: of none, and of some.
_NONE = r"\b0\s+(?:\w+\s+){0,2}?(?:errors?|failures?|failed|failing|broken)\b|\b(?:errors?|failures?|failed|(?:code|status))\s*[:= ]\s*0\b"
_SOME = (
    r"(?:^|[^\w#])[1-9]\d*\s+(?:\w+\s+){0,2}?(?:errors?|failures?|failed|failing|broken)(?:[^\w:=]|$)|"
    r"\b(?:errors?|failures?|failed)\s*[:=]\s*[1-9]|\bexit(?:ed|ing)?\s(?:with\s)?(?:code|status):?\s?[1-9]"
)

_RULES: tuple[tuple[int, bool, tuple[str, ...]], ...] = (
    # A place in a source file, and an error there.
    (
        12,
        False,
        (
            r"(?::\d+(?::\d+)?|[\[(]\d+(?:,\s?\d+)?[\])]|\bline \d+)\]?\s*[:,-]?\s*(?:fatal )?error\b",
            r"\w[\[(]\d+(?:,\s?\d+)?[\])]:\s+[A-Z]{2,}\d{3,}:\s",
            r"\w:\d+:\d+:\s+(?:undefined|undeclared|cannot|expected|unexpected|unknown|invalid|missing|unresolved)\b",
        ),
    ),
    # The head or the heart of a crash.
    (
        11,
        True,
        (
            r"Traceback \(most recent|\bpanicked at\b|^\s*panic: |^E\s{2,}\S|\bCaused by:|^--- FAIL|^not ok\b",
            r"<<< (?:FAILURE|ERROR)!|^\s*(?:FAIL|FAILED|ERROR)[: ]\s*\S+|\b[Ss]egmentation fault|\bcore dumped\b",
            rf"\bundefined reference|{_START}(?:BUILD|Build) (?:FAIL|fail|UNSUCC|unsucc)\w*|[Nn]o space left|[Oo]ut of memory|\bOOM",
            r"\bUnhandled\b|\b[Uu]ncaught\b|\bunhandled\s\w*\s?(?:exception|rejection|error)|\bFailure/Error:",
            r"^\* What went wrong:|\bDATA RACE\b|(?:^|\s)(?:BUG|Oops): |\*\*\* (?:FAILED|FAILURE|ERROR|Error)\b",
            r"^\s*(?:AssertionError|assertion failed)|(?:\bFAILED|\.{3}\s?[Ff]ailed)\s*$|^\*\* \(\w|\b\w+Sanitizer: \w|^terminate called",
        ),
    ),
    # A level in front of a message.
    (
        10,
        True,
        (
            (
                r"(?:^|[\s\[(:|>\"'=])(?:FATAL|SEVERE|CRITICAL|EMERG(?:ENCY)?|ALERT|PANIC|ERROR|ERR!?|FAILURE|Error|error|"
                r"fatal|Fatal|critical)(?:\[[A-Z]*\d+\])?(?:\s+[A-Z]{1,6}\d{2,}|\s*[:\])|\"']|!\s|\s{1,4}[\w\"'`(\[<{])"
            ),
            r"^[eE]: \S|^! [A-Z][a-z]",
        ),
    ),
    # An exception's name, at the end or with its message behind it.
    (
        9,
        True,
        (
            r"(?:^|[^\w/\\-])[A-Za-z_$][\w.$]*(?:Error|Exception|Fault|Panic)(?::|\)?\s*$|\s*\(|\s+[-\x{2013}]\s)",
        ),
    ),
    (9, False, (_HOW_MANY, r"\bdeadlock:|\bdeadlock detected\b")),
    (
        7,
        False,
        (
            (
                rf"{_START}(?:fail(?:ed|ure|s)?|abort(?:ed|ing)?|fatal|killed|panic|crash(?:ed)?|no such \w+|"
                r"(?:permission|access) denied|(?:connection )?refused|(?:could|can) ?not|can't|couldn't|unable to|timed ?out|"
                r"exit(?:ed|ing)?\s(?:with\s)?(?:code|status)?:?\s?[1-9]\d*|returned (?:a )?non-zero|error \d+|undeclared|"
                r"unresolved|conflict|corrupt(?:ed)?|incompatible|mismatch(?:ed)?|violat(?:ed|ion)s?|deadlock|"
                r"sig(?:segv|abrt|kill|bus|ill|term)|signal \d+|not allowed|illegal|unsafe|rejected|overflow|gave up|giving up|"
                r"(?:service|temporarily|currently|is) unavailable|bad gateway)"
                rf"{_END}"
            ),
            r"\btime-?out\b.{0,40}\bexceeded\b|^\s*(?:-{1,3}|\+)\s+expected\b",
            r"\bExited \([1-9]\d*\)",
            r"(?:: |\b(?:command|module|symbol|file|package|class|type|method)\s(?:\S+\s)?)not found\b",
            r"\bexpected\b.{0,80}\b(?:but|got|found|actual|received|was)\b|\bassert(?:ion)?\b.{0,40}(?:==|!=|fail)",
            (
                r"\b(?:does not|doesn't) exist\b|(?-i:\b[Nn]ot (?:permitted|in scope|defined|recognized)\b)|\bdata race\b|\bno rule to make\b|"
                r"\band not used\b|\bread-only file system\b|\bnull pointer\b|backoff\b"
            ),
            r"erreur|fehler|errore|échec|ошибк|错误|錯誤|失败|失敗|エラー|오류|[✗✘✕❌]",
            r"fehlgeschlagen|schwerwiegend|nicht möglich|introuvable|no se pudo|não foi possível|nie można|błąd|실패|无法|無法|できません|致命",
            r"\b(?:konflikt|conflit|conflicto|conflito)(?:e|en|y|s)?\b|nie powiodł|冲突|衝突|충돌|конфликт",
        ),
    ),
    (
        3,
        False,
        (
            (
                rf"{_START}(?:errors?|exceptions?|undefined|unknown|unexpected|invalid|missing|unsupported|time-?out|not found|"
                rf"exceed(?:ed|s)?|denied|interrupted|terminated|unreachable|leak(?:ed)?|cause){_END}"
            ),
            r"(?:^|[\s\[(|:=\"'])warn(?:ing)?[:\])|\"']|\bHTTP/\d(?:\.\d)?[\"']?\s+4\d\d\b",
        ),
    ),
)

_FRAME = re.compile(r'^\s*(?:at\s+[\w.$<>/]+[(\s]|File\s"|\.\.\.\s\d+\smore|\d+:\s+0x|#\d+\s+(?:0x|\w+\s\())')
_PASSED = r"(?i)\bPASS(?:ED)?\b|(?:^|\s)ok\s*(?:$|[\d(\[])|\.\.\.\s*ok\b|[✓✔]|\bsuccess(?:ful(?:ly)?)?\b|\bskipped\b"
_QUIET = r"(?:^|[\s\[(|:=\"'])(?:INFO|DEBUG|TRACE|NOTICE|info|debug|trace|verbose)(?:[\s\])|:,\"']|$)"
_WARNING = r"(?:^|[\s\[(|:=\"'])(?:WARN(?:ING)?|warn(?:ing)?|Warning|deprecated)(?:[\s\])|:,\"']|$)"
_TRACED = r"^\++ \S"  # a command that a shell is about to run
_RETRY = r"(?i)\bretr(?:y|ying|ied)\b|\battempt\s\d"
_FETCH = (
    r"(?i)\b(?:download(?:ing|ed)?|fetch(?:ing|ed)?|get:\d|copying|compiling|installing|unpacking|adding)\b"
)
# Where some passed and some did not, or the word has its opposite before it.
_NOT_PASSED = rf"(?i)\bnot ok\b|\bnot\s(?:\w+\s){{0,3}}success|{_HOW_MANY}"
FAILED_ANSWER = r"\bHTTP/\d(?:\.\d)?[\"']?\s+5\d\d\b"
_FACT = f"(?i){FAILED_ANSWER}"  # what is so whatever level stands before it
_WEAKENED = ((0.55, _QUIET), (0.6, _WARNING), (0.6, _RETRY), (0.5, _FETCH), (0.3, _TRACED))

STRONG = 7
SURE = 9  # the score of what cannot be a word in passing


class Hints:
    """Finds the lines that are worth scoring. ``narrow`` gives up words that are found everywhere."""

    def __init__(self) -> None:
        self._hits = dict.fromkeys(_HINTS, 0)
        self._kept = set(_HINTS)  # those that are not given up
        self._names: dict[bytes, bytes] = {}  # what was found, and the hint that it is
        self._every = _search(_WORDS, tuple(_FORMS))
        self._search: _Search | None = self._every

    def lines(self, text: bytes, end: bytes) -> Iterable[tuple[int, int, int, int, Word | None]]:
        """Lines that may hold a hint, all that do among them.

        Of each where it and the next one begin, how many are before it, where the hint may be, and the word that stands there, if that
        is known.

        Args:
            text: whole lines; the last one may lack its end.
            end: the byte that ends a line.
        """
        return () if self._search is None else self._search.lines(text, end)

    def found(self, text: bytes, start: int, end: int, place: int, word: Word | None) -> bytes | None:
        """The hint that a line holds, which is counted; None if it holds none, or only what was given up since ``lines`` gave it out."""
        if self._search is None:
            return None
        hint: bytes | None = None
        if word is not None and (word.before, word.after) == _WHOLE:
            hint = self._named(word.text)
        if hint not in self._kept:
            hint = self._searched(self._search, text, start, end, place)
        if hint is not None:
            self.count(hint)
        return hint

    def _searched(self, search: _Search, text: bytes, start: int, end: int, place: int) -> bytes | None:
        # The pattern of all hints knows most texts already: one that is narrowed would have to learn them again.
        found = self._every.pattern.search(text, max(0, start - 1, place - 1), end)
        if found is not None and (hint := self._named(found.group().lower())) in self._kept:
            return hint
        found = search.pattern.search(text, max(0, start - 1), end)
        return None if found is None else self._named(found.group().lower())

    def _named(self, text: bytes) -> bytes:
        """The hint that was found as ``text``."""
        hint = self._names.get(text)
        if hint is None:
            names = _names().search(text)
            hint = self._names[text] = _HINTS[(names.lastindex or 1) - 1] if names else next(iter(_FORMS))
        return hint

    def count(self, hint: bytes) -> None:
        """Count a hint that was found before in a line like this one."""
        self._hits[hint] += 1

    def narrow(self) -> set[bytes]:
        """Keep only the hints that were rare so far; returns those that are given up now."""
        common = {hint for hint in self._kept if self._hits[hint] > _COMMON}
        if not common:
            return set()
        self._kept -= common
        words, forms = (tuple(hint for hint in of if hint in self._kept) for of in (_WORDS, _FORMS))
        self._search = _search(words, forms) if self._kept else None
        return common


class _Search:
    """Finds lines that may hold some of the hints."""

    def __init__(self, words: tuple[bytes, ...], forms: tuple[bytes, ...]) -> None:
        self._pattern = words, forms
        held = [word for form in forms for word in _FORMS[form]]
        held += [each for word in words for each in _held(word.decode())]
        self._filter = line_filter(held)

    @functools.cached_property
    def pattern(self) -> Any:
        """Finds the hints themselves: compiled when a line may hold one."""
        return _hint_pattern(*self._pattern)

    def lines(self, text: bytes, end: bytes) -> Iterable[tuple[int, int, int, int, Word | None]]:
        """As in ``Hints``."""
        if self._filter is not None:
            yield from self._filter.lines(text, 0, end)
            return
        after = counted = number = 0
        while after < len(text) and (found := self.pattern.search(text, max(0, after - 1))) is not None:
            hit = found.start()
            hit += text.startswith(end, hit)  # the character before a word may be a line end
            start = text.rfind(end, 0, hit) + 1
            after = (text.find(end, hit) + 1) or len(text)
            number += text.count(end, counted, start)
            counted = start
            yield start, after, number, hit, None


_search = functools.cache(_Search)


def _held(word: str) -> Iterator[Word]:
    """The beginnings that ``word``, a pattern, stands for."""
    plain = _OPEN.sub("", word)
    if (optional := _OPTIONAL.search(plain)) is not None:
        for each in ("", optional["group"] or optional["one"]):
            yield from _held(word[: optional.start()] + each + word[optional.end() :])
    else:
        yield Word(plain.encode(), *(_WHOLE if plain == word else ("apart", "anything")))


@functools.cache
def _hint_pattern(words: tuple[bytes, ...], forms: tuple[bytes, ...]) -> Any:
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415  # ten milliseconds that a pass-through does not need

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.log_errors = False
    alternatives = list(forms)
    if words:
        alternatives.append(_START.encode() + b"(?:" + b"|".join(words) + rb")(?:[^\w/\\-]|$)")
    return re2.compile(b"(?m)" + b"|".join(alternatives), options)


@functools.cache
def _names() -> re.Pattern[bytes]:
    """Tells by the number of the group which hint was found."""
    whole = [rb"(%b)(?!\w)" % word for word in _WORDS]
    return re.compile(b"|".join([*whole, *(b"(%b)" % form for form in _FORMS)]), re.IGNORECASE | re.MULTILINE)


def _options(*, case: bool = True) -> Any:
    import re2  # noqa: PLC0415  # likewise

    options = re2.Options()
    options.case_sensitive = case
    options.log_errors = False
    return options


@functools.cache
def counts_none() -> Any:
    """Finds a line that counts failures, none of them: one that differs in its number alone may be the verdict."""
    return _of_bytes(_NONE)


@functools.cache
def counts_some() -> Any:
    """Finds places where failures are counted, and there are some."""
    return _of_bytes(_SOME)


def _of_bytes(pattern: str) -> Any:
    import re2  # noqa: PLC0415  # likewise

    options = _options(case=False)
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode(), options)


@functools.cache
def _harmless() -> Any:
    import re2  # noqa: PLC0415  # likewise

    return re2.compile(_HARMLESS, _options(case=False))


@functools.cache
def _rules() -> Any:
    """All rules in one automaton, and the sign of what is so whatever stands before it."""
    return _set(*(("" if case else "(?i)") + "|".join(patterns) for _, case, patterns in _RULES), _FACT)


@functools.cache
def _signs() -> Any:
    """Signs of success and of failure, and what weakens: apart from the rules, since each automaton learns what it meets."""
    return _set(_PASSED, _NOT_PASSED, *(pattern for _, pattern in _WEAKENED))


def _set(*patterns: str) -> Any:
    import re2  # noqa: PLC0415  # likewise

    automaton = re2.Set.SearchSet(_options())
    for pattern in patterns:
        automaton.Add(pattern)
    automaton.Compile()
    return automaton


def score(text: str) -> float:
    """How much a cleaned line matters: 0 not at all, from 7 on worth showing, up to about 20.

    Example:
        >>> score("src/a.c:12:5: error: expected ';'") > score("2 tests failed") > score("warning: 1 failed retry") > 0
        True
        >>> score("0 errors, 0 failures"), score("test_error_handling PASSED"), score("Compiling ErrorHandler.java")
        (0, 0, 0)
    """
    if _FRAME.match(text):
        return 0
    harmless = _harmless()
    if harmless.search(text):
        text = harmless.sub(" ", text)
    line = text.encode()
    matched = _rules().Match(line) or ()
    fact = len(_RULES) in matched
    found = [points for number, (points, _, _) in enumerate(_RULES) if number in matched]
    signs = _signs().Match(line) or () if found else ()
    passed, not_passed = 0 in signs, 1 in signs
    if not found or (passed and not not_passed):
        return SURE if fact else 0
    points: float = found[0] + min(4, sum(found[1:]) / 8)
    for number, (factor, _) in enumerate(_WEAKENED, 2):
        if number in signs:
            points *= factor
    return max(points, SURE) if fact else points
